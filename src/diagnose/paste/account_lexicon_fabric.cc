// Concepts of the fabric: rails and routes, MTU, balance, links, buffers, counters.
#include "diagnose/paste/account_lexicon.h"

namespace weir::diagnose {

namespace fabric_lexicon {

const std::vector<Concept> kConcepts = {
    // ---- rails and routes ----
    {"same-subnet",
     {"<nic>|nics|rails|interfaces|all|addresses same|one|single|shared|common "
      "subnet|prefix|network|vlan|broadcast*|l2+domain|24|16",
      "same+subnet|one+subnet|single+subnet|same+broadcast*|one+broadcast*|shared+subnet",
      "subnet* overlap*|duplicate",
      "multiple|several|two|<num> nics|interfaces|rails|ports same|one|single "
      "subnet|network|vlan|24",
      "rails|nics|interfaces|ports|all|hcas share*|sharing|same "
      "subnet|prefix|network|24|16|23|22|<ip>"}},
    {"arp-flux",
     {"arp+flux", "arp_ignore|arp_announce|rp_filter|arp_filter",
      "arp|mac repl*|answer*|learn*|seen wrong|another|one|other|same|single|first "
      "port|interface|nic|mac|node",
      "mac|macs|arp flap*|move*|one+port",
      "arp answer*|repl*|resolv*|learn* mac|wrong|other|another|same|one",
      "arp mac of|wrong|same|another",
      "replies|packets|answers leave|go wrong|other|another nic|interface|pf|port"}},
    {"no-route",
     {"<no> route|routes|routing",
      "no+route+to+host|ehostunreach|enetunreach|network+unreachable|network+is+unreachable|"
      "destination+unreachable",
      "ip+route+get|ip+route|route+get "
      "wrong|management|default|mgmt|other|another|missing|via|dev|shows|returns",
      "policy+routing|ip+rule|routing+table|source+routing|source+based "
      "<no>|missing|need*|add*|without|per",
      "addr_error|route_error|rdma_cm_event_addr*|rdma_cm_event_route*|rdma_resolve_*",
      "missing|<no>|add* gateway|route|next+hop",
      "<no> per+rail|per+interface|source routing|route|table|rules",
      "default+route|gateway points|goes|leaves|via management|mgmt|wrong|eth0",
      "unreachable rail|peer*|rack*|subnet* other|only|another",
      "leaves|leave|goes|exits through|by|via management|mgmt|eth0|wrong|other",
      "route*|routing|leaves|leave|goes|exits|routed|packets "
      "wrong+interface|other+interface|another+interface|management|mgmt|eth0|wrong+nic|wrong+pf|"
      "wrong+netdev|default+gateway",
      "cross+subnet|inter+subnet|different+subnet|different+subnets|across+subnets|other+subnets "
      "<fail>|<no>|exceeded|unreachable",
      "gateway mac|missing|resolution|wrong|route"}},
    {"cross-rail",
     {"cross+nic on|enabled|1|2|rail* rail*|rail+only|isolated",
      "rail*+to+rail*|rail+<num>+to+rail|rail*+->+rail* <fail>|<no>|unreachable",
      "cross+rail|crossrail|inter+rail",
      "different|other|another rail|rails <fail>|<no>|reach*|connect*|nic*|index", "~ *cross_nic*",
      "nic*|port* different|other index|rail|subnet <no>|cannot reach*|connect*|talk",
      "between|across rails|subnets <fail>|<no>|timeout*|unreachable",
      "rails <no> reach*|connect*|communicat*|talk|see",
      "rails separate|isolated|independent networks|subnets|fail|fails|timeout*",
      "connections|traffic|qps between|across rails|subnets <fail>|<no>|timeout*"}},
    {"rail-subnets",
     {"<nic>|rail|each|per own|separate|different subnet|vlan|network", "per+rail|per+nic subnet*",
      "subnet per|each|every nic|rail|port"}},
    {"same-rail-works",
     {"ring|allreduce|all_reduce|same+rail|tree|neighbour|local fine|ok|works|pass*|succeed*",
      "small*|few*|two|2|single scale|nodes|node works|fine|ok"}},
    {"all-pairs-fail",
     {"gather|alltoall|all_to_all|all+to+all|sendrecv|send|recv|scatter|broadcast|p2p|checkpoint*|"
      "tree|pxn <fail>|<no>"}},
    {"rail-design",
     {"rail|rails|rail+only <no> spine|top|core|super+spine|aggregation",
      "rail+only|rail+isolated plan*|network|fabric|topology|design spine|crossing|forward*",
      "rail|rails isolat*|unconnected|disconnected|independent|air+gap*|separate "
      "spine|top|core|fabric|plane*|topology|design|switch*",
      "rail|rails <no> connect*|guarantee*|link*|join* top|spine|core|crossing|each",
      "<no> guarantee* cross*|rail*", "design question topolog*|rail*|can|is",
      "communicator*|ranks|gpus disjoint|different rail*",
      "rail+only|rail+optimized|rail+optimised|rail+isolated design|topology|question|build|plan",
      "rails without|no spine|top|core|layer",
      "fine|okay|possible|allowed|safe|can build|leave|omit|skip rails|spine|top"}},
    {"miswired",
     {"cable*|cabling|cabled|wired|wiring|fibre*|fiber*|dac "
      "swap*|wrong|cross*|same|<differ>|mismatch*|incorrect*|mixed",
      "miswir*|mis+wir*|miscabl*|mis+cabl*",
      "lldp neighbo*|peer|shows|reports|port "
      "wrong|unexpected|mismatch*|different|expected|other|another",
      "port|ports|links|rails swapped|crossed|plugged|patched wrong|into|other|each|another|up",
      "connected|plugged|patched wrong|other|another leaf|port|switch|rail"}},
    {"lldp-neighbour",
     {"lldp*|neighbo* leaf*|switch*|port*|tor*|spine* shows|says|sees|lists|on|in|->|reports",
      "lldp*|neighbo* -> leaf*|switch*|port*|tor*|spine*"}},
    {"plan-says",
     {"plan|design|drawing|cabling+plan|link+list|blueprint|documentation|netbox "
      "leaf*|switch*|port*|rail*|tor*|spine*",
      "expected|should|supposed leaf*|switch*|port*|rail*|tor*|spine*"}},
    // ---- MTU ----
    {"mtu-differs",
     {"mtu <differ>", "mixed+mtu|mtu+mismatch|asymmetric+mtu|unequal+mtu",
      "mtu <no> negotiat*|same|equal|uniform|consistent|match*",
      "active_mtu|path+mtu|path_mtu|mtu one|some node*|nic*|side|peer other|another|only",
      "mtu hard+coded|hardcod*|forced|fixed",
      "*mtu_4096|*mtu_2048|*mtu_1024|4096 hard+coded|hardcod*|forced|fixed|<all>"}},
    {"mtu-word", {"~ mtu|active_mtu|path_mtu|*_mtu|*mtu*|jumbo"}},
    {"mtu-on-path",
     {"jumbo|large|big|bigger|9000|9216|8972|4096|full+size "
      "packet*|frame*|ping*|message*|size*|mtu <fail>|<drop>|<no>|lost",
      "ping df|fragment*|8972|m+do <fail>|<no>|<drop>|timeout*|lost",
      "switch*|uplink*|vlan|svi|hop|path|spine|leaf mtu "
      "1500|smaller|lower|default|9000|9100|1600|too",
      "mtu switch*|path|hop|network smaller|lower|less|default|1500|below|<drop>",
      "fragmentation+needed|frag+needed|packet+too+big|mtu+exceeded|oversize*|giants|jabber*",
      "mtu|jumbo <no> configured|enabled|set|end+to+end switch*|path|hop|network"}},
    {"small-works-large-fails",
     {"small* works|fine|ok|pass* large*|big*|long*|above|over|beyond <fail>|<drop>|hang*",
      "fail*|hang*|drop*|timeout* above|over|beyond|larger|bigger|exceed*|large|than "
      "<num>|mtu|bytes|kb|size*|message*|packet*"}},
    {"mtu-small",
     {"active_mtu 1024|512|256|2048 was|formerly|previously",
      "active_mtu|mtu|path+mtu 1024|512|256|2048 "
      "instead|expected|should|because|not|only|low|small|limited|could",
      "netdev|interface|ethernet mtu 1500|default active_mtu|roce|rdma|1024|forces|limits",
      "mtu too+small|too+low|1500 rdma|roce|4096|bandwidth|low",
      "raise|raising|increas*|jumbo mtu|9000|4200 <fix>|4096|->",
      "active_mtu 1024|512|256|2|3 <low>|bandwidth|slow*",
      "mtu|netdev|interface left|still|stays|default 1500|default"}},
    {"length-error",
     {"*loc_len_err*|local+length+error|length+error*",
      "*rem_inv_req*|remote+invalid+request|invalid+request"}},
    // ---- balance ----
    {"bond", {"~ <bond>"}},
    {"one-qp",
     {"*qps_per_connection* 1|default|one|unset|left", "<one> qp|qps|connection|flow|stream",
      "qps_per_connection|*qps_per_connection*|qp+count|number+of+qps|more+qps "
      "<fix>|->|rais*|doubl*",
      "qp|flow|connection <one>|same|pinned|maps|hash* port|member|slave|leg|link",
      "*qps_per_connection=1|qps=1"}},
    {"one-member",
     {"<bond> never|not pass*|exceed*|beyond|above|beats|tops one|single|port*|link*",
      "<bond> tops|stuck|capped|stops one|single|half",
      "one+port*|single+port|one+member|one+slave|one+leg|single+member|single+slave|one+link|"
      "single+interface",
      "half bandwidth|rate|throughput", "<bond> half|one|single|exceed*",
      "never|not exceeds|exceed|above|more one|port|single"}},
    {"lag-uneven",
     {"<bond>|member*|slave*|leg* uneven*|imbalanc*|unequal|idle|skew*|unbalanced|overload*",
      "loads|carries|uses|fills one|single eth+port|port|member of|only",
      "<bond> traffic|bytes|flows|load all|most|one|only|single|same member|slave|port|link|leg",
      "xmit_hash_policy|hash+policy|layer2|layer3+4|lag_port_select*|queue_affinity "
      "<bond>|wrong|default|<all>|one",
      "second|other member|slave|port idle|unused|zero|nothing|0",
      "tx_bytes|tx|counters <device> <device> <bond>|differ*",
      "slave|slaves|member|members|port idle|zero|nothing|0|uneven*|all|most|nearly",
      "all|everything|most|whole traffic|bytes|load|response* single|one|first "
      "interface|slave|member|port|leg"}},
    {"ecmp-uneven",
     {"ecmp|hash*|flows "
      "collision*|collid*|imbalanc*|polari*|uneven*|skew*|concentrat*|few|same|conflict*",
      "uplink*|spine*|path|paths uneven*|imbalanc*|overload*|unequal|skew*",
      "entropy|flow+label|udp+source+port|source+port|5+tuple "
      "<low>|<one>|same|more|few|lack|vary|hash",
      "*split_data_on_qps*|adaptive+routing|ar=1|packet+spray*|flowlet|*ib_adaptive_routing* "
      "<fix>|->|peak|gain*|higher",
      "ecmp", "load+balanc* uneven*|poor|bad|<wrong>|switch|fabric|uplink*",
      "hash+polari*|polariz*|polaris*",
      "uplink*|spine* zero|idle|100|full|saturat*|hot|unused|empty|few",
      "uplink*|spine* same|one|single hash*|flows|traffic",
      "uplink*|spine* carry|carries all|most|traffic"}},
    {"ecmp-seed", {"same|identical|default hash|ecmp seed|function", "hash+seed|ecmp+seed"}},
    {"rails-idle",
     {"rail*|nic*|hca*|mlx5* idle|unused|flat|silent <rate>|others|rest|full|busy|100|carries",
      "rails|nics|hcas 0|zero|idle 100|full|busy",
      "all|every ranks|gpus|processes|traffic|threads <one>|first|same "
      "nic|hca|rail|adapter|<device>",
      "<num> of <num> nics|rails|hcas used|carry|active",
      "gpu|gpus|ranks|processes both|two|several share|use|uses same+nic|one+nic|same+hca",
      "rail|rails|nic|nics imbalanc*|uneven*|unbalanced|unequal|skew*",
      "nic+mapping|nic+selection|nic+affinity ignored|wrong|<one>|first|all|not",
      "hca+list*|nccl_ib_hca|hca differ*|different|another node*|host*|between",
      "<one>|first|same nic|hca|rail|device|adapter|<device> used|uses|select*|carr*|chosen|busy",
      "<device>|nic|hca|rail carries|carry|takes all|everything|whole",
      "only|just <device>|nic|hca|rail|<rate> carr*|traffic|used|busy|active",
      "other|others|rest|remaining|seven|three nics|hcas|rails|adapters|ports "
      "idle|unused|zero|nothing",
      "nics|hcas|rails idle|unused",
      "subset|part|half|few|some|fraction nics|hcas|rails|adapters "
      "used|utiliz*|utilis*|carr*|traffic|of"}},
    {"ar-order",
     {"adaptive+routing|ar|spray*|multipath|out+of+order|reorder* "
      "corrupt*|flag*|ordering|order|assum*|stale|race|before",
      "flag|signal|notification|doorbell before|ahead|overtak* data|payload",
      "data|payload corrupt* order*|routing|ar|reorder*",
      "out+of+order deliver*|arriv*|write* assum*|break*|corrupt*|flag*",
      "ordering+guarantee|in+order+delivery|write+ordering "
      "<no>|break*|violat*|assum*|required|rely|relies"}},
    {"reordering", {"out_of_sequence|packets+out+of+order|reorder* <pos>|rise*|grows|seen|many"}},
    {"one-node-slow",
     {"any|every|each|all pair|pairs with|including|of node*|host*|one "
      "others|rest|remaining|else",
      "pair|pairs node*|host* <rate>|<num> others|rest|remaining|else",
      "pair|pairs|combination* contain*|with|including|involv* node|host|server|one <low>",
      "<one>|same|particular|specific|bad node|host|server <low>|straggl*|outlier*|slowest|culprit",
      "straggler*", "remov*|exclud*|replac*|drain*|without node|host|server <fix>|normal|full|fine",
      "every|all|any pair* node|host|same <low>", "bisect* node*|host*|pair*"}},
    {"oversubscribed",
     {"oversubscri*|blocking+factor|fewer|narrow*|2+1|3+1 uplink*|spine*|fabric"}},
    {"shaper",
     {"shaper|rate+limit*|max+rate|maxrate|policer|policing|bandwidth+limit|qos+limit",
      "ratelimit|tc_max_rate|rate_limit"}},
    {"starved", {"starv*|weight* 0|zero|low|ets|dwrr|bandwidth+share", "<queue> starv*"}},
    // ---- links ----
    {"link-down",
     {"state|ibstat|port|link alternat*|toggl*|flip*|oscillat* active|down|up",
      "link|port|interface flap*|bounc*", "link|port goes|went|go down|up",
      "link_downed|link_down_events*|link_error_recovery|carrier_changes|*link_down* "
      "<pos>|<rise>|->|+*",
      "port+error|port_err|*port_err*|port+event", "async* port|link event|error|down",
      "lost+carrier|carrier+lost|no+carrier|link+is+down|link+down|nic+link+is+down",
      "physical+state|phys_state polling|disabled|flap*", "flapping|flaps",
      "intermittent+link|link+intermittent|link+unstable|unstable+link|port+unstable|link+toggl*|"
      "port+toggl*",
      "link+state|port+state intermittent*|unstable|unstable|chang*|down",
      "port|link polling|down physical_state|phys_state|state|again|repeatedly",
      "active|up down later|again|then|afterwards",
      "state|link alternates|toggles|oscillates|flips"}},
    {"phy-errors",
     {"symbol|fec|ber|bit|crc|fcs|pcs|phy error*|uncorrect*|high|<rise>|<pos>|threshold",
      "optic*|transceiver*|cable|dac|aoc|fibre|fiber|module|lens "
      "bad|dirty|faulty|defect*|replac*|reseat*|clean*|marginal|degraded|temperature",
      "bit+error*|fec+error*|crc+error*|fcs+error*",
      "symbol_error*|rx_symbol_err*|rx_crc_err*|*fec_uncorr*|*uncorrectable*|rx_err_lane*|port_rcv_"
      "errors|*_ber|raw_ber|effective_ber <rise>|high|above|fast|per"}},
    {"link-degraded",
     {"link|port|nic|speed negotiat*|linked|trained|runs|comes <rate> "
      "instead|expected|not|only|rather",
      "speed|rate|width degraded|downgrad*|lower|reduced|half link|port|nic|lanes|expected|instead",
      "autoneg*|fec mismatch*|wrong|differ*|off", "lanes missing|down|lost"}},
    {"recovery-window",
     {"port|link|nic back|up|returns|returned after job|nccl|training|qps|run "
      "aborted|dead|gave|failed|died already|at|before|by+then",
      "outage|flap|downtime|link <num> longer|more|exceed*|vs|but "
      "nccl_ib_timeout*|*_ib_timeout|*retry_cnt*|retry+window|timeout",
      "recover* <no>|attempt*|window|timeout|budget|before|shorter|longer|initiat*|retries|fail*",
      "*resilien*|attempt*|*failover*|max+attempts",
      "<no> recover* after|when|once link|nic|port|device|comes|up|back",
      "gives|gave|give up before|while link|port|nic|back|up|recover*",
      "marked|device failed recover*|permanent*",
      "outage|downtime longer|exceed*|than timeout|retry|window",
      "failover|resilien*|port+recovery|device+recovery|recovery "
      "shorter|longer|slow|late|window|exhaust*|gives|gave",
      "timeout|retries|retry|window shorter|less|below outage|flap|downtime|recovery",
      "job|nccl aborted|dead|gone before|already|when link|port|nic",
      "link|port|nic comes|came|is back|up already|aborted|dead|too+late|gave",
      "qps|nccl|job|connections give|gives|gave up"}},
    {"drill",
     {"ip+link+set|ifconfig|ip+link|admin+down|netdev+down|ifdown down <no>|still|continue*|did",
      "link|netdev|interface|admin down <no>|still|continue*|keeps|unaffected "
      "rdma|roce|traffic|stop*|qp*",
      "fault|failure|chaos inject*|drill|test|simulat* <no>|without|ineffective|blind|nothing",
      "inject*|injection <no> fault|failure|effect|stop*",
      "ip+link+set|ifdown|admin+down|link+down|netdev+down "
      "leaves|running|unaffected|continues|still|unchanged|flows",
      "test|drill|inject* <no>|nothing fail*|failed|stop*|happen*",
      "down traffic|rdma|roce|qp* continues|running|unaffected|still|survive*|flows",
      "! ifdown|link+down|admin+down|ip+link|interface+down <no> influence|effect|impact"}},
    // ---- buffers ----
    {"headroom-small",
     {"headroom|xoff "
      "0|zero|small|insufficient|need*|under*|more|missing|too|low|not+enough|wrong|lacks|none|"
      "exhaust*|exceeded",
      "headroom|xoff <no> enough|sufficient|configured|allocated|calculated|applied|programmed",
      "cable+length|cablelength|pg_lossless|pg+profile|buffer_pg|pg_profile* "
      "0|wrong|short*|missing|<no>|default|5m|too|zero",
      "headroom|xoff calculat*|formula|model under*|low*|wrong|short*|differ*",
      "cable+length configured|set|wrong|5m|short*|default|0m|zero",
      "<no> buffer+profile|pg+profile|lossless+profile|headroom+profile",
      "long|m|km cable*|links|fibre drop*|loss|lose", "pg|buffer+profile|profile size|xoff 0|zero",
      "buffer+profile|pg+profile|pg_lossless*|lossless+profile small*|too|short|wrong|missing"}},
    {"ingress-drops", {"ingress|pg|rx drop*|discard*", "voq|mmu drop*|discard*"}},
    {"pool-small",
     {"buffer|pool|shared+buffer|alpha|dynamic_th too|small|exhaust*|insufficient|low|limited",
      "shallow buffer*|switch"}},
    {"platform-bug",
     {"hwsku|sku|port+speed|mixed+speed|speed|breakout differ*|mixed|another|only|pass*|other|with",
      "sai|asic|platform|vendor|sdk|firmware bug|defect|issue|regression|fault",
      "only|fails|drops on platform|asic|chip|hwsku|model|vendor",
      "same config* other|another platform|hwsku|asic|switch|chip works|pass*|fine"}},
    // ---- counters and collectors ----
    {"counter",
     {"~ counts|counted vendor*|frames|octets",
      "~ "
      "counters|metric|metrics|statistic|statistics|stat|stats|telemetry|gauge|gauges|exporter*|"
      "collector*|*_pkts|*_packets|*_frames*|pfcstat|queuestat|hw_counters|ecn+marked*",
      "~ "
      "drop+counter|error+counter|pause+counter|the+counter|a+counter|one+counter|counter+file|"
      "counter+value|counter+name*|counter+bug|all+-1|counter+is",
      "~ detected|restored tx|drop|ok",
      "~ dashboard*|grafana|prometheus|scrape*|pmda|sysfs|*_phy|*_bytes",
      "~ rx_*|tx_*|out_of_sequence|out_of_buffer|np_*|rp_*",
      "~ increment|increments|incremented|incrementing"}},
    {"counter-not-number",
     {"n+a counter*|parse*|pars*|invalid|no+pma|file|value|pma",
      "invalid+syntax|non+numeric|not+a+number", "no+pma|unavailable value|counter*",
      "strconv*|parseuint|atoi <fail>|invalid|syntax|n+a",
      "convert* number|int|float|integer|n+a <fail>|not|cannot", "pars* n+a|text|string|word|non"}},
    {"collector-fails",
     {"collector|scrape|exporter|monitoring|plugin "
      "<fail>|aborts|entire*|whole|all|bail*|gives|gave|completely|skips",
      "collector+success|collector_success|scrape_success|*collector_success 0|false",
      "<no> device|devices|metrics|series reported|exported|collected|at",
      "collector|scrape|exporter <no> data|metrics|output"}},
    {"false-zero",
     {"unreadable|missing|absent|failed|unavailable|unsupported counter*|metric*|value*|read "
      "0|zero",
      "default=0|default+0|fallback+0|return+0|returns+0|or+0",
      "exported|reported|shown|written|report*|returns 0|zero "
      "<no>|unreadable|missing|failed|absent|instead|although",
      "counter*|metric* gauge*|units|unit|words|x4|octets <wrong>|instead|as|without",
      "error*|failure* hidden|swallowed|masked|silent* 0|zero|counter*|exporter",
      "0|zero <no> read|readable|available|opened",
      "0|zero unreadable|unavailable|absent|missing|failed|cannot",
      "shows|reports|exports 0|zero although|where|while|when|even|but",
      "writes|exports|reports|shows 0|zero when|if read|reads|reading fails|fail|error"}},
    {"counter-absent",
     {"np_*|rp_*|rx_*|tx_*|out_of_*|roce_*|*_cnp*|*_prio*|*_pause* "
      "missing|absent|unavailable|nonexist*|not+present|not+there|not+found "
      "on|under|driver|<device>|irdma|bnxt*|ionic|vendor|nic|ethtool",
      "counters|hw_counters|counter+file|directory|sysfs enoent|missing|absent",
      "<no> counters+directory|hw_counters|counter+file|counters+file",
      "<no> counters|counter directory|file|folder", "lacks|lack counters|hw_counters|counter",
      "without+counters|without+hw_counters",
      "enoent|no+such+file counter*|ports|hw_counters|sysfs",
      "counter*|metric* <no> exist*|exposed|present|available|implement*|provided|support* "
      "driver|vendor|nic|here|by",
      "driver|vendor|bnxt*|irdma|ionic|efa <no> expose*|provide*|implement*|counter*|export*",
      "<device>|*_*|counter* <no> exist*",
      "*_* does+not+exist|not+exist|doesn't+exist|no+such+file",
      "no+metrics|no+counters|no+statistics|without+counters|without+metrics "
      "on|for|at+all|driver|vendor|nic|nics|<device>|exposed|exported|broadcom|intel|amd|irdma|"
      "bnxt*",
      "driver|vendor|nic|device|hca <no> publish*|register*|report*|expos*|provid* "
      "counter*|*_bytes|*_packets|hw_counters|statistic*|tx_*|rx_*",
      "*_* published|exposed|provided|registered not|never|no+longer"}},
    {"counter-names",
     {"hw_counters|ethtool|driver|nic|vendor has|shows|uses|exposes|names|calls instead",
      "counter*|key|keys|name|names|ethtool|field* "
      "wrong|differ*|vendor|requested|real|expect*|mlx5|actual*|other|another",
      "ethtool key|keys|names|strings|counter* "
      "wrong|differ*|another|unknown|not+found|vendor|driver",
      "all|values|every -1", "regex|alias*|lookup <no> match*|key|counter|name*",
      "named|called|spelled|spelling differ*|otherwise|another counter*|vendor|driver",
      "calls|call|named|called|names|spells "
      "counter*|rx_*|tx_*|np_*|rp_*|*_pkts|*_packets|*_frames*|*pause*|cnp*",
      "greps|grep|expects|asks|requests|looks *_pause*|*_pfc*|counter*|name*|key*",
      "other|another|different counters|counter|names|keys",
      "counter|counters vendor*|driver*|broadcom|intel|amd|nvidia name*|call*",
      "requested|expects|expected|asked real|actual|actually"}},
    {"counter-meaning",
     {"counter*|metric* vendor*|platform*|driver* includes|include|counts|excludes|covers "
      "not|other|another|differ*|does+not|only",
      "counter*|metric*|ecn+marked*|*_pkts|*_packets|counts "
      "means|meaning|semantic*|definition|interpret*|defined differ*|vendor|not|ambiguous",
      "means differ*|different|another things|vendor|platform", "semantic*",
      "counter*|drop+counter*|statistics|stats <no> "
      "move*|increment*|increas*|change*|count*|updat*|reflect*",
      "<no> increment*|move|increase|counted counter*|drop*|storm|pfc|blocked|when|while|although",
      "spec|standard|documentation|docs|rfc|yang|openconfig|definition "
      "says|differ*|contrad*|not|otherwise|requires",
      "counter|statistic "
      "bug|wrong|misleading|double+count*|overcount*|undercount*|lifetime|32+bit|wrap*",
      "detected|restored|storm 0|zero drop*|tx|ok", "increment*|counts already|also|twice|both",
      "same+name|same+counter|same+metric different|differ*|vendor*|means|other|counts|under",
      "vendor*|platform* count*|counts|measures differ*|different|other|same",
      "counts frames|time|bytes|packets|events other|vendor*|another|while|under"}},
    {"sources-disagree",
     {"manager|controller|ufm lost|missing|dropped|forgot link|port|node hosts|servers|host "
      "using|use|fine|up",
      "shows|says|reports|sees up|active|linkup|healthy shows|says|reports|marks|sees "
      "down|polling|absent|missing|failed",
      "bmc|ufm|controller|switch|agent|api|manager|os|host|dashboard|monitor* "
      "says|reports|shows|marks|thinks absent|missing|down|gone|unhealthy|failed "
      "uses|works|active|up|running|linkup|moves|fine",
      "switch|host|ufm|controller|monitor*|fabric+manager|bmc|agent|api|dashboard|exporter "
      "says|reports|shows|sees disagree*|contradict*|but|while|although|other "
      "up|down|active|missing|healthy|says|shows|reports",
      "disagree*|contradict*|conflicting source*|view*|state*|report*|tools|status",
      "two|both sources|tools|views|places|systems differ*|disagree*|contradict*|different",
      "reported down|unhealthy|up although|but|while|actually up|down|active|fine|healthy|works"}},
    {"methods-disagree",
     {"same|identical command|test|run|path|pair fine|ok|full|works|fast "
      "without|with|other|via|using",
      "rdma_cm|rdma+cm|cm|r slow|tiny|low|differ* without|socket|oob|fine|than",
      "ib_write_bw|perftest|ib_*_bw r|rdma_cm|rdma+cm|cma differ*|tiny|slow|low|fine"}},
    {"ar-on",
     {"adaptive+routing|adaptive_routing|ar=1|packet+spray*|spray*|sprayed|multipath|flowlet*",
      "~ ar+on|ar+enabled"}},
    {"order-assumed",
     {"in+order|out+of+order|ordering|wrong+results|corrupt*|stale",
      "order assum*|rely|relies|guarantee*", "flag|signal|notification before|overtak*|ahead|after",
      "last+byte|poll* last|assum*"}},
    {"bond-hash",
     {"xmit_hash_policy|hash+policy|xmit+hash|lag_port_select*|queue_affinity|queue+affinity|"
      "layer2|layer34|layer3"}},
    {"qps",
     {"~ "
      "*qps_per_connection*|more+qps|qps|one+qp|single+qp|queue+pairs|num_qps|number+of+qps|"
      "paths"}},
    {"same-subnet-works", {"same+subnet|one+subnet works|fine|ok|pass*|good"}},
    {"one-breaks-all",
     {"returns|gives|reports no|nothing values|metrics|data|series if|when|because one|single "
      "port|device|hca",
      "series|metrics|counters|statistics disappear*|vanish*|lost|gone|stop* "
      "when|once|after|since|if load*|add*|insert*|plug*|present|module|device|driver|irdma",
      "rmmod|unload*|remov*|exclud*|ignor*|unplug* brings|return|returns|restores|gives|back "
      "metrics|series|counters|collector",
      "<one> device|port|file|counter|nic|hca <fail>|einval|unreadable|breaks|kills|aborts|stops "
      "collector|scrape|whole|all|entire*|exporter|metrics|others",
      "<one>|broken|faulty device|port|file|counter|nic|hca all|every|entire|whole "
      "metrics|devices|collector|scrape|others",
      "taking|takes down every|all|other metrics|devices",
      "before exclu*|filter*|device applied|read|parsed",
      "gives|gave up all|every|whole devices|device",
      "collector|exporter|scrape returns|stops|quits|exits|ends first|one|missing "
      "device|error|counter*",
      "load*|one|adding removes|kills|breaks|drops all|every|other metrics"}},
    {"counter-unreadable",
     {"read*|open*|file|counter*|rate invalid+argument|einval|enoent|denied",
      "counter*|file|rate <no> readable|read|open"}},
};

}  // namespace fabric_lexicon

std::span<const Concept> lexicon_of_fabric() {
  return fabric_lexicon::kConcepts;
}

}  // namespace weir::diagnose

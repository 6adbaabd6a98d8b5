// Concepts of jobs and applications: their environment, what verbs report, what is not the fabric.
#include "diagnose/account_lexicon.h"

namespace weir::diagnose {

std::span<const Concept> lexicon_of_jobs();
std::span<const Concept> lexicon_of_jobs() {
  static const std::vector<Concept> all = {
      {"ib-disabled",
       {"~ *_ib_disable=1|*ib_disable=true",
        "nccl_ib_disable 1|set|true|left|copied|present|exported",
        "rdma|roce|ib|infiniband disabled|off env*|variable|job|script|nccl",
        "unset*|remov* nccl_ib_disable|ib_disable", "nccl_net=socket|*_net=socket"}},
      {"env-typo",
       {"typo|misspel*|misspelt|mistyped variable|env*|name|nccl*|option",
        "missing|extra letter|prefix|n|"
        "underscore nccl*|variable|ccl*",
        "variable|env* unknown|unrecogni*|no+such|nonexist*|ignored name|"
        "nccl*|typo",
        "did+you+mean"}},
      {"stale-conf",
       {"nccl.conf",
        "nccl+conf|nccl+config+file|conf+file stale|old|image|overrid*|leftover|baked|hidden|"
        "contradict*",
        "config|conf baked|inside|stale|leftover image|container|/etc nccl*|env*"}},
      {"socket-fallback",
       {"net+socket|network+socket", "fall*|fell back|fallback tcp|socket|sockets|ethernet",
        "nccl|rccl|ucx|job tcp|socket|sockets instead|rather|uses|using|used|over "
        "rdma|roce|ib|transport",
        "no+ib+device*|no+device+found|net+ib+no+device"}},
      {"hca-unknown",
       {"nccl_ib_hca|*_ib_hca|hca_list|*net_devices <no>|wrong|nonexist*|unknown|match* "
        "exist*|found|device*|"
        "present|name*",
        "nccl_ib_hca names|lists|has eth*|ens*|ib*|interface"}},
      {"hca-short",
       {"nccl_ib_hca|hca_list|*net_devices only|one|missing|fewer|short* device*|nic*|rail*|of"}},
      {"gloo", {"gloo backend|instead|used|slow"}},
      {"rank-differs",
       {"rank|ranks|node|process env*|variable*|setting* <differ>|another|only",
        "env*|variable* <no> "
        "propagat*|forward*|export*|pass* rank*|node*|remote|mpirun|ssh",
        "mpirun x|env <no>|missing|forgot"}},
      {"ib-port",
       {"link_layer infiniband|ib",
        "infiniband|ib fabric|port*|hca|network|link+layer tc|gid_index|"
        "traffic+class|dscp|roce|pfc|ecn|ignored|irrelevant|meaningless|no+effect",
        "~ *ib_tc*|*gid_index* "
        "infiniband|on+ib",
        "! roce variable*|knob*|setting* infiniband|ib"}},
      // ---- what verbs report ----
      {"retry-exceeded",
       {"error|status|wc 12",
        "*retry_exc*|retry+count|retry+exceeded|retries+exceeded|transport+retry",
        "retry+counter+exceeded|retry+exc*", "vendor_err|vendor+err|vendor+error 129|0x81|81"}},
      {"rnr",
       {"status|error|wc 13", "*rnr_retry_exc*|rnr|*rnr_nak*|rnr_nak_retry_err|*rnr_retries*",
        "receiver+not+ready",
        "receive+buffer*|recv+buffer*|receives|recvs <no>|few|exhaust*|posted|empty",
        "<no> post* receive*|recv*|rq|srq", "out_of_buffer <pos>"}},
      {"access-error",
       {"status|error|wc 10|4|2|11",
        "*rem_access*|*loc_prot*|*rem_op_err*|*loc_qp_op*|*loc_access*",
        "*remote_access_err*|*req_cqe_error*|local_access*",
        "remote+access+error|"
        "local+protection+error|protection+fault|remote+operation+error",
        "rkey|lkey|r_key|l_key|key "
        "invalid|wrong|stale|mismatch*|expired|bad|deregister*",
        "out+of+range|out+of+bounds|beyond "
        "address*|region|mr|buffer|rkey",
        "address|mr|memory+region <no> registered|deregistered|valid"}},
      {"peer-died",
       {"peer|remote|process|rank|node|other+end|worker "
        "killed|kill|crash*|exit*|died|dead|dies|gone|"
        "terminated|oom*|rebooted|panicked|segfault*|not+alive",
        "sigkill|sigterm|sigsegv|oom+kill*|"
        "out+of+memory+kill*|kill+-9|kill+9",
        "tcp rst|reset|closed",
        "connection+reset|reset+by+peer|"
        "econnreset|broken+pipe|connection+closed",
        "xid|ecc|gpu+fell|fallen gpu|bus|off|error"}},
      {"no-loss-counters",
       {"out_of_sequence|packet_seq_err|*seq_err* 0|zero|stay*|clean",
        "<no> loss|drops|retrans* "
        "counter*|fabric|switch|network",
        "counters|fabric|switch|network clean|healthy|quiet|innocent|fine"}},
      {"timer",
       {"retrans*|retransmi*|retry|timeout|timer shorter|below|less|smaller|lower|than "
        "rtt|round+trip|"
        "latency|distance",
        "adp_retrans|adaptive+retrans*|*adp_retrans*|adaptive+timer",
        "retrans*|resend*|retransmi* every|each|~|about|after <num>|ms",
        "! timeout|*_timeout|*_ib_timeout "
        "<no> effect|change|difference|influence|regardless|ignored",
        "retrans*|retransmi* regardless|"
        "whatever timeout|*_timeout"}},
      {"rtt",
       {"~ "
        "rtt|rtt=*|round+trip|wan|long+haul|long+distance|metro|inter+dc|cross+dc|datacenter*|km"}},
      {"no-real-loss", {"<no> loss|drop*|lost", "loss 0|zero|none"}},
      // ---- results ----
      {"perftest-fine",
       {"<perftest> "
        "<rate>|line+rate|full|fine|ok|pass*|works|reach*|expected|good|wire+speed|max*|saturat*",
        "<num>|1 qp <rate>", "raw+rdma|verbs+test|point+to+point|p2p line+rate|full|fine|ok|<rate>",
        "line+rate|wire+speed <perftest>"}},
      {"collective-slow",
       {"<collective> <low>", "<collective> <rate>",
        "<low> <collective>|bandwidth|throughput|step|iteration*",
        "chunk|protocol|per+step|per+chunk|proxy|kernel+launch|cpu+bound|overhead"}},
      {"slow",
       {"<low> bandwidth|throughput|performance|busbw|gb*|speed|latency",
        "slow*|straggl*|collaps*"}},
      {"job-fails", {"<fail>"}},
      {"tool-bug",
       {"json|csv|output|report|parser "
        "overwrit*|wrong|broken|invalid|missing|malformed|duplicat*|truncat*",
        "perftest|nccl+tests|tool|script|exporter|simulator "
        "bug|segfault*|crash*|core+dump*|assert*",
        "simulat*|ns3|ns+3|simai|astra* "
        "segfault*|crash*|slow|wrong|differ*|drop*|assert*|debug|takes",
        "segfault*|segmentation+fault *::*|qp+vector|rdmaqueuepair*|queue+pair+group"}},
      {"simulation", {"~ simulat*|ns3|ns+3|simai|astra+sim|hpcc+code|ns3+rdma|omnet*"}},
      {"tool-wish",
       {"feature|enhancement request", "please|could|would add|support|provide|expose|nice|ship",
        "ask*|want*|wish*|request*|like "
        "operator|tool|plugin|exporter|dashboard|option|support|users|flag|"
        "thresholds|exit",
        "users ask*|want*|request*", "proposal|rfe|roadmap",
        "<no> dashboard|exit+code*|alert*|threshold* provided|option|shipped|available|support*"}},
  };
  return all;
}

}  // namespace weir::diagnose

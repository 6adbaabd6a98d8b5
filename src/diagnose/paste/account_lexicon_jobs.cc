// Concepts of jobs and applications: their environment, what verbs report, what is not the fabric.
#include "diagnose/paste/account_lexicon.h"

namespace weir::diagnose {

namespace jobs_lexicon {

const std::vector<Concept> kConcepts = {
    {"ib-disabled",
     {"~ *_ib_disable=1|*ib_disable=true",
      "nccl_ib_disable 1|set|true|left|copied|present|exported",
      "rdma|roce|ib|infiniband disabled|off|disables env*|variable|job|script|setting",
      "unset*|remov* nccl_ib_disable|ib_disable", "nccl_net=socket|*_net=socket"}},
    {"env-typo",
     {"typo|misspel*|misspelt|mistyped variable|env*|name|nccl*|option",
      "missing|extra letter|prefix|n|underscore nccl*|variable|ccl*",
      "variable|env* unknown|unrecogni*|no+such|nonexist*|ignored name|nccl*|typo",
      "did+you+mean"}},
    {"stale-conf",
     {"nccl.conf",
      "nccl+conf|nccl+config+file|conf+file "
      "stale|old|image|overrid*|leftover|baked|hidden|contradict*",
      "config|conf baked|inside|stale|leftover image|container|/etc nccl*|env*"}},
    {"socket-fallback",
     {"net+socket|network+socket", "fall*|fell back|fallback tcp|socket|sockets|ethernet",
      "nccl|rccl|ucx|job tcp|socket|sockets instead|rather|uses|using|used|over "
      "rdma|roce|ib|transport",
      "no+ib+device*|no+device+found|net+ib+no+device"}},
    {"hca-unknown",
     {"nccl_ib_hca|*_ib_hca|hca_list|*net_devices <no>|wrong|nonexist*|unknown|match* "
      "exist*|found|device*|present|name*",
      "nccl_ib_hca names|lists|has eth*|ens*|ib*|interface"}},
    {"hca-short",
     {"nccl_ib_hca|hca_list|*net_devices only|one|missing|fewer|short* device*|nic*|rail*|of"}},
    {"gloo", {"gloo backend|instead|used|slow"}},
    {"rank-differs",
     {"rank|ranks|node|process env*|variable*|setting* <differ>|another|only",
      "env*|variable* <no> propagat*|forward*|export*|pass* rank*|node*|remote|mpirun|ssh",
      "mpirun x|env <no>|missing|forgot"}},
    {"ib-port",
     {"link_layer infiniband|ib",
      "infiniband|ib fabric|port*|hca|network|link+layer "
      "tc|gid_index|traffic+class|dscp|roce|pfc|ecn|ignored|irrelevant|meaningless|no+effect",
      "~ *ib_tc*|*gid_index* infiniband|on+ib", "! roce variable*|knob*|setting* infiniband|ib"}},
    // ---- what verbs report ----
    {"retry-exceeded",
     {"error+12|status+12|err+12|wc+12|status=12",
      "*retry_exc*|retry+count|retry+exceeded|retries+exceeded|transport+retry",
      "retry+counter+exceeded|retry+exc*", "vendor_err|vendor+err|vendor+error 129|0x81|81"}},
    {"rnr",
     {"error+13|status+13|err+13|wc+13|status=13",
      "*rnr_retry_exc*|rnr|*rnr_nak*|rnr_nak_retry_err|*rnr_retries*", "receiver+not+ready",
      "receive+buffer*|recv+buffer*|receives|recvs <no>|few|exhaust*|posted|empty",
      "<no> post* receive*|recv*|rq|srq", "out_of_buffer <pos>"}},
    {"access-error",
     {"status+10|error+10|wc+10|status=10|status+4|error+4|status=4|status+11|error+11|status+9|"
      "error+9",
      "*rem_access*|*loc_prot*|*rem_op_err*|*loc_qp_op*|*loc_access*",
      "*remote_access_err*|*req_cqe_error*|local_access*",
      "remote+access+error|local+protection+error|protection+fault|remote+operation+error",
      "rkey|lkey|r_key|l_key|key invalid|wrong|stale|mismatch*|expired|bad|deregister*",
      "out+of+range|out+of+bounds|beyond address*|region|mr|buffer|rkey",
      "address|mr|memory+region <no> registered|deregistered|valid"}},
    {"peer-died",
     {"peer|remote|process|rank|node|other+end|worker "
      "killed|kill|crash*|exit*|died|dead|dies|gone|terminated|oom*|rebooted|panicked|segfault*|"
      "not+alive",
      "sigkill|sigterm|sigsegv|oom+kill*|out+of+memory+kill*|kill+-9|kill+9",
      "tcp rst|reset|closed",
      "connection+reset|reset+by+peer|econnreset|broken+pipe|connection+closed",
      "xid|ecc|gpu+fell|fallen gpu|bus|off|error"}},
    {"no-loss-counters",
     {"out_of_sequence|packet_seq_err|*seq_err* 0|zero|stay*|clean",
      "<no> loss|drops|retrans* counter*|fabric|switch|network",
      "counters|fabric|switch|network clean|healthy|quiet|innocent|fine"}},
    {"timer",
     {"retrans*|retransmi*|retry|timeout|timer shorter|below|less|smaller|lower|than "
      "rtt|round+trip|latency|distance",
      "adp_retrans|adaptive+retrans*|*adp_retrans*|adaptive+timer",
      "retrans*|resend*|retransmi*|repeat|repeats|repeated every|each|~|about|after <num>|ms",
      "! timeout|*_timeout|*_ib_timeout <no> effect|change|difference|influence|regardless|ignored",
      "retrans*|retransmi* regardless|whatever timeout|*_timeout"}},
    {"rtt",
     {"~ delayed+link|delay+inserted|added+delay|netem|ms+delay",
      "~ rtt|rtt=*|round+trip|wan|long+haul|long+distance|metro|inter+dc|cross+dc|datacenter*|km"}},
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
      "step|iteration* <num> <num>|vs|grew|longer|slower"}},
    {"app-side",
     {"chunk|chunks|chunksize", "per+step|per+chunk|per+message|fixed overhead|cost",
      "profil*|trace data+loader|dataloader|cpu|python|kernel*|compute|gil",
      "data+loader|dataloader|input+pipeline",
      "cpu+bound|kernel+launch|proxy+thread|launch+overhead",
      "nccl_proto|nccl_algo|nccl_buffsize|nccl_nchannels*|channels|protocol <fix>|doubl*|->",
      "gpu* clock*|throttl*|thermal|power", "clocks|clock throttl*|low",
      "nvlink|nvswitch|pcie+p2p slow|degraded|missing",
      "algorithm|algo|nccl_algo*|nccl_proto* doubl*|<fix>|faster",
      "checkpoint*|logging|garbage+collect*|straggling+gpu"}},
    {"clean-counters",
     {"<no> drops|drop|loss pauses|pause|cnp*|errors", "counters|counter clean|zero|quiet|fine",
      "all drop+counter*|error+counter* zero|0|clean",
      "<no> retrans*|retransmits|drops|loss|errors pause*|cnp*|drop*|retrans*|errors",
      "<no> pause*|cnp* drop*|loss|retrans*", "<no> drops|retransmits|retransmissions|loss"}},
    {"slow",
     {"<low> bandwidth|throughput|performance|busbw|gb*|speed|latency", "slow*|straggl*|collaps*"}},
    {"job-fails", {"<fail>"}},
    {"tool-bug",
     {"json|csv|output|report|parser "
      "overwrit*|wrong|broken|invalid|missing|malformed|duplicat*|truncat*",
      "perftest|nccl+tests|tool|script|exporter|simulator bug|segfault*|crash*|core+dump*|assert*",
      "simulator*|ns3|ns+3|simai|astra* "
      "segfault*|crash*|slow|wrong|differ*|drop*|assert*|debug|takes",
      "segfault*|segmentation+fault *::*|qp+vector|queue+pair+group"}},
    {"simulation", {"~ simulator*|ns3|ns+3|simai|astra+sim|hpcc+code|ns3+rdma|omnet*"}},
    {"tool-wish",
     {"feature|enhancement request", "please|could|would add|support|provide|expose|nice|ship",
      "ask*|want*|wish*|request*|like "
      "operator|tool|plugin|exporter|dashboard|option|support|users|flag|thresholds|exit",
      "users ask*|want*|request*", "proposal|rfe|roadmap",
      "<no> dashboard|exit+code*|alert*|threshold* provided|option|shipped|available|support*"}},
    {"ib-fabric",
     {"link_layer infiniband|ib", "infiniband|ib cluster|fabric|network|system|hca|card*|port*",
      "is+infiniband|on+infiniband|on+ib|real+infiniband|native+infiniband|native+ib",
      "infiniband not+roce", "cluster|fabric|network|link+layer infiniband|ib"}},
    {"roce-knob",
     {"! *_ib_tc*|*gid_index*|gid+index|traffic+class|dscp <no>|nothing "
      "effect|influence|change*|difference|matter*|tuning",
      "~ *_ib_tc*|*gid_index*|*_ib_sl*|*traffic_class*|roce_version*",
      "~ roce variable*|setting*|tuning|knob*|option*", "~ pfc|dscp|ecn setting*|tuning|knob*",
      "~ traffic+class|gid+index|dscp|roce+setting*"}},
};

}  // namespace jobs_lexicon

std::span<const Concept> lexicon_of_jobs() {
  return jobs_lexicon::kConcepts;
}

}  // namespace weir::diagnose

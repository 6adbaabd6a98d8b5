// Concepts of hosts: GIDs, GPUDirect, PCIe, limits, containers, kernels, names.
#include "diagnose/account_lexicon.h"

namespace weir::diagnose {

std::span<const Concept> lexicon_of_hosts();
std::span<const Concept> lexicon_of_hosts() {
  static const std::vector<Concept> all = {
      // ---- GIDs ----
      {"gid", {"~ gid|gids|sgid|dgid|*gid_index*|gid_attrs|show_gids|*_gid|*gid*"}},
      {"gid-link-local",
       {"link+local gid|gids|address*|index|ipv6|entry", "gid|gids|index|address* link+local",
        "gid|gids fe80*", "fe80* gid|index|address|chosen|selected|used"}},
      {"gid-v1",
       {"rocev1|roce+v1|v1 gid*|index|entry|type|default|chosen|used|selected",
        "gid* type v1|ib|infiniband", "gid* <no> v2|rocev2|roce+v2",
        "rocev1|roce+v1 instead|not|rather"}},
      {"gid-not-routable",
       {"gid|gids <no> rout*|reachable", "unroutable|unreachable|non+routable gid*",
        "default gid|gid_index|index wrong|0|not|<no>", "gid|gid_index wrong|incorrect|bad"}},
      {"gid-index-fixes",
       {"*gid_index*|gid+index|gid <num> <fix>|fine",
        "setting|set|specify*|explicit *gid_index*|"
        "gid+index <fix>",
        "*gid_index* <fix>"}},
      {"gid-type-unreadable",
       {"gid_attrs|gid+attributes|types <fail>|einval|invalid|unreadable|cannot",
        "read* <fail>|invalid|einval gid*|*roceget*|*versionnum*|roce+version",
        "*getversionnum*|*gid*version* <fail>|invalid"}},
      {"gid-sparse",
       {"gid|gids|index*|indices|table hole*|sparse|gap*|empty|zeroed",
        "gid|gids|index*|indices|entries <one>|some populated|valid|usable|invalid|used",
        "gid|gids some|many|lower|first|several invalid|empty|zero*|unused|unpopulated",
        "gids|gid 0000|0000*|::|zeros|zero|all+zero", "gid+table starts|begins|sparse|gaps"}},
      {"gid-index-differs",
       {"gid|gid_index|gid+index|index* <differ> <nic>|<node>|pod*|per|each|between|rank*",
        "gid <num> <one>|<nic> <num> another|other|<nic>",
        "different|other gid+index*|gid+indices|"
        "gid_index*|gids per|each|<nic>|<node>|between",
        "same gid+index|gid_index|index <no> <nic>|<node>|<all>",
        "gid+index|gid_index|scalar|index single|one|scalar|global <all>|hca*|nic*|device*",
        "per+hca|per+device|per+nic|per+node gid*|*gid_index*"}},
      {"gid-null",
       {"gid null|nil|-1|unset", "*gid_index* please|check|specify*|explicit|required",
        "auto*|automatic gid <fail>|null|wrong|none"}},
      {"no-usable-gid",
       {"<no> suitable|valid|usable|matching|available|proper|compatible gid|gids",
        "gid|gids <no> found|available|suitable", "could|can not find gid"}},
      {"gid-family",
       {"ipv6|v6 only gid*|roce|rdma|rail*|address*|network|fabric|cluster",
        "ipv6+only|v6+only|ipv4+only",
        "ipv4|v4|mapped gid|gids <no>|expect*|requir*|only|need*|"
        "assum*",
        "<no> ipv4|v4|ipv6|v6 gid*|mapped|rocev2|address*",
        "address+family|*addr_family*|af_inet* gid*|mismatch*|wrong|ipv6|roce|not|set",
        "only accepts|looks|supports ipv4|mapped|ipv6 gid*",
        "ipv6|v6 gid*|roce <no> support*|accept*"}},
      {"gid-index-3",
       {"gid|gid_index|sgid_index|gid+index|index "
        "hard+coded|hardcod*|assum*|fixed|literal|constant",
        "ibv_query_gid|sgid_index 3", "sgid_index=3", "gid*|gid+index|index <no> 3|index+3",
        "index+3|3 hard+coded|hardcod*|assum*|folklore|default gid*"}},
      {"gid-stale",
       {"stale gid*|address*|entry|entries",
        "gid* address|ip|entry removed|deleted|gone|old|remain*|"
        "longer|leftover",
        "gid* still|old|previous address|ip|lists|holds|shows|points",
        "gid* <no> longer|matches|corresponds address|ip|interface|netdev",
        "address|ip removed|deleted|changed gid* still|stays|remain*"}},
      {"gid-changed",
       {"gid|gids|gid+index|index|gid_index|gid+table <changed>",
        "*gid_change*|gid+change*|gid+table+change*",
        "gid* different|another|new after|since "
        "reboot|restart|flap*|reload|dhcp|link|failover|renew*",
        "index <changed> after|when|during|"
        "running",
        "gid* disappear*|vanish*|re+added|readded|flap*"}},
      {"gid-wrong-netdev",
       {"gid*|address|ip belong*|owned|owner|netdev|ndev|interface|points|resolves "
        "wrong|another|other|different|management|mgmt|docker*|vlan",
        "gid* wrong|another|other|different|management|mgmt netdev|ndev|interface|rail|subnet|nic|"
        "port",
        "gid_attrs|ndevs wrong|another|other|different|bond*",
        "gid* management|mgmt|eth0|docker0 address|ip|network|subnet",
        "gid* <no> match*|belong* netdev|interface|subnet|rail"}},
      {"connect-timeout",
       {"modify_qp|ibv_modify_qp|rtr|qp|connect* timed|timeout*|110|etimedout",
        "connection+timed+out", "errno|error|rc 110|-110", "etimedout", "rtr <fail>"}},
      // ---- containers and limits ----
      {"in-container", {"<box>", "macvlan|ipvlan|sriov+cni|host+device|multus|cni"}},
      {"gid-of-host",
       {"gid* host|hosts|outside|node+address", "gid*|address|ip <no> <box>|inside",
        "netdev|interface <no>|missing|absent|outside|not <box>",
        "<box> <no> netdev|interface|"
        "address|ip|route",
        "verbs|uverbs|rdma+device|device without|no netdev|interface|network",
        "<box> nat|bridge|overlay|veth",
        "gid* address|ip another|other|different|host "
        "namespace|netns"}},
      {"netns-mode",
       {"rdma system|subsystem|sys netns|namespace*|network+namespace",
        "netns|namespace* exclusive|shared mode|plugin|rdma",
        "rdma netns|namespace+mode|netns+mode", "exclusive|shared mode rdma|netns|plugin|cni",
        "incorrect|wrong|incompatible rdma "
        "netns|namespace*|subsystem"}},
      {"qos-on-vf",
       {"vf|vfs|virtual+function*|subfunction|sf <no>|cannot|fail*|unsupported|ignored "
        "qos|dscp|trust|pfc|mlnx_qos|tc|tos|dcb|ets|marking",
        "<box>|inside|within mlnx_qos|qos|dcb|trust|cma_roce_tos|pfc|dscp "
        "<fail>|<no>|permitted|supported|read+only|cannot|empty",
        "qos|pfc|trust|dscp|tos pf|"
        "physical+function only|belongs|instead|must|on|not|applied|set",
        "vf|vfs inherit*|follow*|share* pf|physical+function", "vf|vfs|pod qos|pfc|dscp pf|host"}},
      {"memlock-low",
       {"memlock|ulimit|rlimit_memlock|limitmemlock <num>|low|small|limit|limited|insufficient|kb|"
        "too|8192|64",
        "locked+memory|lock+memory|memory+lock* limit*|<num>|low|small|too|insufficient|"
        "exceed*|max*",
        "raise|raising|increase|set|setting|unlimited memlock|ulimit+l|limitmemlock|"
        "locked+memory <fix>|->",
        "ulimit+l|memlock <no> unlimited|infinity", "rlimit_memlock|limitmemlock*",
        "memlock slurmd|containerd|mpirun|ssh|daemon|systemd|limits.conf"}},
      {"memlock-fine",
       {"memlock|ulimit|ulimit+l|locked+memory|limitmemlock unlimited|infinity|ok|fine"}},
      {"registration-fails",
       {"ibv_reg_mr*|reg_mr*|mr|ibv_reg* <fail>|enomem|cannot",
        "memory+registration|register+memory|"
        "registering <fail>|enomem",
        "cannot+allocate+memory", "enomem", "pin*|register* memory <fail>"}},
      {"no-ipc-lock",
       {"~ ipc_lock|cap_ipc_lock|sys_resource|cap_net_raw",
        "cap+add|capabilit*|securitycontext "
        "<no>|missing|drop*|add*|lacks|required|need*|without",
        "privileged <fix>|works|ok|only|"
        "required|without",
        "unprivileged <box>|pod|<fail>",
        "dev+infiniband|uverbs*|rdma_cm "
        "<no>|missing|mount*|absent|visible <box>|inside"}},
      {"not-permitted", {"operation+not+permitted|eperm|eacces|permission+denied"}},
      {"kernel-bad",
       {"kernel|<kernel> regress*|broken|bug|bisect*|known|introduced|since|fix*",
        "<kernel> fix*|works|fine|regress*|broken|fail*|breaks|ok",
        "kernel|driver|firmware|ofed|doca "
        "downgrad*|rollback|rolled|revert*|upgrad*|newer|older|updat* <fix>|works|fine|needed",
        "driver|firmware|kernel regression|bug|patch", "cmatotal|cma+total <zero>",
        "kernel|driver <version> broken|fails|regress*|bug|crash*|panic|oops",
        "works|fixed|fine older|"
        "newer|previous kernel|driver|firmware|ofed",
        "backport*|upstream+commit|kernel+commit|kernel+patch"}},
      {"renamed",
       {"<nic>|device*|name|names|mlx5* renam*",
        "name*|naming|numbering|enumerat*|order "
        "<changed>|differ*|another reboot|boot|upgrade|update|kernel|driver|replac*|firmware|node*",
        "device*|<device>|hca|nic <changed> name|names|order|index|number",
        "predictable|persistent+nam*|"
        "udev|rename_*",
        "<device> became|becomes|-> <device>",
        "<device>|device|hca <no> exist*|longer "
        "reboot|upgrade|replac*|after",
        "name|names <no> stable|persist*",
        "enumeration+order|probe+order|"
        "device+order"}},
      // ---- GPUDirect ----
      {"gdr-off",
       {"<gdr> <off>|disabled", "<no> <gdr>",
        "<gdr> <no> used|enabled|work*|available|active|loaded", "gpu+direct+rdma disabled",
        "<gdr> <fail>|silently", "staged|staging|bounce* host+memory|host|cpu"}},
      {"peermem-missing",
       {"<peermem> <no> loaded|found|load*|installed|present|running", "<no> <peermem>",
        "modprobe <peermem>", "load*|insert*|install* <peermem> <fix>",
        "<peermem> unload*|gone|missing|"
        "absent",
        "<peermem> required|need*|must load*", "<peermem> <fail>"}},
      {"peermem-loaded",
       {"<peermem> loaded|present|lsmod|inserted|ok|is+loaded|installed|running"}},
      {"module-renamed",
       {"nv_peer_mem|nv+peer+mem nvidia_peermem|nvidia+peermem|peermem",
        "module|<peermem> renam*|"
        "old|new name|path",
        "nccl|version|old|older check*|look*|prob*|expect*|search* module|name|"
        "path|nv_peer_mem|memory_peers",
        "<peermem> name|path|old|rename* nccl|version"}},
      {"not-registered",
       {"memory_peers|memory+peers empty|<no>|missing|nothing",
        "<peermem> <no> regist*|bound|"
        "attached|used",
        "peer+memory|peer_memory|peer+mem client* <no>|missing|fail*|unknown",
        "ib_register_peer_memory*|unknown+symbol",
        "<peermem> loaded <no> effect|work*|used|regist*|gdr*", "loaded <no> registered",
        "invalid+argument <peermem>|modprobe",
        "<peermem> built|compiled "
        "before|against|without|inbox|wrong"}},
      {"gdr-persist",
       {"modules+load.d|modules_load|etc+modules|load.d",
        "<peermem>|module <no> load* boot|reboot|"
        "automatically|persist*",
        "after|every|each reboot|boot <gdr>|<peermem>|module gone|off|missing|"
        "lost|unloaded",
        "<gdr> off|gone|lost|disabled after|since reboot|boot",
        "<peermem>|module "
        "persist*|autoload*|systemd"}},
      {"dmabuf",
       {"dmabuf|dma+buf|dma_buf "
        "<no>|<off>|<fail>|support*|unsupported|requires|missing|disabled|path",
        "ibv_reg_dmabuf*|reg_dmabuf*|*dmabuf_enable*",
        "open|proprietary kernel+module*|driver dmabuf|"
        "dma+buf|gdr*",
        "*cumem_enable=0|*dmabuf_enable=0",
        "hip|hsa|cuda|rocm dmabuf|dma+buf "
        "<no>|export"}},
      {"gpu-memory-fails",
       {"ib_umem_get <fail>",
        "gpu+memory|device+memory|vram|gpu+buffer|cuda+memory|gpu "
        "regist*|pin*|mr <fail>|efault",
        "bad+address|efault|rc+-14 regist*|mr|umem|reg*", "nvidia_p2p*|peer+to+peer+mapping <fail>",
        "ibv_reg_dmabuf*|reg_dmabuf* <fail>"}},
      {"gdr-some-nodes",
       {"<gdr>|<peermem> one|some|certain|few|only|others|other|differ* "
        "node*|host*|rank*|server*|hca*|"
        "side",
        "<gdr>|<peermem> node*|host* differ*|inconsist*|asymmetr*|not+all",
        "<gdr> asymmetr*|<one>+side"}},
      {"nodes-differ",
       {"firmware|driver|version|kernel|config*|setting*|bios|ofed|option* <differ>|differs "
        "node*|host*|between|server*|rank*",
        "<one> node|host|server different|another|older|other "
        "firmware|driver|version|kernel|config*|setting*|bios|ofed",
        "drift",
        "nodes|hosts|servers <no> "
        "identical|same|consistent"}},
      {"acs",
       {"acs <on>|active|set", "~ acs <no> disabled|off", "acs", "acsctl srcvalid*|srcvalid+",
        "srcvalid+|reqredir+|cmpltredir+", "disabl*|turn* acs <fix>|->",
        "~ pci_acs|setpci|acs_override"}},
      {"acs-off", {"acs disabled|off|already", "srcvalid-|acsctl-"}},
      {"iommu",
       {"iommu <on>|enabled|active|settings|setting|translat*|strict",
        "iommu|amd_iommu|intel_iommu "
        "disabl*|off|pt <fix>|->",
        "vt+d|vtd|svm enabled|on|disabl*", "iommu=on|intel_iommu=on|amd_iommu=on",
        "iommu <no> pt|passthrough|identity|off|disabled",
        "iommu+group*|dmar|io_page_fault|iommu+fault*"}},
      {"relaxed-ordering",
       {"! relaxed+ordering|relaxed_ordering|*relaxed_ordering*",
        "~ ro forc*|compliant|disabl*|"
        "enabl*|off|bit|on|pcie|pci",
        "~ non+ro|ro+compliant|rlxdord*"}},
      {"gpu-far",
       {"gpu|nic phb|sys|node|numa|socket|root+complex|upi|qpi "
        "topolog*|distance|cross*|across|different|"
        "far",
        "nic|gpu different|wrong|remote|other numa|socket|cpu|root+complex|pcie+switch",
        "<no> same|shared pcie+switch|pcie+bridge gpu|nic", "nvidia_smi+topo|topo+m sys|phb|node"}},
      {"mrrs", {"mrrs|max_read_req*|maxreadreq|mps|maxpayload"}},
      {"irq-numa", {"irq*|affinity|interrupts numa|wrong|remote|socket|pinned"}},
      {"tcp-untuned", {"tcp buffer*|rmem|wmem|window|bbr|cubic|sysctl*|somaxconn"}},
  };
  return all;
}

}  // namespace weir::diagnose

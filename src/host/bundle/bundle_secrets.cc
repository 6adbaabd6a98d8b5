#include "host/bundle/bundle_secrets.h"

#include <algorithm>
#include <array>
#include <cctype>

#include <fmt/format.h>

#include "base/text.h"
#include "readers/paste/kernel_log.h"
#include "vocab/nic_drivers.h"

namespace weir::host {
namespace {

constexpr std::string_view kLeftOut = "(left out)";

/// What src/host/linux reads. A folder ends with '/'.
constexpr auto kMayLeave = std::to_array<std::string_view>({
    "/sys/class/infiniband/",
    "/sys/class/net/",
    "/sys/class/pci_bus/",
    "/sys/bus/pci/devices/",
    "/sys/devices/",
    "/sys/kernel/config/rdma_cm/",
    "/sys/kernel/config/bnxt_re/",
    "/sys/kernel/config/irdma/",
    "/sys/kernel/debug/mlx5/",
    "/sys/kernel/debug/bnxt_re/",
    "/sys/kernel/iommu_groups/",
    "/sys/module/",
    "/proc/irq/",
    "/proc/driver/nvidia/",
    "/proc/sys/net/",
    "/proc/sys/kernel/",
    "/proc/sys/vm/",
    "/run/systemd/netif/lldp/",
    "/proc/1/cgroup",
    "/proc/cmdline",
    "/proc/modules",
    "/proc/net/netstat",
    "/proc/net/snmp",
    "/proc/self/limits",
    "/proc/stat",
    "/proc/cpuinfo",
    "/proc/meminfo",
    "/etc/os-release",
    "/usr/lib/os-release",
    "/etc/nccl.conf",
    "/run/.containerenv",
    "/run/systemd/container",
});

bool is_process_file(std::string_view path) {
  const auto parts = split(path, '/');
  return parts.size() == 4 && parts[1] == "proc" && parts[3] == "comm" && parse_u64(parts[2]);
}

/// A parameter of the kernel that decides how devices reach memory, or keeps processors for a job,
/// and the values it may have (kernel-parameters.txt of Linux 6.12). Any other value was
/// written by hand, and does not leave.
struct KernelWord {
  std::string_view name;
  std::string_view values;     // separated by blanks; each part of a list is one of them …
  bool takes_numbers = false;  // … or numbers: processors, sizes
};
constexpr auto kKernelWords = std::to_array<KernelWord>({
    {"iommu", "off on force noforce biomerge panic nopanic merge nomerge soft pt nopt nobypass"},
    {"iommu.passthrough", "0 1"},
    {"iommu.strict", "0 1"},
    {"iommu.forcedac", "0 1"},
    {"intel_iommu", "on off igfx_off forcedac strict sp_off sm_on sm_off nobounce tboot_noforce"},
    {"amd_iommu",
     "on off fullflush force_isolation force_enable pgtbl_v1 pgtbl_v2 irtcachedis nohugepages"},
    {"pci",
     "off conf1 conf2 noaer nodomains nommconf nomsi noioapicquirk nobios noacpi use_crs nocrs "
     "routeirq skip_isa_align noearly nobar norom rom realloc realloc=on realloc=off "
     "assign-busses pcie_bus_tune_off pcie_bus_safe pcie_bus_perf pcie_bus_peer2peer noats noari "
     "ecrc=bypass ecrc=off ecrc=on earlydump bfsort nobfsort big_root_window"},
    {"pcie_aspm", "off force"},
    {"pcie_aspm.policy", "default performance powersave powersupersave"},
    {"pcie_ports", "auto native compat dpc-native"},
    {"pcie_port_pm", "off force"},
    {"pcie_acs_override", "downstream multifunction"},
    {"numa", "off noacpi nohmat"},
    {"numa_balancing", "enable disable"},
    {"isolcpus", "nohz domain managed_irq", true},
    {"nohz", "on off"},
    {"nohz_full", "all", true},
    {"rcu_nocbs", "all", true},
    {"rcu_nocb_poll", ""},
    {"hugepages", "", true},
    {"hugepagesz", "", true},
    {"default_hugepagesz", "", true},
    {"mitigations", "off auto nosmt"},
    {"intel_pstate",
     "disable active passive force no_hwp hwp_only support_acpi_ppc per_cpu_perf_limits"},
    {"processor.max_cstate", "", true},
});

bool is_kernel_number(std::string_view text) {
  constexpr std::size_t kLongest = 24;  // "0-1023:15/16", "1073741824", "512M"
  return !text.empty() && text.size() <= kLongest &&
         std::isdigit(static_cast<unsigned char>(text.front())) != 0 &&
         text.find_first_not_of("0123456789-:/KMG") == std::string_view::npos;
}

/// "pci=noaer,secret=x" is "pci=noaer,(left out)"; nothing of a word that is not in the table.
std::string kept_kernel_word(std::string_view word) {
  const std::size_t equals = word.find('=');
  const std::string_view name = word.substr(0, equals);
  const auto known =
      std::find_if(kKernelWords.begin(), kKernelWords.end(),
                   [&](const KernelWord& candidate) { return candidate.name == name; });
  if (known == kKernelWords.end()) return {};
  if (equals == std::string_view::npos) return std::string(name);
  const auto values = split(known->values, ' ');
  std::string out(name);
  char separator = '=';
  for (const std::string_view part : split(word.substr(equals + 1), ',')) {
    const bool is_value = std::find(values.begin(), values.end(), part) != values.end();
    const bool is_number = known->takes_numbers && is_kernel_number(part);
    const bool is_kept = !part.empty() && (is_value || is_number);
    if (!is_kept && out.ends_with(kLeftOut)) continue;  // said once: not even how many there are
    out += separator;
    out += is_kept ? part : kLeftOut;
    separator = ',';
  }
  return out;
}

/// Variables of NCCL and UCX that Weir explains or that tune a transport, with the values that
/// their documentation gives them (job_variable_meanings.cc names it). Any other value was written
/// by hand and does not leave: one word that is a password looks like one that is a plugin.
struct JobSettings {
  std::string_view names;      // separated by blanks
  std::string_view values;     // each part of a list is one of them, in any case …
  bool takes_numbers = false;  // … or a number, with a unit or without
  bool takes_devices = false;  // … or a NIC
};
constexpr std::string_view kFunctions = "broadcast reduce allgather reducescatter allreduce";
constexpr auto kJobSettings = std::to_array<JobSettings>({
    {"NCCL_IB_TC NCCL_IB_FIFO_TC NCCL_IB_GID_INDEX NCCL_IB_ROCE_VERSION_NUM NCCL_IB_SL "
     "NCCL_IB_TIMEOUT NCCL_IB_RETRY_CNT NCCL_IB_QPS_PER_CONNECTION NCCL_IB_SPLIT_DATA_ON_QPS "
     "NCCL_IB_ADAPTIVE_ROUTING NCCL_IB_AR_THRESHOLD NCCL_IB_PCI_RELAXED_ORDERING NCCL_IB_DISABLE "
     "NCCL_IB_MERGE_NICS NCCL_IB_MERGE_VFS NCCL_IB_CUDA_SUPPORT NCCL_IB_ECE_ENABLE "
     "NCCL_IB_USE_INLINE NCCL_IB_DATA_DIRECT NCCL_NET_GDR_READ NCCL_NET_GDR_C2C "
     "NCCL_NET_FORCE_FLUSH NCCL_GDR_FLUSH_DISABLE NCCL_GDRCOPY_ENABLE NCCL_DMABUF_ENABLE "
     "NCCL_CROSS_NIC NCCL_PXN_DISABLE NCCL_P2P_DISABLE NCCL_P2P_NET_CHUNKSIZE NCCL_SHM_DISABLE "
     "NCCL_NVLS_ENABLE NCCL_MNNVL_ENABLE NCCL_COLLNET_ENABLE NCCL_CUMEM_ENABLE NCCL_BUFFSIZE "
     "NCCL_NTHREADS NCCL_MIN_NCHANNELS NCCL_MAX_NCHANNELS NCCL_MIN_CTAS NCCL_MAX_CTAS "
     "NCCL_NCHANNELS_PER_NET_PEER NCCL_NSOCKS_PERTHREAD NCCL_SOCKET_NTHREADS "
     "NCCL_IGNORE_CPU_AFFINITY",
     "", true},
    {"NCCL_NET_GDR_LEVEL NCCL_IB_GDR_LEVEL NCCL_P2P_LEVEL NCCL_NET_MERGE_LEVEL",
     "loc nvl port pix pxb p2c phb sys", true},
    {"NCCL_IB_ADDR_FAMILY NCCL_SOCKET_FAMILY", "af_inet af_inet6"},
    {"NCCL_IB_HCA UCX_NET_DEVICES", "all", true, true},
    {"NCCL_SOCKET_IFNAME NCCL_OOB_NET_IFNAME", "", false, true},
    {"NCCL_NET", "ib socket"},
    {"NCCL_NET_PLUGIN", "none"},
    {"NCCL_ALGO", "ring tree collnetchain collnetdirect nvls nvlstree pat"},
    {"NCCL_PROTO", "ll ll128 simple"},
    {"NCCL_DEBUG", "version warn info abort trace"},
    {"NCCL_DEBUG_SUBSYS",
     "init coll p2p shm net graph tuning env alloc call proxy nvls bootstrap reg profile ras all"},
    {"UCX_IB_TRAFFIC_CLASS UCX_IB_GID_INDEX UCX_IB_SL UCX_IB_NUM_PATHS UCX_RC_RETRY_COUNT "
     "UCX_RC_TIMEOUT UCX_RNDV_THRESH UCX_ZCOPY_THRESH UCX_MAX_RNDV_RAILS UCX_MAX_EAGER_RAILS "
     "UCX_IB_PCI_RELAXED_ORDERING UCX_IB_ADDR_TYPE",
     "auto inf y n yes no on off try", true},
    {"UCX_TLS",
     "all rc rc_x rc_v rc_mlx5 rc_verbs ud ud_x ud_v ud_mlx5 ud_verbs dc dc_x dc_mlx5 ib sm shm mm "
     "self posix sysv cma knem xpmem tcp cuda cuda_copy cuda_ipc gdr_copy rocm rocm_copy rocm_ipc"},
    {"UCX_LOG_LEVEL", "fatal error warn diag info debug trace"},
});

std::string lower_case(std::string_view text) {
  std::string out;
  for (const char c : text)
    out += static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  return out;
}

bool is_one_of(std::string_view list, std::string_view word) {
  const auto words = split(list, ' ');
  return std::find(words.begin(), words.end(), word) != words.end();
}

std::size_t digits_at(std::string_view text, std::size_t at) {
  return std::min(text.find_first_not_of("0123456789", at), text.size()) - at;
}

/// "106", "-1", "8388608", "8k", "1.00s", "0xffff".
bool is_job_number(std::string_view text) {
  constexpr std::size_t kMostDigits = 10;  // bytes; a longer one is an id
  if (text.starts_with("0x"))
    return text.size() > 2 && text.size() <= 2 + 8 &&
           text.find_first_not_of("0123456789abcdef", 2) == std::string_view::npos;
  text.remove_prefix(text.starts_with('-') ? 1 : 0);
  const std::size_t digits = digits_at(text, 0);
  if (digits == 0 || digits > kMostDigits) return false;
  text.remove_prefix(digits);
  if (text.starts_with('.')) text.remove_prefix(1 + std::min<std::size_t>(digits_at(text, 1), 3));
  return text.empty() || is_one_of("b k kb m mb g gb s ms us ns", text);
}

/// How much of it is a NIC driver's name for its devices, or for a bond of them: "mlx5_bond_".
std::size_t length_of_driver(std::string_view text) {
  const vocab::NicDriver* driver = vocab::driver_of_device(text);
  std::size_t length = driver == nullptr ? 0 : driver->device.size();
  for (const vocab::NicDriver& row : vocab::kNicDrivers)
    if (length == 0 && text.starts_with(row.name)) length = row.name.size();
  if (length == 0) return 0;
  for (const std::string_view bond : {"_bond_", "_bond", "bond_", "_"})
    if (text.substr(length).starts_with(bond)) return length + bond.size();
  return length;
}

/// As the kernel, drivers and systemd call NICs, or the beginning of such a name: a word of theirs,
/// then places of one or two letters and a number ("enp65s0f1np1", "mlx5_bond_0").
bool is_usual_device(std::string_view text) {
  constexpr std::string_view kWords =
      "rocep roceo roces roce rdmap rdma mana_ docker veth virbr bond team eth ib en br lo";
  constexpr std::size_t kLongest = 24;
  const std::string lower = lower_case(text);
  if (lower.size() > kLongest) return false;
  std::size_t begin = length_of_driver(lower);
  if (begin == 0) {
    const auto words = split(kWords, ' ');
    const auto word = std::find_if(words.begin(), words.end(),
                                   [&](std::string_view each) { return lower.starts_with(each); });
    if (word == words.end()) return false;
    begin = word->size();
  }
  for (std::size_t at = begin; at < lower.size();) {
    const std::size_t number = std::min(lower.find_first_of("0123456789", at), lower.size());
    const std::size_t other = lower.find_first_not_of("abcdefghijklmnopqrstuvwxyz", at);
    if (number - at > 2 || other < number) return false;
    at = number + digits_at(lower, number);
  }
  return true;
}

bool is_device(std::string_view text, const std::vector<std::string>& devices) {
  return is_usual_device(text) ||
         std::any_of(devices.begin(), devices.end(),
                     [&](const std::string& each) { return each.starts_with(text); });
}

/// Whether every part of the value is what the documentation of the variable says.
bool is_documented(std::string_view name, std::string_view value,
                   const std::vector<std::string>& devices) {
  const auto row =
      std::find_if(kJobSettings.begin(), kJobSettings.end(),
                   [&](const JobSettings& each) { return is_one_of(each.names, name); });
  if (row == kJobSettings.end() || value.empty()) return false;
  const bool is_per_function = name == "NCCL_ALGO" || name == "NCCL_PROTO";
  for (std::size_t at = 0; at <= value.size();) {
    const std::size_t end = std::min(value.find_first_of(",;:^=", at), value.size());
    const std::string_view part = value.substr(at, end - at);
    const std::string lower = lower_case(part);
    const bool is_kept = part.empty() || is_one_of(row->values, lower) ||
                         (is_per_function && is_one_of(kFunctions, lower)) ||
                         (row->takes_numbers && is_job_number(lower)) ||
                         (row->takes_devices && is_device(part, devices));
    if (!is_kept) return false;
    at = end + 1;
  }
  return true;
}

/// As variables are called; what else is before a '=' is no setting.
bool is_variable_name(std::string_view name) {
  constexpr std::size_t kLongest = 64;
  return (name.starts_with("NCCL_") || name.starts_with("UCX_")) && name.size() <= kLongest &&
         name.find_first_not_of("ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_") == std::string_view::npos;
}

/// What this host calls its NICs: in the bundle anyway.
std::vector<std::string> devices_of(const Recording& look) {
  const std::set<std::string> interfaces = interfaces_of(look);
  std::vector<std::string> out(interfaces.begin(), interfaces.end());
  const auto list = look.lists.find("/sys/class/infiniband");
  if (list != look.lists.end() && list->second)
    out.insert(out.end(), list->second->begin(), list->second->end());
  return out;
}

/// /proc/modules without where in the kernel each module is, which root can read.
std::string modules_without_addresses(std::string content) {
  constexpr std::string_view kHex = "0123456789abcdefABCDEF";
  for (std::size_t at = content.find(" 0x"); at != std::string::npos;
       at = content.find(" 0x", at + 1)) {
    const std::size_t digits = at + 3;
    const std::size_t end = std::min(content.find_first_not_of(kHex, digits), content.size());
    content.replace(digits, end - digits, "0");
  }
  return content;
}

/// Of the kernel's log: the lines that are judged, without names of processes, servers and files.
std::string problems_without_names(std::string_view log, const Recording& look) {
  const std::vector<std::string> devices = devices_of(look);
  std::string out;
  for (const std::string_view line : split(log, '\n')) {
    const std::string kept = readers::without_names(line, devices);
    if (!kept.empty()) out += kept + "\n";
  }
  return out;
}

std::string without_secrets(const std::string& path, const std::string& content,
                            const Recording& look) {
  if (path == "/proc/cmdline") return short_command_line(content);
  if (path == "/proc/modules") return modules_without_addresses(content);
  if (path.ends_with("/os-release")) return short_os_release(content);
  if (path.ends_with("nccl.conf")) return conf_without_secrets(content, devices_of(look));
  return content;
}

}  // namespace

bool may_leave(std::string_view path) {
  if (path.find("/../") != std::string_view::npos) return false;
  if (is_process_file(path) || path.ends_with("/.nccl.conf")) return true;
  return std::any_of(kMayLeave.begin(), kMayLeave.end(), [&](std::string_view allowed) {
    return allowed.ends_with('/') ? path.starts_with(allowed) : path == allowed;
  });
}

std::string conf_without_secrets(std::string_view content,
                                 const std::vector<std::string>& devices) {
  std::string out;
  for (const std::string_view whole : split(content, '\n')) {
    const std::string_view line = trim(whole.substr(0, whole.find('#')));
    const std::size_t equals = line.find('=');
    if (equals == std::string_view::npos) continue;
    const std::string_view name = trim(line.substr(0, equals));
    const std::string_view value = trim(line.substr(equals + 1));
    if (!is_variable_name(name)) continue;
    out += fmt::format("{}={}\n", name, is_documented(name, value, devices) ? value : kLeftOut);
  }
  return out;
}

std::string short_command_line(std::string_view content) {
  std::string out;
  for (const std::string_view word : split(trim(content), ' ')) {
    const std::string kept = kept_kernel_word(trim(word));
    if (!kept.empty()) out += fmt::format("{}{}", out.empty() ? "" : " ", kept);
  }
  return (out.empty() ? std::string("-") : out) + "\n";
}

std::string short_os_release(std::string_view content) {
  constexpr std::string_view kName = "PRETTY_NAME=";
  constexpr std::size_t kLongest = 80;
  constexpr std::string_view kPlain =
      "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789 ._()/+-";
  for (const std::string_view line : split(content, '\n')) {
    if (!line.starts_with(kName)) continue;
    std::string_view name = trim(line.substr(kName.size()));
    for (const char quote : {'"', '\''})
      if (name.size() >= 2 && name.front() == quote && name.back() == quote)
        name = name.substr(1, name.size() - 2);
    const bool is_name =
        name.size() <= kLongest && name.find_first_not_of(kPlain) == std::string_view::npos;
    return fmt::format("{}\"{}\"\n", kName, is_name ? name : kLeftOut);
  }
  return "-\n";
}

std::vector<std::string> withhold(Bundle& bundle) {
  std::vector<std::string> names;
  for (Recording& look : bundle.looks) {
    std::erase_if(look.files, [&](const auto& file) {
      // That a file is not there is no content.
      if (may_leave(file.first) || !file.second) return false;
      names.push_back(file.first);
      return true;
    });
    if (const auto log = look.about.find(kKernelLog); log != look.about.end() && log->second) {
      std::string kept = problems_without_names(*log->second, look);
      if (kept != *log->second) names.emplace_back("dmesg");
      log->second = std::move(kept);
    }
    for (auto& [path, answer] : look.files) {
      if (!answer) continue;
      std::string kept = without_secrets(path, *answer, look);
      if (kept == *answer) continue;
      names.push_back(path);
      answer = std::move(kept);
    }
  }
  return names;
}

std::vector<Leaving> leaving(const Bundle& bundle) {
  std::vector<Leaving> out;
  const auto add = [&](std::string_view kind, const auto& answers, const auto& size) {
    for (const auto& [name, answer] : answers)
      if (answer) out.push_back({std::string(kind), name, size(*answer)});
  };
  const auto of_text = [](const std::string& text) { return text.size(); };
  for (const Recording& look : bundle.looks) {
    add("about", look.about, of_text);
    add("file", look.files, of_text);
    add("list", look.lists,
        [](const std::vector<std::string>& names) { return join(names, "/").size(); });
    add("path", look.paths, of_text);
    for (const auto& [question, talk] : look.talks) {
      Leaving item{"talk", question.first.empty() ? "netlink" : "ethtool of " + question.first, 0};
      for (const std::string& reply : talk.replies)
        item.bytes += reply.size();
      if (item.bytes > 0) out.push_back(std::move(item));
    }
  }
  return out;
}

}  // namespace weir::host

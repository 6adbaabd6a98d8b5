#include "host/bundle/bundle_secrets.h"

#include <algorithm>
#include <array>
#include <cctype>

#include <fmt/format.h>

#include "base/text.h"
#include "readers/job/job.h"

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

std::string upper(std::string_view text) {
  std::string out;
  for (const char c : text)
    out += static_cast<char>(std::toupper(static_cast<unsigned char>(c)));
  return out;
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

/// A path or an address: names of people, hosts and networks are in them, and no setting that is
/// judged is one.
bool is_place(std::string_view value) {
  if (value.find('/') != std::string_view::npos) return true;
  std::size_t numbers = 0;
  for (const std::string_view part : split(value.substr(0, value.find(':')), '.'))
    numbers += parse_u64(part) ? 1 : 0;
  constexpr std::size_t kBytesOfIpv4 = 4;
  const bool is_ipv6 =
      std::count(value.begin(), value.end(), ':') >= 2 &&
      value.find_first_not_of("0123456789abcdefABCDEF:[]") == std::string_view::npos;
  return numbers == kBytesOfIpv4 || is_ipv6;
}

/// As settings of NCCL and UCX are written: without blanks, quotes and what a shell or a URL has.
bool is_plain(std::string_view text) {
  constexpr std::size_t kLongest = 512;  // a list of sixteen devices with their ports has 200
  return text.size() <= kLongest && std::all_of(text.begin(), text.end(), [](char c) {
           return std::isalnum(static_cast<unsigned char>(c)) != 0 ||
                  std::string_view("_-.,:;^=+%").find(c) != std::string_view::npos;
         });
}

/// A run of letters and digits that no setting of NCCL has: keys and tokens have 20 and more.
bool has_long_token(std::string_view value) {
  std::size_t run = 0;
  bool has_digit = false;
  bool has_letter = false;
  for (const char c : value) {
    const auto byte = static_cast<unsigned char>(c);
    const bool is_part = std::isalnum(byte) != 0 || c == '+' || c == '=';
    if (!is_part) {
      run = 0;
      has_digit = has_letter = false;
      continue;
    }
    ++run;
    has_digit = has_digit || std::isdigit(byte) != 0;
    has_letter = has_letter || std::isalpha(byte) != 0;
    constexpr std::size_t kTokenLength = 20;
    if (run >= kTokenLength && has_digit && has_letter) return true;
  }
  return false;
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

std::string without_secrets(const std::string& path, const std::string& content) {
  if (path == "/proc/cmdline") return short_command_line(content);
  if (path == "/proc/modules") return modules_without_addresses(content);
  if (path.ends_with("nccl.conf")) return conf_without_secrets(content);
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

bool looks_secret(std::string_view name, std::string_view value) {
  constexpr auto kWords = std::to_array<std::string_view>(
      {"KEY", "SECRET", "TOKEN", "PASS", "CREDENTIAL", "AUTH", "PRIVATE", "COOKIE", "LICENSE"});
  const std::string loud = upper(name);
  const bool is_named = std::any_of(kWords.begin(), kWords.end(), [&](std::string_view word) {
    return loud.find(word) != std::string::npos;
  });
  const bool has_login = value.find('@') != std::string_view::npos;
  const bool is_pem = value.find("-----BEGIN") != std::string_view::npos;
  return is_named || has_login || is_pem || is_place(value) || has_long_token(value);
}

std::string conf_without_secrets(std::string_view content) {
  std::string out;
  for (const std::string_view whole : split(content, '\n')) {
    const std::string_view line = trim(whole.substr(0, whole.find('#')));
    const std::size_t equals = line.find('=');
    if (equals == std::string_view::npos) continue;
    const std::string_view name = trim(line.substr(0, equals));
    const std::string_view value = trim(line.substr(equals + 1));
    const bool is_setting = name.starts_with("NCCL_") || name.starts_with("UCX_");
    if (!is_setting || !is_plain(name)) continue;
    const bool is_known = readers::knowledge_of(name, readers::Suggests::kNothing).is_known;
    const bool is_kept = is_known && is_plain(value) && !looks_secret(name, value);
    out += fmt::format("{}={}\n", name, is_kept ? value : kLeftOut);
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

std::vector<std::string> withhold(Bundle& bundle) {
  std::vector<std::string> names;
  for (Recording& look : bundle.looks) {
    std::erase_if(look.files, [&](const auto& file) {
      // That a file is not there is no content.
      if (may_leave(file.first) || !file.second) return false;
      names.push_back(file.first);
      return true;
    });
    for (auto& [path, answer] : look.files) {
      if (!answer) continue;
      std::string kept = without_secrets(path, *answer);
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

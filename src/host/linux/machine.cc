#include "host/linux/machine.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <optional>

#include <fmt/format.h>
#include <linux/netlink.h>
#include <rdma/rdma_netlink.h>

#include "base/text.h"
#include "base/untrusted/printable.h"
#include "host/linux/netlink.h"
#include "host/linux/reader.h"
#include "readers/paste/kernel_log.h"

namespace weir::host {

using evidence::Fact;
using evidence::Iommu;
using evidence::Missing;

namespace {

// What a TCP path of a training job lives by (mission C6), and what breaks RoCE routing.
constexpr std::array<std::string_view, 10> kSysctls = {
    "net.core.default_qdisc",
    "net.core.netdev_max_backlog",
    "net.core.rmem_max",
    "net.core.wmem_max",
    "net.ipv4.conf.all.arp_ignore",
    "net.ipv4.conf.all.rp_filter",
    "net.ipv4.tcp_congestion_control",
    "net.ipv4.tcp_ecn",
    "net.ipv4.tcp_rmem",
    "net.ipv4.tcp_wmem",
};

Fact<std::vector<evidence::NamedText>> read_sysctls(Kernel& kernel) {
  using F = Fact<std::vector<evidence::NamedText>>;
  std::vector<evidence::NamedText> out;
  std::optional<Missing> why;
  for (const std::string_view name : kSysctls) {
    std::string path = "/proc/sys/" + std::string(name);
    std::replace(path.begin(), path.end(), '.', '/');
    const auto value = read_fact(kernel, path, parse_word);
    if (value.is_known()) {
      out.push_back({std::string(name), *value});
    } else if (!why.has_value()) {
      why = value.why();
    }
  }
  if (out.empty()) return F::missing(why.value_or(Missing::kAbsent), "/proc/sys");
  return F::of(std::move(out), "/proc/sys");
}

/// Off where the kernel knows no unit; else what the NICs' own groups are set to.
Fact<Iommu> read_iommu(Kernel& kernel, const std::vector<std::string>& pci_directories) {
  const std::string units = "/sys/class/iommu";
  const auto names = kernel.list(units);
  if (!names) return Fact<Iommu>::missing(missing_of(names.error()), units);
  if (names->empty()) return Fact<Iommu>::of(Iommu::kOff, units);
  Fact<Iommu> found = Fact<Iommu>::missing(Missing::kUnsupported, units);
  for (const std::string& folder : pci_directories) {
    const auto type = read_fact(kernel, folder + "/iommu_group/type", parse_word);
    if (!type.is_known()) {
      if (!found.is_known()) found = Fact<Iommu>::missing(type.why(), type.source());
      continue;
    }
    if (*type != "identity") return Fact<Iommu>::of(Iommu::kTranslating, type.source());
    found = Fact<Iommu>::of(Iommu::kIdentity, type.source());
  }
  return found;
}

/// NCCL's own test: any of three files.
Fact<bool> read_peermem(Kernel& kernel) {
  for (const std::string path :
       {"/sys/kernel/mm/memory_peers/nv_mem/version",
        "/sys/kernel/mm/memory_peers/nv_mem_nc/version", "/sys/module/nvidia_peermem/version"}) {
    const auto content = kernel.read_file(path);
    if (content) return Fact<bool>::of(true, path);
    if (!content.is(ENOENT)) return Fact<bool>::missing(missing_of(content.error()), path);
  }
  const std::string modules = "/sys/module";
  const auto listed = kernel.list(modules);
  if (!listed) return Fact<bool>::missing(missing_of(listed.error()), modules);
  return Fact<bool>::of(false, modules);
}

/// Needs the open GPU module, and a kernel that lets RDMA import (5.12).
Fact<bool> read_dmabuf(const Fact<std::string>& kernel_release,
                       const std::vector<evidence::Gpu>& gpus) {
  if (gpus.empty()) return Fact<bool>::missing(Missing::kAbsent, "/sys/bus/pci/devices");
  const auto& open = gpus.front().open_kernel_module;
  if (!open.is_known() || !kernel_release.is_known()) {
    const bool by_gpu = !open.is_known();
    if (by_gpu && !open.was_looked_at()) return {};
    return Fact<bool>::missing(by_gpu ? open.why() : kernel_release.why(),
                               by_gpu ? open.source() : kernel_release.source());
  }
  const auto parts = split(*kernel_release, '.');
  const auto major = parse_u64(parts[0]);
  const auto minor = parts.size() < 2 ? parse_error("none") : parse_u64(parts[1]);
  if (!major || !minor) return Fact<bool>::missing(Missing::kError, kernel_release.source());
  const bool can_import = *major > 5 || (*major == 5 && *minor >= 12);
  return Fact<bool>::of(*open && can_import, open.source());
}

Fact<bool> read_lldpad(Kernel& kernel) {
  const auto names = kernel.list("/proc");
  if (!names) return Fact<bool>::missing(missing_of(names.error()), "/proc");
  bool any = false;
  for (const std::string& name : *names) {
    if (!parse_u64(name)) continue;
    const std::string path = "/proc/" + name + "/comm";
    const auto comm = kernel.read_file(path);
    if (comm.is(ENOENT) || comm.is(ESRCH)) continue;  // it has ended
    if (!comm) return Fact<bool>::missing(missing_of(comm.error()), path);
    any = true;
    if (is_lldp_agent(trim(*comm))) return Fact<bool>::of(true, path);
  }
  // A /proc without a single process is not one.
  if (!any) return Fact<bool>::missing(Missing::kAbsent, "/proc");
  return Fact<bool>::of(false, "/proc");
}

Fact<bool> read_uverbs(Kernel& kernel) {
  const std::string folder = "/dev/infiniband";
  const auto names = kernel.list(folder);
  if (names) {
    return Fact<bool>::of(
        std::any_of(names->begin(), names->end(),
                    [](const std::string& name) { return name.starts_with("uverbs"); }),
        folder);
  }
  if (names.is(ENOENT) && kernel.list("/dev")) return Fact<bool>::of(false, folder);
  return Fact<bool>::missing(missing_of(names.error()), folder);
}

/// Marks that container engines leave; without one, an init as the first process is a host's.
Fact<bool> read_container(Kernel& kernel) {
  for (const std::string path : {"/.dockerenv", "/run/.containerenv", "/run/systemd/container"}) {
    const auto content = kernel.read_file(path);
    if (content) return Fact<bool>::of(true, path);
    if (!content.is(ENOENT)) return Fact<bool>::missing(missing_of(content.error()), path);
  }
  const std::string path = "/proc/1/cgroup";
  const auto groups = kernel.read_file(path);
  if (groups) {
    for (const std::string_view mark : {"docker", "kubepods", "containerd", "libpod", "lxc"}) {
      if (groups->find(mark) != std::string::npos) return Fact<bool>::of(true, path);
    }
  }
  return read_fact(kernel, "/proc/1/comm", [](std::string_view text) -> Parsed<bool> {
    if (trim(text) == "systemd" || trim(text) == "init") return false;
    return Missing::kUnsupported;
  });
}

/// `rdma system`: whether a device is in one network namespace or shown in all.
Fact<std::string> read_rdma_namespaces(Kernel& kernel) {
  const std::string source = "rdma system show";
  const NetlinkRequest request(RDMA_NL_GET_TYPE(RDMA_NL_NLDEV, RDMA_NLDEV_CMD_SYS_GET),
                               NLM_F_REQUEST | NLM_F_ACK, "");
  const auto replies = kernel.netlink(NETLINK_RDMA, request.bytes());
  if (!replies) return Fact<std::string>::missing(missing_of(replies.error()), source);
  if (replies->empty()) return Fact<std::string>::missing(Missing::kError, source);
  const auto attributes = Attributes::of_message(replies->front(), 0);
  if (!attributes.has_value()) return Fact<std::string>::missing(Missing::kError, source);
  const auto shared = attributes->u8(RDMA_NLDEV_SYS_ATTR_NETNS_MODE);
  if (!shared) return Fact<std::string>::missing(shared.why(), source);
  return Fact<std::string>::of(*shared != 0 ? "shared" : "exclusive", source);
}

/// The user's own file comes first; what it does not set, the system's may (NCCL user guide).
Fact<std::vector<evidence::NamedText>> read_nccl_conf(Kernel& kernel) {
  using F = Fact<std::vector<evidence::NamedText>>;
  std::vector<std::string> paths;
  if (const auto home = kernel.about("home")) paths.push_back(*home + "/.nccl.conf");
  paths.emplace_back("/etc/nccl.conf");
  std::vector<evidence::NamedText> all;
  std::string source;
  for (const std::string& path : paths) {
    const auto variables = read_fact(kernel, path, parse_nccl_conf);
    if (!variables.is_known()) {
      if (variables.why() == Missing::kAbsent) continue;
      return F::missing(variables.why(), path);
    }
    source += (source.empty() ? "" : ", ") + path;
    for (const evidence::NamedText& setting : *variables) {
      const bool is_set = std::any_of(
          all.begin(), all.end(), [&](const auto& other) { return other.name == setting.name; });
      if (!is_set) all.push_back(setting);
    }
  }
  if (source.empty()) return F::missing(Missing::kAbsent, "/etc/nccl.conf");
  return F::of(std::move(all), source);
}

/// Of the kernel's log the lines that are judged, and no others: the rest is nobody's business.
Fact<std::vector<std::string>> read_kernel_problems(Kernel& kernel) {
  using F = Fact<std::vector<std::string>>;
  constexpr std::size_t kMostLines = 200;
  const std::string source = "dmesg";
  const auto log = kernel.about(kKernelLog);
  if (!log) return F::missing(missing_of(log.error()), source);
  std::vector<std::string> lines = readers::problem_lines(*log, kMostLines);
  for (std::string& line : lines)
    line = printable_line(line);
  return F::of(std::move(lines), source);
}

/// The vendor's modules carry its release where the kernel's own carry none ("5.0-0" before 5.7).
Parsed<std::string> parse_ofed_release(std::string_view text) {
  const std::string_view word = trim(text);
  if (word.empty()) return Missing::kError;
  if (word == "5.0-0") return Missing::kAbsent;
  return std::string(word);
}

}  // namespace

evidence::Host read_machine(Kernel& kernel, const std::vector<std::string>& pci_directories,
                            const std::vector<evidence::Gpu>& gpus) {
  evidence::Host out;
  const auto count = [](std::string_view text) -> Parsed<unsigned> {
    const auto list = parse_cpu_list(text);
    if (!list) return list.why();
    return static_cast<unsigned>(list->size());
  };
  out.kernel = read_fact(kernel, "/proc/sys/kernel/osrelease", parse_word);
  out.os = read_fact(kernel, "/etc/os-release", parse_os_release);
  const auto machine = kernel.about("machine");
  out.architecture = machine ? Fact<std::string>::of(*machine, "uname")
                             : Fact<std::string>::missing(missing_of(machine.error()), "uname");
  out.ofed = read_fact(kernel, "/sys/module/mlx5_core/version", parse_ofed_release);
  out.cpus = read_fact(kernel, "/sys/devices/system/cpu/online", count);
  out.numa_nodes = read_fact(kernel, "/sys/devices/system/node/online", count);
  out.memlock = read_fact(kernel, "/proc/self/limits", parse_memlock);
  out.sysctls = read_sysctls(kernel);
  out.command_line = read_fact(kernel, "/proc/cmdline", parse_word);
  out.iommu = read_iommu(kernel, pci_directories);
  out.modules = read_fact(kernel, "/proc/modules", parse_modules);
  out.peermem = read_peermem(kernel);
  out.dmabuf = read_dmabuf(out.kernel, gpus);
  out.lldpad_running = read_lldpad(kernel);
  out.uverbs_visible = read_uverbs(kernel);
  out.in_container = read_container(kernel);
  out.rdma_namespaces = read_rdma_namespaces(kernel);
  out.nccl_conf = read_nccl_conf(kernel);
  out.kernel_log = read_kernel_problems(kernel);
  return out;
}

bool is_lldp_agent(std::string_view process) {
  return process == "lldpad" || process == "dcbd";
}

std::string read_host_name(Kernel& kernel) {
  const auto name = read_fact(kernel, "/proc/sys/kernel/hostname", parse_word);
  if (!name.is_known() || *name == "(none)") return "";  // the kernel's word for "never set"
  return *name;
}

}  // namespace weir::host

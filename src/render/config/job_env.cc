#include "render/config/job_env.h"

#include <algorithm>
#include <charconv>
#include <map>
#include <optional>
#include <set>

#include <fmt/format.h>

#include "base/text.h"
#include "base/untrusted/quote.h"
#include "design/fabric/subnet.h"
#include "design/file/words.h"
#include "design/prove/islands.h"
#include "units/format.h"

namespace weir::render {
namespace {

using design::Design;
using design::Intent;

// ---- devices ----

/// The devices of the host with the most rails: the job uses these names.
std::vector<std::string> devices_of(const Intent& intent) {
  std::vector<std::string> devices;
  for (const design::HostIntent& host : intent.hosts) {
    if (host.nics.size() <= devices.size()) continue;
    devices.clear();
    for (const design::NicIntent& nic : host.nics)
      devices.push_back(nic.device);
  }
  return devices;
}

void remark_other_devices(const Intent& intent, const std::vector<std::string>& devices,
                          JobEnvironment& out) {
  std::set<std::uint32_t> groups;
  for (const design::HostIntent& host : intent.hosts) {
    std::vector<std::string> own;
    for (const design::NicIntent& nic : host.nics)
      own.push_back(nic.device);
    if (own == devices || !groups.insert(host.group).second) continue;
    out.remarks.push_back(
        {fmt::format("devices of {}", host.name), join(own, ","), join(devices, ","),
         "hosts of the design have different devices: render one environment per kind of "
         "host, or use the same device names by udev"});
  }
}

// ---- the GID index ----

/// "0000:…:ffff:0a0a:0105" → 10.10.1.5; nullopt where it holds no IPv4 address.
std::optional<std::string> ipv4_of(std::string_view gid) {
  constexpr std::string_view kMapped = "0000:0000:0000:0000:0000:ffff:";
  if (!gid.starts_with(kMapped) || gid.size() != kMapped.size() + 9) return std::nullopt;
  std::string digits;
  for (const char c : gid.substr(kMapped.size()))
    if (c != ':') digits += c;
  unsigned value = 0;
  const auto [end, error] =
      std::from_chars(digits.data(), digits.data() + digits.size(), value, 16);
  if (error != std::errc() || end != digits.data() + digits.size() || digits.size() != 8)
    return std::nullopt;
  return fmt::format("{}.{}.{}.{}", value >> 24U, (value >> 16U) & 255U, (value >> 8U) & 255U,
                     value & 255U);
}

/// A routable RoCE v2 GID: of the design's address family and in the rail's subnet.
struct Usable {
  unsigned index = 0;
  std::string address;
};
std::optional<Usable> usable_gid(const evidence::Nic& nic, const design::NicIntent& wanted) {
  if (!nic.rdma.gids.is_known()) return std::nullopt;
  const auto subnet = design::parse_subnet(wanted.subnet);
  for (const evidence::Gid& gid : *nic.rdma.gids) {
    if (gid.type != evidence::GidType::kRoceV2) continue;
    const auto v4 = ipv4_of(gid.gid);
    const std::string address = v4 ? *v4 : gid.gid;
    const auto own = design::parse_subnet(fmt::format("{}/{}", address, v4 ? 32 : 128));
    if (subnet && own && own->overlaps(*subnet)) return Usable{gid.index, address};
  }
  return std::nullopt;
}

struct GidAnswer {
  std::optional<unsigned> index;  // the same on every device that was read
  std::string why;
};

const design::HostIntent* find_host(const Intent& intent, std::string_view name) {
  const auto at = std::find_if(intent.hosts.begin(), intent.hosts.end(),
                               [&](const design::HostIntent& host) { return host.name == name; });
  // A capture may have another host name than the design: then the first host is used.
  return at == intent.hosts.end() ? (intent.hosts.empty() ? nullptr : &intent.hosts.front()) : &*at;
}

GidAnswer gid_of_hosts(const Intent& intent, std::span<const evidence::Evidence> hosts) {
  std::map<unsigned, std::string> found;  // index → where it was first seen
  std::vector<std::string> without;
  std::size_t devices = 0;
  for (const evidence::Evidence& found_host : hosts) {
    const design::HostIntent* const host = find_host(intent, found_host.provenance.host);
    if (host == nullptr) continue;
    for (const design::NicIntent& wanted : host->nics) {
      const evidence::Nic* const nic = found_host.find_nic(wanted.device);
      const std::string place = fmt::format("{} {}", found_host.provenance.host, wanted.device);
      const auto gid = nic == nullptr ? std::nullopt : usable_gid(*nic, wanted);
      ++devices;
      if (gid) {
        found.emplace(gid->index, fmt::format("{} has {}", place, gid->address));
      } else {
        without.push_back(place);
      }
    }
  }
  if (!without.empty())
    return {{},
            fmt::format("no RoCE v2 GID in its rail's subnet on {} ({} of {} devices read)",
                        without.front(), without.size(), devices)};
  if (found.size() == 1)
    return {
        found.begin()->first,
        fmt::format("read from hosts: RoCE v2, {}{}", found.begin()->second,
                    devices == 1 ? "" : fmt::format("; the same on all {} devices read", devices))};
  if (found.empty()) return {{}, {}};
  return {{},
          fmt::format("differs between devices ({} at {}, {} at {}): no single index is right",
                      found.begin()->second, found.begin()->first, std::next(found.begin())->second,
                      std::next(found.begin())->first)};
}

/// The index to use, from the design or the hosts; without a value, why not.
GidAnswer gid_answer(const Design& design, const Intent& intent,
                     std::span<const evidence::Evidence> hosts) {
  const auto& written = *design.nccl.gid_index;
  GidAnswer answer = gid_of_hosts(intent, hosts);
  if (written.is_auto) {
    if (answer.why.empty())
      answer.why = "the index depends on the host: --host-evidence FILE or --root DIR reads it";
    return answer;
  }
  if (answer.index && *answer.index != static_cast<unsigned>(written.value))
    return {answer.index, fmt::format("{}; the design has {}", answer.why, written.value)};
  return {static_cast<unsigned>(written.value),
          answer.index ? answer.why : "from the design (nccl.gid_index); not checked on a host"};
}

// ---- reasons ----

std::string marking_why(const Design& design, TosByte tos) {
  const auto* const rdma = design.find_class(design::kRdmaClass);
  const std::string cls =
      rdma != nullptr && rdma->value.dscp->contains(dscp_of(tos))
          ? fmt::format("class 'rdma', priority {}", to_text(*rdma->value.priority))
          : "not in class 'rdma'";
  return fmt::format("TOS byte, not DSCP: DSCP {} x 4 + {} ({})", to_text(dscp_of(tos)),
                     static_cast<unsigned>(ecn_of(tos)), cls);
}

std::string level_why(const Design& design) {
  if (*design.trust == design::Trust::kPcp)
    return "with PCP trust the service level is the priority of RDMA";
  return "not used with DSCP trust: the TOS byte decides";
}

/// A host has rails without a common switch.
bool rails_are_isolated(const Intent& intent) {
  const std::vector<std::uint32_t> island = design::islands(intent);
  return std::any_of(intent.hosts.begin(), intent.hosts.end(), [&](const design::HostIntent& host) {
    return design::has_isolated_rails(intent, host, island);
  });
}

std::string reason_of(std::string_view fallback, bool is_written, std::string_view key) {
  return is_written ? fmt::format("from the design ({})", key) : std::string(fallback);
}

Duration ack_timeout(int exponent) {
  return Duration::raw(4'096'000LL << std::min(exponent, 31));  // 4.096 us x 2^n
}

void add_gid(JobEnvironment& out, std::string_view name, const GidAnswer& gid) {
  if (gid.index) {
    out.variables.push_back({std::string(name), std::to_string(*gid.index), gid.why});
  } else {
    out.variables.push_back({std::string(name), "", gid.why, false});
  }
}

void add_cross_nic(const Design& design, const Intent& intent, JobEnvironment& out) {
  const bool crosses = *design.nccl.cross_nic;
  const bool isolated = rails_are_isolated(intent);
  out.variables.push_back(
      {"NCCL_CROSS_NIC", crosses ? "1" : "0",
       isolated  ? crosses ? "from the design, but rails share no switch: such rings have no path"
                           : "rails share no switch: a ring must stay on its rail"
       : crosses ? "rings may change rails: all rails are connected"
                 : "a ring stays on its rail and shares no link with others"});
  if (isolated)
    out.variables.push_back({"NCCL_PXN_DISABLE", "0",
                             "GPUs on different rails reach each other over NVLink and the NIC "
                             "of the right rail"});
}

}  // namespace

const Variable* JobEnvironment::find(std::string_view name) const {
  const auto at = std::find_if(variables.begin(), variables.end(),
                               [&](const Variable& variable) { return variable.name == name; });
  return at == variables.end() ? nullptr : &*at;
}

JobEnvironment nccl_environment(const Design& design, const Intent& intent,
                                std::span<const evidence::Evidence> hosts) {
  JobEnvironment out{"NCCL", {}, {}};
  const design::Nccl& nccl = design.nccl;
  const std::vector<std::string> devices = devices_of(intent);
  const auto add = [&](std::string name, std::string value, std::string why) {
    out.variables.push_back({std::move(name), std::move(value), std::move(why)});
  };
  add("NCCL_IB_HCA", "=" + join(devices, ","),
      "exactly these RDMA devices: without '=' a name is a prefix, and mlx5_1 matches mlx5_10");
  remark_other_devices(intent, devices, out);
  const GidAnswer gid = gid_answer(design, intent, hosts);
  add_gid(out, "NCCL_IB_GID_INDEX", gid);
  if (!gid.index) {
    add("NCCL_IB_ROCE_VERSION_NUM", "2", "NCCL 2.21 and later selects the GID itself: RoCE v2 …");
    add("NCCL_IB_ADDR_FAMILY",
        *design.addressing.family == design::AddressFamily::kIpv4 ? "AF_INET" : "AF_INET6",
        "… of the fabric's address family; older releases use index 0, which is RoCE v1");
  }
  add("NCCL_IB_TC", to_text(*nccl.traffic_class), marking_why(design, *nccl.traffic_class));
  add("NCCL_IB_SL", std::to_string(*nccl.service_level), level_why(design));
  add("NCCL_IB_TIMEOUT", std::to_string(*nccl.timeout),
      fmt::format("4.096 us x 2^{} = {} until retransmission ({})", *nccl.timeout,
                  approximate(ack_timeout(*nccl.timeout)),
                  reason_of("NCCL's default", nccl.timeout.is_written(), "nccl.timeout")));
  add("NCCL_IB_RETRY_CNT", std::to_string(*nccl.retry_count),
      reason_of("NCCL's default; the maximum is 7", nccl.retry_count.is_written(),
                "nccl.retry_count"));
  add("NCCL_IB_QPS_PER_CONNECTION", std::to_string(*nccl.qps_per_connection),
      *nccl.qps_per_connection > 1
          ? "more queue pairs have more source ports, so that ECMP spreads them better"
          : "one queue pair per connection; more spread better where few flows share many links");
  add("NCCL_IB_ADAPTIVE_ROUTING", *nccl.adaptive_routing ? "1" : "0",
      fmt::format("the switches balance by {}{}", design::to_word(*design.load_balancing.mode),
                  *nccl.adaptive_routing ? ": packets may arrive out of order"
                                         : ", which keeps packets in order"));
  add("NCCL_NET_GDR_LEVEL", *nccl.gdr_level,
      "the largest distance between GPU and NIC for direct access");
  add_cross_nic(design, intent, out);
  add("NCCL_SOCKET_IFNAME", *nccl.socket_interface,
      "for bootstrap only; it does not select the RDMA device");
  return out;
}

JobEnvironment ucx_environment(const Design& design, const Intent& intent,
                               std::span<const evidence::Evidence> hosts) {
  JobEnvironment out{"UCX", {}, {}};
  const std::vector<std::string> devices = devices_of(intent);
  const auto add = [&](std::string name, std::string value, std::string why) {
    out.variables.push_back({std::move(name), std::move(value), std::move(why)});
  };
  std::vector<std::string> ports;
  for (const std::string& device : devices)
    ports.push_back(device + ":1");
  add("UCX_NET_DEVICES", join(ports, ","),
      "these RDMA devices and ports; without it UCX uses all, TCP included");
  remark_other_devices(intent, devices, out);
  const GidAnswer gid = gid_answer(design, intent, hosts);
  if (gid.index) {
    add("UCX_IB_GID_INDEX", std::to_string(*gid.index), gid.why);
  } else {
    add("UCX_IB_GID_INDEX", "auto", fmt::format("UCX selects RoCE v2 itself; {}", gid.why));
  }
  add("UCX_IB_TRAFFIC_CLASS", to_text(*design.nccl.traffic_class),
      marking_why(design, *design.nccl.traffic_class));
  add("UCX_IB_SL", std::to_string(*design.nccl.service_level), level_why(design));
  add("UCX_RC_RETRY_COUNT", std::to_string(*design.nccl.retry_count),
      "as in NCCL, so that both time out together");
  return out;
}

std::vector<std::string_view> job_formats(std::string_view library) {
  if (library == "NCCL") return {"env", "nccl.conf", "slurm", "k8s"};
  return {"env", "slurm", "k8s"};
}

namespace {

std::string comment(const Variable& variable, std::string_view indent) {
  const std::string text = variable.is_set
                               ? variable.why
                               : fmt::format("{} is not set: {}", variable.name, variable.why);
  constexpr std::size_t kWidth = 92;
  const std::string wrapped = wrap(text, kWidth - indent.size());
  std::string out;
  for (const std::string_view line : split(wrapped, '\n'))
    out += fmt::format("{}# {}\n", indent, comment_text(line));
  return out;
}

std::string lower(std::string_view text) {
  std::string out;
  for (const char c : text)
    out += c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
  return out;
}

}  // namespace

platforms::ConfigFile job_file(const JobEnvironment& environment, std::string_view format,
                               const Design& design) {
  const std::string library = lower(environment.library);
  const std::string title = comment_text(
      fmt::format("{} for fabric '{}', from {}", environment.library, *design.name, design.file));
  std::string text;
  std::string name;
  if (format == "slurm") {
    name = library + "-task-prolog.sh";
    text = fmt::format(
        "#!/bin/sh\n# {}. A Slurm TaskProlog: what it prints is set in every task.\n", title);
  } else if (format == "k8s") {
    name = library + "-configmap.yaml";
    text = fmt::format(
        "# {}. In a container: envFrom: [{{ configMapRef: {{ name: {}-roce }} }}]\n"
        "apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: {}-roce\ndata:\n",
        title, library, library);
  } else if (format == "nccl.conf") {
    name = "nccl.conf";
    text = fmt::format("# {}. /etc/nccl.conf; the environment of a job wins over it.\n", title);
  } else {
    name = library + ".env";
    text = fmt::format("# {}. Source it before the job starts, on every host.\n", title);
  }
  const std::string indent = format == "k8s" ? "  " : "";
  for (const Variable& variable : environment.variables) {
    text += comment(variable, indent);
    if (!variable.is_set) continue;
    if (format == "slurm")
      text += fmt::format("printf '%s\\n' {}\n",
                          shell_word(fmt::format("export {}={}", variable.name, variable.value)));
    else if (format == "k8s")
      text += fmt::format("  {}: {}\n", variable.name, yaml_quoted(variable.value));
    else if (format == "nccl.conf")
      text += fmt::format("{}={}\n", variable.name, comment_text(variable.value));
    else
      text += export_line(variable.name, variable.value) + "\n";
  }
  return {std::move(name), std::move(text)};
}

}  // namespace weir::render

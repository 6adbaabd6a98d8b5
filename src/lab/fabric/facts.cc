#include "lab/fabric/facts.h"

#include <array>
#include <ctime>

#include <arpa/inet.h>
#include <fmt/format.h>

#include "sim/fabric/from_design.h"

namespace weir::lab {
namespace {

using evidence::Fact;
using evidence::Missing;

const std::string kSource = "lab";

template <class T>
Fact<T> known(T value) {
  return Fact<T>::of(std::move(value), kSource);
}
/// This driver stack does not show it.
template <class T>
Fact<T> absent(const Fact<T>&, std::string source) {
  return Fact<T>::missing(Missing::kAbsent, std::move(source));
}

std::string gid_text(const std::array<std::uint8_t, 16>& bytes) {
  constexpr std::string_view kDigits = "0123456789abcdef";
  std::string out;
  for (std::size_t i = 0; i < bytes.size(); ++i) {
    if (i > 0 && i % 2 == 0) out += ':';
    out += kDigits[bytes.at(i) >> 4U];
    out += kDigits[bytes.at(i) & 15U];
  }
  return out;
}

void add_qos(const NicPlatform& platform, const NicSettings& settings, evidence::Qos& out) {
  if (!platform.model->has_dcb_netlink) {
    const std::string source = fmt::format("no DCB interface; {}", platform.model->tool);
    out = {};
    out.trust = absent(out.trust, source);
    out.dscp_to_priority = absent(out.dscp_to_priority, source);
    out.priority_to_tc = absent(out.priority_to_tc, source);
    out.pfc = absent(out.pfc, source);
    out.tsa = absent(out.tsa, source);
    out.tc_bandwidth = absent(out.tc_bandwidth, source);
    out.dcbx = absent(out.dcbx, source);
    return;
  }
  out.trust = known(settings.trust);
  out.dscp_to_priority = known(settings.dscp_to_priority);
  out.priority_to_tc = known(settings.priority_to_tc);
  out.pfc = known(settings.pfc);
  out.pfc_classes = known(8U);
  out.tsa = known(settings.tsa);
  out.tc_bandwidth = known(settings.tc_bandwidth);
  out.dcbx = known(settings.dcbx);
  out.dcbx_willing = known(false);
  out.firmware_lldp = known(false);
  if (platform.is_mlx5()) {
    out.cable_length = known(settings.cable);
    out.tc_max_rate = known(std::array<BitRate, 8>{});
  } else {
    out.cable_length = absent(out.cable_length, "DCB buffer");
    out.tc_max_rate = absent(out.tc_max_rate, "DCB maxrate");
  }
}

void add_ecn(const NicPlatform& platform, const NicSettings& settings, const design::NicIntent& nic,
             const design::Intent& intent, evidence::Ecn& out) {
  if (platform.is_ofed_mlx5()) {
    out.np = known(settings.np);
    out.rp = known(settings.rp);
  } else {
    const std::string source = fmt::format("/sys/class/net/{}/ecn", nic.netdev);
    out.np = absent(out.np, source);
    out.rp = absent(out.rp, source);
  }
  if (!platform.model->has_dcqcn_knobs) {
    const std::string source(platform.model->cc_place);
    out.cnp_dscp = absent(out.cnp_dscp, source);
    out.cnp_priority = absent(out.cnp_priority, source);
    out.parameters = absent(out.parameters, source);
    return;
  }
  out.cnp_dscp = known(settings.cnp_dscp);
  out.cnp_priority = known(settings.cnp_priority);
  std::vector<evidence::Parameter> parameters;
  for (const auto& [name, designed] : intent.dcqcn) {
    const auto own = settings.knobs.find(name);
    std::int64_t value = own == settings.knobs.end() ? designed : own->second;
    if (name == "cnp_dscp") value = settings.cnp_dscp.value();
    if (name == "cnp_802p_prio") value = settings.cnp_priority.value();
    parameters.push_back({name, value});
  }
  out.parameters = known(std::move(parameters));
}

}  // namespace

std::optional<std::array<std::uint8_t, 16>> gid_bytes(std::string_view address) {
  std::array<std::uint8_t, 16> out{};
  const std::string plain(address.substr(0, address.find('/')));
  if (inet_pton(AF_INET, plain.c_str(), &out[12]) == 1) {
    out[10] = out[11] = 0xFF;
  } else if (inet_pton(AF_INET6, plain.c_str(), out.data()) != 1) {
    return std::nullopt;
  }
  return out;
}

std::vector<evidence::Gid> gids_of(const design::NicIntent& nic, std::uint32_t host) {
  std::array<std::uint8_t, 16> local{};
  local[0] = 0xFE;
  local[1] = 0x80;
  // EUI-64 of a locally administered address: host and rail make it unique.
  local[8] = 0x02;
  local[11] = 0xFF;
  local[12] = 0xFE;
  local[13] = static_cast<std::uint8_t>(host >> 8U);
  local[14] = static_cast<std::uint8_t>(host);
  local[15] = static_cast<std::uint8_t>(nic.rail);
  const auto global = gid_bytes(nic.address);
  if (!global) return {};
  std::vector<evidence::Gid> out;
  for (const auto& bytes : {local, *global})
    for (const evidence::GidType type : {evidence::GidType::kRoceV1, evidence::GidType::kRoceV2})
      out.push_back({static_cast<unsigned>(out.size()), gid_text(bytes), type, nic.netdev});
  return out;
}

void add_settings(const NicPlatform& platform, const NicSettings& settings,
                  const design::NicIntent& nic, const design::Intent& intent, evidence::Nic& out) {
  out.link.autoneg = known(true);
  out.link.mtu = known(settings.mtu);
  out.link.active_mtu = known(sim::rdma_payload(nic.rdma_mtu, settings.mtu));
  out.link.pause_rx = known(settings.pause_rx);
  out.link.pause_tx = known(settings.pause_tx);
  out.link.layers = known(std::vector<evidence::Layer>{});
  add_qos(platform, settings, out.qos);
  add_ecn(platform, settings, nic, intent, out.ecn);
  const bool has_forced = platform.is_ofed_mlx5();
  out.rdma.traffic_class =
      has_forced ? known(settings.traffic_class)
                 : absent(out.rdma.traffic_class,
                          fmt::format("/sys/class/infiniband/{}/tc/1/traffic_class", nic.device));
  out.rdma.cm_tos = known(settings.cm_tos);
  out.rdma.cm_mode = known(evidence::GidType::kRoceV2);
  out.rings.rx = known(settings.ring_rx);
  out.rings.tx = known(settings.ring_tx);
  const auto most = static_cast<unsigned>(platform.model->max_ring);
  out.rings.rx_max = known(most);
  out.rings.tx_max = known(most);
}

void add_host_facts(const NicPlatform& platform, evidence::Host& out) {
  out.memlock = known(std::optional<Bytes>());
  out.lldpad_running = known(false);
  out.uverbs_visible = known(true);
  out.in_container = known(false);
  out.rdma_namespaces = known(std::string("shared"));
  if (platform.stack == design::HostStack::kInbox) out.ofed = absent(out.ofed, "ofed_info");
}

std::string time_text(Duration clock) {
  const std::int64_t us = clock.raw() / 1'000'000;
  const std::time_t seconds = us / 1'000'000;
  std::tm parts{};
  gmtime_r(&seconds, &parts);
  return fmt::format("{:04}-{:02}-{:02}T{:02}:{:02}:{:02}.{:06}Z", parts.tm_year + 1900,
                     parts.tm_mon + 1, parts.tm_mday, parts.tm_hour, parts.tm_min, parts.tm_sec,
                     us % 1'000'000);
}

evidence::Provenance provenance(const Blueprint& blueprint, const State& state,
                                const std::string& host) {
  return {.host = host,
          .time = time_text(state.clock),
          .tool = "weir lab",
          .origin = evidence::Origin::kLab,
          .simulated = true,
          .detail = fmt::format("{}, seed {}", blueprint.directory, state.seed)};
}

}  // namespace weir::lab

#include "lab/fabric/nic_settings.h"

#include <algorithm>
#include <bit>

#include <fmt/format.h>

#include "base/json.h"
#include "design/tables/nic_knobs.h"
#include "evidence/deviation.h"
#include "units/format.h"
#include "vocab/codec.h"

namespace weir::lab {
namespace {

using evidence::DcbxMode;
using evidence::TrustMode;
using evidence::Tsa;

// mlx5 at power-on (host-interfaces §1.2, §9): cable 7 m, rings of 1024, MTU 1500, the map
// DSCP/8 -> priority, priorities 0 and 1 on each other's traffic class.
constexpr Length kFactoryCable = 7_m;
constexpr Bytes kFactoryMtu = 1500_B;
constexpr unsigned kFactoryRing = 1024;
constexpr Bytes kLargestMtu = 9978_B;  // of mlx5: 10,000 less its own headers
constexpr Bytes kSmallestMtu = 68_B;   // RFC 791
constexpr std::array kMarkingKnobs = {std::string_view("cnp_dscp"),
                                      std::string_view("cnp_802p_prio")};

bool marks_cnps(std::string_view knob) {
  return std::find(kMarkingKnobs.begin(), kMarkingKnobs.end(), knob) != kMarkingKnobs.end();
}

using DscpMap = std::array<std::optional<Priority>, 64>;

DscpMap octets() {
  DscpMap map{};
  for (unsigned d = 0; d < 64; ++d)
    map.at(d) = Priority::of(d >> 3U);
  return map;
}

Error unsupported(std::string what) {
  return {ErrorCode::kUnsupported, std::move(what)};
}

// ---- one description of the members, for reading, writing and comparing ----

template <class V, class S>
void visit(V& v, S& s) {
  v("pause_rx", s.pause_rx);
  v("pause_tx", s.pause_tx);
  v("dcbx", s.dcbx);
  v("trust", s.trust);
  v("dscp_to_priority", s.dscp_to_priority);
  v("priority_to_tc", s.priority_to_tc);
  v("tsa", s.tsa);
  v("tc_bandwidth_percent", s.tc_bandwidth);
  v("pfc", s.pfc);
  v("cable_mm", s.cable);
  v("np", s.np);
  v("rp", s.rp);
  v("cnp_dscp", s.cnp_dscp);
  v("cnp_priority", s.cnp_priority);
  v("knobs", s.knobs);
  v("traffic_class", s.traffic_class);
  v("cm_tos", s.cm_tos);
  v("mtu_bytes", s.mtu);
  v("ring_rx", s.ring_rx);
  v("ring_tx", s.ring_tx);
}

using Knobs = std::map<std::string, std::int64_t, std::less<>>;

/// Parameters are an object by their names; all else is as in evidence and journals.
template <class T>
Json put(const T& value) {
  return vocab::Codec<T>::write(value);
}
Json put(const Knobs& values) {
  Json object = Json::object();
  for (const auto& [name, value] : values)
    object[name] = value;
  return object;
}
template <class T>
Status get(const JsonCursor& at, T& out) {
  WEIR_TRY(value, vocab::Codec<T>::read(at));
  out = std::move(value);
  return {};
}
Status get(const JsonCursor& at, Knobs& out) {
  WEIR_TRY_STATUS(at.expect_object());
  for (const auto& [name, value] : at.value().items()) {
    const JsonCursor member = at.member(name, value);
    const design::NicKnob* const knob = design::find_knob(name);
    WEIR_TRY(number, member.integer());
    if (knob == nullptr || knob->name != name || number < knob->min || number > knob->max)
      return member.wrong("a DCQCN parameter within its range");
    out[name] = number;
  }
  return {};
}

struct Write {
  Json out = Json::object();
  template <class T>
  void operator()(std::string_view key, const T& value) {
    out[std::string(key)] = put(value);
  }
};
struct SetOne {
  const std::string& key;
  const JsonCursor& at;
  bool is_known = false;
  Status status;
  template <class T>
  void operator()(std::string_view name, T& value) {
    if (name != key) return;
    is_known = true;
    status = get(at, value);
  }
};

// ---- operations ----

/// One operation on one NIC.
struct Performer {
  const NicPlatform& platform;
  NicSettings& to;

  [[nodiscard]] Status need_dcb() const {
    if (platform.model->has_dcb_netlink) return {};
    return unsupported(fmt::format("{} has no DCB interface (EOPNOTSUPP); use {}",
                                   platform.model->title, platform.model->tool));
  }
  [[nodiscard]] Status need_ofed(std::string_view what) const {
    if (platform.is_ofed_mlx5()) return {};
    return unsupported(platform.is_mlx5()
                           ? fmt::format("{}: the kernel's own mlx5 driver has no such file; it "
                                         "comes with the vendor's driver",
                                         what)
                           : fmt::format("{}: {} has no such setting; see {}", what,
                                         platform.model->title, platform.model->cc_place));
  }
  [[nodiscard]] Status need_knobs(std::string_view what) const {
    if (platform.model->has_dcqcn_knobs) return {};
    return unsupported(fmt::format("{}: {} has no such setting; see {}", what,
                                   platform.model->title, platform.model->cc_place));
  }

  Status operator()(const host::SetGlobalPause& c) const {
    to.pause_rx = c.rx.value_or(false);
    to.pause_tx = c.tx.value_or(false);
    return {};
  }
  Status operator()(const host::SetDcbx& c) const {
    WEIR_TRY_STATUS(need_dcb());
    to.dcbx = c.mode;
    return {};
  }
  // mlx5: the first DSCP entry turns trust to DSCP; deleting them all maps every code point to
  // priority 0 (host-interfaces §1.1).
  Status operator()(const host::SetTrust& c) const {
    WEIR_TRY_STATUS(need_dcb());
    if (c.trust != TrustMode::kDscp && c.trust != TrustMode::kPcp)
      return unsupported(
          fmt::format("trust {}: this NIC has pcp and dscp (EINVAL)", evidence::to_text(c.trust)));
    if (c.trust == to.trust) return {};
    to.trust = c.trust;
    to.dscp_to_priority = c.trust == TrustMode::kDscp ? octets() : DscpMap{};
    return {};
  }
  Status operator()(const host::SetDscpMap& c) const {
    WEIR_TRY_STATUS(need_dcb());
    to.trust = c.priority == DscpMap{} ? TrustMode::kPcp : TrustMode::kDscp;
    to.dscp_to_priority = c.priority;
    return {};
  }
  Status operator()(const host::SetPriorityToTc& c) const {
    WEIR_TRY_STATUS(need_dcb());
    to.priority_to_tc = c.tc;
    return {};
  }
  Status operator()(const host::SetScheduling& c) const {
    WEIR_TRY_STATUS(need_dcb());
    unsigned sum = 0;
    bool has_ets = false;
    for (std::size_t tc = 0; tc < 8; ++tc) {
      if (c.tsa.at(tc) == Tsa::kEts) {
        has_ets = true;
        sum += c.percent.at(tc);
      } else if (c.percent.at(tc) != 0 && c.tsa.at(tc) != Tsa::kVendor) {
        return invalid_error(fmt::format(
            "traffic class {} is not ETS and cannot have {} % (EINVAL)", tc, c.percent.at(tc)));
      }
    }
    if (has_ets && sum != 100)
      return invalid_error(
          fmt::format("ETS shares add up to {} %, the driver wants 100 (EINVAL)", sum));
    to.tsa = c.tsa;
    to.tc_bandwidth = c.percent;
    for (std::size_t tc = 0; tc < 8; ++tc)  // as the driver shows a class that it schedules itself
      if (platform.is_mlx5() && c.tsa.at(tc) == Tsa::kVendor) to.tc_bandwidth.at(tc) = 100;
    return {};
  }
  Status operator()(const host::SetPfc& c) const {
    WEIR_TRY_STATUS(need_dcb());
    to.pfc = c.on;
    return {};
  }
  Status operator()(const host::SetCableLength& c) const {
    if (!platform.is_mlx5())
      return unsupported(fmt::format("{} sizes its buffers by itself", platform.model->title));
    if (c.length < 1_m || c.length >= 1000_m)
      return invalid_error(
          fmt::format("cable length {}: the driver takes 1m to 999m", to_text(c.length)));
    to.cable = c.length;
    return {};
  }
  Status operator()(const host::SetEcn& c) const {
    WEIR_TRY_STATUS(need_ofed("ECN of priorities"));
    to.np = c.np;
    to.rp = c.rp;
    return {};
  }
  Status operator()(const host::SetCnpMarking& c) const {
    WEIR_TRY_STATUS(need_knobs("marking of CNPs"));
    to.cnp_dscp = c.dscp;
    to.cnp_priority = c.priority;
    return {};
  }
  Status operator()(const host::SetKnob& c) const {
    WEIR_TRY_STATUS(need_knobs(c.name));
    const design::NicKnob* const knob = design::find_knob(c.name);
    if (knob == nullptr) return not_found_error(fmt::format("no DCQCN parameter '{}'", c.name));
    if (c.value < knob->min || c.value > knob->max)
      return invalid_error(
          fmt::format("{}: {} is not within {}", knob->name, c.value, design::range_text(*knob)));
    if (knob->name == "cnp_dscp")
      to.cnp_dscp = Dscp::of(static_cast<unsigned>(c.value));
    else if (knob->name == "cnp_802p_prio")
      to.cnp_priority = Priority::of(static_cast<unsigned>(c.value));
    else
      to.knobs[std::string(knob->name)] = c.value;
    return {};
  }
  Status operator()(const host::SetTrafficClass& c) const {
    WEIR_TRY_STATUS(need_ofed("traffic class of the port"));
    to.traffic_class = c.tos;
    return {};
  }
  Status operator()(const host::SetCmTos& c) const {
    to.cm_tos = c.tos;
    return {};
  }
  Status operator()(const host::SetMtu& c) const {
    if (c.mtu < kSmallestMtu || c.mtu > kLargestMtu)
      return invalid_error(fmt::format("MTU {}: the driver takes {} to {}", to_text(c.mtu),
                                       to_text(kSmallestMtu), to_text(kLargestMtu)));
    to.mtu = c.mtu;
    return {};
  }
  Status operator()(const host::SetRings& c) const {
    const auto most = static_cast<unsigned>(platform.model->max_ring);
    if (c.rx == 0 || c.tx == 0 || c.rx > most || c.tx > most)
      return invalid_error(fmt::format("rings {} and {}: {} takes 1 to {} (EINVAL)", c.rx, c.tx,
                                       platform.model->title, most));
    // mlx5 rounds up to a power of two.
    to.ring_rx = platform.is_mlx5() ? std::bit_ceil(c.rx) : c.rx;
    to.ring_tx = platform.is_mlx5() ? std::bit_ceil(c.tx) : c.tx;
    return {};
  }
  Status operator()(const auto&) const {
    return Error{ErrorCode::kUnsupported, "a lab has NICs, not the machines around them"};
  }
};

}  // namespace

NicSettings factory_settings(const NicPlatform& platform) {
  NicSettings out;
  for (unsigned p = 0; p < 8; ++p)
    out.priority_to_tc.at(p) = TrafficClass::of(platform.is_mlx5() && p < 2 ? 1 - p : p);
  out.tsa.fill(platform.is_mlx5() ? Tsa::kVendor : Tsa::kStrict);
  out.tc_bandwidth.fill(platform.is_mlx5() ? 100 : 0);
  out.cable = kFactoryCable;
  // ROCE_CC_PRIO_MASK is 255 (host-interfaces §2.1); other firmware has its congestion control on
  // as well, without a switch of this kind.
  out.np = PrioritySet::from_mask(0xFF);
  out.rp = PrioritySet::from_mask(0xFF);
  out.cnp_dscp = 48_dscp;
  out.cnp_priority = 6_prio;
  if (platform.model->has_dcqcn_knobs)
    for (const design::NicKnob& knob : design::nic_knobs())
      if (!marks_cnps(knob.name)) out.knobs.emplace(knob.name, knob.fallback);
  out.mtu = kFactoryMtu;
  const auto ring = std::min(kFactoryRing, static_cast<unsigned>(platform.model->max_ring));
  out.ring_rx = ring;
  out.ring_tx = ring;
  return out;
}

Result<Effect> perform(const host::Change& change, const NicPlatform& platform,
                       NicSettings& settings) {
  const NicSettings before = settings;
  WEIR_TRY_STATUS(std::visit(Performer{platform, settings}, change));
  return Effect{settings != before, platform.is_mlx5() && settings.pfc != before.pfc};
}

NicSettings designed_settings(const NicPlatform& platform, const design::NicIntent& nic,
                              const design::Intent& intent) {
  NicSettings out = factory_settings(platform);
  const auto set = [&](const host::Change& change) {
    // What the platform refuses stays as it is shipped.
    (void)perform(change, platform, out).has_value();
  };
  for (const vocab::SettingNames& setting : vocab::kSettingNames)
    if (const auto wanted = evidence::wanted_of(setting.setting, {}, nic, intent)) set(*wanted);
  for (const auto& [name, value] : intent.dcqcn)
    if (!marks_cnps(name)) set(host::SetKnob{name, value});
  return out;
}

void write_to(const NicSettings& settings, TosByte tos, design::NicIntent& nic) {
  nic.global_pause = settings.pause_rx || settings.pause_tx;
  nic.trust = settings.trust == TrustMode::kDscp ? design::Trust::kDscp : design::Trust::kPcp;
  for (std::size_t d = 0; d < 64; ++d)
    nic.dscp_to_priority.at(d) = settings.dscp_to_priority.at(d).value_or(Priority());
  nic.priority_to_tc = settings.priority_to_tc;
  for (std::size_t tc = 0; tc < 8; ++tc) {
    design::Share8& share = nic.traffic_classes.at(tc);
    share.used = settings.tsa.at(tc) != Tsa::kVendor;
    share.scheduling =
        settings.tsa.at(tc) == Tsa::kEts ? design::Scheduling::kDwrr : design::Scheduling::kStrict;
    share.minimum = 1_percent * settings.tc_bandwidth.at(tc);
  }
  nic.pfc = settings.pfc;
  nic.cable = settings.cable;
  nic.ecn_np = settings.np;
  nic.ecn_rp = settings.rp;
  nic.cnp_dscp = settings.cnp_dscp;
  nic.cnp_priority = settings.cnp_priority;
  nic.traffic_class = tos;
  nic.rdma_cm_tos = settings.cm_tos;
  nic.mtu = settings.mtu;
  nic.ring = static_cast<int>(settings.ring_rx);
}

void take_over(const design::NicIntent& before, const design::NicIntent& after,
               const NicPlatform& platform, NicSettings& settings) {
  if (after.trust != before.trust) {
    settings.trust = after.trust == design::Trust::kDscp ? TrustMode::kDscp : TrustMode::kPcp;
    if (settings.trust == TrustMode::kPcp) settings.dscp_to_priority = {};
  }
  for (std::size_t d = 0; d < 64; ++d)
    if (after.dscp_to_priority.at(d) != before.dscp_to_priority.at(d))
      settings.dscp_to_priority.at(d) = after.dscp_to_priority.at(d);
  if (after.pfc != before.pfc) settings.pfc = after.pfc;
  if (after.mtu != before.mtu) settings.mtu = after.mtu;
  if (!platform.is_ofed_mlx5()) return;
  if (after.ecn_np != before.ecn_np) settings.np = after.ecn_np;
  if (after.ecn_rp != before.ecn_rp) settings.rp = after.ecn_rp;
  if (after.traffic_class != before.traffic_class) settings.traffic_class = after.traffic_class;
}

Json all_keys(const NicSettings& settings) {
  Write write;
  visit(write, settings);
  return std::move(write.out);
}

Json difference(const NicSettings& base, const NicSettings& settings) {
  if (base == settings) return Json::object();
  const Json old = all_keys(base);
  Json now = all_keys(settings);
  Json out = Json::object();
  for (auto& [key, value] : now.items())
    if (value != old[key]) out[key] = std::move(value);
  return out;
}

Status set_keys(const JsonCursor& object, NicSettings& settings) {
  WEIR_TRY_STATUS(object.expect_object());
  for (const auto& [key, value] : object.value().items()) {
    const JsonCursor member = object.member(key, value);
    SetOne setter{key, member, false, {}};
    visit(setter, settings);
    if (!setter.is_known) return member.wrong("a key that this version of Weir knows");
    WEIR_TRY_STATUS(setter.status);
  }
  return {};
}

}  // namespace weir::lab

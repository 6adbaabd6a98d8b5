#include "evidence/deviation.h"

#include <algorithm>

#include <arpa/inet.h>
#include <fmt/format.h>

#include "base/text.h"
#include "counters/catalog.h"
#include "design/file/words.h"
#include "design/tables/nic_knobs.h"
#include "units/format.h"

namespace weir::evidence {
namespace {

/// Why a fact has no value. A fact nobody looked at is as absent as one that is not there.
template <class T>
Missing why_unknown(const Fact<T>& fact) {
  return fact.is_missing() ? fact.why() : Missing::kAbsent;
}

std::string on_off(bool on) {
  return on ? "on" : "off";
}

class Comparison {
 public:
  Comparison(const Nic& found, const design::NicIntent& wanted, const design::Intent& intent)
      : found_(found), wanted_(wanted), intent_(intent) {}

  std::vector<Deviation> take() {
    compare_link();
    compare_marking();
    compare_classes();
    compare_sizes();
    compare_tos();
    compare_congestion_control();
    compare(Setting::kPfc, "", wanted_.pfc, found_.qos.pfc, [](PrioritySet p) {
      return p == PrioritySet() ? std::string("none") : "priority " + to_text(p);
    });
    std::stable_sort(out_.begin(), out_.end(),
                     [](const Deviation& a, const Deviation& b) { return a.setting < b.setting; });
    return std::move(out_);
  }

 private:
  void add(Setting setting, std::string item, std::string expected, std::string found) {
    out_.push_back({setting, std::move(item), std::move(expected), std::move(found), std::nullopt});
  }
  void add_missing(Setting setting, std::string item, std::string expected, Missing why) {
    out_.push_back({setting, std::move(item), std::move(expected), "", why});
  }
  template <class T, class Text>
  void compare(Setting setting, std::string item, const T& wanted, const Fact<T>& fact,
               Text&& text) {
    if (!fact.is_known()) {
      add_missing(setting, std::move(item), text(wanted), why_unknown(fact));
    } else if (*fact != wanted) {
      add(setting, std::move(item), text(wanted), text(*fact));
    }
  }

  void compare_link() {
    compare(Setting::kLinkUp, "", true, found_.link.up,
            [](bool up) { return std::string(up ? "up" : "down"); });
    if (wanted_.speed.raw() > 0) {
      compare(Setting::kSpeed, "", wanted_.speed, found_.link.speed,
              [](BitRate rate) { return to_text(rate); });
    }
    compare_gid();
    compare_pause();
    compare_dcbx();
  }

  void compare_gid();
  void compare_pause();
  void compare_dcbx();
  void compare_marking();
  void compare_dscp_map(const std::array<std::optional<Priority>, 64>& map);
  void compare_classes();
  void compare_scheduling();
  void compare_limit();
  void compare_sizes();
  void compare_ring(std::string item, const Fact<unsigned>& now, const Fact<unsigned>& limit);
  void compare_tos();
  void compare_congestion_control();
  void compare_knobs();
  void compare_ecn(Setting setting, PrioritySet wanted, const Fact<PrioritySet>& fact);

  const Nic& found_;
  const design::NicIntent& wanted_;
  const design::Intent& intent_;
  std::vector<Deviation> out_;
};

// ---- link ----

using Address = std::array<unsigned char, 16>;

/// An address with or without its prefix length, as the GID that the kernel makes of it: IPv4 ones
/// are mapped into IPv6.
std::optional<Address> gid_of(std::string_view text) {
  const std::string address(text.substr(0, text.find('/')));
  Address out{};
  if (inet_pton(AF_INET6, address.c_str(), out.data()) == 1) return out;
  std::array<unsigned char, 4> v4{};
  if (inet_pton(AF_INET, address.c_str(), v4.data()) != 1) return std::nullopt;
  out[10] = out[11] = 0xff;
  std::copy(v4.begin(), v4.end(), out.begin() + 12);
  return out;
}

/// Within a subnet as the design writes it: "10.0.0.0/16".
bool is_within(const Address& gid, std::string_view subnet) {
  const std::optional<Address> base = gid_of(subnet);
  const std::size_t slash = subnet.find('/');
  if (!base || slash == std::string_view::npos) return false;
  const auto length = parse_u64(subnet.substr(slash + 1));
  if (!length) return false;
  const bool is_v4 = subnet.find(':') == std::string_view::npos;
  const std::size_t bits = static_cast<std::size_t>(*length) + (is_v4 ? 96 : 0);
  if (bits > base->size() * 8) return false;
  for (std::size_t at = 0; at < bits; ++at) {
    const unsigned differ = static_cast<unsigned>(gid.at(at / 8)) ^ base->at(at / 8);
    if (((differ >> (7U - at % 8)) & 1U) != 0) return false;
  }
  return true;
}

bool is_link_local(const Address& gid) {
  return gid[0] == 0xfe && (gid[1] & 0xc0U) == 0x80;
}

void Comparison::compare_gid() {
  const std::optional<Address> wanted = gid_of(wanted_.address);
  const std::string expected = wanted ? fmt::format("a RoCEv2 GID of {}", wanted_.address)
                                      : "a RoCEv2 GID that is not link-local";
  if (!found_.rdma.gids.is_known())
    return add_missing(Setting::kGidV2, "", expected, why_unknown(found_.rdma.gids));
  std::vector<std::string> v2;
  for (const Gid& gid : *found_.rdma.gids) {
    if (gid.type != GidType::kRoceV2) continue;
    const std::optional<Address> address = gid_of(gid.gid);
    // Sites number their hosts in their own way: any address of the rail's subnet is the rail's.
    const auto is_right = [&](const Address& one) {
      if (!wanted) return !is_link_local(one);
      return one == *wanted || is_within(one, wanted_.subnet);
    };
    if (address && is_right(*address)) return;
    v2.push_back(gid.gid);
  }
  add(Setting::kGidV2, "", expected,
      v2.empty() ? "no RoCEv2 GID" : fmt::format("{}", fmt::join(v2, ", ")));
}

void Comparison::compare_pause() {
  const Fact<bool>& rx = found_.link.pause_rx;
  const Fact<bool>& tx = found_.link.pause_tx;
  const std::string expected = on_off(wanted_.global_pause);
  const auto differs = [&](const Fact<bool>& fact) {
    return fact.is_known() && *fact != wanted_.global_pause;
  };
  const auto text = [](const Fact<bool>& fact) {
    return fact.is_known() ? on_off(*fact) : std::string("unknown");
  };
  if (differs(rx) || differs(tx))
    return add(Setting::kGlobalPause, "", expected,
               fmt::format("rx {}, tx {}", text(rx), text(tx)));
  if (!rx.is_known() || !tx.is_known())
    add_missing(Setting::kGlobalPause, "", expected, why_unknown(rx.is_known() ? tx : rx));
}

void Comparison::compare_dcbx() {
  const Qos& qos = found_.qos;
  const std::string expected = "decided by the operating system";
  std::vector<std::string> wrong;
  if (qos.dcbx.is(DcbxMode::kFirmware)) wrong.emplace_back("decided by the firmware");
  if (qos.dcbx_willing.is(true)) wrong.emplace_back("willing: the switch may change it");
  if (qos.firmware_lldp.is(true)) wrong.emplace_back("the firmware's LLDP agent runs");
  if (!wrong.empty())
    return add(Setting::kDcbx, "", expected, fmt::format("{}", fmt::join(wrong, "; ")));
  if (!qos.dcbx.is_known()) add_missing(Setting::kDcbx, "", expected, why_unknown(qos.dcbx));
}

// ---- marking and classes ----

void Comparison::compare_marking() {
  compare(Setting::kTrust, "",
          wanted_.trust == design::Trust::kDscp ? TrustMode::kDscp : TrustMode::kPcp,
          found_.qos.trust, [](TrustMode trust) { return std::string(to_text(trust)); });
  // A NIC that goes by PCP has no DSCP map to speak of; its trust is the deviation, if it is one.
  if (wanted_.trust == design::Trust::kPcp) return;
  if (!found_.qos.dscp_to_priority.is_known())
    return add_missing(Setting::kDscpToPriority, "", "the designed map",
                       why_unknown(found_.qos.dscp_to_priority));
  compare_dscp_map(*found_.qos.dscp_to_priority);
}

/// The map that vendors ship puts eight code points to a priority. Where the design wants best
/// effort it does no harm: no class of the design is there.
bool is_acceptable(std::size_t dscp, std::optional<Priority> found, Priority wanted) {
  if (found == wanted) return true;
  return wanted == Priority() && found && found->value() == dscp / 8;
}

/// Neighbouring code points with the same mistake are one deviation. A code point without an entry
/// is as the firmware was left by whoever came before (mlx5: DSCP / 8 after a reset, 0 after a
/// flush), so it deviates.
void Comparison::compare_dscp_map(const std::array<std::optional<Priority>, 64>& map) {
  for (std::size_t first = 0; first < map.size();) {
    const Priority wanted = wanted_.dscp_to_priority.at(first);
    std::size_t last = first;
    while (last + 1 < map.size() && map.at(last + 1) == map.at(first) &&
           wanted_.dscp_to_priority.at(last + 1) == wanted) {
      ++last;
    }
    if (!is_acceptable(first, map.at(first), wanted)) {
      add(Setting::kDscpToPriority,
          first == last ? fmt::format("DSCP {}", first) : fmt::format("DSCP {}-{}", first, last),
          "priority " + to_text(wanted),
          map.at(first) ? "priority " + to_text(*map.at(first)) : std::string("no entry"));
    }
    first = last + 1;
  }
}

void Comparison::compare_classes() {
  const bool asks = std::any_of(wanted_.traffic_classes.begin(), wanted_.traffic_classes.end(),
                                [](const design::Share8& share) { return share.used; });
  if (asks) {
    const auto& map = found_.qos.priority_to_tc;
    if (!map.is_known()) {
      add_missing(Setting::kPriorityToTc, "", "the designed map", why_unknown(map));
    } else {
      for (unsigned p = 0; p < 8; ++p) {
        if (map->at(p) == wanted_.priority_to_tc.at(p)) continue;
        add(Setting::kPriorityToTc, fmt::format("priority {}", p),
            "class " + to_text(wanted_.priority_to_tc.at(p)), "class " + to_text(map->at(p)));
      }
    }
    compare_scheduling();
  }
  compare_limit();
}

std::string scheduling_text(Tsa tsa, unsigned percent) {
  return tsa == Tsa::kEts ? fmt::format("ETS {} %", percent) : std::string(to_text(tsa));
}

void Comparison::compare_scheduling() {
  const TcScheduling wanted = wanted_scheduling(wanted_);
  const auto& tsa = found_.qos.tsa;
  const auto& share = found_.qos.tc_bandwidth;
  if (!tsa.is_known() || !share.is_known())
    return add_missing(Setting::kScheduling, "", "the designed shares",
                       tsa.is_known() ? why_unknown(share) : why_unknown(tsa));
  for (unsigned tc = 0; tc < 8; ++tc) {
    if (!wanted_.traffic_classes.at(tc).used) continue;
    const std::string expected = scheduling_text(wanted.tsa.at(tc), wanted.percent.at(tc));
    const std::string now = scheduling_text(tsa->at(tc), share->at(tc));
    if (now != expected) add(Setting::kScheduling, fmt::format("class {}", tc), expected, now);
  }
}

void Comparison::compare_limit() {
  const Priority rdma = wanted_.dscp_to_priority.at(dscp_of(wanted_.traffic_class).value());
  const TrafficClass tc = wanted_.priority_to_tc.at(rdma.value());
  const auto& limits = found_.qos.tc_max_rate;
  const std::string item = "class " + to_text(tc);
  if (!limits.is_known())
    return add_missing(Setting::kTcMaxRate, item, "no limit", why_unknown(limits));
  const BitRate limit = limits->at(tc.value());
  if (limit.raw() != 0) add(Setting::kTcMaxRate, item, "no limit", to_text(limit));
}

// ---- sizes ----

void Comparison::compare_sizes() {
  const auto bytes = [](Bytes b) { return fmt::format("{}B", b.raw()); };
  if (wanted_.mtu.raw() > 0) compare(Setting::kMtu, "", wanted_.mtu, found_.link.mtu, bytes);
  if (wanted_.rdma_mtu.raw() > 0)
    compare(Setting::kActiveMtu, "", wanted_.rdma_mtu, found_.link.active_mtu, bytes);
  if (wanted_.ring > 0) {
    compare_ring("rx", found_.rings.rx, found_.rings.rx_max);
    compare_ring("tx", found_.rings.tx, found_.rings.tx_max);
  }
  if (wanted_.cable.raw() > 0 && may_be_mlx5(found_)) {
    compare(Setting::kCableLength, "", wanted_.cable, found_.qos.cable_length,
            [](Length length) { return to_text(length); });
  }
}

/// No ring can be longer than the NIC's own limit.
void Comparison::compare_ring(std::string item, const Fact<unsigned>& now,
                              const Fact<unsigned>& limit) {
  auto wanted = static_cast<unsigned>(wanted_.ring);
  if (limit.is_known()) wanted = std::min(wanted, *limit);
  compare(Setting::kRings, std::move(item), wanted, now,
          [](unsigned n) { return std::to_string(n); });
}

// ---- the TOS byte and DCQCN ----

std::string tos_text(TosByte tos) {
  return fmt::format("{} (DSCP {})", tos.value(), dscp_of(tos).value());
}

void Comparison::compare_tos() {
  const Fact<TosByte>& cm = found_.rdma.cm_tos;
  if (!cm.is_known()) {
    add_missing(Setting::kCmTos, "", tos_text(wanted_.rdma_cm_tos), why_unknown(cm));
  } else if (dscp_of(*cm) != dscp_of(wanted_.rdma_cm_tos)) {
    add(Setting::kCmTos, "", tos_text(wanted_.rdma_cm_tos), tos_text(*cm));
  }
  const auto& forced = found_.rdma.traffic_class;
  const bool must_be_forced = wanted_.force_traffic_class;
  const std::string expected =
      tos_text(wanted_.traffic_class) + (must_be_forced ? ", forced" : " or not forced");
  if (!forced.is_known()) {
    add_missing(Setting::kTrafficClass, "", expected, why_unknown(forced));
  } else if (*forced && dscp_of(**forced) != dscp_of(wanted_.traffic_class)) {
    add(Setting::kTrafficClass, "", expected, tos_text(**forced));
  } else if (!*forced && must_be_forced) {
    add(Setting::kTrafficClass, "", expected, "not forced");
  }
}

void Comparison::compare_congestion_control() {
  if (driver_of(found_) == counters::Driver::kRxe) return;  // Soft-RoCE neither notifies nor reacts
  const bool asks = wanted_.ecn_np != PrioritySet();
  if (asks) {
    compare(Setting::kCnpMarking, "DSCP", wanted_.cnp_dscp, found_.ecn.cnp_dscp,
            [](Dscp dscp) { return to_text(dscp); });
    compare(Setting::kCnpMarking, "priority", wanted_.cnp_priority, found_.ecn.cnp_priority,
            [](Priority priority) { return to_text(priority); });
  }
  compare_knobs();
  compare_ecn(Setting::kEcnNp, wanted_.ecn_np, found_.ecn.np);
  compare_ecn(Setting::kEcnRp, wanted_.ecn_rp, found_.ecn.rp);
}

/// CNP marking is a setting of its own: its two registers are not compared twice.
bool is_cnp_marking(std::string_view knob) {
  return knob == "cnp_dscp" || knob == "cnp_802p_prio";
}

void Comparison::compare_knobs() {
  if (intent_.dcqcn.empty() || !may_be_mlx5(found_)) return;
  const auto& parameters = found_.ecn.parameters;
  if (!parameters.is_known())
    return add_missing(Setting::kKnob, "", "the designed DCQCN values", why_unknown(parameters));
  for (const auto& [name, wanted] : intent_.dcqcn) {
    const design::NicKnob* knob = design::find_knob(name);
    if (knob == nullptr || is_cnp_marking(name)) continue;
    const auto text = [&](std::int64_t value) {
      const bool is_in_range = value >= knob->min && value <= knob->max;
      return is_in_range ? design::knob_text(*knob, value) : std::to_string(value);
    };
    const auto now = std::find_if(parameters->begin(), parameters->end(), [&](const Parameter& p) {
      return design::find_knob(p.name) == knob;
    });
    if (now == parameters->end()) {
      add_missing(Setting::kKnob, name, text(wanted), Missing::kAbsent);
    } else if (now->value != wanted) {
      add(Setting::kKnob, name, text(wanted), text(now->value));
    }
  }
}

void Comparison::compare_ecn(Setting setting, PrioritySet wanted, const Fact<PrioritySet>& fact) {
  const auto text = [](PrioritySet p) {
    return p == PrioritySet() ? std::string("off") : "on for priority " + to_text(p);
  };
  if (wanted == PrioritySet()) return;
  if (!fact.is_known()) return add_missing(setting, "", text(wanted), why_unknown(fact));
  if ((fact->mask() & wanted.mask()) != wanted.mask()) add(setting, "", text(wanted), text(*fact));
}

}  // namespace

std::string_view to_text(Setting setting) {
  switch (setting) {
    case Setting::kLinkUp: return "link";
    case Setting::kSpeed: return "speed";
    case Setting::kGidV2: return "GID";
    case Setting::kGlobalPause: return "global pause";
    case Setting::kDcbx: return "DCBX";
    case Setting::kTrust: return "trust";
    case Setting::kDscpToPriority: return "DSCP map";
    case Setting::kPriorityToTc: return "traffic classes";
    case Setting::kScheduling: return "scheduling";
    case Setting::kTcMaxRate: return "rate limit";
    case Setting::kMtu: return "MTU";
    case Setting::kActiveMtu: return "RDMA MTU";
    case Setting::kStackMtu: return "MTU of the stack";
    case Setting::kRings: return "ring";
    case Setting::kIrqAffinity: return "interrupts";
    case Setting::kSysctl: return "sysctl";
    case Setting::kCableLength: return "cable length";
    case Setting::kCmTos: return "RDMA-CM TOS";
    case Setting::kTrafficClass: return "traffic class";
    case Setting::kCnpMarking: return "CNP marking";
    case Setting::kKnob: return "DCQCN";
    case Setting::kEcnNp: return "ECN notification";
    case Setting::kEcnRp: return "ECN reaction";
    case Setting::kPfc: return "PFC";
  }
  WEIR_UNREACHABLE("every setting has a text");
}

TcScheduling wanted_scheduling(const design::NicIntent& wanted) {
  TcScheduling out;
  std::int64_t total = 0;
  const auto is_ets = [&](std::size_t tc) {
    const design::Share8& share = wanted.traffic_classes.at(tc);
    return share.used && share.scheduling == design::Scheduling::kDwrr;
  };
  for (std::size_t tc = 0; tc < 8; ++tc) {
    out.tsa.at(tc) = is_ets(tc) ? Tsa::kEts : Tsa::kStrict;
    if (is_ets(tc)) total += wanted.traffic_classes.at(tc).minimum.raw();
  }
  if (total <= 0) return out;
  std::vector<std::pair<std::int64_t, std::size_t>> remainders;
  unsigned left = 100;
  for (std::size_t tc = 0; tc < 8; ++tc) {
    if (!is_ets(tc)) continue;
    const std::int64_t scaled = wanted.traffic_classes.at(tc).minimum.raw() * 100;
    out.percent.at(tc) = static_cast<unsigned>(scaled / total);
    left -= out.percent.at(tc);
    remainders.emplace_back(scaled % total, tc);
  }
  std::stable_sort(remainders.begin(), remainders.end(),
                   [](const auto& a, const auto& b) { return a.first > b.first; });
  for (std::size_t i = 0; i < left; ++i)
    ++out.percent.at(remainders.at(i % remainders.size()).second);
  return out;
}

bool cannot_be_wrong(const Deviation& deviation, const Nic& nic) {
  if (deviation.setting == Setting::kTrafficClass) {
    // The override is the vendor driver's alone.
    return deviation.missing == Missing::kAbsent &&
           (nic.stack.is(Stack::kInbox) || !may_be_mlx5(nic));
  }
  if (deviation.missing != Missing::kUnsupported) return false;
  return deviation.setting == Setting::kTcMaxRate || deviation.setting == Setting::kRings ||
         deviation.setting == Setting::kGlobalPause || deviation.setting == Setting::kDcbx;
}

std::vector<Deviation> deviations(const Nic& found, const design::NicIntent& wanted,
                                  const design::Intent& intent) {
  return Comparison(found, wanted, intent).take();
}

}  // namespace weir::evidence

#include "platforms/cumulus/nvue_parse.h"

#include <algorithm>
#include <functional>
#include <map>

#include <fmt/format.h>

#include "base/text.h"
#include "design/file/yaml_document.h"
#include "platforms/common/lower_common.h"
#include "platforms/common/statement.h"
#include "platforms/cumulus/nvue.h"

namespace weir::platforms::nvue {
namespace {

using evidence::Fact;
using evidence::Missing;

// ---- what was said ----

struct Marking {
  Fact<bool> ecn;
  Fact<bool> red;
  Fact<Bytes> min;
  Fact<Bytes> max;
  Fact<Share> probability;
};
struct Sched {
  Fact<evidence::Scheduler> mode;
  Fact<unsigned> percent;
};
struct PfcProfile {
  PrioritySet priorities;
  std::string source;
  bool tx = true;
  bool rx = true;
  Fact<Length> cable;
  Fact<Bytes> port_buffer;
  Fact<Bytes> xoff;
  Fact<Bytes> xon;
};
struct Shaper {
  std::array<Fact<BitRate>, 8> queues;
  Fact<BitRate> port;
};
struct LinkPause {
  bool rx = false;
  bool tx = false;
};
struct Port {
  Fact<Bytes> mtu;
  Fact<std::string> pfc;
  Fact<std::string> marking;
  Fact<std::string> scheduler;
  Fact<std::string> shaper;
  Fact<std::string> pause;
  Fact<bool> watchdog;
};
using Markings = std::array<Marking, 8>;
using Scheds = std::array<Sched, 8>;

struct Said {
  std::string hostname;
  Fact<bool> roce;
  Fact<std::string> roce_mode;
  Fact<Length> roce_cable;
  Fact<evidence::TrustMode> trust;
  std::array<Fact<TrafficClass>, 64> dscp;
  std::array<Fact<TrafficClass>, 8> pcp;
  std::array<Fact<Queue>, 8> queues;
  std::map<std::string, Markings, std::less<>> markings;
  std::map<std::string, Scheds, std::less<>> scheds;
  std::map<std::string, PfcProfile, std::less<>> pfc;
  std::map<std::string, Shaper, std::less<>> shapers;
  std::map<std::string, LinkPause, std::less<>> pauses;
  std::map<std::string, Port, std::less<>> ports;
  std::map<std::string, evidence::SwitchInterface, std::less<>> interfaces;
  std::vector<evidence::Pool> pools;
  std::string pools_source;
  Fact<Alpha> ingress_alpha;
  Fact<Bytes> reserved;
  std::array<Fact<Alpha>, 8> egress_alpha;
  Fact<unsigned> oversubscription;
  Fact<bool> rewrite;
  std::array<std::optional<Dscp>, 8> rewrites{};
  Fact<Duration> polling;
  Fact<unsigned> robustness;
  Fact<bool> dcbx;
  Fact<bool> adaptive;
  Fact<unsigned> seed;
  evidence::Telemetry telemetry;
};

/// "swp1-4,swp7s0-3" as names.
Result<std::vector<std::string>> expand(const std::string& word) {
  constexpr std::int64_t kMost = 4096;
  std::vector<std::string> out;
  for (const std::string_view piece : split(word, ',')) {
    const std::size_t dash = piece.find('-');
    const std::string_view first = piece.substr(0, dash);
    const std::size_t digits = first.find_last_not_of("0123456789") + 1;
    const bool is_range = dash != std::string_view::npos && digits < first.size() &&
                          piece.find_first_not_of("0123456789", dash + 1) == std::string_view::npos;
    if (piece.empty() || (dash != std::string_view::npos && !is_range))
      return parse_error(fmt::format("expected ports such as swp1-4,swp7, found '{}'", word));
    if (!is_range) {
      out.emplace_back(piece);
      continue;
    }
    WEIR_TRY(low, read_number(first.substr(digits), 0, kMost, "a port"));
    WEIR_TRY(high, read_number(piece.substr(dash + 1), low, kMost, "a port"));
    for (std::int64_t n = low; n <= high; ++n)
      out.push_back(fmt::format("{}{}", first.substr(0, digits), n));
  }
  return out;
}

bool is_port(std::string_view name) {
  return name.rfind("swp", 0) == 0;
}

class Reader {
 public:
  explicit Reader(std::string_view file) : file_(file) {}

  Status read(const Statement& statement) {
    source_ = fmt::format("{}:{}", file_, statement.line);
    return read_statement(*this, kRules, statement, file_, unread_);
  }
  [[nodiscard]] Said take() { return std::move(said_); }
  [[nodiscard]] std::vector<Unread> unread() { return std::move(unread_); }

 private:
  template <class T>
  void set(Fact<T>& fact, T value) {
    fact = Fact<T>::of(std::move(value), source_);
  }

  static Result<bool> on_off(const std::string& word) {
    if (word == "enable" || word == "enabled" || word == "on") return true;
    if (word == "disable" || word == "disabled" || word == "off") return false;
    return parse_error(fmt::format("expected enable or disable, found '{}'", word));
  }
  Status set_switch(Fact<bool>& fact, const std::string& word) {
    WEIR_TRY(value, on_off(word));
    set(fact, value);
    return {};
  }
  Status set_bytes(Fact<Bytes>& fact, const std::string& word) {
    WEIR_TRY(value, read_number(word, 0, std::int64_t{1} << 40, "bytes"));
    set(fact, Bytes::raw(value));
    return {};
  }
  Status set_metres(Fact<Length>& fact, const std::string& word) {
    WEIR_TRY(value, read_number(word, 1, 100'000, "metres"));
    set(fact, 1_m * value);
    return {};
  }
  static Result<unsigned> code(const std::string& word, std::string_view what) {
    WEIR_TRY(value, read_number(word, 0, 7, what));
    return static_cast<unsigned>(value);
  }
  Status each_port(const std::string& names, const std::function<void(Port&)>& act) {
    WEIR_TRY(all, expand(names));
    for (const std::string& name : all) {
      if (!is_port(name))
        return Error{ErrorCode::kUnsupported, fmt::format("{} is not a port", name)};
      act(said_.ports[name]);
    }
    return {};
  }

  // Each of these is one kind of statement.
  Status hostname(const Taken& t) {
    said_.hostname = t[0];
    return {};
  }
  Status roce_bare(const Taken&) {
    set(said_.roce, true);
    return {};
  }
  Status roce_state(const Taken& t) { return set_switch(said_.roce, t[0]); }
  Status roce_mode(const Taken& t) {
    for (const std::string_view mode :
         {"lossless", "lossy", "lossless-single-ipool", "lossy-multi-tc", "dci-1"})
      if (t[0] == mode) {
        set(said_.roce_mode, t[0]);
        if (!said_.roce.is_known()) set(said_.roce, true);
        return {};
      }
    return parse_error(fmt::format("expected lossless or lossy, found '{}'", t[0]));
  }
  Status roce_cable(const Taken& t) { return set_metres(said_.roce_cable, t[0]); }

  Status trust(const Taken& t) {
    using enum evidence::TrustMode;
    if (t[0] == "l3")
      set(said_.trust, kDscp);
    else if (t[0] == "l2")
      set(said_.trust, kPcp);
    else if (t[0] == "both")
      set(said_.trust, kBoth);
    else if (t[0] == "port")
      set(said_.trust, kPort);
    else
      return parse_error(fmt::format("expected l2, l3, both or port, found '{}'", t[0]));
    return {};
  }
  Status dscp(const Taken& t) {
    WEIR_TRY(codes, read_numbers(t[0], Dscp::kLimit, "a DSCP"));
    WEIR_TRY(priority, code(t[1], "a switch priority"));
    for (const unsigned c : codes)
      set(said_.dscp.at(c), TrafficClass::of(priority));
    return {};
  }
  Status pcp(const Taken& t) {
    WEIR_TRY(codes, read_numbers(t[0], 8, "an 802.1p value"));
    WEIR_TRY(priority, code(t[1], "a switch priority"));
    for (const unsigned c : codes)
      set(said_.pcp.at(c), TrafficClass::of(priority));
    return {};
  }
  Status queue_map(const Taken& t) {
    WEIR_TRY(priorities, read_numbers(t[0], 8, "a switch priority"));
    WEIR_TRY(queue, code(t[1], "a traffic class"));
    for (const unsigned p : priorities)
      set(said_.queues.at(p), Queue::of(queue));
    return {};
  }
  Status remark(const Taken& t) {
    if (t[0] != "l3" && t[0] != "both")
      return Error{ErrorCode::kUnsupported, "rewrites 802.1p bits, not the DSCP"};
    set(said_.rewrite, true);
    return {};
  }
  Status remark_dscp(const Taken& t) {
    WEIR_TRY(priority, code(t[0], "a switch priority"));
    WEIR_TRY(value, read_number(t[1], 0, 63, "a DSCP"));
    said_.rewrites.at(priority) = Dscp::of(static_cast<unsigned>(value));
    return {};
  }

  Status sched_mode(const Taken& t) {
    WEIR_TRY(queues, read_numbers(t[1], 8, "a traffic class"));
    if (t[2] != "dwrr" && t[2] != "strict")
      return parse_error(fmt::format("expected dwrr or strict, found '{}'", t[2]));
    for (const unsigned q : queues)
      set(said_.scheds[t[0]].at(q).mode,
          t[2] == "strict" ? evidence::Scheduler::kStrict : evidence::Scheduler::kWeighted);
    return {};
  }
  Status sched_percent(const Taken& t) {
    WEIR_TRY(queues, read_numbers(t[1], 8, "a traffic class"));
    WEIR_TRY(percent, read_number(t[2], 0, 100, "percent"));
    for (const unsigned q : queues)
      set(said_.scheds[t[0]].at(q).percent, static_cast<unsigned>(percent));
    return {};
  }
  template <class Act>
  Status each_marking(const Taken& t, Act act) {
    WEIR_TRY(queues, read_numbers(t[1], 8, "a traffic class"));
    for (const unsigned q : queues)
      WEIR_TRY_STATUS(act(said_.markings[t[0]].at(q)));
    return {};
  }
  Status marking_ecn(const Taken& t) {
    return each_marking(t, [&](Marking& m) { return set_switch(m.ecn, t[2]); });
  }
  Status marking_red(const Taken& t) {
    return each_marking(t, [&](Marking& m) { return set_switch(m.red, t[2]); });
  }
  Status marking_min(const Taken& t) {
    return each_marking(t, [&](Marking& m) { return set_bytes(m.min, t[2]); });
  }
  Status marking_max(const Taken& t) {
    return each_marking(t, [&](Marking& m) { return set_bytes(m.max, t[2]); });
  }
  Status marking_probability(const Taken& t) {
    WEIR_TRY(percent, read_number(t[2], 0, 100, "a probability in percent"));
    return each_marking(t, [&](Marking& m) {
      set(m.probability, 1_percent * percent);
      return Status();
    });
  }
  Status marking_mode(const Taken& t) {
    if (t[2] == "absolute") return {};
    return Error{ErrorCode::kUnsupported, "thresholds in percent of the queue: not known in bytes"};
  }

  Status pfc_priority(const Taken& t) {
    WEIR_TRY(priorities, read_numbers(t[1], 8, "a switch priority"));
    PfcProfile& profile = said_.pfc[t[0]];
    for (const unsigned p : priorities)
      profile.priorities.insert(Priority::of(p));
    profile.source = source_;
    return {};
  }
  Status pfc_tx(const Taken& t) {
    WEIR_TRY(value, on_off(t[1]));
    said_.pfc[t[0]].tx = value;
    return {};
  }
  Status pfc_rx(const Taken& t) {
    WEIR_TRY(value, on_off(t[1]));
    said_.pfc[t[0]].rx = value;
    return {};
  }
  Status pfc_cable(const Taken& t) { return set_metres(said_.pfc[t[0]].cable, t[1]); }
  Status pfc_buffer(const Taken& t) { return set_bytes(said_.pfc[t[0]].port_buffer, t[1]); }
  Status pfc_xoff(const Taken& t) { return set_bytes(said_.pfc[t[0]].xoff, t[1]); }
  Status pfc_xon(const Taken& t) { return set_bytes(said_.pfc[t[0]].xon, t[1]); }

  Status shaper_queue(const Taken& t) {
    WEIR_TRY(queues, read_numbers(t[1], 8, "a traffic class"));
    WEIR_TRY(rate, read_rate(t[2], "kbps"));
    for (const unsigned q : queues)
      set(said_.shapers[t[0]].queues.at(q), rate);
    return {};
  }
  Status shaper_port(const Taken& t) {
    WEIR_TRY(rate, read_rate(t[1], "kbps"));
    set(said_.shapers[t[0]].port, rate);
    return {};
  }
  Status pause_tx(const Taken& t) {
    WEIR_TRY(value, on_off(t[1]));
    said_.pauses[t[0]].tx = value;
    return {};
  }
  Status pause_rx(const Taken& t) {
    WEIR_TRY(value, on_off(t[1]));
    said_.pauses[t[0]].rx = value;
    return {};
  }

  Status pool(const Taken& t) {
    WEIR_TRY(percent, read_number(t[1], 0, 100, "percent"));
    const bool is_lossy = t[0].find("lossy") != std::string::npos;
    said_.pools.push_back({t[0],
                           is_lossy ? evidence::PoolKind::kLossy : evidence::PoolKind::kLossless,
                           {},
                           1_percent * percent});
    said_.pools_source = source_;
    return {};
  }
  Result<Alpha> alpha_of(const std::string& word) {
    for (int log2 = -7; log2 <= 6; ++log2)
      if (alpha_word(Alpha::from_log2(log2)) == word) return Alpha::from_log2(log2);
    if (word == "alpha_0" || word == "alpha_infinity")
      return Error{ErrorCode::kUnsupported, "an alpha of zero or without a limit is no power of 2"};
    return parse_error(fmt::format("expected alpha_1_128 to alpha_64, found '{}'", word));
  }
  Status ingress_alpha(const Taken& t) {
    WEIR_TRY(alpha, alpha_of(t[0]));
    set(said_.ingress_alpha, alpha);
    return {};
  }
  Status ingress_reserved(const Taken& t) { return set_bytes(said_.reserved, t[0]); }
  Status egress_alpha(const Taken& t) {
    WEIR_TRY(queues, read_numbers(t[0], 8, "a traffic class"));
    WEIR_TRY(alpha, alpha_of(t[1]));
    for (const unsigned q : queues)
      set(said_.egress_alpha.at(q), alpha);
    return {};
  }
  Status oversubscription(const Taken& t) {
    WEIR_TRY(ratio, read_number(t[0], 1, kOversubscriptionMost, "a ratio"));
    set(said_.oversubscription, static_cast<unsigned>(ratio));
    return {};
  }
  Status polling(const Taken& t) {
    WEIR_TRY(ms, read_number(t[0], 100, 5'000, "a polling interval in milliseconds"));
    set(said_.polling, 1_ms * ms);
    return {};
  }
  Status robustness(const Taken& t) {
    WEIR_TRY(times, read_number(t[0], 1, kRobustnessMost, "a robustness"));
    set(said_.robustness, static_cast<unsigned>(times));
    return {};
  }
  Status dcbx(const Taken& t) { return set_switch(said_.dcbx, t[1]); }
  Status adaptive(const Taken& t) { return set_switch(said_.adaptive, t[0]); }
  Status seed(const Taken& t) {
    WEIR_TRY(value, read_number(t[0], 0, 4'294'967'295, "a seed"));
    set(said_.seed, static_cast<unsigned>(value));
    return {};
  }
  Status gnmi(const Taken& t) { return set_switch(said_.telemetry.gnmi, t[0]); }
  Status sflow(const Taken& t) { return set_switch(said_.telemetry.sflow, t[0]); }
  Status interval(const Taken& t) {
    WEIR_TRY(seconds, read_number(t[0], 1, 86'400, "seconds"));
    set(said_.telemetry.interval, 1_s * seconds);
    return {};
  }

  Status mtu(const Taken& t) {
    WEIR_TRY(bytes, read_number(t[1], 68, 9216, "an MTU"));
    WEIR_TRY(names, expand(t[0]));
    for (const std::string& name : names) {
      if (is_port(name)) {
        set(said_.ports[name].mtu, Bytes::raw(bytes));
      } else {
        evidence::SwitchInterface& one = interface(name);
        set(one.mtu, Bytes::raw(bytes));
      }
    }
    return {};
  }
  evidence::SwitchInterface& interface(const std::string& name) {
    evidence::SwitchInterface& one = said_.interfaces[name];
    one.name = name;
    one.kind = name.rfind("vlan", 0) == 0 ? "svi" : "port-channel";
    return one;
  }
  Status type(const Taken& t) {
    WEIR_TRY(names, expand(t[0]));
    for (const std::string& name : names) {
      if (is_port(name))
        said_.ports[name];
      else if (t[1] == "svi" || t[1] == "bond")
        interface(name);
    }
    return {};
  }
  Status bond_member(const Taken& t) {
    WEIR_TRY(members, expand(t[1]));
    evidence::SwitchInterface& one = interface(t[0]);
    std::vector<std::string> all = one.members.is_known() ? *one.members : members;
    if (one.members.is_known()) all.insert(all.end(), members.begin(), members.end());
    set(one.members, std::move(all));
    return {};
  }
  Status port_there(const Taken& t) {
    WEIR_TRY(names, expand(t[0]));
    for (const std::string& name : names)
      if (is_port(name)) said_.ports[name];
    return {};
  }
  Status port_pfc(const Taken& t) {
    return each_port(t[0], [&](Port& port) { set(port.pfc, t[1]); });
  }
  Status port_marking(const Taken& t) {
    return each_port(t[0], [&](Port& port) { set(port.marking, t[1]); });
  }
  Status port_scheduler(const Taken& t) {
    return each_port(t[0], [&](Port& port) { set(port.scheduler, t[1]); });
  }
  Status port_shaper(const Taken& t) {
    return each_port(t[0], [&](Port& port) { set(port.shaper, t[1]); });
  }
  Status port_pause(const Taken& t) {
    return each_port(t[0], [&](Port& port) { set(port.pause, t[1]); });
  }
  Status port_watchdog(const Taken& t) {
    WEIR_TRY(value, on_off(t[1]));
    return each_port(t[0], [&](Port& port) { set(port.watchdog, value); });
  }

  static const std::vector<Rule<Reader>> kRules;
  std::string_view file_;
  std::string source_;
  Said said_;
  std::vector<Unread> unread_;
};

const std::vector<Rule<Reader>> Reader::kRules = {
    {"system hostname *", &Reader::hostname},
    {"qos roce", &Reader::roce_bare},
    {"qos roce state *", &Reader::roce_state},
    {"qos roce enable *", &Reader::roce_state},
    {"qos roce mode *", &Reader::roce_mode},
    {"qos roce cable-length *", &Reader::roce_cable},
    {"qos mapping default-global trust *", &Reader::trust},
    {"qos mapping default-global dscp * switch-priority *", &Reader::dscp},
    {"qos mapping default-global pcp * switch-priority *", &Reader::pcp},
    {"qos egress-queue-mapping default-global switch-priority * traffic-class *",
     &Reader::queue_map},
    {"qos remark default-global rewrite *", &Reader::remark},
    {"qos remark default-global switch-priority * dscp *", &Reader::remark_dscp},
    {"qos egress-scheduler * traffic-class * mode *", &Reader::sched_mode},
    {"qos egress-scheduler * traffic-class * bw-percent *", &Reader::sched_percent},
    {"qos congestion-control * traffic-class * ecn *", &Reader::marking_ecn},
    {"qos congestion-control * traffic-class * red *", &Reader::marking_red},
    {"qos congestion-control * traffic-class * min-threshold *", &Reader::marking_min},
    {"qos congestion-control * traffic-class * max-threshold *", &Reader::marking_max},
    {"qos congestion-control * traffic-class * probability *", &Reader::marking_probability},
    {"qos congestion-control * traffic-class * mode *", &Reader::marking_mode},
    {"qos pfc * switch-priority *", &Reader::pfc_priority},
    {"qos pfc * tx *", &Reader::pfc_tx},
    {"qos pfc * rx *", &Reader::pfc_rx},
    {"qos pfc * cable-length *", &Reader::pfc_cable},
    {"qos pfc * port-buffer *", &Reader::pfc_buffer},
    {"qos pfc * xoff-threshold *", &Reader::pfc_xoff},
    {"qos pfc * xon-threshold *", &Reader::pfc_xon},
    {"qos egress-shaper * traffic-class * max-rate *", &Reader::shaper_queue},
    {"qos egress-shaper * port-max-rate *", &Reader::shaper_port},
    {"qos link-pause * tx *", &Reader::pause_tx},
    {"qos link-pause * rx *", &Reader::pause_rx},
    {"qos traffic-pool * memory-percent *", &Reader::pool},
    {"qos advance-buffer-config default-global ingress-lossless-buffer shared-alpha *",
     &Reader::ingress_alpha},
    {"qos advance-buffer-config default-global ingress-lossless-buffer reserved *",
     &Reader::ingress_reserved},
    {"qos advance-buffer-config default-global egress-lossy-buffer traffic-class * shared-alpha *",
     &Reader::egress_alpha},
    {"qos advance-buffer-config default-global shared-headroom oversubscription-ratio *",
     &Reader::oversubscription},
    {"qos pfc-watchdog polling-interval *", &Reader::polling},
    {"qos pfc-watchdog robustness *", &Reader::robustness},
    {"system lldp tlv egress-policy * state *", &Reader::dcbx},
    {"router adaptive-routing state *", &Reader::adaptive},
    {"router adaptive-routing enable *", &Reader::adaptive},
    {"system forwarding hash-seed *", &Reader::seed},
    {"system gnmi-server state *", &Reader::gnmi},
    {"system sflow state *", &Reader::sflow},
    {"system telemetry interface-stats sample-interval *", &Reader::interval},
    {"interface * link mtu *", &Reader::mtu},
    {"interface * type *", &Reader::type},
    {"interface * bond member *", &Reader::bond_member},
    {"interface * qos pfc profile *", &Reader::port_pfc},
    {"interface * qos congestion-control profile *", &Reader::port_marking},
    {"interface * qos egress-scheduler profile *", &Reader::port_scheduler},
    {"interface * qos egress-shaper profile *", &Reader::port_shaper},
    {"interface * qos link-pause profile *", &Reader::port_pause},
    {"interface * qos pfc-watchdog state *", &Reader::port_watchdog},
    {"interface * qos shared-headroom-pool *", &Reader::port_there},
    {"interface * description **", &Reader::port_there},
    {"interface * link state **", &Reader::port_there},
    {"interface * link speed *", &Reader::port_there},
    {"interface * ip **", &Reader::port_there},
    {"interface * bridge **", &Reader::port_there},
    {"interface * router adaptive-routing **", &Reader::port_there},
    {"interface * vlan *", nullptr},
    {"bridge **", nullptr},
    {"vrf **", nullptr},
    {"router bgp **", nullptr},
    {"system ntp **", nullptr},
    {"system timezone *", nullptr},
    {"service **", nullptr},
};

// ---- what that makes of the switch ----

class Builder {
 public:
  explicit Builder(const Said& said) : said_(said) {}

  evidence::Switch build() {
    is_roce_ = said_.roce.is(true) &&
               (!said_.roce_mode.is_known() || said_.roce_mode->rfind("lossless", 0) == 0);
    out_.name = said_.hostname;
    out_.platform = known(std::string(vocab::names_of(vocab::SwitchSystem::kCumulus).name));
    set_maps();
    set_watchdog();
    if (!said_.pools.empty()) out_.pools = known(said_.pools, said_.pools_source);
    out_.headroom_oversubscription = or_default(said_.oversubscription, 1U);
    out_.load_balancing =
        said_.adaptive.is_known()
            ? known(std::string(*said_.adaptive ? "adaptive" : "ecmp"), said_.adaptive.source())
            : known(std::string("ecmp"), std::string(kSource));
    out_.ecmp_seed = said_.seed;
    out_.lldp = known(true, std::string(kSource));
    out_.telemetry = said_.telemetry;
    out_.telemetry.gnmi = or_default(said_.telemetry.gnmi, false);
    out_.telemetry.sflow = or_default(said_.telemetry.sflow, false);
    for (const auto& [name, port] : said_.ports)
      add_port(name, port);
    for (const auto& [name, one] : said_.interfaces)
      interface_named(out_, name, one.kind) = one;
    return std::move(out_);
  }

 private:
  using Switch = evidence::Switch;

  template <class T>
  Fact<T> or_default(const Fact<T>& said, T fallback, std::string_view source = kSource) const {
    return said.is_known() ? said : Fact<T>::of(std::move(fallback), std::string(source));
  }
  [[nodiscard]] std::string_view base() const { return is_roce_ ? kRoceSource : kSource; }

  template <std::size_t N>
  auto map_of(const std::array<Fact<TrafficClass>, N>& said, unsigned step) const {
    std::array<std::optional<TrafficClass>, N> map{};
    std::string source(base());
    for (unsigned c = 0; c < N; ++c) {
      map.at(c) = said.at(c).is_known() ? *said.at(c) : TrafficClass::of(c / step);
      if (said.at(c).is_known()) source = said.at(c).source();
    }
    return known(map, source);
  }

  void set_maps() {
    out_.dscp_to_tc = map_of(said_.dscp, 8);
    out_.pcp_to_tc = map_of(said_.pcp, 1);
    std::array<Queue, 8> queues{};
    std::array<PriorityGroup, 8> groups{};
    std::string source(base());
    PrioritySet paused;
    for (const auto& [name, port] : said_.ports) {
      const PrioritySet here = pfc_of(port);
      paused = PrioritySet::from_mask(static_cast<std::uint8_t>(paused.mask() | here.mask()));
    }
    for (unsigned p = 0; p < 8; ++p) {
      const bool is_apart = !is_roce_ || p == kRocePriority || p == kCnpPriority;
      queues.at(p) =
          said_.queues.at(p).is_known() ? *said_.queues.at(p) : Queue::of(is_apart ? p : 0);
      if (said_.queues.at(p).is_known()) source = said_.queues.at(p).source();
      groups.at(p) = PriorityGroup::of(paused.contains(Priority::of(p)) ? p : 0);
    }
    out_.tc_to_queue = known(queues, source);
    out_.tc_to_group = known(groups, std::string(kSource));
    out_.pfc_to_queue = known(queues, source);
    out_.tc_to_dscp =
        known(said_.rewrite.is(true) ? said_.rewrites : std::array<std::optional<Dscp>, 8>{},
              said_.rewrite.is_known() ? said_.rewrite.source() : std::string(kSource));
  }

  void set_watchdog() {
    const Duration poll = said_.polling.is_known() ? *said_.polling : kPolling;
    const std::int64_t times =
        said_.robustness.is_known() ? static_cast<std::int64_t>(*said_.robustness) : kRobustness;
    const std::string source = said_.polling.is_known()      ? said_.polling.source()
                               : said_.robustness.is_known() ? said_.robustness.source()
                                                             : std::string(kSource);
    out_.watchdog.enabled = known(false, std::string(kSource));
    for (const auto& [name, port] : said_.ports)
      if (port.watchdog.is(true)) out_.watchdog.enabled = port.watchdog;
    out_.watchdog.detection = known(poll * times, source);
    out_.watchdog.restoration = known(poll, source);
    out_.watchdog.action = known(std::string("drop"), std::string(kSource));
  }

  [[nodiscard]] const PfcProfile* profile_of(const Port& port) const {
    if (!port.pfc.is_known()) return nullptr;
    const auto found = said_.pfc.find(*port.pfc);
    return found == said_.pfc.end() ? nullptr : &found->second;
  }
  [[nodiscard]] PrioritySet pfc_of(const Port& port) const {
    if (const PfcProfile* profile = profile_of(port))
      return profile->rx && profile->tx ? profile->priorities : PrioritySet();
    return is_roce_ ? PrioritySet::from_mask(1U << kRocePriority) : PrioritySet();
  }

  void add_port(const std::string& name, const Port& from) {
    evidence::SwitchPort port;
    port.name = name;
    port.mtu = or_default(from.mtu, 9216_B);
    port.trust = or_default(
        said_.trust, is_roce_ ? evidence::TrustMode::kBoth : evidence::TrustMode::kPcp, base());
    const bool is_undefined = from.pfc.is_known() && profile_of(from) == nullptr;
    const PrioritySet pfc = pfc_of(from);
    port.pfc = is_undefined
                   ? Fact<PrioritySet>::missing(Missing::kError, from.pfc.source())
                   : known(pfc, from.pfc.is_known() ? from.pfc.source() : std::string(base()));
    port.pfc_negotiated = known(false, std::string(kSource));
    port.global_pause = known(false, std::string(kSource));
    if (from.pause.is_known()) {
      const auto found = said_.pauses.find(*from.pause);
      port.global_pause =
          known(found != said_.pauses.end() && (found->second.rx || found->second.tx),
                from.pause.source());
    }
    port.watchdog = or_default(from.watchdog, false);
    port.rewrites_dscp = or_default(said_.rewrite, false);
    port.max_rate = known(BitRate(), std::string(kSource));
    port.lldp = known(true, std::string(kSource));
    port.dcbx = said_.dcbx.is_known() ? said_.dcbx : known(is_roce_, std::string(base()));
    set_groups(from, pfc, port);
    set_queues(from, port);
    port_named(out_, name) = std::move(port);
  }

  void set_groups(const Port& from, PrioritySet pfc, evidence::SwitchPort& port) {
    if (pfc.count() == 0) return;
    const PfcProfile* profile = profile_of(from);
    port.cable_length = profile != nullptr ? or_default(profile->cable, kProfileCable)
                                           : or_default(said_.roce_cable, kRoceCable, kRoceSource);
    for (unsigned p = 0; p < 8; ++p) {
      if (!pfc.contains(Priority::of(p))) continue;
      evidence::GroupBuffer& group = group_at(port, PriorityGroup::of(p));
      group.lossless = known(true, port.pfc.source());
      group.reserved = said_.reserved;
      group.alpha = said_.ingress_alpha;
      const bool by_hand = profile != nullptr && profile->port_buffer.is_known();
      group.headroom_auto =
          known(!by_hand, by_hand ? profile->port_buffer.source() : std::string(kSource));
      if (!by_hand) continue;
      group.xoff = profile->xoff;
      if (!profile->xoff.is_known()) continue;
      group.headroom = known(std::max(*profile->port_buffer - *profile->xoff, 0_B),
                             profile->port_buffer.source());
      if (profile->xon.is_known())
        group.xon = known(std::max(*profile->xoff - *profile->xon, 0_B), profile->xon.source());
    }
  }

  /// The bundle's, where it is on and `q` is one of its classes.
  void set_roce_queue(unsigned q, evidence::EgressQueue& queue) const {
    const std::string source(kRoceSource);
    const bool marks = std::find(kRoceMarks.begin(), kRoceMarks.end(), q) != kRoceMarks.end();
    queue.ecn = known(marks, source);
    queue.wred_drop = known(false, source);
    if (marks) {
      queue.ecn_min = known(kRoceMin, source);
      queue.ecn_max = known(kRoceMax, source);
      queue.ecn_probability = known(kRoceProbability, source);
    }
    const bool is_strict = q == kCnpPriority;
    queue.scheduler =
        known(is_strict ? evidence::Scheduler::kStrict : evidence::Scheduler::kWeighted, source);
    if (!is_strict) queue.weight = known(kRoceWeight, source);
  }

  static void set_marking(const Marking& from, evidence::EgressQueue& queue) {
    if (from.ecn.is_known()) queue.ecn = from.ecn;
    if (from.red.is_known()) queue.wred_drop = from.red;
    if (from.min.is_known()) queue.ecn_min = from.min;
    if (from.max.is_known()) queue.ecn_max = from.max;
    if (from.probability.is_known()) queue.ecn_probability = from.probability;
  }

  void set_queues(const Port& from, evidence::SwitchPort& port) {
    const std::string sched_name =
        from.scheduler.is_known() ? *from.scheduler : std::string("default-global");
    const std::string marking_name =
        from.marking.is_known() ? *from.marking : std::string("default-global");
    const auto sched = said_.scheds.find(sched_name);
    const auto marking = said_.markings.find(marking_name);
    const auto shaper =
        from.shaper.is_known() ? said_.shapers.find(*from.shaper) : said_.shapers.end();
    if (shaper != said_.shapers.end() && shaper->second.port.is_known())
      port.max_rate = shaper->second.port;
    for (unsigned q = 0; q < 8; ++q) {
      const bool is_bundled = is_roce_ && (q == 0 || q == kRocePriority || q == kCnpPriority);
      const Sched* s = sched == said_.scheds.end() ? nullptr : &sched->second.at(q);
      const Marking* m = marking == said_.markings.end() ? nullptr : &marking->second.at(q);
      const bool is_said = (s != nullptr && s->mode.is_known()) ||
                           (m != nullptr && (m->ecn.is_known() || m->min.is_known())) ||
                           said_.egress_alpha.at(q).is_known();
      if (!is_bundled && !is_said) continue;
      evidence::EgressQueue& queue = queue_at(port, Queue::of(q));
      if (is_bundled) set_roce_queue(q, queue);
      if (m != nullptr) set_marking(*m, queue);
      if (s != nullptr && s->mode.is_known()) {
        queue.scheduler = s->mode;
        queue.weight = s->mode.is(evidence::Scheduler::kStrict) ? Fact<unsigned>() : s->percent;
      }
      queue.max_rate = known(BitRate(), std::string(kSource));
      if (shaper != said_.shapers.end() && shaper->second.queues.at(q).is_known())
        queue.max_rate = shaper->second.queues.at(q);
      queue.alpha = said_.egress_alpha.at(q);
      settle_queue(queue);
    }
  }

  const Said& said_;
  Switch out_;
  bool is_roce_ = false;
};

// ---- the two forms ----

Result<std::vector<Statement>> from_commands(std::string_view text, std::string_view file,
                                             std::vector<Unread>& unread) {
  std::vector<Statement> out;
  int line = 0;
  for (const std::string_view raw : split(text, '\n')) {
    ++line;
    const std::string_view bare = trim(raw);
    if (bare.empty() || bare.front() == '#') continue;
    std::vector<std::string> words = words_of(bare);
    if (words[0] != "nv")
      return parse_error(
          fmt::format("{}:{}: expected a command 'nv set …', found '{}'", file, line, bare));
    if (words.size() > 1 && words[1] == "config") continue;
    if (words.size() < 3 || words[1] != "set") {
      unread.push_back({line, std::string(bare), "not a 'nv set'"});
      continue;
    }
    out.push_back({line, {words.begin() + 2, words.end()}, std::string(bare)});
  }
  return out;
}

void flatten(const design::YamlNode& node, std::vector<std::string>& path,
             std::vector<Statement>& out) {
  const auto add = [&](const std::vector<std::string>& words) {
    std::string text;
    for (const std::string& word : words)
      text += (text.empty() ? "" : " ") + word;
    out.push_back({node.at.line, words, std::move(text)});
  };
  switch (node.kind) {
    case design::YamlNode::Kind::kScalar: {
      std::vector<std::string> words = path;
      if (!node.is_empty()) words.push_back(node.scalar);
      return add(words);
    }
    case design::YamlNode::Kind::kSequence:
      for (const design::YamlNode& item : node.items)
        flatten(item, path, out);
      return;
    case design::YamlNode::Kind::kMapping: break;
  }
  if (node.entries.empty()) return add(path);
  for (const design::YamlEntry& entry : node.entries) {
    path.push_back(entry.key);
    flatten(entry.value, path, out);
    path.pop_back();
  }
}

Result<std::vector<Statement>> from_tree(std::string_view text, std::string_view file) {
  const design::YamlDocument document = design::parse_yaml(text);
  if (!document.errors.empty())
    return parse_error(fmt::format("{}:{}: expected YAML, found {}", file,
                                   document.errors.front().at.line,
                                   document.errors.front().message));
  std::vector<Statement> out;
  std::vector<std::string> path;
  bool has_set = false;
  const auto take = [&](const design::YamlNode& item) {
    for (const design::YamlEntry& entry : item.entries) {
      if (entry.key != "set") continue;
      has_set = true;
      flatten(entry.value, path, out);
    }
  };
  take(document.root);
  for (const design::YamlNode& item : document.root.items)
    take(item);
  if (!has_set)
    return parse_error(fmt::format("{}:1: expected '- set:' as in startup.yaml, found {}", file,
                                   design::describe_kind(document.root)));
  return out;
}

bool is_tree(std::string_view text) {
  for (const std::string_view raw : split(text, '\n')) {
    const std::string_view bare = trim(raw);
    if (bare.empty() || bare.front() == '#') continue;
    return bare.rfind("nv ", 0) != 0;
  }
  return false;
}

}  // namespace

bool looks_like(std::string_view text) {
  for (const std::string_view raw : split(text, '\n')) {
    const std::string_view bare = trim(raw);
    if (bare.empty() || bare.front() == '#') continue;
    if (bare.rfind("nv ", 0) == 0) return true;
    return raw.rfind("- set:", 0) == 0 || raw.rfind("- header:", 0) == 0;
  }
  return false;
}

Result<Parsed> parse(std::string_view text, std::string_view file) {
  Parsed parsed;
  WEIR_TRY(statements,
           is_tree(text) ? from_tree(text, file) : from_commands(text, file, parsed.unread));
  Reader reader(file);
  for (const Statement& statement : statements)
    WEIR_TRY_STATUS(reader.read(statement));
  for (Unread& one : reader.unread())
    parsed.unread.push_back(std::move(one));
  const Said said = reader.take();
  parsed.state = Builder(said).build();
  return parsed;
}

}  // namespace weir::platforms::nvue

#include "platforms/eos/eos_parse.h"

#include <algorithm>
#include <map>

#include <fmt/format.h>

#include "base/text.h"
#include "platforms/common/lower_common.h"
#include "platforms/common/statement.h"

namespace weir::platforms::eos_cli {
namespace {

using evidence::Fact;
using evidence::Missing;

// ---- what was said ----

/// A profile, or what an interface says for itself.
struct Profile {
  Fact<evidence::TrustMode> trust;
  std::array<bool, 8> has_queue{};
  std::array<evidence::EgressQueue, 8> queues;
  Fact<bool> pfc_on;
  std::array<Fact<bool>, 8> no_drop;
  Fact<bool> watchdog;
  Fact<std::string> action;
  Fact<Duration> timeout;
  Fact<Duration> recovery;
  Fact<BitRate> shape;
  Fact<Share> shape_share;
};

struct Port {
  Profile own;
  Fact<std::string> profile;
  Fact<Bytes> mtu;
  Fact<bool> is_routed;
  Fact<bool> pause;
  Fact<bool> dcbx;
};

struct Mmu {
  Fact<Alpha> threshold;
  Fact<Bytes> headroom;
  Fact<Bytes> reserved;
  std::array<Fact<Alpha>, 8> egress;
};

struct Said {
  std::string hostname;
  std::array<Fact<TrafficClass>, 64> dscp;
  std::array<Fact<TrafficClass>, 8> cos;
  std::array<Fact<Queue>, 8> queues;
  std::array<std::optional<Dscp>, 8> rewrites{};
  Fact<bool> rewrite;
  std::map<std::string, Profile, std::less<>> profiles;
  std::map<std::string, Port, std::less<>> ports;
  std::map<std::string, evidence::SwitchInterface, std::less<>> interfaces;
  std::map<std::string, Mmu, std::less<>> mmus;
  std::string applied_mmu;
  Fact<bool> all_off;
  Fact<Duration> timeout;
  Fact<Duration> recovery;
  Fact<std::string> action;
  Fact<bool> lldp;
  Fact<bool> dynamic;
  Fact<bool> cut_through;
  evidence::Telemetry telemetry;
};

std::string action_word(const std::string& word) {
  if (word == "no-drop") return "forward";
  if (word == "notify-only") return "alert";
  return word;
}

class Reader {
 public:
  explicit Reader(std::string_view file) : file_(file) {}

  Status read(const Statement& statement) {
    source_ = fmt::format("{}:{}", file_, statement.line);
    is_interface_ = statement.words.front() == "interface";
    return read_statement(*this, rules(), statement, file_, unread_);
  }
  [[nodiscard]] Said take() { return std::move(said_); }
  [[nodiscard]] std::vector<Unread> unread() { return std::move(unread_); }

 private:
  template <class T>
  void set(Fact<T>& fact, T value) {
    fact = Fact<T>::of(std::move(value), source_);
  }
  static Error unsupported(std::string why) { return {ErrorCode::kUnsupported, std::move(why)}; }
  static bool is_port(std::string_view name) { return name.rfind("Ethernet", 0) == 0; }

  Profile& profile(const std::string& name) {
    return is_interface_ ? said_.ports[name].own : said_.profiles[name];
  }
  Result<evidence::EgressQueue*> queue(const Taken& t) {
    WEIR_TRY(q, read_number(t[1], 0, 7, "a queue"));
    const auto at = static_cast<std::size_t>(q);
    Profile& in = profile(t[0]);
    in.has_queue.at(at) = true;
    return &in.queues.at(at);
  }

  Status hostname(const Taken& t) {
    said_.hostname = t[0];
    return {};
  }

  // "26 27 to traffic-class 3 [drop-precedence 2]"
  template <std::size_t N>
  Status code_points(const std::string& tail, std::array<Fact<TrafficClass>, N>& map,
                     std::string_view what) {
    const std::size_t to = tail.find(" to ");
    if (to == std::string::npos)
      return parse_error(fmt::format("expected 'to traffic-class N', found '{}'", tail));
    const std::vector<std::string> target = words_of(tail.substr(to + 4));
    if (target.size() < 2 || target[0] != "traffic-class")
      return parse_error(fmt::format("expected 'to traffic-class N', found '{}'", tail));
    WEIR_TRY(codes, read_numbers(tail.substr(0, to), N, what));
    WEIR_TRY(tc, read_number(target[1], 0, 7, "a traffic class"));
    for (const unsigned c : codes)
      set(map.at(c), TrafficClass::of(static_cast<unsigned>(tc)));
    return {};
  }
  Status map_dscp(const Taken& t) { return code_points(t[0], said_.dscp, "a DSCP"); }
  Status map_cos(const Taken& t) { return code_points(t[0], said_.cos, "an 802.1p value"); }
  Status map_class(const Taken& t) {
    const std::size_t to = t[0].find(" to ");
    const std::vector<std::string> target =
        to == std::string::npos ? std::vector<std::string>() : words_of(t[0].substr(to + 4));
    if (target.size() < 2)
      return parse_error(fmt::format("expected 'to tx-queue N', found '{}'", t[0]));
    WEIR_TRY(classes, read_numbers(t[0].substr(0, to), 8, "a traffic class"));
    if (target[0] == "tx-queue" || target[0] == "uc-tx-queue") {
      WEIR_TRY(q, read_number(target[1], 0, 7, "a queue"));
      for (const unsigned c : classes)
        set(said_.queues.at(c), Queue::of(static_cast<unsigned>(q)));
      return {};
    }
    if (target[0] != "dscp") return unsupported("rewrites another field than the DSCP");
    WEIR_TRY(value, read_number(target[1], 0, 63, "a DSCP"));
    for (const unsigned c : classes)
      said_.rewrites.at(c) = Dscp::of(static_cast<unsigned>(value));
    return {};
  }
  Status rewrite(const Taken&) {
    set(said_.rewrite, true);
    return {};
  }

  // ---- profiles ----

  Status profile_head(const Taken& t) {
    profile(t[0]);
    return {};
  }
  Status trust(const Taken& t) {
    if (t[1] != "dscp" && t[1] != "cos")
      return parse_error(fmt::format("expected dscp or cos, found '{}'", t[1]));
    set(profile(t[0]).trust,
        t[1] == "dscp" ? evidence::TrustMode::kDscp : evidence::TrustMode::kPcp);
    return {};
  }
  Status no_trust(const Taken& t) {
    set(profile(t[0]).trust, evidence::TrustMode::kPort);
    return {};
  }
  Status queue_head(const Taken& t) {
    WEIR_TRY(unused, queue(t));
    static_cast<void>(unused);
    return {};
  }
  Status no_priority(const Taken& t) {
    WEIR_TRY(q, queue(t));
    set(q->scheduler, evidence::Scheduler::kWeighted);
    return {};
  }
  Status strict(const Taken& t) {
    WEIR_TRY(q, queue(t));
    set(q->scheduler, evidence::Scheduler::kStrict);
    return {};
  }
  Status bandwidth(const Taken& t) {
    WEIR_TRY(q, queue(t));
    WEIR_TRY(percent, read_number(t[2], 0, 100, "percent"));
    set(q->weight, static_cast<unsigned>(percent));
    return {};
  }
  Status queue_shape(const Taken& t) {
    WEIR_TRY(q, queue(t));
    if (t[3] == "percent") {
      WEIR_TRY(percent, read_number(t[2], 1, 100, "percent"));
      set(q->max_share, 1_percent * percent);
      return {};
    }
    WEIR_TRY(rate, read_rate(t[2], t[3]));
    set(q->max_rate, rate);
    return {};
  }
  Status port_shape(const Taken& t) {
    Profile& in = profile(t[0]);
    if (t[2] == "percent") {
      WEIR_TRY(percent, read_number(t[1], 1, 100, "percent"));
      set(in.shape_share, 1_percent * percent);
      return {};
    }
    WEIR_TRY(rate, read_rate(t[1], t[2]));
    set(in.shape, rate);
    return {};
  }

  /// "minimum-threshold 100 kbytes maximum-threshold … max-mark-probability 10 weight 0".
  Status detect(const Taken& t, bool marks) {
    WEIR_TRY(q, queue(t));
    set(q->ecn, marks);
    set(q->wred_drop, !marks);
    const std::vector<std::string> words = words_of(t[2]);
    std::optional<Error> unit;
    for (std::size_t i = 0; i < words.size();) {
      const bool is_threshold = words[i] == "minimum-threshold" || words[i] == "maximum-threshold";
      const std::size_t needs = is_threshold ? 2 : 1;
      if (i + needs >= words.size())
        return parse_error(
            fmt::format("expected a value after '{}', found the end of the line", words[i]));
      if (is_threshold) {
        const auto size = read_size(words[i + 1], words[i + 2]);
        if (!size && size.error().code != ErrorCode::kUnsupported) return size.error();
        if (!size) unit = size.error();
        if (size) set(words[i][1] == 'i' ? q->ecn_min : q->ecn_max, *size);
      } else if (words[i] == "max-mark-probability" || words[i] == "drop-probability") {
        WEIR_TRY(percent, read_number(words[i + 1], 1, 100, "percent"));
        set(q->ecn_probability, 1_percent * percent);
      } else if (words[i] == "weight") {
        WEIR_TRY(weight, read_number(words[i + 1], 0, 15, "a weight"));
        set(q->ecn_weight, static_cast<unsigned>(weight));
      } else if (words[i] != "drop-precedence") {
        return parse_error(
            fmt::format("expected minimum-threshold, maximum-threshold, a "
                        "probability or a weight, found '{}'",
                        words[i]));
      }
      i += needs + 1;
    }
    if (unit) return *unit;
    return {};
  }
  Status detect_ecn(const Taken& t) { return detect(t, true); }
  Status detect_drop(const Taken& t) { return detect(t, false); }

  Status pfc_on(const Taken& t) {
    set(profile(t[0]).pfc_on, true);
    return {};
  }
  Status pfc_priority(const Taken& t) {
    WEIR_TRY(p, read_number(t[1], 0, 7, "a priority"));
    if (t[2] != "no-drop" && t[2] != "drop")
      return parse_error(fmt::format("expected no-drop or drop, found '{}'", t[2]));
    set(profile(t[0]).no_drop.at(static_cast<std::size_t>(p)), t[2] == "no-drop");
    return {};
  }
  Status watchdog(const Taken& t) {
    set(profile(t[0]).watchdog, true);
    return {};
  }
  Status watchdog_action(const Taken& t) {
    set(profile(t[0]).action, action_word(t[1]));
    return {};
  }
  Status watchdog_timer(const Taken& t) {
    WEIR_TRY(timeout, read_seconds(t[1]));
    WEIR_TRY(recovery, read_seconds(t[3]));
    set(profile(t[0]).timeout, timeout);
    set(profile(t[0]).recovery, recovery);
    return {};
  }

  // ---- the box ----

  Status mmu_head(const Taken& t) {
    said_.mmus[t[0]];
    return {};
  }
  Status mmu_apply(const Taken& t) {
    said_.applied_mmu = t[0];
    return {};
  }
  Status mmu_threshold(const Taken& t) {
    WEIR_TRY(alpha, read_fraction(t[1]));
    set(said_.mmus[t[0]].threshold, alpha);
    return {};
  }
  Status mmu_headroom(const Taken& t) {
    WEIR_TRY(bytes, read_size(t[2], t[1]));
    set(said_.mmus[t[0]].headroom, bytes);
    return {};
  }
  Status mmu_reserved(const Taken& t) {
    WEIR_TRY(bytes, read_size(t[2], t[1]));
    set(said_.mmus[t[0]].reserved, bytes);
    return {};
  }
  Status mmu_egress(const Taken& t) {
    WEIR_TRY(q, read_number(t[1], 0, 7, "a queue"));
    WEIR_TRY(alpha, read_fraction(t[2]));
    set(said_.mmus[t[0]].egress.at(static_cast<std::size_t>(q)), alpha);
    return {};
  }
  Status no_unit(const Taken&) { return unsupported("bytes or cells is not said"); }
  Status default_timeout(const Taken& t) {
    WEIR_TRY(time, read_seconds(t[0]));
    set(said_.timeout, time);
    return {};
  }
  Status default_recovery(const Taken& t) {
    WEIR_TRY(time, read_seconds(t[0]));
    set(said_.recovery, time);
    return {};
  }
  Status default_polling(const Taken& t) {
    WEIR_TRY(unused, read_seconds(t[0]));
    static_cast<void>(unused);
    return {};
  }
  Status global_action(const Taken& t) {
    set(said_.action, action_word(t[0]));
    return {};
  }
  Status all_off(const Taken&) {
    set(said_.all_off, true);
    return {};
  }
  Status lldp_run(const Taken&) {
    set(said_.lldp, true);
    return {};
  }
  Status no_lldp(const Taken&) {
    set(said_.lldp, false);
    return {};
  }
  Status dynamic(const Taken&) {
    set(said_.dynamic, true);
    return {};
  }
  Status forwarding(const Taken& t) {
    set(said_.cut_through, t[0] == "cut-through");
    return {};
  }
  Status queue_monitor(const Taken&) {
    set(said_.telemetry.queue_monitor, true);
    return {};
  }
  Status ecn_counters(const Taken&) {
    set(said_.telemetry.ecn_counters, true);
    return {};
  }
  Status sflow(const Taken&) {
    set(said_.telemetry.sflow, true);
    return {};
  }
  Status interval(const Taken& t) {
    WEIR_TRY(seconds, read_number(t[0], 1, 3'600, "seconds"));
    set(said_.telemetry.interval, 1_s * seconds);
    return {};
  }
  Status gnmi(const Taken&) {
    set(said_.telemetry.gnmi, true);
    return {};
  }

  // ---- interfaces ----

  evidence::SwitchInterface* interface(const std::string& name) {
    const bool is_channel = name.rfind("Port-Channel", 0) == 0;
    if (!is_channel && name.rfind("Vlan", 0) != 0) return nullptr;
    evidence::SwitchInterface& one = said_.interfaces[name];
    one.name = name;
    one.kind = is_channel ? "port-channel" : "svi";
    return &one;
  }
  Status interface_head(const Taken& t) {
    if (is_port(t[0])) {
      said_.ports[t[0]];
    } else {
      interface(t[0]);
    }
    return {};
  }
  Status mtu(const Taken& t) {
    WEIR_TRY(bytes, read_number(t[1], 68, 9214, "an MTU"));
    if (is_port(t[0])) {
      set(said_.ports[t[0]].mtu, Bytes::raw(bytes));
    } else if (evidence::SwitchInterface* one = interface(t[0])) {
      set(one->mtu, Bytes::raw(bytes));
    }
    return {};
  }
  Status service_profile(const Taken& t) {
    set(said_.ports[t[0]].profile, t[1]);
    return {};
  }
  Status routed(const Taken& t) {
    set(said_.ports[t[0]].is_routed, true);
    return {};
  }
  Status pause(const Taken& t) {
    Port& port = said_.ports[t[0]];
    const bool is_on = t[2] == "on" || t[2] == "desired";
    set(port.pause, is_on || port.pause.is(true));
    return {};
  }
  Status dcbx(const Taken& t) {
    set(said_.ports[t[0]].dcbx, t[1] != "none");
    return {};
  }
  Status channel_member(const Taken& t) {
    said_.ports[t[0]];
    evidence::SwitchInterface& one = *interface("Port-Channel" + t[1]);
    std::vector<std::string> members =
        one.members.is_known() ? *one.members : std::vector<std::string>();
    members.push_back(t[0]);
    set(one.members, std::move(members));
    return {};
  }

  static void add_queue_rules(std::vector<Rule<Reader>>& rules, const std::string& owner,
                              const std::string& word) {
    const std::string at = owner + " | " + word + " *";
    rules.push_back({at, &Reader::queue_head});
    rules.push_back({at + " | no priority", &Reader::no_priority});
    rules.push_back({at + " | priority strict", &Reader::strict});
    rules.push_back({at + " | bandwidth percent *", &Reader::bandwidth});
    rules.push_back({at + " | bandwidth guaranteed percent *", &Reader::bandwidth});
    rules.push_back({at + " | shape rate * *", &Reader::queue_shape});
    rules.push_back({at + " | random-detect ecn count", nullptr});
    rules.push_back({at + " | random-detect ecn **", &Reader::detect_ecn});
    rules.push_back({at + " | random-detect drop **", &Reader::detect_drop});
  }
  static void add_owner_rules(std::vector<Rule<Reader>>& rules, const std::string& owner) {
    rules.push_back({owner + " | qos trust *", &Reader::trust});
    rules.push_back({owner + " | no qos trust", &Reader::no_trust});
    rules.push_back({owner + " | shape rate * *", &Reader::port_shape});
    add_queue_rules(rules, owner, "uc-tx-queue");
    add_queue_rules(rules, owner, "tx-queue");
    const std::string pfc = owner + " | priority-flow-control";
    rules.push_back({pfc + " on", &Reader::pfc_on});
    rules.push_back({pfc + " mode on", &Reader::pfc_on});
    rules.push_back({pfc + " priority * *", &Reader::pfc_priority});
    rules.push_back({pfc + " pause watchdog", &Reader::watchdog});
    rules.push_back({pfc + " pause watchdog port action *", &Reader::watchdog_action});
    const std::string timer =
        pfc + " pause watchdog port timer timeout * polling-interval * recovery-time *";
    rules.push_back({timer, &Reader::watchdog_timer});
    rules.push_back({timer + " forced", &Reader::watchdog_timer});
  }

  static const std::vector<Rule<Reader>>& rules();

  std::string_view file_;
  std::string source_;
  bool is_interface_ = false;
  Said said_;
  std::vector<Unread> unread_;
};

const std::vector<Rule<Reader>>& Reader::rules() {
  static const std::vector<Rule<Reader>> kRules = [] {
    const std::string mmu = "platform trident mmu queue profile *";
    std::vector<Rule<Reader>> all = {
        {"hostname *", &Reader::hostname},
        {"qos map dscp **", &Reader::map_dscp},
        {"qos map cos **", &Reader::map_cos},
        {"qos map traffic-class **", &Reader::map_class},
        {"qos rewrite dscp", &Reader::rewrite},
        {"qos profile *", &Reader::profile_head},
        {mmu, &Reader::mmu_head},
        {mmu + " apply", &Reader::mmu_apply},
        {mmu + " | ingress threshold *", &Reader::mmu_threshold},
        {mmu + " | ingress headroom * *", &Reader::mmu_headroom},
        {mmu + " | ingress headroom *", &Reader::no_unit},
        {mmu + " | ingress reserved * *", &Reader::mmu_reserved},
        {mmu + " | ingress reserved *", &Reader::no_unit},
        {mmu + " | egress unicast queue * threshold *", &Reader::mmu_egress},
        {"priority-flow-control pause watchdog default timeout *", &Reader::default_timeout},
        {"priority-flow-control pause watchdog default recovery-time *", &Reader::default_recovery},
        {"priority-flow-control pause watchdog default polling-interval *",
         &Reader::default_polling},
        {"priority-flow-control pause watchdog action *", &Reader::global_action},
        {"priority-flow-control all off", &Reader::all_off},
        {"lldp run", &Reader::lldp_run},
        {"no lldp run", &Reader::no_lldp},
        {"ip hardware fib load-balance distribution dynamic", &Reader::dynamic},
        {"switch forwarding-mode *", &Reader::forwarding},
        {"queue-monitor length", &Reader::queue_monitor},
        {"hardware counter feature ecn out", &Reader::ecn_counters},
        {"sflow run", &Reader::sflow},
        {"sflow polling-interval *", &Reader::interval},
        {"management api gnmi", &Reader::gnmi},
        {"management api gnmi | **", nullptr},
        {"interface *", &Reader::interface_head},
        {"interface * | mtu *", &Reader::mtu},
        {"interface * | service-profile *", &Reader::service_profile},
        {"interface * | no switchport", &Reader::routed},
        {"interface * | flowcontrol * *", &Reader::pause},
        {"interface * | dcbx mode *", &Reader::dcbx},
        {"interface * | channel-group * mode *", &Reader::channel_member},
        {"interface * | description **", nullptr},
        {"interface * | ip **", nullptr},
        {"interface * | ipv6 **", nullptr},
        {"interface * | vrf *", nullptr},
        {"interface * | speed *", nullptr},
        {"interface * | switchport", nullptr},
        {"interface * | switchport **", nullptr},
        {"interface * | no shutdown", nullptr},
        {"vlan *", nullptr},
        {"vrf instance *", nullptr},
        {"ip routing", nullptr},
        {"router bgp **", nullptr},
        {"end", nullptr},
    };
    add_owner_rules(all, "qos profile *");
    add_owner_rules(all, "interface *");
    return all;
  }();
  return kRules;
}

// ---- what that makes of the switch ----

class Builder {
 public:
  explicit Builder(const Said& said) : said_(said) {}

  evidence::Switch build() {
    const std::string by_default(kSource);
    out_.name = said_.hostname;
    out_.platform = known(std::string(vocab::names_of(vocab::SwitchSystem::kEos).name));
    set_maps();
    out_.load_balancing = said_.dynamic.is_known()
                              ? known(std::string("adaptive"), said_.dynamic.source())
                              : known(std::string("ecmp"), by_default);
    out_.cut_through = said_.cut_through;
    out_.lldp = said_.lldp.is_known() ? said_.lldp : known(true, by_default);
    out_.telemetry = said_.telemetry;
    for (Fact<bool>* fact : {&out_.telemetry.gnmi, &out_.telemetry.sflow,
                             &out_.telemetry.queue_monitor, &out_.telemetry.ecn_counters})
      if (!fact->is_known()) *fact = known(false, by_default);
    out_.watchdog.enabled = known(false, by_default);
    out_.watchdog.action =
        said_.action.is_known() ? said_.action : known(std::string("errdisable"), by_default);
    out_.watchdog.detection = said_.timeout;
    out_.watchdog.restoration = said_.recovery;
    for (const auto& [name, port] : said_.ports)
      add_port(name, port);
    set_groups_of_classes();
    for (const auto& [name, one] : said_.interfaces)
      interface_named(out_, name, one.kind) = one;
    return std::move(out_);
  }

 private:
  template <std::size_t N>
  static auto map_of(const std::array<Fact<TrafficClass>, N>& said, unsigned step) {
    std::array<std::optional<TrafficClass>, N> map{};
    std::string source(kSource);
    for (unsigned c = 0; c < N; ++c) {
      map.at(c) = said.at(c).is_known() ? *said.at(c) : TrafficClass::of(default_class(c / step));
      if (said.at(c).is_known()) source = said.at(c).source();
    }
    return known(map, source);
  }

  void set_maps() {
    out_.dscp_to_tc = map_of(said_.dscp, 8);
    out_.pcp_to_tc = map_of(said_.cos, 1);
    std::array<Queue, 8> queues{};
    std::string source(kSource);
    for (unsigned c = 0; c < 8; ++c) {
      queues.at(c) = said_.queues.at(c).is_known() ? *said_.queues.at(c) : Queue::of(c);
      if (said_.queues.at(c).is_known()) source = said_.queues.at(c).source();
    }
    out_.tc_to_queue = known(queues, source);
    out_.pfc_to_queue = known(queues, source);
    out_.tc_to_dscp =
        known(said_.rewrite.is(true) ? said_.rewrites : std::array<std::optional<Dscp>, 8>{},
              said_.rewrite.is_known() ? said_.rewrite.source() : std::string(kSource));
  }

  /// Each lossless class has a priority group of its own; all others share one.
  void set_groups_of_classes() {
    std::array<PriorityGroup, 8> groups{};
    for (const evidence::SwitchPort& port : out_.ports)
      for (unsigned p = 0; p < 8; ++p)
        if (port.pfc.is_known() && port.pfc->contains(Priority::of(p)))
          groups.at(p) = PriorityGroup::of(p);
    out_.tc_to_group = known(groups, std::string(kSource));
  }

  [[nodiscard]] const Profile* profile_of(const Port& port) const {
    if (!port.profile.is_known()) return nullptr;
    const auto found = said_.profiles.find(*port.profile);
    return found == said_.profiles.end() ? nullptr : &found->second;
  }

  /// The interface's own word before its profile's.
  template <class Member>
  static auto said_of(const Port& port, const Profile* profile, Member member) {
    return (port.own.*member).is_known() || profile == nullptr ? port.own.*member
                                                               : profile->*member;
  }

  void set_pfc(const Port& from, const Profile* profile, evidence::SwitchPort& port) {
    const Fact<bool> is_on = said_of(from, profile, &Profile::pfc_on);
    PrioritySet set;
    for (std::size_t p = 0; p < 8; ++p) {
      const Fact<bool>& own = from.own.no_drop.at(p);
      const bool no_drop =
          own.is_known() ? *own : profile != nullptr && profile->no_drop.at(p).is(true);
      if (no_drop && is_on.is(true)) set.insert(Priority::of(static_cast<unsigned>(p)));
    }
    std::string source = is_on.is_known() ? is_on.source() : std::string(kSource);
    if (said_.all_off.is(true)) {
      set = {};
      source = said_.all_off.source();
    }
    port.pfc = known(set, source);
  }

  void set_watchdog(const Port& from, const Profile* profile, evidence::SwitchPort& port) {
    const std::string by_default(kSource);
    const Fact<bool> watchdog = said_of(from, profile, &Profile::watchdog);
    port.watchdog = watchdog.is_known() ? watchdog : known(false, by_default);
    if (!watchdog.is(true)) return;
    out_.watchdog.enabled = watchdog;
    const auto action = said_of(from, profile, &Profile::action);
    if (action.is_known()) out_.watchdog.action = action;
    const auto timeout = said_of(from, profile, &Profile::timeout);
    const auto recovery = said_of(from, profile, &Profile::recovery);
    if (timeout.is_known()) out_.watchdog.detection = timeout;
    if (recovery.is_known()) out_.watchdog.restoration = recovery;
  }

  void add_port(const std::string& name, const Port& from) {
    const std::string by_default(kSource);
    const Profile* profile = profile_of(from);
    const bool is_undefined = from.profile.is_known() && profile == nullptr;
    evidence::SwitchPort port;
    port.name = name;
    port.mtu = from.mtu.is_known() ? from.mtu : known(kDefaultMtu, by_default);
    const auto trust = said_of(from, profile, &Profile::trust);
    // Routed ports trust the DSCP, switched ones the tag.
    port.trust = trust.is_known() ? trust
                                  : known(from.is_routed.is(true) ? evidence::TrustMode::kDscp
                                                                  : evidence::TrustMode::kPcp,
                                          by_default);
    set_pfc(from, profile, port);
    if (is_undefined) port.pfc = Fact<PrioritySet>::missing(Missing::kError, from.profile.source());
    port.pfc_negotiated = known(false, by_default);
    port.global_pause = from.pause.is_known() ? from.pause : known(false, by_default);
    set_watchdog(from, profile, port);
    port.rewrites_dscp = said_.rewrite.is_known() ? said_.rewrite : known(false, by_default);
    const auto shape = said_of(from, profile, &Profile::shape);
    port.max_rate = shape.is_known() ? shape : known(BitRate(), by_default);
    port.max_share = said_of(from, profile, &Profile::shape_share);
    if (port.max_share.is_known()) port.max_rate = {};
    port.lldp = out_.lldp;
    port.dcbx = from.dcbx.is_known() ? from.dcbx : known(false, by_default);
    if (port.pfc.is_known()) set_groups(port);
    set_queues(from, profile, port);
    port_named(out_, name) = std::move(port);
  }

  [[nodiscard]] const Mmu* mmu() const {
    const auto found = said_.mmus.find(said_.applied_mmu);
    return found == said_.mmus.end() ? nullptr : &found->second;
  }

  void set_groups(evidence::SwitchPort& port) {
    for (unsigned p = 0; p < 8; ++p) {
      if (!port.pfc->contains(Priority::of(p))) continue;
      evidence::GroupBuffer& group = group_at(port, PriorityGroup::of(p));
      group.lossless = known(true, port.pfc.source());
      const bool by_hand = mmu() != nullptr && mmu()->headroom.is_known();
      group.headroom_auto =
          known(!by_hand, by_hand ? mmu()->headroom.source() : std::string(kSource));
      if (mmu() == nullptr) continue;
      group.headroom = mmu()->headroom;
      group.alpha = mmu()->threshold;
      group.reserved = mmu()->reserved;
    }
  }

  void set_queues(const Port& from, const Profile* profile, evidence::SwitchPort& port) {
    const std::string by_default(kSource);
    for (unsigned q = 0; q < 8; ++q) {
      const bool has_own = from.own.has_queue.at(q);
      const bool has_profiled = profile != nullptr && profile->has_queue.at(q);
      if (!has_own && !has_profiled) continue;
      evidence::EgressQueue queue = has_profiled ? profile->queues.at(q) : from.own.queues.at(q);
      if (has_own && has_profiled) overlay(from.own.queues.at(q), queue);
      queue.queue = Queue::of(q);
      if (!queue.ecn.is_known()) queue.ecn = known(false, by_default);
      if (!queue.wred_drop.is_known()) queue.wred_drop = known(false, by_default);
      if (!queue.max_rate.is_known() && !queue.max_share.is_known())
        queue.max_rate = known(BitRate(), by_default);
      if (mmu() != nullptr) queue.alpha = mmu()->egress.at(q);
      settle_queue(queue);
      queue_at(port, queue.queue) = std::move(queue);
    }
  }

  static void overlay(const evidence::EgressQueue& own, evidence::EgressQueue& queue) {
    const auto take = [](const auto& from, auto& to) {
      if (from.is_known()) to = from;
    };
    take(own.ecn, queue.ecn);
    take(own.wred_drop, queue.wred_drop);
    take(own.ecn_min, queue.ecn_min);
    take(own.ecn_max, queue.ecn_max);
    take(own.ecn_probability, queue.ecn_probability);
    take(own.ecn_weight, queue.ecn_weight);
    take(own.scheduler, queue.scheduler);
    take(own.weight, queue.weight);
    take(own.max_rate, queue.max_rate);
    take(own.max_share, queue.max_share);
  }

  const Said& said_;
  evidence::Switch out_;
};

}  // namespace

bool looks_like(std::string_view text) {
  for (const std::string_view raw : split(text, '\n')) {
    for (const std::string_view sign :
         {"qos profile ", "qos map dscp ", "qos map traffic-class ", "platform trident mmu",
          "priority-flow-control pause watchdog", "   service-profile ", "   uc-tx-queue "})
      if (raw.rfind(sign, 0) == 0) return true;
  }
  return false;
}

Result<Parsed> parse(std::string_view text, std::string_view file) {
  Parsed parsed;
  Reader reader(file);
  for (const Statement& statement : indented_statements(text))
    WEIR_TRY_STATUS(reader.read(statement));
  parsed.unread = reader.unread();
  const Said said = reader.take();
  parsed.state = Builder(said).build();
  return parsed;
}

}  // namespace weir::platforms::eos_cli

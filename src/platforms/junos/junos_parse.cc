// A Junos configuration, read back: statements are collected by a table of patterns, then put
// together, because Junos lets them come in any order.
#include <algorithm>
#include <limits>
#include <map>
#include <set>

#include <fmt/format.h>

#include "base/text.h"
#include "platforms/common/lower_common.h"
#include "platforms/junos/junos.h"
#include "platforms/junos/junos_text.h"
#include "units/dscp_name.h"
#include "units/format.h"

namespace weir::platforms {
namespace {

using evidence::EgressQueue;
using evidence::Fact;
using evidence::GroupBuffer;
using evidence::Missing;
using evidence::SwitchPort;

constexpr std::string_view kDefault = "default of Junos";

template <class T>
Fact<T> by_default(T value) {
  return Fact<T>::of(std::move(value), std::string(kDefault));
}

/// A value and the line it stands on.
template <class T>
struct At {
  T value{};
  int line = 0;  // 0: not said
  [[nodiscard]] bool is_said() const { return line != 0; }
};

struct Classifier {
  bool imports_default = false;
  int line = 0;
  std::map<unsigned, At<std::string>> classes;  // by code point
};
struct DropProfile {
  int line = 0;
  std::vector<unsigned> fill;
  std::vector<unsigned> probability;
};
struct Partition {
  At<unsigned> percent;
  At<int> threshold;
};
struct PauseProfile {
  int line = 0;
  bool has_watchdog = false;
  At<unsigned> poll, detection, recovery;
  At<std::string> action;
  At<Length> cable;
  std::map<unsigned, int> dscp, pcp;         // code point, line
  std::map<unsigned, At<unsigned>> answers;  // priority, queue
};
struct SchedulerText {
  At<unsigned> percent, shaping_percent;
  At<BitRate> shaping;
  At<std::string> priority, drop_profile;
  At<bool> ecn;
  At<int> threshold;
};
struct Binding {
  At<Bytes> mtu;
  At<bool> flow_control, is_disabled;
  At<std::string> pause, map, dscp, pcp, rewrite;
  At<BitRate> shaping;
};

class Reader {
 public:
  explicit Reader(std::string_view file) : file_(file) {}

  Result<Parsed> read(std::string_view text);

 private:
  // ---- collecting ----

  template <class T>
  [[nodiscard]] At<T> here(T value) const {
    return {std::move(value), line_};
  }
  Status take_name(const Taken& t) {
    out_.state.name = t[0];
    return {};
  }
  Status take_version(const Taken& t) {
    out_.state.version = Fact<std::string>::of(t[0], at(line_));
    return {};
  }
  JunosClass& class_named(const std::string& name) {
    for (JunosClass& one : classes_)
      if (one.name == name) return one;
    classes_.emplace_back().name = name;
    class_line_[name] = line_;
    return classes_.back();
  }
  Status take_queue(const Taken& t) {
    WEIR_TRY(queue, read_number(t[1], 0, 11, "a queue"));
    class_named(t[0]).queue = static_cast<unsigned>(queue);
    return {};
  }
  Status take_queue_class(const Taken& t) { return take_queue({t[1], t[0]}); }
  Status take_no_loss(const Taken& t) {
    class_named(t[0]).is_lossless = true;
    return {};
  }
  Status take_pfc_priority(const Taken& t) {
    WEIR_TRY(priority, read_number(t[1], 0, 7, "a priority"));
    class_named(t[0]).pfc_priority = static_cast<unsigned>(priority);
    return {};
  }

  /// As `show configuration` prints a class: all of it in one line.
  Status take_class(const Taken& t) {
    WEIR_TRY_STATUS(take_queue(t));
    return take_no_loss(t);
  }
  Status take_whole_class(const Taken& t) {
    WEIR_TRY_STATUS(take_class(t));
    return take_pfc_priority({t[0], t[2]});
  }

  static Result<unsigned> code_point(const std::string& word, std::size_t bits) {
    if (word.size() == bits && word.find_first_not_of("01") == std::string::npos) {
      unsigned value = 0;
      for (const char c : word)
        value = value * 2 + (c == '1' ? 1U : 0U);
      return value;
    }
    const bool is_nc = bits == 6 && (word == "nc1" || word == "nc2");
    if (is_nc) return word == "nc1" ? 48U : 56U;
    if (bits == 6)
      if (const auto named = dscp_named(word)) return named->value();
    return parse_error(fmt::format("expected {} bits such as {}, found '{}'", bits,
                                   bits == 6 ? "011010" : "011", word));
  }
  Status take_import(const Taken& t, std::map<std::string, Classifier>& kind) {
    kind[t[0]].imports_default = t[1] == "default";
    kind[t[0]].line = line_;
    if (t[1] == "default") return {};
    return Error{ErrorCode::kUnsupported, "imports another classifier"};
  }
  Status take_point(const Taken& t, std::map<std::string, Classifier>& kind, std::size_t bits) {
    WEIR_TRY(point, code_point(t[3], bits));
    Classifier& classifier = kind[t[0]];
    if (classifier.line == 0) classifier.line = line_;
    classifier.classes[point] = here(t[1]);
    return {};
  }
  Status take_dscp_import(const Taken& t) { return take_import(t, dscp_); }
  Status take_dscp_point(const Taken& t) { return take_point(t, dscp_, 6); }
  Status take_pcp_import(const Taken& t) { return take_import(t, pcp_); }
  Status take_pcp_point(const Taken& t) { return take_point(t, pcp_, 3); }
  Status take_rewrite(const Taken& t) {
    WEIR_TRY(point, code_point(t[3], 6));
    rewrites_[t[0]][t[1]] = here(point);
    return {};
  }
  Status take_fill(const Taken& t) {
    WEIR_TRY(percent, read_number(t[1], 0, 100, "a fill level in percent"));
    drop(t[0]).fill.push_back(static_cast<unsigned>(percent));
    return {};
  }
  Status take_probability(const Taken& t) {
    WEIR_TRY(percent, read_number(t[1], 0, 100, "a probability in percent"));
    drop(t[0]).probability.push_back(static_cast<unsigned>(percent));
    return {};
  }
  Status take_step(const Taken& t) {
    WEIR_TRY_STATUS(take_fill({t[0], t[1]}));
    return take_probability({t[0], t[2]});
  }
  DropProfile& drop(const std::string& name) {
    DropProfile& out = drops_[name];
    if (out.line == 0) out.line = line_;
    return out;
  }
  Status take_percent(const Taken& t) {
    WEIR_TRY(percent, read_number(t[2], 0, 100, "a share in percent"));
    partitions_[t[0] + " " + t[1]].percent = here(static_cast<unsigned>(percent));
    return {};
  }
  Status take_threshold(const Taken& t) {
    WEIR_TRY(threshold, read_number(t[2], 0, 10, "a dynamic threshold"));
    partitions_[t[0] + " " + t[1]].threshold = here(static_cast<int>(threshold));
    return {};
  }

  PauseProfile& pause(const std::string& name) {
    PauseProfile& out = pauses_[name];
    if (out.line == 0) out.line = line_;
    return out;
  }
  Status take_watchdog(const Taken& t) {
    pause(t[0]).has_watchdog = true;
    return {};
  }
  Status take_poll(const Taken& t) {
    WEIR_TRY(poll, read_number(t[1], 1, 65'535, "milliseconds"));
    pause(t[0]).poll = here(static_cast<unsigned>(poll));
    return take_watchdog(t);
  }
  Status take_detection(const Taken& t) {
    WEIR_TRY(polls, read_number(t[1], 1, 65'535, "a number of polls"));
    pause(t[0]).detection = here(static_cast<unsigned>(polls));
    return take_watchdog(t);
  }
  Status take_recovery(const Taken& t) {
    WEIR_TRY(time, read_number(t[1], 1, 65'535, "milliseconds"));
    pause(t[0]).recovery = here(static_cast<unsigned>(time));
    return take_watchdog(t);
  }
  Status take_action(const Taken& t) {
    if (t[1] != "drop" && t[1] != "forward")
      return parse_error(fmt::format("expected drop or forward, found '{}'", t[1]));
    pause(t[0]).action = here(t[1]);
    return take_watchdog(t);
  }
  Status take_cable(const Taken& t) {
    WEIR_TRY(metres, read_number(t[1], 0, 100'000, "a cable length in metres"));
    pause(t[0]).cable = here(1_m * metres);
    return {};
  }
  Status take_dscp_pause(const Taken& t) {
    WEIR_TRY(point, code_point(t[1], 6));
    pause(t[0]).dscp.emplace(point, line_);
    return {};
  }
  Status take_pcp_pause(const Taken& t) {
    WEIR_TRY(point, code_point(t[1], 3));
    pause(t[0]).pcp.emplace(point, line_);
    return {};
  }
  Status take_mru(const Taken& t) {
    WEIR_TRY(mru, read_number(t[2], 64, 65'535, "bytes"));
    (void)mru;
    return {};
  }
  Status take_answer(const Taken& t) {
    WEIR_TRY(priority, code_point(t[1], 3));
    WEIR_TRY(queue, read_number(t[2], 0, 7, "a queue"));
    pause(t[0]).answers[priority] = here(static_cast<unsigned>(queue));
    return {};
  }

  Status take_rate(const Taken& t) {
    WEIR_TRY(percent, read_number(t[1], 0, 100, "a share in percent"));
    schedulers_[t[0]].percent = here(static_cast<unsigned>(percent));
    return {};
  }
  Status take_shaping_percent(const Taken& t) {
    WEIR_TRY(percent, read_number(t[1], 1, 100, "a share in percent"));
    schedulers_[t[0]].shaping_percent = here(static_cast<unsigned>(percent));
    return {};
  }
  Status take_shaping(const Taken& t) {
    WEIR_TRY(rate, bits(t[1]));
    schedulers_[t[0]].shaping = here(rate);
    return {};
  }
  Status take_priority(const Taken& t) {
    schedulers_[t[0]].priority = here(t[1]);
    return {};
  }
  Status take_drop_map(const Taken& t) {
    schedulers_[t[0]].drop_profile = here(t[3]);
    return {};
  }
  Status take_ecn(const Taken& t) {
    schedulers_[t[0]].ecn = here(true);
    return {};
  }
  Status take_queue_threshold(const Taken& t) {
    WEIR_TRY(threshold, read_number(t[1], 0, 10, "a dynamic threshold"));
    schedulers_[t[0]].threshold = here(static_cast<int>(threshold));
    return {};
  }
  Status take_map(const Taken& t) {
    maps_[t[0]][t[1]] = here(t[2]);
    return {};
  }
  /// "400g", "10m", "64k", "5000".
  static Result<BitRate> bits(const std::string& word) {
    std::string_view digits = word;
    std::int64_t unit = 1;
    const char last = digits.empty() ? '0' : digits.back();
    if (last == 'k') unit = 1'000;
    if (last == 'm') unit = 1'000'000;
    if (last == 'g') unit = 1'000'000'000;
    if (unit != 1) digits.remove_suffix(1);
    WEIR_TRY(number, read_number(digits, 0, std::numeric_limits<std::int64_t>::max() / 8 / unit,
                                 "bits a second"));
    return BitRate::raw(number * unit);
  }

  Binding& binding(const std::string& name) {
    if (std::find(order_.begin(), order_.end(), name) == order_.end()) order_.push_back(name);
    return bindings_[name];
  }
  static Status wildcard(const std::string& name) {
    if (name.find('*') == std::string::npos) return {};
    return Error{ErrorCode::kUnsupported, "a pattern of interfaces"};
  }
  template <class T>
  Status bind(const Taken& t, At<T> Binding::*member, T value) {
    WEIR_TRY_STATUS(wildcard(t[0]));
    binding(t[0]).*member = here(std::move(value));
    return {};
  }
  Status take_mtu(const Taken& t) {
    WEIR_TRY(mtu, read_number(t[1], 256, 16'000, "an MTU in bytes"));
    return bind(t, &Binding::mtu, Bytes::raw(mtu));
  }
  Status take_flow_control(const Taken& t) { return bind(t, &Binding::flow_control, true); }
  Status take_no_flow_control(const Taken& t) { return bind(t, &Binding::flow_control, false); }
  Status take_disable(const Taken& t) { return bind(t, &Binding::is_disabled, true); }
  Status take_interface(const Taken& t) {
    if (t[0].find('*') == std::string::npos && t[0] != "irb" && !t[0].starts_with("lo") &&
        !t[0].starts_with("em") && !t[0].starts_with("fxp") && !t[0].starts_with("re"))
      (void)binding(t[0]);
    return {};
  }
  Status take_pause(const Taken& t) { return bind(t, &Binding::pause, t[1]); }
  Status take_scheduler_map(const Taken& t) { return bind(t, &Binding::map, t[1]); }
  Status take_port_shaping(const Taken& t) {
    WEIR_TRY(rate, bits(t[1]));
    return bind(t, &Binding::shaping, rate);
  }
  Status take_dscp(const Taken& t) { return bind(t, &Binding::dscp, t[2]); }
  Status take_dscp_port(const Taken& t) { return bind(t, &Binding::dscp, t[1]); }
  Status take_pcp(const Taken& t) { return bind(t, &Binding::pcp, t[2]); }
  Status take_rewrite_rule(const Taken& t) { return bind(t, &Binding::rewrite, t[2]); }

  Status take_irb(const Taken& t) {
    WEIR_TRY(mtu, read_number(t[1], 256, 16'000, "an MTU in bytes"));
    interface_named(out_.state, "irb." + t[0], "svi").mtu =
        Fact<Bytes>::of(Bytes::raw(mtu), at(line_));
    return {};
  }
  template <class T>
  Status say(Fact<T>& fact, T value) {
    fact = Fact<T>::of(std::move(value), at(line_));
    return {};
  }
  Status take_lldp(const Taken&) { return say(out_.state.lldp, true); }
  Status take_dcbx(const Taken&) {
    has_dcbx_ = line_;
    return {};
  }
  Status take_seed(const Taken& t) {
    WEIR_TRY(seed, read_number(t[0], 0, std::numeric_limits<std::uint32_t>::max(), "a seed"));
    return say(out_.state.ecmp_seed, static_cast<unsigned>(seed));
  }
  Status take_flowlet(const Taken&) {
    return say(out_.state.load_balancing, std::string("adaptive"));
  }
  Status take_per_packet(const Taken&) {
    return say(out_.state.load_balancing, std::string("spray"));
  }
  Status take_cut_through(const Taken&) { return say(out_.state.cut_through, true); }
  Status take_monitor(const Taken&) { return say(out_.state.telemetry.queue_monitor, true); }
  Status take_sflow(const Taken&) { return say(out_.state.telemetry.sflow, true); }
  Status take_sflow_poll(const Taken& t) {
    WEIR_TRY(seconds, read_number(t[0], 0, 3600, "seconds"));
    return say(out_.state.telemetry.interval, 1_s * seconds);
  }
  Status take_grpc(const Taken&) { return say(out_.state.telemetry.gnmi, true); }

  static std::vector<Rule<Reader>> class_rules();  // classes, maps, buffers, pauses
  static std::vector<Rule<Reader>> port_rules();   // schedulers, ports and the rest
  static const std::vector<Rule<Reader>>& rules();

  // ---- putting together ----

  [[nodiscard]] std::string at(int line) const { return fmt::format("{}:{}", file_, line); }
  template <class T>
  [[nodiscard]] Fact<T> fact(T value, int line) const {
    return Fact<T>::of(std::move(value), at(line));
  }
  void list(int line, const std::string& why) {
    for (const Unread& one : out_.unread)
      if (one.line == line && one.why == why) return;
    const auto text = texts_.find(line);
    out_.unread.push_back({line, text == texts_.end() ? "" : text->second, why});
  }
  [[nodiscard]] const JunosClass* find_class(const std::string& name) const {
    for (const JunosClass& one : classes_)
      if (one.name == name) return &one;
    return nullptr;
  }
  /// A definition by the name that a statement gives; one that is not there is listed.
  template <class Map>
  const typename Map::mapped_type* defined(const Map& map, const At<std::string>& name,
                                           std::string_view what) {
    if (!name.is_said()) return nullptr;
    const auto found = map.find(name.value);
    if (found != map.end()) return &found->second;
    list(name.line, fmt::format("names {} {}, which is not in the file", what, name.value));
    return nullptr;
  }

  void resolve();
  void resolve_classes();
  void resolve_pools();
  void resolve_port(const std::string& name, const Binding& binding);
  template <std::size_t N>
  void resolve_classifier(const At<std::string>& name,
                          const std::map<std::string, Classifier>& kind, std::string& bound,
                          Fact<std::array<std::optional<TrafficClass>, N>>& map, SwitchPort& port);
  std::optional<TrafficClass> default_class(unsigned code_point, std::size_t points);
  void resolve_rewrite(const At<std::string>& name, SwitchPort& port);
  void resolve_pause(const Binding& binding, SwitchPort& port);
  PrioritySet paused_by(const PauseProfile& profile, const Binding& binding);
  void resolve_watchdog(const PauseProfile& profile, SwitchPort& port);
  void resolve_groups(SwitchPort& port);
  void resolve_queues(const Binding& binding, SwitchPort& port);
  void resolve_queue(const SchedulerText& scheduler, EgressQueue& queue);
  [[nodiscard]] std::optional<Fact<Alpha>> alpha_of(const std::string& partition) const;

  std::string file_;
  int line_ = 0;
  Parsed out_;
  std::map<int, std::string> texts_;
  std::vector<JunosClass> classes_;
  std::map<std::string, int> class_line_;
  std::map<std::string, Classifier> dscp_, pcp_;
  std::map<std::string, std::map<std::string, At<unsigned>>> rewrites_;
  std::map<std::string, DropProfile> drops_;
  std::map<std::string, Partition> partitions_;
  std::map<std::string, PauseProfile> pauses_;
  std::map<std::string, SchedulerText> schedulers_;
  std::map<std::string, std::map<std::string, At<std::string>>> maps_;
  std::vector<std::string> order_;
  std::map<std::string, Binding> bindings_;
  std::string bound_dscp_, bound_pcp_, bound_rewrite_;
  int has_dcbx_ = 0;
  bool lacks_watchdog_ = false;
  bool has_watchdog_ = false;
};

std::vector<Rule<Reader>> Reader::class_rules() {
  return {
      {"system host-name *", &Reader::take_name},
      {"version *", &Reader::take_version},
      {"class-of-service forwarding-classes class * queue-num *", &Reader::take_queue},
      {"class-of-service forwarding-classes class * queue-num * no-loss", &Reader::take_class},
      {"class-of-service forwarding-classes class * queue-num * no-loss pfc-priority *",
       &Reader::take_whole_class},
      {"class-of-service forwarding-classes queue * *", &Reader::take_queue_class},
      {"class-of-service forwarding-classes class * no-loss", &Reader::take_no_loss},
      {"class-of-service forwarding-classes class * pfc-priority *", &Reader::take_pfc_priority},
      {"class-of-service classifiers dscp * import *", &Reader::take_dscp_import},
      {"class-of-service classifiers dscp * forwarding-class * loss-priority * code-points *",
       &Reader::take_dscp_point},
      {"class-of-service classifiers ieee-802.1 * import *", &Reader::take_pcp_import},
      {"class-of-service classifiers ieee-802.1 * forwarding-class * loss-priority * code-points *",
       &Reader::take_pcp_point},
      {"class-of-service rewrite-rules dscp * forwarding-class * loss-priority * code-point *",
       &Reader::take_rewrite},
      {"class-of-service drop-profiles * interpolate fill-level *", &Reader::take_fill},
      {"class-of-service drop-profiles * interpolate drop-probability *",
       &Reader::take_probability},
      {"class-of-service drop-profiles * fill-level * drop-probability *", &Reader::take_step},
      {"class-of-service shared-buffer * buffer-partition * percent *", &Reader::take_percent},
      {"class-of-service shared-buffer * buffer-partition * dynamic-threshold *",
       &Reader::take_threshold},
      {"class-of-service dedicated-buffer ingress percent *", nullptr},
      {"class-of-service dedicated-buffer egress percent *", nullptr},
      {"class-of-service congestion-notification-profile * pfc-watchdog poll-interval *",
       &Reader::take_poll},
      {"class-of-service congestion-notification-profile * pfc-watchdog detection *",
       &Reader::take_detection},
      {"class-of-service congestion-notification-profile * pfc-watchdog recovery *",
       &Reader::take_recovery},
      {"class-of-service congestion-notification-profile * pfc-watchdog watchdog-action *",
       &Reader::take_action},
      {"class-of-service congestion-notification-profile * pfc-watchdog", &Reader::take_watchdog},
      {"class-of-service congestion-notification-profile * input cable-length *",
       &Reader::take_cable},
      {"class-of-service congestion-notification-profile * input dscp code-point * pfc",
       &Reader::take_dscp_pause},
      {"class-of-service congestion-notification-profile * input dscp code-point * mru *",
       &Reader::take_mru},
      {"class-of-service congestion-notification-profile * input dscp code-point * xon *", nullptr},
      {"class-of-service congestion-notification-profile * input ieee-802.1 code-point * pfc",
       &Reader::take_pcp_pause},
      {"class-of-service congestion-notification-profile * input ieee-802.1 code-point * mru *",
       &Reader::take_mru},
      {"class-of-service congestion-notification-profile * output ieee-802.1 code-point * "
       "flow-control-queue *",
       &Reader::take_answer},
  };
}

std::vector<Rule<Reader>> Reader::port_rules() {
  return {
      {"class-of-service schedulers * transmit-rate percent *", &Reader::take_rate},
      {"class-of-service schedulers * shaping-rate percent *", &Reader::take_shaping_percent},
      {"class-of-service schedulers * shaping-rate *", &Reader::take_shaping},
      {"class-of-service schedulers * priority *", &Reader::take_priority},
      {"class-of-service schedulers * drop-profile-map loss-priority * protocol * drop-profile *",
       &Reader::take_drop_map},
      {"class-of-service schedulers * explicit-congestion-notification", &Reader::take_ecn},
      {"class-of-service schedulers * buffer-dynamic-threshold *", &Reader::take_queue_threshold},
      {"class-of-service schedulers * buffer-size **", nullptr},
      {"class-of-service scheduler-maps * forwarding-class * scheduler *", &Reader::take_map},
      {"class-of-service interfaces * congestion-notification-profile *", &Reader::take_pause},
      {"class-of-service interfaces * scheduler-map *", &Reader::take_scheduler_map},
      {"class-of-service interfaces * shaping-rate *", &Reader::take_port_shaping},
      {"class-of-service interfaces * unit * classifiers dscp *", &Reader::take_dscp},
      {"class-of-service interfaces * classifiers dscp *", &Reader::take_dscp_port},
      {"class-of-service interfaces * unit * classifiers ieee-802.1 *", &Reader::take_pcp},
      {"class-of-service interfaces * unit * rewrite-rules dscp *", &Reader::take_rewrite_rule},
      {"interfaces irb unit * family inet mtu *", &Reader::take_irb},
      {"interfaces * mtu *", &Reader::take_mtu},
      {"interfaces * ether-options flow-control", &Reader::take_flow_control},
      {"interfaces * ether-options no-flow-control", &Reader::take_no_flow_control},
      {"interfaces * disable", &Reader::take_disable},
      {"interfaces * description **", &Reader::take_interface},
      {"interfaces * unit **", &Reader::take_interface},
      {"interfaces * speed *", &Reader::take_interface},
      {"protocols lldp interface all", &Reader::take_lldp},
      {"protocols dcbx interface all", &Reader::take_dcbx},
      {"protocols sflow polling-interval *", &Reader::take_sflow_poll},
      {"protocols sflow interfaces *", &Reader::take_sflow},
      {"forwarding-options enhanced-hash-key hash-seed *", &Reader::take_seed},
      {"forwarding-options enhanced-hash-key ecmp-dlb flowlet", &Reader::take_flowlet},
      {"forwarding-options enhanced-hash-key ecmp-dlb flowlet **", &Reader::take_flowlet},
      {"forwarding-options enhanced-hash-key ecmp-dlb per-packet", &Reader::take_per_packet},
      {"forwarding-options cut-through", &Reader::take_cut_through},
      {"chassis fpc * traffic-manager buffer-monitor-enable", &Reader::take_monitor},
      {"system services extension-service request-response grpc **", &Reader::take_grpc},
  };
}

const std::vector<Rule<Reader>>& Reader::rules() {
  static const std::vector<Rule<Reader>> kRules = [] {
    std::vector<Rule<Reader>> all = class_rules();
    const std::vector<Rule<Reader>> others = port_rules();
    all.insert(all.end(), others.begin(), others.end());
    return all;
  }();
  return kRules;
}

Result<Parsed> Reader::read(std::string_view text) {
  WEIR_TRY(statements, junos_statements(text, file_, out_.unread));
  const auto& all = rules();
  for (const Statement& statement : statements) {
    line_ = statement.line;
    texts_.emplace(statement.line, statement.text);
    WEIR_TRY_STATUS(read_statement(*this, all, statement, file_, out_.unread));
  }
  out_.state.platform =
      Fact<std::string>::of(std::string(vocab::names_of(vocab::SwitchSystem::kJunos).name), file_);
  resolve();
  std::stable_sort(out_.unread.begin(), out_.unread.end(),
                   [](const Unread& a, const Unread& b) { return a.line < b.line; });
  return std::move(out_);
}

void Reader::resolve() {
  evidence::Switch& state = out_.state;
  resolve_classes();
  resolve_pools();
  std::stable_sort(order_.begin(), order_.end(), [](const std::string& a, const std::string& b) {
    return natural_order(a, b) < 0;
  });
  for (const std::string& name : order_)
    resolve_port(name, bindings_.at(name));
  if (!order_.empty()) state.watchdog.enabled = by_default(has_watchdog_ && !lacks_watchdog_);
  if (has_watchdog_ && !lacks_watchdog_) state.watchdog.enabled = known(true, file_);
  if (!state.load_balancing.is_known()) state.load_balancing = by_default(std::string("ecmp"));
  if (!state.cut_through.is_known()) state.cut_through = by_default(false);
  if (!state.lldp.is_known()) state.lldp = by_default(false);
  evidence::Telemetry& telemetry = state.telemetry;
  if (!telemetry.queue_monitor.is_known()) telemetry.queue_monitor = by_default(false);
  if (!telemetry.sflow.is_known()) telemetry.sflow = by_default(false);
  if (!telemetry.gnmi.is_known()) telemetry.gnmi = by_default(false);
}

void Reader::resolve_classes() {
  // QFX: the classes that are there without being configured, unless their queue has another.
  const auto add_default = [&](std::string_view name, unsigned queue) {
    if (find_class(std::string(name)) != nullptr) return;
    for (const JunosClass& one : classes_)
      if (one.queue == queue) return;
    bool is_named = false;
    for (const auto* const kind : {&dscp_, &pcp_})
      for (const auto& [_, classifier] : *kind) {
        is_named = is_named || classifier.imports_default;
        for (const auto& [point, cls] : classifier.classes)
          is_named = is_named || cls.value == name;
      }
    if (!is_named) return;
    JunosClass& one = classes_.emplace_back();
    one.name = name;
    one.queue = queue;
  };
  add_default("best-effort", 0);
  add_default("network-control", 7);
  if (classes_.empty()) return;
  if (!assign_traffic_classes(classes_))
    list(class_line_.empty() ? 0 : class_line_.begin()->second,
         "more than eight forwarding classes: those that share a queue are not told apart");
  set_class_maps(classes_, out_.state);
}

void Reader::resolve_pools() {
  using enum evidence::PoolKind;
  std::vector<evidence::Pool> pools;
  int line = 0;
  // In the order in which people write them.
  for (const char* const name : {"ingress lossless", "ingress lossless-headroom", "ingress lossy",
                                 "egress lossless", "egress lossy", "egress multicast"}) {
    const auto found = partitions_.find(name);
    if (found == partitions_.end() || !found->second.percent.is_said()) continue;
    const std::string_view kind = name;
    line = line == 0 ? found->second.percent.line : line;
    pools.push_back({name,
                     kind.ends_with("headroom")   ? kHeadroom
                     : kind.ends_with("lossless") ? kLossless
                                                  : kLossy,
                     {},
                     1_percent * found->second.percent.value});
  }
  if (!pools.empty()) out_.state.pools = fact(pools, line);
}

void Reader::resolve_port(const std::string& name, const Binding& binding) {
  SwitchPort& port = out_.state.ports.emplace_back();
  port.name = name;
  port.mtu = binding.mtu.is_said() ? fact(binding.mtu.value, binding.mtu.line)
                                   : by_default(1514_B);  // junos-conf-interfaces, et-
  if (binding.is_disabled.is_said()) port.up = fact(false, binding.is_disabled.line);
  if (binding.flow_control.is_said())
    port.global_pause = fact(binding.flow_control.value, binding.flow_control.line);
  if (has_dcbx_ != 0) port.dcbx = fact(true, has_dcbx_);
  port.max_rate = binding.shaping.is_said() ? fact(binding.shaping.value, binding.shaping.line)
                                            : by_default(BitRate());
  using enum evidence::TrustMode;
  if (binding.dscp.is_said()) {
    port.trust = fact(kDscp, binding.dscp.line);
    resolve_classifier(binding.dscp, dscp_, bound_dscp_, out_.state.dscp_to_tc, port);
  } else if (binding.pcp.is_said()) {
    port.trust = fact(kPcp, binding.pcp.line);
    resolve_classifier(binding.pcp, pcp_, bound_pcp_, out_.state.pcp_to_tc, port);
  }
  resolve_rewrite(binding.rewrite, port);
  resolve_pause(binding, port);
  resolve_groups(port);
  resolve_queues(binding, port);
}

template <std::size_t N>
void Reader::resolve_classifier(const At<std::string>& name,
                                const std::map<std::string, Classifier>& kind, std::string& bound,
                                Fact<std::array<std::optional<TrafficClass>, N>>& map,
                                SwitchPort& port) {
  if (name.value == bound) return;
  if (!bound.empty()) {
    list(name.line, fmt::format("{} binds classifier {}, ports before it {}: only one map of a "
                                "switch is compared",
                                port.name, name.value, bound));
    port.trust = Fact<evidence::TrustMode>::missing(Missing::kError, at(name.line));
    return;
  }
  const Classifier* const classifier = defined(kind, name, "classifier");
  if (classifier == nullptr) {
    port.trust = Fact<evidence::TrustMode>::missing(Missing::kError, at(name.line));
    return;
  }
  bound = name.value;
  std::array<std::optional<TrafficClass>, N> out{};
  for (unsigned point = 0; point < N; ++point) {
    const auto said = classifier->classes.find(point);
    if (said == classifier->classes.end()) {
      out.at(point) = default_class(classifier->imports_default ? point : 0, N);
      continue;
    }
    const JunosClass* const one = find_class(said->second.value);
    if (one == nullptr)
      list(said->second.line,
           fmt::format("names forwarding class {}, which is not in the file", said->second.value));
    else
      out.at(point) = TrafficClass::of(one->traffic_class);
  }
  map = fact(out, classifier->line);
}

/// The default classifier sends nc1 and nc2 (48, 56; 802.1p 6 and 7) to network-control, the rest
/// to best-effort; so goes what a classifier without import leaves out.
std::optional<TrafficClass> Reader::default_class(unsigned code_point, std::size_t points) {
  const bool is_control =
      points == 64 ? code_point == 48 || code_point == 56 : code_point == 6 || code_point == 7;
  const std::string name = is_control ? "network-control" : "best-effort";
  if (const JunosClass* const one = find_class(name)) return TrafficClass::of(one->traffic_class);
  for (const JunosClass& one : classes_)
    if (one.queue == (is_control ? 7U : 0U)) return TrafficClass::of(one.traffic_class);
  return std::nullopt;
}

void Reader::resolve_rewrite(const At<std::string>& name, SwitchPort& port) {
  port.rewrites_dscp = by_default(false);
  const auto* const rule = defined(rewrites_, name, "rewrite rule");
  if (rule == nullptr) return;
  port.rewrites_dscp = fact(true, name.line);
  if (bound_rewrite_ == name.value) return;
  if (!bound_rewrite_.empty()) {
    list(name.line, "another rewrite rule than the ports before it");
    return;
  }
  bound_rewrite_ = name.value;
  std::array<std::optional<Dscp>, 8> map{};
  for (const auto& [cls, point] : *rule) {
    const JunosClass* const one = find_class(cls);
    if (one != nullptr) map.at(one->traffic_class) = Dscp::of(point.value);
  }
  out_.state.tc_to_dscp = fact(map, name.line);
}

void Reader::resolve_pause(const Binding& binding, SwitchPort& port) {
  port.pfc = by_default(PrioritySet());
  port.watchdog = by_default(false);
  const PauseProfile* const profile =
      defined(pauses_, binding.pause, "congestion-notification-profile");
  if (profile == nullptr) {
    if (binding.pause.is_said())
      port.pfc = Fact<PrioritySet>::missing(Missing::kError, at(binding.pause.line));
    return;
  }
  port.pfc = fact(paused_by(*profile, binding), binding.pause.line);
  if (profile->cable.is_said()) port.cable_length = fact(profile->cable.value, profile->cable.line);
  resolve_watchdog(*profile, port);
  // Which queue a received pause stops: what is listed, once anything is.
  if (profile->answers.empty() || !out_.state.pfc_to_queue.is_known()) return;
  std::array<Queue, 8> queues = *out_.state.pfc_to_queue;
  for (const auto& [priority, queue] : profile->answers)
    queues.at(priority) = Queue::of(queue.value);
  out_.state.pfc_to_queue = fact(queues, profile->line);
}

PrioritySet Reader::paused_by(const PauseProfile& profile, const Binding& binding) {
  PrioritySet out;
  for (const auto& [point, line] : profile.pcp)
    out.insert(Priority::of(point));
  const Classifier* const classifier = defined(dscp_, binding.dscp, "classifier");
  for (const auto& [point, line] : profile.dscp) {
    const JunosClass* one = nullptr;
    if (classifier != nullptr) {
      const auto said = classifier->classes.find(point);
      if (said != classifier->classes.end()) one = find_class(said->second.value);
    }
    if (one != nullptr && one->pfc_priority) {
      out.insert(Priority::of(*one->pfc_priority));
    } else {
      list(line, fmt::format("DSCP {} may be paused, and its class has no pfc-priority", point));
    }
  }
  return out;
}

void Reader::resolve_watchdog(const PauseProfile& profile, SwitchPort& port) {
  if (!profile.has_watchdog) {
    if (port.pfc->count() > 0) lacks_watchdog_ = true;
    return;
  }
  has_watchdog_ = true;
  port.watchdog = fact(true, profile.line);
  evidence::Watchdog& watchdog = out_.state.watchdog;
  const auto merge = [&]<class T>(Fact<T>& all, const T& value, int line) {
    const Fact<T> one = line == 0 ? by_default(value) : fact(value, line);
    if (!all.was_looked_at()) {
      all = one;
    } else if (all.is_known() && *all != value) {
      list(line == 0 ? profile.line : line,
           fmt::format("{} differs from ports before it: only one setting of a switch is compared",
                       port.name));
      all = Fact<T>::missing(Missing::kError, one.source());
    }
  };
  // 24.4R1's model and the manual: 100 ms, 2 polls, 200 ms, drop.
  const unsigned poll = profile.poll.is_said() ? profile.poll.value : 100;
  const unsigned polls = profile.detection.is_said() ? profile.detection.value : 2;
  const unsigned recovery = profile.recovery.is_said() ? profile.recovery.value : 200;
  merge(watchdog.detection, 1_ms * poll * polls, profile.detection.line);
  merge(watchdog.restoration, 1_ms * recovery, profile.recovery.line);
  merge(watchdog.action, profile.action.is_said() ? profile.action.value : std::string("drop"),
        profile.action.line);
}

std::optional<Fact<Alpha>> Reader::alpha_of(const std::string& partition) const {
  const auto found = partitions_.find(partition);
  if (found == partitions_.end()) return std::nullopt;
  const At<int>& threshold = found->second.threshold;
  if (threshold.is_said()) return fact(Alpha::from_log2(threshold.value - 7), threshold.line);
  // Juniper's QFX5K buffer post: ingress lossless 7, lossy 10; egress lossless 10, lossy 7.
  const bool is_seven = partition == "ingress lossless" || partition == "egress lossy";
  return by_default(Alpha::from_log2(is_seven ? 0 : 3));
}

void Reader::resolve_groups(SwitchPort& port) {
  GroupBuffer& lossy = group_at(port, PriorityGroup::of(0));
  lossy.lossless = by_default(false);
  if (const auto alpha = alpha_of("ingress lossy")) lossy.alpha = *alpha;
  if (!port.pfc.is_known()) return;
  for (const JunosClass& one : classes_) {
    if (!one.is_lossless || !one.pfc_priority) continue;
    if (!port.pfc->contains(Priority::of(*one.pfc_priority))) continue;
    GroupBuffer& group = group_at(port, PriorityGroup::of(*one.pfc_priority));
    group = {};
    group.group = PriorityGroup::of(*one.pfc_priority);
    group.lossless = known(true, port.pfc.source());
    group.headroom_auto = by_default(true);
    if (const auto alpha = alpha_of("ingress lossless")) group.alpha = *alpha;
  }
}

void Reader::resolve_queues(const Binding& binding, SwitchPort& port) {
  const auto* const map = defined(maps_, binding.map, "scheduler-map");
  for (const JunosClass& one : classes_) {
    if (one.queue >= Queue::kLimit) continue;
    EgressQueue& queue = queue_at(port, Queue::of(one.queue));
    if (!queue.ecn.is_known()) {
      queue.ecn = by_default(false);
      queue.wred_drop = by_default(false);
      queue.max_rate = by_default(BitRate());
    }
    if (const auto alpha = alpha_of(one.is_lossless ? "egress lossless" : "egress lossy"))
      queue.alpha = *alpha;
    if (map == nullptr) continue;
    const auto named = map->find(one.name);
    if (named == map->end()) continue;
    if (const SchedulerText* const scheduler = defined(schedulers_, named->second, "scheduler"))
      resolve_queue(*scheduler, queue);
  }
}

void Reader::resolve_queue(const SchedulerText& scheduler, EgressQueue& queue) {
  const bool is_strict = scheduler.priority.value == "strict-high";
  if (is_strict)
    queue.scheduler = fact(evidence::Scheduler::kStrict, scheduler.priority.line);
  else if (scheduler.percent.is_said())
    queue.scheduler = fact(evidence::Scheduler::kWeighted, scheduler.percent.line);
  if (!is_strict && scheduler.percent.is_said())
    queue.weight = fact(scheduler.percent.value, scheduler.percent.line);
  if (scheduler.shaping_percent.is_said()) {
    queue.max_rate = {};
    queue.max_share =
        fact(1_percent * scheduler.shaping_percent.value, scheduler.shaping_percent.line);
  } else if (scheduler.shaping.is_said()) {
    queue.max_rate = fact(scheduler.shaping.value, scheduler.shaping.line);
  }
  if (scheduler.threshold.is_said())
    queue.alpha = fact(Alpha::from_log2(scheduler.threshold.value - 7), scheduler.threshold.line);
  const DropProfile* const drop = defined(drops_, scheduler.drop_profile, "drop-profile");
  // explicit-congestion-notification without a drop profile marks nothing.
  queue.ecn = scheduler.ecn.is_said() ? fact(drop != nullptr, scheduler.ecn.line) : queue.ecn;
  if (drop == nullptr) return;
  queue.wred_drop = fact(true, drop->line);
  if (drop->fill.size() < 2 || drop->fill.size() != drop->probability.size()) {
    list(drop->line, "expected two fill levels with a probability each at least");
    return;
  }
  queue.ecn_min_share = fact(1_percent * drop->fill.front(), drop->line);
  queue.ecn_max_share = fact(1_percent * drop->fill.back(), drop->line);
  queue.ecn_probability = fact(1_percent * drop->probability.back(), drop->line);
}

bool junos_recognises(std::string_view text) {
  return junos_form(text).has_value();
}

}  // namespace

Result<Parsed> junos_parse(std::string_view text, std::string_view file) {
  return Reader(file).read(text);
}

Platform junos() {
  return {
      .system = design::SwitchSystem::kJunos,
      .name = vocab::names_of(design::SwitchSystem::kJunos).name,
      .title = vocab::names_of(design::SwitchSystem::kJunos).title,
      .how_load = "configure; load set FILE; commit check; commit confirmed 5; commit",
      .lower = junos_lower,
      .render = junos_render,
      .recognises = junos_recognises,
      .parse = junos_parse,
  };
}

}  // namespace weir::platforms

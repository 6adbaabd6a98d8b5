// Parsing a Junos configuration: statements are first collected by a table of rules and then
// resolved, because they may come in any order.
#include <algorithm>
#include <limits>
#include <map>
#include <set>
#include <tuple>

#include <fmt/format.h>

#include "base/text.h"
#include "platforms/common/lower_common.h"
#include "platforms/common/read_common.h"
#include "platforms/junos/junos.h"
#include "platforms/junos/junos_text.h"
#include "units/dscp_name.h"
#include "units/format.h"

namespace weir::platforms {
namespace {

constexpr Defaults kDefaults{"default of Junos"};

/// A value and its line.
template <class T>
struct At {
  T value{};
  int line = 0;  // 0: not in the file
  [[nodiscard]] bool is_said() const { return line != 0; }
};
template <class T>
void assign(At<T>& place, T value, const Place& at) {
  place = {std::move(value), at.line};
}

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
  At<std::string> pause, map, dscp, pcp, rewrite, channel;
  At<BitRate> shaping;
};

using Classifiers = std::map<std::string, Classifier>;

/// What the statements say, before references are resolved.
struct Said {
  evidence::Switch state;  // what a statement says of the whole switch
  std::vector<JunosClass> classes;
  int class_line = 0;  // of the first class
  Classifiers dscp, pcp;
  std::map<std::string, std::map<std::string, At<unsigned>>> rewrites;  // rule, class, DSCP
  std::map<std::string, DropProfile> drops;
  std::map<std::string, Partition> partitions;  // "ingress lossless"
  std::map<std::string, PauseProfile> pauses;
  std::map<std::string, SchedulerText> schedulers;
  std::map<std::string, std::map<std::string, At<std::string>>> maps;  // map, class, scheduler
  std::map<std::string, Binding> ports;
  std::map<std::string, std::string> vlan_ids;                             // by name
  std::vector<std::tuple<std::string, std::string, std::string>> members;  // VLAN, port, source
  std::set<std::string, std::less<>> splits;  // cages, whose sub-ports are the ports
  PortModes modes;
  At<bool> dcbx;
};

// ---- places that a statement leads to ----

Result<JunosClass*> class_of(Said& said, Words& words) {
  const std::string& name = words.next();
  for (JunosClass& known_class : said.classes)
    if (known_class.name == name) return &known_class;
  if (said.classes.empty()) said.class_line = words.place().line;
  said.classes.emplace_back().name = name;
  return &said.classes.back();
}
/// A definition remembers the line of its first statement.
template <class Definition>
Definition* defined_at(Definition& definition, const Words& words) {
  if (definition.line == 0) definition.line = words.place().line;
  return &definition;
}
Result<DropProfile*> drop_of(Said& said, Words& words) {
  return defined_at(said.drops[words.next()], words);
}
Result<PauseProfile*> pause_of(Said& said, Words& words) {
  return defined_at(said.pauses[words.next()], words);
}
Result<Partition*> partition_of(Said& said, Words& words) {
  const std::string& direction = words.next();
  return &said.partitions[direction + " " + words.next()];
}
Result<Binding*> binding_of(Said& said, Words& words) {
  const std::string& name = words.next();
  if (name.find('*') != std::string::npos) return unsupported("a wildcard for interfaces");
  return &said.ports[name];
}

// ---- values ----

Result<unsigned> code_point(std::string_view word, std::size_t bits) {
  if (word.size() == bits && word.find_first_not_of("01") == std::string_view::npos) {
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
Result<unsigned> dscp_point(std::string_view word) {
  return code_point(word, 6);
}
Result<unsigned> pcp_point(std::string_view word) {
  return code_point(word, 3);
}
using ReadPoint = Result<unsigned> (*)(std::string_view);

/// "400g", "10m", "64k", "5000".
Result<BitRate> bits_per_second(std::string_view word) {
  std::int64_t unit = 1;
  const char last = word.empty() ? '0' : word.back();
  if (last == 'k') unit = 1'000;
  if (last == 'm') unit = 1'000'000;
  if (last == 'g') unit = 1'000'000'000;
  if (unit != 1) word.remove_suffix(1);
  WEIR_TRY(number, read_number(word, 0, std::numeric_limits<std::int64_t>::max() / 8 / unit,
                               "bits per second"));
  return BitRate::raw(number * unit);
}
auto threshold() {
  return [](Words& words) -> Result<int> {
    WEIR_TRY(value, read_number(words.next(), 0, 10, "a dynamic threshold"));
    return static_cast<int>(value);
  };
}

// ---- statements with a grammar of their own ----

/// "queue NUMBER CLASS": the older form of "class CLASS queue-num NUMBER".
Status set_queue_class(Said& said, const Taken& t, const Place& at) {
  const Taken turned = {t[1], t[0]};
  return sets(number(0, 11, "a queue"), class_of, &JunosClass::queue)(said, turned, at);
}
auto sets_import(Classifiers Said::*kind) {
  return [=](Said& said, const Taken& t, const Place& at) -> Status {
    Classifier& classifier = (said.*kind)[t[0]];
    classifier.imports_default = t[1] == "default";
    classifier.line = at.line;
    return classifier.imports_default ? Status() : unsupported("imports another classifier");
  };
}
/// "NAME forwarding-class CLASS loss-priority LOW code-points POINT".
auto sets_point(Classifiers Said::*kind, ReadPoint read) {
  return [=](Said& said, const Taken& t, const Place& at) -> Status {
    WEIR_TRY(point, read(t[3]));
    Classifier& classifier = (said.*kind)[t[0]];
    if (classifier.line == 0) classifier.line = at.line;
    assign(classifier.classes[point], t[1], at);
    return {};
  };
}
auto sets_pause(std::map<unsigned, int> PauseProfile::*points, ReadPoint read) {
  return [=](Said& said, const Taken& t, const Place& at) -> Status {
    WEIR_TRY(point, read(t[1]));
    Words words(t, at);
    WEIR_TRY(profile, pause_of(said, words));
    (profile->*points).emplace(point, at.line);
    return {};
  };
}
Status set_answer(Said& said, const Taken& t, const Place& at) {
  WEIR_TRY(priority, pcp_point(t[1]));
  WEIR_TRY(queue, read_number(t[2], 0, 7, "a queue"));
  Words words(t, at);
  WEIR_TRY(profile, pause_of(said, words));
  assign(profile->answers[priority], static_cast<unsigned>(queue), at);
  return {};
}
Status set_irb_mtu(Said& said, const Taken& t, const Place& at) {
  WEIR_TRY(mtu, read_number(t[1], 256, 16'000, "an MTU in bytes"));
  assign(interface_named(said.state, "irb." + t[0], "svi").mtu, Bytes::raw(mtu), at);
  return {};
}
Status name_vlan(Said& said, const Taken& t, const Place&) {
  WEIR_TRY(id, read_number(t[1], 1, 4094, "a VLAN"));
  said.vlan_ids[t[0]] = std::to_string(id);
  return {};
}
Status join_vlan(Said& said, const Taken& t, const Place& at) {
  said.ports[t[0]];
  said.members.emplace_back(t[2], t[0], at.text());
  return {};
}
Status set_split(Said& said, const std::string& cage, std::string_view number) {
  WEIR_TRY(count, read_number(number, 1, 8, "a number of sub-ports"));
  if (count > 1) said.splits.insert(cage);
  mode_of(said.modes, cage).ports = static_cast<unsigned>(count);
  return {};
}
Status note_split(Said& said, const Taken& t, const Place&) {
  return set_split(said, t[0], t[1]);
}
/// "chassis fpc 0 pic 0 port 3" is the cage of et-0/0/3.
std::string cage_of(const Taken& t) {
  return fmt::format("et-{}/{}/{}", t[0], t[1], t[2]);
}
Status note_chassis_split(Said& said, const Taken& t, const Place&) {
  return set_split(said, cage_of(t), t[3]);
}
void set_mode_speed(Said& said, const std::string& cage, std::string_view word) {
  if (const auto speed = read_port_speed(word)) mode_of(said.modes, cage).speed = *speed;
}
Status note_chassis_speed(Said& said, const Taken& t, const Place&) {
  set_mode_speed(said, cage_of(t), t[3]);
  return {};
}
Status name_port(Said& said, const Taken& t, const Place&) {
  const std::string_view name = t[0];
  bool is_port = name.find('*') == std::string_view::npos && name != "irb";
  for (const std::string_view other : {"lo", "em", "fxp", "re"})
    is_port = is_port && !name.starts_with(other);
  if (is_port) said.ports[t[0]];
  return {};
}

Status note_speed(Said& said, const Taken& t, const Place& at) {
  set_mode_speed(said, t[0], t[1]);
  return name_port(said, t, at);
}

// ---- the table of statements ----

Rules<Said> class_rules() {
  const std::string classes = "class-of-service forwarding-classes";
  const std::string classifiers = "class-of-service classifiers";
  const std::string drops = "class-of-service drop-profiles *";
  const std::string buffer = "class-of-service shared-buffer * buffer-partition *";
  const auto sets_queue = sets(number(0, 11, "a queue"), class_of, &JunosClass::queue);
  const auto sets_lossless = sets(constant(true), class_of, &JunosClass::is_lossless);
  const auto priority = number(0, 7, "a priority");
  const auto fill = number(0, 100, "a fill level in percent");
  const auto probability = number(0, 100, "a probability in percent");
  return {
      {"system host-name *", sets(word(), &Said::state, &evidence::Switch::name)},
      {"version *", sets(word(), &Said::state, &evidence::Switch::version)},
      {classes + " class * queue-num *", sets_queue},
      {classes + " class * queue-num * no-loss", both(sets_queue, sets_lossless)},
      {classes + " class * queue-num * no-loss pfc-priority *",
       both(both(sets_queue, sets_lossless),
            sets(after(1, priority), class_of, &JunosClass::pfc_priority))},
      {classes + " queue * *", set_queue_class},
      {classes + " class * no-loss", sets_lossless},
      {classes + " class * pfc-priority *", sets(priority, class_of, &JunosClass::pfc_priority)},
      {classifiers + " dscp * import *", sets_import(&Said::dscp)},
      {classifiers + " dscp * forwarding-class * loss-priority * code-points *",
       sets_point(&Said::dscp, dscp_point)},
      {classifiers + " ieee-802.1 * import *", sets_import(&Said::pcp)},
      {classifiers + " ieee-802.1 * forwarding-class * loss-priority * code-points *",
       sets_point(&Said::pcp, pcp_point)},
      {"class-of-service rewrite-rules dscp * forwarding-class * loss-priority * code-point *",
       sets(after(1, read_by(dscp_point)), &Said::rewrites)},
      {drops + " interpolate fill-level *", sets(fill, drop_of, &DropProfile::fill)},
      {drops + " interpolate drop-probability *",
       sets(probability, drop_of, &DropProfile::probability)},
      {drops + " fill-level * drop-probability *",
       both(sets(fill, drop_of, &DropProfile::fill),
            sets(after(1, probability), drop_of, &DropProfile::probability))},
      {buffer + " percent *",
       sets(number(0, 100, "a share in percent"), partition_of, &Partition::percent)},
      {buffer + " dynamic-threshold *", sets(threshold(), partition_of, &Partition::threshold)},
      {"class-of-service dedicated-buffer ingress percent *", {}},
      {"class-of-service dedicated-buffer egress percent *", {}},
  };
}

Rules<Said> pause_rules() {
  const std::string profile = "class-of-service congestion-notification-profile *";
  const std::string watchdog = profile + " pfc-watchdog";
  const auto milliseconds = number(1, 65'535, "milliseconds");
  const auto sets_watchdog = sets(constant(true), pause_of, &PauseProfile::has_watchdog);
  const auto action = choice<std::string>({{"drop", "drop"}, {"forward", "forward"}});
  const auto mru = after(2, number(64, 65'535, "bytes"));
  return {
      {watchdog + " poll-interval *",
       both(sets(milliseconds, pause_of, &PauseProfile::poll), sets_watchdog)},
      {watchdog + " detection *",
       both(sets(number(1, 65'535, "a number of polls"), pause_of, &PauseProfile::detection),
            sets_watchdog)},
      {watchdog + " recovery *",
       both(sets(milliseconds, pause_of, &PauseProfile::recovery), sets_watchdog)},
      {watchdog + " watchdog-action *",
       both(sets(action, pause_of, &PauseProfile::action), sets_watchdog)},
      {watchdog, sets_watchdog},
      {profile + " input cable-length *",
       sets(times(Length(1_m), 0, 100'000, "a cable length in metres"), pause_of,
            &PauseProfile::cable)},
      {profile + " input dscp code-point * pfc", sets_pause(&PauseProfile::dscp, dscp_point)},
      {profile + " input dscp code-point * mru *", checks(mru)},
      {profile + " input dscp code-point * xon *", {}},
      {profile + " input ieee-802.1 code-point * pfc", sets_pause(&PauseProfile::pcp, pcp_point)},
      {profile + " input ieee-802.1 code-point * mru *", checks(mru)},
      {profile + " output ieee-802.1 code-point * flow-control-queue *", set_answer},
  };
}

Rules<Said> port_rules() {
  const std::string scheduler = "class-of-service schedulers *";
  const std::string port = "class-of-service interfaces *";
  const auto sets_scheduler = [](auto value, auto member) {
    return sets(value, &Said::schedulers, member);
  };
  const auto sets_port = [](auto value, auto member) { return sets(value, binding_of, member); };
  return {
      {scheduler + " transmit-rate percent *",
       sets_scheduler(number(0, 100, "a share in percent"), &SchedulerText::percent)},
      {scheduler + " shaping-rate percent *",
       sets_scheduler(number(1, 100, "a share in percent"), &SchedulerText::shaping_percent)},
      {scheduler + " shaping-rate *",
       sets_scheduler(read_by(bits_per_second), &SchedulerText::shaping)},
      {scheduler + " priority *", sets_scheduler(word(), &SchedulerText::priority)},
      {scheduler + " drop-profile-map loss-priority * protocol * drop-profile *",
       sets_scheduler(after(2, word()), &SchedulerText::drop_profile)},
      {scheduler + " explicit-congestion-notification",
       sets_scheduler(constant(true), &SchedulerText::ecn)},
      {scheduler + " buffer-dynamic-threshold *",
       sets_scheduler(threshold(), &SchedulerText::threshold)},
      {scheduler + " buffer-size **", {}},
      {"class-of-service scheduler-maps * forwarding-class * scheduler *",
       sets(word(), &Said::maps)},
      {port + " congestion-notification-profile *", sets_port(word(), &Binding::pause)},
      {port + " scheduler-map *", sets_port(word(), &Binding::map)},
      {port + " shaping-rate *", sets_port(read_by(bits_per_second), &Binding::shaping)},
      {port + " unit * classifiers dscp *", sets_port(after(1, word()), &Binding::dscp)},
      {port + " classifiers dscp *", sets_port(word(), &Binding::dscp)},
      {port + " unit * classifiers ieee-802.1 *", sets_port(after(1, word()), &Binding::pcp)},
      {port + " unit * rewrite-rules dscp *", sets_port(after(1, word()), &Binding::rewrite)},
      {"interfaces irb unit * family inet mtu *", set_irb_mtu},
      {"interfaces * mtu *", sets_port(times(1_B, 256, 16'000, "an MTU in bytes"), &Binding::mtu)},
      {"interfaces * ether-options flow-control",
       sets_port(constant(true), &Binding::flow_control)},
      {"interfaces * ether-options no-flow-control",
       sets_port(constant(false), &Binding::flow_control)},
      {"interfaces * ether-options 802.3ad *", sets_port(word(), &Binding::channel)},
      {"interfaces * gigether-options 802.3ad *", sets_port(word(), &Binding::channel)},
      {"interfaces * aggregated-ether-options flow-control",
       sets_port(constant(true), &Binding::flow_control)},
      {"interfaces * aggregated-ether-options no-flow-control",
       sets_port(constant(false), &Binding::flow_control)},
      {"interfaces * aggregated-ether-options **", name_port},
      {"chassis aggregated-devices **", {}},
      {"interfaces * disable", sets_port(constant(true), &Binding::is_disabled)},
      {"interfaces * description **", name_port},
      {"interfaces * unit * family ethernet-switching vlan members *", join_vlan},
      {"interfaces * unit **", name_port},
      {"vlans * vlan-id *", name_vlan},
      {"vlans * l3-interface *", {}},
      {"vlans * description **", {}},
      {"interfaces * speed *", note_speed},
      {"interfaces * number-of-sub-ports *", note_split},
      {"chassis fpc * pic * port * speed *", note_chassis_speed},
      {"chassis fpc * pic * port * number-of-sub-ports *", note_chassis_split},
  };
}

Rules<Said> switch_rules() {
  using evidence::Switch;
  using evidence::Telemetry;
  const std::string hash = "forwarding-options enhanced-hash-key";
  const auto sets_balancing = [](std::string mode) {
    return sets(constant(std::move(mode)), &Said::state, &Switch::load_balancing);
  };
  const auto sets_telemetry = [](auto value, auto member) {
    return sets(value, &Said::state, &Switch::telemetry, member);
  };
  return {
      {"protocols lldp interface all", sets(constant(true), &Said::state, &Switch::lldp)},
      {"protocols dcbx interface all", sets(constant(true), &Said::dcbx)},
      {"protocols sflow polling-interval *",
       sets_telemetry(times(Duration(1_s), 0, 3600, "seconds"), &Telemetry::interval)},
      {"protocols sflow interfaces *", sets_telemetry(constant(true), &Telemetry::sflow)},
      {hash + " hash-seed *", sets(number(0, std::numeric_limits<std::uint32_t>::max(), "a seed"),
                                   &Said::state, &Switch::ecmp_seed)},
      {hash + " ecmp-dlb flowlet", sets_balancing("adaptive")},
      {hash + " ecmp-dlb flowlet **", sets_balancing("adaptive")},
      {hash + " ecmp-dlb per-packet", sets_balancing("spray")},
      {"forwarding-options cut-through", sets(constant(true), &Said::state, &Switch::cut_through)},
      {"chassis fpc * traffic-manager buffer-monitor-enable",
       sets_telemetry(constant(true), &Telemetry::queue_monitor)},
      {"system services extension-service request-response grpc **",
       sets_telemetry(constant(true), &Telemetry::gnmi)},
  };
}

const Rules<Said>& rules() {
  static const Rules<Said> kRules =
      joined(class_rules(), pause_rules(), port_rules(), switch_rules());
  return kRules;
}

// ---- from statements to the state of the switch ----

/// "ae0".
bool is_aggregate(const std::string& name) {
  return name.size() > 2 && name.starts_with("ae") &&
         name.find_first_not_of("0123456789", 2) == std::string::npos;
}

class Builder {
 public:
  Builder(Said said, const std::vector<Statement>& statements, std::string_view file,
          std::vector<Unread> unread)
      : said_(std::move(said)), file_(file) {
    out_.state = std::move(said_.state);
    out_.unread = std::move(unread);
    for (const Statement& statement : statements)
      texts_.emplace(statement.line, statement.text);
  }

  Parsed build();

 private:
  [[nodiscard]] std::string at(int line) const { return fmt::format("{}:{}", file_, line); }
  template <class T>
  [[nodiscard]] Fact<T> fact(T value, int line) const {
    return Fact<T>::of(std::move(value), at(line));
  }
  void list(int line, const std::string& why) {
    for (const Unread& listed : out_.unread)
      if (listed.line == line && listed.why == why) return;
    const auto text = texts_.find(line);
    out_.unread.push_back({line, text == texts_.end() ? "" : text->second, why});
  }
  [[nodiscard]] Fact<Bytes> mtu_of(const Binding& binding) const {
    return binding.mtu.is_said() ? fact(binding.mtu.value, binding.mtu.line)
                                 : kDefaults.value(1514_B);  // junos-conf-interfaces, et- and ae
  }
  [[nodiscard]] const JunosClass* find_class(const std::string& name) const {
    for (const JunosClass& known_class : said_.classes)
      if (known_class.name == name) return &known_class;
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

  void resolve_classes();
  void resolve_pools();
  void resolve_vlans();
  void resolve_channel(const std::string& name);
  [[nodiscard]] Binding with_channel(const Binding& binding) const;
  void resolve_port(const std::string& name, const Binding& binding);
  template <std::size_t N>
  void resolve_classifier(const At<std::string>& name, const Classifiers& kind, std::string& bound,
                          Fact<std::array<std::optional<TrafficClass>, N>>& map, SwitchPort& port);
  std::optional<TrafficClass> default_class(unsigned code_point, std::size_t points);
  void resolve_rewrite(const At<std::string>& name, SwitchPort& port);
  void resolve_pause(const Binding& binding, SwitchPort& port);
  PrioritySet paused_by(const PauseProfile& profile, const Binding& binding);
  void list_unanswered(const PauseProfile& profile, PrioritySet paused);
  void resolve_watchdog(const PauseProfile& profile, SwitchPort& port);
  void resolve_groups(SwitchPort& port);
  void resolve_queues(const Binding& binding, SwitchPort& port);
  void resolve_queue(const SchedulerText& scheduler, EgressQueue& queue);
  [[nodiscard]] std::optional<Fact<Alpha>> alpha_of(const std::string& partition) const;

  Said said_;
  std::string file_;
  Parsed out_;
  std::map<int, std::string> texts_;  // by line
  std::string bound_dscp_, bound_pcp_, bound_rewrite_;
  bool lacks_watchdog_ = false;
  bool has_watchdog_ = false;
};

Parsed Builder::build() {
  evidence::Switch& state = out_.state;
  state.platform = platform_fact(vocab::SwitchSystem::kJunos, file_);
  resolve_classes();
  resolve_pools();
  std::vector<std::string> names;
  for (const auto& [name, binding] : said_.ports)
    if (!said_.splits.contains(name)) names.push_back(name);
  std::sort(names.begin(), names.end(),
            [](const std::string& a, const std::string& b) { return natural_order(a, b) < 0; });
  for (const std::string& name : names) {
    if (is_aggregate(name))
      resolve_channel(name);
    else
      resolve_port(name, with_channel(said_.ports.at(name)));
  }
  std::erase_if(names, is_aggregate);
  resolve_vlans();
  if (!names.empty()) state.watchdog.enabled = kDefaults.value(has_watchdog_ && !lacks_watchdog_);
  if (has_watchdog_ && !lacks_watchdog_) state.watchdog.enabled = known(true, file_);
  out_.is_whole = !state.name.empty();
  set_modes(said_.modes, out_);
  state.load_balancing = kDefaults.unless(state.load_balancing, std::string("ecmp"));
  evidence::Telemetry& telemetry = state.telemetry;
  for (Fact<bool>* fact : {&state.cut_through, &state.lldp, &telemetry.queue_monitor,
                           &telemetry.sflow, &telemetry.gnmi})
    *fact = kDefaults.unless(*fact, false);
  settle_faults(out_);
  std::stable_sort(out_.unread.begin(), out_.unread.end(),
                   [](const Unread& a, const Unread& b) { return a.line < b.line; });
  return std::move(out_);
}

void Builder::resolve_channel(const std::string& name) {
  const Binding& binding = said_.ports.at(name);
  evidence::SwitchInterface& channel = interface_named(out_.state, name, "port-channel");
  channel.mtu = mtu_of(binding);
  for (const auto& [port, other] : said_.ports)
    if (other.channel.is_said() && other.channel.value == name)
      add_member(channel, port, at(other.channel.line));
}

/// A member is as its ae interface is; what it says itself it keeps.
Binding Builder::with_channel(const Binding& binding) const {
  Binding out = binding;
  const auto found = said_.ports.find(binding.channel.value);
  if (!binding.channel.is_said() || found == said_.ports.end()) return out;
  const Binding& from = found->second;
  const auto inherit = [&](auto... members) {
    ((out.*members = (out.*members).is_said() ? out.*members : from.*members), ...);
  };
  inherit(&Binding::flow_control, &Binding::pause, &Binding::map, &Binding::dscp, &Binding::pcp,
          &Binding::rewrite, &Binding::shaping);
  if (from.mtu.is_said()) out.mtu = from.mtu;
  return out;
}

void Builder::resolve_vlans() {
  for (const auto& [vlan, port, source] : said_.members) {
    const auto id = said_.vlan_ids.find(vlan);
    const std::string number = id != said_.vlan_ids.end() ? id->second : vlan;
    if (!parse_u64(number)) continue;  // "all", or a VLAN that is not in this file
    add_member(interface_named(out_.state, "irb." + number, "svi"), port, source);
  }
}

void Builder::resolve_classes() {
  // QFX has these classes without configuration, unless their queue is used by another.
  const auto add_default = [&](std::string_view name, unsigned queue) {
    if (find_class(std::string(name)) != nullptr) return;
    for (const JunosClass& cls : said_.classes)
      if (cls.queue == queue) return;
    bool is_named = false;
    for (const auto* const kind : {&said_.dscp, &said_.pcp})
      for (const auto& [_, classifier] : *kind) {
        is_named = is_named || classifier.imports_default;
        for (const auto& [point, cls] : classifier.classes)
          is_named = is_named || cls.value == name;
      }
    if (!is_named) return;
    JunosClass& added = said_.classes.emplace_back();
    added.name = name;
    added.queue = queue;
  };
  add_default("best-effort", 0);
  add_default("network-control", 7);
  if (said_.classes.empty()) return;
  if (!assign_traffic_classes(said_.classes))
    list(said_.class_line,
         "more than eight forwarding classes: those that share a queue are not told apart");
  set_class_maps(said_.classes, out_.state);
}

void Builder::resolve_pools() {
  using enum evidence::PoolKind;
  std::vector<evidence::Pool> pools;
  int line = 0;
  // In the usual order of a configuration.
  for (const char* const name : {"ingress lossless", "ingress lossless-headroom", "ingress lossy",
                                 "egress lossless", "egress lossy", "egress multicast"}) {
    const auto found = said_.partitions.find(name);
    if (found == said_.partitions.end() || !found->second.percent.is_said()) continue;
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

void Builder::resolve_port(const std::string& name, const Binding& binding) {
  SwitchPort& port = out_.state.ports.emplace_back();
  port.name = name;
  port.channel = binding.channel.is_said() ? fact(binding.channel.value, binding.channel.line)
                                           : kDefaults.value(std::string());
  port.mtu = mtu_of(binding);
  if (binding.is_disabled.is_said()) port.up = fact(false, binding.is_disabled.line);
  if (binding.flow_control.is_said())
    port.global_pause = fact(binding.flow_control.value, binding.flow_control.line);
  if (said_.dcbx.is_said()) port.dcbx = fact(true, said_.dcbx.line);
  port.max_rate = binding.shaping.is_said() ? fact(binding.shaping.value, binding.shaping.line)
                                            : kDefaults.value(BitRate());
  using enum evidence::TrustMode;
  if (binding.dscp.is_said()) {
    port.trust = fact(kDscp, binding.dscp.line);
    resolve_classifier(binding.dscp, said_.dscp, bound_dscp_, out_.state.dscp_to_tc, port);
  } else if (binding.pcp.is_said()) {
    port.trust = fact(kPcp, binding.pcp.line);
    resolve_classifier(binding.pcp, said_.pcp, bound_pcp_, out_.state.pcp_to_tc, port);
  }
  resolve_rewrite(binding.rewrite, port);
  resolve_pause(binding, port);
  resolve_groups(port);
  resolve_queues(binding, port);
}

template <std::size_t N>
void Builder::resolve_classifier(const At<std::string>& name, const Classifiers& kind,
                                 std::string& bound,
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
    const JunosClass* const cls = find_class(said->second.value);
    if (cls == nullptr)
      list(said->second.line,
           fmt::format("names forwarding class {}, which is not in the file", said->second.value));
    else
      out.at(point) = TrafficClass::of(cls->traffic_class);
  }
  map = fact(out, classifier->line);
}

/// The default classifier sends nc1 and nc2 (48, 56; 802.1p 6 and 7) to network-control, the rest
/// to best-effort; so goes what a classifier without import leaves out.
std::optional<TrafficClass> Builder::default_class(unsigned code_point, std::size_t points) {
  const bool is_control =
      points == 64 ? code_point == 48 || code_point == 56 : code_point == 6 || code_point == 7;
  const std::string name = is_control ? "network-control" : "best-effort";
  if (const JunosClass* const cls = find_class(name)) return TrafficClass::of(cls->traffic_class);
  for (const JunosClass& cls : said_.classes)
    if (cls.queue == (is_control ? 7U : 0U)) return TrafficClass::of(cls.traffic_class);
  return std::nullopt;
}

void Builder::resolve_rewrite(const At<std::string>& name, SwitchPort& port) {
  port.rewrites_dscp = kDefaults.value(false);
  const auto* const rule = defined(said_.rewrites, name, "rewrite rule");
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
    const JunosClass* const found = find_class(cls);
    if (found != nullptr) map.at(found->traffic_class) = Dscp::of(point.value);
  }
  out_.state.tc_to_dscp = fact(map, name.line);
}

void Builder::resolve_pause(const Binding& binding, SwitchPort& port) {
  port.pfc = kDefaults.value(PrioritySet());
  port.watchdog = kDefaults.value(false);
  const PauseProfile* const profile =
      defined(said_.pauses, binding.pause, "congestion-notification-profile");
  if (profile == nullptr) {
    if (binding.pause.is_said())
      port.pfc = Fact<PrioritySet>::missing(Missing::kError, at(binding.pause.line));
    return;
  }
  port.pfc = fact(paused_by(*profile, binding), binding.pause.line);
  if (profile->cable.is_said()) port.cable_length = fact(profile->cable.value, profile->cable.line);
  resolve_watchdog(*profile, port);
  // Which queue a received pause stops: what is listed, once anything is.
  if (!out_.state.pfc_to_queue.is_known()) return;
  std::array<Queue, 8> queues = *out_.state.pfc_to_queue;
  list_unanswered(*profile, *port.pfc);
  for (const auto& [priority, queue] : profile->answers)
    queues.at(priority) = Queue::of(queue.value);
  out_.state.pfc_to_queue = fact(queues, profile->line);
}

/// Juniper, "flow-control-queue": by default a pause stops queue 3 for priority 3 and queue 4 for
/// priority 4; once any queue is listed, only those that are.
void Builder::list_unanswered(const PauseProfile& profile, PrioritySet paused) {
  for (unsigned p = 0; p < Priority::kLimit; ++p) {
    if (!paused.contains(Priority::of(p)) || profile.answers.contains(p)) continue;
    const bool is_default = profile.answers.empty() && (p == 3 || p == 4) &&
                            out_.state.pfc_to_queue->at(p) == Queue::of(p);
    if (is_default) continue;
    const std::string text = fmt::format(
        "congestion-notification-profile has no flow-control-queue for priority {}: a received "
        "pause does not stop its queue",
        p);
    const auto same = [&](const ConfigFault& fault) {
      return fault.line == profile.line && fault.text == text;
    };
    if (std::none_of(out_.faults.begin(), out_.faults.end(), same))
      out_.faults.push_back(
          {.line = profile.line, .port = "", .text = text, .source = texts_[profile.line]});
  }
}

PrioritySet Builder::paused_by(const PauseProfile& profile, const Binding& binding) {
  PrioritySet out;
  for (const auto& [point, line] : profile.pcp)
    out.insert(Priority::of(point));
  const Classifier* const classifier = defined(said_.dscp, binding.dscp, "classifier");
  for (const auto& [point, line] : profile.dscp) {
    const JunosClass* cls = nullptr;
    if (classifier != nullptr) {
      const auto said = classifier->classes.find(point);
      if (said != classifier->classes.end()) cls = find_class(said->second.value);
    }
    if (cls != nullptr && cls->pfc_priority) {
      out.insert(Priority::of(*cls->pfc_priority));
    } else {
      list(line, fmt::format("DSCP {} may be paused, and its class has no pfc-priority", point));
    }
  }
  return out;
}

void Builder::resolve_watchdog(const PauseProfile& profile, SwitchPort& port) {
  if (!profile.has_watchdog) {
    if (port.pfc->count() > 0) lacks_watchdog_ = true;
    return;
  }
  has_watchdog_ = true;
  port.watchdog = fact(true, profile.line);
  evidence::Watchdog& watchdog = out_.state.watchdog;
  const auto merge = [&]<class T>(Fact<T>& all, const T& value, int line) {
    const Fact<T> said = line == 0 ? kDefaults.value(value) : fact(value, line);
    if (!all.was_looked_at()) {
      all = said;
    } else if (all.is_known() && *all != value) {
      list(line == 0 ? profile.line : line,
           fmt::format("{} differs from ports before it: only one setting of a switch is compared",
                       port.name));
      all = Fact<T>::missing(Missing::kError, said.source());
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

std::optional<Fact<Alpha>> Builder::alpha_of(const std::string& partition) const {
  const auto found = said_.partitions.find(partition);
  if (found == said_.partitions.end()) return std::nullopt;
  const At<int>& threshold = found->second.threshold;
  if (threshold.is_said()) return fact(Alpha::from_log2(threshold.value - 7), threshold.line);
  // Juniper's QFX5K buffer post: ingress lossless 7, lossy 10; egress lossless 10, lossy 7.
  const bool is_seven = partition == "ingress lossless" || partition == "egress lossy";
  return kDefaults.value(Alpha::from_log2(is_seven ? 0 : 3));
}

void Builder::resolve_groups(SwitchPort& port) {
  GroupBuffer& lossy = group_at(port, PriorityGroup::of(0));
  lossy.lossless = kDefaults.value(false);
  if (const auto alpha = alpha_of("ingress lossy")) lossy.alpha = *alpha;
  if (!port.pfc.is_known()) return;
  for (const JunosClass& cls : said_.classes) {
    if (!cls.is_lossless || !cls.pfc_priority) continue;
    if (!port.pfc->contains(Priority::of(*cls.pfc_priority))) continue;
    GroupBuffer& group = group_at(port, PriorityGroup::of(*cls.pfc_priority));
    group = {};
    group.group = PriorityGroup::of(*cls.pfc_priority);
    group.lossless = known(true, port.pfc.source());
    group.headroom_auto = kDefaults.value(true);
    if (const auto alpha = alpha_of("ingress lossless")) group.alpha = *alpha;
  }
}

void Builder::resolve_queues(const Binding& binding, SwitchPort& port) {
  const auto* const map = defined(said_.maps, binding.map, "scheduler-map");
  for (const JunosClass& cls : said_.classes) {
    if (cls.queue >= Queue::kLimit) continue;
    EgressQueue& queue = queue_at(port, Queue::of(cls.queue));
    if (!queue.ecn.is_known()) {
      queue.ecn = kDefaults.value(false);
      queue.wred_drop = kDefaults.value(false);
      queue.max_rate = kDefaults.value(BitRate());
    }
    if (const auto alpha = alpha_of(cls.is_lossless ? "egress lossless" : "egress lossy"))
      queue.alpha = *alpha;
    if (map == nullptr) continue;
    const auto named = map->find(cls.name);
    if (named == map->end()) continue;
    if (const SchedulerText* const scheduler =
            defined(said_.schedulers, named->second, "scheduler"))
      resolve_queue(*scheduler, queue);
  }
}

void Builder::resolve_queue(const SchedulerText& scheduler, EgressQueue& queue) {
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
  const DropProfile* const drop = defined(said_.drops, scheduler.drop_profile, "drop-profile");
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
  std::vector<Unread> unread;
  WEIR_TRY(statements, junos_statements(text, file, unread));
  WEIR_TRY(said, read_statements(rules(), statements, file, unread));
  return Builder(std::move(said), statements, file, std::move(unread)).build();
}

Platform junos() {
  return platform_row(
      {.system = design::SwitchSystem::kJunos,
       .how_load = "configure; load set FILE; commit check; commit confirmed 5; commit",
       .lower = junos_lower,
       .render = junos_render,
       .recognises = junos_recognises,
       .parse = junos_parse});
}

}  // namespace weir::platforms

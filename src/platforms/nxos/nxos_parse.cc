#include "platforms/nxos/nxos_parse.h"

#include <algorithm>
#include <map>

#include <fmt/format.h>

#include "base/text.h"
#include "platforms/common/lower_common.h"
#include "platforms/common/statement.h"
#include "units/dscp_name.h"

namespace weir::platforms::nxos_cli {
namespace {

using evidence::Fact;
using evidence::Missing;

// ---- what was said ----

struct ClassMap {
  std::vector<unsigned> dscp;
  std::vector<unsigned> cos;
};
struct QosClass {
  std::string name;
  Fact<unsigned> group;
  Fact<Dscp> dscp;
};
struct QosPolicy {
  std::vector<QosClass> classes;
};
struct NetworkClass {
  Fact<unsigned> cos;
  Fact<Bytes> mtu;
};
using NetworkPolicy = std::map<unsigned, NetworkClass>;  // by qos-group
struct PauseBuffer {
  Bytes size;
  Bytes xoff;
  Bytes xon;
  std::string source;
};
struct QueuePolicy {
  std::array<bool, 8> has_queue{};
  std::array<evidence::EgressQueue, 8> queues;
  std::map<unsigned, PauseBuffer> pauses;  // by qos-group
};
struct Port {
  Fact<Bytes> mtu;
  Fact<std::string> mode;
  Fact<bool> watchdog;
  bool only_logs = false;
  Fact<std::string> qos;
  Fact<std::string> out;
  Fact<std::string> in;
  Fact<bool> pause;
  Fact<bool> lldp;
  bool sends_tlv = false;
};

struct Said {
  std::string hostname;
  std::map<std::string, ClassMap, std::less<>> class_maps;
  std::map<std::string, unsigned, std::less<>> network_maps;  // class-map type network-qos
  std::map<std::string, QosPolicy, std::less<>> qos;
  std::map<std::string, NetworkPolicy, std::less<>> network;
  std::map<std::string, QueuePolicy, std::less<>> queuing;
  Fact<std::string> system_network;
  Fact<std::string> system_out;
  Fact<std::string> system_qos;
  std::map<std::string, Port, std::less<>> ports;
  std::map<std::string, evidence::SwitchInterface, std::less<>> interfaces;
  Fact<bool> watchdog;
  Fact<Duration> interval;
  Fact<unsigned> shutdown;
  Fact<unsigned> auto_restore;
  Fact<unsigned> fixed_restore;
  Fact<bool> lldp;
  Fact<unsigned> seed;
  Fact<std::string> dlb;
  Fact<bool> store_forward;
  evidence::Telemetry telemetry;
};

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
  static Error unsupported(std::string why) { return {ErrorCode::kUnsupported, std::move(why)}; }
  static bool is_port(std::string_view name) { return name.rfind("Ethernet", 0) == 0; }

  Status hostname(const Taken& t) {
    said_.hostname = t[0];
    return {};
  }

  // ---- classification ----

  Status class_map(const Taken& t) {
    said_.class_maps[t[1]];
    return {};
  }
  Status match_dscp(const Taken& t) {
    std::string codes = t[2];
    std::replace(codes.begin(), codes.end(), ',', ' ');
    for (const std::string& word : words_of(codes)) {
      if (const auto named = dscp_named(word)) {
        said_.class_maps[t[1]].dscp.push_back(named->value());
        continue;
      }
      WEIR_TRY(numbers, read_numbers(word, Dscp::kLimit, "a DSCP"));
      for (const unsigned d : numbers)
        said_.class_maps[t[1]].dscp.push_back(d);
    }
    return {};
  }
  Status match_cos(const Taken& t) {
    WEIR_TRY(numbers, read_numbers(t[2], 8, "a CoS"));
    for (const unsigned c : numbers)
      said_.class_maps[t[1]].cos.push_back(c);
    return {};
  }
  Status policy_qos(const Taken& t) {
    said_.qos[t[0]];
    return {};
  }
  QosClass& qos_class(const Taken& t) {
    std::vector<QosClass>& classes = said_.qos[t[0]].classes;
    for (QosClass& one : classes)
      if (one.name == t[1]) return one;
    return classes.emplace_back(QosClass{t[1], {}, {}});
  }
  Status policy_class(const Taken& t) {
    if (t[1] != "class-default" && said_.class_maps.find(t[1]) == said_.class_maps.end())
      return unsupported(fmt::format("class {} is not defined above", t[1]));
    qos_class(t);
    return {};
  }
  Status set_group(const Taken& t) {
    WEIR_TRY(group, read_number(t[2], 0, 7, "a qos-group"));
    set(qos_class(t).group, static_cast<unsigned>(group));
    return {};
  }
  Status set_dscp(const Taken& t) {
    WEIR_TRY(value, read_number(t[2], 0, 63, "a DSCP"));
    set(qos_class(t).dscp, Dscp::of(static_cast<unsigned>(value)));
    return {};
  }

  // ---- network-qos ----

  Status network_map(const Taken& t) {
    WEIR_TRY(group, read_number(t[1], 0, 7, "a qos-group"));
    said_.network_maps[t[0]] = static_cast<unsigned>(group);
    return {};
  }
  Result<NetworkClass*> network_class(const Taken& t) {
    constexpr std::string_view kBuiltIn = "c-8q-nq";
    const auto own = said_.network_maps.find(t[1]);
    unsigned group = 0;
    if (own != said_.network_maps.end()) {
      group = own->second;
    } else if (t[1].rfind(kBuiltIn, 0) == 0) {
      if (t[1] != "c-8q-nq-default") {
        WEIR_TRY(number, read_number(t[1].substr(kBuiltIn.size()), 0, 7, "a queue"));
        group = static_cast<unsigned>(number);
      }
    } else {
      return unsupported(fmt::format("which qos-group class {} is, is not said above", t[1]));
    }
    return &said_.network[t[0]][group];
  }
  Status policy_network(const Taken& t) {
    said_.network[t[0]];
    return {};
  }
  Status network_head(const Taken& t) {
    WEIR_TRY(unused, network_class(t));
    static_cast<void>(unused);
    return {};
  }
  Status pause_cos(const Taken& t) {
    WEIR_TRY(in, network_class(t));
    WEIR_TRY(cos, read_number(t[2], 0, 7, "a CoS"));
    set(in->cos, static_cast<unsigned>(cos));
    return {};
  }
  Status class_mtu(const Taken& t) {
    WEIR_TRY(in, network_class(t));
    WEIR_TRY(bytes, read_number(t[2], 576, 9216, "an MTU"));
    set(in->mtu, Bytes::raw(bytes));
    return {};
  }

  // ---- queuing ----

  static Result<unsigned> queue_index(const std::string& name) {
    for (const std::string_view prefix : {"c-out-8q-q", "c-in-q", "c-in-8q-q"}) {
      if (name.rfind(prefix, 0) != 0) continue;
      const std::string rest = name.substr(prefix.size());
      if (rest == "-default") return 0U;
      WEIR_TRY(number, read_number(rest, 0, 7, "a queue"));
      return static_cast<unsigned>(number);
    }
    return unsupported(fmt::format("class {} is not one of the eight queues", name));
  }
  Result<evidence::EgressQueue*> queue(const Taken& t) {
    WEIR_TRY(index, queue_index(t[1]));
    QueuePolicy& policy = said_.queuing[t[0]];
    policy.has_queue.at(index) = true;
    return &policy.queues.at(index);
  }
  Status policy_queuing(const Taken& t) {
    said_.queuing[t[0]];
    return {};
  }
  Status queue_head(const Taken& t) {
    WEIR_TRY(unused, queue(t));
    static_cast<void>(unused);
    return {};
  }
  Status bandwidth(const Taken& t) {
    WEIR_TRY(q, queue(t));
    WEIR_TRY(percent, read_number(t[2], 0, 100, "percent"));
    set(q->scheduler, evidence::Scheduler::kWeighted);
    set(q->weight, static_cast<unsigned>(percent));
    return {};
  }
  Status priority(const Taken& t) {
    WEIR_TRY(q, queue(t));
    set(q->scheduler, evidence::Scheduler::kStrict);
    return {};
  }
  Status shape(const Taken& t) {
    WEIR_TRY(q, queue(t));
    WEIR_TRY(rate, read_rate(t[4], t[5]));
    set(q->max_rate, rate);
    return {};
  }
  /// "minimum-threshold 100 kbytes maximum-threshold … drop-probability 10 weight 0 [ecn]".
  Status detect(const Taken& t) {
    WEIR_TRY(q, queue(t));
    const std::vector<std::string> words = words_of(t[2]);
    std::optional<Error> unit;
    bool marks = false;
    for (std::size_t i = 0; i < words.size();) {
      const bool is_threshold = words[i] == "minimum-threshold" || words[i] == "maximum-threshold";
      const std::size_t needs = words[i] == "ecn" ? 0 : is_threshold ? 2 : 1;
      if (i + needs >= words.size())
        return parse_error(
            fmt::format("expected a value after '{}', found the end of the line", words[i]));
      if (words[i] == "ecn") {
        marks = true;
      } else if (is_threshold) {
        const auto size = read_size(words[i + 1], words[i + 2]);
        if (!size && size.error().code != ErrorCode::kUnsupported) return size.error();
        if (!size) unit = size.error();
        if (size) set(words[i][1] == 'i' ? q->ecn_min : q->ecn_max, *size);
      } else if (words[i] == "drop-probability") {
        WEIR_TRY(percent, read_number(words[i + 1], 1, 100, "percent"));
        set(q->ecn_probability, 1_percent * percent);
      } else if (words[i] == "weight") {
        WEIR_TRY(weight, read_number(words[i + 1], 0, 15, "a weight"));
        set(q->ecn_weight, static_cast<unsigned>(weight));
      } else {
        return parse_error(
            fmt::format("expected minimum-threshold, maximum-threshold, "
                        "drop-probability, weight or ecn, found '{}'",
                        words[i]));
      }
      i += needs + 1;
    }
    set(q->ecn, marks);
    set(q->wred_drop, !marks);
    if (unit) return *unit;
    return {};
  }
  Status pause_buffer(const Taken& t) {
    WEIR_TRY(index, queue_index(t[1]));
    constexpr std::int64_t kMost = kMostBuffer.raw();
    WEIR_TRY(size, read_number(t[2], kLeastThreshold.raw(), kMost, "bytes"));
    WEIR_TRY(xoff, read_number(t[3], kLeastThreshold.raw(), size, "bytes"));
    WEIR_TRY(xon, read_number(t[4], 0, xoff, "bytes"));
    said_.queuing[t[0]].pauses[index] = {Bytes::raw(size), Bytes::raw(xoff), Bytes::raw(xon),
                                         source_};
    return {};
  }

  // ---- the system ----

  Status system_network(const Taken& t) {
    set(said_.system_network, t[0]);
    return {};
  }
  Status system_out(const Taken& t) {
    set(said_.system_out, t[0]);
    return {};
  }
  Status system_qos(const Taken& t) {
    set(said_.system_qos, t[0]);
    return {};
  }
  Status watchdog(const Taken& t) {
    set(said_.watchdog, t[0] == "on");
    return {};
  }
  Status interval(const Taken& t) {
    WEIR_TRY(ms, read_number(t[0], 100, 1'000, "milliseconds"));
    set(said_.interval, 1_ms * ms);
    return {};
  }
  Status multiplier(Fact<unsigned>& fact, const std::string& word) {
    WEIR_TRY(times, read_number(word, 0, 1'000, "a multiplier"));
    set(fact, static_cast<unsigned>(times));
    return {};
  }
  Status shutdown(const Taken& t) { return multiplier(said_.shutdown, t[0]); }
  Status auto_restore(const Taken& t) { return multiplier(said_.auto_restore, t[0]); }
  Status fixed_restore(const Taken& t) { return multiplier(said_.fixed_restore, t[0]); }
  Status feature(const Taken& t) {
    if (t[0] == "lldp") set(said_.lldp, true);
    if (t[0] == "grpc") set(said_.telemetry.gnmi, true);
    if (t[0] == "sflow") set(said_.telemetry.sflow, true);
    return {};
  }
  Status poll(const Taken& t) {
    WEIR_TRY(seconds, read_number(t[0], 0, 2'147'483'647, "seconds"));
    set(said_.telemetry.interval, 1_s * seconds);
    return {};
  }
  Status seed(const Taken& t) {
    WEIR_TRY(value, read_number(t[0], 0, 4'294'967'295, "a universal-id"));
    set(said_.seed, static_cast<unsigned>(value));
    return {};
  }
  Status dlb(const Taken&) {
    if (!said_.dlb.is_known()) set(said_.dlb, std::string("adaptive"));
    return {};
  }
  Status dlb_mode(const Taken& t) {
    set(said_.dlb, std::string(t[0] == "per-packet" ? "spray" : "adaptive"));
    return {};
  }
  Status store_forward(const Taken&) {
    set(said_.store_forward, true);
    return {};
  }

  // ---- interfaces ----

  evidence::SwitchInterface* interface(const std::string& name) {
    const bool is_channel = name.rfind("port-channel", 0) == 0;
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
    WEIR_TRY(bytes, read_number(t[1], 576, 9216, "an MTU"));
    if (is_port(t[0])) {
      set(said_.ports[t[0]].mtu, Bytes::raw(bytes));
    } else if (evidence::SwitchInterface* one = interface(t[0])) {
      set(one->mtu, Bytes::raw(bytes));
    }
    return {};
  }
  Status pfc_mode(const Taken& t) {
    if (t[1] != "on" && t[1] != "off" && t[1] != "auto")
      return parse_error(fmt::format("expected on, off or auto, found '{}'", t[1]));
    set(said_.ports[t[0]].mode, t[1]);
    return {};
  }
  Status pfc_tlv(const Taken& t) {
    set(said_.ports[t[0]].mode, std::string("on"));
    said_.ports[t[0]].sends_tlv = true;
    return {};
  }
  Status port_watchdog(const Taken& t) {
    set(said_.ports[t[0]].watchdog, t[1] == "on");
    return {};
  }
  Status port_logs(const Taken& t) {
    set(said_.ports[t[0]].watchdog, true);
    said_.ports[t[0]].only_logs = true;
    return {};
  }
  Status port_qos(const Taken& t) {
    set(said_.ports[t[0]].qos, t[1]);
    return {};
  }
  Status port_out(const Taken& t) {
    set(said_.ports[t[0]].out, t[1]);
    return {};
  }
  Status port_in(const Taken& t) {
    set(said_.ports[t[0]].in, t[1]);
    return {};
  }
  Status pause(const Taken& t) {
    Port& port = said_.ports[t[0]];
    set(port.pause, t[2] == "on" || port.pause.is(true));
    return {};
  }
  Status no_lldp(const Taken& t) {
    set(said_.ports[t[0]].lldp, false);
    return {};
  }
  Status member(const Taken& t) {
    evidence::SwitchInterface& one = *interface("port-channel" + t[1]);
    std::vector<std::string> members =
        one.members.is_known() ? *one.members : std::vector<std::string>();
    members.push_back(t[0]);
    set(one.members, std::move(members));
    return {};
  }

  static const std::vector<Rule<Reader>> kRules;
  std::string_view file_;
  std::string source_;
  Said said_;
  std::vector<Unread> unread_;
};

const std::vector<Rule<Reader>> Reader::kRules = {
    {"hostname *", &Reader::hostname},
    {"feature *", &Reader::feature},
    {"class-map type qos * *", &Reader::class_map},
    {"class-map type qos * * | match dscp **", &Reader::match_dscp},
    {"class-map type qos * * | match cos **", &Reader::match_cos},
    {"class-map type network-qos *", nullptr},
    {"class-map type network-qos * | match qos-group *", &Reader::network_map},
    {"policy-map type qos *", &Reader::policy_qos},
    {"policy-map type qos * | class *", &Reader::policy_class},
    {"policy-map type qos * | class * | set qos-group *", &Reader::set_group},
    {"policy-map type qos * | class * | set dscp *", &Reader::set_dscp},
    {"policy-map type network-qos *", &Reader::policy_network},
    {"policy-map type network-qos * | class type network-qos *", &Reader::network_head},
    {"policy-map type network-qos * | class type network-qos * | pause pfc-cos *",
     &Reader::pause_cos},
    {"policy-map type network-qos * | class type network-qos * | mtu *", &Reader::class_mtu},
    {"policy-map type queuing *", &Reader::policy_queuing},
    {"policy-map type queuing * | class type queuing *", &Reader::queue_head},
    {"policy-map type queuing * | class type queuing * | bandwidth remaining percent *",
     &Reader::bandwidth},
    {"policy-map type queuing * | class type queuing * | bandwidth percent *", &Reader::bandwidth},
    {"policy-map type queuing * | class type queuing * | priority level *", &Reader::priority},
    {"policy-map type queuing * | class type queuing * | shape min * * max * *", &Reader::shape},
    {"policy-map type queuing * | class type queuing * | random-detect **", &Reader::detect},
    {"policy-map type queuing * | class type queuing * | pause buffer-size * pause-threshold * "
     "resume-threshold *",
     &Reader::pause_buffer},
    {"system qos", nullptr},
    {"system qos | service-policy type network-qos *", &Reader::system_network},
    {"system qos | service-policy type queuing output *", &Reader::system_out},
    {"system qos | service-policy type qos input *", &Reader::system_qos},
    {"priority-flow-control watch-dog-interval *", &Reader::watchdog},
    {"priority-flow-control watch-dog interval *", &Reader::interval},
    {"priority-flow-control watch-dog shutdown-multiplier *", &Reader::shutdown},
    {"priority-flow-control auto-restore multiplier *", &Reader::auto_restore},
    {"priority-flow-control fixed-restore multiplier *", &Reader::fixed_restore},
    {"sflow counter-poll-interval *", &Reader::poll},
    {"ip load-sharing address source-destination port source-destination universal-id *",
     &Reader::seed},
    {"hardware profile dlb", &Reader::dlb},
    {"hardware profile dlb | mode *", &Reader::dlb_mode},
    {"switching-mode store-forward", &Reader::store_forward},
    {"interface *", &Reader::interface_head},
    {"interface * | mtu *", &Reader::mtu},
    {"interface * | priority-flow-control mode *", &Reader::pfc_mode},
    {"interface * | priority-flow-control mode on send-tlv", &Reader::pfc_tlv},
    {"interface * | priority-flow-control watch-dog-interval *", &Reader::port_watchdog},
    {"interface * | priority-flow-control watch-dog-interval on disable-action",
     &Reader::port_logs},
    {"interface * | service-policy type qos input *", &Reader::port_qos},
    {"interface * | service-policy type queuing output *", &Reader::port_out},
    {"interface * | service-policy type queuing input *", &Reader::port_in},
    {"interface * | flowcontrol * *", &Reader::pause},
    {"interface * | no lldp *", &Reader::no_lldp},
    {"interface * | channel-group *", &Reader::member},
    {"interface * | channel-group * mode *", &Reader::member},
    {"interface * | description **", nullptr},
    {"interface * | no switchport", nullptr},
    {"interface * | switchport", nullptr},
    {"interface * | switchport **", nullptr},
    {"interface * | ip **", nullptr},
    {"interface * | ipv6 **", nullptr},
    {"interface * | vrf **", nullptr},
    {"interface * | speed *", nullptr},
    {"interface * | no shutdown", nullptr},
    {"vlan *", nullptr},
    {"router bgp **", nullptr},
};

// ---- what that makes of the switch ----

class Builder {
 public:
  explicit Builder(const Said& said) : said_(said) {}

  evidence::Switch build() {
    const std::string by_default(kSource);
    out_.name = said_.hostname;
    out_.platform = known(std::string(vocab::names_of(vocab::SwitchSystem::kNxos).name));
    set_classes();
    set_watchdog();
    out_.load_balancing = said_.dlb.is_known() ? said_.dlb : known(std::string("ecmp"), by_default);
    out_.ecmp_seed = said_.seed;
    out_.cut_through = said_.store_forward.is_known() ? known(false, said_.store_forward.source())
                                                      : known(true, by_default);
    out_.lldp = said_.lldp.is_known() ? said_.lldp : known(false, by_default);
    out_.telemetry = said_.telemetry;
    for (Fact<bool>* fact : {&out_.telemetry.gnmi, &out_.telemetry.sflow})
      if (!fact->is_known()) *fact = known(false, by_default);
    for (const auto& [name, port] : said_.ports)
      add_port(name, port);
    for (const auto& [name, one] : said_.interfaces)
      interface_named(out_, name, one.kind) = one;
    return std::move(out_);
  }

 private:
  /// The classification that ports have in common: that of the first with one.
  [[nodiscard]] const QosPolicy* classification(std::string& source) const {
    Fact<std::string> name = said_.system_qos;
    for (const auto& [port_name, port] : said_.ports)
      if (!name.is_known() && port.qos.is_known()) name = port.qos;
    // A policy that nobody refers to is still the only one there is.
    if (!name.is_known() && said_.qos.size() == 1) {
      source = fmt::format("policy-map {}, applied nowhere", said_.qos.begin()->first);
      return &said_.qos.begin()->second;
    }
    if (!name.is_known()) return nullptr;
    source = name.source();
    const auto found = said_.qos.find(*name);
    return found == said_.qos.end() ? nullptr : &found->second;
  }

  void set_classes() {
    const std::string by_default(kSource);
    std::string source;
    const QosPolicy* policy = classification(source);
    std::array<std::optional<Dscp>, 8> rewrites{};
    if (policy != nullptr) set_maps(*policy, source, rewrites);
    std::array<Queue, 8> queues{};
    std::array<Queue, 8> paused{};
    std::array<PriorityGroup, 8> groups{};
    for (unsigned i = 0; i < 8; ++i) {
      queues.at(i) = Queue::of(i);
      paused.at(i) = Queue::of(i);
    }
    std::string network_source = by_default;
    if (const NetworkPolicy* network = network_policy()) {
      network_source = said_.system_network.source();
      for (const auto& [group, one] : *network) {
        if (!one.cos.is_known()) continue;
        paused.at(*one.cos) = Queue::of(group);
        groups.at(group) = PriorityGroup::of(*one.cos);
        no_drop_.insert(Priority::of(*one.cos));
      }
    }
    out_.tc_to_queue = known(queues, by_default);
    out_.tc_to_group = known(groups, network_source);
    out_.pfc_to_queue = known(paused, network_source);
    out_.tc_to_dscp = known(rewrites, source.empty() ? by_default : source);
  }

  void set_maps(const QosPolicy& policy, const std::string& source,
                std::array<std::optional<Dscp>, 8>& rewrites) {
    std::array<std::optional<TrafficClass>, 64> dscp{};
    std::array<std::optional<TrafficClass>, 8> cos{};
    bool has_dscp = false;
    bool has_cos = false;
    dscp.fill(TrafficClass::of(0));
    cos.fill(TrafficClass::of(0));
    for (const QosClass& one : policy.classes) {
      const unsigned group = one.group.is_known() ? *one.group : 0;
      if (one.dscp.is_known()) rewrites.at(group) = *one.dscp;
      rewrites_dscp_ |= one.dscp.is_known();
      const auto map = said_.class_maps.find(one.name);
      if (map == said_.class_maps.end()) continue;
      for (const unsigned d : map->second.dscp)
        dscp.at(d) = TrafficClass::of(group);
      for (const unsigned c : map->second.cos)
        cos.at(c) = TrafficClass::of(group);
      has_dscp |= !map->second.dscp.empty();
      has_cos |= !map->second.cos.empty();
    }
    if (has_dscp || !has_cos) out_.dscp_to_tc = known(dscp, source);
    if (has_cos) out_.pcp_to_tc = known(cos, source);
    trust_ = has_dscp && has_cos ? evidence::TrustMode::kBoth
             : has_cos           ? evidence::TrustMode::kPcp
                                 : evidence::TrustMode::kDscp;
  }

  [[nodiscard]] const NetworkPolicy* network_policy() const {
    if (!said_.system_network.is_known()) return nullptr;
    const auto found = said_.network.find(*said_.system_network);
    return found == said_.network.end() ? nullptr : &found->second;
  }

  void set_watchdog() {
    const std::string by_default(kSource);
    evidence::Watchdog& out = out_.watchdog;
    out.enabled = said_.watchdog.is_known() ? said_.watchdog : known(false, by_default);
    const Duration interval = said_.interval.is_known() ? *said_.interval : kInterval;
    const std::int64_t shutdown = said_.shutdown.is_known() ? *said_.shutdown : kShutdown;
    const std::int64_t restore =
        (said_.auto_restore.is_known() ? std::int64_t{*said_.auto_restore} : kRestore) +
        (said_.fixed_restore.is_known() ? std::int64_t{*said_.fixed_restore} : 0);
    const std::string source = said_.interval.is_known() ? said_.interval.source() : by_default;
    out.detection = known(interval * shutdown, source);
    out.restoration = known(interval * restore, source);
    out.action = known(std::string("drop"), by_default);
    for (const auto& [name, port] : said_.ports)
      if (port.only_logs) out.action = known(std::string("alert"), port.watchdog.source());
  }

  /// Frames of a class are as long as its network-qos allows: 1500 where that says nothing.
  [[nodiscard]] Fact<Bytes> mtu_of(const Port& port) const {
    Fact<Bytes> mtu = port.mtu.is_known() ? port.mtu : known(kDefaultMtu, std::string(kSource));
    if (const NetworkPolicy* network = network_policy()) {
      for (const auto& [group, one] : *network) {
        const Bytes limit = one.mtu.is_known() ? *one.mtu : kDefaultMtu;
        if (limit < *mtu)
          mtu = known(limit, one.mtu.is_known()
                                 ? one.mtu.source()
                                 : fmt::format("network-qos class of group {} without mtu", group));
      }
    }
    return mtu;
  }

  void add_port(const std::string& name, const Port& from) {
    const std::string by_default(kSource);
    evidence::SwitchPort port;
    port.name = name;
    port.mtu = mtu_of(from);
    const bool is_classified = from.qos.is_known() || said_.system_qos.is_known();
    port.trust = is_classified ? known(trust_, from.qos.is_known() ? from.qos.source()
                                                                   : said_.system_qos.source())
                               : known(evidence::TrustMode::kNone, by_default);
    // PFC is negotiated unless somebody says otherwise.
    const std::string mode = from.mode.is_known() ? *from.mode : "auto";
    const std::string source = from.mode.is_known() ? from.mode.source() : by_default;
    port.pfc = known(mode == "off" ? PrioritySet() : no_drop_, source);
    port.pfc_negotiated = known(mode == "auto" && no_drop_.count() > 0, source);
    port.global_pause = from.pause.is_known() ? from.pause : known(false, by_default);
    port.watchdog = known(from.watchdog.is(true) && said_.watchdog.is(true),
                          from.watchdog.is_known() ? from.watchdog.source() : by_default);
    port.rewrites_dscp = known(rewrites_dscp_ && is_classified, source);
    port.max_rate = known(BitRate(), by_default);
    port.lldp = from.lldp.is_known() ? from.lldp : out_.lldp;
    port.dcbx = known(
        out_.lldp.is(true) && (mode == "auto" || from.sends_tlv) && no_drop_.count() > 0, source);
    set_groups(from, port);
    set_queues(from, port);
    port_named(out_, name) = std::move(port);
  }

  void set_groups(const Port& from, evidence::SwitchPort& port) {
    const QueuePolicy* input = nullptr;
    if (from.in.is_known()) {
      const auto found = said_.queuing.find(*from.in);
      if (found != said_.queuing.end()) input = &found->second;
    }
    for (unsigned p = 0; p < 8; ++p) {
      if (!port.pfc->contains(Priority::of(p))) continue;
      evidence::GroupBuffer& group = group_at(port, PriorityGroup::of(p));
      group.lossless = known(true, port.pfc.source());
      const unsigned queue = out_.pfc_to_queue->at(p).value();
      const bool by_hand = input != nullptr && input->pauses.count(queue) > 0;
      group.headroom_auto = known(!by_hand, by_hand ? from.in.source() : std::string(kSource));
      if (!by_hand) continue;
      const PauseBuffer& buffer = input->pauses.at(queue);
      group.headroom = known(buffer.size - buffer.xoff, buffer.source);
      group.xoff = known(buffer.xoff, buffer.source);
      group.xon = known(buffer.xoff - buffer.xon, buffer.source);
    }
  }

  void set_queues(const Port& from, evidence::SwitchPort& port) {
    const Fact<std::string>& name = from.out.is_known() ? from.out : said_.system_out;
    if (!name.is_known()) return;
    const auto policy = said_.queuing.find(*name);
    if (policy == said_.queuing.end()) return;
    const std::string by_default(kSource);
    for (unsigned q = 0; q < 8; ++q) {
      if (!policy->second.has_queue.at(q)) continue;
      evidence::EgressQueue queue = policy->second.queues.at(q);
      queue.queue = Queue::of(q);
      if (!queue.ecn.is_known()) queue.ecn = known(false, by_default);
      if (!queue.wred_drop.is_known()) queue.wred_drop = known(false, by_default);
      if (!queue.max_rate.is_known()) queue.max_rate = known(BitRate(), by_default);
      settle_queue(queue);
      queue_at(port, queue.queue) = std::move(queue);
    }
  }

  const Said& said_;
  evidence::Switch out_;
  PrioritySet no_drop_;
  evidence::TrustMode trust_ = evidence::TrustMode::kNone;
  bool rewrites_dscp_ = false;
};

}  // namespace

bool looks_like(std::string_view text) {
  for (const std::string_view raw : split(text, '\n')) {
    for (const std::string_view sign : {"policy-map type network-qos ", "policy-map type queuing ",
                                        "system qos", "priority-flow-control watch-dog"})
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

}  // namespace weir::platforms::nxos_cli

#include "platforms/nxos/nxos_parse.h"

#include <algorithm>
#include <map>

#include <fmt/format.h>

#include "base/text.h"
#include "platforms/common/read_common.h"
#include "units/dscp_name.h"

namespace weir::platforms::nxos_cli {
namespace {

constexpr Defaults kDefaults{kSource};

// ---- what the statements say ----

struct ClassMap {
  std::vector<unsigned> dscp;
  std::vector<unsigned> cos;
};
struct QosClass {
  std::string name;
  Fact<unsigned> group;
  Fact<Dscp> dscp;
};
using QosPolicy = std::vector<QosClass>;
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
  std::map<unsigned, EgressQueue> queues;  // by qos-group
  std::map<unsigned, PauseBuffer> pauses;
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
  Interfaces interfaces;
  PortModes modes;
  VlanText vlans;
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

// ---- statements with a grammar of their own ----

Status name_class_map(Said& said, const Taken& t, const Place&) {
  said.class_maps[t[1]];  // behind match-any or match-all
  return {};
}
Status match_dscp(Said& said, const Taken& t, const Place&) {
  std::string codes = t[2];
  std::replace(codes.begin(), codes.end(), ',', ' ');
  std::vector<unsigned>& dscp = said.class_maps[t[1]].dscp;
  for (const std::string& word : words_of(codes)) {
    if (const auto named = dscp_named(word)) {
      dscp.push_back(named->value());
      continue;
    }
    WEIR_TRY(numbers, read_numbers(word, Dscp::kLimit, "a DSCP"));
    dscp.insert(dscp.end(), numbers.begin(), numbers.end());
  }
  return {};
}
Status match_cos(Said& said, const Taken& t, const Place&) {
  WEIR_TRY(numbers, read_numbers(t[2], 8, "a CoS"));
  std::vector<unsigned>& cos = said.class_maps[t[1]].cos;
  cos.insert(cos.end(), numbers.begin(), numbers.end());
  return {};
}

/// "policy-map type qos POLICY | class NAME".
Result<QosClass*> qos_class(Said& said, Words& words) {
  QosPolicy& policy = said.qos[words.next()];
  const std::string& name = words.next();
  for (QosClass& known_class : policy)
    if (known_class.name == name) return &known_class;
  return &policy.emplace_back(QosClass{name, {}, {}});
}
Status name_qos_class(Said& said, const Taken& t, const Place& at) {
  if (t[1] != "class-default" && said.class_maps.find(t[1]) == said.class_maps.end())
    return unsupported(fmt::format("class {} is not defined above", t[1]));
  return names(qos_class)(said, t, at);
}

/// "policy-map type network-qos POLICY | class type network-qos NAME".
Result<NetworkClass*> network_class(Said& said, Words& words) {
  constexpr std::string_view kBuiltIn = "c-8q-nq";
  const std::string& policy = words.next();
  const std::string& name = words.next();
  const auto own = said.network_maps.find(name);
  unsigned group = 0;
  if (own != said.network_maps.end()) {
    group = own->second;
  } else if (name.rfind(kBuiltIn, 0) == 0) {
    if (name != "c-8q-nq-default") {
      WEIR_TRY(number, read_number(name.substr(kBuiltIn.size()), 0, 7, "a queue"));
      group = static_cast<unsigned>(number);
    }
  } else {
    return unsupported(fmt::format("the qos-group of class {} is not defined above", name));
  }
  return &said.network[policy][group];
}

Result<unsigned> queue_index(const std::string& name) {
  for (const std::string_view prefix : {"c-out-8q-q", "c-in-q", "c-in-8q-q"}) {
    if (name.rfind(prefix, 0) != 0) continue;
    const std::string rest = name.substr(prefix.size());
    if (rest == "-default") return 0U;
    WEIR_TRY(number, read_number(rest, 0, 7, "a queue"));
    return static_cast<unsigned>(number);
  }
  return unsupported(fmt::format("class {} is not one of the eight queues", name));
}
/// "policy-map type queuing POLICY | class type queuing NAME".
Result<EgressQueue*> queue_of(Said& said, Words& words) {
  const std::string& policy = words.next();
  WEIR_TRY(index, queue_index(words.next()));
  return &said.queuing[policy].queues[index];
}
/// "module 1 port 1-32 map 400g-2x": speed and number of sub-ports.
Status set_breakout(Said& said, const Taken& t, const Place&) {
  WEIR_TRY(cages, read_numbers(t[1], 256, "a port"));
  const std::string_view map = t[2];
  const std::size_t dash = map.find('-');
  const auto speed = read_port_speed(map.substr(0, dash));
  const bool has_count = dash != std::string_view::npos && map.ends_with('x');
  const auto count = has_count ? parse_u64(map.substr(dash + 1, map.size() - dash - 2))
                               : Result<std::uint64_t>(parse_error(""));
  if (!speed || !count || *count < 1 || *count > 8)
    return unsupported("a breakout map other than SPEED-COUNTx");
  for (const unsigned cage : cages) {
    PortMode& mode = mode_of(said.modes, fmt::format("Ethernet{}/{}", t[0], cage));
    mode.ports = static_cast<unsigned>(*count);
    mode.speed = *speed;
  }
  return {};
}
Status set_pause_buffer(Said& said, const Taken& t, const Place& at) {
  WEIR_TRY(index, queue_index(t[1]));
  WEIR_TRY(size, read_number(t[2], kLeastThreshold.raw(), kMostBuffer.raw(), "bytes"));
  WEIR_TRY(xoff, read_number(t[3], kLeastThreshold.raw(), size, "bytes"));
  WEIR_TRY(xon, read_number(t[4], 0, xoff, "bytes"));
  said.queuing[t[0]].pauses[index] = {Bytes::raw(size), Bytes::raw(xoff), Bytes::raw(xon),
                                      at.text()};
  return {};
}

Status set_feature(Said& said, const Taken& t, const Place& at) {
  if (t[0] == "lldp") assign(said.lldp, true, at);
  if (t[0] == "grpc") assign(said.telemetry.gnmi, true, at);
  if (t[0] == "sflow") assign(said.telemetry.sflow, true, at);
  return {};
}
Status name_dlb(Said& said, const Taken&, const Place& at) {
  if (!said.dlb.is_known()) assign(said.dlb, std::string("adaptive"), at);
  return {};
}
Status set_dlb(Said& said, const Taken& t, const Place& at) {
  assign(said.dlb, std::string(t[0] == "per-packet" ? "spray" : "adaptive"), at);
  return {};
}
Status join_channel(Said& said, const Taken& t, const Place& at) {
  add_member(said.interfaces, "port-channel" + t[1], t[0], at);
  return {};
}

// ---- the table of statements ----

Rules<Said> policy_rules() {
  using enum evidence::Scheduler;
  const std::string qos = "policy-map type qos *";
  const std::string network = "policy-map type network-qos *";
  const std::string network_qos = network + " | class type network-qos *";
  const std::string queuing = "policy-map type queuing *";
  const std::string queue = queuing + " | class type queuing *";
  const auto sets_share = both(sets(constant(kWeighted), queue_of, &EgressQueue::scheduler),
                               sets(number(0, 100, "percent"), queue_of, &EgressQueue::weight));
  return {
      {"class-map type qos * *", name_class_map},
      {"class-map type qos * * | match dscp **", match_dscp},
      {"class-map type qos * * | match cos **", match_cos},
      {"class-map type network-qos *", {}},
      {"class-map type network-qos * | match qos-group *",
       sets(number(0, 7, "a qos-group"), &Said::network_maps)},
      {qos, names(&Said::qos)},
      {qos + " | class *", name_qos_class},
      {qos + " | class * | set qos-group *",
       sets(number(0, 7, "a qos-group"), qos_class, &QosClass::group)},
      {qos + " | class * | set dscp *", sets(code<Dscp>("a DSCP"), qos_class, &QosClass::dscp)},
      {network, names(&Said::network)},
      {network_qos, names(network_class)},
      {network_qos + " | pause pfc-cos *",
       sets(number(0, 7, "a CoS"), network_class, &NetworkClass::cos)},
      {network_qos + " | mtu *",
       sets(times(1_B, 576, 9216, "an MTU"), network_class, &NetworkClass::mtu)},
      {queuing, names(&Said::queuing)},
      {queue, names(queue_of)},
      {queue + " | bandwidth remaining percent *", sets_share},
      {queue + " | bandwidth percent *", sets_share},
      {queue + " | priority level *", sets(constant(kStrict), queue_of, &EgressQueue::scheduler)},
      {queue + " | shape min * * max * *",
       sets(after(2, rate()), queue_of, &EgressQueue::max_rate)},
      {queue + " | random-detect **", sets_marking(false, queue_of)},
      {queue + " | pause buffer-size * pause-threshold * resume-threshold *", set_pause_buffer},
      {"system qos", {}},
      {"system qos | service-policy type network-qos *", sets(word(), &Said::system_network)},
      {"system qos | service-policy type queuing output *", sets(word(), &Said::system_out)},
      {"system qos | service-policy type qos input *", sets(word(), &Said::system_qos)},
  };
}

Rules<Said> box_rules() {
  const auto multiplier = number(0, 1'000, "a multiplier");
  using evidence::Telemetry;
  return {
      {"hostname *", sets(word(), &Said::hostname)},
      {"feature *", set_feature},
      {"priority-flow-control watch-dog-interval *", sets(is_word("on"), &Said::watchdog)},
      {"priority-flow-control watch-dog interval *",
       sets(times(Duration(1_ms), 100, 1'000, "milliseconds"), &Said::interval)},
      {"priority-flow-control watch-dog shutdown-multiplier *", sets(multiplier, &Said::shutdown)},
      {"priority-flow-control auto-restore multiplier *", sets(multiplier, &Said::auto_restore)},
      {"priority-flow-control fixed-restore multiplier *", sets(multiplier, &Said::fixed_restore)},
      {"sflow counter-poll-interval *", sets(times(Duration(1_s), 0, 2'147'483'647, "seconds"),
                                             &Said::telemetry, &Telemetry::interval)},
      {"ip load-sharing address source-destination port source-destination universal-id *",
       sets(number(0, 4'294'967'295, "a universal-id"), &Said::seed)},
      {"hardware profile dlb", name_dlb},
      {"hardware profile dlb | mode *", set_dlb},
      {"switching-mode store-forward", sets(constant(true), &Said::store_forward)},
      {"vlan *", declare_vlans<Said>},
      {"router bgp **", {}},
      {"interface breakout module * port * map *", set_breakout},
      {"no interface breakout module * port * map *", {}},
  };
}

Rules<Said> interface_rules() {
  const std::string pfc = "interface * | priority-flow-control";
  const std::string policy = "interface * | service-policy type";
  return {
      {"interface *", name_interface<Said>},
      {"interface * | switchport trunk allowed vlan *", join_vlans<Said>},
      {"interface * | switchport trunk allowed vlan add *", join_vlans<Said>},
      {"interface * | switchport access vlan *", join_vlans<Said>},
      {"interface * | switchport mode *", set_switchport_mode<Said>},
      {"interface * | mtu *", sets_mtu(576, 9216)},
      {pfc + " mode *", sets(choice<std::string>({{"on", "on"}, {"off", "off"}, {"auto", "auto"}}),
                             &Said::ports, &Port::mode)},
      {pfc + " mode on send-tlv", both(sets(constant(std::string("on")), &Said::ports, &Port::mode),
                                       sets(constant(true), &Said::ports, &Port::sends_tlv))},
      {pfc + " watch-dog-interval *", sets(is_word("on"), &Said::ports, &Port::watchdog)},
      {pfc + " watch-dog-interval on disable-action",
       both(sets(constant(true), &Said::ports, &Port::watchdog),
            sets(constant(true), &Said::ports, &Port::only_logs))},
      {policy + " qos input *", sets(word(), &Said::ports, &Port::qos)},
      {policy + " queuing output *", sets(word(), &Said::ports, &Port::out)},
      {policy + " queuing input *", sets(word(), &Said::ports, &Port::in)},
      {"interface * | flowcontrol * *", set_pause<Said>},
      {"interface * | no lldp *", sets(constant(false), &Said::ports, &Port::lldp)},
      {"interface * | channel-group *", join_channel},
      {"interface * | channel-group * mode *", join_channel},
  };
}

const Rules<Said>& rules() {
  static const Rules<Said> kRules = joined(box_rules(), policy_rules(), interface_rules(),
                                           other_interface_rules<Said>(), other_box_rules<Said>());
  return kRules;
}

// ---- from statements to the state of the switch ----

class Builder : StateBuilder<Said> {
 public:
  explicit Builder(const Said& said) : StateBuilder(said, kDefaults, vocab::SwitchSystem::kNxos) {}

  evidence::Switch build() {
    set_classes();
    set_watchdog();
    out_.load_balancing = kDefaults.unless(said_.dlb, std::string("ecmp"));
    out_.ecmp_seed = said_.seed;
    out_.cut_through = said_.store_forward.is_known() ? known(false, said_.store_forward.source())
                                                      : kDefaults.value(true);
    out_.lldp = kDefaults.unless(said_.lldp, false);
    for (const auto& [name, port] : said_.ports)
      if (is_ethernet(name)) add_port(name, with_channel(name, port));
    sort_ports(out_);
    evidence::Switch out = finish(kDefaultMtu);
    add_vlans(said_.vlans, out);
    return out;
  }

 private:
  /// Policies are the port-channel's; what else a member does not say, it has from there too.
  [[nodiscard]] Port with_channel(const std::string& name, const Port& port) const {
    Port out = port;
    const Fact<std::string> channel = channel_of(name);
    if (!out.mtu.is_known()) out.mtu = mtu_of_channel(channel, {});
    const Port* const from = find_named(said_.ports, channel);
    if (from == nullptr) return out;
    if (!out.mode.is_known()) {
      out.mode = from->mode;
      out.sends_tlv = from->sends_tlv;
    }
    inherit(out.qos, from->qos);
    inherit(out.out, from->out);
    inherit(out.in, from->in);
    inherit(out.pause, from->pause);
    return out;
  }

  /// The classification of all ports: that of the first port which has one.
  [[nodiscard]] const QosPolicy* classification(std::string& source) const {
    Fact<std::string> name = said_.system_qos;
    for (const auto& [port_name, port] : said_.ports)
      if (!name.is_known() && port.qos.is_known()) name = port.qos;
    // A single policy counts even where it is not applied.
    if (!name.is_known() && said_.qos.size() == 1) {
      source = fmt::format("policy-map {}, not applied", said_.qos.begin()->first);
      return &said_.qos.begin()->second;
    }
    if (name.is_known()) source = name.source();
    return find_named(said_.qos, name);
  }

  void set_classes() {
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
    std::string network_source(kSource);
    if (const NetworkPolicy* network = network_policy()) {
      network_source = said_.system_network.source();
      for (const auto& [group, network_class] : *network) {
        if (!network_class.cos.is_known()) continue;
        const unsigned cos = *network_class.cos;
        paused.at(cos) = Queue::of(group);
        groups.at(group) = PriorityGroup::of(cos);
        no_drop_.insert(Priority::of(cos));
      }
    }
    out_.tc_to_queue = kDefaults.value(queues);
    out_.tc_to_group = known(groups, network_source);
    out_.pfc_to_queue = known(paused, network_source);
    out_.tc_to_dscp = source.empty() ? kDefaults.value(rewrites) : known(rewrites, source);
  }

  void set_maps(const QosPolicy& policy, const std::string& source,
                std::array<std::optional<Dscp>, 8>& rewrites) {
    std::array<std::optional<TrafficClass>, 64> dscp{};
    std::array<std::optional<TrafficClass>, 8> cos{};
    bool has_dscp = false;
    bool has_cos = false;
    dscp.fill(TrafficClass::of(0));
    cos.fill(TrafficClass::of(0));
    for (const QosClass& qos : policy) {
      const unsigned group = qos.group.is_known() ? *qos.group : 0;
      if (qos.dscp.is_known()) rewrites.at(group) = *qos.dscp;
      rewrites_dscp_ |= qos.dscp.is_known();
      const auto map = said_.class_maps.find(qos.name);
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
    return find_named(said_.network, said_.system_network);
  }

  void set_watchdog() {
    evidence::Watchdog& out = out_.watchdog;
    out.enabled = kDefaults.unless(said_.watchdog, false);
    const Fact<Duration> interval = kDefaults.unless(said_.interval, kInterval);
    const auto times = [](const Fact<unsigned>& said, std::int64_t fallback) {
      return said.is_known() ? std::int64_t{*said} : fallback;
    };
    out.detection = known(*interval * times(said_.shutdown, kShutdown), interval.source());
    out.restoration =
        known(*interval * (times(said_.auto_restore, kRestore) + times(said_.fixed_restore, 0)),
              interval.source());
    out.action = kDefaults.value(std::string("drop"));
    for (const auto& [name, port] : said_.ports)
      if (port.only_logs) out.action = known(std::string("alert"), port.watchdog.source());
  }

  /// The MTU is limited by the network-qos class: 1500 where the class has none.
  [[nodiscard]] Fact<Bytes> mtu_of(const Port& port) const {
    Fact<Bytes> mtu = kDefaults.unless(port.mtu, kDefaultMtu);
    const NetworkPolicy* const network = network_policy();
    if (network == nullptr) return mtu;
    for (const auto& [group, network_class] : *network) {
      const Fact<Bytes> limit =
          network_class.mtu.is_known()
              ? network_class.mtu
              : known(kDefaultMtu, fmt::format("network-qos class of group {} without mtu", group));
      if (*limit < *mtu) mtu = limit;
    }
    return mtu;
  }

  void add_port(const std::string& name, const Port& from) {
    SwitchPort port;
    port.name = name;
    port.channel = channel_of(name);
    port.mtu = mtu_of(from);
    const bool is_classified = from.qos.is_known() || said_.system_qos.is_known();
    port.trust = is_classified ? known(trust_, from.qos.is_known() ? from.qos.source()
                                                                   : said_.system_qos.source())
                               : kDefaults.value(evidence::TrustMode::kNone);
    // PFC is negotiated by default.
    const Fact<std::string> mode = kDefaults.unless(from.mode, std::string("auto"));
    const bool is_auto = *mode == "auto";
    port.pfc = known(*mode == "off" ? PrioritySet() : no_drop_, mode.source());
    port.pfc_negotiated = known(is_auto && no_drop_.count() > 0, mode.source());
    port.global_pause = kDefaults.unless(from.pause, false);
    port.watchdog = known(from.watchdog.is(true) && said_.watchdog.is(true),
                          kDefaults.unless(from.watchdog, false).source());
    port.rewrites_dscp = known(rewrites_dscp_ && is_classified, mode.source());
    port.max_rate = kDefaults.value(BitRate());
    port.lldp = from.lldp.is_known() ? from.lldp : out_.lldp;
    port.dcbx = known(out_.lldp.is(true) && (is_auto || from.sends_tlv) && no_drop_.count() > 0,
                      mode.source());
    set_groups(from, port);
    set_queues(from, port);
    out_.ports.push_back(std::move(port));
  }

  void set_groups(const Port& from, SwitchPort& port) {
    const QueuePolicy* const input = find_named(said_.queuing, from.in);
    set_lossless_groups(port, [&](GroupBuffer& group, unsigned priority) {
      const unsigned queue = out_.pfc_to_queue->at(priority).value();
      if (input == nullptr || input->pauses.count(queue) == 0) return Fact<std::string>();
      const PauseBuffer& buffer = input->pauses.at(queue);
      group.headroom = known(buffer.size - buffer.xoff, buffer.source);
      group.xoff = known(buffer.xoff, buffer.source);
      group.xon = known(buffer.xoff - buffer.xon, buffer.source);
      return from.in;
    });
  }

  void set_queues(const Port& from, SwitchPort& port) {
    const QueuePolicy* const policy =
        find_named(said_.queuing, from.out.is_known() ? from.out : said_.system_out);
    if (policy == nullptr) return;
    for (const auto& [number, said] : policy->queues) {
      EgressQueue queue = said;
      queue.queue = Queue::of(number);
      kDefaults.settle(queue);
      queue_at(port, queue.queue) = std::move(queue);
    }
  }

  PrioritySet no_drop_;
  evidence::TrustMode trust_ = evidence::TrustMode::kNone;
  bool rewrites_dscp_ = false;
};

}  // namespace

bool looks_like(std::string_view text) {
  return has_line_with(text, {"policy-map type network-qos ", "policy-map type queuing ",
                              "system qos", "priority-flow-control watch-dog"});
}

Result<Parsed> parse(std::string_view text, std::string_view file) {
  return build_from<Builder>(rules(), indented_statements(text), file);
}

}  // namespace weir::platforms::nxos_cli

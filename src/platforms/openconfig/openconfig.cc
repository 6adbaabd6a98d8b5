#include "platforms/openconfig/openconfig.h"

#include <algorithm>

#include <fmt/format.h>

#include "base/json.h"
#include "base/text.h"
#include "design/file/words.h"
#include "platforms/common/lower_common.h"
#include "units/format.h"

namespace weir::platforms {
namespace {

PrioritySet used_queues(const design::Intent& intent, const design::SwitchIntent& wanted) {
  PrioritySet queues;
  const PrioritySet used = used_priorities(wanted, intent);
  for (unsigned p = 0; p < Priority::kLimit; ++p)
    if (used.contains(Priority::of(p)))
      queues.insert(Priority::of(wanted.priority_to_queue.at(p).value()));
  return queues;
}

void remark_what_is_missing(const design::Intent& intent, const design::SwitchIntent& wanted,
                            Remarks& remarks) {
  const std::string why = "not in the OpenConfig models";
  if (wanted.pfc.count() > 0)
    remarks.add("PFC", "priority " + to_text(wanted.pfc), "",
                why + ": without PFC no class is lossless");
  if (wanted.lossless.count() > 0) remarks.add("headroom", "from speed and cable", "", why);
  if (wanted.watchdog) remarks.add("PFC watchdog", to_text(wanted.watchdog_detect), "", why);
  remarks.add("ingress alpha", to_text(wanted.buffers.alpha), "", why);
  if (wanted.rewrites_dscp) remarks.add("DSCP rewriting", "on", "", "not rendered");
  if (wanted.load_balancing != design::LoadBalancing::kEcmp)
    remarks.add("load balancing", std::string(design::to_word(wanted.load_balancing)), "", why);
  if (wanted.trust == design::Trust::kPcp)
    remarks.add("trust", "PCP", "", "only DSCP classifiers are rendered");
  if (intent.telemetry.sflow || intent.telemetry.gnmi)
    remarks.add("telemetry", "on", "", "the collector subscribes");
  for (const design::SwitchPortIntent& port : wanted.ports) {
    if (port.channel != 0) remarks.add("port-channel", "on", "", "not rendered", port.name);
    if (port.shaper) remarks.add("shaper", to_text(*port.shaper), "", "not rendered", port.name);
    for (unsigned q = 0; q < Queue::kLimit; ++q)
      if (limit_of(wanted, port, q).raw() != 0)
        remarks.add(fmt::format("limit of queue {}", q), to_text(wanted.queues.at(q).limit), "",
                    "not rendered", port.name);
  }
}

EgressQueue lower_queue(const design::SwitchIntent& wanted, const design::SwitchPortIntent& port,
                        unsigned index, unsigned percent, Remarks& remarks) {
  EgressQueue out;
  out.queue = Queue::of(index);
  out.ecn = known(false);
  out.wred_drop = known(false);
  const design::Share8& share = wanted.queues.at(index);
  if (share.used) {
    const bool strict = share.scheduling == design::Scheduling::kStrict;
    out.scheduler = known(strict ? evidence::Scheduler::kStrict : evidence::Scheduler::kWeighted);
    if (!strict) out.weight = known(percent);
  }
  if (!is_queue_of(wanted, wanted.lossless, index)) return out;
  out.alpha = known(clamp_alpha(wanted, wanted.buffers.egress_alpha, "egress alpha", remarks));
  if (!port.wred.ecn) return out;
  out.ecn = known(true);
  out.ecn_min = known(port.wred.min);
  out.ecn_max = known(std::max(port.wred.min, port.wred.max));
  out.ecn_probability = known(marking_probability(wanted, port, remarks));
  return out;
}

// ---- writing ----

std::string queue_name(unsigned queue) {
  return fmt::format("Q{}", queue);
}

Json named(const std::string& name) {
  return {{"name", name}, {"config", {{"name", name}}}};
}

class Writer {
 public:
  explicit Writer(const evidence::Switch& state) : state_(state) {}

  std::string write() {
    Json root;
    root["openconfig-system:system"]["config"]["hostname"] = state_.name;
    Json interfaces = Json::array();
    for (const SwitchPort& port : state_.ports)
      interfaces.push_back({{"name", port.name},
                            {"config",
                             {{"name", port.name},
                              {"type", "iana-if-type:ethernetCsmacd"},
                              {"mtu", port.mtu->raw()}}}});
    root["openconfig-interfaces:interfaces"]["interface"] = std::move(interfaces);
    Json ports = Json::array();
    for (const SwitchPort& port : state_.ports)
      ports.push_back(port_of(port));
    Json& qos = root["openconfig-qos:qos"];
    write_queues(qos);
    if (state_.dscp_to_tc.is_known()) write_classifiers(qos);
    if (!marking_.empty())
      qos["queue-management-profiles"]["queue-management-profile"] = profiles(marking_);
    if (!buffers_.empty())
      qos["buffer-allocation-profiles"]["buffer-allocation-profile"] = profiles(buffers_);
    if (!schedulers_.empty()) qos["scheduler-policies"]["scheduler-policy"] = profiles(schedulers_);
    qos["interfaces"]["interface"] = std::move(ports);
    return root.dump(1) + "\n";
  }

 private:
  using Named = std::vector<std::pair<std::string, Json>>;

  /// Equal profiles share a name.
  static std::string name_of(Named& all, const std::string& wanted, const Json& body) {
    for (const auto& [name, known_body] : all)
      if (known_body == body) return name;
    all.emplace_back(all.empty() ? wanted : fmt::format("{}-{}", wanted, all.size() + 1), body);
    return all.back().first;
  }
  static Json profiles(const Named& all) {
    Json out = Json::array();
    for (const auto& [name, body] : all) {
      Json item = named(name);
      item.update(body);
      out.push_back(std::move(item));
    }
    return out;
  }

  void write_queues(Json& qos) const {
    Json queues = Json::array();
    Json groups = Json::array();
    if (!state_.ports.empty()) {
      for (const EgressQueue& queue : state_.ports.front().queues) {
        Json item = named(queue_name(queue.queue.value()));
        item["config"]["queue-id"] = queue.queue.value();
        queues.push_back(std::move(item));
        Json group = named("FG-" + queue_name(queue.queue.value()));
        group["config"]["output-queue"] = queue_name(queue.queue.value());
        groups.push_back(std::move(group));
      }
    }
    qos["queues"]["queue"] = std::move(queues);
    qos["forwarding-groups"]["forwarding-group"] = std::move(groups);
  }

  void write_classifiers(Json& qos) const {
    Json classifiers = Json::array();
    for (const auto& [type, family] : {std::pair("IPV4", "ipv4"), std::pair("IPV6", "ipv6")}) {
      Json terms = Json::array();
      for (unsigned queue = 0; queue < Queue::kLimit; ++queue) {
        Json points = Json::array();
        for (unsigned d = 0; d < Dscp::kLimit; ++d)
          if (state_.dscp_to_tc->at(d)->value() == queue) points.push_back(d);
        if (points.empty()) continue;
        const std::string id = queue_name(queue);
        terms.push_back({{"id", id},
                         {"config", {{"id", id}}},
                         {"conditions", {{family, {{"config", {{"dscp-set", points}}}}}}},
                         {"actions", {{"config", {{"target-group", "FG-" + id}}}}}});
      }
      Json item = named(fmt::format("ROCE-{}", type));
      item["config"]["type"] = type;
      item["terms"]["term"] = std::move(terms);
      classifiers.push_back(std::move(item));
    }
    qos["classifiers"]["classifier"] = std::move(classifiers);
  }

  Json port_of(const SwitchPort& port) {
    Json out = {{"interface-id", port.name},
                {"config", {{"interface-id", port.name}}},
                {"interface-ref", {{"config", {{"interface", port.name}}}}}};
    if (port.trust.is(evidence::TrustMode::kDscp)) {
      Json bound = Json::array();
      for (const char* const type : {"IPV4", "IPV6"})
        bound.push_back(
            {{"type", type}, {"config", {{"type", type}, {"name", fmt::format("ROCE-{}", type)}}}});
      out["input"]["classifiers"]["classifier"] = std::move(bound);
    }
    Json& output = out["output"];
    Json allocations = Json::array();
    Json queues = Json::array();
    for (const EgressQueue& queue : port.queues) {
      const std::string name = queue_name(queue.queue.value());
      if (queue.alpha.is_known()) {
        Json item = named(name);
        item["config"]["use-shared-buffer"] = true;
        item["config"]["shared-buffer-limit-type"] =
            "openconfig-qos:DYNAMIC_BASED_ON_SCALING_FACTOR";
        item["config"]["dynamic-limit-scaling-factor"] = queue.alpha->log2();
        allocations.push_back(std::move(item));
      }
      if (!queue.ecn.is(true)) continue;
      Json allocation = named(name);
      allocation["config"]["queue-management-profile"] = marking_name(queue);
      queues.push_back(std::move(allocation));
    }
    if (!allocations.empty())
      output["config"]["buffer-allocation-profile"] =
          name_of(buffers_, "ROCE-BUFFER", Json{{"queues", {{"queue", std::move(allocations)}}}});
    if (!queues.empty()) output["queues"]["queue"] = std::move(queues);
    const Json policy = scheduler_of(port);
    if (!policy.empty())
      output["scheduler-policy"]["config"]["name"] =
          name_of(schedulers_, "ROCE-SCHEDULER", Json{{"schedulers", {{"scheduler", policy}}}});
    if (output.is_null()) out.erase("output");
    return out;
  }

  std::string marking_name(const EgressQueue& queue) {
    const Json body = {
        {"wred",
         {{"uniform",
           {{"config",
             {{"min-threshold", std::to_string(queue.ecn_min->raw())},
              {"max-threshold", std::to_string(queue.ecn_max->raw())},
              {"enable-ecn", true},
              {"drop", *queue.wred_drop},
              {"max-drop-probability-percent", percent_of(*queue.ecn_probability)}}}}}}}};
    return name_of(marking_, "ROCE-ECN", body);
  }

  /// Strict queues first, one scheduler each; the others share the last by weight.
  static Json scheduler_of(const SwitchPort& port) {
    Json out = Json::array();
    Json shared = Json::array();
    for (const EgressQueue& queue : port.queues) {
      if (!queue.scheduler.is_known()) continue;
      const std::string name = queue_name(queue.queue.value());
      Json input = {{"id", name},
                    {"config", {{"id", name}, {"input-type", "QUEUE"}, {"queue", name}}}};
      if (*queue.scheduler == evidence::Scheduler::kWeighted) {
        input["config"]["weight"] = std::to_string(*queue.weight);
        shared.push_back(std::move(input));
        continue;
      }
      const auto sequence = out.size();
      out.push_back({{"sequence", sequence},
                     {"config", {{"sequence", sequence}, {"priority", "STRICT"}}},
                     {"inputs", {{"input", Json::array({input})}}}});
    }
    if (shared.empty()) return out;
    const auto sequence = out.size();
    out.push_back({{"sequence", sequence},
                   {"config", {{"sequence", sequence}}},
                   {"inputs", {{"input", std::move(shared)}}}});
    return out;
  }

  const evidence::Switch& state_;
  Named marking_;
  Named buffers_;
  Named schedulers_;
};

bool openconfig_recognises(std::string_view text) {
  return trim(text).starts_with('{') && text.find("\"openconfig-") != std::string_view::npos;
}

}  // namespace

Lowered openconfig_lower(const design::Intent& intent, const design::SwitchIntent& wanted) {
  Remarks remarks;
  Lowered out;
  evidence::Switch& state = out.state;
  state.name = wanted.name;
  state.platform = known(std::string(vocab::kOpenConfig));
  const bool by_dscp = wanted.trust == design::Trust::kDscp;
  if (by_dscp) {
    std::array<std::optional<TrafficClass>, 64> map;
    for (unsigned d = 0; d < Dscp::kLimit; ++d) {
      const unsigned priority = wanted.dscp_to_priority.at(d).value();
      map.at(d) = TrafficClass::of(wanted.priority_to_queue.at(priority).value());
    }
    if (!wanted.ports.empty()) state.dscp_to_tc = known(map);
  }
  std::array<Queue, 8> same{};
  for (unsigned q = 0; q < Queue::kLimit; ++q)
    same.at(q) = Queue::of(q);
  state.tc_to_queue = known(same);
  const PrioritySet queues = used_queues(intent, wanted);
  const std::array<unsigned, 8> percents = queue_percents(wanted);
  for (const design::SwitchPortIntent& port : wanted.ports) {
    SwitchPort& lowered = state.ports.emplace_back();
    lowered.name = port.name;
    lowered.mtu = known(port_mtu(wanted, port, remarks));
    if (by_dscp) lowered.trust = known(evidence::TrustMode::kDscp);
    for (unsigned q = 0; q < Queue::kLimit; ++q)
      if (queues.contains(Priority::of(q)))
        lowered.queues.push_back(lower_queue(wanted, port, q, percents.at(q), remarks));
  }
  remark_what_is_missing(intent, wanted, remarks);
  out.remarks = remarks.take();
  return out;
}

Rendered openconfig_render(const design::Intent& intent, const design::SwitchIntent& wanted) {
  const Lowered lowered = openconfig_lower(intent, wanted);
  Rendered out;
  out.remarks = lowered.remarks;
  out.files.push_back({wanted.name + ".openconfig.json", Writer(lowered.state).write()});
  std::string notes = fmt::format(
      "{0}.openconfig.json is only part of the QoS of {0}: OpenConfig has no PFC, headroom or\n"
      "watchdog, so no class is lossless yet. Set those in the switch's own configuration:\n"
      "weir render --to {1} --node {0}\n\nDifferences from the design:\n",
      wanted.name, design::to_word(wanted.system));
  for (const Remark& remark : lowered.remarks)
    notes += fmt::format("  {}: design {}, {} ({})\n", remark.what, remark.wanted,
                         remark.becomes.empty() ? "not expressed" : "here " + remark.becomes,
                         remark.why);
  out.files.push_back({wanted.name + ".notes.txt", std::move(notes)});
  return out;
}

const Platform& openconfig() {
  static const Platform kRow = {
      .system = design::SwitchSystem::kSonic,
      .name = vocab::kOpenConfig,
      .title = "OpenConfig (partial: no PFC, headroom or watchdog)",
      .how_load =
          "gnmic set --update-path / --update-file FILE, in addition to the switch's PFC settings",
      .lower = openconfig_lower,
      .render = openconfig_render,
      .recognises = openconfig_recognises,
      .parse = openconfig_parse,
  };
  return kRow;
}

}  // namespace weir::platforms

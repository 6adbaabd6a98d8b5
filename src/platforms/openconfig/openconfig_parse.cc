// Parsing the interfaces and qos trees of OpenConfig.
#include <algorithm>
#include <array>
#include <map>

#include <fmt/format.h>

#include "base/json_lines.h"
#include "base/text.h"
#include "platforms/common/lower_common.h"
#include "platforms/openconfig/openconfig.h"

namespace weir::platforms {
namespace {

/// Paths that are read, and paths without information of their own (repeated list keys,
/// references).
constexpr std::array<std::string_view, 56> kKnown = {"openconfig-interfaces:interfaces",
                                                     "openconfig-qos:qos",
                                                     "openconfig-system:system",
                                                     "config",
                                                     "hostname",
                                                     "interfaces",
                                                     "interface",
                                                     "name",
                                                     "type",
                                                     "mtu",
                                                     "queues",
                                                     "queue",
                                                     "queue-id",
                                                     "forwarding-groups",
                                                     "forwarding-group",
                                                     "output-queue",
                                                     "classifiers",
                                                     "classifier",
                                                     "terms",
                                                     "term",
                                                     "id",
                                                     "conditions",
                                                     "ipv4",
                                                     "ipv6",
                                                     "dscp-set",
                                                     "dscp",
                                                     "actions",
                                                     "target-group",
                                                     "queue-management-profiles",
                                                     "queue-management-profile",
                                                     "wred",
                                                     "uniform",
                                                     "min-threshold",
                                                     "max-threshold",
                                                     "enable-ecn",
                                                     "drop",
                                                     "max-drop-probability-percent",
                                                     "buffer-allocation-profiles",
                                                     "buffer-allocation-profile",
                                                     "use-shared-buffer",
                                                     "shared-buffer-limit-type",
                                                     "dynamic-limit-scaling-factor",
                                                     "scheduler-policies",
                                                     "scheduler-policy",
                                                     "schedulers",
                                                     "scheduler",
                                                     "sequence",
                                                     "priority",
                                                     "inputs",
                                                     "input",
                                                     "input-type",
                                                     "weight",
                                                     "interface-id",
                                                     "interface-ref",
                                                     "output",
                                                     "enabled"};

class Reader {
 public:
  Reader(const JsonNode& root, std::string_view text, std::string_view file)
      : root_(root), lines_(split(text, '\n')), file_(file) {}

  Result<Parsed> read() {
    list_unknown(root_);
    out_.state.platform = Fact<std::string>::of(std::string(vocab::kOpenConfig), file_);
    if (const JsonNode* const name =
            path(root_, {"openconfig-system:system", "config", "hostname"}))
      out_.state.name = name->text;
    read_interfaces();
    if (const JsonNode* const qos = root_.find("openconfig-qos:qos")) read_qos(*qos);
    if (error_) return *error_;
    return std::move(out_);
  }

 private:
  static const JsonNode* path(const JsonNode& from, std::initializer_list<std::string_view> keys) {
    const JsonNode* at = &from;
    for (const std::string_view key : keys) {
      at = at == nullptr ? nullptr : at->find(key);
    }
    return at;
  }
  /// The elements of a list at a path; none where it is not there.
  static const std::vector<JsonNode>& items(const JsonNode& from,
                                            std::initializer_list<std::string_view> keys) {
    static const std::vector<JsonNode> kNone;
    const JsonNode* const found = path(from, keys);
    return found == nullptr ? kNone : found->items;
  }
  static std::string name_of(const JsonNode& node) {
    const JsonNode* const name = node.find("name");
    return name == nullptr ? std::string() : name->text;
  }
  [[nodiscard]] std::string at(const JsonNode& node) const {
    return fmt::format("{}:{}", file_, node.line);
  }
  template <class T>
  [[nodiscard]] Fact<T> fact(T value, const JsonNode& node) const {
    return Fact<T>::of(std::move(value), at(node));
  }
  void list(const JsonNode& node, std::string why) {
    const auto index = static_cast<std::size_t>(std::max(node.line, 1)) - 1;
    const std::string text(index < lines_.size() ? trim(lines_[index]) : std::string_view());
    out_.unread.push_back({node.line, text, std::move(why)});
  }
  void list_unknown(const JsonNode& node) {
    for (const JsonNode& item : node.items)
      list_unknown(item);
    for (const JsonNode& value : node.members) {
      const std::string& key = value.key;
      if (std::find(kKnown.begin(), kKnown.end(), key) == kKnown.end())
        list(value, fmt::format("'{}' is not about QoS", key));
      else
        list_unknown(value);
    }
  }
  std::int64_t number(const JsonNode& node, std::string_view what, std::int64_t low,
                      std::int64_t high) {
    const bool is_negative = node.text.starts_with('-');
    const auto value = parse_u64(std::string_view(node.text).substr(is_negative ? 1 : 0));
    constexpr std::uint64_t kMost = std::uint64_t{1} << 60U;
    if (node.is_scalar() && value && *value <= kMost) {
      const std::int64_t signed_value = static_cast<std::int64_t>(*value) * (is_negative ? -1 : 1);
      if (signed_value >= low && signed_value <= high) return signed_value;
    }
    if (!error_)
      error_ = parse_error(fmt::format("{}: {}: expected a number from {} to {}, found '{}'",
                                       at(node), what, low, high,
                                       node.is_scalar() ? node.text : std::string(node.what())));
    return low;
  }

  void read_interfaces() {
    for (const JsonNode& node : items(root_, {"openconfig-interfaces:interfaces", "interface"})) {
      const std::string name = name_of(node);
      if (name.empty()) continue;
      SwitchPort& port = port_named(out_.state, name);
      if (const JsonNode* const mtu = path(node, {"config", "mtu"}))
        port.mtu = fact(Bytes::raw(number(*mtu, "mtu", 68, 65'535)), *mtu);
    }
  }

  void read_qos(const JsonNode& qos) {
    std::array<Queue, 8> same{};
    for (unsigned q = 0; q < Queue::kLimit; ++q)
      same.at(q) = Queue::of(q);
    out_.state.tc_to_queue = fact(same, qos);
    for (const JsonNode& node : items(qos, {"queues", "queue"})) {
      const JsonNode* const id = path(node, {"config", "queue-id"});
      if (id == nullptr) continue;
      const std::int64_t value = number(*id, "queue-id", 0, 255);
      if (value >= Queue::kLimit) {
        list(*id, "a queue above 7");
      } else {
        queues_.emplace(name_of(node), Queue::of(static_cast<unsigned>(value)));
      }
    }
    for (const JsonNode& group : items(qos, {"forwarding-groups", "forwarding-group"}))
      if (const JsonNode* const queue = path(group, {"config", "output-queue"}))
        groups_[name_of(group)] = queue->text;
    const auto index = [&](std::initializer_list<std::string_view> keys,
                           std::map<std::string, const JsonNode*>& into) {
      for (const JsonNode& profile : items(qos, keys))
        into[name_of(profile)] = &profile;
    };
    index({"classifiers", "classifier"}, classifiers_);
    index({"queue-management-profiles", "queue-management-profile"}, marking_);
    index({"buffer-allocation-profiles", "buffer-allocation-profile"}, buffers_);
    index({"scheduler-policies", "scheduler-policy"}, schedulers_);
    for (const JsonNode& port : items(qos, {"interfaces", "interface"}))
      read_port(port);
  }

  const JsonNode* defined(const std::map<std::string, const JsonNode*>& all, const JsonNode& name) {
    const auto found = all.find(name.text);
    if (found != all.end()) return found->second;
    list(name, fmt::format("names '{}', which is not in the file", name.text));
    return nullptr;
  }

  void read_port(const JsonNode& node) {
    const JsonNode* const id = node.find("interface-id");
    if (id == nullptr || !id->is_scalar() || id->text.empty()) return;
    SwitchPort& port = port_named(out_.state, id->text);
    for (const auto& [name, queue] : queues_) {
      EgressQueue& out = queue_at(port, queue);
      out.ecn = Fact<bool>::of(false, "default of OpenConfig");
      out.wred_drop = out.ecn;
    }
    for (const JsonNode& bound : items(node, {"input", "classifiers", "classifier"})) {
      const JsonNode* const name = path(bound, {"config", "name"});
      const JsonNode* const classifier = name == nullptr ? nullptr : defined(classifiers_, *name);
      if (classifier == nullptr) continue;
      port.trust = fact(evidence::TrustMode::kDscp, *name);
      if (!out_.state.dscp_to_tc.is_known()) read_classifier(*classifier);
    }
    if (const JsonNode* const name = path(node, {"output", "config", "buffer-allocation-profile"}))
      if (const JsonNode* const profile = defined(buffers_, *name)) read_buffers(*profile, port);
    for (const JsonNode& queue : items(node, {"output", "queues", "queue"}))
      read_marking(queue, port);
    if (const JsonNode* const name = path(node, {"output", "scheduler-policy", "config", "name"}))
      if (const JsonNode* const policy = defined(schedulers_, *name))
        read_schedulers(*policy, port);
  }

  /// Code points without a term have no entry: OpenConfig does not define their class.
  void read_classifier(const JsonNode& classifier) {
    std::array<std::optional<TrafficClass>, 64> map{};
    for (const JsonNode& term : items(classifier, {"terms", "term"})) {
      const JsonNode* const target = path(term, {"actions", "config", "target-group"});
      const auto group = target == nullptr ? groups_.end() : groups_.find(target->text);
      const auto queue = group == groups_.end() ? queues_.end() : queues_.find(group->second);
      if (queue == queues_.end()) {
        list(term, "a term without a queue");
        continue;
      }
      for (const char* const family : {"ipv4", "ipv6"}) {
        const JsonNode* const points =
            path(term, {"conditions", std::string_view(family), "config", "dscp-set"});
        if (points == nullptr) continue;
        for (const JsonNode& point : points->items)
          map.at(static_cast<std::size_t>(number(point, "dscp-set", 0, 63))) =
              TrafficClass::of(queue->second.value());
      }
    }
    out_.state.dscp_to_tc = fact(map, classifier);
  }

  EgressQueue* queue_of(const JsonNode& node, SwitchPort& port) {
    const auto found = queues_.find(name_of(node));
    if (found != queues_.end()) return &queue_at(port, found->second);
    list(node, "a queue that is not defined in the file");
    return nullptr;
  }

  void read_buffers(const JsonNode& profile, SwitchPort& port) {
    for (const JsonNode& node : items(profile, {"queues", "queue"})) {
      const JsonNode* const factor = path(node, {"config", "dynamic-limit-scaling-factor"});
      EgressQueue* const queue = queue_of(node, port);
      if (factor == nullptr || queue == nullptr) continue;
      const std::int64_t log2 = number(*factor, "dynamic-limit-scaling-factor", -15, 7);
      queue->alpha = fact(Alpha::from_log2(static_cast<int>(log2)), *factor);
    }
  }

  void read_marking(const JsonNode& node, SwitchPort& port) {
    const JsonNode* const name = path(node, {"config", "queue-management-profile"});
    EgressQueue* const queue = queue_of(node, port);
    if (name == nullptr || queue == nullptr) return;
    const JsonNode* const profile = defined(marking_, *name);
    const JsonNode* const config =
        profile == nullptr ? nullptr : path(*profile, {"wred", "uniform", "config"});
    if (config == nullptr) {
      queue->ecn = Fact<bool>::missing(evidence::Missing::kError, at(*name));
      return;
    }
    const auto is_true = [&](std::string_view key) {
      const JsonNode* const value = config->find(key);
      return value != nullptr && value->text == "true";
    };
    queue->ecn = fact(is_true("enable-ecn"), *config);
    queue->wred_drop = fact(is_true("drop"), *config);
    constexpr std::int64_t kMost = std::int64_t{1} << 50U;
    if (const JsonNode* const min = config->find("min-threshold"))
      queue->ecn_min = fact(Bytes::raw(number(*min, "min-threshold", 0, kMost)), *min);
    if (const JsonNode* const max = config->find("max-threshold"))
      queue->ecn_max = fact(Bytes::raw(number(*max, "max-threshold", 0, kMost)), *max);
    if (const JsonNode* const most = config->find("max-drop-probability-percent"))
      queue->ecn_probability =
          fact(1_percent * number(*most, "max-drop-probability-percent", 0, 100), *most);
  }

  void read_schedulers(const JsonNode& policy, SwitchPort& port) {
    for (const JsonNode& scheduler : items(policy, {"schedulers", "scheduler"})) {
      const JsonNode* const priority = path(scheduler, {"config", "priority"});
      const bool is_strict = priority != nullptr && priority->text == "STRICT";
      for (const JsonNode& input : items(scheduler, {"inputs", "input"})) {
        const JsonNode* const name = path(input, {"config", "queue"});
        const auto found = name == nullptr ? queues_.end() : queues_.find(name->text);
        if (found == queues_.end()) {
          list(input, "a scheduler without a queue");
          continue;
        }
        EgressQueue& queue = queue_at(port, found->second);
        queue.scheduler = fact(
            is_strict ? evidence::Scheduler::kStrict : evidence::Scheduler::kWeighted, scheduler);
        const JsonNode* const weight = path(input, {"config", "weight"});
        if (weight != nullptr && !is_strict)
          queue.weight =
              fact(static_cast<unsigned>(number(*weight, "weight", 0, 1'000'000)), *weight);
      }
    }
  }

  const JsonNode& root_;
  std::vector<std::string_view> lines_;
  std::string file_;
  std::optional<Error> error_;
  Parsed out_;
  std::map<std::string, Queue> queues_;
  std::map<std::string, std::string> groups_;  // forwarding group, queue
  std::map<std::string, const JsonNode*> classifiers_, marking_, buffers_, schedulers_;
};

}  // namespace

Result<Parsed> openconfig_parse(std::string_view text, std::string_view file) {
  WEIR_TRY(root, parse_json_lines(text, file));
  if (!root.is_object())
    return parse_error(fmt::format("{}:{}: expected an object of OpenConfig modules, found {}",
                                   file, root.line, root.what()));
  return Reader(root, text, file).read();
}

}  // namespace weir::platforms

// The JSON forms of rdma, dcb, ip and ethtool: `rdma -j statistic`, `rdma -j link`, `dcb -j pfc`,
// `dcb -j app`, `ip -j link`, `ethtool --json -S`. What is cut off or unknown does no harm: names
// and values alone are taken.
#include <algorithm>
#include <array>

#include "base/text.h"
#include "readers/paste/paste_tools.h"
#include "readers/paste/text_lines.h"

namespace weir::readers {
namespace {

/// A value with the names around it, from the outside to the inside.
struct JsonValue {
  std::string name;   // of the value, or of the list that it is in
  std::string value;  // without quotes
  std::size_t line = 0;
};

/// All values of the JSON that begins at the first line.
class JsonLines {
 public:
  explicit JsonLines(const PasteAt& at) : at_(at) {}

  /// How many lines it took; 0 where it is no JSON.
  std::size_t scan() {
    for (std::size_t n = 0; n < at_.lines.size(); ++n) {
      if (!scan_line(at_.line(n), n)) return 0;
      if (names_.empty()) return n + 1;
    }
    return at_.lines.size();
  }
  [[nodiscard]] const std::vector<JsonValue>& values() const { return values_; }

 private:
  bool scan_line(std::string_view text, std::size_t n) {
    constexpr std::size_t kDeepest = 64;
    for (std::size_t i = 0; i < text.size(); ++i) {
      const char c = text[i];
      if (c == '{' || c == '[') {
        if (names_.size() >= kDeepest) return false;
        names_.push_back(name_);
      } else if (c == '}' || c == ']') {
        if (names_.empty()) return false;
        name_.clear();
        names_.pop_back();
      } else if (c == '"') {
        const std::size_t end = text.find('"', i + 1);
        if (end == std::string_view::npos) return false;
        const std::string_view word = text.substr(i + 1, end - i - 1);
        if (trim(text.substr(end + 1)).starts_with(':')) {
          name_ = word;
        } else {
          add(word, n);
        }
        i = end;
      } else if (c != ',' && c != ':' && c != ' ' && c != '\t') {
        const std::size_t end = std::min(text.find_first_of(",]} \t", i), text.size());
        if (names_.empty()) return false;
        add(text.substr(i, end - i), n);
        i = end - 1;
      }
    }
    return true;
  }
  void add(std::string_view value, std::size_t line) {
    std::string name = name_;
    for (std::size_t i = names_.size(); name.empty() && i-- > 0;)
      name = names_[i];
    std::replace(name.begin(), name.end(), '-', '_');
    values_.push_back({std::move(name), std::string(value), line});
    name_.clear();
  }

  const PasteAt& at_;
  std::vector<std::string> names_;  // of the braces that are open
  std::string name_;
  std::vector<JsonValue> values_;
};

/// What the values say of NICs.
class JsonFacts {
 public:
  JsonFacts(const PasteAt& at, PasteSink& out) : at_(at), out_(out), device_(at.mark.device) {}

  void take(const JsonValue& item) {
    const PasteLine& line = at_.lines[item.line];
    if (item.name == "ifname") {
      device_ = item.value;
    } else if (item.name == "netdev") {
      out_.hosts().connect(out_.host(), device_, item.value);
    } else if (item.name == "state" && (item.value == "ACTIVE" || item.value == "DOWN")) {
      out_.set(nic().rdma.active, item.value == "ACTIVE", line);
    } else if (item.name == "physical_state") {
      // A port that was shut says nothing of its link.
      if (item.value == "DISABLED") {
        out_.paste().shut.push_back(device_);
      } else {
        out_.set(nic().link.up, item.value == "LINK_UP", line);
      }
    } else if (item.name == "prio_pfc") {
      pfc_.push_back(item.value == "true");
      if (pfc_.size() == Priority::kLimit) take_pfc(line);
    } else if (item.name == "dscp_prio") {
      take_code_point(item, line);
    } else if (item.name == "mtu") {
      take_mtu(item, line);
    } else if (const auto place = place_of_counter(item.name)) {
      take_count(item, *place);
    }
  }
  /// Whether anything was understood.
  [[nodiscard]] bool is_something() const { return is_something_; }
  [[nodiscard]] const std::string& device() const { return device_; }

 private:
  evidence::Nic& nic() {
    is_something_ = true;
    return out_.hosts().by_name(out_.host(), device_).nic;
  }
  void take_count(const JsonValue& item, counters::Place place) {
    const auto value = parse_u64(item.value);
    if (!value) return;
    is_something_ = true;
    PastedNic& found = out_.hosts().by_name(out_.host(), device_);
    add_count(found.dump_for(place, item.name), place, item.name, *value);
  }
  void take_pfc(const PasteLine& line) {
    PrioritySet set;
    for (unsigned p = 0; p < Priority::kLimit; ++p)
      if (pfc_[p]) set.insert(Priority::of(p));
    out_.set(nic().qos.pfc, set, line);
    pfc_.clear();
  }
  /// `[[26,3],[48,6]]`: two numbers each.
  void take_code_point(const JsonValue& item, const PasteLine& line) {
    const auto value = parse_u64(item.value);
    if (!value || *value >= Dscp::kLimit) return;
    if (!dscp_) {
      dscp_ = static_cast<unsigned>(*value);
      return;
    }
    evidence::Nic& found = nic();
    if (*value < Priority::kLimit) {
      auto map = found.qos.dscp_to_priority.is_known()
                     ? *found.qos.dscp_to_priority
                     : std::array<std::optional<Priority>, Dscp::kLimit>();
      map.at(*dscp_) = Priority::of(static_cast<unsigned>(*value));
      out_.set(found.qos.dscp_to_priority, map, line);
    }
    dscp_.reset();
  }
  void take_mtu(const JsonValue& item, const PasteLine& line) {
    const auto mtu = parse_u64(item.value);
    if (!mtu || *mtu > 65'536 || device_.empty()) return;
    is_something_ = true;
    out_.paste().mtus.push_back(
        {out_.host(), device_, Bytes::raw(static_cast<std::int64_t>(*mtu)), out_.cite(line)});
  }

  const PasteAt& at_;
  PasteSink& out_;
  std::string device_;
  std::vector<bool> pfc_;
  std::optional<unsigned> dscp_;
  bool is_something_ = false;
};

}  // namespace

bool begins_json(const PasteAt& at) {
  const std::string_view tool = at.mark.tool();
  const bool is_tool = tool == "rdma" || tool == "dcb" || tool == "ip" || tool == "ethtool";
  return is_tool && (at.line(0).starts_with('[') || at.line(0).starts_with('{'));
}

std::size_t read_json(const PasteAt& at, PasteSink& out) {
  JsonLines lines(at);
  const std::size_t taken = lines.scan();
  if (taken == 0) return 0;
  JsonFacts facts(at, out);
  for (const JsonValue& item : lines.values())
    facts.take(item);
  out.detail = "JSON";
  out.device = facts.device();
  return facts.is_something() ? taken : 0;
}

}  // namespace weir::readers

// What switches show of marking and sorting, statement by statement: thresholds of WRED, schedulers
// and drop profiles of Junos, classifications of NX-OS.
#include <algorithm>
#include <array>
#include <map>

#include "base/text.h"
#include "readers/paste/rows/rows_tools.h"
#include "readers/paste/text_lines.h"

namespace weir::readers {
namespace {

/// "150 kbytes" behind a key; the unit may stick to the number. In bytes, or in what has no unit.
std::optional<double> threshold_behind(const std::vector<std::string_view>& words,
                                       std::string_view key) {
  const auto at = std::find(words.begin(), words.end(), key);
  if (at == words.end() || at + 1 == words.end()) return std::nullopt;
  const auto value = leading_decimal(*(at + 1));
  if (!value || *value < 0) return std::nullopt;
  const std::string_view unit = at + 2 == words.end() ? std::string_view() : *(at + 2);
  const double scale = unit == "kbytes" ? 1e3 : unit == "mbytes" ? 1e6 : 1;
  return *value * scale;
}

}  // namespace

// "random-detect minimum-threshold 150 kbytes maximum-threshold 3000 kbytes …" (NX-OS),
// "random-detect ecn minimum-threshold 500 kbytes maximum-threshold 1500 kbytes …" (EOS).
void note_curves(const PasteAt& at, PasteSink& out) {
  for (std::size_t n = 0; n < at.lines.size(); ++n) {
    if (at.line(n).find("minimum-threshold") == std::string_view::npos) continue;
    const auto words = words_of(at.line(n));
    const auto min = threshold_behind(words, "minimum-threshold");
    const auto max = threshold_behind(words, "maximum-threshold");
    if (min && max)
      out.paste().rows.curves.push_back({out.host(), "", *min, *max, out.cite(at.lines[n])});
  }
}

// ---- schedulers of Junos ----

namespace {

struct SchedulerLine {
  std::string_view name;
  std::string_view statement;
};

/// "set class-of-service schedulers NAME …"; or a statement alone below `show configuration
/// class-of-service schedulers NAME`.
std::optional<SchedulerLine> scheduler_line(const PasteAt& at, std::size_t n) {
  const std::string_view text = at.line(n);
  constexpr std::string_view kSet = "set class-of-service schedulers ";
  if (text.starts_with(kSet)) {
    const std::string_view rest = text.substr(kSet.size());
    const std::size_t end = rest.find(' ');
    if (end == std::string_view::npos) return std::nullopt;
    return SchedulerLine{rest.substr(0, end), trim(rest.substr(end))};
  }
  const auto& words = at.mark.words;
  const auto word = std::find(words.begin(), words.end(), "schedulers");
  if (!text.ends_with(';') || word == words.end() || word + 1 == words.end() ||
      (word + 1)->starts_with("|"))
    return std::nullopt;
  return SchedulerLine{*(word + 1), text.substr(0, text.size() - 1)};
}

/// Statements of one scheduler are near each other: a text of thousands is not searched whole.
PasteScheduler& scheduler_of(std::string_view name, const PasteLine& line, PasteSink& out) {
  constexpr std::size_t kNear = 64;
  auto& all = out.paste().rows.schedulers;
  const auto known =
      std::find_if(all.end() - static_cast<std::ptrdiff_t>(std::min(all.size(), kNear)), all.end(),
                   [&](const PasteScheduler& item) {
                     return item.switch_name == out.host() && item.name == name;
                   });
  if (known != all.end()) return *known;
  all.push_back({out.host(), std::string(name), false, false, false, out.cite(line)});
  return all.back();
}

}  // namespace

bool begins_scheduler(const PasteAt& at) {
  return scheduler_line(at, 0).has_value();
}

std::size_t read_scheduler(const PasteAt& at, PasteSink& out) {
  std::size_t taken = 0;
  for (; taken < at.lines.size(); ++taken) {
    const auto line = scheduler_line(at, taken);
    if (!line) break;
    PasteScheduler& item = scheduler_of(line->name, at.lines[taken], out);
    if (line->statement.starts_with("explicit-congestion-notification")) {
      item.marks = true;
    } else if (line->statement.starts_with("drop-profile-map")) {
      item.has_curve = true;
      item.at = out.cite(at.lines[taken]);
    } else {
      item.has_more = true;
    }
  }
  return taken;
}

namespace {

/// The total of "RED-dropped packets  :  2882815   211 pps", and what it is per second.
struct RedCount {
  std::uint64_t total = 0;
  std::uint64_t rate = 0;
};
std::optional<RedCount> red_count(std::string_view text, std::string_view key) {
  if (!text.starts_with(key)) return std::nullopt;
  const std::size_t colon = text.find(':');
  if (colon == std::string_view::npos) return std::nullopt;
  const auto words = words_of(text.substr(colon + 1));
  const auto total = words.empty() ? std::nullopt : parse_count(words[0]);
  if (!total) return std::nullopt;
  return RedCount{*total, words.size() > 1 ? parse_count(words[1]).value_or(0) : 0};
}

}  // namespace

void note_red_drops(const PasteAt& at, std::string_view forwarding_class, PasteSink& out) {
  constexpr std::size_t kMost = 40;  // lines of one queue
  std::optional<RedCount> dropped;
  std::optional<RedCount> marked;
  std::size_t where = 0;
  for (std::size_t n = 1; n < at.lines.size() && n < kMost; ++n) {
    const std::string_view text = at.line(n);
    if (text.starts_with("Queue: ") || text.starts_with("Physical interface: ")) break;
    if (const auto count = red_count(text, "RED-dropped packets")) {
      dropped = count;
      where = n;
    }
    if (const auto count = red_count(text, "ECN-CE packets")) marked = count;
  }
  if (!dropped || !marked) return;
  out.paste().rows.red_queues.push_back({out.host(), port_of_command(at.mark),
                                         std::string(forwarding_class), dropped->total,
                                         dropped->rate, marked->total, out.cite(at.lines[where])});
}

// ---- classifications of NX-OS ----

namespace {

/// "26", "24-31", "8,26": code points; empty where one of them is none.
std::vector<unsigned> points_in(std::string_view text) {
  std::vector<unsigned> out;
  for (const std::string_view part : split(text, ',')) {
    const std::size_t dash = part.find('-');
    const auto first = parse_u64(part.substr(0, dash));
    const auto last = dash == std::string_view::npos ? first : parse_u64(part.substr(dash + 1));
    if (!first || !last || *first > *last || *last >= Dscp::kLimit) return {};
    for (std::uint64_t point = *first; point <= *last; ++point)
      out.push_back(static_cast<unsigned>(point));
  }
  return out;
}

/// Class maps and one policy, as the statements come.
class SortingReader {
 public:
  /// False where the line is none of a classification.
  bool take(std::string_view text) {
    const auto words = words_of(text);
    if (words.empty() || text == "!") return is_begun_;
    const bool is_map = words.size() > 3 && words[1] == "type" && words[2] == "qos";
    if ((words[0] == "class-map" || words[0] == "policy-map") && !is_map) return false;
    if (words[0] == "class-map") {
      is_policy_ = false;
      class_ = words.back();
    } else if (words[0] == "policy-map") {
      if (!policy_.empty()) return false;  // another one
      is_policy_ = true;
      policy_ = words.back();
    } else if (!is_begun_) {
      return false;
    } else if (words[0] == "class" && is_policy_) {
      class_ = words.back();
      order_.push_back(class_);
    } else if (words[0] == "match" && !is_policy_) {
      auto points =
          words.size() == 3 && words[1] == "dscp" ? points_in(words[2]) : std::vector<unsigned>();
      is_whole_ = is_whole_ && !points.empty();
      for (const unsigned point : points)
        points_[class_].push_back(point);
    } else if (words[0] == "set" && is_policy_) {
      const auto group =
          words.size() == 3 && words[1] == "qos-group" ? parse_count(words[2]) : std::nullopt;
      if (group && *group < TrafficClass::kLimit) groups_[class_] = static_cast<unsigned>(*group);
    } else if (words[0] != "description") {
      return false;
    }
    is_begun_ = true;
    return true;
  }

  /// nullopt where a class of the policy is not shown whole.
  [[nodiscard]] std::optional<PasteSorting> sorting() const {
    if (policy_.empty() || order_.empty() || !is_whole_) return std::nullopt;
    PasteSorting out;
    out.policy = policy_;
    for (const std::string& name : order_) {
      const auto group = groups_.find(name);
      if (name == "class-default") {
        out.others = group == groups_.end() ? 0 : group->second;
        continue;
      }
      const auto points = points_.find(name);
      if (points == points_.end() || group == groups_.end()) return std::nullopt;
      for (const unsigned point : points->second)  // the first class that matches decides
        if (!out.groups.at(point)) out.groups.at(point) = group->second;
    }
    return out;
  }

 private:
  bool is_begun_ = false;
  bool is_policy_ = false;
  bool is_whole_ = true;
  std::string class_;
  std::string policy_;
  std::vector<std::string> order_;
  std::map<std::string, std::vector<unsigned>> points_;
  std::map<std::string, unsigned> groups_;
};

}  // namespace

bool begins_sorting(const PasteAt& at) {
  return at.line(0).starts_with("class-map type qos ") ||
         at.line(0).starts_with("policy-map type qos ");
}

std::size_t read_sorting(const PasteAt& at, PasteSink& out) {
  SortingReader reader;
  std::size_t taken = 0;
  while (taken < at.lines.size() && reader.take(at.line(taken)))
    ++taken;
  auto found = reader.sorting();
  if (!found) return 0;  // its lines stay with the reader of the configuration
  found->switch_name = out.host();
  found->at = out.cite(at.lines[0]);
  out.paste().rows.sortings.push_back(std::move(*found));
  return taken;
}

}  // namespace weir::readers

// Settings of switches as people show them: entries of SONiC's CONFIG_DB (sonic-db-cli, redis-cli,
// JSON in whole or in pieces), queuing policies of NX-OS, classifiers of Junos and RoCE modes of
// Cumulus.
#include <algorithm>
#include <array>
#include <map>

#include <fmt/format.h>

#include "base/text.h"
#include "readers/paste/paste_tools.h"
#include "readers/paste/rows/rows_tools.h"
#include "readers/paste/text_lines.h"
#include "readers/switches/switch_show.h"

namespace weir::readers {
namespace {

constexpr auto kQosTables =
    std::to_array<std::string_view>({"DSCP_TO_TC_MAP", "PORT_QOS_MAP", "WRED_PROFILE", "QUEUE"});

bool is_qos_table(std::string_view name) {
  return std::find(kQosTables.begin(), kQosTables.end(), name) != kQosTables.end();
}

/// What the entries of one output say together.
class DbEntries {
 public:
  DbEntries(std::string_view switch_name, PasteSink& out) : switch_(switch_name), out_(out) {}

  /// One value: table, key and field from the outside to the inside; "TABLE|KEY" may be one.
  void add(const std::vector<std::string>& path, std::string_view value, const PasteLine& line) {
    std::vector<std::string> parts;
    for (const std::string& piece : path)
      for (const std::string_view part : split(std::string_view(piece), '|'))
        parts.emplace_back(part);
    auto table = std::find_if(parts.begin(), parts.end(), is_qos_table);
    // `jq .DSCP_TO_TC_MAP.AZURE` prints what is below the name of the map.
    const bool is_nameless = table != parts.end() && parts.end() - table == 2;
    if (is_nameless && *table == "DSCP_TO_TC_MAP") table = parts.insert(table + 1, "") - 1;
    if (table == parts.end() || parts.end() - table < 3) return;
    const std::string& key = *(table + 1);
    const std::string& field = parts.back();
    if (*table == "DSCP_TO_TC_MAP") add_code_point(field, value, line);
    if (*table == "PORT_QOS_MAP" && field == "pfc_enable") {
      if (const auto set = priorities_of_list(value))
        out_.paste().lossless.push_back({switch_, *set, out_.cite(line)});
    }
    if (*table == "WRED_PROFILE" && field == "ecn")
      profiles_.push_back({switch_, key, std::nullopt, value != "ecn_none", out_.cite(line)});
    if (*table == "WRED_PROFILE" && field.starts_with("green_m"))
      add_threshold(key, field, value, line);
    if (*table == "QUEUE" && field == "wred_profile" && parts.end() - table > 3) {
      const std::string_view name = value.substr(value.find('|') + 1);
      queues_.emplace_back(std::string(name.substr(0, name.find(']'))),
                           priorities_of_list(*(table + 2)));
    }
  }

  void finish() {
    for (const PasteWred& profile : profiles_) {
      bool is_bound = false;
      for (const auto& [name, queues] : queues_) {
        if (name != profile.profile || !queues) continue;
        for (unsigned queue = 0; queue < Priority::kLimit; ++queue) {
          if (!queues->contains(Priority::of(queue))) continue;
          PasteWred bound = profile;
          bound.queue = Queue::of(queue);
          add_once(std::move(bound));
          is_bound = true;
        }
      }
      if (!is_bound) add_once(profile);
    }
  }

 private:
  void add_code_point(std::string_view field, std::string_view value, const PasteLine& line) {
    const auto dscp = parse_u64(field);
    const auto tc = parse_u64(value);
    if (!dscp || *dscp >= Dscp::kLimit || !tc || *tc >= TrafficClass::kLimit) return;
    Cited at = out_.cite(line);  // the value alone says nothing to a reader
    at.text = fmt::format("DSCP_TO_TC_MAP {}: {}", field, value);
    out_.paste().code_points.push_back({switch_, Dscp::of(static_cast<unsigned>(*dscp)),
                                        TrafficClass::of(static_cast<unsigned>(*tc)),
                                        std::move(at)});
  }
  /// "green_min_threshold" and "green_max_threshold", in either order.
  void add_threshold(const std::string& profile, std::string_view field, std::string_view value,
                     const PasteLine& line) {
    const auto number = parse_u64(value);
    if (!number || (field != "green_min_threshold" && field != "green_max_threshold")) return;
    const bool is_min = field == "green_min_threshold";
    const auto other = thresholds_.find({profile, !is_min});
    thresholds_[{profile, is_min}] = static_cast<double>(*number);
    if (other == thresholds_.end()) return;
    const double min = is_min ? static_cast<double>(*number) : other->second;
    const double max = is_min ? other->second : static_cast<double>(*number);
    out_.paste().rows.curves.push_back({switch_, profile, min, max, out_.cite(line)});
  }
  /// A profile is bound to the queues of every port.
  void add_once(PasteWred item) {
    auto& all = out_.paste().wred;
    const bool is_known = std::any_of(all.begin(), all.end(), [&](const PasteWred& known) {
      return known.switch_name == item.switch_name && known.profile == item.profile &&
             known.queue == item.queue;
    });
    if (!is_known) all.push_back(std::move(item));
  }

  std::string switch_;
  PasteSink& out_;
  std::vector<PasteWred> profiles_;
  std::vector<std::pair<std::string, std::optional<PrioritySet>>> queues_;
  std::map<std::pair<std::string, bool>, double> thresholds_;  // by profile; true: the minimum
};

/// JSON, or a dictionary as Python prints it, in whole or in pieces: names and braces alone decide,
/// so that what is cut off or left out with dots does no harm.
class DbScanner {
 public:
  DbScanner(std::vector<std::string> start, DbEntries& out) : path_(std::move(start)), out_(out) {}

  /// False where the line is nothing of the kind.
  bool take(std::string_view text, const PasteLine& line) {
    if (text.empty() || text.find_first_of("{}\"'") == std::string_view::npos)
      return text.empty() || text.starts_with("...") || text == "," || text == "]" || text == "[";
    if (text[0] != '{' && text[0] != '}' && text[0] != '"' && text[0] != '\'') return false;
    for (std::size_t at = 0; at < text.size(); ++at) {
      const char c = text[at];
      if (c == '"' || c == '\'') {
        const std::size_t end = text.find(c, at + 1);
        if (end == std::string_view::npos) return true;
        take_string(text.substr(at + 1, end - at - 1), text.substr(end + 1), line);
        at = end;
      } else if (c == '{') {
        path_.push_back(name_);
        name_.clear();
        ++depth_;
      } else if (c == '}') {
        if (!path_.empty()) path_.pop_back();
        --depth_;
      }
    }
    return true;
  }
  [[nodiscard]] bool is_closed() const { return depth_ <= 0; }

 private:
  void take_string(std::string_view text, std::string_view rest, const PasteLine& line) {
    if (trim(rest).starts_with(':')) {
      name_ = text;
      return;
    }
    if (name_.empty()) return;
    std::vector<std::string> path;
    for (const std::string& part : path_)
      if (!part.empty()) path.push_back(part);
    path.push_back(name_);
    out_.add(path, text, line);
    name_.clear();
  }

  std::vector<std::string> path_;
  std::string name_;
  int depth_ = 0;
  DbEntries& out_;
};

/// `hget TABLE|KEY FIELD` and `hgetall TABLE|KEY` of sonic-db-cli and redis-cli.
struct DbQuery {
  std::string key;
  std::string field;  // empty: all of them
};
std::optional<DbQuery> db_query(const Mark& mark) {
  if (mark.tool() != "sonic-db-cli" && mark.tool() != "redis-cli") return std::nullopt;
  for (std::size_t i = 1; i + 1 < mark.words.size(); ++i) {
    std::string word = mark.words[i];
    std::transform(word.begin(), word.end(), word.begin(),
                   [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c + 32) : c; });
    const bool is_one = word == "hget";
    if (!is_one && word != "hgetall") continue;
    DbQuery out;
    out.key = mark.words[i + 1];
    if (is_one && i + 2 < mark.words.size()) out.field = mark.words[i + 2];
    if (is_one == out.field.empty()) return std::nullopt;
    const std::string_view table = std::string_view(out.key).substr(0, out.key.find('|'));
    return is_qos_table(table) ? std::optional(out) : std::nullopt;
  }
  return std::nullopt;
}

/// "1" of `"1"` and of `2) "1"`.
std::string_view redis_value(std::string_view text) {
  const std::size_t close = text.find(") ");
  if (close != std::string_view::npos && parse_u64(trim(text.substr(0, close))))
    text = trim(text.substr(close + 2));
  if (text.size() >= 2 && text.front() == '"' && text.back() == '"')
    text = text.substr(1, text.size() - 2);
  return text;
}

std::size_t read_db_answer(const DbQuery& query, const PasteAt& at, PasteSink& out) {
  DbEntries entries(out.host(), out);
  std::size_t taken = 0;
  if (!query.field.empty()) {
    entries.add({query.key, query.field}, redis_value(at.line(0)), at.lines[0]);
    taken = 1;
  } else if (at.line(0).starts_with('{')) {
    DbScanner scanner({query.key}, entries);
    while (taken < at.lines.size() && scanner.take(at.line(taken), at.lines[taken])) {
      ++taken;
      if (scanner.is_closed()) break;
    }
  } else {
    for (; taken + 1 < at.lines.size(); taken += 2) {
      const std::string_view field = redis_value(at.line(taken));
      if (field.empty() || field.find_first_of(" \t") != std::string_view::npos) break;
      entries.add({query.key, std::string(field)}, redis_value(at.line(taken + 1)),
                  at.lines[taken]);
    }
  }
  entries.finish();
  return taken;
}

/// The table that a line opens: `"DSCP_TO_TC_MAP": {`.
bool opens_table(std::string_view text) {
  return std::any_of(kQosTables.begin(), kQosTables.end(), [&](std::string_view table) {
    const std::size_t at = text.find(table);
    return at != std::string_view::npos && at > 0 && text[at - 1] == '"' &&
           text.find('{', at) != std::string_view::npos;
  });
}

/// A table that the command names, where its output begins within it: `jq .DSCP_TO_TC_MAP …`.
std::string table_of_command(const Mark& mark) {
  for (const std::string_view table : kQosTables)
    if (table != "QUEUE" && mark.command.find(table) != std::string::npos)
      return std::string(table);
  return {};
}

/// `"AZURE": {` or `"26": "1",`: what a filter let through of a table that the command names. Of
/// other tables than the map a value without its key says nothing.
bool is_piece_of_table(const PasteAt& at, std::string_view text) {
  const std::string table = text.starts_with('"') ? table_of_command(at.mark) : std::string();
  const std::size_t end = text.find('"', 1);
  if (table.empty() || end == std::string_view::npos) return false;
  const std::string_view rest = trim(text.substr(end + 1));
  if (!rest.starts_with(':')) return false;
  const std::string_view value = trim(rest.substr(1));
  return value.starts_with('{') || (table == "DSCP_TO_TC_MAP" &&
                                    parse_u64(text.substr(1, end - 1)) && value.starts_with('"'));
}

bool begins_db_json(const PasteAt& at) {
  const std::string_view text = at.line(0);
  if (opens_table(text) || is_piece_of_table(at, text)) return true;
  if (!text.starts_with('{')) return false;
  return opens_table(at.line(1)) || !table_of_command(at.mark).empty();
}

std::size_t read_db_json(const PasteAt& at, PasteSink& out) {
  DbEntries entries(out.host(), out);
  std::vector<std::string> start;
  const bool has_table = opens_table(at.line(0)) || opens_table(at.line(1));
  if (!has_table) start.push_back(table_of_command(at.mark));
  DbScanner scanner(std::move(start), entries);
  std::size_t taken = 0;
  while (taken < at.lines.size() && scanner.take(at.line(taken), at.lines[taken])) {
    ++taken;
    if (scanner.is_closed() && at.line(taken).find('"') != 0) break;
  }
  entries.finish();
  return taken;
}

}  // namespace

bool begins_config_db(const PasteAt& at) {
  return (db_query(at.mark).has_value() && !at.line(0).empty()) || begins_db_json(at);
}

std::size_t read_config_db(const PasteAt& at, PasteSink& out) {
  const auto query = db_query(at.mark);
  return query ? read_db_answer(*query, at, out) : read_db_json(at, out);
}

// ---- queuing policies ----

namespace {

/// The queue of a class that the system comes with: "c-out-8q-q3" is 3, "…-q-default" is 0.
std::optional<Queue> queue_of_class(std::string_view name) {
  if (name.ends_with("q-default")) return Queue::of(0);
  const std::size_t at = name.size() < 2 ? std::string_view::npos : name.size() - 2;
  const bool is_queue = at != std::string_view::npos && name[at] == 'q' && name[at + 1] >= '0' &&
                        name[at + 1] <= '7' && name.starts_with("c-out");
  return is_queue ? std::optional(Queue::of(static_cast<unsigned>(name[at + 1] - '0')))
                  : std::nullopt;
}

bool is_policy_line(std::string_view text) {
  for (const std::string_view start :
       {"policy-map type queuing ", "class type queuing ", "bandwidth ", "priority level",
        "random-detect", "shape ", "queue-limit ", "congestion-control ", "no random-detect"})
    if (text.starts_with(start)) return true;
  return text == "!" || text == "priority";
}

}  // namespace

bool begins_queuing_policy(const PasteAt& at) {
  return at.line(0).starts_with("policy-map type queuing ") ||
         at.line(0).starts_with("class type queuing ");
}

std::size_t read_queuing_policy(const PasteAt& at, PasteSink& out) {
  std::string policy;
  std::optional<Queue> queue;
  std::size_t taken = 0;
  for (; taken < at.lines.size() && is_policy_line(at.line(taken)); ++taken) {
    const auto words = words_of(at.line(taken));
    if (words[0] == "policy-map") policy = words.back();
    if (words[0] == "class") queue = queue_of_class(words.back());
    const bool is_wred = words[0] == "random-detect" ||
                         (words.size() > 1 && words[0] != "no" && words[1] == "random-detect");
    if (!is_wred || !queue) continue;
    const bool marks = std::find(words.begin(), words.end(), "ecn") != words.end();
    out.paste().wred.push_back({out.host(), policy, queue, marks, out.cite(at.lines[taken])});
  }
  return taken;
}

// ---- classifiers ----

namespace {

/// 26 of "011010"; nullopt where it is no code point of six bits.
std::optional<Dscp> dscp_of_bits(std::string_view text) {
  constexpr std::size_t kBits = 6;
  if (text.size() != kBits || text.find_first_not_of("01") != std::string_view::npos)
    return std::nullopt;
  unsigned value = 0;
  for (const char bit : text)
    value = value * 2 + (bit == '1' ? 1U : 0U);
  return Dscp::of(value);
}

}  // namespace

// "Classifier: roce-dscp, Code point type: dscp, Index: 41210"; dscp-ipv6 is another type.
bool begins_classifier(const PasteAt& at) {
  return at.line(0).starts_with("Classifier: ") &&
         at.line(0).find("Code point type: dscp,") != std::string_view::npos;
}

std::size_t read_classifier(const PasteAt& at, PasteSink& out) {
  const std::string_view rest = at.line(0).substr(12);
  PasteClassifier found;
  found.switch_name = out.host();
  found.name = rest.substr(0, rest.find(','));
  found.is_whole = at.mark.command.find('|') == std::string::npos;
  found.at = out.cite(at.lines[0]);
  std::size_t taken = 1;
  for (; taken < at.lines.size(); ++taken) {
    const auto words = words_of(at.line(taken));
    if (words.size() > 1 && words[0] == "Code" && words[1] == "point") continue;
    const auto dscp = words.size() > 1 ? dscp_of_bits(words[0]) : std::nullopt;
    if (!dscp) break;
    found.entries.push_back({*dscp, std::string(words[1]), out.cite(at.lines[taken])});
  }
  if (!found.entries.empty()) out.paste().classifiers.push_back(std::move(found));
  return taken;
}

// ---- RoCE modes of Cumulus ----

namespace {

/// "leaf02, leaf04: same as leaf01": the names before the colon and the one behind.
struct SameAs {
  std::vector<std::string> names;
  std::string model;
};
std::optional<SameAs> same_as(std::string_view text) {
  constexpr std::string_view kSame = "same as ";
  const std::size_t at = text.find(kSame);
  if (at == std::string_view::npos) return std::nullopt;
  const auto name_in = [](std::string_view word) {
    while (!word.empty() && std::string_view(",.:;)").find(word.back()) != std::string::npos)
      word.remove_suffix(1);
    return std::string(word);
  };
  const auto behind = words_of(text.substr(at + kSame.size()));
  SameAs out;
  if (!behind.empty()) out.model = name_in(behind[0]);
  for (const std::string_view word : words_of(text.substr(0, at)))
    if (word.find_first_of("0123456789") != std::string_view::npos)
      out.names.push_back(name_in(word));
  return out.names.empty() || out.model.empty() ? std::nullopt : std::optional(out);
}

}  // namespace

bool begins_roce_mode(const PasteAt& at) {
  if (at.mark.command.find("qos roce") == std::string::npos) return false;
  const auto words = words_of(at.line(0));
  const bool is_mode =
      words.size() > 1 && words[0] == "mode" && (words[1] == "lossy" || words[1] == "lossless");
  const bool is_pfc =
      words.size() > 1 && words[0] == "pfc-priority" && priorities_of_list(words[1]).has_value();
  return is_mode || is_pfc || same_as(at.line(0)).has_value();
}

/// The first value is the one in effect.
std::size_t read_roce_mode(const PasteAt& at, PasteSink& out) {
  auto& modes = out.paste().roce_modes;
  const Cited cited = out.cite(at.lines[0]);
  const auto words = words_of(at.line(0));
  if (words[0] == "pfc-priority") {
    if (const auto set = priorities_of_list(words[1]))
      out.paste().lossless.push_back({out.host(), *set, cited});
    return 1;
  }
  const auto same = same_as(at.line(0));
  if (!same) {
    modes.push_back({out.host(), words[1] == "lossless", cited});
    return 1;
  }
  const auto model = std::find_if(modes.begin(), modes.end(), [&](const PasteRoceMode& mode) {
    return mode.switch_name == same->model;
  });
  if (model == modes.end()) return 0;
  const bool is_lossless = model->is_lossless;
  for (const std::string& name : same->names)
    modes.push_back({name, is_lossless, cited});
  return 1;
}

// ---- queues of Junos ----

bool is_lossless_class(std::string_view name) {
  std::string plain;
  for (const char c : lower_case(name))
    if (c != '-' && c != '_') plain += c;
  for (const std::string_view stem : {"noloss", "lossless", "roce", "rdma"})
    if (plain.find(stem) != std::string::npos) return true;
  return false;
}

namespace {

/// "Queue: 4, Forwarding classes: NO-LOSS".
struct ClassOfQueue {
  Queue queue;
  std::string_view name;
};
std::optional<ClassOfQueue> class_of_queue(std::string_view text) {
  constexpr std::string_view kClasses = ", Forwarding classes: ";
  const std::size_t at = text.find(kClasses);
  if (!text.starts_with("Queue: ") || at == std::string_view::npos) return std::nullopt;
  const auto number = parse_u64(trim(text.substr(7, at - 7)));
  if (!number || *number >= Queue::kLimit) return std::nullopt;
  return ClassOfQueue{Queue::of(static_cast<unsigned>(*number)),
                      trim(text.substr(at + kClasses.size()))};
}

}  // namespace

bool begins_lossless_queue(const PasteAt& at) {
  const auto found = class_of_queue(at.line(0));
  return found && is_lossless_class(found->name);
}

std::size_t read_lossless_queue(const PasteAt& at, PasteSink& out) {
  const auto found = class_of_queue(at.line(0));
  out.paste().lossless_queues.push_back(
      {out.host(), found->queue, std::string(found->name), out.cite(at.lines[0])});
  note_red_drops(at, found->name, out);
  return 1;
}

// ---- network-qos of NX-OS ----

bool begins_pause_class(const PasteAt& at) {
  return at.line(0).starts_with("pause pfc-cos ");
}

std::size_t read_pause_class(const PasteAt& at, PasteSink& out) {
  const auto words = words_of(at.line(0));
  if (const auto set = words.size() > 2 ? priorities_of_list(words[2]) : std::nullopt)
    out.paste().lossless.push_back({out.host(), *set, out.cite(at.lines[0])});
  return 1;
}

// ---- `show ecn` of SONiC ----

bool begins_ecn_profile(const PasteAt& at) {
  return at.line(0).starts_with("Profile: ") &&
         (at.mark.has_word("ecn") || at.mark.tool() == "ecnconfig");
}

namespace {

/// "green_min_threshold  1500000"
void note_green(const std::vector<std::string_view>& words, const PasteLine& line,
                PasteCurve& green, PasteSink& out) {
  const bool is_min = words[0] == "green_min_threshold";
  const auto value =
      is_min || words[0] == "green_max_threshold" ? parse_count(words[1]) : std::nullopt;
  if (!value) return;
  (is_min ? green.min : green.max) = static_cast<double>(*value);
  if (is_min) green.at = out.cite(line);
}

}  // namespace

/// "ecn  ecn_none" among the values of a profile, "wred_green_enable  false" too.
std::size_t read_ecn_profile(const PasteAt& at, PasteSink& out) {
  const std::string profile(trim(at.line(0).substr(9)));
  PasteCurve green{out.host(), profile, -1, -1, {}};
  std::size_t n = 1;
  for (; n < at.lines.size(); ++n) {
    if (at.line(n).empty() || is_rule(at.line(n))) continue;
    const auto words = words_of(at.line(n));
    if (words.size() != 2 || words[0] == "Profile:") break;
    if (words[0] == "ecn" && words[1].starts_with("ecn_"))
      out.paste().wred.push_back(
          {out.host(), profile, std::nullopt, words[1] != "ecn_none", out.cite(at.lines[n])});
    note_green(words, at.lines[n], green, out);
  }
  if (green.min >= 0 && green.max >= 0) out.paste().rows.curves.push_back(std::move(green));
  out.detail = profile;
  return n;
}

// ---- limits and speeds of ports ----

namespace {

/// "100000000000 bps", "100000000 kbps", "400Gbps", "400G".
std::optional<BitRate> rate_with_unit(std::string_view text) {
  text = trim(text);
  const std::size_t digits = std::min(text.find_first_not_of("0123456789,."), text.size());
  const auto number = leading_decimal(text.substr(0, digits));
  const auto words = words_of(text.substr(digits));
  if (!number || words.empty()) return std::nullopt;
  std::string unit = lower_case(words[0].substr(0, words[0].find_first_of(",;()")));
  const double scale = unit == "bps"                                        ? 1
                       : unit == "kbps" || unit == "kbit"                   ? 1e3
                       : unit == "mbps" || unit == "mb/s" || unit == "mbit" ? 1e6
                       : unit == "gbps" || unit == "g" || unit == "gb/s"    ? 1e9
                                                                            : 0;
  constexpr double kMost = 1e14;
  if (scale == 0 || *number <= 0 || *number * scale > kMost) return std::nullopt;
  return BitRate::raw(static_cast<std::int64_t>(*number * scale));
}

struct RateLine {
  bool is_limit = false;
  BitRate rate;
};
/// "Shaping rate: 100000000000 bps" and "Speed: 400Gbps" (Junos), "shape rate 100000000 kbps" and
/// "Port shaping rate: …" (EOS).
std::optional<RateLine> rate_line(std::string_view text) {
  const std::string lower = lower_case(text);
  for (const std::string_view key : {"shaping rate:", "shape rate "}) {
    const std::size_t at = lower.find(key);
    if (at == std::string::npos || at > 8) continue;
    if (const auto rate = rate_with_unit(text.substr(at + key.size())))
      return RateLine{true, *rate};
  }
  constexpr std::string_view kSpeed = " Speed: ";
  const std::size_t at = text.find(kSpeed);
  if (at == std::string_view::npos) return std::nullopt;
  const auto rate = rate_with_unit(text.substr(at + kSpeed.size()));
  return rate ? std::optional(RateLine{false, *rate}) : std::nullopt;
}

/// The port that a line names as the one that the lines below are of.
std::string_view port_heading(std::string_view text) {
  for (const std::string_view start : {"Physical interface: ", "interface "})
    if (text.starts_with(start)) text.remove_prefix(start.size());
  const std::string_view name = text.substr(0, text.find_first_of(" ,:"));
  const bool is_heading = name.size() == text.size() || text[name.size()] != ' ';
  return is_heading && is_switch_port(name) ? name : std::string_view();
}

/// "Et5/1  gpu05 rail0  connected  routed  full  400G  …" of `show interfaces status`.
std::optional<BitRate> status_speed(const PasteAt& at, std::string_view text) {
  if (!at.mark.has_word("status")) return std::nullopt;
  const auto words = words_of(text);
  if (words.size() < 4 || !is_switch_port(words[0])) return std::nullopt;
  for (std::size_t i = 2; i < words.size(); ++i)
    if (words[i].ends_with('G'))
      if (const auto rate = rate_with_unit(words[i])) return rate;
  return std::nullopt;
}

/// "priority-flow-control on", "congestion-notification-profile cnp", "Congestion-notification:
/// Enabled, Name: cnp": the port pauses what it is sent too fast.
bool says_lossless(std::string_view lower) {
  for (const std::string_view start :
       {"priority-flow-control on", "priority-flow-control mode on",
        "priority-flow-control priority", "congestion-notification-profile ",
        "congestion-notification: enabled"})
    if (lower.starts_with(start)) return !lower.ends_with(" drop") || lower.ends_with(" no-drop");
  return false;
}

/// "description gpu05 rail0" (EOS), "Description: gpu05" (Junos): what an operator calls the port.
std::string_view description_in(std::string_view text) {
  constexpr std::string_view kStart = "description ";
  constexpr std::string_view kLabel = "Description: ";
  if (text.starts_with(kStart)) return text.substr(kStart.size());
  return text.starts_with(kLabel) ? text.substr(kLabel.size()) : std::string_view();
}

std::string long_port(std::string_view port) {
  return port.starts_with("Et") && port.size() > 2 && port[2] >= '0' && port[2] <= '9'
             ? "Ethernet" + std::string(port.substr(2))
             : std::string(port);
}

}  // namespace

void note_balancing(const PasteAt& at, PasteSink& out) {
  if (at.mark.command.find("adaptive-routing") == std::string::npos) return;
  for (std::size_t n = 0; n < at.lines.size(); ++n) {
    const auto words = words_of(at.line(n));
    if (words.size() > 1 && words[0] == "enable" && words[1] == "on")
      out.paste().balances = out.cite(at.lines[n]);
  }
}

void note_port_rates(const PasteAt& at, PasteSink& out) {
  std::string port = port_of_command(at.mark);
  for (std::size_t n = 0; n < at.lines.size(); ++n) {
    const std::string_view text = at.line(n);
    if (const std::string_view name = port_heading(text); !name.empty()) port = name;
    if (const std::string_view name = description_in(text); !name.empty() && !port.empty())
      out.paste().port_uses.push_back({out.host(), long_port(port), std::string(name), false});
    if (!port.empty() && says_lossless(lower_case(text)))
      out.paste().port_uses.push_back({out.host(), long_port(port), "", true});
    if (const auto speed = status_speed(at, text)) {
      out.paste().port_rates.push_back(
          {out.host(), long_port(words_of(text)[0]), *speed, false, out.cite(at.lines[n])});
      out.paste().port_uses.push_back(
          {out.host(), long_port(words_of(text)[0]), std::string(text), false});
    }
    const auto found = rate_line(text);
    if (!found || port.empty()) continue;
    out.paste().port_rates.push_back(
        {out.host(), long_port(port), found->rate, found->is_limit, out.cite(at.lines[n])});
  }
}

}  // namespace weir::readers

// Cumulus Linux: `nv show interface <port> qos roce counters`, `… qos pfc-watchdog`, as a table or
// with `-o json`. Under `qos roce` the lossless switch priority, traffic class and group are 3 in
// every mode (NVUE documentation 5.19): the RoCE counters are theirs. Units are multiples of 1024.
#include <algorithm>
#include <array>

#include <fmt/format.h>

#include "base/text.h"
#include "readers/switches/read_show.h"

namespace weir::readers {
namespace {

struct Field {
  std::string_view section;
  std::string_view name;
  std::string_view counter;
};
constexpr auto kFields = std::to_array<Field>({
    {"rx-pfc-stats", "pause-packets", "prio3.pause_rx.frames"},
    {"rx-pfc-stats", "pause-duration", "prio3.pause_rx.microseconds"},
    {"tx-pfc-stats", "pause-packets", "prio3.pause_tx.frames"},
    {"tx-pfc-stats", "pause-duration", "prio3.pause_tx.microseconds"},
    {"rx-roce-stats", "no-buffer-discard", "pg3.drop_headroom.packets"},
    {"rx-roce-stats", "pg-usage", "pg3.occupancy.bytes"},
    {"rx-roce-stats", "pg-max-usage", "pg3.occupancy_max.bytes"},
    {"rx-roce-stats", "buffer-usage", "pool.occupancy.bytes"},
    {"rx-roce-stats", "buffer-max-usage", "pool.occupancy_max.bytes"},
    {"rx-roce-stats", "roce-bytes", "prio3.rx.bytes"},
    {"rx-roce-stats", "roce-packets", "prio3.rx.packets"},
    {"tx-cnp-stats", "cnp-packets", "port.cnp_tx.packets"},
    {"tx-cnp-stats", "cnp-bytes", "port.cnp_tx.bytes"},
    {"tx-ecn-stats", "ecn-marked-packets", "queue3.ecn_marked.packets"},
    {"tx-roce-stats", "roce-packets", "queue3.tx.packets"},
    {"tx-roce-stats", "roce-bytes", "queue3.tx.bytes"},
    {"tx-roce-stats", "tc-max-usage", "queue3.depth_max.bytes"},
    {"tx-roce-stats", "unicast-no-buffer-discard", "queue3.drop_tail.packets"},
});

bool is_section(std::string_view word) {
  return std::any_of(kFields.begin(), kFields.end(),
                     [&](const Field& field) { return field.section == word; });
}

const Field* find_field(std::string_view section, std::string_view name) {
  const auto* const at = std::find_if(kFields.begin(), kFields.end(), [&](const Field& field) {
    return field.section == section && field.name == name;
  });
  return at == kFields.end() ? nullptr : at;
}

/// "57", "1.22 MB".
std::optional<std::uint64_t> value_of(std::string_view number, std::string_view unit) {
  if (const auto size = parse_size_1024(number, unit))
    return static_cast<std::uint64_t>(size->raw());
  return parse_count(number);
}

class CumulusReader {
 public:
  explicit CumulusReader(std::string_view file) : out_(vocab::SwitchSystem::kCumulus, file) {}

  void read(const Line& line) {
    const std::string_view text = trim(line.text);
    if (text.empty() || is_rule(text)) return;
    if (const auto prompt = prompt_of(text)) return use(*prompt);
    const auto words = words_of(text);
    if (is_section(words[0])) {
      section_ = words[0];
      return;
    }
    if (text.starts_with("traffic-class") && text.find("deadlock-count") != std::string::npos) {
      in_watchdog_ = true;
      return;
    }
    if (in_watchdog_ && words.size() == 3) return read_watchdog(line, words);
    if (words[0] == "state" && words.size() > 1 &&
        command_.find("pfc-watchdog") != std::string::npos)
      return set_watchdog(words[1] == "enabled", line);
    const Field* const field = find_field(section_, words[0]);
    if (field == nullptr || words.size() < 2) return;
    const auto value = value_of(words[1], words.size() > 2 ? words[2] : std::string_view());
    if (!value) return out_.unread(line, "expected a number, or a size with its unit");
    if (port_.empty()) return no_port();
    out_.count(port_, std::string(field->counter), *value);
  }

  /// `-o json`: the same names as keys.
  void read_json(const Json& document) {
    for (const char* side : {"rx-stats", "tx-stats"}) {
      if (!document.contains(side) || !document[side].is_object()) continue;
      for (const auto& [section, fields] : document[side].items())
        if (fields.is_object()) read_json_section(section, fields);
    }
    if (document.contains("state") && document["state"].is_string())
      set_watchdog(document["state"] == "enabled", {});
  }

  Recognised finish() && { return std::move(out_).finish(); }

 private:
  void use(const Prompt& prompt) {
    out_.use_switch(prompt.host);
    command_ = prompt.command;
    section_ = {};
    in_watchdog_ = false;
    const auto words = words_of(prompt.command);
    const auto at = std::find(words.begin(), words.end(), "interface");
    port_ = at != words.end() && at + 1 != words.end() ? std::string(at[1]) : std::string();
  }

  void no_port() {
    out_.gap({"the port of the counters", "", evidence::Missing::kAbsent,
              "paste the prompt and the command too"});
  }

  void read_watchdog(const Line& line, const std::vector<std::string_view>& words) {
    const auto tc = parse_count(words[0]);
    const auto count = parse_count(words[2]);
    if (!tc || *tc > 7 || !count)
      return out_.unread(line, "expected a traffic class, a status and a count");
    if (port_.empty()) return no_port();
    out_.count(port_, fmt::format("queue{}.watchdog_storm.events", *tc), *count);
    out_.queue(port_, Queue::of(static_cast<unsigned>(*tc))).stuck =
        out_.fact(words[1] == "DEADLOCK", line.number);
  }

  void set_watchdog(bool is_on, const Line& line) {
    out_.state().watchdog.enabled = out_.fact(is_on, line.number);
  }

  void read_json_section(const std::string& section, const Json& fields) {
    for (const auto& [name, value] : fields.items()) {
      const Field* const field = find_field(section, name);
      if (field == nullptr) continue;
      std::optional<std::uint64_t> number;
      if (value.is_number_unsigned()) number = value.get<std::uint64_t>();
      if (value.is_string()) {
        const auto words = words_of(value.get_ref<const std::string&>());
        if (!words.empty())
          number = value_of(words[0], words.size() > 1 ? words[1] : std::string_view());
      }
      if (!number) continue;
      if (port_.empty()) {
        no_port();
        return;
      }
      out_.count(port_, std::string(field->counter), *number);
    }
  }

  ShowBuilder out_;
  std::string_view command_;
  std::string port_;
  std::string_view section_;
  bool in_watchdog_ = false;
};

}  // namespace

bool recognises_cumulus_show(std::string_view text) {
  const auto has = [&](std::string_view part) { return text.find(part) != std::string::npos; };
  return has("nv show ") || has("rx-roce-stats") || has("tx-roce-stats") ||
         (has("PFC WD Status") && has("deadlock-count"));
}

Result<Recognised> read_cumulus_show(std::string_view text, std::string_view file) {
  return read_show(text, CumulusReader(file));
}

}  // namespace weir::readers

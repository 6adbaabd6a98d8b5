// Queues of switches: what limits them, which one is for CNPs, which priority is paused, and what a
// port dropped of what it received.
#include <algorithm>

#include "base/text.h"
#include "readers/paste/notes/notes.h"
#include "readers/paste/text_lines.h"

namespace weir::readers {
namespace {

std::string_view plain_word(std::string_view word) {
  while (!word.empty() && (word.back() == ';' || word.back() == ',' || word.back() == '"'))
    word.remove_suffix(1);
  return word;
}

std::optional<std::size_t> place_of(const std::vector<std::string_view>& words,
                                    std::string_view word) {
  const auto at = std::find(words.begin(), words.end(), word);
  if (at == words.end() || at + 1 == words.end()) return std::nullopt;
  return static_cast<std::size_t>(at - words.begin());
}

/// "600 kbps", "1m" and "600k" of Junos.
std::optional<BitRate> rate_at(const std::vector<std::string_view>& words, std::size_t at) {
  if (at >= words.size()) return std::nullopt;
  const std::string_view word = plain_word(words[at]);
  const std::size_t digits = std::min(word.find_first_not_of("0123456789"), word.size());
  const auto value = parse_u64(word.substr(0, digits));
  std::string_view unit = word.substr(digits);
  if (unit.empty() && at + 1 < words.size()) unit = plain_word(words[at + 1]);
  const std::int64_t scale = unit == "bps"                   ? 1
                             : unit == "kbps" || unit == "k" ? 1'000
                             : unit == "mbps" || unit == "m" ? 1'000'000
                             : unit == "gbps" || unit == "g" ? 1'000'000'000
                                                             : 0;
  constexpr std::uint64_t kMost = 4'000'000;  // of the unit: no line is faster
  if (!value || *value == 0 || *value > kMost || scale == 0) return std::nullopt;
  return BitRate::raw(static_cast<std::int64_t>(*value) * scale);
}

/// The queue that the statements below belong to: "uc-tx-queue 6", "class type queuing
/// c-out-8q-q7"; empty for other lines.
std::string_view queue_named(const std::vector<std::string_view>& words) {
  if (words.size() == 2 && words[0].ends_with("tx-queue")) return words[1];
  if (words.size() == 4 && words[0] == "class" && words[2] == "queuing") return words[3];
  return {};
}

}  // namespace

/// "shape rate 600 kbps" (EOS), "shape min 0 kbps max 1000 kbps" (NX-OS), "set class-of-service
/// schedulers CNP shaping-rate 1m" (Junos).
std::size_t note_queue_limits(const PasteAt& at, PasteSink& out) {
  std::string queue;
  std::size_t said = 0;
  for (std::size_t n = 0; n < at.lines.size(); ++n) {
    const auto words = words_of(at.line(n));
    if (words.empty()) continue;
    if (const auto name = queue_named(words); !name.empty()) queue = name;
    if (words[0] == "interface") queue.clear();
    std::optional<BitRate> rate;
    std::string named = queue;
    if (words[0] == "shape" && words.size() > 2) {
      const auto most = place_of(words, "max");
      rate = rate_at(words, most ? *most + 1 : 2);
    } else if (const auto shaped = place_of(words, "shaping-rate")) {
      const auto scheduler = place_of(words, "schedulers");
      if (scheduler) named = words[*scheduler + 1];
      rate = rate_at(words, *shaped + 1);
    }
    if (!rate || named.empty()) continue;
    note(out, out.paste().noted.queue_limits, {out.host(), named, *rate, out.cite(at.lines[n])});
    ++said;
  }
  return said;
}

namespace {

/// "3" of "uc-tx-queue 3" and "class type queuing c-out-8q-q3"; empty for other lines.
std::string_view section_queue(const std::vector<std::string_view>& words) {
  const std::string_view name = queue_named(words);
  if (name.empty() || words[0].ends_with("tx-queue")) return name;
  const std::size_t at = name.rfind("-q");
  return name.find("out") == std::string_view::npos || at == std::string_view::npos
             ? std::string_view()
             : name.substr(at + 2);
}

bool is_queue_statement(std::string_view word) {
  for (const std::string_view known : {"no", "priority", "bandwidth", "shape", "random-detect"})
    if (word == known) return true;
  return false;
}

}  // namespace

/// Sections of a configuration, each of one queue: whether it has a curve that marks. What a filter
/// let through is no section.
std::size_t note_queue_sections(const PasteAt& at, PasteSink& out) {
  for (const std::string_view filter : {"include", "grep", "match", " inc ", "| i "})
    if (at.mark.command.find(filter) != std::string::npos) return 0;
  std::size_t said = 0;
  for (std::size_t n = 0; n < at.lines.size(); ++n) {
    const std::string_view queue = section_queue(words_of(at.line(n)));
    if (queue.empty()) continue;
    const std::size_t first = n;
    bool marks = false;
    while (n + 1 < at.lines.size()) {
      const auto words = words_of(at.line(n + 1));
      if (words.empty() || !is_queue_statement(words[0])) break;
      marks = marks || (words[0] == "random-detect" &&
                        std::find(words.begin(), words.end(), "ecn") != words.end());
      ++n;
    }
    if (n == first) continue;  // nothing is shown of it
    note(out, out.paste().noted.queue_entries,
         {out.host(), std::string(queue), marks, out.cite(at.lines[first])});
    ++said;
  }
  return said;
}

/// "set class-of-service forwarding-classes class CNP queue-num 3", "Queue: 3, Forwarding classes:
/// CNP".
std::size_t note_cnp_queues(const PasteAt& at, PasteSink& out) {
  std::size_t said = 0;
  for (std::size_t n = 0; n < at.lines.size(); ++n) {
    const std::string_view text = at.line(n);
    if (lower_case(text).find("cnp") == std::string::npos) continue;
    const auto words = words_of(text);
    const auto name = place_of(words, "class");
    const auto number = place_of(words, "queue-num");
    std::optional<std::uint64_t> queue;
    if (name && number && lower_case(words[*name + 1]).find("cnp") != std::string::npos) {
      queue = parse_count(plain_word(words[*number + 1]));
    } else if (words[0] == "Queue:" && words.size() > 4 && words[2] == "Forwarding") {
      queue = parse_count(plain_word(words[1]));
    }
    if (!queue || *queue >= Queue::kLimit) continue;
    note(out, out.paste().noted.cnp_queues, {out.host(), static_cast<unsigned>(*queue)});
    ++said;
  }
  return said;
}

/// "set class-of-service forwarding-classes class NO-LOSS pfc-priority 4" and "pfc-priority 4;"
/// (Junos), "nv set qos pfc default-global switch-priority 4" (NVUE).
std::size_t note_pause_statements(const PasteAt& at, PasteSink& out) {
  std::size_t said = 0;
  for (std::size_t n = 0; n < at.lines.size(); ++n) {
    const std::string_view text = at.line(n);
    const auto words = words_of(text);
    const bool is_junos =
        text.starts_with("set class-of-service forwarding-classes ") || text.ends_with(';');
    const bool is_nvue = text.starts_with("nv set qos pfc ");
    const auto place = is_junos  ? place_of(words, "pfc-priority")
                       : is_nvue ? place_of(words, "switch-priority")
                                 : std::nullopt;
    if (!place) continue;
    PrioritySet set;
    for (const std::string_view part : split(plain_word(words[*place + 1]), ','))
      if (const auto value = parse_u64(part); value && *value < Priority::kLimit)
        set.insert(Priority::of(static_cast<unsigned>(*value)));
    if (set.count() == 0) continue;
    note(out, out.paste().lossless, {out.host(), set, out.cite(at.lines[n])});
    ++said;
  }
  return said;
}

/// "Ingress Overflow Drop Pkts  722104" below "Ingress Queuing for Ethernet1/4" of NX-OS.
std::size_t note_overflows(const PasteAt& at, PasteSink& out) {
  constexpr std::string_view kHeading = "gress Queuing for ";
  constexpr std::string_view kDrops = "Ingress Overflow Drop Pkts";
  std::string port = port_of_command(at.mark);
  std::size_t said = 0;
  for (std::size_t n = 0; n < at.lines.size(); ++n) {
    const std::string_view text = at.line(n);
    if (const std::size_t found = text.find(kHeading); found != std::string_view::npos)
      port = plain_word(trim(text.substr(found + kHeading.size())));
    if (!text.starts_with(kDrops) || port.empty()) continue;
    const auto words = words_of(text);
    const auto packets = parse_count(words.back());
    if (!packets) continue;
    note(out, out.paste().noted.port_drops,
         {out.host(), long_port_name(port), *packets, out.cite(at.lines[n])});
    ++said;
  }
  return said;
}

// ---- RoCE modes of Cumulus ----

/// "nv set qos roce mode lossy" of `nv config show -o commands`; of its YAML "mode: lossy" below
/// "roce:".
std::size_t note_roce_modes(const PasteAt& at, PasteSink& out) {
  std::size_t said = 0;
  bool is_roce = false;  // the key of YAML that the lines are below
  for (std::size_t n = 0; n < at.lines.size(); ++n) {
    const auto words = words_of(at.line(n));
    if (words.empty()) continue;
    const bool is_set = words.size() > 5 && words[0] == "nv" && words[1] == "set" &&
                        words[2] == "qos" && words[3] == "roce" && words[4] == "mode";
    if (words.size() == 1 && words[0].ends_with(':')) is_roce = words[0] == "roce:";
    const bool is_yaml = is_roce && words.size() == 2 && words[0] == "mode:";
    const std::string_view mode = is_set ? words[5] : is_yaml ? words[1] : std::string_view();
    if (mode != "lossy" && mode != "lossless") continue;
    note(out, out.paste().roce_modes, {out.host(), mode == "lossless", out.cite(at.lines[n])});
    ++said;
  }
  return said;
}

}  // namespace weir::readers

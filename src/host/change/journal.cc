#include "host/change/journal.h"

#include <algorithm>
#include <array>
#include <utility>

#include <fmt/format.h>

#include "base/digest.h"
#include "base/json.h"
#include "base/json_cursor.h"
#include "base/untrusted/json_parse.h"
#include "base/untrusted/json_text.h"
#include "vocab/setting_json.h"

namespace weir::host {

namespace {

constexpr int kFormat = 3;
constexpr int kOldestFormat = 2;  // without a guard; 1 wrote sets of priorities as masks
constexpr std::size_t kDigestLength = 16;

std::string digest_of(std::string_view text) {
  Digest digest;
  digest.add(text);
  return digest.to_text();
}

std::string digested(std::string_view text) {
  return fmt::format("{} {}\n", digest_of(text), text);
}
std::string line_of(const Json& record) {
  return digested(json_in_one_line(record));
}

/// The object of a line without its end; nullopt where it is not whole.
std::optional<Json> record_of(std::string_view line) {
  if (line.size() < kDigestLength + 2 || line[kDigestLength] != ' ') return std::nullopt;
  const std::string_view text = line.substr(kDigestLength + 1);
  if (digest_of(text) != line.substr(0, kDigestLength)) return std::nullopt;
  auto record = parse_json(text);
  if (!record || !record->is_object()) return std::nullopt;
  return std::move(record).value();
}

/// A record that was begun and failed, and a whole one written behind it without an end of line in
/// between, as Weir before format 3 left it on a full disk: the whole one.
std::optional<Json> record_behind_torn(std::string_view line) {
  constexpr std::string_view kStart = " {\"record\":\"";
  for (std::size_t at = line.find(kStart, kDigestLength + 1); at != std::string_view::npos;
       at = line.find(kStart, at + 1)) {
    if (at < kDigestLength) continue;
    if (auto record = record_of(line.substr(at - kDigestLength))) return record;
  }
  return std::nullopt;
}

Result<std::string> text_member(const JsonCursor& record, std::string_view key) {
  WEIR_TRY(place, record.member(key));
  return place.text();
}

Result<unsigned> number_member(const JsonCursor& record, std::string_view key) {
  constexpr std::uint64_t kMost = 10'000'000;  // a thousand hosts with hundreds of steps each
  WEIR_TRY(place, record.member(key));
  WEIR_TRY(number, place.whole_number());
  if (number > kMost) return place.wrong("a smaller number");
  return static_cast<unsigned>(number);
}

/// Builds a journal record by record; what comes out of order is damage.
class Reader {
 public:
  Status take(const JsonCursor& record) {
    WEIR_TRY(kind, text_member(record, "record"));
    if (!has_begun_ && kind != "begin") return parse_error("a journal begins with 'begin'");
    for (const Kind& known : kKinds)
      if (known.name == kind) return (this->*known.take)(record);
    return parse_error(fmt::format("unknown record '{}'", kind));
  }
  [[nodiscard]] bool has_begun() const { return has_begun_; }
  Journal journal;

 private:
  struct Kind {
    std::string_view name;
    Status (Reader::*take)(const JsonCursor& record);
  };
  static const std::array<Kind, 13> kKinds;

  Status begin(const JsonCursor& record) {
    if (has_begun_) return parse_error("a second 'begin'");
    WEIR_TRY(format, number_member(record, "format"));
    if (format < kOldestFormat || format > kFormat)
      return parse_error(
          fmt::format("format {}, and this Weir reads {} and {}: use the Weir that "
                      "wrote it",
                      format, kOldestFormat, kFormat));
    WEIR_TRY(time, text_member(record, "time"));
    WEIR_TRY(tool, text_member(record, "tool"));
    WEIR_TRY(design, text_member(record, "design"));
    WEIR_TRY(boot, text_member(record, "boot"));
    WEIR_TRY(steps, number_member(record, "steps"));
    journal.head = {time, tool, design, boot, steps};
    if (record.find("verb")) {
      WEIR_TRY(verb, text_member(record, "verb"));
      journal.head.verb = std::move(verb);
    }
    if (const auto place = record.find("lint")) {
      WEIR_TRY(lint, texts_of(*place));
      journal.head.lint = std::move(lint);
    }
    has_begun_ = true;
    return {};
  }
  static Result<std::vector<std::string>> texts_of(const JsonCursor& place) {
    WEIR_TRY_STATUS(place.expect_array());
    std::vector<std::string> texts;
    for (std::size_t i = 0; i < place.size(); ++i) {
      WEIR_TRY(text, place.at(i).text());
      texts.push_back(std::move(text));
    }
    return texts;
  }
  Status guarded(const JsonCursor& record) {
    WEIR_TRY(by, text_member(record, "by"));
    WEIR_TRY(unit, text_member(record, "unit"));
    journal.guard = JournalGuard{std::move(by), std::move(unit)};
    return {};
  }
  Status load(const JsonCursor& record) {
    WEIR_TRY(pid_place, record.member("pid"));
    WEIR_TRY(pid, pid_place.integer());
    WEIR_TRY(started_place, record.member("started"));
    WEIR_TRY(started, started_place.whole_number());
    journal.load = JournalLoad{pid, started};
    if (!record.find("host")) return {};
    WEIR_TRY(host, text_member(record, "host"));
    WEIR_TRY(stop_place, record.member("stop"));
    WEIR_TRY(stop, texts_of(stop_place));
    journal.load->host = std::move(host);
    journal.load->stop = std::move(stop);
    return {};
  }
  Status failing(const JsonCursor& record) {
    WEIR_TRY(what, text_member(record, "what"));
    WEIR_TRY(restore, text_member(record, "restore"));
    WEIR_TRY(place, record.member("faults"));
    WEIR_TRY(faults, texts_of(place));
    journal.failure = JournalFailure{std::move(what), std::move(restore), std::move(faults)};
    return {};
  }
  Status healed(const JsonCursor& /*record*/) {
    if (!journal.failure) return parse_error("'healed' without 'failing'");
    journal.failure->is_healed = true;
    return {};
  }
  Status step(const JsonCursor& record) {
    if (journal.phase != JournalPhase::kApplying) return parse_error("a step after the end");
    JournalStep step;
    WEIR_TRY(number, number_member(record, "number"));
    if (number != journal.steps.size() + 1)
      return parse_error(
          fmt::format("step {} where {} was next", number, journal.steps.size() + 1));
    WEIR_TRY(host, text_member(record, "host"));
    WEIR_TRY(device, text_member(record, "device"));
    WEIR_TRY(rail, text_member(record, "rail"));
    WEIR_TRY(memory, text_member(record, "memory"));
    WEIR_TRY(change_place, record.member("change"));
    WEIR_TRY(change, vocab::setting_from(change_place));
    if (const auto before_place = record.find("before")) {
      WEIR_TRY(before, vocab::setting_from(*before_place));
      step.before = before;
    }
    step.number = number;
    step.host = std::move(host);
    step.rail = std::move(rail);
    step.operation = {std::move(device), std::move(change)};
    step.memory = std::move(memory);
    journal.steps.push_back(std::move(step));
    return {};
  }
  Result<JournalStep*> step_of(const JsonCursor& record) {
    WEIR_TRY(number, number_member(record, "number"));
    if (number < 1 || number > journal.steps.size())
      return parse_error(fmt::format("there is no step {}", number));
    return &journal.steps[number - 1];
  }
  Status done(const JsonCursor& record) {
    WEIR_TRY(step, step_of(record));
    step->state = JournalStepState::kDone;
    return {};
  }
  Status awaiting(const JsonCursor& record) {
    WEIR_TRY(place, record.member("until"));
    WEIR_TRY(until, place.integer());
    journal.until = until;
    if (const auto at = record.find("boottime_ms")) {
      WEIR_TRY(deadline, at->integer());
      journal.deadline = deadline;
    }
    journal.phase = JournalPhase::kAwaiting;
    return {};
  }
  Status kept(const JsonCursor& /*record*/) {
    journal.phase = JournalPhase::kKept;
    return {};
  }
  Status undoing(const JsonCursor& record) {
    WEIR_TRY(reason, text_member(record, "reason"));
    journal.reason = std::move(reason);
    journal.phase = JournalPhase::kUndoing;
    return {};
  }
  Status undone(const JsonCursor& record) {
    WEIR_TRY(step, step_of(record));
    step->state = JournalStepState::kUndone;
    step->error.clear();
    return {};
  }
  Status not_undone(const JsonCursor& record) {
    WEIR_TRY(step, step_of(record));
    WEIR_TRY(error, text_member(record, "error"));
    step->state = JournalStepState::kNotUndone;
    step->error = std::move(error);
    return {};
  }
  Status ended(const JsonCursor& record) {
    WEIR_TRY(place, record.member("whole"));
    WEIR_TRY(is_whole, place.boolean());
    journal.phase = is_whole ? JournalPhase::kUndone : JournalPhase::kUndoneInPart;
    return {};
  }

  bool has_begun_ = false;
};

const std::array<Reader::Kind, 13> Reader::kKinds = {{{"begin", &Reader::begin},
                                                      {"guarded", &Reader::guarded},
                                                      {"load", &Reader::load},
                                                      {"failing", &Reader::failing},
                                                      {"healed", &Reader::healed},
                                                      {"step", &Reader::step},
                                                      {"done", &Reader::done},
                                                      {"awaiting", &Reader::awaiting},
                                                      {"kept", &Reader::kept},
                                                      {"undoing", &Reader::undoing},
                                                      {"undone", &Reader::undone},
                                                      {"not_undone", &Reader::not_undone},
                                                      {"ended", &Reader::ended}}};

}  // namespace

std::string_view to_text(JournalPhase phase) {
  switch (phase) {
    case JournalPhase::kApplying: return "not finished";
    case JournalPhase::kAwaiting: return "waiting to be confirmed";
    case JournalPhase::kKept: return "applied";
    case JournalPhase::kUndoing: return "rollback not finished";
    case JournalPhase::kUndone: return "rolled back";
    case JournalPhase::kUndoneInPart: return "rolled back in part";
  }
  WEIR_UNREACHABLE("every phase has a text");
}

std::size_t Journal::standing() const {
  const auto changed = static_cast<std::size_t>(std::count_if(
      steps.begin(), steps.end(),
      [](const JournalStep& step) { return step.state != JournalStepState::kUndone; }));
  return changed + (failure && !failure->is_healed ? 1 : 0);
}

std::string Journal::title() const {
  if (failure)
    return fmt::format("the failure '{}' that weir verify injected at {}", failure->what,
                       head.time);
  return fmt::format("the {} of {} at {}", head.verb, head.design, head.time);
}

Result<std::optional<Journal>> parse_journal(std::string_view text, std::string_view file) {
  Reader reader;
  std::size_t whole = 0;
  for (std::size_t line_number = 1; !text.empty(); ++line_number) {
    const std::size_t end = text.find('\n');
    const std::string_view line = text.substr(0, end);
    const bool is_last = end == std::string_view::npos || end + 1 == text.size();
    text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
    auto record = end == std::string_view::npos ? std::nullopt : record_of(line);
    if (!record && end != std::string_view::npos) record = record_behind_torn(line);
    if (!record && is_last) {
      reader.journal.has_torn_tail = true;
      break;
    }
    if (!record) {
      return parse_error(fmt::format(
          "{}:{}: damaged: the line does not match its digest, and more lines follow. What was "
          "changed cannot be read from it: compare weir show with weir plan, correct it by "
          "hand, then move the file away",
          file, line_number));
    }
    if (const Status taken = reader.take(JsonCursor(*record)); !taken)
      return parse_error(fmt::format("{}:{}: {}", file, line_number, taken.error().what));
    whole += end + 1;
  }
  reader.journal.whole_bytes = whole;
  if (!reader.has_begun()) return std::optional<Journal>();
  return std::optional<Journal>(std::move(reader.journal));
}

/// Thousands of hosts get the same few changes.
const std::string& JournalWriter::text_of(const Change& change) {
  constexpr std::size_t kMost = 64;
  for (const auto& [known, text] : texts_)
    if (known == change) return text;
  if (texts_.size() == kMost) texts_.clear();
  return texts_.emplace_back(change, json_in_one_line(vocab::to_json(change))).second;
}

std::string JournalWriter::step_text(unsigned number, const std::string& host, const Step& step,
                                     const std::string& memory) {
  std::string out = fmt::format(R"({{"record":"step","number":{})", number);
  const auto add = [&](std::string_view key, std::string_view text) {
    out += key;
    append_json_text(text, out);
  };
  add(R"(,"host":)", host);
  add(R"(,"device":)", step.operation.device);
  add(R"(,"rail":)", step.rail);
  out += R"(,"change":)" + text_of(step.operation.change);
  out += R"(,"before":)" + (step.before ? text_of(*step.before) : std::string("null"));
  add(R"(,"memory":)", memory);
  return out + "}";
}

Status JournalWriter::begin(const JournalHead& head) {
  return put(line_of({{"record", "begin"},
                      {"format", kFormat},
                      {"verb", head.verb},
                      {"time", head.time},
                      {"tool", head.tool},
                      {"design", head.design},
                      {"boot", head.boot},
                      {"steps", head.steps},
                      {"lint", head.lint}}));
}

std::size_t JournalWriter::space_for(const std::string& host, const Step& step,
                                     const std::string& memory) {
  constexpr unsigned kLongNumber = 10'000'000;
  constexpr std::size_t kDoneAndUndone = 768;  // a driver's error is a sentence
  return step_text(kLongNumber, host, step, memory).size() + kDigestLength + 2 + kDoneAndUndone;
}

Status JournalWriter::put(std::string line) {
  if (!is_held_) return sink_(line);
  held_ += line;
  return {};
}

Status JournalWriter::release() {
  is_held_ = false;
  return held_.empty() ? Status() : sink_(std::exchange(held_, {}));
}

Status JournalWriter::reserve(std::size_t bytes) {
  constexpr std::size_t kEnds = 4096;  // awaiting, kept, undoing, ended
  return reserve_ ? reserve_(bytes + kEnds) : Status();
}

Result<unsigned> JournalWriter::step(const std::string& host, const Step& step,
                                     const std::string& memory) {
  WEIR_TRY_STATUS(put(digested(step_text(next_, host, step, memory))));
  return next_++;
}

Status JournalWriter::guarded(const JournalGuard& guard, std::int64_t within_ms) {
  return put(line_of(
      {{"record", "guarded"}, {"by", guard.by}, {"unit", guard.unit}, {"within_ms", within_ms}}));
}
Status JournalWriter::load(const JournalLoad& load) {
  Json record = {{"record", "load"}, {"pid", load.pid}, {"started", load.started}};
  if (!load.stop.empty()) {
    record["host"] = load.host;
    record["stop"] = load.stop;
  }
  return put(line_of(record));
}
Status JournalWriter::failing(const JournalFailure& failure) {
  return put(line_of({{"record", "failing"},
                      {"what", failure.what},
                      {"restore", failure.restore},
                      {"faults", failure.faults}}));
}
Status JournalWriter::healed() {
  Json record = Json::object();
  record["record"] = "healed";
  return put(line_of(record));
}
Status JournalWriter::done(unsigned number, bool is_shown) {
  return put(
      digested(fmt::format(R"({{"record":"done","number":{},"shown":{}}})", number, is_shown)));
}
Status JournalWriter::awaiting(std::int64_t until, std::int64_t deadline) {
  return put(line_of({{"record", "awaiting"}, {"until", until}, {"boottime_ms", deadline}}));
}
Status JournalWriter::kept() {
  Json record = Json::object();
  record["record"] = "kept";
  return put(line_of(record));
}
Status JournalWriter::undoing(std::string_view reason) {
  return put(line_of({{"record", "undoing"}, {"reason", reason}}));
}
Status JournalWriter::undone(unsigned number) {
  return put(digested(fmt::format(R"({{"record":"undone","number":{}}})", number)));
}
Status JournalWriter::not_undone(unsigned number, const std::string& error) {
  return put(line_of({{"record", "not_undone"}, {"number", number}, {"error", error}}));
}
Status JournalWriter::ended(bool is_whole) {
  return put(line_of({{"record", "ended"}, {"whole", is_whole}}));
}

}  // namespace weir::host

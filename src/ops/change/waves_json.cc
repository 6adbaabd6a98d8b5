// What the waves read from hosts and write down here.
#include <cerrno>
#include <cstdlib>
#include <cstring>

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/file.h"
#include "base/json.h"
#include "base/text.h"
#include "base/untrusted/json_parse.h"
#include "ops/change/fleet_change.h"
#include "ops/change/fleet_members.h"
#include "ops/change/state.h"
#include "ops/change/waves.h"
#include "vocab/exit_code.h"

namespace weir::ops {
namespace {

using vocab::ExitCode;

/// What ssh, srun or a command gives for the program that it ran on a host.
bool is_status(int status, vocab::ExitCode code) {
  return status == static_cast<int>(code);
}
constexpr int kNotFound = 127;  // of a shell: there is no weir

Error wave_journal_error(const std::string& path) {
  return {errno == EACCES ? ErrorCode::kPermission : ErrorCode::kIo,
          fmt::format("the journal of the waves, {}: {}", path, std::strerror(errno))};
}

/// /var/lib/weir for root, else the user's own place.
std::string usual_directory() {
  if (::geteuid() == 0) return std::string(host::kDefaultStateDirectory);
  const char* const state = std::getenv("XDG_STATE_HOME");  // NOLINT(concurrency-mt-unsafe)
  const char* const home = std::getenv("HOME");             // NOLINT(concurrency-mt-unsafe)
  if (state != nullptr && *state != '\0') return fmt::format("{}/weir", state);
  return fmt::format("{}/.local/state/weir", home == nullptr ? "." : home);
}

/// The object in what a host printed; null where there is none of that schema.
Json answer_in(std::string_view output, std::string_view schema) {
  const std::size_t brace = output.find('{');  // a login shell may greet before
  auto document = parse_json(brace == std::string_view::npos ? output : output.substr(brace));
  const bool is_answer =
      document && document->is_object() && document->value("schema", Json()) == Json(schema);
  return is_answer ? std::move(*document) : Json();
}

/// Why what a host printed is no good answer of that verb.
std::string said_instead(std::string_view verb, int status, const Json& document,
                         std::string_view output, std::string_view errors) {
  const Json verdict = document.is_object() ? document.value("verdict", Json()) : Json();
  const std::string said = verdict.is_string() ? first_line(verdict.get<std::string>())
                                               : first_line(errors.empty() ? output : errors);
  if (status == 0)
    return said.empty() ? fmt::format("printed nothing, not the answer of weir {}", verb)
                        : fmt::format("printed no answer of weir {}: '{}'", verb, said);
  return said.empty() ? fmt::format("weir {}: status {}, and nothing printed", verb, status)
                      : fmt::format("weir {}: status {}: {}", verb, status, said);
}

/// Usage, bad input and "not readable" change nothing: the status says so.
bool changed_nothing(int status) {
  return is_status(status, ExitCode::kUsage) || is_status(status, ExitCode::kBadInput) ||
         is_status(status, ExitCode::kCouldNotLook);
}

/// Of a host without a usable answer. It failed where its weir says so: by a status that means
/// that nothing was changed, or in words. One that was killed, or whose status is that of what
/// started it (srun, a shell), may have finished before: nobody here knows.
FleetHostState failed_or_unknown(int status, const Json& answer, std::string_view output) {
  if (changed_nothing(status) || status == kNotFound) return FleetHostState::kFailed;
  const bool says_so = answer.is_object() || answer_in(output, "weir/error/1").is_object();
  const bool is_weirs = is_status(status, ExitCode::kPartial) ||
                        is_status(status, ExitCode::kRolledBack) ||
                        is_status(status, ExitCode::kInterrupted);
  return says_so && is_weirs ? FleetHostState::kFailed : FleetHostState::kNoAnswer;
}

}  // namespace

void read_apply_answer(int status, std::string_view output, std::string_view errors,
                       WaveHost& host) {
  const Json document = answer_in(output, "weir/apply/1");
  const bool is_answer = document.is_object();
  const bool is_success = is_status(status, ExitCode::kOk) || is_status(status, ExitCode::kPartial);
  if (!is_answer || !is_success) {
    host.detail = said_instead("apply", is_success ? 0 : status, document, output, errors);
    // A host that prints anything, or whose weir was killed, may have done anything: it is put back
    // as well.
    host.state = !is_success && (is_answer || changed_nothing(status)) ? WaveHostState::kFailed
                                                                       : WaveHostState::kLost;
    return;
  }
  const Json changed = document.value("changed", Json());
  host.changes = changed.is_number_unsigned() ? changed.get<std::size_t>() : 0;
  host.state = host.changes == 0 ? WaveHostState::kNothing : WaveHostState::kApplied;
  host.detail.clear();
}

FleetHostAnswer read_rollback_answer(int status, std::string_view output, std::string_view errors) {
  const Json document = answer_in(output, "weir/rollback/1");
  const bool is_answer = document.is_object() && document.contains("journal");
  FleetHostAnswer out{.state = failed_or_unknown(status, document, output)};
  if (!is_answer || (status != 0 && !is_status(status, ExitCode::kPartial))) {
    out.detail = said_instead("rollback", status, document, output, errors);
    return out;
  }
  if (document["journal"].is_null()) {
    out.state = FleetHostState::kNothing;
    return out;
  }
  const Json steps = document.value("steps", Json());
  out.changes = steps.is_array() ? steps.size() : 0;
  out.state = status == 0 ? FleetHostState::kDone : FleetHostState::kInPart;
  if (status != 0) out.detail = said_instead("rollback", status, document, output, errors);
  return out;
}

FleetHostAnswer read_confirm_answer(int status, std::string_view output, std::string_view errors) {
  const Json document = answer_in(output, "weir/confirm/1");
  FleetHostAnswer out{.state = failed_or_unknown(status, document, output)};
  if (!document.is_object() || (status != 0 && !is_status(status, ExitCode::kRolledBack))) {
    out.detail = said_instead("confirm", status, document, output, errors);
    return out;
  }
  if (is_status(status, ExitCode::kRolledBack)) {
    const bool is_part = document.value("state", Json()) == Json("undone in part");
    out.state = is_part ? FleetHostState::kInPart : FleetHostState::kTooLate;
    if (is_part) out.detail = said_instead("confirm", status, document, output, errors);
    return out;
  }
  // Where nothing awaited a confirmation: a weir that is too old says so in its verdict alone.
  const bool is_new = document.value("state", Json("confirmed")) == Json("confirmed");
  out.is_kept = document.value("confirmed", Json(false)) == Json(true);
  out.state = !out.is_kept ? FleetHostState::kNothing
              : is_new     ? FleetHostState::kDone
                           : FleetHostState::kKept;
  return out;
}

Result<WaveJournal> WaveJournal::create(const std::string& directory, const std::string& design) {
  const std::string folder = directory.empty() ? usual_directory() : directory;
  WEIR_TRY_STATUS(or_state_failure(make_directory(folder)));
  std::string time = time_now();
  std::erase_if(time, [](char c) { return c == '-' || c == ':'; });
  for (int i = 0; i < 100; ++i) {
    const std::string path =
        fmt::format("{}/waves-{}{}.jsonl", folder, time, i == 0 ? "" : fmt::format("-{}", i));
    OwnedDescriptor file(::open(path.c_str(),
                                O_WRONLY | O_CREAT | O_EXCL | O_APPEND | O_CLOEXEC | O_NOFOLLOW,
                                S_IRUSR | S_IWUSR));
    if (file.get() < 0 && errno == EEXIST) continue;
    if (file.get() < 0) return state_failure(wave_journal_error(path));
    WaveJournal journal(path, std::move(file));
    const Json head = {{"schema", "weir/waves/1"}, {"time", time_now()}, {"design", design}};
    WEIR_TRY_STATUS(
        or_state_failure(journal.write(head.dump(-1, ' ', false, Json::error_handler_t::replace))));
    return journal;
  }
  return could_not_look(fmt::format("{}: no free name for a journal", folder));
}

weir::Status WaveJournal::add(std::string_view what, const Wave& wave) {
  Json hosts = Json::array();
  for (const WaveHost& host : wave.hosts)
    hosts.push_back({{"host", host.host},
                     {"state", state_text(host.state)},
                     {"changes", host.changes},
                     {"detail", host.detail}});
  const Json record = {
      {"time", time_now()}, {"event", what}, {"wave", wave.name}, {"hosts", std::move(hosts)}};
  return write(record.dump(-1, ' ', false, Json::error_handler_t::replace));
}

weir::Status WaveJournal::write(const std::string& line) {
  const std::string text = line + "\n";
  std::string_view left = text;
  while (!left.empty()) {
    const ssize_t done = ::write(file_.get(), left.data(), left.size());
    if (done < 0 && errno == EINTR) continue;
    if (done < 0) return wave_journal_error(path_);
    left.remove_prefix(static_cast<std::size_t>(done));
  }
  if (::fdatasync(file_.get()) != 0) return wave_journal_error(path_);
  return {};
}

}  // namespace weir::ops

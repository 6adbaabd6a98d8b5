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
#include "base/untrusted/printable.h"
#include "ops/change/state.h"
#include "ops/change/waves.h"

namespace weir::ops {
namespace {

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

std::string first_line(std::string_view text) {
  constexpr std::size_t kMost = 200;
  text = trim(text);
  return printable_line(text.substr(0, std::min(text.find('\n'), kMost)));
}

/// The object in what a host printed; null where there is none of that schema.
Json answer_in(std::string_view output, std::string_view schema) {
  const std::size_t brace = output.find('{');  // a login shell may greet before
  auto document = parse_json(brace == std::string_view::npos ? output : output.substr(brace));
  const bool is_answer =
      document && document->is_object() && document->value("schema", Json()) == Json(schema);
  return is_answer ? std::move(*document) : Json();
}

}  // namespace

void read_apply_answer(int status, std::string_view output, std::string_view errors,
                       WaveHost& host) {
  constexpr int kOk = 0;
  constexpr int kPartial = 5;
  const Json document = answer_in(output, "weir/apply/1");
  const bool is_answer = document.is_object();
  const Json verdict = is_answer ? document.value("verdict", Json()) : Json();
  const std::string said = verdict.is_string() ? first_line(verdict.get<std::string>())
                                               : first_line(errors.empty() ? output : errors);
  if (!is_answer || (status != kOk && status != kPartial)) {
    host.state = WaveHostState::kFailed;
    host.detail = status == kOk || status == kPartial
                      ? fmt::format("printed no answer of weir apply: '{}'", said)
                      : fmt::format("weir apply: status {}: {}", status, said);
    // A host that prints anything may have done anything: it is put back as well.
    if (status == kOk || status == kPartial) host.state = WaveHostState::kLost;
    return;
  }
  const Json changed = document.value("changed", Json());
  host.changes = changed.is_number_unsigned() ? changed.get<std::size_t>() : 0;
  host.state = host.changes == 0 ? WaveHostState::kNothing : WaveHostState::kApplied;
  host.detail.clear();
}

weir::Result<bool> read_rollback_answer(int status, std::string_view output,
                                        std::string_view errors) {
  const std::string said = first_line(errors.empty() ? output : errors);
  if (status != 0)
    return Error{ErrorCode::kIo, fmt::format("weir rollback: status {}: {}", status, said)};
  const Json document = answer_in(output, "weir/rollback/1");
  if (!document.is_object() || !document.contains("journal"))
    return parse_error(fmt::format("printed no answer of weir rollback: '{}'", said));
  return !document["journal"].is_null();
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

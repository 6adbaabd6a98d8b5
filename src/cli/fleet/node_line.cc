#include "cli/fleet/node_line.h"

#include <algorithm>

#include <fmt/format.h>

#include "cli/frame/judging.h"
#include "render/fleet/node_checks.h"

namespace weir::cli {
namespace {

constexpr std::size_t kLongestReason = 100;
constexpr std::size_t kLongestNpdLine = 80;

/// The worst of those that --fail-on counts, the first of equals.
const finding::Finding* worst_of(const Args& args, const finding::Judgement& judgement) {
  const auto threshold = finding::parse_severity(args.value("fail-on"));
  const finding::Finding* worst = nullptr;
  for (const finding::Finding& found : judgement.findings) {
    if (found.severity < *threshold) continue;
    if (worst == nullptr || found.severity > worst->severity) worst = &found;
  }
  return worst;
}

std::string id_and_place(const finding::Finding& found) {
  const std::string& place = !found.where.device.empty() ? found.where.device
                             : !found.where.port.empty() ? found.where.port
                                                         : found.where.host;
  return place.empty() ? std::string(found.id) : fmt::format("{} {}", found.id, place);
}

/// Names are ASCII (base/untrusted/name_policy.h): a byte is a character.
std::string cut(std::string text, std::size_t most) {
  if (text.size() > most) text.resize(most);
  return text;
}

bool is_nagios(const Args& args) {
  return args.get("exit-style").value_or("") == "nagios";
}

}  // namespace

std::vector<Option> node_options() {
  return {{.name = "format",
           .metavar = "F",
           .help = "npd: one line of 80 bytes, for node-problem-detector",
           .choices = {"npd"}},
          {.name = "exit-style",
           .metavar = "S",
           .help = "nagios: 0 ok, 1 warning, 2 critical, 3 unknown",
           .choices = {"nagios"}}};
}

std::string drain_reason(const Args& args, const finding::Judgement& judgement) {
  const finding::Finding* const worst = worst_of(args, judgement);
  if (worst == nullptr) return "";
  return cut(render::kReasonLeader + id_and_place(*worst), kLongestReason);
}

std::string npd_line(const Args& args, const finding::Judgement& judgement) {
  if (const finding::Finding* const worst = worst_of(args, judgement))
    return cut(fmt::format("weir: {}", id_and_place(*worst)), kLongestNpdLine);
  const bool is_open = exit_for(args, judgement) == ExitCode::kPartial;
  return is_open ? "weir: unknown: not everything could be read" : "weir: ok";
}

ExitCode styled_exit(const Args& args, const finding::Judgement& judgement) {
  const ExitCode code = exit_for(args, judgement);
  if (!is_nagios(args)) return code;
  constexpr int kWarning = 1;
  constexpr int kCritical = 2;
  constexpr int kUnknown = 3;
  const auto has = [&](finding::Severity severity) {
    return std::any_of(judgement.findings.begin(), judgement.findings.end(),
                       [&](const finding::Finding& found) { return found.severity == severity; });
  };
  // The numbers are Nagios', whatever they mean here.
  if (has(finding::Severity::kError)) return static_cast<ExitCode>(kCritical);
  if (has(finding::Severity::kWarning)) return static_cast<ExitCode>(kWarning);
  return code == ExitCode::kOk ? ExitCode::kOk : static_cast<ExitCode>(kUnknown);
}

ExitCode styled_failure(const Args& args, ExitCode code) {
  constexpr int kUnknown = 3;
  return is_nagios(args) ? static_cast<ExitCode>(kUnknown) : code;
}

}  // namespace weir::cli

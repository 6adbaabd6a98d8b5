#include "diagnose/job/job.h"

#include <algorithm>
#include <cerrno>
#include <cstdlib>

#include <fmt/format.h>

#include "base/text.h"
#include "diagnose/job/rules.h"
#include "finding/catalog.h"

namespace weir::diagnose {
namespace {

/// How many lines a finding cites: the first of many ranks show it as well as all.
constexpr std::size_t kMostLines = 6;

/// The message of a warning's line, without the process that it is from.
std::string_view message_of(std::string_view line) {
  for (const std::string_view level : {"NCCL WARN ", "NCCL ERROR "})
    if (const auto at = line.find(level); at != std::string_view::npos)
      return line.substr(at + level.size());
  return line;
}

/// A library warns, and no rule here knows of what: the log is not in order, and why is open.
/// Beside a finding a warning is most often its consequence.
void leave_open(const readers::Job& job, const finding::Judgement& judged, JobFindings& out) {
  const bool is_explained =
      judged.count(finding::Severity::kError) > 0 || judged.count(finding::Severity::kWarning) > 0;
  if (job.warnings.empty() || is_explained) return;
  const readers::Cited& first = job.warnings.front();
  out.unknown("warnings of the log",
              fmt::format("{} that no rule here knows; the first is line {} of {}: {}",
                          counted(job.warnings.size(), "line"), first.line, first.file,
                          message_of(first.text)),
              "the documentation of the library; weir explain '<its words>' lists what may be "
              "relevant",
              true);
}

}  // namespace

finding::Finding& JobFindings::add(std::string_view id, std::string verdict,
                                   const readers::Cited& at) {
  for (finding::Finding& finding : out_.findings) {
    if (finding.id != id || finding.verdict != verdict) continue;
    cite(finding, at);
    return finding;
  }
  finding::Where where;
  where.file = at.file;
  where.position.line = at.line;
  where.position.column = at.line > 0 ? 1 : 0;
  out_.findings.push_back(finding::make_finding(id, std::move(verdict), where));
  cite(out_.findings.back(), at);
  return out_.findings.back();
}

void JobFindings::cite(finding::Finding& finding, const readers::Cited& at) {
  if (at.line == 0 || finding.evidence.size() >= kMostLines) return;
  finding::EvidenceLine line;
  line.source = fmt::format("{}:{}", at.file, at.line);
  line.line = at.text;
  for (const finding::EvidenceLine& known : finding.evidence)
    if (known.line == line.line) return;
  finding.evidence.push_back(std::move(line));
}

void JobFindings::unknown(std::string check, std::string reason, std::string how,
                          bool is_required) {
  finding::Unknown unknown{std::move(check), std::move(reason), std::move(how), is_required};
  const bool is_known =
      std::find(out_.unknown.begin(), out_.unknown.end(), unknown) != out_.unknown.end();
  if (!is_known) out_.unknown.push_back(std::move(unknown));
}

bool JobFindings::has(std::string_view id) const {
  return std::any_of(out_.findings.begin(), out_.findings.end(),
                     [&](const finding::Finding& item) { return item.id == id; });
}

std::optional<long> job_number(std::string_view text) {
  const std::string copy(text);
  char* end = nullptr;
  errno = 0;
  const long value = std::strtol(copy.c_str(), &end, 0);
  if (copy.empty() || end != copy.c_str() + copy.size() || errno != 0) return std::nullopt;
  return value;
}

NameList parse_name_list(std::string_view text) {
  NameList list;
  text = trim(text);
  if (text.starts_with('^')) {
    list.excludes = true;
    text.remove_prefix(1);
  }
  if (text.starts_with('=')) {
    list.is_exact = true;
    text.remove_prefix(1);
  }
  for (const std::string_view piece : split(text, ',')) {
    // name:port:rail:plane; only the first two say which device.
    const auto fields = split(piece, ':');
    NameList::Entry entry;
    entry.name = trim(fields[0]);
    if (fields.size() > 1) entry.port = job_number(fields[1]);
    if (!entry.name.empty()) list.entries.push_back(std::move(entry));
  }
  return list;
}

finding::Judgement judge_job(const JobCase& subject) {
  finding::Judgement judgement;
  JobFindings findings(judgement);
  judge_network(subject, findings);
  judge_failures(subject, findings);
  judge_gids(subject, findings);
  judge_devices(subject, findings);
  judge_marking(subject, findings);
  judge_gpu_direct(subject, findings);
  judge_differences(subject, findings);
  judge_variables(subject, findings);
  leave_open(subject.job, judgement, findings);
  finding::settle(judgement);
  const bool is_silent = subject.job.is_empty();
  const bool is_clean = judgement.conclusion == finding::Conclusion::kHealthy;
  if (is_silent || (is_clean && judgement.is_partial()))
    judgement.conclusion = finding::Conclusion::kInconclusive;
  return judgement;
}

}  // namespace weir::diagnose

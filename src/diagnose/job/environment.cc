// Unknown variables, and values outside their range.
#include <array>

#include <fmt/format.h>

#include "base/text.h"
#include "diagnose/job/rules.h"

namespace weir::diagnose {
namespace {

/// Numbers that NCCL hands to the device as they are. Source: ibv_modify_qp(3): timeout is five
/// bits, retry_cnt three, sl four; a TOS byte is eight. NCCL takes -1 for its own default.
struct Range {
  std::string_view name;
  long low;
  long high;
};
constexpr auto kRanges = std::to_array<Range>({
    {"NCCL_IB_TC", -1, 255},
    {"NCCL_IB_FIFO_TC", -1, 255},
    {"NCCL_IB_SL", -1, 15},
    {"NCCL_IB_TIMEOUT", 0, 31},
    {"NCCL_IB_RETRY_CNT", 0, 7},
    {"NCCL_IB_GID_INDEX", -1, 255},
    {"NCCL_IB_QPS_PER_CONNECTION", 1, 128},
    {"NCCL_IB_DISABLE", 0, 1},
    {"NCCL_CROSS_NIC", 0, 2},
});

/// A queue pair retries for 4.096 µs × 2^timeout per attempt before it fails.
constexpr double kTimeoutUnit = 4.096e-6;  // seconds, IBTA

void judge_name(const readers::JobVariable& variable, JobFindings& out) {
  const auto known = readers::knowledge_of(variable.name);
  if (known.is_known) return;
  if (!known.renamed_to.empty()) {
    auto& found = out.add("job.env_typo",
                          fmt::format("{} is no longer read ({}): use {}.", variable.name,
                                      known.note, known.renamed_to),
                          variable.at);
    found.fix = {{"nccl",
                  {fmt::format("export {}={}", known.renamed_to, variable.value)},
                  "values may have changed with the name: weir explain job.env_typo"}};
    return;
  }
  const std::string hint =
      known.nearest.empty() ? "" : fmt::format("; did you mean {}?", known.nearest);
  auto& found = out.add(
      "job.env_typo",
      fmt::format("Unknown variable {}{}", variable.name, hint.empty() ? "." : hint), variable.at);
  found.confidence =
      known.nearest.empty() ? finding::Confidence::kMedium : finding::Confidence::kHigh;
  if (!known.nearest.empty())
    found.fix = {{"nccl", {fmt::format("export {}={}", known.nearest, variable.value)}, ""}};
}

void judge_range(const readers::JobVariable& variable, JobFindings& out) {
  for (const Range& range : kRanges) {
    if (variable.name != range.name) continue;
    const auto value = job_number(variable.value);
    if (value && *value >= range.low && *value <= range.high) return;
    out.add("job.bad_value",
            fmt::format("{}: expected a number from {} to {}, found '{}'.", variable.name,
                        range.low, range.high, variable.value),
            variable.at);
  }
}

void judge_patience(const readers::Job& job, double shortest, JobFindings& out) {
  for (const readers::JobVariable& variable : job.variables) {
    if (variable.name != "NCCL_IB_TIMEOUT") continue;
    const auto timeout = job_number(variable.value);
    if (!timeout || *timeout < 1 || *timeout > 31) continue;
    const readers::JobVariable* retries = job.find("NCCL_IB_RETRY_CNT");
    const long count = retries == nullptr ? 7 : job_number(retries->value).value_or(7);
    const double patience = kTimeoutUnit *
                            static_cast<double>(1ULL << static_cast<unsigned>(*timeout)) *
                            static_cast<double>(count + 1);
    if (patience >= shortest) continue;
    auto& found = out.add("failover.window_too_short",
                          fmt::format("{}={} with {} retries gives up after {:.2g} s: a link flap "
                                      "or a long pause ends the job.",
                                      variable.name, *timeout, count, patience),
                          variable.at);
    found.severity = finding::Severity::kWarning;
    found.fix = {
        {"nccl", {"export NCCL_IB_TIMEOUT=20"}, "4.3 s per try; NCCL's default since 2.23"}};
  }
}

}  // namespace

void judge_variables(const JobCase& subject, JobFindings& out) {
  for (const readers::JobVariable& variable : subject.job.variables) {
    judge_name(variable, out);
    judge_range(variable, out);
  }
  judge_patience(subject.job, subject.thresholds.shortest_retry, out);
}

}  // namespace weir::diagnose

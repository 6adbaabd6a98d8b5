// The traffic class of a job: the byte that decides in which class its packets travel.
#include <fmt/format.h>

#include "base/untrusted/quote.h"
#include "diagnose/job/rules.h"
#include "units/qos_code.h"

namespace weir::diagnose {
namespace {

constexpr std::string_view kVariables[] = {"NCCL_IB_TC", "UCX_IB_TRAFFIC_CLASS",
                                           "NVSHMEM_IB_TRAFFIC_CLASS"};

/// Code points that people know by number and type where the byte belongs: AF31 (26, the usual one
/// of RoCE), CS3 (24), EF (46), CS6 (48). As a byte each of them is another, unused code point.
bool is_known_code_point(long value) {
  return value == 24 || value == 26 || value == 46 || value == 48;
}

std::optional<TosByte> wanted_byte(const JobCase& subject) {
  if (subject.intent == nullptr || subject.intent->hosts.empty()) return std::nullopt;
  const design::HostIntent& host = subject.intent->hosts.front();
  if (host.nics.empty()) return std::nullopt;
  return host.nics.front().traffic_class;
}

/// A NIC that forces its own byte on every queue pair: what the job asks for does not matter.
bool is_forced(const JobCase& subject) {
  for (const evidence::Evidence& host : subject.hosts)
    for (const evidence::Nic& nic : host.nics)
      if (nic.rdma.traffic_class.is_known() && nic.rdma.traffic_class->has_value()) return true;
  return false;
}

void judge_value(const JobCase& subject, const readers::JobVariable& variable, JobFindings& out) {
  const auto value = job_number(variable.value);
  if (!value) return;  // judge_variables() says so
  if (*value < 0 || *value > 255) return;
  const auto byte = TosByte::of(static_cast<unsigned>(*value));
  const unsigned dscp = dscp_of(byte).value();
  const auto wanted = wanted_byte(subject);
  if (wanted && dscp_of(*wanted) == dscp_of(byte)) return;
  const bool is_typed_as_dscp = wanted ? static_cast<unsigned>(*value) == dscp_of(*wanted).value()
                                       : is_known_code_point(*value);
  if (is_typed_as_dscp) {
    const unsigned right =
        wanted ? wanted->value()
               : tos_byte(Dscp::of(static_cast<unsigned>(*value)), Ecn::kEct0).value();
    auto& found =
        out.add("dscp.tos_confusion",
                fmt::format("{}={} is read as a TOS byte: the packets carry DSCP {}, not {}.",
                            variable.name, *value, dscp, *value),
                variable.at);
    found.fix = {{"nccl",
                  {export_line(variable.name, fmt::to_string(right))},
                  "the DSCP times four, plus 2 for ECN"}};
    if (!wanted) found.confidence = finding::Confidence::kHigh;
    return;
  }
  // As a byte a priority is DSCP 0 or 1, with an ECN field that no sender sets.
  constexpr long kLastPriority = 7;
  if (!wanted && *value > 0 && *value <= kLastPriority) {
    auto& priority = out.add(
        "dscp.tos_confusion",
        fmt::format("{}={} is read as a TOS byte, not as a priority: the packets carry DSCP {}.",
                    variable.name, *value, dscp),
        variable.at);
    priority.severity = finding::Severity::kWarning;
    priority.fix = {{"nccl",
                     {export_line(variable.name, "106")},
                     "the DSCP of the lossless class times four, plus 2 for ECN: 106 is DSCP 26"}};
    return;
  }
  if (!wanted) {  // a site's own plan: only its design can tell
    constexpr unsigned kUsual = 26;
    if (dscp == kUsual || dscp == 0) return;
    auto& plan = out.add("dscp.site_plan",
                         fmt::format("{}={} is DSCP {}, not the usual {}: right if every switch "
                                     "maps it to the lossless class.",
                                     variable.name, *value, dscp, kUsual),
                         variable.at);
    plan.confidence = finding::Confidence::kLow;
    return;
  }
  auto& found = out.add("dscp.unmarked",
                        fmt::format("{}={} marks the packets with DSCP {}; the design's class is "
                                    "DSCP {}.",
                                    variable.name, *value, dscp, dscp_of(*wanted).value()),
                        variable.at);
  found.fix = {{"nccl", {export_line(variable.name, fmt::to_string(wanted->value()))}, ""}};
}

/// Where a job takes the traffic class away again: `unset NCCL_IB_TC`.
const readers::JobVariable* unset_class(const readers::Job& job) {
  for (const readers::JobVariable& variable : job.unset)
    if (variable.name == "NCCL_IB_TC") return &variable;
  return nullptr;
}

/// The file where a job sets NCCL's RDMA and says nothing of its class.
const readers::JobVariable* unmarked_environment(const readers::Job& job) {
  for (const readers::JobVariable& variable : job.variables)
    if (variable.name.starts_with("NCCL_IB_") && variable.process.empty()) return &variable;
  return unset_class(job);
}

/// The job's class is not set in what was read.
void judge_absence(const JobCase& subject, TosByte wanted, JobFindings& out) {
  const readers::JobVariable* environment = unmarked_environment(subject.job);
  if (environment == nullptr) return;
  const readers::JobVariable* unset = unset_class(subject.job);
  if (unset == nullptr && !subject.job.sourced.empty()) {
    const readers::Cited& other = subject.job.sourced.front();
    out.unknown("NCCL_IB_TC",
                fmt::format("not set here, and line {} reads another file", other.line),
                "weir job with that file too, or env | weir job - in the job", true);
    return;
  }
  const std::string how = unset == nullptr
                              ? std::string("is not set")
                              : fmt::format("is unset again in line {}", unset->at.line);
  auto& found =
      out.add("dscp.unmarked",
              fmt::format("NCCL_IB_TC {}: the packets carry DSCP 0; the design's class is "
                          "DSCP {}.",
                          how, dscp_of(wanted).value()),
              unset == nullptr ? environment->at : unset->at);
  found.severity = finding::Severity::kWarning;  // the NIC may force it, or another file may set it
  found.confidence = finding::Confidence::kMedium;
  found.fix = {{"nccl", {export_line("NCCL_IB_TC", fmt::to_string(wanted.value()))}, ""}};
}

}  // namespace

void judge_marking(const JobCase& subject, JobFindings& out) {
  bool is_set = false;
  for (const readers::JobVariable& variable : subject.job.variables) {
    for (const std::string_view name : kVariables) {
      if (variable.name != name) continue;
      is_set = true;
      judge_value(subject, variable, out);
    }
  }
  for (const std::string_view name : kVariables)
    is_set = is_set || subject.job.sets(name);  // to what, judge_variables() may not know
  const auto wanted = wanted_byte(subject);
  if (is_set || !wanted || dscp_of(*wanted).value() == 0 || is_forced(subject)) return;
  judge_absence(subject, *wanted, out);
}

}  // namespace weir::diagnose

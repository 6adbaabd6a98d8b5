// Unknown variables, and values outside their range.
#include <algorithm>
#include <array>
#include <cctype>
#include <set>

#include <fmt/format.h>

#include "base/text.h"
#include "base/untrusted/quote.h"
#include "diagnose/job/rules.h"

namespace weir::diagnose {
namespace {

/// Numbers that NCCL hands to the device as they are. Source: ibv_modify_qp(3): timeout is five
/// bits, retry_cnt three; a TOS byte is eight. A service level has four bits, but over Ethernet it
/// is a priority, and those are 0 to 7 (IEEE 802.1Q). NCCL takes -1 for its own default.
struct Range {
  std::string_view name;
  long low;
  long high;
  std::string_view usual;  // a right value and what it is; empty where only the design can tell
};
constexpr auto kRanges = std::to_array<Range>({
    {"NCCL_IB_TC", -1, 255, ""},
    {"NCCL_IB_FIFO_TC", -1, 255, ""},
    {"NCCL_IB_SL", -1, 7, "0"},
    {"NCCL_IB_TIMEOUT", 0, 31, "20"},
    {"NCCL_IB_RETRY_CNT", 0, 7, "7"},
    {"NCCL_IB_GID_INDEX", -1, 255, "-1"},
    {"NCCL_IB_QPS_PER_CONNECTION", 1, 128, "1"},
    {"NCCL_IB_DISABLE", 0, 1, "0"},
    {"NCCL_CROSS_NIC", 0, 2, "2"},
});

/// A queue pair retries for 4.096 µs × 2^timeout per attempt before it fails.
constexpr double kTimeoutUnit = 4.096e-6;  // seconds, IBTA

/// A name of the past. NCCL_IB_CUDA_SUPPORT was 0 or 1, what replaces it is a distance.
void judge_old_name(const readers::JobVariable& variable, const readers::VariableKnowledge& known,
                    JobFindings& out) {
  const std::string use =
      known.renamed_to.empty() ? std::string() : fmt::format(": use {}", known.renamed_to);
  auto& found =
      out.add("job.env_typo",
              fmt::format("{} is {} ({}){}.", variable.name,
                          known.is_still_read ? "the old name" : "no longer read", known.note, use),
              variable.at);
  if (known.is_still_read) found.severity = finding::Severity::kInfo;
  if (known.renamed_to.empty()) {
    found.fix = {{"nccl", {shell_line({"unset", variable.name})}, ""}};
    return;
  }
  const bool is_switch = variable.name == "NCCL_IB_CUDA_SUPPORT";
  const bool is_same = known.note.starts_with("renamed");
  const std::string value = is_switch ? (variable.value == "0" ? "LOC" : "SYS")
                                      : (is_same ? variable.value : std::string("<value>"));
  found.fix = {{"nccl",
                {export_line(known.renamed_to, value)},
                is_same
                    ? std::string()
                    : fmt::format("other values than before: weir explain {}", known.renamed_to)}};
}

void judge_name(const readers::JobVariable& variable, JobFindings& out) {
  const auto known = readers::knowledge_of(variable.name);
  if (known.is_known) return;
  if (known.is_removed) return judge_old_name(variable, known, out);
  const std::string hint =
      known.nearest.empty() ? "" : fmt::format("; did you mean {}?", known.nearest);
  auto& found = out.add(
      "job.env_typo",
      fmt::format("Unknown variable {}{}", variable.name, hint.empty() ? "." : hint), variable.at);
  found.confidence =
      known.nearest.empty() ? finding::Confidence::kMedium : finding::Confidence::kHigh;
  if (!known.nearest.empty())
    found.fix = {{"nccl", {export_line(known.nearest, variable.value)}, ""}};
}

/// Words that NCCL knows, from the page of its environment variables; not case sensitive. An
/// unknown one is ignored or, since 2.24, ends the job (NCCL_ALGO, NCCL_PROTO).
struct Choice {
  std::string_view name;
  std::string_view words;        // separated by blanks
  bool takes_numbers = false;    // the older way to write a level
  bool is_per_function = false;  // "ring;allreduce:^tree,nvls"
};
constexpr auto kChoices = std::to_array<Choice>({
    {"NCCL_ALGO", "Ring Tree Collnet CollnetChain CollnetDirect NVLS NVLSTree PAT", false, true},
    {"NCCL_PROTO", "LL LL128 Simple", false, true},
    {"NCCL_P2P_LEVEL", "LOC NVL PIX PXB PHB SYS", true, false},
    {"NCCL_NET_GDR_LEVEL", "LOC PIX PXB P2C PXN PHB SYS", true, false},
    {"NCCL_DEBUG", "VERSION WARN INFO TRACE ABORT", false, false},
    {"NCCL_SOCKET_FAMILY", "AF_INET AF_INET6", false, false},
    {"NCCL_IB_ADDR_FAMILY", "AF_INET AF_INET6", false, false},
});

std::string lower(std::string_view text) {
  std::string out(text);
  std::transform(out.begin(), out.end(), out.begin(),
                 [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return out;
}

/// The words of a value: all of a list, with or without the function in front of them.
std::vector<std::string> words_in(const Choice& choice, std::string_view value) {
  if (!choice.is_per_function) return {std::string(trim(value))};
  std::vector<std::string> words;
  for (std::string_view part : split(value, ';')) {
    if (const auto colon = part.find(':'); colon != std::string_view::npos)
      part = part.substr(colon + 1);
    part = trim(part);
    if (part.starts_with('^')) part.remove_prefix(1);
    for (const std::string_view word : split(part, ','))
      if (!trim(word).empty()) words.emplace_back(trim(word));
  }
  return words;
}

/// The word that was probably meant: with few other letters, or one that the value goes on from.
std::optional<std::string> meant(const std::string& word, const std::vector<std::string>& known) {
  std::vector<std::string> in_lower;
  for (const std::string& candidate : known)
    in_lower.push_back(lower(candidate));
  auto close = nearest(lower(word), in_lower);
  for (std::size_t i = 0; !close && i < known.size(); ++i)
    if (known[i].size() > 2 && lower(word).starts_with(in_lower[i])) close = in_lower[i];
  if (!close) return std::nullopt;
  return known[static_cast<std::size_t>(std::find(in_lower.begin(), in_lower.end(), *close) -
                                        in_lower.begin())];
}

void judge_words(const readers::JobVariable& variable, JobFindings& out) {
  for (const Choice& choice : kChoices) {
    if (variable.name != choice.name || variable.value.empty()) continue;
    std::vector<std::string> known;
    for (const std::string_view word : split(choice.words, ' '))
      known.emplace_back(word);
    for (const std::string& word : words_in(choice, variable.value)) {
      const bool is_number = choice.takes_numbers && job_number(word).has_value();
      const bool is_known = std::any_of(known.begin(), known.end(), [&](const std::string& each) {
        return lower(each) == lower(word);
      });
      if (is_number || is_known) continue;
      const auto close = meant(word, known);
      auto& found =
          out.add("job.bad_value",
                  fmt::format("{}: expected {}, found '{}'{}", variable.name, join(known, ", "),
                              word, close ? fmt::format("; did you mean {}?", *close) : "."),
                  variable.at);
      if (!close) found.severity = finding::Severity::kWarning;  // a newer NCCL may know it
      found.confidence = close ? finding::Confidence::kHigh : finding::Confidence::kMedium;
      if (close && words_in(choice, variable.value).size() == 1)
        found.fix = {{"nccl", {export_line(variable.name, *close)}, ""}};
    }
  }
}

/// Variables whose value decides something here and which the text leaves open.
void judge_open(const readers::Job& job, JobFindings& out) {
  constexpr auto kJudged = std::to_array<std::string_view>(
      {"NCCL_IB_TC", "NCCL_IB_HCA", "NCCL_IB_GID_INDEX", "NCCL_IB_DISABLE", "NCCL_NET",
       "NCCL_IB_SL", "NCCL_IB_TIMEOUT", "NCCL_IB_RETRY_CNT", "NCCL_NET_GDR_LEVEL",
       "NCCL_SOCKET_IFNAME", "NCCL_CROSS_NIC", "NCCL_ALGO", "UCX_IB_TRAFFIC_CLASS",
       "UCX_NET_DEVICES", "UCX_IB_GID_INDEX", "NVSHMEM_IB_TRAFFIC_CLASS"});
  for (const readers::JobVariable& variable : job.open) {
    if (std::find(kJudged.begin(), kJudged.end(), variable.name) == kJudged.end()) continue;
    const bool is_kubernetes = variable.value == "$(valueFrom)";
    out.unknown(fmt::format("{} ({}:{})", variable.name, variable.at.file, variable.at.line),
                is_kubernetes ? "the value is in a ConfigMap, a Secret or a field (valueFrom)"
                              : fmt::format("cannot tell the value of {}: the file does not set it",
                                            variable.value),
                "env | weir job - in the job, or the log of a run with NCCL_DEBUG=INFO", true);
  }
}

/// What the design renders for this variable; empty where it has none.
std::string designed(const design::Nccl* nccl, std::string_view name) {
  if (nccl == nullptr) return "";
  if (name == "NCCL_IB_TC") return std::to_string(nccl->traffic_class->value());
  if (name == "NCCL_IB_SL") return std::to_string(*nccl->service_level);
  if (name == "NCCL_IB_TIMEOUT") return std::to_string(*nccl->timeout);
  if (name == "NCCL_IB_RETRY_CNT") return std::to_string(*nccl->retry_count);
  if (name == "NCCL_IB_QPS_PER_CONNECTION") return std::to_string(*nccl->qps_per_connection);
  if (name == "NCCL_CROSS_NIC") return *nccl->cross_nic ? "1" : "0";
  return "";
}

/// Under PCP trust the service level is the priority of the packets.
void judge_service_level(const JobCase& subject, const readers::JobVariable& variable,
                         JobFindings& out) {
  if (variable.name != "NCCL_IB_SL" || subject.nccl == nullptr || subject.intent == nullptr) return;
  const auto value = job_number(variable.value);
  const int wanted = *subject.nccl->service_level;
  if (!value || *value > 7 || *value == wanted || (*value < 0 && wanted == 0)) return;
  const bool is_pcp = !subject.intent->hosts.empty() &&
                      !subject.intent->hosts.front().nics.empty() &&
                      subject.intent->hosts.front().nics.front().trust == design::Trust::kPcp;
  if (!is_pcp) return;  // the traffic class decides
  auto& found = out.add("dscp.unmarked",
                        fmt::format("NCCL_IB_SL={} puts the packets into priority {}; the design's "
                                    "class is priority {}, and its ports trust the PCP.",
                                    *value, std::max(*value, 0L), wanted),
                        variable.at);
  found.fix = {{"nccl", {fmt::format("export NCCL_IB_SL={}", wanted)}, ""}};
}

void judge_range(const JobCase& subject, const readers::JobVariable& variable, JobFindings& out) {
  for (const Range& range : kRanges) {
    if (variable.name != range.name) continue;
    const auto value = job_number(variable.value);
    if (value && *value >= range.low && *value <= range.high) return;
    auto& found = out.add("job.bad_value",
                          fmt::format("{}: expected a number from {} to {}, found '{}'.",
                                      variable.name, range.low, range.high, variable.value),
                          variable.at);
    const std::string own = designed(subject.nccl, range.name);
    const std::string_view right = own.empty() ? range.usual : std::string_view(own);
    if (right.empty()) continue;
    found.fix = {{"nccl",
                  {export_line(variable.name, right)},
                  own.empty()
                      ? "NCCL's default; weir render --to nccl prints every value for a design"
                      : "the design's value; weir render --to nccl prints all"}};
  }
}

void judge_patience(const readers::Job& job, double shortest, JobFindings& out) {
  for (const readers::JobVariable& variable : job.variables) {
    if (variable.name != "NCCL_IB_TIMEOUT") continue;
    const auto timeout = job_number(variable.value);
    if (!timeout || *timeout < 1 || *timeout > 31) continue;
    const readers::JobVariable* retries = job.find("NCCL_IB_RETRY_CNT");
    long count = retries == nullptr ? 7 : job_number(retries->value).value_or(7);
    if (count < 0 || count > 7) count = 7;  // not possible: judge_range() says so
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

/// Names that no library reads: the first get a finding and a suggestion each, the rest one finding
/// together. More than these are no typing errors, and each would be compared with every name.
class UnknownNames {
 public:
  /// False where the variable is one of the rest.
  [[nodiscard]] bool takes(const readers::JobVariable& variable) {
    constexpr std::size_t kNamed = 100;
    const auto known = readers::knowledge_of(variable.name, readers::Suggests::kNothing);
    if (known.is_known || known.is_removed || shown_.contains(variable.name)) return true;
    if (shown_.size() < kNamed) return shown_.insert(variable.name).second;
    if (first_ == nullptr) first_ = &variable;
    rest_.insert(variable.name);
    return false;
  }
  void judge_rest(JobFindings& out) const {
    if (first_ == nullptr) return;
    auto& found = out.add(
        "job.env_typo",
        fmt::format("{} more unknown variables, {} the first of them.", rest_.size(), first_->name),
        first_->at);
    found.confidence = finding::Confidence::kMedium;
  }

 private:
  std::set<std::string, std::less<>> shown_;
  std::set<std::string, std::less<>> rest_;
  const readers::JobVariable* first_ = nullptr;
};

}  // namespace

void judge_variables(const JobCase& subject, JobFindings& out) {
  UnknownNames unknown;
  for (const readers::JobVariable& variable : subject.job.variables) {
    if (unknown.takes(variable)) judge_name(variable, out);
    judge_range(subject, variable, out);
    judge_service_level(subject, variable, out);
    judge_words(variable, out);
  }
  unknown.judge_rest(out);
  judge_open(subject.job, out);
  judge_patience(subject.job, subject.thresholds.shortest_retry, out);
}

}  // namespace weir::diagnose

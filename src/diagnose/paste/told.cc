#include "diagnose/paste/told.h"

#include <algorithm>
#include <array>

#include "base/text.h"
#include "diagnose/paste/stated.h"
#include "readers/paste/text_lines.h"
#include "readers/paste/words/hearsay.h"

namespace weir::diagnose {
namespace {

constexpr auto kData =
    std::to_array<std::string_view>({"RoCE", "roce", "RoCEv2", "ROCE", "RDMA", "rdma"});

template <class List>
bool is_among(const List& list, std::string_view name) {
  return std::find(list.begin(), list.end(), name) != list.end();
}

std::string_view without_marks(std::string_view word) {
  while (!word.empty() && std::string_view("(\"'`").find(word.front()) != std::string_view::npos)
    word.remove_prefix(1);
  return word.substr(0, word.find_last_not_of(",.;:=)\"'`") + 1);
}

/// 4 of "RoCE here is DSCP 34 -> prio 4", "RDMA uses priority 5", "lossless RoCE class: TC 4". A
/// line about what is missing, dropped or wrong tells of a fault, not of the plan.
std::optional<Priority> priority_in(std::string_view line) {
  constexpr auto kNames = std::to_array<std::string_view>(
      {"prio", "Prio", "priority", "Priority", "pcp", "PCP", "tc", "TC", "pfc", "PFC"});
  constexpr auto kFaults = std::to_array<std::string_view>(
      {"not", "no", "wrong", "drop", "drops", "dropped", "lossy", "instead", "but", "leaves",
       "lands", "arrives", "ends", "lost", "nothing"});
  bool is_data = false;
  std::optional<Priority> found;
  const auto words = readers::words_of(line);
  for (std::size_t i = 0; i < words.size(); ++i) {
    const std::string_view word = without_marks(words[i]);
    if (is_among(kFaults, word) || word.starts_with("CNP") || word.starts_with("cnp")) return {};
    is_data = is_data || is_among(kData, word);
    if (!is_data || !is_among(kNames, word) || i + 1 == words.size()) continue;
    const auto value = parse_u64(without_marks(words[i + 1]));
    if (!value || *value == 0 || *value >= Priority::kLimit) continue;
    const Priority priority = Priority::of(static_cast<unsigned>(*value));
    if (found && *found != priority) return std::nullopt;
    found = priority;
  }
  return found;
}

}  // namespace

std::vector<Dscp> dscps_in_words(const readers::Paste& paste) {
  std::vector<Dscp> out;
  for (const readers::Cited& line : paste.words) {
    if (readers::is_hearsay(line.text)) continue;
    const auto words = readers::words_of(line.text);
    bool is_data = false;  // what the words before speak of
    bool is_cnp = false;
    for (std::size_t i = 0; i < words.size(); ++i) {
      constexpr auto kVerbs = std::to_array<std::string_view>(
          {"send", "sends", "mark", "marks", "marked", "carries", "use", "uses"});
      const std::string_view word = words[i].substr(0, words[i].find_last_not_of(",.;:=") + 1);
      if (word.starts_with("CNP") || word.starts_with("cnp")) {
        is_cnp = true;
        is_data = false;
      } else if (is_among(kData, word)) {
        is_cnp = false;
        is_data = true;
      } else if (is_among(kVerbs, word)) {
        is_data = !is_cnp;
      }
      const bool is_dscp = word == "DSCP" || word == "dscp";
      if (!is_dscp || !is_data || i + 1 == words.size()) continue;
      const std::string_view next = words[i + 1];
      const auto value =
          parse_u64(next.substr(0, std::min(next.find_first_of(",.;)"), next.size())));
      if (value && *value < Dscp::kLimit) out.push_back(Dscp::of(static_cast<unsigned>(*value)));
    }
  }
  return out;
}

std::vector<Dscp> dscps_of_job(const readers::Job& job) {
  std::vector<Dscp> out;
  for (const readers::JobVariable& variable : job.variables) {
    const bool is_marking =
        variable.name == "NCCL_IB_TC" || variable.name == "UCX_IB_TRAFFIC_CLASS";
    const auto byte = is_marking ? readers::parse_count(variable.value) : std::nullopt;
    if (byte && *byte < TosByte::kLimit)
      out.push_back(dscp_of(TosByte::of(static_cast<unsigned>(*byte))));
  }
  return out;
}

ToldOfRdma told_of_rdma(const readers::Paste& paste) {
  ToldOfRdma out;
  out.dscps = dscps_of_job(paste.job);
  if (out.dscps.empty()) out.dscps = dscps_in_words(paste);
  bool is_one = true;
  for (const readers::Cited& line : paste.words) {
    const auto here = readers::is_hearsay(line.text) ? std::nullopt : priority_in(line.text);
    if (!here) continue;
    is_one = is_one && (!out.priority || *out.priority == *here);
    out.priority = here;
  }
  if (!is_one) out.priority.reset();
  for (const readers::PasteLossless& item : paste.lossless)
    out.lossless.push_back(item.priorities);
  for (const readers::PasteCarried& item : paste.noted.carried)
    out.sent.push_back(item.bytes);
  return out;
}

}  // namespace weir::diagnose

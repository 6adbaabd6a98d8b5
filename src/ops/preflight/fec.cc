// Error correction of the links of the hosts, in stage 2: the active mode against the design, and
// what was corrected under load.
#include <array>
#include <map>

#include <fmt/format.h>

#include "base/name_pattern.h"
#include "base/text.h"
#include "diagnose/behaviour/preflight.h"
#include "ops/preflight/bench.h"
#include "units/format.h"

namespace weir::ops {
namespace {

/// "RS on 16 NICs, Off on gpu03 mlx5_1".
std::string modes_text(const std::map<std::string, std::vector<std::string>>& by_mode) {
  std::vector<std::string> parts;
  for (const auto& [mode, nics] : by_mode)
    parts.push_back(fmt::format("{} on {}", mode,
                                nics.size() == 1 ? nics.front() : counted(nics.size(), "NIC")));
  return join(parts, ", ");
}

/// A sum over the NICs that show the counter. One that does not show it says nothing of errors, so
/// that the NICs are counted for each.
struct FecSum {
  std::string_view counter;
  std::string_view unit;
  std::uint64_t sum = 0;
  std::size_t nics = 0;
  std::string most = {};  // the NIC that counted most
  std::uint64_t most_counted = 0;

  /// "28 bits (1 NIC that shows it; most gpu01 mlx5_0 with 28)".
  [[nodiscard]] std::string text() const {
    const std::string largest =
        most.empty() || nics == 1 ? "" : fmt::format("; most {} with {}", most, most_counted);
    return fmt::format("{} {} ({} {} it{})", sum, unit, counted(nics, "NIC"),
                       nics == 1 ? "shows" : "show", largest);
  }
};

/// Drivers count bits or blocks, symbols or blocks: sums of their own, since a block is thousands
/// of bits. Of a NIC that shows both the finer one.
struct Corrections {
  std::array<FecSum, 2> corrected = {
      FecSum{.counter = "nic.phy.corrected.bits", .unit = "bits"},
      FecSum{.counter = "nic.phy.fec_corrected.blocks", .unit = "blocks"}};
  std::array<FecSum, 2> lost = {
      FecSum{.counter = "nic.phy.pcs_symbol_error.symbols", .unit = "symbols"},
      FecSum{.counter = "nic.phy.fec_uncorrectable.blocks", .unit = "blocks"}};
};

void count_first(const diagnose::NicView& nic, std::array<FecSum, 2>& sums) {
  for (FecSum& sum : sums) {
    const auto found = nic.counts.of(sum.counter);
    if (!found) continue;
    ++sum.nics;
    sum.sum += *found;
    if (*found > sum.most_counted) {
      sum.most_counted = *found;
      sum.most = fmt::format("{} {}", nic.host, nic.device);
    }
    return;
  }
}

/// "28 bits (…) and 3 blocks (…)"; empty where no NIC shows it.
std::string sums_text(const std::array<FecSum, 2>& sums) {
  std::vector<std::string> parts;
  for (const FecSum& sum : sums)
    if (sum.nics > 0) parts.push_back(sum.text());
  return join(parts, " and ");
}

/// What was corrected and what could not be; only what some NIC shows.
void note_corrections(const Corrections& found, preflight::StageResult& stage) {
  std::vector<std::string> parts;
  if (const std::string text = sums_text(found.corrected); !text.empty())
    parts.push_back("corrected " + text);
  if (const std::string text = sums_text(found.lost); !text.empty())
    parts.push_back("could not correct " + text);
  if (!parts.empty()) stage.notes.push_back("FEC, under load: " + join(parts, "; "));
}

}  // namespace

void judge_fec(const Bench& bench, const Window& window, finding::Judgement& judgement,
               preflight::StageResult& stage) {
  const diagnose::View view(bench.subject(window));
  std::map<std::string, std::vector<std::string>> by_mode;
  std::vector<std::string> unknown;  // hosts
  Corrections found;
  for (const diagnose::NicView& nic : view.nics()) {
    if (nic.wanted == nullptr || nic.facts == nullptr) continue;
    count_first(nic, found.corrected);
    count_first(nic, found.lost);
    const evidence::Fact<std::string>& fec = nic.facts->link.fec;
    if (!fec.is_known()) {
      if (unknown.empty() || unknown.back() != nic.host) unknown.push_back(nic.host);
      continue;
    }
    by_mode[*fec].push_back(fmt::format("{} {}", nic.host, nic.device));
    const design::LinkIntent& link = bench.intent().links[nic.wanted->link];
    const diagnose::WantedFec wanted =
        diagnose::wanted_fec(*bench.design().links[link.group].fec, bench.intent(), link);
    if (auto wrong = diagnose::wrong_fec(nic, wanted))
      judgement.findings.push_back(*std::move(wrong));
  }
  finding::settle(judgement);
  if (!by_mode.empty()) stage.notes.push_back("FEC: " + modes_text(by_mode));
  if (!unknown.empty())
    stage.notes.push_back(fmt::format("FEC: cannot tell, not shown by {}", compact_names(unknown)));
  note_corrections(found, stage);
}

}  // namespace weir::ops

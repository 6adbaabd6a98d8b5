// Error correction of the links of the hosts, in stage 2: the active mode against the design, and
// what was corrected under load.
#include <algorithm>
#include <map>

#include <fmt/format.h>

#include "base/name_pattern.h"
#include "base/text.h"
#include "design/file/words.h"
#include "design/lint/lint.h"
#include "finding/catalog.h"
#include "ops/preflight/bench.h"
#include "units/format.h"

namespace weir::ops {
namespace {

/// What the design wants of a link; why is empty where it leaves the choice to the module.
struct WantedFec {
  std::vector<std::string> modes;  // any of these, as ethtool calls them
  std::string why;
};

WantedFec wanted_fec(const Bench& bench, const design::LinkIntent& link) {
  const design::Fec said = *bench.design().links[link.group].fec;
  const std::string designed = fmt::format("the design has fec: {}", design::to_word(said));
  switch (said) {
    case design::Fec::kRs: return {{"RS", "LLRS"}, designed};
    case design::Fec::kFc: return {{"BaseR"}, designed};
    case design::Fec::kNone: return {{"Off"}, designed};
    case design::Fec::kAuto: return {{"RS", "LLRS"}, design::why_rs_fec(bench.intent(), link)};
  }
  WEIR_UNREACHABLE("every mode is handled");
}

finding::Finding wrong_fec(const diagnose::NicView& nic, const WantedFec& wanted) {
  const std::string& found = *nic.facts->link.fec;
  finding::Finding finding =
      finding::make_finding("fec.wrong",
                            fmt::format("{} {}: FEC is {}, expected {}: {}.", nic.host, nic.device,
                                        found, join(wanted.modes, " or "), wanted.why),
                            nic.where());
  finding.evidence.push_back({.source = nic.facts->link.fec.source(),
                              .line = fmt::format("Active FEC encoding: {}", found),
                              .counter = "",
                              .value = std::nullopt});
  return finding;
}

/// "RS on 16 NICs, Off on gpu03 mlx5_1".
std::string modes_text(const std::map<std::string, std::vector<std::string>>& by_mode) {
  std::vector<std::string> parts;
  for (const auto& [mode, nics] : by_mode)
    parts.push_back(fmt::format("{} on {}", mode,
                                nics.size() == 1 ? nics.front() : counted(nics.size(), "NIC")));
  return join(parts, ", ");
}

/// A sum over the NICs that show the counter.
struct Corrections {
  std::uint64_t corrected = 0;
  std::uint64_t uncorrectable = 0;
  std::size_t nics = 0;  // that show either
  std::string most;      // the NIC that corrected most
  std::uint64_t most_corrected = 0;
};

void count_corrections(const diagnose::NicView& nic, Corrections& out) {
  const auto either = [&](std::string_view bits, std::string_view blocks) {
    const auto first = nic.counts.of(bits);
    return first ? first : nic.counts.of(blocks);
  };
  const auto corrected = either("nic.phy.corrected.bits", "nic.phy.fec_corrected.blocks");
  const auto lost = either("nic.phy.pcs_symbol_error.symbols", "nic.phy.fec_uncorrectable.blocks");
  if (!corrected && !lost) return;
  ++out.nics;
  out.corrected += corrected.value_or(0);
  out.uncorrectable += lost.value_or(0);
  if (corrected.value_or(0) <= out.most_corrected) return;
  out.most_corrected = *corrected;
  out.most = fmt::format("{} {}", nic.host, nic.device);
}

}  // namespace

void judge_fec(const Bench& bench, const Window& window, finding::Judgement& judgement,
               preflight::StageResult& stage) {
  const diagnose::View view(bench.subject(window));
  std::map<std::string, std::vector<std::string>> by_mode;
  std::vector<std::string> unknown;  // hosts
  Corrections sum;
  for (const diagnose::NicView& nic : view.nics()) {
    if (nic.wanted == nullptr || nic.facts == nullptr) continue;
    count_corrections(nic, sum);
    const evidence::Fact<std::string>& fec = nic.facts->link.fec;
    if (!fec.is_known()) {
      if (unknown.empty() || unknown.back() != nic.host) unknown.push_back(nic.host);
      continue;
    }
    by_mode[*fec].push_back(fmt::format("{} {}", nic.host, nic.device));
    const WantedFec wanted = wanted_fec(bench, bench.intent().links[nic.wanted->link]);
    if (wanted.why.empty() ||
        std::find(wanted.modes.begin(), wanted.modes.end(), *fec) != wanted.modes.end())
      continue;
    judgement.findings.push_back(wrong_fec(nic, wanted));
  }
  finding::settle(judgement);
  if (!by_mode.empty()) stage.notes.push_back("FEC: " + modes_text(by_mode));
  if (!unknown.empty())
    stage.notes.push_back(fmt::format("FEC: cannot tell, not shown by {}", compact_names(unknown)));
  if (sum.nics > 0)
    stage.notes.push_back(fmt::format(
        "FEC corrected {} errors under load ({} that show it{}), and could not correct {}",
        sum.corrected, counted(sum.nics, "NIC"),
        sum.most.empty() ? "" : fmt::format("; most {} with {}", sum.most, sum.most_corrected),
        sum.uncorrectable));
}

}  // namespace weir::ops

// Cables: how far each kind carries a lane, and the error correction that a lane needs.
#include <algorithm>
#include <set>

#include <fmt/format.h>

#include "design/file/words.h"
#include "design/lint/lint.h"
#include "design/lint/rules.h"
#include "units/format.h"

namespace weir::design {
namespace {

/// Rate of one lane: from the cage where the model is known, else the usual one of that speed. 400G
/// is eight lanes of 50G or four of 100G: the slower, which carries farther.
BitRate lane_rate(const Intent& intent, const LinkIntent& link) {
  for (const PortRef end : {link.lower, link.upper}) {
    if (end.kind != NodeKind::kSwitch) continue;
    const CagePort& place = intent.switches[end.node].ports[end.port].place;
    if (place.cage != 0 && place.mode.ports > 0 && place.mode.lanes >= place.mode.ports)
      return link.speed / (place.mode.lanes / place.mode.ports);
  }
  if (link.speed >= 800_Gbps) return 100_Gbps;
  if (link.speed >= 200_Gbps) return 50_Gbps;
  return 25_Gbps;
}

bool is_split(const Intent& intent, const LinkIntent& link) {
  for (const PortRef end : {link.lower, link.upper})
    if (end.kind == NodeKind::kSwitch &&
        intent.switches[end.node].ports[end.port].place.mode.ports > 1)
      return true;
  return false;
}

struct Reach {
  Length sure;  // beyond it only some parts carry the signal
  Length most;  // beyond it none does
  std::string_view why;
};

/// Passive copper: 802.3cd 3 m at 50G per lane, 802.3ck 2 m at 100G; NVIDIA sells 800G-to-2x400G
/// splitters to 3 m; 802.3by CA-L 5 m at 25G. Active copper: 5 m, some makers to 7 m. Active
/// optical cables are sold to 100 m. A fibre's reach depends on its optics, which the design does
/// not name.
std::optional<Reach> reach_of(const Intent& intent, const LinkIntent& link) {
  const BitRate lane = lane_rate(intent, link);
  switch (link.cable) {
    case CableKind::kDac:
      if (lane >= 100_Gbps)
        return Reach{is_split(intent, link) ? 3_m : 2_m, 3_m,
                     "passive copper carries 100G per lane over 2 m (802.3ck), split 800G cables "
                     "are sold to 3 m"};
      if (lane >= 50_Gbps)
        return Reach{3_m, 3_m, "passive copper carries 50G per lane over 3 m (802.3cd)"};
      return Reach{5_m, 5_m, "passive copper carries 25G per lane over 5 m (802.3by CA-L, RS-FEC)"};
    case CableKind::kAec: return Reach{5_m, 7_m, "active copper is sold to 5 m, some of it to 7 m"};
    case CableKind::kAoc: return Reach{100_m, 100_m, "active optical cables are sold to 100 m"};
    case CableKind::kFibre: return std::nullopt;
  }
  WEIR_UNREACHABLE("every kind of cable is listed");
}

std::string_view instead_of(const LinkIntent& link) {
  if (link.length > 100_m) return "fibre";
  return link.cable == CableKind::kDac && link.length <= 5_m ? "aec" : "aoc";
}

/// The first link of each group: its links are alike.
std::vector<const LinkIntent*> one_per_group(const Intent& intent) {
  std::vector<const LinkIntent*> out;
  std::set<std::uint32_t> seen;
  for (const LinkIntent& link : intent.links)
    if (seen.insert(link.group).second) out.push_back(&link);
  return out;
}

}  // namespace

void check_cable_too_long(LintCase& c) {
  for (const LinkIntent* const link : one_per_group(c.intent)) {
    const auto reach = reach_of(c.intent, *link);
    if (!reach || link->length <= reach->sure) continue;
    const LinkGroup& group = c.group_of(*link);
    auto& found = c.report(
        "cable.too_long", first_known({group.length.at(), group.cable.at(), group.at}),
        fmt::format("{} of {} at {} from {} to {}: {}", to_text(link->length), to_word(link->cable),
                    to_text(link->speed), group.from->text, group.to->text,
                    link->length > reach->most
                        ? "no such cable carries that, the link stays down"
                        : "few such cables carry that, others stay down or err"));
    if (link->length <= reach->most) found.severity = finding::Severity::kWarning;
    LintCase::add_evidence(
        found, fmt::format("{}: {} per lane", reach->why, to_text(lane_rate(c.intent, *link))));
    LintCase::add_fix(found, {fmt::format("cable: {}", instead_of(*link))},
                      fmt::format("in the link from {} to {}, or its true length", group.from->text,
                                  group.to->text));
  }
}

std::string why_rs_fec(const Intent& intent, const LinkIntent& link) {
  const bool is_copper = link.cable == CableKind::kDac || link.cable == CableKind::kAec;
  if (lane_rate(intent, link) >= 50_Gbps)
    return "PAM4 lanes (50G and more) work with RS-FEC only: RS(544,514)";
  if (link.speed >= 100_Gbps && link.cable != CableKind::kFibre)
    return "100G over four lanes of 25G needs RS(528,514) on copper and short optics";
  if (is_copper && link.length > 3_m) return "25G copper over 3 m (CA-L) needs RS-FEC";
  return "";
}

void check_fec_wrong(LintCase& c) {
  for (const LinkIntent* const link : one_per_group(c.intent)) {
    const LinkGroup& group = c.group_of(*link);
    const Fec fec = *group.fec;
    if (fec == Fec::kAuto || fec == Fec::kRs) continue;
    const std::string why = why_rs_fec(c.intent, *link);
    if (why.empty()) continue;
    auto& found = c.report(
        "fec.wrong", first_known({group.fec.at(), group.at}),
        fmt::format("fec: {} at {} over {} of {} from {} to {}: the link stays down, or errs",
                    to_word(fec), to_text(link->speed), to_text(link->length), to_word(link->cable),
                    group.from->text, group.to->text));
    LintCase::add_evidence(found, why);
    LintCase::add_fix(found, {"fec: rs"}, "at both ends; auto does the same by the module");
  }
}

}  // namespace weir::design

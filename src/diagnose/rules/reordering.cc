// I17: packets arrive out of order. The receiver requests what was only late and then gets it
// twice: that distinguishes it from loss, even with a single host. If every switch shows that it
// dropped nothing, nothing was lost either.
#include <algorithm>

#include <fmt/format.h>

#include "base/count_text.h"
#include "diagnose/core/shape.h"
#include "diagnose/rules/rule.h"

namespace weir::diagnose {
namespace {

constexpr std::string_view kReordered = "nic.resp.out_of_sequence.packets";
constexpr std::string_view kTwice = "nic.resp.duplicate_request.packets";

/// Switches that spread packets of one connection over several paths, to NICs that need order.
void look_at_balancing(const View& view, Suspicions& out) {
  const bool nics_mind =
      std::any_of(view.nics().begin(), view.nics().end(), [](const NicView& nic) {
        return nic.facts != nullptr && nic.facts->rdma.out_of_order.is(false);
      });
  if (!nics_mind) return;
  for (const std::string& name : view.switches()) {
    const PortView& first = *view.ports_of(name).front();
    if (first.device == nullptr || !first.device->load_balancing.is_known()) continue;
    const std::string& mode = *first.device->load_balancing;
    const bool is_wanted = first.wanted_switch != nullptr &&
                           first.wanted_switch->load_balancing != design::LoadBalancing::kEcmp;
    if (mode == "ecmp" || is_wanted) continue;
    out.add({.id = "path.reordering",
             .verdict = fmt::format("{} balances per packet ({}) instead of per flow, and the NICs "
                                    "treat packets out of order as loss.",
                                    name, mode),
             .where = {.switch_name = name},
             .evidence = {fact_line(name,
                                    fmt::format("load balancing: expected ecmp, found {}", mode))},
             .explains = congestion_anywhere()});
  }
}

/// Packets that were lost elsewhere than in a switch's buffer. A link that went down loses what was
/// on it, which nobody counts: then it is not known how many.
struct BrokenFrames {
  std::uint64_t count = 0;
  bool has_link_down = false;
};

BrokenFrames broken_frames(const View& view) {
  BrokenFrames out;
  for (const NicView& nic : view.nics()) {
    out.count += nic.counts.of("nic.phy.crc_error.packets").value_or(0) +
                 nic.counts.of("nic.port.rx_discard.packets").value_or(0) +
                 nic.counts.of("nic.port.rx_oversize.packets").value_or(0);
    if (nic.counts.of("nic.phy.link_down.events").value_or(0) > 0) out.has_link_down = true;
  }
  for (const PortView& port : view.ports()) {
    out.count += port.counts.of("switch.port.crc_error.packets").value_or(0);
    if (port.counts.of("switch.port.link_down.events").value_or(0) > 0) out.has_link_down = true;
  }
  return out;
}

struct Overtaken {
  std::uint64_t out_of_order = 0;
  std::uint64_t asked_again = 0;  // NAKs that senders got: one for every gap
  std::uint64_t twice = 0;
  std::uint64_t lost = 0;
  std::size_t hosts = 0;
  const NicView* most = nullptr;
  bool nothing_dropped = false;  // as every switch says
  bool is_beside_loss = false;
};

/// nullopt where nothing came out of order, or what did may be loss.
std::optional<Overtaken> overtaken(const View& view) {
  Overtaken seen;
  std::uint64_t most = 0;
  for (const NicView& nic : view.nics()) {
    const std::uint64_t here = nic.counts.of(kReordered).value_or(0);
    seen.out_of_order += here;
    seen.twice += nic.counts.of(kTwice).value_or(0);
    seen.asked_again += nic.counts.of("nic.req.seq_nak_received.packets").value_or(0);
    seen.hosts += here > 0 ? 1 : 0;
    if (here > most) {
      most = here;
      seen.most = &nic;
    }
  }
  const BrokenFrames broken = broken_frames(view);
  if (seen.most == nullptr || broken.has_link_down) return std::nullopt;
  const auto drops = drops_of_switches(view);
  seen.lost = broken.count + drops.value_or(0);
  seen.nothing_dropped = drops && seen.lost == 0;
  const bool came_twice = static_cast<double>(seen.twice) >
                          view.thresholds().came_twice * static_cast<double>(seen.out_of_order);
  // A lost packet leaves one gap, so many more gaps than losses are packets that came late.
  seen.is_beside_loss = seen.lost > 0 && drops && came_twice &&
                        static_cast<double>(seen.asked_again) >
                            view.thresholds().gaps_over_losses * static_cast<double>(seen.lost);
  const bool is_overtaken =
      seen.lost > 0 ? seen.is_beside_loss : seen.nothing_dropped || came_twice;
  return is_overtaken ? std::optional(seen) : std::nullopt;
}

}  // namespace

bool shows_only_reordering(const View& view) {
  if (const auto seen = overtaken(view)) return !seen->is_beside_loss;
  bool is_any = false;
  for (const NicView& nic : view.nics()) {
    if (nic.counts.of(kReordered).value_or(0) == 0) continue;
    if (!is_disorder_without_loss(view, nic)) return false;
    is_any = true;
  }
  return is_any;
}

void look_for_reordering(const View& view, Suspicions& out) {
  look_at_balancing(view, out);
  const auto found = overtaken(view);
  if (!found) return;
  const Overtaken& seen = *found;
  const bool is_one = seen.hosts == 1;
  std::vector<finding::EvidenceLine> lines = {seen.most->counts.line(kReordered)};
  if (seen.twice > 0) lines.push_back(seen.most->counts.line(kTwice));
  out.add(
      {.id = "path.reordering",
       .verdict = fmt::format(
           "{} packets arrived out of order at {}, {}: reordering, not {}loss.",
           count_text(seen.out_of_order),
           is_one ? name_of(*seen.most) : fmt::format("{} hosts", seen.hosts),
           seen.is_beside_loss    ? fmt::format("senders were asked {} times to repeat and only {} "
                                                   "packets were lost",
                                                count_text(seen.asked_again), count_text(seen.lost))
           : seen.nothing_dropped ? std::string("and no switch dropped any")
                                  : std::string("and retransmitted ones arrived twice"),
           seen.is_beside_loss ? "only " : ""),
       .where = is_one ? seen.most->where() : finding::Where(),
       .confidence = seen.nothing_dropped  ? finding::Confidence::kHigh
                     : seen.is_beside_loss ? finding::Confidence::kMedium
                                           : finding::Confidence::kLow,
       .evidence = std::move(lines),
       .explains = seen.is_beside_loss
                       ? std::vector<Consequence>()
                       : std::vector<Consequence>{{"path.loss"}, {"congestion.sustained"}}});
}

}  // namespace weir::diagnose

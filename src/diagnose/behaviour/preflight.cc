#include "diagnose/behaviour/preflight.h"

#include <algorithm>

#include <fmt/format.h>

#include "base/check.h"
#include "base/text.h"
#include "base/untrusted/quote.h"
#include "design/file/words.h"
#include "design/lint/lint.h"
#include "finding/catalog.h"
#include "units/format.h"
#include "units/rate_text.h"

namespace weir::diagnose {
namespace {

finding::EvidenceLine measured_line(std::string_view source, std::string line) {
  return {
      .source = std::string(source), .line = std::move(line), .counter = "", .value = std::nullopt};
}

void add_settled(finding::Finding finding, finding::Judgement& judgement) {
  judgement.findings.push_back(std::move(finding));
  finding::settle(judgement);
}

/// What to look at on one NIC.
std::vector<finding::Fix> fixes_of_nic(const NicName& nic, const std::string& good_host) {
  const std::string device = shell_word("/sys/class/infiniband/" + nic.device + "/device");
  const std::string netdev = shell_word(nic.netdev);
  return {
      {.platform = "host",
       .commands = {fmt::format("cat {0}/current_link_width {0}/current_link_speed", device),
                    fmt::format("ethtool {}", netdev),
                    fmt::format("ethtool -S {} | grep -E 'pause|discard|err|outbound_pci'",
                                netdev)},
       .note = fmt::format(
           "On {}, beside a NIC of it that is not slow. If all of it is alike, exchange the cable "
           "of {} with that NIC's: slow on rail {} still is the NIC or its slot, slow on the other "
           "is the cable or the switch port.",
           nic.host, nic.device, nic.rail)},
      {.platform = "mlx5-ofed",
       .commands = {fmt::format("mlxlink -d {} -m -c", shell_word(nic.device))},
       .note = ""},
      {.platform = "any",
       .commands = {fmt::format("weir diff {} {}", shell_word(nic.host), shell_word(good_host)),
                    "weir explain pcie.link_degraded"},
       .note = ""}};
}

std::string rates_text(const LonePair& alone) {
  return fmt::format("{} of at least {}", rate_text(alone.rate), rate_text(alone.floor));
}

finding::EvidenceLine retest_line(const LonePair& alone) {
  return measured_line("retest, alone in the fabric", to_text(alone));
}

/// What is slow, as far as the search came.
std::string sentence_of(const LinkSearch& search) {
  if (!search.links.empty())
    return fmt::format("{} slow: {} carried every pair that was slow alone, and none that was not",
                       search.links.size() == 1 ? "A link is" : "One of these links is",
                       join(search.links, ", "));
  if (!search.faulty)
    return fmt::format("A path between {} and {} is slow", search.leaves.first,
                       search.leaves.second);
  const auto& [here, there] = *search.faulty;
  return fmt::format(
      "One of the {} uplinks of {} is slow: alone, {} of {} pairs of its hosts with hosts of "
      "third leaves were below the floor, and {} of {} pairs of {}. Which one, the counters of "
      "the switch tell",
      here.uplinks, here.leaf, here.slow, here.tried, there.slow, there.tried, there.leaf);
}

finding::Where place_of(const LinkSearch& search) {
  finding::Where where{.rail = fmt::format("{}", search.rail)};
  if (!search.links.empty()) {
    where.link = join(search.links, ", ");
    where.switch_name = search.switch_name;
    where.port = search.port;
  } else if (search.faulty) {
    where.switch_name = search.faulty->first.leaf;
  } else {
    where.link = fmt::format("{} - {}", search.leaves.first, search.leaves.second);
  }
  return where;
}

}  // namespace

void judge_unfinished(const UnfinishedLoad& load, finding::Judgement& judgement) {
  if (judgement.count(finding::Severity::kError) > 0) return;
  std::vector<std::string> open;
  for (const auto& [from, to] : load.open) {
    const std::string text = fmt::format("{} to {}", from, to);
    if (std::find(open.begin(), open.end(), text) == open.end()) open.push_back(text);
  }
  constexpr std::size_t kNamed = 4;
  const std::size_t all = open.size();
  if (open.size() > kNamed) open.resize(kNamed);
  finding::Finding finding = finding::make_finding(
      "transport.retries_exhausted",
      fmt::format("Messages did not arrive: {}{}.", join(open, ", "),
                  all > kNamed ? fmt::format(" and {} other pairs", all - kNamed) : ""));
  for (const std::string& note : load.notes)
    finding.evidence.push_back(measured_line("the load", note));
  add_settled(std::move(finding), judgement);
}

void judge_other_pauses(const View& view, PrioritySet lossless, finding::Judgement& judgement) {
  for (const NicView& nic : view.nics())
    for (unsigned priority = 0; priority < Priority::kLimit; ++priority) {
      if (lossless.contains(Priority::of(priority))) continue;
      const auto frames = nic.counts.of("nic.prio.pause_rx.frames", priority);
      if (frames.value_or(0) == 0) continue;
      finding::Finding finding = finding::make_finding(
          "pfc.wrong_priority",
          fmt::format("{} was paused in priority {}, which the design does not make lossless.",
                      nic.host, priority),
          nic.where());
      finding.evidence.push_back(nic.counts.line("nic.prio.pause_rx.frames", priority));
      judgement.findings.push_back(std::move(finding));
    }
  finding::settle(judgement);
}

WantedFec wanted_fec(design::Fec said, const design::Intent& intent,
                     const design::LinkIntent& link) {
  const std::string designed = fmt::format("the design has fec: {}", design::to_word(said));
  switch (said) {
    case design::Fec::kRs: return {{"RS", "LLRS"}, designed};
    case design::Fec::kFc: return {{"BaseR"}, designed};
    case design::Fec::kNone: return {{"Off"}, designed};
    case design::Fec::kAuto: return {{"RS", "LLRS"}, design::why_rs_fec(intent, link)};
  }
  WEIR_UNREACHABLE("every mode is handled");
}

std::optional<finding::Finding> wrong_fec(const NicView& nic, const WantedFec& wanted) {
  if (nic.facts == nullptr || !nic.facts->link.fec.is_known() || wanted.why.empty())
    return std::nullopt;
  const std::string& found = *nic.facts->link.fec;
  if (std::find(wanted.modes.begin(), wanted.modes.end(), found) != wanted.modes.end())
    return std::nullopt;
  finding::Finding finding =
      finding::make_finding("fec.wrong",
                            fmt::format("{} {}: FEC is {}, expected {}: {}.", nic.host, nic.device,
                                        found, join(wanted.modes, " or "), wanted.why),
                            nic.where());
  finding.evidence.push_back(
      measured_line(nic.facts->link.fec.source(), fmt::format("Active FEC encoding: {}", found)));
  return finding;
}

finding::Finding narrow_path(const NarrowPath& path) {
  return finding::make_finding(
      "mtu.mismatch",
      fmt::format("Packets of {} do not pass undivided from {} to {} on rail {}; small ones do.",
                  to_text(path.mtu), path.from, path.to, path.rail),
      path.where);
}

void judge_loopbacks(std::span<const Loopback> nics, finding::Judgement& judgement) {
  for (const Loopback& nic : nics) {
    if (nic.rate == 0 || nic.rate >= nic.floor) continue;
    finding::Finding finding = finding::make_finding(
        "host.straggler",
        fmt::format("{} moves {} with itself, of at least {}: the host is slow, not the fabric.",
                    nic.host, rate_text(nic.rate), rate_text(nic.floor)),
        {.host = nic.host, .rail = fmt::format("{}", nic.rail)});
    finding.severity = finding::Severity::kError;
    judgement.findings.push_back(std::move(finding));
  }
  finding::settle(judgement);
}

finding::Finding slow_gpu_loopback(const GpuLoopback& nic) {
  const std::string than =
      nic.floor ? "of at least " + rate_text(*nic.floor)
                : fmt::format("where NICs like it move {} in the median", rate_text(*nic.median));
  finding::Finding finding = finding::make_finding(
      "host.straggler",
      fmt::format("{} moves {} with its GPU on rail {}, {}: the host is slow, not the fabric.",
                  nic.host, rate_text(nic.rate), nic.rail, than),
      {.host = nic.host, .rail = fmt::format("{}", nic.rail)});
  finding.severity = nic.floor ? finding::Severity::kError : finding::Severity::kWarning;
  return finding;
}

std::string to_text(const LonePair& pair) {
  return fmt::format("{} to {}, rail {}, alone: {} of at least {}", pair.from, pair.to, pair.rail,
                     rate_text(pair.rate), rate_text(pair.floor));
}

void judge_slow_host(const std::string& host, const LonePair& worst,
                     const std::vector<std::string>& partners, finding::Judgement& judgement) {
  const finding::EvidenceLine line = measured_line("retest, alone in the fabric", to_text(worst));
  for (finding::Finding& finding : judgement.findings) {
    if (finding.where.host != host || finding.severity == finding::Severity::kInfo) continue;
    finding.severity = finding::Severity::kError;
    finding.evidence.push_back(line);
    finding::settle(judgement);
    return;
  }
  finding::Finding finding = finding::make_finding(
      "host.straggler",
      fmt::format("{} is slow with both partners: alone with {} it {} {} of at least {}.", host,
                  join(partners, " and with "), worst.to == host ? "receives" : "sends",
                  rate_text(worst.rate), rate_text(worst.floor)),
      {.host = host, .rail = fmt::format("{}", worst.rail)});
  finding.severity = finding::Severity::kError;
  finding.evidence.push_back(line);
  add_settled(std::move(finding), judgement);
}

finding::Finding slow_nic(const NicName& nic, const LonePair& worst,
                          const std::vector<std::string>& partners, std::size_t good) {
  finding::Finding out = finding::make_finding(
      "host.straggler",
      fmt::format("{} rail {} ({}) is slow with both partners: alone with {} it {} {}{}.", nic.host,
                  nic.rail, nic.device, join(partners, " and with "),
                  worst.to == nic.host ? "receives" : "sends", rates_text(worst),
                  good == 0 ? ""
                            : fmt::format("; {} of the host reached {} in the same loads",
                                          counted(good, "other rail"),
                                          good == 1 ? "its floor" : "their floors")),
      {.host = nic.host, .rail = fmt::format("{}", nic.rail), .device = nic.device});
  out.severity = finding::Severity::kError;
  out.evidence.push_back(retest_line(worst));
  out.fix = fixes_of_nic(nic, partners.front());
  return out;
}

finding::Finding slow_path(const LonePair& worst, const std::string& why) {
  const auto& [first, second] = std::minmax(worst.from, worst.to);
  finding::Finding out = finding::make_finding(
      "link.degraded",
      fmt::format("{} to {} is slow on rail {}, alone: {}{}.", worst.from, worst.to, worst.rail,
                  rates_text(worst), why),
      {.rail = fmt::format("{}", worst.rail), .link = fmt::format("{} - {}", first, second)});
  out.evidence.push_back(retest_line(worst));
  return out;
}

finding::Finding slow_together(const SlowTogether& slow) {
  const LonePair& worst = slow.alone.front();
  finding::Finding out = finding::make_finding(
      "hosts.below_floor",
      fmt::format("{} is slow on all {} hosts: none stands out, and alone, {} to {} on rail {} {} "
                  "{}.",
                  slow.what, slow.hosts, worst.from, worst.to, worst.rail,
                  worst.rate > 0 ? "reached" : "moved", rates_text(worst)),
      {.rail = slow.rail, .switch_name = slow.switch_name});
  for (const LonePair& alone : slow.alone)
    out.evidence.push_back(retest_line(alone));
  return out;
}

finding::Finding slow_uplinks(const SlowTogether& slow, const LonePair& within,
                              std::size_t uplinks) {
  const LonePair& worst = slow.alone.front();
  finding::Finding out = finding::make_finding(
      "leaf.uplink_bottleneck",
      fmt::format("{} hosts below {} are slow with hosts below other leaves, not with each other: "
                  "alone, {} to {} {}, {} to {} {}. It has {}.",
                  slow.hosts, slow.switch_name, worst.from, worst.to, rates_text(worst),
                  within.from, within.to, rates_text(within), counted(uplinks, "uplink")),
      {.rail = slow.rail, .switch_name = slow.switch_name});
  out.severity = finding::Severity::kError;
  for (const LonePair& alone : slow.alone)
    out.evidence.push_back(retest_line(alone));
  out.evidence.push_back(retest_line(within));
  return out;
}

finding::Finding slow_between_leaves(const SlowBetweenLeaves& slow) {
  const LonePair& worst = slow.slow.front();
  const LonePair& within = slow.within.front();
  finding::Finding out = finding::make_finding(
      "link.degraded",
      fmt::format("{} between switches {} slow: alone too, {} to {} {} {}, and {} to {}, below one "
                  "leaf, {}; so it is with every pair of hosts.",
                  counted(slow.count, "link"), slow.count == 1 ? "is" : "are", worst.from, worst.to,
                  worst.rate > 0 ? "reached" : "moved", rates_text(worst), within.from, within.to,
                  rates_text(within)),
      {.rail = slow.rail, .link = slow.links});
  out.severity = finding::Severity::kError;
  for (const std::vector<LonePair>* const pairs : {&slow.slow, &slow.within})
    for (const LonePair& pair : *pairs)
      out.evidence.push_back(retest_line(pair));
  return out;
}

void judge_slow_link(const LinkSearch& search, finding::Judgement& judgement) {
  finding::Where where = place_of(search);
  const bool is_known = std::any_of(
      judgement.findings.begin(), judgement.findings.end(),
      [&](const auto& known) { return known.id == "link.degraded" && known.where == where; });
  if (is_known) return;
  finding::Finding finding =
      finding::make_finding("link.degraded",
                            fmt::format("{} ({} of {}, tried one at a time).", sentence_of(search),
                                        search.slow, counted(search.tried, "pair")),
                            std::move(where));
  finding.severity = finding::Severity::kError;
  finding.evidence.push_back(
      measured_line("bisection, alone in the fabric", to_text(search.worst)));
  add_settled(std::move(finding), judgement);
}

}  // namespace weir::diagnose

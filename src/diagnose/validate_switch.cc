// A switch's settings against the design (C7): maps, PFC, headroom, marking, watchdog, MTU.
#include <algorithm>

#include <fmt/format.h>

#include "diagnose/fixes.h"
#include "diagnose/validate_parts.h"
#include "finding/catalog.h"
#include "units/format.h"

namespace weir::diagnose {
namespace {

using finding::Severity;

/// A fault of a switch, collected over its ports: one finding, a line of evidence a port.
class Collector {
 public:
  Collector(const evidence::Switch& found, finding::Judgement& out) : found_(found), out_(out) {}

  void wrong(std::string_view id, const std::string& port, std::string text,
             std::optional<Severity> severity = {}) {
    for (finding::Finding& one : findings_) {
      if (one.id != id) continue;
      one.where.port.clear();
      add_line(one, port, text);
      return;
    }
    finding::Where where;
    where.switch_name = found_.name;
    where.port = port;
    const std::string place = port.empty() ? found_.name : fmt::format("{} {}", found_.name, port);
    finding::Finding one = finding::make_finding(id, fmt::format("{} {}.", place, text), where);
    if (severity) one.severity = *severity;
    add_line(one, port, text);
    findings_.push_back(std::move(one));
  }
  void unknown(std::string what) {
    const std::string check = fmt::format("{}: {}", found_.name, what);
    for (const finding::Unknown& one : out_.unknown)
      if (one.check == check) return;
    out_.unknown.push_back({check, "was not read",
                            "the switch's configuration: weir validate "
                            "--switch NAME=FILE"});
  }
  void finish() {
    for (finding::Finding& one : findings_) {
      const std::size_t ports = one.evidence.size();
      if (ports > 1) one.verdict += fmt::format(" The same kind on {} more.", ports - 1);
      fit_fixes(&found_, one.where.port, one);
      out_.findings.push_back(std::move(one));
    }
  }

 private:
  void add_line(finding::Finding& one, const std::string& port, const std::string& text) {
    finding::EvidenceLine line;
    line.source = port.empty() ? found_.name : fmt::format("{} {}", found_.name, port);
    line.line = text;
    one.evidence.push_back(std::move(line));
  }

  const evidence::Switch& found_;
  finding::Judgement& out_;
  std::vector<finding::Finding> findings_;
};

std::string expected(std::string_view what, std::string_view wanted, std::string_view found) {
  return fmt::format("{}: expected {}, found {}", what, wanted, found);
}

void check_map(const evidence::Switch& found, const design::SwitchIntent& wanted, Collector& out) {
  if (!found.dscp_to_tc.is_known()) return out.unknown("DSCP map");
  for (unsigned d = 0; d < Dscp::kLimit; ++d) {
    const Priority priority = wanted.dscp_to_priority.at(d);
    const auto tc = found.dscp_to_tc->at(d);
    // Code points of lossless classes must be right; best effort may lie where vendors put it.
    const bool is_lossless = wanted.lossless.contains(priority);
    const bool becomes_lossless = tc && wanted.lossless.contains(Priority::of(tc->value()));
    if (tc && tc->value() == priority.value()) continue;
    if (!is_lossless && !becomes_lossless) continue;
    out.wrong("dscp.unmapped_hop", "",
              expected(fmt::format("DSCP {}", d), fmt::format("class {}", priority.value()),
                       tc ? fmt::format("class {}", tc->value()) : std::string("no entry")));
  }
}

void check_watchdog(const evidence::Switch& found, const design::SwitchIntent& wanted,
                    Collector& out) {
  if (!wanted.watchdog) return;
  if (!found.watchdog.enabled.is_known()) return out.unknown("PFC watchdog");
  if (!*found.watchdog.enabled) return out.wrong("watchdog.off", "", "PFC watchdog is off");
  const auto compare = [&](std::string_view what, const evidence::Fact<Duration>& fact,
                           Duration want) {
    if (fact.is_known() && *fact != want) {
      out.wrong("config.differs", "", expected(what, to_text(want), to_text(*fact)),
                Severity::kWarning);
    }
  };
  compare("watchdog detection", found.watchdog.detection, wanted.watchdog_detect);
  compare("watchdog restoration", found.watchdog.restoration, wanted.watchdog_restore);
}

void check_pfc(const evidence::SwitchPort& port, const design::SwitchIntent& wanted,
               Collector& out) {
  const auto& pfc = port.pfc_active.is_known() ? port.pfc_active : port.pfc;
  if (!pfc.is_known()) return out.unknown("PFC");
  if (*pfc == wanted.pfc) return;
  const bool lacks = (pfc->mask() & wanted.pfc.mask()) != wanted.pfc.mask();
  out.wrong(pfc->count() == 0 ? "pfc.off"
            : lacks           ? "pfc.wrong_priority"
                              : "pfc.multiple_priorities",
            port.name,
            expected("PFC", "priority " + to_text(wanted.pfc), "priority " + to_text(*pfc)));
}

void check_group(const evidence::SwitchPort& port, const design::SwitchIntent& wanted,
                 const design::SwitchPortIntent& intent, Collector& out) {
  for (unsigned p = 0; p < Priority::kLimit; ++p) {
    if (!wanted.lossless.contains(Priority::of(p))) continue;
    const PriorityGroup group = wanted.priority_to_pg.at(p);
    const auto at =
        std::find_if(port.groups.begin(), port.groups.end(),
                     [&](const evidence::GroupBuffer& one) { return one.group == group; });
    if (at == port.groups.end() || !at->headroom.is_known()) {
      out.unknown("headroom");
      continue;
    }
    const Bytes least = std::min(intent.headroom_need, intent.headroom);
    if (*at->headroom < least)
      out.wrong("headroom.too_small", port.name,
                expected("headroom", to_text(least), to_text(*at->headroom)));
    if (at->alpha.is_known() && wanted.buffers.threshold == design::Threshold::kDynamic &&
        *at->alpha != wanted.buffers.alpha)
      out.wrong("config.differs", port.name,
                expected("alpha", to_text(wanted.buffers.alpha), to_text(*at->alpha)),
                Severity::kWarning);
  }
}

void check_queue(const evidence::SwitchPort& port, const design::SwitchIntent& wanted,
                 const design::SwitchPortIntent& intent, Collector& out) {
  if (!intent.wred.ecn) return;
  for (unsigned p = 0; p < Priority::kLimit; ++p) {
    if (!wanted.lossless.contains(Priority::of(p))) continue;
    const Queue queue = wanted.priority_to_queue.at(p);
    const auto at =
        std::find_if(port.queues.begin(), port.queues.end(),
                     [&](const evidence::EgressQueue& one) { return one.queue == queue; });
    if (at == port.queues.end() || !at->ecn.is_known()) {
      out.unknown("ECN");
      continue;
    }
    if (!*at->ecn) {
      out.wrong("ecn.off_on_lossless", port.name, "ECN: expected on, found off");
      continue;
    }
    if (at->ecn_min.is_known() && *at->ecn_min != intent.wred.min) {
      out.wrong(
          *at->ecn_min < intent.wred.min ? "ecn.thresholds_too_low" : "ecn.thresholds_too_high",
          port.name, expected("marking begins", to_text(intent.wred.min), to_text(*at->ecn_min)));
    } else if (at->ecn_max.is_known() && *at->ecn_max != intent.wred.max) {
      out.wrong(
          *at->ecn_max < intent.wred.max ? "ecn.thresholds_too_low" : "ecn.thresholds_too_high",
          port.name,
          expected("everything is marked", to_text(intent.wred.max), to_text(*at->ecn_max)));
    }
    if (at->max_rate.is_known() && at->max_rate->raw() != 0 && !intent.shaper)
      out.wrong("shaper.on_rdma_path", port.name,
                expected("rate limit", "none", to_text(*at->max_rate)));
  }
}

void check_port(const evidence::SwitchPort& port, const design::SwitchIntent& wanted,
                const design::SwitchPortIntent& intent, Collector& out) {
  if (port.up.is(false)) out.wrong("link.degraded", port.name, "link: expected up, found down");
  if (port.speed.is_known() && *port.speed != intent.speed)
    out.wrong("link.degraded", port.name,
              expected("speed", to_text(intent.speed), to_text(*port.speed)));
  if (!port.mtu.is_known()) {
    out.unknown("MTU");
  } else if (*port.mtu != intent.mtu) {
    out.wrong("mtu.mismatch", port.name, expected("MTU", to_text(intent.mtu), to_text(*port.mtu)),
              *port.mtu < intent.mtu ? Severity::kError : Severity::kInfo);
  }
  const auto wanted_trust =
      wanted.trust == design::Trust::kDscp ? evidence::TrustMode::kDscp : evidence::TrustMode::kPcp;
  if (!port.trust.is_known()) {
    out.unknown("trust");
  } else if (*port.trust != wanted_trust && *port.trust != evidence::TrustMode::kBoth) {
    out.wrong("trust.mixed", port.name,
              expected("trust", to_text(wanted_trust), to_text(*port.trust)));
  }
  if (port.global_pause.is_known() && *port.global_pause && !wanted.global_pause)
    out.wrong("pause.global_on", port.name, "global pause: expected off, found on");
  check_pfc(port, wanted, out);
  check_group(port, wanted, intent, out);
  check_queue(port, wanted, intent, out);
}

}  // namespace

void validate_switch(const evidence::Switch& found, const design::SwitchIntent& wanted,
                     finding::Judgement& judgement) {
  Collector out(found, judgement);
  check_map(found, wanted, out);
  check_watchdog(found, wanted, out);
  if (found.pools.is_known()) {
    for (const evidence::Pool& pool : *found.pools) {
      if (pool.kind != evidence::PoolKind::kLossless || pool.size >= wanted.buffers.lossless_shared)
        continue;
      out.wrong(
          "buffer.too_small", "",
          expected("lossless pool", to_text(wanted.buffers.lossless_shared), to_text(pool.size)));
    }
  }
  for (const design::SwitchPortIntent& intent : wanted.ports) {
    const auto at =
        std::find_if(found.ports.begin(), found.ports.end(),
                     [&](const evidence::SwitchPort& one) { return one.name == intent.name; });
    if (at == found.ports.end()) {
      out.unknown("port " + intent.name);
      continue;
    }
    check_port(*at, wanted, intent, out);
  }
  out.finish();
}

}  // namespace weir::diagnose

// ECN before PFC: thresholds that mark in time, on a ramp long enough for the flows that are
// expected.
#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "design/lint/rules.h"
#include "design/prove/fluid.h"
#include "model/buffers.h"
#include "model/dcqcn_fluid.h"
#include "units/format.h"

namespace weir::design {
namespace {

bool marks(const SwitchIntent& node) {
  return !node.ports.empty() && node.ports.front().wred.ecn;
}

// ---- thresholds against XOFF ----

// Both inequalities of one switch. Ports of different speed have different thresholds; the worst
// case adds them all up, so that their mean is what the bound holds for.
struct EcnAndXoff {
  model::EcnBound bound;  // of the mean min threshold
  Bytes min_sum;          // over ports
  Bytes max;              // of the fastest port
  Bytes xoff_of_one;      // of one congested queue
  std::int64_t ports = 0;

  [[nodiscard]] Bytes min_mean() const { return min_sum / ports; }
  [[nodiscard]] bool min_leads() const { return min_sum <= bound.largest_min_threshold * ports; }
  [[nodiscard]] bool max_leads() const { return max < xoff_of_one; }
  /// Room between the two for senders to slow down in.
  [[nodiscard]] bool max_leads_well() const { return max * 5 <= xoff_of_one * 4; }
};

// What lossless traffic shares; 0 where headroom leaves nothing or the pools do not fit: other
// rules say so.
Bytes shared_by(const SwitchIntent& node) {
  return node.buffers.plan ? std::max(node.buffers.plan->lossless_shared, 0_B) : 0_B;
}

EcnAndXoff compare(const SwitchIntent& node) {
  const BufferIntent& buffers = node.buffers;
  EcnAndXoff out;
  out.ports = static_cast<std::int64_t>(node.ports.size());
  for (const SwitchPortIntent& port : node.ports) {
    out.min_sum += port.wred.min;
    out.max = std::max(out.max, port.wred.max);
  }
  const auto ports = static_cast<int>(out.ports);
  if (buffers.threshold == Threshold::kDynamic) {
    out.bound =
        model::ecn_bound_dynamic(shared_by(node), buffers.alpha, ports, node.lossless.count());
    out.xoff_of_one = model::dynamic_threshold(shared_by(node), buffers.alpha, 1);
  } else {
    out.bound = model::ecn_bound_static(buffers.static_xoff, ports);
    out.xoff_of_one = buffers.static_xoff;
  }
  return out;
}

bool can_compare(const SwitchIntent& node) {
  return marks(node) && node.lossless.count() > 0 &&
         (node.buffers.threshold == Threshold::kStatic || shared_by(node) > 0_B);
}

// The line to change if the thresholds themselves are defaults.
TextPosition place_of_xoff(const LintCase& c, const Named<SwitchGroup>& group) {
  const Buffers& buffers = c.design.buffers;
  return first_known({buffers.xoff.at(), buffers.threshold.at(), buffers.alpha.at(),
                      buffers.pools.lossless.at(), c.design.wred.at_speed.at(),
                      group.value.buffer.at(), group.at});
}

const SwitchIntent& tightest(const SwitchCause& cause) {
  return **std::min_element(cause.nodes.begin(), cause.nodes.end(),
                            [](const SwitchIntent* a, const SwitchIntent* b) {
                              return compare(*a).bound.bytes() < compare(*b).bound.bytes();
                            });
}

// The same under a group and at the top of the file; belongs_under() says which.
std::string wred_line(std::string_view key, std::string_view value) {
  return fmt::format("wred: {{ {}: {} }}", key, value);
}

// The written value is for one speed and the ports' scale with it: what may be written, where
// `allowed` of what is there now may stay.
Bytes writable(Bytes written, Bytes allowed, Bytes now) {
  const std::int64_t whole = std::max<std::int64_t>(now.raw(), 1);
  return round_below(
      Bytes::raw(static_cast<std::int64_t>(Int128{written.raw()} * allowed.raw() / whole)));
}

void report_min(LintCase& c, const SwitchCause& cause) {
  const SwitchIntent& node = tightest(cause);
  const EcnAndXoff here = compare(node);
  const Bytes allowed = here.bound.largest_min_threshold;
  const Setting<Bytes>& setting =
      cause.group != nullptr ? cause.group->value.wred.min : c.design.wred.min;
  auto& found = c.report(
      "ecn.above_xoff", setting.is_written() ? cause.at : place_of_xoff(c, c.group_of(node)),
      fmt::format(
          "marking begins at {} and must begin at {} or less on {}: with traffic spread over "
          "all {} ports, PFC pauses before a single packet is marked",
          approximate(here.min_mean()), approximate(allowed), to_text(cause), here.ports));
  found.where.switch_name = node.name;
  LintCase::add_evidence(found, fmt::format("{}: {}, hence {} at most", node.name,
                                            here.bound.formula, to_text(allowed)));
  const Bytes limit = writable(*setting, allowed * here.ports, here.min_sum);
  if (limit >= *c.design.mtu.rdma) {
    LintCase::add_fix(found, {wred_line("min", to_text(limit))}, belongs_under(cause));
  } else {
    LintCase::add_fix(found, {"buffers: { threshold: dynamic, alpha: 1 }"},
                      "a threshold below one packet is none: let XOFF follow a larger share of the "
                      "buffer, or use fewer lossless priorities");
  }
}

void report_max(LintCase& c, const SwitchCause& cause) {
  const SwitchIntent& node = tightest(cause);
  const EcnAndXoff here = compare(node);
  const Setting<Bytes>& setting =
      cause.group != nullptr ? cause.group->value.wred.max : c.design.wred.max;
  auto& found = c.report(
      "ecn.above_xoff", setting.is_written() ? cause.at : place_of_xoff(c, c.group_of(node)),
      here.max_leads()
          ? fmt::format("marking reaches every packet at {} and one congested queue is paused at "
                        "{}, on {}: too close, senders have no time to slow down before PFC acts",
                        approximate(here.max), approximate(here.xoff_of_one), to_text(cause))
          : fmt::format(
                "marking reaches every packet at {} and one congested queue is paused at {} "
                "already, on {}: PFC acts before ECN has",
                approximate(here.max), approximate(here.xoff_of_one), to_text(cause)));
  if (here.max_leads()) found.severity = finding::Severity::kWarning;
  found.where.switch_name = node.name;
  const std::string alpha = to_text(node.buffers.alpha);
  LintCase::add_evidence(
      found, node.buffers.threshold == Threshold::kDynamic
                 ? fmt::format("{}: XOFF of one queue = A*B'/(1+A), A = {}, B' = {}: {}", node.name,
                               alpha, to_text(shared_by(node)), to_text(here.xoff_of_one))
                 : fmt::format("buffers.xoff = {}", to_text(here.xoff_of_one)));
  LintCase::add_evidence(
      found, fmt::format("max is {}% of XOFF; operators' rule: marking at 20-30% of the buffer and "
                         "XOFF at 80%, so max at about 38% of XOFF",
                         here.max.raw() * 100 / std::max<std::int64_t>(here.xoff_of_one.raw(), 1)));
  // Half of XOFF leaves the ramp room to work in.
  LintCase::add_fix(found,
                    {wred_line("max", to_text(writable(*setting, here.xoff_of_one / 2, here.max)))},
                    belongs_under(cause));
}

}  // namespace

void check_ecn_above_xoff(LintCase& c) {
  const auto late_min = switch_causes(
      c, [](const SwitchIntent& node) { return can_compare(node) && !compare(node).min_leads(); },
      [](const SwitchGroup& group) { return own_line(group.wred.min); }, c.design.wred.min.at());
  for (const SwitchCause& cause : late_min)
    report_min(c, cause);
  const auto late_max = switch_causes(
      c,
      [](const SwitchIntent& node) { return can_compare(node) && !compare(node).max_leads_well(); },
      [](const SwitchGroup& group) { return own_line(group.wred.max); }, c.design.wred.max.at());
  for (const SwitchCause& cause : late_max)
    report_max(c, cause);
}

void check_ecn_off_on_lossless(LintCase& c) {
  const auto causes = switch_causes(
      c,
      [](const SwitchIntent& node) {
        return node.lossless.count() > 0 && !node.ports.empty() && !marks(node);
      },
      [](const SwitchGroup& group) { return own_line(group.wred.ecn); }, c.design.wred.ecn.at());
  for (const SwitchCause& cause : causes) {
    auto& found = c.report(
        "ecn.off_on_lossless", cause.at,
        fmt::format(
            "ECN is off on the lossless queues of {}: nothing slows the senders down but PFC",
            to_text(cause)));
    found.where.switch_name = cause.first().name;
    found.where.priority = to_text(cause.first().lossless);
    LintCase::add_fix(found, {wred_line("ecn", "on")}, belongs_under(cause));
  }
}

namespace {

void report_disabled(LintCase& c, std::string_view id, const Setting<bool>& setting,
                     std::string_view verdict, std::string_view key) {
  if (*setting) return;
  auto& found = c.report(id, setting.at(), std::string(verdict));
  LintCase::add_fix(found, {fmt::format("dcqcn: {{ {}: on }}", key)});
}

}  // namespace

void check_np_disabled(LintCase& c) {
  report_disabled(
      c, "np.disabled", c.design.dcqcn.notification_point,
      "receivers send no CNPs: switches mark, but senders are not notified, and only PFC slows "
      "them down",
      "notification_point");
}

void check_rp_disabled(LintCase& c) {
  report_disabled(
      c, "rp.disabled", c.design.dcqcn.reaction_point,
      "senders ignore CNPs: switches mark, receivers answer, and only PFC slows anyone down",
      "reaction_point");
}

namespace {

// ---- the ramp against the expected incast ----

// The access port on which the ramp is shortest for its speed: the others are no worse.
struct Ramp {
  const SwitchPortIntent* port = nullptr;
  model::FluidParameters fluid;
  int most_flows = 0;
};

std::optional<Ramp> short_ramp(const LintCase& c, const SwitchIntent& node) {
  std::optional<Ramp> worst;
  const SwitchPortIntent* last = nullptr;
  for (const SwitchPortIntent& port : node.ports) {
    if (!port.is_access || !port.wred.ecn) continue;
    const bool is_alike = last != nullptr && last->speed == port.speed;
    if (is_alike) continue;  // thresholds go by speed
    last = &port;
    const auto fluid = fluid_at(c.design, c.intent, port, c.intent.expected_incast);
    if (!fluid || model::fixed_point(*fluid).regime == model::FluidRegime::kRamp) continue;
    const int most = model::most_flows_on_ramp(*fluid).value_or(0);
    if (!worst || most < worst->most_flows) worst = {&port, *fluid, most};
  }
  return worst;
}

// Least probability with a margin of half, in whole percent: packet systems settle higher than the
// model (1.05 to 1.55 times, see model/dcqcn_fluid.h).
int sufficient_percent(double probability) {
  return static_cast<int>(std::ceil(probability * 1.5 * 100));
}

TextPosition place_of_knobs(const Design& design) {
  return design.dcqcn.knobs.empty() ? TextPosition() : design.dcqcn.knobs.front().value_at;
}

}  // namespace

void check_ecn_pmax_too_small(LintCase& c) {
  // Switches of a group are alike in this.
  std::vector<std::optional<Ramp>> by_group(c.design.switches.size());
  std::vector<bool> is_known(c.design.switches.size(), false);
  const auto ramp_of = [&](const SwitchIntent& node) -> const std::optional<Ramp>& {
    if (!is_known[node.group]) by_group[node.group] = short_ramp(c, node);
    is_known[node.group] = true;
    return by_group[node.group];
  };
  const auto causes = switch_causes(
      c, [&](const SwitchIntent& node) { return ramp_of(node).has_value(); },
      [](const SwitchGroup& group) { return own_line(group.wred.probability); },
      first_known({c.design.wred.probability.at(), c.design.expect.incast.at(),
                   c.design.dcqcn.variant.at(), place_of_knobs(c.design)}));
  for (const SwitchCause& cause : causes) {
    const Ramp& ramp = *ramp_of(cause.first());
    const model::FluidFixedPoint fixed = model::fixed_point(ramp.fluid);
    const int percent = sufficient_percent(fixed.mark_probability);
    auto& found = c.report(
        "ecn.pmax_too_small", cause.at,
        fmt::format(
            "{} senders to one {} port have no equilibrium at probability {}: it takes {:.2g}%; "
            "the balance is lost from {} senders on",
            c.intent.expected_incast, to_text(ramp.port->speed),
            to_text(ramp.port->wred.probability), fixed.mark_probability * 100,
            ramp.most_flows + 1));
    found.where.switch_name = cause.first().name;
    found.where.port = ramp.port->name;
    LintCase::add_evidence(
        found,
        fmt::format("fluid model, {} packets, thresholds {} / {}: p* = {:.3g}%, queue would rest "
                    "at {} and parks at max instead",
                    to_text(ramp.fluid.mtu), to_text(ramp.fluid.wred.min),
                    to_text(ramp.fluid.wred.max), fixed.mark_probability * 100,
                    approximate(Bytes::raw(std::llround(fixed.ramp_queue_bytes)))));
    LintCase::add_evidence(found, "raising max does not help: p* does not depend on it");
    if (percent <= 100) {
      LintCase::add_fix(found, {wred_line("probability", fmt::format("{}%", percent))},
                        belongs_under(cause));
    } else {
      LintCase::add_fix(found, {"dcqcn: { rpg_time_reset: 300us, rpg_ai_rate: 5Mbps }"},
                        "no probability is enough: the senders climb too fast for so many");
    }
  }
}

namespace {

// ---- stability ----

struct Margin {
  int flows = 0;
  Duration delay;
};

// Smallest delay margin over the numbers of flows that are expected: 2, 4, 8, … and the most.
std::optional<Margin> least_margin(model::FluidParameters fluid, int most_flows) {
  std::optional<Margin> least;
  for (int flows = 2;; flows = std::min(flows * 2, most_flows)) {
    fluid.flows = flows;
    if (flows > most_flows) break;
    if (model::fixed_point(fluid).regime == model::FluidRegime::kRamp) {
      const auto margin = model::delay_margin(fluid);
      if (margin && (!least || *margin < least->delay)) least = {flows, *margin};
    }
    if (flows == most_flows) break;
  }
  return least;
}

const SwitchPortIntent* any_access_port(const Intent& intent, const SwitchIntent** owner) {
  for (const SwitchIntent& node : intent.switches) {
    for (const SwitchPortIntent& port : node.ports) {
      if (port.is_access && port.wred.ecn) {
        *owner = &node;
        return &port;
      }
    }
  }
  return nullptr;
}

// A slower climb widens the margin; halve it until it is enough.
std::optional<BitRate> calm_increase(model::FluidParameters fluid, int most_flows,
                                     Duration needed) {
  while (fluid.additive_increase > 1_Mbps) {
    fluid.additive_increase = fluid.additive_increase / 2;
    const auto margin = least_margin(fluid, most_flows);
    if (!margin || margin->delay >= needed) return fluid.additive_increase;
  }
  return std::nullopt;
}

void report_unstable(LintCase& c, const model::FluidParameters& fluid, const Margin& margin,
                     Duration loop) {
  const Knob* const rate = written_knob(c.design, "rpg_ai_rate");
  auto& found = c.report(
      "dcqcn.unstable",
      first_known({rate != nullptr ? rate->value_at : TextPosition(), c.design.dcqcn.variant.at(),
                   c.design.wred.max.at(), c.design.links.front().at}),
      fmt::format(
          "the control loop swings: {} flows are stable up to a delay of {}, and the farthest "
          "hosts are {} or more apart and back",
          margin.flows, approximate(margin.delay), approximate(loop)));
  LintCase::add_evidence(
      found,
      fmt::format("linearised fluid model at {}: increase {} every {}, CNPs every {}, "
                  "thresholds {} / {} / {}",
                  to_text(fluid.rate), to_text(fluid.additive_increase),
                  to_text(fluid.increase_timer), to_text(fluid.cnp_interval),
                  to_text(fluid.wred.min), to_text(fluid.wred.max), to_text(fluid.wred.max_share)));
  const auto calm = calm_increase(fluid, c.intent.expected_incast, loop);
  if (calm) {
    LintCase::add_fix(
        found, {fmt::format("dcqcn: {{ rpg_ai_rate: {}Mbps }}", calm->raw() / (1_Mbps).raw())},
        "flows then take longer to reach their fair share");
  } else {
    LintCase::add_fix(found, {fmt::format("wred: {{ max: {} }}", to_text(*c.design.wred.max * 4))},
                      "a flatter ramp; check it against XOFF");
  }
}

// What the fluid model cannot judge, with the reason to doubt it; nothing where the firmware's own
// parameters are in use.
std::optional<std::string> reason_to_doubt(const LintCase& c, Duration loop) {
  const auto value = [&](std::string_view name) {
    const auto found = c.intent.dcqcn.find(name);
    return found == c.intent.dcqcn.end() ? std::int64_t{0} : found->second;
  };
  if (c.intent.dcqcn_variant != DcqcnVariant::kConnectx || c.design.dcqcn.knobs.empty())
    return std::nullopt;
  const Duration timer = 1_us * value("rpg_time_reset");
  if (timer < loop) {
    return fmt::format(
        "rpg_time_reset {} is shorter than the round trip, {}: rates rise before the answer "
        "to the last rise is back",
        to_text(timer), approximate(loop));
  }
  if (timer <= 1_us * value("min_time_between_cnps")) {
    return fmt::format(
        "rpg_time_reset {} is not above min_time_between_cnps {}us: rates rise between two "
        "CNPs of one congestion",
        to_text(timer), value("min_time_between_cnps"));
  }
  if (value("dce_tcp_rtt") > value("rate_reduce_monitor_period")) {
    return fmt::format(
        "dce_tcp_rtt {}us is above rate_reduce_monitor_period {}us: cuts use an alpha that "
        "has not been updated",
        value("dce_tcp_rtt"), value("rate_reduce_monitor_period"));
  }
  // A lab's dose-response on ConnectX: 5 Mb/s every 300 us holds most of the time, 50 every 75 us
  // (40 times as steep) never.
  constexpr std::int64_t kSteep = 10;
  if (value("rpg_ai_rate") * 300 >
      kSteep * 5 * std::max<std::int64_t>(value("rpg_time_reset"), 1)) {
    return fmt::format(
        "rpg_ai_rate {}Mbps every {} climbs more than {} times as fast as the firmware's "
        "5Mbps every 300us",
        value("rpg_ai_rate"), to_text(timer), kSteep);
  }
  return std::nullopt;
}

}  // namespace

void check_dcqcn_unstable(LintCase& c) {
  const SwitchIntent* node = nullptr;
  const SwitchPortIntent* const port = any_access_port(c.intent, &node);
  if (port == nullptr || c.intent.expected_incast < 2) return;
  const auto fluid = fluid_at(c.design, c.intent, *port, c.intent.expected_incast);
  if (!fluid) return;
  const Duration loop = least_loop_delay(c.design, c.intent);
  if (model::is_stability_meaningful(*fluid)) {
    const auto margin = least_margin(*fluid, c.intent.expected_incast);
    if (margin && margin->delay < loop) report_unstable(c, *fluid, *margin, loop);
    return;
  }
  const auto doubt = reason_to_doubt(c, loop);
  if (!doubt) return;
  auto& found = c.report("dcqcn.unstable", c.design.dcqcn.knobs.front().value_at, *doubt);
  // No formula covers these timers, so this is a question and not a verdict.
  found.severity = finding::Severity::kInfo;
  LintCase::add_evidence(
      found, "the linearised model does not hold for ConnectX timers: ask the simulator");
  LintCase::add_fix(found, {}, "weir sim with --workload incast shows whether the queue settles");
}

}  // namespace weir::design

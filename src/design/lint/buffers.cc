// Headroom and pools: does what the ports need fit into what the switch has?
#include "model/buffers.h"

#include <algorithm>
#include <array>

#include <fmt/format.h>

#include "base/text.h"
#include "design/lint/rules.h"
#include "model/headroom.h"
#include "units/format.h"

namespace weir::design {
namespace {

bool is_short(const SwitchPortIntent& port) {
  return port.headroom < port.headroom_need;
}

// The formula or table that the need of a port came from, or the standard's sum where it has no
// row.
Result<model::Headroom> headroom_by(const LintCase& c, const SwitchIntent& node,
                                    const SwitchPortIntent& port, bool by_standard) {
  const LinkIntent& link = c.intent.links[port.link];
  const std::string& named = *c.design.buffers.headroom_model;
  const auto model = model::parse_headroom_model(named == "auto" ? node.asic->headroom_model
                                                                 : std::string_view(named));
  return model::headroom({.model = by_standard ? model::HeadroomModel::kIeee
                                               : model.value_or(model::HeadroomModel::kIeee),
                          .speed = link.speed,
                          .cable = link.length,
                          .mtu = port.mtu,
                          .peer = port.is_access ? model::Peer::kNic : model::Peer::kSwitch});
}

// The port that needs most, of those that have too little.
struct Shortest {
  const SwitchIntent* node = nullptr;
  const SwitchPortIntent* port = nullptr;
  std::size_t short_ports = 0;
};

Shortest shortest(const SwitchCause& cause) {
  Shortest out;
  for (const SwitchIntent* node : cause.nodes) {
    for (const SwitchPortIntent& port : node->ports) {
      if (!is_short(port)) continue;
      ++out.short_ports;
      const bool is_worse = out.port == nullptr || port.headroom_need > out.port->headroom_need;
      if (is_worse) out = {node, &port, out.short_ports};
    }
  }
  return out;
}

void report_short(LintCase& c, const SwitchCause& cause) {
  const Shortest worst = shortest(cause);
  const SwitchPortIntent& port = *worst.port;
  const LinkIntent& link = c.intent.links[port.link];
  const auto standard = headroom_by(c, *worst.node, port, true);
  const bool is_under_floor = standard && port.headroom < standard->hard_floor;
  auto& found = c.report(
      "headroom.too_small", cause.at,
      fmt::format(
          "{} of headroom per port; {} {} needs {} ({}, {}, MTU {}B): {}",
          approximate(port.headroom), worst.node->name, port.name, approximate(port.headroom_need),
          to_text(link.speed), to_text(link.length), port.mtu.raw(),
          is_under_floor ? "not even two frames and what is in the cable fit, so packets are "
                           "lost at the first pause"
                         : "what does not fit is lost while the peer is being paused"));
  found.where.switch_name = worst.node->name;
  found.where.port = port.name;
  LintCase::add_evidence(
      found,
      fmt::format("concerns {} of {}",
                  worst.short_ports == 1 ? "one port" : fmt::format("{} ports", worst.short_ports),
                  to_text(cause)));
  if (standard) {
    LintCase::add_evidence(
        found, fmt::format("least of all, 2 x MTU + 2 x cable: {}; IEEE 802.1Q: {}; the "
                           "model in use: {}",
                           approximate(standard->hard_floor), approximate(standard->xoff),
                           approximate(port.headroom_need)));
    // Only a vendor's more careful rows ask for more: arguable, hence not an error.
    if (port.headroom >= standard->xoff) found.severity = finding::Severity::kWarning;
  }
  if (const auto used = headroom_by(c, *worst.node, port, false)) {
    for (const model::Term& term : used->terms)
      LintCase::add_evidence(found,
                             fmt::format("{} {}: {}", to_text(term.bytes), term.name, term.why));
  }
  if (cause.group != nullptr) {
    LintCase::add_fix(
        found, {"headroom: " + to_text(round_above(port.headroom_need))},
        belongs_under(cause) + "; or delete the line: it is then computed for each port");
  } else {
    LintCase::add_fix(found, {"buffers: { headroom: auto }"}, "computed for each port");
  }
}

}  // namespace

void check_headroom_too_small(LintCase& c) {
  const auto causes = switch_causes(
      c,
      [](const SwitchIntent& node) {
        return node.lossless.count() > 0 &&
               std::any_of(node.ports.begin(), node.ports.end(), is_short);
      },
      [](const SwitchGroup& group) { return own_line(group.headroom); },
      c.design.buffers.headroom.at());
  for (const SwitchCause& cause : causes)
    report_short(c, cause);
}

namespace {

std::string sizes_of(const SwitchIntent& node) {
  const auto [least, most] = std::minmax_element(
      node.ports.begin(), node.ports.end(),
      [](const SwitchPortIntent& a, const SwitchPortIntent& b) { return a.headroom < b.headroom; });
  if (least->headroom == most->headroom) return to_text(least->headroom);
  return fmt::format("{} to {}", to_text(least->headroom), to_text(most->headroom));
}

}  // namespace

void check_headroom_exceeds_buffer(LintCase& c) {
  const Buffers& buffers = c.design.buffers;
  const auto causes = switch_causes(
      c,
      [](const SwitchIntent& node) {
        return node.buffers.plan && node.buffers.plan->headroom > 0_B &&
               node.buffers.plan->lossless_shared <= 0_B;
      },
      [](const SwitchGroup& group) {
        return group.headroom.is_written() ? own_line(group.headroom) : own_line(group.buffer);
      },
      first_known(
          {buffers.headroom.at(), buffers.pools.lossless.at(), buffers.headroom_model.at()}));
  for (const SwitchCause& cause : causes) {
    const SwitchIntent& node = cause.first();
    const model::BufferPlan& plan = *node.buffers.plan;
    auto& found = c.report(
        "headroom.exceeds_buffer", cause.at,
        fmt::format(
            "headroom takes {} on {} and lossless traffic has {} of buffer in all: nothing is left "
            "to share, so every packet pauses its sender",
            approximate(plan.headroom), to_text(cause), approximate(plan.lossless_pool)));
    found.where.switch_name = node.name;
    const int priorities = node.lossless.count();
    const int ratio = *buffers.headroom_oversubscription;
    LintCase::add_evidence(
        found,
        fmt::format("{} ports x {} lossless {} x {} = {}{}", node.ports.size(), priorities,
                    priorities == 1 ? "priority" : "priorities", sizes_of(node),
                    to_text(plan.headroom_sum),
                    ratio == 1 ? std::string()
                               : fmt::format(", shared {}:1 = {}", ratio, to_text(plan.headroom))));
    for (const model::Term& term : plan.terms)
      LintCase::add_evidence(found,
                             fmt::format("{} {}: {}", to_text(term.bytes), term.name, term.why));
    std::vector<std::string> lines;
    if (priorities > 1) lines.emplace_back("pfc: { priorities: 3 }");
    if (node.asic->can_share_headroom)
      lines.push_back(fmt::format("buffers: {{ headroom_oversubscription: {} }}", ratio * 2));
    if (!buffers.headroom->is_auto) lines.emplace_back("buffers: { headroom: auto }");
    LintCase::add_fix(found, std::move(lines),
                      "any of these, a switch with more buffer, or shorter cables");
  }
}

namespace {

// Guarantees larger than the pool they come from are lent from the other pools: the same excess.
// Without such a pool they come from the shared ones, as in the vendors' profiles.
void check_guarantees_fit(LintCase& c) {
  const Setting<Share>& reserved = c.design.buffers.pools.reserved;
  if (!reserved.is_written() || *reserved == Share()) return;
  const auto causes = switch_causes(
      c,
      [](const SwitchIntent& node) {
        return node.buffers.plan && node.buffers.plan->reserved_left < 0_B;
      },
      [](const SwitchGroup&) { return OwnLine(); }, reserved.at());
  for (const SwitchCause& cause : causes) {
    const model::BufferPlan& plan = *cause.first().buffers.plan;
    auto& found = c.report(
        "buffer.pools_over_100", cause.at,
        fmt::format(
            "the guarantees of ports and classes take {} and the reserved pool has {} on {}",
            approximate(plan.reserved_used), approximate(plan.reserved_pool), to_text(cause)));
    found.where.switch_name = cause.first().name;
    const Bytes affordable = Bytes::raw(
        static_cast<std::int64_t>(Int128{cause.first().buffers.reserved_per_group.raw()} *
                                  plan.reserved_pool.raw() / plan.reserved_used.raw()));
    LintCase::add_fix(
        found,
        {fmt::format("buffers: {{ reserved_per_port: {} }}", to_text(round_below(affordable)))},
        "or a larger reserved pool, and as much less for another");
  }
}

}  // namespace

void check_buffer_pools_over_100(LintCase& c) {
  check_guarantees_fit(c);
  const Pools& pools = c.design.buffers.pools;
  struct Pool {
    std::string_view name;
    const Setting<Share>& share;
  };
  const std::array all = {Pool{"lossless", pools.lossless}, Pool{"lossy", pools.lossy},
                          Pool{"storage", pools.storage}, Pool{"reserved", pools.reserved}};
  Share sum;
  std::vector<std::string> parts;
  const Pool* last_written = nullptr;
  for (const Pool& pool : all) {
    sum += *pool.share;
    parts.push_back(fmt::format("{} {}", pool.name, to_text(*pool.share)));
    if (pool.share.is_written()) last_written = &pool;
  }
  if (sum <= 100_percent) return;
  const Pool& blamed = last_written != nullptr ? *last_written : all.front();
  auto& found = c.report(
      "buffer.pools_over_100", first_known({blamed.share.at(), c.design.buffers.profile.at()}),
      fmt::format("the buffer pools add up to {}; at most 100% can be given", to_text(sum)));
  LintCase::add_evidence(found, join(parts, " + ") + " = " + to_text(sum));
  // Take the excess from the pool that can spare it, the largest first.
  const Pool& giver = *std::max_element(
      all.begin(), all.end(), [](const Pool& a, const Pool& b) { return *a.share < *b.share; });
  const Share left = *giver.share - (sum - 100_percent);
  LintCase::add_fix(found,
                    {fmt::format("buffers: {{ pools: {{ {}: {} }} }}", giver.name,
                                 to_text(std::max(left, Share())))},
                    "or less of another pool");
}

}  // namespace weir::design

// DSCP, TOS bytes and trust: is a packet in the class that the design means it to be in, at every
// hop?
#include <bit>
#include <optional>

#include <fmt/format.h>

#include "design/file/words.h"
#include "design/lint/rules.h"
#include "units/format.h"

namespace weir::design {
namespace {

constexpr unsigned kOctet =
    8;  // code points per priority in every vendor's default map: 24-31 are 3

// "24-31", "26 and 48", "24, 25 and 27-31".
std::string dscp_list(std::uint64_t mask) {
  std::vector<std::string> runs;
  for (unsigned d = 0; d < Dscp::kLimit; ++d) {
    if (((mask >> d) & 1U) == 0) continue;
    const unsigned first = d;
    while (d + 1 < Dscp::kLimit && ((mask >> (d + 1)) & 1U) != 0)
      ++d;
    runs.push_back(first == d ? std::to_string(d) : fmt::format("{}-{}", first, d));
  }
  return listed(runs);
}

// One setting that holds a TOS byte for RDMA traffic.
struct TosSetting {
  std::string path;  // "nccl.traffic_class"
  std::string line;  // what to write, up to the value
  std::string tail;  // and behind it
  TextPosition at;
  TosByte value;
};

std::vector<TosSetting> tos_settings(const Design& design) {
  std::vector<TosSetting> settings;
  const auto add = [&](std::string path, std::string line, std::string tail,
                       const Setting<TosByte>& setting) {
    if (setting.is_written()) {  // defaults follow the class, or another of these
      settings.push_back(
          {std::move(path), std::move(line), std::move(tail), setting.at(), *setting});
    }
  };
  add("marking.traffic_class", "marking: { traffic_class: ", " }", design.marking.traffic_class);
  add("marking.rdma_cm_tos", "marking: { rdma_cm_tos: ", " }", design.marking.rdma_cm_tos);
  add("nccl.traffic_class", "nccl: { traffic_class: ", " }", design.nccl.traffic_class);
  for (const auto& group : design.hosts) {
    add(fmt::format("hosts.{}.traffic_class", group.name), "traffic_class: ", "",
        group.value.traffic_class);
  }
  return settings;
}

// What the switches do with a code point that no rdma packet should carry.
std::string lands_in(const Design& design, Dscp dscp) {
  for (const auto& cls : design.classes) {
    if (cls.value.dscp->contains(dscp)) {
      return fmt::format("class '{}' (priority {}, {})", cls.name, to_text(*cls.value.priority),
                         *cls.value.lossless ? "lossless" : "not protected by PFC");
    }
  }
  return "no class of the design, so in best effort";
}

}  // namespace

void check_dscp_tos_confusion(LintCase& c) {
  const auto* const rdma = c.design.find_class(kRdmaClass);
  if (rdma == nullptr) return;
  const DscpSet& codes = *rdma->value.dscp;
  for (const TosSetting& setting : tos_settings(c.design)) {
    const Dscp dscp = dscp_of(setting.value);
    if (codes.contains(dscp)) continue;
    const auto as_dscp = Dscp::make(setting.value.value());
    const bool is_typed_dscp = as_dscp && codes.contains(*as_dscp);
    const Dscp meant = is_typed_dscp ? *as_dscp : codes.marking;
    const std::string needed = to_text(tos_byte(meant, Ecn::kEct0));
    const std::string raw = to_text(setting.value);
    auto& found = c.report(
        "dscp.tos_confusion", first_known({setting.at, rdma->value.dscp.at(), rdma->at}),
        is_typed_dscp
            ? fmt::format(
                  "{} is {}, which is the DSCP; the setting wants the TOS byte, {}: as a TOS "
                  "byte {} means DSCP {}",
                  setting.path, raw, needed, raw, to_text(dscp))
            : fmt::format(
                  "{} is {}, a TOS byte of DSCP {}, which class 'rdma' does not hold; {} marks "
                  "DSCP {}",
                  setting.path, raw, to_text(dscp), needed, to_text(meant)));
    LintCase::add_evidence(found, fmt::format("{} >> 2 = {}: DSCP {} is in {}", raw, to_text(dscp),
                                              to_text(dscp), lands_in(c.design, dscp)));
    LintCase::add_evidence(found, fmt::format("class 'rdma' holds DSCP {}; {} x 4 + 2 (ECT 0) = {}",
                                              dscp_list(codes.mask), to_text(meant), needed));
    LintCase::add_fix(found, {setting.line + needed + setting.tail});
  }
}

void check_dscp_narrow_map(LintCase& c) {
  const auto* const rdma = c.design.find_class(kRdmaClass);
  if (rdma == nullptr) return;
  const DscpSet& codes = *rdma->value.dscp;
  const unsigned first = codes.marking.value() / kOctet * kOctet;
  const std::uint64_t octet = std::uint64_t{0xFF} << first;
  const std::uint64_t missing = octet & ~codes.mask;
  if (missing == 0) return;
  auto& found = c.report(
      "dscp.narrow_map", first_known({rdma->value.dscp.at(), rdma->at}),
      fmt::format(
          "class 'rdma' holds DSCP {} and not the rest of {}-{}: NICs map the whole octet to "
          "priority {} by default, so a packet marked {} is lossless on the host and not on the "
          "switches",
          dscp_list(codes.mask & octet), first, first + kOctet - 1, first / kOctet,
          std::countr_zero(missing)));
  LintCase::add_evidence(found, fmt::format("missing: DSCP {}", dscp_list(missing)));
  LintCase::add_fix(
      found, {fmt::format("dscp: [{}, {}-{}]", to_text(codes.marking), first, first + kOctet - 1)},
      "under classes, rdma; the first one is the marking, the list is a set");
}

namespace {

// The class whose packets a switch would move, and the first code point that shows it.
struct Moved {
  const Named<TrafficClassDesign>* cls = nullptr;
  Dscp dscp;
  Priority to;
  std::uint64_t mask = 0;
};

std::vector<Moved> moved_classes(const Design& design, const SwitchIntent& node) {
  std::vector<Moved> moved;
  for (const auto& cls : design.classes) {
    Moved change;
    for (unsigned d = 0; d < Dscp::kLimit; ++d) {
      const Priority here = node.dscp_to_priority.at(d);
      if (!cls.value.dscp->contains(Dscp::of(d)) || here == *cls.value.priority) continue;
      if (change.cls == nullptr) change = {&cls, Dscp::of(d), here, 0};
      change.mask |= std::uint64_t{1} << d;
    }
    if (change.cls != nullptr) moved.push_back(change);
  }
  return moved;
}

const DscpOverride* override_of(const SwitchGroup& group, Dscp dscp) {
  const DscpOverride* last = nullptr;  // a later line wins
  for (const DscpOverride& over : group.dscp_overrides)
    if (over.dscp.is_set() && over.dscp->contains(dscp)) last = &over;
  return last;
}

void report_moved(LintCase& c, const SwitchCause& cause, const Moved& moved) {
  const Named<SwitchGroup>& group = c.group_of(cause.first());
  const DscpOverride* const over = override_of(group.value, moved.dscp);
  const TextPosition at =
      over == nullptr ? group.at : first_known({over->priority.at(), over->dscp.at(), group.at});
  auto& found = c.report(
      "dscp.unmapped_hop", at,
      fmt::format("{} {} DSCP {} (class '{}') to priority {}; the design means priority {}",
                  to_text(cause), cause.nodes.size() == 1 ? "maps" : "map", dscp_list(moved.mask),
                  moved.cls->name, to_text(moved.to), to_text(*moved.cls->value.priority)));
  found.where.switch_name = cause.first().name;
  found.where.priority = to_text(moved.to);
  LintCase::add_evidence(found,
                         *moved.cls->value.lossless
                             ? "on that hop the class is lossy: a full buffer drops its packets"
                             : "on that hop the class shares a queue it should not be in");
  LintCase::add_fix(
      found,
      {fmt::format("- {{ dscp: [{}], priority: {} }}", dscp_list(moved.mask),
                   to_text(*moved.cls->value.priority))},
      fmt::format("under switches, {}, dscp_overrides; or delete the line", group.name));
}

}  // namespace

void check_dscp_unmapped_hop(LintCase& c) {
  // Overrides belong to a group, so all its switches have the same map.
  const auto causes = switch_causes(
      c,
      [&](const SwitchIntent& node) {
        const SwitchGroup& group = c.group_of(node).value;
        return node.trust == Trust::kDscp && !group.dscp_overrides.empty();
      },
      [](const SwitchGroup& group) { return own_line(group.names); });
  for (const SwitchCause& cause : causes) {
    for (const Moved& moved : moved_classes(c.design, cause.first()))
      report_moved(c, cause, moved);
  }
}

void check_dscp_rewritten(LintCase& c) {
  const auto rewriting = switch_causes(
      c, [](const SwitchIntent& node) { return node.rewrites_dscp; },
      [](const SwitchGroup& group) { return own_line(group.rewrites_dscp); });
  for (const SwitchCause& cause : rewriting) {
    auto& found = c.report(
        "dscp.rewritten", cause.at,
        fmt::format(
            "{} {} the TOS byte on the way: the next hop no longer knows the class of an RDMA "
            "packet",
            to_text(cause), cause.nodes.size() == 1 ? "rewrites" : "rewrite"));
    found.where.switch_name = cause.first().name;
    LintCase::add_fix(found, {"rewrites_dscp: false"}, belongs_under(cause));
  }
}

void check_trust_mixed(LintCase& c) {
  const Trust wanted = *c.design.trust;
  const std::string word(to_word(wanted));
  const std::string other(to_word(wanted == Trust::kDscp ? Trust::kPcp : Trust::kDscp));
  const auto verdict = [&](const std::string& nodes, std::size_t count) {
    return fmt::format(
        "{} {} {}, the rest of the fabric trusts {}: a packet changes class on the way", nodes,
        count == 1 ? "trusts" : "trust", other, word);
  };
  const auto hosts =
      host_causes(c, [&](const HostIntent& host) { return host.nics.front().trust != wanted; });
  for (const HostCause& cause : hosts) {
    auto& found =
        c.report("trust.mixed", first_known({cause.group->value.trust.at(), cause.group->at}),
                 verdict(to_text(cause), cause.nodes.size()));
    found.where.host = cause.first().name;
    LintCase::add_fix(found, {"trust: " + word}, belongs_under(cause));
  }
  const auto switches = switch_causes(
      c, [&](const SwitchIntent& node) { return node.trust != wanted; },
      [](const SwitchGroup& group) { return own_line(group.trust); });
  for (const SwitchCause& cause : switches) {
    auto& found = c.report("trust.mixed", cause.at, verdict(to_text(cause), cause.nodes.size()));
    found.where.switch_name = cause.first().name;
    LintCase::add_fix(found, {"trust: " + word}, belongs_under(cause));
  }
}

}  // namespace weir::design

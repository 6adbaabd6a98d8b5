// What a NIC, an ASIC or a switch's system cannot do, against what the design asks of it.
#include <algorithm>

#include <fmt/format.h>

#include "design/file/words.h"
#include "design/lint/lint.h"
#include "design/lint/rules.h"
#include "design/tables/platforms.h"
#include "model/buffers.h"
#include "units/format.h"

namespace weir::design {
namespace {

constexpr std::string_view kId = "platform.cannot";

// ---- switches: one limit after the other ----

/// Which switches are over a limit, and which line asks for it.
struct Excess {
  std::function<bool(const SwitchIntent&)> is_over;
  TextPosition asked_at = {};  // of the whole file
  std::function<OwnLine(const SwitchGroup&)> asked_by = [](const SwitchGroup&) {
    return OwnLine();
  };
};

/// What to say about it.
struct Complaint {
  std::string verdict;
  std::string_view source;
  std::string line = {};  // to write instead; may be empty
  std::string note = {};
  finding::Severity severity = finding::Severity::kError;
};

void check(LintCase& c, const Excess& excess,
           const std::function<Complaint(const SwitchCause&)>& complain) {
  for (const SwitchCause& cause :
       switch_causes(c, excess.is_over, excess.asked_by, excess.asked_at)) {
    Complaint complaint = complain(cause);
    auto& found = c.report(kId, cause.at, std::move(complaint.verdict));
    found.where.switch_name = cause.first().name;
    found.severity = complaint.severity;
    LintCase::add_evidence(found, fmt::format("limit from: {}", complaint.source));
    std::string note = belongs_under(cause);
    if (!complaint.note.empty()) note += (note.empty() ? "" : "; ") + complaint.note;
    std::vector<std::string> lines;
    if (!complaint.line.empty()) lines.push_back(std::move(complaint.line));
    LintCase::add_fix(found, std::move(lines), std::move(note));
  }
}

const SystemModel& system_of(const SwitchIntent& node) {
  return system_model(node.system);
}

// ---- what a system can express ----

void check_system_runs_on_asic(LintCase& c) {
  check(c,
        {.is_over = [](const SwitchIntent& node) { return !runs_on(node.system, *node.asic); },
         .asked_by = [](const SwitchGroup& group) { return own_line(group.system); }},
        [](const SwitchCause& cause) {
          const AsicModel& asic = *cause.first().asic;
          Complaint out{fmt::format("{} does not run on {}, as {} would have it",
                                    system_of(cause.first()).title, asic.title, to_text(cause)),
                        asic.source};
          for (const SystemModel& system : system_models()) {
            if (out.line.empty() && runs_on(system.system, asic))
              out.line = fmt::format("system: {}", system.name);
          }
          out.note = "or another ASIC; `weir explain asics` shows which system runs on which";
          return out;
        });
}

void check_lossless_count(LintCase& c) {
  const auto asked = [](const SwitchIntent& node) {
    return std::max(node.lossless.count(), node.pfc.count());
  };
  check(c,
        {.is_over =
             [=](const SwitchIntent& node) {
               return asked(node) > system_of(node).max_lossless_priorities;
             },
         .asked_at = c.design.pfc.priorities.at()},
        [=](const SwitchCause& cause) -> Complaint {
          const SystemModel& system = system_of(cause.first());
          return {
              fmt::format("{} lossless priorities on {}; {} has {} at most", asked(cause.first()),
                          to_text(cause), system.title, system.max_lossless_priorities),
              system.source, "pfc: { priorities: 3 }", "and 'lossless: off' in the other classes"};
        });
}

void check_xoff(LintCase& c) {
  check(c,
        {.is_over =
             [](const SwitchIntent& node) {
               return node.buffers.threshold == Threshold::kStatic &&
                      !system_of(node).has_static_xoff;
             },
         .asked_at = c.design.buffers.threshold.at()},
        [](const SwitchCause& cause) -> Complaint {
          const SystemModel& system = system_of(cause.first());
          return {fmt::format("a static XOFF threshold on {}; {} has none", to_text(cause),
                              system.title),
                  system.source, "buffers: { threshold: dynamic }"};
        });
  check(c,
        {.is_over =
             [](const SwitchIntent& node) {
               const Alpha alpha = node.buffers.alpha;
               return node.buffers.threshold == Threshold::kDynamic &&
                      (alpha < system_of(node).min_alpha || alpha > system_of(node).max_alpha);
             },
         .asked_at = c.design.buffers.alpha.at()},
        [](const SwitchCause& cause) -> Complaint {
          const SystemModel& system = system_of(cause.first());
          const Alpha asked = cause.first().buffers.alpha;
          return {fmt::format("alpha {} on {}; {} takes {} to {}", to_text(asked), to_text(cause),
                              system.title, to_text(system.min_alpha), to_text(system.max_alpha)),
                  system.source,
                  fmt::format("buffers: {{ alpha: {} }}",
                              to_text(std::clamp(asked, system.min_alpha, system.max_alpha)))};
        });
}

void check_probability_step(LintCase& c) {
  const auto asked = [](const SwitchIntent& node) {
    return node.ports.empty() ? Share() : node.ports.front().wred.probability;
  };
  check(c,
        {.is_over =
             [=](const SwitchIntent& node) {
               return asked(node).raw() % system_of(node).probability_step.raw() != 0;
             },
         .asked_at = c.design.wred.probability.at(),
         .asked_by = [](const SwitchGroup& group) { return own_line(group.wred.probability); }},
        [=](const SwitchCause& cause) -> Complaint {
          const SystemModel& system = system_of(cause.first());
          const std::int64_t step = system.probability_step.raw();
          const std::int64_t steps = (asked(cause.first()).raw() + step - 1) / step;
          return {fmt::format("a marking probability of {} on {}; {} knows steps of {}",
                              to_text(asked(cause.first())), to_text(cause), system.title,
                              to_text(system.probability_step)),
                  system.source,
                  fmt::format("wred: {{ probability: {} }}", to_text(Share::raw(steps * step))),
                  "rounded up: too little marking has no equilibrium"};
        });
}

void check_percent_thresholds(LintCase& c) {
  const auto asked = [](const SwitchIntent& node) {
    return node.ports.empty() ? WredIntent() : node.ports.front().wred;
  };
  check(c,
        {.is_over =
             [=](const SwitchIntent& node) {
               const auto smallest = smallest_threshold(node);
               return smallest && asked(node).ecn && asked(node).min * 2 < *smallest;
             },
         .asked_at = c.design.wred.min.at(),
         .asked_by = [](const SwitchGroup& group) { return own_line(group.wred.min); }},
        [=](const SwitchCause& cause) -> Complaint {
          const SwitchIntent& node = cause.first();
          const Bytes smallest = *smallest_threshold(node);
          return {.verdict = fmt::format(
                      "marking from {} on {}; {} says thresholds in percent of a queue that may "
                      "hold {}, and 1% of it is {}",
                      to_text(asked(node).min), to_text(cause), system_of(node).title,
                      approximate(smallest * 100), approximate(smallest)),
                  .source = system_of(node).source,
                  .note =
                      "marking begins that much later, and PFC may pause before it: raise min "
                      "and max in steps of this size, or mark on a system that counts bytes",
                  .severity = finding::Severity::kWarning};
        });
}

void check_headroom_size(LintCase& c) {
  const auto is_asked = [&](const SwitchIntent& node) {
    return !node.ports.empty() &&
           (c.group_of(node).value.headroom.is_written() || !c.design.buffers.headroom->is_auto);
  };
  const auto own = [](const SwitchGroup& group) { return own_line(group.headroom); };
  const TextPosition at = c.design.buffers.headroom.at();
  check(c,
        {.is_over =
             [=](const SwitchIntent& node) {
               return is_asked(node) && !system_of(node).has_headroom_override;
             },
         .asked_at = at,
         .asked_by = own},
        [](const SwitchCause& cause) -> Complaint {
          const SystemModel& system = system_of(cause.first());
          return {fmt::format(
                      "a headroom in bytes on {}; {} sizes it itself, from cable length and MRU",
                      to_text(cause), system.title),
                  system.source, cause.group == nullptr ? "buffers: { headroom: auto }" : "",
                  cause.group == nullptr ? "" : "delete the line"};
        });
  check(c,
        {.is_over =
             [=](const SwitchIntent& node) {
               const SystemModel& system = system_of(node);
               if (!is_asked(node) || !system.has_headroom_override) return false;
               const Bytes size = node.ports.front().headroom;
               return size < system.headroom_min || size > system.headroom_max;
             },
         .asked_at = at,
         .asked_by = own},
        [](const SwitchCause& cause) -> Complaint {
          const SystemModel& system = system_of(cause.first());
          return {
              fmt::format("{} of headroom on {}; {} takes {} to {}",
                          to_text(cause.first().ports.front().headroom), to_text(cause),
                          system.title, to_text(system.headroom_min), to_text(system.headroom_max)),
              system.source, cause.group == nullptr ? "buffers: { headroom: auto }" : "",
              cause.group == nullptr ? "" : "delete the line: it is then computed for each port"};
        });
}

void check_headroom_pool(LintCase& c) {
  if (*c.design.buffers.headroom_oversubscription == 1) return;
  check(c,
        {.is_over =
             [](const SwitchIntent& node) {
               return !(node.asic->can_share_headroom && system_of(node).has_headroom_pool);
             },
         .asked_at = c.design.buffers.headroom_oversubscription.at()},
        [](const SwitchCause& cause) -> Complaint {
          const SystemModel& system = system_of(cause.first());
          return {fmt::format("a headroom pool on {}; {} on {} gives each port its own",
                              to_text(cause), system.title, cause.first().asic->title),
                  system.source, "buffers: { headroom_oversubscription: 1 }"};
        });
}

void check_pools(LintCase& c) {
  const Pools& pools = c.design.buffers.pools;
  const TextPosition at =
      first_known({pools.lossless.at(), pools.lossy.at(), pools.storage.at(), pools.reserved.at()});
  // One pool that is the whole buffer carves nothing.
  if (!at.is_known() || *pools.lossless == 100_percent) return;
  check(c,
        {.is_over = [](const SwitchIntent& node) { return !system_of(node).has_buffer_pools; },
         .asked_at = at},
        [](const SwitchCause& cause) -> Complaint {
          const SystemModel& system = system_of(cause.first());
          return {fmt::format("buffer pools on {}; {} cannot carve its buffer", to_text(cause),
                              system.title),
                  system.source, "buffers: { profile: vendor }", "and no 'pools'"};
        });
}

// A time of the watchdog that a system has a range for.
struct WatchdogTime {
  std::string_view key;
  TextPosition at;
  Duration SwitchIntent::*asked;
  Duration SystemModel::*min;
  Duration SystemModel::*max;
};

void check_watchdog_time(LintCase& c, const WatchdogTime& time) {
  check(c,
        {.is_over =
             [=](const SwitchIntent& node) {
               const SystemModel& system = system_of(node);
               const Duration asked = node.*time.asked;
               return node.watchdog && (asked < system.*time.min || asked > system.*time.max);
             },
         .asked_at = time.at},
        [=](const SwitchCause& cause) -> Complaint {
          const SystemModel& system = system_of(cause.first());
          const Duration asked = cause.first().*time.asked;
          const Duration nearest = std::clamp(asked, system.*time.min, system.*time.max);
          return {fmt::format("a watchdog that needs {} to {} on {}; {} takes {} to {}",
                              to_text(asked), time.key, to_text(cause), system.title,
                              to_text(system.*time.min), to_text(system.*time.max)),
                  system.source, fmt::format("watchdog: {{ {}: {} }}", time.key, to_text(nearest))};
        });
}

void check_watchdog(LintCase& c) {
  const Watchdog& watchdog = c.design.watchdog;
  check_watchdog_time(c, {"detect", watchdog.detect.at(), &SwitchIntent::watchdog_detect,
                          &SystemModel::watchdog_detect_min, &SystemModel::watchdog_detect_max});
  check_watchdog_time(c, {"restore", watchdog.restore.at(), &SwitchIntent::watchdog_restore,
                          &SystemModel::watchdog_restore_min, &SystemModel::watchdog_restore_max});
  check(c,
        {.is_over =
             [](const SwitchIntent& node) {
               const SystemModel& system = system_of(node);
               const bool forward = node.watchdog_action == WatchdogAction::kForward;
               const bool alert = node.watchdog_action == WatchdogAction::kAlert;
               return node.watchdog && ((forward && !system.has_watchdog_forward) ||
                                        (alert && !system.has_watchdog_alert));
             },
         .asked_at = watchdog.action.at()},
        [](const SwitchCause& cause) -> Complaint {
          const SystemModel& system = system_of(cause.first());
          return {fmt::format("the watchdog action '{}' on {}; {} has none such",
                              to_word(cause.first().watchdog_action), to_text(cause), system.title),
                  system.source, "watchdog: { action: drop }"};
        });
}

// ---- what an ASIC can do ----

void check_load_balancing(LintCase& c) {
  check(c,
        {.is_over =
             [](const SwitchIntent& node) {
               const bool spray = node.load_balancing == LoadBalancing::kSpray;
               const bool adaptive = node.load_balancing == LoadBalancing::kAdaptive;
               return (spray && !node.asic->can_spray) || (adaptive && !node.asic->can_adapt);
             },
         .asked_at = c.design.load_balancing.mode.at()},
        [](const SwitchCause& cause) -> Complaint {
          const AsicModel& asic = *cause.first().asic;
          return {fmt::format("load balancing '{}' on {}; {} cannot",
                              to_word(cause.first().load_balancing), to_text(cause), asic.title),
                  asic.source, "load_balancing: { mode: ecmp }"};
        });
}

BitRate fastest_port(const SwitchIntent& node) {
  BitRate fastest;
  for (const SwitchPortIntent& port : node.ports)
    fastest = std::max(fastest, port.speed);
  return fastest;
}

BitRate speed_sum(const SwitchIntent& node) {
  BitRate sum;
  for (const SwitchPortIntent& port : node.ports)
    sum += port.speed;
  return sum;
}

/// The box, where one is named: what it has decides, not what its ASIC could have.
void check_model(LintCase& c) {
  const auto model_line = [](const SwitchGroup& group) {
    return group.ports.is_written() ? own_line(group.ports) : own_line(group.model);
  };
  check(c,
        {.is_over =
             [](const SwitchIntent& node) {
               return !node.ports_fault.empty() && runs_on(node.system, *node.asic);
             },
         .asked_by = model_line},
        [](const SwitchCause& cause) -> Complaint {
          const SwitchIntent& node = cause.first();
          return {fmt::format("{}: {}", to_text(cause), node.ports_fault),
                  node.model != nullptr ? node.model->source : "the design's own `ports`", "",
                  "fewer or slower links, another `model` (`weir explain models`), or `ports` with "
                  "the names that the switch has"};
        });
  check(c,
        {.is_over =
             [&](const SwitchIntent& node) {
               return node.model != nullptr && node.asic->name != node.model->asic;
             },
         .asked_by = [](const SwitchGroup& group) { return own_line(group.asic); }},
        [](const SwitchCause& cause) -> Complaint {
          const SwitchModel& model = *cause.first().model;
          return {fmt::format("asic {} on {}; {} has {}", cause.first().asic->name, to_text(cause),
                              model.title, model.asic),
                  model.source, fmt::format("asic: {}", model.asic), "or delete the line"};
        });
  check(c,
        {.is_over =
             [&](const SwitchIntent& node) {
               const Setting<PortSpec>& ports = c.group_of(node).value.ports;
               return node.model != nullptr && ports.is_written() && ports->count != 0 &&
                      static_cast<int>(node.ports.size()) > ports->count;
             },
         .asked_by = [](const SwitchGroup& group) { return own_line(group.ports); }},
        [&](const SwitchCause& cause) -> Complaint {
          return {fmt::format("{} ports in use on {}, and the group says {}",
                              cause.first().ports.size(), to_text(cause),
                              c.group_of(cause.first()).value.ports->count),
                  cause.first().model->source, "", "delete the line: the model has its ports"};
        });
}

void check_ports(LintCase& c) {
  // More ports than the fastest ones are split with break-out cables, as far as the ASIC allows; a
  // written number of ports is the box's own limit.
  const auto limit = [&](const SwitchIntent& node) {
    const Setting<PortSpec>& ports = c.group_of(node).value.ports;
    const bool is_count = ports.is_written() && ports->count != 0;
    return is_count ? ports->count : node.asic->max_ports;
  };
  const auto is_over = [=](const SwitchIntent& node) {
    return node.model == nullptr && static_cast<int>(node.ports.size()) > limit(node);
  };
  const auto asic_line = [](const SwitchGroup& group) {
    return group.ports.is_written() ? own_line(group.ports) : own_line(group.asic);
  };
  constexpr std::string_view kInstead =
      "fewer or slower links, more switches, or another ASIC "
      "(`weir explain asics`)";
  check(c, {.is_over = is_over, .asked_by = asic_line}, [=](const SwitchCause& cause) -> Complaint {
    return {fmt::format("{} ports in use on {}; {} has {}", cause.first().ports.size(),
                        to_text(cause), cause.first().asic->title, limit(cause.first())),
            cause.first().asic->source, "", std::string(kInstead)};
  });
  check(c,
        {.is_over =
             [](const SwitchIntent& node) {
               return node.model == nullptr && fastest_port(node) > node.asic->max_speed;
             },
         .asked_by = asic_line},
        [=](const SwitchCause& cause) -> Complaint {
          const AsicModel& asic = *cause.first().asic;
          return {fmt::format("a link of {} on {}; {} has ports of {} at most",
                              to_text(fastest_port(cause.first())), to_text(cause), asic.title,
                              to_text(asic.max_speed)),
                  asic.source, "", std::string(kInstead)};
        });
  const auto capacity = [](const AsicModel& asic) { return asic.max_speed * asic.ports; };
  check(c,
        {.is_over =
             [=](const SwitchIntent& node) {
               return node.model == nullptr && speed_sum(node) > capacity(*node.asic) &&
                      !is_over(node) && fastest_port(node) <= node.asic->max_speed;
             },
         .asked_by = asic_line},
        [=](const SwitchCause& cause) -> Complaint {
          const AsicModel& asic = *cause.first().asic;
          return {fmt::format("links of {} in sum on {}; {} switches {} ({} x {})",
                              to_text(speed_sum(cause.first())), to_text(cause), asic.title,
                              to_text(capacity(asic)), asic.ports, to_text(asic.max_speed)),
                  asic.source, "", std::string(kInstead)};
        });
}

// ---- what a NIC can do ----

void check_nic_speed(LintCase& c) {
  const auto fastest = [](const HostIntent& host) {
    BitRate speed;
    for (const NicIntent& nic : host.nics)
      speed = std::max(speed, nic.speed);
    return speed;
  };
  const auto causes = host_causes(
      c, [&](const HostIntent& host) { return fastest(host) > host.nic_model->max_speed; });
  for (const HostCause& cause : causes) {
    const HostIntent& host = cause.first();
    auto& found = c.report(
        kId, first_known({cause.group->value.nic.at(), cause.group->at}),
        fmt::format("a link of {} to {}; {} has ports of {} at most", to_text(fastest(host)),
                    to_text(cause), host.nic_model->title, to_text(host.nic_model->max_speed)));
    found.where.host = host.name;
    LintCase::add_evidence(found, fmt::format("limit from: {}", host.nic_model->source));
    std::vector<std::string> lines;
    for (const NicModel& nic : nic_models()) {
      if (lines.empty() && nic.driver == host.nic_model->driver && nic.max_speed >= fastest(host))
        lines.push_back(fmt::format("nic: {}", nic.name));
    }
    LintCase::add_fix(found, std::move(lines), belongs_under(cause) + "; or a slower link");
  }
}

void check_nic_parameters(LintCase& c) {
  if (c.design.dcqcn.knobs.empty()) return;
  const Knob& first = c.design.dcqcn.knobs.front();
  const auto causes =
      host_causes(c, [](const HostIntent& host) { return !host.nic_model->has_dcqcn_knobs; });
  for (const HostCause& cause : causes) {
    const NicModel& nic = *cause.first().nic_model;
    auto& found = c.report(
        kId, first.at,
        fmt::format(
            "dcqcn.{} on {}; {} has none of these parameters, its congestion control is set "
            "in {}",
            first.name, to_text(cause), nic.title, nic.cc_place));
    found.where.host = cause.first().name;
    LintCase::add_fix(found, {}, "delete the parameters under dcqcn: they are those of mlx5 NICs");
  }
}

void check_nic_reordering(LintCase& c) {
  if (*c.design.load_balancing.mode != LoadBalancing::kSpray) return;
  const auto causes = host_causes(
      c, [](const HostIntent& host) { return host.nic_model->reordering == Reordering::kNone; });
  for (const HostCause& cause : causes) {
    const NicModel& nic = *cause.first().nic_model;
    auto& found =
        c.report(kId, first_known({c.design.load_balancing.mode.at(), cause.group->at}),
                 fmt::format("spraying to {}; {} takes a packet out of order for a lost one",
                             to_text(cause), nic.title));
    found.where.host = cause.first().name;
    LintCase::add_fix(found, {"load_balancing: { mode: ecmp }"});
  }
}

}  // namespace

// A queue of a deep buffer (PTX) is taken for a port's part of it, as the renderer does.
std::optional<Bytes> smallest_threshold(const SwitchIntent& node) {
  if (system_of(node).wred_in_bytes) return std::nullopt;
  if (node.asic->deep_buffer > 0_B)
    return node.asic->deep_buffer /
           static_cast<std::int64_t>(std::max<std::size_t>(node.ports.size(), 1)) / 100;
  const Alpha alpha =
      std::clamp(node.buffers.egress_alpha, system_of(node).min_alpha, system_of(node).max_alpha);
  return model::dynamic_threshold(std::max(node.buffers.lossless_shared, 0_B), alpha, 1) / 100;
}

void check_platform_cannot(LintCase& c) {
  check_system_runs_on_asic(c);
  check_lossless_count(c);
  check_xoff(c);
  check_probability_step(c);
  check_headroom_size(c);
  check_headroom_pool(c);
  check_pools(c);
  check_watchdog(c);
  check_load_balancing(c);
  check_model(c);
  check_ports(c);
  check_nic_speed(c);
  check_nic_parameters(c);
  check_nic_reordering(c);
  check_percent_thresholds(c);
}

}  // namespace weir::design

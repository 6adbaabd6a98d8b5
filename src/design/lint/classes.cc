// Traffic classes: which share a queue, and which are sure to be served.
#include <algorithm>

#include <fmt/format.h>

#include "base/text.h"
#include "design/lint/rules.h"
#include "design/prove/fluid.h"
#include "units/format.h"

namespace weir::design {
namespace {

// A priority that no class but `except` has, highest first: CNPs like to be near the top, 7 is the
// network's own.
Priority free_priority(const Design& design, std::string_view except) {
  for (unsigned p = 6; p > 0; --p) {
    const bool is_used = std::any_of(
        design.classes.begin(), design.classes.end(),
        [&](const auto& cls) { return cls.name != except && cls.value.priority->value() == p; });
    if (!is_used) return Priority::of(p);
  }
  return Priority::of(7);
}

}  // namespace

void check_cnp_shares_rdma_priority(LintCase& c) {
  const auto* const rdma = c.design.find_class(kRdmaClass);
  const auto* const cnp = c.design.find_class(kCnpClass);
  if (rdma == nullptr || cnp == nullptr) return;
  const std::string shared = to_text(*rdma->value.priority);
  constexpr std::string_view kSoWhat = "they wait behind the very queue they should shorten";
  if (*cnp->value.priority == *rdma->value.priority) {
    auto& found =
        c.report("cnp.shares_rdma_priority",
                 first_known({cnp->value.priority.at(), cnp->value.dscp.at(), cnp->at}),
                 fmt::format("CNPs have priority {}, which is RDMA's: {}", shared, kSoWhat));
    found.where.priority = shared;
    LintCase::add_fix(found,
                      {fmt::format("priority: {}", to_text(free_priority(c.design, kCnpClass)))},
                      "under classes, cnp");
    return;
  }
  // The NIC's own parameters may say otherwise than the class.
  const NicIntent& nic = c.intent.hosts.front().nics.front();
  const auto report = [&](std::string_view knob, const std::string& verdict,
                          const std::string& right) {
    const Knob* const written = written_knob(c.design, knob);
    auto& found = c.report("cnp.shares_rdma_priority",
                           first_known({written != nullptr ? written->value_at : TextPosition(),
                                        cnp->value.dscp.at(), cnp->at}),
                           verdict);
    found.where.priority = shared;
    LintCase::add_fix(found, {fmt::format("{}: {}", knob, right)},
                      "under dcqcn; or delete the line, the class cnp says it already");
  };
  if (nic.dscp_to_priority.at(nic.cnp_dscp.value()) == *rdma->value.priority) {
    report("cnp_dscp",
           fmt::format("CNPs are marked DSCP {}, which is in RDMA's priority {}: {}",
                       to_text(nic.cnp_dscp), shared, kSoWhat),
           to_text(cnp->value.dscp->marking));
  }
  if (nic.cnp_priority == *rdma->value.priority) {
    report("cnp_802p_prio",
           fmt::format("NICs send CNPs in priority {}, which is RDMA's: {}", shared, kSoWhat),
           to_text(*cnp->value.priority));
  }
}

void check_cnp_lossless(LintCase& c) {
  const auto* const rdma = c.design.find_class(kRdmaClass);
  const auto* const cnp = c.design.find_class(kCnpClass);
  if (cnp == nullptr) return;
  const Priority priority = *cnp->value.priority;
  // Sharing RDMA's priority is a fault of its own; being lossless follows from it.
  if (rdma != nullptr && *rdma->value.priority == priority) return;
  const bool by_class = *cnp->value.lossless;
  if (!by_class && !c.design.pfc.priorities->contains(priority)) return;
  auto& found = c.report(
      "cnp.lossless",
      by_class ? first_known({cnp->value.lossless.at(), cnp->at})
               : first_known({c.design.pfc.priorities.at(), cnp->at}),
      fmt::format("CNPs (priority {}) are under PFC: a paused CNP arrives too late, a lost one is "
                  "followed by the next",
                  to_text(priority)));
  found.where.priority = to_text(priority);
  if (by_class) {
    LintCase::add_fix(found, {"lossless: false"}, "under classes, cnp");
  } else {
    LintCase::add_fix(found, {fmt::format("pfc: {{ priorities: {} }}",
                                          rdma != nullptr ? to_text(*rdma->value.priority) : "3")});
  }
}

namespace {

struct SharedThing {
  std::string_view noun;
  std::string number;
  TextPosition at;
  std::string key;  // the key of the class to change
};

// What two classes have in common, if anything: the priority weighs most, the others follow from
// it.
std::optional<SharedThing> shared_thing(const TrafficClassDesign& a, const TrafficClassDesign& b) {
  if (*a.priority == *b.priority)
    return SharedThing{"priority", to_text(*b.priority), b.priority.at(), "priority"};
  if (*a.queue == *b.queue) return SharedThing{"queue", to_text(*b.queue), b.queue.at(), "queue"};
  if (*a.traffic_class == *b.traffic_class) {
    return SharedThing{"traffic class", to_text(*b.traffic_class), b.traffic_class.at(),
                       "traffic_class"};
  }
  return std::nullopt;
}

}  // namespace

void check_class_shared_queue(LintCase& c) {
  const auto& classes = c.design.classes;
  for (auto a = classes.begin(); a != classes.end(); ++a) {
    for (auto b = std::next(a); b != classes.end(); ++b) {
      if (!*a->value.lossless && !*b->value.lossless) continue;
      // The one to move is the guest: the lossless class keeps its place.
      const auto& guest = *b->value.lossless && !*a->value.lossless ? *a : *b;
      const auto& owner = &guest == &*a ? *b : *a;
      const auto shared = shared_thing(owner.value, guest.value);
      if (!shared) continue;
      const bool is_cnp = guest.name == kCnpClass && owner.name == kRdmaClass;
      if (is_cnp && shared->noun == "priority")
        continue;  // cnp.shares_rdma_priority says it better
      auto& found = c.report(
          "class.shared_queue", first_known({shared->at, guest.value.priority.at(), guest.at}),
          fmt::format(
              "class '{}' shares {} {} with lossless class '{}': each is paused with the other, "
              "and takes its buffer",
              guest.name, shared->noun, shared->number, owner.name));
      if (shared->noun == "priority") found.where.priority = shared->number;
      std::vector<std::string> taken;
      taken.reserve(classes.size());
      for (const auto& cls : classes)
        taken.push_back(fmt::format("{} {}", cls.name, to_text(*cls.value.priority)));
      LintCase::add_evidence(found, fmt::format("priorities now: {}", join(taken, ", ")));
      LintCase::add_fix(
          found, {fmt::format("{}: {}", shared->key, to_text(free_priority(c.design, guest.name)))},
          fmt::format("under classes, {}; any number that no other class has", guest.name));
    }
  }
}

void check_class_no_guarantee(LintCase& c) {
  const auto* const management = c.design.find_class(kManagementClass);
  if (management != nullptr && *management->value.minimum == Share() &&
      *management->value.scheduling != Scheduling::kStrict) {
    auto& found = c.report("class.no_guarantee",
                           first_known({management->value.minimum.at(), management->at}),
                           "class 'management' has no guaranteed minimum: under load no one can "
                           "log in to find out why");
    LintCase::add_fix(found, {"minimum: 5%"}, "under classes, management");
  }

  Share sum;
  const Named<TrafficClassDesign>* largest = nullptr;  // of those written: it has most to give
  std::vector<std::string> parts;
  for (const auto& cls : c.design.classes) {
    sum += *cls.value.minimum;
    parts.push_back(fmt::format("{} {}", cls.name, to_text(*cls.value.minimum)));
    const bool is_larger = largest == nullptr || *cls.value.minimum > *largest->value.minimum;
    if (cls.value.minimum.is_written() && is_larger) largest = &cls;
  }
  if (sum <= 100_percent) return;
  const auto& blamed = largest != nullptr ? *largest : c.design.classes.front();
  auto& found = c.report(
      "class.no_guarantee", first_known({blamed.value.minimum.at(), blamed.at}),
      fmt::format("the guaranteed minima add up to {}, more than the line has: none of them is a "
                  "guarantee",
                  to_text(sum)));
  LintCase::add_evidence(found, join(parts, " + ") + " = " + to_text(sum));
  const Share excess = sum - 100_percent;
  const Share left = *blamed.value.minimum > excess ? *blamed.value.minimum - excess : Share();
  LintCase::add_fix(found, {"minimum: " + to_text(left)},
                    fmt::format("under classes, {}", blamed.name));
}

void check_shaper_on_rdma_path(LintCase& c) {
  for (std::uint32_t g = 0; g < c.design.links.size(); ++g) {
    const LinkGroup& group = c.design.links[g];
    if (!group.shaper.is_set()) continue;
    const auto count = std::count_if(c.intent.links.begin(), c.intent.links.end(),
                                     [&](const LinkIntent& link) { return link.group == g; });
    auto& found = c.report(
        "shaper.on_rdma_path", first_known({group.shaper.at(), group.at}),
        fmt::format(
            "a shaper holds {} links ({} to {}) at {} of their {}: RDMA queues behind it and PFC "
            "spreads the queue",
            count, group.from->text, group.to->text, to_text(*group.shaper),
            to_text(*group.speed)));
    found.where.link = fmt::format("{} to {}", group.from->text, group.to->text);
    LintCase::add_fix(found, {}, "delete the 'shaper' line");
  }
  const auto* const rdma = c.design.find_class(kRdmaClass);
  if (rdma == nullptr || *rdma->value.limit >= 100_percent) return;
  auto& found = c.report(
      "shaper.on_rdma_path", first_known({rdma->value.limit.at(), rdma->at}),
      fmt::format(
          "class 'rdma' is limited to {} of each access port: the limit is a shaper in the path",
          to_text(*rdma->value.limit)));
  LintCase::add_fix(found, {"limit: 100%"}, "under classes, rdma");
}

}  // namespace weir::design

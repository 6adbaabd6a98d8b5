#include "diagnose/validate/switch_classes.h"

#include <algorithm>
#include <array>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "base/text.h"
#include "evidence/as_set.h"
#include "units/format.h"
#include "units/quantity.h"

namespace weir::diagnose {
namespace {

using finding::Severity;

bool trusts_dscp(const design::SwitchIntent& wanted) {
  return wanted.trust == design::Trust::kDscp;
}

class ClassCheck {
 public:
  ClassCheck(const evidence::Switch& found, const design::SwitchIntent& wanted,
             const design::Intent& intent, Collector& out)
      : found_(found),
        wanted_(wanted),
        nic_(intent.hosts.empty() || intent.hosts.front().nics.empty()
                 ? nullptr
                 : &intent.hosts.front().nics.front()),
        out_(out),
        number_(evidence::priority_of_class(found)) {}

  void check() {
    check_map();
    check_queue_of_cnps();
    check_default_map();
    check_cnps_are_lossy();
  }

 private:
  [[nodiscard]] std::optional<Queue> queue_of(std::optional<TrafficClass> tc) const {
    if (!tc || !found_.tc_to_queue.is_known()) return std::nullopt;
    return found_.tc_to_queue->at(tc->value());
  }

  /// Systems number classes differently; what counts is the PFC priority that protects them, and
  /// the queue: it has the design's ECN, share and buffer. A text for what is wrong with the class
  /// of a code point, or none.
  [[nodiscard]] std::string wrong_with(unsigned dscp) const {
    const Priority priority = wanted_.dscp_to_priority.at(dscp);
    const auto tc = found_.dscp_to_tc->at(dscp);
    const bool is_lossless = wanted_.lossless.contains(priority);
    const bool has_priority = tc && number_.at(tc->value()) == priority;
    const bool becomes_lossless = tc && wanted_.lossless.contains(number_.at(tc->value()));
    const Queue queue = wanted_.priority_to_queue.at(priority.value());
    const auto at = queue_of(tc);
    const bool is_in_queue = !at || *at == queue;
    // Best effort may be wherever the vendor puts it, if that is not lossless.
    if (is_lossless ? has_priority && is_in_queue : has_priority || !becomes_lossless) return {};
    if (!tc) return fmt::format("expected class {}, found no entry", priority.value());
    // The class is right by its number, and leads to another queue.
    if (!is_in_queue && (has_priority || tc->value() == priority.value()))
      return fmt::format("expected queue {}, found queue {}{}", queue.value(), at->value(),
                         is_lossless ? lacks_of(*at) : "");
    return fmt::format("expected class {}, found class {}", priority.value(), tc->value());
  }

  /// ", which has no ECN and no bandwidth share".
  [[nodiscard]] std::string lacks_of(Queue queue) const {
    if (found_.ports.empty()) return {};
    const evidence::EgressQueue* const at = find_queue(found_.ports.front(), queue);
    const bool has_ecn = at != nullptr && at->ecn.is(true);
    const bool has_share = at != nullptr && at->scheduler.is_known();
    if (has_ecn && has_share) return {};
    return fmt::format(", which has {}", has_ecn     ? "no bandwidth share"
                                         : has_share ? "no ECN"
                                                     : "no ECN and no bandwidth share");
  }

  /// The lossless classes first: they are what the others must stay out of.
  void check_map() {
    const bool by_dscp = trusts_dscp(wanted_);
    if (by_dscp && !found_.dscp_to_tc.is_known()) return out_.unknown("DSCP map");
    if (!by_dscp && !found_.pcp_to_tc.is_known() && !found_.dscp_to_tc.is_known())
      return out_.unknown("PCP map");
    if (!found_.dscp_to_tc.is_known()) return;
    std::vector<std::pair<std::string, std::vector<unsigned>>> wrong;
    for (const bool are_lossless : {true, false}) {
      for (unsigned d = 0; d < Dscp::kLimit; ++d) {
        if (wanted_.lossless.contains(wanted_.dscp_to_priority.at(d)) != are_lossless) continue;
        const std::string text = wrong_with(d);
        if (text.empty()) continue;
        is_said_.at(d) = true;
        const auto known = std::find_if(wrong.begin(), wrong.end(),
                                        [&](const auto& row) { return row.first == text; });
        if (known != wrong.end())
          known->second.push_back(d);
        else
          wrong.push_back({text, {d}});
      }
    }
    for (const auto& [text, codes] : wrong)
      out_.wrong("dscp.unmapped_hop", "", fmt::format("DSCP {}: {}", ranges(codes), text));
  }

  /// CNPs must not be paused.
  void check_cnps_are_lossy() {
    if (!found_.dscp_to_tc.is_known() || !found_.tc_to_queue.is_known() || nic_ == nullptr) return;
    PrioritySet paused;
    for (const evidence::SwitchPort& port : found_.ports)
      if (port.pfc.is_known())
        paused =
            PrioritySet::from_mask(static_cast<std::uint8_t>(paused.mask() | port.pfc->mask()));
    const auto tc = found_.dscp_to_tc->at(nic_->cnp_dscp.value());
    if (!tc || wanted_.lossless.contains(nic_->cnp_priority)) return;
    if (!paused.contains(number_.at(tc->value()))) return;
    out_.wrong("cnp.lossless", "",
               fmt::format("DSCP {} (CNP): expected a class without PFC, found class {} with PFC",
                           nic_->cnp_dscp.value(), tc->value()));
  }

  /// The priority that the switch of the design gives CNPs, and their class as found.
  struct Cnps {
    Priority priority;
    std::optional<TrafficClass> tc;
    std::string name;  // "CNPs (DSCP 48)"
  };
  [[nodiscard]] std::optional<Cnps> cnps() const {
    const unsigned dscp = nic_->cnp_dscp.value();
    if (trusts_dscp(wanted_)) {
      if (!found_.dscp_to_tc.is_known()) return std::nullopt;
      return Cnps{wanted_.dscp_to_priority.at(dscp), found_.dscp_to_tc->at(dscp),
                  fmt::format("CNPs (DSCP {})", dscp)};
    }
    if (!found_.pcp_to_tc.is_known()) return std::nullopt;
    const unsigned pcp = nic_->cnp_priority.value();
    return Cnps{wanted_.pcp_to_priority.at(pcp), found_.pcp_to_tc->at(pcp),
                fmt::format("CNPs (802.1p {})", pcp)};
  }

  /// Late CNPs are late brakes: in a queue that waits for others they come after the congestion.
  void check_queue_of_cnps() {
    if (nic_ == nullptr) return;
    const auto sent = cnps();
    if (!sent || wanted_.lossless.contains(sent->priority)) return;
    const bool is_said = trusts_dscp(wanted_) && is_said_.at(nic_->cnp_dscp.value());
    const auto at = queue_of(sent->tc);
    const Queue queue = wanted_.priority_to_queue.at(sent->priority.value());
    if (is_said || !at || *at == queue) return;
    is_said_.at(nic_->cnp_dscp.value()) = trusts_dscp(wanted_);
    const bool wants_strict =
        wanted_.queues.at(queue.value()).scheduling == design::Scheduling::kStrict;
    const evidence::EgressQueue* const other =
        found_.ports.empty() ? nullptr : find_queue(found_.ports.front(), *at);
    const bool has_scheduler = other != nullptr && other->scheduler.is_known();
    const bool is_strict = has_scheduler && *other->scheduler == evidence::Scheduler::kStrict;
    const auto text = [](Queue number, std::string_view kind) {
      return fmt::format("queue {} ({})", number.value(), kind);
    };
    // A strict queue of another number serves them as well.
    out_.wrong("config.differs", "",
               expected(sent->name, text(queue, wants_strict ? "strict" : "weighted"),
                        text(*at, is_strict       ? "strict"
                                  : has_scheduler ? "weighted"
                                                  : "no bandwidth share")),
               wants_strict && is_strict ? Severity::kInfo : Severity::kWarning);
  }

  /// Traffic in a queue without a bandwidth share: a default map puts it there (EOS: DSCP 0 in
  /// class 1), while the shares follow the design's map.
  void check_default_map() {
    if (!found_.dscp_to_tc.is_known() || !found_.tc_to_queue.is_known() || found_.ports.empty())
      return;
    const evidence::SwitchPort& port = found_.ports.front();
    const bool has_shares =
        std::any_of(port.queues.begin(), port.queues.end(),
                    [](const evidence::EgressQueue& item) { return item.scheduler.is_known(); });
    if (!has_shares || port.trust.is(evidence::TrustMode::kPcp)) return;
    std::array<std::vector<unsigned>, 8> lost;
    for (unsigned d = 0; d < Dscp::kLimit; ++d) {
      const auto queue = queue_of(found_.dscp_to_tc->at(d));
      if (!queue || is_said_.at(d)) continue;
      const evidence::EgressQueue* at = find_queue(port, *queue);
      const bool has_none = at == nullptr || (at->weight.is_known() && *at->weight == 0);
      if (has_none) lost.at(queue->value()).push_back(d);
    }
    for (unsigned q = 0; q < 8; ++q)
      if (!lost.at(q).empty())
        out_.wrong("dscp.default_map", "",
                   fmt::format("DSCP {}: in queue {}, which has no bandwidth share",
                               ranges(lost.at(q)), q));
  }

  const evidence::Switch& found_;
  const design::SwitchIntent& wanted_;
  const design::NicIntent* const nic_;  // any: all have the design's CNPs
  Collector& out_;
  const std::array<Priority, 8> number_;
  std::array<bool, 64> is_said_{};  // code points with a fault
};

// ---- shares ----

/// Of one weighted queue, as designed and as found, before they are scaled.
struct Weights {
  unsigned queue = 0;
  std::int64_t wanted = 0;
  std::int64_t found = 0;
};

/// A line of a file, or what the system does where the file says nothing.
bool is_of_configuration(std::string_view source) {
  return source.find(':') != std::string_view::npos || source.starts_with("default of ");
}

Share part_of(std::int64_t weight, std::int64_t sum) {
  return Share::raw(
      static_cast<std::int64_t>(Int128{weight} * kSharePerWhole / std::max<std::int64_t>(sum, 1)));
}

/// What decides is each queue's part of all weights. Systems count in whole percents or in weights
/// of 1 to 100 that may add up to any sum: two points are rounding.
void check_shares(const evidence::SwitchPort& port, const std::vector<Weights>& weights,
                  Collector& out) {
  std::int64_t all_wanted = 0;
  std::int64_t all_found = 0;
  for (const Weights& each : weights) {
    all_wanted += each.wanted;
    all_found += each.found;
  }
  std::vector<std::string> want;
  std::vector<std::string> is;
  for (const Weights& each : weights) {
    const Share wanted = part_of(each.wanted, all_wanted);
    const Share found = part_of(each.found, all_found);
    const std::int64_t off = std::max(wanted.raw() - found.raw(), found.raw() - wanted.raw());
    if (off <= (2_percent).raw()) continue;
    const auto text = [&](Share share) {
      return fmt::format("queue {} {}%", each.queue,
                         (share.raw() + (1_percent).raw() / 2) / (1_percent).raw());
    };
    want.push_back(text(wanted));
    is.push_back(text(found));
  }
  if (want.empty()) return;
  out.wrong("config.differs", port.name,
            expected("bandwidth shares", join(want, ", "), join(is, ", ")), Severity::kWarning);
}

}  // namespace

void check_classes(const evidence::Switch& found, const design::SwitchIntent& wanted,
                   const design::Intent& intent, Collector& out) {
  ClassCheck(found, wanted, intent, out).check();
}

void check_scheduling(const evidence::SwitchPort& port, const design::SwitchIntent& wanted,
                      Collector& out) {
  std::vector<Weights> weights;
  bool are_known = true;
  bool has_any = false;
  bool wants_any = false;
  bool has_source = false;
  for (unsigned q = 0; q < wanted.queues.size(); ++q) {
    const design::Share8& share = wanted.queues.at(q);
    if (!share.used) continue;
    wants_any = true;
    const bool wants_strict = share.scheduling == design::Scheduling::kStrict;
    const evidence::EgressQueue* const queue = find_queue(port, Queue::of(q));
    // Beside others that have a share, this one has none, which check_classes() says if it is used.
    if (queue == nullptr || !queue->scheduler.is_known()) continue;
    has_any = true;
    has_source = has_source || is_of_configuration(queue->scheduler.source());
    const bool is_strict = *queue->scheduler == evidence::Scheduler::kStrict;
    const auto word = [](bool strict) { return strict ? "strict" : "weighted"; };
    if (is_strict != wants_strict) {
      out.wrong(
          "config.differs", port.name,
          expected(fmt::format("scheduling of queue {}", q), word(wants_strict), word(is_strict)),
          Severity::kWarning);
    } else if (!is_strict) {
      are_known = are_known && queue->weight.is_known();
      const std::int64_t weight = queue->weight.is_known() ? std::int64_t{*queue->weight} : 0;
      weights.push_back({q, std::max<std::int64_t>(share.minimum.raw(), 1), weight});
    }
  }
  if (!wants_any) return;
  if (!has_any) return out.unknown_without_configuration("bandwidth shares");
  if (!has_source) return;  // of a lab, whose weights are the simulator's
  if (!are_known) return out.unknown("bandwidth shares");
  check_shares(port, weights, out);
}

}  // namespace weir::diagnose

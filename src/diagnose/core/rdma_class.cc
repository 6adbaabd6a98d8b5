#include "diagnose/core/rdma_class.h"

#include <algorithm>
#include <array>

#include <fmt/format.h>

#include "units/format.h"

namespace weir::diagnose {
namespace {

/// As set, or as in effect where a switch shows that alone (NX-OS).
const PrioritySet* protected_at(const PortView& port) {
  if (port.facts == nullptr) return nullptr;
  if (port.facts->pfc.is_known()) return &*port.facts->pfc;
  return port.facts->pfc_active.is_known() ? &*port.facts->pfc_active : nullptr;
}

void add_protected(const PrioritySet& set, Protected& out) {
  out.any = PrioritySet::from_mask(static_cast<std::uint8_t>(out.any.mask() | set.mask()));
  if (set.count() != 1) return;
  for (unsigned p = 0; p < Priority::kLimit; ++p)
    if (set.contains(Priority::of(p))) ++out.votes.at(p);
}

std::optional<unsigned> mapped_by(const NicView& nic, Dscp dscp) {
  if (nic.facts == nullptr || !nic.facts->qos.dscp_to_priority.is_known()) return std::nullopt;
  const auto& to = nic.facts->qos.dscp_to_priority->at(dscp.value());
  return to ? std::optional(to->value()) : std::nullopt;
}

/// Where RDMA's code points lead, by the maps of NICs, or by those of switches where no NIC shows
/// one. Each is a class that RDMA would be in; priority 0 is that of unmarked traffic.
class Marks {
 public:
  void add(Dscp dscp, std::optional<unsigned> priority, std::string why) {
    if (!priority || *priority == 0 || dscp.value() < kSmallDscp) return;
    const bool is_known = first_ && first_->priority == *priority && first_->dscp == dscp;
    is_one_ = is_one_ && (!first_ || is_known);
    if (!first_) first_ = RdmaClass{*priority, dscp, std::move(why)};
  }
  [[nodiscard]] std::optional<RdmaClass> one() const { return is_one_ ? first_ : std::nullopt; }

 private:
  std::optional<RdmaClass> first_;
  bool is_one_ = true;
};

std::optional<RdmaClass> class_of_marks(std::span<const NicView> nics,
                                        std::span<const PortView> ports, const ToldOfRdma& told) {
  Marks marks;
  bool has_map = false;
  std::vector<Dscp> sent = told.dscps;
  for (const NicView& nic : nics) {
    if (nic.facts == nullptr) continue;
    has_map = has_map || nic.facts->qos.dscp_to_priority.is_known();
    if (const auto forced = mark_forced(nic)) {
      marks.add(forced->dscp, forced->priority,
                fmt::format("{} {} forces DSCP {} and maps it to priority {}", nic.host, nic.device,
                            forced->dscp.value(), forced->priority));
      continue;
    }
    if (nic.facts->rdma.traffic_class.is_known() && *nic.facts->rdma.traffic_class)
      sent.push_back(dscp_of(**nic.facts->rdma.traffic_class));
    for (const Dscp dscp : told.dscps)
      marks.add(dscp, mapped_by(nic, dscp),
                fmt::format("RDMA is sent with DSCP {}, which {} {} maps to priority {}",
                            dscp.value(), nic.host, nic.device, mapped_by(nic, dscp).value_or(0)));
  }
  if (has_map) return marks.one();
  for (const PortView& port : ports) {
    if (port.device == nullptr || !port.device->dscp_to_tc.is_known()) continue;
    for (const Dscp dscp : sent) {
      const auto& to = port.device->dscp_to_tc->at(dscp.value());
      if (to)
        marks.add(dscp, to->value(),
                  fmt::format("RDMA is sent with DSCP {}, which {} maps to class {}", dscp.value(),
                              port.switch_name, to->value()));
    }
  }
  return marks.one();
}

/// The marked priority that carries nearly all that one NIC sends; 0 where it is unmarked traffic
/// or that of CNPs; nullopt where the NIC says nothing: it sends next to nothing, or one counter
/// was cut out of many.
std::optional<unsigned> main_priority(const ToldOfRdma::BytesSent& sent, std::uint64_t least,
                                      double share) {
  constexpr unsigned kUsualCnp = 6;
  std::uint64_t all = 0;
  std::size_t shown = 0;
  for (const auto& amount : sent) {
    all += amount.value_or(0);
    shown += amount ? 1 : 0;
  }
  if (all < least || shown < 2) return std::nullopt;
  for (unsigned p = 0; p < Priority::kLimit; ++p)
    if (p != kUsualCnp &&
        static_cast<double>(sent.at(p).value_or(0)) >= share * static_cast<double>(all))
      return p;
  return 0;
}

/// Bytes by priority, or packets where bytes are not shown.
ToldOfRdma::BytesSent sent_by(const NicView& nic, std::string_view id) {
  ToldOfRdma::BytesSent out;
  for (unsigned p = 0; p < Priority::kLimit; ++p)
    out.at(p) = nic.counts.of(id, p);
  return out;
}

/// The one of all NICs. What is unmarked may be anything.
std::optional<RdmaClass> class_of_bytes(std::span<const NicView> nics, const ToldOfRdma& told,
                                        const Thresholds& limits) {
  constexpr std::uint64_t kSmallestFrame = 64;
  std::optional<unsigned> found;
  bool is_one = true;
  const auto take = [&](const std::optional<unsigned>& main) {
    if (!main) return false;
    is_one = is_one && *main != 0 && (!found || *found == *main);
    found = main;
    return true;
  };
  for (const NicView& nic : nics) {
    const bool has_bytes = take(main_priority(sent_by(nic, "nic.prio.tx.bytes"),
                                              limits.bytes_that_matter, limits.rdma_share));
    if (!has_bytes)
      take(main_priority(sent_by(nic, "nic.prio.tx.packets"),
                         limits.bytes_that_matter / kSmallestFrame, limits.rdma_share));
  }
  for (const ToldOfRdma::BytesSent& sent : told.sent)
    take(main_priority(sent, limits.bytes_that_matter, limits.rdma_share));
  if (!found || !is_one) return std::nullopt;
  return RdmaClass{*found, std::nullopt,
                   fmt::format("what hosts send is nearly all in priority {}", *found)};
}

/// The one code point that RDMA is sent with, where no map of a NIC puts it elsewhere.
std::optional<Dscp> dscp_sent(std::span<const NicView> nics, const ToldOfRdma& told,
                              unsigned priority) {
  std::vector<Dscp> sent = told.dscps;
  for (const NicView& nic : nics)
    if (nic.facts != nullptr && nic.facts->rdma.traffic_class.is_known() &&
        *nic.facts->rdma.traffic_class)
      sent.push_back(dscp_of(**nic.facts->rdma.traffic_class));
  if (sent.empty() || sent.front().value() < kSmallDscp) return std::nullopt;
  for (const NicView& nic : nics)
    if (mapped_by(nic, sent.front()).value_or(priority) != priority) return std::nullopt;
  const bool is_one =
      std::all_of(sent.begin(), sent.end(), [&](Dscp dscp) { return dscp == sent.front(); });
  return is_one ? std::optional(sent.front()) : std::nullopt;
}

}  // namespace

Protected protected_by(std::span<const NicView> nics, std::span<const PortView> ports,
                       const ToldOfRdma& told) {
  Protected out;
  for (const NicView& nic : nics)
    if (nic.pfc) add_protected(*nic.pfc, out);
  for (const PortView& port : ports)
    if (const PrioritySet* const pfc = protected_at(port)) add_protected(*pfc, out);
  for (const PrioritySet& set : told.lossless)
    add_protected(set, out);
  return out;
}

std::optional<SentMark> mark_forced(const NicView& nic) {
  if (nic.facts == nullptr) return std::nullopt;
  const evidence::Rdma& rdma = nic.facts->rdma;
  std::optional<Dscp> dscp;
  if (rdma.traffic_class.is_known() && rdma.traffic_class->has_value()) {
    dscp = dscp_of(**rdma.traffic_class);
  } else if (rdma.cm_tos.is_known() && dscp_of(*rdma.cm_tos).value() > 0) {
    dscp = dscp_of(*rdma.cm_tos);
  }
  const auto priority = dscp ? mapped_by(nic, *dscp) : std::nullopt;
  return priority ? std::optional(SentMark{*dscp, *priority}) : std::nullopt;
}

std::optional<RdmaClass> class_shown(std::span<const NicView> nics, std::span<const PortView> ports,
                                     const ToldOfRdma& told, const Thresholds& limits) {
  const Protected guarded = protected_by(nics, ports, told);
  const bool has_single =
      std::any_of(guarded.votes.begin(), guarded.votes.end(), [](int votes) { return votes > 0; });
  const auto is_guarded = [&](unsigned priority) {
    // Systems come with two lossless priorities: beside one that was chosen they say nothing.
    return has_single ? guarded.is_by_one(priority) : guarded.any.contains(Priority::of(priority));
  };
  if (const auto marked = class_of_marks(nics, ports, told); marked && is_guarded(marked->priority))
    return marked;
  auto found = class_of_bytes(nics, told, limits);
  if (found && guarded.is_shown() && !is_guarded(found->priority)) found.reset();
  if (!found && told.priority && is_guarded(told.priority->value()))
    found = RdmaClass{told.priority->value(), std::nullopt,
                      fmt::format("RDMA is said to be in priority {}", told.priority->value())};
  if (found) found->dscp = dscp_sent(nics, told, found->priority);
  return found;
}

}  // namespace weir::diagnose

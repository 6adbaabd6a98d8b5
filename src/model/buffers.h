#pragma once
// Shared-buffer arithmetic: pools, headroom, what remains, where XOFF lies, and the largest ECN
// threshold that still marks before PFC pauses.
//
// Shares are intent: EOS and NX-OS have no pool carving, NVUE allows one lossless pool, Junos wants
// three partitions of exactly 100 %. Renderers lower them. "ECN at 20-30 %, XOFF at 80 % of the
// buffer" is not how dynamic thresholds work: XOFF moves with what is free, by alpha.
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "model/term.h"
#include "units/qos_code.h"
#include "units/quantity.h"

namespace weir::model {

// ---- thresholds ----

/// XOFF of one of `congested` equally loaded priority groups under a dynamic threshold: each may
/// take alpha times what is free, so T = alpha * shared / (1 + alpha * congested). Rounded down,
/// exact. REQUIRES: shared >= 0, congested >= 1.
[[nodiscard]] Bytes dynamic_threshold(Bytes shared, Alpha alpha, std::int64_t congested);

/// Most congested groups for which dynamic_threshold() is still at least `needed`; 0 = not even
/// one. REQUIRES: needed > 0.
[[nodiscard]] std::int64_t most_congested_groups(Bytes shared, Alpha alpha, Bytes needed);

/// A bound with the fraction it came from. t_ECN must be strictly below numerator / denominator.
struct EcnBound {
  std::int64_t numerator = 0;
  std::int64_t denominator = 1;
  Bytes largest_min_threshold;  // the largest whole t_ECN that satisfies it; 0 = none does
  std::string formula;          // with the numbers filled in

  [[nodiscard]] double bytes() const {
    return static_cast<double>(numerator) / static_cast<double>(denominator);
  }
};

/// ECN leads PFC on every ingress/egress mix (DCQCN, SIGCOMM 2015 sec. 4, in generic form): with
/// dynamic XOFF = A * (B' - s), B' the shared buffer without headroom and s what is used, the worst
/// case spreads k lossless classes over n egress ports just below t_ECN, s = k * n * t_ECN, all fed
/// by one ingress:
///   t_ECN < A * B' / (n * (1 + A * k)).
/// REQUIRES: shared >= 0, ports >= 1, classes >= 1.
[[nodiscard]] EcnBound ecn_bound_dynamic(Bytes shared, Alpha alpha, int ports, int classes);

/// The static branch: one ingress of fixed XOFF may feed all n egress queues evenly, so t_ECN <
/// XOFF / n. REQUIRES: xoff >= 0, ports >= 1.
[[nodiscard]] EcnBound ecn_bound_static(Bytes xoff, int ports);

/// The largest static XOFF that every group can reach at once: (B - headroom) / (ports *
/// priorities). REQUIRES: shared >= 0, ports >= 1, priorities >= 1.
[[nodiscard]] Bytes largest_static_xoff(Bytes shared, int ports, int priorities);

// ---- profiles ----

struct PoolShares {
  Share lossless;  // headroom and queues of the lossless classes
  Share lossy;
  Share storage;
  Share reserved;  // guaranteed minimum of ports and groups

  [[nodiscard]] constexpr Share sum() const { return lossless + lossy + storage + reserved; }
};

/// Where typical fabrics keep each share; outside it, lint asks.
struct ShareRange {
  std::string_view pool;
  Share low;
  Share high;
};
[[nodiscard]] std::span<const ShareRange> usual_share_ranges();

struct BufferProfile {
  std::string_view name;  // "vendor" "roce-balanced" "roce-aggressive"
  std::string_view title;
  std::string_view delta;  // what it changes against the vendor's reference, and why
  bool is_single_pool;     // every class shares one pool; the shares then say nothing
  PoolShares shares;
  Alpha alpha;            // lossless ingress
  Share headroom_margin;  // of the computed headroom: 100 % = as computed
};
/// The vendor's reference first; the others are ours, stated as deltas to it.
[[nodiscard]] std::span<const BufferProfile> buffer_profiles();
[[nodiscard]] Result<BufferProfile> find_buffer_profile(std::string_view name);

/// What a vendor ships for an ASIC: the start from which profiles are deltas. Where both numbers
/// are published, pool plus headroom exceed the memory (Tomahawk 5: 190.7 of 173.3 MB), so the
/// headroom is read as part of the pool; this is our inference.
struct VendorPool {
  std::string_view asic;  // as the design's ASIC table names it
  std::string_view box;
  Bytes shared;                   // shared pool
  std::optional<Bytes> headroom;  // headroom pool, where the source gives one
  std::string_view source;
};
[[nodiscard]] const VendorPool* find_vendor_pool(std::string_view asic);  // nullptr: none published

// ---- the plan ----

/// Ports that need the same headroom.
struct HeadroomDemand {
  int ports = 0;
  int lossless_priorities = 1;
  Bytes per_group;  // per port and priority
};

struct BufferInput {
  Bytes total;
  bool is_single_pool = false;
  PoolShares shares;
  Alpha alpha;
  Share headroom_margin = 100_percent;
  std::vector<HeadroomDemand> headroom;
  int headroom_oversubscription = 1;  // n > 1: one shared headroom pool of 1/n of the sum
  Bytes reserved_per_group;           // guaranteed to each port and priority group
  int ports = 1;
  int groups_per_port = 1;  // priority groups that have such a guarantee
  int lossless_classes = 1;
};

struct BufferPlan {
  Bytes lossless_pool;  // a single pool is reported here
  Bytes lossy_pool;
  Bytes storage_pool;
  Bytes reserved_pool;
  Bytes unassigned;       // shares that add up to less than 100 %
  Bytes headroom_sum;     // of all groups
  Bytes headroom;         // set aside: the sum, or its oversubscribed pool
  Bytes reserved_used;    // per-group guarantees
  Bytes reserved_left;    // negative: the guarantees do not fit
  Bytes lossless_shared;  // what XOFF thresholds divide; negative: headroom does not fit
  Bytes xoff_one;         // XOFF point with one congested group
  Bytes xoff_all;         // … with every lossless group of every port congested
  std::optional<EcnBound> ecn_bound;  // absent where nothing is left to share
  std::vector<Term> terms;            // from the buffer's total down to what is shared
  [[nodiscard]] bool fits() const { return lossless_shared > Bytes() && reserved_left >= Bytes(); }
};

/// Fails on shares over 100 % in sum or inputs out of range. A plan that does not fit is a plan:
/// see fits().
[[nodiscard]] Result<BufferPlan> plan_buffers(const BufferInput&);

}  // namespace weir::model

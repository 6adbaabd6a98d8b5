#include "model/buffers.h"

#include <algorithm>
#include <array>

#include <fmt/format.h>

#include "base/text.h"
#include "units/format.h"

namespace weir::model {
namespace {

/// alpha * x / (n * (1 + alpha * k)) as a fraction of integers: alpha is a power of two.
struct Fraction {
  Int128 numerator;
  Int128 denominator;
};
Fraction shared_out(Bytes x, Alpha alpha, std::int64_t n, std::int64_t k) {
  if (alpha.log2() >= 0) {
    const Int128 a = Int128{1} << alpha.log2();
    return {a * x.raw(), n * (1 + a * k)};
  }
  const Int128 inverse = Int128{1} << -alpha.log2();
  return {Int128{x.raw()}, n * (inverse + k)};
}

EcnBound make_bound(Fraction fraction, std::string formula) {
  EcnBound bound;
  bound.numerator = static_cast<std::int64_t>(fraction.numerator);
  bound.denominator = static_cast<std::int64_t>(fraction.denominator);
  if (bound.numerator > 0)
    bound.largest_min_threshold = Bytes::raw((bound.numerator - 1) / bound.denominator);
  bound.formula = std::move(formula);
  return bound;
}

constexpr std::array kRanges = {
    ShareRange{"lossless", 40_percent, 60_percent}, ShareRange{"lossy", 10_percent, 20_percent},
    ShareRange{"storage", 15_percent, 25_percent}, ShareRange{"reserved", 10_percent, 15_percent}};

constexpr std::array kProfiles = {
    BufferProfile{
        "vendor", "the vendor's reference",
        "one pool that every class shares, headroom beside it, alpha 1 (Junos ships alpha 1 for "
        "ingress lossless)",
        true, PoolShares{100_percent, 0_percent, 0_percent, 0_percent}, Alpha::from_log2(0),
        100_percent},
    BufferProfile{
        "roce-balanced", "lossless, lossy and storage each with a pool of their own",
        "against the vendor's: pools 50/15/20/15 %, so that no class starves another; alpha 1/8, "
        "so that one congested port leaves room for the others; headroom as computed",
        false, PoolShares{50_percent, 15_percent, 20_percent, 15_percent}, Alpha::from_log2(-3),
        100_percent},
    BufferProfile{
        "roce-aggressive", "more room for lossless bursts and for late pauses",
        "against roce-balanced: lossless 60 %, lossy 10 %, storage 15 %; headroom half as much "
        "again, for peers slower than the standard; alpha 1/4, so that pauses come later",
        false, PoolShares{60_percent, 10_percent, 15_percent, 15_percent}, Alpha::from_log2(-2),
        150_percent},
};

constexpr std::string_view kSonicPools = "SONiC device buffer templates, sonic-buildimage 086b03b";
constexpr std::array kVendorPools = {
    VendorPool{"spectrum1", "SN2700", 13'945'824_B, std::nullopt, kSonicPools},
    VendorPool{"spectrum2", "MSN3700", 34'287'552_B, std::nullopt, kSonicPools},
    VendorPool{"spectrum3", "MSN4700", 60'817'392_B, std::nullopt, kSonicPools},
    VendorPool{"spectrum4", "SN5600", 158'229'504_B, std::nullopt, kSonicPools},
    VendorPool{"spectrum5", "SN5640", 136'209'408_B, std::nullopt, kSonicPools},
    VendorPool{"spectrum6", "SN6600", 226'492'416_B, std::nullopt, kSonicPools},
    VendorPool{"tomahawk3", "Dell Z9332f", 66'394'076_B, 8'644'128_B, kSonicPools},
    VendorPool{"tomahawk5", "Nokia IXR7220-H5", 161'176'208_B, 29'520'896_B, kSonicPools},
};

Status check(const BufferInput& in) {
  if (in.total <= 0_B) {
    return invalid_error(
        fmt::format("expected a buffer larger than 0B, found {}", to_text(in.total)));
  }
  for (const Share share :
       {in.shares.lossless, in.shares.lossy, in.shares.storage, in.shares.reserved}) {
    if (share < Share() || share > 100_percent) {
      return invalid_error(
          fmt::format("expected pool shares of 0% to 100%, found {}", to_text(share)));
    }
  }
  if (in.shares.sum() > 100_percent) {
    return invalid_error(
        fmt::format("the pools add up to {} (lossless {}, lossy {}, storage {}, reserved {}); at "
                    "most 100% can be given",
                    to_text(in.shares.sum()), to_text(in.shares.lossless), to_text(in.shares.lossy),
                    to_text(in.shares.storage), to_text(in.shares.reserved)));
  }
  if (in.headroom_oversubscription < 1) {
    return invalid_error(fmt::format("expected a headroom oversubscription of 1 or more, found {}",
                                     in.headroom_oversubscription));
  }
  if (in.ports < 1 || in.groups_per_port < 1 || in.lossless_classes < 1)
    return invalid_error("expected at least one port, one priority group and one lossless class");
  if (in.headroom_margin < 100_percent) {
    return invalid_error(fmt::format("expected a headroom margin of 100% or more, found {}",
                                     to_text(in.headroom_margin)));
  }
  for (const HeadroomDemand& demand : in.headroom) {
    if (demand.ports < 0 || demand.lossless_priorities < 0 || demand.per_group < 0_B)
      return invalid_error("expected no negative headroom");
  }
  if (in.reserved_per_group < 0_B) return invalid_error("expected no negative reserved buffer");
  return {};
}

void add_pools(const BufferInput& in, BufferPlan& plan) {
  if (in.is_single_pool) {
    plan.lossless_pool = in.total;
    return;
  }
  plan.lossless_pool = share_of(in.total, in.shares.lossless);
  plan.lossy_pool = share_of(in.total, in.shares.lossy);
  plan.storage_pool = share_of(in.total, in.shares.storage);
  plan.reserved_pool = share_of(in.total, in.shares.reserved);
  plan.unassigned =
      in.total - plan.lossless_pool - plan.lossy_pool - plan.storage_pool - plan.reserved_pool;
}

void add_headroom(const BufferInput& in, BufferPlan& plan) {
  for (const HeadroomDemand& demand : in.headroom) {
    const Bytes with_margin = share_of(demand.per_group, in.headroom_margin);
    plan.headroom_sum += with_margin * demand.ports * demand.lossless_priorities;
  }
  const std::int64_t ratio = in.headroom_oversubscription;
  plan.headroom = Bytes::raw((plan.headroom_sum.raw() + ratio - 1) / ratio);
}

void add_terms(const BufferInput& in, BufferPlan& plan) {
  plan.terms.push_back({"buffer", in.total, "the ASIC's packet memory"});
  const auto take = [&](std::string name, Bytes bytes, std::string why) {
    if (bytes != 0_B) plan.terms.push_back({std::move(name), Bytes() - bytes, std::move(why)});
  };
  take("lossy pool", plan.lossy_pool, to_text(in.shares.lossy) + " of the buffer");
  take("storage pool", plan.storage_pool, to_text(in.shares.storage) + " of the buffer");
  take("reserved pool", plan.reserved_pool, to_text(in.shares.reserved) + " of the buffer");
  take("unassigned", plan.unassigned, "the shares add up to " + to_text(in.shares.sum()));
  take("headroom", plan.headroom,
       in.headroom_oversubscription > 1
           ? fmt::format("a shared pool: {} in sum, oversubscribed {}:1",
                         to_text(plan.headroom_sum), in.headroom_oversubscription)
           : std::string("each port and lossless priority its own"));
  if (in.is_single_pool) {
    take("guarantees", plan.reserved_used,
         fmt::format("{} for each of {} groups", to_text(in.reserved_per_group),
                     in.ports * in.groups_per_port));
  }
}

}  // namespace

Bytes dynamic_threshold(Bytes shared, Alpha alpha, std::int64_t congested) {
  WEIR_CHECK(shared >= 0_B && congested >= 1);
  const Fraction f = shared_out(shared, alpha, 1, congested);
  return Bytes::raw(static_cast<std::int64_t>(f.numerator / f.denominator));
}

std::int64_t most_congested_groups(Bytes shared, Alpha alpha, Bytes needed) {
  WEIR_CHECK(shared >= 0_B && needed > 0_B);
  // alpha*B / (1 + alpha*n) >= t  <=>  n <= B/t - 1/alpha
  const Int128 numerator = alpha.log2() >= 0
                               ? (Int128{shared.raw()} << alpha.log2()) - needed.raw()
                               : Int128{shared.raw()} - (Int128{needed.raw()} << -alpha.log2());
  const Int128 denominator =
      alpha.log2() >= 0 ? Int128{needed.raw()} << alpha.log2() : Int128{needed.raw()};
  return numerator < 0 ? 0 : static_cast<std::int64_t>(numerator / denominator);
}

EcnBound ecn_bound_dynamic(Bytes shared, Alpha alpha, int ports, int classes) {
  WEIR_CHECK(shared >= 0_B && ports >= 1 && classes >= 1);
  return make_bound(shared_out(shared, alpha, ports, classes),
                    fmt::format("t_ECN < A*B'/(n*(1+A*k)), A = {}, B' = {}, n = {} ports, k = {} "
                                "lossless {}",
                                to_text(alpha), to_text(shared), ports, classes,
                                classes == 1 ? "class" : "classes"));
}

EcnBound ecn_bound_static(Bytes xoff, int ports) {
  WEIR_CHECK(xoff >= 0_B && ports >= 1);
  return make_bound({Int128{xoff.raw()}, ports},
                    fmt::format("t_ECN < XOFF/n, XOFF = {}, n = {} ports", to_text(xoff), ports));
}

Bytes largest_static_xoff(Bytes shared, int ports, int priorities) {
  WEIR_CHECK(shared >= 0_B && ports >= 1 && priorities >= 1);
  return shared / (std::int64_t{ports} * priorities);
}

std::span<const ShareRange> usual_share_ranges() {
  return kRanges;
}
std::span<const BufferProfile> buffer_profiles() {
  return kProfiles;
}

Result<BufferProfile> find_buffer_profile(std::string_view name) {
  std::vector<std::string> names;
  for (const BufferProfile& profile : kProfiles) {
    if (profile.name == name) return profile;
    names.emplace_back(profile.name);
  }
  return invalid_error(fmt::format("unknown buffer profile '{}'{}; one of {}", name,
                                   did_you_mean(name, names), join(names, ", ")));
}

const VendorPool* find_vendor_pool(std::string_view asic) {
  const auto* found = std::find_if(kVendorPools.begin(), kVendorPools.end(),
                                   [&](const VendorPool& pool) { return pool.asic == asic; });
  return found == kVendorPools.end() ? nullptr : found;
}

Result<BufferPlan> plan_buffers(const BufferInput& in) {
  WEIR_TRY_STATUS(check(in));
  BufferPlan plan;
  add_pools(in, plan);
  add_headroom(in, plan);
  plan.reserved_used = in.reserved_per_group * in.ports * in.groups_per_port;
  plan.lossless_shared = plan.lossless_pool - plan.headroom;
  if (in.is_single_pool) {
    plan.lossless_shared -= plan.reserved_used;
  } else {
    plan.reserved_left = plan.reserved_pool - plan.reserved_used;
  }
  if (plan.lossless_shared > 0_B) {
    plan.xoff_one = dynamic_threshold(plan.lossless_shared, in.alpha, 1);
    plan.xoff_all = dynamic_threshold(plan.lossless_shared, in.alpha,
                                      std::int64_t{in.ports} * in.lossless_classes);
    plan.ecn_bound =
        ecn_bound_dynamic(plan.lossless_shared, in.alpha, in.ports, in.lossless_classes);
  }
  add_terms(in, plan);
  return plan;
}

}  // namespace weir::model

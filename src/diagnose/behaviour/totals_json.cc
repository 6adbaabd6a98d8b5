#include <array>
#include <string>

#include "base/json.h"
#include "diagnose/behaviour/totals.h"

namespace weir::diagnose {
namespace {

struct TotalsField {
  std::string_view key;
  std::optional<std::uint64_t> Totals::*count;
};
constexpr std::array kTotalsFields = {
    TotalsField{"pauses", &Totals::pauses},
    TotalsField{"marked", &Totals::marks},
    TotalsField{"cnps", &Totals::cnps},
    TotalsField{"sent_bytes", &Totals::sent_bytes},
    TotalsField{"lossless_drops", &Totals::dropped},
    TotalsField{"sequence_errors", &Totals::loss_signs},
    TotalsField{"out_of_sequence", &Totals::disordered},
    TotalsField{"timeouts", &Totals::timeouts},
    TotalsField{"watchdog", &Totals::watchdog},
};

constexpr double kPicosecondsPerMicrosecond = 1e6;

}  // namespace

Json to_json(const Totals& totals) {
  Json out = {{"window_us", nullptr}, {"pause_share", nullptr}};
  if (totals.window.raw() > 0)
    out["window_us"] = static_cast<double>(totals.window.raw()) / kPicosecondsPerMicrosecond;
  if (totals.pause_share) out["pause_share"] = *totals.pause_share;
  for (const TotalsField& field : kTotalsFields) {
    const auto& count = totals.*field.count;
    out[std::string(field.key)] = count ? Json(*count) : Json(nullptr);
  }
  return out;
}

Result<Totals> totals_from_json(const JsonCursor& at) {
  WEIR_TRY_STATUS(at.expect_object());
  Totals out;
  if (const auto window = at.find("window_us")) {
    WEIR_TRY(microseconds, window->number());
    constexpr double kLongest = 1e12;  // 11 days
    if (!(microseconds >= 0 && microseconds <= kLongest))
      return window->wrong("0 to 1e12 microseconds");
    out.window =
        Duration::raw(static_cast<std::int64_t>(microseconds * kPicosecondsPerMicrosecond));
  }
  if (const auto share = at.find("pause_share")) {
    WEIR_TRY(value, share->number());
    if (!(value >= 0)) return share->wrong("a share of the time");
    out.pause_share = value;
  }
  for (const TotalsField& field : kTotalsFields) {
    const auto found = at.find(field.key);
    if (!found) continue;
    WEIR_TRY(count, found->whole_number());
    out.*field.count = count;
  }
  return out;
}

}  // namespace weir::diagnose

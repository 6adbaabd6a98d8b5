#pragma once
// PFC headroom: the bytes that still arrive after XOFF was crossed. Whatever does not fit is lost.
//
// Three families, all under one call: the standard's sum (`ieee`, `tagger`), formulas that vendors
// publish (`spectrum…`, `mlx5-nic`), exact to the byte on their own published rows, and tables that
// vendors ship without a formula (`tomahawk…`, `trident4`, `jericho2`, …), kept as data. Every
// result shows its terms; they add up to the total.
//
// The length of the cable alone is *not* headroom: 2 x length x 5 ns x rate gives 1.5 KB at 3 m and
// 400G, a sixth of one jumbo frame. Two largest frames, the peer's response and cells come on top.
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "model/term.h"
#include "units/quantity.h"

namespace weir::model {

enum class HeadroomModel : std::uint8_t {
  kIeee,
  kTagger,
  kSpectrum1,
  kSpectrum2,
  kSpectrum3,
  kSpectrum3Legacy,
  kSpectrum4,
  kSpectrum5,
  kSpectrum6,
  kMlx5Nic,
  kSpectrum4Shared,
  kSpectrum6Sn6600,
  kTomahawk3,
  kTomahawk4,
  kTomahawk5,
  kTomahawk5Micas,
  kTomahawk5Arista,
  kTomahawk6,
  kTrident4,
  kJericho2,
  kNexus9000,
};

enum class HeadroomKind : std::uint8_t { kStandard, kVendorFormula, kVendorTable };

struct HeadroomModelInfo {
  HeadroomModel model;
  HeadroomKind kind;
  std::string_view name;   // "spectrum4": what a user types
  std::string_view title;  // what it models
  std::string_view source;
};

/// All models, the standard's first.
[[nodiscard]] std::span<const HeadroomModelInfo> headroom_models();
[[nodiscard]] const HeadroomModelInfo& info(HeadroomModel);
[[nodiscard]] Result<HeadroomModel> parse_headroom_model(std::string_view name);

/// What is at the other end of the cable. Only the `ieee` sum tells them apart, and this part of it
/// is our reading, unverified: the published sum counts one interface delay; the annex of 802.1Q
/// writes two. We count one towards a NIC (whose PHY sits on the card, inside the response the
/// standard bounds) and two towards a switch (retimers and gearboxes at both ends). The response
/// bound of 802.3 31B.3.7 holds for every conforming station and is the same for both.
enum class Peer : std::uint8_t { kNic, kSwitch };
[[nodiscard]] std::string_view to_text(Peer);  // "nic" "switch"

/// Light in fibre and signals in copper: 5 ns per metre, an upper bound for both (DAC 4.3-5).
inline constexpr Duration kCableDelayPerMetre = 5_ns;
constexpr Duration cable_delay(Length cable, Duration per_metre = kCableDelayPerMetre) {
  return Duration::raw(cable.raw() * per_metre.raw() / 1'000);
}

struct HeadroomInput {
  HeadroomModel model = HeadroomModel::kIeee;
  BitRate speed;
  Length cable;
  Duration delay_per_metre = kCableDelayPerMetre;  // ieee, tagger; vendors' formulas have their own
  Bytes mtu = 9216_B;                              // largest frame of the port, any class
  std::optional<Bytes>
      lossless_mtu;  // largest frame of the lossless class; the port's where not given
  /// Share of packets (not bytes) of 64 B, which waste most of a cell: spectrum… formulas only. 50
  /// is common practice; NVIDIA's own SN5600 rows assume 100.
  int small_percent = 50;
  Peer peer = Peer::kNic;
  bool shared_headroom = false;  // spectrum…: headroom from one pool, `size` is then xon alone
  bool eight_lanes = false;      // spectrum…: an 8-lane port has two pipelines
  std::optional<Duration> peer_response;  // ieee, tagger: instead of the standard's bound
  std::optional<Bytes> cell;              // tagger: cell of the buffer, 208 B where not given
};

struct Headroom {
  HeadroomModel model = HeadroomModel::kIeee;
  Bytes xoff;               // bytes to reserve above the XOFF point, per port and lossless priority
  std::vector<Term> terms;  // add up to xoff
  std::optional<Bytes> xon;  // where the formula gives them
  std::optional<Bytes> size;
  Bytes cable_only;  // 2 x length x delay x rate: the cable term alone, not headroom
  Bytes hard_floor;  // 2 x MTU + cable_only: below it, loss is certain at the first XOFF
  std::vector<std::string> notes;  // what was assumed, rounded or is not verified
};

/// Fails on inputs out of range, on a speed or length that the model does not know (a table's
/// length is rounded up to its next row, and a note says so), and on an input that the model has no
/// place for.
///
/// Grows with cable and speed. Grows with `mtu` at a fixed lossless_mtu; the spectrum… formulas may
/// *shrink* with lossless_mtu, since larger frames lower the small packets' share of the bytes.
[[nodiscard]] Result<Headroom> headroom(const HeadroomInput&);

/// One published row. Without a cable length the source gives none.
struct HeadroomRow {
  BitRate speed;
  std::optional<Length> cable;
  Bytes xoff;
};
/// The rows of a table model; empty for formulas.
[[nodiscard]] std::span<const HeadroomRow> headroom_rows(HeadroomModel);

/// A widely copied "headroom" table (2/20/65 KB at 3/30/100 m, 400G; twice that at 800G). It is the
/// cable term alone, times about 4/3.
[[nodiscard]] std::span<const HeadroomRow> cable_only_folklore();

/// The longest a conforming station may take to stop after a PFC frame, in quanta of 512 bit times
/// (IEEE 802.3 31B.3.7 as NVIDIA's headroom code tabulates it; 800G is copied from 400G there).
struct PauseResponse {
  int quanta = 0;
  bool is_published = true;  // false: no entry for this speed; see pause_response()
};
/// A speed between two entries takes the faster one's quanta; above 800G they grow with the speed.
/// REQUIRES: speed > 0.
[[nodiscard]] PauseResponse pause_response(BitRate speed);
[[nodiscard]] Duration pause_response_bound(BitRate speed);

}  // namespace weir::model

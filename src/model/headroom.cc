#include "model/headroom.h"

#include <algorithm>
#include <array>
#include <cmath>

#include <fmt/format.h>

#include "base/text.h"
#include "model/headroom_tables.h"
#include "model/roce_wire.h"
#include "units/format.h"

namespace weir::model {
namespace {

constexpr double kKib = 1024.0;
constexpr Length kLongestCable =
    Length::raw(100'000'000);  // 100 km: beyond it PFC is out of the question
constexpr Bytes kLargestMtu = 65'535_B;
constexpr Bytes kTaggerCell = 208_B;  // Trident 2 and Tomahawk, as in the paper

struct QuantaEntry {
  std::int64_t gbps;
  int quanta;
};
// IEEE 802.3 31B.3.7 as in NVIDIA's headroom code; its 800G entry is a copy of the 400G one.
constexpr std::array<QuantaEntry, 8> kQuanta = {
    {{10, 67}, {25, 80}, {40, 118}, {50, 147}, {100, 394}, {200, 453}, {400, 905}, {800, 905}}};

constexpr std::int64_t kGiga = 1'000'000'000;

double as_double(Bytes bytes) {
  return static_cast<double>(bytes.raw());
}
double gbps_of(BitRate rate) {
  return static_cast<double>(rate.raw()) / 1e9;
}

/// Bytes in flight both ways, rounded up.
Bytes cable_bytes(const HeadroomInput& in) {
  const Int128 bit_ps =
      Int128{2} * cable_delay(in.cable, in.delay_per_metre).raw() * in.speed.raw();
  const Int128 byte_ps = Int128{8} * kPicosecondsPerSecond;
  return Bytes::raw(static_cast<std::int64_t>((bit_ps + byte_ps - 1) / byte_ps));
}

std::string cable_reason(const HeadroomInput& in) {
  return fmt::format("{} both ways at {} per metre", to_text(in.cable),
                     to_text(in.delay_per_metre));
}

/// Frame sizes are read in bytes: "1500B", never "1.5KB".
std::string in_bytes(Bytes bytes) {
  return fmt::format("{}B", bytes.raw());
}

Bytes lossless_mtu_of(const HeadroomInput& in) {
  return in.lossless_mtu.value_or(in.mtu);
}

std::string response_note(BitRate speed) {
  return fmt::format(
      "802.3 31B.3.7 has no entry for {} here; the response is an estimate from its neighbours, "
      "unverified",
      to_text(speed));
}

/// Bytes that arrive while the peer responds: the user's time, or the standard's bound.
double response_bytes(const HeadroomInput& in, Headroom& out) {
  if (in.peer_response)
    return static_cast<double>(in.peer_response->raw()) * gbps_of(in.speed) / 8e3;
  const PauseResponse response = pause_response(in.speed);
  if (!response.is_published) out.notes.push_back(response_note(in.speed));
  return response.quanta * as_double(kPauseQuantum);
}

std::string response_reason(const HeadroomInput& in) {
  if (in.peer_response)
    return fmt::format("line rate for {}, as given", to_text(*in.peer_response));
  return fmt::format("{} quanta of 512 bit: the most 802.3 31B.3.7 allows",
                     pause_response(in.speed).quanta);
}

// ---- ieee ----

/// Upper bounds of MAC, PCS, FEC and PHY at one end, in bit times. The source stops at 100G; faster
/// ports take the 100G value, as its users do.
struct InterfaceDelay {
  int bit_times;
  bool is_published;
};
InterfaceDelay interface_delay(BitRate speed) {
  const std::int64_t gbps = speed.raw() / kGiga;
  if (gbps <= 10) return {8'192, gbps == 10};
  if (gbps <= 25) return {6'144, gbps == 25};
  if (gbps <= 40) return {24'576, gbps == 40};
  return {122'880, gbps == 100};
}

Headroom ieee(const HeadroomInput& in) {
  Headroom out;
  TermSum sum;
  const double frame_gap = as_double(kPreambleAndGap);
  const InterfaceDelay interface = interface_delay(in.speed);
  const int ends = in.peer == Peer::kSwitch ? 2 : 1;
  sum.add("frame in the way", as_double(in.mtu) + frame_gap,
          "the PFC frame waits for the largest frame just begun; 20 B preamble and gap");
  sum.add("PFC frame", as_double(wire_size(kPfcFrame)), "64 B, 20 B preamble and gap");
  sum.add("interface delay", ends * interface.bit_times / 8.0,
          fmt::format("MAC, FEC and PHY, {} bit times at {}", interface.bit_times,
                      ends == 1 ? "one end" : "each end"));
  sum.add("cable", as_double(cable_bytes(in)), cable_reason(in));
  sum.add("peer response", response_bytes(in, out), response_reason(in));
  sum.add("last frame", as_double(lossless_mtu_of(in)) + frame_gap,
          "the peer completes the lossless frame it has begun; 20 B preamble and gap");
  if (!interface.is_published) {
    out.notes.push_back(
        fmt::format("no published interface delay for {}: {} bit times is taken from the "
                    "nearest faster or fastest known port",
                    to_text(in.speed), interface.bit_times));
  }
  if (ends == 2) {
    out.notes.emplace_back(
        "a second interface delay is counted towards a switch; this reading of the "
        "802.1Q annex is unverified and on the safe side");
  }
  out.notes.emplace_back(
      "counts bytes, not cells: a buffer of cells needs more where frames are small");
  out.xoff = sum.total();
  out.terms = sum.take();
  return out;
}

// ---- tagger ----

/// cell * ceil(in flight / 64) + cell * ceil(lossless MTU / 64): every byte might come as 64-byte
/// frames.
Headroom tagger(const HeadroomInput& in) {
  Headroom out;
  TermSum sum;
  const Bytes cell = in.cell.value_or(kTaggerCell);
  sum.add("frame in the way", as_double(in.mtu + kPfcFrame),
          "the PFC frame waits for the largest frame just begun");
  sum.add("PFC frame", as_double(kPfcFrame), "64 B");
  sum.add("cable", as_double(cable_bytes(in)), cable_reason(in));
  sum.add("peer response", response_bytes(in, out), response_reason(in));
  const std::int64_t minimum = kMinFrame.raw();
  const auto in_cells = [&](Bytes bytes) { return cell * ((bytes.raw() + minimum - 1) / minimum); };
  const Bytes in_flight = in_cells(sum.total());
  sum.add("last frame", as_double(lossless_mtu_of(in)),
          "the peer completes the frame it has begun");
  sum.close(in_flight + in_cells(lossless_mtu_of(in)), "cells",
            fmt::format("each 64 B may fill a cell of {}", in_bytes(cell)));
  out.xoff = sum.total();
  out.terms = sum.take();
  return out;
}

// ---- spectrum ----

struct SpectrumGeneration {
  int cell;
  bool has_tile;        // a 120 ns tile crossing (Spectrum-4, -5)
  double extra_kib;     // added to xoff (Spectrum-6)
  double pipeline_kib;  // xon
  bool is_legacy;       // fixed response, worst-case factor not rounded
};

SpectrumGeneration generation_of(HeadroomModel model) {
  if (model == HeadroomModel::kSpectrum1) return {96, false, 0, 19, false};
  if (model == HeadroomModel::kSpectrum4 || model == HeadroomModel::kSpectrum5)
    return {192, true, 0, 19, false};
  if (model == HeadroomModel::kSpectrum6) return {256, false, 18, 42, false};
  return {144, false, 0, 19, model == HeadroomModel::kSpectrum3Legacy};
}

/// Cells that 64 B of the smallest packets take, in units of what they carry.
double worst_case_factor(const SpectrumGeneration& generation) {
  const double cell = generation.cell;
  if (generation.is_legacy) return cell / 64;
  return std::ceil(generation.cell > 128 ? cell / 64 : 2 * cell / (1 + cell));
}

double round_to_kib(double bytes) {
  return std::ceil(bytes / kKib) * kKib;
}
Bytes whole(double bytes) {
  return Bytes::raw(static_cast<std::int64_t>(bytes));
}

/// The formula's inputs in its own units. Doubles on purpose: the vendor's code is Lua, whose
/// numbers are doubles, and rounds only at the end.
struct SpectrumSum {
  SpectrumGeneration generation;
  double lossless;  // largest lossless frame
  double cable;
  double response;
  double tile;
  double propagation;  // all but the last frame
  double factor;       // worst-case factor of the cells
  double occupancy;    // mean factor at the given share of small packets
};

SpectrumSum spectrum_sum(const HeadroomInput& in) {
  SpectrumSum s{};
  s.generation = generation_of(in.model);
  s.lossless = as_double(lossless_mtu_of(in));
  const double speed_mbps = static_cast<double>(in.speed.raw()) / 1e6;
  s.cable = 2 * (static_cast<double>(in.cable.raw()) / 1e3) * speed_mbps * 1e9 / 198e6 / 8000;
  s.response = s.generation.is_legacy ? 3.8 * kKib
                                      : pause_response(in.speed).quanta * as_double(kPauseQuantum);
  s.tile = s.generation.has_tile ? speed_mbps / 1000 * 120 / 8 : 0;
  s.propagation = as_double(in.mtu) + s.cable + 0.8 * kKib + s.response + s.tile;
  s.factor = worst_case_factor(s.generation);
  const double mean_packet =
      (in.small_percent * 64.0 + (100.0 - in.small_percent) * s.lossless) / 100;
  const double small_by_byte = 100 * 64.0 / mean_packet;  // sic: 100, whatever small_percent is
  s.occupancy = (100 - small_by_byte + small_by_byte * s.factor) / 100;
  return s;
}

void add_spectrum_terms(const HeadroomInput& in, const SpectrumSum& s, TermSum& sum) {
  sum.add("last frame", s.lossless, "the peer completes the lossless frame it has begun");
  sum.add("frame in the way", as_double(in.mtu),
          "the PFC frame waits for the largest frame just begun");
  sum.add("cable", s.cable, fmt::format("{} both ways at 198,000 km/s", to_text(in.cable)));
  sum.add("MAC and PHY", 0.8 * kKib, "0.8 KiB, from the vendor's ASIC table");
  sum.add("peer response", s.response,
          s.generation.is_legacy ? "3.8 KiB, fixed: before 802.3 31B.3.7 was used"
                                 : response_reason(in));
  if (s.tile > 0) sum.add("tile", s.tile, "120 ns crossing between tiles");
  sum.add("cells", s.propagation * (s.occupancy - 1),
          fmt::format("{} % of packets of 64 B in cells of {} B: worst-case factor {}",
                      in.small_percent, s.generation.cell, s.factor));
}

Headroom spectrum(const HeadroomInput& in) {
  const SpectrumSum s = spectrum_sum(in);
  TermSum sum;
  add_spectrum_terms(in, s, sum);
  double xoff = round_to_kib(s.lossless + s.propagation * s.occupancy);
  sum.close(whole(xoff), "rounding", "up to a whole KiB");
  if (s.generation.extra_kib > 0) {
    xoff += s.generation.extra_kib * kKib;
    sum.close(whole(xoff), "Spectrum-6 margin", "18 KiB, in the vendor's formula");
  }
  const double worst = round_to_kib(s.lossless + s.propagation * s.factor);
  const bool may_add_margin =
      !s.generation.is_legacy && !in.shared_headroom && in.small_percent != 100;
  if (may_add_margin && xoff + 2048 < worst) {
    xoff += 2048;
    sum.close(whole(xoff), "margin",
              "2 KiB, in the vendor's formula without a shared headroom pool");
  }
  Headroom out;
  out.xoff = sum.total();
  out.terms = sum.take();
  const double xon = round_to_kib(s.generation.pipeline_kib * kKib) * (in.eight_lanes ? 2 : 1);
  const double second_pipeline = in.eight_lanes ? as_double(in.mtu) : 0;
  out.xon = whole(xon);
  out.size = in.shared_headroom ? out.xon : whole(round_to_kib(xoff + xon + second_pipeline));
  if (in.small_percent == 50) {
    out.notes.emplace_back(
        "50 % small packets assumed; NVIDIA's SN5600 rows assume 100 % (RoCE data "
        "packets are large, acknowledgements and requests are small)");
  }
  if (s.generation.is_legacy) {
    out.notes.emplace_back(
        "rows of this vintage predate the response bound of 802.3 31B.3.7 and are "
        "too small for a peer that uses it");
  }
  return out;
}

// ---- mlx5 ----

/// Integer arithmetic as the driver's: (301 + 216*L/100) * speed/1000 + 272*MTU/100, speed in Mb/s
/// >= 40G.
Headroom mlx5_nic(const HeadroomInput& in) {
  const std::int64_t metres = (in.cable.raw() + 999) / 1000;
  const std::int64_t mbps = std::max<std::int64_t>(in.speed.raw() / 1'000'000, 40'000);
  const std::int64_t cable_slope = 216 * metres / 100;
  Headroom out;
  const Bytes fixed = Bytes::raw(301 * mbps / 1000);
  out.xoff = Bytes::raw((301 + cable_slope) * mbps / 1000 + 272 * in.mtu.raw() / 100);
  const Bytes frames = Bytes::raw(272 * in.mtu.raw() / 100);
  out.terms = {{"pipeline and response", fixed,
                "301 B for each Gb/s (never below 40G): 2.4 us of line rate, a driver constant"},
               {"cable", out.xoff - fixed - frames,
                fmt::format("{} m at 2.16 B for each metre and Gb/s, a driver constant", metres)},
               {"frames", frames, "2.72 MTU"}};
  if (mbps > in.speed.raw() / 1'000'000)
    out.notes.emplace_back("the driver computes slower ports as 40G");
  if (in.cable.raw() % 1000 != 0)
    out.notes.push_back(fmt::format("the driver keeps whole metres: {} m", metres));
  out.notes.emplace_back(
      "the NIC's port buffer must hold this, one MTU (at least 9216 B) and one cell");
  return out;
}

// ---- tables ----

std::string speeds_of(std::span<const HeadroomRow> rows) {
  std::vector<std::string> names;
  for (const HeadroomRow& row : rows) {
    std::string name = to_text(row.speed);
    if (names.empty() || names.back() != name) names.push_back(std::move(name));
  }
  return join(names, ", ");
}

Result<Headroom> table(const HeadroomInput& in) {
  const HeadroomModelInfo& about = info(in.model);
  const std::span<const HeadroomRow> rows = tables::rows(in.model);
  const HeadroomRow* found = nullptr;  // rows of a speed are sorted by length
  const HeadroomRow* longest = nullptr;
  for (const HeadroomRow& row : rows) {
    if (row.speed != in.speed) continue;
    longest = &row;
    if (found == nullptr && (!row.cable || *row.cable >= in.cable)) found = &row;
  }
  if (longest == nullptr) {
    return invalid_error(fmt::format("headroom table {} has no row for {}; it has {}", about.name,
                                     to_text(in.speed), speeds_of(rows)));
  }
  if (found == nullptr) {
    return invalid_error(fmt::format(
        "headroom table {} ends at {} for {}, the cable is {}; use a formula (--model ieee) or "
        "the vendor's row for this cable",
        about.name, to_text(*longest->cable), to_text(in.speed), to_text(in.cable)));
  }
  Headroom out;
  out.xoff = found->xoff;
  const std::string row_name = found->cable ? to_text(*found->cable) : "default";
  out.terms = {{"table row", found->xoff,
                fmt::format("{} at {}, row {}", about.title, to_text(in.speed), row_name)}};
  if (!found->cable) {
    out.notes.emplace_back(
        "the source does not say for which cable this default holds; verify on the box");
  } else if (*found->cable != in.cable) {
    out.notes.push_back(
        fmt::format("no row for {}: rounded up to the {} row", to_text(in.cable), row_name));
  }
  out.notes.emplace_back("a vendor's table: its MTU and packet mix are the vendor's, not yours");
  return out;
}

// ---- inputs ----

bool is_spectrum_formula(HeadroomModel model) {
  return model >= HeadroomModel::kSpectrum1 && model <= HeadroomModel::kSpectrum6;
}

Status check_ranges(const HeadroomInput& in) {
  if (in.speed < 1_Gbps || in.speed > BitRate::raw(10'000 * kGiga)) {
    return invalid_error(
        fmt::format("expected a speed from 1G to 10T, found {}", to_text(in.speed)));
  }
  if (in.cable < Length() || in.cable > kLongestCable) {
    return invalid_error(fmt::format("expected a cable of 0m to {}, found {}",
                                     to_text(kLongestCable), to_text(in.cable)));
  }
  if (in.delay_per_metre < 1_ns || in.delay_per_metre > 20_ns) {
    return invalid_error(fmt::format("expected a cable delay of 1ns to 20ns per metre, found {}",
                                     to_text(in.delay_per_metre)));
  }
  const Bytes lossless = lossless_mtu_of(in);
  for (const Bytes mtu : {in.mtu, lossless}) {
    if (mtu < kMinFrame || mtu > kLargestMtu) {
      return invalid_error(fmt::format("expected an MTU from {} to {}, found {}",
                                       in_bytes(kMinFrame), in_bytes(kLargestMtu), in_bytes(mtu)));
    }
  }
  if (lossless > in.mtu) {
    return invalid_error(
        fmt::format("the lossless MTU {} exceeds the port's {}; a frame larger than "
                    "the port's MTU cannot arrive",
                    in_bytes(lossless), in_bytes(in.mtu)));
  }
  if (in.small_percent < 0 || in.small_percent > 100) {
    return invalid_error(
        fmt::format("expected small packets of 0 to 100 percent, found {}", in.small_percent));
  }
  if (in.peer_response && *in.peer_response < Duration())
    return invalid_error("expected a peer response of 0 or more");
  if (in.cell && *in.cell < 1_B) return invalid_error("expected a cell of 1B or more");
  return {};
}

/// An input that would be ignored is refused: the user would believe in its effect.
Status check_applies(const HeadroomInput& in) {
  const bool takes_response =
      in.model == HeadroomModel::kIeee || in.model == HeadroomModel::kTagger;
  if (in.peer_response && !takes_response) {
    return invalid_error(
        fmt::format("model {} has its own peer response; a response time applies to "
                    "ieee and tagger only",
                    info(in.model).name));
  }
  if (in.cell && in.model != HeadroomModel::kTagger) {
    return invalid_error(fmt::format("model {} has its own cell; a cell applies to tagger only",
                                     info(in.model).name));
  }
  const bool needs_entry =
      is_spectrum_formula(in.model) && in.model != HeadroomModel::kSpectrum3Legacy;
  if (needs_entry && !pause_response(in.speed).is_published) {
    return invalid_error(
        fmt::format("model {} has no response entry for {}; it has 10G, 25G, 40G, 50G, "
                    "100G, 200G, 400G, 800G",
                    info(in.model).name, to_text(in.speed)));
  }
  return {};
}

Result<Headroom> compute(const HeadroomInput& in) {
  if (in.model == HeadroomModel::kIeee) return ieee(in);
  if (in.model == HeadroomModel::kTagger) return tagger(in);
  if (in.model == HeadroomModel::kMlx5Nic) return mlx5_nic(in);
  if (is_spectrum_formula(in.model)) return spectrum(in);
  return table(in);
}

}  // namespace

std::span<const HeadroomModelInfo> headroom_models() {
  return tables::models();
}
std::span<const HeadroomRow> headroom_rows(HeadroomModel model) {
  return tables::rows(model);
}
std::span<const HeadroomRow> cable_only_folklore() {
  return tables::folklore();
}

const HeadroomModelInfo& info(HeadroomModel model) {
  for (const HeadroomModelInfo& entry : headroom_models())
    if (entry.model == model) return entry;
  WEIR_UNREACHABLE("every headroom model is in the table");
}

Result<HeadroomModel> parse_headroom_model(std::string_view name) {
  std::vector<std::string> names;
  for (const HeadroomModelInfo& entry : headroom_models()) {
    if (entry.name == name) return entry.model;
    names.emplace_back(entry.name);
  }
  return invalid_error(fmt::format("unknown headroom model '{}'{}; one of {}", name,
                                   did_you_mean(name, names), join(names, ", ")));
}

std::string_view to_text(Peer peer) {
  return peer == Peer::kNic ? "nic" : "switch";
}

PauseResponse pause_response(BitRate speed) {
  WEIR_CHECK(speed.raw() > 0);
  for (const QuantaEntry& entry : kQuanta) {
    const BitRate known = BitRate::raw(entry.gbps * kGiga);
    if (speed <= known) return {entry.quanta, speed == known};
  }
  const Int128 scaled = Int128{kQuanta.back().quanta} * speed.raw();
  const Int128 fastest = Int128{kQuanta.back().gbps} * kGiga;
  return {static_cast<int>((scaled + fastest - 1) / fastest), false};
}

Duration pause_response_bound(BitRate speed) {
  return serialization_time(kPauseQuantum * pause_response(speed).quanta, speed);
}

Result<Headroom> headroom(const HeadroomInput& in) {
  WEIR_TRY_STATUS(check_ranges(in));
  WEIR_TRY_STATUS(check_applies(in));
  WEIR_TRY(result, compute(in));
  result.model = in.model;
  result.cable_only = cable_bytes(in);
  if (in.peer == Peer::kSwitch && in.model != HeadroomModel::kIeee)
    result.notes.emplace_back("this model does not tell a switch from a NIC at the other end");
  result.hard_floor = 2 * in.mtu + result.cable_only;
  return result;
}

}  // namespace weir::model

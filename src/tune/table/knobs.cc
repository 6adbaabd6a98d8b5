#include "tune/table/knobs.h"

#include <algorithm>
#include <array>
#include <cmath>

#include <fmt/format.h>

#include "base/check.h"
#include "design/tables/nic_knobs.h"
#include "units/format.h"

namespace weir::tune {
namespace {

// Ranges: what published tunings used (Barre T 20-100 us, the DCQCN paper T 55 us and CNPs every
// 50 us, HPCC's 300 us; thresholds up to eight times the reference either way), kept within the
// registers. Peer keys: third.cc of the HPCC simulator.
constexpr std::array kTable = {
    Knob{.id = "dcqcn.rpg_time_reset",
         .low = 25,
         .high = 1200,
         .points = 9,
         .peer_key = "RP_TIMER",
         .meaning = "timer of rate increases (T)",
         .price = "shorter: senders recover sooner and incasts pause more"},
    Knob{.id = "dcqcn.min_time_between_cnps",
         .low = 1,
         .high = 50,
         .points = 7,
         .peer_key = {},
         .meaning = "shortest time between two CNPs of a receiver",
         .price = "longer: fewer cuts, and long incasts are held by PFC instead of DCQCN"},
    Knob{.id = "dcqcn.rpg_min_dec_fac",
         .low = 25,
         .high = 95,
         .points = 6,
         .peer_key = {},
         .meaning = "what a cut leaves of the rate at least",
         .price = "higher: cuts are shallower and incasts pause more"},
    Knob{.id = "dcqcn.rate_reduce_monitor_period",
         .low = 1,
         .high = 64,
         .points = 7,
         .peer_key = "RATE_DECREASE_INTERVAL",
         .meaning = "shortest time between two cuts",
         .price = "longer: senders slow down later"},
    Knob{.id = "dcqcn.dce_tcp_rtt",
         .low = 1,
         .high = 100,
         .points = 7,
         .peer_key = "ALPHA_RESUME_INTERVAL",
         .meaning = "how often alpha is updated",
         .price = "longer: alpha stays high, cuts are deeper and throughput is lower"},
    Knob{.id = "dcqcn.dce_tcp_g",
         .range = KnobRange::kMemory,
         .low = 1,
         .high = 128,
         .points = 8,
         .peer_key = "EWMA_GAIN",
         .meaning = "memory of alpha, in 1/1024",
         .price = "shorter memory: cuts differ more from one to the next"},
    Knob{.id = "dcqcn.rpg_byte_reset",
         .low = 512,
         .high = 32767,
         .points = 5,
         .peer_key = {},
         .meaning = "byte counter of rate increases (B)",
         .price = "smaller: fast flows recover sooner than slow ones"},
    Knob{.id = "dcqcn.rpg_ai_rate",
         .low = 1,
         .high = 200,
         .points = 7,
         .peer_key = "RATE_AI",
         .meaning = "additive increase (R_AI)",
         .price = "larger: the standing queue grows with its cube root"},
    Knob{.id = "dcqcn.rpg_hai_rate",
         .low = 10,
         .high = 1000,
         .points = 7,
         .peer_key = "RATE_HAI",
         .meaning = "hyper increase (R_HAI)",
         .price = "larger: overshoot after a long quiet time"},
    Knob{.id = "dcqcn.rpg_threshold",
         .range = KnobRange::kEveryValue,
         .low = 1,
         .high = 5,
         .points = 5,
         .peer_key = "FAST_RECOVERY_TIMES",
         .meaning = "fast-recovery steps before additive increase (F)",
         .price = "more: additive increase begins later"},
    Knob{.id = "dcqcn.rate_to_set_on_first_cnp",
         .range = KnobRange::kOfLine,
         .low = 10,
         .high = 80,
         .points = 4,
         .peer_key = {},
         .meaning = "rate of a flow after its first CNP; 0 leaves it to alpha",
         .price = "an absolute rate: another NIC speed needs another value"},
    Knob{.id = "dcqcn.clamp_tgt_rate",
         .range = KnobRange::kEveryValue,
         .low = 0,
         .high = 1,
         .points = 2,
         .peer_key = "CLAMP_TARGET_RATE",
         .meaning = "every cut lowers the target rate too",
         .price = "on: slower recovery, less overshoot"},
    Knob{.id = "wred.min",
         .place = KnobPlace::kSwitch,
         .unit = KnobUnit::kBytes,
         .range = KnobRange::kOfStart,
         .low = 25,
         .high = 800,
         .points = 6,
         .peer_key = "KMIN_MAP",
         .meaning = "queue at which marking begins (Kmin)",
         .price = "higher: longer queues; lower: throughput, where flows are few"},
    Knob{.id = "wred.max",
         .place = KnobPlace::kSwitch,
         .unit = KnobUnit::kBytes,
         .range = KnobRange::kOfStart,
         .low = 25,
         .high = 800,
         .points = 6,
         .peer_key = "KMAX_MAP",
         .meaning = "queue from which every packet is marked (Kmax)",
         .price = "higher: longer queues and more PFC; every port of the profile changes at once"},
    Knob{.id = "wred.probability",
         .place = KnobPlace::kSwitch,
         .unit = KnobUnit::kShare,
         .low = 10'000,
         .high = 1'000'000,
         .points = 7,
         .peer_key = "PMAX_MAP",
         .meaning = "share marked just below Kmax (Pmax)",
         .price = "lower: longer queues; its sign depends on the load"},
    Knob{.id = "buffers.alpha",
         .place = KnobPlace::kSwitch,
         .unit = KnobUnit::kAlpha,
         .range = KnobRange::kEveryValue,
         .low = -4,
         .high = 2,
         .points = 7,
         .peer_key = {},
         .meaning = "share of the free buffer at which a group pauses its peer",
         .price = "needs a maintenance window: some systems stop every port while buffers change"},
    Knob{.id = "buffers.xon_offset",
         .place = KnobPlace::kSwitch,
         .unit = KnobUnit::kBytes,
         .range = KnobRange::kOfStart,
         .low = 50,
         .high = 800,
         .points = 5,
         .peer_key = {},
         .meaning = "how far below XOFF a paused peer may resume",
         .price = "needs a maintenance window: some systems stop every port while buffers change"},
};

constexpr std::string_view kDcqcnPrefix = "dcqcn.";
constexpr std::int64_t kFullMemory = 1024;  // dce_tcp_g and alpha count 1024ths
constexpr std::int64_t kPerMegabit = (1_Mbps).raw();

std::string_view register_name(const Knob& knob) {
  WEIR_CHECK(knob.id.starts_with(kDcqcnPrefix));
  return knob.id.substr(kDcqcnPrefix.size());
}

const design::NicKnob& register_of(const Knob& knob) {
  const design::NicKnob* const found = design::find_knob(register_name(knob));
  WEIR_CHECK(found != nullptr);
  return *found;
}

/// Two significant digits: a value that a person would choose.
std::int64_t rounded(double value) {
  if (value < 1) return 0;
  const double magnitude = std::pow(10, std::floor(std::log10(value)) - 1);
  if (magnitude < 1) return std::llround(value);
  return std::llround(std::round(value / magnitude) * magnitude);
}

BitRate slowest_nic(const design::Intent& intent) {
  BitRate slowest = BitRate::max();
  for (const design::HostIntent& host : intent.hosts)
    for (const design::NicIntent& nic : host.nics)
      slowest = std::min(slowest, nic.speed);
  return slowest;
}

/// The grid's values are these numbers, scaled.
struct Scale {
  double low;
  double high;
  double unit = 1;
};

Scale scale_of(const Knob& knob, std::int64_t start, const design::Intent& intent) {
  const auto low = static_cast<double>(knob.low);
  const auto high = static_cast<double>(knob.high);
  if (knob.range == KnobRange::kOfStart) return {low, high, static_cast<double>(start) / 100};
  if (knob.range == KnobRange::kOfLine)
    return {low, high, static_cast<double>(slowest_nic(intent).raw() / kPerMegabit) / 100};
  return {low, high};
}

bool has_own_wred(const design::Wred& wred, std::string_view id) {
  return id == "wred.min"           ? wred.min.is_written()
         : id == "wred.max"         ? wred.max.is_written()
         : id == "wred.probability" ? wred.probability.is_written()
                                    : false;
}

}  // namespace

std::span<const Knob> knobs() {
  return kTable;
}

const Knob* find_knob(std::string_view id) {
  const auto found =
      std::find_if(kTable.begin(), kTable.end(), [&](const Knob& knob) { return knob.id == id; });
  return found == kTable.end() ? nullptr : &*found;
}

std::int64_t start_value(const Knob& knob, const design::Design& design,
                         const design::Intent& intent) {
  if (knob.unit == KnobUnit::kRegister) return intent.dcqcn.find(register_name(knob))->second;
  if (knob.id == "wred.min") return design.wred.min->raw();
  if (knob.id == "wred.max") return design.wred.max->raw();
  if (knob.id == "wred.probability") return design.wred.probability->raw();
  if (knob.id == "buffers.alpha") return design.buffers.alpha->log2();
  if (knob.id == "buffers.xon_offset") return design.buffers.xon_offset->raw();
  WEIR_UNREACHABLE("every knob has a place in the design");
}

std::vector<std::int64_t> grid_of(const Knob& knob, std::int64_t start,
                                  const design::Intent& intent) {
  std::vector<std::int64_t> values = {start};
  if (knob.range == KnobRange::kEveryValue) {
    for (std::int64_t value = knob.low; value <= knob.high; ++value)
      values.push_back(value);
  } else {
    const Scale scale = scale_of(knob, start, intent);
    const double step = std::log(scale.high / scale.low) / (knob.points - 1);
    for (int i = 0; i < knob.points; ++i) {
      const std::int64_t value = rounded(scale.low * std::exp(step * i) * scale.unit);
      values.push_back(knob.range == KnobRange::kMemory ? kFullMemory - value : value);
    }
    if (knob.range == KnobRange::kOfLine) values.push_back(0);
  }
  if (knob.unit == KnobUnit::kRegister) {
    const design::NicKnob& limits = register_of(knob);
    for (std::int64_t& value : values)
      value = std::clamp(value, limits.min, limits.max);
  }
  std::sort(values.begin(), values.end());
  values.erase(std::unique(values.begin(), values.end()), values.end());
  return values;
}

std::string value_text(const Knob& knob, std::int64_t value) {
  switch (knob.unit) {
    case KnobUnit::kRegister: return design::knob_text(register_of(knob), value);
    case KnobUnit::kBytes: return to_text(Bytes::raw(value));
    case KnobUnit::kShare: return to_text(Share::raw(value));
    case KnobUnit::kAlpha: return to_text(Alpha::from_log2(static_cast<int>(value)));
  }
  WEIR_UNREACHABLE("every unit has a text");
}

double position(const Knob& knob, std::int64_t value) {
  if (knob.range == KnobRange::kEveryValue) return static_cast<double>(value);
  const std::int64_t counted = knob.range == KnobRange::kMemory ? kFullMemory - value : value;
  // Zero (off) is one step below the smallest value that is on.
  return std::log2(std::max(static_cast<double>(counted), 0.5));
}

std::optional<std::string> why_fixed(const Knob& knob, const design::Design& design,
                                     const design::Intent& intent) {
  if (knob.unit == KnobUnit::kRegister) {
    for (const design::HostIntent& host : intent.hosts)
      if (!host.nic_model->has_dcqcn_knobs)
        return fmt::format("{} ({}) has no such parameter", host.name, host.nic_model->title);
    if (!*design.dcqcn.reaction_point) return "dcqcn.reaction_point is off";
    return std::nullopt;
  }
  if (knob.id.starts_with("wred.")) {
    if (!*design.wred.ecn) return "wred.ecn is off";
    for (const auto& group : design.switches)
      if (has_own_wred(group.value.wred, knob.id))
        return fmt::format("switches.{}.{} has a value of its own", group.name, knob.id);
  }
  if (knob.id == "buffers.alpha" && *design.buffers.threshold == design::Threshold::kStatic)
    return "buffers.threshold is static";
  return std::nullopt;
}

bool matches(std::string_view glob, std::string_view id) {
  std::size_t at = 0;
  std::size_t place = 0;
  std::size_t star = std::string_view::npos;  // the last one seen, and what it stands for so far
  std::size_t taken = 0;
  while (place < id.size()) {
    if (at < glob.size() && glob[at] == '*') {
      star = at++;
      taken = place;
    } else if (at < glob.size() && glob[at] == id[place]) {
      ++at;
      ++place;
    } else if (star != std::string_view::npos) {
      at = star + 1;
      place = ++taken;
    } else {
      return false;
    }
  }
  while (at < glob.size() && glob[at] == '*')
    ++at;
  return at == glob.size();
}

}  // namespace weir::tune

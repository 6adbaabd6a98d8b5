#include "design/tables/nic_knobs.h"

#include <algorithm>
#include <array>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "base/check.h"
#include "base/table.h"
#include "base/text.h"
#include "units/format.h"
#include "units/qos_code.h"

namespace weir::design {
namespace {

// Widths of the registers: mstflint, tools_layouts (nvconfig ROCE_CC_ECN). Where a width admits a
// value that has no meaning (a period of 0) the range leaves it out. Defaults: firmware dumps of
// ConnectX-5 to -7; firmware differs, so a host is read, never assumed.
constexpr std::int64_t kBits5 = (1 << 5) - 1;
constexpr std::int64_t kBits10 = (1 << 10) - 1;
constexpr std::int64_t kBits15 = (1 << 15) - 1;
constexpr std::int64_t kBits17 = (1 << 17) - 1;
constexpr std::int64_t kBits31 = (std::int64_t{1} << 31) - 1;

constexpr std::array kKnobs = {
    NicKnob{.name = "clamp_tgt_rate_after_time_inc",
            .debugfs = "rp_clamp_tgt_rate_ati",
            .mlxconfig = "CLAMP_TGT_RATE_AFTER_TIME_INC_P1",
            .unit = KnobUnit::kFlag,
            .max = 1,
            .fallback = 1,
            .meaning = "On a cut, lower the target rate to the current rate also when the rate was "
                       "last raised by the timer, and not by the byte counter."},
    NicKnob{.name = "clamp_tgt_rate",
            .debugfs = "rp_clamp_tgt_rate",
            .mlxconfig = "CLAMP_TGT_RATE_P1",
            .unit = KnobUnit::kFlag,
            .max = 1,
            .fallback = 0,
            .meaning = "On every cut, lower the target rate to the current rate, so that recovery "
                       "climbs back to the rate before this cut and no further.",
            .trap =
                "Off, a second cut in a row keeps the old, higher target: recovery is faster and "
                "overshoots more. Long links (tens of kilometres) want it on."},
    NicKnob{.name = "rpg_time_reset",
            .debugfs = "rp_time_reset",
            .mlxconfig = "RPG_TIME_RESET_P1",
            .unit = KnobUnit::kMicroseconds,
            .min = 1,
            .max = kBits17,
            .fallback = 300,
            .meaning = "The timer of rate increases: one increase each time it runs out without a "
                       "cut (T of the DCQCN paper).",
            .trap =
                "Shorter than the loop's round trip, a flow speeds up before it can hear that it "
                "was too fast: the queue runs away."},
    NicKnob{.name = "rpg_byte_reset",
            .debugfs = "rp_byte_reset",
            .mlxconfig = "RPG_BYTE_RESET_P1",
            .unit = KnobUnit::kBlocksOf64Bytes,
            .max = kBits15,
            .fallback = kBits15,
            .meaning = "The byte counter of rate increases: one increase each time this much was "
                       "sent without a cut (B of the DCQCN paper); 0B turns it off.",
            .trap = "The register is written without a unit. The vendor's text says bytes; two "
                    "independent models of the NIC read 64-byte blocks, which we follow "
                    "(unverified). So 32767 is 2.1 MB, not 32 KB.",
            .source = "mstflint tools_layouts (15 bits); Google isekai and a traffic generator's "
                      "NIC profile (64-byte blocks); mlxconfig dumps"},
    NicKnob{.name = "rpg_threshold",
            .debugfs = "rp_threshold",
            .mlxconfig = "RPG_THRESHOLD_P1",
            .unit = KnobUnit::kNumber,
            .min = 1,
            .max = kBits5,
            .fallback = 1,
            .meaning = "Increases, of timer or byte counter, before fast recovery turns into "
                       "additive increase; past it on both, into hyper increase (F of the paper).",
            .trap = "The paper and most articles say 5 cycles; a ConnectX ships with 1."},
    NicKnob{.name = "rpg_max_rate",
            .debugfs = "rp_max_rate",
            .mlxconfig = "RPG_MAX_RATE_P1",
            .unit = KnobUnit::kMegabits,
            .max = kBits31,
            .fallback = 0,
            .meaning = "The highest rate of a limited flow; 0Mbps means the line rate. A flow "
                       "that reaches it is no longer limited."},
    NicKnob{.name = "rpg_ai_rate",
            .debugfs = "rp_ai_rate",
            .mlxconfig = "RPG_AI_RATE_P1",
            .unit = KnobUnit::kMegabits,
            .min = 1,
            .max = kBits17,
            .fallback = 5,
            .meaning = "What one additive increase adds to the target rate (R_AI of the paper).",
            .trap = "Too small for the line, a flow needs seconds to find freed bandwidth; too "
                    "large, the standing queue grows (with its cube root). The paper's 40 Mb/s was "
                    "for 40G."},
    NicKnob{.name = "rpg_hai_rate",
            .debugfs = "rp_hai_rate",
            .mlxconfig = "RPG_HAI_RATE_P1",
            .unit = KnobUnit::kMegabits,
            .min = 1,
            .max = kBits17,
            .fallback = 50,
            .meaning =
                "What one hyper increase adds to the target rate, once timer and byte counter "
                "both passed rpg_threshold (R_HAI of the paper)."},
    NicKnob{
        .name = "rpg_gd",
        .debugfs = "rp_gd",
        .mlxconfig = "RPG_GD_P1",
        .unit = KnobUnit::kNumber,
        .min = 10,
        .max = 11,
        .fallback = 11,
        .meaning = "How deep a cut is: rate x alpha / 2^(rpg_gd - 10). 11 cuts by alpha/2 as the "
                   "paper does, 10 by alpha.",
        .trap = "A logarithm, not a factor. The register has 4 bits, but the vendor documents 10 "
                "and 11 only; older texts name a default of 7."},
    NicKnob{.name = "rpg_min_dec_fac",
            .debugfs = "rp_min_dec_fac",
            .mlxconfig = "RPG_MIN_DEC_FAC_P1",
            .unit = KnobUnit::kPercent,
            .min = 1,
            .max = 100,
            .fallback = 50,
            .meaning =
                "What one cut leaves of the rate at least: 50% never more than halves it, 100% "
                "never cuts.",
            .trap = "It reads like the size of the cut; it is the floor under it. Raising it makes "
                    "DCQCN gentler."},
    NicKnob{.name = "rpg_min_rate",
            .debugfs = "rp_min_rate",
            .mlxconfig = "RPG_MIN_RATE_P1",
            .unit = KnobUnit::kMegabits,
            .min = 1,
            .max = kBits17,
            .fallback = 1,
            .meaning = "The lowest rate DCQCN cuts a flow to.",
            .trap = "Flows x this rate above the line rate of the receiver never drains: PFC then "
                    "does all the work."},
    NicKnob{.name = "rate_to_set_on_first_cnp",
            .debugfs = "rp_rate_to_set_on_first_cnp",
            .mlxconfig = "RATE_TO_SET_ON_FIRST_CNP_P1",
            .unit = KnobUnit::kMegabits,
            .max = kBits17,
            .fallback = 0,
            .meaning =
                "The rate a flow falls to at its first CNP, whatever it had; 0Mbps leaves that "
                "to alpha.",
            .trap = "An absolute rate: a value fit for 100G starves a 400G flow."},
    NicKnob{
        .name = "dce_tcp_g",
        .debugfs = "rp_dce_tcp_g",
        .mlxconfig = "DCE_TCP_G_P1",
        .unit = KnobUnit::kNumber,
        .max = kBits10,
        .fallback = 1019,
        .meaning = "Memory of alpha, in 1/1024: each dce_tcp_rtt, alpha becomes dce_tcp_g/1024 of "
                   "itself, plus the rest to 1 if a CNP came.",
        .trap = "The weight of the old alpha, so the paper's g is (1024 - dce_tcp_g)/1024: 1019 "
                "is g = 1/205. A firmware tool's text has it the other way round, with 64."},
    NicKnob{.name = "dce_tcp_rtt",
            .debugfs = "rp_dce_tcp_rtt",
            .mlxconfig = "DCE_TCP_RTT_P1",
            .unit = KnobUnit::kMicroseconds,
            .min = 1,
            .max = kBits17,
            .fallback = 1,
            .meaning = "How often alpha is updated.",
            .trap =
                "Articles call it the alpha update period and say 100 to 200 us; a ConnectX ships "
                "with 1 us, and at 100 us alpha hardly ever falls. Keep it at or below "
                "rate_reduce_monitor_period."},
    NicKnob{
        .name = "rate_reduce_monitor_period",
        .debugfs = "rp_rate_reduce_monitor_period",
        .mlxconfig = "RATE_REDUCE_MONITOR_PERIOD_P1",
        .unit = KnobUnit::kMicroseconds,
        .min = 1,
        .max = kBits17,
        .fallback = 4,
        .meaning = "The shortest time between two cuts of one flow; CNPs within it count once."},
    NicKnob{.name = "initial_alpha_value",
            .debugfs = "rp_initial_alpha_value",
            .mlxconfig = "INITIAL_ALPHA_VALUE_P1",
            .unit = KnobUnit::kNumber,
            .max = kBits10,
            .fallback = 1023,
            .meaning = "Alpha of a flow at its first CNP, in 1/1024.",
            .trap = "Acts once a flow: 1023 makes the first cut as deep as rpg_gd and "
                    "rpg_min_dec_fac allow."},
    NicKnob{.name = "min_time_between_cnps",
            .debugfs = "np_min_time_between_cnps",
            .mlxconfig = "MIN_TIME_BETWEEN_CNPS_P1",
            .is_notification_point = true,
            .unit = KnobUnit::kMicroseconds,
            .max = kBits17,
            .fallback = 4,
            .meaning = "The shortest time between two CNPs that the receiver sends.",
            .trap = "The paper's value is 50 us. Firmware differs: 4, 2 and 0 us are all shipped."},
    NicKnob{.name = "cnp_802p_prio",
            .debugfs = "np_cnp_prio",
            .mlxconfig = "CNP_802P_PRIO_P1",
            .is_notification_point = true,
            .unit = KnobUnit::kPriority,
            .max = 7,
            .fallback = 6,
            .meaning = "Priority (and PCP, where tagged) of the CNPs this NIC sends.",
            .trap =
                "Follows the design's class `cnp`; a value of its own here splits the two. Writing "
                "np_cnp_prio in debugfs also clears np_cnp_prio_mode."},
    NicKnob{.name = "cnp_dscp",
            .debugfs = "np_cnp_dscp",
            .mlxconfig = "CNP_DSCP_P1",
            .is_notification_point = true,
            .unit = KnobUnit::kDscp,
            .max = 63,
            .fallback = 48,
            .meaning = "DSCP of the CNPs this NIC sends.",
            .trap = "Follows the design's class `cnp`. A DSCP, not a TOS byte; one vendor preset "
                    "uses 4, which a switch that expects 48 does not send to its CNP queue."},
};

constexpr std::string_view kSwitchOnly =
    "no NIC has it: marking begins and ends on the switch; write wred.min, wred.max and "
    "wred.probability";

constexpr std::array kPhantoms = {
    PhantomKnob{"kmin", "", kSwitchOnly},
    PhantomKnob{"kmax", "", kSwitchOnly},
    PhantomKnob{"pmax", "", kSwitchOnly},
    PhantomKnob{"kmin_kmax", "", kSwitchOnly},
    PhantomKnob{"min_th", "", kSwitchOnly},
    PhantomKnob{"max_th", "", kSwitchOnly},
    PhantomKnob{"max_p", "", kSwitchOnly},
    PhantomKnob{"ecn_threshold", "", kSwitchOnly},
    PhantomKnob{"ecn_min_threshold", "", kSwitchOnly},
    PhantomKnob{"ecn_max_threshold", "", kSwitchOnly},
    PhantomKnob{"wred_min", "", kSwitchOnly},
    PhantomKnob{"wred_max", "", kSwitchOnly},
    PhantomKnob{"alpha_update_period", "dce_tcp_rtt",
                "the NIC calls it dce_tcp_rtt (1us as shipped, not 100us to 200us)"},
    PhantomKnob{"alpha_update_interval", "dce_tcp_rtt",
                "the NIC calls it dce_tcp_rtt (1us as shipped, not 100us to 200us)"},
    PhantomKnob{"alpha_period", "dce_tcp_rtt",
                "the NIC calls it dce_tcp_rtt (1us as shipped, not 100us to 200us)"},
    PhantomKnob{"alpha_resume_interval", "dce_tcp_rtt",
                "a simulator's word; the NIC calls it dce_tcp_rtt"},
    PhantomKnob{"g", "dce_tcp_g",
                "the NIC has dce_tcp_g, the weight of the old alpha: 1024 x (1 - g)"},
    PhantomKnob{"alpha_g", "dce_tcp_g",
                "the NIC has dce_tcp_g, the weight of the old alpha: 1024 x (1 - g)"},
    PhantomKnob{"ewma_gain", "dce_tcp_g",
                "a simulator's word; the NIC has dce_tcp_g, the weight of the old alpha: "
                "1024 x (1 - gain)"},
    PhantomKnob{"rate_ai", "rpg_ai_rate", "the NIC calls it rpg_ai_rate"},
    PhantomKnob{"r_ai", "rpg_ai_rate", "the NIC calls it rpg_ai_rate"},
    PhantomKnob{"rate_hai", "rpg_hai_rate", "the NIC calls it rpg_hai_rate"},
    PhantomKnob{"r_hai", "rpg_hai_rate", "the NIC calls it rpg_hai_rate"},
    PhantomKnob{"fast_recovery_threshold", "rpg_threshold",
                "the NIC calls it rpg_threshold (1 as shipped, not 5)"},
    PhantomKnob{"fast_recovery_times", "rpg_threshold",
                "a simulator's word; the NIC calls it rpg_threshold"},
    PhantomKnob{"fast_recovery", "rpg_threshold",
                "the NIC calls it rpg_threshold (1 as shipped, not 5)"},
    PhantomKnob{"rp_timer", "rpg_time_reset",
                "a simulator's word; the NIC calls it rpg_time_reset"},
    PhantomKnob{"rate_increase_timer", "rpg_time_reset", "the NIC calls it rpg_time_reset"},
    PhantomKnob{"byte_counter", "rpg_byte_reset", "the NIC calls it rpg_byte_reset"},
    PhantomKnob{"rate_decrease_interval", "rate_reduce_monitor_period",
                "a simulator's word; the NIC calls it rate_reduce_monitor_period"},
    PhantomKnob{"clamp_target_rate", "clamp_tgt_rate",
                "a simulator's word; the NIC calls it clamp_tgt_rate"},
    PhantomKnob{"min_rate", "rpg_min_rate", "the NIC calls it rpg_min_rate"},
    PhantomKnob{"cnp_interval", "min_time_between_cnps", "the NIC calls it min_time_between_cnps"},
};

constexpr std::int64_t kBlock = 64;
constexpr std::int64_t kSharePerPercent = (1_percent).raw();
constexpr std::int64_t kRatePerMegabit = (1_Mbps).raw();
constexpr std::int64_t kPicosecondsPerMicrosecond = (1_us).raw();

// ---- names ----

std::string lower(std::string_view text) {
  std::string out(text);
  for (char& c : out)
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  return out;
}

/// Without the port that a firmware setting ends in.
std::string_view without_port(std::string_view name) {
  if (name.ends_with("_p1") || name.ends_with("_p2")) name.remove_suffix(3);
  return name;
}

// ---- units ----

std::string_view kind(KnobUnit unit) {
  switch (unit) {
    case KnobUnit::kFlag: return "true or false";
    case KnobUnit::kNumber: return "a number";
    case KnobUnit::kMicroseconds: return "a time";
    case KnobUnit::kMegabits: return "a rate";
    case KnobUnit::kPercent: return "a share";
    case KnobUnit::kBlocksOf64Bytes: return "a size";
    case KnobUnit::kDscp: return "a DSCP";
    case KnobUnit::kPriority: return "a priority";
  }
  WEIR_UNREACHABLE("every unit has a word");
}

/// What the register counts, for those who read it on a host.
std::string_view register_step(KnobUnit unit) {
  switch (unit) {
    case KnobUnit::kFlag: return "0 or 1";
    case KnobUnit::kNumber:
    case KnobUnit::kDscp:
    case KnobUnit::kPriority: return "a plain number";
    case KnobUnit::kMicroseconds: return "microseconds";
    case KnobUnit::kMegabits: return "Mb/s";
    case KnobUnit::kPercent: return "percent";
    case KnobUnit::kBlocksOf64Bytes: return "blocks of 64 bytes";
  }
  WEIR_UNREACHABLE("every unit is listed");
}

/// The text of a register value, in or out of range.
std::string value_text(KnobUnit unit, std::int64_t registers) {
  switch (unit) {
    case KnobUnit::kFlag: return registers != 0 ? "true" : "false";
    case KnobUnit::kNumber:
    case KnobUnit::kDscp:
    case KnobUnit::kPriority: return std::to_string(registers);
    case KnobUnit::kMicroseconds: return fmt::format("{}us", registers);
    case KnobUnit::kMegabits: return fmt::format("{}Mbps", registers);
    case KnobUnit::kPercent: return fmt::format("{}%", registers);
    case KnobUnit::kBlocksOf64Bytes: return fmt::format("{}B", registers * kBlock);
  }
  WEIR_UNREACHABLE("every unit is listed");
}

Error unexpected(const NicKnob& knob, std::string_view text, std::string_view hint) {
  if (knob.unit == KnobUnit::kFlag)
    return parse_error(fmt::format("expected true or false, found '{}'{}", text, hint));
  return parse_error(fmt::format("expected {} from {}, found '{}'{}", kind(knob.unit),
                                 range_text(knob), text, hint));
}

/// In steps of the register; an error if the quantity falls between two of them.
template <class Quantity>
Result<std::int64_t> in_steps(const NicKnob& knob, std::string_view text,
                              const Result<Quantity>& parsed, std::int64_t step) {
  if (!parsed) return unexpected(knob, text, "");
  const std::int64_t raw = parsed->raw();
  if (raw % step == 0) return raw / step;
  const std::int64_t below = raw / step;
  return unexpected(
      knob, text,
      fmt::format("; the NIC counts in steps of {}: {} or {}", value_text(knob.unit, 1),
                  value_text(knob.unit, below), value_text(knob.unit, below + 1)));
}

Result<std::int64_t> parse_flag(const NicKnob& knob, std::string_view text) {
  if (text == "true") return std::int64_t{1};
  if (text == "false") return std::int64_t{0};
  const bool is_register = text == "0" || text == "1";
  return unexpected(
      knob, text,
      is_register ? fmt::format("; did you mean {}?", text == "1" ? "true" : "false") : "");
}

Result<std::int64_t> parse_steps(const NicKnob& knob, std::string_view text) {
  switch (knob.unit) {
    case KnobUnit::kFlag: return parse_flag(knob, text);
    case KnobUnit::kNumber:
    case KnobUnit::kDscp:
    case KnobUnit::kPriority: {
      const auto number = parse_u64(text);
      const bool fits = number && *number <= static_cast<std::uint64_t>(kBits31);
      if (!fits) return unexpected(knob, text, "");
      return static_cast<std::int64_t>(*number);
    }
    case KnobUnit::kMicroseconds:
      return in_steps(knob, text, parse_duration(text), kPicosecondsPerMicrosecond);
    case KnobUnit::kMegabits: return in_steps(knob, text, parse_rate(text), kRatePerMegabit);
    case KnobUnit::kPercent: return in_steps(knob, text, parse_share(text), kSharePerPercent);
    case KnobUnit::kBlocksOf64Bytes: return in_steps(knob, text, parse_bytes(text), kBlock);
  }
  WEIR_UNREACHABLE("every unit is listed");
}

bool wants_unit(KnobUnit unit) {
  return unit == KnobUnit::kMicroseconds || unit == KnobUnit::kMegabits ||
         unit == KnobUnit::kPercent || unit == KnobUnit::kBlocksOf64Bytes;
}

std::string_view part(const NicKnob& knob) {
  return knob.is_notification_point ? "roce_np" : "roce_rp";
}

constexpr std::size_t kWidth = 100;

/// "  label     text", wrapped under itself; nothing where there is nothing to say.
std::string labelled(std::string_view label, std::string_view text) {
  constexpr std::size_t kLabel = 9;
  constexpr std::size_t kIndent = 2 + kLabel + 2;
  if (text.empty()) return {};
  return wrap(fmt::format("  {:<{}}  {}", label, kLabel, text), kWidth, kIndent) + "\n";
}

/// "  rpg_ai_rate  rate_ai, r_ai": the phantoms that mean one real knob; nothing where none does.
std::string names_of_phantoms(std::string_view real, std::string_view label) {
  constexpr std::size_t kLabel = 26;  // rate_reduce_monitor_period
  constexpr std::size_t kIndent = 2 + kLabel + 2;
  std::string names;
  for (const PhantomKnob& phantom : kPhantoms)
    if (phantom.real == real) names += (names.empty() ? "" : ", ") + std::string(phantom.name);
  if (names.empty()) return {};
  return wrap(fmt::format("  {:<{}}  {}", label, kLabel, names), kWidth, kIndent) + "\n";
}

}  // namespace

std::span<const NicKnob> nic_knobs() {
  return kKnobs;
}

const NicKnob* find_knob(std::string_view name_in_any_form) {
  static const std::map<std::string, const NicKnob*, std::less<>> by_name = [] {
    std::map<std::string, const NicKnob*, std::less<>> names;
    for (const NicKnob& knob : kKnobs) {
      const std::string firmware = lower(knob.mlxconfig);
      for (const std::string_view name :
           {knob.name, knob.debugfs, std::string_view(without_port(firmware))})
        if (!name.empty()) names.try_emplace(std::string(name), &knob);
    }
    return names;
  }();
  const std::string name = lower(trim(name_in_any_form));
  for (const std::string_view form : {std::string_view(name), std::string_view(without_port(name))})
    if (const auto at = by_name.find(form); at != by_name.end()) return at->second;
  return nullptr;
}

std::span<const PhantomKnob> phantom_knobs() {
  return kPhantoms;
}

const PhantomKnob* find_phantom(std::string_view name) {
  constexpr std::string_view kAlpha = "α";
  std::string word;
  for (std::string_view rest = trim(name); !rest.empty();) {
    if (rest.starts_with(kAlpha)) {
      word += "alpha";
      rest.remove_prefix(kAlpha.size());
      continue;
    }
    const bool is_separator = rest.front() == ' ' || rest.front() == '-' || rest.front() == '/';
    if (!is_separator) word += rest.front();
    if (is_separator && !word.ends_with('_')) word += '_';
    rest.remove_prefix(1);
  }
  word = lower(word);
  const auto* const found =
      std::find_if(kPhantoms.begin(), kPhantoms.end(),
                   [&](const PhantomKnob& phantom) { return phantom.name == word; });
  return found == kPhantoms.end() ? nullptr : found;
}

std::string range_text(const NicKnob& knob) {
  if (knob.unit == KnobUnit::kFlag) return "true or false";
  return value_text(knob.unit, knob.min) + " to " + value_text(knob.unit, knob.max);
}

Result<std::int64_t> parse_knob(const NicKnob& knob, std::string_view text) {
  const std::string_view clean = trim(text);
  const auto bare = parse_u64(clean);
  if (bare && wants_unit(knob.unit)) {
    const bool fits = *bare <= static_cast<std::uint64_t>(knob.max);
    return unexpected(knob, text,
                      fits ? fmt::format("; a bare number has no unit: did you mean {}?",
                                         value_text(knob.unit, static_cast<std::int64_t>(*bare)))
                           : "; a bare number has no unit");
  }
  WEIR_TRY(steps, parse_steps(knob, clean));
  if (steps < knob.min || steps > knob.max) return unexpected(knob, text, "");
  return steps;
}

std::string knob_text(const NicKnob& knob, std::int64_t registers) {
  WEIR_CHECK(registers >= knob.min && registers <= knob.max);
  return value_text(knob.unit, registers);
}

std::string explain(const NicKnob& knob) {
  const std::string firmware =
      fmt::format("mlxconfig -d <device> set {}={}", knob.mlxconfig, knob.fallback);
  std::string out =
      fmt::format("{}: a DCQCN parameter of the {} ({})\n\n", knob.name,
                  knob.is_notification_point ? "notification point" : "reaction point",
                  knob.is_notification_point ? "the NIC that receives the data"
                                             : "the NIC that sends the data");
  out += labelled("meaning", knob.meaning);
  out += labelled("range", range_text(knob));
  out += labelled(
      "default",
      fmt::format("{} (register: {}, {}); firmware differs, so read it on the host",
                  knob_text(knob, knob.fallback), knob.fallback, register_step(knob.unit)));
  out += labelled("OFED",
                  fmt::format("/sys/class/net/<interface>/ecn/{}/{} (until the driver reloads)",
                              part(knob), knob.name));
  out +=
      labelled("inbox", fmt::format("/sys/kernel/debug/mlx5/<bdf>/cc_params/{} (as root; until the "
                                    "driver reloads)",
                                    knob.debugfs));
  out += labelled("firmware", firmware + " (from the next reset of the firmware)");
  out += labelled("trap", knob.trap);
  out += labelled("source", knob.source);
  return out;
}

std::string explain(const PhantomKnob& phantom) {
  std::string out = fmt::format("{}: not a parameter of any NIC\n\n", phantom.name);
  out += labelled("instead", phantom.instead);
  const NicKnob* const real = find_knob(phantom.real);
  if (real != nullptr) out += "\n" + explain(*real);
  return out;
}

std::string explain_knobs() {
  TextTable table({"knob", "range", "default", "debugfs"},
                  {Align::kLeft, Align::kLeft, Align::kRight});
  std::string phantoms = names_of_phantoms("", "switch: wred");
  for (const NicKnob& knob : kKnobs) {
    table.add_row({std::string(knob.name), range_text(knob), knob_text(knob, knob.fallback),
                   std::string(knob.debugfs)});
    phantoms += names_of_phantoms(knob.name, knob.name);
  }
  return "DCQCN parameters of mlx5 NICs, as written under `dcqcn` (`weir explain NAME` for "
         "each)\n\n" +
         table.to_text(2) + "\nNames that no NIC has, by what to write instead\n" + phantoms;
}

}  // namespace weir::design

#include "tune/table/moves.h"

#include <algorithm>
#include <array>
#include <cmath>

#include <fmt/format.h>

#include "base/check.h"
#include "base/table.h"
#include "base/text.h"
#include "design/tables/nic_knobs.h"

namespace weir::tune {
namespace {

// Measured with this simulator: pod16 as its template writes it ("pod16": 16 hosts at 100G, 60.8 MB
// of buffer, ConnectX defaults), and the HPCC simulator's star of 17 with 2 MiB of buffer, in the
// peer's semantics and in ours ("star, peer / ours").
constexpr std::array kMoves = {
    Move{.name = "shorter-increase-timer",
         .title = "shorten the timer of rate increases",
         .knob = "dcqcn.rpg_time_reset",
         .factor = 0.5,
         .second_factor = 0.25,
         .symptom = "flows stay slow after a cut",
         .condition = "flows of at least a few hundred microseconds that were marked",
         .price = "incasts pause more: on pod16 15 x 40 MB the pauses grow 2.4 times",
         .taught = {},
         .wrong = "no guide names this timer; it is the strongest knob of a ConnectX",
         .verdict = MoveVerdict::kTradeOff,
         .measured = "300 to 75 us: pod16 15 x 2 MB mean -19 %, p99 -20 %; permutation -12/-19 %; "
                     "WebSearch 60 % mean -11 %; star permutation mean -13 % (peer), -12 % (ours)"},
    Move{.name = "longer-cnp-gap",
         .title = "lengthen the time between two CNPs",
         .knob = "dcqcn.min_time_between_cnps",
         .factor = 2.5,
         .second_factor = 12.5,
         .symptom = "throughput is low although marks are few",
         .condition = "short incasts, permutations, mixed flows; no long incast",
         .price = "long incasts are held by PFC: at 50 us every seed of 15 x 40 MB pauses",
         .taught = {},
         .wrong = "no guide names this gap",
         .verdict = MoveVerdict::kTradeOff,
         .measured = "4 to 50 us: pod16 15 x 2 MB p99 -21 %, permutation p99 -20 %, WebSearch 60 % "
                     "mean -11 %; 15 x 40 MB: 16 of 16 seeds pause. 10 us: permutation p99 -2 %"},
    Move{.name = "gentler-cuts",
         .title = "raise the floor under a cut",
         .knob = "dcqcn.rpg_min_dec_fac",
         .factor = 1.4,
         .second_factor = 1.8,
         .symptom = "flows stay slow after a cut",
         .condition = "mixed flows",
         .price = "long incasts get worse",
         .taught = {},
         .wrong = "no guide names it",
         .verdict = MoveVerdict::kTradeOff,
         .measured = "50 to 90 %: pod16 WebSearch mean -6 %, permutation -4 %, Hadoop p99 -16 %; "
                     "15 x 40 MB worse"},
    Move{.name = "longer-alpha-period",
         .title = "update alpha less often",
         .knob = "dcqcn.dce_tcp_rtt",
         .factor = 2,
         .second_factor = 4,
         .symptom = "PFC fires in a long incast, or only under some seeds",
         .condition = "long incasts",
         .price = "deeper cuts: at 100 us 15 x 2 MB take +15 % mean and +21 % p99",
         .taught = "the alpha update period is 100-200 us; decrease it if rate cuts are too slow",
         .wrong = "the sign: a longer period keeps alpha high, so cuts are deeper",
         .verdict = MoveVerdict::kRight,
         .measured = "pod16 15 x 40 MB, seeds that pause: 1 us 7 of 16, 2 us 2 of 16, 4 us 0 of "
                     "16; star incast 1 to 4 to 55 us: pauses 1256, 205, 96 (peer), 1663, 218, 78 "
                     "(ours)"},
    Move{.name = "shorter-alpha-period",
         .title = "update alpha more often",
         .knob = "dcqcn.dce_tcp_rtt",
         .factor = 0.5,
         .second_factor = 0.25,
         .symptom = "rate cuts are too slow; utilisation is below 60 %",
         .condition = "for throughput only, and only above 1 us, the shipped value and the floor",
         .price = "cuts get shallower: incasts pause more",
         .taught = "decrease if rate cuts are too slow; utilisation below 60 %: lower it",
         .wrong = "for cuts it works backwards (see longer-alpha-period); for throughput it is "
                  "right, but a ConnectX ships with 1 us already",
         .verdict = MoveVerdict::kBackwards,
         .measured = "pod16 permutation mean 1.05 ms at 100 us, 0.98 ms at 1 us"},
    Move{.name = "lower-min-threshold",
         .title = "begin to mark earlier",
         .knob = "wred.min",
         .factor = 0.5,
         .second_factor = 0.25,
         .symptom = "PFC fires in steady state; step times vary by 2x",
         .condition = "wred.min is near the queue at which the ingresses reach XOFF",
         .price = "mean +2..4 %, last flow +6..14 % where it helps",
         .taught = "if PFC is firing during steady state, lower min_th",
         .wrong = "void where min_th is far below XOFF already, as in most designs: stop when a "
                  "step buys nothing",
         .verdict = MoveVerdict::kConditional,
         .measured = "star incast 400 to 100 KB (0.43 of XOFF): pauses -32 % (peer), -22 % (ours). "
                     "pod16 15 x 40 MB 25 to 6 KB (0.0004 of XOFF): pauses +18 %"},
    Move{.name = "raise-max-threshold",
         .title = "mark everything later",
         .knob = "wred.max",
         .factor = 2,
         .second_factor = 4,
         .symptom = "utilisation is too low",
         .condition = "queues reach wred.max",
         .price = "always PFC: pauses grow 2.4 to 3.1 times for x4",
         .taught = "if utilization is too low, raise max_th or lower max_p",
         .wrong = "a trade-off, not a fix",
         .verdict = MoveVerdict::kTradeOff,
         .measured = "x4: star incast mean -3 % (both), max -12 % (peer), -9 % (ours), pauses x3.1 "
                     "/ x2.4; pod16 WebSearch 60 % mean -7 %; 15 x 40 MB max 64 to 83 ms"},
    Move{.name = "lower-max-probability",
         .title = "mark fewer packets on the ramp",
         .knob = "wred.probability",
         .factor = 0.5,
         .second_factor = 0.2,
         .symptom = "utilisation is too low",
         .condition = "depends on the load: measure it",
         .price = "permutation p99 +8 % at 2 %",
         .taught = "if utilization is too low, raise max_th or lower max_p",
         .wrong = "its sign depends on the workload",
         .verdict = MoveVerdict::kConditional,
         .measured = "10 to 2 %, pod16: WebSearch mean -1.6 % (sd 3.5), permutation p99 +8 %, "
                     "15 x 40 MB pauses halved"},
    Move{.name = "raise-additive-increase",
         .title = "larger additive increase",
         .knob = "dcqcn.rpg_ai_rate",
         .factor = 4,
         .second_factor = 40,
         .symptom = "utilisation is below 80 %",
         .condition = "flows of tens of milliseconds: every cut restarts the stages",
         .price = "pauses +1..13 %",
         .taught = "Rate AI 5 Mb/s; utilisation below 80 %: raise it",
         .wrong = "changes nothing for flows of up to a few milliseconds",
         .verdict = MoveVerdict::kWeak,
         .measured = "pod16 15 x 2 MB, permutation 4 MB, all-to-all, ring: 0.00 %; 15 x 40 MB max "
                     "64 to 54 ms at 200 Mb/s"},
    Move{.name = "raise-hyper-increase",
         .title = "larger hyper increase",
         .knob = "dcqcn.rpg_hai_rate",
         .factor = 4,
         .second_factor = 10,
         .symptom = "slow recovery after a pause",
         .condition = "long quiet times on both clocks",
         .price = "overshoot",
         .taught = "Rate HAI 50 Mb/s; slow recovery from pause: raise it",
         .wrong = "weak, and what little it does depends on the model",
         .verdict = MoveVerdict::kWeak,
         .measured = "x10: pod16 15 x 40 MB max -9 % (sd 13), short flows 0.00 %; star incast max "
                     "-4 % (peer, by the timer alone), 0 (ours, needs both clocks)"},
    Move{.name = "fewer-fast-recovery-steps",
         .title = "leave fast recovery earlier",
         .knob = "dcqcn.rpg_threshold",
         .factor = 0.5,
         .second_factor = 0,
         .symptom = "very bursty traffic",
         .condition = "rpg_threshold above 1",
         .price = "none was seen",
         .taught = "fast recovery threshold 5; very bursty: decrease",
         .wrong = "a ConnectX ships with 1, the minimum",
         .verdict = MoveVerdict::kCannot,
         .measured = "1 to 5 changes less than 0.2 % for short flows"},
    Move{.name = "smaller-buffer-alpha",
         .title = "pause a port sooner",
         .knob = "buffers.alpha",
         .factor = 0.5,
         .second_factor = 0.125,
         .symptom = "one congested port takes the buffer of all",
         .condition = "PFC is reached",
         .price = "15 x 40 MB mean +13 % at 1/8; a buffer change stops all ports of some systems",
         .taught = {},
         .wrong = {},
         .verdict = MoveVerdict::kTradeOff,
         .measured = "pod16, 1 to 1/8: 0.00 % without PFC"},
    Move{.name = "larger-headroom",
         .title = "more headroom per port",
         .knob = {},
         .symptom = "RDMA timeouts",
         .condition = "headroom below what speed, cable and MTU need",
         .price = "shared buffer: XOFF falls",
         .taught = "2, 20 or 65 KB at 3, 30 or 100 m and 400G; timeouts: too small",
         .wrong = "that table is the cable's share alone; weir calc headroom has the whole sum. It "
                  "is proven, not tuned",
         .verdict = MoveVerdict::kCannot,
         .measured = "not a knob of the search"},
    Move{.name = "match-nic-thresholds",
         .title = "Kmin and Kmax on the NIC as on the switch",
         .knob = {},
         .symptom = "always",
         .condition = "never",
         .price = "none",
         .taught = "Kmin/Kmax: match the switch, always",
         .wrong = "a NIC has no such knob",
         .verdict = MoveVerdict::kCannot,
         .measured = "nothing to measure"},
    Move{.name = "more-queue-pairs",
         .title = "more queue pairs per connection",
         .knob = {},
         .symptom = "one flow does not fill the path, or ECMP spreads badly",
         .condition = "several paths, few flows",
         .price = "more state in the NIC; each queue pair has a rate of its own",
         .taught = "raise stepwise and measure",
         .wrong = {},
         .verdict = MoveVerdict::kConditional,
         .measured = "a setting of jobs, not of the fabric: weir sim --set "
                     "nccl.qps_per_connection=4 shows its effect"},
};

std::string move_field(std::string_view name, std::string_view text, std::size_t width) {
  constexpr std::size_t kIndent = 12;
  if (text.empty()) return {};
  return wrap(fmt::format("  {:<8}  {}", name, text), width, kIndent) + "\n";
}

}  // namespace

std::string_view to_text(MoveVerdict verdict) {
  switch (verdict) {
    case MoveVerdict::kRight: return "right";
    case MoveVerdict::kConditional: return "conditional";
    case MoveVerdict::kTradeOff: return "trade-off";
    case MoveVerdict::kBackwards: return "backwards";
    case MoveVerdict::kWeak: return "weak";
    case MoveVerdict::kCannot: return "cannot be made";
  }
  WEIR_UNREACHABLE("every verdict has a word");
}

std::span<const Move> moves() {
  return kMoves;
}

const Move* find_move(std::string_view name) {
  const auto found = std::find_if(kMoves.begin(), kMoves.end(),
                                  [&](const Move& move) { return move.name == name; });
  return found == kMoves.end() ? nullptr : &*found;
}

std::vector<std::int64_t> values_of(const Move& move, std::int64_t start) {
  const Knob* const knob = find_knob(move.knob);
  if (knob == nullptr) return {};
  std::vector<std::int64_t> values;
  for (const double factor : {move.factor, move.second_factor}) {
    if (factor == 0) continue;
    std::int64_t value = knob->unit == KnobUnit::kAlpha
                             ? start + std::llround(std::log2(factor))
                             : std::llround(static_cast<double>(start) * factor);
    if (knob->unit == KnobUnit::kRegister) {
      const design::NicKnob* const limits =
          design::find_knob(knob->id.substr(knob->id.find('.') + 1));
      value = std::clamp(value, limits->min, limits->max);
      if (knob->id == "dcqcn.rpg_min_dec_fac") value = std::min<std::int64_t>(value, knob->high);
    } else if (knob->unit == KnobUnit::kAlpha) {
      value = std::clamp<std::int64_t>(value, Alpha::kMinLog2, Alpha::kMaxLog2);
    } else if (knob->unit == KnobUnit::kShare) {
      value = std::clamp<std::int64_t>(value, 1, kSharePerWhole);
    }
    if (value != start && std::find(values.begin(), values.end(), value) == values.end())
      values.push_back(value);
  }
  return values;
}

std::string explain(const Move& move, std::size_t width) {
  std::string out = fmt::format("{}: {} ({})\n\n", move.name, move.title, to_text(move.verdict));
  out += move_field("knob", move.knob.empty() ? "none of the search" : move.knob, width);
  out += move_field("when", move.symptom, width);
  out += move_field("works", move.condition, width);
  out += move_field("price", move.price, width);
  out += move_field("taught", move.taught.empty() ? "nowhere" : move.taught, width);
  out += move_field("but", move.wrong, width);
  out += move_field(
      "measured",
      move.knob.empty() ? std::string(move.measured) : fmt::format("{} (simulated)", move.measured),
      width);
  return out;
}

std::string list_moves(std::size_t width) {
  TextTable table({"move", "knob", "verdict", "when"});
  for (const Move& move : kMoves)
    table.add_row({std::string(move.name), move.knob.empty() ? "-" : std::string(move.knob),
                   std::string(to_text(move.verdict)), std::string(move.symptom)});
  return table.to_text(2, width);
}

}  // namespace weir::tune

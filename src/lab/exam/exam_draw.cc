#include "lab/exam/exam_draw.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <string_view>

#include <fmt/format.h>

#include "base/check.h"
#include "base/rng.h"
#include "design/file/load.h"
#include "design/file/words.h"
#include "design/lint/lint.h"
#include "design/tables/platforms.h"
#include "lab/exam/exam_fault.h"
#include "sim/fault/fault.h"

namespace weir::lab {
namespace {

// Each purpose has a random stream of its own, so that adding a draw to one moves no other.
//
// At most one draw per statement in this file and in exam_fault.cc: C++ leaves the order in which
// arguments are evaluated to the compiler, and the same seed must give the same question.
constexpr std::uint64_t kKindStream = 1;
constexpr std::uint64_t kQuestionStream = 2;
constexpr std::uint64_t kWitnessStream = 3;
constexpr std::uint64_t kEngineStream = 4;

constexpr std::uint64_t kHealthyPercent = 15;
constexpr std::uint64_t kTwoPercent = 10;

/// The most bytes a run sends, roughly: a tenth of a second of computing.
constexpr std::int64_t kMostBytes = 120'000'000;

// ---- the fabric ----

struct Shape {
  std::uint64_t tiers = 1;
  std::uint64_t leaves = 1;  // per pod if there are three tiers
  std::uint64_t spines = 0;  // the same
  std::uint64_t cores = 0;
  std::uint64_t hosts = 4;
  std::uint64_t rails = 1;
  std::uint64_t cables = 1;
  std::uint64_t speed = 100;  // Gbit/s, of hosts
  std::uint64_t uplink = 100;
};

bool is_any_of(const std::vector<std::string>& kinds,
               std::initializer_list<std::string_view> names) {
  return std::any_of(kinds.begin(), kinds.end(), [&](const std::string& kind) {
    return std::find(names.begin(), names.end(), kind) != names.end();
  });
}

/// These faults have an effect only if switches send pauses; most questions would be drawn again
/// otherwise.
bool needs_pauses(const std::vector<std::string>& kinds) {
  return is_any_of(kinds, {"headroom-too-small", "wrong-pfc-priority"});
}

/// Some faults need more than one switch, or more than one path.
Shape draw_shape(Dice& dice, const std::vector<std::string>& kinds) {
  const bool wants_bounce = is_any_of(kinds, {"bounce-routing"});
  const bool wants_paths = wants_bounce || is_any_of(kinds, {"same-hash-seed", "reordering"});
  const bool wants_switches = wants_paths || is_any_of(kinds, {"routing-loop"});
  Shape s;
  s.tiers = dice.pick(std::array<std::uint64_t, 6>{1, 1, 2, 2, 2, 3});
  if (wants_switches && s.tiers == 1) s.tiers = 2;
  s.speed = dice.pick(std::array<std::uint64_t, 6>{25, 50, 100, 100, 200, 400});
  if (needs_pauses(kinds)) s.speed = std::max<std::uint64_t>(s.speed, 100);
  s.uplink = dice.one_in(3) && s.speed < 400 ? s.speed * 2 : s.speed;
  if (s.tiers == 1) {
    s.hosts = dice.between(4, 16);
    return s;
  }
  if (s.tiers == 3) {
    s.leaves = wants_bounce ? 3 : 2;
    s.spines = 2;
    s.cores = dice.between(2, 4);
    s.hosts = 2 * s.leaves * dice.between(2, 4);
    s.cables = dice.between(1, 2);
    return s;
  }
  s.leaves = dice.between(wants_bounce ? 3 : 2, 4);
  s.spines = dice.between(wants_paths ? 2 : 1, 4);
  const std::uint64_t below = dice.between(2, 8);
  s.hosts = s.leaves * below;
  // Oversubscribed by up to two.
  const std::uint64_t wanted = (below * s.speed + 2 * s.uplink - 1) / (2 * s.uplink);
  s.cables = std::max<std::uint64_t>(1, (wanted + s.spines - 1) / s.spines);
  s.cables = dice.between(s.cables, s.cables * 2);
  if (dice.one_in(5)) {  // rail-optimised: one leaf per rail
    s.rails = s.leaves;
    s.hosts = dice.between(4, 8);
  }
  return s;
}

std::string_view draw_nic(Dice& dice, std::uint64_t speed) {
  std::vector<std::string_view> fit;
  for (const std::string_view name : {"connectx5", "connectx6dx", "connectx7", "bluefield3"})
    if (design::find_nic(name)->max_speed >= 1_Gbps * static_cast<std::int64_t>(speed))
      fit.push_back(name);
  return fit[dice.below(fit.size())];
}

std::string_view draw_asic(Dice& dice, design::SwitchSystem system, std::uint64_t speed) {
  std::vector<std::string_view> fit;
  for (const design::AsicModel& asic : design::asic_models())
    // Sizes of Express are assumed: no fabric is drawn with them.
    if (design::runs_on(system, asic) && asic.family != design::AsicFamily::kExpress &&
        asic.max_speed >= 1_Gbps * static_cast<std::int64_t>(speed))
      fit.push_back(asic.name);
  WEIR_CHECK(!fit.empty());
  return fit[dice.below(fit.size())];
}

/// A quarter of the switches have less buffer than the ASIC's maximum, and pause sooner.
std::string buffer_text(Dice& dice, bool is_small) {
  return is_small || dice.one_in(4) ? fmt::format(", buffer: {}MB", dice.between(6, 20))
                                    : std::string();
}

std::string switches_text(Dice& dice, const Shape& s, bool is_small) {
  using design::SwitchSystem;
  constexpr std::array kSystems = {SwitchSystem::kCumulus, SwitchSystem::kEos, SwitchSystem::kNxos,
                                   SwitchSystem::kJunos, SwitchSystem::kSonic};
  const SwitchSystem system = dice.pick(kSystems);
  const std::string_view asic = draw_asic(dice, system, s.uplink);
  const std::string buffer = buffer_text(dice, is_small);
  const auto group = [&](std::string_view name, const std::string& names, int tier) {
    return fmt::format("  {}: {{ names: '{}', system: {}, asic: {}, tier: {}{} }}\n", name, names,
                       design::to_word(system), asic, tier, buffer);
  };
  const bool has_pods = s.tiers == 3;
  const auto names = [&](std::string_view name, std::uint64_t count) {
    return fmt::format("{}{}[1-{}]", has_pods ? "pod[1-2]-" : "", name, count);
  };
  std::string out = "switches:\n" + group("leaf", names("leaf", s.leaves), 1);
  if (s.tiers > 1) out += group("spine", names("spine", s.spines), 2);
  if (has_pods) out += group("core", fmt::format("core[1-{}]", s.cores), 3);
  return out;
}

std::string links_text(Dice& dice, const Shape& s, bool is_long) {
  std::string out = fmt::format(
      "links:\n  - {{ from: gpu, to: leaf, wiring: {}, speed: {}G, cable: {}, length: {}m }}\n",
      s.rails > 1 ? "rail" : "block", s.speed, is_long ? "fibre" : "aec",
      dice.between(is_long ? 30 : 1, is_long ? 200 : 5));
  if (s.tiers > 1)
    out += fmt::format(
        "  - {{ from: leaf, to: spine, wiring: mesh, {}count: {}, speed: {}G, cable: fibre, "
        "length: {}m }}\n",
        s.tiers == 3 ? "groups: 2, " : "", s.cables, s.uplink,
        dice.between(is_long ? 100 : 5, is_long ? 300 : 150));
  if (s.tiers == 3)
    out += fmt::format(
        "  - {{ from: spine, to: core, wiring: mesh, speed: {}G, cable: fibre, length: {}m }}\n",
        s.uplink, dice.between(20, 300));
  return out;
}

/// Mostly the usual priorities and code points; in a quarter of the designs others.
std::string classes_text(Dice& dice) {
  const bool is_usual = !dice.one_in(4);
  const unsigned rdma = is_usual ? 3 : 5;
  return fmt::format(
      "classes:\n"
      "  rdma: {{ dscp: {}, priority: {}, lossless: on, minimum: 50% }}\n"
      "  cnp: {{ dscp: [48, 49-55], priority: 6, scheduling: strict }}\n"
      "  storage: {{ dscp: 32-39, priority: 4, minimum: 20% }}\n"
      "  management: {{ dscp: 16-23, priority: 2, minimum: 5% }}\n"
      "  best_effort: {{ priority: 0, minimum: 10% }}\n",
      is_usual ? "[26, 24-31]" : "[42, 40-47]", rdma);
}

std::string design_text(Dice& dice, const Shape& s, const std::vector<std::string>& kinds) {
  constexpr int digits = 2;
  constexpr std::array<std::string_view, 6> kAlphas = {"1/64", "1/32", "1/16", "1/8", "1/4", "1"};
  const std::string_view alpha =
      needs_pauses(kinds) ? kAlphas.at(dice.below(3)) : dice.pick(kAlphas);
  const bool is_long = needs_pauses(kinds) || dice.one_in(4);
  const std::string_view stack = dice.one_in(3) ? "inbox" : "ofed";
  std::string out = fmt::format(
      "weir: 1\nname: exam\nhosts:\n  gpu: {{ names: 'gpu[{:0{}}-{:0{}}]', nic: {}, stack: {}, "
      "rails: {} }}\n",
      1, digits, s.hosts, digits, draw_nic(dice, s.speed), stack, s.rails);
  const std::string links = links_text(dice, s, is_long);
  out += switches_text(dice, s, needs_pauses(kinds)) + links;
  out += "addressing: { subnets: '10.{rail}.{leaf}.0/24' }\n";
  const int rdma_mtu = dice.one_in(5) ? 2048 : 4096;
  const int host_mtu = dice.one_in(3) ? 4200 : 9000;
  out += fmt::format("mtu: {{ host: {}B, switch: 9200B, rdma: {}B }}\n", host_mtu, rdma_mtu);
  out += classes_text(dice);
  out += fmt::format("buffers: {{ alpha: {} }}\n", alpha);
  return out;
}

/// False if the design has errors or lint finds some.
bool take_design(std::string text, Question& out) {
  design::Loaded loaded = design::load_text(text, "exam");
  if (!loaded.is_good()) return false;
  design::Derived derived = design::derive(loaded.design);
  if (!derived.errors.empty()) return false;
  if (design::lint(loaded.design, derived.intent).count(finding::Severity::kError) > 0)
    return false;
  out.text = std::move(text);
  out.design = std::move(loaded.design);
  out.intent = std::move(derived.intent);
  return true;
}

// ---- the load ----

struct Budget {
  std::int64_t per_nic = 0;  // bytes that each NIC sends
  std::uint64_t ranks = 0;   // NICs per rail
  std::uint64_t span_us = 0;
};

Budget draw_budget(Dice& dice, const Shape& s) {
  Budget out;
  out.span_us = dice.between(300, 1200);
  const auto bytes_per_us = static_cast<std::int64_t>(s.speed) * 1000 / 8;
  const auto nics = static_cast<std::int64_t>(s.hosts * s.rails);
  out.per_nic = std::min(bytes_per_us * static_cast<std::int64_t>(out.span_us), kMostBytes / nics);
  out.span_us = static_cast<std::uint64_t>(out.per_nic / bytes_per_us) + 1;
  out.ranks = s.hosts;
  return out;
}

std::string common_text(Dice& dice) {
  std::string out;
  if (dice.one_in(2)) out += fmt::format(",qps={}", dice.between(1, 4));
  if (dice.one_in(6)) out += ",op=send";
  return out;
}

std::string incast_text(Dice& dice, const Budget& budget, const std::string& to) {
  const std::uint64_t most = budget.ranks - 1;
  const std::uint64_t senders =
      dice.between(2, dice.one_in(2) ? most : std::min<std::uint64_t>(most, 5));
  const std::uint64_t iterations = dice.between(1, 6);
  // Keeps the receiver's link busy for two to five spans.
  const auto all = budget.per_nic * static_cast<std::int64_t>(dice.between(2, 5));
  const auto size = all / static_cast<std::int64_t>(senders * iterations);
  const std::string common = common_text(dice);
  return fmt::format("incast,to={},senders={},size={}B,iterations={},depth={}{}", to, senders,
                     std::max<std::int64_t>(size, 4096), iterations, dice.between(1, 3), common);
}

std::string collective_text(Dice& dice, const Budget& budget) {
  const auto ranks = static_cast<std::int64_t>(budget.ranks);
  const bool is_power = (budget.ranks & (budget.ranks - 1)) == 0;
  const auto size = std::max<std::int64_t>(budget.per_nic, 4096);
  const std::uint64_t kind = dice.below(6);
  const std::string common = common_text(dice);
  switch (kind) {
    case 0:
      return fmt::format("all-to-all,size={}B,iterations={}{}",
                         std::max<std::int64_t>(size / (ranks - 1), 4096), dice.between(1, 2),
                         common);
    case 1: return fmt::format("all-reduce,size={}B{}", size / 2 + 1, common);
    case 2:
      return fmt::format("all-reduce,algo={},size={}B{}", is_power ? "halving-doubling" : "tree",
                         size / 2 + 1, common);
    case 3: return fmt::format("all-gather,size={}B{}", size, common);
    case 4: return fmt::format("reduce-scatter,size={}B{}", size, common);
    default: {
      constexpr std::array<std::string_view, 3> kCollectives = {"all-reduce", "all-gather",
                                                                "reduce-scatter"};
      const std::string_view collective = dice.pick(kCollectives);
      const std::uint64_t overlap = dice.between(0, 100);
      return fmt::format("training,compute={}us,overlap={}%,size={}B,steps=2,collective={}{}",
                         dice.between(20, 100), overlap, size / 4 + 1, collective, common);
    }
  }
}

/// Every flow has its own queue pair and starts at line rate.
std::string flows_text(Dice& dice, const Budget& budget) {
  constexpr std::array<std::string_view, 3> kSizes = {"websearch", "hadoop", "64KB"};
  const std::uint64_t load = dice.between(30, 80);
  return fmt::format("flows,sizes={},load={}%,duration={}us", dice.pick(kSizes), load,
                     budget.span_us);
}

std::string pattern_text(Dice& dice, const Budget& budget) {
  const std::uint64_t iterations = dice.between(1, 8);
  const auto size =
      std::max<std::int64_t>(budget.per_nic / static_cast<std::int64_t>(iterations), 4096);
  if (dice.one_in(4)) return flows_text(dice, budget);
  const std::string common = common_text(dice);
  return fmt::format("permutation,size={}B,iterations={},depth={}{}", size, iterations,
                     dice.between(1, 3), common);
}

void draw_load(Dice& dice, const Shape& shape, Question& out, std::string& receiver) {
  const Budget budget = draw_budget(dice, shape);
  out.span = 1_us * static_cast<std::int64_t>(budget.span_us);
  const auto& hosts = out.intent.hosts;
  const std::uint64_t kind = needs_pauses(out.kinds) ? 0 : dice.below(10);
  if (kind < 4) {
    receiver = hosts[dice.below(hosts.size())].name;
    out.workloads.push_back(incast_text(dice, budget, receiver));
    if (needs_pauses(out.kinds)) {
      out.workloads.push_back(flows_text(dice, budget));
    } else if (dice.one_in(3)) {
      out.workloads.push_back(pattern_text(dice, budget));
    }
  } else if (kind < 7) {
    out.workloads.push_back(collective_text(dice, budget));
  } else {
    out.workloads.push_back(pattern_text(dice, budget));
  }
  if (dice.one_in(5))
    out.workloads.push_back(
        fmt::format("storage,load={}%,duration={}us", dice.between(3, 15), budget.span_us));
  if (dice.one_in(6))
    out.workloads.push_back(
        fmt::format("lossy,load={}%,duration={}us", dice.between(3, 15), budget.span_us));
}

}  // namespace

std::vector<std::string> drawn_kinds(std::uint64_t seed, const std::vector<std::string>& among) {
  Dice dice(seed, 0, kKindStream);
  if (!among.empty()) {
    const std::string& kind = among[dice.below(among.size())];
    return kind == kHealthyQuestion ? std::vector<std::string>() : std::vector<std::string>{kind};
  }
  const std::uint64_t roll = dice.below(100);
  if (roll < kHealthyPercent) return {};
  std::vector<std::string> all;
  for (const sim::FaultType& type : sim::fault_types())
    if (type.is_drawn) all.emplace_back(type.name);
  std::vector<std::string> out = {all[dice.below(all.size())]};
  while (roll < kHealthyPercent + kTwoPercent && out.size() < 2) {
    std::string other = all[dice.below(all.size())];
    if (other != out.front()) out.push_back(std::move(other));
  }
  return out;
}

Question draw_question(std::uint64_t seed, std::uint64_t attempt, std::vector<std::string> kinds) {
  Question out;
  out.seed = seed;
  out.attempt = attempt;
  out.kinds = std::move(kinds);
  Dice dice(seed, attempt, kQuestionStream);
  // Parts that do not fit each other are drawn again; most fit.
  constexpr int kTries = 200;
  Shape shape;
  bool is_good = false;
  for (int i = 0; i < kTries && !is_good; ++i) {
    shape = draw_shape(dice, out.kinds);
    is_good = take_design(design_text(dice, shape, out.kinds), out);
  }
  WEIR_CHECK(is_good);
  std::string receiver;
  draw_load(dice, shape, out, receiver);
  // Only SENDs use up receives: the load must have some, with the fault and without it.
  if (is_any_of(out.kinds, {"few-receives"}))
    for (std::string& load : out.workloads)
      if (load.find(",op=") == std::string::npos) load += ",op=send";
  for (const std::string& kind : out.kinds)
    out.faults.push_back(drawn_fault(dice, kind, out, receiver));
  return out;
}

std::uint64_t simulation_seed(const Question& question) {
  return Dice(question.seed, question.attempt, kEngineStream).below(1'000'000'000) + 1;
}

std::size_t drawn_witness(const Question& question, std::size_t bound) {
  return Dice(question.seed, question.attempt, kWitnessStream).below(bound);
}

}  // namespace weir::lab

#include "lab/rehearsal/rehearsal.h"

#include <algorithm>
#include <cmath>
#include <set>

#include <fmt/format.h>

#include "base/check.h"
#include "base/digest.h"
#include "base/parallel.h"
#include "base/text.h"
#include "finding/catalog.h"
#include "lab/rehearsal/rehearsal_fit.h"
#include "lab/rehearsal/rehearsal_guesses.h"
#include "lab/rehearsal/rehearsal_signs.h"
#include "sim/fabric/from_design.h"
#include "sim/results/simulate.h"

namespace weir::lab {

using finding::Finding;

namespace {

// How often each fabric is played: enough to know what chance does, and no more.
constexpr std::size_t kFirstLook = 6;
constexpr std::size_t kAsDesigned = 16;
constexpr std::size_t kOfGuess = 2;
constexpr std::size_t kOfFinalist = 6;
constexpr std::size_t kFinalists = 3;
constexpr std::size_t kAsDesignedAtLast = 48;
constexpr std::size_t kOfFinalistAtLast = 12;
constexpr std::size_t kSuspects = 3;
/// Of so many draws of what comes at random, those are played that come nearest.
constexpr std::size_t kDraws = 400;
/// Kinds of fault that are tried place by place: those that come nearest everywhere.
constexpr std::size_t kKinds = 3;

/// A run whose signs are all within this many standard deviations of the fabric as designed.
constexpr double kOrdinary = 1.2;
/// How much nearer a guess must be than the fabric as designed, in squared standard deviations.
constexpr double kNearer = 7;
/// The same of the paths, which chance decides as well.
constexpr double kNearerOfPaths = 9;
/// The same where no switch was seen: fewer signs, and chance moves them further.
constexpr double kNearerFromHosts = 9;
/// So much more where part of the load comes at random: draws like the one that was are few.
constexpr double kMoreAtRandom = 4;
/// The same where a fault is known and its size is not.
constexpr double kNearerThanRough = 15;
/// And how near, as a share of the distance from the fabric as designed.
constexpr double kShare = 0.6;
/// The same where part of the load comes at random: there all guesses are a little nearer.
constexpr double kShareAtRandom = 0.3;
/// And how near at all: a run that is like none of them was luck, or a fault that nobody guessed.
/// There are some twenty signs, and a run of the kind is one squared deviation off in each.
constexpr double kFits = 30;
/// Beside a fault whose size is not known nothing fits by itself: there this share is enough.
constexpr double kShareBesideRough = 0.25;
/// So far from the fabric as designed nothing is well, whatever it is.
constexpr double kStrange = 200;
/// Paths that carry what was observed, but for this share, are those that were taken.
constexpr double kLed = 0.2;
/// This share of what is asked for is worth more runs.
constexpr double kPromising = 0.6;

/// What is known for sure, each in the sizes it may have; nullopt where one cannot be played.
using Known = std::vector<std::vector<std::string>>;
std::optional<Known> known_faults(const finding::Judgement& said, const design::Intent& intent) {
  Known out;
  for (const Finding& one : said.findings) {
    const bool is_sure =
        one.confidence != finding::Confidence::kLow && one.severity != finding::Severity::kInfo;
    if (!is_sure) continue;
    out.push_back(faults_behind(one, intent));
    if (out.back().empty()) return std::nullopt;
  }
  return out;
}

std::string number_text(double count) {
  return count >= 10 ? with_thousands(std::llround(count)) : fmt::format("{:.1f}", count);
}

std::vector<std::uint64_t> any_lucks(std::size_t count) {
  std::vector<std::uint64_t> out;
  for (std::size_t i = 1; i <= count; ++i)
    out.push_back(mix64(i));
  return out;
}

bool comes_at_random(const KnownLoad& load) {
  return std::any_of(
      load.workloads.begin(), load.workloads.end(), [](const sim::WorkloadSpec& one) {
        return one.kind == sim::WorkloadKind::kFlows || one.kind == sim::WorkloadKind::kStorage ||
               one.kind == sim::WorkloadKind::kLossy;
      });
}

/// Behind what is known, and behind what rules guess from switches; what they guess of switches
/// that nobody looked at is weaker.
void put_in(Finding finding, bool sees_switches, finding::Judgement& into) {
  const auto at = std::find_if(into.findings.begin(), into.findings.end(), [&](const Finding& one) {
    return one.severity == finding::Severity::kInfo ||
           (one.confidence == finding::Confidence::kLow && !sees_switches);
  });
  into.findings.insert(at, std::move(finding));
  into.conclusion = finding::Conclusion::kFindings;
}

/// From hosts alone rules guess at switches that nobody saw: pauses may mean a small buffer. Where
/// the fabric as designed pauses as much, they mean nothing.
void take_back_guesses(finding::Judgement& from) {
  const auto is_guess = [](const Finding& one) {
    return one.confidence == finding::Confidence::kLow && one.severity != finding::Severity::kInfo;
  };
  const auto end = std::remove_if(from.findings.begin(), from.findings.end(), is_guess);
  if (end == from.findings.end()) return;
  from.findings.erase(end, from.findings.end());
  if (from.count(finding::Severity::kError) + from.count(finding::Severity::kWarning) == 0)
    from.conclusion = finding::Conclusion::kInconclusive;
}

}  // namespace

/// What was observed against what was played. What was not seen of the fabric is not looked at.
class Comparison {
 public:
  Comparison(const diagnose::Case& of, Rehearsal& rehearsal)
      : case_(of), view_(of), rehearsal_(rehearsal), fit_(signs_of(view_, rehearsal.load_.took)) {
    for (const diagnose::NicView& nic : view_.nics())
      hosts_.insert(nic.host);
    if (view_.ports().empty()) nearer_ = kNearerFromHosts;
    if (comes_at_random(rehearsal.load_)) nearer_ += kMoreAtRandom;
  }

  /// False where every setting was read.
  [[nodiscard]] bool has_guesses() const { return !guesses_everywhere(view_).empty(); }

  /// What came at random in the runs is like what came. REQUIRES: before anything is played.
  void choose_lucks() { chances_.lucks = rehearsal_.lucks_for(view_); }

  /// From now on runs take the ways that were taken, and faults of the ways are not guessed; false
  /// where no such paths are found.
  [[nodiscard]] bool lead() {
    LinkLoads loads = link_loads(view_);
    if (loads.empty()) return false;
    const std::vector<Ports>& ports = rehearsal_.ports_of({chances_.lucks, loads}, kFirstLook);
    if (ports.size() < kFirstLook) return false;
    double off = 0;
    for (std::size_t i = 0; i < kFirstLook; ++i)
      off += ports[i].off / static_cast<double>(kFirstLook);
    if (off > kLed) return false;
    chances_.loads = std::move(loads);
    guessed_ = Guessed::kAllButPaths;
    return true;
  }
  void guess_paths_only() {
    guessed_ = Guessed::kPaths;
    nearer_ += kNearerOfPaths - kNearer;
  }

  /// From now on this fault is there, in the size that fits best.
  void assume(const std::vector<std::string>& sizes) {
    std::size_t best = 0;
    if (sizes.size() > 1) {
      Fit fit(fit_.observed());
      for (const std::string& size : sizes) {
        const auto runs = play(size, kOfGuess);
        if (runs.size() < kOfGuess) return;
        fit.add(runs);
      }
      best = order_of(fit.distances()).front();
      nearer_ = kNearerThanRough;
      is_rough_ = true;
    }
    known_.push_back(sizes[best]);
  }

  /// Nothing like the fabric as designed, whatever else it is like. After best_guess().
  [[nodiscard]] bool is_strange() const {
    return has_designed_ && known_.empty() && fit_.distances().front() > kStrange;
  }

  /// Just like the fabric as designed. After best_guess().
  [[nodiscard]] bool is_ordinary() const { return is_ordinary_; }

  [[nodiscard]] std::optional<Finding> best_guess() {
    if (!play_as_designed(kFirstLook)) return std::nullopt;
    is_ordinary_ = !looks_odd();
    if (is_ordinary_) return std::nullopt;
    if (!play_as_designed(kAsDesigned)) return std::nullopt;
    // No guess can come nearer by more than the fabric as designed is away.
    if (fit_.distances().front() < kPromising * nearer_) return std::nullopt;
    for (Guess& guess : guesses_everywhere(view_))
      try_out(std::move(guess));
    const std::vector<std::string> kinds = nearest_kinds();
    for (Guess& guess : guesses_at(view_, suspects()))
      if (std::find(kinds.begin(), kinds.end(), kind_of_fault(guess.fault)) != kinds.end())
        try_out(std::move(guess));
    look_again_at_the_nearest(kFinalists, kOfFinalist);
    if (!is_promising()) return std::nullopt;
    try_sizes_between();
    // Whoever says so has looked twice: by many more chances.
    if (!play_as_designed(kAsDesignedAtLast)) return std::nullopt;
    look_again_at_the_nearest(kFinalists, kOfFinalistAtLast);
    const auto kind = clearly_nearest();
    if (!kind) return std::nullopt;
    return finding_of(guesses_[*kind - 1], *kind);
  }

 private:
  [[nodiscard]] std::vector<std::vector<Sign>> play(const std::string& fault, std::size_t count) {
    std::vector<std::string> faults = known_;
    if (!fault.empty()) faults.push_back(fault);
    const auto& runs = rehearsal_.play(faults, count, chances_);
    std::vector<std::vector<Sign>> out;
    for (std::size_t i = 0; i < std::min(count, runs.size()); ++i)
      out.push_back(signs_in(runs[i].results));
    return out;
  }

  [[nodiscard]] std::vector<Sign> signs_in(const sim::Results& run) const {
    std::vector<evidence::Evidence> pieces;
    for (const evidence::Evidence& host : run.hosts)
      if (hosts_.count(host.provenance.host) > 0) pieces.push_back(host);
    if (!view_.ports().empty()) pieces.push_back(run.switches);
    diagnose::Case seen = case_;
    seen.evidence = pieces;
    const bool knows_time = rehearsal_.load_.took.has_value();
    return signs_of(diagnose::View(seen),
                    knows_time ? std::optional(run.totals.duration) : std::nullopt);
  }

  /// False where it cannot be played.
  [[nodiscard]] bool play_as_designed(std::size_t count) {
    const auto runs = play({}, count);
    if (runs.size() < 2) return false;
    if (has_designed_) {
      fit_.replace(0, runs);
    } else {
      fit_.add(runs);
    }
    has_designed_ = true;
    return true;
  }

  [[nodiscard]] bool looks_odd() const {
    for (std::size_t s = 0; s < fit_.observed().size(); ++s)
      if (std::abs(fit_.deviation(0, s).value_or(0)) > kOrdinary) return true;
    return false;
  }

  void try_out(Guess guess) {
    const std::string kind = kind_of_fault(guess.fault);
    const bool is_of_paths = kind == "same-hash-seed" || kind == "bounce-routing";
    if (guessed_ != Guessed::kAll && is_of_paths != (guessed_ == Guessed::kPaths)) return;
    const bool is_known = std::any_of(known_.begin(), known_.end(), [&](const std::string& fault) {
      return kind_of_fault(fault) == kind_of_fault(guess.fault);
    });
    if (is_known) return;
    const auto runs = play(guess.fault, kOfGuess);
    if (runs.size() < kOfGuess) return;
    fit_.add(runs);
    guesses_.push_back(std::move(guess));
  }

  [[nodiscard]] static std::vector<std::size_t> order_of(const std::vector<double>& distances) {
    std::vector<std::size_t> out(distances.size());
    for (std::size_t i = 0; i < out.size(); ++i)
      out[i] = i;
    std::stable_sort(out.begin(), out.end(),
                     [&](std::size_t a, std::size_t b) { return distances[a] < distances[b]; });
    return out;
  }

  [[nodiscard]] std::vector<std::string> nearest_kinds() const {
    std::vector<std::string> out;
    for (const std::size_t i : order_of(fit_.distances())) {
      if (i == 0) continue;
      const std::string kind = kind_of_fault(guesses_[i - 1].fault);
      if (std::find(out.begin(), out.end(), kind) == out.end()) out.push_back(kind);
    }
    out.resize(std::min(out.size(), kKinds));
    // These exist at one place only.
    out.insert(out.end(), {"switch-wrong-map", "bounce-routing", "wrong-mtu"});
    return out;
  }

  /// Places whose own signs are furthest from the fabric as designed. One host shows no switch:
  /// the one it is plugged into, and a few of those above.
  [[nodiscard]] Suspects suspects() const {
    std::map<std::string, double> off;
    for (std::size_t s = 0; s < fit_.observed().size(); ++s) {
      const Sign& sign = fit_.observed()[s];
      if (!sign.place.empty())
        off[sign.place] = std::max(off[sign.place], std::abs(fit_.deviation(0, s).value_or(0)));
    }
    std::vector<std::pair<std::string, double>> order(off.begin(), off.end());
    std::stable_sort(order.begin(), order.end(),
                     [](const auto& a, const auto& b) { return a.second > b.second; });
    Suspects out;
    const std::vector<std::string> switches = view_.switches();
    for (const auto& [name, far] : order) {
      const bool is_switch = std::find(switches.begin(), switches.end(), name) != switches.end();
      std::vector<std::string>& of = is_switch ? out.switches : out.hosts;
      if (of.size() < kSuspects && far > kOrdinary) of.push_back(name);
    }
    if (switches.empty()) out.switches = switches_near_host();
    return out;
  }

  [[nodiscard]] std::vector<std::string> switches_near_host() const {
    std::vector<std::string> near;
    std::vector<std::string> far;
    for (const design::SwitchIntent& one : view_.intent()->switches) {
      const bool is_near = std::any_of(
          one.ports.begin(), one.ports.end(), [&](const design::SwitchPortIntent& port) {
            return port.peer.kind == design::NodeKind::kHost &&
                   hosts_.count(view_.intent()->hosts[port.peer.node].name) > 0;
          });
      (is_near ? near : far).push_back(one.name);
    }
    near.insert(near.end(), far.begin(), far.end());
    near.resize(std::min(near.size(), kSuspects));
    return near;
  }

  void look_again_at_the_nearest(std::size_t finalists, std::size_t runs) {
    const std::vector<std::size_t> order = order_of(fit_.distances());
    for (std::size_t i = 0; i < std::min(order.size(), finalists); ++i)
      if (order[i] != 0) fit_.replace(order[i], play(guesses_[order[i] - 1].fault, runs));
  }

  [[nodiscard]] bool is_promising() const {
    const std::vector<double> distances = fit_.distances();
    return distances.front() - *std::min_element(distances.begin(), distances.end()) >=
           kPromising * nearer_;
  }

  /// Of the kinds and places that came nearest.
  void try_sizes_between() {
    std::vector<Guess> nearest;
    for (const std::size_t i : order_of(fit_.distances()))
      if (i != 0 && nearest.size() < kFinalists) nearest.push_back(guesses_[i - 1]);
    std::vector<Guess> between = guesses_everywhere(view_, Sizes::kBetween);
    for (Guess& guess : guesses_at(view_, suspects(), Sizes::kBetween))
      between.push_back(std::move(guess));
    for (Guess& guess : between) {
      const bool is_near = std::any_of(nearest.begin(), nearest.end(), [&](const Guess& one) {
        return kind_of_fault(one.fault) == kind_of_fault(guess.fault) && one.where == guess.where;
      });
      if (is_near) try_out(std::move(guess));
    }
    look_again_at_the_nearest(kFinalists, kOfFinalist);
  }

  /// How far the fabric as designed is, and this guess. Where switches were seen these two are
  /// judged by themselves: what other faults do to the spread of signs says nothing here. From one
  /// host there is little to go by, and all kinds together say it better.
  [[nodiscard]] std::pair<double, double> distances_of(std::size_t kind) {
    if (view_.ports().empty()) {
      const std::vector<double> all = fit_.distances();
      return {all.front(), all[kind]};
    }
    Fit pair(fit_.observed());
    pair.add(play({}, kAsDesignedAtLast));
    pair.add(play(guesses_[kind - 1].fault, kOfFinalistAtLast));
    const std::vector<double> two = pair.distances();
    return {two[0], two[1]};
  }

  /// The guess that is clearly nearer than the fabric as designed, as a kind of the fit.
  [[nodiscard]] std::optional<std::size_t> clearly_nearest() {
    std::optional<std::size_t> out;
    double most = nearer_;
    const std::vector<std::size_t> order = order_of(fit_.distances());
    for (std::size_t i = 0; i < std::min(order.size(), kFinalists); ++i) {
      if (order[i] == 0) continue;
      const auto [designed, guessed] = distances_of(order[i]);
      const double nearer = designed - guessed;
      const double fits = is_rough_ ? std::max(kFits, kShareBesideRough * designed) : kFits;
      const double share = comes_at_random(rehearsal_.load_) ? kShareAtRandom : kShare;
      if (nearer < most || guessed > std::min(share * designed, fits)) continue;
      out = order[i];
      most = nearer;
    }
    return out;
  }

  /// The signs that speak loudest against the fabric as designed, and what the guess makes of them.
  [[nodiscard]] Finding finding_of(const Guess& guess, std::size_t kind) const {
    constexpr std::size_t kShown = 4;
    std::vector<std::size_t> signs;
    for (std::size_t s = 0; s < fit_.observed().size(); ++s)
      if (fit_.deviation(0, s) && fit_.deviation(kind, s)) signs.push_back(s);
    std::stable_sort(signs.begin(), signs.end(), [&](std::size_t a, std::size_t b) {
      return std::abs(*fit_.deviation(0, a)) > std::abs(*fit_.deviation(0, b));
    });
    Finding out = finding::make_finding(
        guess.id,
        fmt::format("The load, simulated on the fabric as designed, does not look like this; with "
                    "{} it does.",
                    guess.words),
        guess.where);
    out.confidence = finding::Confidence::kLow;
    for (std::size_t i = 0; i < std::min(signs.size(), kShown); ++i) {
      const Sign& sign = fit_.observed()[signs[i]];
      finding::EvidenceLine line;
      line.source = "rehearsal (simulated)";
      line.line = fmt::format("{}{}: {} observed, {} as designed, {} with this fault", sign.name,
                              sign.place.empty() ? "" : " (" + sign.place + ")",
                              number_text(sign.count), number_text(fit_.mean_count(0, signs[i])),
                              number_text(fit_.mean_count(kind, signs[i])));
      out.evidence.push_back(std::move(line));
    }
    return out;
  }

  enum class Guessed : std::uint8_t { kAll, kAllButPaths, kPaths };

  const diagnose::Case& case_;
  diagnose::View view_;
  Rehearsal& rehearsal_;
  std::vector<std::string> known_;
  Fit fit_;  // kind 0: as designed; then the guesses
  std::vector<Guess> guesses_;
  std::set<std::string> hosts_;
  Rehearsal::Chances chances_;
  Guessed guessed_ = Guessed::kAll;
  bool has_designed_ = false;
  bool is_ordinary_ = false;
  bool is_rough_ = false;  // the size of a fault that is known is not
  double nearer_ = kNearer;
};

Rehearsal::Rehearsal(const design::Design& design, const design::Intent& intent, KnownLoad load,
                     unsigned jobs)
    : design_(design), intent_(intent), load_(std::move(load)), jobs_(jobs) {}

const Rehearsal::Runs& Rehearsal::play(const std::vector<std::string>& faults, std::size_t count,
                                       const Chances& chances) {
  const std::vector<Ports>* ports = chances.loads.empty() ? nullptr : &ports_of(chances, count);
  count = std::min(count, ports == nullptr ? chances.lucks.size() : ports->size());
  Runs& runs = played_[{chances, faults}];
  const std::size_t before = runs.size();
  if (before >= count) return runs;
  sim::Experiment experiment;
  experiment.design = &design_;
  experiment.intent = intent_;
  experiment.workloads = load_.workloads;
  experiment.seed = load_.seed;
  experiment.limit = load_.limit;
  for (const std::string& text : faults) {
    auto parsed = sim::parse_fault(text);
    if (!parsed) return runs;
    experiment.faults.push_back(std::move(*parsed));
  }
  std::vector<std::optional<Run>> fresh(count - before);
  for_each_index(fresh.size(), jobs_, [&](std::size_t i) {
    sim::Experiment one = experiment;
    one.luck = chances.lucks[before + i];
    if (ports != nullptr) one.source_ports = ports->at(before + i).of_qps;
    auto run = sim::simulate(one);
    if (!run) return;
    fresh[i].emplace();
    fresh[i]->bytes.assign(run->sim->network().qps.size(), 0);
    for (const sim::MessageRecord& message : run->sim->messages())
      fresh[i]->bytes.at(message.qp) += message.size;
    run->results.flows.clear();
    fresh[i]->results = std::move(run->results);
  });
  count_ += fresh.size();
  if (told_) told_(count_);
  for (auto& run : fresh)
    if (run) runs.push_back(std::move(*run));
  return runs;
}

Result<sim::Fabric> Rehearsal::fabric_of(std::uint64_t luck) const {
  WEIR_TRY(fabric, sim::build_network(design_, intent_, {load_.seed, luck}));
  WEIR_TRY(load, sim::Workloads::add(fabric, load_.workloads));
  (void)load;
  return fabric;
}

Status Rehearsal::check() const {
  WEIR_TRY(fabric, fabric_of(0));
  (void)fabric;
  return {};
}

const std::vector<Ports>& Rehearsal::ports_of(const Chances& chances, std::size_t count) {
  std::vector<Ports>& out = ports_[chances];
  if (out.size() >= count) return out;
  // Where nothing comes at random, every queue pair carries the same in every run.
  const bool is_random = comes_at_random(load_);
  const Runs& runs = play({}, is_random ? count : 1, {chances.lucks, {}});
  for (std::size_t i = out.size(); i < std::min(count, chances.lucks.size()); ++i) {
    const std::size_t like = is_random ? i : 0;
    const auto fabric = fabric_of(chances.lucks[i]);
    if (like >= runs.size() || !fabric) break;
    out.push_back(ports_for(fabric->network, runs[like].bytes, chances.loads, chances.lucks[i]));
  }
  return out;
}

std::vector<std::uint64_t> Rehearsal::lucks_for(const diagnose::View& view) {
  const std::vector<std::uint64_t> any = any_lucks(kDraws);
  std::vector<std::uint64_t> few(any.begin(), any.begin() + kAsDesignedAtLast);
  if (!comes_at_random(load_)) return few;
  const Runs& first = play({}, 1, {few, {}});
  const auto fabric = fabric_of(few.front());
  if (first.empty() || !fabric) return few;
  diagnose::Case played;
  played.evidence = first.front().results.hosts;
  played.intent = &intent_;
  // What is posted later, and headers and ACKs, are the same in every draw.
  const NicLoads observed = nic_loads(view, *fabric);
  const NicLoads counted = nic_loads(diagnose::View(played), *fabric);
  const NicLoads posted = posted_loads(*fabric);
  std::vector<std::pair<double, std::uint64_t>> order;
  for (const std::uint64_t luck : any) {
    const auto drawn = fabric_of(luck);
    if (!drawn) continue;
    NicLoads like = posted_loads(*drawn);
    for (std::size_t n = 0; n < like.size(); ++n) {
      if (!counted[n]) continue;
      like[n]->sent = std::max(0.0, counted[n]->sent + like[n]->sent - posted[n]->sent);
      like[n]->received =
          std::max(0.0, counted[n]->received + like[n]->received - posted[n]->received);
    }
    order.emplace_back(difference(like, observed), luck);
  }
  std::sort(order.begin(), order.end());
  order.resize(std::min(order.size(), kAsDesignedAtLast));
  few.clear();
  for (const auto& [far, luck] : order)
    few.push_back(luck);
  return few;
}

finding::Judgement Rehearsal::judge(const diagnose::Case& of, finding::Judgement said) {
  WEIR_CHECK(of.intent == &intent_);
  const bool sees_switches =
      std::any_of(of.evidence.begin(), of.evidence.end(),
                  [](const evidence::Evidence& one) { return !one.switches.empty(); });
  // Of flows that come at random one host says too little.
  const bool is_random = std::any_of(
      load_.workloads.begin(), load_.workloads.end(),
      [](const sim::WorkloadSpec& one) { return one.kind == sim::WorkloadKind::kFlows; });
  const auto known = known_faults(said, intent_);
  // With one host that is known to be wrong, that is what there is to say.
  const bool is_said = known && !known->empty() && !sees_switches;
  if (!known || is_said || (is_random && !sees_switches)) return said;
  Comparison comparison(of, *this);
  if (!comparison.has_guesses()) return said;
  comparison.choose_lucks();
  const bool is_led = comparison.lead();
  for (const std::vector<std::string>& sizes : *known)
    comparison.assume(sizes);
  auto guess = comparison.best_guess();
  if (!guess && is_led) {
    Comparison of_paths(of, *this);
    of_paths.choose_lucks();
    of_paths.guess_paths_only();
    for (const std::vector<std::string>& sizes : *known)
      of_paths.assume(sizes);
    guess = of_paths.best_guess();
  }
  if (guess) {
    put_in(std::move(*guess), sees_switches, said);
  } else if (comparison.is_ordinary() && !sees_switches) {
    take_back_guesses(said);
  } else if (comparison.is_strange() && said.conclusion == finding::Conclusion::kHealthy) {
    said.unknown.push_back({"what is wrong",
                            "the load, simulated on the fabric as designed, looks very different, "
                            "and so it does with every fault that was tried",
                            "whether --workload says what ran; settings, by weir validate"});
    said.conclusion = finding::Conclusion::kInconclusive;
  }
  return said;
}

}  // namespace weir::lab

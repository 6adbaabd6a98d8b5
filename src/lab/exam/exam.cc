#include "lab/exam/exam.h"

#include <algorithm>
#include <cmath>
#include <mutex>
#include <numeric>
#include <optional>

#include <fmt/format.h>

#include "base/check.h"
#include "base/parallel.h"
#include "base/text.h"
#include "diagnose/core/diagnose.h"
#include "diagnose/core/join.h"
#include "lab/exam/exam_evidence.h"
#include "sim/fault/fault.h"
#include "sim/results/simulate.h"

namespace weir::lab {
namespace {

using Pieces = std::vector<evidence::Evidence>;

constexpr std::uint64_t kAttempts = 32;
constexpr Duration kLimit = 10_ms;  // simulated: with some faults the load never finishes
/// A fault has an effect if completion differs by this share from the run without it.
constexpr double kLeastEffect = 0.03;
constexpr std::string_view kTwoFaults = "two faults";

// ---- the run, and the same run without the fault ----

/// The values of a run that show whether a fault had an effect.
struct FaultEffect {
  Duration duration;
  Duration mean;
  std::uint64_t drops = 0;   // of RDMA
  std::uint64_t pauses = 0;  // of its priority
  bool is_finished = false;
  std::uint64_t refused = 0;  // messages that no receive was posted for
};

/// Best effort and storage may be dropped: if they are part of the load, drops in a lossy class say
/// nothing about RDMA.
FaultEffect effect_of(const sim::Outcome& run, const Question& question) {
  const sim::Totals& totals = run.results.totals;
  const design::NicIntent& nic = question.intent.hosts.front().nics.front();
  const unsigned rdma = nic.dscp_to_priority.at(dscp_of(nic.traffic_class).value()).value();
  FaultEffect out{
      totals.duration, totals.completion.mean, totals.lossless_drops, 0, run.is_finished, 0};
  using sim::DropReason;
  const bool has_others = question.workloads.back().starts_with("storage") ||
                          question.workloads.back().starts_with("lossy");
  for (std::size_t i = 0; i < sim::kDropReasons; ++i) {
    const auto reason = static_cast<DropReason>(i);
    const bool is_lossy = reason == DropReason::kIngressBuffer ||
                          reason == DropReason::kEgressBuffer || reason == DropReason::kWred;
    const bool is_counted_above =
        reason == DropReason::kHeadroom || reason == DropReason::kReceiverBuffer;
    if (!is_counted_above && !(is_lossy && has_others)) out.drops += totals.drops.at(i);
  }
  for (const sim::PortId port : run.sim->ports())
    out.pauses += run.sim->port_counters(port).pause_tx.at(rdma);
  const auto& nodes = run.sim->network().nodes;
  for (const sim::NodeId node : nodes.ids())
    if (nodes[node].kind == sim::NodeKind::kNic)
      out.refused += run.sim->nic_counters(node).out_of_buffer;
  return out;
}

bool differs(Duration with, Duration without) {
  const auto base = static_cast<double>(without.raw());
  return std::abs(static_cast<double>(with.raw()) - base) >= kLeastEffect * base;
}

/// A bad cable must have broken a frame, a storm must have sent a pause, an application must have
/// lacked a receive: other values may move by chance, as draws of one link shift those of others.
bool had_effect(const std::string& kind, const FaultEffect& with, const FaultEffect& without) {
  if (kind == "degraded-link") return with.drops > without.drops;
  if (kind == "nic-pause-storm") return with.pauses > without.pauses;
  if (kind == "few-receives") return with.refused > without.refused;
  return with.is_finished != without.is_finished || differs(with.duration, without.duration) ||
         differs(with.mean, without.mean) || with.drops > without.drops ||
         with.pauses > without.pauses;
}

Result<sim::Outcome> simulate(const Question& question, std::optional<std::size_t> left_out) {
  sim::Experiment experiment;
  experiment.design = &question.design;
  experiment.intent = question.intent;
  experiment.seed = simulation_seed(question);
  experiment.limit = kLimit;
  for (const std::string& text : question.workloads) {
    WEIR_TRY(spec, sim::parse_workload(text));
    experiment.workloads.push_back(std::move(spec));
  }
  for (std::size_t i = 0; i < question.faults.size(); ++i) {
    if (left_out == i) continue;
    WEIR_TRY(fault, sim::parse_fault(question.faults[i]));
    experiment.faults.push_back(std::move(fault));
  }
  return sim::simulate(experiment);
}

/// Enough bytes to judge by.
bool has_load(const sim::Outcome& run) {
  constexpr std::int64_t kLeast = 2'000'000;  // bytes
  std::int64_t sum = 0;
  for (const sim::Flow& flow : sim::every_flow(run.results))
    sum += flow.size.raw();
  return sum >= kLeast;
}

/// The run; nullopt if it has too little load, or one of its faults had no effect.
Result<std::optional<sim::Outcome>> run_question(const Question& question) {
  WEIR_TRY(run, simulate(question, std::nullopt));
  if (!has_load(run)) return std::optional<sim::Outcome>();
  const FaultEffect with = effect_of(run, question);
  if (question.faults.empty()) {
    if (!with.is_finished) return std::optional<sim::Outcome>();
    return std::optional(std::move(run));
  }
  for (std::size_t i = 0; i < question.faults.size(); ++i) {
    WEIR_TRY(twin, simulate(question, i));
    const FaultEffect without = effect_of(twin, question);
    const bool is_alone = question.faults.size() == 1;
    if ((is_alone && !without.is_finished) || !had_effect(question.kinds[i], with, without))
      return std::optional<sim::Outcome>();
  }
  return std::optional(std::move(run));
}

// ---- where the fault is ----

void add_ports_of_host(const design::Intent& intent, std::uint32_t host, Culprit& out) {
  for (const design::SwitchIntent& device : intent.switches)
    for (const design::SwitchPortIntent& port : device.ports)
      if (port.peer.kind == design::NodeKind::kHost && port.peer.node == host)
        out.ports.emplace_back(device.name, port.name);
}

/// Both ends of every cable between this switch and another.
void add_ports_around(const design::Intent& intent, std::uint32_t index, Culprit& out) {
  for (std::uint32_t s = 0; s < intent.switches.size(); ++s) {
    for (const design::SwitchPortIntent& port : intent.switches[s].ports) {
      const bool is_between =
          port.peer.kind == design::NodeKind::kSwitch && (s == index || port.peer.node == index);
      if (is_between) out.ports.emplace_back(intent.switches[s].name, port.name);
    }
  }
}

void add_link(const design::Intent& intent, std::uint32_t link, Culprit& out) {
  for (const design::PortRef& end : {intent.links[link].lower, intent.links[link].upper}) {
    if (end.kind == design::NodeKind::kHost) {
      out.hosts.push_back(intent.hosts[end.node].name);
    } else {
      const design::SwitchIntent& device = intent.switches[end.node];
      out.ports.emplace_back(device.name, device.ports[end.port].name);
    }
  }
}

Culprit culprit_of(const sim::Fault& fault, const design::Intent& intent) {
  Culprit out;
  out.fault = fault.type->name;
  const auto site = sim::resolve(fault, intent);
  WEIR_CHECK(site.has_value());
  out.is_everywhere = fault.at.empty();
  for (const sim::NicRef& nic : site->nics) {
    const std::string& name = intent.hosts[nic.host].name;
    if (std::find(out.hosts.begin(), out.hosts.end(), name) != out.hosts.end()) continue;
    out.hosts.push_back(name);
    add_ports_of_host(intent, nic.host, out);
  }
  const bool has_partner =
      fault.type->name == "routing-loop" || fault.type->name == "bounce-routing";
  for (const std::uint32_t index : site->switches) {
    out.switches.push_back(intent.switches[index].name);
    if (has_partner) add_ports_around(intent, index, out);
  }
  for (const sim::LinkId link : site->links)
    add_link(intent, sim::to_index(link), out);
  return out;
}

bool has_traffic(const evidence::Evidence& host) {
  if (host.snapshots.empty()) return false;
  const auto& nics = host.snapshots.back().nics;
  return std::any_of(nics.begin(), nics.end(), [](const counters::PortCounters& nic) {
    const counters::Reading sent = nic.read("nic.port.tx.bytes");
    return sent.has_value() && sent.value() > 0;
  });
}

/// The host at fault, or else a host whose traffic crosses the place.
std::string witness_of(const Question& question, const Culprit* culprit, const Pieces& hosts) {
  if (culprit != nullptr && !culprit->hosts.empty() && !culprit->is_everywhere)
    return culprit->hosts.front();
  std::vector<std::string> near;
  std::vector<std::string> busy;
  for (const evidence::Evidence& host : hosts) {
    if (!has_traffic(host)) continue;
    busy.push_back(host.provenance.host);
    for (const evidence::Nic& nic : host.nics) {
      const bool is_near =
          culprit != nullptr && nic.link.neighbour.is_known() &&
          (std::find(culprit->switches.begin(), culprit->switches.end(),
                     nic.link.neighbour->system) != culprit->switches.end() ||
           std::any_of(culprit->ports.begin(), culprit->ports.end(),
                       [&](const auto& port) { return port.first == nic.link.neighbour->system; }));
      if (is_near && (near.empty() || near.back() != busy.back())) near.push_back(busy.back());
    }
  }
  const std::vector<std::string>& from = near.empty() ? busy : near;
  if (from.empty()) return question.intent.hosts.front().name;
  return from[drawn_witness(question, from.size())];
}

// ---- the answers ----

/// What the person who ran the load knows: what was sent, and how long it took.
KnownLoad known_load(const Question& question, const sim::Outcome& run) {
  KnownLoad out;
  for (const std::string& text : question.workloads)
    out.workloads.push_back(*sim::parse_workload(text));
  out.seed = simulation_seed(question);
  out.took = run.results.totals.duration;
  out.limit = kLimit;
  return out;
}

/// nullopt if the load is not to be compared, or does not finish on the design either.
std::optional<Replicas> replicas_of(const sim::Outcome& run, const Sitting& how,
                                    const Question& question) {
  if (!how.compares_load) return std::nullopt;
  auto played = Replicas::play(question.design, question.intent, known_load(question, run));
  if (!played) return std::nullopt;
  return std::move(*played);
}

/// One host cannot show what is wrong at another, so one of two faults is enough; nor that all
/// others are well, so for a healthy fabric it is enough to report no finding.
Mark mark_one_host(const finding::Judgement& judgement, const std::vector<Culprit>& culprits) {
  Mark out = mark_answer(judgement, culprits);
  if (culprits.empty())
    out.cause = out.place = judgement.conclusion != finding::Conclusion::kFindings;
  if (culprits.size() < 2) return out;
  out = mark_answer(judgement, {culprits.front()});
  const Mark other = mark_answer(judgement, {culprits.back()});
  return !out.cause && other.cause ? other : out;
}

void answer(const sim::Outcome& run, const Sitting& how, ExamRun& out) {
  for (const std::string& text : out.question.faults)
    out.culprits.push_back(culprit_of(*sim::parse_fault(text), out.question.intent));
  const Culprit* first = out.culprits.empty() ? nullptr : &out.culprits.front();
  out.witness = witness_of(out.question, first, run.results.hosts);
  const auto replicas = replicas_of(run, how, out.question);
  for (std::size_t i = 0; i < kExamViews.size(); ++i) {
    Pieces seen = seen_in(kExamViews.at(i), run.results, out.question.intent, out.witness);
    const Pieces joined = diagnose::join_windows(seen);
    diagnose::Case subject;
    subject.evidence = joined;
    subject.intent = &out.question.intent;
    const diagnose::View view(subject);
    out.judgements.at(i) = diagnose::diagnose(view);
    if (replicas) out.expectations.at(i) = replicas->compare(view);
    out.marks.at(i) = kExamViews.at(i) == ExamView::kOneHost
                          ? mark_one_host(out.judgements.at(i), out.culprits)
                          : mark_answer(out.judgements.at(i), out.culprits);
    if (how.keeps_evidence) out.evidence.at(i) = std::move(seen);
  }
}

// ---- the report ----

void count(const Mark& mark, const std::optional<Expectation>& expected, Tally& out) {
  ++out.runs;
  out.cause += mark.cause ? 1 : 0;
  out.place += mark.place ? 1 : 0;
  out.confident_wrong += mark.confident_wrong ? 1 : 0;
  out.inconclusive += mark.inconclusive ? 1 : 0;
  out.called_healthy += mark.called_healthy ? 1 : 0;
  out.compared += expected ? 1 : 0;
  out.outside += expected && !expected->outside.empty() ? 1 : 0;
}

void add(const ExamRun& run, const ExamOptions& options, ExamReport& out) {
  out.redraws += run.redraws;
  ++(run.is_counted ? out.counted : out.uncounted);
  if (!run.is_counted) return;
  const std::string name = name_of(run.question);
  for (std::size_t i = 0; i < kExamViews.size(); ++i) {
    const Mark& mark = run.marks.at(i);
    ViewScore& score = out.views.at(i);
    const bool is_healthy = run.question.kinds.empty();
    const auto& expected = run.expectations.at(i);
    count(mark, expected, is_healthy ? score.healthy : score.faulty);
    const std::string row = run.question.kinds.size() > 1 ? std::string(kTwoFaults) : name;
    if (!is_healthy) count(mark, expected, score.by_fault[row]);
    if (mark.cause) continue;
    ++score.wrong[{row, mark.said}];
    out.misses.push_back(
        {run.question.seed, kExamViews.at(i), name, mark.said,
         fmt::format("weir exam --replay {}{}", run.question.seed,
                     options.faults.empty() ? "" : " --faults " + join(options.faults, ","))});
  }
}

}  // namespace

std::string_view to_text(ExamView view) {
  switch (view) {
    case ExamView::kFull: return "full";
    case ExamView::kCounters: return "counters";
    case ExamView::kOneHost: return "one_host";
  }
  WEIR_UNREACHABLE("every view has a word");
}

std::string_view to_title(ExamView view) {
  switch (view) {
    case ExamView::kFull: return "full evidence";
    case ExamView::kCounters: return "counters only";
    case ExamView::kOneHost: return "one host only";
  }
  WEIR_UNREACHABLE("every view has a title");
}

std::string name_of(const Question& question) {
  return question.kinds.empty() ? std::string(kHealthyQuestion) : join(question.kinds, " + ");
}

ExamRun sit_exam(std::uint64_t seed, const Sitting& how) {
  ExamRun out;
  const std::vector<std::string> kinds = drawn_kinds(seed, how.faults);
  for (std::uint64_t attempt = 0; attempt < kAttempts; ++attempt) {
    out.question = draw_question(seed, attempt, kinds);
    auto run = run_question(out.question);
    if (!run) out.trouble = run.error().what;
    if (run && *run) {
      out.is_counted = true;
      out.trouble.clear();
      answer(**run, how, out);
      return out;
    }
    ++out.redraws;
  }
  if (out.trouble.empty()) out.trouble = "no draw of the fault had an effect";
  return out;
}

ExamReport run_exam(const ExamOptions& options) {
  WEIR_CHECK(options.first_seed <= options.last_seed);
  ExamReport out;
  out.first_seed = options.first_seed;
  out.last_seed = options.last_seed;
  std::vector<ExamRun> runs(options.last_seed - options.first_seed + 1);
  std::mutex guard;
  std::uint64_t done = 0;
  for_each_index(runs.size(), options.jobs, [&](std::size_t i) {
    runs[i] = sit_exam(options.first_seed + i, {options.faults, options.compares_load, false});
    // Large, and not needed for the report.
    runs[i].question.design = {};
    runs[i].question.intent = {};
    runs[i].judgements = {};
    if (!options.progress) return;
    const std::lock_guard lock(guard);
    options.progress(++done);
  });
  for (const ExamRun& run : runs)
    add(run, options, out);
  return out;
}

}  // namespace weir::lab

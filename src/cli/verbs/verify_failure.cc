#include "cli/verbs/verify_failure.h"

#include <algorithm>
#include <array>

#include <fmt/format.h>

#include "base/json.h"
#include "base/table.h"
#include "base/text.h"
#include "cli/verbs/verify_burst.h"
#include "cli/verbs/verify_load.h"
#include "finding/catalog.h"
#include "units/format.h"

namespace weir::cli {
namespace {

/// One of the three runs.
struct Phase {
  std::string_view name;
  Verified verified;
  Burst flow;  // what flow control did, and what was lost of the lossless class

  [[nodiscard]] bool is_finished() const { return !verified.is_failed(); }
};

Result<Phase> run_phase(std::string_view name, HostSet& set, const DesignInput& input,
                        const std::string& ran_on, const std::vector<std::string>& words,
                        Context& context) {
  const auto runner = std::find_if(set.hosts.begin(), set.hosts.end(),
                                   [&](const auto& host) { return host->name() == ran_on; });
  WEIR_CHECK(runner != set.hosts.end());
  const Observation before = observe(set, context);
  WEIR_TRY(outcome, (*runner)->run(words));
  const Observation after = observe(set, context);
  const std::vector<evidence::Evidence> window = window_of(before.all(), after.all());
  Drive drive;
  drive.words = words;
  drive.ran_on = ran_on;
  drive.outcome = std::move(outcome);
  drive.sees_all_ends = set.lab.has_value();
  Phase phase{
      .name = name, .verified = judge_load(std::move(drive), window, input.intent), .flow = {}};
  finding::Judgement ignored;
  phase.flow = judge_burst(window, input.intent, 0, ran_on, ignored);
  return phase;
}

/// What of the class was dropped for want of buffer: a link that dies takes what is on it along,
/// and that is no fault of the fabric's.
std::uint64_t lossless_drops(const Phase& phase) {
  std::uint64_t sum = 0;
  for (const diagnose::Observation& one : phase.verified.observations)
    if (one.counter == "switch.pg.drop_headroom.packets" ||
        one.counter == "nic.prio.rx_discard.packets")
      sum += one.amount;
  return sum;
}

/// The judgement over all three: what the failure itself shows is expected and no finding.
finding::Judgement judge(const std::array<Phase, 3>& phases, const Failure& failure) {
  const auto& [before, during, after] = phases;
  finding::Judgement judgement = after.verified.judgement;
  if (!before.is_finished() || before.verified.judgement.count(finding::Severity::kError) > 0) {
    judgement.unknown.push_back({"behaviour under failure",
                                 "the fabric was not well before the failure began",
                                 "mend that first: weir verify without --under-failure"});
  }
  const std::uint64_t drops = lossless_drops(during);
  if (drops > lossless_drops(before)) {
    judgement.findings.push_back(finding::make_finding(
        "headroom.too_small",
        fmt::format("Under the failure ({}) {} packets of the lossless class were dropped for want "
                    "of buffer.",
                    failure.text, drops)));
  }
  if (!during.is_finished()) {
    judgement.findings.push_back(finding::make_finding(
        "failover.window_too_short",
        fmt::format("The load did not survive the failure ({}): it ended with status {}.",
                    failure.text, during.verified.drive.outcome.exit_status)));
  }
  const finding::Conclusion known = judgement.conclusion;
  finding::settle(judgement);
  if (judgement.conclusion == finding::Conclusion::kHealthy &&
      (known == finding::Conclusion::kInconclusive || !judgement.unknown.empty()))
    judgement.conclusion = finding::Conclusion::kInconclusive;
  return judgement;
}

std::string verdict_of(const std::array<Phase, 3>& phases, const finding::Judgement& judgement,
                       const Failure& failure) {
  const std::string head = fmt::format("Under failure ({}){}: ", failure.text,
                                       simulated_word(phases[0].verified.is_simulated));
  if (!phases[1].is_finished()) return head + "the load did not survive it.";
  if (lossless_drops(phases[1]) > 0) return head + "packets of the lossless class were lost.";
  if (!phases[2].is_finished() || judgement.count(finding::Severity::kError) > 0)
    return head + "carried, but not well again afterwards.";
  return head + "lossless meanwhile, and itself again afterwards.";
}

Json phases_json(const std::array<Phase, 3>& phases) {
  Json list = Json::array();
  for (const Phase& one : phases) {
    list.push_back(
        {{"phase", one.name},
         {"exit", one.verified.drive.outcome.exit_status},
         {"elapsed_us", static_cast<double>(one.verified.drive.outcome.elapsed.raw()) / 1e6},
         {"lossless_drops", lossless_drops(one)},
         {"pauses", one.flow.pauses ? Json(*one.flow.pauses) : Json(nullptr)},
         {"conclusion", finding::to_text(one.verified.judgement.conclusion)}});
  }
  return {{"phases", std::move(list)}};
}

std::optional<std::string> after(const std::string& text, std::string_view key) {
  if (!text.starts_with(key)) return std::nullopt;
  return text.substr(key.size());
}

void print_phases(const std::array<Phase, 3>& phases, Context& context) {
  TextTable table({"", "took", "lossless drops", "pauses", "load"});
  for (const Phase& one : phases)
    table.add_row({std::string(one.name), approximate(one.verified.drive.outcome.elapsed),
                   std::to_string(lossless_drops(one)),
                   one.flow.pauses ? std::to_string(*one.flow.pauses) : "?",
                   one.is_finished() ? "finished" : "failed"});
  context.out << '\n' << table.to_text(2);
}

}  // namespace

std::vector<std::string> faults_of(const std::string& what, const design::Intent& intent) {
  // Not at once: the load is under way when it happens.
  const auto down = [](std::string_view at) {
    return fmt::format("link-down,at={},from=20us", at);
  };
  if (const auto at = after(what, "link=")) return {down(*at)};
  if (const auto at = after(what, "host=")) return {down(*at)};
  const auto rail = after(what, "rail=");
  if (!rail) return {what};
  std::vector<std::string> all;
  for (const design::HostIntent& host : intent.hosts)
    for (const design::NicIntent& nic : host.nics)
      if (std::to_string(nic.rail) == *rail)
        all.push_back(down(fmt::format("{}/{}", host.name, nic.rail)));
  return all;
}

std::vector<std::string> load_under(const std::string& what, const design::Intent& intent) {
  std::vector<std::string> words = {"all-to-all", "size=256KB"};
  const auto drained = after(what, "rail=");
  if (!drained) return words;
  std::vector<std::string> others;
  for (const design::NicIntent& nic : intent.hosts.front().nics)
    if (std::to_string(nic.rail) != *drained) others.push_back(std::to_string(nic.rail));
  if (others.empty()) return {};
  words.push_back("rails=" + join(others, "+"));
  return words;
}

std::string why_no_failure(const std::string& command) {
  const bool is_link = command.find("ip link") != std::string::npos ||
                       command.find("ifconfig") != std::string::npos ||
                       command.find("ifdown") != std::string::npos;
  if (!is_link || command.find("ssh") != std::string::npos) return {};
  return "taking a host's interface down does not stop RoCE: its packets never pass the interface. "
         "Shut the switch's port, or the queue pair's peer";
}

ExitCode run_under_failure(const Args& args, Context& context, HostSet& set,
                           const DesignInput& input, const std::string& ran_on,
                           const std::vector<std::string>& words, const Failure& failure) {
  std::array<Phase, 3> phases;
  constexpr std::array<std::string_view, 3> kNames = {"before", "during", "after"};
  for (std::size_t i = 0; i < phases.size(); ++i) {
    const Status changed = i == 1 ? failure.begin() : i == 2 ? failure.end() : Status();
    if (!changed) {
      const bool is_system = changed.error().code == ErrorCode::kIo;
      return fail(context, is_system ? ExitCode::kCouldNotLook : ExitCode::kBadInput,
                  changed.error().what);
    }
    auto phase = run_phase(kNames.at(i), set, input, ran_on, words, context);
    if (!phase) {
      if (i == 1) static_cast<void>(failure.end());  // never leave a failure behind
      return fail(context, ExitCode::kCouldNotLook, phase.error().what);
    }
    phases.at(i) = std::move(*phase);
  }
  Verified last = phases[2].verified;
  last.judgement = judge(phases, failure);
  const std::string verdict = verdict_of(phases, last.judgement, failure);
  if (context.json) {
    const Json extra = phases_json(phases);
    return print_verified(args, context, last, verdict, &extra);
  }
  context.out << verdict << '\n';
  if (!context.quiet) print_phases(phases, context);
  return print_judgement(args, context, last.judgement, "", {});
}

}  // namespace weir::cli

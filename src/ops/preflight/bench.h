#pragma once
// The bench of a preflight: its hosts, what runs loads on them, the windows around those. Internal
// to this folder.
#include <algorithm>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "diagnose/behaviour/preflight.h"
#include "diagnose/behaviour/totals.h"
#include "diagnose/core/view.h"
#include "lab/expectation/expectation.h"
#include "ops/preflight/preflight.h"
#include "ops/preflight/rig.h"
#include "preflight/schedule.h"
#include "preflight/suspects.h"

namespace weir::ops {

/// What everybody counted around a load.
struct Window {
  std::vector<evidence::Evidence> evidence;
  std::vector<std::string> unseen;
};

class Bench {
 public:
  // The rig refers to it.
  Bench(const Bench&) = delete;
  Bench& operator=(const Bench&) = delete;
  Bench(const PreflightRequest& request, HostSet set, Fabric fabric)
      : request_(request), set_(std::move(set)), fabric_(std::move(fabric)) {
    seat();
  }

  [[nodiscard]] const PreflightRequest& request() const { return request_; }
  [[nodiscard]] const design::Intent& intent() const { return fabric_.intent; }
  [[nodiscard]] const design::Design& design() const { return fabric_.design; }
  [[nodiscard]] HostSet& set() { return set_; }
  [[nodiscard]] Rig& rig() { return *rig_; }
  [[nodiscard]] bool is_lab() const { return set_.lab.has_value(); }
  /// That take part: those of the design that were named. Numbers of hosts count these.
  [[nodiscard]] std::uint32_t hosts() const { return static_cast<std::uint32_t>(part_.size()); }
  [[nodiscard]] const design::HostIntent& host(std::uint32_t number) const {
    return fabric_.intent.hosts[part_[number]];
  }
  [[nodiscard]] const std::string& name(std::uint32_t number) const { return host(number).name; }
  [[nodiscard]] bool is_interrupted() const {
    return request_.is_interrupted && request_.is_interrupted();
  }

  /// These hosts take no part any more: the others have new numbers, and a rig of their own.
  void leave_out(const std::vector<std::string>& names);
  /// Hosts that could not be read behind a load, "gpu03: why", since it was last asked.
  [[nodiscard]] std::vector<std::string> take_unread() { return std::exchange(unread_, {}); }

  /// A number per host; equal ones have the same NICs at the same speed.
  [[nodiscard]] std::vector<std::uint32_t> kinds() const;

  /// What was counted in all windows since it was last asked; none: nothing was watched.
  [[nodiscard]] std::optional<diagnose::Totals> take_totals() {
    return std::exchange(totals_, std::nullopt);
  }
  /// The time of the last look.
  [[nodiscard]] const std::string& seen_until() const { return seen_until_; }

  /// The speed of the link, or the rate that the design shapes it to.
  [[nodiscard]] BitRate line_rate(const design::NicIntent& nic) const;

  /// A number per host; equal ones are below the same leaf (of their first rail).
  [[nodiscard]] std::vector<std::uint32_t> leaves() const;

  /// Looks, acts, looks again. An error (kInterrupted too) is the action's.
  [[nodiscard]] Result<Window> watch(const std::function<Status()>& action);
  [[nodiscard]] diagnose::Case subject(const Window& window) const {
    return {
        .evidence = window.evidence, .intent = &fabric_.intent, .thresholds = request_.thresholds};
  }

  /// A host as it was last seen; nullptr: it was not.
  [[nodiscard]] const evidence::Evidence* last_seen(std::uint32_t host) const;
  void remember(const Observation& seen) { last_seen_ = seen.hosts; }

  /// Both ways of every pair, on every rail, with the floor of each; rates are to be filled in.
  [[nodiscard]] std::vector<preflight::Sample> samples_of(const preflight::Round& round,
                                                          std::uint32_t number) const;

 private:
  void seat();

  const PreflightRequest& request_;
  HostSet set_;
  Fabric fabric_;
  std::vector<std::uint32_t> part_;  // places in the intent
  std::unique_ptr<Rig> rig_;
  std::vector<evidence::Evidence> last_seen_;
  std::optional<diagnose::Totals> totals_;
  std::string seen_until_;
  std::vector<std::string> unread_;
};

[[nodiscard]] preflight::Identity identity_of(const Bench& bench, const Observation& seen);
/// QoS and MTU of the NICs that the design knows, as they were shown.
[[nodiscard]] std::vector<preflight::SettingFact> settings_of(const Bench& bench,
                                                              const Observation& seen);

/// Adds what `judgement` found; the state follows from it: failed from the red flag on, open where
/// something that is required could not be judged.
void settle_stage(const PreflightRequest& request, finding::Judgement judgement,
                  preflight::StageResult& stage);

/// Findings of another window that are not there yet: the same, at the same place.
void add_findings(std::vector<finding::Finding> more, finding::Judgement& judgement);
/// Warnings and errors of a smaller load: no less true where a larger one shows something else.
/// What could not be judged then, the larger one tells.
void add_warnings(finding::Judgement of_smaller, finding::Judgement& judgement);

[[nodiscard]] double seconds_of(Duration time);
[[nodiscard]] preflight::Measure measure_of(std::string metric, std::string unit,
                                            preflight::Better better, std::vector<double> values);
/// From the first of each pair to the second, and back.
[[nodiscard]] std::vector<std::pair<std::uint32_t, std::uint32_t>> both_ways(
    const preflight::Round& round);

/// The load on the fabric as designed, by the simulator, against what was counted.
[[nodiscard]] std::string expected_text(const Bench& bench, const lab::KnownLoad& known,
                                        const std::vector<evidence::Evidence>& window);
/// Bits per second that a NIC sends in an all-to-all of the hosts that take part, on the fabric as
/// designed, by the simulator.
[[nodiscard]] weir::Result<double> expected_nic_rate(const Bench& bench);

// The stages. Each fills in the state, `why` and what was measured.
[[nodiscard]] Status run_facts(Bench& bench, preflight::StageResult& stage);
[[nodiscard]] Status run_idle(Bench& bench, preflight::StageResult& stage);
[[nodiscard]] Status run_path(Bench& bench, preflight::StageResult& stage);
[[nodiscard]] Status run_loopback(Bench& bench, preflight::StageResult& stage);
[[nodiscard]] Status run_pairs(Bench& bench, preflight::StageResult& stage);
[[nodiscard]] Status run_overload(Bench& bench, preflight::StageResult& stage);
[[nodiscard]] Status run_collectives(Bench& bench, preflight::StageResult& stage);
[[nodiscard]] Status run_failure(Bench& bench, preflight::StageResult& stage);
[[nodiscard]] Status run_soak(Bench& bench, preflight::StageResult& stage);

/// FEC of the NICs' links: the active mode against the design and the speed, as lint judges it;
/// what was corrected in the window. What a driver does not show is a note.
void judge_fec(const Bench& bench, const Window& window, finding::Judgement& judgement,
               preflight::StageResult& stage);

/// With the names of its hosts.
[[nodiscard]] diagnose::LonePair lone_pair(const Bench& bench, const preflight::Sample& sample);
/// A leaf's links to other switches.
[[nodiscard]] std::vector<std::uint32_t> uplinks_of(const design::Intent& intent,
                                                    std::uint32_t leaf);
/// "leaf1 swp9 - spine2 swp1".
[[nodiscard]] std::string link_text(const design::Intent& intent, std::uint32_t link);
/// A few by their ports, more by their switches: "leaf[1-8] - spine[1-4]".
[[nodiscard]] std::string links_text(const design::Intent& intent,
                                     const std::vector<std::uint32_t>& links);
/// Of more hosts than all pairs are measured of: which link between switches made pairs slow in the
/// rounds, by further pairs, alone. Adds a finding for each. `slow_hosts` are slow with everybody:
/// that their pairs were slow says nothing of links.
[[nodiscard]] Status bisect_links(Bench& bench, const std::vector<preflight::Sample>& samples,
                                  std::set<std::uint32_t> slow_hosts, preflight::StageResult& stage,
                                  finding::Judgement& judgement);
/// What was slow in the rounds again, alone: what slow NICs have in common, then the worst of them
/// with two healthy partners, then pairs. Adds a finding for each that is slow alone too.
[[nodiscard]] Status retest_slow(Bench& bench, const std::vector<preflight::Sample>& samples,
                                 preflight::StageResult& stage, finding::Judgement& judgement);

/// What each stage will do, in words with numbers, and which do not apply.
void plan_lab(const Bench& bench, preflight::Report& report);
/// `seconds` is how long a load runs.
void plan_hosts(const Bench& bench, std::int64_t seconds, preflight::Report& report);

/// What fails in stage 7: "rail=1", "link=leaf1/swp9"; empty where nothing is redundant.
[[nodiscard]] std::string failure_of(const design::Intent& intent);
/// Who receives in stage 5: the first host below each leaf; of a quick one the first alone.
[[nodiscard]] std::vector<std::string> receivers_of(const Bench& bench);
/// Traffic of other classes that the design knows, as workloads.
[[nodiscard]] std::vector<std::string> background_of(const design::Intent& intent);

}  // namespace weir::ops

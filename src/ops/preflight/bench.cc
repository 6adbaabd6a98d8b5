#include "ops/preflight/bench.h"

#include <algorithm>
#include <map>

#include <fmt/format.h>

#include "ops/verify/verify.h"
#include "preflight/measure.h"

namespace weir::ops {
namespace {

constexpr double kPicosecondsIn = 1e12;  // a second

}  // namespace

void Bench::seat() {
  part_.clear();
  for (std::uint32_t i = 0; i < fabric_.intent.hosts.size(); ++i)
    if (std::any_of(set_.hosts.begin(), set_.hosts.end(),
                    [&](const auto& each) { return each->name() == fabric_.intent.hosts[i].name; }))
      part_.push_back(i);
  rig_ = is_lab() ? make_lab_rig(*this) : make_host_rig(*this);
}

void Bench::leave_out(const std::vector<std::string>& names) {
  std::erase_if(set_.hosts, [&](const auto& host) {
    return std::find(names.begin(), names.end(), host->name()) != names.end();
  });
  seat();
}

std::vector<std::uint32_t> Bench::kinds() const {
  std::map<std::string, std::uint32_t> known;
  std::vector<std::uint32_t> out;
  for (std::uint32_t i = 0; i < hosts(); ++i) {
    const design::HostIntent& host = this->host(i);
    std::string kind = host.nic_model != nullptr ? std::string(host.nic_model->name) : "";
    for (const design::NicIntent& nic : host.nics)
      kind += fmt::format("/{}", nic.speed.raw());
    out.push_back(known.try_emplace(kind, static_cast<std::uint32_t>(known.size())).first->second);
  }
  return out;
}

BitRate Bench::line_rate(const design::NicIntent& nic) const {
  const auto& shaper = design().links[intent().links[nic.link].group].shaper;
  return shaper.is_set() ? std::min(nic.speed, *shaper) : nic.speed;
}

std::vector<std::uint32_t> Bench::leaves() const {
  std::vector<std::uint32_t> out;
  for (std::uint32_t i = 0; i < hosts(); ++i)
    out.push_back(host(i).nics.empty() ? 0 : intent().links[host(i).nics.front().link].upper.node);
  return out;
}

Result<Window> Bench::watch(const std::function<Status()>& action) {
  // The failure of stage 7 was made by another handle of the lab: what it counted is no news here.
  if (set_.lab) WEIR_TRY_STATUS(or_could_not_look(set_.lab->refresh()));
  WEIR_TRY(before, observe_some(set_));
  remember(before);
  WEIR_TRY_STATUS(action());
  if (is_interrupted())
    return Failure{FailureKind::kInterrupted, "interrupted: the load has ended"};
  const Observation after = observe(set_);
  Window window{window_of(before.all(), after.all()), after.unseen};
  unread_.insert(unread_.end(), after.unseen.begin(), after.unseen.end());
  const diagnose::Totals totals = diagnose::totals_of(diagnose::View(subject(window)));
  totals_ = totals_ ? preflight::sum_of(*totals_, totals) : totals;
  if (!after.hosts.empty()) seen_until_ = after.hosts.front().provenance.time;
  return window;
}

const evidence::Evidence* Bench::last_seen(std::uint32_t host) const {
  const auto found = std::find_if(last_seen_.begin(), last_seen_.end(), [&](const auto& seen) {
    return seen.provenance.host == name(host);
  });
  return found == last_seen_.end() ? nullptr : &*found;
}

std::vector<preflight::Sample> Bench::samples_of(const preflight::Round& round,
                                                 std::uint32_t number) const {
  std::vector<preflight::Sample> out;
  for (const auto& [from, to] : both_ways(round)) {
    const design::HostIntent& sender = host(from);
    const design::HostIntent& receiver = host(to);
    const std::size_t rails = std::min(sender.nics.size(), receiver.nics.size());
    for (std::uint32_t rail = 0; rail < rails; ++rail) {
      design::NicIntent sends = sender.nics[rail];
      design::NicIntent receives = receiver.nics[rail];
      sends.speed = line_rate(sends);
      receives.speed = line_rate(receives);
      const BitRate floor = preflight::pair_floor(sends, receives, request_.thresholds.pair_floor);
      out.push_back({.from = from,
                     .to = to,
                     .rail = rail,
                     .round = number,
                     .rate = 0,
                     .floor = static_cast<double>(floor.raw())});
    }
  }
  return out;
}

void add_findings(std::vector<finding::Finding> more, finding::Judgement& judgement) {
  const std::size_t before = judgement.findings.size();
  for (finding::Finding& finding : more) {
    const bool is_known = std::any_of(
        judgement.findings.begin(), judgement.findings.end(),
        [&](const auto& other) { return other.id == finding.id && other.where == finding.where; });
    if (!is_known) judgement.findings.push_back(std::move(finding));
  }
  if (judgement.findings.size() > before) finding::settle(judgement);
}

void add_warnings(finding::Judgement of_smaller, finding::Judgement& judgement) {
  std::erase_if(of_smaller.findings, [](const finding::Finding& finding) {
    return finding.severity == finding::Severity::kInfo;
  });
  add_findings(std::move(of_smaller.findings), judgement);
}

double seconds_of(Duration time) {
  return static_cast<double>(time.raw()) / kPicosecondsIn;
}

preflight::Measure measure_of(std::string metric, std::string unit, preflight::Better better,
                              std::vector<double> values) {
  return {.metric = std::move(metric),
          .unit = std::move(unit),
          .better = better,
          .values = preflight::distribution_of(std::move(values))};
}

std::vector<std::pair<std::uint32_t, std::uint32_t>> both_ways(const preflight::Round& round) {
  std::vector<std::pair<std::uint32_t, std::uint32_t>> out;
  for (const preflight::HostPair& pair : round) {
    out.emplace_back(pair.first, pair.second);
    out.emplace_back(pair.second, pair.first);
  }
  return out;
}

void settle_stage(const PreflightRequest& request, finding::Judgement judgement,
                  preflight::StageResult& stage) {
  const bool is_red = std::any_of(
      judgement.findings.begin(), judgement.findings.end(),
      [&](const finding::Finding& found) { return found.severity >= request.red_flag; });
  const bool is_open =
      judgement.conclusion == finding::Conclusion::kInconclusive || judgement.is_partial();
  stage.state = is_red    ? preflight::State::kFailed
                : is_open ? preflight::State::kOpen
                          : preflight::State::kPassed;
  if (is_red) {
    stage.why = judgement.findings.front().verdict;
  } else if (is_open && !judgement.unknown.empty()) {
    const finding::Unknown& first = judgement.unknown.front();
    stage.why = fmt::format("{}: {}", first.check, first.reason);
  } else if (is_open) {
    stage.why = "too little data to call it healthy";
  }
  stage.judgement = std::move(judgement);
}

}  // namespace weir::ops

// Waves on a lab: each wave is one apply of its hosts, which the lab undoes as a whole.
#include <algorithm>

#include <fmt/format.h>

#include "ops/change/waves.h"

namespace weir::ops {
namespace {

class LabWaves final : public WaveDriver {
 public:
  LabWaves(const WaveRequest& request, const Plan& plan)
      : request_(request), intent_(plan.fabric.intent) {}

  void apply(std::vector<WaveHost>& wave) override {
    changed_ = false;
    auto transaction = begin_apply(of(wave), request_.apply);
    if (!transaction) return all(wave, WaveHostState::kFailed, transaction.error().what);
    auto applied = ops::apply(*transaction, request_.apply);
    if (!applied) return all(wave, WaveHostState::kFailed, applied.error().what);
    all(wave, applied->is_failed() ? WaveHostState::kRolledBack : WaveHostState::kNothing, "");
    for (const host::HostOutcome& outcome : applied->hosts) {
      const auto host = std::find_if(wave.begin(), wave.end(), [&](const WaveHost& each) {
        return each.host == outcome.host;
      });
      if (host == wave.end() || outcome.steps.empty()) continue;
      host->changes = outcome.steps.size();
      if (!applied->is_failed()) host->state = WaveHostState::kApplied;
      if (!outcome.is_done() && outcome.host == applied->hosts.back().host) {
        host->state = WaveHostState::kFailed;
        host->detail = outcome.failure;
      }
    }
    changed_ = std::any_of(wave.begin(), wave.end(), [](const WaveHost& host) {
      return host.state == WaveHostState::kApplied;
    });
  }

  std::vector<std::string> faults(std::vector<WaveHost>& wave) override {
    auto set = open_hosts(of(wave).source);
    if (!set) {
      all(wave, WaveHostState::kLost, set.error().what);
      return {};
    }
    return error_texts(observe(*set).hosts, intent_);
  }

  void confirm(std::vector<WaveHost>& wave) override {
    for (WaveHost& host : wave)
      if (host.state == WaveHostState::kApplied) host.state = WaveHostState::kConfirmed;
  }

  void roll_back(std::vector<WaveHost>& wave) override {
    // A wave that was not begun has nothing to undo: the last apply is the wave before.
    const bool was_begun = std::any_of(wave.begin(), wave.end(), [](const WaveHost& host) {
      return host.state != WaveHostState::kUntouched;
    });
    if (!changed_ || !was_begun) return;
    auto planned = plan_rollback(of(wave).source, request_.apply.state, request_.apply.wait);
    if (!planned || !planned->journal) return;
    const auto done = ops::roll_back(*planned);
    const bool is_whole = done && done->is_whole;
    for (WaveHost& host : wave) {
      if (host.state != WaveHostState::kApplied && host.state != WaveHostState::kConfirmed)
        continue;
      host.state = is_whole ? WaveHostState::kRolledBack : WaveHostState::kFailed;
      if (!is_whole) host.detail = "not all of it could be rolled back: weir rollback";
    }
  }

 private:
  [[nodiscard]] PlanRequest of(const std::vector<WaveHost>& wave) const {
    PlanRequest request = request_.planned;
    request.source.hosts.clear();
    for (const WaveHost& host : wave)
      request.source.hosts.push_back(host.host);
    return request;
  }
  static void all(std::vector<WaveHost>& wave, WaveHostState state, const std::string& detail) {
    for (WaveHost& host : wave) {
      host.state = state;
      host.detail = detail;
    }
  }

  const WaveRequest& request_;
  const design::Intent& intent_;
  bool changed_ = false;  // by the last apply()
};

}  // namespace

std::unique_ptr<WaveDriver> make_lab_driver(const WaveRequest& request, const Plan& plan) {
  return std::make_unique<LabWaves>(request, plan);
}

}  // namespace weir::ops

#include "lab/fabric/lab_host.h"

#include <algorithm>
#include <set>

#include <fmt/format.h>

#include "base/name_pattern.h"
#include "base/text.h"
#include "lab/fabric/nccl_tests.h"
#include "lab/fabric/perftest.h"
#include "lab/fabric/shared.h"
#include "sim/fault/fault.h"
#include "sim/workload/workload_spec.h"
#include "units/format.h"

namespace weir::lab {
namespace {

std::string base_name(const std::string& path) {
  return path.substr(path.rfind('/') + 1);
}

/// "incast to=gpu01 size=1MB", or with commas, as `weir sim` takes it.
Result<Load> workload_load(const std::vector<std::string>& command) {
  Load load;
  load.command = join(command, " ");
  WEIR_TRY(spec, sim::parse_workload(join(command, ",")));
  load.workloads.push_back(std::move(spec));
  return load;
}

std::string summary(const LoadOutcome& done) {
  std::string out = "simulated, not measured\n";
  for (const sim::WorkloadResult& result : done.workloads) {
    out += fmt::format("{}: {} of {} messages completed, {} failed, {}\n", result.label,
                       result.completed, result.messages, result.failed, approximate(result.bytes));
    if (result.bus_bandwidth)
      out += fmt::format("  bus bandwidth {:.2f} Gbit/s\n", *result.bus_bandwidth / 1e9);
    if (result.completion.count > 0)
      out +=
          fmt::format("  completion p50 {}, p99 {}, max {}\n", approximate(result.completion.p50),
                      approximate(result.completion.p99), approximate(result.completion.max));
  }
  const sim::Totals& totals = done.totals;
  out += fmt::format(
      "{} simulated; switches marked {} packets; {} CNPs, {} pauses begun, {} lossless "
      "drops\n",
      approximate(done.elapsed), totals.marked, totals.cnp_sent, totals.pauses,
      totals.lossless_drops);
  if (!done.is_finished) out += "not finished within the time limit\n";
  for (const std::string& note : done.notes)
    out += fmt::format("note: {}\n", note);
  return out;
}

/// Hosts that faults of the lab have cut off for good: every link of theirs is down to the end.
std::vector<std::uint32_t> lost_hosts(const Lab::Shared& shared) {
  const design::Intent& intent = shared.blueprint.intent;
  std::set<std::uint32_t> down;  // links
  for (const FaultRecord& record : shared.state.faults) {
    const auto fault = sim::parse_fault(record.text);
    if (!fault || fault->until != Time::never()) continue;
    const auto site = sim::resolve(*fault, intent);
    if (!site) continue;
    if (std::holds_alternative<sim::LinkDown>(fault->kind))
      for (const sim::LinkId link : site->links)
        down.insert(static_cast<std::uint32_t>(sim::to_index(link)));
    if (std::holds_alternative<sim::SwitchDown>(fault->kind))
      for (const std::uint32_t index : site->switches)
        for (const design::SwitchPortIntent& port : intent.switches[index].ports)
          down.insert(port.link);
  }
  std::vector<std::uint32_t> lost;
  for (std::uint32_t h = 0; h < intent.hosts.size(); ++h) {
    const auto& nics = intent.hosts[h].nics;
    const bool is_lost = std::all_of(nics.begin(), nics.end(), [&](const design::NicIntent& nic) {
      return down.contains(nic.link);
    });
    if (is_lost && !nics.empty()) lost.push_back(h);
  }
  return lost;
}

/// nullopt where nobody was lost.
std::optional<host::Survivors> survivors_of(const Lab::Shared& shared, const LoadOutcome& done) {
  const std::vector<std::uint32_t> lost = lost_hosts(shared);
  if (lost.empty()) return std::nullopt;
  const auto is_lost = [&](std::uint32_t host) {
    return std::find(lost.begin(), lost.end(), host) != lost.end();
  };
  host::Survivors out;
  for (const std::uint32_t host : lost)
    out.lost.push_back(shared.blueprint.intent.hosts[host].name);
  std::uint64_t planned = 0;
  for (const sim::WorkloadResult& result : done.workloads)
    planned += result.messages;
  std::uint64_t with_lost = 0;
  std::uint64_t arrived = 0;
  for (std::size_t i = 0; i < done.flows.size(); ++i) {
    const bool concerns = is_lost(done.ends[i].first) || is_lost(done.ends[i].second);
    with_lost += concerns ? 1 : 0;
    arrived += !concerns && done.flows[i].is_done() ? 1 : 0;
  }
  out.others = shared.blueprint.intent.hosts.size() - lost.size();
  out.are_finished = arrived > 0 && arrived + with_lost == planned;
  return out;
}

std::string survivors_text(const host::Survivors& survivors) {
  return fmt::format("{} cut off by a fault of the lab; {}\n",
                     compact_names(survivors.lost) + (survivors.lost.size() == 1 ? " is" : " are"),
                     survivors.others == 0 ? "no host is left"
                     : survivors.are_finished
                         ? "all that the other hosts had to send to each other arrived"
                         : "the other hosts did not finish either");
}

class LabHost final : public host::HostIo {
 public:
  LabHost(std::shared_ptr<Lab::Shared> shared, std::uint32_t host)
      : shared_(std::move(shared)), host_(host) {}

  [[nodiscard]] const std::string& name() const override {
    return shared_->blueprint.intent.hosts[host_].name;
  }
  [[nodiscard]] Result<evidence::Evidence> observe() override {
    return shared_->observe_host(host_);
  }
  [[nodiscard]] Result<evidence::Evidence> facts(const host::Scope& scope) override {
    return shared_->facts_of_host(host_, &scope);
  }
  [[nodiscard]] Result<counters::Snapshot> snapshot() override {
    return shared_->snapshot_host(host_);
  }
  [[nodiscard]] Status perform(const host::Operation& operation) override {
    return shared_->perform(host_, operation);
  }
  /// In this process, and to its end: a simulated load takes seconds.
  [[nodiscard]] Result<host::CommandOutcome> run(const std::vector<std::string>& command,
                                                 const host::LoadControl& /*control*/) override {
    if (command.empty()) return invalid_error("no command");
    const std::string tool = base_name(command.front());
    if (is_perftest(tool)) return run_perftest(*shared_, host_, command);
    if (is_nccl_test(command)) return run_nccl_test(*shared_, command);
    if (is_workload(command.front())) return run_workload(command);
    return host::CommandOutcome{
        .exit_status = 127,
        .output = "",
        .errors = fmt::format(
            "{}: not available in a lab, which runs {}, {} and the workloads of weir sim "
            "--list-workloads\n",
            tool, join(perftest_names(), ", "), join(nccl_test_names(), ", ")),
        .elapsed = {}};
  }

 private:
  /// "trace,file=/data/t.csv": its name is what comes before the first comma.
  static bool is_workload(const std::string& command) {
    const std::string word = command.substr(0, command.find(','));
    const auto rows = sim::workload_table();
    return std::any_of(rows.begin(), rows.end(),
                       [&](const sim::WorkloadRow& row) { return row.name == word; });
  }
  Result<host::CommandOutcome> run_workload(const std::vector<std::string>& command) {
    const auto load = workload_load(command);
    if (!load) return host::CommandOutcome{2, "", fmt::format("{}\n", load.error().what), {}};
    const auto done = shared_->run_load(*load);
    if (!done) return refused(done.error());
    const bool all_well = done->is_finished && done->totals.failed == 0;
    host::CommandOutcome out{all_well ? 0 : 1, summary(*done), "", done->elapsed};
    out.survivors = survivors_of(*shared_, *done);
    if (out.survivors && !all_well) out.output += survivors_text(*out.survivors);
    return out;
  }
  /// A command that does not fit the fabric fails; a lab that cannot be read or written is an
  /// error.
  static Result<host::CommandOutcome> refused(const Error& error) {
    if (error.code == ErrorCode::kIo || error.code == ErrorCode::kPermission) return error;
    return host::CommandOutcome{2, "", fmt::format("{}\n", error.what), {}};
  }

  std::shared_ptr<Lab::Shared> shared_;
  std::uint32_t host_;
};

}  // namespace

std::unique_ptr<host::HostIo> make_host(std::shared_ptr<Lab::Shared> shared, std::uint32_t host) {
  return std::make_unique<LabHost>(std::move(shared), host);
}

}  // namespace weir::lab

#include "lab/fabric/lab_host.h"

#include <algorithm>

#include <fmt/format.h>

#include "base/text.h"
#include "lab/fabric/perftest.h"
#include "lab/fabric/shared.h"
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
  out += fmt::format("{} simulated; {} marked, {} CNPs, {} pauses, {} lossless drops\n",
                     approximate(done.elapsed), totals.marked, totals.cnp_sent, totals.pauses,
                     totals.lossless_drops);
  if (!done.is_finished) out += "not finished within the time limit\n";
  for (const std::string& note : done.notes)
    out += fmt::format("note: {}\n", note);
  return out;
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
    return shared_->facts_of_host(host_, &scope.devices);
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
    if (is_workload(tool)) return run_workload(command);
    return host::CommandOutcome{
        .exit_status = 127,
        .output = "",
        .errors =
            fmt::format("{}: not available in a lab, which runs {} and the workloads of weir sim "
                        "--list-workloads\n",
                        tool, join(perftest_names(), ", ")),
        .elapsed = {}};
  }

 private:
  static bool is_workload(const std::string& tool) {
    const std::string word = tool.substr(0, tool.find(','));
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
    return host::CommandOutcome{all_well ? 0 : 1, summary(*done), "", done->elapsed};
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

#include "cli/frame/command_table.h"

#include "cli/frame/commands.h"

namespace weir::cli {

std::span<const Command> command_table() {
  static const std::vector<Command> table = {
      // For operators.
      demo_command(),
      tos_command(),
      explain_command(),
      init_command(),
      lint_command(),
      prove_command(),
      calc_headroom_command(),
      calc_buffers_command(),
      calc_wred_command(),
      render_command(),
      show_command(),
      check_command(),
      plan_command(),
      apply_command(),
      confirm_command(),
      rollback_command(),
      validate_command(),
      snapshot_command(),
      bundle_command(),
      diff_command(),
      verify_command(),
      preflight_command(),
      baseline_save_command(),
      baseline_list_command(),
      baseline_show_command(),
      baseline_compare_command(),
      baseline_drop_command(),
      probe_mtu_command(),
      job_command(),
      diagnose_command(),
      pcap_command(),
      sim_command(),
      tune_command(),
      lab_up_command(),
      lab_status_command(),
      lab_fault_command(),
      lab_switch_command(),
      lab_down_command(),
      tune_rollout_command(),
      tune_judge_command(),
      calibrate_plan_command(),
      calibrate_fit_command(),
      report_command(),
      serve_command(),
      top_command(),
      help_command(),
      // For developers.
      schema_command(),
      exam_command(),
      calibrate_twin_command(),
      fidelity_dcqcn_command(),
      tune_worker_command(),
  };
  return table;
}

}  // namespace weir::cli

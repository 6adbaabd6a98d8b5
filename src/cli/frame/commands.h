#pragma once
// The verbs, one function per file: verbs/<verb>.cc. Each gives its entry for the command table.
#include "cli/frame/command.h"

namespace weir::cli {

[[nodiscard]] Command apply_command();
[[nodiscard]] Command bundle_command();
[[nodiscard]] Command calc_buffers_command();
[[nodiscard]] Command calc_headroom_command();
[[nodiscard]] Command calc_wred_command();
[[nodiscard]] Command check_command();
[[nodiscard]] Command confirm_command();
[[nodiscard]] Command demo_command();
[[nodiscard]] Command diagnose_command();
[[nodiscard]] Command diff_command();
[[nodiscard]] Command exam_command();
[[nodiscard]] Command explain_command();
[[nodiscard]] Command fidelity_dcqcn_command();
[[nodiscard]] Command help_command();
[[nodiscard]] Command init_command();
[[nodiscard]] Command job_command();
[[nodiscard]] Command lab_down_command();
[[nodiscard]] Command lab_fault_command();
[[nodiscard]] Command lab_status_command();
[[nodiscard]] Command lab_switch_command();
[[nodiscard]] Command lab_up_command();
[[nodiscard]] Command lint_command();
[[nodiscard]] Command pcap_command();
[[nodiscard]] Command plan_command();
[[nodiscard]] Command preflight_command();
[[nodiscard]] Command baseline_save_command();
[[nodiscard]] Command baseline_list_command();
[[nodiscard]] Command baseline_show_command();
[[nodiscard]] Command baseline_compare_command();
[[nodiscard]] Command baseline_drop_command();
[[nodiscard]] Command prove_command();
[[nodiscard]] Command probe_mtu_command();
[[nodiscard]] Command render_command();
[[nodiscard]] Command report_command();
[[nodiscard]] Command rollback_command();
[[nodiscard]] Command schema_command();
[[nodiscard]] Command serve_command();
[[nodiscard]] Command show_command();
[[nodiscard]] Command sim_command();
[[nodiscard]] Command snapshot_command();
[[nodiscard]] Command top_command();
[[nodiscard]] Command tos_command();
[[nodiscard]] Command tune_command();
[[nodiscard]] Command tune_judge_command();
[[nodiscard]] Command calibrate_plan_command();
[[nodiscard]] Command calibrate_fit_command();
[[nodiscard]] Command calibrate_twin_command();
[[nodiscard]] Command tune_rollout_command();
[[nodiscard]] Command tune_worker_command();
[[nodiscard]] Command validate_command();
[[nodiscard]] Command verify_command();

}  // namespace weir::cli

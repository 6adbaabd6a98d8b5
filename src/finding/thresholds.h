#pragma once
// Every number that a rule decides by: one member here and one row in thresholds.cc, where its
// unit, meaning and source stand. The rules of `diagnose`, the judging of captures, the report and
// the alerts read these values and have no limits of their own, so a value that the user sets holds
// for all of them.
//
// `weir diagnose --list-thresholds` prints the table; `--threshold NAME=VALUE` sets a row.
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "base/result.h"

namespace weir::finding {

/// Members are double or std::uint64_t; shares are 0 to 1.
struct Thresholds {
  // pauses
  double pause_warning = 0.01;
  double pause_error = 0.05;
  double paused_mostly = 0.5;
  double stuck_pause = 0.9;
  double stuck_rate = 0.005;
  double renewed_pause = 0.2;
  double renewed_pause_when_stuck = 0.05;
  std::uint64_t pauses_released = 20;
  double steady_window = 1000;
  double storm_frames = 10'000;
  std::uint64_t frames_noted = 100'000;
  double pauses_at_one_port = 0.9;
  double pause_branch = 0.2;

  // marks and CNPs
  std::uint64_t marks_that_matter = 4;
  std::uint64_t marks_others_answer = 2;
  std::uint64_t receivers_that_answer = 3;
  std::uint64_t captured_marks_that_matter = 16;
  std::uint64_t cnps_that_matter = 20;
  std::uint64_t cnps_sent_that_matter = 200;
  std::uint64_t ignored_cnps_that_matter = 2;
  double cnps_ignored = 0.1;
  double cnps_ignored_some = 0.01;
  double cnps_heard = 0.2;
  double cnps_heard_by_one = 0.01;
  double cnp_queue_drops = 0.1;
  std::uint64_t marking_of_few_packets = 32'000;

  // traffic and its priority
  std::uint64_t bytes_that_matter = 200'000;
  std::uint64_t packets_that_matter = 50;
  double busy_before = 0.1;
  double rdma_share = 0.95;
  double data_packet_bytes = 512;
  double mixed_packet_bytes = 128;
  double arrives_in_priority = 0.5;
  double found_elsewhere = 0.5;
  double at_one_place = 0.9;
  double taken_for_rdma = 0.1;
  double rdma_counted_apart = 0.1;
  double rdma_elsewhere = 0.01;
  double more_by_queue_pairs = 1.5;
  std::uint64_t addresses_of_one_port = 3;
  std::uint64_t start_seconds = 180;
  double switch_disagrees = 0.3;
  double in_place_of_rdma = 0.75;
  double others_use_class = 0.5;
  std::uint64_t unanswered_packets = 16;
  std::uint64_t class_packets = 20;
  double starved_class = 0.5;
  double moved_match = 0.15;
  double moved_slack = 5;
  std::uint64_t moved_ports = 2;
  double mostly_unmarked = 10;
  double unmarked_share = 0.5;
  std::uint64_t dscps_counted = 100;
  std::uint64_t other_queue_packets = 1'000'000;
  double busy_rail = 0.2;
  double over_usual = 1.8;
  std::uint64_t usual_hosts = 3;
  double job_of_line = 0.2;
  double job_of_line_compared = 0.05;
  double job_of_peers = 0.45;

  // marking thresholds and DCQCN
  double threshold_factor = 1.5;
  double far_from_usual = 10.0;
  double marks_over_curve = 1.6;
  double chance = 3.0;
  double marks_slack = 2;
  double marks_per_pause = 0.2;
  std::uint64_t marks_on_idle_line = 1000;
  std::uint64_t pauses_that_matter = 20;
  double cnps_per_pause = 20;
  double low_use = 0.6;

  // buffers
  double buffer_share = 0.95;
  double pool_share = 0.50;
  double alpha_factor = 4;
  double early_pause = 0.9;
  double wasted_headroom = 0.05;

  // links and routes
  double hot_link = 1.9;
  double idle_link = 0.02;
  double allowed_bit_errors = 1e-12;
  double full_path = 0.8;
  double idle_path = 0.05;
  std::uint64_t paths_compared = 4;
  std::uint64_t alike_switches = 2;
  double hash_chance = 0.001;
  double narrow_uplinks = 0.9;
  double bounced = 1.005;
  double settled_share = 0.01;
  std::uint64_t one_way_neighbours = 2;

  std::uint64_t source_ports_counted = 1000;

  // what differs from others of its kind
  std::uint64_t sisters = 3;
  std::uint64_t sisters_meant_alike = 2;
  double sisters_at_speed = 0.66;
  std::uint64_t ports_in_subnet = 4;
  std::uint64_t ports_with_lanes = 8;
  std::uint64_t drops_without_pfc = 10'000;

  // loss
  double came_twice = 0.1;
  double gaps_over_losses = 10;
  std::uint64_t disorder_without_loss = 1000;
  double asked_again = 0.002;
  std::uint64_t restarts_that_matter = 10;
  std::uint64_t symbol_errors_told = 10;
  std::uint64_t link_downs_told = 1;
  std::uint64_t carrier_changes_told = 2;
  std::uint64_t boot_link_downs = 2;
  std::uint64_t restart_link_downs = 3;
  std::uint64_t restart_seconds = 600;
  std::uint64_t session_settles = 180;

  // hosts and jobs
  double fec_speed = 100;
  std::uint64_t least_memlock = 1'073'741'824;
  std::uint64_t least_socket_buffer = 16'777'216;
  double tcp_round_trip = 1;
  std::uint64_t mtu_slack = 100;
  double shortest_retry = 1;
  double waits_for_data = 0.5;
  double idle_gpu = 0.4;
  double busy_cpu = 0.8;
  double log_age = 24;
  double slow_pair = 0.8;
  double uneven_runs = 2;
  std::uint64_t runs_compared = 3;
  std::uint64_t bandwidth_bytes = 1'000'000;
  double pcie_reached = 0.8;
  double other_quantity = 10;

  // tuning
  double tuned_use = 0.8;
  double tuned_tail = 2;
  double tuned_paused_runs = 0.05;

  // the end of a roll-out
  double rollout_pause_growth = 2;
  double rollout_pause_window = 60;
  double rollout_p99_growth = 1.5;
  double rollout_slower = 0.03;
  std::uint64_t rollout_slow_blocks = 3;

  // a run beside simulated ones
  double replica_range = 1;
  double replica_range_of_places = 2;
  double replica_difference = 0.05;
  double replica_time_difference = 0.02;

  // preflight and baselines
  double pair_floor = 0.95;
  double loopback_floor = 0.90;
  double outlier_z = 3.5;
  double least_spread = 0.01;
  std::uint64_t like_hosts = 8;
  double link_carried = 0.1;
  double slow_moment = 0.5;
  double counter_slack = 1.3;
  double acknowledged = 0.1;
  double baseline_change = 0.05;
  double baseline_spread = 3;
  std::uint64_t baseline_runs = 3;

  // alerts of Prometheus, beside those above that they share with diagnose
  double alert_unjudged = 900;
  double alert_ports_paused = 0.5;
  double alert_marks = 10;
  double alert_disorder = 1;
  double alert_timeouts = 1;
  double alert_in_class = 0.9;
  double alert_busy = 0.05;
  double alert_rail_skew = 0.2;
  double alert_rail_rate = 1e9;
  double alert_link_downs = 1.5;
  double alert_symbol_errors = 120;
};

/// One row. Exactly one of the two members is set.
struct ThresholdInfo {
  std::string_view name;
  std::string_view unit;    // "share" "times" "bytes" "packets" "ms" ...
  std::string_view rows;    // the mission rows that go by it: "I1 I7"
  std::string_view source;  // where the value comes from
  std::string_view meaning;
  double Thresholds::*number = nullptr;
  std::uint64_t Thresholds::*count = nullptr;
};

/// In the order of the struct.
[[nodiscard]] std::span<const ThresholdInfo> threshold_table();

/// "1%", "200000", "1.9": as set_threshold() reads it.
[[nodiscard]] std::string value_text(const ThresholdInfo& info, const Thresholds& thresholds);

/// Reads "pause_warning=2%" or "hot_link=2.5". An unknown name or a bad value is an error that says
/// what is accepted.
[[nodiscard]] Status set_threshold(std::string_view assignment, Thresholds& out);

}  // namespace weir::finding

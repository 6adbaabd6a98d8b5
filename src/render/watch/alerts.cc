#include "render/watch/alerts.h"

#include <fmt/format.h>

#include "base/untrusted/quote.h"

namespace weir::render {
namespace {

// Labels that make a port; `host` is there where one process speaks for many.
constexpr std::string_view kPort = "instance, host, device, port";
constexpr std::string_view kPriority = "instance, host, priority";

/// `series` of the priorities that the design makes lossless.
std::string of_lossless(std::string_view series) {
  return fmt::format("({}) and on ({}) (weir_design_lossless_priority == 1)", series, kPriority);
}

void add_blind_spots(const finding::Thresholds& limits, std::vector<AlertRule>& rules) {
  rules.push_back({"WeirDown", R"(up{job="weir"} == 0)", "5m", "", "warning",
                   "weir cannot be scraped: nobody watches this host", ""});
  rules.push_back({"WeirCollectorFailed", "weir_scrape_collector_success == 0", "10m", "",
                   "warning", "a collector of weir fails: its series are missing, not zero", ""});
  rules.push_back({"WeirHostNotSeen", "weir_fleet_host_seen == 0", "10m", "", "warning",
                   "a host of the fleet cannot be read: nobody watches it", ""});
  rules.push_back(
      {"WeirJudgementStale",
       fmt::format("time() - weir_last_judged_timestamp_seconds > {:g}", limits.alert_unjudged), "",
       "", "warning",
       fmt::format("findings were not judged for {:g} minutes", limits.alert_unjudged / 60), ""});
  rules.push_back({"WeirSaturated", "weir_counter_saturated == 1", "1h", "", "info",
                   "a counter is stuck at its maximum: rules over it are blind",
                   "telemetry.collector_blind"});
}

void add_findings(std::vector<AlertRule>& rules) {
  rules.push_back({"WeirFinding", R"(weir_finding{severity="error"} == 1)", "2m", "10m", "page",
                   "weir found a fault: {{ $labels.id }}", ""});
  rules.push_back({"WeirDrift", R"(weir_finding{id="fleet.drift"} == 1)", "5m", "", "warning",
                   "rails or hosts that should be alike differ", "fleet.drift"});
  rules.push_back({"WeirRegression", "weir_baseline_regressions > 0", "", "", "warning",
                   "the last preflight did worse than the baseline {{ $labels.baseline }}",
                   "baseline.regressed"});
}

void add_pauses(const finding::Thresholds& limits, std::vector<AlertRule>& rules) {
  rules.push_back({"WeirPaused", fmt::format("weir:paused:ratio5m > {}", limits.pause_warning),
                   "5m", "", "warning", "the port was paused for more of the time than it should",
                   "pfc.sustained"});
  rules.push_back({"WeirPausedHigh", fmt::format("weir:paused:ratio5m > {}", limits.pause_error),
                   "5m", "", "page", "the port is paused for a large part of the time",
                   "pfc.sustained"});
  rules.push_back(
      {"WeirPauseStorm",
       // A NIC that pauses its switch and takes nothing is stuck; one that takes a little is slow.
       fmt::format(R"(increase(weir_port_pause_storm_events_total{{severity="error"}}[10m]) > 0 )"
                   "or rate(weir_port_pfc_paused_seconds_total[1m]) > {} "
                   "or (rate(weir_port_pfc_pausing_peer_seconds_total[1m]) > {} and on ({}) "
                   "rate(weir_rdma_received_bytes_total[1m]) < on ({}) "
                   "{} * weir_port_speed_bytes_per_second)",
                   limits.paused_mostly, limits.stuck_pause, kPort, kPort, limits.stuck_rate),
       "1m", "", "page", "a pause storm: the port or its peer hardly sends", "pfc.storm"});
  rules.push_back({"WeirSlowReceiver",
                   fmt::format("weir:pausing_peer:ratio5m > {}", limits.pause_warning), "5m", "",
                   "warning", "this host pauses its switch: it takes data too slowly",
                   "receiver.slow"});
  rules.push_back(
      {"WeirPauseOtherClass",
       fmt::format(
           "(rate(weir_port_pfc_received_pause_frames_total[5m]) > 0 and on (instance, host)"
           " weir_design_lossless_priority == 1) unless on ({}) "
           "(weir_design_lossless_priority == 1)",
           kPriority),
       "5m", "", "warning", "pauses on a priority that the design does not make lossless",
       "pfc.wrong_priority"});
  rules.push_back({"WeirPauseNoMarks",
                   fmt::format("(sum(weir:paused:ratio5m) > {}) and on () "
                               "(sum(rate(weir_roce_ecn_marked_packets_received_total[5m])) == 0)",
                               limits.pause_error),
                   "5m", "", "page",
                   "pauses without a single ECN mark: congestion control does not act",
                   "ecn.not_marking"});
  rules.push_back(
      {"WeirPauseEverywhere",
       fmt::format("count(weir:paused:ratio5m > {}) / count(weir_port_up == 1) > {}",
                   limits.pause_warning, limits.alert_ports_paused),
       "5m", "", "page",
       fmt::format("more than {:g} % of the ports are paused", 100 * limits.alert_ports_paused),
       "pfc.storm"});
}

void add_marks(const finding::Thresholds& limits, std::vector<AlertRule>& rules) {
  rules.push_back({"WeirMarksNoCnp",
                   fmt::format("rate(weir_roce_ecn_marked_packets_received_total[10m]) > {} and on "
                               "({}) rate(weir_roce_cnps_sent_total[10m]) == 0",
                               limits.alert_marks, kPort),
                   "10m", "", "warning", "marked packets arrive and no CNP is sent",
                   "np.disabled"});
  rules.push_back({"WeirCnpIgnored", "increase(weir_roce_cnps_ignored_total[10m]) > 0", "", "30m",
                   "warning", "CNPs arrive and are ignored", "rp.disabled"});
}

void add_loss(const design::Design& design, const finding::Thresholds& limits,
              std::vector<AlertRule>& rules) {
  // Where packets are spread over paths one by one they arrive out of order by design.
  if (*design.load_balancing.mode == design::LoadBalancing::kEcmp)
    rules.push_back({"WeirOutOfSequence",
                     fmt::format("rate(weir_roce_out_of_sequence_packets_total[5m]) > {}",
                                 limits.alert_disorder),
                     "10m", "", "warning", "packets arrive out of order: loss or reordering",
                     "path.loss"});
  rules.push_back({"WeirLoss", "increase(weir_roce_sequence_naks_received_total[5m]) > 0", "5m", "",
                   "page", "receivers ask for packets again: the fabric loses packets",
                   "path.loss"});
  rules.push_back(
      {"WeirAckTimeouts",
       fmt::format("rate(weir_roce_ack_timeouts_total[5m]) > {}", limits.alert_timeouts), "5m", "",
       "warning", "acknowledgements time out", "path.loss"});
  rules.push_back(
      {"WeirRetriesExceeded", "increase(weir_roce_transport_retries_exceeded_total[10m]) > 0", "",
       "30m", "page", "a queue pair gave up: its job has failed", "transport.retries_exhausted"});
  rules.push_back({"WeirLosslessDrop",
                   of_lossless("increase(weir_port_priority_buffer_discards_total[10m]) > 0"), "",
                   "30m", "page", "a NIC dropped packets of the lossless class", "port.discards"});
}

void add_traffic(const finding::Thresholds& limits, std::vector<AlertRule>& rules) {
  // RDMA bytes that are not in the lossless class, of a port that sends data.
  rules.push_back(
      {"WeirWrongPriority",
       fmt::format("(sum by ({0}) ({1}) < on ({0}) {2} * weir:rdma_tx:bytes5m) and on ({0}) "
                   "(weir:rdma_tx:bytes5m > on ({0}) {3} * weir_port_speed_bytes_per_second)",
                   kPort, of_lossless("rate(weir_port_priority_transmitted_bytes_total[5m])"),
                   limits.alert_in_class, limits.alert_busy),
       "5m", "", "page", "RDMA traffic is not in the lossless class", "dscp.unmarked"});
  rules.push_back({"WeirRailSkew",
                   fmt::format("(stddev by (instance, host) (weir:rdma_tx:bytes5m) / avg by "
                               "(instance, host) (weir:rdma_tx:bytes5m) > {}) and on (instance, "
                               "host) (avg by (instance, host) (weir:rdma_tx:bytes5m) > {:g})",
                               limits.alert_rail_skew, limits.alert_rail_rate),
                   "10m", "", "warning", "the rails of a host carry different loads",
                   "rail.unbalanced"});
}

void add_links(const finding::Thresholds& limits, std::vector<AlertRule>& rules) {
  rules.push_back(
      {"WeirLinkDown", "weir_port_up == 0", "2m", "", "page", "the link is down", "nic.failed"});
  rules.push_back(
      {"WeirLinkFlap",
       fmt::format("increase(weir_port_link_down_events_total[1h]) > {}", limits.alert_link_downs),
       "", "1h", "warning", "the link went down repeatedly within an hour", "link.flapping"});
  rules.push_back(
      {"WeirSymbolErrors",
       fmt::format("increase(weir_port_symbol_errors_total[1h]) > {}", limits.alert_symbol_errors),
       "", "", "page", "errors that FEC cannot repair: a bad cable or optic",
       "link.physical_errors"});
  rules.push_back({"WeirSwitchWatchdog", "increase(weir_switch_watchdog_storms_total[10m]) > 0", "",
                   "30m", "page", "a switch's PFC watchdog acted: it drops a lossless queue",
                   "watchdog.stuck"});
}

std::string header(const design::Design& design, std::string_view what) {
  return fmt::format("# {} of the fabric {}, by weir render. Edit the design, not this file.\n",
                     what, yaml_text(*design.name));
}

/// A sentence with the place, for people; labels that a series lacks are empty.
std::string annotations(const AlertRule& rule) {
  std::string out = fmt::format(
      "          summary: {}\n          place: '{{{{ $labels.instance }}}} {{{{ $labels.host }}}} "
      "{{{{ $labels.switch }}}} {{{{ $labels.device }}}} {{{{ $labels.port }}}}'\n",
      yaml_quoted(rule.summary));
  if (!rule.explain.empty())
    out += fmt::format("          runbook: weir explain {}\n", rule.explain);
  if (rule.name == "WeirFinding") out += "          runbook: 'weir explain {{ $labels.id }}'\n";
  return out;
}

std::string rule_text(const AlertRule& rule) {
  std::string out =
      fmt::format("      - alert: {}\n        expr: {}\n", rule.name, yaml_quoted(rule.expression));
  if (!rule.hold.empty()) out += fmt::format("        for: {}\n", rule.hold);
  if (!rule.keep.empty()) out += fmt::format("        keep_firing_for: {}\n", rule.keep);
  out += fmt::format("        labels:\n          severity: {}\n        annotations:\n{}",
                     rule.severity, annotations(rule));
  return out;
}

}  // namespace

std::vector<RecordingRule> recording_rules() {
  return {{"weir:paused:ratio5m", "rate(weir_port_pfc_paused_seconds_total[5m])"},
          {"weir:pausing_peer:ratio5m", "rate(weir_port_pfc_pausing_peer_seconds_total[5m])"},
          {"weir:rdma_tx:bytes5m", "rate(weir_rdma_transmitted_bytes_total[5m])"}};
}

std::vector<AlertRule> alert_rules(const design::Design& design,
                                   const finding::Thresholds& thresholds) {
  std::vector<AlertRule> rules;
  add_blind_spots(thresholds, rules);
  add_findings(rules);
  add_pauses(thresholds, rules);
  add_marks(thresholds, rules);
  add_loss(design, thresholds, rules);
  add_traffic(thresholds, rules);
  add_links(thresholds, rules);
  return rules;
}

std::string prometheus_rules(const design::Design& design, const finding::Thresholds& thresholds) {
  std::string out = header(design, "Recording and alerting rules") +
                    "groups:\n  - name: weir-recording\n    rules:\n";
  for (const RecordingRule& rule : recording_rules())
    out += fmt::format("      - record: {}\n        expr: {}\n", rule.name, rule.expression);
  out += "  - name: weir\n    rules:\n";
  for (const AlertRule& rule : alert_rules(design, thresholds))
    out += rule_text(rule);
  return out;
}

std::string prometheus_config(const design::Design& design, const design::Intent& intent) {
  std::string out = header(design, "Scrape configuration") +
                    "global:\n  scrape_interval: 15s\n  evaluation_interval: 15s\n"
                    "rule_files:\n  - weir.rules.yml\n"
                    "alerting:\n  alertmanagers:\n    - static_configs:\n"
                    "        - targets: ['127.0.0.1:9093']\n"
                    "scrape_configs:\n  - job_name: weir\n    static_configs:\n      - targets:\n";
  for (const design::HostIntent& host : intent.hosts)
    out += fmt::format("          - {}\n", yaml_quoted(host.name + ":9347"));
  return out;
}

std::string alertmanager_config(const design::Design& design) {
  return header(design, "Routes and inhibitions of Alertmanager") +
         "route:\n"
         "  receiver: weir\n"
         "  # A fault of a spine is one message, not one per port.\n"
         "  group_by: [alertname, rail]\n"
         "  group_wait: 30s\n"
         "  group_interval: 5m\n"
         "  repeat_interval: 12h\n"
         "  routes:\n"
         "    - matchers: ['severity=\"page\"']\n"
         "      receiver: weir\n"
         "      repeat_interval: 4h\n"
         "inhibit_rules:\n"
         "  # A link that is down explains all else on its port.\n"
         "  - source_matchers: ['alertname=\"WeirLinkDown\"']\n"
         "    target_matchers: ['alertname=~\"Weir.+\"', 'alertname!=\"WeirLinkDown\"']\n"
         "    equal: [instance, host, device, port]\n"
         "  - source_matchers: ['alertname=\"WeirPausedHigh\"']\n"
         "    target_matchers: ['alertname=\"WeirPaused\"']\n"
         "    equal: [instance, host, device, port, priority]\n"
         "receivers:\n"
         "  # Name where messages go: https://prometheus.io/docs/alerting/latest/configuration\n"
         "  - name: weir\n";
}

std::vector<DashboardPanel> dashboard_panels() {
  return {
      {"Open findings", "stat", "none", {"weir_findings"}},
      {"Ports up", "stat", "none", {"sum(weir_port_up)"}},
      {"Checks without an answer", "stat", "none", {"weir_checks_unknown"}},
      {"Findings", "table", "none", {"weir_finding == 1"}},
      {"Paused share of the time, rails by hosts",
       "heatmap",
       "percentunit",
       {"max by (host, instance, device) (rate(weir_port_pfc_paused_seconds_total[5m]))"}},
      {"Paused",
       "timeseries",
       "percentunit",
       {"topk(20, rate(weir_port_pfc_paused_seconds_total[5m]))"}},
      {"Pausing its switch",
       "timeseries",
       "percentunit",
       {"topk(20, rate(weir_port_pfc_pausing_peer_seconds_total[5m]))"}},
      {"RDMA sent", "timeseries", "Bps", {"topk(20, rate(weir_rdma_transmitted_bytes_total[5m]))"}},
      {"ECN marks received",
       "timeseries",
       "pps",
       {"topk(20, rate(weir_roce_ecn_marked_packets_received_total[5m]))"}},
      {"CNPs sent and handled",
       "timeseries",
       "pps",
       {"sum by (instance, host) (rate(weir_roce_cnps_sent_total[5m]))",
        "sum by (instance, host) (rate(weir_roce_cnps_handled_total[5m]))"}},
      {"Loss: NAKs, timeouts, out of order",
       "timeseries",
       "pps",
       {"sum(rate(weir_roce_sequence_naks_received_total[5m]))",
        "sum(rate(weir_roce_ack_timeouts_total[5m]))",
        "sum(rate(weir_roce_out_of_sequence_packets_total[5m]))"}},
      {"Switch queues: marks",
       "timeseries",
       "pps",
       {"topk(20, rate(weir_switch_queue_ecn_marked_packets_total[5m]))"}},
      {"Switch drops",
       "timeseries",
       "pps",
       {"topk(20, rate(weir_switch_port_dropped_packets_total[5m]))"}},
      {"Link and checksum errors",
       "timeseries",
       "none",
       {"sum by (instance, host, device) (increase(weir_port_crc_errors_total[1h]))",
        "sum by (instance, host, device) (increase(weir_port_link_down_events_total[1h]))"}},
      {"Time of a scrape", "timeseries", "s", {"weir_scrape_collector_duration_seconds"}},
  };
}

}  // namespace weir::render

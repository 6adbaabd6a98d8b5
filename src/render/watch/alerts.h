#pragma once
// What a Prometheus needs to watch the fabric of a design: scrape configuration, recording and
// alerting rules, Alertmanager's routes, a dashboard. Limits are those of the diagnosis
// (finding/thresholds.h); the lossless priority comes from the design through a metric that every
// rule joins on, so that none has a number of its own.
#include <string>
#include <string_view>
#include <vector>

#include "design/fabric/intent.h"
#include "design/file/fabric.h"
#include "finding/thresholds.h"

namespace weir::render {

struct AlertRule {
  std::string_view name;      // "WeirPaused"
  std::string expression;     // PromQL
  std::string_view hold;      // `for`; empty: at once
  std::string_view keep;      // `keep_firing_for`; empty: none
  std::string_view severity;  // "page" "warning" "info"
  std::string summary;        // a sentence
  std::string_view explain;   // the finding to read; empty: none
};

struct RecordingRule {
  std::string_view name;
  std::string expression;
};

[[nodiscard]] std::vector<RecordingRule> recording_rules();
/// In the order in which people should read them: blind spots first, then symptoms, then causes.
[[nodiscard]] std::vector<AlertRule> alert_rules(const design::Design& design,
                                                 const finding::Thresholds& thresholds);

/// Files of Prometheus 2.42 and later.
[[nodiscard]] std::string prometheus_rules(const design::Design& design,
                                           const finding::Thresholds& thresholds);
[[nodiscard]] std::string prometheus_config(const design::Design& design,
                                            const design::Intent& intent);
/// One message per fault and rail, silence under what explains it. The receiver is a placeholder.
[[nodiscard]] std::string alertmanager_config(const design::Design& design);

/// Panels of the dashboard: what they are called and what they ask.
struct DashboardPanel {
  std::string_view title;
  std::string_view kind;  // Grafana's panel type
  std::string_view unit;  // Grafana's unit id
  std::vector<std::string> queries;
};
[[nodiscard]] std::vector<DashboardPanel> dashboard_panels();
/// Grafana's JSON model, to be imported.
[[nodiscard]] std::string grafana_dashboard(const design::Design& design);

}  // namespace weir::render

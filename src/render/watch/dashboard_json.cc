#include <fmt/format.h>

#include "base/json.h"
#include "render/watch/alerts.h"

namespace weir::render {
namespace {

constexpr int kColumns = 24;  // of Grafana's grid

struct Size {
  int width = 0;
  int height = 0;
};

Size size_of_panel(const DashboardPanel& panel) {
  if (panel.kind == "stat") return {8, 4};
  if (panel.kind == "table" || panel.kind == "heatmap") return {kColumns, 8};
  return {12, 8};
}

Json panel_json(const DashboardPanel& panel, int id, int x, int y, Size size) {
  Json targets = Json::array();
  for (const std::string& query : panel.queries)
    targets.push_back({{"refId", std::string(1, static_cast<char>('A' + targets.size()))},
                       {"expr", query},
                       {"format", panel.kind == "table" ? "table" : "time_series"},
                       {"instant", panel.kind == "table"}});
  Json out;
  out["id"] = id;
  out["title"] = panel.title;
  out["type"] = panel.kind;
  out["datasource"] = {{"type", "prometheus"}, {"uid", "${datasource}"}};
  out["gridPos"] = {{"x", x}, {"y", y}, {"w", size.width}, {"h", size.height}};
  out["fieldConfig"] = {{"defaults", {{"unit", panel.unit}}}, {"overrides", Json::array()}};
  out["targets"] = std::move(targets);
  return out;
}

}  // namespace

std::string grafana_dashboard(const design::Design& design) {
  Json panels = Json::array();
  int x = 0;
  int y = 0;
  int row_height = 0;
  for (const DashboardPanel& panel : dashboard_panels()) {
    const Size size = size_of_panel(panel);
    if (x + size.width > kColumns) {
      x = 0;
      y += row_height;
    }
    row_height = size.height;
    panels.push_back(panel_json(panel, static_cast<int>(panels.size()) + 1, x, y, size));
    x += size.width;
  }
  Json out;
  out["title"] = fmt::format("RoCE fabric {}", *design.name);
  out["uid"] = nullptr;
  out["tags"] = {"weir", "roce"};
  out["timezone"] = "browser";
  out["schemaVersion"] = 36;  // Grafana 9
  out["refresh"] = "15s";
  out["time"] = {{"from", "now-1h"}, {"to", "now"}};
  out["templating"] = {
      {"list",
       Json::array({{{"name", "datasource"}, {"type", "datasource"}, {"query", "prometheus"}}})}};
  out["panels"] = std::move(panels);
  return out.dump(2) + "\n";
}

}  // namespace weir::render

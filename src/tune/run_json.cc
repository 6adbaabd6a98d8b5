#include "base/json.h"
#include "base/json_cursor.h"
#include "tune/run.h"

namespace weir::tune {
namespace {

Result<std::vector<std::string>> texts_at(const JsonCursor& at, std::string_view key) {
  WEIR_TRY(list, at.member(key));
  WEIR_TRY_STATUS(list.expect_array());
  std::vector<std::string> out;
  for (std::size_t i = 0; i < list.size(); ++i) {
    WEIR_TRY(text, list.at(i).text());
    out.push_back(std::move(text));
  }
  return out;
}

}  // namespace

Json to_json(const RunOrder& order) {
  Json out = {{"settings", order.settings},
              {"workloads", order.loads},
              {"faults", order.faults},
              {"seed", order.seed},
              {"limit_us", order.limit.raw() / 1'000'000}};
  if (!order.dead_host.empty()) out["dead_host"] = order.dead_host;
  if (order.is_in_peer) out["rules"] = "hpcc";
  return out;
}

Result<RunOrder> run_order_from_json(const Json& document) {
  const JsonCursor at(document);
  WEIR_TRY_STATUS(at.expect_object());
  RunOrder out;
  WEIR_TRY(settings, texts_at(at, "settings"));
  WEIR_TRY(loads, texts_at(at, "workloads"));
  WEIR_TRY(faults, texts_at(at, "faults"));
  WEIR_TRY(seed_at, at.member("seed"));
  WEIR_TRY(seed, seed_at.whole_number());
  WEIR_TRY(limit_at, at.member("limit_us"));
  WEIR_TRY(limit, limit_at.whole_number());
  if (limit > 100'000'000'000) return limit_at.wrong("at most 100,000 s");
  out.settings = std::move(settings);
  out.loads = std::move(loads);
  out.faults = std::move(faults);
  out.seed = seed;
  out.limit = 1_us * static_cast<std::int64_t>(limit);
  if (const auto host = at.find("dead_host")) {
    WEIR_TRY(name, host->text());
    out.dead_host = std::move(name);
  }
  if (const auto rules = at.find("rules")) {
    WEIR_TRY(name, rules->text());
    if (name != "hpcc") return rules->wrong("hpcc");
    out.is_in_peer = true;
  }
  return out;
}

}  // namespace weir::tune

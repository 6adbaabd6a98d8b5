#include "cli/json/calc_json.h"

#include "base/json.h"
#include "cli/json/object.h"
#include "units/format.h"

namespace weir::cli {
namespace {

Json headroom_json(const model::Headroom& headroom) {
  Json terms = Json::array();
  for (const model::Term& term : headroom.terms)
    terms.push_back({{"name", term.name}, {"bytes", term.bytes.raw()}, {"why", term.why}});
  Json body;
  body["model"] = model::info(headroom.model).name;
  body["bytes"] = headroom.xoff.raw();
  body["terms"] = std::move(terms);
  if (headroom.xon) body["xon_bytes"] = headroom.xon->raw();
  if (headroom.size) body["size_bytes"] = headroom.size->raw();
  body["cable_only_bytes"] = headroom.cable_only.raw();
  body["hard_floor_bytes"] = headroom.hard_floor.raw();
  body["notes"] = headroom.notes;
  return body;
}

Json plan_json(const model::BufferPlan& plan) {
  Json terms = Json::array();
  for (const model::Term& term : plan.terms)
    terms.push_back({{"name", term.name}, {"bytes", term.bytes.raw()}, {"why", term.why}});
  Json object = {{"fits", plan.fits()},
                 {"pools",
                  {{"lossless_bytes", plan.lossless_pool.raw()},
                   {"lossy_bytes", plan.lossy_pool.raw()},
                   {"storage_bytes", plan.storage_pool.raw()},
                   {"reserved_bytes", plan.reserved_pool.raw()},
                   {"unassigned_bytes", plan.unassigned.raw()}}},
                 {"headroom_sum_bytes", plan.headroom_sum.raw()},
                 {"headroom_bytes", plan.headroom.raw()},
                 {"reserved_used_bytes", plan.reserved_used.raw()},
                 {"shared_bytes", plan.lossless_shared.raw()},
                 {"xoff_one_bytes", plan.xoff_one.raw()},
                 {"xoff_all_bytes", plan.xoff_all.raw()},
                 {"terms", std::move(terms)}};
  if (plan.ecn_bound) object["ecn_limit_bytes"] = plan.ecn_bound->largest_min_threshold.raw();
  return object;
}

Json kind_json(const ops::BufferAnswer& answer, const ops::SwitchKind& kind) {
  const design::SwitchIntent& node = answer.first_of(kind);
  Json object = {{"names", kind.names},        {"asic", node.asic->name},
                 {"ports", node.ports.size()}, {"total_bytes", node.buffers.total.raw()},
                 {"profile", answer.profile},  {"alpha", to_text(node.buffers.alpha)}};
  object["plan"] = node.buffers.plan ? plan_json(*node.buffers.plan) : Json();
  object["profiles"] = Json::array();
  for (const ops::BufferVariant& variant : kind.variants) {
    object["profiles"].push_back({{"name", variant.profile->name},
                                  {"plan", variant.plan ? plan_json(*variant.plan) : Json()}});
  }
  return object;
}

Json wred_json(const model::FluidRow& row) {
  Json object = {{"flows", row.flows},
                 {"regime", model::to_text(row.fixed.regime)},
                 {"queue_bytes", row.fixed.queue_bytes},
                 {"queue_delay_us", row.fixed.queue_delay_s * 1e6},
                 {"mark_probability", row.fixed.mark_probability},
                 {"utilisation", row.utilisation}};
  if (row.margin) object["delay_margin_ns"] = row.margin->raw() / 1'000;
  return object;
}

Json wred_json(const model::PublishedWred& row) {
  Json object = {{"who", row.who}, {"rates", row.rates}};
  object["min_bytes"] = row.min ? Json(row.min->raw()) : Json(nullptr);
  object["max_bytes"] = row.max ? Json(row.max->raw()) : Json(nullptr);
  if (row.max_share) object["probability"] = static_cast<double>(row.max_share->raw()) / 1e6;
  object["nic"] = row.nic;
  object["tag"] = row.tag;
  return object;
}

Json wred_json(const ops::SpeedAnswer& entry) {
  const auto curve = [](Bytes min, Bytes max, Share share) {
    return Json{{"min_bytes", min.raw()},
                {"max_bytes", max.raw()},
                {"probability", static_cast<double>(share.raw()) / 1e6}};
  };
  const design::WredIntent& wred = entry.port.wred;
  Json object = {{"speed_bps", entry.speed.raw()}, {"ports", entry.ports}};
  object["wred"] = curve(wred.min, wred.max, wred.probability);
  object["wred"]["ecn"] = wred.ecn;
  object["start"] =
      curve(entry.start.curve.min, entry.start.curve.max, entry.start.curve.max_share);
  object["published"] = Json::array();
  for (const model::PublishedWred& row : entry.published)
    object["published"].push_back(wred_json(row));
  object["flows"] = Json::array();
  for (const model::FluidRow& row : entry.rows)
    object["flows"].push_back(wred_json(row));
  if (entry.fluid) {
    object["stability_is_meaningful"] = model::is_stability_meaningful(*entry.fluid);
  } else {
    object["no_equilibrium"] = entry.fluid.error().what;
  }
  return object;
}

}  // namespace

void print_headroom_json(Context& context, const Command& command,
                         const ops::HeadroomAnswer& answer, std::string_view verdict) {
  Json object = json_object(command);
  object["verdict"] = verdict;
  object["input"] = {
      {"speed_bps", answer.input.speed.raw()},
      {"cable_mm", answer.input.cable.raw()},
      {"mtu_bytes", answer.input.mtu.raw()},
      {"lossless_mtu_bytes", answer.input.lossless_mtu.value_or(answer.input.mtu).raw()},
      {"small_percent", answer.input.small_percent},
      {"peer", model::to_text(answer.input.peer)}};
  object.update(headroom_json(answer.headroom));
  for (const ops::ComparedHeadroom& compared : answer.all) {
    Json entry = compared.headroom ? headroom_json(*compared.headroom)
                                   : Json{{"model", compared.model->name}};
    if (!compared.headroom) entry["error"] = compared.headroom.error().what;
    object["models"].push_back(std::move(entry));
  }
  print_json(context, object);
}

void print_buffers_json(Context& context, const Command& command, const ops::BufferAnswer& answer,
                        std::string_view verdict) {
  Json object = json_object(command);
  object["verdict"] = verdict;
  object["design"] = answer.fabric.design.file;
  object["switches"] = Json::array();
  for (const ops::SwitchKind& kind : answer.kinds)
    object["switches"].push_back(kind_json(answer, kind));
  print_json(context, object);
}

void print_wred_json(Context& context, const Command& command, const ops::WredAnswer& answer,
                     std::string_view verdict) {
  Json object = json_object(command);
  object["verdict"] = verdict;
  object["design"] = answer.file;
  object["loop_delay_ns"] = answer.loop_delay.raw() / 1'000;
  object["speeds"] = Json::array();
  for (const ops::SpeedAnswer& entry : answer.speeds)
    object["speeds"].push_back(wred_json(entry));
  print_json(context, object);
}

}  // namespace weir::cli

// CONFIG_DB from a lowered state, and a file of notes, because JSON has no comments.
#include <algorithm>
#include <deque>

#include <fmt/format.h>

#include "base/json.h"
#include "base/text.h"
#include "design/file/words.h"
#include "platforms/sonic/sonic.h"
#include "units/format.h"

namespace weir::platforms {
namespace {

constexpr std::string_view kMap = "ROCE";  // the name of every map

std::string text_of(std::int64_t value) {
  return std::to_string(value);
}
std::string text_of(Bytes value) {
  return std::to_string(value.raw());
}
std::string milliseconds(Duration time) {
  return std::to_string(time.raw() / (1_ms).raw());
}
std::string metres(Length length) {
  return std::to_string(length.raw() / (1_m).raw()) + "m";
}
std::string megabits(BitRate rate) {
  return std::to_string(rate.raw() / (1_Mbps).raw());
}
std::string bytes_a_second(BitRate rate) {
  return std::to_string(rate.raw() / 8);
}
/// "3,4"; empty for no priority, as the YANG model requires.
std::string list_of(PrioritySet set) {
  return set.count() == 0 ? "" : to_text(set);
}

// CONFIG_DB: tables of rows of strings.
using Fields = std::vector<std::pair<std::string, std::string>>;
struct Table {
  std::vector<std::pair<std::string, Fields>> rows;

  void add(std::string key, Fields fields) { rows.emplace_back(std::move(key), std::move(fields)); }
  /// Equal rows share a name; the first of a kind has it without a number.
  std::string name_of(const std::string& wanted, Fields fields) {
    std::string name = wanted;
    for (int i = 2;; ++i) {
      const auto at = std::find_if(rows.begin(), rows.end(),
                                   [&](const auto& row) { return row.first == name; });
      if (at == rows.end()) break;
      if (at->second == fields) return name;
      name = fmt::format("{}_{}", wanted, i);
    }
    add(name, std::move(fields));
    return name;
  }
};

class Database {
 public:
  /// Tables are written in the order of their first use.
  Table& operator[](std::string_view name) {
    for (auto& [key, table] : tables_)
      if (key == name) return table;
    return tables_.emplace_back(name, Table()).second;
  }
  [[nodiscard]] std::string text() const;

 private:
  std::deque<std::pair<std::string_view, Table>> tables_;  // references stay valid
};

std::string json_text(std::string_view text) {
  return Json(text).dump();
}

std::string Database::text() const {
  std::string out = "{";
  std::string_view table_end = "\n";
  for (const auto& [name, table] : tables_) {
    if (table.rows.empty()) continue;
    out += fmt::format("{}    {}: {{", table_end, json_text(name));
    table_end = ",\n";
    std::string_view row_end = "\n";
    for (const auto& [key, fields] : table.rows) {
      out += fmt::format("{}        {}: {{", row_end, json_text(key));
      row_end = ",\n";
      std::string_view field_end = "\n";
      for (const auto& [field, value] : fields) {
        out += fmt::format("{}            {}: {}", field_end, json_text(field), json_text(value));
        field_end = ",\n";
      }
      out += fields.empty() ? "}" : "\n        }";
    }
    out += "\n    }";
  }
  return out + "\n}\n";
}

class Writer {
 public:
  Writer(const evidence::Switch& state, const std::vector<std::string>& descriptions)
      : state_(state), descriptions_(descriptions), is_dynamic_(state.buffer_model.is("dynamic")) {}

  std::string write() {
    for (const std::string_view table :
         {"DEVICE_METADATA", "PORT", "CABLE_LENGTH", "DSCP_TO_TC_MAP", "DOT1P_TO_TC_MAP",
          "TC_TO_QUEUE_MAP", "TC_TO_PRIORITY_GROUP_MAP", "MAP_PFC_PRIORITY_TO_QUEUE",
          "PFC_PRIORITY_TO_PRIORITY_GROUP_MAP", "TC_TO_DSCP_MAP", "SCHEDULER", "WRED_PROFILE",
          "PORT_QOS_MAP", "QUEUE", "BUFFER_POOL", "BUFFER_PROFILE", "BUFFER_PG", "BUFFER_QUEUE"})
      (void)tables_[table];
    tables_["DEVICE_METADATA"].add(
        "localhost", {{"hostname", state_.name}, {"buffer_model", *state_.buffer_model}});
    write_maps();
    write_pools();
    for (std::size_t i = 0; i < state_.ports.size(); ++i)
      write_port(state_.ports[i], descriptions_.at(i));
    write_watchdog();
    write_rest();
    return tables_.text();
  }

 private:
  template <class Array>
  static Fields map_of(const Array& values) {
    Fields map;
    for (std::size_t i = 0; i < values.size(); ++i)
      map.emplace_back(std::to_string(i), std::to_string(value_of(values.at(i))));
    return map;
  }
  template <class Code>
  static unsigned value_of(const std::optional<Code>& code) {
    return code ? code->value() : 0;
  }
  template <class Code>
  static unsigned value_of(const Code& code) {
    return code.value();
  }

  void write_maps() {
    const std::string name(kMap);
    if (state_.dscp_to_tc.is_known()) {
      tables_["DSCP_TO_TC_MAP"].add(name, map_of(*state_.dscp_to_tc));
      tables_["PORT_QOS_MAP"].add("global", {{"dscp_to_tc_map", name}});
    }
    if (state_.pcp_to_tc.is_known())
      tables_["DOT1P_TO_TC_MAP"].add(name, map_of(*state_.pcp_to_tc));
    tables_["TC_TO_QUEUE_MAP"].add(name, map_of(*state_.tc_to_queue));
    tables_["TC_TO_PRIORITY_GROUP_MAP"].add(name, map_of(*state_.tc_to_group));
    tables_["MAP_PFC_PRIORITY_TO_QUEUE"].add(name, map_of(*state_.pfc_to_queue));
    if (is_dynamic_)  // only NVIDIA and Barefoot have this table
      tables_["PFC_PRIORITY_TO_PRIORITY_GROUP_MAP"].add(name, map_of(*state_.tc_to_group));
    if (!state_.tc_to_dscp.is_known()) return;
    Fields rewrite;
    for (std::size_t tc = 0; tc < state_.tc_to_dscp->size(); ++tc)
      if (const auto dscp = state_.tc_to_dscp->at(tc))
        rewrite.emplace_back(std::to_string(tc), std::to_string(dscp->value()));
    tables_["TC_TO_DSCP_MAP"].add(name, std::move(rewrite));
  }

  [[nodiscard]] bool is_static() const {
    for (const SwitchPort& port : state_.ports)
      for (const GroupBuffer& group : port.groups)
        if (group.xoff.is_known()) return true;
    return false;
  }

  void write_pools() {
    const std::string mode = is_static() ? "static" : "dynamic";
    Bytes headroom;
    for (const evidence::Pool& pool : *state_.pools)
      if (pool.kind == evidence::PoolKind::kHeadroom) headroom = pool.size;
    for (const evidence::Pool& pool : *state_.pools) {
      if (pool.kind == evidence::PoolKind::kHeadroom) continue;
      const bool is_ingress = pool.name.starts_with("ingress");
      Fields row = {{"type", is_ingress ? "ingress" : "egress"},
                    {"mode", is_ingress ? mode : "dynamic"}};
      // Broadcom's pool includes headroom, NVIDIA's does not.
      const bool has_headroom = pool.name == "ingress_lossless_pool" && headroom > 0_B;
      const Bytes size = has_headroom && !is_dynamic_ ? pool.size + headroom : pool.size;
      row.emplace_back("size", text_of(size));
      if (has_headroom) row.emplace_back("xoff", text_of(headroom));
      if (pool.kind == evidence::PoolKind::kLossy) has_lossy_pool_ = true;
      tables_["BUFFER_POOL"].add(pool.name, std::move(row));
    }
    if (!is_dynamic_) return;
    tables_["DEFAULT_LOSSLESS_BUFFER_PARAMETER"].add(
        "AZURE", {{"default_dynamic_th", "0"},
                  {"over_subscribe_ratio", std::to_string(*state_.headroom_oversubscription)}});
  }

  // ---- a port ----

  void write_port(const SwitchPort& port, const std::string& description) {
    tables_["PORT"].add(port.name, {{"speed", megabits(*port.speed)},
                                    {"mtu", text_of(*port.mtu)},
                                    {"pfc_asym", "off"},
                                    {"admin_status", "up"},
                                    {"description", description}});
    Table& cables = tables_["CABLE_LENGTH"];
    if (cables.rows.empty()) cables.add(std::string(kMap), {});
    cables.rows.front().second.emplace_back(port.name, metres(*port.cable_length));
    const std::string map(kMap);
    Fields maps;
    if (port.trust.is(evidence::TrustMode::kDscp)) maps.emplace_back("dscp_to_tc_map", map);
    if (port.trust.is(evidence::TrustMode::kPcp)) maps.emplace_back("dot1p_to_tc_map", map);
    maps.emplace_back("tc_to_queue_map", map);
    maps.emplace_back("tc_to_pg_map", map);
    maps.emplace_back("pfc_to_queue_map", map);
    if (is_dynamic_) maps.emplace_back("pfc_to_pg_map", map);
    if (port.rewrites_dscp.is(true)) maps.emplace_back("tc_to_dscp_map", map);
    maps.emplace_back("pfc_enable", list_of(*port.pfc));
    if (port.watchdog.is(true)) maps.emplace_back("pfcwd_sw_enable", list_of(*port.pfc));
    if (port.max_rate->raw() != 0)
      maps.emplace_back("scheduler", tables_["SCHEDULER"].name_of(
                                         "port", {{"meter_type", "bytes"},
                                                  {"cir", bytes_a_second(*port.max_rate)},
                                                  {"pir", bytes_a_second(*port.max_rate)}}));
    tables_["PORT_QOS_MAP"].add(port.name, std::move(maps));
    for (const GroupBuffer& group : port.groups)
      tables_["BUFFER_PG"].add(fmt::format("{}|{}", port.name, group.group.value()),
                               {{"profile", group_profile(port, group)}});
    for (const EgressQueue& queue : port.queues)
      write_queue(port, queue);
  }

  std::string group_profile(const SwitchPort& port, const GroupBuffer& group) {
    const bool is_lossless = group.lossless.is(true);
    const bool in_lossy_pool = !is_lossless && has_lossy_pool_;
    Fields row = {{"pool", in_lossy_pool ? "ingress_lossy_pool" : "ingress_lossless_pool"}};
    std::string name = "ingress_lossy_profile";
    if (!is_lossless) {
      row.emplace_back("size", text_of(*group.reserved));
    } else if (is_dynamic_) {
      const bool is_shared = *state_.headroom_oversubscription > 1;
      row.emplace_back("xon", text_of(*group.reserved));
      row.emplace_back("xoff", text_of(*group.headroom));
      row.emplace_back("size",
                       text_of(is_shared ? *group.reserved : *group.reserved + *group.headroom));
      row.emplace_back("headroom_type", "static");
      name = fmt::format("roce_{}_{}", megabits(*port.speed), metres(*port.cable_length));
    } else {
      // xon, the minimum of the resume point, as in Broadcom's lookup rows.
      row.emplace_back("size", text_of(*group.reserved));
      row.emplace_back("xon", "2288");
      row.emplace_back("xon_offset", text_of(*group.xon));
      row.emplace_back("xoff", text_of(*group.headroom));
      name = fmt::format("pg_lossless_{}_{}_profile", megabits(*port.speed),
                         metres(*port.cable_length));
    }
    if (group.xoff.is_known()) row.emplace_back("static_th", text_of(*group.xoff));
    if (group.alpha.is_known()) row.emplace_back("dynamic_th", text_of(group.alpha->log2()));
    return tables_["BUFFER_PROFILE"].name_of(name, std::move(row));
  }

  void write_queue(const SwitchPort& port, const EgressQueue& queue) {
    const unsigned index = queue.queue.value();
    const std::string key = fmt::format("{}|{}", port.name, index);
    const std::string profile = tables_["BUFFER_PROFILE"].name_of(
        "egress_profile", {{"pool", "egress_lossless_pool"},
                           {"size", "0"},
                           {"dynamic_th", text_of(queue.alpha->log2())}});
    tables_["BUFFER_QUEUE"].add(key, {{"profile", profile}});
    Fields row;
    if (queue.scheduler.is_known()) {
      const bool is_strict = *queue.scheduler == evidence::Scheduler::kStrict;
      Fields scheduler = {{"type", is_strict ? "STRICT" : "DWRR"}};
      if (!is_strict) scheduler.emplace_back("weight", std::to_string(*queue.weight));
      if (queue.max_rate->raw() != 0) {
        // cir is the guaranteed rate (YANG: not 0 with a pir): the share of the weight.
        const BitRate least = is_strict ? *queue.max_rate : *port.speed / 100 * *queue.weight;
        scheduler.emplace_back("meter_type", "bytes");
        scheduler.emplace_back("cir", bytes_a_second(std::min(least, *queue.max_rate)));
        scheduler.emplace_back("pir", bytes_a_second(*queue.max_rate));
      }
      row.emplace_back("scheduler", tables_["SCHEDULER"].name_of(fmt::format("queue{}", index),
                                                                 std::move(scheduler)));
    }
    if (queue.ecn.is(true)) row.emplace_back("wred_profile", wred_name(port, queue));
    if (!row.empty()) tables_["QUEUE"].add(key, std::move(row));
  }

  std::string wred_name(const SwitchPort& port, const EgressQueue& queue) {
    const std::string probability = text_of(percent_of(*queue.ecn_probability));
    Fields row = {{"ecn", "ecn_all"}};
    for (const std::string_view colour : {"green", "yellow", "red"}) {
      row.emplace_back(fmt::format("wred_{}_enable", colour), "true");
      row.emplace_back(fmt::format("{}_min_threshold", colour), text_of(*queue.ecn_min));
      row.emplace_back(fmt::format("{}_max_threshold", colour), text_of(*queue.ecn_max));
      row.emplace_back(fmt::format("{}_drop_probability", colour), probability);
    }
    return tables_["WRED_PROFILE"].name_of(fmt::format("ROCE_ECN_{}", megabits(*port.speed)),
                                           std::move(row));
  }

  // ---- the rest ----

  void write_watchdog() {
    if (!state_.watchdog.enabled.is(true)) return;
    const evidence::Watchdog& watchdog = state_.watchdog;
    const Duration poll = std::min({*watchdog.detection, *watchdog.restoration, Duration(1_s)});
    Table& table = tables_["PFC_WD"];
    table.add("GLOBAL", {{"POLL_INTERVAL", milliseconds(poll)}});
    for (const SwitchPort& port : state_.ports) {
      if (!port.watchdog.is(true)) continue;
      table.add(port.name, {{"action", *watchdog.action},
                            {"detection_time", milliseconds(*watchdog.detection)},
                            {"restoration_time", milliseconds(*watchdog.restoration)}});
    }
  }

  void write_rest() {
    const evidence::Telemetry& telemetry = state_.telemetry;
    const std::string interval = milliseconds(*telemetry.interval);
    Table& counters = tables_["FLEX_COUNTER_TABLE"];
    for (const char* const counter : {"PORT", "QUEUE", "QUEUE_WATERMARK", "PG_WATERMARK", "PG_DROP",
                                      "BUFFER_POOL_WATERMARK", "WRED_ECN_QUEUE"})
      counters.add(counter, {{"FLEX_COUNTER_STATUS", "enable"}, {"POLL_INTERVAL", interval}});
    counters.add("PFCWD", {{"FLEX_COUNTER_STATUS", "enable"}});
    tables_["FEATURE"].add("lldp", {{"state", "enabled"}});
    tables_["FEATURE"].add("gnmi", {{"state", *telemetry.gnmi ? "enabled" : "disabled"}});
    tables_["SFLOW"].add("global", {{"admin_state", *telemetry.sflow ? "up" : "down"}});
    for (const evidence::SwitchInterface& svi : state_.interfaces)
      tables_["VLAN"].add(svi.name, {{"vlanid", svi.name.substr(4)}, {"mtu", text_of(*svi.mtu)}});
  }

  const evidence::Switch& state_;
  const std::vector<std::string>& descriptions_;
  const bool is_dynamic_;
  bool has_lossy_pool_ = false;
  Database tables_;
};

std::string peer_of(const design::Intent& intent, const design::SwitchPortIntent& port) {
  if (port.peer.kind == design::NodeKind::kHost) {
    const design::HostIntent& host = intent.hosts[port.peer.node];
    return fmt::format("{} {}", host.name, host.nics[port.peer.port].netdev);
  }
  const design::SwitchIntent& node = intent.switches[port.peer.node];
  return fmt::format("{} {}", node.name, node.ports[port.peer.port].name);
}

/// JSON has no comments: this file explains each table.
std::string notes(const design::Intent& intent, const design::SwitchIntent& wanted,
                  const Lowered& lowered) {
  const bool is_dynamic = lowered.state.buffer_model.is("dynamic");
  std::string out = fmt::format(
      "Notes on {0}.config_db.json.\n\n"
      "Load: config load -y {0}.config_db.json (merges: lanes, addresses and routes of the switch\n"
      "stay), then config save. Buffer changes interrupt traffic briefly.\n\n",
      wanted.name);
  const auto add = [&](std::string_view table, const std::string& why) {
    out += fmt::format("{:<26} {}\n", table, hang(why, 72, 27));
  };
  add("DSCP_TO_TC_MAP",
      "the design's classes. SONiC's stock map AZURE sends DSCP 26 to traffic class 1, which is "
      "lossy; PORT_QOS_MAP|global applies this map to ports without one.");
  for (unsigned p = 0; p < Priority::kLimit; ++p) {
    if (intent.class_names.at(p).empty()) continue;
    const bool lossless = wanted.lossless.contains(Priority::of(p));
    add("", fmt::format("{}: priority {}, queue {}, group {}, {}", intent.class_names.at(p), p,
                        wanted.priority_to_queue.at(p).value(), wanted.priority_to_pg.at(p).value(),
                        lossless ? "lossless" : "lossy"));
  }
  add("PORT_QOS_MAP",
      "pfc_enable turns PFC on in hardware, pfcwd_sw_enable enables the watchdog; both must name "
      "the same priorities.");
  add("CABLE_LENGTH, BUFFER_PG",
      is_dynamic
          ? "headroom in bytes for each speed and length, from the design; 'profile: NULL' would "
            "leave it to the formula of the switch."
          : "headroom is looked up by speed and length. With a length that has no row, a port "
            "gets no lossless group; so lengths are rounded up to rows, and the profiles are "
            "in this file.");
  add("BUFFER_POOL",
      is_dynamic ? "size is the shared buffer; xoff, if set, the headroom pool."
                 : "size includes the shared part and, in xoff, the headroom of all ports.");
  add("WRED_PROFILE",
      "marks ECN-capable packets of the lossless queues; packets that are not ECN-capable are "
      "dropped in the same band. Thresholds scale with the port's speed.");
  add("SCHEDULER",
      "weights are the guaranteed minimums in percent, management included; CNPs are strict. "
      "pir limits a class at access ports.");
  add("PFC_WD", "a receiver that pauses forever must not stop the fabric.");
  add("FLEX_COUNTER_TABLE",
      "count queues, watermarks, headroom drops and ECN marks; without WRED_ECN_QUEUE marking "
      "cannot be observed.");
  if (lowered.remarks.empty()) return out;
  out += "\nDifferences from the design:\n";
  for (const Remark& remark : lowered.remarks)
    out += fmt::format("  {}: design {}, {} ({})\n", remark.what, remark.wanted,
                       remark.becomes.empty() ? "not expressed" : "here " + remark.becomes,
                       remark.why);
  return out;
}

}  // namespace

Rendered sonic_render(const design::Intent& intent, const design::SwitchIntent& wanted) {
  const Lowered lowered = sonic_lower(intent, wanted);
  std::vector<std::string> descriptions;
  for (const design::SwitchPortIntent& port : wanted.ports)
    descriptions.push_back(peer_of(intent, port));
  Rendered out;
  out.remarks = lowered.remarks;
  out.files.push_back(
      {wanted.name + ".config_db.json", Writer(lowered.state, descriptions).write()});
  out.files.push_back({wanted.name + ".notes.txt", notes(intent, wanted, lowered)});
  if (wanted.ecmp_seed != 0) {
    const Json seed = Json::array({{{"SWITCH_TABLE:switch",
                                     {{"ecmp_hash_seed", std::to_string(wanted.ecmp_seed)},
                                      {"lag_hash_seed", std::to_string(wanted.ecmp_seed)}}},
                                    {"OP", "SET"}}});
    out.files.push_back({wanted.name + ".switch.json", seed.dump(4) + "\n"});
  }
  return out;
}

}  // namespace weir::platforms

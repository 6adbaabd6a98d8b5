// CONFIG_DB from a lowered state, and a file of notes, because JSON has no comments.
#include <algorithm>
#include <deque>

#include <fmt/format.h>

#include "base/json.h"
#include "base/text.h"
#include "design/file/words.h"
#include "platforms/common/breakout.h"
#include "platforms/common/lower_common.h"
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
  Writer(const design::Intent& intent, const design::SwitchIntent& wanted,
         const evidence::Switch& state)
      : intent_(intent),
        wanted_(wanted),
        state_(state),
        is_dynamic_(state.buffer_model.is("dynamic")) {}

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
    write_defaults();
    for (const SwitchPort& port : state_.ports)
      write_port(port, peer_text(intent_, intent_of(wanted_, port.name)));
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

  /// Type and mode alone, for the profiles to name: sizes are the platform's.
  void write_pool(std::string_view name) {
    Table& pools = tables_["BUFFER_POOL"];
    for (const auto& [key, fields] : pools.rows)
      if (key == name) return;
    pools.add(std::string(name),
              {{"type", name.starts_with("ingress") ? "ingress" : "egress"}, {"mode", "dynamic"}});
  }

  void write_defaults() {
    if (!is_dynamic_) return;
    Fields row;
    for (const SwitchPort& port : state_.ports)
      for (const GroupBuffer& group : port.groups)
        if (row.empty() && group.alpha.is_known())
          row.emplace_back("default_dynamic_th", text_of(group.alpha->log2()));
    // Any other value than 0 makes headroom a shared pool.
    const unsigned ratio = *state_.headroom_oversubscription;
    row.emplace_back("over_subscribe_ratio", std::to_string(ratio > 1 ? ratio : 0));
    tables_["DEFAULT_LOSSLESS_BUFFER_PARAMETER"].add("AZURE", std::move(row));
  }

  // ---- a port ----

  void write_port(const SwitchPort& port, const std::string& description) {
    tables_["PORT"].add(port.name, {{"speed", megabits(*port.speed)},
                                    {"mtu", text_of(*port.mtu)},
                                    {"pfc_asym", "off"},
                                    {"admin_status", "up"},
                                    {"description", description}});
    Table& cables = tables_["CABLE_LENGTH"];
    // The stock row: a second one would compete with it (buffermgrdyn clears its cache on each).
    if (cables.rows.empty()) cables.add("AZURE", {});
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
    for (const GroupBuffer& group : port.groups) {
      const std::string profile = group_profile(port, group);
      if (!profile.empty())
        tables_["BUFFER_PG"].add(fmt::format("{}|{}", port.name, group.group.value()),
                                 {{"profile", profile}});
    }
    for (const EgressQueue& queue : port.queues)
      write_queue(port, queue);
  }

  /// Empty: the switch makes the group itself.
  std::string group_profile(const SwitchPort& port, const GroupBuffer& group) {
    if (group.headroom_auto.is(true)) return is_dynamic_ ? "NULL" : "";
    write_pool("ingress_lossless_pool");
    Fields row = {{"pool", "ingress_lossless_pool"}};
    std::string name;
    if (is_dynamic_) {
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
    row.emplace_back("dynamic_th", text_of(group.alpha->log2()));
    return tables_["BUFFER_PROFILE"].name_of(name, std::move(row));
  }

  void write_queue(const SwitchPort& port, const EgressQueue& queue) {
    const unsigned index = queue.queue.value();
    const std::string key = fmt::format("{}|{}", port.name, index);
    if (queue.alpha.is_known()) {
      const bool is_lossless = is_queue_of(wanted_, wanted_.lossless, index);
      const std::string pool = is_lossless ? "egress_lossless_pool" : "egress_lossy_pool";
      write_pool(pool);
      const std::string profile = tables_["BUFFER_PROFILE"].name_of(
          is_lossless ? "roce_egress_lossless" : "roce_egress_lossy",
          {{"pool", pool}, {"size", "0"}, {"dynamic_th", text_of(queue.alpha->log2())}});
      tables_["BUFFER_QUEUE"].add(key, {{"profile", profile}});
    }
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
    if (telemetry.gnmi.is(true)) tables_["FEATURE"].add("gnmi", {{"state", "enabled"}});
    if (telemetry.sflow.is(true)) {
      tables_["FEATURE"].add("sflow", {{"state", "enabled"}});
      tables_["SFLOW"].add("global", {{"admin_state", "up"}});
    }
    for (const evidence::SwitchInterface& interface : state_.interfaces) {
      if (interface.kind == "svi")
        write_vlan(interface);
      else
        write_channel(interface);
    }
  }

  /// LACP, with min_links 1 as `config portchannel add` has it; QoS and buffers stay those of the
  /// ports.
  void write_channel(const evidence::SwitchInterface& channel) {
    tables_["PORTCHANNEL"].add(channel.name, {{"admin_status", "up"},
                                              {"mtu", text_of(*channel.mtu)},
                                              {"min_links", "1"},
                                              {"lacp_key", "auto"}});
    for (const std::string& member : *channel.members)
      tables_["PORTCHANNEL_MEMBER"].add(fmt::format("{}|{}", channel.name, member), {});
  }

  void write_vlan(const evidence::SwitchInterface& svi) {
    Fields row = {{"vlanid", svi.name.substr(4)}};
    if (svi.mtu.is_known()) row.emplace_back("mtu", text_of(*svi.mtu));
    tables_["VLAN"].add(svi.name, std::move(row));
    if (!svi.members.is_known()) return;
    for (const std::string& member : *svi.members)
      tables_["VLAN_MEMBER"].add(fmt::format("{}|{}", svi.name, member),
                                 {{"tagging_mode", "tagged"}});
  }

  const design::Intent& intent_;
  const design::SwitchIntent& wanted_;
  const evidence::Switch& state_;
  const bool is_dynamic_;
  Database tables_;
};

// ---- beside CONFIG_DB ----

/// The whole-box profile for a mode, where one is published.
std::optional<std::string> hwsku_of(const design::SwitchModel& model, std::string_view mode) {
  for (const std::string_view entry : split(model.sonic_hwskus, ' ')) {
    const auto equals = entry.find('=');
    if (equals != std::string_view::npos && entry.substr(0, equals) == mode)
      return std::string(entry.substr(equals + 1));
  }
  return std::nullopt;
}

/// Rows of the stock configuration that would contradict the design. `config load` merges: a row
/// that is null in the file is deleted (configdb.cpp, mod_config). Deletions come in a file of
/// their own, because within one file |3 would be added before |3-4 is gone.
std::string removals_of(const design::SwitchIntent& wanted, const evidence::Switch& state) {
  Json tables = Json::object();
  std::uint8_t lossless = 0;
  for (unsigned q = 0; q < Queue::kLimit; ++q)
    if (is_queue_of(wanted, wanted.lossless, q))
      lossless = static_cast<std::uint8_t>(lossless | (1U << q));
  for (const SwitchPort& port : state.ports) {
    for (const SonicRange& range : sonic_stock_ranges()) {
      const std::string key = fmt::format("{}|{}-{}", port.name, range.first, range.last);
      bool groups_fit = true;
      for (unsigned p = range.first; p <= range.last; ++p)
        groups_fit &= wanted.lossless.contains(Priority::of(p));
      if (range.lossless && !groups_fit) tables["BUFFER_PG"][key] = nullptr;
      if (!sonic_writes_queue(lossless, range.first)) continue;
      tables["BUFFER_QUEUE"][key] = nullptr;
      // The stock WRED profile of a queue that is lossy now.
      for (unsigned q = range.first; q <= range.last && range.lossless; ++q)
        if (((lossless >> q) & 1U) == 0)
          tables["QUEUE"][fmt::format("{}|{}", port.name, q)] = nullptr;
    }
    if (!port.watchdog.is(true)) tables["PFC_WD"][port.name] = nullptr;
  }
  return tables.empty() ? std::string() : tables.dump(4) + "\n";
}

/// The split of the cages, before anything that names a sub-port.
std::string breakout_script(const design::SwitchIntent& wanted) {
  const std::vector<UsedCage> cages = changed_cages(wanted);
  if (std::none_of(cages.begin(), cages.end(), [](const auto& cage) { return cage.is_split(); }))
    return {};
  std::string out = fmt::format(
      R"sh(#!/bin/bash
# Splits the cages of {} ({}) as the design wants them. Run on the switch, before the other files.
# `config interface breakout` wants the mode as platform.json writes it: it is looked up there.
set -eu
platform=$(sonic-cfggen -H -v DEVICE_METADATA.localhost.platform)
modes=/usr/share/sonic/device/$platform/platform.json
exact_mode() {{
  python3 - "$modes" "$1" "$2" <<'PYTHON'
import json, sys
file, port, wanted = sys.argv[1:]
for mode in json.load(open(file))["interfaces"][port]["breakout_modes"]:
    if mode == wanted or mode.startswith((wanted + "[", wanted + "(")):
        print(mode)
        break
else:
    sys.exit(f"{{port}}: platform.json has no mode {{wanted}}")
PYTHON
}}
)sh",
      wanted.name, wanted.model->title);
  for (const CageRun& run : runs_of(cages)) {
    if (!run.first.is_split()) continue;
    const std::string mode =
        fmt::format("{}x{}", run.first.mode.ports, to_text(run.first.mode.speed));
    const auto hwsku = hwsku_of(*wanted.model, mode);
    const bool is_whole = run.names.size() == static_cast<std::size_t>(wanted.model->cages());
    if (hwsku && is_whole)
      out += fmt::format(
          "# A fresh switch can start with hwsku {0} instead:\n"
          "#   sonic-cfggen -H -k {0} --preset t1 > config_db.json, then config reload\n",
          *hwsku);
    out += fmt::format("mode=$(exact_mode {} {})\n", run.names.front(), mode);
    for (const std::string& name : run.names)
      out += fmt::format("sudo config interface breakout {} \"$mode\" -y\n", name);
  }
  return out;
}

std::string with_name(std::string text, const std::string& name) {
  constexpr std::string_view kNode = "NODE";
  if (const auto at = text.find(kNode); at != std::string::npos)
    text.replace(at, kNode.size(), name);
  return text;
}

/// The hash seed is not in CONFIG_DB, and gone when swss restarts: equal seeds polarise.
std::string seed_order(const design::SwitchIntent& wanted) {
  if (wanted.ecmp_seed == 0) return "";
  return fmt::format(
      "  docker cp {0}.switch.json swss:/ && docker exec swss swssconfig /{0}.switch.json\n"
      "                                     the hash seed; again after each restart of swss\n",
      wanted.name);
}

/// JSON has no comments: this file explains each table.
std::string notes(const design::Intent& intent, const design::SwitchIntent& wanted,
                  const Lowered& lowered) {
  const bool is_dynamic = lowered.state.buffer_model.is("dynamic");
  std::string out = fmt::format(
      "Notes on {0}.config_db.json.\n\n"
      "Order, on a switch with its stock configuration:\n{1}"
      "  config load -y {0}.remove.json      rows of the stock configuration that must go\n"
      "  config load -y {0}.config_db.json   merges: lanes, addresses, routes and services stay\n"
      "{2}  config save -y\n"
      "Buffer changes interrupt traffic briefly.\n\n",
      wanted.name,
      breakout_script(wanted).empty() ? ""
                                      : fmt::format("  bash {}.breakout.sh           splits the "
                                                    "cages\n",
                                                    wanted.name),
      seed_order(wanted));
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
          ? "'profile: NULL' lets the switch compute headroom from speed, cable and MTU, as its "
            "own scripts do; a headroom that the design states in bytes has a profile."
          : "the switch makes the lossless groups itself, from pfc_enable, and looks headroom up "
            "by speed and length. With a length that has no row a port gets no lossless group; so "
            "lengths are rounded up to rows.");
  add("BUFFER_POOL",
      "type and mode only, as they are: the sizes are the platform's. A size here would stop the "
      "switch from computing it.");
  if (is_dynamic)
    add("DEFAULT_LOSSLESS_BUFFER_PARAMETER",
        "over_subscribe_ratio 0: each group its own headroom; any other number makes it a shared "
        "pool.");
  add("WRED_PROFILE",
      "marks ECN-capable packets of the lossless queues; packets that are not ECN-capable are "
      "dropped in the same band. Thresholds scale with the port's speed.");
  add("SCHEDULER",
      "weights are the guaranteed minimums in percent, management included; CNPs are strict. "
      "pir limits a class at access ports.");
  const auto& interfaces = lowered.state.interfaces;
  if (std::any_of(interfaces.begin(), interfaces.end(),
                  [](const auto& each) { return each.kind == "port-channel"; }))
    add("PORTCHANNEL",
        "parallel links as one port-channel, with LACP. QoS, buffers and watchdog are those of its "
        "ports. A port joins only without addresses (INTERFACE) and VLANs of its own: remove those "
        "of the stock configuration first.");
  add("PFC_WD", "a receiver that pauses forever must not stop the fabric.");
  add("FLEX_COUNTER_TABLE",
      "count queues, watermarks, headroom drops and ECN marks; without WRED_ECN_QUEUE marking "
      "cannot be observed.");
  if (lowered.remarks.empty()) return out;
  out += "\nDifferences from the design:\n";
  for (const Remark& remark : lowered.remarks)
    out += fmt::format(
        "  {}: design {}, {} ({})\n", remark.what, remark.wanted,
        remark.becomes.empty() ? "not expressed" : "here " + with_name(remark.becomes, wanted.name),
        remark.why);
  return out;
}

}  // namespace

Rendered sonic_render(const design::Intent& intent, const design::SwitchIntent& wanted) {
  const Lowered lowered = sonic_lower(intent, wanted);
  Rendered out;
  out.remarks = lowered.remarks;
  out.files.push_back(
      {wanted.name + ".config_db.json", Writer(intent, wanted, lowered.state).write()});
  if (std::string text = removals_of(wanted, lowered.state); !text.empty())
    out.files.push_back({wanted.name + ".remove.json", std::move(text)});
  if (std::string text = breakout_script(wanted); !text.empty())
    out.files.push_back({wanted.name + ".breakout.sh", std::move(text)});
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

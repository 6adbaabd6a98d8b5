#include "platforms/sonic/sonic_tables.h"

#include <algorithm>
#include <set>

#include <fmt/format.h>

#include "base/text.h"

namespace weir::platforms {
namespace {

/// A known table and its fields, including those that have nothing to do with QoS. No fields: keys
/// are data (maps).
struct TableShape {
  std::string_view name;
  std::vector<std::string_view> fields;
};

// Names: sonic-yang-models of sonic-buildimage 086b03b.
std::vector<TableShape> port_shapes() {
  return {
      {"DEVICE_METADATA",
       {"hostname",
        "hwsku",
        "platform",
        "mac",
        "type",
        "buffer_model",
        "default_pfcwd_status",
        "bgp_asn",
        "asic_name",
        "asic_id",
        "switch_type",
        "synchronous_mode",
        "subtype",
        "default_bgp_status",
        "docker_routing_config_mode",
        "frr_mgmt_framework_config",
        "region",
        "cloudtype",
        "timezone",
        "deployment_id",
        "create_only_config_db_buffers"}},
      {"PORT",
       {"lanes",
        "speed",
        "mtu",
        "fec",
        "pfc_asym",
        "admin_status",
        "alias",
        "index",
        "description",
        "autoneg",
        "adv_speeds",
        "interface_type",
        "adv_interface_types",
        "link_training",
        "tpid",
        "mode",
        "role",
        "core_id",
        "core_port_id",
        "num_voq",
        "dhcp_rate_limit",
        "subport"}},
      {"CABLE_LENGTH", {}},
      {"DSCP_TO_TC_MAP", {}},
      {"DOT1P_TO_TC_MAP", {}},
      {"TC_TO_QUEUE_MAP", {}},
      {"TC_TO_PRIORITY_GROUP_MAP", {}},
      {"MAP_PFC_PRIORITY_TO_QUEUE", {}},
      {"PFC_PRIORITY_TO_PRIORITY_GROUP_MAP", {}},
      {"TC_TO_DSCP_MAP", {}},
      {"SCHEDULER", {"type", "weight", "priority", "meter_type", "cir", "pir", "cbs", "pbs"}},
      {"WRED_PROFILE",
       {"ecn", "wred_green_enable", "wred_yellow_enable", "wred_red_enable", "green_min_threshold",
        "green_max_threshold", "green_drop_probability", "yellow_min_threshold",
        "yellow_max_threshold", "yellow_drop_probability", "red_min_threshold", "red_max_threshold",
        "red_drop_probability"}},
      {"PORT_QOS_MAP",
       {"dscp_to_tc_map", "dot1p_to_tc_map", "tc_to_queue_map", "tc_to_pg_map", "pfc_to_queue_map",
        "pfc_to_pg_map", "tc_to_dscp_map", "scheduler", "pfc_enable", "pfcwd_sw_enable"}},
  };
}

std::vector<TableShape> buffer_shapes() {
  return {
      {"QUEUE", {"scheduler", "wred_profile"}},
      {"BUFFER_POOL", {"type", "mode", "size", "xoff", "percentage"}},
      {"BUFFER_PROFILE",
       {"pool", "size", "static_th", "dynamic_th", "xon", "xon_offset", "xoff", "headroom_type",
        "packet_discard_action"}},
      {"BUFFER_PG", {"profile"}},
      {"BUFFER_QUEUE", {"profile"}},
      {"BUFFER_PORT_INGRESS_PROFILE_LIST", {"profile_list"}},
      {"BUFFER_PORT_EGRESS_PROFILE_LIST", {"profile_list"}},
      {"PFC_WD",
       {"action", "detection_time", "restoration_time", "POLL_INTERVAL", "pfc_stat_history"}},
      {"DEFAULT_LOSSLESS_BUFFER_PARAMETER", {"default_dynamic_th", "over_subscribe_ratio"}},
      {"LOSSLESS_TRAFFIC_PATTERN", {"mtu", "small_packet_percentage"}},
      {"FLEX_COUNTER_TABLE",
       {"FLEX_COUNTER_STATUS", "POLL_INTERVAL", "FLEX_COUNTER_DELAY_STATUS", "BULK_CHUNK_SIZE",
        "BULK_CHUNK_SIZE_PER_PREFIX"}},
      {"FEATURE",
       {"state", "auto_restart", "has_global_scope", "has_per_asic_scope", "delayed",
        "high_mem_alert", "set_owner", "check_up_status", "support_syslog_rate_limit", "has_timer",
        "has_per_dpu_scope"}},
      {"SFLOW", {"admin_state", "polling_interval", "agent_id", "sample_direction"}},
      {"VLAN",
       {"vlanid", "mtu", "admin_status", "description", "alias", "dhcp_servers", "dhcpv6_servers",
        "mac"}},
      {"VLAN_MEMBER", {"tagging_mode"}},
      {"PORTCHANNEL",
       {"admin_status", "mtu", "min_links", "lacp_key", "fast_rate", "fallback", "description",
        "mode", "tpid", "learn_mode", "members"}},
      {"PORTCHANNEL_MEMBER", {"NULL"}},
  };
}

const std::vector<TableShape>& shapes() {
  static const std::vector<TableShape> kShapes = [] {
    std::vector<TableShape> all = port_shapes();
    const std::vector<TableShape> others = buffer_shapes();
    all.insert(all.end(), others.begin(), others.end());
    return all;
  }();
  return kShapes;
}

}  // namespace

SonicTables::SonicTables(const JsonNode& root, std::string_view text, std::string_view file)
    : root_(root), lines_(split(text, '\n')), file_(file) {}

const JsonNode* SonicTables::row(std::string_view table_name, std::string_view key) const {
  const JsonNode* const rows = table(table_name);
  return rows == nullptr ? nullptr : rows->find(key);
}

std::string SonicTables::reference(const JsonNode& field, std::string_view table_name) {
  std::string_view name = field.text;
  const std::string old_form = fmt::format("[{}|", table_name);
  if (name.starts_with(old_form) && name.ends_with("]")) {
    name.remove_prefix(old_form.size());
    name.remove_suffix(1);
  }
  if (row(table_name, name) != nullptr) return std::string(name);
  list_in(dangling_, field.line,
          fmt::format("names {}|{}, which is not in the file", table_name, name));
  return {};
}

const JsonNode* SonicTables::referred(const JsonNode& field, std::string_view table_name) {
  const std::string name = reference(field, table_name);
  return name.empty() ? nullptr : row(table_name, name);
}

std::int64_t SonicTables::number(const JsonNode& field, std::string_view where, std::int64_t low,
                                 std::int64_t high) {
  const bool is_negative = field.text.starts_with('-');
  const auto size = parse_u64(std::string_view(field.text).substr(is_negative ? 1 : 0));
  constexpr std::uint64_t kLargest = std::uint64_t{1} << 62U;
  if (field.is_scalar() && size && *size <= kLargest) {
    const auto value = static_cast<std::int64_t>(*size) * (is_negative ? -1 : 1);
    if (value >= low && value <= high) return value;
  }
  fail(field.line, where, fmt::format("a number from {} to {}", low, high), field.text);
  return low;
}

std::string_view SonicTables::text(const JsonNode& field, std::string_view where) {
  if (!field.is_scalar()) fail(field.line, where, "a text", field.what());
  return field.text;
}

std::string_view SonicTables::word(const JsonNode& field, std::string_view where,
                                   const std::vector<std::string_view>& words) {
  if (std::find(words.begin(), words.end(), field.text) == words.end()) {
    fail(field.line, where, fmt::format("one of {}", fmt::join(words, ", ")), field.text);
    return words.front();
  }
  return field.text;
}

PrioritySet SonicTables::priorities(const JsonNode& field, std::string_view where) {
  PrioritySet out;
  if (field.kind == JsonNode::Kind::kText && field.text.empty()) return out;
  for (const std::string_view piece : split(field.text, ',')) {
    const auto value = parse_u64(trim(piece));
    if (!value || *value >= Priority::kLimit) {
      fail(field.line, where, "priorities from 0 to 7, such as \"3,4\"", field.text);
      return out;
    }
    out.insert(Priority::of(static_cast<unsigned>(*value)));
  }
  return out;
}

std::optional<SonicKey> SonicTables::key(std::string_view key, const JsonNode& row,
                                         std::string_view what, unsigned limit) {
  const auto bar = key.rfind('|');
  const auto refuse = [&]() -> std::optional<SonicKey> {
    list(row.line,
         fmt::format("expected PORT|N with a {} N from 0 to {}, found '{}'", what, limit - 1, key));
    return std::nullopt;
  };
  if (bar == std::string_view::npos) return refuse();
  const std::vector<std::string_view> ends = split(key.substr(bar + 1), '-');
  const auto first = parse_u64(ends.front());
  const auto last = parse_u64(ends.back());
  if (ends.size() > 2 || !first || !last || *first > *last || *last >= limit) return refuse();
  SonicKey out;
  for (const std::string_view port : split(key.substr(0, bar), ','))
    out.ports.emplace_back(port);
  out.first = static_cast<unsigned>(*first);
  out.last = static_cast<unsigned>(*last);
  return out;
}

void SonicTables::list(int line, std::string why) {
  list_in(unread_, line, std::move(why));
}

void SonicTables::list_in(std::vector<Unread>& all, int line, std::string why) {
  const auto index = static_cast<std::size_t>(std::max(line, 1)) - 1;
  const std::string_view text = index < lines_.size() ? trim(lines_[index]) : std::string_view();
  for (const Unread& unread : all)
    if (unread.line == line && unread.why == why) return;
  all.push_back({line, std::string(text), std::move(why)});
}

void SonicTables::fail(int line, std::string_view where, std::string_view expected,
                       std::string_view found) {
  if (error_) return;
  error_ = parse_error(
      fmt::format("{}:{}: {}: expected {}, found '{}'", file_, line, where, expected, found));
}

std::string SonicTables::source(const JsonNode& node) const {
  return fmt::format("{}:{}", file_, node.line);
}

/// JSON parsers silently take the last of two members with one name.
void SonicTables::list_repeated(const JsonNode& object) {
  std::set<std::string_view> names;
  for (const JsonNode& node : object.members)
    if (!names.insert(node.key).second)
      list(node.line, fmt::format("'{}' appears twice: the last one is used", node.key));
}

void SonicTables::check_shape() {
  list_repeated(root_);
  for (const JsonNode& rows : root_.members) {
    const std::string& name = rows.key;
    const auto& known = shapes();
    const auto shape = std::find_if(known.begin(), known.end(),
                                    [&](const TableShape& row) { return row.name == name; });
    if (shape == known.end()) {
      list(rows.line, fmt::format("table {} is not about QoS, buffers or ports", name));
      continue;
    }
    if (!rows.is_object()) {
      fail(rows.line, name, "an object of rows", rows.what());
      continue;
    }
    check_fields(name, rows);
  }
}

void SonicTables::check_fields(std::string_view table_name, const JsonNode& rows) {
  const auto& known = shapes();
  const auto shape = std::find_if(known.begin(), known.end(),
                                  [&](const TableShape& row) { return row.name == table_name; });
  list_repeated(rows);
  for (const JsonNode& row : rows.members) {
    const std::string& key = row.key;
    if (!row.is_object()) {
      fail(row.line, fmt::format("{}|{}", table_name, key), "an object of fields", row.what());
      continue;
    }
    list_repeated(row);
    for (const JsonNode& value : row.members) {
      const std::string& field = value.key;
      if (shape->fields.empty() && !value.is_scalar())
        fail(value.line, fmt::format("{}|{} {}", table_name, key, field), "a text", value.what());
      if (shape->fields.empty()) continue;
      if (std::find(shape->fields.begin(), shape->fields.end(), field) == shape->fields.end())
        list(value.line, fmt::format("{}: unknown field '{}'", table_name, field));
    }
  }
}

std::vector<Unread> SonicTables::take_unread() {
  std::stable_sort(unread_.begin(), unread_.end(),
                   [](const Unread& a, const Unread& b) { return a.line < b.line; });
  return std::move(unread_);
}

std::vector<Unread> SonicTables::take_dangling() {
  return std::move(dangling_);
}

}  // namespace weir::platforms

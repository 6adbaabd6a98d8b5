// Parsing a SONiC CONFIG_DB, with SONiC's defaults for what the file does not set. A file without a
// PORT table is a fragment: what is not in it stays unknown.
#include <algorithm>
#include <limits>
#include <map>

#include <fmt/format.h>

#include "base/text.h"
#include "model/headroom.h"
#include "platforms/common/lower_common.h"
#include "platforms/common/read_common.h"
#include "platforms/sonic/sonic.h"
#include "platforms/sonic/sonic_tables.h"
#include "units/format.h"

namespace weir::platforms {
namespace {

constexpr Defaults kDefaults{"default of SONiC"};
constexpr std::int64_t kMost = std::numeric_limits<std::int64_t>::max() / 16;

template <class T>
Fact<T> by_default(T value) {
  return kDefaults.value(std::move(value));
}

/// The headroom formula of a switch by its name: hwsku "ACS-SN5600", platform
/// "x86_64-nvidia_sn5600-r0".
std::optional<model::HeadroomModel> formula_of(std::string_view box) {
  std::string lower(box);
  std::transform(lower.begin(), lower.end(), lower.begin(),
                 [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c + 32) : c; });
  using enum model::HeadroomModel;
  constexpr std::array<std::pair<std::string_view, model::HeadroomModel>, 6> kBoxes = {
      {{"sn2", kSpectrum1},
       {"sn3", kSpectrum2},
       {"sn4", kSpectrum3},
       {"sn5640", kSpectrum5},
       {"sn5", kSpectrum4},
       {"sn6", kSpectrum6}}};
  for (const auto& [name, model] : kBoxes)
    if (lower.find(name) != std::string::npos) return model;
  return std::nullopt;
}

class Reader {
 public:
  Reader(const JsonNode& root, std::string_view text, std::string_view file)
      : tables_(root, text, file), is_whole_(root.find("PORT") != nullptr) {}

  Result<Parsed> read() {
    tables_.check_shape();
    if (tables_.error()) return *tables_.error();
    out_.state.platform = platform_fact(vocab::SwitchSystem::kSonic, std::string(tables_.file()));
    read_device();
    collect_ports();
    read_ports();
    read_qos_maps();
    read_cables();
    read_pools();
    read_groups();
    read_queues();
    read_watchdog();
    read_rest();
    if (tables_.error()) return *tables_.error();
    if (is_whole_) keep_existing_ports();
    out_.unread = tables_.take_unread();
    out_.is_whole = is_whole_;
    for (const Unread& dangling : tables_.take_dangling())
      out_.faults.push_back(
          {.line = dangling.line, .port = "", .text = dangling.why, .source = dangling.text});
    settle_faults(out_);
    return std::move(out_);
  }

 private:
  template <class T>
  [[nodiscard]] Fact<T> fact(T value, const JsonNode& at) const {
    return Fact<T>::of(std::move(value), tables_.source(at));
  }
  [[nodiscard]] std::int64_t number_of(const JsonNode& row, std::string_view where,
                                       std::string_view field, std::int64_t low,
                                       std::int64_t high) {
    return tables_.number(*row.find(field), fmt::format("{} {}", where, field), low, high);
  }

  /// A fact from a number of units; nothing where the row has no such field.
  template <class T>
  void take(const JsonNode& row, std::string_view where, std::string_view field, T unit,
            std::int64_t low, std::int64_t high, Fact<T>& out) {
    if (const JsonNode* const value = row.find(field))
      out = fact(unit * number_of(row, where, field, low, high), *value);
  }
  void take_alpha(const JsonNode& row, std::string_view where, Fact<Alpha>& out) {
    if (const JsonNode* const value = row.find("dynamic_th"))
      out = fact(Alpha::from_log2(static_cast<int>(number_of(row, where, "dynamic_th", -8, 7))),
                 *value);
  }

  void read_device() {
    const JsonNode* const device = tables_.row("DEVICE_METADATA", "localhost");
    evidence::Switch& state = out_.state;
    if (is_whole_) state.buffer_model = by_default(std::string("traditional"));
    if (device == nullptr) return;
    if (const JsonNode* const name = device->find("hostname"))
      state.name = std::string(tables_.text(*name, "DEVICE_METADATA|localhost hostname"));
    for (const std::string_view field : {"hwsku", "platform"}) {
      const JsonNode* const box = device->find(field);
      if (box == nullptr) continue;
      if (!state.model.is_known()) state.model = fact(box->text, *box);
      if (!formula_) formula_ = formula_of(box->text);
    }
    if (const JsonNode* const model = device->find("buffer_model")) {
      const std::string_view word = tables_.word(*model, "DEVICE_METADATA|localhost buffer_model",
                                                 {"traditional", "dynamic"});
      state.buffer_model = fact(std::string(word), *model);
    }
  }
  [[nodiscard]] bool is_dynamic() const { return out_.state.buffer_model.is("dynamic"); }

  // ---- ports ----

  SwitchPort& port(const std::string& name) {
    const auto [at, is_new] = port_index_.try_emplace(name, out_.state.ports.size());
    if (is_new) out_.state.ports.emplace_back().name = name;
    return out_.state.ports[at->second];
  }

  /// The ports of all tables, those of PORT first.
  void collect_ports() {
    for (const char* const table : {"PORT", "PORT_QOS_MAP", "PFC_WD"}) {
      const JsonNode* const rows = tables_.table(table);
      if (rows == nullptr) continue;
      for (const JsonNode& member : rows->members)
        for (const std::string_view name : split(member.key, ','))
          if (name != "global" && name != "GLOBAL" && !name.empty()) port(std::string(name));
    }
    if (const JsonNode* const cables = tables_.table("CABLE_LENGTH")) {
      for (const JsonNode& set : cables->members)
        for (const JsonNode& member : set.members)
          port(member.key);
    }
    for (const char* const table : {"QUEUE", "BUFFER_PG", "BUFFER_QUEUE"}) {
      const JsonNode* const rows = tables_.table(table);
      if (rows == nullptr) continue;
      for (const JsonNode& member : rows->members) {
        const std::string_view key = member.key;
        for (const std::string_view name : split(key.substr(0, key.rfind('|')), ','))
          if (!name.empty()) port(std::string(name));
      }
    }
  }

  /// A row of another table for a port that PORT does not have makes no port.
  void keep_existing_ports() {
    const JsonNode* const rows = tables_.table("PORT");
    if (rows == nullptr) return;
    std::erase_if(out_.state.ports,
                  [&](const SwitchPort& port) { return rows->find(port.name) == nullptr; });
  }

  void read_ports() {
    const JsonNode* const rows = tables_.table("PORT");
    if (rows == nullptr) return;
    for (const JsonNode& row : rows->members) {
      const std::string& name = row.key;
      SwitchPort& out = port(name);
      const std::string where = "PORT|" + name;
      out.mtu = by_default(9100_B);  // portmgrd's DEFAULT_MTU_STR
      take(row, where, "mtu", 1_B, 68, 9216, out.mtu);
      take(row, where, "speed", 1_Mbps, 1, 1'600'000, out.speed);
      if (const JsonNode* const fec = row.find("fec"))
        out.fec = fact(std::string(tables_.text(*fec, where + " fec")), *fec);
      if (const JsonNode* const lanes = row.find("lanes"))
        lanes_[name] = split(tables_.text(*lanes, where + " lanes"), ',').size();
      const JsonNode* const admin = row.find("admin_status");
      if (admin != nullptr &&
          tables_.word(*admin, where + " admin_status", {"up", "down"}) == "down")
        out.up = fact(false, *admin);
      out.pfc_negotiated = by_default(false);
      out.global_pause = by_default(false);
      out.dcbx = by_default(false);
    }
  }

  // ---- maps ----

  void read_qos_maps() {
    const JsonNode* const rows = tables_.table("PORT_QOS_MAP");
    if (rows == nullptr && !is_whole_) return;
    static const JsonNode kNothing;
    const JsonNode* const global = tables_.row("PORT_QOS_MAP", "global");
    std::map<std::string, const JsonNode*> row_of;
    if (rows != nullptr) {
      for (const JsonNode& row : rows->members)
        for (const std::string_view name : split(row.key, ','))
          row_of[std::string(name)] = &row;
    }
    for (SwitchPort& out : out_.state.ports) {
      const auto at = row_of.find(out.name);
      if (at == row_of.end() && !is_whole_) continue;
      read_port_maps(out, at == row_of.end() ? kNothing : *at->second,
                     global == nullptr ? kNothing : *global);
    }
  }

  void read_port_maps(SwitchPort& out, const JsonNode& row, const JsonNode& global) {
    const JsonNode* const own = row.find("dscp_to_tc_map");
    const JsonNode* const dscp = own != nullptr ? own : global.find("dscp_to_tc_map");
    const JsonNode* const pcp = row.find("dot1p_to_tc_map");
    using enum evidence::TrustMode;
    const JsonNode* const trusted = dscp != nullptr ? dscp : pcp;
    out.trust = trusted == nullptr ? by_default(kNone)
                                   : fact(dscp == nullptr  ? kPcp
                                          : pcp == nullptr ? kDscp
                                                           : kBoth,
                                          *trusted);
    evidence::Switch& state = out_.state;
    if (dscp != nullptr) bind(out, *dscp, "DSCP_TO_TC_MAP", dscp_map_, state.dscp_to_tc);
    if (pcp != nullptr) bind(out, *pcp, "DOT1P_TO_TC_MAP", pcp_map_, state.pcp_to_tc);
    const auto bind_field = [&](std::string_view field, std::string_view table, Bound& bound,
                                auto& map) {
      if (const JsonNode* const named = row.find(field)) bind(out, *named, table, bound, map);
    };
    bind_field("tc_to_queue_map", "TC_TO_QUEUE_MAP", queue_map_, state.tc_to_queue);
    bind_field("tc_to_pg_map", "TC_TO_PRIORITY_GROUP_MAP", group_map_, state.tc_to_group);
    bind_field("pfc_to_queue_map", "MAP_PFC_PRIORITY_TO_QUEUE", pause_map_, state.pfc_to_queue);
    bind_field("tc_to_dscp_map", "TC_TO_DSCP_MAP", rewrite_map_, state.tc_to_dscp);
    const JsonNode* const rewrite = row.find("tc_to_dscp_map");
    out.rewrites_dscp = rewrite != nullptr ? fact(true, *rewrite) : by_default(false);
    const std::string where = "PORT_QOS_MAP|" + out.name;
    const JsonNode* const pfc = row.find("pfc_enable");
    out.pfc = pfc != nullptr ? fact(tables_.priorities(*pfc, where + " pfc_enable"), *pfc)
                             : by_default(PrioritySet());
    if (const JsonNode* const watched = row.find("pfcwd_sw_enable"))
      watched_[out.name] = {tables_.priorities(*watched, where + " pfcwd_sw_enable"), watched};
    out.max_rate = by_default(BitRate());
    if (const JsonNode* const scheduler = row.find("scheduler")) {
      if (const JsonNode* const limits = tables_.referred(*scheduler, "SCHEDULER"))
        out.max_rate = read_rate(*limits, "SCHEDULER|" + scheduler->text);
    }
  }

  /// The one map of a kind that this switch's ports bind; another one on a later port is listed.
  struct Bound {
    std::string name;
  };
  template <class Map>
  void bind(SwitchPort& out, const JsonNode& field, std::string_view table, Bound& bound,
            Fact<Map>& map) {
    const std::string name = tables_.reference(field, table);
    if (name.empty() || name == bound.name) return;
    if (bound.name.empty()) {
      bound.name = name;
      map = read_map<Map>(*tables_.row(table, name), fmt::format("{}|{}", table, name));
      return;
    }
    tables_.list(field.line, fmt::format("{} binds {}|{}, ports before it {}: only one map of a "
                                         "switch is compared",
                                         out.name, table, name, bound.name));
    out.trust = Fact<evidence::TrustMode>::missing(Missing::kError, tables_.source(field));
  }

  template <class Map>
  Fact<Map> read_map(const JsonNode& row, const std::string& where) {
    using Code = typename Map::value_type;
    constexpr bool kMayLack = requires(Code c) {
      c.reset();
    };
    Map map{};
    std::array<bool, std::tuple_size_v<Map>> is_set{};
    for (const JsonNode& value : row.members) {
      const std::string& key = value.key;
      const auto index = parse_u64(key);
      if (!index || *index >= map.size()) {
        tables_.list(value.line, fmt::format("{}: expected a key from 0 to {}, found '{}'", where,
                                             map.size() - 1, key));
        continue;
      }
      const auto code = read_code<Code>(value, where);
      if (!code) continue;
      map.at(*index) = *code;
      is_set.at(*index) = true;
    }
    const bool is_full = std::all_of(is_set.begin(), is_set.end(), [](bool set) { return set; });
    if (kMayLack || is_full) return fact(map, row);
    tables_.list(row.line, fmt::format("{}: not every class has an entry", where));
    return Fact<Map>::missing(Missing::kError, tables_.source(row));
  }

  template <class Code>
  std::optional<Code> read_code(const JsonNode& value, const std::string& where) {
    if constexpr (requires(Code c) { c.reset(); }) {
      const auto inner = read_code<typename Code::value_type>(value, where);
      return inner ? std::optional<Code>(*inner) : std::nullopt;
    } else {
      const std::int64_t number = tables_.number(value, where, 0, 63);
      if (number < static_cast<std::int64_t>(Code::kLimit))
        return Code::of(static_cast<unsigned>(number));
      tables_.list(value.line, fmt::format("{}: {} is not supported (0 to {})", where, number,
                                           Code::kLimit - 1));
      return std::nullopt;
    }
  }

  void read_cables() {
    const JsonNode* const sets = tables_.table("CABLE_LENGTH");
    if (sets == nullptr) return;
    for (const JsonNode& set : sets->members) {
      for (const JsonNode& value : set.members) {
        const std::string& name = value.key;
        const auto metres =
            value.text.ends_with('m')
                ? parse_u64(std::string_view(value.text).substr(0, value.text.size() - 1))
                : Result<std::uint64_t>(parse_error(""));
        if (!metres || *metres > 100'000) {
          tables_.fail(value.line, "CABLE_LENGTH " + name, "whole metres such as \"40m\"",
                       value.text);
          return;
        }
        port(name).cable_length = fact(1_m * static_cast<std::int64_t>(*metres), value);
      }
    }
  }

  // ---- buffers ----

  void read_pools() {
    const JsonNode* const rows = tables_.table("BUFFER_POOL");
    if (rows != nullptr) {
      using enum evidence::PoolKind;
      std::vector<evidence::Pool> pools;
      for (const JsonNode& row : rows->members) {
        const std::string& name = row.key;
        const std::string where = "BUFFER_POOL|" + name;
        const bool is_lossy = name.find("lossy") != std::string::npos;
        const Bytes headroom =
            row.find("xoff") != nullptr ? Bytes::raw(number_of(row, where, "xoff", 0, kMost)) : 0_B;
        if (headroom > 0_B) pool_headroom_ = true;
        if (row.find("size") != nullptr) {
          const Bytes size = Bytes::raw(number_of(row, where, "size", 0, kMost));
          // Broadcom's pool includes headroom, NVIDIA's does not.
          const Bytes shared = is_dynamic() ? size : std::max(size - headroom, 0_B);
          pools.push_back({name, is_lossy ? kLossy : kLossless, shared, {}});
        } else if (row.find("percentage") != nullptr) {
          const Share share = 1_percent * number_of(row, where, "percentage", 0, 100);
          pools.push_back({name, is_lossy ? kLossy : kLossless, {}, share});
        }
        if (headroom > 0_B) pools.push_back({name + " xoff", kHeadroom, headroom, {}});
      }
      // Without a size a pool is the platform's business.
      if (!pools.empty()) out_.state.pools = fact(pools, *rows);
    }
    const JsonNode* const defaults = tables_.table("DEFAULT_LOSSLESS_BUFFER_PARAMETER");
    if (defaults == nullptr || defaults->members.empty()) return;
    const JsonNode& row = defaults->members.front();
    const std::string where = "DEFAULT_LOSSLESS_BUFFER_PARAMETER";
    if (const JsonNode* const ratio = row.find("over_subscribe_ratio")) {
      const std::int64_t value = number_of(row, where, "over_subscribe_ratio", 0, 1000);
      out_.state.headroom_oversubscription =
          fact(static_cast<unsigned>(std::max<std::int64_t>(value, 1)), *ratio);
    }
    if (row.find("default_dynamic_th") != nullptr)
      default_alpha_ =
          Alpha::from_log2(static_cast<int>(number_of(row, where, "default_dynamic_th", -8, 7)));
  }

  void read_groups() {
    if (const JsonNode* const rows = tables_.table("BUFFER_PG")) {
      for (const JsonNode& row : rows->members) {
        const std::string& key = row.key;
        const auto where = tables_.key(key, row, "priority group", PriorityGroup::kLimit);
        const JsonNode* const profile = row.find("profile");
        if (!where || profile == nullptr) continue;
        for (const std::string& name : where->ports)
          for (unsigned group = where->first; group <= where->last; ++group)
            port(name).groups.push_back(read_group(port(name), group, *profile));
      }
    }
    if (!is_whole_) return;
    for (SwitchPort& out : out_.state.ports) {
      add_looked_up_groups(out);
      std::vector<GroupBuffer>& groups = out.groups.edit();
      std::stable_sort(
          groups.begin(), groups.end(),
          [](const GroupBuffer& a, const GroupBuffer& b) { return a.group < b.group; });
    }
  }

  GroupBuffer read_group(const SwitchPort& owner, unsigned group, const JsonNode& field) {
    GroupBuffer out;
    out.group = PriorityGroup::of(group);
    if (field.text == "NULL") {
      read_computed_group(owner, field, out);
      return out;
    }
    const JsonNode* const profile = tables_.referred(field, "BUFFER_PROFILE");
    if (profile == nullptr) return out;
    const std::string where = "BUFFER_PROFILE|" + field.text;
    const JsonNode* const xoff = profile->find("xoff");
    out.lossless = fact(xoff != nullptr, *profile);
    take(*profile, where, "xoff", 1_B, 0, kMost, out.headroom);
    if (xoff != nullptr) out.headroom_auto = fact(false, *xoff);
    // NVIDIA: `size` includes headroom, the reserved part is `xon`.
    const std::string_view guaranteed = xoff != nullptr && is_dynamic() ? "xon" : "size";
    take(*profile, where, guaranteed, 1_B, 0, kMost, out.reserved);
    take(*profile, where, "xon_offset", 1_B, 0, kMost, out.xon);
    take(*profile, where, "static_th", 1_B, 0, kMost, out.xoff);
    take_alpha(*profile, where, out.alpha);
    return out;
  }

  /// `profile: NULL`: the switch computes it, by a formula that its model gives.
  void read_computed_group(const SwitchPort& owner, const JsonNode& field, GroupBuffer& out) {
    out.lossless = fact(true, field);
    out.headroom_auto = fact(true, field);
    out.headroom = Fact<Bytes>::missing(Missing::kAbsent, tables_.source(field));
    if (default_alpha_) out.alpha = fact(*default_alpha_, field);
    if (!formula_ || !owner.speed.is_known() || !owner.cable_length.is_known()) return;
    model::HeadroomInput input;
    input.model = *formula_;
    input.speed = *owner.speed;
    input.cable = *owner.cable_length;
    if (owner.mtu.is_known()) input.mtu = *owner.mtu;
    input.shared_headroom = pool_headroom_;
    const auto lanes = lanes_.find(owner.name);
    input.eight_lanes = lanes != lanes_.end() && lanes->second == 8;
    if (const JsonNode* const patterns = tables_.table("LOSSLESS_TRAFFIC_PATTERN");
        patterns != nullptr && !patterns->members.empty()) {
      const JsonNode& row = patterns->members.front();
      const std::string where = "LOSSLESS_TRAFFIC_PATTERN";
      if (row.find("mtu") != nullptr)
        input.lossless_mtu = Bytes::raw(number_of(row, where, "mtu", 1, 9216));
      if (row.find("small_packet_percentage") != nullptr)
        input.small_percent =
            static_cast<int>(number_of(row, where, "small_packet_percentage", 0, 100));
    }
    const auto computed = model::headroom(input);
    if (!computed) return;
    out.headroom = Fact<Bytes>::of(computed->xoff, "computed by the formula of " +
                                                       std::string(*out_.state.model) + ", " +
                                                       tables_.source(field));
    if (computed->xon) out.reserved = Fact<Bytes>::of(*computed->xon, out.headroom.source());
  }

  /// Traditional model: a PFC priority without a BUFFER_PG row gets its group by looking up speed
  /// and cable in a file on the switch; "0m" means none.
  void add_looked_up_groups(SwitchPort& out) {
    if (!out.pfc.is_known() || is_dynamic()) return;
    for (unsigned p = 0; p < Priority::kLimit; ++p) {
      if (!out.pfc->contains(Priority::of(p))) continue;
      const bool is_there = std::any_of(
          out.groups.begin(), out.groups.end(),
          [&](const GroupBuffer& group_buffer) { return group_buffer.group.value() == p; });
      if (is_there) continue;
      GroupBuffer group;
      group.group = PriorityGroup::of(p);
      const bool is_off = out.cable_length.is(0_m) || !out.cable_length.is_known();
      group.lossless = by_default(!is_off);
      group.headroom_auto = by_default(true);
      group.headroom = is_off
                           ? by_default(0_B)
                           : Fact<Bytes>::missing(Missing::kAbsent, std::string(kDefaults.source));
      out.groups.push_back(std::move(group));
    }
  }

  // ---- queues ----

  EgressQueue& queue(SwitchPort& owner, unsigned index) {
    const std::size_t known_queues = owner.queues.size();
    EgressQueue& out = queue_at(owner, Queue::of(index));
    const bool is_new = owner.queues.size() > known_queues;
    if (is_new && (tables_.table("QUEUE") != nullptr || is_whole_)) {
      out.ecn = by_default(false);
      out.wred_drop = by_default(false);
      out.max_rate = by_default(BitRate());
    }
    return out;
  }

  void read_queues() {
    if (const JsonNode* const rows = tables_.table("QUEUE")) {
      for (const JsonNode& row : rows->members) {
        const std::string& key = row.key;
        const auto where = tables_.key(key, row, "queue", Queue::kLimit);
        if (!where) continue;
        for (const std::string& name : where->ports)
          for (unsigned index = where->first; index <= where->last; ++index)
            read_queue(row, queue(port(name), index));
      }
    }
    if (const JsonNode* const rows = tables_.table("BUFFER_QUEUE")) {
      for (const JsonNode& row : rows->members) {
        const std::string& key = row.key;
        const auto where = tables_.key(key, row, "queue", 16);
        const JsonNode* const field = row.find("profile");
        const JsonNode* const profile =
            field == nullptr ? nullptr : tables_.referred(*field, "BUFFER_PROFILE");
        if (!where || profile == nullptr || profile->find("dynamic_th") == nullptr) continue;
        const auto log2 = static_cast<int>(
            number_of(*profile, "BUFFER_PROFILE|" + field->text, "dynamic_th", -8, 7));
        for (const std::string& name : where->ports)
          for (unsigned i = where->first; i <= std::min(where->last, Queue::kLimit - 1); ++i)
            queue(port(name), i).alpha = fact(Alpha::from_log2(log2), *profile);
      }
    }
  }

  void read_queue(const JsonNode& row, EgressQueue& out) {
    if (const JsonNode* const name = row.find("scheduler")) {
      if (const JsonNode* const scheduler = tables_.referred(*name, "SCHEDULER"))
        read_scheduler(*scheduler, "SCHEDULER|" + name->text, out);
    }
    if (const JsonNode* const name = row.find("wred_profile")) {
      const JsonNode* const profile = tables_.referred(*name, "WRED_PROFILE");
      if (profile != nullptr) {
        read_wred(*profile, "WRED_PROFILE|" + name->text, out);
      } else {
        out.ecn = Fact<bool>::missing(Missing::kError, tables_.source(*name));
      }
    }
  }

  void read_scheduler(const JsonNode& row, const std::string& where, EgressQueue& out) {
    const JsonNode* const type = row.find("type");
    const std::string_view word =
        type == nullptr ? "WRR" : tables_.word(*type, where + " type", {"DWRR", "WRR", "STRICT"});
    const bool is_strict = word == "STRICT";
    out.scheduler =
        fact(is_strict ? evidence::Scheduler::kStrict : evidence::Scheduler::kWeighted, row);
    if (const JsonNode* const weight = row.find("weight"); weight != nullptr && !is_strict)
      out.weight = fact(static_cast<unsigned>(number_of(row, where, "weight", 1, 100)), *weight);
    out.max_rate = read_rate(row, where);
  }

  Fact<BitRate> read_rate(const JsonNode& row, const std::string& where) {
    const JsonNode* const pir = row.find("pir");
    if (pir == nullptr) return by_default(BitRate());
    const JsonNode* const meter = row.find("meter_type");
    if (meter != nullptr && meter->text == "packets") {
      tables_.list(pir->line, "a rate in packets per second");
      return Fact<BitRate>::missing(Missing::kError, tables_.source(*pir));
    }
    return fact(BitRate::raw(number_of(row, where, "pir", 0, kMost) * 8), *pir);
  }

  /// Without metering all packets are green.
  void read_wred(const JsonNode& row, const std::string& where, EgressQueue& out) {
    const JsonNode* const ecn = row.find("ecn");
    const std::string_view word =
        ecn == nullptr
            ? "ecn_none"
            : tables_.word(*ecn, where + " ecn",
                           {"ecn_none", "ecn_green", "ecn_yellow", "ecn_red", "ecn_green_yellow",
                            "ecn_green_red", "ecn_yellow_red", "ecn_all"});
    const bool marks = word == "ecn_all" || word.find("green") != std::string_view::npos;
    const JsonNode* const enable = row.find("wred_green_enable");
    const bool is_on = enable != nullptr && tables_.word(*enable, where + " wred_green_enable",
                                                         {"false", "true"}) == "true";
    out.ecn = fact(marks && is_on, ecn == nullptr ? row : *ecn);
    out.wred_drop = fact(is_on, enable == nullptr ? row : *enable);
    take(row, where, "green_min_threshold", 1_B, 0, kMost, out.ecn_min);
    take(row, where, "green_max_threshold", 1_B, 0, kMost, out.ecn_max);
    out.ecn_probability = by_default(Share(100_percent));
    take(row, where, "green_drop_probability", Share(1_percent), 0, 100, out.ecn_probability);
  }

  // ---- watchdog and the rest ----

  void read_watchdog() {
    const JsonNode* const rows = tables_.table("PFC_WD");
    if (rows == nullptr && !is_whole_) return;
    bool is_anywhere = false;
    for (SwitchPort& out : out_.state.ports) {
      const JsonNode* const row = tables_.row("PFC_WD", out.name);
      out.watchdog = row == nullptr ? by_default(false) : fact(true, *row);
      if (row == nullptr) continue;
      is_anywhere = true;
      read_watchdog_row(out, *row);
    }
    // A port that has none is that port's fault.
    out_.state.watchdog.enabled = rows == nullptr ? by_default(false) : fact(is_anywhere, *rows);
  }

  void read_watchdog_row(SwitchPort& out, const JsonNode& row) {
    const std::string where = "PFC_WD|" + out.name;
    evidence::Watchdog& watchdog = out_.state.watchdog;
    const auto merge = [&]<class T>(Fact<T>& all, const T& value, const JsonNode& at) {
      if (!all.was_looked_at()) {
        all = fact(value, at);
      } else if (all.is_known() && *all != value) {
        tables_.list(at.line, fmt::format("{} differs from ports before it: only one setting of a "
                                          "switch is compared",
                                          out.name));
        all = Fact<T>::missing(Missing::kError, tables_.source(at));
      }
    };
    if (const JsonNode* const time = row.find("detection_time"))
      merge(watchdog.detection, 1_ms * number_of(row, where, "detection_time", 100, 5000), *time);
    if (const JsonNode* const time = row.find("restoration_time"))
      merge(watchdog.restoration, 1_ms * number_of(row, where, "restoration_time", 100, 60'000),
            *time);
    const JsonNode* const action = row.find("action");
    const std::string word(
        action == nullptr ? std::string_view("drop")
                          : tables_.word(*action, where + " action", {"drop", "forward", "alert"}));
    merge(watchdog.action, word, action == nullptr ? row : *action);
    // The watchdog covers the priorities of pfcwd_sw_enable only.
    if (!out.pfc.is_known() || out.pfc->count() == 0) return;
    const auto watched = watched_.find(out.name);
    if (watched == watched_.end() || (watched->second.first.mask() & out.pfc->mask()) == 0) {
      out.watchdog = fact(false, row);
      return;
    }
    const auto& [set, at] = watched->second;
    const auto missed =
        PrioritySet::from_mask(static_cast<std::uint8_t>(out.pfc->mask() & ~set.mask()));
    if (missed.count() == 0) return;
    out_.faults.push_back({.line = at->line,
                           .port = out.name,
                           .text = fmt::format("PFC watchdog: expected priority {}, found priority "
                                               "{}: {} is not watched",
                                               to_text(*out.pfc), to_text(set), to_text(missed)),
                           .source = "",
                           .id = "watchdog.off",
                           .needs_whole = false});
  }

  void read_rest() {
    evidence::Switch& state = out_.state;
    if (is_whole_) {
      state.load_balancing = by_default(std::string("ecmp"));
      state.lldp = by_default(true);
    }
    if (const JsonNode* const lldp = tables_.row("FEATURE", "lldp"))
      state.lldp = is_enabled(*lldp, "state", "enabled");
    if (const JsonNode* const gnmi = tables_.row("FEATURE", "gnmi"))
      state.telemetry.gnmi = is_enabled(*gnmi, "state", "enabled");
    const JsonNode* const sflow = tables_.row("SFLOW", "global");
    if (sflow != nullptr) {
      state.telemetry.sflow = is_enabled(*sflow, "admin_state", "up");
    } else if (is_whole_) {
      state.telemetry.sflow = by_default(false);
    }
    read_counters();
    const JsonNode* const vlans = tables_.table("VLAN");
    if (vlans != nullptr) {
      for (const JsonNode& row : vlans->members)
        if (row.find("mtu") != nullptr)
          take(row, "VLAN|" + row.key, "mtu", 1_B, 1, 9216,
               interface_named(state, row.key, "svi").mtu);
    }
    read_members("VLAN_MEMBER", "svi");
    read_channels();
  }

  /// "Vlan100|Ethernet0": the port is a member.
  void read_members(std::string_view table, std::string_view kind) {
    const JsonNode* const rows = tables_.table(table);
    if (rows == nullptr) return;
    for (const JsonNode& row : rows->members) {
      const auto bar = row.key.find('|');
      if (bar == std::string::npos) continue;
      add_member(interface_named(out_.state, row.key.substr(0, bar), kind), row.key.substr(bar + 1),
                 tables_.source(row));
    }
  }

  void read_channels() {
    evidence::Switch& state = out_.state;
    if (is_whole_)
      for (SwitchPort& out : state.ports)
        out.channel = by_default(std::string());
    if (const JsonNode* const channels = tables_.table("PORTCHANNEL")) {
      for (const JsonNode& row : channels->members) {
        Fact<Bytes>& mtu = interface_named(state, row.key, "port-channel").mtu;
        mtu = by_default(9100_B);  // teammgrd's DEFAULT_MTU_STR
        take(row, "PORTCHANNEL|" + row.key, "mtu", 1_B, 68, 9216, mtu);
      }
    }
    read_members("PORTCHANNEL_MEMBER", "port-channel");
    for (const evidence::SwitchInterface& channel : state.interfaces) {
      if (channel.kind != "port-channel" || !channel.members.is_known()) continue;
      for (const std::string& member : *channel.members)
        if (port_index_.contains(member))
          port(member).channel = known(channel.name, channel.members.source());
    }
  }

  void read_counters() {
    evidence::Telemetry& telemetry = out_.state.telemetry;
    if (const JsonNode* const queue = tables_.row("FLEX_COUNTER_TABLE", "QUEUE"))
      take(*queue, "FLEX_COUNTER_TABLE|QUEUE", "POLL_INTERVAL", Duration(1_ms), 1, 3'600'000,
           telemetry.interval);
    if (const JsonNode* const marks = tables_.row("FLEX_COUNTER_TABLE", "QUEUE_WATERMARK"))
      telemetry.queue_monitor = is_enabled(*marks, "FLEX_COUNTER_STATUS", "enable");
    if (const JsonNode* const marks = tables_.row("FLEX_COUNTER_TABLE", "WRED_ECN_QUEUE"))
      telemetry.ecn_counters = is_enabled(*marks, "FLEX_COUNTER_STATUS", "enable");
    else if (is_whole_)
      telemetry.ecn_counters = by_default(false);
  }

  [[nodiscard]] Fact<bool> is_enabled(const JsonNode& row, std::string_view field,
                                      std::string_view word) const {
    const JsonNode* const value = row.find(field);
    return value == nullptr ? Fact<bool>() : fact(value->text == word, *value);
  }

  SonicTables tables_;
  const bool is_whole_;
  Parsed out_;
  std::map<std::string, std::size_t, std::less<>> port_index_;
  std::map<std::string, std::size_t, std::less<>> lanes_;
  std::map<std::string, std::pair<PrioritySet, const JsonNode*>, std::less<>> watched_;
  Bound dscp_map_, pcp_map_, queue_map_, group_map_, pause_map_, rewrite_map_;
  std::optional<model::HeadroomModel> formula_;
  std::optional<Alpha> default_alpha_;
  bool pool_headroom_ = false;
};

/// The top level of CONFIG_DB: names in capitals, and at least one of QoS, buffers or ports.
bool sonic_recognises(std::string_view text) {
  const std::string_view start = trim(text);
  if (!start.starts_with('{')) return false;
  for (const std::string_view table :
       {"\"PORT_QOS_MAP\"", "\"DSCP_TO_TC_MAP\"", "\"BUFFER_PROFILE\"", "\"BUFFER_PG\"",
        "\"DEVICE_METADATA\"", "\"WRED_PROFILE\"", "\"CABLE_LENGTH\"", "\"PFC_WD\"",
        "\"QOS_CAPABILITY_TABLE|qos\""})
    if (text.find(table) != std::string_view::npos) return true;
  return false;
}

}  // namespace

Result<Parsed> sonic_parse(std::string_view text, std::string_view file) {
  WEIR_TRY(root, parse_json_lines(text, file));
  if (!root.is_object())
    return parse_error(fmt::format("{}:{}: expected CONFIG_DB, an object of tables, found {}", file,
                                   root.line, root.what()));
  return Reader(root, text, file).read();
}

Platform sonic() {
  return platform_row(
      {.system = design::SwitchSystem::kSonic,
       .how_load =
           "NODE.breakout.sh if there is one, config load -y NODE.remove.json, config load -y "
           "NODE.config_db.json, swssconfig NODE.switch.json in the container swss (the hash "
           "seed), "
           "config save -y; NODE.notes.txt has the order and the reasons",
       .lower = sonic_lower,
       .render = sonic_render,
       .recognises = sonic_recognises,
       .parse = sonic_parse});
}

}  // namespace weir::platforms

#include "render/text/host_screen.h"

#include <algorithm>
#include <array>
#include <optional>

#include <fmt/format.h>

#include "base/count_text.h"
#include "base/name_pattern.h"
#include "base/table.h"
#include "base/text.h"
#include "base/untrusted/printable.h"
#include "units/format.h"

namespace weir::render {
namespace {

using evidence::Fact;
using evidence::Nic;
using evidence::Setting;

constexpr std::string_view kUnknown = "?";
constexpr std::string_view kNone = "-";

template <class T, class Text>
std::string cell(const Fact<T>& fact, const Text& text) {
  return fact.is_known() ? std::string(text(*fact)) : std::string(kUnknown);
}

std::string link_cell(const Nic& nic) {
  if (nic.link.up.is(false)) return "down";
  return cell(nic.link.speed, [](BitRate rate) { return to_text(rate); });
}

std::string driver_cell(const Nic& nic) {
  std::string text = cell(nic.driver, [](const std::string& name) { return name; });
  if (nic.stack.is_known()) text += fmt::format(" {}", evidence::to_text(*nic.stack));
  return text;
}

std::string map_cell(const Nic& nic, const ScreenOptions& options) {
  // Without DSCP trust the map has no effect.
  if (nic.qos.trust.is_known() && !nic.qos.trust.is(evidence::TrustMode::kDscp)) return "-";
  return cell(nic.qos.dscp_to_priority, [&](const auto& map) {
    const auto entry = [&](Dscp dscp) {
      const std::optional<Priority>& priority = map.at(dscp.value());
      return fmt::format("{}→{}", dscp.value(), priority ? to_text(*priority) : "none");
    };
    return fmt::format("{} {}", entry(options.rdma), entry(options.cnp));
  });
}

std::string priorities_cell(const Fact<PrioritySet>& fact) {
  return cell(fact, [](PrioritySet set) {
    constexpr std::uint8_t kAll = 0xff;
    return set.mask() == kAll ? std::string("all") : to_text(set);
  });
}

std::string pause_cell(const Nic& nic) {
  if (nic.link.pause_rx.is(true) || nic.link.pause_tx.is(true)) return "on";
  const bool is_known = nic.link.pause_rx.is_known() && nic.link.pause_tx.is_known();
  return is_known ? "off" : std::string(kUnknown);
}

/// The first RoCEv2 GID with a routable address: for jobs to use.
std::string gid_cell(const Nic& nic) {
  return cell(nic.rdma.gids, [](const std::vector<evidence::Gid>& gids) {
    const auto found = std::find_if(gids.begin(), gids.end(), [](const evidence::Gid& gid) {
      return gid.type == evidence::GidType::kRoceV2 && !gid.gid.starts_with("fe80");
    });
    return found == gids.end() ? std::string("none") : std::to_string(found->index);
  });
}

std::string mtu_cell(const Nic& nic) {
  const auto bytes = [](Bytes size) { return std::to_string(size.raw()); };
  return fmt::format("{}/{}", cell(nic.link.mtu, bytes), cell(nic.link.active_mtu, bytes));
}

std::string class_cell(const Nic& nic) {
  return cell(nic.rdma.traffic_class, [](const std::optional<TosByte>& tos) {
    return tos ? to_text(*tos) : std::string("-");
  });
}

// ---- columns ----

struct Column {
  std::string_view title;
  std::vector<Setting> settings;  // a deviation of one marks the column
};

const std::array<Column, 13>& columns() {
  static const std::array<Column, 13> all = {{
      {"rail", {}},
      {"device", {}},
      {"link", {Setting::kLinkUp, Setting::kSpeed}},
      {"driver", {}},
      {"trust", {Setting::kTrust}},
      {"DSCP→prio", {Setting::kDscpToPriority}},
      {"PFC", {Setting::kPfc}},
      {"802.3x", {Setting::kGlobalPause}},
      {"NP", {Setting::kEcnNp}},
      {"RP", {Setting::kEcnRp}},
      {"GID", {Setting::kGidV2}},
      {"MTU", {Setting::kMtu, Setting::kActiveMtu}},
      {"TC", {Setting::kTrafficClass}},
  }};
  return all;
}

std::string rail_cell(const Nic& nic) {
  return cell(nic.rail, [](unsigned rail) { return std::to_string(rail); });
}

/// The rest does not apply: InfiniBand has a subnet manager and credits.
std::vector<std::string> infiniband_row(const Nic& nic) {
  return {rail_cell(nic),
          nic.device,
          link_cell(nic),
          driver_cell(nic),
          "InfiniBand",
          "-",
          "-",
          "-",
          "-",
          "-",
          "-",
          mtu_cell(nic),
          "-"};
}

std::vector<std::string> settings_of(const Nic& nic, const ScreenOptions& options) {
  if (nic.link_layer.is(evidence::LinkLayer::kInfiniband)) return infiniband_row(nic);
  return {rail_cell(nic),
          nic.device,
          link_cell(nic),
          driver_cell(nic),
          cell(nic.qos.trust, [](evidence::TrustMode trust) { return evidence::to_text(trust); }),
          map_cell(nic, options),
          priorities_cell(nic.qos.pfc),
          pause_cell(nic),
          priorities_cell(nic.ecn.np),
          priorities_cell(nic.ecn.rp),
          gid_cell(nic),
          mtu_cell(nic),
          class_cell(nic)};
}

void mark(std::vector<std::string>& cells, const std::vector<Setting>& wrong) {
  for (std::size_t i = 0; i < columns().size(); ++i) {
    const std::vector<Setting>& settings = columns().at(i).settings;
    const bool is_wrong = std::any_of(settings.begin(), settings.end(), [&](Setting setting) {
      return std::find(wrong.begin(), wrong.end(), setting) != wrong.end();
    });
    // Not for missing values, nor for a map without effect: its trust is marked.
    if (is_wrong && cells[i] != kUnknown && cells[i] != "-") cells[i] += '!';
  }
}

// ---- totals ----

/// A sum; no value where no counter could be read, which is not zero.
struct Total {
  std::optional<std::uint64_t> value;

  Total& operator+=(const Total& other) {
    if (other.value) value = value.value_or(0) + *other.value;
    return *this;
  }
};

/// Frames and packets since the counters were reset.
struct Totals {
  Total pause_rx;
  Total pause_tx;
  Total cnp_sent;
  Total cnp_handled;

  Totals& operator+=(const Totals& other) {
    pause_rx += other.pause_rx;
    pause_tx += other.pause_tx;
    cnp_sent += other.cnp_sent;
    cnp_handled += other.cnp_handled;
    return *this;
  }
};

std::string total_text(const Total& total) {
  return total.value ? weir::count_text(*total.value) : std::string(kNone);
}

std::string pair_text(const Total& a, const Total& b) {
  if (!a.value && !b.value) return std::string(kNone);
  return fmt::format("{}/{}", total_text(a), total_text(b));
}

Totals totals_of(const counters::PortCounters& port) {
  const auto value = [&](std::string_view id, std::optional<unsigned> number) {
    const counters::Reading reading = port.read(id, number);
    return reading.has_value() ? Total{reading.value()} : Total{};
  };
  Totals totals;
  for (unsigned priority = 0; priority < 8; ++priority) {
    totals.pause_rx += value("nic.prio.pause_rx.frames", priority);
    totals.pause_tx += value("nic.prio.pause_tx.frames", priority);
  }
  totals.cnp_sent = value("nic.np.cnp_sent.packets", std::nullopt);
  totals.cnp_handled = value("nic.rp.cnp_handled.packets", std::nullopt);
  return totals;
}

Totals totals_of(const evidence::Evidence& evidence, std::string_view device) {
  if (evidence.snapshots.empty()) return {};
  const auto& nics = evidence.snapshots.back().nics;
  const auto found = std::find_if(nics.begin(), nics.end(),
                                  [&](const auto& port) { return port.device() == device; });
  return found == nics.end() ? Totals{} : totals_of(*found);
}

// ---- hosts ----

struct Group {
  std::vector<std::vector<std::string>> rows;  // settings per NIC; equal rows group hosts
  std::vector<const evidence::Evidence*> hosts;
};

std::vector<Group> group(std::span<const ScreenHost> hosts, const ScreenOptions& options) {
  std::vector<Group> groups;
  for (const ScreenHost& host : hosts) {
    std::vector<std::vector<std::string>> rows;
    for (std::size_t i = 0; i < host.evidence->nics.size(); ++i) {
      rows.push_back(settings_of(host.evidence->nics[i], options));
      if (i < host.wrong.size()) mark(rows.back(), host.wrong[i]);
    }
    const auto same = std::find_if(groups.begin(), groups.end(),
                                   [&](const Group& known) { return known.rows == rows; });
    if (same == groups.end()) {
      groups.push_back({std::move(rows), {host.evidence}});
    } else {
      same->hosts.push_back(host.evidence);
    }
  }
  return groups;
}

std::string others_text(const Group& group) {
  std::vector<std::string> names;
  Totals totals;
  for (std::size_t i = 1; i < group.hosts.size(); ++i) {
    names.push_back(group.hosts[i]->provenance.host);
    for (const Nic& nic : group.hosts[i]->nics)
      totals += totals_of(*group.hosts[i], nic.device);
  }
  return fmt::format("{}: same settings; in total pause {}, CNP {}\n", compact_names(names),
                     pair_text(totals.pause_rx, totals.pause_tx),
                     pair_text(totals.cnp_sent, totals.cnp_handled));
}

std::string table_of(const Group& group) {
  std::vector<std::string> header;
  for (const Column& column : columns())
    header.emplace_back(column.title);
  header.emplace_back("pause rx/tx");
  header.emplace_back("CNP sent/handled");
  TextTable table(header);
  const evidence::Evidence& first = *group.hosts.front();
  for (std::size_t i = 0; i < group.rows.size(); ++i) {
    const Totals totals = totals_of(first, first.nics[i].device);
    std::vector<std::string> cells = group.rows[i];
    cells.push_back(pair_text(totals.pause_rx, totals.pause_tx));
    cells.push_back(pair_text(totals.cnp_sent, totals.cnp_handled));
    table.add_row(std::move(cells));
  }
  return table.to_text(2);
}

/// Cells that end with '!' in red; after the layout, because colour codes have no width.
std::string painted(const std::string& text) {
  std::string out;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t end = std::min(text.find_first_of(" \n", at), text.size());
    const std::string_view word = std::string_view(text).substr(at, end - at);
    out += word.ends_with('!')
               ? own_control("\x1b[1;31m") + std::string(word) + own_control("\x1b[0m")
               : std::string(word);
    if (end < text.size()) out += text[end];
    at = end + 1;
  }
  return out;
}

}  // namespace

std::string host_screen(std::span<const ScreenHost> hosts, const ScreenOptions& options) {
  std::string text;
  for (const Group& alike : group(hosts, options)) {
    if (!text.empty()) text += '\n';
    text += fmt::format("{}\n", alike.hosts.front()->provenance.host);
    text += alike.rows.empty() ? std::string("  no RDMA device\n") : table_of(alike);
    if (alike.hosts.size() > 1) text += others_text(alike);
  }
  return options.colour ? painted(text) : text;
}

}  // namespace weir::render

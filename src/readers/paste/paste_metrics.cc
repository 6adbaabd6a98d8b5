// Counters as exporters for Prometheus print them, and lines in which a script shows the settings
// of one host each as "name=value".
#include <algorithm>
#include <array>

#include "base/text.h"
#include "readers/paste/paste_tools.h"
#include "readers/paste/text_lines.h"

namespace weir::readers {
namespace {

// ---- metrics ----

/// `node_infiniband_link_downed_total{device="mlx5_3",port="1"} 57`.
struct Metric {
  std::string_view name;
  std::string_view labels;
  double value = 0;
};

bool is_metric_name(std::string_view text) {
  return !text.empty() && text.find('_') != std::string_view::npos &&
         std::all_of(text.begin(), text.end(), [](char c) {
           return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
                  c == '_' || c == ':';
         });
}

std::optional<Metric> metric_of(std::string_view text) {
  const std::size_t open = text.find('{');
  const std::size_t close = text.find('}');
  if (open == std::string_view::npos || close == std::string_view::npos || close < open)
    return std::nullopt;
  Metric out;
  out.name = text.substr(0, open);
  out.labels = text.substr(open + 1, close - open - 1);
  const auto words = words_of(text.substr(close + 1));
  const auto value = words.empty() || words.size() > 2 ? std::nullopt : leading_decimal(words[0]);
  const bool has_labels = out.labels.find("=\"") != std::string_view::npos;
  if (!is_metric_name(out.name) || !has_labels || !value || *value < 0) return std::nullopt;
  out.value = *value;
  return out;
}

/// The value of the first of these labels that is there.
std::string_view label_of(std::string_view labels, std::initializer_list<std::string_view> names) {
  for (const std::string_view part : split(labels, ',')) {
    const std::size_t sign = part.find("=\"");
    if (sign == std::string_view::npos || !part.ends_with('"')) continue;
    const std::string_view name = trim(part.substr(0, sign));
    if (std::find(names.begin(), names.end(), name) != names.end())
      return part.substr(sign + 2, part.size() - sign - 3);
  }
  return {};
}

/// What the collector of node_exporter calls files of the kernel.
struct Renamed {
  std::string_view metric;
  std::string_view counter;
};
constexpr auto kRenamed = std::to_array<Renamed>({
    {"port_errors_received", "port_rcv_errors"},
    {"port_discards_received", "port_rcv_discards"},
    {"port_discards_transmitted", "port_xmit_discards"},
    {"port_transmit_wait", "port_xmit_wait"},
    {"port_constraint_errors_received", "port_rcv_constraint_errors"},
    {"port_receive_remote_physical_errors", "port_rcv_remote_physical_errors"},
});

/// The counter behind the name of a metric: without what the exporter puts around it. Empty where
/// no counter of a NIC is called so.
std::string counter_of_metric(std::string_view metric) {
  if (metric.ends_with("_total")) metric.remove_suffix(6);
  for (std::string_view rest = metric;;) {
    for (const Renamed& item : kRenamed)
      if (rest == item.metric) return std::string(item.counter);
    std::string name(rest);
    if (rest.starts_with("received_")) name = "rx_" + std::string(rest.substr(9));
    if (rest.starts_with("transmitted_")) name = "tx_" + std::string(rest.substr(12));
    if (place_of_counter(name)) return name;
    const std::size_t next = rest.find('_');
    if (next == std::string_view::npos) return {};
    rest.remove_prefix(next + 1);
  }
}

/// A rate over time is no counter, and what counts in other units is none of the kernel's.
bool is_counted(const Metric& metric) {
  constexpr double kLargest = 9e15;  // as far as a double counts one by one
  return metric.name.find(':') == std::string_view::npos && metric.value < kLargest &&
         metric.name.find("_bytes_total") == std::string_view::npos &&
         metric.name.find("rate") == std::string_view::npos;
}

void add_metric(const Metric& metric, const PasteLine& line, PasteSink& out) {
  const std::string_view device =
      label_of(metric.labels, {"device", "interface", "netdev", "ifname", "nic", "hca"});
  if (device.empty()) return;
  std::string_view host = label_of(metric.labels, {"host", "hostname", "node", "nodename"});
  if (host.empty()) host = label_of(metric.labels, {"instance"});
  host = host.substr(0, host.find(':'));
  const std::string before = out.host();
  if (!host.empty()) out.use_host(host);
  if (metric.name.ends_with("infiniband_state_id")) {
    constexpr double kActive = 4;  // ibv_port_state
    out.set(out.hosts().by_device(out.host(), device).nic.rdma.active, metric.value == kActive,
            line);
  } else if (const std::string name = counter_of_metric(metric.name);
             !name.empty() && is_counted(metric)) {
    const counters::Place place = *place_of_counter(name);
    PastedNic& nic = out.hosts().by_name(out.host(), device);
    add_count(nic.dump_for(place, name), place, name, static_cast<std::uint64_t>(metric.value));
  }
  if (!host.empty()) out.use_host(before);
}

bool is_metric_comment(std::string_view text) {
  return text.starts_with("# HELP ") || text.starts_with("# TYPE ");
}

// ---- settings, a host a line ----

/// "1,0,0,1,0,0,0,0": PFC by priority.
std::optional<PrioritySet> pfc_of_bits(std::string_view text) {
  const auto parts = split(text, ',');
  if (parts.size() != Priority::kLimit) return std::nullopt;
  PrioritySet out;
  for (unsigned p = 0; p < Priority::kLimit; ++p) {
    if (parts[p] != "0" && parts[p] != "1") return std::nullopt;
    if (parts[p] == "1") out.insert(Priority::of(p));
  }
  return out;
}

struct FleetLine {
  std::string_view host;
  std::string_view device;
  std::optional<evidence::TrustMode> trust;
  std::optional<PrioritySet> pfc;
  std::optional<unsigned> traffic_class;
};

/// "n103: mlx5_0 ens2np0 trust=pcp tc=106 pfc=0,0,0,1,0,0,0,0": a host, and what its NIC is set to.
std::optional<FleetLine> fleet_line(std::string_view text) {
  const auto words = words_of(text);
  constexpr std::size_t kMost = 12;
  if (words.size() < 2 || words.size() > kMost) return std::nullopt;
  FleetLine out;
  for (std::size_t i = 0; i < words.size(); ++i) {
    std::string_view word = words[i];
    const std::size_t sign = word.find('=');
    if (sign == std::string_view::npos) {
      if (word.ends_with(':')) word.remove_suffix(1);
      const bool has_digit =
          std::any_of(word.begin(), word.end(), [](char c) { return c >= '0' && c <= '9'; });
      const bool is_time = second_of_day(word).has_value();
      if (i == 0 && has_digit && !is_time && !is_rdma_name(word)) {
        out.host = word;
      } else if (is_rdma_name(word)) {
        out.device = word;
      } else if (!has_digit) {
        return std::nullopt;  // a sentence
      }
      continue;
    }
    const std::string_view name = word.substr(0, sign);
    std::string_view value = word.substr(sign + 1);
    if (value.ends_with(',') || value.ends_with(';')) value.remove_suffix(1);
    if (name == "trust" && (value == "pcp" || value == "dscp"))
      out.trust = value == "dscp" ? evidence::TrustMode::kDscp : evidence::TrustMode::kPcp;
    if (name == "pfc") out.pfc = pfc_of_bits(value);
    const auto number =
        name == "tc" || name == "tos" || name == "tclass" ? parse_count(value) : std::nullopt;
    if (number && *number < TosByte::kLimit) out.traffic_class = static_cast<unsigned>(*number);
  }
  return (out.trust || out.pfc) && !out.host.empty() ? std::optional(out) : std::nullopt;
}

}  // namespace

bool begins_metrics(const PasteAt& at) {
  return metric_of(at.line(0)).has_value() ||
         (is_metric_comment(at.line(0)) &&
          (metric_of(at.line(1)) || is_metric_comment(at.line(1))));
}

std::size_t read_metrics(const PasteAt& at, PasteSink& out) {
  std::size_t taken = 0;
  for (; taken < at.lines.size(); ++taken) {
    const auto metric = metric_of(at.line(taken));
    if (!metric && !is_metric_comment(at.line(taken))) break;
    if (metric) add_metric(*metric, at.lines[taken], out);
  }
  return taken;
}

// ---- rates over time, a host per column ----

namespace {

/// What a panel shows: `rate(node_ethtool_tx_prio3_pause_duration{device="rail4"}[1m])`.
struct RatePanel {
  std::string counter;
  std::string_view device;
};
std::optional<RatePanel> rate_panel(std::string_view text) {
  constexpr std::string_view kRate = "rate(";  // and irate()
  const std::size_t at = text.find(kRate);
  const std::size_t end = text.find(')', at == std::string_view::npos ? 0 : at);
  if (at == std::string_view::npos || end == std::string_view::npos) return std::nullopt;
  // A share, or other units than the counter's.
  const bool is_scaled = text.find("unit: %") != std::string_view::npos ||
                         trim(text.substr(end + 1)).starts_with('*') ||
                         trim(text.substr(end + 1)).starts_with('/');
  const std::string_view inside = text.substr(at + kRate.size(), end - at - kRate.size());
  const std::string_view name = inside.substr(0, inside.find_first_of("{["));
  const std::size_t open = inside.find('{');
  const std::size_t close = inside.find('}');
  RatePanel out;
  out.counter = is_metric_name(name) && !is_scaled ? counter_of_metric(name) : std::string();
  if (open != std::string_view::npos && close != std::string_view::npos && open < close)
    out.device = label_of(inside.substr(open + 1, close - open - 1),
                          {"device", "interface", "netdev", "ifname", "nic", "hca"});
  return out.counter.empty() ? std::nullopt : std::optional(out);
}

std::vector<std::string_view> csv_cells(std::string_view text) {
  std::vector<std::string_view> out;
  for (std::string_view cell : split(text, ',')) {
    cell = trim(cell);
    if (cell.size() > 1 && cell.front() == '"' && cell.back() == '"')
      cell = cell.substr(1, cell.size() - 2);
    out.push_back(cell);
  }
  return out;
}

/// "Time","gpu-b14","gpu-b15": the hosts of the columns; empty where it is no such heading.
std::vector<std::string_view> hosts_of_columns(std::string_view text) {
  const auto cells = csv_cells(text);
  const std::string first = cells.empty() ? std::string() : lower_case(cells[0]);
  if (cells.size() < 2 || (first != "time" && first != "timestamp")) return {};
  std::vector<std::string_view> out;
  for (std::size_t i = 1; i < cells.size(); ++i) {
    const std::string_view name = cells[i].substr(0, cells[i].find(':'));
    const bool is_name = name.find_first_of("0123456789") != std::string_view::npos &&
                         name.find_first_of(" {=") == std::string_view::npos;
    if (!is_name) return {};
    out.push_back(name);
  }
  return out;
}

struct RateRow {
  std::int64_t second = 0;
  std::vector<double> rates;
};
std::optional<RateRow> rate_row(const PasteAt& at, std::size_t n, std::size_t columns) {
  if (n >= at.lines.size()) return std::nullopt;
  constexpr std::size_t kClock = 8;  // "16:20:00"
  auto cells = csv_cells(at.line(n));
  auto second = at.lines[n].second;  // where it stood in front of the line
  if (!second && !cells.empty() && cells[0].size() >= kClock) {
    second = second_of_day(cells[0].substr(cells[0].size() - kClock));
    cells.erase(cells.begin());
  }
  if (!second || cells.size() != columns) return std::nullopt;
  RateRow out{*second, {}};
  for (const std::string_view cell : cells) {
    const auto rate = leading_decimal(cell);
    constexpr double kMost = 1e12;  // per second
    if (!rate || *rate < 0 || *rate > kMost) return std::nullopt;
    out.rates.push_back(*rate);
  }
  return out;
}

}  // namespace

bool begins_rates(const PasteAt& at) {
  return rate_panel(at.line(0)) && !hosts_of_columns(at.line(1)).empty();
}

/// Each row is the rate of the time before it: together they are what was counted in that time.
std::size_t read_rates(const PasteAt& at, PasteSink& out) {
  const auto panel = *rate_panel(at.line(0));
  const auto hosts = hosts_of_columns(at.line(1));
  std::vector<RateRow> rows;
  while (auto row = rate_row(at, rows.size() + 2, hosts.size()))
    rows.push_back(std::move(*row));
  const std::int64_t step = rows.size() < 2 ? 0 : rows[1].second - rows[0].second;
  if (step <= 0) return 0;
  const std::string before = out.host();
  const PasteTime time = out.hosts().time();
  out.hosts().set_time({{}, step * static_cast<std::int64_t>(rows.size())});
  const counters::Place place = *place_of_counter(panel.counter);
  for (std::size_t i = 0; i < hosts.size(); ++i) {
    double sum = 0;
    for (const RateRow& row : rows)
      sum += row.rates[i] * static_cast<double>(step);
    out.use_host(hosts[i]);
    PastedNic& nic = out.hosts().by_name(out.host(), panel.device);
    nic.begin_window(place, panel.counter);
    nic.add_window(place, panel.counter, 0, static_cast<std::uint64_t>(sum));
  }
  out.use_host(before);
  out.hosts().set_time(time);
  out.detail = panel.counter;
  return rows.size() + 2;
}

// ---- gNMI ----

namespace {

/// "interfaces/interface[name=Ethernet17/1]/state/counters/carrier-transitions: 34", as gnmic
/// prints a path of OpenConfig and its value.
struct GnmiLine {
  std::string_view port;
  std::string_view leaf;
  std::string_view value;
};
std::optional<GnmiLine> gnmi_line(std::string_view text) {
  constexpr std::string_view kKey = "interface[name=";
  const std::size_t at = text.find(kKey);
  const std::size_t close = text.find(']', at == std::string_view::npos ? 0 : at);
  const std::size_t colon = text.rfind(": ");
  if (at == std::string_view::npos || close == std::string_view::npos ||
      colon == std::string_view::npos || colon < close)
    return std::nullopt;
  GnmiLine out;
  out.port = text.substr(at + kKey.size(), close - at - kKey.size());
  const std::string_view path = text.substr(close, colon - close);
  out.leaf = path.substr(path.rfind('/') + 1);
  out.value = trim(text.substr(colon + 2));
  return out;
}

struct GnmiCounter {
  std::string_view leaf;
  counters::Place place;
  std::string_view name;  // of the kernel, which counts the same
};
constexpr auto kGnmiCounters = std::to_array<GnmiCounter>({
    {"carrier-transitions", counters::Place::kNet, "carrier_changes"},
    {"in-fcs-errors", counters::Place::kStatistics, "rx_crc_errors"},
});

/// "leaf02" of `gnmic -a leaf02:6030 …`.
std::string gnmi_target(const Mark& mark) {
  for (std::size_t i = 0; i + 1 < mark.words.size(); ++i)
    if (mark.words[i] == "-a" || mark.words[i] == "--address")
      return mark.words[i + 1].substr(0, mark.words[i + 1].find(':'));
  return {};
}

}  // namespace

bool begins_gnmi(const PasteAt& at) {
  return gnmi_line(at.line(0)).has_value();
}

std::size_t read_gnmi(const PasteAt& at, PasteSink& out) {
  const std::string before = out.host();
  if (const std::string target = gnmi_target(at.mark); !target.empty()) out.use_host(target);
  std::size_t taken = 0;
  for (; taken < at.lines.size(); ++taken) {
    const auto line = gnmi_line(at.line(taken));
    if (!line) break;
    const auto value = parse_count(line->value);
    for (const GnmiCounter& counter : kGnmiCounters) {
      if (counter.leaf != line->leaf || !value) continue;
      PastedNic& port = out.hosts().by_netdev(out.host(), line->port);
      add_count(port.dump_for(counter.place, counter.name), counter.place, counter.name, *value);
    }
  }
  out.use_host(before);
  return taken;
}

bool begins_fleet(const PasteAt& at) {
  return fleet_line(at.line(0)).has_value();
}

std::size_t read_fleet(const PasteAt& at, PasteSink& out) {
  const std::string before = out.host();
  std::size_t taken = 0;
  for (; taken < at.lines.size(); ++taken) {
    const auto item = fleet_line(at.line(taken));
    if (!item) break;
    const PasteLine& line = at.lines[taken];
    out.use_host(item->host);
    evidence::Nic& nic = out.hosts().by_name(out.host(), item->device).nic;
    if (item->trust) out.set(nic.qos.trust, *item->trust, line);
    if (item->pfc) out.set(nic.qos.pfc, *item->pfc, line);
    if (item->traffic_class)
      out.set(nic.rdma.traffic_class, std::optional(TosByte::of(*item->traffic_class)), line);
  }
  out.use_host(before);
  return taken;
}

}  // namespace weir::readers

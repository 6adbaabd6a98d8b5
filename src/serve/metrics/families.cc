#include "serve/metrics/families.h"

#include <algorithm>
#include <array>
#include <ctime>
#include <set>
#include <sstream>
#include <utility>

#include <fmt/format.h>
#include <prometheus/text_serializer.h>

#include "counters/metrics.h"

namespace weir::serve {
namespace {

using Labels = std::vector<prometheus::ClientMetric::Label>;
using prometheus::MetricType;

/// Families by name while they grow.
class Collection {
 public:
  void add(std::string_view name, MetricType type, std::string_view help, Labels labels,
           double value) {
    auto& family = families_[std::string(name)];
    if (family.name.empty()) {
      family.name = name;
      family.type = type;
      family.help = help;  // the serializer does not escape it: ours has nothing to escape
    }
    prometheus::ClientMetric metric;
    metric.label = std::move(labels);
    (type == MetricType::Counter ? metric.counter.value : metric.gauge.value) = value;
    family.metric.push_back(std::move(metric));
  }
  void gauge(std::string_view name, std::string_view help, Labels labels, double value) {
    add(name, MetricType::Gauge, help, std::move(labels), value);
  }

  [[nodiscard]] std::vector<prometheus::MetricFamily> take() {
    std::vector<prometheus::MetricFamily> out;
    for (auto& [name, family] : families_)
      out.push_back(std::move(family));
    return out;
  }

 private:
  std::map<std::string, prometheus::MetricFamily> families_;
};

Labels with(Labels labels, std::string_view name, std::string value) {
  labels.push_back({std::string(name), std::move(value)});
  return labels;
}

/// Of "2026-08-01T08:00:00Z"; none for any other text.
std::optional<double> unix_seconds(const std::string& text) {
  std::tm utc{};
  const char* const end = ::strptime(text.c_str(), "%Y-%m-%dT%H:%M:%SZ", &utc);
  if (end == nullptr || *end != '\0') return std::nullopt;
  return static_cast<double>(::timegm(&utc));
}

std::string text_of(const evidence::Fact<std::string>& fact) {
  return fact.is_known() ? *fact : std::string();
}

/// Labels of every series of a port.
Labels port_labels(const Scrape& scrape, const std::string& host, const std::string& device,
                   unsigned port, const std::string& netdev) {
  Labels labels;
  if (scrape.speaks_for_many) labels.push_back({"host", host});
  labels.push_back({"device", device});
  labels.push_back({"port", fmt::format("{}", port)});
  labels.push_back({"netdev", netdev});
  return labels;
}

Labels host_labels(const Scrape& scrape, const std::string& host) {
  return scrape.speaks_for_many ? Labels{{"host", host}} : Labels{};
}

/// The priorities whose series the lean profile keeps on a host: those of the design's classes;
/// without one, those with PFC and the default priority; all where neither is known.
PrioritySet shown_priorities(const Scrape& scrape, const evidence::Evidence& host) {
  const PrioritySet all = PrioritySet::from_mask(0xff);
  if (scrape.profile == Profile::kFull) return all;
  if (scrape.fabric != nullptr) {
    const auto* intent = ops::find_host(scrape.fabric->intent, host.provenance.host);
    if (intent == nullptr || intent->nics.empty()) return all;
    PrioritySet used;
    for (const Priority priority : intent->nics.front().dscp_to_priority)
      used.insert(priority);
    used.insert(intent->nics.front().cnp_priority);
    return used;
  }
  if (host.nics.empty()) return all;
  PrioritySet used;
  used.insert(Priority::of(0));
  for (const evidence::Nic& nic : host.nics) {
    if (!nic.qos.pfc.is_known()) return all;
    used = PrioritySet::from_mask(static_cast<std::uint8_t>(used.mask() | nic.qos.pfc->mask()));
  }
  return used;
}

/// The series of one port's counters.
class PortSeries {
 public:
  PortSeries(const Scrape& scrape, Labels labels, std::string key, PrioritySet priorities,
             Widened& widened, Collection& out)
      : scrape_(scrape),
        labels_(std::move(labels)),
        key_(std::move(key)),
        priorities_(priorities),
        widened_(widened),
        out_(out) {}

  void add(const counters::PortCounters& port) {
    std::set<std::pair<std::string_view, std::optional<unsigned>>> shown;
    for (const counters::ShownSample& sample : port.samples()) {
      if (!sample.match) continue;
      if (!sample.reading.has_value()) {
        ++unreadable_[{counters::to_text(sample.place), counters::to_text(sample.reading.why())}];
        continue;
      }
      if (!is_wanted(sample.match, sample.reading.value())) continue;
      // Two raw names may carry one counter: the first that has a value stands for it.
      if (shown.emplace(sample.match.counter->id, sample.match.number).second) add_one(sample);
    }
    for (const auto& [what, count] : unreadable_)
      out_.gauge("weir_counters_unreadable",
                 "Counters that the port shows and that could not be read, by place and reason.",
                 with(with(labels_, "collector", std::string(what.first)), "reason",
                      std::string(what.second)),
                 count);
  }

 private:
  [[nodiscard]] bool is_wanted(const counters::Match& match, std::uint64_t value) const {
    if (match.counter->kind == counters::Kind::kSetting) return false;
    if (scrape_.profile == Profile::kFull) return match.counter->per != counters::Per::kRing;
    if (counters::lean_metric(match.counter->id) == nullptr) return false;
    // A priority that nobody designed is shown once something happened on it.
    return match.counter->per != counters::Per::kPriority || !match.number || *match.number > 7 ||
           value > 0 ||
           priorities_.contains(Priority::of(static_cast<std::uint8_t>(*match.number)));
  }

  void add_one(const counters::ShownSample& sample) {
    const counters::Counter& counter = *sample.match.counter;
    const counters::RawName& raw = *sample.match.name;
    std::uint64_t value = sample.reading.value();
    const bool saturates = raw.overflow == counters::Overflow::kSaturates;
    if (saturates && raw.bits < 64 && value == (std::uint64_t{1} << raw.bits) - 1)
      out_.gauge("weir_counter_saturated",
                 "1 while a counter is stuck at its maximum: its rate says nothing.",
                 with(labels_, "counter", sample.key()), 1);
    if (!saturates && raw.bits < 64 && counter.kind == counters::Kind::kCounter)
      value = widened_.widen(key_ + sample.key(), value, raw.bits);
    Labels labels = labels_;
    if (sample.match.number && counter.per != counters::Per::kNothing)
      labels.push_back({std::string(counters::number_label(counter.per)),
                        fmt::format("{}", *sample.match.number)});
    if (const counters::Metric* lean = counters::lean_metric(counter.id);
        lean != nullptr && !lean->label.empty())
      labels.push_back({std::string(lean->label), std::string(lean->value)});
    const auto type =
        counter.kind == counters::Kind::kCounter ? MetricType::Counter : MetricType::Gauge;
    out_.add(counters::metric_name(counter), type, counter.meaning, std::move(labels),
             static_cast<double>(value) * raw.scale * counters::metric_scale(counter.unit));
  }

  const Scrape& scrape_;
  Labels labels_;
  std::string key_;
  PrioritySet priorities_;
  Widened& widened_;
  Collection& out_;
  std::map<std::pair<std::string_view, std::string_view>, double> unreadable_;
};

/// A gauge of 0 or 1 where the fact is known.
void add_flag(std::string_view name, std::string_view help, const evidence::Fact<bool>& fact,
              const Labels& labels, Collection& out) {
  if (fact.is_known()) out.gauge(name, help, labels, *fact ? 1 : 0);
}

/// A gauge of 0 or 1 for each priority that is shown or set.
void add_per_priority(std::string_view name, std::string_view help,
                      const evidence::Fact<PrioritySet>& fact, PrioritySet shown,
                      const Labels& labels, Collection& out) {
  if (!fact.is_known()) return;
  for (std::uint8_t number = 0; number < 8; ++number) {
    const Priority priority = Priority::of(number);
    if (shown.contains(priority))
      out.gauge(name, help, with(labels, "priority", fmt::format("{}", number)),
                fact->contains(priority) ? 1 : 0);
  }
}

void add_state(const evidence::Nic& nic, PrioritySet shown, const Labels& labels, Collection& out) {
  Labels info = labels;
  info.push_back({"rail", nic.rail.is_known() ? fmt::format("{}", *nic.rail) : ""});
  info.push_back({"driver", text_of(nic.driver)});
  info.push_back({"firmware", text_of(nic.firmware)});
  info.push_back({"pci_address", text_of(nic.pcie.address)});
  out.gauge("weir_port_info", "What the port is; the value is 1.", std::move(info), 1);
  add_flag("weir_port_up", "1 while the link has a carrier.", nic.link.up, labels, out);
  if (nic.link.speed.is_known())
    out.gauge("weir_port_speed_bytes_per_second", "Negotiated speed of the link.", labels,
              static_cast<double>(nic.link.speed->raw()) / 8);
  if (nic.link.mtu.is_known())
    out.gauge("weir_port_mtu_bytes", "MTU of the network device.", labels,
              static_cast<double>(nic.link.mtu->raw()));
  // PFC on a priority that nobody designed is what one looks for: all of them.
  add_per_priority("weir_port_pfc_enabled", "1 where PFC is enabled on the priority.", nic.qos.pfc,
                   PrioritySet::from_mask(0xff), labels, out);
  if (nic.qos.trust.is_known())
    out.gauge("weir_port_trust_dscp", "1 where the port classifies by DSCP.", labels,
              *nic.qos.trust == evidence::TrustMode::kDscp ? 1 : 0);
  constexpr std::string_view kEcnHelp =
      "1 where the role of DCQCN (np: sends CNPs, rp: obeys them) is enabled on the priority.";
  add_per_priority("weir_port_ecn_enabled", kEcnHelp, nic.ecn.np, shown, with(labels, "role", "np"),
                   out);
  add_per_priority("weir_port_ecn_enabled", kEcnHelp, nic.ecn.rp, shown, with(labels, "role", "rp"),
                   out);
}

unsigned port_number(const evidence::Evidence& host, const counters::PortCounters& port) {
  for (const evidence::Nic& nic : host.nics)
    if (nic.device == port.device() && (!nic.netdev.is_known() || *nic.netdev == port.netdev()))
      return nic.port;
  return 1;
}

void add_host(const Scrape& scrape, const evidence::Evidence& host, Widened& widened,
              Collection& out) {
  const std::string& name = host.provenance.host;
  const PrioritySet priorities = shown_priorities(scrape, host);
  for (const evidence::Nic& nic : host.nics)
    add_state(nic, priorities, port_labels(scrape, name, nic.device, nic.port, text_of(nic.netdev)),
              out);
  if (host.snapshots.empty()) return;
  for (const counters::PortCounters& port : host.snapshots.back().nics) {
    const unsigned number = port_number(host, port);
    PortSeries series(scrape, port_labels(scrape, name, port.device(), number, port.netdev()),
                      fmt::format("{} {} {} ", name, port.device(), number), priorities, widened,
                      out);
    series.add(port);
  }
}

void add_switches(const Scrape& scrape, const evidence::Evidence& switches, Widened& widened,
                  Collection& out) {
  if (switches.snapshots.empty()) return;
  for (const counters::PortCounters& port : switches.snapshots.back().switch_ports) {
    PortSeries series(scrape, {{"switch", port.device()}, {"port", port.netdev()}},
                      fmt::format("{} {} ", port.device(), port.netdev()),
                      PrioritySet::from_mask(0xff), widened, out);
    series.add(port);
  }
}

void add_design(const Scrape& scrape, Collection& out) {
  if (scrape.fabric == nullptr) return;
  const ops::Fabric& fabric = *scrape.fabric;
  out.gauge("weir_design_info", "The design that hosts are judged by; the value is 1.",
            {{"name", *fabric.design.name}}, 1);
  for (const design::HostIntent& host : fabric.intent.hosts) {
    const bool is_shown =
        scrape.seen != nullptr &&
        std::any_of(scrape.seen->hosts.begin(), scrape.seen->hosts.end(),
                    [&](const auto& seen) { return seen.provenance.host == host.name; });
    if (!is_shown || host.nics.empty()) continue;
    for (std::uint8_t priority = 0; priority < 8; ++priority)
      if (host.nics.front().pfc.contains(Priority::of(priority)))
        out.gauge("weir_design_lossless_priority",
                  "1 for a priority that the design makes lossless.",
                  with(host_labels(scrape, host.name), "priority", fmt::format("{}", priority)), 1);
  }
}

Labels finding_labels(const Scrape& scrape, const finding::Finding& found) {
  Labels labels = host_labels(scrape, found.where.host);
  labels.push_back({"id", found.id});
  labels.push_back({"severity", std::string(finding::to_text(found.severity))});
  labels.push_back({"device", found.where.device});
  labels.push_back({"port", found.where.port});
  labels.push_back({"rail", found.where.rail});
  labels.push_back({"priority", found.where.priority});
  if (!found.where.switch_name.empty()) labels.push_back({"switch", found.where.switch_name});
  return labels;
}

/// Why a check gave no answer, in a word: sentences are no label values.
std::string_view reason_of(const finding::Unknown& unknown) {
  if (unknown.check.starts_with("looking at ")) return "host_not_seen";
  return unknown.is_required ? "no_data" : "not_given";
}

void add_judgement(const Scrape& scrape, Collection& out) {
  if (scrape.judged == nullptr) return;
  const finding::Judgement& judgement = scrape.judged->judgement;
  for (const auto severity :
       {finding::Severity::kError, finding::Severity::kWarning, finding::Severity::kInfo})
    out.gauge("weir_findings", "Open findings by severity.",
              {{"severity", std::string(finding::to_text(severity))}}, judgement.count(severity));
  std::set<Labels> shown;
  for (const finding::Finding& found : judgement.findings) {
    const Labels labels = finding_labels(scrape, found);
    if (shown.insert(labels).second)
      out.gauge("weir_finding", "1 while the finding is open; weir explain ID says more.", labels,
                1);
  }
  std::map<std::string_view, int> unknown{{"host_not_seen", 0}, {"no_data", 0}, {"not_given", 0}};
  for (const finding::Unknown& check : judgement.unknown)
    ++unknown[reason_of(check)];
  for (const auto& [reason, count] : unknown)
    out.gauge("weir_checks_unknown", "Checks that gave no answer, by reason.",
              {{"reason", std::string(reason)}}, count);
  out.gauge("weir_last_judged_timestamp_seconds", "When findings were judged last.", {},
            scrape.judged->unix_seconds);
}

/// The last comparison with each baseline. Of single NICs only how many regressed: a fabric has
/// thousands of them, and `weir baseline compare` names them.
void add_baselines(const std::vector<store::LastComparison>& all, Collection& out) {
  for (const store::LastComparison& last : all) {
    const Labels labels = {{"baseline", last.baseline}};
    const bool is_comparable = last.outcome == "as the baseline" || last.outcome == "regressed";
    out.gauge("weir_baseline_comparable",
              "1 where the last run was of the same design, drivers, firmware and speeds.", labels,
              is_comparable ? 1 : 0);
    if (const auto seconds = unix_seconds(last.started))
      out.gauge("weir_baseline_last_run_timestamp_seconds",
                "When the last run that was compared began.", labels, *seconds);
    if (!is_comparable) continue;
    const auto regressed = std::count_if(last.rows.begin(), last.rows.end(),
                                         [](const auto& row) { return row.is_regression; });
    out.gauge("weir_baseline_regressions", "Values of the last run that regressed.", labels,
              static_cast<double>(regressed));
    for (const store::DeviationRow& row : last.rows) {
      if (!row.subject.empty()) continue;
      Labels of_value = with(labels, "stage", std::string(preflight::row_of(row.stage).name));
      of_value = with(std::move(of_value), "metric", row.metric);
      of_value = with(std::move(of_value), "quantile", row.quantile);
      out.gauge("weir_baseline_deviation_ratio",
                "How much worse than the baseline: 0.1 is 10 %; below 0 it is better.", of_value,
                row.worse);
      out.gauge("weir_baseline_limit_ratio", "How much worse it may be.", std::move(of_value),
                row.limit);
    }
  }
}

void add_fleet(const FleetScrape& fleet, Collection& out) {
  for (const ops::WatchedHost& host : fleet.hosts) {
    const Labels labels = {{"host", host.host}};
    if (host.is_seen)
      out.gauge("weir_fleet_host_seen", "1 where the last look at the host succeeded.", labels,
                *host.is_seen ? 1 : 0);
    if (host.last_seen)
      out.gauge("weir_fleet_host_last_seen_timestamp_seconds",
                "When a look at the host succeeded last.", labels, *host.last_seen);
  }
  out.add("weir_fleet_rounds_total", MetricType::Counter, "Rounds of looks at all hosts.", {},
          static_cast<double>(fleet.rounds));
  if (fleet.rounds > 0)
    out.gauge("weir_fleet_round_duration_seconds", "How long the last round took.", {},
              fleet.last_seconds);
}

void add_self(const Scrape& scrape, Collection& out) {
  out.gauge("weir_build_info", "The version of weir; the value is 1.",
            {{"version", scrape.version}}, 1);
  for (const Collector& collector : scrape.collectors) {
    out.gauge("weir_scrape_collector_success", "1 where the collector could look at everything.",
              {{"collector", collector.name}}, collector.has_succeeded ? 1 : 0);
    out.gauge("weir_scrape_collector_duration_seconds", "Wall-clock time of the collector.",
              {{"collector", collector.name}}, collector.seconds);
  }
}

}  // namespace

std::uint64_t Widened::widen(const std::string& key, std::uint64_t raw, unsigned bits) {
  const auto [at, is_new] = states_.try_emplace(key, State{raw, 0});
  if (is_new) return raw;
  State& state = at->second;
  const std::uint64_t range = std::uint64_t{1} << bits;
  if (raw < state.last) {
    // Went round once where that is an advance of less than half the range, else it was reset: the
    // rule of counters/delta.h.
    const bool has_wrapped = raw + range - state.last < range / 2;
    state.carried = has_wrapped ? state.carried + range : 0;
  }
  state.last = raw;
  return state.carried + raw;
}

std::vector<prometheus::MetricFamily> families(const Scrape& scrape, Widened& widened) {
  Collection out;
  add_self(scrape, out);
  if (scrape.fleet) add_fleet(*scrape.fleet, out);
  add_design(scrape, out);
  add_judgement(scrape, out);
  if (scrape.baselines != nullptr) add_baselines(*scrape.baselines, out);
  if (scrape.seen != nullptr) {
    for (const evidence::Evidence& host : scrape.seen->hosts)
      add_host(scrape, host, widened, out);
    if (scrape.seen->switches) add_switches(scrape, *scrape.seen->switches, widened, out);
  }
  return out.take();
}

std::string to_text(const std::vector<prometheus::MetricFamily>& families) {
  return prometheus::TextSerializer().Serialize(families);
}

}  // namespace weir::serve

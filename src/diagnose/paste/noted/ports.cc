// Two ends of a link whose FEC differs, links that went down and are down, members of a bond.
#include <algorithm>
#include <map>
#include <set>

#include <fmt/format.h>

#include "diagnose/paste/noted/noted.h"
#include "diagnose/paste/pasted_parts.h"
#include "finding/catalog.h"
#include "readers/paste/text_lines.h"

namespace weir::diagnose {
namespace {

using finding::Confidence;
using finding::Finding;
using finding::Severity;
using readers::PasteFec;

finding::Where port_where(const std::string& switch_name, const std::string& port) {
  finding::Where where;
  where.switch_name = switch_name;
  where.port = port;
  return where;
}

std::string name_or_switch(const std::string& name) {
  return name.empty() ? std::string("The switch") : name;
}

/// A host's interface that is without a link and forces its FEC.
const readers::PasteForcedFec* forced_without_link(const PastedCase& input) {
  const readers::PasteForcedFec* found = nullptr;
  for (const readers::PasteForcedFec& item : input.paste.noted.forced_fec) {
    for (const evidence::Evidence& host : input.evidence)
      for (const evidence::Nic& nic : host.nics) {
        const bool is_it = host.provenance.host == item.host &&
                           (nic.device == item.netdev || nic.netdev.is(item.netdev));
        if (!is_it || !nic.link.up.is(false)) continue;
        if (found != nullptr && found->netdev != item.netdev) return nullptr;
        found = &item;
      }
  }
  return found;
}

/// A port of a switch without FEC and without a link, and a host that forces FEC and has no link
/// either. Without a host a port may be one that nobody uses.
void judge_fec_of_ports(const PastedCase& input, finding::Judgement& out) {
  const readers::PasteForcedFec* const forced = forced_without_link(input);
  if (forced == nullptr) return;
  std::set<std::pair<std::string, std::string>> down;
  for (const PasteFec& item : input.paste.noted.fec)
    if (item.is_down.value_or(false)) down.emplace(item.switch_name, item.port);
  std::map<std::pair<std::string, std::string>, const PasteFec*> dark;
  const PasteFec* sister = nullptr;
  for (const PasteFec& item : input.paste.noted.fec) {
    if (item.is_off && down.contains({item.switch_name, item.port}))
      dark[{item.switch_name, item.port}] = &item;
    if (!item.is_off && !item.is_down.value_or(true)) sister = &item;
  }
  if (dark.size() != 1) return;
  const PasteFec& port = *dark.begin()->second;
  Finding finding = finding::make_finding(
      "fec.wrong",
      fmt::format("FEC differs: {} {} is set to none and has no link, {} forces {}.",
                  name_or_switch(port.switch_name), port.port,
                  place_of(forced->host, forced->netdev), forced->fec),
      port_where(port.switch_name, port.port));
  finding.confidence = Confidence::kHigh;
  finding.evidence = {line_of(port.at), line_of(forced->at)};
  if (sister != nullptr) finding.evidence.push_back(line_of(sister->at));
  quieten(out, "link.degraded", forced->host);
  out.findings.push_back(std::move(finding));
}

/// The log says that a link failed, and a list says that it is still down: it is meant to be up.
void judge_failed_links(const PastedCase& input, finding::Judgement& out) {
  std::map<std::pair<std::string, std::string>, const readers::PasteEvent*> failed;
  for (const readers::PasteEvent& event : input.paste.events) {
    const std::size_t digit = event.device.find_first_of("0123456789");
    const bool is_port = digit != std::string::npos && event.device.starts_with("Eth") &&
                         event.device.find('/') != std::string::npos;
    const std::string port = is_port ? "Ethernet" + event.device.substr(digit) : event.device;
    if (event.kind == readers::EventKind::kLinkDown) failed[{event.host, port}] = &event;
    if (event.kind == readers::EventKind::kLinkUp) failed.erase({event.host, port});
  }
  for (const auto& [place, event] : failed) {
    const readers::PastePortState* last = nullptr;
    for (const readers::PastePortState& state : input.paste.noted.port_states) {
      const bool is_there = state.switch_name.empty() || state.switch_name == place.first ||
                            place.first == readers::kThisHost;
      if (is_there && state.port == place.second) last = &state;
    }
    if (last == nullptr || last->is_up) continue;
    const std::string name = last->switch_name.empty() ? place.first : last->switch_name;
    Finding finding = finding::make_finding(
        "link.degraded",
        fmt::format("{} {} is down: its link failed and has not come back.", name, place.second),
        port_where(name, place.second));
    finding.confidence = Confidence::kHigh;
    finding.evidence = {line_of(event->at), line_of(last->at)};
    for (Finding& other : out.findings)
      if (other.id == "link.flapping" && other.where.port == place.second)
        other.severity = Severity::kInfo;
    out.findings.push_back(std::move(finding));
  }
}

/// One link to a spine is down, and at least two beside it are up: what goes up has less room. No
/// log is needed, since nobody describes an unused port so.
void judge_missing_uplink(const PastedCase& input, finding::Judgement& out) {
  std::map<std::string, std::map<std::string, const readers::PastePortState*>> switches;
  for (const readers::PastePortState& item : input.paste.noted.port_states)
    if (item.leads_up) switches[item.switch_name][item.port] = &item;
  for (const auto& [name, ports] : switches) {
    const readers::PastePortState* down = nullptr;
    std::size_t up = 0;
    for (const auto& [port, item] : ports) {
      up += item->is_up ? 1 : 0;
      if (!item->is_up) down = item;
    }
    const bool is_told = std::any_of(
        out.findings.begin(), out.findings.end(), [&, place = &name](const Finding& finding) {
          return finding.id == "link.degraded" && finding.where.switch_name == *place;
        });
    if (down == nullptr || is_told || up + 1 != ports.size() ||
        up < input.thresholds.sisters_meant_alike)
      continue;
    Finding finding = finding::make_finding(
        "link.degraded",
        fmt::format("{} {} is described as an uplink and is down; {} uplinks beside it are up.",
                    name_or_switch(name), down->port, up),
        port_where(name, down->port));
    finding.severity = Severity::kWarning;
    finding.confidence = Confidence::kHigh;
    finding.evidence.push_back(line_of(down->at));
    out.findings.push_back(std::move(finding));
  }
}

/// One queue pair reaches the speed of one member, and several reach more: what a job with one per
/// connection gets.
void judge_pairs_of_bond(const PastedCase& input, finding::Judgement& out) {
  const auto& job = input.paste.job;
  const auto* const pairs = job.find("NCCL_IB_QPS_PER_CONNECTION");
  if (pairs == nullptr || readers::parse_count(pairs->value).value_or(2) != 1) return;
  const auto& rates = input.paste.noted.qp_rates;
  for (const readers::PasteQpRate& single : rates) {
    if (single.qps != 1 || single.device.find("bond") == std::string::npos) continue;
    const auto many = std::find_if(rates.begin(), rates.end(), [&](const auto& other) {
      return other.qps > 1 && other.device == single.device && other.host == single.host &&
             other.rate > input.thresholds.more_by_queue_pairs * single.rate;
    });
    if (many == rates.end()) continue;
    Finding finding = finding::make_finding(
        "lag.too_few_qps",
        fmt::format("{}: one queue pair reaches {:g}, {} reach {:g}, and the job opens one per "
                    "connection (NCCL_IB_QPS_PER_CONNECTION=1): it uses one member of the bond.",
                    place_of(single.host, single.device), single.rate, many->qps, many->rate),
        where_of(single.host, single.device));
    finding.severity = Severity::kError;  // measured
    finding.confidence = Confidence::kHigh;
    finding.evidence = {line_of(single.at), line_of(many->at), line_of(pairs->at)};
    out.findings.push_back(std::move(finding));
    return;
  }
}

/// A small limit, and a transfer that could get no memory or queue.
void judge_limits(const PastedCase& input, finding::Judgement& out) {
  const auto is_refused = [](const readers::Cited& line) {
    for (const std::string_view sign :
         {"allocate MR", "create MR", "create mr", "create CQ", "reate_cq failed", "eg_mr failed"})
      if (line.text.find(sign) != std::string::npos) return true;
    return false;
  };
  const auto& lines = input.paste.rest;
  const auto refused = std::find_if(lines.begin(), lines.end(), is_refused);
  if (refused == lines.end()) return;
  for (const readers::PasteLimit& limit : input.paste.noted.limits) {
    if (limit.kilobytes * 1024 >= input.thresholds.least_memlock) continue;
    Finding finding = finding::make_finding(
        "limits.memlock_low",
        fmt::format("Locked memory is limited to {} kB where the test ran, and it could not create "
                    "what it needs.",
                    limit.kilobytes));
    finding.confidence = Confidence::kHigh;
    finding.evidence = {line_of(limit.at), line_of(*refused)};
    out.findings.push_back(std::move(finding));
    return;
  }
}

}  // namespace

void judge_noted_ports(const PastedCase& input, finding::Judgement& out) {
  judge_fec_of_ports(input, out);
  judge_failed_links(input, out);
  judge_missing_uplink(input, out);
  judge_pairs_of_bond(input, out);
  judge_limits(input, out);
}

}  // namespace weir::diagnose

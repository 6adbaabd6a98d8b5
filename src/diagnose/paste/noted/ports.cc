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

/// All that the text says of the FEC of one port of a switch.
struct FecOfPort {
  const PasteFec* line = nullptr;  // the last one
  bool is_down = false;
  bool is_up = false;
  bool needs_it = false;
};
using FecOfPorts = std::map<std::pair<std::string, std::string>, FecOfPort>;

FecOfPorts fec_of_ports(const PastedCase& input) {
  FecOfPorts out;
  for (const PasteFec& item : input.paste.noted.fec) {
    FecOfPort& port = out[{item.switch_name, item.port}];
    port.line = &item;
    port.is_down = port.is_down || item.is_down.value_or(false);
    port.is_up = port.is_up || !item.is_down.value_or(true);
    port.needs_it = port.needs_it || item.needs_it;
  }
  for (const readers::PastePortState& item : input.paste.noted.port_states)
    if (const auto found = out.find({item.switch_name, item.port}); found != out.end())
      (item.is_up ? found->second.is_up : found->second.is_down) = true;
  return out;
}

std::string fec_text(const PasteFec& item) {
  return item.is_off ? "none" : item.kind;
}

/// The one port of a switch whose FEC is shown and that has no link; nullptr where there are more.
using PortOfSwitch = FecOfPorts::value_type;
const PortOfSwitch* only_dark(const FecOfPorts& all, const std::string& name) {
  const PortOfSwitch* out = nullptr;
  for (const PortOfSwitch& item : all) {
    if (item.first.first != name || !item.second.is_down || item.second.is_up) continue;
    if (out != nullptr) return nullptr;
    out = &item;
  }
  return out;
}

/// Two switches, one port of each without a link, and different FEC on them: one link's two ends.
bool judge_fec_of_two_ends(const FecOfPorts& all, finding::Judgement& out) {
  std::set<std::string> names;
  for (const auto& [place, port] : all)
    names.insert(place.first);
  if (names.size() != 2) return false;
  const PortOfSwitch* const near = only_dark(all, *names.begin());
  const PortOfSwitch* const far = only_dark(all, *names.rbegin());
  if (near == nullptr || far == nullptr) return false;
  const PasteFec& here = *near->second.line;
  const PasteFec& there = *far->second.line;
  if (fec_text(here) == fec_text(there)) return false;
  const bool is_there = there.is_off && !here.is_off;  // the end without is what to change
  const auto& place = is_there ? far->first : near->first;
  Finding finding = finding::make_finding(
      "fec.wrong",
      fmt::format("FEC differs: {} {} is set to {}, {} {} to {}, and neither has a link.",
                  name_or_switch(near->first.first), near->first.second, fec_text(here),
                  name_or_switch(far->first.first), far->first.second, fec_text(there)),
      port_where(place.first, place.second));
  finding.confidence = Confidence::kHigh;
  finding.evidence = {line_of(here.at), line_of(there.at)};
  out.findings.push_back(std::move(finding));
  return true;
}

/// A port with a module, shut down by nobody, with lanes that do not work without FEC (IEEE
/// 802.3bs, 802.3ck), without FEC and without a link, beside one with RS and a link.
void judge_fec_that_is_needed(const FecOfPorts& all, finding::Judgement& out) {
  const PortOfSwitch* dark = nullptr;
  for (const PortOfSwitch& item : all) {
    const FecOfPort& port = item.second;
    if (!port.line->is_off || !port.needs_it || !port.is_down || port.is_up) continue;
    if (dark != nullptr) return;  // as a template has it
    dark = &item;
  }
  if (dark == nullptr) return;
  const auto sister = std::find_if(all.begin(), all.end(), [&](const PortOfSwitch& item) {
    return item.first.first == dark->first.first && item.second.is_up &&
           item.second.line->kind == "RS";
  });
  if (sister == all.end()) return;
  Finding finding = finding::make_finding(
      "fec.wrong",
      fmt::format("{} {} has no FEC and no link, at a speed that does not work without; {} beside "
                  "it has RS and a link.",
                  name_or_switch(dark->first.first), dark->first.second, sister->first.second),
      port_where(dark->first.first, dark->first.second));
  finding.severity = Severity::kWarning;  // the other end may be off
  finding.confidence = Confidence::kHigh;
  finding.evidence = {line_of(dark->second.line->at), line_of(sister->second.line->at)};
  out.findings.push_back(std::move(finding));
}

void judge_fec_of_switches(const PastedCase& input, finding::Judgement& out) {
  const bool is_told = std::any_of(out.findings.begin(), out.findings.end(),
                                   [](const Finding& item) { return item.id == "fec.wrong"; });
  const FecOfPorts all = fec_of_ports(input);
  if (!is_told && !judge_fec_of_two_ends(all, out)) judge_fec_that_is_needed(all, out);
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
  judge_fec_of_switches(input, out);
  judge_failed_links(input, out);
  judge_missing_uplink(input, out);
  judge_pairs_of_bond(input, out);
  judge_limits(input, out);
}

}  // namespace weir::diagnose

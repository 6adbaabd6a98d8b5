#include "diagnose/paste/rows.h"

#include <algorithm>
#include <array>
#include <bit>
#include <map>
#include <set>

#include <fmt/format.h>

#include "base/count_text.h"
#include "base/text.h"
#include "diagnose/paste/pasted_parts.h"
#include "finding/catalog.h"
#include "readers/paste/text_lines.h"

namespace weir::diagnose {
namespace {

using finding::Confidence;
using finding::Finding;
using finding::Severity;

finding::Where where_of_switch(const std::string& name) {
  finding::Where where;
  where.switch_name = name;
  return where;
}

std::string name_of_switch(const std::string& name) {
  return name.empty() ? std::string("The switch") : name;
}

// ---- one address, two hosts ----

/// "10.30.2.41" of "10.30.2.41/24"; empty for one that many hosts have on purpose: link-local, of a
/// loopback, or a /32, which moves between hosts or is announced by several.
std::string own_address(std::string_view address) {
  const std::string_view plain = address.substr(0, address.find('/'));
  const bool is_shared = plain.starts_with("169.254.") || plain.starts_with("127.") ||
                         address.ends_with("/32") || plain.find(':') != std::string_view::npos;
  return is_shared ? std::string() : std::string(plain);
}

/// Interfaces that have the same address on every host: of bridges, containers and cards with a
/// system of their own.
bool is_private_interface(std::string_view name) {
  for (const std::string_view stem :
       {"lo",    "docker", "br",    "veth",    "cni",    "cali",   "flannel", "virbr",
        "vxlan", "tun",    "dummy", "kube",    "podman", "tmfifo", "usb",     "enx",
        "oob",   "idrac",  "bmc",   "nerdctl", "lxc",    "vmnet"})
    if (name.starts_with(stem)) return true;
  return false;
}

/// "gpu14" of "gpu14.dc2.example": the same host may be named in both ways.
std::string_view short_name(std::string_view host) {
  return host.substr(0, host.find('.'));
}

using Stations = std::map<std::string, std::vector<const readers::PasteBinding*>>;

Stations stations_of(const PastedCase& input) {
  Stations out;
  for (const readers::PasteBinding& station : input.paste.noted.bindings)
    out[station.address].push_back(&station);
  return out;
}

void add_lines_of_stations(const std::vector<const readers::PasteBinding*>& seen,
                           Finding& finding) {
  std::set<std::string_view> shown;
  for (const readers::PasteBinding* item : seen)
    if (shown.size() < 2 && shown.insert(item->mac).second)
      finding.evidence.push_back(line_of(item->at));
}

/// "gpu14" and "gpu41": hosts of one kind. Others may be a machine and a container on it, which
/// shares its addresses.
bool are_alike(std::string_view first, std::string_view second) {
  const auto plain = [](std::string_view name) {
    std::string out;
    for (const char c : short_name(name))
      if (c < '0' || c > '9') out += c;
    return out;
  };
  return plain(first) == plain(second);
}

/// Two hosts have configured the same address. Where several cards of one host answer for it, that
/// is another fault (rail.same_subnet): then no two hosts show it.
void judge_shared_addresses(const PastedCase& input, finding::Judgement& out) {
  std::map<std::string, const readers::PasteAddress*> owners;
  const Stations stations = stations_of(input);
  std::set<std::string> said;
  for (const readers::PasteAddress& item : input.paste.addresses) {
    const std::string address = own_address(item.address);
    if (address.empty() || item.host.empty() || item.host == readers::kThisHost || item.is_inside ||
        is_private_interface(item.netdev))
      continue;
    const auto [known, is_new] = owners.emplace(address, &item);
    const readers::PasteAddress& first = *known->second;
    if (is_new || short_name(first.host) == short_name(item.host) || first.netdev != item.netdev ||
        !said.insert(address).second)
      continue;
    Finding finding = finding::make_finding(
        "address.duplicate",
        fmt::format("{} is configured at {} and at {}.", address,
                    place_of(first.host, first.netdev), place_of(item.host, item.netdev)),
        where_of(item.host, item.netdev));
    const bool is_sure = are_alike(first.host, item.host);
    finding.confidence = is_sure ? Confidence::kHigh : Confidence::kLow;
    if (!is_sure) finding.severity = Severity::kInfo;
    finding.evidence = {line_of(first.at), line_of(item.at)};
    if (const auto seen = stations.find(address); seen != stations.end())
      add_lines_of_stations(seen->second, finding);
    out.findings.push_back(std::move(finding));
  }
}

// ---- lanes ----

/// One port of a host has lost lanes: all the others, of the same generation, have more. Rails are
/// eight or sixteen; one more than that may be for something else.
void judge_lanes(const PastedCase& input, finding::Judgement& out) {
  std::map<std::pair<std::string, std::string>, std::map<std::string, const readers::PasteLanes*>>
      all;  // by host and generation, then by device: the last reading
  for (const readers::PasteLanes& item : input.paste.rows.lanes)
    all[{item.host, item.generation}][item.device] = &item;
  for (const auto& [key, ports] : all) {
    const readers::PasteLanes* narrow = nullptr;
    std::set<unsigned> others;
    for (const auto& [device, port] : ports)
      if (narrow == nullptr || port->lanes < narrow->lanes) narrow = port;
    for (const auto& [device, port] : ports)
      if (port != narrow) others.insert(port->lanes);
    if (ports.size() < input.thresholds.ports_with_lanes || !std::has_single_bit(ports.size()) ||
        others.size() != 1 || *others.begin() <= narrow->lanes)
      continue;
    const std::string verdict = fmt::format("{} runs on {} lane{} of {}, its {} sisters on {}.",
                                            place_of(narrow->host, narrow->device), narrow->lanes,
                                            narrow->lanes == 1 ? "" : "s", narrow->generation,
                                            ports.size() - 1, *others.begin());
    const auto known =
        std::find_if(out.findings.begin(), out.findings.end(), [&](const Finding& finding) {
          return finding.id == "link.degraded" && finding.where.host == narrow->host &&
                 finding.where.device == narrow->device;
        });
    Finding finding = known != out.findings.end()
                          ? *known
                          : finding::make_finding("link.degraded", verdict,
                                                  where_of(narrow->host, narrow->device));
    finding.verdict = verdict;
    finding.severity = std::max(known != out.findings.end() ? finding.severity : Severity::kInfo,
                                Severity::kWarning);
    finding.confidence = Confidence::kHigh;
    finding.evidence.push_back(line_of(narrow->at));
    if (known != out.findings.end()) out.findings.erase(known);
    out.findings.push_back(std::move(finding));
  }
}

// ---- channels ----

/// One member carries nearly all that a channel sends, and the hash takes addresses alone: all
/// connections between two addresses are one flow to it.
void judge_members(const PastedCase& input, finding::Judgement& out) {
  const readers::PasteRows& rows = input.paste.rows;
  std::map<std::pair<std::string, std::string>, std::vector<const readers::PasteMember*>> channels;
  for (const readers::PasteMember& member : rows.members)
    channels[{member.switch_name, member.channel}].push_back(&member);
  for (const auto& [key, members] : channels) {
    const auto most =
        std::max_element(members.begin(), members.end(),
                         [](const auto* a, const auto* b) { return a->sent < b->sent; });
    const double share = (*most)->sent / 100;
    if (members.size() < 2 || share < input.thresholds.full_path) continue;
    const std::string& name = key.first;
    const auto hash = std::find_if(rows.hashes.begin(), rows.hashes.end(),
                                   [&](const auto& item) { return item.name == name; });
    const bool is_by_address = hash != rows.hashes.end() && !hash->has_ports;
    finding::Where where = where_of_switch(name);
    where.port = (*most)->port;
    Finding finding = finding::make_finding(
        "ecmp.imbalance",
        fmt::format("{} sends {:.0f} % of what leaves by port-channel {} over {}, one of {} "
                    "members{}.",
                    name_of_switch(name), (*most)->sent, key.second, (*most)->port, members.size(),
                    is_by_address ? ": its hash takes addresses alone, not the UDP ports in which "
                                    "connections of RDMA differ"
                                  : "; what its hash takes is not shown"),
        std::move(where));
    finding.confidence = is_by_address ? Confidence::kHigh : Confidence::kMedium;
    finding.severity = is_by_address ? Severity::kError : Severity::kInfo;
    if (hash != rows.hashes.end()) finding.evidence.push_back(line_of(hash->at));
    finding.evidence.push_back(line_of((*most)->at));
    out.findings.push_back(std::move(finding));
  }
}

// ---- marking ----

void add_swapped(const std::string& switch_name, const std::string& profile, std::string min,
                 std::string max, finding::EvidenceLine line, finding::Judgement& out) {
  const bool is_said =
      std::any_of(out.findings.begin(), out.findings.end(), [&](const Finding& known) {
        return known.id == "ecn.thresholds_too_high" && known.where.switch_name == switch_name;
      });
  if (is_said) return;
  Finding finding = finding::make_finding(
      "ecn.thresholds_too_high",
      fmt::format("{}{}: ECN starts to mark at {} and marks all from {} on: the two thresholds are "
                  "exchanged.",
                  name_of_switch(switch_name), profile.empty() ? "" : " " + profile, min, max),
      where_of_switch(switch_name));
  finding.severity = Severity::kError;
  finding.confidence = Confidence::kHigh;
  finding.evidence.push_back(std::move(line));
  out.findings.push_back(std::move(finding));
}

/// A minimum above the maximum: no switch marks so as it was meant.
void judge_curves(const PastedCase& input, finding::Judgement& out) {
  for (const readers::PasteCurve& curve : input.paste.rows.curves)
    if (curve.max > 0 && curve.min > curve.max)
      add_swapped(curve.switch_name, curve.profile, fmt::format("{:.0f}", curve.min),
                  fmt::format("{:.0f}", curve.max), line_of(curve.at), out);
  for (const evidence::Evidence& evidence : input.evidence)
    for (const evidence::Switch& device : evidence.switches)
      for (const evidence::SwitchPort& port : device.ports)
        for (const evidence::EgressQueue& queue : port.queues.get()) {
          if (!queue.ecn_min.is_known() || !queue.ecn_max.is_known() || queue.ecn_max->raw() <= 0 ||
              *queue.ecn_min <= *queue.ecn_max)
            continue;
          finding::EvidenceLine line;
          line.source = queue.ecn_min.source();
          line.line = fmt::format("{} {}: ECN minimum {}, maximum {}", device.name, port.name,
                                  queue.ecn_min->raw(), queue.ecn_max->raw());
          add_swapped(device.name, "", fmt::format("{}", queue.ecn_min->raw()),
                      fmt::format("{}", queue.ecn_max->raw()), std::move(line), out);
        }
}

bool is_said_of(const finding::Judgement& out, std::string_view id, const std::string& name) {
  return std::any_of(out.findings.begin(), out.findings.end(), [&](const Finding& known) {
    return known.id == id && known.where.switch_name == name;
  });
}

/// Junos: a lossless class whose scheduler has a drop profile and no ECN, or whose queue shows what
/// comes of it.
void judge_schedulers(const PastedCase& input, finding::Judgement& out) {
  const readers::PasteRows& rows = input.paste.rows;
  const auto queue_of = [&](const std::string& name) {
    return std::find_if(rows.red_queues.begin(), rows.red_queues.end(), [&](const auto& queue) {
      return queue.switch_name == name && queue.dropped > 0 && queue.marked == 0 &&
             readers::is_lossless_class(queue.forwarding_class);
    });
  };
  for (const readers::PasteScheduler& item : rows.schedulers) {
    const bool drops = item.has_curve && item.has_more && !item.marks;
    if (!drops || !readers::is_lossless_class(item.name) ||
        is_said_of(out, "ecn.off_on_lossless", item.switch_name))
      continue;
    Finding finding = finding::make_finding(
        "ecn.off_on_lossless",
        fmt::format("{}: scheduler {} has a drop profile and no explicit-congestion-notification: "
                    "it drops packets of a lossless class where it should mark them.",
                    name_of_switch(item.switch_name), item.name),
        where_of_switch(item.switch_name));
    finding.severity = Severity::kError;
    finding.confidence = Confidence::kHigh;
    finding.evidence.push_back(line_of(item.at));
    if (const auto queue = queue_of(item.switch_name); queue != rows.red_queues.end())
      finding.evidence.push_back(line_of(queue->at));
    out.findings.push_back(std::move(finding));
  }
  for (const readers::PasteRedQueue& queue : rows.red_queues) {
    if (queue.dropped == 0 || queue.marked > 0 ||
        !readers::is_lossless_class(queue.forwarding_class) ||
        is_said_of(out, "ecn.off_on_lossless", queue.switch_name))
      continue;
    finding::Where where = where_of_switch(queue.switch_name);
    where.port = queue.port;
    Finding finding = finding::make_finding(
        "ecn.off_on_lossless",
        fmt::format("{} {}: WRED dropped {} packets of the lossless class {} and marked none.",
                    name_of_switch(queue.switch_name), queue.port, count_text(queue.dropped),
                    queue.forwarding_class),
        std::move(where));
    finding.confidence = queue.dropped_now > 0 ? Confidence::kHigh : Confidence::kMedium;
    finding.severity = queue.dropped_now > 0 ? Severity::kError : Severity::kWarning;
    finding.evidence.push_back(line_of(queue.at));
    out.findings.push_back(std::move(finding));
  }
}

/// One switch marks on no port that is shown what another of its tier marks on
/// all of its own.
void judge_ecn_of_sisters(const PastedCase& input, finding::Judgement& out) {
  if (input.intent != nullptr) return;  // the design says it
  const unsigned rdma = convention_of(input).priority.value();
  struct Shown {
    std::size_t on = 0;
    std::size_t off = 0;
    std::string source;
  };
  std::map<std::string, Shown> all;
  for (const evidence::Evidence& evidence : input.evidence)
    for (const evidence::Switch& device : evidence.switches)
      for (const evidence::SwitchPort& port : device.ports)
        for (const evidence::EgressQueue& queue : port.queues.get()) {
          if (queue.queue.value() != rdma || !queue.ecn.is_known()) continue;
          Shown& shown = all[device.name];
          ++(*queue.ecn ? shown.on : shown.off);
          shown.source = queue.ecn.source();
        }
  const auto marking = std::find_if(all.begin(), all.end(), [](const auto& item) {
    return item.second.on > 0 && item.second.off == 0;
  });
  if (marking == all.end()) return;
  for (const auto& [name, shown] : all) {
    if (shown.on > 0 || tier_in(name) != tier_in(marking->first) ||
        is_said_of(out, "ecn.off_on_lossless", name))
      continue;
    Finding finding = finding::make_finding(
        "ecn.off_on_lossless",
        fmt::format("{} does not mark in queue {} on the ports that are shown; {} does.", name,
                    rdma, marking->first),
        where_of_switch(name));
    finding.severity = Severity::kWarning;  // its ports may have another task
    finding.confidence = Confidence::kMedium;
    finding.evidence = {
        {.source = shown.source, .line = fmt::format("{}: ECN off", name)},
        {.source = marking->second.source, .line = fmt::format("{}: ECN on", marking->first)}};
    out.findings.push_back(std::move(finding));
  }
}

// ---- seeds ----

/// Switches of two tiers choose by the same hash, and one of them uses few of its paths.
void judge_seeds(const PastedCase& input, finding::Judgement& out) {
  const auto& seeds = input.paste.rows.seeds;
  for (const readers::PasteSeed& seed : seeds) {
    const auto uneven = std::find_if(out.findings.begin(), out.findings.end(), [&](const auto& f) {
      return f.where.switch_name == seed.switch_name && f.severity > Severity::kInfo &&
             (f.id == "ecmp.imbalance" || f.id == "ecmp.polarised");
    });
    if (seed.switch_name.empty() || uneven == out.findings.end()) continue;
    const auto other = std::find_if(seeds.begin(), seeds.end(), [&](const auto& item) {
      return item.seed == seed.seed && !tier_in(item.switch_name).empty() &&
             !tier_in(seed.switch_name).empty() &&
             tier_in(item.switch_name) != tier_in(seed.switch_name);
    });
    if (other == seeds.end()) continue;
    Finding finding = finding::make_finding(
        "ecmp.same_seed",
        fmt::format("{} and {} have the same hash seed ({}), and {} uses few of its paths: what "
                    "reaches it was chosen by the same hash.",
                    seed.switch_name, other->switch_name, seed.seed, seed.switch_name),
        where_of_switch(seed.switch_name));
    finding.severity = Severity::kError;
    finding.confidence = Confidence::kHigh;
    finding.evidence = {line_of(seed.at), line_of(other->at)};
    for (std::size_t i = 0; i < uneven->evidence.size() && i < 2; ++i)
      finding.evidence.push_back(uneven->evidence[i]);
    uneven->severity = Severity::kInfo;
    out.findings.push_back(std::move(finding));
    return;
  }
}

// ---- CNPs ----

/// Where a switch puts a code point.
unsigned group_of(const readers::PasteSorting& sorting, Dscp dscp) {
  const auto& group = sorting.groups.at(dscp.value());
  return group ? *group : sorting.others;
}

/// Classifications of NX-OS, and the maps of SONiC that say where unmarked packets go.
std::vector<readers::PasteSorting> sortings_of(const PastedCase& input) {
  std::vector<readers::PasteSorting> out = input.paste.rows.sortings;
  std::map<std::string, readers::PasteSorting> maps;
  for (const readers::PasteCodePoint& entry : input.paste.code_points) {
    readers::PasteSorting& map = maps[entry.switch_name];
    map.switch_name = entry.switch_name;
    map.policy = "DSCP_TO_TC_MAP";
    map.groups.at(entry.dscp.value()) = entry.traffic_class.value();
    map.at = entry.at;
  }
  for (auto& [name, map] : maps) {
    const auto& unmarked = map.groups.front();
    if (!unmarked) continue;
    map.others = *unmarked;
    out.push_back(std::move(map));
  }
  return out;
}

/// "CNP_DSCP_P1 48", "cnp_dscp: 48", "CNPs with DSCP 48": what CNPs are marked with, as the text
/// says it.
std::optional<Dscp> cnp_dscp_of(const PastedCase& input, std::optional<finding::EvidenceLine>& at) {
  for (const evidence::Evidence& host : input.evidence)
    for (const evidence::Nic& nic : host.nics)
      if (nic.ecn.cnp_dscp.is_known() && nic.ecn.cnp_dscp->value() > 0) {
        at = finding::EvidenceLine{.source = nic.ecn.cnp_dscp.source(),
                                   .line = fmt::format("CNP DSCP: {}", nic.ecn.cnp_dscp->value())};
        return *nic.ecn.cnp_dscp;
      }
  for (const readers::Cited& line : input.paste.words) {
    std::string lower = line.text;
    std::transform(lower.begin(), lower.end(), lower.begin(), [](char c) {
      return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
    });
    std::size_t key = lower.find("cnp_dscp");
    if (key == std::string::npos) key = lower.find("cnp dscp");
    if (key == std::string::npos) continue;
    const std::size_t digit =
        lower.find_first_of("0123456789", lower.find_first_of(" =:\t", key + 7));
    constexpr std::size_t kNear = 16;
    if (digit == std::string::npos || digit > key + kNear) continue;
    const auto value = parse_u64(std::string_view(lower).substr(
        digit, lower.find_first_not_of("0123456789", digit) - digit));
    if (!value || *value == 0 || *value >= Dscp::kLimit) continue;
    at = line_of(line);
    return Dscp::of(static_cast<unsigned>(*value));
  }
  return std::nullopt;
}

struct CnpCounts {
  std::uint64_t sent = 0;
  std::uint64_t heard = 0;
  std::vector<finding::EvidenceLine> lines;
};

/// What receivers sent and senders heard, where the text shows windows of both ends.
CnpCounts cnp_counts(const View& view) {
  CnpCounts out;
  for (const NicView& nic : view.nics()) {
    if (view.is_read_once(nic.where())) continue;
    const auto sent = nic.counts.of("nic.np.cnp_sent.packets");
    const auto handled = nic.counts.of("nic.rp.cnp_handled.packets");
    if (sent && *sent > 0) {
      out.sent += *sent;
      out.lines.push_back(nic.counts.line("nic.np.cnp_sent.packets"));
    }
    if (handled) {
      out.heard += *handled + nic.counts.of("nic.rp.cnp_ignored.packets").value_or(0);
      out.lines.push_back(nic.counts.line("nic.rp.cnp_handled.packets"));
    }
  }
  return out;
}

/// A switch puts CNPs among all other traffic, and fewer arrive than were sent.
void judge_cnp_class(const PastedCase& input, const View& view, finding::Judgement& out) {
  std::optional<finding::EvidenceLine> told;
  const auto dscp = cnp_dscp_of(input, told);
  if (!dscp || input.intent != nullptr) return;
  for (const readers::PasteSorting& sorting : sortings_of(input)) {
    const bool sorts_rdma =
        std::any_of(sorting.groups.begin(), sorting.groups.end(),
                    [&](const auto& group) { return group && *group != sorting.others; });
    if (!sorts_rdma || group_of(sorting, *dscp) != sorting.others) continue;
    const CnpCounts counts = cnp_counts(view);
    std::uint64_t drops = 0;
    for (const PortView* port : view.ports_of(sorting.switch_name))
      drops += port->counts.of("switch.queue.drop_tail.packets", sorting.others).value_or(0);
    // Where their queue is seen to drop, some of them missing is enough.
    const double least =
        drops > 0 ? 1 - view.thresholds().cnps_ignored : view.thresholds().cnps_heard;
    const bool is_lost =
        counts.sent >= view.thresholds().cnps_sent_that_matter && counts.heard > 0 &&
        static_cast<double>(counts.heard) < least * static_cast<double>(counts.sent);
    if (!is_lost) continue;
    Finding finding = finding::make_finding(
        "cnp.lost",
        fmt::format(
            "{}: {} has no class of its own for DSCP {}, so CNPs are in class {} with all other "
            "traffic{}; of {} CNPs sent, {} arrived.",
            name_of_switch(sorting.switch_name), sorting.policy, dscp->value(), sorting.others,
            drops > 0 ? ", which drops packets" : "", count_text(counts.sent),
            count_text(counts.heard)),
        where_of_switch(sorting.switch_name));
    finding.severity = drops > 0 ? Severity::kError : Severity::kWarning;
    finding.confidence = drops > 0 ? Confidence::kHigh : Confidence::kMedium;
    finding.evidence = counts.lines;
    finding.evidence.insert(finding.evidence.begin(), line_of(sorting.at));
    finding.evidence.push_back(*told);
    out.findings.push_back(std::move(finding));
    return;
  }
}

// ---- links of drivers that start ----

std::optional<std::int64_t> clock_of(std::string_view text) {
  constexpr std::size_t kClock = 8;  // "08:41:12"
  for (const std::string_view word : readers::words_of(text))
    if (word.size() >= kClock)
      if (const auto second = readers::second_of_day(word.substr(0, kClock))) return second;
  return std::nullopt;
}

/// Soon after the driver named the interface, services set its priorities, and mlx5 takes the link
/// down for that: once, and it comes back.
void soften_starts(const PastedCase& input, finding::Judgement& out) {
  const auto soon = static_cast<std::int64_t>(input.thresholds.start_seconds);
  for (Finding& finding : out.findings) {
    if (finding.id != "link.flapping" || finding.severity != Severity::kWarning ||
        finding.evidence.empty())
      continue;
    const auto down = clock_of(finding.evidence.front().line);
    const auto day = readers::day_of_line(finding.evidence.front().line);
    const bool is_start = std::any_of(
        input.paste.rows.starts.begin(), input.paste.rows.starts.end(), [&](const auto& start) {
          const auto begun = clock_of(start.at.text);
          return start.host == finding.where.host && start.device == finding.where.device && down &&
                 begun && *down >= *begun && *down - *begun <= soon &&
                 readers::day_of_line(start.at.text) == day;
        });
    if (!is_start) continue;
    finding.severity = Severity::kInfo;
    finding.confidence = Confidence::kLow;
    finding.verdict += " It was while the host started.";
  }
}

// ---- faults that were fixed ----

std::string lower_of(std::string_view text) {
  std::string out(text);
  std::transform(out.begin(), out.end(), out.begin(), [](char c) {
    return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
  });
  return out;
}

bool has_any(const std::string& text, std::span<const std::string_view> words) {
  return std::any_of(words.begin(), words.end(),
                     [&](std::string_view word) { return text.find(word) != std::string::npos; });
}

}  // namespace

std::string tier_in(std::string_view name) {
  for (const std::string_view word :
       {"superspine", "super-spine", "spine", "leaf", "tor", "core", "agg", "border"})
    if (name.find(word) != std::string_view::npos)
      return word == "tor" ? "leaf" : std::string(word);
  return {};
}

void judge_rows(const PastedCase& input, finding::Judgement& out) {
  judge_shared_addresses(input, out);
  judge_lanes(input, out);
  judge_ecn_of_sisters(input, out);
  judge_members(input, out);
  judge_curves(input, out);
  judge_schedulers(input, out);
  soften_starts(input, out);
}

void judge_rows_and_counts(const PastedCase& input, const View& view, finding::Judgement& out) {
  const std::size_t before = out.findings.size();
  judge_seeds(input, out);
  judge_cnp_class(input, view, out);
  if (out.findings.size() == before) return;
  out.conclusion = finding::Conclusion::kFindings;
  std::stable_sort(out.findings.begin(), out.findings.end(),
                   [](const Finding& a, const Finding& b) {
                     if (a.severity != b.severity) return a.severity > b.severity;
                     return a.confidence > b.confidence;
                   });
}

void soften_fixed(const readers::Paste& paste, finding::Judgement& out) {
  constexpr auto kClosed = std::to_array<std::string_view>(
      {"status: closed", "status: resolved", "status closed", "status resolved", "state -> closed",
       "state -> resolved", "state: closed", "state: resolved"});
  constexpr auto kDone =
      std::to_array<std::string_view>({"resolution:", "applied", "replaced", "restored", "fixed",
                                       "corrected", "reconfigured", "set back", "swapped the"});
  constexpr auto kOpen = std::to_array<std::string_view>(
      {"reopen", "re-open", "again since", "still ", "not fixed", "no fault found"});
  bool is_closed = false;
  bool is_done = false;
  for (const readers::Cited& line : paste.words) {
    const std::string text = lower_of(line.text);
    if (has_any(text, kOpen)) return;
    is_closed = is_closed || has_any(text, kClosed);
    is_done = is_done || has_any(text, kDone);
  }
  if (!is_closed || !is_done) return;
  for (Finding& finding : out.findings) {
    if (finding.severity == Severity::kInfo || finding.id == "app.not_fabric") continue;
    finding.severity = Severity::kInfo;
    finding.verdict += " The text says that this was fixed.";
  }
}

}  // namespace weir::diagnose

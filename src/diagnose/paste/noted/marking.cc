// Code points and marking of switches that ought to be alike, packets counted by code point, CNPs
// that a switch drops.
#include <algorithm>
#include <map>
#include <set>

#include <fmt/format.h>

#include "base/count_text.h"
#include "diagnose/paste/noted/noted.h"
#include "diagnose/paste/pasted_parts.h"
#include "finding/catalog.h"
#include "units/format.h"

namespace weir::diagnose {
namespace {

using finding::Confidence;
using finding::Finding;
using finding::Severity;

finding::Where of_switch(const std::string& name) {
  finding::Where where;
  where.switch_name = name;
  return where;
}

/// One switch of three or more maps the code point of RDMA to another class.
void judge_map_of_sisters(const PastedCase& input, finding::Judgement& out) {
  const std::vector<Dscp> said = dscps_said(input);
  std::map<unsigned, std::map<std::string, const readers::PasteCodePoint*>> points;
  for (const readers::PasteCodePoint& item : input.paste.code_points)
    points[item.dscp.value()][item.switch_name] = &item;
  for (const auto& [dscp, switches] : points) {
    if (std::find(said.begin(), said.end(), Dscp::of(dscp)) == said.end()) continue;
    std::map<unsigned, std::vector<const readers::PasteCodePoint*>> classes;
    for (const auto& [name, item] : switches)
      classes[item->traffic_class.value()].push_back(item);
    if (classes.size() != 2) continue;
    const auto& low = classes.begin()->second;
    const auto& high = classes.rbegin()->second;
    const auto& few = low.size() < high.size() ? low : high;
    const auto& many = low.size() < high.size() ? high : low;
    if (few.size() != 1 || many.size() < input.thresholds.sisters_meant_alike) continue;
    const readers::PasteCodePoint& odd = *few.front();
    Finding finding = finding::make_finding(
        "dscp.unmapped_hop",
        fmt::format("{} maps DSCP {}, which RDMA carries here, to class {}; {} other switches map "
                    "it to class {}.",
                    odd.switch_name, dscp, odd.traffic_class.value(), many.size(),
                    many.front()->traffic_class.value()),
        of_switch(odd.switch_name));
    finding.confidence = Confidence::kHigh;
    finding.evidence = {line_of(odd.at), line_of(many.front()->at)};
    out.findings.push_back(std::move(finding));
  }
}

/// All packets of a capture have code point 0, and the text has a class for RDMA that they are not
/// in.
void judge_counted_points(const PastedCase& input, finding::Judgement& out) {
  const finding::Thresholds& limits = input.thresholds;
  const bool has_plan =
      std::any_of(input.evidence.begin(), input.evidence.end(), [](const auto& host) {
        return std::any_of(host.nics.begin(), host.nics.end(), [](const evidence::Nic& nic) {
          return nic.qos.pfc.is_known() && nic.qos.pfc->count() > 0 &&
                 !nic.qos.pfc->contains(Priority::of(0));
        });
      });
  for (const auto& counts : input.paste.noted.dscp_counts) {
    std::uint64_t all = 0;
    const readers::PasteDscpCount* unmarked = nullptr;
    for (const readers::PasteDscpCount& item : counts) {
      all += item.packets;
      if (item.dscp.value() == 0) unmarked = &item;
    }
    if (unmarked == nullptr || all < limits.dscps_counted || !has_plan ||
        static_cast<double>(unmarked->packets) < limits.unmarked_share * static_cast<double>(all))
      continue;
    Finding finding = finding::make_finding(
        "dscp.unmarked",
        fmt::format("On the wire: {} of {} packets to port 4791 have DSCP 0: RDMA leaves unmarked "
                    "and is not in the class that has PFC.",
                    count_text(unmarked->packets), count_text(all)));
    finding.confidence = Confidence::kHigh;
    finding.evidence.push_back(line_of(unmarked->at));
    out.findings.push_back(std::move(finding));
    return;
  }
}

/// The queue of CNPs dropped between two readings: senders do not hear of congestion.
void judge_cnp_drops(const PastedCase& input, finding::Judgement& out) {
  std::map<std::pair<std::string, std::string>, const readers::PasteCnpDrop*> first;
  for (const readers::PasteCnpDrop& item : input.paste.noted.cnp_drops) {
    const auto [at, is_new] = first.try_emplace({item.switch_name, item.port}, &item);
    if (is_new || item.packets <= at->second->packets) continue;
    finding::Where where = of_switch(item.switch_name);
    where.port = item.port;
    Finding finding = finding::make_finding(
        "cnp.lost",
        fmt::format("{} {} dropped {} packets of the queue that carries CNPs between the readings: "
                    "CNPs are lost there, and senders do not slow down.",
                    item.switch_name.empty() ? "The switch" : item.switch_name, item.port,
                    count_text(item.packets - at->second->packets)),
        std::move(where));
    finding.confidence = Confidence::kHigh;
    finding.evidence = {line_of(at->second->at), line_of(item.at)};
    out.findings.push_back(std::move(finding));
    return;
  }
}

}  // namespace

/// A switch marks from a queue of a few packets on, while packets arrive marked: far below its
/// sister, or below what a burst of one sender fills.
void judge_low_thresholds(const PastedCase& input, bool is_marked, finding::Judgement& out) {
  const auto& all = input.paste.noted.thresholds;
  for (const readers::PasteThreshold& low : all) {
    if (low.max.raw() > static_cast<std::int64_t>(input.thresholds.marking_of_few_packets))
      continue;
    const auto sister = std::find_if(all.begin(), all.end(), [&](const auto& other) {
      return other.switch_name != low.switch_name && other.queue == low.queue &&
             static_cast<double>(other.min.raw()) >
                 input.thresholds.far_from_usual * static_cast<double>(low.min.raw());
    });
    if (!is_marked && sister == all.end()) continue;
    Finding finding = finding::make_finding(
        "ecn.thresholds_too_low",
        fmt::format("{} marks from a queue of {} on and every packet above {}: that is a few "
                    "packets, and one sender fills it{}.",
                    low.switch_name.empty() ? "The switch" : low.switch_name, to_text(low.min),
                    to_text(low.max),
                    sister == all.end() ? std::string()
                                        : fmt::format("; {} begins at {}", sister->switch_name,
                                                      to_text(sister->min))));
    finding.where.switch_name = low.switch_name;
    finding.severity = sister != all.end() && is_marked ? Severity::kError : Severity::kWarning;
    finding.confidence = Confidence::kHigh;
    finding.evidence.push_back(line_of(low.at));
    if (sister != all.end()) finding.evidence.push_back(line_of(sister->at));
    out.findings.push_back(std::move(finding));
    return;
  }
}

void judge_noted_marking(const PastedCase& input, finding::Judgement& out) {
  judge_map_of_sisters(input, out);
  judge_counted_points(input, out);
  judge_cnp_drops(input, out);
  judge_low_thresholds(input, false, out);
}

void judge_noted(const PastedCase& input, finding::Judgement& out) {
  judge_neighbours(input, out);
  judge_filters(input, out);
  if (input.intent != nullptr) return;  // the design says it
  judge_noted_ports(input, out);
  judge_noted_marking(input, out);
}

}  // namespace weir::diagnose

#include <algorithm>

#include <fmt/format.h>

#include "diagnose/rules/rule.h"

namespace weir::diagnose {

void Suspicions::add(Suspicion suspicion) {
  finding::Finding finding =
      finding::make_finding(suspicion.id, std::move(suspicion.verdict), std::move(suspicion.where));
  finding.confidence = suspicion.confidence;
  if (suspicion.severity) finding.severity = *suspicion.severity;
  finding.evidence = std::move(suspicion.evidence);
  candidates_.push_back({std::move(finding), std::move(suspicion.explains), suspicion.is_measured});
}

void Suspicions::cannot_tell(std::string check, std::string reason, std::string how) {
  const bool is_known =
      std::any_of(unknown_.begin(), unknown_.end(), [&](const finding::Unknown& known) {
        return known.check == check && known.reason == reason;
      });
  if (!is_known) unknown_.push_back({std::move(check), std::move(reason), std::move(how)});
}

std::string percent(double share) {
  const double value = share * 100;
  return value >= 10 ? fmt::format("{:.0f} %", value) : fmt::format("{:.2g} %", value);
}

std::string name_of(const NicView& nic) {
  return nic.host.empty() ? nic.device : fmt::format("{} {}", nic.host, nic.device);
}

std::string name_of(const PortView& port) {
  return fmt::format("{} {}", port.switch_name, port.name);
}

finding::Where switch_place(const View& view, const std::string& switch_name) {
  return with_priority(view, {.switch_name = switch_name});
}

finding::Where with_priority(const View& view, finding::Where where) {
  where.priority = std::to_string(view.rdma());
  return where;
}

finding::EvidenceLine fact_line(std::string source, std::string line) {
  return {.source = std::move(source), .line = std::move(line)};
}

std::vector<finding::EvidenceLine> moved_lines(const Counts& counts,
                                               std::span<const std::string_view> ids) {
  std::vector<finding::EvidenceLine> lines;
  for (const std::string_view id : ids)
    if (counts.of(id).value_or(0) > 0) lines.push_back(counts.line(id));
  return lines;
}

bool is_at_least(std::uint64_t part, double share, std::uint64_t whole) {
  return static_cast<double>(part) >= share * static_cast<double>(whole);
}

bool are_only_renewed(const Counts& counts, double share, std::uint64_t frames, BitRate speed,
                      double kept) {
  if (frames == 0 || speed.raw() <= 0) return false;
  constexpr double kBits = 65'535.0 * 512;
  const double longest_us = kBits / static_cast<double>(speed.raw()) * 1e6;
  const double paused_us = share * static_cast<double>(counts.window().raw()) / 1e6;
  return paused_us > longest_us * kept * static_cast<double>(frames) && paused_us > longest_us;
}

std::vector<Consequence> congestion_anywhere(std::initializer_list<std::string_view> and_ids) {
  std::vector<Consequence> out;
  for (const std::string_view id :
       {"ecn.thresholds_too_high", "dcqcn.too_conservative", "ecmp.imbalance", "pfc.sustained",
        "path.loss", "port.discards", "congestion.sustained"})
    out.push_back({.id = id, .is_general = true});
  for (const std::string_view id : and_ids)
    out.push_back({id});
  return out;
}

bool takes_any_order(const NicView& nic) {
  if (nic.facts == nullptr) return false;
  const evidence::Rdma& rdma = nic.facts->rdma;
  if (rdma.adaptive_routing.is(true) || rdma.out_of_order.is(true)) return true;
  if (!nic.facts->firmware_settings.is_known()) return false;
  const auto& settings = *nic.facts->firmware_settings;
  return std::any_of(settings.begin(), settings.end(), [](const auto& setting) {
    const std::string& value = setting.current.empty() ? setting.next_boot : setting.current;
    return setting.name == "ROCE_ADAPTIVE_ROUTING_EN" && value.starts_with("True");
  });
}

}  // namespace weir::diagnose

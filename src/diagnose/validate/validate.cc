#include "diagnose/validate/validate.h"

#include <algorithm>
#include <map>

#include <fmt/format.h>

#include "base/check.h"
#include "base/name_pattern.h"
#include "base/text.h"
#include "diagnose/core/fixes.h"
#include "diagnose/rules/rule.h"
#include "diagnose/validate/parts.h"
#include "evidence/designed_nic.h"
#include "finding/catalog.h"
#include "units/format.h"

namespace weir::diagnose {
namespace {

const design::HostIntent* find_host(const design::Intent& intent, std::string_view name) {
  for (const design::HostIntent& host : intent.hosts)
    if (host.name == name) return &host;
  return nullptr;
}

void validate_host(const evidence::Evidence& evidence, const View& view, finding::Judgement& out) {
  const design::Intent& intent = *view.intent();
  const std::string& name = evidence.provenance.host;
  const design::HostIntent* host = find_host(intent, name);
  if (host == nullptr) {
    if (!evidence.nics.empty()) {
      out.unknown.push_back(
          {name, "the design has no such host", "give the design that has it, or weir check"});
    }
    return;
  }
  // A text shows some NICs; the others may be there too.
  const bool shows_all = evidence.provenance.origin != evidence::Origin::kText;
  std::vector<const design::NicIntent*> designed;  // as evidence.nics
  for (const evidence::Nic& nic : evidence.nics)
    designed.push_back(evidence::designed_nic(*host, evidence.provenance.origin, nic));
  for (const design::NicIntent& wanted : host->nics) {
    for (std::size_t i = 0; i < designed.size(); ++i) {
      if (designed[i] != &wanted) continue;
      NicFindings found = validate_nic(name, evidence.nics[i], wanted, intent);
      std::move(found.findings.begin(), found.findings.end(), std::back_inserter(out.findings));
      std::move(found.unknown.begin(), found.unknown.end(), std::back_inserter(out.unknown));
    }
    if (shows_all && evidence.find_nic(wanted.device) == nullptr)
      add_missing_nic(evidence, wanted, out);
  }
  validate_machine(evidence, *host, view.thresholds(), out);
}

/// Hash seeds: where two tiers have the same, each switch of the upper one gets only flows that
/// hashed alike below, and hashes them alike again. Where the design wants one seed, so be it.
void find_equal_seeds(std::span<const evidence::Evidence> evidence, const design::Intent& intent,
                      finding::Judgement& out) {
  std::map<unsigned, std::map<int, std::vector<std::string>>> names;  // by seed and tier
  for (const evidence::Evidence& piece : evidence) {
    for (const evidence::Switch& found : piece.switches) {
      const auto wanted =
          std::find_if(intent.switches.begin(), intent.switches.end(),
                       [&](const design::SwitchIntent& known) { return known.name == found.name; });
      if (wanted == intent.switches.end() || !found.ecmp_seed.is_known()) continue;
      const bool is_hashed = !found.load_balancing.is("spray");
      if (is_hashed) names[*found.ecmp_seed][wanted->tier].push_back(found.name);
    }
  }
  const auto seed_of = [&](const std::string& name) {
    return std::find_if(intent.switches.begin(), intent.switches.end(),
                        [&](const auto& known) { return known.name == name; })
        ->ecmp_seed;
  };
  for (const auto& [seed, tiers] : names) {
    if (tiers.size() < 2) continue;
    const std::vector<std::string>& low = tiers.begin()->second;
    const std::vector<std::string>& high = tiers.rbegin()->second;
    if (seed_of(low.front()) == seed_of(high.front())) continue;
    finding::Where where;
    where.switch_name = high.front();
    finding::Finding finding = finding::make_finding(
        "ecmp.same_seed",
        fmt::format("{} and {} have the same hash seed, {}: flows that one puts on a link, the "
                    "other puts on one link again.",
                    compact_names(low), compact_names(high), seed),
        where);
    for (const std::vector<std::string>* const tier : {&low, &high})
      for (const std::string& name : *tier) {
        finding::EvidenceLine line;
        line.source = name;
        line.line = fmt::format("hash seed: expected {}, found {}", seed_of(name), seed);
        finding.evidence.push_back(std::move(line));
      }
    out.findings.push_back(std::move(finding));
  }
}

void validate_switches(const evidence::Evidence& evidence, const design::Intent& intent,
                       finding::Judgement& out) {
  for (const evidence::Switch& found : evidence.switches) {
    const auto wanted =
        std::find_if(intent.switches.begin(), intent.switches.end(),
                     [&](const design::SwitchIntent& known) { return known.name == found.name; });
    if (wanted != intent.switches.end()) {
      validate_switch(found, *wanted, intent, out);
    } else if (!intent.switches.empty()) {
      out.unknown.push_back({found.name, "the design has no such switch", ""});
    }
  }
}

// ---- drift ----

/// What must be equal wherever the intent is equal, as text.
using Values = std::map<std::string, std::string>;

template <class T, class Text>
void put(Values& out, std::string_view name, const evidence::Fact<T>& fact, Text&& text) {
  if (fact.is_known()) out[std::string(name)] = text(*fact);
}

/// Values that the design accepts alike have the same text.
Values values_of(const evidence::Nic& nic, const design::NicIntent& wanted) {
  const auto same = [](const std::string& text) { return text; };
  const auto priorities = [](PrioritySet set) { return to_text(set); };
  Values out;
  put(out, "firmware", nic.firmware, same);
  put(out, "driver version", nic.driver_version, same);
  put(out, "model", nic.model, same);
  put(out, "trust", nic.qos.trust, [](evidence::TrustMode t) { return std::string(to_text(t)); });
  put(out, "PFC", nic.qos.pfc, priorities);
  const auto asked_of = [](PrioritySet asked) {
    return [asked](PrioritySet found) {
      return to_text(asked == PrioritySet() ? found
                                            : PrioritySet::from_mask(found.mask() & asked.mask()));
    };
  };
  put(out, "ECN notification", nic.ecn.np, asked_of(wanted.ecn_np));
  put(out, "ECN reaction", nic.ecn.rp, asked_of(wanted.ecn_rp));
  put(out, "MTU", nic.link.mtu, [](Bytes b) { return to_text(b); });
  put(out, "speed", nic.link.speed, [](BitRate r) { return to_text(r); });
  put(out, "rx ring", nic.rings.rx, [](unsigned n) { return std::to_string(n); });
  put(out, "congestion control", nic.ecn.algorithm, same);
  put(out, "traffic class", nic.rdma.traffic_class, [&](std::optional<TosByte> tos) {
    const bool is_right = !tos || dscp_of(*tos) == dscp_of(wanted.traffic_class);
    return is_right ? std::string("as designed or none") : to_text(*tos);
  });
  put(out, "DSCP map", nic.qos.dscp_to_priority,
      [](const std::array<std::optional<Priority>, 64>& map) {
        std::string text;
        for (const auto& item : map)
          text += item ? to_text(*item) : "-";
        return text;
      });
  put(out, "FEC", nic.link.fec, same);
  return out;
}

struct Member {
  std::string name;
  std::string host;
  std::string device;
  Values values;
};

void compare_members(const std::vector<Member>& members, finding::Judgement& out) {
  std::map<std::string, std::map<std::string, std::vector<const Member*>>> by_setting;
  for (const Member& member : members)
    for (const auto& [setting, value] : member.values)
      by_setting[setting][value].push_back(&member);
  // Members that differ in the same settings are one finding.
  std::map<std::string, finding::Finding> by_names;
  for (const auto& [setting, values] : by_setting) {
    if (values.size() < 2) continue;
    const auto usual = std::max_element(
        values.begin(), values.end(),
        [](const auto& a, const auto& b) { return a.second.size() < b.second.size(); });
    for (const auto& [value, who] : values) {
      if (value == usual->first) continue;
      std::vector<std::string> names;
      for (const Member* member : who)
        names.push_back(member->name);
      finding::Finding& finding = by_names[join(names, ", ")];
      if (finding.id.empty()) {
        finding::Where where;
        where.host = who.front()->host;
        where.device = who.front()->device;
        finding = finding::make_finding("fleet.drift", "", where);
      }
      finding::EvidenceLine line;
      line.source = join(names, ", ");
      line.line = setting == "DSCP map"
                      ? fmt::format("DSCP map differs from {} others", usual->second.size())
                      : fmt::format("{}: {}; {} others have {}", setting, value,
                                    usual->second.size(), usual->first);
      finding.evidence.push_back(std::move(line));
    }
  }
  for (auto& [names, finding] : by_names) {
    finding.verdict = fmt::format(
        "{} differ{} from the rest in {}.", names, names.find(',') == std::string::npos ? "s" : "",
        finding.evidence.size() == 1 ? finding.evidence.front().line
                                     : fmt::format("{} settings", finding.evidence.size()));
    out.findings.push_back(std::move(finding));
  }
}

/// If counters were read twice: whether links flapped or had errors in between.
void find_unstable_links(const View& view, finding::Judgement& out) {
  const auto has_window = [](const evidence::Evidence& host) {
    return host.snapshots.size() > 1 && !host.snapshots.back().nics.empty();
  };
  if (std::none_of(view.evidence().begin(), view.evidence().end(), has_window)) return;
  Suspicions suspicions;
  look_for_bad_links(view, suspicions);
  for (Candidate& candidate : suspicions.candidates()) {
    if (candidate.finding.id == "link.degraded") continue;  // reported by the comparison
    fit_fixes(view, candidate.finding);
    out.findings.push_back(std::move(candidate.finding));
  }
  std::move(suspicions.unknown().begin(), suspicions.unknown().end(),
            std::back_inserter(out.unknown));
}

}  // namespace

void add_missing_nic(const evidence::Evidence& evidence, const design::NicIntent& wanted,
                     finding::Judgement& out) {
  const std::string& name = evidence.provenance.host;
  std::vector<std::string> shown;
  for (const evidence::Nic& nic : evidence.nics)
    shown.push_back(nic.device);
  if (shown.empty()) {
    out.unknown.push_back({fmt::format("{} {}", name, wanted.device),
                           "no RDMA device was read on this host", "rdma link show"});
    return;
  }
  finding::Where where;
  where.host = name;
  where.rail = std::to_string(wanted.rail);
  where.device = wanted.device;
  out.findings.push_back(finding::make_finding(
      "link.degraded",
      fmt::format("{} has no RDMA device {}, which the design expects; found {}.", name,
                  wanted.device, join(shown, ", ")),
      where));
}

void find_drift(std::span<const evidence::Evidence> evidence, const design::Intent& intent,
                finding::Judgement& out) {
  // NICs of one group of hosts are cabled and configured alike. Without a design (no speed is
  // wanted) it is not known which NICs are rails: those of one model are compared.
  std::map<std::pair<std::uint32_t, std::string>, std::vector<Member>> groups;
  for (const evidence::Evidence& piece : evidence) {
    const design::HostIntent* host = find_host(intent, piece.provenance.host);
    if (host == nullptr) continue;
    for (const design::NicIntent& wanted : host->nics) {
      const evidence::Nic* nic = evidence::find_designed(piece, *host, wanted);
      if (nic == nullptr) continue;
      const bool is_open = wanted.speed.raw() == 0 && nic->model.is_known();
      groups[{host->group, is_open ? *nic->model : ""}].push_back(
          {fmt::format("{} {}", host->name, nic->device), host->name, nic->device,
           values_of(*nic, wanted)});
    }
  }
  for (const auto& [group, members] : groups)
    compare_members(members, out);
}

finding::Judgement validate(const View& view) {
  WEIR_CHECK(view.intent() != nullptr);
  const std::span<const evidence::Evidence> evidence = view.evidence();
  const design::Intent& intent = *view.intent();
  finding::Judgement out;
  for (const evidence::Evidence& known : evidence) {
    validate_host(known, view, out);
    validate_switches(known, intent, out);
  }
  find_equal_seeds(evidence, intent, out);
  find_drift(evidence, intent, out);
  find_gid_drift(evidence, out);
  find_unstable_links(view, out);
  finding::settle(out);
  if (out.conclusion == finding::Conclusion::kHealthy && !out.unknown.empty())
    out.conclusion = finding::Conclusion::kInconclusive;
  if (evidence.empty()) out.conclusion = finding::Conclusion::kInconclusive;
  return out;
}

}  // namespace weir::diagnose

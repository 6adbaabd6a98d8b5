#include "diagnose/paste/pasted.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <iterator>
#include <map>
#include <set>

#include <fmt/format.h>

#include "base/count_text.h"
#include "base/name_pattern.h"
#include "base/text.h"
#include "diagnose/core/diagnose.h"
#include "diagnose/core/fixes.h"
#include "diagnose/core/rdma_class.h"
#include "diagnose/job/job.h"
#include "diagnose/paste/events.h"
#include "diagnose/paste/noted/noted.h"
#include "diagnose/paste/pasted_parts.h"
#include "diagnose/paste/rows.h"
#include "diagnose/paste/stated.h"
#include "diagnose/paste/switches.h"
#include "diagnose/paste/told.h"
#include "diagnose/validate/parts.h"
#include "diagnose/validate/validate.h"
#include "evidence/designed_nic.h"
#include "finding/catalog.h"
#include "finding/search.h"
#include "readers/paste/text_lines.h"
#include "readers/paste/words/hearsay.h"
#include "units/format.h"

namespace weir::diagnose {

std::string place_of(const std::string& host, const std::string& device) {
  return device.empty() ? host : fmt::format("{} {}", host, device);
}

finding::EvidenceLine line_of(const readers::Cited& at) {
  finding::EvidenceLine line;
  line.source = fmt::format("{}:{}", at.file, at.line);
  line.line = at.text;
  return line;
}

finding::Where where_of(const std::string& host, const std::string& device) {
  finding::Where where;
  where.host = host;
  where.device = device;
  return where;
}

namespace {

using evidence::Evidence;
using finding::Confidence;
using finding::Finding;
using finding::Severity;

bool is_pasted_host(const Evidence& evidence) {
  return evidence.provenance.origin == evidence::Origin::kText && evidence.switches.empty();
}

// ---- settings ----

/// By the job or by the ports: the byte that RDMA is sent with, where the text says so.
std::optional<Dscp> dscp_in_use(const PastedCase& input) {
  for (const Evidence& host : input.evidence) {
    for (const evidence::Nic& nic : host.nics) {
      if (nic.rdma.traffic_class.is_known() && *nic.rdma.traffic_class)
        return dscp_of(**nic.rdma.traffic_class);
    }
  }
  return std::nullopt;
}

}  // namespace

std::vector<Dscp> dscps_said(const PastedCase& input) {
  std::vector<Dscp> out;
  if (const auto used = dscp_in_use(input)) out.push_back(*used);
  const std::vector<Dscp> of_job = dscps_of_job(input.paste.job);
  out.insert(out.end(), of_job.begin(), of_job.end());
  for (const Evidence& host : input.evidence)
    for (const evidence::Nic& nic : host.nics)
      if (nic.rdma.cm_tos.is_known()) out.push_back(dscp_of(*nic.rdma.cm_tos));
  return out;
}

namespace {

/// No class is requested; a limit is looked for in the one that RDMA is in.
void take_classes(const Evidence& found, design::HostIntent& host) {
  for (design::NicIntent& wanted : host.nics) {
    const evidence::Nic* nic = found.find_nic(wanted.device);
    if (nic != nullptr && nic->qos.priority_to_tc.is_known())
      wanted.priority_to_tc = *nic->qos.priority_to_tc;
  }
}

/// The convention asks hosts without a NIC too: their limits can be judged.
design::Intent intent_of(std::span<const Evidence> hosts, const Convention& convention) {
  design::Intent intent = conventional_intent(hosts, convention);
  for (const Evidence& evidence : hosts) {
    if (!evidence.nics.empty()) {
      for (design::HostIntent& host : intent.hosts)
        if (host.name == evidence.provenance.host) take_classes(evidence, host);
      continue;
    }
    design::HostIntent host;
    host.name = evidence.provenance.host;
    intent.hosts.push_back(std::move(host));
  }
  return intent;
}

/// Whatever is said of this at this place is a note.
void soften(std::vector<Finding>& findings, std::string_view id, const finding::Where& where) {
  for (Finding& finding : findings)
    if (finding.id == id && finding.where.host == where.host &&
        finding.where.device == where.device)
      finding.severity = Severity::kInfo;
}

/// What rests on the convention and not on a design.
void soften(Finding& finding) {
  const bool is_plan = finding.id.starts_with("pfc.") || finding.id == "dscp.nic_map_wrong" ||
                       finding.id == "dscp.unmarked" || finding.id == "config.differs";
  finding.confidence =
      std::min(finding.confidence, is_plan ? Confidence::kMedium : Confidence::kHigh);
  // A port that nobody uses is down, and a firmware that speaks DCBX may have nobody to talk to.
  const bool is_doubtful = finding.id == "link.degraded" || finding.id == "config.differs" ||
                           finding.id.starts_with("dcbx.");
  if (is_doubtful) finding.severity = std::min(finding.severity, Severity::kWarning);
}

/// How many NICs of a host are without a setting, in the order of the settings.
using MissingSettings = std::vector<std::pair<std::string, std::size_t>>;

void count_setting(MissingSettings& counts, std::string_view setting) {
  const auto known = std::find_if(counts.begin(), counts.end(),
                                  [&](const auto& entry) { return entry.first == setting; });
  if (known == counts.end()) {
    counts.emplace_back(setting, 1);
  } else {
    ++known->second;
  }
}

/// Several ports of a host are down beside others that are up: nobody may use them.
void soften_spare_ports(std::span<const Evidence> hosts, std::vector<Finding>& findings) {
  for (const Evidence& host : hosts) {
    std::set<std::string_view> down;
    bool has_up = false;
    for (const evidence::Nic& nic : host.nics) {
      if (nic.rdma.active.is_known()) continue;
      if (nic.link.up.is(false)) down.insert(nic.device);
      has_up = has_up || nic.link.up.is(true);
    }
    if (down.size() < 2 || !has_up) continue;
    for (const std::string_view device : down)
      soften(findings, "link.degraded", where_of(host.provenance.host, std::string(device)));
  }
}

/// A port without a cable beside one that is up may be spare, unless many are up.
void soften_empty_ports(const PastedCase& input, std::vector<Finding>& findings) {
  for (const readers::PastePortSetting& port : input.paste.port_settings)
    for (const Evidence& host : input.evidence) {
      if (!port.is_empty || host.provenance.host != port.host) continue;
      const auto up = std::count_if(host.nics.begin(), host.nics.end(),
                                    [](const evidence::Nic& nic) { return nic.link.up.is(true); });
      if (up == 0 || static_cast<std::size_t>(up) >= input.thresholds.sisters) continue;
      soften(findings, "link.degraded", where_of(port.host, port.device));
    }
}

/// A port that is disabled beside one that is active is meant so, unless many are active. One that
/// is shown alone is what the text is about.
void soften_disabled_ports(const PastedCase& input, std::vector<Finding>& findings) {
  for (const readers::PasteDisabled& port : input.paste.disabled)
    for (const Evidence& host : input.evidence) {
      if (host.provenance.host != port.host) continue;
      const auto active =
          std::count_if(host.nics.begin(), host.nics.end(),
                        [](const evidence::Nic& nic) { return nic.rdma.active.is(true); });
      if (active == 0 || static_cast<std::size_t>(active) >= input.thresholds.sisters) continue;
      soften(findings, "link.degraded", where_of(port.host, port.device));
    }
}

/// "trust", "DSCP map" of "gpu01 mlx5_0: trust": all that was not pasted of a host is one line.
void fold_unknown(std::vector<finding::Unknown>& unknown, std::span<const Evidence> hosts) {
  std::map<std::string, MissingSettings, std::less<>> by_host;
  for (const Evidence& host : hosts)
    by_host.try_emplace(host.provenance.host);
  for (const finding::Unknown& item : unknown) {
    const std::string_view check = item.check;
    const std::size_t colon = check.find(": ");
    if (item.reason != kNotRead || colon == std::string_view::npos) continue;
    for (std::size_t at = check.find(' '); at != std::string_view::npos;
         at = check.find(' ', at + 1))  // a name may have spaces
      if (const auto host = by_host.find(check.substr(0, at)); host != by_host.end())
        count_setting(host->second, check.substr(colon + 2));
  }
  std::vector<finding::Unknown> out;
  for (const Evidence& host : hosts) {
    const std::string& name = host.provenance.host;
    // One NIC may be pasted under two names: what was read of one of them was pasted.
    std::vector<std::string> missing;
    for (const auto& [setting, count] : by_host.find(name)->second)
      if (count >= host.nics.size()) missing.push_back(setting);
    if (missing.empty()) continue;
    out.push_back({fmt::format("{}: what was not pasted", name), join(missing, ", "),
                   "mlnx_qos -i <netdev>, show_gids, ethtool <netdev>, ibv_devinfo; or weir "
                   "snapshot on the host"});
  }
  for (finding::Unknown& item : unknown)
    if (item.reason != kNotRead) out.push_back(std::move(item));
  unknown = std::move(out);
}

/// A listing of DSCPs that were mapped on purpose, or that is cut off, says nothing of the others.
void fill_map(evidence::Nic& nic, const Convention& convention) {
  if (!nic.qos.dscp_to_priority.is_known()) return;
  auto map = *nic.qos.dscp_to_priority;
  if (!map.at(convention.dscp.value())) {
    nic.qos.dscp_to_priority = {};
    return;
  }
  for (std::size_t dscp = 0; dscp < map.size(); ++dscp)
    if (!map.at(dscp))
      map.at(dscp) =
          dscp == convention.cnp_dscp.value() ? convention.cnp_priority : Priority::of(0);
  nic.qos.dscp_to_priority =
      evidence::Fact<decltype(map)>::of(map, nic.qos.dscp_to_priority.source());
}

bool shows_pfc(std::span<const Evidence> hosts) {
  return std::any_of(hosts.begin(), hosts.end(), [](const Evidence& host) {
    return std::any_of(host.nics.begin(), host.nics.end(),
                       [](const evidence::Nic& nic) { return nic.qos.pfc.is_known(); });
  });
}

/// The address of a NIC is on a VLAN of its own interface: which one is meant only a design says.
void soften_vlan_gids(finding::Judgement& out) {
  for (Finding& finding : out.findings) {
    if (finding.id != "gid.wrong_netdev") continue;
    for (const finding::EvidenceLine& line : finding.evidence) {
      const std::size_t own = line.line.find("expected on ");
      const std::size_t other = line.line.find(", found on ");
      if (own == std::string::npos || other == std::string::npos || other < own) continue;
      const std::string name = line.line.substr(own + 12, other - own - 12);
      if (line.line.substr(other + 11).starts_with(name + ".")) finding.severity = Severity::kInfo;
    }
  }
}

/// A design may have been written with other addresses than those of the site.
void soften_other_addresses(std::vector<Finding>& findings) {
  for (Finding& finding : findings)
    if (finding.id == "config.differs" && finding.evidence.front().line.starts_with("GID:"))
      finding.severity = Severity::kInfo;
}

/// The designed NICs that the text does not show. They are missing only where it lists all.
void judge_absent_nics(const PastedCase& input, std::span<const Evidence> hosts,
                       finding::Judgement& out) {
  const std::set<std::string>& listed = input.paste.rows.listed_hosts;
  for (const design::HostIntent& wanted : input.intent->hosts)
    for (const Evidence& host : hosts) {
      const std::string& name = host.provenance.host;
      if (name != wanted.name || host.nics.empty()) continue;
      std::vector<std::string> absent;
      for (const design::NicIntent& nic : wanted.nics) {
        if (listed.contains(name)) {
          if (host.find_nic(nic.device) == nullptr) add_missing_nic(host, nic, out);
        } else if (evidence::find_designed(host, wanted, nic) == nullptr) {
          absent.push_back(nic.device);
        }
      }
      if (absent.empty()) continue;
      finding::Unknown open{fmt::format("{}: {}", name, compact_names(absent)),
                            "not named in the text",
                            "rdma link show lists the devices of the host"};
      open.is_required = false;
      out.unknown.push_back(std::move(open));
    }
}

finding::Judgement judge_settings(const PastedCase& input) {
  std::vector<Evidence> hosts;
  for (const Evidence& evidence : input.evidence)
    if (is_pasted_host(evidence)) hosts.push_back(evidence);
  finding::Judgement out;
  if (hosts.empty()) return out;
  const bool has_design =
      input.intent != nullptr &&
      std::any_of(input.intent->hosts.begin(), input.intent->hosts.end(), [&](const auto& wanted) {
        return std::any_of(hosts.begin(), hosts.end(), [&](const Evidence& host) {
          return host.provenance.host == wanted.name;
        });
      });
  if (has_design) {
    out = validate(hosts, *input.intent);
    judge_absent_nics(input, hosts, out);
    soften_other_addresses(out.findings);
    // Shares, unused classes, a cable's length: `weir validate` lists them. A text was pasted to
    // find a cause, and what is the cause of something has an id of its own.
    for (Finding& finding : out.findings)
      if (finding.id == "config.differs") finding.severity = Severity::kInfo;
  } else {
    const Convention convention = convention_of(input);
    for (Evidence& host : hosts)
      for (evidence::Nic& nic : host.nics)
        fill_map(nic, convention);
    out = validate(hosts, intent_of(hosts, convention));
    soften_vlan_gids(out);
    const auto is_noise = [&](const Finding& finding) {
      return finding.id == "fleet.drift" && hosts.size() < 2;
    };
    out.findings.erase(std::remove_if(out.findings.begin(), out.findings.end(), is_noise),
                       out.findings.end());
    for (Finding& finding : out.findings) {
      soften(finding);
      // Which priority RDMA has is only assumed where no PFC is shown.
      if (finding.id == "cnp.shares_rdma_priority" && !shows_pfc(hosts))
        finding.severity = Severity::kInfo;
      finding.where.rail.clear();  // without a design nobody knows the rails
    }
  }
  fold_unknown(out.unknown, hosts);
  return out;
}

// ---- DCBX in the firmware ----

/// A setting of the firmware that holds for a port: "LLDP_NB_DCBX_P1  True(1)".
bool is_set(const evidence::Nic& nic, std::string_view stem) {
  if (!nic.firmware_settings.is_known()) return false;
  return std::any_of(nic.firmware_settings->begin(), nic.firmware_settings->end(),
                     [&](const evidence::FirmwareSetting& setting) {
                       const std::string& value =
                           setting.current.empty() ? setting.next_boot : setting.current;
                       return setting.name.starts_with(stem) && value.starts_with("True");
                     });
}

/// The firmware speaks DCBX and takes what the switch says: PFC that is off is the switch's doing.
void judge_firmware_dcbx(const PastedCase& input, finding::Judgement& out) {
  for (const Evidence& host : input.evidence)
    for (const evidence::Nic& nic : host.nics) {
      const bool is_taken = is_set(nic, "LLDP_NB_DCBX_P") && is_set(nic, "DCBX_WILLING_P") &&
                            !nic.qos.dcbx.is(evidence::DcbxMode::kOs);
      if (!is_taken || !nic.qos.pfc.is_known() || nic.qos.pfc->count() > 0) continue;
      Finding finding = finding::make_finding(
          "dcbx.willing",
          fmt::format("{}: its firmware speaks DCBX and is willing (LLDP_NB_DCBX, DCBX_WILLING), "
                      "and PFC is off: the switch's settings replace those of the host.",
                      place_of(host.provenance.host, nic.device)),
          where_of(host.provenance.host, nic.device));
      finding.severity = Severity::kError;
      finding.confidence = Confidence::kHigh;
      finding.evidence = {
          {.source = nic.firmware_settings.source(), .line = "LLDP_NB_DCBX, DCBX_WILLING: True"},
          {.source = nic.qos.pfc.source(), .line = "PFC: no priority"}};
      soften(out.findings, "pfc.off", finding.where);
      out.findings.push_back(std::move(finding));
    }
}

// ---- links ----

bool is_no_fec(std::string_view mode) {
  return mode == "None" || mode == "Off";
}

/// Lanes of 50 Gb/s and more (PAM4) do not work without RS-FEC (IEEE 802.3bs, 802.3cd, 802.3ck).
void judge_fec(const PastedCase& input, finding::Judgement& out) {
  constexpr std::int64_t kFromHere = 200'000'000'000;
  for (const Evidence& host : input.evidence)
    for (const evidence::Nic& nic : host.nics) {
      const evidence::Link& link = nic.link;
      const bool is_off = link.fec.is_known() && is_no_fec(*link.fec);
      if (!is_pasted_host(host) || !is_off || !link.speed.is_known() ||
          link.speed->raw() < kFromHere)
        continue;
      Finding finding = finding::make_finding(
          "fec.wrong",
          fmt::format("{} has no FEC at {}: expected RS.",
                      place_of(host.provenance.host, nic.device), to_text(*link.speed)),
          where_of(host.provenance.host, nic.device));
      finding.confidence = Confidence::kHigh;
      finding::EvidenceLine line;
      line.source = link.fec.source();
      line.line = fmt::format("FEC: expected RS, found {}", *link.fec);
      finding.evidence.push_back(std::move(line));
      out.findings.push_back(std::move(finding));
    }
}

/// FEC was turned off at this port. That none is in effect says nothing: without a link none is.
bool is_set_without_fec(const PastedCase& input, const std::string& host,
                        const evidence::Nic& nic) {
  bool is_off = false;
  for (const readers::PastePortSetting& port : input.paste.port_settings) {
    const bool is_this =
        port.host == host && (port.device == nic.device || nic.netdev.is(port.device));
    if (is_this && port.is_empty) return false;
    if (is_this && !port.fec.empty()) is_off = is_no_fec(port.fec);
  }
  return is_off;
}

/// No link without FEC, and a port beside it that has RS and a link. Where several have no link,
/// nobody may use them.
void judge_fec_of_sisters(const PastedCase& input, finding::Judgement& out) {
  for (const Evidence& host : input.evidence)
    for (const evidence::Nic& nic : host.nics) {
      const bool is_without = nic.link.fec.is_known() && is_no_fec(*nic.link.fec);
      if (!is_pasted_host(host) || !is_without || !nic.link.up.is(false)) continue;
      const auto downs =
          std::count_if(host.nics.begin(), host.nics.end(),
                        [](const evidence::Nic& other) { return other.link.up.is(false); });
      if (downs > 1 || !is_set_without_fec(input, host.provenance.host, nic)) continue;
      const auto sister =
          std::find_if(host.nics.begin(), host.nics.end(), [&](const evidence::Nic& other) {
            return other.link.up.is(true) && other.link.fec.is_known() &&
                   other.link.fec->starts_with("RS");
          });
      if (sister == host.nics.end()) continue;
      Finding finding = finding::make_finding(
          "fec.wrong",
          fmt::format("{} has no FEC and no link; {} beside it has RS and a link.",
                      place_of(host.provenance.host, nic.device), sister->device),
          where_of(host.provenance.host, nic.device));
      finding.confidence = Confidence::kHigh;
      finding.severity = Severity::kError;
      finding.evidence = {{.source = nic.link.fec.source(), .line = "FEC: " + *nic.link.fec},
                          {.source = sister->link.fec.source(),
                           .line = fmt::format("{}: FEC {}", sister->device, *sister->link.fec)}};
      soften(out.findings, "link.degraded", finding.where);
      out.findings.push_back(std::move(finding));
    }
}

// ---- how busy the machine is ----

/// I24: the GPUs of a host wait while its CPUs work: data goes through them, over sockets or in
/// copies. A note, since a data loader does the same.
void judge_uses(const PastedCase& input, finding::Judgement& out) {
  const auto share = [](unsigned percent) { return static_cast<double>(percent) / 100; };
  for (const readers::PasteUse& gpu : input.paste.uses) {
    if (!gpu.is_gpu || gpu.percent.empty()) continue;
    const unsigned most = *std::max_element(gpu.percent.begin(), gpu.percent.end());
    if (share(most) >= input.thresholds.idle_gpu) continue;
    for (const readers::PasteUse& cpu : input.paste.uses) {
      if (cpu.is_gpu || cpu.percent.empty() || cpu.host != gpu.host) continue;
      const unsigned busy = *std::max_element(cpu.percent.begin(), cpu.percent.end());
      if (share(busy) < input.thresholds.busy_cpu) continue;
      Finding finding = finding::make_finding(
          "nccl.socket_fallback",
          fmt::format(
              "The GPUs are used {} % at most and the CPUs {} %: data may go through the "
              "CPUs. Look for \"Using network Socket\" and GPUDirect in the job's log, then "
              "at its data loader.",
              most, busy),
          where_of(gpu.host, ""));
      finding.severity = Severity::kInfo;
      finding.confidence = Confidence::kLow;
      finding.evidence = {line_of(gpu.at), line_of(cpu.at)};
      out.findings.push_back(std::move(finding));
      return;
    }
  }
}

// ---- results of tests ----

/// The status in "a transfer failed with status 12: …".
bool has_status(const std::string& problem, unsigned status) {
  return problem.find(fmt::format("status {}:", status)) != std::string::npos;
}

void judge_perftest(const readers::PastePerftest& perftest, finding::Judgement& out) {
  const std::string place = place_of(perftest.host, perftest.report.device);
  const auto add = [&](std::string_view id, std::string verdict, Confidence confidence) {
    Finding finding = finding::make_finding(id, std::move(verdict),
                                            where_of(perftest.host, perftest.report.device));
    finding.confidence = confidence;
    finding.evidence.push_back(line_of(perftest.at));
    out.findings.push_back(std::move(finding));
  };
  for (const std::string& problem : perftest.report.problems) {
    if (has_status(problem, 12)) {
      add("transport.retries_exhausted", fmt::format("The test on {}: {}.", place, problem),
          Confidence::kMedium);
    } else if (has_status(problem, 13)) {
      add("app.receives_too_few", fmt::format("The test on {}: {}.", place, problem),
          Confidence::kMedium);
    } else {
      out.unknown.push_back({"the test on " + place, problem, "run it again on both ends"});
    }
  }
  // Within one subnet link-local addresses work: only a test that got no answer shows the fault.
  const bool is_unanswered =
      perftest.report.bandwidth.empty() && perftest.report.latency.empty() &&
      std::any_of(perftest.report.problems.begin(), perftest.report.problems.end(),
                  [](const std::string& problem) { return has_status(problem, 12); });
  if (perftest.link_local && is_unanswered) {
    add("gid.not_routable",
        fmt::format("The test on {} used a link-local GID (fe80) and got no answer from its peer.",
                    place),
        Confidence::kHigh);
    out.findings.back().evidence.push_back(line_of(*perftest.link_local));
  }
  if (perftest.report.mtu && *perftest.report.mtu < 4096_B)
    add("mtu.below_4096",
        fmt::format("The test on {} ran with an RDMA MTU of {} bytes: expected 4096.", place,
                    perftest.report.mtu->raw()),
        Confidence::kHigh);
}

void judge_collective(const readers::PasteCollective& collective, finding::Judgement& out) {
  const auto wrong = collective.report.out_of_bounds.value_or(0);
  if (collective.report.is_failed || wrong > 0)
    out.unknown.push_back(
        {"nccl-tests",
         wrong > 0 ? fmt::format("{} values were wrong", wrong) : "the test reported a failure",
         "run it with NCCL_DEBUG=INFO and paste the log"});
}

/// I6: the same collective again and again, and its time is not the same. Marks that come too late
/// let pauses decide who waits; a note, since other jobs on the fabric do it too.
void judge_spread(const readers::PasteCollective& collective, const finding::Thresholds& limits,
                  finding::Judgement& out) {
  const auto decides = Bytes::raw(static_cast<std::int64_t>(limits.bandwidth_bytes));
  struct Times {
    Duration shortest;
    Duration longest;
    std::size_t count = 0;
  };
  std::map<std::int64_t, Times> by_size;
  for (const readers::CollectiveRow& row : collective.report.rows) {
    if (row.size < decides || row.time <= Duration()) continue;
    Times& times = by_size[row.size.raw()];
    times.shortest = times.count == 0 ? row.time : std::min(times.shortest, row.time);
    times.longest = std::max(times.longest, row.time);
    ++times.count;
  }
  for (const auto& [size, times] : by_size) {
    const double spread =
        static_cast<double>(times.longest.raw()) / static_cast<double>(times.shortest.raw());
    if (times.count < limits.runs_compared || spread < limits.uneven_runs) continue;
    Finding finding = finding::make_finding(
        "ecn.thresholds_too_high",
        fmt::format("{} runs of {} took {} to {} for the same {}: if nothing else ran, ECN marks "
                    "come too late. Check marks and pauses on the switches during such a run.",
                    times.count,
                    collective.report.test.empty() ? "a collective" : collective.report.test,
                    approximate(times.shortest), approximate(times.longest),
                    approximate(Bytes::raw(size))));
    finding.severity = Severity::kInfo;
    finding.confidence = Confidence::kLow;
    finding.evidence.push_back(line_of(collective.at));
    out.findings.push_back(std::move(finding));
    return;
  }
}

// ---- probes ----

/// A switch port in the text whose MTU is too small for a packet.
struct SmallPort {
  finding::Where where;
  Bytes mtu;
  Bytes needed;
};
std::vector<SmallPort> ports_below(const PastedCase& input, unsigned payload) {
  constexpr std::int64_t kHeaders = 28;  // IP and ICMP
  constexpr std::size_t kLines = 4;
  const Bytes needed = Bytes::raw(payload + kHeaders);
  std::vector<SmallPort> out;
  for (const Evidence& evidence : input.evidence) {
    for (const evidence::Switch& item : evidence.switches) {
      for (const evidence::SwitchPort& port : item.ports) {
        if (!port.mtu.is_known() || *port.mtu >= needed || out.size() >= kLines) continue;
        finding::Where where;
        where.switch_name = item.name;
        where.port = port.name;
        out.push_back({where, *port.mtu, needed});
      }
    }
  }
  for (const readers::PastePortMtu& port : input.paste.noted.port_mtus) {
    finding::Where where;
    where.switch_name = port.switch_name;
    where.port = port.port;
    const bool is_known = std::any_of(out.begin(), out.end(),
                                      [&](const SmallPort& known) { return known.where == where; });
    if (port.mtu < needed && !is_known && !port.switch_name.empty() && out.size() < kLines)
      out.push_back({where, port.mtu, needed});
  }
  return out;
}

/// Small packets pass to a target and large ones do not.
void judge_pings(const PastedCase& input, finding::Judgement& out) {
  for (const readers::PastePing& large : input.paste.pings) {
    const bool is_lost = large.is_refused || (large.sent > 0 && large.replies == 0);
    if (!is_lost || !large.is_whole) continue;
    const auto passed = std::find_if(
        input.paste.pings.begin(), input.paste.pings.end(), [&](const readers::PastePing& small) {
          return small.replies > 0 && small.payload < large.payload &&
                 (small.target == large.target || small.target.empty() || large.target.empty());
        });
    const bool has_small = passed != input.paste.pings.end();
    // Packets of 9000 bytes pass: what is larger than that is meant to fail.
    constexpr unsigned kJumbo = 9000 - 28;
    const bool is_beyond_jumbo = std::any_of(
        input.paste.pings.begin(), input.paste.pings.end(), [&](const readers::PastePing& other) {
          return other.replies > 0 && other.payload >= kJumbo && other.payload < large.payload;
        });
    if (is_beyond_jumbo) continue;
    const bool is_named = large.host != readers::kThisHost;
    if (!large.is_refused && !has_small) {
      out.unknown.push_back(
          {fmt::format("the path to {}", large.target),
           fmt::format("no answer to {} bytes: too large, or no path at all", large.payload),
           "ping it with a small size too (ping -M do -s 1472)"});
      continue;
    }
    Finding finding = finding::make_finding(
        "mtu.mismatch",
        has_small ? fmt::format("{} bytes to {} are not answered, {} bytes are: a hop on the path "
                                "has a smaller MTU.",
                                large.payload, large.target, passed->payload)
                  : fmt::format("{} bytes to {} do not fit: a hop on the path, or the interface "
                                "itself, has a smaller MTU.",
                                large.payload, large.target),
        where_of(is_named ? large.host : "", ""));
    finding.confidence = Confidence::kHigh;
    finding.evidence.push_back(line_of(large.at));
    if (has_small) finding.evidence.push_back(line_of(passed->at));
    const std::vector<SmallPort> small = ports_below(input, large.payload);
    for (const SmallPort& port : small) {
      finding::EvidenceLine line;
      line.source = finding::to_text(port.where);
      line.line = fmt::format("MTU {} bytes, needed {}", port.mtu.raw(), port.needed.raw());
      finding.evidence.push_back(std::move(line));
    }
    if (small.size() == 1) {
      finding.where = small.front().where;
      finding.verdict += fmt::format(" {} {} has an MTU of {} bytes.", finding.where.switch_name,
                                     finding.where.port, small.front().mtu.raw());
    }
    out.findings.push_back(std::move(finding));
    return;
  }
}

// ---- packets ----

using CapturedFlow = readers::PasteCapture::Flow;

unsigned dscp_of_flow(const CapturedFlow& flow) {
  return dscp_of(TosByte::of(flow.tos)).value();
}

/// The packets of this flow nearest to its sender, where they were captured nearer than here and
/// all of them have one marking; nullptr otherwise.
const CapturedFlow* marked_before(const CapturedFlow& here,
                                  const std::vector<readers::PasteCapture>& captures) {
  const CapturedFlow* first = nullptr;
  bool is_one = true;
  for (const auto& capture : captures)
    for (const CapturedFlow& flow : capture.flows) {
      if (flow.name != here.name || flow.ttl <= here.ttl) continue;
      if (first != nullptr && flow.ttl < first->ttl) continue;
      is_one = first == nullptr || flow.ttl > first->ttl ||
               (is_one && dscp_of_flow(flow) == dscp_of_flow(*first));
      first = &flow;
    }
  return first != nullptr && is_one && dscp_of_flow(*first) != 0 ? first : nullptr;
}

/// Each router takes one off the TTL: one flow, marked at a higher TTL and not so at a lower one,
/// lost its marking between the two places.
bool is_rewritten(const CapturedFlow& flow, const std::vector<readers::PasteCapture>& captures) {
  const CapturedFlow* const sent = marked_before(flow, captures);
  return sent != nullptr && dscp_of_flow(*sent) != dscp_of_flow(flow);
}

void judge_rewritten(const std::vector<readers::PasteCapture>& captures, finding::Judgement& out) {
  for (const auto& capture : captures)
    for (const CapturedFlow& flow : capture.flows) {
      if (!is_rewritten(flow, captures)) continue;
      const CapturedFlow& sent = *marked_before(flow, captures);
      Finding finding = finding::make_finding(
          "dscp.rewritten",
          fmt::format("On the wire: {} has TOS {:#04x} (DSCP {}) with TTL {} and TOS {:#04x} (DSCP "
                      "{}) with TTL {}: the marking is changed between the two places.",
                      flow.name, sent.tos, dscp_of_flow(sent), sent.ttl, flow.tos,
                      dscp_of_flow(flow), flow.ttl));
      finding.confidence = Confidence::kHigh;
      finding.evidence.push_back(line_of(sent.first));
      finding.evidence.push_back(line_of(flow.first));
      out.findings.push_back(std::move(finding));
      return;  // one fault, however many flows pass it
    }
}

/// The capture without packets that were marked nearer to their sender.
readers::PasteCapture without_rewritten(readers::PasteCapture capture,
                                        const std::vector<readers::PasteCapture>& captures) {
  for (const CapturedFlow& flow : capture.flows) {
    if (!is_rewritten(flow, captures)) continue;
    for (auto& marked : capture.by_tos)
      if (marked.tos == flow.tos) marked.data -= std::min(marked.data, flow.data);
  }
  return capture;
}

void judge_capture(const readers::PasteCapture& capture, Dscp wanted, bool has_design,
                   finding::Judgement& out) {
  const TosByte byte = tos_byte(wanted, Ecn::kEct0);
  for (const auto& marked : capture.by_tos) {
    if (marked.data == 0) continue;
    const TosByte tos = TosByte::of(marked.tos);
    const unsigned dscp = dscp_of(tos).value();
    const std::string seen = fmt::format("{} data packet{} with TOS {:#04x} (DSCP {}){}",
                                         marked.data, marked.data == 1 ? "" : "s", marked.tos, dscp,
                                         ecn_of(tos) == Ecn::kNotEct ? ", not ECN-capable" : "");
    const auto add = [&](std::string_view id, std::string_view expected, Confidence confidence) {
      const bool is_named = capture.host != readers::kThisHost;
      Finding finding = finding::make_finding(
          id, fmt::format("On the wire: expected {}, found {}.", expected, seen),
          where_of(is_named ? capture.host : "", ""));
      finding.confidence = confidence;
      finding.evidence.push_back(line_of(marked.first));
      out.findings.push_back(std::move(finding));
    };
    const std::string expected = fmt::format("TOS {:#04x} (DSCP {})", byte.value(), wanted.value());
    if (dscp == wanted.value() / 4 && dscp != wanted.value()) {
      add("dscp.tos_confusion", expected, Confidence::kHigh);
    } else if (dscp == 0 || (has_design && dscp != wanted.value())) {
      add("dscp.unmarked", expected, has_design ? Confidence::kCertain : Confidence::kHigh);
    } else if (ecn_of(tos) == Ecn::kNotEct) {
      add("ecn.not_ect", "ECN-capable packets", Confidence::kHigh);
    }
  }
}

Dscp wanted_dscp(const PastedCase& input) {
  if (input.intent != nullptr && !input.intent->hosts.empty() &&
      !input.intent->hosts.front().nics.empty())
    return dscp_of(input.intent->hosts.front().nics.front().traffic_class);
  return convention_of(input).dscp;
}

bool is_same_fault(const Finding& a, const Finding& b) {
  static const finding::Where kNowhere;
  if (a.id != b.id) return false;
  // What people tell has no place: it is the one that an output shows.
  if (a.where == kNowhere || b.where == kNowhere) return true;
  return a.where.switch_name == b.where.switch_name && a.where.port == b.where.port &&
         a.where.file == b.where.file &&
         (a.where.host == b.where.host || a.where.host.empty() || b.where.host.empty()) &&
         (a.where.device == b.where.device || a.where.device.empty() || b.where.device.empty());
}

/// The first finding of a list that is the same fault as another. Where there may be many, it is
/// looked up: of hosts with a device each, and of ports of switches.
class SameFaults {
 public:
  explicit SameFaults(const std::vector<Finding>& findings) : findings_(findings) {
    for (std::size_t i = 0; i < findings.size(); ++i)
      note(i);
  }
  /// Finding `i` is new, or has become another one.
  void note(std::size_t i) {
    const Finding& finding = findings_[i];
    if (is_exact(finding)) {
      exact_.emplace(key_of(finding), i);
    } else if (is_of_switch(finding)) {
      of_switches_[switch_key_of(finding)].push_back(i);
    } else {
      open_.push_back(i);
    }
    if (is_exact(finding) && !finding.where.switch_name.empty())
      of_switches_[switch_key_of(finding)].push_back(i);
  }
  [[nodiscard]] std::optional<std::size_t> find(const Finding& finding) const {
    if (!is_exact(finding) && !is_of_switch(finding)) {
      for (std::size_t i = 0; i < findings_.size(); ++i)
        if (is_same_fault(finding, findings_[i])) return i;
      return std::nullopt;
    }
    std::optional<std::size_t> first;
    const auto look_at = [&](std::size_t i) {
      if ((!first || i < *first) && is_same_fault(finding, findings_[i])) first = i;
    };
    if (is_exact(finding))
      if (const auto found = exact_.find(key_of(finding)); found != exact_.end())
        look_at(found->second);
    if (const auto found = of_switches_.find(switch_key_of(finding)); found != of_switches_.end())
      std::for_each(found->second.begin(), found->second.end(), look_at);
    std::for_each(open_.begin(), open_.end(), look_at);
    return first;
  }

 private:
  using Key = std::array<std::string, 6>;
  static bool is_exact(const Finding& finding) {
    return !finding.where.host.empty() && !finding.where.device.empty();
  }
  static Key key_of(const Finding& finding) {
    const finding::Where& where = finding.where;
    return {std::string(finding.id), where.host, where.device,
            where.switch_name,       where.port, where.file};
  }
  /// Whatever has another switch, port or file is another fault.
  using SwitchKey = std::array<std::string, 4>;
  static bool is_of_switch(const Finding& finding) {
    return !is_exact(finding) && !finding.where.switch_name.empty();
  }
  static SwitchKey switch_key_of(const Finding& finding) {
    const finding::Where& where = finding.where;
    return {std::string(finding.id), where.switch_name, where.port, where.file};
  }

  const std::vector<Finding>& findings_;
  std::map<Key, std::size_t> exact_;
  std::map<SwitchKey, std::vector<std::size_t>> of_switches_;
  std::vector<std::size_t> open_;
};

}  // namespace

void weigh_counts(const PastedCase& input, finding::Judgement& judgement) {
  std::set<std::string_view> hosts;
  for (const Evidence& host : input.evidence)
    if (is_pasted_host(host)) hosts.insert(host.provenance.host);
  for (Finding& finding : judgement.findings)
    if (input.intent == nullptr && hosts.contains(finding.where.host)) soften(finding);
  const auto is_real = [](const Finding& finding) { return finding.severity > Severity::kInfo; };
  const bool has_findings =
      std::any_of(judgement.findings.begin(), judgement.findings.end(), is_real);
  if (judgement.conclusion == finding::Conclusion::kFindings && !has_findings)
    judgement.conclusion = finding::Conclusion::kInconclusive;
}

namespace {

bool shows_map(const PastedCase& input) {
  return std::any_of(input.evidence.begin(), input.evidence.end(), [](const Evidence& host) {
    return std::any_of(host.nics.begin(), host.nics.end(), [](const evidence::Nic& nic) {
      return nic.qos.dscp_to_priority.is_known();
    });
  });
}

/// One code point that the text says for RDMA, and that NICs do not put elsewhere: the site's plan.
/// A small one is more likely a DSCP that was written as a TOS byte.
std::optional<Dscp> dscp_of_site(const PastedCase& input, Priority priority) {
  const std::vector<Dscp> said = dscps_said(input);
  if (said.empty() || said.front().value() < kSmallDscp) return std::nullopt;
  const bool is_one =
      std::all_of(said.begin(), said.end(), [&](Dscp dscp) { return dscp == said.front(); });
  const bool is_placed = !shows_map(input) || is_mapped_to(input.evidence, said.front(), priority);
  return is_one && is_placed ? std::optional(said.front()) : std::nullopt;
}

/// The code point that the ports force on RDMA, where a NIC maps it to another marked priority than
/// the one it protects: one of the two is wrong, and the map is not.
std::optional<std::pair<Dscp, Priority>> contradicted_mark(const PastedCase& input,
                                                           const std::optional<PrioritySet>& pfc) {
  const auto used = dscp_in_use(input);
  if (!used || !pfc) return std::nullopt;
  for (const Evidence& host : input.evidence)
    for (const evidence::Nic& nic : host.nics) {
      if (!nic.qos.dscp_to_priority.is_known()) continue;
      const auto& to = nic.qos.dscp_to_priority->at(used->value());
      if (to && to->value() != 0 && !pfc->contains(*to)) return std::pair(*used, *to);
    }
  return std::nullopt;
}

bool is_paused_by_switch(const PastedCase& input, const PrioritySet& pfc) {
  const auto is_shared = [&](const PrioritySet& other) { return (other.mask() & pfc.mask()) != 0; };
  for (const readers::PasteLossless& item : input.paste.lossless)
    if (is_shared(item.priorities)) return true;
  for (const Evidence& evidence : input.evidence)
    for (const evidence::Switch& device : evidence.switches)
      for (const evidence::SwitchPort& port : device.ports)
        if ((port.pfc.is_known() && is_shared(*port.pfc)) ||
            (port.pfc_active.is_known() && is_shared(*port.pfc_active)))
          return true;
  return false;
}

}  // namespace

Convention convention_of(const PastedCase& input) {
  Convention out;
  // How CNPs are marked is the site's choice, as long as it is not RDMA's own priority.
  for (const Evidence& host : input.evidence)
    for (const evidence::Nic& nic : host.nics) {
      // One that is not marked at all is no choice.
      if (!nic.ecn.cnp_dscp.is_known() || !nic.ecn.cnp_priority.is_known() ||
          *nic.ecn.cnp_priority == out.priority || nic.ecn.cnp_dscp->value() == 0)
        continue;
      out.cnp_dscp = *nic.ecn.cnp_dscp;
      out.cnp_priority = *nic.ecn.cnp_priority;
    }
  // So is the priority that a NIC maps them to: Broadcom's drivers come with 7.
  for (const Evidence& host : input.evidence)
    for (const evidence::Nic& nic : host.nics) {
      if (!nic.qos.dscp_to_priority.is_known() || nic.ecn.cnp_priority.is_known()) continue;
      const auto& to = nic.qos.dscp_to_priority->at(out.cnp_dscp.value());
      if (to && *to != out.priority && to->value() != 0) out.cnp_priority = *to;
    }
  if (input.shown != nullptr) {
    out.priority = Priority::of(input.shown->priority);
    out.dscp = input.shown->dscp.value_or(code_point_for(out.priority, input.evidence));
    return out;
  }
  std::optional<PrioritySet> pfc;
  for (const Evidence& host : input.evidence) {
    for (const evidence::Nic& nic : host.nics)
      if (!pfc && nic.qos.pfc.is_known() && nic.qos.pfc->count() == 1) pfc = *nic.qos.pfc;
  }
  if (const auto sent = contradicted_mark(input, pfc)) {
    if (is_paused_by_switch(input, *pfc)) return out;  // the marking is wrong
    out.dscp = sent->first;
    out.priority = sent->second;
    return out;
  }
  if (const auto used = dscp_in_use(input)) {
    out.dscp = *used;
  } else if (const auto planned = dscp_of_site(input, out.priority)) {
    out.dscp = *planned;
  }
  if (!pfc || pfc->contains(out.priority)) return out;
  const Priority only = Priority::of(static_cast<unsigned>(std::countr_zero(pfc->mask())));
  // What is sent and what is protected agree: the site has a plan of its own. What is sent in the
  // usual priority is not protected.
  const std::vector<Dscp> said = dscps_said(input);
  for (const Priority priority : {only, out.priority}) {
    for (const Dscp dscp : said) {
      if (!is_mapped_to(input.evidence, dscp, priority)) continue;
      out.dscp = dscp;
      out.priority = priority;
      return out;
    }
  }
  // Nobody says which priority RDMA uses: the one that is protected.
  out.priority = only;
  if (!dscp_in_use(input)) out.dscp = code_point_for(only, input.evidence);
  return out;
}

namespace {

/// A listing of a host's devices is in the text; outputs about single ones show those alone.
bool shows_all_devices(const PastedCase& input) {
  constexpr auto kOfAll =
      std::to_array<std::string_view>({"ibstat", "ibstatus", "ibv_devinfo", "rdma link"});
  std::size_t devices = 0;
  for (const Evidence& host : input.evidence)
    devices = std::max(devices, host.nics.size());
  if (input.paste.rows.lists_devices) return true;
  return devices > 1 &&
         std::any_of(input.paste.parts.begin(), input.paste.parts.end(),
                     [&](const readers::PastePart& part) {
                       return std::find(kOfAll.begin(), kOfAll.end(), part.tool) != kOfAll.end();
                     });
}

}  // namespace

finding::Judgement judge_pasted(const PastedCase& input) {
  finding::Judgement out = judge_settings(input);
  judge_firmware_dcbx(input, out);
  judge_fec(input, out);
  judge_fec_of_sisters(input, out);
  judge_events(input.paste.events, input.thresholds, out, input.paste.newest_day);
  judge_uses(input, out);
  for (const readers::PastePerftest& perftest : input.paste.perftests)
    judge_perftest(perftest, out);
  for (const readers::PasteCollective& collective : input.paste.collectives)
    judge_collective(collective, out);
  for (const readers::PasteCollective& collective : input.paste.collectives)
    judge_spread(collective, input.thresholds, out);
  judge_pings(input, out);
  judge_seen(input, out);
  judge_noted(input, out);
  const Dscp wanted = wanted_dscp(input);
  judge_rewritten(input.paste.captures, out);
  for (const readers::PasteCapture& capture : input.paste.captures)
    judge_capture(without_rewritten(capture, input.paste.captures), wanted, input.intent != nullptr,
                  out);
  if (!input.paste.job.is_empty()) {
    std::vector<Evidence> hosts;
    for (const Evidence& evidence : input.evidence)
      if (!evidence.nics.empty()) hosts.push_back(evidence);
    out =
        combined(std::move(out), judge_job({input.paste.job, input.intent, hosts, input.thresholds,
                                            nullptr, !shows_all_devices(input)}));
  }
  finding::settle(out);
  if (out.conclusion == finding::Conclusion::kHealthy)
    out.conclusion = finding::Conclusion::kInconclusive;  // a text shows a part, never all
  return out;
}

namespace {

// ---- pauses at ports of which nobody says what is behind them ----

struct PortPauses {
  const PortView* port = nullptr;
  std::string_view id;
  std::optional<unsigned> priority;
  std::uint64_t frames = 0;
};

/// The priority with most, or all of them together where a switch shows no priority.
PortPauses most_pauses(const PortView& port) {
  constexpr std::string_view kOne = "switch.prio.pause_rx.frames";
  constexpr std::string_view kAll = "switch.port.pause_rx.frames";
  PortPauses out{&port, kAll, std::nullopt, port.counts.of(kAll).value_or(0)};
  for (unsigned priority = 0; priority < Priority::kLimit; ++priority) {
    const std::uint64_t frames = port.counts.of(kOne, priority).value_or(0);
    if (frames > out.frames) out = {&port, kOne, priority, frames};
  }
  return out;
}

/// A port that receives far more pauses than its neighbours. Tables of switches show frames and no
/// times: of a window the rate tells, of one reading only that it is not zero.
///
/// A pause ends after 65,535 quanta of 512 bits (84 us at 400 Gb/s) unless it is renewed: 10,000
/// frames per second, half of which pause and half release, hold a port for at least 1 % of the
/// time even if each lasts no longer than a round trip of 2 us; renewed, they hold it all the time.
void judge_port_pauses(const View& view, finding::Judgement& out) {
  const finding::Thresholds& limits = view.thresholds();
  for (const std::string& name : view.switches()) {
    PortPauses worst;
    std::uint64_t all = 0;
    for (const PortView* port : view.ports_of(name)) {
      if (port->nic || port->peer || !port->counts.are_there()) continue;
      const PortPauses here = most_pauses(*port);
      all += here.frames;
      if (here.frames > worst.frames) worst = here;
    }
    if (worst.port == nullptr ||
        static_cast<double>(worst.frames) < limits.pauses_at_one_port * static_cast<double>(all))
      continue;
    const double seconds = static_cast<double>(worst.port->counts.window().raw()) / 1e12;
    const bool is_window = seconds > 0 && !view.is_read_once(worst.port->where());
    const double rate = is_window ? static_cast<double>(worst.frames) / seconds : 0;
    if (is_window ? rate < limits.storm_frames : worst.frames < limits.frames_noted) continue;
    finding::Where where = worst.port->where();
    if (worst.priority) where.priority = std::to_string(*worst.priority);
    const std::string place = fmt::format("{} {}", name, worst.port->name);
    Finding finding = finding::make_finding(
        "pfc.storm",
        is_window
            ? fmt::format("{} received {} PFC frames in {:.0f} s, {} per second: the device at "
                          "this port pauses it again and again.",
                          place, count_text(worst.frames), seconds,
                          count_text(static_cast<std::uint64_t>(rate)))
        : view.is_read_once(worst.port->where())
            ? fmt::format("{} received {} PFC frames since its counters were cleared, most of "
                          "those that {} received: whether they still come one reading does "
                          "not show.",
                          place, count_text(worst.frames), name)
            : fmt::format("{} received {} PFC frames between the readings, most of those that {} "
                          "received: how long it was the text does not show.",
                          place, count_text(worst.frames), name),
        std::move(where));
    finding.confidence = Confidence::kMedium;
    finding.severity = is_window ? Severity::kWarning : Severity::kInfo;
    finding.evidence.push_back(worst.port->counts.line(worst.id, worst.priority));
    if (!is_window)
      finding.evidence.push_back(
          {.line = "read the counters again after a minute under load, with the time beside them"});
    out.findings.push_back(std::move(finding));
  }
}

void warn_of_count(std::string_view id, std::string verdict, const NicView& nic,
                   std::string_view counter, finding::Judgement& out) {
  Finding finding = finding::make_finding(id, std::move(verdict), nic.where());
  finding.confidence = Confidence::kMedium;
  finding.severity = Severity::kWarning;
  finding.evidence.push_back(nic.counts.line(counter));
  out.findings.push_back(std::move(finding));
}

/// `ip -s link` counts broken frames and others in one number: it is not the cable for sure.
void judge_kernel_errors(const View& view, finding::Judgement& out) {
  constexpr std::string_view kErrors = "nic.netdev.rx_error.packets";
  const bool is_seen =
      std::any_of(out.findings.begin(), out.findings.end(),
                  [](const Finding& finding) { return finding.id == "link.physical_errors"; });
  for (const NicView& nic : view.nics()) {
    const std::uint64_t errors = nic.counts.of(kErrors).value_or(0);
    if (is_seen || errors == 0 || view.is_read_once(nic.where())) continue;
    warn_of_count("link.physical_errors",
                  fmt::format("{} counted {} receive errors between the readings: bad cable, optic "
                              "or port; ethtool -S says which kind.",
                              place_of(nic.where().host, nic.where().device), count_text(errors)),
                  nic, kErrors, out);
  }
}

/// The kernel counts each way: down and up again are two.
void judge_carrier_changes(const View& view, finding::Judgement& out) {
  constexpr std::string_view kChanges = "nic.link.carrier_change.events";
  for (const NicView& nic : view.nics()) {
    const std::uint64_t changes = nic.counts.of(kChanges).value_or(0);
    const bool is_said =
        std::any_of(out.findings.begin(), out.findings.end(),
                    [](const Finding& finding) { return finding.id == "link.flapping"; });
    if (is_said || changes <= view.thresholds().carrier_changes_told ||
        view.is_read_once(nic.where()))
      continue;
    Finding finding = finding::make_finding(
        "link.flapping",
        fmt::format("The carrier of {} changed {} times between the readings.",
                    place_of(nic.where().host, nic.where().device), count_text(changes)),
        nic.where());
    finding.confidence = Confidence::kHigh;
    finding.evidence.push_back(nic.counts.line(kChanges));
    out.findings.push_back(std::move(finding));
  }
}

/// Drops by class of service, which need not be the number of a priority: bnxt.
void judge_class_drops(const View& view, finding::Judgement& out) {
  constexpr std::string_view kDrops = "nic.cos.rx_discard.packets";
  for (const NicView& nic : view.nics()) {
    const std::uint64_t packets = nic.counts.sum(kDrops).value_or(0);
    if (packets == 0 || view.is_read_once(nic.where())) continue;
    warn_of_count("port.discards",
                  fmt::format("{} dropped {} received packets between the readings for lack of "
                              "buffer.",
                              place_of(nic.where().host, nic.where().device), count_text(packets)),
                  nic, kDrops, out);
  }
}

/// CNPs that are sent without a code point are in the queue of everything else, and wait or are
/// dropped there. Where a text shows it, it comes before what they suffer.
void judge_cnp_marking(const View& view, finding::Judgement& out) {
  constexpr std::string_view kSent = "nic.np.cnp_sent.packets";
  for (const NicView& nic : view.nics()) {
    const bool is_unmarked = nic.facts != nullptr && nic.facts->ecn.cnp_dscp.is(Dscp::of(0)) &&
                             !nic.facts->ecn.cnp_priority.is(Priority::of(view.cnp()));
    const std::uint64_t sent = nic.counts.of(kSent).value_or(0);
    if (!is_unmarked || sent < view.thresholds().cnps_sent_that_matter ||
        view.is_read_once(nic.where()))
      continue;
    Finding finding = finding::make_finding(
        "cnp.wrong_class",
        fmt::format("{} sent {} CNPs with DSCP 0: they are in the queue of all other traffic.",
                    place_of(nic.where().host, nic.where().device), count_text(sent)),
        nic.where());
    finding.severity = Severity::kError;
    finding.confidence = Confidence::kHigh;
    finding.evidence = {{.source = nic.facts->ecn.cnp_dscp.source(), .line = "CNP DSCP: 0"},
                        nic.counts.line(kSent)};
    out.findings.push_back(std::move(finding));
  }
}

/// Switches balance per packet, and a NIC that takes packets in order only gets them out of it:
/// what its counters call loss is none.
void judge_ordering(const readers::Paste& paste, const View& view, finding::Judgement& out) {
  constexpr std::string_view kDisorder = "nic.resp.out_of_sequence.packets";
  if (!paste.balances) return;
  for (const NicView& nic : view.nics()) {
    const auto ordering =
        std::find_if(paste.orderings.begin(), paste.orderings.end(),
                     [&](const readers::PasteOrdering& item) { return item.host == nic.host; });
    const std::uint64_t packets = nic.counts.of(kDisorder).value_or(0);
    if (ordering == paste.orderings.end() || ordering->takes_any ||
        packets < view.thresholds().disorder_without_loss || view.is_read_once(nic.where()) ||
        nic.counts.of("nic.req.ack_timeout.events").value_or(0) > 0)
      continue;
    Finding finding = finding::make_finding(
        "path.reordering",
        fmt::format("{} got {} packets out of order: the switches balance per packet, and this NIC "
                    "is not set to take that (adaptive_routing_forced_en).",
                    place_of(nic.where().host, nic.where().device), count_text(packets)),
        nic.where());
    finding.severity = Severity::kError;
    finding.confidence = Confidence::kHigh;
    finding.evidence = {line_of(*paste.balances), line_of(ordering->at),
                        nic.counts.line(kDisorder)};
    out.findings.push_back(std::move(finding));
  }
}

/// The same of switch ports that count all errors together.
void judge_port_errors(const View& view, finding::Judgement& out) {
  constexpr std::string_view kErrors = "switch.port.rx_error.packets";
  const bool is_seen =
      std::any_of(out.findings.begin(), out.findings.end(),
                  [](const Finding& finding) { return finding.id == "link.physical_errors"; });
  for (const PortView& port : view.ports()) {
    const std::uint64_t errors = port.counts.of(kErrors).value_or(0);
    if (is_seen || errors == 0 || view.is_read_once(port.where())) continue;
    Finding finding = finding::make_finding(
        "link.physical_errors",
        fmt::format("{} {} counted {} receive errors between the readings: bad cable, optic or "
                    "port, or frames above its MTU.",
                    port.switch_name, port.name, count_text(errors)),
        port.where());
    finding.confidence = Confidence::kMedium;
    finding.severity = Severity::kWarning;
    finding.evidence.push_back(port.counts.line(kErrors));
    out.findings.push_back(std::move(finding));
  }
}

/// The view takes the protected priority for that of RDMA; where the job's settings say another
/// one, and the NICs map it so, what it says of the map is wrong.
void drop_guessed_map(const PastedCase& pasted, const View& view, finding::Judgement& out) {
  if (pasted.intent != nullptr) return;
  const Convention plan = convention_of(pasted);
  if (plan.priority.value() == view.rdma() ||
      !is_mapped_to(pasted.evidence, plan.dscp, plan.priority))
    return;
  std::erase_if(out.findings,
                [](const Finding& finding) { return finding.id == "dscp.nic_map_wrong"; });
}

finding::Judgement judge_counts(const PastedCase& pasted, const View& view) {
  finding::Judgement counted = diagnose(view);
  drop_guessed_map(pasted, view, counted);
  const bool is_seen =
      std::any_of(counted.findings.begin(), counted.findings.end(), [](const Finding& finding) {
        return finding.id.starts_with("pfc.") || finding.id == "receiver.slow";
      });
  if (!is_seen) judge_port_pauses(view, counted);
  judge_switches(view, pasted.paste, counted);
  judge_relations(pasted, view, counted);
  judge_kernel_errors(view, counted);
  judge_carrier_changes(view, counted);
  judge_port_errors(view, counted);
  judge_class_drops(view, counted);
  judge_cnp_marking(view, counted);
  judge_ordering(pasted.paste, view, counted);
  if (counted.count(Severity::kError) + counted.count(Severity::kWarning) > 0)
    counted.conclusion = finding::Conclusion::kFindings;
  weigh_counts(pasted, counted);
  if (view.has_counters()) return counted;
  // Without counters every rule would say so; once is enough.
  const auto is_of_a_rule = [](const finding::Unknown& unknown) {
    return unknown.check != "behaviour";
  };
  counted.unknown.erase(
      std::remove_if(counted.unknown.begin(), counted.unknown.end(), is_of_a_rule),
      counted.unknown.end());
  return counted;
}

/// A line of the text itself, not one in our own words.
bool is_quoted(const readers::Paste& paste, const finding::EvidenceLine& line) {
  return std::any_of(paste.words.begin(), paste.words.end(), [&](const readers::Cited& word) {
    return line.source == fmt::format("{}:{}", word.file, word.line);
  });
}

/// A point of a list with code in quotes, or a row of a table: what people write in a runbook, not
/// what a host was set to.
bool is_lesson(std::string_view line) {
  line = trim(line);
  const std::size_t digits = line.find_first_not_of("0123456789");
  const bool is_numbered =
      digits > 0 && digits < line.size() && (line[digits] == '.' || line[digits] == ')');
  const bool is_point =
      is_numbered || line.starts_with("- ") || line.starts_with("* ") || line.starts_with('|');
  return is_point && line.find('`') != std::string_view::npos;
}

/// Every switch that shows its RoCE mode is lossy: PFC is off on purpose.
void soften_lossy(const readers::Paste& paste, finding::Judgement& out) {
  const auto& modes = paste.roce_modes;
  if (modes.empty() ||
      std::any_of(modes.begin(), modes.end(), [](const auto& mode) { return mode.is_lossless; }))
    return;
  for (Finding& finding : out.findings)
    if (finding.id == "pfc.off") finding.severity = Severity::kInfo;
}

void sort_by_severity(finding::Judgement& out) {
  std::stable_sort(out.findings.begin(), out.findings.end(),
                   [](const Finding& a, const Finding& b) { return a.severity > b.severity; });
}

/// A job exports a list of devices of which a listing of two or more shows none.
bool exports_strangers(std::span<const Evidence> hosts, const Finding& finding) {
  if (finding.evidence.empty() || !trim(finding.evidence.front().line).starts_with("export "))
    return false;
  std::size_t devices = 0;
  for (const Evidence& host : hosts)
    for (const evidence::Nic& nic : host.nics) {
      if (finding.evidence.front().line.find(nic.device) != std::string::npos) return false;
      ++devices;
    }
  return devices > 1;
}

/// A variable in a description of trouble may be one that was tried: what is only odd about it is a
/// note. A transfer that got no answer is the symptom itself.
void soften_described(const PastedCase& input, finding::Judgement& out) {
  const readers::Paste& paste = input.paste;
  const bool is_described = !paste.words.empty() && paste.job.processes.empty();
  for (Finding& finding : out.findings) {
    const bool is_lint =
        finding.id == "job.bad_value" ||
        (finding.id == "nccl.hca_unknown" && !exports_strangers(input.evidence, finding)) ||
        finding.id == "failover.window_too_short" ||
        (finding.id == "lag.too_few_qps" && finding.severity < Severity::kError) ||
        (finding.id == "job.env_typo" && finding.confidence < Confidence::kHigh);
    const bool is_symptom = finding.id == "transport.retries_exhausted";
    const bool is_tried = !finding.evidence.empty() && is_quoted(paste, finding.evidence.front()) &&
                          readers::is_hearsay(finding.evidence.front().line);
    const bool is_mentioned = !finding.evidence.empty() && is_lesson(finding.evidence.front().line);
    if ((is_described && (is_lint || is_tried)) || is_symptom || is_mentioned)
      finding.severity = Severity::kInfo;
  }
  sort_by_severity(out);
}

/// A container without RDMA devices: which of the host's devices a job names does not matter there.
void soften_without_devices(const readers::Paste& paste, finding::Judgement& out) {
  const auto is_missing = [](const readers::Cited& line) {
    return line.text.find("/dev/infiniband") != std::string::npos &&
           line.text.find("No such file") != std::string::npos;
  };
  const auto line = std::find_if(paste.words.begin(), paste.words.end(), is_missing);
  if (line == paste.words.end()) return;
  for (Finding& finding : out.findings) {
    if (finding.id == "nccl.hca_unknown") finding.severity = Severity::kInfo;
    if (finding.id == "nccl.socket_fallback") finding.evidence.push_back(line_of(*line));
  }
  sort_by_severity(out);
}

/// How people say what a number was before, or ought to be.
constexpr auto kUsualWords = std::to_array<std::string_view>(
    {" was ", " were ", " used to ", " expected ", " expect ", " should ", " before", " last ",
     " normally ", " usually ", " yesterday", " earlier", " instead of ", " down from "});

struct Explained {
  std::string_view cause;
  std::string_view effect;
};
/// Packets that are balanced one by one arrive out of order, and counters call it loss; a port that
/// speaks InfiniBand does not come up at an Ethernet switch; a timer below the round trip ends each
/// transfer, not only those over a link that failed.
constexpr auto kExplained =
    std::to_array<Explained>({{"path.reordering", "path.loss"},
                              {"link.infiniband", "link.degraded"},
                              {"routing.bgp_down", "ecmp.imbalance"},
                              {"transport.timer_below_rtt", "failover.window_too_short"}});

/// A queue that the watchdog still holds although no pause arrives is no storm.
void soften_storms_that_ended(finding::Judgement& out) {
  for (const Finding& stuck : out.findings) {
    if (stuck.id != "watchdog.stuck" || stuck.severity == Severity::kInfo) continue;
    for (Finding& finding : out.findings)
      if (finding.id == "pfc.storm" && finding.where.switch_name == stuck.where.switch_name &&
          finding.where.port == stuck.where.port)
        finding.severity = Severity::kInfo;
  }
}

/// The link of a NIC whose firmware stopped goes down with it.
void soften_links_of_failed(finding::Judgement& out) {
  for (const Finding& failed : out.findings) {
    if (failed.id != "nic.failed" || failed.severity == Severity::kInfo) continue;
    for (Finding& finding : out.findings)
      if (finding.id == "link.degraded" && finding.where.host == failed.where.host)
        finding.severity = Severity::kInfo;
  }
}

void soften_explained(finding::Judgement& out) {
  for (const Explained& pair : kExplained) {
    const bool is_there =
        std::any_of(out.findings.begin(), out.findings.end(), [&](const Finding& finding) {
          return finding.id == pair.cause && finding.severity > Severity::kInfo;
        });
    for (Finding& finding : out.findings)
      if (is_there && finding.id == pair.effect) finding.severity = Severity::kInfo;
  }
  soften_links_of_failed(out);
  soften_storms_that_ended(out);
  sort_by_severity(out);
}

/// Literal statements in the words; what they name of an application is not the fabric's.
finding::Judgement judge_stated(const readers::Paste& paste, const finding::Thresholds& limits) {
  finding::Judgement out;
  // What a reader took was understood, and is judged as what it is. The words of a long text have
  // no such lines.
  const bool is_short = paste.words.size() > paste.rest.size();
  std::vector<readers::Cited> lines;
  std::copy_if(paste.words.begin(), paste.words.end(), std::back_inserter(lines),
               [&](const readers::Cited& line) { return !is_short || !paste.is_read(line); });
  out.findings = stated_faults(lines, paste.words, limits);
  finding::settle(out);
  const bool is_not_fabric =
      !out.findings.empty() &&
      std::all_of(out.findings.begin(), out.findings.end(),
                  [](const Finding& finding) { return finding.id.starts_with("app."); });
  const bool is_foreign =
      std::any_of(out.findings.begin(), out.findings.end(),
                  [](const Finding& finding) { return finding.id == "app.not_fabric"; }) &&
      out.count(Severity::kError) + out.count(Severity::kWarning) == 0;
  if (is_not_fabric || is_foreign) out.conclusion = finding::Conclusion::kNotFabric;
  return out;
}

/// A link that a job saw fail and that the kernel's log of the same host shows going down is one
/// finding, at the place that the kernel names.
void merge_link_events(finding::Judgement& out) {
  for (std::size_t i = 0; i < out.findings.size(); ++i) {
    const Finding& job = out.findings[i];
    if (job.id != "link.flapping" || job.where.file.empty() || job.where.host.empty()) continue;
    const auto same =
        std::find_if(out.findings.begin(), out.findings.end(), [&](const Finding& other) {
          return other.id == job.id && other.where.file.empty() &&
                 other.where.host == job.where.host;
        });
    if (same == out.findings.end()) continue;
    same->severity = std::max(same->severity, job.severity);
    for (const finding::EvidenceLine& line : job.evidence)
      same->evidence.push_back(line);
    out.findings.erase(out.findings.begin() + static_cast<std::ptrdiff_t>(i));
    --i;
  }
}

/// What a process died of comes before what its peers saw of it.
void put_cause_first(finding::Judgement& out) {
  if (out.conclusion != finding::Conclusion::kNotFabric) return;
  std::stable_partition(out.findings.begin(), out.findings.end(),
                        [](const Finding& finding) { return finding.id == "app.not_fabric"; });
}

/// A bandwidth that the words around a result call usual or expected, and that it does not reach.
std::optional<std::pair<double, readers::Cited>> stated_bandwidth(
    const readers::Paste& paste, double measured, const finding::Thresholds& limits) {
  for (const readers::Cited& line : paste.words) {
    std::string text = " " + line.text + " ";
    std::transform(text.begin(), text.end(), text.begin(), [](char c) {
      return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
    });
    const bool compares =
        std::any_of(kUsualWords.begin(), kUsualWords.end(),
                    [&](std::string_view word) { return text.find(word) != std::string::npos; });
    if (!compares) continue;
    for (const std::string_view word : readers::words_of(line.text)) {
      double value = 0;
      const auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), value);
      const bool is_larger = error == std::errc() && value * limits.slow_pair > measured;
      if (is_larger && value < measured * limits.other_quantity) return std::pair(value, line);
    }
  }
  return std::nullopt;
}

/// A result says how fast it was, not why.
void judge_results(const readers::Paste& paste, const View& view, finding::Judgement& out) {
  if (view.has_counters() || out.conclusion != finding::Conclusion::kInconclusive) return;
  constexpr std::string_view kHow =
      "the job's log with NCCL_DEBUG=INFO, counters of the hosts around a run (weir snapshot), "
      "speed and PCIe width of every rail (mlxlink, lspci -vv), the same test between two hosts";
  for (const readers::PasteCollective& item : paste.collectives) {
    double best = 0;
    for (const readers::CollectiveRow& row : item.report.rows)
      best = std::max(best, row.bus_bandwidth);
    if (best <= 0) continue;
    const auto usual = stated_bandwidth(paste, best, view.thresholds());
    out.unknown.push_back(
        {usual ? fmt::format("why it is {:.0f} GB/s and not {:.0f}", best, usual->first)
               : std::string("whether this bandwidth is what the fabric can do"),
         usual ? "the result and what is said of it differ, and nothing shows the cause"
               : "a result says how fast it was, and not what limits it",
         std::string(kHow), usual.has_value()});
    return;
  }
}

/// Ranks with different releases of NCCL: how the job was packed, not the fabric.
bool is_packaging(const Finding& finding) {
  return finding.id == "job.rank_differs" && finding.verdict.starts_with("NCCL version: ");
}

/// A job began to connect its ranks and did not come to the end of it: that the scheduler ended it
/// at its time limit is no cause.
void look_at_hang(const readers::Paste& paste, finding::Judgement& out) {
  const auto begins = [](const readers::NcclProcess& process) { return !process.channels.empty(); };
  const auto is_done = [](const readers::NcclProcess& process) { return process.is_connected; };
  const auto& processes = paste.job.processes;
  if (std::none_of(processes.begin(), processes.end(), begins) ||
      std::any_of(processes.begin(), processes.end(), is_done))
    return;
  const std::size_t ended = std::erase_if(out.findings, [](const Finding& finding) {
    return finding.id == "app.not_fabric" &&
           finding.verdict.find("time limit") != std::string::npos;
  });
  if (ended == 0) return;
  if (out.conclusion == finding::Conclusion::kNotFabric)
    out.conclusion = finding::Conclusion::kInconclusive;
  out.unknown.push_back({"why the ranks do not connect",
                         "the log ends while they do, and shows no error",
                         "show_gids on both hosts, ping from each rail, ib_write_bw with and "
                         "without GPU memory, and the log of each rank with NCCL_DEBUG=INFO",
                         true});
}

/// What is loud is that packets were lost, at no place that is shown: a symptom, and no answer.
bool is_loss_alone(const finding::Judgement& out) {
  return std::all_of(out.findings.begin(), out.findings.end(), [](const Finding& finding) {
    return finding.severity == Severity::kInfo ||
           (finding.id == "path.loss" && finding.where.switch_name.empty());
  });
}

/// A job could not register memory, and nothing else is loud: a limit of its host. Where a shell
/// alone shows a limit it may have another cause.
bool is_memory_alone(const finding::Judgement& out) {
  constexpr std::string_view kLow = "limits.memlock_low";
  const bool is_alone =
      std::all_of(out.findings.begin(), out.findings.end(), [&](const Finding& finding) {
        return finding.severity == Severity::kInfo || finding.id == kLow;
      });
  return is_alone &&
         std::any_of(out.findings.begin(), out.findings.end(), [&](const Finding& finding) {
           return finding.id == kLow &&
                  std::any_of(finding.evidence.begin(), finding.evidence.end(),
                              [](const finding::EvidenceLine& line) {
                                return line.line.find("Cannot allocate memory") !=
                                       std::string::npos;
                              });
         });
}

/// Which conclusion the findings allow, now that some are notes.
void conclude(finding::Judgement& out) {
  using finding::Conclusion;
  const bool is_foreign =
      std::any_of(out.findings.begin(), out.findings.end(),
                  [](const Finding& finding) { return finding.id == "app.not_fabric"; });
  const bool has_findings =
      std::any_of(out.findings.begin(), out.findings.end(),
                  [](const Finding& finding) { return finding.severity > Severity::kInfo; });
  const bool is_packed_wrong =
      has_findings &&
      std::all_of(out.findings.begin(), out.findings.end(), [](const Finding& finding) {
        return finding.severity == Severity::kInfo || is_packaging(finding);
      });
  if (is_packed_wrong || (has_findings && is_memory_alone(out)))
    out.conclusion = Conclusion::kNotFabric;
  if (has_findings && is_loss_alone(out)) {
    out.conclusion = Conclusion::kInconclusive;
    out.unknown.push_back(
        {"where the packets were lost", "hosts count the loss, and nothing shows its place",
         "of each switch on the path: drops by queue and priority group, CRC errors, the state of "
         "PFC and its counters, the map of RDMA's DSCP, and whether it balances per packet; of "
         "both "
         "hosts: PFC and trust",
         true});
  }
  if (!has_findings && (out.conclusion == Conclusion::kFindings || is_foreign))
    out.conclusion = is_foreign ? Conclusion::kNotFabric : Conclusion::kInconclusive;
  if (out.conclusion == Conclusion::kHealthy) out.conclusion = Conclusion::kInconclusive;
}

void add_related(const readers::Paste& paste, finding::Judgement& out) {
  std::string words;
  for (const readers::Cited& line : paste.words)
    words += line.text + "\n";
  // Enough of them that those already found can be left out.
  for (finding::Related& related :
       finding::search(words, finding::kMostRelated + out.findings.size())) {
    const bool is_found =
        std::any_of(out.findings.begin(), out.findings.end(), [&](const Finding& finding) {
          return finding.id == related.id && finding.severity > Severity::kInfo;
        });
    if (!is_found && out.related.size() < finding::kMostRelated)
      out.related.push_back(std::move(related));
  }
}

}  // namespace

namespace {

/// A port that is InfiniBand and down, in a text that speaks of Ethernet: it is set to the wrong
/// kind.
void judge_infiniband(const readers::Paste& paste, finding::Judgement& out) {
  const auto is_about = [](const readers::Cited& line) {
    return line.text.find("thernet") != std::string::npos ||
           line.text.find("RoCE") != std::string::npos;
  };
  const auto is_of_roce = [](const readers::JobVariable& variable) {
    return variable.name == "NCCL_IB_TC" || variable.name == "NCCL_IB_GID_INDEX" ||
           variable.name == "UCX_IB_TRAFFIC_CLASS";
  };
  if (!std::any_of(paste.rest.begin(), paste.rest.end(), is_about) &&
      !std::any_of(paste.job.variables.begin(), paste.job.variables.end(), is_of_roce))
    return;
  for (Finding& finding : out.findings) {
    const bool is_down =
        std::any_of(out.findings.begin(), out.findings.end(), [&](const Finding& other) {
          return other.id == "link.degraded" && other.where.host == finding.where.host &&
                 other.where.device == finding.where.device;
        });
    if (finding.id == "link.infiniband" && is_down)
      finding.severity = std::max(finding.severity, Severity::kWarning);
  }
}

/// A round trip that was measured and buffers that are too small for it: one stream cannot fill
/// the line.
void judge_round_trips(const PastedCase& pasted, finding::Judgement& out) {
  for (const readers::PastePing& ping : pasted.paste.pings) {
    if (ping.round_trip_ms < pasted.thresholds.tcp_round_trip) continue;
    for (Finding& finding : out.findings) {
      if (finding.id != "host.tcp_untuned" || finding.where.host != ping.host) continue;
      finding.severity = std::max(finding.severity, Severity::kWarning);
      finding.evidence.push_back(line_of(ping.at));
      finding.evidence.back().line += fmt::format(": round trip {:g} ms", ping.round_trip_ms);
    }
  }
}

}  // namespace

namespace {

/// The job's timer, 4.096 us times a power of two (IBTA volume 1, 9.9.2.1.1, local ACK timeout),
/// ends before an answer can have come over the path that a ping measured.
void judge_timers(const PastedCase& pasted, finding::Judgement& out) {
  for (const readers::JobVariable& variable : pasted.paste.job.variables) {
    const auto power =
        variable.name == "NCCL_IB_TIMEOUT" ? readers::parse_count(variable.value) : std::nullopt;
    if (!power || *power == 0 || *power > 31) continue;                  // a field of five bits
    const double timer = static_cast<double>(4'096ULL << *power) / 1e6;  // ms
    for (const readers::PastePing& ping : pasted.paste.pings) {
      if (ping.round_trip_ms <= timer) continue;
      Finding finding = finding::make_finding(
          "transport.timer_below_rtt",
          fmt::format("NCCL_IB_TIMEOUT={} sends again after {:.3g} ms; the round trip to {} takes "
                      "{:.3g} ms.",
                      variable.value, timer, ping.target, ping.round_trip_ms),
          where_of(ping.host, ""));
      finding.confidence = Confidence::kHigh;
      finding.evidence = {line_of(variable.at), line_of(ping.at)};
      out.findings.push_back(std::move(finding));
      return;
    }
  }
}

}  // namespace

finding::Judgement diagnose_paste(const readers::Paste& paste, const View& view) {
  const PastedCase pasted{paste, view.evidence(), view.intent(), view.thresholds(),
                          view.shown_class() ? &*view.shown_class() : nullptr};
  finding::Judgement out = judge_pasted(pasted);
  if (!view.evidence().empty()) {
    out = combined(judge_counts(pasted, view), std::move(out));
  } else {
    judge_relations(pasted, view, out);  // of what is noted there need be no evidence
  }
  out = combined(std::move(out), judge_stated(paste, view.thresholds()));
  judge_rows_and_counts(pasted, view, out);
  judge_infiniband(paste, out);
  judge_round_trips(pasted, out);
  judge_timers(pasted, out);
  if (pasted.intent == nullptr) {
    soften_spare_ports(pasted.evidence, out.findings);
    soften_disabled_ports(pasted, out.findings);
    soften_empty_ports(pasted, out.findings);
  }
  soften_explained(out);
  soften_described(pasted, out);
  rank_causes(pasted, out);
  soften_without_devices(paste, out);
  soften_lossy(paste, out);
  soften_fixed(paste, out);
  const bool is_unanswered = std::any_of(
      out.findings.begin(), out.findings.end(),
      [](const Finding& finding) { return finding.id == "transport.retries_exhausted"; });
  if (is_unanswered)
    out.unknown.push_back({"why the peer did not answer", "a symptom of many faults",
                           "the peer's process and log, link state and drop counters of both ends, "
                           "show_gids on both, ping -M do -s 4092 between them"});
  merge_link_events(out);
  look_at_hang(paste, out);
  conclude(out);
  put_cause_first(out);
  judge_results(paste, view, out);
  if (!paste.has_tools() && paste.job.is_empty() && out.findings.empty())
    out.unknown.push_back({"the cause", "no known output, setting or error line in the text",
                           "counters of both ends around the load (weir snapshot), the job's log "
                           "with NCCL_DEBUG=INFO, and weir validate on both hosts"});
  // With nothing but warnings the answer is open: a text shows a part.
  const bool is_open =
      std::any_of(out.unknown.begin(), out.unknown.end(),
                  [](const finding::Unknown& unknown) { return unknown.is_required; });
  if (!is_open && out.conclusion == finding::Conclusion::kFindings &&
      out.count(Severity::kError) == 0)
    out.unknown.push_back(
        {"behaviour",
         view.has_counters() ? "a text shows a part of the fabric" : "no counters were given",
         "two snapshots around a load: weir snapshot, or weir verify"});
  if (paste.left_out > 0)
    out.unknown.push_back(
        {fmt::format("{} more lines of one kind", paste.left_out),
         fmt::format("at most {} lines of one kind, and {} addresses, are compared with each other",
                     readers::kMostNoted, readers::kMostBindings),
         "diagnose the text in parts: by switch, or by host"});
  add_related(paste, out);
  return out;
}

namespace {

/// A job's log, or words around the outputs, speak of a failure.
bool speaks_of_failure(const readers::Paste& paste) {
  const auto has_failed = [](const readers::NcclProcess& process) {
    return !process.failures.empty();
  };
  if (!paste.job.messages.empty() ||
      std::any_of(paste.job.processes.begin(), paste.job.processes.end(), has_failed))
    return true;
  return std::any_of(paste.rest.begin(), paste.rest.end(), [](const readers::Cited& line) {
    for (const std::string_view word :
         {"rror", "ERROR", "fail", "Fail", "FAIL", "timed out", "timeout", "Traceback", "WARN"})
      if (line.text.find(word) != std::string::npos) return true;
    return false;
  });
}

}  // namespace

bool shows_nothing_wrong(const readers::Paste& paste, const finding::Judgement& judgement) {
  // A line of a known output that could not be parsed may be the one that matters.
  if (!paste.has_tools() || !paste.unread.empty() ||
      judgement.conclusion != finding::Conclusion::kInconclusive)
    return false;
  // A test or a job that failed is a symptom, whatever its cause.
  const bool has_symptom =
      std::any_of(judgement.findings.begin(), judgement.findings.end(), [](const Finding& finding) {
        return finding.severity > Severity::kInfo || finding.id == "transport.retries_exhausted" ||
               finding.id == "app.receives_too_few" || finding.id == "peer.dead" ||
               finding.id == "app.protocol_error";
      });
  const bool has_failed =
      std::any_of(
          paste.perftests.begin(), paste.perftests.end(),
          [](const readers::PastePerftest& test) { return !test.report.problems.empty(); }) ||
      std::any_of(paste.pings.begin(), paste.pings.end(),
                  [](const readers::PastePing& ping) { return ping.replies < ping.sent; }) ||
      std::any_of(paste.collectives.begin(), paste.collectives.end(),
                  [](const readers::PasteCollective& test) {
                    return test.report.is_failed || test.report.out_of_bounds.value_or(0) > 0;
                  });
  // A person says that it was faster.
  const bool is_slower = std::any_of(
      judgement.unknown.begin(), judgement.unknown.end(),
      [](const finding::Unknown& unknown) { return unknown.check.starts_with("why it is "); });
  return !has_symptom && !has_failed && !is_slower && !speaks_of_failure(paste);
}

finding::Judgement combined(finding::Judgement first, finding::Judgement second) {
  using finding::Conclusion;
  const auto either = [&](Conclusion conclusion) {
    return first.conclusion == conclusion || second.conclusion == conclusion;
  };
  // A suspicion below an open answer stays one: it makes no finding of the whole.
  const Conclusion conclusion = either(Conclusion::kFindings)       ? Conclusion::kFindings
                                : either(Conclusion::kNotFabric)    ? Conclusion::kNotFabric
                                : either(Conclusion::kInconclusive) ? Conclusion::kInconclusive
                                                                    : Conclusion::kHealthy;
  SameFaults faults(first.findings);
  for (Finding& finding : second.findings) {
    const auto at = faults.find(finding);
    if (!at) {
      first.findings.push_back(std::move(finding));
      faults.note(first.findings.size() - 1);
      continue;
    }
    Finding* const same = &first.findings[*at];
    if (finding.confidence > same->confidence) {
      std::swap(finding, *same);
      faults.note(*at);
    }
    same->severity = std::max(same->severity, finding.severity);
    for (finding::EvidenceLine& line : finding.evidence)
      if (std::find(same->evidence.begin(), same->evidence.end(), line) == same->evidence.end())
        same->evidence.push_back(std::move(line));
  }
  std::set<std::string> checks;
  for (const finding::Unknown& unknown : first.unknown)
    checks.insert(unknown.check);
  for (finding::Unknown& unknown : second.unknown)
    if (checks.insert(unknown.check).second) first.unknown.push_back(std::move(unknown));
  for (std::string& text : second.next)
    if (std::find(first.next.begin(), first.next.end(), text) == first.next.end())
      first.next.push_back(std::move(text));
  std::stable_sort(first.findings.begin(), first.findings.end(),
                   [](const Finding& a, const Finding& b) {
                     if (a.severity != b.severity) return a.severity > b.severity;
                     return a.confidence > b.confidence;
                   });
  first.conclusion = conclusion;
  return first;
}

}  // namespace weir::diagnose

#include "diagnose/behaviour/load.h"

#include <algorithm>

#include <fmt/format.h>

#include "diagnose/core/diagnose.h"
#include "finding/catalog.h"
#include "units/format.h"

namespace weir::diagnose {
namespace {

std::string bytes_text(std::uint64_t count) {
  return approximate(Bytes::raw(static_cast<std::int64_t>(count)));
}

bool has_host(const design::Intent* intent, const std::string& name) {
  return intent != nullptr &&
         std::any_of(intent->hosts.begin(), intent->hosts.end(),
                     [&](const design::HostIntent& host) { return host.name == name; });
}

// ---- what flowed where ----

std::optional<std::uint64_t> first_of(const Counts& counts,
                                      std::initializer_list<std::string_view> ids) {
  for (const std::string_view id : ids)
    if (const auto value = counts.of(id)) return value;
  return std::nullopt;
}

std::optional<std::uint64_t> sum_of(std::optional<std::uint64_t> a,
                                    std::optional<std::uint64_t> b) {
  if (!a && !b) return std::nullopt;
  return a.value_or(0) + b.value_or(0);
}

std::vector<DeviceTraffic> traffic_of(const View& view, const design::Intent* intent) {
  std::vector<DeviceTraffic> devices;
  for (const NicView& nic : view.nics()) {
    const Counts& counts = nic.counts;
    DeviceTraffic traffic{
        .host = nic.host,
        .device = nic.device,
        .is_designed = nic.wanted != nullptr || !has_host(intent, nic.host),
        .tx_bytes = first_of(counts, {"nic.rdma.tx_unicast.bytes", "nic.rdma.tx.bytes"}),
        .rx_bytes = first_of(counts, {"nic.rdma.rx_unicast.bytes", "nic.rdma.rx.bytes"}),
        .packets = sum_of(first_of(counts, {"nic.rdma.tx_unicast.packets", "nic.rdma.tx.packets"}),
                          first_of(counts, {"nic.rdma.rx_unicast.packets", "nic.rdma.rx.packets"})),
        .tx_in_priority = counts.of("nic.prio.tx.bytes", view.rdma()),
        .rx_in_priority = counts.of("nic.prio.rx.bytes", view.rdma())};
    devices.push_back(std::move(traffic));
  }
  return devices;
}

std::optional<Volume> volume_of(const LoadClaim& claim, const View& view) {
  if (!claim.expected) return std::nullopt;
  Volume volume;
  volume.priority = view.rdma();
  volume.expected = *claim.expected;
  std::uint64_t in = 0;
  std::uint64_t out = 0;
  bool is_known = false;
  const bool is_in = claim.is_inbound && !claim.sees_all_ends;
  for (const NicView& nic : view.nics()) {
    for (unsigned priority = 0; priority < 8; ++priority) {
      const auto sent = nic.counts.of("nic.prio.tx.bytes", priority);
      const auto received = nic.counts.of("nic.prio.rx.bytes", priority);
      is_known = is_known || sent || received;
      const std::uint64_t there = is_in ? received.value_or(0) : sent.value_or(0);
      if (priority == view.rdma()) {
        out += sent.value_or(0);
        in += received.value_or(0);
      } else if (priority != view.cnp()) {
        volume.elsewhere += there;
      }
    }
  }
  if (!is_known) return std::nullopt;
  volume.rdma = is_in ? in : out;
  return volume;
}

// ---- judging ----

/// Nothing is known to be wrong, but not all is known.
void leave_open(finding::Judgement& judgement, finding::Unknown unknown) {
  judgement.unknown.push_back(std::move(unknown));
  if (judgement.conclusion == finding::Conclusion::kHealthy)
    judgement.conclusion = finding::Conclusion::kInconclusive;
}

/// Counters can only say that packets were not marked; how the program was called says why.
bool is_only_unmarked(const finding::Finding& found) {
  return found.id == "dscp.unmarked";
}

/// A program that says it moved RDMA data, and counters that saw it in another priority: that is a
/// fault whatever the settings are, unless a cause of it is known already.
void judge_volume(const LoadClaim& claim, const Volume& volume, Dscp rdma,
                  finding::Judgement& judgement) {
  // The wrong device is no reason for the wrong priority: both are said.
  const bool is_explained = judgement.conclusion == finding::Conclusion::kFindings &&
                            std::any_of(judgement.findings.begin(), judgement.findings.end(),
                                        [](const finding::Finding& found) {
                                          return found.id != "load.wrong_device" &&
                                                 !is_only_unmarked(found) &&
                                                 found.severity != finding::Severity::kInfo;
                                        });
  if (volume.is_there() || is_explained) return;
  const std::optional<unsigned>& tclass = claim.tclass;
  const bool is_confused = tclass && *tclass == rdma.value();
  const std::string how =
      is_confused ? fmt::format("--tclass={} is DSCP {}; the TOS byte of DSCP {} is {}", *tclass,
                                *tclass / 4, rdma.value(), tos_byte(rdma, weir::Ecn::kEct0).value())
      : tclass && *tclass / 4 == rdma.value()
          ? fmt::format(
                "--tclass={} is DSCP {} as designed, and the NIC sent it elsewhere: its "
                "map or its trust",
                *tclass, rdma.value())
      : tclass ? fmt::format("--tclass={} is DSCP {}, not {}", *tclass, *tclass / 4, rdma.value())
               : std::string("the program asked for no traffic class, so it sent DSCP 0");
  const bool is_map = tclass && *tclass / 4 == rdma.value() && !is_confused;
  finding::Finding finding = finding::make_finding(
      is_confused ? "dscp.tos_confusion"
      : is_map    ? "dscp.nic_map_wrong"
                  : "dscp.unmarked",
      fmt::format("The load did not travel in priority {}: {}.", volume.priority, how),
      {.host = claim.host});
  finding.evidence.push_back({.source = "the program and the counters",
                              .line = to_text(volume),
                              .counter = "nic.prio.tx.bytes",
                              .value = static_cast<std::int64_t>(volume.rdma)});
  for (const finding::Finding& other : judgement.findings)
    if (is_only_unmarked(other))
      finding.evidence.insert(finding.evidence.end(), other.evidence.begin(), other.evidence.end());
  std::erase_if(judgement.findings, is_only_unmarked);
  judgement.findings.push_back(std::move(finding));
  finding::settle(judgement);
}

finding::EvidenceLine device_line(const DeviceTraffic& traffic) {
  const std::string bytes =
      traffic.tx_bytes || traffic.rx_bytes
          ? fmt::format("{} sent, {} received", bytes_text(traffic.tx_bytes.value_or(0)),
                        bytes_text(traffic.rx_bytes.value_or(0)))
          : fmt::format("{} packets", traffic.packets.value_or(0));
  return {.source = traffic.host, .line = fmt::format("{}: {} over RDMA", traffic.device, bytes)};
}

void add_device_finding(const LoadClaim& claim, LoadJudgement& out, std::string_view id,
                        std::string verdict, const std::string& device) {
  finding::Finding finding =
      finding::make_finding(id, std::move(verdict), {.host = claim.host, .device = device});
  for (const DeviceTraffic& traffic : out.devices)
    if (traffic.host == claim.host) finding.evidence.push_back(device_line(traffic));
  out.judgement.findings.push_back(std::move(finding));
  finding::settle(out.judgement);
}

/// The program says that it moved data: did a device of this host, and the right one?
void judge_devices(const LoadClaim& claim, const Thresholds& limits, LoadJudgement& out) {
  std::vector<const DeviceTraffic*> here;
  for (const DeviceTraffic& traffic : out.devices)
    if (traffic.host == claim.host && traffic.is_known()) here.push_back(&traffic);
  if (here.empty()) return;
  const auto is_busy = [&](const DeviceTraffic* traffic) { return traffic->is_busy(limits); };
  const auto busy = std::find_if(here.begin(), here.end(), is_busy);
  if (busy == here.end() && claim.used_sockets)
    return add_device_finding(claim, out, "nccl.socket_fallback",
                              "NCCL ran over sockets (Using network Socket); no RDMA device "
                              "carried any traffic.",
                              "");
  if (busy == here.end() && claim.claims_data && claim.exit_status == 0)
    return add_device_finding(
        claim, out, "load.no_rdma",
        fmt::format("{} reports that it moved data, but no RDMA device of {} carried any.",
                    claim.program, claim.host),
        "");
  const auto meant = std::find_if(here.begin(), here.end(), [&](const DeviceTraffic* traffic) {
    return traffic->device == claim.device;
  });
  if (meant != here.end() && !(*meant)->is_busy(limits) && busy != here.end())
    return add_device_finding(
        claim, out, "load.wrong_device",
        fmt::format("{} reports that it used {}, whose counters did not move; {} carried the "
                    "traffic.",
                    claim.program, claim.device, (*busy)->device),
        claim.device);
  const auto other_device =
      std::find_if(here.begin(), here.end(), [&](const DeviceTraffic* traffic) {
        return traffic->is_busy(limits) && !traffic->is_designed;
      });
  if (other_device != here.end())
    add_device_finding(claim, out, "load.wrong_device",
                       fmt::format("{} carried the traffic, and the design has no rail on it.",
                                   (*other_device)->device),
                       (*other_device)->device);
}

/// In which priority it went is not known where nobody counts bytes by priority.
void judge_visibility(LoadJudgement& out) {
  const bool is_counted =
      std::any_of(out.devices.begin(), out.devices.end(),
                  [](const DeviceTraffic& traffic) { return traffic.tx_in_priority.has_value(); });
  if (is_counted || out.devices.empty()) return;
  leave_open(out.judgement,
             {"the priority of the load", "no device of this host counts its bytes by priority",
              "ethtool -S of a NIC that does (mlx5, bnxt), or the switch's queue counters"});
}

/// A load that failed proves nothing, whatever the counters look like.
void judge_exit(const LoadClaim& claim, finding::Judgement& judgement) {
  if (claim.exit_status == 0) return;
  leave_open(
      judgement,
      {"behaviour under load", fmt::format("the command failed with status {}", claim.exit_status),
       claim.problems.empty() ? "its output says why; run it by hand" : claim.problems.front()});
}

/// What ran on the host before the load is in the counters too: say so where it is much of them.
void judge_idle(const View& view, LoadJudgement& out) {
  for (const DeviceTraffic& idle : traffic_of(view, view.intent())) {
    const auto same =
        std::find_if(out.devices.begin(), out.devices.end(), [&](const DeviceTraffic& traffic) {
          return traffic.host == idle.host && traffic.device == idle.device;
        });
    if (same == out.devices.end() || !idle.is_busy(view.thresholds())) continue;
    const auto then = static_cast<double>(idle.packets.value_or(idle.tx_bytes.value_or(0)));
    const auto now = static_cast<double>(same->packets.value_or(same->tx_bytes.value_or(0)));
    if (then <= view.thresholds().busy_before * now) continue;
    out.judgement.unknown.push_back(
        {fmt::format("the load on {} alone", idle.device),
         fmt::format("it was not idle before: {}", device_line(idle).line),
         "stop what else runs on this host, or read the numbers as those of both", false});
  }
}

}  // namespace

std::string to_text(const Volume& volume) {
  return fmt::format(
      "The program moved {}; the NICs carried {} in priority {} and {} in others: {}.",
      approximate(volume.expected), bytes_text(volume.rdma), volume.priority,
      bytes_text(volume.elsewhere),
      volume.is_there() ? "all of it was in the RDMA priority"
                        : "NOT all of it was in the RDMA priority");
}

bool DeviceTraffic::is_busy(const Thresholds& limits) const {
  return tx_bytes.value_or(0) + rx_bytes.value_or(0) >= limits.bytes_that_matter ||
         packets.value_or(0) >= limits.packets_that_matter ||
         (!tx_bytes && !packets &&
          tx_in_priority.value_or(0) + rx_in_priority.value_or(0) >= limits.bytes_that_matter);
}

LoadJudgement judge_load(const View& view, const LoadClaim& claim,
                         std::span<const evidence::Evidence> idle) {
  LoadJudgement out{.questions = five_questions(view),
                    .observations = interpret(view),
                    .devices = traffic_of(view, view.intent()),
                    .volume = volume_of(claim, view),
                    .judgement = diagnose(view)};
  judge_devices(claim, view.thresholds(), out);
  if (out.volume) judge_volume(claim, *out.volume, view.rdma_dscp(), out.judgement);
  judge_visibility(out);
  judge_exit(claim, out.judgement);
  if (!idle.empty())
    judge_idle(View({.evidence = idle, .intent = view.intent(), .thresholds = view.thresholds()}),
               out);
  // A question without an answer, and a fabric without a problem, may not stand together.
  for (const Question& question : out.questions)
    if (question.answer == Answer::kUnknown &&
        out.judgement.conclusion == finding::Conclusion::kHealthy)
      leave_open(out.judgement, {question.question, question.sentence,
                                 "counters of the hosts before and after a load"});
  return out;
}

}  // namespace weir::diagnose

#include "cli/verbs/verify_load.h"

#include <algorithm>

#include <fmt/format.h>

#include "base/json.h"
#include "base/text.h"
#include "cli/frame/transition.h"
#include "cli/verbs/questions.h"
#include "finding/catalog.h"
#include "render/text/findings_text.h"
#include "units/format.h"

namespace weir::cli {
namespace {

using diagnose::NicView;
using diagnose::View;

std::string bytes_text(std::uint64_t count) {
  return approximate(Bytes::raw(static_cast<std::int64_t>(count)));
}

// ---- what flowed where ----

std::optional<std::uint64_t> first_of(const diagnose::Counts& counts,
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

std::vector<DeviceTraffic> traffic_of(const View& view, const design::Intent& intent) {
  std::vector<DeviceTraffic> devices;
  for (const NicView& nic : view.nics()) {
    const diagnose::Counts& counts = nic.counts;
    DeviceTraffic one{
        .host = nic.host,
        .device = nic.device,
        .is_designed = nic.wanted != nullptr || find_host(intent, nic.host) == nullptr,
        .tx_bytes = first_of(counts, {"nic.rdma.tx_unicast.bytes", "nic.rdma.tx.bytes"}),
        .rx_bytes = first_of(counts, {"nic.rdma.rx_unicast.bytes", "nic.rdma.rx.bytes"}),
        .packets = sum_of(first_of(counts, {"nic.rdma.tx_unicast.packets", "nic.rdma.tx.packets"}),
                          first_of(counts, {"nic.rdma.rx_unicast.packets", "nic.rdma.rx.packets"})),
        .tx_in_priority = counts.of("nic.prio.tx.bytes", view.rdma()),
        .rx_in_priority = counts.of("nic.prio.rx.bytes", view.rdma())};
    devices.push_back(std::move(one));
  }
  return devices;
}

std::optional<Volume> volume_of(const host::LoadReport& load, const View& view, bool sees_all) {
  if (!load.expected) return std::nullopt;
  Volume volume;
  volume.priority = view.rdma();
  volume.expected = *load.expected;
  std::uint64_t in = 0;
  std::uint64_t out = 0;
  bool is_known = false;
  const bool is_in = !sees_all && load.flow == host::Flow::kIn;
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

std::string volume_text(const Volume& volume) {
  return fmt::format(
      "The program moved {}; the NICs carried {} in priority {} and {} in others: {}.",
      approximate(volume.expected), bytes_text(volume.rdma), volume.priority,
      bytes_text(volume.elsewhere),
      volume.is_there() ? "all of it was in the RDMA priority"
                        : "NOT all of it was in the RDMA priority");
}

// ---- judging ----

/// Counters can only say that packets were not marked; how the program was called says why.
bool is_only_unmarked(const finding::Finding& one) {
  return one.id == "dscp.unmarked";
}

/// A program that says it moved RDMA data, and counters that saw it in another priority: that is a
/// fault whatever the settings are, unless a cause of it is known already.
void judge_volume(const Verified& verified, Dscp rdma, finding::Judgement& judgement) {
  const Volume& volume = *verified.volume;
  // The wrong device is no reason for the wrong priority: both are said.
  const bool is_explained = judgement.conclusion == finding::Conclusion::kFindings &&
                            std::any_of(judgement.findings.begin(), judgement.findings.end(),
                                        [](const finding::Finding& one) {
                                          return one.id != "load.wrong_device" &&
                                                 !is_only_unmarked(one) &&
                                                 one.severity != finding::Severity::kInfo;
                                        });
  if (volume.is_there() || is_explained) return;
  const auto& command = verified.load.perftest_command;
  const std::optional<unsigned> tclass = command ? command->tclass : std::nullopt;
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
      {.host = verified.drive.ran_on});
  finding.evidence.push_back({.source = "the program and the counters",
                              .line = volume_text(volume),
                              .counter = "nic.prio.tx.bytes",
                              .value = static_cast<std::int64_t>(volume.rdma)});
  for (const finding::Finding& one : judgement.findings)
    if (is_only_unmarked(one))
      finding.evidence.insert(finding.evidence.end(), one.evidence.begin(), one.evidence.end());
  std::erase_if(judgement.findings, is_only_unmarked);
  judgement.findings.push_back(std::move(finding));
  finding::settle(judgement);
}

finding::EvidenceLine device_line(const DeviceTraffic& one) {
  const std::string bytes =
      one.tx_bytes || one.rx_bytes
          ? fmt::format("{} sent, {} received", bytes_text(one.tx_bytes.value_or(0)),
                        bytes_text(one.rx_bytes.value_or(0)))
          : fmt::format("{} packets", one.packets.value_or(0));
  return {.source = one.host, .line = fmt::format("{}: {} over RDMA", one.device, bytes)};
}

void add_finding(Verified& verified, std::string_view id, std::string verdict,
                 const std::string& device) {
  finding::Finding finding = finding::make_finding(
      id, std::move(verdict), {.host = verified.drive.ran_on, .device = device});
  for (const DeviceTraffic& one : verified.devices)
    if (one.host == verified.drive.ran_on) finding.evidence.push_back(device_line(one));
  verified.judgement.findings.push_back(std::move(finding));
  finding::settle(verified.judgement);
}

/// The program says that it moved data: did a device of this host, and the right one?
void judge_devices(Verified& verified) {
  const bool claims = verified.load.perftest.is_there() || verified.load.collective.is_there();
  std::vector<const DeviceTraffic*> here;
  for (const DeviceTraffic& one : verified.devices)
    if (one.host == verified.drive.ran_on && one.is_known()) here.push_back(&one);
  if (here.empty()) return;
  const auto is_busy = [](const DeviceTraffic* one) { return one->is_busy(); };
  const bool any = std::any_of(here.begin(), here.end(), is_busy);
  if (!any && verified.load.collective.network == "Socket") {
    return add_finding(verified, "nccl.socket_fallback",
                       "NCCL ran over sockets (Using network Socket), and no RDMA device carried "
                       "anything.",
                       "");
  }
  if (!any && claims && !verified.is_failed()) {
    return add_finding(verified, "load.no_rdma",
                       fmt::format("{} says that it moved data, and no RDMA device of {} carried "
                                   "any: it went elsewhere.",
                                   verified.load.name(), verified.drive.ran_on),
                       "");
  }
  const std::string& named = verified.load.perftest.device;
  const auto meant = std::find_if(here.begin(), here.end(),
                                  [&](const DeviceTraffic* one) { return one->device == named; });
  const auto other = std::find_if(here.begin(), here.end(), is_busy);
  if (meant != here.end() && !(*meant)->is_busy() && other != here.end()) {
    return add_finding(verified, "load.wrong_device",
                       fmt::format("{} says it used {}, whose counters stood still; {} carried "
                                   "the traffic.",
                                   verified.load.name(), named, (*other)->device),
                       named);
  }
  const auto stranger = std::find_if(here.begin(), here.end(), [](const DeviceTraffic* one) {
    return one->is_busy() && !one->is_designed;
  });
  if (stranger != here.end()) {
    add_finding(verified, "load.wrong_device",
                fmt::format("{} carried the traffic, and the design has no rail on it.",
                            (*stranger)->device),
                (*stranger)->device);
  }
}

/// In which priority it went is not known where nobody counts bytes by priority.
void judge_visibility(Verified& verified) {
  const bool is_counted =
      std::any_of(verified.devices.begin(), verified.devices.end(),
                  [](const DeviceTraffic& one) { return one.tx_in_priority.has_value(); });
  if (is_counted || verified.devices.empty()) return;
  verified.judgement.unknown.push_back(
      {"the priority of the load", "no device of this host counts its bytes by priority",
       "ethtool -S of a NIC that does (mlx5, bnxt), or the switch's queue counters"});
  if (verified.judgement.conclusion == finding::Conclusion::kHealthy)
    verified.judgement.conclusion = finding::Conclusion::kInconclusive;
}

/// A load that failed proves nothing, whatever the counters look like.
void judge_exit(Verified& verified) {
  if (!verified.is_failed()) return;
  verified.judgement.unknown.push_back(
      {"behaviour under load",
       fmt::format("the command ended with status {} and did not do its work",
                   verified.drive.outcome.exit_status),
       verified.load.problems.empty() ? "what it printed says why; run it by hand"
                                      : verified.load.problems.front()});
  if (verified.judgement.conclusion == finding::Conclusion::kHealthy)
    verified.judgement.conclusion = finding::Conclusion::kInconclusive;
}

/// What ran on the host before the load is in the counters too: say so where it is much of them.
void judge_idle(Verified& verified, const design::Intent& intent) {
  if (verified.drive.idle.empty()) return;
  const diagnose::Case of{.evidence = verified.drive.idle, .intent = &intent};
  const View view(of);
  const std::vector<DeviceTraffic> before = traffic_of(view, intent);
  for (const DeviceTraffic& idle : before) {
    const auto same = std::find_if(verified.devices.begin(), verified.devices.end(),
                                   [&](const DeviceTraffic& one) {
                                     return one.host == idle.host && one.device == idle.device;
                                   });
    if (same == verified.devices.end() || !idle.is_busy()) continue;
    const double then = static_cast<double>(idle.packets.value_or(idle.tx_bytes.value_or(0)));
    const double now = static_cast<double>(same->packets.value_or(same->tx_bytes.value_or(0)));
    if (then <= view.thresholds().busy_before * now) continue;
    verified.judgement.unknown.push_back(
        {fmt::format("the load on {} alone", idle.device),
         fmt::format("it was not idle before: {}", device_line(idle).line),
         "stop what else runs on this host, or read the numbers as those of both"});
  }
}

// ---- printing ----

constexpr std::size_t kShownLines = 12;  // of a screen

void print_observations(const Verified& verified, Context& context) {
  const std::vector<std::string> lines = diagnose::summary_of(verified.observations);
  if (lines.empty()) return;
  context.out << "\nwhat the counters say:\n";
  for (std::size_t i = 0; i < std::min(lines.size(), kShownLines); ++i)
    context.out << "  " << hang(lines[i], 96, 4) << '\n';
  context.out << fmt::format("  {} moved in all; --json has every one\n",
                             counted(verified.observations.size(), "counter"));
}

Json device_json(const DeviceTraffic& one) {
  const auto number = [](const std::optional<std::uint64_t>& value) {
    return value ? Json(*value) : Json(nullptr);
  };
  return {{"host", one.host},
          {"device", one.device},
          {"designed", one.is_designed},
          {"tx_bytes", number(one.tx_bytes)},
          {"rx_bytes", number(one.rx_bytes)},
          {"packets", number(one.packets)},
          {"tx_in_priority", number(one.tx_in_priority)},
          {"rx_in_priority", number(one.rx_in_priority)}};
}

Json load_json(const host::LoadReport& load) {
  const auto microseconds = [](const std::optional<Duration>& time) {
    constexpr double kPicoseconds = 1e6;
    return time ? Json(static_cast<double>(time->raw()) / kPicoseconds) : Json(nullptr);
  };
  Json bandwidth = Json::array();
  for (const host::BandwidthRow& row : load.perftest.bandwidth)
    bandwidth.push_back({{"message_bytes", row.message.raw()},
                         {"iterations", row.iterations},
                         {"bps", row.average ? Json(row.average->raw()) : Json(nullptr)}});
  Json latency = Json::array();
  for (const host::LatencyRow& row : load.perftest.latency)
    latency.push_back({{"message_bytes", row.message.raw()},
                       {"iterations", row.iterations},
                       {"average_us", microseconds(row.average)},
                       {"median_us", microseconds(row.typical)},
                       {"p99_us", microseconds(row.p99)},
                       {"p999_us", microseconds(row.p999)},
                       {"max_us", microseconds(row.maximum)}});
  Json collective = nullptr;
  if (load.collective.is_there())
    collective = {{"ranks", load.collective.ranks},
                  {"hosts", load.collective.hosts},
                  {"bus_bandwidth_gbytes", load.collective.average_bus_bandwidth
                                               ? Json(*load.collective.average_bus_bandwidth)
                                               : Json(nullptr)},
                  {"network", load.collective.network}};
  return {{"bandwidth", std::move(bandwidth)},
          {"latency", std::move(latency)},
          {"collective", std::move(collective)},
          {"problems", load.problems}};
}

Json extra_of(const Verified& verified) {
  Json observations = Json::array();
  for (const diagnose::Observation& one : verified.observations)
    observations.push_back({{"where", to_text(one.where)},
                            {"key", one.key},
                            {"id", one.counter},
                            {"amount", one.amount},
                            {"severity", finding::to_text(one.severity)},
                            {"sentence", one.sentence()}});
  Json volume = nullptr;
  if (verified.volume)
    volume = {{"expected_bytes", verified.volume->expected.raw()},
              {"rdma_bytes", verified.volume->rdma},
              {"other_bytes", verified.volume->elsewhere},
              {"priority", verified.volume->priority}};
  Json devices = Json::array();
  for (const DeviceTraffic& one : verified.devices)
    devices.push_back(device_json(one));
  return {{"command",
           {{"words", join(verified.drive.words, " ")},
            {"host", verified.drive.ran_on},
            {"exit", verified.drive.outcome.exit_status},
            {"output", verified.drive.outcome.output},
            {"errors", verified.drive.outcome.errors}}},
          {"questions", questions_json(verified.questions)},
          {"load", load_json(verified.load)},
          {"volume", std::move(volume)},
          {"devices", std::move(devices)},
          {"observations", std::move(observations)},
          {"notes", verified.drive.notes},
          {"simulated", verified.is_simulated}};
}

std::string verdict_of(const Verified& verified) {
  const std::string simulated = simulated_word(verified.is_simulated);
  const std::string command = join(verified.drive.words, " ");
  if (verified.is_failed()) {
    return fmt::format("{} failed on {}{} with status {}.", command, verified.drive.ran_on,
                       simulated, verified.drive.outcome.exit_status);
  }
  const std::string head =
      fmt::format("{}, started on {}{}: ", command, verified.drive.ran_on, simulated);
  switch (verified.judgement.conclusion) {
    case finding::Conclusion::kHealthy: return head + "the fabric carried it as it should.";
    case finding::Conclusion::kNotFabric: return head + "what is wrong is not the fabric.";
    case finding::Conclusion::kInconclusive:
      return head + "nothing is known to be wrong, but too little was seen.";
    case finding::Conclusion::kFindings: break;
  }
  return head + render::count_text(verified.judgement) + ".";
}

void print_details(const Verified& verified, Context& context) {
  print_questions(verified.questions, context);
  const std::vector<std::string> said = verified.load.lines();
  if (!said.empty()) {
    context.out << fmt::format("\nwhat {} says{}:\n", verified.load.name(),
                               simulated_word(verified.is_simulated));
    for (const std::string& line : said)
      context.out << "  " << hang(line, 96, 4) << '\n';
  }
  if (verified.volume) context.out << '\n' << wrap(volume_text(*verified.volume), 88) << '\n';
  if (!verified.drive.notes.empty()) {
    context.out << "\nhow it was run:\n";
    for (const std::string& note : verified.drive.notes)
      context.out << "  " << hang(note, 96, 4) << '\n';
  }
  print_observations(verified, context);
}

}  // namespace

bool DeviceTraffic::is_busy(const finding::Thresholds& limits) const {
  return tx_bytes.value_or(0) + rx_bytes.value_or(0) >= limits.bytes_that_matter ||
         packets.value_or(0) >= limits.packets_that_matter ||
         (!tx_bytes && !packets &&
          tx_in_priority.value_or(0) + rx_in_priority.value_or(0) >= limits.bytes_that_matter);
}

std::vector<evidence::Evidence> window_of(const std::vector<evidence::Evidence>& before,
                                          const std::vector<evidence::Evidence>& after) {
  std::vector<evidence::Evidence> window = after;
  for (evidence::Evidence& one : window) {
    const auto same = std::find_if(before.begin(), before.end(), [&](const auto& other) {
      return other.provenance.host == one.provenance.host;
    });
    if (same == before.end() || same->snapshots.empty()) continue;
    one.snapshots.insert(one.snapshots.begin(), same->snapshots.back());
  }
  return window;
}

Verified judge_load(Drive drive, const std::vector<evidence::Evidence>& window,
                    const design::Intent& intent) {
  const diagnose::Case of{.evidence = window, .intent = &intent};
  const View view(of);
  Verified verified{.drive = std::move(drive),
                    .load = {},
                    .questions = diagnose::five_questions(view),
                    .observations = diagnose::interpret(view),
                    .devices = traffic_of(view, intent),
                    .volume = std::nullopt,
                    .judgement = diagnose::diagnose(view)};
  verified.is_simulated = std::any_of(window.begin(), window.end(),
                                      [](const auto& one) { return one.provenance.simulated; });
  verified.load = host::read_load(verified.drive.words, verified.drive.outcome);
  verified.volume = volume_of(verified.load, view, verified.drive.sees_all_ends);
  judge_devices(verified);
  if (verified.volume) judge_volume(verified, view.rdma_dscp(), verified.judgement);
  judge_visibility(verified);
  judge_exit(verified);
  judge_idle(verified, intent);
  return verified;
}

ExitCode print_verified(const Args& args, Context& context, const Verified& verified,
                        const std::string& verdict, const Json* extra) {
  const std::string headline = verdict.empty() ? verdict_of(verified) : verdict;
  const ExitCode judged = exit_for(args, verified.judgement);
  const ExitCode code = verified.is_failed() ? ExitCode::kPartial : judged;
  if (context.json) {
    Json object = extra_of(verified);
    if (extra != nullptr) object.update(*extra);
    print_judgement(args, context, verified.judgement, headline, object);
    return code;
  }
  if (!context.quiet) {
    // The command's own words first to the errors, so that stdout begins with the verdict.
    context.err << verified.drive.outcome.output << verified.drive.outcome.errors;
  }
  context.out << headline << '\n';
  if (!context.quiet) print_details(verified, context);
  const std::string text = render::findings_text(
      verified.judgement, "", {.colour = context.colour, .quiet = context.quiet});
  context.out << text.substr(text.find('\n') + 1);  // the headline stands above the questions
  return code;
}

}  // namespace weir::cli

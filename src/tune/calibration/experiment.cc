#include "tune/calibration/experiment.h"

#include <algorithm>
#include <array>
#include <map>

#include <fmt/format.h>

#include "base/check.h"
#include "base/text.h"
#include "base/untrusted/quote.h"

namespace weir::tune {
namespace {

constexpr std::array<std::string_view, 4> kKinds = {"latency", "bandwidth", "incast", "join"};
constexpr std::array<std::string_view, kStatistics> kStatisticNames = {
    "latency",  "bandwidth",  "probe_latency", "mark_share",
    "cnp_rate", "pause_rate", "join_marks",    "join_cnps"};
constexpr std::array<std::string_view, kStatistics> kStatisticUnits = {
    "us", "Gb/s", "us", "", "/ms", "/ms", "per join", "per join"};

constexpr int kOverheadSeconds = 5;  // of a repeat: programs start, snapshots are read
constexpr int kMostTrials = 64;
constexpr std::int64_t kMostDepth = 8'192;
constexpr int kFirstPort = 18515;  // perftest's default
constexpr int kProbePort = 18600;

/// Switch and rail-port of a host; nullopt where its rail is not linked to a switch.
std::optional<std::uint32_t> leaf_of(const design::Intent& intent, std::uint32_t host, int rail) {
  for (const design::NicIntent& nic : intent.hosts[host].nics) {
    if (nic.rail != rail) continue;
    const design::PortRef up = intent.links[nic.link].upper;
    if (up.kind == design::NodeKind::kHost) return std::nullopt;
    return up.node;
  }
  return std::nullopt;
}

struct Places {
  std::vector<std::uint32_t> near;   // hosts of one leaf
  std::optional<std::uint32_t> far;  // a host of another
};

/// The leaf with the most hosts, the first of equals; at most four of them.
Places places_of(const design::Intent& intent, int rail) {
  std::map<std::uint32_t, std::vector<std::uint32_t>> by_leaf;
  for (std::uint32_t host = 0; host < intent.hosts.size(); ++host)
    if (const auto leaf = leaf_of(intent, host, rail)) by_leaf[*leaf].push_back(host);
  Places out;
  std::uint32_t home = 0;
  for (const auto& [leaf, hosts] : by_leaf)
    if (hosts.size() > out.near.size()) {
      out.near = hosts;
      home = leaf;
    }
  for (const auto& [leaf, hosts] : by_leaf)
    if (leaf != home && !out.far) out.far = hosts.front();
  if (out.near.size() > 4) out.near.resize(4);
  return out;
}

class Planner {
 public:
  Planner(const design::Design& design, const design::Intent& intent)
      : design_(design), intent_(intent) {}

  Result<CalibrationPlan> plan() {
    plan_.design = *design_.name;
    const Places places = places_of(intent_, plan_.rail);
    std::vector<std::uint32_t> hosts = places.near;
    const bool has_far = places.far.has_value() && hosts.size() >= 2;
    if (has_far) {
      if (hosts.size() > 3) hosts.resize(3);
      hosts.push_back(*places.far);
    }
    if (hosts.size() < 2) {
      if (intent_.hosts.size() < 2 || intent_.hosts[0].nics.empty())
        return invalid_error("the design has fewer than two hosts");
      hosts = {0, 1};  // back to back
    }
    for (const std::uint32_t host : hosts)
      plan_.hosts.push_back(intent_.hosts[host].name);
    add_pair(has_far && plan_.hosts.size() >= 3);
    if (plan_.hosts.size() >= 4)
      add_incasts();
    else
      plan_.notes.emplace_back(
          "fewer than four hosts on one leaf and the next: thresholds, CNPs and pauses cannot be "
          "measured");
    return std::move(plan_);
  }

 private:
  Trial& add(std::string id, TrialKind kind, std::string purpose) {
    Trial trial;
    trial.id = std::move(id);
    trial.kind = kind;
    trial.receiver = plan_.hosts[0];
    trial.senders = {plan_.hosts[1]};
    trial.purpose = std::move(purpose);
    plan_.trials.push_back(std::move(trial));
    return plan_.trials.back();
  }

  void add_pair(bool has_far) {
    add("latency-2", TrialKind::kLatency, "nic_latency, with the switch on the way").size = 2_B;
    add("latency-4096", TrialKind::kLatency, "nic_latency; the slope is the link's").size = 4096_B;
    if (has_far) {
      Trial& far = add("latency-far", TrialKind::kLatency, "switch_latency: two more switches");
      far.size = 2_B;
      far.senders = {plan_.hosts.back()};
    } else {
      plan_.notes.emplace_back(
          "no host behind another leaf: switch_latency and nic_latency are seen as a sum only");
    }
    add("bandwidth", TrialKind::kBandwidth, "host_rate").size = 64_KiB;
    if (plan_.hosts.size() >= 4) return;
    Trial& held = add("latency-32k", TrialKind::kLatency, "held out: predicted from the others");
    held.size = 32_KiB;
    held.is_held_out = true;
  }

  Trial& add_incast(std::string id, int qps, bool has_reaction_point, std::string purpose) {
    Trial& trial = add(std::move(id), TrialKind::kIncast, std::move(purpose));
    trial.senders = {plan_.hosts[1], plan_.hosts[2]};
    trial.probe = plan_.hosts[3];
    trial.qps = qps;
    trial.size = 64_KiB;
    trial.has_reaction_point = has_reaction_point;
    return trial;
  }

  void add_incasts() {
    // Without a reaction point the queue is what the senders have outstanding: their depth puts it
    // where it is wanted.
    const design::WredIntent wred = wred_of(intent_, plan_.hosts.front(), plan_.rail);
    const std::int64_t ramp = (wred.max - wred.min).raw();
    constexpr std::array<std::int64_t, 3> kLevels = {35, 60, 85};  // percent of the ramp
    for (std::size_t i = 0; i < kLevels.size(); ++i) {
      Trial& level = add_incast(fmt::format("rp-off-level{}", i + 1), 1, false,
                                "wred_min, slope of marking: the queue is on the ramp");
      level.is_level = true;
      level.size = 2048_B;
      level.depth = depth_for(wred.min.raw() + ramp * kLevels.at(i) / 100, level);
    }
    // Longer messages make the queue swing by about their size: the share of marks then rises over
    // some of these levels instead of jumping between two.
    constexpr int kFirstDepth = 5;
    constexpr int kLastDepth = 9;
    for (int depth = kFirstDepth; depth <= kLastDepth; ++depth) {
      Trial& level = add_incast(fmt::format("rp-off-max{}", depth), 1, false,
                                "wred_max: from which queue on every packet is marked");
      level.size = Bytes::raw(std::max<std::int64_t>(wred.max.raw() / 12 / 1024, 2) * 1024);
      level.is_level = true;
      level.depth = depth;
    }
    // Messages of one short packet: the time between packets of a QP is small against the gap.
    Trial& gap = add_incast("rp-off-2", 1, false, "cnp_gap: every packet is marked");
    gap.size = short_message();
    gap.depth = depth_for(wred.max.raw() * 2, gap);
    const Bytes gap_size = gap.size;
    const int gap_depth = gap.depth;
    add_incast("rp-off-4", 2, false, "xoff, pause_reaction");
    Trial& pairs = add_incast("rp-off-6", 3, false, "what CNPs are paced by");
    pairs.size = gap_size;
    pairs.depth = std::max(gap_depth / 3, 2);
    // Another number of peers: two senders cannot tell a gap per peer from half of it per port.
    Trial& peers = add_incast("rp-off-3", 1, false, "what CNPs are paced by");
    peers.senders = {plan_.hosts[1], plan_.hosts[2], plan_.hosts[3]};
    peers.probe.clear();
    peers.size = gap_size;
    peers.depth = gap_depth;
    add_incast("rp-on-2", 1, true, "cnp_delay");
    add_incast("rp-on-64", 32, true, "the queue is near Kmax");
    Trial& join = add("join", TrialKind::kJoin, "cnp_delay: marks until the first cut");
    join.senders = {plan_.hosts[1], plan_.hosts[2]};
    join.size = 64_KiB;
    join.seconds = 16;
    add_incast("rp-on-16", 8, true, "held out: predicted from the others").is_held_out = true;
    Trial& three = add("rp-on-3", TrialKind::kIncast, "held out: another fan-in");
    three.senders = {plan_.hosts[1], plan_.hosts[2], plan_.hosts[3]};
    three.size = 64_KiB;
    three.is_held_out = true;
  }

  /// One packet of it takes at most a tenth of a microsecond: two senders' packets then come often
  /// enough to tell gaps of some microseconds.
  [[nodiscard]] Bytes short_message() const {
    BitRate speed = 100_Gbps;
    for (const design::HostIntent& host : intent_.hosts)
      if (host.name == plan_.hosts.front()) speed = host.nics.front().speed;
    Bytes size = 1024_B;
    while (size > 128_B && serialization_time(size + 82_B, speed) > 100_ns)
      size = size / 2;
    return size;
  }

  static int depth_for(std::int64_t queue, const Trial& trial) {
    const auto senders = static_cast<std::int64_t>(trial.senders.size());
    return static_cast<int>(
        std::clamp<std::int64_t>(queue / (senders * trial.size.raw()), 2, kMostDepth));
  }

  const design::Design& design_;
  const design::Intent& intent_;
  CalibrationPlan plan_;
};

const design::HostIntent* host_of(const design::Intent& intent, std::string_view name) {
  for (const design::HostIntent& host : intent.hosts)
    if (host.name == name) return &host;
  return nullptr;
}

const design::NicIntent* nic_of(const design::Intent& intent, std::string_view name, int rail) {
  const design::HostIntent* const host = host_of(intent, name);
  if (host == nullptr) return nullptr;
  for (const design::NicIntent& nic : host->nics)
    if (nic.rail == rail) return &nic;
  return nullptr;
}

/// perftest's program for both ends of one connection.
std::string perftest_line(const Trial& trial, const design::NicIntent& nic, bool is_latency,
                          int port) {
  const std::int64_t size = is_latency && trial.kind != TrialKind::kLatency ? 2 : trial.size.raw();
  std::string out = fmt::format("ib_write_{} -d {} -R -T {} -p {} -s {}", is_latency ? "lat" : "bw",
                                nic.device, nic.traffic_class.value(), port, size);
  if (!is_latency) out += fmt::format(" -q {} -t {} --report_gbits", trial.qps, trial.depth);
  return out;
}

std::string address_of(const design::NicIntent& nic) {
  return nic.address.substr(0, nic.address.find('/'));
}

}  // namespace

std::string_view to_text(TrialKind kind) {
  return kKinds.at(static_cast<std::size_t>(kind));
}
std::optional<TrialKind> parse_trial_kind(std::string_view text) {
  for (std::size_t i = 0; i < kKinds.size(); ++i)
    if (kKinds.at(i) == text) return static_cast<TrialKind>(i);
  return std::nullopt;
}
std::string_view to_text(Statistic statistic) {
  return kStatisticNames.at(static_cast<std::size_t>(statistic));
}
std::optional<Statistic> parse_statistic(std::string_view text) {
  for (std::size_t i = 0; i < kStatistics; ++i)
    if (kStatisticNames.at(i) == text) return static_cast<Statistic>(i);
  return std::nullopt;
}
std::string_view unit_of(Statistic statistic) {
  return kStatisticUnits.at(static_cast<std::size_t>(statistic));
}

std::vector<Statistic> statistics_of(const Trial& trial) {
  using enum Statistic;
  switch (trial.kind) {
    case TrialKind::kLatency: return {kLatency};
    case TrialKind::kBandwidth: return {kBandwidth};
    case TrialKind::kJoin: return {kJoinMarks, kJoinCnps};
    case TrialKind::kIncast: break;
  }
  if (trial.is_level) {
    if (trial.probe.empty()) return {kMarkShare};
    return {kProbeLatency, kMarkShare};
  }
  std::vector<Statistic> out = {kBandwidth, kCnpRate};
  if (!trial.probe.empty()) out.push_back(kProbeLatency);
  out.push_back(kMarkShare);
  if (!trial.has_reaction_point) out.push_back(kPauseRate);
  return out;
}

const Trial* CalibrationPlan::find(std::string_view id) const {
  for (const Trial& trial : trials)
    if (trial.id == id) return &trial;
  return nullptr;
}

int CalibrationPlan::seconds() const {
  int out = 0;
  for (const Trial& trial : trials)
    out += repeats * (trial.seconds + kOverheadSeconds);
  return out;
}

Result<CalibrationPlan> plan_calibration(const design::Design& design,
                                         const design::Intent& intent) {
  return Planner(design, intent).plan();
}

design::WredIntent wred_of(const design::Intent& intent, std::string_view host, int rail) {
  for (const design::SwitchIntent& node : intent.switches)
    for (const design::SwitchPortIntent& port : node.ports) {
      if (port.peer.kind != design::NodeKind::kHost) continue;
      const design::HostIntent& peer = intent.hosts[port.peer.node];
      if (peer.name == host && peer.nics[port.peer.port].rail == rail) return port.wred;
    }
  return {};
}

Status check_plan(const CalibrationPlan& plan, const design::Intent& intent) {
  const auto check_host = [&](const Trial& trial, const std::string& host) -> Status {
    if (nic_of(intent, host, plan.rail) != nullptr) return {};
    return invalid_error(fmt::format("trial {}: the design has no host '{}' with rail {}", trial.id,
                                     host, plan.rail));
  };
  if (plan.trials.empty() || plan.trials.size() > kMostTrials)
    return invalid_error(
        fmt::format("expected 1 to {} trials, found {}", kMostTrials, plan.trials.size()));
  for (const Trial& trial : plan.trials) {
    WEIR_TRY_STATUS(check_host(trial, trial.receiver));
    if (!trial.probe.empty()) WEIR_TRY_STATUS(check_host(trial, trial.probe));
    for (const std::string& sender : trial.senders) {
      WEIR_TRY_STATUS(check_host(trial, sender));
      if (sender == trial.receiver || sender == trial.probe)
        return invalid_error(fmt::format("trial {}: {} has two parts to play", trial.id, sender));
    }
    const std::size_t least = trial.kind == TrialKind::kJoin ? 2 : 1;
    if (trial.senders.size() < least)
      return invalid_error(fmt::format("trial {}: expected {} or more senders, found {}", trial.id,
                                       least, trial.senders.size()));
  }
  return {};
}

namespace {

/// The file that switches the reaction point of a host's NIC; empty where it is no file.
std::string reaction_point_file(const design::Intent& intent, std::string_view host, int rail) {
  const design::HostIntent* const found = host_of(intent, host);
  const design::NicIntent* const nic = nic_of(intent, host, rail);
  if (nic == nullptr || !found->nic_model->has_dcqcn_knobs ||
      found->stack != design::HostStack::kOfed)
    return {};
  for (unsigned p = 0; p < 8; ++p)
    if (nic->ecn_rp.contains(Priority::of(p)))
      return fmt::format("/sys/class/net/{}/ecn/roce_rp/enable/{}", nic->netdev, p);
  return {};
}

}  // namespace

std::string reaction_point_command(const design::Intent& intent, std::string_view host, int rail,
                                   std::string_view value) {
  const std::string file = reaction_point_file(intent, host, rail);
  return file.empty() ? "" : fmt::format("echo {} > {}", value, file);
}

std::string folder_of(const Trial& trial, int repeat) {
  return fmt::format("{}/{}", trial.id, repeat);
}

std::vector<PlanCommand> commands_of(const CalibrationPlan& plan, const Trial& trial, int repeat,
                                     const design::Intent& intent) {
  std::vector<PlanCommand> out;
  const std::string folder = folder_of(trial, repeat);
  const design::NicIntent* const target = nic_of(intent, trial.receiver, plan.rail);
  WEIR_CHECK(target != nullptr);
  const auto snapshots = [&](std::string_view when) {
    if (trial.kind == TrialKind::kLatency || trial.kind == TrialKind::kBandwidth) return;
    std::vector<std::string> hosts = trial.senders;
    hosts.push_back(trial.receiver);
    for (const std::string& host : hosts)
      out.push_back(
          {host, fmt::format("weir snapshot --json > {}/{}.{}.json", folder, host, when)});
  };
  snapshots("before");
  const auto connect = [&](const std::string& from, bool is_latency, int port, bool waits) {
    const design::NicIntent* const nic = nic_of(intent, from, plan.rail);
    WEIR_CHECK(nic != nullptr);
    const bool is_joining = trial.kind == TrialKind::kJoin && from == trial.senders.back();
    // A join is a fresh queue pair and a few messages.
    const std::string length =
        is_joining ? fmt::format(" -n {}", kJoinMessages)
                   : fmt::format(" -D {}", is_latency && trial.kind != TrialKind::kLatency
                                               ? std::max(trial.seconds - 2, 1)
                                               : trial.seconds);
    const std::string server = perftest_line(trial, *target, is_latency, port) + length;
    const std::string client = fmt::format("{}{} {}", perftest_line(trial, *nic, is_latency, port),
                                           length, address_of(*target));
    const std::string file = fmt::format("{}/{}.{}.txt", folder, from, is_latency ? "lat" : "bw");
    if (is_joining) {
      const std::string loop = fmt::format("for i in $(seq {}); do", trial.seconds);
      out.push_back({trial.receiver, fmt::format("{} {}; done", loop, server), true});
      out.push_back({from, fmt::format("{} sleep 0.5; {}; done > {}", loop, client, file), false});
      return;
    }
    out.push_back({trial.receiver, server, true});
    out.push_back({from, fmt::format("sleep 1; {} > {}", client, file), !waits});
  };
  for (std::size_t i = 0; i < trial.senders.size(); ++i)
    connect(trial.senders[i], trial.kind == TrialKind::kLatency, kFirstPort + static_cast<int>(i),
            i + 1 == trial.senders.size() && trial.probe.empty());
  if (!trial.probe.empty()) connect(trial.probe, true, kProbePort, true);
  snapshots("after");
  return out;
}

namespace {

/// `was`, reaction_point VALUE and restore: the reaction point is put back as it was on every host,
/// whatever happens to one of them.
std::string reaction_point_functions(const CalibrationPlan& plan, const design::Intent& intent) {
  std::string before = "was=()\n";
  std::string set = "reaction_point() {\n";
  std::string restore = "restore() {\n  set +e\n  wait\n";
  for (std::size_t i = 0; i < plan.hosts.size(); ++i) {
    const std::string& host = plan.hosts[i];
    const std::string file = reaction_point_file(intent, host, plan.rail);
    if (file.empty()) {
      const auto ask = [&](std::string_view what) {
        return fmt::format(
            "  read -r -p {} < /dev/tty\n",
            shell_word(fmt::format("{}: {} the reaction point ({}), then press Enter ", host, what,
                                   host_of(intent, host)->nic_model->cc_place)));
      };
      set += fmt::format("  if [[ $1 == 0 ]]; then\n  {}  else\n  {}  fi\n", ask("switch off"),
                         ask("switch on"));
      restore += ask("put back");
      continue;
    }
    before += fmt::format("was[{}]=$(on {} {})\n", i, host, shell_word("cat " + file));
    set += fmt::format("  on {} \"echo $1 > {}\"\n", host, file);
    restore += fmt::format(
        "  [[ ${{was[{0}]:-}} =~ ^[01]$ ]] && {{ on {1} \"echo ${{was[{0}]}} > {2}\" ||\n"
        "    echo \"{1}: NOT restored: echo ${{was[{0}]}} > {2}\" >&2; }}\n",
        i, host, file);
  }
  return set + "}\n" + restore + "}\ntrap restore EXIT\n" + before;
}

}  // namespace

std::string script_of(const CalibrationPlan& plan, const design::Intent& intent) {
  std::string out =
      "#!/usr/bin/env bash\n"
      "# Written by `weir calibrate plan`. Runs the experiment over ssh, from this directory.\n"
      "# Nothing else may run on these hosts and switches.\n"
      "set -euo pipefail\n"
      "cd \"$(dirname \"$0\")\"\n"
      "on() { ssh -o BatchMode=yes -o ConnectTimeout=10 -- \"root@$1\" \"$2\" < /dev/null; }\n" +
      reaction_point_functions(plan, intent);
  bool has_reaction_point = true;
  for (const Trial& trial : plan.trials) {
    out += fmt::format("\necho {}\n", shell_word(trial.id + ": " + trial.purpose));
    if (trial.has_reaction_point != has_reaction_point) {
      has_reaction_point = trial.has_reaction_point;
      out += fmt::format("reaction_point {}\n", has_reaction_point ? 1 : 0);
    }
    for (int repeat = 1; repeat <= plan.repeats; ++repeat) {
      out += fmt::format("mkdir -p {}\n", folder_of(trial, repeat));
      for (const PlanCommand& command : commands_of(plan, trial, repeat, intent)) {
        const std::size_t to = command.text.rfind(" > ");
        const bool is_kept = to != std::string::npos;
        out += fmt::format("on {} {}{}{}\n", command.where, shell_word(command.text.substr(0, to)),
                           is_kept ? command.text.substr(to) : " > /dev/null",
                           command.is_background ? " &" : "");
      }
      out += "wait\n";
    }
  }
  return out + "\necho 'done: weir calibrate fit .'\n";
}

}  // namespace weir::tune

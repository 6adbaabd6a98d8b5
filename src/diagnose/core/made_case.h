#pragma once
// Cases made by hand, for tests: hosts and one switch with the counters a test names, over a window
// of ten milliseconds, and no facts unless a test sets them.
#include <string>
#include <string_view>
#include <vector>

#include "diagnose/core/diagnose.h"

namespace weir::diagnose {

struct Count {
  std::string_view key;  // "ethtool/tx_prio3_bytes", "switch/prio3.rx.bytes"
  std::uint64_t value = 0;
};

class MadeCase {
 public:
  /// A ConnectX that sent and received RDMA, with PFC on priority 3; `counts` come on top.
  evidence::Evidence& host(const std::string& name, const std::vector<Count>& counts = {}) {
    std::vector<Count> all = counts;
    for (const Count& usual : kHost)
      add_unless_there(all, usual);
    evidence::Evidence& out = evidence(name);
    out.nics.emplace_back();
    out.nics.back().device = "mlx5_0";
    out.snapshots[0].nics.push_back(counted("mlx5_0", "eth0", "mlx5_core", all, false));
    out.snapshots[1].nics.push_back(counted("mlx5_0", "eth0", "mlx5_core", all, true));
    return out;
  }
  /// A port of leaf1 at 100G towards a host or a switch, which dropped nothing of priority 3.
  evidence::SwitchPort& port(const std::string& name, const std::string& neighbour,
                             const std::string& neighbour_port, std::vector<Count> counts = {}) {
    return port_of("leaf1", name, neighbour, neighbour_port, counts);
  }
  /// The same of any switch.
  evidence::SwitchPort& port_of(const std::string& switch_name, const std::string& name,
                                const std::string& neighbour, const std::string& neighbour_port,
                                const std::vector<Count>& counts = {}) {
    if (fabric_ == kNone) {
      fabric_ = all_.size();
      evidence("");
    }
    evidence::Evidence& out = all_[fabric_];
    evidence::SwitchPort& port = device(switch_name).ports.emplace_back();
    port.name = name;
    port.neighbour = evidence::Fact<evidence::Neighbour>::of({neighbour, neighbour_port});
    port.speed = evidence::Fact<BitRate>::of(100_Gbps);
    std::vector<Count> all = counts;
    add_unless_there(all, {"switch/pg3.drop_headroom.packets", 0});
    out.snapshots[0].switch_ports.push_back(counted(switch_name, name, "switch", all, false));
    out.snapshots[1].switch_ports.push_back(counted(switch_name, name, "switch", all, true));
    return port;
  }
  /// A switch that has ports, or will have.
  evidence::Switch& device(const std::string& name) {
    std::vector<evidence::Switch>& switches = all_[fabric_].switches;
    for (evidence::Switch& device : switches)
      if (device.name == name) return device;
    switches.emplace_back().name = name;
    return switches.back();
  }

  [[nodiscard]] std::vector<evidence::Evidence>& pieces() { return all_; }
  /// As if the first host did not show the counters whose names hold `part`.
  void forget(std::string_view part) {
    for (counters::Snapshot& snapshot : pieces()[0].snapshots)
      forget(part, snapshot.nics[0]);
  }
  /// The same of all switches.
  void forget_at_switches(std::string_view part) {
    for (counters::Snapshot& snapshot : pieces()[fabric_].snapshots)
      for (counters::PortCounters& port : snapshot.switch_ports)
        forget(part, port);
  }

  [[nodiscard]] finding::Judgement judge(const Thresholds& thresholds = {}) const {
    return diagnose({all_, nullptr, thresholds});
  }
  /// The first finding's id, or the conclusion where nothing is wrong.
  [[nodiscard]] std::string said() const {
    const finding::Judgement judgement = judge();
    return judgement.conclusion == finding::Conclusion::kFindings
               ? judgement.findings.front().id
               : std::string(finding::to_text(judgement.conclusion));
  }

 private:
  static constexpr std::size_t kNone = ~std::size_t{0};
  static constexpr Count kHost[] = {
      {"ethtool/tx_prio0_bytes", 1000},
      {"ethtool/tx_prio3_bytes", 50'000'000},
      {"ethtool/tx_prio3_packets", 12'000},
      {"ethtool/rx_prio3_bytes", 50'000'000},
      {"ethtool/rx_prio3_pause", 0},
      {"ethtool/rx_prio3_pause_duration", 0},
      {"ethtool/tx_prio3_pause", 0},
      {"ethtool/tx_prio3_pause_duration", 0},
      {"ethtool/rx_crc_errors_phy", 0},
      {"ethtool/link_down_events_phy", 0},
      {"hw_counters/np_ecn_marked_roce_packets", 500},
      {"hw_counters/np_cnp_sent", 120},
      {"hw_counters/rp_cnp_handled", 110},
      {"hw_counters/rp_cnp_ignored", 0},
      {"hw_counters/out_of_sequence", 0},
      {"hw_counters/packet_seq_err", 0},
  };

  static void forget(std::string_view part, counters::PortCounters& port) {
    std::vector<counters::Sample> kept;
    for (const counters::ShownSample& sample : port.samples())
      if (sample.name.find(part) == std::string::npos) kept.push_back(sample.copy());
    port = {port.device(), port.netdev(), port.driver(), kept};
  }
  static void add_unless_there(std::vector<Count>& counts, const Count& usual) {
    for (const Count& count : counts)
      if (count.key == usual.key) return;
    counts.push_back(usual);
  }
  static counters::PortCounters counted(std::string device, std::string netdev, std::string driver,
                                        const std::vector<Count>& counts, bool is_end) {
    std::vector<counters::Sample> samples;
    for (const Count& known : counts) {
      const auto slash = known.key.find('/');
      samples.push_back({*counters::place_of(known.key.substr(0, slash)),
                         std::string(known.key.substr(slash + 1)),
                         counters::Reading::of(is_end ? known.value : 0)});
    }
    return {std::move(device), std::move(netdev), std::move(driver), std::move(samples)};
  }
  evidence::Evidence& evidence(const std::string& name) {
    all_.emplace_back();
    all_.back().provenance.host = name;
    all_.back().snapshots.resize(2);
    all_.back().snapshots[1].clock_ns = 10'000'000;
    return all_.back();
  }

  std::vector<evidence::Evidence> all_;
  std::size_t fabric_ = kNone;
};

}  // namespace weir::diagnose

#pragma once
// The files of the HPCC ns-3 simulator (alibaba-edu/High-Precision-Congestion-Control): its
// configuration, topology and flow files in, its fct.txt and pfc.txt out.
//
// read_hpcc() makes a Network in Model::kHpcc: 48-byte header, whole-nanosecond serialisation, ACKs
// behind data, a CNP bit in the ACK, its MMU and timers, equal times in the order of scheduling,
// and next hops in descending node id (the order in which its reference runs were made; it follows
// heap addresses there). DCQCN only (CC_MODE 1), one priority group.
#include <cstdint>
#include <string>
#include <vector>

#include "base/result.h"
#include "sim/engine/sim.h"
#include "sim/fabric/network.h"

namespace weir::sim {

struct HpccRun {
  Network network;
  Time stop;
  Table<QpId, std::uint32_t> base_rtt_ns;  // by flow: what "standalone" completion is made of
  Table<QpId, std::int64_t> bottleneck;    // by flow, bit/s
  Table<QpId, std::uint16_t> target_port;  // by flow
};

/// The three files of a run, as text.
struct HpccFiles {
  std::string config;
  std::string topology;
  std::string flows;
};
/// TOPOLOGY_FILE and FLOW_FILE of the configuration are not looked at.
[[nodiscard]] Result<HpccRun> parse_hpcc(const HpccFiles& files);

/// Reads `config_path` and the topology and flow files it names: looked for as written, then beside
/// the configuration, then in the two directories above it.
[[nodiscard]] Result<HpccRun> read_hpcc(const std::string& config_path);

/// The same fabric and flows under our own rules (sim/peer/hpcc_native.h). The peer's paths, of
/// which there are as many as pairs of nodes, are made only where the file has a window (HAS_WIN).
[[nodiscard]] Result<HpccRun> read_hpcc_native(const std::string& config_path);

/// One line per finished flow, in the order of completion.
[[nodiscard]] std::string hpcc_fct(const HpccRun& run, const Sim& sim);

/// Notes every pause frame received, for hpcc_pfc().
class PauseLog final : public Observer {
 public:
  struct Entry {
    Ps at;
    PortId port;
    bool pause;
  };
  void on_frame(Ps, PortId, const Packet&) override {}
  void on_drop(Ps, PortId, const Packet&, DropReason) override {}
  void on_pause(Ps at, PortId port, std::uint8_t pause, std::uint8_t resume) override {
    if (pause != 0) entries_.push_back({at, port, true});
    if (resume != 0) entries_.push_back({at, port, false});
  }
  [[nodiscard]] const std::vector<Entry>& entries() const { return entries_; }

 private:
  std::vector<Entry> entries_;
};

/// One line per pause frame received: time, node, 0 host or 1 switch, interface, 1 pause or 0
/// resume.
[[nodiscard]] std::string hpcc_pfc(const PauseLog& log, const Sim& sim);

}  // namespace weir::sim

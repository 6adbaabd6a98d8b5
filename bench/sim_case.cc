#include "sim_case.h"

#include <ctime>
#include <map>

#include "base/rng.h"
#include "base/text.h"
#include "sim/fabric/test_networks.h"
#include "sim/peer/hpcc_native.h"

namespace weir::bench {
namespace {

constexpr std::uint32_t kRails = 8;
constexpr std::uint32_t kNicsPerLeaf = 32;

/// NIC h * 8 + r is rail r of host h; then the leaves, then the spines, both rail by rail.
sim::Network rails(std::uint32_t hosts) {
  using namespace sim;
  const std::uint32_t leaves = (hosts + kNicsPerLeaf - 1) / kNicsPerLeaf;  // per rail
  const std::uint32_t spines = std::min(leaves, kNicsPerLeaf);
  const std::uint32_t nics = hosts * kRails;
  SwitchConfig sw = test::lossless_switch(64_MiB, 100_KB);
  sw.queues[3].wred = {true, 100_KB, 400_KB, 20_percent};
  const NicConfig nic = test::with_dcqcn(test::plain_nic(1000_B), DcqcnVariant::kConnectx);
  Network network;
  network.nics.push_back(nic);
  network.nodes.resize(nics, {NodeKind::kNic, 0, {}});
  for (std::uint32_t s = 0; s < kRails * (leaves + spines); ++s) {
    network.nodes.push_back({NodeKind::kSwitch, s, {}});
    network.switches.push_back(sw);
    network.switches.back().ecmp_seed = s + 1;
  }
  const auto join = [&](std::uint32_t a, std::uint32_t b) {
    network.links.push_back(
        {.a = NodeId{a}, .b = NodeId{b}, .rate = 100_Gbps, .propagation = 1_us});
  };
  for (std::uint32_t n = 0; n < nics; ++n)
    join(n, nics + n % kRails * leaves + n / kRails / kNicsPerLeaf);
  for (std::uint32_t leaf = 0; leaf < kRails * leaves; ++leaf)
    for (std::uint32_t s = 0; s < spines; ++s)
      join(nics + leaf, nics + kRails * leaves + leaf / leaves * spines + s);
  RandomStream random(1, 0, 0);
  std::vector<std::uint32_t> target(hosts);
  for (std::uint32_t r = 0; r < kRails; ++r) {
    // A random cycle through all hosts (Sattolo): nobody sends to himself.
    for (std::uint32_t h = 0; h < hosts; ++h)
      target[h] = h;
    for (std::uint32_t h = hosts - 1; h > 0; --h)
      std::swap(target[h], target[random.below(h)]);
    for (std::uint32_t h = 0; h < hosts; ++h)
      test::add_flow(network, h * kRails + r, target[h] * kRails + r, 100_KB);
  }
  return network;
}

}  // namespace

Result<SimCase> set_up(const std::string& input, const std::string& model, unsigned threads) {
  SimCase out;
  sim::Network network;
  if (input.starts_with("rails:")) {
    WEIR_TRY(hosts, parse_u64(input.substr(6)));
    network = rails(static_cast<std::uint32_t>(hosts));
    out.stop = Time::never();
  } else {
    WEIR_TRY(run, model == "native" ? sim::read_hpcc_native(input) : sim::read_hpcc(input));
    network = std::move(run.network);
    out.stop = run.stop;
  }
  WEIR_TRY(made, sim::Sim::make(std::move(network), {threads, std::nullopt}));
  out.sim = std::move(made);
  return out;
}

[[gnu::noinline]] void measured_run(SimCase& run) {
  run.sim->run(run.stop);
}

Congestion congestion_of(const sim::Sim& sim) {
  Congestion out;
  for (const sim::PortId p : sim.ports())
    out.marks += sim.port_counters(p).marked;
  const sim::Network& network = sim.network();
  for (const sim::NodeId n : network.nodes.ids()) {
    if (network.nodes[n].kind != sim::NodeKind::kNic) continue;
    out.cnps += sim.nic_counters(n).cnp_handled;
    out.acks += sim.nic_counters(n).acks_sent;
  }
  out.unfinished = sim.open_messages();
  return out;
}

double multimap_rate() {
  constexpr std::uint64_t kPending = 131'072;
  constexpr std::uint64_t kEvents = 3'000'000;
  constexpr std::uint64_t kSpread = 1'000'000;
  RandomStream random(1, 0, 0);
  std::multimap<std::uint64_t, std::uint64_t> pending;
  for (std::uint64_t i = 0; i < kPending; ++i)
    pending.emplace(random.below(kSpread), i);
  const std::clock_t begin = std::clock();
  for (std::uint64_t i = 0; i < kEvents; ++i) {
    const auto [at, what] = *pending.begin();
    pending.erase(pending.begin());
    pending.emplace(at + 1 + random.below(kSpread), what);
  }
  const auto ticks = static_cast<double>(std::clock() - begin);
  return static_cast<double>(kEvents) * CLOCKS_PER_SEC / ticks;
}

}  // namespace weir::bench

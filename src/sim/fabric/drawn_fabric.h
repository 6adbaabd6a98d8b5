#pragma once
// Fabrics and workloads drawn from a seed, for tests of what must hold on all of them. Everything
// goes the way a user's file goes: design text, load, derive, build_network, Workloads.
//
// The buffers are made small on purpose, headroom and reserve plus little, so that PFC has work to
// do; everything else is drawn from what a design may say.
#include <array>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include <fmt/format.h>

#include "base/rng.h"
#include "design/fabric/intent.h"
#include "design/file/load.h"
#include "design/tables/platforms.h"
#include "sim/fabric/from_design.h"
#include "sim/workload/workload.h"

namespace weir::sim::test {

struct DrawnFabric {
  std::string text;  // the design
  std::vector<std::string> workloads;
  bool two_lossless = false;
  bool ecn = false;
  bool reacts = false;  // DCQCN's reaction point
  bool cut_through = false;
  bool mixed_speeds = false;
};

class Draw {
 public:
  explicit Draw(std::uint64_t seed) : random_(seed, 0, 0) {}

  std::uint64_t between(std::uint64_t low, std::uint64_t high) {
    return low + random_.below(high - low + 1);
  }
  bool coin() { return random_.below(2) == 0; }
  template <typename T, std::size_t N>
  T of(const std::array<T, N>& choices) {
    return choices[random_.below(N)];
  }
  std::string_view asic() {
    // Sizes of Express are assumed, and it does not run SONiC: no fabric is drawn with it.
    std::vector<std::string_view> all;
    for (const design::AsicModel& asic : design::asic_models())
      if (asic.family != design::AsicFamily::kExpress) all.push_back(asic.name);
    return all[random_.below(all.size())];
  }

 private:
  RandomStream random_;
};

/// Shared bytes that headroom and reserves leave to a buffer of `total`, by the group of switches.
inline std::int64_t promised_bytes(const design::SwitchIntent& s) {
  return s.buffers.headroom_sum.raw() +
         s.buffers.reserved_per_group.raw() * 8 * static_cast<std::int64_t>(s.ports.size());
}

struct DrawnShape {
  std::uint64_t leaves;
  std::uint64_t spines;
  std::uint64_t hosts;
  std::uint64_t cables;
  std::uint64_t host_length;
  std::uint64_t spine_length;
  std::uint64_t host_mtu;
  std::uint64_t rdma_mtu;
  std::uint64_t xon_offset;
  int host_speed;
  int spine_speed;
  std::string_view leaf_asic;
  std::string_view spine_asic;
  std::string_view alpha;
  std::string_view mode;
  std::string_view nic;
  bool ipv6;
  bool tagged;
  bool static_xoff;
  std::uint64_t rails;  // leaf r has NIC r of every host, and nothing joins the leaves; 0: one NIC
};

inline DrawnShape draw_shape(Draw& draw) {
  constexpr std::array<int, 5> kSpeeds{25, 50, 100, 200, 400};
  DrawnShape s{};
  s.leaves = draw.between(1, 3);
  s.spines = s.leaves == 1 ? 0 : draw.between(1, 2);
  s.hosts = s.leaves * draw.between(s.leaves == 1 ? 3 : 2, 4);
  s.cables = draw.between(1, 2);
  s.host_length = draw.between(1, draw.coin() ? 10 : 500);
  s.spine_length = draw.between(1, 500);
  s.host_mtu = draw.between(1500, 9000);
  s.rdma_mtu = draw.of(std::array<std::uint64_t, 4>{512, 1024, 2048, 4096});
  s.xon_offset = draw.of(std::array<std::uint64_t, 3>{0, 3000, 18432});
  s.host_speed = draw.of(kSpeeds);
  s.spine_speed = draw.of(kSpeeds);
  s.leaf_asic = draw.asic();
  s.spine_asic = draw.asic();
  s.alpha = draw.of(std::array<std::string_view, 6>{"1/16", "1/8", "1/4", "1", "2", "8"});
  s.mode = draw.of(std::array<std::string_view, 4>{"ecmp", "ecmp", "spray", "adaptive"});
  s.nic = draw.of(std::array<std::string_view, 4>{"connectx6dx", "connectx7", "thor2", "generic"});
  s.ipv6 = draw.coin();
  s.tagged = draw.coin();
  s.static_xoff = draw.between(0, 3) == 0;
  return s;
}

/// The design; `extra` shared bytes are what the buffer of each group of switches has beside its
/// promises, which `promised` gives (leaf, spine).
inline std::string design_text(const DrawnShape& s, const DrawnFabric& drawn,
                               const std::array<std::int64_t, 2>& buffer) {
  std::string text = fmt::format(
      "weir: 1\nname: drawn\n"
      "hosts:\n  h: {{ names: 'h[01-{:02}]', nic: {}{} }}\n"
      "switches:\n  leaf: {{ names: 'leaf[1-{}]', system: sonic, asic: {}, tier: 1, buffer: {}B, "
      "ports: 64, forwarding: {} }}\n",
      s.hosts, s.nic,
      s.rails > 0 ? fmt::format(", rails: {}, device: 'mlx5_{{rail}}'", s.rails) : "", s.leaves,
      s.leaf_asic, buffer[0], drawn.cut_through ? "cut-through" : "store-and-forward");
  if (s.spines > 0)
    text += fmt::format(
        "  spine: {{ names: 'spine[1-{}]', system: sonic, asic: {}, tier: 2, buffer: {}B, ports: "
        "64, forwarding: {} }}\n",
        s.spines, s.spine_asic, buffer[1], drawn.cut_through ? "cut-through" : "store-and-forward");
  text += fmt::format(
      "links:\n  - {{ from: h, to: leaf, wiring: {}, speed: {}G, cable: fibre, length: {}m }}\n",
      s.rails > 0 ? "rail" : "block", s.host_speed, s.host_length);
  if (s.spines > 0)
    text += fmt::format(
        "  - {{ from: leaf, to: spine, wiring: mesh, count: {}, speed: {}G, cable: fibre, length: "
        "{}m }}\n",
        s.cables, s.spine_speed, s.spine_length);
  text += fmt::format("addressing: {{ family: {}, subnets: '{}', vlan: {} }}\n",
                      s.ipv6 ? "ipv6" : "ipv4", s.ipv6 ? "fd00:{rail}::/64" : "10.{rail}.0.0/16",
                      s.tagged ? 100 : 0);
  text += fmt::format("mtu: {{ host: {}B, switch: {}B, rdma: {}B }}\n", s.host_mtu, s.host_mtu + 26,
                      s.rdma_mtu);
  text += fmt::format(
      "classes:\n"
      "  rdma: {{ dscp: [26, 24-31], priority: 3, lossless: on, minimum: 50% }}\n"
      "  cnp: {{ dscp: [48, 49-55], priority: 6, scheduling: strict }}\n"
      "  storage: {{ dscp: 32-39, priority: 4, minimum: 20%, lossless: {} }}\n"
      "  best_effort: {{ priority: 0, minimum: 10% }}\n",
      drawn.two_lossless ? "on" : "off");
  text += fmt::format("wred: {{ ecn: {} }}\n", drawn.ecn ? "on" : "off");
  text += fmt::format("dcqcn: {{ reaction_point: {} }}\n", drawn.reacts ? "on" : "off");
  text += fmt::format("buffers: {{ alpha: {}, xon_offset: {}B{} }}\n", s.alpha, s.xon_offset,
                      s.static_xoff ? ", threshold: static, xoff: 20000B" : "");
  text += fmt::format("load_balancing: {{ mode: {} }}\nnccl: {{ timeout: 8 }}\n", s.mode);
  return text;
}

inline std::string draw_workload(Draw& draw, const DrawnFabric& drawn, std::uint64_t hosts) {
  // Few large messages, or many small ones: small frames waste cells.
  const std::uint64_t size = draw.coin() ? draw.between(100'000, 600'000) : draw.between(1, 20'000);
  const std::uint64_t rounds = size < 20'000 ? draw.between(4, 40) : 1;
  const std::uint64_t qps = draw.between(1, 4);
  const auto op = draw.of(std::array<std::string_view, 3>{"write", "send", "read"});
  const auto of_class = drawn.two_lossless && draw.coin() ? ",class=storage" : "";
  const std::string common = fmt::format("op={},qps={}{}", op, qps, of_class);
  const std::uint64_t to = draw.between(1, hosts);
  switch (draw.between(0, 5)) {
    case 0:
      return fmt::format("permutation,size={}B,iterations={},depth=4,{}", size * 4, rounds, common);
    case 1: return fmt::format("all-to-all,size={}B,iterations={},{}", size, rounds, common);
    case 2:
      return fmt::format("all-reduce,size={}B,iterations={},{}", size * hosts, rounds, common);
    case 3: return fmt::format("flows,sizes={}B,load=90%,duration=40us,{}", size, common);
    default:
      return fmt::format("incast,to=h{:02},size={}B,iterations={},depth=8,{}", to, size, rounds * 2,
                         common);
  }
}

/// One of each seed, complete with its buffers. `rails`: see DrawnShape.
inline DrawnFabric draw_fabric(std::uint64_t seed, std::uint64_t rails = 0) {
  Draw draw(seed);
  DrawnShape shape = draw_shape(draw);
  shape.rails = rails;
  if (rails > 0) {
    shape.leaves = rails;
    shape.spines = 0;
    shape.hosts = 3 + shape.hosts % 3;
  }
  DrawnFabric drawn;
  drawn.two_lossless = draw.coin();
  drawn.ecn = draw.coin();
  drawn.reacts = draw.coin();
  drawn.cut_through = draw.coin();
  drawn.mixed_speeds = shape.spines > 0 && shape.host_speed != shape.spine_speed;
  // The headroom is the derived one; what it takes is known once a design of any buffer is derived.
  constexpr std::int64_t kPlenty = 2'000'000'000;
  const design::Loaded roomy = design::load_text(design_text(shape, drawn, {kPlenty, kPlenty}), "");
  std::array<std::int64_t, 2> buffer{kPlenty, kPlenty};
  if (roomy.is_good()) {
    const design::Derived derived = design::derive(roomy.design);
    buffer[0] = promised_bytes(derived.intent.switches.front());
    buffer[1] = promised_bytes(derived.intent.switches.back());
  }
  for (std::int64_t& bytes : buffer)
    bytes += static_cast<std::int64_t>(draw.between(20'000, draw.coin() ? 100'000 : 2'000'000));
  drawn.text = design_text(shape, drawn, buffer);
  drawn.workloads.push_back(draw_workload(draw, drawn, shape.hosts));
  if (draw.coin()) drawn.workloads.push_back(draw_workload(draw, drawn, shape.hosts));
  return drawn;
}

/// A drawn fabric, made.
struct DrawnRun {
  std::unique_ptr<Workloads> load;
  std::unique_ptr<Sim> sim;
  std::string error;  // empty: it can run
};
inline DrawnRun make_drawn_run(const DrawnFabric& drawn, std::uint64_t seed, unsigned threads = 1) {
  DrawnRun run;
  const design::Loaded loaded = design::load_text(drawn.text, "drawn");
  if (!loaded.is_good()) return {nullptr, nullptr, design::to_text(loaded)};
  const design::Derived derived = design::derive(loaded.design);
  if (!derived.errors.empty()) return {nullptr, nullptr, derived.errors[0].message};
  auto fabric = build_network(loaded.design, derived.intent, {seed});
  if (!fabric) return {nullptr, nullptr, fabric.error().what};
  std::vector<WorkloadSpec> specs;
  for (const std::string& text : drawn.workloads) {
    auto spec = parse_workload(text);
    if (!spec) return {nullptr, nullptr, spec.error().what};
    specs.push_back(*spec);
  }
  auto load = Workloads::add(*fabric, specs);
  if (!load) return {nullptr, nullptr, load.error().what};
  auto sim = Sim::make(std::move(fabric->network), (*load)->threads(threads));
  if (!sim) return {nullptr, nullptr, sim.error().what};
  run.load = std::move(*load);
  run.sim = std::move(*sim);
  run.load->start(*run.sim);
  return run;
}

}  // namespace weir::sim::test

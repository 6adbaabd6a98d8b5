#pragma once
// Designs drawn at random, for property tests of whatever is made from a design: every setting that
// a switch's configuration may show, in combinations that nobody would write by hand. All of them
// load and derive; lint may well object.
#include <algorithm>
#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include <fmt/format.h>

#include "base/rng.h"
#include "design/file/words.h"
#include "design/tables/platforms.h"

namespace weir::design {

class DesignDraw {
 public:
  explicit DesignDraw(std::uint64_t seed) : random_(seed, 0, 0) {}

  std::uint64_t between(std::uint64_t low, std::uint64_t high) {
    return low + random_.below(high - low + 1);
  }
  bool one_in(std::uint64_t n) { return random_.below(n) == 0; }
  template <class T, std::size_t N>
  T pick(const std::array<T, N>& choices) {
    return choices[random_.below(N)];
  }
  std::string_view on_off() { return one_in(2) ? "on" : "off"; }

 private:
  RandomStream random_;
};

/// Eight numbers in an order of their own.
inline std::array<unsigned, 8> drawn_order(DesignDraw& draw) {
  std::array<unsigned, 8> out = {0, 1, 2, 3, 4, 5, 6, 7};
  for (std::size_t i = 7; i > 0; --i)
    std::swap(out.at(i), out.at(draw.between(0, i)));
  return out;
}

/// Five classes; half of the designs have priorities and queues as in most fabrics.
inline std::string drawn_classes(DesignDraw& draw) {
  const bool is_usual = draw.one_in(2);
  const bool moves_queues = !is_usual && draw.one_in(2);
  std::array<unsigned, 8> order = {3, 6, 4, 2, 0, 1, 5, 7};
  if (!is_usual) order = drawn_order(draw);
  const auto queues = drawn_order(draw);
  // Code points of no class follow best effort, which therefore has priority 0.
  std::swap(*std::find(order.begin(), order.end(), 0U), order.at(4));
  const auto line = [&](std::string_view name, std::string_view dscp, std::size_t i,
                        std::string rest) {
    return fmt::format("  {}: {{ {}{}priority: {}, queue: {}{} }}\n", name, dscp,
                       dscp.empty() ? "" : ", ", order.at(i),
                       moves_queues ? queues.at(order.at(i)) : order.at(i), rest);
  };
  const auto limit = [&] {
    return draw.one_in(3) ? fmt::format(", limit: {}%", draw.between(1, 100)) : std::string();
  };
  std::string out = "classes:\n";
  out += line("rdma", is_usual ? "dscp: [26, 24-31]" : "dscp: [26, 3, 24-25]", 0,
              fmt::format(", lossless: on, minimum: {}%", draw.between(1, 60)));
  out += line("cnp", draw.one_in(2) ? "dscp: [48, 49-55]" : "dscp: 48", 1,
              fmt::format(", scheduling: strict{}", limit()));
  out += line("storage", "dscp: 32-39", 2,
              fmt::format(", lossless: {}, minimum: {}%{}", draw.one_in(3) ? "on" : "off",
                          draw.between(1, 15), limit()));
  out += line("management", "dscp: 16-23", 3,
              fmt::format(", minimum: {}%{}", draw.between(1, 10), limit()));
  out += line("best_effort", "", 4, fmt::format(", minimum: {}%", draw.between(1, 15)));
  return out;
}

inline std::string_view drawn_asic(DesignDraw& draw, SwitchSystem system) {
  std::vector<std::string_view> fit;
  for (const AsicModel& asic : asic_models())
    if (runs_on(system, asic)) fit.push_back(asic.name);
  return fit[draw.between(0, fit.size() - 1)];
}

/// A group of switches, sometimes with settings of its own.
inline std::string drawn_switches(DesignDraw& draw, std::string_view name, std::uint64_t count,
                                  int tier, SwitchSystem system) {
  std::string out = fmt::format(
      "  {0}: {{ names: '{0}[1-{1}]', system: {2}, asic: {3}, tier: {4}, ports: 64, buffer: 200MB",
      name, count, to_word(system), drawn_asic(draw, system), tier);
  if (draw.one_in(5)) out += fmt::format(", headroom: {}B", draw.between(30'000, 900'000));
  if (draw.one_in(8)) out += ", global_pause: on";
  if (draw.one_in(6)) out += ", rewrites_dscp: on";
  if (draw.one_in(6)) out += fmt::format(", watchdog: {}", draw.on_off());
  if (draw.one_in(5)) out += fmt::format(", ecmp_seed: {}", draw.between(0, 2147483647));
  if (draw.one_in(5)) out += fmt::format(", mtu: {}B", draw.between(4200, 9216));
  if (draw.one_in(4)) out += ", forwarding: store-and-forward";
  if (draw.one_in(6)) out += fmt::format(", trust: {}", draw.one_in(2) ? "pcp" : "dscp");
  if (draw.one_in(5))
    out += fmt::format(", wred: {{ min: {}KB, probability: {}% }}", draw.between(50, 400),
                       draw.between(1, 100));
  if (draw.one_in(5))
    out += fmt::format(", dscp_overrides: [{{ dscp: {}, priority: {} }}]", draw.between(0, 63),
                       draw.between(0, 7));
  return out + " }\n";
}

/// `lag`: parallel links between switches are a port-channel.
inline std::string drawn_links(DesignDraw& draw, bool has_spines, bool lag) {
  constexpr std::array<int, 5> kSpeeds = {25, 100, 200, 400, 800};
  constexpr std::array<std::string_view, 6> kLengths = {"1m", "2.5m", "3m", "30m", "100m", "300m"};
  const auto link = [&](std::string_view from, std::string_view to, std::string_view wiring) {
    std::string out = fmt::format(
        "  - {{ from: {}, to: {}, wiring: {}, count: {}, speed: {}G, cable: {}, length: {}", from,
        to, wiring, wiring == "mesh" ? draw.between(1, 3) : 1, draw.pick(kSpeeds),
        draw.pick(std::array<std::string_view, 3>{"dac", "aoc", "fibre"}), draw.pick(kLengths));
    const bool is_parallel = wiring == "mesh" && out.find("count: 1,") == std::string::npos;
    if (lag && is_parallel) out += ", lag: on";
    if (draw.one_in(6)) out += fmt::format(", mtu: {}B", draw.between(4200, 9216));
    if (draw.one_in(6)) out += fmt::format(", shaper: {}Mbps", draw.between(1, 25'000));
    return out + " }\n";
  };
  return "links:\n" + link("h", "leaf", "block") +
         (has_spines ? link("leaf", "spine", "mesh") : "");
}

inline std::string drawn_buffers(DesignDraw& draw) {
  std::string out = fmt::format(
      "buffers: {{ profile: {}, alpha: {}, egress_alpha: {}, xon_offset: {}B, "
      "headroom_oversubscription: {}",
      draw.pick(std::array<std::string_view, 3>{"vendor", "roce-balanced", "roce-aggressive"}),
      draw.pick(std::array<std::string_view, 6>{"1/128", "1/16", "1/4", "1", "2", "8"}),
      draw.pick(std::array<std::string_view, 4>{"1/4", "1", "4", "8"}),
      draw.pick(std::array<int, 3>{0, 3'000, 18'432}), draw.one_in(4) ? draw.between(2, 8) : 1);
  if (draw.one_in(4)) out += fmt::format(", headroom: {}B", draw.between(30'000, 900'000));
  if (draw.one_in(4))
    out += fmt::format(", threshold: static, xoff: {}B", draw.between(20'000, 2'000'000));
  if (draw.one_in(4)) out += fmt::format(", reserved_per_port: {}B", draw.between(0, 4) * 1'536);
  return out + " }\n";
}

/// The text of a design whose switches all run `system`. The same seed gives the same design.
inline std::string drawn_design(std::uint64_t seed, SwitchSystem system) {
  DesignDraw draw(seed);
  const std::uint64_t leaves = draw.between(1, 3);
  const std::uint64_t spines = leaves == 1 ? 0 : draw.between(1, 2);
  std::string out = "weir: 1\nname: drawn\n";
  out += fmt::format("hosts:\n  h: {{ names: 'h[01-{:02}]', nic: connectx7 }}\nswitches:\n",
                     leaves * draw.between(1, 4));
  out += drawn_switches(draw, "leaf", leaves, 1, system);
  if (spines > 0) out += drawn_switches(draw, "spine", spines, 2, system);
  out += drawn_links(draw, spines > 0, seed % 2 == 0);
  out += fmt::format("addressing: {{ subnets: '10.{{rail}}.0.0/16', vlan: {}, l3_from: {} }}\n",
                     draw.one_in(2) ? 0 : draw.between(1, 4094), draw.one_in(4) ? "spine" : "leaf");
  out += fmt::format("mtu: {{ host: 4200B, switch: {}B, rdma: 4096B }}\n",
                     draw.one_in(2) ? 9216 : draw.between(4300, 9216));
  out += fmt::format("trust: {}\n", draw.one_in(4) ? "pcp" : "dscp");
  out += drawn_classes(draw);
  const auto min = draw.between(10'000, 500'000);
  out += fmt::format("wred: {{ ecn: {}, min: {}B, max: {}B, probability: {}.{}%, at_speed: {} }}\n",
                     draw.one_in(6) ? "off" : "on", min, min + draw.between(1, 3'000'000),
                     draw.between(1, 99), draw.between(0, 9), draw.one_in(2) ? "400G" : "100G");
  out +=
      fmt::format("watchdog: {{ enabled: {}, detect: {}ms, restore: {}ms, action: {} }}\n",
                  draw.one_in(6) ? "off" : "on", draw.between(50, 2'000), draw.between(50, 3'000),
                  draw.pick(std::array<std::string_view, 3>{"drop", "forward", "alert"}));
  out += drawn_buffers(draw);
  out +=
      fmt::format("load_balancing: {{ mode: {}, seeds: {} }}\n",
                  draw.pick(std::array<std::string_view, 4>{"ecmp", "ecmp", "adaptive", "spray"}),
                  draw.one_in(2) ? "per-switch" : "same");
  out += fmt::format("telemetry: {{ gnmi: {}, sflow: {}, interval: {}s }}\n", draw.on_off(),
                     draw.on_off(), draw.between(1, 60));
  return out;
}

}  // namespace weir::design

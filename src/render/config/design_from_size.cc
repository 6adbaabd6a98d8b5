#include "render/config/design_from_size.h"

#include <algorithm>

#include <fmt/format.h>

#include "design/file/words.h"
#include "design/tables/platforms.h"
#include "design/tables/switch_models.h"
#include "units/format.h"

namespace weir::render {
namespace {

/// Two tiers: pods of hosts, leaves that the rails of a pod share, spines over all.
struct Plan {
  int pods = 1;
  int leaves_per_pod = 1;
  int hosts_per_pod = 1;  // in the last pod perhaps fewer
  int down = 0;           // links of a leaf to hosts, at most
  int spines = 0;         // 0: one leaf holds all
  int per_spine = 0;      // links of a leaf to each spine
  [[nodiscard]] int leaves() const { return pods * leaves_per_pod; }
};

std::vector<int> divisors(int number) {
  std::vector<int> out;
  for (int d = 1; d <= number; ++d)
    if (number % d == 0) out.push_back(d);
  return out;
}

/// Spines and links to each, so that a leaf has as much up as down and no spine is overfull.
bool add_spines(int ports, Plan& plan) {
  for (int up = plan.down; up <= ports - plan.down; ++up) {
    for (const int spines : divisors(up)) {
      if (plan.leaves() * (up / spines) > ports) continue;
      plan.spines = spines;
      plan.per_spine = up / spines;
      return true;
    }
  }
  return false;
}

bool plan_pods(const FabricSize& size, int ports, int pods, Plan& plan) {
  plan.pods = pods;
  plan.hosts_per_pod = (size.hosts + pods - 1) / pods;
  // As few leaves as hold the rails of a pod; each takes the same number of rails.
  for (const int leaves : divisors(size.rails)) {
    plan.leaves_per_pod = leaves;
    plan.down = plan.hosts_per_pod * (size.rails / leaves);
    if (plan.leaves() == 1 && plan.down <= ports) return true;
    if (plan.leaves() > 1 && plan.down * 2 <= ports) return add_spines(ports, plan);
  }
  return false;
}

std::string numbered(std::string_view name, int count) {
  if (count == 1) return fmt::format("{}1", name);
  const int width = static_cast<int>(std::to_string(count).size());
  return fmt::format("{}[{:0{}}-{}]", name, 1, width, count);
}

/// Nodes `first` to `last` of a group of `count`.
std::string part_of(std::string_view name, int count, int first, int last) {
  const int width = static_cast<int>(std::to_string(count).size());
  if (first == last) return fmt::format("{}{:0{}}", name, first, count == 1 ? 1 : width);
  return fmt::format("{}[{:0{}}-{:0{}}]", name, first, width, last, width);
}

std::string_view nic_for(BitRate speed) {
  if (speed <= 100_Gbps) return "connectx6dx";
  if (speed <= 200_Gbps) return "connectx6dx";
  return speed <= 400_Gbps ? "connectx7" : "connectx8";
}

/// Copper where it reaches, which at 800G is 2 m.
std::string access_cable(BitRate speed) {
  return speed >= 800_Gbps ? "cable: dac, length: 2m" : "cable: dac, length: 3m";
}

std::string links_text(const FabricSize& size, const Plan& plan) {
  const std::string access =
      fmt::format("wiring: rail, speed: {}, {} }}", to_text(size.speed), access_cable(size.speed));
  std::string out = "links:                        # lower end first\n";
  if (size.hosts % plan.pods == 0) {
    out += plan.pods == 1
               ? fmt::format("  - {{ from: gpu, to: leaf, {}\n", access)
               : fmt::format("  - {{ from: gpu, to: leaf, groups: {}, {}\n", plan.pods, access);
  } else {
    for (int pod = 0; pod < plan.pods; ++pod) {
      const int first = pod * plan.hosts_per_pod + 1;
      const int last = std::min(first + plan.hosts_per_pod - 1, size.hosts);
      out += fmt::format("  - {{ from: \"{}\", to: \"{}\", {}\n",
                         part_of("gpu", size.hosts, first, last),
                         part_of("leaf", plan.leaves(), pod * plan.leaves_per_pod + 1,
                                 (pod + 1) * plan.leaves_per_pod),
                         access);
    }
  }
  if (plan.spines > 0)
    out += fmt::format(
        "  - {{ from: leaf, to: spine, wiring: mesh, count: {}, speed: {}, cable: fibre, length: "
        "30m }}\n",
        plan.per_spine, to_text(size.speed));
  return out;
}

std::string switches_text(const FabricSize& size, std::string_view name, int count, int tier) {
  return fmt::format("  {}:\n    names: {}\n    system: {}\n    model: {}{}\n    tier: {}\n", name,
                     numbered(name, count), design::to_word(size.system), size.model,
                     tier == 1 ? "             # weir explain models" : "", tier);
}

constexpr std::string_view kRest = R"(
mtu:
  host: 9000B                 # an IP packet
  switch: 9216B               # a frame
  rdma: 4096B                 # payload of an RDMA packet

trust: dscp

classes:
  rdma:
    dscp: [26, 24-31]         # marked with 26 (TOS byte 106); the whole octet is lossless
    priority: 3
    lossless: on
    minimum: 50%
  cnp:
    dscp: [48, 49-55]         # congestion notifications: their own strict class, never paused
    priority: 6
    scheduling: strict
  management:
    dscp: 16-23
    priority: 2
    minimum: 5%
  best_effort:                # every other code point
    priority: 0
    minimum: 20%

watchdog:
  enabled: on
  detect: 200ms
  restore: 200ms

load_balancing:
  mode: ecmp
  seeds: per-switch           # the same seed at two tiers polarises: half of the links stay idle
)";

std::string text_of(const FabricSize& size, const Plan& plan) {
  std::string out = fmt::format(
      "# {} hosts with {} at {}: {} and {} of model {}, no oversubscription. Lengths and names are "
      "assumed: change what differs.\n"
      "# Everything that is not written here has a default; `weir lint --show-effective` shows "
      "each with its reason.\n"
      "weir: 1\nname: fabric\n\nhosts:\n  gpu:\n    names: {}\n    nic: {}             # weir "
      "explain nics\n    stack: ofed               # NVIDIA's driver; inbox: the distribution's\n"
      "    rails: {}                  # RDMA NICs per host\n\nswitches:\n",
      size.hosts, size.rails == 1 ? "one NIC" : fmt::format("{} NICs", size.rails),
      to_text(size.speed),
      plan.leaves() == 1 ? "one leaf" : fmt::format("{} leaves", plan.leaves()),
      plan.spines == 0   ? "no spine"
      : plan.spines == 1 ? "one spine"
                         : fmt::format("{} spines", plan.spines),
      size.model, numbered("gpu", size.hosts), nic_for(size.speed), size.rails);
  out += switches_text(size, "leaf", plan.leaves(), 1);
  if (plan.spines > 0) out += switches_text(size, "spine", plan.spines, 2);
  out += "\n" + links_text(size, plan);
  // A leaf has at most 128 NICs of a rail; with more than 256 leaves the second octet is not
  // enough.
  out += fmt::format(
      "\naddressing:\n  subnets: {}\n  l3_from: leaf               # routed from the leaf up\n",
      plan.leaves() <= 256 ? "10.{rail}.{leaf}.0/24   # a subnet of its own for each rail and leaf"
                           : "fd00:{rail}:{leaf}::/64\n  family: ipv6");
  return out + std::string(kRest);
}

}  // namespace

std::string usual_model(design::SwitchSystem system) {
  switch (system) {
    case design::SwitchSystem::kCumulus:
    case design::SwitchSystem::kSonic: return "sn5600";
    case design::SwitchSystem::kEos: return "7060x6-64pe";
    case design::SwitchSystem::kNxos: return "n9364e-sg2-o";
    case design::SwitchSystem::kJunos: return "qfx5240-64od";
  }
  WEIR_UNREACHABLE("every system has a usual model");
}

Result<std::string> design_from_size(const FabricSize& size) {
  const design::SwitchModel* const model = design::find_switch_model(size.model);
  if (model == nullptr)
    return invalid_error(fmt::format("no switch model '{}': weir explain models", size.model));
  const bool has_names = size.system != design::SwitchSystem::kSonic || model->has_sonic_names;
  if (!model->runs(size.system))
    return invalid_error(fmt::format("{} does not run on {}: weir explain models",
                                     vocab::names_of(size.system).title, model->title));
  if (model->is_modular() || !has_names)
    return invalid_error(fmt::format("{} with {}: port names are not known; weir explain models",
                                     model->title, vocab::names_of(size.system).title));
  const int ports = design::most_ports(*model, size.speed);
  if (ports == 0)
    return invalid_error(
        fmt::format("{} has no {} ports: another --speed or --model (weir explain models)",
                    model->title, to_text(size.speed)));
  Plan plan;
  for (int pods = 1; pods <= size.hosts; ++pods)
    if (plan_pods(size, ports, pods, plan)) return text_of(size, plan);
  return invalid_error(
      fmt::format("{} hosts with {} NICs at {} need more than two tiers of {} ({} ports each): "
                  "start from weir init --template clos1k",
                  size.hosts, size.rails, to_text(size.speed), model->title, ports));
}

}  // namespace weir::render

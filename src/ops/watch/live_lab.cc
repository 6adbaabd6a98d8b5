#include "ops/watch/live_lab.h"

#include <chrono>
#include <utility>

#include "sim/workload/workload_spec.h"

namespace weir::ops {
namespace {

constexpr int kShareOfPace = 3;  // one part of so many
/// All-to-all has the square of it in messages.
constexpr std::size_t kMostHostsAllToAll = 64;

/// Places of the ports of an intent: NICs host by host, then ports switch by switch.
class PortPlaces {
 public:
  explicit PortPlaces(const design::Intent& intent) {
    std::size_t next = 0;
    for (const design::HostIntent& host : intent.hosts) {
      hosts_.push_back(next);
      next += host.nics.size();
    }
    for (const design::SwitchIntent& device : intent.switches) {
      switches_.push_back(next);
      next += device.ports.size();
    }
  }
  [[nodiscard]] std::size_t of(const design::PortRef& port) const {
    const bool is_host = port.kind == design::NodeKind::kHost;
    return (is_host ? hosts_ : switches_)[port.node] + port.port;
  }

 private:
  std::vector<std::size_t> hosts_;
  std::vector<std::size_t> switches_;
};

/// Without what they do.
std::vector<WatchedPort> simulated_ports(const design::Intent& intent,
                                         const sim::Network& network) {
  const PortPlaces places(intent);
  std::vector<WatchedPort> out;
  for (std::uint32_t h = 0; h < intent.hosts.size(); ++h)
    for (const design::NicIntent& nic : intent.hosts[h].nics) {
      WatchedPort& port = out.emplace_back();
      port.device = intent.hosts[h].name;
      port.name = nic.device;
      port.rail = static_cast<unsigned>(nic.rail);
      port.speed = network.links[sim::LinkId{nic.link}].rate;
      const design::LinkIntent& link = intent.links[nic.link];
      const bool is_lower =
          link.lower.kind == design::NodeKind::kHost && places.of(link.lower) == out.size() - 1;
      port.peer = places.of(is_lower ? link.upper : link.lower);
    }
  for (const design::SwitchIntent& device : intent.switches)
    for (const design::SwitchPortIntent& wanted : device.ports) {
      WatchedPort& port = out.emplace_back();
      port.device = device.name;
      port.name = wanted.name;
      port.tier = device.tier;
      port.speed = network.links[sim::LinkId{wanted.link}].rate;
      port.peer = places.of(wanted.peer);
    }
  return out;
}

Rates rates_of(const sim::PortActivity& did, Duration elapsed) {
  const auto seconds = static_cast<double>(elapsed.raw()) / 1e12;
  const auto rate = [&](std::optional<std::uint64_t> amount,
                        double times) -> std::optional<double> {
    if (!amount) return std::nullopt;
    return static_cast<double>(*amount) * times / seconds;
  };
  const auto share = [&](std::optional<Duration> time) -> std::optional<double> {
    if (!time) return std::nullopt;
    return static_cast<double>(time->raw()) / static_cast<double>(elapsed.raw());
  };
  return {.sent = rate(did.sent, 8),
          .received = rate(did.received, 8),
          .paused = share(did.paused),
          .pausing = share(did.pausing),
          .marks = rate(did.marks, 1),
          .cnps = rate(did.cnps, 1),
          .losses = rate(did.losses, 1)};
}

}  // namespace

std::string LiveLab::usual_load(std::size_t hosts) {
  return hosts <= kMostHostsAllToAll ? "all-to-all,size=1MB" : "permutation,size=64MB";
}

Result<LiveLab> LiveLab::open(const std::string& directory, const std::string& load,
                              Duration pace) {
  auto spec = sim::parse_workload(load);
  if (!spec) return bad_request(spec.error().within("--load").what);
  lab::Load runs;
  runs.command = load;
  runs.workloads = {std::move(*spec)};
  WEIR_TRY(live, or_bad_input(lab::LiveLoad::start(directory, std::move(runs))));
  return LiveLab(load, std::move(live), pace);
}

Result<LabStep> LiveLab::step() {
  const auto busy = std::chrono::nanoseconds(pace_.raw() / 1000 / kShareOfPace);
  WEIR_TRY(slice, or_bad_input(load_.advance(pace_, busy)));
  if (slice.is_new_network) ports_ = simulated_ports(load_.intent(), load_.network());
  LabStep out{.simulated = slice.simulated,
              .clock = slice.clock,
              .faults = load_.faults(),
              .ports = ports_,
              .changes = slice.settings,
              .shown_changes = slice.saved_settings};
  for (std::size_t i = 0; i < out.ports.size(); ++i) {
    out.ports[i].up = slice.ports[i].up;
    if (slice.simulated > Duration())
      static_cast<Rates&>(out.ports[i]) = rates_of(slice.ports[i], slice.simulated);
  }
  return out;
}

}  // namespace weir::ops

#include "ops/verify/probe.h"

#include <algorithm>
#include <array>

#include <fmt/format.h>
#include <unistd.h>

#include "counters/delta.h"
#include "host/linux/host.h"

namespace weir::ops {
namespace {

using host::MtuFinding;
using host::ProbeMethod;
using host::ProbeTarget;

/// Local counters around the probes: the interface's, and the NIC's where it has RDMA.
class CounterWatch {
 public:
  explicit CounterWatch(std::string interface)
      : interface_(std::move(interface)), host_(host::make_linux_host()) {
    before_ = host::interface_counters(interface_);
    snapshot_ = take();
  }

  [[nodiscard]] std::vector<diagnose::MovedCounter> moved() {
    std::vector<diagnose::MovedCounter> out;
    const auto after = host::interface_counters(interface_);
    for (std::size_t i = 0; i < std::min(after.size(), before_.size()); ++i) {
      const std::uint32_t amount = after[i].value - before_[i].value;  // 32 bits, modulo
      if (amount > 0) out.push_back({std::string(after[i].name), amount});
    }
    add_nic(out);
    return out;
  }

 private:
  std::optional<counters::Snapshot> take() {
    auto snapshot = host_->snapshot();
    if (!snapshot) return std::nullopt;  // no RDMA device: the interface's own must do
    return std::move(*snapshot);
  }

  void add_nic(std::vector<diagnose::MovedCounter>& out) {
    const auto after = take();
    if (!after || !snapshot_) return;
    const auto delta = counters::difference(*snapshot_, *after);
    if (!delta) return;
    for (const counters::PortDelta& nic : delta->nics) {
      if (nic.netdev != interface_) continue;
      for (const counters::Delta& moved : nic.deltas) {
        const bool counts = moved.match && moved.amount.value_or(0) > 0 &&
                            (moved.match.counter->topic == counters::Topic::kLoss ||
                             moved.match.counter->topic == counters::Topic::kError ||
                             moved.match.counter->topic == counters::Topic::kPhy);
        if (counts) out.push_back({moved.key(), *moved.amount});
      }
    }
  }

  std::string interface_;
  std::unique_ptr<host::HostIo> host_;
  std::vector<host::InterfaceCounter> before_;
  std::optional<counters::Snapshot> snapshot_;
};

std::string hop_text(const MtuFinding& found, std::size_t index) {
  const host::ProbeHop& hop = found.hops[index];
  const bool is_peer = index + 1 == found.hops.size();
  return fmt::format("{} ({})", hop.address.empty() ? "*" : hop.address,
                     is_peer ? std::string("the peer") : fmt::format("hop {}", hop.ttl));
}

std::string this_host() {
  std::array<char, 256> name{};
  return ::gethostname(name.data(), name.size() - 1) == 0 ? name.data() : "this host";
}

diagnose::PathMtu measured(const Probed& probed) {
  const MtuFinding& found = probed.found;
  diagnose::PathMtu path{.host = this_host(),
                         .interface = probed.target.interface,
                         .peer = peer_text(probed.target),
                         .method = std::string(to_text(probed.method)),
                         .is_answered = found.is_answered,
                         .mtu = found.mtu,
                         .tried = found.tried,
                         .bottleneck = {},
                         .is_silent = found.is_silent(),
                         .replies = {},
                         .moved = probed.moved};
  if (found.is_narrow()) path.bottleneck = bottleneck_text(probed.target, found);
  for (const host::ProbeReply& reply : found.said)
    path.replies.push_back({reply.from, reply.mtu});
  return path;
}

weir::Result<host::ProbeOptions> options_of(const ProbeRequest& request,
                                            const ProbeTarget& target) {
  host::ProbeOptions options;
  constexpr std::uint32_t kSmallestIpv6 = 1280;  // RFC 8200: every link carries it
  constexpr std::uint32_t kLargest = 65535;
  constexpr std::uint32_t kHeaders = 60;
  if (target.is_ipv6) options.smallest = kSmallestIpv6;
  if (target.interface_mtu > 0) options.largest = target.interface_mtu;
  if (request.size) options.largest = *request.size;
  // The loopback's MTU is more than an IP packet can be.
  options.largest = std::min(options.largest, kLargest);
  options.smallest = std::min(options.smallest, options.largest);
  if (options.largest <= kHeaders) return invalid_error("--size: smaller than its own headers");
  options.wait = request.wait;
  options.most_hops = request.most_hops;
  return options;
}

/// By the methods that are allowed, until the peer answers one.
weir::Status search(const ProbeRequest& request, const host::ProbeOptions& options,
                    const std::vector<ProbeMethod>& methods, Probed& probed) {
  std::optional<Error> error;
  for (const ProbeMethod method : methods) {
    const auto io = host::make_probe_io(probed.target, method, request.dscp);
    host::ProbeOptions own = options;
    own.is_peer_limited = method == ProbeMethod::kUdp;
    auto found = host::find_mtu(*io, own);
    if (!found) {
      error = found.error();
      continue;
    }
    error.reset();
    probed.method = method;
    probed.found = std::move(*found);
    if (probed.found.is_answered) break;
  }
  if (error) return *error;
  return {};
}

}  // namespace

std::string peer_text(const ProbeTarget& target) {
  return target.name == target.address ? target.name
                                       : fmt::format("{} ({})", target.name, target.address);
}

std::string bottleneck_text(const ProbeTarget& target, const MtuFinding& found) {
  if (found.is_local) return fmt::format("at this host's own interface {}", target.interface);
  const std::string first =
      found.after ? hop_text(found, *found.after) : fmt::format("this host ({})", target.interface);
  if (!found.before) return fmt::format("somewhere behind {}", first);
  return fmt::format("between {} and {}", first, hop_text(found, *found.before));
}

Result<Probed> probe_mtu(const ProbeRequest& request) {
  auto target = host::resolve_probe_target(request.peer, request.family);
  if (!target) {
    const bool is_input =
        target.error().code == ErrorCode::kNotFound || target.error().code == ErrorCode::kInvalid;
    return Failure{is_input ? FailureKind::kBadInput : FailureKind::kCouldNotLook,
                   target.error().what};
  }
  Probed probed{.target = std::move(*target)};
  WEIR_TRY(options, or_bad_request(options_of(request, probed.target)));
  std::vector<ProbeMethod> methods = host::probe_methods(probed.target);
  if (request.method) {
    std::erase_if(methods, [&](ProbeMethod method) { return method != *request.method; });
    if (methods.empty())
      return could_not_look(
          fmt::format("--using {}: not permitted here; ping needs net.ipv4.ping_group_range, raw "
                      "needs CAP_NET_RAW, udp needs nothing",
                      to_text(*request.method)));
  }
  CounterWatch watch(probed.target.interface);
  WEIR_TRY_STATUS(or_could_not_look(search(request, options, methods, probed)));
  probed.moved = watch.moved();
  probed.judgement = diagnose::judge_path_mtu(measured(probed));
  return probed;
}

}  // namespace weir::ops

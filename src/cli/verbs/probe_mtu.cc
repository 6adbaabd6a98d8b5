// weir probe mtu: what the path to a peer carries, and where it gets narrow.
#include "host/probe/probe_mtu.h"

#include <algorithm>
#include <array>

#include <fmt/format.h>
#include <unistd.h>

#include "base/json.h"
#include "base/table.h"
#include "base/text.h"
#include "cli/frame/commands.h"
#include "cli/frame/judging.h"
#include "counters/delta.h"
#include "finding/catalog.h"
#include "host/linux/host.h"
#include "host/probe/probe_socket.h"
#include "units/format.h"

namespace weir::cli {
namespace {

using host::MtuFinding;
using host::ProbeHop;
using host::ProbeMethod;
using host::ProbeTarget;

/// A counter of this host that moved while the probes ran.
struct Moved {
  std::string name;
  std::uint64_t amount = 0;
};

/// Local counters around the probes: the interface's, and the NIC's where it has RDMA.
class Watch {
 public:
  explicit Watch(std::string interface)
      : interface_(std::move(interface)), host_(host::make_linux_host()) {
    before_ = host::interface_counters(interface_);
    snapshot_ = take();
  }

  [[nodiscard]] std::vector<Moved> moved() {
    std::vector<Moved> out;
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

  void add_nic(std::vector<Moved>& out) {
    const auto after = take();
    if (!after || !snapshot_) return;
    const auto delta = counters::difference(*snapshot_, *after);
    if (!delta) return;
    for (const counters::PortDelta& nic : delta->nics) {
      if (nic.netdev != interface_) continue;
      for (const counters::Delta& one : nic.deltas) {
        const bool counts = one.match && one.amount.value_or(0) > 0 &&
                            (one.match.counter->topic == counters::Topic::kLoss ||
                             one.match.counter->topic == counters::Topic::kError ||
                             one.match.counter->topic == counters::Topic::kPhy);
        if (counts) out.push_back({one.key(), *one.amount});
      }
    }
  }

  std::string interface_;
  std::unique_ptr<host::HostIo> host_;
  std::vector<host::InterfaceCounter> before_;
  std::optional<counters::Snapshot> snapshot_;
};

/// Everything that is said of one probe.
struct Probed {
  ProbeTarget target;
  ProbeMethod method = ProbeMethod::kPing;
  MtuFinding found;
  std::vector<Moved> moved;
  finding::Judgement judgement;
};

std::string peer_text(const ProbeTarget& target) {
  return target.name == target.address ? target.name
                                       : fmt::format("{} ({})", target.name, target.address);
}

std::string hop_text(const MtuFinding& found, std::size_t index) {
  const ProbeHop& hop = found.hops[index];
  const bool is_peer = index + 1 == found.hops.size();
  return fmt::format("{} ({})", hop.address.empty() ? "*" : hop.address,
                     is_peer ? std::string("the peer") : fmt::format("hop {}", hop.ttl));
}

/// "between 10.1.0.2 (hop 1) and 10.2.0.1 (the peer)".
std::string segment_text(const Probed& probed) {
  const MtuFinding& found = probed.found;
  if (found.is_local)
    return fmt::format("at this host's own interface {}", probed.target.interface);
  const std::string first = found.after ? hop_text(found, *found.after)
                                        : fmt::format("this host ({})", probed.target.interface);
  if (!found.before) return fmt::format("somewhere behind {}", first);
  return fmt::format("between {} and {}", first, hop_text(found, *found.before));
}

std::string verdict_of(const Probed& probed) {
  const MtuFinding& found = probed.found;
  const std::string peer = peer_text(probed.target);
  if (!found.is_answered) {
    return fmt::format("{} does not answer: nothing can be said about the path{}.", peer,
                       found.unreachable.empty() ? "" : " (" + found.unreachable + ")");
  }
  if (!found.is_narrow())
    return fmt::format("The path to {} carries packets of {} B, all that was asked.", peer,
                       found.mtu);
  return fmt::format("The path to {} carries {} B of {} B: it gets narrow {}{}.", peer, found.mtu,
                     found.tried, segment_text(probed), found.is_silent() ? ", in silence" : "");
}

std::string this_host() {
  std::array<char, 256> name{};
  return ::gethostname(name.data(), name.size() - 1) == 0 ? name.data() : "this host";
}

void add_evidence(const Probed& probed, finding::Finding& finding) {
  const MtuFinding& found = probed.found;
  const auto line = [&](std::string text) {
    finding.evidence.push_back(
        {.source = fmt::format("probes by {}", to_text(probed.method)), .line = std::move(text)});
  };
  line(fmt::format("{} B answered, {} B not", found.mtu, found.mtu + 1));
  for (const host::ProbeReply& one : found.said) {
    line(fmt::format("{} said that {} is too big{}", one.from.empty() ? "a router" : one.from,
                     "a packet",
                     one.mtu > 0 ? fmt::format(", {} B would fit", one.mtu) : std::string()));
  }
  if (found.is_silent())
    line(
        "nobody said that a packet was too big: a switch port, a receiver, or a router whose ICMP "
        "is filtered");
  for (const Moved& one : probed.moved)
    line(fmt::format("{} on {} rose by {} meanwhile", one.name, probed.target.interface,
                     one.amount));
}

void judge(Probed& probed) {
  const MtuFinding& found = probed.found;
  if (!found.is_answered) {
    probed.judgement.unknown.push_back(
        {"the path's MTU", "the peer answers neither an ICMP echo nor a closed UDP port",
         "let the peer answer pings from here (its firewall, icmp_echo_ignore_all), or probe "
         "from the other end"});
    probed.judgement.conclusion = finding::Conclusion::kInconclusive;
    return;
  }
  if (found.is_narrow()) {
    finding::Finding finding = finding::make_finding(
        "mtu.mismatch",
        fmt::format("Packets of more than {} B do not reach {}: the path gets narrow {}.",
                    found.mtu, peer_text(probed.target), segment_text(probed)),
        {.host = this_host(), .port = probed.target.interface});
    add_evidence(probed, finding);
    probed.judgement.findings.push_back(std::move(finding));
  }
  finding::settle(probed.judgement);
}

void print_text(const Probed& probed, Context& context) {
  const MtuFinding& found = probed.found;
  if (!found.is_answered || context.quiet) return;
  const std::uint32_t payload = host::rdma_mtu_of(found.mtu, probed.target.is_ipv6);
  context.out << fmt::format(
      "\n  out by     {} (MTU {})\n  RDMA       {}\n  asked by   {}, {} packets, round trip {}\n",
      probed.target.interface.empty() ? "?" : probed.target.interface, probed.target.interface_mtu,
      payload == 0 ? std::string("no RDMA packet fits")
                   : fmt::format("packets of {} B payload fit", payload),
      to_text(probed.method), found.sent, approximate(found.round_trip));
  if (!found.hops.empty()) {
    TextTable table(
        {"hop", "address", fmt::format("{} B", found.small), fmt::format("{} B", found.mtu + 1)});
    for (std::size_t i = 0; i < found.hops.size(); ++i) {
      const ProbeHop& hop = found.hops[i];
      const bool is_tried = !found.before || i <= *found.before;
      table.add_row({i + 1 == found.hops.size() && hop.address == probed.target.address
                         ? "peer"
                         : std::to_string(hop.ttl),
                     hop.address.empty() ? "*" : hop.address, hop.small ? "came here" : "silent",
                     hop.large   ? "came here"
                     : !is_tried ? ""
                     : hop.small ? "did not"
                                 : "silent"});
    }
    context.out << '\n' << table.to_text(2);
  }
  for (const Moved& one : probed.moved)
    context.out << fmt::format("  {} rose by {} meanwhile\n", one.name, one.amount);
}

Json json_of(const Probed& probed) {
  const MtuFinding& found = probed.found;
  Json hops = Json::array();
  for (const ProbeHop& hop : found.hops)
    hops.push_back({{"ttl", hop.ttl},
                    {"address", hop.address.empty() ? Json(nullptr) : Json(hop.address)},
                    {"small", hop.small},
                    {"large", hop.large}});
  Json said = Json::array();
  for (const host::ProbeReply& one : found.said)
    said.push_back({{"from", one.from}, {"mtu", one.mtu}});
  Json moved = Json::array();
  for (const Moved& one : probed.moved)
    moved.push_back({{"name", one.name}, {"amount", one.amount}});
  const auto address_at = [&](const std::optional<std::size_t>& index) {
    if (!index || found.hops[*index].address.empty()) return Json(nullptr);
    return Json(found.hops[*index].address);
  };
  Json narrow = nullptr;
  if (found.is_narrow())
    narrow = {{"local", found.is_local},
              {"silent", found.is_silent()},
              {"after", address_at(found.after)},
              {"before", address_at(found.before)}};
  return {{"peer", probed.target.name},
          {"address", probed.target.address},
          {"method", to_text(probed.method)},
          {"answered", found.is_answered},
          {"mtu", found.is_answered ? Json(found.mtu) : Json(nullptr)},
          {"wanted", found.tried},
          {"rdma_mtu", found.is_answered ? Json(host::rdma_mtu_of(found.mtu, probed.target.is_ipv6))
                                         : Json(nullptr)},
          {"interface", probed.target.interface},
          {"interface_mtu", probed.target.interface_mtu},
          {"narrow", std::move(narrow)},
          {"hops", std::move(hops)},
          {"said", std::move(said)},
          {"counters", std::move(moved)},
          {"packets", found.sent}};
}

ExitCode print_probed(const Args& args, Context& context, const Probed& probed) {
  const std::string verdict = verdict_of(probed);
  if (context.json)
    return print_judgement(args, context, probed.judgement, verdict, json_of(probed));
  if (probed.judgement.findings.empty() && probed.judgement.unknown.empty()) {
    context.out << verdict << '\n';
    print_text(probed, context);
    return ExitCode::kOk;
  }
  // The table belongs between the verdict and the finding: why one should believe it.
  context.out << verdict << '\n';
  print_text(probed, context);
  if (!context.quiet) context.out << '\n';
  return print_judgement(args, context, probed.judgement, "what to do:", {});
}

/// The numbers of the command line; an error says which is wrong.
Result<host::ProbeOptions> options_of(const Args& args, const ProbeTarget& target) {
  host::ProbeOptions options;
  constexpr std::uint32_t kSmallestIpv6 = 1280;  // RFC 8200: every link carries it
  constexpr std::uint32_t kLargest = 65535;
  if (target.is_ipv6) options.smallest = kSmallestIpv6;
  if (target.interface_mtu > 0) options.largest = target.interface_mtu;
  if (const auto text = args.get("size")) {
    WEIR_TRY(size, parse_bytes(*text));
    if (size.raw() > kLargest)
      return invalid_error(fmt::format("--size {}: at most 65535B", *text));
    options.largest = static_cast<std::uint32_t>(size.raw());
  }
  // The loopback's MTU is more than an IP packet can be.
  options.largest = std::min(options.largest, kLargest);
  if (options.largest < options.smallest) options.smallest = options.largest;
  constexpr std::uint32_t kHeaders = 60;
  if (options.largest <= kHeaders) return invalid_error("--size: smaller than its own headers");
  WEIR_TRY(wait, parse_duration(args.value("wait")));
  options.wait = wait;
  WEIR_TRY(hops, parse_u64(args.value("hops")));
  if (hops == 0 || hops > 255) return invalid_error("--hops: 1 to 255");
  options.most_hops = static_cast<unsigned>(hops);
  return options;
}

/// By the methods that are allowed, until the peer answers one.
Result<Probed> probe(const ProbeTarget& target, const host::ProbeOptions& options,
                     const std::vector<ProbeMethod>& methods, std::optional<Dscp> dscp) {
  Probed probed{.target = target};
  Watch watch(target.interface);
  std::optional<Error> error;
  for (const ProbeMethod method : methods) {
    const auto io = host::make_probe_io(target, method, dscp);
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
  probed.moved = watch.moved();
  judge(probed);
  return probed;
}

ExitCode run_probe_mtu(const Args& args, Context& context) {
  const int family = args.has("ipv4") ? 4 : args.has("ipv6") ? 6 : 0;
  const auto target = host::resolve_probe_target(args.value("PEER"), family);
  if (!target) {
    const bool is_name = target.error().code == ErrorCode::kNotFound;
    return fail(context, is_name ? ExitCode::kBadInput : ExitCode::kCouldNotLook,
                target.error().what);
  }
  const auto options = options_of(args, *target);
  if (!options) return usage_error(context, args.command(), options.error().what);
  std::optional<Dscp> dscp;
  if (const auto text = args.get("dscp")) {
    const auto number = parse_u64(*text);
    dscp = number ? Dscp::make(*number) : std::nullopt;
    if (!dscp) return usage_error(context, args.command(), "--dscp: a code point, 0 to 63");
  }
  std::vector<ProbeMethod> methods = host::probe_methods(*target);
  if (const auto wanted = args.get("using")) {
    std::erase_if(methods, [&](ProbeMethod one) { return to_text(one) != *wanted; });
    if (methods.empty())
      return fail(context, ExitCode::kCouldNotLook,
                  fmt::format("--using {}: not permitted here; ping needs net.ipv4."
                              "ping_group_range, raw needs CAP_NET_RAW, udp needs nothing",
                              *wanted));
  }
  const auto probed = probe(*target, *options, methods, dscp);
  if (!probed) return fail(context, ExitCode::kCouldNotLook, probed.error().what);
  return print_probed(args, context, *probed);
}

}  // namespace

Command probe_mtu_command() {
  return {
      .name = "probe mtu",
      .group = Group::kOperators,
      .summary = "what the path to a peer carries, and where it gets narrow",
      .description =
          "Sends packets that must not be fragmented and searches for the largest that is "
          "answered; where that is less than this host's interface takes, packets whose TTL ends "
          "on the way show between which two hops the path gets narrow, also where nobody says so. "
          "The peer must answer pings, or refuse a closed UDP port. Needs no privilege.",
      .arguments = {{.name = "PEER", .help = "a host name or an address", .required = true}},
      .options = {{.name = "size",
                   .metavar = "BYTES",
                   .help = "the packet that should pass (default: the interface's MTU)"},
                  {.name = "ipv4", .letter = '4', .help = "the peer's IPv4 address"},
                  {.name = "ipv6", .letter = '6', .help = "the peer's IPv6 address"},
                  {.name = "dscp", .metavar = "N", .help = "mark the probes, as RDMA is marked"},
                  {.name = "using",
                   .metavar = "HOW",
                   .help = "ask in this way alone",
                   .choices = {"ping", "raw", "udp"}},
                  {.name = "wait",
                   .metavar = "TIME",
                   .help = "for an answer, at most",
                   .default_value = "300ms"},
                  {.name = "hops", .metavar = "N", .help = "look this far", .default_value = "16"}},
      .examples = {{"weir probe mtu gpu02", "to the peer's first address"},
                   {"weir probe mtu 10.0.0.2 --size 9000B --dscp 26", "as RDMA travels"}},
      .exit_codes = {ExitCode::kOk, ExitCode::kFindings, ExitCode::kBadInput,
                     ExitCode::kCouldNotLook, ExitCode::kPartial},
      .rows = {"C3"},
      .judges = true,
      .run = run_probe_mtu,
  };
}

}  // namespace weir::cli

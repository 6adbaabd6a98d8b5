// weir probe mtu: what the path to a peer carries, and where the limit is.
#include <algorithm>

#include <fmt/format.h>

#include "base/table.h"
#include "base/text.h"
#include "cli/frame/commands.h"
#include "cli/frame/judging.h"
#include "cli/json/verify_json.h"
#include "ops/verify/probe.h"
#include "units/format.h"

namespace weir::cli {
namespace {

using host::MtuFinding;
using host::ProbeHop;

std::string probe_verdict(const ops::Probed& probed) {
  const MtuFinding& found = probed.found;
  const std::string peer = ops::peer_text(probed.target);
  if (!found.is_answered)
    return fmt::format("{} does not answer: the MTU of the path is not known{}.", peer,
                       found.unreachable.empty() ? "" : " (" + found.unreachable + ")");
  if (!found.is_narrow())
    return fmt::format("The path to {} carries packets of {} B, the largest that was tried.", peer,
                       found.mtu);
  return fmt::format("The path to {} carries {} B of {} B: the limit is {}{}.", peer, found.mtu,
                     found.tried, ops::bottleneck_text(probed.target, found),
                     found.is_silent() ? ", and no router reports it" : "");
}

void print_probe(const ops::Probed& probed, Context& context) {
  const MtuFinding& found = probed.found;
  if (!found.is_answered || context.quiet) return;
  const std::uint32_t payload = host::rdma_mtu_of(found.mtu, probed.target.is_ipv6);
  context.out << fmt::format(
      "\n  interface  {} (MTU {})\n  RDMA       {}\n  probes     {}, {} packets, round trip {}\n",
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
                     hop.address.empty() ? "*" : hop.address, hop.small ? "answered" : "no answer",
                     hop.large   ? "answered"
                     : !is_tried ? ""
                     : hop.small ? "lost"
                                 : "no answer"});
    }
    context.out << '\n' << table.to_text(2);
  }
  for (const diagnose::MovedCounter& moved : probed.moved)
    context.out << fmt::format("  {} rose by {} during the probes\n", moved.name, moved.amount);
}

/// The numbers of the command line; an error says which is wrong.
Result<ops::ProbeRequest> request_of(const Args& args) {
  ops::ProbeRequest request;
  request.peer = args.value("PEER");
  request.family = args.has("ipv4") ? 4 : args.has("ipv6") ? 6 : 0;
  constexpr std::uint32_t kLargest = 65535;
  if (const auto text = args.get("size")) {
    WEIR_TRY(size, parse_bytes(*text));
    if (size.raw() > kLargest)
      return invalid_error(fmt::format("--size {}: at most 65535B", *text));
    request.size = static_cast<std::uint32_t>(size.raw());
  }
  WEIR_TRY(wait, parse_duration(args.value("wait")));
  request.wait = wait;
  WEIR_TRY(hops, parse_u64(args.value("hops")));
  if (hops == 0 || hops > 255) return invalid_error("--hops: 1 to 255");
  request.most_hops = static_cast<unsigned>(hops);
  if (const auto text = args.get("dscp")) {
    const auto number = parse_u64(*text);
    request.dscp = number ? Dscp::make(*number) : std::nullopt;
    if (!request.dscp) return invalid_error("--dscp: a code point, 0 to 63");
  }
  for (const host::ProbeMethod method :
       {host::ProbeMethod::kPing, host::ProbeMethod::kRaw, host::ProbeMethod::kUdp})
    if (args.get("using") == std::string(to_text(method))) request.method = method;
  return request;
}

ExitCode run_probe_mtu(const Args& args, Context& context) {
  const auto request = request_of(args);
  if (!request) return usage_error(context, args.command(), request.error().what);
  const auto probed = ops::probe_mtu(*request);
  if (!probed) return fail(context, args.command(), probed.error());
  const std::string verdict = probe_verdict(*probed);
  if (context.json) {
    print_probed_json(context, args.command(), *probed, verdict);
    return exit_for(args, probed->judgement);
  }
  // The table is between the verdict and the finding: why one should believe it.
  context.out << verdict << '\n';
  print_probe(*probed, context);
  if (probed->judgement.findings.empty() && probed->judgement.unknown.empty()) return ExitCode::kOk;
  if (!context.quiet) context.out << '\n';
  print_findings(context, probed->judgement, "what to do:");
  return exit_for(args, probed->judgement);
}

}  // namespace

Command probe_mtu_command() {
  return {
      .name = "probe mtu",
      .group = Group::kOperators,
      .summary = "the MTU of the path to a peer, and where the limit is",
      .description =
          "Sends packets with the don't-fragment bit and searches for the largest that is "
          "answered. "
          "Where that is less than the MTU of this host's interface, probes with a limited TTL "
          "show "
          "between which two hops the limit is, even where no router reports it. The peer must "
          "answer pings, or reject a closed UDP port. Needs no privilege.",
      .arguments = {{.name = "PEER", .help = "a host name or an address", .required = true}},
      .options =
          {{.name = "size",
            .metavar = "SIZE",
            .help = "largest packet to try, such as 9000B (default: the interface's MTU)"},
           {.name = "ipv4", .letter = '4', .help = "use IPv4"},
           {.name = "ipv6", .letter = '6', .help = "use IPv6"},
           {.name = "dscp", .metavar = "N", .help = "DSCP of the probes"},
           {.name = "using",
            .metavar = "HOW",
            .help = "use only this kind of probe",
            .choices = {"ping", "raw", "udp"}},
           {.name = "wait",
            .metavar = "TIME",
            .help = "longest wait for one answer",
            .default_value = "300ms"},
           {.name = "hops", .metavar = "N", .help = "most hops to look at", .default_value = "16"}},
      .examples = {{"weir probe mtu gpu02", "to the peer's first address"},
                   {"weir probe mtu 10.0.0.2 --size 9000B --dscp 26", "marked like RDMA traffic"}},
      .exit_codes = {ExitCode::kOk, ExitCode::kFindings, ExitCode::kBadInput,
                     ExitCode::kCouldNotLook, ExitCode::kPartial},
      .judges = true,
      .run = run_probe_mtu,
  };
}

}  // namespace weir::cli

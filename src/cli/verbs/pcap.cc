// weir pcap: RoCE on the wire, from captures or live.
#include "ops/inspect/pcap.h"

#include <fmt/format.h>

#include "base/file.h"
#include "base/text.h"
#include "cli/frame/commands.h"
#include "cli/frame/design_input.h"
#include "cli/frame/interruption.h"
#include "cli/frame/judging.h"
#include "cli/frame/progress.h"
#include "cli/frame/threshold_option.h"
#include "cli/json/pcap_json.h"
#include "cli/text/pcap_text.h"
#include "units/format.h"

namespace weir::cli {
namespace {

constexpr std::size_t kMostFlows = 1'000'000;
constexpr std::size_t kShownFlows = 20;

Result<std::size_t> flow_limit(const Args& args) {
  const auto value = parse_u64(args.value("flows"));
  if (!value) return value.error().within("--flows");
  if (*value < 1 || *value > kMostFlows)
    return invalid_error(fmt::format("--flows: 1 to {}, found {}", kMostFlows, *value));
  return static_cast<std::size_t>(*value);
}

Result<ops::PcapRequest> pcap_request(const Args& args, const Context& context) {
  ops::PcapRequest request;
  request.files = args.all("FILE");
  request.interface = args.get("live").value_or("");
  const auto duration = parse_duration(args.value("duration"));
  if (!duration) return duration.error().within("--duration");
  request.duration = *duration;
  WEIR_TRY(flows, flow_limit(args));
  request.most_flows = flows;
  WEIR_TRY(thresholds, thresholds_of(args));
  request.thresholds = thresholds;
  // Without a design, marking that cannot be right is still found.
  const auto design =
      args.has("design") ? args.get("design") : context.environment(kDesignVariable);
  request.design = design.value_or(file_exists(std::string(kDesignFile)) ? std::string(kDesignFile)
                                                                         : std::string());
  return request;
}

ops::Result<ops::Captured> capture(const Args& args, Context& context, ops::PcapRequest request) {
  Progress bar(context.err, context.stderr_is_terminal, args.has("live") ? "capturing" : "reading");
  request.progress = bar.callback();
  if (!args.has("live")) return ops::analyse_captures(request);
  const Interruption interruption;  // Ctrl-C ends the capture, not the program
  request.is_stopped = Interruption::has_come;
  return ops::analyse_captures(request);
}

ExitCode run_pcap(const Args& args, Context& context) {
  if (args.has("live") == args.has("FILE"))
    return usage_error(context, args.command(), "name captures, or --live INTERFACE");
  auto request = pcap_request(args, context);
  if (!request) return usage_error(context, args.command(), request.error().what);
  const auto captured = capture(args, context, std::move(*request));
  if (!captured) return fail(context, args.command(), captured.error());
  const finding::Judgement& judgement = captured->verdict.judgement;
  if (context.json) {
    print_captured_json(context, args.command(), *captured, args.has("all") ? 0 : kShownFlows * 50);
    return exit_for(args, judgement);
  }
  print_findings(context, judgement, captured->verdict.headline);
  if (context.quiet) return exit_for(args, judgement);
  print_walk(captured->verdict.walk, context);
  if (captured->join)
    print_join(*captured->join, captured->source.name, captured->second_source.name, context);
  print_capture(*captured->first, args.has("all") ? 0 : kShownFlows, context);
  if (captured->first->totals().roce_packets == 0 || captured->source.is_live)
    print_capture_ways(context);
  return exit_for(args, judgement);
}

}  // namespace

Command pcap_command() {
  return {
      .name = "pcap",
      .group = Group::kOperators,
      .summary = "RoCE on the wire: marking, congestion, loss, from captures or live",
      .description =
          "Reads pcap and pcapng, compressed or not, in one pass: TOS bytes, ECN, CNPs, NAKs, "
          "retransmissions, order, ICRC and latency, per flow and in total, and the findings. Two "
          "captures of the same traffic are joined: packets lost, changed or marked on the way. An "
          "ordinary capture on a host does not see offloaded RoCE; the output says what does.",
      .arguments = {{.name = "FILE",
                     .help = "captures: consecutive, or of two places; - is standard input",
                     .repeated = true,
                     .completes = Completes::kFiles}},
      .options = {{.name = "design",
                   .letter = 'd',
                   .metavar = "D",
                   .help = "the design (default: ./fabric.yaml, if there is one)",
                   .completes = Completes::kFiles},
                  {.name = "live", .metavar = "IF", .help = "capture on this interface instead"},
                  {.name = "duration",
                   .metavar = "T",
                   .help = "time to capture; Ctrl-C ends it earlier",
                   .default_value = "10s"},
                  {.name = "all", .help = "list every flow, not only the largest"},
                  {.name = "flows",
                   .metavar = "N",
                   .help = "flows to track separately; 4 KB of memory each",
                   .default_value = "16384"},
                  threshold_option()},
      .examples = {{"weir pcap roce.pcap -d fabric.yaml", "against the design"},
                   {"weir pcap sender.pcap receiver.pcap", "what happened between the two"},
                   {"zcat old.pcap.gz | weir pcap - --json", "for a program"}},
      .exit_codes = {ExitCode::kOk, ExitCode::kFindings, ExitCode::kBadInput,
                     ExitCode::kCouldNotLook, ExitCode::kPartial},
      .judges = true,
      .looks = Looks::kAtFilesIfNamed,
      .run = run_pcap,
  };
}

}  // namespace weir::cli

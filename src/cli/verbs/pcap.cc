// weir pcap: RoCE on the wire, from captures or live.
#include <chrono>
#include <csignal>

#include <fmt/format.h>

#include "base/file.h"
#include "base/json.h"
#include "base/text.h"
#include "cli/frame/commands.h"
#include "cli/frame/judging.h"
#include "cli/frame/progress.h"
#include "cli/frame/transition.h"
#include "cli/text/pcap_text.h"
#include "units/format.h"
#include "wire/analysis.h"
#include "wire/capture_reader.h"
#include "wire/join.h"
#include "wire/json.h"
#include "wire/judge.h"
#include "wire/live.h"

namespace weir::cli {
namespace {

constexpr std::size_t kMostFlows = 1'000'000;
constexpr std::size_t kShownFlows = 20;

/// What was captured: one stream (of one file or of several, one after another), or two places.
struct Captured {
  explicit Captured(std::size_t most_flows)
      : first(std::make_unique<wire::Analysis>(most_flows)), flows(most_flows) {}
  std::unique_ptr<wire::Analysis> first;
  wire::CaptureSource source;
  std::unique_ptr<wire::Analysis> second;  // with `join`: of the other place
  wire::CaptureSource second_source;
  std::unique_ptr<wire::Join> join;
  std::size_t flows;
};

void note(wire::CaptureSource& source, const wire::CaptureReader& reader) {
  if (source.damage.empty()) source.damage = reader.damage();
  source.dropped += reader.dropped();
  source.strange_links.insert(source.strange_links.end(), reader.strange_links().begin(),
                              reader.strange_links().end());
}

Status read_stream(const std::vector<std::string>& paths, Captured& out, Progress& bar) {
  constexpr std::uint64_t kBatch = 1U << 16U;
  out.source.name = paths.size() == 1 ? paths.front() : fmt::format("{} captures", paths.size());
  if (out.source.name == "-") out.source.name = "standard input";
  for (const std::string& path : paths) {
    WEIR_TRY(reader, wire::CaptureReader::open(path));
    wire::Record record;
    std::uint64_t count = 0;
    while (reader.next(record) == wire::Next::kFrame) {
      out.first->add(record);
      if (++count % kBatch == 0)
        bar.update(0, fmt::format("{} frames", with_thousands(static_cast<std::int64_t>(count))));
    }
    note(out.source, reader);
  }
  out.first->finish();
  return {};
}

/// Both captures in step, each analysed by itself and both joined.
Status read_two(const std::string& one, const std::string& two, Captured& out) {
  WEIR_TRY(first, wire::CaptureReader::open(one));
  WEIR_TRY(second, wire::CaptureReader::open(two));
  out.source.name = one;
  out.second_source.name = two;
  out.second = std::make_unique<wire::Analysis>(out.flows);
  out.join = std::make_unique<wire::Join>();
  std::array<wire::Record, 2> records;
  const std::array<wire::CaptureReader*, 2> readers = {&first, &second};
  const std::array<wire::Analysis*, 2> analyses = {out.first.get(), out.second.get()};
  std::array<bool, 2> has{};
  for (const std::size_t side : {std::size_t{0}, std::size_t{1}})
    has[side] = readers[side]->next(records[side]) == wire::Next::kFrame;
  wire::Packet packet;
  while (has[0] || has[1]) {
    std::size_t side = has[0] ? 0 : 1;
    if (has[0] && has[1])
      side = static_cast<std::size_t>(out.join->wants({records[0].time_ns, records[1].time_ns}));
    wire::decode(records[side], packet);
    analyses[side]->add(records[side]);
    out.join->add(static_cast<int>(side), records[side].time_ns, packet);
    has[side] = readers[side]->next(records[side]) == wire::Next::kFrame;
  }
  out.first->finish();
  out.second->finish();
  out.join->finish();
  note(out.source, first);
  note(out.second_source, second);
  return {};
}

volatile std::sig_atomic_t stopped = 0;

Status read_live(const std::string& interface, Duration limit, Captured& out, Progress& bar) {
  WEIR_TRY(live, wire::LiveCapture::open(interface));
  out.source.name = interface;
  out.source.is_live = true;
  stopped = 0;
  struct sigaction stop {};
  struct sigaction before {};
  stop.sa_handler = [](int) { stopped = 1; };
  sigaction(SIGINT, &stop, &before);
  using Clock = std::chrono::steady_clock;
  const auto length = std::chrono::nanoseconds(limit.raw() / 1000);
  const auto start = Clock::now();
  wire::Record record;
  std::uint64_t count = 0;
  while (stopped == 0) {
    const wire::Next next = live.next(record);
    if (next == wire::Next::kDamaged) {
      out.source.damage = live.damage();
      break;
    }
    if (next == wire::Next::kFrame) out.first->add(record);
    if (next == wire::Next::kFrame && ++count % 256 != 0) continue;
    const auto passed = Clock::now() - start;
    if (passed >= length) break;
    bar.update(std::chrono::duration<double>(passed) / std::chrono::duration<double>(length));
  }
  sigaction(SIGINT, &before, nullptr);
  out.source.dropped = live.dropped();
  out.first->finish();
  return {};
}

Result<std::size_t> flow_limit(const Args& args) {
  const auto value = parse_u64(args.value("flows"));
  if (!value) return value.error().within("--flows");
  if (*value < 1 || *value > kMostFlows)
    return invalid_error(fmt::format("--flows: 1 to {}, found {}", kMostFlows, *value));
  return static_cast<std::size_t>(*value);
}

Status read_all(const Args& args, Captured& out, Context& context) {
  Progress bar(context.err, context.stderr_is_terminal, args.has("live") ? "capturing" : "reading");
  if (args.has("live")) {
    const auto limit = parse_duration(args.value("duration"));
    if (!limit) return limit.error().within("--duration");
    return read_live(args.value("live"), *limit, out, bar);
  }
  const std::vector<std::string>& files = args.all("FILE");
  const bool may_join = files.size() == 2 && files[0] != "-" && files[1] != "-";
  if (!may_join) return read_stream(files, out, bar);
  WEIR_TRY_STATUS(read_two(files[0], files[1], out));
  if (out.join->totals().matched > 0) return {};
  // No packet in common: one capture after the other, as tcpdump -C leaves them.
  out = Captured(out.flows);
  return read_stream(files, out, bar);
}

/// The design where one is named or lies here; without one, what nobody can mean is still found.
std::optional<wire::Expectation> expected(const Args& args, Context& context, ExitCode& code) {
  std::optional<std::string> path = args.get("design");
  if (!path) path = context.environment(kDesignVariable);
  if (!path && file_exists(std::string(kDesignFile))) path = std::string(kDesignFile);
  if (!path) return wire::Expectation{};
  const auto design = load_design_file(*path, context, code);
  if (!design) return std::nullopt;
  return wire::expectation_of(design->design, design->intent);
}

/// Findings of the second place that the first does not have.
void add_second(wire::CaptureVerdict& verdict, const Captured& captured,
                const wire::Expectation& expectation) {
  wire::CaptureVerdict other = wire::judge(*captured.second, captured.second_source, expectation);
  for (finding::Finding& found : other.judgement.findings) {
    const bool is_told =
        std::any_of(verdict.judgement.findings.begin(), verdict.judgement.findings.end(),
                    [&](const finding::Finding& one) {
                      return one.id == found.id && one.where == found.where;
                    });
    if (!is_told) verdict.judgement.findings.push_back(std::move(found));
  }
  for (finding::Unknown& one : other.judgement.unknown)
    verdict.judgement.unknown.push_back(std::move(one));
  if (verdict.walk.empty()) verdict.walk = std::move(other.walk);
  finding::settle(verdict.judgement);
}

Json extra_json(const Captured& captured, const wire::CaptureVerdict& verdict,
                const wire::Expectation& expectation, bool all) {
  const std::size_t most = all ? 0 : kShownFlows * 50;
  Json extra = {{"source", captured.source.name},
                {"design", expectation.is_design() ? Json(expectation.source) : Json(nullptr)}};
  extra.update(wire::to_json(*captured.first, most));
  extra["walk_back"] = wire::to_json(verdict.walk);
  if (captured.join) {
    extra["second"] = wire::to_json(*captured.second, most);
    extra["second"]["source"] = captured.second_source.name;
    extra["joined"] =
        wire::to_json(*captured.join, captured.source.name, captured.second_source.name);
  }
  return extra;
}

ExitCode run_pcap(const Args& args, Context& context) {
  if (args.has("live") == args.has("FILE"))
    return usage_error(context, args.command(), "name captures, or --live INTERFACE");
  const auto limit = flow_limit(args);
  if (!limit) return usage_error(context, args.command(), limit.error().what);
  ExitCode code = ExitCode::kOk;
  const auto expectation = expected(args, context, code);
  if (!expectation) return code;
  Captured captured(*limit);
  if (const Status read = read_all(args, captured, context); !read)
    return fail(context, args.has("live") ? ExitCode::kCouldNotLook : ExitCode::kBadInput,
                read.error().what);
  wire::CaptureVerdict verdict = wire::judge(*captured.first, captured.source, *expectation,
                                             captured.join.get(), captured.second_source.name);
  if (captured.join) add_second(verdict, captured, *expectation);
  const Json extra =
      context.json ? extra_json(captured, verdict, *expectation, args.has("all")) : Json::object();
  const ExitCode result =
      print_judgement(args, context, verdict.judgement, verdict.headline, extra);
  if (context.json || context.quiet) return result;
  print_walk(verdict.walk, context);
  if (captured.join)
    print_join(*captured.join, captured.source.name, captured.second_source.name, context);
  print_capture(*captured.first, args.has("all") ? 0 : kShownFlows, context);
  if (captured.first->totals().roce_packets == 0 || captured.source.is_live)
    print_capture_ways(context);
  return result;
}

}  // namespace

Command pcap_command() {
  return {
      .name = "pcap",
      .group = Group::kOperators,
      .summary = "RoCE on the wire: marking, congestion, loss, from captures or live",
      .description =
          "Reads pcap and pcapng, packed or not, in one pass: TOS bytes, ECN, CNPs, NAKs, "
          "retransmissions, order, ICRC, latency, per flow and in all; then what is wrong with it. "
          "Two captures of the same traffic are joined: lost, changed or marked on the way. An "
          "ordinary capture on a host does not see offloaded RoCE; the output says what does.",
      .arguments = {{.name = "FILE",
                     .help = "captures, one after another or of two places; - is standard input",
                     .repeated = true,
                     .completes = Completes::kFiles}},
      .options = {{.name = "design",
                   .letter = 'd',
                   .metavar = "D",
                   .help = "what was wanted (default: ./fabric.yaml, if it is there)",
                   .completes = Completes::kFiles},
                  {.name = "live", .metavar = "IF", .help = "capture on this interface instead"},
                  {.name = "duration",
                   .metavar = "T",
                   .help = "how long to capture; Ctrl-C ends it earlier",
                   .default_value = "10s"},
                  {.name = "all", .help = "every flow, not only the largest"},
                  {.name = "flows",
                   .metavar = "N",
                   .help = "flows to keep apart; more need more memory (4 KB each)",
                   .default_value = "16384"}},
      .examples = {{"weir pcap roce.pcap -d fabric.yaml", "against the design"},
                   {"weir pcap sender.pcap receiver.pcap", "what happened between the two"},
                   {"zcat old.pcap.gz | weir pcap - --json", "for a program"}},
      .exit_codes = {ExitCode::kOk, ExitCode::kFindings, ExitCode::kBadInput,
                     ExitCode::kCouldNotLook, ExitCode::kPartial},
      .rows = {"E3"},
      .judges = true,
      .run = run_pcap,
  };
}

}  // namespace weir::cli

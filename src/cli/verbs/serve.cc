// weir serve: metrics of the ports for Prometheus and a live page, judged as they are watched.
#include <fmt/format.h>
#include <unistd.h>

#include "base/file.h"
#include "base/text.h"
#include "cli/fleet/fleet_input.h"
#include "cli/frame/commands.h"
#include "cli/frame/help.h"
#include "cli/frame/host_input.h"
#include "cli/frame/interruption.h"
#include "cli/frame/threshold_option.h"
#include "cli/json/serve_json.h"
#include "serve/http/server.h"
#include "units/format.h"

namespace weir::cli {
namespace {

constexpr Duration kShortestPace = 1_s;
constexpr Duration kLongestPace = 3600_s;
constexpr Duration kShortestLook = 100_ms;
constexpr Duration kLongestLook = 60_s;
constexpr Duration kUsualLook = 1_s;
// Of a fleet every look is a login per host.
constexpr Duration kUsualRound = 30_s;
constexpr std::string_view kNoLoad = "none";

ops::Result<ops::WatchRequest> watch_request(const Args& args, const Context& context) {
  ops::WatchRequest request;
  WEIR_TRY(source, source_of(args, context));
  request.source = std::move(source);
  request.source.excluded = args.all("exclude-device");
  if (request.source.fleet && !request.source.excluded.empty())
    return ops::bad_request("--exclude-device: the hosts of a fleet open their files themselves");
  request.design = design_path_if_any(args, context);
  WEIR_TRY(thresholds, ops::or_bad_request(thresholds_of(args)));
  request.thresholds = thresholds;
  return request;
}

/// Beyond this machine only to those who show who they are.
ops::Status check_listening(const Args& args, const serve::ServerRequest& request) {
  const bool is_open = !serve::is_loopback(request.listen);
  const bool is_guarded = request.web && request.web->authenticates();
  if (!is_open || is_guarded || args.has("without-auth")) return {};
  return ops::bad_request(fmt::format(
      "--listen {}: others could read it; expected --web-config with users or client certificates, "
      "or --without-auth",
      args.value("listen")));
}

ops::Result<serve::ServerRequest> server_request(const Args& args) {
  serve::ServerRequest request;
  const auto listen = serve::parse_listen_address(args.value("listen"));
  if (!listen) return ops::bad_request(listen.error().within("--listen").what);
  request.listen = *listen;
  const auto pace = parse_duration(args.value("judge-every"));
  if (!pace || *pace < kShortestPace || *pace > kLongestPace)
    return ops::bad_request(fmt::format("--judge-every: expected a time from 1s to 1h, found '{}'",
                                        args.value("judge-every")));
  request.judge_every = *pace;
  if (const auto file = args.get("web-config")) {
    WEIR_TRY(web, ops::or_bad_input(serve::read_web_config(*file)));
    request.web = std::move(web);
  }
  WEIR_TRY_STATUS(check_listening(args, request));
  return request;
}

ExitCode write_textfile(const Args& args, Context& context, serve::Exporter& exporter,
                        const std::string& file) {
  if (!file.ends_with(".prom"))
    return usage_error(context, args.command(),
                       "--textfile: expected a name ending in .prom: node_exporter reads no other");
  const std::string text = serve::to_text(exporter.collect_judged());
  if (const Status written = write_file_atomic(file, text); !written)
    return fail(context, ExitCode::kBadInput, written.error().what);
  const std::string verdict = fmt::format("Written to {}.", file);
  if (context.json) {
    print_textfile_json(context, args.command(), verdict, file);
  } else {
    context.out << verdict << '\n';
  }
  return ExitCode::kOk;
}

ops::Result<Duration> interval_of_page(const Args& args) {
  const bool is_fleet = asks_machines(args);
  const auto text = args.get("interval");
  if (!text) return is_fleet ? kUsualRound : kUsualLook;
  const Duration shortest = is_fleet ? kShortestPace : kShortestLook;
  const Duration longest = is_fleet ? kLongestPace : kLongestLook;
  const auto interval = parse_duration(*text);
  if (!interval || *interval < shortest || *interval > longest)
    return ops::bad_request(fmt::format("--interval: expected a time from {} to {}, found '{}'",
                                        to_text(shortest), to_text(longest), *text));
  return *interval;
}

serve::PageInfo page_info(const Args& args, Duration interval) {
  serve::PageInfo info;
  info.version = version_number();
  info.interval_ms = interval.raw() / 1'000'000'000;
  info.source = trim(source_words(args));
  info.mode = args.has("lab")       ? "lab"
              : args.has("root")    ? "recorded"
              : asks_machines(args) ? "fleet"
                                    : "host";
  info.title = args.get("lab").value_or("");
  if (info.mode == "fleet") info.title = args.get("hosts").value_or("fleet");
  return info;
}

ExitCode run_server(const Args& args, Context& context, serve::Exporter* exporter,
                    serve::LivePage& page) {
  auto request = server_request(args);
  if (!request) return fail(context, args.command(), request.error());
  const Interruption interruption;
  request->is_interrupted = Interruption::has_come;
  request->on_listening = [&](const std::string& url, const std::string& address) {
    const std::string verdict =
        exporter != nullptr ? fmt::format("Serving {}/metrics.", url) : "Serving a recording.";
    if (context.json) {
      print_serving_json(context, args.command(), verdict, url, address);
    } else {
      context.out << verdict << "\nPage: " << address << '\n';
    }
    context.out.flush();
  };
  if (const Status served = serve::serve(exporter, page, *request); !served)
    return fail(context, ExitCode::kBadInput, served.error().what);
  return ExitCode::kOk;
}

ExitCode replay(const Args& args, Context& context, const std::string& path, Duration interval) {
  const auto thresholds = ops::or_bad_request(thresholds_of(args));
  if (!thresholds) return fail(context, args.command(), thresholds.error());
  const auto run = ops::read_replay({path, design_path_if_any(args, context), *thresholds});
  if (!run) return fail(context, args.command(), run.error());
  serve::PageInfo info = page_info(args, interval);
  info.mode = "replay";
  info.title = path;
  info.is_simulated = run->is_simulated;
  info.thresholds = *thresholds;
  serve::LivePage page(*run, std::move(info));
  return run_server(args, context, nullptr, page);
}

ops::Result<std::optional<ops::LiveLab>> load_of(const Args& args, const ops::Watch& watch,
                                                 Duration interval) {
  const auto lab = args.get("lab");
  if (!lab || args.get("load") == kNoLoad) return std::optional<ops::LiveLab>();
  const std::string load =
      args.get("load").value_or(ops::LiveLab::usual_load(watch.fabric()->intent.hosts.size()));
  WEIR_TRY(live, ops::LiveLab::open(*lab, load, interval));
  return std::optional(std::move(live));
}

/// A fleet is asked with the keys of a user, so that root cannot be given up as for other sources,
/// and this process answers HTTP and reads what hosts print for as long as it runs.
ops::Status check_user(const Args& args) {
  if (!asks_machines(args) || args.has("textfile") || args.has("as-root") || ::geteuid() != 0)
    return {};
  return ops::bad_request(
      "a fleet is not served as root: this process would answer HTTP and read what hosts print as "
      "root. Start it as a user who may log in there (runuser -u USER -- weir serve …), or add "
      "--as-root");
}

ExitCode run_serve(const Args& args, Context& context) {
  if (args.has("replay") && names_fleet(args))
    return usage_error(context, args.command(),
                       "--replay reads files and asks no host: leave out --hosts and --via");
  for (const std::string_view other : {"replay", "web-config", "load"})
    if (args.has("textfile") && args.has(other))
      return usage_error(
          context, args.command(),
          fmt::format("--textfile writes one file and serves nothing: leave out --{}", other));
  if (const ops::Status fit = check_user(args); !fit)
    return fail(context, args.command(), fit.error());
  const auto interval = interval_of_page(args);
  if (!interval) return fail(context, args.command(), interval.error());
  if (const auto path = args.get("replay")) return replay(args, context, *path, *interval);
  auto request = watch_request(args, context);
  if (!request) return fail(context, args.command(), request.error());
  if (!args.has("textfile")) request->rounds = *interval;
  auto watch = ops::Watch::open(*request);
  if (!watch) return fail(context, args.command(), watch.error());
  const auto profile =
      args.value("profile") == "full" ? serve::Profile::kFull : serve::Profile::kLean;
  serve::Exporter exporter(*watch, profile, std::string(version_number()),
                           args.get("baselines").value_or(""));
  if (const auto file = args.get("textfile")) return write_textfile(args, context, exporter, *file);
  auto load = load_of(args, *watch, *interval);
  if (!load) return fail(context, args.command(), load.error());
  serve::PageInfo info = page_info(args, *interval);
  info.thresholds = request->thresholds;
  if (watch->fabric() != nullptr) info.design = *watch->fabric()->design.name;
  info.is_simulated = args.has("lab");
  if (*load) info.load = (*load)->load();
  serve::LivePage page(std::move(*watch), std::move(info), std::move(*load),
                       args.get("lab").value_or(""));
  return run_server(args, context, &exporter, page);
}

}  // namespace

Command serve_command() {
  return {
      .name = "serve",
      .summary = "a live page of the fabric, and metrics for Prometheus",
      .description =
          "Shows every port on a page that refreshes, and answers /metrics with settings, counters "
          "and open findings. Findings are judged against DESIGN, or without one against what "
          "RoCEv2 fabrics usually agree on. A counter that cannot be read is a gap, never zero. A "
          "fleet is looked at in rounds. A lab runs a load.",
      .arguments = {design_argument()},
      .options = with_host_options(
          {{.name = "listen",
            .metavar = "HOST:PORT",
            .help = "address to listen on",
            .default_value = "127.0.0.1:9347"},
           {.name = "web-config",
            .metavar = "FILE",
            .help = "TLS and users, as Prometheus' exporters read them",
            .completes = Completes::kFiles},
           {.name = "without-auth", .help = "listen beyond this machine without users"},
           {.name = "as-root", .help = "serve a fleet although started as root"},
           {.name = "exclude-device",
            .metavar = "DEVICE",
            .help = "open no file of this RDMA device",
            .repeated = true},
           {.name = "profile",
            .metavar = "P",
            .help = "for alerts, or every counter",
            .default_value = "lean",
            .choices = {"lean", "full"}},
           {.name = "judge-every",
            .metavar = "TIME",
            .help = "how often findings are judged",
            .default_value = "15s"},
           {.name = "interval",
            .metavar = "TIME",
            .help = "between two looks (1s; at a fleet: 30s)"},
           {.name = "load",
            .metavar = "W",
            .help = "what a lab runs, as weir sim --workload, or none (default: all-to-all; beyond "
                    "64 hosts permutation)"},
           {.name = "replay",
            .metavar = "RUN",
            .help = "files of weir snapshot --out, in a directory or one",
            .completes = Completes::kFiles},
           {.name = "baselines",
            .metavar = "DIR",
            .help = "compare the last run with these baselines",
            .completes = Completes::kFiles},
           {.name = "textfile",
            .metavar = "FILE",
            .help = "write a file *.prom for node_exporter once, and end",
            .completes = Completes::kFiles,
            .writes = Writes::kFile},
           threshold_option()}),
      .examples = {{"weir serve fabric.yaml", "on a host"},
                   {"weir serve --lab lab", "a simulated fabric at work"},
                   {"weir serve fabric.yaml --hosts gpu[001-128]", "a fleet, by ssh"},
                   {"weir serve --listen :9347 --web-config web.yml", "with users"}},
      .exit_codes = {ExitCode::kOk, ExitCode::kBadInput, ExitCode::kCouldNotLook},
      .looks = Looks::kAtHostOrFiles,
      .takes_fleet = true,
      .serves = true,
      .run = run_serve,
  };
}

}  // namespace weir::cli

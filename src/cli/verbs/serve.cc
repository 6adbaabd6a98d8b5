// weir serve: metrics of the ports for Prometheus, judged as they are watched.
#include <fmt/format.h>

#include "base/file.h"
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

ops::Result<ops::WatchRequest> watch_request(const Args& args, const Context& context) {
  ops::WatchRequest request;
  WEIR_TRY(source, source_of(args));
  request.source = std::move(source);
  request.source.excluded = args.all("exclude-device");
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
  exporter.judge();
  const std::string text = serve::to_text(exporter.Collect());
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

ExitCode run_server(const Args& args, Context& context, serve::Exporter& exporter) {
  auto request = server_request(args);
  if (!request) return fail(context, args.command(), request.error());
  const Interruption interruption;
  request->is_interrupted = Interruption::has_come;
  request->on_listening = [&](const std::string& url) {
    const std::string verdict = fmt::format("Serving {}/metrics.", url);
    if (context.json) {
      print_serving_json(context, args.command(), verdict, url);
    } else {
      context.out << verdict << '\n';
    }
    context.out.flush();
  };
  if (const Status served = serve::serve(exporter, *request); !served)
    return fail(context, ExitCode::kBadInput, served.error().what);
  return ExitCode::kOk;
}

ExitCode run_serve(const Args& args, Context& context) {
  const auto request = watch_request(args, context);
  if (!request) return fail(context, args.command(), request.error());
  auto watch = ops::Watch::open(*request);
  if (!watch) return fail(context, args.command(), watch.error());
  const auto profile =
      args.value("profile") == "full" ? serve::Profile::kFull : serve::Profile::kLean;
  serve::Exporter exporter(std::move(*watch), profile, std::string(version_number()));
  if (const auto file = args.get("textfile")) return write_textfile(args, context, exporter, *file);
  return run_server(args, context, exporter);
}

}  // namespace

Command serve_command() {
  return {
      .name = "serve",
      .summary = "metrics and findings for Prometheus",
      .description =
          "Answers /metrics with settings, counters and open findings of every port. Findings are "
          "judged against DESIGN, or without one against what RoCEv2 fabrics usually agree on. A "
          "counter that cannot be read has no series.",
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
           {.name = "exclude-device",
            .metavar = "DEVICE",
            .help = "open no file of this RDMA device",
            .repeated = true},
           {.name = "profile",
            .metavar = "P",
            .help = "lean: for alerts; full: all counters",
            .default_value = "lean",
            .choices = {"lean", "full"}},
           {.name = "judge-every",
            .metavar = "TIME",
            .help = "how often findings are judged",
            .default_value = "15s"},
           {.name = "textfile",
            .metavar = "FILE",
            .help = "write FILE, whose name ends in .prom, once for node_exporter and end",
            .completes = Completes::kFiles,
            .writes = Writes::kFile},
           threshold_option()}),
      .examples = {{"weir serve fabric.yaml", "on a host"},
                   {"weir serve --listen :9347 --web-config web.yml", "with users"}},
      .exit_codes = {ExitCode::kOk, ExitCode::kBadInput, ExitCode::kCouldNotLook},
      .looks = Looks::kAtHostOrFiles,
      .serves = true,
      .run = run_serve,
  };
}

}  // namespace weir::cli

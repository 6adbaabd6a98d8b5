// weir bundle: this host in one file, to be looked at elsewhere.
#include "ops/record/bundle.h"

#include <fmt/format.h>

#include "base/file.h"
#include "base/text.h"
#include "cli/fleet/fleet_input.h"
#include "cli/frame/commands.h"
#include "cli/frame/host_input.h"
#include "cli/json/record_json.h"

namespace weir::cli {
namespace {

ops::Result<ops::BundleRequest> bundle_request(const Args& args, const Context& context) {
  constexpr std::uint64_t kLongestWait = 3600;
  ops::BundleRequest request;
  request.root = args.get("root").value_or("");
  request.keeps_names = args.has("keep-names");
  request.key = bundle_key(context);
  const auto text = args.get("counters");
  if (!text) return request;
  const auto seconds = parse_u64(*text);
  if (!seconds || *seconds == 0 || *seconds > kLongestWait)
    return ops::bad_request(
        fmt::format("--counters: expected seconds from 1 to {}, found '{}'", kLongestWait, *text));
  if (args.has("root"))
    return ops::bad_request("--counters reads twice: a captured machine does not change");
  request.seconds = *seconds;
  return request;
}

void print_bundled(const Args& args, Context& context, const ops::Bundled& bundled,
                   const std::string& path) {
  const std::string names = bundled.has_pseudonyms ? "with pseudonyms" : "with real names";
  const std::string verdict =
      fmt::format("Wrote {}: {}, {}, {}.", path, bundled.seen.provenance.host,
                  counted(bundled.seen.nics.size(), "RDMA NIC"), names);
  if (context.json) return print_bundle_json(context, args.command(), bundled, path, verdict);
  context.out << verdict << '\n';
  if (context.quiet) return;
  print_gaps({bundled.seen}, context);
  context.out << fmt::format(
      "\nnext:\n  less {0}                 read it before you send it\n"
      "  weir validate DESIGN --root {0}\n  weir diagnose {0}\n",
      path);
}

/// What a bundle would hold, one line each, and what was taken out of it.
void print_leaving(const Args& args, const ops::Bundled& bundled, Context& context) {
  std::size_t bytes = 0;
  for (const host::Leaving& item : bundled.leaving)
    bytes += item.bytes;
  const std::string verdict = fmt::format(
      "{} would leave this host, {} bytes; {}.", counted(bundled.leaving.size(), "answer"), bytes,
      bundled.has_pseudonyms ? "names and addresses as pseudonyms"
                             : "with real names and addresses");
  if (context.json) return print_bundle_json(context, args.command(), bundled, "", verdict);
  context.out << verdict << '\n';
  for (const std::string& name : bundled.withheld)
    context.out << fmt::format("  left out, in part or all of it: {}\n", name);
  for (const host::Leaving& item : bundled.leaving)
    context.out << fmt::format("  {:<6} {:>8}  {}\n", item.kind, item.bytes, item.name);
}

/// A file per host in the directory of --output.
ExitCode run_fleet_bundle(const Args& args, Context& context, const ops::BundleRequest& request) {
  if (args.has("list") || args.has("counters") || args.has("root"))
    return usage_error(context, args.command(),
                       "--list, --counters and --root are for one host, without --hosts");
  const auto source = with_fleet({}, args, context);
  if (!source) return fail(context, args.command(), source.error());
  if (!source->fleet)
    return usage_error(context, args.command(), "--via: ssh, slurm or exec; a lab needs no bundle");
  const std::string directory = args.get("output").value_or("bundles");
  const auto made = ops::bundle_fleet(*source->fleet, directory, request);
  if (!made) return fail(context, args.command(), made.error());
  for (const std::string& text : ops::fold_reasons(made->unseen))
    context.err << "weir: could not read " << text << '\n';
  const std::string verdict =
      fmt::format("Wrote {} to {}: {}.", counted(made->written.size(), "bundle"), directory,
                  fold_hosts(made->written));
  if (context.json) {
    print_fleet_bundle_json(context, args.command(), *made, directory, verdict);
  } else {
    context.out << verdict << '\n';
    if (!context.quiet)
      context.out << fmt::format("\nnext:\n  weir validate DESIGN --root {}\n", directory);
  }
  return made->unseen.empty() ? ExitCode::kOk : ExitCode::kPartial;
}

ExitCode run_bundle(const Args& args, Context& context) {
  const auto request = bundle_request(args, context);
  if (!request) return fail(context, args.command(), request.error());
  if (names_fleet(args)) return run_fleet_bundle(args, context, *request);
  const auto bundled = ops::bundle(*request);
  if (!bundled) return fail(context, args.command(), bundled.error());
  ops::Observation seen;
  seen.hosts = {bundled->seen};
  if (args.has("list")) {
    print_leaving(args, *bundled, context);
    return completeness(seen);
  }
  const std::string path =
      args.get("output").value_or(fmt::format("{}.bundle", bundled->seen.provenance.host));
  if (path == "-") {
    context.out << bundled->text;
    return completeness(seen);
  }
  if (const Status written = write_file_atomic(path, bundled->text, FileMode::kPrivate); !written)
    return fail(context, ExitCode::kBadInput, written.error().what);
  print_bundled(args, context, *bundled, path);
  return completeness(seen);
}

}  // namespace

Command bundle_command() {
  return {
      .name = "bundle",
      .group = Group::kOperators,
      .summary = "record this host in one file, for analysis elsewhere",
      .description =
          "Records what the kernel reports of this host: settings, counters, and what it refused. "
          "Host names and addresses become pseudonyms, the same in every bundle; subnets stay "
          "subnets. With the design at hand weir shows the real names again. Set WEIR_BUNDLE_KEY "
          "to a secret so that only those who know it can map pseudonyms back. Every verb with "
          "--root reads bundles; weir diagnose and weir diff take them as files. Keys, tokens and "
          "passwords are left out, and the file is readable for its owner alone; --list shows what "
          "would leave the host.",
      .options = {{.name = "output",
                   .letter = 'o',
                   .metavar = "FILE",
                   .help = "where to write; - is standard output (default: HOST.bundle); of a "
                           "fleet a directory",
                   .completes = Completes::kFiles,
                   .writes = Writes::kFileAlways},
                  {.name = "list", .help = "write nothing: list what would leave this host"},
                  {.name = "keep-names", .help = "keep real names and addresses"},
                  {.name = "counters",
                   .metavar = "SECONDS",
                   .help = "read the counters again after this time, so that rates are known"},
                  {.name = "root",
                   .metavar = "DIR",
                   .help = "record a captured machine instead",
                   .completes = Completes::kFiles}},
      .examples = {{"sudo weir bundle", "this host; root sees more"},
                   {"weir bundle -o - --counters 10 | gzip > gpu03.gz",
                    "with rates over ten seconds"},
                   {"weir bundle --hosts gpu[001-128] -o bundles", "a fleet, a file per host"},
                   {"weir validate fabric.yaml --root bundles/", "many hosts, and their drift"}},
      .exit_codes = {ExitCode::kOk, ExitCode::kBadInput, ExitCode::kCouldNotLook,
                     ExitCode::kPartial},
      .looks = Looks::kAtHostOrFiles,
      .takes_fleet = true,
      .run = run_bundle,
  };
}

}  // namespace weir::cli

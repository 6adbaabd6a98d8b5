// weir bundle: this host in one file, to be looked at elsewhere.
#include "host/bundle/bundle.h"

#include <chrono>
#include <thread>

#include <fmt/format.h>

#include "base/file.h"
#include "base/json.h"
#include "base/text.h"
#include "cli/frame/commands.h"
#include "cli/frame/transition.h"
#include "cli/json/object.h"
#include "host/bundle/bundle_names.h"
#include "host/kernel/live.h"
#include "host/kernel/replay.h"
#include "host/linux/host.h"

namespace weir::cli {
namespace {

constexpr std::uint64_t kLongestWait = 3600;

struct Asked {
  std::unique_ptr<host::Kernel> kernel;  // where the bundle is made from
  std::uint64_t seconds = 0;             // until the second look; 0 for none
};

std::optional<Asked> read_arguments(const Args& args, Context& context, ExitCode& code) {
  Asked asked;
  if (const auto text = args.get("counters")) {
    const auto seconds = parse_u64(*text);
    if (!seconds || *seconds == 0 || *seconds > kLongestWait) {
      code = usage_error(context, args.command(),
                         fmt::format("--counters: expected seconds from 1 to {}, found '{}'",
                                     kLongestWait, *text));
      return std::nullopt;
    }
    if (args.has("root")) {
      code = usage_error(context, args.command(),
                         "--counters looks twice: a captured machine stands still");
      return std::nullopt;
    }
    asked.seconds = *seconds;
  }
  if (const auto root = args.get("root")) {
    auto kernel = host::open_replay(*root);
    if (!kernel) {
      code = fail(context, ExitCode::kBadInput, kernel.error().what);
      return std::nullopt;
    }
    asked.kernel = std::move(*kernel);
  } else {
    asked.kernel = host::make_live_kernel();
  }
  return asked;
}

ExitCode print_written(const Args& args, Context& context, const host::Bundle& bundle,
                       const evidence::Evidence& seen, const std::string& path, std::size_t size) {
  const std::string names = bundle.has_pseudonyms ? "with pseudonyms" : "with its own names";
  const std::string verdict = fmt::format("Wrote {}: {}, {}, {}.", path, seen.provenance.host,
                                          counted(seen.nics.size(), "RDMA NIC"), names);
  Observation one;
  one.hosts = {seen};
  if (context.json) {
    Json object = json_object(args.command());
    object["verdict"] = verdict;
    object["file"] = path;
    object["host"] = seen.provenance.host;
    object["pseudonyms"] = bundle.has_pseudonyms;
    object["looks"] = bundle.looks.size();
    object["nics"] = seen.nics.size();
    object["bytes"] = size;
    print_json(context, object);
    return completeness(one);
  }
  context.out << verdict << '\n';
  if (context.quiet) return completeness(one);
  print_gaps(one.hosts, context);
  context.out << fmt::format(
      "\nnext:\n  less {0}                 read it before you send it\n"
      "  weir validate DESIGN --root {0}\n  weir diagnose {0}\n",
      path);
  return completeness(one);
}

ExitCode run_bundle(const Args& args, Context& context) {
  ExitCode code = ExitCode::kOk;
  const auto asked = read_arguments(args, context, code);
  if (!asked) return code;
  auto bundle =
      host::record_host(*asked->kernel, args.get("root").value_or(""), asked->seconds > 0,
                        [&] { std::this_thread::sleep_for(std::chrono::seconds(asked->seconds)); });
  if (!bundle) return fail(context, ExitCode::kCouldNotLook, bundle.error().what);
  if (!args.has("keep-names")) host::pseudonymise(*bundle, host::Pseudonyms(bundle_key(context)));
  const std::string text = host::bundle_text(*bundle);
  // What the file shows, and nothing else, is what is said about it.
  const auto host = host::open_bundle(text, args.get("output").value_or("the bundle"));
  WEIR_CHECK(host.has_value());
  const auto seen = (*host)->observe();
  if (!seen) return fail(context, ExitCode::kCouldNotLook, seen.error().what);
  const std::string path =
      args.get("output").value_or(fmt::format("{}.bundle", seen->provenance.host));
  if (path == "-") {
    context.out << text;
    Observation one;
    one.hosts = {*seen};
    return completeness(one);
  }
  if (const Status written = write_file_atomic(path, text); !written)
    return fail(context, ExitCode::kBadInput, written.error().what);
  return print_written(args, context, *bundle, *seen, path, text.size());
}

}  // namespace

Command bundle_command() {
  return {
      .name = "bundle",
      .group = Group::kOperators,
      .summary = "this host in one file, to be looked at elsewhere",
      .description =
          "Writes what the kernel answered when Weir looked at this host: facts, counters, and "
          "what it refused. Host names and addresses become pseudonyms, the same in every bundle; "
          "subnets stay subnets. Whoever has the design sees the real names again. With "
          "WEIR_BUNDLE_KEY set to a secret, only who knows it can tell whose a pseudonym is. Every "
          "verb with --root reads bundles, and weir diagnose and weir diff take them as files.",
      .options = {{.name = "output",
                   .letter = 'o',
                   .metavar = "FILE",
                   .help = "where to write; - is standard output (default: HOST.bundle)",
                   .completes = Completes::kFiles},
                  {.name = "keep-names", .help = "real names and addresses, no pseudonyms"},
                  {.name = "counters",
                   .metavar = "SECONDS",
                   .help = "count a second time after this long, so that rates are known"},
                  {.name = "root",
                   .metavar = "DIR",
                   .help = "make it from a captured machine",
                   .completes = Completes::kFiles}},
      .examples = {{"sudo weir bundle", "this host; root sees more"},
                   {"weir bundle -o - --counters 10 | gzip > gpu03.gz",
                    "with ten seconds of rates"},
                   {"weir validate fabric.yaml --root bundles/", "many hosts, and their drift"}},
      .exit_codes = {ExitCode::kOk, ExitCode::kBadInput, ExitCode::kCouldNotLook,
                     ExitCode::kPartial},
      .rows = {"C1", "C2"},
      .run = run_bundle,
  };
}

}  // namespace weir::cli

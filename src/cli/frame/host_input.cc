#include "cli/frame/host_input.h"

#include <algorithm>

#include <fmt/format.h>

#include "base/text.h"
#include "base/untrusted/quote.h"
#include "cli/fleet/fleet_input.h"

namespace weir::cli {
namespace {

/// Empty where the verb has no such option.
std::vector<std::string> all_if_taken(const Args& args, std::string_view name) {
  const auto& options = args.command().options;
  const bool is_taken = std::any_of(options.begin(), options.end(),
                                    [&](const Option& option) { return option.name == name; });
  return is_taken ? args.all(name) : std::vector<std::string>();
}

}  // namespace

std::vector<Option> with_lab_option(std::vector<Option> own) {
  own.insert(own.begin(), {.name = "lab",
                           .metavar = "DIR",
                           .help = "the hosts of a lab instead of this machine",
                           .completes = Completes::kFiles,
                           .writes = Writes::kDirectory});
  return own;
}

std::vector<Option> with_live_host_options(std::vector<Option> own) {
  own.insert(own.begin(), {.name = "host",
                           .metavar = "HOST",
                           .help = "only these hosts of the lab: gpu03, gpu[01-04]",
                           .repeated = true});
  return with_lab_option(std::move(own));
}

std::vector<Option> with_host_options(std::vector<Option> own) {
  own.insert(own.begin(), {.name = "root",
                           .metavar = "PATH",
                           .help = "a bundle, a captured tree, or a directory of these",
                           .repeated = true,
                           .completes = Completes::kFiles});
  return with_live_host_options(std::move(own));
}

ops::Result<ops::Source> source_of(const Args& args) {
  std::vector<std::string> hosts = all_if_taken(args, "host");
  std::vector<std::string> captures = all_if_taken(args, "root");
  if (args.has("lab") && !captures.empty())
    return ops::bad_request(
        "--lab and --root (--via bundles) exclude each other: name one of them");
  if (!hosts.empty() && !args.has("lab"))
    return ops::bad_request("--host chooses among the hosts of a lab: add --lab DIR");
  return ops::Source{.lab = args.get("lab").value_or(""),
                     .hosts = std::move(hosts),
                     .captures = std::move(captures)};
}

ops::Result<ops::Source> source_of(const Args& args, const Context& context) {
  WEIR_TRY(source, source_of(args));
  return with_fleet(std::move(source), args, context);
}

std::string source_words(const Args& args) {
  std::string words;
  if (const auto lab = args.get("lab")) words += fmt::format(" --lab {}", shell_word(*lab));
  for (const std::string& root : all_if_taken(args, "root"))
    words += fmt::format(" --root {}", shell_word(root));
  return words + fleet_words(args);
}

ops::Result<ops::PlanRequest> plan_request(const Args& args, const Context& context) {
  WEIR_TRY(source, source_of(args, context));
  WEIR_TRY(design, design_path_for_hosts(args, context));
  return ops::PlanRequest{std::move(source), std::move(design)};
}

std::string plan_words(const Args& args) {
  std::string words = args.has("DESIGN") ? " " + shell_word(args.value("DESIGN")) : "";
  words += source_words(args);
  for (const std::string& host : args.all("host"))
    words += " --host " + shell_word(host);
  return words;
}

ExitCode completeness(const ops::Observation& seen) {
  if (seen.unseen.empty()) return seen.was_refused() ? ExitCode::kPartial : ExitCode::kOk;
  return seen.hosts.empty() ? ExitCode::kCouldNotLook : ExitCode::kPartial;
}

void print_unseen(const ops::Observation& seen, Context& context) {
  for (const std::string& text : ops::fold_reasons(seen.unseen))
    context.err << "weir: could not read " << text << '\n';
}

void print_gaps(const std::vector<evidence::Evidence>& hosts, Context& context) {
  for (const evidence::Evidence& host : hosts) {
    if (host.gaps.empty()) continue;
    context.out << fmt::format("\n{}: could not be read\n", host.provenance.host);
    for (const evidence::Gap& gap : host.gaps) {
      const std::string where = gap.where.empty() ? "" : gap.where + ": ";
      context.out << fmt::format("  {}\n    how: {}\n", hang(where + gap.what, 86, 2),
                                 hang(gap.how, 79, 9));
    }
  }
}

std::string bundle_key(const Context& context) {
  return context.environment(kBundleKeyVariable).value_or("");
}

std::string simulated_word(bool is_simulated) {
  return is_simulated ? " (simulated)" : "";
}

}  // namespace weir::cli

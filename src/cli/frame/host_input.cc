#include "cli/frame/host_input.h"

#include <algorithm>

#include <fmt/format.h>

#include "base/name_pattern.h"
#include "base/text.h"
#include "design/fabric/patterns.h"
#include "host/bundle/bundle_names.h"
#include "host/linux/host.h"

namespace weir::cli {
namespace {

constexpr std::string_view kEveryHost = "all";

/// The names that --host asks for, in the lab's order; an error names what is not there.
Result<std::vector<std::string>> chosen_hosts(const Args& args, const lab::Lab& lab) {
  const std::vector<std::string> known = lab.host_names();
  std::vector<std::string> wanted;
  for (const std::string& pattern : args.all("host")) {
    if (pattern == kEveryHost) return known;
    WEIR_TRY(names, design::expand_names(pattern));
    for (const std::string& name : names) {
      if (std::find(known.begin(), known.end(), name) == known.end()) {
        return not_found_error(fmt::format("--host {}: the lab has no host '{}'{}; it has {}",
                                           pattern, name, did_you_mean(name, known),
                                           compact_names(known)));
      }
      wanted.push_back(name);
    }
  }
  if (wanted.empty()) return known;
  std::vector<std::string> chosen;
  std::copy_if(known.begin(), known.end(), std::back_inserter(chosen), [&](const auto& name) {
    return std::find(wanted.begin(), wanted.end(), name) != wanted.end();
  });
  return chosen;
}

Result<HostSet> open_lab(const Args& args) {
  WEIR_TRY(opened, lab::Lab::open(args.value("lab")));
  WEIR_TRY(names, chosen_hosts(args, opened));
  HostSet set;
  for (const std::string& name : names) {
    WEIR_TRY(host, opened.host(name));
    set.hosts.push_back(std::move(host));
  }
  set.with_switches = !args.has("host") || names.size() == opened.host_names().size();
  set.lab = std::move(opened);
  return set;
}

/// This machine, or those that were captured.
Result<HostSet> open_machines(const Args& args) {
  HostSet set;
  set.captures = args.all("root");
  for (const std::string& root : set.captures) {
    WEIR_TRY(paths, host::find_captures(root));
    for (const std::string& path : paths) {
      WEIR_TRY(host, host::open_captured_host(path));
      set.hosts.push_back(std::move(host));
    }
  }
  if (set.captures.empty()) set.hosts.push_back(host::make_linux_host());
  return set;
}

}  // namespace

std::vector<Option> with_host_options(std::vector<Option> own) {
  std::vector<Option> options = {{.name = "lab",
                                  .metavar = "DIR",
                                  .help = "the hosts of a lab instead of this machine",
                                  .completes = Completes::kFiles},
                                 {.name = "host",
                                  .metavar = "HOST",
                                  .help = "only these of the lab: gpu03, gpu[01-04]; repeatable",
                                  .repeated = true},
                                 {.name = "root",
                                  .metavar = "PATH",
                                  .help = "a bundle, a capture or a directory of them; repeatable",
                                  .repeated = true,
                                  .completes = Completes::kFiles}};
  options.insert(options.end(), std::make_move_iterator(own.begin()),
                 std::make_move_iterator(own.end()));
  return options;
}

std::string HostSet::flag() const {
  if (lab) return fmt::format(" --lab {}", lab->directory());
  std::string flags;
  for (const std::string& directory : captures)
    flags += fmt::format(" --root {}", directory);
  return flags;
}

std::optional<HostSet> open_hosts(const Args& args, Context& context, ExitCode& code) {
  if (args.has("lab") && args.has("root")) {
    code = fail(context, ExitCode::kUsage, "--lab and --root exclude each other: name one of them");
    return std::nullopt;
  }
  if (args.has("host") && !args.has("lab")) {
    code =
        fail(context, ExitCode::kUsage, "--host chooses among the hosts of a lab: add --lab DIR");
    return std::nullopt;
  }
  Result<HostSet> set = args.has("lab") ? open_lab(args) : open_machines(args);
  if (!set) {
    const bool is_refused = set.error().code == ErrorCode::kPermission;
    code =
        fail(context, is_refused ? ExitCode::kCouldNotLook : ExitCode::kBadInput, set.error().what);
    return std::nullopt;
  }
  return std::move(*set);
}

std::vector<evidence::Evidence> Observation::all() const {
  std::vector<evidence::Evidence> everything = hosts;
  if (switches) everything.push_back(*switches);
  return everything;
}

bool Observation::is_simulated() const {
  return std::any_of(hosts.begin(), hosts.end(),
                     [](const auto& evidence) { return evidence.provenance.simulated; });
}

bool Observation::was_refused() const {
  return std::any_of(hosts.begin(), hosts.end(), [](const evidence::Evidence& host) {
    return std::any_of(host.gaps.begin(), host.gaps.end(), [](const evidence::Gap& gap) {
      return gap.why == evidence::Missing::kPermission;
    });
  });
}

ExitCode Observation::completeness() const {
  if (unseen.empty()) return was_refused() ? ExitCode::kPartial : ExitCode::kOk;
  return hosts.empty() ? ExitCode::kCouldNotLook : ExitCode::kPartial;
}

void print_gaps(const Observation& seen, Context& context) {
  for (const evidence::Evidence& host : seen.hosts) {
    if (host.gaps.empty()) continue;
    context.out << fmt::format("\n{}: could not be read\n", host.provenance.host);
    for (const evidence::Gap& gap : host.gaps) {
      const std::string where = gap.where.empty() ? "" : gap.where + ": ";
      context.out << fmt::format("  {}\n    how: {}\n", hang(where + gap.what, 86, 2),
                                 hang(gap.how, 79, 9));
    }
  }
}

std::size_t Observation::nic_count() const {
  std::size_t count = 0;
  for (const evidence::Evidence& host : hosts)
    count += host.nics.size();
  return count;
}

std::string Observation::names() const {
  std::vector<std::string> names;
  for (const evidence::Evidence& host : hosts)
    names.push_back(host.provenance.host);
  return compact_names(names);
}

Observation observe(const HostSet& set, Context& context) {
  Observation seen;
  const auto note = [&](const std::string& who, const Error& error) {
    seen.unseen.push_back(fmt::format("{}: {}", who, error.what));
    context.err << "weir: could not look at " << seen.unseen.back() << '\n';
  };
  for (const auto& host : set.hosts) {
    Result<evidence::Evidence> evidence = host->observe();
    if (evidence) {
      seen.hosts.push_back(std::move(*evidence));
    } else {
      note(host->name(), evidence.error());
    }
  }
  if (set.lab && set.with_switches) {
    Result<evidence::Evidence> switches = set.lab->observe_switches();
    if (switches) {
      seen.switches = std::move(*switches);
    } else {
      note("the switches", switches.error());
    }
  }
  return seen;
}

host::Pseudonyms pseudonyms_of(const Context& context) {
  return host::Pseudonyms(context.environment(kBundleKeyVariable).value_or(""));
}

void restore_names(Observation& seen, const design::Intent& intent, const Context& context) {
  const host::Pseudonyms pseudonyms = pseudonyms_of(context);
  for (evidence::Evidence& one : seen.hosts) {
    if (one.provenance.origin != evidence::Origin::kBundle) continue;
    if (find_host(intent, one.provenance.host) == nullptr)
      (void)host::restore_names(one, intent, pseudonyms);
  }
}

std::optional<DesignInput> design_for(const Args& args, Context& context, const HostSet& set,
                                      ExitCode& code) {
  if (set.lab && !args.has("DESIGN")) return DesignInput{set.lab->design(), set.lab->intent()};
  return load_design(args, context, code);
}

const design::HostIntent* find_host(const design::Intent& intent, std::string_view name) {
  const auto found = std::find_if(intent.hosts.begin(), intent.hosts.end(),
                                  [&](const auto& host) { return host.name == name; });
  return found == intent.hosts.end() ? nullptr : &*found;
}

std::string counted(std::size_t n, std::string_view one) {
  const bool hisses = one.ends_with("switch");
  return fmt::format("{} {}{}", with_thousands(static_cast<std::int64_t>(n)), one,
                     n == 1   ? ""
                     : hisses ? "es"
                              : "s");
}

std::string simulated_word(bool is_simulated) {
  return is_simulated ? " (simulated)" : "";
}

}  // namespace weir::cli

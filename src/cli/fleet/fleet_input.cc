#include "cli/fleet/fleet_input.h"

#include <algorithm>

#include <fmt/format.h>

#include "base/hosts/host_set.h"
#include "base/text.h"
#include "base/untrusted/quote.h"
#include "cli/frame/design_input.h"
#include "cli/frame/interruption.h"
#include "units/format.h"

namespace weir::cli {
namespace {

std::vector<Option> every_fleet_option() {
  return {{.name = "hosts",
           .metavar = "SET",
           .help = "these hosts: gpu[001-128,200], rack[1-4]n[01-16], @group, a!b, a&b; @design: "
                   "those of the design"},
          {.name = "via",
           .metavar = "HOW",
           .help = "the way to them: ssh (usual), slurm, exec (with --exec), lab DIR, bundles DIR "
                   "(as --lab DIR, --root DIR)",
           .choices = {"ssh", "slurm", "exec", "lab", "bundles"}},
          {.name = "exec",
           .metavar = "CMD",
           .help = "command of --via exec; %h is the host, %c the command to run there; without %c "
                   "it prints a bundle"},
          {.name = "hosts-file",
           .metavar = "FILE",
           .help = "hosts from a file, a set on each line",
           .completes = Completes::kFiles},
          {.name = "inventory",
           .metavar = "FILE",
           .help = "hosts and groups of an Ansible inventory (INI, YAML) or a NetBox export (JSON)",
           .completes = Completes::kFiles},
          {.name = "fanout", .metavar = "N", .help = "hosts asked at the same time (64)"},
          {.name = "host-timeout", .metavar = "TIME", .help = "longest for one host (30s)"},
          {.name = "budget", .metavar = "TIME", .help = "longest for all of them (5min)"},
          {.name = "jump", .metavar = "HOST", .help = "reach them through this host, by ssh"},
          {.name = "ssh", .metavar = "CMD", .help = "command to use instead of ssh"},
          {.name = "push", .help = "send this binary to hosts that have no weir, for one look"},
          {.name = "sudo", .help = "run weir there by sudo -n"},
          {.name = "remote-weir", .metavar = "PATH", .help = "what weir is called there (weir)"}};
}

bool has_option(const Command& command, std::string_view name) {
  return std::any_of(command.options.begin(), command.options.end(),
                     [&](const Option& option) { return option.name == name; });
}

ops::Result<Duration> time_option(const Args& args, std::string_view name, Duration usual) {
  const auto text = args.get(name);
  if (!text) return usual;
  constexpr Duration kMost = 86400_s;
  const auto time = parse_duration(*text);
  if (!time || time->raw() <= 0 || *time > kMost)
    return ops::bad_request(
        fmt::format("--{}: expected a time of at most 24h, such as 30s, found '{}'", name, *text));
  return *time;
}

ops::Result<host::FleetLimits> limits_of(const Args& args) {
  host::FleetLimits limits;
  if (const auto text = args.get("fanout")) {
    constexpr std::uint64_t kMost = 1024;
    const auto number = parse_u64(*text);
    if (!number || *number == 0 || *number > kMost)
      return ops::bad_request(
          fmt::format("--fanout: expected a number from 1 to {}, found '{}'", kMost, *text));
    limits.fanout = static_cast<unsigned>(*number);
  }
  WEIR_TRY(host_time, time_option(args, "host-timeout", limits.host_time));
  WEIR_TRY(budget, time_option(args, "budget", limits.budget));
  limits.host_time = host_time;
  limits.budget = budget;
  limits.is_interrupted = Interruption::has_come;
  return limits;
}

ops::Result<host::Reach> reach_of(const Args& args, const std::string& via) {
  host::Reach reach;
  if (via == "slurm") reach.kind = host::Reach::Kind::kSlurm;
  if (via == "exec") reach.kind = host::Reach::Kind::kExec;
  if (args.has("exec") != (via == "exec"))
    return ops::bad_request("--exec CMD and --via exec belong together");
  if (via != "ssh" && (args.has("jump") || args.has("ssh")))
    return ops::bad_request("--jump and --ssh are for --via ssh");
  reach.exec = args.get("exec").value_or("");
  reach.jump = args.get("jump").value_or("");
  reach.pushes = args.has("push");
  reach.with_sudo = args.has("sudo");
  reach.weir = args.get("remote-weir").value_or("weir");
  const std::string ssh = args.get("ssh").value_or("");
  for (const std::string_view word : split(ssh, ' '))
    if (!word.empty()) reach.ssh.emplace_back(word);
  WEIR_TRY_STATUS(ops::or_bad_request(host::check_reach(reach)));
  return reach;
}

/// The design that "@design" means: of the verb's argument, its option or its usual place.
std::string design_at_hand(const Args& args, const Context& context) {
  const auto& arguments = args.command().arguments;
  const bool is_argument =
      std::any_of(arguments.begin(), arguments.end(),
                  [](const Argument& argument) { return argument.name == "DESIGN"; });
  std::string path;
  if (is_argument) path = design_path(args, context).value_or("");
  if (has_option(args.command(), "design")) path = args.get("design").value_or("");
  return path == "-" ? "" : path;
}

ops::Result<std::vector<host::FleetHost>> hosts_of(const Args& args, const Context& context) {
  return ops::find_fleet_hosts({.set = args.get("hosts").value_or(""),
                                .hosts_file = args.get("hosts-file").value_or(""),
                                .inventory = args.get("inventory").value_or(""),
                                .design = design_at_hand(args, context),
                                .group_folders = ops::usual_group_folders()});
}

/// Options that say how machines are asked, beside hosts that are files here.
ops::Status refuse_machine_options(const Args& args, const std::string& via) {
  for (const std::string_view name :
       {"exec", "jump", "ssh", "push", "sudo", "remote-weir", "fanout", "host-timeout", "budget"})
    if (args.has(name))
      return ops::bad_request(
          fmt::format("--{}: --via {} reads files and asks no machine: leave it out", name, via));
  return {};
}

/// --via lab and --via bundles: which of the hosts that are there.
ops::Result<ops::Source> chosen_of(ops::Source source, const std::string& via, const Args& args,
                                   const Context& context) {
  // weir preflight runs loads, weir bundle makes bundles: neither reads them.
  const bool is_taken = via == "lab" ? has_option(args.command(), "lab")
                                     : has_option(args.command(), "root") &&
                                           (!args.has("root") || !source.captures.empty());
  if (!is_taken)
    return ops::bad_request(
        fmt::format("--via {}: weir {} does not read them; expected ssh, slurm or exec", via,
                    args.command().name));
  if (via == "lab" && source.lab.empty())
    return ops::bad_request("--via lab: expected the lab's directory: --via lab DIR");
  if (via == "bundles" && source.captures.empty())
    return ops::bad_request(
        "--via bundles: expected the directory of the bundles: --via bundles DIR");
  WEIR_TRY_STATUS(refuse_machine_options(args, via));
  const bool chooses = args.has("hosts") || args.has("hosts-file") || args.has("inventory");
  if (!chooses) return source;
  if (!source.hosts.empty())
    return ops::bad_request("--host and --hosts exclude each other: name one of them");
  WEIR_TRY(hosts, hosts_of(args, context));
  for (const host::FleetHost& host : hosts)
    source.hosts.push_back(host.name);
  return source;
}

}  // namespace

std::vector<Option> fleet_options(const Command& command) {
  std::vector<Option> options = every_fleet_option();
  std::erase_if(options, [&](const Option& option) { return has_option(command, option.name); });
  return options;
}

bool names_fleet(const Args& args) {
  if (!args.command().takes_fleet) return false;
  return args.has("hosts") || args.has("via") || args.has("hosts-file") || args.has("inventory");
}

ops::Result<ops::Source> with_fleet(ops::Source source, const Args& args, const Context& context) {
  if (!names_fleet(args)) return source;
  const bool is_here = !source.lab.empty() || !source.captures.empty();
  const std::string usual = !source.lab.empty()        ? "lab"
                            : !source.captures.empty() ? "bundles"
                            : args.has("exec")         ? "exec"
                                                       : "ssh";
  const std::string via = args.get("via").value_or(usual);
  if (via == "lab" || via == "bundles") return chosen_of(std::move(source), via, args, context);
  if (is_here)
    return ops::bad_request(fmt::format("--via {} asks machines: leave out --{}", via,
                                        source.lab.empty() ? "root" : "lab"));
  WEIR_TRY(reach, reach_of(args, via));
  WEIR_TRY(limits, limits_of(args));
  WEIR_TRY(hosts, hosts_of(args, context));
  // Until the end of the process: what was started on other machines is ended by whoever waits.
  static const Interruption interruption;
  source.fleet = ops::FleetSource{std::move(hosts), std::move(reach), std::move(limits)};
  return source;
}

std::string fleet_words_without(const Args& args, const std::vector<std::string>& names) {
  if (names.empty() || !names_fleet(args)) return fleet_words(args);
  std::string set = args.get("hosts").value_or("");
  if (set.empty() && !args.has("hosts-file")) set = args.has("inventory") ? "@*" : "@design";
  set += "!" + fold_hosts(names);
  std::string words;
  for (const Option& option : every_fleet_option()) {
    if (option.name != "hosts" && !args.has(option.name)) continue;
    words += fmt::format(" --{}", option.name);
    if (option.is_flag()) continue;
    words += " " + shell_word(option.name == "hosts" ? set : args.value(option.name));
  }
  return words;
}

std::string fleet_words(const Args& args, const std::string& hosts) {
  if (!names_fleet(args)) return "";
  std::string words;
  for (const Option& option : every_fleet_option()) {
    const bool is_replaced =
        !hosts.empty() && (option.name == "hosts" || option.name == "hosts-file");
    if (option.name == "hosts" && is_replaced) words += " --hosts " + shell_word(hosts);
    if (is_replaced || !args.has(option.name)) continue;
    words += fmt::format(" --{}", option.name);
    if (!option.is_flag()) words += " " + shell_word(args.value(option.name));
  }
  return words;
}

std::string with_answers(const Args& args, const Context& context, std::string verdict,
                         const std::vector<ops::FoldedAnswer>& answers) {
  if (!names_fleet(args) || context.quiet) return verdict;
  for (const ops::FoldedAnswer& answer : answers)
    verdict += fmt::format(
        "\n  {}", hang(fmt::format("{}: {}", fold_hosts(answer.hosts), answer.answer), 96, 4));
  return verdict;
}

}  // namespace weir::cli

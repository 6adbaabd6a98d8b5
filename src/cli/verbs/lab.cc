// weir lab: a simulated fabric in a directory, for every verb that takes --lab.
#include "ops/simulate/lab.h"

#include <algorithm>

#include <fmt/format.h>

#include "base/table.h"
#include "base/text.h"
#include "cli/frame/commands.h"
#include "cli/frame/design_input.h"
#include "cli/frame/switch_input.h"
#include "cli/json/lab_json.h"
#include "sim/fault/fault.h"
#include "units/format.h"

namespace weir::cli {
namespace {

Option dir_option() {
  return {.name = "dir",
          .metavar = "DIR",
          .help = "where the lab is kept",
          .default_value = "lab",
          .completes = Completes::kFiles,
          .writes = Writes::kFile};
}

// ---- status, up and down ----

/// "all 16 NICs as shipped", "3 of 16 NICs as shipped", "no switch as shipped".
std::string setting_words(std::size_t factory, std::size_t all, std::string_view noun,
                          std::string_view plural) {
  if (factory == 0) return fmt::format("no {} as shipped", noun);
  if (factory == all) return fmt::format("all {} {} as shipped", all, plural);
  return fmt::format("{} of {} {} as shipped", factory, all, plural);
}

void print_status(const lab::Lab& lab, Context& context) {
  const lab::LabStatus status = lab.status();
  context.out << fmt::format("Lab {}: {} (simulated)\n", lab.directory(), size_of(lab.intent()));
  context.out << fmt::format(
      "  settings  {}; {}\n", setting_words(status.factory_nics, status.nics, "NIC", "NICs"),
      setting_words(status.factory_switches, status.switches, "switch", "switches"));
  const auto last = lab.last_run();
  context.out << fmt::format("  loads     {}{}\n", status.loads,
                             last ? fmt::format(", last: {}", last->command) : "");
  context.out << fmt::format("  clock     {} simulated; seed {}\n",
                             status.clock == Duration() ? "0s" : approximate(status.clock),
                             status.seed);
  if (status.faults.empty()) context.out << "  faults    none\n";
  for (const lab::ActiveFault& fault : status.faults)
    context.out << fmt::format("  fault     {}\n", fault.text);
}

ExitCode run_status(const Args& args, Context& context) {
  const auto lab = ops::open_lab(args.value("dir"));
  if (!lab) return fail(context, args.command(), lab.error());
  if (context.json) {
    print_lab_json(context, args.command(), *lab);
  } else {
    print_status(*lab, context);
  }
  return ExitCode::kOk;
}

ExitCode run_up(const Args& args, Context& context) {
  const auto seed = parse_u64(args.value("seed"));
  if (!seed) return usage_error(context, args.command(), seed.error().within("--seed").what);
  const auto design = design_path(args, context);
  if (!design) return fail(context, args.command(), design.error());
  const std::string& factory = args.value("factory");
  const auto lab = ops::create_lab({.directory = args.value("dir"),
                                    .design = *design,
                                    .options = {.factory_hosts = factory != "none",
                                                .factory_switches = factory == "switches",
                                                .seed = *seed}});
  if (!lab) return fail(context, args.command(), lab.error());
  if (context.json) {
    print_lab_json(context, args.command(), *lab);
    return ExitCode::kOk;
  }
  if (context.quiet) return ExitCode::kOk;
  print_status(*lab, context);
  context.out << fmt::format("Next: weir validate --lab {}\n", lab->directory());
  return ExitCode::kOk;
}

ExitCode run_down(const Args& args, Context& context) {
  const std::string& dir = args.value("dir");
  if (const auto removed = ops::remove_lab(dir); !removed)
    return fail(context, args.command(), removed.error());
  if (context.json) {
    print_lab_gone_json(context, args.command(), dir);
  } else if (!context.quiet) {
    context.out << fmt::format("Lab {} removed.\n", dir);
  }
  return ExitCode::kOk;
}

// ---- faults ----

std::string repair_text(const lab::ActiveFault& fault) {
  if (!fault.is_setting) return "in the fabric; lasts until it is cleared";
  if (fault.switches.empty()) return "in settings of NICs; correcting them repairs it";
  return fmt::format("in settings of {}; weir lab switch {} set config designed repairs it",
                     fault.switches.size() == 1 ? fault.switches.front()
                                                : fmt::format("{} switches", fault.switches.size()),
                     fault.switches.size() == 1 ? fault.switches.front() : "SWITCH");
}

ExitCode list_lab_faults(const Args& args, Context& context, const lab::Lab& lab) {
  if (context.json) {
    print_lab_faults_json(context, args.command(), lab);
    return ExitCode::kOk;
  }
  if (context.quiet) return ExitCode::kOk;
  const std::vector<lab::ActiveFault> faults = lab.faults();
  if (faults.empty()) {
    context.out << "No faults. weir sim --list-faults lists those that can be added.\n";
    return ExitCode::kOk;
  }
  TextTable table({"fault", "where, and how it is repaired"});
  for (const lab::ActiveFault& fault : faults)
    table.add_row({fault.text, repair_text(fault)});
  context.out << table.to_text();
  return ExitCode::kOk;
}

void print_cleared(const std::vector<lab::ActiveFault>& before, const lab::Lab& lab,
                   Context& context) {
  std::vector<std::string> gone;
  const std::vector<lab::ActiveFault> left = lab.faults();
  for (const lab::ActiveFault& fault : before)
    if (std::none_of(left.begin(), left.end(),
                     [&](const lab::ActiveFault& other) { return other.text == fault.text; }))
      gone.push_back(fault.text);
  context.out << (gone.empty() ? "Nothing to clear.\n"
                               : fmt::format("Cleared {}.\n", join(gone, "; ")));
}

ExitCode run_fault(const Args& args, Context& context) {
  const std::string& action = args.value("ACTION");
  const std::vector<std::string>& faults = args.all("FAULT");
  if (action == "add" && faults.empty())
    return usage_error(context, args.command(),
                       "add needs a fault of weir sim --list-faults, such as np-off,at=gpu03");
  if (action == "list" && !faults.empty())
    return usage_error(context, args.command(), "list takes no fault");
  auto lab = ops::open_lab(args.value("dir"));
  if (!lab) return fail(context, args.command(), lab.error());
  ops::Status done;
  if (action == "add") done = ops::add_lab_faults(*lab, faults);
  const std::vector<lab::ActiveFault> before = lab->faults();
  if (action == "clear") done = ops::clear_lab_faults(*lab, faults);
  if (!done) return fail(context, args.command(), done.error());
  if (action == "clear" && !context.json && !context.quiet) print_cleared(before, *lab, context);
  return list_lab_faults(args, context, *lab);
}

// ---- switches ----

void print_switch(const ops::LabSwitch& shown, Context& context) {
  TextTable table({"port", "to", "link", "headroom", "headroom drops"},
                  {Align::kLeft, Align::kLeft, Align::kLeft, Align::kRight, Align::kRight});
  for (const ops::LabPort& port : shown.ports)
    table.add_row({port.name, port.neighbour, port.is_up ? "up" : "down",
                   port.headroom ? approximate(*port.headroom) : "-",
                   port.headroom_drops ? std::to_string(*port.headroom_drops) : "-"});
  context.out << fmt::format("{}: buffer profile {} (simulated)\n", shown.name,
                             shown.buffer_profile)
              << table.to_text(2);
}

/// `SWITCH show`, `SWITCH set KEY VALUE`: what is wrong with the words; empty if nothing.
std::string switch_words_error(const std::vector<std::string>& words) {
  if (words.empty() || (words[0] != "show" && words[0] != "set"))
    return fmt::format("expected show or set, found {}",
                       words.empty() ? "nothing" : "'" + words[0] + "'");
  if (words[0] == "show") return words.size() == 1 ? "" : "show takes no setting";
  if (words.size() != 3)
    return "set needs a key and a value: buffer-profile roce-aggressive, or config designed";
  if (words[1] != "buffer-profile" && words[1] != "config")
    return fmt::format("set: expected buffer-profile or config, found '{}'", words[1]);
  return "";
}

void print_loaded(const std::vector<ops::LoadedConfig>& loaded, Context& context) {
  for (const ops::LoadedConfig& entry : loaded) {
    const auto& unread = entry.config.parsed.unread;
    context.out << fmt::format(
        "{}: {} ({}){}\n", entry.config.name, entry.config.file, entry.system,
        unread.empty() ? "" : fmt::format(", {} not understood", counted(unread.size(), "line")));
    for (const platforms::Unread& line : unread)
      context.out << fmt::format("  {}: {} ({})\n", line.line, line.text, line.why);
  }
}

ExitCode load_switches(const Args& args, Context& context, lab::Lab& lab) {
  const auto files = switch_files(args.all("ACTION"), "load", SwitchNames::kRequired);
  if (!files) return fail(context, args.command(), files.error());
  const auto loaded = ops::load_lab_switches(lab, *files, args.get("all").value_or(""));
  if (!loaded) return fail(context, args.command(), loaded.error());
  if (context.json) {
    print_loaded_json(context, *loaded);
  } else if (!context.quiet) {
    print_loaded(*loaded, context);
  }
  return ExitCode::kOk;
}

ExitCode run_switch(const Args& args, Context& context) {
  const std::string& name = args.value("SWITCH");
  const std::vector<std::string>& words = args.all("ACTION");
  const bool loads = name == "load";
  const std::string error =
      loads ? (words.empty() && !args.has("all") ? "load needs NAME=FILE, or --all DIR" : "")
            : switch_words_error(words);
  if (!error.empty()) return usage_error(context, args.command(), error);
  if (!loads && args.has("all"))
    return usage_error(context, args.command(), "--all is for load only");
  auto lab = ops::open_lab(args.value("dir"));
  if (!lab) return fail(context, args.command(), lab.error());
  if (loads) return load_switches(args, context, *lab);
  if (words[0] == "set")
    if (const auto set = ops::set_lab_switch(*lab, name, words[1], words[2]); !set)
      return fail(context, args.command(), set.error());
  const auto shown = ops::lab_switch(*lab, name);
  if (!shown) return fail(context, args.command(), shown.error());
  if (context.json) {
    print_lab_switch_json(context, args.command(), *shown);
  } else if (!context.quiet) {
    print_switch(*shown, context);
  }
  return ExitCode::kOk;
}

}  // namespace

Command lab_up_command() {
  return {
      .name = "lab up",
      .group = Group::kOperators,
      .summary = "create a simulated fabric in a directory",
      .description =
          "Creates a lab of the design: every verb with --lab DIR then observes, changes and loads "
          "it as it would real hosts. NICs start as shipped, switches as designed. The lab is one "
          "directory; a killed verb does not damage it.",
      .arguments = {design_argument()},
      .options = {dir_option(),
                  {.name = "factory",
                   .metavar = "WHAT",
                   .help = "as shipped: hosts, switches (and hosts), or none",
                   .default_value = "hosts",
                   .choices = {"hosts", "switches", "none"}},
                  {.name = "seed", .metavar = "N", .help = "random seed", .default_value = "1"}},
      .examples = {{"weir lab up pod16.yaml --dir lab", "16 hosts to practise on"},
                   {"weir validate --lab lab", "compare them with the design"}},
      .exit_codes = {ExitCode::kOk, ExitCode::kBadInput},
      .looks = Looks::kAtFiles,
      .run = run_up,
  };
}

Command lab_down_command() {
  return {
      .name = "lab down",
      .group = Group::kOperators,
      .summary = "remove a lab",
      .description = "Removes the lab's files, and its directory if nothing else is in it.",
      .options = {dir_option()},
      .examples = {{"weir lab down --dir lab", "remove the lab"}},
      .exit_codes = {ExitCode::kOk, ExitCode::kBadInput},
      .looks = Looks::kAtFiles,
      .run = run_down,
  };
}

Command lab_status_command() {
  return {
      .name = "lab status",
      .group = Group::kOperators,
      .summary = "what is in a lab: settings, faults, loads",
      .description =
          "Shows how many NICs and switches are still as shipped, the active faults, the last "
          "load, "
          "and the simulated time.",
      .options = {dir_option()},
      .examples = {{"weir lab status --dir lab", "settings, loads, faults"}},
      .exit_codes = {ExitCode::kOk, ExitCode::kBadInput},
      .looks = Looks::kAtFiles,
      .run = run_status,
  };
}

Command lab_fault_command() {
  return {
      .name = "lab fault",
      .group = Group::kOperators,
      .summary = "add, clear or list faults of a lab",
      .description =
          "Adds faults of weir sim --list-faults, clears them (without a name: all), or lists "
          "them. A fault that a host or switch would show in its settings is a wrong setting: "
          "weir apply or weir lab switch repairs it. Times of a fault count from the start of each "
          "load.",
      .arguments = {{.name = "ACTION",
                     .help = "add, clear or list",
                     .required = true,
                     .choices = {"add", "clear", "list"}},
                    {.name = "FAULT", .help = "such as slow-receiver,at=gpu03", .repeated = true}},
      .options = {dir_option()},
      .examples = {{"weir lab fault add wrong-trust,at=gpu03", "a NIC that trusts PCP"},
                   {"weir lab fault clear wrong-trust", "restore its settings"}},
      .exit_codes = {ExitCode::kOk, ExitCode::kBadInput},
      .looks = Looks::kAtFiles,
      .run = run_fault,
  };
}

Command lab_switch_command() {
  return {
      .name = "lab switch",
      .group = Group::kOperators,
      .summary = "show or set a switch of a lab, or load a configuration",
      .description =
          "Shows the buffer profile of a switch and the headroom and headroom drops of each port. "
          "`set` changes buffer-profile (vendor, roce-balanced, roce-aggressive) or config "
          "(designed, factory). `load` reads configurations of real switches into the lab; --all "
          "expects one file per switch, as weir render --all writes them.",
      .arguments = {{.name = "SWITCH", .help = "name of the switch, or load", .required = true},
                    {.name = "ACTION",
                     .help = "show; set KEY VALUE; after load: NAME=FILE",
                     .repeated = true}},
      .options = {dir_option(),
                  {.name = "all",
                   .metavar = "DIR",
                   .help = "with load: one file per switch",
                   .completes = Completes::kFiles}},
      .examples = {{"weir lab switch leaf1 show", "profile, headroom, drops"},
                   {"weir lab switch leaf1 set buffer-profile roce-aggressive", "more headroom"},
                   {"weir lab switch load leaf1=leaf1.cfg", "load a configuration"},
                   {"weir lab switch load --all configs", "what weir render wrote"}},
      .exit_codes = {ExitCode::kOk, ExitCode::kBadInput},
      .looks = Looks::kAtFiles,
      .run = run_switch,
  };
}

}  // namespace weir::cli

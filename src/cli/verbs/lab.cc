// weir lab: a simulated fabric in a directory, for every verb that takes --lab.
#include "lab/fabric/lab.h"

#include <fmt/format.h>

#include "base/json.h"
#include "base/table.h"
#include "base/text.h"
#include "cli/frame/commands.h"
#include "cli/frame/transition.h"
#include "cli/json/object.h"
#include "cli/verbs/lab_load.h"
#include "sim/fault/fault.h"
#include "units/format.h"

namespace weir::cli {
namespace {

Option dir_option() {
  return {.name = "dir",
          .metavar = "DIR",
          .help = "where the lab is kept",
          .default_value = "lab",
          .completes = Completes::kFiles};
}

ExitCode failed(Context& context, const Error& error) {
  return fail(context, ExitCode::kBadInput, error.what);
}

/// The lab of --dir, or the exit code in `code`.
std::optional<lab::Lab> open_lab(const Args& args, Context& context, ExitCode& code) {
  auto opened = lab::Lab::open(args.value("dir"));
  if (!opened) {
    code = failed(context, opened.error());
    return std::nullopt;
  }
  return std::move(*opened);
}

// ---- status ----

Json fault_list(const std::vector<lab::ActiveFault>& faults) {
  Json list = Json::array();
  for (const lab::ActiveFault& fault : faults)
    list.push_back({{"fault", fault.text}, {"is_setting", fault.is_setting}});
  return list;
}

void add_status(const lab::Lab& lab, Json& object) {
  const lab::LabStatus status = lab.status();
  object["dir"] = lab.directory();
  object["name"] = lab.design().name.value_or("");
  object["hosts"] = status.hosts;
  object["nics"] = status.nics;
  object["factory_nics"] = status.factory_nics;
  object["switches"] = status.switches;
  object["factory_switches"] = status.factory_switches;
  object["seed"] = status.seed;
  object["loads"] = status.loads;
  object["clock_ns"] = status.clock.raw() / 1000;
  object["faults"] = fault_list(status.faults);
  const auto last = lab.last_run();
  object["last_load"] = last ? Json(last->command) : Json(nullptr);
}

/// "all 16 NICs as shipped", "3 of 16 NICs as shipped", "no switch as shipped".
std::string setting_words(std::size_t factory, std::size_t all, std::string_view singular,
                          std::string_view plural) {
  if (factory == 0) return fmt::format("no {} as shipped", singular);
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
  ExitCode code = ExitCode::kOk;
  const auto lab = open_lab(args, context, code);
  if (!lab) return code;
  if (context.json) {
    Json object = json_object(args.command());
    add_status(*lab, object);
    print_json(context, object);
  } else {
    print_status(*lab, context);
  }
  return ExitCode::kOk;
}

// ---- up and down ----

ExitCode run_up(const Args& args, Context& context) {
  const auto seed = parse_u64(args.value("seed"));
  if (!seed) return usage_error(context, args.command(), seed.error().within("--seed").what);
  ExitCode code = ExitCode::kOk;
  // Read as every verb reads a design, so that all its errors are listed with their places.
  const auto input = load_design(args, context, code);
  if (!input) return code;
  if (input->design.file == "stdin")
    return usage_error(context, args.command(), "a lab needs the design as a file");
  const std::string& factory = args.value("factory");
  const auto lab = lab::Lab::create(args.value("dir"), input->design.file,
                                    {.factory_hosts = factory != "none",
                                     .factory_switches = factory == "switches",
                                     .seed = *seed});
  if (!lab) return failed(context, lab.error());
  if (context.json) {
    Json object = json_object(args.command());
    add_status(*lab, object);
    print_json(context, object);
    return ExitCode::kOk;
  }
  if (context.quiet) return ExitCode::kOk;
  print_status(*lab, context);
  context.out << fmt::format("Next: weir validate --lab {}\n", lab->directory());
  return ExitCode::kOk;
}

ExitCode run_down(const Args& args, Context& context) {
  const std::string& dir = args.value("dir");
  if (const Status removed = lab::Lab::remove(dir); !removed)
    return failed(context, removed.error());
  if (context.json) {
    Json object = json_object(args.command());
    object["dir"] = dir;
    print_json(context, object);
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

ExitCode list_faults(const Args& args, Context& context, const lab::Lab& lab) {
  const std::vector<lab::ActiveFault> faults = lab.faults();
  if (context.json) {
    Json object = json_object(args.command());
    object["dir"] = lab.directory();
    object["faults"] = fault_list(faults);
    print_json(context, object);
    return ExitCode::kOk;
  }
  if (context.quiet) return ExitCode::kOk;
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

ExitCode run_fault(const Args& args, Context& context) {
  const std::string& action = args.value("ACTION");
  const std::vector<std::string>& faults = args.all("FAULT");
  if (action == "add" && faults.empty())
    return usage_error(context, args.command(),
                       "add needs a fault of weir sim --list-faults, such as np-off,at=gpu03");
  if (action == "list" && !faults.empty())
    return usage_error(context, args.command(), "list takes no fault");
  ExitCode code = ExitCode::kOk;
  auto lab = open_lab(args, context, code);
  if (!lab) return code;
  for (const std::string& fault : faults) {
    if (action == "add") {
      if (const Status added = lab->add_fault(fault); !added) return failed(context, added.error());
    } else if (const auto cleared = lab->clear_fault(fault); !cleared) {
      return failed(context, cleared.error());
    }
  }
  if (action == "clear" && faults.empty())
    if (const auto cleared = lab->clear_all_faults(); !cleared)
      return failed(context, cleared.error());
  return list_faults(args, context, *lab);
}

// ---- switches ----

const evidence::GroupBuffer* lossless_group(const evidence::SwitchPort& port) {
  for (const evidence::GroupBuffer& group : port.groups)
    if (group.lossless.is(true)) return &group;
  return nullptr;
}

std::string drops_text(const counters::PortCounters& counters, const evidence::GroupBuffer* group) {
  if (group == nullptr) return "-";
  const counters::Reading drops =
      counters.read("switch.pg.drop_headroom.packets", group->group.value());
  return drops.has_value() ? std::to_string(drops.value()) : "-";
}

Json port_json(const evidence::SwitchPort& port, const counters::PortCounters& counters) {
  Json object = {{"port", port.name}};
  object["neighbour"] = port.neighbour.is_known() ? port.neighbour->system : "";
  object["up"] = port.up.is(true);
  const evidence::GroupBuffer* const group = lossless_group(port);
  object["headroom_bytes"] = group != nullptr ? Json(group->headroom->raw()) : Json(nullptr);
  object["headroom_drops"] = nullptr;
  if (group != nullptr) {
    const auto drops = counters.read("switch.pg.drop_headroom.packets", group->group.value());
    if (drops.has_value()) object["headroom_drops"] = drops.value();
  }
  return object;
}

ExitCode show_switch(const Args& args, Context& context, const lab::Lab& lab,
                     const std::string& name) {
  const auto profile = lab.buffer_profile(name);
  if (!profile) return failed(context, profile.error());
  const auto seen = lab.observe_switches();
  if (!seen) return failed(context, seen.error());
  const evidence::Switch* const sw = seen->find_switch(name);
  std::vector<const counters::PortCounters*> counters;
  for (const counters::PortCounters& port : seen->snapshots.back().switch_ports)
    if (port.device() == name) counters.push_back(&port);
  Json object = json_object(args.command());
  object["switch"] = name;
  object["buffer_profile"] = *profile;
  object["ports"] = Json::array();
  TextTable table({"port", "to", "link", "headroom", "headroom drops"},
                  {Align::kLeft, Align::kLeft, Align::kLeft, Align::kRight, Align::kRight});
  for (std::size_t i = 0; i < sw->ports.size(); ++i) {
    const evidence::SwitchPort& port = sw->ports[i];
    const evidence::GroupBuffer* const group = lossless_group(port);
    object["ports"].push_back(port_json(port, *counters[i]));
    table.add_row({port.name, port.neighbour.is_known() ? port.neighbour->system : "",
                   port.up.is(true) ? "up" : "down",
                   group != nullptr ? approximate(*group->headroom) : "-",
                   drops_text(*counters[i], group)});
  }
  if (context.json) {
    print_json(context, object);
  } else if (!context.quiet) {
    context.out << fmt::format("{}: buffer profile {} (simulated)\n", name, *profile)
                << table.to_text(2);
  }
  return ExitCode::kOk;
}

Status set_switch(lab::Lab& lab, const std::string& name, const std::string& key,
                  const std::string& value) {
  if (key == "buffer-profile") return lab.set_buffer_profile(name, value);
  if (value != "designed" && value != "factory")
    return invalid_error(fmt::format("config: expected designed or factory, found '{}'", value));
  return lab.set_factory(name, value == "factory");
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
  ExitCode code = ExitCode::kOk;
  auto lab = open_lab(args, context, code);
  if (!lab) return code;
  if (loads) return load_switches(args, words, context, *lab);
  if (words[0] == "set")
    if (const Status set = set_switch(*lab, name, words[1], words[2]); !set)
      return failed(context, set.error());
  return show_switch(args, context, *lab, name);
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
      .rows = {"G8"},
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
      .rows = {"G8"},
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
      .rows = {"G8"},
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
      .rows = {"G9"},
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
      .rows = {"C7", "F1", "F3", "G8"},
      .run = run_switch,
  };
}

}  // namespace weir::cli

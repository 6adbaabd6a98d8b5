// weir demo: the whole loop on a lab, each step a command that anyone can type.
#include <algorithm>
#include <array>
#include <filesystem>
#include <sstream>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "base/file.h"
#include "base/text.h"
#include "base/untrusted/quote.h"
#include "cli/frame/command_table.h"
#include "cli/frame/commands.h"
#include "cli/frame/run.h"
#include "cli/json/developer_json.h"

namespace weir::cli {
namespace {

/// Says that a folder is a demonstration's, so that the next one may replace it.
constexpr std::string_view kMarker = ".weir-demo";

struct Step {
  std::string_view what;  // to look at
  std::string_view command;
  ExitCode expected = ExitCode::kOk;
};

constexpr auto kSteps = std::to_array<Step>({
    {"One file holds the intent of the whole fabric: 16 hosts, 2 leaves, 1 spine.",
     "weir init --template pod16"},
    {"Find the mistakes of a design before anything is configured. None here.", "weir lint"},
    {"A lab: the fabric simulated packet by packet, its NICs with factory settings.",
     "weir lab up --dir lab"},
    {"A NIC before it is configured.", "weir show --lab lab --host gpu01"},
    {"Does it match the design? Not yet: nothing is configured.", "weir validate --lab lab --quiet",
     ExitCode::kFindings},
    {"Change only what differs, in a safe order, each change read back.", "weir apply --lab lab"},
    {"Does it match now?", "weir validate --lab lab"},
    {"Configured is not proven: read counters, run a load, read them again, judge.",
     "weir verify --lab lab -- all-to-all size=500KB"},
    {"Now a fault that no configuration shows: gpu05 receives at a tenth of its line rate.",
     "weir lab fault add slow-receiver,at=gpu05,rate=10G"},
    {"The load takes ten times as long, and no host reports an error. Which one is the cause?",
     "weir verify --lab lab -- all-to-all size=500KB", ExitCode::kFindings},
    {"One page to hand on.", "weir report --lab lab -o report.html"},
    {"Repair it.", "weir lab fault clear"},
    {"Verify that it is healthy again.", "weir verify --quiet --lab lab -- all-to-all size=500KB"},
    {"Before training: every stage from settings to a failing link. Go or no-go?",
     "weir preflight --quick --lab lab"},
    {"Another host breaks.", "weir lab fault add slow-receiver,at=gpu11,rate=10G"},
    {"The same preflight stops at the first stage that shows it, and names the host.",
     "weir preflight --quick --lab lab", ExitCode::kFindings},
    {"Repair it.", "weir lab fault clear"},
});

std::vector<std::string> words_of(std::string_view command) {
  std::istringstream text{std::string(command)};
  std::vector<std::string> words;
  for (std::string word; text >> word;)
    words.push_back(word);
  words.erase(words.begin());  // "weir"
  return words;
}

/// What the steps leave in the folder; anything else there is the user's.
constexpr std::string_view kLeft[] = {kMarker, "fabric.yaml", "lab", "report.html"};

/// Empties the folder of a demonstration of before. One that holds a file of the user's stays.
Status clear(const std::filesystem::path& folder) {
  namespace fs = std::filesystem;
  std::error_code error;
  for (const fs::directory_entry& entry : fs::directory_iterator(folder, error)) {
    const std::string name = entry.path().filename().string();
    if (std::find(std::begin(kLeft), std::end(kLeft), name) == std::end(kLeft))
      return invalid_error(
          fmt::format("{} was not written by weir demo; move it, or name another folder with --dir",
                      entry.path().string()));
  }
  for (const std::string_view name : kLeft)
    fs::remove_all(folder / name, error);
  return {};
}

/// An empty folder, or a demonstration's of before, emptied.
Status prepare(const std::filesystem::path& folder) {
  namespace fs = std::filesystem;
  std::error_code error;
  if (fs::exists(folder / kMarker, error)) WEIR_TRY_STATUS(clear(folder));
  if (fs::exists(folder, error) && !(fs::is_directory(folder) && fs::is_empty(folder, error)))
    return invalid_error(
        fmt::format("{} exists and was not made by weir demo; name another folder with --dir",
                    folder.string()));
  WEIR_TRY_STATUS(make_directory(folder.string()));
  return write_file_atomic((folder / kMarker).string(),
                           "weir demo may replace what it wrote here\n");
}

/// The process's working directory for a while: the steps name files as a person in the folder
/// would.
class InFolder {
 public:
  explicit InFolder(const std::filesystem::path& folder)
      : before_(std::filesystem::current_path()) {
    std::filesystem::current_path(folder);
  }
  InFolder(const InFolder&) = delete;
  InFolder& operator=(const InFolder&) = delete;
  ~InFolder() {
    std::error_code ignored;
    std::filesystem::current_path(before_, ignored);
  }

 private:
  std::filesystem::path before_;
};

/// Shows the step where `shown`; its output then goes where the demonstration's goes.
ExitCode play(const Step& step, bool shown, Context& context) {
  std::ostringstream nowhere;
  Context inner{.out = shown ? context.out : nowhere,
                .err = shown ? context.err : nowhere,
                .environment = context.environment,
                .stdout_is_terminal = context.stdout_is_terminal,
                .stderr_is_terminal = context.stderr_is_terminal};
  const ExitCode code = run(command_table(), words_of(step.command), inner);
  context.out.flush();
  return code;
}

void print_end(Context& context, const std::string& folder) {
  const std::string verdict =
      paint(context, Tone::kGood,
            "The loop is closed: designed, configured, proven, broken, diagnosed, repaired.");
  if (context.quiet) {
    context.out << verdict << '\n';
    return;
  }
  context.out << fmt::format(
      "\n{}\n\nEverything is in {}: open {}/report.html, or go on with the lab there.\n\nnext:\n"
      "  {:<32}  watch that lab live, and break it\n"
      "  weir show                         on a host with RDMA NICs\n"
      "  weir init --list                  a design for a fabric like yours\n"
      "  weir sim --list-faults            what else can go wrong\n",
      verdict, folder, folder, fmt::format("weir serve --lab {}", shell_word(folder + "/lab")));
}

ExitCode run_demo(const Args& args, Context& context) {
  const std::string& folder = args.value("dir");
  if (const Status ready = prepare(folder); !ready)
    return fail(context, ExitCode::kBadInput, ready.error().what);
  const bool shown = !context.json && !context.quiet;
  std::vector<DemoStep> steps;
  bool all_good = true;
  {
    const InFolder here(folder);
    std::size_t number = 0;
    for (const Step& step : kSteps) {
      ++number;
      if (shown)
        context.out << paint(context, Tone::kStrong,
                             fmt::format("\n== {} of {}. {}", number, kSteps.size(), step.what))
                    << fmt::format("\n$ {}\n\n", step.command) << std::flush;
      const ExitCode code = play(step, shown, context);
      steps.push_back({step.command, step.what, code, step.expected});
      all_good = code == step.expected;
      if (!all_good) {
        fail(context, ExitCode::kInternalError,
             fmt::format("the demo stopped: {} ended with status {}, expected {}", step.command,
                         static_cast<int>(code), static_cast<int>(step.expected)));
        break;
      }
      if (shown && step.expected == ExitCode::kFindings)
        context.out << paint(context, Tone::kFaint, "(exit status 1, as expected)") << '\n';
    }
  }
  if (!all_good) return ExitCode::kInternalError;
  if (context.json)
    print_demo_json(context, args.command(), folder, steps, "every step ended as expected");
  else
    print_end(context, folder);
  return ExitCode::kOk;
}

}  // namespace

Command demo_command() {
  return {
      .name = "demo",
      .group = Group::kOperators,
      .summary = "the whole loop on a simulated fabric, step by step",
      .description =
          "Writes a design, makes a lab of it (a simulated fabric of 16 hosts), validates it (not "
          "configured yet), applies the configuration, verifies it under load, adds a fault, "
          "diagnoses it, writes a report, repairs it, and ends with two preflights: go, and no-go "
          "for a "
          "broken host. Each step is a command that you can type "
          "yourself; nothing outside the folder is changed. All numbers are simulated.",
      .options = {{.name = "dir",
                   .metavar = "DIR",
                   .help = "folder to work in; what an earlier demo wrote there is replaced",
                   .default_value = "weir-demo",
                   .completes = Completes::kFiles}},
      .examples = {{"weir demo", "takes a few seconds"}},
      .exit_codes = {ExitCode::kOk, ExitCode::kBadInput},
      .run = run_demo,
  };
}

}  // namespace weir::cli

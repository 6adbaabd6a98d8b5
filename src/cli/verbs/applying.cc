#include "cli/verbs/applying.h"

#include <algorithm>
#include <array>
#include <csignal>
#include <ctime>

#include <fmt/format.h>
#include <unistd.h>

namespace weir::cli {
namespace {

volatile std::sig_atomic_t interrupted = 0;

extern "C" void note_interruption(int /*signal*/) {
  interrupted = 1;
}

constexpr std::array kSignals = {SIGINT, SIGTERM, SIGHUP, SIGPIPE};
std::array<struct sigaction, kSignals.size()> earlier{};

}  // namespace

Option state_option() {
  return {.name = "state",
          .metavar = "DIR",
          .help = "where applies are written down [/var/lib/weir]",
          .completes = Completes::kFiles};
}

std::vector<Option> with_change_options(std::vector<Option> own) {
  std::vector<Option> options = std::move(own);
  options.push_back(state_option());
  options.push_back({.name = "yes", .letter = 'y', .help = "go on without asking"});
  return options;
}

host::StateDirectory state_of(const Args& args, const HostSet& set) {
  using host::StateDirectory;
  std::string path(host::kDefaultStateDirectory);
  if (set.lab) path = set.lab->directory() + "/journal";
  if (const auto given = args.get("state")) path = *given;
  return StateDirectory(
      path, set.lab ? StateDirectory::Durability::kUnsynced : StateDirectory::Durability::kSynced);
}

std::string state_words(const Args& args, const HostSet& set) {
  std::string words = set.flag();
  if (const auto given = args.get("state")) words += " --state " + *given;
  return words;
}

Interruption::Interruption() {
  interrupted = 0;
  for (std::size_t i = 0; i < kSignals.size(); ++i) {
    struct sigaction action {};
    action.sa_handler = kSignals.at(i) == SIGPIPE ? SIG_IGN : note_interruption;
    ::sigaction(kSignals.at(i), &action, &earlier.at(i));
  }
}

Interruption::~Interruption() {
  for (std::size_t i = 0; i < kSignals.size(); ++i)
    ::sigaction(kSignals.at(i), &earlier.at(i), nullptr);
}

bool Interruption::has_come() {
  return interrupted != 0;
}

host::ApplyEnvironment apply_environment(const HostSet& set) {
  host::ApplyEnvironment environment;
  environment.is_interrupted = Interruption::has_come;
  if (!set.lab) {
    environment.wait = [](Duration duration) {
      constexpr std::int64_t kPicoseconds = 1'000'000'000'000;
      timespec time{};
      time.tv_sec = duration.raw() / kPicoseconds;
      time.tv_nsec = (duration.raw() % kPicoseconds) / 1000;
      ::nanosleep(&time, nullptr);
    };
  }
  return environment;
}

host::HostFinder finder_of(const HostSet& set) {
  return [&set](const std::string& name) -> host::HostIo* {
    if (!set.lab && set.hosts.size() == 1) return set.hosts.front().get();
    const auto found = std::find_if(set.hosts.begin(), set.hosts.end(),
                                    [&](const auto& host) { return host->name() == name; });
    return found == set.hosts.end() ? nullptr : found->get();
  };
}

bool may_go_on(const Args& args, Context& context, const std::string& question, ExitCode& code) {
  if (args.has("yes")) return true;
  if (!context.ask) {
    code =
        fail(context, ExitCode::kUsage, question + " Nobody can be asked here: add --yes to go on");
    return false;
  }
  if (context.ask(question + " Go on?")) return true;
  context.err << "weir: nothing was changed\n";
  code = ExitCode::kOk;
  return false;
}

void note_open_journal(const Args& args, Context& context, const HostSet& set) {
  const auto open = state_of(args, set).open_journal();
  if (!open || !*open) return;
  context.err << fmt::format("weir: the apply of {} at {} is {}: weir rollback{} puts it back\n",
                             (*open)->journal.head.design, (*open)->journal.head.time,
                             host::to_text((*open)->journal.phase), state_words(args, set));
}

ExitCode fail_state(Context& context, const Error& error) {
  const bool is_damaged = error.code == ErrorCode::kParse;
  const std::string_view help =
      error.code == ErrorCode::kPermission
          ? "; run it as root (sudo), or name a directory with --state; weir plan shows the "
            "commands without changing anything"
          : "";
  return fail(context, is_damaged ? ExitCode::kBadInput : ExitCode::kCouldNotLook,
              fmt::format("{}{}", error.what, help));
}

std::string time_now() {
  const std::time_t now = std::time(nullptr);
  std::tm utc{};
  if (::gmtime_r(&now, &utc) == nullptr) return "";
  return fmt::format("{:04}-{:02}-{:02}T{:02}:{:02}:{:02}Z", utc.tm_year + 1900, utc.tm_mon + 1,
                     utc.tm_mday, utc.tm_hour, utc.tm_min, utc.tm_sec);
}

}  // namespace weir::cli

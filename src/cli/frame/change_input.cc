#include "cli/frame/change_input.h"

#include "base/untrusted/quote.h"

namespace weir::cli {

Option state_option() {
  return {.name = "state",
          .metavar = "DIR",
          .help = "where applies are recorded (default: /var/lib/weir)",
          .completes = Completes::kFiles};
}

Option despite_lint_option() {
  return {.name = "despite-lint", .help = "go on with a design that weir lint calls broken"};
}

std::vector<Option> with_change_options(std::vector<Option> own) {
  std::vector<Option> options = std::move(own);
  options.push_back(state_option());
  options.push_back({.name = "yes", .letter = 'y', .help = "do not ask for confirmation"});
  return options;
}

host::LockWait wait_for_lock(const Context& context) {
  constexpr Duration kPatience = 30_s;
  return {.patience = kPatience, .say = [&context](const std::string& text) {
            context.err << "weir: " << text << '\n' << std::flush;
          }};
}

std::string state_words(const Args& args) {
  std::string words;
  const auto& options = args.command().options;
  for (const Option& option : options)
    if ((option.name == "lab" || option.name == "state") && args.has(option.name))
      words += " --" + std::string(option.name) + " " + shell_word(args.value(option.name));
  return words;
}

Consent ask_consent(const Args& args, Context& context, const std::string& question) {
  if (args.has("yes")) return Consent::kGiven;
  if (!context.ask) {
    fail(context, ExitCode::kUsage, question + " No terminal to ask on: add --yes to go on");
    return Consent::kNobodyToAsk;
  }
  if (context.ask(question + " Go on?")) return Consent::kGiven;
  context.err << "weir: nothing was changed\n";
  return Consent::kRefused;
}

ExitCode exit_for(Consent consent) {
  return consent == Consent::kNobodyToAsk ? ExitCode::kUsage : ExitCode::kOk;
}

}  // namespace weir::cli

// Promises that hold for every verb, present and future, because they are made from one table.
#include "cli/frame/command_table.h"

#include <algorithm>
#include <set>

#include <fmt/format.h>

#include "base/testing.h"
#include "base/text.h"
#include "cli/docs/documents.h"
#include "cli/frame/help.h"
#include "cli/frame/parse.h"

namespace weir::cli {
namespace {

constexpr std::size_t kScreenColumns = 80;
constexpr std::size_t kScreenLines = 40;

void expect_fits_a_screen(const std::string& text) {
  const std::vector<std::string_view> lines = split(text, '\n');
  EXPECT_LE(lines.size(), kScreenLines);
  for (const std::string_view line : lines)
    EXPECT_LE(display_width(line), kScreenColumns) << line;
}

TEST(CommandTable, EveryVerbHasWhatHelpNeeds) {
  std::set<std::string_view> names;
  for (const Command& command : command_table()) {
    SCOPED_TRACE(std::string(command.name));
    EXPECT_TRUE(names.insert(command.name).second) << "twice in the table";
    EXPECT_NE(command.run, nullptr);
    EXPECT_FALSE(command.summary.empty());
    EXPECT_FALSE(command.summary.ends_with('.'));
    EXPECT_TRUE(command.description.ends_with('.'));
    EXPECT_FALSE(command.examples.empty());
    EXPECT_FALSE(command.exit_codes.empty());
    // A simulation judges nothing; lossless packets that it dropped are a finding all the same. So
    // are a design that must not be tuned, and a change that must be removed.
    const bool finds = command.judges || command.name == "sim" || command.name == "tune" ||
                       command.name == "tune judge";
    EXPECT_EQ(finds, std::count(command.exit_codes.begin(), command.exit_codes.end(),
                                ExitCode::kFindings) == 1);
  }
}

TEST(CommandTable, NoNameIsUsedTwiceWithinAVerb) {
  for (const Command& command : command_table()) {
    SCOPED_TRACE(std::string(command.name));
    std::set<std::string_view> names;
    std::set<char> letters;
    for (const Argument& argument : command.arguments)
      EXPECT_TRUE(names.insert(argument.name).second) << argument.name;
    for (const Option& option : all_options(command)) {
      EXPECT_TRUE(names.insert(option.name).second) << option.name;
      EXPECT_TRUE(option.letter == '\0' || letters.insert(option.letter).second) << option.name;
      EXPECT_TRUE(option.default_value.empty() || option.choices.empty() ||
                  std::count(option.choices.begin(), option.choices.end(), option.default_value) ==
                      1)
          << option.name << " has a default that is no choice";
    }
  }
}

TEST(CommandTable, NoVerbHasAnOptionThatItRefuses) {
  std::set<std::string> refused;
  for (const Command& command : command_table()) {
    const std::string help = help_for(command_table(), command.name);
    for (const Refused& each : command.refuses) {
      refused.insert(fmt::format("{} --{}", command.name, each.name));
      EXPECT_EQ(help.find(fmt::format("--{} ", each.name)), std::string::npos) << command.name;
      for (const Option& option : all_options(command))
        EXPECT_NE(option.name, each.name) << command.name;
    }
  }
  EXPECT_EQ(refused,
            (std::set<std::string>{"apply --root", "confirm --host", "confirm --root",
                                   "rollback --host", "rollback --root", "verify --root"}));
}

TEST(CommandTable, EveryHelpFitsAScreen) {
  expect_fits_a_screen(help_for(command_table(), ""));
  for (const Command& command : command_table()) {
    SCOPED_TRACE(std::string(command.name));
    expect_fits_a_screen(help_for(command_table(), command.name));
    expect_fits_a_screen(help_for(command_table(), split(command.name, ' ').front()));
  }
}

TEST(CommandTable, EveryExampleIsAcceptedByTheParser) {
  for (const Command& command : command_table()) {
    for (const Example& example : command.examples) {
      SCOPED_TRACE(std::string(example.command));
      const auto at = example.command.find("weir ");
      ASSERT_NE(at, std::string_view::npos);
      std::vector<std::string> words;
      for (const std::string_view word : split(example.command.substr(at + 5), ' ')) {
        if (word == ">" || word == "|") break;
        words.emplace_back(word);
      }
      const Parsed parsed = parse(command_table(), words);
      const auto* error = std::get_if<UsageError>(&parsed);
      EXPECT_EQ(error == nullptr ? "" : error->message, "");
    }
  }
}

TEST(CommandTable, EveryVerbStandsInEveryDocument) {
  const std::string man = man_page(command_table());
  const std::string bash = bash_completion(command_table());
  const std::string zsh = zsh_completion(command_table());
  const std::string page = commands_page(command_table());
  for (const Command& command : command_table()) {
    SCOPED_TRACE(std::string(command.name));
    EXPECT_NE(man.find(fmt::format(".SS weir {}", command.name)), std::string::npos);
    EXPECT_NE(bash.find(fmt::format("    '{}')", command.name)), std::string::npos);
    EXPECT_NE(zsh.find(fmt::format("    '{}')", command.name)), std::string::npos);
    EXPECT_NE(page.find(fmt::format("## weir {}\n", command.name)), std::string::npos);
  }
}

TEST(CommandTable, TheManPageHasNoAccidentalRequests) {
  const std::set<std::string_view> requests = {".TH", ".SH", ".SS", ".TP", ".PP", ".B", ".I"};
  const std::string man = man_page(command_table());
  for (const std::string_view line : split(man, '\n')) {
    const bool is_request = line.starts_with('.') || line.starts_with('\'');
    EXPECT_TRUE(!is_request || requests.contains(line.substr(0, line.find(' ')))) << line;
  }
}

TEST(CommandTable, HelpShowsOperatorsFirst) {
  const std::string help = overview_help(command_table());
  EXPECT_LT(help.find("For operators"), help.find("For developers"));
  EXPECT_LT(help.find("For developers"), help.find("exit status"));
}

TEST(CommandTable, NoMissionRowIsInAnyHelp) {
  const auto is_row = [](std::string_view word) {
    return word.size() >= 2 && word.size() <= 3 && word[0] >= 'A' && word[0] <= 'K' &&
           word.find_first_not_of("0123456789", 1) == std::string_view::npos;
  };
  for (const Command& command : command_table()) {
    const std::string help = help_for(command_table(), command.name);
    std::size_t at = 0;
    while (at < help.size()) {
      const std::size_t end = std::min(help.find_first_of(" \n,.;:()", at), help.size());
      EXPECT_FALSE(is_row(std::string_view(help).substr(at, end - at)))
          << command.name << ": " << help.substr(at, end - at);
      at = end + 1;
    }
  }
}

TEST(Confinement, AVerbThatLooksAtFilesNamesWhereItWrites) {
  using Places = std::optional<std::vector<std::string>>;
  const auto places = [](const std::vector<std::string>& words) {
    const Parsed parsed = parse(command_table(), words);
    return confinement(std::get<Invocation>(parsed).args);
  };
  const Places nowhere = std::vector<std::string>();
  EXPECT_EQ(places({"lint", "f"}), nowhere);
  EXPECT_EQ(places({"calc", "buffers", "f"}), nowhere);
  EXPECT_EQ(places({"render", "f", "--to", "nccl"}), nowhere);
  EXPECT_EQ(places({"render", "f", "--to", "nccl", "--out", "a/b"}), Places({"a/b"}));
  EXPECT_EQ(places({"sim", "f", "--trace", "a/t.csv", "--pcap", "/b/p"}), Places({"a", "/b"}));
  EXPECT_EQ(places({"sim", "--hpcc", "a/config.txt"}), Places({"."}));
  EXPECT_EQ(places({"report", "f"}), Places({"."}));
  EXPECT_EQ(places({"report", "--root", "b", "-o", "-"}), nowhere);
  EXPECT_EQ(places({"report", "--lab", "lab", "-o", "x/r.html"}), Places({"lab", "x"}));
  EXPECT_EQ(places({"lab", "down", "--dir", "x/lab/"}), Places({"x"}));
  EXPECT_EQ(places({"diff", "a", "b"}), nowhere);
  EXPECT_EQ(places({"snapshot", "--root", "b"}), nowhere);
  // These look at this host, or change it.
  for (const std::vector<std::string>& words : {std::vector<std::string>{"diff", "a"},
                                                {"snapshot"},
                                                {"bundle"},
                                                {"show"},
                                                {"report"},
                                                {"init", "--from-host"},
                                                {"apply", "f", "--lab", "b"},
                                                {"rollback"},
                                                {"verify", "--", "x"},
                                                {"pcap", "--live", "eth0"}})
    EXPECT_EQ(places(words), std::nullopt) << words.front();
}

}  // namespace
}  // namespace weir::cli

#include "cli/frame/parse.h"

#include "base/testing.h"

namespace weir::cli {
namespace {

ExitCode run_nothing(const Args& /*args*/, Context& /*context*/) {
  return ExitCode::kOk;
}

const std::vector<Command>& sample_table() {
  static const std::vector<Command> table = {
      {.name = "weigh",
       .summary = "weighs",
       .description = "Weighs.",
       .arguments = {{.name = "THING", .help = "what to weigh", .required = true}},
       .options = {{.name = "unit",
                    .letter = 'u',
                    .metavar = "UNIT",
                    .help = "unit",
                    .default_value = "gram",
                    .choices = {"gram", "ounce"}},
                   {.name = "set", .metavar = "K=V", .help = "a setting", .repeated = true},
                   {.name = "twice", .help = "two times"}},
       .judges = true,
       .run = run_nothing},
      {.name = "pack box",
       .summary = "packs a box",
       .description = "Packs.",
       .arguments = {{.name = "FILE", .help = "files", .repeated = true}},
       .run = run_nothing},
      {.name = "pack bag", .summary = "packs a bag", .description = "Packs.", .run = run_nothing},
      {.name = "time",
       .summary = "measures the time of a command",
       .description = "Times.",
       .arguments = {{.name = "CLOCK", .help = "which clock"},
                     {.name = "COMMAND",
                      .help = "what to run",
                      .required = true,
                      .repeated = true,
                      .after_dashes = true}},
       .run = run_nothing},
      {.name = "time zone",
       .summary = "names the zone",
       .description = "Names.",
       .arguments = {{.name = "PLACE", .help = "where"}},
       .run = run_nothing},
  };
  return table;
}

Parsed parse_words(const std::vector<std::string>& words) {
  return parse(sample_table(), words);
}

Args args_of(const std::vector<std::string>& words) {
  Parsed parsed = parse_words(words);
  if (const auto* error = std::get_if<UsageError>(&parsed)) ADD_FAILURE() << error->message;
  return std::get<Invocation>(std::move(parsed)).args;
}

std::string error_of(const std::vector<std::string>& words) {
  const Parsed parsed = parse_words(words);
  const auto* error = std::get_if<UsageError>(&parsed);
  return error == nullptr ? "no error" : error->message;
}

TEST(Parse, WhatFollowsTwoDashesIsACommandOfItsOwn) {
  const Args args = args_of({"time", "--quiet", "--", "ib_write_bw", "-d", "mlx5_0", "--json"});
  EXPECT_EQ(args.all("COMMAND"),
            (std::vector<std::string>{"ib_write_bw", "-d", "mlx5_0", "--json"}));
  EXPECT_FALSE(args.has("CLOCK"));
  EXPECT_FALSE(args.has("json"));
  EXPECT_EQ(args_of({"time", "sundial", "--", "true"}).value("CLOCK"), "sundial");
  EXPECT_EQ(error_of({"time", "sundial"}), "COMMAND is missing: what to run");
  EXPECT_EQ(error_of({"time", "sundial", "--"}), "COMMAND is missing: what to run");
}

TEST(Parse, TheDirectoryOfAWayToHostsIsTheOptionOfThatName) {
  const std::vector<Command> table = {
      {.name = "show",
       .summary = "shows",
       .description = "Shows.",
       .arguments = {{.name = "DESIGN", .help = "a design"}},
       .options = {{.name = "lab", .metavar = "DIR", .help = "lab"},
                   {.name = "root", .metavar = "DIR", .help = "bundles", .repeated = true}},
       .takes_fleet = true,
       .run = run_nothing}};
  const auto shown = [&](const std::vector<std::string>& words) {
    return std::get<Invocation>(parse(table, words)).args;
  };
  const Args bundles = shown({"show", "fabric.yaml", "--via", "bundles", "dir"});
  EXPECT_EQ(bundles.value("root"), "dir");
  EXPECT_EQ(bundles.value("DESIGN"), "fabric.yaml");
  EXPECT_EQ(shown({"show", "--via=lab", "dir", "fabric.yaml"}).value("lab"), "dir");
  const Args both = shown({"show", "--via", "bundles", "fabric.yaml", "--root=dir"});
  EXPECT_EQ(both.value("root"), "dir");
  EXPECT_EQ(both.value("DESIGN"), "fabric.yaml");
  EXPECT_FALSE(shown({"show", "--via", "bundles", "--json"}).has("root"));
  EXPECT_FALSE(shown({"show", "--via", "ssh", "fabric.yaml"}).has("root"));
}

TEST(Parse, AnOptionThatAVerbRefusesIsAnsweredWithTheReason) {
  const std::vector<Command> table = {
      {.name = "keep",
       .summary = "keeps",
       .description = "Keeps.",
       .refuses = {{.name = "host", .why = "it is kept as a whole: leave it out"}},
       .takes_fleet = true,
       .run = run_nothing}};
  const auto message = [&](const std::vector<std::string>& words) {
    return std::get<UsageError>(parse(table, words)).message;
  };
  EXPECT_EQ(message({"keep", "--host", "gpu01"}), "--host: it is kept as a whole: leave it out");
  EXPECT_EQ(message({"keep", "--host=gpu01"}), "--host: it is kept as a whole: leave it out");
  EXPECT_NE(message({"keep", "--hots", "gpu01"}).find("unknown option"), std::string::npos);
}

TEST(Parse, OfAVerbAndALongerOneTheLongerIsMeant) {
  EXPECT_EQ(args_of({"time", "zone", "here"}).command().name, "time zone");
  EXPECT_EQ(args_of({"time", "zone"}).command().name, "time zone");
  EXPECT_EQ(args_of({"time", "sundial", "--", "zone"}).command().name, "time");
  EXPECT_EQ(args_of({"time", "./zone", "--", "true"}).value("CLOCK"), "./zone");
  EXPECT_EQ(std::get<HelpRequest>(parse_words({"time", "--help"})).verb, "time");
  EXPECT_EQ(std::get<HelpRequest>(parse_words({"time", "zone", "--help"})).verb, "time zone");
}

TEST(Parse, GivesTheVerbWhatTheUserTyped) {
  const Args args = args_of({"weigh", "stone", "--unit=ounce", "--set", "a=1", "--set", "b=2"});
  EXPECT_EQ(args.value("THING"), "stone");
  EXPECT_EQ(args.value("unit"), "ounce");
  EXPECT_EQ(args.all("set"), (std::vector<std::string>{"a=1", "b=2"}));
  EXPECT_FALSE(args.has("twice"));
  EXPECT_FALSE(args.has("json"));
}

TEST(Parse, FillsTheDefaultsOfTheTable) {
  const Args args = args_of({"weigh", "stone"});
  EXPECT_EQ(args.value("unit"), "gram");
  EXPECT_EQ(args.value("fail-on"), "error");
  EXPECT_EQ(args.get("set"), std::nullopt);
}

TEST(Parse, TakesShortOptionsAndOptionsBeforeTheVerb) {
  const Args args = args_of({"--json", "--color", "never", "weigh", "-q", "-u", "ounce", "stone"});
  EXPECT_TRUE(args.has("json"));
  EXPECT_TRUE(args.has("quiet"));
  EXPECT_EQ(args.value("color"), "never");
  EXPECT_EQ(args.value("unit"), "ounce");
  EXPECT_EQ(args.value("THING"), "stone");
}

TEST(Parse, TakesVerbsOfTwoWordsAndManyArguments) {
  const Args args = args_of({"pack", "box", "a", "-", "--", "-b"});
  EXPECT_EQ(args.command().name, "pack box");
  EXPECT_EQ(args.all("FILE"), (std::vector<std::string>{"a", "-", "-b"}));
}

TEST(Parse, AWordThatIsAlsoAVerbMayBeAnArgument) {
  EXPECT_EQ(args_of({"weigh", "pack"}).value("THING"), "pack");
}

TEST(Parse, SaysWhatIsWrongInOneLine) {
  EXPECT_EQ(error_of({"wiegh"}), "unknown verb 'wiegh'; did you mean 'weigh'?");
  EXPECT_EQ(error_of({"box"}), "unknown verb 'box'; did you mean 'pack box'?");
  EXPECT_EQ(error_of({"pack"}), "pack what? Add box or bag");
  EXPECT_EQ(error_of({"pack", "bog"}), "unknown verb 'pack bog'; did you mean 'box'?");
  EXPECT_EQ(error_of({"pack", "trunk"}), "unknown verb 'pack trunk'; expected box or bag");
  EXPECT_EQ(error_of({"pack", "--json", "box"}), "pack needs box or bag before '--json'");
  EXPECT_EQ(error_of({"weigh"}), "THING is missing: what to weigh");
  EXPECT_EQ(error_of({"weigh", "a", "b"}), "'b' is one argument too many for weir weigh");
  EXPECT_EQ(error_of({"weigh", "a", "--unti", "gram"}),
            "unknown option '--unti'; did you mean '--unit'?");
  EXPECT_EQ(error_of({"weigh", "a", "--unit"}), "--unit needs a value: gram or ounce");
  EXPECT_EQ(error_of({"weigh", "a", "-u"}), "--unit needs a value: gram or ounce");
  EXPECT_EQ(error_of({"weigh", "--unit=", "a"}), "--unit needs a value: gram or ounce");
  EXPECT_EQ(error_of({"weigh", "--unit", "--json", "a"}), "--unit needs a value: gram or ounce");
  EXPECT_EQ(error_of({"weigh", "a", "--unit", "stone"}),
            "--unit: expected gram or ounce, found 'stone'");
  EXPECT_EQ(error_of({"weigh", "a", "--unit", "gram", "-u", "ounce"}),
            "--unit is given 2 times; it takes one value");
  EXPECT_EQ(error_of({"weigh", "a", "--twice=false"}),
            "--twice takes no value; leave it out instead");
  EXPECT_EQ(error_of({"--unit", "weigh"}), "unknown option '--unit'");
}

TEST(Parse, HelpWinsOverEverythingThatIsMissing) {
  EXPECT_EQ(std::get<HelpRequest>(parse_words({"weigh", "--help"})).verb, "weigh");
  EXPECT_EQ(std::get<HelpRequest>(parse_words({"weigh", "--unit", "x", "-h"})).verb, "weigh");
  EXPECT_EQ(std::get<HelpRequest>(parse_words({"pack", "--help"})).verb, "pack");
  EXPECT_EQ(std::get<HelpRequest>(parse_words({})).verb, "");
  EXPECT_EQ(std::get<HelpRequest>(parse_words({"--help", "weigh"})).verb, "");
}

TEST(Parse, VersionNeedsNoVerb) {
  EXPECT_TRUE(std::holds_alternative<VersionRequest>(parse_words({"--version"})));
  EXPECT_TRUE(std::holds_alternative<VersionRequest>(parse_words({"--json", "-V"})));
}

TEST(Parse, HelpTopicsAreVerbsOrFirstWords) {
  const auto topic = [](const std::vector<std::string>& words) {
    const Parsed parsed = parse_help_topic(sample_table(), words);
    const auto* help = std::get_if<HelpRequest>(&parsed);
    return help == nullptr ? "error" : help->verb;
  };
  EXPECT_EQ(topic({}), "");
  EXPECT_EQ(topic({"weigh"}), "weigh");
  EXPECT_EQ(topic({"pack"}), "pack");
  EXPECT_EQ(topic({"pack", "bag"}), "pack bag");
  EXPECT_EQ(topic({"pack", "bog"}), "error");
  EXPECT_EQ(topic({"wiegh"}), "error");
}

TEST(Parse, AFileWithoutANameIsAUsageError) {
  const std::vector<Command> table = {
      {.name = "keep",
       .options = {{.name = "state", .metavar = "DIR", .completes = Completes::kFiles},
                   {.name = "title", .metavar = "T"}},
       .run = run_nothing}};
  for (const std::vector<std::string>& words :
       {std::vector<std::string>{"keep", "--state", ""}, {"keep", "--state="}}) {
    const Parsed parsed = parse(table, words);
    const auto* error = std::get_if<UsageError>(&parsed);
    ASSERT_NE(error, nullptr);
    EXPECT_EQ(error->message, "--state needs a value: DIR");
  }
  EXPECT_TRUE(std::holds_alternative<Invocation>(parse(table, {"keep", "--title", ""})));
}

}  // namespace
}  // namespace weir::cli

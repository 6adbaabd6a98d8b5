#include "cli/frame/run.h"

#include <sstream>
#include <string>

#include "base/json.h"
#include "base/testing.h"
#include "cli/frame/command_table.h"

namespace weir::cli {
namespace {

struct Ran {
  ExitCode code;
  std::string out;
  std::string err;
};

struct Setting {
  bool is_terminal = false;
  std::string term = "xterm";
  std::string no_color = {};
};

Ran run_words(const std::vector<std::string>& words, const Setting& setting = {}) {
  std::ostringstream out;
  std::ostringstream err;
  Context context{.out = out, .err = err, .stdout_is_terminal = setting.is_terminal};
  context.environment = [&](const char* name) -> std::optional<std::string> {
    if (std::string_view(name) == "TERM") return setting.term;
    if (std::string_view(name) == "NO_COLOR" && !setting.no_color.empty()) return setting.no_color;
    return std::nullopt;
  };
  const ExitCode code = run(command_table(), words, context);
  return {code, out.str(), err.str()};
}

bool has_colour(const Ran& ran) {
  return ran.out.find('\x1b') != std::string::npos;
}

TEST(Run, BareWeirIsHelpAndSucceeds) {
  const Ran ran = run_words({});
  EXPECT_EQ(ran.code, ExitCode::kOk);
  EXPECT_NE(ran.out.find("usage: weir VERB"), std::string::npos);
  EXPECT_EQ(ran.err, "");
}

TEST(Run, AUsageErrorIsOneLineAndNamesTheHelp) {
  const Ran ran = run_words({"tso"});
  EXPECT_EQ(ran.code, ExitCode::kUsage);
  EXPECT_EQ(ran.out, "");
  EXPECT_EQ(ran.err, "weir: unknown verb 'tso'; did you mean 'tos'?\nsee weir --help\n");
}

TEST(Run, AUsageErrorIsAlsoAnObjectForAProgram) {
  const Ran ran = run_words({"tos", "300", "--json"});
  EXPECT_EQ(ran.code, ExitCode::kUsage);
  const Json object = Json::parse(ran.out);
  EXPECT_EQ(object["schema"], "weir/error/1");
  EXPECT_EQ(object["exit"], 2);
  EXPECT_NE(object["message"].get<std::string>().find("too large"), std::string::npos);
}

TEST(Run, ColoursOnlyOnATerminalUnlessAsked) {
  EXPECT_FALSE(has_colour(run_words({"tos", "26"})));
  EXPECT_TRUE(has_colour(run_words({"tos", "26"}, {.is_terminal = true})));
  EXPECT_FALSE(has_colour(run_words({"tos", "26"}, {.is_terminal = true, .term = "dumb"})));
  EXPECT_FALSE(has_colour(run_words({"tos", "26"}, {.is_terminal = true, .no_color = "1"})));
  EXPECT_FALSE(has_colour(run_words({"tos", "26", "--no-color"}, {.is_terminal = true})));
  EXPECT_TRUE(has_colour(run_words({"tos", "26", "--color", "always"}, {.no_color = "1"})));
  EXPECT_FALSE(has_colour(run_words({"tos", "26", "--color=always", "--json"})));
}

TEST(Run, TosShowsBothReadingsOfANumber) {
  COVERS("A3");
  const Ran ran = run_words({"tos", "26", "--json"});
  EXPECT_EQ(ran.code, ExitCode::kOk);
  const Json readings = Json::parse(ran.out)["readings"];
  ASSERT_EQ(readings.size(), 3U);
  const auto has = [&](std::size_t i, const char* as, int dscp, const char* ecn, int tos) {
    const Json& reading = readings[i];
    return reading["as"] == as && reading["dscp"] == dscp && reading["ecn"] == ecn &&
           reading["tos"] == tos;
  };
  EXPECT_TRUE(has(0, "dscp", 26, "not-ect", 104));
  EXPECT_TRUE(has(1, "dscp", 26, "ect0", 106));
  EXPECT_TRUE(has(2, "tos", 6, "ect0", 26));
}

TEST(Run, EveryByteReadsBackToItself) {
  COVERS("A3");
  for (int tos = 0; tos < 256; ++tos) {
    const Ran ran = run_words({"tos", std::to_string(tos), "--json", "--as", "tos"});
    const Json reading = Json::parse(ran.out)["readings"][0];
    const Ran back = run_words({"tos", std::to_string(reading["dscp"].get<int>()), "--ecn",
                                reading["ecn"], "--json", "--as", "dscp"});
    EXPECT_EQ(Json::parse(back.out)["readings"][0]["tos"], tos);
  }
}

TEST(Run, AnExceptionOfALibraryIsAnInternalErrorNotACrash) {
  const std::vector<Command> table = {{.name = "break",
                                       .summary = "breaks",
                                       .description = "Breaks.",
                                       .run = [](const Args& args, Context&) {
                                         return static_cast<ExitCode>(
                                             std::stoi(args.value("color")));
                                       }}};
  std::ostringstream out;
  std::ostringstream err;
  Context context{.out = out, .err = err};
  EXPECT_EQ(run(table, {"break"}, context), ExitCode::kInternalError);
  EXPECT_EQ(err.str(),
            "weir: internal error: stoi\n"
            "This is a bug in weir; please report it with the command line.\n");
}

}  // namespace
}  // namespace weir::cli

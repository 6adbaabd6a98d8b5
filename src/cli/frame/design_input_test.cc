#include "cli/frame/design_input.h"

#include <filesystem>
#include <sstream>

#include "base/file.h"
#include "base/json.h"
#include "base/testing.h"
#include "cli/frame/commands.h"
#include "design/file/templates.h"

namespace weir::cli {
namespace {

constexpr std::string_view kBroken =
    "weir: 1\nname: x\nhosts:\n  gpu: { names: g1, nick: thor2 }\n";

// A directory of its own for each test, removed at the end.
class DesignInputTest : public testing::Test {
 protected:
  void SetUp() override {
    const testing::TestInfo* info = testing::UnitTest::GetInstance()->current_test_info();
    folder_ = std::filesystem::path(testing::TempDir()) / (std::string("weir_") + info->name());
    std::filesystem::remove_all(folder_);
    std::filesystem::create_directories(folder_);
  }
  void TearDown() override { std::filesystem::remove_all(folder_); }

  std::string write(const std::string& name, std::string_view text) {
    std::string path = folder_ / name;
    EXPECT_TRUE(write_file_atomic(path, text));
    return path;
  }

  std::optional<ops::Fabric> load(const std::string& argument, const std::string& variable) {
    Args args(command_);
    if (!argument.empty()) args.add("DESIGN", argument);
    Context context{.out = out_, .err = err_, .json = true};
    context.environment = [&](const char* name) -> std::optional<std::string> {
      if (std::string_view(name) == kDesignVariable && !variable.empty()) return variable;
      return std::nullopt;
    };
    auto fabric = load_design(args, context);
    if (fabric) return std::move(*fabric);
    code_ = fail(context, command_, fabric.error());
    return std::nullopt;
  }

  Command command_ = lint_command();
  std::filesystem::path folder_;
  std::ostringstream out_;
  std::ostringstream err_;
  ExitCode code_ = ExitCode::kOk;
};

TEST_F(DesignInputTest, TheArgumentWinsOverTheEnvironment) {
  const std::string pair = write("pair.yaml", design::find_template("pair")->text);
  const std::string pod = write("pod.yaml", design::find_template("pod16")->text);
  const auto named = load(pair, pod);
  ASSERT_TRUE(named.has_value()) << err_.str();
  EXPECT_EQ(named->intent.hosts.size(), 2U);
  const auto fallback = load("", pod);
  ASSERT_TRUE(fallback.has_value()) << err_.str();
  EXPECT_EQ(fallback->intent.hosts.size(), 16U);
  EXPECT_EQ(size_of(fallback->intent), "16 hosts, 3 switches, 32 links");
}

TEST_F(DesignInputTest, NoDesignAnywhereIsAUsageErrorThatSaysWhatToDo) {
  ASSERT_FALSE(file_exists(std::string(kDesignFile))) << "run the test in another directory";
  EXPECT_FALSE(load("", "").has_value());
  EXPECT_EQ(code_, ExitCode::kUsage);
  EXPECT_NE(err_.str().find("weir init"), std::string::npos);
}

TEST_F(DesignInputTest, AMissingFileIsBadInput) {
  EXPECT_FALSE(load(folder_ / "none.yaml", "").has_value());
  EXPECT_EQ(code_, ExitCode::kBadInput);
  EXPECT_NE(err_.str().find("No such file"), std::string::npos);
}

TEST_F(DesignInputTest, EveryErrorHasItsPlaceForPeopleAndPrograms) {
  COVERS("A1");
  const std::string path = write("bad.yaml", kBroken);
  EXPECT_FALSE(load(path, "").has_value());
  EXPECT_EQ(code_, ExitCode::kBadInput);
  EXPECT_NE(err_.str().find(path + ":4:"), std::string::npos) << err_.str();
  const Json object = Json::parse(out_.str());
  EXPECT_EQ(object["schema"], "weir/error/1");
  ASSERT_FALSE(object["errors"].empty());
  EXPECT_EQ(object["errors"][0]["line"], 4);
}

}  // namespace
}  // namespace weir::cli

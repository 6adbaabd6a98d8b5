#include "base/untrusted/quote.h"

#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>

#include <unistd.h>

#include "base/file.h"
#include "base/testing.h"

namespace weir {
namespace {

/// What people and worse put into names.
std::vector<std::string> hostile() {
  return {"plain",
          "two words",
          "",
          "e'; id > F; '{rail}",
          "$(id)",
          "`id`",
          "a\"b",
          "a\\b",
          "a\nid > F",
          "-n",
          "*",
          "~root",
          "!!",
          "a;id",
          "a|id",
          "a&id",
          "%i",
          "$HOME",
          "${IFS}id",
          "{{ 7*7 }}",
          "{% raw %}",
          "# comment",
          "key: value",
          "- item",
          "yes",
          "007",
          "0x10",
          "[a",
          "\t",
          "=eth0",
          "\x01\x1b[31m",
          "é",
          "^docker,lo"};
}

/// Runs a script with the real shell; what it prints.
std::string run_sh(const std::string& script) {
  const std::string file = testing::TempDir() + "/quote." + std::to_string(getpid()) + ".sh";
  std::ofstream(file) << script;
  std::string out;
  FILE* const pipe = popen(("sh " + file + " 2>&1").c_str(), "r");
  std::array<char, 4096> buffer{};
  for (std::size_t got = 0; (got = fread(buffer.data(), 1, buffer.size(), pipe)) > 0;)
    out.append(buffer.data(), got);
  pclose(pipe);
  std::filesystem::remove(file);
  return out;
}

TEST(Quote, AShellReadsBackExactlyTheWordAndRunsNothing) {
  const std::string folder = testing::TempDir() + "/quote." + std::to_string(getpid());
  std::filesystem::create_directories(folder);
  std::string script = "cd '" + folder + "'\n";
  std::string expected;
  for (const std::string& word : hostile()) {
    script += "printf '<%s>' " + shell_word(word) + "\n";
    script += "x=" + env_value(word) + "; printf '<%s>' \"$x\"\n";
    expected += "<" + word + "><" + word + ">";
  }
  EXPECT_EQ(run_sh(script), expected);
  EXPECT_TRUE(std::filesystem::is_empty(folder)) << "a word was executed";
  std::filesystem::remove_all(folder);
}

TEST(Quote, APlainWordStaysPlain) {
  EXPECT_EQ(shell_word("--tclass=106"), "--tclass=106");
  EXPECT_EQ(shell_word("=x"), "'=x'");  // zsh would look for a command x
  EXPECT_EQ(shell_word("a b;rm -rf 'x'"), "'a b;rm -rf '\\''x'\\'''");
  EXPECT_EQ(shell_word(""), "''");
  EXPECT_EQ(shell_line({"weir", "show", "a b"}), "weir show 'a b'");
  EXPECT_EQ(env_value("^docker,lo"), "^docker,lo");
  EXPECT_EQ(env_value("=mlx5_0"), "'=mlx5_0'");
}

TEST(Quote, YamlKeepsATextAText) {
  EXPECT_EQ(yaml_text("gpu01"), "gpu01");
  EXPECT_EQ(yaml_text("RoCEv2 as designed (pod16)"), "RoCEv2 as designed (pod16)");
  for (const char* word :
       {"yes", "No",      "null", "007",  "0x10", "1e3", "-a", "[a", "a: b", "a #b", "",
        "~",   "{{ x }}", "@a",   "a\nb", "a ",   "'",   "\"", "!x", "&a",   "*a"}) {
    const std::string text = yaml_text(word);
    EXPECT_TRUE(text.starts_with('"') && text.ends_with('"')) << text;
    EXPECT_EQ(text.find('\n'), std::string::npos);
  }
  EXPECT_EQ(yaml_quoted("a\"b\\c\nd\x1b"), "\"a\\\"b\\\\c\\x0ad\\x1b\"");
  EXPECT_EQ(ansible_text("{{ lookup('pipe', 'id') }}"), "!unsafe \"{{ lookup('pipe', 'id') }}\"");
  EXPECT_EQ(ansible_text("gpu01"), "gpu01");
}

TEST(Quote, AUnitExpandsNothing) {
  EXPECT_EQ(unit_word("/usr/sbin/weir"), "/usr/sbin/weir");
  EXPECT_EQ(unit_word("a b"), "\"a b\"");
  EXPECT_EQ(unit_word("%H$HOME"), "%%H$$HOME");
  EXPECT_EQ(unit_word("a\nExecStart=/bin/id"), "\"a\\x0aExecStart=/bin/id\"");
  EXPECT_EQ(unit_value("100% \\\nExecStart=x"), "100%% \\\\\\\\u000aExecStart=x");
  EXPECT_EQ(unit_name("eth0-a/b"), "eth0\\x2da\\x2fb");
}

TEST(Quote, ACommentEndsWithItsLineAndASwitchWordIsOne) {
  EXPECT_EQ(comment_text("x\nid > F\r"), "x\\u000aid > F\\u000d");
  EXPECT_EQ(switch_word("Ethernet1/1"), "Ethernet1/1");
  EXPECT_EQ(switch_word("a\nno shutdown"), "\"au000ano shutdown\"");
  EXPECT_EQ(switch_word("a\" ; reload"), "\"a ; reload\"");
}

}  // namespace
}  // namespace weir

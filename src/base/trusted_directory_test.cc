#include "base/trusted_directory.h"

#include <filesystem>
#include <fstream>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/file.h"
#include "base/partial_file.h"
#include "base/testing.h"

namespace weir {
namespace {

using Above = TrustedDirectory::Above;

/// Everything below a directory of our own in the sticky /tmp.
class TrustedDirectoryTest : public ::testing::Test {
 protected:
  TrustedDirectoryTest() {
    std::string pattern = "/tmp/weir-trust-XXXXXX";
    EXPECT_NE(::mkdtemp(pattern.data()), nullptr);
    top_ = pattern;
    EXPECT_EQ(::mkdir(at("state").c_str(), 0700), 0);
  }
  ~TrustedDirectoryTest() override { std::filesystem::remove_all(top_); }

  [[nodiscard]] std::string at(const std::string& name) const { return top_ + "/" + name; }
  [[nodiscard]] static std::string why_not(const std::string& path, Above above = Above::kChecked) {
    const auto opened = TrustedDirectory::open(path, above);
    if (opened) return "";
    EXPECT_EQ(opened.error().code, ErrorCode::kInvalid) << opened.error().what;
    return opened.error().what;
  }
  [[nodiscard]] TrustedDirectory opened() const {
    auto directory = TrustedDirectory::open(at("state"), Above::kChecked);
    EXPECT_TRUE(directory) << directory.error().what;
    return std::move(*directory);
  }
  [[nodiscard]] std::string why_not_file(const std::string& name) const {
    const auto file = opened().open_file(name, O_RDWR);
    if (file) return "";
    EXPECT_EQ(file.error().code, ErrorCode::kInvalid) << file.error().what;
    return file.error().what;
  }

  std::string top_;
};

bool contains_text(const std::string& whole, std::string_view part) {
  return whole.find(part) != std::string::npos;
}

TEST_F(TrustedDirectoryTest, OursInAStickyDirectoryIsTrusted) {
  EXPECT_EQ(why_not(at("state")), "");
  EXPECT_EQ(why_not(at("state"), Above::kIgnored), "");
}

TEST_F(TrustedDirectoryTest, ADirectoryThatOthersWriteToIsNot) {
  for (const mode_t mode : {0777U, 0722U, 0702U, 01777U}) {
    ASSERT_EQ(::chmod(at("state").c_str(), mode), 0);
    EXPECT_TRUE(contains_text(why_not(at("state")), "others can write to it")) << mode;
    EXPECT_TRUE(contains_text(why_not(at("state"), Above::kIgnored), "others can write")) << mode;
  }
  ASSERT_EQ(::chmod(at("state").c_str(), 0755), 0);
  EXPECT_EQ(why_not(at("state")), "") << "reading is allowed";
}

TEST_F(TrustedDirectoryTest, OneAboveThatOthersWriteToIsNotUnlessItIsSticky) {
  ASSERT_EQ(::chmod(top_.c_str(), 0777), 0);
  EXPECT_TRUE(contains_text(why_not(at("state")), top_ + " is not trusted"));
  EXPECT_EQ(why_not(at("state"), Above::kIgnored), "") << "a lab is where the user has put it";
  ASSERT_EQ(::chmod(top_.c_str(), 01777), 0);
  EXPECT_EQ(why_not(at("state")), "");
}

TEST_F(TrustedDirectoryTest, ALinkIsNotTheDirectory) {
  std::filesystem::create_directory_symlink(at("state"), at("link"));
  EXPECT_TRUE(contains_text(why_not(at("link")), "symbolic link"));
  EXPECT_TRUE(contains_text(why_not(at("link"), Above::kIgnored), "symbolic link"));
}

TEST_F(TrustedDirectoryTest, ALinkAboveThatIsOursIsFollowed) {
  std::filesystem::create_directory_symlink(top_, at("state/up"));
  EXPECT_EQ(why_not(at("state/up/state")), "");
  std::filesystem::create_directory_symlink("..", at("state/dots"));
  EXPECT_EQ(why_not(at("state/dots/state")), "");
  std::filesystem::create_directory_symlink("round", at("round"));
  EXPECT_TRUE(contains_text(why_not(at("round/state")), "links cannot be followed"));
}

TEST_F(TrustedDirectoryTest, AnotherUsersIsNot) {
  if (::geteuid() != 0) GTEST_SKIP() << "needs root to give a directory away";
  constexpr uid_t kNobody = 65534;
  ASSERT_EQ(::chown(at("state").c_str(), kNobody, kNobody), 0);
  EXPECT_TRUE(contains_text(why_not(at("state")), "it belongs to user 65534"));
  ASSERT_EQ(::chown(at("state").c_str(), 0, 0), 0);
  ASSERT_EQ(::chown(top_.c_str(), kNobody, kNobody), 0);
  EXPECT_TRUE(contains_text(why_not(at("state")), "it belongs to user 65534"));
}

TEST_F(TrustedDirectoryTest, OneThatIsNotThereIsNotFound) {
  const auto opened = TrustedDirectory::open(at("state/more"), Above::kChecked);
  ASSERT_FALSE(opened);
  EXPECT_EQ(opened.error().code, ErrorCode::kNotFound);
}

TEST_F(TrustedDirectoryTest, FilesArePlainOursAndHaveOneName) {
  std::ofstream(at("victim")) << "kept";
  std::ofstream(at("state/plain")) << "text";
  std::filesystem::create_symlink(at("victim"), at("state/link"));
  std::filesystem::create_hard_link(at("victim"), at("state/hard"));
  ASSERT_EQ(::mkfifo(at("state/pipe").c_str(), 0600), 0);
  std::ofstream(at("state/open")) << "text";
  ASSERT_EQ(::chmod(at("state/open").c_str(), 0666), 0);
  EXPECT_EQ(why_not_file("plain"), "");
  EXPECT_TRUE(contains_text(why_not_file("link"), "symbolic link"));
  EXPECT_TRUE(contains_text(why_not_file("hard"), "second name"));
  EXPECT_TRUE(contains_text(why_not_file("pipe"), "no plain file"));
  EXPECT_TRUE(contains_text(why_not_file("open"), "others can write"));
  EXPECT_FALSE(opened().open_or_create("link", O_RDWR | O_TRUNC));
  EXPECT_EQ(read_file(at("victim")).value(), "kept");
}

TEST_F(TrustedDirectoryTest, ANewFileIsForItsOwnerAlone) {
  ASSERT_TRUE(opened().create_file("new", O_RDWR));
  EXPECT_FALSE(opened().create_file("new", O_RDWR)) << "the name is taken";
  struct stat info {};
  ASSERT_EQ(::stat(at("state/new").c_str(), &info), 0);
  EXPECT_EQ(info.st_mode & 0777U, 0600U);
  EXPECT_EQ(opened().names().value(), std::vector<std::string>{"new"});
}

// ---- partial files ----

TEST_F(TrustedDirectoryTest, APartialFileCannotBeForeseenAndBecomesTheFile) {
  const std::string path = at("trace.csv");
  std::ofstream(at("victim")) << "kept";
  std::filesystem::create_symlink(at("victim"), path + ".partial");
  {
    auto first = PartialFile::create(path);
    auto second = PartialFile::create(path);
    ASSERT_TRUE(first && second);
    std::fputs("half", second->stream());
    std::fputs("whole", first->stream());
    EXPECT_FALSE(file_exists(path));
    EXPECT_TRUE(first->finish());
  }
  EXPECT_EQ(read_file(path).value(), "whole");
  EXPECT_EQ(read_file(at("victim")).value(), "kept");
  const auto left = std::distance(std::filesystem::directory_iterator(top_), {});
  EXPECT_EQ(left, 4) << "state, trace.csv, victim and the link: no partial file is left";
}

TEST_F(TrustedDirectoryTest, APartialFileRefusesALinkInItsPlace) {
  std::ofstream(at("victim")) << "kept";
  std::filesystem::create_symlink(at("victim"), at("out"));
  EXPECT_FALSE(PartialFile::create(at("out")));
  EXPECT_EQ(read_file(at("victim")).value(), "kept");
}

}  // namespace
}  // namespace weir

#include "host/kernel/capture.h"

#include <cerrno>
#include <cstdio>

#include <unistd.h>

#include "base/file.h"
#include "base/testing.h"
#include "host/kernel/replay.h"

namespace weir::host {

namespace {

/// A directory of this process that is gone afterwards.
class Folder {
 public:
  Folder() : path_(testing::TempDir() + "weir-capture-" + std::to_string(::getpid())) {
    EXPECT_TRUE(make_directory(path_));
  }
  Folder(const Folder&) = delete;
  Folder& operator=(const Folder&) = delete;
  ~Folder() { (void)std::system(("rm -rf '" + path_ + "'").c_str()); }  // NOLINT(cert-env33-c)
  [[nodiscard]] const std::string& path() const { return path_; }
  void write(const std::string& name, const std::string& content) const {
    EXPECT_TRUE(make_directory(path_ + "/" + name.substr(0, name.rfind('/'))));
    EXPECT_TRUE(write_file_atomic(path_ + "/" + name, content));
  }

 private:
  std::string path_;
};

}  // namespace

TEST(KernelCapture, WritesWhatItReads) {
  const std::string path = "/sys/class/net/eth2/weird name";
  for (const CapturedNode& node : {CapturedNode{CapturedNode::Kind::kFile, "a\tb\\\n\x01\xff", {}},
                                   CapturedNode{CapturedNode::Kind::kLink, "../../devices/x", {}},
                                   CapturedNode{CapturedNode::Kind::kDirectory, "", {}},
                                   CapturedNode{CapturedNode::Kind::kError, "", {EACCES}}}) {
    const auto tree = parse_tree(tree_line(path, node));
    ASSERT_TRUE(tree) << tree.error().what;
    EXPECT_EQ(tree->nodes.at(path), node);
  }
  const CapturedTalk talk{"eth2", std::string("\x01\x02\0", 3), {std::string(40, 'x')}, {}};
  const CapturedTalk refused{"", "0123456789abcdef", {}, Errno{EPERM}};
  const auto talks = parse_hex(hex_text(talk) + hex_text(refused));
  ASSERT_TRUE(talks) << talks.error().what;
  EXPECT_EQ(*talks, (std::vector<CapturedTalk>{talk, refused}));
}

TEST(KernelCapture, NamesTheLineThatIsWrong) {
  EXPECT_NE(parse_tree("file\t/a\tx\nfile\t/a\ty\n").error().what.find("line 2"),
            std::string::npos);
  EXPECT_FALSE(parse_tree("file\trelative\tx\n"));
  EXPECT_FALSE(parse_tree("error\t/a\tEWHATEVER\n"));
  EXPECT_FALSE(parse_tree("file\t/a\t\\q\n"));
  EXPECT_FALSE(parse_hex("REPLY 1 bytes\n00\n"));
  EXPECT_FALSE(parse_hex("REQUEST 2 bytes\n00\n")) << "a byte short";
  EXPECT_FALSE(parse_hex("REQUEST 1 bytes\n00 01\n"));
  EXPECT_FALSE(parse_hex("REQUEST 1 bytes\nzz\n"));
}

TEST(KernelCapture, KnowsEveryErrnoByName) {
  EXPECT_EQ(errno_name({EACCES}), "EACCES");
  EXPECT_EQ(errno_from_name("EOPNOTSUPP"), Errno{EOPNOTSUPP});
  EXPECT_EQ(errno_from_name(""), std::nullopt);
}

TEST(KernelReplay, FollowsLinksInsideTheCaptureOnly) {
  const Folder folder;
  folder.write("sys/devices/card/mtu", "9000\n");
  folder.write("sys/devices/card/driver", "../../bus/drivers/mlx5_core");
  ASSERT_TRUE(make_directory(folder.path() + "/sys/class"));
  ASSERT_EQ(::symlink("../devices/card", (folder.path() + "/sys/class/eth2").c_str()), 0);
  ASSERT_EQ(::symlink("/etc/hostname", (folder.path() + "/sys/class/outside").c_str()), 0);
  ASSERT_EQ(::symlink("../../../../../../../../etc/hostname",
                      (folder.path() + "/sys/class/above").c_str()),
            0);
  ASSERT_EQ(::symlink("round", (folder.path() + "/sys/class/round").c_str()), 0);
  auto kernel = open_replay(folder.path());
  ASSERT_TRUE(kernel) << kernel.error().what;
  EXPECT_EQ(*(*kernel)->read_file("/sys/class/eth2/mtu"), "9000\n");
  EXPECT_EQ(*(*kernel)->real_path("/sys/class/eth2"), "/sys/devices/card");
  EXPECT_EQ(*(*kernel)->real_path("/sys/class/eth2/driver"), "/sys/bus/drivers/mlx5_core")
      << "a copy that flattened its links, and lacks the target";
  EXPECT_TRUE((*kernel)->read_file("/sys/class/outside").is(ENOENT));
  EXPECT_TRUE((*kernel)->read_file("/sys/class/above").is(ENOENT));
  EXPECT_TRUE((*kernel)->read_file("/sys/class/round").is(ELOOP));
  EXPECT_TRUE((*kernel)->real_path("/sys/class/eth9/driver").is(ENOENT));
  EXPECT_TRUE((*kernel)->read_file("/sys/devices").is(EISDIR));
  EXPECT_TRUE((*kernel)->list("/sys/devices/card/mtu").is(ENOTDIR));
}

TEST(KernelReplay, SaysWhatIsWrongWithACapture) {
  const Folder folder;
  EXPECT_FALSE(open_replay(folder.path() + "/nowhere"));
  folder.write("netlink/dcb.hex", "REQUEST\n");
  const auto kernel = open_replay(folder.path());
  ASSERT_FALSE(kernel);
  EXPECT_NE(kernel.error().what.find("dcb.hex: line 1"), std::string::npos) << kernel.error().what;
}

}  // namespace weir::host

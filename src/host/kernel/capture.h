#pragma once
// The forms in which the answers of a kernel are kept: parsers from text, pure, made for replay.
//
//   tree.tsv     one node per line: kind, path, content, with tabs between
//                  file   /sys/class/net/eth2/mtu   9000\n       escapes: \n \t \r \\ \xNN
//                  link   /sys/class/net/eth2       ../../devices/…
//                  dir    /sys/class/iommu                       an empty directory
//                  error  /sys/kernel/debug/mlx5    EACCES       what a read answered
//                  about  machine                   x86_64       what Kernel::about() says
//   *.hex        netlink and ioctl: `REQUEST 32 bytes` or `IOCTL eth2 8 bytes`, hexadecimal lines,
//                `REPLY 880 bytes`, hexadecimal lines; `ERROR EPERM` in place of a reply
//   ethtool text what `ethtool -S` and `ethtool -i` print, one after the other in any order
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/result.h"
#include "host/kernel/kernel.h"

namespace weir::host {

/// "EACCES" of 13, and back. What has no name for programs (drivers give 524 away) is its number;
/// nullopt for what is neither.
[[nodiscard]] std::string errno_name(Errno error);
[[nodiscard]] std::optional<Errno> errno_from_name(std::string_view name);

/// Any bytes within one column of a line: \n \t \r \\ \xNN. nullopt for an escape that is none.
[[nodiscard]] std::string escape_text(std::string_view text);
[[nodiscard]] std::optional<std::string> unescape_text(std::string_view text);

struct CapturedNode {
  enum class Kind { kFile, kLink, kDirectory, kError };
  Kind kind = Kind::kFile;
  std::string content;  // of a file; the target of a link
  Errno error;
  friend bool operator==(const CapturedNode&, const CapturedNode&) = default;
};

struct CapturedTree {
  std::map<std::string, CapturedNode, std::less<>> nodes;  // by absolute path
  std::map<std::string, std::string, std::less<>> about;
};
[[nodiscard]] Result<CapturedTree> parse_tree(std::string_view text);
/// What parse_tree() reads back.
[[nodiscard]] std::string tree_line(const std::string& path, const CapturedNode& node);

/// A question to the kernel and what it said.
struct CapturedTalk {
  std::string netdev;   // of an ioctl; empty for netlink
  std::string request;  // the message, or the ioctl's structure
  std::vector<std::string> replies;
  std::optional<Errno> error;
  friend bool operator==(const CapturedTalk&, const CapturedTalk&) = default;
};
[[nodiscard]] Result<std::vector<CapturedTalk>> parse_hex(std::string_view text);
[[nodiscard]] std::string hex_text(const CapturedTalk& talk);

struct EthtoolText {
  std::vector<std::pair<std::string, std::uint64_t>> statistics;
  bool has_statistics = false;                           // a NIC may have none: the heading alone
  std::map<std::string, std::string, std::less<>> info;  // "driver" "version" "firmware-version" …
};
[[nodiscard]] EthtoolText parse_ethtool_text(std::string_view text);

}  // namespace weir::host

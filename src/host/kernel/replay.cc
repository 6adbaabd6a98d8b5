#include "host/kernel/replay.h"

#include <algorithm>
#include <cerrno>
#include <cstdint>
#include <cstring>
#include <deque>
#include <map>
#include <set>

#include <dirent.h>
#include <fmt/format.h>
#include <linux/ethtool.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/file.h"
#include "base/text.h"
#include "base/untrusted/printable.h"
#include "host/kernel/capture.h"
#include "host/kernel/live.h"
#include "host/kernel/netlink.h"

namespace weir::host {

namespace {

constexpr int kMostLinks = 40;              // as the kernel's own limit
constexpr std::size_t kLongestLink = 4095;  // PATH_MAX

/// Where a walk along a path ended.
struct Place {
  std::string path;   // without links
  CapturedNode node;  // what is there
};

bool is_flattened_link(std::string_view content) {
  return content.size() <= kLongestLink && content.starts_with("../") &&
         content.find('\n') == std::string_view::npos;
}

void prepend(std::deque<std::string>& rest, std::string_view path) {
  const auto pieces = split(path, '/');
  for (auto piece = pieces.rbegin(); piece != pieces.rend(); ++piece) {
    if (!piece->empty() && *piece != ".") rest.emplace_front(*piece);
  }
}

template <class T>
std::string bytes_of(const T& value) {
  return {reinterpret_cast<const char*>(&value), sizeof value};
}

/// A text into a fixed field of an ioctl's structure, with its terminator.
template <std::size_t N>
void put_text(char (&field)[N], const EthtoolText& text, std::string_view key) {  // NOLINT
  const auto found = text.info.find(key);
  if (found == text.info.end()) return;
  const std::size_t size = std::min(found->second.size(), N - 1);
  std::memcpy(static_cast<char*>(field), found->second.data(), size);
}

/// What the ethtool ioctl would have filled in, from the text that the tool made of it.
Answer<std::string> answer_from_text(const EthtoolText& text, std::string request) {
  std::uint32_t command = 0;
  if (request.size() < sizeof command) return Errno{EINVAL};
  std::memcpy(&command, request.data(), sizeof command);
  if (command == ETHTOOL_GDRVINFO && !text.info.empty()) {
    ethtool_drvinfo info{};
    info.cmd = command;
    put_text(info.driver, text, "driver");
    put_text(info.version, text, "version");
    put_text(info.fw_version, text, "firmware-version");
    put_text(info.bus_info, text, "bus-info");
    return bytes_of(info);
  }
  if (!text.has_statistics) return Errno{ENOENT};
  const auto count = static_cast<std::uint32_t>(text.statistics.size());
  if (command == ETHTOOL_GSSET_INFO) {
    ethtool_sset_info head{};
    head.cmd = command;
    head.sset_mask = 1ULL << ETH_SS_STATS;
    return bytes_of(head) + bytes_of(count);
  }
  if (command == ETHTOOL_GSTRINGS) {
    ethtool_gstrings head{};
    std::memcpy(&head, request.data(), std::min(request.size(), sizeof head));
    if (head.string_set != ETH_SS_STATS) return Errno{ENOENT};
    head.len = count;
    std::string reply = bytes_of(head);
    for (const auto& [name, value] : text.statistics) {
      std::string field = name.substr(0, ETH_GSTRING_LEN - 1);
      field.resize(ETH_GSTRING_LEN, '\0');
      reply += field;
    }
    return reply;
  }
  if (command == ETHTOOL_GSTATS) {
    ethtool_stats head{};
    head.cmd = command;
    head.n_stats = count;
    std::string reply = bytes_of(head);
    for (const auto& [name, value] : text.statistics)
      reply += bytes_of(value);
    return reply;
  }
  return Errno{ENOENT};
}

class ReplayKernel final : public Kernel {
 public:
  explicit ReplayKernel(std::string root) : root_(std::move(root)) {}
  Status load();

  Answer<std::string> read_file(const std::string& path) override;
  Answer<std::vector<std::string>> list(const std::string& path) override;
  Answer<std::string> real_path(const std::string& path) override;
  Answer<std::vector<std::string>> netlink(int protocol, const std::string& request) override;
  Answer<std::string> ethtool(const std::string& netdev, const std::string& request) override;
  Answer<std::string> about(std::string_view what) override;

 private:
  Status load_talks();
  Status load_ethtool();
  /// The node at a path that holds no link but perhaps its last piece.
  [[nodiscard]] CapturedNode look(const std::string& path) const;
  [[nodiscard]] CapturedNode look_on_disk(const std::string& path) const;
  [[nodiscard]] bool is_within_tree(const std::string& path) const;
  /// Follows links; a link whose target the capture lacks leads there all the same.
  [[nodiscard]] Answer<Place> walk(const std::string& path) const;

  std::string root_;
  std::unique_ptr<Kernel> disk_ = make_live_kernel();  // only its files are used
  CapturedTree tree_;
  std::map<std::string, CapturedTalk> netlink_;                         // by question
  std::map<std::pair<std::string, std::string>, CapturedTalk> ioctls_;  // by netdev and request
  std::map<std::string, EthtoolText> ethtool_;                          // by netdev
};

Status ReplayKernel::load() {
  struct stat info {};
  if (::stat(root_.c_str(), &info) != 0)
    return not_found_error(fmt::format("open {}: {}", root_, std::strerror(errno)));
  if (!S_ISDIR(info.st_mode))
    return invalid_error(fmt::format("{} is not a directory; a capture is one", root_));
  const std::string tree_file = root_ + "/tree.tsv";
  if (file_exists(tree_file)) {
    WEIR_TRY(text, weir::read_file(tree_file));
    auto tree = parse_tree(text);
    if (!tree) return tree.error().within(tree_file);
    tree_ = std::move(*tree);
  }
  WEIR_TRY_STATUS(load_talks());
  return load_ethtool();
}

Status ReplayKernel::load_talks() {
  const std::string folder = root_ + "/netlink";
  const auto names = disk_->list(folder);
  if (!names) return {};
  for (const std::string& name : *names) {
    if (!name.ends_with(".hex")) continue;
    WEIR_TRY(text, weir::read_file(folder + "/" + name));
    auto talks = parse_hex(text);
    if (!talks) return talks.error().within(printable_line(folder + "/" + name));
    for (CapturedTalk& talk : *talks) {
      // The first answer to a question stays: a capture may go on to change things.
      if (talk.netdev.empty()) {
        netlink_.emplace(question_of(talk.request), std::move(talk));
      } else {
        std::pair key(talk.netdev, talk.request);
        ioctls_.emplace(std::move(key), std::move(talk));
      }
    }
  }
  return {};
}

Status ReplayKernel::load_ethtool() {
  constexpr std::string_view kEnding = ".txt";
  const std::string folder = root_ + "/ethtool";
  const auto names = disk_->list(folder);
  if (!names) return {};
  for (const std::string& name : *names) {
    if (!name.ends_with(kEnding)) continue;
    WEIR_TRY(text, weir::read_file(folder + "/" + name));
    ethtool_.emplace(name.substr(0, name.size() - kEnding.size()), parse_ethtool_text(text));
  }
  return {};
}

bool ReplayKernel::is_within_tree(const std::string& path) const {
  const std::string below = path == "/" ? path : path + "/";
  const auto next = tree_.nodes.lower_bound(below);
  return next != tree_.nodes.end() && next->first.starts_with(below);
}

CapturedNode ReplayKernel::look_on_disk(const std::string& path) const {
  using Kind = CapturedNode::Kind;
  const std::string full = root_ + path;
  struct stat info {};
  if (::lstat(full.c_str(), &info) != 0) return {Kind::kError, "", {errno}};
  if (S_ISDIR(info.st_mode)) return {Kind::kDirectory, "", {}};
  if (S_ISLNK(info.st_mode)) {
    std::string target(kLongestLink, '\0');
    const ssize_t size = ::readlink(full.c_str(), target.data(), target.size());
    if (size < 0) return {Kind::kError, "", {errno}};
    target.resize(static_cast<std::size_t>(size));
    return {Kind::kLink, std::move(target), {}};
  }
  if (!S_ISREG(info.st_mode)) return {Kind::kError, "", {EINVAL}};
  const auto content = disk_->read_file(full);
  if (!content) return {Kind::kError, "", content.error()};
  return {is_flattened_link(*content) ? Kind::kLink : Kind::kFile, *content, {}};
}

CapturedNode ReplayKernel::look(const std::string& path) const {
  if (const auto found = tree_.nodes.find(path); found != tree_.nodes.end()) return found->second;
  if (path == "/" || is_within_tree(path)) return {CapturedNode::Kind::kDirectory, "", {}};
  return look_on_disk(path);
}

Answer<Place> ReplayKernel::walk(const std::string& path) const {
  std::deque<std::string> rest;
  prepend(rest, path);
  std::size_t from_links = 0;  // how many of `rest`, at its front, the last link brought
  std::string at;
  CapturedNode node{CapturedNode::Kind::kDirectory, "", {}};
  for (int links = 0; !rest.empty();) {
    const std::string piece = std::move(rest.front());
    rest.pop_front();
    const bool by_link = from_links > 0;
    if (by_link) --from_links;
    if (piece == "..") {
      at.erase(std::min(at.rfind('/'), at.size()));
      node = look(at.empty() ? "/" : at);
      continue;
    }
    const std::string next = at + "/" + piece;
    node = look(next);
    if (node.kind == CapturedNode::Kind::kLink) {
      if (++links > kMostLinks) return Errno{ELOOP};
      if (node.content.starts_with('/')) at.clear();
      const std::size_t before = rest.size();
      prepend(rest, node.content);
      from_links = from_links + (rest.size() - before);
      continue;
    }
    if (node.kind == CapturedNode::Kind::kError) {
      const bool dangles = by_link && rest.size() == from_links && node.error == Errno{ENOENT};
      if (!dangles) return node.error;
    }
    if (node.kind == CapturedNode::Kind::kFile && !rest.empty()) return Errno{ENOTDIR};
    at = next;
  }
  if (at.empty()) at = "/";
  return Place{at, std::move(node)};
}

Answer<std::string> ReplayKernel::read_file(const std::string& path) {
  const auto place = walk(path);
  if (!place) return place.error();
  if (place->node.kind == CapturedNode::Kind::kDirectory) return Errno{EISDIR};
  if (place->node.kind == CapturedNode::Kind::kError) return place->node.error;
  return place->node.content;
}

Answer<std::vector<std::string>> ReplayKernel::list(const std::string& path) {
  const auto place = walk(path);
  if (!place) return place.error();
  if (place->node.kind == CapturedNode::Kind::kError) return place->node.error;
  if (place->node.kind == CapturedNode::Kind::kFile) return Errno{ENOTDIR};
  std::set<std::string> names;
  const std::string below = place->path == "/" ? place->path : place->path + "/";
  for (auto next = tree_.nodes.lower_bound(below);
       next != tree_.nodes.end() && next->first.starts_with(below);) {
    const std::string name =
        next->first.substr(below.size(), next->first.find('/', below.size()) - below.size());
    names.insert(name);
    next = tree_.nodes.lower_bound(below + name + char{'/' + 1});
  }
  if (const auto on_disk = disk_->list(root_ + place->path))
    names.insert(on_disk->begin(), on_disk->end());
  return std::vector<std::string>(names.begin(), names.end());
}

Answer<std::string> ReplayKernel::real_path(const std::string& path) {
  const auto place = walk(path);
  if (!place) return place.error();
  return place->path;
}

Answer<std::vector<std::string>> ReplayKernel::netlink(int /*protocol*/,
                                                       const std::string& request) {
  const auto found = netlink_.find(question_of(request));
  if (found == netlink_.end()) return Errno{ENOENT};
  if (found->second.error.has_value()) return *found->second.error;
  Conversation talk;
  for (const std::string& reply : found->second.replies)
    talk.take(reply, std::nullopt);
  return std::move(talk).answer();
}

Answer<std::string> ReplayKernel::ethtool(const std::string& netdev, const std::string& request) {
  if (const auto found = ioctls_.find({netdev, request}); found != ioctls_.end()) {
    if (found->second.error.has_value()) return *found->second.error;
    if (!found->second.replies.empty()) return found->second.replies.front();
  }
  const auto text = ethtool_.find(netdev);
  if (text == ethtool_.end()) return Errno{ENOENT};
  return answer_from_text(text->second, request);
}

Answer<std::string> ReplayKernel::about(std::string_view what) {
  const auto found = tree_.about.find(what);
  if (found == tree_.about.end()) return Errno{ENOENT};
  return found->second;
}

}  // namespace

Result<std::unique_ptr<Kernel>> open_replay(const std::string& directory) {
  auto kernel = std::make_unique<ReplayKernel>(directory);
  WEIR_TRY_STATUS(kernel->load());
  return std::unique_ptr<Kernel>(std::move(kernel));
}

}  // namespace weir::host

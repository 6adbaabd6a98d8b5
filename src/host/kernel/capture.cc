#include "host/kernel/capture.h"

#include <cstring>

#include <fmt/format.h>

#include "base/text.h"

namespace weir::host {

namespace {

constexpr int kErrnoLimit = 134;            // Linux's last is EHWPOISON, 133
constexpr std::uint64_t kMostErrno = 4095;  // the kernel's range
constexpr std::size_t kHexColumns = 16;

int hex_digit(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  if (c >= 'A' && c <= 'F') return c - 'A' + 10;
  return -1;
}

Error line_error(std::size_t line, std::string_view what) {
  return parse_error(fmt::format("line {}: {}", line, what));
}

/// One line of a tree into `tree`; the error in words without the line.
std::optional<std::string> take_node(std::string_view line, CapturedTree& tree) {
  const auto columns = split(line, '\t');
  if (columns.size() < 2 || columns.size() > 3) return "expected kind, path and content, by tabs";
  const std::string_view kind = columns[0];
  const auto content = unescape_text(columns.size() == 3 ? columns[2] : "");
  if (!content.has_value()) return "an escape is not one of \\n \\t \\r \\\\ \\xNN";
  if (kind == "about") {
    tree.about.emplace(columns[1], *content);
    return std::nullopt;
  }
  const auto path = unescape_text(columns[1]);
  if (!path.has_value() || !path->starts_with('/')) return "the path does not start with '/'";
  CapturedNode node;
  if (kind == "file") {
    node = {CapturedNode::Kind::kFile, *content, {}};
  } else if (kind == "link") {
    node = {CapturedNode::Kind::kLink, *content, {}};
  } else if (kind == "dir") {
    node = {CapturedNode::Kind::kDirectory, "", {}};
  } else if (kind == "error") {
    const auto error = errno_from_name(*content);
    if (!error.has_value()) return fmt::format("'{}' is not an errno", *content);
    node = {CapturedNode::Kind::kError, "", *error};
  } else {
    return fmt::format("'{}' is not one of file, link, dir, error, about", kind);
  }
  if (!tree.nodes.emplace(*path, std::move(node)).second)
    return fmt::format("'{}' is here twice", *path);
  return std::nullopt;
}

/// Reads the blocks of a .hex file: a heading, then bytes until it has as many as it says.
class HexReader {
 public:
  Result<std::vector<CapturedTalk>> read(std::string_view text);

 private:
  std::optional<std::string> take(std::string_view line);
  std::optional<std::string> take_heading(std::string_view line);
  std::optional<std::string> take_bytes(std::string_view line);
  std::optional<std::string> open_block(std::string_view count, std::string* into);

  std::vector<CapturedTalk> talks_;
  std::string* block_ = nullptr;  // where bytes go; points into the last of talks_
  std::size_t wanted_ = 0;
};

std::optional<std::string> HexReader::open_block(std::string_view count, std::string* into) {
  const auto size = parse_u64(count);
  if (!size || *size > kFileLimit) return fmt::format("'{}' is not a number of bytes", count);
  block_ = into;
  wanted_ = static_cast<std::size_t>(*size);
  return std::nullopt;
}

std::optional<std::string> HexReader::take_heading(std::string_view line) {
  if (block_ != nullptr && block_->size() != wanted_)
    return fmt::format("{} of {} bytes came before the next heading", block_->size(), wanted_);
  const auto words = split(line, ' ');
  if (words[0] == "REQUEST" && words.size() == 3 && words[2] == "bytes") {
    talks_.emplace_back();
    return open_block(words[1], &talks_.back().request);
  }
  if (words[0] == "IOCTL" && words.size() == 4 && words[3] == "bytes") {
    talks_.emplace_back().netdev = words[1];
    return open_block(words[2], &talks_.back().request);
  }
  if (talks_.empty()) return "a reply before any request";
  if (words[0] == "REPLY" && words.size() == 3 && words[2] == "bytes")
    return open_block(words[1], &talks_.back().replies.emplace_back());
  if (words[0] == "ERROR" && words.size() == 2) {
    talks_.back().error = errno_from_name(words[1]);
    block_ = nullptr;
    if (!talks_.back().error.has_value()) return fmt::format("'{}' is not an errno", words[1]);
    return std::nullopt;
  }
  return "expected 'REQUEST n bytes', 'IOCTL netdev n bytes', 'REPLY n bytes' or 'ERROR name'";
}

std::optional<std::string> HexReader::take_bytes(std::string_view line) {
  if (block_ == nullptr) return "bytes before any heading";
  for (const std::string_view word : split(line, ' ')) {
    if (word.empty()) continue;
    if (word.size() != 2 || hex_digit(word[0]) < 0 || hex_digit(word[1]) < 0)
      return fmt::format("'{}' is not a byte in hexadecimal", word);
    if (block_->size() == wanted_) return fmt::format("more than {} bytes", wanted_);
    *block_ += static_cast<char>(hex_digit(word[0]) * 16 + hex_digit(word[1]));
  }
  return std::nullopt;
}

std::optional<std::string> HexReader::take(std::string_view line) {
  if (trim(line).empty() || line.starts_with('#')) return std::nullopt;
  for (const std::string_view heading : {"REQUEST", "IOCTL", "REPLY", "ERROR"}) {
    if (line.starts_with(heading)) return take_heading(trim(line));
  }
  return take_bytes(trim(line));
}

Result<std::vector<CapturedTalk>> HexReader::read(std::string_view text) {
  std::size_t number = 0;
  for (const std::string_view line : split(text, '\n')) {
    ++number;
    if (const auto wrong = take(line)) return line_error(number, *wrong);
  }
  if (block_ != nullptr && block_->size() != wanted_)
    return line_error(number, fmt::format("{} of {} bytes came", block_->size(), wanted_));
  return std::move(talks_);
}

std::string hex_block(std::string_view heading, std::string_view bytes) {
  std::string out = fmt::format("{} {} bytes\n", heading, bytes.size());
  for (std::size_t at = 0; at < bytes.size(); ++at) {
    const bool last = at + 1 == bytes.size() || at % kHexColumns == kHexColumns - 1;
    out += fmt::format("{:02x}{}", static_cast<unsigned char>(bytes[at]), last ? '\n' : ' ');
  }
  return out;
}

}  // namespace

std::string escape_text(std::string_view text) {
  std::string out;
  for (const char c : text) {
    switch (c) {
      case '\n': out += "\\n"; break;
      case '\t': out += "\\t"; break;
      case '\r': out += "\\r"; break;
      case '\\': out += "\\\\"; break;
      default:
        if (c >= ' ' && c < '\x7f') {
          out += c;
        } else {
          out += fmt::format("\\x{:02x}", static_cast<unsigned char>(c));
        }
    }
  }
  return out;
}

std::optional<std::string> unescape_text(std::string_view text) {
  std::string out;
  for (std::size_t at = 0; at < text.size(); ++at) {
    if (text[at] != '\\') {
      out += text[at];
      continue;
    }
    if (++at >= text.size()) return std::nullopt;
    switch (text[at]) {
      case 'n': out += '\n'; break;
      case 't': out += '\t'; break;
      case 'r': out += '\r'; break;
      case '\\': out += '\\'; break;
      case 'x': {
        if (at + 2 >= text.size()) return std::nullopt;
        const int high = hex_digit(text[at + 1]);
        const int low = hex_digit(text[at + 2]);
        if (high < 0 || low < 0) return std::nullopt;
        out += static_cast<char>(high * 16 + low);
        at += 2;
        break;
      }
      default: return std::nullopt;
    }
  }
  return out;
}

std::string errno_name(Errno error) {
  const char* name = ::strerrorname_np(error.number);
  return name == nullptr ? fmt::format("{}", error.number) : name;
}

std::optional<Errno> errno_from_name(std::string_view name) {
  for (int number = 1; number < kErrnoLimit; ++number) {
    if (errno_name({number}) == name) return Errno{number};
  }
  const auto number = parse_u64(name);
  if (!number || *number == 0 || *number > kMostErrno) return std::nullopt;
  return Errno{static_cast<int>(*number)};
}

Result<CapturedTree> parse_tree(std::string_view text) {
  CapturedTree tree;
  std::size_t number = 0;
  for (const std::string_view line : split(text, '\n')) {
    ++number;
    if (line.empty() || line.starts_with('#')) continue;
    if (const auto wrong = take_node(line, tree)) return line_error(number, *wrong);
  }
  return tree;
}

std::string tree_line(const std::string& path, const CapturedNode& node) {
  switch (node.kind) {
    case CapturedNode::Kind::kFile:
      return fmt::format("file\t{}\t{}\n", escape_text(path), escape_text(node.content));
    case CapturedNode::Kind::kLink:
      return fmt::format("link\t{}\t{}\n", escape_text(path), escape_text(node.content));
    case CapturedNode::Kind::kDirectory: return fmt::format("dir\t{}\n", escape_text(path));
    case CapturedNode::Kind::kError:
      return fmt::format("error\t{}\t{}\n", escape_text(path), errno_name(node.error));
  }
  WEIR_UNREACHABLE("every kind of node has a line");
}

Result<std::vector<CapturedTalk>> parse_hex(std::string_view text) {
  return HexReader().read(text);
}

std::string hex_text(const CapturedTalk& talk) {
  std::string out = talk.netdev.empty() ? hex_block("REQUEST", talk.request)
                                        : hex_block("IOCTL " + talk.netdev, talk.request);
  for (const std::string& reply : talk.replies)
    out += hex_block("REPLY", reply);
  if (talk.error.has_value()) out += "ERROR " + errno_name(*talk.error) + "\n";
  return out;
}

EthtoolText parse_ethtool_text(std::string_view text) {
  EthtoolText out;
  bool in_statistics = false;
  for (const std::string_view line : split(text, '\n')) {
    if (trim(line) == "NIC statistics:") {
      in_statistics = true;
      out.has_statistics = true;
      continue;
    }
    if (in_statistics && !line.starts_with(' ')) in_statistics = false;
    const std::size_t colon = line.rfind(": ");  // irdma's names hold colons and blanks
    if (colon == std::string_view::npos) continue;
    const std::string_view name = trim(line.substr(0, colon));
    const std::string_view value = trim(line.substr(colon + 2));
    if (in_statistics) {
      if (const auto number = parse_u64(value)) out.statistics.emplace_back(name, *number);
    } else if (!line.starts_with(' ') && !line.starts_with('\t')) {
      out.info.emplace(name, value);
    }
  }
  return out;
}

}  // namespace weir::host

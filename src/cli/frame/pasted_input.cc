#include "cli/frame/pasted_input.h"

#include <algorithm>

#include <fmt/format.h>

#include "base/json.h"
#include "base/text.h"

namespace weir::cli {
namespace {

bool is_capture(std::string_view text) {
  for (const std::string_view magic :
       {std::string_view("\xd4\xc3\xb2\xa1", 4), std::string_view("\xa1\xb2\xc3\xd4", 4),
        std::string_view("\x4d\x3c\xb2\xa1", 4), std::string_view("\x0a\x0d\x0d\x0a", 4)})
    if (text.starts_with(magic)) return true;
  return false;
}

std::string counted_lines(std::size_t count) {
  return fmt::format("{} line{}", count, count == 1 ? "" : "s");
}

/// Each kind of output once: "ethtool -S (mlx5) of gpu01 eth2, 2 times".
std::vector<std::string> outputs_read(const readers::Paste& paste) {
  std::vector<std::pair<std::string, int>> parts;
  for (const readers::PastePart& part : paste.parts) {
    const std::string text = readers::to_text(part);
    const auto same = std::find_if(parts.begin(), parts.end(),
                                   [&](const auto& known) { return known.first == text; });
    if (same == parts.end()) {
      parts.emplace_back(text, 1);
    } else {
      ++same->second;
    }
  }
  std::vector<std::string> out;
  for (const auto& [text, times] : parts)
    out.push_back(times == 1 ? text : fmt::format("{}, {} times", text, times));
  return out;
}

}  // namespace

Result<readers::Paste> read_pasted(const std::vector<PastedText>& texts) {
  std::vector<readers::PastedFile> files;
  for (const PastedText& file : texts) {
    if (is_capture(file.text))
      return parse_error(fmt::format("{}: a packet capture; weir pcap reads it", file.path));
    if (file.text.find('\0') != std::string::npos)
      return parse_error(
          fmt::format("{}: binary data; expected JSON of weir or plain text", file.path));
    if (trim(file.text).empty()) return parse_error(fmt::format("{}: no text in it", file.path));
    files.push_back({file.path, file.text});
  }
  return readers::read_paste(files);
}

void print_what_was_read(const readers::Paste& paste, Context& context) {
  if (context.quiet) return;
  constexpr std::size_t kShown = 5;
  for (std::size_t i = 0; i < std::min(paste.unread.size(), kShown); ++i) {
    const auto& unread = paste.unread[i];
    context.err << fmt::format("weir: {}:{}: not understood: {} ({})\n", unread.file,
                               unread.line.line, unread.line.text, unread.line.why);
  }
  std::vector<std::string> said = outputs_read(paste);
  if (said.empty()) said.emplace_back("words only, no known output");
  if (!paste.unread.empty()) said.push_back(counted_lines(paste.unread.size()) + " not understood");
  if (!paste.rest.empty() && !paste.parts.empty())
    said.push_back(counted_lines(paste.rest.size()) + " in no known output");
  context.err << fmt::format("weir: read as: {}\n", join(said, "; "));
}

Json read_json(const readers::Paste& paste) {
  Json out = Json::array();
  for (const readers::PastePart& part : paste.parts) {
    out.push_back({{"tool", part.tool},
                   {"detail", part.detail},
                   {"host", part.host},
                   {"device", part.device},
                   {"file", part.file},
                   {"first_line", part.first},
                   {"last_line", part.last}});
  }
  return out;
}

Json unread_json(const readers::Paste& paste) {
  Json out = Json::array();
  for (const auto& unread : paste.unread) {
    out.push_back({{"file", unread.file},
                   {"line", unread.line.line},
                   {"text", unread.line.text},
                   {"why", unread.line.why}});
  }
  for (const readers::Cited& line : paste.rest) {
    out.push_back({{"file", line.file},
                   {"line", line.line},
                   {"text", line.text},
                   {"why", "in no known output"}});
  }
  return out;
}

}  // namespace weir::cli

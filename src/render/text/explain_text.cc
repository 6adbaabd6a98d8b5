#include "render/text/explain_text.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <vector>

#include <fmt/format.h>

#include "base/check.h"
#include "base/text.h"

namespace weir::render {
namespace {

using finding::CatalogEntry;
using finding::CatalogFix;
using finding::Side;

constexpr std::string_view kConvention =
    "The commands follow the usual convention: RDMA on DSCP 26, priority and queue 3; CNPs on DSCP "
    "48, priority and queue 6. weir render prints them for your design.";

std::string listed(const std::vector<std::string_view>& words) {
  return join(std::vector<std::string>(words.begin(), words.end()), ", ");
}

/// Wrapped prose with every line indented.
std::string block(std::string_view text, std::size_t width, std::size_t indent) {
  return std::string(indent, ' ') + hang(text, width - indent, indent) + "\n";
}

const finding::Platform& platform_of(const CatalogFix& fix) {
  const finding::Platform* platform = finding::find_platform(fix.platform);
  WEIR_CHECK(platform != nullptr);
  return *platform;
}

/// Whether a command holds a number of the convention as a word of its own.
bool shows_convention(std::string_view command) {
  constexpr std::array<std::string_view, 6> kNumbers = {"3", "6", "26", "48", "106", "011010"};
  const auto is_word = [](char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0; };
  for (std::size_t at = 0; at < command.size();) {
    std::size_t end = at;
    while (end < command.size() && (is_word(command[end]) || command[end] == '_'))
      ++end;
    const std::string_view word = command.substr(at, end - at);
    if (std::find(kNumbers.begin(), kNumbers.end(), word) != kNumbers.end()) return true;
    at = end + 1;
  }
  return command.find("--pfc") != std::string_view::npos;
}

bool shows_convention(const CatalogEntry& entry) {
  for (const CatalogFix& fix : entry.fix) {
    const Side side = platform_of(fix).side;
    if (side != Side::kHost && side != Side::kSwitch) continue;
    for (const std::string_view command : fix.commands)
      if (shows_convention(command)) return true;
  }
  return false;
}

std::string fix_text(const CatalogFix& fix, std::size_t width) {
  std::string text = block(platform_of(fix).title, width, 2);
  if (!fix.note.empty()) text += block(fix.note, width, 4);
  for (const std::string_view command : fix.commands)
    text += fmt::format("      {}\n", command);
  return text;
}

std::string found_by(std::string_view phase) {
  return phase == "monitor" ? "found while monitoring"
                            : fmt::format("first found by weir {}", phase);
}

}  // namespace

std::string explain(const CatalogEntry& entry, std::size_t width) {
  std::string text = hang(fmt::format("{}: {}", entry.id, entry.title), width - 2, 2) + "\n";
  text += fmt::format("{}, {}\n", to_text(entry.severity), found_by(entry.phase));
  if (!entry.aliases.empty())
    text += "also known as " + hang(listed(entry.aliases), width - 14, 14) + "\n";
  text += "\nWhy\n" + block(entry.why, width, 2);
  text += "\nFix\n";
  if (shows_convention(entry)) text += block(kConvention, width, 2) + "\n";
  for (const CatalogFix& fix : entry.fix)
    text += fix_text(fix, width);
  text += "\nSources\n";
  for (const std::string_view source : entry.sources)
    text += "  - " + hang(source, width - 4, 4) + "\n";
  return text;
}

}  // namespace weir::render

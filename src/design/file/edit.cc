#include "design/file/edit.h"

#include <algorithm>

#include <fmt/format.h>

#include "base/text.h"
#include "design/file/yaml_document.h"
#include "design/tables/nic_knobs.h"

namespace weir::design {
namespace {

/// Offset of a place in the text; columns count characters, not bytes.
std::size_t offset_of(std::string_view text, TextPosition at) {
  std::size_t offset = 0;
  for (int line = 1; line < at.line; ++line)
    offset = text.find('\n', offset) + 1;
  for (int column = 1; column < at.column && offset < text.size(); ++column) {
    ++offset;
    while (offset < text.size() && (static_cast<unsigned char>(text[offset]) & 0xC0U) == 0x80U)
      ++offset;
  }
  return offset;
}

std::size_t line_begin(std::string_view text, std::size_t offset) {
  const std::size_t before = text.rfind('\n', offset == 0 ? 0 : offset - 1);
  return before == std::string_view::npos || offset == 0 ? 0 : before + 1;
}

std::size_t line_end(std::string_view text, std::size_t offset) {
  const std::size_t end = text.find('\n', offset);
  return end == std::string_view::npos ? text.size() : end + 1;
}

/// A NIC parameter may be written under any of its names.
bool is_same_key(std::string_view section, std::string_view written, std::string_view wanted) {
  if (written == wanted) return true;
  if (section != "dcqcn") return false;
  const NicKnob* const knob = find_knob(written);
  return knob != nullptr && knob == find_knob(wanted);
}

const YamlEntry* find_entry(const YamlNode& mapping, std::string_view section,
                            std::string_view key) {
  const auto found =
      std::find_if(mapping.entries.begin(), mapping.entries.end(), [&](const YamlEntry& entry) {
        return section.empty() ? entry.key == key : is_same_key(section, entry.key, key);
      });
  return found == mapping.entries.end() ? nullptr : &*found;
}

std::string comment_line(const ValueEdit& edit, std::size_t indent) {
  if (edit.comment.empty()) return {};
  std::string text = edit.comment;
  std::replace(text.begin(), text.end(), '\n', ' ');
  return fmt::format("{:{}}# {}\n", "", indent, text);
}

std::string replaced_value(std::string text, const YamlEntry& entry, const ValueEdit& edit) {
  const std::size_t begin = offset_of(text, entry.value.at);
  std::size_t length = entry.value.scalar.size();
  if (entry.value.quoted) {
    const char quote = text[begin];
    length = text.find(quote, begin + 1) + 1 - begin;
  }
  text.replace(begin, length, edit.value);
  const std::size_t line = line_begin(text, begin);
  const std::size_t indent = text.find_first_not_of(' ', line) - line;
  text.insert(line, comment_line(edit, indent));
  return text;
}

std::string added_to_section(std::string text, const YamlEntry& section, std::string_view key,
                             const ValueEdit& edit) {
  const std::size_t begin = offset_of(text, section.value.at);
  const bool is_flow =
      !section.value.entries.empty() || section.value.kind == YamlNode::Kind::kMapping;
  if (is_flow && begin < text.size() && text[begin] == '{') {
    text.insert(begin + 1, fmt::format(" {}: {}{}", key, edit.value,
                                       section.value.entries.empty() ? " " : ","));
    const std::size_t line = line_begin(text, begin);
    text.insert(line, comment_line(edit, text.find_first_not_of(' ', line) - line));
    return text;
  }
  const std::size_t indent =
      section.value.entries.empty()
          ? 2
          : static_cast<std::size_t>(section.value.entries.front().at.column - 1);
  const std::size_t after = line_end(text, offset_of(text, section.at));
  const bool is_last_line = after == text.size() && !text.ends_with('\n');
  text.insert(after, fmt::format("{}{}{:{}}{}: {}\n", is_last_line ? "\n" : "",
                                 comment_line(edit, indent), "", indent, key, edit.value));
  return text;
}

Result<std::string> with_edit(std::string text, const ValueEdit& edit) {
  const std::size_t dot = edit.path.find('.');
  WEIR_CHECK(dot != std::string::npos);
  const std::string section_name = edit.path.substr(0, dot);
  const std::string key = edit.path.substr(dot + 1);
  const YamlDocument document = parse_yaml(text);
  if (!document.errors.empty()) return parse_error(document.errors.front().message);
  const YamlEntry* const section = find_entry(document.root, "", section_name);
  if (section == nullptr) {
    if (!text.empty() && !text.ends_with('\n')) text += '\n';
    return text +
           fmt::format("\n{}:\n{}  {}: {}\n", section_name, comment_line(edit, 2), key, edit.value);
  }
  if (section->value.kind != YamlNode::Kind::kMapping && !section->value.is_empty())
    return invalid_error(fmt::format("line {}: {} is {}, not a section", section->at.line,
                                     section_name, describe_kind(section->value)));
  const YamlEntry* const entry = find_entry(section->value, section_name, key);
  if (entry == nullptr) return added_to_section(std::move(text), *section, key, edit);
  if (entry->value.kind != YamlNode::Kind::kScalar || entry->value.is_empty())
    return invalid_error(fmt::format("line {}: {} is {}, not a value", entry->at.line, edit.path,
                                     describe_kind(entry->value)));
  return replaced_value(std::move(text), *entry, edit);
}

}  // namespace

Result<std::string> edited(std::string_view text, const std::vector<ValueEdit>& edits) {
  std::string out(text);
  for (const ValueEdit& edit : edits) {
    WEIR_TRY(changed, with_edit(std::move(out), edit));
    out = std::move(changed);
  }
  return out;
}

std::string lines_of(const std::vector<ValueEdit>& edits) {
  std::string out;
  std::string open;
  std::vector<ValueEdit> sorted = edits;
  std::stable_sort(sorted.begin(), sorted.end(), [](const ValueEdit& a, const ValueEdit& b) {
    return a.path.substr(0, a.path.find('.')) < b.path.substr(0, b.path.find('.'));
  });
  for (const ValueEdit& edit : sorted) {
    const std::size_t dot = edit.path.find('.');
    if (const std::string section = edit.path.substr(0, dot); section != open) {
      out += section + ":\n";
      open = section;
    }
    out += fmt::format("  {}: {}{}\n", edit.path.substr(dot + 1), edit.value,
                       edit.comment.empty() ? "" : "  # " + edit.comment);
  }
  return out;
}

}  // namespace weir::design

#include "design/file/edit.h"

#include <algorithm>
#include <optional>

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

/// How long a value is in the file, in one piece of one line; none where it is not.
std::optional<std::size_t> written_length(std::string_view text, const YamlNode& value) {
  const std::string_view rest = text.substr(offset_of(text, value.at));
  if (!value.quoted) {
    if (!rest.starts_with(value.scalar)) return std::nullopt;
    return value.scalar.size();
  }
  // Block scalars (| and >) count as quoted, too.
  if (!rest.starts_with('"') && !rest.starts_with('\'')) return std::nullopt;
  const std::size_t end = rest.find(rest.front(), 1);
  if (end > rest.find('\n')) return std::nullopt;
  return end + 1;
}

Error wrong_form(const ValueEdit& edit, TextPosition at) {
  return invalid_error(
      fmt::format("line {}: {} cannot be put into a file of this form; put it in by hand, {}",
                  at.line, edit.path, edit.value));
}

Result<std::string> replaced_value(std::string text, const YamlEntry& entry,
                                   const ValueEdit& edit) {
  const std::size_t begin = offset_of(text, entry.value.at);
  const auto length = written_length(text, entry.value);
  if (!length) return wrong_form(edit, entry.at);
  text.replace(begin, *length, edit.value);
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

bool says_the_same(const YamlNode& a, const YamlNode& b) {
  return a.kind == b.kind && a.scalar == b.scalar && a.quoted == b.quoted &&
         std::equal(a.items.begin(), a.items.end(), b.items.begin(), b.items.end(),
                    says_the_same) &&
         std::equal(a.entries.begin(), a.entries.end(), b.entries.begin(), b.entries.end(),
                    [](const YamlEntry& x, const YamlEntry& y) {
                      return x.key == y.key && says_the_same(x.value, y.value);
                    });
}

YamlEntry entry_of(const std::string& key, YamlNode value) {
  return {key, {}, std::move(value)};
}

/// What the file has to say after the edit: the value where one is, a key before the others of its
/// section, a section after the others.
YamlNode edited_tree(YamlNode root, const std::string& section_name, const std::string& key,
                     YamlNode value) {
  const YamlEntry* const section = find_entry(root, "", section_name);
  if (section == nullptr) {
    YamlNode made;
    made.kind = YamlNode::Kind::kMapping;
    made.entries.push_back(entry_of(key, std::move(value)));
    root.entries.push_back(entry_of(section_name, std::move(made)));
    return root;
  }
  YamlNode& mapping = root.entries[static_cast<std::size_t>(section - root.entries.data())].value;
  mapping.kind = YamlNode::Kind::kMapping;
  mapping.scalar.clear();
  std::vector<YamlEntry>& entries = mapping.entries;
  if (const YamlEntry* const found = find_entry(mapping, section_name, key)) {
    entries[static_cast<std::size_t>(found - entries.data())].value = std::move(value);
  } else {
    entries.insert(entries.begin(), entry_of(key, std::move(value)));
  }
  return root;
}

Result<std::string> put_in(std::string text, const YamlNode& root, const std::string& section_name,
                           const std::string& key, const ValueEdit& edit) {
  const YamlEntry* const section = find_entry(root, "", section_name);
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

/// YAML can write one thing in many forms (a value over several lines, a file in braces): one that
/// is not foreseen here must not become another design.
Result<std::string> with_edit(const std::string& text, const ValueEdit& edit) {
  const std::size_t dot = edit.path.find('.');
  WEIR_CHECK(dot != std::string::npos);
  const std::string section_name = edit.path.substr(0, dot);
  const std::string key = edit.path.substr(dot + 1);
  const YamlDocument document = parse_yaml(text);
  if (!document.errors.empty()) return parse_error(document.errors.front().message);
  WEIR_TRY(out, put_in(text, document.root, section_name, key, edit));
  const YamlDocument after = parse_yaml(out);
  const YamlDocument value = parse_yaml(fmt::format("{}: {}\n", key, edit.value));
  if (after.errors.empty() && value.errors.empty() && value.root.entries.size() == 1 &&
      says_the_same(after.root, edited_tree(document.root, section_name, key,
                                            value.root.entries.front().value)))
    return out;
  const YamlEntry* const section = find_entry(document.root, "", section_name);
  return wrong_form(edit, section != nullptr ? section->at : document.root.at);
}

}  // namespace

Result<std::string> edited(std::string_view text, const std::vector<ValueEdit>& edits) {
  std::string out(text);
  for (const ValueEdit& edit : edits) {
    WEIR_TRY(changed, with_edit(out, edit));
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

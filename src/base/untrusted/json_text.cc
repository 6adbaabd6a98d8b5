#include "base/untrusted/json_text.h"

#include <algorithm>

#include <fmt/format.h>

#include "base/json.h"

namespace weir {

std::string json_in_one_line(const Json& value) {
  return value.dump(-1, ' ', false, Json::error_handler_t::replace);
}

void append_json_text(std::string_view text, std::string& out) {
  const bool is_plain = std::all_of(text.begin(), text.end(), [](char c) {
    return c >= ' ' && c < '\x7f' && c != '"' && c != '\\';
  });
  if (!is_plain) {
    out += json_in_one_line(text);
    return;
  }
  out += '"';
  out += text;
  out += '"';
}

void append_json(const Json& value, std::string& out) {
  if (value.is_boolean())
    out += value.get<bool>() ? "true" : "false";
  else if (value.is_number_unsigned())
    out += fmt::format_int(value.get<std::uint64_t>()).c_str();
  else if (value.is_number_integer())
    out += fmt::format_int(value.get<std::int64_t>()).c_str();
  else if (value.is_string())
    append_json_text(value.get_ref<const std::string&>(), out);
  else
    out += json_in_one_line(value);
}

void append_json_lines(const Json& value, std::size_t level, std::string& out) {
  constexpr std::size_t kBlanks = 2;
  if (!value.is_structured() || value.empty()) return append_json(value, out);
  const bool is_object = value.is_object();
  bool is_first = true;
  out += is_object ? '{' : '[';
  for (auto member = value.begin(); member != value.end(); ++member) {
    out += is_first ? "\n" : ",\n";
    is_first = false;
    out.append((level + 1) * kBlanks, ' ');
    if (is_object) {
      append_json_text(member.key(), out);
      out += ": ";
    }
    append_json_lines(*member, level + 1, out);
  }
  out += '\n';
  out.append(level * kBlanks, ' ');
  out += is_object ? '}' : ']';
}

}  // namespace weir

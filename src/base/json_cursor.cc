#include "base/json_cursor.h"

#include <limits>

#include "base/json.h"

namespace weir {
namespace {

/// RFC 6901, section 3: `~` and `/` cannot stand in a pointer as they are.
std::string escaped(std::string_view key) {
  std::string out;
  for (const char c : key) {
    if (c == '~') {
      out += "~0";
    } else if (c == '/') {
      out += "~1";
    } else {
      out.push_back(c);
    }
  }
  return out;
}

}  // namespace

std::string JsonCursor::pointer() const {
  if (parent_ == nullptr) return "";
  const bool is_element = parent_->value_->is_array();
  return parent_->pointer() + "/" + (is_element ? std::to_string(index_) : escaped(key_));
}

std::optional<JsonCursor> JsonCursor::find(std::string_view key) const {
  const auto at = value_->find(key);
  if (at == value_->end() || at->is_null()) return std::nullopt;
  return JsonCursor(*at, *this, key, 0);
}

Result<JsonCursor> JsonCursor::member(std::string_view key) const {
  if (const auto found = find(key)) return *found;
  return parse_error(pointer() + "/" + escaped(key) + ": missing");
}

JsonCursor JsonCursor::at(std::size_t index) const {
  WEIR_CHECK(value_->is_array() && index < value_->size());
  return {(*value_)[index], *this, "", index};
}

std::size_t JsonCursor::size() const {
  WEIR_CHECK(value_->is_array());
  return value_->size();
}

Status JsonCursor::expect_object() const {
  if (value_->is_object()) return {};
  return wrong("an object");
}

Status JsonCursor::expect_array() const {
  if (value_->is_array()) return {};
  return wrong("a list");
}

Result<bool> JsonCursor::boolean() const {
  if (!value_->is_boolean()) return wrong("true or false");
  return value_->get<bool>();
}

Result<std::string> JsonCursor::text() const {
  if (!value_->is_string()) return wrong("a text");
  return value_->get<std::string>();
}

Result<std::uint64_t> JsonCursor::whole_number() const {
  // Numbers made in the program may be signed; those of a text are unsigned unless they carry a
  // minus.
  if (value_->is_number_unsigned()) return value_->get<std::uint64_t>();
  if (value_->is_number_integer() && value_->get<std::int64_t>() >= 0)
    return static_cast<std::uint64_t>(value_->get<std::int64_t>());
  return wrong("a whole number, not negative");
}

Result<std::int64_t> JsonCursor::integer() const {
  constexpr auto kLargest = static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max());
  if (value_->is_number_unsigned() && value_->get<std::uint64_t>() > kLargest)
    return wrong("an integer of 64 bits with a sign");
  if (!value_->is_number_integer()) return wrong("an integer");
  return value_->get<std::int64_t>();
}

Result<double> JsonCursor::number() const {
  if (!value_->is_number()) return wrong("a number");
  return value_->get<double>();
}

Error JsonCursor::wrong(std::string_view expected) const {
  constexpr std::size_t kShown = 40;
  std::string found = value_->dump(-1, ' ', false, Json::error_handler_t::replace);
  if (found.size() > kShown) found = found.substr(0, kShown) + "...";
  const std::string place = pointer();
  return parse_error((place.empty() ? "the document" : place) + ": expected " +
                     std::string(expected) + ", found " + found);
}

}  // namespace weir

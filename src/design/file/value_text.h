#pragma once
// How each type of value is written in a design file: read, print, and describe to a JSON Schema.
// One specialisation per type; fields.h names the type only through the member it binds.
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include "base/json_fwd.h"
#include "base/result.h"
#include "design/file/fabric.h"
#include "design/file/words.h"

namespace weir::design {

/// Reads a scalar of the file. The error says what was expected and quotes what was found.
template <class T>
struct ValueText;  // static Result<T> parse(std::string_view); static std::string print(const T&);
                   // static Json schema(); except enumerations and AutoOr (see schema.cc)

[[nodiscard]] Result<std::size_t> parse_word(std::string_view text,
                                             const std::vector<std::string>& allowed);
[[nodiscard]] Json word_schema(const std::vector<std::string>& allowed);
[[nodiscard]] Json auto_or_schema(const Json& inner);

template <class E>
requires std::is_enum_v<E>
struct ValueText<E> {
  static std::vector<std::string> all() {
    std::vector<std::string> names;
    for (const auto& entry : words(E{}))
      names.emplace_back(entry.word);
    return names;
  }
  static Result<E> parse(std::string_view text) {
    WEIR_TRY(index, parse_word(text, all()));
    return words(E{})[index].value;
  }
  static std::string print(const E& value) { return std::string(to_word(value)); }
};

#define WEIR_VALUE_TEXT(Type)                         \
  template <>                                         \
  struct ValueText<Type> {                            \
    static Result<Type> parse(std::string_view text); \
    static std::string print(const Type& value);      \
    static Json schema();                             \
  }

WEIR_VALUE_TEXT(bool);
WEIR_VALUE_TEXT(int);
WEIR_VALUE_TEXT(std::string);
WEIR_VALUE_TEXT(NamePattern);
WEIR_VALUE_TEXT(Bytes);
WEIR_VALUE_TEXT(Duration);
WEIR_VALUE_TEXT(BitRate);
WEIR_VALUE_TEXT(Length);
WEIR_VALUE_TEXT(Share);
WEIR_VALUE_TEXT(Alpha);
WEIR_VALUE_TEXT(Pcp);
WEIR_VALUE_TEXT(Priority);
WEIR_VALUE_TEXT(TrafficClass);
WEIR_VALUE_TEXT(Queue);
WEIR_VALUE_TEXT(TosByte);
WEIR_VALUE_TEXT(DscpSet);                   // 26, "24-31", or a list of them
WEIR_VALUE_TEXT(PrioritySet);               // 3, or a list
WEIR_VALUE_TEXT(std::vector<std::string>);  // one, or a list
WEIR_VALUE_TEXT(PortSpec);                  // 64, names, or PEER=NAME; a mapping as well
#undef WEIR_VALUE_TEXT

template <class T>
struct ValueText<AutoOr<T>> {
  static Result<AutoOr<T>> parse(std::string_view text) {
    if (text == "auto") return AutoOr<T>{};
    auto value = ValueText<T>::parse(text);
    if (!value)
      return parse_error("expected auto, or " + value.error().what.substr(sizeof("expected")));
    return AutoOr<T>{false, *std::move(value)};
  }
  static std::string print(const AutoOr<T>& v) {
    return v.is_auto ? "auto" : ValueText<T>::print(v.value);
  }
};

/// Types that may also be written as a YAML list; the items are joined by ',' before parsing.
template <class T>
inline constexpr bool kMayBeList =
    std::is_same_v<T, DscpSet> || std::is_same_v<T, PrioritySet> ||
    std::is_same_v<T, std::vector<std::string>> || std::is_same_v<T, PortSpec>;
/// Types that may be written as a mapping: joined as KEY=VALUE, one for each value.
template <class T>
inline constexpr bool kMayBeMapping = std::is_same_v<T, PortSpec>;

}  // namespace weir::design

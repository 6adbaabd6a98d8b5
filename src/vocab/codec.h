#pragma once
// How the types of the domain look in JSON: out, in, and as a schema. The one codec of settings,
// evidence, journals and labs. Quantities are integers in the unit their key names; sets of
// priorities are lists; an optional value is null; a list of known length must have it.
//
// Reads JSON, so only files that write or parse it include this.
#include <array>
#include <limits>
#include <optional>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "base/json.h"
#include "base/json_cursor.h"
#include "units/qos_code.h"
#include "units/quantity.h"
#include "vocab/enum_names.h"

namespace weir::vocab {

template <class T>
struct Codec;

// Schemas that templates below share: written here once, not compiled for each type.
Json whole_number_schema();
Json whole_number_schema(unsigned largest);
Json list_schema(Json items);
Json list_schema(Json items, std::size_t length);

template <class E>
requires std::is_enum_v<E>
struct Codec<E> {
  static Json write(E value) { return enum_name(value); }
  static Result<E> read(const JsonCursor& at) {
    const auto& names = EnumNames<E>::kNames;
    WEIR_TRY(text, at.text());
    for (std::size_t i = 0; i < names.size(); ++i) {
      if (names[i] == text) return static_cast<E>(i);
    }
    std::string expected = "one of";
    for (const std::string_view name : names)
      expected += " " + std::string(name);
    return at.wrong(expected);
  }
  static Json schema() { return {{"type", "string"}, {"enum", EnumNames<E>::kNames}}; }
};

template <>
struct Codec<bool> {
  static Json write(bool value) { return value; }
  static Result<bool> read(const JsonCursor& at) { return at.boolean(); }
  static Json schema() { return {{"type", "boolean"}}; }
};

template <>
struct Codec<std::string> {
  static Json write(const std::string& value) { return value; }
  static Result<std::string> read(const JsonCursor& at) { return at.text(); }
  static Json schema() { return {{"type", "string"}}; }
};

template <>
struct Codec<std::int64_t> {
  static Json write(std::int64_t value) { return value; }
  static Result<std::int64_t> read(const JsonCursor& at) { return at.integer(); }
  static Json schema() { return {{"type", "integer"}}; }
};

template <>
struct Codec<std::uint64_t> {
  static Json write(std::uint64_t value) { return value; }
  static Result<std::uint64_t> read(const JsonCursor& at) { return at.whole_number(); }
  static Json schema() { return whole_number_schema(); }
};

/// Of results, never of settings: those are whole numbers. REQUIRES: finite.
template <>
struct Codec<double> {
  static Json write(double value) { return value; }
  static Result<double> read(const JsonCursor& at) { return at.number(); }
  static Json schema() { return {{"type", "number"}}; }
};

template <>
struct Codec<unsigned> {
  static constexpr unsigned kLargest = std::numeric_limits<unsigned>::max();
  static Json write(unsigned value) { return value; }
  static Result<unsigned> read(const JsonCursor& at) {
    WEIR_TRY(number, at.whole_number());
    if (number > kLargest) return at.wrong("a whole number of 32 bits");
    return static_cast<unsigned>(number);
  }
  static Json schema() { return whole_number_schema(kLargest); }
};

/// Bytes, bits per second, millimetres, parts per million; none of them is negative in evidence.
template <class Tag>
struct Codec<Quantity<Tag>> {
  static Json write(Quantity<Tag> value) { return value.raw(); }
  static Result<Quantity<Tag>> read(const JsonCursor& at) {
    WEIR_TRY(number, at.integer());
    if (number < 0) return at.wrong("a whole number, not negative");
    return Quantity<Tag>::raw(number);
  }
  static Json schema() { return whole_number_schema(); }
};

/// Nanoseconds: timers of switches are no finer.
template <>
struct Codec<Duration> {
  static constexpr std::int64_t kPicoseconds = 1000;
  static Json write(Duration value) { return value.raw() / kPicoseconds; }
  static Result<Duration> read(const JsonCursor& at) {
    WEIR_TRY(number, at.integer());
    if (number < 0 || number > Duration::max().raw() / kPicoseconds)
      return at.wrong("nanoseconds, not negative, at most 106 days");
    return Duration::raw(number * kPicoseconds);
  }
  static Json schema() { return whole_number_schema(); }
};

template <class Tag, unsigned Limit>
struct Codec<Code<Tag, Limit>> {
  static Json write(Code<Tag, Limit> value) { return value.value(); }
  static Result<Code<Tag, Limit>> read(const JsonCursor& at) {
    WEIR_TRY(number, at.whole_number());
    if (const auto code = Code<Tag, Limit>::make(number)) return *code;
    return at.wrong("a whole number below " + std::to_string(Limit));
  }
  static Json schema() { return whole_number_schema(Limit - 1); }
};

template <>
struct Codec<Alpha> {
  static Json write(Alpha value) { return value.log2(); }
  static Result<Alpha> read(const JsonCursor& at) {
    WEIR_TRY(number, at.integer());
    if (number < Alpha::kMinLog2 || number > Alpha::kMaxLog2)
      return at.wrong("a power of two from -15 to 7");
    return Alpha::from_log2(static_cast<int>(number));
  }
  static Json schema() {
    return {{"type", "integer"}, {"minimum", Alpha::kMinLog2}, {"maximum", Alpha::kMaxLog2}};
  }
};

template <>
struct Codec<PrioritySet> {
  static Json write(PrioritySet value) {
    Json out = Json::array();
    for (unsigned p = 0; p < Priority::kLimit; ++p) {
      if (value.contains(Priority::of(p))) out.push_back(p);
    }
    return out;
  }
  static Result<PrioritySet> read(const JsonCursor& at) {
    WEIR_TRY_STATUS(at.expect_array());
    PrioritySet set;
    for (std::size_t i = 0; i < at.size(); ++i) {
      WEIR_TRY(priority, Codec<Priority>::read(at.at(i)));
      set.insert(priority);
    }
    return set;
  }
  static Json schema() {
    return {{"type", "array"}, {"items", Codec<Priority>::schema()}, {"uniqueItems", true}};
  }
};

template <class T>
struct Codec<std::optional<T>> {
  static Json write(const std::optional<T>& value) {
    return value ? Codec<T>::write(*value) : Json(nullptr);
  }
  static Result<std::optional<T>> read(const JsonCursor& at) {
    if (at.value().is_null()) return std::optional<T>();
    WEIR_TRY(value, Codec<T>::read(at));
    return std::optional<T>(std::move(value));
  }
  static Json schema() {
    Json schema = Codec<T>::schema();
    schema["type"] = Json::array({schema["type"], "null"});
    return schema;
  }
};

template <class T, std::size_t N>
struct Codec<std::array<T, N>> {
  static Json write(const std::array<T, N>& values) {
    Json out = Json::array();
    for (const T& value : values)
      out.push_back(Codec<T>::write(value));
    return out;
  }
  static Result<std::array<T, N>> read(const JsonCursor& at) {
    WEIR_TRY_STATUS(at.expect_array());
    if (at.size() != N) return at.wrong("a list of " + std::to_string(N));
    std::array<T, N> values{};
    for (std::size_t i = 0; i < N; ++i) {
      WEIR_TRY(value, Codec<T>::read(at.at(i)));
      values[i] = std::move(value);
    }
    return values;
  }
  static Json schema() { return list_schema(Codec<T>::schema(), N); }
};

template <class T>
struct Codec<std::vector<T>> {
  static Json write(const std::vector<T>& values) {
    Json out = Json::array();
    for (const T& value : values)
      out.push_back(Codec<T>::write(value));
    return out;
  }
  static Result<std::vector<T>> read(const JsonCursor& at) {
    WEIR_TRY_STATUS(at.expect_array());
    std::vector<T> values;
    values.reserve(at.size());
    for (std::size_t i = 0; i < at.size(); ++i) {
      WEIR_TRY(value, Codec<T>::read(at.at(i)));
      values.push_back(std::move(value));
    }
    return values;
  }
  static Json schema() { return list_schema(Codec<T>::schema()); }
};

}  // namespace weir::vocab

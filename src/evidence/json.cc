#include "evidence/json.h"

#include <array>
#include <limits>
#include <optional>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "base/json.h"
#include "base/json_cursor.h"
#include "evidence/enum_names.h"
#include "evidence/fields.h"

namespace weir::evidence {
namespace {

/// How a type looks in JSON: out, in, and as a schema. Quantities are integers in the unit their
/// key names; sets of priorities are lists; an optional value is null; a list of known length must
/// have it.
template <class T>
struct Codec;

/// Enumerations come before the visitors, which read why a fact is missing.
template <class E>
requires std::is_enum_v<E>
struct Codec<E> {
  static Json write(E value) { return name_of(value); }
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

// ---- visitors ----

class Writer {
 public:
  template <class T>
  void field(std::string_view key, const T& value, std::string_view /*help*/) {
    add(key, Codec<T>::write(value));
  }
  template <class T>
  void fact(std::string_view key, const Fact<T>& fact, std::string_view /*help*/) {
    if (!fact.was_looked_at()) return;
    Json out = Json::object();
    if (fact.is_known()) {
      out["value"] = Codec<T>::write(fact.value());
    } else {
      out["missing"] = name_of(fact.why());
    }
    if (!fact.source().empty()) out["source"] = fact.source();
    add(key, std::move(out));
  }
  template <class S>
  void section(std::string_view key, const S& section, std::string_view /*help*/) {
    Json out = Codec<S>::write(section);
    if (!out.empty()) add(key, std::move(out));
  }
  template <class S>
  void list(std::string_view key, const std::vector<S>& list, std::string_view /*help*/) {
    add(key, Codec<std::vector<S>>::write(list));
  }
  [[nodiscard]] Json take() { return std::move(out_); }

 private:
  void add(std::string_view key, Json value) {
    out_.emplace_back(std::string(key), std::move(value));
  }
  Json::object_t out_;  // keys are unique by construction
};

/// Stops at the first error. A field that is absent keeps its default; a fact is then not looked
/// at.
class Reader {
 public:
  explicit Reader(const JsonCursor& at) : at_(at) {}

  template <class T>
  void field(std::string_view key, T& out, std::string_view /*help*/) {
    if (error_) return;
    if (const auto found = at_.find(key)) take(Codec<T>::read(*found), out);
  }
  template <class T>
  void fact(std::string_view key, Fact<T>& out, std::string_view /*help*/) {
    if (error_) return;
    if (const auto found = at_.find(key)) take(read_fact<T>(*found), out);
  }
  template <class S>
  void section(std::string_view key, S& out, std::string_view help) {
    field(key, out, help);
  }
  template <class S>
  void list(std::string_view key, std::vector<S>& out, std::string_view help) {
    field(key, out, help);
  }
  [[nodiscard]] const std::optional<Error>& error() const { return error_; }

 private:
  template <class T>
  void take(Result<T> result, T& out) {
    if (result) {
      out = std::move(result).value();
    } else {
      error_ = std::move(result).error();
    }
  }
  template <class T>
  static Result<Fact<T>> read_fact(const JsonCursor& at) {
    WEIR_TRY_STATUS(at.expect_object());
    std::string source;
    if (const auto found = at.find("source")) {
      WEIR_TRY(text, found->text());
      source = std::move(text);
    }
    // A null value is a value (an optional one), so the key counts, not what it holds.
    const auto value = at.value().find("value");
    const auto missing = at.find("missing");
    if ((value != at.value().end()) == missing.has_value())
      return at.wrong("either value or missing");
    if (missing) {
      WEIR_TRY(why, Codec<Missing>::read(*missing));
      return Fact<T>::missing(why, std::move(source));
    }
    const JsonCursor place = at.member("value", *value);
    WEIR_TRY(decoded, Codec<T>::read(place));
    return Fact<T>::of(std::move(decoded), std::move(source));
  }

  const JsonCursor& at_;
  std::optional<Error> error_;
};

class SchemaWriter {
 public:
  template <class T>
  void field(std::string_view key, const T& /*value*/, std::string_view help) {
    add(key, Codec<T>::schema(), help);
    required_.push_back(std::string(key));
  }
  template <class T>
  void fact(std::string_view key, const Fact<T>& /*fact*/, std::string_view help) {
    Json schema = {{"type", "object"},
                   {"properties",
                    {{"value", Codec<T>::schema()},
                     {"missing", Codec<Missing>::schema()},
                     {"source", {{"type", "string"}}}}},
                   {"oneOf", Json::array({{{"required", Json::array({"value"})}},
                                          {{"required", Json::array({"missing"})}}})}};
    add(key, std::move(schema), help);
  }
  template <class S>
  void section(std::string_view key, const S& /*section*/, std::string_view help) {
    add(key, Codec<S>::schema(), help);
  }
  template <class S>
  void list(std::string_view key, const std::vector<S>& /*list*/, std::string_view help) {
    add(key, Codec<std::vector<S>>::schema(), help);
  }
  [[nodiscard]] Json take() {
    Json out = {{"type", "object"}, {"properties", std::move(properties_)}};
    if (!required_.empty()) out["required"] = required_;
    return out;
  }

 private:
  void add(std::string_view key, Json schema, std::string_view help) {
    schema["description"] = help;
    properties_[std::string(key)] = std::move(schema);
  }
  Json properties_ = Json::object();
  std::vector<std::string> required_;
};

// ---- types ----

/// A struct that fields.h describes.
template <class T>
struct Codec {
  static Json write(const T& value) {
    Writer writer;
    visit(writer, value);
    return writer.take();
  }
  static Result<T> read(const JsonCursor& at) {
    WEIR_TRY_STATUS(at.expect_object());
    T value;
    Reader reader(at);
    visit(reader, value);
    if (reader.error()) return *reader.error();
    return value;
  }
  static Json schema() {
    SchemaWriter writer;
    const T value;
    visit(writer, value);
    return writer.take();
  }
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
struct Codec<unsigned> {
  static constexpr std::uint64_t kLargest = std::numeric_limits<unsigned>::max();
  static Json write(unsigned value) { return value; }
  static Result<unsigned> read(const JsonCursor& at) {
    WEIR_TRY(number, at.whole_number());
    if (number > kLargest) return at.wrong("a whole number of 32 bits");
    return static_cast<unsigned>(number);
  }
  static Json schema() { return {{"type", "integer"}, {"minimum", 0}, {"maximum", kLargest}}; }
};

/// Bytes, bits a second, millimetres, parts per million; none of them is negative in evidence.
template <class Tag>
struct Codec<Quantity<Tag>> {
  static Json write(Quantity<Tag> value) { return value.raw(); }
  static Result<Quantity<Tag>> read(const JsonCursor& at) {
    WEIR_TRY(number, at.integer());
    if (number < 0) return at.wrong("a whole number, not negative");
    return Quantity<Tag>::raw(number);
  }
  static Json schema() { return {{"type", "integer"}, {"minimum", 0}}; }
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
  static Json schema() { return {{"type", "integer"}, {"minimum", 0}}; }
};

template <class Tag, unsigned Limit>
struct Codec<Code<Tag, Limit>> {
  static Json write(Code<Tag, Limit> value) { return value.value(); }
  static Result<Code<Tag, Limit>> read(const JsonCursor& at) {
    WEIR_TRY(number, at.whole_number());
    if (const auto code = Code<Tag, Limit>::make(number)) return *code;
    return at.wrong("a whole number below " + std::to_string(Limit));
  }
  static Json schema() { return {{"type", "integer"}, {"minimum", 0}, {"maximum", Limit - 1}}; }
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
  static Json schema() {
    return {{"type", "array"}, {"items", Codec<T>::schema()}, {"minItems", N}, {"maxItems", N}};
  }
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
  static Json schema() { return {{"type", "array"}, {"items", Codec<T>::schema()}}; }
};

// ---- the document ----

template <class T>
Status read_into(const JsonCursor& root, std::string_view key, T& out) {
  const auto at = root.find(key);
  if (!at) return {};
  WEIR_TRY(value, Codec<T>::read(*at));
  out = std::move(value);
  return {};
}

Status read_snapshots(const JsonCursor& root, std::vector<counters::Snapshot>& out) {
  const auto list = root.find("snapshots");
  if (!list) return {};
  WEIR_TRY_STATUS(list->expect_array());
  for (std::size_t i = 0; i < list->size(); ++i) {
    WEIR_TRY(snapshot, counters::snapshot_from_json(list->at(i)));
    out.push_back(std::move(snapshot));
  }
  return {};
}

}  // namespace

Json to_json(const Evidence& evidence) {
  Json out = {{"schema", "weir/evidence/1"},
              {"provenance", Codec<Provenance>::write(evidence.provenance)},
              {"host", Codec<Host>::write(evidence.host)},
              {"nics", Codec<std::vector<Nic>>::write(evidence.nics)},
              {"gpus", Codec<std::vector<Gpu>>::write(evidence.gpus)},
              {"distances", Codec<std::vector<GpuDistance>>::write(evidence.distances)},
              {"switches", Codec<std::vector<Switch>>::write(evidence.switches)},
              {"gaps", Codec<std::vector<Gap>>::write(evidence.gaps)},
              {"snapshots", Json::array()}};
  for (const counters::Snapshot& snapshot : evidence.snapshots)
    out["snapshots"].push_back(counters::to_json(snapshot));
  return out;
}

Result<Evidence> evidence_from_json(const Json& json) {
  const JsonCursor root(json);
  WEIR_TRY_STATUS(root.expect_object());
  Evidence out;
  WEIR_TRY(provenance_place, root.member("provenance"));
  WEIR_TRY(provenance, Codec<Provenance>::read(provenance_place));
  out.provenance = std::move(provenance);
  WEIR_TRY_STATUS(read_into(root, "host", out.host));
  WEIR_TRY_STATUS(read_into(root, "nics", out.nics));
  WEIR_TRY_STATUS(read_into(root, "gpus", out.gpus));
  WEIR_TRY_STATUS(read_into(root, "distances", out.distances));
  WEIR_TRY_STATUS(read_into(root, "switches", out.switches));
  WEIR_TRY_STATUS(read_into(root, "gaps", out.gaps));
  WEIR_TRY_STATUS(read_snapshots(root, out.snapshots));
  return out;
}

Json to_json(const Switch& sw) {
  return Codec<Switch>::write(sw);
}

Result<Switch> switch_from_json(const JsonCursor& at) {
  return Codec<Switch>::read(at);
}

Json evidence_properties() {
  return {{"schema", {{"const", "weir/evidence/1"}}},
          {"provenance", Codec<Provenance>::schema()},
          {"host", Codec<Host>::schema()},
          {"nics", Codec<std::vector<Nic>>::schema()},
          {"gpus", Codec<std::vector<Gpu>>::schema()},
          {"distances", Codec<std::vector<GpuDistance>>::schema()},
          {"switches", Codec<std::vector<Switch>>::schema()},
          {"gaps", Codec<std::vector<Gap>>::schema()}};
}

}  // namespace weir::evidence

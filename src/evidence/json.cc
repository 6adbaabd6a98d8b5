#include "evidence/json.h"

#include <algorithm>
#include <optional>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "base/json.h"
#include "base/json_cursor.h"
#include "base/untrusted/json_parse.h"
#include "base/untrusted/json_text.h"
#include "evidence/enum_names.h"
#include "evidence/fields.h"
#include "evidence/names.h"
#include "vocab/codec.h"

namespace weir::evidence {
namespace {

using vocab::Codec;

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
    if (fact.is_known()) {
      add_fact(key, "value", Codec<T>::write(fact.value()), fact.source());
    } else {
      add_fact(key, "missing", vocab::enum_name(fact.why()), fact.source());
    }
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
  void add_fact(std::string_view key, const char* what, Json value, const std::string& source) {
    Json out = Json::object();
    out[what] = std::move(value);
    if (!source.empty()) out["source"] = source;
    add(key, std::move(out));
  }
  Json::object_t out_;  // keys are unique by construction
};

/// A fact before its value is decoded: either `missing` or `value` is there.
struct FactParts {
  std::string source;
  std::optional<Missing> missing;
  std::optional<JsonCursor> value;
};

Result<FactParts> fact_parts(const JsonCursor& at) {
  WEIR_TRY_STATUS(at.expect_object());
  FactParts parts;
  if (const auto found = at.find("source")) {
    WEIR_TRY(text, found->text());
    parts.source = std::move(text);
  }
  // A null value is a value (an optional one), so the key counts, not what it holds.
  const auto value = at.value().find("value");
  const auto missing = at.find("missing");
  if ((value != at.value().end()) == missing.has_value())
    return at.wrong("either value or missing");
  if (missing) {
    WEIR_TRY(why, Codec<Missing>::read(*missing));
    parts.missing = why;
  } else {
    parts.value = at.member("value", *value);
  }
  return parts;
}

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
    WEIR_TRY(parts, fact_parts(at));
    if (parts.missing) return Fact<T>::missing(*parts.missing, std::move(parts.source));
    WEIR_TRY(decoded, Codec<T>::read(*parts.value));
    return Fact<T>::of(std::move(decoded), std::move(parts.source));
  }

  const JsonCursor& at_;
  std::optional<Error> error_;
};

/// Not a part of the visitor: it would be compiled once for each type of a fact.
Json fact_schema(Json value) {
  return {{"type", "object"},
          {"properties",
           {{"value", std::move(value)},
            {"missing", Codec<Missing>::schema()},
            {"source", {{"type", "string"}}}}},
          {"oneOf", Json::array({{{"required", Json::array({"value"})}},
                                 {{"required", Json::array({"missing"})}}})}};
}

class SchemaWriter {
 public:
  template <class T>
  void field(std::string_view key, const T& /*value*/, std::string_view help) {
    add(key, Codec<T>::schema(), help);
    required_.push_back(std::string(key));
  }
  template <class T>
  void fact(std::string_view key, const Fact<T>& /*fact*/, std::string_view help) {
    add(key, fact_schema(Codec<T>::schema()), help);
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

template <class T>
concept Described = requires(Writer& writer, const T& value) {
  evidence::visit(writer, value);
};

}  // namespace
}  // namespace weir::evidence

namespace weir::vocab {

/// A struct that fields.h describes.
template <evidence::Described T>
struct Codec<T> {
  static Json write(const T& value) {
    evidence::Writer writer;
    visit(writer, value);
    return writer.take();
  }
  static Result<T> read(const JsonCursor& at) {
    WEIR_TRY_STATUS(at.expect_object());
    T value;
    evidence::Reader reader(at);
    visit(reader, value);
    if (reader.error()) return *reader.error();
    return value;
  }
  static Json schema() {
    evidence::SchemaWriter writer;
    const T value;
    visit(writer, value);
    return writer.take();
  }
};

}  // namespace weir::vocab

namespace weir::evidence {

// ---- text without a document ----

/// The last list of each kind that was written, with its text.
class FactWriter::Kept {
 public:
  template <class S>
  struct Last {
    std::vector<S> list;
    std::string text;
  };
  Last<GroupBuffer> groups;
  Last<EgressQueue> queues;
};

namespace {

template <class T>
struct IsList : std::false_type {};
template <class T>
struct IsList<std::vector<T>> : std::bool_constant<Described<T>> {};

/// As Writer, into a text.
template <class Kept>
class TextWriter {
 public:
  TextWriter(std::string& out, Kept& kept) : out_(out), kept_(kept) {}

  template <class T>
  void field(std::string_view key, const T& value, std::string_view /*help*/) {
    begin(key);
    append(value);
  }
  template <class T>
  void fact(std::string_view key, const Fact<T>& fact, std::string_view /*help*/) {
    if (!fact.was_looked_at()) return;
    begin(key);
    if (fact.is_known()) {
      out_ += R"({"value":)";
      append(fact.value());
    } else {
      out_ += R"({"missing":)";
      append_json(vocab::enum_name(fact.why()), out_);
    }
    if (!fact.source().empty()) {
      out_ += R"(,"source":)";
      append_json_text(fact.source(), out_);
    }
    out_ += '}';
  }
  template <class S>
  void section(std::string_view key, const S& section, std::string_view /*help*/) {
    const std::size_t before = out_.size();
    const bool was_first = is_first_;
    begin(key);
    const std::size_t start = out_.size();
    append(section);
    if (out_.size() > start + 2) return;
    out_.resize(before);  // "{}": nobody looked
    is_first_ = was_first;
  }
  template <class S>
  void list(std::string_view key, const std::vector<S>& list, std::string_view /*help*/) {
    begin(key);
    append(list);
  }

  template <class T>
  void append(const T& value) {
    if constexpr (Described<T>) {
      const bool was_first = is_first_;
      is_first_ = true;
      out_ += '{';
      visit(*this, value);
      out_ += '}';
      is_first_ = was_first;
    } else if constexpr (IsList<T>::value) {
      append_list(value);
    } else {
      append_json(Codec<T>::write(value), out_);
    }
  }

 private:
  void begin(std::string_view key) {
    if (!is_first_) out_ += ',';
    is_first_ = false;
    out_ += '"';
    out_ += key;
    out_ += "\":";
  }
  template <class S>
  void append_list(const std::vector<S>& list) {
    if constexpr (std::is_same_v<S, GroupBuffer>) {
      append_again(list, kept_.groups);
    } else if constexpr (std::is_same_v<S, EgressQueue>) {
      append_again(list, kept_.queues);
    } else {
      append_each(list);
    }
  }
  template <class S, class Last>
  void append_again(const std::vector<S>& list, Last& last) {
    if (last.text.empty() || last.list != list) {
      const std::size_t start = out_.size();
      append_each(list);
      last = {list, out_.substr(start)};
      return;
    }
    out_ += last.text;
  }
  template <class S>
  void append_each(const std::vector<S>& list) {
    out_ += '[';
    for (std::size_t i = 0; i < list.size(); ++i) {
      if (i > 0) out_ += ',';
      append(list[i]);
    }
    out_ += ']';
  }

  std::string& out_;
  Kept& kept_;
  bool is_first_ = true;
};

}  // namespace

FactWriter::FactWriter() : kept_(std::make_unique<Kept>()) {}
FactWriter::~FactWriter() = default;

void FactWriter::append(const Evidence& evidence, std::string& out) {
  TextWriter writer(out, *kept_);
  const auto member = [&](std::string_view key, const auto& value) {
    out += key;
    writer.append(value);
  };
  member(R"({"schema":"weir/evidence/1","provenance":)", evidence.provenance);
  member(R"(,"host":)", evidence.host);
  member(R"(,"nics":)", evidence.nics);
  member(R"(,"gpus":)", evidence.gpus);
  member(R"(,"distances":)", evidence.distances);
  member(R"(,"switches":)", evidence.switches);
  member(R"(,"gaps":)", evidence.gaps);
  out += R"(,"snapshots":[]})";
}

// ---- the same text, read ----

/// Values by their text.
class FactReader::Kept {
 public:
  /// nullptr where it is no JSON.
  const Json* parsed(std::string_view text) {
    constexpr std::size_t kMost = 20'000;
    text_ = text;
    const auto known = values_.find(text_);
    if (known != values_.end()) return &known->second;
    auto value = parse_json(text);
    if (!value) return nullptr;
    if (values_.size() == kMost) values_.clear();
    return &values_.emplace(text_, std::move(*value)).first->second;
  }

  template <class S>
  struct Last {
    std::string text;
    SharedList<S> list;
  };
  Last<GroupBuffer>& last(const SharedList<GroupBuffer>& /*kind*/) { return groups_; }
  Last<EgressQueue>& last(const SharedList<EgressQueue>& /*kind*/) { return queues_; }

 private:
  std::string text_;
  std::unordered_map<std::string, Json> values_;
  Last<GroupBuffer> groups_;
  Last<EgressQueue> queues_;
};

namespace {

/// The length of the JSON value that `text` begins with; as far as brackets and quotes tell.
std::size_t value_length(std::string_view text) {
  std::size_t depth = 0;
  for (std::size_t at = 0; at < text.size(); ++at) {
    const char c = text[at];
    if (c == '"') {
      for (++at; at < text.size() && text[at] != '"'; ++at)
        if (text[at] == '\\') ++at;
      if (depth == 0) return std::min(at + 1, text.size());
    } else if (c == '{' || c == '[') {
      ++depth;
    } else if (c == '}' || c == ']' || c == ',') {
      if (depth == 0) return at;
      if (c != ',' && --depth == 0) return at + 1;
    }
  }
  return text.size();
}

/// A visitor that reads the text of TextWriter, whose keys stand in the order of the description.
template <class Kept>
class TextReader {
 public:
  TextReader(std::string_view text, Kept& kept) : rest_(text), kept_(kept) {}

  template <class T>
  void field(std::string_view key, T& out, std::string_view /*help*/) {
    if (enter(key)) read(out);
  }
  template <class T>
  void fact(std::string_view key, Fact<T>& out, std::string_view /*help*/) {
    if (!enter(key)) return;
    if (take(R"({"value":)")) {
      T value{};
      read(value);
      std::string source = take_source();
      out = Fact<T>::of(std::move(value), std::move(source));
    } else if (take(R"({"missing":)")) {
      Missing why = Missing::kAbsent;
      read(why);
      out = Fact<T>::missing(why, take_source());
    } else {
      is_good_ = false;
    }
    expect("}");
  }
  template <class S>
  void section(std::string_view key, S& out, std::string_view /*help*/) {
    if (enter(key)) read(out);
  }
  template <class S>
  void list(std::string_view key, std::vector<S>& out, std::string_view /*help*/) {
    if (enter(key)) read(out);
  }
  template <class S>
  void shared_list(std::string_view key, SharedList<S>& out) {
    if (!enter(key)) return;
    const std::string_view text = rest_.substr(0, value_length(rest_));
    auto& last = kept_.last(out);
    if (last.text != text) {
      std::vector<S> items;
      read(items);
      last = {std::string(text), SharedList<S>(std::move(items))};
    } else {
      rest_.remove_prefix(text.size());
    }
    out = last.list;
  }

  template <class T>
  void read(T& out) {
    if constexpr (Described<T>) {
      const bool was_first = std::exchange(is_first_, true);
      expect("{");
      if (is_good_) visit(*this, out);
      expect("}");
      is_first_ = was_first;
    } else if constexpr (IsList<T>::value) {
      read_list(out);
    } else {
      read_value(out);
    }
  }
  void expect(std::string_view text) {
    if (!take(text)) is_good_ = false;
  }
  [[nodiscard]] bool is_done() const { return is_good_ && rest_.empty(); }

 private:
  bool take(std::string_view text) {
    if (!is_good_ || !rest_.starts_with(text)) return false;
    rest_.remove_prefix(text.size());
    return true;
  }
  /// Moves behind `"key":`; false where another key is next. A null is as good as no key.
  bool enter(std::string_view key) {
    const std::size_t start = is_first_ ? 0 : 1;
    const std::size_t length = start + key.size() + 3;
    const bool is_next = is_good_ && rest_.size() > length && (is_first_ || rest_[0] == ',') &&
                         rest_[start] == '"' && rest_.substr(start + 1, key.size()) == key &&
                         rest_.substr(length - 2, 2) == "\":";
    if (!is_next) return false;
    rest_.remove_prefix(length);
    is_first_ = false;
    return !take("null");
  }
  std::string take_source() {
    std::string source;
    if (take(R"(,"source":)")) read(source);
    return source;
  }
  template <class S>
  void read_list(std::vector<S>& out) {
    expect("[");
    if (take("]")) return;
    do {
      read(out.emplace_back());
    } while (take(","));
    expect("]");
  }
  template <class T>
  void read_value(T& out) {
    if (!is_good_) return;
    const std::string_view text = rest_.substr(0, value_length(rest_));
    rest_.remove_prefix(text.size());
    if constexpr (std::is_same_v<T, std::string>) {
      const bool is_plain = text.size() >= 2 && text.front() == '"' && text.back() == '"' &&
                            std::all_of(text.begin() + 1, text.end() - 1, [](char c) {
                              return c >= ' ' && c < '\x7f' && c != '\\' && c != '"';
                            });
      if (is_plain) {
        out = text.substr(1, text.size() - 2);
        return;
      }
    }
    const Json* parsed = kept_.parsed(text);
    auto value =
        parsed == nullptr ? Result<T>(parse_error("")) : Codec<T>::read(JsonCursor(*parsed));
    if (value) {
      out = std::move(*value);
    } else {
      is_good_ = false;
    }
  }

  std::string_view rest_;
  Kept& kept_;
  bool is_first_ = true;
  bool is_good_ = true;
};

}  // namespace

FactReader::FactReader() : kept_(std::make_unique<Kept>()) {}
FactReader::~FactReader() = default;

std::optional<Evidence> FactReader::read(std::string_view text) {
  TextReader reader(text, *kept_);
  Evidence out;
  const auto member = [&](std::string_view key, auto& value) {
    reader.expect(key);
    reader.read(value);
  };
  member(R"({"schema":"weir/evidence/1","provenance":)", out.provenance);
  member(R"(,"host":)", out.host);
  member(R"(,"nics":)", out.nics);
  member(R"(,"gpus":)", out.gpus);
  member(R"(,"distances":)", out.distances);
  member(R"(,"switches":)", out.switches);
  member(R"(,"gaps":)", out.gaps);
  reader.expect(R"(,"snapshots":[]})");
  if (!reader.is_done() || !check_names(out)) return std::nullopt;
  return out;
}

namespace {

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
  WEIR_TRY_STATUS(check_names(out));
  return out;
}

Json to_json(const Switch& sw) {
  return Codec<Switch>::write(sw);
}

Result<Switch> switch_from_json(const JsonCursor& at) {
  WEIR_TRY(device, Codec<Switch>::read(at));
  WEIR_TRY_STATUS(check_names(device, at.pointer()));
  return device;
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

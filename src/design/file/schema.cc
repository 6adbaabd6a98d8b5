#include "design/file/schema.h"

#include <fmt/format.h>

#include "base/json.h"
#include "design/file/defaults.h"
#include "design/file/fields.h"
#include "design/file/load.h"
#include "design/file/templates.h"
#include "design/file/value_text.h"

namespace weir::design {
namespace {

template <class T>
struct AutoOrInner : std::false_type {};
template <class T>
struct AutoOrInner<AutoOr<T>> : std::true_type {
  using Inner = T;
};

template <class T>
Json value_schema() {
  if constexpr (std::is_enum_v<T>) {
    return word_schema(ValueText<T>::all());
  } else if constexpr (AutoOrInner<T>::value) {
    return auto_or_schema(value_schema<typename AutoOrInner<T>::Inner>());
  } else {
    return ValueText<T>::schema();
  }
}

class SchemaMaker {
 public:
  SchemaMaker()
      : object_{
            {"type", "object"}, {"properties", Json::object()}, {"additionalProperties", false}} {}

  template <class T>
  void field(std::string_view key, Setting<T>& /*setting*/, std::string_view help) {
    add(key, value_schema<T>(), help);
  }
  template <class T>
  void field(std::string_view key, Setting<T>& /*setting*/, std::string_view help, Range range) {
    Json schema = {{"type", "integer"}, {"minimum", range.min}, {"maximum", range.max}};
    if constexpr (!std::is_same_v<T, int>) schema = auto_or_schema(schema);
    add(key, std::move(schema), help);
  }
  template <class S>
  void section(std::string_view key, S& out, std::string_view help) {
    add(key, object_of(out), help);
  }
  template <class S>
  void named(std::string_view key, std::vector<Named<S>>& /*out*/, std::string_view help) {
    S member;
    add(key, {{"type", "object"}, {"additionalProperties", object_of(member)}}, help);
  }
  template <class S>
  void list(std::string_view key, std::vector<S>& /*out*/, std::string_view help) {
    S item;
    add(key, {{"type", "array"}, {"items", object_of(item)}}, help);
  }
  void knobs(std::vector<Knob>& /*out*/, std::string_view help) {
    object_["additionalProperties"] = {{"type", Json::array({"string", "number", "boolean"})},
                                       {"description", help}};
  }

  template <class S>
  static Json object_of(S& out) {
    SchemaMaker inner;
    visit(inner, out);
    return std::move(inner.object_);
  }

 private:
  void add(std::string_view key, Json schema, std::string_view help) {
    schema["description"] = help;
    object_["properties"][std::string(key)] = std::move(schema);
  }
  Json object_;
};

// One line of Markdown a key; nested sections become headings.
class ReferenceMaker {
 public:
  explicit ReferenceMaker(std::string path = "") : path_(std::move(path)) {}

  template <class T>
  void field(std::string_view key, Setting<T>& setting, std::string_view help) {
    std::string fallback;
    if (setting.is_set() && !setting.is_written())
      fallback = fmt::format("`{}`: {}", ValueText<T>::print(*setting), setting.why());
    rows_ += fmt::format("| `{}` | {} | {} |\n", key, help, fallback);
  }
  template <class T>
  void field(std::string_view key, Setting<T>& setting, std::string_view help, Range range) {
    field(key, setting, fmt::format("{} ({}–{})", help, range.min, range.max));
  }
  template <class S>
  void section(std::string_view key, S& out, std::string_view help) {
    nested_ += below(std::string(key), out, help);
  }
  template <class S>
  void named(std::string_view key, std::vector<Named<S>>& out, std::string_view help) {
    if (out.empty()) out.emplace_back();
    nested_ += below(fmt::format("{}.NAME", key), out.front().value, help);
  }
  template <class S>
  void list(std::string_view key, std::vector<S>& out, std::string_view help) {
    if (out.empty()) out.emplace_back();
    nested_ += below(fmt::format("{}[]", key), out.front(), help);
  }
  void knobs(std::vector<Knob>& /*out*/, std::string_view help) {
    rows_ += fmt::format("| *knob* | {} | the firmware's |\n", help);
  }

  [[nodiscard]] std::string text() const {
    const std::string head = "| key | meaning | default |\n|---|---|---|\n";
    return (rows_.empty() ? "" : head + rows_) + nested_;
  }

 private:
  template <class S>
  std::string below(const std::string& key, S& out, std::string_view help) const {
    const std::string full = path_.empty() ? key : path_ + "." + key;
    ReferenceMaker inner(full);
    visit(inner, out);
    return fmt::format("\n### `{}`\n\n{}.\n\n{}", full, help, inner.text());
  }
  std::string path_;
  std::string rows_;
  std::string nested_;
};

}  // namespace

Json design_schema() {
  Design design;
  Json schema = SchemaMaker::object_of(design);
  Json out = {{"$schema", "https://json-schema.org/draft/2020-12/schema"},
              {"$id", "weir/design/1"},
              {"title", "Weir fabric design"}};
  out.update(schema);
  out["required"] = Json::array({"weir", "hosts"});
  return out;
}

std::string design_reference() {
  // The defaults shown are those of the smallest template, whose own lines are not defaults.
  Design design = load_text(find_template("pair")->text, "pair").design;
  ReferenceMaker maker;
  visit(maker, design);
  return "# The design file\n\nMade by weir-docs from the fields of the format. Sizes, times, "
         "rates and "
         "lengths carry "
         "their unit (`100KB`, `64KiB`, `200ms`, `400G`, `30m`, `10%`); a bare number there is an "
         "error. "
         "Defaults are those of the `pair` template; some follow from other values.\n\n" +
         maker.text();
}

}  // namespace weir::design

#include "design/fabric/effective.h"

#include <fmt/format.h>

#include "base/text.h"
#include "base/untrusted/quote.h"
#include "design/file/fields.h"
#include "design/file/value_text.h"

namespace weir::design {
namespace {

// A text of the user's. YAML reads many plain scalars in its own way: only what is plain beyond
// doubt is written without quotes.
std::string quoted_if_needed(const std::string& text) {
  constexpr std::string_view kPlain =
      "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_./+- []";
  constexpr std::string_view kNeverFirst = "- []";
  const bool is_plain = text.find_first_not_of(kPlain) == std::string::npos &&
                        kNeverFirst.find(text.front()) == std::string_view::npos && text != "null";
  return is_plain ? text : yaml_quoted(text);
}

template <class T>
std::string value_text(const T& value) {
  return ValueText<T>::print(value);
}
std::string value_text(const std::string& value) {
  return quoted_if_needed(value);
}
std::string value_text(const NamePattern& value) {
  return quoted_if_needed(value.text);
}
std::string value_text(const PortSpec& value) {
  return quoted_if_needed(value.text);
}
std::string value_text(const std::vector<std::string>& value) {
  if (value.size() == 1) return quoted_if_needed(value.front());
  std::vector<std::string> quoted;
  for (const std::string& item : value)
    quoted.push_back(quoted_if_needed(item));
  return "[" + join(quoted, ", ") + "]";
}

class Writer {
 public:
  explicit Writer(bool has_reasons) : has_reasons_(has_reasons) {}

  template <class T>
  void field(std::string_view key, Setting<T>& setting, std::string_view /*help*/) {
    if (!setting.is_set()) return;
    if constexpr (std::is_same_v<T, DscpSet>) {
      if (setting->mask == 0) return;  // only a default has no code points, and no text for it
    }
    line(fmt::format("{}: {}", key, value_text(*setting)),
         setting.is_written() ? "" : setting.why());
  }
  template <class T>
  void field(std::string_view key, Setting<T>& setting, std::string_view help, Range /*range*/) {
    field(key, setting, help);
  }
  template <class S>
  void section(std::string_view key, S& out, std::string_view /*help*/) {
    const std::size_t before = text_.size();
    line(fmt::format("{}:", key), "");
    const std::size_t header_end = text_.size();
    indent_ += 2;
    visit(*this, out);
    indent_ -= 2;
    if (text_.size() == header_end) text_.resize(before);  // nothing set inside
  }
  template <class S>
  void named(std::string_view key, std::vector<Named<S>>& out, std::string_view help) {
    if (out.empty()) return;
    line(fmt::format("{}:", key), "");
    indent_ += 2;
    for (auto& member : out)
      section(member.name, member.value, help);
    indent_ -= 2;
  }
  template <class S>
  void list(std::string_view key, std::vector<S>& out, std::string_view /*help*/) {
    if (out.empty()) return;
    line(fmt::format("{}:", key), "");
    for (S& item : out) {
      dash_ = true;
      indent_ += 4;
      visit(*this, item);
      indent_ -= 4;
      dash_ = false;
    }
  }
  void knobs(std::vector<Knob>& out, std::string_view /*help*/) {
    for (const Knob& knob : out)
      line(fmt::format("{}: {}", knob.name, quoted_if_needed(knob.text)), "");
  }

  [[nodiscard]] std::string take() { return std::move(text_); }

 private:
  void line(std::string content, const std::string& why) {
    std::string margin(indent_, ' ');
    if (dash_) margin.replace(indent_ - 2, 2, "- ");
    dash_ = false;
    content.insert(0, margin);
    constexpr std::size_t kReasonColumn = 44;
    if (has_reasons_ && !why.empty()) {
      if (content.size() < kReasonColumn) content.resize(kReasonColumn, ' ');
      content += "  # " + why;
    }
    text_ += content + "\n";
  }

  bool has_reasons_;
  std::string text_;
  std::size_t indent_ = 0;
  bool dash_ = false;
};

std::string written(const Design& design, bool has_reasons) {
  Design copy = design;
  Writer writer(has_reasons);
  visit(writer, copy);
  return writer.take();
}

}  // namespace

std::string effective_text(const Design& design) {
  return "# " + design.file +
         " as it takes effect. A comment gives the reason for a value you did not write.\n" +
         written(design, true);
}

std::string effective_values(const Design& design) {
  return written(design, false);
}

}  // namespace weir::design

#pragma once
// A page of HTML as it is written: markup of ours as it is, text of others escaped.
#include <string>
#include <string_view>
#include <utility>

#include <fmt/format.h>

#include "render/report/svg_canvas.h"

namespace weir::render {

class HtmlWriter {
 public:
  /// REQUIRES: markup that the program made.
  void raw(std::string_view markup) { text_ += markup; }
  void element(std::string_view tag, std::string_view text, std::string_view kind = {}) {
    text_ += kind.empty() ? fmt::format("<{}>", tag) : fmt::format("<{} class=\"{}\">", tag, kind);
    text_ += fmt::format("{}</{}>\n", escape_markup(text), tag);
  }
  [[nodiscard]] std::string take() && { return std::move(text_); }

 private:
  std::string text_;
};

}  // namespace weir::render

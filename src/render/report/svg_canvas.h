#pragma once
// A drawing in SVG 1.1, element by element: enough for a chart and a map, no more.
//
// A drawing is part of an HTML page and needs no style sheet, script or font. One user unit is one
// CSS pixel at full width.
#include <span>
#include <string>
#include <string_view>

namespace weir::render {

/// Text escaped for HTML and XML, for content and for quoted attributes. Control characters, which
/// XML forbids, become blanks; invalid UTF-8 becomes U+FFFD.
[[nodiscard]] std::string escape_markup(std::string_view text);

struct Point {
  double x = 0;
  double y = 0;
};

// Readable in greys: colour alone never carries meaning.
inline constexpr std::string_view kInk = "#1b2530";
inline constexpr std::string_view kFaintInk = "#5b6672";
inline constexpr std::string_view kGrid = "#d5dbe1";
inline constexpr std::string_view kPaper = "#ffffff";

struct Stroke {
  std::string_view colour = kInk;
  double width = 1;
  std::string_view dashes = {};  // "6 3"; empty: solid
};

enum class Anchor { kStart, kMiddle, kEnd };

struct TextStyle {
  double size = 11;
  Anchor anchor = Anchor::kStart;
  bool is_bold = false;
  std::string_view colour = kInk;
  bool has_paper = false;  // with a background, for text over lines
};

struct Box {
  double x = 0;
  double y = 0;
  double width = 0;
  double height = 0;
};

class SvgCanvas {
 public:
  /// `description` is the text alternative of the drawing.
  SvgCanvas(double width, double height, std::string_view description);

  void line(Point from, Point to, const Stroke& stroke = {});
  void polyline(std::span<const Point> points, const Stroke& stroke = {});
  void rect(const Box& box, std::string_view fill, const Stroke& stroke = {}, double radius = 0);
  void circle(Point centre, double radius, std::string_view fill, const Stroke& stroke = {});
  /// `at` is the left, middle or right end of the base line. `rest` follows in plain, faint ink.
  void text(Point at, std::string_view text, const TextStyle& style = {},
            std::string_view rest = {});

  [[nodiscard]] std::string finish() &&;

 private:
  std::string body_;
};

/// The width of `text` in pixels, rounded up: fonts differ between machines.
[[nodiscard]] double text_width(std::string_view text, double size);

/// `text`, or "…" and its end where it is wider than `width`: names differ at the end.
[[nodiscard]] std::string fit_text(std::string_view text, double size, double width);

}  // namespace weir::render

#include "render/report/svg_canvas.h"

#include <algorithm>
#include <cmath>
#include <cstdint>

#include <fmt/format.h>

#include "base/text.h"
#include "base/untrusted/printable.h"

namespace weir::render {
namespace {

// Of a character, in ems. Helvetica's mean over names and numbers is about 0.5; DejaVu Sans, the
// widest of the usual fall-backs, has 0.6.
constexpr double kAdvance = 0.56;

/// A tenth of a pixel is finer than any printer needs; "12.0" is written "12".
std::string number(double value) {
  const double rounded = std::round(value * 10) / 10;
  return rounded == std::floor(rounded) ? fmt::format("{:.0f}", rounded + 0.0)
                                        : fmt::format("{:.1f}", rounded);
}

std::string stroke_attributes(const Stroke& stroke) {
  if (stroke.width <= 0) return " stroke=\"none\"";
  std::string text =
      fmt::format(" stroke=\"{}\" stroke-width=\"{}\"", stroke.colour, number(stroke.width));
  if (!stroke.dashes.empty()) text += fmt::format(" stroke-dasharray=\"{}\"", stroke.dashes);
  return text;
}

std::string_view anchor_word(Anchor anchor) {
  switch (anchor) {
    case Anchor::kStart: return "start";
    case Anchor::kMiddle: return "middle";
    case Anchor::kEnd: return "end";
  }
  return "start";
}

std::string_view escape_of(char c) {
  switch (c) {
    case '&': return "&amp;";
    case '<': return "&lt;";
    case '>': return "&gt;";
    case '"': return "&quot;";
    case '\'': return "&#39;";
    default: return {};
  }
}

}  // namespace

std::string escape_markup(std::string_view text) {
  std::string out;
  out.reserve(text.size() + text.size() / 8);
  for (const char c : printable(text)) {
    if (const std::string_view escape = escape_of(c); !escape.empty()) {
      out += escape;
    } else {
      out += c;
    }
  }
  return out;
}

SvgCanvas::SvgCanvas(double width, double height, std::string_view description)
    : body_(fmt::format("<svg viewBox=\"0 0 {} {}\" "
                        "width=\"{}\" height=\"{}\" role=\"img\" aria-label=\"{}\" "
                        "font-family=\"Helvetica, Arial, 'Liberation Sans', sans-serif\">\n",
                        number(width), number(height), number(width), number(height),
                        escape_markup(description))) {}

void SvgCanvas::line(Point from, Point to, const Stroke& stroke) {
  body_ += fmt::format("<line x1=\"{}\" y1=\"{}\" x2=\"{}\" y2=\"{}\"{}/>\n", number(from.x),
                       number(from.y), number(to.x), number(to.y), stroke_attributes(stroke));
}

void SvgCanvas::polyline(std::span<const Point> points, const Stroke& stroke) {
  body_ += "<polyline points=\"";
  for (std::size_t i = 0; i < points.size(); ++i)
    body_ += fmt::format("{}{},{}", i == 0 ? "" : " ", number(points[i].x), number(points[i].y));
  body_ +=
      fmt::format("\" fill=\"none\" stroke-linejoin=\"round\"{}/>\n", stroke_attributes(stroke));
}

void SvgCanvas::rect(const Box& box, std::string_view fill, const Stroke& stroke, double radius) {
  body_ += fmt::format("<rect x=\"{}\" y=\"{}\" width=\"{}\" height=\"{}\"{} fill=\"{}\"{}/>\n",
                       number(box.x), number(box.y), number(box.width), number(box.height),
                       radius > 0 ? fmt::format(" rx=\"{}\"", number(radius)) : std::string(), fill,
                       stroke_attributes(stroke));
}

void SvgCanvas::circle(Point centre, double radius, std::string_view fill, const Stroke& stroke) {
  body_ += fmt::format("<circle cx=\"{}\" cy=\"{}\" r=\"{}\" fill=\"{}\"{}/>\n", number(centre.x),
                       number(centre.y), number(radius), fill, stroke_attributes(stroke));
}

void SvgCanvas::text(Point at, std::string_view text, const TextStyle& style,
                     std::string_view rest) {
  if (style.has_paper) {
    const double width = text_width(text, style.size);
    const double before = style.anchor == Anchor::kStart    ? 0
                          : style.anchor == Anchor::kMiddle ? width / 2
                                                            : width;
    rect({at.x - before - 1, at.y - style.size, width + 2, style.size + 3}, kPaper, {.width = 0});
  }
  body_ +=
      fmt::format("<text x=\"{}\" y=\"{}\" font-size=\"{}\" text-anchor=\"{}\" fill=\"{}\"{}>{}",
                  number(at.x), number(at.y), number(style.size), anchor_word(style.anchor),
                  style.colour, style.is_bold ? " font-weight=\"bold\"" : "", escape_markup(text));
  if (!rest.empty())
    body_ += fmt::format("<tspan font-weight=\"normal\" fill=\"{}\">{}</tspan>", kFaintInk,
                         escape_markup(rest));
  body_ += "</text>\n";
}

std::string SvgCanvas::finish() && {
  return std::move(body_) + "</svg>\n";
}

double text_width(std::string_view text, double size) {
  return static_cast<double>(display_width(text)) * size * kAdvance;
}

std::string fit_text(std::string_view text, double size, double width) {
  if (text_width(text, size) <= width) return std::string(text);
  const auto columns = static_cast<std::size_t>(std::max(2.0, width / (size * kAdvance)));
  std::size_t begin = text.size();
  for (std::size_t kept = 0; begin > 0 && kept + 1 < columns; ++kept) {
    --begin;
    while (begin > 0 && (static_cast<unsigned char>(text[begin]) & 0xC0U) == 0x80)
      --begin;
  }
  return "…" + std::string(text.substr(begin));
}

}  // namespace weir::render

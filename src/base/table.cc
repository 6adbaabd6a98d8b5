#include "base/table.h"

#include <algorithm>
#include <utility>

#include "base/check.h"
#include "base/text.h"

namespace weir {

TextTable::TextTable(std::vector<std::string> header, std::vector<Align> align)
    : header_(std::move(header)), align_(std::move(align)) {
  align_.resize(header_.size(), Align::kLeft);
}

void TextTable::add_row(std::vector<std::string> cells) {
  WEIR_CHECK(cells.size() == header_.size());
  rows_.push_back(std::move(cells));
}

std::string TextTable::to_text(std::size_t indent, std::size_t width) const {
  std::vector<std::size_t> widths(header_.size(), 0);
  const auto measure = [&](const std::vector<std::string>& row) {
    for (std::size_t i = 0; i < row.size(); ++i)
      widths[i] = std::max(widths[i], display_width(row[i]));
  };
  measure(header_);
  for (const auto& row : rows_)
    measure(row);
  std::size_t margin = indent;  // where the last column starts
  for (std::size_t i = 0; i + 1 < widths.size(); ++i)
    margin += widths[i] + 2;
  const bool wraps = width > margin && width < margin + widths.back();
  if (wraps) widths.back() = width - margin;

  std::string out;
  const auto print = [&](const std::vector<std::string>& row) {
    std::string line(indent, ' ');
    for (std::size_t i = 0; i < row.size(); ++i) {
      const bool is_last = i + 1 == row.size();
      const std::string cell = is_last && wraps ? hang(row[i], widths[i], margin) : row[i];
      const std::size_t columns = std::min(display_width(cell), widths[i]);
      const std::string padding(widths[i] - columns, ' ');
      if (i > 0) line += "  ";
      line += align_[i] == Align::kRight ? padding + cell : cell + padding;
    }
    line.erase(line.find_last_not_of(' ') + 1);
    out += line + "\n";
  };
  const bool has_header =
      std::any_of(header_.begin(), header_.end(), [](const std::string& h) { return !h.empty(); });
  if (has_header) print(header_);
  for (const auto& row : rows_)
    print(row);
  return out;
}

}  // namespace weir

#pragma once
// A text table for terminals: columns as wide as their widest cell, two blanks between.
#include <cstddef>
#include <string>
#include <vector>

namespace weir {

enum class Align { kLeft, kRight };

class TextTable {
 public:
  /// An empty `header` prints no heading line.
  explicit TextTable(std::vector<std::string> header, std::vector<Align> align = {});

  /// REQUIRES: as many cells as the header has columns.
  void add_row(std::vector<std::string> cells);

  /// Every line ends with a newline and none with a blank; each starts with `indent` blanks. With a
  /// `width`, the last column is wrapped under itself so that lines stay within it where they can.
  [[nodiscard]] std::string to_text(std::size_t indent = 0, std::size_t width = 0) const;

 private:
  std::vector<std::string> header_;
  std::vector<Align> align_;
  std::vector<std::vector<std::string>> rows_;
};

}  // namespace weir

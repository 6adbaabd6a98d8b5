// Packets as `tshark -T fields` prints them: columns in the order of its -e options.
#include <algorithm>
#include <charconv>

#include "base/text.h"
#include "readers/paste/paste_tools.h"
#include "readers/paste/text_lines.h"

namespace weir::readers {
namespace {

std::vector<std::string> tshark_columns(const Mark& mark) {
  std::vector<std::string> out;
  if (mark.tool() != "tshark") return out;
  for (std::size_t i = 1; i + 1 < mark.words.size(); ++i)
    if (mark.words[i] == "-e") out.push_back(mark.words[i + 1]);
  return out;
}

/// Decimal, or hexadecimal with 0x.
std::optional<unsigned> field_number(std::string_view text) {
  const bool is_hex = text.starts_with("0x");
  if (is_hex) text.remove_prefix(2);
  unsigned value = 0;
  const auto [end, error] =
      std::from_chars(text.data(), text.data() + text.size(), value, is_hex ? 16 : 10);
  return error == std::errc() && end == text.data() + text.size() && !text.empty()
             ? std::optional(value)
             : std::nullopt;
}

struct TsharkRow {
  std::optional<unsigned> dscp;
  std::optional<unsigned> ecn;
  std::optional<unsigned> opcode;
  std::optional<unsigned> length;
};

/// One cell per column; nullopt where they do not fit.
std::optional<TsharkRow> tshark_row(std::string_view text,
                                    const std::vector<std::string>& columns) {
  const char separator = text.find('\t') != std::string_view::npos  ? '\t'
                         : text.find(',') != std::string_view::npos ? ','
                         : text.find(';') != std::string_view::npos ? ';'
                                                                    : ' ';
  std::vector<std::string_view> cells =
      separator == ' ' ? words_of(text) : split(trim(text), separator);
  if (cells.size() != columns.size()) cells = words_of(text);  // a pasted tab is often blanks
  if (cells.size() != columns.size()) return std::nullopt;
  TsharkRow row;
  for (std::size_t i = 0; i < cells.size(); ++i) {
    const auto value = field_number(trim(cells[i]));
    const std::string& name = columns[i];
    if (name == "ip.dsfield.dscp") row.dscp = value;
    if (name == "ip.dsfield.ecn") row.ecn = value;
    if (name == "infiniband.bth.opcode") row.opcode = value;
    if (name == "frame.len" || name == "ip.len" || name == "udp.length") row.length = value;
    if (name == "ip.dsfield" && value && *value < 256) {
      row.dscp = *value >> 2U;
      row.ecn = *value & 3U;
    }
  }
  return row.dscp && *row.dscp < 64 && row.ecn && *row.ecn < 4 ? std::optional(row) : std::nullopt;
}

/// Data is neither an acknowledgement (0x11, 0x12) nor a CNP (0x81); without opcode and length it
/// is not known.
bool is_data_row(const TsharkRow& row) {
  constexpr unsigned kShortest = 128;  // with all headers an acknowledgement has about 62 bytes
  if (row.opcode) return *row.opcode != 0x11 && *row.opcode != 0x12 && *row.opcode != 0x81;
  return row.length && *row.length >= kShortest;
}

}  // namespace

bool begins_tshark(const PasteAt& at) {
  const auto columns = tshark_columns(at.mark);
  return !columns.empty() && tshark_row(at.line(0), columns).has_value();
}

std::size_t read_tshark(const PasteAt& at, PasteSink& out) {
  const auto columns = tshark_columns(at.mark);
  PasteCapture capture;
  capture.host = out.host();
  std::size_t taken = 0;
  for (; taken < at.lines.size(); ++taken) {
    const auto row = tshark_row(at.line(taken), columns);
    if (!row) break;
    const unsigned tos = *row->dscp << 2U | *row->ecn;
    auto marked = std::find_if(capture.by_tos.begin(), capture.by_tos.end(),
                               [&](const PasteCapture::Marked& item) { return item.tos == tos; });
    if (marked == capture.by_tos.end()) {
      marked = capture.by_tos.insert(capture.by_tos.end(), PasteCapture::Marked{});
      marked->tos = tos;
      marked->first = out.cite(at.lines[taken]);
    }
    if (row->opcode == 0x81U) {
      ++marked->cnps;
    } else {
      ++(is_data_row(*row) ? marked->data : marked->other);
    }
  }
  out.paste().captures.push_back(std::move(capture));
  return taken;
}

}  // namespace weir::readers

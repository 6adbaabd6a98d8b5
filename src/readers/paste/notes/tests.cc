// Short results: packets counted with `uniq -c`, bandwidths of a loop over numbers of queue pairs.
#include <algorithm>
#include <charconv>

#include "base/text.h"
#include "readers/paste/notes/notes.h"
#include "readers/paste/text_lines.h"

namespace weir::readers {
namespace {

bool counts_packets(const Mark& mark) {
  const std::string_view command = mark.command;
  return command.find("uniq -c") != std::string_view::npos &&
         command.find("4791") != std::string_view::npos;
}

std::optional<unsigned> number_of_field(std::string_view text) {
  const bool is_hex = text.starts_with("0x");
  if (is_hex) text.remove_prefix(2);
  unsigned value = 0;
  const auto [end, error] =
      std::from_chars(text.data(), text.data() + text.size(), value, is_hex ? 16 : 10);
  return error == std::errc() && end == text.data() + text.size() && !text.empty()
             ? std::optional(value)
             : std::nullopt;
}

}  // namespace

/// "  50000 49152", "  50000 10.1.0.1.49152": how many packets each source port has.
std::size_t note_source_ports(const PasteAt& at, PasteSink& out) {
  if (!counts_packets(at.mark)) return 0;
  PasteSourcePorts found;
  for (std::size_t n = 0; n < at.lines.size(); ++n) {
    const auto words = words_of(at.line(n));
    const auto packets = words.size() == 2 ? parse_count(words[0]) : std::nullopt;
    if (!packets) break;
    const std::string_view port = words[1].substr(words[1].find_last_of(".:") + 1);
    const auto number = parse_u64(port);
    constexpr std::uint64_t kFirst = 1024;  // below are services, code points and bytes
    if (!number || *number < kFirst || *number > 65'535 || *number == 4791) break;
    if (found.ports == 0) {
      found.first = port;
      found.at = out.cite(at.lines[n]);
    }
    ++found.ports;
    found.packets += *packets;
  }
  if (found.ports == 0) return 0;
  note(out, out.paste().noted.source_ports, found);
  return found.ports;
}

/// "  20000 0" below `tshark -e ip.dsfield.dscp … | uniq -c`, "  20000 tos 0x68" below a filter of
/// tcpdump.
std::size_t note_marked_packets(const PasteAt& at, PasteSink& out) {
  if (!counts_packets(at.mark)) return 0;
  const std::string_view command = at.mark.command;
  const bool is_dscp = command.find("-e ip.dsfield.dscp") != std::string_view::npos;
  const bool is_tos = command.find("tos") != std::string_view::npos ||
                      command.find("-e ip.dsfield ") != std::string_view::npos;
  if (!is_dscp && !is_tos) return 0;
  std::vector<PasteDscpCount> found;
  for (std::size_t n = 0; n < at.lines.size(); ++n) {
    auto words = words_of(at.line(n));
    if (words.size() == 3 && words[1] == "tos") words.erase(words.begin() + 1);
    const auto packets = words.size() == 2 ? parse_count(words[0]) : std::nullopt;
    std::string_view last = packets ? words[1] : std::string_view();
    if (last.ends_with(',')) last.remove_suffix(1);
    const auto value = number_of_field(last);
    if (!packets || !value || *value > 255 || (is_dscp && *value > 63)) break;
    const unsigned dscp = is_dscp ? *value : *value >> 2U;
    found.push_back({Dscp::of(dscp), *packets, out.cite(at.lines[n])});
  }
  const std::size_t said = found.size();
  if (said > 0) note(out, out.paste().noted.dscp_counts, std::move(found));
  return said;
}

// ---- queue pairs ----

namespace {

/// 2 of "qps=2", "q=2", "qp2:"; nullopt for other words.
std::optional<unsigned> label_of(std::string_view word) {
  for (const std::string_view key : {"qps=", "qp=", "q=", "qps:", "qp:", "QPs=", "nqp="}) {
    if (!word.starts_with(key)) continue;
    word.remove_prefix(key.size());
    if (word.ends_with(':') || word.ends_with(',')) word.remove_suffix(1);
    const auto number = parse_u64(word);
    return number && *number > 0 && *number <= 4096 ? std::optional(static_cast<unsigned>(*number))
                                                    : std::nullopt;
  }
  return std::nullopt;
}

std::string option_of(const Mark& mark, std::string_view option) {
  const auto words = words_of(mark.command);
  for (std::size_t i = 0; i + 1 < words.size(); ++i)
    if (words[i] == option) return std::string(words[i + 1]);
  return {};
}

/// The average of a row "65536 938128 0.00 196.74 0.375252" of a bandwidth test, from word `i` on.
std::optional<double> average_of(const std::vector<std::string_view>& words, std::size_t i) {
  if (words.size() != i + 5 || !parse_u64(words[i]) || !parse_u64(words[i + 1]) ||
      words[i + 3].find('.') == std::string_view::npos)
    return std::nullopt;
  return leading_decimal(words[i + 3]);
}

}  // namespace

std::size_t note_qp_rates(const PasteAt& at, PasteSink& out) {
  const std::string_view command = at.mark.command;
  if (command.find("_bw ") == std::string_view::npos) return 0;
  const std::string device = option_of(at.mark, "-d");
  const auto given = parse_u64(option_of(at.mark, "-q"));
  const bool is_loop = command.find("for ") != std::string_view::npos;
  std::size_t said = 0;
  for (std::size_t n = 0; n < at.lines.size(); ++n) {
    const auto words = words_of(at.line(n));
    if (words.size() < 5) continue;
    const auto label = label_of(words[0]);
    const auto rate = average_of(words, label ? 1 : 0);
    if (!rate || (is_loop && !label)) continue;
    const unsigned qps = label ? *label : given ? static_cast<unsigned>(*given) : 1;
    note(out, out.paste().noted.qp_rates, {out.host(), device, qps, *rate, out.cite(at.lines[n])});
    said += label ? 1 : 0;  // the others are perftest's own rows
  }
  return said;
}

}  // namespace weir::readers

#pragma once
// A description in words as statements that can be compared.
//
// A problem report is half sentences and half numbers: "rx_prio0 grows, 2x25G into 10G,
// NCCL_IB_TC=106 has no effect". This reader cuts it into statements (one per line) and words, in
// lower case, and classifies each word: a number, a version, an address, a device name. It judges
// nothing; diagnose/paste/stated.h does.
//
// A word may stand for several things at one place: "NCCL_IB_TC=106" is the name, the value and
// both together; "SrcValid+" is the word with and without its sign.
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace weir::readers {

enum class WordKind : std::uint8_t {
  kWord,
  kNumber,         // 12, 1,543, 49.36, +70
  kVersion,        // 2.22.3
  kKernelVersion,  // 6.17.0-1031
  kAddress,        // 10.0.1.1, fe80::1, ::ffff:10.0.1.1
  kDevice,         // mlx5_0, bnxt_re1, ens1f0np0, Ethernet6, swp5
  kRate,           // 400G, 392.1 Gb/s: the value is in Gbit/s
  kAssignment,     // name=value
};

struct Word {
  std::string text;  // lower case
  WordKind kind = WordKind::kWord;
  int at = 0;  // the place in the statement; words of one place are readings of the same piece
  std::optional<double> value;  // of numbers and rates
  std::size_t end = 0;          // the place in the text behind the piece
};

struct Statement {
  int line = 0;      // from 1
  std::string text;  // as it was written
  std::vector<Word> words;
};

/// One statement per line, empty lines skipped, at most `most` of them: what follows is a log, and
/// logs have readers of their own.
[[nodiscard]] std::vector<Statement> statements_of(std::string_view text, std::size_t most = 4000);

}  // namespace weir::readers

#pragma once
// A 64-bit digest of a run: two runs of one seed must end with the same one, on every machine and
// compiler. Not a cryptographic hash: it guards against accidents, not against people.
#include <cstdint>
#include <string>
#include <string_view>

namespace weir {

/// Mixes one word so that every input bit reaches every output bit (the finaliser of splitmix64,
/// Steele, Lea & Flood, OOPSLA'14).
[[nodiscard]] constexpr std::uint64_t mix64(std::uint64_t x) {
  x += 0x9E3779B97F4A7C15U;
  x = (x ^ (x >> 30U)) * 0xBF58476D1CE4E5B9U;
  x = (x ^ (x >> 27U)) * 0x94D049BB133111EBU;
  return x ^ (x >> 31U);
}

class Digest {
 public:
  /// Order matters: add(1), add(2) differs from add(2), add(1).
  constexpr void add(std::uint64_t word) { state_ = mix64(state_ ^ word); }
  constexpr void add(std::string_view text) {
    add(text.size());
    for (const char c : text)
      add(static_cast<std::uint64_t>(static_cast<unsigned char>(c)));
  }
  [[nodiscard]] constexpr std::uint64_t value() const { return state_; }
  /// Sixteen hexadecimal digits.
  [[nodiscard]] std::string to_text() const;

 private:
  std::uint64_t state_ = 0x5EEDULL;
};

}  // namespace weir

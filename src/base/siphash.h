#pragma once
// SipHash-2-4 (Aumasson & Bernstein, INDOCRYPT 2012): a short keyed hash. Who does not have the key
// learns nothing from its values, which digest.h does not promise.
#include <cstdint>
#include <string_view>

namespace weir {

struct SipKey {
  std::uint64_t first = 0;
  std::uint64_t second = 0;
};

[[nodiscard]] std::uint64_t siphash(const SipKey& key, std::string_view bytes);

/// A key made of a word or a sentence that people agree on.
[[nodiscard]] SipKey sip_key_of(std::string_view words);

}  // namespace weir

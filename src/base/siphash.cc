#include "base/siphash.h"

#include <array>
#include <bit>
#include <cstddef>

namespace weir {
namespace {

struct State {
  std::array<std::uint64_t, 4> v{};

  void round() {
    v[0] += v[1];
    v[1] = std::rotl(v[1], 13) ^ v[0];
    v[0] = std::rotl(v[0], 32);
    v[2] += v[3];
    v[3] = std::rotl(v[3], 16) ^ v[2];
    v[0] += v[3];
    v[3] = std::rotl(v[3], 21) ^ v[0];
    v[2] += v[1];
    v[1] = std::rotl(v[1], 17) ^ v[2];
    v[2] = std::rotl(v[2], 32);
  }
  void take(std::uint64_t word) {
    v[3] ^= word;
    round();
    round();
    v[0] ^= word;
  }
};

std::uint64_t little_endian(std::string_view bytes) {
  std::uint64_t word = 0;
  for (std::size_t i = bytes.size(); i > 0; --i)
    word = (word << 8U) | static_cast<unsigned char>(bytes[i - 1]);
  return word;
}

}  // namespace

std::uint64_t siphash(const SipKey& key, std::string_view bytes) {
  // "somepseudorandomlygeneratedbytes", as the paper has it.
  State state{{key.first ^ 0x736f6d6570736575U, key.second ^ 0x646f72616e646f6dU,
               key.first ^ 0x6c7967656e657261U, key.second ^ 0x7465646279746573U}};
  const std::uint64_t length = std::uint64_t{bytes.size()} << 56U;
  while (bytes.size() >= 8) {
    state.take(little_endian(bytes.substr(0, 8)));
    bytes.remove_prefix(8);
  }
  state.take(length | little_endian(bytes));
  state.v[2] ^= 0xffU;
  for (int i = 0; i < 4; ++i)
    state.round();
  return state.v[0] ^ state.v[1] ^ state.v[2] ^ state.v[3];
}

SipKey sip_key_of(std::string_view words) {
  return {siphash({1, 0}, words), siphash({2, 0}, words)};
}

}  // namespace weir

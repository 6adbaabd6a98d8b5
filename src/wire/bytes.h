#pragma once
// Numbers in bytes of either order. The callers have checked that the bytes are there.
#include <cstddef>
#include <cstdint>
#include <cstring>

namespace weir::wire {

inline std::uint16_t be16(const std::uint8_t* at) {
  return static_cast<std::uint16_t>((at[0] << 8U) | at[1]);
}
inline std::uint32_t be24(const std::uint8_t* at) {
  return (std::uint32_t{at[0]} << 16U) | (std::uint32_t{at[1]} << 8U) | at[2];
}
inline std::uint32_t be32(const std::uint8_t* at) {
  return (std::uint32_t{at[0]} << 24U) | be24(at + 1);
}
inline std::uint64_t be64(const std::uint8_t* at) {
  return (std::uint64_t{be32(at)} << 32U) | be32(at + 4);
}
inline std::uint16_t le16(const std::uint8_t* at) {
  return static_cast<std::uint16_t>((at[1] << 8U) | at[0]);
}
inline std::uint32_t le32(const std::uint8_t* at) {
  return (std::uint32_t{at[3]} << 24U) | (std::uint32_t{at[2]} << 16U) |
         (std::uint32_t{at[1]} << 8U) | at[0];
}

inline void put_be16(std::uint8_t* at, std::uint32_t value) {
  at[0] = static_cast<std::uint8_t>(value >> 8U);
  at[1] = static_cast<std::uint8_t>(value);
}
inline void put_be24(std::uint8_t* at, std::uint32_t value) {
  at[0] = static_cast<std::uint8_t>(value >> 16U);
  put_be16(at + 1, value);
}
inline void put_be32(std::uint8_t* at, std::uint32_t value) {
  at[0] = static_cast<std::uint8_t>(value >> 24U);
  put_be24(at + 1, value);
}
inline void put_be64(std::uint8_t* at, std::uint64_t value) {
  put_be32(at, static_cast<std::uint32_t>(value >> 32U));
  put_be32(at + 4, static_cast<std::uint32_t>(value));
}
inline void put_le16(std::uint8_t* at, std::uint32_t value) {
  at[0] = static_cast<std::uint8_t>(value);
  at[1] = static_cast<std::uint8_t>(value >> 8U);
}
inline void put_le32(std::uint8_t* at, std::uint32_t value) {
  put_le16(at, value);
  put_le16(at + 2, value >> 16U);
}

}  // namespace weir::wire

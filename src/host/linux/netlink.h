#pragma once
// Netlink messages: build a request, take a reply apart. Thin over libnl, whose types stay inside.
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "host/linux/text.h"

namespace weir::host {

/// A request as bytes; sequence number and port are the kernel seam's to fill in.
class NetlinkRequest {
 public:
  NetlinkRequest(int type, int flags, std::string_view family_header);
  NetlinkRequest(const NetlinkRequest&) = delete;
  NetlinkRequest& operator=(const NetlinkRequest&) = delete;
  ~NetlinkRequest();

  void put_text(int attribute, const std::string& text);  // with its terminator
  void put(int attribute, std::string_view bytes);
  void begin_nest(int attribute);  // flagged as nested, as iproute2 does
  void end_nest();
  [[nodiscard]] std::string bytes() const;

 private:
  struct Message;
  std::unique_ptr<Message> message_;
};

/// The attributes of a message or of a nest. A view: the bytes must outlive it. Attributes that
/// overrun their frame end the list.
class Attributes {
 public:
  /// After `family_header` bytes of a whole message; nullopt where it is too short for them.
  [[nodiscard]] static std::optional<Attributes> of_message(std::string_view message,
                                                            std::size_t family_header);
  explicit Attributes(std::string_view bytes);

  struct One {
    int type = 0;  // without the flags
    std::string_view payload;
  };
  [[nodiscard]] const std::vector<One>& all() const { return all_; }
  /// The first of this type.
  [[nodiscard]] std::optional<std::string_view> find(int type) const;

  /// Unsupported where it is not there, an error where it is too short.
  [[nodiscard]] Parsed<std::uint8_t> u8(int type) const;
  [[nodiscard]] Parsed<std::uint16_t> u16(int type) const;
  [[nodiscard]] Parsed<std::uint32_t> u32(int type) const;

 private:
  std::vector<One> all_;
};

/// A number out of bytes in host order; REQUIRES: it fits.
template <class T>
T number_at(std::string_view bytes, std::size_t offset) {
  T value{};
  WEIR_CHECK(offset + sizeof value <= bytes.size());
  std::char_traits<char>::copy(reinterpret_cast<char*>(&value), bytes.data() + offset,
                               sizeof value);
  return value;
}

}  // namespace weir::host

#pragma once
// The frame of a netlink conversation: which bytes of what came in are replies, which end it.
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "host/kernel/kernel.h"

namespace weir::host {

class Conversation {
 public:
  /// One datagram; messages of another sequence number belong to another request and are left out.
  /// Where the framing is broken the conversation ends in malformed().
  void take(std::string_view datagram, std::optional<std::uint32_t> sequence);
  /// No more will come: an acknowledgement, an error, or the end of a dump was seen.
  [[nodiscard]] bool is_done() const { return done_; }
  [[nodiscard]] Answer<std::vector<std::string>> answer() &&;

 private:
  std::vector<std::string> replies_;
  Errno error_{0};
  bool done_ = false;
};

/// What makes two requests the same question: everything but sequence number and port.
[[nodiscard]] std::string question_of(std::string_view request);

}  // namespace weir::host

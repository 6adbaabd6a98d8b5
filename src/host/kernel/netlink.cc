#include "host/kernel/netlink.h"

#include <algorithm>
#include <cstring>

#include <linux/netlink.h>

namespace weir::host {

void Conversation::take(std::string_view datagram, std::optional<std::uint32_t> sequence) {
  while (datagram.size() >= sizeof(nlmsghdr)) {
    nlmsghdr header{};
    std::memcpy(&header, datagram.data(), sizeof header);
    if (header.nlmsg_len < sizeof header || header.nlmsg_len > datagram.size()) {
      error_ = malformed();
      done_ = true;
      return;
    }
    if (!sequence.has_value() || header.nlmsg_seq == *sequence) {
      if (header.nlmsg_type == NLMSG_ERROR) {
        std::int32_t code = 0;
        if (header.nlmsg_len >= sizeof header + sizeof code)
          std::memcpy(&code, datagram.data() + sizeof header, sizeof code);
        if (code < 0 && code > -4096) error_ = {-code};  // the kernel's range of errno
        done_ = true;
      } else if (header.nlmsg_type == NLMSG_DONE) {
        done_ = true;
      } else {
        replies_.emplace_back(datagram.substr(0, header.nlmsg_len));
      }
    }
    datagram.remove_prefix(std::min<std::size_t>(datagram.size(), NLMSG_ALIGN(header.nlmsg_len)));
  }
}

Answer<std::vector<std::string>> Conversation::answer() && {
  if (error_.number != 0) return error_;
  return std::move(replies_);
}

std::string question_of(std::string_view request) {
  std::string question(request);
  if (question.size() < sizeof(nlmsghdr)) return question;
  nlmsghdr header{};
  std::memcpy(&header, question.data(), sizeof header);
  header.nlmsg_seq = 0;
  header.nlmsg_pid = 0;
  std::memcpy(question.data(), &header, sizeof header);
  return question;
}

}  // namespace weir::host

#include "host/linux/netlink.h"

#include <algorithm>

#include <netlink/attr.h>
#include <netlink/msg.h>

namespace weir::host {

using evidence::Missing;

struct NetlinkRequest::Message {
  nl_msg* message = nullptr;
  std::vector<nlattr*> nests;
};

NetlinkRequest::NetlinkRequest(int type, int flags, std::string_view family_header)
    : message_(std::make_unique<Message>()) {
  message_->message = nlmsg_alloc_simple(type, flags);
  WEIR_CHECK(message_->message != nullptr);
  std::string header(family_header);
  WEIR_CHECK(nlmsg_append(message_->message, header.data(), header.size(), NLMSG_ALIGNTO) == 0);
}

NetlinkRequest::~NetlinkRequest() {
  nlmsg_free(message_->message);
}

void NetlinkRequest::put_text(int attribute, const std::string& text) {
  // A bundle may hold a name of any length; no interface has one beyond IFNAMSIZ, 16.
  constexpr std::size_t kLongest = 255;
  const std::string name = text.substr(0, kLongest);
  WEIR_CHECK(nla_put_string(message_->message, attribute, name.c_str()) == 0);
}

void NetlinkRequest::put(int attribute, std::string_view bytes) {
  WEIR_CHECK(nla_put(message_->message, attribute, static_cast<int>(bytes.size()), bytes.data()) ==
             0);
}

void NetlinkRequest::begin_nest(int attribute) {
  message_->nests.push_back(nla_nest_start(message_->message, attribute | NLA_F_NESTED));
  WEIR_CHECK(message_->nests.back() != nullptr);
}

void NetlinkRequest::end_nest() {
  WEIR_CHECK(!message_->nests.empty());
  nla_nest_end(message_->message, message_->nests.back());
  message_->nests.pop_back();
}

std::string NetlinkRequest::bytes() const {
  const nlmsghdr* header = nlmsg_hdr(message_->message);
  return {reinterpret_cast<const char*>(header), header->nlmsg_len};
}

std::optional<Attributes> Attributes::of_message(std::string_view message,
                                                 std::size_t family_header) {
  const std::size_t skip = NLMSG_HDRLEN + NLMSG_ALIGN(family_header);
  if (message.size() < skip) return std::nullopt;
  return Attributes(message.substr(skip));
}

Attributes::Attributes(std::string_view bytes) {
  // Aligned for libnl, whatever the view points at.
  std::vector<std::uint32_t> aligned((bytes.size() + 3) / 4);
  std::copy(bytes.begin(), bytes.end(), reinterpret_cast<char*>(aligned.data()));
  const auto* next = reinterpret_cast<const nlattr*>(aligned.data());
  int left = static_cast<int>(bytes.size());
  while (nla_ok(next, left) != 0) {
    const auto* payload = static_cast<const char*>(nla_data(next));
    const std::size_t offset =
        static_cast<std::size_t>(payload - reinterpret_cast<const char*>(aligned.data()));
    all_.push_back({nla_type(next), bytes.substr(offset, static_cast<std::size_t>(nla_len(next)))});
    next = nla_next(next, &left);
  }
}

std::optional<std::string_view> Attributes::find(int type) const {
  for (const One& attribute : all_) {
    if (attribute.type == type) return attribute.payload;
  }
  return std::nullopt;
}

namespace {

template <class T>
Parsed<T> number_of(std::optional<std::string_view> payload) {
  if (!payload.has_value()) return Missing::kUnsupported;
  if (payload->size() < sizeof(T)) return Missing::kError;
  return number_at<T>(*payload, 0);
}

}  // namespace

Parsed<std::uint8_t> Attributes::u8(int type) const {
  return number_of<std::uint8_t>(find(type));
}
Parsed<std::uint16_t> Attributes::u16(int type) const {
  return number_of<std::uint16_t>(find(type));
}
Parsed<std::uint32_t> Attributes::u32(int type) const {
  return number_of<std::uint32_t>(find(type));
}

}  // namespace weir::host

#include "host/linux/ethtool.h"

#include <algorithm>
#include <cerrno>
#include <limits>

#include <fmt/format.h>
#include <linux/ethtool.h>
#include <linux/ethtool_netlink.h>
#include <linux/genetlink.h>
#include <linux/netlink.h>

#include "host/linux/netlink.h"
#include "host/linux/reader.h"

namespace weir::host {

using evidence::Fact;
using evidence::Missing;

namespace {

constexpr std::uint32_t kMostStatistics = 1U << 16U;
/// The kernel fills in as many as there are at that moment, whatever was requested; PFC on eight
/// priorities adds some eighty names between two calls.
constexpr std::uint32_t kSpareStatistics = 512;

template <class T>
std::string ethtool_bytes(const T& value) {
  return {reinterpret_cast<const char*>(&value), sizeof value};
}

template <std::size_t N>
std::string text_of(const char (&field)[N]) {  // NOLINT(cppcoreguidelines-avoid-c-arrays): uapi
  const char* end = std::find(std::begin(field), std::end(field), '\0');
  return {std::begin(field), end};
}

template <class T>
Answer<T> ioctl_structure(Kernel& kernel, const std::string& netdev, std::uint32_t command) {
  T request{};
  request.cmd = command;
  const auto reply = kernel.ethtool(netdev, ethtool_bytes(request));
  if (!reply) return reply.error();
  if (reply->size() < sizeof(T)) return malformed();
  return number_at<T>(*reply, 0);
}

/// How many strings a set has.
Answer<std::uint32_t> string_count(Kernel& kernel, const std::string& netdev, unsigned set) {
  ethtool_sset_info head{};
  head.cmd = ETHTOOL_GSSET_INFO;
  head.sset_mask = 1ULL << set;
  const auto reply = kernel.ethtool(netdev, ethtool_bytes(head) + ethtool_bytes(std::uint32_t{0}));
  if (!reply) return reply.error();
  if (reply->size() < sizeof head + sizeof(std::uint32_t)) return malformed();
  if ((number_at<ethtool_sset_info>(*reply, 0).sset_mask & (1ULL << set)) == 0)
    return Errno{EOPNOTSUPP};
  const auto count = number_at<std::uint32_t>(*reply, sizeof head);
  if (count > kMostStatistics) return malformed();
  return count;
}

Answer<std::vector<std::string>> string_names(Kernel& kernel, const std::string& netdev,
                                              unsigned set, std::uint32_t count) {
  ethtool_gstrings head{};
  head.cmd = ETHTOOL_GSTRINGS;
  head.string_set = set;
  head.len = count;
  std::string request = ethtool_bytes(head);
  request.resize(request.size() + std::size_t{count + kSpareStatistics} * ETH_GSTRING_LEN, '\0');
  const auto reply = kernel.ethtool(netdev, request);
  if (!reply) return reply.error();
  if (reply->size() < sizeof head) return malformed();
  const std::size_t got = number_at<ethtool_gstrings>(*reply, 0).len;
  if (got > kMostStatistics || reply->size() < sizeof head + got * ETH_GSTRING_LEN)
    return malformed();
  std::vector<std::string> names;
  for (std::size_t n = 0; n < got; ++n) {
    const std::string_view field =
        std::string_view(*reply).substr(sizeof head + n * ETH_GSTRING_LEN, ETH_GSTRING_LEN);
    names.emplace_back(field.substr(0, field.find('\0')));
  }
  return names;
}

std::string_view fec_name_of_link_mode(std::uint32_t bit) {
  switch (bit) {
    case ETHTOOL_LINK_MODE_FEC_NONE_BIT: return "Off";
    case ETHTOOL_LINK_MODE_FEC_RS_BIT: return "RS";
    case ETHTOOL_LINK_MODE_FEC_BASER_BIT: return "BaseR";
    case ETHTOOL_LINK_MODE_FEC_LLRS_BIT: return "LLRS";
    default: return "";
  }
}

std::string_view fec_name_of_flag(std::uint32_t flags) {
  if ((flags & ETHTOOL_FEC_LLRS) != 0) return "LLRS";
  if ((flags & ETHTOOL_FEC_RS) != 0) return "RS";
  if ((flags & ETHTOOL_FEC_BASER) != 0) return "BaseR";
  if ((flags & ETHTOOL_FEC_OFF) != 0) return "Off";
  return "";
}

Parsed<bool> flag_of(const Parsed<std::uint8_t>& number) {
  if (!number) return number.why();
  return *number != 0;
}

Parsed<unsigned> unsigned_of(const Parsed<std::uint32_t>& number) {
  if (!number) return number.why();
  return unsigned{*number};
}

Parsed<std::string> word_of(std::string_view name) {
  if (name.empty()) return Missing::kUnsupported;
  return std::string(name);
}

}  // namespace

Answer<DriverInfo> read_driver_info(Kernel& kernel, const std::string& netdev) {
  const auto info = ioctl_structure<ethtool_drvinfo>(kernel, netdev, ETHTOOL_GDRVINFO);
  if (!info) return info.error();
  return DriverInfo{text_of(info->driver), text_of(info->version), text_of(info->fw_version),
                    text_of(info->bus_info)};
}

Answer<Statistics> read_statistics(Kernel& kernel, const std::string& netdev) {
  const auto count = string_count(kernel, netdev, ETH_SS_STATS);
  if (!count) return count.error();
  if (*count == 0) return Statistics();
  const auto names = string_names(kernel, netdev, ETH_SS_STATS, *count);
  if (!names) return names.error();
  ethtool_stats head{};
  head.cmd = ETHTOOL_GSTATS;
  head.n_stats = *count;
  std::string request = ethtool_bytes(head);
  request.resize(request.size() + std::size_t{*count + kSpareStatistics} * sizeof(std::uint64_t),
                 '\0');
  const auto reply = kernel.ethtool(netdev, request);
  if (!reply) return reply.error();
  if (reply->size() < sizeof head) return malformed();
  const std::size_t got = number_at<ethtool_stats>(*reply, 0).n_stats;
  // Names came or went between the two calls: which number is whose is not known any more.
  if (got != names->size()) return Errno{EAGAIN};
  if (reply->size() < sizeof head + got * sizeof(std::uint64_t)) return malformed();
  Statistics out;
  for (std::size_t n = 0; n < got; ++n) {
    out.emplace_back((*names)[n],
                     number_at<std::uint64_t>(*reply, sizeof head + n * sizeof(std::uint64_t)));
  }
  return out;
}

Fact<bool> read_private_flag(Kernel& kernel, const std::string& netdev, std::string_view flag) {
  const std::string source = fmt::format("ethtool --show-priv-flags {}", netdev);
  const auto count = string_count(kernel, netdev, ETH_SS_PRIV_FLAGS);
  if (!count) return Fact<bool>::missing(missing_of(count.error()), source);
  const auto names = string_names(kernel, netdev, ETH_SS_PRIV_FLAGS, *count);
  if (!names) return Fact<bool>::missing(missing_of(names.error()), source);
  const auto flags = ioctl_structure<ethtool_value>(kernel, netdev, ETHTOOL_GPFLAGS);
  if (!flags) return Fact<bool>::missing(missing_of(flags.error()), source);
  constexpr std::size_t kMostFlags = 32;
  for (std::size_t n = 0; n < names->size() && n < kMostFlags; ++n) {
    if ((*names)[n] == flag) return Fact<bool>::of(((flags->data >> n) & 1U) != 0, source);
  }
  return Fact<bool>::missing(Missing::kAbsent, source);
}

Parsed<std::uint16_t> parse_family(std::string_view message) {
  const auto attributes = Attributes::of_message(message, GENL_HDRLEN);
  if (!attributes.has_value()) return Missing::kError;
  return attributes->u16(CTRL_ATTR_FAMILY_ID);
}

Answer<std::uint16_t> Ethtool::family() {
  if (family_.has_value()) return *family_;
  genlmsghdr header{};
  header.cmd = CTRL_CMD_GETFAMILY;
  header.version = 1;
  NetlinkRequest request(GENL_ID_CTRL, NLM_F_REQUEST | NLM_F_ACK, ethtool_bytes(header));
  request.put_text(CTRL_ATTR_FAMILY_NAME, ETHTOOL_GENL_NAME);
  const auto replies = kernel_.netlink(NETLINK_GENERIC, request.bytes());
  if (!replies) {
    family_ = replies.error();
  } else if (replies->empty()) {
    family_ = malformed();
  } else if (const auto number = parse_family(replies->front())) {
    family_ = *number;
  } else {
    family_ = malformed();
  }
  return *family_;
}

Answer<std::string> Ethtool::ask(std::uint8_t command, const std::string& netdev) {
  const auto number = family();
  if (!number) return number.error();
  genlmsghdr header{};
  header.cmd = command;
  header.version = ETHTOOL_GENL_VERSION;
  NetlinkRequest request(*number, NLM_F_REQUEST | NLM_F_ACK, ethtool_bytes(header));
  request.begin_nest(1);  // the header of every ethtool message is its attribute 1
  request.put_text(ETHTOOL_A_HEADER_DEV_NAME, netdev);
  request.end_nest();
  const auto replies = kernel_.netlink(NETLINK_GENERIC, request.bytes());
  if (!replies) return replies.error();
  constexpr std::size_t kSkip = NLMSG_HDRLEN + GENL_HDRLEN;
  if (replies->empty() || replies->front().size() < kSkip) return malformed();
  return replies->front().substr(kSkip);
}

template <class Put>
Answer<Taken> Ethtool::tell(std::uint8_t command, const std::string& netdev, Put put) {
  const auto number = family();
  if (!number) return Errno{EOPNOTSUPP};
  genlmsghdr header{};
  header.cmd = command;
  header.version = ETHTOOL_GENL_VERSION;
  NetlinkRequest request(*number, NLM_F_REQUEST | NLM_F_ACK, ethtool_bytes(header));
  request.begin_nest(1);
  request.put_text(ETHTOOL_A_HEADER_DEV_NAME, netdev);
  request.end_nest();
  put(request);
  const auto replies = kernel_.change(NETLINK_GENERIC, request.bytes());
  if (!replies) return replies.error();
  return Taken();
}

Answer<Taken> Ethtool::set_pause(const std::string& netdev, bool rx, bool tx) {
  auto told = tell(ETHTOOL_MSG_PAUSE_SET, netdev, [&](NetlinkRequest& request) {
    request.put(ETHTOOL_A_PAUSE_RX, ethtool_bytes(std::uint8_t{rx}));
    request.put(ETHTOOL_A_PAUSE_TX, ethtool_bytes(std::uint8_t{tx}));
  });
  if (!told.is(EOPNOTSUPP)) return told;
  // Before 5.6 there is the ioctl alone, which sets all of it at once.
  const auto now = ioctl_structure<ethtool_pauseparam>(kernel_, netdev, ETHTOOL_GPAUSEPARAM);
  if (!now) return now.error();
  ethtool_pauseparam wanted = *now;
  wanted.cmd = ETHTOOL_SPAUSEPARAM;
  wanted.rx_pause = rx ? 1 : 0;
  wanted.tx_pause = tx ? 1 : 0;
  return kernel_.change_ethtool(netdev, ethtool_bytes(wanted));
}

Answer<Taken> Ethtool::set_rings(const std::string& netdev, unsigned rx, unsigned tx) {
  auto told = tell(ETHTOOL_MSG_RINGS_SET, netdev, [&](NetlinkRequest& request) {
    request.put(ETHTOOL_A_RINGS_RX, ethtool_bytes(std::uint32_t{rx}));
    request.put(ETHTOOL_A_RINGS_TX, ethtool_bytes(std::uint32_t{tx}));
  });
  if (!told.is(EOPNOTSUPP)) return told;
  const auto now = ioctl_structure<ethtool_ringparam>(kernel_, netdev, ETHTOOL_GRINGPARAM);
  if (!now) return now.error();
  ethtool_ringparam wanted = *now;
  wanted.cmd = ETHTOOL_SRINGPARAM;
  wanted.rx_pending = rx;
  wanted.tx_pending = tx;
  return kernel_.change_ethtool(netdev, ethtool_bytes(wanted));
}

void Ethtool::read_rings(const std::string& netdev, EthtoolFacts& out) {
  const std::string source = fmt::format("ethtool -g {}", netdev);
  const auto put = [&](Parsed<unsigned> rx, Parsed<unsigned> tx, Parsed<unsigned> rx_max,
                       Parsed<unsigned> tx_max) {
    out.rings = {to_fact(rx, source), to_fact(tx, source), to_fact(rx_max, source),
                 to_fact(tx_max, source)};
  };
  const auto reply = ask(ETHTOOL_MSG_RINGS_GET, netdev);
  if (reply) {
    const Attributes attributes(*reply);
    put(unsigned_of(attributes.u32(ETHTOOL_A_RINGS_RX)),
        unsigned_of(attributes.u32(ETHTOOL_A_RINGS_TX)),
        unsigned_of(attributes.u32(ETHTOOL_A_RINGS_RX_MAX)),
        unsigned_of(attributes.u32(ETHTOOL_A_RINGS_TX_MAX)));
    return;
  }
  if (family())
    return put(missing_of(reply.error()), missing_of(reply.error()), missing_of(reply.error()),
               missing_of(reply.error()));
  const auto old = ioctl_structure<ethtool_ringparam>(kernel_, netdev, ETHTOOL_GRINGPARAM);
  if (!old)
    return put(missing_of(old.error()), missing_of(old.error()), missing_of(old.error()),
               missing_of(old.error()));
  put(old->rx_pending, old->tx_pending, old->rx_max_pending, old->tx_max_pending);
}

void Ethtool::read_pause(const std::string& netdev, EthtoolFacts& out) {
  const std::string source = fmt::format("ethtool -a {}", netdev);
  const auto reply = ask(ETHTOOL_MSG_PAUSE_GET, netdev);
  if (reply) {
    const Attributes attributes(*reply);
    out.pause_rx = to_fact(flag_of(attributes.u8(ETHTOOL_A_PAUSE_RX)), source);
    out.pause_tx = to_fact(flag_of(attributes.u8(ETHTOOL_A_PAUSE_TX)), source);
    return;
  }
  Errno error = reply.error();
  if (!family()) {
    const auto old = ioctl_structure<ethtool_pauseparam>(kernel_, netdev, ETHTOOL_GPAUSEPARAM);
    if (old) {
      out.pause_rx = Fact<bool>::of(old->rx_pause != 0, source);
      out.pause_tx = Fact<bool>::of(old->tx_pause != 0, source);
      return;
    }
    error = old.error();
  }
  out.pause_rx = Fact<bool>::missing(missing_of(error), source);
  out.pause_tx = Fact<bool>::missing(missing_of(error), source);
}

void Ethtool::read_fec(const std::string& netdev, EthtoolFacts& out) {
  const std::string source = fmt::format("ethtool --show-fec {}", netdev);
  const auto reply = ask(ETHTOOL_MSG_FEC_GET, netdev);
  if (reply) {
    const auto active = Attributes(*reply).u32(ETHTOOL_A_FEC_ACTIVE);
    out.fec = active ? to_fact(word_of(fec_name_of_link_mode(*active)), source)
                     : Fact<std::string>::missing(active.why(), source);
    return;
  }
  // FEC came to netlink in 5.13 only: the older question is worth a try whatever was refused.
  const auto old = ioctl_structure<ethtool_fecparam>(kernel_, netdev, ETHTOOL_GFECPARAM);
  const Errno error = family() ? reply.error() : old ? Errno{0} : old.error();
  out.fec = old ? to_fact(word_of(fec_name_of_flag(old->active_fec)), source)
                : Fact<std::string>::missing(missing_of(error), source);
}

EthtoolFacts Ethtool::read(const std::string& netdev) {
  EthtoolFacts out;
  read_rings(netdev, out);
  read_pause(netdev, out);
  read_fec(netdev, out);
  const std::string source = fmt::format("ethtool {}", netdev);
  const auto reply = ask(ETHTOOL_MSG_LINKMODES_GET, netdev);
  out.autoneg = reply ? to_fact(flag_of(Attributes(*reply).u8(ETHTOOL_A_LINKMODES_AUTONEG)), source)
                      : Fact<bool>::missing(missing_of(reply.error()), source);
  return out;
}

}  // namespace weir::host

#include "host/probe/probe_socket.h"

#include <array>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <thread>

// The kernel's own headers first: glibc's netinet/ip_icmp.h and linux/errqueue.h share names.
#include <arpa/inet.h>
#include <fmt/format.h>
#include <ifaddrs.h>
#include <linux/errqueue.h>
#include <linux/if_link.h>
#include <net/if.h>
#include <netdb.h>
#include <netinet/icmp6.h>
#include <netinet/in.h>
#include <netinet/ip_icmp.h>
#include <poll.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <unistd.h>

namespace weir::host {
namespace {

using Kind = ProbeReply::Kind;

/// Traceroute's first port, which is closed by convention.
constexpr std::uint16_t kClosedPort = 33434;
constexpr std::size_t kIcmpHeader = 8;
constexpr std::size_t kUdpHeaderSize = 8;

class Socket {
 public:
  Socket(int domain, int type, int protocol)
      : fd_(::socket(domain, type | SOCK_CLOEXEC | SOCK_NONBLOCK, protocol)) {}
  Socket(const Socket&) = delete;
  Socket& operator=(const Socket&) = delete;
  ~Socket() {
    if (fd_ >= 0) ::close(fd_);
  }
  [[nodiscard]] bool is_open() const { return fd_ >= 0; }
  [[nodiscard]] int fd() const { return fd_; }
  [[nodiscard]] bool set(int level, int option, int value) const {
    return ::setsockopt(fd_, level, option, &value, sizeof value) == 0;
  }

 private:
  int fd_;
};

/// An address of either family, as the socket calls take it.
struct Address {
  sockaddr_storage storage{};
  socklen_t size = 0;

  [[nodiscard]] sockaddr* get() { return static_cast<sockaddr*>(static_cast<void*>(&storage)); }
  [[nodiscard]] const sockaddr* get() const {
    return static_cast<const sockaddr*>(static_cast<const void*>(&storage));
  }
};

std::string text_of(const sockaddr* address) {
  std::array<char, INET6_ADDRSTRLEN> text{};
  const void* bytes = nullptr;
  const void* raw = address;
  if (address->sa_family == AF_INET) bytes = &static_cast<const sockaddr_in*>(raw)->sin_addr;
  if (address->sa_family == AF_INET6) bytes = &static_cast<const sockaddr_in6*>(raw)->sin6_addr;
  if (bytes == nullptr ||
      ::inet_ntop(address->sa_family, bytes, text.data(), text.size()) == nullptr)
    return {};
  return text.data();
}

Address address_of(const ProbeTarget& target, std::uint16_t port) {
  Address out;
  void* raw = &out.storage;
  if (target.is_ipv6) {
    auto* six = static_cast<sockaddr_in6*>(raw);
    six->sin6_family = AF_INET6;
    six->sin6_port = htons(port);
    // A link-local address means nothing without its interface.
    const std::string bare = target.address.substr(0, target.address.find('%'));
    ::inet_pton(AF_INET6, bare.c_str(), &six->sin6_addr);
    if (IN6_IS_ADDR_LINKLOCAL(&six->sin6_addr) && !target.interface.empty())
      six->sin6_scope_id = ::if_nametoindex(target.interface.c_str());
    out.size = sizeof *six;
  } else {
    auto* four = static_cast<sockaddr_in*>(raw);
    four->sin_family = AF_INET;
    four->sin_port = htons(port);
    ::inet_pton(AF_INET, target.address.c_str(), &four->sin_addr);
    out.size = sizeof *four;
  }
  return out;
}

Error system_error(const std::string& what, int code) {
  return {code == EPERM || code == EACCES ? ErrorCode::kPermission : ErrorCode::kIo,
          fmt::format("{}: {}", what, std::strerror(code))};
}

std::uint16_t checksum(const std::string& bytes) {
  std::uint32_t sum = 0;
  for (std::size_t i = 0; i < bytes.size(); i += 2) {
    const auto high = static_cast<unsigned char>(bytes[i]);
    const auto low = i + 1 < bytes.size() ? static_cast<unsigned char>(bytes[i + 1]) : 0U;
    sum += (static_cast<std::uint32_t>(high) << 8U) | low;
  }
  while ((sum >> 16U) != 0)
    sum = (sum & 0xffffU) + (sum >> 16U);
  return static_cast<std::uint16_t>(~sum);
}

void put16(std::string& bytes, std::size_t at, std::uint16_t value) {
  bytes[at] = static_cast<char>(value >> 8U);
  bytes[at + 1] = static_cast<char>(value & 0xffU);
}

std::uint16_t get16(std::string_view bytes, std::size_t at) {
  return static_cast<std::uint16_t>((static_cast<unsigned char>(bytes[at]) << 8U) |
                                    static_cast<unsigned char>(bytes[at + 1]));
}

/// An echo request of `size` bytes, header included.
std::string echo_request(bool is_ipv6, std::size_t size, std::uint16_t id, std::uint16_t sequence) {
  std::string bytes(size, '\0');
  bytes[0] = static_cast<char>(is_ipv6 ? ICMP6_ECHO_REQUEST : ICMP_ECHO);
  put16(bytes, 4, id);
  put16(bytes, 6, sequence);
  for (std::size_t i = kIcmpHeader; i < size; ++i)
    bytes[i] = static_cast<char>('a' + i % 23);
  if (!is_ipv6) put16(bytes, 2, checksum(bytes));  // of ICMPv6 the kernel fills it in
  return bytes;
}

std::string_view unreachable_text(bool is_ipv6, unsigned code) {
  if (is_ipv6) {
    switch (code) {
      case ICMP6_DST_UNREACH_NOROUTE: return "no route";
      case ICMP6_DST_UNREACH_ADMIN: return "forbidden by a filter";
      case ICMP6_DST_UNREACH_ADDR: return "the address does not answer";
      default: return "unreachable";
    }
  }
  switch (code) {
    case ICMP_NET_UNREACH: return "network unreachable";
    case ICMP_HOST_UNREACH: return "host unreachable";
    case ICMP_PROT_UNREACH: return "protocol unreachable";
    case ICMP_NET_ANO:
    case ICMP_HOST_ANO:
    case ICMP_PKT_FILTERED: return "forbidden by a filter";
    default: return "unreachable";
  }
}

/// The message of the error queue, as a reply; nullopt where it holds nothing of use.
std::optional<ProbeReply> read_error_queue(int fd, const ProbeTarget& target) {
  std::array<char, 512> payload{};
  alignas(cmsghdr) std::array<char, 512> control{};
  iovec part{payload.data(), payload.size()};
  Address from;
  msghdr message{};
  message.msg_name = from.get();
  message.msg_namelen = sizeof from.storage;
  message.msg_iov = &part;
  message.msg_iovlen = 1;
  message.msg_control = control.data();
  message.msg_controllen = control.size();
  if (::recvmsg(fd, &message, MSG_ERRQUEUE) < 0) return std::nullopt;
  for (cmsghdr* header = CMSG_FIRSTHDR(&message); header != nullptr;
       header = CMSG_NXTHDR(&message, header)) {
    const bool is_four = header->cmsg_level == IPPROTO_IP && header->cmsg_type == IP_RECVERR;
    const bool is_six = header->cmsg_level == IPPROTO_IPV6 && header->cmsg_type == IPV6_RECVERR;
    if (!is_four && !is_six) continue;
    sock_extended_err error{};
    std::memcpy(&error, CMSG_DATA(header), sizeof error);
    if (error.ee_origin == SO_EE_ORIGIN_LOCAL) {
      if (error.ee_errno == EMSGSIZE)
        return ProbeReply{.kind = Kind::kTooBigHere, .from = "", .mtu = error.ee_info};
      return ProbeReply{.kind = Kind::kUnreachable,
                        .from = "",
                        .mtu = 0,
                        .detail = std::strerror(static_cast<int>(error.ee_errno))};
    }
    if (error.ee_origin != SO_EE_ORIGIN_ICMP && error.ee_origin != SO_EE_ORIGIN_ICMP6) continue;
    // The offender's address is behind the error.
    Address offender;
    const std::size_t room = header->cmsg_len - CMSG_LEN(sizeof error);
    std::memcpy(&offender.storage, CMSG_DATA(header) + sizeof error,
                std::min(room, sizeof offender.storage));
    const std::string who = text_of(offender.get());
    return read_icmp_error(is_six, error.ee_type, error.ee_code, error.ee_info, who,
                           who == target.address);
  }
  return std::nullopt;
}

Duration since(std::chrono::steady_clock::time_point start) {
  const auto elapsed = std::chrono::steady_clock::now() - start;
  return Duration::raw(std::chrono::duration_cast<std::chrono::nanoseconds>(elapsed).count() *
                       1000);
}

class SocketProbe final : public ProbeIo {
 public:
  SocketProbe(ProbeTarget target, ProbeMethod method, std::optional<Dscp> dscp)
      : target_(std::move(target)), method_(method), dscp_(dscp) {}

  // One socket per probe: a late answer goes to a port that is no longer read.
  Result<ProbeReply> send(std::uint32_t size, unsigned ttl, Duration wait) override {
    const Socket socket(target_.is_ipv6 ? AF_INET6 : AF_INET, type(), protocol());
    if (!socket.is_open()) return system_error("open a socket", errno);
    if (!prepare(socket, ttl)) return system_error("set up a socket", errno);
    ++sequence_;
    const std::size_t ip = target_.is_ipv6 ? 40 : 20;
    const std::size_t header = method_ == ProbeMethod::kUdp ? kUdpHeaderSize : kIcmpHeader;
    WEIR_CHECK(size > ip + header);
    const std::string bytes = method_ == ProbeMethod::kUdp
                                  ? std::string(size - ip - header, 'w')
                                  : echo_request(target_.is_ipv6, size - ip, id(), sequence_);
    const Address to = address_of(target_, method_ == ProbeMethod::kUdp ? kClosedPort : 0);
    const auto start = std::chrono::steady_clock::now();
    if (::sendto(socket.fd(), bytes.data(), bytes.size(), 0, to.get(), to.size) < 0)
      return refused(errno, start);
    return listen(socket, wait, start);
  }

  void pause(Duration time) override {
    std::this_thread::sleep_for(std::chrono::nanoseconds(time.raw() / 1000));
  }

 private:
  [[nodiscard]] int type() const { return method_ == ProbeMethod::kRaw ? SOCK_RAW : SOCK_DGRAM; }
  [[nodiscard]] int protocol() const {
    if (method_ == ProbeMethod::kUdp) return IPPROTO_UDP;
    return target_.is_ipv6 ? static_cast<int>(IPPROTO_ICMPV6) : static_cast<int>(IPPROTO_ICMP);
  }
  [[nodiscard]] static std::uint16_t id() { return static_cast<std::uint16_t>(::getpid()); }

  [[nodiscard]] bool prepare(const Socket& socket, unsigned ttl) const {
    const int hops = static_cast<int>(ttl);
    const int tos = dscp_ ? static_cast<int>(tos_byte(*dscp_, Ecn::kNotEct).value()) : 0;
    if (target_.is_ipv6) {
      return socket.set(IPPROTO_IPV6, IPV6_MTU_DISCOVER, IPV6_PMTUDISC_PROBE) &&
             socket.set(IPPROTO_IPV6, IPV6_DONTFRAG, 1) &&
             socket.set(IPPROTO_IPV6, IPV6_RECVERR, 1) &&
             (ttl == 0 || socket.set(IPPROTO_IPV6, IPV6_UNICAST_HOPS, hops)) &&
             (!dscp_ || socket.set(IPPROTO_IPV6, IPV6_TCLASS, tos));
    }
    return socket.set(IPPROTO_IP, IP_MTU_DISCOVER, IP_PMTUDISC_PROBE) &&
           socket.set(IPPROTO_IP, IP_RECVERR, 1) &&
           (ttl == 0 || socket.set(IPPROTO_IP, IP_TTL, hops)) &&
           (!dscp_ || socket.set(IPPROTO_IP, IP_TOS, tos));
  }

  /// What the kernel says before anything is sent.
  static Result<ProbeReply> refused(int code, std::chrono::steady_clock::time_point start) {
    ProbeReply reply;
    reply.elapsed = since(start);
    if (code == EMSGSIZE) {
      reply.kind = Kind::kTooBigHere;
      return reply;
    }
    // The packet was dropped on the way out: a veth whose other end is narrower does that.
    if (code == ENOBUFS) return reply;
    const bool is_about_path =
        code == ENETUNREACH || code == EHOSTUNREACH || code == ECONNREFUSED || code == EHOSTDOWN;
    if (!is_about_path) return system_error("send a probe", code);
    reply.kind = Kind::kUnreachable;
    reply.detail = std::strerror(code);
    return reply;
  }

  /// Until something about this probe comes, or the time is over.
  [[nodiscard]] Result<ProbeReply> listen(const Socket& socket, Duration wait,
                                          std::chrono::steady_clock::time_point start) const {
    constexpr std::int64_t kMillisecond = 1'000'000'000;
    for (;;) {
      const Duration left = wait - since(start);
      if (left <= Duration()) return ProbeReply{.kind = Kind::kSilent, .elapsed = since(start)};
      pollfd watched{socket.fd(), POLLIN, 0};
      const int timeout = static_cast<int>(left.raw() / kMillisecond) + 1;
      if (::poll(&watched, 1, timeout) < 0 && errno != EINTR) return system_error("poll", errno);
      if ((watched.revents & POLLERR) != 0) {
        if (auto reply = read_error_queue(socket.fd(), target_)) {
          reply->elapsed = since(start);
          return *reply;
        }
      }
      if ((watched.revents & POLLIN) != 0 && is_answer(socket)) {
        return ProbeReply{
            .kind = Kind::kAnswered, .from = target_.address, .elapsed = since(start)};
      }
    }
  }

  [[nodiscard]] bool is_answer(const Socket& socket) const {
    std::array<char, 2048> buffer{};
    Address from;
    from.size = sizeof from.storage;
    const ssize_t got =
        ::recvfrom(socket.fd(), buffer.data(), buffer.size(), 0, from.get(), &from.size);
    if (got < 0) return false;
    if (text_of(from.get()) != target_.address.substr(0, target_.address.find('%'))) return false;
    if (method_ == ProbeMethod::kUdp) return true;  // the port is open after all: an answer too
    // A ping socket gets its own replies alone, under an id that the kernel chose.
    if (method_ == ProbeMethod::kPing) return true;
    return is_echo_reply({buffer.data(), static_cast<std::size_t>(got)}, !target_.is_ipv6,
                         target_.is_ipv6, id(), sequence_);
  }

  ProbeTarget target_;
  ProbeMethod method_;
  std::optional<Dscp> dscp_;
  std::uint16_t sequence_ = 0;
};

/// The interface that owns `address`.
std::string interface_of(const std::string& address) {
  ifaddrs* list = nullptr;
  if (::getifaddrs(&list) != 0) return {};
  std::string name;
  for (const ifaddrs* entry = list; entry != nullptr && name.empty(); entry = entry->ifa_next) {
    if (entry->ifa_addr == nullptr) continue;
    const bool is_ip =
        entry->ifa_addr->sa_family == AF_INET || entry->ifa_addr->sa_family == AF_INET6;
    if (is_ip && text_of(entry->ifa_addr) == address) name = entry->ifa_name;
  }
  ::freeifaddrs(list);
  return name;
}

std::uint32_t mtu_of(const std::string& interface) {
  const Socket socket(AF_INET, SOCK_DGRAM, 0);
  ifreq request{};
  interface.copy(request.ifr_name, IFNAMSIZ - 1);
  if (!socket.is_open() || ::ioctl(socket.fd(), SIOCGIFMTU, &request) != 0) return 0;
  return static_cast<std::uint32_t>(request.ifr_mtu);
}

/// A mistyped address is not a name to look up, and "10.1" is not 10.0.0.1 (inet_aton's old forms).
Status check_address(const std::string& peer) {
  const bool is_four = peer.find_first_not_of("0123456789.") == std::string::npos;
  const bool is_six = peer.find(':') != std::string::npos;
  in6_addr bytes{};
  if (is_four && ::inet_pton(AF_INET, peer.c_str(), &bytes) != 1)
    return invalid_error(
        fmt::format("{} is not an IPv4 address: expected four numbers up to 255, "
                    "such as 10.0.0.1",
                    peer));
  if (is_six && ::inet_pton(AF_INET6, peer.substr(0, peer.find('%')).c_str(), &bytes) != 1)
    return invalid_error(
        fmt::format("{} is not an IPv6 address: expected one such as fd00::1", peer));
  return {};
}

}  // namespace

std::string_view to_text(ProbeMethod method) {
  switch (method) {
    case ProbeMethod::kPing: return "ping";
    case ProbeMethod::kRaw: return "raw";
    case ProbeMethod::kUdp: return "udp";
  }
  WEIR_UNREACHABLE("every method has a text");
}

Result<ProbeTarget> resolve_probe_target(const std::string& peer, int family) {
  WEIR_TRY_STATUS(check_address(peer));
  addrinfo hints{};
  hints.ai_family = family == 4 ? AF_INET : family == 6 ? AF_INET6 : AF_UNSPEC;
  hints.ai_socktype = SOCK_DGRAM;
  addrinfo* list = nullptr;
  if (const int failed = ::getaddrinfo(peer.c_str(), nullptr, &hints, &list); failed != 0)
    return not_found_error(fmt::format("{}: {}", peer, ::gai_strerror(failed)));
  ProbeTarget target;
  target.name = peer;
  target.is_ipv6 = list->ai_family == AF_INET6;
  target.address = text_of(list->ai_addr);
  const Socket socket(list->ai_family, SOCK_DGRAM, 0);
  Address to;
  std::memcpy(&to.storage, list->ai_addr, list->ai_addrlen);
  to.size = list->ai_addrlen;
  ::freeaddrinfo(list);
  if (!socket.is_open()) return system_error("open a socket", errno);
  // Connecting a datagram socket sends nothing: it asks for the route alone.
  void* raw = &to.storage;
  if (target.is_ipv6) {
    static_cast<sockaddr_in6*>(raw)->sin6_port = htons(kClosedPort);
  } else {
    static_cast<sockaddr_in*>(raw)->sin_port = htons(kClosedPort);
  }
  if (::connect(socket.fd(), to.get(), to.size) != 0)
    return Error{ErrorCode::kIo, fmt::format("no route to {} ({}): {}", peer, target.address,
                                             std::strerror(errno))};
  Address local;
  local.size = sizeof local.storage;
  if (::getsockname(socket.fd(), local.get(), &local.size) == 0)
    target.interface = interface_of(text_of(local.get()));
  if (!target.interface.empty()) target.interface_mtu = mtu_of(target.interface);
  return target;
}

std::vector<ProbeMethod> probe_methods(const ProbeTarget& target) {
  std::vector<ProbeMethod> methods;
  const int domain = target.is_ipv6 ? AF_INET6 : AF_INET;
  const int protocol =
      target.is_ipv6 ? static_cast<int>(IPPROTO_ICMPV6) : static_cast<int>(IPPROTO_ICMP);
  if (Socket(domain, SOCK_DGRAM, protocol).is_open()) methods.push_back(ProbeMethod::kPing);
  if (Socket(domain, SOCK_RAW, protocol).is_open()) methods.push_back(ProbeMethod::kRaw);
  methods.push_back(ProbeMethod::kUdp);
  return methods;
}

std::unique_ptr<ProbeIo> make_probe_io(const ProbeTarget& target, ProbeMethod method,
                                       std::optional<Dscp> dscp) {
  return std::make_unique<SocketProbe>(target, method, dscp);
}

bool is_echo_reply(std::string_view packet, bool has_ip_header, bool is_ipv6, std::uint16_t id,
                   std::uint16_t sequence) {
  if (has_ip_header) {
    if (packet.empty()) return false;
    const std::size_t header = (static_cast<unsigned char>(packet[0]) & 0x0fU) * 4U;
    if (header < 20 || packet.size() < header) return false;
    packet.remove_prefix(header);
  }
  if (packet.size() < kIcmpHeader) return false;
  const unsigned type = static_cast<unsigned char>(packet[0]);
  const unsigned wanted = is_ipv6 ? ICMP6_ECHO_REPLY : ICMP_ECHOREPLY;
  return type == wanted && get16(packet, 4) == id && get16(packet, 6) == sequence;
}

ProbeReply read_icmp_error(bool is_ipv6, unsigned type, unsigned code, std::uint32_t mtu,
                           std::string from, bool is_peer) {
  ProbeReply reply;
  reply.from = std::move(from);
  const bool is_expired = type == (is_ipv6 ? ICMP6_TIME_EXCEEDED : ICMP_TIME_EXCEEDED);
  const bool is_too_big = is_ipv6 ? type == ICMP6_PACKET_TOO_BIG
                                  : type == ICMP_DEST_UNREACH && code == ICMP_FRAG_NEEDED;
  const bool is_unreachable = type == (is_ipv6 ? ICMP6_DST_UNREACH : ICMP_DEST_UNREACH);
  const unsigned port = is_ipv6 ? ICMP6_DST_UNREACH_NOPORT : ICMP_PORT_UNREACH;
  if (is_too_big) {
    reply.kind = Kind::kTooBig;
    reply.mtu = mtu;
  } else if (is_expired) {
    reply.kind = Kind::kExpired;
  } else if (is_unreachable && code == port && is_peer) {
    reply.kind = Kind::kAnswered;
  } else if (is_unreachable) {
    reply.kind = Kind::kUnreachable;
    reply.detail = unreachable_text(is_ipv6, code);
  }
  return reply;
}

std::vector<InterfaceCounter> interface_counters(const std::string& interface) {
  ifaddrs* list = nullptr;
  if (::getifaddrs(&list) != 0) return {};
  std::vector<InterfaceCounter> counters;
  for (const ifaddrs* entry = list; entry != nullptr; entry = entry->ifa_next) {
    if (entry->ifa_addr == nullptr || entry->ifa_addr->sa_family != AF_PACKET ||
        entry->ifa_data == nullptr || interface != entry->ifa_name)
      continue;
    rtnl_link_stats stats{};
    std::memcpy(&stats, entry->ifa_data, sizeof stats);
    counters = {{"rx_dropped", stats.rx_dropped},
                {"rx_errors", stats.rx_errors},
                {"rx_length_errors", stats.rx_length_errors},
                {"rx_over_errors", stats.rx_over_errors},
                {"tx_dropped", stats.tx_dropped},
                {"tx_errors", stats.tx_errors}};
  }
  ::freeifaddrs(list);
  return counters;
}

}  // namespace weir::host

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <memory>

#include <fmt/format.h>
#include <netdb.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>

#include "base/owned_descriptor.h"
#include "host/fleet/fleet.h"

namespace weir::host {
namespace {

using ProbeClock = std::chrono::steady_clock;

/// 0, or why it could not be connected to by then.
int connect_by(const addrinfo& to, ProbeClock::time_point deadline) {
  const OwnedDescriptor socket(
      ::socket(to.ai_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, to.ai_protocol));
  if (socket.get() < 0) return errno;
  if (::connect(socket.get(), to.ai_addr, to.ai_addrlen) == 0) return 0;
  if (errno != EINPROGRESS) return errno;
  pollfd watched{socket.get(), POLLOUT, 0};
  for (;;) {
    const auto left =
        std::chrono::duration_cast<std::chrono::milliseconds>(deadline - ProbeClock::now()).count();
    if (left <= 0) return ETIMEDOUT;
    const int ready = ::poll(&watched, 1, static_cast<int>(left) + 1);
    if (ready > 0) break;
    if (ready < 0 && errno != EINTR) return errno;
  }
  int failure = 0;
  socklen_t size = sizeof failure;
  if (::getsockopt(socket.get(), SOL_SOCKET, SO_ERROR, &failure, &size) != 0) return errno;
  return failure;
}

}  // namespace

Status probe_tcp(const std::string& address, unsigned port, Duration limit) {
  addrinfo hints{};
  hints.ai_socktype = SOCK_STREAM;
  hints.ai_flags = AI_NUMERICSERV;
  addrinfo* found = nullptr;
  const int wrong = ::getaddrinfo(address.c_str(), std::to_string(port).c_str(), &hints, &found);
  if (wrong != 0) return not_found_error(fmt::format("no address: {}", ::gai_strerror(wrong)));
  const std::unique_ptr<addrinfo, void (*)(addrinfo*)> all(found, ::freeaddrinfo);
  const auto deadline = ProbeClock::now() + std::chrono::nanoseconds(limit.raw() / 1000);
  int failure = ENETUNREACH;
  for (const addrinfo* at = all.get(); at != nullptr; at = at->ai_next) {
    failure = connect_by(*at, deadline);
    if (failure == 0) return {};
  }
  if (failure == ETIMEDOUT)
    return Error{ErrorCode::kIo, fmt::format("no answer on port {} within {:.3g} s", port,
                                             static_cast<double>(limit.raw()) / 1e12)};
  return Error{ErrorCode::kIo, fmt::format("port {}: {}", port, std::strerror(failure))};
}

}  // namespace weir::host

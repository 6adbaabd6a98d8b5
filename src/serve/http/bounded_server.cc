#include "serve/http/bounded_server.h"

#include <algorithm>
#include <array>
#include <chrono>
#include <cstring>
#include <optional>
#include <utility>

#include <netdb.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

namespace weir::serve {
namespace {

using SteadyClock = std::chrono::steady_clock;

constexpr std::size_t kLongestRequest = 16384;
constexpr std::chrono::milliseconds kTimeToAsk(5000);
constexpr std::chrono::milliseconds kTimeWhereMany(250);
constexpr auto kTimeToAnswer = std::chrono::seconds(10);
constexpr std::chrono::milliseconds kTimeToTake(8000);  // a message of a stream
constexpr int kStreamBuffer = 128 * 1024;

struct FreeSession {
  void operator()(SSL* session) const { SSL_free(session); }
};
using TlsSession = std::unique_ptr<SSL, FreeSession>;

/// Until the deadline, in milliseconds; 0 where it has passed.
int left_until(SteadyClock::time_point deadline) {
  const auto left =
      std::chrono::duration_cast<std::chrono::milliseconds>(deadline - SteadyClock::now());
  return static_cast<int>(std::max<std::int64_t>(left.count(), 0));
}

/// A blocking call on the socket gives up then.
void set_timeout(int socket, int option, int milliseconds) {
  timeval time{};
  time.tv_sec = milliseconds / 1000;
  time.tv_usec = (milliseconds % 1000) * 1000 + 1;  // all zero would be for ever
  ::setsockopt(socket, SOL_SOCKET, option, &time, sizeof time);
}

class BoundedStream final : public httplib::Stream {
 public:
  BoundedStream(socket_t socket, SSL* session, std::chrono::milliseconds time_to_ask)
      : socket_(socket), session_(session), asks_by_(SteadyClock::now() + time_to_ask) {}

  [[nodiscard]] bool is_readable() const override { return has_buffered() || waits_for(POLLIN); }
  /// Asked before every message of an answer that goes on.
  [[nodiscard]] bool is_writable() const override {
    if (!is_stream_) return waits_for(POLLOUT);
    answers_by_ = SteadyClock::now() + kTimeToTake;
    pollfd waiting{socket_, POLLOUT, 0};
    return ::poll(&waiting, 1, static_cast<int>(kTimeToTake.count())) > 0;
  }
  void becomes_stream() {
    is_stream_ = true;
    ::setsockopt(socket_, SOL_SOCKET, SO_SNDBUF, &kStreamBuffer, sizeof kStreamBuffer);
  }

  ssize_t read(char* to, std::size_t size) override {
    if (!has_buffered() && !fill()) return -1;
    const std::size_t count = std::min(size, end_ - begin_);
    std::memcpy(to, buffer_.data() + begin_, count);
    begin_ += count;
    return static_cast<ssize_t>(count);
  }

  ssize_t write(const char* from, std::size_t size) override {
    if (!answers_by_) answers_by_ = SteadyClock::now() + kTimeToAnswer;
    const int left = left_until(*answers_by_);
    if (left == 0) return -1;
    set_timeout(socket_, SO_SNDTIMEO, left);
    const std::size_t count = std::min<std::size_t>(size, 1U << 20U);
    if (session_ != nullptr) return SSL_write(session_, from, static_cast<int>(count));
    return ::send(socket_, from, count, MSG_NOSIGNAL);
  }

  void get_remote_ip_and_port(std::string& /*ip*/, int& /*port*/) const override {}
  void get_local_ip_and_port(std::string& /*ip*/, int& /*port*/) const override {}
  [[nodiscard]] socket_t socket() const override { return socket_; }

  /// REQUIRES: a session.
  [[nodiscard]] bool accept() {
    set_timeout(socket_, SO_RCVTIMEO, left_until(asks_by_));
    set_timeout(socket_, SO_SNDTIMEO, left_until(asks_by_));
    return SSL_accept(session_) == 1;
  }

 private:
  [[nodiscard]] bool has_buffered() const { return begin_ < end_; }

  [[nodiscard]] bool waits_for(short event) const {
    pollfd waiting{socket_, event, 0};
    return ::poll(&waiting, 1, left_until(asks_by_)) > 0;
  }

  /// False: too much was sent, or too slowly, or the client is gone.
  bool fill() {
    const int left = left_until(asks_by_);
    const std::size_t room = std::min(buffer_.size(), kLongestRequest - taken_);
    if (left == 0 || room == 0) return false;
    set_timeout(socket_, SO_RCVTIMEO, left);
    const ssize_t count = session_ != nullptr
                              ? SSL_read(session_, buffer_.data(), static_cast<int>(room))
                              : ::recv(socket_, buffer_.data(), room, 0);
    if (count <= 0) return false;
    begin_ = 0;
    end_ = static_cast<std::size_t>(count);
    taken_ += end_;
    return true;
  }

  socket_t socket_;
  SSL* session_;  // nullptr: plain
  SteadyClock::time_point asks_by_;
  mutable std::optional<SteadyClock::time_point> answers_by_;
  bool is_stream_ = false;
  std::array<char, 4096> buffer_{};
  std::size_t begin_ = 0;
  std::size_t end_ = 0;
  std::size_t taken_ = 0;
};

/// A connection has its thread from the first byte to the last.
thread_local std::size_t kept_by_this_connection = 0;  // NOLINT(*-avoid-non-const-global-*)

/// What the library would do for a client and must not. Ranges: a short request could ask for the
/// same bytes a thousand times. Brotli, which it prefers: packing one answer takes forty times the
/// processor time of gzip and 10 MB, so that sixty requests of one line would take the memory of
/// the service.
void restrain(httplib::Request& request) {
  request.ranges.clear();
  constexpr const char* kAccepted = "Accept-Encoding";
  const bool takes_gzip = request.get_header_value(kAccepted).find("gzip") != std::string::npos;
  request.headers.erase(kAccepted);
  if (takes_gzip) request.set_header(kAccepted, "gzip");
}

/// Without its port; empty where it is not known.
std::string address_of(socket_t socket) {
  sockaddr_storage peer{};
  socklen_t size = sizeof peer;
  std::array<char, NI_MAXHOST> text{};
  auto* const address = reinterpret_cast<sockaddr*>(&peer);  // NOLINT: as the interface wants it
  if (::getpeername(socket, address, &size) != 0) return {};
  if (::getnameinfo(address, size, text.data(), text.size(), nullptr, 0, NI_NUMERICHOST) != 0)
    return {};
  return text.data();
}

}  // namespace

bool BoundedServer::may_keep(std::size_t bytes) {
  const std::lock_guard lock(mutex_);
  if (kept_bytes_ != 0 && kept_bytes_ + bytes > most_bytes_) return false;
  kept_bytes_ += bytes;
  kept_by_this_connection += bytes;
  return true;
}

void BoundedServer::keeps_instead(std::size_t expected, std::size_t bytes) {
  const std::lock_guard lock(mutex_);
  kept_bytes_ = kept_bytes_ - expected + bytes;
  kept_by_this_connection = kept_by_this_connection - expected + bytes;
}

bool BoundedServer::process_and_close_socket(socket_t socket) {
  constexpr int kManyPerAddress = 16;
  const std::string address = address_of(socket);
  bool are_many = false;
  {
    const std::lock_guard lock(mutex_);
    are_many = ++connections_[address] > kManyPerAddress;
  }
  const bool is_done = process(socket, are_many ? kTimeWhereMany : kTimeToAsk);
  const std::lock_guard lock(mutex_);
  kept_bytes_ -= std::exchange(kept_by_this_connection, 0);
  if (--connections_[address] == 0) connections_.erase(address);
  return is_done;
}

bool BoundedServer::process(socket_t socket, std::chrono::milliseconds time_to_ask) {
  TlsSession session;
  if (tls_ != nullptr) {
    session.reset(SSL_new(tls_.get()));
    if (session != nullptr) SSL_set_fd(session.get(), socket);
  }
  bool is_done = false;
  BoundedStream stream(socket, session.get(), time_to_ask);
  const bool is_open = tls_ == nullptr || (session != nullptr && stream.accept());
  if (is_open) {
    bool is_closed = false;
    is_done = process_request(stream, true, is_closed, [&stream](httplib::Request& request) {
      restrain(request);
      if (request.path == kStreamPath) stream.becomes_stream();
    });
  }
  if (session != nullptr && is_open) SSL_shutdown(session.get());
  ::shutdown(socket, SHUT_RDWR);
  ::close(socket);
  return is_done;
}

}  // namespace weir::serve

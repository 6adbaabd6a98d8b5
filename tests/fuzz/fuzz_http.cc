// Bytes as a client sends them to the real server: head, body, door, questions, assets.
//
// A recording is served on a port of this machine; every input is one connection. "@TOKEN@" in it
// stands for the token, so that inputs come past the door. What comes back is an answer of HTTP or
// nothing, never a failure of the server's own, and the page's data for the token alone.
#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>
#include <thread>

#include <arpa/inet.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>

#include "base/owned_descriptor.h"
#include "serve/http/server.h"

namespace {

using namespace weir::serve;  // NOLINT(google-build-using-namespace)

constexpr std::string_view kPlaceholder = "@TOKEN@";
constexpr std::string_view kToken = "?token=";

weir::ops::Replay recording() {
  weir::ops::Replay run;
  for (int moment = 0; moment < 3; ++moment) {
    weir::ops::ReplayMoment& now = run.moments.emplace_back();
    now.time = "2026-11-18T00:00:00Z";
    now.clock_ns = moment * 1'000'000'000LL;
    now.ports.resize(4);
    for (std::size_t i = 0; i < now.ports.size(); ++i) {
      weir::ops::WatchedPort& port = now.ports[i];
      port.device = i < 2 ? "gpu" + std::to_string(i) : "leaf";
      port.name = "p" + std::to_string(i);
      port.tier = i < 2 ? 0 : 1;
      port.peer = (i + 2) % 4;
      port.paused = 0.5;
      port.pausing = 0.5;
    }
  }
  return run;
}

/// Runs until the process ends.
class Served {
 public:
  Served() {
    std::thread([this] {
      LivePage page(recording(), PageInfo{});
      ServerRequest request;
      request.listen = {"127.0.0.1", 0};
      request.on_listening = [this](const std::string& url, const std::string& address) {
        token_ = address.substr(address.find(kToken) + kToken.size());
        port_ = static_cast<std::uint16_t>(std::stoul(url.substr(url.rfind(':') + 1)));
        port_.notify_all();
      };
      if (!serve(nullptr, page, request)) std::abort();
    }).detach();
    port_.wait(0);
  }
  [[nodiscard]] std::uint16_t port() const { return port_; }
  [[nodiscard]] const std::string& token() const { return token_; }

 private:
  std::string token_;
  std::atomic<std::uint16_t> port_ = 0;
};

std::string with_token(std::string_view input, const std::string& token) {
  std::string out(input);
  for (std::size_t at = out.find(kPlaceholder); at != std::string::npos;
       at = out.find(kPlaceholder, at + token.size()))
    out.replace(at, kPlaceholder.size(), token);
  return out;
}

/// The beginning of what is answered; a stream goes on.
std::string answer_to(std::uint16_t port, std::string_view request) {
  const weir::OwnedDescriptor client(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(port);
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  auto* const to = reinterpret_cast<sockaddr*>(&address);  // NOLINT: as the interface wants it
  if (::connect(client.get(), to, sizeof address) != 0) return {};
  (void)::send(client.get(), request.data(), request.size(), MSG_NOSIGNAL);
  ::shutdown(client.get(), SHUT_WR);
  pollfd waiting{client.get(), POLLIN, 0};
  if (::poll(&waiting, 1, 5000) <= 0) return {};
  std::array<char, 65536> buffer{};
  const ssize_t count = ::recv(client.get(), buffer.data(), buffer.size(), 0);
  return {buffer.data(), count > 0 ? static_cast<std::size_t>(count) : 0};
}

}  // namespace

// NOLINTNEXTLINE(readability-identifier-naming): the name that libFuzzer calls
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static const Served served;
  const std::string_view text(reinterpret_cast<const char*>(data), size);  // NOLINT
  const std::string request = with_token(text, served.token());
  const std::string answer = answer_to(served.port(), request);
  if (answer.empty()) return 0;
  if (!answer.starts_with("HTTP/1.1 ") || answer.compare(9, 3, "500") == 0) std::abort();
  const bool shows_token = request.find(served.token()) != std::string::npos;
  const bool has_data =
      answer.compare(9, 3, "200") == 0 && answer.find("gpu0") != std::string::npos;
  if (has_data && !shows_token) std::abort();
  return 0;
}

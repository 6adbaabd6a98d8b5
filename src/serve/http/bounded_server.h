#pragma once
// cpp-httplib's server with limits on what a client can make it keep: the library reads request
// lines, headers and bodies of any length into memory before a handler is asked.
//
// A connection is one request of at most 16 KiB, head and body together, sent within five seconds;
// its answer is taken within ten. Answers are packed by gzip or not at all, and ranges are not
// served: a request of one line must not cost much. An address with 16 connections has a quarter of
// a second for each further request: one machine that sends slowly cannot keep the threads from
// others. An answer that goes on (server-sent events) has no end; whoever does not take a message
// within eight seconds is let go.
#include <chrono>
#include <map>
#include <memory>
#include <mutex>
#include <string>

#include <httplib.h>
#include <openssl/ssl.h>

namespace weir::serve {

struct FreeTls {
  void operator()(SSL_CTX* context) const { SSL_CTX_free(context); }
};
using TlsContext = std::unique_ptr<SSL_CTX, FreeTls>;

class BoundedServer final : public httplib::Server {
 public:
  /// `tls` may be null: plain HTTP.
  explicit BoundedServer(TlsContext tls, std::size_t most_bytes = std::size_t{64} << 20U)
      : tls_(std::move(tls)), most_bytes_(most_bytes) {}

  /// Of a handler: whether an answer of so many bytes may be made now, counted until its connection
  /// is closed. A client that takes it slowly keeps it here; one answer may always be made.
  [[nodiscard]] bool may_keep(std::size_t bytes);
  /// The answer became `bytes` and not what was said of it before.
  void keeps_instead(std::size_t expected, std::size_t bytes);

  /// The path whose answer goes on for ever.
  static constexpr const char* kStreamPath = "/api/stream";

 private:
  bool process_and_close_socket(socket_t socket) override;
  bool process(socket_t socket, std::chrono::milliseconds time_to_ask);

  TlsContext tls_;
  std::size_t most_bytes_;
  std::mutex mutex_;
  std::size_t kept_bytes_ = 0;              // of answers that are not taken yet
  std::map<std::string, int> connections_;  // being read or answered, by address
};

}  // namespace weir::serve

#pragma once
// cpp-httplib's server with limits on what a client can make it keep: the library reads request
// lines, headers and bodies of any length into memory before a handler is asked.
//
// A connection is one request of at most 16 KiB, head and body together, sent within five seconds;
// its answer is taken within ten. Ranges are not served: a short request could ask for the same
// bytes a thousand times. An address with 16 connections has a quarter of a second for each further
// request: one machine that sends slowly cannot keep the threads from others.
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
  explicit BoundedServer(TlsContext tls) : tls_(std::move(tls)) {}

 private:
  bool process_and_close_socket(socket_t socket) override;
  bool process(socket_t socket, std::chrono::milliseconds time_to_ask);

  TlsContext tls_;
  std::mutex mutex_;
  std::map<std::string, int> connections_;  // being read or answered, by address
};

}  // namespace weir::serve

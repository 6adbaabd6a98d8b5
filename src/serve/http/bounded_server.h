#pragma once
// cpp-httplib's server with limits on what a client can make it keep: the library reads request
// lines, headers and bodies of any length into memory before a handler is asked.
//
// A connection is one request of at most 16 KiB, head and body together, sent within five seconds;
// its answer is taken within ten. Ranges are not served: a short request could ask for the same
// bytes a thousand times.
#include <memory>

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

  TlsContext tls_;
};

}  // namespace weir::serve

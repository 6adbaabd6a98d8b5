#pragma once
// The exporter and the live page over HTTP: /metrics and /healthz, the page with its API. GET and
// HEAD alone, but for the faults of a lab; nothing that is asked here changes a host.
#include <cstdint>
#include <functional>
#include <optional>
#include <string>

#include "base/result.h"
#include "serve/http/exporter.h"
#include "serve/http/web_config.h"
#include "serve/page/live_page.h"
#include "units/quantity.h"

namespace weir::serve {

struct ListenAddress {
  std::string host = "127.0.0.1";
  std::uint16_t port = 9347;  // 0: one that is free
};

/// "HOST:PORT", ":PORT" (every address), "[::1]:PORT".
[[nodiscard]] Result<ListenAddress> parse_listen_address(std::string_view text);
[[nodiscard]] bool is_loopback(const ListenAddress& address);

struct ServerRequest {
  ListenAddress listen = {};
  std::optional<WebConfig> web = {};
  Duration judge_every = {};
  std::function<bool()> is_interrupted = {};
  /// Told the address once connections are taken, and the page's with its token.
  std::function<void(const std::string& url, const std::string& page)> on_listening = {};
};

/// Serves until interrupted. An error where the address or the certificate cannot be used. Without
/// an exporter (nullptr: a recording) there is no /metrics.
[[nodiscard]] Status serve(Exporter* exporter, LivePage& page, const ServerRequest& request);

}  // namespace weir::serve

#include "serve/http/server.h"

#include <atomic>
#include <chrono>
#include <memory>
#include <thread>

#include <fmt/format.h>
#include <httplib.h>

#include "base/text.h"
#include "base/untrusted/printable.h"
#include "serve/http/bounded_server.h"

namespace weir::serve {
namespace {

// Each open connection holds a thread until it is answered or its time is over.
constexpr std::size_t kThreads = 64;
constexpr std::string_view kTextFormat = "text/plain; version=0.0.4; charset=utf-8";

constexpr std::string_view kFrontPage =
    "<!doctype html><html lang=\"en\"><title>weir</title><h1>weir</h1>"
    "<p>Metrics of RoCE ports: <a href=\"/metrics\">/metrics</a></p></html>\n";

bool set_up_tls(SSL_CTX& context, const TlsConfig& tls) {
  SSL_CTX_set_min_proto_version(&context,
                                tls.minimum_version == 13 ? TLS1_3_VERSION : TLS1_2_VERSION);
  if (SSL_CTX_use_certificate_chain_file(&context, tls.certificate.c_str()) != 1) return false;
  if (SSL_CTX_use_PrivateKey_file(&context, tls.key.c_str(), SSL_FILETYPE_PEM) != 1) return false;
  if (SSL_CTX_check_private_key(&context) != 1) return false;
  if (!tls.needs_client_certificate) return true;
  if (SSL_CTX_load_verify_locations(&context, tls.client_ca.c_str(), nullptr) != 1) return false;
  SSL_CTX_set_verify(&context, SSL_VERIFY_PEER | SSL_VERIFY_FAIL_IF_NO_PEER_CERT, nullptr);
  return true;
}

Result<std::unique_ptr<BoundedServer>> make_server(const std::optional<WebConfig>& web) {
  if (!web || !web->tls) return std::make_unique<BoundedServer>(nullptr);
  const TlsConfig& tls = *web->tls;
  TlsContext context(SSL_CTX_new(TLS_server_method()));
  if (context == nullptr || !set_up_tls(*context, tls))
    return invalid_error(fmt::format(
        "TLS: cannot use certificate {} with key {}{}: expected PEM files that belong together and "
        "can be read",
        tls.certificate, tls.key, tls.client_ca.empty() ? "" : " and client CA " + tls.client_ca));
  return std::make_unique<BoundedServer>(std::move(context));
}

void limit(httplib::Server& server) {
  server.new_task_queue = [] { return new httplib::ThreadPool(kThreads); };
  // The library's own would let a second server share the port (SO_REUSEPORT).
  server.set_socket_options([](socket_t socket) {
    const int yes = 1;
    ::setsockopt(socket, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof yes);
  });
}

/// The host of a request, without its port, is an address or this machine's own name for itself. Any
/// other name may be a site that had its name lead here (DNS rebinding): then a page of that site
/// asks, in a browser on this machine.
bool is_asked_by_address(std::string_view host) {
  const bool is_v6 = host.starts_with('[');
  const std::size_t close = host.find(']');
  if (is_v6 && close == std::string_view::npos) return false;
  host = is_v6 ? host.substr(1, close - 1) : host.substr(0, host.rfind(':'));
  in6_addr address{};
  const std::string name(host);
  return name.empty() || name == "localhost" ||
         ::inet_pton(is_v6 ? AF_INET6 : AF_INET, name.c_str(), &address) == 1;
}

/// Answers whoever may not ask, before any other handler. Where nobody needs a password, because
/// only this machine is listened to, other sites' pages may not ask in its name.
void guard(httplib::Server& server, const ServerRequest& asked,
           const std::shared_ptr<PasswordCheck>& passwords) {
  const std::optional<WebConfig>& web = asked.web;
  const bool is_open = passwords == nullptr && !(web && web->tls) && is_loopback(asked.listen);
  httplib::Headers headers{{"X-Content-Type-Options", "nosniff"},
                           {"Content-Security-Policy", "default-src 'none'"},
                           {"Cache-Control", "no-store"}};
  if (web)
    for (const auto& [name, value] : web->headers) {
      headers.erase(name);
      headers.emplace(name, value);
    }
  server.set_default_headers(std::move(headers));
  server.set_pre_routing_handler(
      [passwords, is_open](const httplib::Request& request, httplib::Response& response) {
        using Handled = httplib::Server::HandlerResponse;
        if (request.method != "GET" && request.method != "HEAD") {
          response.status = 405;
          response.set_header("Allow", "GET, HEAD");
          return Handled::Handled;
        }
        if (is_open && !is_asked_by_address(request.get_header_value("Host"))) {
          response.status = 403;
          response.set_content("ask for 127.0.0.1, [::1] or localhost: any other name is refused\n",
                               "text/plain; charset=utf-8");
          return Handled::Handled;
        }
        if (passwords == nullptr || passwords->admits(request.get_header_value("Authorization")))
          return Handled::Unhandled;
        response.status = 401;
        response.set_header("WWW-Authenticate", "Basic realm=\"weir\"");
        return Handled::Handled;
      });
}

void route(BoundedServer& server, const Exporter& exporter) {
  server.Get("/", [](const httplib::Request&, httplib::Response& response) {
    response.set_content(kFrontPage.data(), kFrontPage.size(), "text/html; charset=utf-8");
  });
  server.Get("/healthz", [](const httplib::Request&, httplib::Response& response) {
    response.set_content("ok\n", "text/plain; charset=utf-8");
  });
  // As large as the last one: asked before it is made, so that a refusal costs nothing.
  const auto expected = std::make_shared<std::atomic<std::size_t>>(0);
  server.Get("/metrics", [&, expected](const httplib::Request&, httplib::Response& response) {
    if (!server.may_keep(*expected)) {
      response.status = 503;
      response.set_header("Retry-After", "1");
      return;
    }
    response.body = to_text(exporter.Collect());
    response.set_header("Content-Type", std::string(kTextFormat));
    *expected = response.body.size();
  });
}

/// Judges again and again until told to stop; ends the server then.
class Pace {
 public:
  Pace(Exporter& exporter, const ServerRequest& request, httplib::Server& server)
      : thread_([this, &exporter, &request, &server] { run(exporter, request, server); }) {}
  Pace(const Pace&) = delete;
  Pace& operator=(const Pace&) = delete;
  ~Pace() {
    is_over_ = true;
    thread_.join();
  }

 private:
  void run(Exporter& exporter, const ServerRequest& request, httplib::Server& server) {
    constexpr auto kStep = std::chrono::milliseconds(100);
    const auto every = std::chrono::nanoseconds(request.judge_every.raw() / 1000);
    auto next = std::chrono::steady_clock::now();
    while (!is_over_) {
      if (request.is_interrupted && request.is_interrupted()) {
        server.stop();
        return;
      }
      if (std::chrono::steady_clock::now() >= next) {
        exporter.judge();
        next = std::chrono::steady_clock::now() + every;
      }
      std::this_thread::sleep_for(kStep);
    }
  }

  std::atomic<bool> is_over_ = false;
  std::thread thread_;
};

}  // namespace

Result<ListenAddress> parse_listen_address(std::string_view text) {
  const auto wrong = [&] {
    return parse_error(fmt::format(
        "expected HOST:PORT, such as 127.0.0.1:9347 or :9347, found '{}'", printable(text)));
  };
  const std::size_t colon = text.rfind(':');
  if (colon == std::string_view::npos) return wrong();
  std::string_view host = text.substr(0, colon);
  const bool is_bracketed = host.starts_with('[') && host.ends_with(']') && host.size() > 2;
  if (is_bracketed) host = host.substr(1, host.size() - 2);
  if (!is_bracketed && host.find(':') != std::string_view::npos) return wrong();
  const auto port = parse_u64(text.substr(colon + 1));
  if (!port || *port > 65535) return wrong();
  ListenAddress address;
  address.host = host.empty() ? "0.0.0.0" : std::string(host);
  address.port = static_cast<std::uint16_t>(*port);
  return address;
}

bool is_loopback(const ListenAddress& address) {
  in_addr v4{};
  if (::inet_pton(AF_INET, address.host.c_str(), &v4) == 1) return (ntohl(v4.s_addr) >> 24U) == 127;
  return address.host == "localhost" || address.host == "::1";
}

Status serve(Exporter& exporter, const ServerRequest& request) {
  WEIR_TRY(server, make_server(request.web));
  limit(*server);
  std::shared_ptr<PasswordCheck> passwords;
  if (request.web && !request.web->users.empty())
    passwords = std::make_shared<PasswordCheck>(request.web->users);
  guard(*server, request, passwords);
  route(*server, exporter);
  int port = request.listen.port;
  if (port == 0) {
    port = server->bind_to_any_port(request.listen.host);
  } else if (!server->bind_to_port(request.listen.host, port)) {
    port = -1;
  }
  if (port <= 0)
    return invalid_error(
        fmt::format("cannot listen on {}:{}: is the port taken (ss -ltnp), or the "
                    "address not of this machine?",
                    request.listen.host, request.listen.port));
  const Pace pace(exporter, request, *server);
  if (request.on_listening) {
    const bool is_v6 = request.listen.host.find(':') != std::string::npos;
    request.on_listening(
        fmt::format("{}://{}:{}", request.web && request.web->tls ? "https" : "http",
                    is_v6 ? "[" + request.listen.host + "]" : request.listen.host, port));
  }
  server->listen_after_bind();
  return {};
}

}  // namespace weir::serve

#include "serve/http/server.h"

#include <array>
#include <atomic>
#include <chrono>
#include <memory>
#include <mutex>
#include <thread>

#include <fmt/format.h>
#include <httplib.h>
#include <malloc.h>

#include "base/text.h"
#include "base/untrusted/printable.h"
#include "serve/assets/assets.h"
#include "serve/http/bounded_server.h"
#include "serve/http/streams.h"
#include "serve/page/door.h"

namespace weir::serve {
namespace {

// Each open connection holds a thread until it is answered or its time is over.
constexpr std::size_t kThreads = 64;
constexpr const char* kFaultPath = "/api/lab/fault";
// The library compares paths by recursion: one of 8 KiB took 6 MB of its thread's stack.
constexpr std::size_t kLongestPath = 256;
constexpr std::string_view kTextFormat = "text/plain; version=0.0.4; charset=utf-8";

constexpr std::string_view kJsonType = "application/json; charset=utf-8";
// No script and no style but the page's own files; nothing from elsewhere.
constexpr const char* kPolicy =
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; "
    "connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'";

bool set_up_tls(SSL_CTX& context, const TlsConfig& tls) {
  SSL_CTX_set_min_proto_version(&context,
                                tls.minimum_version == 13 ? TLS1_3_VERSION : TLS1_2_VERSION);
  if (SSL_CTX_use_certificate_chain_file(&context, tls.certificate.c_str()) != 1) return false;
  if (SSL_CTX_use_PrivateKey_file(&context, tls.key.c_str(), SSL_FILETYPE_PEM) != 1) return false;
  if (SSL_CTX_check_private_key(&context) != 1) return false;
  if (!tls.needs_client_certificate) return true;
  if (SSL_CTX_load_verify_locations(&context, tls.client_ca.c_str(), nullptr) != 1) return false;
  // Without it OpenSSL ends sessions that clients resume, as browsers do: SSL_CTX_set_verify(3).
  constexpr std::array<unsigned char, 4> kSessions = {'w', 'e', 'i', 'r'};
  if (SSL_CTX_set_session_id_context(&context, kSessions.data(), kSessions.size()) != 1)
    return false;
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

/// The host of a request, without its port, is an address or this machine's own name for itself.
/// Any other name may be a site that had its name lead here (DNS rebinding): then a page of that
/// site asks, in a browser on this machine.
bool is_asked_by_address(std::string_view header) {
  const auto host = host_without_port(header);
  if (!host) return false;
  if (host->empty() || *host == "localhost") return true;
  const bool is_v6 = host->starts_with('[');
  const std::string address(is_v6 ? host->substr(1, host->size() - 2) : *host);
  in6_addr binary{};
  return ::inet_pton(is_v6 ? AF_INET6 : AF_INET, address.c_str(), &binary) == 1;
}

httplib::Headers headers_of(const std::optional<WebConfig>& web) {
  httplib::Headers headers{{"X-Content-Type-Options", "nosniff"},
                           {"Content-Security-Policy", kPolicy},
                           {"Referrer-Policy", "no-referrer"},
                           {"X-Frame-Options", "DENY"},
                           {"Cross-Origin-Resource-Policy", "same-origin"},
                           {"Cache-Control", "no-store"}};
  if (web)
    for (const auto& [name, value] : web->headers) {
      headers.erase(name);
      headers.emplace(name, value);
    }
  return headers;
}

Visit visit_of(const httplib::Request& request) {
  return {.method = request.method,
          .path = request.path,
          .host = request.get_header_value("Host"),
          .origin = request.get_header_value("Origin"),
          .fetch_site = request.get_header_value("Sec-Fetch-Site"),
          .cookie = request.get_header_value("Cookie"),
          .authorization = request.get_header_value("Authorization")};
}

bool is_for_scrapers(const std::string& path) {
  return path == "/metrics" || path == "/healthz";
}

/// Answers whoever may not ask, before any other handler. Where nobody needs a password, because
/// only this machine is listened to, other sites' pages may not ask in its name.
void guard(httplib::Server& server, const ServerRequest& asked,
           const std::shared_ptr<PasswordCheck>& passwords,
           const std::shared_ptr<const Door>& door) {
  const std::optional<WebConfig>& web = asked.web;
  const bool is_open = passwords == nullptr && !(web && web->tls) && is_loopback(asked.listen);
  server.set_default_headers(headers_of(web));
  server.set_pre_routing_handler([passwords, door, is_open](const httplib::Request& request,
                                                            httplib::Response& response) {
    using Handled = httplib::Server::HandlerResponse;
    if (request.path.size() > kLongestPath) {
      response.status = 414;
      return Handled::Handled;
    }
    const bool is_change = request.method == "POST" && request.path == kFaultPath;
    if (request.method != "GET" && request.method != "HEAD" && !is_change) {
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
    if (passwords != nullptr && !passwords->admits(request.get_header_value("Authorization"))) {
      response.status = 401;
      response.set_header("WWW-Authenticate", "Basic realm=\"weir\"");
      return Handled::Handled;
    }
    if (is_for_scrapers(request.path)) return Handled::Unhandled;
    // The address with the token: the browser keeps it as a cookie and asks again without it.
    if (request.path == "/" && door->is_token(request.get_param_value("token"))) {
      response.status = 303;
      response.set_header("Set-Cookie", door->cookie());
      response.set_header("Location", "/");
      return Handled::Handled;
    }
    if (const auto refusal = door->refuses(visit_of(request))) {
      response.status = refusal->status;
      response.set_content(fmt::format("weir: {}\n", refusal->why), "text/plain; charset=utf-8");
      return Handled::Handled;
    }
    return Handled::Unhandled;
  });
}

Question question_of(const httplib::Request& request) {
  Question question{.path = request.path, .values = {}, .body = request.body};
  for (const auto& [name, value] : request.params)
    question.values.try_emplace(name, value);
  return question;
}

void reply(Answer answer, httplib::Response& response) {
  response.status = answer.status;
  response.set_content(std::move(answer.body), std::string(kJsonType));
}

void route_stream(httplib::Server& server, LivePage& page) {
  server.Get(BoundedServer::kStreamPath, [&](const httplib::Request& request,
                                             httplib::Response& response) {
    const auto asked = page.api().stream(question_of(request));
    if (!asked) return reply({400, R"({"error":"expected quantities of frames"})"}, response);
    if (!page.open_stream()) {
      response.set_header("Retry-After", "10");
      return reply({503, R"({"error":"48 clients watch already"})"}, response);
    }
    auto stream = std::make_shared<Api::Stream>(*asked);
    response.set_chunked_content_provider(
        "text/event-stream",
        [stream](std::size_t /*offset*/, httplib::DataSink& sink) {
          const auto text = stream->next(kLongestSilence);
          if (!text) {
            sink.done();
            return true;
          }
          // Asking sets the time for this message.
          return text->empty() || (sink.is_writable() && sink.write(text->data(), text->size()));
        },
        [&page](bool /*is_well*/) { page.close_stream(); });
  });
}

/// What /metrics answered last. Made one at a time, so that what many ask for at once is bounded:
/// whoever waited while one was begun and made is answered with that one.
class Scrapes {
 public:
  explicit Scrapes(const Exporter& exporter) : exporter_(exporter) {}

  /// False where too many answers are not taken yet.
  bool answer(BoundedServer& server, std::string& body) {
    const auto asked = std::chrono::steady_clock::now();
    const std::lock_guard lock(mutex_);
    // As large as the last one: asked before it is made, so that a refusal costs nothing.
    if (!server.may_keep(text_.size())) return false;
    const std::size_t expected = text_.size();
    if (begun_ < asked) {
      begun_ = std::chrono::steady_clock::now();
      text_ = to_text(exporter_.Collect());
      server.keeps_instead(expected, text_.size());
    }
    body = text_;
    return true;
  }

 private:
  const Exporter& exporter_;
  std::mutex mutex_;
  std::chrono::steady_clock::time_point begun_;
  std::string text_;
};

void route_metrics(BoundedServer& server, const Exporter& exporter) {
  const auto scrapes = std::make_shared<Scrapes>(exporter);
  server.Get("/metrics", [&, scrapes](const httplib::Request&, httplib::Response& response) {
    if (scrapes->answer(server, response.body)) {
      response.set_header("Content-Type", std::string(kTextFormat));
      return;
    }
    response.status = 503;
    response.set_header("Retry-After", "1");
    response.set_content(
        "weir: too many answers are not taken yet; read them, or scrape less often\n",
        "text/plain; charset=utf-8");
  });
}

void route(BoundedServer& server, const Exporter* exporter, LivePage& page) {
  server.Get("/healthz", [](const httplib::Request&, httplib::Response& response) {
    response.set_content("ok\n", "text/plain; charset=utf-8");
  });
  if (exporter != nullptr) route_metrics(server, *exporter);
  route_stream(server, page);
  server.Post(kFaultPath, [&](const httplib::Request& request, httplib::Response& response) {
    reply(page.api().post(question_of(request)), response);
  });
  server.Get(R"(/.*)", [&](const httplib::Request& request, httplib::Response& response) {
    if (const Asset* asset = find_asset(request.path)) {
      response.set_content(asset->text.data(), asset->text.size(),
                           std::string(asset->type).c_str());
      return;
    }
    Answer answer = page.api().get(question_of(request));
    if (!server.may_keep(answer.body.size()))
      answer = {503, R"({"error":"too many answers are not taken yet"})"};
    reply(std::move(answer), response);
  });
}

/// Looks and judges again and again until told to stop; ends the server then.
class Pace {
 public:
  Pace(Exporter* exporter, LivePage& page, const ServerRequest& request, httplib::Server& server)
      : page_(page),
        looking_([this] { page_.run(is_over_); }),
        judging_([this, exporter, &request, &server] { judge(exporter, request, server); }) {}
  Pace(const Pace&) = delete;
  Pace& operator=(const Pace&) = delete;
  ~Pace() {
    is_over_ = true;
    page_.feed().close();
    judging_.join();
    looking_.join();
  }

 private:
  void judge(Exporter* exporter, const ServerRequest& request, httplib::Server& server) {
    constexpr auto kStep = std::chrono::milliseconds(100);
    const auto every = std::chrono::nanoseconds(request.judge_every.raw() / 1000);
    auto next = std::chrono::steady_clock::now();
    while (!is_over_) {
      if (request.is_interrupted && request.is_interrupted()) {
        page_.feed().close();
        server.stop();
        return;
      }
      const auto now = std::chrono::steady_clock::now();
      if (exporter != nullptr && (page_.takes_judging() || now >= next)) {
        exporter->judge();
        if (auto judged = exporter->judged()) page_.feed().judge(std::move(judged));
        next = std::chrono::steady_clock::now() + every;
      }
      std::this_thread::sleep_for(kStep);
    }
  }

  LivePage& page_;
  std::atomic<bool> is_over_ = false;
  std::thread looking_;
  std::thread judging_;
};

/// Answers of megabytes come and go on many threads: their memory goes back to the system when they
/// were sent, and no thread keeps a pool of its own.
void return_memory() {
#ifdef __GLIBC__
  ::mallopt(M_MMAP_THRESHOLD, 256 * 1024);
  ::mallopt(M_ARENA_MAX, 4);
#endif
}

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
  // Digits and points are an address or a mistake, never a name.
  in_addr v4{};
  const std::string name(host);
  if (!name.empty() && name.find_first_not_of("0123456789.") == std::string::npos &&
      ::inet_pton(AF_INET, name.c_str(), &v4) != 1)
    return wrong();
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

Status serve(Exporter* exporter, LivePage& page, const ServerRequest& request) {
  return_memory();
  WEIR_TRY(server, make_server(request.web));
  limit(*server);
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
  const bool is_v6 = request.listen.host.find(':') != std::string::npos;
  const std::string url =
      fmt::format("{}://{}:{}", request.web && request.web->tls ? "https" : "http",
                  is_v6 ? "[" + request.listen.host + "]" : request.listen.host, port);
  // Users and client certificates say who asks; without them the token does.
  const bool needs_token = !request.web || !request.web->authenticates();
  const std::string token = needs_token ? draw_token() : std::string();
  std::shared_ptr<PasswordCheck> passwords;
  if (request.web && !request.web->users.empty())
    passwords = std::make_shared<PasswordCheck>(request.web->users);
  guard(*server, request, passwords,
        std::make_shared<const Door>(token, url, is_loopback(request.listen), port));
  route(*server, exporter, page);
  const Pace pace(exporter, page, request, *server);
  if (request.on_listening)
    request.on_listening(url, url + (needs_token ? "/?token=" + token : "/"));
  server->listen_after_bind();
  return {};
}

}  // namespace weir::serve

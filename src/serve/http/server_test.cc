#include "serve/http/server.h"

#include <array>
#include <atomic>
#include <future>
#include <thread>

#include <gtest/gtest.h>
#include <httplib.h>

#include "base/testing.h"
#include "serve/http/bounded_server.h"

namespace weir::serve {
namespace {

// bcrypt of "secret", cost 4: tests need no strength.
constexpr const char* kHash = "$2b$04$abcdefghijklmnopqrstuu2r9OfJnfCsdneAXAGHnS4UpFFP8WIrW";

ops::Watch watch_recorded() {
  ops::WatchRequest request;
  request.source.captures = {std::string(WEIR_TEST_DATA) + "/host/mlx5-ofed"};
  auto watch = ops::Watch::open(request);
  WEIR_CHECK(watch.has_value());
  return std::move(*watch);
}

/// A server of a recorded host on a port of its own while this lives.
class Running {
 public:
  explicit Running(std::optional<WebConfig> web = {})
      : exporter_(watch_recorded(), Profile::kLean, "test"),
        page_(watch_recorded(), PageInfo{.mode = "recorded"}, std::nullopt, "") {
    ServerRequest request;
    request.listen.port = 0;
    request.judge_every = 3600_s;
    request.web = std::move(web);
    request.is_interrupted = [this] { return is_over_.load(); };
    std::promise<int> port;
    request.on_listening = [&](const std::string& url, const std::string& page) {
      token_ = page.substr(page.find('=') + 1);
      port.set_value(std::stoi(url.substr(url.rfind(':') + 1)));
    };
    thread_ = std::thread([this, request] { (void)serve(&exporter_, page_, request); });
    port_ = port.get_future().get();
  }
  Running(const Running&) = delete;
  Running& operator=(const Running&) = delete;
  ~Running() {
    is_over_ = true;
    thread_.join();
  }
  [[nodiscard]] httplib::Client client() const { return httplib::Client("127.0.0.1", port_); }
  [[nodiscard]] int port() const { return port_; }
  [[nodiscard]] httplib::Headers token() const { return {{"Authorization", "Bearer " + token_}}; }

 private:
  Exporter exporter_;
  LivePage page_;
  std::atomic<bool> is_over_ = false;
  int port_ = 0;
  std::string token_;
  std::thread thread_;
};

// COVERS K1
TEST(Server, AnswersGetAloneInTheTextFormat) {
  const Running running;
  auto client = running.client();
  const auto answer = client.Get("/metrics");
  ASSERT_TRUE(answer);
  EXPECT_EQ(answer->status, 200);
  EXPECT_EQ(answer->get_header_value("Content-Type"), "text/plain; version=0.0.4; charset=utf-8");
  EXPECT_NE(answer->body.find("weir_port_up{"), std::string::npos);
  EXPECT_EQ(client.Get("/healthz")->body, "ok\n");
  EXPECT_EQ(client.Post("/metrics", "", "text/plain")->status, 405);
  EXPECT_EQ(client.Get("/none")->status, 401) << "only those who know the token learn more";
  EXPECT_EQ(client.Get("/none", running.token())->status, 404);
}

TEST(Server, ThePageIsForThoseWithTheToken) {
  COVERS("K2");
  const Running running;
  auto client = running.client();
  EXPECT_EQ(client.Get("/")->status, 401);
  EXPECT_EQ(client.Get("/api/topology")->status, 401);
  EXPECT_EQ(client.Get("/?token=0123")->status, 401);
  const std::string token = running.token().begin()->second.substr(7);
  const auto entered = client.Get("/?token=" + token);
  EXPECT_EQ(entered->status, 303);
  const std::string cookie = entered->get_header_value("Set-Cookie");
  EXPECT_NE(cookie.find("HttpOnly; SameSite=Strict"), std::string::npos);
  const auto page = client.Get("/", {{"Cookie", cookie.substr(0, cookie.find(';'))}});
  EXPECT_EQ(page->status, 200);
  EXPECT_NE(page->body.find("<title>weir</title>"), std::string::npos);
  EXPECT_EQ(page->get_header_value("Content-Security-Policy").find("unsafe"), std::string::npos);
  EXPECT_EQ(client.Get("/page.js", running.token())->status, 200);
  EXPECT_EQ(client.Post("/api/lab/fault", running.token(), "{}", "application/json")->status, 403)
      << "no Origin";
}

TEST(Server, ThoseWhoWereRightDoNotWaitForGuesses) {
  PasswordCheck check(Users{{"prom", kHash}});
  ASSERT_TRUE(check.admits("Basic cHJvbTpzZWNyZXQ="));
  std::vector<std::thread> guesses;
  std::atomic<int> admitted = 0;
  for (int i = 0; i < 32; ++i)
    guesses.emplace_back([&] { admitted += check.admits("Basic cHJvbTpndWVzcw==") ? 1 : 0; });
  EXPECT_TRUE(check.admits("Basic cHJvbTpzZWNyZXQ="));
  for (std::thread& guess : guesses)
    guess.join();
  EXPECT_EQ(admitted, 0);
}

TEST(Server, ManyScrapersAtOnceAreAllAnswered) {
  const Running running;
  std::atomic<int> answered = 0;
  std::vector<std::thread> scrapers;
  for (int i = 0; i < 64; ++i)
    scrapers.emplace_back([&] {
      auto client = running.client();
      client.set_read_timeout(60);
      client.set_connection_timeout(60);
      if (const auto answer = client.Get("/metrics"); answer && answer->status == 200) ++answered;
    });
  for (std::thread& scraper : scrapers)
    scraper.join();
  EXPECT_EQ(answered, 64);
}

TEST(Server, OnlyUsersOfTheFileAreAnswered) {
  WebConfig web;
  web.users.emplace("prom", kHash);
  const Running running(web);
  auto nobody = running.client();
  EXPECT_EQ(nobody.Get("/metrics")->status, 401);
  auto wrong = running.client();
  wrong.set_basic_auth("prom", "guess");
  EXPECT_EQ(wrong.Get("/healthz")->status, 401);
  auto right = running.client();
  right.set_basic_auth("prom", "secret");
  EXPECT_EQ(right.Get("/healthz")->status, 200);
}

/// What the server answers to these bytes; it may close before all were sent.
std::string answer_to(int port, const std::string& bytes) {
  const int socket = ::socket(AF_INET, SOCK_STREAM, 0);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(static_cast<std::uint16_t>(port));
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  EXPECT_EQ(::connect(socket, reinterpret_cast<sockaddr*>(&address), sizeof address), 0);  // NOLINT
  for (std::size_t sent = 0; sent < bytes.size();) {
    const ssize_t count = ::send(socket, bytes.data() + sent, bytes.size() - sent, MSG_NOSIGNAL);
    if (count <= 0) break;
    sent += static_cast<std::size_t>(count);
  }
  std::string answer;
  std::array<char, 65536> part{};
  for (ssize_t count = 0; (count = ::recv(socket, part.data(), part.size(), 0)) > 0;)
    answer.append(part.data(), static_cast<std::size_t>(count));
  ::close(socket);
  return answer;
}

TEST(Server, AnAnswerIsPackedByGzipAlone) {
  const Running running;
  const auto asked = [&](const std::string& encodings) {
    const std::string answer = answer_to(
        running.port(),
        "GET /metrics HTTP/1.1\r\nHost: localhost\r\nAccept-Encoding: " + encodings + "\r\n\r\n");
    EXPECT_NE(answer.find("200 OK"), std::string::npos);
    return answer;
  };
  // Brotli costs forty times as much: sixty such requests took 700 MB and a minute.
  EXPECT_EQ(asked("br").find("Content-Encoding"), std::string::npos);
  EXPECT_NE(asked("gzip, deflate, br").find("Content-Encoding: gzip"), std::string::npos);
  EXPECT_NE(asked("br, gzip").find("Content-Encoding: gzip"), std::string::npos);
}

TEST(Server, AnswersThatNobodyTakesAreBounded) {
  BoundedServer server(nullptr, 100);
  EXPECT_TRUE(server.may_keep(1000)) << "one may always be made";
  EXPECT_FALSE(server.may_keep(1));
  BoundedServer other(nullptr, 100);
  EXPECT_TRUE(other.may_keep(40));
  EXPECT_TRUE(other.may_keep(60));
  EXPECT_FALSE(other.may_keep(1));
  // It became smaller than it was expected to be: there is room for the next.
  other.keeps_instead(60, 10);
  EXPECT_TRUE(other.may_keep(50));
  EXPECT_FALSE(other.may_keep(1));
}

TEST(Server, ALongPathIsRefusedBeforeItIsCompared) {
  const Running running;
  for (const std::size_t size : {std::size_t{300}, std::size_t{8000}}) {
    const std::string path = "/metrics" + std::string(size, 'a');
    const std::string answer =
        answer_to(running.port(), "GET " + path + " HTTP/1.1\r\nHost: localhost\r\n\r\n");
    EXPECT_EQ(answer.substr(9, 3), "414");
  }
}

TEST(Server, APageOfAnotherSiteIsNotAnswered) {
  const Running running;
  const auto status = [&](const std::string& host) {
    return answer_to(running.port(), "GET /metrics HTTP/1.1\r\nHost: " + host + "\r\n\r\n")
        .substr(9, 3);
  };
  for (const char* const host : {"127.0.0.1", "127.0.0.1:9347", "localhost:1", "[::1]:9347", ""})
    EXPECT_EQ(status(host), "200") << host;
  for (const char* const host :
       {"evil.example", "evil.example:9347", "127.0.0.1.evil.example", "[::1", "[evil]:80", "x:1:2",
        "[::1]evil", "[::1]evil:80", "[::1].evil.example", "127.0.0.1:evil", "localhost:1:2"})
    EXPECT_EQ(status(host), "403") << host;
  WebConfig web;
  web.users.emplace("prom", kHash);
  const Running guarded(web);
  EXPECT_EQ(answer_to(guarded.port(),
                      "GET /healthz HTTP/1.1\r\nHost: gpu01\r\nAuthorization: "
                      "Basic cHJvbTpzZWNyZXQ=\r\n\r\n")
                .substr(9, 3),
            "200");
}

TEST(Server, WhatAClientSendsIsBounded) {
  const Running running;
  const std::string endless(4'000'000, 'a');
  EXPECT_EQ(answer_to(running.port(), "GET /" + endless).find("200 OK"), std::string::npos);
  EXPECT_EQ(answer_to(running.port(), "GET / HTTP/1.1\r\nX: " + endless).find("200 OK"),
            std::string::npos);
  const std::string posted = "POST /metrics HTTP/1.1\r\nContent-Length: 4000000\r\n\r\n" + endless;
  EXPECT_EQ(answer_to(running.port(), posted).find("200 OK"), std::string::npos);
  std::string ranges = "GET /healthz HTTP/1.1\r\nRange: bytes=0-";
  for (int i = 0; i < 1000; ++i)
    ranges += ",0-";
  const std::string whole = answer_to(running.port(), ranges + "\r\n\r\n");
  EXPECT_NE(whole.find("200 OK"), std::string::npos) << whole.substr(0, 100);
  EXPECT_LT(whole.size(), 2000U) << "the answer once";
  EXPECT_NE(answer_to(running.port(), "GET /healthz HTTP/1.1\r\n\r\n").find("200 OK"),
            std::string::npos);
}

TEST(Server, ATakenPortIsAnError) {
  const Running running;
  Exporter exporter(watch_recorded(), Profile::kLean, "test");
  ServerRequest request;
  request.listen.port = static_cast<std::uint16_t>(running.port());
  LivePage page(watch_recorded(), PageInfo{.mode = "recorded"}, std::nullopt, "");
  const auto served = serve(&exporter, page, request);
  ASSERT_FALSE(served);
  EXPECT_NE(served.error().what.find("is the port taken"), std::string::npos);
}

TEST(Server, AddressesToListenOn) {
  EXPECT_EQ(parse_listen_address(":9347")->host, "0.0.0.0");
  EXPECT_EQ(parse_listen_address("[::1]:80")->host, "::1");
  EXPECT_TRUE(is_loopback(*parse_listen_address("127.0.0.2:1")));
  EXPECT_TRUE(is_loopback(*parse_listen_address("localhost:1")));
  EXPECT_FALSE(is_loopback(*parse_listen_address(":1")));
  EXPECT_FALSE(is_loopback(*parse_listen_address("127.example.com:1")));
  EXPECT_FALSE(is_loopback(*parse_listen_address("10.0.0.1:1")));
  for (const char* const text :
       {"", "9347", "host", "::1", "::1:80", "a:b", "a:70000", "a:-1", "999.1.1.1:80", "10.0.0:80"})
    EXPECT_FALSE(parse_listen_address(text)) << text;
}

TEST(WebConfig, TheFormOfExporterToolkitIsRead) {
  const auto web = parse_web_config(
      "tls_server_config:\n  cert_file: a.crt\n  key_file: /k.key\n  min_version: TLS13\n"
      "  client_auth_type: RequireAndVerifyClientCert\n  client_ca_file: ca.crt\n"
      "basic_auth_users:\n  prom: " +
          std::string(kHash) + "\nhttp_server_config:\n  headers:\n    X-Frame-Options: deny\n",
      "web.yml", "/etc/weir");
  ASSERT_TRUE(web) << web.error().what;
  EXPECT_EQ(web->tls->certificate, "/etc/weir/a.crt");
  EXPECT_EQ(web->tls->key, "/k.key");
  EXPECT_EQ(web->tls->minimum_version, 13);
  EXPECT_TRUE(web->authenticates());
  EXPECT_EQ(web->headers.size(), 1U);
}

TEST(WebConfig, MistakesNameTheirPlaceAndNoPassword) {
  const auto error_of = [](const std::string& text) {
    const auto web = parse_web_config(text, "web.yml", "");
    return web ? std::string() : web.error().what;
  };
  EXPECT_NE(error_of("rate_limit: {burst: 1}\n").find("web.yml:1:1: rate_limit: expected one of"),
            std::string::npos);
  EXPECT_NE(error_of("tls_server_config: {cert_file: a}\n").find("cert_file and key_file"),
            std::string::npos);
  EXPECT_NE(error_of("tls_server_config: {cert_file: a, key_file: b, client_auth_type: "
                     "RequestClientCert}\n")
                .find("proves nothing"),
            std::string::npos);
  const std::string plain = error_of("basic_auth_users: {prom: hunter2}\n");
  EXPECT_NE(plain.find("expected a bcrypt hash"), std::string::npos);
  EXPECT_EQ(plain.find("hunter2"), std::string::npos);
  EXPECT_NE(error_of("basic_auth_users: [a]\n").find("expected a mapping"), std::string::npos);
  std::string dear = kHash;
  dear.replace(4, 2, "31");
  EXPECT_NE(
      error_of("basic_auth_users: {prom: " + dear + "}\n").find("a bcrypt cost of at most 14"),
      std::string::npos);
  EXPECT_NE(error_of("basic_auth_users: {'': " + std::string(kHash) + "}\n").find("empty"),
            std::string::npos);
}

TEST(WebConfig, HeadersThatAreNoneAreRefused) {
  PasswordCheck check(Users{{"prom", kHash}});
  for (const char* const header : {"", "Basic", "Basic ", "Basic ====", "Basic AAAA", "Bearer x",
                                   "Basic cHJvbQ==", "Basic cHJvbTpndWVzcw=="})
    EXPECT_FALSE(check.admits(header)) << header;
  EXPECT_TRUE(check.admits("Basic cHJvbTpzZWNyZXQ="));  // prom:secret
  EXPECT_TRUE(check.admits("basic cHJvbTpzZWNyZXQ="));  // as remembered, in another case
}

}  // namespace
}  // namespace weir::serve

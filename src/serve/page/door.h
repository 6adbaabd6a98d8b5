#pragma once
// Who may see the page and its API, and who may switch a lab's faults.
//
// A server on loopback is open to every user of the machine and to every page that a browser of it
// shows. So: a token that the process draws at its start and prints with the address; a Host header
// that names this machine (DNS rebinding); and, for what changes something, an Origin that is this
// page. Where the web configuration asks for users or certificates, those stand for the token.
#include <optional>
#include <string>
#include <string_view>

namespace weir::serve {

struct Visit {
  std::string method;
  std::string path;
  std::string host;  // headers, empty where absent
  std::string origin;
  std::string fetch_site;  // Sec-Fetch-Site
  std::string cookie;
  std::string authorization;
};

class Door {
 public:
  /// `origin` is "http://127.0.0.1:9347". An empty token: others check who asks.
  Door(std::string token, std::string origin, bool is_loopback, int port);

  /// The status and sentence of a refusal; nullopt: come in.
  struct Refusal {
    int status = 403;
    std::string_view why;
  };
  [[nodiscard]] std::optional<Refusal> refuses(const Visit& visit) const;

  /// Whether a word is the token; takes the same time for every word of its length.
  [[nodiscard]] bool is_token(std::string_view word) const;
  [[nodiscard]] bool has_token() const { return !token_.empty(); }
  /// "weir_9347=…; HttpOnly; SameSite=Strict; Path=/".
  [[nodiscard]] std::string cookie() const;

 private:
  [[nodiscard]] bool is_this_machine(std::string_view host) const;
  [[nodiscard]] bool shows_token(const Visit& visit) const;

  std::string token_;
  std::string scheme_;
  std::string listens_on_;  // the host of the origin
  bool is_loopback_;
  std::string cookie_name_;
};

/// "[::1]" of the Host header "[::1]:9347", "localhost" of "localhost:9347"; nullopt where it is no
/// host with or without a port (RFC 9110, 7.2; RFC 3986, 3.2.2).
[[nodiscard]] std::optional<std::string_view> host_without_port(std::string_view header);

/// 128 bits of the kernel's, in hexadecimal.
[[nodiscard]] std::string draw_token();

}  // namespace weir::serve

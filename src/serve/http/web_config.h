#pragma once
// Who may ask, and over what: a file in the form of Prometheus' exporter-toolkit, so that the file
// of another exporter can be used and `promtool check web-config` reads it.
//
//   tls_server_config: {cert_file, key_file, client_auth_type, client_ca_file, min_version}
//   basic_auth_users: {NAME: bcrypt hash}
//   http_server_config: {headers: {NAME: value}}
//
// Read here: the keys above. Any other key of that form is refused by name, not ignored: a limit
// that is not held would be trusted. Paths are relative to the file.
#include <atomic>
#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace weir::serve {

struct TlsConfig {
  std::string certificate;
  std::string key;
  std::string client_ca;  // empty: clients show no certificate
  bool needs_client_certificate = false;
  int minimum_version = 0;  // 12 or 13: TLS 1.2, TLS 1.3
};

using Users = std::map<std::string, std::string, std::less<>>;  // name: bcrypt hash

struct WebConfig {
  std::optional<TlsConfig> tls;
  Users users;
  std::vector<std::pair<std::string, std::string>> headers;

  /// Clients have to show who they are.
  [[nodiscard]] bool authenticates() const {
    return !users.empty() || (tls && tls->needs_client_certificate);
  }
};

/// Errors read "FILE:LINE:COLUMN: expected …, found …". `folder` is where relative paths begin.
[[nodiscard]] Result<WebConfig> parse_web_config(std::string_view text, std::string_view file,
                                                 const std::string& folder);
[[nodiscard]] Result<WebConfig> read_web_config(const std::string& path);

/// Whether the words of an Authorization header belong to a user. A bcrypt takes tens of
/// milliseconds by design, and a scraper asks every few seconds: what was right once is remembered
/// (as a digest) and not computed again. An unknown user costs as much as a wrong password. A few
/// guesses wait for their turn; more are refused at once, so that they hold no threads.
class PasswordCheck {
 public:
  explicit PasswordCheck(Users users) : users_(std::move(users)) {}
  /// `header` is the value: "Basic dXNlcjpwYXNz".
  [[nodiscard]] bool admits(std::string_view header);

 private:
  [[nodiscard]] bool is_remembered(const std::string& digest);

  Users users_;
  std::mutex hash_mutex_;
  std::atomic<int> waiting_ = 0;  // for the hash
  std::mutex mutex_;              // of what is remembered
  std::vector<std::string> remembered_;
};

}  // namespace weir::serve

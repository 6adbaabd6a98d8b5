#include "serve/http/web_config.h"

#include <algorithm>
#include <array>
#include <cstring>

#include <crypt.h>
#include <fmt/format.h>
#include <openssl/crypto.h>
#include <openssl/evp.h>
#include <strings.h>

#include "base/file.h"
#include "base/text.h"
#include "base/untrusted/printable.h"
#include "design/file/yaml_document.h"

namespace weir::serve {
namespace {

using design::YamlEntry;
using design::YamlNode;

/// Of a wrong place in the file.
class Place {
 public:
  explicit Place(std::string_view file) : file_(file) {}
  [[nodiscard]] Error wrong(const TextPosition& at, std::string_view what) const {
    return parse_error(fmt::format("{}:{}:{}: {}", file_, at.line, at.column, what));
  }

 private:
  std::string file_;
};

Status check_mapping(const Place& place, const YamlEntry& entry) {
  if (entry.value.kind == YamlNode::Kind::kMapping) return {};
  return place.wrong(entry.at, fmt::format("{}: expected a mapping, found {}", entry.key,
                                           design::describe_kind(entry.value)));
}

Result<std::string> scalar(const Place& place, const YamlEntry& entry) {
  if (entry.value.kind == YamlNode::Kind::kScalar && !entry.value.is_empty())
    return entry.value.scalar;
  return place.wrong(entry.at, fmt::format("{}: expected a text, found {}", entry.key,
                                           design::describe_kind(entry.value)));
}

Error unknown_key(const Place& place, const YamlEntry& entry,
                  const std::vector<std::string>& known) {
  return place.wrong(
      entry.at,
      fmt::format("{}: expected one of {}{}; weir refuses what it does not hold",
                  printable(entry.key), join(known, ", "), did_you_mean(entry.key, known)));
}

std::string beside(const std::string& folder, const std::string& path) {
  return path.starts_with('/') || folder.empty() ? path : folder + "/" + path;
}

Status read_client_auth(const Place& place, const YamlEntry& entry, TlsConfig& tls) {
  WEIR_TRY(type, scalar(place, entry));
  if (type == "NoClientCert") return {};
  if (type == "RequireAndVerifyClientCert") {
    tls.needs_client_certificate = true;
    return {};
  }
  return place.wrong(entry.at,
                     fmt::format("client_auth_type: expected NoClientCert or "
                                 "RequireAndVerifyClientCert, found '{}': a certificate that is "
                                 "not verified, or not required, proves nothing",
                                 printable(type)));
}

Status read_minimum_version(const Place& place, const YamlEntry& entry, TlsConfig& tls) {
  WEIR_TRY(version, scalar(place, entry));
  if (version != "TLS12" && version != "TLS13")
    return place.wrong(entry.at, fmt::format("min_version: expected TLS12 or TLS13, found '{}'",
                                             printable(version)));
  tls.minimum_version = version == "TLS13" ? 13 : 12;
  return {};
}

Status read_tls(const Place& place, const YamlEntry& section, const std::string& folder,
                WebConfig& out) {
  WEIR_TRY_STATUS(check_mapping(place, section));
  TlsConfig tls;
  tls.minimum_version = 12;
  for (const YamlEntry& entry : section.value.entries) {
    if (entry.key == "client_auth_type") {
      WEIR_TRY_STATUS(read_client_auth(place, entry, tls));
    } else if (entry.key == "min_version") {
      WEIR_TRY_STATUS(read_minimum_version(place, entry, tls));
    } else if (entry.key == "cert_file" || entry.key == "key_file" ||
               entry.key == "client_ca_file") {
      WEIR_TRY(path, scalar(place, entry));
      (entry.key == "cert_file"  ? tls.certificate
       : entry.key == "key_file" ? tls.key
                                 : tls.client_ca) = beside(folder, path);
    } else {
      return unknown_key(
          place, entry,
          {"cert_file", "key_file", "client_auth_type", "client_ca_file", "min_version"});
    }
  }
  if (tls.certificate.empty() || tls.key.empty())
    return place.wrong(section.at, "tls_server_config: cert_file and key_file are needed");
  if (tls.needs_client_certificate == tls.client_ca.empty())
    return place.wrong(section.at,
                       "tls_server_config: client_ca_file and client_auth_type "
                       "RequireAndVerifyClientCert belong together");
  out.tls = std::move(tls);
  return {};
}

Status read_users(const Place& place, const YamlEntry& section, WebConfig& out) {
  WEIR_TRY_STATUS(check_mapping(place, section));
  for (const YamlEntry& entry : section.value.entries) {
    WEIR_TRY(hash, scalar(place, entry));
    constexpr std::size_t kBcryptLength = 60;
    const bool is_bcrypt =
        hash.size() == kBcryptLength &&
        (hash.starts_with("$2a$") || hash.starts_with("$2b$") || hash.starts_with("$2y$"));
    // Not shown: whoever writes a password here by mistake does not want it in a log.
    if (!is_bcrypt)
      return place.wrong(entry.at,
                         fmt::format("basic_auth_users: {}: expected a bcrypt hash ($2y$…, as "
                                     "`htpasswd -nBC 10 NAME` prints it)",
                                     printable(entry.key)));
    // Each step doubles the time of a guess, which others wait for: 2^14 is a second.
    constexpr std::uint64_t kDearest = 14;
    const auto cost = parse_u64(hash.substr(4, 2));
    if (!cost || *cost > kDearest)
      return place.wrong(entry.at,
                         fmt::format("basic_auth_users: {}: expected a bcrypt cost of at "
                                     "most {}, found {}",
                                     printable(entry.key), kDearest, printable(hash.substr(4, 2))));
    if (entry.key.empty())
      return place.wrong(entry.at, "basic_auth_users: expected a name, found an empty one");
    out.users.emplace(entry.key, hash);
  }
  return {};
}

bool is_header_text(std::string_view text) {
  return std::all_of(text.begin(), text.end(), [](char c) { return c >= ' ' && c <= '~'; });
}

Status read_headers(const Place& place, const YamlEntry& section, WebConfig& out) {
  WEIR_TRY_STATUS(check_mapping(place, section));
  for (const YamlEntry& entry : section.value.entries) {
    if (entry.key != "headers") return unknown_key(place, entry, {"headers"});
    WEIR_TRY_STATUS(check_mapping(place, entry));
    for (const YamlEntry& header : entry.value.entries) {
      WEIR_TRY(value, scalar(place, header));
      if (!is_header_text(header.key) || !is_header_text(value))
        return place.wrong(header.at, "headers: expected printable ASCII");
      out.headers.emplace_back(header.key, value);
    }
  }
  return {};
}

/// RFC 4648; nullopt where it is not that.
std::optional<std::string> from_base64(std::string_view text) {
  constexpr std::size_t kLongest = 1024;
  if (text.empty() || text.size() > kLongest || text.size() % 4 != 0) return std::nullopt;
  std::string out(text.size() / 4 * 3, '\0');
  // EVP_DecodeBlock wants unsigned bytes: the same memory.
  const int length = EVP_DecodeBlock(reinterpret_cast<unsigned char*>(out.data()),         // NOLINT
                                     reinterpret_cast<const unsigned char*>(text.data()),  // NOLINT
                                     static_cast<int>(text.size()));
  if (length < 0) return std::nullopt;
  const std::size_t padding = text.ends_with("==") ? 2 : text.ends_with('=') ? 1 : 0;
  out.resize(static_cast<std::size_t>(length) - padding);
  return out;
}

bool is_password(const std::string& password, const std::string& hash) {
  crypt_data data{};
  const char* const computed = crypt_r(password.c_str(), hash.c_str(), &data);
  return computed != nullptr && std::strlen(computed) == hash.size() &&
         CRYPTO_memcmp(computed, hash.data(), hash.size()) == 0;
}

/// A place among those who wait, while this lives.
class Turn {
 public:
  explicit Turn(std::atomic<int>& waiting) : waiting_(waiting), number_(++waiting) {}
  Turn(const Turn&) = delete;
  Turn& operator=(const Turn&) = delete;
  ~Turn() { --waiting_; }
  [[nodiscard]] int number() const { return number_; }

 private:
  std::atomic<int>& waiting_;
  int number_;
};

std::string sha256(std::string_view text) {
  std::array<unsigned char, EVP_MAX_MD_SIZE> digest{};
  unsigned length = 0;
  if (EVP_Digest(text.data(), text.size(), digest.data(), &length, EVP_sha256(), nullptr) != 1)
    return {};
  return {digest.begin(), digest.begin() + length};
}

}  // namespace

Result<WebConfig> parse_web_config(std::string_view text, std::string_view file,
                                   const std::string& folder) {
  const Place place(file);
  const design::YamlDocument document = design::parse_yaml(text);
  if (!document.errors.empty())
    return place.wrong(document.errors.front().at, document.errors.front().message);
  WebConfig out;
  for (const YamlEntry& entry : document.root.entries) {
    if (entry.key == "tls_server_config") {
      WEIR_TRY_STATUS(read_tls(place, entry, folder, out));
    } else if (entry.key == "basic_auth_users") {
      WEIR_TRY_STATUS(read_users(place, entry, out));
    } else if (entry.key == "http_server_config") {
      WEIR_TRY_STATUS(read_headers(place, entry, out));
    } else {
      return unknown_key(place, entry,
                         {"tls_server_config", "basic_auth_users", "http_server_config"});
    }
  }
  return out;
}

Result<WebConfig> read_web_config(const std::string& path) {
  WEIR_TRY(text, read_file(path));
  const std::size_t slash = path.rfind('/');
  return parse_web_config(text, path,
                          slash == std::string::npos ? std::string() : path.substr(0, slash));
}

bool PasswordCheck::admits(std::string_view header) {
  constexpr std::string_view kBasic = "Basic ";  // in any case, RFC 9110 11.1
  if (header.size() < kBasic.size() ||
      ::strncasecmp(header.data(), kBasic.data(), kBasic.size()) != 0)
    return false;
  const auto words = from_base64(header.substr(kBasic.size()));
  if (!words) return false;
  const std::size_t colon = words->find(':');
  if (colon == std::string::npos || words->find('\0') != std::string::npos) return false;
  const std::string digest = sha256(*words);
  if (is_remembered(digest)) return true;
  // One hash at a time: guesses wait for each other, those who were right before wait for nobody.
  constexpr int kMostWaiting = 4;
  const Turn turn(waiting_);
  if (turn.number() > kMostWaiting) return false;
  const std::lock_guard lock(hash_mutex_);
  if (is_remembered(digest)) return true;
  const auto user = users_.find(words->substr(0, colon));
  // The hash of no password, so that the time does not tell who exists.
  static const std::string kNobody = "$2b$10$" + std::string(53, '.');
  const bool is_right =
      is_password(words->substr(colon + 1), user == users_.end() ? kNobody : user->second);
  if (!is_right || user == users_.end()) return false;
  const std::lock_guard remembering(mutex_);
  remembered_.push_back(digest);
  return true;
}

bool PasswordCheck::is_remembered(const std::string& digest) {
  const std::lock_guard lock(mutex_);
  return std::any_of(remembered_.begin(), remembered_.end(), [&](const std::string& known) {
    return CRYPTO_memcmp(known.data(), digest.data(), digest.size()) == 0;
  });
}

}  // namespace weir::serve

#include "serve/page/door.h"

#include <array>
#include <cstdint>

#include <fmt/format.h>
#include <openssl/crypto.h>
#include <sys/random.h>

#include "base/check.h"
#include "base/text.h"

namespace weir::serve {
namespace {

constexpr std::string_view kBearer = "Bearer ";

}  // namespace

std::optional<std::string_view> host_without_port(std::string_view header) {
  const std::size_t close = header.starts_with('[') ? header.find(']') : 0;
  if (close == std::string_view::npos) return std::nullopt;
  const std::size_t colon = header.find(':', close);
  const std::string_view name = header.substr(0, colon);
  if (close > 0 && name.size() != close + 1) return std::nullopt;
  if (colon == std::string_view::npos) return name;
  const std::string_view port = header.substr(colon + 1);
  if (port.find_first_not_of("0123456789") != std::string_view::npos) return std::nullopt;
  return name;
}

std::string draw_token() {
  std::array<std::uint8_t, 16> bytes{};
  WEIR_CHECK(::getrandom(bytes.data(), bytes.size(), 0) == static_cast<ssize_t>(bytes.size()));
  std::string out;
  for (const std::uint8_t byte : bytes)
    out += fmt::format("{:02x}", byte);
  return out;
}

Door::Door(std::string token, std::string origin, bool is_loopback, int port)
    : token_(std::move(token)),
      scheme_(origin.substr(0, origin.find("://"))),
      listens_on_(
          host_without_port(std::string_view(origin).substr(scheme_.size() + 3)).value_or("")),
      is_loopback_(is_loopback),
      cookie_name_(fmt::format("weir_{}", port)) {}

bool Door::is_token(std::string_view word) const {
  return !token_.empty() && word.size() == token_.size() &&
         CRYPTO_memcmp(word.data(), token_.data(), token_.size()) == 0;
}

std::string Door::cookie() const {
  return fmt::format("{}={}; HttpOnly; SameSite=Strict; Path=/{}", cookie_name_, token_,
                     scheme_ == "https" ? "; Secure" : "");
}

bool Door::is_this_machine(std::string_view host) const {
  const auto name = host_without_port(host);
  return name &&
         (name == listens_on_ || name == "localhost" || name == "127.0.0.1" || name == "[::1]");
}

bool Door::shows_token(const Visit& visit) const {
  if (visit.authorization.starts_with(kBearer) &&
      is_token(std::string_view(visit.authorization).substr(kBearer.size())))
    return true;
  for (const std::string_view part : split(visit.cookie, ';')) {
    const std::string_view pair = trim(part);
    const std::size_t equals = pair.find('=');
    if (equals != std::string_view::npos && pair.substr(0, equals) == cookie_name_ &&
        is_token(pair.substr(equals + 1)))
      return true;
  }
  return false;
}

std::optional<Door::Refusal> Door::refuses(const Visit& visit) const {
  if (is_loopback_ && !is_this_machine(visit.host))
    return Refusal{403, "the Host header names another machine"};
  const std::string own = scheme_ + "://" + visit.host;
  const bool changes = visit.method != "GET" && visit.method != "HEAD";
  if (!visit.origin.empty() && visit.origin != own)
    return Refusal{403, "asked by a page of another origin"};
  if (changes && visit.origin.empty())
    return Refusal{403, "a change needs the Origin header of this page"};
  const bool is_foreign =
      !visit.fetch_site.empty() && visit.fetch_site != "same-origin" && visit.fetch_site != "none";
  // A link to the page from elsewhere opens it; its data are the page's own.
  if (is_foreign && visit.path != "/") return Refusal{403, "asked by a page of another site"};
  if (has_token() && !shows_token(visit))
    return Refusal{401, "open the address with the token that weir serve printed"};
  return std::nullopt;
}

}  // namespace weir::serve

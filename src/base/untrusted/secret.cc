#include "base/untrusted/secret.h"

#include <algorithm>
#include <array>
#include <cctype>

namespace weir {
namespace {

char lower(char c) {
  return static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
}

/// "password", "encrypted-password", "authentication-key:", "SHA512": of the words that EOS, NX-OS,
/// Junos, NVUE and SONiC put before a secret or its hash.
bool names_secret(std::string_view word) {
  constexpr std::array<std::string_view, 12> kWhole = {"key",    "keys",   "md5",       "sha1",
                                                       "sha256", "sha512", "psk",       "passkey",
                                                       "auth",   "priv",   "community", "token"};
  constexpr std::array<std::string_view, 4> kWithin = {"secret", "passw", "passphrase",
                                                       "credential"};
  std::string text(word);
  std::transform(text.begin(), text.end(), text.begin(), lower);
  for (const std::string_view part : kWithin)
    if (text.find(part) != std::string::npos) return true;
  constexpr std::string_view kLetters = "abcdefghijklmnopqrstuvwxyz0123456789";
  for (std::size_t at = text.find_first_of(kLetters); at != std::string::npos;) {
    const std::size_t end = std::min(text.find_first_not_of(kLetters, at), text.size());
    const std::string_view piece = std::string_view(text).substr(at, end - at);
    if (std::find(kWhole.begin(), kWhole.end(), piece) != kWhole.end()) return true;
    at = text.find_first_of(kLetters, end);
  }
  return false;
}

/// "$6$…": a hash without a word before it.
bool is_hash(std::string_view word) {
  const std::size_t at = word.find('$');
  return at != std::string_view::npos && word.find('$', at + 1) != std::string_view::npos;
}

}  // namespace

std::string without_secret(std::string_view line) {
  constexpr std::string_view kBlank = " \t";
  for (std::size_t at = line.find_first_not_of(kBlank); at != std::string_view::npos;) {
    const std::size_t end = std::min(line.find_first_of(kBlank, at), line.size());
    const std::string_view word = line.substr(at, end - at);
    if (is_hash(word)) return std::string(line.substr(0, at)) + "…";
    const std::size_t next = line.find_first_not_of(kBlank, end);
    // One word alone ("\"password\": \"x\"," has two) has nothing behind it.
    if (names_secret(word) && next != std::string_view::npos)
      return std::string(line.substr(0, end)) + " …";
    at = next;
  }
  return std::string(line);
}

}  // namespace weir

#include "base/untrusted/name_policy.h"

#include <algorithm>
#include <array>

#include "base/check.h"
#include "base/untrusted/printable.h"

namespace weir {
namespace {

struct NameRule {
  std::string_view what;
  std::size_t longest;
  std::string_view also;   // beside letters, digits and "-_."
  std::string_view words;  // the same for people
};

/// In the order of NameKind.
constexpr std::array<NameRule, 6> kNameRules = {{
    {"the name of a host or switch", 253, "", "letters, digits, '-', '_' and '.'"},
    {"the name of a network interface", 15, "", "letters, digits, '-', '_' and '.'"},
    {"the name of an RDMA device", 63, "", "letters, digits, '-', '_' and '.'"},
    {"the name of a port", 63, "/:", "letters, digits, '-', '_', '.', '/' and ':'"},
    {"a name", 63, "", "letters, digits, '-', '_' and '.'"},
    {"a title", 63, " ", "letters, digits, blanks, '-', '_' and '.'"},
}};

const NameRule& rule_of(NameKind kind) {
  return kNameRules.at(static_cast<std::size_t>(kind));
}

bool is_letter_or_digit(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
}

std::string shown(std::string_view name) {
  constexpr std::size_t kShown = 60;
  return "'" + printable_line(name.substr(0, kShown)) + (name.size() > kShown ? "...'" : "'");
}

}  // namespace

std::string_view to_text(NameKind kind) {
  return rule_of(kind).what;
}

std::optional<std::string> wrong_name(NameKind kind, std::string_view name) {
  const NameRule& rule = rule_of(kind);
  const auto expected = [&](const std::string& found) {
    return "expected " + std::string(rule.what) + " (" + std::string(rule.words) + ", at most " +
           std::to_string(rule.longest) + "), found " + found;
  };
  if (name.empty()) return expected("nothing");
  if (name.size() > rule.longest)
    return expected(shown(name) + " of " + std::to_string(name.size()) + " characters");
  const bool is_good = std::all_of(name.begin(), name.end(), [&](char c) {
    return is_letter_or_digit(c) || c == '-' || c == '_' || c == '.' ||
           rule.also.find(c) != std::string_view::npos;
  });
  if (!is_good) return expected(shown(name));
  if (!is_letter_or_digit(name.front()) && name.front() != '_')
    return expected(shown(name) + ", which begins with '" + name.front() + "'");
  // A port's slashes never make a path that leads up.
  if (name.find("..") != std::string_view::npos) return expected(shown(name) + " with '..' in it");
  return std::nullopt;
}

Status check_name(NameKind kind, std::string_view name, std::string_view place) {
  if (const auto wrong = wrong_name(kind, name))
    return invalid_error(std::string(place) + ": " + *wrong);
  return {};
}

std::string as_name(NameKind kind, std::string_view text) {
  std::string name;
  for (const char c : text.substr(0, rule_of(kind).longest)) {
    const bool fits =
        is_letter_or_digit(c) || c == '_' || c == '-' || (c == '.' && !name.ends_with('.'));
    if (name.empty() && !is_letter_or_digit(c) && c != '_') continue;
    name += fits ? c : '-';
  }
  return name.empty() ? "unnamed" : name;
}

Status check_destination(std::string_view destination) {
  const std::size_t at = destination.rfind('@');
  const std::string_view user =
      at == std::string_view::npos ? std::string_view("root") : destination.substr(0, at);
  const std::string_view host =
      at == std::string_view::npos ? destination : destination.substr(at + 1);
  const bool is_address =
      host.find(':') != std::string_view::npos &&
      host.find_first_not_of("0123456789abcdefABCDEF:.") == std::string_view::npos;
  const bool is_good =
      !wrong_name(NameKind::kWord, user) && (is_address || !wrong_name(NameKind::kHost, host));
  if (is_good) return {};
  return invalid_error("expected HOST or USER@HOST, found " + shown(destination));
}

}  // namespace weir

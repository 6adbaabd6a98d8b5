// Addresses, routes and rules of a host: ip -br addr, ip -o addr, ifconfig, ip route, ip route get,
// ip rule, ip neigh.
#include <algorithm>
#include <array>
#include <bit>

#include <fmt/format.h>

#include "base/text.h"
#include "readers/paste/paste_tools.h"
#include "readers/paste/text_lines.h"

namespace weir::readers {
namespace {

/// "10.9.0.40", with or without "/24".
bool is_ipv4(std::string_view word) {
  const auto parts = split(word.substr(0, word.find('/')), '.');
  return parts.size() == 4 && std::all_of(parts.begin(), parts.end(), [](std::string_view part) {
           const auto number = parse_u64(part);
           return number && *number < 256;
         });
}

/// "rail0" of "rail0" and of "macvlan0@rail0".
std::string_view interface_word(std::string_view word) {
  return word.substr(0, word.find('@'));
}

/// "255.255.255.0" or "0xffffff00" as 24; nullopt for anything else.
std::optional<unsigned> prefix_of_mask(std::string_view mask) {
  std::uint32_t bits = 0;
  if (!is_ipv4(mask)) return std::nullopt;
  for (const std::string_view part : split(mask, '.'))
    bits = bits << 8U | static_cast<std::uint32_t>(parse_u64(part).value_or(0));
  const unsigned length = static_cast<unsigned>(std::countl_one(bits));
  return std::popcount(bits) == static_cast<int>(length) ? std::optional(length) : std::nullopt;
}

void add_address(std::string_view name, std::string_view address, const PasteLine& line,
                 PasteSink& out) {
  const std::string_view netdev = interface_word(name);
  auto& all = out.paste().addresses;
  const bool is_known = std::any_of(all.begin(), all.end(), [&](const PasteAddress& known) {
    return known.host == out.host() && known.netdev == netdev && known.address == address;
  });
  if (!is_known)
    all.push_back({out.host(), std::string(netdev), std::string(address), out.cite(line),
                   name.find("@if") != std::string_view::npos});
}

/// "rail0  UP  10.9.0.40/24 fe80::…/64"
bool is_brief_line(const std::vector<std::string_view>& words) {
  return words.size() >= 3 && (words[1] == "UP" || words[1] == "DOWN" || words[1] == "UNKNOWN") &&
         words[2].find('/') != std::string_view::npos &&
         (is_ipv4(words[2]) || words[2].find(':') != std::string_view::npos);
}

/// "rail2  DOWN  b8:3f:d2:00:00:03 <NO-CARRIER,BROADCAST,MULTICAST,UP>" of `ip -br link`, "rail2
/// ethernet  unavailable  --" of `nmcli dev`: whether there is a carrier; nullopt for other lines.
std::optional<bool> carrier_in(const std::vector<std::string_view>& words) {
  const bool is_brief = words.size() == 4 && words[3].starts_with('<') && words[3].ends_with('>') &&
                        words[2].find(':') != std::string_view::npos;
  if (is_brief && words[3].find("NO-CARRIER") != std::string_view::npos) return false;
  if (is_brief && words[3].find("LOWER_UP") != std::string_view::npos) return true;
  const bool is_managed = words.size() >= 4 && words[1] == "ethernet";
  if (is_managed && words[2] == "unavailable") return false;
  if (is_managed && words[2] == "connected") return true;
  return std::nullopt;
}

/// "5: rail0    inet 10.9.0.40/24 brd …"
bool is_one_line(const std::vector<std::string_view>& words) {
  return words.size() >= 4 && words[0].ends_with(':') &&
         parse_u64(words[0].substr(0, words[0].size() - 1)).has_value() &&
         (words[2] == "inet" || words[2] == "inet6") &&
         words[3].find('/') != std::string_view::npos;
}

/// "rail0: flags=4163<UP,BROADCAST,RUNNING,MULTICAST>  mtu 9000"
bool is_ifconfig_heading(const std::vector<std::string_view>& words) {
  return words.size() >= 3 && words[0].ends_with(':') && words[1].starts_with("flags=");
}

std::size_t read_ifconfig(const PasteAt& at, PasteSink& out) {
  std::string netdev;
  std::size_t taken = 0;
  for (; taken < at.lines.size(); ++taken) {
    const auto words = words_of(at.line(taken));
    if (words.empty()) continue;
    if (is_ifconfig_heading(words)) {
      netdev = words[0].substr(0, words[0].size() - 1);
      const auto mtu = words[words.size() - 2] == "mtu" ? parse_count(words.back()) : std::nullopt;
      if (mtu && *mtu <= 65'536)
        out.paste().mtus.push_back({out.host(), netdev, Bytes::raw(static_cast<std::int64_t>(*mtu)),
                                    out.cite(at.lines[taken])});
      continue;
    }
    const PasteLine& line = at.lines[taken];
    if (!line.text.starts_with(' ') && !line.text.starts_with('\t')) break;
    if (words.size() < 4 || words[0] != "inet" || words[2] != "netmask") continue;
    const auto length = prefix_of_mask(words[3]);
    if (length && is_ipv4(words[1]))
      add_address(netdev, fmt::format("{}/{}", words[1], *length), line, out);
  }
  return taken;
}

}  // namespace

bool begins_addresses(const PasteAt& at) {
  const auto words = words_of(at.line(0));
  return is_brief_line(words) || is_one_line(words) || is_ifconfig_heading(words) ||
         carrier_in(words).has_value();
}

std::size_t read_addresses(const PasteAt& at, PasteSink& out) {
  if (is_ifconfig_heading(words_of(at.line(0)))) return read_ifconfig(at, out);
  std::size_t taken = 0;
  for (; taken < at.lines.size(); ++taken) {
    const auto words = words_of(at.line(taken));
    if (is_brief_line(words)) {
      for (std::size_t i = 2; i < words.size(); ++i)
        if (is_ipv4(words[i])) add_address(words[0], words[i], at.lines[taken], out);
    } else if (const auto is_up = carrier_in(words)) {
      out.paste().carriers.push_back(
          {out.host(), std::string(interface_word(words[0])), *is_up, out.cite(at.lines[taken])});
    } else if (is_one_line(words)) {
      if (is_ipv4(words[3])) add_address(words[1], words[3], at.lines[taken], out);
    } else {
      break;
    }
  }
  return taken;
}

// ---- routes, rules, neighbours ----

namespace {

std::string_view behind(const std::vector<std::string_view>& words, std::string_view key) {
  for (std::size_t i = 0; i + 1 < words.size(); ++i)
    if (words[i] == key) return words[i + 1];
  return {};
}

/// "100: from 10.9.0.41 lookup 101"
bool is_rule_line(const std::vector<std::string_view>& words) {
  return words.size() >= 4 && words[0].ends_with(':') &&
         parse_u64(words[0].substr(0, words[0].size() - 1)).has_value() && words[1] == "from" &&
         !behind(words, "lookup").empty();
}

bool is_neighbour_state(std::string_view word) {
  constexpr auto kStates = std::to_array<std::string_view>(
      {"REACHABLE", "STALE", "DELAY", "PROBE", "FAILED", "INCOMPLETE", "PERMANENT", "NOARP"});
  return std::find(kStates.begin(), kStates.end(), word) != kStates.end();
}

bool is_route_line(const std::vector<std::string_view>& words) {
  return words.size() >= 3 && (is_ipv4(words[0]) || words[0] == "default") &&
         !behind(words, "dev").empty();
}

bool is_refused_route(const PasteAt& at, std::size_t n) {
  const std::string_view text = at.line(n);
  return at.mark.tool() == "ip" && at.mark.has_word("get") &&
         text.starts_with("RTNETLINK answers: ") &&
         (text.ends_with("Network is unreachable") || text.ends_with("No route to host"));
}

std::string word_behind(const Mark& mark, std::string_view key) {
  for (std::size_t i = 0; i + 1 < mark.words.size(); ++i)
    if (mark.words[i] == key) return mark.words[i + 1];
  return {};
}

void read_route(const std::vector<std::string_view>& words, const PasteLine& line, const Mark& mark,
                PasteSink& out) {
  if (is_neighbour_state(words.back())) return;
  const std::string_view netdev = interface_word(behind(words, "dev"));
  const bool is_answer =
      words[0].find('/') == std::string_view::npos && words[0] != "default" &&
      (mark.has_word("get") || !behind(words, "from").empty() || !behind(words, "uid").empty());
  if (is_answer) {
    out.paste().routes.push_back({out.host(), std::string(words[0]),
                                  std::string(behind(words, "from")), std::string(netdev),
                                  out.cite(line)});
    return;
  }
  if (words[0] != "default" && !behind(words, "via").empty())
    out.paste().gateways.push_back({out.host(), std::string(netdev)});
  // The kernel makes such a route for every address that it is given.
  const std::string_view source = behind(words, "src");
  const std::size_t slash = words[0].find('/');
  const bool is_own = behind(words, "proto") == "kernel" && behind(words, "scope") == "link" &&
                      slash != std::string_view::npos && is_ipv4(source);
  if (is_own) add_address(netdev, fmt::format("{}{}", source, words[0].substr(slash)), line, out);
}

}  // namespace

bool begins_routes(const PasteAt& at) {
  const auto words = words_of(at.line(0));
  return is_rule_line(words) || is_route_line(words) || is_refused_route(at, 0);
}

std::size_t read_routes(const PasteAt& at, PasteSink& out) {
  std::size_t taken = 0;
  for (; taken < at.lines.size(); ++taken) {
    const auto words = words_of(at.line(taken));
    const PasteLine& line = at.lines[taken];
    if (is_rule_line(words)) {
      out.paste().rules.push_back({out.host(), std::string(words[2]),
                                   std::string(behind(words, "lookup")), out.cite(line)});
    } else if (is_route_line(words)) {
      read_route(words, line, at.mark, out);
    } else if (is_refused_route(at, taken)) {
      std::string source = word_behind(at.mark, "from");
      if (source.empty()) source = word_behind(at.mark, "oif");
      out.paste().routes.push_back(
          {out.host(), word_behind(at.mark, "get"), std::move(source), "", out.cite(line)});
    } else if (words.empty() || words[0] != "cache") {
      break;
    }
  }
  return taken;
}

// ---- netstat -i ----

bool begins_interface_table(const PasteAt& at) {
  const auto words = words_of(at.line(0));
  return words.size() > 3 && words[0] == "Iface" && words[1] == "MTU";
}

/// The MTU of each interface; its counters are the kernel's own.
std::size_t read_interface_table(const PasteAt& at, PasteSink& out) {
  std::size_t taken = 1;
  for (; taken < at.lines.size(); ++taken) {
    const auto words = words_of(at.line(taken));
    const auto mtu = words.size() > 3 ? parse_count(words[1]) : std::nullopt;
    if (!mtu || *mtu > 65'536) break;
    out.paste().mtus.push_back({out.host(), std::string(words[0]),
                                Bytes::raw(static_cast<std::int64_t>(*mtu)),
                                out.cite(at.lines[taken])});
  }
  return taken;
}

// ---- widths of PCIe links, as a loop over the files prints them ----

namespace {

/// "mlx5_2 8 16 32.0 GT/s PCIe": the width that a device has, and the one it could have.
std::optional<std::pair<unsigned, unsigned>> widths_in(const std::vector<std::string_view>& words) {
  if (words.size() < 3 || !is_rdma_name(words[0].substr(0, words[0].find(':'))))
    return std::nullopt;
  const auto now = parse_count(words[1]);
  const auto most = parse_count(words[2]);
  constexpr std::uint64_t kWidest = 32;
  if (!now || !most || *now == 0 || *most > kWidest || *now > *most) return std::nullopt;
  return std::pair(static_cast<unsigned>(*now), static_cast<unsigned>(*most));
}

}  // namespace

bool begins_link_widths(const PasteAt& at) {
  const std::size_t now = at.mark.command.find("current_link_width");
  const std::size_t most = at.mark.command.find("max_link_width");
  return now != std::string::npos && most != std::string::npos && now < most &&
         widths_in(words_of(at.line(0))).has_value();
}

std::size_t read_link_widths(const PasteAt& at, PasteSink& out) {
  std::size_t taken = 0;
  for (; taken < at.lines.size(); ++taken) {
    const auto words = words_of(at.line(taken));
    const auto widths = widths_in(words);
    if (!widths) break;
    const std::string_view device = words[0].substr(0, words[0].find(':'));
    evidence::Nic& nic = out.hosts().by_device(out.host(), device).nic;
    out.set(nic.pcie.width, widths->first, at.lines[taken]);
    out.set(nic.pcie.width_max, widths->second, at.lines[taken]);
  }
  return taken;
}

}  // namespace weir::readers

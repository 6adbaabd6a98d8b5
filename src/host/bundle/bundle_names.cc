#include "host/bundle/bundle_names.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <cstring>

#include <arpa/inet.h>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <linux/netlink.h>
#include <linux/rtnetlink.h>

#include "base/text.h"
#include "host/bundle/bundle_secrets.h"
#include "host/kernel/netlink.h"
#include "host/linux/lldp.h"
#include "host/linux/machine.h"
#include "host/linux/netlink.h"
#include "host/linux/nic.h"
#include "host/linux/pci.h"

namespace weir::host {
namespace {

// ---- one file each ----

/// The card's UUID and serial number identify it and are left out.
std::string model_line(std::string_view information) {
  for (const std::string_view line : split(information, '\n')) {
    if (line.starts_with("Model")) return std::string(line) + "\n";
  }
  return "\n";
}

/// PCI Express writes a serial number, often the MAC address, into an extended capability.
std::string without_serial(std::string config) {
  constexpr unsigned kCapabilitySerial = 0x0003;
  if (const auto at = find_extended_capability(config, kCapabilitySerial)) {
    const std::size_t from = *at + 4;
    const std::size_t size =
        std::min<std::size_t>(8, config.size() - std::min(from, config.size()));
    config.replace(from, size, size, '\0');
  }
  return config;
}

std::string other_gid(std::string_view text, const Pseudonyms& names) {
  const auto gid = parse_gid(text);
  return gid ? gid_text(names.of(*gid)) + "\n" : std::string(text);
}

std::string other_neighbours(std::string_view file, const Pseudonyms& names) {
  const auto neighbours = parse_networkd_lldp(file);
  if (!neighbours) return "";
  std::vector<evidence::Neighbour> out = *neighbours;
  for (evidence::Neighbour& neighbour : out) {
    neighbour.system = names.of_name("switch", neighbour.system);
    neighbour.port = names.of_macs(neighbour.port);
  }
  return networkd_lldp_file(out);
}

bool is_process_name(std::string_view path) {
  const auto parts = split(path, '/');
  return parts.size() == 4 && parts[1] == "proc" && parts[3] == "comm" && parse_u64(parts[2]);
}

/// Files in which every address is replaced, whoever's it is.
bool has_addresses(const std::string& path) {
  return path.ends_with("/traffic_class") || path.ends_with("nccl.conf") ||
         path.find("/gids/") != std::string::npos;
}

std::string other_content(const std::string& path, const std::string& content,
                          const Pseudonyms& names) {
  if (path == "/proc/sys/kernel/hostname") return names.of_host(trim(content)) + "\n";
  if (path == "/proc/cmdline") return short_command_line(content);
  if (path.starts_with("/proc/driver/nvidia/gpus/")) return model_line(content);
  if (path.starts_with(kNetworkdLldp)) return other_neighbours(content, names);
  if (path.find("/gids/") != std::string::npos) return other_gid(content, names);
  if (path.ends_with("/config")) return without_serial(content);
  if (has_addresses(path)) return names.of_text(content);
  return names.of_macs(content);
}

// ---- netlink ----

/// An address within a message, in its place.
void replace_address(std::string& message, std::size_t at, std::size_t size,
                     const Pseudonyms& names) {
  const auto change = [&](auto address) {
    std::memcpy(address.data(), message.data() + at, address.size());
    address = names.of(address);
    std::memcpy(message.data() + at, address.data(), address.size());
  };
  if (size == sizeof(Ipv4)) change(Ipv4{});
  if (size == sizeof(Ipv6)) change(Ipv6{});
}

/// Where in the message addresses are, and how long.
std::vector<std::pair<std::size_t, std::size_t>> addresses_in(std::string_view whole) {
  std::vector<std::pair<std::size_t, std::size_t>> places;
  if (whole.size() < NLMSG_HDRLEN + sizeof(ifaddrmsg)) return places;
  if (number_at<nlmsghdr>(whole, 0).nlmsg_type != RTM_NEWADDR) return places;
  const auto attributes = Attributes::of_message(whole, sizeof(ifaddrmsg));
  for (const Attributes::One& attribute : attributes->all()) {
    constexpr std::array kAddresses = {int{IFA_ADDRESS}, int{IFA_LOCAL}, int{IFA_BROADCAST},
                                       int{IFA_ANYCAST}};
    if (std::find(kAddresses.begin(), kAddresses.end(), attribute.type) != kAddresses.end())
      places.emplace_back(attribute.payload.data() - whole.data(), attribute.payload.size());
  }
  return places;
}

void replace_addresses(std::string& message, const Pseudonyms& names) {
  for (const auto& [at, size] : addresses_in(message))
    replace_address(message, at, size, names);
}

// ---- a look ----

template <class T, class Change>
void change_keys(std::map<std::string, Answer<T>, std::less<>>& answers, const Change& change) {
  std::map<std::string, Answer<T>, std::less<>> changed;
  for (auto& [key, answer] : answers)
    changed.emplace(change(key), std::move(answer));
  answers = std::move(changed);
}

/// Names of network devices, which may be called after a MAC address or the host, wherever they are
/// but in files. `change` keeps the length, or the kernel's messages fall apart.
template <class Change>
void change_devices(Recording& look, const Change& change) {
  change_keys(look.files, change);
  change_keys(look.lists, change);
  change_keys(look.paths, change);
  for (auto& [path, answer] : look.lists) {
    if (!answer) continue;
    std::vector<std::string> list = *answer;
    std::transform(list.begin(), list.end(), list.begin(), change);
    answer = std::move(list);
  }
  for (auto& [path, answer] : look.paths) {
    if (answer) answer = change(*answer);
  }
  std::map<std::pair<std::string, std::string>, CapturedTalk> talks;
  for (auto& [question, talk] : look.talks) {
    talk.netdev = change(talk.netdev);
    talk.request = change(talk.request);
    std::transform(talk.replies.begin(), talk.replies.end(), talk.replies.begin(), change);
    std::pair key(talk.netdev, talk.request);
    talks.emplace(std::move(key), std::move(talk));
  }
  look.talks = std::move(talks);
}

/// Of the processes, the first and the LLDP agents: enough to tell that the others are none.
void drop_processes(Recording& look) {
  std::vector<std::string> kept;
  for (auto at = look.files.begin(); at != look.files.end();) {
    if (!is_process_name(at->first)) {
      ++at;
      continue;
    }
    const std::string id(split(at->first, '/')[2]);
    const bool is_agent = at->second && is_lldp_agent(trim(*at->second));
    const bool failed = !at->second && !at->second.is(ENOENT);
    if (id != "1" && !is_agent && !failed) {
      at = look.files.erase(at);
      continue;
    }
    kept.push_back(id);
    ++at;
  }
  if (const auto list = look.lists.find("/proc"); list != look.lists.end() && list->second)
    list->second = kept;
}

/// The user's name is in the way to the user's files.
void rename_home(Recording& look) {
  const auto home = look.about.find("home");
  if (home == look.about.end() || !home->second) return;
  const std::string from = *home->second + "/.nccl.conf";
  if (auto node = look.files.extract(from); !node.empty()) {
    node.key() = "/nobody/.nccl.conf";
    look.files.insert(std::move(node));
  }
  home->second = std::string("/nobody");
}

// ---- the host's own names, wherever they are ----

bool is_same_letter(char a, char b) {
  return std::tolower(static_cast<unsigned char>(a)) == std::tolower(static_cast<unsigned char>(b));
}

/// As find(), in capitals and small letters.
std::size_t find_name(std::string_view text, std::string_view name, std::size_t from) {
  const auto found = std::search(text.begin() + static_cast<std::ptrdiff_t>(from), text.end(),
                                 name.begin(), name.end(), is_same_letter);
  return found == text.end() ? std::string_view::npos
                             : static_cast<std::size_t>(found - text.begin());
}

bool is_in_name(char c) {
  return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '-' || c == '_';
}

/// Every `name` in a text, whatever it is part of: a build's "root@gpu01", "GPU01.LOCAL".
std::string with_name_replaced(std::string text, std::string_view name, std::string_view by) {
  for (std::size_t at = find_name(text, name, 0); at != std::string::npos;
       at = find_name(text, name, at)) {
    text.replace(at, name.size(), by);
    at += by.size();
  }
  return text;
}

/// Every name within the domain: other hosts of the site too, each by a pseudonym of its own.
std::string with_domain_replaced(std::string text, std::string_view domain,
                                 const Pseudonyms& names) {
  for (std::size_t at = find_name(text, domain, 0); at != std::string::npos;
       at = find_name(text, domain, at)) {
    std::size_t begin = at;
    while (begin > 0 && (is_in_name(text[begin - 1]) || text[begin - 1] == '.'))
      --begin;
    const std::string by = names.of_host(text.substr(begin, at + domain.size() - begin));
    text.replace(begin, at + domain.size() - begin, by);
    at = begin + by.size();
  }
  return text;
}

/// Every `number` that is no part of another one.
std::string with_number_replaced(std::string text, std::string_view number, std::string_view by) {
  const auto is_part = [](char c) { return std::isxdigit(static_cast<unsigned char>(c)) != 0; };
  for (std::size_t at = text.find(number); at != std::string::npos; at = text.find(number, at)) {
    const std::size_t end = at + number.size();
    const bool is_whole =
        (at == 0 || !is_part(text[at - 1])) && (end == text.size() || !is_part(text[end]));
    if (is_whole) text.replace(at, number.size(), by);
    at += is_whole ? by.size() : 1;
  }
  return text;
}

/// Every `word` that is no part of another. `by` has its length: the kernel's messages keep theirs.
void replace_word(std::string& text, std::string_view word, std::string_view by) {
  for (std::size_t at = text.find(word); at != std::string::npos; at = text.find(word, at + 1)) {
    const std::size_t end = at + word.size();
    const bool is_alone =
        (at == 0 || !is_in_name(text[at - 1])) && (end == text.size() || !is_in_name(text[end]));
    if (is_alone) text.replace(at, word.size(), by);
  }
}

/// The names of the host.
struct OwnNames {
  std::string pseudonym;
  std::string name;    // "gpu01"; empty where it is not known, or part of too many other words
  std::string domain;  // "site.example", not "local", which is a word
};

OwnNames own_names(const Recording& look, const Pseudonyms& names) {
  constexpr std::size_t kShortest = 3;  // "c1"
  const auto file = look.files.find("/proc/sys/kernel/hostname");
  if (file == look.files.end() || !file->second) return {};
  const std::string whole(trim(*file->second));
  OwnNames own{names.of_host(whole), whole.substr(0, whole.find('.')), ""};
  if (own.name.size() < kShortest) own.name.clear();
  const std::string domain = whole.substr(std::min(whole.find('.'), whole.size() - 1) + 1);
  if (domain.find('.') != std::string::npos) own.domain = domain;
  return own;
}

std::string without_own_names(std::string text, const OwnNames& own, const Pseudonyms& names) {
  if (!own.domain.empty()) text = with_domain_replaced(std::move(text), own.domain, names);
  if (!own.name.empty()) text = with_name_replaced(std::move(text), own.name, own.pseudonym);
  return text;
}

/// A network interface that is called after its host gets another name of the same length; one on
/// top of it ("gpu01r0.100") follows.
std::map<std::string, std::string> other_interfaces(const Recording& look, const OwnNames& own,
                                                    const Pseudonyms& names) {
  std::map<std::string, std::string> renamed;
  if (own.name.empty()) return renamed;
  for (const std::string& each : interfaces_of(look)) {
    const std::string base = each.substr(0, each.find('.'));
    if (find_name(base, own.name, 0) == std::string_view::npos) continue;
    std::string by = "n";
    while (by.size() < base.size())
      by += names.of_name("nic", base + by).substr(std::string_view("nic-").size());
    renamed.emplace(base, by.substr(0, base.size()));
  }
  return renamed;
}

/// The answers to this question have addresses in them. Numbers of generic netlink's families are
/// those of rtnetlink's messages: the question tells.
bool is_about_addresses(const CapturedTalk& talk) {
  return talk.netdev.empty() && talk.request == question_of(address_request());
}

std::vector<Ipv4> own_addresses(const Recording& look) {
  std::vector<Ipv4> out;
  for (const auto& [question, talk] : look.talks) {
    if (!is_about_addresses(talk)) continue;
    for (const std::string& reply : talk.replies)
      for (const auto& [at, size] : addresses_in(reply)) {
        if (size != sizeof(Ipv4)) continue;
        std::memcpy(out.emplace_back().data(), reply.data() + at, size);
      }
  }
  return out;
}

/// The host's own IPv4 addresses in forms that are looked for nowhere else: "ip-10-0-0-1",
/// "0A000001".
std::string without_own_addresses(std::string text, const std::vector<Ipv4>& own,
                                  const Pseudonyms& names) {
  const auto replace = [&](const Ipv4& from, const Ipv4& to, const auto& text_of) {
    text = with_number_replaced(std::move(text), text_of(from), text_of(to));
  };
  for (const Ipv4& from : own) {
    const Ipv4 to = names.of(from);
    replace(from, to, [](const Ipv4& a) { return fmt::format("{}", fmt::join(a, ".")); });
    replace(from, to, [](const Ipv4& a) { return fmt::format("{}", fmt::join(a, "-")); });
    replace(from, to, [](const Ipv4& a) { return fmt::format("{:02x}", fmt::join(a, "")); });
    replace(from, to, [](const Ipv4& a) { return fmt::format("{:02X}", fmt::join(a, "")); });
  }
  return text;
}

void pseudonymise_look(Recording& look, const Pseudonyms& names) {
  drop_processes(look);
  rename_home(look);
  const OwnNames own = own_names(look, names);
  const std::vector<Ipv4> addresses = own_addresses(look);
  const std::map<std::string, std::string> interfaces = other_interfaces(look, own, names);
  const auto rename = [&](std::string text) {
    for (const auto& [name, by] : interfaces)
      replace_word(text, name, by);
    return text;
  };
  for (auto& [path, answer] : look.files) {
    if (!answer) continue;
    std::string content = other_content(path, rename(*answer), names);
    if (!path.ends_with("/config")) {
      content = without_own_names(std::move(content), own, names);
      if (!has_addresses(path))
        content = without_own_addresses(std::move(content), addresses, names);
    }
    answer = std::move(content);
  }
  for (auto& [question, talk] : look.talks)
    if (is_about_addresses(talk))
      for (std::string& reply : talk.replies)
        replace_addresses(reply, names);
  change_devices(look, [&](const std::string& text) { return names.of_macs(rename(text)); });
}

// ---- back ----

/// "10.10.1.5/24" again, whatever it was called.
std::string restored_address(const std::string& with_length, const Pseudonyms& names) {
  const std::size_t slash = with_length.find('/');
  const std::string text = with_length.substr(0, slash);
  const std::string length = slash == std::string::npos ? "" : with_length.substr(slash);
  Ipv4 v4{};
  Ipv6 gid{};
  const bool is_v4 = inet_pton(AF_INET, text.c_str(), v4.data()) == 1;
  if (is_v4) {
    gid[10] = gid[11] = 0xff;
    std::copy(v4.begin(), v4.end(), gid.begin() + 12);
  } else if (inet_pton(AF_INET6, text.c_str(), gid.data()) != 1) {
    return with_length;
  }
  const Ipv6 real = names.original(gid);
  std::array<char, INET6_ADDRSTRLEN> printed{};
  inet_ntop(is_v4 ? AF_INET : AF_INET6, real.data() + (is_v4 ? 12 : 0), printed.data(),
            printed.size());
  return printed.data() + length;
}

}  // namespace

void pseudonymise(Bundle& bundle, const Pseudonyms& pseudonyms) {
  for (Recording& look : bundle.looks)
    pseudonymise_look(look, pseudonyms);
  bundle.has_pseudonyms = true;
}

bool restore_names(evidence::Evidence& evidence, const design::Intent& intent,
                   const Pseudonyms& pseudonyms) {
  const auto host =
      std::find_if(intent.hosts.begin(), intent.hosts.end(), [&](const design::HostIntent& each) {
        return pseudonyms.of_host(each.name) == evidence.provenance.host;
      });
  if (host == intent.hosts.end()) return false;
  evidence.provenance.host = host->name;
  for (evidence::Nic& nic : evidence.nics) {
    if (nic.addresses.is_known()) {
      std::vector<std::string> addresses = *nic.addresses;
      for (std::string& address : addresses)
        address = restored_address(address, pseudonyms);
      nic.addresses = evidence::Fact<std::vector<std::string>>::of(std::move(addresses),
                                                                   nic.addresses.source());
    }
    if (!nic.rdma.gids.is_known()) continue;
    std::vector<evidence::Gid> gids = *nic.rdma.gids;
    for (evidence::Gid& entry : gids) {
      if (const auto gid = parse_gid(entry.gid)) entry.gid = gid_text(pseudonyms.original(*gid));
    }
    nic.rdma.gids =
        evidence::Fact<std::vector<evidence::Gid>>::of(std::move(gids), nic.rdma.gids.source());
  }
  return true;
}

}  // namespace weir::host

#include "host/bundle/bundle_names.h"

#include <algorithm>
#include <array>
#include <cstring>

#include <arpa/inet.h>
#include <fmt/format.h>
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

std::string other_content(const std::string& path, const std::string& content,
                          const Pseudonyms& names) {
  if (path == "/proc/sys/kernel/hostname") return names.of_host(trim(content)) + "\n";
  if (path == "/proc/cmdline") return short_command_line(content);
  if (path.starts_with("/proc/driver/nvidia/gpus/")) return model_line(content);
  if (path.starts_with(kNetworkdLldp)) return other_neighbours(content, names);
  if (path.find("/gids/") != std::string::npos) return other_gid(content, names);
  if (path.ends_with("/config")) return without_serial(content);
  if (path.ends_with("/traffic_class") || path.ends_with("nccl.conf"))
    return names.of_text(content);
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

void replace_addresses(std::string& message, const Pseudonyms& names) {
  if (message.size() < NLMSG_HDRLEN + sizeof(ifaddrmsg)) return;
  if (number_at<nlmsghdr>(message, 0).nlmsg_type != RTM_NEWADDR) return;
  const std::string_view whole = message;
  const auto attributes = Attributes::of_message(whole, sizeof(ifaddrmsg));
  std::vector<std::pair<std::size_t, std::size_t>> places;
  for (const Attributes::One& attribute : attributes->all()) {
    constexpr std::array kAddresses = {int{IFA_ADDRESS}, int{IFA_LOCAL}, int{IFA_BROADCAST},
                                       int{IFA_ANYCAST}};
    if (std::find(kAddresses.begin(), kAddresses.end(), attribute.type) != kAddresses.end())
      places.emplace_back(attribute.payload.data() - whole.data(), attribute.payload.size());
  }
  for (const auto& [at, size] : places)
    replace_address(message, at, size, names);
}

// ---- a look ----

/// Names in keys change as well: a network device may be called after its MAC address.
template <class T>
void rename_keys(std::map<std::string, Answer<T>, std::less<>>& answers, const Pseudonyms& names) {
  std::map<std::string, Answer<T>, std::less<>> renamed;
  for (auto& [key, answer] : answers)
    renamed.emplace(names.of_macs(key), std::move(answer));
  answers = std::move(renamed);
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

/// Every `name` in a text, whatever it is part of: a build's "root@gpu01", a domain.
std::string with_name_replaced(std::string text, std::string_view name, std::string_view by) {
  for (std::size_t at = text.find(name); at != std::string::npos; at = text.find(name, at)) {
    text.replace(at, name.size(), by);
    at += by.size();
  }
  return text;
}

/// The names of the host: with its domain, without, the domain.
std::vector<std::string> names_of_host(const Recording& look) {
  const auto file = look.files.find("/proc/sys/kernel/hostname");
  if (file == look.files.end() || !file->second) return {};
  const std::string whole(trim(*file->second));
  const std::size_t dot = whole.find('.');
  std::vector<std::string> out = {whole};
  if (dot != std::string::npos) out.push_back(whole.substr(0, dot));
  const bool has_domain = dot != std::string::npos && whole.find('.', dot + 1) != std::string::npos;
  if (has_domain) out.push_back(whole.substr(dot + 1));  // "local" is a word
  constexpr std::size_t kShortest = 3;                   // "c1" is part of too many other words
  std::erase_if(out, [](const std::string& name) { return name.size() < kShortest; });
  return out;
}

void pseudonymise_look(Recording& look, const Pseudonyms& names) {
  drop_processes(look);
  rename_home(look);
  const std::vector<std::string> own = names_of_host(look);
  for (auto& [path, answer] : look.files) {
    if (!answer) continue;
    std::string content = other_content(path, *answer, names);
    const bool is_bytes = path.ends_with("/config");
    for (const std::string& name : own)
      if (!is_bytes) content = with_name_replaced(std::move(content), name, names.of_host(own[0]));
    answer = std::move(content);
  }
  rename_keys(look.files, names);
  for (auto& [path, answer] : look.lists) {
    if (!answer) continue;
    std::vector<std::string> list = *answer;
    for (std::string& name : list)
      name = names.of_macs(name);
    answer = std::move(list);
  }
  rename_keys(look.lists, names);
  for (auto& [path, answer] : look.paths) {
    if (answer) answer = names.of_macs(*answer);
  }
  rename_keys(look.paths, names);
  const std::string addresses = question_of(address_request());
  std::map<std::pair<std::string, std::string>, CapturedTalk> talks;
  for (auto& [question, talk] : look.talks) {
    talk.netdev = names.of_macs(talk.netdev);
    talk.request = names.of_macs(talk.request);
    // Numbers of generic netlink's families are those of rtnetlink's messages: the question tells.
    const bool is_about_addresses = talk.netdev.empty() && talk.request == addresses;
    for (std::string& reply : talk.replies) {
      if (is_about_addresses) replace_addresses(reply, names);
      reply = names.of_macs(reply);
    }
    std::pair key(talk.netdev, talk.request);
    talks.emplace(std::move(key), std::move(talk));
  }
  look.talks = std::move(talks);
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

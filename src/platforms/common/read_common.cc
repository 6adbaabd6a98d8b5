#include "platforms/common/read_common.h"

#include <algorithm>

#include <fmt/format.h>

#include "base/text.h"

namespace weir::platforms {

void Defaults::settle(evidence::EgressQueue& queue) const {
  queue.ecn = unless(queue.ecn, false);
  queue.wred_drop = unless(queue.wred_drop, false);
  if (!queue.max_share.is_known()) queue.max_rate = unless(queue.max_rate, BitRate());
  settle_queue(queue);
}

bool has_line_with(std::string_view text, std::initializer_list<std::string_view> starts) {
  for (const std::string_view line : split(text, '\n'))
    for (const std::string_view start : starts)
      if (line.starts_with(start)) return true;
  return false;
}

void set_modes(const PortModes& said, Parsed& parsed) {
  if (said.empty() && !parsed.is_whole) return;
  std::vector<PortMode>& out = parsed.port_modes.emplace();
  for (const auto& [name, mode] : said)
    out.push_back(mode);
  std::sort(out.begin(), out.end(),
            [](const PortMode& a, const PortMode& b) { return natural_order(a.name, b.name) < 0; });
}

std::optional<BitRate> read_port_speed(std::string_view word) {
  const std::size_t digits = std::min(word.find_first_not_of("0123456789"), word.size());
  const auto number = parse_u64(word.substr(0, digits));
  const std::string_view unit = word.substr(digits);
  constexpr std::uint64_t kMost = 3'200;
  const bool is_rate = unit == "g" || unit == "G" || unit == "gfull";
  if (!number || *number == 0 || *number > kMost || !is_rate) return std::nullopt;
  return 1_Gbps * static_cast<std::int64_t>(*number);
}

void settle_faults(Parsed& parsed) {
  if (parsed.is_whole) return;
  std::erase_if(parsed.faults, [&](const ConfigFault& fault) {
    if (fault.needs_whole) parsed.unread.push_back({fault.line, fault.source, fault.text});
    return fault.needs_whole;
  });
  std::stable_sort(parsed.unread.begin(), parsed.unread.end(),
                   [](const Unread& a, const Unread& b) { return a.line < b.line; });
}

void VlanText::declare(unsigned low, unsigned high) {
  for (unsigned vlan = low; vlan <= high; ++vlan)
    declared.at(vlan) = true;
}

void VlanText::allow(const std::string& port, unsigned low, unsigned high, const Place& at) {
  allowed.push_back({port, low, high, at.text()});
  if (low == high) declare(low, high);  // named on its own: it is meant
}

Status read_vlans(std::string_view text, const std::function<void(unsigned, unsigned)>& take) {
  for (const std::string_view piece : split(text, ',')) {
    const std::size_t dash = piece.find('-');
    const auto low = parse_u64(piece.substr(0, dash));
    const auto high = dash == std::string_view::npos ? low : parse_u64(piece.substr(dash + 1));
    if (!low || !high || *low < 1 || *high < *low || *high > VlanText::kMost)
      return unsupported(fmt::format("'{}' are no VLANs", text));
    take(static_cast<unsigned>(*low), static_cast<unsigned>(*high));
  }
  return {};
}

void add_vlans(const VlanText& vlans, evidence::Switch& state) {
  std::vector<VlanText::Allowed> all = vlans.allowed;
  for (const auto& [port, source] : vlans.trunks)
    if (!vlans.limited.contains(port)) all.push_back({port, 1, VlanText::kMost, source});
  for (const VlanText::Allowed& each : all)
    for (unsigned vlan = each.low; vlan <= each.high; ++vlan)
      if (vlans.declared.at(vlan))
        add_member(interface_named(state, fmt::format("Vlan{}", vlan), "svi"), each.port,
                   each.source);
}

std::vector<std::string> other_box_patterns() {
  constexpr std::string_view kHeads =
      "aaa,alias,arp,banner,bfd,boot,clock,cli,daemon,dns,enable,event-handler,"
      "event-monitor,ip as-path,ip community-list,ip domain,ip domain-list,"
      "ip domain-lookup,ip domain-name,ip extcommunity-list,ip host,ip http,ip name-server,"
      "ip prefix-list,ip radius,ip route,ip routing,ip ssh,ip tacacs,ip virtual-router,"
      "ipv6 prefix-list,ipv6 route,ipv6 unicast-routing,key,line,lldp timer,lldp holdtime,"
      "lldp management-address,logging,mac address-table,management,no aaa,no ip http,"
      "no ip routing,no logging,no snmp-server,no spanning-tree,no username,ntp,password,"
      "no password,peer-filter,prompt,radius-server,role,route-map,router,schedule,"
      "service routing,snmp-server,spanning-tree,ssh,tacacs-server,terminal,transceiver,"
      "username,version,vrf,interface * | arp,interface * | bfd,"
      "interface * | error-correction,interface * | isis,interface * | lldp,"
      "interface * | load-interval,interface * | logging,interface * | no ip,"
      "interface * | no lldp,interface * | no snmp,interface * | snmp,"
      "interface * | spanning-tree,interface * | transceiver,vlan * | name";
  std::vector<std::string> out;
  for (const std::string_view head : split(kHeads, ',')) {
    out.push_back(std::string(head) + " ***");
    if (head.find(' ') != std::string_view::npos) out.emplace_back(head);
  }
  return out;
}

bool is_ethernet(std::string_view name) {
  return name.starts_with("Ethernet");
}

evidence::SwitchInterface* interface_in(Interfaces& all, const std::string& name) {
  if (!is_channel(name) && !name.starts_with("Vlan")) return nullptr;
  evidence::SwitchInterface& interface = all[name];
  interface.name = name;
  interface.kind = is_channel(name) ? "port-channel" : "svi";
  return &interface;
}

void add_member(Interfaces& all, const std::string& channel, const std::string& port,
                const Place& at) {
  add_member(*interface_in(all, channel), port, at.text());
}

Status read_random_detect(std::string_view text, bool marks, const Place& at,
                          evidence::EgressQueue& queue) {
  const std::vector<std::string> words = words_of(text);
  std::optional<Error> unit;
  for (std::size_t i = 0; i < words.size();) {
    const std::string& word = words[i];
    const bool is_threshold = word == "minimum-threshold" || word == "maximum-threshold";
    const std::size_t needs = word == "ecn" ? 0 : is_threshold ? 2 : 1;
    if (i + needs >= words.size())
      return parse_error(
          fmt::format("expected a value after '{}', found the end of the line", word));
    if (word == "ecn") {
      marks = true;
    } else if (is_threshold) {
      const auto size = read_size(words[i + 1], words[i + 2]);
      if (!size && size.error().code != ErrorCode::kUnsupported) return size.error();
      if (!size) unit = size.error();
      if (size) assign(word[1] == 'i' ? queue.ecn_min : queue.ecn_max, *size, at);
    } else if (word == "max-mark-probability" || word == "drop-probability") {
      WEIR_TRY(percent, read_number(words[i + 1], 1, 100, "percent"));
      assign(queue.ecn_probability, 1_percent * percent, at);
    } else if (word == "weight") {
      WEIR_TRY(weight, read_number(words[i + 1], 0, 15, "a weight"));
      assign(queue.ecn_weight, static_cast<unsigned>(weight), at);
    } else if (word != "drop-precedence") {
      return parse_error(
          fmt::format("expected minimum-threshold, maximum-threshold, a probability, weight or "
                      "ecn, found '{}'",
                      word));
    }
    i += needs + 1;
  }
  assign(queue.ecn, marks, at);
  assign(queue.wred_drop, !marks, at);
  if (unit) return *unit;
  return {};
}

}  // namespace weir::platforms

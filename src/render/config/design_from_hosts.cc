#include "render/config/design_from_hosts.h"

#include <algorithm>
#include <cctype>
#include <map>
#include <optional>
#include <set>

#include <arpa/inet.h>
#include <fmt/format.h>

#include "base/name_pattern.h"
#include "base/text.h"
#include "base/untrusted/name_policy.h"
#include "base/untrusted/quote.h"
#include "counters/catalog.h"
#include "design/tables/nic_knobs.h"
#include "design/tables/platforms.h"
#include "units/format.h"

namespace weir::render {
namespace {

using evidence::Evidence;
using evidence::Fact;
using evidence::Nic;

constexpr std::string_view kFound = "as found";
constexpr std::size_t kCommentColumn = 30;

/// A line with its comment, in the same column as in the templates.
std::string line(const std::string& text, const std::string& comment) {
  if (comment.empty()) return text + "\n";
  const std::size_t width = std::max(text.size() + 1, kCommentColumn);
  return fmt::format("{:<{}}# {}\n", text, width, comment_text(comment));
}

// ---- what the hosts agree on ----

/// The values of a fact over many NICs: the most common, and whether it is the only one.
template <class T>
class Votes {
 public:
  void add(const Fact<T>& fact) {
    if (!fact.is_known()) {
      ++unknown_;
      return;
    }
    const auto same = std::find_if(counts_.begin(), counts_.end(),
                                   [&](const auto& row) { return row.first == *fact; });
    if (same == counts_.end()) {
      counts_.emplace_back(*fact, 1);
    } else {
      ++same->second;
    }
  }
  [[nodiscard]] std::optional<T> most() const {
    const auto best =
        std::max_element(counts_.begin(), counts_.end(),
                         [](const auto& a, const auto& b) { return a.second < b.second; });
    return best == counts_.end() ? std::nullopt : std::optional<T>(best->first);
  }
  /// "as found", "most common: 3 of 4 NICs; the others differ".
  [[nodiscard]] std::string comment() const {
    if (counts_.size() == 1) return std::string(kFound);
    std::size_t all = 0;
    std::size_t best = 0;
    for (const auto& [value, count] : counts_) {
      all += count;
      best = std::max(best, count);
    }
    return fmt::format("most common: {} of {} NICs; the others differ", best, all);
  }
  [[nodiscard]] bool is_one() const { return counts_.size() == 1; }

 private:
  std::vector<std::pair<T, std::size_t>> counts_;
  std::size_t unknown_ = 0;
};

template <class T, class Get>
Votes<T> votes_of(const std::vector<const Nic*>& nics, const Get& get) {
  Votes<T> votes;
  for (const Nic* nic : nics)
    votes.add(get(*nic));
  return votes;
}

// ---- rails and groups ----

struct HostRails {
  const Evidence* host = nullptr;
  std::vector<const Nic*> rails;
  std::vector<std::string> left_out;  // "mlx5_1 (100G)"
};

bool is_candidate(const Nic& nic) {
  return !nic.link_layer.is(evidence::LinkLayer::kInfiniband) && !nic.is_virtual.is(true) &&
         nic.port == 1;
}

HostRails rails_found(const Evidence& host) {
  HostRails out{&host, {}, {}};
  BitRate fastest;
  for (const Nic& nic : host.nics) {
    if (is_candidate(nic) && nic.link.speed.is_known())
      fastest = std::max(fastest, *nic.link.speed);
  }
  for (const Nic& nic : host.nics) {
    const bool is_fast = !nic.link.speed.is_known() || *nic.link.speed == fastest;
    if (is_candidate(nic) && is_fast) {
      out.rails.push_back(&nic);
      continue;
    }
    const std::string why = nic.link_layer.is(evidence::LinkLayer::kInfiniband) ? "InfiniBand"
                            : nic.is_virtual.is(true) ? "a virtual function"
                            : nic.port != 1           ? fmt::format("port {}", nic.port)
                                                      : to_text(*nic.link.speed);
    out.left_out.push_back(fmt::format("{} ({})", nic.device, why));
  }
  return out;
}

std::string model_of(const Nic& nic, std::string& comment) {
  const std::string title = nic.model.is_known() ? *nic.model : "";
  for (const design::NicModel& model : design::nic_models()) {
    if (model.title == title) {
      comment = fmt::format("{}: {}", kFound, title);
      return std::string(model.name);
    }
  }
  const std::string what =
      title.empty() ? (nic.driver.is_known() ? *nic.driver : "an unknown NIC") : title;
  comment = fmt::format("not certain: {}; see weir explain nics", what);
  const vocab::NicDriver* const row = vocab::find_driver(evidence::driver_of(nic));
  return row == nullptr || row->nic_model.empty() ? "generic" : std::string(row->nic_model);
}

/// Names of rails as a pattern: "mlx5_{rail}", else a list of ranges.
std::string rail_names(const std::vector<std::string>& names) {
  if (names.empty()) return "";
  const std::string& first = names.front();
  if (first.ends_with('0')) {
    const std::string stem = first.substr(0, first.size() - 1);
    bool fits = true;
    for (std::size_t rail = 0; rail < names.size(); ++rail)
      fits = fits && names[rail] == fmt::format("{}{}", stem, rail);
    if (fits) return fmt::format("{}{{rail}}", stem);
  }
  return compact_names(names);
}

/// A name for a group: the letters that its host names begin with.
std::string stem_of(const std::string& host) {
  std::string stem;
  for (const char c : host) {
    if (std::isalpha(static_cast<unsigned char>(c)) == 0) break;
    stem += static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  }
  return stem.empty() ? "host" : stem;
}

struct Group {
  std::string name;
  std::vector<HostRails> hosts;
  [[nodiscard]] const HostRails& first() const { return hosts.front(); }
  [[nodiscard]] std::vector<const Nic*> nics() const {
    std::vector<const Nic*> all;
    for (const HostRails& host : hosts)
      all.insert(all.end(), host.rails.begin(), host.rails.end());
    return all;
  }
};

/// Hosts of one group agree in model, stack, speed, and names of devices and interfaces.
std::string signature(const HostRails& host) {
  std::string text;
  for (const Nic* nic : host.rails) {
    std::string ignored;
    text += fmt::format("{} {} {} {} {};", model_of(*nic, ignored), nic->device,
                        nic->netdev.is_known() ? *nic->netdev : "?",
                        nic->stack.is_known() ? evidence::to_text(*nic->stack) : "?",
                        nic->link.speed.is_known() ? nic->link.speed->raw() : 0);
  }
  return text;
}

std::vector<Group> groups_of(std::span<const Evidence> hosts) {
  std::vector<Group> groups;
  std::vector<std::string> signatures;
  std::set<std::string> names;
  for (const Evidence& host : hosts) {
    HostRails rails = rails_found(host);
    if (rails.rails.empty()) continue;
    const std::string mark = signature(rails);
    const auto same = std::find(signatures.begin(), signatures.end(), mark);
    if (same != signatures.end()) {
      groups[static_cast<std::size_t>(same - signatures.begin())].hosts.push_back(std::move(rails));
      continue;
    }
    Group group;
    group.name = stem_of(host.provenance.host);
    for (int n = 2; names.contains(group.name); ++n)
      group.name = fmt::format("{}_{}", stem_of(host.provenance.host), n);
    names.insert(group.name);
    group.hosts.push_back(std::move(rails));
    groups.push_back(std::move(group));
    signatures.push_back(mark);
  }
  return groups;
}

// ---- addresses ----

/// "10.10.1.0/24" of "10.10.1.5/24"; empty where it is no IPv4 address.
std::string network_of(const std::string& address) {
  const std::size_t slash = address.find('/');
  if (slash == std::string::npos) return "";
  const auto length = parse_u64(address.substr(slash + 1));
  in_addr bytes{};
  if (!length || *length == 0 || *length > 31 ||
      inet_pton(AF_INET, address.substr(0, slash).c_str(), &bytes) != 1)
    return "";
  const std::uint32_t mask = ~std::uint32_t{0} << (32U - *length);
  bytes.s_addr = htonl(ntohl(bytes.s_addr) & mask);
  std::array<char, INET_ADDRSTRLEN> text{};
  inet_ntop(AF_INET, &bytes, text.data(), text.size());
  return fmt::format("{}/{}", text.data(), *length);
}

std::string rail_network(const std::vector<Group>& groups, std::size_t rail) {
  for (const Group& group : groups) {
    for (const HostRails& host : group.hosts) {
      if (rail >= host.rails.size() || !host.rails[rail]->addresses.is_known()) continue;
      for (const std::string& address : *host.rails[rail]->addresses) {
        const std::string network = network_of(address);
        if (!network.empty()) return network;
      }
    }
  }
  return "";
}

// ---- the writer ----

class Writer {
 public:
  Writer(std::span<const Evidence> hosts, std::string name)
      : all_(hosts), name_(std::move(name)), groups_(groups_of(hosts)) {
    for (const Group& group : groups_) {
      const auto nics = group.nics();
      nics_.insert(nics_.end(), nics.begin(), nics.end());
      rails_ = std::max(rails_, group.first().rails.size());
      hosts_ += group.hosts.size();
    }
  }

  FoundDesign write() {
    write_head();
    write_hosts();
    write_switches();
    write_links();
    write_addressing();
    write_sizes();
    write_classes();
    write_dcqcn();
    return {std::move(text_), std::move(open_), hosts_, rails_};
  }

 private:
  void put(const std::string& text, const std::string& comment = "") {
    text_ += line(text, comment);
  }
  void leave_open(const std::string& what) { open_.push_back(what); }

  void write_head();
  void write_hosts();
  void write_switches();
  void write_links();
  void write_addressing();
  void write_sizes();
  void write_classes();
  void write_rdma_class(Priority priority, const std::string& priority_comment);
  void write_cnp_class();
  void write_dcqcn();
  [[nodiscard]] std::vector<std::string> neighbours() const;

  std::span<const Evidence> all_;
  std::string name_;
  std::vector<Group> groups_;
  std::vector<const Nic*> nics_;
  std::size_t rails_ = 0;
  std::size_t hosts_ = 0;
  std::string text_;
  std::vector<std::string> open_;
};

void Writer::write_head() {
  std::vector<std::string> names;
  for (const Group& group : groups_) {
    for (const HostRails& host : group.hosts)
      names.push_back(host.host->provenance.host);
  }
  const std::string& time = groups_.front().first().host->provenance.time;
  text_ += fmt::format(
      "# Written by weir init from {}{}.\n"
      "# \"{}\" was read there. \"not known\" cannot be seen from a host: correct the value and "
      "remove "
      "the comment.\n"
      "# Everything else has a default; `weir lint --show-effective` shows each with its reason.\n",
      compact_names(names), time.empty() ? "" : " at " + time, kFound);
  put("weir: 1");
  put(fmt::format("name: {}", name_));
  put("");
}

void Writer::write_hosts() {
  put("hosts:");
  for (const Group& group : groups_) {
    const HostRails& first = group.first();
    std::vector<std::string> names;
    for (const HostRails& host : group.hosts)
      names.push_back(host.host->provenance.host);
    put(fmt::format("  {}:", group.name));
    put(fmt::format("    names: {}", yaml_quoted(compact_names(names))), std::string(kFound));
    std::string comment;
    const std::string model = model_of(*first.rails.front(), comment);
    put(fmt::format("    nic: {}", model), comment);
    if (!comment.starts_with(kFound)) leave_open("the NIC's model");
    const auto& stack = first.rails.front()->stack;
    put(fmt::format("    stack: {}", stack.is_known() ? evidence::to_text(*stack) : "inbox"),
        stack.is_known() ? std::string(kFound) : "not known");
    put(fmt::format("    rails: {}", first.rails.size()),
        first.left_out.empty()
            ? std::string(kFound)
            : fmt::format("the fastest; not used: {}", join(first.left_out, ", ")));
    std::vector<std::string> devices;
    std::vector<std::string> netdevs;
    for (const Nic* nic : first.rails) {
      devices.push_back(nic->device);
      if (nic->netdev.is_known()) netdevs.push_back(*nic->netdev);
    }
    put(fmt::format("    device: {}", yaml_quoted(rail_names(devices))), std::string(kFound));
    if (netdevs.size() == devices.size())
      put(fmt::format("    netdev: {}", yaml_quoted(rail_names(netdevs))), std::string(kFound));
  }
  put("");
}

/// Switch names from LLDP, one per rail or one for all; empty where a rail has none.
std::vector<std::string> Writer::neighbours() const {
  std::vector<std::string> out;
  for (std::size_t rail = 0; rail < rails_; ++rail) {
    const Group& group = groups_.front();
    if (rail >= group.first().rails.size()) return {};
    const auto& neighbour = group.first().rails[rail]->link.neighbour;
    if (!neighbour.is_known() || wrong_name(NameKind::kHost, neighbour->system)) return {};
    out.push_back(neighbour->system);
  }
  const std::set<std::string> distinct(out.begin(), out.end());
  if (distinct.size() != 1 && distinct.size() != out.size()) return {};
  if (distinct.size() == 1) out.resize(1);
  return out;
}

void Writer::write_switches() {
  const std::vector<std::string> known = neighbours();
  const auto speed = votes_of<BitRate>(nics_, [](const Nic& nic) { return nic.link.speed; }).most();
  const bool is_fast = speed && *speed > BitRate::raw(200'000'000'000);
  const std::string fallback = rails_ > 1 ? fmt::format("leaf[0-{}]", rails_ - 1) : "leaf1";
  put("switches:");
  put("  leaf:");
  put(fmt::format("    names: {}", yaml_quoted(known.empty() ? fallback : compact_names(known))),
      !known.empty() ? "as found: LLDP"
      : rails_ > 1   ? "not known: one per rail is common"
                     : "not known");
  put("    system: sonic", "not known: cumulus, eos, nxos, junos or sonic");
  put(fmt::format("    asic: {}", is_fast ? "spectrum4" : "spectrum3"),
      "not known: weir explain asics");
  put("    tier: 1");
  put("");
  leave_open("the switches: names, system, ASIC, spines above them");
}

void Writer::write_links() {
  put("links:", "lower end first; not known: spines and their cables");
  const bool by_rail = rails_ > 1 && neighbours().size() != 1;
  for (const Group& group : groups_) {
    const auto nics = group.nics();
    const auto speed = votes_of<BitRate>(nics, [](const Nic& nic) { return nic.link.speed; });
    const auto length = votes_of<Length>(nics, [](const Nic& nic) { return nic.qos.cable_length; });
    const std::string rate = speed.most() ? to_text(*speed.most()) : "100G";
    const std::string comment = fmt::format("speed {}; length {}; cable not known",
                                            speed.most() ? speed.comment() : "not known",
                                            length.most() ? "as set on the NICs" : "not known");
    put(fmt::format("  - {{ from: {}, to: leaf, wiring: {}, speed: {}, cable: fibre, length: {} }}",
                    group.name, by_rail ? "rail" : "block", rate,
                    length.most() && length.most()->raw() > 0 ? to_text(*length.most()) : "10m"),
        comment);
    if (!speed.most()) leave_open("the speed of the links");
  }
  put("");
  leave_open("type and length of the cables");
}

void Writer::write_addressing() {
  std::vector<std::string> networks;
  for (std::size_t rail = 0; rail < rails_; ++rail)
    networks.push_back(rail_network(groups_, rail));
  const bool are_known = std::none_of(networks.begin(), networks.end(),
                                      [](const std::string& name) { return name.empty(); });
  if (are_known) {
    put("addressing:");
    put(fmt::format("  subnets: [{}]", join(networks, ", ")), "as found, one per rail");
  } else {
    put("# addressing: not known; subnets default to 10.{rail}.0.0/16");
    leave_open("the rails' subnets");
  }
  put("");
}

void Writer::write_sizes() {
  const auto mtu = votes_of<Bytes>(nics_, [](const Nic& nic) { return nic.link.mtu; });
  const auto rdma = votes_of<Bytes>(nics_, [](const Nic& nic) { return nic.link.active_mtu; });
  put("mtu:");
  if (mtu.most()) {
    put(fmt::format("  host: {}B", mtu.most()->raw()), mtu.comment());
  } else {
    put("  # host: not known");
    leave_open("the MTU");
  }
  if (rdma.most()) put(fmt::format("  rdma: {}B", rdma.most()->raw()), rdma.comment());
  put("  switch: 9216B", "not known: the maximum of most systems");
  put("");
}

/// Code points that a map sends to a priority: the marking first, the rest as ranges.
std::string code_points(const std::array<std::optional<Priority>, 64>& map, Priority priority,
                        unsigned marking) {
  std::string text = fmt::format("[{}", marking);
  for (unsigned first = 0; first < map.size();) {
    if (map.at(first) != priority) {
      ++first;
      continue;
    }
    unsigned last = first;
    while (last + 1 < map.size() && map.at(last + 1) == priority)
      ++last;
    if (first != last || first != marking)
      text += first == last ? fmt::format(", {}", first) : fmt::format(", {}-{}", first, last);
    first = last + 1;
  }
  return text + "]";
}

void Writer::write_rdma_class(Priority priority, const std::string& priority_comment) {
  using Map = std::array<std::optional<Priority>, 64>;
  const auto maps = votes_of<Map>(nics_, [](const Nic& nic) { return nic.qos.dscp_to_priority; });
  constexpr unsigned kUsual = 26;
  put("  rdma:");
  std::optional<unsigned> marking;
  if (maps.most()) {
    if (maps.most()->at(kUsual) == priority) marking = kUsual;
    for (unsigned d = 0; d < 64 && !marking; ++d) {
      if (maps.most()->at(d) == priority) marking = d;
    }
  }
  if (marking) {
    put(fmt::format("    dscp: {}", code_points(*maps.most(), priority, *marking)),
        fmt::format("{}: the DSCP map of the NICs; RDMA uses {} (TOS byte {})", maps.comment(),
                    *marking, *marking * 4 + 2));
  } else {
    put("    dscp: [26, 24-31]",
        fmt::format("not known: {}; 26 is the usual value",
                    maps.most() ? "no code point maps to this priority on the NICs"
                                : "the DSCP map could not be read"));
    leave_open("the code point of RDMA");
  }
  put(fmt::format("    priority: {}", priority.value()), priority_comment);
  using Classes = std::array<TrafficClass, 8>;
  const auto classes =
      votes_of<Classes>(nics_, [](const Nic& nic) { return nic.qos.priority_to_tc; });
  if (classes.most())
    put(fmt::format("    traffic_class: {}", classes.most()->at(priority.value()).value()),
        classes.comment());
  put("    lossless: on");
  put("    minimum: 50%", "not known: the guaranteed share of RDMA");
}

void Writer::write_cnp_class() {
  const auto dscp = votes_of<Dscp>(nics_, [](const Nic& nic) { return nic.ecn.cnp_dscp; });
  const auto priority =
      votes_of<Priority>(nics_, [](const Nic& nic) { return nic.ecn.cnp_priority; });
  put("  cnp:");
  put(fmt::format("    dscp: {}", dscp.most() ? dscp.most()->value() : 48),
      dscp.most() ? dscp.comment() : "not known: the usual value");
  put(fmt::format("    priority: {}", priority.most() ? priority.most()->value() : 6),
      priority.most() ? priority.comment() : "not known: the usual value");
  put("    scheduling: strict");
  if (!dscp.most()) leave_open("the marking of CNPs");
}

void Writer::write_classes() {
  const auto trust =
      votes_of<evidence::TrustMode>(nics_, [](const Nic& nic) { return nic.qos.trust; });
  const bool by_pcp = trust.most() == evidence::TrustMode::kPcp;
  put("trust: dscp", !trust.most() ? "not known: the usual value"
                     : by_pcp      ? "the NICs trust pcp, which is lost with the VLAN tag"
                                   : trust.comment());
  put("");
  put("classes:");
  const auto pfc = votes_of<PrioritySet>(nics_, [](const Nic& nic) { return nic.qos.pfc; });
  Priority lossless = Priority::of(3);
  std::string comment = "not known: PFC could not be read; 3 is the usual value";
  if (pfc.most() && pfc.most()->count() == 1) {
    for (unsigned p = 0; p < 8; ++p) {
      if (pfc.most()->contains(Priority::of(p))) lossless = Priority::of(p);
    }
    comment = fmt::format("{}: the priority with PFC", pfc.comment());
  } else if (pfc.most()) {
    comment = fmt::format("the usual value; PFC was found on {}",
                          pfc.most()->count() == 0 ? "none" : to_text(*pfc.most()));
    leave_open("the lossless priority");
  } else {
    leave_open("the lossless priority");
  }
  write_rdma_class(lossless, comment);
  write_cnp_class();
  put("  best_effort:", "every other code point");
  put("    priority: 0");
  put("    minimum: 20%", "not known");
}

void Writer::write_dcqcn() {
  using Parameters = std::vector<evidence::Parameter>;
  const auto votes = votes_of<Parameters>(nics_, [](const Nic& nic) { return nic.ecn.parameters; });
  const auto parameters = votes.most();
  put("");
  if (!parameters) {
    put("# dcqcn: not known; the firmware defaults apply");
    leave_open("the DCQCN parameters");
    return;
  }
  std::string knobs;
  for (const evidence::Parameter& parameter : *parameters) {
    const design::NicKnob* knob = design::find_knob(parameter.name);
    const bool is_marking = parameter.name == "cnp_dscp" || parameter.name == "cnp_802p_prio";
    if (knob == nullptr || is_marking || parameter.value == knob->fallback) continue;
    if (parameter.value < knob->min || parameter.value > knob->max) continue;
    knobs += line(fmt::format("  {}: {}", knob->name, design::knob_text(*knob, parameter.value)),
                  votes.comment());
  }
  if (knobs.empty()) {
    put("# dcqcn: as found, every parameter has the firmware default");
  } else {
    put("dcqcn:", "differences from the firmware defaults");
    text_ += knobs;
  }
}

}  // namespace

bool has_ethernet_rdma(std::span<const Evidence> hosts) {
  return std::any_of(hosts.begin(), hosts.end(),
                     [](const Evidence& host) { return !rails_found(host).rails.empty(); });
}

FoundDesign design_from_hosts(std::span<const Evidence> hosts, const std::string& name) {
  WEIR_CHECK(has_ethernet_rdma(hosts));
  return Writer(hosts, name).write();
}

}  // namespace weir::render

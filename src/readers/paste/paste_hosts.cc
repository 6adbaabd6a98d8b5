#include "readers/paste/paste_hosts.h"

#include <algorithm>
#include <array>
#include <bit>

#include "readers/paste/paste.h"
#include "readers/paste/paste_text.h"

namespace weir::readers {
namespace {

using counters::Driver;
using counters::Place;

/// By how RDMA drivers name their devices.
std::string driver_of_name(std::string_view device) {
  const vocab::NicDriver* const row = vocab::driver_of_device(device);
  return row == nullptr || row->driver == Driver::kAny ? "" : std::string(row->kernel);
}

bool is_software(std::string_view device) {
  const vocab::NicDriver* const row = vocab::driver_of_device(device);
  return row != nullptr && row->driver == Driver::kRxe;
}

/// The driver whose own names these are; empty where no name tells.
std::string driver_of_names(const std::vector<PastedNic::Dump>& dumps) {
  std::size_t best = 0;
  std::string out;
  for (const vocab::NicDriver& candidate : vocab::kNicDrivers) {
    if (candidate.driver == Driver::kAny) continue;
    std::size_t count = 0;
    for (const PastedNic::Dump& dump : dumps) {
      for (const counters::Sample& sample : dump.samples) {
        const auto match = counters::find_raw(candidate.driver, dump.place, sample.name);
        count += match && match.name->driver == candidate.driver ? 1 : 0;
      }
    }
    if (count <= best) continue;
    best = count;
    out = candidate.kernel;
  }
  return out;
}

struct NicMoment {
  std::vector<counters::Sample> samples;
  PasteTime time;
  std::optional<std::int64_t> clock_ns;
};

/// From the times of the readings, or from the pause between them; a window without either has no
/// length.
void set_clocks(std::vector<NicMoment>& moments) {
  constexpr std::int64_t kSecond = 1'000'000'000;
  constexpr std::int64_t kDay = 86'400;
  for (std::size_t at = 0; at < moments.size(); ++at) {
    NicMoment& moment = moments[at];
    const auto second = moment.time.second;
    if (at == 0) {
      moment.clock_ns = second.value_or(0) * kSecond;
      continue;
    }
    const NicMoment& before = moments[at - 1];
    if (second && before.time.second) {
      // A time of day may go past midnight.
      const std::int64_t passed = (*second - *before.time.second + kDay) % kDay;
      moment.clock_ns = *before.clock_ns + passed * kSecond;
    } else {
      moment.clock_ns = *before.clock_ns + moment.time.interval.value_or(0) * kSecond;
    }
  }
}

/// The n-th dump of each place is the n-th moment; where a script printed a window, it is the two
/// moments, and of other places only what was read more than once.
std::vector<NicMoment> moments_of(PastedNic& nic) {
  const bool has_window = std::any_of(nic.dumps.begin(), nic.dumps.end(),
                                      [](const PastedNic::Dump& dump) { return dump.is_window; });
  std::map<Place, std::size_t> counts;
  std::map<Place, bool> windows;
  for (const PastedNic::Dump& dump : nic.dumps) {
    ++counts[dump.place];
    windows[dump.place] = windows[dump.place] || dump.is_window;
  }
  std::vector<NicMoment> out;
  std::map<Place, std::size_t> next;
  for (PastedNic::Dump& dump : nic.dumps) {
    const bool is_left_out =
        has_window && !dump.is_window && (windows[dump.place] || counts[dump.place] < 2);
    if (is_left_out) continue;
    const std::size_t moment = next[dump.place]++;
    if (out.size() <= moment) out.resize(moment + 1);
    if (dump.time.second) out[moment].time.second = dump.time.second;
    if (dump.time.interval) out[moment].time.interval = dump.time.interval;
    std::move(dump.samples.begin(), dump.samples.end(), std::back_inserter(out[moment].samples));
  }
  set_clocks(out);
  return out;
}

/// Whether `ip -s link` counted broken frames: worth a line, whatever the interface is for.
bool has_bad_frames(const PastedNic& nic) {
  constexpr std::array<std::string_view, 3> kBad{"rx_errors", "rx_crc_errors", "rx_frame_errors"};
  for (const PastedNic::Dump& dump : nic.dumps)
    for (const counters::Sample& sample : dump.samples)
      if (sample.reading.has_value() && sample.reading.value() > 0 &&
          std::find(kBad.begin(), kBad.end(), sample.name) != kBad.end())
        return true;
  return false;
}

/// Nobody says that the interface carries RDMA: its settings are not judged.
void keep_counters_alone(PastedNic& nic) {
  evidence::Nic bare;
  bare.device = nic.nic.device;
  bare.netdev = nic.nic.netdev;
  nic.nic = std::move(bare);
}

/// Of a role that was read for some priorities only: nothing is known unless RDMA's own is among
/// them.
void keep_if_read(const evidence::Nic& nic, PrioritySet read, evidence::Fact<PrioritySet>& fact) {
  constexpr unsigned kUsual = 3;
  const bool has_own = nic.qos.pfc.is_known() && nic.qos.pfc->count() == 1;
  const Priority rdma =
      Priority::of(has_own ? static_cast<unsigned>(std::countr_zero(nic.qos.pfc->mask())) : kUsual);
  if (read.count() > 0 && !read.contains(rdma)) fact = {};
}

}  // namespace

std::string full_address(std::string_view address) {
  constexpr std::size_t kShort = 7;  // "18:00.0"
  return address.size() == kShort ? "0000:" + std::string(address) : std::string(address);
}

std::vector<counters::Sample>& PastedNic::begin_dump(Place place) {
  dumps.push_back({place, {}, now, false});
  return dumps.back().samples;
}

void PastedNic::begin_window(Place place, std::string_view name) {
  const auto is_own = [&](const Dump& dump) { return dump.is_window && dump.place == place; };
  const bool is_again = std::any_of(dumps.begin(), dumps.end(), [&](const Dump& dump) {
    return is_own(dump) && std::any_of(dump.samples.begin(), dump.samples.end(),
                                       [&](const auto& sample) { return sample.name == name; });
  });
  if (is_again) std::erase_if(dumps, is_own);
}

void PastedNic::add_window(Place place, std::string_view name, std::uint64_t before,
                           std::uint64_t after) {
  add_to_window(place, name, before, false);
  add_to_window(place, name, after, true);
}

void PastedNic::add_to_window(Place place, std::string_view name, std::uint64_t value,
                              bool is_after) {
  const auto is_end = [&](const Dump& dump) { return dump.is_window && dump.place == place; };
  auto first = std::find_if(dumps.begin(), dumps.end(), is_end);
  if (first == dumps.end()) {
    dumps.push_back({place, {}, now, true});
    dumps.push_back({place, {}, now, true});
    first = dumps.end() - 2;
  }
  const auto end = is_after ? std::find_if(first + 1, dumps.end(), is_end) : first;
  counters::Sample sample;
  sample.place = place;
  sample.name = name;
  sample.reading = counters::Reading::of(value);
  end->samples.push_back(std::move(sample));
}

std::vector<counters::Sample>& PastedNic::dump_for(Place place, std::string_view name) {
  for (auto dump = dumps.rbegin(); dump != dumps.rend(); ++dump) {
    if (dump->place != place) continue;
    const bool has_it =
        std::any_of(dump->samples.begin(), dump->samples.end(),
                    [&](const counters::Sample& sample) { return sample.name == name; });
    if (!has_it) return dump->samples;
    break;
  }
  return begin_dump(place);
}

/// A text with counters of one RDMA device and of one interface, and nothing that says which
/// belong together, shows one NIC from its two sides. Interfaces that are named for something else
/// stay apart.
template <class Names>
static void connect_the_only_two(Names& names) {
  std::string device;
  std::string netdev;
  for (const std::string& name : names.known)
    (is_rdma_name(name) ? device : netdev) = name;
  const bool is_pair = names.known.size() == 2 && !device.empty() && !netdev.empty();
  const bool is_free = is_pair && !names.device_of_netdev.contains(netdev) &&
                       !names.netdev_of_device.contains(device);
  if (!is_free || is_software(device)) return;
  for (const std::string_view other : {"eno", "mgmt", "bond", "docker", "br", "eth0"})
    if (netdev.starts_with(other)) return;
  names.device_of_netdev[netdev] = device;
  names.netdev_of_device[device] = netdev;
}

PasteHosts PasteHosts::after(const PasteHosts& first) {
  PasteHosts out;
  out.names_ = first.names_;
  out.hosts_seen_ = first.hosts_seen_;
  out.is_second_ = true;
  if (first.hosts_seen_.size() == 1) {
    out.only_host_ = *first.hosts_seen_.begin();
    // What parts without a host have said of names belongs to it too.
    const auto nameless = first.names_.find("");
    if (nameless != first.names_.end()) {
      Names& names = out.names_[out.only_host_];
      names.device_of_netdev.insert(nameless->second.device_of_netdev.begin(),
                                    nameless->second.device_of_netdev.end());
      names.netdev_of_device.insert(nameless->second.netdev_of_device.begin(),
                                    nameless->second.netdev_of_device.end());
      names.netdev_of_address.insert(nameless->second.netdev_of_address.begin(),
                                     nameless->second.netdev_of_address.end());
      names.known.insert(nameless->second.known.begin(), nameless->second.known.end());
      names.addresses.insert(nameless->second.addresses.begin(), nameless->second.addresses.end());
    }
  }
  for (auto& [host, names] : out.names_)
    connect_the_only_two(names);
  // A netdev whose device is known is no NIC of its own.
  for (auto& [host, names] : out.names_) {
    for (const auto& [netdev, device] : names.device_of_netdev)
      if (names.known.erase(netdev) > 0) names.known.insert(device);
  }
  return out;
}

std::string PasteHosts::real_host(std::string_view host) const {
  return host.empty() ? only_host_ : std::string(host);
}

std::string PasteHosts::shown(std::string_view host) const {
  const std::string real = real_host(host);
  return real.empty() ? std::string(kThisHost) : real;
}

PastedHost& PasteHosts::host(std::string_view name) {
  const std::string real = real_host(name);
  if (!real.empty()) hosts_seen_.insert(real);
  const auto [at, is_new] = host_at_.try_emplace(real, hosts_.size());
  if (!is_new) return hosts_[at->second];
  hosts_.emplace_back();
  hosts_.back().name = real;
  return hosts_.back();
}

PastedNic& PasteHosts::find_or_add(std::string_view host_name, std::string_view device,
                                   std::string_view netdev) {
  PastedHost& item = host(host_name);
  const std::string_view key = device.empty() ? netdev : device;
  const std::string_view shown = key.empty() ? kUnnamedNic : key;
  const auto [at, is_new] = item.nic_at.try_emplace(std::string(shown), item.nics.size());
  if (!is_new) {
    PastedNic& nic = item.nics[at->second];
    nic.now = now_;
    return nic;
  }
  item.nics.emplace_back();
  item.nics.back().nic.device = shown;
  item.nics.back().now = now_;
  if (!netdev.empty())
    item.nics.back().nic.netdev = evidence::Fact<std::string>::of(std::string(netdev));
  return item.nics.back();
}

PastedNic& PasteHosts::by_device(std::string_view host_name, std::string_view device) {
  const std::string host = real_host(host_name);
  Names& names = names_[host];
  std::string name(device);
  if (name.empty() && is_second_ && names.known.size() == 1) name = *names.known.begin();
  if (!name.empty()) names.known.insert(name);
  const auto netdev = names.netdev_of_device.find(name);
  PastedNic& nic =
      find_or_add(host, name, netdev == names.netdev_of_device.end() ? "" : netdev->second);
  nic.is_strong = true;
  return nic;
}

PastedNic& PasteHosts::by_netdev(std::string_view host_name, std::string_view netdev,
                                 bool is_strong) {
  if (netdev.empty()) return by_device(host_name, "");
  const std::string host = real_host(host_name);
  Names& names = names_[host];
  const auto device = names.device_of_netdev.find(netdev);
  if (device != names.device_of_netdev.end()) {
    PastedNic& nic = find_or_add(host, device->second, netdev);
    nic.is_strong = true;
    return nic;
  }
  if (is_strong) names.known.insert(std::string(netdev));
  PastedNic& nic = find_or_add(host, "", netdev);
  nic.is_strong = nic.is_strong || is_strong;
  return nic;
}

PastedNic& PasteHosts::by_address(std::string_view host_name, std::string_view address) {
  const std::string host = real_host(host_name);
  const std::string full = full_address(address);
  Names& names = names_[host];
  names.addresses.insert(full);
  const auto netdev = names.netdev_of_address.find(full);
  if (netdev != names.netdev_of_address.end()) return by_netdev(host, netdev->second);
  // One NIC in the listing and one elsewhere: the same.
  if (is_second_ && names.addresses.size() == 1 && names.known.size() == 1)
    return by_name(host, *names.known.begin());
  PastedNic& nic = find_or_add(host, full, "");
  nic.is_strong = true;
  return nic;
}

PastedNic& PasteHosts::by_name(std::string_view host, std::string_view name) {
  return is_rdma_name(name) ? by_device(host, name) : by_netdev(host, name);
}

void PasteHosts::connect(std::string_view host_name, std::string_view device,
                         std::string_view netdev, std::string_view address) {
  Names& names = names_[real_host(host_name)];
  if (!device.empty() && !netdev.empty()) {
    // A software device may share the interface of a real one, which then is the one meant.
    const auto known = names.device_of_netdev.find(netdev);
    const bool is_free = known == names.device_of_netdev.end() || is_software(known->second);
    if (is_free) names.device_of_netdev[std::string(netdev)] = device;
    names.netdev_of_device[std::string(device)] = netdev;
  }
  if (!netdev.empty() && !address.empty()) names.netdev_of_address[full_address(address)] = netdev;
}

std::string PasteHosts::known_name(std::string_view host, std::string_view name) const {
  const auto names = names_.find(real_host(host));
  std::string out(name);
  if (names == names_.end()) return out;
  const auto netdev = names->second.netdev_of_address.find(full_address(out));
  if (netdev != names->second.netdev_of_address.end()) out = netdev->second;
  const auto device = names->second.device_of_netdev.find(out);
  return device != names->second.device_of_netdev.end() ? device->second : out;
}

/// The firmware's mask holds for both roles where the driver's files were not read. One that leaves
/// priorities out says something only where the text shows which one RDMA has.
static void take_firmware_mask(PastedNic& nic) {
  if (!nic.cc_mask.is_known()) return;
  const bool is_all = nic.cc_mask->count() == Priority::kLimit;
  if (!is_all && nic.cc_mask->count() > 0 && !nic.nic.qos.pfc.is_known()) return;
  if (!nic.nic.ecn.np.is_known()) nic.nic.ecn.np = nic.cc_mask;
  if (!nic.nic.ecn.rp.is_known()) nic.nic.ecn.rp = nic.cc_mask;
}

evidence::Evidence PasteHosts::evidence_of(PastedHost& host, std::string_view files) const {
  evidence::Evidence out;
  out.provenance.host = host.name.empty() ? kThisHost : std::string_view(host.name);
  out.provenance.tool = "pasted text";
  out.provenance.origin = evidence::Origin::kText;
  out.provenance.detail = files;
  out.host = std::move(host.facts);
  out.gpus = std::move(host.gpus);
  out.distances = std::move(host.distances);
  for (PastedNic& nic : host.nics) {
    if (!nic.is_strong && !has_bad_frames(nic)) continue;
    if (!nic.is_strong) keep_counters_alone(nic);
    if (!nic.untyped_gids.empty()) nic.nic.rdma.gids = {};
    keep_if_read(nic.nic, nic.np_read, nic.nic.ecn.np);
    keep_if_read(nic.nic, nic.rp_read, nic.nic.ecn.rp);
    take_firmware_mask(nic);
    std::string driver = nic.nic.driver.is_known() ? *nic.nic.driver : "";
    if (driver.empty()) driver = driver_of_name(nic.nic.device);
    if (driver.empty()) driver = driver_of_names(nic.dumps);
    if (!driver.empty() && !nic.nic.driver.is_known())
      nic.nic.driver = evidence::Fact<std::string>::of(driver, "its names");
    const std::string netdev = nic.nic.netdev.is_known() ? *nic.nic.netdev : "";
    std::vector<NicMoment> moments = moments_of(nic);
    for (std::size_t moment = 0; moment < moments.size(); ++moment) {
      if (out.snapshots.size() <= moment) out.snapshots.resize(moment + 1);
      if (moments[moment].clock_ns) out.snapshots[moment].clock_ns = *moments[moment].clock_ns;
      out.snapshots[moment].nics.emplace_back(nic.nic.device, netdev, driver,
                                              std::move(moments[moment].samples));
    }
    out.nics.push_back(std::move(nic.nic));
  }
  return out;
}

std::vector<evidence::Evidence> PasteHosts::finish(std::string_view files) && {
  std::vector<evidence::Evidence> out;
  for (PastedHost& host : hosts_) {
    evidence::Evidence made = evidence_of(host, files);
    const bool has_something = !made.nics.empty() || !made.gpus.empty() ||
                               !made.distances.empty() || !(made.host == evidence::Host{});
    if (has_something) out.push_back(std::move(made));
  }
  return out;
}

}  // namespace weir::readers

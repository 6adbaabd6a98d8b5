#include "readers/switches/switch_show.h"

#include <algorithm>
#include <bit>
#include <charconv>

#include <fmt/format.h>

#include "base/text.h"

namespace weir::readers {
namespace {

/// "captures/leaf1.pfc.txt" → "leaf1"; standard input has no name of its own.
std::string name_of_file(std::string_view file) {
  if (const auto slash = file.rfind('/'); slash != std::string_view::npos)
    file.remove_prefix(slash + 1);
  const std::string_view stem = file.substr(0, file.find('.'));
  return stem.empty() || stem == "-" ? "switch" : std::string(stem);
}

/// The element whose `member` is `key`; a new one at the end where there is none.
template <class T, class Key>
T& find_or_add(std::vector<T>& list, Key T::*member, const Key& key) {
  const auto at =
      std::find_if(list.begin(), list.end(), [&](const T& item) { return item.*member == key; });
  if (at != list.end()) return *at;
  list.emplace_back().*member = key;
  return list.back();
}

/// A counter of the later snapshot has another number than in the earlier one.
bool counts_differ(const counters::Snapshot& earlier, const counters::Snapshot& later) {
  for (const counters::PortCounters& port : later.switch_ports)
    for (const counters::PortCounters& first : earlier.switch_ports) {
      if (first.device() != port.device() || first.netdev() != port.netdev()) continue;
      for (const counters::ShownSample& sample : port.samples())
        if (first.shows(sample.place, sample.name) &&
            first.read(sample.place, sample.name) != sample.reading)
          return true;
    }
  return false;
}

bool is_name(std::string_view text) {
  return !text.empty() && std::all_of(text.begin(), text.end(), [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-' ||
           c == '_' || c == '.' || c == '(' || c == ')';
  });
}

/// The first "show …" of a line of commands: of "date; show …" what is behind the semicolon. Empty
/// where there is none.
std::string_view shown_by(std::string_view line) {
  for (const std::string_view command : commands_of(line))
    for (const std::string_view start : {"show ", "sh ", "sho ", "nv show ", "pfcwd ", "sudo "})
      if (command.starts_with(start)) return command;
  return {};
}

}  // namespace

ShowBuilder::ShowBuilder(vocab::SwitchSystem system, std::string_view file)
    : platform_(vocab::names_of(system).name), file_(file) {
  out_.kind = vocab::names_of(system).show_reader;
  Device first;
  first.state.name = name_of_file(file);
  first.state.platform = evidence::Fact<std::string>::of(platform_, file_);
  devices_.push_back(std::move(first));
}

void ShowBuilder::use_switch(std::string_view name) {
  if (!is_named_) {
    devices_.front().state.name = name;
    is_named_ = true;
  }
  for (at_ = 0; at_ < devices_.size(); ++at_)
    if (devices_[at_].state.name == name) return;
  Device another;
  another.state.name = name;
  another.state.platform = evidence::Fact<std::string>::of(platform_, file_);
  devices_.push_back(std::move(another));
}

void ShowBuilder::use_prompt(const Prompt& prompt) {
  use_switch(prompt.host);
  if (prompt.second) set_time(*prompt.second);
}

void ShowBuilder::set_time(std::int64_t second) {
  Device& here = device();
  if (!here.samples.empty() && !here.first_time && here.later.empty()) {
    here.first_time = second;
    here.is_clock_behind = true;
  } else if (here.is_clock_behind && !here.later.empty()) {
    here.later_time = second;
  }
  here.now = second;
}

void ShowBuilder::wait(std::int64_t seconds) {
  Device& here = device();
  if (!here.now) {
    here.now = 0;
    if (!here.samples.empty() && !here.first_time) here.first_time = 0;
  }
  *here.now += seconds;
}

evidence::Switch& ShowBuilder::state() {
  return device().state;
}

evidence::SwitchPort& ShowBuilder::port(std::string_view name) {
  return find_or_add(state().ports, &evidence::SwitchPort::name, std::string(name));
}

evidence::EgressQueue& ShowBuilder::queue(std::string_view port_name, Queue number) {
  return find_or_add(port(port_name).queues.edit(), &evidence::EgressQueue::queue, number);
}

evidence::GroupBuffer& ShowBuilder::group(std::string_view port_name, PriorityGroup number) {
  return find_or_add(port(port_name).groups.edit(), &evidence::GroupBuffer::group, number);
}

void ShowBuilder::add_sample(std::string_view port_name, counters::Place place, std::string name,
                             std::uint64_t value) {
  const auto find = [&](std::vector<counters::Sample>& samples) {
    return std::find_if(samples.begin(), samples.end(), [&](const counters::Sample& sample) {
      return sample.place == place && sample.name == name;
    });
  };
  std::vector<counters::Sample>& first = device().samples[std::string(port_name)];
  const bool is_again = find(first) != first.end();
  std::vector<counters::Sample>& samples =
      is_again ? device().later[std::string(port_name)] : first;
  if (device().now && !device().is_clock_behind)
    (is_again ? device().later_time : device().first_time) = device().now;
  const auto same = find(samples);
  counters::Sample& sample = same == samples.end() ? samples.emplace_back() : *same;
  sample.place = place;
  sample.name = std::move(name);
  sample.reading = counters::Reading::of(value);
}

void ShowBuilder::count(std::string_view port_name, std::string name, std::uint64_t value) {
  add_sample(port_name, counters::Place::kSwitch, std::move(name), value);
}

void ShowBuilder::count_pauses(std::string_view port_name, std::uint64_t priority,
                               std::uint64_t received, std::uint64_t sent) {
  count(port_name, fmt::format("prio{}.pause_rx.frames", priority), received);
  count(port_name, fmt::format("prio{}.pause_tx.frames", priority), sent);
}

void ShowBuilder::count_later(std::string_view port_name, std::string_view name,
                              std::uint64_t value, std::int64_t seconds) {
  counters::Sample& sample = device().later[std::string(port_name)].emplace_back();
  sample.place = counters::Place::kSwitch;
  sample.name = name;
  sample.reading = counters::Reading::of(value);
  if (!device().first_time) device().first_time = 0;
  device().later_time = *device().first_time + seconds;
}

void ShowBuilder::count_unplaced(std::string_view port_name, std::string raw_name,
                                 std::uint64_t value) {
  add_sample(port_name, counters::Place::kShow, std::move(raw_name), value);
}

void ShowBuilder::unread(const Line& line, std::string why) {
  constexpr std::size_t kMost = 200;
  out_.unread.push_back({line.number, std::string(line.text.substr(0, kMost)), std::move(why)});
}

void ShowBuilder::gap(evidence::Gap missing) {
  std::vector<evidence::Gap>& gaps = out_.evidence.gaps;
  if (std::find(gaps.begin(), gaps.end(), missing) == gaps.end())
    gaps.push_back(std::move(missing));
}

Recognised ShowBuilder::finish() && {
  evidence::Evidence& evidence = out_.evidence;
  evidence.provenance.tool = "pasted text";
  evidence.provenance.origin = evidence::Origin::kText;
  evidence.provenance.detail = file_;
  counters::Snapshot snapshot;
  counters::Snapshot later;
  for (Device& device : devices_) {
    if (device.first_time && device.later_time) {
      constexpr std::int64_t kDay = 86'400;  // a time of day may go past midnight
      constexpr std::int64_t kSecond = 1'000'000'000;
      const std::int64_t passed = (*device.later_time - *device.first_time + kDay) % kDay;
      later.clock_ns = std::max(later.clock_ns, passed * kSecond);
    }
    std::sort(device.state.ports.begin(), device.state.ports.end(),
              [](const auto& a, const auto& b) { return natural_order(a.name, b.name) < 0; });
    for (auto& [port, samples] : device.samples)
      snapshot.switch_ports.emplace_back(device.state.name, port, "switch", std::move(samples));
    for (auto& [port, samples] : device.later)
      later.switch_ports.emplace_back(device.state.name, port, "switch", std::move(samples));
    evidence.switches.push_back(std::move(device.state));
  }
  if (!snapshot.switch_ports.empty()) evidence.snapshots.push_back(std::move(snapshot));
  // Two tables of one moment may show the same counter: without a change there is no window.
  const bool has_moved =
      !evidence.snapshots.empty() && counts_differ(evidence.snapshots.front(), later);
  if (has_moved) evidence.snapshots.push_back(std::move(later));
  return std::move(out_);
}

std::optional<Prompt> prompt_of(std::string_view line) {
  std::string_view text = trim(line);
  // "19:30:02 admin@leaf01:~$ …", "[19:30:02] leaf01# …": some shells print the time first.
  const std::size_t blank = std::min(text.find(' '), text.size());
  std::string_view stamp = text.substr(0, blank);
  if (stamp.starts_with('[') && stamp.ends_with(']')) stamp = stamp.substr(1, stamp.size() - 2);
  const auto second = second_of_day(stamp);
  if (second) text = trim(text.substr(blank));
  const auto end = text.find_first_of("#>$");
  if (end == std::string_view::npos || end == 0) return std::nullopt;
  std::string_view host = text.substr(0, end);
  if (const auto colon = host.find(':'); colon != std::string_view::npos)
    host = host.substr(0, colon);
  if (const auto at = host.find('@'); at != std::string_view::npos) host.remove_prefix(at + 1);
  const std::string_view command = shown_by(trim(text.substr(end + 1)));
  if (!is_name(host) || command.empty()) return std::nullopt;
  // "leaf01(config)#" and "leaf01(s1)#": the mode is not the name.
  if (const auto mode = host.find('('); mode != std::string_view::npos) host = host.substr(0, mode);
  if (host.empty()) return std::nullopt;
  return Prompt{host, command, second};
}

std::optional<std::uint64_t> count_before(std::string_view text, std::string_view word) {
  const auto words = words_of(text);
  for (std::size_t i = 1; i < words.size(); ++i) {
    std::string_view last = words[i];
    if (last.ends_with(',')) last.remove_suffix(1);
    if (last == word) return parse_count(words[i - 1]);
  }
  return std::nullopt;
}

bool read_interface_line(std::string_view text, const Line& line, std::string& port,
                         ShowBuilder& out) {
  const auto words = words_of(text);
  const bool is_heading =
      words.size() > 2 && words[0].starts_with("Ethernet") && words[1] == "is" &&
      (words[2].starts_with("up") || words[2].starts_with("down") || words[2].starts_with("admin"));
  if (is_heading) {
    port = words[0];
    if (words[2].starts_with("up")) out.port(port).up = out.fact(true, line.number);
    return true;
  }
  if (port.empty()) return false;
  if (const auto at = text.find("MTU "); at != std::string_view::npos) {
    const auto rest = words_of(text.substr(at + 4));
    const auto mtu =
        rest.size() > 1 && rest[1].starts_with("bytes") ? parse_count(rest[0]) : std::nullopt;
    if (mtu && *mtu <= 65'536)
      out.port(port).mtu = out.fact(Bytes::raw(static_cast<std::int64_t>(*mtu)), line.number);
    return mtu.has_value();
  }
  const auto crc = count_before(text, "CRC");
  if (crc) out.count(port, "port.crc_error.packets", *crc);
  const std::size_t discards = text.find(" output discard");
  const auto before = words_of(text.substr(0, std::min(discards, text.size())));
  const auto drops = discards == std::string_view::npos || before.empty()
                         ? std::nullopt
                         : parse_count(before.back());
  if (drops) out.count(port, "port.drop.packets", *drops);
  return crc.has_value() || drops.has_value();
}

std::optional<PrioritySet> priorities_of_hex(std::string_view text) {
  unsigned mask = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), mask, 16);
  if (error != std::errc() || end != text.data() + text.size() || mask > 0xFF) return std::nullopt;
  return PrioritySet::from_mask(static_cast<std::uint8_t>(mask));
}

std::optional<PrioritySet> priorities_of_list(std::string_view text) {
  PrioritySet set;
  bool in_range = false;
  unsigned last = 0;
  bool has_digit = false;
  for (const char c : text) {
    if (c == ',' || c == ' ') continue;
    if (c == '-' && has_digit && !in_range) {
      in_range = true;
      continue;
    }
    if (c < '0' || c > '7') return std::nullopt;
    const auto now = static_cast<unsigned>(c - '0');
    for (unsigned p = in_range ? last : now; p <= now; ++p)
      set.insert(Priority::of(p));
    last = now;
    in_range = false;
    has_digit = true;
  }
  return has_digit && !in_range ? std::optional(set) : std::nullopt;
}

std::optional<Priority> only_one(PrioritySet set) {
  if (set.count() != 1) return std::nullopt;
  return Priority::of(static_cast<unsigned>(std::countr_zero(set.mask())));
}

}  // namespace weir::readers

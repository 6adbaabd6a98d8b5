#include "host/linux/machine_counters.h"

#include <array>
#include <cerrno>

#include <linux/if_link.h>
#include <linux/netlink.h>
#include <linux/rtnetlink.h>

#include "base/text.h"
#include "host/linux/netlink.h"
#include "host/linux/reader.h"

namespace weir::host {

using counters::Place;
using counters::Reading;
using evidence::Missing;

namespace {

/// In the order of struct rtnl_link_stats64 (linux/if_link.h); names as in sysfs.
constexpr std::array<std::string_view, 24> kLinkStatistics = {
    "rx_packets",        "tx_packets",        "rx_bytes",         "tx_bytes",
    "rx_errors",         "tx_errors",         "rx_dropped",       "tx_dropped",
    "multicast",         "collisions",        "rx_length_errors", "rx_over_errors",
    "rx_crc_errors",     "rx_frame_errors",   "rx_fifo_errors",   "rx_missed_errors",
    "tx_aborted_errors", "tx_carrier_errors", "tx_fifo_errors",   "tx_heartbeat_errors",
    "tx_window_errors",  "rx_compressed",     "tx_compressed",    "rx_nohandler"};

std::vector<std::string_view> words_of(std::string_view line) {
  std::vector<std::string_view> words;
  for (const std::string_view word : split(line, ' ')) {
    if (!word.empty()) words.push_back(word);
  }
  return words;
}

void add(std::vector<counters::Sample>& samples, std::string_view name,
         const evidence::Fact<std::uint64_t>& fact) {
  if (fact.is_missing() && fact.why() == Missing::kAbsent) return;
  samples.push_back({Place::kHost, std::string(name),
                     fact.is_known() ? Reading::of(*fact) : Reading::missing(fact.why())});
}

}  // namespace

Parsed<ProcessorTime> parse_processor_time(std::string_view text) {
  // proc(5): user nice system idle iowait irq softirq steal guest guest_nice; guests are in user.
  constexpr std::size_t kIdle = 3;
  constexpr std::size_t kWaiting = 4;
  constexpr std::size_t kSoftirq = 6;
  constexpr std::size_t kCounted = 8;
  const auto words = words_of(text.substr(0, text.find('\n')));
  if (words.size() < 5 || words[0] != "cpu") return Missing::kError;
  ProcessorTime out;
  for (std::size_t i = 0; i + 1 < words.size() && i < kCounted; ++i) {
    const auto ticks = parse_u64(words[i + 1]);
    if (!ticks) return Missing::kError;
    out.all += *ticks;
    if (i != kIdle && i != kWaiting) out.busy += *ticks;
    if (i == kSoftirq) out.softirq = *ticks;
  }
  return out;
}

Parsed<std::uint64_t> parse_protocol_counter(std::string_view text, std::string_view section,
                                             std::string_view name) {
  std::vector<std::string_view> names;
  for (const std::string_view line : split(text, '\n')) {
    if (!line.starts_with(section)) continue;
    const auto words = words_of(line);
    if (names.empty()) {
      names = words;
      continue;
    }
    for (std::size_t i = 1; i < names.size() && i < words.size(); ++i) {
      if (names[i] != name) continue;
      const auto number = parse_u64(words[i]);
      if (!number) return Missing::kError;
      return *number;
    }
    return Missing::kAbsent;
  }
  return Missing::kAbsent;
}

Parsed<std::uint64_t> parse_gpu_busy(std::string_view text) {
  std::uint64_t sum = 0;
  const auto words = split(trim(text), ',');
  for (const std::string_view word : words) {
    const auto percent = parse_u64(word);
    if (!percent || *percent > 100) return Missing::kError;
    sum += *percent;
  }
  return sum / words.size();
}

void add_machine_counters(Kernel& kernel, std::vector<counters::Sample>& samples) {
  const auto time = read_fact(kernel, "/proc/stat", parse_processor_time);
  add(samples, "cpu_all_ticks", derive(time, [](const ProcessorTime& t) { return t.all; }));
  add(samples, "cpu_busy_ticks", derive(time, [](const ProcessorTime& t) { return t.busy; }));
  add(samples, "cpu_softirq_ticks", derive(time, [](const ProcessorTime& t) { return t.softirq; }));
  add(samples, "TcpRetransSegs", read_fact(kernel, "/proc/net/snmp", [](std::string_view text) {
        return parse_protocol_counter(text, "Tcp:", "RetransSegs");
      }));
  add(samples, "IpExtInCEPkts", read_fact(kernel, "/proc/net/netstat", [](std::string_view text) {
        return parse_protocol_counter(text, "IpExt:", "InCEPkts");
      }));
  if (const auto busy = kernel.about("gpu_busy")) {
    const auto mean = parse_gpu_busy(*busy);
    samples.push_back(
        {Place::kHost, "gpu_busy", mean ? Reading::of(*mean) : Reading::missing(mean.why())});
  } else if (!busy.is(ENOENT)) {
    samples.push_back({Place::kHost, "gpu_busy", Reading::missing(missing_of(busy.error()))});
  }
}

Parsed<std::vector<counters::Sample>> parse_link_statistics(std::string_view message) {
  if (message.size() < NLMSG_HDRLEN + sizeof(if_stats_msg)) return Missing::kError;
  if (number_at<nlmsghdr>(message, 0).nlmsg_type != RTM_NEWSTATS) return Missing::kError;
  const auto attributes = Attributes::of_message(message, sizeof(if_stats_msg));
  const auto numbers = attributes->find(IFLA_STATS_LINK_64);
  if (!numbers) return Missing::kUnsupported;
  std::vector<counters::Sample> out;
  for (std::size_t i = 0; i < kLinkStatistics.size(); ++i) {
    const std::size_t at = i * sizeof(std::uint64_t);
    if (at + sizeof(std::uint64_t) > numbers->size()) break;  // an older kernel counts less
    out.push_back({Place::kStatistics, std::string(kLinkStatistics.at(i)),
                   Reading::of(number_at<std::uint64_t>(*numbers, at))});
  }
  if (out.empty()) return Missing::kError;
  return out;
}

Answer<std::vector<counters::Sample>> read_link_statistics(Kernel& kernel,
                                                           const std::string& net_folder) {
  const auto index = read_fact(kernel, net_folder + "/ifindex", parse_unsigned);
  if (!index.is_known()) return Errno{ENODEV};
  if_stats_msg header{};
  header.ifindex = *index;
  header.filter_mask = IFLA_STATS_FILTER_BIT(IFLA_STATS_LINK_64);
  const NetlinkRequest request(RTM_GETSTATS, NLM_F_REQUEST | NLM_F_ACK,
                               {reinterpret_cast<const char*>(&header), sizeof header});
  const auto replies = kernel.netlink(NETLINK_ROUTE, request.bytes());
  if (!replies) return replies.error();
  if (replies->empty()) return malformed();
  const auto samples = parse_link_statistics(replies->front());
  if (!samples) return malformed();
  return *samples;
}

}  // namespace weir::host

#include "readers/paste/kernel_log.h"

#include <algorithm>
#include <array>
#include <charconv>

#include <fmt/format.h>

#include "base/text.h"
#include "readers/paste/text_lines.h"
#include "vocab/nic_drivers.h"

namespace weir::readers {
namespace {

bool is_hex(char c) {
  return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f');
}

bool are_digits(std::string_view text) {
  return !text.empty() && text.find_first_not_of("0123456789") == std::string_view::npos;
}

/// A name that speaks in kernels alone: a NIC's driver, the PCI core, NVIDIA's modules.
bool is_kernel_name(std::string_view word) {
  const bool is_driver =
      std::any_of(vocab::kNicDrivers.begin(), vocab::kNicDrivers.end(),
                  [&](const vocab::NicDriver& driver) { return driver.kernel == word; });
  return is_driver || word == "pcieport" || word == "NVRM:" || word == "nvidia_peermem:" ||
         word == "nvidia-peermem";
}

/// "12.345678": seconds since boot have six decimals; people shorten them, and then what follows
/// must be a kernel's.
bool is_boot_time(std::string_view text, std::string_view message) {
  const std::size_t point = text.find('.');
  return point != std::string_view::npos && point <= 9 && are_digits(text.substr(0, point)) &&
         are_digits(text.substr(point + 1)) &&
         (text.size() == point + 7 || is_kernel_name(message.substr(0, message.find(' '))));
}

bool is_month(std::string_view word) {
  constexpr std::string_view kMonths = "JanFebMarAprMayJunJulAugSepOctNovDec";
  return word.size() == 3 && kMonths.find(word) % 3 == 0;
}

/// "Sun Nov 15 14:00:00 2026", as `dmesg -T` prints it.
bool is_long_date(std::string_view text) {
  const auto words = words_of(text);
  return words.size() == 5 && is_month(words[1]) && are_digits(words[2]) &&
         second_of_day(words[3]).has_value() && are_digits(words[4]);
}

/// "[   12.345678] …", "[Sun Nov 15 14:00:00 2026] …"; nullopt where there is no such time.
std::optional<std::string_view> after_time(std::string_view text) {
  if (text.starts_with('<')) {
    const std::size_t close = text.find('>');
    if (close == 2 || close == 3) text.remove_prefix(close + 1);
  }
  const std::size_t close = text.find(']');
  if (!text.starts_with('[') || close == std::string_view::npos || close > 40) return std::nullopt;
  const std::string_view time = trim(text.substr(1, close - 1));
  const std::string_view message = trim(text.substr(close + 1));
  if (!is_boot_time(time, message) && !is_long_date(time)) return std::nullopt;
  return message;
}

/// "Nov 15 14:00:01 gpu01", "2026-11-15T14:00:01.123456+00:00 gpu01": what syslog puts in front.
bool is_syslog_head(const std::vector<std::string_view>& words) {
  if (words.size() == 4)
    return is_month(words[0]) && are_digits(words[1]) && second_of_day(words[2]).has_value();
  if (words.size() != 2) return false;
  const std::string_view date = words[0];
  return date.size() >= 19 && date[4] == '-' && date[7] == '-' && date[10] == 'T' &&
         second_of_day(date.substr(11, 8)).has_value();
}

}  // namespace

bool is_pci_address(std::string_view text) {
  constexpr std::string_view kForm = "hh:hh.h";
  constexpr std::size_t kLong = 12;
  if (text.size() == kLong) {
    if (!std::all_of(text.begin(), text.begin() + 4, is_hex) || text[4] != ':') return false;
    text.remove_prefix(5);
  }
  if (text.size() != kForm.size()) return false;
  for (std::size_t at = 0; at < kForm.size(); ++at)
    if (kForm[at] == 'h' ? !is_hex(text[at]) : text[at] != kForm[at]) return false;
  return true;
}

/// A line of a kernel has it near its beginning, and it is a name.
bool has_kernel_speaker(std::string_view message) {
  constexpr std::size_t kLongest = 64;
  const std::size_t colon = message.substr(0, kLongest).find(':');
  if (colon == std::string_view::npos || colon == 0) return false;
  return std::all_of(
      message.begin(), message.begin() + static_cast<std::ptrdiff_t>(colon), [](char c) {
        return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
               c == '_' || c == '-' || c == '.' || c == ' ' || c == '/' || c == '(' || c == ')';
      });
}

std::optional<KernelLogLine> kernel_log_line(std::string_view text) {
  if (const auto message = after_time(text)) return KernelLogLine{{}, *message};
  // "kernel: mlx5_core …": date and host were cut off.
  constexpr std::string_view kBare = "kernel: ";
  if (text.starts_with(kBare)) {
    const std::string_view message = trim(text.substr(kBare.size()));
    if (is_kernel_name(message.substr(0, message.find(' ')))) return KernelLogLine{{}, message};
  }
  const std::size_t at = text.find(" kernel: ");
  constexpr std::size_t kLongestHead = 100;
  if (at == std::string_view::npos || at > kLongestHead) return std::nullopt;
  const auto words = words_of(text.substr(0, at));
  std::string_view message = trim(text.substr(at + 9));
  const auto rest = after_time(message);
  // A time stamp in ISO form has been taken off: then the message itself must be a kernel's.
  const bool is_cut = words.size() == 1 &&
                      (rest.has_value() || is_kernel_name(message.substr(0, message.find(' '))));
  if (!is_syslog_head(words) && !is_cut) return std::nullopt;
  if (rest) message = *rest;
  return KernelLogLine{words.back(), message};
}

namespace {

struct Words {
  std::string_view first;
  std::string_view second;  // also in the line; may be empty
  EventKind kind;
};
/// As the kernel's drivers print them (mlx5, bnxt, ice, ionic, the PCI core, nvidia_peermem).
constexpr auto kEvents = std::to_array<Words>({
    {"PCIe Bus Error", "", EventKind::kPcieError},
    {"AER:", "rror", EventKind::kPcieError},
    {"available PCIe bandwidth, limited by", "", EventKind::kPcieLimited},
    {"Link down", "", EventKind::kLinkDown},
    {"Link is Down", "", EventKind::kLinkDown},
    {"Link up", "", EventKind::kLinkUp},
    {"Link is Up", "", EventKind::kLinkUp},
    {"Port module event", "unplugged", EventKind::kUnplugged},
    {"insufficient power on the PCIe slot", "", EventKind::kSlotPower},
    {"Power budget exceeded", "", EventKind::kSlotPower},
    {"Port module event[error]", "", EventKind::kModule},
    {"Port module event", "igh Temperature", EventKind::kModule},
    {"assert_var", "", EventKind::kFirmware},
    {"health compromised", "", EventKind::kFirmware},
    {"device's health", "compromised", EventKind::kFirmware},
    {"mlx5_health", "error", EventKind::kFirmware},
    {"Fatal error", "detected", EventKind::kFirmware},
    {"command", "timeout. Will cause a leak", EventKind::kFirmware},
    {"Firmware reset", "", EventKind::kFirmware},
    {"TX timeout", "", EventKind::kFirmware},
    {"NETDEV WATCHDOG", "timed out", EventKind::kFirmware},
    {"FW heartbeat stalled", "", EventKind::kFirmware},
    {"FW Down", "", EventKind::kFirmware},
    {"FW recovery failed", "", EventKind::kFirmware},
    {"DEVCMD", "timeout", EventKind::kFirmware},
    {"Firmware not responding", "", EventKind::kFirmware},
    {"Error (timeout", "msg {", EventKind::kFirmware},
    {"PF reset failed", "", EventKind::kFirmware},
    {"Rebuild failed", "", EventKind::kFirmware},
    {"nvidia_peermem", "Unknown symbol", EventKind::kPeermemRefused},
    {"nvidia_peermem", "disagrees about version of symbol", EventKind::kPeermemRefused},
    {"nvidia_peermem", "Invalid argument", EventKind::kPeermemRefused},
    {"nvidia-peermem", "rror", EventKind::kPeermemRefused},
    {"nv_peer_mem", "Unknown symbol", EventKind::kPeermemRefused},
    {"NVRM: Xid", "", EventKind::kForeign},
    {"Out of memory: Killed process", "", EventKind::kForeign},
    {"oom-kill", "", EventKind::kForeign},
    {"I/O error, dev ", "", EventKind::kForeign},
    {"controller is down; will reset", "", EventKind::kForeign},
    {"nfs: server ", "not responding", EventKind::kForeign},
    {"segfault at ", "", EventKind::kForeign},
});

const Words* event_of(std::string_view message) {
  for (const Words& event : kEvents) {
    const std::size_t at = message.find(event.first);
    if (at != std::string_view::npos && message.find(event.second) != std::string_view::npos)
      return &event;
  }
  return nullptr;
}

}  // namespace

bool is_bare_kernel_message(std::string_view text) {
  return (is_kernel_name(text.substr(0, text.find(' '))) ||
          text.starts_with("modprobe: ERROR: could not insert")) &&
         event_of(text) != nullptr;
}

std::optional<EventKind> kernel_event(std::string_view message) {
  const Words* found = event_of(message);
  return found == nullptr ? std::nullopt : std::optional(found->kind);
}

KernelDevice kernel_device(std::string_view message) {
  // A port of the root complex speaks for the device behind it.
  if (const auto from = message.find("received from "); from != std::string_view::npos) {
    const auto rest = words_of(message.substr(from + 14));
    if (!rest.empty() && is_pci_address(rest[0])) return {std::string(rest[0]), ""};
  }
  const auto words = words_of(message);
  // "NETDEV WATCHDOG: eth2 (mlx5_core): transmit queue 3 timed out"
  if (message.starts_with("NETDEV WATCHDOG: ") && words.size() > 3)
    return {"", std::string(words[2])};
  KernelDevice out;
  for (std::size_t at = 0; at < words.size() && at < 4; ++at) {
    std::string_view word = words[at];
    const bool ends = word.ends_with(':');
    if (ends) word.remove_suffix(1);
    if (!is_pci_address(word)) continue;
    out.address = word;
    if (ends || at + 1 >= words.size() || !words[at + 1].ends_with(':')) break;
    const std::string_view netdev = words[at + 1].substr(0, words[at + 1].size() - 1);
    if (netdev.find_first_of("(),") == std::string_view::npos) out.netdev = netdev;
    break;
  }
  return out;
}

std::optional<double> seconds_since_boot(std::string_view line) {
  line = trim(line);
  if (line.starts_with('<')) line.remove_prefix(std::min(line.find('>') + 1, line.size()));
  const std::size_t close = line.find(']');
  if (!line.starts_with('[') || close == std::string_view::npos) return std::nullopt;
  const std::string_view time = trim(line.substr(1, close - 1));
  double seconds = 0;
  const auto [end, error] = std::from_chars(time.data(), time.data() + time.size(), seconds);
  const bool is_time = error == std::errc() && end == time.data() + time.size() &&
                       time.find('.') != std::string_view::npos && seconds >= 0;
  return is_time ? std::optional(seconds) : std::nullopt;
}

std::vector<std::string> problem_lines(std::string_view log, std::size_t most) {
  constexpr std::size_t kLongest = 400;
  std::vector<std::string> out;
  for (const std::string_view text : split(log, '\n')) {
    const auto line = kernel_log_line(text);
    if (line && kernel_event(line->message)) out.emplace_back(trim(text).substr(0, kLongest));
  }
  if (out.size() > most) out.erase(out.begin(), out.end() - static_cast<std::ptrdiff_t>(most));
  return out;
}

std::string without_names(std::string_view text, const std::vector<std::string>& netdevs) {
  const auto line = kernel_log_line(text);
  const Words* event = line ? event_of(line->message) : nullptr;
  if (event == nullptr) return {};
  const KernelDevice device = kernel_device(line->message);
  const std::string_view speaker = line->message.substr(0, line->message.find(' '));
  const auto seconds = seconds_since_boot(text);
  std::string out = fmt::format("[{:12.6f}]", seconds.value_or(0));
  const auto add = [&](std::string_view word) {
    if (!word.empty()) out += fmt::format(" {}", word);
  };
  if (is_kernel_name(speaker) && !event->first.starts_with(speaker)) add(speaker);
  const bool is_listed = std::find(netdevs.begin(), netdevs.end(), device.netdev) != netdevs.end();
  if (is_listed) {
    add(device.address);
    add(device.netdev + ":");
  } else if (!device.address.empty()) {
    add(device.address + ":");
  }
  if (event->first == "NETDEV WATCHDOG" && is_listed) {
    out = fmt::format("[{:12.6f}] NETDEV WATCHDOG: {} (nic): timed out", seconds.value_or(0),
                      device.netdev);
    return out;
  }
  add(event->first);
  add(event->second);
  // "NVRM: Xid (PCI:0000:5e:00): 79, pid=…": the number says what happened.
  if (const auto at = line->message.find("): ");
      event->first == "NVRM: Xid" && at != std::string_view::npos) {
    const std::string_view number = line->message.substr(at + 3);
    add(fmt::format("(PCI): {}", number.substr(0, number.find_first_not_of("0123456789"))));
  }
  return out;
}

}  // namespace weir::readers

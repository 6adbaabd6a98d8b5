// Files of RDMA and network devices as loops of a shell print them: rate, state, phys_state, speed,
// MTU, trust, or one counter of many devices.
#include <algorithm>
#include <array>
#include <charconv>

#include <fmt/format.h>

#include "base/text.h"
#include "readers/paste/paste_tools.h"
#include "readers/paste/rows/rows_tools.h"
#include "readers/paste/text_lines.h"

namespace weir::readers {

std::optional<double> leading_decimal(std::string_view text) {
  text = trim(text);
  double value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  return error == std::errc() && end != text.data() ? std::optional(value) : std::nullopt;
}

namespace {

/// One file of one device and what is in it.
struct DeviceFile {
  std::string device;
  std::string folder;  // "hw_counters", "counters", "statistics"; empty for the device's own files
  std::string name;    // "rate"
  std::string value;
  std::size_t lines = 1;
};

constexpr auto kDeviceFiles = std::to_array<std::string_view>(
    {"rate", "state", "phys_state", "speed", "mtu", "operstate", "carrier_changes"});

bool is_device_file(std::string_view name) {
  return std::find(kDeviceFiles.begin(), kDeviceFiles.end(), name) != kDeviceFiles.end();
}

/// A device as drivers and operators name it: "mlx5_6", "rail0", "eth_r0"; no sentence begins so.
bool is_device_word(std::string_view word) {
  constexpr std::size_t kLongest = 15;  // IFNAMSIZ without its end
  return !word.empty() && word.size() <= kLongest &&
         word.find_first_of("0123456789") != std::string_view::npos &&
         ((word[0] >= 'a' && word[0] <= 'z') || (word[0] >= 'A' && word[0] <= 'Z')) &&
         std::all_of(word.begin(), word.end(), [](char c) {
           return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
                  c == '_' || c == '-' || c == '.';
         });
}

/// "100 Gb/sec (4X EDR)".
std::optional<BitRate> rate_of_file(std::string_view value) {
  const std::size_t unit = value.find(" Gb/sec");
  if (unit == std::string_view::npos) return std::nullopt;
  const auto number = leading_decimal(value);
  constexpr double kMost = 10'000;
  if (!number || *number <= 0 || *number > kMost) return std::nullopt;
  return BitRate::raw(static_cast<std::int64_t>(*number * 1e9));
}

/// Whether the file can hold this: what is behind a name in a loop may be anything.
bool fits_file(const DeviceFile& file) {
  if (file.name == "rate") return rate_of_file(file.value).has_value();
  if (file.name == "speed") return file.value == "-1" || parse_u64(file.value).has_value();
  if (file.name == "state" || file.name == "phys_state")
    return file.value.size() > 3 && file.value[1] == ':';
  if (file.name == "trust") return file.value == "dscp" || file.value == "pcp";
  if (file.name == "operstate")
    return file.value == "up" || file.value == "down" || file.value == "unknown";
  return parse_u64(file.value).has_value();
}

/// "…/infiniband/mlx5_6/ports/1/rate", "mlx5_6/ports/1/rate", "/sys/class/net/eth2/speed",
/// "…/mlx5_6/ports/1/hw_counters/out_of_sequence"; the device may be a variable of the shell.
std::optional<DeviceFile> file_of_path(std::string_view path) {
  const auto parts = split(path, '/');
  if (parts.size() < 2) return std::nullopt;
  DeviceFile out;
  out.name = parts.back();
  std::size_t at = parts.size() - 1;
  const std::string_view folder = parts[at - 1];
  const bool is_cnp = out.name == "cnp_dscp" || out.name == "cnp_802p_prio";
  if (is_cnp && folder == "roce_np" && parts.size() > 4) {
    out.device = parts[at - 3];
    return out;
  }
  if (out.name == "trust" && folder == "qos" && parts.size() > 2) {
    out.device = parts[at - 2];
    return out;
  }
  if (folder == "hw_counters" || folder == "counters" || folder == "statistics") {
    out.folder = folder;
    --at;
  } else if (!is_device_file(out.name)) {
    return std::nullopt;
  }
  if (out.name.empty() || at == 0) return std::nullopt;
  if (at >= 3 && parts[at - 2] == "ports") {
    out.device = parts[at - 3];
  } else if (at >= 2 && parts[at - 2] == "net") {
    out.device = parts[at - 1];
  } else {
    return std::nullopt;
  }
  return out;
}

/// The one file that a command or loop reads of every device; nullopt for none and for several.
std::optional<DeviceFile> file_of_command(std::string_view command) {
  std::optional<DeviceFile> out;
  for (std::string_view word : words_of(command)) {
    const std::size_t slash = word.find('/');
    if (slash == std::string_view::npos) continue;
    while (!word.empty() &&
           std::string_view("'\"`();$,").find(word.back()) != std::string_view::npos)
      word.remove_suffix(1);
    const auto file = file_of_path(word);
    if (!file) continue;
    if (out && (out->name != file->name || out->folder != file->folder)) return std::nullopt;
    out = file;
  }
  return out;
}

/// "400 Gb/sec (4X NDR)" of "rocep0 (Up) 400 Gb/sec (4X NDR)": ibdev2netdev's words in front of a
/// rate. The text itself where something else is in front.
std::string_view behind_state(std::string_view text) {
  const std::string_view whole = text;
  for (int skipped = 0; skipped < 6; ++skipped) {
    const std::string_view word = text.substr(0, text.find_first_of(" \t"));
    if (leading_decimal(word) && !word.ends_with(':')) return text;
    const bool is_state = word == "(Up)" || word == "(Down)" || word == "==>" || word == "Up" ||
                          word == "ACTIVE" || word == "(up)" || word == "LinkUp" || word == "4:" ||
                          word == "5:";
    if (!is_state && !is_device_word(word)) return whole;
    text = trim(text.substr(word.size()));
    if (text.empty()) return whole;
  }
  return whole;
}

/// "mlx5_6 100 Gb/sec (4X EDR)", "mlx5_6: 4: ACTIVE", "mlx5_6 port 1: …", "rail3=400000".
std::optional<DeviceFile> pair_line(std::string_view text, const std::optional<DeviceFile>& asked) {
  const std::size_t end = text.find_first_of(" \t:=/");
  if (end == std::string_view::npos || end == 0) return std::nullopt;
  const std::string_view name = text.substr(0, end);
  std::string_view rest = text.substr(end);
  if (rest.starts_with("/1")) rest.remove_prefix(2);
  if (trim(rest).starts_with("port 1")) rest = trim(rest).substr(6);
  rest = rest.substr(std::min(rest.find_first_not_of(" \t:="), rest.size()));
  DeviceFile out;
  out.device = name;
  out.value = trim(rest);
  if (is_rdma_name(name)) {
    const std::string_view value = behind_state(out.value);
    if (rate_of_file(value)) {
      out.value = value;
      out.name = "rate";
      return out;
    }
  }
  if (!asked || !is_device_word(name)) return std::nullopt;
  out.name = asked->name;
  out.folder = asked->folder;
  if (!fits_file(out)) return std::nullopt;
  return out;
}

/// "Speed: 100000Mb/s" of ethtool alone, or behind the name of its device.
std::optional<DeviceFile> speed_line(std::string_view text, std::string_view device) {
  constexpr std::string_view kKey = "Speed: ";
  const std::size_t at = text.find(kKey);
  const std::size_t unit = text.find("Mb/s", at == std::string_view::npos ? 0 : at);
  if (at == std::string_view::npos || unit == std::string_view::npos) return std::nullopt;
  std::string_view name = trim(text.substr(0, at));
  if (name.ends_with(':') || name.ends_with('=')) name.remove_suffix(1);
  if (name.empty()) name = device;
  DeviceFile out;
  out.device = name;
  out.name = "speed";
  out.value = trim(text.substr(at + kKey.size(), unit - at - kKey.size()));
  if (!is_device_word(name) || !fits_file(out)) return std::nullopt;
  return out;
}

std::optional<DeviceFile> device_file_at(const PasteAt& at, std::size_t n,
                                         const std::optional<DeviceFile>& asked) {
  const std::string_view text = at.line(n);
  if (text.empty()) return std::nullopt;
  if (text.starts_with("==> ") && text.ends_with(" <==")) {
    auto out = file_of_path(text.substr(4, text.size() - 8));
    if (!out || !out->folder.empty()) return std::nullopt;  // counters have a reader of their own
    out->value = at.line(n + 1);
    out->lines = 2;
    return fits_file(*out) ? out : std::nullopt;
  }
  const std::size_t end = text.find_first_of(" \t:=");
  if (end != std::string_view::npos && text.substr(0, end).find('/') != std::string_view::npos) {
    auto out = file_of_path(text.substr(0, end));
    if (out && out->folder.empty()) {
      out->value = trim(text.substr(text.find_first_not_of(" \t:=", end) == std::string_view::npos
                                        ? end
                                        : text.find_first_not_of(" \t:=", end)));
      return fits_file(*out) ? out : std::nullopt;
    }
  }
  if (auto out = speed_line(text, at.mark.tool() == "ethtool" ? at.mark.device : "")) return out;
  if (auto out = pair_line(text, asked)) return out;
  // The value alone, of the one file that was requested.
  if (!asked || !is_device_word(asked->device) || at.mark.tool() != "cat") return std::nullopt;
  DeviceFile out = *asked;
  out.value = text;
  return fits_file(out) ? std::optional(out) : std::nullopt;
}

void apply_speed(const DeviceFile& file, const PasteLine& line, PasteSink& out) {
  const auto megabits = parse_u64(file.value);
  constexpr std::uint64_t kLeast = 10'000;  // slower ones are for management
  constexpr std::uint64_t kMost = 10'000'000;
  if (!megabits || *megabits < kLeast || *megabits > kMost) return;
  out.set(out.hosts().by_name(out.host(), file.device).nic.link.speed,
          BitRate::raw(static_cast<std::int64_t>(*megabits) * 1'000'000), line);
}

void apply_device_file(const DeviceFile& file, const PasteLine& line, PasteSink& out) {
  if (!file.folder.empty()) {
    using counters::Place;
    const Place place = file.folder == "hw_counters" ? Place::kHwCounters
                        : file.folder == "counters"  ? Place::kCounters
                                                     : Place::kStatistics;
    PastedNic& nic = out.hosts().by_name(out.host(), file.device);
    if (const auto value = parse_u64(file.value))
      add_count(nic.dump_for(place, file.name), place, file.name, *value);
    return;
  }
  if (file.name == "speed") return apply_speed(file, line, out);
  if (file.name == "carrier_changes") {
    constexpr auto kPlace = counters::Place::kNet;
    PastedNic& nic = out.hosts().by_netdev(out.host(), file.device);
    if (const auto value = parse_u64(file.value))
      add_count(nic.dump_for(kPlace, file.name), kPlace, file.name, *value);
    return;
  }
  if (file.name == "trust") {
    out.set(out.hosts().by_name(out.host(), file.device).nic.qos.trust,
            file.value == "dscp" ? evidence::TrustMode::kDscp : evidence::TrustMode::kPcp, line);
    return;
  }
  if (file.name.starts_with("cnp_")) {
    evidence::Nic& nic = out.hosts().by_name(out.host(), file.device).nic;
    const auto value = parse_u64(file.value);
    if (value && *value < Dscp::kLimit && file.name == "cnp_dscp")
      out.set(nic.ecn.cnp_dscp, Dscp::of(static_cast<unsigned>(*value)), line);
    if (value && *value < Priority::kLimit && file.name != "cnp_dscp")
      out.set(nic.ecn.cnp_priority, Priority::of(static_cast<unsigned>(*value)), line);
    return;
  }
  if (file.name == "mtu" || file.name == "operstate") {
    evidence::Nic& nic = out.hosts().by_netdev(out.host(), file.device, false).nic;
    if (file.name == "mtu") {
      const auto mtu = parse_u64(file.value);
      if (mtu && *mtu <= 65'536) {
        const Bytes size = Bytes::raw(static_cast<std::int64_t>(*mtu));
        out.set(nic.link.mtu, size, line);
        out.paste().mtus.push_back({out.host(), file.device, size, out.cite(line)});
      }
    } else if (file.value == "up") {
      out.set(nic.link.up, true, line);
    }
    return;
  }
  evidence::Nic& nic = out.hosts().by_device(out.host(), file.device).nic;
  if (file.name == "rate") {
    if (const auto rate = rate_of_file(file.value)) out.set(nic.link.speed, *rate, line);
    note_lanes(file.device, file.value, line, out);
  } else if (file.name == "state") {
    out.set(nic.rdma.active, file.value.find("ACTIVE") != std::string::npos, line);
  } else if (file.name == "phys_state") {
    out.set(nic.link.up, file.value.find("LinkUp") != std::string::npos, line);
  }
}

/// "…/{np_cnp_sent,rp_cnp_handled}" as the shell expands it; another word is itself.
std::vector<std::string> expanded(std::string_view word) {
  const std::size_t open = word.find('{');
  const std::size_t close = word.find('}', open == std::string_view::npos ? 0 : open);
  if (open == std::string_view::npos || close == std::string_view::npos) return {std::string(word)};
  std::vector<std::string> out;
  for (const std::string_view choice : split(word.substr(open + 1, close - open - 1), ','))
    out.push_back(fmt::format("{}{}{}", word.substr(0, open), choice, word.substr(close + 1)));
  return out;
}

/// `cat FILE FILE`: as many values below it as it has files, in their order. Empty otherwise.
std::vector<DeviceFile> files_of_cat(const PasteAt& at) {
  std::vector<DeviceFile> files;
  if (at.mark.tool() != "cat") return files;
  for (std::size_t i = 1; i < at.mark.words.size(); ++i) {
    for (const std::string& path : expanded(at.mark.words[i])) {
      auto file = file_of_path(path);
      if (!file || !is_device_word(file->device) || files.size() >= at.lines.size()) return {};
      file->value = at.line(files.size());
      if (!fits_file(*file)) return {};
      files.push_back(std::move(*file));
    }
  }
  // One counter alone has the reader of counters.
  if (files.size() == 1 && !files.front().folder.empty()) return {};
  return files;
}

/// `ls /sys/class/infiniband`: the RDMA devices of the host.
bool is_device_list(const PasteAt& at) {
  if (at.mark.tool() != "ls" || at.mark.words.size() < 2) return false;
  const std::string& folder = at.mark.words.back();
  if (!folder.ends_with("/class/infiniband") && !folder.ends_with("/class/infiniband/"))
    return false;
  const auto words = words_of(at.line(0));
  return !words.empty() && std::all_of(words.begin(), words.end(), is_rdma_name);
}

std::size_t read_device_list(const PasteAt& at, PasteSink& out) {
  std::size_t taken = 0;
  for (; taken < at.lines.size(); ++taken) {
    const auto words = words_of(at.line(taken));
    if (words.empty() || !std::all_of(words.begin(), words.end(), is_rdma_name)) break;
    for (const std::string_view word : words)
      (void)out.hosts().by_device(out.host(), word);
  }
  out.paste().rows.lists_devices = true;
  out.paste().rows.listed_hosts.insert(out.hosts().shown(out.host()));
  out.detail = "RDMA devices";
  return taken;
}

}  // namespace

bool begins_device_files(const PasteAt& at) {
  return is_device_list(at) || !files_of_cat(at).empty() ||
         device_file_at(at, 0, file_of_command(at.mark.command)).has_value();
}

std::size_t read_device_files(const PasteAt& at, PasteSink& out) {
  if (is_device_list(at)) return read_device_list(at, out);
  const auto shown = files_of_cat(at);
  for (std::size_t n = 0; n < shown.size(); ++n)
    apply_device_file(shown[n], at.lines[n], out);
  if (!shown.empty()) {
    out.detail = shown.front().name;
    return shown.size();
  }
  const auto asked = file_of_command(at.mark.command);
  std::size_t taken = 0;
  while (taken < at.lines.size()) {
    const auto file = device_file_at(at, taken, asked);
    if (!file) {
      if (!at.line(taken).empty() || !device_file_at(at, taken + 1, asked)) break;
      ++taken;  // head leaves a blank line between files
      continue;
    }
    apply_device_file(*file, at.lines[taken], out);
    if (out.detail.empty()) out.detail = file->name;
    taken += file->lines;
  }
  return taken;
}

}  // namespace weir::readers

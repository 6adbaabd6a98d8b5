#include "readers/job/job.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <map>
#include <set>
#include <utility>

#include <fmt/format.h>

#include "base/text.h"
#include "readers/job/job_script.h"
#include "readers/paste/text_lines.h"

namespace weir::readers {
namespace {

/// Lines are cited up to this length.
constexpr std::size_t kLongestCitation = 240;

/// Messages of libraries that matter and have no structure: kept for the rules.
constexpr auto kTellingWords =
    std::to_array<std::string_view>({"ibv_reg_mr",
                                     "ibv_modify_qp failed",
                                     "ibv_create_qp",
                                     "ibv_open_device",
                                     "ib_umem_get",
                                     "Cannot allocate memory",
                                     "ncclIbRoceGetVersionNum",
                                     "gid_attrs/types",
                                     "No suitable GID",
                                     "GID is NULL",
                                     "closed by remote peer",
                                     "Failed to initialize any NET plugin",
                                     "init_process_group",
                                     "ProcessGroupGloo",
                                     "[c10d] Using backend",
                                     "--backend",
                                     "dist_backend",
                                     "--dist-backend",
                                     "Connection refused",
                                     "Connection reset by peer",
                                     "local GID index",
                                     "remoteGids"});

bool is_digits(std::string_view text) {
  return !text.empty() &&
         std::all_of(text.begin(), text.end(), [](char c) { return c >= '0' && c <= '9'; });
}

std::optional<unsigned> number_at(std::string_view text, std::size_t at) {
  unsigned value = 0;
  if (at > text.size()) return std::nullopt;
  const auto [end, error] = std::from_chars(text.data() + at, text.data() + text.size(), value);
  if (error != std::errc{} || end == text.data() + at) return std::nullopt;
  return value;
}

/// The number right after `key`, blanks allowed between.
std::optional<unsigned> number_after(std::string_view text, std::string_view key) {
  const auto at = text.find(key);
  if (at == std::string_view::npos) return std::nullopt;
  std::size_t begin = at + key.size();
  while (begin < text.size() && text[begin] == ' ')
    ++begin;
  return number_at(text, begin);
}

/// The text in quotes, or up to the next blank, after `key`.
std::string word_after(std::string_view text, std::string_view key) {
  const auto at = text.find(key);
  if (at == std::string_view::npos) return "";
  std::string_view rest = text.substr(at + key.size());
  while (!rest.empty() && rest.front() == ' ')
    rest.remove_prefix(1);
  if (rest.starts_with('\'')) {
    const auto end = rest.find('\'', 1);
    return std::string(rest.substr(1, end == std::string_view::npos ? end : end - 1));
  }
  return std::string(rest.substr(0, rest.find_first_of(" \t,;<")));
}

/// A line of an NCCL log: `host:pid:tid [dev] file:line NCCL INFO message`.
struct LogLine {
  std::string host;
  std::string pid;
  bool is_warning = false;
  std::string_view message;
};

std::optional<LogLine> log_line(std::string_view line) {
  LogLine out;
  for (const std::string_view level : {"INFO", "WARN", "TRACE", "ERROR"}) {
    const std::string mark = fmt::format("NCCL {} ", level);
    const auto at = line.find(mark);
    if (at == std::string_view::npos) continue;
    out.is_warning = level == "WARN" || level == "ERROR";
    out.message = trim(line.substr(at + mark.size()));
    for (std::string_view word : words_of(line.substr(0, at))) {
      // Launchers add a tag: "[1,0]<stdout>:gpu01:77:77".
      if (const auto tag = word.rfind(">:"); tag != std::string_view::npos)
        word = word.substr(tag + 2);
      const auto parts = split(word, ':');
      if (parts.size() != 3 || !is_digits(parts[1]) || !is_digits(parts[2])) continue;
      out.host = parts[0];
      out.pid = parts[1];
    }
    return out;
  }
  return std::nullopt;
}

/// "0/5010A0AFFFF0000": two 64-bit words as the machine holds them, hence bytes in reverse.
std::string gid_of(std::string_view pair) {
  const auto parts = split(pair, '/');
  if (parts.size() != 2) return "";
  std::string text;
  for (const std::string_view part : parts) {
    std::uint64_t word = 0;
    const auto [end, error] = std::from_chars(part.data(), part.data() + part.size(), word, 16);
    if (error != std::errc{} || end != part.data() + part.size()) return "";
    for (int group = 0; group < 4; ++group) {
      const unsigned low = static_cast<unsigned>((word >> (16 * group)) & 0xff);
      const unsigned high = static_cast<unsigned>((word >> (16 * group + 8)) & 0xff);
      text += fmt::format("{}{:02x}{:02x}", text.empty() ? "" : ":", low, high);
    }
  }
  return text;
}

/// Reads one message of NCCL into its process.
class LogReader {
 public:
  explicit LogReader(Job& job) : job_(job) {}

  void read(const LogLine& line, Cited at) {
    NcclProcess& process = process_of(line);
    const std::string_view text = line.message;
    read_variable(process, text, at);
    if (text.starts_with("NCCL version ")) {
      process.version = text.substr(13, text.find_first_not_of("0123456789.", 13) - 13);
    } else if (text.starts_with("Using network ")) {
      process.network = word_after(text, "Using network ");
      process.network_at = at;
    } else if (text.starts_with("NET/IB : No device found")) {
      process.found_no_device = true;
      process.no_device_at = at;
    } else if (text.starts_with("NET/IB : Using ")) {
      read_devices(process, text.substr(15), at);
    } else if (text.find("GPU Direct RDMA ") != std::string_view::npos) {
      read_gpu_direct(process, text, at);
    } else if (text.starts_with("Connected all ")) {
      process.is_connected = true;
    } else if (text.starts_with("Channel ") && text.find(" via ") != std::string_view::npos) {
      read_channel(process, text, at);
    } else if (text.starts_with("NET/IB") && text.find(" GID ") != std::string_view::npos &&
               text.find(" mtu ") != std::string_view::npos) {
      read_queue_pair(process, text, at);
    } else if (text.find("Got completion") != std::string_view::npos) {
      read_completion(process, text, at);
    } else if (text.find("async") != std::string_view::npos && line.is_warning) {
      read_event(process, text, at);
    }
    if (const auto rank = rank_in(text)) process.rank = rank;
  }

 private:
  NcclProcess& process_of(const LogLine& line) {
    const auto [known, is_new] = places_.try_emplace({line.host, line.pid}, job_.processes.size());
    if (!is_new) return job_.processes[known->second];
    NcclProcess fresh;
    fresh.host = line.host;
    fresh.pid = line.pid;
    job_.processes.push_back(std::move(fresh));
    return job_.processes.back();
  }

  static std::optional<unsigned> rank_in(std::string_view text) {
    const bool is_comm = text.starts_with("comm 0x") || text.starts_with("ncclCommInitRank");
    return is_comm ? number_after(text, " rank ") : std::nullopt;
  }

  /// "NCCL_IB_TC set by environment to 106.", "NCCL_IB_HCA set to mlx5_0,mlx5_1".
  void read_variable(NcclProcess& process, std::string_view text, const Cited& at) {
    for (const std::string_view phrase : {" set by environment to ", " set to "}) {
      const auto position = text.find(phrase);
      if (position == std::string_view::npos) continue;
      const std::string_view name = text.substr(0, position);
      if (!name.starts_with("NCCL_") || name.find(' ') != std::string_view::npos) return;
      std::string_view value = trim(text.substr(position + phrase.size()));
      if (value.ends_with('.')) value.remove_suffix(1);
      if (name == "NCCL_HOSTID") process.host_id = value;
      const std::string owner = process.host + ":" + process.pid;
      if (!read_.emplace(std::string(name), owner).second) return;
      job_.variables.push_back({std::string(name), std::string(value), owner, at});
      return;
    }
  }

  /// "[0]mlx5_0:1/RoCE [1]mlx5_1:1/IB/SHARP [RO]; OOB eth0:10.0.0.5<0>".
  static void read_devices(NcclProcess& process, std::string_view text, const Cited& at) {
    process.devices_at = at;
    for (std::string_view word : words_of(text.substr(0, text.find(';')))) {
      const auto bracket = word.find(']');
      if (!word.starts_with('[') || bracket == std::string_view::npos) continue;
      word = word.substr(bracket + 1);
      const auto colon = word.find(':');
      if (colon == std::string_view::npos) continue;
      NcclDevice device;
      device.name = word.substr(0, colon);
      device.port = number_at(word, colon + 1).value_or(1);
      device.is_roce = word.find("/RoCE") != std::string_view::npos;
      process.devices.push_back(std::move(device));
    }
  }

  static void read_gpu_direct(NcclProcess& process, std::string_view text, const Cited& at) {
    NcclGpuDirect direct;
    direct.is_on = text.find("GPU Direct RDMA Enabled") != std::string_view::npos;
    if (!direct.is_on && text.find("GPU Direct RDMA Disabled") == std::string_view::npos) return;
    direct.network = text.starts_with("NET/Socket") ? "Socket" : "IB";
    const auto quote = text.find('\'');
    if (quote != std::string_view::npos) direct.device = word_after(text.substr(quote), "");
    const auto open = text.find('(');
    if (open != std::string_view::npos)
      direct.reason = text.substr(open + 1, text.find(')', open) - open - 1);
    direct.at = at;
    process.gpu_direct.push_back(std::move(direct));
  }

  static void read_channel(NcclProcess& process, std::string_view text, const Cited& at) {
    NcclChannel channel;
    const auto colon = text.find(" : ");
    const auto arrow = text.find(" -> ");
    if (colon == std::string_view::npos || arrow == std::string_view::npos) return;
    const auto from = number_at(text, colon + 3);
    const auto to = number_at(text, arrow + 4);
    if (!from || !to) return;
    channel.from = *from;
    channel.to = *to;
    channel.via = word_after(text, " via ");
    channel.at = at;
    process.channels.push_back(std::move(channel));
  }

  static void read_queue_pair(NcclProcess& process, std::string_view text, const Cited& at) {
    NcclQueuePair pair;
    pair.port = number_after(text, " Port ").value_or(1);
    const unsigned mtu = number_after(text, " mtu ").value_or(0);
    if (mtu >= 1 && mtu <= 5) pair.mtu = 128U << mtu;  // ibv_mtu: 1 is 256 B, 5 is 4096 B
    const auto index = number_after(text, " GID ");
    if (!index) return;
    pair.gid_index = static_cast<int>(*index);
    const auto open = text.find('(', text.find(" GID "));
    if (open != std::string_view::npos)
      pair.gid = gid_of(text.substr(open + 1, text.find(')', open) - open - 1));
    pair.at = at;
    process.queue_pairs.push_back(std::move(pair));
  }

  /// "status=IBV_WC_RETRY_EXC_ERR(12) … vendor_err=129 … hca mlx5_0"; "with error 12, opcode 0, len
  /// 0, vendor err 129"; "status=12 opcode=… vendor err 129".
  static void read_completion(NcclProcess& process, std::string_view text, const Cited& at) {
    NcclFailure failure;
    const auto named = text.find("status=IBV_WC_");
    if (named != std::string_view::npos) {
      const auto open = text.find('(', named);
      if (open != std::string_view::npos) failure.status = number_at(text, open + 1);
    } else if (const auto plain = number_after(text, "status=")) {
      failure.status = plain;
    } else {
      failure.status = number_after(text, "with error ");
      // "Got completion from peer … with error 12" is what later versions printed.
      failure.is_short_form =
          failure.status.has_value() && text.find("from peer") == std::string_view::npos;
    }
    failure.vendor_error = number_after(text, "vendor_err=");
    if (!failure.vendor_error) failure.vendor_error = number_after(text, "vendor err ");
    failure.device = word_after(text, " hca ");
    failure.peer = word_after(text, "from peer ");
    failure.local_gid = word_after(text, "localGid ");
    failure.at = at;
    process.failures.push_back(std::move(failure));
  }

  /// "NET/IB : mlx5_0:1 Got non-fatal async event: port error(10)"; "async fatal event on QP …: …".
  static void read_event(NcclProcess& process, std::string_view text, const Cited& at) {
    NcclFailure failure;
    const auto last = text.rfind(": ");
    if (last == std::string_view::npos) return;
    const std::string_view event = text.substr(last + 2);
    failure.event = trim(event.substr(0, event.find('(')));
    // Versions differ in whether they name the device: "NET/IB : Got async event : port error".
    const std::string device = word_after(text, "NET/IB :");
    const bool is_device =
        device != "Got" && device.find_first_of("0123456789") != std::string::npos;
    if (is_device) failure.device = device.substr(0, device.find(':'));
    failure.at = at;
    process.failures.push_back(std::move(failure));
  }

  Job& job_;
  // A log may hold a hundred thousand processes: found without looking through them.
  std::map<std::pair<std::string, std::string>, std::size_t> places_;  // host and pid
  std::set<std::pair<std::string, std::string>> read_;                 // variable and process
};

/// "NCCL version 2.21.5+cuda12.4" without a process in front: the first rank prints it for all.
std::string bare_version(std::string_view line) {
  constexpr std::string_view kStart = "NCCL version ";
  const std::string_view text = trim(line);
  if (!text.starts_with(kStart)) return "";
  const std::string_view rest = text.substr(kStart.size());
  return std::string(rest.substr(0, rest.find_first_not_of("0123456789.")));
}

bool is_telling(std::string_view line) {
  return std::any_of(kTellingWords.begin(), kTellingWords.end(), [&](std::string_view word) {
    return line.find(word) != std::string_view::npos;
  });
}

/// PyTorch gave a collective up: a symptom, whatever the cause.
bool is_warning_of_torch(std::string_view line) {
  return line.find("Watchdog caught collective operation timeout") != std::string_view::npos;
}

}  // namespace

std::string NcclProcess::name() const {
  const std::string place = host.empty() ? std::string("the log") : host + ":" + pid;
  return rank ? fmt::format("rank {} ({})", *rank, place) : place;
}

const JobVariable* Job::find(std::string_view name) const {
  for (const JobVariable& variable : variables)
    if (variable.name == name) return &variable;
  return nullptr;
}

bool Job::sets(std::string_view name) const {
  const auto is_it = [&](const JobVariable& variable) { return variable.name == name; };
  return std::any_of(variables.begin(), variables.end(), is_it) ||
         std::any_of(open.begin(), open.end(), is_it);
}

Job read_job(std::string_view text, std::string_view file) {
  Job job;
  LogReader log(job);
  ScriptReader script(text, job);
  std::string version;
  for (const Line& line : lines_of(text)) {
    job.lines = line.text.empty() ? job.lines : line.number;  // no line after the last newline
    const Cited at{std::string(file), line.number,
                   std::string(trim(line.text).substr(0, kLongestCitation))};
    const auto entry = log_line(line.text);
    if (entry) log.read(*entry, at);
    if ((entry && entry->is_warning) || is_warning_of_torch(line.text)) job.warnings.push_back(at);
    if (is_telling(line.text)) {
      const bool has_process = entry && !entry->host.empty();
      job.messages.push_back({has_process ? entry->host + ":" + entry->pid : "", at});
    }
    if (entry) continue;
    if (const auto bare = bare_version(line.text); !bare.empty()) version = bare;
    script.read(line.text, at);
  }
  script.finish();
  for (NcclProcess& process : job.processes)
    if (process.version.empty()) process.version = version;
  return job;
}

void append(Job& job, Job more) {
  std::move(more.variables.begin(), more.variables.end(), std::back_inserter(job.variables));
  std::move(more.open.begin(), more.open.end(), std::back_inserter(job.open));
  std::move(more.unset.begin(), more.unset.end(), std::back_inserter(job.unset));
  std::move(more.sourced.begin(), more.sourced.end(), std::back_inserter(job.sourced));
  std::move(more.memlock.begin(), more.memlock.end(), std::back_inserter(job.memlock));
  std::move(more.processes.begin(), more.processes.end(), std::back_inserter(job.processes));
  std::move(more.messages.begin(), more.messages.end(), std::back_inserter(job.messages));
  std::move(more.warnings.begin(), more.warnings.end(), std::back_inserter(job.warnings));
  if (!job.nodes) job.nodes = more.nodes;
  job.lines += more.lines;
}

bool version_before(std::string_view version, unsigned major, unsigned minor) {
  const auto dot = version.find('.');
  const unsigned found_major = number_at(version, 0).value_or(0);
  const unsigned found_minor =
      dot == std::string_view::npos ? 0 : number_at(version, dot + 1).value_or(0);
  return found_major < major || (found_major == major && found_minor < minor);
}

}  // namespace weir::readers

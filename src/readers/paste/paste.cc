#include "readers/paste/paste.h"

#include <algorithm>
#include <array>
#include <iterator>
#include <map>
#include <set>
#include <utility>

#include <fmt/format.h>

#include "base/text.h"
#include "readers/paste/loops.h"
#include "readers/paste/notes/notes.h"
#include "readers/paste/paste_counted.h"
#include "readers/paste/paste_tools.h"
#include "readers/paste/rows/rows_tools.h"
#include "readers/paste/text_lines.h"
#include "readers/paste/words/hearsay.h"

namespace weir::readers {
namespace {

/// The longest text of a line that is kept.
constexpr std::size_t kLongestCitation = 400;

/// In the order in which they are asked: those with a heading of their own before those that know
/// single lines.
constexpr auto kTools = std::to_array<PasteTool>({
    {"deltas of counters", begins_deltas, read_deltas},
    {"a diff of counters", begins_diff, read_diff},
    {"ECN files", begins_ecn_roles, read_ecn_roles},
    {"ethtool -S", begins_statistics, read_statistics},
    {"JSON of a tool", begins_json, read_json},
    {"metrics", begins_metrics, read_metrics},
    {"rates over time", begins_rates, read_rates},
    {"gNMI", begins_gnmi, read_gnmi},
    {"settings of devices", begins_setting_rows, read_setting_rows},
    {"settings of several hosts", begins_fleet, read_fleet},
    {"bonding", begins_bonding, read_bonding},
    {"mlnx_qos", begins_mlnx_qos, read_mlnx_qos},
    {"ethtool", begins_ethtool, read_ethtool},
    {"ethtool -i", begins_ethtool_driver, read_ethtool_driver},
    {"ethtool -m", begins_ethtool_module, read_ethtool_module},
    {"optics", begins_optics, read_optics},
    {"LLDP neighbours", begins_lldp, read_lldp},
    {"BGP sessions", begins_sessions, read_sessions},
    {"CONFIG_DB", begins_config_db, read_config_db},
    {"queuing policy", begins_queuing_policy, read_queuing_policy},
    {"ECN profile", begins_ecn_profile, read_ecn_profile},
    {"a switch's log", begins_watchdog_log, read_watchdog_log},
    {"nicctl show qos", begins_nicctl, read_nicctl},
    {"dcb", begins_dcb, read_dcb},
    {"lldptool", begins_lldptool, read_lldptool},
    {"show_gids", begins_show_gids, read_show_gids},
    {"ibdev2netdev", begins_ibdev2netdev, read_ibdev2netdev},
    {"ibv_devinfo", begins_devinfo, read_devinfo},
    {"ibstatus", begins_ibstatus, read_ibstatus},
    {"ibstat", begins_ibstat, read_ibstat},
    {"facts of a port", begins_port_facts, read_port_facts},
    {"mlxlink", begins_mlxlink, read_mlxlink},
    {"mlxconfig", begins_mlxconfig, read_mlxconfig},
    {"mlxreg", begins_mlxreg, read_mlxreg},
    {"nvidia-smi topo", begins_topology, read_topology},
    {"use of the GPUs", begins_gpu_use, read_gpu_use},
    {"use of the CPUs", begins_cpu_use, read_cpu_use},
    {"ping", begins_ping, read_ping},
    {"tracepath", begins_tracepath, read_tracepath},
    {"traceroute", begins_traceroute, read_traceroute},
    {"date", begins_date, read_date},
    {"rdma statistic", begins_rdma_statistic, read_rdma_statistic},
    {"rdma link", begins_rdma_link, read_rdma_link},
    {"rdma resource", begins_rdma_resource, read_rdma_resource},
    {"ip", begins_ip, read_ip},
    {"netstat -i", begins_interface_table, read_interface_table},
    {"PCIe widths", begins_link_widths, read_link_widths},
    {"ip addr", begins_addresses, read_addresses},
    {"neighbours", begins_stations, read_stations},
    {"ip route", begins_routes, read_routes},
    {"lspci", begins_lspci, read_lspci},
    {"the kernel's log", begins_kernel_log, read_kernel_log},
    {"nccl-tests", begins_nccl_tests, read_nccl_tests_part},
    {"perftest", begins_perftest, read_perftest_part},
    {"tcpdump", begins_tcpdump, read_tcpdump},
    {"tshark", begins_tshark, read_tshark},
    {"files of devices", begins_device_files, read_device_files},
    {"rows of devices", begins_device_rows, read_device_rows},
    {"hash seed", begins_seed, read_seed},
    {"files of the kernel", begins_sysfs, read_sysfs},
    {"trust", begins_trust, read_trust},
    {"traffic class", begins_tos, read_tos},
    {"ulimit", begins_limits, read_limits},
    {"sysctl", begins_sysctl, read_sysctl},
    {"lsmod", begins_lsmod, read_lsmod},
    {"counters", begins_counter_list, read_counter_list},
});

/// What show commands of every system print beside what the readers of switches know.
constexpr auto kShowTools = std::to_array<PasteTool>({
    {"optics", begins_optics, read_optics},
    {"LLDP neighbours", begins_lldp, read_lldp},
    {"BGP sessions", begins_sessions, read_sessions},
    {"queuing policy", begins_queuing_policy, read_queuing_policy},
    {"CONFIG_DB", begins_config_db, read_config_db},
    {"classifier", begins_classifier, read_classifier},
    {"RoCE mode", begins_roce_mode, read_roce_mode},
    {"lossless classes", begins_pause_class, read_pause_class},
    {"lossless queues", begins_lossless_queue, read_lossless_queue},
    {"ECN profile", begins_ecn_profile, read_ecn_profile},
    {"a switch's log", begins_watchdog_log, read_watchdog_log},
    {"use of a channel's members", begins_members, read_members},
    {"hash of a channel", begins_hash, read_hash},
    {"hash seed", begins_seed, read_seed},
    {"schedulers", begins_scheduler, read_scheduler},
    {"classification", begins_sorting, read_sorting},
});

bool is_job_line(std::string_view text) {
  return text.find("NCCL INFO ") != std::string_view::npos ||
         text.find("NCCL WARN ") != std::string_view::npos ||
         text.find("NCCL TRACE ") != std::string_view::npos;
}

/// Says nothing: blank, a rule, the end of a command.
bool is_filler(std::string_view text) {
  return text.empty() || is_rule(text) || (text.starts_with("[exit ") && text.ends_with(']'));
}

/// Programs that print what others wrote: files, logs, a job, an answer in words.
bool prints_words(std::string_view program) {
  constexpr auto kPrograms = std::to_array<std::string_view>(
      {"cat",     "tail",     "head",     "grep",       "egrep",  "zgrep",     "zcat",
       "less",    "more",     "sed",      "awk",        "cut",    "sort",      "uniq",
       "echo",    "printf",   "dmesg",    "journalctl", "bash",   "sh",        "zsh",
       "python",  "python3",  "torchrun", "deepspeed",  "srun",   "sbatch",    "scontrol",
       "mpirun",  "mpiexec",  "kubectl",  "docker",     "podman", "ansible",   "pdsh",
       "clush",   "ssh",      "for",      "while",      "env",    "export",    "set",
       "dig",     "nslookup", "host",     "getent",     "curl",   "wget",      "systemctl",
       "service", "modprobe", "insmod",   "vi",         "vim",    "nano",      "diff",
       "watch",   "time",     "tee",      "sudo",       "ls",     "nvidia-smi"});
  return program.find('/') != std::string_view::npos || program.ends_with(".sh") ||
         program.ends_with(".py") ||
         std::find(kPrograms.begin(), kPrograms.end(), program) != kPrograms.end();
}

/// What a filter let through is pieces that people chose to show; and what switches say of
/// balancing per packet is understood as words (diagnose/paste/stated.cc).
bool is_left_to_words(std::string_view command) {
  for (const std::string_view part :
       {"grep ", "| include", "| match", "| awk", "| nz", "adaptive-routing", "load-balanc"})
    if (command.find(part) != std::string_view::npos) return true;
  return false;
}

/// A statement that only a switch's configuration has, at the beginning of its line.
bool is_config_line(std::string_view text) {
  constexpr auto kStarts = std::to_array<std::string_view>(
      {"interface Ethernet", "interface Port-Channel", "interface port-channel", "qos map dscp ",
       "qos profile ", "policy-map type ", "class-map type ", "set class-of-service ",
       "set interfaces et-", "nv set "});
  return std::any_of(kStarts.begin(), kStarts.end(),
                     [&](std::string_view start) { return text.starts_with(start); });
}

/// "show running-config …", "show run int …", "show configuration …", "nv config show".
bool shows_config(const Mark& mark) {
  const auto has = [&](std::string_view start) {
    return std::any_of(mark.words.begin(), mark.words.end(),
                       [&](const std::string& word) { return word.starts_with(start); });
  };
  return mark.is_switch && (has("run") || has("configuration") || has("startup-config") ||
                            (mark.tool() == "nv" && has("config")));
}

/// Words of a person, not of a tool: no columns, no colons at the end of names, few numbers.
bool is_sentence(std::string_view text) {
  constexpr std::size_t kFewest = 5;
  const auto words = words_of(text);
  if (words.size() < kFewest || text.find("  ") != std::string_view::npos ||
      text.find('\t') != std::string_view::npos)
    return false;
  const auto is_plain = [](std::string_view word) {
    return std::all_of(word.begin(), word.end(), [](char c) {
      return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '\'' || c == ',' ||
             c == '.' || c == '-' || c == '?' || c == '!';
    });
  };
  const auto plain = std::count_if(words.begin(), words.end(), is_plain);
  return static_cast<std::size_t>(plain) * 4 >= words.size() * 3;
}

/// Words with names and numbers among them: most begin with a small letter, and no columns.
bool is_remark(std::string_view text) {
  constexpr std::size_t kFewest = 5;
  const auto words = words_of(text);
  if (words.size() < kFewest || text.find("  ") != std::string_view::npos ||
      text.find('\t') != std::string_view::npos || text.find('|') != std::string_view::npos)
    return false;
  const auto plain = std::count_if(words.begin(), words.end(), [](std::string_view word) {
    return std::all_of(word.begin(), word.end(), [](char c) {
      return (c >= 'a' && c <= 'z') || c == ',' || c == '.' || c == '\'' || c == '-' || c == ':' ||
             c == '(' || c == ')';
    });
  });
  return static_cast<std::size_t>(plain) * 2 >= words.size();
}

/// "cat /sys/…" of "clush -b -w gpu[01-04] cat /sys/…": behind the options and their values.
std::string_view behind_options(std::string_view command) {
  constexpr auto kWithValue =
      std::to_array<std::string_view>({"-w", "-g", "-x", "-h", "-H", "-f", "-t", "-l", "-u", "-p"});
  const auto words = words_of(command);
  std::size_t at = 1;
  while (at < words.size() && words[at].starts_with('-'))
    at += std::find(kWithValue.begin(), kWithValue.end(), words[at]) != kWithValue.end() ? 2 : 1;
  return at < words.size()
             ? command.substr(static_cast<std::size_t>(words[at].data() - command.data()))
             : std::string_view();
}

/// `mlnx_qos -i rail0 | grep enabled` of `clush -w gpu[1-4] "mlnx_qos -i rail0 | grep enabled"`:
/// what a parallel shell ran on each host. Of several commands nobody knows which printed a line.
Mark inner_mark(const Mark& mark) {
  constexpr auto kShells =
      std::to_array<std::string_view>({"clush", "pdsh", "pssh", "parallel-ssh", "ansible"});
  if (std::find(kShells.begin(), kShells.end(), mark.tool()) == kShells.end()) return {};
  const std::string_view command = mark.command;
  const std::size_t open = command.find_first_of("\"'");
  const std::size_t close =
      open == std::string_view::npos ? open : command.find(command[open], open + 1);
  if (open != std::string_view::npos && close == std::string_view::npos) return {};
  const std::string_view inner = open == std::string_view::npos
                                     ? behind_options(command)
                                     : command.substr(open + 1, close - open - 1);
  if (inner.find(';') != std::string_view::npos) return {};
  auto found = mark_of(fmt::format("$ {}", inner));
  if (!found) return {};
  found->host.clear();
  return std::move(*found);
}

/// One file, cut into lines and marks once, read twice.
struct PlainFile {
  std::string name;
  std::string_view text;
  PlainText plain;
  std::map<std::size_t, Mark> marks;                // by line
  std::map<std::size_t, std::string> devices = {};  // by the line from which on a loop is at them
  std::map<int, std::string> reported = {};  // by number: lines with sentences that say nothing
                                             // of what is (hearsay.h), without these
  std::vector<Line> hearsay = {};            // lines that are nothing else, as they were written
  bool is_document = false;                  // its words are about fabrics in general
};

/// "mlx5_3" alone in a line, as loops print it in front of each output. In a list of names it is an
/// answer, not a heading.
void mark_lone_devices(PlainFile& out) {
  const auto& lines = out.plain.lines;
  const auto is_alone = [&](std::size_t at) {
    if (at >= lines.size()) return false;
    std::string_view text = trim(lines[at].text);
    if (text.ends_with(':')) text.remove_suffix(1);
    return is_rdma_name(text) && text.find_first_of(" \t/=:") == std::string_view::npos;
  };
  for (std::size_t at = 0; at + 1 < lines.size(); ++at) {
    if (!is_alone(at) || out.marks.contains(at) || out.marks.contains(at + 1)) continue;
    const bool is_listed = is_alone(at + 1) || (at > 0 && is_alone(at - 1));
    if (is_listed || trim(lines[at + 1].text).empty()) continue;
    Mark mark;
    mark.device = trim(lines[at].text);
    out.marks.emplace(at, std::move(mark));
  }
}

/// The name that a loop makes of its variable: "rail5" of "rail$i" or "rail${i}" for 5; empty where
/// it makes none of a device.
std::string name_of_turn(std::string_view command, std::string_view variable,
                         std::string_view value) {
  const auto is_part = [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '_';
  };
  for (const std::string& sign : {fmt::format("${{{}}}", variable), fmt::format("${}", variable)}) {
    for (std::size_t at = command.find(sign); at != std::string_view::npos;
         at = command.find(sign, at + 1)) {
      std::size_t begin = at;
      while (begin > 0 && is_part(command[begin - 1]))
        --begin;
      std::size_t end = at + sign.size();
      while (end < command.size() && is_part(command[end]))
        ++end;
      std::string name = fmt::format("{}{}{}", command.substr(begin, at - begin), value,
                                     command.substr(at + sign.size(), end - at - sign.size()));
      if (is_rdma_name(name) || is_netdev_name(name)) return name;
    }
  }
  return {};
}

/// The names in `for d in ens1 ens2; do …`, `for i in 5 6; do … rail$i` and `for d in mlx5_{0..7}`;
/// empty for another loop.
std::vector<std::string> names_of_loop(const Mark& mark) {
  const auto& words = mark.words;
  std::vector<std::string> out;
  if (mark.tool() != "for" || words.size() < 4 || words[2] != "in") return out;
  for (std::size_t i = 3; i < words.size() && words[i] != "do"; ++i) {
    std::string word = words[i];
    while (word.ends_with(';'))
      word.pop_back();
    for (const std::string& value : values_of(word)) {
      const bool is_name = is_rdma_name(value) || is_netdev_name(value);
      std::string name = is_name ? value : name_of_turn(mark.command, words[1], value);
      if (name.empty()) return {};
      out.push_back(std::move(name));
    }
    if (words[i].ends_with(';')) break;
  }
  return out;
}

/// A loop that prints no names: the key of its first line comes again for each of them.
void note_loops(PlainFile& out) {
  const auto& lines = out.plain.lines;
  for (auto mark = out.marks.begin(); mark != out.marks.end(); ++mark) {
    const auto names = names_of_loop(mark->second);
    if (names.size() < 2 || mark->second.command.find("echo") != std::string::npos) continue;
    const auto next = std::next(mark);
    const std::size_t end = next == out.marks.end() ? lines.size() : next->first;
    std::string_view key;
    std::vector<std::size_t> begins;
    for (std::size_t at = mark->first + 1; at < end; ++at) {
      const auto pair = key_value(trim(lines[at].text));
      if (key.empty() && pair) key = pair->key;
      if (pair && pair->key == key) begins.push_back(at);
    }
    if (begins.size() != names.size()) continue;
    for (std::size_t i = 0; i < names.size(); ++i)
      out.devices.emplace(begins[i], names[i]);
  }
}

/// A loop over hosts: the line with a host's name stands for a prompt on it and the command.
void mark_turns(PlainFile& out) {
  const auto& lines = out.plain.lines;
  std::map<std::size_t, Mark> turns;
  for (auto mark = out.marks.begin(); mark != out.marks.end(); ++mark) {
    const auto loop = host_loop(mark->second);
    if (!loop) continue;
    // Headings between may be what the loop printed.
    const auto next = std::find_if(std::next(mark), out.marks.end(),
                                   [](const auto& other) { return !other.second.words.empty(); });
    const std::size_t end = next == out.marks.end() ? lines.size() : next->first;
    for (std::size_t at = mark->first + 1; at < end; ++at) {
      const std::string_view name = name_of_turn_line(lines[at].text);
      if (std::find(loop->hosts.begin(), loop->hosts.end(), name) == loop->hosts.end()) continue;
      std::string prompt = fmt::format("admin@{}:~$ {}", name, loop->command);
      auto turn = mark_of(prompt);
      if (!turn) continue;
      turn->turn = std::move(prompt);
      turns.insert_or_assign(at, std::move(*turn));
    }
  }
  for (auto& [at, turn] : turns)
    out.marks.insert_or_assign(at, std::move(turn));
}

/// Sentences that report nothing are kept from the readers; lines that say when or of what numbers
/// were read still reach them.
void set_hearsay_apart(PlainFile& out) {
  const auto lines = lines_of(out.text);
  std::vector<std::string_view> texts;
  for (const Line& line : lines)
    texts.push_back(line.text);
  out.is_document = is_document(texts);
  std::vector<std::string> reported = without_hearsay(texts);
  std::map<int, std::string_view> apart;
  for (std::size_t i = 0; i < lines.size(); ++i) {
    if (reported[i] == texts[i]) continue;
    if (trim(reported[i]).empty()) apart.emplace(lines[i].number, texts[i]);
    out.reported.emplace(lines[i].number, std::move(reported[i]));
  }
  for (PasteLine& line : out.plain.lines) {
    const auto found = apart.find(line.number);
    if (found == apart.end() || trim(found->second).empty()) continue;
    const std::string_view text = trim(line.text);
    const bool is_context = text.ends_with(':') || told_above(text).is_window ||
                            wait_of_line(text) || time_of_line(text) || mark_of(text);
    if (is_context) continue;
    out.hearsay.push_back({line.number, trim(found->second)});
    line.text = {};
  }
}

PlainFile plain_file(const PastedFile& file) {
  PlainFile out;
  out.name = file.name;
  out.text = file.text;
  out.plain = plain_text(file.text);
  set_hearsay_apart(out);
  const auto& lines = out.plain.lines;
  for (std::size_t at = 0; at < lines.size(); ++at) {
    if (auto mark = mark_of(lines[at].text)) out.marks.emplace(at, std::move(*mark));
    // clush -b: a name between two rules
    const bool is_framed = at > 0 && at + 1 < lines.size() && is_rule(lines[at - 1].text) &&
                           is_rule(lines[at + 1].text) && !out.marks.contains(at);
    if (!is_framed) continue;
    if (auto mark = mark_of(fmt::format("== {} ==", trim(lines[at].text))))
      out.marks.emplace(at, std::move(*mark));
  }
  mark_turns(out);
  mark_lone_devices(out);
  note_loops(out);
  return out;
}

/// Whose counters were cleared in a text. Looked for once: it may have thousands of switches.
struct Cleared {
  bool is_everywhere = false;
  bool keeps_interfaces = false;
  std::set<std::string_view> hosts;
};

/// "Site plan (intended):", "target values": what follows is how it ought to be, and no reading.
/// A sentence that says that it is so ("as planned") or that asks for a comparison announces none.
bool announces_plan(std::string_view line) {
  constexpr auto kPlans = std::to_array<std::string_view>(
      {"plan", "planned", "intended", "target", "desired", "wanted", "expected", "reference"});
  constexpr auto kReadings = std::to_array<std::string_view>(
      {"as", "actual", "found", "measured", "got", "output", "reads", "vs", "versus", "against",
       "compare", "see", "seen", "now", "not", "differs", "unexpected", "after", "before"});
  constexpr std::size_t kMost = 8;  // words
  const std::string lower = lower_case(trim(line));
  const auto words = words_of(lower);
  if (words.empty() || words.size() > kMost) return false;
  const std::size_t colon = lower.find(':');
  if (colon != std::string::npos && colon + 1 != lower.size()) return false;
  const auto has = [&](const auto& list) {
    return std::any_of(words.begin(), words.end(), [&](std::string_view word) {
      while (!word.empty() && std::string_view("():,;.#*=-\"").find(word.front()) != word.npos)
        word.remove_prefix(1);
      while (!word.empty() && std::string_view("():,;.#*=-\"").find(word.back()) != word.npos)
        word.remove_suffix(1);
      return std::find(list.begin(), list.end(), word) != list.end();
    });
  };
  return has(kPlans) && !has(kReadings);
}

class FileReader {
 public:
  FileReader(const PlainFile& file, Paste& paste, PasteHosts& hosts)
      : file_(file), lines_(file.plain.lines), sink_(paste, hosts, file.name), paste_(paste) {}

  void run() {
    std::string_view prefix;
    for (std::size_t at = 0; at < lines_.size();) {
      if (lines_[at].host != prefix) {
        prefix = lines_[at].host;
        sink_.use_host(prefix);
        mark_ = prefix.empty() ? Mark() : inner_;
      }
      const auto mark = file_.marks.find(at);
      if (mark != file_.marks.end()) {
        at = follow(mark->second, at);
        continue;
      }
      if (const auto device = file_.devices.find(at); device != file_.devices.end())
        mark_.device = device->second;
      const std::string_view text = trim(lines_[at].text);
      if (is_in_plan(text)) {
        rest_.push_back(at++);
        continue;
      }
      const bool is_nothing = is_filler(text) || is_job_line(text);
      if (is_rule(text)) rest_.push_back(at);  // a blank line in its place would end a table
      at += is_nothing ? 1 : read_at(at);
    }
    note_outputs();
    read_switches();
    for (const Section& section : sections_)
      if (!section.mark->is_switch) note_unread(section);
    keep_hearsay();
  }

 private:
  /// Nothing was read of it, and its words are worth a search as those of others are.
  void keep_hearsay() {
    const auto begin = paste_.rest.end() - static_cast<std::ptrdiff_t>(cited_);
    const auto is_before = [](const Cited& a, const Cited& b) { return a.line < b.line; };
    std::vector<Cited> own(std::make_move_iterator(begin),
                           std::make_move_iterator(paste_.rest.end()));
    paste_.rest.erase(begin, paste_.rest.end());
    for (const Line& line : file_.hearsay)
      own.push_back(sink_.cite({line.number, {}, line.text, {}}));
    std::stable_sort(own.begin(), own.end(), is_before);
    std::move(own.begin(), own.end(), std::back_inserter(paste_.rest));
  }

  /// From its heading to the first blank line behind a value: the next command ends it too.
  bool is_in_plan(std::string_view text) {
    if (announces_plan(text)) {
      plan_lines_ = 1;
    } else if (text.empty() && plan_lines_ > 1) {
      plan_lines_ = 0;
    } else if (!text.empty() && plan_lines_ > 0) {
      ++plan_lines_;
    }
    return plan_lines_ > 0 && !text.empty();
  }

  /// The lines below a command.
  struct Section {
    const Mark* mark = nullptr;
    std::size_t begin = 0;
    std::size_t end = 0;
  };
  using SectionsOfHost = std::vector<const Section*>;  // of one switch, never empty

  /// Each output once more, for what is noted beside its reader.
  void note_outputs() {
    const std::string sticky = sink_.host();
    const Mark none;
    const Mark* mark = &none;
    std::string host;
    for (std::size_t at = 0; at < lines_.size();) {
      if (const auto found = file_.marks.find(at); found != file_.marks.end()) {
        const bool is_heading = found->second.words.empty();
        if (!found->second.host.empty()) host = found->second.host;
        if (!is_heading) mark = &found->second;
        ++at;
        continue;
      }
      const auto next = file_.marks.upper_bound(at);
      const std::size_t limit = next == file_.marks.end() ? lines_.size() : next->first;
      std::size_t end = at + 1;
      while (end < limit && lines_[end].host == lines_[at].host)
        ++end;
      sink_.use_host(lines_[at].host.empty() ? std::string_view(host) : lines_[at].host);
      sink_.begin_section();
      if (note_output({{&lines_[at], end - at}, *mark}, sink_) > 0) taken_.insert(at);
      at = end;
    }
    sink_.use_host(sticky);
  }

  /// The end of what belongs together: the next mark, or another host's lines.
  [[nodiscard]] std::size_t section_end(std::size_t at) {
    if (at >= section_begin_ && at < section_end_) return section_end_;
    const auto next = file_.marks.upper_bound(at);
    const auto device = file_.devices.upper_bound(at);
    std::size_t limit = next == file_.marks.end() ? lines_.size() : next->first;
    if (device != file_.devices.end()) limit = std::min(limit, device->first);
    std::size_t end = at + 1;
    while (end < limit && lines_[end].host == lines_[at].host)
      ++end;
    section_begin_ = at;
    section_end_ = end;
    return end;
  }

  std::size_t follow(const Mark& mark, std::size_t at) {
    plan_lines_ = announces_plan(lines_[at].text) ? 1 : 0;
    sink_.begin_section();
    if (mark.words.empty()) {
      sink_.told.device.clear();  // of deltas by device: what is said of the numbers holds on
    } else {
      sink_.told = {};
    }
    if (mark.is_switch) {
      if (!mark.turn.empty()) prompts_.emplace(at, mark.turn);
      const std::size_t end = section_end(at);
      sections_.push_back({&mark, at + 1, end});
      read_show_parts(mark, at + 1, end);
      return end;
    }
    if (!mark.words.empty()) sections_.push_back({&mark, at + 1, section_end(at)});
    // A heading that names a host or a device holds for the commands below it.
    std::string device = mark.device;
    if (device.empty() && mark.words.empty() && mark.host.empty()) device = mark_.device;
    if (!mark.host.empty()) sink_.use_host(mark.host);
    if (!mark.host.empty() && mark.words.empty()) headings_.push_back(at);
    if (mark.entered) entered_[sink_.host()] = *mark.entered;
    const std::string_view tool = mark.tool();
    const bool shows_files = tool == "grep" || tool == "cat" || tool == "head" || tool == "tail" ||
                             tool == "for" || tool == "paste";
    if (device.empty() && shows_files) device = entered_[sink_.host()];
    // The name of a device within an output: the command above goes on.
    const bool is_device = mark.words.empty() && mark.host.empty() && !mark.device.empty();
    if (!is_device) mark_ = mark;
    if (!mark.words.empty()) inner_ = inner_mark(mark);
    mark_.device = std::move(device);
    PasteTime time = sink_.hosts().time();
    time.interval = mark.waited ? mark.waited : std::exchange(told_wait_, std::nullopt);
    if (lines_[at].second) time.second = lines_[at].second;
    if (mark.second) time.second = mark.second;
    sink_.hosts().set_time(time);
    return at + 1;
  }

  /// By the first tool that knows the line; how many lines were dealt with.
  std::size_t read_at(std::size_t at) {
    if (const auto waited = wait_of_line(lines_[at].text)) {
      told_wait_ = waited;
      PasteTime time = sink_.hosts().time();
      time.interval = waited;
      sink_.hosts().set_time(time);
      sink_.begin_section();
      rest_.push_back(at);
      return 1;
    }
    const PasteAt here{{&lines_[at], section_end(at) - at}, mark_};
    for (const PasteTool& tool : kTools) {
      if (!tool.begins(here)) continue;
      sink_.detail.clear();
      sink_.device.clear();
      const std::size_t taken = std::min(tool.read(here, sink_), here.lines.size());
      if (taken == 0) continue;
      add_part(tool, at, taken);
      taken_.insert(at);
      const bool is_list = tool.read == read_counter_list || tool.read == read_deltas;
      if (!is_list && tool.read != read_date) sink_.told = {};
      // The time may be that of switches.
      if (time_of_line(here.line(0))) times_.push_back(at);
      return taken;
    }
    sink_.told = told_above(here.line(0));
    rest_.push_back(at);
    return 1;
  }

  /// The lines below a show command that are the same on every system. The reader of the switch's
  /// system gets them too.
  void read_show_parts(const Mark& mark, std::size_t begin, std::size_t end) {
    const std::string host = sink_.host();
    sink_.use_host(mark.host);
    if (begin < end) {
      note_port_rates({{&lines_[begin], end - begin}, mark}, sink_);
      note_balancing({{&lines_[begin], end - begin}, mark}, sink_);
      note_curves({{&lines_[begin], end - begin}, mark}, sink_);
    }
    for (std::size_t at = begin; at < end;) {
      const PasteAt here{{&lines_[at], end - at}, mark};
      std::size_t taken = 0;
      for (const PasteTool& tool : kShowTools) {
        if (!tool.begins(here)) continue;
        sink_.detail.clear();
        sink_.device.clear();
        taken = std::min(tool.read(here, sink_), here.lines.size());
        if (taken == 0) continue;
        add_part(tool, at, taken);
        taken_.insert(begin);
        for (std::size_t line = at; line < at + taken; ++line)
          shown_.insert(line);
        break;
      }
      at += std::max<std::size_t>(taken, 1);
    }
    sink_.use_host(host);
  }

  void add_part(const PasteTool& tool, std::size_t at, std::size_t taken) {
    PastePart part;
    part.tool = tool.name;
    part.detail = sink_.detail;
    part.host = sink_.host();
    part.device = sink_.device;
    part.file = file_.name;
    part.first = lines_[at].number;
    part.last = lines_[at + taken - 1].number;
    const bool is_one = part.tool == "lspci" || part.tool == "the kernel's log" ||
                        part.tool == "a switch's log" || part.tool == "optics" ||
                        part.tool == "files of devices";
    if (is_one && !paste_.parts.empty()) {
      PastePart& last = paste_.parts.back();
      const bool goes_on = last.tool == part.tool && last.host == part.host &&
                           last.file == part.file && last.last + 3 > part.first;
      if (goes_on) {
        last.last = part.last;
        return;
      }
    }
    paste_.parts.push_back(std::move(part));
  }

  /// These lines with their numbers, counted from `number`: everything else is blank.
  [[nodiscard]] std::string text_of(std::vector<std::size_t> wanted, int number = 1) const {
    std::string text;
    std::sort(wanted.begin(), wanted.end(),
              [&](std::size_t a, std::size_t b) { return lines_[a].number < lines_[b].number; });
    for (const std::size_t at : wanted) {
      const PasteLine& line = lines_[at];
      text.append(static_cast<std::size_t>(std::max(0, line.number - number)), '\n');
      const auto prompt = prompts_.find(at);
      text += prompt == prompts_.end() ? line.text : std::string_view(prompt->second);
      number = line.number;
    }
    return text;
  }

  /// Whether a show command printed something that its reader knows.
  [[nodiscard]] bool says_something(const Section& section, const Reader* reader) const {
    if (reader == nullptr) return false;
    std::vector<std::size_t> own;
    for (std::size_t at = section.begin - 1; at < section.end; ++at)
      own.push_back(at);
    // Its numbers are not used: without the blank lines in front it is as long as the section.
    const int first = lines_[own.front()].number;
    const auto read = reader->read(text_of(std::move(own), first), file_.name);
    if (!read || !read->unread.empty() || !read->evidence.snapshots.empty())
      return read.has_value();
    return std::any_of(read->evidence.switches.begin(), read->evidence.switches.end(),
                       [](const evidence::Switch& item) {
                         evidence::Switch nothing;
                         nothing.name = item.name;
                         nothing.platform = item.platform;
                         return !(item == nothing);
                       });
  }

  /// Something was printed, and it is not the time.
  [[nodiscard]] bool has_line(const Section& section) const {
    bool is_there = false;
    for (std::size_t at = section.begin; at < section.end; ++at) {
      const std::string_view text = trim(lines_[at].text);
      if (time_of_line(text)) return false;
      is_there = is_there || !is_filler(text);
    }
    return is_there;
  }

  /// A command of a host of which nothing was read. What shows files, runs a job or asks a name
  /// server prints words, and so does a tool that refuses.
  void note_unread(const Section& section) {
    std::vector<std::size_t> left;
    for (std::size_t at = section.begin; at < section.end; ++at) {
      const std::string_view text = trim(lines_[at].text);
      if (taken_.contains(at) || is_job_line(text)) return;
      if (is_filler(text)) continue;
      // Words behind a blank line are a person's again.
      const bool is_behind_blank = at > section.begin && trim(lines_[at - 1].text).empty();
      if (is_sentence(text) || (is_behind_blank && is_remark(text))) break;
      left.push_back(at);
    }
    constexpr std::size_t kRefusal = 2;  // lines
    const std::string_view tool = section.mark->tool();
    if (left.empty() || prints_words(tool) || is_left_to_words(section.mark->command) ||
        (is_read_tool(tool) && left.size() <= kRefusal))
      return;
    add_not_read(section, left.front(), left.back());
  }

  void add_not_read(const Section& section, std::size_t first, std::size_t last) {
    constexpr std::size_t kLongest = 60;
    paste_.not_read.push_back({std::string(section.mark->command.substr(0, kLongest)), file_.name,
                               lines_[first].number, lines_[last].number});
  }

  /// What switches printed: with prompts each switch by itself, since systems may differ.
  void read_switches() {
    std::vector<SectionsOfHost> hosts;  // in the order of the text
    std::map<std::string_view, std::size_t> place;
    for (const Section& section : sections_) {
      if (!section.mark->is_switch) continue;
      const auto [at, is_new] = place.try_emplace(section.mark->host, hosts.size());
      if (is_new) hosts.emplace_back();
      hosts[at->second].push_back(&section);
    }
    for (const SectionsOfHost& own : hosts)
      read_switch(own);
    std::erase_if(rest_, [this](std::size_t at) { return in_configs_.contains(at); });
    if (hosts.empty()) {
      take_config();
      std::vector<std::size_t> wanted = rest_;
      add_headings(wanted);
      // Its reader lists what it could not read.
      if (read_show(std::move(wanted)) != nullptr) rest_.clear();
    }
    std::sort(rest_.begin(), rest_.end());
    for (const std::size_t at : rest_) {
      if (is_filler(trim(lines_[at].text))) continue;
      paste_.rest.push_back(sink_.cite(lines_[at]));
      ++cited_;
    }
  }

  /// "=== leaf01 ===" above a table without a prompt: whose it is, in the form that readers of
  /// switches know.
  void add_headings(std::vector<std::size_t>& wanted) {
    for (std::size_t i = 0; i < headings_.size(); ++i) {
      const std::size_t begin = headings_[i];
      const std::size_t end = i + 1 < headings_.size() ? headings_[i + 1] : lines_.size();
      const auto first = std::upper_bound(rest_.begin(), rest_.end(), begin);
      if (first == rest_.end() || *first >= end) continue;
      prompts_.emplace(begin, fmt::format("{}# show interfaces", file_.marks.at(begin).host));
      wanted.push_back(begin);
    }
  }

  /// What is read of a switch is read with the blank lines that stand for what is before it:
  /// thousands of them in one text would be the square of it.
  bool has_room(std::size_t line) {
    constexpr std::size_t kMostBlank = std::size_t{64} << 20U;  // as a file (base/file.h)
    blank_ += static_cast<std::size_t>(std::max(0, lines_[line].number));
    return blank_ <= kMostBlank;
  }

  void add_config(std::string_view switch_name, const std::vector<std::size_t>& lines) {
    if (lines.empty()) return;
    PastePart part;
    part.tool = "configuration of a switch";
    part.host = switch_name;
    part.file = file_.name;
    part.first = lines_[lines.front()].number;
    part.last = lines_[lines.back()].number;
    paste_.parts.push_back(std::move(part));
    paste_.configs.push_back({std::string(switch_name), file_.name, text_of(lines)});
  }

  /// A configuration without prompts: from its first statement as long as lines are indented or
  /// begin like one.
  void take_config() {
    std::vector<std::size_t> own;
    std::vector<std::size_t> others;
    bool is_inside = false;
    for (const std::size_t at : rest_) {
      const std::string_view line = lines_[at].text;
      const bool is_start = is_config_line(trim(line));
      const bool goes_on = is_inside && (line.starts_with(' ') || line.starts_with('\t') ||
                                         trim(line) == "!" || trim(line).empty());
      is_inside = is_start || goes_on;
      (is_inside ? own : others).push_back(at);
    }
    constexpr std::size_t kFewest = 2;  // a single line may be a quotation
    if (own.size() < kFewest) return;
    rest_ = std::move(others);
    add_config("", own);
  }

  /// The reader that knew these lines; nullptr where none did.
  const Reader* read_show(std::vector<std::size_t> wanted) {
    wanted.insert(wanted.end(), times_.begin(), times_.end());
    const std::string text = text_of(std::move(wanted));
    const Reader* const reader = recognise(text);
    if (reader == nullptr) return nullptr;
    auto read = reader->read(text, file_.name);
    if (!read) return nullptr;
    add_switches(std::move(*read), *reader);
    return reader;
  }

  void read_switch(const SectionsOfHost& own) {
    std::vector<std::size_t> wanted;
    for (const Section* section : own)
      for (std::size_t at = section->begin - 1; at < section->end; ++at)
        wanted.push_back(at);
    // Of tables without prompts some commands are known and some are not: it is one switch.
    const bool is_only = own.front()->mark->host.empty() && own.size() == sections_.size();
    std::vector<std::size_t> all = wanted;
    if (is_only) all.insert(all.end(), rest_.begin(), rest_.end());
    blank_ += times_.size();  // they are put beside those of every switch
    const Reader* const reader = has_room(wanted.back()) ? read_show(std::move(all)) : nullptr;
    if (reader == nullptr)
      std::copy_if(wanted.begin(), wanted.end(), std::back_inserter(rest_),
                   [&](std::size_t at) { return !shown_.contains(at); });
    for (const Section* section : own)
      if (reader != nullptr) keep_remarks(*section);
    for (const Section* section : own)
      read_rest_of(*section, reader);
  }

  /// What the reader of show commands leaves: a configuration, or output that nobody reads.
  void read_rest_of(const Section& section, const Reader* reader) {
    if (!has_line(section)) return;
    if (shows_config(*section.mark) && add_config_of(section)) return;
    if (is_left_to_words(section.mark->command) || taken_.contains(section.begin) ||
        says_something(section, reader))
      return;
    const std::size_t end = begin_of_remarks(section);
    if (end == section.begin) return;
    add_not_read(section, section.begin, end - 1);
    for (std::size_t at = section.begin; reader != nullptr && at < end; ++at)
      rest_.push_back(at);
  }

  /// False where the section has no statement of a configuration.
  bool add_config_of(const Section& section) {
    std::vector<std::size_t> own;
    bool is_config = false;
    for (std::size_t at = section.begin; at < section.end; ++at) {
      own.push_back(at);
      is_config =
          is_config || is_config_line(trim(lines_[at].text)) || lines_[at].text.starts_with("   ");
    }
    if (!is_config) return false;
    if (!has_room(section.begin)) {
      add_not_read(section, section.begin, section.end - 1);
      return true;
    }
    add_config(section.mark->host, own);
    in_configs_.insert(own.begin(), own.end());
    return true;
  }

  /// Where the sentences behind the output of a show command begin: they are a person's, not the
  /// switch's.
  [[nodiscard]] std::size_t begin_of_remarks(const Section& section) const {
    std::size_t at = section.end;
    while (at > section.begin) {
      const std::string_view text = lines_[at - 1].text;
      const bool is_indented = text.starts_with(' ') || text.starts_with('\t');
      const bool is_words = !is_indented && (is_remark(text) || is_sentence(text));
      if (!trim(text).empty() && !is_words) break;
      --at;
    }
    return at;
  }
  void keep_remarks(const Section& section) {
    for (std::size_t at = begin_of_remarks(section); at < section.end; ++at)
      if (!trim(lines_[at].text).empty()) rest_.push_back(at);
  }

  /// "clear counters", "sonic-clear pfccounters", "clear interfaces statistics all"; not a table of
  /// addresses, nor the terminal.
  static bool clears_counters(const Mark& mark) {
    const auto clears = [](const std::string& word) {
      return word == "clear" || word == "sonic-clear";
    };
    const auto counts = [](const std::string& word) {
      return word.find("count") != std::string::npos || word.find("stat") != std::string::npos ||
             word == "qos";
    };
    return std::any_of(mark.words.begin(), mark.words.end(), clears) &&
           std::any_of(mark.words.begin(), mark.words.end(), counts);
  }

  /// A command cleared the counters before the first output, or a person says so: they counted from
  /// zero on.
  [[nodiscard]] bool is_cleared(std::string_view host) {
    return cleared().is_everywhere || cleared().hosts.contains(host);
  }

  const Cleared& cleared() {
    if (cleared_) return *cleared_;
    Cleared& out = cleared_.emplace();
    for (const auto& [at, mark] : file_.marks)
      if (clears_counters(mark) || (mark.command.find("cleared") != std::string::npos &&
                                    told_above(mark.command).is_cleared))
        out.hosts.insert(mark.host);
    out.is_everywhere = out.hosts.contains("") ||
                        std::any_of(lines_.begin(), lines_.end(), [](const PasteLine& line) {
                          return line.text.find("cleared") != std::string_view::npos &&
                                 told_above(trim(line.text)).is_cleared;
                        });
    out.keeps_interfaces = keeps_interfaces();
    return out;
  }

  /// SONiC clears each kind by itself (`sonic-clear pfccounters`): those of interfaces keep theirs
  /// unless they were among them.
  [[nodiscard]] bool keeps_interfaces() const {
    bool is_some = false;
    for (const auto& [at, mark] : file_.marks)
      for (const std::string_view command : commands_of(mark.command)) {
        const std::size_t found = command.find("sonic-clear ");
        if (found == std::string_view::npos) continue;
        const auto words = words_of(command.substr(found));
        if (words.size() > 1 && words[1] == "counters") return false;
        is_some = true;
      }
    return is_some;
  }

  /// One reading of counters that were cleared is a window: it begins with zeros.
  static void begin_at_zero(evidence::Evidence& evidence, bool keeps_interfaces) {
    if (evidence.snapshots.size() != 1) return;
    counters::Snapshot zero;
    for (const counters::PortCounters& port : evidence.snapshots.front().switch_ports) {
      std::vector<counters::Reading> begin;
      for (const counters::ShownName& name : port.layout()->names())
        begin.push_back(keeps_interfaces && name.name.starts_with("port.")
                            ? counters::Reading::missing(counters::Missing::kAbsent)
                            : counters::Reading::of(0));
      zero.switch_ports.push_back(port.with(std::move(begin)));
    }
    evidence.snapshots.insert(evidence.snapshots.begin(), std::move(zero));
  }

  void add_switches(Recognised read, const Reader& reader) {
    const bool is_named = read.evidence.switches.size() == 1;
    if (is_named && is_cleared(read.evidence.switches.front().name))
      begin_at_zero(read.evidence, cleared().keeps_interfaces);
    PastePart part;
    part.tool = reader.title;
    part.file = file_.name;
    std::vector<std::string> names;
    for (const evidence::Switch& item : read.evidence.switches)
      names.push_back(item.name);
    part.host = join(names, ", ");
    paste_.parts.push_back(std::move(part));
    for (Unread& unread : read.unread)
      paste_.unread.push_back({file_.name, std::move(unread)});
    paste_.evidence.push_back(std::move(read.evidence));
  }

  const PlainFile& file_;
  const std::vector<PasteLine>& lines_;
  PasteSink sink_;
  Paste& paste_;
  Mark mark_;
  Mark inner_;                     // what a parallel shell ran on each host
  std::size_t plan_lines_ = 0;     // of the plan that the text states here
  std::size_t section_begin_ = 0;  // the section that was requested last
  std::size_t section_end_ = 0;
  std::vector<std::size_t> rest_;
  std::size_t cited_ = 0;  // lines of this file in the paste's `rest`
  std::size_t blank_ = 0;  // lines in front of what was read of switches
  std::optional<Cleared> cleared_;
  std::set<std::size_t> in_configs_;
  std::set<std::size_t> taken_;  // lines at which a reader began
  std::set<std::size_t> shown_;  // of show commands: lines that are read whatever the system is
  std::vector<Section> sections_;
  std::vector<std::size_t> headings_;           // that name a host
  std::map<std::size_t, std::string> prompts_;  // by line: those of switches, as prompts
  std::vector<std::size_t> times_;
  std::optional<std::int64_t> told_wait_;       // "30 seconds later"
  std::map<std::string, std::string> entered_;  // by host: the device whose folder it is in
};

/// A longer text is a log with words around it.
constexpr int kShortText = 60;

void add_words(const PlainFile& file, Paste& paste) {
  const Printed printed(paste);
  const auto add = [&](Cited line) {
    if (printed.by(line) == nullptr) paste.words.push_back(std::move(line));
  };
  std::vector<Cited> rest;
  const auto is_of_document = [&](const Cited& line) {
    const auto reported = file.reported.find(line.line);
    return file.is_document && reported != file.reported.end() && trim(reported->second).empty();
  };
  std::copy_if(paste.rest.begin(), paste.rest.end(), std::back_inserter(rest),
               [&](const Cited& line) { return line.file == file.name && !is_of_document(line); });
  const auto lines = lines_of(file.text);
  if (rest.empty() || (!lines.empty() && lines.back().number > kShortText)) {
    for (Cited& line : rest)
      add(std::move(line));
    return;
  }
  for (const Line& line : lines)
    if (!trim(line.text).empty())
      add({file.name, line.number, std::string(trim(line.text).substr(0, kLongestCitation))});
}

void note_days(const PlainFile& file, Paste& paste) {
  for (const PasteLine& line : file.plain.lines)
    if (const auto day = day_of_line(line.text))
      paste.newest_day = std::max(paste.newest_day.value_or(*day), *day);
}

void read_job_of(const PlainFile& file, Paste& paste) {
  std::string text;
  text.reserve(file.text.size());
  std::vector<const PasteLine*> lines;  // numbers as in the file, whatever order hosts were put in
  for (const PasteLine& line : file.plain.lines)
    lines.push_back(&line);
  std::sort(lines.begin(), lines.end(),
            [](const PasteLine* a, const PasteLine* b) { return a->number < b->number; });
  for (const PasteLine* line : lines) {
    const auto reported = file.reported.find(line->number);
    text += reported == file.reported.end() ? line->text : std::string_view(reported->second);
    text += '\n';
  }
  Job job = read_job(text, file.name);
  if (!job.processes.empty() || !job.variables.empty()) {
    PastePart part;
    part.tool = job.processes.empty() ? "settings of a job" : "a log of NCCL";
    if (!job.processes.empty())
      part.detail =
          fmt::format("{} rank{}", job.processes.size(), job.processes.size() == 1 ? "" : "s");
    part.file = file.name;
    paste.parts.push_back(std::move(part));
  }
  append(paste.job, std::move(job));
}

/// Hosts that the text does not name get the name that they are shown with.
void show_hosts(Paste& paste, const PasteHosts& hosts) {
  const auto show = [&](auto&... lists) {
    const auto show_one = [&](auto& list) {
      for (auto& item : list)
        item.host = hosts.shown(item.host);
    };
    (show_one(lists), ...);
  };
  const auto show_unless_switch = [&](auto& list) {
    for (auto& item : list)
      if (!item.is_switch) item.host = hosts.shown(item.host);
  };
  show(paste.perftests, paste.collectives, paste.captures, paste.pings, paste.uses, paste.addresses,
       paste.mtus, paste.carriers, paste.routes, paste.rules, paste.rows.lanes, paste.rows.starts,
       paste.disabled, paste.port_settings, paste.gateways, paste.loops, paste.orderings,
       paste.protocols, paste.able);
  PasteNoted& noted = paste.noted;
  show(noted.bindings, noted.macs, noted.conflicts, noted.forced_fec, noted.qp_rates,
       noted.pcie_rates);
  show_unless_switch(paste.neighbours);
  show_unless_switch(noted.filters);
}

}  // namespace

// ---- what the readers use ----

std::string_view PasteAt::line(std::size_t n) const {
  return n < lines.size() ? trim(lines[n].text) : std::string_view();
}

std::string PasteSink::source(const PasteLine& line) const {
  return fmt::format("{}:{}", file_, line.number);
}

Cited PasteSink::cite(const PasteLine& line) const {
  return {file_, line.number, std::string(trim(line.text).substr(0, kLongestCitation))};
}

void PasteSink::unread(const PasteLine& line, std::string why) {
  constexpr std::size_t kMost = 200;
  paste_.unread.push_back(
      {file_, {line.number, std::string(trim(line.text).substr(0, kMost)), std::move(why)}});
}

void PasteSink::event(EventKind kind, std::string_view where, const PasteLine& line,
                      std::string lane) {
  paste_.events.push_back({kind, hosts_.shown(host_), hosts_.known_name(host_, where), cite(line),
                           false, std::move(lane)});
}

void PasteSink::switch_event(EventKind kind, std::string_view port, const PasteLine& line,
                             std::string lane) {
  const bool is_host = host_.empty();  // a text without prompts: whose port it is nobody says
  paste_.events.push_back({kind, is_host ? hosts_.shown(host_) : host_, std::string(port),
                           cite(line), !is_host, std::move(lane)});
}

bool PasteSink::has_grown(std::string_view port, std::string_view counter, std::uint64_t value) {
  Counted& known = counted_[fmt::format("{} {} {}", host_, port, counter)];
  const bool is_later = known.section > 0 && known.section < section_;
  const bool grew = is_later && value > known.value;
  if (known.section == 0 || is_later) known = {value, section_};
  return grew;
}

std::optional<KeyValue> key_value(std::string_view line) {
  const std::size_t colon = line.find(':');
  if (colon == std::string_view::npos || colon == 0) return std::nullopt;
  return KeyValue{trim(line.substr(0, colon)), trim(line.substr(colon + 1))};
}

// ---- the paste ----

std::string to_text(const PastePart& part) {
  std::string out = part.tool;
  if (!part.detail.empty()) out += fmt::format(" ({})", part.detail);
  if (!part.host.empty() || !part.device.empty()) out += " of";
  if (!part.host.empty()) out += " " + part.host;
  if (!part.device.empty()) out += " " + part.device;
  return out;
}

bool Paste::is_read(const Cited& line) const {
  const bool is_unread = std::any_of(unread.begin(), unread.end(), [&](const UnreadLine& item) {
    return item.file == line.file && item.line.line == line.line;
  });
  return !is_unread && std::any_of(parts.begin(), parts.end(), [&](const PastePart& part) {
    return part.file == line.file && part.first <= line.line && line.line <= part.last;
  });
}

Printed::Printed(const Paste& paste) {
  for (const Paste::NotRead& item : paste.not_read)
    all_.emplace(std::pair<std::string_view, int>(item.file, item.first), &item);
}

const Paste::NotRead* Printed::by(const Cited& line) const {
  // No line is below two commands.
  const auto next = all_.upper_bound({line.file, line.line});
  if (next == all_.begin()) return nullptr;
  const Paste::NotRead* const item = std::prev(next)->second;
  return item->contains(line) ? item : nullptr;
}

Paste read_paste(const std::vector<PastedFile>& files) {
  std::vector<PlainFile> plain;
  plain.reserve(files.size());
  for (const PastedFile& file : files)
    plain.push_back(plain_file(file));
  PasteHosts names;
  {
    Paste first;
    for (const PlainFile& file : plain)
      FileReader(file, first, names).run();
  }
  PasteHosts hosts = PasteHosts::after(names);
  Paste paste;
  std::vector<std::string> all;
  for (const PlainFile& file : plain) {
    FileReader(file, paste, hosts).run();
    read_job_of(file, paste);
    note_days(file, paste);
    add_words(file, paste);
    all.push_back(file.name);
  }
  show_hosts(paste, hosts);
  std::vector<evidence::Evidence> of_hosts = std::move(hosts).finish(join(all, ", "));
  paste.evidence.insert(paste.evidence.begin(), std::make_move_iterator(of_hosts.begin()),
                        std::make_move_iterator(of_hosts.end()));
  return paste;
}

bool is_device_name(std::string_view name) {
  return is_rdma_name(name);
}

std::vector<std::string> pasted_tools() {
  std::vector<std::string> out;
  for (const PasteTool& tool : kTools)
    out.emplace_back(tool.name);
  out.emplace_back("NCCL logs and environments");
  for (const Reader& reader : readers())
    out.emplace_back(reader.title);
  return out;
}

}  // namespace weir::readers

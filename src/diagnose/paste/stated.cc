#include "diagnose/paste/stated.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <charconv>
#include <cmath>
#include <map>
#include <optional>
#include <set>
#include <string>

#include <fmt/format.h>

#include "base/text.h"
#include "diagnose/paste/stated_parts.h"
#include "finding/catalog.h"
#include "readers/paste/text_lines.h"

namespace weir::diagnose {
namespace {

using readers::Word;
using readers::WordKind;

// ---- messages and settings that name one fault ----

struct Phrase {
  std::string_view first;   // in lower case
  std::string_view second;  // also in the line; may be empty
  std::string_view id;
  std::string_view verdict;
};
constexpr std::string_view kRefused =
    "The remote end refused a key or an address: the application's error.";
constexpr std::string_view kNoReceive =
    "The receiver had no receive posted, retry after retry (RNR).";
constexpr std::string_view kGidChanged = "The GID table changed while the job ran.";
constexpr std::string_view kCollector = "The collector fails on a counter that it cannot read.";
constexpr std::string_view kNoCounters = "The driver has no counters where they are looked for.";
constexpr std::string_view kNotLocked =
    "A queue could not be created: the job may not lock enough memory (ulimit -l).";
constexpr std::string_view kNoGpuMemory = "GPU memory could not be registered with the NIC.";
constexpr std::string_view kNoModule = "The GPUDirect module did not load.";
constexpr std::string_view kSocket = "NCCL_NET=Socket: the job turns RDMA off.";
constexpr std::string_view kVirtual =
    "QoS was set on a virtual function or in a pod; it belongs to the physical function.";

constexpr std::string_view kTwoHosts = "Two devices use the same IP address.";

/// What a command looks for is not what it found: "lspci -vvv | grep ReqRedir+".
bool is_searched_for(const StatedLine& line, std::string_view phrase) {
  const std::size_t search = line.lower.find("grep ");
  return search != std::string::npos && search < line.lower.find(phrase);
}

constexpr auto kStatedPhrases = std::to_array<Phrase>({
    {"srcvalid+", "", "pcie.acs_on", "A PCIe bridge has ACS on (SrcValid+)."},
    {"reqredir+", "", "pcie.acs_on", "A PCIe bridge redirects peer-to-peer requests (ReqRedir+)."},
    {"lnksta:", "downgraded", "pcie.link_degraded", "A PCIe link runs below its capability."},
    {"rem_access_err", "", "app.protocol_error", kRefused},
    {"remote access error", "", "app.protocol_error", kRefused},
    {"wc status 10", "", "app.protocol_error", kRefused},
    {"completion with status 10", "", "app.protocol_error", kRefused},
    {"rnr_retry_exc_err", "", "app.receives_too_few", kNoReceive},
    {"rnr retry", "exceeded", "app.receives_too_few", kNoReceive},
    {"async event", "port error", "link.flapping", "The link went down while the job ran."},
    {"async event", "gid table change", "gid.changed", kGidChanged},
    {"ibv_event_gid_change", "", "gid.changed", kGidChanged},
    {"ncclibrocegetversionnum", "", "gid.sparse", "NCCL read an empty entry of the GID table."},
    {"parsing \"n/a", "", "telemetry.collector_blind", kCollector},
    {"failed to read file", "/counters/", "telemetry.collector_blind", kCollector},
    {"node_scrape_collector_success 0", "", "telemetry.collector_blind", kCollector},
    {"/counters", "enoent", "telemetry.counter_absent", kNoCounters},
    {"hw_counters", "no such file", "telemetry.counter_absent", kNoCounters},
    {"failed to open libibverbs", "", "nccl.socket_fallback",
     "NCCL found no libibverbs and uses TCP."},
    {"using network socket", "", "nccl.socket_fallback", "NCCL runs over TCP."},
    {"ibv_create_cq", "cannot allocate memory", "limits.memlock_low", kNotLocked},
    {"ibv_create_qp", "cannot allocate memory", "limits.memlock_low", kNotLocked},
    {"ibv_reg_dmabuf_mr", "not supported", "gdr.off", kNoGpuMemory},
    {"ibv_reg_dmabuf_mr", "bad address", "gdr.off", kNoGpuMemory},
    {"ibv_reg_dmabuf_mr", "failed", "gdr.off", kNoGpuMemory},
    {"ibv_reg_mr", "bad address", "gdr.off", kNoGpuMemory},
    {"peermem", "unknown symbol", "gdr.off", kNoModule},
    {"peer_mem", "unknown symbol", "gdr.off", kNoModule},
    {"peermem", "invalid argument", "gdr.off", kNoModule},
    {"memory_peers/nv_mem", "no such file", "gdr.not_registered",
     "nvidia_peermem is loaded and not registered with the RDMA stack."},
    {"trust state: pcp", "", "trust.not_dscp", "The NIC trusts PCP, not DSCP."},
    {"nccl_net=socket", "", "nccl.ib_disabled", kSocket},
    {"\"nccl_net\"]=\"socket\"", "", "nccl.ib_disabled", kSocket},
    {"no socket interface found", "", "job.bad_value",
     "NCCL_SOCKET_IFNAME names no interface of this host."},
    {"rtm_setdcb", "dcb_cmd_ieee", "dcbx.two_agents",
     "An LLDP agent on the host rewrites the DCB settings of the port."},
    {"no permission to modify", "", "k8s.qos_on_vf", kVirtual},
    {"mlnx_qos", "operation not supported", "k8s.qos_on_vf", kVirtual},
    {"cmatotal: 0 kb", "nvidia", "kernel.regression",
     "The kernel has no contiguous memory area (CmaTotal 0): a build known to break RDMA."},
    {"rdma_cm_event_addr_error", "", "rail.no_route",
     "The connection manager found no route to the peer's address."},
    {"dup_srcip", "duplicate of", "address.duplicate", kTwoHosts},
    {"dup_src_ip", "duplicate", "address.duplicate", kTwoHosts},
    {"arp_duplicate_addr", "", "address.duplicate", kTwoHosts},
    {"ipv6 duplicate address", "detected!", "address.duplicate", kTwoHosts},
    {"sai_status_not_supported", "", "platform.cannot",
     "The switch's ASIC does not support the attribute."},
});

void find_phrases(const Lines& lines, Stated& out) {
  for (std::size_t i = 0; i < lines.size(); ++i) {
    for (const Phrase& phrase : kStatedPhrases)
      if (lines[i].contains(phrase.first) && lines[i].contains(phrase.second) &&
          !is_searched_for(lines[i], phrase.first))
        out.add(phrase.id, std::string(phrase.verdict), {i});
  }
}

/// What people say of files and modules without quoting them: worth a note.
void note_words(const Lines& lines, Stated& out) {
  constexpr auto kOld = std::to_array<std::string_view>(
      {" image", "container", "stale", "leftover", "forgotten", "overrides", "old ", " year"});
  constexpr auto kGone =
      std::to_array<std::string_view>({"gone", "missing", "not loaded", "empty"});
  const auto says = [](const std::string& text, const auto& words) {
    return std::any_of(words.begin(), words.end(),
                       [&](std::string_view word) { return text.find(word) != std::string::npos; });
  };
  for (std::size_t i = 0; i < lines.size(); ++i) {
    const std::string& whole = lines[i].whole;
    // That there is one is no fault: many sites set their traffic class in it.
    if (lines[i].contains("nccl.conf") && lines[i].contains("nccl_") && says(whole, kOld))
      out.note("nccl.stale_conf", "A file nccl.conf sets variables of NCCL.", {i});
    const bool is_rebooted = whole.find("after reboot") != std::string::npos ||
                             whole.find("after the reboot") != std::string::npos;
    if (is_rebooted && whole.find("peermem") != std::string::npos && says(whole, kGone))
      out.note("gdr.not_persistent",
               "The GPUDirect module is gone after a reboot: nothing loads it at boot.", {i});
  }
}

// ---- not the fabric ----

/// Messages of GPUs, storage, name service and programs that end or slow a job by themselves. What
/// the network library prints after them follows from them.
constexpr auto kForeign = std::to_array<Phrase>({
    {"nvrm: xid (", "", "", "A GPU reported an Xid error."},
    {"fallen off the bus", "", "", "A GPU fell off its PCIe bus."},
    {"double bit error", "", "", "A GPU's memory has an error that it could not correct."},
    {"cuda out of memory", "", "", "The program ran out of GPU memory."},
    {"outofmemoryerror", "", "", "The program ran out of memory."},
    {"oom-killer", "", "", "The kernel ended a process for lack of memory."},
    {"oom_kill", "", "", "The kernel ended a process for lack of memory."},
    {"out of memory: killed process", "", "", "The kernel ended a process for lack of memory."},
    {"oomkilled", "", "", "A container was ended for lack of memory."},
    {"exceeded memory limit", "", "", "A process was ended for its limit of memory."},
    {"due to time limit", "", "", "The scheduler ended the job at its time limit."},
    {"due to preemption", "", "", "The scheduler ended the job for another one."},
    {"cancelled", "due to node failure", "", "The scheduler ended the job: a node failed."},
    {"system not yet initialized", "", "", "The GPUs are not ready: the fabric manager's service."},
    {"nvidia-fabricmanager", "failed", "", "The service of the NVLink fabric does not run."},
    {"nvswitch", "sxid", "", "An NVSwitch inside a node reported an error."},
    {"driver version is insufficient", "", "", "The GPU's driver is older than CUDA needs."},
    {"permission denied (publickey", "", "", "A login over ssh was refused for its key."},
    {"host key verification failed", "", "", "A login over ssh was refused for its host key."},
    {"failedscheduling", "insufficient", "", "No node has what the pod asks for."},
    {"imagepullbackoff", "", "", "A container's image could not be fetched."},
    {"errimagepull", "", "", "A container's image could not be fetched."},
    {"certificate has expired", "", "", "A certificate has expired."},
    {"read-only file system", "", "", "A file system is read-only."},
    {"stale file handle", "", "", "A file server lost a file that was open."},
    {"kernel panic", "", "", "A host's kernel stopped."},
    {"bug: soft lockup", "", "", "A CPU of a host hung."},
    {"[hardware error]", "machine check", "", "A CPU or its memory reported an error."},
    {"no space left on device", "", "", "A file system is full."},
    {"disk quota exceeded", "", "", "A quota of a file system is used up."},
    {"i/o error, dev ", "", "", "A disk has errors."},
    {"controller is down; will reset", "", "", "A disk's controller stopped answering."},
    {"nfs: server ", "not responding", "", "A file server does not answer."},
    {"lustre", "evicted", "", "A file system's client was evicted."},
    {"temporary failure in name resolution", "", "", "A name could not be resolved (DNS)."},
    {"name or service not known", "", "", "A name could not be resolved (DNS)."},
    {"no servers could be reached", "", "", "The name server does not answer."},
    {"could not resolve host", "", "", "A name could not be resolved (DNS)."},
    {"hw thermal slowdown", ": active", "", "A GPU lowers its clock because it is too hot."},
    {"sw thermal slowdown", ": active", "", "A GPU lowers its clock because it is too hot."},
    {"hw power brake slowdown", ": active", "", "A GPU lowers its clock for lack of power."},
    {"dataloader.__next__", "", "", "The job waits for its data loader."},
    {"dataloader worker", "killed", "", "A worker of the data loader was killed."},
    {"dataloader worker", "exited", "", "A worker of the data loader ended."},
    {"traceback (most recent call last)", "", "", "The program raised an exception."},
    {"segmentation fault", "", "", "A process crashed."},
    {": segfault at ", "", "", "A process crashed."},
    {"cuda error: device-side assert", "", "", "A kernel on the GPU failed an assertion."},
});

/// Errors of the network library inside a traceback are about the network after all.
bool is_of_network(const Lines& lines) {
  return std::any_of(lines.begin(), lines.end(), [](const StatedLine& line) {
    return line.contains("ncclsystemerror") || line.contains("ncclremoteerror") ||
           line.contains("ibv_") || line.contains("nccl error");
  });
}

/// The time after a word such as "step_time": "step_time 1.92s", "step time: 812.3 ms".
std::optional<double> time_after(const std::string& text, std::string_view key) {
  for (std::size_t at = text.find(key); at != std::string::npos; at = text.find(key, at + 1)) {
    const bool is_word = at == 0 || !std::isalnum(static_cast<unsigned char>(text[at - 1]));
    const std::size_t begin = text.find_first_not_of(" :=", at + key.size());
    if (!is_word || begin == std::string::npos || begin == at + key.size()) continue;
    double value = 0;
    const auto [end, error] =
        std::from_chars(text.data() + begin, text.data() + text.size(), value);
    const char* const last = text.data() + text.size();
    if (error != std::errc() || value <= 0 || end == last) continue;
    // "step 412 data": a number, not a time
    const bool has_unit = *end == 's' || *end == 'm' ||
                          (end + 1 != last && *end == ' ' && (end[1] == 's' || end[1] == 'm'));
    const bool names_time = key.find("time") != std::string_view::npos || key.starts_with("data");
    const bool is_time = has_unit || (names_time && (*end == ' ' || *end == ','));
    if (is_time) return value;
  }
  return std::nullopt;
}

/// The time that ends at a place: 3.9 of "step 412: 3.9 s =".
std::optional<double> time_before(std::string_view text, std::size_t end) {
  text = trim(text.substr(0, end));
  if (text.ends_with("ms")) {
    text.remove_suffix(2);
  } else if (text.ends_with('s')) {
    text.remove_suffix(1);
  } else {
    return std::nullopt;
  }
  text = trim(text);
  const std::size_t begin = text.find_last_not_of("0123456789.");
  return readers::parse_decimal(text.substr(begin == std::string_view::npos ? 0 : begin + 1));
}

constexpr auto kDataTimes = std::to_array<std::string_view>(
    {"data_time", "data time", "data_wait", "data wait", "data loading", "dataloader", "data"});

/// "data wait 78%": 0.78.
std::optional<double> data_share(const std::string& text) {
  for (const std::string_view key : kDataTimes) {
    const std::size_t at = text.find(key);
    if (at == std::string::npos || key == "data") continue;
    const std::size_t begin = text.find_first_not_of(" :=", at + key.size());
    if (begin == std::string::npos) continue;
    const std::size_t end = text.find_first_not_of("0123456789.", begin);
    const auto value = readers::parse_decimal(
        std::string_view(text).substr(begin, end == std::string::npos ? end : end - begin));
    const std::size_t sign = end == std::string::npos ? end : text.find_first_not_of(' ', end);
    if (value && sign != std::string::npos && text[sign] == '%') return *value / 100;
  }
  return std::nullopt;
}

/// What a step took: "iter_time 1.92s", "time 3.10s (data …", "iter 4.81s | data …",
/// "3.9 s = dataloader …".
std::optional<double> step_time(const std::string& text) {
  for (const std::string_view key :
       {"iter_time", "step_time", "batch_time", "step time", "time", "iter", "step", "batch"})
    if (const auto time = time_after(text, key)) return time;
  const std::size_t sum = text.find(" = data");
  return sum == std::string::npos ? std::nullopt : time_before(text, sum);
}

/// "data_time 1.61s" of "iter_time 1.92s", "data wait 78%": a step that mostly waits for its data.
std::optional<std::size_t> data_bound_line(const Lines& lines, double waits_for_data) {
  for (std::size_t i = 0; i < lines.size(); ++i) {
    const std::string& text = lines[i].lower;
    if (const auto share = data_share(text)) {
      if (*share > waits_for_data && *share <= 1) return i;
      continue;
    }
    std::optional<double> data;
    for (const std::string_view key : kDataTimes)
      if (!data) data = time_after(text, key);
    const auto step = data ? step_time(text) : std::nullopt;
    const bool is_bound = step && *data<*step&& * data> waits_for_data * *step;
    if (is_bound) return i;
  }
  return std::nullopt;
}

/// In a person's sentence words such as "out of memory" are a message only where it is quoted or a
/// colon is before it: "the job died: CUDA out of memory".
bool is_message_in(const StatedLine& line, std::string_view phrase) {
  const bool is_words = std::all_of(phrase.begin(), phrase.end(), [](char c) {
    return std::isalpha(static_cast<unsigned char>(c)) != 0 || c == ' ';
  });
  if (!line.is_prose || !is_words) return true;
  const std::string_view before =
      trim(std::string_view(line.lower).substr(0, line.lower.find(phrase)));
  return before.empty() ||
         std::string_view(":\"'`([").find(before.back()) != std::string_view::npos;
}

void find_foreign(const Lines& lines, const finding::Thresholds& limits, Stated& out) {
  for (const Phrase& phrase : kForeign) {
    if (phrase.first.starts_with("traceback") && is_of_network(lines)) continue;
    for (std::size_t i = 0; i < lines.size(); ++i)
      if (lines[i].contains(phrase.first) && lines[i].contains(phrase.second) &&
          is_message_in(lines[i], phrase.first))
        out.add("app.not_fabric", std::string(phrase.verdict), {i});
  }
  if (const auto line = data_bound_line(lines, limits.waits_for_data))
    out.add("app.not_fabric", "Most of a step is spent waiting for data, not for the network.",
            {*line});
}

// ---- steps of a job ----

/// I6: steps of one job that take twice as long as others, again and again. The first is warm-up,
/// and a single long one a checkpoint. A note: other jobs on the fabric do it too.
void find_uneven_steps(const Lines& lines, const finding::Thresholds& limits, Stated& out) {
  struct Step {
    double time = 0;
    std::size_t line = 0;
  };
  std::vector<Step> steps;
  for (std::size_t i = 0; i < lines.size(); ++i) {
    for (const std::string_view key : {"iter_time", "step_time", "batch_time", "step time",
                                       "iteration time", "elapsed time per iteration (ms)"}) {
      const auto time = time_after(lines[i].lower, key);
      if (!time) continue;
      steps.push_back({*time, i});
      break;
    }
  }
  if (steps.size() < limits.runs_compared + 1 || data_bound_line(lines, limits.waits_for_data))
    return;
  steps.erase(steps.begin());
  const auto shorter = [](const Step& a, const Step& b) { return a.time < b.time; };
  const Step shortest = *std::min_element(steps.begin(), steps.end(), shorter);
  std::vector<std::size_t> at = {shortest.line};
  double longest = 0;
  for (const Step& step : steps) {
    if (step.time < limits.uneven_runs * shortest.time) continue;
    longest = std::max(longest, step.time);
    at.push_back(step.line);
  }
  constexpr std::size_t kTwice = 3;  // the shortest, and two long ones
  if (at.size() < kTwice) return;
  at.resize(std::min<std::size_t>(at.size(), kTwice));
  out.note(
      "ecn.thresholds_too_high",
      fmt::format("{} steps took between {:g} and {:g}: if nothing else ran, ECN marks come too "
                  "late. Check marks and pauses on the switches during such steps.",
                  steps.size(), shortest.time, longest),
      at);
}

// ---- reordering ----

/// A line with numbers, each of which is zero: "Total Drops      0        0".
bool counts_nothing(const StatedLine& line) {
  bool has_number = false;
  for (const Word& word : line.statement.words) {
    if (word.kind != WordKind::kNumber) continue;
    if (*word.value != 0) return false;
    has_number = true;
  }
  return has_number;
}

/// Two numbers, and the second is zero.
bool is_something_and_nothing(const StatedLine& line) {
  std::vector<double> numbers;
  for (const Word& word : line.statement.words)
    if (word.kind == WordKind::kNumber) numbers.push_back(*word.value);
  return numbers.size() == 2 && numbers[0] > 0 && numbers[1] == 0;
}

/// "adaptive routing on", and nothing behind it but a time: in "adaptive routing on all spines" the
/// word says where.
bool says_on(std::string_view clause, std::string_view key) {
  const std::size_t at = clause.find(key);
  if (at == std::string_view::npos) return false;
  const auto words = readers::words_of(clause.substr(at + key.size()));
  constexpr auto kBehind = std::to_array<std::string_view>(
      {"since", "yesterday", "today", "now", "again", "/", "vs", "and"});
  return clause.substr(at + key.size()).starts_with('/') || words.empty() ||
         clause.find_first_not_of(".:)!?\"'`", at + key.size()) == std::string_view::npos ||
         std::find(kBehind.begin(), kBehind.end(), words[0]) != kBehind.end();
}

/// Balancing per packet was turned on, and no clause that names it says that it is off.
bool turns_balancing_on(const StatedLine& line) {
  bool is_balancing = false;
  bool is_on = false;
  std::string_view rest = line.whole;
  while (!rest.empty()) {
    std::size_t end = rest.size();
    for (const std::string_view sign : {", ", "; ", ". ", ") "})
      end = std::min(end, rest.find(sign));
    const std::string_view clause = rest.substr(0, end);
    rest.remove_prefix(std::min(rest.size(), end + 2));
    const auto contains = [&](std::initializer_list<std::string_view> pieces) {
      return std::any_of(pieces.begin(), pieces.end(), [&](std::string_view piece) {
        return clause.find(piece) != std::string_view::npos;
      });
    };
    const auto has = [&](std::string_view word) {
      const auto words = readers::words_of(clause);
      return std::find(words.begin(), words.end(), word) != words.end();
    };
    const bool names_it =
        contains({"adaptive routing", "adaptive-routing", "packet spraying", "per-packet"});
    const bool says_it =
        says_on(clause, "routing on") || says_on(clause, "spraying on") ||
        contains({"enabled", "turned on", "switched on", "enable on", "activated"});
    const bool is_compared = contains({"on / off", "on/off", "on vs off"});
    const bool is_denied = !is_compared && (has("off") || has("not") || has("never") ||
                                            contains({"disabled", "n't ", "deactivated"}));
    if ((names_it || says_it) && is_denied) return false;
    is_balancing = is_balancing || names_it;
    is_on = is_on || says_it;
  }
  return is_balancing && is_on;
}

/// Balancing per packet was turned on, packets arrive out of order, and nothing is dropped.
/// What was changed and that nothing is dropped people say, and of that all is read; the disorder
/// has to be shown by a counter.
void find_reordering(const Lines& lines, Stated& out) {
  std::optional<std::size_t> turned_on;
  std::optional<std::size_t> disorder;
  std::optional<std::size_t> nothing;
  for (std::size_t i = 0; i < lines.size(); ++i) {
    const StatedLine& line = lines[i];
    if (!turned_on && turns_balancing_on(line)) turned_on = i;
    for (std::size_t j = 0; j < line.statement.words.size() && !line.is_prose; ++j) {
      if (line.statement.words[j].text.find("out_of_sequence") == std::string::npos) continue;
      const auto delta = line.lower.find("delta=");
      const auto shown = line.shown_after(j);
      const bool is_zero = delta != std::string::npos
                               ? line.lower.substr(delta + 6).starts_with("0")
                               : !shown || shown->value == 0;
      if (!is_zero && !disorder) disorder = i;
      // "out_of_sequence  2203114  0" below "adaptive routing on / off"
      const bool is_compared =
          turned_on && lines[*turned_on].whole.find(" off") != std::string::npos;
      if (!is_zero && is_compared && is_something_and_nothing(line)) nothing = i;
    }
    const bool is_about_drops = line.whole.find("discard") != std::string::npos ||
                                line.whole.find("drop") != std::string::npos;
    const auto words = readers::words_of(line.whole);
    const bool is_none =
        std::any_of(words.begin(), words.end(),
                    [](std::string_view word) { return word == "no" || word == "zero"; }) ||
        counts_nothing(line);
    if (is_about_drops && is_none && !nothing) nothing = i;
  }
  if (turned_on && disorder && nothing)
    out.add("path.reordering",
            "Packets arrive out of order since switches balance per packet; nothing is dropped.",
            {*disorder, *turned_on, *nothing});
}

// ---- MTU ----

/// In bytes, of ibv_mtu; nullopt for any other number.
std::optional<int> rdma_mtu(double value) {
  for (const int size : {256, 512, 1024, 2048, 4096})
    if (value == size) return size;
  return std::nullopt;
}

using MtuLines = std::map<int, std::size_t>;  // an MTU and the first line that has it

/// MTUs in the form of a tool: "active_mtu: 1024 (3)", "mtu 9000 qdisc …", "MTU: 1514,".
void note_mtus(const Lines& lines, std::size_t i, MtuLines& rdma, MtuLines& ethernet) {
  const auto& words = lines[i].statement.words;
  for (std::size_t j = 0; j < words.size(); ++j) {
    const bool is_rdma = words[j].text == "active_mtu" || words[j].text == "path_mtu";
    const auto shown = is_rdma || words[j].text == "mtu" ? lines[i].shown_after(j) : std::nullopt;
    if (!shown) continue;
    if (const auto size = is_rdma ? rdma_mtu(shown->value) : std::nullopt) rdma.emplace(*size, i);
    const bool is_printed =
        shown->is_assigned || lines[i].contains(" qdisc ") || lines[i].contains(" bytes, bw ");
    const bool is_ethernet = (shown->value >= 1400 && shown->value <= 1600) ||
                             (shown->value >= 4200 && shown->value <= 9500);
    if (!is_rdma && is_printed && is_ethernet) ethernet.emplace(static_cast<int>(shown->value), i);
  }
}

void find_mtus(const Lines& lines, Stated& out) {
  MtuLines rdma;
  MtuLines ethernet;
  bool is_down = false;
  for (std::size_t i = 0; i < lines.size(); ++i) {
    // A port that is down shows the MTU it would have.
    if (lines[i].contains("port_down")) is_down = true;
    if (lines[i].contains("port_active") || lines[i].contains("hca_id"))
      is_down = lines[i].contains("port_down");
    if (!is_down) note_mtus(lines, i, rdma, ethernet);
  }
  if (rdma.size() > 1)
    out.add("mtu.mismatch",
            fmt::format("RDMA MTUs differ: {} and {} bytes.", rdma.begin()->first,
                        rdma.rbegin()->first),
            {rdma.begin()->second, rdma.rbegin()->second});
  // Switches take more than hosts send: 9216 beside 9000 is usual, 1514 is not.
  constexpr int kLargeRdma = 2048;
  constexpr int kSmallEthernet = 2000;
  // One line with both is a list of what is where.
  if (ethernet.size() > 1 && ethernet.begin()->second != ethernet.rbegin()->second &&
      ethernet.begin()->first < kSmallEthernet && ethernet.rbegin()->first > kSmallEthernet)
    out.add("mtu.mismatch",
            fmt::format("Interface MTUs differ: {} and {} bytes.", ethernet.begin()->first,
                        ethernet.rbegin()->first),
            {ethernet.begin()->second, ethernet.rbegin()->second});
  if (rdma.size() == 1 && ethernet.size() == 1 && rdma.begin()->first >= kLargeRdma &&
      ethernet.begin()->first < kSmallEthernet)
    out.add("mtu.mismatch",
            fmt::format("An RDMA MTU of {} bytes does not fit an interface MTU of {} bytes.",
                        rdma.begin()->first, ethernet.begin()->first),
            {rdma.begin()->second, ethernet.begin()->second});
  const bool could_be_larger =
      std::any_of(lines.begin(), lines.end(),
                  [](const StatedLine& line) { return line.has("max_mtu"); }) ||
      (!ethernet.empty() && ethernet.begin()->first < kSmallEthernet);
  constexpr int kWanted = 4096;
  if (rdma.size() == 1 && could_be_larger && rdma.begin()->first < kWanted)
    out.add("mtu.below_4096",
            fmt::format("The RDMA MTU is {}: expected 4096.", rdma.begin()->first),
            {rdma.begin()->second});
}

// ---- counters ----

/// A counter as a line states it: name, value, line.
struct Count {
  std::string_view name;
  double value = 0;
  std::size_t line = 0;
  bool is_growth = false;
};

/// A rule of a monitoring system: its numbers are limits, not measurements.
bool is_expression(const StatedLine& line) {
  return line.contains("expr:") || line.contains("\"expr\"") || line.contains("increase(") ||
         line.contains("rate(") || line.contains("delta(");
}

std::vector<Count> counts_in(const Lines& lines) {
  std::vector<Count> out;
  for (std::size_t i = 0; i < lines.size(); ++i) {
    if (is_expression(lines[i])) continue;
    const auto& words = lines[i].statement.words;
    for (std::size_t j = 0; j < words.size(); ++j) {
      if (words[j].text.find('_') == std::string::npos) continue;
      if (const auto shown = lines[i].shown_after(j))
        out.push_back({words[j].text, shown->value, i, shown->is_growth});
    }
  }
  return out;
}

const Count* find_count(const std::vector<Count>& counts, std::string_view piece) {
  const auto at = std::find_if(counts.begin(), counts.end(), [&](const Count& count) {
    return count.name.find(piece) != std::string_view::npos;
  });
  return at == counts.end() ? nullptr : &*at;
}

/// "2x25G into 10G": more comes in than fits.
std::optional<std::size_t> overload_line(const Lines& lines) {
  for (std::size_t i = 0; i < lines.size(); ++i) {
    const auto& words = lines[i].statement.words;
    for (std::size_t j = 0; j + 2 < words.size(); ++j) {
      const auto in =
          words[j].kind == WordKind::kRate ? words[j].value : bundle_rate(words[j].text);
      const bool is_into = words[j + 1].text == "into" || words[j + 1].text == "->";
      const Word& target = words[j + 2];
      if (in && is_into && target.kind == WordKind::kRate && *in > *target.value) return i;
    }
  }
  return std::nullopt;
}

/// Counters that say one thing by themselves. The size of one reading says nothing: they may have
/// been counting for years.
struct CountRule {
  std::string_view piece;                               // of the counter's name
  bool is_told_by_size = false;                         // it ought to be zero for ever
  std::uint64_t finding::Thresholds::*above = nullptr;  // null: any at all
  std::string_view id;
  std::string_view verdict;
};
constexpr auto kCountRules = std::to_array<CountRule>({
    {"cnp_ignored", true, nullptr, "rp.disabled", "The sender ignores CNPs."},
    {"rnr_nak_retry_err", false, nullptr, "app.receives_too_few", kNoReceive},
    {"remote_access_err", false, nullptr, "app.protocol_error", kRefused},
    {"pci_stalled_wr", false, nullptr, "receiver.slow", "PCIe writes of the receiving NIC stall."},
    {"pause_ctrl_phy", false, nullptr, "pause.global_on", "802.3x pause frames are counted."},
    {"link_downed", false, &finding::Thresholds::link_downs_told, "link.flapping",
     "The link went down more than once."},
    {"linkdowned", false, &finding::Thresholds::link_downs_told, "link.flapping",
     "The link went down more than once."},
    {"carrier_changes", false, &finding::Thresholds::carrier_changes_told, "link.flapping",
     "The carrier changed more than once."},
    {"icrc", false, nullptr, "packet.icrc_bad", "Packets arrive with a wrong invariant CRC."},
    {"symbol_err", false, &finding::Thresholds::symbol_errors_told, "link.physical_errors",
     "The port counts symbol errors."},
    {"crc_err", false, &finding::Thresholds::symbol_errors_told, "link.physical_errors",
     "The port counts CRC errors."},
});

/// More comes in than fits, as words say it, and nothing is marked, as counters do.
void find_unmarked_overload(const Lines& lines, Stated& out) {
  const std::vector<Count> counts = counts_in(lines);
  const Count* marks = find_count(counts, "ecn_marked");
  const Count* sent = find_count(counts, "cnp_sent");
  const auto overload = overload_line(lines);
  if (marks != nullptr && sent != nullptr && overload && marks->value == 0 && sent->value == 0)
    out.add("ecn.not_marking", "The port is overloaded and no packet arrives marked.",
            {marks->line, sent->line, *overload});
}

void find_pairs_of_counts(const std::vector<Count>& counts, Stated& out) {
  const Count* marks = find_count(counts, "ecn_marked");
  const Count* sent = find_count(counts, "cnp_sent");
  const Count* handled = find_count(counts, "cnp_handled");
  if (sent == nullptr) return;
  if (marks != nullptr && marks->value > 0 && sent->value == 0)
    out.add("np.disabled", "Marked packets arrive and the receiver sends no CNP.",
            {marks->line, sent->line});
  if (handled != nullptr && sent->value > 0 && handled->value == 0 &&
      find_count(counts, "cnp_ignored") == nullptr)
    out.add("cnp.lost", "The receiver sends CNPs and the sender handles none.",
            {sent->line, handled->line});
}

void find_counts(const Lines& lines, const finding::Thresholds& limits, Stated& out) {
  const std::vector<Count> counts = counts_in(lines);
  Stated pairs(lines);
  find_pairs_of_counts(counts, pairs);
  const bool is_explained = !pairs.is_empty();
  out.take_over(std::move(pairs));
  if (is_explained) return;  // what else is counted follows from it
  for (const CountRule& rule : kCountRules)
    for (const Count& count : counts)
      if (count.name.find(rule.piece) != std::string_view::npos &&
          (count.is_growth || rule.is_told_by_size) &&
          count.value > (rule.above == nullptr ? 0 : static_cast<double>(limits.*rule.above)))
        out.add(rule.id, std::string(rule.verdict), {count.line});
}

/// A counter that is printed twice: what it was first and last.
struct Twice {
  double first = 0;
  double last = 0;
  std::size_t times = 0;
};

/// Of two readings the difference counts: what was sent before says nothing of now.
bool is_marked_by_now(const std::map<std::string_view, Twice>& sent, double mostly_unmarked) {
  double plain = 0;
  double marked = 0;
  for (const auto& [name, twice] : sent)
    if (twice.times > 1) (name[7] == '0' ? plain : marked) += std::abs(twice.last - twice.first);
  return plain + marked > 0 && plain <= mostly_unmarked * marked;
}

/// Bytes or packets per priority: nearly all that is sent is in priority 0.
void find_priorities(const Lines& lines, double mostly_unmarked, Stated& out) {
  double plain = 0;
  double marked = 0;
  std::map<std::string_view, Twice> sent;
  bool is_received_marked = false;
  std::set<std::size_t> at;
  for (const Count& count : counts_in(lines)) {
    const bool is_priority = count.name.size() > 7 && count.name.substr(2).starts_with("_prio") &&
                             count.name.find("pause") == std::string_view::npos;
    if (!is_priority) continue;
    const bool is_zero = count.name[7] == '0';
    if (!count.name.starts_with("tx")) {
      is_received_marked = is_received_marked || (!is_zero && count.value > 1);
      continue;
    }
    (is_zero ? plain : marked) += count.value;
    at.insert(count.line);
    Twice& twice = sent[count.name];
    if (twice.times++ == 0) twice.first = count.value;
    twice.last = count.value;
  }
  if (is_marked_by_now(sent, mostly_unmarked)) return;
  if (plain > mostly_unmarked * marked && plain > 1 && !is_received_marked)
    out.add("dscp.unmarked", "Nearly all that is sent is in priority 0.", {at.begin(), at.end()});
}

}  // namespace

std::vector<finding::Finding> stated_faults(std::span<const readers::Cited> cited,
                                            const finding::Thresholds& limits) {
  return stated_faults(cited, cited, limits);
}

std::vector<finding::Finding> stated_faults(std::span<const readers::Cited> cited,
                                            std::span<const readers::Cited> all,
                                            const finding::Thresholds& limits) {
  const Lines lines = stated_lines(cited);
  Stated out(lines);
  find_foreign(lines, limits, out);
  find_uneven_steps(lines, limits, out);
  find_counts(lines, limits, out);
  find_phrases(lines, out);
  note_words(lines, out);
  find_mtus(lines, out);
  find_settings(lines, limits, out);
  std::vector<finding::Finding> found = std::move(out).take();
  // These need counters and the words around them.
  const Lines all_lines = stated_lines(all);
  Stated with_words(all_lines);
  find_reordering(all_lines, with_words);
  find_priorities(all_lines, limits.mostly_unmarked, with_words);
  find_unmarked_overload(all_lines, with_words);
  for (finding::Finding& finding : std::move(with_words).take())
    found.push_back(std::move(finding));
  return found;
}

}  // namespace weir::diagnose

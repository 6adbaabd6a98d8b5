#include "finding/symptom_rows.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <cmath>
#include <map>
#include <set>

#include "base/text.h"
#include "finding/catalog.h"

namespace weir::finding {
namespace {

constexpr auto kSymptomRows = std::to_array<SymptomRow>({
    {"I1", "step time spikes to seconds, pauses everywhere upstream of one port",
     "a PFC storm from a slow receiver"},
    {"I2", "throughput down, no pauses, many marks and CNPs",
     "ECN marks too early, or DCQCN recovers too slowly"},
    {"I3", "retries exceeded, drops on the RoCE priority despite PFC",
     "headroom too small for the cable"},
    {"I4", "half of the GPUs slow, uplinks unevenly used", "ECMP hash polarisation"},
    {"I5", "job hangs, pauses in a cycle", "PFC deadlock"},
    {"I6", "all-reduce time varies from step to step",
     "marking starts too late, DCQCN reacts late"},
    {"I7", "pauses on one port only", "a hot spot upstream, often ECMP"},
    {"I8", "pauses everywhere", "buffer profile too small, or DCQCN off at the senders"},
    {"I9", "RDMA timeouts", "packets are lost: headroom, or PFC on the wrong priority"},
    {"I10", "throughput low, utilisation under 60 %, no errors, no pauses, no drops",
     "DCQCN too conservative: additive increase, alpha period; or not the fabric"},
    {"I11", "marks but no CNPs sent", "the notification point is off"},
    {"I12", "CNPs arrive and none is handled", "the reaction point is off"},
    {"I13", "CNPs ignored (rp_cnp_ignored)", "the reaction point is off for that priority"},
    {"I14", "traffic in priority 0, none in priority 3", "DSCP marking, trust or map is wrong"},
    {"I15", "pauses and drops at the same time", "RDMA is not in the PFC priority"},
    {"I16", "one host constantly worse, fragmentation, RTT spikes", "MTU of one segment"},
    {"I17", "out of sequence climbs, no drops", "reordering: ECMP change, spraying, a bad link"},
    {"I18", "symbol, CRC or FCS errors, link down", "optic, cable or port"},
    {"I19", "out_of_buffer, RNR retries exceeded", "the application posts too few receives"},
    {"I20", "buffer overrun, the NIC sends pauses", "the host: PCIe or CPU"},
    {"I21", "throughput low on an idle network, many marks, no pauses",
     "marking thresholds too low"},
    {"I22", "constant pauses, few marks", "marking thresholds too high: PFC does ECN's work"},
    {"I23", "RDMA slow while backup or storage runs", "classes share a queue"},
    {"I24", "GPU utilisation falls, CPU rises in all-reduce",
     "a silent fallback to TCP, or copies through host memory"},
    {"I25", "pauses on more than the RDMA priority", "PFC is on for too many priorities"},
    {"I26", "p999 latency jumps near one ToR in all-to-all", "an uplink or queue of that ToR"},
    {"I27", "slow restart often (roce_slow_restart)", "severe congestion, or DCQCN too aggressive"},
    {"I28", "adaptive retransmission climbs (roce_adp_retrans)", "packets are lost: find where"},
    {"I29", "port_xmit_discards, port_rcv_errors", "drops at this port: ring, switch, cable"},
});

/// Words that stand for one symptom each; the first names it.
constexpr auto kSymptomWords = std::to_array<std::string_view>(
    {"pause pauses paused pausing pfc xoff pausestorm",
     "mark marks marked marking ecn ce ecnmarks",
     "cnp cnps",
     "drop drops dropping discard discards discarded loss lost losses packetloss",
     "error errors",
     "throughput bandwidth busbw bw goodput speed rate utilisation utilization slow slower "
     "performance",
     "down low lower fell falls fall falling drops-off decreased halved reduced degraded collapsed "
     "poor under below",
     "timeout timeouts timed retry retries retry_exc_err status12",
     "spike spikes spiking jump jumps varies vary variance jitter unstable",
     "hang hangs hung stuck stalls stalled freezes deadlock",
     "uplink uplinks ecmp",
     "uneven unevenly unequal imbalance unbalanced skewed polarised polarized polarisation",
     "step steps iteration",
     "everywhere all-ports every",
     "many high lots excessive far constant constantly always millions thousands keeps",
     "host node server machine",
     "worse slowest straggler lags behind",
     "gpu gpus",
     "climbs climb climbing rises rise rising grows growing increases increasing",
     "few rare rarely little",
     "idle unloaded quiet",
     "reorder reordering out_of_sequence sequence out-of-order ooo",
     "crc fcs symbol optic cable fec flap flapping",
     "rnr out_of_buffer",
     "backup storage",
     "cpu host-memory",
     "p999 p99 tail latency",
     "priority class",
     "half some"});

/// "no", "without" and the like: what follows is said to be absent.
bool is_negation(std::string_view word) {
  constexpr auto kWords = std::to_array<std::string_view>(
      {"no", "not", "without", "zero", "never", "none", "0", "nor", "neither", "nothing"});
  return std::find(kWords.begin(), kWords.end(), word) != kWords.end();
}

/// Words that every description has: two texts that share them have nothing in common.
bool says_nothing(std::string_view word) {
  constexpr auto kWords = std::to_array<std::string_view>(
      {"a",    "an",   "the",  "is",   "are",   "was",  "were", "be",   "been", "it",   "its",
       "we",   "i",    "my",   "our",  "you",   "they", "this", "that", "of",   "to",   "at",
       "in",   "on",   "by",   "for",  "from",  "with", "and",  "or",   "as",   "than", "so",
       "one",  "only", "same", "time", "times", "any",  "has",  "have", "does", "do",   "did",
       "what", "when", "then", "see",  "seen",  "get",  "gets", "more", "very", "rdma", "roce"});
  return std::find(kWords.begin(), kWords.end(), word) != kWords.end();
}

std::string canonical(const std::string& word) {
  for (const std::string_view group : kSymptomWords) {
    for (const std::string_view known : split(group, ' '))
      if (known == word) return std::string(group.substr(0, group.find(' ')));
  }
  return word;
}

struct SymptomText {
  std::set<std::string> present;
  std::set<std::string> absent;
};

SymptomText parse_symptoms(std::string_view text) {
  std::vector<std::string> words;
  std::string word;
  const auto flush = [&] {
    if (!word.empty()) words.push_back(word);
    word.clear();
  };
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if (std::isalnum(byte) != 0 || c == '_' || (c == '-' && !word.empty())) {
      word += static_cast<char>(std::tolower(byte));
    } else {
      flush();
      if (c == ',' || c == ';' || c == '.') words.emplace_back(",");
    }
  }
  flush();
  SymptomText out;
  bool is_absent = false;
  std::string before;
  for (const std::string& item : words) {
    std::string name = canonical(item);
    if (item == "," || item == "but" || item == "yet") {
      is_absent = false;
    } else if (is_negation(item)) {
      is_absent = true;
    } else if (!says_nothing(item)) {
      // "throughput dropped" is about throughput, not about packets.
      if ((item == "dropped" || name == "drop") && before == "throughput") name = "down";
      if (item == "dropped" && name != "down") name = "drop";
      (is_absent ? out.absent : out.present).insert(name);
      before = name;
    }
  }
  return out;
}

/// Symptoms that a row may not have where a description denies them, and the other way round.
bool is_decisive(std::string_view name) {
  return name == "pause" || name == "mark" || name == "cnp" || name == "drop" || name == "error";
}

bool contradicts(const SymptomText& a, const SymptomText& b) {
  return std::any_of(a.absent.begin(), a.absent.end(), [&](const std::string& name) {
    return is_decisive(name) && b.present.contains(name);
  });
}

}  // namespace

std::span<const SymptomRow> symptom_rows() {
  return kSymptomRows;
}

std::vector<std::string> findings_of(const SymptomRow& row) {
  std::vector<std::string> ids;
  for (const CatalogEntry& entry : catalog())
    if (std::find(entry.rows.begin(), entry.rows.end(), row.row) != entry.rows.end())
      ids.emplace_back(entry.id);
  return ids;
}

std::vector<const SymptomRow*> look_up_symptom(std::string_view description) {
  constexpr std::size_t kMostRows = 5;
  constexpr double kLeastOfBestRow = 0.6;
  const SymptomText asked = parse_symptoms(description);
  std::vector<SymptomText> rows;
  std::map<std::string, double> rows_with;
  for (const SymptomRow& row : kSymptomRows) {
    rows.push_back(parse_symptoms(row.symptom));
    for (const auto* side : {&rows.back().present, &rows.back().absent})
      for (const std::string& name : *side)
        rows_with[name] += 1;
  }
  const auto weight = [&](const std::string& name) {
    return std::log(1 + static_cast<double>(kSymptomRows.size()) / rows_with[name]);
  };
  std::vector<std::pair<double, const SymptomRow*>> scored;
  for (std::size_t i = 0; i < rows.size(); ++i) {
    if (contradicts(asked, rows[i]) || contradicts(rows[i], asked)) continue;
    double score = 0;
    std::size_t shared = 0;
    const auto compare = [&](const std::set<std::string>& a, const std::set<std::string>& b) {
      for (const std::string& name : a) {
        if (!b.contains(name)) continue;
        score += weight(name);
        ++shared;
      }
    };
    compare(asked.present, rows[i].present);
    compare(asked.absent, rows[i].absent);
    // One word in common is enough only where it is nearly all that was asked.
    const std::size_t words = asked.present.size() + asked.absent.size();
    if (shared >= 2 || (shared == 1 && words <= 2)) scored.emplace_back(score, &kSymptomRows.at(i));
  }
  std::stable_sort(scored.begin(), scored.end(),
                   [](const auto& a, const auto& b) { return a.first > b.first; });
  std::vector<const SymptomRow*> out;
  for (const auto& [score, row] : scored)
    if (out.size() < kMostRows && score >= kLeastOfBestRow * scored.front().first)
      out.push_back(row);
  return out;
}

}  // namespace weir::finding

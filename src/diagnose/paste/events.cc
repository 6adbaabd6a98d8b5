#include "diagnose/paste/events.h"

#include <algorithm>
#include <iterator>
#include <map>
#include <optional>
#include <set>
#include <string>

#include <fmt/format.h>

#include "base/text.h"
#include "diagnose/paste/pasted_parts.h"
#include "diagnose/paste/stated.h"
#include "finding/catalog.h"
#include "readers/paste/kernel_log.h"
#include "readers/paste/text_lines.h"

namespace weir::diagnose {
namespace {

using evidence::Evidence;
using evidence::Missing;
using finding::Confidence;
using finding::Finding;
using finding::Severity;
using readers::EventKind;

struct Happened {
  std::vector<const readers::PasteEvent*> events;
  [[nodiscard]] std::size_t count(EventKind kind) const {
    return static_cast<std::size_t>(
        std::count_if(events.begin(), events.end(),
                      [&](const readers::PasteEvent* event) { return event->kind == kind; }));
  }
};

void add_event_finding(std::string_view id, std::string verdict, Confidence confidence,
                       EventKind kind, const Happened& happened, finding::Judgement& out) {
  constexpr std::size_t kMostLines = 4;
  const readers::PasteEvent& first = *happened.events.front();
  finding::Where where = where_of(first.host, first.device);
  if (first.is_switch) {
    where = {};
    where.switch_name = first.host;
    where.port = first.device;
  }
  Finding finding = finding::make_finding(id, std::move(verdict), std::move(where));
  finding.confidence = confidence;
  for (const readers::PasteEvent* event : happened.events)
    if (event->kind == kind && finding.evidence.size() < kMostLines)
      finding.evidence.push_back(line_of(event->at));
  out.findings.push_back(std::move(finding));
}

/// In the first two minutes after the boot links come up, and report that they were down before.
bool is_at_boot(const readers::PasteEvent& event) {
  constexpr std::uint64_t kBootSeconds = 120;
  std::string_view text = trim(event.at.text);
  if (!text.starts_with('[')) return false;
  text = trim(text.substr(1));
  const auto seconds = parse_u64(text.substr(0, text.find('.')));
  return seconds && *seconds < kBootSeconds && text.find('.') < text.find(']');
}

/// More than `log_age` before the newest day of the text.
bool is_long_ago(const readers::PasteEvent& event, std::optional<int> today,
                 const finding::Thresholds& limits) {
  constexpr double kHours = 24;
  constexpr int kHalfYear = 186;  // beyond it the turn of a year may lie between
  const auto day = today ? readers::day_of_line(event.at.text) : std::nullopt;
  return day && *today - *day > limits.log_age / kHours && *today - *day < kHalfYear;
}

/// The second of the day that a line of a log has; nullopt where it has none.
std::optional<std::int64_t> clock_in(std::string_view text) {
  constexpr std::size_t kClock = 8;  // "08:41:12"
  for (const std::string_view word : readers::words_of(text))
    if (word.size() >= kClock)
      if (const auto second = readers::second_of_day(word.substr(0, kClock))) return second;
  return std::nullopt;
}

/// Behind a switch's port a host may have been restarted: few losses, or one more within minutes,
/// after which the link stays.
bool may_be_restart(const Happened& happened, std::size_t downs,
                    const finding::Thresholds& limits) {
  if (!happened.events.front()->is_switch) return false;
  if (downs <= limits.boot_link_downs) return true;
  const auto first = clock_in(happened.events.front()->at.text);
  const auto last = clock_in(happened.events.back()->at.text);
  const bool is_soon = first && last && *last >= *first &&
                       *last - *first <= static_cast<std::int64_t>(limits.restart_seconds);
  return is_soon && downs <= limits.restart_link_downs &&
         happened.events.back()->kind == EventKind::kLinkUp;
}

void judge_links(const Happened& all, const finding::Thresholds& limits, std::optional<int> today,
                 finding::Judgement& out) {
  Happened happened;
  std::copy_if(all.events.begin(), all.events.end(), std::back_inserter(happened.events),
               [](const readers::PasteEvent* event) { return !is_at_boot(*event); });
  const std::size_t downs = happened.count(EventKind::kLinkDown);
  if (downs == 0) return;
  const bool is_over = happened.events.back()->kind == EventKind::kLinkUp &&
                       is_long_ago(*happened.events.back(), today, limits);
  if (is_over) {
    add_event_finding(
        "link.flapping",
        fmt::format("The link of {} went down {} time{}, the last time long before "
                    "the newest date in the text.",
                    place_of(happened.events.front()->host, happened.events.front()->device), downs,
                    downs == 1 ? "" : "s"),
        Confidence::kLow, EventKind::kLinkDown, happened, out);
    out.findings.back().severity = Severity::kInfo;
    return;
  }
  const readers::PasteEvent& first = *happened.events.front();
  const std::string place = place_of(first.host, first.device);
  const bool is_up = happened.events.back()->kind == EventKind::kLinkUp;
  if (may_be_restart(happened, downs, limits)) {
    add_event_finding("link.flapping",
                      fmt::format("The link of {} went down {} time{}: whether the device behind "
                                  "it was restarted the text does not show.",
                                  place, downs, downs == 1 ? "" : "s"),
                      Confidence::kLow, EventKind::kLinkDown, happened, out);
    out.findings.back().severity = Severity::kInfo;
    return;
  }
  if (downs == 1 && !is_up) {
    add_event_finding(
        "link.degraded",
        fmt::format("The link of {} went down; the text does not show it coming back.", place),
        Confidence::kHigh, EventKind::kLinkDown, happened, out);
    return;
  }
  add_event_finding(
      "link.flapping",
      fmt::format("The link of {} went down {} time{}.", place, downs, downs == 1 ? "" : "s"),
      downs > 1 ? Confidence::kHigh : Confidence::kMedium, EventKind::kLinkDown, happened, out);
  if (downs == 1) out.findings.back().severity = Severity::kWarning;
}

/// Logs that are printed with the newest line first.
bool is_newest_first(const std::vector<const readers::PasteEvent*>& events) {
  constexpr std::size_t kFewest = 3;  // how a log is printed, no judgement
  std::optional<std::int64_t> before;
  bool is_earlier = false;
  for (const readers::PasteEvent* event : events) {
    const auto second = clock_in(event->at.text);
    if (!second || (before && *second > *before)) return false;
    is_earlier = is_earlier || (before && *second < *before);
    before = second;
  }
  return events.size() >= kFewest && is_earlier;
}

/// What the watchdog of a switch wrote of one port: a storm that lasts where the last line says no
/// end of it. Those that ended are a note.
void judge_storms(const Happened& happened, finding::Judgement& out) {
  const std::size_t storms = happened.count(EventKind::kStorm);
  if (storms == 0) return;
  std::vector<const readers::PasteEvent*> own;
  for (const readers::PasteEvent* event : happened.events)
    if (event->kind == EventKind::kStorm || event->kind == EventKind::kStormOver)
      own.push_back(event);
  const readers::PasteEvent& last = is_newest_first(own) ? *own.front() : *own.back();
  const bool is_on = last.kind == EventKind::kStorm;
  const readers::PasteEvent& first = *happened.events.front();
  add_event_finding(
      "pfc.storm",
      fmt::format("The PFC watchdog found a storm at {} {} time{}, {}.",
                  place_of(first.host, first.device), storms, storms == 1 ? "" : "s",
                  is_on ? "and the text does not show that the last one ended: the device at this "
                          "port pauses it without end"
                        : "each of which ended: whether they still come the text does not show"),
      is_on ? Confidence::kHigh : Confidence::kMedium, EventKind::kStorm, happened, out);
  Finding& finding = out.findings.back();
  if (!is_on) finding.severity = Severity::kInfo;
  // One that has just begun may be over with the next line.
  if (is_on && storms == 1) finding.severity = Severity::kWarning;
  if (is_on && finding.evidence.back().line != last.at.text)
    finding.evidence.back() = line_of(last.at);
}

/// "16.0 GT/s PCIe x16 link": the width behind each "PCIe x" of a line.
std::vector<std::uint64_t> widths_in(std::string_view line) {
  constexpr std::string_view kKey = "PCIe x";
  std::vector<std::uint64_t> out;
  for (std::size_t at = line.find(kKey); at != std::string_view::npos; at = line.find(kKey, at + 1))
    if (const auto width = readers::parse_count(
            line.substr(at + kKey.size(),
                        line.find_first_not_of("0123456789", at + kKey.size()) - at - kKey.size())))
      out.push_back(*width);
  return out;
}

/// The card is of a newer generation than the server: all lanes are there, and whether they are
/// too slow the speed of the link decides.
bool is_older_server(const Happened& happened) {
  return std::all_of(happened.events.begin(), happened.events.end(), [](const auto* event) {
    if (event->kind != EventKind::kPcieLimited) return true;
    const auto widths = widths_in(event->at.text);
    return widths.size() == 2 && widths[0] == widths[1];
  });
}

/// The date of a line of a log as it is printed: "Jun 3", "Jun 3 2026", "2026-06-03"; empty where
/// it has none.
std::string date_in(std::string_view text) {
  constexpr std::string_view kMonths = "JanFebMarAprMayJunJulAugSepOctNovDec";
  constexpr std::size_t kLooked = 6;  // words: a date is at the begin
  const auto words = readers::words_of(text);
  const auto is_number = [](std::string_view word) {
    return !word.empty() && word.find_first_not_of("0123456789") == std::string_view::npos;
  };
  std::string out;
  for (std::size_t i = 0; i < std::min(words.size(), kLooked); ++i) {
    std::string_view word = words[i];
    if (word.starts_with('[')) word.remove_prefix(1);
    if (word.ends_with(']')) word.remove_suffix(1);
    const std::size_t month = word.size() == 3 ? kMonths.find(word) : std::string_view::npos;
    const bool is_month = month != std::string_view::npos && month % 3 == 0;
    const bool is_year = word.size() == 4 && word.starts_with("20") && is_number(word);
    const bool is_iso = word.size() >= 10 && is_number(word.substr(0, 4)) &&
                        (word[4] == '-' || word[4] == '/') && word[7] == word[4];
    if (is_month && i + 1 < words.size()) out += fmt::format("{} {} ", word, words[i + 1]);
    if (is_year || is_iso) out += word.substr(0, 10);
  }
  return out;
}

/// Hosts of which several links went down once, within seconds of one day, and came back: what is
/// at their other end may have been restarted, or the host.
std::set<std::string> hosts_cut_off(
    const std::map<std::pair<std::string, std::string>, Happened>& by_place) {
  constexpr std::int64_t kTogether = 10;  // seconds
  struct Downs {
    std::int64_t first = 0;
    std::int64_t last = 0;
    std::string date;
    std::size_t links = 0;
    bool is_other = false;  // one that went down at another time, again, or for good
  };
  std::map<std::string, Downs> hosts;
  for (const auto& [place, happened] : by_place) {
    const auto down =
        std::find_if(happened.events.begin(), happened.events.end(),
                     [](const auto* event) { return event->kind == EventKind::kLinkDown; });
    if (down == happened.events.end() || (*down)->is_switch) continue;
    Downs& here = hosts[place.first];
    const auto second = clock_in((*down)->at.text);
    const bool is_once = happened.count(EventKind::kLinkDown) == 1 &&
                         happened.events.back()->kind == EventKind::kLinkUp;
    const std::string date = date_in((*down)->at.text);
    if (!second || !is_once || (here.links > 0 && date != here.date)) {
      here.is_other = true;
      continue;
    }
    here.first = here.links == 0 ? *second : std::min(here.first, *second);
    here.last = here.links == 0 ? *second : std::max(here.last, *second);
    here.date = date;
    ++here.links;
  }
  std::set<std::string> out;
  for (const auto& [host, downs] : hosts)
    if (downs.links > 1 && !downs.is_other && downs.last - downs.first <= kTogether)
      out.insert(host);
  return out;
}

/// " on lane 2": the first whose signal is bad.
std::string lane_of(const Happened& happened) {
  const auto found = std::find_if(
      happened.events.begin(), happened.events.end(),
      [](const auto* event) { return event->kind == EventKind::kSignal && !event->lane.empty(); });
  return found == happened.events.end() ? std::string() : " on " + (*found)->lane;
}

bool is_hot(const Happened& happened) {
  return std::any_of(happened.events.begin(), happened.events.end(), [](const auto* event) {
    return event->kind == EventKind::kModule &&
           event->at.text.find("emperature") != std::string::npos;
  });
}

void judge_events_of(const Happened& happened, const finding::Thresholds& limits,
                     std::optional<int> today, finding::Judgement& out) {
  const readers::PasteEvent& first = *happened.events.front();
  const std::string place = place_of(first.host, first.device);
  const std::size_t before = out.findings.size();
  judge_links(happened, limits, today, out);
  // The link of a module that is too hot or broken goes down with it.
  const bool is_module = happened.count(EventKind::kModule) > 0;
  for (std::size_t i = before; is_module && i < out.findings.size(); ++i)
    out.findings[i].severity = Severity::kInfo;
  judge_storms(happened, out);
  if (happened.count(EventKind::kUnplugged) > 0 && happened.count(EventKind::kLinkUp) == 0) {
    add_event_finding("link.degraded", fmt::format("No cable is plugged in at {}.", place),
                      Confidence::kHigh, EventKind::kUnplugged, happened, out);
    out.findings.back().severity = Severity::kInfo;  // it may be a port that nobody uses
  }
  if (happened.count(EventKind::kSignal) > 0)
    add_event_finding(
        "link.physical_errors",
        fmt::format(
            "The link of {} gets a signal{} that is out of range or cannot be repaired: bad "
            "or dirty optic, fibre or cable.",
            place, lane_of(happened)),
        Confidence::kHigh, EventKind::kSignal, happened, out);
  if (happened.count(EventKind::kNoLight) > 0) {
    add_event_finding("link.physical_errors",
                      fmt::format("{} receives no light: the other end is off, or no fibre leads "
                                  "there.",
                                  place),
                      Confidence::kMedium, EventKind::kNoLight, happened, out);
    out.findings.back().severity = Severity::kInfo;  // it may be a port that nobody uses
  }
  if (happened.count(EventKind::kSlotPower) > 0)
    add_event_finding("pcie.slot_power",
                      fmt::format("The PCIe slot gives the NIC at {} too little power.", place),
                      Confidence::kHigh, EventKind::kSlotPower, happened, out);
  if (happened.count(EventKind::kModule) > 0)
    add_event_finding("link.physical_errors",
                      fmt::format("The transceiver of {} reports a problem{}.", place,
                                  is_hot(happened) ? ": it is too hot" : ""),
                      Confidence::kMedium, EventKind::kModule, happened, out);
  if (const std::size_t errors = happened.count(EventKind::kPcieError))
    add_event_finding(
        "pcie.errors",
        fmt::format("PCIe errors of {} ({} line{}).", place, errors, errors == 1 ? "" : "s"),
        Confidence::kHigh, EventKind::kPcieError, happened, out);
  if (happened.count(EventKind::kPcieLimited) > 0) {
    add_event_finding("pcie.link_degraded",
                      fmt::format("The PCIe path of {} has less bandwidth than the card.", place),
                      Confidence::kHigh, EventKind::kPcieLimited, happened, out);
    if (is_older_server(happened)) out.findings.back().severity = Severity::kInfo;
  }
  if (happened.count(EventKind::kAcsRedirect) > 0) {
    add_event_finding("pcie.acs_on",
                      fmt::format("ACS of the bridge at {} redirects peer-to-peer traffic.", place),
                      Confidence::kMedium, EventKind::kAcsRedirect, happened, out);
    out.findings.back().severity = Severity::kWarning;  // whose path it is on is not known
  }
  if (happened.count(EventKind::kFirmware) > 0)
    add_event_finding("nic.failed", fmt::format("The NIC at {} stopped working.", place),
                      Confidence::kHigh, EventKind::kFirmware, happened, out);
  if (happened.count(EventKind::kPeermemRefused) > 0)
    add_event_finding("gdr.off", fmt::format("nvidia_peermem did not load on {}.", first.host),
                      Confidence::kHigh, EventKind::kPeermemRefused, happened, out);
}

}  // namespace

void judge_events(std::span<const readers::PasteEvent> events, const finding::Thresholds& limits,
                  finding::Judgement& out, std::optional<int> today) {
  std::map<std::pair<std::string, std::string>, Happened> by_place;
  for (const readers::PasteEvent& event : events)
    by_place[{event.host, event.device}].events.push_back(&event);
  const std::set<std::string> cut_off = hosts_cut_off(by_place);
  for (const auto& [place, happened] : by_place)
    judge_events_of(happened, limits, today, out);
  for (Finding& finding : out.findings) {
    if (finding.id != "link.flapping" || !cut_off.contains(finding.where.host)) continue;
    finding.severity = Severity::kInfo;
    finding.verdict +=
        " So did the host's other links at the same time: perhaps the switch or the host was "
        "restarted.";
  }
  // What a kernel says of GPUs, disks and memory is what the same words say elsewhere.
  std::vector<readers::Cited> foreign;
  for (const readers::PasteEvent& event : events)
    if (event.kind == EventKind::kForeign) foreign.push_back(event.at);
  for (Finding& finding : stated_faults(foreign, limits))
    out.findings.push_back(std::move(finding));
}

// ---- the log of a host that was read ----

namespace {

/// The NIC, GPU or port above that a message is about; nullopt where it is some other device's.
std::optional<std::string> device_of(const Evidence& host, const readers::KernelDevice& named,
                                     EventKind kind) {
  if (named.address.empty() && named.netdev.empty()) return std::string();
  const auto is_at = [&](const evidence::Pcie& pcie) {
    return pcie.address.is_known() && !named.address.empty() &&
           pcie.address->ends_with(named.address);
  };
  for (const evidence::Nic& nic : host.nics)
    if (is_at(nic.pcie) || (!named.netdev.empty() && nic.netdev.is(named.netdev)))
      return nic.device;
  const bool is_path = kind == EventKind::kPcieError || kind == EventKind::kForeign;
  for (const evidence::Gpu& gpu : host.gpus)
    if (is_path && is_at(gpu.pcie)) return fmt::format("GPU {}", gpu.index);
  return std::nullopt;
}

/// A state that lasts since the driver was loaded; the others happened once, and are over.
bool is_lasting(EventKind kind) {
  return kind == EventKind::kPcieLimited || kind == EventKind::kSlotPower ||
         kind == EventKind::kPeermemRefused || kind == EventKind::kUnplugged;
}

/// Seconds since the boot when the host was looked at; 0: not known.
double looked_at(const Evidence& host) {
  return host.snapshots.empty() ? 0 : static_cast<double>(host.snapshots.back().clock_ns) / 1e9;
}

}  // namespace

void judge_kernel_log(const Evidence& host, const finding::Thresholds& limits,
                      finding::Judgement& out) {
  const auto& log = host.host.kernel_log;
  if (log.is_missing() && (log.why() == Missing::kPermission || log.why() == Missing::kError)) {
    const bool is_refused = log.why() == Missing::kPermission;
    out.unknown.push_back(
        {.check = fmt::format("{}: the kernel's log", host.provenance.host),
         .reason = is_refused ? "permission denied (kernel.dmesg_restrict is 1)" : "read failed",
         .how = is_refused ? "run as root, or paste what `sudo dmesg` prints"
                           : "paste what `dmesg` prints",
         .is_required = false});
  }
  if (!log.is_known()) return;
  const double now = looked_at(host);
  const bool has_gpu_memory = host.host.peermem.is(true) || host.host.dmabuf.is(true);
  std::vector<readers::PasteEvent> events;
  int number = 0;
  for (const std::string& text : *log) {
    ++number;
    const auto line = readers::kernel_log_line(text);
    const auto kind = line ? readers::kernel_event(line->message) : std::nullopt;
    if (!kind || (*kind == EventKind::kPeermemRefused && has_gpu_memory)) continue;
    const auto seconds = readers::seconds_since_boot(text);
    const bool is_old =
        seconds && now > 0 && now - *seconds > limits.log_age * 3600 && !is_lasting(*kind);
    const auto device = device_of(host, readers::kernel_device(line->message), *kind);
    if (is_old || !device) continue;
    events.push_back({*kind, host.provenance.host, *device, {log.source(), number, text}});
  }
  judge_events(events, limits, out);
}

}  // namespace weir::diagnose

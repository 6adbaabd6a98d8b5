#include "diagnose/validate/collector.h"

#include <algorithm>

#include <fmt/format.h>

#include "base/name_pattern.h"
#include "diagnose/core/fixes.h"
#include "finding/catalog.h"

namespace weir::diagnose {

namespace {

/// Settings that differ are a kind each; other faults are one by their id.
std::string kind_of(std::string_view id, std::string_view text) {
  return id == "config.differs" ? std::string(text.substr(0, text.find(": "))) : std::string();
}

}  // namespace

void Collector::wrong(std::string_view id, const std::string& port, const std::string& text,
                      std::optional<finding::Severity> severity) {
  const std::string place = port.empty() ? found_.name : fmt::format("{} {}", found_.name, port);
  finding::Where where;
  where.switch_name = found_.name;
  where.port = port;
  finding::Finding made = finding::make_finding(id, fmt::format("{} {}.", place, text), where);
  if (severity) made.severity = *severity;
  // A note and an error under one name are two findings.
  auto at = std::find_if(faults_.begin(), faults_.end(), [&](const Fault& fault) {
    return fault.finding.id == made.id && fault.finding.severity == made.severity &&
           kind_of(id, fault.lines.front().text) == kind_of(id, text);
  });
  if (at == faults_.end())
    at = faults_.insert(faults_.end(), {std::move(made), {}, 0});
  else if (at->finding.where.port != port)
    at->finding.where.port.clear();
  ++at->count;
  auto line = std::find_if(at->lines.begin(), at->lines.end(),
                           [&](const Line& known) { return known.text == text; });
  if (line == at->lines.end()) line = at->lines.insert(at->lines.end(), {text, {}});
  if (!port.empty()) line->ports.push_back(port);
}

bool Collector::has(std::string_view id) const {
  return std::any_of(faults_.begin(), faults_.end(),
                     [&](const Fault& fault) { return fault.finding.id == id; });
}

void Collector::unknown(std::string what, bool is_required) {
  const std::string check = fmt::format("{}: {}", found_.name, what);
  for (const finding::Unknown& unknown : out_.unknown)
    if (unknown.check == check) return;
  out_.unknown.push_back({check, "not read",
                          "the switch's configuration: weir validate --switch NAME=FILE",
                          is_required});
}

void Collector::unknown_without_configuration(std::string what) {
  const bool has_configuration =
      std::any_of(found_.ports.begin(), found_.ports.end(),
                  [](const evidence::SwitchPort& port) { return !port.mtu.source().empty(); });
  unknown(std::move(what), has_configuration);
}

void Collector::close(Fault& fault) {
  for (const Line& said : fault.lines) {
    finding::EvidenceLine line;
    line.source = said.ports.empty() ? found_.name
                                     : fmt::format("{} {}", found_.name, ports_text(said.ports));
    line.line = said.text;
    fault.finding.evidence.push_back(std::move(line));
  }
  if (fault.count > 1)
    fault.finding.verdict += fmt::format(" {} more of this kind.", fault.count - 1);
  fit_fixes(&found_, fault.finding.where.port, fault.finding);
}

void Collector::finish() {
  for (Fault& fault : faults_) {
    close(fault);
    out_.findings.push_back(std::move(fault.finding));
  }
}

std::string expected(std::string_view what, std::string_view wanted, std::string_view found) {
  return fmt::format("{}: expected {}, found {}", what, wanted, found);
}

/// Code points in one text: "24-25,27".
std::string ranges(const std::vector<unsigned>& codes) {
  std::string out;
  for (std::size_t i = 0; i < codes.size(); ++i) {
    std::size_t last = i;
    while (last + 1 < codes.size() && codes[last + 1] == codes[last] + 1)
      ++last;
    out += fmt::format("{}{}", out.empty() ? "" : ",", codes[i]);
    if (last > i) out += fmt::format("-{}", codes[last]);
    i = last;
  }
  return out;
}

const evidence::EgressQueue* find_queue(const evidence::SwitchPort& port, Queue queue) {
  const auto at =
      std::find_if(port.queues.begin(), port.queues.end(),
                   [&](const evidence::EgressQueue& known) { return known.queue == queue; });
  return at == port.queues.end() ? nullptr : &*at;
}

}  // namespace weir::diagnose

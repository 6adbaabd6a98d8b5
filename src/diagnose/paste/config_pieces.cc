// Ports in a piece of a switch's configuration, compared with each other: one that has some of the
// statements about RDMA's class and lacks one that all the others have was forgotten.
#include <algorithm>
#include <array>
#include <map>
#include <optional>
#include <set>

#include <fmt/format.h>

#include "base/text.h"
#include "diagnose/paste/pasted_parts.h"
#include "finding/catalog.h"
#include "readers/paste/text_lines.h"

namespace weir::diagnose {
namespace {

/// Statements of a port that decide which class its packets are in and whether it is lossless.
bool is_qos_statement(std::string_view text) {
  constexpr auto kStarts = std::to_array<std::string_view>({"service-policy ", "service-profile ",
                                                            "priority-flow-control ", "qos trust ",
                                                            "congestion-notification-profile "});
  return std::any_of(kStarts.begin(), kStarts.end(),
                     [&](std::string_view start) { return text.starts_with(start); });
}

struct ConfiguredPort {
  std::string name;
  readers::Cited at;
  std::set<std::string> statements;
};

/// "set class-of-service interfaces et-0/0/1 …", "nv set interface swp1 qos …": a port and what is
/// set on it.
struct SetStatement {
  std::string_view port;
  std::string statement;
};
std::optional<SetStatement> set_statement(const std::vector<std::string_view>& words) {
  const bool is_junos = words.size() > 4 && words[0] == "set" && words[1] == "class-of-service" &&
                        words[2] == "interfaces" &&
                        words[3].find_first_of("*<") == std::string_view::npos;
  const bool is_cumulus = words.size() > 5 && words[0] == "nv" && words[1] == "set" &&
                          words[2] == "interface" && words[4] == "qos" &&
                          words[3].find_first_of(",-") == std::string_view::npos;
  if (!is_junos && !is_cumulus) return std::nullopt;
  SetStatement out;
  out.port = words[3];
  for (std::size_t i = 4; i < words.size(); ++i)
    out.statement += (i > 4 ? " " : "") + std::string(words[i]);
  return out;
}

std::vector<ConfiguredPort> ports_in(const readers::PasteConfig& config) {
  std::vector<ConfiguredPort> out;
  std::map<std::string_view, std::size_t> set_ports;  // by name, in the text: their place in `out`
  bool is_inside = false;
  for (const readers::Line& line : readers::lines_of(config.text)) {
    const std::string_view text = trim(line.text);
    const auto words = readers::words_of(text);
    if (const auto set = set_statement(words); set) {
      is_inside = false;
      const auto [known, is_new] = set_ports.try_emplace(set->port, out.size());
      if (is_new)
        out.push_back({std::string(set->port), {config.file, line.number, std::string(text)}, {}});
      out[known->second].statements.insert(set->statement);
    } else if (words.size() == 2 && words[0] == "interface") {
      is_inside = words[1].starts_with("Eth") || words[1].starts_with("et-");
      if (is_inside)
        out.push_back({std::string(words[1]), {config.file, line.number, std::string(text)}, {}});
    } else if (is_inside && is_qos_statement(text)) {
      out.back().statements.insert(std::string(text));
    }
  }
  return out;
}

/// Which class packets are in is decided at the port where they arrive.
bool is_classification(std::string_view statement) {
  return statement.starts_with("service-policy type qos input ") ||
         statement.starts_with("qos trust ");
}

bool has_pfc(const ConfiguredPort& port) {
  return std::any_of(port.statements.begin(), port.statements.end(), [](const std::string& text) {
    return text.starts_with("priority-flow-control ");
  });
}

void judge_piece(const readers::PasteConfig& config, const finding::Thresholds& limits,
                 finding::Judgement& out) {
  const std::vector<ConfiguredPort> ports = ports_in(config);
  // Of two, both with PFC, one that sorts no packets into the class that it pauses is enough.
  const bool is_pair = ports.size() == 2 && has_pfc(ports[0]) && has_pfc(ports[1]);
  if (ports.size() <= limits.sisters_meant_alike && !is_pair) return;
  std::map<std::string, std::size_t> counts;
  for (const ConfiguredPort& port : ports)
    for (const std::string& statement : port.statements)
      ++counts[statement];
  std::erase_if(counts, [&](const auto& each) {
    return each.second + 1 != ports.size() || (is_pair && !is_classification(each.first));
  });
  for (const ConfiguredPort& port : ports) {
    if (port.statements.empty()) continue;  // another kind of port
    for (const auto& [statement, count] : counts) {
      if (port.statements.contains(statement)) continue;
      const std::string name = config.switch_name.empty() ? "The switch" : config.switch_name;
      finding::Where where;
      where.switch_name = config.switch_name;
      where.port = port.name;
      finding::Finding finding = finding::make_finding(
          "fleet.drift",
          fmt::format("{} {} lacks \"{}\", which the other port{} {}.", name, port.name, statement,
                      count == 1 ? "" : "s", count == 1 ? "has" : "have"),
          std::move(where));
      finding.severity = finding::Severity::kWarning;  // it may be meant so
      finding.confidence = finding::Confidence::kMedium;
      finding.evidence.push_back(line_of(port.at));
      out.findings.push_back(std::move(finding));
      return;
    }
  }
}

}  // namespace

void judge_config_pieces(const PastedCase& input, finding::Judgement& out) {
  if (input.intent != nullptr) return;  // the design says it
  for (const readers::PasteConfig& config : input.paste.configs)
    judge_piece(config, input.thresholds, out);
}

}  // namespace weir::diagnose

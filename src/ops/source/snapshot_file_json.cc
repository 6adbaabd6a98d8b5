#include <map>

#include <fmt/format.h>

#include "base/file.h"
#include "base/json.h"
#include "base/json_cursor.h"
#include "base/untrusted/json_parse.h"
#include "evidence/json.h"
#include "host/bundle/bundle.h"
#include "host/linux/host.h"
#include "ops/source/snapshot_file.h"

namespace weir::ops {
namespace {

constexpr std::string_view kSnapshotSchema = "weir/snapshot/1";
constexpr std::string_view kSimulationSchema = "weir/sim/1";

/// Bytes that are not UTF-8 are replaced: a host may show any, JSON may not hold them.
std::string in_one_line(const Json& value) {
  return value.dump(-1, ' ', false, Json::error_handler_t::replace);
}

/// `"key": [`, a line per record, `]`.
class RecordList {
 public:
  RecordList(std::string_view key, std::string& out) : out_(out) {
    out_ += fmt::format(" \"{}\": [", key);
  }
  /// Where the next record is to be appended.
  std::string& next() {
    out_ += is_empty_ ? "\n  " : ",\n  ";
    is_empty_ = false;
    return out_;
  }
  void end(std::string_view after) {
    out_ += fmt::format("{}]{}\n", is_empty_ ? "" : "\n ", after);
  }

 private:
  std::string& out_;
  bool is_empty_ = true;
};

using PortsOf = std::vector<counters::PortCounters> counters::Snapshot::*;

void append_ports(std::span<const evidence::Evidence> captures, PortsOf ports,
                  counters::PortWriter& writer, RecordList& list) {
  for (const evidence::Evidence& capture : captures) {
    if (capture.snapshots.empty()) continue;
    for (const counters::PortCounters& port : capture.snapshots.back().*ports)
      writer.append(capture.provenance.host, port, list.next());
  }
}

Json capture_json(const evidence::Evidence& capture) {
  evidence::Evidence facts = capture;
  facts.snapshots.clear();
  const bool has_counters = !capture.snapshots.empty();
  return {{"host", capture.provenance.host},
          {"time", has_counters ? capture.snapshots.back().time : capture.provenance.time},
          {"clock_ns", has_counters ? capture.snapshots.back().clock_ns : 0},
          {"simulated", capture.provenance.simulated},
          {"facts", evidence::to_json(facts)}};
}

/// The ports of a document by the capture they belong to, each a list.
using PortsOfHost = std::map<std::string, Json, std::less<>>;

weir::Result<PortsOfHost> ports_by_host(const JsonCursor& root, std::string_view key) {
  PortsOfHost ports;
  const auto list = root.find(key);
  if (!list) return ports;
  WEIR_TRY_STATUS(list->expect_array());
  for (std::size_t i = 0; i < list->size(); ++i) {
    const JsonCursor port = list->at(i);
    WEIR_TRY_STATUS(port.expect_object());
    WEIR_TRY(host_at, port.member("host"));
    WEIR_TRY(host, host_at.text());
    ports.try_emplace(host, Json::array()).first->second.push_back(port.value());
  }
  return ports;
}

Json ports_of(const PortsOfHost& ports, const std::string& host) {
  const auto found = ports.find(host);
  return found == ports.end() ? Json::array() : found->second;
}

weir::Result<evidence::Evidence> read_capture(const JsonCursor& capture, const PortsOfHost& nics,
                                              const PortsOfHost& switch_ports) {
  WEIR_TRY_STATUS(capture.expect_object());
  WEIR_TRY(host_at, capture.member("host"));
  WEIR_TRY(host, host_at.text());
  WEIR_TRY(time_at, capture.member("time"));
  WEIR_TRY(time, time_at.text());
  WEIR_TRY(clock_at, capture.member("clock_ns"));
  WEIR_TRY(clock_ns, clock_at.integer());
  WEIR_TRY(facts, capture.member("facts"));
  WEIR_TRY(evidence, evidence::evidence_from_json(facts.value()));
  const Json counters = {{"time", time},
                         {"clock_ns", clock_ns},
                         {"nics", ports_of(nics, host)},
                         {"switch_ports", ports_of(switch_ports, host)}};
  WEIR_TRY(snapshot, counters::snapshot_from_json(counters));
  evidence.snapshots = {std::move(snapshot)};
  return evidence;
}

weir::Result<std::vector<evidence::Evidence>> read_captures(const Json& document) {
  const JsonCursor root(document);
  WEIR_TRY_STATUS(root.expect_object());
  std::string schema;
  if (const auto at = root.find("schema")) {
    WEIR_TRY(text, at->text());
    schema = std::move(text);
  }
  std::vector<evidence::Evidence> captures;
  if (schema != kSnapshotSchema) {
    WEIR_TRY(evidence, evidence::evidence_from_json(document));
    captures.push_back(std::move(evidence));
    return captures;
  }
  WEIR_TRY(list, root.member("captures"));
  WEIR_TRY_STATUS(list.expect_array());
  WEIR_TRY(nics, ports_by_host(root, "nics"));
  WEIR_TRY(switch_ports, ports_by_host(root, "switch_ports"));
  for (std::size_t i = 0; i < list.size(); ++i) {
    const JsonCursor entry = list.at(i);
    WEIR_TRY(capture, read_capture(entry, nics, switch_ports));
    captures.push_back(std::move(capture));
  }
  return captures;
}

}  // namespace

bool is_simulation(const Json& document) {
  return document.is_object() && document.value("schema", Json()) == kSimulationSchema;
}

weir::Result<std::vector<evidence::Evidence>> read_simulation(const Json& document) {
  const auto hosts = document.find("hosts");
  if (hosts == document.end() || !hosts->is_array())
    return invalid_error("the result has no 'hosts': weir sim --json or --out writes them");
  std::vector<evidence::Evidence> out;
  const auto add = [&](const Json& value, const std::string& place) -> weir::Status {
    auto piece = evidence::evidence_from_json(value);
    if (!piece) return piece.error().within(place);
    out.push_back(std::move(*piece));
    return {};
  };
  for (std::size_t i = 0; i < hosts->size(); ++i)
    WEIR_TRY_STATUS(add((*hosts)[i], fmt::format("/hosts/{}", i)));
  if (const auto switches = document.find("switches"); switches != document.end())
    WEIR_TRY_STATUS(add(*switches, "/switches"));
  return out;
}

std::string snapshot_text(const Json& heading, std::span<const evidence::Evidence> captures) {
  std::string out = "{\n";
  for (const auto& [key, value] : heading.items())
    out += fmt::format(" {}: {},\n", in_one_line(key), in_one_line(value));
  RecordList list("captures", out);
  for (const evidence::Evidence& capture : captures)
    list.next() += in_one_line(capture_json(capture));
  list.end(",");
  counters::PortWriter writer;
  RecordList nics("nics", out);
  append_ports(captures, &counters::Snapshot::nics, writer, nics);
  nics.end(",");
  RecordList switch_ports("switch_ports", out);
  append_ports(captures, &counters::Snapshot::switch_ports, writer, switch_ports);
  switch_ports.end("");
  return out + "}\n";
}

weir::Result<std::vector<evidence::Evidence>> read_snapshot_file(const std::string& path) {
  WEIR_TRY(text, read_file(path));
  return read_snapshot_text(text, path);
}

weir::Result<std::vector<evidence::Evidence>> read_snapshot_text(const std::string& text,
                                                                 const std::string& path) {
  if (text.starts_with(host::kBundleHeading)) {
    WEIR_TRY(bundled, host::open_bundle(text, path));
    WEIR_TRY(seen, bundled->observe());
    return std::vector<evidence::Evidence>{std::move(seen)};
  }
  const auto document = parse_json(text);
  if (!document)
    return parse_error(
        fmt::format("{}: expected JSON, as weir snapshot --out writes it, or a bundle: {}", path,
                    document.error().what));
  weir::Result<std::vector<evidence::Evidence>> captures = read_captures(*document);
  if (!captures) return captures.error().within(path);
  return captures;
}

weir::Result<std::optional<std::vector<evidence::Evidence>>> read_document(
    const std::string& text, const std::string& path) {
  using Pieces = std::optional<std::vector<evidence::Evidence>>;
  const std::size_t first = text.find_first_not_of(" \t\r\n");
  const bool may_be = first != std::string::npos && (text[first] == '{' || text[first] == '[');
  auto parsed = may_be ? parse_json(text) : weir::Result<Json>(Json());
  if (!parsed && parsed.error().code == ErrorCode::kInvalid) return parsed.error().within(path);
  const Json document = parsed ? std::move(*parsed) : Json();
  auto snapshots =
      is_simulation(document) ? read_simulation(document) : read_snapshot_text(text, path);
  if (snapshots) return Pieces(std::move(*snapshots));
  // What says that it is a bundle and cannot be read as one is not read as prose.
  if (text.starts_with(host::kBundleHeading)) return snapshots.error();
  if (!document.is_object()) return Pieces();
  return is_simulation(document) ? snapshots.error().within(path) : snapshots.error();
}

}  // namespace weir::ops

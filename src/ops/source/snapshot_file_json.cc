#include <algorithm>
#include <array>
#include <charconv>
#include <map>
#include <optional>
#include <utility>

#include <fmt/format.h>

#include "base/file.h"
#include "base/json.h"
#include "base/json_cursor.h"
#include "base/untrusted/json_parse.h"
#include "base/untrusted/json_text.h"
#include "evidence/json.h"
#include "host/bundle/bundle.h"
#include "host/linux/host.h"
#include "ops/source/snapshot_file.h"

namespace weir::ops {
namespace {

constexpr std::string_view kSnapshotSchema = "weir/snapshot/1";
constexpr std::string_view kSimulationSchema = "weir/sim/1";

/// `"key": [`, a line per record, `]`.
class RecordList {
 public:
  RecordList(std::string_view key, std::string& out, const PieceSink& put) : out_(out), put_(put) {
    out_ += fmt::format(" \"{}\": [", key);
  }
  /// Where the next record is to be appended.
  std::string& next() {
    constexpr std::size_t kPiece = 1 << 18;
    if (out_.size() > kPiece) {
      put_(out_);
      out_.clear();
    }
    out_ += is_empty_ ? "\n  " : ",\n  ";
    is_empty_ = false;
    return out_;
  }
  void end(std::string_view after) {
    out_ += fmt::format("{}]{}\n", is_empty_ ? "" : "\n ", after);
  }

 private:
  std::string& out_;
  const PieceSink& put_;
  bool is_empty_ = true;
};

using PortsOf = std::vector<counters::PortCounters> counters::Snapshot::*;

void append_ports(CapturePointers captures, PortsOf ports, counters::PortWriter& writer,
                  RecordList& list) {
  for (const evidence::Evidence* capture : captures) {
    if (capture->snapshots.empty()) continue;
    for (const counters::PortCounters& port : capture->snapshots.back().*ports)
      writer.append(capture->provenance.host, port, list.next());
  }
}

void append_capture(const evidence::Evidence& capture, evidence::FactWriter& writer,
                    std::string& out) {
  const bool has_counters = !capture.snapshots.empty();
  out += R"({"host":)";
  append_json_text(capture.provenance.host, out);
  out += R"(,"time":)";
  append_json_text(has_counters ? capture.snapshots.back().time : capture.provenance.time, out);
  out += fmt::format(R"(,"clock_ns":{},"simulated":{},"facts":)",
                     has_counters ? capture.snapshots.back().clock_ns : 0,
                     capture.provenance.simulated);
  writer.append(capture, out);
  out += '}';
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

/// When a capture was made: a snapshot without ports.
weir::Result<counters::Snapshot> read_moment(const JsonCursor& capture) {
  counters::Snapshot snapshot;
  WEIR_TRY(time_at, capture.member("time"));
  WEIR_TRY(time, time_at.text());
  WEIR_TRY(clock_at, capture.member("clock_ns"));
  WEIR_TRY(clock_ns, clock_at.integer());
  snapshot.time = std::move(time);
  snapshot.clock_ns = clock_ns;
  return snapshot;
}

weir::Result<evidence::Evidence> read_capture(const JsonCursor& capture, const PortsOfHost& nics,
                                              const PortsOfHost& switch_ports) {
  WEIR_TRY_STATUS(capture.expect_object());
  WEIR_TRY(host_at, capture.member("host"));
  WEIR_TRY(host, host_at.text());
  WEIR_TRY(moment, read_moment(capture));
  WEIR_TRY(facts, capture.member("facts"));
  WEIR_TRY(evidence, evidence::evidence_from_json(facts.value()));
  const Json counters = {{"time", moment.time},
                         {"clock_ns", moment.clock_ns},
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

// ---- line by line ----

/// Reads what PortWriter wrote. Ports that show the same counters differ in their numbers alone:
/// what is between the numbers is compared with that of an earlier port, not parsed again.
class PortReader {
 public:
  struct Port {
    std::string host;
    counters::PortCounters counters;
  };
  weir::Result<Port> read(std::string_view line) {
    const std::size_t body = line.find(kCounters);
    if (body == std::string_view::npos) return read_whole(line);
    WEIR_TRY(head, parse_json(std::string(line.substr(0, body)) + "}"));
    const JsonCursor at(head);
    WEIR_TRY(host, text_at(at, "host"));
    WEIR_TRY(device, text_at(at, "device"));
    WEIR_TRY(netdev, text_at(at, "netdev"));
    WEIR_TRY(driver, text_at(at, "driver"));
    for (const Known& known : known_) {
      if (known.driver != driver) continue;
      if (auto readings = values_of(line.substr(body), known.between))
        return Port{std::move(host),
                    {std::move(device), std::move(netdev), std::move(driver), known.layout,
                     std::move(*readings)}};
    }
    return read_whole(line);
  }

 private:
  static constexpr std::string_view kCounters = R"(,"counters":{)";
  static constexpr std::string_view kValue = R"("value":)";
  struct Known {
    std::string driver;
    std::vector<std::string> between;  // what is before each number, and behind the last
    counters::SharedLayout layout;
  };

  static weir::Result<std::string> text_at(const JsonCursor& at, std::string_view key) {
    WEIR_TRY(member, at.member(key));
    return member.text();
  }

  /// nullopt where the text between the numbers is another.
  static std::optional<std::vector<counters::Reading>> values_of(
      std::string_view text, const std::vector<std::string>& between) {
    std::vector<counters::Reading> out;
    out.reserve(between.size());
    for (std::size_t i = 0; i < between.size(); ++i) {
      if (!text.starts_with(between[i])) return std::nullopt;
      text.remove_prefix(between[i].size());
      if (i + 1 == between.size()) break;
      std::uint64_t value = 0;
      const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
      if (error != std::errc()) return std::nullopt;
      text.remove_prefix(static_cast<std::size_t>(end - text.data()));
      out.push_back(counters::Reading::of(value));
    }
    return text.empty() ? std::optional(std::move(out)) : std::nullopt;
  }

  weir::Result<Port> read_whole(std::string_view line) {
    WEIR_TRY(record, parse_json(line));
    const JsonCursor at(record);
    WEIR_TRY_STATUS(at.expect_object());
    WEIR_TRY(host, text_at(at, "host"));
    const Json document = {{"nics", Json::array({record})}};
    WEIR_TRY(snapshot, counters::snapshot_from_json(document));
    learn(line, snapshot.nics.front());
    return Port{std::move(host), std::move(snapshot.nics.front())};
  }

  void learn(std::string_view line, const counters::PortCounters& port) {
    constexpr std::size_t kMost = 16;
    const std::size_t body = line.find(kCounters);
    if (body == std::string_view::npos || known_.size() == kMost) return;
    Known known{port.driver(), {}, port.layout()};
    std::string_view text = line.substr(body);
    for (std::size_t at = text.find(kValue); at != std::string_view::npos; at = text.find(kValue)) {
      known.between.emplace_back(text.substr(0, at + kValue.size()));
      text.remove_prefix(at + kValue.size());
      text.remove_prefix(std::min(text.find_first_not_of("0123456789"), text.size()));
    }
    known.between.emplace_back(text);
    // In the order of the layout, each with a value: only then the numbers are its readings.
    const auto values = values_of(line.substr(body), known.between);
    const auto readings = port.readings();
    if (values && std::equal(values->begin(), values->end(), readings.begin(), readings.end()))
      known_.push_back(std::move(known));
  }

  std::vector<Known> known_;
};

/// The lines of a list that write_snapshot() wrote, one record each; moves behind its end.
class SnapshotLines {
 public:
  explicit SnapshotLines(std::string_view text) : rest_(text) {}

  /// Moves to the first record; false where there is no such list.
  bool enter(std::string_view key) {
    const std::string start = fmt::format("\n \"{}\": [", key);
    const std::size_t at = rest_.find(start);
    if (at == std::string_view::npos) return false;
    rest_.remove_prefix(at + start.size());
    return rest_.starts_with('\n') || rest_.starts_with(']');
  }
  /// The next record; empty behind the last.
  std::string_view next() {
    if (!rest_.starts_with("\n  {")) return {};
    const std::size_t end = std::min(rest_.find('\n', 1), rest_.size());
    std::string_view line = rest_.substr(3, end - 3);
    rest_.remove_prefix(end);
    if (line.ends_with(',')) line.remove_suffix(1);
    return line;
  }

 private:
  std::string_view rest_;
};

using Captures = std::vector<evidence::Evidence>;

/// Reads what append_capture() wrote; the ports of the snapshot come later in the file.
weir::Result<evidence::Evidence> read_capture_line(std::string_view line,
                                                   evidence::FactReader& reader) {
  constexpr std::string_view kFacts = R"(,"facts":)";
  const std::size_t at = line.find(kFacts);
  if (at != std::string_view::npos && line.ends_with('}')) {
    std::string_view facts = line.substr(at + kFacts.size());
    facts.remove_suffix(1);
    const auto head = parse_json(std::string(line.substr(0, at)) + "}");
    auto capture = head ? reader.read(facts) : std::nullopt;
    if (capture) {
      WEIR_TRY(snapshot, read_moment(JsonCursor(*head)));
      capture->snapshots = {std::move(snapshot)};
      return std::move(*capture);
    }
  }
  WEIR_TRY(record, parse_json(line));
  const PortsOfHost none;
  return read_capture(JsonCursor(record), none, none);
}

/// A large file of our own, without a document in memory; nullopt for a text of another shape.
weir::Result<std::optional<Captures>> read_captures_by_line(std::string_view text) {
  constexpr std::string_view kStart = "{\n \"schema\": \"weir/snapshot/1\",\n";
  SnapshotLines lines(text);
  if (!text.starts_with(kStart) || !lines.enter("captures")) return std::optional<Captures>();
  Captures captures;
  std::map<std::string, std::size_t, std::less<>> by_host;
  evidence::FactReader facts;
  for (std::string_view line = lines.next(); !line.empty(); line = lines.next()) {
    WEIR_TRY(capture, read_capture_line(line, facts));
    by_host.emplace(capture.provenance.host, captures.size());
    captures.push_back(std::move(capture));
  }
  PortReader reader;
  for (const auto& [key, ports] :
       {std::pair<std::string_view, PortsOf>("nics", &counters::Snapshot::nics),
        std::pair<std::string_view, PortsOf>("switch_ports", &counters::Snapshot::switch_ports)}) {
    if (!lines.enter(key)) return std::optional<Captures>();
    for (std::string_view line = lines.next(); !line.empty(); line = lines.next()) {
      WEIR_TRY(port, reader.read(line));
      const auto owner = by_host.find(port.host);
      if (owner != by_host.end())
        (captures[owner->second].snapshots.back().*ports).push_back(std::move(port.counters));
    }
  }
  return std::optional<Captures>(std::move(captures));
}

}  // namespace

/// Says that weir wrote it, whether or not it can be read. Other JSON is a text like any other.
static bool is_own_document(const Json& document) {
  constexpr auto kOwn = std::to_array<const char*>(
      {"schema", "provenance", "captures", "snapshots", "nics", "switch_ports", "weir"});
  return std::any_of(kOwn.begin(), kOwn.end(),
                     [&](const char* key) { return document.contains(key); });
}

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

void write_snapshot(const Json& heading, CapturePointers captures, const PieceSink& put) {
  std::string out = "{\n";
  for (const auto& [key, value] : heading.items())
    out += fmt::format(" {}: {},\n", json_in_one_line(key), json_in_one_line(value));
  RecordList list("captures", out, put);
  evidence::FactWriter facts;
  for (const evidence::Evidence* capture : captures)
    append_capture(*capture, facts, list.next());
  list.end(",");
  counters::PortWriter writer;
  RecordList nics("nics", out, put);
  append_ports(captures, &counters::Snapshot::nics, writer, nics);
  nics.end(",");
  RecordList switch_ports("switch_ports", out, put);
  append_ports(captures, &counters::Snapshot::switch_ports, writer, switch_ports);
  switch_ports.end("");
  put(out + "}\n");
}

weir::Result<std::vector<evidence::Evidence>> read_snapshot_file(const std::string& path) {
  WEIR_TRY(text, read_file(path, kLargestResults));
  return read_snapshot_text(text, path);
}

weir::Result<std::vector<evidence::Evidence>> read_snapshot_text(const std::string& text,
                                                                 const std::string& path) {
  if (text.starts_with(host::kBundleHeading)) {
    WEIR_TRY(bundled, host::open_bundle(text, path));
    WEIR_TRY(seen, bundled->observe());
    return std::vector<evidence::Evidence>{std::move(seen)};
  }
  auto by_line = read_captures_by_line(text);
  if (by_line && *by_line) return std::move(**by_line);  // an error is found again, with its place
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
  using Found = std::optional<std::vector<evidence::Evidence>>;
  if (auto by_line = read_captures_by_line(text); by_line && *by_line)
    return Found(std::move(**by_line));
  const std::size_t first = text.find_first_not_of(" \t\r\n");
  const bool may_be = first != std::string::npos && (text[first] == '{' || text[first] == '[');
  auto parsed = may_be ? parse_json(text) : weir::Result<Json>(Json());
  if (!parsed && parsed.error().code == ErrorCode::kInvalid) return parsed.error().within(path);
  const Json document = parsed ? std::move(*parsed) : Json();
  auto snapshots =
      is_simulation(document) ? read_simulation(document) : read_snapshot_text(text, path);
  if (snapshots) return Found(std::move(*snapshots));
  // What says that it is a bundle and cannot be read as one is not read as prose.
  if (text.starts_with(host::kBundleHeading)) return snapshots.error();
  if (!document.is_object() || !is_own_document(document)) return Found();
  return is_simulation(document) ? snapshots.error().within(path) : snapshots.error();
}

}  // namespace weir::ops

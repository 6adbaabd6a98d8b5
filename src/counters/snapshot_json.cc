// Snapshots as JSON, out and in.
#include <utility>

#include <fmt/format.h>

#include "base/json.h"
#include "base/json_cursor.h"
#include "base/untrusted/json_text.h"
#include "counters/snapshot.h"

namespace weir::counters {
namespace {

/// An object made of members known to be distinct. Json's own ways look each key up from the start,
/// and copy what they hold whenever the list grows: a snapshot of eight NICs has thousands of
/// members.
class ObjectMaker {
 public:
  explicit ObjectMaker(std::size_t members) { object_.reserve(members); }
  void add(std::string key, Json value) { object_.emplace_back(std::move(key), std::move(value)); }
  [[nodiscard]] Json take() { return Json(std::move(object_)); }

 private:
  Json::object_t object_;
};

Json sample_json(const ShownSample& sample) {
  ObjectMaker out(4);
  if (sample.match) {
    out.add("id", sample.match.counter->id);
    out.add("unit", to_text(unit_of(sample.match)));
    if (sample.match.number) out.add("number", *sample.match.number);
  } else {
    out.add("id", nullptr);
    out.add("unit", nullptr);
  }
  if (sample.reading.has_value()) {
    out.add("value", sample.reading.value());
  } else {
    out.add("missing", to_text(sample.reading.why()));
  }
  return out.take();
}

/// `"hw_counters/np_cnp_sent": {"id": …, "unit": …, "value": `: a sample up to its value.
std::string head_of(const ShownSample& sample) {
  const std::string text = json_in_one_line(sample_json(sample));
  const std::size_t value = text.rfind(':') + 1;
  return json_in_one_line(sample.key()) + ":" + text.substr(0, value);
}

std::vector<std::string> heads_of(const Layout& layout) {
  const std::vector<Reading> zeros(layout.size(), Reading::of(0));
  std::vector<std::string> heads;
  for (const ShownSample& sample : Samples(layout, zeros))
    heads.push_back(head_of(sample));
  return heads;
}

Result<Reading> reading_from(const JsonCursor& entry) {
  WEIR_TRY_STATUS(entry.expect_object());
  const auto value = entry.find("value");
  const auto missing = entry.find("missing");
  if (value.has_value() == missing.has_value()) return entry.wrong("either value or missing");
  if (value) {
    WEIR_TRY(number, value->whole_number());
    return Reading::of(number);
  }
  WEIR_TRY(reason, missing->text());
  const auto why = parse_missing(reason);
  if (!why) return missing->wrong("absent, unsupported, permission or error");
  return Reading::missing(*why);
}

Result<std::vector<Sample>> samples_from(const JsonCursor& counters) {
  WEIR_TRY_STATUS(counters.expect_object());
  std::vector<Sample> samples;
  for (const auto& [key, value] : counters.value().items()) {
    const JsonCursor entry = counters.member(key, value);
    const std::size_t slash = key.find('/');
    const auto place = slash == std::string::npos ? std::nullopt : place_of(key.substr(0, slash));
    if (!place || slash + 1 == key.size())
      return entry.wrong("a key of place and name (\"hw_counters/np_cnp_sent\")");
    WEIR_TRY(reading, reading_from(entry));
    samples.push_back({*place, key.substr(slash + 1), reading});
  }
  return samples;
}

Result<PortCounters> port_from(const JsonCursor& port) {
  WEIR_TRY_STATUS(port.expect_object());
  WEIR_TRY(device_place, port.member("device"));
  WEIR_TRY(device, device_place.text());
  WEIR_TRY(netdev_place, port.member("netdev"));
  WEIR_TRY(netdev, netdev_place.text());
  WEIR_TRY(driver_place, port.member("driver"));
  WEIR_TRY(driver, driver_place.text());
  WEIR_TRY(counters, port.member("counters"));
  WEIR_TRY(samples, samples_from(counters));
  return PortCounters(std::move(device), std::move(netdev), std::move(driver), std::move(samples));
}

Result<std::vector<PortCounters>> ports_from(const JsonCursor& root, std::string_view key) {
  std::vector<PortCounters> ports;
  const auto list = root.find(key);
  if (!list) return ports;
  WEIR_TRY_STATUS(list->expect_array());
  for (std::size_t i = 0; i < list->size(); ++i) {
    WEIR_TRY(port, port_from(list->at(i)));
    ports.push_back(std::move(port));
  }
  return ports;
}

Json ports_json(const std::vector<PortCounters>& ports) {
  Json list = Json::array();
  for (const PortCounters& port : ports)
    list.push_back(to_json(port));
  return list;
}

}  // namespace

Json to_json(const PortCounters& port) {
  ObjectMaker counters(port.samples().size());
  for (const ShownSample& sample : port.samples())
    counters.add(sample.key(), sample_json(sample));
  ObjectMaker out(4);
  out.add("device", port.device());
  out.add("netdev", port.netdev());
  out.add("driver", port.driver());
  out.add("counters", counters.take());
  return out.take();
}

void PortWriter::append(std::string_view host, const PortCounters& port, std::string& out) {
  const auto [known, is_new] = heads_.try_emplace(port.layout());
  if (is_new) known->second = heads_of(*port.layout());
  const auto member = [&](std::string_view key, std::string_view text) {
    out += key;
    append_json_text(text, out);
  };
  member(R"({"host":)", host);
  member(R"(,"device":)", port.device());
  member(R"(,"netdev":)", port.netdev());
  member(R"(,"driver":)", port.driver());
  out += R"(,"counters":{)";
  std::size_t at = 0;
  for (const ShownSample& sample : port.samples()) {
    if (at > 0) out += ',';
    if (sample.reading.has_value()) {
      out += known->second[at];
      const fmt::format_int number(sample.reading.value());
      out.append(number.data(), number.size());
      out += '}';
    } else {
      out += json_in_one_line(sample.key()) + ":" + json_in_one_line(sample_json(sample));
    }
    ++at;
  }
  out += "}}";
}

Json to_json(const Snapshot& snapshot) {
  Json out = {{"schema", "weir/snapshot/1"},
              {"time", snapshot.time},
              {"clock_ns", snapshot.clock_ns},
              {"nics", ports_json(snapshot.nics)}};
  if (!snapshot.switch_ports.empty()) out["switch_ports"] = ports_json(snapshot.switch_ports);
  return out;
}

Result<Snapshot> snapshot_from_json(const Json& json) {
  return snapshot_from_json(JsonCursor(json));
}

Result<Snapshot> snapshot_from_json(const JsonCursor& root) {
  WEIR_TRY_STATUS(root.expect_object());
  Snapshot snapshot;
  if (const auto time = root.find("time")) {
    WEIR_TRY(text, time->text());
    snapshot.time = std::move(text);
  }
  if (const auto clock = root.find("clock_ns")) {
    WEIR_TRY(nanoseconds, clock->integer());
    if (nanoseconds < 0) return clock->wrong("nanoseconds since a start, 0 or more");
    snapshot.clock_ns = nanoseconds;
  }
  WEIR_TRY(nics_place, root.member("nics"));
  WEIR_TRY_STATUS(nics_place.expect_array());
  WEIR_TRY(nics, ports_from(root, "nics"));
  WEIR_TRY(switch_ports, ports_from(root, "switch_ports"));
  snapshot.nics = std::move(nics);
  snapshot.switch_ports = std::move(switch_ports);
  return snapshot;
}

}  // namespace weir::counters

#include "design/file/value_text.h"

#include <algorithm>

#include <fmt/format.h>

#include "base/json.h"
#include "base/text.h"
#include "design/fabric/patterns.h"
#include "units/format.h"

namespace weir::design {
namespace {

Json quantity_schema(std::string_view pattern, std::string_view example) {
  return {{"type", "string"}, {"pattern", pattern}, {"examples", Json::array({example})}};
}

Json number_schema(unsigned limit) {
  return {{"type", "integer"}, {"minimum", 0}, {"maximum", limit - 1}};
}

template <class C>
Result<C> parse_code(std::string_view text, std::string_view what) {
  const auto number = parse_u64(text);
  const auto code = number ? C::make(*number) : std::nullopt;
  if (!code)
    return parse_error(
        fmt::format("expected {} from 0 to {}, found '{}'", what, C::kLimit - 1, text));
  return *code;
}

// "3", "24-31" → both ends.
Result<std::pair<unsigned, unsigned>> parse_span(std::string_view text, unsigned limit,
                                                 std::string_view what) {
  const auto dash = text.find('-');
  const auto low = parse_u64(trim(text.substr(0, dash)));
  const auto high = dash == std::string_view::npos ? low : parse_u64(trim(text.substr(dash + 1)));
  if (!low || !high || *low > *high || *high >= limit)
    return parse_error(fmt::format("expected {} from 0 to {}, or a range such as 24-31, found '{}'",
                                   what, limit - 1, text));
  return std::pair{static_cast<unsigned>(*low), static_cast<unsigned>(*high)};
}

}  // namespace

Result<std::size_t> parse_word(std::string_view text, const std::vector<std::string>& allowed) {
  const auto found = std::find(allowed.begin(), allowed.end(), text);
  if (found != allowed.end()) return static_cast<std::size_t>(found - allowed.begin());
  return parse_error(fmt::format("expected one of {}, found '{}'{}", join(allowed, ", "), text,
                                 did_you_mean(text, allowed)));
}

Json word_schema(const std::vector<std::string>& allowed) {
  return {{"enum", allowed}};
}

Json auto_or_schema(const Json& inner) {
  return {{"anyOf", Json::array({Json{{"const", "auto"}}, inner})}};
}

Result<bool> ValueText<bool>::parse(std::string_view text) {
  if (text == "true" || text == "on" || text == "yes") return true;
  if (text == "false" || text == "off" || text == "no") return false;
  return parse_error(fmt::format("expected on or off, found '{}'", text));
}
std::string ValueText<bool>::print(const bool& value) {
  return value ? "on" : "off";
}
Json ValueText<bool>::schema() {
  return {{"enum", Json::array({true, false, "on", "off", "yes", "no"})}};
}

Result<int> ValueText<int>::parse(std::string_view text) {
  const auto number = parse_u64(text);
  if (!number || *number > 2'147'483'647)
    return parse_error(fmt::format("expected a whole number, found '{}'", text));
  return static_cast<int>(*number);
}
std::string ValueText<int>::print(const int& value) {
  return std::to_string(value);
}
Json ValueText<int>::schema() {
  return {{"type", "integer"}};
}

// Also what YAML takes for a line break or a mark, and what no terminal shows: U+0080-009F, U+2028,
// U+2029, U+FEFF.
static bool has_control(std::string_view utf8) {
  for (std::size_t i = 0; i < utf8.size(); ++i) {
    const auto byte = static_cast<unsigned char>(utf8[i]);
    const std::string_view rest = utf8.substr(i + 1);
    if (byte < 0x20 || byte == 0x7F) return true;
    if (byte == 0xC2 && !rest.empty() && static_cast<unsigned char>(rest[0]) < 0xA0) return true;
    if (byte == 0xE2 && (rest.starts_with("\x80\xA8") || rest.starts_with("\x80\xA9"))) return true;
    if (byte == 0xEF && rest.starts_with("\xBB\xBF")) return true;
  }
  return false;
}

Result<std::string> ValueText<std::string>::parse(std::string_view text) {
  const std::string_view clean = trim(text);
  if (clean.empty()) return parse_error("expected a text, found nothing");
  if (has_control(clean))
    return parse_error("expected a text of one line, found a control character");
  return std::string(clean);
}
std::string ValueText<std::string>::print(const std::string& value) {
  return value;
}
Json ValueText<std::string>::schema() {
  return {{"type", "string"}};
}

Result<NamePattern> ValueText<NamePattern>::parse(std::string_view text) {
  const auto names = expand_names(text);
  if (!names) return names.error();
  return NamePattern{std::string(trim(text))};
}
std::string ValueText<NamePattern>::print(const NamePattern& value) {
  return value.text;
}
Json ValueText<NamePattern>::schema() {
  return {{"type", "string"}, {"examples", Json::array({"gpu[001-032]"})}};
}

Result<Bytes> ValueText<Bytes>::parse(std::string_view text) {
  return parse_bytes(text);
}
std::string ValueText<Bytes>::print(const Bytes& value) {
  return to_text(value);
}
Json ValueText<Bytes>::schema() {
  return quantity_schema(R"(^[0-9.]+ *(B|KB|kB|MB|GB|KiB|MiB|GiB)$)", "100KB");
}

Result<Duration> ValueText<Duration>::parse(std::string_view text) {
  return parse_duration(text);
}
std::string ValueText<Duration>::print(const Duration& value) {
  return to_text(value);
}
Json ValueText<Duration>::schema() {
  return quantity_schema(R"(^[0-9.]+ *(ps|ns|us|µs|ms|s)$)", "200ms");
}

Result<BitRate> ValueText<BitRate>::parse(std::string_view text) {
  WEIR_TRY(rate, parse_rate(text));
  if (rate < 1_Mbps)
    return parse_error(fmt::format("expected a rate of at least 1M, found '{}'", text));
  return rate;
}
std::string ValueText<BitRate>::print(const BitRate& value) {
  return to_text(value);
}
Json ValueText<BitRate>::schema() {
  return quantity_schema(R"(^[0-9.]+ *(T|Tbps|G|Gbps|Gb/s|M|Mbps|Mb/s)$)", "400G");
}

Result<Length> ValueText<Length>::parse(std::string_view text) {
  WEIR_TRY(length, parse_length(text));
  // 802.1Qbb loops longer than this exist (long haul), but not in one cable of a GPU fabric.
  if (length > 1'000'000_m)
    return parse_error(fmt::format("expected a cable of at most 1000km, found '{}'", text));
  return length;
}
std::string ValueText<Length>::print(const Length& value) {
  return to_text(value);
}
Json ValueText<Length>::schema() {
  return quantity_schema(R"(^[0-9.]+ *(km|m|cm|mm)$)", "30m");
}

Result<Share> ValueText<Share>::parse(std::string_view text) {
  WEIR_TRY(share, parse_share(text));
  if (share > 1000_percent) return parse_error(fmt::format("expected a share, found '{}'", text));
  return share;
}
std::string ValueText<Share>::print(const Share& value) {
  return to_text(value);
}
Json ValueText<Share>::schema() {
  return quantity_schema(R"(^[0-9.]+ *%$)", "10%");
}

Result<Alpha> ValueText<Alpha>::parse(std::string_view text) {
  return parse_alpha(text);
}
std::string ValueText<Alpha>::print(const Alpha& value) {
  return to_text(value);
}
Json ValueText<Alpha>::schema() {
  return {{"type", Json::array({"string", "integer"})}, {"examples", Json::array({"1/8", 1})}};
}

Result<Pcp> ValueText<Pcp>::parse(std::string_view text) {
  return parse_code<Pcp>(text, "a PCP");
}
std::string ValueText<Pcp>::print(const Pcp& value) {
  return to_text(value);
}
Json ValueText<Pcp>::schema() {
  return number_schema(Pcp::kLimit);
}

Result<Priority> ValueText<Priority>::parse(std::string_view text) {
  return parse_code<Priority>(text, "a priority");
}
std::string ValueText<Priority>::print(const Priority& value) {
  return to_text(value);
}
Json ValueText<Priority>::schema() {
  return number_schema(Priority::kLimit);
}

Result<TrafficClass> ValueText<TrafficClass>::parse(std::string_view text) {
  return parse_code<TrafficClass>(text, "a traffic class");
}
std::string ValueText<TrafficClass>::print(const TrafficClass& value) {
  return to_text(value);
}
Json ValueText<TrafficClass>::schema() {
  return number_schema(TrafficClass::kLimit);
}

Result<Queue> ValueText<Queue>::parse(std::string_view text) {
  return parse_code<Queue>(text, "a queue");
}
std::string ValueText<Queue>::print(const Queue& value) {
  return to_text(value);
}
Json ValueText<Queue>::schema() {
  return number_schema(Queue::kLimit);
}

Result<TosByte> ValueText<TosByte>::parse(std::string_view text) {
  return parse_code<TosByte>(text, "a TOS byte (DSCP x 4 + ECN bits)");
}
std::string ValueText<TosByte>::print(const TosByte& value) {
  return to_text(value);
}
Json ValueText<TosByte>::schema() {
  return number_schema(TosByte::kLimit);
}

Result<DscpSet> ValueText<DscpSet>::parse(std::string_view text) {
  DscpSet set;
  for (const std::string_view piece : split(text, ',')) {
    WEIR_TRY(span, parse_span(trim(piece), Dscp::kLimit, "a DSCP"));
    if (set.mask == 0) set.marking = Dscp::of(span.first);
    for (unsigned d = span.first; d <= span.second; ++d)
      set.mask |= std::uint64_t{1} << d;
  }
  return set;
}
std::string ValueText<DscpSet>::print(const DscpSet& value) {
  // The marking first, then the rest in ranges.
  std::string text = to_text(value.marking);
  std::uint64_t rest = value.mask & ~(std::uint64_t{1} << value.marking.value());
  for (unsigned low = 0; low < Dscp::kLimit; ++low) {
    if (((rest >> low) & 1U) == 0) continue;
    unsigned high = low;
    while (high + 1 < Dscp::kLimit && ((rest >> (high + 1)) & 1U) != 0)
      ++high;
    text += low == high ? fmt::format(", {}", low) : fmt::format(", {}-{}", low, high);
    low = high;
  }
  return text.find(',') == std::string::npos ? text : "[" + text + "]";
}
Json ValueText<DscpSet>::schema() {
  const Json item = {{"type", Json::array({"integer", "string"})},
                     {"examples", Json::array({26, "24-31"})}};
  return {
      {"anyOf", Json::array({item, Json{{"type", "array"}, {"items", item}, {"minItems", 1}}})}};
}

Result<PrioritySet> ValueText<PrioritySet>::parse(std::string_view text) {
  PrioritySet set;
  if (text == "none") return set;
  for (const std::string_view piece : split(text, ',')) {
    WEIR_TRY(span, parse_span(trim(piece), Priority::kLimit, "a priority"));
    for (unsigned p = span.first; p <= span.second; ++p)
      set.insert(Priority::of(p));
  }
  return set;
}
std::string ValueText<PrioritySet>::print(const PrioritySet& value) {
  return value.count() > 1 ? "[" + to_text(value) + "]" : to_text(value);
}
Json ValueText<PrioritySet>::schema() {
  const Json item = {{"type", Json::array({"integer", "string"})}};
  return {{"anyOf", Json::array({item, Json{{"type", "array"}, {"items", item}}})}};
}

Result<std::vector<std::string>> ValueText<std::vector<std::string>>::parse(std::string_view text) {
  std::vector<std::string> out;
  for (const std::string_view piece : split(text, ',')) {
    WEIR_TRY(name, ValueText<std::string>::parse(piece));
    out.push_back(std::move(name));
  }
  return out;
}
std::string ValueText<std::vector<std::string>>::print(const std::vector<std::string>& value) {
  return value.size() == 1 ? value.front() : "[" + join(value, ", ") + "]";
}
Json ValueText<std::vector<std::string>>::schema() {
  const Json item = {{"type", "string"}};
  return {
      {"anyOf", Json::array({item, Json{{"type", "array"}, {"items", item}, {"minItems", 1}}})}};
}

namespace {

/// "gpu[1-2]=swp[1-2]": the ports are dealt to the peers in equal parts.
Status add_ports_of_peer(std::string_view piece, std::size_t equals, PortSpec& out) {
  WEIR_TRY(peers, expand_names(trim(piece.substr(0, equals))));
  WEIR_TRY(ports, expand_names(trim(piece.substr(equals + 1))));
  if (ports.size() % peers.size() != 0)
    return parse_error(fmt::format("expected as many ports for each node, found {} ports for {}",
                                   ports.size(), counted(peers.size(), "node")));
  const std::size_t each = ports.size() / peers.size();
  for (std::size_t i = 0; i < ports.size(); ++i)
    out.names.emplace_back(peers[i / each], ports[i]);
  return {};
}

/// "33-64" outside brackets are cages.
std::string cage_range(std::string_view piece) {
  const bool is_numeric = piece.find_first_not_of("0123456789-") == std::string_view::npos;
  const bool is_range = is_numeric && piece.find('-') != std::string_view::npos;
  return is_range ? fmt::format("[{}]", piece) : std::string(piece);
}

}  // namespace

Result<PortSpec> ValueText<PortSpec>::parse(std::string_view text) {
  PortSpec out;
  out.text = trim(text);
  constexpr std::uint64_t kMostPorts = 1'024;
  if (const auto count = parse_u64(out.text)) {
    if (*count < 1 || *count > kMostPorts)
      return parse_error(fmt::format("expected a number from 1 to 1024, found {}", *count));
    out.count = static_cast<int>(*count);
    return out;
  }
  for (const std::string_view part : split_outside_brackets(out.text)) {
    const std::string_view piece = trim(part);
    const auto equals = piece.find('=');
    if (equals != std::string_view::npos) {
      WEIR_TRY_STATUS(add_ports_of_peer(piece, equals, out));
    } else {
      WEIR_TRY(names, expand_names(cage_range(piece)));
      for (std::string& name : names)
        out.names.emplace_back("", std::move(name));
    }
    if (out.names.size() > kMostPorts)
      return parse_error(fmt::format("expected at most {} ports", kMostPorts));
  }
  const auto is_by_peer = [](const auto& entry) { return !entry.first.empty(); };
  const auto by_peer = std::count_if(out.names.begin(), out.names.end(), is_by_peer);
  if (by_peer != 0 && static_cast<std::size_t>(by_peer) != out.names.size())
    return parse_error("expected ports in the order of the links, or by node: not both");
  return out;
}
std::string ValueText<PortSpec>::print(const PortSpec& value) {
  return value.text;
}
Json ValueText<PortSpec>::schema() {
  const Json item = {{"type", Json::array({"integer", "string"})}};
  const Json one_or_more = {
      {"anyOf", Json::array({item, Json{{"type", "array"}, {"items", item}, {"minItems", 1}}})}};
  return {{"anyOf", Json::array({item, Json{{"type", "array"}, {"items", item}, {"minItems", 1}},
                                 Json{{"type", "object"}, {"additionalProperties", one_or_more}}})},
          {"examples", Json::array({64, "swp[1-32]s[0-1]", "Ethernet[0-508:4]"})}};
}

}  // namespace weir::design

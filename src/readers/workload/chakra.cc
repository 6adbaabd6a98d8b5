#include "readers/workload/chakra.h"

#include <algorithm>
#include <array>
#include <optional>

#include <fmt/format.h>

#include "base/json_lines.h"
#include "base/text.h"

namespace weir::readers {
namespace {

constexpr std::size_t kMostNodes = 4'000'000;
constexpr std::uint64_t kMostMicroseconds = 100'000'000;  // of one node: more is a mistake
constexpr std::uint64_t kMostTraceBytes = std::uint64_t{1} << 46U;
constexpr std::uint64_t kMostRank = 0xFFFFFF;

/// What a node says, whatever it was written in; made into a TraceNode once it is whole.
struct RawNode {
  std::uint64_t id = 0;
  std::string name;
  std::uint64_t type = 0;
  std::vector<std::uint64_t> after;
  std::uint64_t microseconds = 0;
  std::string input_values;
  std::uint64_t comm_type = 0;
  std::uint64_t comm_size = 0;
  std::optional<std::uint64_t> source;
  std::optional<std::uint64_t> target;
  std::uint64_t tag = 0;
  bool is_cpu = false;
  bool has_operations = false;
  std::string group;
  std::string where;
};

// ---- the wire format of protobuf ----

enum class WireType : std::uint8_t { kVarint = 0, kFixed64 = 1, kBytes = 2, kFixed32 = 5 };

/// One field of a message. `bytes` is set for kBytes, `number` for the others.
struct Field {
  std::uint32_t number = 0;
  WireType type = WireType::kVarint;
  std::uint64_t value = 0;
  std::string_view bytes;
  std::size_t offset = 0;  // in the file
};

class WireCursor {
 public:
  WireCursor(std::string_view data, std::size_t offset) : data_(data), offset_(offset) {}

  [[nodiscard]] bool is_at_end() const { return at_ == data_.size(); }
  [[nodiscard]] std::size_t offset() const { return offset_ + at_; }

  Result<std::uint64_t> varint() {
    const std::size_t begin = offset();
    std::uint64_t value = 0;
    for (unsigned shift = 0; shift < 64; shift += 7) {
      if (is_at_end())
        return parse_error(fmt::format(
            "offset {}: expected a varint, found the end of the data; is the file cut off?",
            begin));
      const auto byte = static_cast<unsigned char>(data_[at_++]);
      value |= std::uint64_t{byte & 0x7FU} << shift;
      if (byte < 0x80U) return value;
    }
    return parse_error(
        fmt::format("offset {}: expected a varint of at most 10 bytes, found a longer one", begin));
  }

  Result<std::string_view> bytes(std::uint64_t length) {
    if (length > data_.size() - at_)
      return parse_error(
          fmt::format("offset {}: expected {} bytes, found {}; is the file cut off, or no trace?",
                      offset(), length, data_.size() - at_));
    const std::string_view out = data_.substr(at_, length);
    at_ += length;
    return out;
  }

  Result<Field> field() {
    Field out;
    WEIR_TRY(key, varint());
    out.number = static_cast<std::uint32_t>(std::min<std::uint64_t>(key >> 3U, 0xFFFFFFFFU));
    out.offset = offset();
    switch (key & 7U) {
      case 0: {
        WEIR_TRY(value, varint());
        out.value = value;
        return out;
      }
      case 1: return fixed(out, WireType::kFixed64, 8);
      case 5: return fixed(out, WireType::kFixed32, 4);
      case 2: {
        WEIR_TRY(length, varint());
        out.type = WireType::kBytes;
        out.offset = offset();
        WEIR_TRY(content, bytes(length));
        out.bytes = content;
        return out;
      }
      default:
        return parse_error(
            fmt::format("offset {}: expected a protobuf field of wire type 0, 1, 2 or 5, found "
                        "type {}; is this a Chakra trace?",
                        out.offset, key & 7U));
    }
  }

 private:
  Result<Field> fixed(Field out, WireType type, std::size_t size) {
    out.type = type;
    WEIR_TRY(content, bytes(size));
    for (std::size_t i = 0; i < size; ++i)
      out.value |= std::uint64_t{static_cast<unsigned char>(content[i])} << (8 * i);
    return out;
  }

  std::string_view data_;
  std::size_t offset_;
  std::size_t at_ = 0;
};

/// Calls `take(field)` for each field of a message.
template <class Take>
Status each_field(std::string_view message, std::size_t offset, Take take) {
  WireCursor cursor(message, offset);
  while (!cursor.is_at_end()) {
    WEIR_TRY(field, cursor.field());
    WEIR_TRY_STATUS(take(field));
  }
  return {};
}

Status read_ids(const Field& field, std::vector<std::uint64_t>& out) {
  if (field.type != WireType::kBytes) {  // not packed
    out.push_back(field.value);
    return {};
  }
  WireCursor cursor(field.bytes, field.offset);
  while (!cursor.is_at_end()) {
    WEIR_TRY(id, cursor.varint());
    out.push_back(id);
  }
  return {};
}

/// A value of an attribute, as a number or as text.
struct AttributeValue {
  std::uint64_t number = 0;
  std::string text;
};

void set_attribute(RawNode& node, std::string_view name, const AttributeValue& value) {
  if (name == "comm_type") node.comm_type = value.number;
  if (name == "comm_size") node.comm_size = value.number;
  if (name == "comm_src") node.source = value.number;
  if (name == "comm_dst") node.target = value.number;
  if (name == "comm_tag") node.tag = value.number;
  if (name == "num_ops") node.has_operations = static_cast<std::int64_t>(value.number) > 0;
  if (name == "is_cpu_op") node.is_cpu = value.number != 0;
  if (name == "pg_name" || name == "comm_group")
    node.group = value.text.empty() ? std::to_string(value.number) : value.text;
}

Status read_attribute(const Field& field, RawNode& node) {
  constexpr std::array<std::uint32_t, 3> kZigZag{15, 17, 0};
  std::string name;
  AttributeValue value;
  WEIR_TRY_STATUS(each_field(field.bytes, field.offset, [&](const Field& part) -> Status {
    if (part.number == 1) name = part.bytes;
    if (part.number == 29) value.text = part.bytes;
    if (part.number >= 7 && part.number <= 27 && part.type != WireType::kBytes) {
      const bool is_zigzag = part.number == kZigZag[0] || part.number == kZigZag[1];
      value.number = is_zigzag ? part.value >> 1U : part.value;
    }
    return {};
  }));
  set_attribute(node, name, value);
  return {};
}

Result<RawNode> read_node(std::string_view message, std::size_t offset) {
  RawNode node;
  node.where = fmt::format("offset {}", offset);
  WEIR_TRY_STATUS(each_field(message, offset, [&](const Field& field) -> Status {
    switch (field.number) {
      case 1: node.id = field.value; return {};
      case 2: node.name = field.bytes; return {};
      case 3: node.type = field.value; return {};
      case 4:
      case 5: return read_ids(field, node.after);
      case 7: node.microseconds = field.value; return {};
      case 8:
        return each_field(field.bytes, field.offset, [&](const Field& part) -> Status {
          if (part.number == 1) node.input_values = part.bytes;
          return {};
        });
      case 10: return read_attribute(field, node);
      default: return {};
    }
  }));
  return node;
}

Result<std::vector<RawNode>> read_wire(std::string_view content) {
  std::vector<RawNode> nodes;
  WireCursor cursor(content, 0);
  for (bool is_metadata = true; !cursor.is_at_end(); is_metadata = false) {
    WEIR_TRY(length, cursor.varint());
    const std::size_t offset = cursor.offset();
    WEIR_TRY(message, cursor.bytes(length));
    if (is_metadata) continue;
    if (nodes.size() == kMostNodes)
      return parse_error(fmt::format("more than {} nodes in one rank's trace", kMostNodes));
    WEIR_TRY(node, read_node(message, offset));
    nodes.push_back(std::move(node));
  }
  return nodes;
}

// ---- JSON ----

/// Objects one after the other become an array, on the same lines.
std::string as_array(std::string_view content) {
  if (trim(content).starts_with('[')) return std::string(content);
  std::string out = "[";
  int depth = 0;
  bool is_text = false;
  bool is_first = true;
  for (std::size_t i = 0; i < content.size(); ++i) {
    const char c = content[i];
    if (is_text) {
      out += c;
      if (c == '\\' && i + 1 < content.size()) out += content[++i];
      if (c == '"') is_text = false;
      continue;
    }
    if (c == '"') is_text = true;
    if (c == '}') --depth;
    if (c == '{' && depth++ == 0 && !std::exchange(is_first, false)) out += ',';
    out += c;
  }
  return out + "]";
}

/// A member under the schema's name or under that of protobuf's JSON mapping.
const JsonNode* member_of(const JsonNode& object, std::string_view name, std::string_view camel) {
  const JsonNode* found = object.find(name);
  return found != nullptr ? found : object.find(camel);
}

Result<std::uint64_t> number_of(const JsonNode& node, std::string_view what) {
  const std::string_view text = node.text;
  const auto value = parse_u64(text);
  if (node.is_scalar() && value) return *value;
  return parse_error(
      fmt::format("line {}: {}: expected a whole number, found {}", node.line, what,
                  node.is_scalar() ? "'" + node.text + "'" : std::string(node.what())));
}

Status read_json_ids(const JsonNode* list, std::vector<std::uint64_t>& out) {
  if (list == nullptr) return {};
  if (!list->is_array())
    return parse_error(fmt::format("line {}: {}: expected an array of node ids, found {}",
                                   list->line, list->key, list->what()));
  for (const JsonNode& item : list->items) {
    WEIR_TRY(id, number_of(item, list->key));
    out.push_back(id);
  }
  return {};
}

constexpr std::array<std::string_view, 11> kTypeNames{
    "INVALID_NODE", "METADATA_NODE",  "MEM_LOAD_NODE",  "MEM_STORE_NODE",
    "COMP_NODE",    "COMM_SEND_NODE", "COMM_RECV_NODE", "COMM_COLL_NODE",
    "STORAGE_NODE", "BATCH_NODE",     "CHECKPOINT_NODE"};

Result<std::uint64_t> type_of(const JsonNode& node) {
  const auto found = std::find(kTypeNames.begin(), kTypeNames.end(), node.text);
  if (found != kTypeNames.end()) return static_cast<std::uint64_t>(found - kTypeNames.begin());
  return number_of(node, "type");
}

Status read_json_attribute(const JsonNode& attribute, RawNode& node) {
  const JsonNode* name = attribute.find("name");
  if (name == nullptr)
    return parse_error(fmt::format("line {}: an attribute without a name", attribute.line));
  AttributeValue value;
  for (const JsonNode& member : attribute.members) {
    if (&member == name || !member.is_scalar()) continue;
    if (member.text == "true") value.number = 1;
    if (const auto number = parse_u64(member.text)) value.number = *number;
    if (member.kind == JsonNode::Kind::kText && member.key.starts_with("string"))
      value.text = member.text;
  }
  set_attribute(node, name->text, value);
  return {};
}

Result<RawNode> read_json_node(const JsonNode& object) {
  RawNode node;
  node.where = fmt::format("line {}", object.line);
  if (const JsonNode* id = object.find("id")) {
    WEIR_TRY(number, number_of(*id, "id"));
    node.id = number;
  }
  if (const JsonNode* name = object.find("name")) node.name = name->text;
  if (const JsonNode* type = object.find("type")) {
    WEIR_TRY(number, type_of(*type));
    node.type = number;
  }
  WEIR_TRY_STATUS(read_json_ids(member_of(object, "ctrl_deps", "ctrlDeps"), node.after));
  WEIR_TRY_STATUS(read_json_ids(member_of(object, "data_deps", "dataDeps"), node.after));
  if (const JsonNode* time = member_of(object, "duration_micros", "durationMicros")) {
    WEIR_TRY(number, number_of(*time, "duration_micros"));
    node.microseconds = number;
  }
  if (const JsonNode* inputs = object.find("inputs"))
    if (const JsonNode* values = inputs->find("values")) node.input_values = values->text;
  const JsonNode* attributes = object.find("attr");
  if (attributes == nullptr) return node;
  for (const JsonNode& attribute : attributes->items)
    WEIR_TRY_STATUS(read_json_attribute(attribute, node));
  return node;
}

Result<std::vector<RawNode>> read_json(std::string_view content) {
  auto root = parse_json_lines(as_array(content), "");
  if (!root) {
    std::string what = root.error().what;  // ":7: expected …"
    if (what.starts_with(':')) what = "line " + what.substr(1);
    return parse_error(what);
  }
  std::vector<RawNode> nodes;
  for (const JsonNode& object : root->items) {
    if (!object.is_object())
      return parse_error(
          fmt::format("line {}: expected a node, found {}", object.line, object.what()));
    if (object.find("type") == nullptr && object.find("version") != nullptr) continue;
    if (nodes.size() == kMostNodes)
      return parse_error(fmt::format("more than {} nodes in one rank's trace", kMostNodes));
    WEIR_TRY(node, read_json_node(object));
    nodes.push_back(std::move(node));
  }
  return nodes;
}

// ---- nodes ----

constexpr std::array kCollectives{TraceCollective::kAllReduce,     TraceCollective::kReduce,
                                  TraceCollective::kAllGather,     TraceCollective::kGather,
                                  TraceCollective::kScatter,       TraceCollective::kBroadcast,
                                  TraceCollective::kAllToAll,      TraceCollective::kReduceScatter,
                                  TraceCollective::kReduceScatter, TraceCollective::kBarrier};

Error wrong_in(const RawNode& node, const std::string& what) {
  return parse_error(fmt::format("{}: node {}: {}", node.where, node.id, what));
}

/// Of a node that sends, receives or takes part in a collective.
Status set_communication(const RawNode& raw, TraceNode& node) {
  if (raw.comm_size > kMostTraceBytes)
    return wrong_in(
        raw, fmt::format("expected at most {} bytes, found {}", kMostTraceBytes, raw.comm_size));
  node.size = Bytes::raw(static_cast<std::int64_t>(raw.comm_size));
  node.tag = raw.tag;
  node.group = raw.group;
  if (node.kind == TraceNodeKind::kCollective) {
    if (raw.comm_type >= kCollectives.size())
      return wrong_in(raw,
                      fmt::format("expected a comm_type from 0 to 9, found {}", raw.comm_type));
    node.collective = kCollectives.at(raw.comm_type);
    if (node.collective == TraceCollective::kBarrier) return {};
  }
  if (raw.comm_size == 0)
    return wrong_in(raw, "expected a comm_size of at least 1, found none or 0");
  if (node.kind == TraceNodeKind::kCollective) return {};
  const auto& peer = node.kind == TraceNodeKind::kSend ? raw.target : raw.source;
  const std::string_view name = node.kind == TraceNodeKind::kSend ? "comm_dst" : "comm_src";
  if (!peer || *peer > kMostRank)
    return wrong_in(raw, fmt::format("expected a rank as {}, found {}", name,
                                     peer ? std::to_string(*peer) : std::string("none")));
  node.peer = *peer;
  return {};
}

Result<TraceNode> node_from(RawNode raw) {
  TraceNode node;
  if (raw.microseconds > kMostMicroseconds)
    return wrong_in(raw, fmt::format("expected a duration of at most {} us, found {}",
                                     kMostMicroseconds, raw.microseconds));
  node.id = raw.id;
  node.takes = Duration::raw(static_cast<std::int64_t>(raw.microseconds) * 1'000'000);
  switch (raw.type) {
    case 4: node.kind = raw.is_cpu ? TraceNodeKind::kOther : TraceNodeKind::kCompute; break;
    case 5: node.kind = TraceNodeKind::kSend; break;
    case 6: node.kind = TraceNodeKind::kReceive; break;
    case 7: node.kind = TraceNodeKind::kCollective; break;
    default: node.kind = TraceNodeKind::kOther; break;
  }
  node.is_untimed =
      node.kind == TraceNodeKind::kCompute && raw.microseconds == 0 && raw.has_operations;
  if (raw.type >= 5 && raw.type <= 7) WEIR_TRY_STATUS(set_communication(raw, node));
  node.name = std::move(raw.name);
  node.after = std::move(raw.after);
  node.where = std::move(raw.where);
  return node;
}

/// `["[{\"pg_name\": \"0\", \"ranks\": [0, 1]}]"]`: how PyTorch writes its process groups. A text
/// that is something else says nothing.
void add_groups(std::string_view values, RankGroups& groups) {
  std::string text(values);
  const std::size_t begin = text.find("[{");
  const std::size_t end = text.rfind("}]");
  if (begin == std::string::npos || end == std::string::npos || end < begin) return;
  text = text.substr(begin, end + 2 - begin);
  std::erase(text, '\\');
  const auto root = parse_json_lines(text, "process groups");
  if (!root || !root->is_array()) return;
  for (const JsonNode& item : root->items) {
    const JsonNode* name = item.find("pg_name");
    const JsonNode* ranks = item.find("ranks");
    if (name == nullptr || ranks == nullptr || !ranks->is_array() || ranks->items.empty()) continue;
    std::vector<std::uint32_t> members;
    for (const JsonNode& rank : ranks->items)
      if (const auto number = parse_u64(rank.text); number && *number <= kMostRank)
        members.push_back(static_cast<std::uint32_t>(*number));
    groups[name->text] = std::move(members);
  }
}

}  // namespace

std::string_view to_text(TraceCollective collective) {
  switch (collective) {
    case TraceCollective::kAllReduce: return "all-reduce";
    case TraceCollective::kReduce: return "reduce";
    case TraceCollective::kAllGather: return "all-gather";
    case TraceCollective::kGather: return "gather";
    case TraceCollective::kScatter: return "scatter";
    case TraceCollective::kBroadcast: return "broadcast";
    case TraceCollective::kAllToAll: return "all-to-all";
    case TraceCollective::kReduceScatter: return "reduce-scatter";
    case TraceCollective::kBarrier: return "barrier";
  }
  WEIR_UNREACHABLE("every collective has a name");
}

Result<ChakraTrace> read_chakra(std::string_view content) {
  if (content.empty()) return parse_error("expected a trace, found an empty file");
  if (content.starts_with("\x1f\x8b"))
    return parse_error("offset 0: expected a trace, found gzip; uncompress it with gunzip");
  const std::string_view begin = trim(content.substr(0, 4096));
  const bool is_json = begin.starts_with('{') || begin.starts_with('[');
  WEIR_TRY(raw, is_json ? read_json(content) : read_wire(content));
  if (raw.empty()) return parse_error("expected the nodes of a trace, found none");
  ChakraTrace trace;
  trace.nodes.reserve(raw.size());
  for (RawNode& node : raw) {
    if (node.type == 1) add_groups(node.input_values, trace.groups);
    WEIR_TRY(made, node_from(std::move(node)));
    trace.nodes.push_back(std::move(made));
  }
  return trace;
}

Result<RankGroups> read_rank_groups(std::string_view json, std::string_view file) {
  WEIR_TRY(root, parse_json_lines(json, file));
  if (!root.is_object())
    return parse_error(fmt::format("{}:{}: expected groups as {{\"1\": [0, 1]}}, found {}", file,
                                   root.line, root.what()));
  RankGroups groups;
  for (const JsonNode& member : root.members) {
    std::vector<std::uint32_t> ranks;
    for (const JsonNode& item : member.items) {
      const auto rank = parse_u64(item.text);
      if (!rank || *rank > kMostRank)
        return parse_error(
            fmt::format("{}:{}: expected a rank, found '{}'", file, item.line, item.text));
      ranks.push_back(static_cast<std::uint32_t>(*rank));
    }
    if (ranks.empty())
      return parse_error(fmt::format("{}:{}: group '{}': expected an array of ranks, found {}",
                                     file, member.line, member.key, member.what()));
    groups[member.key] = std::move(ranks);
  }
  return groups;
}

}  // namespace weir::readers

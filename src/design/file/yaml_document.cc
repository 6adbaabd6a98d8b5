#include "design/file/yaml_document.h"

#include <unordered_map>
#include <utility>

#include <fmt/format.h>
#include <yaml.h>

#include "base/text.h"

namespace weir::design {
namespace {

constexpr int kMaxDepth = 32;  // the format needs 6
constexpr std::size_t kMaxNodes =
    500'000;  // clos1k needs a few hundred; explicit links a few 10,000

TextPosition position(const yaml_mark_t& mark) {
  return {static_cast<int>(mark.line) + 1, static_cast<int>(mark.column) + 1};
}

// Pulls libyaml events and builds the tree; stops at the first error of syntax, since what follows
// one is guesswork, but reports every duplicate key.
class Builder {
 public:
  explicit Builder(std::string_view text) : text_(text) {
    ready_ = yaml_parser_initialize(&parser_) != 0;
    if (!ready_) return;
    const auto* const bytes = reinterpret_cast<const unsigned char*>(text.data());
    yaml_parser_set_input_string(&parser_, bytes, text.size());
    yaml_parser_set_encoding(&parser_, YAML_UTF8_ENCODING);
  }
  Builder(const Builder&) = delete;
  Builder& operator=(const Builder&) = delete;
  ~Builder() {
    if (ready_) yaml_parser_delete(&parser_);
  }

  YamlDocument build() {
    document_.root.kind = YamlNode::Kind::kMapping;
    if (!ready_) {
      fail({}, "out of memory");
      return std::move(document_);
    }
    Event event;
    while (next(event)) {
      if (event.type() == YAML_STREAM_END_EVENT) break;
      if (event.type() == YAML_STREAM_START_EVENT || event.type() == YAML_DOCUMENT_END_EVENT)
        continue;
      if (event.type() != YAML_DOCUMENT_START_EVENT) {
        document_.root = node(event, 0);
      } else if (++documents_ > 1) {
        fail(event.at(), "a second YAML document ('---'); a design is one document");
      }
      if (failed_) break;
    }
    return std::move(document_);
  }

 private:
  // Owns one libyaml event.
  class Event {
   public:
    Event() = default;
    Event(const Event&) = delete;
    Event& operator=(const Event&) = delete;
    ~Event() { clear(); }
    void clear() {
      if (filled_) yaml_event_delete(&event_);
      filled_ = false;
    }
    bool fill(yaml_parser_t& parser) {
      clear();
      filled_ = yaml_parser_parse(&parser, &event_) != 0;
      return filled_;
    }
    [[nodiscard]] yaml_event_type_t type() const { return event_.type; }
    [[nodiscard]] TextPosition at() const { return position(event_.start_mark); }
    [[nodiscard]] const yaml_event_t& raw() const { return event_; }

   private:
    yaml_event_t event_{};
    bool filled_ = false;
  };

  [[nodiscard]] bool is_indented_with_tab(std::size_t number) const {
    const std::vector<std::string_view> lines = split(text_, '\n');
    if (number >= lines.size()) return false;
    const std::string_view line = lines[number];
    return line.substr(0, line.find_first_not_of(" \t")).find('\t') != std::string_view::npos;
  }

  void fail(TextPosition at, std::string message) {
    if (!failed_) document_.errors.push_back({at, std::move(message)});
    failed_ = true;
  }

  bool next(Event& event) {
    if (event.fill(parser_)) return true;
    const std::string problem = parser_.problem != nullptr ? parser_.problem : "unreadable";
    fail(position(parser_.problem_mark),
         is_indented_with_tab(parser_.problem_mark.line)
             ? std::string("a tab: expected blanks, YAML is not indented with tabs")
             : "not YAML: " + problem);
    return false;
  }

  YamlNode node(const Event& event, int depth) {
    YamlNode out;
    out.at = event.at();
    if (++nodes_ > kMaxNodes) {
      fail(out.at, fmt::format("more than {} values in one file", kMaxNodes));
    } else if (depth > kMaxDepth) {
      fail(out.at, fmt::format("nested deeper than {} levels", kMaxDepth));
    } else if (event.type() == YAML_SCALAR_EVENT) {
      scalar(event, out);
    } else if (event.type() == YAML_SEQUENCE_START_EVENT) {
      out.kind = YamlNode::Kind::kSequence;
      refuse_anchor(event.raw().data.sequence_start.anchor, out.at);
      sequence(out, depth);
    } else if (event.type() == YAML_MAPPING_START_EVENT) {
      out.kind = YamlNode::Kind::kMapping;
      refuse_anchor(event.raw().data.mapping_start.anchor, out.at);
      mapping(out, depth);
    } else {
      fail(out.at, "an alias ('*name'): write the value out, or use one group for all members");
    }
    return out;
  }

  void refuse_anchor(const yaml_char_t* anchor, TextPosition at) {
    if (anchor != nullptr) fail(at, "an anchor ('&name'): write the value out, or use one group");
  }

  void scalar(const Event& event, YamlNode& out) {
    const auto& data = event.raw().data.scalar;
    refuse_anchor(data.anchor, out.at);
    out.scalar.assign(reinterpret_cast<const char*>(data.value), data.length);
    out.quoted = data.style != YAML_PLAIN_SCALAR_STYLE;
    if (out.scalar.find('\0') != std::string::npos) fail(out.at, "a NUL character");
  }

  void sequence(YamlNode& out, int depth) {
    Event event;
    while (!failed_ && next(event) && event.type() != YAML_SEQUENCE_END_EVENT)
      out.items.push_back(node(event, depth + 1));
  }

  void mapping(YamlNode& out, int depth) {
    std::unordered_map<std::string, int> lines;  // key -> where it first stood
    Event event;
    while (!failed_ && next(event) && event.type() != YAML_MAPPING_END_EVENT) {
      if (event.type() != YAML_SCALAR_EVENT) {
        fail(event.at(), "expected a plain word as key");
        return;
      }
      YamlNode key;
      key.at = event.at();
      scalar(event, key);
      if (failed_ || !next(event)) return;
      YamlEntry entry{key.scalar, key.at, node(event, depth + 1)};
      const auto [first, is_new] = lines.emplace(key.scalar, key.at.line);
      if (is_new) {
        out.entries.push_back(std::move(entry));
      } else {
        document_.errors.push_back(
            {key.at, fmt::format("'{}' appears twice in the same mapping; first at line {}",
                                 key.scalar, first->second)});
      }
    }
  }

  yaml_parser_t parser_{};
  bool ready_ = false;
  bool failed_ = false;
  int documents_ = 0;
  std::size_t nodes_ = 0;
  std::string_view text_;
  YamlDocument document_;
};

}  // namespace

std::string describe_kind(const YamlNode& node) {
  if (node.is_empty()) return "nothing";
  switch (node.kind) {
    case YamlNode::Kind::kSequence: return "a list";
    case YamlNode::Kind::kMapping: return "a mapping";
    case YamlNode::Kind::kScalar: break;
  }
  constexpr std::size_t kShown = 60;  // of a text that is no value: the beginning tells enough
  if (node.scalar.size() <= kShown) return "'" + node.scalar + "'";
  std::size_t end = kShown;
  while (end > 0 && (static_cast<unsigned char>(node.scalar[end]) & 0xC0U) == 0x80U)
    --end;  // not within a character
  return fmt::format("'{}…' ({} bytes)", node.scalar.substr(0, end), node.scalar.size());
}

YamlDocument parse_yaml(std::string_view text) {
  return Builder(text).build();
}

}  // namespace weir::design

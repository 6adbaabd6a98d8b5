#include "base/json_lines.h"

#include <cstddef>

#include "base/json.h"
#include "base/untrusted/json_parse.h"
#include "base/untrusted/json_place.h"
#include "base/untrusted/printable.h"

namespace weir {
namespace {

/// Builds the tree from the events of the project's JSON library.
class Builder : public nlohmann::json_sax<Json> {
 public:
  explicit Builder(const JsonPlace& place) : place_(place) {}

  bool null() override { return scalar(JsonNode::Kind::kNull, ""); }
  bool boolean(bool value) override {
    return scalar(JsonNode::Kind::kBoolean, value ? "true" : "false");
  }
  bool number_integer(number_integer_t value) override {
    return scalar(JsonNode::Kind::kNumber, std::to_string(value));
  }
  bool number_unsigned(number_unsigned_t value) override {
    return scalar(JsonNode::Kind::kNumber, std::to_string(value));
  }
  bool number_float(number_float_t, const string_t& written) override {
    return scalar(JsonNode::Kind::kNumber, written);
  }
  /// On one line: no setting of a switch has a line break, and an error cites it.
  bool string(string_t& value) override {
    return scalar(JsonNode::Kind::kText, printable_line(value));
  }
  bool binary(binary_t&) override { return false; }
  bool start_object(std::size_t) override { return open(JsonNode::Kind::kObject); }
  bool start_array(std::size_t) override { return open(JsonNode::Kind::kArray); }
  bool end_object() override { return close(); }
  bool end_array() override { return close(); }
  bool key(string_t& value) override {
    key_ = printable_line(value);
    key_line_ = place_.last_line;
    return true;
  }
  bool parse_error(std::size_t, const std::string& last_token,
                   const nlohmann::detail::exception& error) override {
    error_line_ = place_.last_line;
    error_ = json_reason(error.what(), last_token);
    return false;
  }

  [[nodiscard]] JsonNode&& take() && { return std::move(root_); }
  [[nodiscard]] int error_line() const { return error_line_; }
  [[nodiscard]] const std::string& error() const { return error_; }

 private:
  bool scalar(JsonNode::Kind kind, std::string text) {
    JsonNode& node = add(kind);
    node.text = std::move(text);
    return true;
  }
  bool open(JsonNode::Kind kind) {
    if (path_.size() >= kJsonDepth) {
      error_line_ = place_.last_line;
      error_ = too_deep(kJsonDepth);
      return false;
    }
    JsonNode& node = add(kind);
    path_.push_back(&node);
    return true;
  }
  bool close() {
    path_.pop_back();
    return true;
  }
  /// A node's children are added while it is the innermost open one, so that pointers to it and its
  /// ancestors stay good: their vectors do not grow until it is closed.
  JsonNode& add(JsonNode::Kind kind) {
    JsonNode* node = &root_;
    int line = place_.last_line;
    if (!path_.empty() && path_.back()->is_object()) {
      line = key_line_;
      node = &path_.back()->members.emplace_back();
      node->key = std::move(key_);
    } else if (!path_.empty()) {
      node = &path_.back()->items.emplace_back();
    }
    node->kind = kind;
    node->line = line;
    return *node;
  }

  const JsonPlace& place_;
  JsonNode root_;
  std::vector<JsonNode*> path_;
  std::string key_;
  int key_line_ = 0;
  int error_line_ = 0;
  std::string error_;
};

}  // namespace

const JsonNode* JsonNode::find(std::string_view name) const {
  const JsonNode* found = nullptr;
  for (const JsonNode& member : members)
    if (member.key == name) found = &member;
  return found;
}

std::string_view JsonNode::what() const {
  switch (kind) {
    case Kind::kNull: return "null";
    case Kind::kBoolean: return "a boolean";
    case Kind::kNumber: return "a number";
    case Kind::kText: return "a text";
    case Kind::kArray: return "an array";
    case Kind::kObject: return "an object";
  }
  WEIR_UNREACHABLE("every kind is listed");
}

Result<JsonNode> parse_json_lines(std::string_view text, std::string_view file) {
  JsonPlace place;
  Builder builder(place);
  const CountingIterator begin(text.data(), &place);
  const CountingIterator end(text.data() + text.size(), &place);
  if (!Json::sax_parse(begin, end, &builder)) {
    return parse_error(std::string(file) + ":" + std::to_string(builder.error_line()) + ": " +
                       builder.error());
  }
  return std::move(builder).take();
}

}  // namespace weir

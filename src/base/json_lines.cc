#include "base/json_lines.h"

#include <cstddef>
#include <iterator>

#include "base/json.h"

namespace weir {
namespace {

constexpr std::size_t kMaxDepth = 64;

/// Where the lexer is. It may be one character ahead (a number ends where something else begins),
/// so what counts is the last character that is not white space.
struct Place {
  int line = 1;
  int last_line = 1;
};

/// Reads a text for the lexer and keeps count of lines on the way.
class CountingIterator {
 public:
  using iterator_category = std::input_iterator_tag;
  using value_type = char;
  using difference_type = std::ptrdiff_t;
  using pointer = const char*;
  using reference = const char&;

  CountingIterator(const char* at, Place* place) : at_(at), place_(place) {}
  reference operator*() const { return *at_; }
  CountingIterator& operator++() {
    const char c = *at_++;
    if (c == '\n') ++place_->line;
    if (c != '\n' && c != ' ' && c != '\t' && c != '\r') place_->last_line = place_->line;
    return *this;
  }
  friend bool operator==(const CountingIterator& a, const CountingIterator& b) {
    return a.at_ == b.at_;
  }

 private:
  const char* at_;
  Place* place_;
};

/// Builds the tree from the events of the project's JSON library.
class Builder : public nlohmann::json_sax<Json> {
 public:
  explicit Builder(const Place& place) : place_(place) {}

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
  bool string(string_t& value) override { return scalar(JsonNode::Kind::kText, std::move(value)); }
  bool binary(binary_t&) override { return false; }
  bool start_object(std::size_t) override { return open(JsonNode::Kind::kObject); }
  bool start_array(std::size_t) override { return open(JsonNode::Kind::kArray); }
  bool end_object() override { return close(); }
  bool end_array() override { return close(); }
  bool key(string_t& value) override {
    key_ = std::move(value);
    key_line_ = place_.last_line;
    return true;
  }
  bool parse_error(std::size_t, const std::string& last_token,
                   const nlohmann::detail::exception& error) override {
    error_line_ = place_.last_line;
    error_ = reason(error.what(), last_token);
    return false;
  }

  [[nodiscard]] JsonNode&& take() && { return std::move(root_); }
  [[nodiscard]] int error_line() const { return error_line_; }
  [[nodiscard]] const std::string& error() const { return error_; }

 private:
  /// From the library's "… - unexpected end of input; expected string literal" or "… - invalid
  /// literal; last read: '…'".
  static std::string reason(std::string_view what, const std::string& last_token) {
    constexpr std::string_view kExpected = "; expected ";
    const auto dash = what.find(" - ");
    const std::string_view rest = dash == std::string_view::npos ? what : what.substr(dash + 3);
    const auto expected = rest.find(kExpected);
    std::string out = "expected ";
    out += expected == std::string_view::npos ? "JSON" : rest.substr(expected + kExpected.size());
    if (rest.starts_with("unexpected end of input")) return out + ", found the end of the file";
    std::string_view found = last_token;
    found = found.substr(0, found.find_first_of("\r\n<"));
    return out + ", found '" + std::string(found) + "'";
  }

  bool scalar(JsonNode::Kind kind, std::string text) {
    JsonNode& node = add(kind);
    node.text = std::move(text);
    return true;
  }
  bool open(JsonNode::Kind kind) {
    if (path_.size() >= kMaxDepth) {
      error_line_ = place_.last_line;
      error_ = "expected at most " + std::to_string(kMaxDepth) + " levels of JSON, found more";
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

  const Place& place_;
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
  Place place;
  Builder builder(place);
  const bool is_good =
      Json::sax_parse(CountingIterator(text.data(), &place),
                      CountingIterator(text.data() + text.size(), &place), &builder);
  if (!is_good) {
    return parse_error(std::string(file) + ":" + std::to_string(builder.error_line()) + ": " +
                       builder.error());
  }
  return std::move(builder).take();
}

}  // namespace weir

#include "platforms/junos/junos_text.h"

#include <algorithm>
#include <array>
#include <cctype>

#include <fmt/format.h>

#include "base/text.h"

namespace weir::platforms {
namespace {

constexpr std::size_t kMaxDepth = 64;

/// "a [ b c ] d" is "a b d" and "a c d". A statement has one such list.
void add_expanded(Statement statement, std::vector<Statement>& out) {
  std::vector<std::string>& words = statement.words;
  const auto open = std::find(words.begin(), words.end(), "[");
  const auto close = std::find(open, words.end(), "]");
  if (open == words.end() || close == words.end()) {
    out.push_back(std::move(statement));
    return;
  }
  for (auto value = open + 1; value != close; ++value) {
    Statement copy = statement;
    copy.words.assign(words.begin(), open);
    copy.words.push_back(*value);
    copy.words.insert(copy.words.end(), close + 1, words.end());
    out.push_back(std::move(copy));
  }
}

std::vector<Statement> set_statements(std::string_view text, std::vector<Unread>& unread) {
  std::vector<Statement> out;
  int line = 0;
  for (const std::string_view raw : split(text, '\n')) {
    ++line;
    const std::string_view bare = trim(raw);
    if (bare.empty() || bare.front() == '#' || bare.starts_with("/*")) continue;
    Statement statement;
    statement.line = line;
    statement.text = bare;
    statement.words = words_of(bare);
    if (statement.words.empty() || statement.words.front() != "set") {
      unread.push_back({line, std::string(bare), "expected a set command"});
      continue;
    }
    statement.words.erase(statement.words.begin());
    add_expanded(std::move(statement), out);
  }
  return out;
}

// ---- XML ----

struct Element {
  std::string tag;
  std::string text;
  int line = 0;
  bool is_inactive = false;
  std::vector<Element> children;

  [[nodiscard]] const Element* child(std::string_view name) const {
    for (const Element& element : children)
      if (element.tag == name) return &element;
    return nullptr;
  }
};

class XmlReader {
 public:
  XmlReader(std::string_view text, std::string_view file) : text_(text), file_(file) {}

  Result<Element> read() {
    Element root;
    root.tag = "root";
    path_ = {&root};
    while (at_ < text_.size()) {
      if (text_[at_] == '<') {
        WEIR_TRY_STATUS(tag());
      } else {
        const std::size_t end = std::min(text_.find('<', at_), text_.size());
        path_.back()->text += decoded(text_.substr(at_, end - at_));
        advance(end);
      }
    }
    if (path_.size() > 1)
      return wrong(fmt::format("</{}>", path_.back()->tag), "the end of the file");
    return root;
  }

 private:
  void advance(std::size_t to) {
    line_ += static_cast<int>(std::count(text_.begin() + static_cast<std::ptrdiff_t>(at_),
                                         text_.begin() + static_cast<std::ptrdiff_t>(to), '\n'));
    at_ = to;
  }
  [[nodiscard]] Error wrong(std::string_view expected, std::string_view found) const {
    return parse_error(fmt::format("{}:{}: expected {}, found {}", file_, line_, expected, found));
  }
  static std::string decoded(std::string_view text) {
    constexpr std::array<std::pair<std::string_view, char>, 5> kEntities = {
        {{"&lt;", '<'}, {"&gt;", '>'}, {"&amp;", '&'}, {"&quot;", '"'}, {"&apos;", '\''}}};
    std::string out;
    while (!text.empty()) {
      const auto entity = std::find_if(kEntities.begin(), kEntities.end(), [&](const auto& row) {
        return text.starts_with(row.first);
      });
      if (entity == kEntities.end()) {
        out += text.front();
        text.remove_prefix(1);
      } else {
        out += entity->second;
        text.remove_prefix(entity->first.size());
      }
    }
    return out;
  }

  /// At '<': a comment, a declaration, the end or the beginning of an element.
  Status tag() {
    if (text_.substr(at_).starts_with("<!--")) {
      const std::size_t end = text_.find("-->", at_);
      if (end == std::string_view::npos) return wrong("-->", "the end of the file");
      advance(end + 3);
      return {};
    }
    const std::size_t end = text_.find('>', at_);
    if (end == std::string_view::npos) return wrong("'>'", "the end of the file");
    std::string_view inside = text_.substr(at_ + 1, end - at_ - 1);
    const Status status = element(inside);
    advance(end + 1);
    return status;
  }

  Status element(std::string_view inside) {
    if (inside.starts_with('?') || inside.starts_with('!')) return {};
    if (inside.starts_with('/')) {
      const std::string_view name = trim(inside.substr(1));
      if (path_.size() < 2 || path_.back()->tag != name)
        return wrong(path_.size() < 2 ? "no closing tag" : fmt::format("</{}>", path_.back()->tag),
                     fmt::format("</{}>", name));
      path_.pop_back();
      return {};
    }
    const bool is_empty = inside.ends_with('/');
    if (is_empty) inside.remove_suffix(1);
    const std::size_t name_end = std::min(inside.find_first_of(" \t\r\n"), inside.size());
    if (name_end == 0) return wrong("the name of an element", "'<'");
    if (path_.size() >= kMaxDepth)
      return wrong(fmt::format("at most {} levels", kMaxDepth), "more");
    // Only the innermost element grows, so that pointers to those around it stay good.
    Element& element = path_.back()->children.emplace_back();
    element.tag = inside.substr(0, name_end);
    element.line = line_;
    element.is_inactive = inside.find("inactive=", name_end) != std::string_view::npos;
    if (!is_empty) path_.push_back(&element);
    return {};
  }

  std::string_view text_;
  std::string_view file_;
  std::size_t at_ = 0;
  int line_ = 1;
  std::vector<Element*> path_;
};

/// Elements as the words of a `set` command. Some tags have no word of their own there.
class Flattener {
 public:
  Flattener(std::vector<Statement>& out, std::vector<Unread>& unread)
      : out_(out), unread_(unread) {}

  void flatten(const Element& element, std::string_view parent) {
    if (element.is_inactive) {
      unread_.push_back({element.line, fmt::format("<{}>", element.tag), "inactive"});
      return;
    }
    const std::size_t depth = words_.size();
    if (!is_silent(element.tag, parent)) words_.push_back(element.tag);
    const std::string_view text = trim(element.text);
    if (element.children.empty()) {
      if (!text.empty()) words_.emplace_back(text);
      emit(element);
    } else {
      add_keys(element);
      bool has_more = false;
      for (const Element& child : element.children) {
        if (is_key(element, child.tag)) continue;
        has_more = true;
        flatten(child, element.tag);
      }
      if (!has_more) emit(element);
    }
    words_.resize(depth);
  }

 private:
  static bool is_silent(std::string_view tag, std::string_view parent) {
    constexpr std::array<std::string_view, 6> kSilent = {"classifier-name", "rate",
                                                         "profile-name",    "rewrite-rule-name",
                                                         "contents",        "configuration"};
    if (tag == "interface" && parent == "interfaces") return true;
    return tag == "rpc-reply" || std::find(kSilent.begin(), kSilent.end(), tag) != kSilent.end();
  }
  static bool is_key(const Element& list, std::string_view tag) {
    if (list.tag == "drop-profile-map") return tag == "loss-priority" || tag == "protocol";
    return tag == "name";
  }
  void add_keys(const Element& element) {
    for (const Element& child : element.children) {
      if (!is_key(element, child.tag)) continue;
      if (element.tag == "drop-profile-map") words_.push_back(child.tag);
      words_.emplace_back(trim(child.text));
    }
  }
  void emit(const Element& element) {
    if (words_.empty()) return;
    std::string text = "set";
    for (const std::string& word : words_)
      text += " " + word;
    out_.push_back({element.line, words_, text});
  }

  std::vector<Statement>& out_;
  std::vector<Unread>& unread_;
  std::vector<std::string> words_;
};

// ---- the text of `show configuration` ----

class TextReader {
 public:
  TextReader(std::string_view text, std::string_view file, std::vector<Unread>& unread)
      : text_(text), file_(file), unread_(unread) {}

  Result<std::vector<Statement>> read() {
    while (at_ < text_.size()) {
      const char c = text_[at_];
      if (c == '\n') ++line_;
      if (c == '#' || text_.substr(at_).starts_with("/*")) {
        skip_comment();
      } else if (c == '{' || c == ';' || c == '}') {
        WEIR_TRY_STATUS(mark(c));
        ++at_;
      } else if (std::isspace(static_cast<unsigned char>(c)) != 0) {
        ++at_;
      } else {
        word();
      }
    }
    if (!blocks_.empty()) return wrong("'}'", "the end of the file");
    if (!words_.empty()) return wrong("';' or '{'", "the end of the file");
    return std::move(out_);
  }

 private:
  [[nodiscard]] Error wrong(std::string_view expected, std::string_view found) const {
    return parse_error(fmt::format("{}:{}: expected {}, found {}", file_, line_, expected, found));
  }
  void skip_comment() {
    const bool is_line = text_[at_] == '#';
    const std::size_t end = text_.find(is_line ? "\n" : "*/", at_);
    const std::size_t next = end == std::string_view::npos ? text_.size() : end + (is_line ? 0 : 2);
    line_ += static_cast<int>(std::count(text_.begin() + static_cast<std::ptrdiff_t>(at_),
                                         text_.begin() + static_cast<std::ptrdiff_t>(next), '\n'));
    at_ = next;
  }
  void word() {
    std::string out;
    if (text_[at_] == '"') {
      const std::size_t end = std::min(text_.find('"', at_ + 1), text_.size());
      out = text_.substr(at_ + 1, end - at_ - 1);
      line_ += static_cast<int>(std::count(out.begin(), out.end(), '\n'));
      at_ = std::min(end + 1, text_.size());
    } else {
      const std::size_t end = std::min(text_.find_first_of(" \t\r\n{};", at_), text_.size());
      out = text_.substr(at_, end - at_);
      at_ = end;
    }
    if (words_.empty()) first_line_ = line_;
    words_.push_back(std::move(out));
  }
  Status mark(char c) {
    if (c == '}') {
      if (!words_.empty()) return wrong("';' or '{'", "'}'");
      if (blocks_.empty()) return wrong("no '}' here", "'}'");
      blocks_.pop_back();
      return {};
    }
    if (words_.empty()) return wrong("a statement", fmt::format("'{}'", c));
    if (c == '{') {
      if (blocks_.size() >= kMaxDepth)
        return wrong(fmt::format("at most {} levels", kMaxDepth), "more");
      blocks_.push_back(std::move(words_));
      words_.clear();
      return {};
    }
    Statement statement;
    statement.line = first_line_;
    bool is_inactive = words_.front() == "inactive:";
    for (const std::vector<std::string>& block : blocks_) {
      is_inactive = is_inactive || block.front() == "inactive:";
      statement.words.insert(statement.words.end(), block.begin(), block.end());
    }
    statement.words.insert(statement.words.end(), words_.begin(), words_.end());
    statement.text = "set " + join(statement.words, " ");
    words_.clear();
    if (is_inactive) {
      unread_.push_back({statement.line, statement.text, "inactive"});
    } else {
      add_expanded(std::move(statement), out_);
    }
    return {};
  }

  std::string_view text_;
  std::string_view file_;
  std::vector<Unread>& unread_;
  std::size_t at_ = 0;
  int line_ = 1;
  int first_line_ = 1;
  std::vector<std::vector<std::string>> blocks_;
  std::vector<std::string> words_;
  std::vector<Statement> out_;
};

}  // namespace

std::optional<JunosForm> junos_form(std::string_view text) {
  const std::string_view bare = trim(text);
  const bool is_xml =
      bare.starts_with('<') && (text.find("<class-of-service") != std::string_view::npos ||
                                text.find("<configuration") != std::string_view::npos);
  if (is_xml) return JunosForm::kXml;
  for (const std::string_view raw : split(text, '\n')) {
    const std::string_view line = trim(raw);
    if (line.starts_with("set class-of-service ") || line.starts_with("set system host-name ") ||
        line.starts_with("set interfaces et-") || line.starts_with("set interfaces xe-"))
      return JunosForm::kSet;
    if (line.starts_with("class-of-service {") || line.starts_with("forwarding-classes {"))
      return JunosForm::kText;
  }
  return std::nullopt;
}

Result<std::vector<Statement>> junos_statements(std::string_view text, std::string_view file,
                                                std::vector<Unread>& unread) {
  const auto form = junos_form(text);
  if (!form)
    return parse_error(
        fmt::format("{}:1: expected a Junos configuration (set commands, XML or the text of show "
                    "configuration), found none of them",
                    file));
  switch (*form) {
    case JunosForm::kSet: return set_statements(text, unread);
    case JunosForm::kText: return TextReader(text, file, unread).read();
    case JunosForm::kXml: break;
  }
  WEIR_TRY(root, XmlReader(text, file).read());
  std::vector<Statement> out;
  Flattener flattener(out, unread);
  for (const Element& element : root.children)
    flattener.flatten(element, "");
  return out;
}

}  // namespace weir::platforms

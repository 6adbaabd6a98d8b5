#include "base/untrusted/json_parse.h"

#include <algorithm>
#include <numeric>
#include <vector>

#include "base/json.h"
#include "base/untrusted/json_place.h"

namespace weir {
namespace {

using Members = std::vector<Json::object_t::value_type>;

/// The members of an object as the vector they are kept in: adding to it looks at nothing else.
Members& members_of(Json& object) {
  return object.get_ref<Json::object_t&>();
}

/// Of members with one key, the first keeps its place and takes the last value, as the library has
/// it.
void settle_duplicates(Json& object) {
  Members& members = members_of(object);
  if (members.size() < 2) return;
  std::vector<std::size_t> order(members.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
    return members[a].first < members[b].first;
  });
  std::vector<bool> is_repeated(members.size(), false);
  bool has_repeated = false;
  for (std::size_t i = order.size(); i-- > 1;) {
    if (members[order[i]].first != members[order[i - 1]].first) continue;
    members[order[i - 1]].second = std::move(members[order[i]].second);
    is_repeated[order[i]] = true;
    has_repeated = true;
  }
  if (!has_repeated) return;
  Members kept;
  for (std::size_t i = 0; i < members.size(); ++i)
    if (!is_repeated[i]) kept.emplace_back(members[i].first, std::move(members[i].second));
  members.swap(kept);
}

/// Builds the document from the events of the project's JSON library.
class DocumentBuilder : public nlohmann::json_sax<Json> {
 public:
  explicit DocumentBuilder(const JsonPlace& place) : place_(place) {}

  bool null() override { return add(Json()); }
  bool boolean(bool value) override { return add(value); }
  bool number_integer(number_integer_t value) override { return add(value); }
  bool number_unsigned(number_unsigned_t value) override { return add(value); }
  bool number_float(number_float_t value, const string_t& /*written*/) override {
    return add(value);
  }
  bool string(string_t& value) override { return add(std::move(value)); }
  bool binary(binary_t& /*value*/) override { return false; }
  bool start_object(std::size_t /*size*/) override { return open(Json::object()); }
  bool start_array(std::size_t /*size*/) override { return open(Json::array()); }
  bool end_object() override {
    settle_duplicates(*path_.back());
    return end_array();
  }
  bool end_array() override {
    path_.pop_back();
    return true;
  }
  bool key(string_t& value) override {
    key_ = std::move(value);
    return true;
  }
  bool parse_error(std::size_t /*position*/, const std::string& last_token,
                   const nlohmann::detail::exception& error) override {
    return refuse(json_reason(error.what(), last_token));
  }

  [[nodiscard]] Json&& take() && { return std::move(root_); }
  [[nodiscard]] Error error() const {
    return is_too_deep_ ? invalid_error(error_) : weir::parse_error(error_);
  }

 private:
  bool refuse(const std::string& why) {
    error_ = "line " + std::to_string(place_.last_line) + ": " + why;
    return false;
  }
  bool open(Json container) {
    if (path_.size() >= kJsonDepth) {
      is_too_deep_ = true;
      return refuse(too_deep(kJsonDepth));
    }
    path_.push_back(&put(std::move(container)));
    return true;
  }
  bool add(Json value) {
    put(std::move(value));
    return true;
  }
  /// Pointers to the open containers stay good: none of their vectors grows until the innermost one
  /// is closed.
  Json& put(Json value) {
    if (path_.empty()) return root_ = std::move(value);
    Json& into = *path_.back();
    if (into.is_array()) return into.emplace_back(std::move(value));
    return members_of(into).emplace_back(std::move(key_), std::move(value)).second;
  }

  const JsonPlace& place_;
  Json root_;
  std::vector<Json*> path_;
  std::string key_;
  std::string error_;
  bool is_too_deep_ = false;
};

}  // namespace

std::string json_reason(std::string_view what, std::string_view last_token) {
  constexpr std::string_view kExpected = "; expected ";
  const auto dash = what.find(" - ");
  const std::string_view rest = dash == std::string_view::npos ? what : what.substr(dash + 3);
  const auto expected = rest.find(kExpected);
  std::string out = "expected ";
  out += expected == std::string_view::npos ? "JSON" : rest.substr(expected + kExpected.size());
  if (rest.starts_with("unexpected end of input")) return out + ", found the end of the file";
  constexpr std::size_t kShown = 40;
  std::string_view found = last_token.substr(0, last_token.find_first_of("\r\n<"));
  return out + ", found '" + std::string(found.substr(0, kShown)) +
         (found.size() > kShown ? "...'" : "'");
}

std::string too_deep(std::size_t limit) {
  return "expected at most " + std::to_string(limit) + " levels of JSON, found more";
}

Result<Json> parse_json(std::string_view text) {
  JsonPlace place;
  DocumentBuilder builder(place);
  const CountingIterator begin(text.data(), &place);
  const CountingIterator end(text.data() + text.size(), &place);
  if (!Json::sax_parse(begin, end, &builder)) return builder.error();
  return std::move(builder).take();
}

}  // namespace weir

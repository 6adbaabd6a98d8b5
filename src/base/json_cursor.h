#pragma once
// A place in a JSON document that is being read: the value, and the way to it.
//
// Reading a document written by someone else, the error a person can act on names the place. A
// cursor knows its parent and its key, so that the JSON Pointer (RFC 6901) costs nothing until it
// is wanted.
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/json_fwd.h"
#include "base/result.h"

namespace weir {

/// REQUIRES: the document and the cursor it was reached from outlive it.
class JsonCursor {
 public:
  explicit JsonCursor(const Json& root) : value_(&root) {}

  [[nodiscard]] const Json& value() const { return *value_; }
  /// "/nics/0/link/mtu"; empty at the root.
  [[nodiscard]] std::string pointer() const;

  /// The member `key`, or nullopt where it is absent or null. REQUIRES: an object.
  [[nodiscard]] std::optional<JsonCursor> find(std::string_view key) const;
  /// The same, where an absent member is an error.
  [[nodiscard]] Result<JsonCursor> member(std::string_view key) const;
  /// The member `key` whose value the caller has at hand, as when it goes through all of them.
  [[nodiscard]] JsonCursor member(std::string_view key, const Json& value) const {
    return {value, *this, key, 0};
  }
  /// REQUIRES: an array with more than `index` elements.
  [[nodiscard]] JsonCursor at(std::size_t index) const;
  /// Elements of an array. REQUIRES: an array.
  [[nodiscard]] std::size_t size() const;

  [[nodiscard]] Status expect_object() const;
  [[nodiscard]] Status expect_array() const;
  [[nodiscard]] Result<bool> boolean() const;
  [[nodiscard]] Result<std::string> text() const;
  [[nodiscard]] Result<std::uint64_t> whole_number() const;  // not negative
  [[nodiscard]] Result<std::int64_t> integer() const;
  [[nodiscard]] Result<double> number() const;

  /// "/nics/0/mtu: expected an integer, found "9k"".
  [[nodiscard]] Error wrong(std::string_view expected) const;

 private:
  JsonCursor(const Json& value, const JsonCursor& parent, std::string_view key, std::size_t index)
      : value_(&value), parent_(&parent), key_(key), index_(index) {}

  const Json* value_;
  const JsonCursor* parent_ = nullptr;
  std::string_view key_;  // of a member; empty for an element of an array
  std::size_t index_ = 0;
};

}  // namespace weir

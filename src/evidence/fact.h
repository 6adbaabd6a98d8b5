#pragma once
// A fact: what was observed, or why it was not.
//
// Three states, because a check must tell them apart: known (a value), missing (it was refused, or
// is not there), and not looked at (the default). Each carries where it came from, so that a
// finding can say what to read again.
#include <optional>
#include <string>
#include <utility>

#include "base/check.h"
#include "counters/reading.h"

namespace weir::evidence {

using counters::Missing;

template <class T>
class Fact {
 public:
  using value_type = T;

  Fact() = default;
  static Fact of(T value, std::string source = "") {
    return Fact(std::move(value), std::nullopt, std::move(source));
  }
  static Fact missing(Missing why, std::string source = "") {
    return Fact(std::nullopt, why, std::move(source));
  }

  [[nodiscard]] bool is_known() const { return value_.has_value(); }
  [[nodiscard]] bool is_missing() const { return why_.has_value(); }
  [[nodiscard]] bool was_looked_at() const { return is_known() || is_missing(); }

  [[nodiscard]] const T& value() const {
    WEIR_CHECK(is_known());
    return *value_;
  }
  const T& operator*() const { return value(); }
  const T* operator->() const { return &value(); }
  [[nodiscard]] Missing why() const {
    WEIR_CHECK(is_missing());
    return *why_;
  }
  /// A path, a command, a line of a text; empty where the reader had none to give.
  [[nodiscard]] const std::string& source() const { return source_; }

  /// Known and equal. A missing fact equals no value.
  [[nodiscard]] bool is(const T& expected) const { return is_known() && *value_ == expected; }

  friend bool operator==(const Fact&, const Fact&) = default;

 private:
  Fact(std::optional<T> value, std::optional<Missing> why, std::string source)
      : value_(std::move(value)), why_(why), source_(std::move(source)) {}

  std::optional<T> value_;
  std::optional<Missing> why_;
  std::string source_;
};

}  // namespace weir::evidence

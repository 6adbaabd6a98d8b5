#pragma once
// A value of the design that knows where it came from: a line of the file, or a default with its
// reason.
#include <string>
#include <string_view>
#include <utility>

#include "base/check.h"
#include "base/text_position.h"

namespace weir::design {

template <class T>
class Setting {
 public:
  using value_type = T;

  /// Written by the user (or set on the command line, with no position).
  void write(T value, TextPosition at) {
    value_ = std::move(value);
    at_ = at;
    origin_ = Origin::kWritten;
    why_.clear();
  }
  /// The file has something that cannot be read: neither set nor missing.
  void reject(TextPosition at) {
    at_ = at;
    origin_ = Origin::kRejected;
  }
  /// Fills the setting where it has no value yet: the first reason given wins. `why` names the
  /// reference for this value.
  void fill(T value, std::string_view why) {
    if (origin_ != Origin::kUnset) return;
    value_ = std::move(value);
    why_ = why;
    origin_ = Origin::kDefault;
  }

  /// Takes a default back, so that it can follow from other values anew.
  void forget_default() {
    if (origin_ != Origin::kDefault) return;
    origin_ = Origin::kUnset;
    why_.clear();
  }

  [[nodiscard]] bool is_set() const {
    return origin_ == Origin::kDefault || origin_ == Origin::kWritten;
  }
  [[nodiscard]] bool is_missing() const { return origin_ == Origin::kUnset; }
  [[nodiscard]] bool is_written() const { return origin_ == Origin::kWritten; }
  /// REQUIRES: is_set().
  [[nodiscard]] const T& value() const {
    WEIR_CHECK(is_set());
    return value_;
  }
  const T& operator*() const { return value(); }
  const T* operator->() const { return &value(); }
  [[nodiscard]] T value_or(T fallback) const { return is_set() ? value_ : std::move(fallback); }

  [[nodiscard]] TextPosition at() const { return at_; }
  [[nodiscard]] const std::string& why() const { return why_; }

 private:
  enum class Origin { kUnset, kRejected, kDefault, kWritten };
  T value_{};
  TextPosition at_;
  std::string why_;
  Origin origin_ = Origin::kUnset;
};

/// A member of a mapping whose keys are the user's own names.
template <class T>
struct Named {
  std::string name;
  TextPosition at;
  T value;
};

}  // namespace weir::design

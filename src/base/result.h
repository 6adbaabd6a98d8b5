#pragma once
// Operating errors as values. The interface is a subset of std::expected (C++23), so that Result
// can become an alias of it one day; unlike std::expected it is [[nodiscard]] as a class, so an
// ignored error does not compile under -Werror.
#include <optional>
#include <string>
#include <utility>
#include <variant>

#include "base/check.h"

namespace weir {

/// A code exists only where some caller reacts to it.
enum class ErrorCode {
  kNotFound,     // the file, device or name is not there
  kParse,        // text that does not follow its grammar
  kInvalid,      // well-formed, but not allowed
  kPermission,   // refused by the system
  kUnsupported,  // the platform cannot
  kIo,           // anything else the system said
};

struct Error {
  ErrorCode code = ErrorCode::kIo;
  std::string what;  // names the attempt: "open fabric.yaml: No such file or directory"

  /// The same error seen from further up: "reading the design: open fabric.yaml: …".
  [[nodiscard]] Error within(const std::string& context) const& {
    return {code, context + ": " + what};
  }
};

inline Error parse_error(std::string what) {
  return {ErrorCode::kParse, std::move(what)};
}
inline Error invalid_error(std::string what) {
  return {ErrorCode::kInvalid, std::move(what)};
}
inline Error not_found_error(std::string what) {
  return {ErrorCode::kNotFound, std::move(what)};
}

/// `E` is Error everywhere but in a layer that has more to say of its failures.
template <class T, class E = Error>
class [[nodiscard]] Result {
 public:
  using value_type = T;
  // Implicit, so that a function can return either.
  // NOLINTNEXTLINE(google-explicit-constructor)
  Result(T value) : state_(std::in_place_index<0>, std::move(value)) {}
  // NOLINTNEXTLINE(google-explicit-constructor)
  Result(E error) : state_(std::in_place_index<1>, std::move(error)) {}

  [[nodiscard]] bool has_value() const { return state_.index() == 0; }
  explicit operator bool() const { return has_value(); }

  [[nodiscard]] const T& value() const& {
    WEIR_CHECK(has_value());
    return std::get<0>(state_);
  }
  [[nodiscard]] T& value() & {
    WEIR_CHECK(has_value());
    return std::get<0>(state_);
  }
  [[nodiscard]] T&& value() && {
    WEIR_CHECK(has_value());
    return std::get<0>(std::move(state_));
  }
  const T& operator*() const& { return value(); }
  T& operator*() & { return value(); }
  T&& operator*() && { return std::move(*this).value(); }
  const T* operator->() const { return &value(); }
  T* operator->() { return &value(); }

  [[nodiscard]] const E& error() const& {
    WEIR_CHECK(!has_value());
    return std::get<1>(state_);
  }
  [[nodiscard]] E&& error() && {
    WEIR_CHECK(!has_value());
    return std::get<1>(std::move(state_));
  }

  [[nodiscard]] T value_or(T fallback) const& {
    return has_value() ? value() : std::move(fallback);
  }

 private:
  std::variant<T, E> state_;
};

template <class E>
class [[nodiscard]] Result<void, E> {
 public:
  using value_type = void;
  Result() = default;
  Result(E error) : error_(std::move(error)) {}  // NOLINT(google-explicit-constructor)
  [[nodiscard]] bool has_value() const { return !error_.has_value(); }
  explicit operator bool() const { return has_value(); }
  [[nodiscard]] const E& error() const& {
    WEIR_CHECK(error_.has_value());
    return *error_;
  }
  [[nodiscard]] E&& error() && {
    WEIR_CHECK(error_.has_value());
    return *std::move(error_);
  }

 private:
  std::optional<E> error_;
};

using Status = Result<void>;

}  // namespace weir

#define WEIR_CONCAT_(a, b) a##b
#define WEIR_CONCAT(a, b) WEIR_CONCAT_(a, b)

/// `WEIR_TRY(text, read_file(path));` declares `text`, or returns the error to the caller.
#define WEIR_TRY(name, expression)                            \
  auto WEIR_CONCAT(result_, __LINE__) = (expression);         \
  if (!WEIR_CONCAT(result_, __LINE__).has_value())            \
    return std::move(WEIR_CONCAT(result_, __LINE__)).error(); \
  auto name = std::move(WEIR_CONCAT(result_, __LINE__)).value()

/// The same for a Status.
#define WEIR_TRY_STATUS(expression)                                          \
  do {                                                                       \
    auto status_of_try = (expression);                                       \
    if (!status_of_try.has_value()) return std::move(status_of_try).error(); \
  } while (false)

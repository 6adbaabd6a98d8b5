#pragma once
// Why an operation gave no answer. Whoever asked decides what to make of it: an exit status, an
// HTTP status, a message.
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "base/result.h"

namespace weir::ops {

enum class FailureKind {
  kRequest,       // the request contradicts itself, or a value of it makes no sense
  kBadInput,      // a file or text cannot be used; everything is left as it was
  kCouldNotLook,  // no privilege, no device, no tool
  kRolledBack,    // a change failed and was rolled back
  kInterrupted,   // by the user, or by a signal; what was begun is ended
  kLeft,          // what was begun could not be ended: a failure that is still on, a load
};

/// A mistake in a file, for editors that jump to it.
struct FileError {
  std::string file;
  int line = 0;  // from 1; 0: no particular place
  int column = 0;
  std::string message;
};

struct Failure {
  FailureKind kind = FailureKind::kBadInput;
  std::string what;
  std::vector<FileError> places = {};  // every mistake, where it is a file that has them
};

template <class T>
using Result = weir::Result<T, Failure>;
using Status = Result<void>;

[[nodiscard]] inline Failure bad_request(std::string what) {
  return {FailureKind::kRequest, std::move(what)};
}
[[nodiscard]] inline Failure bad_input(std::string what) {
  return {FailureKind::kBadInput, std::move(what)};
}
[[nodiscard]] inline Failure could_not_look(std::string what) {
  return {FailureKind::kCouldNotLook, std::move(what)};
}

/// The result of a lower layer, its error taken for a failure of that kind.
template <class T>
[[nodiscard]] Result<T> or_fail(FailureKind kind, weir::Result<T> result) {
  if (!result) return Failure{kind, std::move(result).error().what};
  if constexpr (std::is_void_v<T>) {
    return {};
  } else {
    return std::move(result).value();
  }
}
template <class T>
[[nodiscard]] Result<T> or_bad_request(weir::Result<T> result) {
  return or_fail(FailureKind::kRequest, std::move(result));
}
template <class T>
[[nodiscard]] Result<T> or_bad_input(weir::Result<T> result) {
  return or_fail(FailureKind::kBadInput, std::move(result));
}
template <class T>
[[nodiscard]] Result<T> or_could_not_look(weir::Result<T> result) {
  return or_fail(FailureKind::kCouldNotLook, std::move(result));
}

}  // namespace weir::ops

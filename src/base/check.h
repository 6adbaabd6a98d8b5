#pragma once
// Broken contracts: our own bugs. On in every build; prints where and stops.
//
// An operating error (missing file, bad design) is a Result, never a check; a fault of the fabric
// is a finding, never either of the two.
#include <string_view>

namespace weir {

/// Prints `file:line: what` on stderr and aborts. Never returns.
[[noreturn]] void check_failed(const char* file, int line, std::string_view what);

}  // namespace weir

#define WEIR_CHECK(condition)                               \
  do {                                                      \
    if (!(condition)) [[unlikely]]                          \
      ::weir::check_failed(__FILE__, __LINE__, #condition); \
  } while (false)

/// A place the program cannot reach; `what` says why we believe so.
#define WEIR_UNREACHABLE(what) ::weir::check_failed(__FILE__, __LINE__, what)

#pragma once
// What every unit test may use: GoogleTest, and the mission rows a test stands for.
#include <sstream>
#include <string>

#include <gtest/gtest.h>

#include "base/untrusted/printable.h"

/// First statement of a test that proves something a mission row promises: COVERS("A3", "F2").
/// tools/coverage.py reads it from the source into docs/coverage.md; at run time it does nothing.
#define COVERS(...) static_assert(sizeof(#__VA_ARGS__) > 1)

namespace weir {

/// A text with colours as it is printed: see own_control().
inline std::string as_printed(const std::string& text) {
  std::ostringstream to;
  PrintableBuffer buffer(to);
  std::ostream(&buffer) << text;
  buffer.finish();
  return to.str();
}

}  // namespace weir

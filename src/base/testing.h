#pragma once
// What every unit test may use: GoogleTest, and the mission rows a test stands for.
#include <gtest/gtest.h>

/// First statement of a test that proves something a mission row promises: COVERS("A3", "F2").
/// tools/coverage.py reads it from the source into docs/coverage.md; at run time it does nothing.
#define COVERS(...) static_assert(sizeof(#__VA_ARGS__) > 1)

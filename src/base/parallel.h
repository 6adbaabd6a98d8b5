#pragma once
// Independent pieces of work on the cores there are.
#include <cstddef>
#include <functional>

namespace weir {

/// The cores this process may use, at least one.
[[nodiscard]] unsigned available_cores();

/// Calls `body(i)` once for every i below `count`, on `jobs` threads (0 counts as 1), the calling
/// one among them; returns when all are done. Pieces are taken in order and finish in any: a body
/// writes its result into a slot of its own, so that the outcome does not depend on `jobs`. What a
/// library throws in a body (memory that ran out) is thrown here, after the others have stopped.
/// REQUIRES: what a body touches besides is only read, or guarded.
void for_each_index(std::size_t count, unsigned jobs, const std::function<void(std::size_t)>& body);

}  // namespace weir

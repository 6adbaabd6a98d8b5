#pragma once
// Times of an answer that goes on, known to the server that bounds it and to whoever writes it.
#include <chrono>

namespace weir::serve {

/// A writer of a stream comes back to the server at least this often, with something or nothing.
inline constexpr std::chrono::milliseconds kLongestSilence(1000);

}  // namespace weir::serve

#pragma once
// A counter in words, for `weir explain`.
#include <string>

#include "counters/catalog.h"

namespace weir::counters {

/// Plain text, wrapped at 100 columns: what it counts, what is normal, what growth means, which
/// driver calls it what and where, how wide the number is, what it is mistaken for.
[[nodiscard]] std::string explain(const Counter& counter);

/// The same for a name as it was printed: first the word on the real name.
[[nodiscard]] std::string explain(const Resolution& resolution);

}  // namespace weir::counters

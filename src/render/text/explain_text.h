#pragma once
// `weir explain ID` of a finding: what it is, why it matters, how to fix it on each platform, and
// the sources.
#include <cstddef>
#include <string>

#include "finding/catalog.h"

namespace weir::render {

/// Prose is wrapped at `width`; commands never are. Every line ends with a newline.
[[nodiscard]] std::string explain(const finding::CatalogEntry& entry, std::size_t width = 88);

}  // namespace weir::render

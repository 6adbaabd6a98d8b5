#pragma once
// A change as JSON, for the journal: {"set":"trust","mode":"dscp"}. What is written reads back as
// the same change; whatever else is in a text is an error that names the place.
#include "base/json_cursor.h"
#include "base/json_fwd.h"
#include "base/result.h"
#include "host/change/operation.h"

namespace weir::host {

[[nodiscard]] Json to_json(const Change& change);
[[nodiscard]] Result<Change> change_from(const JsonCursor& place);

}  // namespace weir::host

#pragma once
// A RunRecord as JSON, written and read: in the lab's state and in reports.
#include "base/json_cursor.h"
#include "base/json_fwd.h"
#include "base/result.h"
#include "lab/fabric/run_record.h"

namespace weir::lab {

[[nodiscard]] Json to_json(const RunRecord& record);
[[nodiscard]] Result<RunRecord> run_record_from_json(const JsonCursor& at);

}  // namespace weir::lab

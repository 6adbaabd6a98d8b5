#include "base/file.h"
#include "base/json.h"
#include "base/untrusted/json_parse.h"
#include "ops/preflight/preflight.h"

namespace weir::ops {

weir::Result<preflight::Report> read_preflight(const std::string& path) {
  WEIR_TRY(text, read_file(path));
  const auto document = parse_json(text);
  if (!document) return document.error().within(path);
  auto report = preflight::report_from_json(JsonCursor(*document));
  if (!report) return report.error().within(path + ": expected the result of weir preflight --out");
  return report;
}

}  // namespace weir::ops

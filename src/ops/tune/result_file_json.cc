#include <filesystem>

#include <fmt/format.h>

#include "base/file.h"
#include "base/json.h"
#include "base/untrusted/json_parse.h"
#include "ops/tune/result_file.h"

namespace weir::ops {

weir::Result<tune::TuneResult> read_tune_result(const std::string& path) {
  const std::string file =
      is_directory(path) ? (std::filesystem::path(path) / kTuneResultFile).string() : path;
  auto text = read_file(file);
  if (!text) {
    if (file == path) return text.error();
    return text.error().within("expected a directory of weir tune --out");
  }
  const auto document = parse_json(*text);
  if (!document) return document.error().within(file);
  auto result = tune::tune_result_from_json(*document);
  if (!result) return result.error().within(file + ": expected the result of weir tune");
  return result;
}

}  // namespace weir::ops

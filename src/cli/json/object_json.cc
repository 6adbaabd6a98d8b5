#include <algorithm>

#include <fmt/format.h>

#include "base/check.h"
#include "base/json.h"
#include "cli/json/error.h"
#include "cli/json/object.h"
#include "finding/json.h"

namespace weir::cli {

Json json_object(const Command& command) {
  std::string name(command.name);
  std::replace(name.begin(), name.end(), ' ', '-');
  return {{"schema", fmt::format("weir/{}/1", name)}};
}

Json judged_object(const Command& command, const finding::Judgement& judgement,
                   std::string_view verdict) {
  Json object = json_object(command);
  object["verdict"] = verdict;
  object.update(finding::to_json(judgement));
  return object;
}

void print_json(Context& context, const Json& object) {
  WEIR_CHECK(object.is_object() && object.begin().key() == "schema");
  // A file name or a pasted text may hold any bytes; JSON may not.
  context.out << object.dump(2, ' ', false, Json::error_handler_t::replace) << '\n';
}

Json or_null(const std::optional<std::uint64_t>& value) {
  return value ? Json(*value) : Json(nullptr);
}

Json or_null(const std::optional<std::int64_t>& value) {
  return value ? Json(*value) : Json(nullptr);
}

Json or_null(const std::optional<double>& value) {
  return value ? Json(*value) : Json(nullptr);
}

void print_help_json(Context& context, std::string_view text) {
  print_json(context, {{"schema", "weir/help/1"}, {"text", text}});
}

void print_version_json(Context& context, std::string_view version_line) {
  const std::size_t blank = version_line.find(' ');
  print_json(context, {{"schema", "weir/version/1"},
                       {"name", version_line.substr(0, blank)},
                       {"version", version_line.substr(blank + 1)}});
}

void print_error_json(Context& context, ExitCode code, std::string_view message,
                      std::span<const ops::FileError> places) {
  Json object = {{"schema", "weir/error/1"},
                 {"exit", static_cast<int>(code)},
                 {"message", std::string(message)}};
  if (!places.empty()) object["errors"] = Json::array();
  for (const ops::FileError& place : places)
    object["errors"].push_back({{"file", place.file},
                                {"line", place.line},
                                {"column", place.column},
                                {"message", place.message}});
  print_json(context, object);
}

}  // namespace weir::cli

#include <algorithm>

#include <fmt/format.h>

#include "base/check.h"
#include "base/json.h"
#include "base/untrusted/json_text.h"
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

Json judged_heading(const Command& command, const finding::Judgement& judgement,
                    std::string_view verdict) {
  Json object = json_object(command);
  object["verdict"] = verdict;
  object.update(finding::json_without_findings(judgement));
  return object;
}

void print_judged(Context& context, const Json& heading, const finding::Judgement& judgement) {
  print_json(context, heading, {"findings", judgement.findings.size(), [&](std::size_t at) {
                                  return finding::to_json(judgement.findings[at]);
                                }});
}

void print_json(Context& context, const Json& object) {
  print_json(context, object, {});
}

void print_json(Context& context, const Json& object, const LongList& list) {
  WEIR_CHECK(object.is_object() && object.begin().key() == "schema");
  std::string text = "{";
  const auto begin_line = [&](bool is_first, std::string_view indent) {
    text += is_first ? "\n" : ",\n";
    text += indent;
    constexpr std::size_t kPiece = 1 << 16;
    if (text.size() < kPiece) return;
    context.out << text;
    text.clear();
  };
  for (auto member = object.begin(); member != object.end(); ++member) {
    begin_line(member == object.begin(), "  ");
    append_json_text(member.key(), text);
    text += ": ";
    if (list.size == 0 || member.key() != list.key) {
      append_json_lines(*member, 1, text);
      continue;
    }
    WEIR_CHECK(member->empty());
    text += '[';
    for (std::size_t i = 0; i < list.size; ++i) {
      begin_line(i == 0, "    ");
      append_json_lines(list.element(i), 2, text);
    }
    text += "\n  ]";
  }
  context.out << text << "\n}\n";
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

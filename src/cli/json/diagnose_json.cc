#include "cli/json/diagnose_json.h"

#include <fmt/format.h>

#include "base/json.h"
#include "cli/json/object.h"
#include "cli/json/questions_json.h"

namespace weir::cli {
namespace {

Json read_json(const readers::Paste& paste) {
  Json out = Json::array();
  for (const readers::PastePart& part : paste.parts) {
    out.push_back({{"tool", part.tool},
                   {"detail", part.detail},
                   {"host", part.host},
                   {"device", part.device},
                   {"file", part.file},
                   {"first_line", part.first},
                   {"last_line", part.last}});
  }
  return out;
}

Json unread_json(const readers::Paste& paste) {
  Json out = Json::array();
  for (const auto& unread : paste.unread) {
    out.push_back({{"file", unread.file},
                   {"line", unread.line.line},
                   {"text", unread.line.text},
                   {"why", unread.line.why}});
  }
  const readers::Printed printed(paste);
  for (const readers::Cited& line : paste.rest) {
    const readers::Paste::NotRead* const by = printed.by(line);
    out.push_back(
        {{"file", line.file},
         {"line", line.line},
         {"text", line.text},
         {"why", by == nullptr ? std::string("in no known output")
                               : fmt::format("output of `{}` is not read", by->command)}});
  }
  return out;
}

}  // namespace

Json expectation_json(const lab::Expectation& expected) {
  Json outside = Json::array();
  for (const lab::Deviation& item : expected.outside) {
    Json row = {{"what", item.what}, {"where", item.where}, {"unit", item.unit},
                {"low", item.low},   {"high", item.high},   {"measured", item.measured}};
    if (!item.counter.empty()) row["counter"] = item.counter;
    outside.push_back(std::move(row));
  }
  return {{"replicas", expected.replicas},
          {"compared", expected.compared},
          {"outside", std::move(outside)}};
}

void print_thresholds_json(Context& context, const Command& command,
                           const finding::Thresholds& set) {
  Json list = Json::array();
  for (const finding::ThresholdInfo& info : finding::threshold_table())
    list.push_back({{"name", info.name},
                    {"value", finding::value_text(info, set)},
                    {"unit", info.unit},
                    {"rows", info.rows},
                    {"source", info.source},
                    {"meaning", info.meaning}});
  Json object = json_object(command);
  object["thresholds"] = std::move(list);
  print_json(context, object);
}

void print_diagnosed_json(Context& context, const Command& command, const ops::Diagnosed& found,
                          std::string_view verdict) {
  Json object = judged_heading(command, found.judgement, verdict);
  object["questions"] = questions_json(found.questions);
  object["hosts"] = found.hosts;
  object["switches"] = found.switches;
  object["simulated"] = found.is_simulated;
  if (found.paste) {
    object["read"] = read_json(*found.paste);
    object["unread"] = unread_json(*found.paste);
  }
  if (found.expectation) object["expectation"] = expectation_json(*found.expectation);
  print_judged(context, object, found.judgement);
}

}  // namespace weir::cli

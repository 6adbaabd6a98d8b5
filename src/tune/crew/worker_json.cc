#include <fmt/format.h>

#include "base/json.h"
#include "base/json_cursor.h"
#include "base/untrusted/json_parse.h"
#include "design/file/load.h"
#include "tune/crew/crew.h"

namespace weir::tune {
namespace {

std::string line_text(const Json& line) {
  return line.dump(-1, ' ', true, Json::error_handler_t::replace);
}

Result<design::Design> introduced_design(const std::string& line) {
  WEIR_TRY(document, parse_json(line));
  const JsonCursor at(document);
  WEIR_TRY_STATUS(at.expect_object());
  WEIR_TRY(file_at, at.member("design"));
  WEIR_TRY(file, file_at.text());
  WEIR_TRY(text_at, at.member("text"));
  WEIR_TRY(text, text_at.text());
  design::Loaded loaded = design::load_text(text, file);
  if (!loaded.is_good()) return parse_error(to_text(loaded));
  return std::move(loaded.design);
}

Result<MadeRun> ordered_run(const Json& document, Variants& variants) {
  WEIR_TRY(order, run_order_from_json(document));
  variants.trim();
  WEIR_TRY(ready, ready_run(order, variants));
  return make_run(ready);
}

}  // namespace

Status work(const Channel& channel) {
  std::string line;
  if (!channel.receive(line)) return {};
  const auto design = introduced_design(line);
  if (!design) {
    channel.reply(line_text({{"error", design.error().what}}));
    return design.error();
  }
  Variants variants(*design);
  channel.reply(line_text({{"ready", fmt::format("{:016x}", variants.design_digest())}}));
  while (channel.receive(line)) {
    const auto document = parse_json(line);
    if (!document) return document.error();
    const JsonCursor at(*document);
    WEIR_TRY_STATUS(at.expect_object());
    WEIR_TRY(run_at, at.member("run"));
    WEIR_TRY(run, run_at.whole_number());
    const auto made = ordered_run(*document, variants);
    Json reply = {{"run", run}};
    if (made) {
      reply["cpu_s"] = made->cpu_seconds;
      reply["metrics"] = to_json(made->metrics);
    } else {
      reply["error"] = made.error().what;
    }
    channel.reply(line_text(reply));
  }
  return {};
}

}  // namespace weir::tune

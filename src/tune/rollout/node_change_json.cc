#include "base/json.h"
#include "base/untrusted/json_parse.h"
#include "tune/rollout/node_change.h"

namespace weir::tune {

Result<std::string> json_patch(std::string_view before, std::string_view after) {
  WEIR_TRY(first, parse_json(before));
  WEIR_TRY(second, parse_json(after));
  const Json patch = Json::diff(first, second);
  return patch.empty() ? std::string() : patch.dump(2) + "\n";
}

}  // namespace weir::tune

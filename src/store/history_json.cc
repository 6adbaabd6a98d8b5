#include "base/digest.h"
#include "base/json.h"
#include "store/run_digest.h"

namespace weir::store {

std::string run_digest(const preflight::Report& run) {
  Digest digest;
  digest.add(preflight::to_json(run).dump(-1, ' ', false, Json::error_handler_t::replace));
  return digest.to_text();
}

}  // namespace weir::store

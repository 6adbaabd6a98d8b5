#include "ops/record/bundle.h"

#include <chrono>
#include <thread>

#include "base/check.h"
#include "host/bundle/bundle.h"
#include "host/bundle/bundle_names.h"
#include "host/bundle/bundle_secrets.h"
#include "host/bundle/pseudonym.h"
#include "host/kernel/live.h"
#include "host/kernel/replay.h"
#include "host/linux/host.h"

namespace weir::ops {
namespace {

weir::Result<std::unique_ptr<host::Kernel>> kernel_of(const std::string& root) {
  if (root.empty()) return host::make_live_kernel();
  return host::open_replay(root);
}

}  // namespace

Result<Bundled> bundle(const BundleRequest& request) {
  WEIR_TRY(kernel, or_bad_input(kernel_of(request.root)));
  WEIR_TRY(recorded,
           or_could_not_look(host::record_host(*kernel, request.root, request.seconds > 0, [&] {
             std::this_thread::sleep_for(std::chrono::seconds(request.seconds));
           })));
  Bundled out;
  out.withheld = host::withhold(recorded);
  if (!request.keeps_names) host::pseudonymise(recorded, host::Pseudonyms(request.key));
  out.leaving = host::leaving(recorded);
  out.text = host::bundle_text(recorded);
  out.has_pseudonyms = recorded.has_pseudonyms;
  out.looks = recorded.looks.size();
  const auto host = host::open_bundle(out.text, "the bundle");
  WEIR_CHECK(host.has_value());
  WEIR_TRY(seen, or_could_not_look((*host)->observe()));
  out.seen = std::move(seen);
  return out;
}

}  // namespace weir::ops

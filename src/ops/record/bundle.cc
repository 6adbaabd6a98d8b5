#include "ops/record/bundle.h"

#include <chrono>
#include <thread>

#include "base/check.h"
#include "base/file.h"
#include "base/parallel.h"
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

/// One host of a fleet into its file.
weir::Status store_bundle(host::FleetMember& member, const std::string& directory,
                          const BundleRequest& request) {
  WEIR_TRY(text, member.fetch_bundle());
  WEIR_TRY(bundle, host::parse_bundle(text));
  (void)host::withhold(bundle);
  if (!request.keeps_names && !bundle.has_pseudonyms)
    host::pseudonymise(bundle, host::Pseudonyms(request.key));
  return write_file_atomic(directory + "/" + member.name() + ".bundle", host::bundle_text(bundle),
                           FileMode::kPrivate);
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

Result<FleetBundles> bundle_fleet(const FleetSource& fleet, const std::string& directory,
                                  const BundleRequest& request) {
  WEIR_TRY(members, or_bad_request(host::make_fleet(fleet.hosts, fleet.reach, fleet.limits)));
  WEIR_TRY_STATUS(or_bad_input(make_directory(directory)));
  std::vector<weir::Status> done(members.size());
  for_each_index(members.size(), fleet.limits.fanout,
                 [&](std::size_t i) { done[i] = store_bundle(*members[i], directory, request); });
  FleetBundles out;
  for (std::size_t i = 0; i < members.size(); ++i) {
    if (done[i]) {
      out.written.push_back(members[i]->name());
    } else {
      out.unseen.push_back(members[i]->name() + ": " + done[i].error().what);
    }
  }
  if (out.written.empty()) return could_not_look("no host could be read: " + out.unseen.front());
  return out;
}

}  // namespace weir::ops

// The application posts too few receives: messages arrive and have nowhere to go. The receiver says
// so, the sender sends again. Not the fabric.
#include <fmt/format.h>

#include "base/text.h"
#include "diagnose/rule.h"

namespace weir::diagnose {

void look_for_few_receives(const View& view, Suspicions& out) {
  constexpr std::string_view kRefused = "nic.resp.out_of_buffer.packets";
  for (const NicView& nic : view.nics()) {
    const std::uint64_t refused = nic.counts.of(kRefused).value_or(0);
    if (refused == 0) continue;
    finding::Finding finding = finding::make_finding(
        "app.receives_too_few",
        fmt::format("{} turned {} messages away because no receive was posted for them.",
                    name_of(nic), with_thousands(static_cast<std::int64_t>(refused))),
        nic.where());
    finding.confidence = finding::Confidence::kHigh;
    finding.evidence.push_back(nic.counts.line(kRefused));
    out.add(std::move(finding), {{"path.loss"}});
  }
}

}  // namespace weir::diagnose

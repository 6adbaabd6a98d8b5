#pragma once
// A bundle: one host as Weir saw it, in one text file that a person can read before sending it.
//
// It holds questions and answers of the kernel seam (kernel.h), word for word, so that looking at a
// bundle gives what looking at the host gave. What was not asked then is not known (an error), and
// not absent: a newer Weir that asks more gets no wrong "no" out of an old bundle.
//
//   weir bundle 1
//   names    pseudonyms                          or: kept
//   look     1                                   a second one holds the counters a while later
//   about    machine      x86_64                 tabs between; escapes: \n \t \r \\ \xNN
//   file     /sys/…/mtu   9000\n
//   list     /sys/…       mtu/speed/uevent       a name holds no '/'
//   path     /sys/…       /sys/devices/…         where links lead
//   no-file  /sys/…       EACCES                 no-list, no-path, no-about: what it said instead
//   talk                                         then REQUEST, IOCTL, REPLY, ERROR with bytes in
//                                                hexadecimal (kernel_capture.h); zeros at the end
//                                                of an ioctl's bytes are left out
//   # a comment
#include <functional>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/result.h"
#include "host/kernel/capture.h"
#include "host/kernel/kernel.h"
#include "units/quantity.h"

namespace weir::host {

/// The first answer to each question of one look at a host; of the clock, the last.
struct Recording {
  std::map<std::string, Answer<std::string>, std::less<>> files;
  std::map<std::string, Answer<std::vector<std::string>>, std::less<>> lists;
  std::map<std::string, Answer<std::string>, std::less<>> paths;
  std::map<std::string, Answer<std::string>, std::less<>> about;
  /// By netdev (empty for netlink) and question.
  std::map<std::pair<std::string, std::string>, CapturedTalk> talks;
};

/// Names of the network interfaces that were looked at, sorted.
[[nodiscard]] std::set<std::string> interfaces_of(const Recording& look);

struct Bundle {
  bool has_pseudonyms = false;
  std::vector<Recording> looks;  // one, or two: the second for counters alone
};

inline constexpr std::string_view kBundleHeading = "weir bundle 1";

[[nodiscard]] std::string bundle_text(const Bundle& bundle);
/// Errors name the line.
[[nodiscard]] Result<Bundle> parse_bundle(std::string_view text);

/// Looks at the host behind `kernel` as observe() does (`capture`: make_host()), and keeps what it
/// said; `with_second_look`: also the counters alone, once `wait` has returned. An error where
/// there is nothing to look at.
[[nodiscard]] Result<Bundle> record_host(Kernel& kernel, const std::string& capture,
                                         bool with_second_look, const std::function<void()>& wait);

/// Passes questions on and keeps the answers. Both outlive it.
[[nodiscard]] std::unique_ptr<Kernel> make_recording_kernel(Kernel& inner, Recording& recording);
/// Answers out of a recording; ENODATA to what was not asked then.
[[nodiscard]] std::unique_ptr<Kernel> make_bundle_kernel(Recording recording);

}  // namespace weir::host

#pragma once
// D7: the same load three times: before a failure, under it, and after it. The fabric stays
// lossless and carries the load meanwhile, and is itself again afterwards.
#include <functional>
#include <string>
#include <vector>

#include "cli/frame/command.h"
#include "cli/frame/transition.h"

namespace weir::cli {

/// How a failure begins and ends; in a lab a fault, on hosts two commands of the user's.
struct Failure {
  std::string text;  // as a person reads it
  std::function<Status()> begin;
  std::function<Status()> end;
};

/// "link=leaf1/swp9", "host=gpu03", "rail=1" (the NICs of that rail, of every host), or a fault of
/// `weir sim --list-faults`: as the lab takes them. Empty for a rail that no host has.
[[nodiscard]] std::vector<std::string> faults_of(const std::string& what,
                                                 const design::Intent& intent);

/// What runs in a lab under that failure where nobody says: everybody with everybody, and not over
/// a rail that is drained. Empty where no other rail is left.
[[nodiscard]] std::vector<std::string> load_under(const std::string& what,
                                                  const design::Intent& intent);

/// Why a command is no failure that RoCE notices; empty where it may be one.
[[nodiscard]] std::string why_no_failure(const std::string& command);

/// `ran_on` is the host that starts the load.
ExitCode run_under_failure(const Args& args, Context& context, HostSet& set,
                           const DesignInput& input, const std::string& ran_on,
                           const std::vector<std::string>& words, const Failure& failure);

}  // namespace weir::cli

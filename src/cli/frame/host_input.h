#pragma once
// The hosts of a verb: this machine, captured ones, or those of a lab. Every verb that looks at
// hosts goes through here, so that none of them knows which it is.
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "cli/frame/command.h"
#include "cli/frame/design_input.h"
#include "evidence/evidence.h"
#include "host/bundle/pseudonym.h"
#include "host/host_io.h"
#include "lab/fabric/lab.h"

namespace weir::cli {

/// --lab DIR, --host H and --root PATH, in front of a verb's own options.
[[nodiscard]] std::vector<Option> with_host_options(std::vector<Option> own = {});

struct HostSet {
  std::optional<lab::Lab> lab;  // where the hosts are a lab's
  std::vector<std::unique_ptr<host::HostIo>> hosts;
  std::vector<std::string> captures;  // of captured machines: what --root was given
  bool with_switches = false;         // all of a lab: its switches too

  /// " --lab DIR", " --root DIR", for commands to type next; empty on this machine.
  [[nodiscard]] std::string flag() const;
};

/// The hosts that --lab and --host name (all of a lab, and its switches, where no --host is given),
/// those that --root names, or this machine. Where they cannot be had, says why and leaves the exit
/// code in `code`.
[[nodiscard]] std::optional<HostSet> open_hosts(const Args&, Context&, ExitCode& code);

/// Everything that could be seen.
struct Observation {
  std::vector<evidence::Evidence> hosts;
  std::optional<evidence::Evidence> switches;  // where they were asked for
  std::vector<std::string> unseen;             // "gpu03: why"

  /// Hosts and switches in one list.
  [[nodiscard]] std::vector<evidence::Evidence> all() const;
  [[nodiscard]] bool is_simulated() const;
  /// The system kept something back on a host.
  [[nodiscard]] bool was_refused() const;
  /// kOk, kPartial where a host is missing or kept something back, kCouldNotLook where all are
  /// missing.
  [[nodiscard]] ExitCode completeness() const;
  [[nodiscard]] std::size_t nic_count() const;
  /// "gpu[01-16]".
  [[nodiscard]] std::string names() const;
};

/// Looks at every host, and at the switches where the set has them. Says on stderr which host could
/// not be seen.
[[nodiscard]] Observation observe(const HostSet&, Context&);

/// Agreed on by who makes bundles and who reads them; not an option, because `ps` shows those.
inline constexpr const char* kBundleKeyVariable = "WEIR_BUNDLE_KEY";
[[nodiscard]] host::Pseudonyms pseudonyms_of(const Context&);

/// Hosts of bundles that the design knows by another name get their own back, and their addresses.
void restore_names(Observation&, const design::Intent&, const Context&);

/// What could not be read on each host, and how to get it; nothing where all was.
void print_gaps(const Observation&, Context&);

/// The design of a verb on hosts: the argument DESIGN, else the lab's own, else as load_design().
[[nodiscard]] std::optional<DesignInput> design_for(const Args&, Context&, const HostSet&,
                                                    ExitCode& code);

/// What the design wants of a host, or nullptr where it does not know it.
[[nodiscard]] const design::HostIntent* find_host(const design::Intent&, std::string_view name);

/// "16 hosts", "1 rail".
[[nodiscard]] std::string counted(std::size_t n, std::string_view one);

/// " (simulated)" for a headline over hosts that are.
[[nodiscard]] std::string simulated_word(bool is_simulated);

}  // namespace weir::cli

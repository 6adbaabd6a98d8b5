#include "ops/source/hosts.h"

#include <algorithm>

#include <fmt/format.h>

#include "base/name_pattern.h"
#include "base/parallel.h"
#include "base/text.h"
#include "design/fabric/patterns.h"
#include "host/bundle/bundle_names.h"
#include "host/bundle/pseudonym.h"
#include "host/linux/host.h"
#include "ops/source/fleet.h"

namespace weir::ops {
namespace {

constexpr std::string_view kEveryHost = "all";

/// The names that the patterns ask for, in the lab's order; an error names what is not there.
weir::Result<std::vector<std::string>> chosen_hosts(const std::vector<std::string>& patterns,
                                                    const lab::Lab& lab) {
  const std::vector<std::string> known = lab.host_names();
  std::vector<std::string> wanted;
  for (const std::string& pattern : patterns) {
    if (pattern == kEveryHost) return known;
    WEIR_TRY(names, design::expand_names(pattern));
    for (const std::string& name : names) {
      if (std::find(known.begin(), known.end(), name) == known.end()) {
        return not_found_error(fmt::format("--host {}: the lab has no host '{}'{}; it has {}",
                                           pattern, name, did_you_mean(name, known),
                                           compact_names(known)));
      }
      wanted.push_back(name);
    }
  }
  if (wanted.empty()) return known;
  std::vector<std::string> chosen;
  std::copy_if(known.begin(), known.end(), std::back_inserter(chosen), [&](const auto& name) {
    return std::find(wanted.begin(), wanted.end(), name) != wanted.end();
  });
  return chosen;
}

weir::Status add_lab_hosts(const std::vector<std::string>& names, const lab::Lab& lab,
                           HostSet& set) {
  for (const std::string& name : names) {
    WEIR_TRY(host, lab.host(name));
    set.hosts.push_back(std::move(host));
  }
  return {};
}

weir::Result<HostSet> open_lab_hosts(const Source& source) {
  WEIR_TRY(opened, lab::Lab::open(source.lab));
  WEIR_TRY(names, chosen_hosts(source.hosts, opened));
  HostSet set;
  WEIR_TRY_STATUS(add_lab_hosts(names, opened, set));
  set.with_switches = source.hosts.empty() || names.size() == opened.host_names().size();
  set.lab = std::move(opened);
  return set;
}

/// Of captures: those that were requested, and which of them are not there.
void keep_named(const std::vector<std::string>& names, HostSet& set) {
  std::vector<std::unique_ptr<host::HostIo>> kept;
  for (const std::string& name : names) {
    const auto found = std::find_if(set.hosts.begin(), set.hosts.end(), [&](const auto& host) {
      return host != nullptr && host->name() == name;
    });
    if (found == set.hosts.end()) {
      set.absent.push_back(fmt::format("{}: no capture of it", name));
    } else {
      kept.push_back(std::move(*found));
    }
  }
  set.hosts = std::move(kept);
}

/// This machine, or those that were captured.
weir::Result<HostSet> open_machines(const Source& source) {
  HostSet set;
  set.are_captured = !source.captures.empty();
  for (const std::string& root : source.captures) {
    WEIR_TRY(paths, host::find_captures(root));
    for (const std::string& path : paths) {
      WEIR_TRY(host, host::open_captured_host(path, source.excluded));
      set.hosts.push_back(std::move(host));
    }
  }
  if (source.captures.empty()) set.hosts.push_back(host::make_linux_host(source.excluded));
  if (!source.hosts.empty()) keep_named(source.hosts, set);
  return set;
}

weir::Result<HostSet> open_fleet(const FleetSource& fleet) {
  HostSet set;
  WEIR_TRY(members, host::make_fleet(fleet.hosts, fleet.reach, fleet.limits));
  for (auto& member : members)
    set.hosts.push_back(std::move(member));
  set.fanout = fleet.limits.fanout;
  set.is_interrupted = fleet.limits.is_interrupted;
  return set;
}

weir::Result<HostSet> open_source(const Source& source) {
  if (source.fleet) return open_fleet(*source.fleet);
  return source.lab.empty() ? open_machines(source) : open_lab_hosts(source);
}

}  // namespace

host::HostIo& HostSet::named(const std::string& name) const {
  const auto found = std::find_if(hosts.begin(), hosts.end(),
                                  [&](const auto& host) { return host->name() == name; });
  WEIR_CHECK(found != hosts.end());
  return **found;
}

Result<HostSet> open_hosts(const Source& source) {
  weir::Result<HostSet> set = open_source(source);
  if (set) return std::move(*set);
  const bool is_refused = set.error().code == ErrorCode::kPermission;
  return Failure{is_refused ? FailureKind::kCouldNotLook : FailureKind::kBadInput,
                 set.error().what};
}

Result<HostSet> with_whole_lab(HostSet set) {
  if (!set.lab) return set;
  set.hosts.clear();
  set.with_switches = true;
  WEIR_TRY_STATUS(or_could_not_look(add_lab_hosts(set.lab->host_names(), *set.lab, set)));
  return set;
}

std::vector<evidence::Evidence> Observation::all() && {
  std::vector<evidence::Evidence> everything = std::move(hosts);
  if (switches) everything.push_back(std::move(*switches));
  hosts.clear();
  switches.reset();
  return everything;
}

void Observation::put_back(std::vector<evidence::Evidence> everything, bool with_switches) {
  if (with_switches) {
    switches = std::move(everything.back());
    everything.pop_back();
  }
  hosts = std::move(everything);
}

std::vector<evidence::Evidence> Observation::all() const& {
  std::vector<evidence::Evidence> everything = hosts;
  if (switches) everything.push_back(*switches);
  return everything;
}

std::vector<const evidence::Evidence*> Observation::pieces() const {
  std::vector<const evidence::Evidence*> out;
  for (const evidence::Evidence& host : hosts)
    out.push_back(&host);
  if (switches) out.push_back(&*switches);
  return out;
}

bool Observation::is_simulated() const {
  return std::any_of(hosts.begin(), hosts.end(),
                     [](const auto& evidence) { return evidence.provenance.simulated; });
}

bool Observation::was_refused() const {
  return std::any_of(hosts.begin(), hosts.end(), [](const evidence::Evidence& host) {
    return std::any_of(host.gaps.begin(), host.gaps.end(), [](const evidence::Gap& gap) {
      return gap.why == evidence::Missing::kPermission;
    });
  });
}

std::size_t Observation::nic_count() const {
  std::size_t count = 0;
  for (const evidence::Evidence& host : hosts)
    count += host.nics.size();
  return count;
}

void for_each_host(const HostSet& set,
                   const std::function<void(std::size_t, host::HostIo&)>& body) {
  for_each_index(set.hosts.size(), set.fanout, [&](std::size_t i) { body(i, *set.hosts[i]); });
}

Observation observe(const HostSet& set) {
  Observation seen;
  seen.unseen = set.absent;
  const auto note = [&](const std::string& who, const Error& error) {
    seen.unseen.push_back(fmt::format("{}: {}", who, error.what));
  };
  std::vector<std::optional<weir::Result<evidence::Evidence>>> looks(set.hosts.size());
  for_each_host(set, [&](std::size_t i, host::HostIo& host) { looks[i] = host.observe(); });
  for (std::size_t i = 0; i < looks.size(); ++i) {
    if (looks[i]->has_value()) {
      seen.hosts.push_back(std::move(**looks[i]));
    } else {
      note(set.hosts[i]->name(), looks[i]->error());
    }
    looks[i].reset();
  }
  if (set.lab && set.with_switches) {
    weir::Result<evidence::Evidence> switches = set.lab->observe_switches();
    if (switches) {
      seen.switches = std::move(*switches);
    } else {
      note("the switches", switches.error());
    }
  }
  return seen;
}

Failure no_host_seen(const Observation& seen) {
  return could_not_look(seen.unseen.empty() ? "there is no host to look at"
                                            : fmt::format("no host could be read: {}",
                                                          join(fold_reasons(seen.unseen), "; ")));
}

Result<Observation> observe_some(const HostSet& set) {
  Observation seen = observe(set);
  if (set.is_interrupted && set.is_interrupted())
    return Failure{FailureKind::kInterrupted, "interrupted while the hosts were read"};
  if (seen.hosts.empty()) return no_host_seen(seen);
  return seen;
}

Result<std::vector<evidence::Evidence>> observe_last_load(const HostSet& set) {
  if (!set.lab || !set.lab->last_run()) return observe(set).all();
  return or_could_not_look(set.lab->observe_last_run());
}

void restore_names(Observation& seen, const design::Intent& intent, const std::string& key) {
  const host::Pseudonyms pseudonyms(key);
  for (evidence::Evidence& host : seen.hosts) {
    if (host.provenance.origin != evidence::Origin::kBundle) continue;
    if (find_host(intent, host.provenance.host) == nullptr)
      (void)host::restore_names(host, intent, pseudonyms);
  }
}

Result<Fabric> fabric_for(const std::string& path, const HostSet& set) {
  if (!path.empty()) return load_fabric(path);
  WEIR_CHECK(set.lab.has_value());
  return Fabric{set.lab->design(), set.lab->intent()};
}

}  // namespace weir::ops

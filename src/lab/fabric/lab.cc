#include "lab/fabric/lab.h"

#include <algorithm>
#include <filesystem>

#include <fmt/format.h>

#include "base/file.h"
#include "base/text.h"
#include "counters/catalog.h"
#include "design/file/words.h"
#include "evidence/changes.h"
#include "lab/fabric/facts.h"
#include "lab/fabric/lab_host.h"
#include "lab/fabric/port_counts.h"
#include "lab/fabric/shared.h"
#include "model/buffers.h"
#include "sim/results/results_evidence.h"

namespace weir::lab {
namespace {

constexpr Duration kPerOperation = 1_ms;  // by which the lab's clock moves per change

template <class Items>
Result<std::uint32_t> index_of(const Items& items, std::string_view name, std::string_view kind) {
  std::vector<std::string> names;
  for (std::uint32_t i = 0; i < items.size(); ++i) {
    if (items[i].name == name) return i;
    names.push_back(items[i].name);
  }
  return not_found_error(
      fmt::format("the lab has no {} '{}'{}", kind, name, did_you_mean(name, names)));
}

/// The raw key under which a driver counts link-down events; empty if it does not count them.
std::string link_down_key(std::string_view id, counters::Driver driver) {
  const counters::Counter* const counter = counters::find(id);
  WEIR_CHECK(counter != nullptr);
  const counters::RawName* const name = counters::name_for(*counter, driver);
  if (name == nullptr) return "";
  return counters::ShownName{.place = name->place, .name = counters::spell(*name, 0)}.key();
}

/// Both ends of the NIC's link count it.
void count_flap(const Blueprint& blueprint, const sim::NicRef& nic, State& state) {
  const design::HostIntent& host = blueprint.intent.hosts[nic.host];
  const design::LinkIntent& link = blueprint.intent.links[host.nics[nic.rail].link];
  const std::string own = link_down_key("nic.phy.link_down.events", host.nic_model->driver);
  if (!own.empty()) state.counters.add(nic_key(blueprint, nic), own, 1);
  const design::SwitchIntent& leaf = blueprint.intent.switches[link.upper.node];
  state.counters.add(port_key(leaf.name, leaf.ports[link.upper.port].name),
                     link_down_key("switch.port.link_down.events", counters::Driver::kSwitch), 1);
}

/// What active faults have counted (a link that is down) stays counted when they are cleared.
Status keep_counts_at_rest(Lab::Shared& shared, State& state) {
  sim::LayoutsByNames layouts;
  WEIR_TRY(ports, counted_at_rest(shared.blueprint, state, shared.profiles, layouts));
  const std::vector<std::string> keys = port_keys(shared.blueprint);
  for (std::size_t i = 0; i < ports.size(); ++i)
    for (const counters::ShownSample& sample : ports[i].samples()) {
      const bool counts =
          sample.match.counter != nullptr && sample.match.counter->kind == counters::Kind::kCounter;
      if (counts && sample.reading.has_value() && sample.reading.value() > 0)
        state.counters.add(keys[i], sample.key(), sample.reading.value());
    }
  return {};
}

/// The first file in `dir` that is not a lab's; empty if there is none.
std::string first_foreign_file(const std::string& dir) {
  std::string first;
  std::error_code error;
  for (const auto& entry : std::filesystem::directory_iterator(dir, error)) {
    const std::string name = entry.path().filename().string();
    const bool is_own =
        name == "lock" || name.starts_with("design.yaml") || name.starts_with("state.json.");
    if (!is_own && (first.empty() || name < first)) first = name;
  }
  return first;
}

/// The fabric at rest depends only on its switches and faults.
bool is_same_at_rest(const State& a, const State& b) {
  return a.switches == b.switches &&
         std::equal(a.faults.begin(), a.faults.end(), b.faults.begin(), b.faults.end(),
                    [](const FaultRecord& left, const FaultRecord& right) {
                      return left.text == right.text && left.is_setting == right.is_setting &&
                             left.switches == right.switches;
                    });
}

bool is_shown(const counters::Match& match, PrioritySet pfc) {
  const bool is_pause = match.counter != nullptr &&
                        match.counter->id.starts_with("nic.prio.pause") && match.number.has_value();
  return !is_pause || pfc.contains(Priority::of(*match.number % Priority::kLimit));
}

void set_as_designed(const Blueprint& blueprint, State& state) {
  for (std::uint32_t h = 0; h < state.nics.size(); ++h)
    for (std::uint32_t rail = 0; rail < state.nics[h].size(); ++rail)
      state.nics[h][rail] = designed_settings(
          blueprint.platform(h), blueprint.intent.hosts[h].nics[rail], blueprint.intent);
}

/// All settings of a switch: no fault is left in them.
void replace_settings(std::uint32_t index, SwitchState settings, State& state) {
  state.switches[index] = std::move(settings);
  for (FaultRecord& fault : state.faults)
    std::erase(fault.switches, index);
  forget_repaired(state);
}

counters::Snapshot empty_snapshot(const State& state) {
  counters::Snapshot out;
  out.time = time_text(state.clock);
  out.clock_ns = state.clock.raw() / 1000;
  return out;
}

}  // namespace

// ---- the fabric at rest ----

counters::PortCounters Resting::shown(const counters::PortCounters& all, PrioritySet pfc) {
  const auto [place, is_new] = parts_.try_emplace({all.layout().get(), pfc.mask()});
  Part& part = place->second;
  if (is_new) {
    std::vector<counters::ShownName> names;
    for (std::uint32_t i = 0; i < all.layout()->size(); ++i) {
      if (!is_shown((*all.layout())[i].match, pfc)) continue;
      names.push_back((*all.layout())[i]);
      part.positions.push_back(i);
    }
    part.layout = std::make_shared<const counters::Layout>(std::move(names));
  }
  std::vector<counters::Reading> readings;
  readings.reserve(part.positions.size());
  for (const std::uint32_t at : part.positions)
    readings.push_back(all.readings()[at]);
  return {all.device(), all.netdev(), all.driver(), part.layout, std::move(readings)};
}

const evidence::Evidence& Resting::host(std::uint32_t host) {
  if (host_ != host) {
    host_evidence_ = sim::host_evidence(source_, host);
    host_ = host;
  }
  return host_evidence_;
}

const evidence::Evidence& Resting::switches() {
  if (!switches_) switches_ = sim::switch_evidence(source_);
  return *switches_;
}

// ---- shared by a lab and its hosts ----

Status Lab::Shared::change(const std::function<Status(State&)>& edit) {
  std::optional<Lock> own;
  State next;
  if (held) {
    next = state;
  } else {
    WEIR_TRY(lock, Lock::take(blueprint.directory));
    own.emplace(std::move(lock));
    WEIR_TRY(read, read_state(blueprint));
    next = std::move(read);
  }
  WEIR_TRY_STATUS(edit(next));
  ++next.changes;
  if (!held) WEIR_TRY_STATUS(write_state(blueprint, next));
  is_dirty = held.has_value();
  if (!is_same_at_rest(state, next)) rest.reset();
  state = std::move(next);
  return {};
}

Status Lab::Shared::change_in_place(const std::function<Status(State&)>& edit) {
  if (!held) return change(edit);
  const std::size_t faults = state.faults.size();
  WEIR_TRY_STATUS(edit(state));
  ++state.changes;
  is_dirty = true;
  if (state.faults.size() != faults) rest.reset();
  return {};
}

Status Lab::Shared::check_fits(const State& next) {
  const auto bed = set_up_at_rest(blueprint, next, profiles);
  return bed ? Status() : Status(bed.error());
}

Result<Resting*> Lab::Shared::at_rest() {
  if (!rest) {
    WEIR_TRY(bed, set_up_at_rest(blueprint, state, profiles));
    rest = std::make_unique<Resting>(std::move(bed));
    looked = {};
  }
  return rest.get();
}

Result<counters::Snapshot> Lab::Shared::snapshot_host(std::uint32_t host) {
  return host_counters(host, state.counters);
}

Result<counters::Snapshot> Lab::Shared::host_counters(std::uint32_t host, const CounterBank& bank) {
  WEIR_TRY(resting, at_rest());
  counters::Snapshot out = empty_snapshot(state);
  const std::vector<counters::PortCounters>& nics = resting->host(host).snapshots.back().nics;
  for (std::uint32_t rail = 0; rail < nics.size(); ++rail)
    out.nics.push_back(bank.total(nic_key(blueprint, {host, rail}),
                                  resting->shown(nics[rail], state.nics[host][rail].pfc)));
  return out;
}

Result<counters::Snapshot> Lab::Shared::switch_counters(const CounterBank& bank) {
  WEIR_TRY(resting, at_rest());
  counters::Snapshot out = empty_snapshot(state);
  for (const counters::PortCounters& port : resting->switches().snapshots.back().switch_ports)
    out.switch_ports.push_back(bank.total(port_key(port.device(), port.netdev()), port));
  return out;
}

Result<evidence::Evidence> Lab::Shared::observe_host(std::uint32_t host) {
  WEIR_TRY(out, facts_of_host(host, nullptr));
  WEIR_TRY(snapshot, snapshot_host(host));
  out.snapshots = {std::move(snapshot)};
  return out;
}

void Lab::Shared::add_nic_facts(std::uint32_t host, std::uint32_t rail, const Resting& resting,
                                const evidence::Nic& shown, evidence::Evidence& out) const {
  const design::Intent& present = resting.bed().intent;
  const design::NicIntent& intent = present.hosts[host].nics[rail];
  evidence::Nic& nic = out.nics.emplace_back(shown);
  add_settings(blueprint.platform(host), state.nics[host][rail], intent, present, nic);
  nic.rdma.gids = evidence::Fact<std::vector<evidence::Gid>>::of(gids_of(intent, host), "lab");
}

Result<evidence::Evidence> Lab::Shared::facts_of_nic(std::uint32_t host, std::uint32_t rail) {
  WEIR_TRY(resting, at_rest());
  const NicSettings& settings = state.nics[host][rail];
  const bool is_known = looked.rest == resting && looked.host == host && looked.rail == rail &&
                        looked.settings == settings;
  if (!is_known) {
    looked = {resting, host, rail, settings, {}};
    looked.seen.provenance = {.host = resting->bed().intent.hosts[host].name,
                              .time = {},
                              .tool = "weir lab",
                              .origin = evidence::Origin::kLab,
                              .simulated = true,
                              .detail = {}};
    add_nic_facts(host, rail, *resting, resting->host(host).nics[rail], looked.seen);
  }
  return looked.seen;
}

Result<evidence::Evidence> Lab::Shared::facts_of_host(std::uint32_t host,
                                                      const host::Scope* scope) {
  WEIR_TRY(resting, at_rest());
  const evidence::Evidence& shown = resting->host(host);
  if (scope != nullptr && !scope->with_machine && scope->devices.size() == 1)
    for (std::uint32_t rail = 0; rail < shown.nics.size(); ++rail)
      if (shown.nics[rail].device == scope->devices.front()) return facts_of_nic(host, rail);
  evidence::Evidence out;
  out.host = shown.host;
  out.provenance = provenance(blueprint, state, resting->bed().intent.hosts[host].name);
  add_host_facts(blueprint.platform(host), out.host);
  out.nics.reserve(shown.nics.size());
  for (std::uint32_t rail = 0; rail < shown.nics.size(); ++rail) {
    if (scope != nullptr && std::find(scope->devices.begin(), scope->devices.end(),
                                      shown.nics[rail].device) == scope->devices.end())
      continue;
    add_nic_facts(host, rail, *resting, shown.nics[rail], out);
  }
  return out;
}

Status Lab::Shared::perform(std::uint32_t host, const host::Operation& operation) {
  const auto& nics = blueprint.intent.hosts[host].nics;
  const auto found = std::find_if(nics.begin(), nics.end(), [&](const design::NicIntent& nic) {
    return nic.device == operation.device;
  });
  if (found == nics.end())
    return not_found_error(
        fmt::format("{} has no device {}", blueprint.intent.hosts[host].name, operation.device));
  const auto rail = static_cast<std::uint32_t>(found - nics.begin());
  return change_in_place([&](State& next) -> Status {
    WEIR_TRY(effect,
             lab::perform(operation.change, blueprint.platform(host), next.nics[host][rail]));
    next.clock += kPerOperation;
    if (effect.flaps_link) count_flap(blueprint, {host, rail}, next);
    forget_repaired(next);
    return {};
  });
}

Result<LoadOutcome> Lab::Shared::run_load(const Load& load) {
  LoadOutcome outcome;
  const Status done = change([&](State& next) -> Status {
    WEIR_TRY(ran, lab::run(blueprint, next, profiles, load, progress));
    sim::LayoutsByNames layouts;
    // A link that is down from the start is counted once, not again by every load.
    WEIR_TRY(before, counted_at_rest(blueprint, next, profiles, layouts));
    const std::vector<std::string> keys = port_keys(blueprint);
    const std::vector<counters::PortCounters> after = count_ports(ran.bed, ran.end, layouts);
    next.counters_before = next.counters;
    for (std::size_t i = 0; i < keys.size(); ++i)
      next.counters.add(keys[i], before.empty() ? after[i] : counted_since(before[i], after[i]));
    ++next.loads;
    ran.record.load = next.loads;
    ran.record.seed = next.seed;
    ran.record.change = next.changes + 1;  // this one counts too
    ran.record.begin = next.clock;
    next.clock += ran.end.since_start();
    next.last_run = std::move(ran.record);
    outcome = std::move(ran.outcome);
    return {};
  });
  if (!done) return done.error();
  return outcome;
}

// ---- the lab ----

Result<Lab> Lab::create(const std::string& dir, const std::string& file,
                        const CreateOptions& options) {
  if (file_exists(state_file(dir)))
    return invalid_error(
        fmt::format("{} is already a lab; weir lab down --dir {} removes it", dir, dir));
  WEIR_TRY(text, read_file(file));
  WEIR_TRY_STATUS(make_directory(dir));
  if (const std::string other = first_foreign_file(dir); !other.empty())
    return invalid_error(fmt::format("{} is not empty ({}); choose another directory", dir, other));
  auto shared = std::make_shared<Shared>();
  WEIR_TRY(blueprint, load_blueprint(dir, file));
  shared->blueprint = std::move(blueprint);
  WEIR_TRY(lock, Lock::take(dir));
  if (file_exists(state_file(dir)))
    return invalid_error(fmt::format("{} was made a lab by another process just now", dir));
  WEIR_TRY_STATUS(write_file_atomic(design_file(dir), text));
  shared->state = new_state(shared->blueprint, options.factory_switches, options.seed);
  if (!options.factory_hosts) set_as_designed(shared->blueprint, shared->state);
  // A design that cannot be simulated must not become a lab.
  if (const auto fits = shared->at_rest(); !fits) return fits.error();
  WEIR_TRY_STATUS(write_state(shared->blueprint, shared->state));
  return Lab(std::move(shared));
}

Result<Lab> Lab::open(const std::string& dir) {
  if (!file_exists(state_file(dir)))
    return not_found_error(
        fmt::format("{} is not a lab; weir lab up DESIGN --dir {} creates one", dir, dir));
  auto shared = std::make_shared<Shared>();
  WEIR_TRY(blueprint, load_blueprint(dir, design_file(dir)));
  shared->blueprint = std::move(blueprint);
  WEIR_TRY(state, read_state(shared->blueprint));
  shared->state = std::move(state);
  return Lab(std::move(shared));
}

Status Lab::refresh() {
  WEIR_CHECK(!shared_->held.has_value());
  WEIR_TRY(state, read_state(shared_->blueprint));
  if (!is_same_at_rest(shared_->state, state)) shared_->rest.reset();
  shared_->state = std::move(state);
  return {};
}

Status Lab::remove(const std::string& dir) {
  if (!file_exists(state_file(dir))) return not_found_error(fmt::format("{} is not a lab", dir));
  if (!is_lab_state(dir))
    return invalid_error(fmt::format(
        "{} is not the state of a lab; nothing was removed: remove the directory yourself",
        state_file(dir)));
  WEIR_TRY(lock, Lock::take(dir));
  return remove_files(dir);
}

const std::string& Lab::directory() const {
  return shared_->blueprint.directory;
}
const design::Design& Lab::design() const {
  return shared_->blueprint.design;
}
const design::Intent& Lab::intent() const {
  return shared_->blueprint.intent;
}

LabStatus Lab::status() const {
  const State& state = shared_->state;
  LabStatus out;
  out.hosts = state.nics.size();
  for (std::uint32_t h = 0; h < state.nics.size(); ++h) {
    const NicSettings factory = factory_settings(shared_->blueprint.platform(h));
    out.nics += state.nics[h].size();
    out.factory_nics +=
        static_cast<std::size_t>(std::count(state.nics[h].begin(), state.nics[h].end(), factory));
  }
  out.switches = state.switches.size();
  out.factory_switches = static_cast<std::size_t>(
      std::count_if(state.switches.begin(), state.switches.end(),
                    [](const SwitchState& device) { return device.is_factory; }));
  out.seed = state.seed;
  out.loads = state.loads;
  out.clock = state.clock;
  out.faults = faults();
  return out;
}

std::vector<std::string> Lab::host_names() const {
  std::vector<std::string> names;
  for (const design::HostIntent& host : intent().hosts)
    names.push_back(host.name);
  return names;
}

Result<std::unique_ptr<host::HostIo>> Lab::host(std::string_view name) const {
  WEIR_TRY(index, index_of(intent().hosts, name, "host"));
  return make_host(shared_, index);
}

Result<evidence::Evidence> Lab::observe_switches() const {
  WEIR_TRY(resting, shared_->at_rest());
  evidence::Evidence out;
  out.switches = resting->switches().switches;
  out.provenance = provenance(shared_->blueprint, shared_->state, "");
  WEIR_TRY(snapshot, shared_->switch_counters(shared_->state.counters));
  out.snapshots = {std::move(snapshot)};
  return out;
}

Result<std::vector<evidence::Evidence>> Lab::observe_last_run() const {
  std::vector<evidence::Evidence> out;
  if (!shared_->state.last_run) return out;
  const CounterBank& before = shared_->state.counters_before;
  const Duration begin = shared_->state.last_run->begin;
  const Duration end = begin + shared_->state.last_run->elapsed;
  const auto add = [&](evidence::Evidence seen, counters::Snapshot first) {
    first.time = time_text(begin);
    first.clock_ns = begin.raw() / 1000;
    seen.snapshots.back().time = time_text(end);
    seen.snapshots.back().clock_ns = end.raw() / 1000;
    seen.snapshots.insert(seen.snapshots.begin(), std::move(first));
    out.push_back(std::move(seen));
  };
  for (std::uint32_t host = 0; host < intent().hosts.size(); ++host) {
    WEIR_TRY(seen, shared_->observe_host(host));
    WEIR_TRY(first, shared_->host_counters(host, before));
    add(std::move(seen), std::move(first));
  }
  WEIR_TRY(seen, observe_switches());
  WEIR_TRY(first, shared_->switch_counters(before));
  add(std::move(seen), std::move(first));
  return out;
}

Result<LoadOutcome> Lab::run_load(const Load& load) {
  return shared_->run_load(load);
}

std::optional<RunRecord> Lab::last_run() const {
  return shared_->state.last_run;
}

bool Lab::was_changed_since_last_run() const {
  const State& state = shared_->state;
  return state.last_run && state.last_run->change && *state.last_run->change != state.changes;
}

void Lab::on_progress(std::function<void(double)> progress) {
  shared_->progress = std::move(progress);
}

Status Lab::begin() {
  WEIR_CHECK(!shared_->held.has_value());
  WEIR_TRY(lock, Lock::take(directory()));
  WEIR_TRY(state, read_state(shared_->blueprint));
  shared_->state = std::move(state);
  shared_->rest.reset();
  shared_->held.emplace(std::move(lock));
  shared_->is_dirty = false;
  return {};
}

Status Lab::commit() {
  WEIR_CHECK(shared_->held.has_value());
  Status written;
  if (shared_->is_dirty) written = write_state(shared_->blueprint, shared_->state);
  shared_->held.reset();
  shared_->is_dirty = false;
  return written;
}

std::vector<ActiveFault> Lab::faults() const {
  std::vector<ActiveFault> out;
  for (const FaultRecord& record : shared_->state.faults) {
    ActiveFault& fault = out.emplace_back(ActiveFault{record.text, record.is_setting, {}});
    for (const std::uint32_t index : record.switches)
      fault.switches.push_back(intent().switches[index].name);
  }
  return out;
}

Status Lab::add_fault(const std::string& text) {
  return shared_->change([&](State& next) -> Status {
    WEIR_TRY_STATUS(lab::add_fault(shared_->blueprint, shared_->profiles, text, next));
    // It must also fit the network: a loop needs a second switch, and so on.
    return shared_->check_fits(next);
  });
}

Result<std::size_t> Lab::clear_fault(const std::string& text) {
  std::size_t cleared = 0;
  const Status done = shared_->change([&](State& next) -> Status {
    std::vector<std::string> known;
    for (const FaultRecord& record : next.faults)
      known.push_back(record.text);
    WEIR_TRY_STATUS(keep_counts_at_rest(*shared_, next));
    WEIR_TRY(count, clear_faults(
                        [&](const FaultRecord& record) {
                          return record.text == text ||
                                 record.text.substr(0, record.text.find(',')) == text;
                        },
                        next));
    if (count == 0)
      return not_found_error(
          fmt::format("the lab has no fault '{}'{}", text, did_you_mean(text, known)));
    cleared = count;
    return {};
  });
  if (!done) return done.error();
  return cleared;
}

Result<std::size_t> Lab::clear_all_faults() {
  std::size_t cleared = 0;
  const Status done = shared_->change([&](State& next) -> Status {
    WEIR_TRY_STATUS(keep_counts_at_rest(*shared_, next));
    WEIR_TRY(count, clear_faults([](const FaultRecord&) { return true; }, next));
    cleared = count;
    return {};
  });
  if (!done) return done.error();
  return cleared;
}

Result<std::string> Lab::buffer_profile(std::string_view name) const {
  WEIR_TRY(index, index_of(intent().switches, name, "switch"));
  const SwitchState& set = shared_->state.switches[index];
  if (set.is_factory) return std::string("factory");
  if (set.loaded) return std::string("loaded");
  return set.profile.value_or(std::string(design::to_word(*design().buffers.profile)));
}

Status Lab::set_buffer_profile(std::string_view name, std::string_view profile) {
  WEIR_TRY(index, index_of(intent().switches, name, "switch"));
  WEIR_TRY(known, model::find_buffer_profile(profile));
  return shared_->change([&](State& next) -> Status {
    SwitchState& set = next.switches[index];
    if (set.is_factory)
      return invalid_error(fmt::format(
          "{} is as shipped; run weir lab switch {} set config designed first", name, name));
    if (set.loaded)
      return invalid_error(
          fmt::format("{} runs a loaded configuration; run weir lab switch {} set config designed "
                      "first",
                      name, name));
    set.profile = std::string(known.name);
    return shared_->check_fits(next);
  });
}

Status Lab::load_switch(const evidence::Switch& configuration) {
  WEIR_TRY(index, index_of(intent().switches, configuration.name, "switch"));
  return shared_->change([&](State& next) -> Status {
    replace_settings(index, {false, std::nullopt, evidence::values_of(configuration)}, next);
    const Status fits = shared_->check_fits(next);
    return fits ? fits : Status(fits.error().within(configuration.name));
  });
}

Status Lab::set_factory(std::string_view name, bool is_factory) {
  WEIR_TRY(index, index_of(intent().switches, name, "switch"));
  return shared_->change([&](State& next) -> Status {
    replace_settings(index, {is_factory, std::nullopt, std::nullopt}, next);
    return {};
  });
}

}  // namespace weir::lab

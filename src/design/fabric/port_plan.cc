#include "design/fabric/port_plan.h"

#include <algorithm>
#include <map>
#include <optional>
#include <set>

#include <fmt/format.h>

#include "base/check.h"
#include "base/text.h"
#include "units/format.h"

namespace weir::design {
namespace {

/// Without a model: one port per cage, in the order of the links.
std::string assumed_name(SwitchSystem system, std::size_t port) {
  switch (system) {
    case SwitchSystem::kCumulus: return fmt::format("swp{}", port + 1);
    case SwitchSystem::kEos: return fmt::format("Ethernet{}/1", port + 1);
    case SwitchSystem::kNxos: return fmt::format("Ethernet1/{}", port + 1);
    case SwitchSystem::kJunos: return fmt::format("et-0/0/{}", port);
    case SwitchSystem::kSonic: return fmt::format("Ethernet{}", port * 8);  // eight lanes a cage
  }
  WEIR_UNREACHABLE("every system names its ports");
}

std::string modes_of(const SwitchModel& model) {
  std::vector<std::string> words;
  for (const CageBlock& block : model.blocks) {
    if (block.count == 0) continue;
    words.push_back(fmt::format("1x{}", to_text(block.native)));
    for (const CageMode& mode : block.modes)
      if (mode.ports != 0) words.push_back(fmt::format("{}x{}", mode.ports, to_text(mode.speed)));
  }
  return join(words, ", ");
}

class Planner {
 public:
  Planner(SwitchSystem system, const SwitchModel* model, const PortSpec& spec,
          const std::vector<PortWish>& wishes)
      : system_(system), model_(model), spec_(spec), wishes_(wishes), ports_(wishes.size()) {}

  PortPlan plan() {
    PortPlan out;
    if (!spec_.names.empty()) {
      out.fault = take_names();
    } else if (model_ != nullptr) {
      out.fault = check_model();
      if (out.fault.empty()) out.fault = take_cages();
    } else {
      out.is_assumed = true;
    }
    if (out.is_assumed || !out.fault.empty()) {
      for (std::size_t i = 0; i < ports_.size(); ++i)
        ports_[i] = {assumed_name(system_, i), {}};
    }
    out.ports = std::move(ports_);
    return out;
  }

 private:
  [[nodiscard]] std::string check_model() const {
    if (!model_->runs(system_))
      return fmt::format("{} does not come with {}", model_->title, vocab::names_of(system_).title);
    if (model_->is_modular())
      return fmt::format("{} is a chassis, whose names depend on slots: write them in `ports:`",
                         model_->title);
    if (system_ == SwitchSystem::kSonic && !model_->has_sonic_names)
      return fmt::format("the port names of {} under SONiC are not known: write them in `ports:`",
                         model_->title);
    return {};
  }

  // ---- by the model ----

  std::string take_cages() {
    std::vector<std::size_t> down;
    std::vector<std::size_t> up;
    for (std::size_t i = 0; i < wishes_.size(); ++i)
      (wishes_[i].is_up ? up : down).push_back(i);
    for (const PortWish& wish : wishes_)
      if (std::string problem = check_mode(wish); !problem.empty()) return problem;
    const std::optional<int> after_down = place(down, 1);
    if (!after_down) return too_many();
    // The last cages, so that hosts can be added between. Uplinks start where they just fit.
    for (int start = model_->cages(); start >= *after_down && !up.empty(); --start)
      if (place(up, start)) return {};
    return up.empty() ? std::string() : too_many();
  }

  [[nodiscard]] std::string check_mode(const PortWish& wish) const {
    for (const CageBlock& block : model_->blocks)
      if (block.count != 0 && mode_for(block, wish.speed, wish.split)) return {};
    return fmt::format(
        "{} has no cage that runs {}{} (it has {}){}", model_->title,
        wish.split == 0 ? "" : fmt::format("{}x", wish.split), to_text(wish.speed),
        modes_of(*model_),
        wish.split == 0 ? "; `split: 1` of the link takes a whole cage for each" : "");
  }

  /// Puts the links on cages from `cage` on; the first cage behind them, or nullopt if they do not
  /// fit.
  std::optional<int> place(const std::vector<std::size_t>& list, int cage) {
    std::size_t next = 0;
    while (next < list.size()) {
      if (cage > model_->cages()) return std::nullopt;
      const PortWish& wish = wishes_[list[next]];
      const auto mode = mode_for(model_->block_of(cage), wish.speed, wish.split);
      const bool is_even = cage % 2 == 0;
      if (!mode || (mode->odd_only && (is_even || cage == model_->cages()))) {
        ++cage;
        continue;
      }
      for (int sub = 0; sub < mode->ports && next < list.size(); ++sub, ++next) {
        const PortWish& here = wishes_[list[next]];
        if (here.speed != wish.speed || here.split != wish.split) break;  // one mode per cage
        const CagePort at{cage, sub, *mode};
        ports_[list[next]] = {port_name(*model_, system_, at), at};
      }
      cage += mode->odd_only ? 2 : 1;
    }
    return cage;
  }

  [[nodiscard]] std::string too_many() const {
    std::map<BitRate, int> by_speed;
    for (const PortWish& wish : wishes_)
      ++by_speed[wish.speed];
    std::vector<std::string> words;
    for (const auto& [speed, count] : by_speed)
      words.push_back(fmt::format("{} x {}", count, to_text(speed)));
    std::vector<std::string> holds;
    for (const auto& [speed, count] : by_speed)
      holds.push_back(fmt::format("{} x {}", most_ports(*model_, speed), to_text(speed)));
    return fmt::format("{} does not hold {}: it has room for {}", model_->title,
                       join(words, " and "), join(holds, " or "));
  }

  // ---- by name ----

  std::string take_names() {
    by_peer_ = !spec_.names.front().first.empty();
    const std::string problem = by_peer_ ? names_by_peer() : names_in_order();
    if (!problem.empty()) return problem;
    std::set<std::string_view> seen;
    for (const PlannedPort& port : ports_)
      if (!seen.insert(port.name).second)
        return fmt::format("`ports:` gives {} to two links", port.name);
    return check_one_mode();
  }

  std::string names_in_order() {
    std::vector<std::string> entries;
    for (const auto& [peer, entry] : spec_.names)
      entries.push_back(entry);
    std::size_t at = 0;
    for (std::size_t i = 0; i < wishes_.size();) {
      if (at >= entries.size())
        return fmt::format("`ports:` has names for {} and the switch has {}", counted(i, "link"),
                           wishes_.size());
      if (std::string problem = take(entries[at++], i); !problem.empty()) return problem;
    }
    return {};
  }

  std::string names_by_peer() {
    std::map<std::string_view, std::vector<std::string_view>> names;
    for (const auto& [peer, entry] : spec_.names)
      names[peer].push_back(entry);
    std::map<std::string_view, std::size_t> used;
    for (std::size_t i = 0; i < wishes_.size();) {
      const auto found = names.find(wishes_[i].peer);
      if (found == names.end()) return fmt::format("`ports:` has no entry for {}", wishes_[i].peer);
      std::size_t& next = used[wishes_[i].peer];
      if (next >= found->second.size())
        return fmt::format("`ports:` has {} for {}, which has more links",
                           counted(found->second.size(), "port"), wishes_[i].peer);
      if (std::string problem = take(found->second[next++], i); !problem.empty()) return problem;
    }
    return {};
  }

  /// Gives the entry to link `i` and goes on to the next; a cage without a sub-port serves as many
  /// links as it has ports.
  std::string take(std::string_view entry, std::size_t& i) {
    const auto dot = entry.find('.');
    const auto cage = parse_u64(entry.substr(0, dot));
    if (!cage) return take_name(std::string(entry), i);
    if (model_ == nullptr)
      return fmt::format("`ports:` counts cages ({}), and no `model` says how they are named",
                         entry);
    if (std::string problem = check_model(); !problem.empty()) return problem;
    if (*cage < 1 || *cage > static_cast<std::uint64_t>(model_->cages()))
      return fmt::format("{} has cages 1 to {}, and `ports:` names cage {}", model_->title,
                         model_->cages(), *cage);
    const int number = static_cast<int>(*cage);
    const PortWish& wish = wishes_[i];
    const auto mode = mode_for(model_->block_of(number), wish.speed, wish.split);
    if (!mode) return check_mode(wish);
    if (mode->odd_only && number % 2 == 0)
      return fmt::format("{} splits only odd cages into {}x{}, and `ports:` names cage {}",
                         model_->title, mode->ports, to_text(mode->speed), number);
    std::optional<std::uint64_t> sub;
    if (dot != std::string_view::npos) {
      const auto read = parse_u64(entry.substr(dot + 1));
      if (!read || *read < 1 || *read > static_cast<std::uint64_t>(mode->ports))
        return fmt::format("cage {} has sub-ports 1 to {}, and `ports:` names {}", number,
                           mode->ports, entry);
      sub = *read - 1;
    }
    const auto first = static_cast<int>(sub.value_or(0));
    const int last = sub ? first : mode->ports - 1;
    for (int s = first; s <= last && i < wishes_.size(); ++s, ++i) {
      const bool is_alike = wishes_[i].speed == wish.speed && wishes_[i].split == wish.split;
      const bool is_other = by_peer_ && wishes_[i].peer != wish.peer;
      if (!is_alike || is_other) break;
      const CagePort at{number, s, *mode};
      ports_[i] = {port_name(*model_, system_, at), at};
    }
    return {};
  }

  std::string take_name(std::string name, std::size_t& i) {
    CagePort place;
    // A name of a box that is not in the table is taken as it is.
    if (model_ != nullptr && check_model().empty()) {
      const auto found = find_place(name, wishes_[i]);
      if (!found)
        return fmt::format("{} is no port of {} with {} links", name, model_->title,
                           to_text(wishes_[i].speed));
      place = *found;
    }
    ports_[i++] = {std::move(name), place};
    return {};
  }

  [[nodiscard]] std::optional<CagePort> find_place(std::string_view name,
                                                   const PortWish& wish) const {
    for (int cage = 1; cage <= model_->cages(); ++cage) {
      const CageBlock& block = model_->block_of(cage);
      std::vector<CageMode> modes;
      for (const CageMode& mode : block.modes)
        if (mode.ports != 0 && mode.speed == wish.speed) modes.push_back(mode);
      if (wish.speed <= block.native) modes.push_back({1, wish.speed, block.lanes, false});
      for (const CageMode& mode : modes) {
        if ((mode.odd_only && cage % 2 == 0) || (wish.split != 0 && mode.ports != wish.split))
          continue;
        for (int sub = 0; sub < mode.ports; ++sub) {
          const CagePort at{cage, sub, mode};
          if (port_name(*model_, system_, at) == name) return at;
        }
      }
    }
    return std::nullopt;
  }

  /// A cage is split in one way, and an even neighbour of a full split is disabled.
  [[nodiscard]] std::string check_one_mode() const {
    std::map<int, const PlannedPort*> first;
    for (const PlannedPort& port : ports_) {
      if (port.place.cage == 0) continue;
      const auto [at, is_new] = first.emplace(port.place.cage, &port);
      const CageMode& a = at->second->place.mode;
      const CageMode& b = port.place.mode;
      if (!is_new && (a.ports != b.ports || a.speed != b.speed || a.lanes != b.lanes))
        return fmt::format("{} and {} are in one cage and need it split in two ways",
                           at->second->name, port.name);
    }
    for (const auto& [cage, port] : first) {
      const auto neighbour = first.find(cage + 1);
      if (port->place.mode.odd_only && neighbour != first.end())
        return fmt::format("{} disables the next cage, which {} needs", port->name,
                           neighbour->second->name);
    }
    return {};
  }

  const SwitchSystem system_;
  const SwitchModel* model_;
  const PortSpec& spec_;
  const std::vector<PortWish>& wishes_;
  std::vector<PlannedPort> ports_;
  bool by_peer_ = false;
};

}  // namespace

PortPlan plan_ports(SwitchSystem system, const SwitchModel* model, const PortSpec& spec,
                    const std::vector<PortWish>& wishes) {
  return Planner(system, model, spec, wishes).plan();
}

}  // namespace weir::design

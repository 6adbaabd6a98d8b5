#include "ops/source/fleet.h"

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <map>
#include <optional>
#include <set>

#include <fmt/format.h>

#include "base/file.h"
#include "base/name_pattern.h"
#include "base/text.h"
#include "readers/inventory/inventory.h"

namespace weir::ops {
namespace {

constexpr std::string_view kDesignGroup = "design";

/// The group files of ClusterShell, read when the first group is named.
class Groups {
 public:
  Groups(const FleetNames& names, const std::optional<readers::Inventory>& inventory,
         const std::vector<std::string>& of_design)
      : names_(names), inventory_(inventory), of_design_(of_design) {}

  weir::Result<std::string> find(const std::string& name) {
    if (name == kDesignGroup && !of_design_.empty()) return fold_hosts(of_design_);
    if (name == kDesignGroup)
      return not_found_error("--hosts @design: no design is at hand: name its file");
    if (inventory_) {
      if (const auto found = inventory_->hosts_of(name)) return fold_hosts(*found);
      if (name == "*" || name == "all") return fold_hosts(all_of_inventory());
    }
    WEIR_TRY_STATUS(read_files());
    const std::size_t colon = name.find(':');
    const std::string source =
        colon == std::string::npos ? default_source() : name.substr(0, colon);
    const std::string group = colon == std::string::npos ? name : name.substr(colon + 1);
    const auto known = sources_.find(source);
    if (known == sources_.end()) return no_source(name, source);
    if (group == "*") return everything_in(known->second);
    const auto found = known->second.find(group);
    if (found != known->second.end()) return qualified(found->second, source);
    return not_found_error(
        fmt::format("there is no group @{}{}", name, did_you_mean(group, keys_of(known->second))));
  }

 private:
  [[nodiscard]] std::vector<std::string> all_of_inventory() const {
    std::vector<std::string> names;
    for (const readers::InventoryHost& host : inventory_->hosts)
      names.push_back(host.name);
    return names;
  }

  static std::vector<std::string> keys_of(const std::map<std::string, std::string>& groups) {
    std::vector<std::string> keys;
    for (const auto& [key, hosts] : groups)
      keys.push_back(key);
    return keys;
  }

  static std::string everything_in(const std::map<std::string, std::string>& groups) {
    const auto all = groups.find("all");
    if (all != groups.end()) return all->second;
    std::string text;
    for (const auto& [group, hosts] : groups)
      text += (text.empty() ? "" : ",") + hosts;
    return text;
  }

  /// A group that is named in a group is of the same source.
  static std::string qualified(const std::string& hosts, const std::string& source) {
    std::string out;
    for (std::size_t at = 0; at < hosts.size(); ++at) {
      out += hosts[at];
      if (hosts[at] != '@') continue;
      const std::size_t end = hosts.find_first_of(",!&^ ", at);
      const std::string_view rest = std::string_view(hosts).substr(at + 1, end - at - 1);
      if (rest.find(':') == std::string_view::npos) out += source + ":";
    }
    return out;
  }

  [[nodiscard]] Error no_source(const std::string& name, const std::string& source) const {
    const bool is_upcall = std::find(settings_.upcalls.begin(), settings_.upcalls.end(), source) !=
                           settings_.upcalls.end();
    if (is_upcall)
      return not_found_error(fmt::format(
          "@{}: groups.conf makes the groups of '{}' by a command, which weir does not run; "
          "expected them in a file of groups.d, or expand them: --hosts \"$(nodeset -f @{})\"",
          name, source, name));
    return not_found_error(fmt::format(
        "@{}: no group files in {}", name,
        names_.group_folders.empty() ? "any folder" : join(names_.group_folders, ", ")));
  }

  [[nodiscard]] std::string default_source() const {
    if (!settings_.default_source.empty()) return settings_.default_source;
    for (const char* const usual : {"default", "local", "roles"})
      if (sources_.contains(usual)) return usual;
    return sources_.empty() ? std::string("default") : sources_.begin()->first;
  }

  weir::Status read_files() {
    if (are_read_) return {};
    are_read_ = true;
    for (const std::string& folder : names_.group_folders)
      WEIR_TRY_STATUS(read_folder(folder));
    return {};
  }

  weir::Status read_folder(const std::string& folder) {
    std::vector<std::string> static_folders = {folder + "/groups.d"};
    const std::string conf = folder + "/groups.conf";
    if (file_exists(conf)) {
      WEIR_TRY(text, read_file(conf));
      auto settings = readers::parse_group_settings(text);
      if (!settings) return settings.error().within(conf);
      settings_ = std::move(*settings);
      for (std::string extra : settings_.folders) {
        constexpr std::string_view kVariable = "$CFGDIR";
        if (extra.starts_with(kVariable)) extra.replace(0, kVariable.size(), folder);
        if (std::find(static_folders.begin(), static_folders.end(), extra) == static_folders.end())
          static_folders.push_back(std::move(extra));
      }
    }
    for (const std::string& at : static_folders)
      WEIR_TRY_STATUS(read_static(at));
    return read_lines(folder + "/groups");
  }

  weir::Status read_static(const std::string& folder) {
    std::error_code failed;
    std::vector<std::string> files;
    for (const auto& entry : std::filesystem::directory_iterator(folder, failed))
      files.push_back(entry.path().string());
    std::sort(files.begin(), files.end());
    for (const std::string& file : files) {
      if (file.ends_with(".cfg")) WEIR_TRY_STATUS(read_lines(file));
      if (!file.ends_with(".yaml") && !file.ends_with(".yml")) continue;
      WEIR_TRY(text, read_file(file));
      auto read = readers::parse_group_yaml(text);
      if (!read) return read.error().within(file);
      for (auto& [source, groups] : *read)
        for (auto& [group, hosts] : groups)
          sources_[source][group] = std::move(hosts);
    }
    return {};
  }

  /// "groups.d/local.cfg" is the source "local"; "groups" too.
  weir::Status read_lines(const std::string& file) {
    if (!file_exists(file)) return {};
    const std::string stem = std::filesystem::path(file).stem().string();
    WEIR_TRY(text, read_file(file));
    auto groups = readers::parse_group_lines(text);
    if (!groups) return groups.error().within(file);
    for (auto& [group, hosts] : *groups)
      sources_[stem == "groups" ? "local" : stem][group] = std::move(hosts);
    return {};
  }

  const FleetNames& names_;
  const std::optional<readers::Inventory>& inventory_;
  const std::vector<std::string>& of_design_;
  bool are_read_ = false;
  readers::GroupSources sources_;
  readers::GroupSettings settings_;
};

Result<std::vector<std::string>> hosts_of_design(const std::string& path) {
  std::vector<std::string> names;
  WEIR_TRY(fabric, load_fabric(path));
  for (const design::HostIntent& host : fabric.intent.hosts)
    names.push_back(host.name);
  return names;
}

/// Files of one folder beside an inventory, "group_vars": of "gpu.yml", "gpu", or below "gpu/".
weir::Result<std::map<std::string, std::vector<readers::VariableFile>>> variables_in(
    const std::filesystem::path& folder) {
  std::map<std::string, std::vector<readers::VariableFile>> out;
  std::error_code error;
  if (!std::filesystem::exists(folder, error)) return out;
  std::map<std::filesystem::path, std::string> owners;  // by file, in the order of their names
  const auto options = std::filesystem::directory_options::follow_directory_symlink;
  std::filesystem::recursive_directory_iterator at(folder, options, error);
  for (; !error && at != std::filesystem::recursive_directory_iterator(); at.increment(error)) {
    constexpr int kDeepest = 8;
    constexpr std::size_t kMostFiles = 4 * kMostHosts;
    const std::string name = at->path().filename().string();
    const bool is_folder = at->is_directory();
    if (is_folder && (name.starts_with('.') || at.depth() >= kDeepest))
      at.disable_recursion_pending();
    if (is_folder || readers::owner_of_variables(name).empty()) continue;
    const std::filesystem::path inside = at->path().lexically_relative(folder);
    owners.emplace(at->path(), inside.has_parent_path() ? inside.begin()->string()
                                                        : readers::owner_of_variables(name));
    if (owners.size() > kMostFiles)
      return invalid_error(fmt::format("{}: more than {} files", folder.string(), kMostFiles));
  }
  if (error) return Error{ErrorCode::kIo, fmt::format("{}: {}", folder.string(), error.message())};
  for (const auto& [path, owner] : owners) {
    WEIR_TRY(text, read_file(path.string()));
    out[owner].push_back({path.string(), std::move(text)});
  }
  return out;
}

weir::Result<readers::VariableFiles> variables_beside(const std::string& inventory) {
  const std::filesystem::path folder = std::filesystem::path(inventory).parent_path();
  readers::VariableFiles out;
  WEIR_TRY(groups, variables_in(folder / "group_vars"));
  out.groups = std::move(groups);
  WEIR_TRY(hosts, variables_in(folder / "host_vars"));
  out.hosts = std::move(hosts);
  return out;
}

/// A set on each line, as one set.
weir::Result<std::string> set_of_file(const std::string& path) {
  WEIR_TRY(text, read_file(path));
  std::string set;
  for (const std::string_view raw : split(text, '\n')) {
    const std::string_view line = trim(raw.substr(0, raw.find('#')));
    if (!line.empty()) set += fmt::format("{}{}", set.empty() ? "" : ",", line);
  }
  if (set.empty()) return parse_error(fmt::format("{}: no host in it", path));
  return set;
}

host::FleetHost with_way(const std::string& name,
                         const std::map<std::string, const readers::InventoryHost*>& known) {
  host::FleetHost host{.name = name};
  const auto found = known.find(name);
  if (found == known.end()) return host;
  host.address = found->second->address;
  host.user = found->second->user;
  host.port = found->second->port;
  return host;
}

/// What was found on a host: ids with their place, the worst first, each once.
std::string answer_of(const std::string& host, const std::vector<const finding::Finding*>& found) {
  constexpr std::size_t kMost = 4;
  std::vector<std::string> texts;
  for (const finding::Finding* each : found) {
    const std::string& place = each->where.device;
    std::string text = place.empty() || place == host ? std::string(each->id)
                                                      : fmt::format("{} {}", each->id, place);
    if (std::find(texts.begin(), texts.end(), text) == texts.end())
      texts.push_back(std::move(text));
  }
  if (texts.size() <= kMost) return join(texts, ", ");
  const std::size_t more = texts.size() - kMost;
  texts.resize(kMost);
  return fmt::format("{} and {} more", join(texts, ", "), more);
}

}  // namespace

std::vector<std::string> usual_group_folders() {
  const auto variable = [](const char* name) {
    const char* const value = std::getenv(name);  // NOLINT(concurrency-mt-unsafe): one thread
    return std::string(value == nullptr ? "" : value);
  };
  if (const std::string chosen = variable("CLUSTERSHELL_CFGDIR"); !chosen.empty()) return {chosen};
  std::vector<std::string> folders = {"/etc/clustershell"};
  const std::string home = variable("HOME");
  const std::string config = variable("XDG_CONFIG_HOME");
  if (!config.empty() || !home.empty())
    folders.push_back((config.empty() ? home + "/.config" : config) + "/clustershell");
  if (!home.empty()) folders.push_back(home + "/.local/etc/clustershell");
  return folders;
}

Result<std::vector<host::FleetHost>> find_fleet_hosts(const FleetNames& names) {
  std::optional<readers::Inventory> inventory;
  if (!names.inventory.empty()) {
    WEIR_TRY(text, or_bad_input(read_file(names.inventory)));
    WEIR_TRY(beside, or_bad_input(variables_beside(names.inventory)));
    auto read = readers::parse_inventory(text, beside);
    if (!read) return bad_input(read.error().within(names.inventory).what);
    inventory = std::move(*read);
  }
  std::string set = names.set;
  if (!names.hosts_file.empty()) {
    WEIR_TRY(listed, or_bad_input(set_of_file(names.hosts_file)));
    // "!gpu003" takes from what the file lists.
    const bool is_operation =
        !set.empty() && std::string_view("!&^").find(set.front()) != std::string_view::npos;
    if (!is_operation && !set.empty()) listed += ",";
    set = listed + set;
  }
  if (set.empty()) set = inventory ? "@*" : "@design";
  std::vector<std::string> of_design;
  const bool asks_design = set.find("@design") != std::string::npos;
  if (asks_design && !names.design.empty()) {
    WEIR_TRY(read, hosts_of_design(names.design));
    of_design = std::move(read);
  }
  Groups groups(names, inventory, of_design);
  WEIR_TRY(chosen, or_bad_request(parse_host_set(
                       set, [&](const std::string& name) { return groups.find(name); })));
  std::map<std::string, const readers::InventoryHost*> known;
  if (inventory)
    for (const readers::InventoryHost& host : inventory->hosts)
      known.emplace(host.name, &host);
  std::vector<host::FleetHost> hosts;
  hosts.reserve(chosen.size());
  for (const std::string& name : chosen)
    hosts.push_back(with_way(name, known));
  return hosts;
}

void add_answer(const std::string& host, const std::string& answer,
                std::vector<FoldedAnswer>& folded) {
  const auto same = std::find_if(folded.begin(), folded.end(),
                                 [&](const FoldedAnswer& known) { return known.answer == answer; });
  if (same == folded.end()) {
    folded.push_back({{host}, answer});
  } else {
    same->hosts.push_back(host);
  }
}

std::vector<FoldedAnswer> fold_answers(const Observation& seen, const finding::Judgement& judgement,
                                       const std::string& good) {
  std::map<std::string, std::vector<const finding::Finding*>> by_host;
  for (const finding::Finding& found : judgement.findings) {
    if (found.severity <= finding::Severity::kInfo || found.where.host.empty()) continue;
    for (const std::string& name : expand_compact(found.where.host))
      by_host[name].push_back(&found);
  }
  std::vector<FoldedAnswer> folded;
  for (const evidence::Evidence& host : seen.hosts) {
    const std::string& name = host.provenance.host;
    const auto found = by_host.find(name);
    add_answer(name, found == by_host.end() ? good : answer_of(name, found->second), folded);
  }
  for (const std::string& text : seen.unseen) {
    const std::size_t colon = text.find(": ");
    if (colon != std::string::npos)
      add_answer(text.substr(0, colon), "not read: " + text.substr(colon + 2), folded);
  }
  std::stable_sort(folded.begin(), folded.end(), [](const FoldedAnswer& a, const FoldedAnswer& b) {
    return a.hosts.size() > b.hosts.size();
  });
  return folded;
}

std::vector<std::string> fold_reasons(const std::vector<std::string>& unseen) {
  std::vector<std::pair<std::string, std::vector<std::string>>> reasons;
  for (const std::string& text : unseen) {
    const std::size_t colon = std::min(text.find(": "), text.size());
    const std::string why = text.substr(colon);
    const auto same = std::find_if(reasons.begin(), reasons.end(),
                                   [&](const auto& known) { return known.first == why; });
    if (same == reasons.end()) {
      reasons.push_back({why, {text.substr(0, colon)}});
    } else {
      same->second.push_back(text.substr(0, colon));
    }
  }
  std::vector<std::string> lines;
  for (const auto& [why, hosts] : reasons)
    lines.push_back((hosts.size() == 1 ? hosts.front() : fold_hosts(hosts)) + why);
  return lines;
}

}  // namespace weir::ops

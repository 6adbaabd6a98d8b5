#pragma once
// Lists of hosts that other programs keep: inventories of Ansible (INI and YAML), devices that
// NetBox exports (JSON), and the group files of ClusterShell. Only names, groups and the way to a
// host are taken; other variables, vaults, and commands that would make groups, are left alone.
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace weir::readers {

struct InventoryHost {
  std::string name;
  std::string address = {};  // ansible_host, or NetBox's primary address
  std::string user = {};     // ansible_user
  unsigned port = 0;         // ansible_port, or "host:port"; 0: not said
};
// Of Ansible a variable of the host comes before those of its groups, a child group before its
// parents, all others before `all`; of groups at one depth the higher ansible_group_priority, then
// the last by name (Ansible's documentation, "How variables are merged").

struct Inventory {
  struct Group {
    std::vector<std::string> hosts = {};     // its own, as named
    std::vector<std::string> children = {};  // groups; one may be named that is nowhere else
  };
  std::vector<InventoryHost> hosts = {};  // each once, as first named
  std::map<std::string, Group> groups = {};

  [[nodiscard]] const InventoryHost* find(std::string_view name) const;
  /// All hosts of a group, its children's too, each once; nullopt where there is no such group.
  /// Made on demand: the lists of all groups together can be the square of the file.
  [[nodiscard]] std::optional<std::vector<std::string>> hosts_of(const std::string& group) const;
};

/// Files of `group_vars/` and `host_vars/` beside an inventory of Ansible, by the group or host
/// whose they are, in the order in which Ansible reads them.
struct VariableFile {
  std::string path;  // for errors
  std::string text;
};
struct VariableFiles {
  std::map<std::string, std::vector<VariableFile>> groups = {};
  std::map<std::string, std::vector<VariableFile>> hosts = {};
};
/// The group or host of "gpu.yml", "gpu01.example.com", …; empty: Ansible does not read that file.
[[nodiscard]] std::string owner_of_variables(std::string_view file_name);

/// By content: JSON is NetBox's (a list of devices, or an answer of its API with `results`), text
/// with [sections] or bare names is Ansible's INI, else its YAML. NetBox's groups are "site:…",
/// "role:…" and "status:…". Errors name the line or the device, and what was expected.
/// Variables of `beside` come before those of the inventory itself; of groups and hosts that it has
/// not they are left alone, as NetBox' are.
[[nodiscard]] Result<Inventory> parse_inventory(std::string_view text,
                                                const VariableFiles& beside = {});

/// Sources of groups: "roles" → "gpu" → "gpu[01-16]".
using GroupSources = std::map<std::string, std::map<std::string, std::string>>;

/// groups.d/*.yaml of ClusterShell.
[[nodiscard]] Result<GroupSources> parse_group_yaml(std::string_view text);
/// "name: hosts" on each line, as of groups.d/local.cfg.
[[nodiscard]] Result<std::map<std::string, std::string>> parse_group_lines(std::string_view text);

/// groups.conf.
struct GroupSettings {
  std::string default_source = {};
  std::vector<std::string> folders = {};  // of static files (autodir), $CFGDIR not replaced
  std::vector<std::string> upcalls = {};  // sources that commands make: not run here
};
[[nodiscard]] Result<GroupSettings> parse_group_settings(std::string_view text);

}  // namespace weir::readers

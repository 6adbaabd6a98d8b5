#include "readers/inventory/inventory.h"

#include <algorithm>
#include <optional>
#include <set>
#include <tuple>

#include <fmt/format.h>

#include "base/hosts/host_set.h"
#include "base/json.h"
#include "base/text.h"
#include "base/untrusted/json_parse.h"
#include "base/untrusted/name_policy.h"
#include "base/untrusted/printable.h"
#include "design/file/yaml_document.h"

namespace weir::readers {
namespace {

using design::YamlEntry;
using design::YamlNode;

/// What a message shows of a text.
std::string shown(std::string_view text) {
  constexpr std::size_t kMostShown = 40;
  return printable_line(text.substr(0, kMostShown));
}

/// "01:50:2" of "www[01:50:2].x", as ClusterShell writes it, "[01-50/2]"; letters one by one:
/// "a:c".
Result<std::vector<std::string>> expand_range(std::string_view inside) {
  const std::vector<std::string_view> bounds = split(inside, ':');
  const bool are_letters = bounds.size() == 2 && bounds[0].size() == 1 && bounds[1].size() == 1 &&
                           bounds[0] >= "a" && bounds[1] <= "z" && bounds[0] <= bounds[1];
  std::vector<std::string> out;
  if (are_letters) {
    for (char c = bounds[0].front(); c <= bounds[1].front(); ++c)
      out.emplace_back(1, c);
    return out;
  }
  const auto wrong =
      parse_error(fmt::format("'[{}]': expected a range such as [01:50] or [a:f]", shown(inside)));
  if (bounds.size() != 2 && bounds.size() != 3) return wrong;
  const std::string step = bounds.size() == 3 ? fmt::format("/{}", bounds[2]) : "";
  const auto numbers = parse_host_set(fmt::format("x[{}-{}{}]", bounds[0], bounds[1], step));
  if (!numbers) return wrong;
  for (const std::string& number : *numbers)
    out.push_back(number.substr(1));
  return out;
}

/// Names of Ansible's patterns. A line of a few bytes can name many hosts, and the next line the
/// same ones again: what all ranges of a file make together is bounded.
class PatternExpander {
 public:
  Result<std::vector<std::string>> expand(std::string_view pattern) {
    // Four times the longest name (RFC 1123): the rest would be brackets, which nest the calls.
    constexpr std::size_t kLongestPattern = 1024;
    if (pattern.size() > kLongestPattern)
      return invalid_error(fmt::format("'{}…': a pattern of {} characters; expected {} at most",
                                       shown(pattern), pattern.size(), kLongestPattern));
    return expand_from(pattern);
  }

 private:
  Result<std::vector<std::string>> expand_from(std::string_view pattern) {
    const std::size_t open = pattern.find('[');
    const std::size_t close = pattern.find(']', open == std::string_view::npos ? 0 : open);
    if (open == std::string_view::npos || close == std::string_view::npos)
      return std::vector<std::string>{std::string(pattern)};
    WEIR_TRY(middle, expand_range(pattern.substr(open + 1, close - open - 1)));
    WEIR_TRY(rest, expand_from(pattern.substr(close + 1)));
    constexpr std::size_t kMostMade = 4 * kMostHosts;  // each host in four groups
    made_ += middle.size() * rest.size();
    if (middle.size() * rest.size() > kMostHosts || made_ > kMostMade)
      return invalid_error(fmt::format("'{}': more than {} names", shown(pattern),
                                       made_ > kMostMade ? kMostMade : kMostHosts));
    std::vector<std::string> names;
    for (const std::string& number : middle)
      for (const std::string& tail : rest)
        names.push_back(std::string(pattern.substr(0, open)) + number + tail);
    return names;
  }

  std::size_t made_ = 0;
};

/// What variables say of the way to a host; a template says that it is something else, unknown.
struct Way {
  std::optional<std::string> address;  // empty: a template
  std::optional<std::string> user;
  std::optional<unsigned> port;  // 0: a template
};

/// Ways of groups, as their hosts inherit them. The cost is that of the file: a group asks its
/// parents alone.
class WaysOfGroups {
 public:
  struct Own {
    Way way;                    // by the inventory
    Way beside = {};            // by group_vars
    std::int64_t priority = 1;  // ansible_group_priority
  };

  WaysOfGroups(const std::map<std::string, Inventory::Group>& groups,
               const std::map<std::string, Own>& own) {
    for (const auto& [name, group] : groups)
      for (const std::string& child : group.children)
        if (groups.contains(child)) parents_[child].push_back(name);
    std::map<std::string, std::size_t> open;  // parents that were not asked yet
    std::vector<std::string> ready;
    for (const auto& [name, group] : groups) {
      open[name] = parents_[name].size();
      if (open[name] == 0) ready.push_back(name);
    }
    // Parents first; what is left then is in a circle, and inherits nothing.
    while (!ready.empty()) {
      const std::string name = std::move(ready.back());
      ready.pop_back();
      settle(name, own);
      for (const std::string& child : groups.at(name).children)
        if (groups.contains(child) && --open[child] == 0) ready.push_back(child);
    }
    for (const auto& [name, group] : groups)
      if (!inherited_.contains(name)) settle(name, own);
    // `all` and `ungrouped` need no section to have hosts.
    for (const auto& [name, way] : own)
      if (!inherited_.contains(name)) settle(name, own);
  }

  /// Of a host in these groups, with its own.
  [[nodiscard]] Way of_host(const std::vector<std::string>& groups, const Way& own) const {
    Inherited all;
    const auto whole = inherited_.find("all");
    if (whole != inherited_.end()) all = whole->second;
    for (const std::string& group : groups) {
      const auto known = inherited_.find(group);
      if (known != inherited_.end()) merge(known->second, all);
    }
    return {.address = own.address ? own.address : all.address.value,
            .user = own.user ? own.user : all.user.value,
            .port = own.port ? own.port : all.port.value};
  }

 private:
  /// Who says it comes first: the inventory of `all`, of other groups, then group_vars of `all`, of
  /// other groups (Ansible's documentation, "Understanding variable precedence"). Then the deepest
  /// group, the one of the highest priority, the last by name.
  using Rank = std::tuple<int, std::size_t, std::int64_t, std::string>;
  template <class Value>
  struct Ranked {
    std::optional<Value> value;
    Rank rank;
  };
  struct Inherited {
    Ranked<std::string> address;
    Ranked<std::string> user;
    Ranked<unsigned> port;
    std::size_t depth = 1;  // `all` is above every group
  };

  template <class Value>
  static void take(const Ranked<Value>& from, Ranked<Value>& to) {
    if (from.value && (!to.value || from.rank > to.rank)) to = from;
  }
  static void merge(const Inherited& from, Inherited& to) {
    take(from.address, to.address);
    take(from.user, to.user);
    take(from.port, to.port);
  }

  void settle(const std::string& name, const std::map<std::string, Own>& own) {
    Inherited out;
    if (name == "all") out.depth = 0;
    for (const std::string& parent : parents_[name]) {
      const auto known = inherited_.find(parent);
      if (known == inherited_.end()) continue;
      merge(known->second, out);
      out.depth = std::max(out.depth, known->second.depth + 1);
    }
    const auto said = own.find(name);
    if (said != own.end()) {
      const int of_group = name == "all" ? 0 : 1;
      for (const auto& [way, source] :
           {std::pair(said->second.way, of_group), std::pair(said->second.beside, 2 + of_group)}) {
        const Rank rank(source, out.depth, said->second.priority, name);
        merge({.address = {way.address, rank}, .user = {way.user, rank}, .port = {way.port, rank}},
              out);
      }
    }
    inherited_.insert_or_assign(name, std::move(out));
  }

  std::map<std::string, std::vector<std::string>> parents_;
  std::map<std::string, Inherited> inherited_;
};

/// Hosts and groups as they are met.
class Builder {
 public:
  /// Every host of a pattern such as "gpu[01:16]"; `host` says the rest.
  Status add_pattern(std::string_view pattern, const Way& way, const std::string& group,
                     const std::string& place) {
    auto names = patterns_.expand(pattern);
    if (!names) return names.error().within(place);
    for (const std::string& name : *names)
      WEIR_TRY_STATUS(add(name, way, group, place));
    return {};
  }
  Status add(const std::string& name, const Way& way, const std::string& group,
             const std::string& place) {
    WEIR_TRY_STATUS(check_name(NameKind::kHost, name, place));
    const auto [known, is_new] = index_.emplace(name, out_.hosts.size());
    if (is_new && out_.hosts.size() >= kMostHosts)
      return invalid_error(fmt::format("{}: more than {} hosts", place, kMostHosts));
    if (is_new) {
      out_.hosts.push_back({.name = name});
      own_.emplace_back();
    }
    Member& kept = own_[known->second];
    if (way.address) kept.way.address = way.address;
    if (way.user) kept.way.user = way.user;
    if (way.port) kept.way.port = way.port;
    if (group.empty()) return {};
    out_.groups[group].hosts.push_back(name);
    kept.groups.push_back(group);
    return {};
  }
  void add_group(const std::string& group) { out_.groups[group]; }
  void add_child(const std::string& group, const std::string& child) {
    out_.groups[group].children.push_back(child);
  }
  /// What its variables say is collected here.
  WaysOfGroups::Own& variables_of(const std::string& group, const std::string& place) {
    places_.try_emplace(group, place);
    return ways_[group];
  }

  /// Of files beside the inventory. REQUIRES: all hosts and groups are known.
  Status add_beside(const VariableFiles& files);

  Result<Inventory> finish() && {
    if (out_.hosts.empty())
      return parse_error(
          "no host in it; expected an Ansible inventory (INI or YAML) or devices exported from "
          "NetBox (JSON)");
    for (const auto& [group, place] : places_)
      if (group != "all" && group != "ungrouped" && !out_.groups.contains(group))
        return parse_error(fmt::format("{}: variables of '{}', which is no group of this inventory",
                                       place, shown(group)));
    settle_ways();
    return std::move(out_);
  }

 private:
  struct Member {
    Way way;
    std::vector<std::string> groups;
  };
  Status take_files(const std::vector<VariableFile>& files, Way& way);

  void settle_ways() {
    const WaysOfGroups groups(out_.groups, ways_);
    for (std::size_t i = 0; i < own_.size(); ++i) {
      std::vector<std::string> in = own_[i].groups;
      if (in.empty()) in.emplace_back("ungrouped");
      const Way way = groups.of_host(in, own_[i].way);
      out_.hosts[i].address = way.address.value_or("");
      out_.hosts[i].user = way.user.value_or("");
      out_.hosts[i].port = way.port.value_or(0);
    }
  }

  Inventory out_;
  std::vector<Member> own_;  // of out_.hosts
  std::map<std::string, WaysOfGroups::Own> ways_;
  std::map<std::string, std::string> places_;  // of groups with variables
  std::map<std::string, std::size_t> index_;
  PatternExpander patterns_;
};

std::string_view unquoted(std::string_view value) {
  const bool is_quoted = value.size() >= 2 && (value.front() == '"' || value.front() == '\'') &&
                         value.back() == value.front();
  return is_quoted ? value.substr(1, value.size() - 2) : value;
}

Result<unsigned> port_of(std::string_view key, std::string_view value, const std::string& place) {
  constexpr std::uint64_t kLastPort = 65535;
  const auto port = parse_u64(value);
  if (port && *port >= 1 && *port <= kLastPort) return static_cast<unsigned>(*port);
  return parse_error(fmt::format("{}: {}: expected a port from 1 to {}, found '{}'", place, key,
                                 kLastPort, shown(value)));
}

/// What of a variable is the way to a host.
Status take_variable(std::string_view key, std::string_view value, const std::string& place,
                     Way& way) {
  value = unquoted(trim(value));
  if (value.empty()) return {};
  const bool is_template = value.find("{{") != std::string_view::npos;  // not ours to expand
  if (key == "ansible_host" || key == "ansible_ssh_host") {
    way.address = is_template ? std::string_view() : value;
    if (const Status good = check_destination(*way.address); !is_template && !good)
      return good.error().within(place);
  }
  if (key == "ansible_user" || key == "ansible_ssh_user") {
    if (!is_template)
      WEIR_TRY_STATUS(check_name(NameKind::kWord, value, fmt::format("{}: {}", place, key)));
    way.user = is_template ? std::string_view() : value;
  }
  if (key == "ansible_port" || key == "ansible_ssh_port") {
    way.port = 0;
    if (is_template) return {};
    WEIR_TRY(port, port_of(key, value, place));
    way.port = port;
  }
  return {};
}

/// One file of group_vars or host_vars. It is YAML or JSON with whatever Ansible knows (anchors,
/// tags, vaults): the lines of the wanted variables are read, and nothing else is judged.
Status take_variable_file(const VariableFile& file, Way& way) {
  if (file.text.starts_with("$ANSIBLE_VAULT;")) return {};  // whole, and not ours to open
  std::size_t number = 0;
  for (const std::string_view raw : split(file.text, '\n')) {
    ++number;
    const std::size_t colon = raw.find(':');
    if (colon == std::string_view::npos || !unquoted(raw.substr(0, colon)).starts_with("ansible_"))
      continue;
    const std::string_view key = unquoted(raw.substr(0, colon));
    std::string_view value = trim(raw.substr(colon + 1));
    const bool is_quoted = value.starts_with('"') || value.starts_with('\'');
    if (is_quoted) {
      const std::size_t end = value.find(value.front(), 1);
      value = value.substr(0, end == std::string_view::npos ? end : end + 1);
    } else {
      value = value.starts_with('#') ? std::string_view() : trim(value.substr(0, value.find(" #")));
    }
    const std::string place = fmt::format("{}: line {}", file.path, number);
    const bool is_way = key == "ansible_host" || key == "ansible_ssh_host" ||
                        key == "ansible_user" || key == "ansible_ssh_user" ||
                        key == "ansible_port" || key == "ansible_ssh_port";
    if (is_way &&
        (value.empty() || std::string_view("|>&*[{").find(value.front()) != std::string_view::npos))
      return parse_error(
          fmt::format("{}: {}: expected one plain value on the same line, found '{}'", place, key,
                      shown(value)));
    // A vault is as unknown as a template.
    WEIR_TRY_STATUS(take_variable(key, value.starts_with('!') ? "{{" : value, place, way));
  }
  return {};
}

/// The same as JSON.
Status take_variable_json(const VariableFile& file, Way& way) {
  auto document = parse_json(file.text);
  if (!document) return document.error().within(file.path);
  for (const auto& [key, value] : document->items()) {
    const std::string text = value.is_string()   ? value.get<std::string>()
                             : value.is_number() ? value.dump()
                                                 : std::string();
    WEIR_TRY_STATUS(take_variable(key, text, file.path, way));
  }
  return {};
}

/// The same of a group, and its rank among groups at the same depth.
Status take_group_variable(std::string_view key, std::string_view value, const std::string& place,
                           WaysOfGroups::Own& group) {
  if (key != "ansible_group_priority") return take_variable(key, value, place, group.way);
  const auto number = parse_u64(unquoted(trim(value)));
  constexpr std::uint64_t kMost = 1'000'000;
  if (!number || *number > kMost)
    return parse_error(fmt::format("{}: {}: expected a number from 0 to {}, found '{}'", place, key,
                                   kMost, shown(value)));
  group.priority = static_cast<std::int64_t>(*number);
  return {};
}

Status Builder::take_files(const std::vector<VariableFile>& files, Way& way) {
  for (const VariableFile& file : files)
    WEIR_TRY_STATUS(trim(file.text).starts_with('{') ? take_variable_json(file, way)
                                                     : take_variable_file(file, way));
  return {};
}

Status Builder::add_beside(const VariableFiles& files) {
  for (const auto& [group, own] : files.groups) {
    const bool is_there = group == "all" || group == "ungrouped" || out_.groups.contains(group);
    if (is_there) WEIR_TRY_STATUS(take_files(own, ways_[group].beside));
  }
  for (const auto& [host, own] : files.hosts) {
    const auto known = index_.find(host);
    if (known == index_.end()) continue;
    Way way;
    WEIR_TRY_STATUS(take_files(own, way));
    Way& kept = own_[known->second].way;
    if (way.address) kept.address = way.address;
    if (way.user) kept.user = way.user;
    if (way.port) kept.port = way.port;
  }
  return {};
}

/// Words between blanks; quotes keep blanks together.
std::vector<std::string_view> quoted_words_of(std::string_view line) {
  std::vector<std::string_view> words;
  for (std::size_t at = 0; at < line.size();) {
    while (at < line.size() && (line[at] == ' ' || line[at] == '\t'))
      ++at;
    const std::size_t first = at;
    char quote = '\0';
    for (; at < line.size(); ++at) {
      if (quote != '\0') {
        if (line[at] == quote) quote = '\0';
      } else if (line[at] == '"' || line[at] == '\'') {
        quote = line[at];
      } else if (line[at] == ' ' || line[at] == '\t' || line[at] == '#') {
        break;
      }
    }
    if (at > first) words.push_back(line.substr(first, at - first));
    if (at < line.size() && line[at] == '#') break;
  }
  return words;
}

Status add_ini_host(std::string_view line, const std::string& group, const std::string& place,
                    Builder& out) {
  const std::vector<std::string_view> words = quoted_words_of(line);
  if (words.empty()) return {};
  Way way;
  std::string_view pattern = words.front();
  // "host:2222"; a colon in brackets belongs to a range.
  const std::size_t colon = pattern.rfind(':');
  if (colon != std::string_view::npos && pattern.find(']', colon) == std::string_view::npos) {
    WEIR_TRY(port, port_of(pattern.substr(0, colon), pattern.substr(colon + 1), place));
    way.port = port;
    pattern = pattern.substr(0, colon);
  }
  for (std::size_t i = 1; i < words.size(); ++i) {
    const std::size_t equals = words[i].find('=');
    if (equals != std::string_view::npos)
      WEIR_TRY_STATUS(
          take_variable(words[i].substr(0, equals), words[i].substr(equals + 1), place, way));
  }
  return out.add_pattern(pattern, way, group, place);
}

/// "ansible_user = ops  # comment" of a [group:vars].
Status add_ini_variable(std::string_view line, const std::string& group, const std::string& place,
                        Builder& out) {
  const std::size_t equals = line.find('=');
  if (equals == std::string_view::npos)
    return parse_error(
        fmt::format("{}: expected a variable, key=value, found '{}'", place, shown(line)));
  std::string_view value = trim(line.substr(equals + 1));
  const bool is_quoted = value.starts_with('"') || value.starts_with('\'');
  if (!is_quoted) value = trim(value.substr(0, value.find(" #")));
  return take_group_variable(trim(line.substr(0, equals)), value, place,
                             out.variables_of(group, place));
}

Result<Inventory> parse_ansible_ini(std::string_view text, const VariableFiles& beside) {
  Builder out;
  std::string group;
  std::string kind;
  std::size_t number = 0;
  for (const std::string_view raw : split(text, '\n')) {
    ++number;
    const std::string_view line = trim(raw);
    const std::string place = fmt::format("line {}", number);
    if (line.empty() || line.front() == '#' || line.front() == ';') continue;
    if (line.front() == '[' && line.find(']') != std::string_view::npos &&
        line.find_first_of(" \t") == std::string_view::npos) {
      const std::string_view inside = line.substr(1, line.find(']') - 1);
      const std::size_t colon = inside.find(':');
      group = inside.substr(0, colon);
      kind = colon == std::string_view::npos ? "" : inside.substr(colon + 1);
      WEIR_TRY_STATUS(check_name(NameKind::kWord, group, place));
      if (kind != "vars") out.add_group(group);
      continue;
    }
    if (kind == "vars") {
      WEIR_TRY_STATUS(add_ini_variable(line, group, place, out));
      continue;
    }
    if (kind == "children") {
      const std::string child(quoted_words_of(line).empty() ? line : quoted_words_of(line).front());
      WEIR_TRY_STATUS(check_name(NameKind::kWord, child, place));
      out.add_child(group, child);
      continue;
    }
    WEIR_TRY_STATUS(add_ini_host(line, group, place, out));
  }
  WEIR_TRY_STATUS(out.add_beside(beside));
  return std::move(out).finish();
}

Error yaml_wrong(const YamlNode& node, std::string_view expected) {
  return parse_error(fmt::format("line {}: expected {}, found {}", node.at.line, expected,
                                 design::describe_kind(node)));
}

Status add_yaml_host(const YamlEntry& entry, const std::string& group, Builder& out) {
  Way way;
  for (const YamlEntry& variable : entry.value.entries)
    if (variable.value.kind == YamlNode::Kind::kScalar)
      WEIR_TRY_STATUS(take_variable(variable.key, variable.value.scalar,
                                    fmt::format("line {}", variable.at.line), way));
  return out.add_pattern(entry.key, way, group, fmt::format("line {}", entry.at.line));
}

/// A group of Ansible's YAML: hosts, children, vars.
Status add_yaml_group(const std::string& group, const YamlNode& node, int depth, Builder& out) {
  constexpr int kDeepest = 32;
  if (depth > kDeepest) return invalid_error("groups are nested too deeply");
  out.add_group(group);
  if (node.is_empty()) return {};
  if (node.kind != YamlNode::Kind::kMapping)
    return yaml_wrong(node, "a group with hosts, children or vars");
  for (const YamlEntry& part : node.entries) {
    if (part.key != "hosts" && part.key != "children" && part.key != "vars") continue;
    if (part.value.is_empty()) continue;
    if (part.value.kind != YamlNode::Kind::kMapping) return yaml_wrong(part.value, "a mapping");
    for (const YamlEntry& entry : part.value.entries) {
      const std::string place = fmt::format("line {}", entry.at.line);
      if (part.key == "children") {
        out.add_child(group, entry.key);
        WEIR_TRY_STATUS(add_yaml_group(entry.key, entry.value, depth + 1, out));
      } else if (part.key == "hosts") {
        WEIR_TRY_STATUS(add_yaml_host(entry, group, out));
      } else if (entry.value.kind == YamlNode::Kind::kScalar) {
        WEIR_TRY_STATUS(take_group_variable(entry.key, entry.value.scalar, place,
                                            out.variables_of(group, place)));
      }
    }
  }
  return {};
}

Result<YamlNode> read_yaml(std::string_view text) {
  design::YamlDocument document = design::parse_yaml(text);
  if (document.errors.empty()) return std::move(document.root);
  const design::Diagnostic& first = document.errors.front();
  return parse_error(fmt::format("line {}: {}", first.at.line, first.message));
}

Result<Inventory> parse_ansible_yaml(std::string_view text, const VariableFiles& beside) {
  WEIR_TRY(root, read_yaml(text));
  if (root.kind != YamlNode::Kind::kMapping) return yaml_wrong(root, "groups by name");
  Builder out;
  for (const YamlEntry& group : root.entries)
    WEIR_TRY_STATUS(add_yaml_group(group.key, group.value, 0, out));
  WEIR_TRY_STATUS(out.add_beside(beside));
  return std::move(out).finish();
}

std::string member_text(const Json& object, std::string_view key, std::string_view inner) {
  const auto found = object.find(key);
  if (found == object.end()) return "";
  if (found->is_string()) return found->get<std::string>();
  if (!found->is_object()) return "";
  const auto part = found->find(inner);
  return part != found->end() && part->is_string() ? part->get<std::string>() : "";
}

Status add_device(const Json& device, std::size_t number, Builder& out) {
  const std::string place = fmt::format("device {}", number);
  if (!device.is_object()) return parse_error(place + ": expected an object");
  const std::string name = member_text(device, "name", "");
  if (name.empty()) return {};  // NetBox has devices without a name: nothing to reach
  std::string address;
  for (const std::string_view key : {"primary_ip", "primary_ip4", "primary_ip6"}) {
    if (address.empty()) address = member_text(device, key, "address");
  }
  Way way;
  if (const std::string bare = address.substr(0, address.find('/')); !bare.empty()) {
    if (const Status good = check_destination(bare); !good) return good.error().within(place);
    way.address = bare;
  }
  WEIR_TRY_STATUS(out.add(name, way, "", place));
  struct Grouping {
    std::string_view name;
    std::string_view key;
    std::string_view inner;
  };
  for (const Grouping& by :
       {Grouping{"site", "site", "slug"}, Grouping{"role", "role", "slug"},
        Grouping{"role", "device_role", "slug"}, Grouping{"status", "status", "value"}}) {
    const std::string value = member_text(device, by.key, by.inner);
    if (value.empty() || wrong_name(NameKind::kWord, value)) continue;
    WEIR_TRY_STATUS(out.add(name, {}, fmt::format("{}:{}", by.name, value), place));
  }
  return {};
}

Result<Inventory> parse_netbox(std::string_view text) {
  WEIR_TRY(document, parse_json(text));
  const Json* devices = &document;
  if (document.is_object()) {
    const auto results = document.find("results");
    if (results == document.end())
      return parse_error("expected a list of devices, or an object with results[]");
    devices = &*results;
  }
  if (!devices->is_array()) return parse_error("expected a list of devices");
  Builder out;
  std::size_t number = 0;
  for (const Json& device : *devices)
    WEIR_TRY_STATUS(add_device(device, ++number, out));
  return std::move(out).finish();
}

/// YAML inventories begin with "---" or a key of a mapping; INI has none of both.
bool looks_like_yaml(std::string_view text) {
  for (const std::string_view raw : split(text, '\n')) {
    const std::string_view line = trim(raw);
    if (line.empty() || line.front() == '#') continue;
    return line == "---" || line.ends_with(':') || line.find(": ") != std::string_view::npos;
  }
  return false;
}

/// The text of a group: a set, or a list of sets.
Result<std::string> group_text(const YamlNode& node) {
  if (node.kind == YamlNode::Kind::kScalar) return node.scalar;
  if (node.kind != YamlNode::Kind::kSequence) return yaml_wrong(node, "hosts, or a list of them");
  std::string all;
  for (const YamlNode& item : node.items) {
    if (item.kind != YamlNode::Kind::kScalar) return yaml_wrong(item, "hosts");
    all += (all.empty() ? "" : ",") + item.scalar;
  }
  return all;
}

}  // namespace

const InventoryHost* Inventory::find(std::string_view name) const {
  const auto found = std::find_if(hosts.begin(), hosts.end(),
                                  [&](const InventoryHost& host) { return host.name == name; });
  return found == hosts.end() ? nullptr : &*found;
}

std::optional<std::vector<std::string>> Inventory::hosts_of(const std::string& group) const {
  if (groups.find(group) == groups.end()) return std::nullopt;
  std::vector<std::string> all;
  std::set<std::string> visited;
  std::set<std::string> taken;
  std::vector<std::string> open = {group};  // the next is the last
  while (!open.empty()) {
    const std::string name = std::move(open.back());
    open.pop_back();
    const auto found = groups.find(name);
    if (found == groups.end() || !visited.insert(name).second) continue;
    for (const std::string& host : found->second.hosts)
      if (taken.insert(host).second) all.push_back(host);
    open.insert(open.end(), found->second.children.rbegin(), found->second.children.rend());
  }
  return all;
}

std::string owner_of_variables(std::string_view file_name) {
  if (file_name.starts_with('.') || file_name.ends_with('~')) return "";
  for (const std::string_view ending : {".yml", ".yaml", ".json"})
    if (file_name.ends_with(ending)) file_name.remove_suffix(ending.size());
  return std::string(file_name);
}

Result<Inventory> parse_inventory(std::string_view text, const VariableFiles& beside) {
  const std::string_view content = trim(text);
  if (content.starts_with('{') || content.starts_with("[{") || content.starts_with("[\n") ||
      content.starts_with("[ ") || content == "[]")
    return parse_netbox(content);
  return looks_like_yaml(content) ? parse_ansible_yaml(text, beside)
                                  : parse_ansible_ini(text, beside);
}

Result<GroupSources> parse_group_yaml(std::string_view text) {
  WEIR_TRY(root, read_yaml(text));
  if (root.kind != YamlNode::Kind::kMapping) return yaml_wrong(root, "sources of groups by name");
  GroupSources sources;
  for (const YamlEntry& source : root.entries) {
    std::map<std::string, std::string>& groups = sources[source.key];
    if (source.value.is_empty()) continue;
    if (source.value.kind != YamlNode::Kind::kMapping)
      return yaml_wrong(source.value, "groups by name");
    for (const YamlEntry& group : source.value.entries) {
      WEIR_TRY(hosts, group_text(group.value));
      groups[group.key] = std::move(hosts);
    }
  }
  return sources;
}

Result<std::map<std::string, std::string>> parse_group_lines(std::string_view text) {
  std::map<std::string, std::string> groups;
  std::size_t number = 0;
  for (const std::string_view raw : split(text, '\n')) {
    ++number;
    const std::string_view line = trim(raw.substr(0, raw.find('#')));
    if (line.empty()) continue;
    const std::size_t colon = line.find(':');
    if (colon == std::string_view::npos || colon == 0)
      return parse_error(
          fmt::format("line {}: expected 'group: hosts', found '{}'", number, shown(line)));
    groups[std::string(trim(line.substr(0, colon)))] = trim(line.substr(colon + 1));
  }
  return groups;
}

Result<GroupSettings> parse_group_settings(std::string_view text) {
  GroupSettings out;
  std::string section;
  std::size_t number = 0;
  for (const std::string_view raw : split(text, '\n')) {
    ++number;
    const std::string_view line = trim(raw);
    if (line.empty() || line.front() == '#' || line.front() == ';') continue;
    if (line.front() == '[') {
      const std::size_t close = line.find(']');
      if (close == std::string_view::npos)
        return parse_error(fmt::format("line {}: '[' without ']'", number));
      section = line.substr(1, close - 1);
      continue;
    }
    const std::size_t mark = line.find_first_of(":=");
    if (mark == std::string_view::npos) continue;
    const std::string_view key = trim(line.substr(0, mark));
    const std::string_view value = trim(line.substr(mark + 1));
    if (section != "Main") {
      if (key == "map")
        for (const std::string_view name : split(section, ','))
          out.upcalls.emplace_back(trim(name));
      continue;
    }
    if (key == "default") out.default_source = value;
    if (key == "autodir" || key == "confdir" || key == "groupsdir") {
      for (const std::string_view folder : quoted_words_of(value))
        out.folders.emplace_back(folder);
    }
  }
  return out;
}

}  // namespace weir::readers

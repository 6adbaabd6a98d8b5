#include "evidence/changes.h"

#include <algorithm>

#include <fmt/format.h>

#include "base/json.h"
#include "evidence/fields.h"
#include "evidence/json.h"

namespace weir::evidence {
namespace {

bool is_fact(const Json& value) {
  return value.is_object() && (value.contains("value") || value.contains("missing"));
}

std::string json_text(const Json& value) {
  if (value.is_string()) return value.get<std::string>();
  if (value.is_null()) return "none";
  if (value.is_boolean()) return value.get<bool>() ? "yes" : "no";
  if (!value.is_array()) return value.dump();
  std::string text;
  for (const Json& element : value)
    text += (text.empty() ? "" : ",") + json_text(element);
  return text.empty() ? "none" : text;
}

/// A fact, or a plain value, or nothing at all.
std::string fact_text(const Json* value) {
  if (value == nullptr) return "not there";
  if (!is_fact(*value)) return json_text(*value);
  if (value->contains("missing"))
    return fmt::format("not readable ({})", json_text((*value)["missing"]));
  return json_text((*value)["value"]);
}

/// The value behind a fact, or nullptr where it has none.
const Json* value_in(const Json* value) {
  if (value == nullptr || !is_fact(*value)) return value;
  const auto found = value->find("value");
  return found == value->end() ? nullptr : &*found;
}

const Json* member(const Json* object, const std::string& key) {
  if (object == nullptr || !object->is_object()) return nullptr;
  const auto found = object->find(key);
  return found == object->end() ? nullptr : &*found;
}

/// What an element of a list is known by; empty: by its position.
std::string element_name(const Json& element) {
  for (const char* key : {"device", "name", "index", "group", "queue", "nic"}) {
    const Json* value = member(&element, key);
    if (value == nullptr || is_fact(*value)) continue;
    return value->is_string() ? value->get<std::string>()
                              : fmt::format("{} {}", key, value->dump());
  }
  return "";
}

/// Elements are the same where name and turn are: a name may come twice.
struct Named {
  std::string name;
  std::size_t turn = 0;
  friend bool operator==(const Named&, const Named&) = default;
};

std::vector<Named> names_in(const Json& list) {
  std::vector<Named> names;
  for (const Json& element : list) {
    Named named{element_name(element), 0};
    while (std::find(names.begin(), names.end(), named) != names.end())
      ++named.turn;
    names.push_back(std::move(named));
  }
  return names;
}

class Comparer {
 public:
  /// Two values of one key; either may be absent.
  void compare(const Json* before, const Json* after, const std::string& where,
               const std::string& path);
  std::vector<FactChange> take() { return std::move(changes_); }

 private:
  void compare_values(const Json* before, const Json* after, const std::string& where,
                      const std::string& path);
  void compare_things(const Json* before, const Json* after, const std::string& where,
                      const std::string& path);
  void compare_maps(const Json& before, const Json& after, const std::string& where,
                    const std::string& path);

  std::vector<FactChange> changes_;
};

bool is_section(const Json* value) {
  return value != nullptr && value->is_object() && !is_fact(*value);
}
bool is_list_of_things(const Json* value) {
  return value != nullptr && value->is_array() && !value->empty() && value->front().is_object();
}

void Comparer::compare(const Json* before, const Json* after, const std::string& where,
                       const std::string& path) {
  if (is_list_of_things(before) || is_list_of_things(after))
    return compare_things(before, after, where, path);
  if (!is_section(before) && !is_section(after)) return compare_values(before, after, where, path);
  std::vector<std::string> keys;
  for (const Json* side : {before, after}) {
    if (!is_section(side)) continue;
    for (const auto& [key, value] : side->items())
      if (std::find(keys.begin(), keys.end(), key) == keys.end()) keys.push_back(key);
  }
  for (const std::string& key : keys) {
    compare(member(before, key), member(after, key), where,
            path.empty() ? key : fmt::format("{}.{}", path, key));
  }
}

void Comparer::compare_values(const Json* before, const Json* after, const std::string& where,
                              const std::string& path) {
  const Json* old_value = value_in(before);
  const Json* new_value = value_in(after);
  // Element by element tells more than two lists of 64 numbers.
  constexpr std::size_t kLong = 16;
  const bool are_maps = old_value != nullptr && new_value != nullptr && old_value->is_array() &&
                        new_value->is_array() && old_value->size() == new_value->size() &&
                        old_value->size() > kLong;
  if (are_maps) return compare_maps(*old_value, *new_value, where, path);
  if (fact_text(before) != fact_text(after))
    changes_.push_back({where, path, fact_text(before), fact_text(after)});
}

void Comparer::compare_maps(const Json& before, const Json& after, const std::string& where,
                            const std::string& path) {
  for (std::size_t first = 0; first < before.size(); ++first) {
    if (before[first] == after[first]) continue;
    std::size_t last = first;
    while (last + 1 < before.size() && before[last + 1] == before[first] &&
           after[last + 1] == after[first]) {
      ++last;
    }
    const std::string range =
        first == last ? std::to_string(first) : fmt::format("{}-{}", first, last);
    changes_.push_back({where, fmt::format("{}[{}]", path, range), json_text(before[first]),
                        json_text(after[first])});
    first = last;
  }
}

void Comparer::compare_things(const Json* before, const Json* after, const std::string& where,
                              const std::string& path) {
  const Json empty = Json::array();
  const Json& olds = before == nullptr ? empty : *before;
  const Json& news = after == nullptr ? empty : *after;
  const auto within = [&](const std::string& name) {
    return where.empty() || name.empty() ? where + name : fmt::format("{} {}", where, name);
  };
  const std::vector<Named> old_names = names_in(olds);
  const std::vector<Named> new_names = names_in(news);
  for (std::size_t i = 0; i < olds.size(); ++i) {
    const std::string& name = old_names[i].name;
    const auto same = std::find(new_names.begin(), new_names.end(), old_names[i]);
    if (same == new_names.end()) {
      changes_.push_back({within(name), path, "there", "gone"});
      continue;
    }
    const auto index = static_cast<std::size_t>(same - new_names.begin());
    compare(&olds[i], &news[index], within(name), name.empty() ? path : "");
  }
  for (const Named& added : new_names) {
    if (std::find(old_names.begin(), old_names.end(), added) == old_names.end())
      changes_.push_back({within(added.name), path, "not there", "there"});
  }
}

class SourceRemover {
 public:
  template <class T>
  void field(std::string_view /*key*/, T& /*value*/, std::string_view /*help*/) {}
  template <class T>
  void fact(std::string_view /*key*/, Fact<T>& fact, std::string_view /*help*/) {
    fact = fact.is_known() ? Fact<T>::of(*fact) : Fact<T>();
  }
  template <class S>
  void section(std::string_view /*key*/, S& section, std::string_view /*help*/) {
    visit(*this, section);
  }
  template <class S>
  void list(std::string_view /*key*/, std::vector<S>& list, std::string_view /*help*/) {
    for (S& item : list)
      visit(*this, item);
  }
};

/// Notes where the facts of a thing stand. What is in its lists is left out: of two things of one
/// type, these alone stand in the same order.
class FactCollector {
 public:
  template <class T>
  void field(std::string_view /*key*/, T& /*value*/, std::string_view /*help*/) {}
  template <class T>
  void fact(std::string_view /*key*/, Fact<T>& fact, std::string_view /*help*/) {
    facts_.push_back(&fact);
  }
  template <class S>
  void section(std::string_view /*key*/, S& section, std::string_view /*help*/) {
    visit(*this, section);
  }
  template <class S>
  void list(std::string_view /*key*/, std::vector<S>& /*list*/, std::string_view /*help*/) {}
  [[nodiscard]] std::vector<void*> take() { return std::move(facts_); }

 private:
  std::vector<void*> facts_;
};

/// Forgets the facts that are equal in another thing of the same type.
class EqualFactRemover {
 public:
  explicit EqualFactRemover(std::vector<void*> others) : others_(std::move(others)) {}

  template <class T>
  void field(std::string_view /*key*/, T& /*value*/, std::string_view /*help*/) {}
  template <class T>
  void fact(std::string_view /*key*/, Fact<T>& fact, std::string_view /*help*/) {
    auto& other = *static_cast<Fact<T>*>(others_[at_++]);
    if (fact == other) fact = other = Fact<T>();
  }
  template <class S>
  void section(std::string_view /*key*/, S& section, std::string_view /*help*/) {
    visit(*this, section);
  }
  template <class S>
  void list(std::string_view /*key*/, std::vector<S>& /*list*/, std::string_view /*help*/) {}

 private:
  std::vector<void*> others_;
  std::size_t at_ = 0;
};

template <class T>
void forget_equal_facts(T& before, T& after) {
  FactCollector collector;
  visit(collector, before);
  EqualFactRemover remover(collector.take());
  visit(remover, after);
}

const std::string& name_in_list(const Nic& nic) {
  return nic.device;
}
const std::string& name_in_list(const GpuDistance& pair) {
  return pair.nic;
}
const std::string& name_in_list(const Switch& sw) {
  return sw.name;
}
unsigned name_in_list(const Gpu& gpu) {
  return gpu.index;
}

/// What differs of two lists: as JSON it is a small part of them. Lists that name other things, or
/// in another order, are taken as they are.
template <class T>
void copy_differing(const std::vector<T>& before, const std::vector<T>& after,
                    std::vector<T>& old_part, std::vector<T>& new_part) {
  const bool are_same_things =
      std::equal(before.begin(), before.end(), after.begin(), after.end(),
                 [](const T& a, const T& b) { return name_in_list(a) == name_in_list(b); });
  if (!are_same_things) {
    old_part = before;
    new_part = after;
    return;
  }
  for (std::size_t i = 0; i < before.size(); ++i) {
    if (before[i] == after[i]) continue;
    old_part.push_back(before[i]);
    new_part.push_back(after[i]);
    forget_equal_facts(old_part.back(), new_part.back());
  }
}

}  // namespace

std::vector<FactChange> fact_changes(const Evidence& before, const Evidence& after) {
  Evidence old_part;
  Evidence new_part;
  if (before.host != after.host) {
    old_part.host = before.host;
    new_part.host = after.host;
  }
  copy_differing(before.nics, after.nics, old_part.nics, new_part.nics);
  copy_differing(before.gpus, after.gpus, old_part.gpus, new_part.gpus);
  copy_differing(before.distances, after.distances, old_part.distances, new_part.distances);
  copy_differing(before.switches, after.switches, old_part.switches, new_part.switches);
  const Json old_json = to_json(old_part);
  const Json new_json = to_json(new_part);
  Comparer comparer;
  for (const std::string section : {"host", "nics", "gpus", "distances", "switches"})
    comparer.compare(member(&old_json, section), member(&new_json, section), "",
                     section == "host" ? "" : section);
  return comparer.take();
}

Switch values_of(Switch sw) {
  SourceRemover remover;
  visit(remover, sw);
  return sw;
}

}  // namespace weir::evidence

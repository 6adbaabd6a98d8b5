#include "counters/catalog.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <tuple>
#include <unordered_map>

#include "base/check.h"
#include "base/text.h"
#include "counters/tables.h"

namespace weir::counters {
namespace {

constexpr std::array<std::string_view, 3> kKinds = {"counter", "gauge", "setting"};
constexpr std::array<std::string_view, 14> kTopics = {"traffic",
                                                      "loss",
                                                      "congestion control",
                                                      "receiver not ready",
                                                      "error",
                                                      "fatal",
                                                      "PFC",
                                                      "pause",
                                                      "phy",
                                                      "PCIe",
                                                      "buffer",
                                                      "optics",
                                                      "software",
                                                      "utilisation"};
constexpr std::array<std::string_view, 7> kSides = {"sender",
                                                    "receiver",
                                                    "receiver (notification point)",
                                                    "sender (reaction point)",
                                                    "physical port",
                                                    "host",
                                                    "switch"};
constexpr std::array<std::string_view, 7> kPers = {
    "", "priority", "class-of-service queue", "queue", "priority group", "lane", "ring"};
constexpr std::array<std::string_view, 9> kPlaces = {
    "hw_counters", "counters", "ethtool", "statistics", "net", "dcb", "host", "switch", "show"};

template <class Enum, std::size_t N>
std::string_view name_in(const std::array<std::string_view, N>& names, Enum value) {
  const auto at = static_cast<std::size_t>(value);
  WEIR_CHECK(at < N);
  return names[at];
}

/// One past the largest number a raw name may hold: eight priorities on any wire; switches have up
/// to twelve queues per port; no module has more than sixteen lanes.
unsigned number_limit(Per per) {
  switch (per) {
    case Per::kNothing: return 0;
    case Per::kPriority:
    case Per::kCos:
    case Per::kGroup: return 8;
    case Per::kQueue:
    case Per::kLane: return 16;
    case Per::kRing: return 65536;
  }
  WEIR_UNREACHABLE("every Per is listed");
}

/// A stretch of digits in a name; empty stands for none.
struct Digits {
  std::size_t begin = 0;
  std::size_t end = 0;

  [[nodiscard]] bool empty() const { return begin == end; }
};

bool is_digit(char c) {
  return c >= '0' && c <= '9';
}

Digits next_digits(std::string_view name, std::size_t from) {
  while (from < name.size() && !is_digit(name[from]))
    ++from;
  Digits digits{from, from};
  while (digits.end < name.size() && is_digit(name[digits.end]))
    ++digits.end;
  return digits;
}

/// FNV-1a (Fowler, Noll, Vo) of the name with `digits` read as one `#`.
std::uint32_t hash_of(std::string_view name, Digits digits) {
  std::uint32_t hash = 2166136261U;
  const auto add = [&hash](char c) { hash = (hash ^ static_cast<unsigned char>(c)) * 16777619U; };
  for (std::size_t i = 0; i < name.size(); ++i) {
    if (i == digits.begin && !digits.empty()) {
      add('#');
      i = digits.end - 1;
    } else {
      add(name[i]);
    }
  }
  return hash;
}

bool spells(std::string_view pattern, std::string_view name, Digits digits) {
  if (digits.empty()) return pattern == name;
  const std::size_t tail = name.size() - digits.end;
  return pattern.size() == digits.begin + 1 + tail && pattern[digits.begin] == '#' &&
         pattern.substr(0, digits.begin) == name.substr(0, digits.begin) &&
         pattern.substr(digits.begin + 1) == name.substr(digits.end);
}

/// Names to positions: open addressing over a power of two, at most a quarter full.
class NameTable {
 public:
  void reserve(std::size_t names) {
    std::size_t size = 64;
    while (size < names * 4)
      size *= 2;
    slots_.assign(size, 0);
  }
  void insert(std::string_view pattern, std::size_t position) {
    std::size_t slot = first_slot(hash_of(pattern, {}));
    while (slots_[slot] != 0)
      slot = following(slot);
    slots_[slot] = static_cast<std::uint16_t>(position + 1);
    longest_ = std::max(longest_, pattern.size());
  }
  /// Calls visit(position, digits) for every entry whose pattern might spell `name`, the exact
  /// spelling first; stops when it returns true. The caller compares.
  template <class Visit>
  void each(std::string_view name, Visit visit) const {
    constexpr std::size_t kMostDigits = 20;
    // No pattern spells it; each run of its digits would be tried, on all of it.
    if (name.size() > longest_ + kMostDigits) return;
    if (probe(name, {}, visit)) return;
    for (Digits digits = next_digits(name, 0); !digits.empty();
         digits = next_digits(name, digits.end)) {
      if (probe(name, digits, visit)) return;
    }
  }

 private:
  [[nodiscard]] std::size_t first_slot(std::uint32_t hash) const {
    return hash & (slots_.size() - 1);
  }
  [[nodiscard]] std::size_t following(std::size_t slot) const {
    return (slot + 1) & (slots_.size() - 1);
  }
  template <class Visit>
  bool probe(std::string_view name, Digits digits, Visit& visit) const {
    for (std::size_t slot = first_slot(hash_of(name, digits)); slots_[slot] != 0;
         slot = following(slot)) {
      if (visit(std::size_t{slots_[slot]} - 1, digits)) return true;
    }
    return false;
  }
  std::vector<std::uint16_t> slots_;  // position + 1; 0 = free
  std::size_t longest_ = 0;           // of the patterns
};

/// Lower case, every run of other characters one underscore: "ECN marks/sec" is "ecn_marks_sec".
std::string folded(std::string_view text) {
  std::string out;
  for (const char c : text) {
    const auto u = static_cast<unsigned char>(c);
    if (std::isalnum(u) != 0 || c == '#') {
      out.push_back(static_cast<char>(std::tolower(u)));
    } else if (!out.empty() && out.back() != '_') {
      out.push_back('_');
    }
  }
  while (!out.empty() && out.back() == '_')
    out.pop_back();
  return out;
}

void sort_by_driver(std::vector<Match>& found) {
  std::stable_sort(found.begin(), found.end(), [](const Match& a, const Match& b) {
    return std::tie(a.name->driver, a.name->place) < std::tie(b.name->driver, b.name->place);
  });
}

class Index {
 public:
  static const Index& get() {
    static const Index index;
    return index;
  }

  [[nodiscard]] std::span<const Counter> counters() const { return counters_; }
  [[nodiscard]] std::span<const RawName> names() const { return names_; }

  [[nodiscard]] const Counter* find(std::string_view id) const {
    const auto found = by_id_.find(id);
    return found == by_id_.end() ? nullptr : found->second;
  }

  [[nodiscard]] std::span<const RawName> names_of(const Counter& counter) const {
    const auto [first, last] =
        std::equal_range(names_.begin(), names_.end(), counter.id,
                         [](const auto& a, const auto& b) { return id_of(a) < id_of(b); });
    return {first, last};
  }

  [[nodiscard]] Match match(std::size_t position, std::string_view name, Digits digits) const {
    const RawName& raw = names_[position];
    if (!spells(raw.pattern, name, digits)) return {};
    const Counter& counter = counters_[counter_of_[position]];
    if (digits.empty()) return {&counter, &raw, std::nullopt};
    const auto number = parse_u64(name.substr(digits.begin, digits.end - digits.begin));
    if (!number || *number >= number_limit(counter.per)) return {};
    return {&counter, &raw, static_cast<unsigned>(*number)};
  }

  [[nodiscard]] Match find_raw(Driver driver, Place place, std::string_view name) const {
    Match best;
    by_name_.each(name, [&](std::size_t position, Digits digits) {
      const RawName& raw = names_[position];
      if (raw.place != place || (raw.driver != driver && raw.driver != Driver::kAny)) return false;
      const Match found = match(position, name, digits);
      if (!found) return false;
      best = found;
      return raw.driver == driver;
    });
    if (!best && driver == Driver::kRxe && place == Place::kEthtool) return find_of_parent(name);
    return best;
  }

  /// Soft-RoCE runs on a NIC of any driver, whose names these are. One that two drivers use for
  /// different counters is not taken.
  [[nodiscard]] Match find_of_parent(std::string_view name) const {
    Match best;
    bool is_ambiguous = false;
    by_name_.each(name, [&](std::size_t position, Digits digits) {
      if (names_[position].place != Place::kEthtool) return false;
      const Match found = match(position, name, digits);
      if (!found) return false;
      is_ambiguous = best && best.counter != found.counter;
      best = found;
      return is_ambiguous;
    });
    return is_ambiguous ? Match{} : best;
  }

  [[nodiscard]] std::vector<Match> find_anywhere(std::string_view name) const {
    std::vector<Match> found;
    by_name_.each(name, [&](std::size_t position, Digits digits) {
      if (const Match found_match = match(position, name, digits)) found.push_back(found_match);
      return false;
    });
    sort_by_driver(found);
    return found;
  }

  [[nodiscard]] const Counter& counter_of(std::size_t position) const {
    return counters_[counter_of_[position]];
  }

 private:
  Index() {
    for (const auto table :
         {rdma_meanings(), port_meanings(), vendor_meanings(), switch_meanings()})
      counters_.insert(counters_.end(), table.begin(), table.end());
    std::sort(counters_.begin(), counters_.end(),
              [](const Counter& a, const Counter& b) { return a.id < b.id; });
    for (const Counter& counter : counters_)
      by_id_.emplace(counter.id, &counter);
    for (const auto table : name_tables())
      names_.insert(names_.end(), table.begin(), table.end());
    // Stable, so that the first name of a driver stays the one its table lists first.
    std::stable_sort(names_.begin(), names_.end(), [](const RawName& a, const RawName& b) {
      return std::tie(a.id, a.driver) < std::tie(b.id, b.driver);
    });
    by_name_.reserve(names_.size());
    for (std::size_t i = 0; i < names_.size(); ++i) {
      const Counter* counter = find(names_[i].id);
      WEIR_CHECK(counter != nullptr);
      counter_of_.push_back(static_cast<std::uint16_t>(counter - counters_.data()));
      by_name_.insert(names_[i].pattern, i);
    }
  }

  static std::string_view id_of(const RawName& name) { return name.id; }
  static std::string_view id_of(std::string_view id) { return id; }

  std::vector<Counter> counters_;  // by id
  std::unordered_map<std::string_view, const Counter*> by_id_;
  std::vector<RawName> names_;             // by id, then driver
  std::vector<std::uint16_t> counter_of_;  // beside names_
  NameTable by_name_;
};

/// What people write, for resolve(): apart from the index, because a sampler never asks for it.
class LooseIndex {
 public:
  static const LooseIndex& get() {
    static const LooseIndex index;
    return index;
  }

  /// Raw names that differ from `fold` in case and punctuation only.
  [[nodiscard]] std::vector<Match> find_folded(std::string_view fold) const {
    std::vector<Match> found;
    by_fold_.each(fold, [&](std::size_t position, Digits digits) {
      if (!spells(folds_[position], fold, digits)) return false;
      const Counter& counter = index_.counter_of(position);
      Match match{&counter, &index_.names()[position], std::nullopt};
      if (!digits.empty()) {
        const auto number = parse_u64(fold.substr(digits.begin, digits.end - digits.begin));
        if (!number || *number >= number_limit(counter.per)) return false;
        match.number = static_cast<unsigned>(*number);
      }
      found.push_back(match);
      return false;
    });
    sort_by_driver(found);
    return found;
  }

  struct AliasMatch {
    const Alias* alias = nullptr;
    std::optional<unsigned> number;
  };
  [[nodiscard]] AliasMatch find_alias(std::string_view fold) const {
    AliasMatch found;
    by_alias_.each(fold, [&](std::size_t position, Digits digits) {
      const Alias& alias = aliases()[position];
      if (!spells(alias.printed, fold, digits)) return false;
      if (!digits.empty()) {
        const auto number = parse_u64(fold.substr(digits.begin, digits.end - digits.begin));
        if (!number || *number >= number_limit(Per::kPriority)) return false;
        found.number = static_cast<unsigned>(*number);
      }
      found.alias = &alias;
      return true;
    });
    return found;
  }

 private:
  LooseIndex() : index_(Index::get()) {
    const auto names = index_.names();
    by_fold_.reserve(names.size());
    for (std::size_t i = 0; i < names.size(); ++i) {
      folds_.push_back(folded(names[i].pattern));
      by_fold_.insert(folds_[i], i);
    }
    by_alias_.reserve(aliases().size());
    for (std::size_t i = 0; i < aliases().size(); ++i)
      by_alias_.insert(aliases()[i].printed, i);
  }

  const Index& index_;
  std::vector<std::string> folds_;  // beside the index's names
  NameTable by_fold_;
  NameTable by_alias_;
};

void add_other(Resolution& resolution, const Counter* counter) {
  if (counter == nullptr || counter == resolution.match.counter) return;
  if (std::find(resolution.others.begin(), resolution.others.end(), counter) ==
      resolution.others.end())
    resolution.others.push_back(counter);
}

std::optional<Resolution> from_matches(std::string_view printed, std::vector<Match> matches,
                                       std::string word) {
  if (matches.empty()) return std::nullopt;
  Resolution resolution{std::string(printed), matches.front(), std::move(word), {}};
  for (const Match& match : matches)
    add_other(resolution, match.counter);
  return resolution;
}

/// A key or a path: ".../hw_counters/np_cnp_sent".
std::optional<Resolution> resolve_key(std::string_view printed) {
  const std::size_t slash = printed.rfind('/');
  if (slash == std::string_view::npos) return std::nullopt;
  std::string_view prefix = printed.substr(0, slash);
  prefix = prefix.substr(prefix.rfind('/') + 1);  // npos + 1 is 0: the whole of it
  const auto place = place_of(prefix);
  if (!place) return std::nullopt;
  std::vector<Match> matches = find_anywhere(printed.substr(slash + 1));
  std::erase_if(matches, [&](const Match& match) { return match.name->place != *place; });
  return from_matches(printed, std::move(matches), "");
}

std::optional<Resolution> resolve_alias(std::string_view printed, std::string_view fold) {
  const auto [alias, number] = LooseIndex::get().find_alias(fold);
  if (alias == nullptr) return std::nullopt;
  const Counter* counter = find(alias->id);
  WEIR_CHECK(counter != nullptr);
  Resolution resolution{
      std::string(printed), {counter, nullptr, number}, std::string(alias->word), {}};
  for (const std::string_view id : split(alias->also, ' '))
    add_other(resolution, find(id));
  return resolution;
}

std::optional<Resolution> resolve_fold(std::string_view printed, std::string_view fold,
                                       std::string_view whose) {
  if (auto alias = resolve_alias(printed, fold)) return alias;
  std::vector<Match> matches = LooseIndex::get().find_folded(fold);
  if (matches.empty()) return std::nullopt;
  const Match& first = matches.front();
  std::string word = std::string(whose) + " `" + spell(*first.name, first.number.value_or(0)) +
                     "` (" + std::string(to_text(first.name->driver)) + ", " +
                     std::string(to_text(first.name->place)) + ").";
  return from_matches(printed, std::move(matches), std::move(word));
}

/// Without what exporters add: "rdma_np_cnp_sent_total" is "np_cnp_sent".
std::string_view without_suffix(std::string_view fold) {
  constexpr std::string_view kTotal = "_total";
  if (fold.ends_with(kTotal)) fold.remove_suffix(kTotal.size());
  return fold;
}
std::string_view without_prefix(std::string_view fold) {
  for (const std::string_view prefix :
       {"node_infiniband_", "node_network_", "node_ethtool_", "infiniband_", "rdma_", "ethtool_"}) {
    if (fold.starts_with(prefix)) {
      fold.remove_prefix(prefix.size());
      break;
    }
  }
  return fold;
}

}  // namespace

std::string_view to_text(Kind kind) {
  return name_in(kKinds, kind);
}
std::string_view to_text(Unit unit) {
  return name_in(kUnitWords, unit);
}
std::string_view to_text(Topic topic) {
  return name_in(kTopics, topic);
}
std::string_view to_text(Side side) {
  return name_in(kSides, side);
}
std::string_view to_text(Per per) {
  return name_in(kPers, per);
}
std::string_view to_text(Place place) {
  return name_in(kPlaces, place);
}

std::optional<Place> place_of(std::string_view prefix) {
  for (std::size_t i = 0; i < kPlaces.size(); ++i) {
    if (kPlaces[i] == prefix) return static_cast<Place>(i);
  }
  return std::nullopt;
}

std::span<const Counter> catalog() {
  return Index::get().counters();
}

const Counter* find(std::string_view id) {
  return Index::get().find(id);
}

std::span<const RawName> names_of(const Counter& counter) {
  return Index::get().names_of(counter);
}

const RawName* name_for(const Counter& counter, Driver driver) {
  const RawName* best = nullptr;
  const auto rank = [driver](const RawName& name) {
    return std::make_tuple(!name.condition.empty(), name.driver != driver);
  };
  for (const RawName& name : names_of(counter)) {
    if (name.driver != driver && name.driver != Driver::kAny) continue;
    if (best == nullptr || rank(name) < rank(*best)) best = &name;
  }
  return best;
}

std::string spell(const RawName& name, unsigned number) {
  const std::size_t mark = name.pattern.find('#');
  if (mark == std::string_view::npos) return std::string(name.pattern);
  return std::string(name.pattern.substr(0, mark)) + std::to_string(number) +
         std::string(name.pattern.substr(mark + 1));
}

Unit unit_of(const Match& match) {
  WEIR_CHECK(match.name != nullptr);
  return match.name->unit.value_or(match.counter->unit);
}

Match find_raw(Driver driver, Place place, std::string_view raw) {
  return Index::get().find_raw(driver, place, raw);
}

Match find_key(Driver driver, std::string_view key) {
  const std::size_t slash = key.find('/');
  if (slash == std::string_view::npos) return {};
  const auto place = place_of(key.substr(0, slash));
  if (!place) return {};
  return find_raw(driver, *place, key.substr(slash + 1));
}

std::vector<Match> find_anywhere(std::string_view raw) {
  return Index::get().find_anywhere(raw);
}

std::optional<Resolution> resolve(std::string_view printed) {
  printed = trim(printed);
  if (printed.empty()) return std::nullopt;
  if (const Counter* counter = find(printed))
    return Resolution{std::string(printed), {counter, nullptr, std::nullopt}, "", {}};
  if (auto key = resolve_key(printed)) return key;
  if (auto raw = from_matches(printed, find_anywhere(printed), "")) return raw;
  const std::string fold = folded(printed);
  if (auto near = resolve_fold(printed, fold, "The driver spells it")) return near;
  constexpr std::string_view kExporter = "An exporter's name for";
  const std::string_view metric = without_suffix(fold);
  if (metric != fold) {
    if (auto found = resolve_fold(printed, metric, kExporter)) return found;
  }
  const std::string_view bare = without_prefix(metric);
  if (bare == fold) return std::nullopt;
  return resolve_fold(printed, bare, kExporter);
}

std::vector<std::string> every_name() {
  std::vector<std::string> names;
  for (const Counter& counter : catalog())
    names.emplace_back(counter.id);
  // Priority 3 is RoCE's by convention, so the number a typist most likely meant.
  for (const RawName& name : Index::get().names())
    names.push_back(spell(name, 3));
  return names;
}

}  // namespace weir::counters

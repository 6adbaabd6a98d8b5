#include "counters/layout.h"

#include <algorithm>
#include <numeric>
#include <tuple>

namespace weir::counters {

std::string ShownName::key() const {
  return std::string(to_text(place)) + "/" + name;
}

Layout::Layout(std::vector<ShownName> names) : names_(std::move(names)) {
  std::vector<std::uint32_t> known;
  for (std::uint32_t i = 0; i < names_.size(); ++i)
    if (names_[i].match) known.push_back(i);
  const auto row_of = [&](std::uint32_t at) {
    return Row{names_[at].match.counter, names_[at].match.number};
  };
  std::stable_sort(known.begin(), known.end(),
                   [&](std::uint32_t a, std::uint32_t b) { return row_of(a) < row_of(b); });
  rows_.reserve(known.size());
  for (const std::uint32_t at : known)
    rows_.push_back(row_of(at));
  positions_ = std::move(known);
}

std::optional<std::size_t> Layout::find(Place place, std::string_view name) const {
  const std::tuple<Place, std::string_view> wanted(place, name);
  const auto at = std::lower_bound(
      names_.begin(), names_.end(), wanted, [](const ShownName& shown, const auto& key) {
        return std::tuple<Place, std::string_view>(shown.place, shown.name) < key;
      });
  if (at == names_.end() || at->place != place || at->name != name) return std::nullopt;
  return static_cast<std::size_t>(at - names_.begin());
}

std::span<const std::uint32_t> Layout::find(std::string_view id,
                                            std::optional<unsigned> number) const {
  const Counter* const counter = counters::find(id);
  if (counter == nullptr) return {};
  const auto [first, last] = std::equal_range(rows_.begin(), rows_.end(), Row{counter, number});
  return std::span(positions_)
      .subspan(static_cast<std::size_t>(first - rows_.begin()),
               static_cast<std::size_t>(last - first));
}

std::span<const std::uint32_t> Layout::find_all(std::string_view id) const {
  const Counter* const counter = counters::find(id);
  if (counter == nullptr) return {};
  const auto first = std::lower_bound(rows_.begin(), rows_.end(), Row{counter, std::nullopt});
  const auto last =
      std::find_if(first, rows_.end(), [&](const Row& row) { return row.counter != counter; });
  return std::span(positions_)
      .subspan(static_cast<std::size_t>(first - rows_.begin()),
               static_cast<std::size_t>(last - first));
}

bool Layout::has_same_names(const Layout& other) const {
  return this == &other ||
         std::equal(names_.begin(), names_.end(), other.names_.begin(), other.names_.end(),
                    [](const ShownName& a, const ShownName& b) {
                      return a.place == b.place && a.name == b.name;
                    });
}

}  // namespace weir::counters

#pragma once
// The names that a port shows. A fabric has many ports and few kinds of them: ports that show the
// same names share one layout, and each keeps its readings alone.
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "counters/catalog.h"

namespace weir::counters {

struct ShownName {
  Place place = Place::kHwCounters;
  std::string name;  // raw, as the driver spells it
  Match match = {};  // empty for a name the catalogue does not know

  [[nodiscard]] std::string key() const;  // "hw_counters/np_cnp_sent"
};

/// Immutable. By place and name, each once.
class Layout {
 public:
  Layout() = default;
  /// REQUIRES: `names` are sorted by place and name, each once.
  explicit Layout(std::vector<ShownName> names);

  [[nodiscard]] std::span<const ShownName> names() const { return names_; }
  [[nodiscard]] std::size_t size() const { return names_.size(); }
  [[nodiscard]] const ShownName& operator[](std::size_t at) const { return names_[at]; }

  [[nodiscard]] std::optional<std::size_t> find(Place place, std::string_view name) const;
  /// Where the names of this catalogue row stand, with this priority, queue … or without one.
  [[nodiscard]] std::span<const std::uint32_t> find(std::string_view id,
                                                    std::optional<unsigned> number) const;

  /// The same for every number.
  [[nodiscard]] std::span<const std::uint32_t> find_all(std::string_view id) const;

  [[nodiscard]] bool has_same_names(const Layout& other) const;

 private:
  struct Row {
    const Counter* counter = nullptr;
    std::optional<unsigned> number;
    friend auto operator<=>(const Row&, const Row&) = default;
  };
  std::vector<ShownName> names_;
  std::vector<Row> rows_;                 // sorted
  std::vector<std::uint32_t> positions_;  // beside rows_
};

using SharedLayout = std::shared_ptr<const Layout>;

}  // namespace weir::counters

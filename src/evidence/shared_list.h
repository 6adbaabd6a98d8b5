#pragma once
// A list whose copies share their elements until one of them is changed. For lists that thousands
// of things have alike (the queues of the ports of a fabric) and that are hardly ever changed.
//
// Reading never copies. What changes it (edit() and what is named as in std::vector) first makes a
// copy of its own where others share it; references from before are those of the others then.
#include <cstddef>
#include <initializer_list>
#include <memory>
#include <utility>
#include <vector>

namespace weir::evidence {

template <class T>
class SharedList {
 public:
  using value_type = T;
  using const_iterator = typename std::vector<T>::const_iterator;

  SharedList() = default;
  SharedList(std::initializer_list<T> items) : items_(std::make_shared<std::vector<T>>(items)) {}
  // Implicit: a list is what it is made of.
  // NOLINTNEXTLINE(google-explicit-constructor)
  SharedList(std::vector<T> items) : items_(std::make_shared<std::vector<T>>(std::move(items))) {}

  [[nodiscard]] const std::vector<T>& get() const {
    static const std::vector<T> kNone;
    return items_ == nullptr ? kNone : *items_;
  }
  [[nodiscard]] const_iterator begin() const { return get().begin(); }
  [[nodiscard]] const_iterator end() const { return get().end(); }
  [[nodiscard]] std::size_t size() const { return get().size(); }
  [[nodiscard]] bool empty() const { return get().empty(); }
  [[nodiscard]] const T& operator[](std::size_t at) const { return get()[at]; }
  [[nodiscard]] const T& front() const { return get().front(); }

  /// Its own elements, to be changed.
  [[nodiscard]] std::vector<T>& edit() {
    if (items_ == nullptr) {
      items_ = std::make_shared<std::vector<T>>();
    } else if (items_.use_count() > 1) {
      items_ = std::make_shared<std::vector<T>>(*items_);
    }
    return *items_;
  }
  [[nodiscard]] T& operator[](std::size_t at) { return edit()[at]; }
  void push_back(T item) { edit().push_back(std::move(item)); }
  T& emplace_back() { return edit().emplace_back(); }
  [[nodiscard]] T& back() { return edit().back(); }

  friend bool operator==(const SharedList& a, const SharedList& b) {
    return a.items_ == b.items_ || a.get() == b.get();
  }

 private:
  std::shared_ptr<std::vector<T>> items_;
};

}  // namespace weir::evidence

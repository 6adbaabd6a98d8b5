#pragma once
// The index spaces of a simulation. An id is a place in one table and in no other: a port where a
// node is expected does not compile. Each is a std::uint32_t and costs nothing more.
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <type_traits>
#include <vector>

namespace weir::sim {

enum class NodeId : std::uint32_t {};     // Network::nodes
enum class LinkId : std::uint32_t {};     // Network::links
enum class QpId : std::uint32_t {};       // Network::qps
enum class MessageId : std::uint32_t {};  // Sim::messages(): those of the network come first
enum class PortId : std::uint32_t {};     // all ports of all nodes, node by node
enum class FrameId : std::uint32_t {};    // PacketPool: a frame that waits

template <class Id>
concept IndexId = std::is_enum_v<Id> && std::same_as<std::underlying_type_t<Id>, std::uint32_t>;

template <IndexId Id>
constexpr std::uint32_t to_index(Id id) {
  return static_cast<std::uint32_t>(id);
}

template <IndexId Id>
constexpr Id to_id(std::size_t index) {
  return Id{static_cast<std::uint32_t>(index)};
}

/// Stands for "none" in fields that may have none.
template <IndexId Id>
inline constexpr Id kNo = Id{0xFFFFFFFFU};

template <IndexId Id>
constexpr Id operator+(Id id, std::uint32_t offset) {
  return Id{to_index(id) + offset};
}

/// How many ids lie between two of one table.
template <IndexId Id>
constexpr std::uint32_t operator-(Id id, Id first) {
  return to_index(id) - to_index(first);
}

/// The ids from `first` up to `last`, for a range-based for.
template <IndexId Id>
class IdRange {
 public:
  class Iterator {
   public:
    constexpr explicit Iterator(std::uint32_t at) : at_(at) {}
    constexpr Id operator*() const { return Id{at_}; }
    constexpr Iterator& operator++() {
      ++at_;
      return *this;
    }
    friend constexpr bool operator==(Iterator, Iterator) = default;

   private:
    std::uint32_t at_;
  };

  constexpr IdRange(Id first, Id last) : first_(to_index(first)), last_(to_index(last)) {}
  [[nodiscard]] constexpr Iterator begin() const { return Iterator(first_); }
  [[nodiscard]] constexpr Iterator end() const { return Iterator(last_); }

 private:
  std::uint32_t first_;
  std::uint32_t last_;
};

/// A table that another one owns and that stays where it is; only its own ids index it.
template <IndexId Id, class T>
class View {
 public:
  View() = default;
  View(T* data, std::size_t size) : data_(data), size_(size) {}
  template <class Owner>
  explicit View(Owner& owner) : data_(owner.data()), size_(owner.size()) {}
  [[nodiscard]] T& operator[](Id id) const { return data_[to_index(id)]; }
  [[nodiscard]] T* data() const { return data_; }
  [[nodiscard]] T* begin() const { return data_; }
  [[nodiscard]] T* end() const { return data_ + size_; }
  [[nodiscard]] std::size_t size() const { return size_; }
  [[nodiscard]] bool empty() const { return size_ == 0; }
  [[nodiscard]] bool contains(Id id) const { return to_index(id) < size_; }
  [[nodiscard]] Id end_id() const { return to_id<Id>(size_); }
  [[nodiscard]] IdRange<Id> ids() const { return {Id{0}, end_id()}; }

 private:
  T* data_ = nullptr;
  std::size_t size_ = 0;
};

/// A vector that only its own ids index.
template <IndexId Id, class T>
class Table : public std::vector<T> {
  using Base = std::vector<T>;

 public:
  using Base::Base;
  [[nodiscard]] T& operator[](Id id) { return Base::operator[](to_index(id)); }
  [[nodiscard]] const T& operator[](Id id) const { return Base::operator[](to_index(id)); }
  [[nodiscard]] bool contains(Id id) const { return to_index(id) < Base::size(); }
  /// One past the last: what the next push_back() gets.
  [[nodiscard]] Id end_id() const { return to_id<Id>(Base::size()); }
  [[nodiscard]] IdRange<Id> ids() const { return {Id{0}, end_id()}; }
};

}  // namespace weir::sim

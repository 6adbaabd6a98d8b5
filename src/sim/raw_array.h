#pragma once
// Memory for trivially copyable things that are always written before they are read. Unlike a
// vector it touches nothing at set-up, so a generous bound costs address space and no pages.
#include <cstddef>
#include <memory>
#include <type_traits>
#include <utility>

namespace weir::sim {

template <class T>
class RawArray {
  static_assert(std::is_trivially_copyable_v<T>);

 public:
  RawArray() = default;
  explicit RawArray(std::size_t count)
      : data_(std::allocator<T>().allocate(count)), count_(count) {}
  RawArray(RawArray&& other) noexcept : data_(other.data_), count_(other.count_) {
    other.data_ = nullptr;
    other.count_ = 0;
  }
  RawArray& operator=(RawArray&& other) noexcept {
    std::swap(data_, other.data_);
    std::swap(count_, other.count_);
    return *this;
  }
  RawArray(const RawArray&) = delete;
  RawArray& operator=(const RawArray&) = delete;
  ~RawArray() {
    if (data_ != nullptr) std::allocator<T>().deallocate(data_, count_);
  }
  T& operator[](std::size_t i) { return data_[i]; }
  const T& operator[](std::size_t i) const { return data_[i]; }

 private:
  T* data_ = nullptr;
  std::size_t count_ = 0;
};

}  // namespace weir::sim

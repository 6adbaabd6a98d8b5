#pragma once
// Memory for trivially copyable things that are written before they are read, or begin as zeros.
// Unlike a vector it touches nothing at set-up, so a generous bound, or a counter that nothing
// counts, costs address space and no pages.
//
// The bounds of a large fabric add up to more than the machine has (every switch full of the
// smallest frames), so large arrays are mapped without a reservation: the kernel does not promise
// memory for what will not be touched.
#include <cstddef>
#include <new>  // IWYU pragma: keep
#include <type_traits>
#include <utility>

#include <sys/mman.h>

namespace weir::sim {

template <class T>
class RawArray {
  static_assert(std::is_trivially_copyable_v<T>);

 public:
  RawArray() = default;
  explicit RawArray(std::size_t count) : count_(count) {
    if (count == 0) return;
    void* const memory = mmap(nullptr, count * sizeof(T), PROT_READ | PROT_WRITE,
                              MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    // As a vector does; cli/frame/run.cc says it.
    if (memory == MAP_FAILED) std::__throw_bad_alloc();
    data_ = static_cast<T*>(memory);
  }
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
    if (data_ != nullptr) munmap(data_, count_ * sizeof(T));
  }
  [[nodiscard]] T* data() const { return data_; }
  [[nodiscard]] std::size_t size() const { return count_; }
  T& operator[](std::size_t i) { return data_[i]; }
  const T& operator[](std::size_t i) const { return data_[i]; }

 private:
  T* data_ = nullptr;
  std::size_t count_ = 0;
};

}  // namespace weir::sim

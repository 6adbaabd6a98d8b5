#pragma once
// An open file, directory or socket that is closed with its owner (in file.cc).

namespace weir {

/// Keeps errno when it closes, so that a caller may still report what went wrong.
class OwnedDescriptor {
 public:
  OwnedDescriptor() = default;
  explicit OwnedDescriptor(int number) : number_(number) {}
  OwnedDescriptor(OwnedDescriptor&& other) noexcept;
  OwnedDescriptor& operator=(OwnedDescriptor&& other) noexcept;
  OwnedDescriptor(const OwnedDescriptor&) = delete;
  OwnedDescriptor& operator=(const OwnedDescriptor&) = delete;
  ~OwnedDescriptor();
  [[nodiscard]] int get() const { return number_; }
  /// Whoever calls closes it.
  [[nodiscard]] int release();

 private:
  int number_ = -1;
};

}  // namespace weir

#include "base/owned_descriptor.h"

#include <cerrno>
#include <utility>

#include <unistd.h>

namespace weir {

OwnedDescriptor::OwnedDescriptor(OwnedDescriptor&& other) noexcept
    : number_(std::exchange(other.number_, -1)) {}

OwnedDescriptor& OwnedDescriptor::operator=(OwnedDescriptor&& other) noexcept {
  std::swap(number_, other.number_);
  return *this;
}

OwnedDescriptor::~OwnedDescriptor() {
  const int saved = errno;
  if (number_ >= 0) ::close(number_);
  errno = saved;
}

int OwnedDescriptor::release() {
  return std::exchange(number_, -1);
}

}  // namespace weir

#pragma once
// A path in memory for readers that take a file, one per process.
#include <filesystem>
#include <string>
#include <string_view>
#include <system_error>

#include <unistd.h>

namespace weir {

inline std::string scratch_path(std::string_view name) {
  const std::filesystem::path shm = "/dev/shm";
  std::error_code error;
  const std::filesystem::path parent =
      std::filesystem::is_directory(shm, error) ? shm : std::filesystem::temp_directory_path();
  return parent / ("weir-fuzz-" + std::string(name) + "-" + std::to_string(::getpid()));
}

}  // namespace weir

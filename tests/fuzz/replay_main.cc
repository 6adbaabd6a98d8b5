// Feeds every file of a folder to a fuzz target: the corpus as an ordinary test.
#include <algorithm>
#include <cstdint>
#include <filesystem>
#include <iostream>
#include <string>
#include <vector>

#include "base/file.h"

// NOLINTNEXTLINE(readability-identifier-naming): libFuzzer's name
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size);

int main(int argc, char** argv) {
  if (argc != 2) {
    std::cerr << "usage: " << argv[0] << " FOLDER\n";
    return 2;
  }
  std::vector<std::string> files;
  std::error_code error;
  for (const auto& entry : std::filesystem::directory_iterator(argv[1], error))
    files.push_back(entry.path().string());
  if (error || files.empty()) {
    std::cerr << argv[1] << ": no corpus\n";
    return 1;
  }
  std::sort(files.begin(), files.end());
  for (const std::string& file : files) {
    std::cout << file << std::endl;  // flushed: the last line names the file that crashed
    const auto text = weir::read_file(file);
    if (!text) {
      std::cerr << text.error().what << "\n";
      return 1;
    }
    LLVMFuzzerTestOneInput(reinterpret_cast<const std::uint8_t*>(text->data()), text->size());
  }
  std::cout << files.size() << " inputs replayed\n";
  return 0;
}

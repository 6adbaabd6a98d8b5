// Writes drawn captures for tools that read files: draw_captures FOLDER COUNT SEED [FRAMES].
#include <cstdlib>
#include <iostream>
#include <string>

#include <fmt/format.h>

#include "base/file.h"
#include "base/text.h"
#include "wire/drawn_capture.h"

int main(int argc, char** argv) {
  if (argc < 4) {
    std::cerr << "usage: draw_captures FOLDER COUNT SEED [FRAMES]\n";
    return 2;
  }
  const std::uint64_t count = weir::parse_u64(argv[2]).value();
  const std::uint64_t seed = weir::parse_u64(argv[3]).value();
  const std::uint64_t frames = argc > 4 ? weir::parse_u64(argv[4]).value() : 400;
  for (std::uint64_t i = 0; i < count; ++i) {
    weir::wire::CaptureDrawer drawer(seed, i);
    const std::vector<std::uint8_t> bytes = drawer.draw(frames);
    const std::string path = fmt::format("{}/drawn-{:03}.cap", argv[1], i);
    const std::string text(bytes.begin(), bytes.end());
    if (const weir::Status written = weir::write_file_atomic(path, text); !written) {
      std::cerr << written.error().what << '\n';
      return 1;
    }
  }
  return 0;
}

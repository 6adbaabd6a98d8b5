// Renders drawn designs for the systems whose makers publish YANG: render_drawn COUNT FOLDER
#include <cstdlib>
#include <iostream>
#include <string>

#include <fmt/format.h>

#include "base/file.h"
#include "base/text.h"
#include "design/fabric/intent.h"
#include "design/file/drawn_design.h"
#include "design/file/load.h"
#include "platforms/common/platform.h"

namespace {

int fail(const std::string& why) {
  std::cerr << "render_drawn: " << why << '\n';
  return EXIT_FAILURE;
}

}  // namespace

int main(int argc, char** argv) {
  using namespace weir;
  const auto count = parse_u64(argc == 3 ? argv[1] : "");
  if (!count) return fail("usage: render_drawn COUNT FOLDER");
  for (const auto system : {design::SwitchSystem::kSonic, design::SwitchSystem::kJunos}) {
    for (std::uint64_t seed = 1; seed <= *count; ++seed) {
      const design::Loaded loaded =
          design::load_text(design::drawn_design(seed, system), fmt::format("seed {}", seed));
      if (!loaded.is_good()) return fail(design::to_text(loaded));
      const design::Derived derived = design::derive(loaded.design);
      for (const auto* const node :
           {&derived.intent.switches.front(), &derived.intent.switches.back()}) {
        const auto rendered = platforms::platform_of(system).render(derived.intent, *node);
        const auto& file = rendered.files.front();
        const auto written =
            write_file_atomic(fmt::format("{}/seed{}-{}", argv[2], seed, file.name), file.text);
        if (!written) return fail(written.error().what);
      }
    }
  }
  return EXIT_SUCCESS;
}

#include "readers/readers.h"

#include <algorithm>
#include <array>

#include <fmt/format.h>

#include "base/text.h"
#include "readers/switches/switch_show.h"
#include "vocab/switch_systems.h"

namespace weir::readers {
namespace {

constexpr auto kReaders = std::to_array<Reader>({
    {vocab::names_of(vocab::SwitchSystem::kSonic).show_reader, "output of SONiC's show commands",
     recognises_sonic_show, read_sonic_show},
    {vocab::names_of(vocab::SwitchSystem::kCumulus).show_reader, "output of Cumulus' nv show",
     recognises_cumulus_show, read_cumulus_show},
    {vocab::names_of(vocab::SwitchSystem::kEos).show_reader, "output of Arista EOS' show commands",
     recognises_eos_show, read_eos_show},
    {vocab::names_of(vocab::SwitchSystem::kNxos).show_reader,
     "output of Cisco NX-OS' show commands", recognises_nxos_show, read_nxos_show},
    {vocab::names_of(vocab::SwitchSystem::kJunos).show_reader, "output of Junos' show commands",
     recognises_junos_show, read_junos_show},
});

}  // namespace

std::span<const Reader> readers() {
  return kReaders;
}

const Reader* recognise(std::string_view text) {
  const auto found = std::find_if(kReaders.begin(), kReaders.end(),
                                  [&](const Reader& reader) { return reader.recognises(text); });
  return found == kReaders.end() ? nullptr : &*found;
}

Result<Recognised> read_text(std::string_view text, std::string_view file) {
  const Reader* const reader = recognise(text);
  if (reader == nullptr) {
    std::vector<std::string> titles;
    for (const Reader& item : kReaders)
      titles.emplace_back(item.title);
    return Error{ErrorCode::kUnsupported, fmt::format("{}: not a text that can be read; known are: "
                                                      "{}",
                                                      file, join(titles, "; "))};
  }
  return reader->read(text, file);
}

}  // namespace weir::readers

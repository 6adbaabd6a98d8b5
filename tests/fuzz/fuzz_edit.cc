// Values that weir puts into a design file of a user: `weir tune` and `weir calibrate` write the
// design anew. Whatever the file looks like, either it is refused, or the new text is YAML that
// says the new value (which need not fit the others: loading says that), and is the user's but for
// one place.
#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "base/check.h"
#include "base/text.h"
#include "design/file/edit.h"
#include "design/file/load.h"
#include "design/file/yaml_document.h"

namespace weir::design {
namespace {

constexpr const char* kFile = "fuzz.yaml";

const std::array<ValueEdit, 5> kEdits = {{{"wred.min", "77KB", ""},
                                          {"wred.max", "7MB", "why it is so"},
                                          {"dcqcn.rpg_time_reset", "75us", "bought 1 %"},
                                          {"dcqcn.rpg_ai_rate", "10Mbps", ""},
                                          {"buffers.alpha", "1/4", ""}}};

/// All that was there but one value: what is the same at both ends leaves a piece of the old text
/// that is a single value at most.
void check_rest(std::string_view before, std::string_view after) {
  const auto head = std::mismatch(before.begin(), before.end(), after.begin(), after.end());
  const auto same = static_cast<std::size_t>(head.first - before.begin());
  const std::string_view old_rest = before.substr(same);
  const std::string_view new_rest = after.substr(same);
  const auto tail =
      std::mismatch(old_rest.rbegin(), old_rest.rend(), new_rest.rbegin(), new_rest.rend());
  const std::string_view gone = old_rest.substr(
      0, old_rest.size() - static_cast<std::size_t>(tail.first - old_rest.rbegin()));
  WEIR_CHECK(gone.find('\n') == std::string_view::npos && gone.find('#') == std::string_view::npos);
}

void check_edit(std::string_view text, const ValueEdit& edit) {
  const auto after = edited(text, {edit});
  if (!after) {
    WEIR_CHECK(!after.error().what.empty());
    return;
  }
  if (edit.comment.empty()) check_rest(text, *after);
  const YamlDocument document = parse_yaml(*after);
  WEIR_CHECK(document.errors.empty());
  const std::string section = edit.path.substr(0, edit.path.find('.'));
  bool is_there = false;
  for (const YamlEntry& entry : document.root.entries)
    if (entry.key == section)
      for (const YamlEntry& value : entry.value.entries)
        is_there = is_there || value.value.scalar == edit.value;
  WEIR_CHECK(is_there);
}

}  // namespace
}  // namespace weir::design

// NOLINTNEXTLINE(readability-identifier-naming): libFuzzer's name
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace weir::design;
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  if (!load_text(text, kFile).is_good()) return 0;  // edited() is for a design that loads
  for (const ValueEdit& edit : kEdits)
    check_edit(text, edit);
  const auto all = edited(text, {kEdits.begin(), kEdits.end()});
  if (all) WEIR_CHECK(parse_yaml(*all).errors.empty());
  return 0;
}

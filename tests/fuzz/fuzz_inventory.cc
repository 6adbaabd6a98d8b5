// Lists of hosts that other programs keep: inventories of Ansible and NetBox, and the group files
// of ClusterShell. Every name that is taken may be handed to ssh, every group ends, and the sum of
// what is made is bounded by the size of the text.
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "base/check.h"
#include "base/hosts/host_set.h"
#include "base/untrusted/name_policy.h"
#include "readers/inventory/inventory.h"

namespace weir::readers {
namespace {

template <typename Read>
void check_error(const Result<Read>& read) {
  if (!read) WEIR_CHECK(!read.error().what.empty());
}

void check_inventory(std::string_view text) {
  const auto read = parse_inventory(text);
  check_error(read);
  if (!read) return;
  WEIR_CHECK(!read->hosts.empty() && read->hosts.size() <= kMostHosts);
  for (const InventoryHost& host : read->hosts) {
    WEIR_CHECK(!wrong_name(NameKind::kHost, host.name));
    if (!host.address.empty()) WEIR_CHECK(check_destination(host.address).has_value());
    if (!host.user.empty()) WEIR_CHECK(!wrong_name(NameKind::kWord, host.user));
    WEIR_CHECK(host.port <= 65535);
  }
  constexpr std::size_t kMostGroups = 100;  // of one input: all of them are the square of it
  std::size_t groups = 0;
  for (const auto& [name, group] : read->groups) {
    if (++groups > kMostGroups) break;
    const auto hosts = read->hosts_of(name);
    WEIR_CHECK(hosts && hosts->size() <= read->hosts.size());
  }
}

}  // namespace
}  // namespace weir::readers

// NOLINTNEXTLINE(readability-identifier-naming): libFuzzer's name
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  weir::readers::check_inventory(text);
  weir::readers::check_error(weir::readers::parse_group_yaml(text));
  weir::readers::check_error(weir::readers::parse_group_lines(text));
  weir::readers::check_error(weir::readers::parse_group_settings(text));
  return 0;
}

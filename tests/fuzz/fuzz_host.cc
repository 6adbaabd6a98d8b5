// Everything that reads what a kernel or a capture says: any bytes may come, none may crash, and
// what a capture's writer wrote its reader reads.
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "base/check.h"
#include "host/bundle/bundle.h"
#include "host/bundle/bundle_names.h"
#include "host/bundle/pseudonym.h"
#include "host/kernel/capture.h"
#include "host/kernel/netlink.h"
#include "host/linux/dcb.h"
#include "host/linux/ethtool.h"
#include "host/linux/host.h"
#include "host/linux/lldp.h"
#include "host/linux/machine_counters.h"
#include "host/linux/nic.h"
#include "host/linux/pci.h"
#include "host/linux/text.h"

namespace weir::host {
namespace {

void read_texts(std::string_view text) {
  (void)parse_number(text);
  (void)parse_port_active(text);
  (void)parse_speed(text);
  (void)parse_port_rate(text);
  (void)parse_pci_speed(text);
  (void)parse_cpu_list(text);
  (void)parse_traffic_class(text);
  (void)parse_buffer_table(text);
  (void)parse_priority_to_buffer(text);
  (void)parse_max_rates(text);
  (void)parse_memlock(text);
  (void)parse_os_release(text);
  (void)parse_modules(text);
  (void)parse_colon_value(text, "Model");
  (void)ipv4_of_gid(text);
  (void)parse_pci_path(text);
  (void)parse_nccl_conf(text);
  (void)parse_processor_time(text);
  (void)parse_protocol_counter(text, "Tcp:", "RetransSegs");
  (void)parse_gpu_busy(text);
  (void)parse_gid(text);
}

void read_bytes(std::string_view bytes) {
  (void)parse_dcb(bytes);
  (void)parse_family(bytes);
  (void)parse_address(bytes);
  (void)parse_device_control(bytes);
  (void)parse_acs_redirect(bytes);
  (void)parse_link_statistics(bytes);
  (void)parse_lldp_frame(bytes);
  if (const auto neighbours = parse_networkd_lldp(bytes)) {
    const auto again = parse_networkd_lldp(networkd_lldp_file(*neighbours));
    WEIR_CHECK(again.has_value() && again->size() == neighbours->size());
  }
  Conversation talk;
  talk.take(bytes, std::nullopt);
  (void)std::move(talk).answer();
}

void read_captures(std::string_view text) {
  (void)parse_ethtool_text(text);
  if (const auto tree = parse_tree(text)) {
    std::string again;
    for (const auto& [path, node] : tree->nodes)
      again += tree_line(path, node);
    const auto read_again = parse_tree(again);
    WEIR_CHECK(read_again.has_value() && read_again->nodes == tree->nodes);
  }
  if (const auto talks = parse_hex(text)) {
    std::string again;
    for (const CapturedTalk& talk : *talks)
      again += hex_text(talk);
    const auto read_again = parse_hex(again);
    WEIR_CHECK(read_again.has_value() && *read_again == *talks);
  }
}

/// A bundle that reads is one that can be written, given other names, and looked at.
void read_bundle(std::string_view text) {
  auto bundle = parse_bundle(text);
  if (!bundle) return;
  const std::string written = bundle_text(*bundle);
  const auto again = parse_bundle(written);
  WEIR_CHECK(again.has_value() && bundle_text(*again) == written);
  pseudonymise(*bundle, Pseudonyms());
  const auto host = open_bundle(bundle_text(*bundle), "fuzz");
  WEIR_CHECK(host.has_value());
  (void)(*host)->observe();
}

}  // namespace
}  // namespace weir::host

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view input(reinterpret_cast<const char*>(data), size);
  weir::host::read_texts(input);
  weir::host::read_bytes(input);
  weir::host::read_captures(input);
  weir::host::read_bundle(input);
  return 0;
}

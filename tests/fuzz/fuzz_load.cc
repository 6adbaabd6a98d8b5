// What programs under `weir verify` print, and what comes back for a probe: any bytes may come,
// none may crash, and no sum may be negative.
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "base/check.h"
#include "base/untrusted/quote.h"
#include "host/probe/load_report.h"
#include "host/probe/probe_socket.h"
#include "host/probe/remote.h"

namespace weir::host {
namespace {

void read_all(const std::string& text) {
  for (const char* command : {"ib_write_bw -D 10 --report_gbits gpu02", "ib_write_lat", "train"}) {
    std::vector<std::string> words;
    for (std::size_t at = 0; at < std::string_view(command).size();) {
      const std::size_t end = std::string_view(command).find(' ', at);
      words.emplace_back(std::string_view(command).substr(at, end - at));
      if (end == std::string_view::npos) break;
      at = end + 1;
    }
    const LoadReport report =
        read_load(words, {.exit_status = 0, .output = text, .errors = text, .elapsed = {}});
    WEIR_CHECK(!report.expected || report.expected->raw() >= 0);
    for (const LatencyRow& row : report.perftest.latency)
      WEIR_CHECK(row.average.raw() >= 0);
    (void)report.lines();
  }
  (void)perftest_command({text});
  (void)perftest_command({"ib_write_bw", text});
  WEIR_CHECK(!shell_word(text).empty());
}

}  // namespace
}  // namespace weir::host

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string text(static_cast<const char*>(static_cast<const void*>(data)), size);
  weir::host::read_all(text);
  for (const bool is_ipv6 : {false, true})
    (void)weir::host::is_echo_reply(text, !is_ipv6, is_ipv6, 1, 2);
  if (size >= 2)
    (void)weir::host::read_icmp_error(size % 2 == 0, data[0], data[1], 1500, text, size % 3 == 0);
  return 0;
}

#pragma once
// DCB over rtnetlink: PFC, ETS, the APP table, rate limits, receive buffers, DCBX, in one question.
// Layouts: linux/dcbnl.h. Reading needs no privilege.
#include <array>
#include <compare>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "counters/snapshot.h"
#include "evidence/evidence.h"
#include "host/kernel/kernel.h"
#include "host/linux/text.h"

namespace weir::host {

struct DcbEts {
  bool willing = false;
  std::array<TrafficClass, 8> priority_to_tc{};
  std::array<evidence::Tsa, 8> tsa{};
  std::array<unsigned, 8> bandwidth{};
};
struct DcbPfc {
  unsigned capable = 0;
  PrioritySet on;
  unsigned delay = 0;                          // mlx5: metres of cable; else IEEE's bit times
  std::array<std::uint64_t, 8> requests{};     // PFC frames sent
  std::array<std::uint64_t, 8> indications{};  // received
};
struct DcbBuffer {
  std::array<unsigned, 8> priority_to_buffer{};
  std::array<Bytes, 8> size{};
  Bytes total;
};
struct DcbApp {
  unsigned selector = 0;
  unsigned priority = 0;
  unsigned protocol = 0;
  friend auto operator<=>(const DcbApp&, const DcbApp&) = default;
};

/// What one reply says; a part the driver left out is unsupported, a malformed one an error.
struct DcbState {
  Parsed<DcbEts> ets = evidence::Missing::kUnsupported;
  Parsed<DcbPfc> pfc = evidence::Missing::kUnsupported;
  Parsed<std::array<BitRate, 8>> max_rate = evidence::Missing::kUnsupported;
  Parsed<DcbBuffer> buffer = evidence::Missing::kUnsupported;
  Parsed<std::vector<DcbApp>> app = evidence::Missing::kUnsupported;
  Parsed<std::vector<unsigned>> trust = evidence::Missing::kUnsupported;  // selectors, kernel 6.3
  Parsed<evidence::DcbxMode> dcbx = evidence::Missing::kUnsupported;
};

[[nodiscard]] std::string dcb_get_request(const std::string& netdev);
/// A whole reply message, header included.
[[nodiscard]] DcbState parse_dcb(std::string_view message);
[[nodiscard]] Answer<DcbState> read_dcb(Kernel& kernel, const std::string& netdev);

/// The facts of a reply. `delay_is_metres`: the driver takes PFC's delay for the cable's length.
[[nodiscard]] evidence::Qos qos_from(const Answer<DcbState>& state, const std::string& netdev,
                                     bool delay_is_metres);

/// requests_N and indications_N; none where the driver has no PFC.
void add_dcb_counters(const Answer<DcbState>& state, std::vector<counters::Sample>& samples);

}  // namespace weir::host

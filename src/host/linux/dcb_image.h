#pragma once
// DCB as the driver keeps it, byte for byte, and the requests that write it back. Facts (linux_dcb)
// say what it means; this says what it is, so that a change touches one thing and a rollback puts
// everything back, the APP table as a set and fields that no fact is read from included.
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "host/kernel/kernel.h"
#include "host/linux/dcb.h"

namespace weir::host {

/// A part that the driver does not have is absent.
struct DcbImage {
  std::optional<std::string> ets;              // struct ieee_ets
  std::optional<std::string> pfc;              // struct ieee_pfc
  std::optional<std::string> max_rate;         // struct ieee_maxrate
  std::optional<std::vector<DcbApp>> app;      // as a set, sorted
  std::optional<std::vector<unsigned>> trust;  // selectors in the order of preference (6.3)
  std::optional<unsigned> dcbx;                // flags
  friend bool operator==(const DcbImage&, const DcbImage&) = default;
};

[[nodiscard]] Answer<DcbImage> read_dcb_image(Kernel& kernel, const std::string& netdev);

/// The structures inside, for those who change one field of them. REQUIRES: of the right size.
[[nodiscard]] std::string with_pfc_mask(std::string pfc, std::uint8_t mask);
[[nodiscard]] std::string with_pfc_delay(std::string pfc, std::uint16_t delay);
[[nodiscard]] std::string with_priority_to_tc(std::string ets,
                                              const std::array<TrafficClass, 8>& tc);
[[nodiscard]] std::string with_scheduling(std::string ets, const std::array<evidence::Tsa, 8>& tsa,
                                          const std::array<unsigned, 8>& percent);
/// Whether the writable fields are the same: counters inside the structure are not settings.
[[nodiscard]] bool is_same_pfc(const std::string& a, const std::string& b);

/// What one IEEE_SET carries; all of it in one message.
struct DcbSetting {
  std::optional<std::string> ets;
  std::optional<std::string> pfc;
  std::optional<std::string> max_rate;
  std::vector<DcbApp> app;                     // entries to add
  std::optional<std::vector<unsigned>> trust;  // selectors
};
[[nodiscard]] std::string dcb_set_request(const std::string& netdev, const DcbSetting& setting);
[[nodiscard]] std::string dcb_delete_request(const std::string& netdev,
                                             const std::vector<DcbApp>& app);
[[nodiscard]] std::string dcbx_request(const std::string& netdev, unsigned flags);

/// Sends one of those. The driver's own verdict comes inside the reply, beside the kernel's: both
/// count. A driver that says no without a reason (DCBX) is EINVAL.
[[nodiscard]] Answer<Taken> change_dcb(Kernel& kernel, const std::string& request);

/// Makes the table `wanted`, all selectors. Adds first and deletes afterwards what is then too
/// much: mlx5 replaces the entry of a code point by itself, and a deletion sets its firmware's map
/// to 0 and, with the last entry, its trust to PCP (host-interfaces 1.1).
[[nodiscard]] Answer<Taken> change_app_table(Kernel& kernel, const std::string& netdev,
                                             const std::vector<DcbApp>& wanted);

}  // namespace weir::host

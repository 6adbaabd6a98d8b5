#pragma once
// Capturing on an interface, through libpcap. It sees what the kernel sees: RDMA that a NIC carries
// out by itself does not pass there (see how_to_capture).
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "base/result.h"
#include "wire/capture_reader.h"
#include "wire/packet.h"

namespace weir::wire {

class LiveCapture {
 public:
  /// The error's code says what lacks: kPermission, kNotFound (with the interfaces there are).
  [[nodiscard]] static Result<LiveCapture> open(const std::string& interface);
  LiveCapture(LiveCapture&&) noexcept;
  LiveCapture& operator=(LiveCapture&&) = delete;
  ~LiveCapture();

  /// The next frame; kEnd: none within a tenth of a second, ask again; kDamaged: the interface is
  /// gone, damage() says why.
  [[nodiscard]] Next next(Record& record);
  /// Frames that the kernel could not hand over in time.
  [[nodiscard]] std::uint64_t dropped() const;
  [[nodiscard]] std::string damage() const;

 private:
  struct Handle;
  explicit LiveCapture(std::unique_ptr<Handle> handle);
  std::unique_ptr<Handle> handle_;
};

/// Why an ordinary capture is blind to offloaded RoCE, and what sees it, by NIC.
struct CaptureWay {
  std::string nic;
  std::string how;
};
[[nodiscard]] const std::vector<CaptureWay>& capture_ways();
inline constexpr const char* kBlindNote =
    "An ordinary capture on a host does not see RoCE that the NIC carries out: those packets never "
    "pass the kernel.";

}  // namespace weir::wire

#pragma once
// Changes of one RDMA port of a Linux machine, through the kernel's own interfaces: DCB and ethtool
// netlink, rtnetlink, and the files of the vendor's driver, of debugfs and of configfs. Which of
// them this driver has is found by looking, never assumed.
#include "base/result.h"
#include "host/change/operation.h"
#include "host/host_memory.h"
#include "host/kernel/kernel.h"
#include "host/linux/nic.h"

namespace weir::host {

class PortChanger {
 public:
  PortChanger(Kernel& kernel, const RdmaPort& port) : kernel_(kernel), port_(port) {}

  /// What `change` may touch, as it is now. Where RDMA-CM's defaults are not shown, configfs shows
  /// them for the moment it takes.
  [[nodiscard]] Result<HostMemory> remember(const Change& change);

  /// Writes only what differs.
  [[nodiscard]] Status perform(const Change& change);

 private:
  Kernel& kernel_;
  const RdmaPort& port_;
};

/// Facts of settings that are read from the very place they are written to.
void read_settings(Kernel& kernel, const RdmaPort& port, evidence::Nic& nic);

/// A sysctl is the whole host's.
[[nodiscard]] Result<HostMemory> remember_sysctl(Kernel& kernel, const SetSysctl& change);
[[nodiscard]] Status perform_sysctl(Kernel& kernel, const SetSysctl& change);

/// Puts back what differs from `memory`, and nothing else; goes on after a refusal, so that one
/// does not keep the rest from being put back, and reports all of them.
[[nodiscard]] Status restore(Kernel& kernel, const HostMemory& memory);

/// "set PFC of eth2: Operation not permitted; run it as root": why the kernel said no, and what
/// would help.
[[nodiscard]] Error refusal(const std::string& attempt, Errno error);

}  // namespace weir::host

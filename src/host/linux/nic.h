#pragma once
// One RDMA port: its names, its link, its GIDs, its marking and its congestion control, from sysfs,
// configfs and debugfs. DCB, ethtool and PCI have files of their own.
#include <string>
#include <vector>

#include "evidence/evidence.h"
#include "host/kernel/kernel.h"
#include "host/linux/ethtool.h"

namespace weir::host {

/// A port and where its files are.
struct RdmaPort {
  std::string device;  // "mlx5_0"
  unsigned port = 1;
  evidence::Fact<std::string> netdev;
  evidence::Fact<std::string> driver;  // the kernel's name: "mlx5_core"
  Answer<DriverInfo> info = Errno{ENOENT};

  [[nodiscard]] std::string folder() const;       // /sys/class/infiniband/mlx5_0
  [[nodiscard]] std::string port_folder() const;  // … /ports/1
  [[nodiscard]] std::string net_folder() const;   // /sys/class/net/eth2; REQUIRES: netdev known
};

/// In the order in which a person lists them; of `excluded` devices no file is opened. The errno is
/// that of /sys/class/infiniband.
[[nodiscard]] Answer<std::vector<RdmaPort>> find_ports(
    Kernel& kernel, const std::vector<std::string>& excluded = {});

/// Everything of the port but QoS, ethtool's facts, PCIe and addresses.
[[nodiscard]] evidence::Nic read_nic(Kernel& kernel, const RdmaPort& port);

/// What the vendor's stack keeps beside DCB: buffers with thresholds, rate limits, stall
/// prevention, and the oldest stack's trust. Fills in what DCB did not say.
void add_vendor_qos(Kernel& kernel, const RdmaPort& port, evidence::Qos& qos);

/// IP addresses with prefix length of every interface, by its index; those of the link alone
/// (fe80::) left out.
struct InterfaceAddress {
  unsigned interface = 0;
  std::string address;  // "10.10.1.5/24"
  friend bool operator==(const InterfaceAddress&, const InterfaceAddress&) = default;
};
/// What read_addresses() asks.
[[nodiscard]] std::string address_request();
[[nodiscard]] Answer<std::vector<InterfaceAddress>> read_addresses(Kernel& kernel);
[[nodiscard]] Parsed<std::vector<InterfaceAddress>> parse_address(std::string_view message);
[[nodiscard]] evidence::Fact<std::vector<std::string>> addresses_of(
    Kernel& kernel, const RdmaPort& port, const Answer<std::vector<InterfaceAddress>>& all);

}  // namespace weir::host

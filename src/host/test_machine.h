#pragma once
// A host of the template pod16 in memory, for tests: as shipped, everything readable, nothing as
// designed; with the vendor's stack, with the kernel's own mlx5, or with another driver.
#include <cstdio>
#include <memory>
#include <string>

#include <fmt/format.h>

#include "base/testing.h"
#include "design/file/load.h"
#include "design/file/templates.h"
#include "design/tables/nic_knobs.h"
#include "host/change/plan.h"
#include "host/kernel/memory.h"
#include "host/linux/host.h"

namespace weir::host {

inline const design::Intent& pod16() {
  static const design::Intent intent = [] {
    const design::Template* pod = design::find_template("pod16");
    return design::derive(design::load_text(std::string(pod->text), "pod16.yaml").design).intent;
  }();
  return intent;
}
inline const design::HostIntent& wanted_host() {
  return pod16().hosts[0];
}

enum class TestMachine { kOfed, kInbox, kGeneric };

inline void add_netdev(MemoryKernel& kernel, const design::NicIntent& nic, unsigned index) {
  const std::string folder = "/sys/class/net/" + nic.netdev;
  kernel.files[folder + "/mtu"] = "1500\n";
  kernel.files[folder + "/ifindex"] = fmt::format("{}\n", index);
  kernel.files[folder + "/dev_port"] = "0\n";
  kernel.files[folder + "/carrier"] = "1\n";
  kernel.files[folder + "/speed"] = fmt::format("{}\n", nic.speed.raw() / 1'000'000);
  MemoryKernel::Netdev& state = kernel.netdevs[nic.netdev];
  state.pfc.pfc_cap = 8;
  state.pfc.delay = 7;
  state.ets.ets_cap = 8;
  for (unsigned tc = 0; tc < 8; ++tc) {
    state.ets.tc_tsa[tc] = IEEE_8021QAZ_TSA_VENDOR;
    state.ets.tc_tx_bw[tc] = 100;
    state.ets.prio_tc[tc] = static_cast<std::uint8_t>(tc < 2 ? 1 - tc : tc);
  }
  state.app = {{1, 4, 0x8906}};  // FCoE's: none of our business
}

inline void add_device(MemoryKernel& kernel, const design::NicIntent& nic, TestMachine flavour) {
  const std::string folder = "/sys/class/infiniband/" + nic.device;
  kernel.links[folder + "/device"] = "/sys/devices/pci0000:15/0000:15:01.0/0000:18:00.0";
  kernel.links[folder + "/device/net/" + nic.netdev] = "";
  kernel.links[folder + "/device/driver"] = flavour == TestMachine::kGeneric
                                                ? "/sys/bus/pci/drivers/bnxt_en"
                                                : "/sys/bus/pci/drivers/mlx5_core";
  kernel.files[folder + "/ports/1/link_layer"] = "Ethernet\n";
  kernel.files[folder + "/ports/1/state"] = "4: ACTIVE\n";
  const auto dot = nic.address.substr(0, nic.address.find('/'));
  unsigned a = 0;
  unsigned b = 0;
  unsigned c = 0;
  unsigned d = 0;
  ASSERT_EQ(std::sscanf(dot.c_str(), "%u.%u.%u.%u", &a, &b, &c, &d), 4);
  kernel.files[folder + "/ports/1/gids/0"] =
      fmt::format("0000:0000:0000:0000:0000:ffff:{:02x}{:02x}:{:02x}{:02x}\n", a, b, c, d);
  kernel.files[folder + "/ports/1/gid_attrs/types/0"] = "RoCE v2\n";
  kernel.files[folder + "/ports/1/gid_attrs/ndevs/0"] = nic.netdev + "\n";
  kernel.cm_tos[nic.device] = "0";
}

/// The host as shipped: everything readable, nothing as designed.
inline std::shared_ptr<MemoryKernel> machine(TestMachine flavour) {
  auto kernel = std::make_shared<MemoryKernel>();
  kernel->files["/proc/sys/kernel/hostname"] = wanted_host().name + "\n";
  kernel->files["/proc/modules"] = "rdma_cm 1 0 - Live 0x0\n";
  kernel->directories.insert("/sys/kernel/config/rdma_cm");
  unsigned index = 2;
  for (const design::NicIntent& nic : wanted_host().nics) {
    add_netdev(*kernel, nic, index++);
    add_device(*kernel, nic, flavour);
    const std::string net = "/sys/class/net/" + nic.netdev;
    for (const design::NicKnob& knob : design::nic_knobs()) {
      // Two parameters that differ and the CNPs' marking are enough to set.
      const bool differs = knob.name == "rpg_ai_rate" || knob.name == "min_time_between_cnps" ||
                           knob.name == "cnp_802p_prio";
      const std::string value =
          fmt::format("{}\n", knob.name == "cnp_dscp" ? 0 : knob.fallback + (differs ? 1 : 0));
      if (flavour == TestMachine::kOfed)
        kernel->files[fmt::format("{}/ecn/{}/{}", net,
                                  knob.is_notification_point ? "roce_np" : "roce_rp", knob.name)] =
            value;
      if (flavour == TestMachine::kInbox)
        kernel
            ->files[fmt::format("/sys/kernel/debug/mlx5/0000:18:00.0/cc_params/{}", knob.debugfs)] =
            value;
    }
    if (flavour == TestMachine::kInbox)
      kernel->files["/sys/kernel/debug/mlx5/0000:18:00.0/cc_params/np_cnp_prio_mode"] = "1\n";
    if (flavour == TestMachine::kGeneric) kernel->netdevs[nic.netdev].replaces_app = false;
    if (flavour != TestMachine::kOfed) continue;
    for (unsigned p = 0; p < 8; ++p) {
      kernel->files[fmt::format("{}/ecn/roce_np/enable/{}", net, p)] = "0\n";
      kernel->files[fmt::format("{}/ecn/roce_rp/enable/{}", net, p)] = "0\n";
    }
    kernel->files[fmt::format("/sys/class/infiniband/{}/tc/1/traffic_class", nic.device)] =
        "Global tclass=26\n";
  }
  return kernel;
}

inline std::unique_ptr<HostIo> host_on(const std::shared_ptr<MemoryKernel>& kernel) {
  return make_host(std::make_unique<SharedKernel>(kernel), "");
}

inline HostPlan plan_of(HostIo& host) {
  return plan_host(host.observe().value(), wanted_host(), pod16());
}

}  // namespace weir::host

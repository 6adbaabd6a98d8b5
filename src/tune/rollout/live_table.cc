#include "tune/rollout/live_table.h"

#include <algorithm>
#include <array>

#include "base/check.h"

namespace weir::tune {
namespace {

constexpr std::array kLiveRows = {
    LiveRow{.id = "mlx5-sysfs",
            .where = "mlx5, vendor driver: ecn/roce_rp and ecn/roce_np in sysfs",
            .effect = LiveEffect::kLive,
            .persistence = "lost with the driver: weir render --to systemd keeps it",
            .trap = "ConnectX-7 and later with programmable congestion control may ignore it: "
                    "mlxconfig query ROCE_CC_LEGACY_DCQCN first",
            .source = "NVIDIA MLNX_OFED manual, Explicit Congestion Notification",
            .is_verified = true},
    LiveRow{.id = "mlx5-debugfs",
            .where = "mlx5, kernel driver: cc_params in debugfs",
            .effect = LiveEffect::kLive,
            .persistence = "lost with the driver: weir render --to systemd keeps it",
            .trap =
                "as root; not there under kernel lockdown. mlxconfig would keep it, and needs a "
                "firmware reset",
            .source = "Linux, drivers/infiniband/hw/mlx5/cong.c",
            .is_verified = true},
    LiveRow{.id = "sonic-marking",
            .where = "SONiC, WRED_PROFILE",
            .effect = LiveEffect::kLive,
            .persistence = "config save",
            .trap =
                "every queue that uses the profile changes at once; Mellanox rounds the maximum "
                "up; it must fit the pool",
            .source = "SONiC wiki, ECN; sonic-mgmt 14439 and 20413",
            .is_verified = true},
    LiveRow{.id = "sonic-buffers",
            .where = "SONiC, alpha of the lossless profiles",
            .effect = LiveEffect::kLive,
            .persistence = "config save",
            .trap = "headroom and pools are another matter: config qos reload disturbs traffic "
                    "(unverified)",
            .source = "sonic-mgmt, test plan of mmuconfig: one profile live; the default of all is "
                      "not tested there"},
    LiveRow{.id = "cumulus-marking",
            .where = "Cumulus, qos congestion-control",
            .effect = LiveEffect::kUnknown,
            .persistence = "nv config save",
            .trap = "the profile is of all ports",
            .source = "NVUE reference: the effect of nv config apply is not stated"},
    LiveRow{.id = "cumulus-buffers",
            .where = "Cumulus, qos advance-buffer-config",
            .effect = LiveEffect::kUnknown,
            .persistence = "nv config save",
            .trap = "a change of the RoCE mode or of PFC loses packets for a moment",
            .source = "NVUE reference: the effect of nv config apply is not stated"},
    LiveRow{.id = "eos-marking",
            .where = "EOS, random-detect ecn",
            .effect = LiveEffect::kLive,
            .persistence = "write memory",
            .trap = "the profile is of all ports that use it",
            .source = "believed; no document read states it"},
    LiveRow{.id = "eos-buffers",
            .where = "EOS, platform trident mmu queue profile",
            .effect = LiveEffect::kUnknown,
            .persistence = "write memory",
            .trap = "of the whole switch",
            .source = "no document read states it"},
    LiveRow{.id = "nxos-marking",
            .where = "NX-OS, policy-map type queuing",
            .effect = LiveEffect::kLive,
            .persistence = "copy running-config startup-config",
            .trap = "a change of type network-qos disturbs traffic (unverified)",
            .source = "believed; no document read states it"},
    LiveRow{.id = "nxos-buffers",
            .where = "NX-OS, buffers",
            .effect = LiveEffect::kUnknown,
            .persistence = "copy running-config startup-config",
            .trap = "",
            .source = "no document read states it"},
    LiveRow{.id = "junos-marking",
            .where = "Junos, drop-profiles",
            .effect = LiveEffect::kLive,
            .persistence = "a commit stays",
            .trap = "fill levels are whole percents of the queue: small changes may round to none",
            .source = "Juniper ApstraPowerPacks, CosAIAutoTuning: commits one every 20 s",
            .is_verified = true},
    LiveRow{.id = "junos-buffers",
            .where = "Junos, shared-buffer",
            .effect = LiveEffect::kStops,
            .persistence = "a commit stays",
            .trap = "all ports stop until the buffer is programmed again",
            .source = "Junos OS for QFX, Configuring Global Ingress and Egress Shared Buffers",
            .is_verified = true},
};

const LiveRow& row_with_id(std::string_view id) {
  const auto* const found = std::find_if(kLiveRows.begin(), kLiveRows.end(),
                                         [&](const LiveRow& row) { return row.id == id; });
  WEIR_CHECK(found != kLiveRows.end());
  return *found;
}

}  // namespace

std::string_view to_text(LiveEffect effect) {
  constexpr std::array<std::string_view, 4> kWords = {"live", "not known", "disturbs",
                                                      "stops ports"};
  return kWords[static_cast<std::size_t>(effect)];
}

std::string_view to_text(RolloutPlace place) {
  constexpr std::array<std::string_view, 3> kWords = {"NIC", "ECN thresholds", "buffers"};
  return kWords[static_cast<std::size_t>(place)];
}

RolloutPlace place_of_knob(std::string_view knob) {
  if (knob.starts_with("dcqcn.")) return RolloutPlace::kNic;
  return knob.starts_with("wred.") ? RolloutPlace::kMarking : RolloutPlace::kBuffers;
}

std::span<const LiveRow> live_rows() {
  return kLiveRows;
}

const LiveRow& live_row(vocab::SwitchSystem system, RolloutPlace place) {
  WEIR_CHECK(place != RolloutPlace::kNic);
  const bool is_marking = place == RolloutPlace::kMarking;
  switch (system) {
    case vocab::SwitchSystem::kCumulus:
      return row_with_id(is_marking ? "cumulus-marking" : "cumulus-buffers");
    case vocab::SwitchSystem::kEos: return row_with_id(is_marking ? "eos-marking" : "eos-buffers");
    case vocab::SwitchSystem::kNxos:
      return row_with_id(is_marking ? "nxos-marking" : "nxos-buffers");
    case vocab::SwitchSystem::kJunos:
      return row_with_id(is_marking ? "junos-marking" : "junos-buffers");
    case vocab::SwitchSystem::kSonic: break;
  }
  return row_with_id(is_marking ? "sonic-marking" : "sonic-buffers");
}

const LiveRow* live_row(const design::HostIntent& host) {
  if (host.nic_model == nullptr || !host.nic_model->has_dcqcn_knobs) return nullptr;
  return &row_with_id(host.stack == design::HostStack::kOfed ? "mlx5-sysfs" : "mlx5-debugfs");
}

}  // namespace weir::tune

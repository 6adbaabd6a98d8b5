#pragma once
// Every setting of a host's NIC that Weir compares or changes: its id, and its value as a type.
//
// One type per setting, and one variant of them all. The same value says what a design wants, what
// a NIC was found with, what a change writes and what a rollback puts back, so comparing is `==`.
// Each type names its setting (kSetting) and its parts (visit), from which the one JSON codec is
// made (vocab/setting_json.h).
//
// Where a value comes from and what a person types for it is a row in evidence/settings; how a
// machine is changed is a row in host/change/linux_change.cc.
#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "units/qos_code.h"
#include "units/quantity.h"

namespace weir::vocab {

enum class TrustMode : std::uint8_t { kDscp, kPcp, kBoth, kPort, kNone };
enum class Tsa : std::uint8_t { kStrict, kCbs, kEts, kVendor };  // 802.1Q transmission selection
enum class DcbxMode : std::uint8_t { kOs, kFirmware };
[[nodiscard]] std::string_view to_text(TrustMode);
[[nodiscard]] std::string_view to_text(Tsa);

/// In the order in which they are safe to change (PFC last of all: it may take the link down).
enum class Setting : std::uint8_t {
  kDevice,
  kLinkUp,
  kSpeed,
  kGidV2,        // a RoCEv2 GID in the rail's subnet
  kGlobalPause,  // 802.3x
  kDcbx,
  kTrust,
  kDscpToPriority,
  kPriorityToTc,
  kScheduling,  // TSA and ETS shares
  kTcMaxRate,   // a limit on the RDMA class
  kMtu,
  kActiveMtu,  // of RDMA; follows from kMtu
  kStackMtu,   // of bonds, VLANs and bridges on top
  kRings,
  kIrqAffinity,
  kSysctl,  // of the host; one value each
  kCableLength,
  kCmTos,
  kTrafficClass,  // forced on the port
  kCnpMarking,
  kKnob,  // a DCQCN parameter; one value each
  kEcnNp,
  kEcnRp,
  kPfc,
};
struct SettingNames {
  Setting setting;
  std::string_view key;    // in JSON
  std::string_view title;  // as a column shows it
};

/// In the order of Setting.
inline constexpr auto kSettingNames = std::to_array<SettingNames>({
    {Setting::kDevice, "device", "device"},
    {Setting::kLinkUp, "link", "link"},
    {Setting::kSpeed, "speed", "speed"},
    {Setting::kGidV2, "gid", "GID"},
    {Setting::kGlobalPause, "pause", "global pause"},
    {Setting::kDcbx, "dcbx", "DCBX"},
    {Setting::kTrust, "trust", "trust"},
    {Setting::kDscpToPriority, "dscp_map", "DSCP map"},
    {Setting::kPriorityToTc, "priority_to_tc", "traffic classes"},
    {Setting::kScheduling, "scheduling", "scheduling"},
    {Setting::kTcMaxRate, "rate_limit", "rate limit"},
    {Setting::kMtu, "mtu", "MTU"},
    {Setting::kActiveMtu, "rdma_mtu", "RDMA MTU"},
    {Setting::kStackMtu, "stack_mtu", "MTU of the stack"},
    {Setting::kRings, "rings", "ring"},
    {Setting::kIrqAffinity, "irq_nodes", "interrupts"},
    {Setting::kSysctl, "sysctl", "sysctl"},
    {Setting::kCableLength, "cable_length", "cable length"},
    {Setting::kCmTos, "cm_tos", "RDMA-CM TOS"},
    {Setting::kTrafficClass, "traffic_class", "traffic class"},
    {Setting::kCnpMarking, "cnp", "CNP marking"},
    {Setting::kKnob, "knob", "DCQCN"},
    {Setting::kEcnNp, "ecn_np", "ECN notification"},
    {Setting::kEcnRp, "ecn", "ECN reaction"},
    {Setting::kPfc, "pfc", "PFC"},
});

[[nodiscard]] std::string_view to_text(Setting setting);  // its title

// ---- found, never changed ----

struct DevicePresent {
  static constexpr Setting kSetting = Setting::kDevice;
  std::string device;
  bool is_there = true;
  void visit(auto& v) { v("device", device), v("present", is_there); }
  friend bool operator==(const DevicePresent&, const DevicePresent&) = default;
};
struct LinkState {
  static constexpr Setting kSetting = Setting::kLinkUp;
  bool is_up = true;
  void visit(auto& v) { v("up", is_up); }
  friend bool operator==(const LinkState&, const LinkState&) = default;
};
struct LinkSpeed {
  static constexpr Setting kSetting = Setting::kSpeed;
  BitRate speed;
  void visit(auto& v) { v("bits_per_second", speed); }
  friend bool operator==(const LinkSpeed&, const LinkSpeed&) = default;
};
/// Wanted: the rail's address, or none for any that is not link-local. Found: all RoCEv2 GIDs.
struct RoceGids {
  static constexpr Setting kSetting = Setting::kGidV2;
  std::vector<std::string> gids;
  void visit(auto& v) { v("gids", gids); }
  friend bool operator==(const RoceGids&, const RoceGids&) = default;
};
/// Limits of the traffic classes; 0: none.
struct ClassLimits {
  static constexpr Setting kSetting = Setting::kTcMaxRate;
  std::array<BitRate, 8> limit{};
  void visit(auto& v) { v("bits_per_second", limit); }
  friend bool operator==(const ClassLimits&, const ClassLimits&) = default;
};
struct RdmaMtu {
  static constexpr Setting kSetting = Setting::kActiveMtu;
  Bytes mtu;
  void visit(auto& v) { v("bytes", mtu); }
  friend bool operator==(const RdmaMtu&, const RdmaMtu&) = default;
};

// ---- changed ----

struct SetGlobalPause {
  static constexpr Setting kSetting = Setting::kGlobalPause;
  std::optional<bool> rx = false;  // nullopt: found, and not shown
  std::optional<bool> tx = false;
  void visit(auto& v) { v("rx", rx), v("tx", tx); }
  friend bool operator==(const SetGlobalPause&, const SetGlobalPause&) = default;
};
/// Who decides about DCB: the operating system, or the firmware's own LLDP agent. Only the mode is
/// ours to write; the others may overrule it.
struct SetDcbx {
  static constexpr Setting kSetting = Setting::kDcbx;
  DcbxMode mode = DcbxMode::kOs;
  bool is_willing = false;          // the switch may change it
  bool has_firmware_agent = false;  // the NIC's own LLDP agent runs
  void visit(auto& v) {
    v("mode", mode), v("willing", is_willing), v("firmware_agent", has_firmware_agent);
  }
  friend bool operator==(const SetDcbx&, const SetDcbx&) = default;
};
struct SetTrust {
  static constexpr Setting kSetting = Setting::kTrust;
  TrustMode trust = TrustMode::kDscp;
  void visit(auto& v) { v("mode", trust); }
  friend bool operator==(const SetTrust&, const SetTrust&) = default;
};
/// All 64 entries at once: a map written one code point at a time passes through states nobody
/// designed. nullopt takes the entry out, so that what was found can be put back as it was; a map
/// without any entry means trust in PCP on mlx5.
struct SetDscpMap {
  static constexpr Setting kSetting = Setting::kDscpToPriority;
  std::array<std::optional<Priority>, 64> priority{};
  void visit(auto& v) { v("map", priority); }
  friend bool operator==(const SetDscpMap&, const SetDscpMap&) = default;
};
struct SetPriorityToTc {
  static constexpr Setting kSetting = Setting::kPriorityToTc;
  std::array<TrafficClass, 8> tc{};
  void visit(auto& v) { v("map", tc); }
  friend bool operator==(const SetPriorityToTc&, const SetPriorityToTc&) = default;
};
struct SetScheduling {
  static constexpr Setting kSetting = Setting::kScheduling;
  std::array<Tsa, 8> tsa{};
  std::array<unsigned, 8> percent{};  // of ETS classes; they add up to 100; 0 for the others
  void visit(auto& v) { v("tsa", tsa), v("percent", percent); }
  friend bool operator==(const SetScheduling&, const SetScheduling&) = default;
};
struct SetMtu {
  static constexpr Setting kSetting = Setting::kMtu;
  Bytes mtu;
  void visit(auto& v) { v("bytes", mtu); }
  friend bool operator==(const SetMtu&, const SetMtu&) = default;
};
/// Bonds, VLANs and bridges on top of the NIC that are smaller are raised to this.
struct SetStackMtu {
  static constexpr Setting kSetting = Setting::kStackMtu;
  Bytes mtu;
  void visit(auto& v) { v("bytes", mtu); }
  friend bool operator==(const SetStackMtu&, const SetStackMtu&) = default;
};
struct SetRings {
  static constexpr Setting kSetting = Setting::kRings;
  unsigned rx = 0;
  unsigned tx = 0;
  void visit(auto& v) { v("rx", rx), v("tx", tx); }
  friend bool operator==(const SetRings&, const SetRings&) = default;
};
/// The memory nodes whose processors take the NIC's interrupts.
struct SetIrqNodes {
  static constexpr Setting kSetting = Setting::kIrqAffinity;
  std::vector<unsigned> nodes;
  void visit(auto& v) { v("nodes", nodes); }
  friend bool operator==(const SetIrqNodes&, const SetIrqNodes&) = default;
};
/// Of the whole host.
struct SetSysctl {
  static constexpr Setting kSetting = Setting::kSysctl;
  std::string name;   // "net.core.rmem_max"
  std::string value;  // words with one blank between them
  void visit(auto& v) { v("name", name), v("value", value); }
  friend bool operator==(const SetSysctl&, const SetSysctl&) = default;
};
struct SetCableLength {
  static constexpr Setting kSetting = Setting::kCableLength;
  Length length;
  void visit(auto& v) { v("millimetres", length); }
  friend bool operator==(const SetCableLength&, const SetCableLength&) = default;
};
struct SetCmTos {
  static constexpr Setting kSetting = Setting::kCmTos;
  TosByte tos;
  void visit(auto& v) { v("tos", tos); }
  friend bool operator==(const SetCmTos&, const SetCmTos&) = default;
};
/// Forces the TOS byte of every queue pair of the port: overrides jobs, so only where the design
/// asks for it. nullopt: not forced.
struct SetTrafficClass {
  static constexpr Setting kSetting = Setting::kTrafficClass;
  std::optional<TosByte> tos;
  void visit(auto& v) { v("tos", tos); }
  friend bool operator==(const SetTrafficClass&, const SetTrafficClass&) = default;
};
struct SetCnpMarking {
  static constexpr Setting kSetting = Setting::kCnpMarking;
  Dscp dscp;
  Priority priority;
  void visit(auto& v) { v("dscp", dscp), v("priority", priority); }
  friend bool operator==(const SetCnpMarking&, const SetCnpMarking&) = default;
};
/// A DCQCN parameter by the vendor's name, in register steps (design/tables/nic_knobs.h).
struct SetKnob {
  static constexpr Setting kSetting = Setting::kKnob;
  std::string name;  // empty: all that the design names
  std::int64_t value = 0;
  void visit(auto& v) { v("name", name), v("value", value); }
  friend bool operator==(const SetKnob&, const SetKnob&) = default;
};
/// Both halves are written together; kEcnNp is the other one.
struct SetEcn {
  static constexpr Setting kSetting = Setting::kEcnRp;
  PrioritySet np;
  PrioritySet rp;
  void visit(auto& v) { v("np", np), v("rp", rp); }
  friend bool operator==(const SetEcn&, const SetEcn&) = default;
};
/// Takes the link down for a moment on mlx5: last, and only where it differs.
struct SetPfc {
  static constexpr Setting kSetting = Setting::kPfc;
  PrioritySet on;
  void visit(auto& v) { v("priorities", on); }
  friend bool operator==(const SetPfc&, const SetPfc&) = default;
};

using SettingValue =
    std::variant<DevicePresent, LinkState, LinkSpeed, RoceGids, SetGlobalPause, SetDcbx, SetTrust,
                 SetDscpMap, SetPriorityToTc, SetScheduling, ClassLimits, SetMtu, RdmaMtu,
                 SetStackMtu, SetRings, SetIrqNodes, SetSysctl, SetCableLength, SetCmTos,
                 SetTrafficClass, SetCnpMarking, SetKnob, SetEcn, SetPfc>;

[[nodiscard]] inline Setting setting_of(const SettingValue& value) {
  return std::visit([]<class T>(const T&) { return T::kSetting; }, value);
}

/// What a column of a table calls it: the setting's own name, or the parameter's.
[[nodiscard]] std::string name_of(const SettingValue& value);

}  // namespace weir::vocab

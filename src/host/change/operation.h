#pragma once
// One change of one NIC port, typed: what `weir plan` lists, `weir apply` performs and reads back,
// and a rollback undoes. An operation says what will be, never how: each HostIo knows the how (DCB
// netlink, the vendor's files, a simulated NIC).
//
// The same type says what *is*: as_found() reads a NIC's facts in the shape of a change. So the
// read-back is an equality, and undoing a change is performing what was found before it.
#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "evidence/deviation.h"
#include "evidence/evidence.h"
#include "units/qos_code.h"
#include "units/quantity.h"

namespace weir::host {

struct SetGlobalPause {
  bool rx = false;
  bool tx = false;
  friend bool operator==(const SetGlobalPause&, const SetGlobalPause&) = default;
};
/// Who decides about DCB: the operating system, or the firmware's own LLDP agent.
struct SetDcbx {
  evidence::DcbxMode mode = evidence::DcbxMode::kOs;
  friend bool operator==(const SetDcbx&, const SetDcbx&) = default;
};
struct SetTrust {
  evidence::TrustMode trust = evidence::TrustMode::kDscp;
  friend bool operator==(const SetTrust&, const SetTrust&) = default;
};
/// All 64 entries at once: a map written one code point at a time passes through states nobody
/// designed. nullopt takes the entry out, so that what was found can be put back as it was; a map
/// without any entry means trust in PCP on mlx5.
struct SetDscpMap {
  std::array<std::optional<Priority>, 64> priority{};
  friend bool operator==(const SetDscpMap&, const SetDscpMap&) = default;
};
struct SetPriorityToTc {
  std::array<TrafficClass, 8> tc{};
  friend bool operator==(const SetPriorityToTc&, const SetPriorityToTc&) = default;
};
struct SetScheduling {
  std::array<evidence::Tsa, 8> tsa{};
  std::array<unsigned, 8> percent{};  // of ETS classes; they add up to 100; 0 for the others
  friend bool operator==(const SetScheduling&, const SetScheduling&) = default;
};
/// Takes the link down for a moment on mlx5: last, and only where it differs.
struct SetPfc {
  PrioritySet on;
  friend bool operator==(const SetPfc&, const SetPfc&) = default;
};
struct SetCableLength {
  Length length;
  friend bool operator==(const SetCableLength&, const SetCableLength&) = default;
};
struct SetEcn {
  PrioritySet np;
  PrioritySet rp;
  friend bool operator==(const SetEcn&, const SetEcn&) = default;
};
struct SetCnpMarking {
  Dscp dscp;
  Priority priority;
  friend bool operator==(const SetCnpMarking&, const SetCnpMarking&) = default;
};
/// A DCQCN parameter by the vendor's name, in register steps (design/tables/nic_knobs.h).
struct SetKnob {
  std::string name;
  std::int64_t value = 0;
  friend bool operator==(const SetKnob&, const SetKnob&) = default;
};
/// Forces the TOS byte of every queue pair of the port: overrides jobs, so only where the design
/// asks for it. nullopt: no longer forced.
struct SetTrafficClass {
  std::optional<TosByte> tos;
  friend bool operator==(const SetTrafficClass&, const SetTrafficClass&) = default;
};
struct SetCmTos {
  TosByte tos;
  friend bool operator==(const SetCmTos&, const SetCmTos&) = default;
};
struct SetMtu {
  Bytes mtu;
  friend bool operator==(const SetMtu&, const SetMtu&) = default;
};
struct SetRings {
  unsigned rx = 0;
  unsigned tx = 0;
  friend bool operator==(const SetRings&, const SetRings&) = default;
};

/// Bonds, VLANs and bridges on top of the NIC that are smaller are raised to this.
struct SetStackMtu {
  Bytes mtu;
  friend bool operator==(const SetStackMtu&, const SetStackMtu&) = default;
};
/// The memory nodes whose processors take the NIC's interrupts.
struct SetIrqNodes {
  std::vector<unsigned> nodes;
  friend bool operator==(const SetIrqNodes&, const SetIrqNodes&) = default;
};
/// Of the whole host: the operation has no device.
struct SetSysctl {
  std::string name;   // "net.core.rmem_max"
  std::string value;  // words with one blank between them
  friend bool operator==(const SetSysctl&, const SetSysctl&) = default;
};

using Change =
    std::variant<SetGlobalPause, SetDcbx, SetTrust, SetDscpMap, SetPriorityToTc, SetScheduling,
                 SetPfc, SetCableLength, SetEcn, SetCnpMarking, SetKnob, SetTrafficClass, SetCmTos,
                 SetMtu, SetRings, SetStackMtu, SetIrqNodes, SetSysctl>;

struct Operation {
  std::string device;  // RDMA device: "mlx5_0"; empty: the whole host
  Change change;
  friend bool operator==(const Operation&, const Operation&) = default;
};

/// Which setting a change is about; SetEcn is kEcnRp, as both halves are written together.
[[nodiscard]] evidence::Setting setting_of(const Change&);

/// "trust", "PFC", "rpg_ai_rate": what a column of a table calls it.
[[nodiscard]] std::string name_of(const Change&);

/// The value alone, as a person reads it: "dscp", "3", "DSCP 26 to priority 3, the rest …".
[[nodiscard]] std::string value_text(const Change&);
/// With its name: "trust: dscp".
[[nodiscard]] std::string to_text(const Change&);

/// The setting of `like` as the NIC has it; nullopt where it could not be read.
[[nodiscard]] std::optional<Change> as_found(const Change& like, const evidence::Nic& nic);
/// The same for what an operation is about, the whole host included; nullopt too where its device
/// is gone.
[[nodiscard]] std::optional<Change> as_found(const Change& like, const std::string& device,
                                             const evidence::Evidence& host);

/// The lines one would type to do the same by hand, for the stack that this NIC runs on; `before`
/// is the NIC as it was found. Empty where nothing can be typed for it.
[[nodiscard]] std::vector<std::string> commands_for(const Operation&, const evidence::Nic& before);

/// What a person should know before this is done; empty where it is harmless.
[[nodiscard]] std::string_view risk_of(const Change&);

/// Why this NIC's driver or port cannot do it, and what can be done instead; empty where it can.
[[nodiscard]] std::string_view obstacle_to(const Change&, const evidence::Nic& nic);

}  // namespace weir::host

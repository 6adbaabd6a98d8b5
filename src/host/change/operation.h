#pragma once
// One change of one NIC port: what `weir plan` lists, `weir apply` performs and reads back, and a
// rollback undoes. An operation says what will be, never how: each HostIo knows the how (DCB
// netlink, the vendor's files, a simulated NIC).
//
// The value is one of vocab/setting.h. as_found() reads a NIC's facts in the same shape, so the
// read-back is an equality, and undoing a change is performing what was found before it.
#include <string>
#include <string_view>

#include "evidence/deviation.h"
#include "vocab/setting.h"

namespace weir::host {

using Change = vocab::SettingValue;
using evidence::as_found;
using evidence::obstacle_to;
using evidence::value_text;
using vocab::name_of;
using vocab::setting_of;

using vocab::SetCableLength;
using vocab::SetCmTos;
using vocab::SetCnpMarking;
using vocab::SetDcbx;
using vocab::SetDscpMap;
using vocab::SetEcn;
using vocab::SetGlobalPause;
using vocab::SetIrqNodes;
using vocab::SetKnob;
using vocab::SetMtu;
using vocab::SetPfc;
using vocab::SetPriorityToTc;
using vocab::SetRings;
using vocab::SetScheduling;
using vocab::SetStackMtu;
using vocab::SetSysctl;
using vocab::SetTrafficClass;
using vocab::SetTrust;

struct Operation {
  std::string device;  // RDMA device: "mlx5_0"; empty: the whole host
  Change change;
  friend bool operator==(const Operation&, const Operation&) = default;
};

/// What a person should know before this is done; empty where it is harmless.
[[nodiscard]] std::string_view risk_of(const Change&);

}  // namespace weir::host

#pragma once
// The parts of validate(): one NIC, one switch. Not for other folders.
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "design/fabric/intent.h"
#include "evidence/deviation.h"
#include "evidence/evidence.h"
#include "finding/finding.h"
#include "finding/thresholds.h"

namespace weir::diagnose {

using evidence::Missing;

struct NicFindings {
  std::vector<finding::Finding> findings;
  std::vector<finding::Unknown> unknown;
  std::vector<evidence::Setting> first_setting;  // of each finding
};
[[nodiscard]] NicFindings validate_nic(const std::string& host, const evidence::Nic& nic,
                                       const design::NicIntent& wanted,
                                       const design::Intent& intent);

/// A NIC that fell off the bus or was renamed. If no NIC was read at all, it is unknown. Only where
/// all NICs of the host were listed.
void add_missing_nic(const evidence::Evidence& evidence, const design::NicIntent& wanted,
                     finding::Judgement& out);

/// What must hold on any host: link, GID a job will use, receive buffer, PCIe and GPUs, limits,
/// TCP.
void validate_machine(const evidence::Evidence& host, const design::HostIntent& wanted,
                      const finding::Thresholds& limits, finding::Judgement& out);

/// The GID a job will use: RoCE v2, routable, of the NIC's own interface or one on top of it.
[[nodiscard]] std::optional<evidence::Gid> usable_gid(const evidence::Nic& nic);
/// A pinned GID index must be right everywhere: reports devices where it differs.
void find_gid_drift(std::span<const evidence::Evidence> evidence, finding::Judgement& out);

/// `wanted` is what the switch can express of the design: its lowered intent, if known.
void validate_switch(const evidence::Switch& found, const design::SwitchIntent& wanted,
                     const design::Intent& whole, finding::Judgement& out);

/// Rails of a host, and hosts, that differ where their intents are equal.
void find_drift(std::span<const evidence::Evidence> evidence, const design::Intent& intent,
                finding::Judgement& out);

/// What the NIC's receive buffer of the RDMA class takes after it has asked for a pause; absent
/// where the buffers were not read.
[[nodiscard]] std::optional<Bytes> receive_headroom(const evidence::Nic& nic,
                                                    const design::NicIntent& wanted);

}  // namespace weir::diagnose

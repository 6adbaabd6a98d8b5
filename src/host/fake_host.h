#pragma once
// A host in memory, for tests: takes every change and shows it, unless told to misbehave.
#include <algorithm>
#include <functional>
#include <optional>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "design/fabric/intent.h"
#include "evidence/evidence.h"
#include "host/host_io.h"

namespace weir::host {

/// How a change of this kind goes wrong.
enum class Misbehaviour { kRefuses, kIgnores, kLosesLink };

class FakeHost : public HostIo {
 public:
  explicit FakeHost(evidence::Evidence evidence) : evidence_(std::move(evidence)) {}

  void misbehave(evidence::Setting at, Misbehaviour how) { wrong_ = {at, how}; }
  [[nodiscard]] const std::vector<Operation>& performed() const { return performed_; }

  [[nodiscard]] const std::string& name() const override { return evidence_.provenance.host; }
  [[nodiscard]] Result<evidence::Evidence> observe() override { return evidence_; }
  [[nodiscard]] Result<counters::Snapshot> snapshot() override { return counters::Snapshot{}; }
  [[nodiscard]] Status perform(const Operation& operation) override;
  [[nodiscard]] Result<CommandOutcome> run(const std::vector<std::string>& /*command*/,
                                           const LoadControl& /*control*/) override {
    return CommandOutcome{};
  }

 private:
  evidence::Evidence evidence_;
  std::optional<std::pair<evidence::Setting, Misbehaviour>> wrong_;
  std::vector<Operation> performed_;
};

/// Puts a change into the facts of a NIC, as a driver would show it afterwards.
void take(const Change& change, evidence::Nic& nic);

/// A host of the intent with NICs as a vendor ships them, every fact read.
[[nodiscard]] evidence::Evidence factory_host(const design::HostIntent& host,
                                              const design::Intent& intent);

struct FactTaker {
  evidence::Nic& nic;

  template <class T>
  static void set(evidence::Fact<T>& fact, std::type_identity_t<T> value) {
    fact = evidence::Fact<T>::of(std::move(value), "test");
  }
  void operator()(const SetGlobalPause& c) const {
    set(nic.link.pause_rx, c.rx.value_or(false));
    set(nic.link.pause_tx, c.tx.value_or(false));
  }
  void operator()(const SetDcbx& c) const { set(nic.qos.dcbx, c.mode); }
  void operator()(const SetTrust& c) const { set(nic.qos.trust, c.trust); }
  void operator()(const SetDscpMap& c) const { set(nic.qos.dscp_to_priority, c.priority); }
  void operator()(const SetPriorityToTc& c) const { set(nic.qos.priority_to_tc, c.tc); }
  void operator()(const SetScheduling& c) const {
    set(nic.qos.tsa, c.tsa);
    set(nic.qos.tc_bandwidth, c.percent);
  }
  void operator()(const SetPfc& c) const { set(nic.qos.pfc, c.on); }
  void operator()(const SetCableLength& c) const { set(nic.qos.cable_length, c.length); }
  void operator()(const SetEcn& c) const {
    set(nic.ecn.np, c.np);
    set(nic.ecn.rp, c.rp);
  }
  void operator()(const SetCnpMarking& c) const {
    set(nic.ecn.cnp_dscp, c.dscp);
    set(nic.ecn.cnp_priority, c.priority);
  }
  void operator()(const SetKnob& c) const {
    std::vector<evidence::Parameter> parameters = *nic.ecn.parameters;
    for (evidence::Parameter& parameter : parameters)
      if (parameter.name == c.name) parameter.value = c.value;
    set(nic.ecn.parameters, std::move(parameters));
  }
  void operator()(const SetTrafficClass& c) const { set(nic.rdma.traffic_class, c.tos); }
  void operator()(const SetCmTos& c) const { set(nic.rdma.cm_tos, c.tos); }
  void operator()(const SetMtu& c) const {
    set(nic.link.mtu, c.mtu);
    set(nic.link.active_mtu, c.mtu >= 4200_B ? 4096_B : 1024_B);
  }
  void operator()(const SetRings& c) const {
    set(nic.rings.rx, c.rx);
    set(nic.rings.tx, c.tx);
  }
  void operator()(const SetStackMtu& c) const {
    std::vector<evidence::Layer> layers = *nic.link.layers;
    for (evidence::Layer& layer : layers)
      layer.mtu = std::max(layer.mtu, c.mtu);
    set(nic.link.layers, std::move(layers));
  }
  void operator()(const SetIrqNodes& c) const { set(nic.pcie.irq_numa_nodes, c.nodes); }
  void operator()(const auto&) const {}  // not a NIC's, or never changed
};

inline void take(const Change& change, evidence::Nic& nic) {
  std::visit(FactTaker{nic}, change);
}

inline Status FakeHost::perform(const Operation& operation) {
  for (evidence::Nic& nic : evidence_.nics) {
    if (nic.device != operation.device) continue;
    const bool is_wrong = wrong_ && wrong_->first == setting_of(operation.change);
    if (is_wrong && wrong_->second == Misbehaviour::kRefuses)
      return Error{ErrorCode::kPermission, "Operation not permitted"};
    performed_.push_back(operation);
    if (is_wrong && wrong_->second == Misbehaviour::kIgnores) return {};
    take(operation.change, nic);
    if (is_wrong) nic.link.up = evidence::Fact<bool>::of(false, "test");
    return {};
  }
  return not_found_error("no such device");
}

inline evidence::Evidence factory_host(const design::HostIntent& host,
                                       const design::Intent& intent) {
  evidence::Evidence out;
  out.provenance = {.host = host.name, .time = "2026-01-01T00:00:00Z", .tool = "test"};
  for (const design::NicIntent& wanted : host.nics) {
    evidence::Nic nic;
    nic.device = wanted.device;
    const auto put = [](auto& fact, auto value) {
      fact = std::remove_reference_t<decltype(fact)>::of(std::move(value), "test");
    };
    put(nic.netdev, wanted.netdev);
    put(nic.rail, static_cast<unsigned>(wanted.rail));
    put(nic.driver, std::string("mlx5_core"));
    put(nic.stack, evidence::Stack::kOfed);
    put(nic.link_layer, evidence::LinkLayer::kEthernet);
    put(nic.is_virtual, false);
    put(nic.link.up, true);
    put(nic.link.speed, wanted.speed);
    put(nic.rdma.gids, std::vector<evidence::Gid>{
                           {3, "::ffff:" + wanted.address.substr(0, wanted.address.find('/')),
                            evidence::GidType::kRoceV2, wanted.netdev}});
    put(nic.qos.tc_max_rate, std::array<BitRate, 8>{});
    std::vector<evidence::Parameter> parameters;
    for (const auto& [name, value] : intent.dcqcn)
      parameters.push_back({name, value});
    put(nic.ecn.parameters, std::move(parameters));
    SetScheduling shares;
    shares.tsa.fill(evidence::Tsa::kVendor);
    shares.percent.fill(100);
    SetPriorityToTc swapped;  // mlx5's own: priority 0 on TC 1 and priority 1 on TC 0
    for (unsigned p = 0; p < 8; ++p)
      swapped.tc.at(p) = TrafficClass::of(p < 2 ? 1 - p : p);
    const Change changes[] = {SetGlobalPause{true, true},
                              SetDcbx{evidence::DcbxMode::kFirmware},
                              SetTrust{evidence::TrustMode::kPcp},
                              SetDscpMap{},
                              swapped,
                              shares,
                              SetPfc{},
                              SetCableLength{7_m},
                              SetEcn{PrioritySet::from_mask(0xff), PrioritySet::from_mask(0xff)},
                              SetCnpMarking{48_dscp, 6_prio},
                              SetTrafficClass{},
                              SetCmTos{},
                              SetMtu{1500_B},
                              SetRings{1024, 1024}};
    for (const Change& change : changes)
      take(change, nic);
    out.nics.push_back(std::move(nic));
  }
  return out;
}

}  // namespace weir::host

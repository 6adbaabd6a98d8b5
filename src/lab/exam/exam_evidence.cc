#include "lab/exam/exam_evidence.h"

#include <fmt/format.h>

#include "lab/fabric/nic_settings.h"

namespace weir::lab {
namespace {

using evidence::Evidence;
using evidence::Fact;
using evidence::Missing;

template <class T>
void hide(Fact<T>& fact, std::string source) {
  fact = Fact<T>::missing(Missing::kAbsent, std::move(source));
}

/// The kernel's own mlx5 driver has no switches for ECN and no forced traffic class.
void hide_what_the_stack_hides(const design::Intent& intent, Evidence& host) {
  for (const design::HostIntent& one : intent.hosts) {
    if (one.name != host.provenance.host) continue;
    const NicPlatform platform{one.nic_model, one.stack};
    if (platform.is_ofed_mlx5()) return;
    for (evidence::Nic& nic : host.nics) {
      const std::string netdev = nic.netdev.is_known() ? *nic.netdev : nic.device;
      hide(nic.ecn.np, fmt::format("/sys/class/net/{}/ecn", netdev));
      hide(nic.ecn.rp, fmt::format("/sys/class/net/{}/ecn", netdev));
      hide(nic.rdma.traffic_class,
           fmt::format("/sys/class/infiniband/{}/tc/1/traffic_class", nic.device));
    }
  }
}

/// Who it is, how fast, and what it is plugged into.
evidence::Nic identity(const evidence::Nic& nic) {
  evidence::Nic out;
  out.device = nic.device;
  out.port = nic.port;
  out.netdev = nic.netdev;
  out.rail = nic.rail;
  out.model = nic.model;
  out.driver = nic.driver;
  out.link_layer = nic.link_layer;
  out.link.speed = nic.link.speed;
  out.link.neighbour = nic.link.neighbour;
  return out;
}

evidence::Switch identity(const evidence::Switch& one) {
  evidence::Switch out;
  out.name = one.name;
  out.platform = one.platform;
  out.model = one.model;
  out.asic = one.asic;
  for (const evidence::SwitchPort& port : one.ports) {
    evidence::SwitchPort& kept = out.ports.emplace_back();
    kept.name = port.name;
    kept.neighbour = port.neighbour;
    kept.speed = port.speed;
  }
  return out;
}

Evidence without_settings(const Evidence& of) {
  Evidence out;
  out.provenance = of.provenance;
  out.snapshots = of.snapshots;
  for (const evidence::Nic& nic : of.nics)
    out.nics.push_back(identity(nic));
  for (const evidence::Switch& one : of.switches)
    out.switches.push_back(identity(one));
  return out;
}

}  // namespace

std::vector<Evidence> seen_in(ExamView view, const sim::Results& results,
                              const design::Intent& intent, const std::string& witness) {
  std::vector<Evidence> out;
  for (const Evidence& host : results.hosts) {
    if (view == ExamView::kOneHost && host.provenance.host != witness) continue;
    out.push_back(view == ExamView::kCounters ? without_settings(host) : host);
    if (view != ExamView::kCounters) hide_what_the_stack_hides(intent, out.back());
  }
  if (view == ExamView::kFull) out.push_back(results.switches);
  if (view == ExamView::kCounters) out.push_back(without_settings(results.switches));
  return out;
}

}  // namespace weir::lab

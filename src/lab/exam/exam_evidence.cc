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

/// The inbox mlx5 driver has no per-priority ECN files and no forced traffic class.
void hide_what_the_stack_lacks(const design::Intent& intent, Evidence& host) {
  for (const design::HostIntent& wanted : intent.hosts) {
    if (wanted.name != host.provenance.host) continue;
    const NicPlatform platform{wanted.nic_model, wanted.stack};
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

/// Name, model, speed and neighbour; no setting.
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

evidence::Switch identity(const evidence::Switch& device) {
  evidence::Switch out;
  out.name = device.name;
  out.platform = device.platform;
  out.model = device.model;
  out.asic = device.asic;
  for (const evidence::SwitchPort& port : device.ports) {
    evidence::SwitchPort& kept = out.ports.emplace_back();
    kept.name = port.name;
    kept.neighbour = port.neighbour;
    kept.speed = port.speed;
  }
  return out;
}

Evidence without_settings(const Evidence& all) {
  Evidence out;
  out.provenance = all.provenance;
  out.snapshots = all.snapshots;
  for (const evidence::Nic& nic : all.nics)
    out.nics.push_back(identity(nic));
  for (const evidence::Switch& device : all.switches)
    out.switches.push_back(identity(device));
  return out;
}

}  // namespace

std::vector<Evidence> seen_in(ExamView view, const sim::Results& results,
                              const design::Intent& intent, const std::string& witness) {
  std::vector<Evidence> out;
  for (const Evidence& host : results.hosts) {
    if (view == ExamView::kOneHost && host.provenance.host != witness) continue;
    out.push_back(view == ExamView::kCounters ? without_settings(host) : host);
    if (view != ExamView::kCounters) hide_what_the_stack_lacks(intent, out.back());
  }
  if (view == ExamView::kFull) out.push_back(results.switches);
  if (view == ExamView::kCounters) out.push_back(without_settings(results.switches));
  return out;
}

}  // namespace weir::lab

#include "sim/peer/hpcc_files.h"

#include <algorithm>
#include <map>
#include <set>

#include <fmt/format.h>

#include "sim/fabric/from_design.h"

namespace weir::sim {
namespace {

struct PeerLink {
  std::size_t lower = 0;
  std::size_t upper = 0;
  const design::LinkIntent* link = nullptr;
};

struct PeerTopology {
  std::size_t nics = 0;
  std::size_t switches = 0;
  std::vector<PeerLink> links;
};

Error beyond_peer(std::string what) {
  return {ErrorCode::kUnsupported, std::move(what)};
}

using Pair = std::pair<std::uint32_t, std::uint32_t>;  // switches, lower first

std::map<Pair, std::size_t> parallel_links(const design::Intent& intent) {
  std::map<Pair, std::size_t> count;
  for (const design::LinkIntent& link : intent.links)
    if (link.lower.kind == design::NodeKind::kSwitch) ++count[{link.lower.node, link.upper.node}];
  return count;
}

Result<PeerTopology> topology_of(const design::Intent& intent) {
  PeerTopology out;
  std::vector<std::size_t> first_nic;
  for (const design::HostIntent& host : intent.hosts) {
    first_nic.push_back(out.nics);
    out.nics += host.nics.size();
  }
  std::vector<std::size_t> planes(intent.switches.size(), 1);
  for (const auto& [pair, count] : parallel_links(intent))
    planes[pair.second] = std::max(planes[pair.second], count);
  for (const design::LinkIntent& link : intent.links) {
    const bool is_access = link.lower.kind == design::NodeKind::kHost;
    const bool is_split = is_access ? planes[link.upper.node] > 1 : planes[link.lower.node] > 1;
    if (is_split)
      return beyond_peer(
          fmt::format("{} has several links to a switch below it and is not the top of the fabric",
                      intent.switches[is_access ? link.upper.node : link.lower.node].name));
  }
  std::vector<std::size_t> first_switch;
  for (const std::size_t count : planes) {
    first_switch.push_back(out.nics + out.switches);
    out.switches += count;
  }
  std::map<Pair, std::size_t> used;
  for (const design::LinkIntent& link : intent.links) {
    if (link.lower.kind == design::NodeKind::kHost) {
      out.links.push_back(
          {first_nic[link.lower.node] + link.lower.port, first_switch[link.upper.node], &link});
      continue;
    }
    const std::size_t plane = used[{link.lower.node, link.upper.node}]++;
    out.links.push_back(
        {first_switch[link.lower.node], first_switch[link.upper.node] + plane, &link});
  }
  return out;
}

std::string topology_text(const PeerTopology& topology) {
  std::string out = fmt::format("{} {} {}\n", topology.nics + topology.switches, topology.switches,
                                topology.links.size());
  for (std::size_t i = 0; i < topology.switches; ++i)
    out += fmt::format("{}{}", i == 0 ? "" : " ", topology.nics + i);
  out += '\n';
  for (const PeerLink& link : topology.links)
    out += fmt::format("{} {} {}bps {}ns 0\n", link.lower, link.upper, link.link->speed.raw(),
                       std::max<std::int64_t>(link.link->propagation.raw() / 1000, 1));
  return out;
}

std::string flows_text(std::vector<Flow> flows) {
  std::stable_sort(flows.begin(), flows.end(),
                   [](const Flow& a, const Flow& b) { return a.post < b.post; });
  std::string out = fmt::format("{}\n", flows.size());
  for (const Flow& flow : flows) {
    const std::int64_t ns = flow.post.since_start().raw() / 1000;
    out += fmt::format("{} {} 3 100 {} {}.{:09}\n", to_index(flow.source), to_index(flow.target),
                       flow.size.raw(), ns / 1'000'000'000, ns % 1'000'000'000);
  }
  return out;
}

struct Marking {
  std::int64_t min;
  std::int64_t max;
  std::int64_t share;
  friend bool operator==(const Marking&, const Marking&) = default;
};

/// KMIN_MAP and its like: a count, then link rate and value.
Result<std::string> marking_text(const design::Intent& intent) {
  std::map<std::int64_t, Marking> by_rate;
  for (const design::SwitchIntent& node : intent.switches)
    for (const design::SwitchPortIntent& port : node.ports) {
      const Marking mine{port.wred.min.raw(), port.wred.max.raw(), port.wred.probability.raw()};
      const auto [found, is_new] = by_rate.emplace(port.speed.raw(), mine);
      if (!is_new && found->second != mine)
        return beyond_peer("switches of one link speed mark at different queue lengths");
    }
  // Whole kilobytes: third.cc reads an integer, and would take what follows a point for the next
  // word.
  const auto kilobytes = [](std::int64_t bytes) {
    return std::max<std::int64_t>((bytes + 500) / 1000, 1);
  };
  std::string min, max, share;
  for (const auto& [rate, marking] : by_rate) {
    min += fmt::format(" {} {}", rate, kilobytes(marking.min));
    max += fmt::format(" {} {}", rate, kilobytes(marking.max));
    share += fmt::format(" {} {}", rate, static_cast<double>(marking.share) / kSharePerWhole);
  }
  return fmt::format("KMIN_MAP {0}{1}\nKMAX_MAP {0}{2}\nPMAX_MAP {0}{3}\n", by_rate.size(), min,
                     max, share);
}

std::string reaction_text(const DcqcnConfig& dcqcn) {
  const auto us = [](Duration time) { return static_cast<double>(time.raw()) / 1e6; };
  const auto mbps = [](std::int64_t rate) { return fmt::format("{}Mb/s", rate / 1'000'000); };
  return fmt::format(
      "ALPHA_RESUME_INTERVAL {}\nRATE_DECREASE_INTERVAL {}\nCLAMP_TARGET_RATE {}\nRP_TIMER {}\n"
      "EWMA_GAIN {}\nFAST_RECOVERY_TIMES {}\nRATE_AI {}\nRATE_HAI {}\nMIN_RATE {}\n",
      us(dcqcn.alpha_period), us(dcqcn.cut_period), dcqcn.clamp_target ? 1 : 0,
      us(dcqcn.increase_period), static_cast<double>(dcqcn.g) / static_cast<double>(kAlphaOne),
      dcqcn.threshold, mbps(dcqcn.ai_rate), mbps(dcqcn.hai_rate), mbps(dcqcn.min_rate));
}

}  // namespace

Result<HpccFiles> hpcc_files_of(const design::Variant& fabric, const std::vector<Flow>& flows,
                                Duration stop) {
  WEIR_CHECK(!flows.empty());
  HpccFiles out;
  WEIR_TRY(topology, topology_of(fabric.intent));
  out.topology = topology_text(topology);
  out.flows = flows_text(flows);
  WEIR_TRY(marking, marking_text(fabric.intent));
  Bytes buffer = Bytes::max();
  for (const design::SwitchIntent& node : fabric.intent.switches)
    buffer = std::min(buffer, node.buffers.total);
  // The keys after CC_MODE that DCQCN does not read are there because the program wants them.
  out.config = fmt::format(
      "ENABLE_QCN {}\nUSE_DYNAMIC_PFC_THRESHOLD 1\nPACKET_PAYLOAD_SIZE {}\n"
      "TOPOLOGY_FILE topology.txt\nFLOW_FILE flows.txt\nTRACE_FILE trace.txt\n"
      "TRACE_OUTPUT_FILE mix.tr\nFCT_OUTPUT_FILE fct.txt\nPFC_OUTPUT_FILE pfc.txt\n"
      "SIMULATOR_STOP_TIME {:.3f}\nCC_MODE 1\n{}DCTCP_RATE_AI 1000Mb/s\nERROR_RATE_PER_LINK 0\n"
      "L2_CHUNK_SIZE 4000\nL2_ACK_INTERVAL 1\nL2_BACK_TO_ZERO 0\nHAS_WIN 0\nGLOBAL_T 1\nVAR_WIN 0\n"
      "FAST_REACT 0\nU_TARGET 0.95\nMI_THRESH 0\nINT_MULTI 1\nMULTI_RATE 0\nSAMPLE_FEEDBACK 0\n"
      "PINT_LOG_BASE 1.05\nPINT_PROB 1.0\nRATE_BOUND 1\nACK_HIGH_PRIO 1\nLINK_DOWN 0 0 0\n"
      "ENABLE_TRACE 0\n{}BUFFER_SIZE {}\nQLEN_MON_FILE qlen.txt\nQLEN_MON_START 2000000000\n"
      "QLEN_MON_END 2000000000\n",
      fabric.intent.switches.front().ports.front().wred.ecn ? 1 : 0, fabric.design.mtu.rdma->raw(),
      static_cast<double>(stop.raw()) / 1e12, reaction_text(dcqcn_of(fabric.design, fabric.intent)),
      marking, std::max<std::int64_t>(buffer.raw() >> 20U, 1));
  return out;
}

}  // namespace weir::sim

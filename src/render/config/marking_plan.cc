#include "render/config/marking_plan.h"

#include <map>
#include <vector>

#include <fmt/format.h>

#include "base/name_pattern.h"
#include "base/table.h"
#include "base/text.h"
#include "base/untrusted/printable.h"
#include "design/file/value_text.h"
#include "design/file/words.h"
#include "units/dscp_name.h"
#include "units/format.h"

namespace weir::render {
namespace {

using design::Design;
using design::HostIntent;
using design::Intent;
using design::NicIntent;
using design::SwitchIntent;
using design::TrafficClassDesign;

std::string marking_text(Dscp dscp) {
  const std::string_view name = dscp_name(dscp);
  return name.empty() ? to_text(dscp) : fmt::format("{} ({})", dscp.value(), name);
}

/// "24-31,48" of the code points whose priority is `wanted`.
template <class Map>
std::string points_of(const Map& map, Priority wanted) {
  std::vector<std::string> runs;
  for (unsigned first = 0; first < 64; ++first) {
    if (map.at(first) != wanted) continue;
    unsigned last = first;
    while (last + 1 < 64 && map.at(last + 1) == wanted)
      ++last;
    runs.push_back(first == last ? std::to_string(first) : fmt::format("{}-{}", first, last));
    first = last;
  }
  return join(runs, ",");
}

/// "0-23,32-47→0, 24-31→3".
template <class Map>
std::string map_text(const Map& map) {
  std::vector<std::string> parts;
  for (unsigned p = 0; p < 8; ++p) {
    const std::string points = points_of(map, Priority::of(p));
    if (!points.empty()) parts.push_back(fmt::format("{}→{}", points, p));
  }
  return join(parts, "  ");
}

// ---- who marks ----

std::string who_marks(const design::Named<TrafficClassDesign>& cls, const Design& design) {
  const TosByte tos = tos_byte(cls.value.dscp->marking, Ecn::kEct0);
  if (cls.name == design::kRdmaClass) {
    return fmt::format(
        "the job: NCCL_IB_TC={0}, UCX_IB_TRAFFIC_CLASS={0}, perftest --tclass={1}; connections "
        "through RDMA-CM: the port's default_roce_tos {2}",
        design.nccl.traffic_class->value(), tos.value(), design.marking.rdma_cm_tos->value());
  }
  if (cls.name == design::kCnpClass)
    return "the receiving NIC's notification point (cnp_dscp, cnp_802p_prio)";
  if (cls.name == design::kBestEffortClass) return "unmarked traffic";
  return "the application, or its socket's IP_TOS";
}

std::string class_table(const Design& design) {
  TextTable table({"class", "marked", "TOS byte", "DSCP of the class", "PCP", "priority", "queue",
                   "lossless", "share"});
  for (const auto& cls : design.classes) {
    const TrafficClassDesign& c = cls.value;
    const TosByte tos = tos_byte(c.dscp->marking, *c.lossless ? Ecn::kEct0 : Ecn::kNotEct);
    table.add_row({cls.name, marking_text(c.dscp->marking),
                   fmt::format("{} (0x{:02x})", tos.value(), tos.value()),
                   design::ValueText<design::DscpSet>::print(*c.dscp), to_text(*c.pcp),
                   to_text(*c.priority), to_text(*c.queue), *c.lossless ? "yes: PFC, ECN" : "no",
                   *c.scheduling == design::Scheduling::kStrict ? "strict" : to_text(*c.minimum)});
  }
  return table.to_text(2, 110);
}

std::string marker_table(const Design& design) {
  TextTable table({"class", "set by"});
  for (const auto& cls : design.classes)
    table.add_row({cls.name, who_marks(cls, design)});
  return table.to_text(2, 100);
}

// ---- where it is trusted ----

/// Nodes with equal settings are one row.
class Trusting {
 public:
  void add(const std::vector<std::string>& cells, const std::string& node) {
    auto [row, is_new] = nodes_.try_emplace(cells);
    if (is_new) order_.push_back(cells);
    row->second.push_back(node);
  }
  [[nodiscard]] std::string text() const {
    TextTable table({"where", "trusts", "PFC", "DSCP to priority"});
    for (const auto& cells : order_)
      table.add_row({compact_names(nodes_.at(cells)) + cells[0], cells[1], cells[2], cells[3]});
    return table.to_text(2, 110);
  }

 private:
  std::map<std::vector<std::string>, std::vector<std::string>> nodes_;
  std::vector<std::vector<std::string>> order_;
};

std::string trust_table(const Intent& intent) {
  Trusting rows;
  for (const HostIntent& host : intent.hosts) {
    for (const NicIntent& nic : host.nics) {
      // Equal rails of a host are one row: the first is shown.
      if (&nic != &host.nics.front() &&
          nic.dscp_to_priority == host.nics.front().dscp_to_priority &&
          nic.trust == host.nics.front().trust && nic.pfc == host.nics.front().pfc)
        continue;
      const std::string rails =
          host.nics.size() == 1
              ? " (" + nic.device + ")"
              : fmt::format(" ({} and {} more rails)", nic.device, host.nics.size() - 1);
      rows.add({rails, std::string(design::to_word(nic.trust)), to_text(nic.pfc),
                map_text(nic.dscp_to_priority)},
               host.name);
    }
  }
  for (const SwitchIntent& node : intent.switches) {
    rows.add({fmt::format(" ({}{})", design::to_word(node.system),
                          node.rewrites_dscp ? ", REWRITES the TOS byte" : ""),
              std::string(design::to_word(node.trust)), to_text(node.pfc),
              map_text(node.dscp_to_priority)},
             node.name);
  }
  return rows.text();
}

std::string where_ends(const Design& design) {
  const bool is_dscp = *design.trust == design::Trust::kDscp;
  std::string text =
      is_dscp
          ? "DSCP is carried in the IP header, so the marking holds end to end, over routed hops "
            "too. Every port above must trust it on ingress, and no device may rewrite it.\n"
          : "PCP is carried in the VLAN tag: it is lost where a port strips the tag, and on routed "
            "hops. Every hop needs the tag, or DSCP trust.\n";
  const int vlan = *design.addressing.vlan;
  text += vlan == 0
              ? "Hosts send untagged frames: the PCP column matters only where a tag is added.\n"
              : fmt::format("Hosts send in VLAN {}: the tag carries the PCP of the class.\n", vlan);
  return text;
}

}  // namespace

std::string marking_plan(const Design& design, const Intent& intent) {
  std::string text =
      fmt::format("Marking plan of {} ({})\n\n", *design.name, printable_line(design.file));
  text += "Marking and priority of each class:\n" + class_table(design);
  text += "\nSet by:\n" + marker_table(design);
  text += "\nTrust on hosts and switches:\n" + trust_table(intent);
  text += '\n' + wrap(where_ends(design), 98);
  text +=
      "\nTo check: `weir validate` on a host (trust, map, PFC), `weir verify -- ib_write_bw "
      "--tclass=…`\nunder load (the bytes must be counted in the priority above), `weir tos N` for "
      "any number.\n";
  return text;
}

}  // namespace weir::render

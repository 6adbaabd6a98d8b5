#include "wire/judge.h"

#include <algorithm>
#include <set>
#include <tuple>

#include <fmt/format.h>

#include "base/text.h"
#include "finding/catalog.h"
#include "wire/live.h"

namespace weir::wire {
namespace {

using finding::Confidence;
using finding::EvidenceLine;
using finding::Finding;
using finding::Severity;
using finding::Where;

constexpr std::size_t kData = static_cast<std::size_t>(Role::kData);
constexpr std::size_t kControl = static_cast<std::size_t>(Role::kControl);
constexpr std::size_t kCnp = static_cast<std::size_t>(Role::kCnp);
constexpr std::size_t kMostPlaces = 64;  // of one fault

std::string count_of(std::uint64_t count, std::string_view singular) {
  return fmt::format("{} {}{}", with_thousands(static_cast<std::int64_t>(count)), singular,
                     count == 1 ? "" : "s");
}

std::string flow_text(const Flow& flow) {
  return fmt::format("{} -> {} QP 0x{:x}", to_text(flow.key.source), to_text(flow.key.destination),
                     flow.key.qp);
}

bool is_connected(const Flow& flow) {
  return flow.transport == Transport::kRc || flow.transport == Transport::kUc ||
         flow.transport == Transport::kXrc;
}

class Judge {
 public:
  Judge(const Analysis& analysis, const CaptureSource& source, const Expectation& expectation)
      : analysis_(analysis),
        totals_(analysis.totals()),
        source_(source),
        expectation_(expectation) {}

  CaptureVerdict run(const Join* join, const std::string& second) {
    if (totals_.roce_packets == 0) {
      nothing_to_see();
    } else {
      marking();
      acknowledgements();
      cnp_class();
      ecn();
      order(join);
      naks();
      icrc();
      silent_receivers();
    }
    pauses();
    if (join != nullptr) joined(*join, second);
    limits();
    settle(out_.judgement);
    if (totals_.roce_packets == 0 || !source_.damage.empty())
      if (out_.judgement.findings.empty())
        out_.judgement.conclusion = finding::Conclusion::kInconclusive;
    out_.headline = headline();
    return std::move(out_);
  }

 private:
  [[nodiscard]] Where where_of(const Address& address) const {
    Where where;
    const std::string text = to_text(address);
    const auto place = expectation_.places.find(text);
    where.host = place == expectation_.places.end() ? text : place->second.host;
    if (place != expectation_.places.end()) {
      where.rail = place->second.rail;
      where.device = place->second.device;
    }
    return where;
  }
  [[nodiscard]] EvidenceLine line(std::string text) const {
    return {source_.name, std::move(text), {}, {}};
  }
  Finding& add(std::string_view id, std::string verdict, Where where) {
    out_.judgement.findings.push_back(
        finding::make_finding(id, std::move(verdict), std::move(where)));
    return out_.judgement.findings.back();
  }
  void unknown(std::string check, std::string reason, std::string how) {
    // What a capture of this kind cannot show is listed; a damaged one leaves the conclusion open.
    out_.judgement.unknown.push_back({std::move(check), std::move(reason), std::move(how), false});
  }

  /// Flows of one source with one fault, reported together.
  struct Group {
    std::uint64_t packets = 0;
    std::uint64_t flows = 0;
    std::uint8_t tos = 0;
    std::vector<std::string> examples;
    void add(const Flow& flow, std::uint64_t count, std::uint8_t byte) {
      constexpr std::size_t kExamples = 3;
      packets += count;
      ++flows;
      tos = byte;
      if (examples.size() < kExamples)
        examples.push_back(fmt::format("{}: {} with TOS 0x{:02x}", flow_text(flow),
                                       count_of(count, "packet"), byte));
    }
  };
  using Groups = std::map<std::pair<Address, unsigned>, Group>;

  /// Packets of `role` in code points outside the lossless classes, by source and code point.
  [[nodiscard]] Groups outside(std::size_t role) const {
    Groups groups;
    for (const Flow& flow : analysis_.flows()) {
      if (!is_connected(flow)) continue;
      for (const TosTally::Entry& entry : flow.tos[role].entries()) {
        const unsigned dscp = entry.tos >> 2U;
        if (is_right(dscp) || (role == kControl && follows_data(flow, dscp))) continue;
        const auto key = std::pair(flow.key.source, dscp);
        if (groups.size() < kMostPlaces || groups.contains(key))
          groups[key].add(flow, entry.packets, entry.tos);
      }
    }
    return groups;
  }
  /// Answers to data that is itself in this class: the connection is wrong, not its ACKs.
  [[nodiscard]] bool follows_data(const Flow& flow, unsigned dscp) const {
    if (flow.other_way == kNoFlow) return false;
    return analysis_.flows()[flow.other_way].tos[kData].dscp() == dscp;
  }
  /// Without a design any marking may be meant, except the two that never are.
  [[nodiscard]] bool is_right(unsigned dscp) const {
    if (expectation_.is_design()) return expectation_.is_lossless(dscp);
    return dscp != 0 && dscp != typed_as_tos();
  }
  /// The code point that comes out when the DSCP is typed where a TOS byte belongs: 26 gives 6.
  [[nodiscard]] unsigned typed_as_tos() const { return expectation_.rdma.value() >> 2U; }

  void marking() {
    for (const auto& [key, group] : outside(kData)) {
      const auto& [address, dscp] = key;
      const unsigned right = expectation_.rdma.value();
      std::string verdict;
      std::string_view id = "dscp.unmarked";
      const std::string many = fmt::format("{} of {}", count_of(group.packets, "data packet"),
                                           count_of(group.flows, "flow"));
      if (dscp == typed_as_tos()) {
        id = "dscp.tos_confusion";
        const unsigned typed = group.tos;
        verdict = fmt::format(
            "{} carry TOS 0x{:02x} = DSCP {}: a DSCP ({}) typed where a TOS byte belongs; DSCP {} "
            "is written {}",
            many, typed, dscp, (typed & 3U) == 3 ? right : typed, right, (right << 2U) | 2U);
      } else {
        verdict = fmt::format("{} carry TOS 0x{:02x} = DSCP {}{}, expected DSCP {}{}", many,
                              group.tos, dscp, dscp == 0 ? " (best effort)" : "", right,
                              expectation_.is_design() ? " by the design" : "");
      }
      Finding& found = add(id, std::move(verdict), where_of(address));
      for (const std::string& example : group.examples)
        found.evidence.push_back(line(example));
      if (out_.walk.empty()) walk_back(address, dscp, group.tos);
    }
  }

  // ---- the walk back ----

  void walk_back(const Address& address, unsigned dscp, std::uint8_t tos) {
    std::set<unsigned> of_source;
    for (const Flow& flow : analysis_.flows())
      if (flow.key.source == address && is_connected(flow))
        for (const TosTally::Entry& entry : flow.tos[kData].entries())
          of_source.insert(entry.tos >> 2U);
    const bool differs = of_source.size() > 1;
    const bool is_known = expectation_.places.contains(to_text(address));
    std::string_view device = "<device>";
    if (is_known) device = expectation_.places.find(to_text(address))->second.device;
    const auto step = [&](std::string name, std::string seen, std::vector<std::string> commands) {
      out_.walk.push_back({std::move(name), std::move(seen), std::move(commands)});
    };
    step("trust",
         "trust does not change the byte, it decides the priority that the byte gives the packet; "
         "a NIC or switch that trusts PCP, or nothing, may also rewrite it",
         {"mlnx_qos -i <netdev> | grep trust", "dcb app show dev <netdev>", "weir show"});
    step("map",
         fmt::format("DSCP {} goes where the NIC's and each switch's map say: normally priority {}",
                     dscp, dscp / 8),
         {"mlnx_qos -i <netdev>", "dcb app show dev <netdev> dscp-prio"});
    step("traffic class",
         tos == 0 ? std::string("0x00: no traffic class was set")
                  : fmt::format("0x{:02x} = {}: read as a DSCP it would be {}, as a TOS byte it is "
                                "DSCP {}",
                                tos, tos, tos & 0x3FU, dscp),
         {fmt::format("weir tos {}", tos), "env | grep -E 'NCCL_IB_TC|UCX_IB_TRAFFIC_CLASS'",
          "weir job <script>"});
    step("application override",
         differs ? "flows of this source carry different code points: one application sets its own"
                 : "all flows of this source carry the same code point: no single application",
         {"weir job <script or log>", "ib_write_bw --tclass=106 …  (perftest's default is 0)"});
    step("per-port value",
         differs ? "a per-port traffic_class would have made all flows alike: it is not set"
                 : "a per-port traffic_class overrides every application: look whether it is set",
         {fmt::format("cat /sys/class/infiniband/{}/tc/1/traffic_class", device),
          fmt::format("cat /sys/kernel/config/rdma_cm/{}/ports/1/default_roce_tos", device)});
    std::string nic = "compare the source address with the NICs that were set up";
    if (expectation_.is_design())
      nic =
          is_known
              ? fmt::format("{} is {} of the design: the right NIC", to_text(address), device)
              : fmt::format("{} is no RDMA address of the design: the wrong NIC", to_text(address));
    step("wrong NIC", nic,
         {"show_gids", "rdma link", "env | grep -E 'NCCL_IB_HCA|UCX_NET_DEVICES'"});
  }

  // ---- the other classes ----

  void acknowledgements() {
    // A source whose data is wrong as well has one fault, not two.
    const Groups data = outside(kData);
    for (const auto& [key, group] : outside(kControl)) {
      if (data.contains(key)) continue;
      Finding& found =
          add("dscp.one_way",
              fmt::format("{} (ACKs, NAKs, READ requests) carry DSCP {}, while data is expected in "
                          "DSCP {}: they are in another class",
                          count_of(group.packets, "packet"), key.second, expectation_.rdma.value()),
              where_of(key.first));
      for (const std::string& example : group.examples)
        found.evidence.push_back(line(example));
    }
  }

  void cnp_class() {
    std::map<std::pair<Address, unsigned>, std::uint64_t> seen;
    for (const Flow& flow : analysis_.flows())
      for (const TosTally::Entry& entry : flow.tos[kCnp].entries())
        if (seen.size() < kMostPlaces) seen[{flow.key.source, entry.tos >> 2U}] += entry.packets;
    for (const auto& [key, count] : seen) {
      const auto& [address, dscp] = key;
      const bool shares = expectation_.is_design() ? expectation_.is_lossless(dscp)
                                                   : dscp == expectation_.rdma.value();
      if (shares) {
        add("cnp.shares_rdma_priority",
            fmt::format("{} carry DSCP {}, a lossless class: they wait behind the congestion they "
                        "report",
                        count_of(count, "CNP"), dscp),
            where_of(address));
      } else if (dscp != expectation_.cnp.value() && (expectation_.is_design() || dscp == 0)) {
        add("cnp.wrong_class",
            fmt::format("{} carry DSCP {}, expected {}", count_of(count, "CNP"), dscp,
                        expectation_.cnp.value()),
            where_of(address));
      }
    }
  }

  void ecn() {
    Groups groups;
    for (const Flow& flow : analysis_.flows()) {
      if (!is_connected(flow)) continue;
      for (const TosTally::Entry& entry : flow.tos[kData].entries()) {
        const unsigned dscp = entry.tos >> 2U;
        if ((entry.tos & 3U) != 0 || !is_right(dscp)) continue;
        if (groups.size() < kMostPlaces)
          groups[{flow.key.source, dscp}].add(flow, entry.packets, entry.tos);
      }
    }
    for (const auto& [key, group] : groups) {
      Finding& found =
          add("ecn.not_ect",
              fmt::format("{} carry TOS 0x{:02x}: DSCP {} but not ECN-capable, so switches drop "
                          "where they would mark (0x{:02x} is right)",
                          count_of(group.packets, "data packet"), group.tos, key.second,
                          group.tos | 2U),
              where_of(key.first));
      for (const std::string& example : group.examples)
        found.evidence.push_back(line(example));
    }
  }

  // ---- loss and order ----

  void order(const Join* join) {
    std::size_t told = 0;
    for (const Flow& flow : analysis_.flows()) {
      if (told >= kMostPlaces) break;
      const std::uint64_t again = flow.retransmitted();
      if (flow.lost() == 0 && again == 0 && flow.out_of_order() == 0) continue;
      ++told;
      const Flow* back = flow.other_way == kNoFlow ? nullptr : &analysis_.flows()[flow.other_way];
      const std::uint64_t asked = back == nullptr ? 0 : back->naks.sequence;
      if (back != nullptr && again > 0 && flow.lost() == 0 && asked == 0 && back->naks.rnr > 0)
        continue;  // sent again because the receiver was not ready: that has its own finding
      const bool was_only_late = flow.out_of_order() > 0 && flow.lost() == 0;
      const bool join_says_none =
          join != nullptr && join->totals().lost == 0 && join->totals().matched > 0;
      if (was_only_late || (join_says_none && flow.lost() == 0 && asked > 0))
        reordering(flow, again, asked);
      else
        loss(flow, again, asked, back != nullptr);
    }
  }

  void reordering(const Flow& flow, std::uint64_t again, std::uint64_t asked) {
    Finding& found = add(
        "path.reordering",
        fmt::format("{}: {} late and none lost{}", flow_text(flow),
                    count_of(flow.out_of_order(), "packet"),
                    again == 0 ? std::string()
                               : fmt::format("; {} sent again for it ({})",
                                             count_of(again, "packet"), count_of(asked, "NAK"))),
        where_of(flow.key.source));
    found.confidence = Confidence::kHigh;
    found.evidence.push_back(line(fmt::format("{} in the numbering, all filled by late packets",
                                              count_of(flow.gaps(), "gap"))));
  }

  void loss(const Flow& flow, std::uint64_t again, std::uint64_t asked, bool has_back) {
    std::string what;
    Confidence confidence = Confidence::kHigh;
    if (flow.lost() > 0) {
      what = fmt::format("{} lost before the place of the capture, {} sent again",
                         count_of(flow.lost(), "packet"), count_of(again, "packet"));
    } else if (asked > 0) {
      what = fmt::format(
          "{} sent again after {}: lost behind the place of the capture, or "
          "reordered there",
          count_of(again, "packet"), count_of(asked, "NAK"));
      confidence = Confidence::kMedium;
    } else {
      what = fmt::format("{} sent again{}: the packet or its ACK was lost, or the timer is short",
                         count_of(again, "packet"), has_back ? " without a NAK" : "");
      confidence = Confidence::kMedium;
    }
    Finding& found =
        add("path.loss", fmt::format("{}: {}", flow_text(flow), what), where_of(flow.key.source));
    found.confidence = confidence;
    if (flow.gaps() > 0)
      found.evidence.push_back(
          line(fmt::format("{}, {} missing: {} lost, {} late", count_of(flow.gaps(), "gap"),
                           flow.requests.counts().missing + flow.responses.counts().missing,
                           flow.lost(), flow.out_of_order())));
  }

  void naks() {
    const Naks& naks = totals_.naks;
    if (naks.rnr > 0) {
      Finding& found = add(
          "app.receives_too_few",
          fmt::format("{}: the receiver had no receive posted", count_of(naks.rnr, "RNR NAK")), {});
      for (const Flow& flow : analysis_.flows())
        if (flow.naks.rnr > 0 && found.evidence.size() < 3) {
          found.evidence.push_back(
              line(fmt::format("{}: {}", flow_text(flow), count_of(flow.naks.rnr, "RNR NAK"))));
          if (found.where.host.empty()) found.where = where_of(flow.key.source);
        }
    }
    if (naks.other() > 0) {
      add("app.protocol_error",
          fmt::format("{} that end a connection: {} invalid request, {} remote access, {} remote "
                      "operation, {} with reserved codes",
                      count_of(naks.other(), "NAK"), naks.invalid_request, naks.remote_access,
                      naks.remote_operation, naks.reserved),
          {});
    }
  }

  void icrc() {
    if (totals_.icrc_bad == 0) return;
    Finding& found =
        add("packet.icrc_bad",
            fmt::format("{} of {} with a wrong ICRC", count_of(totals_.icrc_bad, "packet"),
                        count_of(totals_.icrc_bad + totals_.icrc_good, "packet")),
            {});
    for (const Flow& flow : analysis_.flows())
      if (flow.icrc_bad > 0 && found.evidence.size() < 3)
        found.evidence.push_back(
            line(fmt::format("{}: {}", flow_text(flow), count_of(flow.icrc_bad, "bad packet"))));
  }

  void silent_receivers() {
    std::map<Address, std::pair<std::uint64_t, std::uint64_t>> seen;  // receiver: marks, CNPs
    for (const Flow& flow : analysis_.flows()) {
      if (!is_connected(flow) || flow.other_way == kNoFlow) continue;
      auto& [marks, cnps] = seen[flow.key.destination];
      marks += flow.tos[kData].with_ecn(3);
      cnps += analysis_.flows()[flow.other_way].by_role[kCnp];
    }
    for (const auto& [address, counts] : seen) {
      if (counts.first < expectation_.thresholds.captured_marks_that_matter || counts.second > 0)
        continue;
      Finding& found =
          add("np.disabled",
              fmt::format("{} with CE reached it and it sent no CNP, though its other packets are "
                          "in the capture",
                          count_of(counts.first, "packet")),
              where_of(address));
      found.confidence = Confidence::kMedium;
    }
  }

  void pauses() {
    for (const PauseSource& from : totals_.pausers) {
      Where where;
      where.port = fmt::format("MAC {:012x}", from.mac);
      if (from.pause > 0)
        add("pause.global_on",
            fmt::format("{} of 802.3x, which stop every class at once",
                        count_of(from.pause, "pause frame")),
            where);
      std::string wrong;
      std::uint64_t frames = 0;
      int paused = 0;
      for (unsigned i = 0; i < 8; ++i) {
        if (from.xoff[i] == 0) continue;
        ++paused;
        if (expectation_.pfc.contains(Priority::of(i))) continue;
        frames += from.xoff[i];
        wrong += fmt::format("{}{}", wrong.empty() ? "" : ", ", i);
      }
      if (wrong.empty() || (!expectation_.is_design() && paused == 1)) continue;
      add("pfc.multiple_priorities",
          fmt::format("{} for priority {}, which should never be paused",
                      count_of(frames, "PFC frame"), wrong),
          where);
    }
  }

  // ---- two places ----

  void joined(const Join& join, const std::string& second) {
    const JoinTotals& all = join.totals();
    if (all.matched == 0) return;
    std::size_t told = 0;
    for (const JoinedFlow& flow : join.flows()) {
      if (told >= kMostPlaces) break;
      const std::string name = fmt::format("{} -> {} QP 0x{:x}", to_text(flow.key.source),
                                           to_text(flow.key.destination), flow.key.qp);
      const int up = flow.upstream();
      const auto side = static_cast<std::size_t>(up < 0 ? 0 : up);
      const std::string& from = side == 0 ? source_.name : second;
      const std::string& to = side == 0 ? second : source_.name;
      if (up >= 0 && flow.only[side] > 0) {
        ++told;
        Finding& found = add("path.loss",
                             fmt::format("{}: {} of {} seen in {} never reached {}", name,
                                         flow.only[side], flow.only[side] + flow.matched, from, to),
                             where_of(flow.key.source));
        found.confidence = Confidence::kHigh;
      }
      if (flow.remarked > 0) {
        ++told;
        const bool forward = side == 0;
        add("dscp.rewritten",
            fmt::format("{}: {} left {} with DSCP {} and reached {} with DSCP {}", name,
                        count_of(flow.remarked, "packet"), from,
                        forward ? flow.dscp_first : flow.dscp_second, to,
                        forward ? flow.dscp_second : flow.dscp_first),
            where_of(flow.key.source));
      }
      if (flow.ecn_erased > 0) {
        ++told;
        add("dscp.rewritten",
            fmt::format("{}: {} lost their ECN bits between {} and {}", name,
                        count_of(flow.ecn_erased, "packet"), from, to),
            where_of(flow.key.source));
      }
    }
    if (all.undecided > 0)
      unknown("join",
              fmt::format("{} left the window of the join before the other capture showed "
                          "them",
                          count_of(all.undecided, "packet")),
              "cut both captures to the same time: editcap -A … -B …");
  }

  // ---- what could not be seen ----

  void nothing_to_see() {
    unknown("RoCE",
            totals_.packets == 0
                ? std::string("the capture holds no frame")
                : fmt::format("{} and no RoCE among them", count_of(totals_.packets, "frame")),
            fmt::format("{} {}", kBlindNote, "See below, or docs/wire.md, how to capture it."));
  }

  void limits() {
    if (!source_.damage.empty())
      unknown("the rest of the capture", source_.damage,
              "everything before it was read; capture again, or repair it: pcapfix");
    if (source_.dropped > 0)
      unknown("frames the capture lost",
              fmt::format("{} dropped while capturing", count_of(source_.dropped, "frame")),
              "gaps may be the capture's: tcpdump -B 262144, a shorter -s, a mirror of one port");
    if (totals_.flow_overflow > 0)
      unknown("further flows",
              fmt::format("{} of flows beyond the first {} count in the totals alone",
                          count_of(totals_.flow_overflow, "packet"), analysis_.most_flows()),
              "weir pcap --flows N keeps more");
    if (totals_.icrc_unverified > 0)
      unknown("ICRC",
              fmt::format("{} not captured whole", count_of(totals_.icrc_unverified, "packet")),
              "capture without a snap length: tcpdump -s 0");
    if (totals_.cut > 0)
      unknown(
          "cut packets",
          fmt::format("{} end before the base transport header", count_of(totals_.cut, "packet")),
          "capture without a snap length: tcpdump -s 0");
    for (const std::uint16_t link : source_.strange_links)
      unknown("link type", fmt::format("frames of link type {} are not read", link),
              "capture on an Ethernet interface");
  }

  [[nodiscard]] std::string headline() const {
    if (totals_.roce_packets == 0)
      return fmt::format("No RoCE in {}: nothing can be said about it.",
                         count_of(totals_.packets, "frame"));
    std::string carries;
    std::vector<std::pair<std::uint64_t, unsigned>> bytes;
    for (unsigned tos = 0; tos < 256; ++tos)
      if (const std::uint64_t n = totals_.tos[kData][tos]; n > 0) bytes.emplace_back(n, tos);
    std::sort(bytes.rbegin(), bytes.rend());
    constexpr std::size_t kShown = 3;
    for (std::size_t i = 0; i < bytes.size() && i < kShown; ++i)
      carries += fmt::format("{}TOS 0x{:02x} (DSCP {})", i == 0 ? "" : ", ", bytes[i].second,
                             bytes[i].second >> 2U);
    if (bytes.size() > kShown) carries += fmt::format(" and {} more", bytes.size() - kShown);
    if (bytes.empty()) carries = "no data";
    const auto errors = out_.judgement.count(Severity::kError);
    const auto warnings = out_.judgement.count(Severity::kWarning);
    std::string verdict = "as it should be";
    if (errors + warnings > 0)
      verdict = fmt::format("{} and {}", count_of(static_cast<std::uint64_t>(errors), "error"),
                            count_of(static_cast<std::uint64_t>(warnings), "warning"));
    return fmt::format("RoCE carries {}: {}; {} in {}.", carries, verdict,
                       count_of(totals_.roce_packets, "RoCE packet"),
                       count_of(analysis_.flows().size(), "flow"));
  }

  const Analysis& analysis_;
  const Totals& totals_;
  const CaptureSource& source_;
  const Expectation& expectation_;
  CaptureVerdict out_;
};

}  // namespace

Expectation expectation_of(const design::Design& design, const design::Intent& intent) {
  Expectation out;
  out.source = design.file;
  out.lossless = 0;
  for (const auto& cls : design.classes) {
    if (*cls.value.lossless) out.lossless |= cls.value.dscp->mask;
    if (cls.name == design::kRdmaClass) out.rdma = cls.value.dscp->marking;
    if (cls.name == design::kCnpClass) out.cnp = cls.value.dscp->marking;
  }
  out.pfc = *design.pfc.priorities;
  for (const design::HostIntent& host : intent.hosts)
    for (const design::NicIntent& nic : host.nics)
      out.places.emplace(nic.address.substr(0, nic.address.find('/')),
                         Expectation::Place{host.name, std::to_string(nic.rail), nic.device});
  return out;
}

CaptureVerdict judge(const Analysis& analysis, const CaptureSource& source,
                     const Expectation& expectation, const Join* join, const std::string& second) {
  return Judge(analysis, source, expectation).run(join, second);
}

}  // namespace weir::wire

// D8: the five questions, from sums over everything that was seen.
#include <set>

#include <fmt/format.h>

#include "base/count_text.h"
#include "base/text.h"
#include "diagnose/core/interpret.h"
#include "diagnose/rules/rule.h"

namespace weir::diagnose {
namespace {

constexpr std::size_t kLines = 6;

/// A sum over NICs and switch ports; absent where nobody shows the counter.
class Total {
 public:
  void add(const Counts& counts, std::string_view id, std::optional<unsigned> number = {}) {
    const auto amount = number ? counts.of(id, number) : counts.sum(id);
    if (!amount) return;
    sum_ = sum_.value_or(0) + *amount;
    if (*amount > 0 && lines_.size() < kLines) lines_.push_back(line(counts, id, number, *amount));
  }
  [[nodiscard]] bool is_known() const { return sum_.has_value(); }
  [[nodiscard]] std::uint64_t value() const { return sum_.value_or(0); }
  [[nodiscard]] const std::vector<finding::EvidenceLine>& lines() const { return lines_; }

 private:
  static finding::EvidenceLine line(const Counts& counts, std::string_view id,
                                    std::optional<unsigned> number, std::uint64_t amount) {
    if (number) return counts.line(id, number);
    finding::EvidenceLine out;
    out.source = counts.source();
    out.counter = std::string(id);
    out.value = signed_count(amount);
    out.line = fmt::format("{} +{}", id, count_text(amount));
    return out;
  }

  std::optional<std::uint64_t> sum_;
  std::vector<finding::EvidenceLine> lines_;
};

Total over_nics(const View& view, std::initializer_list<std::string_view> ids) {
  Total total;
  for (const std::string_view id : ids)
    for (const NicView& nic : view.nics())
      total.add(nic.counts, id);
  return total;
}

Total over_ports(const View& view, std::initializer_list<std::string_view> ids) {
  Total total;
  for (const std::string_view id : ids)
    for (const PortView& port : view.ports())
      total.add(port.counts, id);
  return total;
}

void append(Question& question, const Total& total) {
  question.lines.insert(question.lines.end(), total.lines().begin(), total.lines().end());
}

Question is_dcqcn_working(const View& view) {
  Question out;
  out.question = "Is DCQCN working?";
  const Total marked = over_nics(view, {"nic.np.ecn_marked.packets"});
  const Total sent = over_nics(view, {"nic.np.cnp_sent.packets"});
  const Total handled = over_nics(view, {"nic.rp.cnp_handled.packets"});
  for (const Total* total : {&marked, &sent, &handled})
    append(out, *total);
  if (!marked.is_known() || !sent.is_known()) {
    out.sentence = "No NIC showed its congestion counters.";
    out.is_good = false;
  } else if (marked.value() == 0) {
    out.sentence = "No packet arrived with a mark: there was nothing to react to.";
  } else if (sent.value() == 0) {
    out.answer = Answer::kNo;
    out.is_good = false;
    out.sentence = fmt::format("{} marked packets arrived and no CNP was sent.", marked.value());
  } else if (handled.is_known() && handled.value() == 0) {
    out.answer = Answer::kNo;
    out.is_good = false;
    out.sentence = fmt::format("{} CNPs were sent and none was handled.", sent.value());
  } else {
    out.answer = Answer::kYes;
    out.sentence = fmt::format("{} marked packets, {} CNPs sent, {} handled.", marked.value(),
                               sent.value(), handled.value());
  }
  return out;
}

Question are_we_dropping(const View& view) {
  Question out;
  out.question = "Are we dropping?";
  const Total at_switches =
      over_ports(view, {"switch.pg.drop_headroom.packets", "switch.queue.drop_watchdog.packets",
                        "switch.port.drop_mtu.packets", "switch.port.drop_ttl.packets",
                        "switch.port.drop_no_route.packets", "switch.port.drop_link_down.packets"});
  const Total at_nics =
      over_nics(view, {"nic.port.rx_discard.packets", "nic.prio.rx_discard.packets",
                       "nic.resp.out_of_sequence.packets", "nic.req.seq_nak_received.packets",
                       "nic.req.ack_timeout.events", "nic.req.retry_exceeded.events"});
  append(out, at_switches);
  append(out, at_nics);
  const std::uint64_t sum = at_switches.value() + at_nics.value();
  if (!at_switches.is_known() && !at_nics.is_known()) {
    out.is_good = false;
    out.sentence = "No counter of loss was read.";
  } else if (sum == 0) {
    out.answer = Answer::kNo;
    out.sentence = "No drop in the lossless class, and no sign of loss at any NIC.";
  } else {
    out.answer = Answer::kYes;
    out.is_good = false;
    out.sentence = fmt::format("{} packets dropped by switches, {} signs of loss at NICs.",
                               at_switches.value(), at_nics.value());
  }
  return out;
}

Question is_pfc_firing(const View& view) {
  Question out;
  out.question = "Is PFC firing?";
  Total held;
  Total holding;
  Total fabric;
  for (const NicView& nic : view.nics()) {
    held.add(nic.counts, "nic.prio.pause_rx.frames", view.rdma());
    holding.add(nic.counts, "nic.prio.pause_tx.frames", view.rdma());
  }
  for (const PortView& port : view.ports())
    if (!port.nic) fabric.add(port.counts, "switch.prio.pause_tx.frames", view.rdma());
  for (const Total* total : {&held, &holding, &fabric})
    append(out, *total);
  if (!held.is_known() && !holding.is_known() && !fabric.is_known()) {
    out.is_good = false;
    out.sentence = fmt::format("No pause counter of priority {} was read.", view.rdma());
  } else if (held.value() + holding.value() + fabric.value() == 0) {
    out.answer = Answer::kNo;
    out.sentence = fmt::format("No pause in priority {}.", view.rdma());
  } else {
    out.answer = Answer::kYes;
    out.is_good = holding.value() == 0;
    out.sentence = fmt::format(
        "Switches paused NICs with {} frames, NICs paused switches with {}, switches each other "
        "with {}.",
        held.value(), holding.value(), fabric.value());
  }
  return out;
}

/// The first few, and how many more.
std::string named(std::vector<std::string> names) {
  constexpr std::size_t kNamed = 4;
  const std::size_t more = names.size() > kNamed ? names.size() - kNamed : 0;
  names.resize(names.size() - more);
  return join(names, ", ") + (more > 0 ? fmt::format(" and {} more", more) : std::string());
}

/// Ends of cables whose link is down now.
std::vector<std::string> links_down(const View& view) {
  std::vector<std::string> down;
  for (const NicView& nic : view.nics())
    if (nic.facts != nullptr && nic.facts->link.up.is(false)) down.push_back(name_of(nic));
  for (const PortView& port : view.ports())
    if (!port.nic && port.facts != nullptr && port.facts->up.is(false))
      down.push_back(name_of(port));
  return down;
}

/// Rails that carried nothing on hosts where another rail did: the load may have taken the wrong
/// device. A host without any load is not part of it.
std::vector<std::string> idle_rails(const View& view) {
  const auto carried = [&](const NicView& nic) {
    return nic.counts.sum("nic.prio.tx.bytes").value_or(0) +
           nic.counts.sum("nic.prio.rx.bytes").value_or(0);
  };
  std::set<std::string_view> busy_hosts;
  std::vector<const NicView*> quiet;
  for (const NicView& nic : view.nics()) {
    if (carried(nic) >= view.thresholds().bytes_that_matter) {
      busy_hosts.insert(nic.host);
    } else if (nic.counts.sum("nic.prio.tx.bytes")) {
      quiet.push_back(&nic);
    }
  }
  std::vector<std::string> idle;
  for (const NicView* nic : quiet)
    if (busy_hosts.contains(nic->host)) idle.push_back(name_of(*nic));
  return idle;
}

/// Where no driver counts bytes by priority: whether RDMA flowed at all, and on which devices.
Question flow_by_packets(const View& view, Question out) {
  Total packets;
  std::vector<std::string> busy;
  for (const NicView& nic : view.nics()) {
    packets.add(nic.counts, "nic.rdma.tx.packets");
    packets.add(nic.counts, "nic.rdma.rx.packets");
    if (nic.counts.of("nic.rdma.tx.packets").value_or(0) > 0) busy.push_back(name_of(nic));
  }
  append(out, packets);
  if (!packets.is_known()) {
    out.is_good = false;
    out.sentence = "No NIC showed its bytes by priority.";
    return out;
  }
  out.answer = packets.value() > 0 ? Answer::kYes : Answer::kNo;
  out.is_good = packets.value() > 0;
  out.sentence = packets.value() == 0
                     ? "No RDMA packet on any device."
                     : fmt::format("{} RDMA packets, on {}; in which priority nobody counts.",
                                   count_text(packets.value()), named(std::move(busy)));
  return out;
}

Question did_traffic_flow(const View& view) {
  Question out;
  out.question = "Did traffic flow, and on the right device?";
  Total rdma;
  Total all;
  for (const NicView& nic : view.nics()) {
    rdma.add(nic.counts, "nic.prio.tx.bytes", view.rdma());
    all.add(nic.counts, "nic.prio.tx.bytes");
  }
  append(out, rdma);
  const double share =
      all.value() == 0 ? 0 : static_cast<double>(rdma.value()) / static_cast<double>(all.value());
  if (!rdma.is_known()) return flow_by_packets(view, std::move(out));
  const bool is_enough = rdma.value() >= view.thresholds().bytes_that_matter;
  const bool is_little = all.value() < view.thresholds().bytes_that_matter && all.value() > 0;
  out.answer = is_enough ? Answer::kYes : is_little ? Answer::kUnknown : Answer::kNo;
  out.is_good = out.answer == Answer::kYes;
  out.sentence =
      fmt::format("{} of {} bytes sent were in priority {} ({}).", count_text(rdma.value()),
                  count_text(all.value()), view.rdma(), percent(share));
  if (out.answer == Answer::kUnknown) out.sentence += " Too little to judge by.";
  const std::vector<std::string> idle = idle_rails(view);
  if (!idle.empty()) out.sentence += fmt::format(" Idle beside busy rails: {}.", named(idle));
  return out;
}

Question is_link_healthy(const View& view) {
  Question out;
  out.question = "Is the link healthy?";
  const Total nics = over_nics(view, {"nic.phy.crc_error.packets", "nic.phy.symbol_error.events",
                                      "nic.phy.link_down.events"});
  const Total ports =
      over_ports(view, {"switch.port.crc_error.packets", "switch.port.link_down.events"});
  append(out, nics);
  append(out, ports);
  const std::vector<std::string> down = links_down(view);
  if (!down.empty()) {
    out.answer = Answer::kNo;
    out.is_good = false;
    out.sentence = fmt::format("Down: {}.", named(down));
  } else if (!nics.is_known() && !ports.is_known()) {
    out.is_good = false;
    out.sentence = "No counter of the physical layer was read.";
  } else if (nics.value() + ports.value() == 0) {
    out.answer = Answer::kYes;
    out.sentence = "No broken frame and no link that went down.";
  } else {
    out.answer = Answer::kNo;
    out.is_good = false;
    out.sentence = fmt::format("{} errors or losses of link.", nics.value() + ports.value());
  }
  return out;
}

}  // namespace

std::string_view to_text(Answer answer) {
  switch (answer) {
    case Answer::kYes: return "yes";
    case Answer::kNo: return "no";
    case Answer::kUnknown: return "cannot tell";
  }
  WEIR_UNREACHABLE("every answer has a text");
}

std::vector<Question> five_questions(const View& view) {
  return {is_dcqcn_working(view), are_we_dropping(view), is_pfc_firing(view),
          did_traffic_flow(view), is_link_healthy(view)};
}

}  // namespace weir::diagnose

// D8: the five questions, from sums over all NICs and switch ports that were read.
#include <algorithm>
#include <set>

#include <fmt/format.h>

#include "base/count_text.h"
#include "base/text.h"
#include "diagnose/core/interpret.h"
#include "diagnose/rules/rule.h"

namespace weir::diagnose {
namespace {

constexpr std::size_t kLines = 6;

/// A sum over NICs and switch ports; absent if no device has the counter.
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

Question answered(Question question, Answer answer, bool is_good, std::string sentence) {
  question.answer = answer;
  question.is_good = is_good;
  question.sentence = std::move(sentence);
  return question;
}

Question not_read(Question question, std::string sentence) {
  return answered(std::move(question), Answer::kUnknown, false, std::move(sentence));
}

Question is_dcqcn_working(const View& view) {
  Question out{.question = "Is DCQCN working?"};
  const Total marked = over_nics(view, {"nic.np.ecn_marked.packets"});
  const Total sent = over_nics(view, {"nic.np.cnp_sent.packets"});
  const Total handled = over_nics(view, {"nic.rp.cnp_handled.packets"});
  for (const Total* total : {&marked, &sent, &handled})
    append(out, *total);
  const bool is_software =
      !view.nics().empty() &&
      std::all_of(view.nics().begin(), view.nics().end(), [](const NicView& nic) {
        return nic.facts != nullptr && evidence::driver_of(*nic.facts) == counters::Driver::kRxe;
      });
  if (is_software)
    return answered(std::move(out), Answer::kNotNeeded, true,
                    "Soft-RoCE has no congestion control.");
  if (!marked.is_known() && !sent.is_known())
    return not_read(std::move(out), "No congestion counters were read.");
  if (!marked.is_known() || (!sent.is_known() && marked.value() > 0))
    return not_read(std::move(out), fmt::format("Of marks and CNPs only {} were read.",
                                                marked.is_known() ? "marks" : "CNPs"));
  if (marked.value() == 0)
    return answered(std::move(out), Answer::kNotNeeded, true,
                    "No marked packets arrived: there was nothing to react to.");
  if (sent.value() == 0)
    return answered(std::move(out), Answer::kNo, false,
                    fmt::format("{} marked packets arrived and no CNP was sent.", marked.value()));
  if (handled.is_known() && handled.value() == 0)
    return answered(std::move(out), Answer::kNo, false,
                    fmt::format("{} CNPs were sent and none was handled.", sent.value()));
  return answered(std::move(out), Answer::kYes, true,
                  fmt::format("{} marked packets arrived, {} CNPs sent, {} handled.",
                              marked.value(), sent.value(), handled.value()));
}

Question are_we_dropping(const View& view) {
  Question out{.question = "Are we dropping?"};
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
  if (!at_switches.is_known() && !at_nics.is_known())
    return not_read(std::move(out), "No loss counters were read.");
  if (at_switches.value() + at_nics.value() == 0)
    return answered(std::move(out), Answer::kNo, true,
                    "No drops in the lossless class and no loss events at the NICs.");
  return answered(std::move(out), Answer::kYes, false,
                  fmt::format("{} packets dropped by switches, {} loss events at NICs.",
                              at_switches.value(), at_nics.value()));
}

Question is_pfc_firing(const View& view) {
  Question out{.question = "Is PFC firing?"};
  Total to_nics;
  Total from_nics;
  Total fabric;
  for (const NicView& nic : view.nics()) {
    to_nics.add(nic.counts, "nic.prio.pause_rx.frames", view.rdma());
    from_nics.add(nic.counts, "nic.prio.pause_tx.frames", view.rdma());
  }
  for (const PortView& port : view.ports())
    if (!port.nic) fabric.add(port.counts, "switch.prio.pause_tx.frames", view.rdma());
  for (const Total* total : {&to_nics, &from_nics, &fabric})
    append(out, *total);
  if (!to_nics.is_known() && !from_nics.is_known() && !fabric.is_known())
    return not_read(std::move(out),
                    fmt::format("No pause counters of priority {} were read.", view.rdma()));
  if (to_nics.value() + from_nics.value() + fabric.value() == 0)
    return answered(std::move(out), Answer::kNo, true,
                    fmt::format("No pauses in priority {}.", view.rdma()));
  return answered(
      std::move(out), Answer::kYes, from_nics.value() == 0,
      fmt::format("Pause frames: {} from switches to NICs, {} from NICs to switches, {} between "
                  "switches.",
                  to_nics.value(), from_nics.value(), fabric.value()));
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

/// Rails without traffic on hosts where another rail had some: the load may have used the wrong
/// device. A host without any load is left out.
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

/// If no driver counts bytes by priority: whether RDMA flowed at all, and on which devices.
Question flow_by_packets(const View& view, Question out) {
  Total packets;
  std::vector<std::string> busy;
  for (const NicView& nic : view.nics()) {
    packets.add(nic.counts, "nic.rdma.tx.packets");
    packets.add(nic.counts, "nic.rdma.rx.packets");
    if (nic.counts.of("nic.rdma.tx.packets").value_or(0) > 0) busy.push_back(name_of(nic));
  }
  append(out, packets);
  if (!packets.is_known())
    return not_read(std::move(out), "No bytes by priority were read from any NIC.");
  if (packets.value() == 0)
    return answered(std::move(out), Answer::kNo, false, "No RDMA packets on any device.");
  return answered(std::move(out), Answer::kYes, true,
                  fmt::format("{} RDMA packets on {}; the driver does not count by priority.",
                              count_text(packets.value()), named(std::move(busy))));
}

Question did_traffic_flow(const View& view) {
  Question out{.question = "Did traffic flow, and on the right device?"};
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
  if (out.answer == Answer::kUnknown) out.sentence += " Too little to judge.";
  const std::vector<std::string> idle = idle_rails(view);
  if (!idle.empty())
    out.sentence += fmt::format(" Idle while other rails were busy: {}.", named(idle));
  return out;
}

Question is_link_healthy(const View& view) {
  Question out{.question = "Is the link healthy?"};
  const Total nics = over_nics(view, {"nic.phy.crc_error.packets", "nic.phy.symbol_error.events",
                                      "nic.phy.link_down.events"});
  const Total ports =
      over_ports(view, {"switch.port.crc_error.packets", "switch.port.link_down.events"});
  append(out, nics);
  append(out, ports);
  const std::vector<std::string> down = links_down(view);
  if (!down.empty())
    return answered(std::move(out), Answer::kNo, false, fmt::format("Down: {}.", named(down)));
  if (!nics.is_known() && !ports.is_known())
    return not_read(std::move(out), "No counters of the physical layer were read.");
  if (nics.value() + ports.value() == 0)
    return answered(std::move(out), Answer::kYes, true, "No frame errors and no link-down events.");
  const std::uint64_t events = nics.value() + ports.value();
  const std::string count = fmt::format("{} frame error{} or link-down event{}", events,
                                        events == 1 ? "" : "s", events == 1 ? "" : "s");
  if (view.is_read_once({}))
    return not_read(std::move(out),
                    fmt::format("{} since the counters were cleared; read them again.", count));
  return answered(std::move(out), Answer::kNo, false, count + ".");
}

}  // namespace

std::string_view to_text(Answer answer) {
  switch (answer) {
    case Answer::kYes: return "yes";
    case Answer::kNo: return "no";
    case Answer::kUnknown: return "cannot tell";
    case Answer::kNotNeeded: return "not needed";
  }
  WEIR_UNREACHABLE("every answer has a text");
}

std::vector<Question> five_questions(const View& view) {
  return {is_dcqcn_working(view), are_we_dropping(view), is_pfc_firing(view),
          did_traffic_flow(view), is_link_healthy(view)};
}

}  // namespace weir::diagnose

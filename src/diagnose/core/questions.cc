// D8: the five questions, from sums over all NICs and switch ports that were read.
#include <algorithm>
#include <set>
#include <span>

#include <fmt/format.h>

#include "base/count_text.h"
#include "base/text.h"
#include "counters/catalog.h"
#include "diagnose/core/interpret.h"
#include "diagnose/core/shape.h"
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

/// "A, B and C": of what was read.
std::string listed(const std::vector<std::string>& parts) {
  if (parts.size() < 2) return join(parts, "");
  return join(std::span(parts).first(parts.size() - 1), ", ") + " and " + parts.back();
}

bool is_all_software(const View& view) {
  return !view.nics().empty() &&
         std::all_of(view.nics().begin(), view.nics().end(), [](const NicView& nic) {
           return nic.facts != nullptr && evidence::driver_of(*nic.facts) == counters::Driver::kRxe;
         });
}

/// What DCQCN did, as far as it was read.
struct Dcqcn {
  Total marked;
  Total sent;     // CNPs, by receivers
  Total handled;  // … by senders
  Total ignored;

  explicit Dcqcn(const View& view)
      : marked(over_nics(view, {"nic.np.ecn_marked.packets"})),
        sent(over_nics(view, {"nic.np.cnp_sent.packets"})),
        handled(over_nics(view, {"nic.rp.cnp_handled.packets"})),
        ignored(over_nics(view, {"nic.rp.cnp_ignored.packets"})) {}

  [[nodiscard]] std::uint64_t arrived() const { return handled.value() + ignored.value(); }
  /// "100 marked packets arrived, 20 CNPs sent, 18 handled"
  [[nodiscard]] std::string sentence() const {
    std::vector<std::string> parts;
    if (marked.is_known())
      parts.push_back(fmt::format("{} marked packets arrived", marked.value()));
    if (sent.is_known()) parts.push_back(fmt::format("{} CNPs sent", sent.value()));
    if (handled.is_known())
      parts.push_back(fmt::format("{}{} handled", handled.value(), parts.empty() ? " CNPs" : ""));
    if (ignored.value() > 0) parts.push_back(fmt::format("{} ignored", ignored.value()));
    return join(parts, ", ");
  }
};

Question is_dcqcn_working(const View& view) {
  Question out{.question = "Is DCQCN working?"};
  const Dcqcn seen(view);
  for (const Total* total : {&seen.marked, &seen.sent, &seen.handled, &seen.ignored})
    append(out, *total);
  if (is_all_software(view))
    return answered(std::move(out), Answer::kNotNeeded, true,
                    "Soft-RoCE has no congestion control.");
  // The senders' half: it does not need the receivers'.
  const bool is_ignored = std::any_of(view.nics().begin(), view.nics().end(),
                                      [&](const NicView& nic) { return ignores_cnps(view, nic); });
  if (is_ignored)
    return answered(std::move(out), Answer::kNo, false,
                    seen.handled.is_known()
                        ? fmt::format("Of {} CNPs that arrived {} were ignored.", seen.arrived(),
                                      seen.ignored.value())
                        : fmt::format("{} CNPs were ignored.", seen.ignored.value()));
  const bool are_cut = seen.handled.value() > 0;
  if (!seen.marked.is_known() && !seen.sent.is_known()) {
    if (!are_cut) return not_read(std::move(out), "No congestion counters were read.");
    return answered(std::move(out), Answer::kYes, true,
                    seen.sentence() + "; marks at receivers were not read.");
  }
  if (!seen.marked.is_known() || (!seen.sent.is_known() && seen.marked.value() > 0))
    return not_read(std::move(out), fmt::format("Of marks and CNPs only {} were read.",
                                                seen.marked.is_known() ? "marks" : "CNPs"));
  if (seen.marked.value() == 0 && !are_cut)
    return answered(std::move(out), Answer::kNotNeeded, true,
                    "No marked packets arrived: there was nothing to react to.");
  if (seen.marked.value() > 0 && seen.sent.value() == 0)
    return answered(
        std::move(out), Answer::kNo, false,
        fmt::format("{} marked packets arrived and no CNP was sent.", seen.marked.value()));
  if (are_cut) return answered(std::move(out), Answer::kYes, true, seen.sentence() + ".");
  if (!seen.handled.is_known())
    return not_read(std::move(out), seen.sentence() + "; what senders did with them was not read.");
  if (!sees_every_nic(view))
    return not_read(std::move(out), fmt::format("{} marked packets arrived, {} CNPs sent; the NICs "
                                                "that were read handled none, but the senders may "
                                                "be others.",
                                                seen.marked.value(), seen.sent.value()));
  return answered(std::move(out), Answer::kNo, false,
                  fmt::format("{} CNPs were sent and none was handled.", seen.sent.value()));
}

/// "No drops in the lossless class and no loss events at the NICs; …": what was read, and what not.
std::string nothing_lost(bool has_headroom, bool has_drops, bool has_discards, bool has_order) {
  std::vector<std::string> nothing;
  std::vector<std::string> open;
  if (has_headroom) {
    nothing.emplace_back("no drops in the lossless class");
  } else if (has_drops) {
    nothing.emplace_back("no drops for other reasons than a full buffer at switches");
  }
  if (!has_headroom) open.emplace_back("drops in the lossless class of switches");
  if (has_discards && has_order) {
    nothing.emplace_back("no loss events at the NICs");
  } else {
    if (has_discards) nothing.emplace_back("no discards at the NICs");
    if (has_order) nothing.emplace_back("no retransmissions at the NICs");
    open.emplace_back(has_discards ? "retransmissions at the NICs"
                      : has_order  ? "discards at the NICs"
                                   : "loss events at the NICs");
  }
  std::string text = listed(nothing);
  text.front() = 'N';
  return open.empty() ? text + "." : fmt::format("{}; not read: {}.", text, listed(open));
}

Question are_we_dropping(const View& view) {
  Question out{.question = "Are we dropping?"};
  const Total headroom = over_ports(view, {"switch.pg.drop_headroom.packets"});
  const Total elsewhere =
      over_ports(view, {"switch.queue.drop_watchdog.packets", "switch.port.drop_mtu.packets",
                        "switch.port.drop_ttl.packets", "switch.port.drop_no_route.packets",
                        "switch.port.drop_link_down.packets"});
  const Total discards =
      over_nics(view, {"nic.port.rx_discard.packets", "nic.prio.rx_discard.packets"});
  const Total order =
      over_nics(view, {"nic.resp.out_of_sequence.packets", "nic.req.seq_nak_received.packets"});
  const Total timers =
      over_nics(view, {"nic.req.ack_timeout.events", "nic.req.retry_exceeded.events"});
  for (const Total* total : {&headroom, &elsewhere, &discards, &order, &timers})
    append(out, *total);
  const bool has_switches = headroom.is_known() || elsewhere.is_known();
  const bool has_transport = order.is_known() || timers.is_known();
  if (!has_switches && !discards.is_known() && !has_transport)
    return not_read(std::move(out), "No loss counters were read.");
  const std::uint64_t dropped = headroom.value() + elsewhere.value();
  const std::uint64_t lost = discards.value() + timers.value();
  if (dropped + lost + order.value() == 0) {
    std::string sentence =
        nothing_lost(headroom.is_known(), elsewhere.is_known(), discards.is_known(), has_transport);
    // Only the end of a path that asks again sees what was lost on it.
    if (!has_transport && !headroom.is_known()) return not_read(std::move(out), sentence);
    return answered(std::move(out), Answer::kNo, true, std::move(sentence));
  }
  if (dropped + lost == 0 && shows_only_reordering(view))
    return answered(std::move(out), Answer::kNo, true,
                    fmt::format("{} signs of packets that came late, and none that one was lost.",
                                count_text(order.value())));
  std::vector<std::string> parts;
  if (has_switches)
    parts.push_back(fmt::format("{} packets dropped by switches", count_text(dropped)));
  if (discards.is_known() || has_transport)
    parts.push_back(fmt::format("{} loss events at NICs", count_text(lost + order.value())));
  if (view.is_read_once({}))
    return not_read(std::move(out),
                    join(parts, ", ") + " since the counters were cleared; read them again.");
  return answered(std::move(out), Answer::kYes, false, join(parts, ", ") + ".");
}

/// The longest that a NIC or a port towards a switch had to be silent in the RDMA priority.
double longest_pause(const View& view) {
  double longest = 0;
  const auto look = [&](const Counts& counts, std::string_view id) {
    longest = std::max(longest, counts.share_of_window(id, view.rdma()).value_or(0));
  };
  for (const NicView& nic : view.nics()) {
    look(nic.counts, "nic.prio.pause_rx.microseconds");
    look(nic.counts, "nic.prio.pause_tx.microseconds");
  }
  for (const PortView& port : view.ports()) {
    look(port.counts, "switch.prio.pause_rx.microseconds");
    look(port.counts, "switch.prio.pause_tx.microseconds");
  }
  return longest;
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
  std::vector<std::string> parts;
  const auto take = [&](const Total& total, std::string_view way) {
    append(out, total);
    if (total.is_known()) parts.push_back(fmt::format("{} {}", total.value(), way));
  };
  take(to_nics, "from switches to NICs");
  take(from_nics, "from NICs to switches");
  take(fabric, "between switches");
  if (parts.empty())
    return not_read(std::move(out),
                    fmt::format("No pause counters of priority {} were read.", view.rdma()));
  if (to_nics.value() + from_nics.value() + fabric.value() == 0)
    return answered(std::move(out), Answer::kNo, true,
                    fmt::format("No pauses in priority {}.", view.rdma()));
  const double longest = longest_pause(view);
  std::string sentence = fmt::format("Pause frames: {}", join(parts, ", "));
  if (longest >= view.thresholds().pause_warning)
    sentence += fmt::format("; {} of the window at one port", percent(longest));
  if (view.is_read_once({}))
    return not_read(std::move(out),
                    sentence + " since the counters were cleared; read them again.");
  return answered(std::move(out), Answer::kYes,
                  from_nics.value() == 0 && longest < view.thresholds().pause_warning,
                  sentence + ".");
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

/// No NIC is of a driver that counts bytes by priority: irdma, bnxt_en, ionic and mlx5 do.
bool counts_no_priorities(const View& view) {
  return std::all_of(view.nics().begin(), view.nics().end(), [](const NicView& nic) {
    return nic.counts.are_there() &&
           counters::driver_of(nic.counts.delta()->driver) == counters::Driver::kRxe;
  });
}

/// If no bytes by priority were read: whether RDMA flowed at all, and on which devices.
Question flow_by_port(const View& view, Question out) {
  Total packets;
  Total bytes;
  std::vector<std::string> busy;
  for (const NicView& nic : view.nics()) {
    Total here;
    for (const std::string_view id : {"nic.rdma.tx.packets", "nic.rdma.rx.packets"}) {
      packets.add(nic.counts, id);
      here.add(nic.counts, id);
    }
    for (const std::string_view id : {"nic.rdma.tx.bytes", "nic.rdma.rx.bytes"}) {
      bytes.add(nic.counts, id);
      here.add(nic.counts, id);
    }
    if (here.value() > 0) busy.push_back(name_of(nic));
  }
  append(out, packets);
  append(out, bytes);
  if (!packets.is_known() && !bytes.is_known())
    return not_read(std::move(out), "No bytes by priority were read from any NIC.");
  if (packets.value() + bytes.value() == 0)
    return answered(std::move(out), Answer::kNo, false, "No RDMA packets on any device.");
  return answered(
      std::move(out), Answer::kYes, true,
      fmt::format("{} {} on {}; {}.",
                  count_text(packets.value() > 0 ? packets.value() : bytes.value()),
                  packets.value() > 0 ? "RDMA packets" : "bytes of RDMA", named(std::move(busy)),
                  counts_no_priorities(view) ? "the driver does not count by priority"
                                             : "in which priority was not read (ethtool -S)"));
}

/// What went one way, in the RDMA priority and in all of them.
struct Flow {
  Total rdma;
  Total all;

  Flow(const View& view, std::string_view id) {
    for (const NicView& nic : view.nics()) {
      rdma.add(nic.counts, id, view.rdma());
      all.add(nic.counts, id);
    }
  }
  [[nodiscard]] std::string sentence(std::string_view way, unsigned priority) const {
    const double share =
        all.value() == 0 ? 0 : static_cast<double>(rdma.value()) / static_cast<double>(all.value());
    return fmt::format("{} of {} bytes {} were in priority {} ({}).", count_text(rdma.value()),
                       count_text(all.value()), way, priority, percent(share));
  }
};

Question did_traffic_flow(const View& view) {
  Question out{.question = "Did traffic flow, and on the right device?"};
  const Flow sent(view, "nic.prio.tx.bytes");
  const Flow received(view, "nic.prio.rx.bytes");
  // Of hosts that mostly receive (less than half of it went the other way) what they received is
  // the answer.
  const bool is_sent = sent.rdma.is_known() && sent.all.value() >= received.all.value() / 2;
  const Flow& flow = is_sent ? sent : received;
  if (!flow.rdma.is_known()) return flow_by_port(view, std::move(out));
  append(out, flow.rdma);
  const std::uint64_t enough = view.thresholds().bytes_that_matter;
  const bool is_enough = flow.rdma.value() >= enough;
  const bool is_little = flow.all.value() < enough && flow.all.value() > 0;
  out.answer = is_enough ? Answer::kYes : is_little ? Answer::kUnknown : Answer::kNo;
  out.is_good = out.answer == Answer::kYes;
  out.sentence = flow.sentence(is_sent ? "sent" : "received", view.rdma());
  if (out.answer == Answer::kUnknown) out.sentence += " Too little to judge.";
  const std::vector<std::string> idle = idle_rails(view);
  if (!idle.empty())
    out.sentence += fmt::format(" Idle while other rails were busy: {}.", named(idle));
  return out;
}

Question is_link_healthy(const View& view) {
  Question out{.question = "Is the link healthy?"};
  Total errors = over_nics(view, {"nic.phy.crc_error.packets", "nic.phy.symbol_error.events"});
  Total downs = over_nics(view, {"nic.phy.link_down.events"});
  for (const PortView& port : view.ports()) {
    errors.add(port.counts, "switch.port.crc_error.packets");
    downs.add(port.counts, "switch.port.link_down.events");
  }
  append(out, errors);
  append(out, downs);
  const std::vector<std::string> down = links_down(view);
  if (!down.empty())
    return answered(std::move(out), Answer::kNo, false, fmt::format("Down: {}.", named(down)));
  if (!errors.is_known() && !downs.is_known())
    return not_read(std::move(out), "No counters of the physical layer were read.");
  if (errors.value() + downs.value() == 0 && errors.is_known())
    return answered(std::move(out), Answer::kYes, true,
                    downs.is_known() ? "No frame errors and no link-down events."
                                     : "No frame errors; link-down events were not read.");
  if (downs.value() + errors.value() == 0)
    return not_read(std::move(out), "No link-down events; frame errors were not read.");
  const std::uint64_t events = errors.value() + downs.value();
  const std::string count = fmt::format("{} frame error{} or link-down event{}", events,
                                        events == 1 ? "" : "s", events == 1 ? "" : "s");
  if (view.is_read_once({}))
    return not_read(std::move(out),
                    fmt::format("{} since the counters were cleared; read them again.", count));
  return answered(std::move(out), Answer::kNo, false, count + ".");
}

}  // namespace

std::vector<Question> five_questions(const View& view) {
  return {is_dcqcn_working(view), are_we_dropping(view), is_pfc_firing(view),
          did_traffic_flow(view), is_link_healthy(view)};
}

}  // namespace weir::diagnose

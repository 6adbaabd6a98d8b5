#include "cli/text/pcap_text.h"

#include <fmt/format.h>

#include "base/count_text.h"
#include "base/table.h"
#include "base/text.h"
#include "units/format.h"
#include "wire/analysis_json.h"
#include "wire/live.h"

namespace weir::cli {
namespace {

constexpr std::size_t kWidth = 88;
constexpr std::size_t kLabel = 15;

std::string number(std::uint64_t value) {
  return count_text(value);
}

std::string share(std::uint64_t part, std::uint64_t whole) {
  if (whole == 0) return "-";
  return fmt::format("{:.2f} %", 100.0 * static_cast<double>(part) / static_cast<double>(whole));
}

std::string rate(std::uint64_t count, std::int64_t duration_ns) {
  if (duration_ns <= 0) return "-";
  return fmt::format("{:.0f}/s",
                     static_cast<double>(count) * 1e9 / static_cast<double>(duration_ns));
}

std::string bit_rate(std::uint64_t bytes, std::int64_t duration_ns) {
  if (duration_ns <= 0) return "-";
  const double bits = 8 * static_cast<double>(bytes) * 1e9 / static_cast<double>(duration_ns);
  if (bits >= 1e9) return fmt::format("{:.2f} Gb/s", bits / 1e9);
  return fmt::format("{:.2f} Mb/s", bits / 1e6);
}

std::string time_text(std::uint64_t nanoseconds) {
  return approximate(Duration::raw(static_cast<std::int64_t>(nanoseconds) * 1000));
}

std::string tos_list(const wire::Totals& totals, wire::Role role) {
  std::string text;
  const auto& counts = totals.tos[static_cast<std::size_t>(role)];
  for (unsigned tos = 0; tos < 256; ++tos)
    if (counts[tos] > 0)
      text += fmt::format("{}0x{:02x} {}", text.empty() ? "" : ", ", tos, number(counts[tos]));
  return text.empty() ? "none" : text;
}

void row(Context& context, std::string_view label, const std::string& text) {
  context.out << fmt::format("  {:<{}}{}\n", label, kLabel,
                             hang(text, kWidth - kLabel, kLabel + 2));
}

void print_order(const wire::Totals& totals, Context& context) {
  row(context, "order",
      fmt::format("{} retransmitted, {} out of order, {} gaps ({} lost before here), {} copies",
                  number(totals.retransmitted), number(totals.out_of_order), number(totals.gaps),
                  number(totals.lost), number(totals.duplicates)));
  row(context, "answers",
      fmt::format("{} ACKs; NAKs: {} sequence, {} RNR, {} other", number(totals.acks),
                  number(totals.naks.sequence), number(totals.naks.rnr),
                  number(totals.naks.other())));
}

void print_totals(const wire::Totals& totals, Context& context) {
  const std::int64_t time = totals.duration_ns();
  row(context, "capture",
      fmt::format("{} frames, {} RoCE, {}{}", number(totals.packets), number(totals.roce_packets),
                  time_text(static_cast<std::uint64_t>(std::max<std::int64_t>(time, 0))),
                  time > 0 ? fmt::format(", RoCE {}", bit_rate(totals.roce_bytes, time)) : ""));
  if (totals.pfc + totals.pause > 0)
    row(context, "pauses",
        fmt::format("{} PFC frames, {} of 802.3x, from {} ports", number(totals.pfc),
                    number(totals.pause), totals.pausers.size()));
  if (totals.roce_packets == 0) return;
  row(context, "data", fmt::format("TOS {}", tos_list(totals, wire::Role::kData)));
  row(context, "ACKs, requests", fmt::format("TOS {}", tos_list(totals, wire::Role::kControl)));
  row(context, "CNPs",
      totals.cnps() == 0
          ? std::string("none")
          : fmt::format("{} ({}), TOS {}", number(totals.cnps()), rate(totals.cnps(), time),
                        tos_list(totals, wire::Role::kCnp)));
  row(context, "CE",
      fmt::format("{} packets, {} of all", number(totals.ce),
                  share(totals.ce, totals.roce_packets)));
  print_order(totals, context);
  row(context, "ICRC",
      fmt::format("{} good, {} bad, {} not verifiable", number(totals.icrc_good),
                  number(totals.icrc_bad), number(totals.icrc_unverified)));
  if (totals.message_bytes.count() > 0)
    row(context, "messages",
        fmt::format("{}, {} to {} bytes, half of them up to {}",
                    number(totals.message_bytes.count()), number(totals.message_bytes.least()),
                    number(totals.message_bytes.most()),
                    number(totals.message_bytes.quantile(500))));
  if (totals.ack_ns.count() > 0)
    row(context, "to the ACK",
        fmt::format("p50 {}, p99 {}, at most {} ({} requests)",
                    time_text(totals.ack_ns.quantile(500)), time_text(totals.ack_ns.quantile(990)),
                    time_text(totals.ack_ns.most()), number(totals.ack_ns.count())));
}

std::string flow_tos(const wire::Flow& flow) {
  std::string text;
  for (const wire::TosTally& tally : flow.tos)
    for (const wire::TosTally::Entry& entry : tally.entries()) {
      const std::string byte = fmt::format("{:02x}", entry.tos);
      if (text.find(byte) == std::string::npos) text += (text.empty() ? "" : " ") + byte;
    }
  return text;
}

}  // namespace

void print_capture(const wire::Analysis& analysis, std::size_t most, Context& context) {
  const wire::Totals& totals = analysis.totals();
  context.out << '\n';
  print_totals(totals, context);
  if (analysis.flows().empty()) return;
  TextTable table(
      {"from", "to", "QP", "TOS", "packets", "MB", "CE", "CNP", "again", "late", "NAK", "ACK p99"},
      {Align::kLeft, Align::kLeft, Align::kRight, Align::kLeft, Align::kRight, Align::kRight,
       Align::kRight, Align::kRight, Align::kRight, Align::kRight, Align::kRight, Align::kRight});
  std::size_t shown = 0;
  for (const std::uint32_t index : wire::largest_flows(analysis)) {
    if (most != 0 && shown == most) break;
    ++shown;
    const wire::Flow& flow = analysis.flows()[index];
    table.add_row({to_text(flow.key.source), to_text(flow.key.destination),
                   fmt::format("0x{:x}", flow.key.qp), flow_tos(flow), number(flow.packets),
                   fmt::format("{:.2f}", static_cast<double>(flow.bytes) / 1e6), number(flow.ce),
                   number(flow.by_role[static_cast<std::size_t>(wire::Role::kCnp)]),
                   number(flow.retransmitted()), number(flow.out_of_order()),
                   number(flow.naks.all()),
                   flow.ack_ns.count() == 0 ? "-" : time_text(flow.ack_ns.quantile(990))});
  }
  context.out << '\n' << table.to_text(2);
  if (shown < analysis.flows().size())
    context.out << fmt::format("  … and {} flows more: --all\n", analysis.flows().size() - shown);
}

void print_walk(const std::vector<wire::WalkStep>& walk, Context& context) {
  if (walk.empty()) return;
  context.out << "\nThe walk back: who may have set that byte, in this order\n";
  int count = 0;
  for (const wire::WalkStep& step : walk) {
    const std::string text = fmt::format("{}. {}: {}", ++count, step.name, step.seen);
    context.out << "  " << hang(text, kWidth - 5, 5) << '\n';
    for (const std::string& command : step.commands)
      context.out << "       " << command << '\n';
  }
}

void print_join(const wire::Join& join, const std::string& first, const std::string& second,
                Context& context) {
  const wire::JoinTotals& all = join.totals();
  context.out << fmt::format(
      "\n  both places     {} packets in both; {} only in {}, {} only in {}; {} with another "
      "DSCP,\n"
      "                  {} marked CE on the way. No latency is derived: the clocks differ.\n",
      number(all.matched), number(all.only[0]), first, number(all.only[1]), second,
      number(all.remarked), number(all.ce_only[0] + all.ce_only[1]));
}

void print_capture_ways(Context& context) {
  context.out << '\n' << wrap(wire::kBlindNote, kWidth) << " What does:\n";
  for (const wire::CaptureWay& way : wire::capture_ways())
    context.out << fmt::format("  {}: {}\n", way.nic, hang(way.how, kWidth - 4, 4));
}

}  // namespace weir::cli

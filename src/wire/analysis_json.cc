#include "wire/analysis_json.h"

#include <algorithm>
#include <numeric>
#include <tuple>

#include <fmt/format.h>

#include "base/json.h"

namespace weir::wire {
namespace {

constexpr double kNanoseconds = 1e9;

double microseconds(std::uint64_t nanoseconds) {
  return static_cast<double>(nanoseconds) / 1000;
}

/// A rate over the time of the capture; none where the capture has no length.
Json per_second(std::uint64_t count, std::int64_t duration_ns) {
  if (duration_ns <= 0) return nullptr;
  return static_cast<double>(count) * kNanoseconds / static_cast<double>(duration_ns);
}

Json tos_json(const TosTally& tally) {
  Json object = Json::object();
  std::vector<TosTally::Entry> sorted(tally.entries().begin(), tally.entries().end());
  std::sort(sorted.begin(), sorted.end(),
            [](const auto& a, const auto& b) { return a.tos < b.tos; });
  for (const TosTally::Entry& entry : sorted)
    object[fmt::format("0x{:02x}", entry.tos)] = entry.packets;
  if (tally.others() > 0) object["other"] = tally.others();
  return object;
}

Json nak_json(const Naks& naks) {
  return {{"sequence", naks.sequence},
          {"rnr", naks.rnr},
          {"other", naks.other()},
          {"invalid_request", naks.invalid_request},
          {"remote_access", naks.remote_access},
          {"remote_operation", naks.remote_operation}};
}

Json size_json(const Histogram& sizes) {
  return {{"count", sizes.count()}, {"min", sizes.least()},       {"mean", sizes.mean()},
          {"max", sizes.most()},    {"p50", sizes.quantile(500)}, {"p99", sizes.quantile(990)}};
}

Json latency_json(const Histogram& times) {
  if (times.count() == 0) return nullptr;
  return {{"count", times.count()},
          {"min_us", microseconds(times.least())},
          {"mean_us", times.mean() / 1000},
          {"p50_us", microseconds(times.quantile(500))},
          {"p99_us", microseconds(times.quantile(990))},
          {"max_us", microseconds(times.most())}};
}

std::string_view transport_word(Transport transport) {
  switch (transport) {
    case Transport::kRc: return "rc";
    case Transport::kUc: return "uc";
    case Transport::kRd: return "rd";
    case Transport::kUd: return "ud";
    case Transport::kXrc: return "xrc";
    case Transport::kCnp: return "cnp";
    case Transport::kUnknown: break;
  }
  return "unknown";
}

Json flow_json(const Flow& flow, const Analysis& analysis) {
  Json object = {{"source", to_text(flow.key.source)},
                 {"destination", to_text(flow.key.destination)},
                 {"qp", flow.key.qp},
                 {"transport", transport_word(flow.transport)},
                 {"roce", flow.is_v1 ? 1 : 2},
                 {"source_port", flow.source_port},
                 {"packets", flow.packets},
                 {"bytes", flow.bytes},
                 {"payload_bytes", flow.payload}};
  const auto dscp = flow.tos[0].dscp();
  object["dscp"] = dscp ? Json(*dscp) : Json(nullptr);
  object["tos"] = {{"data", tos_json(flow.tos[0])},
                   {"control", tos_json(flow.tos[1])},
                   {"cnp", tos_json(flow.tos[2])}};
  object["vlan"] = flow.vlan;
  object["pcp"] = flow.pcp;
  object["ce_packets"] = flow.ce;
  object["cnp_packets"] = flow.by_role[static_cast<std::size_t>(Role::kCnp)];
  object["acks"] = flow.acks;
  object["nak"] = nak_json(flow.naks);
  object["retransmitted"] = flow.retransmitted();
  object["out_of_order"] = flow.out_of_order();
  object["gaps"] = flow.gaps();
  object["lost"] = flow.lost();
  object["duplicates"] = flow.duplicates;
  object["icrc_bad"] = flow.icrc_bad;
  object["messages"] = size_json(flow.message_bytes);
  object["ack_latency"] = latency_json(flow.ack_ns);
  object["other_way_qp"] =
      flow.other_way == kNoFlow ? Json(nullptr) : Json(analysis.flows()[flow.other_way].key.qp);
  object["start_s"] =
      static_cast<double>(flow.first_ns - analysis.totals().first_ns) / kNanoseconds;
  object["duration_s"] = static_cast<double>(flow.last_ns - flow.first_ns) / kNanoseconds;
  Json bins = Json::array();
  for (std::size_t i = 0; i < flow.bytes_over_time.size(); ++i)
    bins.push_back(flow.bytes_over_time[i]);
  object["bytes_over_time"] = {
      {"bin_us", microseconds(static_cast<std::uint64_t>(flow.bytes_over_time.width_ns()))},
      {"bytes", std::move(bins)}};
  return object;
}

Json pausers_json(const Totals& totals) {
  Json list = Json::array();
  for (const PauseSource& from : totals.pausers)
    list.push_back({{"mac", fmt::format("{:012x}", from.mac)},
                    {"pfc", from.pfc},
                    {"pause_8023x", from.pause},
                    {"xoff", from.xoff},
                    {"xon", from.xon},
                    {"quanta", from.quanta}});
  return list;
}

Json timeline_json(const Totals& totals) {
  Json object = {{"bin_us", microseconds(static_cast<std::uint64_t>(totals.over_time.width_ns()))}};
  Json packets = Json::array();
  Json bytes = Json::array();
  Json ce = Json::array();
  Json cnps = Json::array();
  Json repeats = Json::array();
  Json pauses = Json::array();
  for (std::size_t i = 0; i < totals.over_time.size(); ++i) {
    const Moment& moment = totals.over_time[i];
    packets.push_back(moment.packets);
    bytes.push_back(moment.bytes);
    ce.push_back(moment.ce);
    cnps.push_back(moment.cnps);
    repeats.push_back(moment.repeats);
    pauses.push_back(moment.pauses);
  }
  object["packets"] = std::move(packets);
  object["bytes"] = std::move(bytes);
  object["ce"] = std::move(ce);
  object["cnps"] = std::move(cnps);
  object["retransmitted"] = std::move(repeats);
  object["pauses"] = std::move(pauses);
  return object;
}

void add_counts(Json& object, const Totals& totals) {
  object["tos"] = Json::object();
  object["dscp"] = Json::object();
  std::array<std::uint64_t, 4> ecn{};
  for (unsigned tos = 0; tos < 256; ++tos) {
    const std::uint64_t count = totals.tos_packets(static_cast<std::uint8_t>(tos));
    if (count == 0) continue;
    object["tos"][fmt::format("0x{:02x}", tos)] = count;
    Json& dscp = object["dscp"][std::to_string(tos >> 2U)];
    dscp = (dscp.is_null() ? std::uint64_t{0} : dscp.get<std::uint64_t>()) + count;
    ecn[tos & 3U] += count;
  }
  object["ecn"] = {{"not_ect", ecn[0]}, {"ect1", ecn[1]}, {"ect0", ecn[2]}, {"ce", ecn[3]}};
  const std::uint64_t capable = ecn[1] + ecn[2] + ecn[3];
  object["ce_packets"] = totals.ce;
  object["ce_share"] = capable == 0
                           ? Json(nullptr)
                           : Json(static_cast<double>(totals.ce) / static_cast<double>(capable));
  object["cnp_packets"] = totals.cnps();
  object["cnp_per_s"] = per_second(totals.cnps(), totals.duration_ns());
  object["opcodes"] = Json::object();
  for (unsigned code = 0; code < 256; ++code)
    if (totals.opcodes[code] > 0)
      object["opcodes"][opcode_name(static_cast<std::uint8_t>(code))] = totals.opcodes[code];
  object["acks"] = totals.acks;
  object["nak"] = nak_json(totals.naks);
  object["retransmitted"] = totals.retransmitted;
  object["out_of_order"] = totals.out_of_order;
  object["gaps"] = totals.gaps;
  object["lost"] = totals.lost;
  object["duplicates"] = totals.duplicates;
  object["icrc_bad"] = totals.icrc_bad;
  object["icrc_good"] = totals.icrc_good;
  object["icrc_not_verifiable"] = totals.icrc_unverified;
}

}  // namespace

std::vector<std::uint32_t> largest_flows(const Analysis& analysis) {
  std::vector<std::uint32_t> order(analysis.flows().size());
  std::iota(order.begin(), order.end(), 0U);
  std::sort(order.begin(), order.end(), [&](std::uint32_t a, std::uint32_t b) {
    const Flow& first = analysis.flows()[a];
    const Flow& second = analysis.flows()[b];
    return std::tie(second.bytes, first.key) < std::tie(first.bytes, second.key);
  });
  return order;
}

Json to_json(const Analysis& analysis, std::size_t most) {
  const Totals& totals = analysis.totals();
  Json object = {{"packets", totals.packets},
                 {"bytes", totals.bytes},
                 {"roce_packets", totals.roce_packets},
                 {"roce_bytes", totals.roce_bytes},
                 {"roce_v1_packets", totals.roce_v1},
                 {"payload_bytes", totals.payload},
                 {"start_ns", totals.first_ns},
                 {"duration_s", static_cast<double>(totals.duration_ns()) / kNanoseconds}};
  add_counts(object, totals);
  object["pfc_frames"] = totals.pfc;
  object["pause_frames"] = totals.pause;
  object["pausers"] = pausers_json(totals);
  object["messages"] = size_json(totals.message_bytes);
  object["ack_latency"] = latency_json(totals.ack_ns);
  object["over_time"] = timeline_json(totals);
  object["cut_packets"] = totals.cut;
  object["malformed_packets"] = totals.malformed;
  object["tunnelled_packets"] = totals.tunnelled;
  object["flow_count"] = analysis.flows().size();
  object["packets_of_further_flows"] = totals.flow_overflow;
  object["flows"] = Json::array();
  for (const std::uint32_t index : largest_flows(analysis)) {
    if (most != 0 && object["flows"].size() >= most) break;
    object["flows"].push_back(flow_json(analysis.flows()[index], analysis));
  }
  return object;
}

Json to_json(const Join& join, const std::string& first, const std::string& second) {
  const JoinTotals& all = join.totals();
  Json object = {{"first", first},
                 {"second", second},
                 {"matched", all.matched},
                 {"only_first", all.only[0]},
                 {"only_second", all.only[1]},
                 {"lost", all.lost},
                 {"remarked", all.remarked},
                 {"ce_added", all.ce_only[0] + all.ce_only[1]},
                 {"ecn_erased", all.ecn_erased},
                 {"undecided", all.undecided}};
  object["flows"] = Json::array();
  for (const JoinedFlow& flow : join.flows()) {
    const int up = flow.upstream();
    object["flows"].push_back(
        {{"source", to_text(flow.key.source)},
         {"destination", to_text(flow.key.destination)},
         {"qp", flow.key.qp},
         {"matched", flow.matched},
         {"only_first", flow.only[0]},
         {"only_second", flow.only[1]},
         {"remarked", flow.remarked},
         {"ecn_erased", flow.ecn_erased},
         {"upstream", up < 0 ? Json(nullptr) : Json(up == 0 ? first : second)}});
  }
  return object;
}

Json to_json(const std::vector<WalkStep>& walk) {
  Json list = Json::array();
  for (const WalkStep& step : walk)
    list.push_back({{"step", step.name}, {"seen", step.seen}, {"commands", step.commands}});
  return list;
}

}  // namespace weir::wire

#include "cli/json/verify_json.h"

#include "base/json.h"
#include "base/text.h"
#include "cli/json/object.h"
#include "cli/json/questions_json.h"

namespace weir::cli {
namespace {

Json device_json(const diagnose::DeviceTraffic& traffic) {
  return {{"host", traffic.host},
          {"device", traffic.device},
          {"designed", traffic.is_designed},
          {"tx_bytes", or_null(traffic.tx_bytes)},
          {"rx_bytes", or_null(traffic.rx_bytes)},
          {"packets", or_null(traffic.packets)},
          {"tx_in_priority", or_null(traffic.tx_in_priority)},
          {"rx_in_priority", or_null(traffic.rx_in_priority)}};
}

Json load_json(const host::LoadReport& load) {
  const auto microseconds = [](const std::optional<Duration>& time) {
    constexpr double kPicoseconds = 1e6;
    return time ? Json(static_cast<double>(time->raw()) / kPicoseconds) : Json(nullptr);
  };
  Json bandwidth = Json::array();
  for (const host::BandwidthRow& row : load.perftest.bandwidth)
    bandwidth.push_back({{"message_bytes", row.message.raw()},
                         {"iterations", row.iterations},
                         {"bps", row.average ? Json(row.average->raw()) : Json(nullptr)}});
  Json latency = Json::array();
  for (const host::LatencyRow& row : load.perftest.latency)
    latency.push_back({{"message_bytes", row.message.raw()},
                       {"iterations", row.iterations},
                       {"average_us", microseconds(row.average)},
                       {"median_us", microseconds(row.typical)},
                       {"p99_us", microseconds(row.p99)},
                       {"p999_us", microseconds(row.p999)},
                       {"max_us", microseconds(row.maximum)}});
  Json collective = nullptr;
  if (load.collective.is_there())
    collective = {{"ranks", load.collective.ranks},
                  {"hosts", load.collective.hosts},
                  {"bus_bandwidth_gbytes", or_null(load.collective.average_bus_bandwidth)},
                  {"network", load.collective.network}};
  return {{"bandwidth", std::move(bandwidth)},
          {"latency", std::move(latency)},
          {"collective", std::move(collective)},
          {"problems", load.problems}};
}

Json burst_json(const diagnose::Burst& burst) {
  return {{"senders", burst.senders},
          {"receiver", burst.receiver},
          {"pauses", or_null(burst.pauses)},
          {"pauses_at_receivers_switch", or_null(burst.pauses_there)},
          {"marked", or_null(burst.marks)},
          {"cnps", or_null(burst.cnps)},
          {"lost", or_null(burst.lost)}};
}

Json phases_json(const std::vector<ops::Phase>& phases) {
  Json list = Json::array();
  for (const ops::Phase& phase : phases)
    list.push_back({{"phase", phase.name},
                    {"exit", phase.result.exit_status},
                    {"elapsed_us", static_cast<double>(phase.elapsed.raw()) / 1e6},
                    {"lossless_drops", phase.result.lossless_drops},
                    {"pauses", or_null(phase.pauses)},
                    {"conclusion", finding::to_text(phase.result.judgement.conclusion)}});
  return list;
}

Json observations_json(const std::vector<diagnose::Observation>& observations) {
  Json list = Json::array();
  for (const diagnose::Observation& moved : observations)
    list.push_back({{"where", to_text(moved.where)},
                    {"key", moved.key},
                    {"id", moved.counter},
                    {"amount", moved.amount},
                    {"severity", finding::to_text(moved.severity)},
                    {"sentence", moved.sentence()}});
  return list;
}

Json probe_fields(const ops::Probed& probed) {
  const host::MtuFinding& found = probed.found;
  Json hops = Json::array();
  for (const host::ProbeHop& hop : found.hops)
    hops.push_back({{"ttl", hop.ttl},
                    {"address", hop.address.empty() ? Json(nullptr) : Json(hop.address)},
                    {"small", hop.small},
                    {"large", hop.large}});
  Json said = Json::array();
  for (const host::ProbeReply& reply : found.said)
    said.push_back({{"from", reply.from}, {"mtu", reply.mtu}});
  Json moved = Json::array();
  for (const diagnose::MovedCounter& counter : probed.moved)
    moved.push_back({{"name", counter.name}, {"amount", counter.amount}});
  const auto address_at = [&](const std::optional<std::size_t>& index) {
    if (!index || found.hops[*index].address.empty()) return Json(nullptr);
    return Json(found.hops[*index].address);
  };
  Json narrow = nullptr;
  if (found.is_narrow())
    narrow = {{"local", found.is_local},
              {"silent", found.is_silent()},
              {"after", address_at(found.after)},
              {"before", address_at(found.before)}};
  return {{"peer", probed.target.name},
          {"address", probed.target.address},
          {"method", to_text(probed.method)},
          {"answered", found.is_answered},
          {"mtu", found.is_answered ? Json(found.mtu) : Json(nullptr)},
          {"wanted", found.tried},
          {"rdma_mtu", found.is_answered ? Json(host::rdma_mtu_of(found.mtu, probed.target.is_ipv6))
                                         : Json(nullptr)},
          {"interface", probed.target.interface},
          {"interface_mtu", probed.target.interface_mtu},
          {"narrow", std::move(narrow)},
          {"hops", std::move(hops)},
          {"said", std::move(said)},
          {"counters", std::move(moved)},
          {"packets", found.sent}};
}

}  // namespace

void print_verified_json(Context& context, const Command& command, const ops::Verified& verified,
                         std::string_view verdict) {
  const diagnose::LoadJudgement& judged = verified.judged;
  Json object = judged_object(command, judged.judgement, verdict);
  object["command"] = {{"words", join(verified.drive.words, " ")},
                       {"host", verified.drive.ran_on},
                       {"exit", verified.drive.outcome.exit_status},
                       {"output", verified.drive.outcome.output},
                       {"errors", verified.drive.outcome.errors}};
  object["questions"] = questions_json(judged.questions);
  object["load"] = load_json(verified.load);
  object["volume"] = nullptr;
  if (judged.volume)
    object["volume"] = {{"expected_bytes", judged.volume->expected.raw()},
                        {"rdma_bytes", judged.volume->rdma},
                        {"other_bytes", judged.volume->elsewhere},
                        {"priority", judged.volume->priority}};
  object["devices"] = Json::array();
  for (const diagnose::DeviceTraffic& traffic : judged.devices)
    object["devices"].push_back(device_json(traffic));
  object["observations"] = observations_json(judged.observations);
  object["totals"] = diagnose::to_json(verified.totals);
  object["notes"] = verified.drive.notes;
  object["simulated"] = verified.is_simulated;
  if (verified.burst) object["burst"] = burst_json(*verified.burst);
  if (!verified.phases.empty()) object["phases"] = phases_json(verified.phases);
  print_json(context, object);
}

void print_probed_json(Context& context, const Command& command, const ops::Probed& probed,
                       std::string_view verdict) {
  Json object = judged_object(command, probed.judgement, verdict);
  object.update(probe_fields(probed));
  print_json(context, object);
}

}  // namespace weir::cli

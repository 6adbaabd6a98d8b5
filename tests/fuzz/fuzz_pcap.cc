// Captures: any bytes may come; they are read to an end or to a named damage, analysed, judged and
// printed, and what the totals say adds up.
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

#include "base/check.h"
#include "base/json.h"
#include "wire/analysis.h"
#include "wire/analysis_json.h"
#include "wire/byte_source.h"
#include "wire/capture_reader.h"
#include "wire/join.h"
#include "wire/judge.h"

namespace weir::wire {
namespace {

void check_sums(const Analysis& analysis) {
  const Totals& totals = analysis.totals();
  std::uint64_t opcodes = 0;
  for (const std::uint64_t count : totals.opcodes)
    opcodes += count;
  std::uint64_t of_flows = totals.flow_overflow;
  for (const Flow& flow : analysis.flows())
    of_flows += flow.packets;
  WEIR_CHECK(opcodes == totals.roce_packets && of_flows == totals.roce_packets);
  WEIR_CHECK(totals.icrc_good + totals.icrc_bad + totals.icrc_unverified == totals.roce_packets);
  WEIR_CHECK(totals.roce_packets + totals.cut + totals.pfc + totals.pause <= totals.packets);
}

void read_capture(std::span<const std::uint8_t> bytes) {
  auto source = memory_source(bytes);
  if (!source) return;
  auto reader = CaptureReader::from(std::move(*source), "fuzz");
  if (!reader) return;
  constexpr std::size_t kFewFlows = 8;
  Analysis analysis(kFewFlows);
  Join join(4, 4);
  Record record;
  Packet packet;
  int side = 0;
  Next next = Next::kEnd;
  while ((next = reader->next(record)) == Next::kFrame) {
    analysis.add(record);
    decode(record, packet);
    join.add(side, record.time_ns, packet);
    side = 1 - side;
  }
  WEIR_CHECK((next == Next::kDamaged) == !reader->damage().empty());
  analysis.finish();
  join.finish();
  check_sums(analysis);
  CaptureSource from;
  from.name = "fuzz";
  from.damage = reader->damage();
  const CaptureVerdict verdict = judge(analysis, from, {}, &join, "other");
  WEIR_CHECK(!verdict.headline.empty());
  (void)to_json(analysis, 0).dump();
}

}  // namespace
}  // namespace weir::wire

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  weir::wire::read_capture({data, size});
  return 0;
}

#include "ops/inspect/pcap.h"

#include <algorithm>
#include <array>
#include <chrono>

#include <fmt/format.h>

#include "base/text.h"
#include "ops/source/fabric.h"
#include "wire/capture_reader.h"
#include "wire/live.h"

namespace weir::ops {
namespace {

void add_notes(wire::CaptureSource& source, const wire::CaptureReader& reader) {
  if (source.damage.empty()) source.damage = reader.damage();
  source.dropped += reader.dropped();
  source.strange_links.insert(source.strange_links.end(), reader.strange_links().begin(),
                              reader.strange_links().end());
}

weir::Status read_stream(const std::vector<std::string>& paths, const ProgressCallback& progress,
                         Captured& out) {
  constexpr std::uint64_t kBatch = 1U << 16U;
  out.source.name = paths.size() == 1 ? paths.front() : fmt::format("{} captures", paths.size());
  if (out.source.name == "-") out.source.name = "standard input";
  for (const std::string& path : paths) {
    WEIR_TRY(reader, wire::CaptureReader::open(path));
    wire::Record record;
    std::uint64_t count = 0;
    while (reader.next(record) == wire::Next::kFrame) {
      out.first->add(record);
      if (++count % kBatch == 0)
        tell(progress, 0,
             fmt::format("{} frames", with_thousands(static_cast<std::int64_t>(count))));
    }
    add_notes(out.source, reader);
  }
  out.first->finish();
  return {};
}

/// Both captures in step, each analysed by itself and both joined.
weir::Status read_two(const std::string& first_path, const std::string& second_path,
                      std::size_t most_flows, Captured& out) {
  WEIR_TRY(first, wire::CaptureReader::open(first_path));
  WEIR_TRY(second, wire::CaptureReader::open(second_path));
  out.source.name = first_path;
  out.second_source.name = second_path;
  out.second = std::make_unique<wire::Analysis>(most_flows);
  out.join = std::make_unique<wire::Join>();
  std::array<wire::Record, 2> records;
  const std::array<wire::CaptureReader*, 2> readers = {&first, &second};
  const std::array<wire::Analysis*, 2> analyses = {out.first.get(), out.second.get()};
  std::array<bool, 2> has{};
  for (const std::size_t side : {std::size_t{0}, std::size_t{1}})
    has[side] = readers[side]->next(records[side]) == wire::Next::kFrame;
  wire::Packet packet;
  while (has[0] || has[1]) {
    std::size_t side = has[0] ? 0 : 1;
    if (has[0] && has[1])
      side = static_cast<std::size_t>(out.join->wants({records[0].time_ns, records[1].time_ns}));
    wire::decode(records[side], packet);
    analyses[side]->add(records[side]);
    out.join->add(static_cast<int>(side), records[side].time_ns, packet);
    has[side] = readers[side]->next(records[side]) == wire::Next::kFrame;
  }
  out.first->finish();
  out.second->finish();
  out.join->finish();
  add_notes(out.source, first);
  add_notes(out.second_source, second);
  return {};
}

weir::Status read_live(const PcapRequest& request, Captured& out) {
  WEIR_TRY(live, wire::LiveCapture::open(request.interface));
  out.source.name = request.interface;
  out.source.is_live = true;
  using Clock = std::chrono::steady_clock;
  const auto length = std::chrono::nanoseconds(request.duration.raw() / 1000);
  const auto start = Clock::now();
  wire::Record record;
  std::uint64_t count = 0;
  while (!request.is_stopped || !request.is_stopped()) {
    const wire::Next next = live.next(record);
    if (next == wire::Next::kDamaged) {
      out.source.damage = live.damage();
      break;
    }
    if (next == wire::Next::kFrame) out.first->add(record);
    if (next == wire::Next::kFrame && ++count % 256 != 0) continue;
    const auto passed = Clock::now() - start;
    if (passed >= length) break;
    tell(request.progress,
         std::chrono::duration<double>(passed) / std::chrono::duration<double>(length));
  }
  out.source.dropped = live.dropped();
  out.first->finish();
  return {};
}

Captured fresh(std::size_t most_flows) {
  Captured out;
  out.first = std::make_unique<wire::Analysis>(most_flows);
  return out;
}

Result<Captured> read_all(const PcapRequest& request) {
  Captured out = fresh(request.most_flows);
  if (!request.interface.empty()) {
    WEIR_TRY_STATUS(or_could_not_look(read_live(request, out)));
    return out;
  }
  const std::vector<std::string>& files = request.files;
  const bool may_join = files.size() == 2 && files[0] != "-" && files[1] != "-";
  if (may_join) {
    WEIR_TRY_STATUS(or_bad_input(read_two(files[0], files[1], request.most_flows, out)));
    if (out.join->totals().matched > 0) return out;
    // No packet in common: one capture after the other, as tcpdump -C leaves them.
    out = fresh(request.most_flows);
  }
  WEIR_TRY_STATUS(or_bad_input(read_stream(files, request.progress, out)));
  return out;
}

/// Findings of the second place that the first does not have.
void add_second(const wire::Expectation& expectation, Captured& captured) {
  wire::CaptureVerdict& verdict = captured.verdict;
  wire::CaptureVerdict other = wire::judge(*captured.second, captured.second_source, expectation);
  for (finding::Finding& found : other.judgement.findings) {
    const bool is_known =
        std::any_of(verdict.judgement.findings.begin(), verdict.judgement.findings.end(),
                    [&](const finding::Finding& known) {
                      return known.id == found.id && known.where == found.where;
                    });
    if (!is_known) verdict.judgement.findings.push_back(std::move(found));
  }
  for (finding::Unknown& unknown : other.judgement.unknown)
    verdict.judgement.unknown.push_back(std::move(unknown));
  if (verdict.walk.empty()) verdict.walk = std::move(other.walk);
  finding::settle(verdict.judgement);
}

}  // namespace

Result<Captured> analyse_captures(const PcapRequest& request) {
  wire::Expectation expectation;
  if (!request.design.empty()) {
    WEIR_TRY(fabric, load_fabric(request.design));
    expectation = wire::expectation_of(fabric.design, fabric.intent);
  }
  expectation.thresholds = request.thresholds;
  WEIR_TRY(captured, read_all(request));
  captured.verdict = wire::judge(*captured.first, captured.source, expectation, captured.join.get(),
                                 captured.second_source.name);
  if (captured.join) add_second(expectation, captured);
  captured.expectation = std::move(expectation);
  return captured;
}

}  // namespace weir::ops

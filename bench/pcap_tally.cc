// The whole analysis of weir pcap, printed as tshark's tally is: source destination QP packets
// bytes.
#include <iostream>

#include <fmt/format.h>

#include "wire/analysis.h"
#include "wire/capture_reader.h"

int main(int argc, char** argv) {
  if (argc != 2) {
    std::cerr << "usage: pcap_tally FILE\n";
    return 2;
  }
  using namespace weir::wire;
  auto reader = CaptureReader::open(argv[1]);
  if (!reader) {
    std::cerr << reader.error().what << '\n';
    return 1;
  }
  Analysis analysis;
  Record record;
  while (reader->next(record) == Next::kFrame)
    analysis.add(record);
  analysis.finish();
  if (!reader->damage().empty() || analysis.totals().icrc_bad > 0) return 1;
  for (const Flow& flow : analysis.flows())
    fmt::print("{} {} 0x{:06x} {} {}\n", to_text(flow.key.source), to_text(flow.key.destination),
               flow.key.qp, flow.packets, flow.bytes);
  return 0;
}

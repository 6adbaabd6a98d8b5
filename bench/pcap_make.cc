// A capture of RDMA WRITEs over many connections, for the comparison with tshark:
// pcap_make FILE FRAMES. Messages of 16 packets of 1024 B and their ACKs, as a busy port shows
// them.
#include <cstdint>
#include <iostream>
#include <vector>

#include "base/text.h"
#include "wire/capture_writer.h"
#include "wire/encode.h"

int main(int argc, char** argv) {
  if (argc != 3) {
    std::cerr << "usage: pcap_make FILE FRAMES\n";
    return 2;
  }
  using namespace weir::wire;
  constexpr std::uint32_t kFlows = 256;
  constexpr std::uint32_t kMessage = 16;
  const std::uint64_t frames = weir::parse_u64(argv[2]).value();
  auto writer = CaptureWriter::open(argv[1]);
  if (!writer) {
    std::cerr << writer.error().what << '\n';
    return 1;
  }
  std::vector<std::uint32_t> next(kFlows, 0);
  std::vector<std::uint8_t> bytes;
  for (std::uint64_t i = 0; i < frames; ++i) {
    // Connections take turns by halves of a message, as arbitration mixes them.
    const auto flow = static_cast<std::uint32_t>(i / 8 % kFlows);
    const std::uint32_t step = next[flow]++;
    const std::uint32_t at = step % (kMessage + 1);
    const std::uint32_t psn = step / (kMessage + 1) * kMessage + at;
    RoceFrame frame;
    frame.source = ipv4_address(0x0A000001 + flow % 16);
    frame.destination = ipv4_address(0x0A000101 + flow / 16);
    frame.destination_qp = 0x100 + flow;
    frame.source_port = static_cast<std::uint16_t>(49152 + flow);
    frame.tos = i % 50 == 0 ? 0x6B : 0x6A;
    frame.ip_id = static_cast<std::uint16_t>(i);
    frame.psn = psn;
    if (at == kMessage) {
      std::swap(frame.source, frame.destination);
      frame.destination_qp = 0x800 + flow;
      frame.opcode = 17;
      frame.syndrome = 0x1F;
      frame.psn = psn - 1;
    } else {
      frame.opcode = at == 0 ? 6 : at + 1 == kMessage ? 8 : 7;
      frame.payload = 1024;
      frame.dma_length = kMessage * 1024;
      frame.ack_request = at + 1 == kMessage;
    }
    bytes.clear();
    encode(frame, bytes);
    writer->add(static_cast<std::int64_t>(i) * 90, bytes);
  }
  const weir::Status closed = writer->close();
  if (!closed) std::cerr << closed.error().what << '\n';
  return closed ? 0 : 1;
}

#include <array>
#include <cstdio>
#include <string>
#include <vector>

#include <zlib.h>

#include "base/file.h"
#include "base/testing.h"
#include "wire/analysis.h"
#include "wire/capture_reader.h"
#include "wire/capture_writer.h"
#include "wire/drawn_capture.h"
#include "wire/encode.h"
#include "wire/icrc.h"

namespace weir::wire {
namespace {

const Address kA = ipv4_address(0xC0000201);
const Address kB = ipv4_address(0xC0000202);

RoceFrame frame_of(std::uint8_t code, std::uint32_t psn, std::uint32_t payload = 0) {
  RoceFrame frame;
  frame.source = kA;
  frame.destination = kB;
  frame.tos = 0x6A;
  frame.destination_qp = 0x11;
  frame.opcode = code;
  frame.psn = psn;
  frame.payload = payload;
  return frame;
}

Packet decoded(const std::vector<std::uint8_t>& bytes, std::uint16_t link = kLinkEthernet,
               std::size_t captured = SIZE_MAX) {
  Record record;
  record.data = bytes.data();
  record.original = static_cast<std::uint32_t>(bytes.size());
  record.captured = static_cast<std::uint32_t>(std::min(bytes.size(), captured));
  record.link_type = link;
  Packet packet;
  decode(record, packet);
  return packet;
}

Packet through(const RoceFrame& frame) {
  std::vector<std::uint8_t> bytes;
  encode(frame, bytes);
  return decoded(bytes);
}

/// Every frame of a capture through the analysis; the reader's last word.
Next read_into(std::span<const std::uint8_t> bytes, Analysis& analysis, std::string& damage) {
  auto source = memory_source(bytes);
  if (!source) return Next::kDamaged;
  auto reader = CaptureReader::from(std::move(*source), "test");
  if (!reader) return Next::kDamaged;
  Record record;
  Next next = Next::kEnd;
  while ((next = reader->next(record)) == Next::kFrame)
    analysis.add(record);
  damage = reader->damage();
  analysis.finish();
  return next;
}

std::vector<std::uint8_t> gzipped(const std::vector<std::uint8_t>& plain) {
  z_stream stream{};
  EXPECT_EQ(deflateInit2(&stream, 6, Z_DEFLATED, 16 + MAX_WBITS, 8, Z_DEFAULT_STRATEGY), Z_OK);
  std::vector<std::uint8_t> out(deflateBound(&stream, plain.size()) + 64);
  stream.next_in = const_cast<std::uint8_t*>(plain.data());  // NOLINT: zlib's old interface
  stream.avail_in = static_cast<uInt>(plain.size());
  stream.next_out = out.data();
  stream.avail_out = static_cast<uInt>(out.size());
  EXPECT_EQ(deflate(&stream, Z_FINISH), Z_STREAM_END);
  out.resize(stream.total_out);
  deflateEnd(&stream);
  return out;
}

TEST(Codec, EveryOpcodeOfEveryTransportComesBackAsItWasWritten) {
  COVERS("E3");
  int known = 0;
  for (unsigned code = 0; code < 256; ++code) {
    if (opcode(static_cast<std::uint8_t>(code)).transport == Transport::kUnknown) continue;
    ++known;
    RoceFrame frame = frame_of(static_cast<std::uint8_t>(code), 0xABCDEF, 37);
    frame.syndrome = 0x63;
    frame.msn = 0x123456;
    frame.dma_length = 99'000;
    frame.virtual_address = 0x1122334455667788;
    frame.source_qp = 0x77;
    frame.immediate = 0xCAFE;
    if (code == kCnpOpcode) frame.payload = 0;
    const Packet packet = through(frame);
    const Opcode& entry = opcode(packet.opcode);
    EXPECT_EQ(packet.opcode, code);
    EXPECT_EQ(packet.psn, frame.psn);
    EXPECT_EQ(packet.destination_qp, frame.destination_qp);
    EXPECT_EQ(packet.payload, frame.payload) << opcode_name(packet.opcode);
    EXPECT_EQ(packet.icrc_state, IcrcState::kGood) << opcode_name(packet.opcode);
    EXPECT_FALSE(packet.is_malformed) << opcode_name(packet.opcode);
    if (entry.headers.aeth) {
      EXPECT_EQ(packet.syndrome, 0x63);
    }
    if (entry.headers.reth) {
      EXPECT_EQ(packet.dma_length, 99'000U);
    }
    if (entry.headers.deth) {
      EXPECT_EQ(packet.source_qp, 0x77U);
    }
    if (entry.headers.immediate) {
      EXPECT_EQ(packet.immediate, 0xCAFEU);
    }
  }
  EXPECT_EQ(known, 23 + 12 + 22 + 2 + 23 + 1);
}

TEST(Codec, TheIcrcStandsAboveWhatHopsChangeAndNothingElse) {
  COVERS("E3");
  for (const bool is_ipv6 : {false, true}) {
    RoceFrame frame = frame_of(6, 5, 100);
    if (is_ipv6) {
      frame.source = {0x20010DB800000000ULL, 1};
      frame.destination = {0x20010DB800000000ULL, 2};
    }
    std::vector<std::uint8_t> bytes;
    encode(frame, bytes);
    const std::size_t ip = 14;
    const std::size_t udp = ip + (is_ipv6 ? 40 : 20);
    std::vector<std::size_t> mutable_bytes = {udp + 6, udp + 7, udp + 8 + 4};
    if (is_ipv6)
      mutable_bytes.insert(mutable_bytes.end(), {ip + 1, ip + 2, ip + 3, ip + 7});
    else
      mutable_bytes.insert(mutable_bytes.end(), {ip + 1, ip + 8, ip + 10, ip + 11});
    for (const std::size_t at : mutable_bytes) {
      auto changed = bytes;
      changed[at] ^= 0x01;
      EXPECT_EQ(decoded(changed).icrc_state, IcrcState::kGood) << at;
    }
    for (const std::size_t at : {udp + 0, udp + 8 + 11, bytes.size() - 5, bytes.size() - 1}) {
      auto changed = bytes;
      changed[at] ^= 0x01;
      EXPECT_EQ(decoded(changed).icrc_state, IcrcState::kBad) << at;
    }
  }
}

TEST(Codec, APacketThatWasCutIsNotVerifiableAndNeverBad) {
  COVERS("E3");
  std::vector<std::uint8_t> bytes;
  encode(frame_of(6, 5, 1000), bytes);
  for (std::size_t captured = 0; captured < bytes.size(); ++captured) {
    const Packet packet = decoded(bytes, kLinkEthernet, captured);
    EXPECT_EQ(packet.icrc_state, IcrcState::kNotVerifiable) << captured;
    if (captured >= 54) {
      EXPECT_EQ(packet.opcode, 6) << captured;
    }
  }
}

TEST(Codec, PauseFramesAreTold) {
  std::vector<std::uint8_t> bytes;
  std::array<std::uint16_t, 8> quanta{};
  quanta[3] = 0xFFFF;
  encode_pfc(0x020000000001, 0x18, quanta, bytes);
  EXPECT_EQ(bytes.size(), 60U);
  const Packet pfc = decoded(bytes);
  EXPECT_EQ(pfc.kind, PacketKind::kPfc);
  EXPECT_EQ(pfc.pause_classes, 0x18);
  EXPECT_EQ(pfc.quanta[3], 0xFFFF);
  EXPECT_EQ(pfc.quanta[4], 0);
  bytes.clear();
  encode_pause(0x020000000001, 7, bytes);
  EXPECT_EQ(decoded(bytes).kind, PacketKind::kPause);
}

/// PSNs, and letters for what the other side says: "1 2 4 N3 3".
Sequence::Counts counts_of(std::string_view script, std::uint32_t base = 0) {
  Sequence sequence;
  for (std::size_t at = 0; at < script.size();) {
    const bool asks = script[at] == 'N';
    if (asks) ++at;
    std::uint32_t psn = 0;
    for (; at < script.size() && script[at] != ' '; ++at)
      psn = psn * 10 + static_cast<std::uint32_t>(script[at] - '0');
    ++at;
    psn = (base + psn) & kPsnMask;
    if (asks)
      sequence.asked_again(psn);
    else
      sequence.feed(psn);
  }
  sequence.finish();
  return sequence.counts();
}

TEST(Sequence, TellsLossFromReordering) {
  COVERS("E3", "I17", "I28");
  struct Case {
    std::string_view script;
    std::uint64_t again, late, lost, gaps;
  };
  constexpr std::array kCases = {
      Case{"1 2 3 4 5", 0, 0, 0, 0},
      Case{"1 2 4 5 3 6", 0, 1, 0, 1},
      Case{"1 2 5 3 4 6", 0, 2, 0, 1},
      Case{"1 2 4 5 3 4 5 6", 3, 0, 1, 1},
      Case{"1 2 5 3 4 5 6", 3, 0, 2, 1},
      Case{"1 2 4 N3 3 5", 1, 0, 1, 1},
      Case{"1 2 4 N3 5 3 4 5 6", 3, 0, 1, 1},
      Case{"1 2 4 N3 3 5 3 4 5 6", 3, 1, 0, 1},
      Case{"1 2 4 N3 3 5 7 N6 6 8 3 9 6 10", 2, 2, 0, 2},
      Case{"1 2 4 N3 3 N3 3 4 5", 3, 0, 1, 1},
      Case{"1 2 3 4 3 4 5", 2, 0, 0, 0},
      Case{"1 2 4 5 6", 0, 0, 1, 1},
      Case{"5 6 7 7 8", 1, 0, 0, 0},
  };
  for (const Case& test : kCases)
    for (const std::uint32_t base : {0U, kPsnMask - 3}) {  // across the wrap as well
      const Sequence::Counts counts = counts_of(test.script, base);
      EXPECT_EQ(counts.retransmitted, test.again) << test.script << " from " << base;
      EXPECT_EQ(counts.out_of_order, test.late) << test.script << " from " << base;
      EXPECT_EQ(counts.lost, test.lost) << test.script << " from " << base;
      EXPECT_EQ(counts.gaps, test.gaps) << test.script << " from " << base;
    }
}

TEST(Capture, WhatWasDrawnIsReadInEveryFormat) {
  COVERS("E3");
  for (std::uint64_t seed = 1; seed <= 60; ++seed) {
    SCOPED_TRACE(seed);
    CaptureDrawer drawer(seed, 0);
    const std::vector<std::uint8_t> bytes = drawer.draw(200);
    Analysis analysis;
    std::string damage;
    ASSERT_EQ(read_into(bytes, analysis, damage), Next::kEnd) << damage;
    const Totals& totals = analysis.totals();
    EXPECT_EQ(totals.packets, drawer.truth().frames);
    EXPECT_EQ(totals.roce_packets, drawer.truth().roce);
    EXPECT_EQ(totals.icrc_bad, drawer.truth().icrc_bad);
    EXPECT_EQ(totals.icrc_unverified, drawer.truth().icrc_cut);
    EXPECT_EQ(totals.ce, drawer.truth().ce);
    EXPECT_EQ(totals.cnps(), drawer.truth().cnps);
    EXPECT_EQ(totals.pfc, drawer.truth().pfc);
    EXPECT_EQ(totals.pause, drawer.truth().pause);
    EXPECT_EQ(totals.malformed, 0U);
  }
}

TEST(Capture, PackedIsReadAsPlain_AndACutPackSaysSo) {
  CaptureDrawer drawer(7, 1);
  const std::vector<std::uint8_t> plain = drawer.draw(300);
  const std::vector<std::uint8_t> packed = gzipped(plain);
  ASSERT_LT(packed.size(), plain.size());
  Analysis analysis;
  std::string damage;
  EXPECT_EQ(read_into(packed, analysis, damage), Next::kEnd) << damage;
  EXPECT_EQ(analysis.totals().packets, drawer.truth().frames);
  Analysis cut;
  EXPECT_EQ(read_into(std::span(packed).first(packed.size() / 2), cut, damage), Next::kDamaged);
  EXPECT_NE(damage.find("ends too early"), std::string::npos) << damage;
}

TEST(Capture, DamageEndsTheReadingAndIsNamed) {
  COVERS("E3");
  CaptureOptions options;
  CaptureBytes capture(options);
  std::vector<std::uint8_t> frame;
  encode(frame_of(6, 5, 64), frame);
  capture.add(1, frame);
  capture.add(2, frame);
  const std::vector<std::uint8_t> whole = capture.bytes();
  for (std::size_t size = 0; size < whole.size(); ++size) {
    Analysis analysis;
    std::string damage;
    const Next last = read_into(std::span(whole).first(size), analysis, damage);
    const std::size_t record_size = (whole.size() - 24) / 2;
    const bool is_between = size == 24 || size == 24 + record_size;
    EXPECT_EQ(last, is_between ? Next::kEnd : Next::kDamaged) << size;
    if (size >= 24) {
      EXPECT_EQ(analysis.totals().packets, (size - 24) / record_size);
    }
  }
  auto huge = whole;
  huge[24 + 8 + 3] = 0x7F;  // the first frame's length
  Analysis analysis;
  std::string damage;
  EXPECT_EQ(read_into(huge, analysis, damage), Next::kDamaged);
  EXPECT_NE(damage.find("byte 24"), std::string::npos) << damage;
}

/// One connection: data A to B on QP 0x11, answers B to A on QP 0x22.
class Exchange {
 public:
  void data(std::uint8_t code, std::uint32_t psn, std::uint8_t tos = 0x6A,
            std::uint32_t length = 4096) {
    RoceFrame frame = frame_of(code, psn, 1024);
    frame.tos = tos;
    frame.dma_length = length;
    frame.ip_id = ++id_;
    put(frame);
  }
  void answer(std::uint32_t psn, std::uint8_t syndrome = 0x1F) {
    RoceFrame frame = frame_of(17, psn);
    std::swap(frame.source, frame.destination);
    frame.destination_qp = 0x22;
    frame.syndrome = syndrome;
    frame.ip_id = ++id_;
    put(frame);
  }
  Analysis& end() {
    analysis_.finish();
    return analysis_;
  }

 private:
  void put(const RoceFrame& frame) {
    std::vector<std::uint8_t> bytes;
    encode(frame, bytes);
    now_ += 1'000;
    analysis_.add({now_, bytes.data(), static_cast<std::uint32_t>(bytes.size()),
                   static_cast<std::uint32_t>(bytes.size()), 0, kLinkEthernet});
  }
  Analysis analysis_;
  std::int64_t now_ = 0;
  std::uint16_t id_ = 0;
};

TEST(Analysis, PairsTheDirections_MeasuresToTheAck_AndReadsNaks) {
  COVERS("E3");
  Exchange wire;
  wire.data(6, 100);
  wire.data(7, 101);
  wire.data(8, 102);
  wire.answer(102);
  wire.data(6, 103);
  wire.data(8, 105);
  wire.answer(104, 0x60);
  wire.data(7, 104);
  wire.data(8, 105);
  wire.answer(105);
  wire.answer(106, 0x2E);
  wire.answer(106, 0x62);
  const Analysis& done = wire.end();
  ASSERT_EQ(done.flows().size(), 2U);
  const Flow& there = done.flows()[0];
  const Flow& back = done.flows()[1];
  EXPECT_EQ(there.other_way, 1U);
  EXPECT_EQ(back.other_way, 0U);
  EXPECT_EQ(there.retransmitted(), 2U);
  EXPECT_EQ(there.lost(), 1U);
  EXPECT_EQ(there.out_of_order(), 0U);
  EXPECT_EQ(there.message_bytes.count(), 2U);
  EXPECT_EQ(there.ack_ns.count(), 1U);  // 105 was sent twice: which one was answered?
  EXPECT_EQ(there.ack_ns.most(), 1'000U);
  EXPECT_EQ(back.naks.sequence, 1U);
  EXPECT_EQ(back.naks.rnr, 1U);
  EXPECT_EQ(back.naks.remote_access, 1U);
}

TEST(Analysis, MemoryIsBounded_AndWhatIsLeftOutIsSaid) {
  COVERS("E3");
  Analysis analysis(10);
  std::vector<std::uint8_t> bytes;
  for (std::uint32_t i = 0; i < 100; ++i) {
    RoceFrame frame = frame_of(10, 1, 8);
    frame.destination_qp = i;
    bytes.clear();
    encode(frame, bytes);
    analysis.add({i, bytes.data(), static_cast<std::uint32_t>(bytes.size()),
                  static_cast<std::uint32_t>(bytes.size()), 0, kLinkEthernet});
  }
  analysis.finish();
  EXPECT_EQ(analysis.flows().size(), 10U);
  EXPECT_EQ(analysis.totals().flow_overflow, 90U);
  EXPECT_EQ(analysis.totals().roce_packets, 100U);
}

TEST(Analysis, ACopyOfAPacketIsNoRetransmission) {
  Analysis analysis;
  std::vector<std::uint8_t> bytes;
  for (std::uint32_t i = 0; i < 20; ++i)
    for (const std::uint8_t ttl :
         {std::uint8_t{64}, std::uint8_t{63}}) {  // mirrored before and after a router
      RoceFrame frame = frame_of(7, i, 64);
      frame.ttl = ttl;
      bytes.clear();
      encode(frame, bytes);
      analysis.add({std::int64_t{i} * 100'000 + ttl, bytes.data(),
                    static_cast<std::uint32_t>(bytes.size()),
                    static_cast<std::uint32_t>(bytes.size()), 0, kLinkEthernet});
    }
  analysis.finish();
  EXPECT_EQ(analysis.totals().duplicates, 20U);
  EXPECT_EQ(analysis.totals().retransmitted, 0U);
}

TEST(Timeline, BinsWidenAndNothingIsLost) {
  Timeline<std::uint64_t, 8> line;
  for (std::int64_t t = 0; t < 1'000'000; t += 1'000)
    line.at(t) += 1;
  std::uint64_t sum = 0;
  for (std::size_t i = 0; i < line.size(); ++i)
    sum += line[i];
  EXPECT_EQ(sum, 1'000U);
  EXPECT_LE(line.size(), 8U);
  EXPECT_GE(line.width_ns() * 8, 999'000);
}

TEST(Timeline, QuantilesAreWithinAQuarter) {
  Histogram histogram;
  for (std::uint64_t value = 1; value <= 10'000; ++value)
    histogram.add(value);
  EXPECT_EQ(histogram.least(), 1U);
  EXPECT_EQ(histogram.most(), 10'000U);
  for (const unsigned q : {10U, 500U, 990U}) {
    EXPECT_GE(histogram.quantile(q), q * 10U);
    EXPECT_LE(histogram.quantile(q), q * 10U * 5 / 4 + 1);
  }
}

}  // namespace
}  // namespace weir::wire

#pragma once
// Captures drawn at random, for property tests, the comparison with tshark, and the benchmark:
// every format, encapsulation and opcode, with loss, reordering, broken packets and other traffic
// among it.
#include <algorithm>
#include <array>
#include <cstdint>
#include <utility>
#include <vector>

#include "base/rng.h"
#include "wire/bytes.h"
#include "wire/capture_writer.h"
#include "wire/encode.h"
#include "wire/sequence.h"

namespace weir::wire {

/// What is known about a drawn capture because it was made so.
struct DrawnTruth {
  std::uint64_t frames = 0;
  std::uint64_t roce = 0;
  std::uint64_t icrc_bad = 0;
  std::uint64_t icrc_cut = 0;
  std::uint64_t ce = 0;
  std::uint64_t cnps = 0;
  std::uint64_t pfc = 0;
  std::uint64_t pause = 0;
};

class CaptureDrawer {
 public:
  CaptureDrawer(std::uint64_t seed, std::uint64_t entity) : random_(seed, entity, 0x70636170) {}

  [[nodiscard]] const DrawnTruth& truth() const { return truth_; }

  /// About `frames` frames of some flows, in one of the formats.
  std::vector<std::uint8_t> draw(std::size_t frames) {
    CaptureOptions options;
    options.format = static_cast<CaptureFormat>(random_.below(3));
    options.big_endian = one_in(3);
    options.resolution = one_in(2) ? 9 : 6;
    if (one_in(4)) options.snap = static_cast<std::uint32_t>(160 + random_.below(1200));
    snap_ = options.snap;
    constexpr std::uint16_t kLinks[] = {kLinkEthernet, kLinkEthernet, kLinkSll, kLinkSll2,
                                        kLinkRaw};
    options.link_types = {kLinks[random_.below(5)]};
    if (options.format == CaptureFormat::kPcapng && one_in(2))
      options.link_types.push_back(kLinks[random_.below(5)]);
    has_ethernet_ = std::find(options.link_types.begin(), options.link_types.end(),
                              kLinkEthernet) != options.link_types.end();
    CaptureBytes capture(options);
    for (std::size_t i = 0, count = 1 + random_.below(6); i < count; ++i)
      flows_.push_back(draw_flow(i));
    while (truth_.frames < frames) {
      now_ += 300 + static_cast<std::int64_t>(random_.below(2000));
      const auto interface = static_cast<std::uint32_t>(random_.below(options.link_types.size()));
      const std::uint16_t link = options.link_types[interface];
      frame_.clear();
      step(link);
      if (frame_.empty()) continue;
      ++truth_.frames;
      capture.add(1'794'710'400'000'000'000 + now_, frame_, interface);
    }
    return std::move(capture.bytes());
  }

 private:
  struct DrawnFlow {
    RoceFrame forward;  // addresses, tags, marking
    RoceFrame back;
    std::uint8_t transport = 0;  // top bits of the opcode
    std::uint32_t psn = 0;
    std::uint32_t mtu = 1024;
    std::uint32_t left = 0;  // packets of the message that runs
    std::uint8_t operation = 0;
    std::uint8_t tunnel = 0;
    bool starts = true;
    std::vector<RoceFrame> held;  // to come late
  };

  bool one_in(std::uint64_t n) { return random_.below(n) == 0; }

  Address draw_address(bool is_ipv4) {
    if (is_ipv4)
      return ipv4_address(static_cast<std::uint32_t>(0x0A000001 + random_.below(0xFFFFFE)));
    return {0x20010DB800000000ULL + random_.below(256), 1 + random_.below(1'000'000)};
  }

  DrawnFlow draw_flow(std::size_t index) {
    DrawnFlow flow;
    RoceFrame& frame = flow.forward;
    frame.is_v1 = one_in(6) && has_ethernet_;  // RoCEv1 is an Ethernet type
    const bool is_ipv4 = !frame.is_v1 && !one_in(3);
    frame.source = draw_address(is_ipv4);
    frame.destination = draw_address(is_ipv4);
    for (std::size_t i = 0, tags = random_.below(3); i < tags; ++i)
      frame.tags.push_back({static_cast<std::uint16_t>(i + 1 < tags ? 0x88A8 : 0x8100),
                            static_cast<std::uint8_t>(random_.below(8)),
                            static_cast<std::uint16_t>(1 + random_.below(4094))});
    constexpr std::uint8_t kTos[] = {0x6A, 0x68, 0x00, 0x1A, 0x62, 0xB8};
    frame.tos = kTos[random_.below(6)];
    frame.ttl = static_cast<std::uint8_t>(60 + random_.below(5));
    frame.source_port = static_cast<std::uint16_t>(49152 + random_.below(16384));
    frame.destination_qp = static_cast<std::uint32_t>(16 + 8 * index);
    flow.back = frame;
    std::swap(flow.back.source, flow.back.destination);
    flow.back.destination_qp += 3;
    constexpr std::uint8_t kTransports[] = {0x00, 0x00, 0x00, 0x20, 0x60, 0xA0};
    flow.transport = kTransports[random_.below(6)];
    flow.psn = static_cast<std::uint32_t>(random_.below(kPsnMask));
    flow.mtu = 256U << random_.below(5);
    flow.tunnel = static_cast<std::uint8_t>(one_in(5) ? 1 + random_.below(3) : 0);
    return flow;
  }

  void step(std::uint16_t link) {
    switch (random_.below(40)) {
      case 0: return pause(link);
      case 1: return tcp(link);
      default: break;
    }
    DrawnFlow& flow = flows_[random_.below(flows_.size())];
    if (!flow.held.empty() && one_in(3)) {
      const RoceFrame late = flow.held.back();
      flow.held.pop_back();
      return put(late, flow, link);
    }
    switch (random_.below(12)) {
      case 0: return answer(flow, link);
      case 1: return cnp(flow, link);
      case 2:
        if (flow.transport == 0x00) return go_back(flow, link);
        break;
      default: break;
    }
    RoceFrame frame = next_request(flow);
    if (flow.transport != 0x60 && one_in(60)) return;  // lost before the capture
    if (flow.transport != 0x60 && flow.held.empty() && one_in(40)) {
      flow.held.push_back(frame);
      frame = next_request(flow);
    }
    put(frame, flow, link);
  }

  RoceFrame next_request(DrawnFlow& flow) {
    RoceFrame frame = flow.forward;
    frame.psn = flow.psn;
    frame.ip_id = static_cast<std::uint16_t>(++ip_id_);
    if (flow.transport == 0x60) {
      flow.psn = (flow.psn + 1) & kPsnMask;
      frame.opcode = static_cast<std::uint8_t>(0x60 + (one_in(2) ? 4 : 5));
      frame.payload = static_cast<std::uint32_t>(random_.below(flow.mtu + 1));
      frame.source_qp = 77;
      return frame;
    }
    if (flow.left == 0) start_message(flow, frame);
    const bool is_last = flow.left == 1;
    const auto base = static_cast<std::uint8_t>(flow.operation == 1 ? 6 : 0);
    if (flow.operation >= 2) {
      frame.opcode = static_cast<std::uint8_t>(flow.transport + (flow.operation == 2   ? 12
                                                                 : flow.operation == 3 ? 19
                                                                                       : 20));
      flow.psn = (flow.psn + flow.left) & kPsnMask;
      flow.left = 0;
      frame.ack_request = true;
      return frame;
    }
    std::uint8_t part = flow.starts ? (is_last ? 4 : 0) : (is_last ? 2 : 1);
    if (is_last && one_in(3)) part = static_cast<std::uint8_t>(part + 1);  // immediate
    frame.opcode = static_cast<std::uint8_t>(flow.transport + base + part);
    frame.payload = is_last ? static_cast<std::uint32_t>(random_.below(flow.mtu + 1)) : flow.mtu;
    if (base == 6 && flow.starts) frame.dma_length = flow.left * flow.mtu;
    frame.ack_request = is_last;
    flow.starts = false;
    --flow.left;
    flow.psn = (flow.psn + 1) & kPsnMask;
    return frame;
  }

  void start_message(DrawnFlow& flow, RoceFrame& frame) {
    const bool is_reliable = flow.transport == 0x00 || flow.transport == 0xA0;
    flow.operation = static_cast<std::uint8_t>(random_.below(is_reliable ? 5 : 2));
    flow.left = static_cast<std::uint32_t>(1 + random_.below(6));
    if (flow.operation >= 3) flow.left = 1;
    flow.starts = true;
    if (flow.operation == 2) frame.dma_length = flow.left * flow.mtu;
  }

  void answer(DrawnFlow& flow, std::uint16_t link) {
    if (flow.transport != 0x00 && flow.transport != 0xA0) return;
    RoceFrame frame = flow.back;
    frame.ip_id = static_cast<std::uint16_t>(++ip_id_);
    frame.psn = (flow.psn - 1) & kPsnMask;
    constexpr std::uint8_t kCodes[] = {17, 17, 17, 18, 16};
    frame.opcode = static_cast<std::uint8_t>(flow.transport + kCodes[random_.below(5)]);
    constexpr std::uint8_t kSyndromes[] = {0x1F, 0x00, 0x05, 0x60, 0x2E, 0x61, 0x62, 0x63, 0x6F};
    frame.syndrome = kSyndromes[random_.below(9)];
    frame.msn = static_cast<std::uint32_t>(random_.below(1000));
    if ((frame.opcode & 0x1FU) == 16) frame.payload = flow.mtu;
    put(frame, flow, link);
  }

  void cnp(DrawnFlow& flow, std::uint16_t link) {
    if (flow.forward.is_v1) return;
    RoceFrame frame = flow.back;
    frame.opcode = kCnpOpcode;
    frame.becn = true;
    frame.tos = 0xC0;
    put(frame, flow, link);
  }

  void go_back(DrawnFlow& flow, std::uint16_t link) {
    RoceFrame frame = flow.forward;
    frame.ip_id = static_cast<std::uint16_t>(++ip_id_);
    frame.psn = (flow.psn - 1 - static_cast<std::uint32_t>(random_.below(4))) & kPsnMask;
    frame.opcode = 7;
    frame.payload = flow.mtu;
    put(frame, flow, link);
  }

  void put(RoceFrame frame, DrawnFlow& flow, std::uint16_t link) {
    if (frame.opcode != kCnpOpcode && (frame.tos & 3U) != 0 && one_in(9)) frame.tos |= 3U;
    const bool is_bad = one_in(50);
    if (is_bad) frame.icrc_flip = 1U << random_.below(32);
    std::vector<std::uint8_t> inner;
    if (frame.is_v1 && link != kLinkEthernet) return;  // needs an Ethernet header
    const bool from_ip = link != kLinkEthernet && flow.tunnel == 0;
    if (from_ip) frame.tags.clear();
    encode(frame, inner, from_ip);
    if (flow.tunnel != 0) inner = wrapped(inner, flow.tunnel);
    const bool is_ipv4 = flow.tunnel != 0 || frame.source.is_ipv4();
    if (flow.tunnel != 0 && link == kLinkEthernet) ethernet_header(0x0800);
    if (link != kLinkEthernet) link_header(link, is_ipv4);
    frame_.insert(frame_.end(), inner.begin(), inner.end());
    ++truth_.roce;
    truth_.ce += (frame.tos & 3U) == 3 ? 1 : 0;
    truth_.cnps += frame.opcode == kCnpOpcode ? 1 : 0;
    if (frame_.size() > snap_)  // at least 160: no padding behind the ICRC
      ++truth_.icrc_cut;
    else
      truth_.icrc_bad += is_bad ? 1 : 0;
  }

  void link_header(std::uint16_t link, bool is_ipv4) {
    const std::uint16_t type = is_ipv4 ? 0x0800 : 0x86DD;
    if (link == kLinkSll) {
      frame_ = {0, 0, 0, 1, 0, 6, 2, 0, 0, 0, 0, 1, 0, 0, 0, 0};
      put_be16(frame_.data() + 14, type);
    } else if (link == kLinkSll2) {
      frame_ = {0, 0, 0, 0, 0, 0, 0, 2, 0, 1, 0, 6, 2, 0, 0, 0, 0, 1, 0, 0};
      put_be16(frame_.data(), type);
    }
  }

  void ethernet_header(std::uint16_t type) {
    frame_ = {2, 0, 0, 0, 0, 9, 2, 0, 0, 0, 0, 8, 0, 0};
    put_be16(frame_.data() + 12, type);
  }

  /// An IPv4 packet that carries `inner`, an Ethernet frame: ERSPAN II, GRE, or VXLAN.
  static std::vector<std::uint8_t> wrapped(const std::vector<std::uint8_t>& inner,
                                           std::uint8_t kind) {
    std::vector<std::uint8_t> head;
    if (kind == 1) head = {0x10, 0, 0x88, 0xBE, 0, 0, 0, 1, 0x10, 0, 0, 0, 0, 0, 0, 0};
    if (kind == 2) head = {0, 0, 0x65, 0x58};
    if (kind == 3) head = {0xC0, 1, 0x12, 0xB5, 0, 0, 0, 0, 8, 0, 0, 0, 0, 0, 42, 0};
    if (kind == 3) put_be16(head.data() + 4, static_cast<std::uint32_t>(16 + inner.size()));
    constexpr std::array<std::uint8_t, 20> kOuter = {0x45, 0, 0,  0,   0, 0, 0x40, 0,   64, 47,
                                                     0,    0, 10, 255, 0, 1, 10,   255, 0,  2};
    std::vector<std::uint8_t> out(kOuter.size() + head.size() + inner.size());
    auto end = std::copy(kOuter.begin(), kOuter.end(), out.begin());
    end = std::copy(head.begin(), head.end(), end);
    std::copy(inner.begin(), inner.end(), end);
    if (kind == 3) out[9] = 17;
    put_be16(out.data() + 2, static_cast<std::uint32_t>(out.size()));
    return out;
  }

  void pause(std::uint16_t link) {
    if (link != kLinkEthernet) return;
    if (one_in(3)) {
      encode_pause(0x020000000007, static_cast<std::uint16_t>(random_.below(65536)), frame_);
      ++truth_.pause;
      return;
    }
    std::array<std::uint16_t, 8> quanta{};
    quanta[3] = one_in(2) ? 0xFFFF : 0;
    encode_pfc(0x020000000008, 1U << 3U, quanta, frame_);
    ++truth_.pfc;
  }

  void tcp(std::uint16_t link) {
    if (link != kLinkEthernet) return;
    TcpFrame frame;
    frame.source = ipv4_address(0x0A000001);
    frame.destination = ipv4_address(0x0A000002);
    frame.source_port = 40000;
    frame.destination_port = 5201;
    frame.payload = static_cast<std::uint32_t>(random_.below(1400));
    encode_tcp(frame, frame_);
  }

  RandomStream random_;
  DrawnTruth truth_;
  std::vector<DrawnFlow> flows_;
  std::vector<std::uint8_t> frame_;
  std::int64_t now_ = 0;
  std::uint32_t snap_ = 0;
  std::uint32_t ip_id_ = 0;
  bool has_ethernet_ = true;
};

}  // namespace weir::wire

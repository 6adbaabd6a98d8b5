// Nothing is allocated after set-up: the global allocator of this binary counts while it is armed.
#include <cstdlib>
#include <new>

#include "base/testing.h"
#include "sim/engine/sim.h"
#include "sim/fabric/test_networks.h"

namespace {
bool armed = false;
std::size_t allocations = 0;

void* counted(std::size_t size) {
  if (armed) ++allocations;
  void* memory = std::malloc(size == 0 ? 1 : size);
  if (memory == nullptr) std::abort();
  return memory;
}
}  // namespace

void* operator new(std::size_t size) {
  return counted(size);
}
void* operator new[](std::size_t size) {
  return counted(size);
}
void* operator new(std::size_t size, const std::nothrow_t& /*tag*/) noexcept {
  return counted(size);
}
void* operator new[](std::size_t size, const std::nothrow_t& /*tag*/) noexcept {
  return counted(size);
}
void operator delete(void* memory) noexcept {
  std::free(memory);
}
void operator delete[](void* memory) noexcept {
  std::free(memory);
}
void operator delete(void* memory, std::size_t) noexcept {
  std::free(memory);
}
void operator delete[](void* memory, std::size_t) noexcept {
  std::free(memory);
}

namespace weir::sim {
namespace {

TEST(Allocation, AnAllToAllWithLossesAndFailuresAllocatesNothingAfterSetUp) {
  COVERS("G1");
  SwitchConfig sw = test::lossless_switch(1_MB, 60_KB);
  sw.queues[3].wred = {true, 5_KB, 50_KB, 50_percent};
  NicConfig nic = test::plain_nic(1024_B);
  nic = test::with_dcqcn(nic, DcqcnVariant::kConnectx);
  nic.ack_timeout = 200_us;
  Network network = test::leaf_spine(4, 4, 4, 100_Gbps, 300_ns, sw, nic);
  for (std::uint32_t a = 0; a < 16; ++a)
    for (std::uint32_t b = 0; b < 16; ++b)
      if (a != b) test::add_flow(network, a, b, 100_KB);
  network.links[LinkId{20}].error_threshold = 4294967296 / 1000;
  network.changes.push_back({Time::at(20_us), LinkId{25}, false, 5_us});
  network.changes.push_back({Time::at(60_us), LinkId{25}, true, 5_us});
  auto sim = Sim::make(std::move(network));
  ASSERT_TRUE(sim.has_value());
  allocations = 0;
  armed = true;
  (*sim)->run(Time::at(100_ms));
  armed = false;
  EXPECT_EQ(allocations, 0U);
  for (const MessageRecord& message : (*sim)->messages())
    EXPECT_EQ(message.state, MessageState::kDone);
  std::uint64_t cnps = 0;
  std::uint64_t pauses = 0;
  for (std::uint32_t host = 0; host < 16; ++host)
    cnps += (*sim)->nic_counters(NodeId{host}).cnp_sent;
  for (std::uint32_t port = 0; port < (*sim)->port_count(); ++port)
    pauses += (*sim)->port_counters(PortId{port}).pause_tx[3];
  EXPECT_GT(cnps, 0U) << "the paths that could allocate were taken";
  EXPECT_GT(pauses, 0U);
  EXPECT_TRUE((*sim)->audit().has_value());
}

}  // namespace
}  // namespace weir::sim

#include "sim/events/event_list.h"

#include <map>

#include "base/rng.h"
#include "base/testing.h"

namespace weir::sim {
namespace {

struct Seen {
  Ps at;
  std::uint32_t tie;
  friend bool operator==(const Seen&, const Seen&) = default;
};

TEST(EventList, AgreesWithAnOrderedMapOnRandomPushes) {
  COVERS("G1");
  for (std::uint64_t seed = 1; seed <= 40; ++seed) {
    SCOPED_TRACE(seed);
    RandomStream random(seed, 0, 0);
    EventList list;
    const std::uint8_t lane_a = list.add_lane(83'840, 4096);
    const std::uint8_t lane_b = list.add_lane(6'880, 4096);
    list.reserve(8192, 8192);
    std::multimap<std::pair<Ps, std::uint32_t>, int> model;
    std::vector<Seen> got;
    std::vector<Seen> expected;
    const auto push_some = [&](Ps now) {
      for (std::uint64_t n = random.below(3); n > 0; --n) {
        const auto tie = static_cast<std::uint32_t>(random.below(1U << 20U));
        const std::uint64_t where = random.below(3);
        if (where == 0) {
          list.push_lane(lane_a, tie, {});
          model.emplace(std::pair{now + 83'840, tie}, 0);
        } else if (where == 1) {
          list.push_lane(lane_b, tie, {});
          model.emplace(std::pair{now + 6'880, tie}, 0);
        } else {
          const Ps at = now + 1 + static_cast<Ps>(random.below(1U << random.below(30)));
          list.push(at, tie);
          model.emplace(std::pair{at, tie}, 0);
        }
      }
    };
    list.push(0, 0);
    model.emplace(std::pair{Ps{0}, 0U}, 0);
    int budget = 3000;
    list.run_before(kNever, [&](const Event& event) {
      got.push_back({event.at, event.tie});
      ASSERT_FALSE(model.empty());
      expected.push_back({model.begin()->first.first, model.begin()->first.second});
      model.erase(model.begin());
      for (int n = event.at == 0 ? 50 : 1; n > 0 && --budget > 0; --n)
        push_some(event.at);
    });
    EXPECT_TRUE(model.empty());
    EXPECT_EQ(got, expected);
  }
}

TEST(EventList, EqualTimesAreHandledByKindThenEntityWhateverThePushOrder) {
  COVERS("G1");
  EventList list;
  const std::uint8_t lane = list.add_lane(100, 16);
  list.reserve(16, 16);
  list.push(0, 0);
  list.run_before(1, [&](const Event&) {
    list.push_lane(lane, tie_of(EventKind::kArrive, 9), {});
    list.push_lane(lane, tie_of(EventKind::kArrive, 2), {});
    list.push(100, tie_of(EventKind::kQpWake, 0));
    list.push(100, tie_of(EventKind::kPortFree, 7));
  });
  std::vector<std::uint32_t> order;
  list.run_before(101, [&](const Event& event) { order.push_back(event.tie); });
  EXPECT_EQ(order, (std::vector<std::uint32_t>{
                       tie_of(EventKind::kPortFree, 7), tie_of(EventKind::kArrive, 2),
                       tie_of(EventKind::kArrive, 9), tie_of(EventKind::kQpWake, 0)}));
}

TEST(EventList, InsertionTiesKeepThePushOrder) {
  EventList list(Ties::kInsertion);
  EXPECT_EQ(list.add_lane(100, 16), EventList::kNoLane);
  list.reserve(16, 16);
  for (const std::uint32_t tie : {5U, 3U, 4U})
    list.push(70, tie);
  list.push(60, 1);
  std::vector<std::uint32_t> order;
  list.run_before(kNever, [&](const Event& event) { order.push_back(event.tie); });
  EXPECT_EQ(order, (std::vector<std::uint32_t>{1, 5, 3, 4}));
}

TEST(EventList, NearAndFarTimesKeepThePushOrderAmongEquals) {
  COVERS("G1");
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    SCOPED_TRACE(seed);
    RandomStream random(seed, 0, 0);
    EventList list(Ties::kInsertion);
    list.reserve(8192, 8192);
    std::multimap<Ps, std::uint32_t> model;  // equal keys stay in the order of insertion
    std::uint32_t next = 0;
    const auto push_some = [&](Ps now) {
      for (std::uint64_t n = random.below(4); n > 0; --n) {
        // Whole microseconds, up to the far side of the wheel: many ties, some pushed from afar.
        const Ps at = (now / 1'000'000 + 1 + static_cast<Ps>(random.below(9))) * 1'000'000;
        list.push(at, next);
        model.emplace(at, next++);
      }
    };
    list.push(0, next);
    model.emplace(0, next++);
    int budget = 3000;
    list.run_before(kNever, [&](const Event& event) {
      ASSERT_FALSE(model.empty());
      EXPECT_EQ(event.at, model.begin()->first);
      EXPECT_EQ(event.tie, model.begin()->second);
      model.erase(model.begin());
      for (int n = event.at == 0 ? 30 : 1; n > 0 && --budget > 0; --n)
        push_some(event.at);
    });
    EXPECT_TRUE(model.empty());
    EXPECT_GT(next, 1000U);
  }
}

TEST(EventList, ALaneThatGrowsWhileABatchIsInHandLosesNothing) {
  COVERS("G1");
  EventList list;
  const std::uint8_t lane = list.add_lane(100, 5000);
  list.reserve(16, 5000);
  list.push(0, 0);
  list.run_before(1, [&](const Event&) {
    for (std::uint32_t i = 0; i < 30; ++i)
      list.push_lane(lane, i, {});
  });
  // Each of 30 events of one instant leaves 100, while the others of that instant are still read.
  std::uint32_t seen = 0;
  list.run_before(101, [&](const Event& event) {
    EXPECT_EQ(event.tie, seen++);
    for (std::uint32_t i = 0; i < 100; ++i) {
      Packet packet;
      packet.psn = 1000 + event.tie * 100 + i;
      list.push_lane(lane, packet.psn, packet);
    }
  });
  EXPECT_EQ(seen, 30U);
  std::uint32_t expected = 1000;
  list.run_before(kNever, [&](const Event& event) {
    EXPECT_EQ(event.tie, expected);
    EXPECT_EQ(event.packet.psn, expected++);
  });
  EXPECT_EQ(expected, 4000U);
}

TEST(EventList, ALaneUsesLittleMoreThanItHolds) {
  COVERS("G7");
  constexpr std::size_t kHeld = 1000;
  constexpr Ps kDelay = 5000;
  for (const std::size_t per_instant : {std::size_t{1}, std::size_t{8}}) {
    EventList list;
    const std::uint8_t lane = list.add_lane(kDelay, 4 * kHeld);
    list.reserve(2 * kHeld, 2 * kHeld);
    for (std::size_t i = 0; i < kHeld; ++i)
      list.push(static_cast<Ps>(i / per_instant), static_cast<std::uint32_t>(i));
    std::uint64_t seen = 0;
    list.run_before(kDelay * 40, [&](Event& event) {
      ++seen;
      const std::uint32_t tie = event.tie;
      list.push_lane(lane, tie, event.packet);
    });
    EXPECT_EQ(seen, 40 * kHeld);
    EXPECT_LE(list.lane_places(), kHeld + per_instant + 4 * EventPiece::kEvents);
  }
}

TEST(EventList, StoppingBeforeAnInstantLeavesRoomToPushEarlierEvents) {
  EventList list;
  list.reserve(16, 16);
  list.push(1000, 1);
  std::vector<Ps> times;
  const auto note = [&](const Event& event) { times.push_back(event.at); };
  list.run_before(500, note);
  list.push(600, 2);
  list.run_before(kNever, note);
  EXPECT_EQ(times, (std::vector<Ps>{600, 1000}));
}

}  // namespace
}  // namespace weir::sim

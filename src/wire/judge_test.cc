#include "wire/judge.h"

#include <algorithm>
#include <functional>

#include "base/testing.h"
#include "finding/shown.h"
#include "wire/encode.h"

namespace weir::wire {
namespace {

const Address kA = ipv4_address(0x0A000001);
const Address kB = ipv4_address(0x0A000002);

/// What one place sees of a connection from A to B, frame by frame.
class Wire {
 public:
  explicit Wire(Join* join = nullptr, int side = 0) : join_(join), side_(side) {}

  RoceFrame data(std::uint32_t psn, std::uint8_t tos = 0x6A) const {
    RoceFrame frame;
    frame.source = kA;
    frame.destination = kB;
    frame.destination_qp = 0x11;
    frame.opcode = 10;
    frame.psn = psn;
    frame.ip_id = ++made_;  // in the order in which they leave the sender
    frame.payload = 256;
    frame.dma_length = 256;
    frame.tos = tos;
    return frame;
  }
  RoceFrame answer(std::uint32_t psn, std::uint8_t tos = 0x6A, std::uint8_t syndrome = 0x1F) const {
    RoceFrame frame = data(psn, tos);
    std::swap(frame.source, frame.destination);
    frame.destination_qp = 0x22;
    frame.opcode = 17;
    frame.payload = 0;
    frame.syndrome = syndrome;
    return frame;
  }
  RoceFrame cnp(std::uint8_t tos = 0xC0) const {
    RoceFrame frame = answer(0, tos);
    frame.opcode = kCnpOpcode;
    frame.becn = true;
    return frame;
  }
  void put(const RoceFrame& frame) {
    bytes_.clear();
    encode(frame, bytes_);
    add();
  }
  void add() {
    now_ += 2'000;
    const auto size = static_cast<std::uint32_t>(bytes_.size());
    const Record record{now_, bytes_.data(), size, size, 0, kLinkEthernet};
    analysis_.add(record);
    if (join_ == nullptr) return;
    Packet packet;
    decode(record, packet);
    join_->add(side_, now_, packet);
  }
  void pause() {
    bytes_.clear();
    encode_pause(0x020000000001, 100, bytes_);
    add();
  }
  void pfc(std::uint8_t classes) {
    bytes_.clear();
    encode_pfc(0x020000000001, classes, {9, 9, 9, 9, 9, 9, 9, 9}, bytes_);
    add();
  }
  void healthy(std::uint32_t from, std::uint32_t to) {
    for (std::uint32_t psn = from; psn < to; ++psn) {
      put(data(psn));
      put(answer(psn));
    }
  }
  Analysis& analysis() { return analysis_; }

 private:
  Join* join_;
  int side_;
  Analysis analysis_;
  std::vector<std::uint8_t> bytes_;
  std::int64_t now_ = 0;
  mutable std::uint16_t made_ = 0;
};

Expectation usual_design() {
  Expectation out;
  out.source = "fabric.yaml";
  out.places["10.0.0.1"] = {"gpu01", "0", "mlx5_0"};
  return out;
}

CaptureVerdict judged(const std::function<void(Wire&)>& say, const Expectation& expectation) {
  Wire wire;
  say(wire);
  wire.analysis().finish();
  CaptureSource source;
  source.name = "test.pcap";
  return judge(wire.analysis(), source, expectation);
}

std::vector<std::string> ids(const CaptureVerdict& verdict) {
  std::vector<std::string> out;
  for (const finding::Finding& found : verdict.judgement.findings)
    out.push_back(found.id);
  std::sort(out.begin(), out.end());
  out.erase(std::unique(out.begin(), out.end()), out.end());
  return out;
}

struct Case {
  const char* name;
  std::function<void(Wire&)> say;
  std::vector<std::string> found;
};

std::vector<Case> marking_cases() {
  return {
      {"healthy",
       [](Wire& w) {
         w.healthy(0, 50);
         w.put(w.cnp());
       },
       {}},
      {"unmarked",
       [](Wire& w) {
         for (unsigned i = 0; i < 9; ++i)
           w.put(w.data(i, 0x00));
       },
       {"dscp.unmarked"}},
      {"26 typed as TOS",
       [](Wire& w) {
         for (unsigned i = 0; i < 9; ++i)
           w.put(w.data(i, 0x1A));
       },
       {"dscp.tos_confusion"}},
      {"another class",
       [](Wire& w) {
         for (unsigned i = 0; i < 9; ++i)
           w.put(w.data(i, 0xBA));
       },
       {"dscp.unmarked"}},
      {"ACKs elsewhere",
       [](Wire& w) {
         for (unsigned i = 0; i < 9; ++i) {
           w.put(w.data(i));
           w.put(w.answer(i, 0));
         }
       },
       {"dscp.one_way"}},
      {"CNPs with the data",
       [](Wire& w) {
         w.healthy(0, 9);
         w.put(w.cnp(0x68));
       },
       {"cnp.shares_rdma_priority"}},
      {"CNPs elsewhere",
       [](Wire& w) {
         w.healthy(0, 9);
         w.put(w.cnp(0x10));
       },
       {"cnp.wrong_class"}},
      {"not ECT",
       [](Wire& w) {
         for (unsigned i = 0; i < 9; ++i)
           w.put(w.data(i, 0x68));
       },
       {"ecn.not_ect"}},
  };
}

std::vector<Case> transport_cases() {
  return {
      {"lost",
       [](Wire& w) {
         w.healthy(0, 5);
         w.put(w.data(6));
         w.put(w.answer(5, 0x6A, 0x60));
         w.put(w.data(5));
         w.put(w.data(6));
         w.healthy(7, 9);
       },
       {"path.loss"}},
      {"late",
       [](Wire& w) {
         w.healthy(0, 5);
         const RoceFrame late = w.data(5);
         w.put(w.data(6));
         w.put(late);
         w.healthy(7, 9);
       },
       {"path.reordering"}},
      {"not ready",
       [](Wire& w) {
         w.healthy(0, 5);
         w.put(w.data(5));
         w.put(w.answer(5, 0x6A, 0x2E));
         w.put(w.data(5));
         w.healthy(6, 9);
       },
       {"app.receives_too_few"}},
      {"refused",
       [](Wire& w) {
         w.healthy(0, 5);
         w.put(w.data(5));
         w.put(w.answer(5, 0x6A, 0x62));
       },
       {"app.protocol_error"}},
  };
}

std::vector<Case> other_cases() {
  return {
      {"broken inside",
       [](Wire& w) {
         w.healthy(0, 5);
         RoceFrame frame = w.data(5);
         frame.icrc_flip = 4;
         w.put(frame);
         w.healthy(5, 9);
       },
       {"packet.icrc_bad"}},
      {"nobody answers marks",
       [](Wire& w) {
         for (unsigned i = 0; i < 40; ++i) {
           w.put(w.data(i, 0x6B));
           w.put(w.answer(i));
         }
       },
       {"np.disabled"}},
      {"802.3x",
       [](Wire& w) {
         w.healthy(0, 5);
         w.pause();
       },
       {"pause.global_on"}},
      {"PFC too wide",
       [](Wire& w) {
         w.healthy(0, 5);
         w.pfc(0x28);
       },
       {"pfc.multiple_priorities"}},
      {"PFC as designed",
       [](Wire& w) {
         w.healthy(0, 5);
         w.pfc(0x08);
       },
       {}},
  };
}

TEST(Judge, NamesEachFaultOfTheWireAndNothingBesideIt) {
  COVERS("E3", "I14", "I17", "I19", "I28");
  for (const auto& cases : {marking_cases(), transport_cases(), other_cases()})
    for (const Case& test : cases) {
      SCOPED_TRACE(test.name);
      const CaptureVerdict verdict = judged(test.say, usual_design());
      EXPECT_EQ(ids(verdict), test.found) << verdict.headline;
      for (const Case& other : cases)
        for (const std::string& id : other.found)
          EXPECT_EQ(finding::is_raised(verdict.judgement.findings, id),
                    std::count(test.found.begin(), test.found.end(), id) > 0);
    }
}

TEST(Judge, WithoutADesignOnlyWhatNobodyCanMeanIsWrong) {
  COVERS("E3");
  const auto marked = [](std::uint8_t tos) {
    return judged([tos](Wire& w) { w.put(w.data(1, tos)); }, {});
  };
  EXPECT_EQ(ids(marked(0xBA)), std::vector<std::string>{});
  EXPECT_EQ(ids(marked(0x00)), std::vector<std::string>{"dscp.unmarked"});
  EXPECT_EQ(ids(marked(0x1A)), std::vector<std::string>{"dscp.tos_confusion"});
}

TEST(Judge, WalksBackInOrder_AndSaysWhatTheCaptureKnows) {
  COVERS("E3");
  const CaptureVerdict verdict = judged(
      [](Wire& w) {
        w.put(w.data(1, 0x00));
        RoceFrame other = w.data(1, 0x6A);
        other.destination_qp = 0x12;
        w.put(other);
      },
      usual_design());
  const std::vector<std::string> order = {
      "trust", "map", "traffic class", "application override", "per-port value", "wrong NIC"};
  ASSERT_EQ(verdict.walk.size(), order.size());
  for (std::size_t i = 0; i < order.size(); ++i) {
    EXPECT_EQ(verdict.walk[i].name, order[i]);
    EXPECT_FALSE(verdict.walk[i].commands.empty());
  }
  EXPECT_NE(verdict.walk[3].seen.find("different code points"), std::string::npos);
  EXPECT_NE(verdict.walk[5].seen.find("mlx5_0 of the design"), std::string::npos);
  EXPECT_EQ(verdict.judgement.findings.front().where.host, "gpu01");
}

TEST(Judge, NoRoceIsInconclusiveAndSaysWhy) {
  COVERS("E3");
  const CaptureVerdict verdict = judged([](Wire& w) { w.pfc(0x08); }, {});
  EXPECT_EQ(verdict.judgement.conclusion, finding::Conclusion::kInconclusive);
  ASSERT_FALSE(verdict.judgement.unknown.empty());
  EXPECT_NE(verdict.judgement.unknown[0].how.find("does not see RoCE"), std::string::npos);
}

/// One connection at two places, the second one hop and one `change` later.
CaptureVerdict joined(const std::function<bool(RoceFrame&)>& change, JoinTotals& totals) {
  Join join;
  Wire near(&join, 0);
  Wire far(&join, 1);
  for (std::uint32_t psn = 0; psn < 100; ++psn) {
    RoceFrame frame = near.data(psn);
    near.put(frame);
    frame.ttl = 63;
    if (change(frame)) far.put(frame);
  }
  near.analysis().finish();
  far.analysis().finish();
  join.finish();
  totals = join.totals();
  CaptureSource source;
  source.name = "near";
  return judge(near.analysis(), source, usual_design(), &join, "far");
}

TEST(Join, FindsWhatHappenedBetweenTwoPlaces) {
  COVERS("E3");
  JoinTotals totals;
  EXPECT_EQ(ids(joined([](RoceFrame&) { return true; }, totals)), std::vector<std::string>{});
  EXPECT_EQ(totals.matched, 100U);

  const auto lossy = [](RoceFrame& frame) { return frame.psn % 10 != 5; };
  EXPECT_EQ(ids(joined(lossy, totals)), std::vector<std::string>{"path.loss"});
  EXPECT_EQ(totals.lost, 10U);
  EXPECT_EQ(totals.matched, 90U);

  const auto remark = [](RoceFrame& frame) {
    frame.tos = 0x02;
    return true;
  };
  EXPECT_EQ(ids(joined(remark, totals)), std::vector<std::string>{"dscp.rewritten"});
  EXPECT_EQ(totals.remarked, 100U);

  const auto mark = [](RoceFrame& frame) {
    frame.tos = frame.psn % 2 == 0 ? 0x6B : 0x6A;
    return true;
  };
  EXPECT_EQ(ids(joined(mark, totals)), std::vector<std::string>{});
  EXPECT_EQ(totals.ce_only[1], 50U);

  // The second capture began later and ended earlier: nothing is lost.
  const auto shorter = [](RoceFrame& frame) { return frame.psn >= 20 && frame.psn < 80; };
  EXPECT_EQ(ids(joined(shorter, totals)), std::vector<std::string>{});
  EXPECT_EQ(totals.matched, 60U);
  EXPECT_EQ(totals.lost, 0U);
}

}  // namespace
}  // namespace weir::wire

#include "host/change/journal.h"

#include <filesystem>
#include <fstream>

#include <sys/wait.h>
#include <unistd.h>

#include "base/digest.h"
#include "base/json.h"
#include "base/testing.h"
#include "host/change/apply.h"
#include "host/change/rollback.h"
#include "host/change/watchdog.h"
#include "host/test_machine.h"
#include "vocab/setting_json.h"

namespace weir::host {
namespace {

using Fate = MemoryKernel::Fate;

SetScheduling shares() {
  SetScheduling change;
  change.tsa.fill(evidence::Tsa::kEts);
  change.tsa.at(6) = evidence::Tsa::kStrict;
  change.percent = {10, 20, 30, 40, 0, 0, 0, 0};
  return change;
}

std::vector<Change> every_change() {
  SetDscpMap map;
  map.priority.at(26) = 3_prio;
  SetPriorityToTc classes;
  classes.tc.at(3) = 3_tc;
  return {SetGlobalPause{true, false},
          SetDcbx{evidence::DcbxMode::kFirmware},
          SetTrust{evidence::TrustMode::kBoth},
          map,
          classes,
          shares(),
          SetPfc{PrioritySet::from_mask(0x18)},
          SetCableLength{30_m},
          SetEcn{PrioritySet::from_mask(8), PrioritySet::from_mask(0xff)},
          SetCnpMarking{48_dscp, 6_prio},
          SetKnob{"rpg_ai_rate", 5},
          SetTrafficClass{},
          SetTrafficClass{106_tos},
          SetCmTos{106_tos},
          SetMtu{9000_B},
          SetRings{8192, 1024},
          SetStackMtu{9000_B},
          SetIrqNodes{{0, 1}},
          SetSysctl{"net.core.rmem_max", "4096 131072 268435456"}};
}

TEST(Journal, EveryChangeReadsBackAsItWasWritten) {
  COVERS("B2");
  for (const Change& change : every_change()) {
    const Json written = vocab::to_json(change);
    const auto read = vocab::setting_from(JsonCursor(written));
    ASSERT_TRUE(read) << written.dump() << ": " << read.error().what;
    EXPECT_EQ(*read, change);
  }
}

TEST(Journal, SetsOfPrioritiesAreListsAsInEvidence) {
  const Json written = vocab::to_json(Change(SetPfc{PrioritySet::from_mask(0x18)}));
  EXPECT_EQ(written.dump(), R"({"set":"pfc","priorities":[3,4]})");
}

TEST(Journal, OneOfAnotherFormatIsRefusedAndSaysWhatToDo) {
  const std::string text =
      R"({"record":"begin","format":1,"time":"","tool":"","design":"","boot":"","steps":0})";
  Digest digest;
  digest.add(text);
  const auto read = parse_journal(digest.to_text() + " " + text + "\n", "journal");
  ASSERT_FALSE(read);
  EXPECT_NE(read.error().what.find("use the Weir that wrote it"), std::string::npos)
      << read.error().what;
}

/// A journal of an apply that was kept, and one that was rolled back after it.
std::string sample() {
  std::string text;
  JournalWriter writer([&](std::string_view line) {
    text += line;
    return Status();
  });
  EXPECT_TRUE(writer.begin({"2026-01-01T00:00:00Z", "weir 0", "fabric.yaml", "boot", 19}));
  for (const Change& change : every_change()) {
    const Step step{
        .operation = {"mlx5_0", change}, .rail = "0", .before = change, .commands = {}, .risk = {}};
    const auto number = writer.step("gpu01", step, "{\"netdev\":\"eth2\"}");
    EXPECT_TRUE(number);
    EXPECT_TRUE(writer.done(*number, true));
  }
  EXPECT_TRUE(writer.awaiting(1'800'000'000));
  EXPECT_TRUE(writer.kept());
  EXPECT_TRUE(writer.undoing("asked for"));
  EXPECT_TRUE(writer.undone(19));
  EXPECT_TRUE(writer.not_undone(18, "no"));
  EXPECT_TRUE(writer.ended(false));
  return text;
}

TEST(Journal, SaysHowFarItCame) {
  COVERS("B2");
  const auto journal = parse_journal(sample(), "journal");
  ASSERT_TRUE(journal && *journal);
  EXPECT_EQ((*journal)->phase, JournalPhase::kUndoneInPart);
  EXPECT_EQ((*journal)->steps.size(), 19U);
  EXPECT_EQ((*journal)->standing(), 18U);
  EXPECT_EQ((*journal)->steps[17].error, "no");
  EXPECT_EQ((*journal)->until, 1'800'000'000);
  EXPECT_FALSE((*journal)->has_torn_tail);
}

TEST(Journal, ATailThatIsCutAnywhereIsLeftOut) {
  COVERS("B2");
  const std::string whole = sample();
  std::size_t steps = 0;
  for (std::size_t length = 0; length < whole.size(); ++length) {
    // Around the ends of lines everywhere, in between here and there.
    const std::size_t to_end = whole.find('\n', length) - length;
    if (to_end > 2 && length % 23 != 0) continue;
    const std::string text = whole.substr(0, length);
    const auto journal = parse_journal(text, "journal");
    ASSERT_TRUE(journal) << length << ": " << journal.error().what;
    if (!*journal) continue;
    EXPECT_GE((*journal)->steps.size(), steps);
    steps = (*journal)->steps.size();
    EXPECT_EQ((*journal)->whole_bytes, text.rfind('\n') + 1);
    EXPECT_EQ((*journal)->has_torn_tail, !text.ends_with('\n'));
  }
  EXPECT_EQ(steps, 19U);
}

TEST(Journal, DamageInFrontOfOtherLinesIsAnErrorThatNamesTheLine) {
  COVERS("B2");
  const std::string whole = sample();
  std::size_t line = 1;
  for (std::size_t place = 0; place + 200 < whole.size(); ++place) {
    if (whole[place] == '\n') {
      ++line;
      continue;
    }
    if (place % 37 != 0) continue;
    std::string text = whole;
    text[place] = static_cast<char>(text[place] ^ 1);
    const auto journal = parse_journal(text, "journal");
    ASSERT_FALSE(journal) << place;
    EXPECT_EQ(journal.error().code, ErrorCode::kParse);
    EXPECT_EQ(journal.error().what.find(fmt::format("journal:{}: ", line)), 0U)
        << journal.error().what;
  }
}

// ---- the power goes ----

/// Journal and machine of an apply, and a switch that ends both at the nth thing that is written,
/// be it a record or a change: from there on nothing is written any more.
struct Scene {
  explicit Scene(TestMachine flavour) : kernel(machine(flavour)), host(host_on(kernel)) {
    plan = plan_of(*host);
    before = kernel->state();
  }

  JournalSink sink() {
    return [this](std::string_view line) -> Status {
      if (is_dead()) return Error{ErrorCode::kIo, "no power"};
      if (records++ >= most_records) {
        // Half of the record may be on the disk.
        text += line.substr(0, line.size() / 2);
        died_at_record = true;
        kernel->set_fate(0, Fate::kDead);
        return Error{ErrorCode::kIo, "no power"};
      }
      text += line;
      return {};
    };
  }
  [[nodiscard]] bool is_dead() const { return died_at_record || kernel->is_dead(); }

  void apply() {
    JournalWriter journal(sink());
    if (!journal.begin({"time", "weir", "fabric.yaml", "", 0})) return;
    const HostOutcome outcome = apply_plan(*host, plan, &journal);
    if (outcome.is_done()) is_applied = journal.kept().has_value();
  }
  /// As weir rollback does it: what is half written is cut off, what is is undone.
  void recover() {
    kernel->revive();
    died_at_record = false;
    records = 0;
    const auto journal = parse_journal(text, "journal");
    ASSERT_TRUE(journal) << journal.error().what;
    if (!*journal) return;
    text.resize((*journal)->whole_bytes);
    JournalWriter writer(sink(), static_cast<unsigned>((*journal)->steps.size()) + 1);
    if (!writer.undoing("test")) return;
    for (HostOutcome& outcome : standing_steps(**journal)) {
      undo(*host, outcome, &writer);
      EXPECT_TRUE(is_dead() || outcome.is_restored());
    }
    if (!writer.ended(true)) return;
    is_recovered = !is_dead();
  }

  std::shared_ptr<MemoryKernel> kernel;
  std::unique_ptr<HostIo> host;
  HostPlan plan;
  std::string before;
  std::string text;
  std::size_t records = 0;
  std::size_t most_records = SIZE_MAX;
  bool died_at_record = false;
  bool is_applied = false;
  bool is_recovered = false;
};

TEST(Journal, WhateverIsWrittenLastTheHostIsPutBack) {
  COVERS("B2");
  for (const TestMachine flavour : {TestMachine::kOfed, TestMachine::kInbox}) {
    std::size_t tried = 0;
    std::size_t recovered = 0;
    for (const bool at_record : {true, false}) {
      for (std::size_t point = 0;; ++point) {
        Scene scene(flavour);
        if (at_record) scene.most_records = point;
        if (!at_record) scene.kernel->set_fate(point, Fate::kDead);
        scene.apply();
        if (scene.is_applied) break;
        ++tried;
        scene.most_records = SIZE_MAX;
        scene.recover();
        EXPECT_EQ(scene.kernel->state(), scene.before)
            << (at_record ? "record " : "change ") << point;
        if (scene.kernel->state() == scene.before) ++recovered;
      }
    }
    std::cout << fmt::format("killed at 1..{}, recovered {}/{}\n", tried, recovered, tried);
    EXPECT_EQ(recovered, tried);
    EXPECT_GE(tried, 40U);
  }
}

TEST(Journal, ARollbackThatIsKilledIsFinishedByTheNext) {
  COVERS("B2");
  for (const bool at_record : {true, false}) {
    for (std::size_t point = 0;; ++point) {
      Scene scene(TestMachine::kOfed);
      scene.apply();
      ASSERT_TRUE(scene.is_applied);
      scene.records = 0;
      if (at_record) scene.most_records = point;
      // recover() revives: set the fate after that by counting from the first change.
      Scene* const current = &scene;
      const std::string applied = current->kernel->state();
      EXPECT_NE(applied, current->before);
      if (at_record) {
        current->recover();
      } else {
        const auto journal = parse_journal(current->text, "journal");
        ASSERT_TRUE(journal && *journal);
        JournalWriter writer(current->sink(), 1000);
        current->kernel->set_fate(point, Fate::kDead);
        (void)writer.undoing("test").has_value();
        for (HostOutcome& outcome : standing_steps(**journal))
          undo(*current->host, outcome, &writer);
        current->is_recovered = !current->is_dead() && writer.ended(true).has_value();
      }
      if (current->is_recovered) break;
      current->most_records = SIZE_MAX;
      current->recover();
      EXPECT_TRUE(current->is_recovered);
      EXPECT_EQ(current->kernel->state(), current->before) << point;
    }
  }
}

// ---- the directory ----

class StateDirectoryTest : public ::testing::Test {
 protected:
  StateDirectoryTest()
      : path_(std::filesystem::temp_directory_path() /
              fmt::format("weir-state-{}-{}", ::getpid(),
                          ::testing::UnitTest::GetInstance()->current_test_info()->name())),
        state_(path_.string(), StateDirectory::Durability::kUnsynced) {
    std::filesystem::remove_all(path_);
    EXPECT_TRUE(state_.prepare());
  }
  ~StateDirectoryTest() override { std::filesystem::remove_all(path_); }

  std::filesystem::path path_;
  StateDirectory state_;
};

TEST_F(StateDirectoryTest, OnlyOneAtATime) {
  COVERS("B2");
  {
    const auto lock = state_.lock();
    ASSERT_TRUE(lock);
    const auto second = state_.lock();
    ASSERT_FALSE(second);
    EXPECT_NE(second.error().what.find(fmt::format("process {}", ::getpid())), std::string::npos);
  }
  EXPECT_TRUE(state_.lock());
}

TEST_F(StateDirectoryTest, ARollbackTakesTheLastApplyThatStands) {
  COVERS("B2");
  const auto kernel = machine(TestMachine::kOfed);
  const auto host = host_on(kernel);
  const auto find = [&](const std::string&) { return host.get(); };
  const std::string before = kernel->state();
  auto journal = state_.create();
  ASSERT_TRUE(journal);
  ASSERT_TRUE(journal->begin({"first", "weir", "fabric.yaml", "boot-1", 0}));
  ASSERT_TRUE(apply_plan(*host, plan_of(*host), &*journal).is_done());
  EXPECT_TRUE((*state_.open_journal()).has_value());
  ASSERT_TRUE(journal->kept());
  EXPECT_FALSE((*state_.open_journal()).has_value());
  auto stored = state_.last_standing();
  ASSERT_TRUE(stored && *stored);
  const auto done = roll_back(state_, **stored, find, "boot-1", "asked for");
  ASSERT_TRUE(done) << done.error().what;
  EXPECT_TRUE(done->is_whole);
  EXPECT_EQ(kernel->state(), before);
  EXPECT_FALSE((*state_.last_standing()).has_value());
}

TEST_F(StateDirectoryTest, AfterARestartThereIsNothingToPutBack) {
  COVERS("B2");
  const auto kernel = machine(TestMachine::kOfed);
  const auto host = host_on(kernel);
  auto journal = state_.create();
  ASSERT_TRUE(journal && journal->begin({"first", "weir", "fabric.yaml", "boot-1", 0}));
  ASSERT_TRUE(apply_plan(*host, plan_of(*host), &*journal).is_done());
  const std::size_t changes = kernel->changes.size();
  const auto stored = state_.last_standing();
  ASSERT_TRUE(stored && *stored);
  const auto done = roll_back(
      state_, **stored, [&](const std::string&) { return host.get(); }, "boot-2", "asked for");
  ASSERT_TRUE(done);
  EXPECT_TRUE(done->was_restarted);
  EXPECT_TRUE(done->is_whole);
  EXPECT_EQ(kernel->changes.size(), changes);
}

TEST_F(StateDirectoryTest, ATornTailIsCutOffBeforeMoreIsWritten) {
  COVERS("B2");
  auto journal = state_.create();
  ASSERT_TRUE(journal && journal->begin({"first", "weir", "fabric.yaml", "", 0}));
  const std::string file = (*state_.open_journal())->file;
  std::ofstream(file, std::ios::app) << "0123456789abcdef {\"record\":\"st";
  const auto torn = state_.open_journal();
  ASSERT_TRUE(torn && *torn);
  EXPECT_TRUE((*torn)->journal.has_torn_tail);
  auto again = state_.reopen(**torn);
  ASSERT_TRUE(again && again->kept());
  const auto all = state_.journals();
  ASSERT_TRUE(all) << all.error().what;
  EXPECT_EQ(all->front().journal.phase, JournalPhase::kKept);
  EXPECT_FALSE(all->front().journal.has_torn_tail);
}

TEST_F(StateDirectoryTest, ADamagedJournalIsAnErrorAndNothingIsTouched) {
  COVERS("B2");
  std::ofstream(path_ / "journal-000001") << "not a journal\nat all\n";
  const auto open = state_.open_journal();
  ASSERT_FALSE(open);
  EXPECT_EQ(open.error().code, ErrorCode::kParse);
}

TEST(Watchdog, ActsWhereNobodyConfirmsOrNobodyIsLeft) {
  COVERS("B2");
  EXPECT_EQ(next_step(std::nullopt, 100), WatchdogStep::kLeave);
  StoredJournal open;
  open.journal.phase = JournalPhase::kAwaiting;
  open.journal.until = 200;
  EXPECT_EQ(next_step(open, 199), WatchdogStep::kWait);
  EXPECT_EQ(next_step(open, 200), WatchdogStep::kRollBack);
  open.journal.phase = JournalPhase::kApplying;
  EXPECT_EQ(next_step(open, 100), WatchdogStep::kRollBack);
}

/// The real thing: a process of its own, which acts when the one that applied is gone.
TEST_F(StateDirectoryTest, TheWatchdogRollsBackInAProcessOfItsOwn) {
  COVERS("B2");
  auto lock = std::make_optional(state_.lock());
  ASSERT_TRUE(*lock);
  auto journal = state_.create();
  ASSERT_TRUE(journal && journal->begin({"first", "weir", "fabric.yaml", "", 0}));
  {
    const auto watchdog = Watchdog::start(
        state_, **lock, [&](const StoredJournal& stored, std::string_view reason) -> Status {
          auto writer = state_.reopen(stored);
          if (!writer) return writer.error();
          WEIR_TRY_STATUS(writer->undoing(reason));
          return writer->ended(true);
        });
    ASSERT_TRUE(watchdog);
    EXPECT_TRUE((*state_.open_journal()).has_value()) << "not before the applying one is gone";
  }
  lock.reset();
  ASSERT_GT(::wait(nullptr), 0) << "the watchdog ends when it is done";
  const auto all = state_.journals();
  ASSERT_TRUE(all);
  EXPECT_EQ(all->front().journal.phase, JournalPhase::kUndone);
  EXPECT_EQ(all->front().journal.reason, "the applying process ended before it was done");
}

}  // namespace
}  // namespace weir::host

#include "host/change/journal.h"

#include <csignal>
#include <filesystem>
#include <fstream>
#include <thread>

#include <poll.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/digest.h"
#include "base/file.h"
#include "base/json.h"
#include "base/testing.h"
#include "base/text.h"
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
  EXPECT_TRUE(writer.guarded({"systemd", "weir-confirm-1"}, 120'000));
  EXPECT_TRUE(writer.awaiting(1'800'000'000, 5'000'000));
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
  EXPECT_EQ((*journal)->deadline, 5'000'000);
  ASSERT_TRUE((*journal)->guard.has_value());
  EXPECT_EQ((*journal)->guard->unit, "weir-confirm-1");
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
        state_(path_.string()) {
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

TEST_F(StateDirectoryTest, WhatIsNotLastingYetIsNotWrittenDownAsUndone) {
  COVERS("B2");
  const auto kernel = machine(TestMachine::kOfed);
  const auto host = host_on(kernel);
  const auto find = [&](const std::string&) { return host.get(); };
  auto journal = state_.create();
  ASSERT_TRUE(journal && journal->begin({"first", "weir", "fabric.yaml", "boot-1", 0}));
  ASSERT_TRUE(apply_plan(*host, plan_of(*host), &*journal).is_done());
  const auto steps = [&] {
    const auto stored = state_.last_standing();
    return stored && *stored ? standing_steps((*stored)->journal).front().steps.size() : 0U;
  };
  const std::size_t made = steps();
  ASSERT_GT(made, 0U);
  const auto stored = state_.last_standing();
  const auto full = [] { return Status(not_found_error("no space left")); };
  EXPECT_FALSE(roll_back(state_, **stored, find, "boot-1", "asked for", {}, {}, full));
  EXPECT_EQ(steps(), made) << "a lab that could not be written is as it was";
  const auto done = roll_back(state_, **state_.last_standing(), find, "boot-1", "asked for", {}, {},
                              [] { return Status(); });
  ASSERT_TRUE(done) << done.error().what;
  EXPECT_TRUE(done->is_whole);
  EXPECT_EQ(steps(), 0U);
}

TEST_F(StateDirectoryTest, AfterARestartThereIsNothingToPutBack) {
  COVERS("B2");
  const auto kernel = machine(TestMachine::kOfed);
  const auto host = host_on(kernel);
  auto journal = state_.create();
  ASSERT_TRUE(journal && journal->begin({"first", "weir", "fabric.yaml", "boot-1", 0}));
  ASSERT_TRUE(apply_plan(*host, plan_of(*host), &*journal).is_done());
  const auto restarted = machine(TestMachine::kOfed);
  const auto host_now = host_on(restarted);
  const auto stored = state_.last_standing();
  ASSERT_TRUE(stored && *stored);
  const auto done = roll_back(
      state_, **stored, [&](const std::string&) { return host_now.get(); }, "boot-2", "asked for");
  ASSERT_TRUE(done);
  EXPECT_TRUE(done->was_restarted);
  EXPECT_TRUE(done->is_whole);
  EXPECT_EQ(done->survived, 0U);
  EXPECT_TRUE(restarted->changes.empty());
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

TEST_F(StateDirectoryTest, AJournalOfTheFormatBeforeIsStillRead) {
  const std::string text =
      R"({"record":"begin","format":2,"time":"t","tool":"","design":"d","boot":"b","steps":0})";
  Digest digest;
  digest.add(text);
  const auto read = parse_journal(digest.to_text() + " " + text + "\n", "journal");
  ASSERT_TRUE(read && *read);
  EXPECT_EQ((*read)->title(), "the apply of d at t");
}

// ---- a full disk ----

/// What is tested are processes with a time of their own.
void let_processes_run(int milliseconds) {
  ::poll(nullptr, 0, milliseconds);
}

/// Files of this process may grow to that size; a write beyond it is cut short, then an error.
class FileLimit {
 public:
  explicit FileLimit(std::size_t bytes) {
    ::getrlimit(RLIMIT_FSIZE, &before_);
    rlimit limit = before_;
    limit.rlim_cur = bytes;
    std::signal(SIGXFSZ, SIG_IGN);
    EXPECT_EQ(::setrlimit(RLIMIT_FSIZE, &limit), 0);
  }
  FileLimit(const FileLimit&) = delete;
  FileLimit& operator=(const FileLimit&) = delete;
  ~FileLimit() {
    ::setrlimit(RLIMIT_FSIZE, &before_);
    std::signal(SIGXFSZ, SIG_DFL);
  }

 private:
  rlimit before_{};
};

TEST_F(StateDirectoryTest, ARecordThatDidNotFitLeavesNoHalfOfItBehind) {
  COVERS("B2");
  auto journal = state_.create();
  ASSERT_TRUE(journal && journal->begin({"first", "weir", "fabric.yaml", "", 0}));
  const std::string file = (*state_.open_journal())->file;
  const auto size = std::filesystem::file_size(file);
  {
    const FileLimit limit(size + 40);
    EXPECT_FALSE(journal->undoing(std::string(200, 'x')));
    EXPECT_EQ(std::filesystem::file_size(file), size);
  }
  ASSERT_TRUE(journal->undoing("there is room again"));
  ASSERT_TRUE(journal->ended(true));
  const auto all = state_.journals();
  ASSERT_TRUE(all) << all.error().what;
  EXPECT_EQ(all->front().journal.phase, JournalPhase::kUndone);
}

TEST_F(StateDirectoryTest, ADiskThatFillsUpAnywhereLeavesTheHostAsItWas) {
  COVERS("B2");
  std::size_t tried = 0;
  for (std::size_t room = 300;; room += 900) {
    const auto kernel = machine(TestMachine::kOfed);
    const auto host = host_on(kernel);
    const std::string before = kernel->state();
    auto journal = state_.create();
    ASSERT_TRUE(journal && journal->begin({"first", "weir", "fabric.yaml", "", 0}));
    bool is_done = false;
    {
      const FileLimit limit(room);
      const HostOutcome outcome = apply_plan(*host, plan_of(*host), &*journal);
      is_done = outcome.is_done();
      EXPECT_TRUE(is_done || outcome.is_restored()) << outcome.failure;
    }
    if (is_done) break;
    ++tried;
    EXPECT_EQ(kernel->state(), before) << room;
    // The journal can be read, and a rollback finds nothing left to do.
    const auto stored = state_.last_standing();
    ASSERT_TRUE(stored) << stored.error().what;
    if (*stored) {
      const auto done = roll_back(
          state_, **stored, [&](const std::string&) { return host.get(); }, "", "test");
      ASSERT_TRUE(done) << done.error().what;
      EXPECT_TRUE(done->is_whole);
    }
    EXPECT_EQ(kernel->state(), before) << room;
    std::filesystem::remove_all(path_);
    ASSERT_TRUE(state_.prepare());
  }
  EXPECT_GT(tried, 5U);
}

TEST(Journal, ARecordBehindATornOneIsRead) {
  const std::string whole = sample();
  const std::size_t second = whole.find('\n') + 1;
  const std::string torn = whole.substr(second, 77);
  const auto journal =
      parse_journal(whole.substr(0, second) + torn + whole.substr(second), "journal");
  ASSERT_TRUE(journal && *journal) << journal.error().what;
  EXPECT_EQ((*journal)->steps.size(), 19U);
}

TEST_F(StateDirectoryTest, ARollbackOnAFullDiskStillPutsTheHostBack) {
  COVERS("B2");
  const auto kernel = machine(TestMachine::kOfed);
  const auto host = host_on(kernel);
  const auto find = [&](const std::string&) { return host.get(); };
  const std::string before = kernel->state();
  auto journal = state_.create();
  ASSERT_TRUE(journal && journal->begin({"first", "weir", "fabric.yaml", "", 0}));
  ASSERT_TRUE(apply_plan(*host, plan_of(*host), &*journal).is_done());
  ASSERT_TRUE(journal->kept());
  const auto stored = state_.last_standing();
  ASSERT_TRUE(stored && *stored);
  {
    const FileLimit limit((*stored)->journal.whole_bytes);
    const auto done = roll_back(state_, **stored, find, "", "test");
    ASSERT_FALSE(done);
    EXPECT_NE(done.error().what.find("everything was put back"), std::string::npos);
  }
  EXPECT_EQ(kernel->state(), before);
  const auto again = roll_back(state_, **state_.last_standing(), find, "", "test");
  ASSERT_TRUE(again && again->is_whole);
}

// ---- directories of others ----

TEST_F(StateDirectoryTest, OneThatOthersCanWriteToIsRefused) {
  COVERS("B2");
  ASSERT_EQ(::chmod(path_.c_str(), 0777), 0);
  for (const Status& status : {state_.prepare(), Status(state_.open_journal().error()),
                               Status(state_.lock().error()), Status(state_.create().error())}) {
    ASSERT_FALSE(status);
    EXPECT_EQ(status.error().code, ErrorCode::kInvalid);
    EXPECT_NE(status.error().what.find("is not trusted"), std::string::npos);
  }
}

TEST_F(StateDirectoryTest, ALockOrAJournalThatIsALinkIsRefusedAndItsTargetKept) {
  COVERS("B2");
  const auto victim = path_ / "victim";
  std::ofstream(victim) << "kept\n";
  std::filesystem::create_symlink(victim, path_ / "lock");
  EXPECT_FALSE(state_.lock());
  std::filesystem::create_symlink(victim, path_ / "watchdog.log");
  EXPECT_FALSE(state_.watchdog_log());
  std::filesystem::create_symlink(victim, path_ / "journal-000001");
  EXPECT_FALSE(state_.open_journal());
  EXPECT_EQ(read_file(victim.string()).value(), "kept\n");
}

TEST(StateDirectory, ARelativePathIsMadeAbsoluteAtOnce) {
  const auto here = std::filesystem::current_path();
  const StateDirectory state("some/../state/");
  std::filesystem::current_path("/");
  EXPECT_EQ(state.path(), (here / "state").string());
  std::filesystem::current_path(here);
}

// ---- waiting for the lock ----

TEST_F(StateDirectoryTest, ALockIsWaitedForAndTheWaitIsSaid) {
  COVERS("B2");
  auto held = std::make_optional(state_.lock());
  ASSERT_TRUE(*held);
  std::string said;
  const LockWait wait{.patience = 200_ms, .say = [&](const std::string& text) { said = text; }};
  const auto late = state_.lock(wait);
  ASSERT_FALSE(late);
  EXPECT_NE(said.find(fmt::format("waiting for another weir (process {})", ::getpid())),
            std::string::npos)
      << said;
  EXPECT_NE(late.error().what.find("waited 200ms"), std::string::npos) << late.error().what;
  std::thread other([&] {
    let_processes_run(150);
    held.reset();
  });
  EXPECT_TRUE(state_.lock({.patience = 20_s}));
  other.join();
}

// ---- what rolls back when nobody confirms ----

TEST(Watchdog, ActsWhereNobodyConfirmsOrNobodyIsLeft) {
  COVERS("B2");
  EXPECT_EQ(next_step(std::nullopt, {"boot", 100}), WatchdogStep::kLeave);
  StoredJournal open;
  open.journal.head.boot = "boot";
  open.journal.phase = JournalPhase::kAwaiting;
  open.journal.deadline = 200;
  open.journal.until = 1;  // the time of day does not count
  EXPECT_EQ(next_step(open, {"boot", 199}), WatchdogStep::kWait);
  EXPECT_EQ(next_step(open, {"boot", 200}), WatchdogStep::kRollBack);
  EXPECT_EQ(next_step(open, {"another", 100}), WatchdogStep::kRollBack) << "after a restart";
  open.journal.phase = JournalPhase::kApplying;
  EXPECT_EQ(next_step(open, {"boot", 100}), WatchdogStep::kRollBack);
}

TEST(Watchdog, ATimerHasAbsolutePathsAndAClockThatNobodySets) {
  const auto words = timer_command("weir-confirm-1", 120_s, "/usr/bin/weir", "/var/lib/weir");
  const std::string line = fmt::format("{}", fmt::join(words, " "));
  EXPECT_NE(line.find("systemd-run"), std::string::npos);
  EXPECT_NE(line.find("--unit=weir-confirm-1 "), std::string::npos);
  EXPECT_NE(line.find("--on-active=120000ms"), std::string::npos);
  EXPECT_NE(line.find("/usr/bin/weir rollback --unconfirmed --state /var/lib/weir"),
            std::string::npos);
  EXPECT_NE(line.find("Restart=on-failure"), std::string::npos) << "an error may go away";
  EXPECT_NE(line.find("RestartPreventExitStatus=2 3 5"), std::string::npos);
}

/// The real thing: processes of their own, which act when the one that applied is gone.
class WatchdogTest : public StateDirectoryTest {
 protected:
  WatchdogTest() {
    auto taken = state_.lock();
    EXPECT_TRUE(taken);
    lock_.emplace(std::move(*taken));
    auto created = state_.create();
    EXPECT_TRUE(created && created->begin({"first", "weir", "fabric.yaml", boot_id(), 0}));
    journal_.emplace(std::move(*created));
  }
  /// Closes the journal; the host is left out.
  Status start() {
    return start_watchdog(state_, *lock_,
                          [this](const StoredJournal& stored, std::string_view reason) -> Status {
                            if (std::filesystem::exists(path_ / "no-room"))
                              return Error{ErrorCode::kIo, "no room"};
                            auto writer = state_.reopen(stored);
                            if (!writer) return writer.error();
                            WEIR_TRY_STATUS(writer->undoing(reason));
                            return writer->ended(true);
                          });
  }
  [[nodiscard]] Journal now() const { return state_.journals().value().front().journal; }
  [[nodiscard]] bool is_undone_within(int milliseconds) const {
    for (int waited = 0; waited < milliseconds; waited += 50) {
      if (now().phase == JournalPhase::kUndone) return true;
      let_processes_run(50);
    }
    return false;
  }
  [[nodiscard]] std::string log() const {
    return read_file((path_ / "watchdog.log").string()).value_or("");
  }
  /// Those whose open files include the log: the two of the pair.
  [[nodiscard]] std::vector<pid_t> guards() const {
    std::vector<pid_t> found;
    const std::string log = (path_ / "watchdog.log").string();
    for (const auto& entry : std::filesystem::directory_iterator("/proc")) {
      const auto number = parse_u64(entry.path().filename().string());
      std::error_code error;
      if (number && std::filesystem::read_symlink(entry.path() / "fd/2", error).string() == log)
        found.push_back(static_cast<pid_t>(*number));
    }
    std::sort(found.begin(), found.end());
    return found;
  }

  std::optional<StateLock> lock_;
  std::optional<JournalWriter> journal_;
};

TEST_F(WatchdogTest, RollsBackInAProcessOfItsOwn) {
  COVERS("B2");
  ASSERT_TRUE(start());
  let_processes_run(600);
  EXPECT_EQ(now().phase, JournalPhase::kApplying) << "not before the applying one is gone";
  lock_.reset();
  EXPECT_TRUE(is_undone_within(5000));
  EXPECT_EQ(now().reason, "the process that made it ended before it was done");
}

TEST_F(WatchdogTest, IgnoresTheSignalsThatEndProcessesByHabit) {
  COVERS("B2");
  ASSERT_TRUE(start());
  ASSERT_TRUE(journal_->awaiting(0, boot_time_now().ms + 1500));
  lock_.reset();
  for (const pid_t guard : guards())
    for (const int signal :
         {SIGTERM, SIGHUP, SIGINT, SIGQUIT, SIGALRM, SIGUSR1, SIGUSR2, SIGPIPE, SIGVTALRM, SIGPROF,
          SIGXCPU, SIGIO, SIGPWR, SIGTSTP, SIGTTIN, SIGTTOU, SIGRTMIN, SIGRTMAX})
      ::kill(guard, signal);
  EXPECT_TRUE(is_undone_within(10'000));
  EXPECT_EQ(now().reason, "it was not confirmed in time");
}

TEST_F(WatchdogTest, WhicheverOfThePairIsKilledTheOtherTakesOver) {
  COVERS("B2");
  ASSERT_TRUE(start());
  ASSERT_TRUE(journal_->awaiting(0, boot_time_now().ms + 4000));
  lock_.reset();
  for (const bool kills_first : {true, false, true}) {
    for (int look = 0; look < 40 && guards().size() != 2; ++look)
      let_processes_run(50);
    const auto pair = guards();
    ASSERT_EQ(pair.size(), 2U);
    ::kill(kills_first ? pair.front() : pair.back(), SIGKILL);
    let_processes_run(600);
  }
  EXPECT_EQ(guards().size(), 2U);
  EXPECT_TRUE(is_undone_within(10'000));
}

TEST_F(WatchdogTest, WhicheverOfThePairIsStoppedTheOtherTakesOver) {
  COVERS("B2");
  ASSERT_TRUE(start());
  ASSERT_TRUE(journal_->awaiting(0, boot_time_now().ms + 3500));
  lock_.reset();
  for (const bool stops_first : {true, false, true}) {
    for (int look = 0; look < 40 && guards().size() != 2; ++look)
      let_processes_run(50);
    const auto pair = guards();
    ASSERT_EQ(pair.size(), 2U);
    ::kill(stops_first ? pair.front() : pair.back(), SIGSTOP);
    let_processes_run(800);
    for (const pid_t guard : guards())
      EXPECT_NE(process_state(guard), 'T') << log();
  }
  EXPECT_TRUE(is_undone_within(10'000)) << log();
}

TEST_F(WatchdogTest, WhereTheStoppedOneIsEndedThereIsAnotherPairAlready) {
  COVERS("B2");
  ASSERT_TRUE(start());
  ASSERT_TRUE(journal_->awaiting(0, boot_time_now().ms + 3000));
  lock_.reset();
  for (int look = 0; look < 40 && guards().size() != 2; ++look)
    let_processes_run(50);
  const auto pair = guards();
  ASSERT_EQ(pair.size(), 2U);
  const auto is_there = [&] {
    const auto found = guards();
    return std::find(found.begin(), found.end(), pair.front()) != found.end();
  };
  ::kill(pair.front(), SIGSTOP);  // it waits: the one that looks is its child
  for (int look = 0; look < 2000 && is_there(); ++look)
    let_processes_run(1);
  ASSERT_FALSE(is_there()) << log();
  ::kill(pair.back(), SIGKILL);
  EXPECT_TRUE(is_undone_within(10'000)) << log();
}

TEST_F(WatchdogTest, AnApplyThatIsStoppedIsEndedAndUndone) {
  COVERS("B2");
  ASSERT_TRUE(start());
  // Half done, by a process that Ctrl-Z stops: it has the lock, and its number is in the file.
  const pid_t applying = ::fork();
  if (applying == 0) {
    std::ofstream(path_ / "lock") << ::getpid() << '\n';
    ::raise(SIGSTOP);
    ::_exit(EXIT_SUCCESS);
  }
  for (int look = 0; look < 100 && process_state(applying) != 'T'; ++look)
    let_processes_run(20);
  lock_.reset();
  EXPECT_EQ(state_.holder(), applying);
  EXPECT_TRUE(is_undone_within(20'000)) << log();
  int status = 0;
  ASSERT_EQ(::waitpid(applying, &status, 0), applying);
  EXPECT_TRUE(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL);
  EXPECT_NE(log().find("was stopped: ended"), std::string::npos) << log();
}

TEST_F(WatchdogTest, AProcessThatOnlyHasTheNumberOfTheHolderIsLeftAlone) {
  COVERS("B2");
  lock_.reset();
  const pid_t other = ::fork();
  if (other == 0) {
    ::raise(SIGSTOP);
    ::_exit(EXIT_SUCCESS);
  }
  std::ofstream(path_ / "lock") << other << '\n';
  EXPECT_FALSE(state_.holder().has_value());
  ::kill(other, SIGKILL);
  ::waitpid(other, nullptr, 0);
}

TEST_F(WatchdogTest, AnErrorIsTriedAgainUntilTheJournalIsSettled) {
  COVERS("B2");
  ASSERT_TRUE(start());
  ASSERT_TRUE(journal_->awaiting(0, boot_time_now().ms + 1000));
  lock_.reset();
  const std::filesystem::path elsewhere = path_.string() + ".moved";
  std::filesystem::rename(path_, elsewhere);
  let_processes_run(1500);
  std::filesystem::rename(elsewhere, path_);
  std::filesystem::permissions(path_, std::filesystem::perms(0770));
  let_processes_run(1500);
  std::filesystem::permissions(path_, std::filesystem::perms(0700));
  std::ofstream(path_ / "no-room");  // the rollback itself is an error
  {
    const auto busy = state_.lock({.patience = 5_s});
    let_processes_run(1500);
    EXPECT_EQ(now().phase, JournalPhase::kAwaiting);
  }
  for (int look = 0; look < 200 && log().find("no room") == std::string::npos; ++look)
    let_processes_run(50);
  EXPECT_EQ(now().phase, JournalPhase::kAwaiting);
  std::filesystem::remove(path_ / "no-room");
  EXPECT_TRUE(is_undone_within(30'000)) << log();
  for (const std::string_view error : {"No such file", "others can write", "no room"}) {
    const std::size_t first = log().find(error);
    EXPECT_NE(first, std::string::npos) << error << '\n' << log();
    EXPECT_EQ(log().find(error, first + 1), std::string::npos) << error << '\n' << log();
  }
}

TEST_F(WatchdogTest, AJournalThatWasRemovedIsNotWaitedForForEver) {
  COVERS("B2");
  ASSERT_TRUE(start());
  ASSERT_TRUE(journal_->awaiting(0, boot_time_now().ms + 60'000));
  lock_.reset();
  std::filesystem::remove(path_ / "journal-000001");
  for (int look = 0; look < 60 && !guards().empty(); ++look)
    let_processes_run(50);
  EXPECT_TRUE(guards().empty());
  EXPECT_NE(log().find("was removed"), std::string::npos) << log();
}

TEST_F(WatchdogTest, AConfirmationNeverCollidesWithIt) {
  COVERS("B2");
  ASSERT_TRUE(start());
  ASSERT_TRUE(journal_->awaiting(0, boot_time_now().ms + 60'000));
  lock_.reset();
  for (int n = 0; n < 40; ++n) {
    EXPECT_TRUE(state_.lock({.patience = 5_s})) << n;
    let_processes_run(17);
  }
  ASSERT_TRUE(journal_->kept());
  for (int look = 0; look < 60 && !guards().empty(); ++look)
    let_processes_run(50);
  EXPECT_TRUE(guards().empty()) << "it ends when there is nothing left to wait for";
  EXPECT_EQ(now().phase, JournalPhase::kKept);
}

TEST_F(WatchdogTest, OneThatCannotFindTheJournalIsAnErrorBeforeAnythingChanges) {
  COVERS("B2");
  std::filesystem::remove(path_ / "journal-000001");
  const Status started = start();
  ASSERT_FALSE(started);
  EXPECT_NE(started.error().what.find("does not find the journal"), std::string::npos);
}

// ---- a failure of weir verify ----

TEST_F(StateDirectoryTest, ARollbackEndsAFailureAndItsLoad) {
  COVERS("D4");
  auto journal = state_.create();
  ASSERT_TRUE(journal &&
              journal->begin({.time = "t", .design = "d", .boot = "", .verb = "verify"}));
  const pid_t load = ::fork();
  if (load == 0) {
    ::setpgid(0, 0);
    for (;;)
      ::pause();
  }
  ::setpgid(load, load);
  ASSERT_TRUE(journal->load(load_of_process(load)));
  ASSERT_TRUE(journal->failing({.what = "cut", .restore = "restore it", .faults = {}}));
  const auto stored = state_.last_standing();
  ASSERT_TRUE(stored && *stored);
  EXPECT_EQ((*stored)->journal.standing(), 1U);
  EXPECT_EQ((*stored)->journal.title(), "the failure 'cut' that weir verify injected at t");
  const auto nobody = [](const std::string&) -> HostIo* { return nullptr; };
  std::thread reaper([&] { ::waitpid(load, nullptr, 0); });
  const auto failed =
      roll_back(state_, **stored, nobody, "", "test", {}, [](const JournalFailure&) -> Status {
        return Error{ErrorCode::kIo, "no route"};
      });
  reaper.join();
  ASSERT_TRUE(failed);
  EXPECT_FALSE(failed->is_whole);
  EXPECT_TRUE(failed->stopped_load);
  EXPECT_EQ(failed->heal_error, "no route");
  std::string ran;
  const auto again = state_.open_journal();
  ASSERT_TRUE(again && *again) << "the next boot is to end it";
  const auto done = roll_back(state_, **again, nobody, "", "test", {},
                              [&](const JournalFailure& failure) -> Status {
                                ran = failure.restore;
                                return {};
                              });
  ASSERT_TRUE(done && done->is_whole);
  EXPECT_FALSE(done->stopped_load) << "another process of that number is left alone";
  EXPECT_EQ(ran, "restore it");
  EXPECT_FALSE((*state_.last_standing()).has_value());
}

TEST_F(StateDirectoryTest, ALoadOnAnotherHostIsEndedByTheCommandThatWasWrittenDown) {
  COVERS("B2");
  const auto nobody = [](const std::string&) -> HostIo* { return nullptr; };
  for (const bool is_reached : {true, false}) {
    auto journal = state_.create();
    ASSERT_TRUE(journal &&
                journal->begin({.time = "t", .design = "d", .boot = "boot-1", .verb = "verify"}));
    const std::string line = is_reached ? "echo weir-load ended" : "echo no route >&2; exit 255";
    ASSERT_TRUE(journal->load({.host = "gpu01", .stop = {"sh", "-c", line}}));
    const auto stored = state_.open_journal();
    ASSERT_TRUE(stored && *stored);
    // Also when this machine was restarted: the other was not.
    const auto done = roll_back(state_, **stored, nobody, "boot-2", "test");
    ASSERT_TRUE(done);
    EXPECT_EQ(done->stopped_load, is_reached);
    EXPECT_EQ(done->is_whole, is_reached);
    EXPECT_EQ(
        done->load_error,
        is_reached ? "" : "its load on gpu01 could not be ended and may go on there: no route");
  }
}

// ---- others ----

TEST_F(StateDirectoryTest, WhatOthersChangedSinceIsNamed) {
  COVERS("B2");
  const auto kernel = machine(TestMachine::kOfed);
  const auto host = host_on(kernel);
  const auto find = [&](const std::string&) { return host.get(); };
  auto journal = state_.create();
  ASSERT_TRUE(journal && journal->begin({"first", "weir", "fabric.yaml", "", 0}));
  ASSERT_TRUE(apply_plan(*host, plan_of(*host), &*journal).is_done());
  ASSERT_TRUE(journal->kept());
  const Journal kept = (*state_.last_standing())->journal;
  EXPECT_TRUE(changed_since(kept, find).empty());
  ASSERT_TRUE(host->perform({"mlx5_0", SetRings{1024, 1024}})) << "as it was before the apply";
  EXPECT_TRUE(changed_since(kept, find).empty());
  ASSERT_TRUE(host->perform({"mlx5_0", SetRings{2048, 1024}}));
  const auto changed = changed_since(kept, find);
  ASSERT_EQ(changed.size(), 1U);
  EXPECT_EQ(changed.front().found, Change(SetRings{2048, 1024}));
  EXPECT_EQ(changed.front().applied, Change(SetRings{8192, 8192}));
}

// ---- after a restart ----

TEST_F(StateDirectoryTest, WhatSurvivedARestartIsPutBack) {
  COVERS("B2");
  const auto kernel = machine(TestMachine::kOfed);
  const auto host = host_on(kernel);
  const std::string before = kernel->state();
  auto journal = state_.create();
  ASSERT_TRUE(journal && journal->begin({"first", "weir", "fabric.yaml", "boot-1", 0}));
  ASSERT_TRUE(apply_plan(*host, plan_of(*host), &*journal).is_done());
  const auto stored = state_.last_standing();
  ASSERT_TRUE(stored && *stored);
  const auto done = roll_back(
      state_, **stored, [&](const std::string&) { return host.get(); }, "boot-2", "test");
  ASSERT_TRUE(done);
  EXPECT_TRUE(done->was_restarted);
  EXPECT_GT(done->survived, 5U);
  EXPECT_TRUE(done->is_whole);
  EXPECT_EQ(kernel->state(), before);
}

/// It is there, and nothing of it can be read; or it shows no device yet.
class BlindHost final : public HostIo {
 public:
  explicit BlindHost(bool shows_nothing) : shows_nothing_(shows_nothing) {}
  [[nodiscard]] const std::string& name() const override { return name_; }
  [[nodiscard]] Result<evidence::Evidence> observe() override {
    if (shows_nothing_) return evidence::Evidence();
    return not_found_error("no RDMA device");
  }
  [[nodiscard]] Result<counters::Snapshot> snapshot() override { return counters::Snapshot(); }
  [[nodiscard]] Status perform(const Operation& /*operation*/) override { return {}; }
  [[nodiscard]] Result<CommandOutcome> run(const std::vector<std::string>& /*command*/,
                                           const LoadControl& /*control*/) override {
    return CommandOutcome();
  }

 private:
  std::string name_ = "blind";
  bool shows_nothing_;
};

TEST_F(StateDirectoryTest, WhatCannotBeReadAfterARestartIsNotSaidToBeGone) {
  COVERS("B2");
  const auto kernel = machine(TestMachine::kOfed);
  const auto host = host_on(kernel);
  auto journal = state_.create();
  ASSERT_TRUE(journal && journal->begin({"first", "weir", "fabric.yaml", "boot-1", 0}));
  ASSERT_TRUE(apply_plan(*host, plan_of(*host), &*journal).is_done());
  BlindHost unread(false);
  BlindHost empty(true);
  for (HostIo* const found : {static_cast<HostIo*>(&unread), static_cast<HostIo*>(&empty),
                              static_cast<HostIo*>(nullptr)}) {
    const auto stored = state_.last_standing();
    ASSERT_TRUE(stored && *stored) << "it is tried again";
    const auto done = roll_back(
        state_, **stored, [&](const std::string&) { return found; }, "boot-2", "test");
    ASSERT_TRUE(done);
    EXPECT_FALSE(done->is_whole);
    ASSERT_FALSE(done->hosts.empty());
    for (const StepOutcome& step : done->hosts.front().steps) {
      EXPECT_EQ(step.state, StepState::kNotUndone);
      EXPECT_TRUE(step.error.starts_with("could not be read: ")) << step.error;
    }
  }
  // Nothing awaits a confirmation, and yet not everything was put back.
  EXPECT_FALSE((*state_.open_journal()).has_value());
  {
    // An apply after it that was undone as well does not hide it.
    auto next = state_.create();
    ASSERT_TRUE(next && next->begin({"second", "weir", "fabric.yaml", "boot-2", 0}));
    ASSERT_TRUE(next->undoing("test") && next->ended(true));
  }
  const auto stored = state_.last_unsettled();
  ASSERT_TRUE(stored && *stored);
  EXPECT_EQ((*stored)->journal.head.time, "first");
  const auto seen = roll_back(
      state_, **stored, [&](const std::string&) { return host.get(); }, "boot-2", "test");
  ASSERT_TRUE(seen);
  EXPECT_TRUE(seen->is_whole);
  EXPECT_FALSE((*state_.last_unsettled()).has_value());
}

}  // namespace
}  // namespace weir::host

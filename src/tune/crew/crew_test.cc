// Runs made elsewhere: the answers of workers, and what happens when they end.
#include "tune/crew/crew.h"

#include <deque>

#include <fmt/format.h>

#include "base/json.h"
#include "tune/crew/processes.h"
#include "tune/evaluation.h"
#include "tune/test_fabrics.h"
#include "tune/tune.h"

namespace weir::tune {
namespace {

/// Workers within this process: each answers when it is asked to receive, last one first, so that
/// results come in another order than the orders.
class InnerCrew final : public Crew {
 public:
  explicit InnerCrew(std::size_t size) : inbox_(size) {}

  [[nodiscard]] std::size_t size() const override { return inbox_.size(); }
  [[nodiscard]] bool send(std::size_t worker, std::string_view line) override {
    if (worker == dead_) return false;
    inbox_[worker].emplace_back(line);
    return true;
  }
  [[nodiscard]] Result<Message> receive() override {
    if (dies_after_ > 0 && --dies_after_ == 0) {
      dead_ = inbox_.size() - 1;
      inbox_[dead_].clear();
      return Message{dead_, "it was ended", true};
    }
    for (std::size_t i = inbox_.size(); i-- > 0;) {
      if (inbox_[i].empty()) continue;
      return Message{i, answer(i), false};
    }
    return Error{ErrorCode::kIo, "nobody has anything to do"};
  }
  void let_last_die_after(int messages) { dies_after_ = messages; }
  void answer_with(std::string text) { fixed_ = std::move(text); }

 private:
  /// Plays the worker from its first line on, which keeps no state but the design.
  std::string answer(std::size_t worker) {
    if (!fixed_.empty()) return fixed_;
    auto& lines = inbox_[worker];
    std::deque<std::string> script;
    const bool is_first = !has_design_[worker];
    if (is_first) {
      design_[worker] = lines.front();
      has_design_[worker] = true;
      lines.pop_front();
      script = {design_[worker]};
    } else {
      script = {design_[worker], lines.front()};
      lines.pop_front();
    }
    std::string last;
    const Status done = work({.receive =
                                  [&](std::string& line) {
                                    if (script.empty()) return false;
                                    line = script.front();
                                    script.pop_front();
                                    return true;
                                  },
                              .reply = [&](const std::string& line) { last = line; }});
    EXPECT_TRUE(done) << done.error().what;
    return last;
  }

  std::vector<std::deque<std::string>> inbox_;
  std::map<std::size_t, std::string> design_;
  std::map<std::size_t, bool> has_design_;
  std::size_t dead_ = static_cast<std::size_t>(-1);
  int dies_after_ = 0;
  std::string fixed_;
};

std::vector<RunOrder> six_orders() {
  std::vector<RunOrder> orders;
  for (std::uint64_t seed = 1; seed <= 6; ++seed)
    orders.push_back({{}, {"incast,size=50KB"}, {}, seed, 100_ms});
  return orders;
}

TEST(Crew, AnswersAreThoseOfThreadsHere) {
  const std::string text = star_text(4);
  const design::Variant fabric = star(4);
  InnerCrew crew(3);
  Foreman foreman(crew, "test.yaml", text, Variants(fabric.design).design_digest());
  Evaluator there(fabric.design, 1, {}, &foreman);
  Evaluator here(fabric.design, 2);
  const auto away = there.run(six_orders());
  const auto home = here.run(six_orders());
  ASSERT_TRUE(away) << away.error().what;
  ASSERT_TRUE(home);
  for (std::size_t i = 0; i < home->size(); ++i)
    EXPECT_EQ(to_json((*away)[i]).dump(), to_json((*home)[i]).dump());
  EXPECT_EQ(there.jobs(), 3U);
}

TEST(Crew, RunsOfAWorkerThatEndsAreMadeByAnother) {
  const design::Variant fabric = star(4);
  InnerCrew crew(2);
  crew.let_last_die_after(4);  // both are ready, one result, then the end
  Foreman foreman(crew, "test.yaml", star_text(4), Variants(fabric.design).design_digest());
  Evaluator evaluator(fabric.design, 1, {}, &foreman);
  const auto runs = evaluator.run(six_orders());
  ASSERT_TRUE(runs) << runs.error().what;
  EXPECT_EQ(evaluator.made(), 6U);
}

TEST(Crew, NobodyLeftIsAnError) {
  const design::Variant fabric = star(4);
  InnerCrew crew(1);
  crew.let_last_die_after(3);
  Foreman foreman(crew, "test.yaml", star_text(4), Variants(fabric.design).design_digest());
  Evaluator evaluator(fabric.design, 1, {}, &foreman);
  const auto runs = evaluator.run(six_orders());
  ASSERT_FALSE(runs);
  EXPECT_NE(runs.error().what.find("no worker is left"), std::string::npos) << runs.error().what;
}

TEST(Crew, AnotherDesignAndAnotherLanguageAreRefused) {
  const design::Variant fabric = star(4);
  InnerCrew other(1);
  Foreman wrong(other, "test.yaml", star_text(5), Variants(fabric.design).design_digest());
  const Status differs = wrong.make(six_orders(), [](std::size_t, const MadeRun&) {});
  ASSERT_FALSE(differs);
  EXPECT_NE(differs.error().what.find("another design"), std::string::npos);
  for (const char* line : {"[]", "{}", "{\"ready\": 5}", "{\"error\": \"no\"}"}) {
    InnerCrew strange(1);
    strange.answer_with(line);
    Foreman foreman(strange, "test.yaml", star_text(4), Variants(fabric.design).design_digest());
    EXPECT_FALSE(foreman.make(six_orders(), [](std::size_t, const MadeRun&) {})) << line;
  }
}

TEST(Crew, AnOrderIsReadBackAsItWasWritten) {
  RunOrder order{{"wred.min=50KB"}, {"incast,size=1MB"}, {"link-down,at=x"}, 7, 250_ms};
  order.dead_host = "gpu4";
  order.is_in_peer = true;
  const auto read = run_order_from_json(to_json(order));
  ASSERT_TRUE(read) << read.error().what;
  EXPECT_EQ(to_json(*read).dump(), to_json(order).dump());
  Json odd = to_json(order);
  odd["rules"] = "ns3";
  EXPECT_FALSE(run_order_from_json(odd));
  odd = to_json(order);
  odd["limit_us"] = 1e15;
  EXPECT_FALSE(run_order_from_json(odd));
}

TEST(ProcessCrew, LinesGoBothWaysAndAnEndIsSeen) {
  auto crew = start_processes({"sh", "-c", "read line; echo \"got $line\"; exit 4"}, 2);
  ASSERT_TRUE(crew) << crew.error().what;
  ASSERT_TRUE((*crew)->send(1, "this"));
  const auto said = (*crew)->receive();
  ASSERT_TRUE(said);
  EXPECT_EQ(said->worker, 1U);
  EXPECT_EQ(said->line, "got this");
  const auto gone = (*crew)->receive();
  ASSERT_TRUE(gone);
  EXPECT_TRUE(gone->is_gone);
  EXPECT_NE(gone->line.find("ended with status 4"), std::string::npos) << gone->line;
  EXPECT_FALSE(start_processes({"weir-no-such-program"}, 1));
}

TEST(ProcessCrew, ASlurmWorkerIsAStepWithOneTask) {
  const auto words = slurm_command("/usr/bin/weir");
  EXPECT_EQ(words.front(), "srun");
  EXPECT_NE(std::find(words.begin(), words.end(), "--ntasks=1"), words.end());
  EXPECT_EQ(words.back(), "worker");
}

}  // namespace
}  // namespace weir::tune

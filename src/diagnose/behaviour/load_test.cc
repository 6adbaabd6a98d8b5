#include "diagnose/behaviour/load.h"

#include "base/testing.h"
#include "diagnose/core/made_case.h"

namespace weir::diagnose {
namespace {

LoadJudgement after_load(std::string_view without) {
  MadeCase made;
  made.host("gpu01");
  if (!without.empty()) made.forget(without);
  LoadClaim claim;
  claim.host = "gpu01";
  claim.program = "ib_write_bw";
  return judge_load(View(Case{made.pieces(), nullptr, {}}), claim, {});
}

TEST(Load, AQuestionWithoutAnAnswerIsNoFabricWithoutAProblem) {
  COVERS("D8");
  EXPECT_EQ(after_load("").judgement.conclusion, finding::Conclusion::kHealthy);
  for (const std::string_view name :
       {"np_cnp_sent", "np_", "pause", "out_of_sequence", "phy", "prio3_bytes"}) {
    const LoadJudgement judged = after_load(name);
    const bool is_open =
        std::any_of(judged.questions.begin(), judged.questions.end(),
                    [](const Question& item) { return item.answer == Answer::kUnknown; });
    if (is_open) {
      EXPECT_NE(judged.judgement.conclusion, finding::Conclusion::kHealthy) << name;
      EXPECT_TRUE(judged.judgement.is_partial()) << name;
    }
  }
  EXPECT_NE(after_load("np_cnp_sent").judgement.conclusion, finding::Conclusion::kHealthy);
}

}  // namespace
}  // namespace weir::diagnose

#pragma once
// The model of `exam` for programs.
#include <string>
#include <string_view>

#include "cli/frame/command.h"
#include "lab/exam/exam.h"

namespace weir::cli {

[[nodiscard]] const lab::ViewScore& score_of(const lab::ExamReport& report, lab::ExamView view);
/// "right", "right cause, wrong place", …
[[nodiscard]] std::string mark_text(const lab::Mark& mark);

void print_exam_json(Context&, const Command&, const lab::ExamReport&, std::string_view verdict);
void print_replay_json(Context&, const Command&, const lab::ExamRun&);

}  // namespace weir::cli

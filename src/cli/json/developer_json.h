#pragma once
// The models of `exam`, `fidelity`, `schema`, `demo` and `help` for programs.
#include <string>
#include <string_view>
#include <vector>

#include "cli/frame/command.h"
#include "lab/exam/exam.h"
#include "sim/results/fidelity.h"

namespace weir::cli {

[[nodiscard]] const lab::ViewScore& score_of(const lab::ExamReport& report, lab::ExamView view);
/// "right", "right cause, wrong place", …
[[nodiscard]] std::string mark_text(const lab::Mark& mark);

void print_exam_json(Context&, const Command&, const lab::ExamReport&, std::string_view verdict);
void print_replay_json(Context&, const Command&, const lab::ExamRun&);

void print_text_json(Context&, const Command&, const std::string& text);
void print_fidelity_json(Context&, const Command&, const sim::FidelityCase&,
                         const sim::FidelityResult&, std::string_view verdict);

struct DemoStep {
  std::string_view command;
  std::string_view what;
  ExitCode code;
  ExitCode expected;
};
void print_demo_json(Context&, const Command&, const std::string& folder,
                     const std::vector<DemoStep>& steps, std::string_view verdict);

/// Of the files that weir reads, then of what each verb prints.
[[nodiscard]] std::vector<std::string_view> schema_names();

/// Schemas by name, with their titles.
struct SchemaRow {
  std::string name;
  std::string title;
};
[[nodiscard]] std::vector<SchemaRow> schema_rows();
void print_schemas_json(Context&, const Command&);
/// With --json inside the object of the verb, else alone. REQUIRES: a name of schema_rows().
void print_schema(Context&, const Command&, const std::string& name);

}  // namespace weir::cli

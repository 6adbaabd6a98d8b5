// A job's text: no input may crash the reader or the judgement, and what is cited is in the text.
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "base/check.h"
#include "diagnose/job/job.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const weir::readers::Job job = weir::readers::read_job(text, "fuzz");
  for (const auto& variable : job.variables) {
    WEIR_CHECK(!variable.name.empty());
    WEIR_CHECK(variable.at.line >= 1 && variable.at.line <= job.lines);
  }
  const auto judgement = weir::diagnose::judge_job({job, nullptr, {}});
  for (const auto& finding : judgement.findings)
    WEIR_CHECK(!finding.verdict.empty());
  return 0;
}

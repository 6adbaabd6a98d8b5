// Anybody's words: no input may crash the cut into statements or the judgement, an answer is never
// certain, and what it quotes stands in the text.
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "base/check.h"
#include "diagnose/paste/account.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  constexpr std::size_t kStatements = 60;
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const auto statements = weir::readers::statements_of(text, kStatements);
  WEIR_CHECK(statements.size() <= kStatements);
  for (const auto& said : weir::diagnose::said_in(statements))
    WEIR_CHECK(said.statement < statements.size());
  const auto judgement = weir::diagnose::judge_account(statements, "fuzz");
  for (const auto& finding : judgement.findings) {
    WEIR_CHECK(finding.confidence < weir::finding::Confidence::kCertain);
    for (const auto& line : finding.evidence)
      WEIR_CHECK(text.find(line.line) != std::string_view::npos);
  }
  return 0;
}

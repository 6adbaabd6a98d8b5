// The journal of an apply and what it remembers: any bytes may stand in the file after a crash,
// none may crash the rollback. The digests would keep a fuzzer out of the records, so each line is
// read with its right digest too.
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "base/check.h"
#include "base/digest.h"
#include "host/change/apply.h"
#include "host/change/journal.h"
#include "host/host_memory.h"

namespace weir::host {
namespace {

std::string with_digests(std::string_view text) {
  std::string out;
  while (!text.empty()) {
    const std::size_t end = text.find('\n');
    const std::string_view line = text.substr(0, end);
    Digest digest;
    digest.add(line);
    out += digest.to_text();
    out += ' ';
    out += line;
    out += '\n';
    text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
  }
  return out;
}

void read_journal(std::string_view text) {
  const auto journal = parse_journal(text, "fuzz");
  if (!journal || !*journal) return;
  WEIR_CHECK((*journal)->whole_bytes <= text.size());
  WEIR_CHECK((*journal)->standing() <= (*journal)->steps.size());
  std::size_t standing = 0;
  for (const HostOutcome& host : standing_steps(**journal))
    standing += host.steps.size();
  WEIR_CHECK(standing == (*journal)->standing());
  // What is whole reads the same without its torn tail.
  const auto again = parse_journal(text.substr(0, (*journal)->whole_bytes), "fuzz");
  WEIR_CHECK(again && *again && (*again)->steps.size() == (*journal)->steps.size());
}

void read_memory(std::string_view text) {
  const auto memory = parse_memory(text);
  if (!memory) return;
  const auto again = parse_memory(to_text(*memory));
  WEIR_CHECK(again && *again == *memory);
}

}  // namespace
}  // namespace weir::host

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  weir::host::read_journal(text);
  weir::host::read_journal(weir::host::with_digests(text));
  weir::host::read_memory(text);
  return 0;
}

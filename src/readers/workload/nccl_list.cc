#include "readers/workload/nccl_list.h"

#include <algorithm>
#include <array>
#include <optional>

#include <fmt/format.h>

#include "base/text.h"

namespace weir::readers {
namespace {

constexpr std::uint64_t kMostListBytes = std::uint64_t{1} << 40U;
constexpr std::size_t kMostSizes = 1000;
constexpr std::size_t kMostRuns = 10'000;

struct Test {
  std::string_view name;
  TraceCollective collective;
};
constexpr std::array<Test, 4> kTests{{
    {"all_reduce_perf", TraceCollective::kAllReduce},
    {"all_gather_perf", TraceCollective::kAllGather},
    {"reduce_scatter_perf", TraceCollective::kReduceScatter},
    {"alltoall_perf", TraceCollective::kAllToAll},
}};

/// "8", "8M", "1G": powers of 1024, as nccl-tests reads them.
std::optional<std::uint64_t> size_of(std::string_view word) {
  unsigned shift = 0;
  if (!word.empty()) {
    const char last = word.back();
    if (last == 'K' || last == 'k') shift = 10;
    if (last == 'M' || last == 'm') shift = 20;
    if (last == 'G' || last == 'g') shift = 30;
    if (shift > 0) word.remove_suffix(1);
  }
  const auto number = parse_u64(word);
  if (!number || *number > (kMostListBytes >> shift)) return std::nullopt;
  return *number << shift;
}

struct Bounds {
  std::uint64_t least = std::uint64_t{32} << 20U;
  std::uint64_t most = std::uint64_t{32} << 20U;
  std::uint64_t factor = 1;
  std::uint64_t step = std::uint64_t{1} << 20U;
  std::uint32_t iterations = 20;
};

class ListLine {
 public:
  ListLine(std::size_t number, std::vector<std::string_view> words)
      : number_(number), words_(std::move(words)) {}

  Result<NcclRun> read() {
    WEIR_TRY(test, find_test());
    Bounds bounds;
    while (at_ < words_.size())
      WEIR_TRY_STATUS(option(bounds));
    NcclRun run;
    run.test = test.name;
    run.collective = test.collective;
    run.iterations = bounds.iterations;
    run.line = number_;
    if (bounds.least > bounds.most)
      return wrong("sizes", "-b not above -e", fmt::format("{} to {}", bounds.least, bounds.most));
    for (std::uint64_t size = std::max<std::uint64_t>(bounds.least, 1); size <= bounds.most;
         size = bounds.factor > 1 ? size * bounds.factor : size + bounds.step) {
      if (run.sizes.size() == kMostSizes)
        return wrong("sizes", fmt::format("at most {} of them", kMostSizes), "more");
      run.sizes.push_back(Bytes::raw(static_cast<std::int64_t>(size)));
    }
    return run;
  }

 private:
  [[nodiscard]] Error wrong(std::string_view what, std::string_view expected,
                            std::string_view found) const {
    return parse_error(
        fmt::format("line {}: {}: expected {}, found '{}'", number_, what, expected, found));
  }

  Result<Test> find_test() {
    for (; at_ < words_.size(); ++at_) {
      std::string_view word = words_[at_];
      word.remove_prefix(word.find_last_of('/') + 1);
      for (const Test& test : kTests)
        if (word == test.name ||
            (word.starts_with(test.name) && word.substr(test.name.size()) == "_mpi")) {
          ++at_;
          return test;
        }
      if (word.ends_with("_perf"))
        return wrong(
            "test", "all_reduce_perf, all_gather_perf, reduce_scatter_perf or alltoall_perf", word);
    }
    return wrong("test", "the name of an nccl-tests program, such as all_reduce_perf",
                 words_.empty() ? std::string_view() : words_.front());
  }

  Status option(Bounds& bounds) {
    std::string_view name = words_[at_++];
    std::optional<std::string_view> value;
    if (const std::size_t equals = name.find('='); equals != std::string_view::npos) {
      value = name.substr(equals + 1);
      name = name.substr(0, equals);
    }
    if (!name.starts_with('-')) return {};
    if (!value && at_ < words_.size() && !words_[at_].starts_with('-')) value = words_[at_++];
    const auto is = [&](std::string_view letter, std::string_view word) {
      return name == letter || name == word;
    };
    if (is("-b", "--minbytes")) return set_size(name, value, bounds.least);
    if (is("-e", "--maxbytes")) return set_size(name, value, bounds.most);
    if (is("-i", "--stepbytes")) {
      bounds.factor = 1;
      return set_size(name, value, bounds.step);
    }
    if (is("-f", "--stepfactor")) return set_count(name, value, 64, bounds.factor);
    if (is("-n", "--iters")) {
      std::uint64_t count = 0;
      WEIR_TRY_STATUS(set_count(name, value, 100'000, count));
      bounds.iterations = static_cast<std::uint32_t>(count);
    }
    return {};
  }

  Status set_size(std::string_view name, std::optional<std::string_view> value,
                  std::uint64_t& out) const {
    const auto size = value ? size_of(*value) : std::nullopt;
    if (!size || *size == 0) return wrong(name, "a size such as 8M", value.value_or(""));
    out = *size;
    return {};
  }
  Status set_count(std::string_view name, std::optional<std::string_view> value, std::uint64_t most,
                   std::uint64_t& out) const {
    const auto count = parse_u64(value.value_or(""));
    if (!count || *count == 0 || *count > most)
      return wrong(name, fmt::format("a number from 1 to {}", most), value.value_or(""));
    out = *count;
    return {};
  }

  std::size_t number_;
  std::vector<std::string_view> words_;
  std::size_t at_ = 0;
};

}  // namespace

Result<std::vector<NcclRun>> read_nccl_list(std::string_view text) {
  std::vector<NcclRun> runs;
  std::size_t number = 0;
  for (const std::string_view raw : split(text, '\n')) {
    ++number;
    std::vector<std::string_view> words;
    for (const std::string_view word : split(trim(raw.substr(0, raw.find('#'))), ' '))
      if (const std::string_view bare = trim(word); !bare.empty()) words.push_back(bare);
    if (words.empty()) continue;
    if (runs.size() == kMostRuns)
      return parse_error(fmt::format("line {}: more than {} runs", number, kMostRuns));
    WEIR_TRY(run, ListLine(number, std::move(words)).read());
    runs.push_back(std::move(run));
  }
  if (runs.empty())
    return parse_error("expected runs such as 'all_reduce_perf -b 8M -e 128M -f 2', found none");
  return runs;
}

}  // namespace weir::readers

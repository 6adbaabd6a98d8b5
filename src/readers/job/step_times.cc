#include "readers/job/step_times.h"

#include <optional>
#include <string>

#include "base/text.h"
#include "units/format.h"

namespace weir::readers {
namespace {

/// Megatron-LM, megatron/training/training.py, training_log(): milliseconds with a decimal point.
constexpr std::string_view kIterationMark = "elapsed time per iteration (ms):";

std::optional<Duration> iteration_time(std::string_view line) {
  const std::size_t at = line.find(kIterationMark);
  if (at == std::string_view::npos) return std::nullopt;
  std::string_view number = trim(line.substr(at + kIterationMark.size()));
  number = number.substr(0, number.find_first_not_of("0123456789."));
  const auto time = parse_duration(std::string(number) + "ms");
  return time ? std::optional(*time) : std::nullopt;
}

std::vector<Duration> listed_times(std::string_view text) {
  std::vector<Duration> times;
  for (const std::string_view line : split(text, '\n')) {
    const std::string_view word = trim(line);
    if (word.empty() || word.front() == '#') continue;
    const auto time = parse_duration(word);
    if (!time || time->raw() <= 0) return {};
    times.push_back(*time);
  }
  return times;
}

}  // namespace

std::vector<Duration> read_step_times(std::string_view text) {
  std::vector<Duration> times;
  for (const std::string_view line : split(text, '\n'))
    if (const auto time = iteration_time(line); time && time->raw() > 0) times.push_back(*time);
  return times.empty() ? listed_times(text) : times;
}

}  // namespace weir::readers

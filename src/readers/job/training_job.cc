#include "readers/job/training_job.h"

#include <algorithm>
#include <array>
#include <vector>

#include "base/text.h"

namespace weir::readers {
namespace {

constexpr std::array<std::string_view, 10> kTrainingFlags{"tensor-model-parallel-size",
                                                          "pipeline-model-parallel-size",
                                                          "expert-model-parallel-size",
                                                          "num-layers",
                                                          "hidden-size",
                                                          "seq-length",
                                                          "micro-batch-size",
                                                          "global-batch-size",
                                                          "num-experts",
                                                          "moe-router-topk"};

class TrainingReader {
 public:
  void line(std::string_view text, std::size_t number) {
    text = trim(text);
    const bool is_directive = text.starts_with("#SBATCH");
    if (text.starts_with('#') && !is_directive) return;
    number_ = number;
    const std::vector<std::string> words = words_of(text);
    for (std::size_t i = 0; i < words.size(); ++i) {
      const std::size_t equals = words[i].find('=');
      const bool has_value = equals != std::string::npos;
      const std::string name = words[i].substr(0, equals);
      const std::string value = has_value              ? words[i].substr(equals + 1)
                                : i + 1 < words.size() ? words[i + 1]
                                                       : std::string();
      if (is_directive)
        directive(name, value);
      else if (has_value && !name.starts_with('-') && is_variable(name))
        variables_[name] = value;
      flag(name, value);
    }
  }

  [[nodiscard]] TrainingJob job() && { return std::move(job_); }

 private:
  static bool is_variable(std::string_view name) {
    return !name.empty() && name.find_first_not_of(
                                "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
                                "abcdefghijklmnopqrstuvwxyz_0123456789") == std::string_view::npos;
  }

  /// Without quotes, brackets of arrays and line continuations; $NAME becomes what it was set to.
  [[nodiscard]] std::vector<std::string> words_of(std::string_view text) const {
    std::vector<std::string> words;
    std::string word;
    const auto end_word = [&] {
      if (!word.empty()) words.push_back(expanded(word));
      word.clear();
    };
    for (const char c : text) {
      if (c == ' ' || c == '\t' || c == '\r' || c == ';')
        end_word();
      else if (c != '"' && c != '\'' && c != '\\' && c != '(' && c != ')')
        word += c;
    }
    end_word();
    return words;
  }

  [[nodiscard]] std::string expanded(const std::string& word) const {
    const std::size_t dollar = word.find('$');
    if (dollar == std::string::npos) return word;
    std::string name = word.substr(dollar + 1);
    std::erase_if(name, [](char c) { return c == '{' || c == '}'; });
    const auto found = variables_.find(name);
    return found == variables_.end() ? word : word.substr(0, dollar) + found->second;
  }

  /// The number at the end of "gpu:h100:8".
  static std::optional<std::uint64_t> last_number(std::string_view value) {
    const std::size_t colon = value.rfind(':');
    const auto number =
        parse_u64(colon == std::string_view::npos ? value : value.substr(colon + 1));
    constexpr std::uint64_t kMost = 1'000'000;
    if (!number || *number == 0 || *number > kMost) return std::nullopt;
    return *number;
  }

  void directive(std::string_view name, std::string_view value) {
    const auto number = last_number(value);
    if (!number) return;
    const TrainingValue found{*number, number_};
    if (name == "--nodes" || name == "-N") job_.nodes = found;
    if (name == "--gpus-per-node" || (name == "--gres" && value.starts_with("gpu")))
      job_.gpus_per_node = found;
    if (name == "--ntasks-per-node" && !job_.gpus_per_node && *number > 1)
      job_.gpus_per_node = found;
  }

  void flag(std::string_view name, std::string_view value) {
    std::string plain(name.substr(std::min(name.find_first_not_of('-'), name.size())));
    plain.erase(0, plain.rfind('.') + 1);  // model.num_layers
    std::replace(plain.begin(), plain.end(), '_', '-');
    if (plain == name) return;  // an ordinary word
    if (plain == "bf16" || plain == "fp16") job_.precision = plain;
    if (std::find(kTrainingFlags.begin(), kTrainingFlags.end(), plain) == kTrainingFlags.end())
      return;
    if (const auto number = parse_u64(value)) job_.flags[plain] = {*number, number_};
  }

  TrainingJob job_;
  std::map<std::string, std::string, std::less<>> variables_;
  std::size_t number_ = 0;
};

}  // namespace

TrainingJob read_training_job(std::string_view script) {
  TrainingReader reader;
  std::size_t number = 0;
  for (const std::string_view line : split(script, '\n'))
    reader.line(line, ++number);
  return std::move(reader).job();
}

}  // namespace weir::readers

#include "readers/job/job_script.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <set>

#include "base/text.h"
#include "readers/paste/text_lines.h"

namespace weir::readers {
namespace {

constexpr auto kPrefixes = std::to_array<std::string_view>(
    {"NCCL_", "TORCH_NCCL_", "UCX_", "GLOO_", "RCCL_", "NVSHMEM_", "RDMAV_", "IBV_", "MLX5_", "MC_",
     "SHARP_", "OMPI_MCA_btl", "OMPI_MCA_pml", "TORCH_DISTRIBUTED_BACKEND"});

/// Programs that start a job or a part of it: what is set by then was used.
constexpr auto kLaunchers = std::to_array<std::string_view>(
    {"srun",       "mpirun",    "mpiexec",    "mpiexec.hydra", "orterun",   "prterun",
     "prun",       "aprun",     "jsrun",      "ibrun",         "torchrun",  "python",
     "python3",    "deepspeed", "accelerate", "horovodrun",    "apptainer", "singularity",
     "docker",     "podman",    "nerdctl",    "enroot",        "kubectl",   "ray",
     "colossalai", "torchx",    "pdsh",       "ssh",           "flux",      "exec"});

constexpr auto kSchedulers = std::to_array<std::string_view>({"#SBATCH", "#PBS", "#BSUB", "#$"});

/// A value in prose or in a list of a document ends before these.
constexpr std::string_view kPunctuation = ".,:]}";

bool is_one_of(std::span<const std::string_view> list, std::string_view word) {
  return std::find(list.begin(), list.end(), word) != list.end();
}

bool is_scheduler_line(std::string_view text) {
  return std::any_of(kSchedulers.begin(), kSchedulers.end(),
                     [&](std::string_view start) { return text.starts_with(start); });
}

/// The name that ends just before `end`.
std::string_view name_before(std::string_view line, std::size_t end) {
  std::size_t begin = end;
  while (begin > 0 && is_variable_char(line[begin - 1]))
    --begin;
  return line.substr(begin, end - begin);
}

/// The line without its comment: a # at the start or after a blank. #SBATCH, #PBS and so on are
/// kept.
std::string_view without_comment(std::string_view line) {
  const std::string_view bare = trim(line);
  if (is_scheduler_line(bare)) return bare;
  QuoteState quote;
  for (std::size_t i = 0; i < bare.size();) {
    const bool is_start = i == 0 || std::isspace(static_cast<unsigned char>(bare[i - 1])) != 0;
    if (bare[i] == '#' && is_start && quote.around == 0) return bare.substr(0, i);
    i = quote.step(bare, i);
  }
  return bare;
}

bool looks_like_script(std::string_view text) {
  const std::string_view first = text.substr(0, text.find('\n'));
  if (first.starts_with("#!")) return first.find("sh") != std::string_view::npos;
  for (const std::string_view line : split(text, '\n')) {
    const std::string_view bare = trim(line);
    if (bare.starts_with("export ") || bare.starts_with("setenv ") ||
        bare.starts_with("#SBATCH ") || bare.starts_with("#PBS ") || bare.starts_with("#BSUB "))
      return true;
  }
  return false;
}

/// Whether the assignment at `name_at` is an element of `--export=A=1,B=2` (sbatch, srun) or of
/// `-v A=1,B=2` (qsub), where a comma separates.
bool is_in_export_list(std::string_view line, std::size_t name_at) {
  constexpr std::size_t kFarthest = 4096;
  const std::string_view before =
      line.substr(name_at > kFarthest ? name_at - kFarthest : 0, std::min(name_at, kFarthest));
  const std::size_t blank = before.find_last_of(" \t");
  const std::string_view word = blank == std::string_view::npos ? before : before.substr(blank + 1);
  if (word.starts_with("--export=")) return true;
  const std::string_view previous =
      blank == std::string_view::npos ? "" : trim(before.substr(0, blank));
  return previous.ends_with("--export") || (previous.ends_with("-v") && line.starts_with("#PBS"));
}

/// Words that introduce an assignment for the rest of the script.
bool is_declaration(std::string_view word) {
  constexpr auto kWords = std::to_array<std::string_view>(
      {"export", "declare", "typeset", "readonly", "local", "setenv", "set", "ENV", "let"});
  return is_one_of(kWords, word);
}

bool is_assignment(std::string_view word) {
  const std::size_t equals = word.find('=');
  return equals != std::string_view::npos && equals > 0 &&
         std::all_of(word.begin(), word.begin() + static_cast<std::ptrdiff_t>(equals),
                     [](char c) { return is_variable_char(c) || c == '+'; });
}

/// The shell's words of a statement: quotes keep theirs together.
std::vector<std::string_view> shell_words(std::string_view text) {
  std::vector<std::string_view> words;
  std::size_t at = 0;
  while (at < text.size()) {
    if (std::isspace(static_cast<unsigned char>(text[at])) != 0) {
      ++at;
      continue;
    }
    const std::size_t end = std::max(word_end(text, at, 0, false), at + 1);
    words.push_back(text.substr(at, end - at));
    at = end;
  }
  return words;
}

/// Whether what it assigns holds for the rest of the script, not for one command.
bool is_for_the_rest(std::string_view text) {
  if (is_scheduler_line(text)) return true;
  const auto words = shell_words(text);
  if (words.empty()) return false;
  return is_declaration(words.front()) || std::all_of(words.begin(), words.end(), is_assignment);
}

bool is_launch(std::string_view text) {
  for (const std::string_view word : words_of(text)) {
    if (is_one_of(kLaunchers, word.substr(word.rfind('/') + 1))) return true;
    if (word.starts_with("./")) return true;
  }
  return false;
}

/// A command that prints its words and writes them to no file: it sets nothing.
bool only_prints(std::string_view text) {
  text = trim(text);
  if (text.starts_with("$ ")) text = trim(text.substr(2));
  const auto words = words_of(text);
  constexpr auto kPrinters =
      std::to_array<std::string_view>({"echo", "printf", "logger", "print", "wall"});
  return !words.empty() && is_one_of(kPrinters, words.front()) &&
         text.find('>') == std::string_view::npos;
}

/// "26 -> 106": what it was before, and is no more. "26 -> captured DSCP 6" is what came of it.
bool is_changed(std::string_view behind) {
  behind = trim(behind);
  if (!behind.starts_with("->") && !behind.starts_with("=>")) return false;
  behind = trim(behind.substr(2));
  return !behind.empty() && std::isdigit(static_cast<unsigned char>(behind.front())) != 0;
}

/// A command that only tests: what follows its && may not happen.
bool is_test(std::string_view text) {
  const auto words = words_of(text);
  if (words.empty()) return false;
  constexpr auto kTests = std::to_array<std::string_view>(
      {"[", "[[", "test", "grep", "command", "which", "!", "if", "elif", "hash", "type"});
  return is_one_of(kTests, words.front());
}

/// The position behind the colon of a key of YAML or JSON; npos where it is not there.
std::size_t behind_key(std::string_view text, std::string_view key) {
  for (std::size_t at = text.find(key); at != std::string_view::npos;
       at = text.find(key, at + key.size())) {
    if (at > 0 && is_variable_char(text[at - 1])) continue;
    std::size_t end = at + key.size();
    if (end < text.size() && (text[end] == '"' || text[end] == '\'')) ++end;
    while (end < text.size() && text[end] == ' ')
      ++end;
    if (end < text.size() && text[end] == ':') return end + 1;
  }
  return std::string_view::npos;
}

/// The scalar that begins at `at`, quotes and all.
std::string_view scalar_at(std::string_view text, std::size_t at) {
  while (at < text.size() && text[at] == ' ')
    ++at;
  if (at >= text.size()) return {};
  if (text[at] == '"' || text[at] == '\'') {
    const std::size_t end = text.find(text[at], at + 1);
    return text.substr(at, end == std::string_view::npos ? end : end - at + 1);
  }
  return trim(text.substr(at, text.find_first_of(",}", at) - at));
}

}  // namespace

bool concerns_communication(std::string_view name) {
  for (const std::string_view prefix : kPrefixes)
    if (name.starts_with(prefix) && name.size() > prefix.size()) return true;
  if (name == "TORCH_DISTRIBUTED_BACKEND") return true;
  // A typing error in the prefix: CCL_NET_GDR_LEVEL, NCLL_IB_HCA.
  const bool is_variable = name.size() > 6 && name.find('_') != std::string_view::npos &&
                           std::all_of(name.begin(), name.end(), [](char c) {
                             return std::isupper(static_cast<unsigned char>(c)) != 0 ||
                                    std::isdigit(static_cast<unsigned char>(c)) != 0 || c == '_';
                           });
  return is_variable && !knowledge_of(name, Suggests::kNothing).is_known;
}

ScriptReader::ScriptReader(std::string_view text, Job& job)
    : job_(job), is_script_(looks_like_script(text)) {}

// ---- lines and statements ----

void ScriptReader::read(std::string_view line, const Cited& at) {
  const std::string_view text = without_comment(line);
  if (text.empty()) return;
  if (!is_script_) {
    if (only_prints(text)) return;
    if (!yaml_entry(text, at)) {
      limit_in(text, at);
      scan(text, at, false);
    }
    return;
  }
  if (is_scheduler_line(text)) {
    nodes_in(text);
    return statement(text, at);
  }
  std::size_t begin = 0;
  bool is_conditional = false;  // behind || or behind the && of a test
  const auto end_statement = [&](std::size_t end, std::string_view sign) {
    const std::string_view piece = text.substr(begin, end - begin);
    if (is_conditional) open_branch();
    statement(piece, at);
    if (is_conditional) close_branch();
    if (sign == ";;") {
      next_branch();
      if (!branches_.empty()) branches_.back().is_fresh = true;
    }
    is_conditional = sign == "||" || (sign == "&&" && (is_conditional || is_test(trim(piece))));
    begin = end + sign.size();
  };
  QuoteState quote;
  for (std::size_t i = 0; i < text.size();) {
    const std::string_view rest = text.substr(i);
    if (quote.around != '\'' && text[i] == '$') {
      i = behind_dollar(text, i);
    } else if (quote.around == 0 &&
               (rest.starts_with(";;") || rest.starts_with("&&") || rest.starts_with("||"))) {
      end_statement(i, rest.substr(0, 2));
      i += 2;
    } else if (quote.around == 0 && (text[i] == ';' || text[i] == '|')) {
      end_statement(i, rest.substr(0, 1));
      ++i;
    } else {
      i = quote.step(text, i);
    }
  }
  if (begin < text.size()) end_statement(text.size(), "");
}

void ScriptReader::statement(std::string_view text, const Cited& at) {
  text = keyword(text);
  if (text.empty()) return;
  if (!branches_.empty()) branches_.back().is_fresh = false;
  const auto words = words_of(text);
  if (words.front() == "source" || words.front() == ".") job_.sourced.push_back(at);
  if (words.front() == "read") {
    for (const std::string_view word : words)
      learn(word, std::nullopt);
    return;
  }
  if (text.starts_with("((") && text.ends_with("))")) {
    const std::size_t equals = text.find('=');
    if (equals == std::string_view::npos) return;
    const auto value = arithmetic(text.substr(equals + 1, text.size() - equals - 3), state_.values);
    learn(trim(text.substr(2, equals - 2)),
          value ? std::optional(std::to_string(*value)) : std::nullopt);
    return;
  }
  if (only_prints(text)) return;
  limit_in(text, at);
  if (unset_by(text, at)) return;
  scan(text, at, is_for_the_rest(text));
  if (is_launch(text)) mark_used();
}

/// Takes leading keywords off and follows the branches they open and close.
std::string_view ScriptReader::keyword(std::string_view text) {
  for (;;) {
    text = trim(text);
    const std::size_t end = std::min(text.find_first_of(" \t"), text.size());
    const std::string_view word = text.substr(0, end);
    const std::string_view rest = text.substr(end);
    if (word == "if" || word == "while" || word == "until") {
      open_branch();
    } else if (word == "for" || word == "select") {
      open_branch();
      const auto words = words_of(rest);
      if (!words.empty()) learn(words[0], std::nullopt);
      return {};
    } else if (word == "case") {
      open_branch();
      ++case_depth_;
      const std::size_t in = rest.find(" in");
      if (in == std::string_view::npos) return {};
      text = rest.substr(in + 3);
      continue;
    } else if (word == "elif") {
      next_branch();
    } else if (word == "else") {
      next_branch();
      if (!branches_.empty()) branches_.back().has_else = true;
    } else if (word == "fi" || word == "done" || word == "esac") {
      if (word == "esac") case_depth_ = std::max(0, case_depth_ - 1);
      close_branch();
    } else if (word != "then" && word != "do" && word != "{" && word != "}" && word != "time") {
      break;
    }
    text = rest;
  }
  const std::size_t close = text.find(')');
  const bool is_pattern =
      case_depth_ > 0 && close != std::string_view::npos && text.find_first_of("(=") > close;
  if (!is_pattern) return text;
  if (trim(text.substr(0, close)) == "*" && !branches_.empty()) branches_.back().has_else = true;
  return trim(text.substr(close + 1));
}

// ---- branches ----

void ScriptReader::open_branch() {
  constexpr std::size_t kDeepest = 50;  // a text with more is no script
  if (is_followed_) spend(size_of(state_));
  if (is_followed_ && branches_.size() < kDeepest) branches_.push_back({state_, std::nullopt});
}

void ScriptReader::next_branch() {
  if (branches_.empty()) return;
  Branch& branch = branches_.back();
  spend(size_of(branch.before) + size_of(state_) + (branch.ended ? size_of(*branch.ended) : 0));
  if (!is_followed_) return;
  branch.ended = branch.ended ? merged(*branch.ended, state_) : state_;
  state_ = branch.before;
}

void ScriptReader::close_branch() {
  if (branches_.empty()) return;
  const Branch& last = branches_.back();
  spend(size_of(last.before) + size_of(state_) + (last.ended ? size_of(*last.ended) : 0));
  if (!is_followed_) return;
  const Branch branch = std::move(branches_.back());
  branches_.pop_back();
  if (branch.ended) state_ = branch.is_fresh ? *branch.ended : merged(*branch.ended, state_);
  if (!branch.has_else) state_ = merged(branch.before, state_);
}

/// What holds after either of two branches.
ScriptReader::State ScriptReader::merged(const State& a, const State& b) {
  State out;
  for (const State* side : {&a, &b}) {
    const State& other = side == &a ? b : a;
    for (const auto& [name, value] : side->values) {
      const auto found = other.values.find(name);
      const bool agrees = found != other.values.end() && found->second == value;
      out.values.insert_or_assign(name, agrees ? value : std::nullopt);
    }
    for (const auto& [name, settings] : side->live) {
      auto& all = out.live[name];
      all.insert(all.end(), settings.begin(), settings.end());
      std::sort(all.begin(), all.end());
      all.erase(std::unique(all.begin(), all.end()), all.end());
    }
    for (const auto& [name, at] : side->unset)
      if (other.unset.contains(name)) out.unset.emplace(name, at);
  }
  return out;
}

// ---- limits ----

std::size_t ScriptReader::size_of(const State& state) {
  constexpr std::size_t kNode = 64;  // of a map, and what a string needs beside its text
  std::size_t size = 0;
  for (const auto& [name, value] : state.values)
    size += kNode + name.size() + (value ? value->size() : 0);
  for (const auto& [name, settings] : state.live)
    size += kNode + name.size() + settings.size() * sizeof settings.front();
  for (const auto& [name, at] : state.unset)
    size += kNode + name.size() + at.file.size() + at.text.size();
  return size;
}

void ScriptReader::spend(std::size_t bytes) {
  if (!is_followed_) return;
  if (bytes > left_) return follow_no_more();
  left_ -= bytes;
}

/// A text that was made to be expensive: what it sets counts, whatever a shell would make of it.
void ScriptReader::follow_no_more() {
  is_followed_ = false;
  for (Setting& setting : settings_)
    setting.is_used = true;
  branches_.clear();
  state_ = {};
}

void ScriptReader::learn(std::string_view name, std::optional<std::string> value) {
  spend(name.size() + (value ? value->size() : 0));
  if (is_followed_) state_.values.insert_or_assign(std::string(name), std::move(value));
}

// ---- what a statement says ----

/// `unset A B`, `unset -v A`, `export -n A`, `declare +x A`, `unsetenv A`, `env -u A command`.
bool ScriptReader::unset_by(std::string_view text, const Cited& at) {
  const auto words = words_of(text);
  const auto take_away = [&](std::string_view word) {
    const std::string name(word.substr(0, word.find('=')));
    state_.values.erase(name);
    state_.live.erase(name);
    if (concerns_communication(name)) state_.unset.insert_or_assign(name, at);
  };
  const auto has = [&](std::string_view flag) { return words.size() > 1 && words[1] == flag; };
  const bool is_whole = words.front() == "unset" || words.front() == "unsetenv" ||
                        (words.front() == "export" && has("-n")) ||
                        (words.front() == "declare" && has("+x")) ||
                        (words.front() == "typeset" && has("+x"));
  for (std::size_t i = 1; is_whole && i < words.size(); ++i)
    if (!words[i].starts_with('-') && !words[i].starts_with('+')) take_away(words[i]);
  for (std::size_t i = 1; !is_whole && i + 1 < words.size() && words.front() == "env"; ++i)
    if (words[i] == "-u") take_away(words[i + 1]);
  return is_whole;
}

/// `ulimit -l 64` counts KiB; `--ulimit memlock=65536:65536` counts bytes, -1 is unlimited.
void ScriptReader::limit_in(std::string_view text, const Cited& at) {
  const auto words = words_of(text);
  constexpr std::uint64_t kKibibyte = 1024;
  constexpr std::uint64_t kLargest = std::uint64_t{1} << 50U;
  if (!words.empty() && words.front() == "ulimit") {
    bool is_memlock = false;
    for (const std::string_view word : words)
      is_memlock =
          is_memlock || (word.starts_with('-') && word.find('l') != std::string_view::npos);
    if (!is_memlock || words.size() < 3) return;
    const auto value = expanded(words.back(), state_.values);
    if (!value) return;
    const auto number = parse_u64(*value);
    if (*value == "unlimited" || (number && *number <= kLargest)) {
      std::erase_if(job_.memlock, [&](const MemlockLimit& known) {
        return known.at.file == at.file && known.at.text.starts_with("ulimit");
      });
      job_.memlock.push_back({number ? std::optional(*number * kKibibyte) : std::nullopt, at});
    }
    return;
  }
  constexpr std::string_view kContainer = "memlock=";
  const std::size_t found = text.find(kContainer);
  if (found == std::string_view::npos || text.find("--ulimit") == std::string_view::npos) return;
  std::string_view value = text.substr(found + kContainer.size());
  value = value.substr(0, value.find_first_not_of("-0123456789"));
  const auto number = parse_u64(value);
  if (value == "-1" || (number && *number <= kLargest))
    job_.memlock.push_back({number ? std::optional<std::uint64_t>(*number) : std::nullopt, at});
}

/// `#SBATCH -N 16`, `-N16`, `--nodes=16`, `--nodes 16`.
void ScriptReader::nodes_in(std::string_view text) {
  const auto words = words_of(text);
  for (std::size_t i = 0; i < words.size(); ++i) {
    std::string_view value;
    if (words[i].starts_with("--nodes=")) {
      value = words[i].substr(8);
    } else if ((words[i] == "--nodes" || words[i] == "-N") && i + 1 < words.size()) {
      value = words[i + 1];
    } else if (words[i].starts_with("-N")) {
      value = words[i].substr(2);
    }
    const auto number = parse_u64(value);
    if (number && *number <= 1'000'000) job_.nodes = static_cast<unsigned>(*number);
  }
}

void ScriptReader::scan(std::string_view text, const Cited& at, bool is_statement) {
  // A value may hold assignments (`OPTS="-x A=1 -x B=2"`), and those others. Deeper ones are text:
  // each value is read to its end, so that their depth is what a line costs.
  constexpr std::size_t kDeepest = 16;
  std::vector<std::size_t> ends;  // of the values around
  const bool has_list = text.find("--export") != std::string_view::npos || text.starts_with("#PBS");
  QuoteState quote;
  for (std::size_t i = 0; i < text.size();) {
    const bool appends = text[i] == '=' && i > 1 && text[i - 1] == '+';
    const std::size_t name_end = appends ? i - 1 : i;
    if (text[i] == '=' && name_end > 0 && is_variable_char(text[name_end - 1])) {
      const std::string_view name = name_before(text, name_end);
      const std::size_t name_at = name_end - name.size();
      const bool is_expansion =
          name_at > 0 && (text[name_at - 1] == '$' || text[name_at - 1] == '{');
      const bool is_option = name_at > 0 && (text[name_at - 1] == '-' || text[name_at - 1] == '/');
      std::erase_if(ends, [&](std::size_t end) { return end <= i; });
      if (!is_expansion && !is_option && ends.size() < kDeepest) {
        const bool is_list = has_list && is_in_export_list(text, name_at);
        const std::size_t end = word_end(text, i + 1, quote.around, is_list);
        ends.push_back(end);
        std::string word(text.substr(i + 1, end - i - 1));
        if (appends) word = "${" + std::string(name) + "}" + word;
        if (end == i + 1 && end < text.size() && text[end] == '(') word = "$(";  // an array
        if (!is_changed(text.substr(end))) set(name, word, at, is_statement);
      }
    } else if (text[i] == ':' && i > 0 && !is_script_) {
      add_colon_pair(text, i, at);
    }
    i = quote.step(text, i);
  }
  add_pairs(text, at, is_statement);
  add_python(text, at);
}

/// `"A": "1"` and `A: 1`: the colon of JSON and YAML.
void ScriptReader::add_colon_pair(std::string_view text, std::size_t colon, const Cited& at) {
  std::size_t end = colon;
  while (end > 0 && (text[end - 1] == '"' || text[end - 1] == '\'' || text[end - 1] == ' '))
    --end;
  const std::string_view name = name_before(text, end);
  if (!concerns_communication(name)) return;
  std::size_t begin = colon + 1;
  while (begin < text.size() && text[begin] == ' ')
    ++begin;
  if (begin == colon + 1 && text[colon - 1] != '"') return;  // "host:port"
  const std::size_t value_end = word_end(text, begin, 0, false);
  if (!is_changed(text.substr(value_end)))
    set(name, text.substr(begin, value_end - begin), at, false);
}

/// `-genv A 1`, `-env A 1`, `setenv A 1`, and `ENV A 1` of a Dockerfile.
void ScriptReader::add_pairs(std::string_view text, const Cited& at, bool is_statement) {
  const auto words = words_of(text);
  for (std::size_t i = 0; i + 2 < words.size(); ++i) {
    const bool is_pair = words[i] == "-genv" || words[i] == "-env" || words[i] == "setenv";
    if (is_pair) set(words[i + 1], words[i + 2], at, is_statement);
  }
  if (words.size() == 3 && words[0] == "ENV" && words[1].find('=') == std::string_view::npos)
    set(words[1], words[2], at, is_statement);
}

/// `os.environ["A"] = "1"`, `os.environ.setdefault("A", "1")`, `os.putenv("A", "1")`.
void ScriptReader::add_python(std::string_view text, const Cited& at) {
  const std::size_t found = std::min(text.find("environ"), text.find("putenv("));
  if (found == std::string_view::npos) return;
  const std::size_t open = text.find_first_of("\"'", found);
  if (open == std::string_view::npos) return;
  const std::size_t close = text.find(text[open], open + 1);
  if (close == std::string_view::npos) return;
  const std::string_view name = text.substr(open + 1, close - open - 1);
  if (!concerns_communication(name)) return;
  std::string_view rest = trim(text.substr(close + 1));
  const bool is_call = text.find("setdefault(", found) < open || text.find("putenv(", found) < open;
  if (rest.starts_with(']')) rest = trim(rest.substr(1));
  if (!rest.starts_with(is_call ? ',' : '=') || rest.starts_with("==")) return;
  rest = trim(rest.substr(1));
  const bool is_literal = rest.starts_with('"') || rest.starts_with('\'');
  const std::size_t end = is_literal ? rest.find(rest.front(), 1) : std::string_view::npos;
  if (end == std::string_view::npos) {
    set(name, "$(" + std::string(rest) + ")", at, false);  // an expression
  } else {
    set(name, rest.substr(0, end + 1), at, false);
  }
}

bool ScriptReader::yaml_entry(std::string_view text, const Cited& at) {
  std::string_view bare = text;
  const bool is_item = bare.starts_with("- ");
  if (is_item) bare = trim(bare.substr(2));
  if (is_item || bare.starts_with('{')) entry_ = {};
  const std::size_t name = behind_key(bare, "name");
  const std::size_t value = behind_key(bare, "value");
  const std::size_t elsewhere = behind_key(bare, "valueFrom");
  const bool is_key = bare.starts_with('{') || bare.starts_with("name") ||
                      bare.starts_with("value") || bare.starts_with("\"name\"") ||
                      bare.starts_with("\"value");
  const bool has_any = name != std::string_view::npos || value != std::string_view::npos ||
                       elsewhere != std::string_view::npos;
  if (!is_key || !has_any) return false;
  const bool is_name_first = name < elsewhere;
  if (name != std::string_view::npos && is_name_first) {
    const auto scalar = expanded(scalar_at(bare, name), {});
    entry_.name = scalar.value_or("");
  }
  if (value != std::string_view::npos) entry_.value = scalar_at(bare, value);
  if (elsewhere != std::string_view::npos) entry_.is_elsewhere = true;
  if (entry_.name.empty() || (!entry_.value && !entry_.is_elsewhere)) return true;
  const std::string word = entry_.is_elsewhere ? "$(valueFrom)" : *entry_.value;
  set(entry_.name, word, at, false, Dialect::kKubernetes);
  entry_ = {};
  return true;
}

// ---- settings ----

void ScriptReader::set(std::string_view name, std::string_view word, const Cited& at,
                       bool is_statement, Dialect dialect) {
  auto value = expanded(word, state_.values, dialect);
  if (value && !is_script_) {
    while (!value->empty() && kPunctuation.find(value->back()) != std::string_view::npos)
      value->pop_back();
  }
  // \"…\" within the quotes of bash -c "…": the inner shell takes them off.
  if (value && value->size() > 1 && value->front() == '"' && value->back() == '"')
    value = value->substr(1, value->size() - 2);
  learn(name, value);
  if (!concerns_communication(name)) return;
  Setting setting;
  setting.variable = {std::string(name), value ? *value : std::string(word), "", at};
  setting.is_open = !value;
  const bool is_for_rest = is_statement && is_script_ && is_followed_;
  setting.is_used = !is_for_rest;
  settings_.push_back(std::move(setting));
  if (!is_for_rest) return;
  state_.unset.erase(std::string(name));
  state_.live.insert_or_assign(std::string(name), std::vector{settings_.size() - 1});
}

void ScriptReader::mark_used() {
  for (const auto& [name, indices] : state_.live)
    for (const std::size_t index : indices)
      settings_[index].is_used = true;
  state_.live.clear();  // nothing takes that back
}

void ScriptReader::finish() {
  while (!branches_.empty())
    close_branch();
  mark_used();
  for (Setting& setting : settings_) {
    if (!setting.is_used) continue;
    (setting.is_open ? job_.open : job_.variables).push_back(std::move(setting.variable));
  }
  std::set<std::string_view> is_set;
  for (const auto* list : {&job_.variables, &job_.open})
    for (const JobVariable& variable : *list)
      is_set.insert(variable.name);
  for (const auto& [name, at] : state_.unset)
    if (!is_set.contains(name)) job_.unset.push_back({name, "", "", at});
}

}  // namespace weir::readers

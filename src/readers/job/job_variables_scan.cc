#include "readers/job/job_variables_scan.h"

#include <algorithm>
#include <array>
#include <cctype>

#include "base/text.h"
#include "readers/job/job.h"
#include "readers/paste/text_lines.h"

namespace weir::readers {
namespace {

constexpr auto kPrefixes = std::to_array<std::string_view>(
    {"NCCL_", "TORCH_NCCL_", "UCX_", "GLOO_", "RCCL_", "NVSHMEM_", "RDMAV_", "IBV_", "MLX5_", "MC_",
     "SHARP_", "OMPI_MCA_btl", "OMPI_MCA_pml", "TORCH_DISTRIBUTED_BACKEND"});

bool is_name_char(char c) {
  return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_';
}

/// The name that ends just before `end`.
std::string_view name_before(std::string_view line, std::size_t end) {
  std::size_t begin = end;
  while (begin > 0 && is_name_char(line[begin - 1]))
    --begin;
  return line.substr(begin, end - begin);
}

/// The value from `at` on: quoted, or up to a blank or a character that ends a word in scripts.
/// In a list of `--export=A=1,B=2` a comma ends it only where a new NAME= follows.
std::string value_at(std::string_view line, std::size_t at) {
  if (at >= line.size()) return "";
  const char quote = line[at];
  if (quote == '"' || quote == '\'') {
    const auto end = line.find(quote, at + 1);
    if (end != std::string_view::npos) return std::string(line.substr(at + 1, end - at - 1));
    ++at;
  }
  std::size_t end = at;
  while (end < line.size()) {
    const char c = line[end];
    if (std::isspace(static_cast<unsigned char>(c)) != 0 || c == ';' || c == '"' || c == '\'' ||
        c == '\\' || c == ')' || c == '`')
      break;
    if (c == ',') {
      std::size_t name = end + 1;
      while (name < line.size() && is_name_char(line[name]))
        ++name;
      const bool is_next = name < line.size() && line[name] == '=' &&
                           concerns_communication(line.substr(end + 1, name - end - 1));
      if (is_next) break;
    }
    ++end;
  }
  std::string value(line.substr(at, end - at));
  while (!value.empty() &&
         (value.back() == '.' || value.back() == ',' || value.back() == ':' || value.back() == ']'))
    value.pop_back();
  return value;
}

/// The line without its comment: a # at the start or after a blank. #SBATCH, #PBS and so on are
/// kept.
std::string_view without_comment(std::string_view line) {
  const std::string_view bare = trim(line);
  if (bare.starts_with("#SBATCH") || bare.starts_with("#PBS") || bare.starts_with("#BSUB") ||
      bare.starts_with("#$"))
    return bare;
  for (std::size_t i = 0; i < bare.size(); ++i) {
    if (bare[i] != '#') continue;
    if (i == 0 || std::isspace(static_cast<unsigned char>(bare[i - 1])) != 0)
      return bare.substr(0, i);
  }
  return bare;
}

void add(std::vector<std::pair<std::string, std::string>>& out, std::string_view name,
         std::string value) {
  if (!concerns_communication(name)) return;
  if (value.find('$') != std::string::npos) return;  // known to the shell only
  out.emplace_back(std::string(name), std::move(value));
}

/// `"A": "1"` and `A: 1`: the colon of JSON and YAML.
void add_colon_pair(std::vector<std::pair<std::string, std::string>>& out, std::string_view line,
                    std::size_t colon) {
  std::size_t end = colon;
  while (end > 0 && (line[end - 1] == '"' || line[end - 1] == '\'' || line[end - 1] == ' '))
    --end;
  std::size_t at = colon + 1;
  while (at < line.size() && line[at] == ' ')
    ++at;
  if (at == colon + 1 && (colon == 0 || line[colon - 1] != '"')) return;  // "host:port"
  add(out, name_before(line, end), value_at(line, at));
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
  return is_variable && !knowledge_of(name).is_known;
}

std::vector<std::pair<std::string, std::string>> assignments_in(std::string_view line) {
  std::vector<std::pair<std::string, std::string>> out;
  const std::string_view text = without_comment(line);
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '=' && i > 0 && is_name_char(text[i - 1])) {
      const std::string_view name = name_before(text, i);
      const std::size_t before = i - name.size();
      if (before > 0 && (text[before - 1] == '$' || text[before - 1] == '{')) continue;
      add(out, name, value_at(text, i + 1));
    } else if (text[i] == ':' && i > 0) {
      add_colon_pair(out, text, i);
    }
  }
  const auto words = words_of(text);
  for (std::size_t i = 0; i + 2 < words.size(); ++i) {
    const bool is_pair = words[i] == "-genv" || words[i] == "-env" || words[i] == "setenv";
    if (is_pair) add(out, words[i + 1], std::string(words[i + 2]));
  }
  if (words.size() == 3 && words[0] == "ENV" && words[1].find('=') == std::string_view::npos)
    add(out, words[1], std::string(words[2]));  // the old form of a Dockerfile
  return out;
}

std::string yaml_name_in(std::string_view line) {
  std::string_view text = trim(without_comment(line));
  if (text.starts_with("- ")) text = trim(text.substr(2));
  if (!text.starts_with("name:")) return "";
  const std::string name = value_at(text, text.find_first_not_of(' ', 5));
  return concerns_communication(name) ? name : "";
}

bool yaml_value_in(std::string_view line, std::string& value) {
  const std::string_view text = trim(without_comment(line));
  if (!text.starts_with("value:")) return false;
  const auto at = text.find_first_not_of(' ', 6);
  value = at == std::string_view::npos ? "" : value_at(text, at);
  return value.find('$') == std::string::npos;
}

}  // namespace weir::readers

#include "cli/frame/pasted_input.h"

#include <algorithm>
#include <map>

#include <fmt/format.h>

#include "base/json.h"
#include "base/text.h"
#include "diagnose/paste/account.h"
#include "readers/paste/statement.h"

namespace weir::cli {
namespace {

/// What people say, file by file, with the numbers of its lines: a short report whole, of a longer
/// text what nobody's reader took.
std::map<std::string, std::string> words_by_file(const readers::Paste& paste) {
  std::map<std::string, std::string> out;
  std::map<std::string, int> at;
  const auto add = [&](const readers::Cited& line) {
    int& number = at.try_emplace(line.file, 1).first->second;
    std::string& text = out[line.file];
    text.append(static_cast<std::size_t>(std::max(0, line.line - number)), '\n');
    if (line.line <= number && !text.empty() && text.back() != '\n') text += '\n';
    text += line.text;
    number = std::max(number, line.line);
  };
  for (const readers::Cited& line : paste.report)
    add(line);
  const auto reported = at;
  for (const readers::Cited& line : paste.rest)
    if (!reported.contains(line.file)) add(line);
  return out;
}

/// Nobody tells a trouble in more lines than this; what is longer is a log with words around it.
constexpr std::size_t kReportLines = 60;

void add_report(const PastedText& from, readers::Paste& paste) {
  const bool has_words = std::any_of(paste.rest.begin(), paste.rest.end(),
                                     [&](const auto& line) { return line.file == from.path; });
  const auto lines = split(from.text, '\n');
  const bool is_unread = !paste.has_tools() && paste.job.is_empty();
  if ((!has_words && !is_unread) || lines.size() > kReportLines) return;
  for (std::size_t i = 0; i < lines.size(); ++i)
    if (!trim(lines[i]).empty())
      paste.report.push_back({from.path, static_cast<int>(i + 1), std::string(trim(lines[i]))});
}

bool has_account(const readers::Paste& paste) {
  const auto words = words_by_file(paste);
  return std::any_of(words.begin(), words.end(), [](const auto& file) {
    return diagnose::is_account(readers::statements_of(file.second));
  });
}

bool is_capture(std::string_view text) {
  for (const std::string_view magic :
       {std::string_view("\xd4\xc3\xb2\xa1", 4), std::string_view("\xa1\xb2\xc3\xd4", 4),
        std::string_view("\x4d\x3c\xb2\xa1", 4), std::string_view("\x0a\x0d\x0d\x0a", 4)})
    if (text.starts_with(magic)) return true;
  return false;
}

}  // namespace

Result<readers::Paste> read_pasted(const std::vector<PastedText>& texts) {
  std::vector<readers::PastedFile> files;
  for (const PastedText& one : texts) {
    if (is_capture(one.text))
      return parse_error(fmt::format("{}: a packet capture; weir pcap reads it", one.path));
    files.push_back({one.path, one.text});
  }
  readers::Paste paste = readers::read_paste(files);
  for (const PastedText& one : texts)
    add_report(one, paste);
  const bool is_known =
      paste.has_tools() || !paste.job.is_empty() || !paste.unread.empty() || has_account(paste);
  if (is_known) return paste;
  return parse_error(fmt::format(
      "{}: expected JSON, as weir snapshot --out writes it, a bundle, a trouble told in words, or "
      "the output of: {}",
      texts.front().path, join(readers::pasted_tools(), ", ")));
}

void say_what_was_read(const readers::Paste& paste, Context& context) {
  if (context.quiet) return;
  constexpr std::size_t kShown = 5;
  for (std::size_t i = 0; i < std::min(paste.unread.size(), kShown); ++i) {
    const auto& one = paste.unread[i];
    context.err << fmt::format("weir: {}:{}: not understood: {} ({})\n", one.file, one.line.line,
                               one.line.text, one.line.why);
  }
  std::vector<std::pair<std::string, int>> parts;
  for (const readers::PastePart& part : paste.parts) {
    const std::string text = readers::to_text(part);
    const auto same = std::find_if(parts.begin(), parts.end(),
                                   [&](const auto& one) { return one.first == text; });
    if (same == parts.end()) {
      parts.emplace_back(text, 1);
    } else {
      ++same->second;
    }
  }
  std::vector<std::string> said;
  for (const auto& [text, times] : parts)
    said.push_back(times == 1 ? text : fmt::format("{}, {} times", text, times));
  const bool is_told = has_account(paste);
  if (is_told) said.emplace_back("a trouble told in words");
  const std::size_t left = paste.unread.size() + (is_told ? 0 : paste.rest.size());
  if (left > 0) said.push_back(fmt::format("{} line{} not understood", left, left == 1 ? "" : "s"));
  context.err << fmt::format("weir: read as: {}\n", join(said, "; "));
}

Json read_json(const readers::Paste& paste) {
  Json out = Json::array();
  for (const readers::PastePart& part : paste.parts) {
    out.push_back({{"tool", part.tool},
                   {"detail", part.detail},
                   {"host", part.host},
                   {"device", part.device},
                   {"file", part.file},
                   {"first_line", part.first},
                   {"last_line", part.last}});
  }
  return out;
}

Json unread_json(const readers::Paste& paste) {
  Json out = Json::array();
  for (const auto& one : paste.unread) {
    out.push_back({{"file", one.file},
                   {"line", one.line.line},
                   {"text", one.line.text},
                   {"why", one.line.why}});
  }
  for (const readers::Cited& one : paste.rest) {
    out.push_back({{"file", one.file},
                   {"line", one.line},
                   {"text", one.text},
                   {"why", "no output that is known"}});
  }
  return out;
}

namespace {

/// Words say what it is about; a setting of the same topic that is shown and wrong says what it is.
std::string stands_first(const finding::Finding& answer, const finding::Judgement& shown) {
  const auto topic = [](const finding::Finding& one) { return one.id.substr(0, one.id.find('.')); };
  if (answer.confidence != finding::Confidence::kLow) return answer.id;
  for (const finding::Finding& one : shown.findings) {
    const bool is_sure =
        one.severity == finding::Severity::kError && one.confidence >= finding::Confidence::kHigh;
    if (is_sure && topic(one) == topic(answer)) return one.id;
  }
  return answer.id;
}

/// Where a person tells a trouble, what the outputs show beside it may be its symptom: an answer of
/// the account stands first, and what the account itself only suspects is not more than that.
finding::Judgement with_account(finding::Judgement shown, finding::Judgement told) {
  const bool is_open = told.conclusion == finding::Conclusion::kInconclusive;
  if (!is_open) {
    const std::string first = stands_first(told.findings.front(), shown);
    const finding::Conclusion conclusion = told.conclusion;
    finding::Judgement out = diagnose::combined(std::move(shown), std::move(told));
    const auto same = std::find_if(out.findings.begin(), out.findings.end(),
                                   [&](const finding::Finding& one) { return one.id == first; });
    if (same != out.findings.end()) std::rotate(out.findings.begin(), same, same + 1);
    out.conclusion = conclusion;
    return out;
  }
  const bool is_symptom =
      !told.findings.empty() &&
      std::all_of(shown.findings.begin(), shown.findings.end(), [&](const finding::Finding& one) {
        return one.severity == finding::Severity::kInfo ||
               one.id == "transport.retries_exhausted" ||
               std::any_of(told.findings.begin(), told.findings.end(),
                           [&](const auto& suspected) { return suspected.id == one.id; });
      });
  finding::Judgement out = diagnose::combined(std::move(shown), std::move(told));
  if (is_symptom) out.conclusion = finding::Conclusion::kInconclusive;
  return out;
}

}  // namespace

finding::Judgement judge_pasted_text(const diagnose::PastedCase& of,
                                     std::optional<finding::Judgement> counted) {
  std::optional<finding::Judgement> words;
  for (const auto& [file, text] : words_by_file(of.paste)) {
    const auto statements = readers::statements_of(text);
    if (!diagnose::is_account(statements)) continue;
    finding::Judgement one = diagnose::judge_account(statements, file);
    words = words ? diagnose::combined(std::move(*words), std::move(one)) : std::move(one);
  }
  const bool has_outputs = of.paste.has_tools() || !of.paste.job.is_empty() || counted;
  if (!has_outputs && words) return std::move(*words);
  finding::Judgement shown = diagnose::judge_pasted(of);
  if (counted) shown = diagnose::combined(std::move(*counted), std::move(shown));
  return words ? with_account(std::move(shown), std::move(*words)) : shown;
}

}  // namespace weir::cli

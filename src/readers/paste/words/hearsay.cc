#include "readers/paste/words/hearsay.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <span>

#include "base/text.h"
#include "readers/paste/paste_text.h"
#include "readers/paste/text_lines.h"

namespace weir::readers {
namespace {

using HearsayWords = std::span<const std::string_view>;

bool is_one_of_words(HearsayWords list, std::string_view word) {
  return std::find(list.begin(), list.end(), word) != list.end();
}

/// Words that bind others together. Tools print names, numbers and messages, and hardly any of
/// them.
constexpr auto kBinding = std::to_array<std::string_view>(
    {"the",     "a",     "an",     "is",    "are",    "am",    "be",     "been",   "was",   "were",
     "has",     "have",  "had",    "we",    "i",      "you",   "he",     "she",    "they",  "it",
     "its",     "our",   "my",     "your",  "their",  "this",  "that",   "these",  "those", "there",
     "and",     "or",    "but",    "of",    "in",     "on",    "to",     "for",    "from",  "by",
     "with",    "at",    "as",     "so",    "than",   "then",  "what",   "which",  "who",   "how",
     "why",     "when",  "where",  "since", "after",  "until", "while",  "all",    "every", "each",
     "some",    "does",  "do",     "did",   "will",   "can",   "only",   "now",    "still", "also",
     "because", "works", "worked", "helps", "helped", "tried", "tested", "avoids", "should"});

/// Words of a sentence that denies, remembers, advises, asks, plans or explains.
constexpr auto kHearsay = std::to_array<std::string_view>(
    {// denied
     "not", "never", "none", "neither", "nor", "nothing", "nobody", "nowhere", "absent",
     // over
     "was", "were", "had", "formerly", "previously", "earlier", "once", "ago", "former", "old",
     "until", "before", "resolved", "solved", "closed", "repaired", "replaced", "swapped",
     "exchanged", "reseated", "disappeared", "gone", "stopped", "removed", "cleared", "restores",
     "helped", "worked", "tried", "tested",
     // wished or advised
     "should", "must", "shall", "would", "could", "might", "may", "please", "ought", "avoid",
     "avoids", "if", "unless", "whether", "let", "let's", "remember", "recommend", "recommends",
     "recommended", "suggest", "suggests", "suggested", "consider", "considering", "planned",
     "planning", "propose", "proposed", "want", "wants", "wish", "works", "helps", "passes",
     "stable", "workaround",
     // explained
     "document", "expected", "default", "defaults", "means", "mean", "suppose", "assume", "imagine",
     "alert", "alerts", "typo", "purpose", "deliberately", "intentionally", "intended", "question",
     "grepped", "searched", "wrong", "reminder", "explains", "describes", "forum", "course",
     "slide", "tutorial", "rare", "rarely", "rejects", "refuses", "someone", "writing", "vendor's",
     "compare", "replace", "instead", "rather", "word", "except", "versus", "weir"});

/// Words that deny what follows them: "drops grow on 3 ports, no pauses". What is before the comma
/// counts all the same.
constexpr auto kDenials =
    std::to_array<std::string_view>({"no", "without", "clean", "free", "zero"});

/// What error messages say with such words: the message itself is the report.
constexpr auto kMessages = std::to_array<std::string_view>(
    {"no such",          "no space",       "no permission",    "no route",        "no servers",
     "no socket",        "no suitable",    "no answer",        "no reply",        "no effect",
     "not supported",    "not responding", "not permitted",    "not known",       "not yet",
     "not available",    "not allowed",    "not implemented",  "not initialized", "not reachable",
     "not ready",        "not alive",      "not respond",      "not answer",      "could not",
     "couldn't connect", "couldn't open",  "could be reached", "please check",    "as it should",
     "as they should"});

/// Words of a manual: what follows in the paragraph belongs to it.
constexpr auto kManual =
    std::to_array<std::string_view>({"example", "e.g", "documentation", "docs", "manual", "runbook",
                                     "rule", "hint", "tip", "todo", "agenda"});

std::string_view unquoted(std::string_view token) {
  constexpr std::string_view kAround = ".,;:!?()[]\"'`*_";
  const std::size_t begin = token.find_first_not_of(kAround);
  if (begin == std::string_view::npos) return {};
  return token.substr(begin, token.find_last_not_of(kAround) - begin + 1);
}

bool is_letters(std::string_view word) {
  return !word.empty() && std::all_of(word.begin(), word.end(), [](char c) {
    return std::isalpha(static_cast<unsigned char>(c)) != 0 || c == '\'' || c == '-' || c == '/';
  });
}

/// Quoting of mail, points of lists, numbers of points.
std::string_view without_marks(std::string_view line) {
  line = trim(line);
  while (line.starts_with("> ") || line.starts_with("- ") || line.starts_with("* ") ||
         line.starts_with("| ") || line.starts_with("# "))
    line = trim(line.substr(2));
  const std::size_t digits = line.find_first_not_of("0123456789");
  const bool is_point =
      digits != std::string_view::npos && digits > 0 &&
      (line.substr(digits).starts_with(". ") || line.substr(digits).starts_with(") "));
  return is_point ? trim(line.substr(digits + 1)) : line;
}

/// A time, a level or a process in front, or a shell's own words: no sentence, whatever it says.
bool is_printed(std::string_view text) {
  if (text.empty() || text.starts_with(";;") || text.front() == '[' || text.front() == '%' ||
      text.front() == '{' || text.front() == '$' || day_of_line(text))
    return true;
  for (const std::string_view sign : {"NCCL WARN ", "NCCL INFO ", "kernel:", "level=", "rror: ",
                                      "ERROR", "WARNING:", "Warning: ", "; then", "; do ", "$("})
    if (text.find(sign) != std::string_view::npos) return true;
  const std::string_view first = text.substr(0, text.find(' '));
  const bool has_time = std::count(first.begin(), first.end(), ':') >= 2;
  const bool is_prompt = first.find('@') != std::string_view::npos &&
                         text.find_first_of("#$>") != std::string_view::npos;
  const bool is_dated = first.size() >= 8 && first[4] == '-' && first[7] == '-';
  return has_time || is_dated || is_prompt || first == "export" || first == "set";
}

/// "in March", "last week": over by now; "since last week" is not.
bool is_past(std::string_view before, std::string_view word, std::string_view next) {
  constexpr auto kMonths = std::to_array<std::string_view>(
      {"january", "february", "march", "april", "may", "june", "july", "august", "september",
       "october", "november", "december"});
  constexpr auto kSpans =
      std::to_array<std::string_view>({"week", "month", "year", "night", "time", "quarter"});
  return (word == "used" && next == "to") || (word == "in" && is_one_of_words(kMonths, next)) ||
         (word == "last" && before != "since" && is_one_of_words(kSpans, next));
}

std::vector<std::string_view> spoken_words(std::string_view lower) {
  std::vector<std::string_view> out;
  for (const std::string_view word : words_of(lower))
    out.push_back(unquoted(word));
  return out;
}

/// How many words of an error message begin here; 0 where it is none.
std::size_t words_of_message(std::string_view text) {
  const auto message =
      std::find_if(kMessages.begin(), kMessages.end(),
                   [&](std::string_view known) { return text.starts_with(known); });
  return message == kMessages.end() ? 0 : words_of(*message).size();
}

/// The place from which on a person's sentence reports nothing; npos where it reports.
std::size_t begin_of_hearsay(std::string_view sentence) {
  if (trim(sentence).ends_with('?')) return 0;
  const std::string lower = lower_case(sentence);
  const auto words = spoken_words(lower);
  std::size_t begin = std::string_view::npos;
  for (std::size_t i = 0; i < words.size(); ++i) {
    const std::string_view word = words[i];
    if (word.empty()) continue;
    const std::string_view next = i + 1 < words.size() ? words[i + 1] : "";
    const auto at = static_cast<std::size_t>(word.data() - lower.data());
    if (const std::size_t message = words_of_message(std::string_view(lower).substr(at))) {
      i += message - 1;
      continue;
    }
    if (is_past(i > 0 ? words[i - 1] : "", word, next)) return 0;
    if (word == "may" && sentence[at] == 'M') continue;  // the month
    if (is_one_of_words(kHearsay, word) || is_one_of_words(kManual, word) ||
        word.ends_with("n't") || word.ends_with("'d") || word.starts_with("fix"))
      return 0;
    const bool is_none = (word == "0" && (next == "of" || next == "times")) ||
                         (word.starts_with("0/") && word != "0/0");
    if (!is_none && !is_one_of_words(kDenials, word)) continue;
    const std::size_t comma = lower.rfind(", ", at);
    const std::size_t line = lower.rfind('\n', at);
    begin = std::min(begin, std::max(comma == std::string::npos ? 0 : comma,
                                     line == std::string::npos ? 0 : line));
  }
  return begin;
}

/// "From the runbook: …", "For example …".
bool is_of_manual(std::string_view sentence) {
  const std::string lower = lower_case(sentence);
  const auto words = spoken_words(lower);
  return std::any_of(words.begin(), words.end(),
                     [](std::string_view word) { return is_one_of_words(kManual, word); });
}

/// The ends of the sentences in a text: a full stop and a capital letter behind it. Lists after a
/// semicolon belong to what introduces them.
std::vector<std::size_t> sentence_ends(std::string_view text) {
  std::vector<std::size_t> out;
  for (std::size_t i = 0; i + 2 < text.size(); ++i) {
    if (text[i] != '.' && text[i] != '!' && text[i] != '?') continue;
    const std::size_t next = text.find_first_not_of(" \n", i + 1);
    const bool begins = next != std::string_view::npos && next > i + 1 &&
                        std::islower(static_cast<unsigned char>(text[next])) == 0;
    const bool is_short = text.substr(0, i).ends_with("e.g") || text.substr(0, i).ends_with("i.e");
    if (begins && !is_short) out.push_back(i + 1);
  }
  out.push_back(text.size());
  return out;
}

/// Lines of one paragraph.
struct Paragraph {
  std::string text;
  std::vector<std::size_t> begins;  // of its lines
  std::size_t first = 0;            // the number of its first line in the text
};

bool is_point(std::string_view line) {
  return line.starts_with("- ") || line.starts_with("* ");
}

/// Whether a sentence that began in `line` goes on in `next`: after a comma or a word that binds,
/// or where the next word did not fit into the line any more.
bool carries_on(std::string_view line, std::string_view next) {
  constexpr std::size_t kWidth = 72;  // of mails, RFC 5322 has 78 as the most
  const std::string_view text = trim(line);
  const std::string_view following = trim(next);
  if (text.empty() || following.empty() || is_point(following) || is_printed(following) ||
      following.find("  ") != std::string_view::npos || !is_prose(text))
    return false;
  if (std::string_view(".:!?`").find(text.back()) != std::string_view::npos) return false;
  const bool is_full = text.size() + 1 + words_of(following).front().size() > kWidth;
  // What a tool prints may begin so too, and ends with no full stop.
  const bool is_lower = std::islower(static_cast<unsigned char>(following.front())) != 0;
  const bool is_sentence = is_prose(following) || following.ends_with('.');
  const bool is_open =
      text.ends_with(',') || is_one_of_words(kBinding, lower_case(words_of(text).back()));
  return is_sentence && (is_open || (is_full && (is_lower || following.ends_with('.'))));
}

std::vector<Paragraph> paragraphs_of(const std::vector<std::string_view>& lines) {
  std::vector<Paragraph> out;
  for (std::size_t i = 0; i < lines.size(); ++i) {
    if (i > 0 && carries_on(lines[i - 1], lines[i])) {
      out.back().text += '\n';
    } else {
      out.push_back({"", {}, i});
    }
    out.back().begins.push_back(out.back().text.size());
    out.back().text += lines[i];
  }
  return out;
}

/// Outputs in a manual are examples, but for those below a prompt that names a host.
std::vector<bool> examples_in(const std::vector<std::string_view>& lines) {
  std::vector<bool> out(lines.size(), true);
  bool is_fenced = false;
  bool has_host = false;
  for (std::size_t i = 0; i < lines.size(); ++i) {
    if (trim(lines[i]).starts_with("```")) {
      is_fenced = !is_fenced;
      has_host = false;
      continue;
    }
    if (!is_fenced) continue;
    const auto mark = mark_of(lines[i]);
    has_host = has_host || (mark && !mark->host.empty());
    out[i] = !has_host;
  }
  return out;
}

/// The characters from `from` to `to` of a paragraph, in the lines they came from.
void blank_out(const Paragraph& paragraph, std::size_t from, std::size_t to,
               std::vector<std::string>& lines) {
  for (std::size_t i = 0; i < paragraph.begins.size(); ++i) {
    std::string& line = lines[paragraph.first + i];
    const std::size_t begin = paragraph.begins[i];
    for (std::size_t at = std::max(from, begin); at < std::min(to, begin + line.size()); ++at)
      line[at - begin] = ' ';
  }
}

}  // namespace

bool is_prose(std::string_view sentence) {
  constexpr std::size_t kFewest = 3;
  constexpr std::size_t kLongest = 2000;  // characters: more are no sentence
  if (sentence.size() > kLongest) return false;
  const std::string_view text = without_marks(sentence);
  const std::string lower = lower_case(text);
  const auto words = spoken_words(lower);
  if (words.size() < kFewest) return false;
  std::size_t plain = 0;
  std::size_t binding = 0;
  for (const std::string_view word : words) {
    plain += is_letters(word) ? 1 : 0;
    binding += is_one_of_words(kBinding, word) ? 1 : 0;
  }
  // Code in quotes of Markdown, as people write it between words.
  if (std::count(text.begin(), text.end(), '`') > 1 && plain >= kFewest) return true;
  if (text.find('\t') != std::string_view::npos || text.find("  ") != std::string_view::npos ||
      is_printed(text))
    return false;
  // "Example: NCCL_NET=Socket turns RDMA off."
  if ((text.ends_with('.') || text.ends_with('?')) && begin_of_hearsay(text) == 0) ++binding;
  return binding > 0 && (plain * 2 >= words.size() || binding > 2);
}

bool is_document(const std::vector<std::string_view>& lines) {
  constexpr std::size_t kShortest = 40;  // lines: a ticket is shorter, or has no title
  constexpr int kFewest = 3;             // headings
  const auto first = std::find_if(lines.begin(), lines.end(),
                                  [](std::string_view line) { return !trim(line).empty(); });
  if (first == lines.end() || !first->starts_with("# ") || lines.size() < kShortest) return false;
  const auto headings = std::count_if(lines.begin(), lines.end(), [](std::string_view line) {
    return line.starts_with("## ") || line.starts_with("### ");
  });
  return headings >= kFewest;
}

std::vector<std::string> without_hearsay(const std::vector<std::string_view>& lines) {
  std::vector<std::string> out(lines.begin(), lines.end());
  constexpr std::size_t kMost = 4000;  // lines: more are a log, and logs have readers of their own
  if (is_document(lines)) {
    const std::vector<bool> examples = examples_in(lines);
    for (std::size_t i = 0; i < lines.size(); ++i)
      if (examples[i]) std::fill(out[i].begin(), out[i].end(), ' ');
    return out;
  }
  if (lines.size() > kMost) return out;
  bool is_over_list = false;
  for (const Paragraph& paragraph : paragraphs_of(lines)) {
    const std::string_view text = paragraph.text;
    const bool is_listed = is_over_list && is_point(trim(text));
    const bool is_tool = !is_listed && is_printed(without_marks(text));
    std::size_t begin = 0;
    bool is_last = false;
    bool is_manual = is_listed;
    for (const std::size_t end : sentence_ends(text)) {
      const std::string_view sentence = text.substr(begin, end - begin);
      const bool is_said = !is_tool && is_prose(sentence);
      is_manual = is_manual || (is_said && is_of_manual(sentence));
      const std::size_t from = is_manual ? 0
                               : is_said ? begin_of_hearsay(sentence)
                                         : std::string_view::npos;
      is_last = from != std::string_view::npos;
      if (is_last) blank_out(paragraph, begin + from, end, out);
      begin = end;
    }
    is_over_list = is_listed || (is_last && trim(text).ends_with(':'));
  }
  return out;
}

bool is_hearsay(std::string_view line) {
  return !trim(line).empty() && trim(without_hearsay({line}).front()).empty();
}

}  // namespace weir::readers

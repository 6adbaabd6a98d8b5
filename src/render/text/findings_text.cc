#include "render/text/findings_text.h"

#include <algorithm>
#include <set>
#include <vector>

#include <fmt/format.h>

#include "base/text.h"
#include "base/untrusted/printable.h"
#include "finding/catalog.h"
#include "finding/fold.h"
#include "render/text/fix_choice.h"

namespace weir::render {
namespace {

using finding::CatalogEntry;
using finding::EvidenceLine;
using finding::Finding;
using finding::Fix;
using finding::Judgement;
using finding::Severity;

constexpr std::string_view kRed = "\x1b[31m";
constexpr std::string_view kYellow = "\x1b[33m";
constexpr std::string_view kDim = "\x1b[2m";
constexpr std::string_view kReset = "\x1b[0m";
constexpr std::size_t kSeverityColumns = 7;  // the longest of "error", "warning", "info", "unknown"
constexpr std::size_t kNarrowest =
    20;  // prose keeps that many columns, however narrow the terminal

std::string_view colour_of(Severity severity) {
  switch (severity) {
    case Severity::kError: return kRed;
    case Severity::kWarning: return kYellow;
    case Severity::kInfo: break;
  }
  return {};
}

class Writer {
 public:
  explicit Writer(const TextOptions& options) : options_(options) {}

  [[nodiscard]] std::string painted(std::string_view text, std::string_view colour) const {
    if (!options_.colour || colour.empty()) return std::string(text);
    return own_control(colour) + std::string(text) + own_control(kReset);
  }

  void line(std::string_view text) { text_.append(text).append("\n"); }

  /// Wrapped prose behind `indent` blanks; each line painted on its own, because pagers paint by
  /// line.
  void prose(std::string_view text, std::size_t indent, std::string_view colour = {}) {
    const std::string margin(indent, ' ');
    const std::size_t columns = std::max(options_.width, indent + kNarrowest) - indent;
    const std::string wrapped = wrap(text, columns);
    for (const std::string_view piece : split(wrapped, '\n'))
      line(margin + painted(piece, colour));
  }

  [[nodiscard]] std::string take() && { return std::move(text_); }

 private:
  const TextOptions& options_;
  std::string text_;
};

/// Severity and place: "error    fabric.yaml:12:7".
std::string heading(const Writer& writer, Severity severity, const std::string& place) {
  const std::string_view word = to_text(severity);
  std::string text = writer.painted(word, colour_of(severity));
  if (place.empty()) return text;
  return text + std::string(kSeverityColumns - word.size() + 2, ' ') + place;
}

std::string evidence_line(const EvidenceLine& seen) {
  std::string text = seen.source.empty() ? seen.line : seen.source + ": " + seen.line;
  if (seen.counter.empty()) return text;
  text += " (" + seen.counter;
  if (seen.value) text += " = " + with_thousands(*seen.value);
  return text + ")";
}

void write_fix(Writer& writer, const Fix& fix) {
  const std::string intro = fix.note.empty() ? fix.platform + ":" : fix.platform + ": " + fix.note;
  writer.prose(intro, 4);
  for (const std::string& command : fix.commands)
    writer.line("      " + command);
}

/// The heading of what is shown for the first place only.
std::string first_of(const finding::Folded& folded, std::string_view what) {
  if (folded.findings.size() == 1) return fmt::format("  {}:", what);
  return fmt::format("  {} ({}, first of {}):", what, to_text(folded.findings.front()->where),
                     folded.findings.size());
}

/// "fix:", or which of many hosts the commands are for.
std::string fix_heading(const finding::Folded& folded) {
  const Finding& first = *folded.findings.front();
  if (first.fix.empty()) return "  fix:";
  std::set<std::string_view> hosts;
  for (const Finding* const finding : folded.findings)
    hosts.insert(finding->where.host);
  if (first.where.host.empty()) return first_of(folded, "fix");
  if (hosts.size() == 1) return "  fix:";
  return fmt::format("  fix ({}, first of {} hosts):", first.where.host, hosts.size());
}

void write_finding(Writer& writer, const finding::Folded& folded, bool with_why) {
  const Finding& finding = *folded.findings.front();
  writer.line("");
  writer.line(heading(writer, finding.severity, folded.where));
  writer.prose(folded.verdict, 2);
  const CatalogEntry* entry = finding::find(finding.id);
  if (entry != nullptr)
    writer.prose(with_why ? "why: " + std::string(entry->why) : "why: see above", 2, kDim);
  if (!finding.evidence.empty()) writer.line(first_of(folded, "seen"));
  for (const EvidenceLine& seen : finding.evidence)
    writer.prose(evidence_line(seen), 4);
  const ShownFixes shown = fixes_for(finding);
  if (!shown.fixes.empty()) writer.line(fix_heading(folded));
  for (const Fix& fix : with_other_rails(shown.fixes, folded.findings))
    write_fix(writer, fix);
  if (!shown.others.empty()) writer.prose("also for " + join(shown.others, ", "), 4);
  writer.line("  weir explain " + finding.id);
}

void write_findings(Writer& writer, const Judgement& judgement) {
  std::set<std::string_view> explained;
  for (const finding::Folded& folded : finding::fold(judgement.findings))
    write_finding(writer, folded, explained.insert(folded.findings.front()->id).second);
}

void write_unknown(Writer& writer, const Judgement& judgement) {
  if (judgement.unknown.empty()) return;
  const std::vector<finding::Unknown> folded = finding::fold(judgement.unknown);
  const std::size_t count = folded.size();
  writer.line("");
  writer.line(fmt::format("{} check{} skipped: data not available", count, count == 1 ? "" : "s"));
  for (const finding::Unknown& unknown : folded) {
    writer.prose(unknown.check + ": " + unknown.reason, 2);
    if (!unknown.how.empty()) writer.prose("how: " + unknown.how, 4);
  }
}

void write_related(Writer& writer, const Judgement& judgement) {
  if (judgement.related.empty()) return;
  writer.line("");
  writer.line("May be relevant (found by words, not by evidence):");
  for (const finding::Related& related : judgement.related) {
    const CatalogEntry* entry = finding::find(related.id);
    writer.prose(fmt::format("{}: {}", related.id, entry == nullptr ? "" : entry->title), 2);
    writer.prose(related.why, 4, kDim);
    writer.line("    weir explain " + related.id);
  }
}

void write_next(Writer& writer, const Judgement& judgement) {
  if (judgement.next.empty()) return;
  writer.line("");
  writer.line("next:");
  for (const std::string& command : judgement.next)
    writer.line("  " + command);
}

void write_quiet(Writer& writer, const Judgement& judgement) {
  for (const finding::Folded& folded : finding::fold(judgement.findings)) {
    const Finding& finding = *folded.findings.front();
    const std::string& place = folded.where;
    writer.line(heading(writer, finding.severity, place.empty() ? "-" : place) + "  " +
                folded.verdict + " [" + finding.id + "]");
  }
  for (const finding::Unknown& unknown : finding::fold(judgement.unknown))
    writer.line("unknown  " + unknown.check + ": " + unknown.reason);
  for (const finding::Related& related : judgement.related)
    writer.line(fmt::format("related  {}: {}", related.id, related.why));
}

std::string counted(int count, std::string_view word) {
  return fmt::format("{} {}{}", count, word, count == 1 ? "" : "s");
}

}  // namespace

std::string findings_text(const Judgement& judgement, std::string_view headline,
                          const TextOptions& options) {
  Writer writer(options);
  writer.line(headline);
  if (options.quiet) {
    write_quiet(writer, judgement);
    return std::move(writer).take();
  }
  write_findings(writer, judgement);
  write_unknown(writer, judgement);
  write_related(writer, judgement);
  write_next(writer, judgement);
  return std::move(writer).take();
}

std::string count_text(const Judgement& judgement) {
  std::vector<std::string> parts;
  if (const int errors = judgement.count(Severity::kError); errors > 0)
    parts.push_back(counted(errors, "error"));
  if (const int warnings = judgement.count(Severity::kWarning); warnings > 0)
    parts.push_back(counted(warnings, "warning"));
  if (const int infos = judgement.count(Severity::kInfo); infos > 0)
    parts.push_back(counted(infos, "note"));
  if (parts.empty()) parts.emplace_back("nothing found");
  if (!judgement.unknown.empty())
    parts.push_back(fmt::format("{} unknown", judgement.unknown.size()));
  return join(parts, ", ");
}

}  // namespace weir::render

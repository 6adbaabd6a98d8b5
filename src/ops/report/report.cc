#include "ops/report/report.h"

#include <algorithm>
#include <filesystem>
#include <unordered_map>

#include <fmt/format.h>

#include "base/count_text.h"
#include "base/file.h"
#include "base/text.h"
#include "base/untrusted/quote.h"
#include "diagnose/core/diagnose.h"
#include "diagnose/core/interpret.h"
#include "diagnose/core/join.h"
#include "diagnose/validate/validate.h"
#include "ops/inspect/validate.h"
#include "ops/report/baseline_part.h"
#include "ops/report/report_input.h"
#include "render/report/report_facts.h"
#include "units/format.h"

namespace weir::ops {
namespace {

// ---- what there is ----

struct Sources {
  ReportInput input;
  std::optional<Fabric> fabric;
  std::optional<lab::RunRecord> run;  // a lab's last load
  std::vector<std::string> faults;    // that are in the lab now
};

Status add_lab(const ReportRequest& request, Sources& sources) {
  WEIR_TRY(hosts, open_hosts(*request.source));
  if (hosts.lab && request.files.empty()) {
    WEIR_TRY(seen, observe_last_load(hosts));
    std::move(seen.begin(), seen.end(), std::back_inserter(sources.input.evidence));
  } else {
    WEIR_TRY(seen, observe_some(hosts));
    std::vector<evidence::Evidence> all = std::move(seen).all();
    std::move(all.begin(), all.end(), std::back_inserter(sources.input.evidence));
    finding::Judgement unseen;
    add_unseen(seen, unseen);
    if (!unseen.unknown.empty()) sources.input.judgements.push_back(std::move(unseen));
  }
  if (!hosts.lab) return {};
  sources.run = hosts.lab->last_run();
  for (const lab::ActiveFault& fault : hosts.lab->faults())
    sources.faults.push_back(fault.text);
  sources.fabric = Fabric{hosts.lab->design(), hosts.lab->intent()};
  return {};
}

/// The design asked for, else the lab's, else the one that a simulation names, where it is still
/// there. None: no map.
Status add_design(const ReportRequest& request, Sources& sources) {
  const auto& named = sources.input.design_file;
  const bool is_asked = !request.design.empty();
  if (!is_asked && (sources.fabric || !named || !file_exists(*named))) return {};
  WEIR_TRY(fabric, load_fabric(is_asked ? request.design : *named));
  sources.fabric = std::move(fabric);
  return {};
}

// ---- filling in ----

weir::Status add_curves(const ReportInput& input, const design::Intent* intent,
                        render::Report& report) {
  if (!input.curves_folder) return {};
  std::string ports;
  std::string rates;
  for (auto [text, name] : {std::pair(&ports, "ports.csv"), {&rates, "rates.csv"}}) {
    const std::string path = fmt::format("{}/{}", *input.curves_folder, name);
    if (!file_exists(path)) continue;
    WEIR_TRY(content, read_file(path));
    *text = std::move(content);
  }
  WEIR_TRY(timeline, timeline_from_csv(ports, rates, intent));
  report.timeline = std::move(timeline);
  return {};
}

/// What other verbs found, what the settings say, what the counters say.
finding::Judgement judge_all(const ReportInput& input, const diagnose::View& view) {
  finding::Judgement all;
  bool is_settled = true;
  // Thousands of hosts may have one each: only those with the same words are compared.
  std::unordered_map<std::string, std::vector<std::size_t>> by_words;
  const auto is_known = [&](const finding::Finding& found, const std::vector<std::size_t>& like) {
    return std::any_of(like.begin(), like.end(),
                       [&](std::size_t i) { return all.findings[i] == found; });
  };
  const auto add = [&](const finding::Judgement& part) {
    for (const finding::Finding& found : part.findings) {
      std::vector<std::size_t>& like =
          by_words[found.id + found.verdict + found.where.host + found.where.rail];
      if (is_known(found, like)) continue;
      like.push_back(all.findings.size());
      all.findings.push_back(found);
    }
    all.unknown.insert(all.unknown.end(), part.unknown.begin(), part.unknown.end());
    all.next.insert(all.next.end(), part.next.begin(), part.next.end());
    is_settled = is_settled && part.conclusion != finding::Conclusion::kInconclusive;
  };
  for (const finding::Judgement& judgement : input.judgements)
    add(judgement);
  if (!input.evidence.empty()) add(diagnose::diagnose(view));
  if (!input.evidence.empty() && view.intent() != nullptr) add(diagnose::validate(view));
  finding::settle(all);
  if (all.conclusion == finding::Conclusion::kHealthy && !is_settled)
    all.conclusion = finding::Conclusion::kInconclusive;
  return all;
}

void add_questions(const diagnose::View& view, render::Report& report) {
  if (view.evidence().empty()) return;
  for (const diagnose::Question& question : diagnose::five_questions(view))
    report.questions.push_back(
        {question.question, question.answer, question.is_good, question.sentence});
}

/// The sum over the NICs of what each counted; nullopt where none did.
template <class T>
std::optional<T> over_nics(const std::vector<render::RailRow>& rows,
                           std::optional<T> render::RailRow::*member) {
  std::optional<T> sum;
  for (const render::RailRow& row : rows)
    if (row.*member) sum = sum.value_or(T{}) + *(row.*member);
  return sum;
}

/// Over all NICs, where no simulation has told more.
void add_numbers(render::Report& report) {
  using render::RailRow;
  if (!report.numbers.empty() || report.rails.empty()) return;
  const auto count = [](std::optional<std::uint64_t> n) {
    return n ? count_text(*n) : std::string("?");
  };
  const auto discards = over_nics(report.rails, &RailRow::discards);
  report.numbers.push_back({"Discards at NICs", count(discards),
                            !discards        ? "not counted"
                            : *discards == 0 ? "expected"
                                             : "must be 0"});
  const auto received = over_nics(report.rails, &RailRow::received_gbps);
  const auto nics = static_cast<double>(report.rails.size());
  report.numbers.push_back({"Mean receive rate per NIC",
                            received ? fmt::format("{:.1f} Gb/s", *received / nics) : "?",
                            "over the window"});
  const RailRow* worst = nullptr;
  const auto pause = [](const RailRow& row) {
    return std::max(row.paused_share.value_or(-1), row.pausing_share.value_or(-1));
  };
  for (const RailRow& row : report.rails)
    if (worst == nullptr || pause(row) > pause(*worst)) worst = &row;
  const bool is_known = pause(*worst) >= 0;
  const bool is_paused = pause(*worst) > 0;
  report.numbers.push_back({"Highest pause share",
                            is_known ? fmt::format("{:.1f} %", pause(*worst) * 100) : "?",
                            is_paused ? worst->host + " " + worst->device : "of the window"});
  report.numbers.push_back({"CNPs sent", count(over_nics(report.rails, &RailRow::cnps_sent)),
                            count(over_nics(report.rails, &RailRow::cnps_handled)) + " handled"});
}

void add_run(const Sources& sources, render::Report& report) {
  if (!sources.run) return;
  const lab::RunRecord& run = *sources.run;
  report.source = fmt::format("lab, load {}, seed {}", run.load, run.seed);
  report.measured.push_back({.what = fmt::format("load {}", run.load),
                             .command = run.command,
                             .result = fmt::format("{} in {} of simulated time:",
                                                   run.is_finished ? "finished" : "NOT finished",
                                                   approximate(run.elapsed))});
  if (!sources.faults.empty())
    report.measured.push_back({.what = "broken on purpose",
                               .command = join(sources.faults, "; "),
                               .result = "the lab has faults now:"});
  for (const std::string& note : run.notes)
    report.notes.push_back("Not simulated: " + note);
  report.timeline = timeline_of(run, sources.fabric->intent);
}

void add_provenance(const ReportInput& input, const std::string& tool, render::Report& report) {
  std::vector<std::string> details;
  for (const evidence::Evidence& piece : input.evidence) {
    report.is_simulated = report.is_simulated || piece.provenance.simulated;
    if (!piece.provenance.detail.empty() &&
        std::find(details.begin(), details.end(), piece.provenance.detail) == details.end())
      details.push_back(piece.provenance.detail);
    // A simulation has no date; its own time begins in 1970.
    if (!piece.provenance.simulated) report.time = std::max(report.time, piece.provenance.time);
  }
  if (report.source.empty()) report.source = join(details, ", ");
  report.tool = tool;
}

/// A command line as it was recorded, each of its words as one.
std::string as_words(std::string_view line) {
  std::vector<std::string> words;
  for (const std::string_view word : split(line, ' '))
    if (!word.empty()) words.emplace_back(word);
  return shell_line(words);
}

std::vector<render::Retest> retests_of(const ReportRequest& request, const Sources& sources) {
  const ReportInput& input = sources.input;
  // What a recorded run names is another's: as words, whatever is in them.
  const std::string design = !request.design.empty() ? shell_word(request.design)
                             : input.design_file     ? shell_word(*input.design_file)
                                                     : std::string("DESIGN");
  const std::string lab = request.source && !request.source->lab.empty()
                              ? " --lab " + shell_word(request.source->lab)
                              : "";
  std::vector<render::Retest> retests = {{"lint", "weir lint " + design},
                                         {"validate", "weir validate" + lab}};
  if (sources.run)
    retests.push_back(
        {"", fmt::format("weir verify{} -- {}", lab, as_words(sources.run->command))});
  else if (!input.workloads.empty())
    retests.push_back({"", fmt::format("weir sim {} -w {} -o DIR && weir report DIR", design,
                                       shell_word(input.workloads.front()))});
  return retests;
}

std::size_t count_hosts(const std::vector<evidence::Evidence>& evidence) {
  return static_cast<std::size_t>(
      std::count_if(evidence.begin(), evidence.end(),
                    [](const evidence::Evidence& piece) { return !piece.nics.empty(); }));
}

std::size_t count_switches(const ReportInput& input) {
  std::size_t count = 0;
  for (const evidence::Evidence& piece : input.evidence)
    count += piece.switches.size();
  return count;
}

weir::Status fill(const ReportRequest& request, Sources& sources) {
  ReportInput& input = sources.input;
  render::Report& report = input.report;
  const design::Intent* intent = sources.fabric ? &sources.fabric->intent : nullptr;
  WEIR_TRY_STATUS(add_curves(input, intent, report));
  add_run(sources, report);
  const diagnose::View view(
      {.evidence = input.evidence, .intent = intent, .thresholds = request.thresholds});
  report.judgement = judge_all(input, view);
  report.thresholds = request.thresholds;
  add_questions(view, report);
  if (!report.judgement.findings.empty())
    report.summary = report.judgement.findings.front().verdict;
  else if (!input.evidence.empty())
    report.summary =
        diagnose::headline(report.judgement, count_hosts(input.evidence), count_switches(input));
  report.rails = render::rails_of(input.evidence);
  add_numbers(report);
  if (intent != nullptr) {
    report.intent = intent;
    report.loads = render::loads_of(*intent, input.evidence);
    report.platforms = render::platforms_of(*intent);
    report.subject = fmt::format("{}, {}, {}", counted(intent->hosts.size(), "host"),
                                 counted(intent->switches.size(), "switch"),
                                 counted(intent->links.size(), "link"));
  }
  report.title = sources.fabric ? sources.fabric->design.name.value_or("RoCEv2 fabric")
                                : std::string("RoCEv2 fabric");
  if (!request.title.empty()) report.title = request.title;
  report.retests = retests_of(request, sources);
  add_provenance(input, request.tool, report);
  return {};
}

}  // namespace

Result<Reported> report(const ReportRequest& request) {
  auto sources = std::make_unique<Sources>();
  for (const std::string& file : request.files)
    WEIR_TRY_STATUS(or_bad_input(add_report_file(file, sources->input)));
  if (request.source) WEIR_TRY_STATUS(add_lab(request, *sources));
  WEIR_TRY_STATUS(add_design(request, *sources));
  sources->input.evidence = diagnose::join_windows(std::move(sources->input.evidence));
  WEIR_TRY_STATUS(or_bad_input(fill(request, *sources)));
  Reported out;
  out.report = std::move(sources->input.report);
  if (!request.baseline.empty()) {
    WEIR_TRY(part, baseline_part({.directory = request.baselines}, request.baseline));
    out.report.baseline = std::move(part);
  }
  if (sources->fabric) {
    // The report points into the intent: both stay together.
    out.intent = std::make_unique<design::Intent>(std::move(sources->fabric->intent));
    out.report.intent = out.intent.get();
  }
  return out;
}

}  // namespace weir::ops

#include "store/history.h"

#include <array>
#include <map>

#include <fmt/format.h>

#include "base/text.h"
#include "base/untrusted/printable.h"
#include "store/run_digest.h"

namespace weir::store {
namespace {

/// "Weir", so that another program's database is not taken for ours.
constexpr std::int64_t kApplication = 0x57656972;

/// What brings a file from version i to version i + 1.
constexpr std::array<std::string_view, History::kVersion> kSteps = {
    R"(
CREATE TABLE run (
  id INTEGER PRIMARY KEY,
  kind TEXT NOT NULL,
  started TEXT NOT NULL,
  ended TEXT NOT NULL,
  design TEXT NOT NULL,
  design_digest TEXT NOT NULL,
  tool_version TEXT NOT NULL,
  verdict TEXT NOT NULL,
  digest TEXT NOT NULL UNIQUE
) STRICT;
CREATE TABLE subject (
  id INTEGER PRIMARY KEY,
  host TEXT NOT NULL,
  rail INTEGER NOT NULL,
  device TEXT,
  firmware TEXT,
  driver TEXT,
  UNIQUE (host, rail)
) STRICT;
CREATE TABLE measure (
  run INTEGER NOT NULL REFERENCES run (id) ON DELETE CASCADE,
  stage INTEGER NOT NULL,
  subject INTEGER NOT NULL REFERENCES subject (id),
  peer INTEGER NOT NULL DEFAULT 0,
  metric TEXT NOT NULL,
  unit TEXT NOT NULL,
  value REAL NOT NULL,
  n INTEGER NOT NULL,
  p50 REAL NOT NULL,
  p95 REAL NOT NULL,
  p99 REAL NOT NULL,
  p999 REAL NOT NULL,
  PRIMARY KEY (run, stage, subject, peer, metric)
) STRICT, WITHOUT ROWID;
CREATE TABLE finding (
  run INTEGER NOT NULL REFERENCES run (id) ON DELETE CASCADE,
  number INTEGER NOT NULL,
  stage INTEGER NOT NULL,
  id TEXT NOT NULL,
  severity TEXT NOT NULL,
  place TEXT NOT NULL,
  verdict TEXT NOT NULL,
  opened TEXT NOT NULL,
  closed TEXT,
  PRIMARY KEY (run, number)
) STRICT, WITHOUT ROWID;
CREATE TABLE baseline (
  name TEXT PRIMARY KEY,
  run INTEGER NOT NULL REFERENCES run (id),
  digest TEXT NOT NULL,
  active INTEGER NOT NULL
) STRICT;
)",
    R"(
CREATE TABLE comparison (
  run INTEGER NOT NULL REFERENCES run (id) ON DELETE CASCADE,
  baseline TEXT NOT NULL,
  digest TEXT NOT NULL,
  outcome TEXT NOT NULL,
  PRIMARY KEY (run, baseline)
) STRICT, WITHOUT ROWID;
CREATE TABLE deviation (
  run INTEGER NOT NULL,
  baseline TEXT NOT NULL,
  stage INTEGER NOT NULL,
  metric TEXT NOT NULL,
  subject TEXT NOT NULL,
  quantile TEXT NOT NULL,
  was REAL NOT NULL,
  measured REAL NOT NULL,
  worse REAL NOT NULL,
  allowed REAL NOT NULL,
  regressed INTEGER NOT NULL,
  PRIMARY KEY (run, baseline, stage, metric, subject, quantile),
  FOREIGN KEY (run, baseline) REFERENCES comparison (run, baseline) ON DELETE CASCADE
) STRICT, WITHOUT ROWID;
)"};

/// Name and SQL by which a file knows each of its tables and indexes, by name.
using Schema = std::map<std::string, std::string>;

Result<Schema> schema_of(Database& database) {
  WEIR_TRY(rows, database.prepare("SELECT type || ' ' || name, sql FROM sqlite_schema"));
  Schema schema;
  while (true) {
    WEIR_TRY(has_row, rows.step());
    if (!has_row) return schema;
    schema.emplace(rows.text(0), rows.text(1));
  }
}

/// A trigger, a view, or a table that is not as this program makes it is another's work: the file
/// would decide what is done with what is written to it.
Status check_schema(Database& database, std::int64_t version) {
  WEIR_TRY(own, Database::open(":memory:", Access::kWrite));
  for (std::int64_t step = 0; step < version; ++step)
    WEIR_TRY_STATUS(own.execute(std::string(kSteps.at(static_cast<std::size_t>(step)))));
  WEIR_TRY(expected, schema_of(own));
  WEIR_TRY(found, schema_of(database));
  for (const auto& [name, sql] : found)
    if (const auto same = expected.find(name); same == expected.end() || same->second != sql)
      return Error{ErrorCode::kInvalid,
                   fmt::format("is not trusted: {} is not of weir's making, and nothing was "
                               "changed; use a history that weir wrote",
                               printable_line(name))};
  for (const auto& [name, sql] : expected)
    if (!found.contains(name))
      return Error{ErrorCode::kInvalid, fmt::format("is not whole: {} is missing", name)};
  return {};
}

/// REQUIRES: a transaction.
Status upgrade(Database& database, std::int64_t from) {
  for (std::int64_t step = from; step < History::kVersion; ++step)
    WEIR_TRY_STATUS(database.execute(std::string(kSteps.at(static_cast<std::size_t>(step)))));
  WEIR_TRY_STATUS(database.execute(fmt::format("PRAGMA application_id={}", kApplication)));
  return database.execute(fmt::format("PRAGMA user_version={}", History::kVersion));
}

/// Stages are numbers in the file; one that this program does not know is of no use to it.
std::optional<preflight::StageId> stage_of_number(std::int64_t number) {
  if (number < 0 || number >= static_cast<std::int64_t>(preflight::kStages)) return std::nullopt;
  return preflight::stages()[static_cast<std::size_t>(number)].id;
}

}  // namespace

Result<History> History::open(const std::string& path, Access access, bool migrates) {
  WEIR_TRY(database, Database::open(path, access));
  // Another process may be making the same file: one looks and makes, the other finds it made.
  auto transaction = Transaction::begin(database, access);
  if (!transaction) return transaction.error().within(path);
  WEIR_TRY(version, database.number_of("PRAGMA user_version"));
  WEIR_TRY(application, database.number_of("PRAGMA application_id"));
  WEIR_TRY(tables, database.number_of("SELECT count(*) FROM sqlite_schema"));
  const bool is_new = tables == 0 && version == 0;
  if (!is_new && (application != kApplication || version < 0))
    return Error{ErrorCode::kInvalid, fmt::format("{}: a database of another program", path)};
  if (version > kVersion)
    return Error{ErrorCode::kUnsupported,
                 fmt::format("{}: version {} of the history, and this weir knows {}: use the weir "
                             "that wrote it, or a later one",
                             path, version, kVersion)};
  if (const Status own = check_schema(database, version); !own) return own.error().within(path);
  if (version == kVersion) {
    WEIR_TRY_STATUS(transaction->commit());
    return History(std::move(database));
  }
  if (access == Access::kRead || (!is_new && !migrates))
    return Error{ErrorCode::kUnsupported,
                 fmt::format("{}: version {} of the history, and this weir writes {}: nothing was "
                             "changed; weir baseline list --migrate brings it up, keep a copy",
                             path, version, kVersion)};
  if (const Status done = upgrade(database, version); !done) return done.error().within(path);
  if (const Status done = transaction->commit(); !done) return done.error().within(path);
  return History(std::move(database));
}

Result<std::int64_t> History::subject(const std::string& text) {
  // "gpu11 rail 0"; the whole fabric is a host without a name.
  const std::size_t space = text.find(" rail ");
  const std::string host = text.substr(0, space);
  std::int64_t rail = -1;
  constexpr std::size_t kWord = 6;
  if (space != std::string::npos)
    if (const auto number = parse_u64(text.substr(space + kWord)))
      rail = static_cast<std::int64_t>(*number);
  WEIR_TRY(insert, database_.prepare("INSERT OR IGNORE INTO subject (host, rail) VALUES (?1, ?2)"));
  WEIR_TRY_STATUS(insert.with(std::string_view(host)).with(rail).run());
  WEIR_TRY(find, database_.prepare("SELECT id FROM subject WHERE host = ?1 AND rail = ?2"));
  WEIR_TRY(has_row, find.with(std::string_view(host)).with(rail).step());
  return has_row ? find.integer(0) : 0;
}

Status History::add_measures(std::int64_t run, const preflight::Report& report) {
  WEIR_TRY(insert,
           database_.prepare("INSERT OR REPLACE INTO measure (run, stage, subject, metric, unit, "
                             "value, n, p50, p95, p99, p999) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, "
                             "?8, ?9, ?10, ?11)"));
  for (const preflight::StageResult& stage : report.stages)
    for (const preflight::Measure& measure : stage.measures) {
      const preflight::Distribution& values = measure.values;
      if (values.count == 0) continue;
      WEIR_TRY(subject_id, subject(measure.subject));
      WEIR_TRY_STATUS(
          insert.with(run)
              .with(static_cast<std::int64_t>(preflight::number_of(stage.id)))
              .with(subject_id)
              .with(std::string_view(measure.metric))
              .with(std::string_view(measure.unit))
              .with(measure.better == preflight::Better::kMore ? values.least : values.most)
              .with(static_cast<std::int64_t>(values.count))
              .with(values.p50)
              .with(values.p95)
              .with(values.p99)
              .with(values.p999)
              .run());
    }
  return {};
}

Status History::add_findings(std::int64_t run, const preflight::Report& report) {
  WEIR_TRY(insert, database_.prepare(
                       "INSERT INTO finding (run, number, stage, id, severity, place, verdict, "
                       "opened) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8)"));
  std::int64_t number = 0;
  for (const preflight::StageResult& stage : report.stages)
    for (const finding::Finding& finding : stage.judgement.findings)
      WEIR_TRY_STATUS(insert.with(run)
                          .with(number++)
                          .with(static_cast<std::int64_t>(preflight::number_of(stage.id)))
                          .with(std::string_view(finding.id))
                          .with(finding::to_text(finding.severity))
                          .with(std::string_view(finding::to_text(finding.where)))
                          .with(std::string_view(finding.verdict))
                          .with(std::string_view(report.started))
                          .run());
  return {};
}

Result<std::int64_t> History::add_run(const preflight::Report& run) {
  const std::string digest = run_digest(run);
  WEIR_TRY(transaction, Transaction::begin(database_, Access::kWrite));
  WEIR_TRY(find, database_.prepare("SELECT id FROM run WHERE digest = ?1"));
  WEIR_TRY(is_known, find.with(std::string_view(digest)).step());
  if (is_known) return find.integer(0);
  WEIR_TRY(insert,
           database_.prepare("INSERT INTO run (kind, started, ended, design, design_digest, "
                             "tool_version, verdict, digest) VALUES ('preflight', ?1, ?2, ?3, ?4, "
                             "?5, ?6, ?7)"));
  WEIR_TRY_STATUS(insert.with(std::string_view(run.started))
                      .with(std::string_view(run.ended))
                      .with(std::string_view(run.identity.design))
                      .with(std::string_view(run.identity.digest))
                      .with(std::string_view(run.tool))
                      .with(preflight::to_text(run.verdict()))
                      .with(std::string_view(digest))
                      .run());
  const std::int64_t id = database_.last_row();
  WEIR_TRY_STATUS(add_measures(id, run));
  WEIR_TRY_STATUS(add_findings(id, run));
  WEIR_TRY_STATUS(transaction.commit());
  return id;
}

Status History::set_baseline(const preflight::Baseline& baseline, std::int64_t run) {
  WEIR_TRY(insert, database_.prepare("INSERT OR REPLACE INTO baseline (name, run, digest, active) "
                                     "VALUES (?1, ?2, ?3, 1)"));
  return insert.with(std::string_view(baseline.name))
      .with(run)
      .with(std::string_view(preflight::digest_of(baseline)))
      .run();
}

Status History::drop_baseline(const std::string& name) {
  WEIR_TRY(update, database_.prepare("UPDATE baseline SET active = 0 WHERE name = ?1"));
  return update.with(std::string_view(name)).run();
}

Status History::add_comparison(std::int64_t run, const preflight::Comparison& comparison) {
  WEIR_TRY(transaction, Transaction::begin(database_, Access::kWrite));
  WEIR_TRY(gone, database_.prepare("DELETE FROM comparison WHERE run = ?1 AND baseline = ?2"));
  WEIR_TRY_STATUS(gone.with(run).with(std::string_view(comparison.baseline)).run());
  WEIR_TRY(whole, database_.prepare("INSERT INTO comparison (run, baseline, digest, outcome) "
                                    "VALUES (?1, ?2, ?3, ?4)"));
  WEIR_TRY_STATUS(whole.with(run)
                      .with(std::string_view(comparison.baseline))
                      .with(std::string_view(comparison.digest))
                      .with(preflight::to_text(comparison.outcome()))
                      .run());
  WEIR_TRY(insert,
           database_.prepare("INSERT INTO deviation (run, baseline, stage, metric, subject, "
                             "quantile, was, measured, worse, allowed, regressed) VALUES (?1, ?2, "
                             "?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11)"));
  for (const preflight::ComparedValue& value : comparison.values)
    WEIR_TRY_STATUS(insert.with(run)
                        .with(std::string_view(comparison.baseline))
                        .with(static_cast<std::int64_t>(preflight::number_of(value.stage)))
                        .with(std::string_view(value.metric))
                        .with(std::string_view(value.subject))
                        .with(std::string_view(value.quantile))
                        .with(value.was)
                        .with(value.is)
                        .with(value.worse)
                        .with(value.limit)
                        .with(static_cast<std::int64_t>(preflight::is_regression(value)))
                        .run());
  return transaction.commit();
}

Result<std::vector<RunRow>> History::runs() {
  WEIR_TRY(find, database_.prepare("SELECT id, kind, started, ended, design, design_digest, "
                                   "tool_version, verdict FROM run ORDER BY started, id"));
  std::vector<RunRow> out;
  while (true) {
    WEIR_TRY(has_row, find.step());
    if (!has_row) return out;
    out.push_back({find.integer(0), find.text(1), find.text(2), find.text(3), find.text(4),
                   find.text(5), find.text(6), find.text(7)});
  }
}

Result<std::vector<Trend>> History::trends(const std::string& design_digest) {
  WEIR_TRY(find,
           database_.prepare("SELECT m.stage, m.metric, m.unit, r.id, r.started, m.p50, m.p99 FROM "
                             "measure m JOIN run r ON r.id = m.run JOIN subject s ON s.id = "
                             "m.subject WHERE s.host = '' AND r.design_digest = ?1 ORDER BY "
                             "m.stage, m.metric, r.started, r.id"));
  find.with(std::string_view(design_digest));
  std::vector<Trend> out;
  while (true) {
    WEIR_TRY(has_row, find.step());
    if (!has_row) return out;
    const auto stage = stage_of_number(find.integer(0));
    if (!stage) continue;
    const std::string metric = find.text(1);
    if (out.empty() || out.back().stage != *stage || out.back().metric != metric)
      out.push_back({*stage, metric, find.text(2), {}});
    out.back().points.push_back({find.integer(3), find.text(4), find.number(5), find.number(6)});
  }
}

Result<std::vector<DeviationRow>> History::deviations(std::int64_t run,
                                                      const std::string& baseline) {
  WEIR_TRY(find, database_.prepare("SELECT stage, metric, subject, quantile, was, measured, worse, "
                                   "allowed, regressed FROM deviation WHERE run = ?1 AND baseline "
                                   "= ?2"));
  find.with(run).with(std::string_view(baseline));
  std::vector<DeviationRow> out;
  while (true) {
    WEIR_TRY(has_row, find.step());
    if (!has_row) return out;
    const auto stage = stage_of_number(find.integer(0));
    if (!stage) continue;
    out.push_back({*stage, find.text(1), find.text(2), find.text(3), find.number(4), find.number(5),
                   find.number(6), find.number(7), find.integer(8) != 0});
  }
}

Result<std::vector<LastComparison>> History::last_comparisons() {
  WEIR_TRY(find, database_.prepare(
                     "SELECT c.baseline, r.design, c.outcome, r.started, c.run FROM comparison c "
                     "JOIN run r ON r.id = c.run JOIN baseline b ON b.name = c.baseline AND "
                     "b.active = 1 WHERE c.run = (SELECT max(run) FROM comparison WHERE baseline = "
                     "c.baseline) ORDER BY c.baseline"));
  std::vector<LastComparison> out;
  while (true) {
    WEIR_TRY(has_row, find.step());
    if (!has_row) return out;
    LastComparison last{find.text(0), find.text(1), find.text(2), find.text(3), {}};
    WEIR_TRY(rows, deviations(find.integer(4), last.baseline));
    last.rows = std::move(rows);
    out.push_back(std::move(last));
  }
}

}  // namespace weir::store

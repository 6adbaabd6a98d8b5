#include "serve/http/exporter.h"

#include <chrono>

#include "ops/baseline/baseline.h"

namespace weir::serve {
namespace {

using Clock = std::chrono::steady_clock;

double seconds_since(Clock::time_point begin) {
  return std::chrono::duration<double>(Clock::now() - begin).count();
}

double unix_now() {
  return std::chrono::duration<double>(std::chrono::system_clock::now().time_since_epoch()).count();
}

}  // namespace

std::vector<prometheus::MetricFamily> Exporter::Collect() const {
  const std::lock_guard lock(scrape_mutex_);
  const Clock::time_point begin = Clock::now();
  const Seen seen = scraping_.look();
  return families_of(seen, seconds_since(begin));
}

std::vector<prometheus::MetricFamily> Exporter::collect_judged() {
  const Clock::time_point begin = Clock::now();
  Seen seen = scraping_.look();
  const double looked = seconds_since(begin);
  if (seen) keep(judging_.judge(*seen), seconds_since(begin) - looked);
  return families_of(seen, looked);
}

std::vector<prometheus::MetricFamily> Exporter::families_of(const Seen& seen,
                                                            double seconds) const {
  Scrape scrape;
  scrape.version = version_;
  scrape.fabric = scraping_.fabric();
  scrape.profile = profile_;
  scrape.speaks_for_many = scraping_.speaks_for_many();
  if (seen) scrape.seen = &*seen;
  const bool sees_some = seen && !seen->hosts.empty();
  const bool sees_all = sees_some && seen->unseen.empty();
  if (const ops::FleetRounds* rounds = scraping_.rounds())
    scrape.fleet = {rounds->hosts(), rounds->count(), rounds->last_seconds()};
  // Hosts of a fleet come and go: each has a series that says so.
  scrape.collectors.push_back({"hosts", scrape.fleet ? sees_some : sees_all, seconds});
  std::shared_ptr<const Judged> judged;
  {
    const std::lock_guard judged_lock(judged_mutex_);
    judged = judged_;
    scrape.collectors.push_back(judge_collector_);
  }
  scrape.judged = judged.get();
  const Clock::time_point asked = Clock::now();
  std::optional<weir::Result<std::vector<store::LastComparison>>> compared;
  if (!baselines_.empty()) {
    compared = ops::last_comparisons({.directory = baselines_});
    scrape.collectors.push_back({"baselines", compared->has_value(), seconds_since(asked)});
    if (*compared) scrape.baselines = &**compared;
  }
  return families(scrape, widened_);
}

std::shared_ptr<const Judged> Exporter::judged() const {
  const std::lock_guard lock(judged_mutex_);
  return judged_;
}

void Exporter::judge() {
  const Clock::time_point begin = Clock::now();
  ops::Result<finding::Judgement> judgement = judging_.judge();
  keep(std::move(judgement), seconds_since(begin));
}

void Exporter::keep(ops::Result<finding::Judgement> judgement, double seconds) {
  const Collector collector{"findings", judgement.has_value(), seconds};
  std::shared_ptr<const Judged> judged;
  if (judgement) judged = std::make_shared<Judged>(Judged{std::move(*judgement), unix_now()});
  const std::lock_guard lock(judged_mutex_);
  judge_collector_ = collector;
  // The last one stays where this one failed: its time says how old it is.
  if (judged) judged_ = std::move(judged);
}

}  // namespace weir::serve

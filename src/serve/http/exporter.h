#pragma once
// What /metrics answers: looks when it is asked, judges at a pace of its own.
//
// A scrape reads settings and counters at that moment; its findings are those of the last
// judgement, with its time. One scrape at a time: a second one waits for the first.
#include <memory>
#include <mutex>
#include <optional>
#include <string>

#include <prometheus/collectable.h>

#include "ops/watch/watch.h"
#include "serve/metrics/families.h"

namespace weir::serve {

class Exporter final : public prometheus::Collectable {
 public:
  /// `baselines` is the directory of `weir baseline`; empty: none.
  Exporter(ops::Watch watch, Profile profile, std::string version, std::string baselines = {})
      : scraping_(watch),
        judging_(std::move(watch)),
        profile_(profile),
        version_(std::move(version)),
        baselines_(std::move(baselines)) {}

  /// Everything now. From any thread.
  [[nodiscard]] std::vector<prometheus::MetricFamily> Collect() const override;

  /// The same, with a judgement of what is there: for a process that looks once.
  [[nodiscard]] std::vector<prometheus::MetricFamily> collect_judged();

  /// Judges, and keeps the judgement for the scrapes to come. From one thread.
  void judge();
  /// The last judgement; nullptr: none yet.
  [[nodiscard]] std::shared_ptr<const Judged> judged() const;

 private:
  using Seen = ops::Result<ops::Observation>;
  [[nodiscard]] std::vector<prometheus::MetricFamily> families_of(const Seen& seen,
                                                                  double seconds) const;
  void keep(ops::Result<finding::Judgement> judgement, double seconds);

  ops::Watch scraping_;
  ops::Watch judging_;
  Profile profile_;
  std::string version_;
  std::string baselines_;
  mutable std::mutex scrape_mutex_;
  mutable Widened widened_;
  mutable std::mutex judged_mutex_;
  std::shared_ptr<const Judged> judged_;
  Collector judge_collector_{"findings", false, 0};
};

}  // namespace weir::serve

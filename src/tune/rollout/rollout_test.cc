#include "tune/rollout/rollout.h"

#include <algorithm>
#include <functional>

#include "base/testing.h"
#include "base/text.h"
#include "design/file/load.h"
#include "design/file/templates.h"
#include "platforms/common/platform.h"

namespace weir::tune {
namespace {

struct System {
  std::string_view name;
  std::string_view model;
  std::string_view asic;
};
constexpr System kSystems[] = {{"cumulus", "sn4600c", "spectrum3"},
                               {"sonic", "sn4600c", "spectrum3"},
                               {"eos", "7060dx4-32", "tomahawk3"},
                               {"nxos", "n9k-c9364c-gx", "cloudscale"},
                               {"junos", "qfx5220-32cd", "tomahawk3"}};

/// The template pod16 with switches of that system.
std::string pod_text(const System& system) {
  std::string out;
  for (const std::string_view line : split(design::find_template("pod16")->text, '\n')) {
    const std::string_view word = trim(line);
    if (word.starts_with("ports:")) continue;
    if (word.starts_with("system:")) {
      out += "    system: " + std::string(system.name);
    } else if (word.starts_with("model:")) {
      out += "    model: " + std::string(system.model);
    } else if (word.starts_with("asic:")) {
      out += "    asic: " + std::string(system.asic);
    } else {
      out += line;
    }
    out += '\n';
  }
  return out;
}

design::Intent intent_of(const std::string& text) {
  const design::Loaded loaded = design::load_text(text, "pod16.yaml");
  EXPECT_TRUE(loaded.is_good()) << to_text(loaded);
  design::Derived derived = design::derive(loaded.design);
  EXPECT_TRUE(derived.errors.empty());
  return std::move(derived.intent);
}

Bought bought(std::string knob, std::string from, std::string to, double mean) {
  Bought out;
  out.knob = std::move(knob);
  out.from = std::move(from);
  out.to = std::move(to);
  out.objective = {mean, mean - 0.01, mean + 0.01, 16, 0.01, 0.01};
  return out;
}

TuneResult tuned(std::vector<Bought> rows) {
  TuneResult out;
  out.design = "pod16.yaml";
  out.verdict = Verdict::kTuned;
  out.bought = std::move(rows);
  return out;
}

std::vector<std::string> knobs_in_order(const RolloutPlan& plan) {
  std::vector<std::string> out;
  for (const RolloutStep& step : plan.steps)
    for (const RolloutPart& part : step.parts)
      out.push_back(part.change.knob);
  return out;
}

RolloutPlan planned(std::vector<Bought> rows) {
  auto plan = plan_rollout(tuned(std::move(rows)), intent_of(pod_text(kSystems[0])));
  EXPECT_TRUE(plan) << plan.error().what;
  return plan ? std::move(plan).value() : RolloutPlan();
}

TEST(Rollout, NicsFirstThenThresholdsThenBuffers) {
  const RolloutPlan plan = planned({bought("buffers.alpha", "1", "1/4", -0.2),
                                    bought("wred.probability", "10%", "5%", -0.1),
                                    bought("dcqcn.rpg_ai_rate", "5Mbps", "50Mbps", -0.01),
                                    bought("dcqcn.rpg_time_reset", "300us", "75us", -0.1)});
  EXPECT_EQ(knobs_in_order(plan),
            (std::vector<std::string>{"dcqcn.rpg_time_reset", "dcqcn.rpg_ai_rate",
                                      "wred.probability", "buffers.alpha"}));
  EXPECT_EQ(plan.steps[1].parts[0].settings,
            (std::vector<std::string>{"dcqcn.rpg_time_reset=75us", "dcqcn.rpg_ai_rate=50Mbps"}));
  EXPECT_EQ(plan.steps[0].name, "01-dcqcn.rpg_time_reset");
  EXPECT_EQ(plan.criteria.size(), criteria({}).size());
}

TEST(Rollout, TheLowerThresholdIsNeverAboveTheUpper) {
  struct Case {
    std::string_view low_from, low_to, high_from, high_to, first;
  };
  for (const Case& c : {Case{"25KB", "400KB", "375KB", "1.5MB", "wred.max"},
                        Case{"400KB", "25KB", "1.5MB", "375KB", "wred.min"},
                        Case{"100KB", "50KB", "200KB", "400KB", "wred.max"},
                        Case{"50KB", "100KB", "400KB", "200KB", "wred.min"}}) {
    const RolloutPlan plan =
        planned({bought("wred.min", std::string(c.low_from), std::string(c.low_to), -0.3),
                 bought("wred.max", std::string(c.high_from), std::string(c.high_to), -0.1)});
    ASSERT_EQ(plan.steps.size(), 1U);
    ASSERT_EQ(plan.steps[0].parts.size(), 2U);
    EXPECT_EQ(plan.steps[0].parts[0].change.knob, c.first);
    EXPECT_FALSE(plan.steps[0].why_order.empty());
  }
  // One of them alone is a step like any other.
  EXPECT_EQ(planned({bought("wred.min", "25KB", "50KB", -0.3)}).steps[0].parts.size(), 1U);
}

TEST(Rollout, NothingToRollOut) {
  TuneResult none = tuned({});
  none.verdict = Verdict::kNothingToTune;
  none.reason = "No knob moves anything.";
  const auto plan = plan_rollout(none, intent_of(pod_text(kSystems[0])));
  ASSERT_FALSE(plan);
  EXPECT_NE(plan.error().what.find("nothing to tune"), std::string::npos) << plan.error().what;
}

TEST(Rollout, ForecastsSayWhatTheyStandFor) {
  TuneResult result = tuned({bought("dcqcn.rpg_time_reset", "300us", "75us", -0.1),
                             bought("dcqcn.rpg_ai_rate", "5Mbps", "50Mbps", -0.05),
                             bought("wred.probability", "10%", "5%", -0.02)});
  TriedMove tried;
  tried.knob = "dcqcn.rpg_ai_rate";
  tried.from = "5Mbps";
  tried.to = "50Mbps";
  tried.objective.mean = -0.07;
  result.tried = {tried};
  const auto plan = plan_rollout(result, intent_of(pod_text(kSystems[0])));
  ASSERT_TRUE(plan);
  EXPECT_FALSE(plan->steps[0].forecast->is_exact);
  EXPECT_EQ(plan->steps[1].forecast->objective.mean, -0.07);
  EXPECT_FALSE(plan->steps[1].forecast->is_exact);
  EXPECT_TRUE(plan->steps[2].forecast->is_exact);
  result.gain.mean = -0.3;
  result.bought.resize(1);
  const auto single = plan_rollout(result, intent_of(pod_text(kSystems[0])));
  EXPECT_EQ(single->steps[0].forecast->objective.mean, -0.3);
}

TEST(Rollout, AFewHostsBeforeAllAndBothEndsOfThem) {
  const design::Intent intent = intent_of(pod_text(kSystems[0]));
  const auto hosts = canary_stages(intent, RolloutPlace::kNic);
  ASSERT_EQ(hosts.size(), 3U);
  EXPECT_EQ(hosts[0].hosts, (std::vector<std::string>{"gpu01", "gpu02"}));
  EXPECT_EQ(hosts[1].hosts.size(), 8U);
  EXPECT_EQ(hosts[2].hosts.size(), 16U);
  const auto switches = canary_stages(intent, RolloutPlace::kMarking);
  ASSERT_EQ(switches.size(), 2U);
  EXPECT_EQ(switches[0].switches, (std::vector<std::string>{"leaf1"}));
  EXPECT_EQ(switches[0].hosts.size(), 8U);
  EXPECT_EQ(switches[1].switches.size(), 3U);
}

TEST(Rollout, EverySystemIsToldWhatDiffersAndTheWayBack) {
  for (const System& system : kSystems) {
    SCOPED_TRACE(std::string(system.name));
    const std::string text = pod_text(system);
    const design::Intent before = intent_of(text);
    const design::Intent after = intent_of(text + "\nwred:\n  min: 400KB\n  max: 3MB\n");
    const auto change = switch_change({before, after}, 0, RolloutPlace::kMarking);
    ASSERT_TRUE(change) << change.error().what;
    EXPECT_TRUE(change->is_change()) << change->why_none;
    EXPECT_EQ(change->ports.size(), 16U);
    ASSERT_FALSE(change->commands.empty());
    ASSERT_FALSE(change->undo.empty());
    ASSERT_NE(change->live, nullptr);
    // The rendered configuration with the new values in place of the old is the new one.
    const auto& platform = platforms::platform_of(after.switches[0].system);
    const std::string wanted = platform.render(after, after.switches[0]).files.front().text;
    std::string all;
    for (const std::string& line : change->commands)
      all += line + "\n";
    for (const ChangeFile& file : change->files)
      all += file.text;
    EXPECT_LT(all.size(), wanted.size() / 3) << all;
    if (system.name != "junos") {  // in percent there
      EXPECT_NE(all.find("400000"), std::string::npos) << all;
      EXPECT_NE(all.find("3000000"), std::string::npos) << all;
    }
    // The other way round is the undo.
    const auto back = switch_change({after, before}, 0, RolloutPlace::kMarking);
    ASSERT_TRUE(back);
    if (change->files.empty()) {
      EXPECT_EQ(back->commands, change->undo);
    } else {
      EXPECT_EQ(back->files[0].text, change->files[1].text);
    }
    const auto none = switch_change({before, before}, 0, RolloutPlace::kMarking);
    ASSERT_TRUE(none);
    EXPECT_FALSE(none->is_change());
    EXPECT_TRUE(none->commands.empty());
  }
}

TEST(Rollout, AChangeThatASystemRoundsAwayIsSaid) {
  const std::string text = pod_text(kSystems[4]);  // Junos counts in whole percents
  const auto change = switch_change({intent_of(text), intent_of(text + "\nwred:\n  min: 30KB\n")},
                                    0, RolloutPlace::kMarking);
  ASSERT_TRUE(change);
  EXPECT_FALSE(change->is_change());
  EXPECT_NE(change->why_none.find("30KB"), std::string::npos) << change->why_none;
}

TEST(Rollout, LinesComeWithTheBlocksTheyAreIn) {
  using vocab::SwitchSystem;
  EXPECT_EQ(changed_lines(SwitchSystem::kNxos, "a\n  b\n    x 1\n  c\n    x 1\n",
                          "a\n  b\n    x 1\n  c\n    x 2\n"),
            (std::vector<std::string>{"configure terminal", "a", "  c", "    x 2", "end"}));
  EXPECT_EQ(
      changed_lines(SwitchSystem::kEos, "p X\n   t 1\np X apply\n", "p X\n   t 2\np X apply\n"),
      (std::vector<std::string>{"configure session weir", "p X", "   t 2", "p X apply",
                                "show session-config diffs", "commit"}));
  EXPECT_EQ(changed_lines(SwitchSystem::kCumulus, "nv set a 1\nnv set b c\n", "nv set a 2\n"),
            (std::vector<std::string>{"nv set a 2", "nv unset b", "nv config apply"}));
  // A list in Junos grows by a set: it is deleted first.
  EXPECT_EQ(
      changed_lines(SwitchSystem::kJunos, "set p R interpolate f 1\nset p R interpolate f 2\n",
                    "set p R interpolate f 1\nset p R interpolate f 3\n"),
      (std::vector<std::string>{"configure", "delete p R interpolate", "set p R interpolate f 1",
                                "set p R interpolate f 3", "commit check", "commit confirmed 10",
                                "commit"}));
  EXPECT_TRUE(changed_lines(SwitchSystem::kNxos, "! one\na\n", "! two\na\n").empty());
  EXPECT_TRUE(json_patch("{\"a\": 1}", "{\"a\": 1}")->empty());
  EXPECT_NE(json_patch("{\"a\": 1}", "{\"a\": 2}")->find("replace"), std::string::npos);
}

TEST(Rollout, HostsAreToldByTheirDriver) {
  std::string text = pod_text(kSystems[0]);
  const std::string more = "\ndcqcn:\n  rpg_time_reset: 75us\n";
  const NodeChange ofed =
      host_change({intent_of(text), intent_of(text + more)}, 0, "dcqcn.rpg_time_reset");
  EXPECT_EQ(ofed.live->id, "mlx5-sysfs");
  ASSERT_EQ(ofed.commands.size(), 1U);
  EXPECT_NE(ofed.commands[0].find("echo 75 > "), std::string::npos);
  EXPECT_NE(ofed.undo[0].find("echo 300 > "), std::string::npos);
  text.replace(text.find("stack: ofed"), 11, "stack: inbox");
  const NodeChange inbox =
      host_change({intent_of(text), intent_of(text + more)}, 0, "dcqcn.rpg_time_reset");
  EXPECT_EQ(inbox.live->id, "mlx5-debugfs");
  EXPECT_NE(inbox.commands[0].find("cc_params"), std::string::npos);
}

TEST(LiveTable, UnverifiedRowsAndThoseThatStopTrafficNeedAWindow) {
  for (const LiveRow& row : live_rows()) {
    EXPECT_FALSE(row.source.empty()) << row.id;
    EXPECT_EQ(row.needs_window(), row.effect != LiveEffect::kLive || !row.is_verified) << row.id;
  }
  EXPECT_TRUE(live_row(vocab::SwitchSystem::kJunos, RolloutPlace::kBuffers).needs_window());
  EXPECT_FALSE(live_row(vocab::SwitchSystem::kSonic, RolloutPlace::kMarking).needs_window());
  EXPECT_TRUE(live_row(vocab::SwitchSystem::kEos, RolloutPlace::kMarking).needs_window());
}

}  // namespace
}  // namespace weir::tune

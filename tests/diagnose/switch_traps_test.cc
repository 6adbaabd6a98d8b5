// What YANG accepts and loses packets all the same, and the traps of SONiC and Junos: each in a
// configuration that shows it, against a design whose own rendering is clean.
#include <fmt/format.h>

#include "base/testing.h"
#include "design/file/load.h"
#include "diagnose/validate/validate.h"
#include "evidence/as_set.h"
#include "finding/shown.h"
#include "platforms/common/platform.h"

namespace weir::diagnose {
namespace {

using design::SwitchSystem;

struct Fabric {
  design::Intent intent;
  const platforms::Platform* platform = nullptr;
  std::string clean;
};

Fabric fabric(SwitchSystem system) {
  const std::string text = fmt::format(
      "weir: 1\nname: traps\nhosts:\n  gpu: {{ names: 'gpu[1-2]', nic: connectx7 }}\n"
      "switches:\n  leaf: {{ names: leaf1, system: {}, asic: tomahawk5, tier: 1 }}\n"
      "links:\n  - {{ from: gpu, to: leaf, wiring: block, speed: 400G, cable: fibre, length: 30m "
      "}}\nwred: {{ min: 100KB, max: 1500KB, probability: 10%, at_speed: 400G }}\n"
      "watchdog: {{ detect: 200ms, restore: 400ms }}\n{}",
      system == SwitchSystem::kSonic ? "sonic" : "junos",
      // In bytes, so that the file has profiles to get wrong.
      system == SwitchSystem::kSonic ? "buffers: { headroom: 400KB }\n" : "");
  const design::Loaded loaded = design::load_text(text, "traps");
  EXPECT_TRUE(loaded.is_good()) << design::to_text(loaded);
  Fabric out;
  out.intent = design::derive(loaded.design).intent;
  out.platform = &platforms::platform_of(system);
  out.clean = out.platform->render(out.intent, out.intent.switches.front()).files.front().text;
  return out;
}

struct Audit {
  finding::Judgement judgement;
  std::vector<platforms::Unread> unread;

  [[nodiscard]] std::string text() const {
    std::string out;
    for (const finding::Finding& finding : judgement.findings)
      out += fmt::format("{} {}\n", finding.id, finding.verdict);
    for (const finding::Unknown& unknown : judgement.unknown)
      out += fmt::format("unknown {} {}\n", unknown.check, unknown.reason);
    for (const platforms::Unread& item : unread)
      out += fmt::format("line {} {}\n", item.line, item.why);
    return out;
  }
};

Audit audit(const Fabric& fabric, const std::string& text) {
  const auto parsed = fabric.platform->parse(text, "leaf1.cfg");
  EXPECT_TRUE(parsed) << parsed.error().what;
  if (!parsed) return {};
  const design::SwitchIntent& leaf = fabric.intent.switches.front();
  evidence::Evidence evidence;
  evidence.switches.push_back(parsed->state);
  design::Intent held = fabric.intent;
  held.switches.front() = evidence::as_set(leaf, fabric.platform->lower(fabric.intent, leaf).state);
  return {diagnose::validate({&evidence, 1}, held), parsed->unread};
}

/// Every occurrence; there must be one.
std::string with(std::string text, std::string_view from, std::string_view to) {
  std::size_t count = 0;
  for (auto at = text.find(from); at != std::string::npos; at = text.find(from, at + to.size())) {
    text.replace(at, from.size(), to);
    ++count;
  }
  EXPECT_GT(count, 0U) << from;
  return text;
}

/// Lines with `what` left out.
std::string without(const std::string& text, std::string_view what) {
  std::string out;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t end = std::min(text.find('\n', at), text.size() - 1) + 1;
    const std::string_view line = std::string_view(text).substr(at, end - at);
    if (line.find(what) == std::string_view::npos) out += line;
    at = end;
  }
  EXPECT_NE(out, text) << what;
  return out;
}

struct Trap {
  std::string_view name;
  std::string_view from;
  std::string_view to;
  std::string_view id;
  std::string_view says;
};

void expect_traps(SwitchSystem system, const std::vector<Trap>& traps) {
  const Fabric item = fabric(system);
  ASSERT_EQ(audit(item, item.clean).text(), "") << item.clean;
  for (const Trap& trap : traps) {
    SCOPED_TRACE(trap.name);
    const std::string text =
        trap.to == "-" ? without(item.clean, trap.from) : with(item.clean, trap.from, trap.to);
    const Audit audited = audit(item, text);
    const std::string said = audited.text();
    EXPECT_TRUE(finding::is_raised(audited.judgement.findings, trap.id)) << said;
    EXPECT_NE(said.find(trap.says), std::string::npos) << said;
    EXPECT_FALSE(finding::is_raised(audit(item, item.clean).judgement.findings, trap.id));
  }
}

TEST(SwitchTraps, TheFiveMistakesThatYangAcceptsAreFound) {
  COVERS("C7", "F1");
  expect_traps(
      SwitchSystem::kSonic,
      {{"queue 99", "\"Ethernet0|3\": {\n            \"scheduler\"",
        "\"Ethernet0|99\": {\n            \"scheduler\"", "ecn.off_on_lossless",
        "expected PORT|N with a queue N from 0 to 7, found 'Ethernet0|99'"},
       {"PFC 4, lossless group 3", "\"pfc_enable\": \"3\"", "\"pfc_enable\": \"4\"",
        "pfc.wrong_priority", "PFC: expected priority 3, found priority 4"},
       {"DSCP 26 in class 0", "\"26\": \"3\"", "\"26\": \"0\"", "dscp.unmapped_hop",
        "DSCP 26: expected class 3, found class 0"},
       {"groups that overlap", "\"BUFFER_PG\": {",
        "\"BUFFER_PG\": {\n\"Ethernet0|3-4\": {\"profile\": \"pg_lossless_400000_40m_profile\"},",
        "config.differs",
        "priority group 3: expected one buffer profile, found two overlapping rows"}});
}

TEST(SwitchTraps, HeadroomOfAFewBytesIsFound) {
  COVERS("C7", "F1");
  const Fabric item = fabric(SwitchSystem::kSonic);
  const std::string key = "\"pg_lossless_400000_40m_profile\": {";
  const std::size_t profile = item.clean.find(key);
  ASSERT_NE(profile, std::string::npos);
  const std::size_t xoff = item.clean.find("\"xoff\": \"", profile) + 9;
  std::string text = item.clean;
  text.replace(xoff, text.find('"', xoff) - xoff, "2048");
  const std::string said = audit(item, text).text();
  EXPECT_NE(said.find("headroom.too_small"), std::string::npos) << said;
  EXPECT_NE(said.find("found 2048B"), std::string::npos) << said;
}

TEST(SwitchTraps, ThoseOfSonicAreFound) {
  COVERS("C7", "F1", "A2");
  expect_traps(
      SwitchSystem::kSonic,
      {{"the stock map", "\"26\": \"3\"", "\"26\": \"1\"", "dscp.unmapped_hop",
        "DSCP 26: expected class 3, found class 1"},
       {"PFC on 3 and 4, as shipped", "\"pfc_enable\": \"3\"", "\"pfc_enable\": \"3,4\"",
        "pfc.multiple_priorities", "found priority 3,4"},
       {"marking as shipped", "\"green_min_threshold\": \"100000\"",
        "\"green_min_threshold\": \"1048576\"", "ecn.thresholds_too_high",
        "ECN min threshold: expected 100KB, found 1MiB"},
       {"CNPs in the lossless class", "\"48\": \"6\"", "\"48\": \"3\"", "cnp.lossless",
        "DSCP 48 (CNP)"},
       {"ECN without WRED", "\"wred_green_enable\": \"true\"", "\"wred_green_enable\": \"false\"",
        "ecn.off_on_lossless", "ECN: expected on, found off"},
       {"WRED without ECN", "\"ecn\": \"ecn_all\"", "\"ecn\": \"ecn_none\"", "ecn.off_on_lossless",
        "found WRED without ECN, which drops"},
       {"PFC that the watchdog does not watch", "\"pfcwd_sw_enable\": \"3\"",
        "\"pfcwd_sw_enable\": \"4\"", "watchdog.off", "PFC watchdog is off"},
       {"no watchdog", "\"PFC_WD\"", "\"PFC_WD_OF_LAST_YEAR\"", "watchdog.off",
        "PFC watchdog is off"}});
}

TEST(SwitchTraps, ASonicCableLengthWithoutALookupRowIsFound) {
  COVERS("C7", "F1", "A2");
  const Fabric item = fabric(SwitchSystem::kSonic);
  // Without rows of their own, lossless groups come from the box's lookup table.
  std::string text = item.clean;
  for (const char* const port : {"Ethernet0", "Ethernet8"})
    text = with(text, fmt::format("\"{}|3\": {{\n            \"profile\"", port),
                fmt::format("\"{}|7\": {{\n            \"profile\"", port));
  const std::string known_row = audit(item, text).text();
  EXPECT_EQ(known_row.find("pg_profile_lookup.ini"), std::string::npos) << known_row;
  const std::string said =
      audit(item, with(text, "\"Ethernet0\": \"40m\"", "\"Ethernet0\": \"33m\"")).text();
  EXPECT_NE(said.find("headroom.too_small"), std::string::npos) << said;
  EXPECT_NE(said.find("found 33m: the port gets no lossless group"), std::string::npos) << said;
  const std::string none =
      audit(item, with(text, "\"Ethernet0\": \"40m\"", "\"Ethernet0\": \"0m\"")).text();
  EXPECT_NE(none.find("found 0B"), std::string::npos) << none;
}

TEST(SwitchTraps, ThoseOfJunosAreFound) {
  COVERS("C7", "F1", "A2");
  expect_traps(
      SwitchSystem::kJunos,
      {{"partitions of 99 %", "ingress buffer-partition lossy percent 10",
        "ingress buffer-partition lossy percent 9", "buffer.pools_over_100",
        "ingress partitions: expected a sum of 100%, found 99%"},
       {"partitions that differ at egress", "egress buffer-partition lossy percent 10",
        "egress buffer-partition lossy percent 20", "buffer.pools_over_100",
        "lossy partition at egress: expected 10% as at ingress, found 20%"},
       {"percents copied from another switch", "interpolate fill-level 1\n",
        "interpolate fill-level 10\n", "ecn.thresholds_too_high", "(10% of a queue of"},
       {"ECN without a drop profile", "drop-profile-map", "-", "ecn.off_on_lossless",
        "ECN: expected on, found off"},
       {"a drop profile without ECN", "explicit-congestion-notification", "-",
        "ecn.off_on_lossless", "found WRED without ECN, which drops"},
       {"no watchdog", "pfc-watchdog", "-", "watchdog.off", "PFC watchdog is off"},
       {"a cable that is too short", "input cable-length 30", "input cable-length 3",
        "headroom.too_small", "cable length: expected 30m, found 3m"},
       {"CNPs in the lossless class", "forwarding-class cnp loss-priority low code-points 110000",
        "forwarding-class rdma loss-priority low code-points 110000", "cnp.lossless",
        "DSCP 48 (CNP)"},
       {"802.3x left on", "ether-options no-flow-control", "ether-options flow-control",
        "pause.global_on", "global pause: expected off, found on"},
       {"a class of RDMA elsewhere", "forwarding-class rdma loss-priority low code-points 011010",
        "forwarding-class best-effort loss-priority low code-points 011010", "dscp.unmapped_hop",
        "DSCP 26: expected class 3, found class 0"}});
}

}  // namespace
}  // namespace weir::diagnose

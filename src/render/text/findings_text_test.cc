#include "render/text/findings_text.h"

#include "base/testing.h"
#include "base/text.h"
#include "finding/catalog.h"

namespace weir::render {
namespace {

using finding::Finding;
using finding::Judgement;
using finding::make_finding;

Judgement narrow_headroom() {
  finding::Where where;
  where.file = "fabric.yaml";
  where.position = {12, 7};
  Finding finding = make_finding(
      "headroom.too_small",
      "leaf1 gives swp3 20KB of headroom; 400G over 30m at MTU 9216B needs 106836B", where);
  finding.evidence = {{"fabric.yaml", "headroom: 20KB", "", std::nullopt},
                      {"leaf1", "no-buffer discards", "port.prio.discard.frames", 1234567}};
  finding.fix = {{"design", {"buffers: { headroom: auto }"}, "Under switches, leaf."}};
  Judgement judgement;
  judgement.findings = {finding};
  judgement.next = {"weir lint"};
  settle(judgement);
  return judgement;
}

TEST(FindingsText, AFindingReadsFromTheVerdictToWhatToType) {
  COVERS("I3");
  EXPECT_EQ(findings_text(narrow_headroom(), "1 error: the design will lose packets"),
            R"(1 error: the design will lose packets

error    fabric.yaml:12:7
  leaf1 gives swp3 20KB of headroom; 400G over 30m at MTU 9216B needs 106836B
  why: Pause is sent when XOFF is crossed, that is when headroom begins to be used; what
  arrives until the peer has stopped must fit into headroom, and what does not fit is
  lost. That is two maximum frames, the pause frame, the peer's reaction, the interface
  delays, and the cable both ways: 93 KB at 400G, 3 m and MTU 9216, 107 KB at 30 m, 142
  KB at 100 m. The widespread table of 2, 20 and 65 KB holds the cable term alone. The
  loss shows as IBV_WC_RETRY_EXC_ERR and as drops on the RDMA priority while PFC is
  working.
  seen:
    fabric.yaml: headroom: 20KB
    leaf1: no-buffer discards (port.prio.discard.frames = 1,234,567)
  fix:
    design: Under switches, leaf.
      buffers: { headroom: auto }
  weir explain headroom.too_small

next:
  weir lint
)");
}

TEST(FindingsText, QuietIsOneLineAFinding) {
  Judgement judgement = narrow_headroom();
  judgement.findings.push_back(make_finding("fabric.oversubscribed", "2:1 at every leaf"));
  judgement.unknown = {{"ecn", "debugfs is not mounted", "mount it"}};
  EXPECT_EQ(
      findings_text(judgement, "1 error", {.colour = false, .quiet = true}),
      "1 error\n"
      "error    fabric.yaml:12:7  leaf1 gives swp3 20KB of headroom; 400G over 30m at MTU 9216B "
      "needs 106836B [headroom.too_small]\n"
      "info     -  2:1 at every leaf [fabric.oversubscribed]\n"
      "unknown  ecn: debugfs is not mounted\n");
}

TEST(FindingsText, ColourOnlyWhenAskedAndThenErrorsRedWarningsYellowWhyDim) {
  Judgement judgement = narrow_headroom();
  judgement.findings.push_back(make_finding("watchdog.off", "leaf1 has no watchdog"));
  EXPECT_EQ(findings_text(judgement, "x").find('\x1b'), std::string::npos);

  const std::string text = as_printed(findings_text(judgement, "x", {.colour = true}));
  EXPECT_NE(text.find("\x1b[31merror\x1b[0m    fabric.yaml:12:7\n"), std::string::npos);
  EXPECT_NE(text.find("\x1b[33mwarning\x1b[0m\n"), std::string::npos);
  EXPECT_NE(text.find("  \x1b[2mwhy: Pause is sent"), std::string::npos);
  for (const std::string_view line : split(text, '\n')) {
    const bool starts_paint = line.find("\x1b[2m") != std::string_view::npos;
    EXPECT_EQ(starts_paint, starts_paint && line.ends_with("\x1b[0m")) << line;
  }
}

TEST(FindingsText, UnknownIsListedAsUnknownAndNeverAsPassed) {
  Judgement judgement;
  judgement.unknown = {{"ecn.np of gpu07", "permission denied", "sudo weir validate"},
                       {"acs", "only 64 bytes of config space without root", ""}};
  settle(judgement);
  EXPECT_EQ(findings_text(judgement, "2 checks gave no answer"), R"(2 checks gave no answer

2 checks skipped: data not available
  ecn.np of gpu07: permission denied
    how: sudo weir validate
  acs: only 64 bytes of config space without root
)");
}

TEST(FindingsText, OfTheCataloguesFixesThoseOfThePlaceArePrinted) {
  Finding finding = make_finding("pfc.off", "no PFC on priority 3");
  finding.where.switch_name = "leaf1";
  Judgement judgement;
  judgement.findings = {finding};
  const std::string on_switch = findings_text(judgement, "x");
  EXPECT_NE(on_switch.find("priority-flow-control on"), std::string::npos);
  EXPECT_EQ(on_switch.find("mlnx_qos"), std::string::npos);
  EXPECT_NE(on_switch.find("also for mlx5-ofed, mlx5-inbox, bnxt, ice, ionic\n"),
            std::string::npos);

  judgement.findings[0].where = {};
  judgement.findings[0].where.host = "gpu07";
  const std::string on_host = findings_text(judgement, "x");
  EXPECT_NE(on_host.find("mlnx_qos"), std::string::npos);
  EXPECT_NE(on_host.find("also for cumulus, eos, nxos, junos, sonic\n"), std::string::npos);

  judgement.findings[0].where = {};
  const std::string anywhere = findings_text(judgement, "x");
  EXPECT_NE(anywhere.find("mlnx_qos"), std::string::npos);
  EXPECT_NE(anywhere.find("service-profile"), std::string::npos);
  EXPECT_EQ(anywhere.find("also for"), std::string::npos);
}

TEST(FindingsText, TheWhyOfAnIdIsSaidOnce) {
  Judgement judgement;
  for (const char* const host : {"gpu1", "gpu2"}) {
    Finding finding =
        make_finding("np.disabled", std::string("the notification point is off on ") + host);
    finding.where.host = host;
    judgement.findings.push_back(finding);
  }
  const std::string text = findings_text(judgement, "x");
  const std::size_t first = text.find("why: The notification point turns");
  ASSERT_NE(first, std::string::npos);
  EXPECT_EQ(text.find("why: The notification point turns", first + 1), std::string::npos);
  EXPECT_NE(text.find("error    gpu2\n  the notification point is off on gpu2\n"
                      "  why: see above\n"),
            std::string::npos);
}

TEST(FindingsText, TheSameFaultOnManyHostsIsToldOnce) {
  Judgement judgement;
  for (const char* const host : {"gpu1", "gpu2", "gpu3"}) {
    Finding finding = make_finding("np.disabled", "the notification point is off");
    finding.where.host = host;
    finding.evidence.push_back({.source = host, .line = "enable/3 is 0"});
    judgement.findings.push_back(finding);
  }
  const std::string text = findings_text(judgement, "x");
  EXPECT_NE(text.find("error    gpu[1-3]\n  the notification point is off\n"), std::string::npos);
  EXPECT_NE(text.find("  seen (gpu1, first of 3):\n    gpu1: enable/3 is 0\n"), std::string::npos);
  EXPECT_EQ(text.find("gpu2"), std::string::npos);
}

TEST(FindingsText, ProseKeepsToTheWidthForEveryEntry) {
  for (const std::size_t width : {std::size_t{40}, std::size_t{88}}) {
    for (const finding::CatalogEntry& entry : finding::catalog()) {
      Finding finding = make_finding(entry.id, "verdict");
      finding.fix = {{"any", {}, std::string(entry.fix.front().note)}};
      Judgement judgement;
      judgement.findings = {finding};
      const std::string text = findings_text(judgement, "x", {.width = width});
      for (const std::string_view line : split(text, '\n')) {
        const bool one_word = trim(line).find(' ') == std::string_view::npos;
        const bool is_command = trim(line).starts_with("weir explain");
        if (!one_word && !is_command) {
          EXPECT_LE(display_width(line), width) << line;
        }
      }
    }
  }
}

TEST(CountText, CountsInWordsAndNamesTheUnknown) {
  Judgement judgement;
  EXPECT_EQ(count_text(judgement), "nothing found");
  judgement.findings = {make_finding("np.disabled", ""), make_finding("watchdog.off", ""),
                        make_finding("watchdog.off", ""),
                        make_finding("fabric.oversubscribed", "")};
  EXPECT_EQ(count_text(judgement), "1 error, 2 warnings, 1 note");
  judgement.unknown.resize(2);
  EXPECT_EQ(count_text(judgement), "1 error, 2 warnings, 1 note, 2 unknown");
}

}  // namespace
}  // namespace weir::render

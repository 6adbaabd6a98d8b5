#include "render/text/explain_text.h"

#include "base/testing.h"
#include "base/text.h"

namespace weir::render {
namespace {

TEST(Explain, SaysWhatWhyHowAndWhoSaysSo) {
  COVERS("A2");
  const finding::CatalogEntry entry = {
      .id = "pause.example",
      .title = "link pause where PFC should be",
      .severity = finding::Severity::kWarning,
      .aliases = {"pause.example_check", "PAUSE_EXAMPLE"},
      .rows = {"A2", "C1"},
      .phase = "lint",
      .why =
          "It stops the whole port. Only one counter shows it, and nobody looks at that counter "
          "until it is too late.",
      .fix = {{.platform = "design", .commands = {"hosts: { gpu: { global_pause: false } }"}},
              {.platform = "mlx5-inbox",
               .commands = {"dcb pfc set dev <netdev> prio-pfc all:off 3:on"},
               .note = "The link goes down and comes back."}},
      .sources = {"IEEE 802.3, annex 31B"},
  };
  EXPECT_EQ(explain(entry, 80), R"(pause.example: link pause where PFC should be
warning, first found by weir lint
also known as pause.example_check, PAUSE_EXAMPLE

Why
  It stops the whole port. Only one counter shows it, and nobody looks at that
  counter until it is too late.

Fix
  The commands follow the usual convention: RDMA on DSCP 26, priority and queue
  3; CNPs on DSCP 48, priority and queue 6. weir render prints them for your
  design.

  the design file
      hosts: { gpu: { global_pause: false } }
  NVIDIA ConnectX, kernel's own driver (dcb, debugfs)
    The link goes down and comes back.
      dcb pfc set dev <netdev> prio-pfc all:off 3:on

Sources
  - IEEE 802.3, annex 31B
)");
}

TEST(Explain, NamesTheConventionOnlyWhereACommandShowsIt) {
  const auto shows = [](std::string_view id) {
    return explain(*finding::find(id)).find("usual convention") != std::string::npos;
  };
  EXPECT_TRUE(shows("np.disabled"));
  EXPECT_TRUE(shows("pfc.off"));
  EXPECT_FALSE(shows("cc.wrong_algorithm"));
  EXPECT_FALSE(shows("link.flapping"));
}

TEST(Explain, EveryEntryFitsTheWidthButForCommandsAndNamesEachPlatform) {
  for (const finding::CatalogEntry& entry : finding::catalog()) {
    SCOPED_TRACE(entry.id);
    const std::string text = explain(entry);
    EXPECT_EQ(text.back(), '\n');
    for (const finding::CatalogFix& fix : entry.fix) {
      const std::string_view title = finding::find_platform(fix.platform)->title;
      EXPECT_NE(text.find("\n  " + std::string(title) + "\n"), std::string::npos) << title;
    }
    for (const std::string_view line : split(text, '\n')) {
      const bool is_command = line.starts_with("      ");
      if (!is_command) {
        EXPECT_LE(display_width(line), 88U) << line;
      }
      EXPECT_FALSE(line.ends_with(' ')) << line;
    }
  }
}

}  // namespace
}  // namespace weir::render

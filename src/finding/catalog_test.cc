#include "finding/catalog.h"

#include <algorithm>
#include <array>
#include <map>
#include <regex>
#include <set>
#include <string>

#include "base/file.h"
#include "base/testing.h"
#include "base/text.h"

namespace weir::finding {
namespace {

struct Check {
  std::string id;
  std::string code;
};

/// The check ids that field reports use, from the data of the tests.
std::vector<Check> field_checks() {
  const auto text = read_file(WEIR_TEST_DATA "/finding/check_ids.tsv");
  EXPECT_TRUE(text.has_value());
  std::vector<Check> checks;
  if (!text) return checks;
  for (const std::string_view line : split(*text, '\n')) {
    if (line.empty() || line.front() == '#') continue;
    const auto cells = split(line, '\t');
    EXPECT_EQ(cells.size(), 2U) << line;
    checks.push_back({std::string(cells[0]), std::string(cells[1])});
  }
  EXPECT_GE(checks.size(), 80U);
  return checks;
}

/// Checks that are about Weir itself: no fabric, host or job can have these faults.
struct Exception {
  std::string_view check;
  std::string_view reason;
};
constexpr std::array kAboutOurselves = {
    Exception{"render.host", "a feature: weir render does it"},
    Exception{"sim.calibration", "quality of our simulator"},
    Exception{"sim.fuzz_topology", "quality of our simulator"},
    Exception{"sim.lossless_invariant", "quality of our simulator"},
    Exception{"sim.perf", "quality of our simulator"},
    Exception{"sim.pfc_unit", "quality of our simulator"},
    Exception{"tune.sweep", "how our tuner searches"},
    Exception{"ux.dashboard", "a feature: weir render does it"},
    Exception{"ux.exit_codes", "our exit codes"},
    Exception{"verify.perftest_parse", "how we read perftest's output"},
};

/// Codes that stand for no fault: the reporter's request, or the absence of an answer.
constexpr std::array<std::string_view, 2> kCodesWithoutFault = {"FEATURE_REQUEST", "INCONCLUSIVE"};

bool is_about_ourselves(const Check& check) {
  return std::any_of(kAboutOurselves.begin(), kAboutOurselves.end(),
                     [&](const Exception& exception) { return exception.check == check.id; });
}

bool names_a_fault(std::string_view code) {
  return std::find(kCodesWithoutFault.begin(), kCodesWithoutFault.end(), code) ==
         kCodesWithoutFault.end();
}

/// Every command of the catalogue, with where it is.
struct Command {
  std::string_view id;
  std::string_view platform;
  std::string_view text;
};
std::vector<Command> all_commands() {
  std::vector<Command> all;
  for (const CatalogEntry& entry : catalog()) {
    for (const CatalogFix& fix : entry.fix) {
      for (const std::string_view text : fix.commands)
        all.push_back({entry.id, fix.platform, text});
    }
  }
  return all;
}

TEST(Catalog, IdsAreSortedUniqueAndNamedFamilyDotFault) {
  COVERS("A2");
  const std::regex shape("[a-z][a-z0-9_]*\\.[a-z0-9_]+");
  std::string_view previous;
  for (const CatalogEntry& entry : catalog()) {
    EXPECT_LT(previous, entry.id);
    EXPECT_TRUE(std::regex_match(std::string(entry.id), shape)) << entry.id;
    previous = entry.id;
  }
}

TEST(Catalog, AnAliasBelongsToOneEntryAndIsNoId) {
  std::set<std::string_view> names;
  for (const CatalogEntry& entry : catalog())
    names.insert(entry.id);
  for (const CatalogEntry& entry : catalog()) {
    for (const std::string_view alias : entry.aliases)
      EXPECT_TRUE(names.insert(alias).second) << alias << " of " << entry.id;
  }
}

TEST(Catalog, FindsById_ByAlias_AndNothingElse) {
  COVERS("A3");
  ASSERT_NE(find("dscp.tos_confusion"), nullptr);
  EXPECT_EQ(find("dscp.tos_confusion"), find("lint.tc_value"));
  EXPECT_EQ(find("dscp.tos_confusion"), find("TC_ENCODING"));
  EXPECT_EQ(find("dscp.tos_confusio"), nullptr);
  EXPECT_EQ(find(""), nullptr);
}

TEST(Catalog, HoldsEveryIdThatLintPromises) {
  COVERS("A2");
  constexpr std::array kLint = {"pfc.multiple_priorities",
                                "ecn.above_xoff",
                                "ecn.off_on_lossless",
                                "ecn.pmax_too_small",
                                "headroom.too_small",
                                "headroom.exceeds_buffer",
                                "buffer.pools_over_100",
                                "mtu.mismatch",
                                "mtu.platform_max",
                                "dscp.tos_confusion",
                                "dscp.narrow_map",
                                "dscp.unmapped_hop",
                                "trust.mixed",
                                "cnp.shares_rdma_priority",
                                "cnp.lossless",
                                "class.no_guarantee",
                                "class.shared_queue",
                                "shaper.on_rdma_path",
                                "rail.same_subnet",
                                "ecmp.same_seed",
                                "fabric.oversubscribed",
                                "watchdog.off",
                                "pause.global_on",
                                "dcqcn.unstable",
                                "nic_knob.does_not_exist",
                                "platform.cannot",
                                "routing.cyclic_buffer_dependency"};
  for (const char* const id : kLint) {
    const CatalogEntry* entry = find(id);
    ASSERT_NE(entry, nullptr) << id;
    EXPECT_EQ(entry->id, id);
    EXPECT_EQ(entry->phase, "lint") << id;
    EXPECT_NE(std::find(entry->rows.begin(), entry->rows.end(), "A2"), entry->rows.end()) << id;
  }
  EXPECT_EQ(find("fabric.oversubscribed")->severity, Severity::kInfo);
}

TEST(Catalog, EveryRowOfDiagnosisHasAFault) {
  COVERS("I1", "I2", "I3", "I4", "I5", "I6", "I7", "I8", "I9", "I10");
  COVERS("I11", "I12", "I13", "I14", "I15", "I16", "I17", "I18", "I19", "I20");
  COVERS("I21", "I22", "I23", "I24", "I25", "I26", "I27", "I28", "I29");
  std::set<std::string_view> rows;
  for (const CatalogEntry& entry : catalog())
    rows.insert(entry.rows.begin(), entry.rows.end());
  for (int row = 1; row <= 29; ++row)
    EXPECT_TRUE(rows.contains("I" + std::to_string(row))) << "I" << row;
}

TEST(Catalog, TheVerdictOfADiagnosisRowIsTheFaultItNames) {
  COVERS("I3", "I5", "I11", "I12", "I16", "I19", "I23", "I25");
  const std::map<std::string_view, std::string_view> expected = {
      {"headroom.too_small", "I3"},
      {"ecmp.polarised", "I4"},
      {"pfc.deadlock", "I5"},
      {"np.disabled", "I11"},
      {"rp.disabled", "I12"},
      {"pfc.wrong_priority", "I15"},
      {"mtu.mismatch", "I16"},
      {"app.receives_too_few", "I19"},
      {"receiver.slow", "I20"},
      {"class.shared_queue", "I23"},
      {"nccl.socket_fallback", "I24"},
      {"pfc.multiple_priorities", "I25"},
      {"ecn.thresholds_too_low", "I21"},
      {"ecn.thresholds_too_high", "I22"}};
  for (const auto& [id, row] : expected) {
    const CatalogEntry* entry = find(id);
    ASSERT_NE(entry, nullptr) << id;
    EXPECT_NE(std::find(entry->rows.begin(), entry->rows.end(), row), entry->rows.end()) << id;
  }
}

TEST(Catalog, EveryFieldCheckIsTheAliasOfOneFaultUnlessItIsAboutUs) {
  for (const Check& check : field_checks()) {
    const CatalogEntry* entry = find(check.id);
    if (is_about_ourselves(check)) {
      EXPECT_EQ(entry, nullptr) << check.id;
      continue;
    }
    ASSERT_NE(entry, nullptr) << check.id;
    EXPECT_NE(entry->id, check.id) << "an id names the fault, not the check";
  }
}

TEST(Catalog, ACodeOfFieldChecksResolvesToAFaultOfOneOfThem) {
  std::map<std::string, std::set<const CatalogEntry*>> faults_of_code;
  for (const Check& check : field_checks()) {
    if (!is_about_ourselves(check) && names_a_fault(check.code))
      faults_of_code[check.code].insert(find(check.id));
  }
  for (const auto& [code, faults] : faults_of_code)
    EXPECT_TRUE(faults.contains(find(code))) << code;
}

/// Sentences: a full stop before a blank or the end. The texts avoid abbreviations for this.
std::size_t sentences(std::string_view text) {
  std::size_t count = 0;
  for (std::size_t i = 0; i < text.size(); ++i)
    if (text[i] == '.' && (i + 1 == text.size() || text[i + 1] == ' ')) ++count;
  return count;
}

TEST(Catalog, NoFieldIsEmptyAndTheWordsKeepTheirForm) {
  const std::regex row("[A-K][0-9]+");
  for (const CatalogEntry& entry : catalog()) {
    SCOPED_TRACE(entry.id);
    EXPECT_FALSE(entry.title.empty());
    EXPECT_LE(display_width(entry.title), 72U) << "half a line";
    EXPECT_NE(entry.title.back(), '.');
    EXPECT_FALSE(entry.rows.empty());
    for (const std::string_view name : entry.rows)
      EXPECT_TRUE(std::regex_match(std::string(name), row)) << name;
    EXPECT_NE(std::find(phases().begin(), phases().end(), entry.phase), phases().end());
    EXPECT_EQ(entry.why.back(), '.');
    EXPECT_GE(sentences(entry.why), 2U) << entry.why;
    EXPECT_LE(sentences(entry.why), 5U) << entry.why;
    EXPECT_FALSE(entry.fix.empty());
    EXPECT_FALSE(entry.sources.empty());
    for (const std::string_view source : entry.sources) {
      EXPECT_GE(source.size(), 8U) << source;
      EXPECT_NE(source.front(), '/') << "a citation, not a path";
    }
  }
}

TEST(Catalog, EveryFixSaysWhatToTypeOnAPlatformThatExists) {
  for (const CatalogEntry& entry : catalog()) {
    SCOPED_TRACE(entry.id);
    std::set<std::string_view> platforms_seen;
    for (const CatalogFix& fix : entry.fix) {
      EXPECT_NE(find_platform(fix.platform), nullptr) << fix.platform;
      EXPECT_TRUE(platforms_seen.insert(fix.platform).second) << "two fixes for " << fix.platform;
      EXPECT_FALSE(fix.commands.empty()) << fix.platform;
      for (const std::string_view command : fix.commands)
        EXPECT_FALSE(trim(command).empty());
      if (!fix.note.empty()) {
        EXPECT_EQ(fix.note.back(), '.') << fix.note;
      }
    }
  }
}

/// Commands that documents of this field print and no system has, or that do harm as printed.
struct Mistake {
  const char* pattern;
  std::string_view reason;
};
constexpr std::array kKnownMistakes = {
    Mistake{"nv set qos roce (pfc|ecn)", "not commands: roce is the bundle"},
    Mistake{"[Kk](min|max)\\b",
            "thresholds of the switch, written as min and max; no NIC has them"},
    Mistake{"qos/trust", "exists in OFED 4.0 and 4.1 only"},
    Mistake{"[rt]x_prio_[0-9]", "the counters are named rx_prio3_..."},
    Mistake{"tc-trust|DSCP-priority", "no such word in mlnx_qos"},
    Mistake{"NCCL_IB_HCA==?(ib|eth)[0-9]", "wants RDMA devices, not interfaces"},
    Mistake{"(NCCL_IB_TC|traffic_class|tclass|default_roce_tos|-t)[= ]26\\b", "wants the TOS byte"},
    Mistake{"echo 26 >", "wants the TOS byte"},
    Mistake{"roce_[nr]p/params/", "there is no such level"},
    Mistake{"^ *ecn m|qos profile [^ ]+ ecn", "EOS has random-detect ecn under the queue"},
    Mistake{"--dscp2prio [0-9]", "the argument is set,D,P"},
    Mistake{"--trust.*--dscp2prio", "refused in one call"},
    Mistake{"dcb app add", "appends a second priority; replace does not"},
    Mistake{"tcpdump", "the host's tcpdump does not see RDMA"},
    Mistake{"priority-flow-control mode auto", "ends up off without a word"},
    Mistake{"port_xmit_wait", "counts InfiniBand credits, not pauses"},
    Mistake{"config qos reload", "puts the stock map back"},
};

TEST(Catalog, NoCommandRepeatsAMistakeOfTheGuides) {
  for (const Mistake& mistake : kKnownMistakes) {
    const std::regex pattern(mistake.pattern);
    for (const Command& command : all_commands()) {
      EXPECT_FALSE(std::regex_search(command.text.begin(), command.text.end(), pattern))
          << command.id << ": '" << command.text << "': " << mistake.reason;
    }
  }
}

TEST(Catalog, CommandsThatFailAsPrintedElsewhereAreWhole) {
  for (const Command& command : all_commands()) {
    const auto has = [&](std::string_view piece) {
      return command.text.find(piece) != std::string_view::npos;
    };
    EXPECT_TRUE(!has("dcb ets set") || has("tc-bw")) << command.id << ": fails on mlx5's defaults";
    EXPECT_FALSE(command.platform == "eos" && has("mtu 9216"))
        << command.id << ": 9214 is the most";
  }
}

TEST(Catalog, WhatItTellsTheUserToExplainCanBeExplained) {
  const std::regex explain("weir explain ([a-z0-9_]+\\.[a-z0-9_]+)");
  int seen = 0;
  for (const CatalogEntry& entry : catalog()) {
    std::vector<std::string> texts = {std::string(entry.why)};
    for (const CatalogFix& fix : entry.fix) {
      texts.emplace_back(fix.note);
      texts.insert(texts.end(), fix.commands.begin(), fix.commands.end());
    }
    for (const std::string& text : texts) {
      for (std::sregex_iterator at(text.begin(), text.end(), explain), end; at != end; ++at) {
        const CatalogEntry* target = find((*at)[1].str());
        ASSERT_NE(target, nullptr) << entry.id << " names " << (*at)[1].str();
        EXPECT_EQ(target->id, (*at)[1].str());
        ++seen;
      }
    }
  }
  EXPECT_GT(seen, 10);
}

TEST(Catalog, AFindingStartsFromItsEntryAndOwnFixesWin) {
  Finding finding = make_finding("watchdog.off", "leaf1 has no watchdog");
  EXPECT_EQ(finding.severity, Severity::kWarning);
  EXPECT_EQ(finding.verdict, "leaf1 has no watchdog");
  EXPECT_EQ(fixes_of(finding).size(), find("watchdog.off")->fix.size());
  EXPECT_EQ(fixes_of(finding).front().platform, "design");
  finding.fix = {{"sonic", {"pfcwd interval 100"}, ""}};
  EXPECT_EQ(fixes_of(finding), finding.fix);
}

TEST(Catalog, APlatformHasOneNameAndASide) {
  std::set<std::string_view> names;
  for (const Platform& platform : platforms()) {
    EXPECT_TRUE(names.insert(platform.name).second) << platform.name;
    EXPECT_FALSE(platform.title.empty());
  }
  EXPECT_EQ(find_platform("sonic")->side, Side::kSwitch);
  EXPECT_EQ(find_platform("mlx5-ofed")->side, Side::kHost);
  EXPECT_EQ(find_platform("mlx4"), nullptr);
}

}  // namespace
}  // namespace weir::finding

#include "finding/symptom_rows.h"

#include <algorithm>
#include <string>

#include <gtest/gtest.h>

#include "base/testing.h"
#include "finding/catalog.h"

namespace weir::finding {
namespace {

bool offers(std::string_view words, std::string_view row) {
  const auto rows = look_up_symptom(words);
  return std::any_of(rows.begin(), rows.end(),
                     [&](const SymptomRow* found) { return found->row == row; });
}

TEST(SymptomRows, ADescriptionIsOfferedItsRows) {
  COVERS("I2", "I10", "I21");
  EXPECT_TRUE(offers("throughput dropped, no pauses", "I2"));
  EXPECT_TRUE(offers("throughput dropped, no pauses", "I10"));
  EXPECT_TRUE(offers("Bandwidth fell by half without PFC pauses", "I2"));
  EXPECT_TRUE(offers("busbw low, zero pauses, many ECN marks", "I2"));
  EXPECT_TRUE(offers("pauses everywhere", "I8"));
  EXPECT_TRUE(offers("retries exceeded and drops despite PFC", "I3"));
  EXPECT_TRUE(offers("uplinks are used unevenly", "I4"));
  EXPECT_TRUE(offers("out of sequence climbs but no drops", "I17"));
  EXPECT_TRUE(offers("marks but no CNPs", "I11"));
}

TEST(SymptomRows, FreeWordsFindTheRowsThatFit) {
  COVERS("I4", "I12", "I16", "I17", "I22");
  EXPECT_TRUE(offers("we see millions of pause frames but no CNPs", "I22"));
  EXPECT_TRUE(offers("out of sequence counter climbs but nothing is dropped", "I17"));
  EXPECT_TRUE(offers("one node is always the straggler", "I16"));
  EXPECT_TRUE(offers("uplinks of the leaf are skewed and half of the nodes are slow", "I4"));
  EXPECT_TRUE(offers("latency spikes every few seconds at the p99", "I26"));
  EXPECT_TRUE(offers("many timeouts of RDMA", "I9"));
  EXPECT_TRUE(offers("the GPUs idle and the CPU rises during all-reduce", "I24"));
}

TEST(SymptomRows, SmallWordsInCommonMeanNothing) {
  COVERS("I7", "I15");
  EXPECT_FALSE(offers("training is fine at 8 nodes and bad at 64", "I15"));
  EXPECT_FALSE(offers("all reduce is slow on one rail only", "I7"));
  EXPECT_FALSE(offers("jobs hang after a cable was swapped", "I7"));
  EXPECT_TRUE(look_up_symptom("it is what it is, at the same time").empty());
}

TEST(SymptomRows, WhatIsSaidToBeAbsentExcludesItsRows) {
  COVERS("I2");
  for (const SymptomRow* row : look_up_symptom("throughput dropped, no pauses")) {
    EXPECT_NE(row->row, "I1");
    EXPECT_NE(row->row, "I7");
    EXPECT_NE(row->row, "I8");
    EXPECT_NE(row->row, "I22");
  }
  EXPECT_FALSE(offers("timeouts, no drops", "I3"));
  EXPECT_TRUE(look_up_symptom("the coffee machine is broken").empty());
}

TEST(SymptomRows, EveryRowHasFindings) {
  COVERS("I1");
  for (const SymptomRow& row : symptom_rows())
    EXPECT_FALSE(findings_of(row).empty()) << row.row;
}

}  // namespace
}  // namespace weir::finding

#include "ops/change/fleet_change.h"

#include "base/testing.h"

namespace weir::ops {
namespace {

FleetHostState rollback_state(int status, std::string_view output) {
  return read_rollback_answer(status, output, "").state;
}
FleetHostState confirm_state(int status, std::string_view output) {
  return read_confirm_answer(status, output, "").state;
}

TEST(FleetChange, ARollbackThatUndidNothingIsNotOneThatDid) {
  COVERS("K3");
  const auto undid = read_rollback_answer(
      0, "motd\n{\"schema\": \"weir/rollback/1\", \"journal\": \"j-2\", \"steps\": [{}, {}, {}]}",
      "");
  EXPECT_EQ(undid.state, FleetHostState::kDone);
  EXPECT_EQ(undid.changes, 3U);
  EXPECT_EQ(rollback_state(0, R"({"schema": "weir/rollback/1", "journal": null})"),
            FleetHostState::kNothing);
  EXPECT_EQ(rollback_state(0, R"({"schema": "weir/rollback/1"})"), FleetHostState::kNoAnswer);
  EXPECT_EQ(rollback_state(0, R"({"schema": "weir/confirm/1", "journal": "j"})"),
            FleetHostState::kNoAnswer);
  EXPECT_EQ(rollback_state(0, ""), FleetHostState::kNoAnswer);
}

TEST(FleetChange, WhatCouldNotBeUndoneIsSaid) {
  COVERS("K3");
  const auto part = read_rollback_answer(
      5, R"({"schema": "weir/rollback/1", "journal": "j-2", "verdict": "1 of 3 NOT undone"})", "");
  EXPECT_EQ(part.state, FleetHostState::kInPart);
  EXPECT_NE(part.detail.find("1 of 3 NOT undone"), std::string::npos);
  const auto old = read_rollback_answer(2, "", "weir rollback: no option --pending");
  EXPECT_EQ(old.state, FleetHostState::kFailed);
  EXPECT_NE(old.detail.find("status 2: weir rollback: no option"), std::string::npos);
  const auto hostile = read_rollback_answer(0, "\x1b[2J nonsense", "");
  EXPECT_EQ(hostile.state, FleetHostState::kNoAnswer);
  EXPECT_EQ(hostile.detail.find('\x1b'), std::string::npos);
}

TEST(FleetChange, ARollbackThatMayHaveFinishedIsNotOneThatFailed) {
  COVERS("K3");
  // Killed, or cut off by what started it: it may be done.
  for (const int status : {1, 70, 124, 137, 255})
    EXPECT_EQ(rollback_state(status, ""), FleetHostState::kNoAnswer) << status;
  EXPECT_EQ(rollback_state(137, R"({"schema": "weir/rollback/1", "journal": "j"})"),
            FleetHostState::kNoAnswer);
  EXPECT_EQ(rollback_state(70, R"({"schema": "weir/error/1"})"), FleetHostState::kNoAnswer);
  // Its weir says that it did nothing, or there is none.
  for (const int status : {2, 3, 4, 127})
    EXPECT_EQ(rollback_state(status, ""), FleetHostState::kFailed) << status;
  EXPECT_EQ(rollback_state(6, R"({"schema": "weir/error/1"})"), FleetHostState::kFailed);
  EXPECT_EQ(read_rollback_answer(137, "", "").detail,
            "weir rollback: status 137, and nothing printed");
  EXPECT_EQ(read_rollback_answer(0, "", "").detail,
            "printed nothing, not the answer of weir rollback");
}

TEST(FleetChange, AConfirmationThatCameTooLateIsNotOneThatKept) {
  COVERS("K3");
  EXPECT_EQ(confirm_state(0, R"({"schema": "weir/confirm/1", "confirmed": true,
                                 "state": "confirmed"})"),
            FleetHostState::kDone);
  EXPECT_EQ(confirm_state(0, R"({"schema": "weir/confirm/1", "confirmed": true})"),
            FleetHostState::kDone);
  EXPECT_EQ(confirm_state(0, R"({"schema": "weir/confirm/1", "confirmed": true,
                                 "state": "kept already"})"),
            FleetHostState::kKept);
  EXPECT_EQ(confirm_state(0, R"({"schema": "weir/confirm/1", "confirmed": false,
                                 "state": "no apply"})"),
            FleetHostState::kNothing);
  EXPECT_EQ(confirm_state(6, R"({"schema": "weir/confirm/1", "confirmed": false})"),
            FleetHostState::kTooLate);
  EXPECT_EQ(confirm_state(6, R"({"schema": "weir/confirm/1", "confirmed": false,
                                 "state": "undone in part", "verdict": "1 change left"})"),
            FleetHostState::kInPart);
  EXPECT_EQ(confirm_state(0, "Confirmed."), FleetHostState::kNoAnswer);
  EXPECT_EQ(confirm_state(4, R"({"schema": "weir/error/1"})"), FleetHostState::kFailed);
}

TEST(FleetChange, EveryStateHasAWordInEveryVerb) {
  for (const FleetVerb verb :
       {FleetVerb::kRollback, FleetVerb::kRollbackPending, FleetVerb::kConfirm})
    for (const FleetHostState state :
         {FleetHostState::kDone, FleetHostState::kNothing, FleetHostState::kTooLate,
          FleetHostState::kInPart, FleetHostState::kFailed, FleetHostState::kNoAnswer,
          FleetHostState::kNotAsked, FleetHostState::kKept})
      EXPECT_FALSE(state_text(verb, state).empty());
  EXPECT_NE(state_text(FleetVerb::kRollback, FleetHostState::kDone),
            state_text(FleetVerb::kConfirm, FleetHostState::kDone));
}

TEST(FleetChange, AnApplyThatIsKeptAlreadyIsKept) {
  COVERS("K3");
  const auto again = read_confirm_answer(
      0, R"({"schema": "weir/confirm/1", "confirmed": true, "state": "kept already"})", "");
  EXPECT_EQ(again.state, FleetHostState::kKept);
  EXPECT_TRUE(again.is_kept);
  FleetChange done{.verb = FleetVerb::kConfirm, .hosts = {again, {.is_kept = true}}};
  EXPECT_TRUE(done.is_kept());
  done.hosts.push_back({.state = FleetHostState::kNothing});
  EXPECT_FALSE(done.is_kept());
  EXPECT_FALSE(
      read_confirm_answer(0, R"({"schema": "weir/confirm/1", "confirmed": false})", "").is_kept);
  EXPECT_FALSE(
      read_confirm_answer(137, R"({"schema": "weir/confirm/1", "confirmed": true})", "").is_kept);
}

}  // namespace
}  // namespace weir::ops

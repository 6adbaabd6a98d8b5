#include <thread>

#include <gtest/gtest.h>

#include "base/json.h"
#include "base/testing.h"
#include "serve/assets/assets.h"
#include "serve/page/api.h"
#include "serve/page/door.h"

namespace weir::serve {
namespace {

/// Two hosts at a leaf; gpu1 is paused because gpu2 pauses its switch.
std::vector<ops::WatchedPort> ports(double paused) {
  std::vector<ops::WatchedPort> out(4);
  const auto set = [&](std::size_t at, const char* device, const char* name, int tier,
                       std::size_t peer) {
    out[at].device = device;
    out[at].name = name;
    out[at].tier = tier;
    out[at].peer = peer;
    out[at].speed = BitRate::raw(100'000'000'000);
    out[at].sent = 50e9;
    out[at].paused = out[at].pausing = out[at].marks = out[at].losses = 0;
    out[at].up = true;
  };
  set(0, "gpu1", "mlx5_0", 0, 2);
  set(1, "gpu2", "mlx5_0", 0, 3);
  set(2, "leaf1", "swp1", 1, 0);
  set(3, "leaf1", "swp2", 1, 1);
  out[0].paused = out[2].pausing = paused / 2;
  out[3].paused = out[1].pausing = paused;
  return out;
}

PageInfo info() {
  PageInfo out;
  out.mode = "lab";
  return out;
}

Json asked(const Api& api, const std::string& path,
           std::map<std::string, std::string, std::less<>> values = {}, int status = 200) {
  const Answer answer = api.get({path, std::move(values), ""});
  EXPECT_EQ(answer.status, status) << answer.body;
  return Json::parse(answer.body);
}

TEST(Frame, ABytePerValueKeepsItsSizeAndGapsAreNoZeros) {
  COVERS("K2");
  for (const double share : {0.0, 0.001, 0.01, 0.05, 0.5, 1.0}) {
    const auto back = value_of(Quantity::kPause, cell_of_share(share));
    ASSERT_TRUE(back);
    EXPECT_NEAR(*back, share, 0.003 + share * 0.05);
  }
  EXPECT_EQ(cell_of_share(1e-9), 1) << "not zero";
  for (const double rate : {1.0, 10.0, 12345.0, 3e7})
    EXPECT_NEAR(*value_of(Quantity::kMarks, cell_of_rate(rate)), rate, rate * 0.09);
  EXPECT_EQ(cell_of_rate(0), 0);
  EXPECT_EQ(cell_of_share(std::nullopt), kGap);
  EXPECT_EQ(cell_of_rate(std::nullopt), kGap);
  EXPECT_EQ(value_of(Quantity::kDrops, kGap), std::nullopt);
}

TEST(Frame, Base64IsThatOfRfc4648) {
  const std::string text = "foobar";
  const auto* const bytes = reinterpret_cast<const std::uint8_t*>(text.data());  // NOLINT
  EXPECT_EQ(base64(bytes, 6), "Zm9vYmFy");
  EXPECT_EQ(base64(bytes, 5), "Zm9vYmE=");
  EXPECT_EQ(base64(bytes, 4), "Zm9vYg==");
  EXPECT_EQ(base64(bytes, 0), "");
}

TEST(Feed, APortKeepsItsPlaceAndOneThatIsGoneIsAGap) {
  Feed feed;
  feed.add(ports(0.2), 1000, "");
  std::vector<ops::WatchedPort> fewer = ports(0.2);
  fewer.erase(fewer.begin());  // gpu1 is not seen
  for (ops::WatchedPort& port : fewer)
    port.peer.reset();
  feed.add(fewer, 2000, "");
  const Feed::State now = feed.now();
  EXPECT_EQ(now.topology->size(), 4U);
  EXPECT_EQ((*now.topology)[0].device, "gpu1");
  EXPECT_EQ(now.frame->cell(Quantity::kPause, 0), kGap);
  EXPECT_NE(now.frame->cell(Quantity::kPause, 3), kGap);
  const auto events = feed.events_after(0);
  ASSERT_EQ(events.size(), 1U);
  EXPECT_EQ(events[0].kind, "gap");
}

TEST(Feed, IsBoundedInBytesAndThinnedOutWithAge) {
  Feed feed;
  for (int second = 0; second < 3600; ++second)
    feed.add(ports(0), second * 1000, "");
  const std::size_t kept = feed.history().size();
  EXPECT_GT(kept, 900U);
  EXPECT_LT(kept, 900U + 2700U / 15U + 5U) << "a frame per 15 s beyond a quarter of an hour";
  EXPECT_EQ(feed.frame(3600)->number, 3600U);
  EXPECT_LE(feed.frame(7)->number, 7U);
  Feed small(3000);
  for (int second = 0; second < 100; ++second)
    small.add(ports(0), second * 1000, "");
  EXPECT_LE(small.bytes(), 3000U);
  EXPECT_EQ(small.frame(1), nullptr) << "not kept any more";
}

TEST(Feed, FindingsOpenAndCloseInTheLog) {
  Feed feed;
  auto judged = std::make_shared<Judged>();
  judged->judgement.findings.push_back({.id = "receiver.slow", .verdict = "gpu2 is slow"});
  feed.judge(judged);
  feed.judge(judged);
  feed.judge(std::make_shared<Judged>());
  const auto events = feed.events_after(0);
  ASSERT_EQ(events.size(), 2U);
  EXPECT_EQ(events[0].kind, "finding");
  EXPECT_EQ(events[1].kind, "closed");
}

TEST(Api, FollowsAPauseToItsRoot) {
  Feed feed;
  feed.add(ports(0.4), 1000, "");
  const Api api(feed, info(), std::nullopt);
  const Json tree = asked(api, "/api/follow", {{"port", "0"}});
  EXPECT_EQ(tree["roots"][0]["kind"], "host");
  EXPECT_EQ(tree["roots"][0]["port"], 1);
  EXPECT_EQ(tree["tree"]["because"][0]["port"], 3);
  EXPECT_FALSE(asked(api, "/api/follow", {{"port", "1"}})["is_paused"].get<bool>());
  asked(api, "/api/follow", {{"port", "9"}}, 400);
  asked(api, "/api/follow", {{"port", "-1"}}, 400);
}

TEST(Api, AnswersWhatIsKeptAndRefusesTheRest) {
  Feed feed;
  const Api api(feed, info(), std::nullopt);
  EXPECT_EQ(asked(api, "/api/topology")["ports"].size(), 0U);
  asked(api, "/api/frame", {}, 404);
  feed.add(ports(0.1), 1000, "");
  EXPECT_EQ(asked(api, "/api/topology")["devices"].size(), 3U);
  EXPECT_EQ(asked(api, "/api/frame", {{"quantities", "pause,link"}})["cells"].size(), 2U);
  asked(api, "/api/frame", {{"quantities", "everything"}}, 400);
  asked(api, "/api/frame", {{"at", "x"}}, 400);
  EXPECT_EQ(asked(api, "/api/series", {{"ports", "0,3"}})["ports"].size(), 2U);
  asked(api, "/api/series", {{"ports", "4"}}, 400);
  asked(api, "/api/series", {}, 400);
  EXPECT_EQ(asked(api, "/api/explain", {{"id", "receiver.slow"}})["id"], "receiver.slow");
  asked(api, "/api/explain", {{"id", "<script>"}}, 404);
  EXPECT_TRUE(asked(api, "/api/findings")["judged"].is_null());
  asked(api, "/api/lab", {}, 404);
  asked(api, "/api/none", {}, 404);
}

TEST(Api, CurvesEndAtTheMomentThatIsLookedAt) {
  Feed feed;
  const Api api(feed, info(), std::nullopt);
  for (int second = 1; second <= 3; ++second)
    feed.add(ports(0.1 * second), second * 1000, "");
  const auto numbers = [&](const char* until) {
    return asked(api, "/api/series", {{"ports", "3"}, {"last", "2"}, {"until", until}})["numbers"];
  };
  EXPECT_EQ(numbers("2"), Json::parse("[1,2]"));
  EXPECT_EQ(numbers("0"), Json::parse("[2,3]")) << "the latest";
  asked(api, "/api/series", {{"ports", "3"}, {"until", "x"}}, 400);
}

TEST(Api, AClientIsSentNoMoreThanItsShare) {
  Feed feed;
  const Api api(feed, info(), std::nullopt);
  std::vector<ops::WatchedPort> many(30'000, ports(0.1)[0]);
  for (std::size_t i = 0; i < many.size(); ++i) {
    many[i].device = "gpu" + std::to_string(i);
    many[i].peer.reset();
  }
  auto stream = api.stream({"/api/stream", {{"quantities", "pause,sent,marks,drops"}}, ""});
  feed.add(many, 1000, "");
  EXPECT_GT(stream->next(std::chrono::milliseconds(0))->size(), 150'000U);
  feed.add(many, 1100, "");
  feed.note({.kind = "note", .text = "said"});
  // It is worth more than a second: the look is left out, what happened is not.
  const std::string said = *stream->next(std::chrono::milliseconds(0));
  EXPECT_EQ(said.find("event: tick"), std::string::npos);
  EXPECT_NE(said.find("event: log"), std::string::npos);
}

TEST(Api, OnlyALabsFaultsCanBeSwitched) {
  Feed feed;
  std::vector<std::string> switched;
  LabControl lab{.faults = [] { return std::vector<std::string>{}; },
                 .set_fault = [&](const std::string& fault, bool is_on) -> Status {
                   if (fault == "none") return invalid_error("no such fault");
                   switched.push_back(fault + (is_on ? " on" : " off"));
                   return {};
                 }};
  Api none(feed, info(), std::nullopt);
  EXPECT_EQ(none.post({"/api/lab/fault", {}, R"({"fault":"a","on":true})"}).status, 404);
  Api api(feed, info(), lab);
  EXPECT_EQ(api.post({"/api/lab/fault", {}, R"({"fault":"a","on":true})"}).status, 200);
  EXPECT_EQ(api.post({"/api/lab/fault", {}, R"({"fault":"a","on":false})"}).status, 200);
  EXPECT_EQ(api.post({"/api/lab/fault", {}, R"({"fault":"none","on":true})"}).status, 409);
  for (const char* const body : {"", "[]", "{}", R"({"fault":1,"on":true})", R"({"fault":"a"})",
                                 R"({"fault":"","on":true})", "{\"fault\""})
    EXPECT_EQ(api.post({"/api/lab/fault", {}, body}).status, 400) << body;
  EXPECT_EQ(api.post({"/api/lab", {}, R"({"fault":"a","on":true})"}).status, 404);
  EXPECT_EQ(switched, (std::vector<std::string>{"a on", "a off"}));
}

TEST(Api, AStreamTellsWhatIsNewAndEndsWithTheServer) {
  Feed feed;
  const Api api(feed, info(), std::nullopt);
  feed.add(ports(0.1), 1000, "");
  auto stream = api.stream({"/api/stream", {{"quantities", "pause"}}, ""});
  ASSERT_TRUE(stream);
  EXPECT_NE(stream->next(std::chrono::milliseconds(1))->find("event: tick\ndata: {"),
            std::string::npos);
  EXPECT_EQ(*stream->next(std::chrono::milliseconds(1)), "");
  feed.note({.kind = "note", .text = "line\nbreak"});
  const std::string said = *stream->next(std::chrono::milliseconds(1));
  EXPECT_NE(said.find("event: log\n"), std::string::npos);
  EXPECT_NE(said.find("line\\nbreak"), std::string::npos) << "a name cannot end an event";
  feed.close();
  EXPECT_FALSE(stream->next(std::chrono::milliseconds(1)));
  EXPECT_FALSE(api.stream({"/api/stream", {{"quantities", "x"}}, ""}));
}

TEST(Door, LetsInWhoShowsTheTokenFromThisPage) {
  const Door door("secret-token", "http://127.0.0.1:9347", true, 9347);
  Visit visit{.method = "GET", .path = "/api/frame", .host = "127.0.0.1:9347"};
  EXPECT_EQ(door.refuses(visit)->status, 401);
  visit.cookie = "a=b; weir_9347=secret-token";
  EXPECT_FALSE(door.refuses(visit));
  visit.cookie = "weir_9348=secret-token";
  EXPECT_TRUE(door.refuses(visit));
  visit.authorization = "Bearer secret-token";
  EXPECT_FALSE(door.refuses(visit));
  visit.host = "localhost:9347";
  EXPECT_FALSE(door.refuses(visit));
  for (const char* const host : {"evil.example:9347", "[::1]evil", "127.0.0.1:evil", ""}) {
    visit.host = host;
    ASSERT_TRUE(door.refuses(visit)) << host;
    EXPECT_EQ(door.refuses(visit)->status, 403) << "rebinding: " << host;
  }
  visit.host = "127.0.0.1:9347";
  visit.fetch_site = "cross-site";
  EXPECT_EQ(door.refuses(visit)->status, 403);
  visit.fetch_site = "same-origin";
  visit.method = "POST";
  EXPECT_EQ(door.refuses(visit)->status, 403) << "no Origin";
  visit.origin = "http://evil.example";
  EXPECT_EQ(door.refuses(visit)->status, 403);
  visit.origin = "http://127.0.0.1:9347";
  EXPECT_FALSE(door.refuses(visit));
  EXPECT_FALSE(door.is_token(""));
  EXPECT_FALSE(Door("", "http://127.0.0.1:1", true, 1).is_token("")) << "no token is none";
  EXPECT_EQ(draw_token().size(), 32U);
  EXPECT_NE(draw_token(), draw_token());
}

TEST(Assets, AreWholeAndAskForNothingElsewhere) {
  for (const char* const path :
       {"/", "/page.css", "/page.js", "/model.js", "/map.js", "/uplot.js"}) {
    const Asset* asset = find_asset(path);
    ASSERT_NE(asset, nullptr) << path;
    EXPECT_GT(asset->text.size(), 1000U);
    EXPECT_EQ(asset->text.find("//cdn"), std::string_view::npos);
  }
  EXPECT_EQ(find_asset("/../etc/passwd"), nullptr);
}

}  // namespace
}  // namespace weir::serve

// A request to the live page as it reaches our own code: who asks (Door), what (Api), and a body.
//
// The input is lines: method, path, values "name=value&…", host, origin, cookie, authorization; the
// rest is the body.
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>

#include "base/text.h"
#include "serve/assets/assets.h"
#include "serve/http/server.h"
#include "serve/page/api.h"
#include "serve/page/door.h"

namespace {

using namespace weir::serve;  // NOLINT(google-build-using-namespace)

std::vector<weir::ops::WatchedPort> some_ports() {
  std::vector<weir::ops::WatchedPort> ports(4);
  for (std::size_t i = 0; i < ports.size(); ++i) {
    ports[i].device = i < 2 ? "gpu" + std::to_string(i) : "leaf";
    ports[i].name = "p" + std::to_string(i);
    ports[i].tier = i < 2 ? 0 : 1;
    ports[i].peer = (i + 2) % 4;
    ports[i].paused = 0.5;
    ports[i].pausing = 0.5;
  }
  return ports;
}

struct Machine {
  Machine() : api(feed, PageInfo{}, LabControl{[] { return std::vector<std::string>{}; }, set}) {
    feed.add(some_ports(), 1000, "");
    feed.add(some_ports(), 2000, "1 s simulated");
  }
  static weir::Status set(const std::string& fault, bool /*is_on*/) {
    if (fault.size() > 200) std::abort();
    return {};
  }
  Feed feed;
  Api api;
  Door door{"0123456789abcdef", "http://127.0.0.1:9347", true, 9347};
};

std::string line_of(std::string_view& text) {
  const std::size_t end = text.find('\n');
  std::string line(text.substr(0, end));
  text = end == std::string_view::npos ? std::string_view() : text.substr(end + 1);
  return line;
}

}  // namespace

// NOLINTNEXTLINE(readability-identifier-naming): the name that libFuzzer calls
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static Machine machine;
  std::string_view text(reinterpret_cast<const char*>(data), size);  // NOLINT
  Visit visit;
  visit.method = line_of(text);
  visit.path = line_of(text);
  const std::string values = line_of(text);
  visit.host = line_of(text);
  visit.origin = line_of(text);
  visit.cookie = line_of(text);
  visit.authorization = line_of(text);
  Question question{.path = visit.path, .values = {}, .body = std::string(text)};
  for (const std::string_view pair : weir::split(std::string_view(values), '&')) {
    const std::size_t equals = pair.find('=');
    if (equals != std::string_view::npos)
      question.values.try_emplace(std::string(pair.substr(0, equals)), pair.substr(equals + 1));
  }
  // Nobody without the token comes in, whatever else is sent.
  const bool shows_token = visit.cookie.find("0123456789abcdef") != std::string::npos ||
                           visit.authorization.find("0123456789abcdef") != std::string::npos;
  if (!machine.door.refuses(visit) && !shows_token) std::abort();
  (void)find_asset(question.path);
  if (machine.api.get(question).status == 500) std::abort();
  (void)machine.api.post(question);
  if (auto stream = machine.api.stream(question)) (void)stream->next(std::chrono::milliseconds(0));
  return 0;
}

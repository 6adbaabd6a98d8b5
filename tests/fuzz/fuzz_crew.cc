// What the workers of a tuning and their foreman say to each other, line by line. Neither is
// trusted by the other: workers may be of another version, or whatever a launcher started instead.
// A worker is read as it is introduced and up to the run that it would make; a foreman gets each
// line from one of his two workers in turn.
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "base/check.h"
#include "base/json.h"
#include "base/text.h"
#include "base/untrusted/json_parse.h"
#include "design/file/load.h"
#include "small_design.h"
#include "tune/crew/crew.h"

namespace weir::tune {
namespace {

constexpr std::uint64_t kDigest = 0x0123456789abcdef;

/// Two workers who say these lines, and are gone where there is none left.
class Talkers final : public Crew {
 public:
  explicit Talkers(std::string_view text) : lines_(split(text, '\n')) {}
  [[nodiscard]] std::size_t size() const override { return 2; }
  [[nodiscard]] bool send(std::size_t /*worker*/, std::string_view line) override {
    WEIR_CHECK(line.find('\n') == std::string_view::npos);
    return true;
  }
  [[nodiscard]] Result<Message> receive() override {
    const std::size_t worker = next_ % 2;
    if (next_ < lines_.size()) return Message{worker, std::string(lines_[next_++]), false};
    ++next_;
    return Message{worker, "it ended", true};
  }

 private:
  std::vector<std::string_view> lines_;
  std::size_t next_ = 0;
};

void read_workers(std::string_view text) {
  Talkers talkers(text);
  Foreman foreman(talkers, "fuzz.yaml", "", kDigest);
  std::vector<RunOrder> orders(3);
  for (std::size_t i = 0; i < orders.size(); ++i)
    orders[i].seed = i;
  std::size_t taken = 0;
  const Status made = foreman.make(orders, [&](std::size_t index, const MadeRun& /*made*/) {
    WEIR_CHECK(index < orders.size());
    ++taken;
  });
  WEIR_CHECK(made ? taken == orders.size() : !made.error().what.empty());
}

/// Introduced by whatever comes, and given no order.
void read_introduction(const std::string& line) {
  bool is_first = true;
  std::size_t replies = 0;
  const Status worked = work({.receive =
                                  [&](std::string& out) {
                                    out = line;
                                    return std::exchange(is_first, false);
                                  },
                              .reply = [&](const std::string& /*reply*/) { ++replies; }});
  WEIR_CHECK(replies == 1);
  WEIR_CHECK(worked || !worked.error().what.empty());
}

/// Up to the run: a simulation may take as long as its order says.
void read_order(std::string_view line) {
  const auto document = parse_json(line);
  if (!document) return;
  const auto order = run_order_from_json(*document);
  if (!order) {
    WEIR_CHECK(!order.error().what.empty());
    return;
  }
  const auto again = run_order_from_json(to_json(*order));
  WEIR_CHECK(again.has_value() && to_json(*again) == to_json(*order));
  Variants variants(small_design());
  if (const auto ready = ready_run(*order, variants); !ready)
    WEIR_CHECK(!ready.error().what.empty());
}

}  // namespace
}  // namespace weir::tune

// NOLINTNEXTLINE(readability-identifier-naming): libFuzzer's name
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  weir::tune::read_workers(text);
  weir::tune::read_introduction(std::string(text));
  constexpr std::size_t kMostOrders = 20;
  std::size_t orders = 0;
  for (const std::string_view line : weir::split(text, '\n'))
    if (++orders <= kMostOrders) weir::tune::read_order(line);
  return 0;
}

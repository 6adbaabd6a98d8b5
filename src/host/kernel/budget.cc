#include "host/kernel/budget.h"

#include <cerrno>
#include <charconv>
#include <cstdint>
#include <optional>

namespace weir::host {
namespace {

constexpr std::int64_t kPicosecondsPerNanosecond = 1000;

class BudgetKernel final : public Kernel {
 public:
  BudgetKernel(Kernel& inner, Duration budget) : inner_(inner) {
    const auto now = clock();
    if (now.has_value()) end_ = *now + budget.raw() / kPicosecondsPerNanosecond;
  }

  Answer<std::string> read_file(const std::string& path) override {
    if (is_spent()) return Errno{ETIMEDOUT};
    return inner_.read_file(path);
  }
  Answer<std::vector<std::string>> list(const std::string& path) override {
    if (is_spent()) return Errno{ETIMEDOUT};
    return inner_.list(path);
  }
  Answer<std::string> real_path(const std::string& path) override {
    if (is_spent()) return Errno{ETIMEDOUT};
    return inner_.real_path(path);
  }
  Answer<std::vector<std::string>> netlink(int protocol, const std::string& request) override {
    if (is_spent(true)) return Errno{ETIMEDOUT};
    return inner_.netlink(protocol, request);
  }
  Answer<std::string> ethtool(const std::string& netdev, const std::string& request) override {
    if (is_spent(true)) return Errno{ETIMEDOUT};
    return inner_.ethtool(netdev, request);
  }
  Answer<std::string> about(std::string_view what) override { return inner_.about(what); }

 private:
  [[nodiscard]] std::optional<std::int64_t> clock() {
    const auto text = inner_.about("clock_ns");
    std::int64_t now = 0;
    if (!text || std::from_chars(text->data(), text->data() + text->size(), now).ec != std::errc())
      return std::nullopt;
    return now;
  }
  /// Asking the clock costs about as much as reading a file of sysfs: every few files will do. A
  /// driver may take its time over everything else.
  [[nodiscard]] bool is_spent(bool may_be_slow = false) {
    constexpr unsigned kBetween = 16;
    const bool looks = may_be_slow || asked_++ % kBetween == 0;
    if (!spent_ && end_.has_value() && looks) {
      const auto now = clock();
      spent_ = now.has_value() && *now > *end_;
    }
    return spent_;
  }

  Kernel& inner_;
  std::optional<std::int64_t> end_;
  unsigned asked_ = 0;
  bool spent_ = false;
};

}  // namespace

std::unique_ptr<Kernel> make_budget_kernel(Kernel& inner, Duration budget) {
  return std::make_unique<BudgetKernel>(inner, budget);
}

}  // namespace weir::host

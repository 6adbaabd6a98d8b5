#pragma once
// The low-level seam below LinuxHost: everything the host layer ever asks of a kernel.
//
// Six questions and five changes, each answered with a value or with the errno that the kernel
// gave. Nothing is interpreted here, so four implementations are enough: the running kernel
// (kernel_live.h), a captured one (kernel_replay.h), and in tests one that fails on purpose and one
// in memory that takes changes. Whoever asks has to face the errno: an answer never turns into a
// default. Only the running kernel and the one in memory take changes; the others refuse (EROFS).
#include <cerrno>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "base/check.h"
#include "counters/reading.h"

namespace weir::host {

/// An errno as a type of its own: 2 is "No such file or directory", not a number that was read.
struct Errno {
  int number = 0;
  friend bool operator==(Errno, Errno) = default;
};

/// What the kernel answered: a value, or why there is none.
template <class T>
class [[nodiscard]] Answer {
 public:
  // Implicit, so that a function can return either.
  // NOLINTNEXTLINE(google-explicit-constructor)
  Answer(T value) : state_(std::in_place_index<0>, std::move(value)) {}
  // NOLINTNEXTLINE(google-explicit-constructor)
  Answer(Errno error) : state_(std::in_place_index<1>, error) {}

  [[nodiscard]] bool has_value() const { return state_.index() == 0; }
  explicit operator bool() const { return has_value(); }
  [[nodiscard]] const T& value() const {
    WEIR_CHECK(has_value());
    return std::get<0>(state_);
  }
  const T& operator*() const { return value(); }
  const T* operator->() const { return &value(); }
  [[nodiscard]] Errno error() const {
    WEIR_CHECK(!has_value());
    return std::get<1>(state_);
  }
  [[nodiscard]] bool is(int error_number) const {
    return !has_value() && error().number == error_number;
  }

 private:
  std::variant<T, Errno> state_;
};

/// A change that the kernel took.
struct Taken {};

/// What an errno means for a fact; one map for facts and counters.
[[nodiscard]] inline counters::Missing missing_of(Errno error) {
  return counters::reading_from_errno(error.number).why();
}

/// A file of the kernel is a page, a listing of processes some more; what is larger is not one.
inline constexpr std::size_t kFileLimit = std::size_t{1} << 20U;

/// The errno of an answer that is longer, or of another shape, than the kernel's own: EPROTO.
[[nodiscard]] inline Errno malformed() {
  return {EPROTO};
}

inline constexpr std::string_view kKernelLog = "kernel_log";

class Kernel {
 public:
  Kernel() = default;
  Kernel(const Kernel&) = delete;
  Kernel& operator=(const Kernel&) = delete;
  virtual ~Kernel() = default;

  /// Paths are absolute, as on the running system: "/sys/class/net/eth2/mtu".
  [[nodiscard]] virtual Answer<std::string> read_file(const std::string& path) = 0;
  /// Names in a directory, sorted; without "." and "..".
  [[nodiscard]] virtual Answer<std::vector<std::string>> list(const std::string& path) = 0;
  /// Where a path leads when every link is followed.
  [[nodiscard]] virtual Answer<std::string> real_path(const std::string& path) = 0;

  /// One netlink conversation: `request` is a whole message (header and payload, sequence number
  /// and port filled in here), the answer holds the whole replies up to the acknowledgement or the
  /// end of a dump; an error message of the kernel is its errno.
  [[nodiscard]] virtual Answer<std::vector<std::string>> netlink(int protocol,
                                                                 const std::string& request) = 0;

  /// SIOCETHTOOL: `request` is the command's structure, the answer the same bytes as the kernel
  /// left them.
  [[nodiscard]] virtual Answer<std::string> ethtool(const std::string& netdev,
                                                    const std::string& request) = 0;

  /// What no file says: "machine" (uname's, "x86_64"), "time" (RFC 3339, UTC), "clock_ns" (a clock
  /// that only goes forward), "home" (of this user), "gpu_busy" (percent of each GPU, "97,100"),
  /// kKernelLog (what `dmesg` prints; EPERM where the kernel keeps it for administrators).
  /// ENOENT for anything else.
  [[nodiscard]] virtual Answer<std::string> about(std::string_view what) = 0;

  /// Into a file that exists, in one write.
  [[nodiscard]] virtual Answer<Taken> write_file(const std::string& /*path*/,
                                                 const std::string& /*text*/) {
    return Errno{EROFS};
  }
  [[nodiscard]] virtual Answer<Taken> make_directory(const std::string& /*path*/) {
    return Errno{EROFS};
  }
  [[nodiscard]] virtual Answer<Taken> remove_directory(const std::string& /*path*/) {
    return Errno{EROFS};
  }
  /// As netlink(), for a request that changes something: a driver may take seconds to rebuild its
  /// queues, and that must not be taken for silence.
  [[nodiscard]] virtual Answer<std::vector<std::string>> change(int /*protocol*/,
                                                                const std::string& /*request*/) {
    return Errno{EROFS};
  }
  /// As ethtool(), for a command that changes something.
  [[nodiscard]] virtual Answer<Taken> change_ethtool(const std::string& /*netdev*/,
                                                     const std::string& /*request*/) {
    return Errno{EROFS};
  }
};

}  // namespace weir::host

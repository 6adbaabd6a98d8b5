// What a reader of files can no longer ask of the kernel. Each test gives up root in a child of its
// own, which says how the calls ended.
#include "base/untrusted/give_up_root.h"

#include <array>
#include <cerrno>
#include <csignal>
#include <cstdint>
#include <cstdlib>
#include <functional>
#include <thread>

#include <fcntl.h>
#include <sched.h>
#include <sys/ioctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/testing.h"

namespace weir {
namespace {

/// The error of a raw call; 0: it passed.
int error_of(long call, long a = 0, long b = 0, long c = 0, long d = 0, long e = 0) {
  errno = 0;
  return ::syscall(call, a, b, c, d, e) < 0 ? errno : 0;
}

/// The status with which a child ends that gave up root for `body`: its answer, or 128 and the
/// signal.
int reader_that(const std::function<int()>& body) {
  const pid_t child = ::fork();
  if (child == 0) {
    if (!give_up_root({})) ::_exit(101);
    ::_exit(body());
  }
  int status = 0;
  if (child < 0 || ::waitpid(child, &status, 0) != child) return -1;
  return WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
}

class AReader : public ::testing::Test {
 protected:
  void SetUp() override {
    if (::geteuid() != 0) GTEST_SKIP() << "not root: there is nothing to give up";
  }
};

TEST_F(AReader, SignalsNobodyButItself) {
  const pid_t other = ::getpid();
  EXPECT_EQ(reader_that([&] { return error_of(SYS_kill, other, 0); }), EPERM);
  EXPECT_EQ(reader_that([&] { return error_of(SYS_tkill, other, 0); }), EPERM);
  EXPECT_EQ(reader_that([&] { return error_of(SYS_tgkill, other, other, 0); }), EPERM);
  EXPECT_EQ(reader_that([&] { return error_of(SYS_rt_sigqueueinfo, other, 0, 0); }), EPERM);
  constexpr long kPidfdOpen = 434;
  EXPECT_EQ(reader_that([&] { return error_of(kPidfdOpen, other, 0); }), EPERM);
  rlimit limit{};
  EXPECT_EQ(
      reader_that([&] { return ::prlimit(other, RLIMIT_CORE, nullptr, &limit) == 0 ? 0 : errno; }),
      EPERM);
  // As WEIR_CHECK() ends it.
  EXPECT_EQ(reader_that([] {
              std::signal(SIGABRT, SIG_DFL);
              std::abort();
              return 0;
            }),
            128 + SIGABRT);
}

TEST_F(AReader, OpensNoFileByItsHandle) {
  std::array<char, 256> handle{};
  EXPECT_EQ(reader_that([&] {
              return error_of(SYS_open_by_handle_at, AT_FDCWD,
                              reinterpret_cast<long>(handle.data()), O_RDONLY);
            }),
            EPERM);
}

TEST_F(AReader, TypesNothingAtItsTerminal) {
  char letter = 'x';
  EXPECT_EQ(reader_that([&] { return ::ioctl(0, TIOCSTI, &letter) == 0 ? 0 : errno; }), EPERM);
  // The kernel takes the lower half alone.
  constexpr long kAbove = 1L << 40;
  EXPECT_EQ(reader_that([&] {
              return error_of(SYS_ioctl, 0, kAbove | TIOCSTI, reinterpret_cast<long>(&letter));
            }),
            EPERM);
  EXPECT_NE(reader_that([] {
              winsize size{};
              const int file = ::open("/dev/null", O_RDONLY | O_CLOEXEC);
              return ::ioctl(file, TIOCGWINSZ, &size) == 0 ? 0 : errno;
            }),
            EPERM);
}

TEST_F(AReader, MakesNoNamespaceAndStillHasThreads) {
  EXPECT_EQ(reader_that([] { return error_of(SYS_clone, CLONE_NEWUSER | SIGCHLD); }), EPERM);
  EXPECT_EQ(reader_that([] { return error_of(SYS_clone3, 0, 0); }), ENOSYS);
  EXPECT_EQ(reader_that([] {
              int done = 1;
              std::thread([&] { done = 0; }).join();
              return done;
            }),
            0);
}

TEST_F(AReader, StartsNoProgramUnderAnyAbi) {
  const char* const words[] = {"/bin/true", nullptr};
  EXPECT_EQ(reader_that([&] {
              return error_of(SYS_execve, reinterpret_cast<long>(words[0]),
                              reinterpret_cast<long>(static_cast<const void*>(words)));
            }),
            EPERM);
#if defined(__x86_64__)
  constexpr long kX32 = 0x40000000;
  constexpr long kX32Execve = 520;  // it has a number of its own there
  EXPECT_EQ(reader_that([] { return error_of(kX32 | SYS_getpid); }), EPERM);
  EXPECT_EQ(reader_that([&] {
              return error_of(kX32 | kX32Execve, reinterpret_cast<long>(words[0]),
                              reinterpret_cast<long>(static_cast<const void*>(words)));
            }),
            EPERM);
#endif
}

}  // namespace
}  // namespace weir

#include "base/untrusted/give_up_root.h"

#include <array>
#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <filesystem>
#include <string>
#include <vector>

#include <fcntl.h>
#include <grp.h>
#include <linux/audit.h>
#include <linux/capability.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sched.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

namespace weir {
namespace {

constexpr std::uint32_t kToRead = 1U << CAP_DAC_READ_SEARCH;
constexpr std::uint32_t kToWrite = 1U << CAP_DAC_OVERRIDE;
constexpr unsigned kNobody = 65534;  // Debian policy 9.2.2; the kernel's overflowuid

Error refused(const char* what) {
  return {ErrorCode::kPermission, std::string("giving up root before reading files: ") + what +
                                      ": " + std::strerror(errno)};
}

/// Keeps these capabilities, of those it has (a container may have fewer), and no other.
bool keep_capabilities(std::uint32_t kept) {
  __user_cap_header_struct header{_LINUX_CAPABILITY_VERSION_3, 0};
  std::array<__user_cap_data_struct, _LINUX_CAPABILITY_U32S_3> data{};
  if (::syscall(SYS_capget, &header, data.data()) != 0) return false;
  const std::uint32_t left = data[0].permitted & kept;
  data = {};
  data[0].effective = data[0].permitted = left;
  return ::syscall(SYS_capset, &header, data.data()) == 0;
}

bool become_nobody() {
  if (::prctl(PR_SET_KEEPCAPS, 1, 0, 0, 0) != 0) return false;
  // In a user namespace that maps root alone there is no nobody: its root is an ordinary user.
  const bool may_stay = ::setgroups(0, nullptr) != 0 ||
                        ::setresgid(kNobody, kNobody, kNobody) != 0 ||
                        ::setresuid(kNobody, kNobody, kNobody) != 0;
  return !may_stay || errno == EINVAL || errno == EPERM;
}

#if defined(__x86_64__)
constexpr std::uint32_t kArchitecture = AUDIT_ARCH_X86_64;
#elif defined(__aarch64__)
constexpr std::uint32_t kArchitecture = AUDIT_ARCH_AARCH64;
#else
constexpr std::uint32_t kArchitecture = 0;
#endif

/// System calls that no reader of files and no writer of reports needs: EPERM. Others pass; what
/// they could do, the capabilities, the user and Landlock forbid. Changing modes, owners and times
/// is here because Landlock does not know of it; opening by handle, because CAP_DAC_READ_SEARCH,
/// which a reader keeps, opens any file of the machine by its number, out of a container too.
constexpr auto kForbidden = std::to_array<std::uint32_t>({
  SYS_execve, SYS_execveat, SYS_socket, SYS_socketpair, SYS_connect, SYS_bind, SYS_listen,
      SYS_ptrace, SYS_process_vm_readv, SYS_process_vm_writev, SYS_mount, SYS_umount2, SYS_bpf,
      SYS_perf_event_open, SYS_init_module, SYS_finit_module, SYS_kexec_load, SYS_keyctl,
      SYS_add_key, SYS_request_key, SYS_unshare, SYS_setns, SYS_userfaultfd, SYS_io_uring_setup,
      SYS_fchmod, SYS_fchmodat, SYS_fchown, SYS_fchownat, SYS_setxattr, SYS_lsetxattr,
      SYS_fsetxattr, SYS_removexattr, SYS_lremovexattr, SYS_fremovexattr, SYS_truncate, SYS_mknodat,
      SYS_utimensat, SYS_open_by_handle_at, SYS_name_to_handle_at,
      // What reaches other processes: one that writes has the same user as all of root's.
      SYS_kill, SYS_tkill, SYS_rt_sigqueueinfo, SYS_rt_tgsigqueueinfo, SYS_kcmp, SYS_move_pages,
      SYS_migrate_pages, SYS_sched_setaffinity, SYS_sched_setscheduler, SYS_sched_setparam,
      SYS_sched_setattr, SYS_setpriority, SYS_ioprio_set, SYS_shmget, SYS_shmat, SYS_msgget,
      SYS_semget,
#if defined(SYS_chmod)  // not on arm64, which has the newer ones alone
      SYS_chmod, SYS_chown, SYS_lchown, SYS_mknod, SYS_utime, SYS_utimes, SYS_futimesat,
#endif
      // The same numbers everywhere; headers of 2022 do not name all of them.
      424,  // pidfd_send_signal
      434,  // pidfd_open
      438,  // pidfd_getfd
      440,  // process_madvise
      448,  // process_mrelease
      452,  // fchmodat2, of Linux 6.6
      463,  // setxattrat, of Linux 6.13
      466,  // removexattrat
});

/// A filter of system calls, step by step. Of an argument it sees the lower half (both
/// architectures are little-endian): what is asked here the kernel takes as 32 bits.
class CallFilter {
 public:
  CallFilter() {
    add(BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(seccomp_data, arch)));
    add(BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, kArchitecture, 1, 0));
    add(BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS));
    add(kLoadNumber);
#if defined(__x86_64__)
    // The x32 ABI has every call once more, with this bit (<asm/unistd.h>).
    constexpr std::uint32_t kX32 = 0x40000000;
    add(BPF_JUMP(BPF_JMP | BPF_JGE | BPF_K, kX32, 0, 1));
    add(answer(EPERM));
#endif
  }

  void refuse(std::uint32_t call, int error = EPERM) {
    add(BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, call, 0, 1));
    add(answer(error));
  }
  void refuse_unless(std::uint32_t call, unsigned argument, std::uint32_t value) {
    ask(call, argument, BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, value, 1, 0));
  }
  void refuse_where(std::uint32_t call, unsigned argument, std::uint32_t value) {
    ask(call, argument, BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, value, 0, 1));
  }
  void refuse_with_bits(std::uint32_t call, unsigned argument, std::uint32_t bits) {
    ask(call, argument, BPF_JUMP(BPF_JMP | BPF_JSET | BPF_K, bits, 0, 1));
  }

  /// True where the kernel has no filters, too.
  [[nodiscard]] bool install() {
    add(BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW));
    const sock_fprog program{static_cast<unsigned short>(steps_.size()), steps_.data()};
    return ::prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program, 0, 0) == 0 || errno == EINVAL;
  }

 private:
  static constexpr sock_filter kLoadNumber =
      BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(seccomp_data, nr));
  static sock_filter answer(int error) {
    return BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | static_cast<std::uint32_t>(error));
  }
  void add(sock_filter step) {
    steps_.push_back(step);
  }
  /// `test` steps over the refusal where the call passes.
  void ask(std::uint32_t call, unsigned argument, sock_filter test) {
    add(BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, call, 0, 4));
    add(BPF_STMT(BPF_LD | BPF_W | BPF_ABS,
                 static_cast<std::uint32_t>(offsetof(seccomp_data, args) +
                                            argument * sizeof(std::uint64_t))));
    add(test);
    add(answer(EPERM));
    add(kLoadNumber);  // for what is asked next
  }

  std::vector<sock_filter> steps_;
};

bool forbid_calls() {
  if (kArchitecture == 0) return true;
  CallFilter filter;
  for (const std::uint32_t call : kForbidden)
    filter.refuse(call);
  // abort() and raise() signal their own process.
  filter.refuse_unless(SYS_tgkill, 0, static_cast<std::uint32_t>(::getpid()));
  filter.refuse_unless(SYS_prlimit64, 0, 0);
  // What a terminal takes for typed (TIOCSTI) is typed at root's shell; Linux before 6.2 lets
  // everybody. TIOCLINUX pastes.
  filter.refuse_where(SYS_ioctl, 1, TIOCSTI);
  filter.refuse_where(SYS_ioctl, 1, TIOCLINUX);
  // A new user namespace is one in which one is root. The flags of clone3() are in memory, where a
  // filter cannot look: without it the C library takes clone().
  constexpr std::uint32_t kNamespaces = CLONE_NEWNS | CLONE_NEWCGROUP | CLONE_NEWUTS |
                                        CLONE_NEWIPC | CLONE_NEWUSER | CLONE_NEWPID | CLONE_NEWNET;
  filter.refuse_with_bits(SYS_clone, 0, kNamespaces);
  filter.refuse(SYS_clone3, ENOSYS);
  return filter.install();
}

// ---- Landlock (https://docs.kernel.org/userspace-api/landlock.html) ----
// Numbers of our own: headers of 2022 have the first of them alone.

enum Landlock : std::uint64_t {
  kExecute = 1U << 0U,
  kWriteFile = 1U << 1U,
  kRemoveDirectory = 1U << 4U,
  kRemoveFile = 1U << 5U,
  kMakeCharacterDevice = 1U << 6U,
  kMakeDirectory = 1U << 7U,
  kMakeFile = 1U << 8U,
  kMakeSocket = 1U << 9U,
  kMakeFifo = 1U << 10U,
  kMakeBlockDevice = 1U << 11U,
  kMakeLink = 1U << 12U,
  kRefer = 1U << 13U,          // version 2
  kTruncate = 1U << 14U,       // version 3
  kControlDevice = 1U << 15U,  // version 5
};

struct __attribute__((packed)) LandlockPlace {
  std::uint64_t allowed = 0;
  std::int32_t directory = -1;
};

/// The nearest directory that is there.
int open_place(const std::string& path) {
  std::filesystem::path at = path.empty() ? "." : path;
  for (;;) {
    const int directory = ::open(at.c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC);
    if (directory >= 0) return directory;
    const std::filesystem::path above = at.has_parent_path() ? at.parent_path() : ".";
    if (above == at || at == ".") return -1;
    at = above;
  }
}

/// True where it holds, or where this kernel has no Landlock.
bool write_only_under(const std::vector<std::string>& places) {
  constexpr std::uint32_t kAskVersion = 1;
  constexpr int kPathBeneath = 1;
  const auto version =
      static_cast<int>(::syscall(SYS_landlock_create_ruleset, nullptr, 0, kAskVersion));
  if (version < 1) return true;
  std::uint64_t handled = kExecute | kWriteFile | kRemoveDirectory | kRemoveFile |
                          kMakeCharacterDevice | kMakeDirectory | kMakeFile | kMakeSocket |
                          kMakeFifo | kMakeBlockDevice | kMakeLink;
  if (version >= 2) handled |= kRefer;
  if (version >= 3) handled |= kTruncate;
  if (version >= 5) handled |= kControlDevice;
  const auto set =
      static_cast<int>(::syscall(SYS_landlock_create_ruleset, &handled, sizeof handled, 0));
  if (set < 0) return false;
  bool is_well = true;
  for (const std::string& place : places) {
    LandlockPlace rule;
    rule.directory = open_place(place);
    rule.allowed = handled & (kWriteFile | kRemoveDirectory | kRemoveFile | kMakeDirectory |
                              kMakeFile | kRefer | kTruncate);
    // One that cannot be opened cannot be written to either: the verb says so in its own words.
    if (rule.directory < 0) continue;
    is_well = is_well && ::syscall(SYS_landlock_add_rule, set, kPathBeneath, &rule, 0) == 0;
    ::close(rule.directory);
  }
  is_well = is_well && ::syscall(SYS_landlock_restrict_self, set, 0) == 0;
  ::close(set);
  return is_well;
}

}  // namespace

Status give_up_root_to_serve(const std::vector<std::string>& places) {
  if (::geteuid() != 0) return {};
  if (::prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0) return refused("no_new_privs");
  if (!places.empty() && !write_only_under(places)) return refused("landlock");
  if (places.empty() && !become_nobody()) return refused("setuid");
  if (!keep_capabilities(places.empty() ? kToRead : kToRead | kToWrite)) return refused("capset");
  return {};
}

Status give_up_root(const std::vector<std::string>& places) {
  if (::geteuid() != 0) return {};
  if (::prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0) return refused("no_new_privs");
  if (!write_only_under(places)) return refused("landlock");
  if (places.empty() && !become_nobody()) return refused("setuid");
  if (!keep_capabilities(places.empty() ? kToRead : kToRead | kToWrite)) return refused("capset");
  if (!forbid_calls()) return refused("seccomp");
  return {};
}

}  // namespace weir

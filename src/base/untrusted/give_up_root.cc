#include "base/untrusted/give_up_root.h"

#include <array>
#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <filesystem>
#include <string>

#include <fcntl.h>
#include <grp.h>
#include <linux/audit.h>
#include <linux/capability.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
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
/// they could do, the capabilities, the user and Landlock forbid. Changing modes and owners is here
/// because Landlock does not know of it.
constexpr auto kForbidden = std::to_array<std::uint32_t>({
  SYS_execve, SYS_execveat, SYS_socket, SYS_socketpair, SYS_connect, SYS_bind, SYS_listen,
      SYS_ptrace, SYS_process_vm_readv, SYS_process_vm_writev, SYS_mount, SYS_umount2, SYS_bpf,
      SYS_perf_event_open, SYS_init_module, SYS_finit_module, SYS_kexec_load, SYS_keyctl,
      SYS_add_key, SYS_request_key, SYS_unshare, SYS_setns, SYS_userfaultfd, SYS_io_uring_setup,
      SYS_fchmod, SYS_fchmodat, SYS_fchown, SYS_fchownat, SYS_setxattr, SYS_lsetxattr,
      SYS_fsetxattr, SYS_truncate, SYS_mknodat, SYS_kill,
#if defined(SYS_chmod)  // not on arm64, which has the newer ones alone
      SYS_chmod, SYS_chown, SYS_lchown, SYS_mknod,
#endif
      452,  // fchmodat2, of Linux 6.6
});

bool forbid_calls() {
  if (kArchitecture == 0) return true;
  constexpr auto kCalls = static_cast<std::uint8_t>(kForbidden.size());
  std::array<sock_filter, kForbidden.size() + 6> filter{};
  std::size_t n = 0;
  filter.at(n++) = BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(seccomp_data, arch));
  filter.at(n++) = BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, kArchitecture, 1, 0);
  filter.at(n++) = BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS);
  filter.at(n++) = BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(seccomp_data, nr));
  for (std::uint8_t i = 0; i < kCalls; ++i)
    filter.at(n++) = BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, kForbidden.at(i),
                              static_cast<std::uint8_t>(kCalls - i), 0);
  filter.at(n++) = BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW);
  filter.at(n++) = BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EPERM);
  const sock_fprog program{static_cast<unsigned short>(n), filter.data()};
  return ::prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program, 0, 0) == 0 || errno == EINVAL;
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

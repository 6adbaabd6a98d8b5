#include "base/untrusted/give_up_root.h"

#include <array>
#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string>

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

constexpr unsigned kNobody = 65534;  // Debian policy 9.2.2; the kernel's overflowuid

Error refused(const char* what) {
  return {ErrorCode::kPermission, std::string("giving up root before reading files: ") + what +
                                      ": " + std::strerror(errno)};
}

/// What remains after setuid: reading, and nothing else.
bool keep_reading_only() {
  __user_cap_header_struct header{_LINUX_CAPABILITY_VERSION_3, 0};
  std::array<__user_cap_data_struct, _LINUX_CAPABILITY_U32S_3> data{};
  data[0].effective = data[0].permitted = 1U << CAP_DAC_READ_SEARCH;
  if (::syscall(SYS_capset, &header, data.data()) == 0) return true;
  data[0] = {};  // a container may not have it to begin with
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

/// System calls that no reader of files needs: EPERM. Others pass; what they could do, the
/// capabilities and the user forbid.
constexpr auto kForbidden = std::to_array<std::uint32_t>({
    SYS_execve,       SYS_execveat,   SYS_socket,      SYS_socketpair,       SYS_connect,
    SYS_bind,         SYS_listen,     SYS_ptrace,      SYS_process_vm_readv, SYS_process_vm_writev,
    SYS_mount,        SYS_umount2,    SYS_bpf,         SYS_perf_event_open,  SYS_init_module,
    SYS_finit_module, SYS_kexec_load, SYS_keyctl,      SYS_add_key,          SYS_request_key,
    SYS_unshare,      SYS_setns,      SYS_userfaultfd, SYS_io_uring_setup,
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

}  // namespace

Status give_up_root() {
  if (::geteuid() != 0) return {};
  if (::prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0) return refused("no_new_privs");
  if (!become_nobody()) return refused("setuid");
  if (!keep_reading_only()) return refused("capset");
  if (!forbid_calls()) return refused("seccomp");
  return {};
}

}  // namespace weir

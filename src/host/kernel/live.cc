#include "host/kernel/live.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <map>

#include <dirent.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <linux/ethtool.h>
#include <linux/sockios.h>
#include <net/if.h>
#include <netlink/msg.h>
#include <netlink/netlink.h>
#include <netlink/socket.h>
#include <sys/ioctl.h>
#include <sys/klog.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "base/file.h"
#include "host/kernel/netlink.h"
#include "host/kernel/nvml.h"

namespace weir::host {

namespace {

/// A firmware that does not answer must not hold up the whole look at a host (two seconds for all).
constexpr timeval kAnswerTimeout = {.tv_sec = 1, .tv_usec = 0};
/// A change may rebuild every queue of a NIC: seconds on a machine with hundreds of processors.
constexpr timeval kChangeTimeout = {.tv_sec = 30, .tv_usec = 0};

struct SocketDeleter {
  void operator()(nl_sock* socket) const { nl_socket_free(socket); }
};
using Socket = std::unique_ptr<nl_sock, SocketDeleter>;

/// libnl has its own numbers; where they stand for an errno, that one.
int errno_of(int libnl_error) {
  switch (std::abs(libnl_error)) {
    case NLE_SUCCESS: return 0;
    case NLE_INTR: return EINTR;
    case NLE_BAD_SOCK: return EBADF;
    case NLE_AGAIN: return ETIMEDOUT;
    case NLE_NOMEM: return ENOMEM;
    case NLE_EXIST: return EEXIST;
    case NLE_INVAL: return EINVAL;
    case NLE_OPNOTSUPP: return EOPNOTSUPP;
    case NLE_OBJ_NOTFOUND: return ENOENT;
    case NLE_AF_NOSUPPORT: return EAFNOSUPPORT;
    case NLE_PROTO_MISMATCH: return EPROTONOSUPPORT;
    case NLE_NOACCESS: return EACCES;
    case NLE_PERM: return EPERM;
    case NLE_NODEV: return ENODEV;
    default: return EIO;
  }
}

class LiveKernel final : public Kernel {
 public:
  Answer<std::string> read_file(const std::string& path) override;
  Answer<std::vector<std::string>> list(const std::string& path) override;
  Answer<std::string> real_path(const std::string& path) override;
  Answer<std::vector<std::string>> netlink(int protocol, const std::string& request) override;
  Answer<std::string> ethtool(const std::string& netdev, const std::string& request) override;
  Answer<std::string> about(std::string_view what) override;
  Answer<Taken> write_file(const std::string& path, const std::string& text) override;
  Answer<Taken> make_directory(const std::string& path) override;
  Answer<Taken> remove_directory(const std::string& path) override;
  Answer<std::vector<std::string>> change(int protocol, const std::string& request) override;
  Answer<Taken> change_ethtool(const std::string& netdev, const std::string& request) override;

 private:
  enum class Purpose { kAsk, kChange };
  using SocketKey = std::pair<int, Purpose>;
  Answer<nl_sock*> socket_of(SocketKey key);
  Answer<std::vector<std::string>> talk(SocketKey key, const std::string& request);

  std::map<SocketKey, Socket> sockets_;  // one per protocol, kept open: a snapshot asks many times
  OwnedDescriptor ioctl_socket_{::socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0)};
};

Answer<std::string> LiveKernel::read_file(const std::string& path) {
  const OwnedDescriptor file = open_plain_file(path);
  if (file.get() < 0) return Errno{errno};
  std::string content;
  std::array<char, 4096> buffer{};
  for (;;) {
    const ssize_t got = ::read(file.get(), buffer.data(), buffer.size());
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return Errno{errno};
    if (got == 0) return content;
    content.append(buffer.data(), static_cast<std::size_t>(got));
    if (content.size() > kFileLimit) return Errno{EFBIG};
  }
}

Answer<std::vector<std::string>> LiveKernel::list(const std::string& path) {
  DIR* directory = ::opendir(path.c_str());
  if (directory == nullptr) return Errno{errno};
  std::vector<std::string> names;
  errno = 0;
  while (const dirent* entry = ::readdir(directory)) {
    const std::string_view name = static_cast<const char*>(entry->d_name);
    if (name != "." && name != "..") names.emplace_back(name);
    errno = 0;
  }
  const int failed = errno;
  ::closedir(directory);
  if (failed != 0) return Errno{failed};
  std::sort(names.begin(), names.end());
  return names;
}

Answer<std::string> LiveKernel::real_path(const std::string& path) {
  char* resolved = ::realpath(path.c_str(), nullptr);
  if (resolved == nullptr) return Errno{errno};
  std::string text = resolved;
  std::free(resolved);  // NOLINT(cppcoreguidelines-no-malloc): realpath's
  return text;
}

Answer<nl_sock*> LiveKernel::socket_of(SocketKey key) {
  if (const auto found = sockets_.find(key); found != sockets_.end()) return found->second.get();
  Socket socket(nl_socket_alloc());
  if (socket == nullptr) return Errno{ENOMEM};
  if (const int failed = nl_connect(socket.get(), key.first); failed < 0)
    return Errno{errno_of(failed)};
  nl_socket_enable_msg_peek(socket.get());
  // Best effort: without it a silent kernel is waited for, nothing else changes.
  const timeval& timeout = key.second == Purpose::kAsk ? kAnswerTimeout : kChangeTimeout;
  (void)::setsockopt(nl_socket_get_fd(socket.get()), SOL_SOCKET, SO_RCVTIMEO, &timeout,
                     sizeof timeout);
  return sockets_.emplace(key, std::move(socket)).first->second.get();
}

Answer<std::vector<std::string>> LiveKernel::netlink(int protocol, const std::string& request) {
  return talk({protocol, Purpose::kAsk}, request);
}

Answer<std::vector<std::string>> LiveKernel::change(int protocol, const std::string& request) {
  return talk({protocol, Purpose::kChange}, request);
}

Answer<std::vector<std::string>> LiveKernel::talk(SocketKey key, const std::string& request) {
  WEIR_CHECK(request.size() >= sizeof(nlmsghdr));
  const auto socket = socket_of(key);
  if (!socket) return socket.error();
  std::string message = request;
  nlmsghdr header{};
  std::memcpy(&header, message.data(), sizeof header);
  header.nlmsg_seq = nl_socket_use_seq(*socket);
  header.nlmsg_pid = nl_socket_get_local_port(*socket);
  std::memcpy(message.data(), &header, sizeof header);
  if (const int sent = nl_sendto(*socket, message.data(), message.size()); sent < 0)
    return Errno{errno_of(sent)};

  Conversation talk;
  while (!talk.is_done()) {
    sockaddr_nl from{};
    unsigned char* data = nullptr;
    const int got = nl_recv(*socket, &from, &data, nullptr);
    if (got <= 0) {
      sockets_.erase(key);  // a late answer must not be taken for the next one's
      return Errno{got == 0 ? ETIMEDOUT : errno_of(got)};
    }
    talk.take({reinterpret_cast<const char*>(data), static_cast<std::size_t>(got)},
              header.nlmsg_seq);
    std::free(data);  // NOLINT(cppcoreguidelines-no-malloc): libnl's
  }
  return std::move(talk).answer();
}

Answer<std::string> LiveKernel::ethtool(const std::string& netdev, const std::string& request) {
  if (ioctl_socket_.get() < 0) return Errno{EBADF};
  if (netdev.size() >= IFNAMSIZ) return Errno{ENODEV};
  std::string buffer = request;
  ifreq ask{};
  std::memcpy(ask.ifr_name, netdev.c_str(), netdev.size() + 1);
  ask.ifr_data = buffer.data();
  if (::ioctl(ioctl_socket_.get(), SIOCETHTOOL, &ask) < 0) return Errno{errno};
  return buffer;
}

Answer<Taken> LiveKernel::change_ethtool(const std::string& netdev, const std::string& request) {
  const auto reply = ethtool(netdev, request);
  if (!reply) return reply.error();
  return Taken();
}

Answer<Taken> LiveKernel::write_file(const std::string& path, const std::string& text) {
  const OwnedDescriptor file(::open(path.c_str(), O_WRONLY | O_CLOEXEC));
  if (file.get() < 0) return Errno{errno};
  ssize_t written = 0;
  do {
    written = ::write(file.get(), text.data(), text.size());
  } while (written < 0 && errno == EINTR);
  if (written < 0) return Errno{errno};
  // A driver takes the whole text or none of it; the rest would be a second command.
  if (static_cast<std::size_t>(written) != text.size()) return Errno{EIO};
  return Taken();
}

Answer<Taken> LiveKernel::make_directory(const std::string& path) {
  constexpr mode_t kMode = 0755;
  if (::mkdir(path.c_str(), kMode) != 0) return Errno{errno};
  return Taken();
}

Answer<Taken> LiveKernel::remove_directory(const std::string& path) {
  if (::rmdir(path.c_str()) != 0) return Errno{errno};
  return Taken();
}

/// syslog(2): needs no device file, so that it also works where /dev/kmsg is not passed in.
Answer<std::string> read_kernel_log_buffer() {
  constexpr int kReadAll = 3;        // SYSLOG_ACTION_READ_ALL
  constexpr int kSizeOfBuffer = 10;  // SYSLOG_ACTION_SIZE_BUFFER
  constexpr int kMost = 16 << 20;
  const int size = ::klogctl(kSizeOfBuffer, nullptr, 0);
  if (size < 0) return Errno{errno};
  std::string out(static_cast<std::size_t>(std::clamp(size, 0, kMost)), '\0');
  const int length = ::klogctl(kReadAll, out.data(), static_cast<int>(out.size()));
  if (length < 0) return Errno{errno};
  out.resize(static_cast<std::size_t>(length));
  return out;
}

Answer<std::string> LiveKernel::about(std::string_view what) {
  if (what == "machine") {
    utsname names{};
    if (::uname(&names) < 0) return Errno{errno};
    return std::string(static_cast<const char*>(names.machine));
  }
  if (what == "gpu_busy") return read_gpu_busy();
  if (what == kKernelLog) return read_kernel_log_buffer();
  if (what == "home") {
    const char* home = std::getenv("HOME");
    if (home == nullptr) return Errno{ENOENT};
    return std::string(home);
  }
  timespec now{};
  if (what == "time") {
    if (::clock_gettime(CLOCK_REALTIME, &now) != 0) return Errno{errno};
    tm utc{};
    if (::gmtime_r(&now.tv_sec, &utc) == nullptr) return Errno{EOVERFLOW};
    return fmt::format("{:04}-{:02}-{:02}T{:02}:{:02}:{:02}Z", utc.tm_year + 1900, utc.tm_mon + 1,
                       utc.tm_mday, utc.tm_hour, utc.tm_min, utc.tm_sec);
  }
  if (what == "clock_ns") {
    if (::clock_gettime(CLOCK_MONOTONIC, &now) != 0) return Errno{errno};
    return fmt::format("{}", std::int64_t{now.tv_sec} * 1'000'000'000 + now.tv_nsec);
  }
  return Errno{ENOENT};
}

}  // namespace

std::unique_ptr<Kernel> make_live_kernel() {
  return std::make_unique<LiveKernel>();
}

}  // namespace weir::host

#include "wire/live.h"

#include <array>
#include <utility>

#include <fmt/format.h>
#include <pcap/pcap.h>
#include <poll.h>

namespace weir::wire {
namespace {

constexpr int kTimeoutMs = 100;
constexpr int kBufferBytes = 64 << 20;

std::string interfaces() {
  pcap_if_t* all = nullptr;
  std::array<char, PCAP_ERRBUF_SIZE> text{};
  std::string names;
  if (pcap_findalldevs(&all, text.data()) != 0) return names;
  for (const pcap_if_t* interface = all; interface != nullptr; interface = interface->next)
    names += fmt::format("{}{}", names.empty() ? "" : ", ", interface->name);
  pcap_freealldevs(all);
  return names;
}

}  // namespace

struct LiveCapture::Handle {
  pcap_t* pcap = nullptr;
  bool has_nanoseconds = false;
  std::uint16_t link_type = kLinkEthernet;
  Handle() = default;
  Handle(const Handle&) = delete;
  Handle& operator=(const Handle&) = delete;
  ~Handle() {
    if (pcap != nullptr) pcap_close(pcap);
  }
};

LiveCapture::LiveCapture(std::unique_ptr<Handle> handle) : handle_(std::move(handle)) {}
LiveCapture::LiveCapture(LiveCapture&&) noexcept = default;
LiveCapture::~LiveCapture() = default;

Result<LiveCapture> LiveCapture::open(const std::string& interface) {
  std::array<char, PCAP_ERRBUF_SIZE> text{};
  auto handle = std::make_unique<Handle>();
  handle->pcap = pcap_create(interface.c_str(), text.data());
  if (handle->pcap == nullptr)
    return Error{ErrorCode::kIo, fmt::format("{}: {}", interface, text.data())};
  pcap_set_snaplen(handle->pcap, static_cast<int>(kLargestFrame));
  pcap_set_promisc(handle->pcap, 1);
  pcap_set_timeout(handle->pcap, kTimeoutMs);
  pcap_set_buffer_size(handle->pcap, kBufferBytes);
  handle->has_nanoseconds =
      pcap_set_tstamp_precision(handle->pcap, PCAP_TSTAMP_PRECISION_NANO) == 0;
  const int result = pcap_activate(handle->pcap);
  if (result == PCAP_ERROR_PERM_DENIED || result == PCAP_ERROR_PROMISC_PERM_DENIED)
    return Error{ErrorCode::kPermission,
                 fmt::format("capturing on {} needs CAP_NET_RAW: run it as root", interface)};
  if (result == PCAP_ERROR_NO_SUCH_DEVICE)
    return not_found_error(
        fmt::format("no interface '{}' to capture on; there are: {}", interface, interfaces()));
  if (result < 0)
    return Error{ErrorCode::kIo, fmt::format("{}: {}", interface, pcap_geterr(handle->pcap))};
  if (pcap_setnonblock(handle->pcap, 1, text.data()) != 0)
    return Error{ErrorCode::kIo, fmt::format("{}: {}", interface, text.data())};
  // libpcap's numbers differ from the registry's in these two.
  const int link = pcap_datalink(handle->pcap);
  handle->link_type = link == DLT_RAW ? kLinkRaw : static_cast<std::uint16_t>(link);
  return LiveCapture(std::move(handle));
}

Next LiveCapture::next(Record& record) {
  pcap_pkthdr* header = nullptr;
  const u_char* data = nullptr;
  int result = pcap_next_ex(handle_->pcap, &header, &data);
  if (result == 0) {  // libpcap's own timeout does not run while nothing arrives
    pollfd ready{pcap_get_selectable_fd(handle_->pcap), POLLIN, 0};
    poll(&ready, 1, kTimeoutMs);
    result = pcap_next_ex(handle_->pcap, &header, &data);
  }
  if (result == 0) return Next::kEnd;
  if (result < 0) return Next::kDamaged;
  const std::int64_t unit = handle_->has_nanoseconds ? 1 : 1000;
  record.time_ns =
      std::int64_t{header->ts.tv_sec} * 1'000'000'000 + std::int64_t{header->ts.tv_usec} * unit;
  record.data = data;
  record.captured = header->caplen;
  record.original = header->len;
  record.interface = 0;
  record.link_type = handle_->link_type;
  return Next::kFrame;
}

std::uint64_t LiveCapture::dropped() const {
  pcap_stat stats{};
  return pcap_stats(handle_->pcap, &stats) == 0 ? stats.ps_drop : 0;
}

std::string LiveCapture::damage() const {
  return pcap_geterr(handle_->pcap);
}

const std::vector<CaptureWay>& capture_ways() {
  static const std::vector<CaptureWay> kWays = {
      {"NVIDIA ConnectX, BlueField",
       "tcpdump -i mlx5_0 -s 0 -w roce.pcap  (the RDMA device, not the interface: where tcpdump -D "
       "lists it; Debian's libpcap is built without it, NVIDIA's is not)"},
      {"NVIDIA, older vendor drivers",
       "ethtool --set-priv-flags <netdev> sniffer on; tcpdump -i <netdev> -s 0 -w roce.pcap"},
      {"Broadcom, Intel, AMD",
       "no way on the host that we can prove: mirror its port on the switch"},
      {"any, on the switch",
       "mirror the host's port (SPAN, or ERSPAN to a host that runs tcpdump -s 0: weir reads it)"},
      {"soft RoCE (rxe)", "tcpdump -i <netdev> -s 0 -w roce.pcap udp port 4791"},
  };
  return kWays;
}

}  // namespace weir::wire

#include "host/linux/dcb_image.h"

#include <algorithm>
#include <cstddef>

#include <linux/dcbnl.h>
#include <linux/netlink.h>
#include <linux/rtnetlink.h>
#include <sys/socket.h>

#include "host/linux/netlink.h"

namespace weir::host {

namespace {

// Later than the header this is built with: linux/dcbnl.h of 6.3.
constexpr int kImageAppTrustTable = 11;
constexpr int kImageAppTrust = 1;
/// Selectors of DCB itself (PCP) stand in attributes of their own type since 6.3.
constexpr int kAttributeDcbApp = 2;
constexpr unsigned kImageSelectorPcp = 255;

template <class T>
std::string bytes_of(const T& value) {
  return {reinterpret_cast<const char*>(&value), sizeof value};
}

std::uint8_t tsa_value(evidence::Tsa tsa) {
  switch (tsa) {
    case evidence::Tsa::kStrict: return IEEE_8021QAZ_TSA_STRICT;
    case evidence::Tsa::kCbs: return IEEE_8021QAZ_TSA_CB_SHAPER;
    case evidence::Tsa::kEts: return IEEE_8021QAZ_TSA_ETS;
    case evidence::Tsa::kVendor: return IEEE_8021QAZ_TSA_VENDOR;
  }
  WEIR_UNREACHABLE("every algorithm has a number");
}

std::string header_of(std::uint8_t command) {
  dcbmsg header{};
  header.dcb_family = AF_UNSPEC;
  header.cmd = command;
  return bytes_of(header);
}

/// The structure alone, without what a newer kernel may append.
template <class T>
std::optional<std::string> structure(std::string_view payload) {
  if (payload.size() < sizeof(T)) return std::nullopt;
  return std::string(payload.substr(0, sizeof(T)));
}

std::vector<DcbApp> app_set(std::string_view payload) {
  std::vector<DcbApp> out;
  const Attributes attributes(payload);
  for (const Attributes::One& attribute : attributes.all()) {
    if (attribute.payload.size() < sizeof(dcb_app)) continue;
    const auto raw = number_at<dcb_app>(attribute.payload, 0);
    out.push_back({raw.selector, raw.priority, raw.protocol});
  }
  std::sort(out.begin(), out.end());
  return out;
}

void put_app_table(NetlinkRequest& request, const std::vector<DcbApp>& app) {
  request.begin_nest(DCB_ATTR_IEEE_APP_TABLE);
  for (const DcbApp& entry : app) {
    dcb_app raw{};
    raw.selector = static_cast<std::uint8_t>(entry.selector);
    raw.priority = static_cast<std::uint8_t>(entry.priority);
    raw.protocol = static_cast<std::uint16_t>(entry.protocol);
    request.put(entry.selector == kImageSelectorPcp ? kAttributeDcbApp : int{DCB_ATTR_IEEE_APP},
                bytes_of(raw));
  }
  request.end_nest();
}

}  // namespace

Answer<DcbImage> read_dcb_image(Kernel& kernel, const std::string& netdev) {
  const auto replies = kernel.netlink(NETLINK_ROUTE, dcb_get_request(netdev));
  if (!replies) return replies.error();
  if (replies->empty()) return malformed();
  const auto top = Attributes::of_message(replies->front(), sizeof(dcbmsg));
  if (!top.has_value()) return malformed();
  DcbImage image;
  if (const auto flags = top->u8(DCB_ATTR_DCBX)) image.dcbx = *flags;
  const auto ieee = top->find(DCB_ATTR_IEEE);
  if (!ieee.has_value()) return image;
  const Attributes attributes(*ieee);
  for (const Attributes::One& attribute : attributes.all()) {
    switch (attribute.type) {
      case DCB_ATTR_IEEE_ETS: image.ets = structure<ieee_ets>(attribute.payload); break;
      case DCB_ATTR_IEEE_PFC: image.pfc = structure<ieee_pfc>(attribute.payload); break;
      case DCB_ATTR_IEEE_MAXRATE:
        image.max_rate = structure<ieee_maxrate>(attribute.payload);
        break;
      case DCB_ATTR_IEEE_APP_TABLE: image.app = app_set(attribute.payload); break;
      case kImageAppTrustTable: {
        std::vector<unsigned> selectors;
        const Attributes entries(attribute.payload);
        for (const Attributes::One& entry : entries.all()) {
          if (entry.type == kImageAppTrust && !entry.payload.empty())
            selectors.push_back(static_cast<unsigned char>(entry.payload.front()));
        }
        image.trust = std::move(selectors);
        break;
      }
      default: break;
    }
  }
  return image;
}

std::string with_pfc_mask(std::string pfc, std::uint8_t mask) {
  auto raw = number_at<ieee_pfc>(pfc, 0);
  raw.pfc_en = mask;
  return bytes_of(raw);
}

std::string with_pfc_delay(std::string pfc, std::uint16_t delay) {
  auto raw = number_at<ieee_pfc>(pfc, 0);
  raw.delay = delay;
  return bytes_of(raw);
}

bool is_same_pfc(const std::string& a, const std::string& b) {
  const auto x = number_at<ieee_pfc>(a, 0);
  const auto y = number_at<ieee_pfc>(b, 0);
  return x.pfc_en == y.pfc_en && x.mbc == y.mbc && x.delay == y.delay;
}

std::string with_priority_to_tc(std::string ets, const std::array<TrafficClass, 8>& tc) {
  auto raw = number_at<ieee_ets>(ets, 0);
  for (std::size_t p = 0; p < tc.size(); ++p)
    raw.prio_tc[p] = static_cast<std::uint8_t>(tc.at(p).value());
  return bytes_of(raw);
}

std::string with_scheduling(std::string ets, const std::array<evidence::Tsa, 8>& tsa,
                            const std::array<unsigned, 8>& percent) {
  auto raw = number_at<ieee_ets>(ets, 0);
  for (std::size_t tc = 0; tc < tsa.size(); ++tc) {
    raw.tc_tsa[tc] = tsa_value(tsa.at(tc));
    raw.tc_tx_bw[tc] = static_cast<std::uint8_t>(percent.at(tc));
  }
  return bytes_of(raw);
}

std::string dcb_set_request(const std::string& netdev, const DcbSetting& setting) {
  NetlinkRequest request(RTM_SETDCB, NLM_F_REQUEST | NLM_F_ACK, header_of(DCB_CMD_IEEE_SET));
  request.put_text(DCB_ATTR_IFNAME, netdev);
  request.begin_nest(DCB_ATTR_IEEE);
  if (setting.ets) request.put(DCB_ATTR_IEEE_ETS, *setting.ets);
  if (setting.pfc) request.put(DCB_ATTR_IEEE_PFC, *setting.pfc);
  if (setting.max_rate) request.put(DCB_ATTR_IEEE_MAXRATE, *setting.max_rate);
  if (!setting.app.empty()) put_app_table(request, setting.app);
  if (setting.trust) {
    request.begin_nest(kImageAppTrustTable);
    for (const unsigned selector : *setting.trust)
      request.put(kImageAppTrust, bytes_of(static_cast<std::uint8_t>(selector)));
    request.end_nest();
  }
  request.end_nest();
  return request.bytes();
}

std::string dcb_delete_request(const std::string& netdev, const std::vector<DcbApp>& app) {
  NetlinkRequest request(RTM_SETDCB, NLM_F_REQUEST | NLM_F_ACK, header_of(DCB_CMD_IEEE_DEL));
  request.put_text(DCB_ATTR_IFNAME, netdev);
  request.begin_nest(DCB_ATTR_IEEE);
  put_app_table(request, app);
  request.end_nest();
  return request.bytes();
}

std::string dcbx_request(const std::string& netdev, unsigned flags) {
  NetlinkRequest request(RTM_SETDCB, NLM_F_REQUEST | NLM_F_ACK, header_of(DCB_CMD_SDCBX));
  request.put_text(DCB_ATTR_IFNAME, netdev);
  request.put(DCB_ATTR_DCBX, bytes_of(static_cast<std::uint8_t>(flags)));
  return request.bytes();
}

Answer<Taken> change_dcb(Kernel& kernel, const std::string& request) {
  const auto replies = kernel.change(NETLINK_ROUTE, request);
  if (!replies) return replies.error();
  for (const std::string& reply : *replies) {
    const auto top = Attributes::of_message(reply, sizeof(dcbmsg));
    if (!top.has_value()) return malformed();
    for (const int attribute : {int{DCB_ATTR_IEEE}, int{DCB_ATTR_DCBX}}) {
      const auto verdict = top->find(attribute);
      if (!verdict.has_value() || verdict->size() != 1 || verdict->front() == 0) continue;
      const int code = static_cast<signed char>(verdict->front());
      return Errno{code < 0 ? -code : EINVAL};
    }
  }
  return Taken();
}

Answer<Taken> change_app_table(Kernel& kernel, const std::string& netdev,
                               const std::vector<DcbApp>& wanted) {
  const auto is_in = [](const std::vector<DcbApp>& table, const DcbApp& entry) {
    return std::find(table.begin(), table.end(), entry) != table.end();
  };
  auto now = read_dcb_image(kernel, netdev);
  if (!now) return now.error();
  if (!now->app) return Errno{EOPNOTSUPP};
  DcbSetting adding;
  for (const DcbApp& entry : wanted)
    if (!is_in(*now->app, entry)) adding.app.push_back(entry);
  if (!adding.app.empty()) {
    const auto added = change_dcb(kernel, dcb_set_request(netdev, adding));
    if (!added) return added.error();
    now = read_dcb_image(kernel, netdev);
    if (!now) return now.error();
    if (!now->app) return Errno{EOPNOTSUPP};
  }
  std::vector<DcbApp> surplus;
  for (const DcbApp& entry : *now->app)
    if (!is_in(wanted, entry)) surplus.push_back(entry);
  if (surplus.empty()) return Taken();
  return change_dcb(kernel, dcb_delete_request(netdev, surplus));
}

}  // namespace weir::host

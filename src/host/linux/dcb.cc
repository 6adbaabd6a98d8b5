#include "host/linux/dcb.h"

#include <algorithm>
#include <optional>

#include <fmt/format.h>
#include <linux/dcbnl.h>
#include <linux/netlink.h>
#include <linux/rtnetlink.h>
#include <sys/socket.h>

#include "host/linux/netlink.h"
#include "host/linux/reader.h"

namespace weir::host {

using evidence::Fact;
using evidence::Missing;
using evidence::Tsa;

namespace {

// Later than the header this is built with: linux/dcbnl.h of 6.3.
constexpr int kAttributeAppTrustTable = 11;
constexpr int kAttributeAppTrust = 1;
constexpr unsigned kSelectorPcp = 255;
constexpr std::size_t kDcbHeader = sizeof(dcbmsg);

/// The fixed structure at the start of a payload; what a newer kernel appends is left alone.
template <class T>
std::optional<T> structure_of(std::string_view payload) {
  if (payload.size() < sizeof(T)) return std::nullopt;
  return number_at<T>(payload, 0);
}

std::optional<Tsa> tsa_of(unsigned value) {
  switch (value) {
    case IEEE_8021QAZ_TSA_STRICT: return Tsa::kStrict;
    case IEEE_8021QAZ_TSA_CB_SHAPER: return Tsa::kCbs;
    case IEEE_8021QAZ_TSA_ETS: return Tsa::kEts;
    case IEEE_8021QAZ_TSA_VENDOR: return Tsa::kVendor;
    default: return std::nullopt;
  }
}

Parsed<DcbEts> parse_ets(std::string_view payload) {
  const auto raw = structure_of<ieee_ets>(payload);
  if (!raw.has_value()) return Missing::kError;
  DcbEts out;
  out.willing = raw->willing != 0;
  for (std::size_t n = 0; n < 8; ++n) {
    const auto tc = TrafficClass::make(raw->prio_tc[n]);
    const auto tsa = tsa_of(raw->tc_tsa[n]);
    if (!tc.has_value() || !tsa.has_value()) return Missing::kError;
    out.priority_to_tc.at(n) = *tc;
    out.tsa.at(n) = *tsa;
    out.bandwidth.at(n) = raw->tc_tx_bw[n];
  }
  return out;
}

Parsed<DcbPfc> parse_pfc(std::string_view payload) {
  const auto raw = structure_of<ieee_pfc>(payload);
  if (!raw.has_value()) return Missing::kError;
  DcbPfc out;
  out.capable = raw->pfc_cap;
  out.on = PrioritySet::from_mask(raw->pfc_en);
  out.delay = raw->delay;
  std::copy_n(std::begin(raw->requests), 8, out.requests.begin());
  std::copy_n(std::begin(raw->indications), 8, out.indications.begin());
  return out;
}

Parsed<std::array<BitRate, 8>> parse_max_rate(std::string_view payload) {
  const auto raw = structure_of<ieee_maxrate>(payload);
  if (!raw.has_value()) return Missing::kError;
  std::array<BitRate, 8> out{};
  for (std::size_t n = 0; n < 8; ++n) {
    if (raw->tc_maxrate[n] > static_cast<std::uint64_t>(BitRate::max().raw()) / 1000)
      return Missing::kError;
    out.at(n) = BitRate::raw(static_cast<std::int64_t>(raw->tc_maxrate[n]) * 1000);  // kbit/s
  }
  return out;
}

Parsed<DcbBuffer> parse_buffer(std::string_view payload) {
  const auto raw = structure_of<dcbnl_buffer>(payload);
  if (!raw.has_value()) return Missing::kError;
  DcbBuffer out;
  for (std::size_t n = 0; n < 8; ++n) {
    if (raw->prio2buffer[n] >= DCBX_MAX_BUFFERS) return Missing::kError;
    out.priority_to_buffer.at(n) = raw->prio2buffer[n];
    out.size.at(n) = Bytes::raw(raw->buffer_size[n]);
  }
  out.total = Bytes::raw(raw->total_size);
  return out;
}

Parsed<std::vector<DcbApp>> parse_app(std::string_view payload) {
  std::vector<DcbApp> out;
  const Attributes attributes(payload);
  for (const Attributes::One& attribute : attributes.all()) {
    const auto raw = structure_of<dcb_app>(attribute.payload);
    if (!raw.has_value()) return Missing::kError;
    out.push_back({raw->selector, raw->priority, raw->protocol});
  }
  return out;
}

Parsed<std::vector<unsigned>> parse_app_trust(std::string_view payload) {
  std::vector<unsigned> out;
  const Attributes attributes(payload);
  for (const Attributes::One& attribute : attributes.all()) {
    if (attribute.type != kAttributeAppTrust) continue;
    if (attribute.payload.empty()) return Missing::kError;
    out.push_back(static_cast<unsigned char>(attribute.payload.front()));
  }
  return out;
}

/// The priority of each code point. Where a driver keeps two entries for one, the kernel's own
/// lookup (dcb_ieee_getapp_dscp_prio_mask_map) and the switches take the highest.
Parsed<std::array<std::optional<Priority>, 64>> dscp_map(const Parsed<std::vector<DcbApp>>& app) {
  if (!app) return app.why();
  std::array<std::optional<Priority>, 64> out{};
  for (const DcbApp& entry : *app) {
    if (entry.selector != IEEE_8021QAZ_APP_SEL_DSCP) continue;
    const auto priority = Priority::make(entry.priority);
    if (!priority.has_value() || entry.protocol >= out.size()) return Missing::kError;
    auto& slot = out.at(entry.protocol);
    if (!slot.has_value() || *slot < *priority) slot = priority;
  }
  return out;
}

/// Since 6.3 a driver may say what it trusts; the others trust DSCP as soon as one code point has
/// an entry (mlx5, bnxt and ice switch over when the first is set).
Parsed<evidence::TrustMode> trust_of(const DcbState& state) {
  if (state.trust && !state.trust->empty()) {
    const auto has = [&](unsigned selector) {
      return std::find(state.trust->begin(), state.trust->end(), selector) != state.trust->end();
    };
    if (has(IEEE_8021QAZ_APP_SEL_DSCP))
      return has(kSelectorPcp) ? evidence::TrustMode::kBoth : evidence::TrustMode::kDscp;
    return has(kSelectorPcp) ? evidence::TrustMode::kPcp : evidence::TrustMode::kNone;
  }
  if (!state.app) return state.app.why();
  const bool has_dscp = std::any_of(state.app->begin(), state.app->end(), [](const DcbApp& entry) {
    return entry.selector == IEEE_8021QAZ_APP_SEL_DSCP;
  });
  return has_dscp ? evidence::TrustMode::kDscp : evidence::TrustMode::kPcp;
}

/// A part of a part, missing for the same reason.
template <class T, class Make>
auto fact_of(const Parsed<T>& part, const std::string& source, Make make)
    -> Fact<std::decay_t<decltype(make(*part))>> {
  using F = Fact<std::decay_t<decltype(make(*part))>>;
  if (!part) return F::missing(part.why(), source);
  return F::of(make(*part), source);
}

evidence::Qos nothing_but(Missing why, const std::string& source) {
  evidence::Qos out;
  const auto mark = [&](auto& fact) { fact = std::decay_t<decltype(fact)>::missing(why, source); };
  mark(out.trust);
  mark(out.dscp_to_priority);
  mark(out.priority_to_tc);
  mark(out.pfc);
  mark(out.pfc_classes);
  mark(out.tsa);
  mark(out.tc_bandwidth);
  mark(out.tc_max_rate);
  mark(out.buffer_size);
  mark(out.buffer_total);
  mark(out.priority_to_buffer);
  mark(out.cable_length);
  mark(out.dcbx);
  mark(out.dcbx_willing);
  return out;
}

}  // namespace

std::string dcb_get_request(const std::string& netdev) {
  dcbmsg header{};
  header.dcb_family = AF_UNSPEC;
  header.cmd = DCB_CMD_IEEE_GET;
  NetlinkRequest request(RTM_GETDCB, NLM_F_REQUEST | NLM_F_ACK,
                         {reinterpret_cast<const char*>(&header), sizeof header});
  request.put_text(DCB_ATTR_IFNAME, netdev);
  return request.bytes();
}

DcbState parse_dcb(std::string_view message) {
  DcbState state;
  const auto top = Attributes::of_message(message, kDcbHeader);
  if (!top.has_value()) return state;
  if (const auto dcbx = top->u8(DCB_ATTR_DCBX)) {
    state.dcbx =
        (*dcbx & DCB_CAP_DCBX_HOST) != 0 ? evidence::DcbxMode::kOs : evidence::DcbxMode::kFirmware;
  }
  const auto ieee = top->find(DCB_ATTR_IEEE);
  if (!ieee.has_value()) return state;
  const Attributes attributes(*ieee);
  for (const Attributes::One& attribute : attributes.all()) {
    switch (attribute.type) {
      case DCB_ATTR_IEEE_ETS: state.ets = parse_ets(attribute.payload); break;
      case DCB_ATTR_IEEE_PFC: state.pfc = parse_pfc(attribute.payload); break;
      case DCB_ATTR_IEEE_MAXRATE: state.max_rate = parse_max_rate(attribute.payload); break;
      case DCB_ATTR_DCB_BUFFER: state.buffer = parse_buffer(attribute.payload); break;
      case DCB_ATTR_IEEE_APP_TABLE: state.app = parse_app(attribute.payload); break;
      case kAttributeAppTrustTable: state.trust = parse_app_trust(attribute.payload); break;
      default: break;  // the peer's view, QCN, rewriting
    }
  }
  return state;
}

Answer<DcbState> read_dcb(Kernel& kernel, const std::string& netdev) {
  const auto replies = kernel.netlink(NETLINK_ROUTE, dcb_get_request(netdev));
  if (!replies) return replies.error();
  if (replies->empty()) return malformed();
  return parse_dcb(replies->front());
}

evidence::Qos qos_from(const Answer<DcbState>& state, const std::string& netdev,
                       bool delay_is_metres) {
  const std::string source = fmt::format("DCB netlink, {}", netdev);
  if (!state) return nothing_but(missing_of(state.error()), source);
  evidence::Qos out;
  out.trust = to_fact(trust_of(*state), source);
  out.dscp_to_priority = to_fact(dscp_map(state->app), source);
  out.priority_to_tc =
      fact_of(state->ets, source, [](const DcbEts& ets) { return ets.priority_to_tc; });
  out.tsa = fact_of(state->ets, source, [](const DcbEts& ets) { return ets.tsa; });
  out.tc_bandwidth = fact_of(state->ets, source, [](const DcbEts& ets) { return ets.bandwidth; });
  out.dcbx_willing = fact_of(state->ets, source, [](const DcbEts& ets) { return ets.willing; });
  out.pfc = fact_of(state->pfc, source, [](const DcbPfc& pfc) { return pfc.on; });
  out.pfc_classes = fact_of(state->pfc, source, [](const DcbPfc& pfc) { return pfc.capable; });
  out.cable_length =
      delay_is_metres
          ? fact_of(state->pfc, source,
                    [](const DcbPfc& pfc) { return Length::raw(std::int64_t{pfc.delay} * 1000); })
          : Fact<Length>::missing(Missing::kUnsupported, source);
  out.tc_max_rate = to_fact(state->max_rate, source);
  out.buffer_size = fact_of(state->buffer, source, [](const DcbBuffer& b) { return b.size; });
  out.buffer_total = fact_of(state->buffer, source, [](const DcbBuffer& b) { return b.total; });
  out.priority_to_buffer =
      fact_of(state->buffer, source, [](const DcbBuffer& b) { return b.priority_to_buffer; });
  out.dcbx = to_fact(state->dcbx, source);
  return out;
}

void add_dcb_counters(const Answer<DcbState>& state, std::vector<counters::Sample>& samples) {
  if (!state || !state->pfc) return;
  for (std::size_t p = 0; p < 8; ++p) {
    samples.push_back({counters::Place::kDcb, fmt::format("requests_{}", p),
                       counters::Reading::of(state->pfc->requests.at(p))});
    samples.push_back({counters::Place::kDcb, fmt::format("indications_{}", p),
                       counters::Reading::of(state->pfc->indications.at(p))});
  }
}

}  // namespace weir::host

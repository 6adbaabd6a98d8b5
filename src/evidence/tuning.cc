// Host tuning: what a TCP path beside RDMA gains from, compared with what is.
#include <algorithm>

#include <fmt/format.h>

#include "base/text.h"
#include "evidence/deviation.h"

namespace weir::evidence {
namespace {

/// 256 MiB: what a 400G path with half a millisecond of round trip keeps in flight ten times over.
constexpr std::uint64_t kSocketBuffer = 268'435'456;
constexpr std::array<std::string_view, 4> kSocketSysctls = {
    "net.core.rmem_max", "net.core.wmem_max", "net.ipv4.tcp_rmem", "net.ipv4.tcp_wmem"};

template <class T>
Missing why_knob_unknown(const Fact<T>& fact) {
  return fact.is_missing() ? fact.why() : Missing::kAbsent;
}

/// With single blanks: the kernel prints tabs.
std::string words_of(std::string_view text) {
  std::string out;
  for (const char c : trim(text)) {
    const bool is_blank = c == ' ' || c == '\t';
    if (!is_blank) out += c;
    if (is_blank && !out.ends_with(' ')) out += ' ';
  }
  return out;
}

void add_sysctls(const Host& host, std::vector<TuningDeviation>& out) {
  for (const std::string_view name : kSocketSysctls) {
    Deviation deviation{.setting = Setting::kSysctl,
                        .item = std::string(name),
                        .expected = fmt::format("up to {} bytes", kSocketBuffer),
                        .found = "",
                        .missing = std::nullopt};
    const NamedText* now = nullptr;
    if (host.sysctls.is_known()) {
      const auto found = std::find_if(host.sysctls->begin(), host.sysctls->end(),
                                      [&](const NamedText& one) { return one.name == name; });
      if (found != host.sysctls->end()) now = &*found;
    }
    if (now == nullptr) {
      deviation.missing =
          host.sysctls.is_known() ? Missing::kAbsent : why_knob_unknown(host.sysctls);
    } else {
      const std::optional<std::string> raised = raised_sysctl(now->value);
      if (!raised) continue;
      deviation.expected = *raised;
      deviation.found = words_of(now->value);
    }
    out.push_back({"", -1, std::move(deviation)});
  }
}

std::string nodes_text(const std::vector<unsigned>& nodes) {
  return fmt::format("node {}", fmt::join(nodes, ", "));
}

void add_interrupts(const Nic& nic, const design::NicIntent& wanted,
                    std::vector<TuningDeviation>& out) {
  const auto& nodes = nic.pcie.irq_numa_nodes;
  const auto& own = nic.pcie.numa_node;
  Deviation deviation{.setting = Setting::kIrqAffinity,
                      .item = "",
                      .expected = own.is_known() ? nodes_text({*own}) : "the NIC's own node",
                      .found = "",
                      .missing = std::nullopt};
  if (!own.is_known()) {
    deviation.missing = why_knob_unknown(own);
  } else if (!nodes.is_known()) {
    deviation.missing = why_knob_unknown(nodes);
  } else if (*nodes == std::vector<unsigned>{*own}) {
    return;
  } else {
    deviation.found = nodes_text(*nodes);
  }
  out.push_back({nic.device, wanted.rail, std::move(deviation)});
}

void add_stack(const Nic& nic, const design::NicIntent& wanted, std::vector<TuningDeviation>& out) {
  Deviation deviation{.setting = Setting::kStackMtu,
                      .item = "",
                      .expected = fmt::format("{}B", wanted.mtu.raw()),
                      .found = "",
                      .missing = std::nullopt};
  if (!nic.link.layers.is_known()) {
    deviation.missing = why_knob_unknown(nic.link.layers);
  } else {
    const std::optional<Bytes> least = stack_mtu(*nic.link.layers);
    if (!least || *least >= wanted.mtu) return;
    deviation.found = fmt::format("{}B", least->raw());
  }
  out.push_back({nic.device, wanted.rail, std::move(deviation)});
}

}  // namespace

std::optional<std::string> raised_sysctl(std::string_view value) {
  const std::string words = words_of(value);
  const std::size_t last = words.rfind(' ') == std::string::npos ? 0 : words.rfind(' ') + 1;
  const auto now = parse_u64(words.substr(last));
  if (!now || *now >= kSocketBuffer) return std::nullopt;
  return words.substr(0, last) + std::to_string(kSocketBuffer);
}

bool carries_whole_frames(const Layer& layer) {
  return layer.kind == "bond" || layer.kind == "vlan" || layer.kind == "bridge";
}

std::optional<Bytes> stack_mtu(const std::vector<Layer>& layers) {
  std::optional<Bytes> least;
  for (const Layer& layer : layers) {
    if (!carries_whole_frames(layer)) continue;
    if (!least || layer.mtu < *least) least = layer.mtu;
  }
  return least;
}

std::vector<TuningDeviation> tuning_deviations(const Evidence& found,
                                               const design::HostIntent& wanted,
                                               const design::Intent& intent) {
  std::vector<TuningDeviation> out;
  if (intent.tuning.socket_buffers) add_sysctls(found.host, out);
  for (const design::NicIntent& nic : wanted.nics) {
    const Nic* const device = found.find_nic(nic.device);
    if (device == nullptr) continue;
    if (intent.tuning.stack_mtu) add_stack(*device, nic, out);
    if (intent.tuning.irq_affinity) add_interrupts(*device, nic, out);
  }
  return out;
}

}  // namespace weir::evidence

// The machine around the NICs: lspci, the kernel's log, limits, sysctl, modules.
#include <algorithm>
#include <array>
#include <charconv>

#include "base/text.h"
#include "readers/paste/kernel_log.h"
#include "readers/paste/paste_tools.h"
#include "readers/paste/text_lines.h"
#include "vocab/nic_drivers.h"

namespace weir::readers {
namespace {

// ---- lspci ----

enum class PciKind { kNone, kNic, kGpu, kBridge };

PciKind kind_of(std::string_view title) {
  const auto has = [&](std::string_view word) {
    return title.find(word) != std::string_view::npos;
  };
  if (has("Ethernet controller") || has("Infiniband controller")) return PciKind::kNic;
  if (has("3D controller") || has("Display controller") || has("Processing accelerators"))
    return PciKind::kGpu;
  return has("PCI bridge") ? PciKind::kBridge : PciKind::kNone;
}

bool is_pci_heading(std::string_view line) {
  const std::string_view address = line.substr(0, line.find(' '));
  return is_pci_address(address) && address.size() < line.size();
}

/// "Speed 16GT/s (downgraded), Width x8 (downgraded)"
struct PciLink {
  std::optional<unsigned> mtps;
  std::optional<unsigned> width;
};
PciLink link_of(std::string_view text) {
  PciLink out;
  if (const auto at = text.find("Speed "); at != std::string_view::npos) {
    const std::string_view rest = text.substr(at + 6);
    double speed = 0;
    const auto [end, error] = std::from_chars(rest.data(), rest.data() + rest.size(), speed);
    const bool is_speed =
        error == std::errc() && speed > 0 && speed < 1000 &&
        rest.substr(static_cast<std::size_t>(end - rest.data())).starts_with("GT/s");
    if (is_speed) out.mtps = static_cast<unsigned>(speed * 1000 + 0.5);
  }
  if (const auto at = text.find("Width x"); at != std::string_view::npos) {
    const std::string_view rest = text.substr(at + 7);
    const auto width = parse_u64(rest.substr(0, rest.find_first_not_of("0123456789")));
    if (width && *width > 0 && *width <= 32) out.width = static_cast<unsigned>(*width);
  }
  return out;
}

void read_pci_line(std::string_view text, evidence::Pcie& pcie, const PasteLine& line,
                   PasteSink& out) {
  const auto pair = key_value(text);
  if (pair && (pair->key == "LnkCap" || pair->key == "LnkSta")) {
    const PciLink link = link_of(pair->value);
    const bool is_most = pair->key == "LnkCap";
    if (link.mtps) out.set(is_most ? pcie.speed_mtps_max : pcie.speed_mtps, *link.mtps, line);
    if (link.width) out.set(is_most ? pcie.width_max : pcie.width, *link.width, line);
    return;
  }
  if (pair && pair->key == "NUMA node") {
    if (const auto node = parse_u64(pair->value); node && *node < 1024)
      out.set(pcie.numa_node, static_cast<unsigned>(*node), line);
  }
  if (text.find("RlxdOrd+") != std::string_view::npos) out.set(pcie.relaxed_ordering, true, line);
  if (text.find("RlxdOrd-") != std::string_view::npos) out.set(pcie.relaxed_ordering, false, line);
  if (const auto at = text.find("MaxReadReq "); at != std::string_view::npos) {
    const std::string_view rest = text.substr(at + 11);
    const auto bytes = parse_u64(rest.substr(0, rest.find_first_not_of("0123456789")));
    if (bytes && *bytes <= 4096)
      out.set(pcie.max_read_request, Bytes::raw(static_cast<std::int64_t>(*bytes)), line);
  }
  if (text.find("<access denied>") != std::string_view::npos)
    out.refuse(pcie.width, evidence::Missing::kPermission, line);
}

bool redirects(std::string_view text) {
  return text.starts_with("ACSCtl:") && (text.find("ReqRedir+") != std::string_view::npos ||
                                         text.find("CmpltRedir+") != std::string_view::npos ||
                                         text.find("UpstreamFwd+") != std::string_view::npos);
}

}  // namespace

bool begins_lspci(const PasteAt& at) {
  return is_pci_heading(at.line(0)) && at.line(0).find(':', 13) != std::string_view::npos;
}

/// One device: its heading and what is indented under it.
std::size_t read_lspci(const PasteAt& at, PasteSink& out) {
  const std::string_view heading = at.line(0);
  const std::string address = full_address(heading.substr(0, heading.find(' ')));
  const PciKind kind = kind_of(heading);
  evidence::Pcie ignored;
  evidence::Pcie* pcie = &ignored;
  if (kind == PciKind::kNic) {
    evidence::Nic& nic = out.hosts().by_address(out.host(), address).nic;
    const std::size_t title = heading.find(": ");
    if (!nic.model.is_known() && title != std::string_view::npos)
      out.set(nic.model, std::string(heading.substr(title + 2)), at.lines[0]);
    pcie = &nic.pcie;
  } else if (kind == PciKind::kGpu) {
    auto& gpus = out.hosts().host(out.host()).gpus;
    gpus.emplace_back();
    gpus.back().index = static_cast<unsigned>(gpus.size() - 1);
    pcie = &gpus.back().pcie;
  }
  out.set(pcie->address, address, at.lines[0]);
  // A filter may put what is below a bridge behind its heading.
  const std::size_t acs = heading.find("ACSCtl:");
  if (kind == PciKind::kBridge && acs != std::string_view::npos && redirects(heading.substr(acs)))
    out.event(EventKind::kAcsRedirect, address, at.lines[0]);
  std::size_t taken = 1;
  for (; taken < at.lines.size(); ++taken) {
    const std::string_view text = at.line(taken);
    const bool is_indented =
        at.lines[taken].text.starts_with(' ') || at.lines[taken].text.starts_with('\t');
    if (text.empty() || !is_indented || is_pci_heading(text)) break;
    read_pci_line(text, *pcie, at.lines[taken], out);
    if (kind == PciKind::kBridge && redirects(text))
      out.event(EventKind::kAcsRedirect, address, at.lines[taken]);
  }
  return taken;
}

// ---- the kernel's log ----

bool begins_kernel_log(const PasteAt& at) {
  if (!kernel_log_line(at.line(0))) return is_bare_kernel_message(at.line(0));
  constexpr std::size_t kLooked = 8;  // the first lines of a boot have no speaker
  for (std::size_t i = 0; i < kLooked; ++i) {
    const auto line = kernel_log_line(at.line(i));
    if (line && has_kernel_speaker(line->message)) return true;
  }
  return false;
}

std::size_t read_kernel_log(const PasteAt& at, PasteSink& out) {
  std::size_t taken = 0;
  std::size_t last = 0;
  const std::string before = out.host();
  for (; taken < at.lines.size(); ++taken) {
    const std::string_view text = at.line(taken);
    if (text.empty()) continue;
    const auto line = kernel_log_line(text);
    if (!line && !is_bare_kernel_message(text)) break;
    const std::string_view message = line ? line->message : text;
    if (line && !line->host.empty()) out.use_host(line->host);
    if (const auto kind = kernel_event(message)) {
      const KernelDevice device = kernel_device(message);
      if (!device.netdev.empty())
        out.hosts().connect(out.host(), "", device.netdev, device.address);
      out.event(*kind, device.netdev.empty() ? device.address : device.netdev, at.lines[taken]);
    } else if (message.find(": renamed from ") != std::string_view::npos) {
      const KernelDevice device = kernel_device(message);
      out.paste().rows.starts.push_back({out.host(),
                                         out.hosts().known_name(out.host(), device.netdev),
                                         out.cite(at.lines[taken])});
    }
    last = taken;
  }
  if (!before.empty()) out.use_host(before);
  return last + 1;
}

// ---- logs of switches ----

namespace {

struct WatchdogLine {
  EventKind kind = EventKind::kStorm;
  std::string_view host;  // may be empty
  std::string_view port;
};

/// What a line in small letters says of the PFC watchdog; nullopt where it is not about it.
std::optional<EventKind> watchdog_event(std::string_view lower) {
  const auto has = [&](std::string_view piece) {
    return lower.find(piece) != std::string_view::npos;
  };
  if (!has("pfcwd") && !(has("pfc") && has("watchdog"))) return std::nullopt;
  if (has("restored") || has("recovered") || has("queue_restore")) return EventKind::kStormOver;
  const bool is_storm = has("detected pfc storm") || has("storm detected") ||
                        has("queue_shutdown") || has("is shutdown") || has("stuck");
  return is_storm ? std::optional(EventKind::kStorm) : std::nullopt;
}

/// What it says of a port that went down or came up: EOS (LINEPROTO-5-UPDOWN), NX-OS (IF_DOWN…,
/// IF_UP), Junos (SNMP_TRAP_LINK_DOWN), SONiC (oper state set from up to down), Cumulus (swp12 link
/// down). One that an operator shut is none.
std::optional<EventKind> port_event(std::string_view lower) {
  const auto has = [&](std::string_view piece) {
    return lower.find(piece) != std::string_view::npos;
  };
  if (has("admin_down") || has("administratively") || has("ifadminstatus down"))
    return std::nullopt;
  const bool is_cumulus = has("switchd") || has(" swp");
  if ((has("lineproto") && has("state to down")) || has("-if_down") || has("trap_link_down") ||
      (has("oper state") && has("to down")) || (is_cumulus && has("link down")))
    return EventKind::kLinkDown;
  if ((has("lineproto") && has("state to up")) || has("-if_up") || has("trap_link_up") ||
      (has("oper state") && has("to up")) || (is_cumulus && has("link up")))
    return EventKind::kLinkUp;
  return std::nullopt;
}

/// "Sep 17 08:41:12.201934 leaf2 NOTICE swss#orchagent: …: PFC Watchdog detected PFC storm on port
/// Ethernet104, queue index 3, …" (sonic-swss, orchagent); other systems name the watchdog, the
/// queue and the port in their own order ("…PFCWD_QUEUE_SHUTDOWN: …", NX-OS). A line without a time
/// and a speaker is a person's.
std::optional<WatchdogLine> watchdog_line(const PasteLine& line) {
  const std::string_view text = trim(line.text);
  if (text.size() > 1000) return std::nullopt;
  const std::string lower = lower_case(text);
  const auto has = [&](std::string_view piece) { return lower.find(piece) != std::string::npos; };
  const auto kind = watchdog_event(lower) ? watchdog_event(lower) : port_event(lower);
  if (!kind) return std::nullopt;
  WatchdogLine out;
  out.kind = *kind;
  const auto words = words_of(text);
  bool has_time = line.second.has_value();
  if (has_time && !words.empty() && !words[0].ends_with(':')) out.host = words[0];
  for (std::size_t i = 0; i < words.size(); ++i) {
    std::string_view word = words[i];
    const bool is_clock = word.size() >= 8 && second_of_day(word.substr(0, 8)).has_value();
    if (is_clock && !has_time) {
      has_time = true;
      if (i + 1 < words.size()) out.host = words[i + 1];
    }
    while (!word.empty() && std::string_view(",.;:)").find(word.back()) != std::string::npos)
      word.remove_suffix(1);
    if (out.port.empty() && is_switch_port(word)) out.port = word;
  }
  // What hosts write of their own ports is the kernel's log.
  const bool is_link = out.kind == EventKind::kLinkDown || out.kind == EventKind::kLinkUp;
  const bool is_driver = std::any_of(vocab::kNicDrivers.begin(), vocab::kNicDrivers.end(),
                                     [&](const vocab::NicDriver& row) { return has(row.kernel); });
  if (is_link && (has("kernel:") || is_driver || !has_time)) return std::nullopt;
  const bool has_speaker_name = has("orchagent") || has("%");
  if (out.host.find_first_of(":%#[") != std::string_view::npos) out.host = {};
  if (out.port.empty() || (!has_time && !has_speaker_name)) return std::nullopt;
  return out;
}

}  // namespace

bool begins_watchdog_log(const PasteAt& at) {
  return watchdog_line(at.lines[0]).has_value();
}

std::size_t read_watchdog_log(const PasteAt& at, PasteSink& out) {
  const std::string before = out.host();
  std::size_t taken = 0;
  for (; taken < at.lines.size(); ++taken) {
    const auto line = watchdog_line(at.lines[taken]);
    if (!line) break;
    out.use_host(line->host.empty() ? std::string_view(before) : line->host);
    out.switch_event(line->kind, line->port, at.lines[taken]);
  }
  out.use_host(before);
  return taken;
}

// ---- limits ----

namespace {

bool is_limit_line(std::string_view text) {
  return text.starts_with("max locked memory") || text.starts_with("Max locked memory") ||
         text.starts_with("-l: locked-in-memory");
}

bool is_ulimit_answer(const PasteAt& at) {
  return at.mark.tool() == "ulimit" && at.mark.has_word("-l") &&
         (at.line(0) == "unlimited" || parse_u64(at.line(0)).has_value());
}

}  // namespace

bool begins_limits(const PasteAt& at) {
  return is_limit_line(at.line(0)) || is_ulimit_answer(at);
}

/// bash counts in KiB, /proc in bytes.
std::size_t read_limits(const PasteAt& at, PasteSink& out) {
  const std::string_view text = at.line(0);
  const bool is_proc = text.starts_with("Max ");
  const auto words = words_of(text);
  const std::string_view value = is_proc && words.size() > 3 ? words[3] : words.back();
  if (value == "unlimited") {
    out.set(out.facts().memlock, std::optional<Bytes>(), at.lines[0]);
    return 1;
  }
  const auto number = parse_u64(value);
  constexpr std::uint64_t kMost = std::uint64_t{1} << 50U;
  if (!number || *number > kMost) {
    out.unread(at.lines[0], "expected a number or unlimited");
    return 1;
  }
  const auto bytes = static_cast<std::int64_t>(*number) * (is_proc ? 1 : 1024);
  out.set(out.facts().memlock, std::optional<Bytes>(Bytes::raw(bytes)), at.lines[0]);
  return 1;
}

// ---- sysctl ----

namespace {

std::optional<evidence::NamedText> sysctl_line(std::string_view text) {
  const std::size_t equals = text.find('=');
  if (equals == std::string_view::npos) return std::nullopt;
  const std::string_view name = trim(text.substr(0, equals));
  const bool is_tree = name.starts_with("net.") || name.starts_with("kernel.") ||
                       name.starts_with("vm.") || name.starts_with("fs.");
  if (!is_tree || name.find_first_of(" \t") != std::string_view::npos) return std::nullopt;
  return evidence::NamedText{std::string(name), std::string(trim(text.substr(equals + 1)))};
}

}  // namespace

bool begins_sysctl(const PasteAt& at) {
  return sysctl_line(at.line(0)).has_value();
}

std::size_t read_sysctl(const PasteAt& at, PasteSink& out) {
  auto& fact = out.facts().sysctls;
  std::vector<evidence::NamedText> all =
      fact.is_known() ? *fact : std::vector<evidence::NamedText>();
  std::size_t taken = 0;
  for (; taken < at.lines.size(); ++taken) {
    auto item = sysctl_line(at.line(taken));
    if (!item) break;
    all.push_back(std::move(*item));
  }
  out.set(fact, std::move(all), at.lines[0]);
  return taken;
}

// ---- modules ----

namespace {

/// "nvidia_peermem 16384 0", "ib_core 536576 14 rdma_cm,ib_ipoib"
bool is_module_line(std::string_view text) {
  const auto words = words_of(text);
  return words.size() >= 3 && words.size() <= 4 && parse_u64(words[1]).has_value() &&
         parse_u64(words[2]).has_value() &&
         std::all_of(words[0].begin(), words[0].end(), [](char c) {
           return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '_';
         });
}

bool is_module_heading(std::string_view text) {
  const auto words = words_of(text);
  return words.size() >= 3 && words[0] == "Module" && words[1] == "Size" && words[2] == "Used";
}

}  // namespace

bool begins_lsmod(const PasteAt& at) {
  if (is_module_heading(at.line(0))) return true;
  return at.mark.tool() == "lsmod" && is_module_line(at.line(0));
}

std::size_t read_lsmod(const PasteAt& at, PasteSink& out) {
  const bool is_whole = is_module_heading(at.line(0));
  std::vector<std::string> modules;
  std::size_t taken = is_whole ? 1 : 0;
  for (; taken < at.lines.size() && is_module_line(at.line(taken)); ++taken)
    modules.emplace_back(words_of(at.line(taken))[0]);
  std::sort(modules.begin(), modules.end());
  const auto has = [&](std::string_view name) {
    return std::binary_search(modules.begin(), modules.end(), name);
  };
  const bool has_peermem = has("nvidia_peermem") || has("nv_peer_mem");
  // A list after a grep says nothing of what it leaves out.
  if (is_whole || has_peermem) out.set(out.facts().peermem, has_peermem, at.lines[0]);
  if (is_whole) out.set(out.facts().modules, std::move(modules), at.lines[0]);
  return taken;
}

}  // namespace weir::readers

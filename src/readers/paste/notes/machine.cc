// Whether a host's IOMMU translates what its NICs write: the domains of its groups, its boot
// command line, the kernel's line about them.
#include <algorithm>

#include "base/text.h"
#include "readers/paste/notes/notes.h"
#include "readers/paste/text_lines.h"

namespace weir::readers {
namespace {

/// "231 DMA-FQ", "identity": the kind of domain that a group has (Documentation/ABI,
/// sysfs-kernel-iommu_groups).
std::optional<evidence::Iommu> domain_of(const std::vector<std::string_view>& words) {
  const bool is_counted = words.size() == 2 && parse_u64(words[0]).has_value();
  if (words.size() != 1 && !is_counted) return std::nullopt;
  std::string_view kind = words.back();
  kind = kind.substr(kind.rfind(':') + 1);  // grep puts the file in front
  if (kind == "identity") return evidence::Iommu::kIdentity;
  if (kind == "DMA" || kind == "DMA-FQ") return evidence::Iommu::kTranslating;
  return std::nullopt;
}

}  // namespace

std::size_t note_iommu(const PasteAt& at, PasteSink& out) {
  const bool is_group = at.mark.command.find("iommu_groups") != std::string::npos;
  std::size_t said = 0;
  for (std::size_t n = 0; n < at.lines.size(); ++n) {
    const std::string_view text = at.line(n);
    if (is_group) {
      const auto domain = domain_of(words_of(text));
      if (!domain) continue;
      // Most groups are translated where one is: a device may ask for identity by itself.
      if (!out.facts().iommu.is(evidence::Iommu::kTranslating))
        out.set(out.facts().iommu, *domain, at.lines[n]);
      ++said;
      continue;
    }
    // Several lines of "iommu: …" look like those of a host with this name.
    const bool is_prefix = at.lines[n].host == "iommu";
    const std::size_t kind = text.find("Default domain type: ");
    if (kind == std::string_view::npos ||
        (!is_prefix && text.find("iommu: ") == std::string_view::npos))
      continue;
    if (is_prefix) out.use_host(at.mark.host);
    const bool is_passed = text.find("Passthrough", kind) != std::string_view::npos;
    out.set(out.facts().iommu,
            is_passed ? evidence::Iommu::kIdentity : evidence::Iommu::kTranslating, at.lines[n]);
    ++said;
  }
  return said;
}

/// "64" below `docker run … bash -c "ulimit -l; ib_write_bw …"`.
std::size_t note_limits(const PasteAt& at, PasteSink& out) {
  const std::string& command = at.mark.command;
  const std::size_t found = command.find("ulimit -l");
  if (found == std::string::npos || at.lines.empty()) return 0;
  // The first command of several, so that the first line is its answer.
  const std::string_view before = std::string_view(command).substr(0, found);
  if (before.find(';') != std::string_view::npos || before.find("&&") != std::string_view::npos)
    return 0;
  const auto kilobytes = parse_count(at.line(0));
  if (!kilobytes) return 0;
  note(out, out.paste().noted.limits, {*kilobytes, out.cite(at.lines[0])});
  return 1;
}

/// "rail4 on on …" of a loop over `ethtool -a`: what is received, then what is sent.
std::size_t note_pauses(const PasteAt& at, PasteSink& out) {
  if (at.mark.command.find("for ") == std::string::npos ||
      at.mark.command.find("ethtool -a ") == std::string::npos)
    return 0;
  const auto is_switch = [](std::string_view word) { return word == "on" || word == "off"; };
  std::size_t said = 0;
  for (std::size_t n = 0; n < at.lines.size(); ++n) {
    const auto words = words_of(at.line(n));
    if (words.size() < 3 || !is_netdev_name(words[0]) || !is_switch(words[1]) ||
        !is_switch(words[2]))
      continue;
    out.set(out.hosts().by_netdev(out.host(), words[0]).nic.link.pause_rx, words[1] == "on",
            at.lines[n]);
    ++said;
  }
  return said;
}

/// "126.028 Gb/s available PCIe bandwidth (32.0 GT/s PCIe x4 link)".
std::size_t note_pcie_rates(const PasteAt& at, PasteSink& out) {
  for (std::size_t n = 0; n < at.lines.size(); ++n) {
    const std::string_view text = at.line(n);
    const std::size_t end = text.find(" Gb/s available PCIe bandwidth");
    if (end == std::string_view::npos) continue;
    const std::size_t begin = text.substr(0, end).find_last_of(' ');
    if (begin == std::string_view::npos) continue;
    if (const auto rate = leading_decimal(text.substr(begin + 1, end - begin - 1)))
      note(out, out.paste().noted.pcie_rates, {out.host(), *rate});
  }
  return 0;  // the reader of the kernel's log took the line
}

}  // namespace weir::readers

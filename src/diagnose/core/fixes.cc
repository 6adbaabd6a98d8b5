#include "diagnose/core/fixes.h"

#include <algorithm>
#include <set>
#include <utility>

#include "base/name_pattern.h"
#include "base/text.h"
#include "base/untrusted/quote.h"
#include "finding/catalog.h"
#include "vocab/nic_drivers.h"

namespace weir::diagnose {
namespace {

using Names = std::vector<std::pair<std::string_view, std::string>>;

constexpr std::string_view kEitherMlx5 = "mlx5";  // of NVIDIA's driver or of the kernel's

/// The catalogue's name of a NIC's platform; empty where it is not known.
std::string_view platform_of(const evidence::Nic& nic) {
  const vocab::NicStack* const stack =
      vocab::find_stack(evidence::driver_of(nic), nic.stack.is(evidence::Stack::kOfed));
  if (stack == nullptr) return "";
  // Until it is known who built the driver, either half of mlx5's commands may be the one.
  const bool is_mlx5 = stack->driver == vocab::Driver::kMlx5;
  return is_mlx5 && !nic.stack.is_known() ? kEitherMlx5 : stack->name;
}

void replace_names(std::string& text, const Names& names) {
  for (const auto& [name, value] : names)
    for (auto at = text.find(name); at != std::string::npos;
         at = text.find(name, at + value.size()))
      text.replace(at, name.size(), value);
}

/// A fix for `offered` helps who has `platform` at this side.
bool suits(std::string_view offered, std::string_view platform, finding::Side side) {
  const finding::Platform* at = finding::find_platform(offered);
  if (at == nullptr) return false;
  const bool is_side =
      at->side == side || at->side == finding::Side::kAny || at->side == finding::Side::kJob;
  if (!is_side) return false;
  const bool is_general = offered == "any" || offered == "host" || offered == "switch";
  const bool is_own =
      offered == platform || (platform == kEitherMlx5 && offered.starts_with(kEitherMlx5));
  return platform.empty() || is_general || at->side != side || is_own;
}

/// The fixes of the finding, or the catalogue's, that suit. Of the catalogue's, which are for every
/// platform, nothing else is copied: a fabric may have a finding per NIC.
std::vector<finding::Fix> suitable_fixes(const finding::Finding& finding, std::string_view platform,
                                         finding::Side side) {
  std::vector<finding::Fix> out;
  for (const finding::Fix& fix : finding.fix)
    if (suits(fix.platform, platform, side)) out.push_back(fix);
  const finding::CatalogEntry* entry = finding::find(finding.id);
  if (!finding.fix.empty() || entry == nullptr) return out;
  for (const finding::CatalogFix& fix : entry->fix)
    if (suits(fix.platform, platform, side))
      out.push_back({std::string(fix.platform),
                     {fix.commands.begin(), fix.commands.end()},
                     std::string(fix.note)});
  return out;
}

void fit(finding::Finding& finding, std::string_view platform, finding::Side side,
         const Names& names) {
  std::vector<finding::Fix> kept = suitable_fixes(finding, platform, side);
  for (finding::Fix& fix : kept) {
    for (std::string& command : fix.commands)
      replace_names(command, names);
    replace_names(fix.note, names);
  }
  if (kept.empty()) return;
  std::stable_sort(kept.begin(), kept.end(), [&](const finding::Fix& a, const finding::Fix& b) {
    return (a.platform == platform) > (b.platform == platform);
  });
  finding.fix = std::move(kept);
}

/// What a command is about, its value left out: "mlnx_qos -i eth2 --pfc", the file of an echo.
std::string aim_of(std::string_view command) {
  constexpr std::size_t kWords = 4;
  const std::vector<std::string_view> words = split(command, ' ');
  std::string out;
  for (std::size_t i = 0; i < std::min(words.size(), kWords); ++i)
    if (i != 1 || words.front() != "echo") out += std::string(words[i]) + ' ';
  return out;
}

/// Commands for all of `changes`, each once. A line that nobody would type (a whole DSCP map code
/// point by code point) is left to the catalogue's example and to `weir plan`.
std::vector<std::string> commands_of(const evidence::Nic& nic,
                                     std::span<const evidence::SettingValue> changes) {
  constexpr std::size_t kLongest = 120;
  std::vector<std::string> out;
  for (const evidence::SettingValue& change : changes) {
    if (!evidence::obstacle_to(change, nic).empty()) continue;
    for (std::string& line : evidence::commands_for(change, nic))
      if (line.size() <= kLongest && std::find(out.begin(), out.end(), line) == out.end())
        out.push_back(std::move(line));
  }
  return out;
}

/// The fixes of several rails of a host: the commands of each behind those of the first, each once.
class FixesOfRails {
 public:
  void add(std::vector<finding::Fix> more) {
    if (fixes_.empty()) {
      fixes_ = std::move(more);
      for (std::size_t i = 0; i < fixes_.size(); ++i)
        for (const std::string& line : fixes_[i].commands)
          taken_.emplace(i, line);
      return;
    }
    for (const finding::Fix& other : more)
      for (std::size_t i = 0; i < fixes_.size(); ++i) {
        if (fixes_[i].platform != other.platform) continue;
        for (const std::string& line : other.commands)
          if (taken_.emplace(i, line).second) fixes_[i].commands.push_back(line);
      }
  }
  [[nodiscard]] std::vector<finding::Fix> take() && { return std::move(fixes_); }

 private:
  std::vector<finding::Fix> fixes_;
  std::set<std::pair<std::size_t, std::string>> taken_;  // index of the fix, command
};

}  // namespace

void fit_fixes(const evidence::Nic& nic, std::span<const evidence::SettingValue> changes,
               finding::Finding& finding) {
  fit_fixes(&nic, finding);
  std::vector<std::string> commands = commands_of(nic, changes);
  const std::string_view platform = platform_of(nic);
  const auto fix = std::find_if(finding.fix.begin(), finding.fix.end(), [&](const auto& each) {
    return each.platform == platform || each.platform == "host";
  });
  if (commands.empty() || fix == finding.fix.end()) return;
  const std::size_t own = commands.size();
  for (std::string& example : fix->commands) {
    const bool is_replaced =
        std::any_of(commands.begin(), commands.begin() + static_cast<std::ptrdiff_t>(own),
                    [&](const std::string& line) { return aim_of(line) == aim_of(example); });
    if (!is_replaced) commands.push_back(std::move(example));
  }
  fix->commands = std::move(commands);
}

void fit_fixes(const evidence::Nic* nic, finding::Finding& finding) {
  if (nic == nullptr) return;
  Names names = {{"<device>", shell_word(nic->device)}};
  if (nic->netdev.is_known()) names.emplace_back("<netdev>", shell_word(*nic->netdev));
  fit(finding, platform_of(*nic), finding::Side::kHost, names);
}

void fit_fixes(const evidence::Switch* device, std::string_view port, finding::Finding& finding) {
  if (device == nullptr || !device->platform.is_known()) return;
  Names names = {{"<switch>", shell_word(device->name)}};
  if (!port.empty()) names.emplace_back("<port>", switch_word(port));
  fit(finding, *device->platform, finding::Side::kSwitch, names);
}

void fit_fixes(const View& view, finding::Finding& finding) {
  const finding::Where& where = finding.where;
  if (!where.switch_name.empty()) {
    const auto ports = view.ports_of(where.switch_name);
    if (!ports.empty()) fit_fixes(ports.front()->device, where.port, finding);
    return;
  }
  // One finding may stand for several rails of a host: "mlx5_[0-7]".
  if (where.device.empty()) return;
  const std::vector<std::string> named = expand_compact(where.device);
  const std::set<std::string, std::less<>> devices(named.begin(), named.end());
  FixesOfRails all;
  for (const NicView& nic : view.nics()) {
    if (nic.host != where.host || devices.find(nic.device) == devices.end()) continue;
    finding::Finding here;  // without the evidence, which may be of as many NICs
    here.id = finding.id;
    here.fix = finding.fix;
    fit_fixes(nic.facts, here);
    all.add(std::move(here.fix));
  }
  if (auto fixes = std::move(all).take(); !fixes.empty()) finding.fix = std::move(fixes);
}

}  // namespace weir::diagnose

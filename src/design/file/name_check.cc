#include "design/file/name_check.h"

#include <fmt/format.h>

#include "base/text.h"
#include "base/untrusted/name_policy.h"
#include "design/fabric/patterns.h"

namespace weir::design {
namespace {

class NameCheck {
 public:
  explicit NameCheck(std::vector<Diagnostic>& errors) : errors_(errors) {}

  void word(NameKind kind, const Setting<std::string>& setting, std::string_view key) {
    if (setting.is_written()) one(kind, *setting, setting.at(), key);
  }
  void nodes(const Setting<NamePattern>& setting, std::string_view key) {
    if (setting.is_written()) each(NameKind::kHost, setting->text, setting.at(), key);
  }
  /// A name with {rail} in it, or a pattern of names, one per rail.
  void rails(NameKind kind, const Setting<std::string>& setting, std::string_view key) {
    if (!setting.is_written()) return;
    if (setting->find_first_of("[,") != std::string::npos)
      return each(kind, *setting, setting.at(), key);
    constexpr std::string_view kRail = "{rail}";
    std::string name = *setting;
    for (auto at = name.find(kRail); at != std::string::npos; at = name.find(kRail))
      name.replace(at, kRail.size(), "0");
    one(kind, name, setting.at(), key);
  }
  /// NCCL's own lists: "^docker,lo", "=eth0:1".
  void interfaces(const Setting<std::string>& setting, std::string_view key) {
    if (!setting.is_written()) return;
    std::string_view list = *setting;
    if (list.starts_with('^')) list.remove_prefix(1);
    if (list.starts_with('=')) list.remove_prefix(1);
    for (const std::string_view piece : split(list, ','))
      one(NameKind::kNetdev, piece, setting.at(), key);
  }
  void addresses(const Setting<std::vector<std::string>>& setting, std::string_view key) {
    if (!setting.is_written()) return;
    for (const std::string& text : *setting) {
      std::string address = text;
      for (const std::string_view mark : {"{rail}", "{leaf}", "{pod}"})
        for (auto at = address.find(mark); at != std::string::npos; at = address.find(mark))
          address.replace(at, mark.size(), "0");
      const std::size_t open = address.find('{');
      const std::size_t close = address.find('}', open == std::string::npos ? 0 : open);
      if (open != std::string::npos && close != std::string::npos)
        error(
            setting.at(), key,
            fmt::format("unknown placeholder '{}' in '{}': expected {{rail}}, {{leaf}} or {{pod}}",
                        address.substr(open, close - open + 1), text));
      else if (address.find_first_not_of("0123456789abcdefABCDEF.:/") != std::string::npos)
        error(setting.at(), key,
              fmt::format("expected a subnet such as 10.{{rail}}.{{leaf}}.0/24, found '{}'", text));
    }
  }
  void ports(const Setting<PortSpec>& setting, std::string_view key) {
    if (!setting.is_written()) return;
    for (const auto& [peer, name] : setting->names)
      if (!one(NameKind::kPort, name, setting.at(), key)) return;
  }

 private:
  void each(NameKind kind, std::string_view pattern, TextPosition at, std::string_view key) {
    const auto names = expand_names(pattern);
    if (!names) return error(at, key, names.error().what);
    for (const std::string& name : *names)
      if (!one(kind, name, at, key)) return;  // the others are as bad
  }
  bool one(NameKind kind, std::string_view name, TextPosition at, std::string_view key) {
    const auto wrong = wrong_name(kind, name);
    if (wrong) error(at, key, *wrong);
    return !wrong;
  }
  void error(TextPosition at, std::string_view key, std::string_view what) {
    errors_.push_back({at, fmt::format("{}: {}", key, what)});
  }

  std::vector<Diagnostic>& errors_;
};

}  // namespace

void check_names(const Design& design, std::vector<Diagnostic>& errors) {
  NameCheck check(errors);
  check.word(NameKind::kTitle, design.name, "name");
  for (const auto& group : design.hosts) {
    const std::string key = "hosts." + group.name;
    check.nodes(group.value.names, key + ".names");
    check.rails(NameKind::kDevice, group.value.device, key + ".device");
    check.rails(NameKind::kNetdev, group.value.netdev, key + ".netdev");
  }
  for (const auto& group : design.switches) {
    check.nodes(group.value.names, fmt::format("switches.{}.names", group.name));
    check.ports(group.value.ports, fmt::format("switches.{}.ports", group.name));
  }
  check.addresses(design.addressing.subnets, "addressing.subnets");
  check.word(NameKind::kWord, design.addressing.vrf, "addressing.vrf");
  check.word(NameKind::kWord, design.nccl.gdr_level, "nccl.gdr_level");
  check.interfaces(design.nccl.socket_interface, "nccl.socket_interface");
}

}  // namespace weir::design

#include <algorithm>

#include <fmt/format.h>

#include "evidence/settings/row.h"

namespace weir::evidence {
namespace {

std::vector<SettingRow> all_rows() {
  std::vector<SettingRow> all;
  for (const auto table : {link_rows(), dcb_rows(), size_rows(), congestion_rows()})
    all.insert(all.end(), table.begin(), table.end());
  std::sort(all.begin(), all.end(),
            [](const SettingRow& a, const SettingRow& b) { return a.setting < b.setting; });
  WEIR_CHECK(all.size() == vocab::kSettingNames.size());
  return all;
}

/// The rule where a row has none of its own: what is wanted is what must be found.
void compare_values(const SettingRow& row, const NicCase& c, std::vector<Deviation>& out) {
  const std::optional<SettingValue> wanted = row.wanted(c);
  if (!wanted) return;
  const Fact<SettingValue> found = row.found(*wanted, c.nic);
  if (!found.is_known()) {
    out.push_back(not_read(*wanted, found.why()));
  } else if (*found != *wanted) {
    out.push_back(differs(*wanted, *found));
  }
}

}  // namespace

std::span<const SettingRow> setting_rows() {
  static const std::vector<SettingRow> all = all_rows();
  return all;
}

const SettingRow& row_of(Setting setting) {
  const SettingRow& row = setting_rows()[static_cast<std::size_t>(setting)];
  WEIR_CHECK(row.setting == setting);
  return row;
}

CommandPort::CommandPort(const Nic& nic)
    : device(shell_word(nic.device)),
      netdev(nic.netdev.is_known() ? shell_word(*nic.netdev) : "<netdev>"),
      pci(nic.pcie.address.is_known() ? shell_word(*nic.pcie.address) : "<pci-address>"),
      number(nic.port),
      is_ofed(nic.stack.is(Stack::kOfed)),
      is_mlx5(may_be_mlx5(nic)) {}

std::vector<Deviation> deviations(const Nic& found, const design::NicIntent& wanted,
                                  const design::Intent& intent) {
  std::vector<Deviation> out;
  const NicCase c{found, wanted, intent};
  for (const SettingRow& row : setting_rows()) {
    if (row.is_tuning) continue;
    if (row.compare != nullptr) {
      row.compare(c, out);
    } else if (row.wanted != nullptr) {
      compare_values(row, c, out);
    }
  }
  return out;
}

bool cannot_be_wrong(const Deviation& deviation, const Nic& nic) {
  // The override is the vendor driver's alone.
  if (deviation.setting == Setting::kTrafficClass)
    return deviation.missing == Missing::kAbsent &&
           (nic.stack.is(Stack::kInbox) || !may_be_mlx5(nic));
  return deviation.missing == Missing::kUnsupported && row_of(deviation.setting).absent_is_right;
}

Fact<SettingValue> fact_of(const SettingValue& like, const Nic& nic) {
  const SettingRow& row = row_of(vocab::setting_of(like));
  return row.found == nullptr ? Fact<SettingValue>() : row.found(like, nic);
}

std::optional<SettingValue> as_found(const SettingValue& like, const Nic& nic) {
  const Fact<SettingValue> found = fact_of(like, nic);
  return found.is_known() ? std::optional(*found) : std::nullopt;
}

std::optional<SettingValue> wanted_of(Setting setting, const Nic& found,
                                      const design::NicIntent& wanted,
                                      const design::Intent& intent) {
  const SettingRow& row = row_of(setting);
  return row.wanted == nullptr ? std::nullopt : row.wanted({found, wanted, intent});
}

std::vector<std::string> commands_for(const SettingValue& value, const Nic& before) {
  const SettingRow& row = row_of(vocab::setting_of(value));
  if (row.commands == nullptr) return {};
  return row.commands(value, CommandPort(before), before);
}

std::string_view obstacle_to(const SettingValue& value, const Nic& nic) {
  if (nic.link_layer.is(LinkLayer::kInfiniband))
    return "the port runs InfiniBand, which has no RoCE settings: mlxconfig LINK_TYPE makes it "
           "Ethernet";
  const SettingRow& row = row_of(vocab::setting_of(value));
  return row.obstacle == nullptr ? std::string_view() : row.obstacle(nic);
}

void RailScript::line(std::string_view words) {
  text_ += fmt::format("{}{}\n", indent, words);
}

void RailScript::settle(std::string_view what, const std::string& wanted, std::string_view reader,
                        std::string_view argument, std::string_view command) {
  const std::string value = wanted.starts_with('"') ? wanted : fmt::format("'{}'", wanted);
  line(fmt::format("settle {} {} {} {} {}", shell_word(fmt::format("{} {}", nic.netdev, what)),
                   value, reader, argument, command));
}

void RailScript::settle_knob(std::string_view what, std::string_view file, std::string_view debugfs,
                             std::int64_t value) {
  const std::string where = shell_word(fmt::format("{}:{}:{}", nic.netdev, file, debugfs));
  settle(what, std::to_string(value), "read_knob", where,
         fmt::format("set_knob {} {}", where, value));
}

}  // namespace weir::evidence

#pragma once
// One row per setting of a NIC: what the design wants of it, what facts say of it, when the two
// agree, what a person types to change it, and how the rendered host script does.
//
// A new setting is a type in vocab/setting.h, a row in one of this folder's tables, and a row in
// host/change/linux_change.cc. Where no fact holds its value yet, one more in evidence/nic.h.
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "evidence/deviation.h"
#include "evidence/settings/script.h"
#include "finding/finding.h"

namespace weir::evidence {

using Lines = std::vector<std::string>;

/// A NIC beside what is wanted of it.
struct NicCase {
  const Nic& nic;
  const design::NicIntent& wanted;
  const design::Intent& intent;
};

/// Names of one port as commands need them, with a word to fill in where one is not known.
struct CommandPort {
  explicit CommandPort(const Nic& nic);
  std::string device;
  std::string netdev;
  std::string pci;
  unsigned number;
  bool is_ofed;
  bool is_mlx5;
};

struct SettingRow {
  Setting setting = Setting::kTrust;
  bool is_tuning = false;  // asked for by host_tuning; planned after all NICs

  // Wanted and found. Where == is not the rule, `compare` adds the deviations; nullptr: it is.
  std::optional<SettingValue> (*wanted)(const NicCase&) = nullptr;
  Fact<SettingValue> (*found)(const SettingValue& like, const Nic&) = nullptr;
  void (*compare)(const NicCase&, std::vector<Deviation>&) = nullptr;

  // What a deviation means.
  std::string_view finding = "config.differs";
  std::optional<finding::Severity> severity = {};  // the catalogue's where empty
  std::string_view how_to_read = {};
  std::string_view not_changed = {};  // why no change fixes it; empty: one does
  bool absent_is_right = false;       // a driver without it is as the design wants it

  // By hand and by script.
  Lines (*commands)(const SettingValue&, const CommandPort&, const Nic& before) = nullptr;
  std::string_view (*obstacle)(const Nic&) = nullptr;
  SettingScript script = {};
};

/// In the order of Setting.
[[nodiscard]] std::span<const SettingRow> setting_rows();
[[nodiscard]] const SettingRow& row_of(Setting setting);

// ---- for the tables of this folder ----

[[nodiscard]] std::span<const SettingRow> link_rows();
[[nodiscard]] std::span<const SettingRow> dcb_rows();
[[nodiscard]] std::span<const SettingRow> size_rows();
[[nodiscard]] std::span<const SettingRow> congestion_rows();

/// Why a fact has no value. A fact nobody looked at is as absent as one that is not there.
template <class T>
Missing why_unknown(const Fact<T>& fact) {
  return fact.is_missing() ? fact.why() : Missing::kAbsent;
}

/// One fact, or two, that are a whole value.
template <class Made, class T>
Fact<SettingValue> value_of(const Fact<T>& fact) {
  if (!fact.is_known()) return Fact<SettingValue>::missing(why_unknown(fact), fact.source());
  return Fact<SettingValue>::of(Made{*fact}, fact.source());
}
template <class Made, class A, class B>
Fact<SettingValue> value_of(const Fact<A>& a, const Fact<B>& b) {
  if (!a.is_known()) return Fact<SettingValue>::missing(why_unknown(a), a.source());
  if (!b.is_known()) return Fact<SettingValue>::missing(why_unknown(b), b.source());
  return Fact<SettingValue>::of(Made{*a, *b}, a.source());
}

inline Deviation differs(SettingValue wanted, SettingValue found, std::optional<Part> part = {}) {
  const Setting setting = vocab::setting_of(wanted);
  return {setting, std::move(wanted), std::move(found), std::nullopt, part};
}
inline Deviation not_read(SettingValue wanted, Missing why, std::optional<Part> part = {}) {
  const Setting setting = vocab::setting_of(wanted);
  return {setting, std::move(wanted), std::nullopt, why, part};
}

/// The commands of one value type as those of any: `commands = &typed<pause_commands>`.
template <class T>
using TypedCommands = Lines (*)(const T&, const CommandPort&, const Nic&);
template <auto kFunction>
struct Typed;
template <class T, TypedCommands<T> kFunction>
struct Typed<kFunction> {
  static Lines commands(const SettingValue& value, const CommandPort& port, const Nic& before) {
    return kFunction(std::get<T>(value), port, before);
  }
};

}  // namespace weir::evidence

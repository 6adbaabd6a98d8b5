#include "finding/catalog.h"

#include <algorithm>
#include <array>
#include <iterator>
#include <unordered_map>
#include <utility>

#include "base/check.h"
#include "finding/catalog_parts.h"
#include "vocab/nic_drivers.h"
#include "vocab/switch_systems.h"

namespace weir::finding {
namespace {

std::vector<Platform> all_platforms() {
  std::vector<Platform> all = {{"design", "the design file", Side::kDesign},
                               {"any", "anywhere", Side::kAny},
                               {"host", "any Linux host", Side::kHost},
                               {"switch", "any switch", Side::kSwitch}};
  for (const vocab::NicStack& stack : vocab::kNicStacks)
    all.push_back({stack.name, stack.title, Side::kHost});
  for (const vocab::SwitchSystemName& system : vocab::kSwitchSystems)
    all.push_back({system.name, system.title, Side::kSwitch});
  all.push_back({"nccl", "the job: NCCL, RCCL, UCX, perftest", Side::kJob});
  return all;
}

constexpr std::array<std::string_view, 6> kPhases = {"lint",   "job",      "validate",
                                                     "verify", "diagnose", "monitor"};

std::vector<CatalogEntry> all_entries() {
  std::vector<CatalogEntry> all;
  for (auto* const family :
       {pfc_entries, congestion_entries, buffer_entries, marking_entries, path_entries,
        balance_entries, link_entries, host_entries, container_entries, gid_entries, job_entries,
        telemetry_entries, platform_entries}) {
    std::vector<CatalogEntry> entries = family();
    std::move(entries.begin(), entries.end(), std::back_inserter(all));
  }
  std::sort(all.begin(), all.end(),
            [](const CatalogEntry& a, const CatalogEntry& b) { return a.id < b.id; });
  return all;
}

using Index = std::unordered_map<std::string_view, const CatalogEntry*>;

Index index_of(std::span<const CatalogEntry> entries) {
  Index index;
  for (const CatalogEntry& entry : entries) {
    WEIR_CHECK(index.emplace(entry.id, &entry).second);
    for (const std::string_view alias : entry.aliases)
      WEIR_CHECK(index.emplace(alias, &entry).second);
  }
  return index;
}

}  // namespace

std::span<const Platform> platforms() {
  static const std::vector<Platform> all = all_platforms();
  return all;
}

const Platform* find_platform(std::string_view name) {
  const std::span<const Platform> all = platforms();
  const auto at = std::find_if(all.begin(), all.end(),
                               [&](const Platform& platform) { return platform.name == name; });
  return at == all.end() ? nullptr : &*at;
}

std::span<const std::string_view> phases() {
  return kPhases;
}

std::span<const CatalogEntry> catalog() {
  static const std::vector<CatalogEntry> entries = all_entries();
  return entries;
}

const CatalogEntry* find(std::string_view id_or_alias) {
  static const Index index = index_of(catalog());
  const auto at = index.find(id_or_alias);
  return at == index.end() ? nullptr : at->second;
}

Finding make_finding(std::string_view id, std::string verdict, Where where) {
  const CatalogEntry* entry = find(id);
  WEIR_CHECK(entry != nullptr && entry->id == id);
  Finding finding;
  finding.id = std::string(id);
  finding.severity = entry->severity;
  finding.verdict = std::move(verdict);
  finding.where = std::move(where);
  return finding;
}

std::vector<Fix> fixes_of(const Finding& finding) {
  if (!finding.fix.empty()) return finding.fix;
  std::vector<Fix> fixes;
  const CatalogEntry* entry = find(finding.id);
  if (entry == nullptr) return fixes;
  for (const CatalogFix& fix : entry->fix) {
    fixes.push_back({std::string(fix.platform),
                     {fix.commands.begin(), fix.commands.end()},
                     std::string(fix.note)});
  }
  return fixes;
}

}  // namespace weir::finding

#include "ops/source/fabric.h"

#include <algorithm>

#include <fmt/format.h>

#include "base/digest.h"
#include "base/file.h"
#include "base/text.h"
#include "design/fabric/variant.h"
#include "design/file/load.h"
#include "design/lint/lint.h"

namespace weir::ops {
namespace {

weir::Result<design::Loaded> read_design(const std::string& path) {
  if (path != "-") return design::load_file(path);
  WEIR_TRY(text, read_file(path));
  return design::load_text(text, "stdin");
}

weir::Result<design::Loaded> read_design_of(const std::string& path, std::string_view digest) {
  WEIR_TRY(text, read_file(path));
  const std::string name = path == "-" ? "stdin" : path;
  if (design_digest(text) != digest)
    return invalid_error(
        fmt::format("{}: not the design that was meant: {} bytes with the digest {}, and --expect "
                    "is {}: it was cut short on the way, or another was sent",
                    name, text.size(), design_digest(text), digest));
  return design::load_text(text, name);
}

Result<Fabric> fabric_of(weir::Result<design::Loaded> read);

// Every error with its place: a person fixes them all in one go.
Failure design_errors(const std::string& file, const std::vector<design::Diagnostic>& errors) {
  Failure failure =
      bad_input(fmt::format("{} cannot be used: {}", file, counted(errors.size(), "error")));
  for (const design::Diagnostic& error : errors)
    failure.places.push_back({file, error.at.line, error.at.column, error.message});
  return failure;
}

template <class Node>
const Node* find_named(const std::vector<Node>& nodes, std::string_view name) {
  const auto found =
      std::find_if(nodes.begin(), nodes.end(), [&](const Node& node) { return node.name == name; });
  return found == nodes.end() ? nullptr : &*found;
}

}  // namespace

Result<Fabric> load_fabric(const std::string& path) {
  return fabric_of(read_design(path));
}

Result<Fabric> fabric_from_text(std::string_view text, const std::string& name) {
  return fabric_of(design::load_text(text, name));
}

Result<Fabric> load_fabric(const std::string& path, std::string_view digest) {
  return fabric_of(read_design_of(path, digest));
}

std::string design_digest(std::string_view text) {
  Digest digest;
  digest.add(text);
  return digest.to_text();
}

namespace {

Result<Fabric> fabric_of(weir::Result<design::Loaded> read) {
  WEIR_TRY(loaded, or_bad_input(std::move(read)));
  if (!loaded.is_good()) return design_errors(loaded.design.file, loaded.errors);
  design::Derived derived = design::derive(loaded.design);
  if (!derived.errors.empty()) return design_errors(loaded.design.file, derived.errors);
  return Fabric{std::move(loaded.design), std::move(derived.intent)};
}

}  // namespace

Result<std::vector<std::string>> lint_errors(const Fabric& fabric, bool is_allowed) {
  const finding::Judgement judgement = design::lint(fabric.design, fabric.intent);
  std::vector<std::string> ids;
  std::string first;
  for (const finding::Finding& found : judgement.findings) {
    if (found.severity != finding::Severity::kError) continue;
    if (first.empty()) first = fmt::format("{} ({})", found.verdict, found.id);
    if (std::find(ids.begin(), ids.end(), found.id) == ids.end()) ids.push_back(found.id);
  }
  if (ids.empty() || is_allowed) return ids;
  return bad_input(fmt::format(
      "{}: the design is broken: {}{}. weir lint shows all of it; --despite-lint goes on all the "
      "same",
      fabric.design.file, first,
      ids.size() > 1 ? fmt::format(", and {} more", ids.size() - 1) : std::string()));
}

weir::Status set_values(const std::vector<std::string>& settings, Fabric& fabric) {
  if (settings.empty()) return {};
  WEIR_TRY(variant, design::with_values(fabric.design, settings));
  fabric = {std::move(variant.design), std::move(variant.intent)};
  return {};
}

const design::HostIntent* find_host(const design::Intent& intent, std::string_view name) {
  return find_named(intent.hosts, name);
}

const design::SwitchIntent* find_switch(const design::Intent& intent, std::string_view name) {
  return find_named(intent.switches, name);
}

std::vector<std::string> switch_names(const design::Intent& intent) {
  std::vector<std::string> names;
  for (const design::SwitchIntent& node : intent.switches)
    names.push_back(node.name);
  return names;
}

}  // namespace weir::ops

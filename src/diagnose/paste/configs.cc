#include "diagnose/paste/configs.h"

#include <algorithm>
#include <array>

#include "platforms/common/platform.h"

namespace weir::diagnose {
namespace {

/// Statements that one of the systems has and the others do not: a piece may lack those by which a
/// whole configuration is known.
struct Dialect {
  design::SwitchSystem system;
  std::string_view statement;
};
constexpr auto kDialects = std::to_array<Dialect>({
    {design::SwitchSystem::kEos, "qos trust "},
    {design::SwitchSystem::kEos, "priority-flow-control priority "},
    {design::SwitchSystem::kEos, "priority-flow-control on"},
    {design::SwitchSystem::kEos, "uc-tx-queue "},
    {design::SwitchSystem::kNxos, "priority-flow-control mode "},
    {design::SwitchSystem::kNxos, "service-policy type "},
    {design::SwitchSystem::kNxos, "policy-map type "},
    {design::SwitchSystem::kJunos, "set class-of-service "},
    {design::SwitchSystem::kCumulus, "nv set "},
});

const platforms::Platform* system_of(std::string_view text) {
  if (const platforms::Platform* const known = platforms::recognise(text)) return known;
  for (const Dialect& dialect : kDialects)
    if (text.find(dialect.statement) != std::string_view::npos)
      return &platforms::platform_of(dialect.system);
  return nullptr;
}

/// A fact that a line of the text states. A default has the system as its source, and a setting
/// without its line has none.
template <class T>
void take_stated(const evidence::Fact<T>& from, std::string_view file, evidence::Fact<T>& to) {
  const std::string& source = from.source();
  const bool is_line =
      source.size() > file.size() && source.starts_with(file) && source[file.size()] == ':';
  if (from.is_known() && is_line) to = from;
}

evidence::SwitchPort stated_of(const evidence::SwitchPort& port, std::string_view file) {
  evidence::SwitchPort out;
  out.name = port.name;
  take_stated(port.trust, file, out.trust);
  take_stated(port.mtu, file, out.mtu);
  take_stated(port.pfc, file, out.pfc);
  for (const evidence::EgressQueue& queue : port.queues) {
    evidence::EgressQueue stated;
    stated.queue = queue.queue;
    take_stated(queue.ecn, file, stated.ecn);
    take_stated(queue.ecn_min, file, stated.ecn_min);
    take_stated(queue.ecn_max, file, stated.ecn_max);
    if (stated.ecn.is_known() || stated.ecn_min.is_known()) out.queues.push_back(std::move(stated));
  }
  return out;
}

/// On NX-OS a port's priorities are those of the network-qos policy and its trust is that of the
/// policy on it, which may not be in the piece: then they come out empty.
void leave_open(evidence::SwitchPort& port) {
  if (port.pfc.is_known() && port.pfc->count() == 0) port.pfc = {};
  if (port.trust.is(evidence::TrustMode::kNone)) port.trust = {};
}

}  // namespace

std::vector<evidence::Evidence> pasted_configs(const readers::Paste& paste) {
  std::vector<evidence::Evidence> out;
  for (const readers::PasteConfig& config : paste.configs) {
    const platforms::Platform* const platform = system_of(config.text);
    if (platform == nullptr) continue;
    const auto parsed = platform->parse(config.text, config.file);
    if (!parsed) continue;
    evidence::Switch stated;
    stated.name = config.switch_name.empty() ? "switch" : config.switch_name;
    stated.platform = evidence::Fact<std::string>::of(std::string(platform->name), config.file);
    if (platform->system == design::SwitchSystem::kEos)
      take_stated(parsed->state.dscp_to_tc, config.file, stated.dscp_to_tc);
    for (const evidence::SwitchPort& port : parsed->state.ports) {
      evidence::SwitchPort said = stated_of(port, config.file);
      if (platform->system != design::SwitchSystem::kEos) leave_open(said);
      evidence::SwitchPort nothing;
      nothing.name = said.name;
      if (!(said == nothing)) stated.ports.push_back(std::move(said));
    }
    if (stated.ports.empty() && !stated.dscp_to_tc.is_known()) continue;
    evidence::Evidence evidence;
    evidence.provenance.tool = "pasted text";
    evidence.provenance.origin = evidence::Origin::kText;
    evidence.provenance.detail = config.file;
    evidence.switches.push_back(std::move(stated));
    out.push_back(std::move(evidence));
  }
  return out;
}

}  // namespace weir::diagnose

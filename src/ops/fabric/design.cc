#include "ops/fabric/design.h"

#include <fmt/format.h>

#include "base/text.h"
#include "design/fabric/effective.h"
#include "design/file/templates.h"
#include "design/lint/lint.h"
#include "diagnose/core/fixes.h"
#include "diagnose/core/hop.h"
#include "render/config/design_from_hosts.h"
#include "units/format.h"

namespace weir::ops {

Result<Linted> lint(const std::string& design) {
  WEIR_TRY(fabric, load_fabric(design));
  Linted out{std::move(fabric), {}, {}};
  out.judgement = design::lint(out.fabric.design, out.fabric.intent);
  out.effective = design::effective_text(out.fabric.design);
  return out;
}

namespace {

/// A configuration is of one system: what to type on the others is noise.
void fit_to_systems(const std::vector<SwitchConfig>& configs, finding::Judgement& judgement) {
  for (finding::Finding& found : judgement.findings)
    for (const SwitchConfig& config : configs)
      if (config.name == found.where.switch_name)
        diagnose::fit_fixes(&config.parsed.state, found.where.port, found);
}

}  // namespace

Result<Proved> prove(const ProveRequest& request) {
  Proved out;
  WEIR_TRY(fabric, load_fabric(request.design));
  out.fabric = std::move(fabric);
  const design::Intent& intent = out.fabric.intent;
  WEIR_TRY(configs, read_switch_configs(request.switches, intent));
  out.configs = std::move(configs);
  std::vector<design::Hop> hops;
  for (const SwitchConfig& config : out.configs)
    hops.push_back(
        diagnose::hop_of(config.parsed.state, *find_switch(intent, config.name), config.file));
  out.proof = design::prove(out.fabric.design, intent, hops);
  out.walk = design::walk_failures(intent, request.failures);
  out.judgement = design::judge(out.proof, out.fabric.design);
  if (auto found = design::deadlock_finding(out.walk, intent)) {
    out.judgement.findings.push_back(*std::move(found));
  }
  for (finding::Finding& found : design::cut_off_findings(out.walk, intent))
    out.judgement.findings.push_back(std::move(found));
  finding::settle(out.judgement);
  fit_to_systems(out.configs, out.judgement);
  return out;
}

NewDesign design_from_template(std::string_view name) {
  const design::Template* found = design::find_template(name);
  WEIR_CHECK(found != nullptr);
  NewDesign out;
  out.text = found->text;
  out.template_name = found->name;
  out.summary = trim(found->summary);
  return out;
}

namespace {

/// Systems that count a queue in percents cannot begin to mark at the usual number of bytes: the
/// start has thresholds that they can say. Empty for the others.
Result<std::string> thresholds_in_percents(const std::string& text) {
  WEIR_TRY(fabric, fabric_from_text(text, "the start"));
  Bytes step;
  for (const design::SwitchIntent& node : fabric.intent.switches)
    step = std::max(step, design::smallest_threshold(node).value_or(0_B));
  if (step == 0_B) return std::string();
  // Rounded up to what one reads easily; the curve is three steps wide.
  constexpr std::int64_t kRound = 100'000;
  const std::int64_t min = (step.raw() + kRound - 1) / kRound * kRound;
  return fmt::format(
      "\nwred:                         # this system counts a queue in percents: 1% is the least\n"
      "  min: {}\n  max: {}\n",
      to_text(Bytes::raw(min)), to_text(Bytes::raw(min * 3)));
}

}  // namespace

Result<NewDesign> design_from_size(const render::FabricSize& size) {
  WEIR_TRY(text, or_bad_input(render::design_from_size(size)));
  NewDesign out;
  out.text = std::move(text);
  WEIR_TRY(thresholds, thresholds_in_percents(out.text));
  out.text += thresholds;
  out.template_name = size.model;
  out.hosts = static_cast<std::size_t>(size.hosts);
  out.rails = static_cast<std::size_t>(size.rails);
  const std::string_view first = std::string_view(out.text).substr(2, out.text.find('\n') - 2);
  out.summary = first.substr(0, first.find('.'));
  return out;
}

Result<NewDesign> design_from_hosts(const Source& source) {
  WEIR_TRY(set, open_hosts(source));
  WEIR_TRY(seen, observe_some(set));
  if (!render::has_ethernet_rdma(seen.hosts))
    return could_not_look("no RDMA NIC on Ethernet was found: a design is for RoCE");
  render::FoundDesign found = render::design_from_hosts(seen.hosts, "from-hosts");
  NewDesign out;
  out.text = std::move(found.text);
  out.hosts = found.hosts;
  out.rails = found.rails;
  out.open = std::move(found.open);
  out.seen = std::move(seen);
  return out;
}

}  // namespace weir::ops

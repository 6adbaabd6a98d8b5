#include "cli/verbs/switch_audit.h"

#include <algorithm>

#include <fmt/format.h>

#include "base/json.h"
#include "base/name_pattern.h"
#include "cli/frame/design_input.h"
#include "cli/frame/host_input.h"
#include "cli/verbs/judging.h"
#include "diagnose/validate/validate.h"
#include "evidence/as_set.h"
#include "finding/fold.h"

namespace weir::cli {
namespace {

finding::Unknown unread_lines(const SwitchConfig& config) {
  std::string lines;
  for (const platforms::Unread& one : config.parsed.unread)
    lines += fmt::format("{}{}", lines.empty() ? "" : ",", one.line);
  const std::size_t count = config.parsed.unread.size();
  return {.check =
              fmt::format("{}: {} of {}", config.wanted->name, counted(count, "line"), config.file),
          .reason = fmt::format("not understood: line{} {}", count == 1 ? "" : "s", lines),
          .how = "read them: what depends on them was not judged"};
}

std::string verdict(const SwitchAudit& audit, const finding::Judgement& judgement,
                    const std::string& against) {
  std::vector<std::string> names;
  for (const evidence::Switch& one : audit.evidence.switches)
    names.push_back(one.name);
  const std::string who = compact_names(names);
  const bool is_one = names.size() == 1;
  const std::string unknown =
      judgement.unknown.empty()
          ? ""
          : fmt::format("{} could not look",
                        counted(finding::fold(judgement.unknown).size(), "check"));
  if (judgement.findings.empty()) {
    if (unknown.empty())
      return fmt::format("{} {} {}.", who, is_one ? "matches" : "match", against);
    return fmt::format("{}: nothing contradicts {}, but {}.", who, against, unknown);
  }
  const std::size_t faults = finding::fold(judgement.findings).size();
  return fmt::format("{} {} not match {}: {}{}.", who, is_one ? "does" : "do", against,
                     counted(faults, "fault"), unknown.empty() ? "" : "; " + unknown);
}

/// What the switch's system can hold of its design.
design::SwitchIntent held(const design::Intent& intent, const design::SwitchIntent& wanted) {
  const platforms::Lowered lowered = platforms::platform_of(wanted.system).lower(intent, wanted);
  return evidence::as_set(wanted, lowered.state);
}

}  // namespace

void lower_loaded(const lab::Lab& lab, design::Intent& intent) {
  for (design::SwitchIntent& one : intent.switches) {
    const auto profile = lab.buffer_profile(one.name);
    if (profile && *profile == "loaded") one = held(intent, one);
  }
}

std::optional<SwitchAudit> read_switch_audit(const Args& args, const design::Intent& intent,
                                             Context& context, ExitCode& code) {
  const auto configs = read_switch_configs(args, intent, context, code);
  if (!configs) return std::nullopt;
  SwitchAudit audit;
  audit.intent = intent;
  audit.evidence.provenance.origin = evidence::Origin::kText;
  for (const SwitchConfig& config : *configs) {
    audit.evidence.switches.push_back(config.parsed.state);
    if (!config.parsed.unread.empty()) audit.unread.push_back(unread_lines(config));
    const auto index = static_cast<std::size_t>(config.wanted - intent.switches.data());
    audit.intent.switches[index] = held(intent, *config.wanted);
  }
  return audit;
}

ExitCode validate_switches(const Args& args, Context& context) {
  ExitCode code = ExitCode::kOk;
  const auto input = load_design(args, context, code);
  if (!input) return code;
  const auto audit = read_switch_audit(args, input->intent, context, code);
  if (!audit) return code;
  finding::Judgement judgement = diagnose::validate({&audit->evidence, 1}, audit->intent);
  judgement.unknown.insert(judgement.unknown.end(), audit->unread.begin(), audit->unread.end());
  if (judgement.conclusion == finding::Conclusion::kHealthy && !judgement.unknown.empty())
    judgement.conclusion = finding::Conclusion::kInconclusive;
  const std::string design = args.has("DESIGN") ? " " + args.value("DESIGN") : "";
  for (const evidence::Switch& one : audit->evidence.switches) {
    const bool is_wrong = std::any_of(
        judgement.findings.begin(), judgement.findings.end(),
        [&](const finding::Finding& found) { return found.where.switch_name == one.name; });
    if (is_wrong)
      judgement.next.push_back(fmt::format("weir render{} --to {} --node {}", design,
                                           one.platform.is_known() ? *one.platform : "SYSTEM",
                                           one.name));
  }
  return print_judgement(args, context, judgement, verdict(*audit, judgement, input->design.file),
                         {{"design", input->design.file},
                          {"hosts", 0},
                          {"not_in_design", Json::array()},
                          {"switches", audit->evidence.switches.size()},
                          {"simulated", false}});
}

}  // namespace weir::cli

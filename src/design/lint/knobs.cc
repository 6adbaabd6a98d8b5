// NIC parameters: is there such a knob, and does it take this value?
#include <fmt/format.h>

#include "base/text.h"
#include "design/lint/rules.h"
#include "design/tables/nic_knobs.h"
#include "units/format.h"

namespace weir::design {
namespace {

std::vector<std::string> knob_names() {
  std::vector<std::string> names;
  for (const NicKnob& knob : nic_knobs())
    names.emplace_back(knob.name);
  return names;
}

// A switch threshold given among the NIC's parameters: the line it should have been.
std::string switch_line(std::string_view phantom, const std::string& value) {
  const bool is_max = phantom.find("max") != std::string_view::npos;
  const bool is_share = phantom.ends_with("max_p") || phantom == "pmax";
  return fmt::format("wred: {{ {}: {} }}",
                     is_share ? "probability"
                     : is_max ? "max"
                              : "min",
                     value);
}

}  // namespace

void check_nic_knob_does_not_exist(LintCase& c) {
  for (const Knob& knob : c.design.dcqcn.knobs) {
    if (find_knob(knob.name) != nullptr) continue;
    const PhantomKnob* const phantom = find_phantom(knob.name);
    const auto near = nearest(knob.name, knob_names());
    auto& found = c.report("nic_knob.does_not_exist", knob.at,
                           phantom != nullptr
                               ? fmt::format("dcqcn.{}: {}", knob.name, phantom->instead)
                               : fmt::format("dcqcn.{}: no NIC has such a parameter{}", knob.name,
                                             did_you_mean(knob.name, knob_names())));
    if (phantom != nullptr && phantom->real.empty()) {
      LintCase::add_fix(found, {switch_line(phantom->name, knob.text)},
                        "and delete the line under dcqcn");
    } else if (phantom != nullptr || near) {
      LintCase::add_fix(
          found,
          {fmt::format("{}: {}", phantom != nullptr ? std::string(phantom->real) : *near,
                       knob.text)},
          "under dcqcn; `weir explain knobs` shows units and ranges");
    } else {
      LintCase::add_fix(found, {}, "delete the line; `weir explain knobs` lists every parameter");
    }
  }
}

void check_nic_knob_bad_value(LintCase& c) {
  for (const Knob& written : c.design.dcqcn.knobs) {
    const NicKnob* const knob = find_knob(written.name);
    if (knob == nullptr) continue;
    const auto value = parse_knob(*knob, written.text);
    if (value) continue;
    auto& found = c.report("nic_knob.bad_value", written.value_at,
                           fmt::format("{}: {}", written.name, value.error().what));
    LintCase::add_evidence(found,
                           fmt::format("{} takes {}; the firmware's default is {}", knob->name,
                                       range_text(*knob), knob_text(*knob, knob->fallback)));
    LintCase::add_fix(found,
                      {fmt::format("{}: {}", written.name, knob_text(*knob, knob->fallback))},
                      "under dcqcn: the firmware's default");
  }
}

}  // namespace weir::design

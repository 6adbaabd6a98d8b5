#include "design/file/templates.h"

#include <algorithm>
#include <array>

#include "design/templates_data.h"

namespace weir::design {
namespace {

// "# Two hosts, one switch: …" without the mark.
constexpr std::string_view summary_of(std::string_view text) {
  const std::string_view line = text.substr(0, text.find('\n'));
  return line.substr(2);
}

constexpr std::array kTemplates = {
    Template{"pair", summary_of(kTemplatePair), kTemplatePair},
    Template{"pod16", summary_of(kTemplatePod16), kTemplatePod16},
    Template{"rail256", summary_of(kTemplateRail256), kTemplateRail256},
    Template{"clos1k", summary_of(kTemplateClos1k), kTemplateClos1k},
};

}  // namespace

std::span<const Template> templates() {
  return kTemplates;
}

const Template* find_template(std::string_view name) {
  const auto* const found = std::find_if(kTemplates.begin(), kTemplates.end(),
                                         [&](const Template& t) { return t.name == name; });
  return found == kTemplates.end() ? nullptr : found;
}

}  // namespace weir::design

#include "diagnose/validate/configuration.h"

#include <algorithm>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "base/text.h"
#include "design/file/words.h"
#include "diagnose/validate/collector.h"
#include "platforms/common/breakout.h"
#include "units/format.h"

namespace weir::diagnose {
namespace {

using platforms::PortMode;

/// "2x, 400G, 4 lanes each"; what is not said is left out.
std::string mode_text(const PortMode& mode) {
  std::vector<std::string> parts;
  if (mode.ports != 0) parts.push_back(fmt::format("{}x", mode.ports));
  if (mode.speed != BitRate()) parts.push_back(to_text(mode.speed));
  if (mode.lanes != 0) parts.push_back(fmt::format("{} lanes each", mode.lanes));
  return parts.empty() ? "none" : join(parts, ", ");
}

/// Only the parts that the design's line has.
PortMode as_said_in(const PortMode& wanted, PortMode found) {
  if (wanted.ports == 0 && found.ports == 1) found.ports = 0;
  if (wanted.speed == BitRate()) found.speed = {};
  if (wanted.lanes == 0) found.lanes = 0;
  return found;
}

class ModeCheck {
 public:
  ModeCheck(const platforms::Parsed& parsed, const design::SwitchIntent& wanted, Collector& out)
      : found_(parsed.state), modes_(*parsed.port_modes), wanted_(wanted), out_(out) {}

  void check() {
    const std::vector<PortMode> designed = platforms::designed_modes(wanted_, wanted_.system);
    for (const PortMode& mode : designed)
      if (is_in_use(mode.name)) compare(mode);
    for (const PortMode& mode : modes_) {
      const bool is_designed =
          std::any_of(designed.begin(), designed.end(),
                      [&](const PortMode& other) { return other.name == mode.name; });
      if (!is_designed) check_whole(mode);
    }
  }

 private:
  /// Whether the configuration says something of a port of that cage; of others it may be silent.
  [[nodiscard]] bool is_in_use(const std::string& cage) const {
    return std::any_of(wanted_.ports.begin(), wanted_.ports.end(), [&](const auto& port) {
      const bool is_of_cage =
          port.name == cage ||
          (port.place.cage != 0 && wanted_.model != nullptr &&
           design::cage_name(*wanted_.model, wanted_.system, port.place.cage) == cage);
      return is_of_cage && std::any_of(found_.ports.begin(), found_.ports.end(),
                                       [&](const auto& known) { return known.name == port.name; });
    });
  }

  void compare(const PortMode& wanted) {
    const auto at = std::find_if(modes_.begin(), modes_.end(),
                                 [&](const PortMode& mode) { return mode.name == wanted.name; });
    if (at == modes_.end())
      return out_.wrong("ports.differ", wanted.name,
                        expected(what(wanted), mode_text(wanted), "none"));
    const PortMode found = as_said_in(wanted, *at);
    // Rate and lanes that the line leaves to the port are its native ones or follow from the split.
    const bool has_split = wanted.ports == found.ports;
    const bool has_speed = wanted.speed == found.speed || found.speed == BitRate();
    const bool has_lanes = wanted.lanes == found.lanes || (wanted.ports == 0 && found.lanes == 0);
    if (has_split && has_speed && has_lanes) return;
    out_.wrong("ports.differ", wanted.name,
               expected(what(wanted), mode_text(wanted), mode_text(found)));
  }

  /// A cage that the design uses whole, at the speed that it has without a line.
  void check_whole(const PortMode& found) {
    const auto port = std::find_if(wanted_.ports.begin(), wanted_.ports.end(),
                                   [&](const auto& intent) { return intent.name == found.name; });
    if (port == wanted_.ports.end()) return;
    const bool is_split = found.ports > 1;
    const bool is_other = found.speed != BitRate() && found.speed != port->speed;
    if (is_split)
      out_.wrong("ports.differ", found.name, expected("breakout", "none", mode_text(found)));
    else if (is_other)
      out_.wrong("ports.differ", found.name,
                 expected("speed", to_text(port->speed), to_text(found.speed)));
  }

  [[nodiscard]] static std::string_view what(const PortMode& mode) {
    return mode.ports == 0 ? "speed" : "breakout";
  }

  const evidence::Switch& found_;
  const std::vector<PortMode>& modes_;
  const design::SwitchIntent& wanted_;
  Collector& out_;
};

}  // namespace

void validate_configuration(const platforms::Parsed& parsed, const design::SwitchIntent& wanted,
                            finding::Judgement& out) {
  Collector collector(parsed.state, out);
  for (const platforms::ConfigFault& fault : parsed.faults)
    collector.wrong(
        fault.id, fault.port,
        fault.line == 0 ? fault.text : fmt::format("line {}: {}", fault.line, fault.text));
  // Names of another system's cages are not these.
  const bool is_system = parsed.state.platform.is(std::string(design::to_word(wanted.system)));
  if (parsed.port_modes && is_system && wanted.model != nullptr)
    ModeCheck(parsed, wanted, collector).check();
  collector.finish();
}

}  // namespace weir::diagnose

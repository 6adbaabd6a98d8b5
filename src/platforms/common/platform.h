#pragma once
// A switch operating system: what the design becomes on it, how that is written, and how an
// existing configuration is read.
//
// All three work on one type, evidence::Switch as in effect: `lower` computes the state of a switch
// of this system once it is configured (cells, percents, clamps: each deviation from the design is
// a remark), `render` writes it, `parse` reads it. Tests hold the contract
//
//   parse(render(i)) == lower(i)      for every design
//
// `parse` fills in the documented defaults of the system, because an audit is about what the switch
// does, not about what was typed. It never guesses: a line that it does not understand is listed,
// and what depends on it stays unknown.
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "design/fabric/intent.h"
#include "evidence/evidence.h"
#include "platforms/common/port_modes.h"

namespace weir::platforms {

/// A value of the design that this system rounds, clamps or cannot express.
struct Remark {
  std::string what;     // "WRED minimum of queue 3, swp1"
  std::string wanted;   // "25KB"
  std::string becomes;  // "24.8KB"; empty: cannot be expressed
  std::string why;      // "counted in cells of 192 B"
  friend bool operator==(const Remark&, const Remark&) = default;
};

struct Lowered {
  evidence::Switch state;
  std::vector<Remark> remarks;
};

struct ConfigFile {
  std::string name;  // "leaf1.config_db.json": the node, then what it is
  std::string text;
};

struct Rendered {
  std::vector<ConfigFile> files;  // the first is the one that `parse` reads back
  std::vector<Remark> remarks;    // those of `lower`
};

/// A line that was not understood. What depends on it is missing from the state.
struct Unread {
  int line = 0;  // from 1
  std::string text;
  std::string why;
};

/// What a configuration says without effect: it names what it does not define, defines what it does
/// not apply, contradicts itself.
struct ConfigFault {
  int line = 0;                            // from 1
  std::string port;                        // empty: of the whole switch
  std::string text;                        // "names WRED_PROFILE|A, which is not in the file"
  std::string source;                      // the line as written
  std::string_view id = "config.differs";  // of the finding
  /// In a part of a configuration the rest may be elsewhere: there it is listed as unread.
  bool needs_whole = true;
};

struct Parsed {
  evidence::Switch state;  // Fact::source() is "FILE:LINE", or "default of SYSTEM"
  std::vector<Unread> unread;
  /// The text is the switch's whole configuration: it names the switch (SONiC: its ports). What is
  /// not in it, the switch does not have.
  bool is_whole = false;
  std::vector<ConfigFault> faults;
  /// Cages that are split or slowed, in natural order of names; nullopt where the text has none and
  /// may be a part. Not of SONiC, whose PORT table has speed and lanes of every port.
  std::optional<std::vector<PortMode>> port_modes;
};

struct Platform {
  design::SwitchSystem system;
  std::string_view name;      // as in the design file and `render --to`
  std::string_view title;     // "Arista EOS"
  std::string_view how_load;  // how to load the file: one line
  Lowered (*lower)(const design::Intent&, const design::SwitchIntent&);
  Rendered (*render)(const design::Intent&, const design::SwitchIntent&);
  /// Whether the text looks like a configuration of this system.
  bool (*recognises)(std::string_view text);
  /// Errors name `file`:line, what was expected and what was found.
  Result<Parsed> (*parse)(std::string_view text, std::string_view file);
};

[[nodiscard]] std::span<const Platform> platforms();
[[nodiscard]] const Platform& platform_of(design::SwitchSystem);
/// By the text alone; nullptr where none or more than one recognises it.
[[nodiscard]] const Platform* recognise(std::string_view text);

/// Equal values; the sources of facts are not compared.
[[nodiscard]] bool same_state(const evidence::Switch&, const evidence::Switch&);
/// One line per difference: "swp1 queue 3 ecn_min: 25KB, 24KB".
[[nodiscard]] std::vector<std::string> differences(const evidence::Switch&,
                                                   const evidence::Switch&);

}  // namespace weir::platforms

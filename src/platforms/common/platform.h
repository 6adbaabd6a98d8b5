#pragma once
// A switch's operating system: what it makes of the design, how that is written, and how a
// configuration written by anybody is read back.
//
// All three meet in one type, evidence::Switch as it would be in effect: `lower` says what a switch
// of this system will hold once configured (cells, percents, clamps: each deviation from the design
// is a remark), `render` prints it, `parse` reads it back. The contract that tests hold:
//
//   parse(render(i)) == lower(i)      for every design
//
// `parse` fills in the system's documented defaults where a configuration is silent, because an
// audit asks what the switch does, not what somebody typed. It never guesses: a line that it does
// not understand is listed, and what depends on it stays unknown.
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "design/fabric/intent.h"
#include "evidence/evidence.h"

namespace weir::platforms {

/// Something the design asks for that this system says otherwise, or cannot say.
struct Remark {
  std::string what;     // "WRED minimum of swp1 queue 3"
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

struct Parsed {
  evidence::Switch state;  // Fact::source() is "FILE:LINE", or "default of SYSTEM"
  std::vector<Unread> unread;
};

struct Platform {
  design::SwitchSystem system;
  std::string_view name;      // as in the design file and `render --to`
  std::string_view title;     // "Arista EOS"
  std::string_view how_load;  // how an operator loads the file: one line
  Lowered (*lower)(const design::Intent&, const design::SwitchIntent&);
  Rendered (*render)(const design::Intent&, const design::SwitchIntent&);
  /// Whether a text looks like a configuration of this system.
  bool (*recognises)(std::string_view text);
  /// Errors name `file`:line, what was expected and what was found.
  Result<Parsed> (*parse)(std::string_view text, std::string_view file);
};

[[nodiscard]] std::span<const Platform> platforms();
[[nodiscard]] const Platform& platform_of(design::SwitchSystem);
/// By the text alone; nullptr where none or more than one recognises it.
[[nodiscard]] const Platform* recognise(std::string_view text);

/// The states are the same in meaning: sources of facts are left out.
[[nodiscard]] bool same_state(const evidence::Switch&, const evidence::Switch&);
/// Where they differ, a line each: "swp1 queue 3 ecn_min: 25KB, 24KB".
[[nodiscard]] std::vector<std::string> differences(const evidence::Switch&,
                                                   const evidence::Switch&);

}  // namespace weir::platforms

#pragma once
// What the name of a host, a device, a port … may be: one rule for all that Weir reads.
//
// Names come from design files, bundles, evidence, recorded trees and other machines' kernels. They
// become file names, words of commands and lines of configurations, so a name that could be
// anything else is refused where it is read. Renderers quote what they write all the same
// (quote.h).
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/result.h"

namespace weir {

enum class NameKind : std::uint8_t {
  kHost,    // also a switch: a DNS name (RFC 1123, 253 characters), underscores too
  kNetdev,  // of the Linux kernel: 15 characters (IFNAMSIZ, linux/if.h)
  kDevice,  // of RDMA: 63 characters (IB_DEVICE_NAME_MAX, rdma/ib_verbs.h)
  kPort,    // of a switch: "Ethernet1/1", "et-0/0/1:0", "swp1s0"
  kWord,    // a group, a class, a template, a VRF
  kTitle,   // the design's own name: words with blanks between
};

/// "the name of a host", for messages.
[[nodiscard]] std::string_view to_text(NameKind kind);

/// What is wrong with the name, from "expected" on; nullopt where it is good. Letters, digits, '-',
/// '_' and '.' (a port also '/' and ':'), a letter, digit or '_'
/// first, and no '..'.
[[nodiscard]] std::optional<std::string> wrong_name(NameKind kind, std::string_view name);

/// The same as an error that begins with `place`.
[[nodiscard]] Status check_name(NameKind kind, std::string_view name, std::string_view place);

/// A name made of a text that is none, as of a file: what cannot be in a name becomes '-'.
[[nodiscard]] std::string as_name(NameKind kind, std::string_view text);

/// "gpu02", "ops@gpu02", "10.0.0.2", "fd00::2": what may be handed to ssh as a destination.
[[nodiscard]] Status check_destination(std::string_view destination);

}  // namespace weir

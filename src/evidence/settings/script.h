#pragma once
// What a setting adds to the shell script of `weir render --to host-script`: functions that read
// and write it, and the lines that settle it on one rail. render/config/host_script.cc puts the
// parts together; the tables of this folder hold them, beside the commands a person types.
//
// A reader prints a setting in one form, whatever it was printed in, or nothing where it cannot be
// read: what is not read is not changed.
#include <string>
#include <string_view>

#include "base/untrusted/quote.h"
#include "design/fabric/intent.h"

namespace weir::evidence {

class RailScript;

/// What a NIC must have for the script to settle it.
enum class ScriptNeeds : std::uint8_t { kNothing, kDcb, kDcqcn };

struct SettingScript {
  ScriptNeeds needs = ScriptNeeds::kNothing;
  std::string_view common = {};     // shell functions of every script
  std::string_view mlnx_qos = {};   // … with the vendor's tool
  std::string_view dcb = {};        // … with iproute2's
  std::string_view with_both = {};  // … after either
  void (*rail)(RailScript&) = nullptr;
};

/// The part of a script that is about one rail.
class RailScript {
 public:
  RailScript(const design::NicIntent& nic_intent, const design::Intent& all)
      : nic(nic_intent),
        intent(all),
        netdev(shell_word(nic.netdev)),
        device(shell_word(nic.device)) {}

  const design::NicIntent& nic;
  const design::Intent& intent;
  const std::string netdev;  // of `nic`, as words of a shell
  const std::string device;
  std::string indent;

  void line(std::string_view words);
  /// Reads `argument` with the shell function `reader` and runs `command` where it is not
  /// `wanted`, which is one word, or as it is where the shell computes it. `argument` is a word.
  void settle(std::string_view what, const std::string& wanted, std::string_view reader,
              std::string_view argument, std::string_view command);
  /// A DCQCN parameter: a file of the vendor's driver, else of debugfs.
  void settle_knob(std::string_view what, std::string_view file, std::string_view debugfs,
                   std::int64_t value);
  [[nodiscard]] std::string take() { return std::move(text_); }

 private:
  std::string text_;
};

}  // namespace weir::evidence

#pragma once
// Show outputs of the five switch systems (samples: tests/data/switch/show). A text may hold the
// prompts and commands of a session, of one switch or of several; the prompt names the switch.
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "readers/paste/text_lines.h"
#include "readers/readers.h"
#include "vocab/switch_systems.h"

namespace weir::readers {

[[nodiscard]] bool recognises_sonic_show(std::string_view text);
[[nodiscard]] bool recognises_cumulus_show(std::string_view text);
[[nodiscard]] bool recognises_eos_show(std::string_view text);
[[nodiscard]] bool recognises_nxos_show(std::string_view text);
[[nodiscard]] bool recognises_junos_show(std::string_view text);

[[nodiscard]] Result<Recognised> read_sonic_show(std::string_view text, std::string_view file);
[[nodiscard]] Result<Recognised> read_cumulus_show(std::string_view text, std::string_view file);
[[nodiscard]] Result<Recognised> read_eos_show(std::string_view text, std::string_view file);
[[nodiscard]] Result<Recognised> read_nxos_show(std::string_view text, std::string_view file);
[[nodiscard]] Result<Recognised> read_junos_show(std::string_view text, std::string_view file);

/// Collects what show outputs say, switch by switch.
class ShowBuilder {
 public:
  /// Until a prompt names the switch it bears the file's name without its endings.
  ShowBuilder(vocab::SwitchSystem system, std::string_view file);

  void use_switch(std::string_view name);
  /// Where a fact came from: "FILE:LINE".
  [[nodiscard]] std::string source(int line) const;

  [[nodiscard]] evidence::Switch& state();
  [[nodiscard]] evidence::SwitchPort& port(std::string_view name);
  [[nodiscard]] evidence::EgressQueue& queue(std::string_view port_name, Queue number);
  [[nodiscard]] evidence::GroupBuffer& group(std::string_view port_name, PriorityGroup number);

  /// `name` is one of our own ("prio3.pause_rx.frames", counters/catalog_switch.cc). The counter of
  /// a port that is printed twice keeps the later number: a paste of two moments is not a sum.
  void count(std::string_view port_name, std::string name, std::uint64_t value);
  /// A number whose priority or queue the text does not tell: kept under the name it was printed
  /// with (place `show`), which no rule reads.
  void count_unplaced(std::string_view port_name, std::string raw_name, std::uint64_t value);
  void unread(const Line& line, std::string why);
  void gap(evidence::Gap one);

  [[nodiscard]] Recognised finish() &&;

 private:
  struct Device {
    evidence::Switch state;
    std::map<std::string, std::vector<counters::Sample>> samples;  // by port, in natural order
  };
  void add_sample(std::string_view port_name, counters::Place place, std::string name,
                  std::uint64_t value);
  Device& device() { return devices_[at_]; }

  std::string platform_;
  std::string file_;
  std::vector<Device> devices_;
  std::size_t at_ = 0;
  bool is_named_ = false;
  Recognised out_;
};

/// A prompt and the command behind it: "admin@leaf01:~$ show pfc counters", "leaf01#show …",
/// "user@leaf01> show …".
struct Prompt {
  std::string_view host;
  std::string_view command;
};
[[nodiscard]] std::optional<Prompt> prompt_of(std::string_view line);

/// Hex "8" → {3}; nullopt where it is no bitmap of eight priorities.
[[nodiscard]] std::optional<PrioritySet> priorities_of_hex(std::string_view text);
/// "3", "3,4", "3 4", "3-4"; nullopt for anything else.
[[nodiscard]] std::optional<PrioritySet> priorities_of_list(std::string_view text);
/// The one member of a set; nullopt for none or more.
[[nodiscard]] std::optional<Priority> only_one(PrioritySet set);

}  // namespace weir::readers

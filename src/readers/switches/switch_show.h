#pragma once
// Outputs of show commands of the five switch systems (samples: tests/data/switch/show). A text may
// contain prompts and commands, of one or several switches; the prompt gives the switch name.
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/text.h"
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

/// A prompt and its command: "admin@leaf01:~$ show pfc counters", "leaf01#show …",
/// "user@leaf01> show …".
struct Prompt {
  std::string_view host;
  std::string_view command;
  std::optional<std::int64_t> second = std::nullopt;  // of the day, where the prompt shows it
};

/// Collects facts and counters from show outputs, per switch.
class ShowBuilder {
 public:
  /// Before the first prompt, the switch is named after the file, without its extensions.
  ShowBuilder(vocab::SwitchSystem system, std::string_view file);

  void use_switch(std::string_view name);
  /// So many seconds passed between what was printed and what follows, as the text says.
  void wait(std::int64_t seconds);
  /// Its switch, and the time that it shows.
  void use_prompt(const Prompt& prompt);
  /// What this switch prints from here on was read then (seconds since midnight).
  /// A clock that is shown after a reading, with none before it, is that reading's.
  void set_time(std::int64_t second);
  /// A fact of this line: its source is "FILE:LINE".
  template <class T>
  [[nodiscard]] evidence::Fact<T> fact(T value, int line) const {
    return evidence::Fact<T>::of(std::move(value), file_ + ":" + std::to_string(line));
  }

  [[nodiscard]] evidence::Switch& state();
  [[nodiscard]] evidence::SwitchPort& port(std::string_view name);
  [[nodiscard]] evidence::EgressQueue& queue(std::string_view port_name, Queue number);
  [[nodiscard]] evidence::GroupBuffer& group(std::string_view port_name, PriorityGroup number);

  /// `name` is one of our own ("prio3.pause_rx.frames", counters/catalog_switch.cc). A counter that
  /// is printed again is a later reading: two outputs over time bound a window, and of more the
  /// last counts.
  void count(std::string_view port_name, std::string name, std::uint64_t value);
  void count_pauses(std::string_view port_name, std::uint64_t priority, std::uint64_t received,
                    std::uint64_t sent);
  /// A counter that was read once and grows as fast as the system says: a second reading `seconds`
  /// later.
  void count_later(std::string_view port_name, std::string_view name, std::uint64_t value,
                   std::int64_t seconds);
  /// A number whose priority or queue is not known from the text: kept under its printed name
  /// (place `show`), which no rule reads.
  void count_unplaced(std::string_view port_name, std::string raw_name, std::uint64_t value);
  void unread(const Line& line, std::string why);
  void gap(evidence::Gap missing);

  [[nodiscard]] Recognised finish() &&;

 private:
  struct NaturalOrder {
    bool operator()(const std::string& a, const std::string& b) const {
      return natural_order(a, b) < 0;
    }
  };
  struct Device {
    evidence::Switch state;
    using Samples = std::map<std::string, std::vector<counters::Sample>, NaturalOrder>;  // by port
    Samples samples;
    Samples later;  // of what was printed again
    std::optional<std::int64_t> now;
    std::optional<std::int64_t> first_time;  // of `samples`
    std::optional<std::int64_t> later_time;
    bool is_clock_behind = false;  // clocks are shown after the readings
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

/// nullopt where the line is none.
[[nodiscard]] std::optional<Prompt> prompt_of(std::string_view line);

/// "1 CRC" → 1: the number before a word, with or without a comma behind it.
[[nodiscard]] std::optional<std::uint64_t> count_before(std::string_view text,
                                                        std::string_view word);

/// What `show interfaces PORT` prints alike on EOS and NX-OS: "… is up", "MTU 9214 bytes", "0 CRC".
/// Returns false for any other line. A port that is down may be one that nobody uses: it stays
/// open.
bool read_interface_line(std::string_view text, const Line& line, std::string& port,
                         ShowBuilder& out);

/// Hex "8" → {3}; nullopt where it is no bitmap of eight priorities.
[[nodiscard]] std::optional<PrioritySet> priorities_of_hex(std::string_view text);
/// "3", "3,4", "3 4", "3-4"; nullopt for anything else.
[[nodiscard]] std::optional<PrioritySet> priorities_of_list(std::string_view text);
/// The one member of a set; nullopt for none or more.
[[nodiscard]] std::optional<Priority> only_one(PrioritySet set);

}  // namespace weir::readers

#pragma once
// A pasted text made plain: what mail, terminals, chats and launchers put around the lines of a
// tool is taken off, and lines that say who ran what where are recognised. Internal to this folder.
#include <cstdint>
#include <deque>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace weir::readers {

struct PasteLine {
  int number = 0;         // from 1, in the file
  std::string_view host;  // of a prefix ("gpu01: …"); empty where there is none
  std::string_view text;  // without quoting, fences, colours, line ends, time stamps and prefixes
  std::optional<std::int64_t> second;  // of the day, from a time stamp in front of the line
};

/// Lines of hosts that a parallel shell mixed ("gpu01: …", "gpu02: …") stand host by host, each in
/// its own order.
struct PlainText {
  std::vector<PasteLine> lines;
  std::deque<std::string> owned;  // lines that had to be changed
};
/// The result points into `text`.
[[nodiscard]] PlainText plain_text(std::string_view text);

/// A line that says who, where and what: a prompt, a command line, a heading.
struct Mark {
  std::string host;                    // empty: as before
  std::string device;                  // of the command's words or of a heading; empty: unknown
  std::string command;                 // as it was typed; empty for a heading
  std::vector<std::string> words;      // of the command, its program first and without its folder
  std::optional<std::string> entered;  // the device whose folder `cd` went to; empty: elsewhere
  bool is_switch = false;              // a show command: the readers of switches take what follows
  std::optional<std::int64_t> waited;  // seconds that the command slept between readings
  std::optional<std::int64_t> second;  // of the day, where a heading says it
  std::string turn;  // of a loop over hosts: the prompt that the line with a name stands for

  [[nodiscard]] std::string_view tool() const {
    return words.empty() ? std::string_view() : std::string_view(words.front());
  }
  [[nodiscard]] bool has_word(std::string_view word) const;
};
[[nodiscard]] std::optional<Mark> mark_of(std::string_view line);

/// Whether outputs of this program are among those that are read.
[[nodiscard]] bool is_read_tool(std::string_view program);

/// "mlx5_0", "bnxt_re1", "rxe0": as RDMA drivers name their devices.
[[nodiscard]] bool is_rdma_name(std::string_view name);
/// "eth2", "ens1f0np0", "rail3": as interfaces are named.
[[nodiscard]] bool is_netdev_name(std::string_view name);

}  // namespace weir::readers

#pragma once
// Loads on other machines. What is started there bears a mark, so that it can be ended whatever
// became of the connection that started it: sshd does not end a command whose client has gone.
#include <string>
#include <string_view>

namespace weir::host {

/// Drawn by the kernel: no other controller has the same, whatever its process number is.
[[nodiscard]] std::string new_load_id();

/// The line with the mark of that load, which all that it starts inherits. It reads nothing; its
/// own standard input is a tether: where a line kTether came through it, the load is ended when it
/// closes, as it does when its controller is killed or the connection breaks. Where none comes (a
/// launcher without input) it is not. REQUIRES of an id here and below: letters, digits and '-'.
[[nodiscard]] std::string marked_line(std::string_view id, std::string_view line);

inline constexpr std::string_view kTether = "weir-tether";

/// Ends what a load of that id left there: SIGTERM, and SIGKILL three seconds later. It prints
/// kLoadEnded where there was something, and its status is 1 where something is left.
[[nodiscard]] std::string stop_line(std::string_view id);
inline constexpr std::string_view kLoadEnded = "weir-load ended";

}  // namespace weir::host

#pragma once
// The readers of this room, as paste_tools.h describes them: rows of which each says by itself what
// it is. Internal to readers/paste.
#include "readers/paste/paste_tools.h"

namespace weir::readers {

// ---- neighbours.cc ----
/// "10.30.2.41" of "(10.30.2.41):".
inline std::string_view plain_address(std::string_view word) {
  if (word.ends_with(':')) word.remove_suffix(1);
  const bool is_framed = word.starts_with('(') && word.ends_with(')');
  return is_framed ? word.substr(1, word.size() - 2) : word;
}
bool begins_stations(const PasteAt&);
std::size_t read_stations(const PasteAt&, PasteSink&);

// ---- sessions.cc ----
bool begins_sessions(const PasteAt&);
std::size_t read_sessions(const PasteAt&, PasteSink&);

// ---- balance.cc ----
bool begins_members(const PasteAt&);
std::size_t read_members(const PasteAt&, PasteSink&);
bool begins_hash(const PasteAt&);
std::size_t read_hash(const PasteAt&, PasteSink&);
bool begins_seed(const PasteAt&);
std::size_t read_seed(const PasteAt&, PasteSink&);

// ---- devices.cc ----
bool begins_device_rows(const PasteAt&);
std::size_t read_device_rows(const PasteAt&, PasteSink&);
bool begins_setting_rows(const PasteAt&);
std::size_t read_setting_rows(const PasteAt&, PasteSink&);

/// The lanes in "100 Gb/sec (1X NDR)".
void note_lanes(std::string_view device, std::string_view rate, const PasteLine&, PasteSink&);

// ---- marking.cc ----
bool begins_scheduler(const PasteAt&);
std::size_t read_scheduler(const PasteAt&, PasteSink&);
bool begins_sorting(const PasteAt&);
std::size_t read_sorting(const PasteAt&, PasteSink&);
/// Thresholds of WRED in what a show command printed. The lines stay with its reader.
void note_curves(const PasteAt&, PasteSink&);
/// What the drop profile of a queue of Junos did, in the lines below "Queue: 4, Forwarding classes:
/// NO-LOSS". So do they.
void note_red_drops(const PasteAt&, std::string_view forwarding_class, PasteSink&);

}  // namespace weir::readers

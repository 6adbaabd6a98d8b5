#pragma once
// Looks over the output of each command, and over the lines between them, for what the readers of
// whole outputs do not know. A note takes no line away from them. To add one, declare it here and
// add a row to kNotes (notes.cc). Internal to the rooms of pasted text.
#include <cstddef>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "readers/paste/paste_tools.h"

namespace weir::readers {

/// A text may have as many lines as it likes: what is judged with each other is bounded, and what
/// is left out is counted.
template <class T>
void note(PasteSink& out, std::vector<T>& all, T item, std::size_t most = kMostNoted) {
  if (all.size() < most) {
    all.push_back(std::move(item));
  } else {
    ++out.paste().left_out;
  }
}

/// How many of the lines say something; `at` has the lines below one command, of one host.
std::size_t note_output(const PasteAt& at, PasteSink& out);

// ---- addresses.cc ----
std::size_t note_bindings(const PasteAt& at, PasteSink& out);
std::size_t note_conflicts(const PasteAt& at, PasteSink& out);
// ---- sessions.cc ----
std::size_t note_peer_lines(const PasteAt& at, PasteSink& out);
// ---- filters.cc ----
std::size_t note_filters(const PasteAt& at, PasteSink& out);
// ---- ports.cc ----
std::size_t note_fec(const PasteAt& at, PasteSink& out);
std::size_t note_port_states(const PasteAt& at, PasteSink& out);
std::size_t note_port_drops(const PasteAt& at, PasteSink& out);
std::size_t note_input_discards(const PasteAt& at, PasteSink& out);
std::size_t note_port_mtus(const PasteAt& at, PasteSink& out);
/// "Ethernet1/51" of "Eth1/51" and "Et1/51"; any other name as it is.
std::string long_port_name(std::string_view port);
// ---- marking.cc ----
std::size_t note_code_points(const PasteAt& at, PasteSink& out);
std::size_t note_thresholds(const PasteAt& at, PasteSink& out);
std::size_t note_queue_entries(const PasteAt& at, PasteSink& out);
std::size_t note_pause_classes(const PasteAt& at, PasteSink& out);
std::size_t note_cnp_drops(const PasteAt& at, PasteSink& out);
std::size_t note_marking_rules(const PasteAt& at, PasteSink& out);
std::size_t note_carried(const PasteAt& at, PasteSink& out);
// ---- queues.cc ----
std::size_t note_queue_limits(const PasteAt& at, PasteSink& out);
std::size_t note_queue_sections(const PasteAt& at, PasteSink& out);
std::size_t note_cnp_queues(const PasteAt& at, PasteSink& out);
std::size_t note_pause_statements(const PasteAt& at, PasteSink& out);
std::size_t note_overflows(const PasteAt& at, PasteSink& out);
std::size_t note_roce_modes(const PasteAt& at, PasteSink& out);
// ---- tests.cc ----
std::size_t note_source_ports(const PasteAt& at, PasteSink& out);
std::size_t note_marked_packets(const PasteAt& at, PasteSink& out);
std::size_t note_qp_rates(const PasteAt& at, PasteSink& out);
// ---- machine.cc ----
std::size_t note_iommu(const PasteAt& at, PasteSink& out);
std::size_t note_pcie_rates(const PasteAt& at, PasteSink& out);
std::size_t note_limits(const PasteAt& at, PasteSink& out);
std::size_t note_pauses(const PasteAt& at, PasteSink& out);

}  // namespace weir::readers

#include "readers/paste/notes/notes.h"

#include <array>

namespace weir::readers {
namespace {

using Look = std::size_t (*)(const PasteAt&, PasteSink&);
constexpr auto kNotes = std::to_array<Look>(
    {note_bindings,       note_conflicts,      note_filters,          note_fec,
     note_port_states,    note_port_drops,     note_input_discards,   note_code_points,
     note_thresholds,     note_queue_entries,  note_pause_classes,    note_cnp_drops,
     note_source_ports,   note_marked_packets, note_qp_rates,         note_iommu,
     note_pcie_rates,     note_limits,         note_pauses,           note_queue_limits,
     note_queue_sections, note_cnp_queues,     note_pause_statements, note_overflows,
     note_roce_modes,     note_marking_rules,  note_port_mtus,        note_carried,
     note_peer_lines});

}  // namespace

std::size_t note_output(const PasteAt& at, PasteSink& out) {
  std::size_t said = 0;
  for (const Look look : kNotes)
    said += look(at, out);
  return said;
}

}  // namespace weir::readers

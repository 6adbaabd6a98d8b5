#include "finding/thresholds.h"

#include <charconv>
#include <cmath>
#include <vector>

#include <fmt/format.h>

#include "base/text.h"

namespace weir::finding {
namespace {

using T = Thresholds;

// Sources: "field" is common practice of operators and vendors' guides, "exam" a value at which
// `weir exam` separates the fault from every healthy run (docs/diagnosis.md), "statistics" a usual
// level of significance; a standard is named.
constexpr ThresholdInfo kTable[] = {
    {"pause_warning", "share", "I1 I7 I8", "field",
     "paused share of the window from which a port gets a warning", &T::pause_warning, nullptr},
    {"pause_error", "share", "I1 I7 I8", "field",
     "paused share of the window from which it is an error", &T::pause_error, nullptr},
    {"paused_mostly", "share", "I1", "field",
     "paused share of the window from which a watchdog should have acted", &T::paused_mostly,
     nullptr},
    {"stuck_pause", "share", "I1 I5", "exam",
     "paused share of the window from which a port is stuck rather than slow", &T::stuck_pause,
     nullptr},
    {"stuck_rate", "share", "I1 I5", "exam", "of line rate: a stuck port moves less than this",
     &T::stuck_rate, nullptr},
    {"renewed_pause", "share", "I1 I5", "exam",
     "of the longest pause (65,535 quanta): frames that last longer on average are only renewed, "
     "never released",
     &T::renewed_pause, nullptr},
    {"renewed_pause_when_stuck", "share", "I1", "exam",
     "the same, for a port that was paused for stuck_pause of the window",
     &T::renewed_pause_when_stuck, nullptr},
    {"pauses_released", "events", "I1", "exam",
     "pauses of one port in the window, counted one by one (transitions): a receiver that begins "
     "so "
     "many releases them, and is slow rather than stuck",
     nullptr, &T::pauses_released},
    {"steady_window", "ms", "I7 I10 I27", "field",
     "shorter windows may show an intended burst: pauses and low use in them are notes, not "
     "warnings",
     &T::steady_window, nullptr},
    {"storm_frames", "frames/s", "I1", "field",
     "pause frames a port receives per second, where no time is shown: it is held much of the time",
     &T::storm_frames, nullptr},
    {"frames_noted", "frames", "I1", "field",
     "pause frames of one reading of a port from which they are worth a note", nullptr,
     &T::frames_noted},
    {"pauses_at_one_port", "share", "I1", "field",
     "of the pauses a switch receives: from this share on one port is named",
     &T::pauses_at_one_port, nullptr},
    {"pause_branch", "share", "I1", "field",
     "of the longest pause at a device: shorter ones are not followed to their cause",
     &T::pause_branch, nullptr},
    {"marks_that_matter", "packets", "I11", "IBTA A17",
     "marked packets received after which a receiver must have sent a CNP", nullptr,
     &T::marks_that_matter},
    {"marks_others_answer", "packets", "I11", "exam",
     "the same beside receivers_that_answer others, which all sent CNPs: then it is a guess",
     nullptr, &T::marks_others_answer},
    {"receivers_that_answer", "NICs", "I11", "exam",
     "NICs that received marked packets and all sent CNPs, beside which one that sent none stands "
     "out",
     nullptr, &T::receivers_that_answer},
    {"captured_marks_that_matter", "packets", "I11", "IBTA A17",
     "the same in a capture, where packets may be missing", nullptr,
     &T::captured_marks_that_matter},
    {"cnps_that_matter", "packets", "I12 I13", "exam",
     "packets in the CNP priority after which a sender must have reacted (routing protocols share "
     "it)",
     nullptr, &T::cnps_that_matter},
    {"cnps_sent_that_matter", "packets", "I12", "exam",
     "CNPs sent by all receivers, below which lost CNPs are not judged", nullptr,
     &T::cnps_sent_that_matter},
    {"ignored_cnps_that_matter", "packets", "I12", "exam",
     "CNPs a NIC counted as ignored, with none handled, that show a disabled reaction point",
     nullptr, &T::ignored_cnps_that_matter},
    {"cnps_ignored", "share", "I13", "exam",
     "of the CNPs received: ignoring more than this is a fault", &T::cnps_ignored, nullptr},
    {"cnps_ignored_some", "share", "I13", "field",
     "of the CNPs received: ignoring more than this is worth a warning", &T::cnps_ignored_some,
     nullptr},
    {"cnps_heard", "share", "I12", "exam",
     "of the CNPs sent: if senders receive less, CNPs are lost on the way", &T::cnps_heard,
     nullptr},
    {"cnps_heard_by_one", "share", "I13", "field",
     "of the CNPs of one host, pasted with one that handles some: below, they are lost",
     &T::cnps_heard_by_one, nullptr},
    {"cnp_queue_drops", "share", "I13", "field",
     "dropped of what the CNPs' queue sent, from which that is why few arrive", &T::cnp_queue_drops,
     nullptr},
    {"marking_of_few_packets", "bytes", "I12", "field",
     "Kmax up to which a single sender's burst is marked", nullptr, &T::marking_of_few_packets},
    {"bytes_that_matter", "bytes", "D8 I14", "exam", "less traffic than this is not judged",
     nullptr, &T::bytes_that_matter},
    {"packets_that_matter", "packets", "D8", "exam", "the same for drivers that count packets only",
     nullptr, &T::packets_that_matter},
    {"busy_before", "share", "D8", "field",
     "of a load's traffic: more than this before it started is other traffic worth a note",
     &T::busy_before, nullptr},
    {"rdma_share", "share", "I14", "exam", "of a NIC's bytes that belong in the RDMA priority",
     &T::rdma_share, nullptr},
    {"data_packet_bytes", "bytes", "I14", "field",
     "average packet size above which packets are data, not acknowledgements",
     &T::data_packet_bytes, nullptr},
    {"mixed_packet_bytes", "bytes", "I5", "field",
     "average packet size above which some of the packets are data", &T::mixed_packet_bytes,
     nullptr},
    {"arrives_in_priority", "share", "I14", "exam",
     "of the RDMA bytes sent: if less is counted in the priority at the other end, it was "
     "re-marked or remapped",
     &T::arrives_in_priority, nullptr},
    {"found_elsewhere", "share", "I14", "exam",
     "of the RDMA bytes missing from the priority: as much must show up in another one",
     &T::found_elsewhere, nullptr},
    {"at_one_place", "share", "I14", "exam",
     "of the misplaced bytes: from this share on one NIC is named as the place", &T::at_one_place,
     nullptr},
    {"taken_for_rdma", "share", "I14", "exam",
     "of what the switch sent from the RDMA queue: a NIC that counts less in the priority reads "
     "the marking differently",
     &T::taken_for_rdma, nullptr},
    {"rdma_counted_apart", "share", "I20", "field",
     "by which a NIC's count of RDMA and of a priority may differ: one of them has headers",
     &T::rdma_counted_apart, nullptr},
    {"rdma_elsewhere", "share", "I20", "field",
     "of the RDMA sent: with less in its priority, it leaves in another", &T::rdma_elsewhere,
     nullptr},
    {"more_by_queue_pairs", "times", "E2", "field",
     "the rate of one queue pair that several reach over a bond", &T::more_by_queue_pairs, nullptr},
    {"addresses_of_one_port", "addresses", "C8", "field",
     "of a host answered for by one of its ports, from which that is ARP flux", nullptr,
     &T::addresses_of_one_port},
    {"start_seconds", "s", "C4", "field",
     "after its driver started, within which a link that goes down once is no fault", nullptr,
     &T::start_seconds},
    {"switch_disagrees", "share", "I14", "exam",
     "how far the RDMA share at the switch exceeds the NIC's own when the marking is right and the "
     "NIC's map wrong",
     &T::switch_disagrees, nullptr},
    {"in_place_of_rdma", "share", "I14", "exam",
     "of the other hosts' median RDMA bytes: as much in another class is misplaced RDMA",
     &T::in_place_of_rdma, nullptr},
    {"others_use_class", "share", "I14", "exam",
     "of this host's bytes in another class: if others send as much in it, the class is in normal "
     "use",
     &T::others_use_class, nullptr},
    {"unanswered_packets", "packets", "D3", "exam",
     "RDMA packets sent without any answer after which the path counts as broken", nullptr,
     &T::unanswered_packets},
    {"class_packets", "packets", "I14", "exam",
     "packets of a class on one port below which its queue is not judged", nullptr,
     &T::class_packets},
    {"starved_class", "share", "D3", "field",
     "of a class's packets on a port: a queue that drops more gets no share of the line",
     &T::starved_class, nullptr},
    {"moved_match", "share", "I14", "exam",
     "how closely the surplus in the RDMA class must match another class's packets",
     &T::moved_match, nullptr},
    {"moved_slack", "packets", "I14", "exam", "packets in flight that the same match allows on top",
     &T::moved_slack, nullptr},
    {"moved_ports", "ports", "I14", "exam",
     "ports that must agree before counters alone show a shared queue", nullptr, &T::moved_ports},
    {"mostly_unmarked", "times", "I14", "field",
     "in pasted counters: bytes of priority 0 over those of the others from which RDMA is unmarked",
     &T::mostly_unmarked, nullptr},
    {"unmarked_share", "share", "I14", "field",
     "of captured RDMA packets with DSCP 0: acknowledgements and CNPs may be marked beside them",
     &T::unmarked_share, nullptr},
    {"dscps_counted", "packets", "I14", "field",
     "of a capture counted by DSCP, below which nothing is said of their marking", nullptr,
     &T::dscps_counted},
    {"other_queue_packets", "packets", "I14", "field",
     "sent from another queue that drops while the one of RDMA is empty: RDMA is in it", nullptr,
     &T::other_queue_packets},
    {"busy_rail", "share", "D3 E2", "field",
     "of the line on one rail from which idle rails beside it are noted", &T::busy_rail, nullptr},
    {"over_usual", "times", "D3", "exam",
     "the usual kernel traffic of a host: more is a job that runs over sockets", &T::over_usual,
     nullptr},
    {"usual_hosts", "hosts", "D3", "exam",
     "hosts without RDMA that make their kernel traffic the usual amount", nullptr,
     &T::usual_hosts},
    {"job_of_line", "share", "D3", "exam",
     "of line rate through the kernel that is a job when there is no other host to compare with",
     &T::job_of_line, nullptr},
    {"job_of_line_compared", "share", "D3", "exam", "the same when other hosts were compared",
     &T::job_of_line_compared, nullptr},
    {"job_of_peers", "share", "D3 I24", "exam",
     "of the RDMA bytes of other NICs: a NIC without RDMA that moves less than this through the "
     "kernel is not taken for one of the job",
     &T::job_of_peers, nullptr},
    {"threshold_factor", "times", "I2 I6 I10 I21 I22", "exam",
     "off the design: a fault, not tuning", &T::threshold_factor, nullptr},
    {"far_from_usual", "times", "I2 I21 I22", "exam",
     "off the usual start value, when there is no design", &T::far_from_usual, nullptr},
    {"marks_over_curve", "times", "I2 I21", "exam",
     "the marks that the designed curve gives for the queue lengths seen", &T::marks_over_curve,
     nullptr},
    {"chance", "deviations", "I2 I6 I21 I22", "statistics",
     "standard deviations that marks may be off the designed curve", &T::chance, nullptr},
    {"marks_slack", "packets", "I2 I21", "exam", "marks on top of that which are never too many",
     &T::marks_slack, nullptr},
    {"marks_per_pause", "marks", "I22", "exam", "per pause frame: with fewer, ECN starts after PFC",
     &T::marks_per_pause, nullptr},
    {"marks_on_idle_line", "packets", "I21", "field",
     "marked packets received in a window in which the line was used less than idle_path: marking "
     "starts too early",
     nullptr, &T::marks_on_idle_line},
    {"pauses_that_matter", "frames", "I22", "exam",
     "pause frames below which missing marks or ignored pauses are not judged", nullptr,
     &T::pauses_that_matter},
    {"cnps_per_pause", "CNPs", "I8", "exam",
     "per pause frame received: with fewer, the switch paused before ECN could work",
     &T::cnps_per_pause, nullptr},
    {"low_use", "share", "I10", "field",
     "of the busiest line: below this, with CNPs and no pauses, DCQCN is too slow", &T::low_use,
     nullptr},
    {"buffer_share", "share", "I3", "field", "of the headroom needed: less is a fault",
     &T::buffer_share, nullptr},
    {"pool_share", "share", "I8", "exam", "of the designed lossless pool: less is a fault",
     &T::pool_share, nullptr},
    {"alpha_factor", "times", "I8", "exam",
     "alpha below the design (it moves in powers of two: two steps are no rounding)",
     &T::alpha_factor, nullptr},
    {"early_pause", "share", "I8", "exam",
     "of the designed XOFF: pausing with less in the buffer is too early (cells round up)",
     &T::early_pause, nullptr},
    {"wasted_headroom", "share", "A2 C3", "field",
     "of the shared buffer, taken by headroom for longer cables than there are: a note",
     &T::wasted_headroom, nullptr},
    {"hot_link", "times", "I4 I7", "exam", "the mean of its group: a hot link", &T::hot_link,
     nullptr},
    {"allowed_bit_errors", "per bit", "C4 I18", "IEEE 802.3",
     "errors that a good link may have: so few frames with errors are a note, not a fault",
     &T::allowed_bit_errors, nullptr},
    {"idle_link", "share", "I4", "exam",
     "of the hot link's bytes: a link with less is idle beside it", &T::idle_link, nullptr},
    {"full_path", "share", "I4", "field",
     "of the line: a port that sends more, beside idle ones alike, shows flows on too few paths",
     &T::full_path, nullptr},
    {"idle_path", "share", "I4", "field", "of the line: a port that sends less is idle beside it",
     &T::idle_path, nullptr},
    {"paths_compared", "ports", "I4", "field",
     "ports with their use in percent that must be shown before they are compared", nullptr,
     &T::paths_compared},
    {"alike_switches", "switches", "I4", "exam",
     "switches with idle links beside hot ones: from here on hashing is to blame, not chance",
     nullptr, &T::alike_switches},
    {"hash_chance", "share", "I4", "statistics",
     "probability below which identical unused links are not chance", &T::hash_chance, nullptr},
    {"narrow_uplinks", "share", "I26", "exam",
     "of the widest leaf's uplink capacity: less is a bottleneck", &T::narrow_uplinks, nullptr},
    {"bounced", "times", "I5", "exam",
     "bytes sent up over bytes received from below: more means traffic turned round", &T::bounced,
     nullptr},
    {"settled_share", "share", "I5", "exam",
     "difference between packets received from above and sent below up to which nothing turned "
     "round",
     &T::settled_share, nullptr},
    {"one_way_neighbours", "switches", "I5", "exam",
     "neighbours that must send data before a single way out shows a detour; more make it certain",
     nullptr, &T::one_way_neighbours},
    {"source_ports_counted", "packets", "I4", "field",
     "that all have one UDP source port, from which ECMP cannot spread them", nullptr,
     &T::source_ports_counted},
    {"sisters", "ports", "C4 I9", "field",
     "alike beside which one that differs stands out, where nothing says that all have one purpose",
     nullptr, &T::sisters},
    {"sisters_meant_alike", "ports", "C4 I14 I16", "field",
     "the same of ports or switches whose names or settings say that they are meant to be alike",
     nullptr, &T::sisters_meant_alike},
    {"sisters_at_speed", "share", "C4", "field",
     "of a host's ports: as many at one speed make it the usual one of that host",
     &T::sisters_at_speed, nullptr},
    {"ports_in_subnet", "ports", "C8", "field",
     "of a host in one subnet that are rails by their number, whatever they are called", nullptr,
     &T::ports_in_subnet},
    {"ports_with_lanes", "ports", "C4", "field",
     "of a host whose PCIe lanes are compared: hosts with rails have eight or sixteen", nullptr,
     &T::ports_with_lanes},
    {"drops_without_pfc", "packets", "I9", "field",
     "dropped by a port without PFC since nobody knows when: a few in weeks are what any port "
     "drops",
     nullptr, &T::drops_without_pfc},
    {"came_twice", "share", "I17", "exam",
     "of the packets out of order: more duplicates mean reordering, not loss", &T::came_twice,
     nullptr},
    {"gaps_over_losses", "times", "I17", "exam",
     "the packets that were lost: more requests to repeat than this are reordering beside the loss",
     &T::gaps_over_losses, nullptr},
    {"disorder_without_loss", "packets", "I17", "field",
     "packets out of order, with no timeout, from which one host shows reordering and not loss",
     nullptr, &T::disorder_without_loss},
    {"asked_again", "share", "I9 I17", "exam",
     "of the packets sent: more retransmission requests without pauses mean reordering, not a bad "
     "cable",
     &T::asked_again, nullptr},
    {"restarts_that_matter", "events", "I27", "exam",
     "slow restarts of a NIC: fewer come from a burst", nullptr, &T::restarts_that_matter},
    {"symbol_errors_told", "errors", "I18", "field",
     "in pasted text: symbol or CRC errors up to which a port is not called bad", nullptr,
     &T::symbol_errors_told},
    {"link_downs_told", "events", "I18", "field",
     "in pasted text: times the link went down up to which it does not flap", nullptr,
     &T::link_downs_told},
    {"carrier_changes_told", "events", "I18", "field",
     "in pasted text: the same of carrier changes, two per time", nullptr,
     &T::carrier_changes_told},
    {"boot_link_downs", "events", "I18", "field",
     "in pasted logs: link losses of a switch port while the device behind it boots", nullptr,
     &T::boot_link_downs},
    {"restart_link_downs", "events", "I18", "field",
     "the same within restart_seconds: off, from firmware to driver, and mlx5 when PFC is set",
     nullptr, &T::restart_link_downs},
    {"restart_seconds", "s", "I18", "field", "in which a server with its firmware starts", nullptr,
     &T::restart_seconds},
    {"session_settles", "s", "D3", "RFC 4271",
     "in pasted text: time for which a BGP session may be down before it counts as down", nullptr,
     &T::session_settles},
    {"fec_speed", "Gb/s", "I18", "IEEE 802.3", "link speed from which FEC must be on",
     &T::fec_speed, nullptr},
    {"least_memlock", "bytes", "E2", "field",
     "locked memory limit below which RDMA cannot register its buffers", nullptr,
     &T::least_memlock},
    {"least_socket_buffer", "bytes", "E2", "field",
     "socket buffers that fill a 100G path of 1 ms (12.5 MB); slower NICs need less", nullptr,
     &T::least_socket_buffer},
    {"tcp_round_trip", "ms", "C6", "field",
     "round trip of a TCP path that socket buffers must fill, with the fastest NIC's speed",
     &T::tcp_round_trip, nullptr},
    {"mtu_slack", "bytes", "I16", "field",
     "by which an overlay or VLAN interface may have a smaller MTU than the NIC", nullptr,
     &T::mtu_slack},
    {"shortest_retry", "s", "E2", "field",
     "time until a queue pair gives up: below this one link flap ends the job", &T::shortest_retry,
     nullptr},
    {"waits_for_data", "share", "D8", "field",
     "of a step: a job that waits longer for its input is not slowed by the fabric",
     &T::waits_for_data, nullptr},
    {"idle_gpu", "share", "I24", "field",
     "use of every GPU of a host below which it waits, where its CPUs are busy", &T::idle_gpu,
     nullptr},
    {"busy_cpu", "share", "I24", "field",
     "use of a host's CPUs from which they may be what moves the data", &T::busy_cpu, nullptr},
    {"log_age", "hours", "C5", "field",
     "before the host was looked at: older lines of its kernel's log are not judged", &T::log_age,
     nullptr},
    {"slow_pair", "share", "I24", "field",
     "of the best pair of hosts: one that is in every slower pair is the slow one", &T::slow_pair,
     nullptr},
    {"uneven_runs", "times", "I6", "field",
     "the longest run of a collective over the shortest of the same size", &T::uneven_runs,
     nullptr},
    {"runs_compared", "runs", "I6", "field", "of one size before their times are compared", nullptr,
     &T::runs_compared},
    {"bandwidth_bytes", "bytes", "I6", "field",
     "message size from which bandwidth decides its time, not latency", nullptr,
     &T::bandwidth_bytes},
    {"pcie_reached", "share", "E2", "field",
     "of the rate that the kernel states for a slot: a test that moves more is not limited by its "
     "power",
     &T::pcie_reached, nullptr},
    {"other_quantity", "times", "I24", "field",
     "a result: a number beside it that is larger by this is another quantity, not what is usual",
     &T::other_quantity, nullptr},
    {"tuned_use", "share", "H3", "field",
     "of the receivers' links that a load which can fill them fills, when tuned", &T::tuned_use,
     nullptr},
    {"tuned_tail", "times", "H3", "field",
     "the mean: when tuned, neither the longest step or flow nor the slowest run takes as long",
     &T::tuned_tail, nullptr},
    {"tuned_paused_runs", "share", "H3", "statistics",
     "of the runs: paused ones are rare where the bound of their rate is below this",
     &T::tuned_paused_runs, nullptr},
    // docs/rollout.md, "What ends a roll-out at once".
    {"rollout_pause_growth", "times", "H3", "field",
     "the worst block without the change: pauses above it end a roll-out", &T::rollout_pause_growth,
     nullptr},
    {"rollout_pause_window", "s", "H3", "field",
     "that a block must last before the growth of its pauses is judged", &T::rollout_pause_window,
     nullptr},
    {"rollout_p99_growth", "times", "H3", "field",
     "the mean p99 latency without the change: above it a roll-out ends", &T::rollout_p99_growth,
     nullptr},
    {"rollout_slower", "share", "H3", "field",
     "by which a block with the change may be slower than its neighbour", &T::rollout_slower,
     nullptr},
    {"rollout_slow_blocks", "blocks", "H3", "field",
     "in a row that are slower than that: a roll-out ends", nullptr, &T::rollout_slow_blocks},
    // docs/expectation.md: the range of a few runs is narrower than that of all runs.
    {"replica_range", "times", "D3", "exam",
     "the width of the replicas' range by which a total must lie outside of it to be listed",
     &T::replica_range, nullptr},
    // There are many places, and one of them is always the furthest out.
    {"replica_range_of_places", "times", "D3", "exam",
     "the same of the value of one host or switch", &T::replica_range_of_places, nullptr},
    {"replica_difference", "share", "D3", "exam",
     "of the upper end of the range: a value that is outside by less is not listed",
     &T::replica_difference, nullptr},
    // Times of a load repeat better than counts.
    {"replica_time_difference", "share", "D3", "exam", "the same of the time of the load",
     &T::replica_time_difference, nullptr},
    // Published floors are 95 to 96 % of the line rate, one is 90 %; this is 93 % of it.
    {"pair_floor", "share", "J1", "field",
     "of what speed, MTU and headers leave for data: a pair that moves less, alone, is slow",
     &T::pair_floor, nullptr},
    // Azure's node health checks: 180 of 200, 360 and 380 of 400 Gb/s.
    {"loopback_floor", "share", "J1", "field",
     "of the line rate: a NIC that moves less with itself is slow", &T::loopback_floor, nullptr},
    // Iglewicz and Hoaglin 1993.
    {"outlier_z", "sigma", "J2", "statistics",
     "robust standard deviations below the median of similar hosts: an outlier", &T::outlier_z,
     nullptr},
    {"least_spread", "share", "J2", "statistics",
     "of the median: robust standard deviations are no smaller, so that equal hosts are no "
     "outliers",
     &T::least_spread, nullptr},
    {"like_hosts", "hosts", "J2", "statistics",
     "similar hosts from which each is compared with their median; fewer: the floor alone", nullptr,
     &T::like_hosts},
    {"link_carried", "share", "J2", "field",
     "of the bytes of a path's busiest link: with less a link carried acknowledgements, not data",
     &T::link_carried, nullptr},
    {"slow_moment", "share", "J2", "field",
     "of the median rate of a run: moments with less are held against pauses and CNPs",
     &T::slow_moment, nullptr},
    {"counter_slack", "times", "J2", "field",
     "the line rate: a counter that moves more between two looks was not read when it moved",
     &T::counter_slack, nullptr},
    {"acknowledged", "share", "J2", "field",
     "of the bytes of the other direction: with less, acknowledgements go there and no load",
     &T::acknowledged, nullptr},
    // SuperBench: 5 %.
    {"baseline_change", "share", "J4", "field",
     "worse than the baseline by more than this is a regression", &T::baseline_change, nullptr},
    {"baseline_spread", "times", "J4", "field",
     "its spread from run to run by which a value may be worse than the baseline",
     &T::baseline_spread, nullptr},
    {"baseline_runs", "runs", "J4", "statistics",
     "of a baseline from which its counters are judged, not shown alone", nullptr,
     &T::baseline_runs},
    {"alert_unjudged", "s", "K1", "field", "time without a judgement after which an alert says so",
     &T::alert_unjudged, nullptr},
    {"alert_ports_paused", "share", "K1 I1", "field",
     "of the ports that are up, paused for pause_warning of the time: an alert of the whole fabric",
     &T::alert_ports_paused, nullptr},
    {"alert_marks", "packets/s", "K1 I11", "field",
     "marked packets that arrive without one CNP sent: an alert", &T::alert_marks, nullptr},
    {"alert_disorder", "packets/s", "K1 I17", "field",
     "packets out of order: an alert, where paths are not changed packet by packet",
     &T::alert_disorder, nullptr},
    {"alert_timeouts", "events/s", "K1 I17", "field", "acknowledgements that time out: an alert",
     &T::alert_timeouts, nullptr},
    {"alert_in_class", "share", "K1 I14", "field",
     "of RDMA's bytes: with less of them in the lossless class, an alert", &T::alert_in_class,
     nullptr},
    // Acknowledgements and CNPs alone are below it; CNPs have a class of their own.
    {"alert_busy", "share", "K1 I14", "field", "of the line rate: a port that sends data",
     &T::alert_busy, nullptr},
    {"alert_rail_skew", "share", "K1 I10", "field",
     "of the mean rate of a host's rails: a standard deviation above this is an alert",
     &T::alert_rail_skew, nullptr},
    {"alert_rail_rate", "bytes/s", "K1 I10", "field",
     "mean rate of a host's rails from which they are compared", &T::alert_rail_rate, nullptr},
    {"alert_link_downs", "events/hour", "K1 I18", "field",
     "link-down events of a port: above this an alert; a rate over an hour is no whole number",
     &T::alert_link_downs, nullptr},
    {"alert_symbol_errors", "errors/hour", "K1 I18", "field", "symbol errors of a port: an alert",
     &T::alert_symbol_errors, nullptr},
};

bool is_share(const ThresholdInfo& info) {
  return info.unit == "share";
}

Result<double> parse_number(std::string_view text) {
  double value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size() || !std::isfinite(value) ||
      value < 0)
    return parse_error(fmt::format("'{}' is not a number of 0 or more", text));
  return value;
}

/// "2%" and "2 %" are 0.02; so is "0.02".
Result<double> parse_share_text(std::string_view text) {
  const bool is_percent = !text.empty() && text.back() == '%';
  if (is_percent) text = trim(text.substr(0, text.size() - 1));
  WEIR_TRY(value, parse_number(text));
  return is_percent ? value / 100 : value;
}

}  // namespace

std::span<const ThresholdInfo> threshold_table() {
  return kTable;
}

std::string value_text(const ThresholdInfo& info, const Thresholds& thresholds) {
  if (info.count != nullptr) return std::to_string(thresholds.*info.count);
  return is_share(info) ? fmt::format("{:g}%", thresholds.*info.number * 100)
                        : fmt::format("{:g}", thresholds.*info.number);
}

Status set_threshold(std::string_view assignment, Thresholds& out) {
  const auto at = assignment.find('=');
  const std::string_view name = trim(assignment.substr(0, at));
  std::vector<std::string> known;
  for (const ThresholdInfo& info : kTable) {
    known.emplace_back(info.name);
    if (info.name != name) continue;
    if (at == std::string_view::npos)
      return parse_error(fmt::format("threshold '{}' needs a value: {}={}", name, name,
                                     value_text(info, Thresholds())));
    const std::string_view text = trim(assignment.substr(at + 1));
    if (info.count != nullptr) {
      const auto value = parse_u64(text);
      if (!value)
        return parse_error(
            fmt::format("threshold {}: '{}' is not a whole number of {}", name, text, info.unit));
      out.*info.count = *value;
      return {};
    }
    const auto value = is_share(info) ? parse_share_text(text) : parse_number(text);
    if (!value) return value.error().within(fmt::format("threshold {}", name));
    out.*info.number = *value;
    return {};
  }
  return not_found_error(fmt::format("no threshold '{}' (weir diagnose --list-thresholds){}", name,
                                     did_you_mean(name, known)));
}

}  // namespace weir::finding

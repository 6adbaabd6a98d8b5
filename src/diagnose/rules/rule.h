#pragma once
// A rule: from the view of a case to candidate findings, and nothing else. One rule per file; the
// table in rules.cc is the order of causes, roots before their consequences.
//
// A candidate says what it would explain. The framework (diagnose.cc) folds explained candidates
// under the first that explains them, so that one fault is one finding. What a rule could not check
// it reports with cannot_tell(): unknown is never healthy.
#include <initializer_list>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "diagnose/core/view.h"
#include "finding/catalog.h"
#include "finding/finding.h"

namespace weir::diagnose {

/// A consequence: findings of this id at this place; empty = anywhere.
struct Consequence {
  std::string_view id;
  std::string host = {};
  std::string switch_name = {};
  bool is_general = false;  // of any congestion: does not fold a candidate that is measured
};

/// What a rule says.
struct Candidate {
  finding::Finding finding;
  std::vector<Consequence> explains = {};
  bool is_measured = false;  // by counters that congestion alone cannot explain
};

/// The same as a rule writes it down: the severity is the catalogue's unless it is set.
struct Suspicion {
  std::string_view id;
  std::string verdict;
  finding::Where where = {};
  finding::Confidence confidence = finding::Confidence::kCertain;
  std::optional<finding::Severity> severity = {};
  std::vector<finding::EvidenceLine> evidence = {};
  std::vector<Consequence> explains = {};
  bool is_measured = false;
};

class Suspicions {
 public:
  void add(Suspicion suspicion);
  /// Once per check, however many places lack the data.
  void cannot_tell(std::string check, std::string reason, std::string how);

  [[nodiscard]] std::vector<Candidate>& candidates() { return candidates_; }
  [[nodiscard]] std::vector<finding::Unknown>& unknown() { return unknown_; }

 private:
  std::vector<Candidate> candidates_;
  std::vector<finding::Unknown> unknown_;
};

struct Rule {
  std::string_view name;  // "I14": the mission row it answers
  std::string_view what;  // half a line
  void (*look)(const View&, Suspicions&) = nullptr;
};

/// In the order of causes.
[[nodiscard]] std::span<const Rule> rules();

// ---- what several rules need ----

/// "12.3 %", "0.4 %".
[[nodiscard]] std::string percent(double share);
/// "gpu03 mlx5_0", "leaf1 swp5".
[[nodiscard]] std::string name_of(const NicView& nic);
[[nodiscard]] std::string name_of(const PortView& port);

/// The card takes packets in any order: the fabric is meant to spread them.
[[nodiscard]] bool takes_any_order(const NicView& nic);
/// A switch, or another place, and the RDMA priority there.
[[nodiscard]] finding::Where switch_place(const View& view, const std::string& switch_name);
[[nodiscard]] finding::Where with_priority(const View& view, finding::Where where);
/// A fact as a line of evidence.
[[nodiscard]] finding::EvidenceLine fact_line(std::string source, std::string line);
/// The counters of the list that moved, a line each.
[[nodiscard]] std::vector<finding::EvidenceLine> moved_lines(const Counts& counts,
                                                             std::span<const std::string_view> ids);
/// `part` is at least this share of `whole`.
[[nodiscard]] bool is_at_least(std::uint64_t part, double share, std::uint64_t whole);
/// A pause lasts 65,535 quanta of 512 bits unless it is renewed or released. Of these frames, which
/// paused this share of the window: on average at least `kept` of that, so none was released.
[[nodiscard]] bool are_only_renewed(const Counts& counts, double share, std::uint64_t frames,
                                    BitRate speed, double kept);
/// Marks, pauses and loss anywhere: what a fault of the whole fabric brings with it; and these ids.
[[nodiscard]] std::vector<Consequence> congestion_anywhere(
    std::initializer_list<std::string_view> and_ids = {});

/// Thousands of packets out of order at a NIC, and nothing that lost packets bring with them.
[[nodiscard]] bool is_disorder_without_loss(const View& view, const NicView& nic);
/// What came out of order, anywhere, was late and not lost.
[[nodiscard]] bool shows_only_reordering(const View& view);
/// A NIC that was sent CNPs and ignored all or a part of them, as it counts them itself.
[[nodiscard]] bool ignores_cnps(const View& view, const NicView& nic);

/// A DCQCN parameter that is far off the design; part of the rule of early marking.
void look_at_dcqcn(const View& view, const NicView& nic, Suspicions& out);
/// Congestion control that is not DCQCN; part of the same rule.
void look_at_algorithms(const View& view, Suspicions& out);
/// Cables that lead elsewhere than in the design; part of the rule of the cables' other ends.
void look_at_wiring(const View& view, Suspicions& out);
/// A class that gets no turn; part of the rule of queues that classes share.
void look_for_starved_classes(const View& view, Suspicions& out);

// ---- the rules ----
void look_for_marking(const View&, Suspicions&);
void look_for_switch_maps(const View&, Suspicions&);
void look_from_one_host(const View&, Suspicions&);
void look_beyond(const View&, Suspicions&);
void look_for_sockets(const View&, Suspicions&);
void look_for_shared_queues(const View&, Suspicions&);
void look_for_pfc_priority(const View&, Suspicions&);
void look_for_pfc_too_wide(const View&, Suspicions&);
void look_for_mtu(const View&, Suspicions&);
void look_for_deadlock(const View&, Suspicions&);
void look_for_slow_receivers(const View&, Suspicions&);
void look_for_silent_receivers(const View&, Suspicions&);
void look_for_deaf_senders(const View&, Suspicions&);
void look_for_late_marking(const View&, Suspicions&);
void look_for_early_marking(const View&, Suspicions&);
void look_for_small_headroom(const View&, Suspicions&);
void look_for_pauses_everywhere(const View&, Suspicions&);
void look_for_hot_spots(const View&, Suspicions&);
void look_for_bad_links(const View&, Suspicions&);
void look_for_few_receives(const View&, Suspicions&);
void look_for_routes(const View&, Suspicions&);
void look_for_bounces(const View&, Suspicions&);
void look_for_reordering(const View&, Suspicions&);
void look_for_same_hash(const View&, Suspicions&);
void look_for_uplinks(const View&, Suspicions&);
void look_at_cables(const View&, Suspicions&);
void look_at_ends(const View&, Suspicions&);
void look_for_host_bottlenecks(const View&, Suspicions&);
void look_for_timers(const View&, Suspicions&);
void look_for_restarts(const View&, Suspicions&);
void look_for_discards(const View&, Suspicions&);
void look_for_low_use(const View&, Suspicions&);
void look_for_loss(const View&, Suspicions&);

}  // namespace weir::diagnose

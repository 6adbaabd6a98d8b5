#pragma once
// Findings of a preflight, from what its loads measured: plain values, names instead of numbers.
// What to measure next, and who is suspected, is `preflight`; which host or link is called slow is
// said here.
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "design/fabric/intent.h"
#include "diagnose/core/view.h"
#include "finding/finding.h"

namespace weir::diagnose {

// ---- any load ----

struct UnfinishedLoad {
  std::vector<std::pair<std::string, std::string>> open;  // from, to; may repeat, once per rail
  std::vector<std::string> notes;                         // what the tools said
};
/// An error that was found already says why; without one the load itself is the finding.
void judge_unfinished(const UnfinishedLoad& load, finding::Judgement& judgement);

/// Pauses of priorities that are not among `lossless`, those of the design.
void judge_other_pauses(const View& view, PrioritySet lossless, finding::Judgement& judgement);

// ---- links and paths of a host ----

/// What the design wants of a link; why is empty where it leaves the choice to the module.
struct WantedFec {
  std::vector<std::string> modes;  // any of these, as ethtool calls them
  std::string why;
};
/// `said` is the design's word for the link; auto: what its speed and cable need.
[[nodiscard]] WantedFec wanted_fec(design::Fec said, const design::Intent& intent,
                                   const design::LinkIntent& link);
/// nullopt where the mode is as wanted, or is not shown.
[[nodiscard]] std::optional<finding::Finding> wrong_fec(const NicView& nic,
                                                        const WantedFec& wanted);

/// Packets that fill the MTU do not pass undivided, and small ones do.
struct NarrowPath {
  std::string from;
  std::string to;
  int rail = 0;
  Bytes mtu;
  finding::Where where;  // the end that shows a smaller MTU, or the path
};
[[nodiscard]] finding::Finding narrow_path(const NarrowPath& path);

/// A NIC with itself: what it moved, of at least what.
struct Loopback {
  std::string host;
  int rail = 0;
  double rate = 0;   // bit/s; 0: it did not finish, which judge_unfinished() says
  double floor = 0;  // loopback_floor of its line
};
void judge_loopbacks(std::span<const Loopback> nics, finding::Judgement& judgement);

/// A NIC with the memory of its GPU, slower than it must be or than NICs like it are.
struct GpuLoopback {
  std::string host;
  int rail = 0;
  double rate = 0;              // bit/s
  std::optional<double> floor;  // an error
  // Where no floor is known: that others like it are faster is worth a look, and no red flag.
  std::optional<double> median;
};
/// REQUIRES: floor or median.
[[nodiscard]] finding::Finding slow_gpu_loopback(const GpuLoopback& nic);

// ---- pairs that were measured again, alone in the fabric ----

struct LonePair {
  std::string from;
  std::string to;
  std::uint32_t rail = 0;
  double rate = 0;   // bit/s
  double floor = 0;  // what it must reach
};
/// "gpu01 to gpu09, rail 0, alone: 12.1 Gb/s of at least 93.1 Gb/s".
[[nodiscard]] std::string to_text(const LonePair& pair);

/// A host that is slow with both partners. A finding that names it already gets the measurement,
/// and becomes an error; else a new one. `host` is an end of `worst`.
void judge_slow_host(const std::string& host, const LonePair& worst,
                     const std::vector<std::string>& partners, finding::Judgement& judgement);

struct NicName {
  std::string host;
  std::uint32_t rail = 0;
  std::string device;  // "mlx5_3"
  std::string netdev;  // as the design names it
};

/// One NIC of a host, slow with two partners; `good` is how many other rails of the host reached
/// their floors in the same loads.
[[nodiscard]] finding::Finding slow_nic(const NicName& nic, const LonePair& worst,
                                        const std::vector<std::string>& partners, std::size_t good);

/// A path between two hosts. `why` says what else was measured: ", and …".
[[nodiscard]] finding::Finding slow_path(const LonePair& worst, const std::string& why);

/// Slow on every NIC of a rail, or below a leaf; alone too, with another below the same leaf.
struct SlowTogether {
  std::string what;             // "Rail 3", "leaf2", "Every rail"
  std::size_t hosts = 0;        // whose NICs are slow
  std::string rail;             // empty: not one
  std::string switch_name;      // where all of them hang
  std::vector<LonePair> alone;  // the worst of each pair that was tried
};
[[nodiscard]] finding::Finding slow_together(const SlowTogether& slow);

/// Fast among themselves, slow with hosts below other leaves; `uplinks` is how many the leaf has.
[[nodiscard]] finding::Finding slow_uplinks(const SlowTogether& slow, const LonePair& within,
                                            std::size_t uplinks);

/// Every pair of hosts below different leaves is slow, none below the same leaf is: no host is to
/// blame, and no single path.
struct SlowBetweenLeaves {
  std::string rail;              // empty: all
  std::string links;             // "leaf1 swp9 - spine1 swp1, …", or "leaf[1-8] - spine[1-4]"
  std::size_t count = 0;         // of them
  std::vector<LonePair> slow;    // tried alone, below different leaves
  std::vector<LonePair> within;  // … the same hosts, each with another below its own leaf
};
[[nodiscard]] finding::Finding slow_between_leaves(const SlowBetweenLeaves& slow);

/// What is left of a search for the link between two leaves that makes pairs slow.
struct LinkSearch {
  struct Side {
    std::string leaf;
    std::size_t uplinks = 0;
    std::size_t slow = 0;  // of the pairs of its hosts with hosts below third leaves
    std::size_t tried = 0;
  };
  std::uint32_t rail = 0;
  std::vector<std::string> links;  // "leaf1 swp9 - spine2 swp1": none else carried all slow pairs
  std::string switch_name;         // of a single link: its lower end
  std::string port;
  std::optional<std::pair<Side, Side>> faulty;  // else: the leaf whose uplinks it is among, first
  std::pair<std::string, std::string> leaves;   // else: the path between these
  std::size_t slow = 0;                         // of the pairs that were tried
  std::size_t tried = 0;
  LonePair worst;
};
void judge_slow_link(const LinkSearch& search, finding::Judgement& judgement);

}  // namespace weir::diagnose

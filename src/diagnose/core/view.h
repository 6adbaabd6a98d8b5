#pragma once
// The evidence of a case laid out for rules: every NIC and every switch port with its facts, what
// the design wants of it, what its counters did in the window, and who is at the other end.
//
// Whatever may be missing is a null pointer or an empty optional, never a zero. Counters of one
// snapshot alone are taken as counted since some unknown time: then there is no window, and shares
// of it are not known.
#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "counters/delta.h"
#include "design/fabric/intent.h"
#include "evidence/evidence.h"
#include "finding/finding.h"
#include "finding/thresholds.h"

namespace weir::diagnose {

using finding::Thresholds;

/// What a job's settings and the words around it say of RDMA's class, where evidence has no place
/// for it.
struct ToldOfRdma {
  std::vector<Dscp> dscps;                 // that RDMA is sent with
  std::optional<Priority> priority;        // that it is said to be in
  std::vector<PrioritySet> lossless = {};  // that switches are said to pause
  using BytesSent = std::array<std::optional<std::uint64_t>, Priority::kLimit>;
  std::vector<BytesSent> sent = {};  // by NICs, priority by priority, since an unknown time
};

/// The class of RDMA, and what shows it.
struct RdmaClass {
  unsigned priority = 0;
  std::optional<Dscp> dscp;
  std::string why;
};

/// What is to be diagnosed. Two snapshots of an Evidence bound its window.
struct Case {
  std::span<const evidence::Evidence> evidence;
  const design::Intent* intent = nullptr;  // the design, where there is one
  Thresholds thresholds = {};
  ToldOfRdma told = {};
};

/// What a port counted. Absent counters have no number.
class Counts {
 public:
  Counts() = default;
  Counts(const counters::PortDelta* delta, Duration window, std::string source)
      : delta_(delta), window_(window), source_(std::move(source)) {}

  [[nodiscard]] bool are_there() const { return delta_ != nullptr; }
  /// Zero where only totals are known.
  [[nodiscard]] Duration window() const { return window_; }
  [[nodiscard]] std::optional<std::uint64_t> of(
      std::string_view id, std::optional<unsigned> number = std::nullopt) const;
  /// Over all priorities, queues or groups; absent where none is there.
  [[nodiscard]] std::optional<std::uint64_t> sum(std::string_view id) const;
  /// A gauge as it stood last.
  [[nodiscard]] std::optional<std::uint64_t> level(
      std::string_view id, std::optional<unsigned> number = std::nullopt) const;
  /// A gauge that keeps its maximum, where it rose in the window: earlier peaks say nothing of it.
  [[nodiscard]] std::optional<std::uint64_t> peak(
      std::string_view id, std::optional<unsigned> number = std::nullopt) const;
  /// Of a counter of microseconds: the share of the window.
  [[nodiscard]] std::optional<double> share_of_window(std::string_view id, unsigned number) const;
  /// The counter behind a judgement, as a line of evidence; without a value where it is absent.
  [[nodiscard]] finding::EvidenceLine line(std::string_view id,
                                           std::optional<unsigned> number = std::nullopt) const;
  [[nodiscard]] const counters::PortDelta* delta() const { return delta_; }
  [[nodiscard]] const std::string& source() const { return source_; }

 private:
  const counters::PortDelta* delta_ = nullptr;
  Duration window_;
  std::string source_;
};

struct NicView {
  std::string host;
  std::string device;
  std::optional<unsigned> rail;
  const evidence::Nic* facts = nullptr;
  const design::NicIntent* wanted = nullptr;  // the design's
  Counts counts;
  std::optional<BitRate> speed;
  std::optional<std::size_t> port;  // of View::ports: the other end of its cable
  /// As read, or as the presence of mlx5's per-priority counters tells: they exist for priorities
  /// with PFC only.
  std::optional<PrioritySet> pfc;

  [[nodiscard]] finding::Where where() const;
};

struct PortView {
  std::string switch_name;
  std::string name;
  const evidence::Switch* device = nullptr;
  const evidence::SwitchPort* facts = nullptr;
  const design::SwitchIntent* wanted_switch = nullptr;
  const design::SwitchPortIntent* wanted = nullptr;
  Counts counts;
  std::optional<BitRate> speed;
  std::optional<std::size_t> nic;   // of View::nics, at the other end
  std::optional<std::size_t> peer;  // of View::ports, at the other end
  std::string neighbour;            // its name, where that is known

  [[nodiscard]] finding::Where where() const;
  /// A switch is at the other end; unknown where nobody says who is.
  [[nodiscard]] std::optional<bool> is_fabric() const;
};

/// Built once per diagnosis and handed on by reference. Points into the evidence and the intent of
/// the case, which must outlive it.
class View {
 public:
  explicit View(const Case& subject);
  View(const View&) = delete;
  View& operator=(const View&) = delete;

  [[nodiscard]] std::span<const evidence::Evidence> evidence() const { return evidence_; }
  [[nodiscard]] const Thresholds& thresholds() const { return thresholds_; }
  [[nodiscard]] const design::Intent* intent() const { return intent_; }
  [[nodiscard]] std::span<const NicView> nics() const { return nics_; }
  [[nodiscard]] std::span<const PortView> ports() const { return ports_; }  // switch by switch
  [[nodiscard]] std::span<const std::string> switches() const { return switches_; }
  [[nodiscard]] std::span<const PortView* const> ports_of(std::string_view switch_name) const;
  /// The priority RDMA belongs to, as a number; by the design, by what is set, or by convention.
  [[nodiscard]] unsigned rdma() const { return rdma_; }
  [[nodiscard]] unsigned cnp() const { return cnp_; }
  [[nodiscard]] Dscp rdma_dscp() const { return rdma_dscp_; }
  /// Without a design: what shows the class of RDMA (rdma_class.h). Where nothing does, rdma() is
  /// what most protect, or the convention.
  [[nodiscard]] const std::optional<RdmaClass>& shown_class() const { return shown_class_; }
  [[nodiscard]] bool has_counters() const;
  /// What is known of this place was read once: sums since an unknown time, of which nobody knows
  /// whether they grow. Of no place: of all that was read.
  [[nodiscard]] bool is_read_once(const finding::Where& where) const;
  /// Bytes that NICs sent and received, or switch ports carried, where no NIC is seen.
  [[nodiscard]] std::uint64_t traffic() const;

 private:
  void add_nics(const evidence::Evidence& evidence, std::size_t delta);
  void add_ports(const evidence::Evidence& evidence, std::size_t delta);
  void index_design();
  void connect();
  void group_by_switch();
  void note_readings();
  void choose_priorities();
  [[nodiscard]] std::optional<Dscp> code_point_in_use() const;

  std::span<const evidence::Evidence> evidence_;
  Thresholds thresholds_;
  ToldOfRdma told_;
  const design::Intent* intent_ = nullptr;
  std::vector<counters::SnapshotDelta> deltas_;  // one per evidence
  std::vector<bool> has_window_;
  std::vector<NicView> nics_;
  std::vector<PortView> ports_;
  struct WantedPort {
    const design::SwitchIntent* device = nullptr;
    const design::SwitchPortIntent* port = nullptr;  // null under an empty name: the switch itself
  };
  std::map<std::string_view, const design::HostIntent*> wanted_hosts_;
  std::map<std::pair<std::string_view, std::string_view>, WantedPort> wanted_ports_;
  std::vector<std::string> switches_;
  std::map<std::string_view, std::vector<const PortView*>> ports_of_;  // by switch
  /// Of the counters of one place, the most that any piece of evidence has.
  enum class Readings : std::uint8_t { kNone, kOne, kWindow };
  Readings readings_ = Readings::kNone;  // of any
  std::map<std::string_view, Readings> readings_of_hosts_;
  std::map<std::string_view, Readings> readings_of_switches_;
  std::optional<RdmaClass> shown_class_;
  unsigned rdma_ = 3;
  unsigned cnp_ = 6;
  Dscp rdma_dscp_ = Dscp::of(26);
};

}  // namespace weir::diagnose

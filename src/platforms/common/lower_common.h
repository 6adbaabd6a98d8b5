#pragma once
// What lowering has in common: rounding, clamps, shares, and remarks. One place, so that the error
// of each step is bounded once (docs/switches.md):
//
//   lengths        up to whole metres                    never shorter, less than 1 m longer
//   probabilities  to the nearest step of the system     half a step; never 0 where marking is on
//   shares         scaled to 100 %, whole percents       less than 1 % of the line below the design
//   rates          down to whole kb/s                    less than 1 kb/s
//   bytes          up to whole cells where they protect  less than one cell
//   times          to the nearest step in the range      half a step, or the range's end
#include <array>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "design/fabric/intent.h"
#include "design/tables/platforms.h"
#include "evidence/evidence.h"
#include "platforms/common/platform.h"
#include "units/format.h"
#include "vocab/switch_systems.h"

namespace weir::platforms {

// What every system works on.
using design::Intent;
using design::SwitchIntent;
using design::SwitchPortIntent;
using evidence::EgressQueue;
using evidence::Fact;
using evidence::GroupBuffer;
using evidence::Missing;
using evidence::SwitchPort;

template <class T>
[[nodiscard]] evidence::Fact<T> known(T value, std::string source = "") {
  return evidence::Fact<T>::of(std::move(value), std::move(source));
}

/// The name of the system, as a fact of a switch.
[[nodiscard]] inline evidence::Fact<std::string> platform_fact(vocab::SwitchSystem system,
                                                               std::string source = "") {
  return known(std::string(vocab::names_of(system).name), std::move(source));
}

/// Remarks of one switch; equal remarks of many ports become one.
class Remarks {
 public:
  /// `port` empty: of the whole switch. "WRED minimum of queue 3" on swp1, swp2 and swp3 becomes
  /// "WRED minimum of queue 3, swp[1-3]".
  void add(std::string what, std::string wanted, std::string becomes, std::string why,
           const std::string& port = "");
  /// Nothing where the system takes what is wanted.
  template <class T>
  void changed(std::string what, const T& wanted, const T& becomes, std::string why,
               const std::string& port = "") {
    if (becomes != wanted)
      add(std::move(what), to_text(wanted), to_text(becomes), std::move(why), port);
  }
  [[nodiscard]] std::vector<Remark> take() const;

 private:
  struct Many {
    Remark remark;
    std::vector<std::string> ports;
  };
  std::vector<Many> all_;
};

[[nodiscard]] Bytes whole_cells_up(Bytes bytes, Bytes cell);
[[nodiscard]] Bytes whole_cells_down(Bytes bytes, Bytes cell);
[[nodiscard]] Length whole_metres_up(Length length);
[[nodiscard]] BitRate whole_kilobits_down(BitRate rate);

/// In percent, rounded down.
[[nodiscard]] std::int64_t percent_of(Share share);
/// Nearest whole percent, at least 1 where the share is not 0.
[[nodiscard]] unsigned whole_percent(Share share);

/// Nearest multiple of `step`, and then within [low, high].
[[nodiscard]] Duration to_step(Duration time, Duration step, Duration low, Duration high);

/// The shares of weighted queues in use, as percents that add up to 100; others have 0. A queue
/// without a minimum has the smallest share, 1.
[[nodiscard]] std::array<unsigned, 8> queue_percents(const design::SwitchIntent& node);

/// The limit of a class at an access port, as a rate; 0 = no limit.
[[nodiscard]] BitRate limit_of(const design::SwitchIntent& node,
                               const design::SwitchPortIntent& port, unsigned queue);

/// Priorities that a class has, or that a code point is sent to.
[[nodiscard]] PrioritySet used_priorities(const design::SwitchIntent& node,
                                          const design::Intent& intent);

/// Whether one of these priorities is sent to the queue.
[[nodiscard]] bool is_queue_of(const design::SwitchIntent& node, PrioritySet priorities,
                               unsigned queue);

/// The priorities to pause: those of the design, only the lowest where the system has fewer.
[[nodiscard]] PrioritySet pausable(const design::SwitchIntent& node, Remarks& remarks);

/// Within what the system takes, with a remark where that changes something.
[[nodiscard]] Bytes port_mtu(const design::SwitchIntent& node, const design::SwitchPortIntent& port,
                             Remarks& remarks);
[[nodiscard]] Alpha ingress_alpha(const design::SwitchIntent& node, Remarks& remarks);
[[nodiscard]] Alpha clamp_alpha(const design::SwitchIntent& node, Alpha alpha,
                                std::string_view what, Remarks& remarks);
[[nodiscard]] Share marking_probability(const design::SwitchIntent& node,
                                        const design::SwitchPortIntent& port, Remarks& remarks);
[[nodiscard]] Length cable_length(const design::SwitchPortIntent& port, Remarks& remarks);
/// Guaranteed to a lossless group, the same on every system of an ASIC: the design's, and on NVIDIA
/// ASICs no less than the resume level, which must cover the pipeline.
[[nodiscard]] Bytes lossless_reserve(const design::SwitchIntent& node,
                                     const design::SwitchPortIntent& port);
/// "ecmp", "adaptive" or "spray": the design's, or "ecmp" where the ASIC cannot.
[[nodiscard]] std::string balancing(const design::SwitchIntent& node, Remarks& remarks);

/// The DSCP that a rewriting switch gives each class: the first of the class's octet where that
/// code point belongs to the class, else its lowest; none for a class without code points.
[[nodiscard]] std::array<std::optional<Dscp>, 8> rewrite_map(const design::SwitchIntent& node);

/// Clears the thresholds of a queue that neither marks nor drops early: they have no effect.
void settle_queue(evidence::EgressQueue& queue);

/// Finds or inserts; ports and interfaces are kept in natural order of names, queues and groups by
/// number.
evidence::SwitchPort& port_named(evidence::Switch& state, std::string_view name);
/// The same order for ports that were appended: each is inserted by port_named() in a time that
/// grows with the ports, and a configuration may name any number.
void sort_ports(evidence::Switch& state);
evidence::EgressQueue& queue_at(evidence::SwitchPort& port, Queue queue);
evidence::GroupBuffer& group_at(evidence::SwitchPort& port, PriorityGroup group);
evidence::SwitchInterface& interface_named(evidence::Switch& state, std::string_view name,
                                           std::string_view kind);

/// Adds a port to those of a port-channel or VLAN, in natural order of names.
void add_member(evidence::SwitchInterface& interface, const std::string& port,
                std::string source = "");

/// The steps of lowering that systems share. A system's own class derives from this, sets what
/// differs, and ends with finish().
class Lowering {
 protected:
  Lowering(const design::Intent& intent, const design::SwitchIntent& node,
           vocab::SwitchSystem system);

  /// The port-channels of the design, with their ports and the MTU of these. `name_of` takes their
  /// number, from 1.
  template <class NameOf>
  void add_channels(NameOf name_of) {
    for (SwitchPort& port : out_.ports) {
      const int channel = channel_of(port.name);
      port.channel = known(channel == 0 ? std::string() : name_of(channel));
      if (channel != 0) join_channel(port);
    }
  }
  /// The hosts' VLAN: its ports, and on the switch that routes it a gateway no narrower than they
  /// are. `link_header` is what the gateway's MTU does not count.
  void add_vlan(std::string_view prefix, Bytes link_header = {});
  [[nodiscard]] Lowered finish();

  /// The class of a code point as `class_of` has it by priority.
  template <class ClassOf>
  void set_dscp_map(ClassOf class_of) {
    std::array<std::optional<TrafficClass>, 64> map{};
    for (std::size_t d = 0; d < map.size(); ++d)
      map.at(d) = TrafficClass::of(class_of(node_.dscp_to_priority.at(d).value()));
    out_.dscp_to_tc = known(map);
  }
  template <class ClassOf>
  void set_pcp_map(ClassOf class_of) {
    std::array<std::optional<TrafficClass>, 8> map{};
    for (std::size_t p = 0; p < map.size(); ++p)
      map.at(p) = TrafficClass::of(class_of(node_.pcp_to_priority.at(p).value()));
    out_.pcp_to_tc = known(map);
  }
  /// The map of the code points that are trusted.
  template <class ClassOf>
  void set_trusted_map(ClassOf class_of) {
    if (node_.trust == design::Trust::kDscp)
      set_dscp_map(class_of);
    else
      set_pcp_map(class_of);
  }
  /// All maps of a system whose traffic class is the priority. Each paused priority has a group of
  /// its own; all others share group 0. `class_of_pcp` is the system's, where it trusts the DSCP.
  void set_maps_by_priority(PrioritySet paused, const std::array<Queue, 8>& queues,
                            unsigned (*class_of_pcp)(unsigned pcp));

  /// Whether the watchdog is on: it needs a priority with PFC. A remark says `why_not`.
  [[nodiscard]] bool has_watchdog(PrioritySet paused, std::string_view why_not);
  /// The interval in whole seconds up to `most`, where sFlow samples; gNMI's is the subscriber's.
  void set_telemetry(Duration most);

  // Remarks on what a system does not have.
  void remark_no_pools(std::string_view system);
  void remark_no_shared_headroom(std::string why);
  /// The design's load balancing; adaptive instead of spray, for the reason `why`.
  [[nodiscard]] std::string balancing_without_spray(std::string why);

  /// Name, MTU, trust, pause, watchdog, rewriting and shaper, as the design has them.
  [[nodiscard]] evidence::SwitchPort base_port(const design::SwitchPortIntent& from,
                                               PrioritySet paused);
  /// The same, with PFC as set, not negotiated; LLDP and DCBX announce it.
  [[nodiscard]] SwitchPort announcing_port(const SwitchPortIntent& from, PrioritySet paused);
  /// The MTU of a port is at least that of the system, `why`.
  void raise_mtu(Bytes least, std::string why, SwitchPort& port);
  /// A queue that neither marks nor drops early.
  [[nodiscard]] static EgressQueue plain_queue(unsigned index);
  /// A queue of EOS or NX-OS: marking by the queue as it is (weight 0), scheduler and limit.
  EgressQueue& add_cli_queue(const SwitchPortIntent& from, unsigned index, bool is_lossless,
                             SwitchPort& port);
  /// Marking of a lossless queue, and no early drop.
  void set_marking(const design::SwitchPortIntent& from, bool is_lossless,
                   evidence::EgressQueue& queue);
  static void set_scheduler(bool is_strict, unsigned percent, evidence::EgressQueue& queue);

  [[nodiscard]] int channel_of(std::string_view port) const;
  void join_channel(const SwitchPort& port);

  const design::Intent& intent_;
  const design::SwitchIntent& node_;
  const std::array<unsigned, 8> percents_;  // of queues
  Remarks remarks_;
  evidence::Switch out_;
};

/// Comment lines of at most 98 columns, each begun with `mark`, for the head of a configuration:
/// which switch, whose design, what was lowered.
[[nodiscard]] std::string comment(std::string_view mark, std::string_view text);
[[nodiscard]] std::string remarks_comment(std::string_view mark,
                                          const std::vector<Remark>& remarks);

}  // namespace weir::platforms

#pragma once
// Collects what pasted outputs say of hosts and their NICs. Tools name a NIC by its network device,
// its RDMA device or its PCI address; which of them are one is often said by another part of the
// paste, before or after. Hence a paste is read twice: the first time for the names alone.
// Internal to this folder.
#include <deque>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "evidence/evidence.h"

namespace weir::readers {

/// When counters were read, where the text says it.
struct PasteTime {
  std::optional<std::int64_t> second;    // of the day, or since an epoch
  std::optional<std::int64_t> interval;  // the command waited so long between two readings
};

/// A NIC in the making.
struct PastedNic {
  evidence::Nic nic;       // its device is set by PasteHosts
  bool is_strong = false;  // a tool for RDMA or NICs spoke of it, not only `ip`
  struct Dump {
    counters::Place place;
    std::vector<counters::Sample> samples;
    PasteTime time = {};
    bool is_window = false;  // one of the two that set_window() made
  };
  std::vector<Dump> dumps;  // in the order of the text
  /// Priorities whose files under ecn/ were read: the others are neither on nor off.
  PrioritySet np_read;
  PrioritySet rp_read;
  /// Priorities with congestion control, as the firmware's settings say it.
  evidence::Fact<PrioritySet> cc_mask;
  /// Indexes of GIDs whose type was not read: a table with one of them says nothing.
  std::set<unsigned> untyped_gids;
  PasteTime now;  // of the dumps that begin

  /// A new dump of this place; a place that is printed again is a later moment.
  std::vector<counters::Sample>& begin_dump(counters::Place place);
  /// The last dump of this place: for outputs that come a line at a time. A new one where there is
  /// none, or where it has the name already.
  std::vector<counters::Sample>& dump_for(counters::Place place, std::string_view name);
  /// The two ends of a window that a script printed as such ("pre=1 post=3"). A later window of the
  /// same place that has this name again takes its place; other names belong to the same one.
  void begin_window(counters::Place place, std::string_view name);
  void add_window(counters::Place place, std::string_view name, std::uint64_t before,
                  std::uint64_t after);
  /// One end of a window, as `diff` prints them.
  void add_to_window(counters::Place place, std::string_view name, std::uint64_t value,
                     bool is_after);
};

struct PastedHost {
  std::string name;  // empty: not said
  evidence::Host facts;
  std::deque<PastedNic> nics;
  std::map<std::string, std::size_t, std::less<>> nic_at;  // by the device's name
  std::vector<evidence::Gpu> gpus;
  std::vector<evidence::GpuDistance> distances;
};

class PasteHosts {
 public:
  PasteHosts() = default;
  /// For the second reading: with what the first has learnt about names.
  [[nodiscard]] static PasteHosts after(const PasteHosts& first);

  [[nodiscard]] PastedHost& host(std::string_view name);

  // Finds or adds. An empty name is the one NIC of the host, or one without a name.
  [[nodiscard]] PastedNic& by_device(std::string_view host, std::string_view device);
  [[nodiscard]] PastedNic& by_netdev(std::string_view host, std::string_view netdev,
                                     bool is_strong = true);
  [[nodiscard]] PastedNic& by_address(std::string_view host, std::string_view address);
  /// Of either kind, as its spelling tells.
  [[nodiscard]] PastedNic& by_name(std::string_view host, std::string_view name);

  /// A netdev, a device and a PCI address that belong together; empty ones are not known.
  void connect(std::string_view host, std::string_view device, std::string_view netdev,
               std::string_view address = "");

  /// What is read from here on was read at this time.
  void set_time(PasteTime time) { now_ = time; }
  [[nodiscard]] const PasteTime& time() const { return now_; }

  /// The name that findings show: that of the text's one host, or "this host", where none is given.
  [[nodiscard]] std::string shown(std::string_view host) const;

  /// What evidence calls the NIC that a log names by its address or network device; the name itself
  /// where nobody says more.
  [[nodiscard]] std::string known_name(std::string_view host, std::string_view name) const;

  /// One evidence per host; hosts of which nothing was learnt are left out.
  [[nodiscard]] std::vector<evidence::Evidence> finish(std::string_view files) &&;

 private:
  struct Names {
    std::map<std::string, std::string, std::less<>> device_of_netdev;
    std::map<std::string, std::string, std::less<>> netdev_of_device;
    std::map<std::string, std::string, std::less<>> netdev_of_address;
    std::set<std::string, std::less<>> known;      // devices and lone netdevs of strong NICs
    std::set<std::string, std::less<>> addresses;  // of NICs in a PCI listing
  };
  [[nodiscard]] PastedNic& find_or_add(std::string_view host, std::string_view device,
                                       std::string_view netdev);
  [[nodiscard]] std::string real_host(std::string_view host) const;
  [[nodiscard]] evidence::Evidence evidence_of(PastedHost& host, std::string_view files) const;

  std::map<std::string, Names, std::less<>> names_;  // by host
  std::set<std::string, std::less<>> hosts_seen_;    // that the text names
  std::string only_host_;                            // the one that parts without a name belong to
  bool is_second_ = false;
  PasteTime now_;
  std::deque<PastedHost> hosts_;
  std::map<std::string, std::size_t, std::less<>> host_at_;  // by name: a text may have thousands
};

/// "18:00.0" as "0000:18:00.0".
[[nodiscard]] std::string full_address(std::string_view address);

}  // namespace weir::readers

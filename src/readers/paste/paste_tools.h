#pragma once
// The readers of pasted outputs: one row per tool. To add one, write its two functions, declare
// them here and add a row to kTools (paste.cc). Internal to this folder.
//
// A reader is given the lines from where its output may begin up to the next prompt or heading. It
// takes lines as long as they fit and stops at the first that does not: another tool, or a
// sentence, may follow. It never fails; a line that it knows to be its own and cannot read goes to
// unread().
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "readers/paste/paste.h"
#include "readers/paste/paste_hosts.h"
#include "readers/paste/paste_text.h"
#include "readers/paste/text_lines.h"

namespace weir::readers {

/// Where a reader is.
struct PasteAt {
  std::span<const PasteLine> lines;  // the first is the one at hand
  const Mark& mark;                  // the command or heading above; may be empty

  /// The n-th line from here without blanks around it; empty behind the last.
  [[nodiscard]] std::string_view line(std::size_t n) const;
};

/// What a line that no reader took says of the numbers below it.
struct PasteTold {
  bool is_window = false;                    // they are what was counted between two moments
  bool is_cleared = false;                   // since they were cleared for this
  std::optional<std::int64_t> seconds = {};  // between them
  std::string device = {};                   // the one that it names
};

/// Where a reader puts what it finds.
class PasteSink {
 public:
  PasteSink(Paste& paste, PasteHosts& hosts, std::string_view file)
      : paste_(paste), hosts_(hosts), file_(file) {}

  void use_host(std::string_view host) { host_ = host; }
  [[nodiscard]] const std::string& host() const { return host_; }
  [[nodiscard]] PasteHosts& hosts() { return hosts_; }
  [[nodiscard]] Paste& paste() { return paste_; }
  [[nodiscard]] evidence::Host& facts() { return hosts_.host(host_).facts; }

  /// "FILE:LINE": the source of a fact.
  [[nodiscard]] std::string source(const PasteLine& line) const;
  [[nodiscard]] Cited cite(const PasteLine& line) const;
  void unread(const PasteLine& line, std::string why);
  void event(EventKind kind, std::string_view where, const PasteLine& line, std::string lane = {});
  /// The same at a port of the switch that printed it.
  void switch_event(EventKind kind, std::string_view port, const PasteLine& line,
                    std::string lane = {});
  /// Remembers a count of errors; true where the output of an earlier command had less.
  bool has_grown(std::string_view port, std::string_view counter, std::uint64_t value);
  /// What follows is the output of another command.
  void begin_section() { ++section_; }
  template <class T>
  void set(evidence::Fact<T>& fact, T value, const PasteLine& line) {
    fact = evidence::Fact<T>::of(std::move(value), source(line));
  }
  template <class T>
  void refuse(evidence::Fact<T>& fact, evidence::Missing why, const PasteLine& line) {
    if (!fact.is_known()) fact = evidence::Fact<T>::missing(why, source(line));
  }

  // What the part is, in words.
  std::string detail;
  std::string device;

  PasteTold told;  // in words above the part

 private:
  Paste& paste_;
  PasteHosts& hosts_;
  std::string file_;
  std::string host_;
  struct Counted {
    std::uint64_t value = 0;
    int section = 0;
  };
  int section_ = 1;
  std::map<std::string, Counted> counted_;  // by host, port and counter
};

struct PasteTool {
  std::string_view name;  // "ethtool -S"
  bool (*begins)(const PasteAt&);
  /// How many lines it took; 0 where it was none of its own after all.
  std::size_t (*read)(const PasteAt&, PasteSink&);
};

// ---- paste_counters.cc ----
bool begins_statistics(const PasteAt&);
std::size_t read_statistics(const PasteAt&, PasteSink&);
bool begins_counter_list(const PasteAt&);
std::size_t read_counter_list(const PasteAt&, PasteSink&);
bool begins_diff(const PasteAt&);
std::size_t read_diff(const PasteAt&, PasteSink&);
bool begins_rdma_statistic(const PasteAt&);
std::size_t read_rdma_statistic(const PasteAt&, PasteSink&);
bool begins_sysfs(const PasteAt&);
std::size_t read_sysfs(const PasteAt&, PasteSink&);

// ---- paste_qos.cc ----
bool begins_mlnx_qos(const PasteAt&);
std::size_t read_mlnx_qos(const PasteAt&, PasteSink&);
bool begins_dcb(const PasteAt&);
std::size_t read_dcb(const PasteAt&, PasteSink&);
bool begins_lldptool(const PasteAt&);
std::size_t read_lldptool(const PasteAt&, PasteSink&);
bool begins_nicctl(const PasteAt&);
std::size_t read_nicctl(const PasteAt&, PasteSink&);
bool begins_trust(const PasteAt&);
std::size_t read_trust(const PasteAt&, PasteSink&);
bool begins_tos(const PasteAt&);
std::size_t read_tos(const PasteAt&, PasteSink&);

// ---- paste_rdma.cc ----
bool begins_show_gids(const PasteAt&);
std::size_t read_show_gids(const PasteAt&, PasteSink&);
bool begins_ibdev2netdev(const PasteAt&);
std::size_t read_ibdev2netdev(const PasteAt&, PasteSink&);
bool begins_devinfo(const PasteAt&);
std::size_t read_devinfo(const PasteAt&, PasteSink&);
bool begins_rdma_link(const PasteAt&);
std::size_t read_rdma_link(const PasteAt&, PasteSink&);
bool begins_rdma_resource(const PasteAt&);
std::size_t read_rdma_resource(const PasteAt&, PasteSink&);

// ---- paste_link.cc ----
bool begins_ethtool(const PasteAt&);
std::size_t read_ethtool(const PasteAt&, PasteSink&);
bool begins_ethtool_driver(const PasteAt&);
std::size_t read_ethtool_driver(const PasteAt&, PasteSink&);
bool begins_ethtool_module(const PasteAt&);
std::size_t read_ethtool_module(const PasteAt&, PasteSink&);
bool begins_ip(const PasteAt&);
std::size_t read_ip(const PasteAt&, PasteSink&);

bool begins_bonding(const PasteAt&);
std::size_t read_bonding(const PasteAt&, PasteSink&);

// ---- paste_metrics.cc ----
bool begins_metrics(const PasteAt&);
std::size_t read_metrics(const PasteAt&, PasteSink&);
bool begins_rates(const PasteAt&);
std::size_t read_rates(const PasteAt&, PasteSink&);
bool begins_gnmi(const PasteAt&);
std::size_t read_gnmi(const PasteAt&, PasteSink&);
bool begins_fleet(const PasteAt&);
std::size_t read_fleet(const PasteAt&, PasteSink&);

// ---- paste_json.cc ----
bool begins_json(const PasteAt&);
std::size_t read_json(const PasteAt&, PasteSink&);

// ---- paste_machine.cc ----
bool begins_lspci(const PasteAt&);
std::size_t read_lspci(const PasteAt&, PasteSink&);
bool begins_kernel_log(const PasteAt&);
std::size_t read_kernel_log(const PasteAt&, PasteSink&);
bool begins_watchdog_log(const PasteAt&);
std::size_t read_watchdog_log(const PasteAt&, PasteSink&);
bool begins_limits(const PasteAt&);
std::size_t read_limits(const PasteAt&, PasteSink&);
bool begins_sysctl(const PasteAt&);
std::size_t read_sysctl(const PasteAt&, PasteSink&);
bool begins_lsmod(const PasteAt&);
std::size_t read_lsmod(const PasteAt&, PasteSink&);

// ---- paste_load.cc ----
bool begins_perftest(const PasteAt&);
std::size_t read_perftest_part(const PasteAt&, PasteSink&);
bool begins_nccl_tests(const PasteAt&);
std::size_t read_nccl_tests_part(const PasteAt&, PasteSink&);
bool begins_tcpdump(const PasteAt&);
std::size_t read_tcpdump(const PasteAt&, PasteSink&);

// ---- paste_scripts.cc ----
bool begins_deltas(const PasteAt&);
std::size_t read_deltas(const PasteAt&, PasteSink&);
bool begins_ecn_roles(const PasteAt&);
std::size_t read_ecn_roles(const PasteAt&, PasteSink&);
bool begins_ping(const PasteAt&);
std::size_t read_ping(const PasteAt&, PasteSink&);
bool begins_tracepath(const PasteAt&);
std::size_t read_tracepath(const PasteAt&, PasteSink&);
bool begins_traceroute(const PasteAt&);
std::size_t read_traceroute(const PasteAt&, PasteSink&);
bool begins_date(const PasteAt&);
std::size_t read_date(const PasteAt&, PasteSink&);

// ---- paste_vendor.cc ----
bool begins_ibstatus(const PasteAt&);
std::size_t read_ibstatus(const PasteAt&, PasteSink&);
bool begins_ibstat(const PasteAt&);
std::size_t read_ibstat(const PasteAt&, PasteSink&);
bool begins_port_facts(const PasteAt&);
std::size_t read_port_facts(const PasteAt&, PasteSink&);
bool begins_mlxlink(const PasteAt&);
std::size_t read_mlxlink(const PasteAt&, PasteSink&);
bool begins_mlxconfig(const PasteAt&);
std::size_t read_mlxconfig(const PasteAt&, PasteSink&);
bool begins_mlxreg(const PasteAt&);
std::size_t read_mlxreg(const PasteAt&, PasteSink&);
bool begins_topology(const PasteAt&);
std::size_t read_topology(const PasteAt&, PasteSink&);
bool begins_gpu_use(const PasteAt&);
std::size_t read_gpu_use(const PasteAt&, PasteSink&);
bool begins_cpu_use(const PasteAt&);
std::size_t read_cpu_use(const PasteAt&, PasteSink&);

// ---- paste_rates.cc ----
bool begins_device_files(const PasteAt&);
std::size_t read_device_files(const PasteAt&, PasteSink&);

// ---- paste_addresses.cc ----
bool begins_addresses(const PasteAt&);
std::size_t read_addresses(const PasteAt&, PasteSink&);
bool begins_routes(const PasteAt&);
std::size_t read_routes(const PasteAt&, PasteSink&);

bool begins_interface_table(const PasteAt&);
std::size_t read_interface_table(const PasteAt&, PasteSink&);
bool begins_link_widths(const PasteAt&);
std::size_t read_link_widths(const PasteAt&, PasteSink&);

// ---- paste_cabling.cc ----
bool begins_lldp(const PasteAt&);
std::size_t read_lldp(const PasteAt&, PasteSink&);

// ---- paste_optics.cc ----
bool begins_optics(const PasteAt&);
std::size_t read_optics(const PasteAt&, PasteSink&);

// ---- paste_switch_config.cc ----
bool begins_config_db(const PasteAt&);
std::size_t read_config_db(const PasteAt&, PasteSink&);
bool begins_queuing_policy(const PasteAt&);
std::size_t read_queuing_policy(const PasteAt&, PasteSink&);
bool begins_classifier(const PasteAt&);
std::size_t read_classifier(const PasteAt&, PasteSink&);
bool begins_roce_mode(const PasteAt&);
std::size_t read_roce_mode(const PasteAt&, PasteSink&);
bool begins_lossless_queue(const PasteAt&);
std::size_t read_lossless_queue(const PasteAt&, PasteSink&);
bool begins_pause_class(const PasteAt&);
std::size_t read_pause_class(const PasteAt&, PasteSink&);
/// Limits and speeds of ports in what a show command printed. The lines stay with its reader.
void note_port_rates(const PasteAt&, PasteSink&);
/// So with adaptive routing of a switch.
void note_balancing(const PasteAt&, PasteSink&);
bool begins_ecn_profile(const PasteAt&);
std::size_t read_ecn_profile(const PasteAt&, PasteSink&);

// ---- paste_capture.cc ----
bool begins_tshark(const PasteAt&);
std::size_t read_tshark(const PasteAt&, PasteSink&);

// ---- what several of them need ----

/// "Ethernet17/1" of "show lldp neighbors ethernet 17/1", "et-0/0/31", "swp9"; empty where the
/// command names no port.
[[nodiscard]] std::string port_of_command(const Mark& mark);
/// A port of a switch as its system names it.
[[nodiscard]] bool is_switch_port(std::string_view word);
/// "-16.78" of "-16.78 dBm": the number that the text begins with.
[[nodiscard]] std::optional<double> leading_decimal(std::string_view text);

/// Where the catalogue has a NIC's counter of this name; nullopt for a name that nobody knows.
[[nodiscard]] std::optional<counters::Place> place_of_counter(std::string_view name);

/// "key" and "value" of "key: value"; the value is empty where nothing follows. nullopt without a
/// colon.
struct KeyValue {
  std::string_view key;
  std::string_view value;
};
[[nodiscard]] std::optional<KeyValue> key_value(std::string_view line);
/// A counter's name and number: "rx_discards_phy: 12", "np_cnp_sent 3", "out_of_buffer=7".
struct NamedCount {
  std::string_view name;
  std::uint64_t value = 0;
};
[[nodiscard]] std::optional<NamedCount> named_count(std::string_view line);
void add_count(std::vector<counters::Sample>& samples, counters::Place place, std::string_view name,
               std::uint64_t value);

}  // namespace weir::readers

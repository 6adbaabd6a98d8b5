#pragma once
// Plain text pasted from anywhere → what it says: tools one after another, shell prompts, quoting,
// fences, CRLF, prefixes of pdsh and ssh, truncated outputs, sentences in between.
//
// The text is cut into parts by content. Prompts, command lines and headings give host, device and
// command; each part is read by the reader of its tool (paste_tools.h); what a switch printed goes
// to the readers of switches (readers.h), what a job printed to job.h. Facts and counters become
// evidence, one per host; what evidence has no field for (kernel messages, test results, packets
// that tcpdump printed) is kept beside it. A line that belongs to a part and could not be parsed is
// listed in `unread`; a line that no reader took is in `rest`.
//
// Nothing is guessed. A host that the text does not name is "this host"; a NIC it does not name is
// "NIC". The counters of a device that is printed again are a later moment, and as no time is known
// the window has no length.
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "evidence/evidence.h"
#include "readers/job/job.h"
#include "readers/job/nccl_tests.h"
#include "readers/job/perftest.h"
#include "readers/paste/notes/noted.h"
#include "readers/paste/paste_seen.h"
#include "readers/paste/rows/rows_seen.h"
#include "readers/readers.h"

namespace weir::readers {

inline constexpr std::string_view kThisHost = "this host";
/// The device of a NIC that the text does not name: no name of any device.
inline constexpr std::string_view kUnnamedNic = "NIC";

/// One part of a pasted text.
struct PastePart {
  std::string tool;    // "ethtool -S"
  std::string detail;  // "mlx5"; may be empty
  std::string host;    // empty where the text does not say
  std::string device;  // "eth2", "mlx5_0"; may be empty
  std::string file;
  int first = 0;  // lines, from 1
  int last = 0;
};
/// "ethtool -S (mlx5) of gpu01 eth2".
[[nodiscard]] std::string to_text(const PastePart&);

/// What a kernel or a PCI listing says in words.
enum class EventKind : std::uint8_t {
  kLinkDown,
  kLinkUp,
  kModule,          // too hot, not supported
  kUnplugged,       // no cable
  kSignal,          // the receiver gets too little light, or a signal that FEC cannot repair
  kNoLight,         // the receiver gets none: the other end may be off
  kSlotPower,       // the PCIe slot gives the card too little
  kPcieError,       // AER
  kPcieLimited,     // "available PCIe bandwidth, limited by"
  kAcsRedirect,     // a bridge sends peer-to-peer traffic through the root
  kFirmware,        // assert, health, command timeout
  kPeermemRefused,  // nvidia_peermem did not load
  kStorm,           // the PFC watchdog of a switch found a queue that is paused without end
  kStormOver,       // and gave it back
  kForeign,         // a GPU, a disk, memory: not the network
};
struct PasteEvent {
  EventKind kind = EventKind::kLinkDown;
  std::string host;
  std::string device;  // netdev, PCI address, or port of a switch; may be empty
  Cited at;
  bool is_switch = false;  // the host is one
  std::string lane = {};   // of the light, as the text numbers them: "lane 2"; may be empty
};

/// Packets to port 4791 as tcpdump printed them.
struct PasteCapture {
  std::string host;
  struct Marked {
    unsigned tos = 0;
    std::uint64_t data = 0;  // longer than an acknowledgement or a CNP can be
    std::uint64_t other = 0;
    std::uint64_t cnps = 0;  // where the bytes are printed: opcode 0x81
    Cited first;
  };
  std::vector<Marked> by_tos;
  std::vector<Marked> tcp;  // no RDMA: what other packets are marked with

  /// Data packets of one flow with the same marking, seen at one place of the path.
  struct Flow {
    std::string name;  // "10.1.0.1.53312 > 10.1.4.9.4791"
    unsigned tos = 0;
    unsigned ttl = 0;
    std::uint64_t data = 0;
    Cited first;
  };
  std::vector<Flow> flows;
};

/// A ping of one size.
struct PastePing {
  std::string host;
  std::string target;
  unsigned payload = 0;  // bytes, without the headers of ICMP and IP
  bool is_whole = true;  // sent with DF
  std::uint64_t sent = 0;
  std::uint64_t replies = 0;
  bool is_refused = false;   // "message too long", "frag needed"
  double round_trip_ms = 0;  // the mean; 0 where it is not shown
  Cited at;
};

/// How busy the GPUs or the CPUs of a host are, in percent.
struct PasteUse {
  std::string host;
  bool is_gpu = true;
  std::vector<unsigned> percent;
  Cited at;
};

struct PastePerftest {
  std::string host;
  PerftestReport report;
  Cited at;
  /// "GID: 254:128:00:…": the test used a link-local address (fe80).
  std::optional<Cited> link_local;
};
struct PasteCollective {
  std::string host;
  CollectiveReport report;
  Cited at;
};

/// Lines of a switch's configuration, whole or in part: what it does not show is unknown, not left
/// at its default.
struct PasteConfig {
  std::string switch_name;  // empty where no prompt names it
  std::string file;
  std::string text;  // the lines with their numbers in the file: everything else is blank
};

struct Paste {
  std::vector<PastePart> parts;
  std::vector<PasteConfig> configs;
  std::vector<evidence::Evidence> evidence;  // origin kText; hosts, then switches
  Job job;
  std::vector<PasteEvent> events;
  std::vector<PasteCapture> captures;
  std::vector<PastePing> pings;
  std::vector<PasteUse> uses;
  std::vector<PastePerftest> perftests;
  std::vector<PasteCollective> collectives;
  std::vector<PasteNeighbour> neighbours;
  std::vector<PasteAddress> addresses;
  std::vector<PasteMtu> mtus;
  std::vector<PasteCarrier> carriers;
  std::vector<std::string> shut;  // RDMA devices whose port an operator has shut
  std::vector<PasteDisabled> disabled;
  std::vector<PastePortSetting> port_settings;
  std::vector<PasteRoute> routes;
  std::vector<PasteRule> rules;
  std::vector<PasteGateway> gateways;
  std::vector<PasteLoop> loops;
  std::vector<PasteProtocol> protocols;
  std::vector<PasteOrdering> orderings;
  std::optional<Cited> balances;  // a switch that sends packets of one flow over several paths
  std::vector<PasteAble> able;
  std::vector<PasteCodePoint> code_points;
  std::vector<PasteWred> wred;
  std::vector<PasteLossless> lossless;
  std::vector<PasteLosslessQueue> lossless_queues;
  std::vector<PasteClassifier> classifiers;
  std::vector<PasteRoceMode> roce_modes;
  std::vector<PastePortRate> port_rates;
  PasteRows rows;
  PasteNoted noted;
  std::vector<PastePortUse> port_uses;
  struct UnreadLine {
    std::string file;
    Unread line;
  };
  std::vector<UnreadLine> unread;
  /// A command whose output no reader knows. Its lines are in `rest`, and nothing follows from
  /// them.
  struct NotRead {
    std::string command;  // "iperf3 -c 10.0.0.2"
    std::string file;
    int first = 0;  // lines, from 1
    int last = 0;
    [[nodiscard]] bool contains(const Cited& line) const {
      return line.file == file && line.line >= first && line.line <= last;
    }
  };
  std::vector<NotRead> not_read;
  std::size_t left_out = 0;  // of `noted`: beyond the most of its kind
  std::vector<Cited> rest;   // without quoting and prefixes, blank lines left out
  /// The lines whose words are worth a search: a short text whole where some of its lines were not
  /// read, since what a tool printed belongs to the description around it; else `rest`.
  std::vector<Cited> words;

  /// The newest date in the text, as days that only compare within a year; a log may be older.
  std::optional<int> newest_day;

  [[nodiscard]] bool has_tools() const { return !parts.empty(); }
  /// A reader took this line.
  [[nodiscard]] bool is_read(const Cited& line) const;
};

/// Commands whose output is not read, by the lines that they printed. REQUIRES: the paste stays as
/// it is.
class Printed {
 public:
  explicit Printed(const Paste& paste);
  /// The command that printed a line of Paste::rest; nullptr where it is none that is not read.
  [[nodiscard]] const Paste::NotRead* by(const Cited& line) const;

 private:
  std::map<std::pair<std::string_view, int>, const Paste::NotRead*> all_;  // by their first line
};

/// Several files are one paste: they may speak of the same hosts.
struct PastedFile {
  std::string name;  // "-" is standard input
  std::string_view text;
};
/// Total: any text gives a Paste, if only with everything in `rest`.
[[nodiscard]] Paste read_paste(const std::vector<PastedFile>& files);

/// "mlx5_0", "bnxt_re1": as RDMA drivers name their devices.
[[nodiscard]] bool is_device_name(std::string_view name);

/// The tools whose output is known, as people call them: for messages and documents.
[[nodiscard]] std::vector<std::string> pasted_tools();

}  // namespace weir::readers

// Results of tests and packets: perftest, nccl-tests, tcpdump.
#include <algorithm>
#include <charconv>

#include "base/text.h"
#include "readers/paste/paste_tools.h"
#include "readers/paste/text_lines.h"

namespace weir::readers {
namespace {

bool has(std::string_view text, std::string_view word) {
  return text.find(word) != std::string_view::npos;
}

bool begins_with_digit(std::string_view text) {
  return !text.empty() && text.front() >= '0' && text.front() <= '9';
}

std::string joined(const PasteAt& at, std::size_t count) {
  std::string out;
  for (std::size_t n = 0; n < count && n < at.lines.size(); ++n) {
    out += at.lines[n].text;
    out += '\n';
  }
  return out;
}

// ---- perftest ----

bool is_perftest_error(std::string_view text) {
  return has(text, "Failed status") || has(text, "Completion with error at") ||
         has(text, "Couldn't connect to ") || has(text, "to RTR") ||
         (has(text, "IB device") && has(text, "not found")) ||
         has(text, "Couldn't read remote address") || has(text, "Unable to init the socket") ||
         has(text, "Unable to find the Infiniband/RoCE device") || has(text, "Unexpected CM event");
}

bool is_perftest_heading(std::string_view text) {
  const bool is_banner = text.ends_with(" Test") && text.size() < 60 &&
                         (has(text, "BW") || has(text, "Lat") || has(text, "lat"));
  return is_banner || text.starts_with("#bytes") || text.starts_with("Dual-port") ||
         text.starts_with("local address: LID ") || has(text, "Waiting for client to connect") ||
         has(text, "BW peak won't be measured in this run");
}

bool is_perftest_line(std::string_view text) {
  if (text.empty() || is_rule(text) || begins_with_digit(text)) return true;
  return is_perftest_heading(text) || is_perftest_error(text) || has(text, " : ") ||
         has(text, "rdma_cm QPs") || text.starts_with("local address") ||
         text.starts_with("remote address") || text.starts_with("GID:") ||
         text.starts_with("Mtu") || text.starts_with("WARNING") ||
         text.starts_with("Conflicting CPU") || text.starts_with("Failed to") ||
         text.starts_with("Unable to") || text.starts_with("scnt=") || text.starts_with("***") ||
         text.starts_with("PCIe relax");
}

/// "GID: 254:128:00:00:…": perftest prints the sixteen bytes in decimal, and fe80 is 254:128.
bool is_link_local_gid(std::string_view text) {
  if (!text.starts_with("GID:")) return false;
  return trim(text.substr(4)).starts_with("254:128:");
}

/// A row of the table alone, as `| tail -2` leaves it.
bool is_perftest_row(const PasteAt& at) {
  const std::string_view tool = at.mark.tool();
  if (!tool.starts_with("ib_") || (!tool.ends_with("_bw") && !tool.ends_with("_lat"))) return false;
  const auto words = words_of(at.line(0));
  constexpr std::size_t kFewest = 4;
  return words.size() >= kFewest && std::all_of(words.begin(), words.end(), begins_with_digit);
}

}  // namespace

bool begins_perftest(const PasteAt& at) {
  return is_perftest_heading(at.line(0)) || is_perftest_error(at.line(0)) || is_perftest_row(at);
}

std::size_t read_perftest_part(const PasteAt& at, PasteSink& out) {
  std::size_t taken = 0;
  std::size_t last = 0;
  bool has_banner = false;
  for (; taken < at.lines.size(); ++taken) {
    const std::string_view text = at.line(taken);
    if (!is_perftest_line(text)) break;
    // The next test begins with its own banner.
    const bool is_banner = text.ends_with(" Test");
    if (is_banner && has_banner) break;
    has_banner = has_banner || is_banner || text.starts_with("#bytes");
    if (!text.empty() && !is_rule(text)) last = taken;
  }
  PastePerftest perftest;
  perftest.host = out.host();
  perftest.report = read_perftest(joined(at, last + 1));
  perftest.at = out.cite(at.lines[0]);
  for (std::size_t n = 0; n <= last && !perftest.link_local; ++n)
    if (is_link_local_gid(at.line(n))) perftest.link_local = out.cite(at.lines[n]);
  if (perftest.report.device.empty()) perftest.report.device = at.mark.device;
  out.device = perftest.report.device;
  out.detail = perftest.report.test;
  out.paste().perftests.push_back(std::move(perftest));
  return last + 1;
}

// ---- nccl-tests ----

namespace {

/// Without the tag of mpirun: "[1,0]<stdout>:".
std::string_view untagged(std::string_view text) {
  const std::size_t at = text.find(">:");
  return text.starts_with('[') && at != std::string_view::npos && at < 30
             ? trim(text.substr(at + 2))
             : text;
}

bool is_collective_heading(std::string_view text) {
  if (!text.starts_with('#')) return false;
  return has(text, "nThread ") || has(text, "Using devices") || has(text, "nccl-tests version") ||
         has(text, "Collective test starting") || has(text, "rccl-tests") ||
         has(text, "Avg bus bandwidth") ||
         (has(text, "size") && has(text, "count") && has(text, "type"));
}

}  // namespace

bool begins_nccl_tests(const PasteAt& at) {
  return is_collective_heading(untagged(at.line(0)));
}

std::size_t read_nccl_tests_part(const PasteAt& at, PasteSink& out) {
  std::size_t taken = 0;
  std::size_t last = 0;
  for (; taken < at.lines.size(); ++taken) {
    const std::string_view text = untagged(at.line(taken));
    const bool fits = text.empty() || text.starts_with('#') || begins_with_digit(text) ||
                      has(text, " NCCL INFO ") || has(text, " NCCL WARN ") ||
                      has(text, "Test NCCL failure") || has(text, "Test failure");
    if (!fits) break;
    if (!text.empty()) last = taken;
  }
  PasteCollective collective;
  collective.host = out.host();
  collective.report = read_nccl_tests(joined(at, last + 1));
  collective.at = out.cite(at.lines[0]);
  out.detail = collective.report.test;
  out.paste().collectives.push_back(std::move(collective));
  return last + 1;
}

// ---- tcpdump ----

namespace {

/// "… IP (tos 0x6a,ECT(0), ttl 64, …" and "… IP6 (class 0x6a, flowlabel …": the byte.
std::optional<unsigned> tos_in(std::string_view text) {
  for (const std::string_view word : {"IP (tos 0x", "IP6 (class 0x", "(tos 0x", "(class 0x"}) {
    const std::size_t at = text.find(word);
    if (at == std::string_view::npos) continue;
    const std::string_view rest = text.substr(at + word.size());
    unsigned value = 0;
    const auto [end, error] = std::from_chars(rest.data(), rest.data() + rest.size(), value, 16);
    if (error == std::errc() && end != rest.data() && value < 256) return value;
  }
  // Of IPv6 a class of 0 is not printed.
  return has(text, " IP6 (") ? std::optional(0U) : std::nullopt;
}

bool is_hex_line(std::string_view text) {
  return text.starts_with("0x") && text.size() > 8 && text[6] == ':';
}

bool is_capture_noise(std::string_view text) {
  return text.starts_with("reading from file") || text.starts_with("listening on ") ||
         text.starts_with("tcpdump: ") || has(text, " packets captured") ||
         has(text, " packets received by filter") || has(text, " packets dropped by kernel");
}

/// One packet: its lines as tcpdump printed them.
struct Packet {
  unsigned tos = 0;
  bool is_roce = false;
  bool is_tcp = false;
  std::size_t length = 0;  // of UDP's payload
  std::string flow;        // "10.1.0.1.53312 > 10.1.4.9.4791"
  std::optional<unsigned> ttl;
  std::vector<unsigned> bytes;
  const PasteLine* line = nullptr;
};

/// "10.1.0.1.53312 > 10.1.4.9.4791" of "… 10.1.0.1.53312 > 10.1.4.9.4791: UDP, length 4128".
std::string flow_in(std::string_view text) {
  constexpr std::string_view kPort = ".4791: ";
  constexpr std::string_view kTo = " > ";
  const std::size_t end = text.find(kPort);
  if (end == std::string_view::npos) return {};
  const std::size_t to = text.substr(0, end).rfind(kTo);
  if (to == std::string_view::npos || to == 0) return {};
  const std::size_t blank = text.find_last_of(" \t", to - 1);
  const std::size_t begin = blank == std::string_view::npos ? 0 : blank + 1;
  return std::string(text.substr(begin, end + kPort.size() - 2 - begin));
}

/// "ttl 64" of IPv4, "hlim 64" of IPv6.
std::optional<unsigned> ttl_in(std::string_view text) {
  for (const std::string_view word : {" ttl ", " hlim "}) {
    const std::size_t at = text.find(word);
    if (at == std::string_view::npos) continue;
    const std::string_view rest = text.substr(at + word.size());
    const auto value = parse_u64(rest.substr(0, rest.find_first_not_of("0123456789")));
    if (value && *value < 256) return static_cast<unsigned>(*value);
  }
  return std::nullopt;
}

void read_packet_text(std::string_view text, Packet& packet) {
  packet.is_roce = packet.is_roce || has(text, ".4791: ");
  packet.is_tcp = packet.is_tcp || has(text, "proto TCP (6)") || has(text, "next-header TCP (6)");
  if (packet.flow.empty()) packet.flow = flow_in(text);
  if (!packet.ttl) packet.ttl = ttl_in(text);
  const std::size_t at = text.find("UDP, length ");
  if (at == std::string_view::npos) return;
  const std::string_view rest = text.substr(at + 12);
  const auto length = parse_u64(rest.substr(0, rest.find_first_not_of("0123456789")));
  if (length && *length < 65536) packet.length = static_cast<std::size_t>(*length);
}

/// "0x0010:  c000 0201 c144 12b7 …", with or without the characters of -X behind it.
void read_packet_bytes(std::string_view text, Packet& packet) {
  constexpr std::size_t kFirst = 64;  // headers
  constexpr std::size_t kWords = 8;   // a line has sixteen bytes; behind them -X shows characters
  std::size_t count = 0;
  for (const std::string_view word : words_of(text.substr(7))) {
    if (++count > kWords) return;
    if ((word.size() != 4 && word.size() != 2) || packet.bytes.size() >= kFirst) return;
    for (std::size_t at = 0; at + 1 < word.size(); at += 2) {
      unsigned value = 0;
      const auto [end, error] = std::from_chars(word.data() + at, word.data() + at + 2, value, 16);
      if (error != std::errc() || end != word.data() + at + 2) return;
      packet.bytes.push_back(value);
    }
  }
}

bool is_cnp(const Packet& packet) {
  constexpr unsigned kCnp = 0x81;
  if (packet.bytes.size() < 20) return false;
  const unsigned version = packet.bytes[0] >> 4U;
  const std::size_t header = version == 6 ? 40 : std::size_t{packet.bytes[0] & 15U} * 4;
  const std::size_t opcode = header + 8;  // behind UDP
  return (version == 4 || version == 6) && packet.bytes.size() > opcode &&
         packet.bytes[opcode] == kCnp;
}

void add_flow(const Packet& packet, PasteCapture& capture, PasteSink& out) {
  if (packet.flow.empty() || !packet.ttl) return;
  auto at =
      std::find_if(capture.flows.begin(), capture.flows.end(), [&](const PasteCapture::Flow& flow) {
        return flow.name == packet.flow && flow.tos == packet.tos && flow.ttl == *packet.ttl;
      });
  if (at == capture.flows.end())
    at = capture.flows.insert(
        at, PasteCapture::Flow{packet.flow, packet.tos, *packet.ttl, 0, out.cite(*packet.line)});
  ++at->data;
}

PasteCapture::Marked& marked_as(const Packet& packet, std::vector<PasteCapture::Marked>& all,
                                PasteSink& out) {
  auto at = std::find_if(all.begin(), all.end(),
                         [&](const PasteCapture::Marked& to) { return to.tos == packet.tos; });
  if (at == all.end()) {
    at = all.insert(all.end(), PasteCapture::Marked{});
    at->tos = packet.tos;
    at->first = out.cite(*packet.line);
  }
  return *at;
}

void add_packet(const Packet& packet, PasteCapture& capture, PasteSink& out) {
  if (packet.line == nullptr) return;
  if (packet.is_tcp) ++marked_as(packet, capture.tcp, out).other;
  if (!packet.is_roce) return;
  constexpr std::size_t kShortest = 64;  // an acknowledgement has 20 bytes, a CNP 32
  PasteCapture::Marked& at = marked_as(packet, capture.by_tos, out);
  if (is_cnp(packet)) {
    ++at.cnps;
  } else {
    const bool is_data = packet.length > kShortest;
    ++(is_data ? at.data : at.other);
    if (is_data) add_flow(packet, capture, out);
  }
}

}  // namespace

bool begins_tcpdump(const PasteAt& at) {
  const std::string_view text = at.line(0);
  const bool is_packet =
      tos_in(text).has_value() && (has(text, "proto ") || has(text, "next-header"));
  return is_packet || text.starts_with("listening on ") ||
         (text.starts_with("reading from file") && has(text, "link-type"));
}

std::size_t read_tcpdump(const PasteAt& at, PasteSink& out) {
  PasteCapture capture;
  capture.host = out.host();
  Packet packet;
  std::size_t taken = 0;
  for (; taken < at.lines.size(); ++taken) {
    const std::string_view text = at.line(taken);
    const bool is_indented =
        at.lines[taken].text.starts_with(' ') || at.lines[taken].text.starts_with('\t');
    if (const auto tos = tos_in(text)) {
      add_packet(packet, capture, out);
      packet = {};
      packet.tos = *tos;
      packet.line = &at.lines[taken];
      read_packet_text(text, packet);
    } else if (is_hex_line(text)) {
      read_packet_bytes(text, packet);
    } else if (has(text, " > ") || is_indented) {
      read_packet_text(text, packet);
    } else if (!is_capture_noise(text) && !has(text, " ARP, ") && !text.empty()) {
      break;
    }
  }
  add_packet(packet, capture, out);
  out.device = at.mark.device;
  if (!capture.by_tos.empty() || !capture.tcp.empty())
    out.paste().captures.push_back(std::move(capture));
  return taken;
}

}  // namespace weir::readers

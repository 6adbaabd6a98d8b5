#include "wire/opcode.h"

#include <array>

#include <fmt/format.h>

namespace weir::wire {
namespace {

struct Operation {
  const char* name;
  Verb verb;
  Part part;
  bool immediate = false;
  bool invalidate = false;
};

constexpr std::array<Operation, 24> kOperations = {{
    {"SEND First", Verb::kSend, Part::kFirst},
    {"SEND Middle", Verb::kSend, Part::kMiddle},
    {"SEND Last", Verb::kSend, Part::kLast},
    {"SEND Last Immediate", Verb::kSend, Part::kLast, true},
    {"SEND Only", Verb::kSend, Part::kOnly},
    {"SEND Only Immediate", Verb::kSend, Part::kOnly, true},
    {"RDMA WRITE First", Verb::kWrite, Part::kFirst},
    {"RDMA WRITE Middle", Verb::kWrite, Part::kMiddle},
    {"RDMA WRITE Last", Verb::kWrite, Part::kLast},
    {"RDMA WRITE Last Immediate", Verb::kWrite, Part::kLast, true},
    {"RDMA WRITE Only", Verb::kWrite, Part::kOnly},
    {"RDMA WRITE Only Immediate", Verb::kWrite, Part::kOnly, true},
    {"RDMA READ Request", Verb::kReadRequest, Part::kOnly},
    {"RDMA READ Response First", Verb::kReadResponse, Part::kFirst},
    {"RDMA READ Response Middle", Verb::kReadResponse, Part::kMiddle},
    {"RDMA READ Response Last", Verb::kReadResponse, Part::kLast},
    {"RDMA READ Response Only", Verb::kReadResponse, Part::kOnly},
    {"Acknowledge", Verb::kAck, Part::kOnly},
    {"ATOMIC Acknowledge", Verb::kAtomicAck, Part::kOnly},
    {"Compare Swap", Verb::kCompareSwap, Part::kOnly},
    {"Fetch Add", Verb::kFetchAdd, Part::kOnly},
    {"RESYNC", Verb::kResync, Part::kOnly},
    {"SEND Last Invalidate", Verb::kSend, Part::kLast, false, true},
    {"SEND Only Invalidate", Verb::kSend, Part::kOnly, false, true},
}};

constexpr bool exists(Transport transport, unsigned operation) {
  switch (transport) {
    case Transport::kRc:
    case Transport::kXrc: return operation <= 20 || operation == 22 || operation == 23;
    case Transport::kUc: return operation <= 11;
    case Transport::kRd: return operation <= 21;
    case Transport::kUd: return operation == 4 || operation == 5;
    case Transport::kCnp:
    case Transport::kUnknown: break;
  }
  return false;
}

constexpr ExtendedHeaders headers_of(Transport transport, const Operation& operation) {
  const bool is_response = operation.verb == Verb::kReadResponse || operation.verb == Verb::kAck ||
                           operation.verb == Verb::kAtomicAck;
  const bool starts = operation.part == Part::kFirst || operation.part == Part::kOnly;
  ExtendedHeaders out;
  out.rdeth = transport == Transport::kRd;
  out.deth = transport == Transport::kUd || (transport == Transport::kRd && !is_response);
  out.xrceth = transport == Transport::kXrc && !is_response;
  out.reth = (operation.verb == Verb::kWrite && starts) || operation.verb == Verb::kReadRequest;
  out.atomic = operation.verb == Verb::kCompareSwap || operation.verb == Verb::kFetchAdd;
  out.aeth = is_response && operation.part != Part::kMiddle;
  out.atomic_ack = operation.verb == Verb::kAtomicAck;
  out.immediate = operation.immediate;
  out.ieth = operation.invalidate;
  return out;
}

constexpr std::uint8_t bytes_of(const ExtendedHeaders& headers) {
  return static_cast<std::uint8_t>(
      (headers.rdeth ? 4 : 0) + (headers.deth ? 8 : 0) + (headers.xrceth ? 4 : 0) +
      (headers.reth ? 16 : 0) + (headers.atomic ? 28 : 0) + (headers.aeth ? 4 : 0) +
      (headers.atomic_ack ? 8 : 0) + (headers.immediate ? 4 : 0) + (headers.ieth ? 4 : 0));
}

constexpr Transport transport_of(unsigned code) {
  constexpr std::array<Transport, 8> kTransports = {
      Transport::kRc,  Transport::kUc,  Transport::kRd,      Transport::kUd,
      Transport::kCnp, Transport::kXrc, Transport::kUnknown, Transport::kUnknown};
  return kTransports[code >> 5U];
}

constexpr Opcode make(unsigned code) {
  Opcode out;
  if (code == kCnpOpcode) {
    out.transport = Transport::kCnp;
    out.verb = Verb::kCnp;
    out.role = Role::kCnp;
    return out;
  }
  const Transport transport = transport_of(code);
  if (!exists(transport, code & 0x1FU)) return out;
  const Operation& operation = kOperations[code & 0x1FU];
  out.transport = transport;
  out.verb = operation.verb;
  out.part = operation.part;
  out.is_response = operation.verb == Verb::kReadResponse || operation.verb == Verb::kAck ||
                    operation.verb == Verb::kAtomicAck;
  const bool is_control = operation.verb == Verb::kAck || operation.verb == Verb::kReadRequest ||
                          operation.verb == Verb::kResync;
  out.role = is_control ? Role::kControl : Role::kData;
  out.is_sequenced = !out.is_response && transport != Transport::kUd &&
                     transport != Transport::kRd && operation.verb != Verb::kResync;
  out.headers = headers_of(transport, operation);
  out.header_bytes = bytes_of(out.headers);
  return out;
}

constexpr std::array<Opcode, 256> make_table() {
  std::array<Opcode, 256> table{};
  for (unsigned code = 0; code < 256; ++code)
    table[code] = make(code);
  return table;
}

constexpr std::array<Opcode, 256> kTable = make_table();

}  // namespace

const Opcode& opcode(std::uint8_t code) {
  return kTable[code];
}

std::string opcode_name(std::uint8_t code) {
  constexpr std::array<const char*, 6> kNames = {"RC", "UC", "RD", "UD", "CNP", "XRC"};
  const Opcode& entry = kTable[code];
  if (entry.transport == Transport::kUnknown) return fmt::format("0x{:02x}", code);
  if (entry.transport == Transport::kCnp) return "CNP";
  return fmt::format("{} {}", kNames[static_cast<std::size_t>(entry.transport)],
                     kOperations[code & 0x1FU].name);
}

}  // namespace weir::wire

#pragma once
// How a queue pair's sending rate follows congestion: one small interface, bound to an algorithm
// when the simulation is set up.
//
//   start     before the first packet
//   rate      what the QP may send at now
//   on_sent   a packet left the NIC
//   on_ack    the receiver acknowledged data
//   on_cnp    a congestion notification arrived
//   next_due  when time alone changes the rate next
//
// An algorithm is one file: a class that derives from CongestionControl, and a row of kAlgorithms
// (congestion_control.cc). The transport calls it for every packet, so what is asked every time is
// inline here, and an algorithm is called only when it has something to decide.
#include <cstdint>
#include <limits>
#include <memory>
#include <span>
#include <string_view>

namespace weir::sim {

struct NicConfig;

class CongestionControl {
 public:
  virtual ~CongestionControl() = default;

  /// `line`: the port's rate, bit/s. `initial`: the rate to start at; 0: the line rate (no slow
  /// start).
  virtual void start(std::int64_t line, std::int64_t initial) = 0;
  virtual void on_cnp(std::int64_t now) = 0;

  /// Bit/s, with everything that was due until `now`.
  std::int64_t rate(std::int64_t now) {
    if (now >= next_due_) advance(now);
    return rate_;
  }
  void on_sent(std::int64_t bytes, std::int64_t now) {
    if (now >= next_due_) advance(now);
    if (!counts_bytes_) return;
    bytes_ += bytes;
    if (bytes_ >= byte_limit_) on_byte_limit();
  }
  /// `bytes` more arrived in order.
  void on_ack(std::int64_t bytes, std::int64_t now) {
    if (hears_acks_) [[unlikely]]
      acknowledged(bytes, now);
  }
  /// Bit/s as last computed.
  [[nodiscard]] std::int64_t rate() const { return rate_; }
  [[nodiscard]] std::int64_t next_due() const { return next_due_; }
  /// Until then only a CNP or a packet of its own changes the rate.
  [[nodiscard]] std::int64_t steady_until() const { return hears_acks_ ? 0 : next_due_; }
  /// Neither time nor packets nor ACKs change the rate: only a CNP will.
  [[nodiscard]] bool is_at_rest() const {
    return next_due_ == kNeverDue && !counts_bytes_ && !hears_acks_;
  }

 protected:
  static constexpr std::int64_t kNeverDue = std::numeric_limits<std::int64_t>::max();

  /// The clock has reached next_due(): brings rate_ and next_due_ up to `now`.
  virtual void advance(std::int64_t now) = 0;
  virtual void on_byte_limit() {}                                             // with counts_bytes_
  virtual void acknowledged(std::int64_t /*bytes*/, std::int64_t /*now*/) {}  // with hears_acks_

  std::int64_t rate_ = 0;
  std::int64_t next_due_ = kNeverDue;
  std::int64_t bytes_ = 0;  // sent while counts_bytes_ is set
  std::int64_t byte_limit_ = kNeverDue;
  bool counts_bytes_ = false;
  bool hears_acks_ = false;
};

struct CongestionAlgorithm {
  std::string_view name;
  /// For one queue pair. The NIC's configuration outlives it.
  std::unique_ptr<CongestionControl> (*make)(const NicConfig& nic);
};

/// By the name in NicConfig::congestion_control; nullptr: there is none.
[[nodiscard]] const CongestionAlgorithm* find_congestion_algorithm(std::string_view name);

}  // namespace weir::sim

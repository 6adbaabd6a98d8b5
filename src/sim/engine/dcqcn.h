#pragma once
// The DCQCN reaction point: four published machines behind one small interface, in integers.
//
//   kPaper     SIGCOMM'15 / CoNEXT'16 text: cut on every CNP with the old alpha        theory.md
//   §1.2 kPaperNs3  the authors' own simulator: new alpha, QCN relics                         §1.3
//   kConnectX  what NVIDIA documents for ConnectX-4 and later (default)                  §1.4
//   kHpccNs3   the HPCC simulator's "mlx" mode: timer only, ACK-borne CNPs               peers.md
//   §3
//
// No machine needs a timer event. What a timer would do between two packets depends on the time
// alone, so `advance(now)` replays it, in the order of its instants, when the QP next sends or
// hears a CNP; `next_due` says when that first changes the rate.
//
// Rates are whole bit/s. Alpha is a fraction of kAlphaOne = 2^30. ConnectX moves it in 1024ths; how
// many bits the hardware keeps below that is not published, so it is a knob: 0 bits is the integer
// of Google's isekai (1023 -> 1018 -> 1013 …, a linear tail below 204), 20 is as good as real
// numbers.
#include <array>
#include <cstdint>

#include "units/quantity.h"

namespace weir::sim {

enum class DcqcnVariant : std::uint8_t { kOff, kPaper, kPaperNs3, kConnectX, kHpccNs3 };

inline constexpr std::int64_t kAlphaOne = std::int64_t{1} << 30U;

struct DcqcnConfig {
  DcqcnVariant variant = DcqcnVariant::kConnectX;
  std::int64_t max_rate = 0;                               // bit/s, rpg_max_rate; 0: line rate
  std::int64_t min_rate = 1'000'000;                       // rpg_min_rate
  std::int64_t ai_rate = 5'000'000;                        // rpg_ai_rate, a step
  std::int64_t hai_rate = 50'000'000;                      // rpg_hai_rate
  Duration increase_period = Duration::raw(300'000'000);   // rpg_time_reset, T
  std::int64_t byte_reset = 32767 * 64;                    // rpg_byte_reset in bytes, B; 0: off
  std::uint32_t threshold = 1;                             // rpg_threshold, F
  Duration alpha_period = Duration::raw(1'000'000);        // dce_tcp_rtt, tau'
  std::int64_t g = 5 * (kAlphaOne / 1024);                 // weight of the new sample, of kAlphaOne
  std::int64_t initial_alpha = 1023 * (kAlphaOne / 1024);  // at the first CNP
  unsigned alpha_extra_bits = 20;                          // kConnectX: bits kept below 1/1024
  Duration cut_period = Duration::raw(4'000'000);          // rate_reduce_monitor_period
  std::uint32_t gd = 11;                                   // rpg_gd: cut = alpha_in_1024ths >> gd
  std::int64_t min_dec_percent = 50;                       // rpg_min_dec_fac
  std::int64_t first_cnp_rate = 0;                         // rate_to_set_on_first_cnp; 0: keep
  bool clamp_target = false;                               // clamp_tgt_rate
  bool clamp_after_timer = true;                           // clamp_tgt_rate_after_time_inc
  bool cnp_before_tick = false;  // kHpccNs3: a CNP of a tick's own instant counts for that tick
  std::array<std::int64_t, 20> decay{};  // (1 - g)^(2^j) of kAlphaOne: filled by prepare()
};

/// Fills what is derived from the knobs. REQUIRED after any change of `g`, before start().
void prepare(DcqcnConfig& config);

/// The documented defaults of each variant, prepared (kPaper: as published for 40 Gb/s).
[[nodiscard]] DcqcnConfig dcqcn_defaults(DcqcnVariant variant);

class ReactionPoint {
 public:
  /// `line`: the port's rate. `initial`: where rate and target start; 0 = line rate (no slow
  /// start).
  void start(const DcqcnConfig& config, std::int64_t line, std::int64_t initial);

  /// Rate in bit/s after everything that was due until `now`.
  std::int64_t rate_at(const DcqcnConfig& config, std::int64_t now) {
    if (now >= next_due_) advance(config, now);
    return rate_;
  }
  void on_cnp(const DcqcnConfig& config, std::int64_t now);
  /// `bytes` more were sent: the byte counter's clock.
  void on_sent(const DcqcnConfig& config, std::int64_t bytes, std::int64_t now) {
    if (now >= next_due_) advance(config, now);
    if (!active_ || config.byte_reset == 0) return;
    bytes_ += bytes;
    if (bytes_ >= byte_limit_) byte_event(config);
  }

  [[nodiscard]] std::int64_t rate() const { return rate_; }
  [[nodiscard]] std::int64_t target() const { return target_; }
  /// Alpha after the ticks until `now`.
  [[nodiscard]] std::int64_t alpha_at(const DcqcnConfig& config, std::int64_t now) const;
  /// When time alone next changes the rate.
  [[nodiscard]] std::int64_t next_due() const { return next_due_; }
  [[nodiscard]] bool is_active() const { return active_; }
  [[nodiscard]] std::uint64_t cuts() const { return cuts_; }
  [[nodiscard]] std::uint32_t timer_stage() const { return timer_stage_; }
  [[nodiscard]] std::uint32_t byte_stage() const { return byte_stage_; }

 private:
  void advance(const DcqcnConfig& config, std::int64_t now);
  void advance_alpha(const DcqcnConfig& config, std::int64_t to);
  void timer_event(const DcqcnConfig& config, std::int64_t at);
  void byte_event(const DcqcnConfig& config);
  void increase(const DcqcnConfig& config);
  void cut(const DcqcnConfig& config, std::int64_t at);
  void on_cnp_paper(const DcqcnConfig& config, std::int64_t now);
  void set_due();
  double peer_alpha(const DcqcnConfig& c, std::int64_t at) const;  // as the peer computes

  std::int64_t rate_ = 0;
  std::int64_t target_ = 0;
  std::int64_t line_ = 0;
  std::int64_t alpha_ = kAlphaOne;
  double peer_alpha_ = 1;  // as the peer computes (kHpccNs3)
  std::int64_t next_due_ = kNeverDue;
  std::int64_t next_increase_ = kNeverDue;
  std::int64_t next_alpha_ = kNeverDue;  // the next alpha tick
  std::int64_t next_cut_ = kNeverDue;    // the next end of a cut window
  std::int64_t bytes_ = 0;
  std::int64_t byte_limit_ = 0;
  std::uint64_t cuts_ = 0;
  std::uint32_t timer_stage_ = 0;
  std::uint32_t byte_stage_ = 0;
  bool active_ = false;
  bool alpha_cnp_ = false;  // a CNP since the last alpha tick
  bool cut_cnp_ = false;    // a CNP since the last cut window
  static constexpr std::int64_t kNeverDue = INT64_MAX;
};

}  // namespace weir::sim

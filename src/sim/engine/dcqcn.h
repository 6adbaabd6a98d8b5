#pragma once
// DCQCN's reaction point: four published machines, in integers.
//
//   kPaper      SIGCOMM'15 and CoNEXT'16 text: cut on every CNP with the old alpha
//   kPaperNs3   the authors' own simulator: cuts with the new alpha, and has relics of QCN
//   kConnectx   what NVIDIA documents for ConnectX-4 and later (default)
//   kHpccNs3    the HPCC simulator's "mlx" mode: timer only, CNPs as a bit of the ACK
//
// No machine needs a timer event. What a timer would do between two packets depends on the time
// alone, so advance() replays it, in the order of its instants, when the QP next sends or hears a
// CNP; next_due() says when that first changes the rate.
//
// Rates are whole bit/s. Alpha is a fraction of kAlphaOne = 2^30. ConnectX moves it in 1024ths; how
// many bits the hardware keeps below that is not published, so it is a knob: 0 bits is the integer
// of Google's isekai (1023 -> 1018 -> 1013 …, a linear tail below 204), 20 is as good as real
// numbers.
#include <array>
#include <cstdint>

#include "design/file/choices.h"
#include "sim/engine/congestion_control.h"
#include "units/quantity.h"

namespace weir::sim {

using design::DcqcnVariant;

inline constexpr std::int64_t kAlphaOne = std::int64_t{1} << 30U;

struct DcqcnConfig {
  DcqcnVariant variant = DcqcnVariant::kConnectx;
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
  unsigned alpha_extra_bits = 20;                          // kConnectx: bits kept below 1/1024
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

class ReactionPoint final : public CongestionControl {
 public:
  /// `config` outlives it. REQUIRES: prepared.
  explicit ReactionPoint(const DcqcnConfig& config) : config_(config) {}

  void start(std::int64_t line, std::int64_t initial) override;
  void on_cnp(std::int64_t now) override;

  [[nodiscard]] std::int64_t target() const { return target_; }
  /// Alpha after the ticks until `now`.
  [[nodiscard]] std::int64_t alpha_at(std::int64_t now) const;
  [[nodiscard]] bool is_active() const { return active_; }
  [[nodiscard]] std::uint64_t cuts() const { return cuts_; }
  [[nodiscard]] std::uint32_t timer_stage() const { return timer_stage_; }
  [[nodiscard]] std::uint32_t byte_stage() const { return byte_stage_; }

 private:
  void advance(std::int64_t now) override;
  void on_byte_limit() override;
  void advance_alpha(std::int64_t to);
  void timer_event(std::int64_t at);
  void increase();
  void cut(std::int64_t at);
  void on_cnp_paper(std::int64_t now);
  void activate();
  void set_due();
  double peer_alpha(std::int64_t at) const;  // as the peer computes

  const DcqcnConfig& config_;
  std::int64_t target_ = 0;
  std::int64_t line_ = 0;
  std::int64_t alpha_ = kAlphaOne;
  double peer_alpha_ = 1;  // as the peer computes (kHpccNs3)
  std::int64_t next_increase_ = kNeverDue;
  std::int64_t next_alpha_ = kNeverDue;  // the next alpha tick
  std::int64_t next_cut_ = kNeverDue;    // the next end of a cut window
  std::uint64_t cuts_ = 0;
  std::uint32_t timer_stage_ = 0;
  std::uint32_t byte_stage_ = 0;
  bool active_ = false;
  bool alpha_cnp_ = false;  // a CNP since the last alpha tick
  bool cut_cnp_ = false;    // a CNP since the last cut window
};

}  // namespace weir::sim

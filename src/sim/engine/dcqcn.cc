#include "sim/engine/dcqcn.h"

#include <algorithm>

#include "base/check.h"

namespace weir::sim {
namespace {

constexpr std::int64_t scaled(std::int64_t alpha, std::int64_t factor) {
  return alpha * factor / kAlphaOne;
}

/// Alpha after `ticks` quiet periods.
std::int64_t decayed(const DcqcnConfig& config, std::int64_t alpha, std::int64_t ticks) {
  if (config.variant == DcqcnVariant::kConnectX && config.alpha_extra_bits < 20) {
    const std::int64_t unit = kAlphaOne >> (10 + config.alpha_extra_bits);
    for (; ticks > 0 && alpha > 0; --ticks)
      alpha = scaled(alpha, config.decay[0]) / unit * unit;
    return alpha;
  }
  for (std::size_t j = 0; ticks > 0 && alpha > 0; ++j, ticks >>= 1U) {
    if (j == config.decay.size()) return 0;  // 2^20 periods: nothing is left of any alpha
    if ((ticks & 1) != 0) alpha = scaled(alpha, config.decay[j]);
  }
  return alpha;
}

/// rate * (1 - alpha / 2), to the bit/s.
std::int64_t halved_by(std::int64_t rate, std::int64_t alpha) {
  return rate - static_cast<std::int64_t>(Int128{rate} * alpha / (2 * kAlphaOne));
}

}  // namespace

void prepare(DcqcnConfig& config) {
  config.decay[0] = kAlphaOne - config.g;
  for (std::size_t j = 1; j < config.decay.size(); ++j)
    config.decay[j] = scaled(config.decay[j - 1], config.decay[j - 1]);
}

DcqcnConfig dcqcn_defaults(DcqcnVariant variant) {
  DcqcnConfig config;  // the members' own defaults are ConnectX's (theory.md §1.4)
  config.variant = variant;
  if (variant == DcqcnVariant::kPaper || variant == DcqcnVariant::kPaperNs3) {
    config.min_rate = 100'000'000;
    config.ai_rate = 40'000'000;
    config.hai_rate = 200'000'000;
    config.increase_period = 55_us;
    config.byte_reset = 10'000'000;
    config.threshold = 5;
    config.alpha_period = 55_us;
    config.g = kAlphaOne / 256;
    config.initial_alpha = kAlphaOne;
    config.clamp_target = true;
  } else if (variant == DcqcnVariant::kHpccNs3) {
    config.min_rate = 100'000'000;
    config.g = kAlphaOne / 256;
    config.byte_reset = 0;
    config.initial_alpha = kAlphaOne;
  }
  prepare(config);
  return config;
}

void ReactionPoint::start(const DcqcnConfig& config, std::int64_t line, std::int64_t initial) {
  WEIR_CHECK(config.variant == DcqcnVariant::kOff || config.decay[0] == kAlphaOne - config.g);
  line_ = config.max_rate > 0 ? std::min(config.max_rate, line) : line;
  rate_ = target_ = initial > 0 ? std::min(initial, line_) : line_;
  alpha_ = config.initial_alpha;
  byte_limit_ = config.byte_reset;
}

void ReactionPoint::set_due() {
  next_due_ = next_increase_;
  if (cut_cnp_) next_due_ = std::min(next_due_, next_cut_);
}

double ReactionPoint::peer_alpha(const DcqcnConfig& config, std::int64_t now) const {
  double alpha = peer_alpha_;
  if (!active_ || now < next_alpha_) return alpha;
  const double g = static_cast<double>(config.g) / static_cast<double>(kAlphaOne);
  std::int64_t ticks = (now - next_alpha_) / config.alpha_period.raw() + 1;
  if (alpha_cnp_) {
    alpha = (1 - g) * alpha + g;
    --ticks;
  }
  for (; ticks > 0 && alpha > 1e-12; --ticks)
    alpha = (1 - g) * alpha;
  return alpha;
}

std::int64_t ReactionPoint::alpha_at(const DcqcnConfig& config, std::int64_t now) const {
  if (config.variant == DcqcnVariant::kHpccNs3)
    return static_cast<std::int64_t>(peer_alpha(config, now) * static_cast<double>(kAlphaOne));
  if (!active_ || now < next_alpha_) return alpha_;
  std::int64_t ticks = (now - next_alpha_) / config.alpha_period.raw() + 1;
  std::int64_t alpha = alpha_;
  if (alpha_cnp_) {
    alpha = std::min(decayed(config, alpha, 1) + config.g, kAlphaOne);
    --ticks;
  }
  return decayed(config, alpha, ticks);
}

void ReactionPoint::advance_alpha(const DcqcnConfig& config, std::int64_t to) {
  if (to < next_alpha_) return;
  if (config.variant == DcqcnVariant::kHpccNs3)
    peer_alpha_ = peer_alpha(config, to);
  else
    alpha_ = alpha_at(config, to);
  next_alpha_ += ((to - next_alpha_) / config.alpha_period.raw() + 1) * config.alpha_period.raw();
  alpha_cnp_ = false;
}

void ReactionPoint::advance(const DcqcnConfig& config, std::int64_t now) {
  while (next_due_ <= now) {
    const std::int64_t at = next_due_;
    // The two clocks share a grid where T is a multiple of the window: the peer's timer, set long
    // before, goes first; here a cut forestalls the increase.
    const bool timer_first = config.variant == DcqcnVariant::kHpccNs3 && next_increase_ == at;
    if (cut_cnp_ && next_cut_ == at && !timer_first)
      cut(config, at);
    else
      timer_event(config, at);
    set_due();
  }
}

void ReactionPoint::on_cnp_paper(const DcqcnConfig& config, std::int64_t now) {
  if (active_) advance_alpha(config, now);
  const bool new_alpha_first = config.variant == DcqcnVariant::kPaperNs3;
  const std::int64_t raised = decayed(config, alpha_, 1) + config.g;
  if (config.clamp_target || timer_stage_ > 0 || byte_stage_ > 0) target_ = rate_;
  rate_ = std::max(config.min_rate, halved_by(rate_, new_alpha_first ? raised : alpha_));
  alpha_ = raised;
  active_ = true;
  ++cuts_;
  timer_stage_ = byte_stage_ = 0;
  bytes_ = 0;
  byte_limit_ = config.byte_reset;
  next_alpha_ = now + config.alpha_period.raw();
  next_increase_ = now + config.increase_period.raw();
  set_due();
}

void ReactionPoint::on_cnp(const DcqcnConfig& config, std::int64_t now) {
  if (config.variant == DcqcnVariant::kOff) return;
  if (now >= next_due_) advance(config, now);
  if (config.variant == DcqcnVariant::kPaper || config.variant == DcqcnVariant::kPaperNs3) {
    on_cnp_paper(config, now);
    return;
  }
  const bool peer = config.variant == DcqcnVariant::kHpccNs3;
  if (!active_) {
    active_ = true;
    next_alpha_ = now + config.alpha_period.raw();
    // The peer adds 1 ns "to make sure rate decrease is after alpha update".
    next_cut_ = now + config.cut_period.raw() + (peer ? 1'000 : 0);
    if (!peer) next_increase_ = now + config.increase_period.raw();
    if (config.first_cnp_rate > 0) rate_ = target_ = std::min(config.first_cnp_rate, line_);
    alpha_cnp_ = !peer;
  } else {
    advance_alpha(config, config.cnp_before_tick ? now - 1 : now);
    alpha_cnp_ = true;
    if (now >= next_cut_)
      next_cut_ += ((now - next_cut_) / config.cut_period.raw() + 1) * config.cut_period.raw();
  }
  cut_cnp_ = true;
  set_due();
}

void ReactionPoint::cut(const DcqcnConfig& config, std::int64_t at) {
  advance_alpha(config, at);
  if (config.variant == DcqcnVariant::kHpccNs3) {
    if (config.clamp_target || timer_stage_ > 0) target_ = rate_;
    const double left = static_cast<double>(rate_) * (1 - peer_alpha_ / 2);
    rate_ = std::max(config.min_rate, static_cast<std::int64_t>(left));
  } else {
    if (config.clamp_target || byte_stage_ > 0 || (config.clamp_after_timer && timer_stage_ > 0))
      target_ = rate_;
    // alpha in 1024ths >> gd is alpha / 2 for gd = 11 (mstflint; range 10..11).
    const auto by_alpha = static_cast<std::int64_t>(
        (Int128{rate_} * (alpha_ / (kAlphaOne >> 20U)) >> config.gd) / 1024);
    const std::int64_t at_most = rate_ * (100 - config.min_dec_percent) / 100;
    rate_ = std::max(config.min_rate, rate_ - std::min(by_alpha, at_most));
  }
  ++cuts_;
  cut_cnp_ = false;
  timer_stage_ = byte_stage_ = 0;
  bytes_ = 0;
  next_cut_ = at + config.cut_period.raw();
  next_increase_ = at + config.increase_period.raw();
}

void ReactionPoint::timer_event(const DcqcnConfig& config, std::int64_t at) {
  const bool counts_first =
      config.variant == DcqcnVariant::kPaper || config.variant == DcqcnVariant::kPaperNs3;
  if (counts_first) ++timer_stage_;
  increase(config);
  if (!counts_first) ++timer_stage_;
  std::int64_t period = config.increase_period.raw();
  if (config.variant == DcqcnVariant::kPaperNs3 &&
      std::min(timer_stage_, byte_stage_) >= config.threshold)
    period /= 2;
  next_increase_ = at + period;
}

void ReactionPoint::byte_event(const DcqcnConfig& config) {
  const bool counts_first =
      config.variant == DcqcnVariant::kPaper || config.variant == DcqcnVariant::kPaperNs3;
  bytes_ -= byte_limit_;
  if (counts_first) ++byte_stage_;
  increase(config);
  if (!counts_first) ++byte_stage_;
  const bool halved = config.variant == DcqcnVariant::kPaperNs3 &&
                      std::min(timer_stage_, byte_stage_) >= config.threshold;
  byte_limit_ = halved ? config.byte_reset / 2 : config.byte_reset;
}

void ReactionPoint::increase(const DcqcnConfig& config) {
  const std::uint32_t low = std::min(timer_stage_, byte_stage_);
  const std::uint32_t high = std::max(timer_stage_, byte_stage_);
  const std::uint32_t f = config.threshold;
  switch (config.variant) {
    case DcqcnVariant::kOff: return;
    case DcqcnVariant::kPaper:
      if (low > f)
        target_ += std::int64_t{low - f + 1} * config.hai_rate;
      else if (high >= f)
        target_ += config.ai_rate;
      break;
    case DcqcnVariant::kPaperNs3:
      if (low >= f)
        target_ += std::int64_t{low - f + 1} * config.hai_rate;
      else if (high >= f)
        target_ += config.ai_rate;
      if (high == 1 && target_ > 10 * rate_) target_ /= 8;  // a relic of QCN (theory.md §1.3)
      break;
    case DcqcnVariant::kConnectX:
      if (low > f)
        target_ += config.hai_rate;
      else if (high >= f)
        target_ += config.ai_rate;
      break;
    case DcqcnVariant::kHpccNs3:
      if (timer_stage_ > f)
        target_ += config.hai_rate;
      else if (timer_stage_ == f)
        target_ += config.ai_rate;
      break;
  }
  target_ = std::min(target_, line_);
  // The peer halves each rate by itself, and loses half a bit a second when one is odd.
  rate_ =
      config.variant == DcqcnVariant::kHpccNs3 ? rate_ / 2 + target_ / 2 : (rate_ + target_) / 2;
}

}  // namespace weir::sim

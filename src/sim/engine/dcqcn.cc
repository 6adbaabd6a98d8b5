#include "sim/engine/dcqcn.h"

#include <algorithm>

#include "base/check.h"
#include "sim/fabric/network.h"

namespace weir::sim {
namespace {

constexpr std::int64_t scaled(std::int64_t alpha, std::int64_t factor) {
  return alpha * factor / kAlphaOne;
}

/// Alpha after `ticks` quiet periods.
std::int64_t decayed(const DcqcnConfig& config, std::int64_t alpha, std::int64_t ticks) {
  if (config.variant == DcqcnVariant::kConnectx && config.alpha_extra_bits < 20) {
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
  DcqcnConfig config;  // the members' own defaults are ConnectX's
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

void ReactionPoint::start(std::int64_t line, std::int64_t initial) {
  WEIR_CHECK(config_.decay[0] == kAlphaOne - config_.g);
  line_ = config_.max_rate > 0 ? std::min(config_.max_rate, line) : line;
  rate_ = target_ = initial > 0 ? std::min(initial, line_) : line_;
  alpha_ = config_.initial_alpha;
  byte_limit_ = config_.byte_reset;
}

void ReactionPoint::activate() {
  active_ = true;
  counts_bytes_ = config_.byte_reset != 0;
}

void ReactionPoint::set_due() {
  next_due_ = next_increase_;
  if (cut_cnp_) next_due_ = std::min(next_due_, next_cut_);
}

double ReactionPoint::peer_alpha(std::int64_t now) const {
  double alpha = peer_alpha_;
  if (!active_ || now < next_alpha_) return alpha;
  const double g = static_cast<double>(config_.g) / static_cast<double>(kAlphaOne);
  std::int64_t ticks = (now - next_alpha_) / config_.alpha_period.raw() + 1;
  if (alpha_cnp_) {
    alpha = (1 - g) * alpha + g;
    --ticks;
  }
  for (; ticks > 0 && alpha > 1e-12; --ticks)
    alpha = (1 - g) * alpha;
  return alpha;
}

std::int64_t ReactionPoint::alpha_at(std::int64_t now) const {
  if (config_.variant == DcqcnVariant::kHpccNs3)
    return static_cast<std::int64_t>(peer_alpha(now) * static_cast<double>(kAlphaOne));
  if (!active_ || now < next_alpha_) return alpha_;
  std::int64_t ticks = (now - next_alpha_) / config_.alpha_period.raw() + 1;
  std::int64_t alpha = alpha_;
  if (alpha_cnp_) {
    alpha = std::min(decayed(config_, alpha, 1) + config_.g, kAlphaOne);
    --ticks;
  }
  return decayed(config_, alpha, ticks);
}

void ReactionPoint::advance_alpha(std::int64_t to) {
  if (to < next_alpha_) return;
  if (config_.variant == DcqcnVariant::kHpccNs3)
    peer_alpha_ = peer_alpha(to);
  else
    alpha_ = alpha_at(to);
  next_alpha_ += ((to - next_alpha_) / config_.alpha_period.raw() + 1) * config_.alpha_period.raw();
  alpha_cnp_ = false;
}

void ReactionPoint::advance(std::int64_t now) {
  while (next_due_ <= now) {
    const std::int64_t at = next_due_;
    // The two clocks share a grid where T is a multiple of the window: the peer's timer, set long
    // before, goes first; here a cut forestalls the increase.
    const bool timer_first = config_.variant == DcqcnVariant::kHpccNs3 && next_increase_ == at;
    if (cut_cnp_ && next_cut_ == at && !timer_first)
      cut(at);
    else
      timer_event(at);
    set_due();
  }
}

void ReactionPoint::on_cnp_paper(std::int64_t now) {
  if (active_) advance_alpha(now);
  const bool new_alpha_first = config_.variant == DcqcnVariant::kPaperNs3;
  const std::int64_t raised = decayed(config_, alpha_, 1) + config_.g;
  if (config_.clamp_target || timer_stage_ > 0 || byte_stage_ > 0) target_ = rate_;
  rate_ = std::max(config_.min_rate, halved_by(rate_, new_alpha_first ? raised : alpha_));
  alpha_ = raised;
  activate();
  ++cuts_;
  timer_stage_ = byte_stage_ = 0;
  bytes_ = 0;
  byte_limit_ = config_.byte_reset;
  next_alpha_ = now + config_.alpha_period.raw();
  next_increase_ = now + config_.increase_period.raw();
  set_due();
}

void ReactionPoint::on_cnp(std::int64_t now) {
  if (now >= next_due_) advance(now);
  if (config_.variant == DcqcnVariant::kPaper || config_.variant == DcqcnVariant::kPaperNs3) {
    on_cnp_paper(now);
    return;
  }
  const bool peer = config_.variant == DcqcnVariant::kHpccNs3;
  if (!active_) {
    activate();
    next_alpha_ = now + config_.alpha_period.raw();
    // The peer adds 1 ns "to make sure rate decrease is after alpha update".
    next_cut_ = now + config_.cut_period.raw() + (peer ? 1'000 : 0);
    if (!peer) next_increase_ = now + config_.increase_period.raw();
    if (config_.first_cnp_rate > 0) rate_ = target_ = std::min(config_.first_cnp_rate, line_);
    alpha_cnp_ = !peer;
  } else {
    advance_alpha(config_.cnp_before_tick ? now - 1 : now);
    alpha_cnp_ = true;
    if (now >= next_cut_)
      next_cut_ += ((now - next_cut_) / config_.cut_period.raw() + 1) * config_.cut_period.raw();
  }
  cut_cnp_ = true;
  set_due();
}

void ReactionPoint::cut(std::int64_t at) {
  advance_alpha(at);
  if (config_.variant == DcqcnVariant::kHpccNs3) {
    if (config_.clamp_target || timer_stage_ > 0) target_ = rate_;
    const double left = static_cast<double>(rate_) * (1 - peer_alpha_ / 2);
    rate_ = std::max(config_.min_rate, static_cast<std::int64_t>(left));
  } else {
    if (config_.clamp_target || byte_stage_ > 0 || (config_.clamp_after_timer && timer_stage_ > 0))
      target_ = rate_;
    // alpha in 1024ths >> gd is alpha / 2 for gd = 11 (mstflint; range 10..11).
    const auto by_alpha = static_cast<std::int64_t>(
        (Int128{rate_} * (alpha_ / (kAlphaOne >> 20U)) >> config_.gd) / 1024);
    const std::int64_t at_most = rate_ * (100 - config_.min_dec_percent) / 100;
    rate_ = std::max(config_.min_rate, rate_ - std::min(by_alpha, at_most));
  }
  ++cuts_;
  cut_cnp_ = false;
  timer_stage_ = byte_stage_ = 0;
  bytes_ = 0;
  next_cut_ = at + config_.cut_period.raw();
  next_increase_ = at + config_.increase_period.raw();
}

void ReactionPoint::timer_event(std::int64_t at) {
  const bool counts_first =
      config_.variant == DcqcnVariant::kPaper || config_.variant == DcqcnVariant::kPaperNs3;
  if (counts_first) ++timer_stage_;
  increase();
  if (!counts_first) ++timer_stage_;
  std::int64_t period = config_.increase_period.raw();
  if (config_.variant == DcqcnVariant::kPaperNs3 &&
      std::min(timer_stage_, byte_stage_) >= config_.threshold)
    period /= 2;
  next_increase_ = at + period;
}

void ReactionPoint::on_byte_limit() {
  const bool counts_first =
      config_.variant == DcqcnVariant::kPaper || config_.variant == DcqcnVariant::kPaperNs3;
  bytes_ -= byte_limit_;
  if (counts_first) ++byte_stage_;
  increase();
  if (!counts_first) ++byte_stage_;
  const bool halved = config_.variant == DcqcnVariant::kPaperNs3 &&
                      std::min(timer_stage_, byte_stage_) >= config_.threshold;
  byte_limit_ = halved ? config_.byte_reset / 2 : config_.byte_reset;
}

void ReactionPoint::increase() {
  const std::uint32_t low = std::min(timer_stage_, byte_stage_);
  const std::uint32_t high = std::max(timer_stage_, byte_stage_);
  const std::uint32_t f = config_.threshold;
  switch (config_.variant) {
    case DcqcnVariant::kPaper:
      if (low > f)
        target_ += std::int64_t{low - f + 1} * config_.hai_rate;
      else if (high >= f)
        target_ += config_.ai_rate;
      break;
    case DcqcnVariant::kPaperNs3:
      if (low >= f)
        target_ += std::int64_t{low - f + 1} * config_.hai_rate;
      else if (high >= f)
        target_ += config_.ai_rate;
      if (high == 1 && target_ > 10 * rate_) target_ /= 8;  // a relic of QCN
      break;
    case DcqcnVariant::kConnectx:
      if (low > f)
        target_ += config_.hai_rate;
      else if (high >= f)
        target_ += config_.ai_rate;
      break;
    case DcqcnVariant::kHpccNs3:
      if (timer_stage_ > f)
        target_ += config_.hai_rate;
      else if (timer_stage_ == f)
        target_ += config_.ai_rate;
      break;
  }
  target_ = std::min(target_, line_);
  // The peer halves each rate by itself, and loses half a bit a second when one is odd.
  rate_ =
      config_.variant == DcqcnVariant::kHpccNs3 ? rate_ / 2 + target_ / 2 : (rate_ + target_) / 2;
}

std::unique_ptr<CongestionControl> make_dcqcn(const NicConfig& nic) {
  return std::make_unique<ReactionPoint>(nic.dcqcn);
}

}  // namespace weir::sim

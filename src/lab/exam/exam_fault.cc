#include "lab/exam/exam_fault.h"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "base/check.h"
#include "units/qos_code.h"

namespace weir::lab {
namespace {

using design::Intent;
using design::NicIntent;

struct Drawing {
  Dice& dice;
  const Question& question;
  const std::string& receiver;

  [[nodiscard]] const Intent& intent() const { return question.intent; }
  [[nodiscard]] const NicIntent& nic() const { return intent().hosts.front().nics.front(); }
  [[nodiscard]] Dscp dscp() const { return dscp_of(nic().traffic_class); }
  [[nodiscard]] unsigned rdma() const { return nic().dscp_to_priority.at(dscp().value()).value(); }
};

/// Every second time the receiver of the incast: elsewhere many faults would have no effect.
std::string host(const Drawing& d) {
  if (!d.receiver.empty() && d.dice.one_in(2)) return d.receiver;
  return d.intent().hosts[d.dice.below(d.intent().hosts.size())].name;
}

std::string any_switch(const Drawing& d) {
  return d.intent().switches[d.dice.below(d.intent().switches.size())].name;
}

/// ",at=leaf1", or nothing: everywhere.
std::string switch_or_all(const Drawing& d) {
  return d.dice.one_in(2) ? ",at=" + any_switch(d) : std::string();
}

unsigned other_priority(const Drawing& d) {
  unsigned out = static_cast<unsigned>(d.dice.below(7));
  if (out >= d.rdma()) ++out;
  return out;
}

/// 2 to 20 times the designed thresholds, or 1/2 to 1/20 of them.
std::string thresholds(const Drawing& d, bool is_low) {
  const double factor = is_low ? 1 / d.dice.spread(2, 20) : d.dice.spread(2, 20);
  const design::SwitchPortIntent* base = nullptr;
  for (const design::SwitchIntent& device : d.intent().switches)
    for (const design::SwitchPortIntent& port : device.ports)
      if (base == nullptr || (port.wred.min < base->wred.min) == is_low) base = &port;
  WEIR_CHECK(base != nullptr);
  const auto scaled = [&](Bytes bytes) {
    return std::llround(static_cast<double>(bytes.raw()) * factor);
  };
  return fmt::format("{},min={}B,max={}B", switch_or_all(d), scaled(base->wred.min),
                     scaled(base->wred.max));
}

std::string link(const Drawing& d) {
  const design::SwitchIntent& at = d.intent().switches[d.dice.below(d.intent().switches.size())];
  return fmt::format("{}/{}", at.name, at.ports[d.dice.below(at.ports.size())].name);
}

std::uint64_t moment_us(const Drawing& d) {
  const auto span = static_cast<std::uint64_t>(d.question.span.raw() / 1'000'000);
  return d.dice.between(0, span / 3);
}

std::string from_text(const Drawing& d) {
  return d.dice.one_in(3) ? fmt::format(",from={}us", moment_us(d)) : std::string();
}

std::string marking_fault(const Drawing& d, const std::string& kind) {
  if (kind == "wrong-dscp") {
    constexpr std::array kCodes = {0U, 8U, 10U, 14U, 18U, 34U, 56U};
    unsigned code = d.dice.pick(kCodes);
    while (code == d.dscp().value() / 4)  // that is wrong-tc: the DSCP typed as a TOS byte
      code = d.dice.pick(kCodes);
    return fmt::format(",at={},dscp={}", host(d), code);
  }
  if (kind == "wrong-nic-map") {
    const unsigned priority = other_priority(d);
    return fmt::format(",at={},priority={}", host(d), priority);
  }
  if (kind == "switch-wrong-map") {
    const unsigned priority = other_priority(d);
    return fmt::format(",at={},priority={}", any_switch(d), priority);
  }
  if (kind == "shared-queue") {
    constexpr std::array kOthers = {6U, 6U, 4U,
                                    0U};  // CNPs (twice as likely), storage, best effort
    const unsigned priority = d.dice.pick(kOthers);
    return fmt::format("{},priority={}", switch_or_all(d), priority);
  }
  if (kind == "wrong-mtu") {
    constexpr std::array kMtus = {1500, 1500, 1280, 2000};
    const int mtu = d.dice.pick(kMtus);
    return fmt::format(",at={},mtu={}B", host(d), mtu);
  }
  return ",at=" + host(d);  // wrong-trust, wrong-tc, tcp-fallback
}

std::string buffer_fault(const Drawing& d, const std::string& kind) {
  if (kind == "wrong-pfc-priority") {
    // It has an effect only at a host that sends, so not at the receiver of the incast.
    std::string at = host(d);
    while (at == d.receiver)
      at = host(d);
    return fmt::format(",at={},priority={}", at, other_priority(d));
  }
  if (kind == "pfc-too-wide") {
    // Of hosts and switches. On one switch alone it is a setting that no counter shows; the throw
    // is kept, so that a seed stays the same question.
    static_cast<void>(switch_or_all(d));
    return "";
  }
  if (kind == "headroom-too-small" || kind == "pool-too-small") {
    const bool is_pool = kind == "pool-too-small";
    const std::uint64_t percent = d.dice.between(is_pool ? 1 : 30, is_pool ? 20 : 90);
    return fmt::format("{},share={}%", switch_or_all(d), percent);
  }
  const std::string from = from_text(d);
  if (kind == "nic-pause-storm") return fmt::format(",at={}{}", host(d), from);
  WEIR_CHECK(kind == "slow-receiver");
  const auto line_mbps = static_cast<std::uint64_t>(d.nic().speed.raw() / 1'000'000);
  const std::uint64_t percent = d.dice.between(20, 80);
  return fmt::format(",at={},rate={}Mbps{}", host(d), line_mbps * percent / 100, from);
}

std::string congestion_fault(const Drawing& d, const std::string& kind) {
  const auto host_or_all = [&] { return d.dice.one_in(2) ? ",at=" + host(d) : std::string(); };
  if (kind == "np-off" || kind == "rp-off") return ",at=" + host(d);
  if (kind == "ecn-too-low") return thresholds(d, true);
  if (kind == "ecn-too-high") return thresholds(d, false);
  if (kind == "dcqcn-rate-ai") {
    const auto line_mbps = static_cast<double>(d.nic().speed.raw()) / 1e6;
    const auto step_mbps = std::llround(line_mbps / d.dice.spread(5, 50));
    return fmt::format("{},rate={}Mbps", host_or_all(), step_mbps);
  }
  const std::uint64_t period_us = d.dice.between(1000, 20'000);
  return fmt::format("{},period={}us", host_or_all(), period_us);
}

/// A frame loss of 1e-6 to 1e-3, as a bit error ratio.
std::string errors(const Drawing& d) {
  const double loss = d.dice.spread(1e-6, 1e-3);
  const auto bits = static_cast<double>(d.nic().rdma_mtu.raw() + 82) * 8;
  return fmt::format(",at={},ber={:.3e}", link(d), loss / bits);
}

std::string path_fault(const Drawing& d, const std::string& kind) {
  if (kind == "routing-loop" || kind == "bounce-routing") {
    std::vector<std::string> names;
    for (const design::SwitchIntent& device : d.intent().switches)
      if (device.tier == 1 || kind == "routing-loop") names.push_back(device.name);
    std::string out = ",at=" + names[d.dice.below(names.size())];
    return kind == "routing-loop" ? out + ",to=" + host(d) : out;
  }
  if (kind == "same-hash-seed" || kind == "reordering") return {};
  if (kind == "degraded-link") return errors(d);
  if (kind == "few-receives") {
    const std::uint64_t repost_us = d.dice.between(100, 1000);
    const std::uint64_t receives = d.dice.between(1, 4);
    return fmt::format(",at={},receives={},repost={}us", host(d), receives, repost_us);
  }
  WEIR_CHECK(kind == "link-down" || kind == "switch-down");
  const std::uint64_t from = moment_us(d);
  const std::uint64_t reroute_us = d.dice.between(20, 100);
  std::string out = fmt::format(",at={},from={}us,reroute={}us",
                                kind == "link-down" ? link(d) : any_switch(d), from, reroute_us);
  if (!d.dice.one_in(3)) out += fmt::format(",until={}us", from + d.dice.between(50, 400));
  return out;
}

}  // namespace

double Dice::spread(double low, double high) {
  constexpr std::uint64_t kSteps = 1'000'000;
  const double share = static_cast<double>(below(kSteps)) / static_cast<double>(kSteps);
  return low * std::pow(high / low, share);
}

std::string drawn_fault(Dice& dice, const std::string& kind, const Question& question,
                        const std::string& receiver) {
  const Drawing d{dice, question, receiver};
  constexpr std::array kMarking = {"wrong-trust",      "wrong-dscp",  "wrong-tc",
                                   "wrong-nic-map",    "wrong-mtu",   "tcp-fallback",
                                   "switch-wrong-map", "shared-queue"};
  constexpr std::array kBuffers = {"wrong-pfc-priority", "pfc-too-wide",    "headroom-too-small",
                                   "pool-too-small",     "nic-pause-storm", "slow-receiver"};
  constexpr std::array kControl = {"np-off",       "rp-off",        "ecn-too-low",
                                   "ecn-too-high", "dcqcn-rate-ai", "dcqcn-alpha-period"};
  const auto is_in = [&](const auto& names) {
    return std::find(names.begin(), names.end(), kind) != names.end();
  };
  if (is_in(kMarking)) return kind + marking_fault(d, kind);
  if (is_in(kBuffers)) return kind + buffer_fault(d, kind);
  if (is_in(kControl)) return kind + congestion_fault(d, kind);
  return kind + path_fault(d, kind);
}

}  // namespace weir::lab

#include "lab/rehearsal/rehearsal_guesses.h"

#include <algorithm>
#include <array>
#include <cmath>

#include <fmt/format.h>

#include "base/check.h"

namespace weir::lab {
namespace {

using design::Intent;
using design::SwitchIntent;
using diagnose::View;

/// What was read of settings: a fault that would show in them is none.
struct KnownParameters {
  bool host_parameters = false;
  bool switch_settings = false;
  bool has_switches = false;
};

KnownParameters known_in(const View& view) {
  KnownParameters out;
  out.has_switches = !view.ports().empty();
  for (const diagnose::NicView& nic : view.nics())
    out.host_parameters =
        out.host_parameters || (nic.facts != nullptr && nic.facts->ecn.parameters.is_known());
  for (const diagnose::PortView& port : view.ports())
    out.switch_settings = out.switch_settings ||
                          (port.device != nullptr && port.device->dscp_to_tc.is_known()) ||
                          (port.facts != nullptr && !port.facts->queues.empty());
  return out;
}

/// Faults of one kind, everywhere or place by place.
class List {
 public:
  List(const Intent& intent, const Suspects* suspects) : intent_(intent), suspects_(suspects) {}

  /// `rest` gives what stands behind the place.
  template <class Rest>
  void at_switches(std::string_view kind, std::string_view id, std::string_view words,
                   const Rest& rest) {
    if (suspects_ == nullptr) {
      out_.push_back({fmt::format("{}{}", kind, rest(intent_.switches.front())), id, words, {}});
    } else if (intent_.switches.size() > 1) {
      at_one_switch(kind, id, words, rest);
    }
  }

  template <class Rest>
  void at_one_switch(std::string_view kind, std::string_view id, std::string_view words,
                     const Rest& rest) {
    if (suspects_ == nullptr) return;
    for (const SwitchIntent& one : intent_.switches) {
      const auto& among = suspects_->switches;
      if (std::find(among.begin(), among.end(), one.name) == among.end()) continue;
      finding::Where where;
      where.switch_name = one.name;
      out_.push_back({fmt::format("{},at={}{}", kind, one.name, rest(one)), id, words, where});
    }
  }

  void at_hosts(std::string_view kind, std::string_view id, std::string_view words,
                const std::string& rest) {
    if (suspects_ == nullptr) {
      out_.push_back({fmt::format("{}{}", kind, rest), id, words, {}});
      return;
    }
    at_one_host(kind, id, words, rest);
  }

  void at_one_host(std::string_view kind, std::string_view id, std::string_view words,
                   const std::string& rest) {
    if (suspects_ == nullptr) return;
    for (const std::string& name : suspects_->hosts) {
      finding::Where where;
      where.host = name;
      out_.push_back({fmt::format("{},at={}{}", kind, name, rest), id, words, where});
    }
  }

  void everywhere(std::string_view fault, std::string_view id, std::string_view words) {
    if (suspects_ == nullptr) out_.push_back({std::string(fault), id, words, {}});
  }

  [[nodiscard]] std::vector<Guess> take() { return std::move(out_); }

 private:
  const Intent& intent_;
  const Suspects* suspects_;  // null: everywhere
  std::vector<Guess> out_;
};

std::string scaled_thresholds(const SwitchIntent& at, double factor) {
  const design::WredIntent& wred = at.ports.front().wred;
  const auto scaled = [&](Bytes bytes) {
    return std::max(1LL, std::llround(static_cast<double>(bytes.raw()) * factor));
  };
  return fmt::format(",min={}B,max={}B", scaled(wred.min), scaled(wred.max));
}

void add_marking(Sizes sizes, List& out) {
  const auto factors = sizes == Sizes::kFew ? std::vector{2.7, 9.0} : std::vector{5.0, 16.0};
  for (const double factor : factors) {
    out.at_switches("ecn-too-low", "ecn.thresholds_too_low", "marking thresholds that are too low",
                    [&](const SwitchIntent& at) { return scaled_thresholds(at, 1 / factor); });
    out.at_switches("ecn-too-high", "ecn.thresholds_too_high",
                    "marking thresholds that are too high",
                    [&](const SwitchIntent& at) { return scaled_thresholds(at, factor); });
  }
}

void add_senders(const Intent& intent, Sizes sizes, List& out) {
  const bool is_few = sizes == Sizes::kFew;
  // Of the line, each step of additive increase.
  const auto shares = is_few ? std::vector{7, 22} : std::vector{12, 40};
  const std::int64_t line = intent.hosts.front().nics.front().speed.raw() / 1'000'000;
  for (const int share : shares)
    out.at_hosts("dcqcn-rate-ai", "dcqcn.too_aggressive",
                 "senders that come back too fast (rpg_ai_rate)",
                 fmt::format(",rate={}Mbps", std::max<std::int64_t>(1, line / share)));
  const auto periods = is_few ? std::vector{5000} : std::vector{1500, 15'000};
  for (const int period : periods)
    out.at_hosts("dcqcn-alpha-period", "dcqcn.too_conservative",
                 "senders that come back too slowly (dce_tcp_rtt)",
                 fmt::format(",period={}us", period));
}

/// Switches of two tiers have paths to choose between.
bool has_paths(const Intent& intent) {
  return std::any_of(intent.switches.begin(), intent.switches.end(),
                     [](const SwitchIntent& one) { return one.tier > 1; });
}

void add_of_unseen_switches(const View& view, Sizes sizes, List& out) {
  const auto share = [](std::string_view text) {
    return [text](const SwitchIntent&) { return fmt::format(",share={}", text); };
  };
  const bool is_few = sizes == Sizes::kFew;
  out.at_switches("pool-too-small", "buffer.too_small", "a shared buffer that is too small",
                  share(is_few ? "6%" : "2%"));
  out.at_switches("headroom-too-small", "headroom.too_small", "headroom that is too small",
                  share(is_few ? "60%" : "40%"));
  if (!is_few) return;
  const unsigned other = view.rdma() == 0 ? 1 : 0;
  out.at_one_switch("switch-wrong-map", "dscp.unmapped_hop",
                    "a switch that puts RDMA into a lossy class",
                    [&](const SwitchIntent&) { return fmt::format(",priority={}", other); });
}

std::vector<Guess> guesses_for(const View& view, const Suspects* suspects, Sizes sizes) {
  WEIR_CHECK(view.intent() != nullptr);
  const Intent& intent = *view.intent();
  if (intent.switches.empty() || intent.hosts.empty()) return {};
  const KnownParameters known = known_in(view);
  List out(intent, suspects);
  if (!known.host_parameters) {
    add_senders(intent, sizes, out);
    if (sizes == Sizes::kFew)
      out.at_one_host("wrong-mtu", "mtu.mismatch", "an MTU that is too small", ",mtu=1500B");
  }
  if (known.switch_settings) return out.take();
  add_marking(sizes, out);
  if (!known.has_switches) add_of_unseen_switches(view, sizes, out);
  if (sizes == Sizes::kBetween) return out.take();  // the others have no size
  out.at_switches("shared-queue", "class.shared_queue", "CNPs that share RDMA's queue",
                  [&](const SwitchIntent&) { return fmt::format(",priority={}", view.cnp()); });
  if (has_paths(intent)) {
    out.everywhere("same-hash-seed", "ecmp.polarised", "switches that all hash alike");
    out.at_one_switch("bounce-routing", "routing.cyclic_buffer_dependency",
                      "packets that are sent up again after they came down",
                      [](const SwitchIntent&) { return std::string(); });
  }
  return out.take();
}

}  // namespace

std::vector<Guess> guesses_everywhere(const View& view, Sizes sizes) {
  return guesses_for(view, nullptr, sizes);
}

std::vector<Guess> guesses_at(const View& view, const Suspects& suspects, Sizes sizes) {
  return guesses_for(view, &suspects, sizes);
}

std::string kind_of_fault(const std::string& fault) {
  return fault.substr(0, fault.find(','));
}

std::vector<std::string> faults_behind(const finding::Finding& finding, const Intent& intent) {
  const std::int64_t line = intent.hosts.front().nics.front().speed.raw() / 1'000'000;
  const auto rates = [&] {
    std::vector<std::string> out;
    for (const int percent : {25, 35, 45, 60, 75})
      out.push_back(fmt::format(",rate={}Mbps", line * percent / 100));
    return out;
  };
  const auto thresholds = [&](std::initializer_list<double> factors) {
    std::vector<std::string> out;
    for (const double factor : factors)
      out.push_back(scaled_thresholds(intent.switches.front(), factor));
    return out;
  };
  struct Row {
    std::string_view id;
    std::string_view fault;
    std::vector<std::string> sizes = {""};
    bool is_everywhere = false;
  };
  const std::vector<Row> rows = {
      {"trust.not_dscp", "wrong-trust"},
      {"nccl.socket_fallback", "tcp-fallback"},
      {"np.disabled", "np-off"},
      {"rp.disabled", "rp-off"},
      {"dscp.tos_confusion", "wrong-tc"},
      {"dscp.unmarked", "wrong-dscp"},
      {"dscp.nic_map_wrong", "wrong-nic-map"},
      {"dscp.unmapped_hop", "switch-wrong-map"},
      {"class.shared_queue", "shared-queue"},
      {"cnp.shares_rdma_priority", "shared-queue"},
      {"mtu.mismatch", "wrong-mtu"},
      {"pfc.wrong_priority", "wrong-pfc-priority"},
      {"pfc.multiple_priorities", "pfc-too-wide", {""}, true},
      {"path.reordering", "reordering", {""}, true},
      {"ecmp.same_seed", "same-hash-seed", {""}, true},
      {"ecmp.polarised", "same-hash-seed", {""}, true},
      {"routing.cyclic_buffer_dependency", "bounce-routing"},
      {"receiver.slow", "slow-receiver", rates()},
      {"pfc.storm", "nic-pause-storm"},
      {"buffer.too_small", "pool-too-small", {",share=2%", ",share=4%", ",share=8%", ",share=16%"}},
      {"headroom.too_small",
       "headroom-too-small",
       {",share=33%", ",share=45%", ",share=60%", ",share=80%"}},
      {"ecn.thresholds_too_low", "ecn-too-low", thresholds({1 / 2.7, 1 / 5.0, 1 / 9.0, 1 / 16.0})},
      {"ecn.thresholds_too_high", "ecn-too-high", thresholds({2.7, 5.0, 9.0, 16.0})},
  };
  std::vector<std::string> out;
  const std::string& at =
      finding.where.host.empty() ? finding.where.switch_name : finding.where.host;
  for (const Row& row : rows)
    if (row.id == finding.id)
      for (const std::string& size : row.sizes)
        out.push_back(fmt::format("{}{}{}", row.fault,
                                  row.is_everywhere || at.empty() ? "" : ",at=" + at, size));
  return out;
}

}  // namespace weir::lab

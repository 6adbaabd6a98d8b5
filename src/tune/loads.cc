#include "tune/loads.h"

#include <algorithm>

#include <fmt/format.h>

#include "units/format.h"

namespace weir::tune {
namespace {

constexpr std::size_t kMostSenders = 15;  // of an incast nobody asked for

/// Parameters of a workload's text: commas within brackets belong to a pattern.
std::vector<std::string> parameters_of(std::string_view text) {
  std::vector<std::string> out(1);
  int depth = 0;
  for (const char c : text) {
    depth += c == '[' ? 1 : c == ']' ? -1 : 0;
    if (c == ',' && depth == 0) {
      out.emplace_back();
    } else {
      out.back() += c;
    }
  }
  return out;
}

std::string half_of(Bytes size) {
  return to_text(Bytes::raw(std::max<std::int64_t>(size.raw() / 2, 1)));
}

std::string half_of_load(Share load) {
  return to_text(Share::raw(std::max<std::int64_t>(load.raw() / 2, 10'000)));
}

}  // namespace

std::string with_parameters(std::string_view load,
                            const std::vector<std::pair<std::string, std::string>>& values) {
  std::vector<std::string> parts = parameters_of(load);
  for (const auto& value : values) {
    const std::string key = value.first + "=";
    const auto found = std::find_if(parts.begin() + 1, parts.end(),
                                    [&](const std::string& part) { return part.starts_with(key); });
    if (found == parts.end()) {
      parts.push_back(key + value.second);
    } else {
      *found = key + value.second;
    }
  }
  std::string out;
  for (const std::string& part : parts)
    out += (out.empty() ? "" : ",") + part;
  return out;
}

std::vector<std::string> usual_loads(const design::Intent& intent) {
  const std::size_t senders = std::clamp<std::size_t>(intent.hosts.size() - 1, 1, kMostSenders);
  return {fmt::format("incast,senders={},size=20MB", senders),
          fmt::format("incast,senders={},size=2MB", senders), "permutation,size=4MB",
          "flows,sizes=websearch,load=60%", "all-to-all,size=512KB"};
}

std::optional<std::string> held_out_of(const Load& load, const design::Intent& intent) {
  const sim::WorkloadSpec& spec = load.spec;
  const std::size_t hosts = intent.hosts.size();
  switch (spec.kind) {
    case sim::WorkloadKind::kPair:
      return with_parameters(load.text, {{"size", half_of(spec.size)}});
    case sim::WorkloadKind::kIncast: {
      // With hosts of its own choice the incast keeps its receiver: another may not be among them.
      const std::size_t senders = spec.senders == 0 ? hosts - 1 : spec.senders;
      if (senders < 4) return with_parameters(load.text, {{"size", half_of(spec.size)}});
      const std::string fewer = std::to_string((senders + 1) / 2);
      if (!spec.hosts.empty() || !spec.to.empty())
        return with_parameters(load.text, {{"senders", fewer}});
      return with_parameters(load.text, {{"senders", fewer}, {"to", intent.hosts.back().name}});
    }
    case sim::WorkloadKind::kPermutation:
      return with_parameters(load.text, {{"shift", spec.shift == 0 ? "1" : "random"}});
    case sim::WorkloadKind::kAllReduce:
      return with_parameters(load.text,
                             {{"algo", spec.algorithm == sim::Algorithm::kRing ? "tree" : "ring"}});
    case sim::WorkloadKind::kAllToAll:
    case sim::WorkloadKind::kAllGather:
    case sim::WorkloadKind::kReduceScatter:
    case sim::WorkloadKind::kTraining:
      return with_parameters(load.text, {{"size", half_of(spec.size)}});
    case sim::WorkloadKind::kFlows:
    case sim::WorkloadKind::kStorage:
    case sim::WorkloadKind::kLossy:
      return with_parameters(load.text, {{"load", half_of_load(spec.load)}});
    case sim::WorkloadKind::kTrace:
    case sim::WorkloadKind::kModel:
    case sim::WorkloadKind::kSimai:
    case sim::WorkloadKind::kChakra:
    case sim::WorkloadKind::kNcclTests: return std::nullopt;
  }
  WEIR_UNREACHABLE("every workload has a neighbour, or none");
}

}  // namespace weir::tune

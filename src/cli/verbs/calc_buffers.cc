// weir calc buffers: a switch's memory, from the total down to what dynamic thresholds divide, for
// the design's profile and, beside it, for every other.
#include <algorithm>

#include <fmt/format.h>

#include "base/table.h"
#include "base/text.h"
#include "cli/frame/commands.h"
#include "cli/frame/design_input.h"
#include "cli/json/calc_json.h"
#include "ops/fabric/calc.h"
#include "units/format.h"

namespace weir::cli {
namespace {

constexpr std::size_t kWidth = 100;

std::string in_bytes(Bytes bytes) {
  return with_thousands(bytes.raw());
}

std::string names_text(const std::vector<std::string>& names) {
  if (names.size() <= 3) return join(names, ", ");
  return fmt::format("{}, {} and {} more", names[0], names[1], names.size() - 2);
}

std::string buffers_verdict(const ops::BufferAnswer& answer) {
  std::vector<std::string> bad;
  for (const ops::SwitchKind& kind : answer.kinds) {
    if (!answer.fits(kind)) bad.push_back(names_text(kind.names));
  }
  if (bad.empty()) {
    return fmt::format("Buffers of {}: pools and headroom fit on every switch.",
                       answer.fabric.design.file);
  }
  return fmt::format("Buffers of {}: pools or headroom do not fit on {}.",
                     answer.fabric.design.file, join(bad, "; "));
}

std::string limit_text(const std::optional<model::EcnBound>& bound) {
  return bound ? in_bytes(bound->largest_min_threshold) : std::string("-");
}

std::string buffer_table(const design::SwitchIntent& node, const model::BufferPlan& plan) {
  TextTable table({"term", "bytes", ""}, {Align::kLeft, Align::kRight, Align::kLeft});
  for (const model::Term& term : plan.terms)
    table.add_row({term.name, in_bytes(term.bytes), term.why});
  table.add_row({"what remains", in_bytes(plan.lossless_shared), "shared by the lossless queues"});
  table.add_row({"", "", ""});
  table.add_row({"XOFF, one queue", in_bytes(plan.xoff_one), "with one congested priority group"});
  table.add_row(
      {"XOFF, all queues", in_bytes(plan.xoff_all), "with every lossless group congested"});
  if (plan.ecn_bound) {
    table.add_row(
        {"ECN limit", limit_text(plan.ecn_bound),
         "largest WRED min that marks before PFC on every mix: " + plan.ecn_bound->formula});
  }
  if (!node.ports.empty()) {
    table.add_row({"WRED min", in_bytes(node.ports.front().wred.min),
                   fmt::format("the design's, at {}", to_text(node.ports.front().speed))});
  }
  if (const model::VendorPool* pool = model::find_vendor_pool(node.asic->name)) {
    table.add_row(
        {"vendor's pool", in_bytes(pool->shared), fmt::format("{}: {}", pool->box, pool->source)});
  }
  return table.to_text(2, kWidth);
}

std::string variants_table(const ops::SwitchKind& kind, const std::string& chosen) {
  TextTable table(
      {"profile", "alpha", "headroom", "shared", "XOFF one", "XOFF all", "ECN limit", ""},
      {Align::kLeft, Align::kRight, Align::kRight, Align::kRight, Align::kRight, Align::kRight,
       Align::kRight, Align::kLeft});
  for (const ops::BufferVariant& variant : kind.variants) {
    const std::string mark = variant.profile->name == chosen ? "the design's" : "";
    if (!variant.plan) {
      table.add_row({std::string(variant.profile->name), to_text(variant.profile->alpha), "-", "-",
                     "-", "-", "-", "the pools do not add up"});
      continue;
    }
    const model::BufferPlan& plan = *variant.plan;
    table.add_row({std::string(variant.profile->name), to_text(variant.profile->alpha),
                   in_bytes(plan.headroom), in_bytes(plan.lossless_shared), in_bytes(plan.xoff_one),
                   in_bytes(plan.xoff_all), limit_text(plan.ecn_bound), mark});
  }
  return table.to_text(2);
}

void print(const ops::BufferAnswer& answer, Context& context) {
  const bool all_fit = std::all_of(answer.kinds.begin(), answer.kinds.end(),
                                   [&](const auto& kind) { return answer.fits(kind); });
  context.out << paint(context, all_fit ? Tone::kStrong : Tone::kBad, buffers_verdict(answer))
              << '\n';
  if (context.quiet) return;
  for (const ops::SwitchKind& kind : answer.kinds) {
    const design::SwitchIntent& node = answer.first_of(kind);
    const std::string threshold = node.buffers.threshold == design::Threshold::kStatic
                                      ? "static XOFF"
                                      : "dynamic XOFF, alpha " + to_text(node.buffers.alpha);
    context.out << fmt::format("\n{}: {}, {} of buffer, {} ports, profile {}, {}\n\n",
                               names_text(kind.names), node.asic->title,
                               approximate(node.buffers.total), node.ports.size(), answer.profile,
                               threshold);
    if (node.buffers.plan) {
      context.out << buffer_table(node, *node.buffers.plan);
    } else {
      context.out << "  The pools add up to more than the buffer: see weir lint.\n";
    }
    context.out << '\n' << variants_table(kind, answer.profile);
  }
  context.out << "\nprofiles:\n";
  for (const model::BufferProfile& profile : model::buffer_profiles()) {
    context.out << "  " << profile.name << ": "
                << hang(profile.delta, kWidth - profile.name.size() - 4, profile.name.size() + 4)
                << '\n';
  }
}

ExitCode run_buffers(const Args& args, Context& context) {
  const auto path = design_path(args, context);
  if (!path) return fail(context, args.command(), path.error());
  const auto answer = ops::calc_buffers(*path);
  if (!answer) return fail(context, args.command(), answer.error());
  if (context.json) {
    print_buffers_json(context, args.command(), *answer, buffers_verdict(*answer));
  } else {
    print(*answer, context);
  }
  return ExitCode::kOk;
}

}  // namespace

Command calc_buffers_command() {
  return {
      .name = "calc buffers",
      .group = Group::kOperators,
      .summary = "switch buffers: pools, headroom, XOFF, what is shared",
      .description =
          "Divides the memory of each kind of switch: pools, guarantees, headroom of every port, "
          "what "
          "the lossless queues share, XOFF with one and with all queues congested, and the largest "
          "ECN threshold that still marks before PFC pauses.",
      .arguments = {design_argument()},
      .examples = {{"weir calc buffers", "./fabric.yaml"},
                   {"weir calc buffers pod16.yaml --json", "for a program"}},
      .exit_codes = {ExitCode::kOk, ExitCode::kBadInput},
      .looks = Looks::kAtFiles,
      .run = run_buffers,
  };
}

}  // namespace weir::cli

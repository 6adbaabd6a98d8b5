// weir calc buffers: a switch's memory, from the total down to what dynamic thresholds divide, for
// the design's profile and, beside it, for every other.
#include <algorithm>
#include <tuple>

#include <fmt/format.h>

#include "base/json.h"
#include "base/table.h"
#include "base/text.h"
#include "cli/frame/commands.h"
#include "cli/frame/transition.h"
#include "cli/json/object.h"
#include "design/file/load.h"
#include "model/buffers.h"
#include "units/format.h"

namespace weir::cli {
namespace {

constexpr std::size_t kWidth = 100;

// What a profile makes of a switch; no plan where its pools do not add up.
struct Variant {
  const model::BufferProfile* profile;
  std::optional<model::BufferPlan> plan;
};

// Switches that share one arithmetic: of a group, with the same ports.
struct SwitchKind {
  std::vector<std::string> names;
  const design::SwitchIntent* first = nullptr;
  std::size_t index = 0;  // of `first` in the intent
  std::vector<Variant> variants;
};

struct Answer {
  const DesignInput* input = nullptr;
  std::vector<SwitchKind> kinds;
};

auto kind_key(const design::SwitchIntent& intent) {
  const auto& plan = intent.buffers.plan;
  return std::tuple(intent.group, intent.ports.size(), intent.buffers.total,
                    plan ? plan->headroom_sum : Bytes(), plan ? plan->lossless_shared : Bytes());
}

std::vector<SwitchKind> kinds_of(const design::Intent& intent) {
  std::vector<SwitchKind> kinds;
  for (std::size_t i = 0; i < intent.switches.size(); ++i) {
    const design::SwitchIntent& one = intent.switches[i];
    const auto same = std::find_if(kinds.begin(), kinds.end(), [&](const SwitchKind& kind) {
      return kind_key(*kind.first) == kind_key(one);
    });
    if (same == kinds.end()) {
      kinds.push_back({{one.name}, &one, i, {}});
    } else {
      same->names.push_back(one.name);
    }
  }
  return kinds;
}

// The whole design derived again under each profile: headroom margins and pools follow from it.
void add_variants(const DesignInput& input, std::vector<SwitchKind>& kinds) {
  for (const model::BufferProfile& profile : model::buffer_profiles()) {
    design::Design changed = input.design;
    const Status status = design::set_value(changed, "buffers.profile", profile.name);
    const design::Derived derived = status ? design::derive(changed) : design::Derived{};
    const bool is_usable = status.has_value() && derived.errors.empty();
    for (SwitchKind& kind : kinds) {
      kind.variants.push_back(
          {&profile, is_usable ? derived.intent.switches[kind.index].buffers.plan : std::nullopt});
    }
  }
}

Answer judge(const DesignInput& input) {
  Answer answer{&input, kinds_of(input.intent)};
  add_variants(input, answer.kinds);
  return answer;
}

std::string in_bytes(Bytes bytes) {
  return with_thousands(bytes.raw());
}

std::string names_text(const std::vector<std::string>& names) {
  if (names.size() <= 3) return join(names, ", ");
  return fmt::format("{}, {} and {} more", names[0], names[1], names.size() - 2);
}

bool fits(const SwitchKind& kind) {
  const auto& plan = kind.first->buffers.plan;
  return plan && plan->fits();
}

std::string verdict(const Answer& answer) {
  std::vector<std::string> bad;
  for (const SwitchKind& kind : answer.kinds) {
    if (!fits(kind)) bad.push_back(names_text(kind.names));
  }
  if (bad.empty()) {
    return fmt::format("Buffers of {}: pools and headroom fit on every switch.",
                       answer.input->design.file);
  }
  return fmt::format("Buffers of {}: pools or headroom do not fit on {}.",
                     answer.input->design.file, join(bad, "; "));
}

std::string limit_text(const std::optional<model::EcnBound>& bound) {
  return bound ? in_bytes(bound->largest_min_threshold) : std::string("-");
}

std::string plan_table(const design::SwitchIntent& one, const model::BufferPlan& plan) {
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
  if (!one.ports.empty()) {
    table.add_row({"WRED min", in_bytes(one.ports.front().wred.min),
                   fmt::format("the design's, at {}", to_text(one.ports.front().speed))});
  }
  if (const model::VendorPool* pool = model::find_vendor_pool(one.asic->name)) {
    table.add_row(
        {"vendor's pool", in_bytes(pool->shared), fmt::format("{}: {}", pool->box, pool->source)});
  }
  return table.to_text(2, kWidth);
}

std::string variants_table(const SwitchKind& kind, const std::string& chosen) {
  TextTable table(
      {"profile", "alpha", "headroom", "shared", "XOFF one", "XOFF all", "ECN limit", ""},
      {Align::kLeft, Align::kRight, Align::kRight, Align::kRight, Align::kRight, Align::kRight,
       Align::kRight, Align::kLeft});
  for (const Variant& variant : kind.variants) {
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

std::string profile_of(const DesignInput& input) {
  for (const model::BufferProfile& profile : model::buffer_profiles()) {
    design::Design changed = input.design;
    if (!design::set_value(changed, "buffers.profile", profile.name)) continue;
    if (*changed.buffers.profile == *input.design.buffers.profile) return std::string(profile.name);
  }
  WEIR_UNREACHABLE("every profile of the design is one of the model's");
}

void print(const Answer& answer, Context& context) {
  const bool all_fit = std::all_of(answer.kinds.begin(), answer.kinds.end(), fits);
  context.out << paint(context, all_fit ? Tone::kStrong : Tone::kBad, verdict(answer)) << '\n';
  if (context.quiet) return;
  const std::string profile = profile_of(*answer.input);
  for (const SwitchKind& kind : answer.kinds) {
    const design::SwitchIntent& one = *kind.first;
    const std::string threshold = one.buffers.threshold == design::Threshold::kStatic
                                      ? "static XOFF"
                                      : "dynamic XOFF, alpha " + to_text(one.buffers.alpha);
    context.out << fmt::format(
        "\n{}: {}, {} of buffer, {} ports, profile {}, {}\n\n", names_text(kind.names),
        one.asic->title, approximate(one.buffers.total), one.ports.size(), profile, threshold);
    if (one.buffers.plan) {
      context.out << plan_table(one, *one.buffers.plan);
    } else {
      context.out << "  The pools add up to more than the buffer: see weir lint.\n";
    }
    context.out << '\n' << variants_table(kind, profile);
  }
  context.out << "\nprofiles:\n";
  for (const model::BufferProfile& one : model::buffer_profiles()) {
    context.out << "  " << one.name << ": "
                << hang(one.delta, kWidth - one.name.size() - 4, one.name.size() + 4) << '\n';
  }
}

Json to_json(const model::BufferPlan& plan) {
  Json terms = Json::array();
  for (const model::Term& term : plan.terms)
    terms.push_back({{"name", term.name}, {"bytes", term.bytes.raw()}, {"why", term.why}});
  Json object = {{"fits", plan.fits()},
                 {"pools",
                  {{"lossless_bytes", plan.lossless_pool.raw()},
                   {"lossy_bytes", plan.lossy_pool.raw()},
                   {"storage_bytes", plan.storage_pool.raw()},
                   {"reserved_bytes", plan.reserved_pool.raw()},
                   {"unassigned_bytes", plan.unassigned.raw()}}},
                 {"headroom_sum_bytes", plan.headroom_sum.raw()},
                 {"headroom_bytes", plan.headroom.raw()},
                 {"reserved_used_bytes", plan.reserved_used.raw()},
                 {"shared_bytes", plan.lossless_shared.raw()},
                 {"xoff_one_bytes", plan.xoff_one.raw()},
                 {"xoff_all_bytes", plan.xoff_all.raw()},
                 {"terms", std::move(terms)}};
  if (plan.ecn_bound) object["ecn_limit_bytes"] = plan.ecn_bound->largest_min_threshold.raw();
  return object;
}

Json to_json(const SwitchKind& kind, const std::string& profile) {
  const design::SwitchIntent& one = *kind.first;
  Json object = {{"names", kind.names},       {"asic", one.asic->name},
                 {"ports", one.ports.size()}, {"total_bytes", one.buffers.total.raw()},
                 {"profile", profile},        {"alpha", to_text(one.buffers.alpha)}};
  object["plan"] = one.buffers.plan ? to_json(*one.buffers.plan) : Json();
  object["profiles"] = Json::array();
  for (const Variant& variant : kind.variants) {
    object["profiles"].push_back({{"name", variant.profile->name},
                                  {"plan", variant.plan ? to_json(*variant.plan) : Json()}});
  }
  return object;
}

Json to_json(const Answer& answer, Json object) {
  object["verdict"] = verdict(answer);
  object["design"] = answer.input->design.file;
  const std::string profile = profile_of(*answer.input);
  object["switches"] = Json::array();
  for (const SwitchKind& kind : answer.kinds)
    object["switches"].push_back(to_json(kind, profile));
  return object;
}

ExitCode run_buffers(const Args& args, Context& context) {
  ExitCode code = ExitCode::kOk;
  const auto input = load_design(args, context, code);
  if (!input) return code;
  if (input->intent.switches.empty()) {
    return fail(context, ExitCode::kBadInput,
                fmt::format("{} has no switches, so there is no buffer", input->design.file));
  }
  const Answer answer = judge(*input);
  if (context.json) {
    print_json(context, to_json(answer, json_object(args.command())));
  } else {
    print(answer, context);
  }
  return ExitCode::kOk;
}

}  // namespace

Command calc_buffers_command() {
  return {
      .name = "calc buffers",
      .group = Group::kOperators,
      .summary = "the switches' buffer: pools, headroom, XOFF, what remains",
      .description =
          "From the memory of each kind of switch down to what the lossless queues share: pools, "
          "guarantees, headroom of every port, where XOFF lies with one and with all queues "
          "congested, and the largest ECN threshold that still marks before PFC pauses.",
      .arguments = {design_argument()},
      .examples = {{"weir calc buffers", "./fabric.yaml"},
                   {"weir calc buffers pod16.yaml --json", "for a program"}},
      .exit_codes = {ExitCode::kOk, ExitCode::kBadInput},
      .rows = {"F3"},
      .run = run_buffers,
  };
}

}  // namespace weir::cli

// weir show: every rail as it is, on one screen; no design needed.
#include <algorithm>

#include <fmt/format.h>

#include "base/json.h"
#include "base/table.h"
#include "cli/frame/commands.h"
#include "cli/frame/host_input.h"
#include "diagnose/core/convention.h"
#include "evidence/json.h"
#include "render/text/host_screen.h"

namespace weir::cli {
namespace {

/// What of a host is not as the usual convention has it. What could not be read is not wrong.
std::vector<std::vector<evidence::Deviation>> wrong_of(const evidence::Evidence& host,
                                                       const design::Intent& convention) {
  std::vector<std::vector<evidence::Deviation>> wrong;
  for (const evidence::Nic& nic : host.nics) {
    if (nic.link_layer.is(evidence::LinkLayer::kInfiniband)) {
      wrong.emplace_back();  // nothing of the convention is there
      continue;
    }
    std::vector<evidence::Deviation> all =
        evidence::deviations(nic, diagnose::conventional_nic(nic), convention);
    std::erase_if(all, [](const evidence::Deviation& one) { return one.missing.has_value(); });
    wrong.push_back(std::move(all));
  }
  return wrong;
}

Json host_json(const evidence::Evidence& host,
               const std::vector<std::vector<evidence::Deviation>>& wrong) {
  evidence::Evidence facts = host;
  facts.snapshots.clear();
  Json list = Json::array();
  for (std::size_t i = 0; i < wrong.size(); ++i) {
    for (const evidence::Deviation& one : wrong[i])
      list.push_back({{"device", host.nics[i].device},
                      {"setting", evidence::to_text(one.setting)},
                      {"item", one.item},
                      {"usual", one.expected},
                      {"found", one.found}});
  }
  Json object = {{"host", host.provenance.host},
                 {"simulated", host.provenance.simulated},
                 {"wrong", std::move(list)}};
  const Json document = evidence::to_json(facts);
  for (const auto& [key, value] : document.items())
    if (key != "schema" && key != "host") object[key] = value;
  object["nics"] = document["nics"];
  return object;
}

/// Settings of the convention that could not be read.
std::size_t unknown_of(const evidence::Evidence& host, const design::Intent& convention) {
  std::size_t count = 0;
  for (const evidence::Nic& nic : host.nics) {
    if (nic.link_layer.is(evidence::LinkLayer::kInfiniband)) continue;
    const auto all = evidence::deviations(nic, diagnose::conventional_nic(nic), convention);
    count += static_cast<std::size_t>(
        std::count_if(all.begin(), all.end(), [&](const evidence::Deviation& one) {
          return one.missing.has_value() && !evidence::cannot_be_wrong(one, nic);
        }));
  }
  return count;
}

std::string verdict_of(const Observation& seen, std::size_t wrong_nics, std::size_t unknown) {
  const std::string what =
      fmt::format("{}, {}{}", counted(seen.hosts.size(), "host"), counted(seen.nic_count(), "rail"),
                  simulated_word(seen.is_simulated()));
  if (seen.nic_count() == 0) return fmt::format("{}: no RDMA device.", what);
  const std::string open =
      unknown == 0 ? "" : fmt::format("; {} could not be read", counted(unknown, "setting"));
  if (wrong_nics == 0)
    return fmt::format("{}: nothing looks wrong by the usual convention{}.", what, open);
  if (wrong_nics == seen.nic_count())
    return fmt::format(
        "{}: no rail is as the usual convention has it (! here; weir check lists all){}.", what,
        open);
  return fmt::format("{}: {} not as the usual convention has it (! here; weir check lists all){}.",
                     what, wrong_nics == 1 ? "1 rail is" : fmt::format("{} rails are", wrong_nics),
                     open);
}

/// Every fact below `json`, a row each: what it is, or why it is not known and where it would be.
void add_facts(const Json& json, const std::string& name, TextTable& table) {
  if (!json.is_object()) return;
  const bool is_known = json.contains("value");
  if (json.contains("source") && (is_known || json.contains("missing"))) {
    const Json& value = is_known ? json.at("value") : json.at("missing");
    const std::string text = value.is_string() ? value.get<std::string>() : value.dump();
    table.add_row(
        {name,
         is_known ? text : fmt::format("({}: {})", text, json.at("source").get<std::string>())});
    return;
  }
  for (const auto& [key, value] : json.items())
    add_facts(value, name.empty() ? key : fmt::format("{}.{}", name, key), table);
}

void print_facts(const Observation& seen, Context& context) {
  const auto print = [&](const std::string& title, const Json& json) {
    TextTable table({"fact", "value"});
    add_facts(json, "", table);
    context.out << fmt::format("\n{}\n", title) << table.to_text(2, 100);
  };
  for (const evidence::Evidence& host : seen.hosts) {
    const Json document = evidence::to_json(host);
    print(host.provenance.host, document.at("host"));
    for (const Json& nic : document.at("nics"))
      print(fmt::format("{} {}", host.provenance.host, nic.at("device").get<std::string>()), nic);
    for (const Json& gpu : document.at("gpus"))
      print(fmt::format("{} GPU {}", host.provenance.host, gpu.at("index").get<unsigned>()), gpu);
    for (const Json& one : document.at("distances")) {
      print(fmt::format("{} {} and GPU {}", host.provenance.host, one.at("nic").get<std::string>(),
                        one.at("gpu").get<unsigned>()),
            one);
    }
  }
}

ExitCode run_show(const Args& args, Context& context) {
  ExitCode code = ExitCode::kOk;
  const auto set = open_hosts(args, context, code);
  if (!set) return code;
  const Observation seen = observe(*set, context);
  if (seen.hosts.empty())
    return fail(context, ExitCode::kCouldNotLook, "no host could be looked at");
  const design::Intent convention = diagnose::conventional_intent(seen.hosts);
  std::vector<render::ScreenHost> screen;
  Json hosts = Json::array();
  std::size_t wrong_nics = 0;
  std::size_t unknown = 0;
  for (const evidence::Evidence& host : seen.hosts) {
    const auto wrong = wrong_of(host, convention);
    unknown += unknown_of(host, convention);
    render::ScreenHost row{&host, {}};
    for (const auto& deviations : wrong) {
      wrong_nics += deviations.empty() ? 0 : 1;
      row.wrong.emplace_back();
      for (const evidence::Deviation& one : deviations)
        row.wrong.back().push_back(one.setting);
    }
    screen.push_back(std::move(row));
    if (context.json) hosts.push_back(host_json(host, wrong));
  }
  const std::string verdict = verdict_of(seen, wrong_nics, unknown);
  const std::vector<std::string> next = {
      fmt::format("{}{}", wrong_nics > 0 ? "weir check" : "weir validate", set->flag())};
  if (context.json) {
    Json object = json_object(args.command());
    object["verdict"] = verdict;
    object["hosts"] = std::move(hosts);
    object["unknown_settings"] = unknown;
    object["unseen"] = seen.unseen;
    object["next"] = next;
    print_json(context, object);
    return seen.completeness();
  }
  context.out << verdict << '\n';
  if (context.quiet) return seen.completeness();
  context.out << '\n' << render::host_screen(screen, {.colour = context.colour});
  if (args.has("facts")) print_facts(seen, context);
  print_gaps(seen, context);
  context.out << "\nnext:\n  " << next.front() << '\n';
  return seen.completeness();
}

}  // namespace

Command show_command() {
  return {
      .name = "show",
      .group = Group::kOperators,
      .summary = "every rail as it is, on one screen; no design needed",
      .description =
          "A row a rail: link, driver, trust, the priority of the RDMA and CNP code points, PFC, "
          "802.3x pause, ECN on both sides, GID, MTU (interface/RDMA), forced traffic class, and "
          "the pauses and CNPs counted so far. What looks wrong ends with a '!', what could not be "
          "read is a '?'. Hosts that show the same are told once.",
      .options =
          with_host_options({{.name = "facts", .help = "every fact too, or why it is not known"}}),
      .examples = {{"weir show", "this machine"},
                   {"weir show --facts --root gpu03.bundle", "all that a bundle knows"},
                   {"weir show --lab lab", "all hosts of a lab"},
                   {"weir show --lab lab --host gpu03", "one of them"}},
      .exit_codes = {ExitCode::kOk, ExitCode::kBadInput, ExitCode::kCouldNotLook,
                     ExitCode::kPartial},
      .rows = {"C11"},
      .run = run_show,
  };
}

}  // namespace weir::cli

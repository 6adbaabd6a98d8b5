#pragma once
// The models of `plan`, `apply`, `rollback` and `confirm` for programs.
#include <string>
#include <string_view>
#include <vector>

#include "cli/frame/command.h"
#include "ops/change/apply.h"
#include "ops/change/fleet_change.h"
#include "ops/change/waves.h"

namespace weir::cli {

void print_plan_json(Context&, const Command&, const ops::Plan&, std::string_view verdict,
                     const std::vector<std::string>& next);
void print_applied_json(Context&, const Command&, const ops::Transaction&, const ops::Applied&,
                        std::string_view verdict, const std::vector<std::string>& next);
/// An apply in waves: the hosts of each, and why it ended.
void print_waves_json(Context&, const Command&, const ops::Waves& done, const std::string& design,
                      const std::vector<std::string>& unseen, std::string_view verdict,
                      const std::vector<std::string>& next);
void print_rollback_json(Context&, const Command&, const host::StoredJournal&,
                         const host::Rollback&, const std::vector<host::ChangedSince>& since,
                         std::string_view verdict);
void print_nothing_to_roll_back_json(Context&, const Command&, std::string_view verdict);
void print_confirmed_json(Context&, const Command&, std::string_view verdict,
                          ops::ConfirmState state);
/// A rollback or a confirmation on a fleet: what each host answered.
void print_fleet_change_json(Context&, const Command&, const ops::FleetChange& done,
                             std::string_view verdict, const std::vector<std::string>& next);

}  // namespace weir::cli

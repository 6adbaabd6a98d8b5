// How RDMA packets are marked, and DCQCN: CNPs, its parameters, notification and reaction.
#include <algorithm>

#include <fmt/format.h>

#include "base/text.h"
#include "design/tables/nic_knobs.h"
#include "evidence/settings/row.h"

namespace weir::evidence {
namespace {

using vocab::SetCmTos;
using vocab::SetCnpMarking;
using vocab::SetEcn;
using vocab::SetKnob;
using vocab::SetTrafficClass;

constexpr std::string_view kMarkingFiles =
    "/sys/class/infiniband/<device>/tc and configfs; as root";
constexpr std::string_view kEcnFiles =
    "/sys/class/net/<netdev>/ecn (vendor driver) or debugfs cc_params; as root";

std::string write_line(std::int64_t value, const std::string& path) {
  return fmt::format("echo {} > {}", value, path);
}
std::string ecn_file(const CommandPort& port, std::string_view point, std::string_view file) {
  return fmt::format("/sys/class/net/{}/ecn/{}/{}", port.netdev, point, file);
}
std::string debugfs_file(const CommandPort& port, std::string_view file) {
  return fmt::format("/sys/kernel/debug/mlx5/{}/cc_params/{}", port.pci, file);
}
std::string_view point_of(const design::NicKnob& knob) {
  return knob.is_notification_point ? "roce_np" : "roce_rp";
}

// ---- the TOS byte ----

Fact<SettingValue> found_cm_tos(const SettingValue& /*like*/, const Nic& nic) {
  return value_of<SetCmTos>(nic.rdma.cm_tos);
}

/// By its DSCP: the ECN bits are the NIC's.
void compare_cm_tos(const NicCase& c, std::vector<Deviation>& out) {
  const SetCmTos wanted{c.wanted.rdma_cm_tos};
  const Fact<TosByte>& now = c.nic.rdma.cm_tos;
  if (!now.is_known()) return out.push_back(not_read(wanted, why_unknown(now)));
  if (dscp_of(*now) != dscp_of(wanted.tos)) out.push_back(differs(wanted, SetCmTos{*now}));
}

Lines cm_tos_commands(const SetCmTos& value, const CommandPort& port, const Nic&) {
  const unsigned tos = value.tos.value();
  if (port.is_ofed)
    return {fmt::format("cma_roce_tos -d {} -p {} -t {}", port.device, port.number, tos)};
  const std::string folder = "/sys/kernel/config/rdma_cm/" + port.device;
  return {"mkdir -p " + folder,
          write_line(tos, fmt::format("{}/ports/{}/default_roce_tos", folder, port.number))};
}

std::string dscp_word(TosByte tos) {
  return fmt::format("DSCP {}", dscp_of(tos).value());
}

void cm_tos_rail(RailScript& script) {
  const std::string port = script.device + "/1";
  script.settle("RDMA-CM TOS", dscp_word(script.nic.rdma_cm_tos), "read_cm_dscp", port,
                fmt::format("set_cm_tos {} {}", port, script.nic.rdma_cm_tos.value()));
}

constexpr std::string_view kCmTosShell =
    R"sh(# Connections made through RDMA-CM that name no TOS of their own. The directory only shows
# the value: it is made to read it, and removed again. The NIC sets the ECN bits.
cm_path() { echo "$root/sys/kernel/config/rdma_cm/${1%/*}"; }
with_cm() {
  path=$(cm_path "$1") made=no
  [ -d "$(dirname "$path")" ] || return 1
  if [ ! -d "$path" ]; then mkdir "$path" 2>/dev/null && made=yes; fi
  shift
  "$@"
  status=$?
  [ "$made" = yes ] && rmdir "$path" 2>/dev/null
  return "$status"
}
cm_file() { echo "$(cm_path "$1")/ports/${1#*/}/default_roce_tos"; }
read_cm_dscp() {
  tos=$(with_cm "$1" cat "$(cm_file "$1")") && [ -n "$tos" ] && echo "DSCP $((tos / 4))"
}
set_cm_tos() { with_cm "$1" put "$2" "$(cm_file "$1")"; }

)sh";

Fact<SettingValue> found_forced(const SettingValue& /*like*/, const Nic& nic) {
  return value_of<SetTrafficClass>(nic.rdma.traffic_class);
}

/// Right where it is the designed class, or where it is not forced and need not be.
void compare_forced(const NicCase& c, std::vector<Deviation>& out) {
  const SetTrafficClass wanted{c.wanted.traffic_class};
  const auto& forced = c.nic.rdma.traffic_class;
  if (!forced.is_known()) return out.push_back(not_read(wanted, why_unknown(forced)));
  const bool is_right = *forced ? dscp_of(**forced) == dscp_of(c.wanted.traffic_class)
                                : !c.wanted.force_traffic_class;
  if (!is_right) out.push_back(differs(wanted, SetTrafficClass{*forced}));
}

Lines forced_commands(const SetTrafficClass& value, const CommandPort& port, const Nic&) {
  if (!port.is_ofed) return {};
  return {write_line(
      value.tos ? static_cast<std::int64_t>(value.tos->value()) : -1,
      fmt::format("/sys/class/infiniband/{}/tc/{}/traffic_class", port.device, port.number))};
}

std::string_view forced_obstacle(const Nic& nic) {
  if (nic.stack.is(Stack::kOfed)) return {};
  return "only the vendor's driver can force it: let the jobs set it (NCCL_IB_TC, --tclass)";
}

void forced_rail(RailScript& script) {
  const std::string port = script.device + "/1";
  const std::string set = fmt::format("set_forced {} {}", port, script.nic.traffic_class.value());
  const std::string forced = dscp_word(script.nic.traffic_class);
  if (script.nic.force_traffic_class)
    return script.settle("forced traffic class", forced, "read_forced", port, set);
  script.line(fmt::format("if [ -n \"$(forced_dscp {})\" ]; then", port));
  script.indent = "    ";
  script.settle("forced traffic class", forced, "forced_dscp", port, set);
  script.indent = "  ";
  script.line("fi");
}

constexpr std::string_view kForcedShell =
    R"sh(# A traffic class forced on the port overrides every job. None is forced where none was;
# where one is, it must be the designed one.
forced_file() { echo "$root/sys/class/infiniband/${1%/*}/tc/${1#*/}/traffic_class"; }
forced_dscp() {
  [ -r "$(forced_file "$1")" ] &&
    awk -F= '/^Global tclass=/ { print "DSCP " int($2 / 4) }' "$(forced_file "$1")"
}
# As above, where the design asks for it.
read_forced() {
  [ -r "$(forced_file "$1")" ] || return 1
  forced=$(forced_dscp "$1")
  echo "${forced:-not forced}"
}
set_forced() { put "$2" "$(forced_file "$1")"; }

)sh";

// ---- DCQCN ----

std::string_view knob_obstacle(const Nic& nic) {
  if (nic.stack.is(Stack::kOfed) || may_be_mlx5(nic)) return {};
  return "this driver's congestion control has other knobs: use the vendor's tool";
}

std::optional<SettingValue> wanted_cnp(const NicCase& c) {
  return SetCnpMarking{c.wanted.cnp_dscp, c.wanted.cnp_priority};
}

Fact<SettingValue> found_cnp(const SettingValue& /*like*/, const Nic& nic) {
  return value_of<SetCnpMarking>(nic.ecn.cnp_dscp, nic.ecn.cnp_priority);
}

/// Soft-RoCE neither notifies nor reacts; without notification nothing is marked.
bool has_notification(const NicCase& c) {
  return driver_of(c.nic) != counters::Driver::kRxe && c.wanted.ecn_np != PrioritySet();
}

void compare_cnp(const NicCase& c, std::vector<Deviation>& out) {
  if (!has_notification(c)) return;
  const SettingValue wanted = *wanted_cnp(c);
  const Fact<Dscp>& dscp = c.nic.ecn.cnp_dscp;
  const Fact<Priority>& priority = c.nic.ecn.cnp_priority;
  const SetCnpMarking found{dscp.is_known() ? *dscp : Dscp(),
                            priority.is_known() ? *priority : Priority()};
  const auto compare = [&](const auto& now, const auto& designed, Part part) {
    if (!now.is_known()) return out.push_back(not_read(wanted, why_unknown(now), part));
    if (*now != designed) out.push_back(differs(wanted, found, part));
  };
  compare(dscp, c.wanted.cnp_dscp, Part{0, 0});
  compare(priority, c.wanted.cnp_priority, Part{1, 1});
}

Lines cnp_commands(const SetCnpMarking& value, const CommandPort& port, const Nic&) {
  if (!port.is_mlx5) return {};
  const bool is_ofed = port.is_ofed;
  return {write_line(value.dscp.value(), is_ofed ? ecn_file(port, "roce_np", "cnp_dscp")
                                                 : debugfs_file(port, "np_cnp_dscp")),
          write_line(value.priority.value(), is_ofed ? ecn_file(port, "roce_np", "cnp_802p_prio")
                                                     : debugfs_file(port, "np_cnp_prio"))};
}

void cnp_rail(RailScript& script) {
  if (script.nic.ecn_np == PrioritySet()) return;
  script.settle_knob("CNP DSCP", "roce_np/cnp_dscp", "np_cnp_dscp", script.nic.cnp_dscp.value());
  script.settle_knob("CNP priority", "roce_np/cnp_802p_prio", "np_cnp_prio",
                     script.nic.cnp_priority.value());
}

constexpr std::string_view kKnobShell =
    R"sh(# A DCQCN parameter: a file of the vendor's driver, else of debugfs.
knob_file() {
  interface=${1%%:*} rest=${1#*:}
  vendor=$root/sys/class/net/$interface/ecn/${rest%%:*}
  if [ -e "$vendor" ]; then
    echo "$vendor"
  else
    device=$(readlink "$root/sys/class/net/$interface/device")
    echo "$root/sys/kernel/debug/mlx5/${device##*/}/cc_params/${rest#*:}"
  fi
}
read_knob() { read_file "$(knob_file "$1")"; }
set_knob() { put "$2" "$(knob_file "$1")"; }

)sh";

/// CNP marking is a setting of its own: its two registers are not compared twice.
bool is_cnp_marking(std::string_view knob) {
  return knob == "cnp_dscp" || knob == "cnp_802p_prio";
}

Fact<SettingValue> found_knob(const SettingValue& like, const Nic& nic) {
  const auto& parameters = nic.ecn.parameters;
  if (!parameters.is_known())
    return Fact<SettingValue>::missing(why_unknown(parameters), parameters.source());
  const std::string& name = std::get<SetKnob>(like).name;
  const design::NicKnob* const knob = design::find_knob(name);
  for (const Parameter& parameter : *parameters) {
    if (design::find_knob(parameter.name) == knob)
      return Fact<SettingValue>::of(SetKnob{name, parameter.value}, parameters.source());
  }
  return Fact<SettingValue>::missing(Missing::kAbsent, parameters.source());
}

void compare_knobs(const NicCase& c, std::vector<Deviation>& out) {
  if (driver_of(c.nic) == counters::Driver::kRxe) return;
  if (c.intent.dcqcn.empty() || !may_be_mlx5(c.nic)) return;
  const auto& parameters = c.nic.ecn.parameters;
  if (!parameters.is_known()) return out.push_back(not_read(SetKnob{}, why_unknown(parameters)));
  for (const auto& [name, value] : c.intent.dcqcn) {
    if (design::find_knob(name) == nullptr || is_cnp_marking(name)) continue;
    const SetKnob wanted{name, value};
    const Fact<SettingValue> found = found_knob(wanted, c.nic);
    if (!found.is_known()) {
      out.push_back(not_read(wanted, found.why()));
    } else if (*found != SettingValue(wanted)) {
      out.push_back(differs(wanted, *found));
    }
  }
}

Lines knob_commands(const SetKnob& value, const CommandPort& port, const Nic&) {
  const design::NicKnob* const knob = design::find_knob(value.name);
  if (knob == nullptr || !port.is_mlx5) return {};
  return {write_line(value.value, port.is_ofed ? ecn_file(port, point_of(*knob), knob->name)
                                               : debugfs_file(port, knob->debugfs))};
}

void knob_rail(RailScript& script) {
  for (const auto& [name, value] : script.intent.dcqcn) {
    const design::NicKnob* const knob = design::find_knob(name);
    if (knob == nullptr || is_cnp_marking(name)) continue;
    // What the design does not state is the firmware's business: shown, not written.
    if (script.intent.dcqcn_stated.contains(name))
      script.settle_knob(name, fmt::format("{}/{}", point_of(*knob), knob->name), knob->debugfs,
                         value);
    else
      script.line(
          fmt::format("# left alone: {}/{}, {} by default", point_of(*knob), knob->name, value));
  }
}

// ---- ECN: notification and reaction ----

/// ECN that is on for more priorities than the design asks for does no harm and stays.
SetEcn wanted_ecn(const NicCase& c) {
  const auto with = [](PrioritySet asked, const Fact<PrioritySet>& now) {
    if (!now.is_known()) return asked;
    return PrioritySet::from_mask(static_cast<std::uint8_t>(asked.mask() | now->mask()));
  };
  return {.np = with(c.wanted.ecn_np, c.nic.ecn.np), .rp = with(c.wanted.ecn_rp, c.nic.ecn.rp)};
}

Fact<SettingValue> found_ecn(const SettingValue& /*like*/, const Nic& nic) {
  return value_of<SetEcn>(nic.ecn.np, nic.ecn.rp);
}

/// One half; both are in the values, as they are written together.
void compare_ecn(Setting half, const NicCase& c, PrioritySet asked, const Fact<PrioritySet>& now,
                 std::vector<Deviation>& out) {
  if (driver_of(c.nic) == counters::Driver::kRxe || asked == PrioritySet()) return;
  const Ecn& ecn = c.nic.ecn;
  const SetEcn wanted = wanted_ecn(c);
  const SetEcn found{.np = ecn.np.is_known() ? *ecn.np : PrioritySet(),
                     .rp = ecn.rp.is_known() ? *ecn.rp : PrioritySet()};
  if (!now.is_known()) {
    out.push_back(not_read(wanted, why_unknown(now)));
  } else if ((now->mask() & asked.mask()) != asked.mask()) {
    out.push_back(differs(wanted, found));
  } else {
    return;
  }
  out.back().setting = half;
}

Lines ecn_commands(const SetEcn& value, const CommandPort& port, const Nic& before) {
  if (!port.is_ofed) return {};
  Lines lines;
  const auto add = [&](std::string_view point, PrioritySet wanted, const Fact<PrioritySet>& found) {
    for (unsigned p = 0; p < 8; ++p) {
      const bool is_on = wanted.contains(Priority::of(p));
      if (found.is_known() && found->contains(Priority::of(p)) == is_on) continue;
      lines.push_back(
          write_line(is_on ? 1 : 0, ecn_file(port, point, fmt::format("enable/{}", p))));
    }
  };
  add("roce_np", value.np, before.ecn.np);
  add("roce_rp", value.rp, before.ecn.rp);
  return lines;
}

std::string_view ecn_obstacle(const Nic& nic) {
  if (nic.stack.is(Stack::kOfed)) return {};
  const counters::Driver driver = driver_of(nic);
  if (driver == counters::Driver::kBnxt)
    return "this driver's switch is another: enable_cc in debugfs bnxt_re/<pci>/cc_config, or "
           "niccli";
  if (driver == counters::Driver::kIrdma)
    return "this driver's switch is another: configfs irdma/<device>/roce_dcqcn_enable of Intel's "
           "own driver";
  if (driver == counters::Driver::kIonic)
    return "this driver has no switch for it: nicctl update dcqcn does it";
  return "this driver has no live switch for it: set ROCE_CC_PRIO_MASK_P1 with mstconfig and reset "
         "the firmware, or install the vendor's driver";
}

/// Only the firmware has a switch (ROCE_CC_PRIO_MASK) where the vendor's driver is not there.
void ecn_rail(RailScript& script) {
  const auto settle = [&](std::string_view what, std::string_view point, unsigned priority) {
    script.settle_knob(fmt::format("ECN {} of priority {}", what, priority),
                       fmt::format("{}/enable/{}", point, priority), "none", 1);
  };
  for (unsigned p = 0; p < 8; ++p) {
    if (script.nic.ecn_np.contains(Priority::of(p))) settle("notification", "roce_np", p);
    if (script.nic.ecn_rp.contains(Priority::of(p))) settle("reaction", "roce_rp", p);
  }
}

// ---- the table ----

constexpr auto kCongestionRows = std::to_array<SettingRow>({
    {.setting = Setting::kCmTos,
     .wanted = [](const NicCase& c) -> std::optional<SettingValue> {
       return SetCmTos{c.wanted.rdma_cm_tos};
     },
     .found = found_cm_tos,
     .compare = compare_cm_tos,
     .how_to_read = kMarkingFiles,
     .commands = Typed<cm_tos_commands>::commands,
     .script = {.common = kCmTosShell, .rail = cm_tos_rail}},
    {.setting = Setting::kTrafficClass,
     .wanted = [](const NicCase& c) -> std::optional<SettingValue> {
       return SetTrafficClass{c.wanted.traffic_class};
     },
     .found = found_forced,
     .compare = compare_forced,
     .how_to_read = kMarkingFiles,
     .commands = Typed<forced_commands>::commands,
     .obstacle = forced_obstacle,
     .script = {.common = kForcedShell, .rail = forced_rail}},
    {.setting = Setting::kCnpMarking,
     .wanted = wanted_cnp,
     .found = found_cnp,
     .compare = compare_cnp,
     .how_to_read = kEcnFiles,
     .commands = Typed<cnp_commands>::commands,
     .obstacle = knob_obstacle,
     .script = {.needs = ScriptNeeds::kDcqcn, .common = kKnobShell, .rail = cnp_rail}},
    {.setting = Setting::kKnob,
     .found = found_knob,
     .compare = compare_knobs,
     .severity = finding::Severity::kWarning,
     .how_to_read = kEcnFiles,
     .commands = Typed<knob_commands>::commands,
     .obstacle = knob_obstacle,
     .script = {.needs = ScriptNeeds::kDcqcn, .rail = knob_rail}},
    {.setting = Setting::kEcnNp,
     .compare =
         [](const NicCase& c, std::vector<Deviation>& out) {
           compare_ecn(Setting::kEcnNp, c, c.wanted.ecn_np, c.nic.ecn.np, out);
         },
     .finding = "np.disabled",
     .how_to_read = kEcnFiles,
     .script = {.needs = ScriptNeeds::kDcqcn, .rail = ecn_rail}},
    {.setting = Setting::kEcnRp,
     .wanted = [](const NicCase& c) -> std::optional<SettingValue> { return wanted_ecn(c); },
     .found = found_ecn,
     .compare =
         [](const NicCase& c, std::vector<Deviation>& out) {
           compare_ecn(Setting::kEcnRp, c, c.wanted.ecn_rp, c.nic.ecn.rp, out);
         },
     .finding = "rp.disabled",
     .how_to_read = kEcnFiles,
     .commands = Typed<ecn_commands>::commands,
     .obstacle = ecn_obstacle},
});

}  // namespace

std::span<const SettingRow> congestion_rows() {
  return kCongestionRows;
}

}  // namespace weir::evidence

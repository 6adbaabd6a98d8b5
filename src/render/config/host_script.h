#pragma once
// A host's settings as a shell script: for machines where Weir is not installed, and for people who
// want to read what is done. Idempotent: it reads each setting, writes what differs from the
// design, in the safe order (PFC last, it may take the link down), and reads it back. What counts
// as different is what evidence::deviations() calls so: the script and `weir apply` end in the same
// state.
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "design/fabric/intent.h"
#include "design/file/fabric.h"
#include "platforms/common/platform.h"

namespace weir::render {

/// With whose words a script sets QoS.
enum class ScriptTool { kMlnxQos, kDcb, kWeir };
[[nodiscard]] std::vector<std::string_view> script_tools();  // "mlnx_qos" "dcb" "weir"

/// The tool of the host's driver stack where `name` is empty. REQUIRES: a name of script_tools().
[[nodiscard]] ScriptTool script_tool(std::string_view name, const design::HostIntent& host);

/// "gpu01.roce.sh". What cannot be set on this NIC or stack is a remark.
[[nodiscard]] platforms::Rendered host_script(const design::Design& design,
                                              const design::Intent& intent,
                                              const design::HostIntent& host, ScriptTool tool);

/// "gpu01.roce.service", then the script that it runs: QoS is lost with each driver reload, so the
/// unit runs at boot and whenever one of the host's interfaces appears.
[[nodiscard]] platforms::Rendered systemd_unit(const design::Design& design,
                                               const design::Intent& intent,
                                               const design::HostIntent& host, ScriptTool tool);

/// "gpu01.tasks.yml", then the script and the unit that it installs.
[[nodiscard]] platforms::Rendered ansible_tasks(const design::Design& design,
                                                const design::Intent& intent,
                                                const design::HostIntent& host, ScriptTool tool);
/// "roce.yml": a play over all hosts that takes each its own tasks.
[[nodiscard]] platforms::Rendered ansible_play(const design::Design& design,
                                               const design::Intent& intent);

}  // namespace weir::render

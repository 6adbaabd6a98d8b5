#include "ops/simulate/lab.h"

#include <algorithm>
#include <filesystem>

#include <fmt/format.h>

#include "base/file.h"
#include "base/text.h"
#include "ops/source/fabric.h"

namespace weir::ops {
namespace {

/// With the system of the design: a lab runs no other.
weir::Result<LoadedConfig> read_for_lab(const design::SwitchIntent& node, const std::string& file) {
  WEIR_TRY(text, read_file(file));
  const platforms::Platform& platform = platforms::platform_of(node.system);
  WEIR_TRY(parsed, platform.parse(text, file));
  parsed.state.name = node.name;
  return LoadedConfig{{node.name, file, std::move(parsed)}, std::string(platform.name)};
}

/// The file that weir render writes for the switch, or else the first file that starts with its
/// name and is recognised as a configuration of its system.
weir::Result<std::string> file_for(const design::Intent& intent, const design::SwitchIntent& node,
                                   const std::string& directory) {
  const platforms::Platform& platform = platforms::platform_of(node.system);
  const platforms::Rendered rendered = platform.render(intent, node);
  const std::string usual = directory + "/" + rendered.files.front().name;
  if (std::filesystem::is_regular_file(usual)) return usual;
  std::vector<std::string> files;
  std::error_code error;
  for (const auto& entry : std::filesystem::directory_iterator(directory, error))
    if (entry.path().filename().string().rfind(node.name + ".", 0) == 0)
      files.push_back(entry.path().string());
  std::sort(files.begin(), files.end());
  for (const std::string& file : files) {
    const auto text = read_file(file);
    if (text && platform.recognises(*text)) return file;
  }
  return not_found_error(fmt::format("{}: expected {} for {}, found no configuration of {}",
                                     directory, rendered.files.front().name, node.name,
                                     platform.title));
}

weir::Result<std::vector<LoadedConfig>> read_configs(const design::Intent& intent,
                                                     const std::vector<SwitchFile>& files,
                                                     const std::string& directory) {
  std::vector<LoadedConfig> out;
  if (!directory.empty()) {
    for (const design::SwitchIntent& node : intent.switches) {
      WEIR_TRY(file, file_for(intent, node, directory));
      WEIR_TRY(loaded, read_for_lab(node, file));
      out.push_back(std::move(loaded));
    }
  }
  for (const SwitchFile& given : files) {
    const design::SwitchIntent* node = find_switch(intent, given.name);
    if (node == nullptr)
      return not_found_error(fmt::format("the lab has no switch '{}'{}", given.name,
                                         did_you_mean(given.name, switch_names(intent))));
    WEIR_TRY(loaded, read_for_lab(*node, given.file));
    out.push_back(std::move(loaded));
  }
  return out;
}

const evidence::GroupBuffer* lossless_group(const evidence::SwitchPort& port) {
  for (const evidence::GroupBuffer& group : port.groups)
    if (group.lossless.is(true)) return &group;
  return nullptr;
}

LabPort port_of(const evidence::SwitchPort& port, const counters::PortCounters& counters) {
  LabPort out;
  out.name = port.name;
  if (port.neighbour.is_known()) out.neighbour = port.neighbour->system;
  out.is_up = port.up.is(true);
  const evidence::GroupBuffer* const group = lossless_group(port);
  if (group == nullptr) return out;
  out.headroom = *group->headroom;
  const counters::Reading drops =
      counters.read("switch.pg.drop_headroom.packets", group->group.value());
  if (drops.has_value()) out.headroom_drops = drops.value();
  return out;
}

}  // namespace

Result<lab::Lab> create_lab(const LabRequest& request) {
  WEIR_TRY(fabric, load_fabric(request.design));
  if (fabric.design.file == "stdin") return bad_request("a lab needs the design as a file");
  return or_bad_input(lab::Lab::create(request.directory, fabric.design.file, request.options));
}

Result<lab::Lab> open_lab(const std::string& directory) {
  return or_bad_input(lab::Lab::open(directory));
}

Status remove_lab(const std::string& directory) {
  return or_bad_input(lab::Lab::remove(directory));
}

Status add_lab_faults(lab::Lab& lab, const std::vector<std::string>& faults) {
  for (const std::string& fault : faults)
    WEIR_TRY_STATUS(or_bad_input(lab.add_fault(fault)));
  return {};
}

Status clear_lab_faults(lab::Lab& lab, const std::vector<std::string>& faults) {
  if (faults.empty()) {
    WEIR_TRY(cleared, or_bad_input(lab.clear_all_faults()));
    (void)cleared;
  }
  for (const std::string& fault : faults) {
    WEIR_TRY(cleared, or_bad_input(lab.clear_fault(fault)));
    (void)cleared;
  }
  return {};
}

Result<LabSwitch> lab_switch(const lab::Lab& lab, const std::string& name) {
  WEIR_TRY(profile, or_bad_input(lab.buffer_profile(name)));
  WEIR_TRY(seen, or_bad_input(lab.observe_switches()));
  LabSwitch out{name, profile, {}};
  const evidence::Switch* const node = seen.find_switch(name);
  std::size_t next = 0;
  for (const counters::PortCounters& counters : seen.snapshots.back().switch_ports)
    if (counters.device() == name) out.ports.push_back(port_of(node->ports[next++], counters));
  return out;
}

Status set_lab_switch(lab::Lab& lab, const std::string& name, const std::string& key,
                      const std::string& value) {
  if (key == "buffer-profile") return or_bad_input(lab.set_buffer_profile(name, value));
  if (value != "designed" && value != "factory")
    return bad_input(fmt::format("config: expected designed or factory, found '{}'", value));
  return or_bad_input(lab.set_factory(name, value == "factory"));
}

Result<std::vector<LoadedConfig>> load_lab_switches(lab::Lab& lab,
                                                    const std::vector<SwitchFile>& files,
                                                    const std::string& directory) {
  WEIR_TRY(loaded, or_bad_input(read_configs(lab.intent(), files, directory)));
  WEIR_TRY_STATUS(or_bad_input(lab.begin()));
  for (const LoadedConfig& entry : loaded)
    WEIR_TRY_STATUS(or_bad_input(lab.load_switch(entry.config.parsed.state)));
  WEIR_TRY_STATUS(or_bad_input(lab.commit()));
  return loaded;
}

}  // namespace weir::ops

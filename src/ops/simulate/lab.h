#pragma once
// A simulated fabric in a directory: made, broken, repaired, looked at.
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "lab/fabric/lab.h"
#include "ops/source/failure.h"
#include "ops/source/switch_configs.h"

namespace weir::ops {

struct LabRequest {
  std::string directory;
  std::string design;
  lab::CreateOptions options;
};
/// Reads the design as every operation does, so that all its errors are listed with their places.
[[nodiscard]] Result<lab::Lab> create_lab(const LabRequest& request);
[[nodiscard]] Result<lab::Lab> open_lab(const std::string& directory);
[[nodiscard]] Status remove_lab(const std::string& directory);

[[nodiscard]] Status add_lab_faults(lab::Lab& lab, const std::vector<std::string>& faults);
/// None named: all of them.
[[nodiscard]] Status clear_lab_faults(lab::Lab& lab, const std::vector<std::string>& faults);

struct LabPort {
  std::string name;
  std::string neighbour;
  bool is_up = false;
  std::optional<Bytes> headroom;                // of the lossless group
  std::optional<std::uint64_t> headroom_drops;  // of it
};
struct LabSwitch {
  std::string name;
  std::string buffer_profile;
  std::vector<LabPort> ports;
};
[[nodiscard]] Result<LabSwitch> lab_switch(const lab::Lab& lab, const std::string& name);
/// `key` is buffer-profile (vendor, roce-balanced, roce-aggressive) or config (designed, factory).
[[nodiscard]] Status set_lab_switch(lab::Lab& lab, const std::string& name, const std::string& key,
                                    const std::string& value);

/// Configurations as an operator would load them: the files, and one for every switch from
/// `directory` where that is not empty, named as render names them. All of them or none.
struct LoadedConfig {
  SwitchConfig config;
  std::string system;
};
[[nodiscard]] Result<std::vector<LoadedConfig>> load_lab_switches(
    lab::Lab& lab, const std::vector<SwitchFile>& files, const std::string& directory);

}  // namespace weir::ops

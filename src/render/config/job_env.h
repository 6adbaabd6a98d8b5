#pragma once
// The environment of a job from the design: NCCL and UCX variables, each with its reason.
//
// What only a host knows, the GID index, comes from evidence of hosts; without it the variable
// stays unset and the text says how to get it.
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "design/fabric/intent.h"
#include "design/file/fabric.h"
#include "evidence/evidence.h"
#include "platforms/common/platform.h"

namespace weir::render {

struct Variable {
  std::string name;
  std::string value;
  std::string why;
  bool is_set = true;  // otherwise a note: why the variable is left alone
};

struct JobEnvironment {
  std::string library;  // "NCCL"
  std::vector<Variable> variables;
  std::vector<platforms::Remark> remarks;

  [[nodiscard]] const Variable* find(std::string_view name) const;
};

/// `hosts` is what was read of hosts; may be empty.
[[nodiscard]] JobEnvironment nccl_environment(const design::Design&, const design::Intent&,
                                              std::span<const evidence::Evidence> hosts);
[[nodiscard]] JobEnvironment ucx_environment(const design::Design&, const design::Intent&,
                                             std::span<const evidence::Evidence> hosts);

/// "env", "nccl.conf", "slurm", "k8s"; the first is the default. UCX has no nccl.conf.
[[nodiscard]] std::vector<std::string_view> job_formats(std::string_view library);

/// A file in one of job_formats(): lines to source, /etc/nccl.conf, a Slurm TaskProlog, a
/// ConfigMap.
[[nodiscard]] platforms::ConfigFile job_file(const JobEnvironment&, std::string_view format,
                                             const design::Design&);

}  // namespace weir::render

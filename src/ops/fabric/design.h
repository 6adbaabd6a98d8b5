#pragma once
// A design judged before anything is configured: its mistakes, and whether RDMA is lossless in it.
#include <string>
#include <vector>

#include "design/prove/failures.h"
#include "design/prove/prove.h"
#include "finding/finding.h"
#include "ops/source/fabric.h"
#include "ops/source/hosts.h"
#include "ops/source/switch_configs.h"
#include "render/config/design_from_size.h"

namespace weir::ops {

struct Linted {
  Fabric fabric;
  finding::Judgement judgement;
  std::string effective;  // the file with every default filled in, and why
};
[[nodiscard]] Result<Linted> lint(const std::string& design);

struct ProveRequest {
  std::string design;
  std::vector<SwitchFile> switches = {};  // as they are configured
  int failures = 0;                       // links and switches that may be down at once, 0 to 2
};
struct Proved {
  Fabric fabric;
  std::vector<SwitchConfig> configs;
  design::Proof proof;
  design::FailureWalk walk;
  finding::Judgement judgement;
};
[[nodiscard]] Result<Proved> prove(const ProveRequest& request);

/// A design to start from: of a template, or of hosts as they are.
struct NewDesign {
  std::string text;
  std::string template_name;  // empty: of hosts
  std::string summary;        // of the template
  std::size_t hosts = 0;
  std::size_t rails = 0;
  std::vector<std::string> open;  // what could not be known from the hosts
  Observation seen;
};
/// REQUIRES: a template of that name.
[[nodiscard]] NewDesign design_from_template(std::string_view name);
/// A fabric of that size.
[[nodiscard]] Result<NewDesign> design_from_size(const render::FabricSize& size);
/// This machine, or the hosts of bundles.
[[nodiscard]] Result<NewDesign> design_from_hosts(const Source& source);

}  // namespace weir::ops

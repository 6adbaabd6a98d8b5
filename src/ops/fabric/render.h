#pragma once
// The design as configuration, for hosts, switches and people.
#include <optional>
#include <string>
#include <vector>

#include "finding/thresholds.h"
#include "ops/fabric/render_targets.h"
#include "ops/source/hosts.h"
#include "platforms/common/platform.h"

namespace weir::ops {

struct RenderRequest {
  std::string design;
  std::string target = {};                      // of render_targets(); empty: the node's own
  std::string node = {};                        // one host or switch
  bool all_nodes = false;                       // every node that the target is for
  std::string tool = {};                        // empty: the target's own choice
  std::string format = {};                      // empty: the target's first
  std::vector<std::string> host_evidence = {};  // files of snapshots or bundles
  std::optional<Source> source = {};            // hosts to read, where the target needs any
  /// Of targets that judge, where the user set any.
  std::optional<finding::Thresholds> thresholds = {};
};

/// One file or remark, and the node it belongs to; empty: to all of them.
struct NodeFile {
  std::string node;
  platforms::ConfigFile file;
};
struct NodeRemark {
  std::string node;
  platforms::Remark remark;
};
struct RenderedFiles {
  const RenderTarget* target = nullptr;
  std::vector<NodeFile> files;
  std::vector<NodeRemark> remarks;  // what the target cannot express
};

[[nodiscard]] Result<RenderedFiles> render(const RenderRequest& request);

}  // namespace weir::ops

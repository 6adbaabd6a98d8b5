#pragma once
// The rules of judge_job(), by family. Not for other folders.
#include <optional>
#include <string>
#include <string_view>

#include "diagnose/job/job.h"

namespace weir::diagnose {

/// Collects findings; one of a kind for a place, however many lines show it.
class JobFindings {
 public:
  explicit JobFindings(finding::Judgement& out) : out_(out) {}

  /// A finding at a line; the same id with the same verdict is added to, not repeated.
  finding::Finding& add(std::string_view id, std::string verdict, const readers::Cited& at);
  void cite(finding::Finding& finding, const readers::Cited& at);
  /// A check without an answer, listed once. Optional where it needs a host or a design that was
  /// not given.
  void unknown(std::string check, std::string reason, std::string how, bool is_required = false);
  [[nodiscard]] bool has(std::string_view id) const;

 private:
  finding::Judgement& out_;
};

/// A number as NCCL reads it: decimal, 0x… or 0… ; nullopt for anything else.
[[nodiscard]] std::optional<long> job_number(std::string_view text);

/// `=mlx5_0:1,mlx5_1` or `^docker`: a list of names as NCCL reads it (NCCL_IB_HCA,
/// NCCL_SOCKET_IFNAME). A caret excludes, an equals sign requires exact names.
struct NameList {
  bool excludes = false;
  bool is_exact = false;
  struct Entry {
    std::string name;
    std::optional<long> port;
  };
  std::vector<Entry> entries;

  [[nodiscard]] bool takes(const Entry& entry, std::string_view name) const {
    return is_exact ? name == entry.name : name.starts_with(entry.name);
  }
};
[[nodiscard]] NameList parse_name_list(std::string_view text);

void judge_marking(const JobCase&, JobFindings&);      // traffic class
void judge_devices(const JobCase&, JobFindings&);      // NCCL_IB_HCA, rails, cross-NIC
void judge_gids(const JobCase&, JobFindings&);         // GID index
void judge_variables(const JobCase&, JobFindings&);    // names nobody reads, values nobody takes
void judge_network(const JobCase&, JobFindings&);      // sockets, RDMA turned off, Gloo, intra-node
void judge_gpu_direct(const JobCase&, JobFindings&);   // GPUDirect off, and why
void judge_failures(const JobCase&, JobFindings&);     // completions, events, messages
void judge_differences(const JobCase&, JobFindings&);  // one rank that differs

}  // namespace weir::diagnose

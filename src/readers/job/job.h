#pragma once
// What a job says about itself: the environment it sets and what its libraries logged.
//
// One reader for all of it, because people paste all of it into one file: environment dumps,
// nccl.conf, shell and Slurm scripts, Kubernetes manifests, mpirun lines, and the log of one rank
// or of all ranks mixed. It never judges (diagnose/job/job.h does) and never runs anything: a
// script is read as text, and a value that only a shell can know ($HOME, $(…)) is kept apart.
#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace weir::readers {

/// A line of a text: what a finding cites.
struct Cited {
  std::string file;
  int line = 0;  // from 1
  std::string text;
};

/// A variable of the job's environment that a communication library could read.
struct JobVariable {
  std::string name;
  std::string value;
  std::string process;  // "host:pid" where a log says that the process took it; else empty
  Cited at;
};

/// `NET/IB : Using [0]mlx5_0:1/RoCE …`: what the library opened.
struct NcclDevice {
  std::string name;
  unsigned port = 1;
  bool is_roce = true;  // false: InfiniBand
};

/// `GPU Direct RDMA Disabled for HCA 0 'mlx5_0' (no module)`.
struct NcclGpuDirect {
  bool is_on = false;
  std::string network;  // "IB", "Socket"
  std::string device;   // may be empty
  std::string reason;   // the text in brackets
  Cited at;
};

/// `Channel 00/0 : 8[0] -> 0[0] [receive] via NET/IB/0/GDRDMA`.
struct NcclChannel {
  unsigned from = 0;
  unsigned to = 0;
  std::string via;  // "NET/IB/0/GDRDMA", "P2P/CUMEM", "SHM/direct"
  Cited at;
  [[nodiscard]] bool is_network() const { return via.starts_with("NET/"); }
  [[nodiscard]] bool is_rdma() const { return via.starts_with("NET/IB"); }
  [[nodiscard]] bool is_gpu_direct() const { return via.find("/GDRDMA") != std::string::npos; }
};

/// `NET/IB: … Dev 0 Port 1 qpn 4711 mtu 5 GID 3 (0/5010A0AFFFF0000)`.
struct NcclQueuePair {
  unsigned port = 1;
  unsigned mtu = 0;  // bytes; 0 = not said
  int gid_index = 0;
  std::string gid;  // "fe80:0000:…", eight groups; empty = not said
  Cited at;
};

/// A work completion that was not a success, or an event of the device.
struct NcclFailure {
  std::optional<unsigned> status;  // ibv_wc_status
  std::optional<unsigned> vendor_error;
  std::string event;  // "port error", for asynchronous events
  std::string device;
  std::string peer;
  std::string local_gid;       // "fe80::…", where the message has it
  bool is_short_form = false;  // "Got completion with error": as NCCL printed it up to 2.12
  Cited at;
};

struct NcclProcess {
  std::string host;
  std::string pid;
  std::optional<unsigned> rank;
  std::string host_id;  // NCCL_HOSTID, where set: ranks of one machine that stand for two
  std::string version;  // "2.28.9"
  std::optional<std::string> network;  // what `Using network` says
  Cited network_at;
  bool found_no_device = false;  // `NET/IB : No device found.`
  Cited no_device_at;
  std::vector<NcclDevice> devices;
  Cited devices_at;
  std::vector<NcclGpuDirect> gpu_direct;
  std::vector<NcclChannel> channels;
  std::vector<NcclQueuePair> queue_pairs;
  std::vector<NcclFailure> failures;
  bool is_connected = false;  // `Connected all rings`, `Init COMPLETE`

  [[nodiscard]] std::string name() const;  // "rank 3 (gpu02:4711)", "gpu02:4711"
};

/// A message that no structure above holds and that a judgement knows by its words.
struct JobMessage {
  std::string process;  // as in JobVariable
  Cited at;
};

/// `ulimit -l 64`, `docker run --ulimit memlock=65536`: how much memory the job may lock.
struct MemlockLimit {
  std::optional<std::uint64_t> bytes;  // nullopt = unlimited
  Cited at;
};

struct Job {
  std::vector<JobVariable> variables;
  /// Set to something that the text does not decide ($TC of the user's own shell, valueFrom); the
  /// value is as written.
  std::vector<JobVariable> open;
  std::vector<JobVariable> unset;  // taken away again (`unset A`, `export -n A`); no value
  std::vector<Cited> sourced;      // other files that the script reads
  std::vector<MemlockLimit> memlock;
  std::optional<unsigned> nodes;  // what `#SBATCH --nodes` asks for
  std::vector<NcclProcess> processes;
  std::vector<JobMessage> messages;
  std::vector<Cited> warnings;  // what a library warns of, known here or not
  int lines = 0;

  [[nodiscard]] bool is_empty() const {
    return variables.empty() && open.empty() && unset.empty() && memlock.empty() &&
           processes.empty() && messages.empty() && warnings.empty();
  }
  /// The first variable of this name; nullptr where there is none.
  [[nodiscard]] const JobVariable* find(std::string_view name) const;
  /// Set, to a known value or an open one.
  [[nodiscard]] bool sets(std::string_view name) const;
};

/// Reads any text; a text that says nothing of a job gives an empty one.
[[nodiscard]] Job read_job(std::string_view text, std::string_view file);
/// Puts another file's job beside this one's.
void append(Job& job, Job more);

/// Whether a library reads a variable of this name, and if not, what it reads instead.
struct VariableKnowledge {
  bool is_known = true;
  bool is_removed = false;     // was read once
  bool is_still_read = false;  // under this old name, with a warning
  std::string renamed_to;      // its name now; empty where nothing replaces it
  std::string note;            // since when, or what happened to it
  std::string nearest;         // did you mean
};
/// A suggestion looks at every name there is: not for thousands of variables.
enum class Suggests { kNothing, kNearest };
[[nodiscard]] VariableKnowledge knowledge_of(std::string_view name,
                                             Suggests suggests = Suggests::kNearest);

/// A variable that weir renders or judges, for `weir explain`.
struct VariableMeaning {
  std::string_view name;
  std::string_view what;
  std::string_view values;
  std::string_view fallback;  // the library's default
  std::string_view since;     // version that introduced it; empty: always there, or not documented
  std::string_view trap;
  std::string_view findings;  // ids, comma-separated
  std::string_view source;
};
[[nodiscard]] std::span<const VariableMeaning> variable_meanings();
/// nullptr: none of that name.
[[nodiscard]] const VariableMeaning* find_variable(std::string_view name);
[[nodiscard]] std::string explain(const VariableMeaning&);

/// "2.28.9" before "2.30.0"; an empty version is older than all.
[[nodiscard]] bool version_before(std::string_view version, unsigned major, unsigned minor);

}  // namespace weir::readers

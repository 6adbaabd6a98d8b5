#include "lab/fabric/live_load.h"

#include <algorithm>
#include <future>
#include <utility>

#include <fmt/format.h>
#include <sys/stat.h>

#include "base/file.h"
#include "lab/fabric/port_counts.h"
#include "lab/fabric/recorder.h"
#include "lab/fabric/state.h"
#include "lab/fabric/testbed.h"
#include "sim/results/sampler.h"

namespace weir::lab {
namespace {

using Steady = std::chrono::steady_clock;

/// Between two looks at the machine's clock.
constexpr std::chrono::nanoseconds kTimeOfPiece = std::chrono::milliseconds(10);
constexpr Duration kFirstLivePiece = 1_us;
constexpr Duration kShortestLivePiece = 100_ns;
constexpr Duration kLongestLivePiece = 10_ms;
/// After a save nothing is saved for twenty times as long; where that is longer than a judgement
/// can wait for it, for twice as long.
constexpr int kRestPerSave = 20;
constexpr int kLeastRestPerSave = 2;
constexpr std::chrono::nanoseconds kLongestRest = std::chrono::seconds(10);
constexpr std::chrono::nanoseconds kShortSetUp = std::chrono::milliseconds(100);
constexpr int kFewSlices = 60;
constexpr std::uint32_t kMoreRounds = 8;
constexpr std::uint64_t kMostMessages = 200'000;

}  // namespace

namespace live {

/// Tells one version of a file from another: each is a new file, renamed over the old one.
struct FileMark {
  dev_t device = 0;
  ino_t inode = 0;
  std::int64_t seconds = 0;
  std::int64_t nanoseconds = 0;
  friend bool operator==(const FileMark&, const FileMark&) = default;
};

static FileMark mark_of(const std::string& path) {
  struct stat info {};
  if (::stat(path.c_str(), &info) != 0) return {};
  return {info.st_dev, info.st_ino, info.st_mtim.tv_sec, info.st_mtim.tv_nsec};
}

/// A network at work.
struct Running {
  Running(Testbed made, std::vector<counters::PortCounters> resting)
      : bed(std::move(made)),
        activity(bed.intent, bed.placement, *bed.sim),
        recorder(bed.intent, bed.placement),
        counted(std::move(resting)) {
    bed.load->start(*bed.sim);
  }

  Testbed bed;
  sim::Activity activity;
  Recorder recorder;
  std::vector<counters::PortCounters> counted;  // what is known to the lab; none: nothing
  std::size_t next_action = 0;
  Time now;
  Time saved;  // up to which its counts were collected
  Duration piece = kFirstLivePiece;
  int slices = 0;  // that it ran

  [[nodiscard]] bool is_over() const {
    sim::Sim& sim = *bed.sim;
    if (sim.open_messages() > 0 || sim.live_frames() > 0) return false;
    return bed.load->finished() || sim.next_event() == sim::kNever;
  }

  void run_to(Time stop) {
    const std::span<const sim::FaultAction> all = bed.actions;
    sim::run(*bed.sim, {.end = stop,
                        .actions = all.subspan(next_action),
                        .sampler = nullptr,
                        .progress = {},
                        .is_finished = [&] { return bed.load->finished(); },
                        .at_rest = {}});
    while (next_action < all.size() && all[next_action].at <= stop)
      ++next_action;
    now = is_over() ? std::max(now, Time::at(Duration::raw(bed.sim->now()))) : stop;
  }

  /// The time of the fabric that passed.
  Duration run_on(Duration most, std::chrono::nanoseconds busy) {
    const Time begin = now;
    const Steady::time_point until = Steady::now() + busy;
    while (now < begin + most && !is_over()) {
      const Steady::time_point before = Steady::now();
      if (before >= until) break;
      run_to(std::min(now + piece, begin + most));
      const auto took =
          std::max<std::chrono::nanoseconds>(Steady::now() - before, std::chrono::nanoseconds(1));
      const double change = std::clamp(
          static_cast<double>(kTimeOfPiece.count()) / static_cast<double>(took.count()), 0.5, 2.0);
      piece = std::clamp(
          Duration::raw(static_cast<std::int64_t>(static_cast<double>(piece.raw()) * change)),
          kShortestLivePiece, kLongestLivePiece);
    }
    return now - begin;
  }
};

}  // namespace live

struct LiveLoad::Impl {
  Blueprint blueprint;
  Load load;
  Profiles profiles;
  std::vector<std::string> keys;
  sim::LayoutsByNames layouts;
  std::unique_ptr<live::Running> network;
  bool is_new = false;  // nothing of the network was shown yet
  std::vector<std::string> faults;
  std::chrono::nanoseconds set_up_took{};
  std::uint64_t settings = 0;
  std::uint64_t saved_settings = 0;

  // Of the thread that saves, while it does.
  State state;
  live::FileMark mark;
  bool was_changed = false;  // by someone else: the network is not as the lab is set

  struct Counts {
    std::vector<counters::PortCounters> ports;
    RunRecord record;
  };
  std::vector<counters::PortCounters> earlier;  // of networks that are gone, not saved yet
  Duration unsaved;
  Duration clock;
  std::future<Status> saving;
  std::uint64_t saving_settings = 0;
  Steady::time_point save_began;
  Steady::time_point next_save;

  ~Impl() {
    (void)wait_for_save();
    if (network && unsaved > Duration()) (void)save_now();
  }

  [[nodiscard]] std::string file() const { return state_file(blueprint.directory); }

  // ---- saving

  /// What the network counted since it was asked before.
  std::vector<counters::PortCounters> collect() {
    std::vector<counters::PortCounters> now = count_ports(network->bed, network->now, layouts);
    std::vector<counters::PortCounters> out;
    if (network->counted.empty()) {
      out = now;
    } else {
      out.reserve(now.size());
      for (std::size_t i = 0; i < now.size(); ++i)
        out.push_back(counted_since(network->counted[i], now[i]));
    }
    network->counted = std::move(now);
    return out;
  }

  Counts take_counts() {
    Counts out;
    out.ports = std::exchange(earlier, {});
    std::vector<counters::PortCounters> last = collect();
    std::move(last.begin(), last.end(), std::back_inserter(out.ports));
    out.record = network->recorder.finish(*network->bed.sim, network->now);
    // Networks before this one had the first part of the time.
    const Duration before = unsaved - out.record.elapsed;
    for (Duration& time : out.record.times)
      time += before;
    out.record.elapsed = unsaved;
    out.record.command = load.command;
    out.record.notes = network->bed.notes;
    network->recorder.begin_at(*network->bed.sim, network->now);
    unsaved = {};
    return out;
  }

  /// By the thread that saves.
  Status write(Counts counts) {
    WEIR_TRY(lock, Lock::take(blueprint.directory));
    if (live::mark_of(file()) != mark) {
      WEIR_TRY(fresh, read_state(blueprint));
      state = std::move(fresh);
      was_changed = true;
    }
    state.counters_before = state.counters;
    for (std::size_t i = 0; i < counts.ports.size(); ++i)
      state.counters.add(keys[i % keys.size()], counts.ports[i]);
    counts.record.load = ++state.loads;
    counts.record.seed = state.seed;
    counts.record.change = ++state.changes;
    counts.record.begin = state.clock;
    state.clock += counts.record.elapsed;
    state.last_run = std::move(counts.record);
    WEIR_TRY_STATUS(write_state(blueprint, state));
    mark = live::mark_of(file());
    return {};
  }

  void begin_save() {
    save_began = Steady::now();
    saving_settings = settings;
    saving = std::async(std::launch::async, [this, counts = take_counts()]() mutable {
      return write(std::move(counts));
    });
  }

  Status wait_for_save() {
    if (!saving.valid()) return {};
    Status done = saving.get();
    if (done) saved_settings = saving_settings;
    const Steady::time_point now = Steady::now();
    const std::chrono::nanoseconds took = now - save_began;
    next_save =
        now + std::max(kLeastRestPerSave * took, std::min(kRestPerSave * took, kLongestRest));
    return done;
  }

  Status look_after_save() {
    if (!saving.valid() || saving.wait_for(std::chrono::seconds(0)) != std::future_status::ready)
      return {};
    return wait_for_save();
  }

  Status save_now() {
    begin_save();
    return wait_for_save();
  }

  // ---- the network

  /// As the lab is set now.
  Status set_up_network() {
    if (network) {
      const Status sound = network->bed.sim->audit();
      if (!sound) check_failed(__FILE__, __LINE__, sound.error().what);
      network.reset();
    }
    const Steady::time_point begin = Steady::now();
    WEIR_TRY(made, set_up(blueprint, state, profiles, load));
    WEIR_TRY(resting, counted_at_rest(blueprint, state, profiles, layouts));
    network = std::make_unique<live::Running>(std::move(made), std::move(resting));
    set_up_took = Steady::now() - begin;
    is_new = true;
    return {};
  }

  /// Takes over what others changed in the lab's files.
  Status follow_changes() {
    if (!was_changed && live::mark_of(file()) == mark && network) return {};
    WEIR_TRY_STATUS(wait_for_save());
    if (!file_exists(file()))
      return not_found_error(fmt::format("{} is not a lab any more", blueprint.directory));
    if (network && unsaved > Duration()) WEIR_TRY_STATUS(save_now());
    if (live::mark_of(file()) != mark) {
      mark = live::mark_of(file());
      WEIR_TRY(fresh, read_state(blueprint));
      state = std::move(fresh);
    }
    was_changed = false;
    clock = state.clock;
    faults.clear();
    for (const FaultRecord& fault : state.faults)
      faults.push_back(fault.text);
    ++settings;
    WEIR_TRY_STATUS(set_up_network());
    next_save = Steady::now();
    return {};
  }

  /// To set a large network up takes longer than a slice: a load that is soon over then has more
  /// rounds the next time.
  void lengthen() {
    if (set_up_took < kShortSetUp) return;
    const bool fits = network->bed.load->message_count() * kMoreRounds <= kMostMessages;
    if (network->slices > kFewSlices || !fits) return;
    for (sim::WorkloadSpec& spec : load.workloads)
      spec.iterations *= kMoreRounds;
  }

  /// The load is over: it begins again.
  Status begin_again() {
    WEIR_TRY_STATUS(wait_for_save());
    lengthen();
    std::vector<counters::PortCounters> last = collect();
    std::move(last.begin(), last.end(), std::back_inserter(earlier));
    return set_up_network();
  }

  Result<LiveSlice> advance(Duration most, std::chrono::nanoseconds busy) {
    WEIR_TRY_STATUS(look_after_save());
    if (!saving.valid()) WEIR_TRY_STATUS(follow_changes());
    if (network->is_over()) WEIR_TRY_STATUS(begin_again());
    LiveSlice out;
    out.is_new_network = std::exchange(is_new, false);
    out.simulated = network->run_on(most, busy);
    ++network->slices;
    network->recorder.watch(*network->bed.sim, network->now);
    unsaved += out.simulated;
    clock += out.simulated;
    out.clock = clock;
    out.ports = network->activity.read(network->now);
    if (!saving.valid() && Steady::now() >= next_save) begin_save();
    out.settings = settings;
    out.saved_settings = saved_settings;
    return out;
  }
};

Result<LiveLoad> LiveLoad::start(const std::string& directory, Load load) {
  if (!file_exists(state_file(directory))) return Lab::open(directory).error();
  auto impl = std::make_unique<Impl>();
  WEIR_TRY(blueprint, load_blueprint(directory, design_file(directory)));
  impl->blueprint = std::move(blueprint);
  impl->load = std::move(load);
  impl->keys = port_keys(impl->blueprint);
  WEIR_TRY_STATUS(impl->follow_changes());
  return LiveLoad(std::move(impl));
}

LiveLoad::LiveLoad(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
LiveLoad::LiveLoad(LiveLoad&&) noexcept = default;
LiveLoad& LiveLoad::operator=(LiveLoad&&) noexcept = default;
LiveLoad::~LiveLoad() = default;

Result<LiveSlice> LiveLoad::advance(Duration most, std::chrono::nanoseconds busy) {
  return impl_->advance(most, busy);
}

const design::Intent& LiveLoad::intent() const {
  return impl_->network->bed.intent;
}
const sim::Network& LiveLoad::network() const {
  return impl_->network->bed.sim->network();
}

const std::vector<std::string>& LiveLoad::faults() const {
  return impl_->faults;
}

}  // namespace weir::lab

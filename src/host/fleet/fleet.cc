#include "host/fleet/fleet.h"

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <map>
#include <mutex>
#include <optional>
#include <thread>
#include <unordered_set>

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/utsname.h>

#include "base/file.h"
#include "base/owned_descriptor.h"
#include "base/stale_files.h"
#include "base/text.h"
#include "base/untrusted/name_policy.h"
#include "base/untrusted/printable.h"
#include "base/untrusted/quote.h"
#include "host/bundle/bundle.h"
#include "host/linux/host.h"
#include "host/probe/linux_command.h"
#include "host/probe/load_mark.h"
#include "units/format.h"

namespace weir::host {
namespace {

using FleetClock = std::chrono::steady_clock;

constexpr std::int64_t kPicosecondsPerNanosecond = 1000;

std::chrono::nanoseconds as_chrono(Duration duration) {
  return std::chrono::nanoseconds(duration.raw() / kPicosecondsPerNanosecond);
}
Duration as_duration(FleetClock::duration duration) {
  return Duration::raw(std::chrono::duration_cast<std::chrono::nanoseconds>(duration).count() *
                       kPicosecondsPerNanosecond);
}

Error fleet_error(std::string what) {
  return {ErrorCode::kIo, std::move(what)};
}

/// The last line of what a command said, for a person: one line, and not too long.
std::string last_words(std::string_view text) {
  constexpr std::size_t kMost = 160;
  text = trim(text);
  const std::size_t line = text.rfind('\n');
  if (line != std::string_view::npos) text.remove_prefix(line + 1);
  std::string out = printable_line(trim(text.substr(0, kMost)));
  return out;
}

constexpr int kSshFailed = 255;

/// What may be sent a second time.
enum class Repeat {
  kLook,    // it changes nothing: also where the connection broke at a time that is not known
  kUnsent,  // only where the other end was gone before it could be sent anything
};

/// sshd has too many that are logging in (MaxStartups) and says nothing but goodbye.
bool was_turned_away(const CommandOutcome& outcome, Repeat repeat) {
  if (outcome.exit_status != kSshFailed || !outcome.output.empty()) return false;
  const auto says = [&](std::initializer_list<const char*> signs) {
    return std::any_of(signs.begin(), signs.end(), [&](const char* sign) {
      return outcome.errors.find(sign) != std::string::npos;
    });
  };
  // Before the version strings were exchanged there is no session that could have run a line.
  if (says({"kex_exchange_identification", "ssh_exchange_identification",
            "timed out during banner exchange"}))
    return true;
  return repeat == Repeat::kLook && says({"Connection reset by", "Connection closed by"});
}

}  // namespace

/// Where the ssh of this process keeps its sockets; removed with it, or by the next run.
class SocketFolder {
 public:
  SocketFolder() {
    const std::string prefix = "/tmp/weir-ssh.";  // short: a socket's path has 108 bytes
    remove_stale_folders(prefix);
    std::string path = prefix + "XXXXXX";
    if (::mkdtemp(path.data()) == nullptr) return;
    path_ = path;
    alive_ = OwnedDescriptor(::open(path_.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
    if (alive_.get() >= 0) mark_alive(alive_.get());
  }
  SocketFolder(const SocketFolder&) = delete;
  SocketFolder& operator=(const SocketFolder&) = delete;
  ~SocketFolder() {
    std::error_code ignored;
    if (!path_.empty()) std::filesystem::remove_all(path_, ignored);
  }
  [[nodiscard]] const std::string& path() const { return path_; }

 private:
  std::string path_;
  OwnedDescriptor alive_;
};

class Fleet {
 public:
  Fleet(Reach reach, FleetLimits limits)
      : reach_(std::move(reach)),
        limits_(std::move(limits)),
        deadline_(FleetClock::now() + as_chrono(limits_.budget)) {
    if (reach_.kind != Reach::Kind::kSsh || (reach_.jump.empty() && !reach_.keeps_connection))
      return;
    sockets_.emplace();
    reach_.sockets = sockets_->path();
  }

  [[nodiscard]] const Reach& reach() const { return reach_; }
  [[nodiscard]] const FleetLimits& limits() const { return limits_; }

  /// Runs a line on the host; `talk.limit` bounds its time besides the budget.
  [[nodiscard]] Result<CommandOutcome> run(const FleetHost& host, const std::string& line,
                                           Talk talk, bool with_input, Repeat repeat);

  /// The command that ends a load there, also when this process and its sockets are gone.
  [[nodiscard]] std::vector<std::string> stop_words(const FleetHost& host,
                                                    std::string_view load) const;
  /// Runs it, also where all else is interrupted or over its time.
  [[nodiscard]] Status end_load(const FleetHost& host, std::string_view load) const;

  /// The binary that runs here, where the host's machine is the same; else nothing.
  [[nodiscard]] std::string_view binary_for(std::string_view cue);

 private:
  struct Door {
    unsigned inside = 0;
    bool is_being_tried = false;
    std::optional<Status> answer = {};  // of the one try by TCP
  };
  [[nodiscard]] bool is_interrupted() const {
    return limits_.is_interrupted && limits_.is_interrupted();
  }
  [[nodiscard]] Result<Duration> time_left(Duration wanted) const;
  /// Where ssh would go to, tried by TCP where that is ours to try.
  [[nodiscard]] Result<std::string> find_door(const FleetHost& host);
  /// By TCP, once for all who share the door: sshd counts a mere connection as a login begun.
  [[nodiscard]] Status try_door(const SshTarget& target, const std::string& door);
  [[nodiscard]] Status enter(const std::string& door);
  void leave(const std::string& door);
  [[nodiscard]] Result<CommandOutcome> run_once(const std::vector<std::string>& command, Talk talk,
                                                bool with_input) const;
  void pause(FleetClock::duration time) const;

  Reach reach_;
  FleetLimits limits_;
  FleetClock::time_point deadline_;
  std::optional<SocketFolder> sockets_;
  std::mutex guard_;
  std::condition_variable somebody_left_;
  std::map<std::string, Door> doors_;
  std::map<std::string, std::string> known_doors_;  // by host: tried already
  std::once_flag binary_is_read_;
  std::string binary_;
};

Result<Duration> Fleet::time_left(Duration wanted) const {
  if (is_interrupted()) return fleet_error("not asked: interrupted");
  const auto left = deadline_ - FleetClock::now();
  if (left <= FleetClock::duration::zero())
    return fleet_error(fmt::format("not asked: the time for all hosts was over (--budget {})",
                                   to_text(limits_.budget)));
  return std::min(wanted, as_duration(left));
}

Result<std::string> Fleet::find_door(const FleetHost& host) {
  {
    const std::lock_guard<std::mutex> lock(guard_);
    const auto known = known_doors_.find(host.name);
    if (known != known_doors_.end()) return known->second;
  }
  WEIR_TRY(limit, time_left(limits_.host_time));
  WEIR_TRY(answer, run_once(ssh_question(reach_, host), Talk{.limit = limit}, false));
  const auto target = answer.exit_status == 0 ? parse_ssh_answer(answer.output) : std::nullopt;
  if (!target) return fleet_error(fmt::format("ssh -G: {}", last_words(answer.errors)));
  std::string door = reach_.jump.empty() ? target->gate() : reach_.jump;
  if (target->through.empty()) WEIR_TRY_STATUS(try_door(*target, door));
  const std::lock_guard<std::mutex> lock(guard_);
  known_doors_.emplace(host.name, door);
  return door;
}

Status Fleet::try_door(const SshTarget& target, const std::string& door) {
  constexpr auto kBetweenLooks = std::chrono::milliseconds(200);
  std::unique_lock<std::mutex> lock(guard_);
  while (doors_[door].is_being_tried) {
    WEIR_TRY(left, time_left(limits_.budget));
    (void)left;
    somebody_left_.wait_for(lock, kBetweenLooks);
  }
  if (doors_[door].answer) return *doors_[door].answer;
  WEIR_TRY(time, time_left(limits_.probe_time));
  doors_[door].is_being_tried = true;
  lock.unlock();
  Status answer = probe_tcp(target.address, target.port, time);
  lock.lock();
  doors_[door].is_being_tried = false;
  doors_[door].answer = answer;
  lock.unlock();
  somebody_left_.notify_all();
  return answer;
}

Status Fleet::enter(const std::string& door) {
  if (door.empty()) return {};
  constexpr auto kBetweenLooks = std::chrono::milliseconds(200);
  std::unique_lock<std::mutex> lock(guard_);
  while (doors_[door].inside >= limits_.logins_per_door) {
    WEIR_TRY(left, time_left(limits_.budget));
    (void)left;
    somebody_left_.wait_for(lock, kBetweenLooks);
  }
  ++doors_[door].inside;
  return {};
}

void Fleet::leave(const std::string& door) {
  if (door.empty()) return;
  {
    const std::lock_guard<std::mutex> lock(guard_);
    --doors_[door].inside;
  }
  somebody_left_.notify_all();
}

void Fleet::pause(FleetClock::duration time) const {
  constexpr auto kStep = std::chrono::milliseconds(100);
  const auto until = FleetClock::now() + time;
  while (FleetClock::now() < until && !is_interrupted())
    std::this_thread::sleep_for(std::min<FleetClock::duration>(kStep, until - FleetClock::now()));
}

Result<CommandOutcome> Fleet::run_once(const std::vector<std::string>& command, Talk talk,
                                       bool with_input) const {
  const std::function<bool()> own = std::move(talk.is_interrupted);
  talk.is_interrupted = [this, &own] { return is_interrupted() || (own && own()); };
  talk.most_output = limits_.most_output;
  talk.kept_errors = kKeptErrors;
  const Duration limit = talk.limit;
  WEIR_TRY(running, talk.is_tethered ? RunningCommand::start_tethered(command, kTether)
                    : with_input     ? RunningCommand::start_with_input(command)
                                     : RunningCommand::start(command));
  WEIR_TRY(outcome, running->finish(talk));
  if (running->was_cut())
    return fleet_error(
        fmt::format("printed more than {} MiB and was cut off", limits_.most_output >> 20U));
  if (outcome.timed_out)
    return fleet_error(fmt::format("did not end within {:.3g} s and was cut off",
                                   static_cast<double>(limit.raw()) / 1e12));
  if (talk.is_interrupted()) return fleet_error("interrupted");
  return outcome;
}

std::vector<std::string> Fleet::stop_words(const FleetHost& host, std::string_view load) const {
  Reach plain = reach_;
  plain.sockets.clear();
  return reach_command(plain, host, stop_line(load));
}

Status Fleet::end_load(const FleetHost& host, std::string_view load) const {
  constexpr auto kPatience = std::chrono::seconds(30);
  constexpr auto kBetweenTries = std::chrono::milliseconds(500);
  const auto deadline = FleetClock::now() + kPatience;
  for (;;) {
    WEIR_TRY(running, RunningCommand::start(reach_command(reach_, host, stop_line(load))));
    WEIR_TRY(outcome, running->finish(as_duration(kPatience)));
    if (outcome.exit_status == 0) return {};
    const bool is_last = FleetClock::now() + kBetweenTries >= deadline;
    if (!was_turned_away(outcome, Repeat::kLook) || is_last)
      return fleet_error(outcome.timed_out ? std::string("no answer within 30 s")
                                           : fmt::format("status {}: {}", outcome.exit_status,
                                                         last_words(outcome.errors)));
    std::this_thread::sleep_for(kBetweenTries);
  }
}

Result<CommandOutcome> Fleet::run(const FleetHost& host, const std::string& line, Talk talk,
                                  bool with_input, Repeat repeat) {
  const bool is_ssh = reach_.kind == Reach::Kind::kSsh;
  std::string door;
  if (is_ssh) {
    WEIR_TRY(found, find_door(host));
    door = std::move(found);
  }
  const Duration most = talk.limit;
  const std::vector<std::string> command = reach_command(reach_, host, line);
  // Later each time, and not all at the same time; as long as the host's time lasts.
  std::chrono::milliseconds waited{0};
  auto wait =
      std::chrono::milliseconds(200 + static_cast<int>(std::hash<std::string>()(host.name) % 300));
  for (;;) {
    WEIR_TRY_STATUS(enter(door));
    auto time = time_left(most);
    auto outcome = Result<CommandOutcome>(CommandOutcome());
    if (time) {
      talk.limit = *time;
      outcome = run_once(command, talk, with_input);
    }
    leave(door);
    if (!time) return std::move(time).error();
    const bool is_last = waited + wait > as_chrono(limits_.host_time);
    if (!is_ssh || !outcome || !was_turned_away(*outcome, repeat) || is_last) return outcome;
    pause(wait);
    waited += wait;
    constexpr std::chrono::milliseconds kLongestWait = std::chrono::seconds(8);
    wait = std::min(2 * wait, kLongestWait);
  }
}

std::string_view Fleet::binary_for(std::string_view cue) {
  utsname here{};
  if (::uname(&here) != 0 || trim(cue.substr(kPushCue.size())) != here.machine) return {};
  std::call_once(binary_is_read_, [this] {
    constexpr std::size_t kLargestBinary = std::size_t{512} << 20U;
    binary_ = read_file("/proc/self/exe", kLargestBinary).value_or("");
  });
  return binary_;
}

namespace {

class RemoteHost final : public FleetMember {
 public:
  RemoteHost(FleetHost host, std::shared_ptr<Fleet> fleet)
      : host_(std::move(host)), fleet_(std::move(fleet)) {}

  [[nodiscard]] const std::string& name() const override { return host_.name; }

  [[nodiscard]] Result<evidence::Evidence> observe() override {
    WEIR_TRY(look, open_look());
    WEIR_TRY(seen, look->observe());
    return named(std::move(seen));
  }
  [[nodiscard]] Result<evidence::Evidence> facts(const Scope& scope) override {
    WEIR_TRY(look, open_look());
    WEIR_TRY(seen, look->facts(scope));
    return named(std::move(seen));
  }
  [[nodiscard]] Result<counters::Snapshot> snapshot() override {
    WEIR_TRY(look, open_look());
    return look->snapshot();
  }
  [[nodiscard]] Status perform(const Operation& /*operation*/) override {
    return Error{ErrorCode::kUnsupported,
                 fmt::format("{} is changed by its own weir: weir apply --hosts", host_.name)};
  }

  [[nodiscard]] Result<CommandOutcome> run(const std::vector<std::string>& command,
                                           const LoadControl& control) override {
    WEIR_TRY_STATUS(can_run());
    const std::string load = new_load_id();
    const Duration budget = fleet_->limits().budget;
    if (control.on_start)
      WEIR_TRY_STATUS(control.on_start(
          {.group = 0, .host = host_.name, .stop = fleet_->stop_words(host_, load)}));
    auto outcome = fleet_->run(host_, marked_line(load, "exec " + shell_line(command)),
                               Talk{.limit = std::min(budget, control.limit.value_or(budget)),
                                    .is_interrupted = control.is_interrupted,
                                    .is_tethered = true},
                               false, Repeat::kUnsent);
    if (outcome && outcome->exit_status != kSshFailed) return outcome;  // it ended by itself
    // sshd, and whatever else is on the way, leaves a command running whose client has gone.
    const Status ended = fleet_->end_load(host_, load);
    if (ended) return outcome;
    const std::string left =
        fmt::format("the load on {} could not be ended and may go on there: {}", host_.name,
                    ended.error().what);
    if (control.on_left) control.on_left(left);
    if (outcome) return fleet_error(left);
    return fleet_error(fmt::format("{}; {}", outcome.error().what, left));
  }

  [[nodiscard]] Result<CommandOutcome> run_weir(const std::vector<std::string>& words,
                                                const std::string& input, Duration limit) override {
    WEIR_TRY_STATUS(can_run());
    Talk talk{.limit = limit};
    talk.input_for = [&input](std::string_view) { return std::string_view(input); };
    WEIR_TRY(outcome, fleet_->run(host_, weir_line(fleet_->reach(), words), talk, !input.empty(),
                                  Repeat::kUnsent));
    if (outcome.exit_status == kSshFailed && fleet_->reach().kind == Reach::Kind::kSsh) {
      // ssh says nothing where the other end went away without a word: a power cut.
      const std::string said = last_words(outcome.errors);
      return fleet_error(said.empty() ? "the connection broke off" : fmt::format("ssh: {}", said));
    }
    if (outcome.exit_status == kNotFound)
      return not_found_error(fmt::format("there is no {} on it: {}", fleet_->reach().weir,
                                         last_words(outcome.errors)));
    return outcome;
  }

  [[nodiscard]] Result<std::string> fetch_bundle() override {
    const Reach& reach = fleet_->reach();
    Talk talk{.limit = fleet_->limits().host_time};
    talk.cue = kPushCue;
    talk.input_for = [this](std::string_view cue) { return fleet_->binary_for(cue); };
    WEIR_TRY(outcome, fleet_->run(host_, look_line(reach), talk, reach.pushes, Repeat::kLook));
    return bundle_in(std::move(outcome));
  }

 private:
  static constexpr int kNotFound = 127;

  [[nodiscard]] Status can_run() const {
    if (runs_lines(fleet_->reach())) return {};
    return invalid_error(
        "--exec has no %c, the place of the command to run there: hosts can only be looked at");
  }

  /// What a login shell printed before it is not part of it.
  [[nodiscard]] static Result<std::string> bundle_in(CommandOutcome outcome) {
    constexpr std::size_t kMostGreeting = 65536;
    std::string& text = outcome.output;
    const std::string heading = fmt::format("{}\n", kBundleHeading);
    const std::size_t at = text.starts_with(heading) ? 0 : text.find("\n" + heading);
    if (at != std::string::npos && at <= kMostGreeting) {
      text.erase(0, at == 0 ? 0 : at + 1);
      return std::move(text);
    }
    const std::string said = last_words(outcome.errors);
    if (outcome.exit_status != 0)
      return fleet_error(
          fmt::format("status {}{}{}", outcome.exit_status, said.empty() ? "" : ": ", said));
    return parse_error(
        fmt::format("printed no bundle ('{}' …)",
                    printable_line(text.substr(0, std::min<std::size_t>(text.size(), 40)))));
  }

  [[nodiscard]] Result<std::unique_ptr<HostIo>> open_look() {
    WEIR_TRY(text, fetch_bundle());
    return open_bundle(text, "its bundle");
  }

  /// The name that the user gave, whatever the bundle says: no host speaks in another's name.
  [[nodiscard]] evidence::Evidence named(evidence::Evidence seen) const {
    seen.provenance.host = host_.name;
    seen.provenance.origin = evidence::Origin::kLive;
    seen.provenance.detail.clear();
    return seen;
  }

  FleetHost host_;
  std::shared_ptr<Fleet> fleet_;
};

}  // namespace

Result<std::vector<std::unique_ptr<FleetMember>>> make_fleet(const std::vector<FleetHost>& hosts,
                                                             Reach reach, FleetLimits limits) {
  WEIR_TRY_STATUS(check_reach(reach));
  std::unordered_set<std::string_view> names;
  for (const FleetHost& host : hosts) {
    WEIR_TRY_STATUS(check_name(NameKind::kHost, host.name, "the fleet"));
    if (!host.address.empty()) WEIR_TRY_STATUS(check_destination(host.address));
    if (!host.user.empty()) WEIR_TRY_STATUS(check_name(NameKind::kWord, host.user, "the user"));
    if (!names.insert(host.name).second)
      return invalid_error(fmt::format("{} is in the fleet twice", host.name));
  }
  const auto fleet = std::make_shared<Fleet>(std::move(reach), std::move(limits));
  std::vector<std::unique_ptr<FleetMember>> members;
  members.reserve(hosts.size());
  for (const FleetHost& host : hosts)
    members.push_back(std::make_unique<RemoteHost>(host, fleet));
  return members;
}

}  // namespace weir::host

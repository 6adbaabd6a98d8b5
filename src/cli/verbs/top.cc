// weir top: what every rail does, on one screen, as it changes.
#include <chrono>
#include <ctime>
#include <utility>

#include <fmt/format.h>
#include <poll.h>
#include <sys/ioctl.h>
#include <termios.h>
#include <unistd.h>

#include "base/text.h"
#include "cli/frame/commands.h"
#include "cli/frame/host_input.h"
#include "cli/frame/interruption.h"
#include "cli/json/serve_json.h"
#include "cli/text/top_text.h"
#include "ops/watch/watch.h"
#include "units/format.h"

namespace weir::cli {
namespace {

using SteadyClock = std::chrono::steady_clock;

constexpr Duration kShortestInterval = 100_ms;
constexpr Duration kLongestInterval = 3600_s;
constexpr Duration kUsualInterval = 1_s;
// Of a fleet every look is a login per host.
constexpr Duration kFleetInterval = 10_s;
// How often is asked whether some of its hosts have answered.
constexpr auto kFleetPoll = std::chrono::milliseconds(1000);
constexpr auto kJudgeEvery = std::chrono::seconds(15);

std::chrono::milliseconds milliseconds_of(Duration time) {
  return std::chrono::milliseconds(time.raw() / 1'000'000'000);
}

/// The terminal in the state that a full-screen program needs, and back again whatever happens.
/// Written to directly: the verbs' own stream shows escape sequences instead of sending them.
class Screen {
 public:
  Screen() {
    if (::tcgetattr(STDIN_FILENO, &before_) == 0) {
      termios raw = before_;
      raw.c_lflag &= ~static_cast<tcflag_t>(ICANON | ECHO);
      is_raw_ = ::tcsetattr(STDIN_FILENO, TCSANOW, &raw) == 0;
    }
    send("\x1b[?1049h\x1b[?25l");  // the alternate screen, no cursor
  }
  Screen(const Screen&) = delete;
  Screen& operator=(const Screen&) = delete;
  ~Screen() {
    send("\x1b[?25h\x1b[?1049l");
    if (is_raw_) ::tcsetattr(STDIN_FILENO, TCSANOW, &before_);
  }

  static void draw(const std::vector<std::string>& lines) {
    std::string text = "\x1b[H";
    for (const std::string& line : lines)
      text += line + "\x1b[K\r\n";
    send(text + "\x1b[J");
  }

 private:
  static void send(std::string_view text) {
    while (!text.empty()) {
      const ssize_t written = ::write(STDOUT_FILENO, text.data(), text.size());
      if (written <= 0) return;  // the terminal is gone: the next key says so
      text.remove_prefix(static_cast<std::size_t>(written));
    }
  }

  termios before_{};
  bool is_raw_ = false;
};

/// A key within this time; 0 where none came.
char read_key(std::chrono::milliseconds wait) {
  pollfd input{STDIN_FILENO, POLLIN, 0};
  if (::poll(&input, 1, static_cast<int>(wait.count())) <= 0) return '\0';
  char key = '\0';
  return ::read(STDIN_FILENO, &key, 1) == 1 ? key : 'q';  // the terminal is gone
}

void measure(TopView& view) {
  winsize size{};
  if (::ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) != 0 || size.ws_col == 0) return;
  view.width = size.ws_col;
  view.height = size.ws_row > 1 ? size.ws_row - 1U : 1U;
}

std::string clock_text() {
  const std::time_t now = std::time(nullptr);
  std::tm local{};
  localtime_r(&now, &local);
  return fmt::format("{:02}:{:02}:{:02}", local.tm_hour, local.tm_min, local.tm_sec);
}

class Top {
 public:
  Top(ops::Watch watch, Duration interval, TopView view, Context& context)
      : watch_(std::move(watch)), interval_(interval), view_(std::move(view)), context_(context) {}

  /// Two looks an interval apart, printed.
  ExitCode once(const Command& command) {
    if (const auto first = watch_.look()) before_ = *first;
    wait();
    look();
    if (seen_)
      if (auto judgement = watch_.judge(*before_)) judgement_ = std::move(*judgement);
    if (context_.json) {
      print_top_json(context_, command, chosen_rows(rows_, view_), judged(), view_.is_simulated);
    } else {
      for (const std::string& line : top_screen(rows_, history_, judged(), view_))
        context_.out << line << '\n';
    }
    if (!seen_) return ExitCode::kCouldNotLook;
    print_unseen(*before_, context_);
    return before_->unseen.empty() ? ExitCode::kOk : ExitCode::kPartial;
  }

  ExitCode run() {
    const Interruption interruption;
    const Screen screen;
    auto next_look = SteadyClock::now();
    auto next_judgement = next_look;
    while (!Interruption::has_come()) {
      const auto now = SteadyClock::now();
      if (!is_held_ && now >= next_look) {
        look();
        next_look = now + (watch_.rounds() != nullptr ? kFleetPoll : milliseconds_of(interval_));
      }
      if (!is_held_ && now >= next_judgement) {
        judge();
        next_judgement = now + kJudgeEvery;
      }
      measure(view_);
      view_.status = is_held_ ? "held" : clock_text();
      view_.keys = is_filtering_ ? "type, then Enter" : "s sort, / filter, p hold, q quit";
      Screen::draw(top_screen(rows_, history_, judged(), view_));
      if (!take_key(read_key(std::chrono::milliseconds(100)))) return ExitCode::kOk;
    }
    return ExitCode::kOk;
  }

 private:
  [[nodiscard]] const finding::Judgement* judged() const {
    return judgement_ ? &*judgement_ : nullptr;
  }

  void wait() const {
    const auto end = SteadyClock::now() + milliseconds_of(interval_);
    while (SteadyClock::now() < end)
      ::poll(nullptr, 0, 20);
  }

  /// A fleet is looked at by a thread of its own. Hosts are shown as they answer; the curves have a
  /// point per round.
  void look_at_fleet(const ops::FleetRounds& rounds) {
    const std::uint64_t count = rounds.count();
    const std::uint64_t changes = rounds.changes();
    if (std::exchange(changes_, changes) != changes) {
      const ops::Observation seen = rounds.now_with_window();
      seen_ = !seen.hosts.empty();
      rows_ = ops::rail_rates(seen);
    }
    if (std::exchange(rounds_, count) != count) history_.add(rows_);
  }

  void look() {
    if (const ops::FleetRounds* rounds = watch_.rounds()) return look_at_fleet(*rounds);
    auto seen = watch_.look();
    seen_ = seen && !seen->hosts.empty();
    if (!seen) return;
    view_.is_simulated = seen->is_simulated();
    if (before_) rows_ = ops::rail_rates(*before_, *seen);
    if (!before_) rows_ = ops::rail_rates({}, *seen);
    // The clock of a lab does not move between loads: the last load is what there is to show.
    if (const auto load = watch_.last_load()) {
      view_.has_load = load->has_value();
      if (*load) rows_ = ops::rail_rates((*load)->first, (*load)->second);
    }
    history_.add(rows_);
    before_ = std::move(*seen);
  }

  void judge() {
    if (auto judgement = watch_.judge()) judgement_ = std::move(*judgement);
  }

  void sort_by_next() {
    const auto* at = std::find(std::begin(kTopSorts), std::end(kTopSorts), view_.sort);
    view_.sort = ++at == std::end(kTopSorts) ? kTopSorts[0] : *at;
  }

  /// False: leave.
  bool take_key(char key) {
    constexpr char kEscape = '\x1b';
    constexpr char kDelete = '\x7f';
    if (is_filtering_) {
      if (key == '\n' || key == '\r' || key == kEscape) {
        is_filtering_ = false;
        if (key == kEscape) view_.filter.clear();
      } else if (key == kDelete || key == '\b') {
        if (!view_.filter.empty()) view_.filter.pop_back();
      } else if (key > ' ' && key <= '~') {
        view_.filter += key;
      }
      return true;
    }
    if (key == 's') sort_by_next();
    if (key == 'p') is_held_ = !is_held_;
    if (key == '/') {
      is_filtering_ = true;
      view_.filter.clear();
    }
    return key != 'q';
  }

  ops::Watch watch_;
  Duration interval_;
  TopView view_;
  Context& context_;
  TopHistory history_;
  std::optional<ops::Observation> before_;
  std::vector<ops::RailRates> rows_;
  std::optional<finding::Judgement> judgement_;
  std::uint64_t rounds_ = 0;   // of a fleet, that the curves have
  std::uint64_t changes_ = 0;  // of a fleet, that are shown
  bool seen_ = false;
  bool is_held_ = false;
  bool is_filtering_ = false;
};

ops::Result<Duration> interval_of(const Args& args) {
  const auto text = args.get("interval");
  if (!text) return asks_machines(args) ? kFleetInterval : kUsualInterval;
  const auto interval = parse_duration(*text);
  if (!interval || *interval < kShortestInterval || *interval > kLongestInterval)
    return ops::bad_request(
        fmt::format("--interval: expected a time from 100ms to 1h, found '{}'", *text));
  return *interval;
}

TopView view_of(const Args& args) {
  TopView view;
  for (const TopSort sort : kTopSorts)
    if (to_text(sort) == args.value("sort")) view.sort = sort;
  view.filter = args.get("filter").value_or("");
  return view;
}

ExitCode run_top(const Args& args, Context& context) {
  const auto interval = interval_of(args);
  if (!interval) return fail(context, args.command(), interval.error());
  ops::WatchRequest request;
  auto source = source_of(args, context);
  if (!source) return fail(context, args.command(), source.error());
  request.source = std::move(*source);
  request.design = design_path_if_any(args, context);
  const bool is_once = args.has("once") || context.json;
  if (!is_once && !context.stdout_is_terminal)
    return usage_error(context, args.command(), "not a terminal: --once prints one screen");
  if (!is_once) request.rounds = *interval;
  auto watch = ops::Watch::open(request);
  if (!watch) return fail(context, args.command(), watch.error());
  Top top(std::move(*watch), *interval, view_of(args), context);
  return is_once ? top.once(args.command()) : top.run();
}

}  // namespace

Command top_command() {
  return {
      .name = "top",
      .summary = "what every rail does now, on one screen that refreshes",
      .description =
          "A row per rail: rates, how long the switch paused the NIC and the NIC the switch, "
          "marks, CNPs, "
          "losses, a curve of what it sent; open findings below. A ? is a number that could not "
          "be read twice, so that nothing says how fast it grows. Of a lab: what its last load "
          "did. "
          "Keys: s sort, / filter, p hold, q quit.",
      .arguments = {design_argument()},
      .options = with_host_options(
          {{.name = "interval",
            .metavar = "TIME",
            .help = "between two looks (1s; at a fleet: 10s)"},
           {.name = "sort",
            .metavar = "BY",
            .help = "what comes first",
            .default_value = "paused",
            .choices = {"paused", "pausing", "marks", "sent", "received", "loss", "name"}},
           {.name = "filter",
            .metavar = "TEXT",
            .help = "only rails whose host or device has TEXT"},
           {.name = "once", .help = "print one screen and end"}}),
      .examples = {{"weir top", "this host"},
                   {"weir top --once --interval 5s",
                    "one screen for a script: the rates of five seconds"},
                   {"weir top --hosts gpu[01-16]", "a fleet, by ssh"},
                   {"weir top --lab lab --once", "what the last load of a lab did"}},
      .exit_codes = {ExitCode::kOk, ExitCode::kBadInput, ExitCode::kCouldNotLook,
                     ExitCode::kPartial},
      .looks = Looks::kAtHostOrFiles,
      .takes_fleet = true,
      .run = run_top,
  };
}

}  // namespace weir::cli

#include "ops/verify/load_looks.h"

#include <charconv>
#include <cmath>
#include <optional>

#include <fmt/format.h>

#include "base/text.h"
#include "base/untrusted/quote.h"
#include "counters/catalog.h"

namespace weir::ops {
namespace {

using counters::Place;

// A minute of looks: what a load prints is bounded (host/fleet), whatever its length.
constexpr unsigned kMostLooks = 600;
// One that took longer was interrupted between its clock and its counters.
constexpr double kLongestLook = 0.03;

/// Where a shell finds what the catalogue knows under the wanted ids.
struct Names {
  std::vector<std::string> files;       // "hw_counters/np_cnp_sent"
  std::vector<std::string> statistics;  // patterns of a line of `ethtool -S`
};

std::string pattern_of(std::string_view raw) {
  std::string out;
  for (const char c : raw) {
    if (c == '#')
      out += "[0-9]+";
    else if (c == '.')
      out += "[.]";
    else
      out += c;
  }
  return out;
}

Names names_for(counters::Driver driver) {
  Names out;
  for (const std::string_view id : preflight::moment_counters()) {
    const counters::Counter* const counter = counters::find(id);
    if (counter == nullptr) continue;
    for (const counters::RawName& name : counters::names_of(*counter)) {
      if (name.driver != driver && name.driver != counters::Driver::kAny) continue;
      const bool is_file = name.place == Place::kHwCounters || name.place == Place::kCounters;
      // What goes through the network device is RDMA only where RDMA does.
      const bool is_netdev = name.place == Place::kStatistics && driver == counters::Driver::kRxe;
      if (is_file || is_netdev)
        out.files.push_back(fmt::format("{}/{}", to_text(name.place), name.pattern));
      if (name.place == Place::kEthtool) out.statistics.push_back(pattern_of(name.pattern));
    }
  }
  return out;
}

std::optional<double> number_of(std::string_view text) {
  double out = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), out);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  if (!std::isfinite(out)) return std::nullopt;
  return out;
}

/// One look while it is read.
struct Draft {
  std::optional<double> began;
  std::optional<double> read;  // its files, by then
  std::vector<counters::Sample> samples;
};

std::optional<counters::Sample> sample_of(std::string_view line) {
  // "hw_counters/np_cnp_sent 12", or as ethtool prints it: "     rx_prio3_pause: 12".
  const bool is_statistic = line.starts_with(' ');
  line = trim(line);
  const std::size_t at = line.find(' ');
  if (at == std::string_view::npos) return std::nullopt;
  const counters::Reading reading = counters::reading_from_text(line.substr(at + 1));
  std::string_view name = line.substr(0, at);
  if (is_statistic) {
    if (!name.ends_with(':')) return std::nullopt;
    name.remove_suffix(1);
    return counters::Sample{Place::kEthtool, std::string(name), reading};
  }
  const std::size_t slash = name.find('/');
  if (slash == std::string_view::npos) return std::nullopt;
  const auto place = counters::place_of(name.substr(0, slash));
  if (!place) return std::nullopt;
  return counters::Sample{*place, std::string(name.substr(slash + 1)), reading};
}

void read_line(std::string_view line, const LookedNic& nic, Draft& draft,
               std::vector<preflight::Look>& looks) {
  if (line.starts_with("t ")) {
    draft = {.began = number_of(line.substr(2)), .read = {}, .samples = {}};
  } else if (line.starts_with("u ")) {
    draft.read = number_of(line.substr(2));
  } else if (line == ".") {
    const bool is_whole = draft.began && draft.read && *draft.read >= *draft.began &&
                          *draft.read - *draft.began <= kLongestLook;
    if (is_whole && looks.size() <= kMostLooks)
      looks.push_back(
          {*draft.began, {nic.device, nic.netdev, nic.driver, std::move(draft.samples)}});
    draft = {};
  } else if (draft.began) {
    constexpr std::size_t kMostNames = 256;
    auto sample = sample_of(line);
    if (sample && draft.samples.size() < kMostNames) draft.samples.push_back(std::move(*sample));
  }
}

}  // namespace

LookLines look_lines(const LookPlan& plan) {
  if (plan.nics.empty()) return {};
  LookLines out;
  // look FOLDER NETDEV FILES PATTERN. $WEIR_SYSROOT is in front of every path; for tests.
  out.begin = fmt::format(
      "look() {{ read -r u x <\"$R/proc/uptime\"; y=$u; echo \"t $u\"; "
      "for f in $3; do v=; case $f in statistics/*) g=\"$R/sys/class/net/$2\";; *) g=\"$R$1\";; "
      "esac; read -r v <\"$g/$f\" && echo \"$f $v\"; done; "
      "read -r u x <\"$R/proc/uptime\"; echo \"u $u\"; "
      "[ -z \"$2\" ] || [ -z \"$4\" ] || ethtool -S \"$2\" | grep -E \"$4\"; echo .; }}\n"
      // Not longer than there is somewhere to write to: that goes with the load, however it ends.
      // They take a tenth of a CPU at most, of a slow one too: a look of c hundredths of a second
      // is followed by a pause of c tenths.
      "looks() {{ k=0; while [ $k -lt {} ] && [ -d \"$d\" ]; do look \"$@\"; k=$((k + 1)); c=1; "
      "w=; read -r w x <\"$R/proc/uptime\"; [ -z \"$y\" ] || [ -z \"$w\" ] || "
      "c=$((${{w%.*}}${{w#*.}} - ${{y%.*}}${{y#*.}})); [ $c -gt 0 ] || c=1; [ $c -lt 99 ] || c=99; "
      "sleep $((c / 10)).$((c % 10)) || sleep 1; done; }}\n"
      "R=${{WEIR_SYSROOT-}}\n",
      kMostLooks);
  for (std::size_t i = 0; i < plan.nics.size(); ++i) {
    const LookedNic& nic = plan.nics[i];
    const Names names = names_for(counters::driver_of(nic.driver));
    const std::string words = shell_line(
        {fmt::format("/sys/class/infiniband/{}/ports/{}", nic.device, nic.port), nic.netdev,
         join(names.files, " "),
         names.statistics.empty() ? std::string()
                                  : fmt::format("^ *({}):", join(names.statistics, "|"))});
    if (plan.when == When::kThroughout) {
      out.begin += fmt::format("looks {} >\"$d/look{}\" 2>/dev/null & q=\"$q $!\"\n", words, i);
    } else {
      const std::string once = fmt::format("look {} >>\"$d/look{}\" 2>/dev/null\n", words, i);
      out.begin += once;
      out.end += once;
    }
    out.print += fmt::format("echo \"{0}{1}\"; cat \"$d/look{1}\"\n", kLooksMark, i);
  }
  // Not waited for: a driver may hold who asks it for as long as it likes.
  if (plan.when == When::kThroughout) out.end = "kill $q 2>/dev/null\n";
  return out;
}

std::vector<std::vector<preflight::Look>> read_looks(std::string_view output,
                                                     const LookPlan& plan) {
  std::vector<std::vector<preflight::Look>> out(plan.nics.size());
  std::optional<std::size_t> current;
  Draft draft;
  for (const std::string_view line : split(output, '\n')) {
    if (line.starts_with(kLooksMark)) {
      const auto number = parse_u64(std::string(line.substr(kLooksMark.size())));
      current = number && *number < out.size() ? std::optional<std::size_t>(*number) : std::nullopt;
      draft = {};
    } else if (current) {
      read_line(line, plan.nics[*current], draft, out[*current]);
    }
  }
  return out;
}

}  // namespace weir::ops

#include "lab/fabric/state.h"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <ctime>
#include <filesystem>

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/digest.h"
#include "base/file.h"
#include "base/json.h"
#include "base/text.h"
#include "base/trusted_directory.h"
#include "base/untrusted/json_parse.h"
#include "design/file/load.h"
#include "evidence/json.h"
#include "lab/fabric/run_record_json.h"
#include "model/buffers.h"

namespace weir::lab {
namespace {

constexpr std::string_view kSchema = "weir/lab-state/";
constexpr std::uint64_t kVersion = 2;  // lists instead of objects of thousands of members
constexpr std::size_t kLargestState = std::size_t{512} << 20U;

std::string lock_file(const std::string& dir) {
  return dir + "/lock";
}

std::string digest_of(std::string_view text) {
  Digest digest;
  digest.add(text);
  return digest.to_text();
}

// ---- writing ----

Json nics_json(const Blueprint& blueprint, const State& state) {
  Json list = Json::array();
  for (std::uint32_t h = 0; h < state.nics.size(); ++h) {
    const NicSettings factory = factory_settings(blueprint.platform(h));
    for (std::uint32_t rail = 0; rail < state.nics[h].size(); ++rail) {
      Json changed = difference(factory, state.nics[h][rail]);
      if (!changed.empty())
        list.push_back({{"nic", nic_key(blueprint, {h, rail})}, {"set", std::move(changed)}});
    }
  }
  return list;
}

Json switches_json(const Blueprint& blueprint, const State& state) {
  Json object = Json::object();
  for (std::size_t s = 0; s < state.switches.size(); ++s) {
    const SwitchState& set = state.switches[s];
    Json device = Json::object();
    if (set.is_factory) device["factory"] = true;
    if (set.profile) device["buffer_profile"] = *set.profile;
    if (set.loaded) device["loaded"] = evidence::to_json(*set.loaded);
    if (!device.empty()) object[blueprint.intent.switches[s].name] = std::move(device);
  }
  return object;
}

Json faults_json(const Blueprint& blueprint, const State& state) {
  Json list = Json::array();
  for (const FaultRecord& fault : state.faults) {
    Json changes = Json::array();
    for (const SettingChange& change : fault.changes)
      changes.push_back({{"nic", nic_key(blueprint, change.nic)},
                         {"key", change.key},
                         {"before", Json::parse(change.before)},
                         {"after", Json::parse(change.after)}});
    Json switches = Json::array();
    for (const std::uint32_t index : fault.switches)
      switches.push_back(blueprint.intent.switches[index].name);
    list.push_back({{"fault", fault.text},
                    {"is_setting", fault.is_setting},
                    {"changes", std::move(changes)},
                    {"switches", std::move(switches)}});
  }
  return list;
}

/// All names once, then per port its name and the index of each counter's name with its value:
/// names would take most of the space.
Json counters_json(const CounterBank& bank) {
  std::map<std::string_view, std::size_t> places;
  Json names = Json::array();
  Json ports = Json::array();
  for (const auto& [port, values] : bank.ports()) {
    Json row = Json::array({port});
    for (const auto& [name, value] : values) {
      if (value == 0) continue;
      const auto [place, is_new] = places.emplace(name, places.size());
      if (is_new) names.push_back(name);
      row.push_back(place->second);
      row.push_back(value);
    }
    if (row.size() > 1) ports.push_back(std::move(row));
  }
  return {{"names", std::move(names)}, {"ports", std::move(ports)}};
}

// ---- reading ----

class Reader {
 public:
  Reader(const Blueprint& blueprint, const Json& document)
      : blueprint_(blueprint), root_(document), state_(new_state(blueprint, false, 1)) {
    for (std::uint32_t h = 0; h < blueprint.intent.hosts.size(); ++h)
      for (std::uint32_t rail = 0; rail < blueprint.intent.hosts[h].nics.size(); ++rail)
        nics_.emplace(nic_key(blueprint, {h, rail}), sim::NicRef{h, rail});
  }

  Result<State> read() {
    WEIR_TRY_STATUS(root_.expect_object());
    WEIR_TRY_STATUS(check_schema());
    WEIR_TRY_STATUS(check_design());
    WEIR_TRY_STATUS(number("seed", state_.seed));
    WEIR_TRY_STATUS(number("changes", state_.changes));
    WEIR_TRY_STATUS(number("loads", state_.loads));
    WEIR_TRY(clock_at, root_.member("clock_ps"));
    WEIR_TRY(clock, clock_at.integer());
    if (clock < 0) return clock_at.wrong("a time since the lab was made");
    state_.clock = Duration::raw(clock);
    WEIR_TRY_STATUS(read_nics());
    WEIR_TRY_STATUS(read_switches());
    WEIR_TRY_STATUS(read_faults());
    WEIR_TRY(counters, root_.member("counters"));
    WEIR_TRY_STATUS(read_counters(counters, state_.counters));
    if (const auto before = root_.find("counters_before"))
      WEIR_TRY_STATUS(read_counters(*before, state_.counters_before));
    if (const auto last = root_.find("last_run")) {
      WEIR_TRY(record, run_record_from_json(*last));
      state_.last_run = std::move(record);
    }
    return std::move(state_);
  }

 private:
  Status check_schema() {
    WEIR_TRY(at, root_.member("schema"));
    WEIR_TRY(schema, at.text());
    const auto version = schema.starts_with(kSchema)
                             ? parse_u64(std::string_view(schema).substr(kSchema.size()))
                             : Result<std::uint64_t>(parse_error("no"));
    if (!version) return invalid_error(fmt::format("schema {}: not the state of a lab", schema));
    if (*version < kVersion)
      return invalid_error(fmt::format(
          "schema {}: made by an older Weir; weir lab down removes it, weir lab up makes a new one",
          schema));
    if (*version > kVersion)
      return invalid_error(fmt::format("schema {}: made by a newer Weir; this version reads {}{}",
                                       schema, kSchema, kVersion));
    return {};
  }
  Status check_design() {
    WEIR_TRY(at, root_.member("design"));
    WEIR_TRY(digest, at.text());
    if (digest == blueprint_.digest) return {};
    return invalid_error(
        "its design.yaml is not the one that the lab was made with; edit the original and make a "
        "new lab: weir lab down, then weir lab up");
  }
  Status number(std::string_view key, std::uint64_t& out) {
    WEIR_TRY(at, root_.member(key));
    WEIR_TRY(value, at.whole_number());
    out = value;
    return {};
  }
  Result<sim::NicRef> nic_named(const JsonCursor& at, const std::string& name) const {
    const auto found = nics_.find(name);
    if (found == nics_.end()) return at.wrong("a NIC of the design");
    return found->second;
  }
  Status read_nics() {
    WEIR_TRY(at, root_.member("nics"));
    WEIR_TRY_STATUS(at.expect_array());
    for (std::size_t i = 0; i < at.size(); ++i) {
      const JsonCursor row = at.at(i);
      WEIR_TRY_STATUS(row.expect_object());
      WEIR_TRY(name_at, row.member("nic"));
      WEIR_TRY(name, name_at.text());
      WEIR_TRY(nic, nic_named(name_at, name));
      WEIR_TRY(settings, row.member("set"));
      WEIR_TRY_STATUS(set_keys(settings, state_.nics[nic.host][nic.rail]));
    }
    return {};
  }
  [[nodiscard]] Result<std::uint32_t> switch_named(const JsonCursor& at,
                                                   const std::string& name) const {
    const auto& all = blueprint_.intent.switches;
    const auto found = std::find_if(all.begin(), all.end(),
                                    [&](const auto& device) { return device.name == name; });
    if (found == all.end()) return at.wrong("a switch of the design");
    return static_cast<std::uint32_t>(found - all.begin());
  }
  Status read_switches() {
    WEIR_TRY(at, root_.member("switches"));
    WEIR_TRY_STATUS(at.expect_object());
    for (const auto& item : at.value().items()) {
      const std::string& name = item.key();
      const JsonCursor member = at.member(name, item.value());
      WEIR_TRY_STATUS(member.expect_object());
      WEIR_TRY(index, switch_named(member, name));
      SwitchState& state = state_.switches[index];
      if (const auto factory = member.find("factory")) {
        WEIR_TRY(is_factory, factory->boolean());
        state.is_factory = is_factory;
      }
      if (const auto profile = member.find("buffer_profile")) {
        WEIR_TRY(word, profile->text());
        if (!model::find_buffer_profile(word)) return profile->wrong("a buffer profile");
        state.profile = word;
      }
      if (const auto loaded = member.find("loaded")) {
        WEIR_TRY(sw, evidence::switch_from_json(*loaded));
        state.loaded = std::move(sw);
      }
    }
    return {};
  }
  Status read_faults() {
    WEIR_TRY(at, root_.member("faults"));
    WEIR_TRY_STATUS(at.expect_array());
    for (std::size_t i = 0; i < at.size(); ++i) {
      const JsonCursor fault = at.at(i);
      WEIR_TRY_STATUS(fault.expect_object());
      FaultRecord record;
      WEIR_TRY(text_at, fault.member("fault"));
      WEIR_TRY(text, text_at.text());
      record.text = text;
      WEIR_TRY(setting_at, fault.member("is_setting"));
      WEIR_TRY(is_setting, setting_at.boolean());
      record.is_setting = is_setting;
      WEIR_TRY(changes, fault.member("changes"));
      WEIR_TRY_STATUS(changes.expect_array());
      for (std::size_t c = 0; c < changes.size(); ++c)
        WEIR_TRY_STATUS(read_change(changes.at(c), record));
      WEIR_TRY(switches, fault.member("switches"));
      WEIR_TRY_STATUS(switches.expect_array());
      for (std::size_t s = 0; s < switches.size(); ++s) {
        WEIR_TRY(name, switches.at(s).text());
        WEIR_TRY(index, switch_named(switches.at(s), name));
        record.switches.push_back(index);
      }
      state_.faults.push_back(std::move(record));
    }
    return {};
  }
  Status read_change(const JsonCursor& at, FaultRecord& record) const {
    WEIR_TRY_STATUS(at.expect_object());
    WEIR_TRY(nic_at, at.member("nic"));
    WEIR_TRY(name, nic_at.text());
    WEIR_TRY(nic, nic_named(nic_at, name));
    WEIR_TRY(key_at, at.member("key"));
    WEIR_TRY(key, key_at.text());
    if (!at.value().contains("before") || !at.value().contains("after"))
      return at.wrong("the values before and after");
    SettingChange change{nic, key, at.value()["before"].dump(), at.value()["after"].dump()};
    NicSettings probe = state_.nics[nic.host][nic.rail];
    for (const std::string* value : {&change.before, &change.after}) {
      const Json object = {{change.key, Json::parse(*value)}};
      WEIR_TRY_STATUS(set_keys(JsonCursor(object), probe));
    }
    record.changes.push_back(std::move(change));
    return {};
  }
  static Status read_counters(const JsonCursor& at, CounterBank& bank) {
    WEIR_TRY_STATUS(at.expect_object());
    WEIR_TRY(names_at, at.member("names"));
    WEIR_TRY_STATUS(names_at.expect_array());
    std::vector<std::string> names;
    for (std::size_t i = 0; i < names_at.size(); ++i) {
      WEIR_TRY(name, names_at.at(i).text());
      names.push_back(name);
    }
    WEIR_TRY(ports_at, at.member("ports"));
    WEIR_TRY_STATUS(ports_at.expect_array());
    for (std::size_t p = 0; p < ports_at.size(); ++p) {
      const JsonCursor row = ports_at.at(p);
      WEIR_TRY_STATUS(row.expect_array());
      if (row.size() % 2 != 1) return row.wrong("a port, then pairs of an index and a value");
      WEIR_TRY(port, row.at(0).text());
      for (std::size_t i = 1; i < row.size(); i += 2) {
        WEIR_TRY(place, row.at(i).whole_number());
        WEIR_TRY(count, row.at(i + 1).whole_number());
        if (place >= names.size()) return row.at(i).wrong("the index of a name");
        bank.add(port, names[place], count);
      }
    }
    return {};
  }

  const Blueprint& blueprint_;
  JsonCursor root_;
  State state_;
  std::map<std::string, sim::NicRef, std::less<>> nics_;
};

/// Of a key such as "hw_counters/np_cnp_sent".
std::optional<std::size_t> position_of(std::string_view key, const counters::Layout& layout) {
  const std::size_t slash = key.find('/');
  const auto place = counters::place_of(key.substr(0, slash));
  if (!place || slash == std::string_view::npos) return std::nullopt;
  return layout.find(*place, key.substr(slash + 1));
}

}  // namespace

// ---- counters ----

void CounterBank::add(const std::string& port, const std::string& key, std::uint64_t amount) {
  ports_[port][key] += amount;
}

void CounterBank::add(const std::string& port, const counters::PortCounters& run) {
  Values& values = ports_[port];
  for (const counters::ShownSample& sample : run.samples()) {
    if (!sample.reading.has_value()) continue;
    const std::uint64_t counted = sample.reading.value();
    const counters::Kind kind =
        sample.match.counter == nullptr ? counters::Kind::kCounter : sample.match.counter->kind;
    if (kind == counters::Kind::kSetting) continue;  // the fabric at rest shows it
    const bool is_level = kind == counters::Kind::kGauge;
    if (counted == 0 && (!is_level || values.empty())) continue;  // most counters of most ports
    std::uint64_t& kept = values[sample.key()];
    if (!is_level)
      kept += counted;
    else if (sample.match.counter->id.find("_max.") != std::string_view::npos)
      kept = std::max(kept, counted);
    else
      kept = counted;
  }
}

counters::PortCounters CounterBank::total(const std::string& port,
                                          const counters::PortCounters& now) const {
  const auto found = ports_.find(port);
  if (found == ports_.end()) return now;
  std::vector<counters::Reading> readings(now.readings().begin(), now.readings().end());
  for (const auto& [key, value] : found->second) {
    const auto at = position_of(key, *now.layout());
    if (!at || !readings[*at].has_value()) continue;
    std::uint64_t sum = readings[*at].value() + value;
    const counters::RawName* const name = (*now.layout())[*at].match.name;
    if (name != nullptr && name->bits < 64) {
      const std::uint64_t most = (std::uint64_t{1} << name->bits) - 1;
      sum = name->overflow == counters::Overflow::kWraps ? sum & most : std::min(sum, most);
    }
    readings[*at] = counters::Reading::of(sum);
  }
  return now.with(std::move(readings));
}

// ---- the state ----

State new_state(const Blueprint& blueprint, bool factory_switches, std::uint64_t seed) {
  State state;
  state.seed = seed;
  for (std::uint32_t h = 0; h < blueprint.intent.hosts.size(); ++h)
    state.nics.emplace_back(blueprint.intent.hosts[h].nics.size(),
                            factory_settings(blueprint.platform(h)));
  state.switches.resize(blueprint.intent.switches.size(), {factory_switches, std::nullopt});
  return state;
}

std::string nic_key(const Blueprint& blueprint, const sim::NicRef& nic) {
  const design::HostIntent& host = blueprint.intent.hosts[nic.host];
  return fmt::format("{}/{}", host.name, host.nics[nic.rail].device);
}

std::string port_key(std::string_view switch_name, std::string_view port) {
  return fmt::format("{}/{}", switch_name, port);
}

std::string state_file(const std::string& dir) {
  return dir + "/state.json";
}
std::string design_file(const std::string& dir) {
  return dir + "/design.yaml";
}

Result<Blueprint> load_blueprint(const std::string& dir, const std::string& file) {
  WEIR_TRY(text, read_file(file));
  design::Loaded loaded = design::load_text(text, file);
  if (!loaded.is_good()) return invalid_error(design::to_text(loaded));
  design::Derived derived = design::derive(loaded.design);
  if (!derived.errors.empty()) {
    loaded.errors = std::move(derived.errors);
    return invalid_error(design::to_text(loaded));
  }
  return Blueprint{dir, digest_of(text), std::move(loaded.design), std::move(derived.intent)};
}

Result<State> read_state(const Blueprint& blueprint) {
  const std::string path = state_file(blueprint.directory);
  WEIR_TRY(text, read_file(path, kLargestState));
  const auto document = parse_json(text);
  if (!document)
    return parse_error(
        fmt::format("{}: the lab is damaged; create a new one: {}", path, document.error().what));
  auto state = Reader(blueprint, *document).read();
  if (!state) return state.error().within(path);
  return state;
}

Status write_state(const Blueprint& blueprint, const State& state) {
  Json object = {{"schema", fmt::format("{}{}", kSchema, kVersion)},
                 {"design", blueprint.digest},
                 {"seed", state.seed},
                 {"changes", state.changes},
                 {"loads", state.loads},
                 {"clock_ps", state.clock.raw()}};
  object["nics"] = nics_json(blueprint, state);
  object["switches"] = switches_json(blueprint, state);
  object["faults"] = faults_json(blueprint, state);
  object["counters"] = counters_json(state.counters);
  if (state.last_run) {
    object["counters_before"] = counters_json(state.counters_before);
    object["last_run"] = to_json(*state.last_run);
  }
  return write_file_atomic(state_file(blueprint.directory), object.dump() + "\n");
}

// ---- files ----

Result<Lock> Lock::take(const std::string& dir) {
  const std::string path = lock_file(dir);
  // Nothing is ever written to it; what is not a plain file of that name is not opened.
  const int fd = ::open(path.c_str(), O_RDWR | O_CREAT | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC, 0666);
  if (fd < 0 && errno == ELOOP)
    return invalid_error(path + " is not trusted: it is a symbolic link");
  if (fd < 0)
    return Error{errno == EACCES ? ErrorCode::kPermission : ErrorCode::kIo,
                 fmt::format("open {}: {}", path, std::strerror(errno))};
  Lock lock(fd);
  struct stat info {};
  if (::fstat(fd, &info) != 0 || !S_ISREG(info.st_mode))
    return invalid_error(path + " is not trusted: it is no plain file");
  constexpr int kPatience = 300;  // seconds
  constexpr int kPerSecond = 100;
  constexpr timespec kBetweenTries = {.tv_sec = 0, .tv_nsec = 10'000'000};
  for (int tries = 0; ::flock(fd, LOCK_EX | LOCK_NB) != 0; ++tries) {
    if (errno != EINTR && errno != EWOULDBLOCK)
      return Error{ErrorCode::kIo, fmt::format("lock {}: {}", path, std::strerror(errno))};
    if (tries >= kPatience * kPerSecond)
      return Error{
          ErrorCode::kIo,
          fmt::format("another weir has been changing {} for {} s: wait until it has ended "
                      "(fuser {} names it)",
                      dir, kPatience, path)};
    ::nanosleep(&kBetweenTries, nullptr);
  }
  return lock;
}

Lock::~Lock() {
  if (fd_ >= 0) ::close(fd_);
}

bool is_lab_state(const std::string& dir) {
  constexpr std::size_t kHead = 200;  // the schema is the first member
  const auto head = read_head(state_file(dir), kHead);
  return head && head->find(kSchema) != std::string::npos;
}

Status remove_files(const std::string& dir) {
  namespace fs = std::filesystem;
  std::error_code error;
  std::vector<fs::path> own;
  // Of the journals only what is one; a directory with anything else in it stays.
  const fs::path journals = fs::path(dir) / "journal";
  const auto applied = TrustedDirectory::open(journals.string(), TrustedDirectory::Above::kIgnored);
  if (!applied && applied.error().code != ErrorCode::kNotFound) return applied.error();
  std::vector<std::string> written;
  if (applied) {
    WEIR_TRY(names, applied->names());
    written = std::move(names);
  }
  std::erase_if(written, [](const std::string& name) {
    return !name.starts_with("journal-") && name != "lock";
  });
  for (const fs::directory_entry& entry : fs::directory_iterator(dir, error)) {
    const std::string name = entry.path().filename().string();
    const bool is_leftover = name.starts_with("state.json.") || name.starts_with("design.yaml.");
    if (name == "design.yaml" || name == "lock" || is_leftover) own.push_back(entry.path());
  }
  if (error) return Error{ErrorCode::kIo, fmt::format("read {}: {}", dir, error.message())};
  // The state first: without it the rest is not a lab.
  own.insert(own.begin(), state_file(dir));
  for (const fs::path& path : own) {
    fs::remove(path, error);
    if (error)
      return Error{ErrorCode::kIo, fmt::format("remove {}: {}", path.string(), error.message())};
  }
  for (const std::string& name : written)  // by the open directory, not by name
    applied->remove(name);
  if (applied && fs::is_empty(journals, error) && !error) fs::remove(journals, error);
  if (fs::is_empty(dir, error) && !error) fs::remove(dir, error);
  return {};
}

}  // namespace weir::lab

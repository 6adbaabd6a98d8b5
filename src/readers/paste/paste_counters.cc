// Counters as tools print them: ethtool -S, rdma statistic, dumps of the kernel's files, and the
// lists that are left of those after a grep.
#include <algorithm>

#include "base/text.h"
#include "readers/paste/paste_counted.h"
#include "readers/paste/paste_tools.h"
#include "readers/paste/text_lines.h"

namespace weir::readers {
namespace {

using counters::Place;

bool is_counter_name(std::string_view name) {
  constexpr std::size_t kLongest = 80;
  return name.size() > 2 && name.size() < kLongest &&
         std::all_of(name.begin(), name.end(), [](char c) {
           return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
                  c == '_' || c == '.' || c == '-';
         });
}

/// Which driver's names these are, for people.
std::string family_of(std::string_view name) {
  const auto matches = counters::find_anywhere(name);
  if (matches.size() != 1 || matches.front().name->driver == counters::Driver::kAny) return "";
  return std::string(counters::to_text(matches.front().name->driver));
}

}  // namespace

/// Of whatever driver; the first match on a NIC gives its place.
std::optional<Place> place_of_counter(std::string_view name) {
  for (const counters::Match& match : counters::find_anywhere(name)) {
    const Place place = match.name->place;
    const bool is_nic =
        place == Place::kHwCounters || place == Place::kEthtool || place == Place::kCounters;
    if (is_nic) return place;
  }
  return std::nullopt;
}

std::optional<NamedCount> named_count(std::string_view line) {
  const std::string_view text = trim(line);
  const std::size_t name_end = text.find_first_of(" \t:=");
  if (name_end == std::string_view::npos) return std::nullopt;
  const std::string_view name = text.substr(0, name_end);
  const std::size_t number = text.find_first_not_of(" \t:=", name_end);
  if (number == std::string_view::npos || !is_counter_name(name)) return std::nullopt;
  const auto value = parse_count(text.substr(number));
  if (!value) return std::nullopt;
  return NamedCount{name, *value};
}

void add_count(std::vector<counters::Sample>& samples, Place place, std::string_view name,
               std::uint64_t value) {
  counters::Sample sample;
  sample.place = place;
  sample.name = name;
  sample.reading = counters::Reading::of(value);
  samples.push_back(std::move(sample));
}

// ---- ethtool -S ----

bool begins_statistics(const PasteAt& at) {
  return at.line(0) == "NIC statistics:";
}

std::size_t read_statistics(const PasteAt& at, PasteSink& out) {
  PastedNic& nic = out.hosts().by_netdev(out.host(), at.mark.device);
  std::vector<counters::Sample>& samples = nic.begin_dump(Place::kEthtool);
  std::size_t taken = 1;
  for (; taken < at.lines.size(); ++taken) {
    const std::string_view text = at.line(taken);
    if (const auto item = named_count(text)) {
      add_count(samples, Place::kEthtool, item->name, item->value);
      if (out.detail.empty()) out.detail = family_of(item->name);
    } else if (const auto key = key_value(text);
               key && is_counter_name(key->key) && at.lines[taken].text.starts_with(' ')) {
      out.unread(at.lines[taken], "expected a number after the counter's name");
    } else if (text == "[...]" || text == "..." || text == "<snip>") {
      continue;
    } else {
      break;
    }
  }
  out.device = at.mark.device;
  return taken;
}

// ---- lists of counters without a heading ----

namespace {

/// A line of `diff`: "< name: 1" was there before, "> name: 2" is there now.
struct DiffLine {
  bool is_after = false;
  NamedCount count;
};
std::optional<DiffLine> diff_line(std::string_view text) {
  if (!text.starts_with("< ") && !text.starts_with("> ")) return std::nullopt;
  const auto count = named_count(text.substr(2));
  if (!count || !place_of_counter(count->name)) return std::nullopt;
  return DiffLine{text.front() == '>', *count};
}

/// "41,42c41,42", "---": between the lines of a diff.
bool is_hunk(std::string_view text) {
  return text == "---" ||
         (!text.empty() && text.find_first_not_of("0123456789,acd") == std::string_view::npos &&
          text.find_first_of("acd") != std::string_view::npos);
}

}  // namespace

bool begins_diff(const PasteAt& at) {
  return diff_line(at.line(0)).has_value();
}

std::size_t read_diff(const PasteAt& at, PasteSink& out) {
  PastedNic& nic = out.hosts().by_name(out.host(), at.mark.device);
  std::size_t taken = 0;
  std::size_t last = 0;
  for (; taken < at.lines.size(); ++taken) {
    const auto item = diff_line(at.line(taken));
    if (!item && !is_hunk(at.line(taken))) break;
    if (!item) continue;
    nic.add_to_window(place_of_counter(item->count.name).value_or(Place::kEthtool),
                      item->count.name, item->count.value, item->is_after);
    last = taken;
  }
  out.device = at.mark.device;
  return last + 1;
}

bool begins_counter_list(const PasteAt& at) {
  if (counted_table(at)) return true;
  const auto first = counted_line(at.line(0));
  if (!first) return false;
  // "name: value" speaks for itself; "name value" might be the start of a sentence.
  if (first->is_listed || first->counts.size() > 1 || at.mark.tool() == "ethtool") return true;
  return counted_line(at.line(1)).has_value();
}

std::size_t read_counter_list(const PasteAt& at, PasteSink& out) {
  CountedSink sink(at, out);
  out.device = at.mark.device;
  if (const auto table = counted_table(at)) return sink.add(*table);
  std::size_t taken = 0;
  for (; taken < at.lines.size(); ++taken) {
    const std::string_view text = at.line(taken);
    if (const auto line = counted_line(text)) {
      if (line->is_window()) break;
      sink.add(*line);
      if (out.detail.empty()) out.detail = family_of(line->counts.front().name);
    } else if (const auto item = named_count(text); item && !place_of_counter(item->name)) {
      sink.add_unknown(item->name, item->value);
    } else {
      break;
    }
  }
  return taken;
}

// ---- rdma statistic ----

namespace {

/// "link mlx5_0/1 rx_write_requests 12 …": name and number in turn.
std::optional<std::string_view> statistic_device(std::string_view line) {
  const auto words = words_of(line);
  if (words.size() < 4 || words[0] != "link" || words[2] == "state" || words[2] == "lqpn")
    return std::nullopt;
  const std::size_t slash = words[1].find('/');
  if (slash == std::string_view::npos || !parse_u64(words[3])) return std::nullopt;
  return words[1].substr(0, slash);
}

}  // namespace

bool begins_rdma_statistic(const PasteAt& at) {
  return statistic_device(at.line(0)).has_value();
}

std::size_t read_rdma_statistic(const PasteAt& at, PasteSink& out) {
  std::size_t taken = 0;
  for (; taken < at.lines.size(); ++taken) {
    const auto device = statistic_device(at.line(taken));
    if (!device) break;
    PastedNic& nic = out.hosts().by_device(out.host(), *device);
    std::vector<counters::Sample>& samples = nic.begin_dump(Place::kHwCounters);
    const auto words = words_of(at.line(taken));
    for (std::size_t word = 2; word + 1 < words.size(); word += 2) {
      const auto value = parse_u64(words[word + 1]);
      if (!value) {
        out.unread(at.lines[taken], "expected names and numbers in turn");
        break;
      }
      add_count(samples, Place::kHwCounters, words[word], *value);
    }
    out.device = out.device.empty() ? std::string(*device) : out.device;
  }
  return taken;
}

// ---- the kernel's files ----

namespace {

struct FileLine {
  std::string_view device;
  std::string_view folder;  // "hw_counters"
  std::string_view name;
  std::string_view value;
};

/// "/sys/class/infiniband/mlx5_0/ports/1/hw_counters/np_cnp_sent:12"; also relative, and with
/// blanks or a tab in place of the colon.
std::optional<FileLine> file_line(std::string_view line) {
  FileLine out;
  for (const std::string_view folder : {"hw_counters/", "/counters/", "statistics/", "gids/",
                                        "gid_attrs/types/", "gid_attrs/ndevs/"}) {
    const std::size_t at = line.find(folder);
    if (at == std::string_view::npos) continue;
    if (line.substr(0, at).find_first_of(" \t") != std::string_view::npos) continue;
    const std::string_view rest = line.substr(at + folder.size());
    const std::size_t end = rest.find_first_of(": \t=");
    if (end == std::string_view::npos || end == 0) return std::nullopt;
    out.name = rest.substr(0, end);
    out.value = trim(rest.substr(end + 1));
    out.folder = folder.starts_with('/') ? folder.substr(1) : folder;
    out.folder.remove_suffix(1);
    for (const std::string_view parent : {"/infiniband/", "/net/"}) {
      const std::size_t begin = line.substr(0, at + 1).find(parent);
      if (begin == std::string_view::npos) continue;
      const std::string_view tail = line.substr(begin + parent.size());
      out.device = tail.substr(0, tail.find('/'));
    }
    return out;
  }
  return std::nullopt;
}

/// "==> /sys/…/np_cnp_sent <==" and the value on the next line, as head and tail print them.
std::optional<std::string> headed_line(const PasteAt& at, std::size_t n) {
  const std::string_view head = at.line(n);
  if (!head.starts_with("==> ") || !head.ends_with(" <==")) return std::nullopt;
  const std::string_view path = head.substr(4, head.size() - 8);
  return std::string(path) + ":" + std::string(at.line(n + 1));
}

std::vector<evidence::Gid> gids_of(const PastedNic& nic) {
  return nic.nic.rdma.gids.is_known() ? *nic.nic.rdma.gids : std::vector<evidence::Gid>();
}

void add_gid_file(const FileLine& file, const PasteLine& line, PastedNic& nic, PasteSink& out) {
  const auto index = parse_u64(file.name);
  if (!index || *index > 65535) return;
  std::vector<evidence::Gid> gids = gids_of(nic);
  auto gid = std::find_if(gids.begin(), gids.end(),
                          [&](const evidence::Gid& item) { return item.index == *index; });
  if (gid == gids.end()) {
    if (file.folder != "gids" || file.value.find_first_not_of("0:") == std::string_view::npos)
      return;
    gid = gids.insert(gids.end(), evidence::Gid{});
    gid->index = static_cast<unsigned>(*index);
    gid->type = evidence::GidType::kRoceV1;
    nic.untyped_gids.insert(gid->index);  // until its type is read
  }
  if (file.folder == "gids") gid->gid = file.value;
  if (file.folder == "gid_attrs/types") {
    nic.untyped_gids.erase(gid->index);
    if (file.value.find("v2") != std::string_view::npos) gid->type = evidence::GidType::kRoceV2;
  }
  if (file.folder == "gid_attrs/ndevs") gid->netdev = file.value;
  out.set(nic.nic.rdma.gids, std::move(gids), line);
}

void add_file(const FileLine& file, const PasteLine& line, PasteSink& out) {
  PastedNic& nic = out.hosts().by_name(out.host(), file.device);
  if (file.folder.starts_with("gid")) {
    add_gid_file(file, line, nic, out);
    if (file.folder == "gid_attrs/ndevs") out.hosts().connect(out.host(), file.device, file.value);
    return;
  }
  const Place place = file.folder == "hw_counters" ? Place::kHwCounters
                      : file.folder == "counters"  ? Place::kCounters
                                                   : Place::kStatistics;
  const auto value = parse_u64(file.value);
  if (value) {
    add_count(nic.dump_for(place, file.name), place, file.name, *value);
  } else {
    out.unread(line, "expected a number");
  }
}

}  // namespace

bool begins_sysfs(const PasteAt& at) {
  if (const auto headed = headed_line(at, 0)) return file_line(*headed).has_value();
  return file_line(at.line(0)).has_value();
}

std::size_t read_sysfs(const PasteAt& at, PasteSink& out) {
  std::size_t taken = 0;
  while (taken < at.lines.size()) {
    const auto headed = headed_line(at, taken);
    const std::string text = headed ? *headed : std::string(at.line(taken));
    auto file = file_line(text);
    if (!file) {
      if (!at.line(taken).empty() || taken + 1 >= at.lines.size()) break;
      ++taken;  // head leaves a blank line between files
      continue;
    }
    if (file->device.empty()) file->device = at.mark.device;
    add_file(*file, at.lines[taken], out);
    if (out.device.empty()) out.device = file->device;
    taken += headed ? 2 : 1;
  }
  return std::min(taken, at.lines.size());
}

}  // namespace weir::readers

#include "design/file/load.h"

#include <algorithm>
#include <set>

#include <fmt/format.h>

#include "base/file.h"
#include "base/text.h"
#include "base/untrusted/printable.h"
#include "design/fabric/patterns.h"
#include "design/file/defaults.h"
#include "design/file/fields.h"
#include "design/file/name_check.h"
#include "design/file/value_text.h"
#include "design/tables/platforms.h"
#include "design/tables/switch_models.h"

namespace weir::design {
namespace {

/// What a field takes, as an error says it.
std::string numbers_of(Range range) {
  return range.min == range.max ? std::to_string(range.min)
                                : fmt::format("a number from {} to {}", range.min, range.max);
}

// Fills one struct from one mapping. Visiting looks every known key up; the keys that remain are
// unknown.
class Reader {
 public:
  Reader(const YamlNode& node, std::string path, std::vector<Diagnostic>& errors)
      : node_(node), path_(std::move(path)), errors_(errors) {}

  template <class T>
  void field(std::string_view key, Setting<T>& out, std::string_view help) {
    const YamlEntry* const entry = take(key);
    if (entry == nullptr) return;
    if (entry->value.is_empty()) {
      error(entry->at, fmt::format("'{}' has no value: {}", full(key), help));
      out.reject(entry->at);
      return;
    }
    const auto text = scalar_text<T>(entry->value);
    if (!text) {
      error(entry->value.at, fmt::format("{}: expected one value, found {}", full(key),
                                         describe_kind(entry->value)));
      out.reject(entry->at);
      return;
    }
    auto value = ValueText<T>::parse(*text);
    if (value) {
      out.write(*std::move(value), entry->value.at);
    } else {
      error(entry->value.at, fmt::format("{}: {}", full(key), value.error().what));
      out.reject(entry->value.at);
    }
  }

  template <class T>
  void field(std::string_view key, Setting<T>& out, std::string_view help, Range range) {
    field(key, out, help);
    if (!out.is_written()) return;
    int number = 0;
    if constexpr (std::is_same_v<T, int>) {
      number = *out;
    } else {
      if (out->is_auto) return;
      number = out->value;
    }
    if (number >= range.min && number <= range.max) return;
    error(out.at(), fmt::format("{}: expected {}, found {}", full(key), numbers_of(range), number));
  }

  template <class S>
  void section(std::string_view key, S& out, std::string_view /*help*/) {
    const YamlEntry* const entry = take(key);
    if (entry != nullptr && !entry->value.is_empty()) read(entry->value, full(key), out);
  }

  template <class S>
  void named(std::string_view key, std::vector<Named<S>>& out, std::string_view help) {
    const YamlEntry* const entry = take(key);
    if (entry == nullptr || entry->value.is_empty()) return;
    if (entry->value.kind != YamlNode::Kind::kMapping) {
      error(entry->value.at, fmt::format("{}: expected a mapping of names ({}), found {}",
                                         full(key), help, describe_kind(entry->value)));
      return;
    }
    for (const YamlEntry& member : entry->value.entries) {
      check_name(key, member);
      Named<S> item{member.key, member.at, {}};
      if (!member.value.is_empty()) read(member.value, full(key) + "." + member.key, item.value);
      out.push_back(std::move(item));
    }
  }

  template <class S>
  void list(std::string_view key, std::vector<S>& out, std::string_view help) {
    const YamlEntry* const entry = take(key);
    if (entry == nullptr || entry->value.is_empty()) return;
    if (entry->value.kind != YamlNode::Kind::kSequence) {
      error(entry->value.at, fmt::format("{}: expected a list ({}), found {}", full(key), help,
                                         describe_kind(entry->value)));
      return;
    }
    for (std::size_t i = 0; i < entry->value.items.size(); ++i) {
      S item;
      if constexpr (requires { item.at; }) item.at = entry->value.items[i].at;
      read(entry->value.items[i], fmt::format("{}[{}]", full(key), i), item);
      out.push_back(std::move(item));
    }
  }

  void knobs(std::vector<Knob>& out, std::string_view /*help*/) {
    for (const YamlEntry& entry : node_.entries) {
      if (taken_.contains(entry.key)) continue;
      taken_.insert(entry.key);
      check_name(path_, entry);
      if (entry.value.kind != YamlNode::Kind::kScalar || entry.value.is_empty()) {
        error(entry.value.at, fmt::format("{}: expected one value, found {}", full(entry.key),
                                          describe_kind(entry.value)));
        continue;
      }
      const auto text = ValueText<std::string>::parse(entry.value.scalar);
      if (text)
        out.push_back({entry.key, entry.at, *text, entry.value.at});
      else
        error(entry.value.at, fmt::format("{}: {}", full(entry.key), text.error().what));
    }
  }

  template <class S>
  void read(const YamlNode& node, const std::string& path, S& out) {
    if (node.kind != YamlNode::Kind::kMapping) {
      error(node.at, fmt::format("{}: expected a mapping (key: value), found {}",
                                 path.empty() ? "the file" : path, describe_kind(node)));
      return;
    }
    Reader inner(node, path, errors_);
    visit(inner, out);
    inner.report_unknown();
  }

  void report_unknown() {
    for (const YamlEntry& entry : node_.entries) {
      if (taken_.contains(entry.key)) continue;
      constexpr std::size_t kMostSuggested = 1'000;  // a hostile file must not buy time with typos
      if (errors_.size() > kMostSuggested) return;
      std::string hint = did_you_mean(entry.key, known_);
      if (hint.empty()) hint = "; known keys are " + join(known_, ", ");
      error(entry.at, fmt::format("unknown key '{}'{}{}", entry.key,
                                  path_.empty() ? "" : " in " + path_, hint));
    }
  }

 private:
  const YamlEntry* take(std::string_view key) {
    known_.emplace_back(key);
    const auto found = std::find_if(node_.entries.begin(), node_.entries.end(),
                                    [&](const YamlEntry& e) { return e.key == key; });
    if (found == node_.entries.end()) return nullptr;
    taken_.insert(found->key);
    return &*found;
  }

  // A scalar as it is; a list of scalars joined by commas where the type allows a list.
  template <class T>
  static std::optional<std::string> scalar_text(const YamlNode& node) {
    if (node.kind == YamlNode::Kind::kScalar) return node.scalar;
    if (kMayBeMapping<T> && node.kind == YamlNode::Kind::kMapping) return mapping_text(node);
    if (!kMayBeList<T> || node.kind != YamlNode::Kind::kSequence || node.items.empty())
      return std::nullopt;
    std::vector<std::string> pieces;
    for (const YamlNode& item : node.items) {
      if (item.kind != YamlNode::Kind::kScalar) return std::nullopt;
      pieces.push_back(item.scalar);
    }
    return join(pieces, ",");
  }

  // "KEY=VALUE, KEY=VALUE"; a list gives its key once for each value.
  static std::optional<std::string> mapping_text(const YamlNode& node) {
    std::vector<std::string> pieces;
    for (const YamlEntry& entry : node.entries) {
      const bool is_list = entry.value.kind == YamlNode::Kind::kSequence;
      const std::size_t count = is_list ? entry.value.items.size() : 1;
      for (std::size_t i = 0; i < count; ++i) {
        const YamlNode& value = is_list ? entry.value.items[i] : entry.value;
        if (value.kind != YamlNode::Kind::kScalar) return std::nullopt;
        for (const std::string_view piece : split_outside_brackets(value.scalar))
          pieces.push_back(fmt::format("{}={}", entry.key, trim(piece)));
      }
    }
    if (pieces.empty()) return std::nullopt;
    return join(pieces, ", ");
  }

  // A key that is the user's own name: it appears in messages, paths and printed designs.
  void check_name(std::string_view section, const YamlEntry& entry) {
    constexpr std::string_view kAllowed =
        "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-";
    if (!entry.key.empty() && entry.key.find_first_not_of(kAllowed) == std::string::npos &&
        entry.key.front() != '-')
      return;
    error(entry.at, fmt::format("{}: expected a name of letters, digits, '_' and '-', found '{}'",
                                section, entry.key));
  }

  [[nodiscard]] std::string full(std::string_view key) const {
    return path_.empty() ? std::string(key) : path_ + "." + std::string(key);
  }
  void error(TextPosition at, std::string message) { errors_.push_back({at, std::move(message)}); }

  const YamlNode& node_;
  std::string path_;
  std::vector<Diagnostic>& errors_;
  std::vector<std::string> known_;
  std::set<std::string, std::less<>> taken_;
};

template <class Table>
std::vector<std::string> names_of(const Table& table) {
  std::vector<std::string> names;
  for (const auto& row : table)
    names.emplace_back(row.name);
  return names;
}

// Checks that need two values or a table; everything that only needs one is in ValueText.
class Checker {
 public:
  Checker(const Design& design, std::vector<Diagnostic>& errors)
      : design_(design), errors_(errors) {}

  void check() {
    if (design_.format.is_missing())
      error({1, 1}, "expected 'weir: 1', the version of the format, as the first line");
    check_groups();
    check_names(design_, errors_);
    check_sizes();
    check_tables();
    check_wred("wred", design_.wred);
    for (const auto& group : design_.switches)
      check_wred(fmt::format("switches.{}.wred", group.name), group.value.wred);
    check_rdma_mtu();
    check_classes();
  }

  /// After the defaults: a class the user named otherwise may have what a usual class has unasked.
  void check_usual_classes() {
    for (const auto& usual : design_.classes) {
      if (usual.name == kBestEffortClass || usual.value.dscp.is_written()) continue;
      for (const auto& cls : design_.classes) {
        const std::uint64_t both = cls.value.dscp->mask & usual.value.dscp->mask;
        if (!cls.value.dscp.is_written() || both == 0) continue;
        error(cls.value.dscp.at(),
              fmt::format(
                  "classes.{0}.dscp: DSCP {1} belongs to class '{2}', which every fabric has; "
                  "name this class '{2}', or write classes.{2}.dscp",
                  cls.name, std::countr_zero(both), usual.name));
      }
    }
  }

 private:
  void error(TextPosition at, std::string message) { errors_.push_back({at, std::move(message)}); }

  void require(bool is_there, TextPosition at, std::string_view what) {
    if (!is_there) error(at, fmt::format("{} is missing", what));
  }

  void check_groups() {
    const TextPosition top = design_.format.is_written() ? design_.format.at() : TextPosition{1, 1};
    require(!design_.hosts.empty(), top, "'hosts' (at least one group of hosts)");
    for (const auto& group : design_.hosts)
      require(!group.value.names.is_missing(), group.at, fmt::format("hosts.{}.names", group.name));
    for (const auto& group : design_.switches) {
      require(!group.value.names.is_missing(), group.at,
              fmt::format("switches.{}.names", group.name));
      require(!group.value.system.is_missing(), group.at,
              fmt::format("switches.{}.system", group.name));
      const bool has_model = !group.value.model.is_missing();
      require(!group.value.asic.is_missing() || has_model, group.at,
              fmt::format("switches.{0}.model (or switches.{0}.asic)", group.name));
    }
    for (std::size_t i = 0; i < design_.links.size(); ++i) {
      const LinkGroup& link = design_.links[i];
      require(!link.from.is_missing(), link.at, fmt::format("links[{}].from", i));
      require(!link.to.is_missing(), link.at, fmt::format("links[{}].to", i));
      require(!link.speed.is_missing(), link.at, fmt::format("links[{}].speed", i));
      require(!link.length.is_missing(), link.at, fmt::format("links[{}].length", i));
    }
  }

  void check_known(const Setting<std::string>& setting, std::string_view what,
                   const std::vector<std::string>& names) {
    if (!setting.is_written()) return;
    if (std::find(names.begin(), names.end(), *setting) != names.end()) return;
    error(setting.at(), fmt::format("unknown {} '{}'{}; known are {}", what, *setting,
                                    did_you_mean(*setting, names), join(names, ", ")));
  }

  void check_tables() {
    const auto nics = names_of(nic_models());
    const auto asics = names_of(asic_models());
    for (const auto& group : design_.hosts)
      check_known(group.value.nic, "NIC", nics);
    for (const auto& group : design_.switches) {
      check_known(group.value.asic, "ASIC", asics);
      check_model(group);
    }
  }

  /// A switch that is not in the table needs the names of its ports, and its ASIC.
  void check_model(const Named<SwitchGroup>& group) {
    const Setting<std::string>& model = group.value.model;
    if (!model.is_written() || find_switch_model(*model) != nullptr) return;
    const bool has_names = group.value.ports.is_written() && !group.value.ports->names.empty();
    const auto names = names_of(switch_models());
    if (!has_names)
      error(
          model.at(),
          fmt::format("unknown switch model '{}'{} (`weir explain models` lists the {} known "
                      "ones; for another one write `asic` and, in `ports`, the names of its ports)",
                      *model, did_you_mean(*model, names), names.size()));
    else
      require(group.value.asic.is_written(), group.at,
              fmt::format("switches.{}.asic (its model is not in the table)", group.name));
  }

  void check_size(const Setting<Bytes>& setting, Bytes most, const std::string& key) {
    if (setting.is_written() && *setting > most)
      error(setting.at(), fmt::format("{}: expected at most {}, found {}", key, to_text(most),
                                      to_text(*setting)));
  }

  /// Not what is wise, which lint says, but what no device has: a slip in the unit, and sizes that
  /// nothing could be computed for.
  void check_sizes() {
    // Eight times the deep buffer of Jericho 2 (8 GB of HBM, design/tables/platforms.cc).
    constexpr Bytes kLargestBuffer = Bytes::raw(64'000'000'000);
    constexpr Bytes kLargestCell = Bytes::raw(32'768);
    constexpr Bytes kLargestMtu = Bytes::raw(65'535);  // of IP (RFC 791, total length)
    for (const auto& group : design_.switches) {
      const std::string key = "switches." + group.name;
      check_size(group.value.buffer, kLargestBuffer, key + ".buffer");
      check_size(group.value.headroom, kLargestBuffer, key + ".headroom");
      check_size(group.value.cell, kLargestCell, key + ".cell");
      check_size(group.value.mtu, kLargestMtu, key + ".mtu");
    }
    for (const auto& group : design_.hosts)
      check_size(group.value.mtu, kLargestMtu, fmt::format("hosts.{}.mtu", group.name));
    check_size(design_.mtu.host, kLargestMtu, "mtu.host");
    check_size(design_.mtu.switch_port, kLargestMtu, "mtu.switch");
    check_size(design_.buffers.xoff, kLargestBuffer, "buffers.xoff");
    check_size(design_.buffers.reserved_per_port, kLargestBuffer, "buffers.reserved_per_port");
    check_size(design_.buffers.xon_offset, kLargestBuffer, "buffers.xon_offset");
  }

  void check_wred(std::string_view path, const Wred& wred) {
    if (wred.probability.is_written() && *wred.probability > 100_percent)
      error(wred.probability.at(), fmt::format("{}.probability: more than 100%", path));
    const bool both = wred.min.is_written() && wred.max.is_written();
    if (both && *wred.min > *wred.max)
      error(wred.max.at(), fmt::format("{}.max: must not be below min", path));
  }

  void check_rdma_mtu() {
    if (!design_.mtu.rdma.is_written()) return;
    const std::int64_t size = design_.mtu.rdma->raw();
    const bool is_legal = size >= 256 && size <= 4096 && (size & (size - 1)) == 0;
    if (!is_legal)
      error(design_.mtu.rdma.at(),
            fmt::format("mtu.rdma: expected 256B, 512B, 1024B, 2048B or 4096B, found {}B", size));
  }

  void check_classes() {
    std::array<const Named<TrafficClassDesign>*, 64> owner{};
    for (const auto& cls : design_.classes) {
      if (!cls.value.dscp.is_written()) continue;
      for (unsigned d = 0; d < Dscp::kLimit; ++d) {
        if (!cls.value.dscp->contains(Dscp::of(d))) continue;
        if (owner.at(d) != nullptr) {
          error(cls.value.dscp.at(),
                fmt::format("classes.{}.dscp: DSCP {} belongs to class '{}' already", cls.name, d,
                            owner.at(d)->name));
          break;
        }
        owner.at(d) = &cls;
      }
    }
  }

  const Design& design_;
  std::vector<Diagnostic>& errors_;
};

// Writes one value of a Design by its dotted path.
class Setter {
 public:
  Setter(std::string_view path, std::string_view text) : path_(path), text_(text) {}

  template <class T>
  void field(std::string_view key, Setting<T>& out, std::string_view /*help*/) {
    known_.emplace_back(prefix_ + std::string(key));
    if (known_.back() != path_) return;
    auto value = ValueText<T>::parse(text_);
    if (value) out.write(*std::move(value), {});
    status_ = value ? Status() : Status(value.error().within(std::string(path_)));
    is_done_ = true;
  }
  template <class T>
  void field(std::string_view key, Setting<T>& out, std::string_view help, Range range) {
    Setting<T> trial = out;
    field(key, trial, help);
    if (known_.back() != path_ || !status_) return;
    if constexpr (std::is_same_v<T, int>) {
      if (*trial < range.min || *trial > range.max)
        status_ = invalid_error(
            fmt::format("{}: expected {}, found {}", path_, numbers_of(range), *trial));
    }
    if (status_) out = trial;
  }
  template <class S>
  void section(std::string_view key, S& out, std::string_view /*help*/) {
    const std::string outer = prefix_;
    prefix_ += std::string(key) + ".";
    visit(*this, out);
    prefix_ = outer;
  }
  template <class S>
  void named(std::string_view key, std::vector<Named<S>>& out, std::string_view help) {
    for (auto& member : out)
      section(std::string(key) + "." + member.name, member.value, help);
  }
  template <class S>
  void list(std::string_view key, std::vector<S>& out, std::string_view help) {
    for (std::size_t i = 0; i < out.size(); ++i)
      section(fmt::format("{}.{}", key, i), out[i], help);
  }
  void knobs(std::vector<Knob>& out, std::string_view /*help*/) {
    if (!path_.starts_with(prefix_) || is_done_) return;
    const std::string name(path_.substr(prefix_.size()));
    std::erase_if(out, [&](const Knob& k) { return k.name == name; });
    out.push_back({name, {}, std::string(text_), {}});
    is_done_ = true;
  }

  Status result() {
    if (is_done_) return status_;
    return not_found_error(fmt::format("no setting '{}' in the design{}", path_, hint()));
  }

 private:
  /// Of a section its settings; of a name in the wrong section those that end with its last words.
  [[nodiscard]] std::string hint() const {
    constexpr std::size_t kFew = 4;
    std::vector<std::string> found;
    const auto collect = [&](auto&& fits) {
      for (const std::string& name : known_)
        if (found.size() < kFew && fits(name)) found.push_back(name);
    };
    collect([&](const std::string& name) { return name.starts_with(std::string(path_) + "."); });
    if (!found.empty())
      return fmt::format(": it is a section, name one of its settings: {}", join(found, ", "));
    for (std::size_t dot = path_.find('.'); dot != std::string_view::npos && found.empty();
         dot = path_.find('.', dot + 1)) {
      const std::string_view tail = path_.substr(dot + 1);
      collect([&](const std::string& name) {
        return name == tail || name.ends_with(fmt::format(".{}", tail));
      });
    }
    return found.empty() ? did_you_mean(path_, known_)
                         : fmt::format("; did you mean {}?", join(found, " or "));
  }

  std::string_view path_;
  std::string_view text_;
  std::string prefix_;
  std::vector<std::string> known_;
  bool is_done_ = false;
  Status status_;
};

Loaded loaded_from(std::string_view text, const std::string& file) {
  Loaded loaded;
  loaded.design.file = file;
  YamlDocument document = parse_yaml(text);
  loaded.errors = std::move(document.errors);
  if (!loaded.is_good()) return loaded;
  Reader reader(document.root, "", loaded.errors);
  reader.read(document.root, "", loaded.design);
  Checker(loaded.design, loaded.errors).check();
  std::stable_sort(loaded.errors.begin(), loaded.errors.end(),
                   [](const Diagnostic& a, const Diagnostic& b) {
                     return std::pair(a.at.line, a.at.column) < std::pair(b.at.line, b.at.column);
                   });
  constexpr std::size_t kMostErrors = 50;  // a person fixes the first few and loads again
  if (loaded.errors.size() > kMostErrors) {
    const std::size_t more = loaded.errors.size() - kMostErrors;
    loaded.errors.resize(kMostErrors);
    loaded.errors.push_back({{}, fmt::format("and {} more errors", more)});
  }
  if (!loaded.is_good()) return loaded;
  fill_defaults(loaded.design);
  Checker(loaded.design, loaded.errors).check_usual_classes();
  return loaded;
}

}  // namespace

Loaded load_text(std::string_view text, const std::string& file) {
  Loaded loaded = loaded_from(text, file);
  // Errors cite the file, and a line break in a quoted word must not end theirs.
  for (Diagnostic& error : loaded.errors)
    error.message = printable_line(error.message);
  return loaded;
}

Result<Loaded> load_file(const std::string& path) {
  WEIR_TRY(text, read_file(path));
  return load_text(text, path);
}

std::string to_text(const Loaded& loaded) {
  std::string out;
  for (const Diagnostic& error : loaded.errors)
    out += fmt::format("{}: {}\n", weir::to_text(loaded.design.file, error.at), error.message);
  return out;
}

Status set_value(Design& design, std::string_view path, std::string_view text) {
  Setter setter(path, text);
  visit(setter, design);
  WEIR_TRY_STATUS(setter.result());
  std::vector<Diagnostic> errors;
  check_names(design, errors);
  if (!errors.empty()) return invalid_error(errors.front().message);
  fill_defaults(design);
  return {};
}

const Named<TrafficClassDesign>* Design::find_class(std::string_view class_name) const {
  const auto found = std::find_if(classes.begin(), classes.end(),
                                  [&](const auto& cls) { return cls.name == class_name; });
  return found == classes.end() ? nullptr : &*found;
}

}  // namespace weir::design

#include "host/bundle/bundle.h"

#include <algorithm>
#include <cerrno>

#include <fmt/format.h>

#include "base/text.h"
#include "host/kernel/netlink.h"
#include "host/linux/host.h"

namespace weir::host {
namespace {

constexpr std::string_view kIntroduction =
    "# One host as Weir saw it: what its kernel answered, question by question. Text; read it "
    "before you send it.\n# weir show --root THIS_FILE looks at it; docs/bundle.md says what is in "
    "here.\n";

std::string without_zeros(std::string_view bytes) {
  const std::size_t last = bytes.find_last_not_of('\0');
  return std::string(bytes.substr(0, last == std::string_view::npos ? 0 : last + 1));
}

// ---- recording ----

class RecordingKernel final : public Kernel {
 public:
  RecordingKernel(Kernel& inner, Recording& into) : inner_(inner), into_(into) {}

  Answer<std::string> read_file(const std::string& path) override {
    return keep(into_.files, path, inner_.read_file(path));
  }
  Answer<std::vector<std::string>> list(const std::string& path) override {
    return keep(into_.lists, path, inner_.list(path));
  }
  Answer<std::string> real_path(const std::string& path) override {
    return keep(into_.paths, path, inner_.real_path(path));
  }
  Answer<std::string> about(std::string_view what) override {
    auto answer = inner_.about(what);
    into_.about.insert_or_assign(std::string(what), answer);  // the clock: as the look ended
    return answer;
  }
  Answer<std::vector<std::string>> netlink(int protocol, const std::string& request) override {
    auto answer = inner_.netlink(protocol, request);
    CapturedTalk talk{"", question_of(request), {}, std::nullopt};
    if (answer) {
      talk.replies = *answer;
    } else {
      talk.error = answer.error();
    }
    const std::string question = talk.request;
    into_.talks.emplace(std::pair(std::string(), question), std::move(talk));
    return answer;
  }
  Answer<std::string> ethtool(const std::string& netdev, const std::string& request) override {
    auto answer = inner_.ethtool(netdev, request);
    CapturedTalk talk{netdev, without_zeros(request), {}, std::nullopt};
    if (answer) {
      talk.replies.push_back(without_zeros(*answer));
    } else {
      talk.error = answer.error();
    }
    const std::string question = talk.request;
    into_.talks.emplace(std::pair(netdev, question), std::move(talk));
    return answer;
  }

 private:
  template <class T>
  static Answer<T> keep(std::map<std::string, Answer<T>, std::less<>>& known,
                        const std::string& key, Answer<T> answer) {
    known.emplace(key, answer);
    return answer;
  }

  Kernel& inner_;
  Recording& into_;
};

template <class Answers>
void add_interfaces(const Answers& answers, std::set<std::string>& out) {
  constexpr std::string_view kFolder = "/sys/class/net/";
  for (auto at = answers.lower_bound(kFolder);
       at != answers.end() && at->first.starts_with(kFolder); ++at) {
    const std::string_view rest = std::string_view(at->first).substr(kFolder.size());
    out.emplace(rest.substr(0, rest.find('/')));
  }
}

// ---- answering ----

class BundleKernel final : public Kernel {
 public:
  explicit BundleKernel(Recording recording) : recording_(std::move(recording)) {}

  Answer<std::string> read_file(const std::string& path) override {
    return find(recording_.files, path);
  }
  Answer<std::vector<std::string>> list(const std::string& path) override {
    return find(recording_.lists, path);
  }
  Answer<std::string> real_path(const std::string& path) override {
    return find(recording_.paths, path);
  }
  Answer<std::string> about(std::string_view what) override { return find(recording_.about, what); }
  Answer<std::vector<std::string>> netlink(int /*protocol*/, const std::string& request) override {
    const auto found = recording_.talks.find({std::string(), question_of(request)});
    if (found == recording_.talks.end()) return Errno{ENODATA};
    if (found->second.error.has_value()) return *found->second.error;
    return found->second.replies;
  }
  Answer<std::string> ethtool(const std::string& netdev, const std::string& request) override {
    const auto found = recording_.talks.find({netdev, without_zeros(request)});
    if (found == recording_.talks.end()) return Errno{ENODATA};
    if (found->second.error.has_value()) return *found->second.error;
    if (found->second.replies.empty()) return malformed();
    std::string reply = found->second.replies.front();
    reply.resize(std::max(reply.size(), request.size()), '\0');
    return reply;
  }

 private:
  template <class T>
  static Answer<T> find(const std::map<std::string, Answer<T>, std::less<>>& known,
                        std::string_view key) {
    const auto found = known.find(key);
    if (found == known.end()) return Errno{ENODATA};
    return found->second;
  }

  Recording recording_;
};

// ---- writing ----

template <class T, class Text>
void put_answers(std::string& out, std::string_view kind,
                 const std::map<std::string, Answer<T>, std::less<>>& answers, const Text& text) {
  for (const auto& [key, answer] : answers) {
    out += answer
               ? fmt::format("{}\t{}\t{}\n", kind, escape_text(key), escape_text(text(*answer)))
               : fmt::format("no-{}\t{}\t{}\n", kind, escape_text(key), errno_name(answer.error()));
  }
}

std::string look_text(const Recording& look) {
  const auto same = [](const std::string& text) { return text; };
  std::string out;
  put_answers(out, "about", look.about, same);
  put_answers(out, "file", look.files, same);
  put_answers(out, "list", look.lists,
              [](const std::vector<std::string>& names) { return join(names, "/"); });
  put_answers(out, "path", look.paths, same);
  out += "talk\n";
  for (const auto& [question, talk] : look.talks)
    out += hex_text(talk);
  return out;
}

// ---- reading ----

/// Line by line; what is wrong is said in words, without the line.
class BundleReader {
 public:
  Result<Bundle> read(std::string_view text);

 private:
  std::optional<std::string> take(std::string_view line);
  std::optional<std::string> take_answer(std::string_view kind, const std::string& key,
                                         const std::string& content);
  std::optional<std::string> end_talk();

  Bundle bundle_;
  bool in_talk_ = false;
  std::string talk_;
};

std::optional<std::string> BundleReader::end_talk() {
  if (!in_talk_) return std::nullopt;
  in_talk_ = false;
  auto talks = parse_hex(talk_);
  talk_.clear();
  if (!talks) return fmt::format("in the talk above: {}", talks.error().what);
  for (CapturedTalk& talk : *talks) {
    std::pair key(talk.netdev, talk.request);
    bundle_.looks.back().talks.emplace(std::move(key), std::move(talk));
  }
  return std::nullopt;
}

/// Into the map of its kind, once.
template <class T>
std::optional<std::string> add_once(std::map<std::string, Answer<T>, std::less<>>& known,
                                    const std::string& key, Answer<T> answer) {
  if (known.emplace(key, std::move(answer)).second) return std::nullopt;
  return fmt::format("'{}' is here twice", key);
}

std::optional<std::string> BundleReader::take_answer(std::string_view kind, const std::string& key,
                                                     const std::string& content) {
  Recording& look = bundle_.looks.back();
  const bool is_refusal = kind.starts_with("no-");
  if (is_refusal) kind.remove_prefix(3);
  Errno error{0};
  if (is_refusal) {
    const auto number = errno_from_name(content);
    if (!number.has_value()) return fmt::format("'{}' is not an errno", content);
    error = *number;
  }
  const auto text = [&] { return is_refusal ? Answer<std::string>(error) : content; };
  if (kind == "file") return add_once(look.files, key, text());
  if (kind == "path") return add_once(look.paths, key, text());
  if (kind == "about") return add_once(look.about, key, text());
  if (kind != "list") return fmt::format("'{}' is not one of about, file, list, path, talk", kind);
  if (is_refusal) return add_once<std::vector<std::string>>(look.lists, key, error);
  std::vector<std::string> names;
  for (const std::string_view name : split(content, '/')) {
    if (!name.empty()) names.emplace_back(name);
  }
  return add_once<std::vector<std::string>>(look.lists, key, std::move(names));
}

std::optional<std::string> BundleReader::take(std::string_view line) {
  const auto columns = split(line, '\t');
  if (columns.size() == 2 && columns[0] == "look") {
    if (const auto wrong = end_talk()) return wrong;
    if (bundle_.looks.size() == 2) return "more than two looks";
    bundle_.looks.emplace_back();
    return std::nullopt;
  }
  if (in_talk_) {
    talk_ += std::string(line) + "\n";
    return std::nullopt;
  }
  if (line.empty() || line.starts_with('#')) return std::nullopt;
  if (columns.size() == 2 && columns[0] == "names") {
    bundle_.has_pseudonyms = columns[1] == "pseudonyms";
    const bool is_known = bundle_.has_pseudonyms || columns[1] == "kept";
    return is_known ? std::nullopt : std::optional<std::string>("names are pseudonyms or kept");
  }
  if (bundle_.looks.empty()) return "expected 'look' and a number, by a tab";
  if (line == "talk") {
    in_talk_ = true;
    return std::nullopt;
  }
  if (columns.size() != 3) return "expected kind, name and answer, by tabs";
  const auto key = unescape_text(columns[1]);
  const auto content = unescape_text(columns[2]);
  if (!key || !content) return "an escape is not one of \\n \\t \\r \\\\ \\xNN";
  return take_answer(columns[0], *key, *content);
}

Result<Bundle> BundleReader::read(std::string_view text) {
  if (!text.starts_with(kBundleHeading))
    return parse_error(
        fmt::format("line 1: expected '{}': this is no bundle, or one of another "
                    "version of Weir",
                    kBundleHeading));
  text.remove_prefix(std::min(text.find('\n'), text.size()));
  std::size_t number = 0;
  for (const std::string_view line : split(text, '\n')) {
    ++number;
    if (const auto wrong = take(line))
      return parse_error(fmt::format("line {}: {}", number, *wrong));
  }
  if (const auto wrong = end_talk()) return parse_error(fmt::format("line {}: {}", number, *wrong));
  if (bundle_.looks.empty()) return parse_error("it ends before anything was looked at");
  return std::move(bundle_);
}

}  // namespace

std::set<std::string> interfaces_of(const Recording& look) {
  std::set<std::string> out;
  add_interfaces(look.files, out);
  add_interfaces(look.lists, out);
  add_interfaces(look.paths, out);
  return out;
}

std::string bundle_text(const Bundle& bundle) {
  std::string out = fmt::format("{}\n{}names\t{}\n", kBundleHeading, kIntroduction,
                                bundle.has_pseudonyms ? "pseudonyms" : "kept");
  int number = 0;
  for (const Recording& look : bundle.looks)
    out += fmt::format("look\t{}\n{}", ++number, look_text(look));
  return out;
}

Result<Bundle> parse_bundle(std::string_view text) {
  return BundleReader().read(text);
}

std::unique_ptr<Kernel> make_recording_kernel(Kernel& inner, Recording& recording) {
  return std::make_unique<RecordingKernel>(inner, recording);
}

std::unique_ptr<Kernel> make_bundle_kernel(Recording recording) {
  return std::make_unique<BundleKernel>(std::move(recording));
}

Result<Bundle> record_host(Kernel& kernel, const std::string& capture, bool with_second_look,
                           const std::function<void()>& wait) {
  Bundle bundle;
  Recording first;
  WEIR_TRY(seen, make_host(make_recording_kernel(kernel, first), capture)->observe());
  (void)seen;
  bundle.looks.push_back(std::move(first));
  if (!with_second_look) return bundle;
  wait();
  Recording second;
  WEIR_TRY(counted, make_host(make_recording_kernel(kernel, second), capture)->snapshot());
  (void)counted;
  bundle.looks.push_back(std::move(second));
  return bundle;
}

}  // namespace weir::host

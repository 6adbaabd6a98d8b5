#pragma once
// Labs for the tests of this folder: the template pod16, edited, in a directory that is removed
// with the test.
#include <filesystem>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include <unistd.h>

#include "base/file.h"
#include "base/testing.h"
#include "base/text.h"
#include "design/file/templates.h"
#include "lab/fabric/lab.h"

namespace weir::lab {

class TemporaryDirectory {
 public:
  TemporaryDirectory() {
    std::string pattern = (std::filesystem::temp_directory_path() / "weir-lab-XXXXXX").string();
    path_ = ::mkdtemp(pattern.data());
  }
  TemporaryDirectory(const TemporaryDirectory&) = delete;
  TemporaryDirectory& operator=(const TemporaryDirectory&) = delete;
  ~TemporaryDirectory() { std::filesystem::remove_all(path_); }
  [[nodiscard]] std::string file(std::string_view name) const {
    return path_ + "/" + std::string(name);
  }

 private:
  std::string path_;
};

/// The text with `from`, which must be in it, replaced by `to`.
inline std::string edited(std::string text, std::string_view from, std::string_view to) {
  const auto at = text.find(from);
  EXPECT_NE(at, std::string::npos) << from;
  return at == std::string::npos ? text : text.replace(at, from.size(), to);
}

inline std::string pod16() {
  return std::string(design::find_template("pod16")->text);
}
/// The same with the inbox driver, which lacks the vendor's files.
inline std::string pod16_inbox() {
  return edited(pod16(), "    stack: ofed ", "    stack: inbox");
}

template <class T>
T must(Result<T> result) {
  EXPECT_TRUE(result.has_value()) << (result ? "" : result.error().what);
  return std::move(result).value();
}
inline void must(const Status& status) {
  ASSERT_TRUE(status.has_value()) << (status ? "" : status.error().what);
}

/// A lab of the design's text under `place`.
inline Lab make_lab(const TemporaryDirectory& place, std::string_view design,
                    const CreateOptions& options = {}) {
  must(write_file_atomic(place.file("fabric.yaml"), design));
  return must(Lab::create(place.file("lab"), place.file("fabric.yaml"), options));
}

inline host::CommandOutcome run(const Lab& lab, std::string_view host, std::string_view command) {
  std::vector<std::string> words;
  for (const std::string_view word : split(command, ' '))
    words.emplace_back(word);
  return must(must(lab.host(host))->run(words));
}

inline std::uint64_t counter(const Lab& lab, std::string_view host, std::string_view id,
                             std::optional<unsigned> number = std::nullopt) {
  const counters::Snapshot snapshot = must(must(lab.host(host))->snapshot());
  const counters::Reading reading = snapshot.nics.front().read(id, number);
  return reading.has_value() ? reading.value() : 0;
}

}  // namespace weir::lab

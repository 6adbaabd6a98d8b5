#pragma once
// Faults of a switch, collected over its ports: one finding per fault, one line per text, with all
// ports that it holds for. Internal to this folder.
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "evidence/evidence.h"
#include "finding/finding.h"

namespace weir::diagnose {

class Collector {
 public:
  Collector(const evidence::Switch& found, finding::Judgement& out) : found_(found), out_(out) {}

  /// `port` empty: of the whole switch. Without `severity` it is that of the catalogue.
  void wrong(std::string_view id, const std::string& port, const std::string& text,
             std::optional<finding::Severity> severity = {});
  [[nodiscard]] bool has(std::string_view id) const;
  void unknown(std::string what, bool is_required = true);
  /// What only a configuration says: required where one was given. A lab has none of it, and its
  /// facts have no source.
  void unknown_without_configuration(std::string what);
  void finish();

 private:
  struct Line {
    std::string text;
    std::vector<std::string> ports;  // none: of the switch
  };
  struct Fault {
    finding::Finding finding;
    std::vector<Line> lines;
    std::size_t count = 0;
  };
  void close(Fault& fault);

  const evidence::Switch& found_;
  finding::Judgement& out_;
  std::vector<Fault> faults_;
};

/// "MTU: expected 9216B, found 1.5KB".
[[nodiscard]] std::string expected(std::string_view what, std::string_view wanted,
                                   std::string_view found);

/// Code points in one text: "24-25,27".
[[nodiscard]] std::string ranges(const std::vector<unsigned>& codes);

/// nullptr where the port has no such queue.
[[nodiscard]] const evidence::EgressQueue* find_queue(const evidence::SwitchPort& port,
                                                      Queue queue);

}  // namespace weir::diagnose

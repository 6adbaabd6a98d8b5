#include "cli/frame/switch_input.h"

#include <algorithm>

#include <fmt/format.h>

#include "base/untrusted/secret.h"

namespace weir::cli {

Option switch_option() {
  return {.name = "switch",
          .metavar = "[NAME=]FILE",
          .help = "a switch's configuration (default NAME: as in FILE)",
          .repeated = true,
          .completes = Completes::kFiles};
}

ops::Result<std::vector<ops::SwitchFile>> switch_files(const std::vector<std::string>& words,
                                                       std::string_view option, SwitchNames names) {
  std::vector<ops::SwitchFile> files;
  for (const std::string& word : words) {
    const auto equals = word.find('=');
    if (equals == std::string::npos && names == SwitchNames::kOptional) {
      files.push_back({"", word});
      continue;
    }
    if (equals == std::string::npos || equals == 0 || equals + 1 == word.size())
      return ops::bad_request(fmt::format("{}: expected NAME=FILE, found '{}'", option, word));
    files.push_back({word.substr(0, equals), word.substr(equals + 1)});
  }
  return files;
}

void print_unread(const std::vector<ops::SwitchConfig>& configs, Context& context) {
  constexpr std::size_t kShown = 5;  // lines of a file
  if (context.quiet) return;
  for (const ops::SwitchConfig& config : configs) {
    const auto& unread = config.parsed.unread;
    for (std::size_t i = 0; i < std::min(unread.size(), kShown); ++i)
      context.err << fmt::format("weir: {}:{}: not understood: {} ({})\n", config.file,
                                 unread[i].line, without_secret(unread[i].text), unread[i].why);
    if (unread.size() > kShown)
      context.err << fmt::format("weir: {}: and {} more lines\n", config.file,
                                 unread.size() - kShown);
  }
}

}  // namespace weir::cli

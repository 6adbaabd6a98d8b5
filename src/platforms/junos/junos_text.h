#pragma once
// A Junos configuration as statements, from any of its three forms: `set` commands, XML (`| display
// xml`) or the indented text of `show configuration`. The words are those of the `set` command,
// without `set`.
#include <string_view>
#include <vector>

#include "platforms/common/statement.h"

namespace weir::platforms {

enum class JunosForm { kSet, kXml, kText };

/// nullopt where the text is none of them.
[[nodiscard]] std::optional<JunosForm> junos_form(std::string_view text);

/// What cannot be a statement (deletions, inactive parts) goes to `unread`.
[[nodiscard]] Result<std::vector<Statement>> junos_statements(std::string_view text,
                                                              std::string_view file,
                                                              std::vector<Unread>& unread);

}  // namespace weir::platforms

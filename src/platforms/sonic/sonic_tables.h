#pragma once
// CONFIG_DB as tables: rows by key, fields by name, each with its line. The first wrong value
// becomes the error of the file; unknown tables and fields are listed as unread.
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/json_lines.h"
#include "platforms/common/platform.h"

namespace weir::platforms {

/// "Ethernet0|3-4": the ports and the numbers of a key.
struct SonicKey {
  std::vector<std::string> ports;
  unsigned first = 0;
  unsigned last = 0;
};

class SonicTables {
 public:
  SonicTables(const JsonNode& root, std::string_view text, std::string_view file);

  /// nullptr where the file has no such table.
  [[nodiscard]] const JsonNode* table(std::string_view name) const { return root_.find(name); }
  [[nodiscard]] const JsonNode* row(std::string_view table, std::string_view key) const;
  /// The row that a field names, in the older "[TABLE|key]" form as well. A missing row is
  /// listed as dangling.
  [[nodiscard]] const JsonNode* referred(const JsonNode& field, std::string_view table);
  /// The same as a name; empty where the row is not there.
  [[nodiscard]] std::string reference(const JsonNode& field, std::string_view table);

  /// A decimal number within [low, high]; anything else is the error of the file. `where` is what
  /// the message calls it: "PORT|Ethernet0 mtu".
  [[nodiscard]] std::int64_t number(const JsonNode& field, std::string_view where, std::int64_t low,
                                    std::int64_t high);
  [[nodiscard]] std::string_view text(const JsonNode& field, std::string_view where);
  /// One of the words; anything else is the error of the file.
  [[nodiscard]] std::string_view word(const JsonNode& field, std::string_view where,
                                      const std::vector<std::string_view>& words);
  /// "3,4".
  [[nodiscard]] PrioritySet priorities(const JsonNode& field, std::string_view where);
  /// nullopt, and listed, where the numbers are not below `limit`.
  [[nodiscard]] std::optional<SonicKey> key(std::string_view key, const JsonNode& row,
                                            std::string_view what, unsigned limit);

  void list(int line, std::string why);
  void fail(int line, std::string_view where, std::string_view expected, std::string_view found);
  [[nodiscard]] std::string source(const JsonNode& node) const;
  [[nodiscard]] std::string_view file() const { return file_; }

  /// Lists unknown tables and fields; a row that is not an object is an error.
  void check_shape();

  [[nodiscard]] const std::optional<Error>& error() const { return error_; }
  [[nodiscard]] std::vector<Unread> take_unread();
  /// Fields that name a row which is not there.
  [[nodiscard]] std::vector<Unread> take_dangling();

 private:
  void check_fields(std::string_view table, const JsonNode& rows);
  void list_repeated(const JsonNode& object);
  void list_in(std::vector<Unread>& all, int line, std::string why);

  const JsonNode& root_;
  std::vector<std::string_view> lines_;
  std::string file_;
  std::optional<Error> error_;
  std::vector<Unread> unread_;
  std::vector<Unread> dangling_;
};

}  // namespace weir::platforms

#pragma once
// SQLite behind a few types: a connection, a prepared statement, a transaction. Nothing else of
// this tree names the library.
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "base/result.h"

struct sqlite3;
struct sqlite3_stmt;

namespace weir::store {

class Statement {
 public:
  Statement(Statement&&) = default;
  Statement& operator=(Statement&&) = default;

  /// Values of the next parameters, in order.
  Statement& with(std::int64_t value);
  Statement& with(double value);
  Statement& with(std::string_view value);
  Statement& with_null();

  /// True: a row is there to be read; false: there is none left. Parameters begin again at the
  /// first after reset().
  [[nodiscard]] Result<bool> step();
  /// For a statement without rows: runs it and makes it ready for the next values.
  [[nodiscard]] Status run();

  [[nodiscard]] std::int64_t integer(int column) const;
  [[nodiscard]] double number(int column) const;
  [[nodiscard]] std::string text(int column) const;
  [[nodiscard]] bool is_null(int column) const;

 private:
  friend class Database;
  struct Finalize {
    void operator()(sqlite3_stmt* statement) const;
  };
  Statement(sqlite3* database, sqlite3_stmt* statement)
      : database_(database), statement_(statement) {}
  void bound(int code);

  sqlite3* database_;
  std::unique_ptr<sqlite3_stmt, Finalize> statement_;
  int next_ = 1;
  int failed_ = 0;  // the first binding that was refused
};

enum class Access : std::uint8_t { kRead, kWrite };

class Database {
 public:
  /// To write: made where it is not there, in WAL mode, waiting up to five seconds for another
  /// writer, with foreign keys. To read: an error where it is not there. Triggers and views of the
  /// file are off either way.
  [[nodiscard]] static Result<Database> open(const std::string& path, Access access);

  [[nodiscard]] Result<Statement> prepare(std::string_view sql);
  /// Statements without parameters or rows, one after the other.
  [[nodiscard]] Status execute(const std::string& sql);
  [[nodiscard]] std::int64_t last_row() const;
  [[nodiscard]] Result<std::int64_t> number_of(std::string_view sql);

 private:
  struct Close {
    void operator()(sqlite3* database) const;
  };
  explicit Database(sqlite3* database) : database_(database) {}
  std::unique_ptr<sqlite3, Close> database_;
};

/// Undone where it is not committed.
class Transaction {
 public:
  /// To write: nobody else writes until it ends. To read: what is read is of one moment.
  [[nodiscard]] static Result<Transaction> begin(Database& database, Access access);
  Transaction(Transaction&& other) noexcept : database_(std::exchange(other.database_, nullptr)) {}
  Transaction& operator=(Transaction&&) = delete;
  ~Transaction();
  [[nodiscard]] Status commit();

 private:
  explicit Transaction(Database& database) : database_(&database) {}
  Database* database_;
};

}  // namespace weir::store

#include "store/database.h"

#include <fmt/format.h>
#include <sqlite3.h>
#include <sys/stat.h>

#include "base/check.h"

namespace weir::store {
namespace {

Error database_error(sqlite3* database, std::string_view attempt) {
  const int code = database == nullptr ? SQLITE_NOMEM : sqlite3_extended_errcode(database);
  const ErrorCode kind = (code & 0xFF) == SQLITE_NOTADB || (code & 0xFF) == SQLITE_CORRUPT
                             ? ErrorCode::kParse
                             : ErrorCode::kIo;
  return {kind, fmt::format("{}: {}", attempt,
                            database == nullptr ? "out of memory" : sqlite3_errmsg(database))};
}

/// "file:" with what has a meaning in a URI written as %XX.
std::string uri_of(const std::string& path, std::string_view parameters) {
  std::string out = "file:";
  for (const char c : path) {
    if (c == '?' || c == '#' || c == '%') {
      out += fmt::format("%{:02X}", static_cast<unsigned>(static_cast<unsigned char>(c)));
    } else {
      out += c;
    }
  }
  return out + std::string(parameters);
}

/// The file may be another's: nothing that it brings along is run, and no value of it is large.
void distrust(sqlite3* database) {
  constexpr int kLongestValue = 16 << 20;  // bytes
  constexpr int kLongestSql = 64 << 10;    // bytes
  sqlite3_db_config(database, SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0, nullptr);
  sqlite3_db_config(database, SQLITE_DBCONFIG_DEFENSIVE, 1, nullptr);
  sqlite3_db_config(database, SQLITE_DBCONFIG_ENABLE_TRIGGER, 0, nullptr);
  sqlite3_db_config(database, SQLITE_DBCONFIG_ENABLE_VIEW, 0, nullptr);
  sqlite3_limit(database, SQLITE_LIMIT_LENGTH, kLongestValue);
  sqlite3_limit(database, SQLITE_LIMIT_SQL_LENGTH, kLongestSql);
  sqlite3_limit(database, SQLITE_LIMIT_ATTACHED, 0);
}

/// SQLite follows a link to where nobody asked it to write, and waits for a FIFO; also where it
/// looks for a transaction that was cut off.
Status check_plain(const std::string& path, Access access) {
  struct stat found {};
  const bool is_there =
      (access == Access::kRead ? ::stat(path.c_str(), &found) : ::lstat(path.c_str(), &found)) == 0;
  if (!is_there || S_ISREG(found.st_mode)) return {};
  return parse_error(
      fmt::format("open {}: expected a plain file, found {}", path,
                  S_ISLNK(found.st_mode) ? "a symbolic link" : "a directory, FIFO or device"));
}

}  // namespace

void Statement::Finalize::operator()(sqlite3_stmt* statement) const {
  sqlite3_finalize(statement);
}

void Statement::bound(int code) {
  if (code != SQLITE_OK && failed_ == SQLITE_OK) failed_ = code;
  ++next_;
}

Statement& Statement::with(std::int64_t value) {
  bound(sqlite3_bind_int64(statement_.get(), next_, value));
  return *this;
}

Statement& Statement::with(double value) {
  bound(sqlite3_bind_double(statement_.get(), next_, value));
  return *this;
}

Statement& Statement::with(std::string_view value) {
  // NOLINTNEXTLINE: SQLITE_TRANSIENT is a cast in C's style.
  const auto copied = reinterpret_cast<sqlite3_destructor_type>(-1);
  bound(sqlite3_bind_text64(statement_.get(), next_, value.data() == nullptr ? "" : value.data(),
                            value.size(), copied, SQLITE_UTF8));
  return *this;
}

Statement& Statement::with_null() {
  bound(sqlite3_bind_null(statement_.get(), next_));
  return *this;
}

Result<bool> Statement::step() {
  if (failed_ != SQLITE_OK)
    return Error{ErrorCode::kInvalid, fmt::format("a value: {}", sqlite3_errstr(failed_))};
  const int code = sqlite3_step(statement_.get());
  if (code == SQLITE_ROW) return true;
  if (code == SQLITE_DONE) return false;
  const char* const file = sqlite3_db_filename(database_, "main");
  Error error = database_error(
      database_,
      fmt::format("the history {}", file == nullptr ? std::string() : std::string(file)));
  sqlite3_reset(statement_.get());
  return error;
}

Status Statement::run() {
  WEIR_TRY(has_row, step());
  WEIR_CHECK(!has_row);
  sqlite3_reset(statement_.get());
  sqlite3_clear_bindings(statement_.get());
  next_ = 1;
  return {};
}

std::int64_t Statement::integer(int column) const {
  return sqlite3_column_int64(statement_.get(), column);
}

double Statement::number(int column) const {
  return sqlite3_column_double(statement_.get(), column);
}

std::string Statement::text(int column) const {
  const auto* const bytes = sqlite3_column_text(statement_.get(), column);
  const int size = sqlite3_column_bytes(statement_.get(), column);
  if (bytes == nullptr) return {};
  return {static_cast<const char*>(static_cast<const void*>(bytes)),
          static_cast<std::size_t>(size)};
}

bool Statement::is_null(int column) const {
  return sqlite3_column_type(statement_.get(), column) == SQLITE_NULL;
}

void Database::Close::operator()(sqlite3* database) const {
  sqlite3_close(database);
}

Result<Database> Database::open(const std::string& path, Access access) {
  for (const std::string_view beside : {"", "-journal", "-wal", "-shm"})
    WEIR_TRY_STATUS(check_plain(path + std::string(beside), access));
  const auto attempt = [&](std::string_view parameters, int flags) -> Result<Database> {
    sqlite3* raw = nullptr;
    const int code =
        sqlite3_open_v2(uri_of(path, parameters).c_str(), &raw, flags | SQLITE_OPEN_URI, nullptr);
    Database database(raw);
    if (code != SQLITE_OK) return database_error(raw, "open " + path);
    constexpr int kPatience = 5000;  // ms
    sqlite3_busy_timeout(raw, kPatience);
    distrust(raw);
    // Sorting a long history must not need files in a place that this process may not write to, nor
    // all of the memory.
    constexpr sqlite3_int64 kMostMemory = sqlite3_int64{512} << 20U;  // bytes
    sqlite3_hard_heap_limit64(kMostMemory);
    WEIR_TRY_STATUS(database.execute("PRAGMA temp_store=MEMORY"));
    const auto readable = database.number_of("PRAGMA schema_version");
    if (!readable) return readable.error().within(path);
    return database;
  };
  if (access == Access::kRead) {
    auto database = attempt("?mode=ro", SQLITE_OPEN_READONLY);
    // In WAL mode a reader makes a file beside it. Where it must not, nobody writes now: all is in
    // the one file.
    if (!database && database.error().code == ErrorCode::kIo)
      return attempt("?mode=ro&immutable=1", SQLITE_OPEN_READONLY);
    return database;
  }
  WEIR_TRY(database, attempt("", SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE));
  WEIR_TRY(mode, database.prepare("PRAGMA journal_mode=WAL"));
  WEIR_TRY(has_row, mode.step());
  static_cast<void>(has_row);  // a file system without shared memory keeps its own mode
  WEIR_TRY_STATUS(database.execute("PRAGMA synchronous=NORMAL"));
  WEIR_TRY_STATUS(database.execute("PRAGMA foreign_keys=ON"));
  return database;
}

Result<Statement> Database::prepare(std::string_view sql) {
  sqlite3_stmt* raw = nullptr;
  const int code =
      sqlite3_prepare_v2(database_.get(), sql.data(), static_cast<int>(sql.size()), &raw, nullptr);
  Statement statement(database_.get(), raw);
  if (code != SQLITE_OK) return database_error(database_.get(), "the history");
  return statement;
}

Status Database::execute(const std::string& sql) {
  if (sqlite3_exec(database_.get(), sql.c_str(), nullptr, nullptr, nullptr) == SQLITE_OK) return {};
  return database_error(database_.get(), "the history");
}

std::int64_t Database::last_row() const {
  return sqlite3_last_insert_rowid(database_.get());
}

Result<std::int64_t> Database::number_of(std::string_view sql) {
  WEIR_TRY(statement, prepare(sql));
  WEIR_TRY(has_row, statement.step());
  return has_row ? statement.integer(0) : 0;
}

Result<Transaction> Transaction::begin(Database& database, Access access) {
  WEIR_TRY_STATUS(database.execute(access == Access::kWrite ? "BEGIN IMMEDIATE" : "BEGIN"));
  return Transaction(database);
}

Transaction::~Transaction() {
  if (database_ != nullptr) static_cast<void>(database_->execute("ROLLBACK"));
}

Status Transaction::commit() {
  WEIR_TRY_STATUS(database_->execute("COMMIT"));
  database_ = nullptr;
  return {};
}

}  // namespace weir::store

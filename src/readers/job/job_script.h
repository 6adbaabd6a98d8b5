#pragma once
// The environment that a script, manifest or dump gives its job. Not for other folders.
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "readers/job/job.h"
#include "readers/job/job_shell.h"

namespace weir::readers {

/// Whether a communication library could read a variable of this name.
[[nodiscard]] bool concerns_communication(std::string_view name);

/// Reads a text line by line: `export A=1`, `A=1 B=2 command`, `mpirun -x A=1`, `docker -e A=1`,
/// `#SBATCH --export=ALL,A=1`, `-genv A 1`, `"A": "1"`, `A: "1"`, `- {name: A, value: "1"}`,
/// `os.environ["A"] = "1"`. Comments are left out.
///
/// A script is followed as far as its text goes: a later assignment replaces an earlier one that no
/// command ran with, `unset` takes it away, both branches of an `if` count. Where only a shell
/// could know a value, the variable is open.
class ScriptReader {
 public:
  /// `text` is looked at only to tell a script from a dump of variables.
  ScriptReader(std::string_view text, Job& job);

  void read(std::string_view line, const Cited& at);
  /// Ends the text: what was replaced or unset before any command ran is taken out of the job.
  void finish();

 private:
  /// One variable of the job while the script is read.
  struct Setting {
    JobVariable variable;
    bool is_open = false;
    bool is_used = false;  // a command ran with it, or it belongs to one command
  };
  /// What is in force: indices into settings_ by name, and values for expansion.
  struct State {
    ShellValues values;
    std::map<std::string, std::vector<std::size_t>, std::less<>> live;
    std::map<std::string, Cited, std::less<>> unset;
  };
  /// An `if`, `case` or loop that is not closed yet.
  struct Branch {
    State before;
    std::optional<State> ended;  // the branches that are over
    bool has_else = false;
    bool is_fresh = false;  // nothing yet since the ;; of a case
  };

  void statement(std::string_view text, const Cited& at);
  [[nodiscard]] std::string_view keyword(std::string_view text);
  void open_branch();
  void next_branch();
  void close_branch();
  static State merged(const State& a, const State& b);
  static std::size_t size_of(const State& state);
  void spend(std::size_t bytes);
  void follow_no_more();
  void learn(std::string_view name, std::optional<std::string> value);

  [[nodiscard]] bool unset_by(std::string_view text, const Cited& at);
  void limit_in(std::string_view text, const Cited& at);
  void nodes_in(std::string_view text);
  void scan(std::string_view text, const Cited& at, bool is_statement);
  void add_colon_pair(std::string_view text, std::size_t colon, const Cited& at);
  void add_python(std::string_view text, const Cited& at);
  void add_pairs(std::string_view text, const Cited& at, bool is_statement);
  [[nodiscard]] bool yaml_entry(std::string_view text, const Cited& at);
  void set(std::string_view name, std::string_view word, const Cited& at, bool is_statement,
           Dialect dialect = Dialect::kShell);
  void mark_used();

  Job& job_;
  bool is_script_ = false;
  int case_depth_ = 0;
  /// Bytes of values that may still be kept or copied (each branch copies what is in force). A
  /// script of people needs some thousand.
  std::size_t left_ = std::size_t{128} << 20U;
  bool is_followed_ = true;  // false: all that is set counts, and $NAME is open
  State state_;
  std::vector<Branch> branches_;
  std::vector<Setting> settings_;
  /// `- name: A`, `value: "1"` of a Kubernetes environment: in either order, on two lines or one.
  struct Entry {
    std::string name;
    std::optional<std::string> value;  // as written
    bool is_elsewhere = false;         // valueFrom
  };
  Entry entry_;
};

}  // namespace weir::readers

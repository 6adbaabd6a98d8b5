#include "host/probe/load_mark.h"

#include <array>
#include <cstdint>

#include <fmt/format.h>
#include <sys/random.h>

#include "base/check.h"
#include "base/untrusted/quote.h"

namespace weir::host {

std::string new_load_id() {
  std::array<std::uint8_t, 12> drawn{};
  WEIR_CHECK(::getrandom(drawn.data(), drawn.size(), 0) == static_cast<ssize_t>(drawn.size()));
  std::string id;
  for (const std::uint8_t byte : drawn)
    id += fmt::format("{:02x}", byte);
  return id;
}

std::string marked_line(std::string_view id, std::string_view line) {
  // $1 is the load, $2 what ends it. Who waits at the other end of standard input for the tether to
  // break bears no mark once it acts: it would end itself.
  constexpr std::string_view kTethered =
      "exec 3<&0 </dev/null\nsh -c \"$1\" 3<&- & c=$!\n"
      "( read -r w <&3 && [ \"$w\" = {} ] || exit 0\n"
      "while read -r w <&3; do :; done\n"
      "unset WEIR_LOAD; exec sh -c \"$2\" ) >/dev/null 2>&1 & g=$!\n"
      "exec 3<&-\nwait $c; s=$?; kill $g 2>/dev/null; exit $s\n";
  return fmt::format("export WEIR_LOAD=weir-load-{}; exec {}", id,
                     shell_line({"sh", "-c", fmt::format(kTethered, kTether), "sh",
                                 std::string(line), stop_line(id)}));
}

std::string stop_line(std::string_view id) {
  // No file says which process it is: others could write one. The user's own processes are known by
  // their words and their environment; the pattern here does not find itself. A shell that was
  // killed (by whatever ran it) leaves its tests and its directory, which is the user's own too.
  // Each is asked once: what catches SIGTERM may take a second one for impatience. Looked for four
  // times at least: sshd may be about to start what its client was killed for.
  return fmt::format(
      "b={}; t=' '; i=0; while [ $i -lt 40 ]; do f=; "
      "for p in $(LC_ALL=C grep -ls \"weir-load[-]$b\" /proc/[0-9]*/environ /proc/[0-9]*/cmdline | "
      "cut -d/ -f3 | sort -u); do [ -O \"/proc/$p\" ] || continue; f=1; "
      "if [ $i -ge 30 ]; then kill -KILL \"$p\" 2>/dev/null; else case $t in *\" $p \"*) ;; "
      "*) t=\"$t$p \"; kill \"$p\" 2>/dev/null;; esac; fi; done; "
      "[ -n \"$f\" ] || [ $i -lt 3 ] || break; i=$((i + 1)); sleep 0.1; done; "
      "[ \"$t\" = ' ' ] || echo '{}'; "
      "a=weir-load-; for d in \"${{TMPDIR:-/tmp}}\"/weir-load-*; do [ -O \"$d\" ] && "
      "[ ! -L \"$d\" ] && [ -f \"$d/.$a$b\" ] && rm -rf \"$d\"; done; [ -z \"$f\" ]",
      id, kLoadEnded);
}

}  // namespace weir::host

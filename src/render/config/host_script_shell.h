#pragma once
// The frame of the shell script of `weir render --to host-script`: comparing, writing and reading
// back any setting. The functions of each setting are with its row in evidence/settings. POSIX sh,
// so that it runs wherever a NIC does.
#include <string_view>

namespace weir::render {

inline constexpr std::string_view kScriptHead = R"sh(set -u
LC_ALL=C
export LC_ALL
root=${WEIR_ROOT:-}  # where /sys is; empty on a real machine
check=no
changed=0
differing=0
failed=0
unread=0

case ${1-} in
  '') ;;
  --check) check=yes ;;
  *)
    echo "usage: $0 [--check]" >&2
    exit 2
    ;;
esac

say() { printf '%s\n' "$*"; }

need() {
  for tool in "$@"; do
    command -v "$tool" >/dev/null 2>&1 && continue
    say "$tool is not installed: nothing was changed" >&2
    exit 4
  done
}

# settle WHAT WANTED READER READER-ARGUMENT COMMAND...
# Reads with READER; runs COMMAND where the setting is not WANTED, then reads it back.
settle() {
  what=$1 wanted=$2 reader=$3 argument=$4
  shift 4
  found=$("$reader" "$argument" 2>/dev/null)
  if [ -z "$found" ]; then
    unread=$((unread + 1))
    say "$what: could not be read, left as it is (wanted: $wanted)"
    return 0
  fi
  [ "$found" = "$wanted" ] && return 0
  if [ "$check" = yes ]; then
    differing=$((differing + 1))
    say "$what: $found, wanted $wanted"
    return 0
  fi
  if ! message=$("$@" 2>&1); then
    failed=$((failed + 1))
    say "$what: could not be set to $wanted: $message"
    return 0
  fi
  now=$("$reader" "$argument" 2>/dev/null)
  if [ "$now" != "$wanted" ]; then
    failed=$((failed + 1))
    say "$what: set to $wanted, but the driver shows ${now:-nothing}"
    return 0
  fi
  changed=$((changed + 1))
  say "$what: $found -> $wanted"
}

put() { printf '%s\n' "$1" >"$2"; }
read_file() { [ -r "$1" ] && tr -d '\n' <"$1"; }

)sh";

inline constexpr std::string_view kScriptFinish = R"sh(finish() {
  if [ "$check" = yes ] && [ "$differing" -gt 0 ]; then
    say "$differing settings are not as designed"
    exit 1
  fi
  if [ "$failed" -gt 0 ]; then
    say "$failed settings could not be made, $changed were changed"
    exit 1
  fi
  if [ "$unread" -gt 0 ]; then
    say "$changed settings changed; $unread could not be read and were left alone"
    exit 5
  fi
  say "all is as designed; $changed settings changed"
}
)sh";

inline constexpr std::string_view kScriptMlnxQos = R"sh(
# ---- QoS with the vendor's tool ----
need mlnx_qos ethtool ip awk

)sh";

inline constexpr std::string_view kScriptDcb = R"sh(
# ---- QoS with iproute2's dcb ----
need dcb ethtool ip awk

)sh";

}  // namespace weir::render

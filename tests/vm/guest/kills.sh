#!/usr/bin/env bash
# Kills weir apply at each record of its journal, the first, the second … until one that lives to
# its end, and has weir rollback repair each: kills.sh DESIGN. Prints "killed K recovered R".
# The kernel is asked to kill it where the record is written and about to be synced.
bash /guest/state.sh >/tmp/before
killed=0
recovered=0
while [[ $killed -lt 200 ]]; do
  strace -f -qq -o /dev/null -e trace=fdatasync \
    -e inject=fdatasync:signal=SIGKILL:when=$((killed + 1)) weir apply "$1" --yes --quiet \
    >/tmp/apply.out 2>&1
  status=$?
  [[ $status -ne 137 ]] && break
  killed=$((killed + 1))
  weir rollback --yes --quiet >/tmp/rollback.out 2>&1
  back=$?
  bash /guest/state.sh >/tmp/after
  if [[ $back -eq 0 ]] && cmp -s /tmp/before /tmp/after; then
    recovered=$((recovered + 1))
  else
    echo "record $killed: rollback exit $back"
    cat /tmp/rollback.out
    diff /tmp/before /tmp/after
  fi
done
echo "the last apply: exit $status"
cat /tmp/apply.out
echo "killed $killed recovered $recovered"

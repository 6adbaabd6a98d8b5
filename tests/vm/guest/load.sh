#!/usr/bin/env bash
# A perftest pair, rxe0 to rxe1: load.sh PROGRAM ARGUMENT…
# -u 18 (1.07 s): on an emulated CPU the usual ACK timeout of 67 ms would cause retransmissions.
program=$1
shift
timeout 60 "$program" -d rxe1 -x 1 -u 18 "$@" >/tmp/server.out 2>&1 &
server=$!
for _ in $(seq 50); do # until port 18515 listens
  grep -q ':4853 00000000:0000 0A' /proc/net/tcp && break
  sleep 0.1
done
timeout 60 "$program" -d rxe0 -x 1 -u 18 "$@" 127.0.0.1
status=$?
wait $server || { cat /tmp/server.out; exit 1; }
exit $status

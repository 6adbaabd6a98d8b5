#!/bin/sh
# shellcheck shell=dash
# Runs what the host sends on the virtual port, until it says poweroff.
until ls /dev/vport*p1 >/dev/null 2>&1; do sleep 0.1; done
exec 3<>"$(echo /dev/vport*p1)"
cd /root || poweroff -f
ulimit -l unlimited # as a host of RDMA has it
echo "up 0" >&3
while read -r name <&3; do
  [ "$name" = poweroff ] && break
  bash "/mnt/$name.sh" >"/mnt/$name.out" 2>"/mnt/$name.err" </dev/null 3<&-
  echo "$name $?" >&3
done

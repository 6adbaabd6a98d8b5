#!/usr/bin/env python3
"""weir on a real kernel with RDMA: a machine under QEMU, with Soft-RoCE, perftest, and NICs of ours
that answer DCB netlink and ethtool as a ConnectX does (see README.md).

    vm_test.py --weir BINARY --cache FOLDER PART|image|STEP…

look, change, kill, promise, boot, calibrate and fleet are the parts, each on a machine of its own,
that of boot with systemd and a disk, calibrate on two, fleet on three; image only makes what they
share.

Exit 77, "skipped", where the machine cannot be made, unless WEIR_REQUIRE names `vm`.
"""
# rows: B1 B2 B3 C1 C2 C4 C8 C10 C11 D1 D2 D4 D5 J1 J2 J3 J4 K3
import argparse
import os
import pathlib
import sys
import time

import image
from calibrate import CALIBRATE_STEPS, HOSTS
from change import CHANGE_STEPS, KILL_STEPS, fresh
from cluster import Cluster
from fleet import FLEET_STEPS, RATE_MBIT
from fleet import HOSTS as FLEET_HOSTS
from look import LOOK_STEPS
from machine import Dead, Machine
from promise import BOOT_STEPS, PROMISE_STEPS
from steps import Steps


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--weir", required=True, type=pathlib.Path)
    parser.add_argument("--cache", required=True, type=pathlib.Path)
    parser.add_argument("steps", nargs="+", help="a part, or functions of look.py and change.py")
    options = parser.parse_args()
    began = time.monotonic()

    def say(words):
        print(f"{time.monotonic() - began:5.1f} s  {words}", flush=True)

    try:
        image.build(options.cache.resolve(), say)
        if options.steps == ["image"]:
            return 0
        boots = any(name in ("boot", *(step.__name__ for step in BOOT_STEPS))
                    for name in options.steps)
        place = (options.cache.resolve(), {"bin/weir": options.weir.resolve()})
        fleet = any(name in ("fleet", *(step.__name__ for step in FLEET_STEPS))
                    for name in options.steps)
        machine = (Cluster(*place, FLEET_HOSTS, RATE_MBIT) if fleet
                   else Cluster(*place, HOSTS) if "calibrate" in options.steps
                   else Machine(*place, boots))
    except image.Unavailable as why:
        if "vm" in os.environ.get("WEIR_REQUIRE", "").split(","):
            print(f"FAILED: no test machine, and WEIR_REQUIRE names it: {why}")
            return 1
        print(f"skipped: no test machine: {why}")
        return 77
    try:
        with machine as up:
            say("the machine is up")
            parts = {"look": LOOK_STEPS, "change": CHANGE_STEPS, "kill": KILL_STEPS,
                     "promise": [fresh, *PROMISE_STEPS], "boot": BOOT_STEPS,
                     "calibrate": CALIBRATE_STEPS, "fleet": FLEET_STEPS}
            known = {step.__name__: [step] for part in parts.values() for step in part}
            steps = [step for name in options.steps for step in {**known, **parts}[name]]
            failed = Steps(up).run(steps)
    except Dead as why:
        print(f"FAILED: {why}")
        return 1
    say(f"{len(steps) - failed} of {len(steps)} steps passed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())

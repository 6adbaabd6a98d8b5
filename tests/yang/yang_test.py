#!/usr/bin/env python3
"""What `weir render` writes for SONiC and Junos passes the vendors' own YANG models.

usage: yang_test.py --weir BINARY --drawn BINARY

Every template and a sample of drawn designs; the configurations of tests/data/switch; and a table
of broken ones that yanglint must refuse, so that a check that says yes to everything is noticed.
Five mistakes that YANG accepts are listed as such: they are ours to find
(tests/diagnose/switch_traps_test.cc).

Needs yanglint (Debian: libyang2-tools) and, in WEIR_YANG, a folder with the models (sonic/,
junos/): they are not part of this project. Without either it is skipped (77), unless
WEIR_REQUIRE names yanglint.
"""
import argparse
import copy
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

import configdb
import junos_set

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
DATA = ROOT / "tests" / "data" / "switch"
NODES = 4  # of a template: switches of one group are alike
DRAWN = 12

JUNOS_MODULES = ["junos-qfx-conf-root", "junos-qfx-conf-class-of-service"]


class Yang:
    def __init__(self, models, scratch):
        self.models, self.scratch = models, scratch

    def lint(self, folder, modules, name, data):
        file = self.scratch / name
        file.write_text(data, encoding="utf-8")
        paths = []
        for module in modules:
            paths += sorted((self.models / folder).glob(f"{module}.yang"))
            paths += sorted((self.models / folder).glob(f"{module}@*.yang"))
        done = subprocess.run(
            ["yanglint", "-p", self.models / folder, "-t", "config", *paths, file],
            capture_output=True, text=True, check=False)
        # A warning means that a check was left out.
        said = done.stdout + done.stderr
        return done.returncode == 0 and "YANGLINT[W]" not in said, said

    def sonic(self, config):
        data, without = configdb.instance(config)
        return *self.lint("sonic", configdb.MODULES, "instance.json", json.dumps(data)), without

    def junos(self, text):
        data, without = junos_set.instance(text)
        return *self.lint("junos", JUNOS_MODULES, "instance.xml", data), without


class Report:
    def __init__(self):
        self.failures, self.passed, self.without = [], 0, {}

    def expect(self, name, want, got, said):
        if want == got:
            self.passed += 1
            return
        word = "accepted" if got else "refused"
        wanted = "accepted" if want else "refused"
        self.failures.append(f"{name}: expected to be {wanted}, was {word}\n{said[-1500:]}")


def lack(what):
    if "yanglint" in os.environ.get("WEIR_REQUIRE", "").split(","):
        sys.exit(f"FAILED: {what}, and WEIR_REQUIRE names yanglint")
    print(f"skipped: {what}")
    sys.exit(77)


def variants(text):
    """A template for each system and ASIC: (name, system, design)."""
    for system, asic in (("sonic", "spectrum4"), ("sonic", "tomahawk5"), ("junos", "tomahawk5")):
        design = re.sub(r"(?m)^ +(model|ports): .*\n", "", text)
        design = re.sub(r"system: \w+", f"system: {system}", design)
        yield asic, system, re.sub(r"asic: \w+", f"asic: {asic}", design)


def rendered(weir, design, system, folder):
    """One configuration for each of some switches."""
    folder.mkdir(parents=True)
    (folder / "design.yaml").write_text(design, encoding="utf-8")
    subprocess.run([weir, "render", folder / "design.yaml", "--to", system, "--all", "--out",
                    folder / "out"], check=True, capture_output=True)
    ending = "*.config_db.json" if system == "sonic" else "*.set"
    files = sorted((folder / "out").glob(ending))
    step = max(len(files) // NODES, 1)
    return files[::step]


def check_file(yang, report, file):
    text = file.read_text(encoding="utf-8")
    is_sonic = file.suffix == ".json"
    good, said, without = yang.sonic(json.loads(text)) if is_sonic else yang.junos(text)
    report.expect(f"{file.parent.name}/{file.name}", True, good, said)
    report.without.setdefault("SONiC" if is_sonic else "Junos", set()).update(without)


def edit(table, row, field, value):
    def change(config):
        config.setdefault(table, {}).setdefault(row, {})[field] = value
    return change


def rename(table, old, new):
    def change(config):
        config[table][new] = config[table].pop(old)
    return change


# The mistakes that YANG knows, each in a configuration that is right otherwise.
SONIC_REFUSED = {
    "alpha beyond 2^7": edit("BUFFER_PROFILE", "pg_lossless_400000_5m_profile", "dynamic_th", "9"),
    "a profile that is not there": edit("BUFFER_PG", "Ethernet0|3", "profile", "nowhere"),
    "a port that is not there": edit("PORT_QOS_MAP", "Ethernet999", "pfc_enable", "3"),
    "a WRED profile that is not there": edit("QUEUE", "Ethernet0|3", "wred_profile", "nowhere"),
    "priority group 8": rename("BUFFER_PG", "Ethernet0|3", "Ethernet0|8"),
    "WRED maximum below the minimum": edit("WRED_PROFILE", "ROCE_ECN", "green_max_threshold", "1"),
    "a probability of 101": edit("WRED_PROFILE", "ROCE_ECN", "green_drop_probability", "101"),
    "an unknown ECN mode": edit("WRED_PROFILE", "ROCE_ECN", "ecn", "ecn_maybe"),
    "a watchdog of 50 ms": edit("PFC_WD", "Ethernet0", "detection_time", "50"),
    "detection faster than the poll": edit("PFC_WD", "Ethernet0", "detection_time", "100"),
    "an unknown action": edit("PFC_WD", "Ethernet0", "action", "panic"),
    "DSCP 64": edit("DSCP_TO_TC_MAP", "ROCE", "64", "0"),
    "traffic class 16": edit("DSCP_TO_TC_MAP", "ROCE", "26", "16"),
    "PFC on priority 8": edit("PORT_QOS_MAP", "Ethernet0", "pfc_enable", "3,8"),
    "a weight of 0": edit("SCHEDULER", "sched_be", "weight", "0"),
    "an MTU of 9217": edit("PORT", "Ethernet0", "mtu", "9217"),
    "a length without its unit": edit("CABLE_LENGTH", "ROCE", "Ethernet0", "3"),
    "an unknown field": edit("QUEUE", "Ethernet0|3", "colour", "blue"),
    "a percentage in the traditional model": edit("BUFFER_POOL", "egress_lossless_pool",
                                                  "percentage", "50"),
}
# The mistakes that it does not know: loss, and nothing says so.
SONIC_ACCEPTED = {
    "queue 99": rename("QUEUE", "Ethernet0|3", "Ethernet0|99"),
    "PFC 4, lossless group 3": edit("PORT_QOS_MAP", "Ethernet0", "pfc_enable", "4"),
    "DSCP 26 in class 0": edit("DSCP_TO_TC_MAP", "ROCE", "26", "0"),
    "groups that overlap": edit("BUFFER_PG", "Ethernet0|3-4", "profile",
                                "pg_lossless_400000_5m_profile"),
    "headroom of 2048 bytes": edit("BUFFER_PROFILE", "pg_lossless_400000_5m_profile", "xoff",
                                   "2048"),
}
JUNOS_REFUSED = {
    "threshold 11": ("lossless dynamic-threshold 7", "lossless dynamic-threshold 11"),
    "priority 8": ("pfc-priority 3", "pfc-priority 8"),
    "a fill level of 101": ("fill-level 50", "fill-level 101"),
    "a statement that is not there": ("S-BE transmit-rate percent 40", "S-BE no-such-statement 1"),
}
JUNOS_ACCEPTED = {
    "a scheduler that is not there": ("scheduler S-ROCE", "scheduler NOWHERE"),
    "partitions of 99 %": ("lossy percent 10", "lossy percent 9"),
    "a code point that is none": ("code-points 011010", "code-points 01x010"),
}


def check_mutations(yang, report):
    base = json.loads((DATA / "sonic" / "leaf01.config_db.traditional.json").read_text())
    for want, table in ((False, SONIC_REFUSED), (True, SONIC_ACCEPTED)):
        for name, change in table.items():
            config = copy.deepcopy(base)
            change(config)
            good, said, _ = yang.sonic(config)
            report.expect(f"SONiC with {name}", want, good, said)
    text = (DATA / "junos" / "leaf01.set").read_text()
    for want, table in ((False, JUNOS_REFUSED), (True, JUNOS_ACCEPTED)):
        for name, (old, new) in table.items():
            if old not in text:
                sys.exit(f"FAILED: tests/data/switch/junos/leaf01.set has no '{old}' to break")
            good, said, _ = yang.junos(text.replace(old, new))
            report.expect(f"Junos with {name}", want, good, said)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--weir", required=True)
    parser.add_argument("--drawn", required=True)
    arguments = parser.parse_args()
    if shutil.which("yanglint") is None:
        lack("yanglint is not installed (apt-get install libyang2-tools)")
    models = pathlib.Path(os.environ.get("WEIR_YANG", "nowhere"))
    if not (models / "sonic").is_dir() or not (models / "junos").is_dir():
        lack("WEIR_YANG names no folder with the vendors' YANG models (sonic/, junos/)")
    report = Report()
    with tempfile.TemporaryDirectory() as name:
        scratch = pathlib.Path(name)
        yang = Yang(models, scratch)
        check_mutations(yang, report)
        for file in sorted((DATA / "sonic").glob("*.json")) + [DATA / "junos" / "leaf01.set"]:
            check_file(yang, report, file)
        for template in sorted((ROOT / "designs").glob("*.yaml")):
            for asic, system, design in variants(template.read_text(encoding="utf-8")):
                folder = scratch / f"{template.stem}-{system}-{asic}"
                for file in rendered(arguments.weir, design, system, folder):
                    check_file(yang, report, file)
        drawn = scratch / "drawn"
        drawn.mkdir()
        subprocess.run([arguments.drawn, str(DRAWN), drawn], check=True)
        for file in sorted(drawn.iterdir()):
            check_file(yang, report, file)
    for system, without in sorted(report.without.items()):
        print(f"{system}: no model at hand for {', '.join(sorted(without))}")
    for failure in report.failures:
        print("FAILED:", failure)
    print(f"{report.passed} as expected, {len(report.failures)} not")
    return 1 if report.failures else 0


if __name__ == "__main__":
    sys.exit(main())

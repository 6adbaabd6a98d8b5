#!/usr/bin/env python3
"""Every alert fires for the faults that it is for, and none on healthy runs.  COVERS K2

    alerts_test.py WEIR CACHE [--show FAULT/LOAD…]

A fault is put into a lab, a load is run, and what `weir serve` shows before and after gives the
rate of every counter. Those rates are held for 20 minutes of series time and fed to `promtool test
rules` with the rules that `weir render` writes: exactly the expected alerts must fire. Alerts that
no fault of the simulator makes (Down, CollectorFailed …) are provoked by series written by hand.
Skipped without promtool, unless WEIR_REQUIRE names prometheus.
"""
import argparse
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

from prometheus import programs

STEP = 15  # seconds between samples, as the rendered configuration scrapes
SAMPLES = 80
AT = "16m"

ALL = "all-to-all size=1MB"
INCAST = "incast size=8MB"

# Faults of weir sim --list-faults: place, load, alerts. A fault that stays within what the limits
# allow on this fabric and load (a wrong hash, a slow increase) makes no alert; it is here so that
# it stays so.
FAULTS = [
    ("dcqcn-alpha-period,at=all", INCAST, []),
    ("dcqcn-rate-ai,at=all", INCAST, []),
    ("degraded-link,at=gpu03-leaf1", ALL, ["Finding", "Loss", "OutOfSequence"]),
    ("ecn-too-high,at=all", "incast size=20MB",
     ["PauseEverywhere", "PauseNoMarks", "PauseStorm", "Paused", "PausedHigh"]),
    ("ecn-too-low,at=all", ALL, []),
    ("few-receives,at=gpu01", "incast size=2MB", []),
    ("headroom-too-small,at=all", "incast size=20MB", ["Finding"]),
    ("link-down,at=gpu03-leaf1,from=200us", ALL, ["Finding", "LinkFlap"]),
    ("nic-pause-storm,at=gpu05", ALL, ["Finding", "PauseStorm", "SlowReceiver"]),
    ("np-off,at=gpu01", INCAST, ["Drift", "Finding", "MarksNoCnp", "Paused", "PausedHigh"]),
    ("pfc-too-wide,at=all", INCAST, []),
    ("pool-too-small,at=all", INCAST, ["PauseEverywhere", "Paused", "PausedHigh"]),
    ("reordering,at=all", ALL, ["Finding", "Loss", "OutOfSequence"]),
    ("routing-loop,at=leaf1", ALL, ["Finding"]),
    ("rp-off,at=gpu03", INCAST, ["CnpIgnored", "Drift", "Finding"]),
    ("same-hash-seed,at=all", ALL, []),
    ("shared-queue,at=all", ALL, ["Finding"]),
    ("slow-receiver,at=gpu01", INCAST, ["Finding", "Paused", "PausedHigh", "SlowReceiver"]),
    ("switch-down,at=spine1", ALL, ["Finding"]),
    ("switch-wrong-map,at=leaf1", ALL, ["Finding"]),
    ("tcp-fallback,at=gpu03", ALL, ["Finding"]),
    ("wrong-dscp,at=gpu03", ALL, ["Drift", "Finding", "WrongPriority"]),
    ("wrong-mtu,at=gpu03", ALL, ["Drift", "Finding", "Loss", "OutOfSequence"]),
    ("wrong-nic-map,at=gpu03", ALL, ["Drift", "Finding", "WrongPriority"]),
    ("wrong-pfc-priority,at=gpu03", ALL, ["Drift", "Finding"]),
    ("wrong-tc,at=gpu03", ALL, ["Drift", "Finding", "WrongPriority"]),
    ("wrong-trust,at=gpu03", ALL, ["Drift", "Finding", "WrongPriority"]),
]

HEALTHY = [ALL, INCAST, "permutation size=4MB", "all-reduce size=16MB",
           "all-reduce size=8MB algo=tree"]
SEEDS = [1, 2, 3, 4]

PORT = 'instance="a:9347",job="weir",device="mlx5_0",port="1",netdev="eth0"'
OTHER = 'instance="a:9347",job="weir",device="mlx5_1",port="1",netdev="eth1"'
# Alerts that no fault above makes, by series that say what they are for.
PROVOKED = [
    (["Down"], ['up{job="weir",instance="a:9347"} 0']),
    (["HostNotSeen"], ['weir_fleet_host_seen{instance="a:9347",host="gpu07"} 0']),
    (["CollectorFailed"], ['weir_scrape_collector_success{instance="a:9347",collector="hosts"} 0']),
    (["JudgementStale"], ['weir_last_judged_timestamp_seconds{instance="a:9347"} 0']),
    ([], ['weir_counter_saturated{%s,counter="counters/symbol_error"} 1' % PORT]),  # after an hour
    (["Regression"], ['weir_baseline_regressions{instance="a:9347",baseline="good"} 2']),
    ([], ['weir_baseline_regressions{instance="a:9347",baseline="good"} 0',
          'weir_baseline_deviation_ratio{instance="a:9347",baseline="good",stage="pairs",'
          'metric="bandwidth",quantile="p50"} 0.04']),
    (["LinkDown"], ["weir_port_up{%s} 0" % PORT]),
    (["RetriesExceeded"], ["weir_roce_transport_retries_exceeded_total{%s} 0+0.1" % PORT]),
    (["AckTimeouts"], ["weir_roce_ack_timeouts_total{%s} 0+30" % PORT]),
    ([], ["weir_roce_ack_timeouts_total{%s} 0+1" % PORT]),
    (["LosslessDrop"], ['weir_port_priority_buffer_discards_total{%s,priority="3"} 0+1' % PORT,
                        'weir_design_lossless_priority{instance="a:9347",priority="3"} 1']),
    ([], ['weir_port_priority_buffer_discards_total{%s,priority="0"} 0+1' % PORT,
          'weir_design_lossless_priority{instance="a:9347",priority="3"} 1']),
    (["PauseOtherClass"],
     ['weir_port_pfc_received_pause_frames_total{%s,priority="4"} 0+10' % PORT,
      'weir_design_lossless_priority{instance="a:9347",priority="3"} 1']),
    ([], ['weir_port_pfc_received_pause_frames_total{%s,priority="3"} 0+10' % PORT,
          'weir_design_lossless_priority{instance="a:9347",priority="3"} 1']),
    (["SymbolErrors"], ["weir_port_symbol_errors_total{%s} 0+10" % PORT]),
    (["LinkFlap"], ["weir_port_link_down_events_total{%s} 0+0.1" % PORT]),
    (["PauseStorm"], ['weir_port_pause_storm_events_total{%s,severity="error"} 0+1' % PORT]),
    ([], ['weir_port_pause_storm_events_total{%s,severity="warning"} 0+1' % PORT]),
    (["RailSkew"], ["weir_rdma_transmitted_bytes_total{%s} 0+6e10" % PORT,
                    "weir_rdma_transmitted_bytes_total{%s} 0+3e10" % OTHER]),
    ([], ["weir_rdma_transmitted_bytes_total{%s} 0+6e10" % PORT,
          "weir_rdma_transmitted_bytes_total{%s} 0+5.5e10" % OTHER]),
    (["SwitchWatchdog"],
     ['weir_switch_watchdog_storms_total{instance="a:9347",switch="leaf1",port="swp1",queue="3"} '
      "0+1"]),
]

SERIES = re.compile(r"^([a-z_]+)(?:\{(.*)\})? (\S+)$")


def run(weir, *words, check=True):
    done = subprocess.run([weir, *words], capture_output=True, text=True, check=False)
    if check and done.returncode not in (0, 1, 5):
        sys.exit(f"FAILED: weir {' '.join(words)}: {done.returncode}\n{done.stderr}")
    return done


def read_metrics(path):
    """(name, labels) -> value, and name -> type."""
    values, types = {}, {}
    for line in path.read_text(encoding="utf-8").splitlines():
        if line.startswith("# TYPE "):
            _, _, name, kind = line.split(" ")
            types[name] = kind
        elif line and not line.startswith("#"):
            name, labels, value = SERIES.match(line).groups()
            values[(name, labels or "")] = float(value)
    return values, types


def clock(weir, lab):
    return json.loads(run(weir, "lab", "status", "--dir", str(lab), "--json").stdout)["clock_ns"]


class Case:
    """A lab with a fault, looked at before and after a load."""

    def __init__(self, weir, prepared, scratch, fault, load):
        lab = scratch / "lab"
        shutil.rmtree(lab, ignore_errors=True)
        shutil.copytree(prepared, lab)
        if fault:
            run(weir, "lab", "fault", "add", *fault.split(" "), "--dir", str(lab))
        run(weir, "serve", "--lab", str(lab), "--textfile", str(scratch / "a.prom"))
        begin = clock(weir, lab)
        run(weir, "verify", "--lab", str(lab), "--", *load.split(" "))
        seconds = (clock(weir, lab) - begin) / 1e9
        run(weir, "serve", "--lab", str(lab), "--textfile", str(scratch / "b.prom"))
        before, _ = read_metrics(scratch / "a.prom")
        after, types = read_metrics(scratch / "b.prom")
        self.series = [("up", "", "1", "0")]
        for (name, labels), value in after.items():
            grows = types.get(name) == "counter"
            rate = (value - before.get((name, labels), 0)) / seconds if grows else 0
            if name == "weir_last_judged_timestamp_seconds":
                value, rate = 0, 1
            self.series.append((name, labels, repr(value), repr(rate * STEP)))

    def input_series(self):
        for name, labels, value, step in self.series:
            own = 'instance="lab:9347",job="weir"' + ("," + labels if labels else "")
            yield {"series": f"{name}{{{own}}}", "values": f"{value}+{step}x{SAMPLES}"}


def promtool(tool, rules, cases, scratch):
    """Runs cases [(name, input_series, expected)]; returns promtool's complaints."""
    tests = []
    for name, series, expected in cases:
        tests.append({
            "name": name, "interval": f"{STEP}s", "input_series": series,
            "promql_expr_test": [{
                "expr": 'group by (alertname) (ALERTS{alertstate="firing"})', "eval_time": AT,
                "exp_samples": [{"labels": f'{{alertname="{alert}"}}', "value": 1}
                                for alert in sorted(expected)]}]})
    # JSON is YAML.
    (scratch / "tests.yml").write_text(json.dumps(
        {"rule_files": [str(rules)], "evaluation_interval": f"{STEP}s", "tests": tests}))
    done = subprocess.run([tool, "test", "rules", str(scratch / "tests.yml")],
                          capture_output=True, text=True, check=False)
    return "" if done.returncode == 0 else done.stdout + done.stderr


def fired(tool, rules, series, scratch):
    """What fires: what promtool got where nothing was expected."""
    text = promtool(tool, rules, [("show", series, [])], scratch)
    return sorted(set(re.findall(r'alertname=\\?"(\w+)\\?"', text.split("got:", 1)[-1])))


def written(text):
    """A series of PROVOKED: `name{labels} value` or `name{labels} value+step`."""
    series, _, values = text.rpartition(" ")
    value, _, step = values.partition("+")
    return {"series": series, "values": f"{value}+{step or 0}x{SAMPLES}"}


class Labs:
    """Labs as designed, one for each seed."""

    def __init__(self, weir, scratch):
        self.weir, self.scratch = weir, scratch
        self.design = scratch / "fabric.yaml"
        run(weir, "init", "--template", "pod16", "--output", str(self.design))

    def prepared(self, seed):
        lab = self.scratch / f"seed{seed}"
        if not lab.exists():
            run(self.weir, "lab", "up", str(self.design), "--dir", str(lab), "--seed", str(seed))
            run(self.weir, "apply", "--lab", str(lab), "--yes")
            for switch in ("leaf1", "leaf2", "spine1"):
                run(self.weir, "lab", "switch", switch, "set", "config", "designed", "--dir",
                    str(lab))
        return lab

    def case(self, seed, fault, load):
        return list(Case(self.weir, self.prepared(seed), self.scratch, fault,
                         load).input_series())


def check(tool, rules, labs, scratch):
    cases = [(f"{fault} / {load}", labs.case(1, fault, load), alerts)
             for fault, load, alerts in FAULTS]
    cases += [(f"healthy, seed {seed} / {load}", labs.case(seed, "", load), [])
              for seed in SEEDS for load in HEALTHY]
    cases += [(" ".join(lines), [written(line) for line in lines], alerts)
              for alerts, lines in PROVOKED]
    wrong = 0
    for name, series, alerts in cases:
        got = fired(tool, rules, series, scratch)
        if got != sorted("Weir" + alert for alert in alerts):
            wrong += 1
            print(f"FAILED {name}: expected {alerts}, fired {got}")
    shown = {alert for _, _, alerts in FAULTS for alert in alerts}
    shown |= {alert for alerts, _ in PROVOKED for alert in alerts} | {"Saturated"}
    all_alerts = set(re.findall(r"alert: Weir(\w+)", rules.read_text(encoding="utf-8")))
    if shown != all_alerts:
        wrong += 1
        print(f"FAILED alerts without a case, or cases without an alert: {shown ^ all_alerts}")
    print(f"{len(cases) - wrong} of {len(cases)} cases as expected")
    return wrong


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("weir")
    parser.add_argument("cache")
    parser.add_argument("--show", nargs="*", metavar="FAULT/LOAD", help="print what fires")
    arguments = parser.parse_args()
    weir = os.path.abspath(arguments.weir)
    tool = programs(arguments.cache)["promtool"]
    with tempfile.TemporaryDirectory() as name:
        scratch = pathlib.Path(name)
        labs = Labs(weir, scratch)
        run(weir, "render", str(labs.design), "--to", "prometheus", "--out", str(scratch / "rules"))
        rules = scratch / "rules" / "weir.rules.yml"
        for words in arguments.show or []:
            fault, _, load = words.partition("/")
            series = labs.case(1, fault, load or ALL)
            print(f"{words}: {fired(tool, rules, series, scratch)}", flush=True)
        if not arguments.show and check(tool, rules, labs, scratch):
            sys.exit(1)


if __name__ == "__main__":
    main()

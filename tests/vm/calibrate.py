"""A real path, calibrated: Soft-RoCE over a link that is shaped far below what the guest can do.

Both hosts live in one guest (Soft-RoCE of Linux 6.1 works in the first network namespace only); the
frames cross a bridge in another namespace whose two ports are shaped. Two message sizes
are fitted, a third is predicted.
"""
import json
import pathlib
import subprocess
import tempfile

from steps import contains

RATE_MBIT = 20  # the guest alone does three times that and more
REPEATS = 4
DESIGN = pathlib.Path(__file__).parent / "design_pair.yaml"
# size of a message, and its part in the plan
LATENCIES = {8192: False, 65536: False, 32768: True}


def trial(name, kind, size, held_out):
    return {"id": name, "kind": kind, "senders": ["b"], "receiver": "a", "qps": 1,
            "size_bytes": size, "held_out": held_out, "seconds": 1}


def plan():
    trials = [trial(f"latency-{size}", "latency", size, held_out)
              for size, held_out in LATENCIES.items()]
    return {"schema": "weir/calibration-manifest/1", "design": "pair", "rail": 0,
            "repeats": REPEATS, "hosts": ["a", "b"], "trials": trials}


def shaped(vm):
    """Two hosts over a switch whose ports are shaped far below what the guest can do."""
    vm.sh("bash /guest/topology.sh ofed=1")
    for port in ("fnic1", "fnic3"):
        vm.sh(f"ip netns exec sw tc qdisc add dev {port} root tbf rate {RATE_MBIT}mbit burst 4kb "
              "limit 600kb")
    return f"{RATE_MBIT} Mb/s"


def run(vm, program, size, count):
    return vm.sh(f"bash /guest/load.sh {program} -m 1024 -s {size} -n {count}", seconds=120).out


def predicted(vm):
    """calibrate fit: two sizes fitted, the third predicted within the run-to-run interval, or it
    says that it cannot and why."""
    with tempfile.TemporaryDirectory() as folder:
        measured = pathlib.Path(folder) / "measured"
        for repeat in range(1, REPEATS + 1):
            for size in LATENCIES:
                place = measured / f"latency-{size}" / str(repeat)
                place.mkdir(parents=True)
                text = run(vm, "ib_write_lat", size, 10)
                (place / "b.lat.txt").write_text(text, encoding="utf-8")
        (measured / "manifest.json").write_text(json.dumps(plan()), encoding="utf-8")
        done = subprocess.run(
            [vm.machine.programs["bin/weir"], "calibrate", "fit", measured, "-d", DESIGN, "--json"],
            capture_output=True, text=True, check=False, timeout=300)
    assert done.returncode in (0, 5), f"exit {done.returncode}: {done.stdout}{done.stderr}"
    answer = json.loads(done.stdout)
    held = next(row for row in answer["rows"] if row["held_out"])
    told = (f"{answer['verdict']}; 32 KiB measured {held['measured']:.1f} us "
            f"({held['low']:.1f} to {held['high']:.1f} from run to run), predicted "
            f"{held['simulated']:.1f} us")
    if done.returncode == 0:
        assert held["within"], told
        rate = next(row for row in answer["unknowns"] if row["key"] == "host_rate")
        assert 0.8 < rate["value"] * 1000 / RATE_MBIT < 1.2, rate  # the design says 1 Gb/s
    else:
        contains(answer["verdict"], "cannot be calibrated here")
    return told


CALIBRATE_STEPS = [shaped, predicted]

"""A real path, calibrated: Soft-RoCE between two machines, over links that are shaped far below
what they can do. Latency and bandwidth of two message sizes are fitted, those of a third predicted.
"""
import json
import pathlib
import subprocess
import tempfile

from cluster import address_of
from steps import contains

HOSTS = ["a", "b"]  # receiver, sender
RATE_MBIT = 10  # a machine alone does several times that
REPEATS = 4
DESIGN = pathlib.Path(__file__).parent / "design_pair.yaml"
# size of a message: whether it is predicted
SIZES = {8192: False, 65536: False, 32768: True}
DEPTH = 4
PROGRAMS = {"latency": ("ib_write_lat", "lat", "-n 10"),
            "bandwidth": ("ib_write_bw", "bw", f"-n 20 -t {DEPTH} --report_gbits")}


def trials():
    for kind in PROGRAMS:
        for size, is_held_out in SIZES.items():
            yield {"id": f"{kind}-{size}", "kind": kind, "senders": ["b"], "receiver": "a",
                   "qps": 1, "depth": DEPTH, "size_bytes": size, "held_out": is_held_out,
                   "seconds": 1}


def manifest():
    return {"schema": "weir/calibration-manifest/1", "design": "pair", "rail": 0,
            "repeats": REPEATS, "hosts": HOSTS, "trials": list(trials())}


def sh(vm, host, command):
    vm.last = vm.machine[host].run(command, 120)
    assert vm.last.status == 0, f"exit {vm.last.status} on {host}"
    return vm.last.out


def shaped(vm):
    """Two machines with Soft-RoCE, each of whose links is shaped far below what it can do."""
    for host in HOSTS:
        sh(vm, host, "for module in crc32_generic rdma_rxe ib_uverbs sch_tbf; do modprobe $module;"
                     " done\nrdma link add rxe0 type rxe netdev eth0\n"
                     f"tc qdisc add dev eth0 root tbf rate {RATE_MBIT}mbit burst 4kb limit 600kb")
    return f"{RATE_MBIT} Mb/s"


def measure(vm, kind, size):
    """One run of perftest from b to a: what b printed."""
    program, _, more = PROGRAMS[kind]
    # -u 18 (1.07 s): on an emulated CPU the usual ACK timeout of 67 ms would send packets again.
    line = f"timeout 100 {program} -d rxe0 -x 1 -u 18 -m 1024 -s {size} {more}"
    sh(vm, "a", f"{line} >/tmp/server.out 2>&1 &\n"
                "until grep -q ':4853 00000000:0000 0A' /proc/net/tcp; do sleep 0.1; done")
    return sh(vm, "b", f"{line} {address_of(0)}")


def predicted(vm):
    """calibrate fit: two sizes fitted, the third predicted within the run-to-run interval, or it
    says that it cannot and why."""
    with tempfile.TemporaryDirectory() as folder:
        measured = pathlib.Path(folder)
        for repeat in range(1, REPEATS + 1):
            for trial in trials():
                place = measured / trial["id"] / str(repeat)
                place.mkdir(parents=True)
                text = measure(vm, trial["kind"], trial["size_bytes"])
                name = f"b.{PROGRAMS[trial['kind']][1]}.txt"
                (place / name).write_text(text, encoding="utf-8")
        (measured / "manifest.json").write_text(json.dumps(manifest()), encoding="utf-8")
        done = subprocess.run(
            [vm.machine["a"].programs["bin/weir"], "calibrate", "fit", measured, "-d", DESIGN,
             "--json"], capture_output=True, text=True, check=False, timeout=600)
    assert done.returncode in (0, 5), f"exit {done.returncode}: {done.stdout}{done.stderr}"
    answer = json.loads(done.stdout)
    held = [row for row in answer["rows"] if row["held_out"]]
    told = answer["verdict"] + "".join(
        f"\n       {row['trial']}: measured {row['measured']:.4g} {row['unit']} "
        f"({row['low']:.4g} to {row['high']:.4g} from run to run), predicted "
        f"{row['simulated']:.4g}" for row in held)
    assert len(held) == len(PROGRAMS), told
    if done.returncode == 0:
        assert all(row["within"] for row in held), told
        rate = next(row for row in answer["unknowns"] if row["key"] == "host_rate")
        assert 0.8 < rate["value"] * 1000 / RATE_MBIT < 1.2, rate  # the design says 1 Gb/s
    else:
        contains(answer["verdict"], "cannot be calibrated here")
    return told


CALIBRATE_STEPS = [shaped, predicted]

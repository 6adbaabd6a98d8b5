"""weir pcap against tshark and against the tallies committed beside each capture.

    tshark_test.py WEIR DRAW DATA     DRAW makes captures: DRAW FOLDER COUNT SEED

Every capture of DATA must agree with its tally and with a fresh one by tshark; drawn captures (all
formats, encapsulations and opcodes) with tshark; captures of the simulator too, without one packet
that tshark calls malformed.
"""
import json
import os
import pathlib
import subprocess
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
import tally  # noqa: E402

DRAWN = int(os.environ.get("WEIR_DRAWN", "12"))
SEED = 20261115
failures = []


def weir_pcap(weir, path):
    done = subprocess.run([weir, "pcap", str(path), "--json", "--all"], capture_output=True,
                          text=True, check=False, cwd=tempfile.gettempdir())
    if done.returncode not in (0, 1, 5):
        raise SystemExit(f"weir pcap {path} exits {done.returncode}: {done.stderr}")
    return json.loads(done.stdout)


def compare(name, expected, found):
    flows = expected.pop("flows")
    for key, value in expected.items():
        seen = found[key]
        if key == "nak":
            seen = {kind: seen[kind] for kind in value}
        if seen != value:
            failures.append(f"{name}: {key}: expected {value}, weir says {seen}")
    mine = sorted((f["source"], f["destination"], f["qp"], f["packets"], f["bytes"])
                  for f in found["flows"])
    theirs = sorted((f["source"], f["destination"], f["qp"], f["packets"], f["bytes"])
                    for f in flows)
    if mine != theirs:
        failures.append(f"{name}: flows: expected {theirs}, weir says {mine}")


def malformed(path):
    done = subprocess.run(["tshark", "-r", str(path), "-Y", "_ws.malformed"], capture_output=True,
                          text=True, check=False)
    return len(done.stdout.splitlines())


def simulated(weir, folder):
    subprocess.run([weir, "init", "--quiet", "-t", "pod16", "-o", "pod16.yaml"], cwd=folder,
                   check=True, capture_output=True)
    runs = {
        "host": ["-w", "incast,to=gpu01,senders=4,size=200KB", "--at", "gpu01"],
        "loss": ["-w", "incast,to=gpu02,senders=2,size=400KB", "-f",
                 "degraded-link,at=gpu02,ber=1e-7", "--at", "gpu02"],
        "switch": ["-w", "incast,to=gpu01,senders=8,size=400KB", "--at", "leaf1:swp1"],
    }
    for name, words in runs.items():
        path = folder / f"sim-{name}.pcap"
        subprocess.run([weir, "sim", "pod16.yaml", "--quiet", "--pcap", str(path), *words],
                       cwd=folder, check=True, capture_output=True)
        if malformed(path):
            failures.append(f"{path.name}: tshark calls {malformed(path)} packets malformed")
        found = weir_pcap(weir, path)
        if found["icrc_bad"] or found["icrc_good"] != found["roce_packets"]:
            failures.append(f"{path.name}: ICRC: {found['icrc_good']} of {found['roce_packets']}")
        yield path


def main():
    weir, draw, data = sys.argv[1:4]
    weir = str(pathlib.Path(weir).resolve())
    captures = sorted(pathlib.Path(data).resolve().glob("*.pcap"))
    if len(captures) < 10:
        raise SystemExit(f"{data}: only {len(captures)} captures")
    compared = 0
    for path in captures:
        found = weir_pcap(weir, path)
        committed = json.loads(path.with_suffix(".tally.json").read_text(encoding="utf-8"))
        compare(path.name + " (tally)", committed, found)
        compare(path.name, tally.tally(path, with_order=True), found)
        compared += 1
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        subprocess.run([draw, name, str(DRAWN), str(SEED)], check=True, timeout=60)
        for path in sorted(folder.glob("drawn-*")):
            compare(path.name, tally.tally(path, with_order=False), weir_pcap(weir, path))
            compared += 1
        for path in simulated(weir, folder):
            compare(path.name, tally.tally(path, with_order=False), weir_pcap(weir, path))
            compared += 1
    print(f"{compared} captures compared with tshark (drawn with seed {SEED})")
    for failure in failures:
        print("FAILED:", failure)
    raise SystemExit(1 if failures else 0)


main()

#!/usr/bin/env python3
"""What weir renders for Slurm, run by Slurm: nodes are drained, resumed and left alone as said.

  slurm_test.py WEIR CACHE

Debian's slurmctld and slurmd on loopback (slurm.py). The nodes are hosts of a lab: on each, `weir`
is the binary under test with --lab and --host, or for a bundle with a recorded host.
"""
import json
import pathlib
import subprocess
import sys
import tempfile
import time

from slurm import Slurm

DATA = pathlib.Path(__file__).resolve().parent.parent / "data/host/hgx01"
NODES = ["gpu1", "gpu2"]
LEADER = "[node_problem] weir:"
WAIT_S = 90
# rows: K3


def check(is_true, *what):
    if not is_true:
        sys.exit("FAILED: " + "\n".join(str(each) for each in what))


def script(path, text):
    path.write_text("#!/bin/sh\n" + text, encoding="utf-8")
    path.chmod(0o755)
    return path


class Fabric:
    """A lab of two hosts, the scripts rendered for its design, and a `weir` for the nodes."""

    def __init__(self, weir, folder):
        self.weir = weir
        self.folder = folder
        self.run("init", "--quiet", "-t", "pair", "-o", "fabric.yaml")
        self.run("lab", "up", "--dir", "lab", "--quiet")
        self.run("apply", "--lab", "lab", "--quiet", "--yes")
        self.bin = folder / "bin"
        self.bin.mkdir()
        script(self.bin / "weir", f"""
case $1 in
  bundle) shift; exec {weir} bundle --root {DATA} --keep-names "$@" ;;
  *) exec {weir} "$@" --lab {folder}/lab --host "$SLURMD_NODENAME" ;;
esac
""")

    def run(self, *words):
        done = subprocess.run([self.weir, *words], cwd=self.folder, check=False, text=True,
                              capture_output=True, timeout=120)
        check(done.returncode == 0, f"weir {' '.join(words)}: {done.returncode}", done.stdout,
              done.stderr)
        return done.stdout

    def rendered(self, target):
        """The script as rendered, with this test's places instead of a node's."""
        text = self.run("render", "--to", target)
        for line, instead in (("design=/etc/weir/fabric.yaml", f"design={self.folder}/fabric.yaml"),
                              ("verdict=/run/weir/slurm-verdict",
                               f"verdict={self.folder}/$SLURMD_NODENAME.verdict")):
            check(line in text or line.startswith("design"), f"{target} has no line {line}", text)
            text = text.replace(line, instead)
        path = self.folder / f"{target}.sh"
        path.write_text(text, encoding="utf-8")
        path.chmod(0o755)
        return path


def health_check(fabric, folder):
    """A program for slurm.conf: the rendered one where Slurm's commands and weir are found."""
    rendered = fabric.rendered("slurm-healthcheck")
    return script(folder / "health.sh", f". {folder}/environment\nexec {rendered}\n")


def wait_until(is_true, what):
    end = time.monotonic() + WAIT_S
    while not is_true():
        check(time.monotonic() < end, f"not within {WAIT_S} s: {what()}")
        time.sleep(0.3)


def test_drain_and_resume(fabric, slurm):
    fabric.run("lab", "fault", "add", "--dir", "lab", "np-off,at=gpu1")
    wait_until(lambda: slurm.state("gpu1") == "drained",
               lambda: f"gpu1 is drained, found {slurm.state('gpu1')}")
    reason = slurm.reason("gpu1")
    check(reason.startswith(LEADER) and len(reason) <= 100, "the reason of gpu1", reason)
    check(not any(letter.isdigit() for letter in reason.removeprefix(LEADER).split()[0]),
          "an id without numbers", reason)
    check(slurm.state("gpu2") == "idle", "gpu2 stays idle", slurm.state("gpu2"))
    test_prolog(fabric)
    fabric.run("lab", "fault", "clear", "--dir", "lab")
    fabric.run("apply", "--lab", "lab", "--quiet", "--yes")
    wait_until(lambda: slurm.state("gpu1") == "idle",
               lambda: f"gpu1 is resumed, found {slurm.state('gpu1')} {slurm.reason('gpu1')}")


def test_prolog(fabric):
    """A proven fault stops a job; what is unknown or old does not."""
    prolog = fabric.rendered("slurm-prolog")

    def status(node):
        return subprocess.run([prolog], env={"SLURMD_NODENAME": node, "PATH": "/usr/bin:/bin"},
                              check=False, capture_output=True).returncode

    check(status("gpu1") == 1, "the prolog of gpu1 stops a job")
    check(status("gpu2") == 0, "the prolog of gpu2 lets a job start")
    check(status("gpu9") == 0, "a node without a verdict starts jobs")
    old = fabric.folder / "gpu8.verdict"
    old.write_text("1 [node_problem] weir:x\n", encoding="ascii")
    subprocess.run(["touch", "-d", "1 hour ago", old], check=True)
    check(status("gpu8") == 0, "a verdict of an hour ago stops no job")


def test_others_drains_are_left(fabric, slurm):
    slurm.run("scontrol", "update", "nodename=gpu2", "state=drain", "reason=NHC: bad DIMM")
    fabric.run("lab", "fault", "add", "--dir", "lab", "np-off,at=gpu2")
    verdict = fabric.folder / "gpu2.verdict"
    wait_until(lambda: verdict.read_text(encoding="utf-8").startswith("1 "),
               lambda: f"the fault of gpu2 is seen, found {verdict.read_text(encoding='utf-8')}")
    fabric.run("lab", "fault", "clear", "--dir", "lab")
    fabric.run("apply", "--lab", "lab", "--quiet", "--yes")
    wait_until(lambda: verdict.read_text(encoding="utf-8").startswith("0 "),
               lambda: f"gpu2 is healthy, found {verdict.read_text(encoding='utf-8')}")
    check(slurm.reason("gpu2") == "NHC: bad DIMM" and slurm.state("gpu2") == "drained",
          "the drain of others stays", slurm.reason("gpu2"), slurm.state("gpu2"))
    slurm.run("scontrol", "update", "nodename=gpu2", "state=resume")


def test_tune_by_job_steps(fabric, slurm):
    """`weir tune --launcher slurm` in an allocation of both nodes: the answer of one thread."""
    words = ["tune", "fabric.yaml", "-w", "incast,senders=1,size=300KB", "--knobs",
             "dcqcn.rpg_time_reset", "--budget", "150runs", "--json"]
    alone = json.loads(fabric.run(*words, "--jobs", "1"))
    done = slurm.run("salloc", "-N", "2", "-n", "2", fabric.weir, *words, "--launcher", "slurm",
                     cwd=fabric.folder)
    check(done.returncode == 0, "tune in an allocation", done.stdout, done.stderr)
    check(json.loads(done.stdout) == alone, "another answer", done.stdout, alone)


def test_via_slurm(fabric, slurm):
    slurm.wait_for_state(NODES, "idle")
    for _ in range(5):
        done = slurm.run(fabric.weir, "show", "--hosts", "gpu[1-2]", "--via", "slurm",
                         "--remote-weir", str(fabric.bin / "weir"))
        if "Requested nodes are busy" not in done.stderr:  # with a health check, and told so
            break
    check(done.returncode in (0, 1, 5) and "gpu1" in done.stdout and "gpu2" in done.stdout
          and "mlx5_" in done.stdout, "show of both nodes", done.returncode, done.stdout,
          done.stderr)


def main():
    weir, cache = str(pathlib.Path(sys.argv[1]).resolve()), sys.argv[2]
    with tempfile.TemporaryDirectory(prefix="weir-slurm-test-") as name:
        folder = pathlib.Path(name)
        folder.chmod(0o755)
        fabric = Fabric(weir, folder)
        program = health_check(fabric, folder)
        slurm = Slurm(cache, NODES, f"HealthCheckProgram={program}\nHealthCheckInterval=2\n"
                                    "HealthCheckNodeState=ANY")
        (folder / "environment").write_text(
            "".join(f"export {key}='{slurm.environment[key]}'\n"
                    for key in ("LD_LIBRARY_PATH", "SLURM_CONF"))
            + f"export PATH='{fabric.bin}:{slurm.environment['PATH']}'\n", encoding="utf-8")
        with slurm:
            for test in (test_drain_and_resume, test_others_drains_are_left, test_via_slurm,
                         test_tune_by_job_steps):
                test(fabric, slurm)
                print(f"ok  {test.__name__}", flush=True)


main()

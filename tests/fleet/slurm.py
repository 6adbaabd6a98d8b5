"""Debian's Slurm on loopback, unpacked: nothing is installed and no daemon of the system starts.

    with Slurm(cache, nodes=["gpu01", "gpu02"], more="Prolog=/path\n") as slurm:
        slurm.run("sinfo", "-h")

One slurmctld, one slurmd per node (each on a port of its own, all on 127.0.0.1) and one munged, in
a folder that goes with them. Packages are downloaded once into `cache`. Where that is impossible
the test is skipped (exit 77), unless WEIR_REQUIRE names slurm.
"""
import os
import pathlib
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time

PACKAGES = ["slurmctld", "slurmd", "slurm-client", "slurm-wlm-basic-plugins", "munge", "libmunge2",
            "libhwloc15"]
LIBRARIES = "usr/lib/x86_64-linux-gnu"
START_S = 60  # for a machine that does other things


def skip(why):
    if "slurm" in os.environ.get("WEIR_REQUIRE", "").split(","):
        sys.exit(f"FAILED: {why}, and WEIR_REQUIRE names slurm")
    print(f"skipped: {why}")
    sys.exit(77)


def unpacked(cache):
    """The folder with Slurm's files, downloaded at the first call."""
    folder = pathlib.Path(cache) / "slurm"
    if folder.exists():
        return folder
    if os.geteuid() != 0:
        skip("slurmd starts as root only")
    if shutil.which("apt-get") is None:
        skip("apt-get is not here: Slurm comes from Debian's packages")
    scratch = pathlib.Path(cache) / "slurm.partial"
    shutil.rmtree(scratch, ignore_errors=True)
    scratch.mkdir(parents=True)
    done = subprocess.run(["apt-get", "download", "-q", "-o", "APT::Sandbox::User=root", *PACKAGES],
                          cwd=scratch, check=False, capture_output=True, text=True)
    if done.returncode != 0:
        shutil.rmtree(scratch)
        skip(f"Slurm's packages could not be downloaded: {done.stderr.strip()[-200:]}")
    for package in scratch.glob("*.deb"):
        subprocess.run(["dpkg-deb", "-x", str(package), str(scratch)], check=True)
        package.unlink()
    scratch.rename(folder)
    return folder


def free_ports(count):
    """Ports that nobody listens on now."""
    sockets = [socket.socket() for _ in range(count)]
    for each in sockets:
        each.bind(("127.0.0.1", 0))
    ports = [each.getsockname()[1] for each in sockets]
    for each in sockets:
        each.close()
    return ports


class Slurm:
    """A context: the nodes are up and idle inside it."""

    def __init__(self, cache, nodes, more=""):
        """more: lines of slurm.conf."""
        self.root = unpacked(cache)
        self.nodes = nodes
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix="weir-slurm-"))
        self.folder.chmod(0o755)  # munged refuses a socket that its clients cannot reach
        libraries = f"{self.root / LIBRARIES}:{self.root / LIBRARIES / 'slurm-wlm'}"
        self.environment = {**os.environ, "LD_LIBRARY_PATH": libraries,
                            "SLURM_CONF": str(self.folder / "slurm.conf"),
                            "PATH": f"{self.root}/usr/bin:{os.environ['PATH']}"}
        for name in ("state", "log", *(f"spool/{node}" for node in nodes)):
            (self.folder / name).mkdir(parents=True)
        self._write_configuration(more)

    def _write_configuration(self, more):
        at = self.folder
        control, *ports = free_ports(1 + len(self.nodes))
        here = socket.gethostname().split(".")[0]
        lines = [
            "ClusterName=weir", f"SlurmctldHost={here}(127.0.0.1)", "SlurmUser=root",
            "SlurmdUser=root", "AuthType=auth/munge", f"AuthInfo=socket={at}/munge.socket",
            "CredType=cred/munge", f"PluginDir={self.root / LIBRARIES / 'slurm-wlm'}",
            f"SlurmctldPort={control}", f"SlurmctldPidFile={at}/slurmctld.pid",
            f"SlurmdPidFile={at}/slurmd-%n.pid", f"StateSaveLocation={at}/state",
            f"SlurmdSpoolDir={at}/spool/%n", f"SlurmctldLogFile={at}/log/slurmctld",
            f"SlurmdLogFile={at}/log/%n", "ProctrackType=proctrack/linuxproc",
            "TaskPlugin=task/none", "SelectType=select/linear", "SchedulerType=sched/builtin",
            "AccountingStorageType=accounting_storage/none",
            "JobAcctGatherType=jobacct_gather/none", "MpiDefault=none", "ReturnToService=2",
            "SlurmdParameters=config_overrides",
            *(f"NodeName={node} NodeHostname={here} NodeAddr=127.0.0.1 Port={port} CPUs=1"
              for node, port in zip(self.nodes, ports)),
            "PartitionName=all Nodes=ALL Default=YES MaxTime=INFINITE State=UP", more]
        (at / "slurm.conf").write_text("\n".join(lines) + "\n", encoding="ascii")

    def __enter__(self):
        at = self.folder
        key = at / "munge.key"
        key.write_bytes(os.urandom(1024))
        key.chmod(0o600)
        self._start("munged", "--force", f"--socket={at}/munge.socket", f"--key-file={key}",
                    f"--pid-file={at}/munged.pid", f"--log-file={at}/log/munged",
                    f"--seed-file={at}/munge.seed")
        self._start("slurmctld-wlm", "-c")
        for node in self.nodes:
            self._start("slurmd-wlm", "-N", node, "-d", f"{self.root}/usr/sbin/slurmstepd-wlm")
        self.wait_for_state(self.nodes, "idle")
        return self

    def _start(self, program, *words):
        done = subprocess.run([f"{self.root}/usr/sbin/{program}", *words], check=False, text=True,
                              capture_output=True, env=self.environment)
        if done.returncode != 0:
            self.__exit__()
            sys.exit(f"FAILED: {program} does not start: {done.stderr}")

    def __exit__(self, *_):
        for file in self.folder.glob("*.pid"):
            try:
                os.kill(int(file.read_text(encoding="ascii")), signal.SIGTERM)
            except (OSError, ValueError):
                pass
        time.sleep(0.5)
        shutil.rmtree(self.folder, ignore_errors=True)

    def run(self, *words, **options):
        """A command with Slurm's programs in its path; does not raise."""
        return subprocess.run(words, check=False, text=True, capture_output=True, timeout=120,
                              env={**self.environment, **options.pop("env", {})}, **options)

    def state(self, node):
        """As sinfo prints it, without the mark of a node that does not answer."""
        return self.run("sinfo", "-h", "-n", node, "-o", "%T").stdout.strip().rstrip("*")

    def reason(self, node):
        """Why a node is drained; empty where it is not."""
        answer = self.run("scontrol", "show", "node", node, "--oneliner").stdout
        return answer.partition(" Reason=")[2].partition(" [")[0]

    def wait_for_state(self, nodes, wanted):
        end = time.monotonic() + START_S
        while time.monotonic() < end:
            states = {node: self.state(node) for node in nodes}
            if all(state == wanted for state in states.values()):
                return
            time.sleep(0.2)
        logs = "".join(path.read_text(encoding="utf-8", errors="replace")[-500:]
                       for path in (self.folder / "log").iterdir())
        sys.exit(f"FAILED: expected {wanted} within {START_S} s, found {states}\n{logs}")

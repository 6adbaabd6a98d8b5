"""Three RoCE hosts, looked at, changed and tried from this machine by ssh (cluster.py): what a
fleet and a preflight are for.

No number here says anything about speed but that the links are shaped to RATE_MBIT: an emulated
machine does several times that.
"""
import json
import pathlib
import subprocess
import threading

from steps import contains, equal

HOSTS = ["g1", "g2", "g3"]
RATE_MBIT = 2
DESIGN = pathlib.Path(__file__).parent / "design_cluster.yaml"
# The shaper is a fault of any other design.
HERE = [str(DESIGN), "--despite-lint"]
# Small messages, few of them in flight, patience with an emulated CPU: no retransmissions.
LOADS = ["--quick", "--perftest", "-u 20 -t 8 -s 8192", "--threshold", "bytes_that_matter=100000"]


def weir(vm, verb, *words, status=0, hosts="g[1-3]", form="--json"):
    """A verb on the guests: what it printed."""
    command = [str(vm.machine["g1"].programs["bin/weir"]), *verb.split(), *words, "--hosts", hosts,
               "--via", "ssh", "--host-timeout", "180s", "--budget", "900s", "--ssh",
               f"ssh -F {vm.machine.ssh_config()} -o ConnectTimeout=60"]
    if form:
        command.append(form)
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=1500)
    vm.last = f"$ {' '.join(command)}\n[exit {done.returncode}]\n{done.stdout}{done.stderr}"
    if status is not None:
        assert done.returncode == status, f"exit {done.returncode}, not {status}"
    return json.loads(done.stdout) if form == "--json" else done.stdout


def sh(vm, host, command, status=0):
    vm.last = vm.machine[host].run(command, 600)
    assert vm.last.status == status, f"exit {vm.last.status} on {host}"
    return vm.last.out


def state(vm, host):
    """What other tools show of the rail."""
    return sh(vm, host, "dcb -N pfc show dev rail0; dcb -N app show dev rail0 | tr ' ' '\\n' | "
              "sort; dcb -N ets show dev rail0; ethtool -a rail0; ethtool -g rail0")


def apply(vm, *words, status=0):
    return weir(vm, "apply", *HERE, "--yes", "--state", str(vm.machine.folder / "state"), *words,
                status=status)


def preflight(vm, *words, status=0):
    return weir(vm, "preflight", *HERE, *LOADS, *map(str, words), status=status)


def baseline(vm, *words, status=0):
    """On this machine, about files of a preflight."""
    done = subprocess.run([str(vm.machine["g1"].programs["bin/weir"]), "baseline", *words, "--dir",
                           str(vm.machine.folder / "baselines")], capture_output=True, text=True,
                          check=False)
    vm.last = f"[exit {done.returncode}]\n{done.stdout}{done.stderr}"
    equal(done.returncode, status, "exit status of baseline")
    return done.stdout


def shown(vm):
    """show: three hosts by ssh, each with its Soft-RoCE device."""
    seen = weir(vm, "show")
    equal(sorted(host["host"] for host in seen["hosts"]), HOSTS)
    equal({nic["device"] for host in seen["hosts"] for nic in host["nics"]}, {"rxe0"})


def killed_in_a_wave(vm):
    """apply in waves, the power of the second host cut in the middle of its change: the first stays
    confirmed, the dead one is named, the third is not touched; at boot the second is settled."""
    before = {host: state(vm, host) for host in HOSTS}
    # Its weir waits at each record of its journal.
    sh(vm, "g2", "mv /bin/weir /bin/weir.real; printf '%s\\n' '#!/bin/bash' "
       "'[ \"$1\" = apply ] && exec strace -f -qq -o /dev/null -e trace=fdatasync "
       "-e inject=fdatasync:delay_enter=2000000 /bin/weir.real \"$@\"' "
       "'exec /bin/weir.real \"$@\"' >/bin/weir; chmod 755 /bin/weir")
    answer = {}

    def change():
        answer.update(apply(vm, "--canary", "1", "--batch", "1", status=6))

    waves = threading.Thread(target=change)
    waves.start()
    sh(vm, "g2", "until [ \"$(cat /var/lib/weir/journal-* 2>/dev/null | wc -l)\" -ge 4 ]; do "
       "sleep 0.2; done")
    vm.machine["g2"].process.kill()
    waves.join()
    hosts = {host["host"]: host["state"] for wave in answer["waves"] for host in wave["hosts"]}
    equal(hosts, {"g1": "changed and confirmed", "g2": "lost", "g3": "not touched"})
    vm.machine["g2"].restart()
    equal(state(vm, "g2"), before["g2"], "g2 after its restart")
    contains(sh(vm, "g2", "weir rollback"), "Nothing to roll back")
    contains(sh(vm, "g2", "systemctl show -p Result weir-settle"), "Result=success")
    equal(state(vm, "g3"), before["g3"], "g3")
    assert state(vm, "g1") != before["g1"], "g1 was not changed"


def changed(vm):
    """apply in waves: all confirmed, and validate finds them as designed."""
    done = apply(vm, "--canary", "1", "--batch", "2")
    equal({host["host"]: host["state"] for wave in done["waves"] for host in wave["hosts"]},
          {"g1": "as designed already", "g2": "changed and confirmed",
           "g3": "changed and confirmed"})
    weir(vm, "validate", *HERE)


def go(vm):
    """preflight: stages 0 to 4 pass. Stage 5 has lost nothing; whether a queue marked or paused is
    not known where the NICs count neither, and that is said."""
    report = preflight(vm, "--until", "overload", "--out", vm.machine.folder / "good.json",
                       status=5)
    states = {stage["name"]: (stage["state"], stage["why"]) for stage in report["stages"]}
    for name in ("facts", "idle", "path", "loopback", "pairs"):
        equal(states[name][0], "passed", f"{name}: {states[name][1]}")
    equal(states["overload"][0], "open", states["overload"][1])
    contains(states["overload"][1], "no pause was seen, and nobody counts marked packets")
    baseline(vm, "save", "good", str(vm.machine.folder / "good.json"))
    rate = measure_of(report, "pair_bandwidth")
    return f"a pair alone {rate['min'] / 1e6:.2f} Mb/s of at least {rate['floor'] / 1e6:.2f} Mb/s"


def measure_of(report, metric):
    return next(measure for stage in report["stages"] for measure in stage["measures"]
                if measure["metric"] == metric and not measure["subject"])


def pair(vm):
    """verify --pair: RDMA between two machines, in priority 3 at both."""
    said = sh(vm, "g1", f"weir verify /guest/{DESIGN.name} --pair g2 --perftest "
              "'ib_write_bw -D 4 -u 20 -t 8 -s 8192' --threshold bytes_that_matter=100000 --json")
    report = json.loads(said)
    equal(report["findings"], [])
    return report["verdict"]


def failed(report):
    return [stage["name"] for stage in report["stages"] if stage["state"] == "failed"]


def narrow(vm):
    """The MTU of one host is too small: stage 0 names it, and stage 2 where that comes first."""
    sh(vm, "g2", "ip link set rail0 mtu 1500")
    for words, stage in ((["--until", "facts"], "facts"),
                         (["--from-stage", "path", "--until", "path"], "path")):
        report = preflight(vm, *words, status=1)
        equal(failed(report), [stage])
        equal(report["failing"]["hosts"], ["g2"])
    sh(vm, "g2", "ip link set rail0 mtu 9000")


def untrusted(vm):
    """The DSCP map of one host is gone, and trust with it: stage 0 names the host."""
    sh(vm, "g3", "dcb app flush dev rail0 dscp-prio")
    report = preflight(vm, "--until", "facts", status=1)
    equal(failed(report), ["facts"])
    equal(report["failing"]["hosts"], ["g3"])
    contains({finding["id"] for finding in report["findings"]}, "trust.not_dscp")
    apply(vm)


def slow(vm):
    """The link of one host is shaped to a fifth: stage 4 names the host, or its paths, and baseline
    compare its NIC."""
    sh(vm, "g3", f"tc qdisc change dev eth0 root tbf rate {RATE_MBIT * 200}kbit burst 16kb "
       "limit 4mb")
    report = preflight(vm, "--from-stage", "pairs", "--until", "pairs", "--out",
                       vm.machine.folder / "slow.json", status=1)
    equal(failed(report), ["pairs"])
    failing = report["failing"]["hosts"] + report["failing"]["links"]
    assert any("g3" in place for place in failing), failing
    compared = baseline(vm, "compare", "good", str(vm.machine.folder / "slow.json"), status=1)
    contains(compared, "g3 rail 0")
    sh(vm, "g3", f"tc qdisc change dev eth0 root tbf rate {RATE_MBIT}mbit burst 64kb limit 4mb")


FLEET_STEPS = [shown, killed_in_a_wave, changed, go, pair, narrow, untrusted, slow]

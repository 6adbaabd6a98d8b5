#!/usr/bin/env python3
"""Many hosts at once, as weir is run: --via exec, --via ssh through a real sshd, apply in waves.

  fleet_test.py WEIR exec|ssh|waves|change|load [--hosts N]

exec   1,000 hosts by stubs, 20 of them dead: partial, named, folded, and how long it took
ssh    200 hosts behind one sshd on loopback (MaxStartups as Debian has it), dead ones, and hosts
       that print 10 GB, escape sequences, half a bundle, or never end. Skipped without sshd
       (exit 77), unless WEIR_REQUIRE names it
waves  canary, batch, rest: kept, stopped at the first red flag, a lost host, a lost controller
change rollback and confirm on every host: folded, partial, interrupted
load   an all-to-all of perftest, nccl-tests by the user's launcher, in verify and in a preflight;
       a failure whose verify is interrupted more than once
"""
import argparse
import json
import os
import pathlib
import re
import resource
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time

HERE = pathlib.Path(__file__).resolve().parent
DATA = HERE.parent / "data" / "host" / "hgx01"
# rows: K3 D5


def run(*words, **named):
    return subprocess.run([str(word) for word in words], capture_output=True, text=True,
                          errors="replace", check=False, timeout=600, **named)


def check(is_true, *what):
    if not is_true:
        sys.exit("FAILED: " + "\n".join(str(each) for each in what))


def make_bundle(weir, folder):
    path = folder / "host.bundle"
    done = run(weir, "bundle", "--root", DATA, "--keep-names", "-o", path)
    check(done.returncode in (0, 5), done.stderr)
    return path


def cpu_of_children():
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def test_exec(weir, folder, count):
    bundle = make_bundle(weir, folder)
    stub = folder / "stub.sh"
    # Every fiftieth is dead: it never answers.
    stub.write_text('#!/bin/sh\nn=${1#n}\nwhile [ "${n#0}" != "$n" ]; do n=${n#0}; done\n'
                    '[ $((n % 50)) -eq 0 ] && exec sleep 600\n'
                    f"exec cat {bundle}\n")
    stub.chmod(0o755)
    names = f"n[{1:04}-{count:04}]"
    limit = 10
    before, start = cpu_of_children(), time.monotonic()
    done = run(weir, "show", "--hosts", names, "--via", "exec", "--exec", f"{stub} %h",
               "--host-timeout", f"{limit}s", "--json")
    wall, cpu = time.monotonic() - start, cpu_of_children() - before
    dead = count // 50
    check(done.returncode == 5, f"status {done.returncode}", done.stderr[-2000:])
    shown = json.loads(done.stdout)
    check(len(shown["unseen"]) == dead, shown["unseen"][:5])
    check(all("did not end within" in text for text in shown["unseen"]), shown["unseen"][:5])
    check(f"{count - dead} hosts" in shown["verdict"], shown["verdict"])
    # One line for all that have the same trouble, and it is a set that can be typed again.
    lines = [line for line in done.stderr.splitlines() if "could not read" in line]
    check(len(lines) == 1 and lines[0].count("n[") == 1, lines)
    # Those that never answer cost their time limit once for every 64 of them.
    beyond = wall - limit * -(-dead // 64)
    print(f"{count} hosts, {dead} dead: {wall:.1f} s, {beyond:.1f} s beyond the dead hosts' limit, "
          f"{cpu:.1f} s of CPU with the stubs")
    check(beyond < 120, f"{beyond:.1f} s beyond the hosts' own time")

    # The whole is bounded too; what was not reached is named.
    done = run(weir, "show", "--hosts", "n[0001-0200]", "--via", "exec", "--exec", "sleep 60; : %h",
               "--budget", "2s", "--quiet")
    check(done.returncode == 4 and "--budget 2s" in done.stderr, done.returncode,
          done.stderr[-600:])

    # Words that cannot be right are refused before anything is started.
    for words, expected in [(["--via", "exec"], "--exec"),
                            (["--via", "exec", "--exec", "true"], "%h"),
                            (["--hosts", "n[3-1]"], "[0-6/2]"),
                            (["--hosts", "-oProxyCommand=x"], "expected"),
                            (["--hosts", "n1", "--fanout", "0"], "--fanout"),
                            (["--hosts", "@nosuchgroup"], "@nosuchgroup")]:
        done = run(weir, "show", *words, env=dict(os.environ, CLUSTERSHELL_CFGDIR=str(folder)))
        check(done.returncode == 2 and expected in done.stderr, words, done.returncode, done.stderr)

    # Groups, inventories and lists name the same hosts.
    (folder / "groups.d").mkdir()
    (folder / "groups.d" / "cluster.yaml").write_text(
        "roles:\n  gpu: 'n[0001-0003]'\n  down: 'n0002'\n  up: '@gpu!@down'\n")
    (folder / "inventory.ini").write_text("[gpu]\nn[0001:0003] ansible_host=10.0.0.1\n")
    (folder / "netbox.json").write_text(json.dumps({"results": [
        {"name": f"n{i:04}", "primary_ip": {"address": f"10.0.0.{i}/24"},
         "status": {"value": "active"}} for i in (1, 2, 3)]}))
    (folder / "list.txt").write_text("# hosts\nn[0001-0002]\nn0003\n")
    for words, hosts in [(["--hosts", "@up"], 2), (["--hosts", "@roles:gpu"], 3),
                         (["--inventory", folder / "inventory.ini", "--hosts", "@gpu"], 3),
                         (["--inventory", folder / "netbox.json"], 3),
                         (["--hosts-file", folder / "list.txt"], 3)]:
        done = run(weir, "show", *words, "--via", "exec", "--exec", f"{stub} %h", "--quiet",
                   env=dict(os.environ, CLUSTERSHELL_CFGDIR=str(folder)))
        check(done.stdout.startswith(f"{hosts} host"), words, done.stdout, done.stderr)

    # Files beside the inventory say the way to a host too; a wrong one is named with its place.
    (folder / "group_vars" / "gpu").mkdir(parents=True)
    (folder / "group_vars" / "gpu" / "ssh.yml").write_text("ansible_user: ops\nsecret: !vault x\n")
    (folder / "host_vars").mkdir()
    (folder / "host_vars" / "n0002.yml").write_text("---\nansible_port: 0\n")
    inventory = ["--inventory", folder / "inventory.ini", "--hosts", "@gpu", "--via", "exec",
                 "--exec", f"{stub} %h", "--quiet"]
    done = run(weir, "show", *inventory)
    check(done.returncode == 3 and "host_vars/n0002.yml: line 2: ansible_port: expected a port"
          in done.stderr, done.returncode, done.stderr)
    (folder / "host_vars" / "n0002.yml").write_text("---\nansible_port: 22\n")
    done = run(weir, "show", *inventory)
    check(done.stdout.startswith("3 host"), done.stdout, done.stderr)

    # A host has the name that the user gave, whatever its bundle says.
    hidden = folder / "hidden.bundle"
    run(weir, "bundle", "--root", DATA, "-o", hidden)
    check("names\tpseudonyms" in hidden.read_text(errors="replace")[:1024], "no pseudonyms")
    done = run(weir, "show", "--hosts", "n[0001-0002]", "--via", "exec", "--exec",
               f"cat {hidden}; : %h", "--json")
    names = [host["host"] for host in json.loads(done.stdout)["hosts"]]
    check(names == ["n0001", "n0002"], names, done.stderr)

    # Bundles of a fleet are files that every verb reads, by either spelling.
    done = run(weir, "bundle", "--hosts", "n[0001-0003]", "--via", "exec", "--exec", f"{stub} %h",
               "-o", folder / "made")
    check(done.returncode == 0 and "Wrote 3 bundles" in done.stdout, done.stdout, done.stderr)
    check(sorted(os.listdir(folder / "made")) == [f"n{i:04}.bundle" for i in (1, 2, 3)],
          os.listdir(folder / "made"))
    same = [run(weir, "show", *words, "--json", cwd=folder)
            for words in (["--via", "bundles", "made"], ["--root", "made"],
                          ["--via=bundles", "made"])]
    hosts = [json.loads(done.stdout)["hosts"] for done in same]
    check(len(hosts[0]) == 3 and hosts[0] == hosts[1] == hosts[2], same[0].stderr)
    done = run(weir, "show", "--hosts", "n0004", "--via", "bundles", "made", cwd=folder)
    check(done.returncode == 4 and "n0004: no capture of it" in done.stderr, done.stderr)


class Sshd:
    """Debian's sshd with a configuration, keys and a port of its own, in `folder`."""

    def __init__(self, folder, bundle):
        program = shutil.which("sshd", path=os.environ["PATH"] + ":/usr/sbin")
        if not program or not shutil.which("ssh"):
            if "sshd" in os.environ.get("WEIR_REQUIRE", "").split(","):
                sys.exit("FAILED: sshd is not installed and WEIR_REQUIRE names it")
            print("skipped: sshd is not installed (apt-get install openssh-server)")
            sys.exit(77)
        self.folder = folder
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            self.port = free.getsockname()[1]
        for key in ("host", "user"):
            subprocess.run(["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", folder / key],
                           check=True)
        (folder / "authorized").write_text((folder / "user.pub").read_text())
        tools = folder / "bin"
        tools.mkdir()
        # The address that was logged in to says which host this is.
        (tools / "weir").write_text(f"""#!/bin/sh
set -- $SSH_CONNECTION
case $3 in
  127.0.3.1) exec head -c 10000000000 /dev/zero ;;
  127.0.3.2) printf 'weir bundle 1\\nnames\\tkept\\nlook\\t1\\n\\033]0;x\\007\\033[2J\\n'; exit ;;
  127.0.3.3) exec head -c 40000 {bundle} ;;
  127.0.3.4) echo '{{"schema": "weir/bundle/1"'; exit 0 ;;
  127.0.3.5) exec sleep 600 ;;
  127.0.3.6) printf 'motd: \\033[31mwelcome\\033[0m\\n'; exec cat {bundle} ;;
esac
exec cat {bundle}
""")
        (tools / "weir").chmod(0o755)
        (folder / "sshd_config").write_text(f"""
Port {self.port}
ListenAddress 0.0.0.0
HostKey {folder}/host
AuthorizedKeysFile {folder}/authorized
PidFile {folder}/sshd.pid
UsePAM no
StrictModes no
PasswordAuthentication no
PermitRootLogin yes
MaxStartups 10:30:100
SetEnv PATH={tools}:/usr/bin:/bin
""")
        (folder / "ssh_config").write_text(f"""
Host *
  Port {self.port}
  IdentityFile {folder}/user
  IdentitiesOnly yes
  StrictHostKeyChecking no
  UserKnownHostsFile /dev/null
  GlobalKnownHostsFile /dev/null
""" + "".join(f"Host {name}\n  HostName {address}\n" for name, address in self.addresses().items())
            + "Host bastion\n  HostName 127.0.0.1\n")
        if os.getuid() == 0:
            pathlib.Path("/run/sshd").mkdir(exist_ok=True)
        self.process = subprocess.Popen([program, "-D", "-e", "-f", folder / "sshd_config"],
                                        stderr=(folder / "log").open("w"))
        for _ in range(100):
            with socket.socket() as probe:
                if probe.connect_ex(("127.0.0.1", self.port)) == 0:
                    return
            time.sleep(0.1)
        sys.exit("FAILED: sshd does not listen: " + (folder / "log").read_text())

    @staticmethod
    def addresses():
        hosts = {f"gpu{i:03}": f"127.0.1.{i}" for i in range(1, 201)}
        hosts.update({f"bad{i}": f"127.0.3.{i}" for i in range(1, 7)})
        hosts.update({f"same{i:02}": "127.0.0.1" for i in range(1, 25)})
        hosts.update({f"gpu{i:02}": "127.0.0.1" for i in (1, 2)})  # of the design
        return hosts

    def stop(self):
        self.process.terminate()
        self.process.wait(10)


def running(mark):
    """Processes that sleep for so many seconds, which nobody else does."""
    listed = run("ps", "-eo", "pid,args").stdout.splitlines()
    return [int(line.split()[0]) for line in listed if line.split()[1:] == ["sleep", mark]]


def until(is_so, what, seconds=60):
    end = time.monotonic() + seconds
    while not is_so():
        check(time.monotonic() < end, what)
        time.sleep(0.05)


def last_journal(state):
    return sorted(state.glob("journal-*"))[-1].read_text()


def test_loads_by_ssh(weir, folder, ssh):
    """sshd leaves a command running whose client has gone: weir ends it, on every way out."""
    run(weir, "init", "--template", "pod16", "-o", folder / "fabric.yaml")
    state, cut, mark = folder / "state", folder / "cut", "77.31"
    state.mkdir(mode=0o700)
    load = ["--", "sh", "-c", f"test -e {cut} || exit 0; exec sleep {mark}"]
    failure = ["--state", state, "--under-failure", f"touch {cut}", "--restore", f"rm {cut}"]
    words = [weir, "verify", folder / "fabric.yaml", "--hosts", "gpu01", "--via", "ssh",
             "--ssh", ssh]

    def start(more):
        cut.unlink(missing_ok=True)
        if not more:
            cut.touch()
        process = subprocess.Popen([str(word) for word in words + more + load], text=True,
                                   stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        until(lambda: running(mark) or process.poll() is not None, "the load did not start")
        check(process.poll() is None, process.communicate() if process.poll() is not None else "")
        return process

    for more in ([], failure):
        process = start(more)
        process.send_signal(signal.SIGTERM)
        _, errors = process.communicate(timeout=60)
        check(process.returncode == 130 and "interrupted" in errors, process.returncode, errors)
        check(not running(mark), "the load runs on")
    check(not cut.exists(), "the failure is still on")

    # Killed: the load ends with its connection. The journal says what ends the failure, and what
    # would end the load there; a rollback does it.
    for more in ([], failure):
        process = start(more)
        process.kill()
        process.communicate()
        until(lambda: not running(mark), "the load of a weir that was killed runs on", 20)
    check(cut.exists(), "killed too late")
    check('"host":"gpu01"' in last_journal(state), last_journal(state))
    done = run(weir, "rollback", "--state", state, "--yes", "--json")
    check(done.returncode == 0, done.returncode, done.stdout, done.stderr)
    check(not cut.exists(), "left after a rollback")

    # The collective of a preflight.
    (folder / "bin" / "ib_write_bw").write_text(FAKE_PERFTEST.replace("@FOLDER@", str(folder)))
    (folder / "bin" / "ib_write_bw").chmod(0o755)
    process = subprocess.Popen(
        [str(weir), "preflight", str(folder / "fabric.yaml"), "--hosts", "gpu[01-02]", "--ssh", ssh,
         "--quick", "--from-stage", "collectives", "--until", "collectives", "--collective",
         f"exec sleep {mark}"], text=True, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    until(lambda: running(mark) or process.poll() is not None, "the collective did not start")
    process.send_signal(signal.SIGTERM)
    printed, errors = process.communicate(timeout=60)
    check(process.returncode == 130 and not running(mark), process.returncode, printed, errors)


def test_ssh(weir, folder, count):
    bundle = make_bundle(weir, folder)
    sshd = Sshd(folder, bundle)
    ssh = f"ssh -F {folder}/ssh_config"
    # A port that takes no connection any more: a dead host that says nothing.
    full = socket.socket()
    full.bind(("127.0.0.1", 0))
    full.listen(0)
    fillers = []
    for _ in range(8):
        filler = socket.socket()
        filler.setblocking(False)
        filler.connect_ex(full.getsockname())
        fillers.append(filler)
    with (folder / "ssh_config").open("a") as config:
        config.write(f"Host silent*\n  HostName 127.0.0.1\n  Port {full.getsockname()[1]}\n")
        config.write("Host closed*\n  HostName 127.0.4.1\n  Port 9\n")
    config = (folder / "ssh_config").read_text()  # the first value counts: special hosts first
    special = config[config.index("Host silent*"):]
    (folder / "ssh_config").write_text(special + config[:config.index("Host silent*")])
    try:
        start = time.monotonic()
        done = run(weir, "show", "--hosts", f"gpu[001-{count:03}],silent[1-3],closed[1-2]", "--via",
                   "ssh", "--ssh", ssh, "--json", "--host-timeout", "60s")
        wall = time.monotonic() - start
        check(done.returncode == 5, done.returncode, done.stderr[-3000:])
        shown = json.loads(done.stdout)
        check(len(shown["unseen"]) == 5, shown["unseen"][:9])
        reasons = "\n".join(shown["unseen"])
        check(reasons.count("no answer on port") == 3, reasons)
        check(reasons.count("Connection refused") == 2, reasons)
        hosts = {host["host"] for host in shown["hosts"]}
        check(hosts == {f"gpu{i:03}" for i in range(1, count + 1)}, len(hosts))
        print(f"{count} hosts by ssh behind one sshd with MaxStartups 10:30:100: {wall:.1f} s")

        # 24 names of one sshd: eight logins at once, and none is turned away.
        log = len((folder / "log").read_text())
        done = run(weir, "show", "--hosts", "same[01-24]", "--ssh", ssh, "--quiet")
        check(done.stdout.startswith("24 hosts"), done.stdout, done.stderr)
        check("drop connection" not in (folder / "log").read_text()[log:], "sshd dropped logins")

        # Through a jump host: one login there carries all.
        done = run(weir, "show", "--hosts", "gpu[001-006]", "--ssh", ssh, "--jump", "bastion",
                   "--quiet")
        check(done.stdout.startswith("6 hosts"), done.stdout, done.stderr)

        # Hosts that mean harm are errors of their own.
        done = run(weir, "show", "--hosts", "bad[1-6],gpu001", "--ssh", ssh, "--json",
                   "--host-timeout", "20s")
        check(done.returncode == 5, done.returncode, done.stderr[-2000:])
        shown = json.loads(done.stdout)
        why = dict(text.split(": ", 1) for text in shown["unseen"])
        check("printed more than 8 MiB" in why.get("bad1", ""), why)
        check("bad2" in why and "bad3" in why, why)
        check("no bundle" in why.get("bad4", ""), why)
        check("did not end within" in why.get("bad5", ""), why)
        check({host["host"] for host in shown["hosts"]} == {"bad6", "gpu001"}, shown["hosts"])
        check("\x1b" not in done.stdout + done.stderr, "an escape sequence came through")

        test_loads_by_ssh(weir, folder, ssh)

        # A host without weir is looked at by a shell alone; this one has no RDMA device.
        done = run(weir, "show", "--hosts", "gpu001", "--ssh", ssh, "--remote-weir", "no-weir-here")
        check(done.returncode == 4 and "no RDMA device" in done.stderr, done.stderr)
        done = run(weir, "show", "--hosts", "gpu001", "--ssh", ssh, "--remote-weir", "no-weir-here",
                   "--push", "--host-timeout", "120s")
        check(done.returncode == 4 and "no RDMA device" in done.stderr, done.stderr)
    finally:
        sshd.stop()
        for each in fillers + [full]:
            each.close()


# A host of the waves: what weir does there, with its state in a file.
FAKE_WEIR = r"""#!/bin/sh
state=@FOLDER@/state/$WEIR_TEST_HOST
echo "$*" >>"$state.calls"
case $1 in
  bundle) [ -e "$state.cut" ] && exit 255
    sed "s/hgx01/$WEIR_TEST_HOST/" @BUNDLE@ ;;
  apply) cat >"$state.design"
    case $(cat "$state.mood" 2>/dev/null) in
      fail) echo '{"schema": "weir/apply/1", "verdict": "gpu failed and was rolled back: EIO."}'
        exit 6 ;;
      old) printf 'no answer\n'; exit 0 ;;
      garbage) printf '\033[2Jnot json\n'; exit 0 ;;
      cut) echo applied >"$state"; touch "$state.cut" ;;
      slow) echo applied >"$state"; sleep 30 ;;
      late) sleep 30; exit 0 ;;
    esac
    echo applied >"$state"
    echo '{"schema": "weir/apply/1", "verdict": "Applied 3 changes.", "changed": 3}' ;;
  confirm) case $(cat "$state.mood" 2>/dev/null) in
      late) echo '{"schema": "weir/confirm/1", "confirmed": false, "state": "too late"}'; exit 6 ;;
      none) echo '{"schema": "weir/confirm/1", "confirmed": false, "state": "no apply"}'; exit 0 ;;
      kept) echo '{"schema": "weir/confirm/1", "confirmed": true, "state": "kept already"}'
        exit 0 ;;
      hang) exec sleep 600 ;;
    esac
    [ "$(cat "$state" 2>/dev/null)" = rolled-back ] && {
      echo '{"schema": "weir/confirm/1", "confirmed": false, "state": "too late"}'; exit 6; }
    echo confirmed >"$state"
    case $(cat "$state.mood" 2>/dev/null) in
      slow-confirm) sleep 3 ;;
      mute-once) [ -e "$state.asked" ] || { touch "$state.asked"; kill -KILL $$; } ;;
      mute) [ "$(grep -c confirm "$state.calls")" -gt 4 ] || kill -KILL $$ ;;
    esac
    echo '{"schema": "weir/confirm/1", "confirmed": true, "state": "confirmed"}' ;;
  rollback) [ -e "$state.cut" ] && exit 255
    case $(cat "$state.mood" 2>/dev/null) in
      none) echo '{"schema": "weir/rollback/1", "journal": null}'; exit 0 ;;
      part) echo '{"schema": "weir/rollback/1", "journal": "j", "verdict": "1 of 3 NOT undone"}'
        exit 5 ;;
      noise) printf '\033[2Jnot json\n'; exit 0 ;;
      killed) echo rolled-back >"$state"; kill -KILL $$ ;;
      node-gone) echo rolled-back >"$state"; echo 'srun: error: Node failure' >&2; exit 1 ;;
    esac
    case "$*" in
      *--pending*)
        [ "$(cat "$state.mood" 2>/dev/null)" = old ] && { echo 'no option --pending' >&2; exit 2; }
        [ "$(cat "$state" 2>/dev/null)" = applied ] || {
          echo '{"schema": "weir/rollback/1", "journal": null}'; exit 0; } ;;
    esac
    echo rolled-back >"$state"
    echo '{"schema": "weir/rollback/1", "journal": "journal-2", "steps": [{}, {}, {}]}' ;;
esac
"""


class Stage:
    def __init__(self, weir, folder):
        self.weir, self.folder = weir, folder
        bundle = make_bundle(weir, folder)
        (folder / "bin").mkdir()
        fake = folder / "bin" / "weir"
        fake.write_text(FAKE_WEIR.replace("@FOLDER@", str(folder)).replace("@BUNDLE@", str(bundle)))
        fake.chmod(0o755)
        done = run(weir, "init", "--template", "pod16", "-o", folder / "fabric.yaml")
        check((folder / "fabric.yaml").exists(), done.stdout, done.stderr)
        text = (folder / "fabric.yaml").read_text()
        self.hosts = re.search(r"(gpu\[[0-9-]+\])", text).group(1)
        self.exec = f"WEIR_TEST_HOST=%h PATH={folder}/bin:$PATH sh -c %c"
        self.reset()

    def reset(self, **moods):
        shutil.rmtree(self.folder / "state", ignore_errors=True)
        (self.folder / "state").mkdir()
        for host, mood in moods.items():
            (self.folder / "state" / f"{host}.mood").write_text(mood)

    def keep_earlier(self, *hosts):
        """An apply of another day, confirmed: a rollback without --pending would undo it."""
        for host in hosts:
            (self.folder / "state" / host).write_text("earlier")

    def verbs(self, host):
        return [line.split()[0]
                for line in (self.folder / "state" / f"{host}.calls").read_text().splitlines()]

    def words(self, *more):
        return [str(self.weir), "apply", str(self.folder / "fabric.yaml"), "--despite-lint",
                "--hosts", self.hosts, "--via", "exec", "--exec", self.exec, "--yes", "--json",
                "--state", str(self.folder / "journal"), "--batch", "1", *more]

    def change(self, verb, hosts, *more):
        """weir rollback or weir confirm on these hosts; its status, what it printed, errors."""
        return run(self.weir, verb, "--hosts", hosts, "--via", "exec", "--exec", self.exec, *more)

    def states(self):
        return {file.name: file.read_text().strip()
                for file in (self.folder / "state").iterdir() if "." not in file.name}


def test_change(weir, folder, _count):
    """weir rollback and weir confirm on a fleet."""
    stage = Stage(weir, folder)
    # Undone on every host by its own weir, folded by answer.
    stage.keep_earlier("gpu01", "gpu02", "gpu03")
    done = stage.change("rollback", "gpu[01-03]", "--yes")
    check(done.returncode == 0, done.returncode, done.stdout, done.stderr)
    check("3 hosts: 3 rolled back (9 changes undone)." in done.stdout, done.stdout)
    check("gpu[01-03]: rolled back" in done.stdout, done.stdout)
    check(set(stage.states().values()) == {"rolled-back"}, stage.states())
    check("--pending" not in (folder / "state" / "gpu01.calls").read_text(), "another rollback")

    # Nobody is asked without a yes; what awaits its confirmation needs none.
    stage.reset()
    stage.keep_earlier("gpu01")
    done = stage.change("rollback", "gpu01")
    check(done.returncode == 2 and "--yes" in done.stderr, done.returncode, done.stderr)
    check(stage.states() == {"gpu01": "earlier"}, stage.states())
    done = stage.change("rollback", "gpu01", "--pending")
    check(done.returncode == 0 and "1 nothing to roll back" in done.stdout, done.stdout)
    check(stage.states() == {"gpu01": "earlier"}, stage.states())
    (folder / "state" / "gpu01").write_text("applied")
    done = stage.change("rollback", "gpu01", "--pending", "--json")
    check(done.returncode == 0 and stage.states() == {"gpu01": "rolled-back"}, done.stdout)
    check(json.loads(done.stdout)["fleet"][0]["changes"] == 3, done.stdout)

    # Every host's answer, those without one by name and reason; the same again for these alone.
    stage.reset(gpu02="none", gpu03="part", gpu04="noise")
    lost = stage.exec.replace("sh -c", 'sh -c \'[ "$WEIR_TEST_HOST" != gpu05 ] || exit 127; '
                              'exec sh -c "$0"\'')
    done = run(weir, "rollback", "--hosts", "gpu[01-05]", "--via", "exec", "--exec", lost, "--yes",
               "--json")
    shown = json.loads(done.stdout)
    check(done.returncode == 5 and shown["whole"] is False, done.returncode, done.stdout)
    said = {host["host"]: (host["state"], host["detail"]) for host in shown["fleet"]}
    check(said["gpu01"][0] == "rolled back" and said["gpu02"][0] == "nothing to roll back", said)
    check(said["gpu03"][0] == "rolled back in part" and "1 of 3" in said["gpu03"][1], said)
    check(said["gpu04"][0] == "no answer" and "\x1b" not in done.stdout, said)
    check(said["gpu05"][0] == "failed" and "no weir" in said["gpu05"][1], said)
    # What may have been done is not to be done again: that would undo the apply before.
    check("--hosts 'gpu[03,05]'" in shown["next"][0], shown["next"])

    # A weir that was killed, or a node that failed, may have finished it: nobody knows.
    stage.reset(gpu01="killed", gpu02="node-gone")
    done = stage.change("rollback", "gpu[01-03]", "--yes", "--json")
    shown = json.loads(done.stdout)
    states = [host["state"] for host in shown["fleet"]]
    check(states == ["no answer", "no answer", "rolled back"], shown)
    check("Node failure" in shown["fleet"][1]["detail"], shown)
    check(all(host["detail"] == host["detail"].strip() for host in shown["fleet"]), shown)
    check(not any("rollback" in line for line in shown["next"]), shown["next"])

    # Kept on every host; one that was too late is a status of its own.
    stage.reset(gpu02="kept")
    done = stage.change("confirm", "gpu[01-02]", "--json")
    shown = json.loads(done.stdout)
    check(done.returncode == 0 and shown["confirmed"] is True, done.returncode, done.stdout)
    check(shown["verdict"] == "2 hosts: 1 confirmed, 1 kept already.", shown)
    stage.reset(gpu02="none")
    done = stage.change("confirm", "gpu[01-02]")
    check(done.returncode == 0, done.returncode, done.stderr)
    check("2 hosts: 1 confirmed, 1 nothing to confirm." in done.stdout, done.stdout)
    stage.reset(gpu02="late")
    done = stage.change("confirm", "gpu[01-02]", "--json")
    check(done.returncode == 6, done.returncode, done.stdout)
    check(json.loads(done.stdout)["confirmed"] is False, done.stdout)

    # Dead hosts by ssh: named, and a status that says whether any answered.
    with socket.socket() as closed:
        closed.bind(("127.0.0.1", 0))
        port = closed.getsockname()[1]
    (folder / "ssh_config").write_text(f"Host *\n  HostName 127.0.0.1\n  Port {port}\n")
    if shutil.which("ssh"):
        done = run(weir, "confirm", "--hosts", "gone[1-2]", "--ssh", f"ssh -F {folder}/ssh_config")
        check(done.returncode == 4 and "2 no answer" in done.stdout, done.returncode, done.stdout)
        check("gone[1-2]: no answer" in done.stdout and "refused" in done.stdout, done.stdout)

    # ssh lost the connection: what may have been done is not done again. One that sshd turned away
    # before a session began was sent nothing, and is asked again.
    with socket.socket() as door:
        door.bind(("127.0.0.1", 0))
        door.listen(50)
        way = f"hostname 127.0.0.1\\nport {door.getsockname()[1]}\\n"
        for words, calls in [("Connection reset by 127.0.0.1 port 22", 1),
                             ("Connection closed by 127.0.0.1 port 22", 1),
                             ("kex_exchange_identification: read: Connection reset by peer", 2)]:
            (folder / "fssh").write_text(
                f'#!/bin/sh\ncase "$*" in *" -G "*) printf "{way}"; exit;; esac\n'
                f'echo x >>{folder}/sent\n'
                f'[ $(wc -l <{folder}/sent) -lt 3 ] || exit 255\n'
                f'echo "{words}" >&2; exit 255\n')
            (folder / "fssh").chmod(0o755)
            (folder / "sent").unlink(missing_ok=True)
            done = run(weir, "rollback", "--hosts", "gpu01", "--yes", "--ssh", folder / "fssh",
                       "--host-timeout", "10s")
            sent = (folder / "sent").read_text().count("x")
            check(done.returncode == 4 and (sent > 1) == (calls > 1), words, sent, done.stdout)

    # Interrupted: a host that was asked is waited for, others are sent nothing.
    stage.reset(gpu01="hang", gpu02="none")
    words = [str(weir), "confirm", "--hosts", "gpu[01-02]", "--via", "exec", "--exec",
             stage.exec.replace("sh -c", "timeout 5 sh -c"), "--fanout", "1", "--json"]
    with subprocess.Popen(words, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        for _ in range(300):
            if (folder / "state" / "gpu01.calls").exists():
                break
            time.sleep(0.1)
        process.send_signal(signal.SIGTERM)
        printed, _ = process.communicate(timeout=60)
    check(process.returncode == 130, process.returncode, printed)
    states = [host["state"] for host in json.loads(printed)["fleet"]]
    check(states[1] == "not asked" and not (folder / "state" / "gpu02.calls").exists(), states)

    # What cannot be: said before anything is sent.
    for words, expected in [(["--state", "x", "--yes"], "--state"),
                            (["--unconfirmed"], "--unconfirmed is for this machine")]:
        done = stage.change("rollback", "gpu01", *words)
        check(done.returncode == 2 and expected in done.stderr, words, done.stderr)
    done = run(weir, "confirm", "--hosts", "gpu01", "--via", "exec", "--exec", "cat %h")
    check(done.returncode == 2 and "%c" in done.stderr, done.stderr)


def test_waves(weir, folder, _count):
    stage = Stage(weir, folder)
    done = run(*stage.words())
    check(done.returncode in (0, 5), done.returncode, done.stdout[-1500:], done.stderr[-1500:])
    shown = json.loads(done.stdout)
    names = [host["host"] for wave in shown["waves"] for host in wave["hosts"]]
    check([wave["wave"] for wave in shown["waves"]] == ["canary", "batch", "rest"], shown["waves"])
    check(set(stage.states().values()) == {"confirmed"}, stage.states())
    calls = (folder / "state" / f"{names[0]}.calls").read_text()
    check("--confirm-within" in calls and "--expect" in calls, calls)
    check((folder / "state" / f"{names[0]}.design").read_text() ==
          (folder / "fabric.yaml").read_text(), "another design arrived")
    journal = pathlib.Path(shown["journal"]).read_text().splitlines()
    check(json.loads(journal[0])["schema"] == "weir/waves/1" and
          [json.loads(line)["event"] for line in journal[1:5]] ==
          ["apply", "applied", "confirm", "done"], journal[:5])

    # The canary fails: nobody else is touched.
    stage.reset(**{names[0]: "fail"})
    done = run(*stage.words())
    check(done.returncode == 6, done.returncode, done.stdout, done.stderr)
    check(stage.states() == {}, stage.states())
    check("EIO" in json.loads(done.stdout)["red_flag"], done.stdout)

    # The second wave is cut off from us after its change: it is left to its own deadline, what was
    # confirmed stays, and nobody after it is touched.
    stage.reset(**{names[1]: "cut"})
    done = run(*stage.words())
    check(done.returncode == 6, done.returncode, done.stdout, done.stderr)
    check(stage.states() == {names[0]: "confirmed", names[1]: "applied"}, stage.states())
    lost = json.loads(done.stdout)["waves"][1]["hosts"][0]
    check(lost["state"] == "lost" and "rolls itself back" in lost["detail"], lost)

    # One of the last wave prints nonsense: that wave is rolled back, all of it. Its own apply never
    # began: the earlier one stays.
    stage.reset(**{names[-1]: "garbage"})
    stage.keep_earlier(names[-1])
    done = run(*stage.words())
    check(done.returncode == 6 and "\x1b" not in done.stdout + done.stderr, done.returncode)
    states = stage.states()
    check(all(states[name] == "confirmed" for name in names[:2]), states)
    check(all(states[name] == "rolled-back" for name in names[2:-1]), states)
    check(states[names[-1]] == "earlier", states)
    last = json.loads(done.stdout)["waves"][2]["hosts"][-1]
    check(last["state"] == "failed" and "nothing was undone" in last["detail"], last)

    # An older weir there, which cannot undo this apply alone: an error, and no other rollback.
    stage.reset(**{names[0]: "old"})
    stage.keep_earlier(names[0])
    done = run(*stage.words())
    check(done.returncode == 6 and stage.states() == {names[0]: "earlier"}, stage.states())
    check(stage.verbs(names[0]).count("rollback") == 1, stage.verbs(names[0]))
    old = json.loads(done.stdout)["waves"][0]["hosts"][0]
    check(old["state"] == "lost" and "no option --pending" in old["detail"], old)

    # A confirmation whose answer is lost is sent again.
    stage.reset(**{names[0]: "mute-once"})
    done = run(*stage.words())
    check(done.returncode in (0, 5), done.returncode, done.stdout, done.stderr)
    check(set(stage.states().values()) == {"confirmed"}, stage.states())

    # One that stays lost: that host is kept or it is not, so it is asked before it is put back. No
    # host of the wave stays changed, and none is said to be what it is not.
    stage.reset(**{names[1]: "mute"})
    done = run(*stage.words("--canary", "2"))
    check(done.returncode == 6, done.returncode, done.stdout, done.stderr)
    check(stage.states() == {names[0]: "rolled-back", names[1]: "rolled-back"}, stage.states())
    shown = json.loads(done.stdout)["waves"][0]["hosts"]
    check([host["state"] for host in shown] == ["rolled back"] * 2, shown)

    # The controller has to end while a wave is being confirmed: it is confirmed to the end, and
    # no other is begun.
    stage.reset(**{names[0]: "slow-confirm"})
    with subprocess.Popen(stage.words("--canary", "2", "--fanout", "1"), stdout=subprocess.PIPE,
                          stderr=subprocess.PIPE) as process:
        for _ in range(300):
            if stage.states().get(names[0]) == "confirmed":
                break
            time.sleep(0.1)
        process.send_signal(signal.SIGINT)
        printed, errors = process.communicate(timeout=60)
    check(process.returncode == 130, process.returncode, printed, errors)
    check(stage.states() == {names[0]: "confirmed", names[1]: "confirmed"}, stage.states())
    shown = json.loads(printed)["waves"][0]["hosts"]
    check([host["state"] for host in shown] == ["changed and confirmed"] * 2, shown)

    # The controller has to end before the host began: that it may still begin is said.
    stage.reset(**{names[0]: "late"})
    with subprocess.Popen(stage.words(), stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        until((folder / "state" / f"{names[0]}.calls").exists, "no host was asked")
        until(lambda: "apply" in stage.verbs(names[0]), "no apply was sent")
        process.send_signal(signal.SIGTERM)
        printed, _ = process.communicate(timeout=60)
    unheard = json.loads(printed)["waves"][0]["hosts"][0]
    check(process.returncode == 130 and unheard["state"] == "lost", process.returncode, unheard)
    check("one that only begins now rolls itself back 300s later" in unheard["detail"], unheard)

    # The controller has to end: what it began is rolled back, and a host whose turn had not come is
    # sent nothing.
    stage.reset(**{names[0]: "slow"})
    stage.keep_earlier(names[1])
    words = stage.words("--canary", "2", "--fanout", "1")
    with subprocess.Popen(words, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        for _ in range(300):
            if (folder / "state" / names[0]).exists():
                break
            time.sleep(0.1)
        process.send_signal(signal.SIGTERM)
        printed, _ = process.communicate(timeout=60)
    check(process.returncode == 130, process.returncode)
    check(stage.states() == {names[0]: "rolled-back", names[1]: "earlier"}, stage.states())
    check(set(stage.verbs(names[1])) == {"bundle"}, stage.verbs(names[1]))
    waiting = json.loads(printed)["waves"][0]["hosts"][1]
    check(waiting["state"] == "not touched" and "not asked" in waiting["detail"], waiting)


# perftest and nccl-tests as they print; what was started where is in `started`.
FAKE_PERFTEST = r"""#!/bin/sh
for last; do :; done
echo "$WEIR_TEST_HOST $*" >>@FOLDER@/started
case $last in -*|*=*) exit 0 ;; esac
if [ -e @FOLDER@/dying.$WEIR_TEST_HOST ]; then
  touch @FOLDER@/dead.$WEIR_TEST_HOST
  kill -9 $(grep -ls "WEIR_TEST_HOST=$WEIR_TEST_HOST" /proc/[0-9]*/environ | cut -d/ -f3)
fi
[ -e @FOLDER@/broken.$WEIR_TEST_HOST ] && { echo "Completion with error at client"; exit 1; }
echo " #bytes     #iterations    BW peak[Gb/sec]    BW average[Gb/sec]   MsgRate[Mpps]"
echo " 65536      500000         95.1               95.1                 0.18"
"""
FAKE_LATENCY = r"""#!/bin/sh
for last; do :; done
case $last in -*|*=*) exit 0 ;; esac
printf ' #bytes #iterations t_min[usec] t_max[usec] t_typical[usec] t_avg[usec] '
echo 't_stdev[usec] 99% percentile[usec] 99.9% percentile[usec]'
echo ' 64 1000 1.80 9.10 1.95 1.99 0.10 2.40 5.60'
"""
FAKE_LAUNCHER = r"""#!/bin/sh
echo "$WEIR_TEST_HOST launcher $*" >>@FOLDER@/started
echo '#       size         count      type   redop    root     time   algbw   busbw #wrong'
echo '     1048576        262144     float     sum      -1    100.0   10.49   18.35      0'
echo '# Avg bus bandwidth    : 18.35'
"""


def test_interrupted_failure(weir, folder, stage):
    """Ctrl-C on a terminal goes to every process of weir's group, each time it is typed."""
    state, cut = folder / "failures", folder / "cut"
    state.mkdir(mode=0o700)

    def start(restore):
        cut.unlink(missing_ok=True)
        process = subprocess.Popen(
            [str(weir), "verify", str(folder / "fabric.yaml"), "--hosts", "gpu[01-02]",
             "--via", "exec", "--exec", stage.exec, "--state", str(state),
             "--under-failure", f"touch {cut}", "--restore", restore, "--", "sh", "-c",
             f"test -e {cut} || exit 0; exec sleep 77.41"],
            stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, start_new_session=True)
        until(lambda: running("77.41") or process.poll() is not None, "the load did not start")
        return process

    process = start(f"touch {folder}/ending; sleep 2; rm {cut}")
    os.killpg(process.pid, signal.SIGINT)
    until((folder / "ending").exists, "the failure is not being ended")
    for _ in range(3):
        os.killpg(process.pid, signal.SIGINT)
        time.sleep(0.3)
    _, errors = process.communicate(timeout=60)
    check(process.returncode == 130 and "interrupted" in errors, process.returncode, errors)
    check(not cut.exists() and not running("77.41"), "the failure is still on")
    check('"whole":true' in last_journal(state), last_journal(state))

    # What could not be ended is said, and its journal stays open: a rollback and the next boot try
    # again.
    process = start(f"test -e {folder}/reachable && rm {cut}")
    os.killpg(process.pid, signal.SIGINT)
    _, errors = process.communicate(timeout=60)
    check(process.returncode == 5 and "NOT over" in errors, process.returncode, errors)
    check('"ended"' not in last_journal(state), last_journal(state))
    done = run(weir, "rollback", "--unconfirmed", "--state", state)
    check(done.returncode == 5 and "NOT over" in done.stdout, done.returncode, done.stdout)
    check('"ended"' not in last_journal(state), last_journal(state))
    (folder / "reachable").touch()
    done = run(weir, "rollback", "--unconfirmed", "--state", state)
    check(done.returncode == 0 and "Ended the failure" in done.stdout, done.stdout, done.stderr)
    check(not cut.exists(), "the failure is still on")


def test_host_that_dies(weir, folder, stage):
    """gpu03 dies under the load of stage 4: named, left out of what follows, back for a resume."""
    kept = folder / "preflight.json"
    words = ["preflight", folder / "fabric.yaml", "--hosts", "gpu[01-04]", "--via", "exec",
             "--exec", f"[ ! -e {folder}/dead.%h ] && {stage.exec}", "--quick", "--from-stage",
             "pairs", "--until", "collectives", "--out", kept]
    (folder / "dying.gpu03").touch()
    done = run(weir, *words, "--json")
    shown = json.loads(done.stdout)
    stages = {each["name"]: each for each in shown["stages"]}
    check(done.returncode == 5 and shown["decision"] == "cannot tell", done.returncode, shown)
    check("gpu03 was lost in stage 4 (pairs)" in shown["verdict"], shown["verdict"])
    check([(host["host"], host["stage"]) for host in shown["lost"]] == [("gpu03", "pairs")],
          shown["lost"])
    check(shown["unseen"] == [] and not shown["findings"], shown["unseen"], shown["findings"])
    check(stages["pairs"]["state"] == "open" and "gpu03" in stages["pairs"]["why"], stages["pairs"])
    # The others are measured without it, each stage once.
    check([measure["count"] for measure in stages["collectives"]["measures"]
           if measure["metric"] == "all_to_all_bandwidth"] == [6], stages["collectives"])
    check("2 senders to gpu01" in stages["overload"]["budget"], stages["overload"])
    check(any("gpu03 was lost in stage 4 (pairs)" in each["reason"] for each in shown["unknown"]),
          shown["unknown"])
    # It is back: what ran without it is run again.
    for name in ("dying", "dead"):
        (folder / f"{name}.gpu03").unlink()
    done = run(weir, *words, "--resume", kept, "--json")
    shown = json.loads(done.stdout)
    stages = {each["name"]: each for each in shown["stages"]}
    check(shown["lost"] == [], shown["lost"], done.stderr)
    check([measure["count"] for measure in stages["collectives"]["measures"]
           if measure["metric"] == "all_to_all_bandwidth"] == [12], stages["collectives"])
    # All of them at once: nothing is left to run on.
    for i in range(1, 5):
        (folder / f"dying.gpu0{i}").touch()
    done = run(weir, *words)
    check(done.returncode == 5 and "no host is left" in done.stdout, done.returncode, done.stdout)
    for file in list(folder.glob("dying.*")) + list(folder.glob("dead.*")):
        file.unlink()


def test_load(weir, folder, _count):
    """All-to-all of perftest, and nccl-tests by the user's launcher, on hosts of a fleet."""
    stage = Stage(weir, folder)
    for name, text in (("ib_write_bw", FAKE_PERFTEST), ("ib_write_lat", FAKE_LATENCY),
                       ("mpirun", FAKE_LAUNCHER)):
        (folder / "bin" / name).write_text(text.replace("@FOLDER@", str(folder)))
        (folder / "bin" / name).chmod(0o755)
    way = ["--hosts", "gpu[01-04]", "--via", "exec", "--exec", stage.exec, "--json"]
    started = folder / "started"

    done = run(weir, "verify", folder / "fabric.yaml", *way, "--all-to-all")
    shown = json.loads(done.stdout)
    check("started on gpu[01-04]" in shown["verdict"], shown["verdict"], done.stderr)
    check(any("12 streams between 4 hosts: 95.1 Gb/s" in note for note in shown["notes"]),
          shown["notes"])
    # Every host is a server and a client for every other, in the design's class.
    lines = started.read_text().splitlines()
    check(len(lines) == 24 and all("--tclass=106" in line for line in lines), lines[:3])
    check({line.split()[0] for line in lines} == {f"gpu{i:02}" for i in range(1, 5)}, lines[:3])

    # One that fails is named, and the status says so.
    (folder / "broken.gpu03").touch()
    done = run(weir, "verify", folder / "fabric.yaml", *way, "--all-to-all")
    shown = json.loads(done.stdout)
    check(done.returncode == 5 and "failed" in shown["verdict"], done.returncode, shown["verdict"])
    check(sum(note.startswith("failed: gpu03 to ") for note in shown["notes"]) == 3, shown["notes"])
    (folder / "broken.gpu03").unlink()

    # A collective is started once, where the user would start it; all hosts are watched.
    started.unlink()
    done = run(weir, "verify", folder / "fabric.yaml", *way, "--", "mpirun", "-np", "32",
               "all_reduce_perf", "-b", "8M")
    shown = json.loads(done.stdout)
    check(started.read_text() == "gpu01 launcher -np 32 all_reduce_perf -b 8M\n",
          started.read_text())
    check("18.35" in done.stdout, shown["verdict"])
    done = run(weir, "preflight", folder / "fabric.yaml", *way, "--quick", "--from-stage",
               "collectives", "--until", "collectives", "--collective", "mpirun all_reduce_perf")
    stages = {each["name"]: each for each in json.loads(done.stdout)["stages"]}
    measured = {measure["metric"]: measure for measure in stages["collectives"]["measures"]}
    check(abs(measured["collective_bus_bandwidth"]["p50"] - 18.35 * 8e9) < 1, measured)
    check(measured["all_to_all_bandwidth"]["count"] == 12, measured)

    # One that hangs is ended when its time is over, and the rest of its stage has no answer.
    done = run(weir, "preflight", folder / "fabric.yaml", *way, "--quick", "--from-stage",
               "collectives", "--until", "collectives", "--collective", "exec sleep 98.71",
               "--collective-limit", "2s")
    stages = {each["name"]: each for each in json.loads(done.stdout)["stages"]}
    check(done.returncode == 5 and stages["collectives"]["state"] == "open", done.stdout)
    check("did not end within 2 s" in stages["collectives"]["why"], stages["collectives"]["why"])
    check(not running("98.71"), "the collective runs on")

    # Nobody asks the switches: that is said, unless a file shows what each is set to.
    run(weir, "render", folder / "fabric.yaml", "--to", "cumulus", "--all", "--out",
        folder / "configs")
    names = sorted(path.stem for path in (folder / "configs").glob("*.nv"))
    for given, expected in [([], f"settings of {len(names)} switches were not looked at"),
                            (names[1:], f"settings of 1 switch were not looked at ({names[0]})"),
                            (names, None)]:
        files = [word for name in given
                 for word in ("--switch", f"{name}={folder / 'configs' / name}.nv")]
        done = run(weir, "preflight", folder / "fabric.yaml", *way, "--until", "facts", *files)
        notes = json.loads(done.stdout)["stages"][0]["notes"]
        looked = [note for note in notes if "not looked at" in note]
        check(bool(looked) == bool(expected) and (not looked or expected in looked[0]), notes,
              done.stderr)

    # A host that is dead from the start is named, left out of the loads, and not asked for again.
    without = ["--hosts", "gpu[01-04]", "--via", "exec", "--exec",
               "[ %h != gpu03 ] && " + stage.exec]
    words = ["preflight", folder / "fabric.yaml", *without, "--quick", "--from-stage", "pairs",
             "--until", "collectives"]
    started.unlink()
    done = run(weir, *words, "--json")
    shown = json.loads(done.stdout)
    check(done.returncode == 5 and "gpu03 was not seen" in shown["verdict"], done.returncode,
          shown["verdict"])
    check(len(shown["unseen"]) == 1 and shown["unseen"][0].startswith("gpu03: "), shown["unseen"])
    stages = {each["name"]: each for each in shown["stages"]}
    # The three others are measured; the bundles of these stubs do not move with a load.
    for name, metric in (("pairs", "bandwidth"), ("collectives", "all_to_all_bandwidth")):
        check(stages[name]["measures"] and any(
            measure["metric"] == metric and measure["count"] == 6 and not measure["subject"]
            for measure in stages[name]["measures"]), stages[name])
    check({line.split()[0] for line in started.read_text().splitlines()} ==
          {"gpu01", "gpu02", "gpu04"}, started.read_text())
    check("--hosts 'gpu[01-04]!gpu03' " in shown["next"][0], shown["next"])
    done = run(weir, *words, "--quiet")
    check("gpu03 was not seen" in done.stdout, done.stdout)
    done = run(weir, *words)
    check("not seen, and left out of every load: gpu03: " in done.stdout.split("stage 4")[0],
          done.stdout)
    # What is proposed can be typed, and names the hosts that are there.
    (folder / "hosts.txt").write_text("gpu[01-04]\n")
    for names in (["--hosts", "gpu[01-04]!gpu03"],
                  ["--hosts-file", folder / "hosts.txt", "--hosts", "!gpu03"]):
        done = run(weir, "preflight", folder / "fabric.yaml", *names, *without[2:], "--quick",
                   "--from-stage", "collectives", "--until", "collectives", "--json")
        check(json.loads(done.stdout)["unseen"] == [], done.stdout[-600:], done.stderr)

    test_host_that_dies(weir, folder, stage)
    test_interrupted_failure(weir, folder, stage)

    for words, expected in [(["--all-to-all", "--", "true"], "bring their own load"),
                            (["--all-to-all", "--perftest", "ib_write_lat"], "bandwidth test")]:
        done = run(weir, "verify", folder / "fabric.yaml", *way, *words)
        check(done.returncode == 2 and expected in done.stderr, words, done.stderr)
    done = run(weir, "verify", folder / "fabric.yaml", "--all-to-all")
    check(done.returncode == 2 and "--hosts" in done.stderr, done.returncode, done.stderr)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("weir")
    parser.add_argument("part", choices=["exec", "ssh", "waves", "change", "load"])
    parser.add_argument("--hosts", type=int, default=0)
    options = parser.parse_args()
    weir = pathlib.Path(options.weir).resolve()
    test, usual = {"exec": (test_exec, 1000), "ssh": (test_ssh, 200),
                   "waves": (test_waves, 0), "change": (test_change, 0),
                   "load": (test_load, 0)}[options.part]
    with tempfile.TemporaryDirectory(prefix="weir-fleet.") as folder:
        test(weir, pathlib.Path(folder), options.hosts or usual)
    print(f"fleet {options.part}: all as expected")


if __name__ == "__main__":
    main()

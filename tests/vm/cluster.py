"""Several machines on a private network: hosts that differ in nothing but their name and address.

    with Cluster(cache, programs, ["a", "b"]) as hosts:
        hosts["a"].run("ping -c 1 b")

The network is a switch of ours (switch.py), which loses nothing. Each machine has eth0 with an
address of 10.9.0.0/24, in the order of the names, from 10.9.0.1 on; the names of all are in
/etc/hosts, and every machine is called by its own.

A cluster with `rate_mbit` is one of RoCE hosts (guest/rail.sh): rail0 in the place of eth0,
Debian's systemd and a disk that outlives a restart, and sshd, which this machine reaches with
`ssh -F <ssh_config()> NAME`.
"""
import contextlib
import pathlib
import shutil
import socket
import subprocess
import tempfile

from image import Unavailable
from machine import Machine
from switch import Switch

NETWORK = "10.9.0"


def address_of(place):
    return f"{NETWORK}.{place + 1}"


def free_port():
    with socket.socket() as tried:
        tried.bind(("127.0.0.1", 0))
        return tried.getsockname()[1]


class Cluster:
    """A context: all machines are up inside it, with their network; `hosts` by name."""

    def __init__(self, cache, programs, names, rate_mbit=None):
        self.hosts = {}
        self.stack = contextlib.ExitStack()
        self.rate_mbit = rate_mbit
        self.ports = {}
        self.folder = None
        if rate_mbit:
            ssh = shutil.which("ssh")
            if ssh is None:
                raise Unavailable("ssh is not installed (apt-get install openssh-client)")
            programs = {**programs, "bin/ssh": pathlib.Path(ssh).resolve()}
        self.switch = Switch()
        for place, name in enumerate(names):
            devices = ["-netdev", f"socket,id=net0,connect={self.switch.address}",
                       "-device", f"virtio-net-pci,netdev=net0,mac=02:00:00:09:00:{place + 1:02x}"
                       + (",host_mtu=9216" if rate_mbit else "")]
            if rate_mbit:
                self.ports[name] = free_port()
                devices += ["-netdev", "user,id=net1,restrict=on,"
                            f"hostfwd=tcp:127.0.0.1:{self.ports[name]}-:22",
                            "-device", "virtio-net-pci,netdev=net1"]
            self.hosts[name] = Machine(cache, programs, bool(rate_mbit), f"-{name}", devices)

    def __enter__(self):
        with contextlib.ExitStack() as stack:
            stack.enter_context(self.switch)
            for machine in self.hosts.values():
                stack.push(machine.__exit__)
            if self.rate_mbit:
                self.folder = pathlib.Path(stack.enter_context(
                    tempfile.TemporaryDirectory(prefix="weir-cluster.")))
                self._prepare()
            for machine in self.hosts.values():
                machine.launch()
            for machine in self.hosts.values():
                machine.wait_until_up()
            if not self.rate_mbit:
                for place, name in enumerate(self.hosts):
                    done = self.hosts[name].run(
                        f"bash /guest/join.sh {name} {address_of(place)} {self._names()}")
                    assert done.status == 0, done
            self.stack = stack.pop_all()
        return self

    def __getitem__(self, name):
        return self.hosts[name]

    def __exit__(self, *error):
        return self.stack.__exit__(*error)

    def _names(self):
        return " ".join(f"{address_of(place)}={name}" for place, name in enumerate(self.hosts))

    def _prepare(self):
        """Keys for ssh, and for each machine what it finds in its shared folder when it starts."""
        for key in ("host_key", "user_key"):
            subprocess.run(["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-C", "test", "-f",
                            str(self.folder / key)], check=True)
        text = ""
        for place, (name, machine) in enumerate(self.hosts.items()):
            machine.put("rail", f"{name} {address_of(place)} {self.rate_mbit} {self._names()}\n")
            for key in ("host_key", "host_key.pub", "user_key", "user_key.pub"):
                machine.put(key, (self.folder / key).read_text(encoding="ascii"))
            text += (f"Host {name}\n  HostName 127.0.0.1\n  Port {self.ports[name]}\n  User root\n"
                     f"  HostKeyAlias guest\n  IdentityFile {self.folder}/user_key\n"
                     f"  UserKnownHostsFile {self.folder}/known_hosts\n  IdentitiesOnly yes\n")
        key = (self.folder / "host_key.pub").read_text(encoding="ascii")
        (self.folder / "known_hosts").write_text(f"guest {key}", encoding="ascii")
        self.ssh_config().write_text(text, encoding="ascii")

    def ssh_config(self):
        return self.folder / "ssh_config"

"""Several machines on a private network: hosts that differ in nothing but their name and address.

    with Cluster(cache, programs, ["a", "b"]) as hosts:
        hosts["a"].run("ping -c 1 b")

The network is a multicast group of this machine's loopback, one per cluster; nothing else hears it.
Each machine has eth0 with an address of 10.9.0.0/24, in the order of the names, from 10.9.0.1 on;
the names of all are in /etc/hosts, and every machine is called by its own.
"""
import contextlib
import os

from machine import Machine

NETWORK = "10.9.0"


def address_of(place):
    return f"{NETWORK}.{place + 1}"


class Cluster:
    """A context: all machines are up inside it, with their network; `hosts` by name."""

    def __init__(self, cache, programs, names, with_systemd=False):
        self.hosts = {}
        self.stack = contextlib.ExitStack()
        # Groups and ports of two clusters differ by the process that made them.
        group = f"239.77.{os.getpid() >> 8 & 255}.{os.getpid() & 255}:{20000 + os.getpid() % 20000}"
        for place, name in enumerate(names):
            devices = ["-netdev", f"socket,id=net0,mcast={group},localaddr=127.0.0.1",
                       "-device", f"virtio-net-pci,netdev=net0,mac=02:00:00:09:00:{place + 1:02x}"]
            self.hosts[name] = Machine(cache, programs, with_systemd, f"-{name}", devices)

    def __enter__(self):
        with contextlib.ExitStack() as stack:
            for machine in self.hosts.values():
                stack.push(machine.__exit__)
                machine.launch()
            for machine in self.hosts.values():
                machine.wait_until_up()
            for place, name in enumerate(self.hosts):
                done = self.hosts[name].run(
                    f"bash /guest/join.sh {name} {address_of(place)} {self._names()}")
                assert done.status == 0, done
            self.stack = stack.pop_all()
        return self.hosts

    def __exit__(self, *error):
        return self.stack.__exit__(*error)

    def _names(self):
        return " ".join(f"{address_of(place)}={name}" for place, name in enumerate(self.hosts))

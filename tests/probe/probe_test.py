#!/usr/bin/env python3
# rows: C3
"""weir probe mtu on real network stacks: namespaces, veth pairs, a bridge as a switch.

Each case builds a path, probes it and removes it. Needs root (CAP_NET_ADMIN, CAP_SYS_ADMIN);
skipped with 77 without, unless WEIR_REQUIRE names netns.

Usage: probe_test.py WEIR [CASE...]
"""
import json
import os
import subprocess
import sys

WIDE, NARROW = 9000, 1500


class Fabric:
    """Network namespaces of one case, named so that runs do not meet; gone at the end."""

    def __init__(self):
        self.names = {}
        self.count = 0

    def __enter__(self):
        return self

    def __exit__(self, *exc):
        for name in self.names.values():
            subprocess.run(["ip", "netns", "del", name], check=False, capture_output=True)

    def node(self, name, forwards=False):
        space = f"weir{os.getpid()}{name}"
        self.names[name] = space
        run("ip", "netns", "add", space)
        # Addresses count at once: no test for duplicates.
        for which in ("all", "default"):
            self.sysctl(name, f"net/ipv6/conf/{which}/accept_dad", "0")
        self.at(name, "ip", "link", "set", "lo", "up")
        if forwards:
            for key in ("net/ipv4/ip_forward", "net/ipv6/conf/all/forwarding"):
                self.sysctl(name, key, "1")

    def at(self, name, *command):
        return run("ip", "netns", "exec", self.names[name], *command)

    def sysctl(self, name, key, value):
        self.at(name, "sh", "-c", f"echo {value} > /proc/sys/{key}")

    def link(self, one, other, addresses=(None, None), mtus=(WIDE, WIDE)):
        """A veth pair; gives the interfaces' names at both ends."""
        self.count += 1
        ends = (f"e{self.count}a", f"e{self.count}b")
        run("ip", "link", "add", ends[0], "netns", self.names[one], "type", "veth", "peer", "name",
            ends[1], "netns", self.names[other])
        for node, end, address, mtu in zip((one, other), ends, addresses, mtus):
            self.at(node, "ip", "link", "set", end, "mtu", str(mtu))
            if address:
                extra = ["nodad"] if ":" in address else []
                self.at(node, "ip", "addr", "add", address, "dev", end, *extra)
            self.at(node, "ip", "link", "set", end, "up")
        return ends

    def route(self, node, to, via):
        self.at(node, "ip", "route", "add", to, "via", via)


def run(*command):
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise RuntimeError(f"{' '.join(command)}: {done.stderr.strip()}")
    return done.stdout


class Failure(Exception):
    pass


def probe(weir, fabric, node, *words):
    """Exit status and JSON of `weir probe mtu` in a namespace."""
    command = ["ip", "netns", "exec", fabric.names[node], weir, "probe", "mtu", *words, "--json"]
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=120)
    if not done.stdout.startswith("{"):
        raise Failure(f"no JSON: {done.stdout}{done.stderr}")
    return done.returncode, json.loads(done.stdout)


def expect(what, found, wanted):
    if found != wanted:
        raise Failure(f"{what}: {found!r}, expected {wanted!r}")


def routed(fabric, mtus=(WIDE, WIDE, WIDE, WIDE)):
    """a - r - b over IPv4 and IPv6; MTUs of a, r's left, r's right, b."""
    for name, forwards in (("a", False), ("r", True), ("b", False)):
        fabric.node(name, forwards)
    left = fabric.link("a", "r", ("10.1.0.1/24", "10.1.0.2/24"), mtus[:2])
    right = fabric.link("r", "b", ("10.2.0.2/24", "10.2.0.1/24"), mtus[2:])
    fabric.at("a", "ip", "addr", "add", "fd01::1/64", "dev", left[0], "nodad")
    fabric.at("r", "ip", "addr", "add", "fd01::2/64", "dev", left[1], "nodad")
    fabric.at("r", "ip", "addr", "add", "fd02::2/64", "dev", right[0], "nodad")
    fabric.at("b", "ip", "addr", "add", "fd02::1/64", "dev", right[1], "nodad")
    fabric.route("a", "10.2.0.0/24", "10.1.0.2")
    fabric.route("b", "10.1.0.0/24", "10.2.0.2")
    fabric.at("a", "ip", "-6", "route", "add", "fd02::/64", "via", "fd01::2")
    fabric.at("b", "ip", "-6", "route", "add", "fd01::/64", "via", "fd02::2")


def clean(weir, fabric):
    routed(fabric)
    for peer in ("10.2.0.1", "fd02::1"):
        code, found = probe(weir, fabric, "a", peer)
        expect("exit", code, 0)
        expect("MTU", found["mtu"], WIDE)
        expect("RDMA MTU", found["rdma_mtu"], 4096)
        expect("narrow", found["narrow"], None)


def narrow_router(weir, fabric):
    """The router says so; over both families, and by UDP without any privilege."""
    routed(fabric, (WIDE, WIDE, NARROW, NARROW))
    for words, peer, after in (((), "10.2.0.1", "10.1.0.2"), ((), "fd02::1", "fd01::2"),
                               (("--using", "udp"), "10.2.0.1", "10.1.0.2")):
        code, found = probe(weir, fabric, "a", peer, *words)
        expect("exit", code, 1)
        expect("MTU", found["mtu"], NARROW)
        expect("RDMA MTU", found["rdma_mtu"], 1024)
        expect("who said it", found["said"], [{"from": after, "mtu": NARROW}])
        expect("segment", found["narrow"],
               {"local": False, "silent": False, "after": after, "before": peer})
        expect("finding", found["findings"][0]["id"], "mtu.mismatch")


def silent_port(weir, fabric):
    """A switch's port behind the router is narrow: no ICMP, only the bracket tells where."""
    for name, forwards in (("a", False), ("r", True), ("s", False), ("b", False)):
        fabric.node(name, forwards)
    fabric.link("a", "r", ("10.1.0.1/24", "10.1.0.2/24"))
    into = fabric.link("r", "s", ("10.2.0.2/24", None))
    out = fabric.link("s", "b", (None, "10.2.0.1/24"), (NARROW, WIDE))
    fabric.at("s", "ip", "link", "add", "sw", "type", "bridge")
    for port in (into[1], out[0]):
        fabric.at("s", "ip", "link", "set", port, "master", "sw")
    fabric.at("s", "ip", "link", "set", "sw", "up")
    fabric.route("a", "10.2.0.0/24", "10.1.0.2")
    fabric.route("b", "10.1.0.0/24", "10.2.0.2")
    code, found = probe(weir, fabric, "a", "10.2.0.1", "--wait", "100ms")
    expect("exit", code, 1)
    expect("MTU", found["mtu"], NARROW)
    expect("said", found["said"], [])
    expect("segment", found["narrow"],
           {"local": False, "silent": True, "after": "10.1.0.2", "before": "10.2.0.1"})


def narrow_receiver(weir, fabric):
    fabric.node("a")
    fabric.node("b")
    fabric.link("a", "b", ("10.1.0.1/24", "10.1.0.2/24"), (WIDE, NARROW))
    code, found = probe(weir, fabric, "a", "10.1.0.2", "--wait", "100ms")
    expect("exit", code, 1)
    # A veth takes the 4 B of a VLAN tag more than its MTU.
    expect("MTU", found["mtu"], NARROW + 4)
    expect("segment", found["narrow"],
           {"local": False, "silent": True, "after": None, "before": "10.1.0.2"})


def narrow_here(weir, fabric):
    """The interface of this host is narrower than asked: no packet leaves."""
    fabric.node("a")
    fabric.node("b")
    fabric.link("a", "b", ("10.1.0.1/24", "10.1.0.2/24"), (NARROW, WIDE))
    code, found = probe(weir, fabric, "a", "10.1.0.2", "--size", "9000B")
    expect("exit", code, 1)
    expect("MTU", found["mtu"], NARROW)
    expect("local", found["narrow"]["local"], True)


def unprivileged(weir, fabric):
    """A ping socket of a user without any capability."""
    routed(fabric, (WIDE, WIDE, NARROW, NARROW))
    fabric.sysctl("a", "net/ipv4/ping_group_range", "'0 65534'")
    command = ["ip", "netns", "exec", fabric.names["a"], "setpriv", "--reuid=65534",
               "--regid=65534", "--clear-groups", "--bounding-set=-all", "--inh-caps=-all", weir,
               "probe", "mtu", "10.2.0.1", "--json"]
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=60)
    found = json.loads(done.stdout)
    expect("method", found["method"], "ping")
    expect("MTU", found["mtu"], NARROW)


def mute_peer(weir, fabric):
    """A peer that answers nothing: inconclusive, never healthy."""
    fabric.node("a")
    fabric.node("b")
    fabric.link("a", "b", ("10.1.0.1/24", "10.1.0.2/24"))
    fabric.sysctl("b", "net/ipv4/icmp_echo_ignore_all", "1")
    fabric.at("b", "ip", "route", "add", "blackhole", "10.1.0.1/32")
    code, found = probe(weir, fabric, "a", "10.1.0.2", "--wait", "50ms")
    expect("exit", code, 5)
    expect("conclusion", found["conclusion"], "inconclusive")
    expect("answered", found["answered"], False)


CASES = (clean, narrow_router, silent_port, narrow_receiver, narrow_here, unprivileged, mute_peer)


def is_permitted():
    """All that the cases need of the kernel: two namespaces, a cable, settings, other users."""
    try:
        with Fabric() as fabric:
            fabric.node("a")
            fabric.node("b")
            fabric.link("a", "b", ("10.1.0.1/24", "10.1.0.2/24"))
            fabric.sysctl("b", "net/ipv4/icmp_echo_ignore_all", "0")
            fabric.at("a", "setpriv", "--reuid=65534", "--clear-groups", "true")
    except RuntimeError as why:
        print(why)
        return False
    return True


def main():
    weir = os.path.abspath(sys.argv[1])
    wanted = sys.argv[2:]
    try:
        permitted = is_permitted()
    except FileNotFoundError:
        permitted = False
    if not permitted:
        is_required = "netns" in os.environ.get("WEIR_REQUIRE", "").split(",")
        print("FAILED" if is_required else "skipped", "network namespaces are not permitted here")
        return 1 if is_required else 77
    failed = 0
    for case in CASES:
        if wanted and case.__name__ not in wanted:
            continue
        try:
            with Fabric() as fabric:
                case(weir, fabric)
            print(f"ok      {case.__name__}")
        except (Failure, RuntimeError, subprocess.TimeoutExpired) as failure:
            failed += 1
            print(f"FAILED  {case.__name__}: {failure}")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())

"""Seeing a host: show, check, validate, snapshot, diff."""
from steps import between, contains, equal

DESIGN = "/guest/design.yaml"
# Few packets in flight: on an emulated CPU a longer queue would time out and send again.
LOAD = "bash /guest/load.sh ib_write_bw -n 20 -s 4096 -m 1024 -t 4 -Q 1"
PACKETS = 80  # 20 messages of 4 KiB in packets of 1 KiB
NOBODY = "setpriv --reuid 65534 --regid 65534 --clear-groups "


# Of every machine like this: Soft-RoCE beside the rails has its GIDs elsewhere, sockets are as
# Linux has them.
USUAL = {"gid.index_differs", "host.tcp_untuned"}


def ids(judgement):
    return {finding["id"] for finding in judgement["findings"]} - USUAL


def nic(seen, device):
    return next(one for one in seen["hosts"][0]["nics"] if one["device"] == device)


def moved(difference, device):
    """Counters of a device that moved: name to amount."""
    deltas = nic(difference, device)["deltas"]
    return {key: delta["amount"] for key, delta in deltas.items() if delta["amount"]}


def around(vm, command):
    """What a command did to the counters."""
    vm.sh("weir snapshot -q --out before.json")
    vm.sh(command)
    vm.sh("weir snapshot -q --out after.json")
    return vm.weir("diff before.json after.json")


def no_rdma(vm):
    """A host without RDMA: every verb says so and exits 4."""
    for verb in ("show", "check", "snapshot", f"validate {DESIGN}"):
        vm.weir(verb, status=4)
        contains(vm.last.err, "no RDMA device")


def as_found(vm):
    """show: the facts of a ConnectX as it comes up, from sysfs, DCB netlink and ethtool."""
    vm.sh("bash /guest/topology.sh ofed=1")
    seen = vm.weir("show")
    equal([one["device"] for one in seen["hosts"][0]["nics"]],
          ["mlx5_0", "mlx5_1", "rxe0", "rxe1"], "devices")
    rail = nic(seen, "mlx5_0")
    for path, wanted in {
            "netdev": "rail0", "driver": "mlx5_core", "stack": "ofed", "firmware": "22.36.1010",
            "link.up": True, "link.speed_bps": 100_000_000_000, "link.fec": "RS",
            "link.mtu_bytes": 9000, "link.active_mtu_bytes": 4096, "link.pause_rx": True,
            "qos.trust": "pcp", "qos.pfc": [], "qos.priority_to_tc": [1, 0, 2, 3, 4, 5, 6, 7],
            "qos.tsa": ["vendor"] * 8, "qos.buffer_total_bytes": 262144, "qos.dcbx": "os",
            "qos.cable_length_mm": 7000, "ecn.np": list(range(8)), "ecn.cnp_dscp": 48,
            "rings.rx": 1024, "rings.rx_max": 8192, "pcie.address": "0001:3b:00.0",
            "rdma.active": True, "rdma.traffic_class": None, "rdma.cm_tos": 0}.items():
        fact = rail
        for name in path.split("."):
            fact = fact[name]
        equal(fact.get("value", fact), wanted, path)
    equal([(gid["index"], gid["type"]) for gid in rail["rdma"]["gids"]["value"]],
          [(0, "roce_v1"), (1, "roce_v2"), (2, "roce_v1"), (3, "roce_v2")], "GIDs")


def unconfigured(vm):
    """check and validate: a NIC as it comes up has every fault of that state."""
    wanted = {"pause.global_on", "trust.not_dscp", "dscp.nic_map_wrong", "pfc.off"}
    assert wanted <= ids(vm.weir("check", status=1)), "check"
    assert wanted <= ids(vm.weir(f"validate {DESIGN}", status=1)), "validate"


def configured(vm):
    """validate: what Debian's tools configured is found in order, and check agrees."""
    vm.sh("bash /guest/configure.sh")
    judgement = vm.weir(f"validate {DESIGN}")
    equal(ids(judgement), set(), "validate")
    equal(ids(vm.weir("check", status=None)) & {"pfc.off", "trust.not_dscp"}, set(), "check")


def priority_3(vm):
    """snapshot, diff: RDMA marked with 106 is in priority 3 at both ends, and nothing is lost."""
    difference = around(vm, f"{LOAD} --tclass=106")
    sender, receiver = moved(difference, "mlx5_0"), moved(difference, "mlx5_1")
    between(sender["ethtool/tx_prio3_packets"], PACKETS, PACKETS, "sent in priority 3")
    between(receiver["ethtool/rx_prio3_packets"], PACKETS, PACKETS, "received in priority 3")
    between(receiver["ethtool/rx_prio3_bytes"], 20 * 4096, 20 * 4096 + PACKETS * 100, "bytes")
    between(receiver.get("ethtool/rx_prio0_packets", 0), 0, 10, "priority 0: ARP and the like")
    verbs = moved(difference, "rxe1")
    between(verbs["hw_counters/rcvd_pkts"], PACKETS, PACKETS, "received by Soft-RoCE")
    equal(verbs.get("hw_counters/out_of_seq_request", 0), 0, "out of sequence")
    return f"{sender['ethtool/tx_prio3_packets']} packets"


def priority_0(vm):
    """diff: RDMA that nobody marked is in priority 0, and none of it in priority 3."""
    difference = around(vm, LOAD)
    receiver = moved(difference, "mlx5_1")
    between(receiver["ethtool/rx_prio0_packets"], PACKETS, PACKETS + 10, "priority 0")
    equal(receiver.get("ethtool/rx_prio3_packets", 0), 0, "priority 3")
    return f"{receiver['ethtool/rx_prio0_packets']} packets"


def two_priorities(vm):
    """validate, check: PFC on two priorities of one rail is caught, and so is the drift."""
    vm.sh("weir snapshot -q --out before.json && dcb pfc set dev rail0 prio-pfc 4:on")
    judgement = vm.weir(f"validate {DESIGN}", status=None)
    found = [one for one in judgement["findings"] if one["id"] == "pfc.multiple_priorities"]
    equal(len(found), 1, "findings about it")
    contains(str(found[0]), "mlx5_0")
    contains(ids(vm.weir("check", status=None)), "pfc.multiple_priorities")
    difference = vm.sh("weir snapshot -q --out after.json; weir diff before.json after.json --json")
    contains(difference.out, "qos.pfc")
    vm.sh("dcb pfc set dev rail0 prio-pfc 4:off")
    equal(ids(vm.weir(f"validate {DESIGN}")), set(), "put right again")
    return ", ".join(sorted(ids(judgement)))


def loss(vm):
    """diff: every 17th packet dropped in the switch shows as sequence errors at the receiver."""
    vm.sh("ip netns exec sw tc qdisc add dev fnic1 clsact && ip netns exec sw tc filter add dev "
          "fnic1 ingress protocol ip matchall action pass random determ drop 17")
    difference = around(vm, f"{LOAD} --tclass=106")
    vm.sh("ip netns exec sw tc qdisc del dev fnic1 clsact")
    lost = moved(difference, "rxe1").get("hw_counters/out_of_seq_request", 0)
    between(lost, 1, PACKETS, "out of sequence at the receiver")
    between(moved(difference, "mlx5_0")["ethtool/tx_prio3_packets"], PACKETS + 1, 10 * PACKETS,
            "sent, with what was sent again")
    return f"{lost} out of sequence"


def marks(vm):
    """diff: ECN marks of a congested queue in the switch show at the receiver, in priority 3."""
    vm.sh("ip netns exec sw tc qdisc add dev fnic3 root handle 1: tbf rate 10mbit burst 6kb "
          "limit 400kb && ip netns exec sw tc qdisc add dev fnic3 parent 1:1 handle 10: red limit "
          "300000 min 4000 max 12000 avpkt 1000 burst 6 ecn bandwidth 10mbit probability 1")
    difference = around(vm, "bash /guest/load.sh ib_write_bw -n 20 -s 4096 -m 1024 -t 8 -Q 1 "
                            "--tclass=106")
    vm.sh("ip netns exec sw tc qdisc del dev fnic3 root")
    marked = moved(difference, "mlx5_1").get("ethtool/rx_prio3_marked", 0)
    between(marked, 1, 10 * PACKETS, "marked")
    return f"{marked} marked"


def pauses(vm):
    """diff: who paused whom, in words; CNPs; a counter that began again is no number."""
    stats, hca = "/sys/kernel/debug/fakenic/fnic0/stats", "/sys/kernel/debug/fakehca/mlx5_0"
    difference = around(vm, f"""
        echo 'rx_prio3_pause +42' >{stats}
        echo 'rx_prio3_pause_duration +1500' >{stats}
        echo 'rp_cnp_handled +7' >{hca}""")
    rail = nic(difference, "mlx5_0")
    equal(rail["deltas"]["ethtool/rx_prio3_pause"]["amount"], 42, "pauses received")
    equal(rail["deltas"]["hw_counters/rp_cnp_handled"]["amount"], 7, "CNPs handled")
    equal(len(rail["pauses"]), 1, "sentences about pauses")
    vm.sh(f"echo 'rp_cnp_handled 3' >{hca}; weir snapshot -q --out last.json")
    again = nic(vm.weir("diff after.json last.json"), "mlx5_0")["deltas"]
    equal(again["hw_counters/rp_cnp_handled"]["amount"], None, "after it began again")
    return rail["pauses"][0]


def unprivileged(vm):
    """Without privilege: exit 5, a list of what could not be read and how; the rest is right."""
    done = vm.sh(f"{NOBODY}weir show", status=5)
    contains(done.out, "could not be read")
    contains(done.out, "run weir as root")
    seen = vm.weir("show", status=5, prefix=NOBODY)
    equal(nic(seen, "mlx5_0")["qos"]["pfc"]["value"], [3], "PFC, which needs no root")


def inbox(vm):
    """The kernel's own driver: stack, DCQCN from debugfs as root; refused, not zero, otherwise."""
    vm.sh("bash /guest/topology.sh ofed=0")
    rail = nic(vm.weir("show"), "mlx5_0")
    equal(rail["stack"]["value"], "inbox", "stack")
    named = {one["name"]: one["value"] for one in rail["ecn"]["parameters"]["value"]}
    equal((rail["ecn"]["cnp_dscp"]["value"], named["rpg_ai_rate"]), (48, 5), "DCQCN")
    rail = nic(vm.weir("show", status=5, prefix=NOBODY), "mlx5_0")
    equal(rail["ecn"]["cnp_dscp"]["missing"], "permission", "DCQCN as nobody")


LOOK_STEPS = [no_rdma, as_found, unconfigured, configured, priority_3, priority_0, two_priorities,
              loss, marks, pauses, unprivileged, inbox]

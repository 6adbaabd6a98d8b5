#!/usr/bin/env python3
"""mlnx_qos, dcb, ethtool and ip of one machine that exists in a file only.

Called under each of these names. State is $FAKE_STATE (JSON, one object per interface); every
change is a line of $FAKE_STATE.log. Prints as the real tools print (mlnx_qos 1.2, iproute2 6.1,
ethtool 5.16), as far as a script reads it.
"""
import json
import os
import pathlib
import sys

FACTORY = {
    "pause": True, "dcbx": "fw", "map": {}, "prio_tc": [1, 0, 2, 3, 4, 5, 6, 7],
    "tsa": ["vendor"] * 8, "bw": [100] * 8, "pfc": [0] * 8, "cable": 7,
    "rings": [1024, 1024], "rings_max": [8192, 8192],
}
STATE = pathlib.Path(os.environ["FAKE_STATE"])


class Machine:
    def __init__(self):
        self.all = json.loads(STATE.read_text()) if STATE.exists() else {}

    def nic(self, name):
        return self.all.setdefault(name, json.loads(json.dumps(FACTORY)))

    def wrote(self, words):
        STATE.write_text(json.dumps(self.all))
        with open(f"{STATE}.log", "a", encoding="utf-8") as log:
            log.write(" ".join(words) + "\n")


def numbers(text):
    return [int(word) for word in text.split(",")]


def mlnx_qos(machine, words):
    nic = machine.nic(words[words.index("-i") + 1])
    changes = False
    index = 0
    while index < len(words):
        word, value = words[index], words[index + 1] if index + 1 < len(words) else ""
        index += 2
        if word == "-i":
            continue
        if word == "-a":
            index -= 1
            continue
        changes = True
        if word == "-d":
            nic["dcbx"] = value
        elif word == "--trust":
            nic["map"] = {str(d): d // 8 for d in range(64)} if value == "dscp" else {}
        elif word == "--dscp2prio":
            _, point, priority = value.split(",")
            nic["map"][point] = int(priority)
        elif word == "--prio_tc":
            nic["prio_tc"] = numbers(value)
        elif word == "--tsa":
            nic["tsa"] = value.split(",")
        elif word == "--tcbw":
            nic["bw"] = numbers(value)
        elif word == "--pfc":
            nic["pfc"] = numbers(value)
        elif word == "--cable_len":
            nic["cable"] = int(value)
        else:
            sys.exit(f"mlnx_qos: no such option: {word}")
    if changes:
        machine.wrote(["mlnx_qos", *words])
    print_qos(nic)


def print_qos(nic):
    print("DCBX mode:", "OS controlled" if nic["dcbx"] == "os" else "Firmware controlled")
    print("Priority trust state:", "dscp" if nic["map"] else "pcp")
    if nic["map"]:
        print("dscp2prio mapping:")
        for priority in range(8):
            points = [int(d) for d, p in nic["map"].items() if p == priority]
            for first in range(0, len(points), 8):
                row = ",".join(f"{d:02}" for d in reversed(points[first:first + 8]))
                print(f"\tprio:{priority} dscp:{row},")
    print("Receive buffer size (bytes): 130944,130944,0,0,0,0,0,0,max_buffer_size=262016")
    print("Cable len:", nic["cable"])
    print("PFC configuration:")
    print("\tpriority    0   1   2   3   4   5   6   7")
    print("\tenabled     " + "   ".join(str(bit) for bit in nic["pfc"]) + "   ")
    print("\tbuffer      " + "   ".join(str(bit) for bit in nic["pfc"]) + "   ")
    for tc in range(8):
        how = nic["tsa"][tc]
        share = f", bw: {nic['bw'][tc]}%" if how == "ets" else ""
        print(f"tc: {tc} ratelimit: unlimited, tsa: {how}{share}")
        for priority in range(8):
            if nic["prio_tc"][priority] == tc:
                print(f"\t priority:  {priority}")


def dcb_pairs(words):
    return [word.split(":") for word in words if ":" in word]


def dcb(machine, words):
    words = [word for word in words if word != "-N"]
    what, verb = words[0], words[1]
    nic = machine.nic(words[words.index("dev") + 1])
    if verb == "show":
        return dcb_show(nic, what, words)
    if what == "dcbx":
        nic["dcbx"] = "os" if "host" in words else "fw"
    elif what == "app" and verb == "flush":
        nic["map"] = {}
    elif what == "app":
        nic["map"].update({point: int(priority) for point, priority in dcb_pairs(words)})
    elif what == "ets":
        dcb_ets(nic, words)
    elif "delay" in words:
        nic["cable"] = int(words[words.index("delay") + 1])
    else:
        for priority, state in dcb_pairs(words):
            for one in range(8) if priority == "all" else [int(priority)]:
                nic["pfc"][one] = int(state == "on")
    return machine.wrote(["dcb", *words])


def dcb_ets(nic, words):
    names = {"prio-tc": ("prio_tc", int), "tc-tsa": ("tsa", str), "tc-bw": ("bw", int)}
    key, kind = None, str
    for word in words:
        if word in names:
            key, kind = names[word]
        elif key:
            index, value = word.split(":")
            nic[key][int(index)] = kind(value)
    shares = sum(bw for bw, how in zip(nic["bw"], nic["tsa"]) if how == "ets")
    if shares not in (0, 100):
        sys.exit(f"Bandwidth percentages in tc-bw sum to {shares}%, expected 100%")


def dcb_show(nic, what, words):
    def row(name, values):
        print(name, " ".join(f"{i}:{value}" for i, value in values), "")

    if what == "dcbx":
        print("host ieee " if nic["dcbx"] == "os" else "cee ieee ")
    elif what == "app" and nic["map"]:
        row("dscp-prio", sorted(nic["map"].items(), key=lambda entry: int(entry[0])))
    elif what == "ets":
        row("tc-bw", enumerate(nic["bw"]))
        row("tc-tsa", enumerate(nic["tsa"]))
        row("prio-tc", enumerate(nic["prio_tc"]))
    elif what == "pfc" and "delay" in words:
        print("delay", nic["cable"], "")
    elif what == "pfc":
        row("prio-pfc", enumerate("on" if bit else "off" for bit in nic["pfc"]))


def ethtool(machine, words):
    nic = machine.nic(words[1])
    if words[0] == "-a":
        state = "on" if nic["pause"] else "off"
        print(f"Pause parameters for {words[1]}:\nAutonegotiate:\toff\n"
              f"RX:\t\t{state}\nTX:\t\t{state}\n")
    elif words[0] == "-g":
        print(f"Ring parameters for {words[1]}:\nPre-set maximums:")
        print("RX:\t\t{}\nRX Mini:\tn/a\nRX Jumbo:\tn/a\nTX:\t\t{}".format(*nic["rings_max"]))
        print("Current hardware settings:")
        print("RX:\t\t{}\nRX Mini:\tn/a\nRX Jumbo:\tn/a\nTX:\t\t{}".format(*nic["rings"]))
    elif words[0] == "-A":
        nic["pause"] = words[3] == "on"
        machine.wrote(["ethtool", *words])
    elif words[0] == "-G":
        nic["rings"] = [int(words[3]), int(words[5])]
        machine.wrote(["ethtool", *words])


def ip(machine, words):
    name, mtu = words[3], words[5]
    (pathlib.Path(os.environ["WEIR_ROOT"]) / "sys/class/net" / name / "mtu").write_text(mtu + "\n")
    machine.wrote(["ip", *words])


if __name__ == "__main__":
    TOOLS = {"mlnx_qos": mlnx_qos, "dcb": dcb, "ethtool": ethtool, "ip": ip}
    TOOLS[pathlib.Path(sys.argv[0]).name](Machine(), sys.argv[1:])

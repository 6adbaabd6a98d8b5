"""A capture, tallied by tshark's dissection and by simple code with unlimited memory: what weir
pcap is compared with. Shares nothing with it.

    tally.py FILE…     writes FILE's tally beside it, as NAME.tally.json
"""
import collections
import json
import pathlib
import struct
import subprocess
import sys
import zlib

FIELDS = ("frame.number", "frame.len", "frame.time_epoch", "ip.src", "ip.dst", "ipv6.src",
          "ipv6.dst", "ip.dsfield", "ipv6.tclass", "infiniband.grh.sgid", "infiniband.grh.dgid",
          "infiniband.grh.tclass", "infiniband.bth.opcode", "infiniband.bth.destqp",
          "infiniband.bth.psn", "infiniband.aeth.syndrome", "macc.opcode", "frame.protocols")
OPERATIONS = (
    "SEND First", "SEND Middle", "SEND Last", "SEND Last Immediate", "SEND Only",
    "SEND Only Immediate", "RDMA WRITE First", "RDMA WRITE Middle", "RDMA WRITE Last",
    "RDMA WRITE Last Immediate", "RDMA WRITE Only", "RDMA WRITE Only Immediate",
    "RDMA READ Request", "RDMA READ Response First", "RDMA READ Response Middle",
    "RDMA READ Response Last",
    "RDMA READ Response Only", "Acknowledge", "ATOMIC Acknowledge", "Compare Swap", "Fetch Add")
TRANSPORTS = {0: "RC", 1: "UC", 2: "RD", 3: "UD", 5: "XRC"}
MASK = 0xFFFFFF


def opcode_name(code):
    if code == 0x81:
        return "CNP"
    return f"{TRANSPORTS[code >> 5]} {OPERATIONS[code & 31]}"


def dissect(path):
    """One dictionary per frame, as tshark sees it; of a tunnel the innermost headers."""
    words = ["tshark", "-r", str(path), "-T", "fields", "-E", "occurrence=l", "-E", "separator=/t",
             "-o", "ip.defragment:FALSE"]
    for field in FIELDS:
        words += ["-e", field]
    done = subprocess.run(words, capture_output=True, text=True, check=False)
    if done.returncode not in (0, 2):
        raise RuntimeError(f"tshark {path}: {done.stderr}")
    for line in done.stdout.splitlines():
        yield dict(zip(FIELDS, line.split("\t")))


def number(text):
    return int(text, 0)


def signed(difference):
    difference &= MASK
    return difference - (1 << 24) if difference >= 1 << 23 else difference


class Stream:
    """PSNs of one direction and kind, with everything remembered."""

    def __init__(self):
        self.position = None  # of the highest, unwrapped
        self.seen = set()
        self.again = 0
        self.late = 0
        self.waiting = []
        self.last = None
        self.asked = None
        self.repeating = False

    def unwrap(self, psn):
        if self.position is None:
            return psn
        return self.position + signed(psn - self.position)

    def feed(self, psn, is_read=False):
        """A READ takes the numbers of its responses: an older one asks for a part of it again."""
        at = self.unwrap(psn)
        if self.position is None or at > self.position:
            self.late += len(self.waiting)
            self.waiting = []
            if self.repeating:
                self.asked = None
            self.repeating = False
            self.position = at
        elif at in self.seen or is_read:
            if self.waiting and at == self.last + 1:
                self.again += len(self.waiting)
            else:
                self.late += len(self.waiting)
            self.waiting = []
            self.again += 1
            self.repeating = True
        elif ((self.asked is not None and at >= self.asked)
              or (self.repeating and at == self.last + 1)):
            self.again += len(self.waiting) + 1
            self.waiting = []
            self.repeating = True
        else:
            if self.waiting and at != self.last + 1:
                self.late += len(self.waiting)
                self.waiting = []
            self.waiting.append(at)
        self.seen.add(at)
        self.last = at

    def ask(self, psn):
        if self.position is not None:
            self.asked = self.unwrap(psn)

    def finish(self):
        self.late += len(self.waiting)
        self.waiting = []


def order(packets):
    """Retransmitted and out of order. For captures with one connection between two addresses."""
    requests = collections.defaultdict(Stream)
    responses = collections.defaultdict(Stream)
    by_pair = collections.defaultdict(set)
    for p in packets:
        by_pair[p["source"], p["destination"]].add(p["qp"])
    for p in packets:
        code, kind = p["opcode"], p["opcode"] & 31
        if code >> 5 not in (0, 1, 5):
            continue
        key = (p["source"], p["destination"], p["qp"])
        back = by_pair.get((p["destination"], p["source"]), set())
        other = (p["destination"], p["source"], next(iter(back))) if len(back) == 1 else None
        if kind in (13, 14, 15, 16):
            responses[key].feed(p["psn"])
        elif kind == 17 and other and p["syndrome"] == 0x60:
            requests[other].ask(p["psn"])
        elif kind not in (17, 18):
            before = requests[key].again
            requests[key].feed(p["psn"], kind == 12)
            if kind == 12 and requests[key].again > before and other:
                responses[other].ask(p["psn"])
    streams = [*requests.values(), *responses.values()]
    for stream in streams:
        stream.finish()
    return sum(s.again for s in streams), sum(s.late for s in streams)


def tally(path, with_order):
    packets, frames, pfc, pause = [], 0, 0, 0
    for row in dissect(path):
        frames += 1
        if row["macc.opcode"]:
            pfc += number(row["macc.opcode"]) == 0x0101
            pause += number(row["macc.opcode"]) == 0x0001
        if not row["infiniband.bth.opcode"]:
            continue
        is_v1 = bool(row["infiniband.grh.sgid"])
        layers = row["frame.protocols"].split(":")
        inner = [layer for layer in layers if layer in ("ip", "ipv6")][-1:]  # of a tunnel
        grh = "infiniband.grh." if is_v1 else None
        is_ipv6 = inner == ["ipv6"]
        packets.append({
            "opcode": number(row["infiniband.bth.opcode"]),
            "source": row[grh + "sgid"] if grh else row["ipv6.src" if is_ipv6 else "ip.src"],
            "destination": row[grh + "dgid"] if grh else row["ipv6.dst" if is_ipv6 else "ip.dst"],
            "tos": number(row[grh + "tclass"] if grh
                          else row["ipv6.tclass" if is_ipv6 else "ip.dsfield"]),
            "qp": number(row["infiniband.bth.destqp"]),
            "psn": number(row["infiniband.bth.psn"]),
            "syndrome": number(row["infiniband.aeth.syndrome"] or "0"),
            "bytes": number(row["frame.len"])})
    out = {"packets": frames, "roce_packets": len(packets)}
    out.update({"pfc_frames": pfc, "pause_frames": pause})
    tos = collections.Counter(f"0x{p['tos']:02x}" for p in packets)
    out["tos"] = dict(sorted(tos.items()))
    out["ce_packets"] = sum(p["tos"] & 3 == 3 for p in packets)
    out["cnp_packets"] = sum(p["opcode"] == 0x81 for p in packets)
    codes = collections.Counter(p["opcode"] for p in packets)
    out["opcodes"] = {opcode_name(code): codes[code] for code in sorted(codes)}
    nak = collections.Counter()
    for p in packets:
        if p["opcode"] & 31 == 17 and p["opcode"] != 0x81:
            kind = p["syndrome"] >> 5 & 3
            if kind == 1:
                nak["rnr"] += 1
            elif kind == 3:
                nak["sequence" if p["syndrome"] & 31 == 0 else "other"] += 1
    # tshark 4.0 does not dissect the AETH of XRC.
    if 0xB1 not in codes:
        out["nak"] = {name: nak[name] for name in ("sequence", "rnr", "other")}
    if with_order:
        out["retransmitted"], out["out_of_order"] = order(packets)
    flows = collections.defaultdict(lambda: [0, 0])
    for p in packets:
        entry = flows[p["source"], p["destination"], p["qp"]]
        entry[0] += 1
        entry[1] += p["bytes"]
    out["flows"] = [{"source": s, "destination": d, "qp": q, "packets": n, "bytes": b}
                    for (s, d, q), (n, b) in sorted(flows.items())]
    return out


def icrc_bad(path):
    """Packets with a wrong ICRC in a little-endian pcap of plain Ethernet and IP."""
    data = pathlib.Path(path).read_bytes()
    at, bad = 24, 0
    while at + 16 <= len(data):
        captured = struct.unpack("<I", data[at + 8:at + 12])[0]
        frame = data[at + 16:at + 16 + captured]
        at += 16 + captured
        kind, ip = frame[12:14], bytearray(frame[14:])
        if kind == b"\x08\x00" and ip[9] == 17:
            ip, udp = ip[:struct.unpack(">H", ip[2:4])[0]], 20
            ip[1] = ip[8] = 0xFF
            ip[10:12] = b"\xff\xff"
        elif kind == b"\x86\xdd" and ip[6] == 17:
            ip, udp = ip[:40 + struct.unpack(">H", ip[4:6])[0]], 40
            ip[0] |= 0x0F
            ip[1:4] = b"\xff\xff\xff"
            ip[7] = 0xFF
        else:
            continue
        if struct.unpack(">H", ip[udp + 2:udp + 4])[0] != 4791:
            continue
        ip[udp + 6:udp + 8] = b"\xff\xff"
        ip[udp + 12] = 0xFF
        bad += zlib.crc32(b"\xff" * 8 + bytes(ip[:-4])) != struct.unpack("<I", ip[-4:])[0]
    return bad


def main():
    for name in sys.argv[1:]:
        path = pathlib.Path(name)
        out = tally(path, with_order=True)
        out["icrc_bad"] = icrc_bad(path)
        text = json.dumps(out, indent=1) + "\n"
        path.with_suffix(".tally.json").write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()

"""weir pcap --live on the loopback interface, with the frames of a real capture sent there.

    live_test.py WEIR CAPTURE     skipped (77) where raw sockets are not permitted
"""
import json
import pathlib
import socket
import struct
import subprocess
import sys
import time


def frames(path):
    data = pathlib.Path(path).read_bytes()
    at = 24
    while at + 16 <= len(data):
        captured = struct.unpack("<I", data[at + 8:at + 12])[0]
        yield data[at + 16:at + 16 + captured]
        at += 16 + captured


def main():
    weir, capture = sys.argv[1:3]
    try:
        sender = socket.socket(socket.AF_PACKET, socket.SOCK_RAW)
        sender.bind(("lo", 0))
    except OSError as error:
        print(f"skipped: no raw socket on lo ({error})")
        raise SystemExit(77)
    live = subprocess.Popen([weir, "pcap", "--live", "lo", "--duration", "2s", "--json"],
                            stdout=subprocess.PIPE, text=True, cwd="/")
    sent = list(frames(capture))
    start = time.monotonic()
    while live.poll() is None and time.monotonic() - start < 30:
        for frame in sent:
            sender.send(frame)
        # Read what it has: its answer is longer than a pipe holds.
        if time.monotonic() - start > 2.5:
            break
    out, _ = live.communicate(timeout=30)
    result = json.loads(out)
    assert result["source"] == "lo", result["source"]
    assert result["roce_packets"] >= len(sent), result["roce_packets"]
    assert result["icrc_bad"] == 0, result["icrc_bad"]
    assert result["icrc_good"] == result["roce_packets"], result["icrc_good"]
    assert result["tos"] == {"0x6a": result["roce_packets"]}, result["tos"]
    missing = subprocess.run([weir, "pcap", "--live", "no-such-if"], capture_output=True, text=True,
                             check=False, cwd="/")
    assert missing.returncode == 4 and "lo" in missing.stderr, missing.stderr
    print(f"{result['roce_packets']} RoCE packets captured on lo")


main()

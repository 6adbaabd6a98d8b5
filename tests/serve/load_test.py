#!/usr/bin/env python3
"""What a scrape of `weir serve` costs, and that it does not grow.  COVERS K1

    load_test.py WEIR [SCRAPES]

A recorded host with eight ConnectX is scraped again and again: CPU time per scrape, against the
loop of cat and ethtool that people write; resident memory; 64 scrapers at once; 60 that ask for
megabytes and do not take them.
"""
import http.client
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
import threading
import unittest

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
RECORDED = ROOT / "tests/data/host/mlx5-ofed"
NICS = 8
SCRAPES = 800
WEIR = ""


def eight_nics(folder):
    """The recorded host with its one NIC eight times."""
    shutil.copytree(RECORDED, folder)
    lines = (RECORDED / "tree.tsv").read_text(encoding="utf-8").splitlines()
    own = [line for line in lines if re.search(r"mlx5_0|eth2|0000:18:00|uverbs0", line)]
    more = []
    for nic in range(1, NICS):
        for line in own:
            for old, new in (("mlx5_0", f"mlx5_{nic}"), ("eth2", f"eth{nic + 2}"),
                             ("0000:18:00", f"0000:{0x80 + nic:02x}:00"),
                             ("uverbs0", f"uverbs{nic}")):
                line = line.replace(old, new)
            if line not in lines and line not in more:
                more.append(line)
        shutil.copy(folder / "ethtool/eth2.txt", folder / f"ethtool/eth{nic + 2}.txt")
    (folder / "tree.tsv").write_text("\n".join(lines + more) + "\n", encoding="utf-8")


def files_of(folder, to):
    """The counters of the recording as files, for a shell to read."""
    to.mkdir()
    for line in (folder / "tree.tsv").read_text(encoding="utf-8").splitlines():
        words = line.split("\t")
        if words[0] != "file" or not re.search(r"/ports/1/(hw_)?counters/", words[1]):
            continue
        path = to / words[1].split("/infiniband/")[1]
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(words[2].replace("\\n", "\n"), encoding="utf-8")


# As in the guides: a loop over the files, and what ethtool prints, filtered. `cat` stands for
# ethtool, which costs more.
LOOP = """for d in "$1"/mlx5_*; do
  for f in $d/ports/1/hw_counters/* $d/ports/1/counters/*; do
    echo "$(basename $f) $(cat $f)"
  done
done
for e in "$2"/*.txt; do cat $e | grep -iE 'prio|pfc|pause|ecn|cnp'; done"""


class Server:
    def __init__(self, *words):
        self.process = subprocess.Popen(
            [WEIR, "serve", "--listen", "127.0.0.1:0", "--judge-every", "1h", *map(str, words)],
            stdout=subprocess.PIPE, text=True)
        self.port = int(re.search(r":(\d+)/metrics", self.process.stdout.readline())[1])

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.process.send_signal(signal.SIGTERM)
        self.process.wait(20)
        self.process.stdout.close()

    def scrape(self):
        client = http.client.HTTPConnection("127.0.0.1", self.port, timeout=60)
        client.request("GET", "/metrics")
        text = client.getresponse().read().decode()
        client.close()
        return text

    def seconds(self):
        text = pathlib.Path(f"/proc/{self.process.pid}/stat").read_text(encoding="utf-8")
        fields = text.rsplit(")", 1)[1].split()
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")

    def memory(self, kind="VmRSS"):
        status = pathlib.Path(f"/proc/{self.process.pid}/status").read_text(encoding="utf-8")
        return int(re.search(rf"{kind}:\s+(\d+)", status)[1])


class Load(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.scratch = pathlib.Path(folder.name)
        self.host = self.scratch / "host"
        eight_nics(self.host)

    def shell_seconds(self, times):
        files_of(self.host, self.scratch / "files")
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        for _ in range(times):
            out = subprocess.run(
                ["sh", "-c", LOOP, "sh", self.scratch / "files", self.host / "ethtool"],
                capture_output=True, text=True, check=True)
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        self.assertGreater(out.stdout.count("\n"), NICS * 40)
        return (after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime) / times

    def test_a_scrape_is_cheap_and_memory_stays(self):
        with Server("--root", self.host) as server:
            text = server.scrape()
            devices = set(re.findall(r'weir_port_info{[^}]*device="(\w+)"', text))
            self.assertEqual(len(devices), NICS)
            for _ in range(200):
                server.scrape()
            begin, memory = server.seconds(), server.memory()
            for _ in range(SCRAPES):
                server.scrape()
            each = (server.seconds() - begin) / SCRAPES
            grown = server.memory() - memory
        shell = self.shell_seconds(5)
        print(f"{NICS} NICs, {text.count(chr(10))} lines: {each * 1000:.1f} ms of CPU per scrape, "
              f"{shell / each:.0f} times less than the loop ({shell * 1000:.0f} ms); "
              f"{memory} KiB, {grown:+} KiB after {SCRAPES} more scrapes")
        if os.environ.get("WEIR_FIGURES"):
            self.assertLessEqual(each, 0.025)
        self.assertGreaterEqual(shell / each, 20)
        self.assertLess(grown, 4096)

    def test_64_scrapers_at_once_are_answered(self):
        answered = []

        def ask(server):
            for _ in range(3):
                answered.append("weir_port_up{" in server.scrape())

        with Server("--root", self.host) as server:
            threads = [threading.Thread(target=ask, args=(server,)) for _ in range(64)]
            for thread in threads:
                thread.start()
            for thread in threads:
                thread.join()
        self.assertEqual(answered.count(True), 192)

    def test_60_readers_that_do_not_read_take_bounded_memory(self):
        """A fabric with every counter answers megabytes: who does not take them is refused."""
        design = self.scratch / "fabric.yaml"
        for words in (("init", "--template", "rail256", "--output", design),
                      ("lab", "up", design, "--dir", self.scratch / "lab")):
            subprocess.run([WEIR, *map(str, words)], check=True, capture_output=True)
        with Server("--lab", self.scratch / "lab", "--load", "none", "--profile", "full",
                    "--interval", "1min") as server:
            size = len(server.scrape())
            before = server.memory("VmHWM")
            clients = []
            for _ in range(60):
                client = socket.socket()
                client.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
                client.settimeout(120)
                client.connect(("127.0.0.1", server.port))
                client.sendall(b"GET /metrics HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n")
                clients.append(client)
            heads = [client.recv(2048) for client in clients]
            grown = server.memory("VmHWM") - before
            statuses = [head.split(b" ")[1] for head in heads if head]
            refused = [head for head in heads if b" 503 " in head]
            for client in clients:
                client.close()
            print(f"60 readers of {size / 1e6:.1f} MB that do not read: {statuses.count(b'200')} "
                  f"answered, {len(refused)} refused, {grown} KiB more at most")
            self.assertEqual(set(statuses), {b"200", b"503"})
            self.assertIn(b"too many answers are not taken yet", b"".join(refused))
            # 64 MiB of answers, and a few more while they are made.
            self.assertLess(grown, (64 << 10) + 8 * size // 1024 + (64 << 10))
            self.assertIn("weir_port_up{", server.scrape(), "the next one is answered")


if __name__ == "__main__":
    WEIR = os.path.abspath(sys.argv.pop(1))
    if len(sys.argv) > 1 and sys.argv[1].isdigit():
        SCRAPES = int(sys.argv.pop(1))
    unittest.main()

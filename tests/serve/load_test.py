#!/usr/bin/env python3
"""What a scrape of `weir serve` costs, and that it does not grow.  COVERS K1

    load_test.py WEIR [SCRAPES]

A recorded host with eight ConnectX is scraped again and again: CPU time per scrape, against the
loop of cat and ethtool that people write; resident memory; 64 scrapers at once.
"""
import http.client
import os
import pathlib
import re
import resource
import shutil
import signal
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

    def memory(self):
        status = pathlib.Path(f"/proc/{self.process.pid}/status").read_text()
        return int(re.search(r"VmRSS:\s+(\d+)", status)[1])


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


if __name__ == "__main__":
    WEIR = os.path.abspath(sys.argv.pop(1))
    if len(sys.argv) > 1 and sys.argv[1].isdigit():
        SCRAPES = int(sys.argv.pop(1))
    unittest.main()

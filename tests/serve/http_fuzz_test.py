#!/usr/bin/env python3
"""Damaged requests to the real `weir serve`, and damaged web configurations.  COVERS K1, K2

    http_fuzz_test.py WEIR [SECONDS [SEED]]

Requests of tests/fuzz/corpus/http are cut, spliced, repeated and overwritten, and sent over
loopback, some of them in pieces: every answer is one of HTTP and no failure of the server's own,
data comes for the token alone, and the server stays as large as it was. Then files of
tests/fuzz/corpus/web_config, damaged in the same way, at start. Without SECONDS some seconds of
each (a seed that stays); the fuzz targets http and web_config do the same with coverage.
"""
import os
import pathlib
import random
import re
import signal
import socket
import subprocess
import sys
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
WORDS = [b"\r\n", b"\r\n\r\n", b"\0", b"\xff", b": ", b"chunked",
         b"Transfer-Encoding: chunked\r\n", b"Content-Length: 99999999999999999999\r\n",
         b"Content-Length: -1\r\n", b"%00", b"%2e%2e/", b"../", b"?", b"&", b"=", b"@TOKEN@",
         b"HTTP/9.9", b"Expect: 100-continue\r\n", b"Range: bytes=0-0,1-1,2-2\r\n",
         b"Accept-Encoding: br, gzip\r\n", b"Host: evil.example\r\n", b"Connection: Upgrade\r\n",
         b"18446744073709551616", b"-1", b"A" * 5000, b"\n " * 300]


def damaged(rng, seeds):
    data = bytearray(rng.choice(seeds))
    for _ in range(rng.randint(1, 6)):
        at = rng.randint(0, len(data))
        kind = rng.randint(0, 6)
        if kind == 0 and data:
            data[at % len(data)] = rng.randint(0, 255)
        elif kind == 1:
            data[at:at] = rng.choice(WORDS)
        elif kind == 2:
            del data[at:at + rng.randint(1, 20)]
        elif kind == 3:
            other = rng.choice(seeds)
            data[at:] = other[rng.randint(0, len(other)):]
        elif kind == 4:
            data[at:at] = data[max(0, at - 40):at] * rng.randint(1, 30)
        elif kind == 5:
            data = data[:at]
        else:
            data[at:at] = bytes(rng.randint(0, 255) for _ in range(rng.randint(1, 12)))
    return bytes(data[:40000])


class Served:
    def __init__(self, weir, folder):
        for words in (("init", "--template", "pair", "--output", folder / "pair.yaml"),
                      ("lab", "up", folder / "pair.yaml", "--dir", folder / "lab")):
            subprocess.run([weir, *map(str, words)], check=True, capture_output=True)
        self.process = subprocess.Popen(
            [weir, "serve", "--lab", folder / "lab", "--load", "none", "--listen", "127.0.0.1:0",
             "--judge-every", "1h"], stdout=subprocess.PIPE, text=True)
        self.port = int(re.search(r":(\d+)/", self.process.stdout.readline())[1])
        self.token = re.search(r"token=(\w+)", self.process.stdout.readline())[1].encode()

    def memory(self):
        status = pathlib.Path(f"/proc/{self.process.pid}/status").read_text(encoding="utf-8")
        return int(re.search(r"VmRSS:\s+(\d+)", status)[1])

    def send(self, request, is_cut):
        with socket.create_connection(("127.0.0.1", self.port), timeout=60) as client:
            try:
                if is_cut:
                    client.sendall(request[:len(request) // 2])
                    time.sleep(0.002)
                    client.sendall(request[len(request) // 2:])
                else:
                    client.sendall(request)
                client.shutdown(socket.SHUT_WR)
                return client.recv(1 << 16)
            except OSError as error:
                if isinstance(error, TimeoutError):
                    raise
                return b""

    def close(self):
        self.process.send_signal(signal.SIGTERM)
        self.process.wait(60)
        self.process.stdout.close()


def fuzz_requests(weir, folder, rng, seconds):
    seeds = [path.read_bytes() for path in sorted((ROOT / "tests/fuzz/corpus/http").iterdir())]
    served = Served(weir, folder)
    try:
        for seed in seeds:
            served.send(seed.replace(b"@TOKEN@", served.token), False)
        before = served.memory()
        grown = []  # in KiB, after each tenth of the time
        count = answered = 0
        begin = time.monotonic()
        while len(grown) < 10:
            if time.monotonic() >= begin + seconds * (len(grown) + 1) / 10:
                grown.append(served.memory() - before)
            request = damaged(rng, seeds).replace(b"@TOKEN@", served.token)
            answer = served.send(request, rng.random() < 0.05)
            count += 1
            answered += bool(answer)
            if served.process.poll() is not None:
                code = served.process.returncode
                raise AssertionError(f"the server ended with {code}: {request!r}")
            if answer and not answer.startswith(b"HTTP/1.1 "):
                raise AssertionError(f"{request!r}\nis answered {answer[:200]!r}")
            if answer[9:12] == b"500":
                raise AssertionError(f"{request!r}\nfails: {answer[:200]!r}")
            if b"gpu" in answer and b"200" == answer[9:12] and served.token not in request and \
                    b"weir_" not in answer:
                raise AssertionError(f"data without the token: {request!r}\n{answer[:200]!r}")
        print(f"requests: {count} damaged, {answered} answered; the server grew by (KiB, after "
              f"each tenth) {', '.join(map(str, grown))}")
        if max(grown) > 64 << 10:
            raise AssertionError(f"the server grew by {max(grown)} KiB")
    finally:
        served.close()


def fuzz_web_configs(weir, folder, rng, seconds):
    corpus = ROOT / "tests/fuzz/corpus/web_config"
    seeds = [path.read_bytes() for path in sorted(corpus.iterdir())]
    file = folder / "web.yml"
    codes = {}
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        text = damaged(rng, seeds)
        file.write_bytes(text)
        # An address of no machine: whatever the file says, nothing is listened on.
        done = subprocess.run([weir, "serve", "--root", str(ROOT / "tests/data/host/mlx5-ofed"),
                               "--listen", "192.0.2.1:1", "--web-config", str(file)],
                              capture_output=True, timeout=120)
        codes[done.returncode] = codes.get(done.returncode, 0) + 1
        if done.returncode not in (2, 3):
            raise AssertionError(f"{text!r}\nends with {done.returncode}: {done.stderr[-300:]!r}")
    print(f"web configurations: {sum(codes.values())} damaged, refused with {codes}")


def main():
    weir = os.path.abspath(sys.argv[1])
    seconds = float(sys.argv[2]) if len(sys.argv) > 2 else 10
    seed = int(sys.argv[3]) if len(sys.argv) > 3 else 1
    with tempfile.TemporaryDirectory(prefix="weir-http-") as folder:
        rng = random.Random(seed)
        fuzz_requests(weir, pathlib.Path(folder), rng, seconds)
        fuzz_web_configs(weir, pathlib.Path(folder), rng, seconds)


if __name__ == "__main__":
    main()

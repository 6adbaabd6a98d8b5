"""Runs of a design through `weir tune worker`: what a tuning claims, measured by other seeds."""
import json
import subprocess

AT_ONCE = 64


class Worker:
    """A worker process; `metrics()` makes runs."""

    def __init__(self, weir, design, file="fabric.yaml"):
        self.process = subprocess.Popen([weir, "tune", "worker"], stdin=subprocess.PIPE,
                                        stdout=subprocess.PIPE, text=True)
        self._say({"design": file, "text": design, "digest": ""})
        ready = self._hear()
        assert "ready" in ready, ready

    def _say(self, *lines):
        self.process.stdin.write("".join(json.dumps(line) + "\n" for line in lines))
        self.process.stdin.flush()

    def _hear(self):
        line = self.process.stdout.readline()
        assert line, "the worker ended"
        return json.loads(line)

    def metrics(self, settings, workload, seeds, limit_us=10_000_000):
        """One row of metrics for each seed."""
        seeds = list(seeds)
        out = []
        # Some at a time: neither side waits for the other, and no pipe is filled.
        for first in range(0, len(seeds), AT_ONCE):
            some = seeds[first:first + AT_ONCE]
            self._say(*({"run": number, "settings": settings, "workloads": [workload],
                         "faults": [], "seed": seed, "limit_us": limit_us}
                        for number, seed in enumerate(some)))
            for number in range(len(some)):
                reply = self._hear()
                assert reply["run"] == number and "metrics" in reply, reply
                out.append(reply["metrics"])
        return out

    def close(self):
        self.process.stdin.close()
        self.process.stdout.close()
        return self.process.wait(timeout=10)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()

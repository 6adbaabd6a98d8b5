"""Names what a test does, one line per step, and keeps going after a step that failed."""
import json
import time
import traceback


class Steps:
    def __init__(self, machine):
        self.machine = machine
        self.last = None  # the last command, for the report of a failure
        self.failed = 0

    def run(self, steps):
        """Every step, in order; how many failed."""
        for step in steps:
            sentence = " ".join(step.__doc__.split()).removesuffix(".")
            began = time.monotonic()
            problem = more = None
            try:
                more = step(self)
            except (AssertionError, LookupError, TypeError, ValueError) as error:
                problem = error
                self.failed += 1
            print(f"{'FAILED' if problem else 'ok':6} {time.monotonic() - began:5.1f} s  {sentence}"
                  f"{': ' + more if more else ''}", flush=True)
            if problem:
                self.explain(problem)
        return self.failed

    def explain(self, problem):
        where = traceback.extract_tb(problem.__traceback__)
        lines = [f"{frame.name}, line {frame.lineno}: {frame.line}" for frame in where[1:]]
        text = f"{type(problem).__name__}: {problem}\n" + "\n".join(lines)
        if self.last is not None:
            text += f"\nthe last command:\n{str(self.last)[-6000:]}"
        print("       " + text.replace("\n", "\n       "), flush=True)

    def sh(self, command, status=0, seconds=300):
        """A script in the guest that must end with `status` (None: any)."""
        self.last = self.machine.run(command, seconds)
        if status is not None:
            assert self.last.status == status, f"exit {self.last.status}, not {status}"
        return self.last

    def weir(self, words, status=0, prefix="", seconds=300):
        """weir with --json, before a command that follows "--": the object it printed."""
        verb, dashes, command = words.partition(" -- ")
        done = self.sh(f"{prefix}weir {verb} --json{dashes}{command}", status, seconds)
        return json.loads(done.out)


def equal(found, wanted, what=""):
    assert found == wanted, f"{what}: expected {wanted!r}, found {found!r}"


def between(found, least, most, what):
    assert least <= found <= most, f"{what}: expected {least} to {most}, found {found}"


def contains(whole, part):
    assert part in whole, f"expected {part!r} in {whole!r}"

#!/usr/bin/env python3
"""The README's tour is real: every `$ weir …` in a ```console block is run and compared.

Blocks run in order in one empty folder, so that a later one may use what an earlier one wrote. A
line that is only "…" stands for any number of lines. A command other than `weir` must be
one of the few that write or edit a file (printf, sed). `--write` puts the real output in place,
except with "…".
"""
import argparse
import difflib
import pathlib
import re
import shlex
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parent.parent
BLOCK = re.compile(r"(?<=^```console\n)(.*?)(?=^```$)", re.DOTALL | re.MULTILINE)
ALLOWED = {"weir", "sed", "cat", "head", "printf"}


def run(line, binary, folder):
    program = shlex.split(line)[0]
    if program not in ALLOWED:
        raise SystemExit(f"README: `{program}` cannot be part of the tour: {line}")
    environment = {"LC_ALL": "C.UTF-8", "PATH": f"{binary.parent}:/usr/bin:/bin", "TERM": "dumb"}
    done = subprocess.run(["sh", "-c", line], cwd=folder, env=environment, stdin=subprocess.DEVNULL,
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=60, check=False)
    return done.stdout.decode("utf-8")


def steps(block):
    """(command, expected output) pairs."""
    pairs = []
    for line in block.splitlines(keepends=True):
        if line.startswith("$ "):
            pairs.append([line[2:].rstrip("\n"), ""])
        elif pairs:
            pairs[-1][1] += line
        else:
            raise SystemExit(f"README: a console block starts with output: {line}")
    return pairs


def matches(expected, found):
    pattern = "".join(r"(.*\n)*" if line.strip() == "…" else re.escape(line)
                      for line in expected.splitlines(keepends=True))
    return re.fullmatch(pattern, found) is not None


def main():
    arguments = argparse.ArgumentParser(description=__doc__)
    arguments.add_argument("binary", type=pathlib.Path)
    arguments.add_argument("--readme", type=pathlib.Path, default=ROOT / "README.md")
    arguments.add_argument("--write", action="store_true")
    options = arguments.parse_args()
    text = options.readme.read_text(encoding="utf-8")
    wrong = []
    with tempfile.TemporaryDirectory() as folder:
        def check(block):
            out = ""
            for command, expected in steps(block.group(0)):
                found = run(command, options.binary.resolve(), folder)
                if options.write and "…" not in expected:
                    expected = found
                if not matches(expected, found):
                    diff = difflib.unified_diff(expected.splitlines(True), found.splitlines(True),
                                                "README.md", "real output")
                    wrong.append(f"$ {command}\n" + "".join(diff))
                out += f"$ {command}\n{expected}"
            return out
        new = BLOCK.sub(check, text)
    if options.write:
        options.readme.write_text(new, encoding="utf-8")
    if not BLOCK.search(text):
        wrong.append("README.md has no console block")
    for problem in wrong:
        print(problem)
    print(f"README tour: {'wrong' if wrong else 'every output is real'}")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())

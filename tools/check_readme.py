#!/usr/bin/env python3
"""The outputs in README.md and docs/tour.md are real: each `$ weir …` in a ```console block is run.

The blocks of a page run in order in one empty folder, so that a later one may use what an earlier
one wrote. A line that is only "…" stands for any number of lines. A command other than `weir` must
be one of the few that write or edit a file (printf, sed). `--write` puts the real output in place,
except with "…". The README must also stay short.
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
PAGES = [ROOT / "README.md", ROOT / "docs/tour.md"]
README_MAX_BYTES = 9000
BLOCK = re.compile(r"(?<=^```console\n)(.*?)(?=^```$)", re.DOTALL | re.MULTILINE)
ALLOWED = {"weir", "sed", "cat", "head", "printf"}


def run(line, binary, folder):
    program = shlex.split(line)[0]
    if program not in ALLOWED:
        raise SystemExit(f"`{program}` cannot be part of a console block: {line}")
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
            raise SystemExit(f"a console block starts with output: {line}")
    return pairs


def matches(expected, found):
    pattern = "".join(r"(.*\n)*" if line.strip() == "…" else re.escape(line)
                      for line in expected.splitlines(keepends=True))
    return re.fullmatch(pattern, found) is not None


def check(page, binary, write=False):
    """The problems of one page; with `write`, outputs are replaced first."""
    text = page.read_text(encoding="utf-8")
    problems = []
    with tempfile.TemporaryDirectory() as folder:
        def replay(block):
            out = ""
            for command, expected in steps(block.group(0)):
                found = run(command, binary, folder)
                if write and "…" not in expected:
                    expected = found
                if not matches(expected, found):
                    diff = difflib.unified_diff(expected.splitlines(True), found.splitlines(True),
                                                page.name, "real output")
                    problems.append(f"$ {command}\n" + "".join(diff))
                out += f"$ {command}\n{expected}"
            return out
        new = BLOCK.sub(replay, text)
    if write:
        page.write_text(new, encoding="utf-8")
    if not BLOCK.search(text):
        problems.append(f"{page.name} has no console block")
    size = len(new.encode("utf-8"))
    if page.name == "README.md" and size > README_MAX_BYTES:
        problems.append(f"README.md has {size} bytes, the limit is {README_MAX_BYTES}: "
                        "details belong in docs/")
    return problems


def main():
    arguments = argparse.ArgumentParser(description=__doc__)
    arguments.add_argument("binary", type=pathlib.Path)
    arguments.add_argument("pages", type=pathlib.Path, nargs="*", default=PAGES)
    arguments.add_argument("--write", action="store_true")
    options = arguments.parse_args()
    failed = False
    for page in options.pages:
        problems = check(page, options.binary.resolve(), options.write)
        for problem in problems:
            print(problem)
        print(f"{page.name}: {'wrong' if problems else 'every output is real'}")
        failed = failed or bool(problems)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())

#!/usr/bin/env python3
"""`weir explain` knows every environment variable that weir renders or judges.

The names are taken from the sources that render and judge, so a new one without an explanation
fails here. Usage: explain_variables_test.py WEIR
"""
import pathlib
import re
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
SOURCES = ["src/render/config", "src/diagnose/job"]
NAME = re.compile(r'"((?:NCCL|UCX|NVSHMEM|GLOO|TORCH)_[A-Z0-9_]+)"')


def main():
    names = set()
    for folder in SOURCES:
        for path in (ROOT / folder).glob("*.cc"):
            if not path.name.endswith("_test.cc"):
                names |= set(NAME.findall(path.read_text(encoding="utf-8")))
    names = {name for name in names if not name.endswith("_")}  # a prefix
    if len(names) < 30:
        sys.exit(f"only {len(names)} names found: the sources are elsewhere now")
    unknown = []
    for name in sorted(names):
        done = subprocess.run([sys.argv[1], "explain", name], capture_output=True, text=True,
                              check=False)
        if done.returncode != 0 or not done.stdout.startswith(f"{name}: "):
            unknown.append(name)
    if unknown:
        sys.exit("not explained: " + ", ".join(unknown))
    print(f"{len(names)} variables are explained")


if __name__ == "__main__":
    main()

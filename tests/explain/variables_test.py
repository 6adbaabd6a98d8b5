#!/usr/bin/env python3
"""`weir explain NAME` knows every variable of a job that weir renders or judges.

    variables_test.py WEIR SOURCE

The names are taken from the sources that render and judge, so a new one cannot be forgotten.
"""
import pathlib
import re
import subprocess
import sys

FOLDERS = ("src/diagnose/job", "src/render")
NAME = re.compile(r'"((?:NCCL|UCX|GLOO|TORCH|RCCL)_[A-Z0-9_]*[A-Z0-9])(?:"|=)')


def names_in(source):
    """Variables that stand as literals in the sources, tests left out."""
    found = set()
    for folder in FOLDERS:
        for path in sorted((source / folder).rglob("*.cc")):
            if not path.name.endswith("_test.cc"):
                found.update(NAME.findall(path.read_text(encoding="utf-8")))
    return sorted(found)


def main():
    """Exits 1 where a name is not explained."""
    weir = str(pathlib.Path(sys.argv[1]).resolve())
    names = names_in(pathlib.Path(sys.argv[2]))
    missing = [name for name in names
               if subprocess.run([weir, "explain", name], capture_output=True,
                                 check=False).returncode != 0]
    print(f"{len(names) - len(missing)} of {len(names)} variables are explained")
    for name in missing:
        print(f"  weir explain {name}: not known")
    return 1 if missing or len(names) < 20 else 0


if __name__ == "__main__":
    sys.exit(main())

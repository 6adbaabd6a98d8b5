#!/usr/bin/env python3
"""Every finding of the catalogue has a rule: a unit test saw it raised, another case spared.

Usage: shown_test.py SOURCE_DIR SHOWN_DIR BINARY...

The tests note what they saw (src/finding/shown.h) in SHOWN_DIR, one file per binary. Where one has
not run since the build, nothing can be said: exit status 77.
"""
import pathlib
import re
import sys

ID = re.compile(r'\.id = "([^"]+)"')


def catalogue(source):
    """The ids of the catalogue."""
    ids = set()
    for path in sorted((source / "src" / "finding").glob("catalog_*.cc")):
        ids |= set(ID.findall(path.read_text(encoding="utf-8")))
    return ids


def shown(files):
    """What the tests saw: {"raised": ids, "spared": ids}."""
    seen = {"raised": set(), "spared": set()}
    for path in files:
        for line in path.read_text(encoding="utf-8").splitlines():
            how, _, finding = line.partition(" ")
            if how in seen:
                seen[how].add(finding)
    return seen


def problems(ids, seen):
    """A line per finding that lacks a case."""
    out = [f"{finding}: no unit test raises it" for finding in sorted(ids - seen["raised"])]
    return out + [f"{finding}: no unit test shows a case near it that is spared"
                  for finding in sorted(ids - seen["spared"])]


def main():
    assert problems({"a.b"}, {"raised": {"a.b"}, "spared": set()}) != []
    assert problems({"a.b"}, {"raised": {"a.b"}, "spared": {"a.b"}}) == []
    ids = catalogue(pathlib.Path(sys.argv[1]))
    assert len(ids) > 100, "the catalogue was not found"
    files = [pathlib.Path(sys.argv[2]) / name for name in sys.argv[3:]]
    missing = [path.name for path in files if not path.exists()]
    if missing:
        print("not run yet:", ", ".join(missing))
        return 77
    found = problems(ids, shown(files))
    print("\n".join(found) or f"{len(ids)} findings, each raised and spared")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())

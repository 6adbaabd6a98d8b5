#!/usr/bin/env python3
"""docs/coverage.md: each row of the mission, and the tests that name it.

The rows and their status are docs/mission-rows.tsv. A test names its rows by
  COVERS("A3", "F2");    first statement of a GoogleTest (src/**/*_test.cc, tests/**/*.cc)
  rows                   a file of ids in tests/golden/<case>/
  # rows: A3 F2          in any other test below tests/ (Python, shell)

`--check` fails if the page is stale, if a test names a row that does not exist, or if a row claimed
done or partial has no test. `--write` writes the page (`make coverage`).
"""
import argparse
import pathlib
import re
import sys

STATUSES = ("done", "partial", "planned")
ROWS_FILE = "docs/mission-rows.tsv"
PAGE = "docs/coverage.md"

GOOGLE_TEST = re.compile(r"^(?:TEST|TEST_F|TEST_P|TYPED_TEST)\(\s*(\w+),\s*(\w+)\s*\)",
                         re.MULTILINE)
COVERS = re.compile(r"\bCOVERS\(([^)]*)\)")
ROWS_COMMENT = re.compile(r"^\s*# rows:(.*)$", re.MULTILINE)
PYTHON_TEST = re.compile(r"^\s*def (test_\w+)|^class (\w+)", re.MULTILINE)
ID = re.compile(r"[A-Z]\d+")


class Row:
    def __init__(self, id_, section, what, status, missing=""):
        self.id, self.section, self.what, self.status = id_, section, what, status
        self.missing = missing  # what a partial row lacks, and why
        self.tests = []  # (name, path from the root), in the order of the files


def read_rows(root, problems):
    rows = {}
    lines = (root / ROWS_FILE).read_text(encoding="utf-8").splitlines()
    for number, line in enumerate(lines[1:], 2):
        cells = line.split("\t")
        if len(cells) not in (4, 5) or cells[3] not in STATUSES:
            problems.append(f"{ROWS_FILE}:{number}: expected id, section, what, "
                            f"{'|'.join(STATUSES)}, and for partial what is missing, apart by tabs")
        elif (cells[3] == "partial") != (len(cells) == 5):
            problems.append(f"{ROWS_FILE}:{number}: partial rows, and no others, say what is "
                            "missing")
        elif cells[0] in rows:
            problems.append(f"{ROWS_FILE}:{number}: {cells[0]} is there twice")
        else:
            rows[cells[0]] = Row(*cells)
    return rows


def google_tests(text):
    """(test name, its ids)."""
    starts = list(GOOGLE_TEST.finditer(text))
    for index, start in enumerate(starts):
        end = starts[index + 1].start() if index + 1 < len(starts) else len(text)
        for covers in COVERS.finditer(text, start.end(), end):
            yield f"{start.group(1)}.{start.group(2)}", ID.findall(covers.group(1))


def commented_tests(path, text):
    """A `# rows:` line stands for the test function or class after it, or for the whole file."""
    for comment in ROWS_COMMENT.finditer(text):
        following = PYTHON_TEST.search(text, comment.end())
        name = path.name
        if following and not text[comment.end():following.start()].strip():
            name = following.group(1) or following.group(2)
        yield name, ID.findall(comment.group(1))


def named_tests(root):
    """(name, path, ids) of every test that names rows."""
    sources = [p for top in ("src", "tests") for p in (root / top).rglob("*") if p.is_file()]
    for path in sorted(sources):
        relative = path.relative_to(root)
        if relative.parts[:2] == ("tests", "data") or "corpus" in relative.parts:
            continue
        if path.suffix == ".cc":
            for name, ids in google_tests(path.read_text(encoding="utf-8")):
                yield name, relative, ids
        elif path.name == "rows" and relative.parts[:2] == ("tests", "golden"):
            case = "/".join(relative.parts[2:-1])
            yield f"golden {case}", relative.parent, ID.findall(path.read_text(encoding="utf-8"))
        elif path.suffix in (".py", ".sh"):
            for name, ids in commented_tests(path, path.read_text(encoding="utf-8")):
                yield name, relative, ids


def gather(root):
    problems = []
    rows = read_rows(root, problems)
    for name, path, ids in named_tests(root):
        for id_ in ids:
            if id_ not in rows:
                problems.append(f"{path}: {name} names row {id_}, which {ROWS_FILE} does not have")
            elif (name, path) not in rows[id_].tests:
                rows[id_].tests.append((name, path))
    for row in rows.values():
        if row.status != "planned" and not row.tests:
            problems.append(f"{ROWS_FILE}: {row.id} is claimed {row.status} and no test names it")
    return rows, problems


def links(tests):
    """The tests of a row, one link per file, the names after it."""
    by_path = {}
    for name, path in tests:
        by_path.setdefault(path, []).append(name)
    cells = []
    for path, names in by_path.items():
        if path.parts[:2] == ("tests", "golden"):
            cells.append(f"[{names[0]}](../{path.as_posix()})")
        else:
            cells.append(f"[{path.name}](../{path.as_posix()}): {', '.join(names)}")
    return "<br>".join(cells)


def page(rows):
    count = {status: sum(row.status == status for row in rows.values()) for status in STATUSES}
    lines = [
        "# Coverage: each row of the mission and the tests that name it",
        "",
        f"Generated by `make coverage` from [{ROWS_FILE.split('/')[-1]}](mission-rows.tsv) and the "
        "tests; do not edit.",
        "",
        f"{len(rows)} rows: " + ", ".join(f"{count[status]} {status}" for status in STATUSES) + ".",
        "",
    ]
    section = None
    for row in rows.values():
        if row.section != section:
            section = row.section
            if lines[-1]:
                lines.append("")
            lines += [f"## {section}", "", "| row | what | status | tests | where |",
                      "|---|---|---|---:|---|"]
        status = f"{row.status}: {row.missing}" if row.missing else row.status
        lines.append(f"| {row.id} | {row.what} | {status} | {len(row.tests)} | "
                     f"{links(row.tests)} |".replace("|  |", "| |"))
    return "\n".join(lines) + "\n"


def check(root):
    rows, problems = gather(root)
    committed = root / PAGE
    if not committed.is_file() or committed.read_text(encoding="utf-8") != page(rows):
        problems.append(f"{PAGE} is stale: run 'make coverage' and commit it")
    return problems


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--root", type=pathlib.Path,
                        default=pathlib.Path(__file__).resolve().parent.parent)
    what = parser.add_mutually_exclusive_group(required=True)
    what.add_argument("--check", action="store_true")
    what.add_argument("--write", action="store_true")
    options = parser.parse_args()
    if options.write:
        rows, problems = gather(options.root)
        (options.root / PAGE).write_text(page(rows), encoding="utf-8")
    else:
        problems = check(options.root)
    for problem in problems:
        print(problem)
    if not problems:
        print("coverage: every row claimed has a test, and the page says so")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())

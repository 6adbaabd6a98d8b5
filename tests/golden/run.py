#!/usr/bin/env python3
"""Golden tests: runs `weir` as a user would and compares every byte.

A case is a folder with
  cmd          one or more lines of shell words that begin with `weir`
  stdout       expected standard output; several commands: a transcript, "$ weir …" before each
  stdout.path  instead of stdout: a file of the repository that must equal the output
  stderr       expected standard error; absent: it must be empty
  exit         expected exit status, one a command
  rows         mission rows that the case stands for
  design.edit  optional: fabric.yaml is made from a template, one edit away (see make_design)
and any other file the command reads. Each case runs in a copy of its folder, with a fixed
environment. Output of a command with --json must be one JSON object with the fields that other
programs rely on (stable_fields.json), and fit its schema (docs/schemas). A case lint/<id> must show the finding of that id.

WEIR_UPDATE_GOLDEN=1 rewrites the expectations; read the diff before you commit it. Names of cases as
arguments run only those. WEIR_JSON_SAMPLES=DIR collects the objects for tools/schemas.py instead of
checking them against schemas.
"""
import argparse
import concurrent.futures
import difflib
import hashlib
import json
import os
import pathlib
import re
import shlex
import shutil
import subprocess
import sys
import tempfile

import json_schema

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parent.parent
SCHEMAS = ROOT / "docs" / "schemas"
EXPECTATIONS = {"cmd", "stdout", "stdout.path", "stderr", "exit", "rows", "design.edit"}
TIMEOUT_SECONDS = 60
EDIT_LINES_MAX = 3


class Failure(Exception):
    """One case went wrong; the text says how."""


def run_weir(binary, words, folder):
    environment = {"LC_ALL": "C", "HOME": str(folder), "PATH": "/usr/bin:/bin", "TERM": "dumb"}
    for name in ("ASAN_OPTIONS", "UBSAN_OPTIONS", "LSAN_OPTIONS"):
        if name in os.environ:
            environment[name] = os.environ[name]
    try:
        done = subprocess.run([str(binary), *words], cwd=folder, env=environment,
                              stdin=subprocess.DEVNULL, capture_output=True,
                              timeout=TIMEOUT_SECONDS, check=False)
    except subprocess.TimeoutExpired as late:
        raise Failure(f"weir {' '.join(words)}: no answer in {TIMEOUT_SECONDS} s") from late
    return done.stdout.decode("utf-8"), done.stderr.decode("utf-8"), done.returncode


def make_design(binary, case, folder):
    """fabric.yaml from `design.edit`: a line "template: NAME", then lines to take out ("-…", each must
    be in the template exactly once) and lines to put in ("+…", at the place of the last one taken, or
    at the end). At most three lines may go and three may come: a mistake is one small edit."""
    lines = (case / "design.edit").read_text(encoding="utf-8").splitlines()
    template = re.fullmatch(r"template: (\w+)", lines[0])
    if not template:
        raise Failure("design.edit: the first line must be 'template: NAME'")
    text, err, code = run_weir(binary, ["init", "--template", template[1], "--output", "-"], folder)
    if code != 0:
        raise Failure(f"weir init --template {template[1]} exits {code}: {err}")
    design = text.splitlines()
    at = len(design)
    for sign in "-+":
        if sum(line.startswith(sign) for line in lines[1:]) > EDIT_LINES_MAX:
            raise Failure(f"design.edit: more than {EDIT_LINES_MAX} '{sign}' lines")
    for line in lines[1:]:
        if line.startswith("-"):
            if design.count(line[1:]) != 1:
                raise Failure(f"design.edit: the template has {design.count(line[1:])} lines "
                              f"'{line[1:]}', needs exactly one")
            at = design.index(line[1:])
            del design[at]
        elif line.startswith("+"):
            design.insert(at, line[1:])
            at += 1
        else:
            raise Failure(f"design.edit: a line must begin with - or +: '{line}'")
    (folder / "fabric.yaml").write_text("\n".join(design) + "\n", encoding="utf-8")


def has_field(value, path):
    """"a.b", "list[].c": in every element, and at least one, unless the path says list[]?."""
    if not path:
        return True
    name, _, rest = path.partition(".")
    optional, name = name.endswith("?"), name.rstrip("?")
    is_list, name = name.endswith("[]"), name.removesuffix("[]")
    if not isinstance(value, dict) or name not in value:
        return False
    if not is_list:
        return has_field(value[name], rest)
    elements = value[name]
    if not isinstance(elements, list) or (not elements and not optional):
        return False
    return all(has_field(element, rest) for element in elements)


def check_json(text, stable):
    try:
        value = json.loads(text)
    except ValueError as error:
        raise Failure(f"--json did not print one JSON object: {error}") from error
    schema = value.get("schema") if isinstance(value, dict) else None
    if not schema or not re.fullmatch(r"weir/[a-z-]+/1", schema):
        raise Failure(f"--json: expected an object with a schema weir/…/1, found {schema!r}")
    if schema not in stable:
        raise Failure(f"{schema}: no entry in stable_fields.json; say what programs may rely on")
    for path in stable[schema]:
        if not has_field(value, path):
            raise Failure(f"{schema}: the stable field {path} is missing")
    if "WEIR_JSON_SAMPLES" in os.environ:
        folder = pathlib.Path(os.environ["WEIR_JSON_SAMPLES"])
        name = hashlib.sha256(text.encode()).hexdigest()[:16]
        (folder / f"{name}.json").write_text(text, encoding="utf-8")
        return
    path = SCHEMAS / f"{schema.removeprefix('weir/').removesuffix('/1')}.json"
    if not path.exists():
        raise Failure(f"{schema}: no schema in docs/schemas; tools/schemas.py writes one")
    wrong = json_schema.mistakes(value, json.loads(path.read_text(encoding="utf-8")))
    if wrong:
        raise Failure(f"{schema} does not fit docs/schemas/{path.name} (tools/schemas.py widens it): "
                      + "; ".join(wrong[:3]))


def read_commands(case):
    commands = []
    for line in (case / "cmd").read_text(encoding="utf-8").splitlines():
        words = shlex.split(line, comments=True)
        if not words:
            continue
        if words[0] != "weir":
            raise Failure(f"cmd: a line must begin with 'weir': {line}")
        commands.append((line, words[1:]))
    if not commands:
        raise Failure("cmd: holds no command")
    return commands


def observe(binary, case, stable):
    """What the case's commands print: {expectation: text}."""
    commands = read_commands(case)
    out, err, exits = "", "", []
    with tempfile.TemporaryDirectory(prefix="weir-golden-") as name:
        folder = pathlib.Path(name)
        for item in case.iterdir():
            if item.name in EXPECTATIONS:
                continue
            if item.is_dir():
                shutil.copytree(item, folder / item.name, symlinks=True)
            else:
                shutil.copy(item, folder / item.name)
        # Whatever the umask of the clone was: state directories that others may write are refused.
        for path in folder.rglob("*"):
            if not path.is_symlink():
                path.chmod(path.stat().st_mode & ~0o022)
        if (case / "design.edit").exists():
            make_design(binary, case, folder)
        for line, words in commands:
            one_out, one_err, code = run_weir(binary, words, folder)
            if "--json" in words:
                check_json(one_out, stable)
            mark = f"$ {line}\n" if len(commands) > 1 else ""
            out += mark + one_out
            err += mark + one_err if one_err else ""
            exits.append(str(code))
    return {"stdout": out, "stderr": err, "exit": "\n".join(exits) + "\n"}


def expectation_file(case, name):
    path = case / f"{name}.path"
    return ROOT / path.read_text(encoding="utf-8").strip() if path.exists() else case / name


def update(case, seen):
    for name, text in seen.items():
        path = expectation_file(case, name)
        if text or name != "stderr":
            path.write_text(text, encoding="utf-8")
        elif path.exists():
            path.unlink()


def compare(case, seen):
    """The differences, as text; empty where there is none."""
    report = ""
    for name, text in seen.items():
        path = expectation_file(case, name)
        if not path.exists() and name != "stderr":
            report += f"no expectation '{name}'; WEIR_UPDATE_GOLDEN=1 writes it\n"
            continue
        expected = path.read_text(encoding="utf-8") if path.exists() else ""
        report += "".join(difflib.unified_diff(expected.splitlines(True), text.splitlines(True),
                                               f"expected {name}", f"found {name}"))
    if not (case / "rows").exists():
        report += "no file 'rows': the mission rows the case stands for (may be empty)\n"
    return report


def run_case(binary, case, stable, is_update):
    try:
        seen = observe(binary, case, stable)
    except (Failure, UnicodeDecodeError) as failure:
        return f"{failure}\n"
    if case.parent == HERE / "lint" and f"weir explain {case.name}\n" not in seen["stdout"]:
        return f"lint does not find {case.name}:\n{seen['stdout']}{seen['stderr']}"
    if is_update:
        update(case, seen)
    return compare(case, seen)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--weir", type=pathlib.Path, default=ROOT / "build" / "weir")
    parser.add_argument("cases", nargs="*", help="folders below tests/golden; all where none is given")
    options = parser.parse_args()
    binary = options.weir.resolve()
    if not binary.is_file():
        sys.exit(f"{binary} does not exist; build it first (make build)")
    every = sorted(path.parent for path in HERE.rglob("cmd"))
    cases = [HERE / name for name in options.cases] or every
    unknown = [case.name for case in cases if case not in every]
    if unknown or not every:
        sys.exit(f"no such case: {', '.join(unknown)}")
    stable = json.loads((HERE / "stable_fields.json").read_text(encoding="utf-8"))
    is_update = os.environ.get("WEIR_UPDATE_GOLDEN") == "1"
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        reports = list(pool.map(lambda case: run_case(binary, case, stable, is_update), cases))
    failed = 0
    for case, report in zip(cases, reports):
        if report:
            failed += 1
            print(f"FAILED {case.relative_to(HERE)}\n{report}")
    print(f"golden: {len(cases) - failed} of {len(cases)} cases as expected")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())

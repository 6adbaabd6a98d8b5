#!/usr/bin/env python3
"""Enforces the layers: a folder of src/ includes only the folders left of it.

Reads every `#include "folder/file.h"` below src/ and every weir_layer() line of CMakeLists.txt and
compares both with the order below, which is the only place that holds it (docs/architecture.md
explains it). Prints one line a violation; exit 1 when there is any.
"""
import pathlib
import re
import sys

import checker

# Left to right; folders of one rank are siblings and never include each other.
LAYERS = [
    {"base"},
    {"units"},
    {"vocab"},
    {"finding"},
    {"model", "counters"},
    {"design"},
    {"evidence"},
    {"wire", "readers", "platforms"},
    {"render", "host", "sim", "diagnose"},
    {"lab"},
    {"tune", "preflight"},
    {"store"},
    {"ops"},
    {"serve"},
    {"cli"},
]
RANK = {folder: rank for rank, folders in enumerate(LAYERS) for folder in folders}

# A third-party library stays behind one folder, so that it can be replaced there.
LIBRARY_HOMES = {
    "nlohmann/": {"base"},
    "yaml.h": {"design"},
    "CLI/": {"cli"},
    "netlink/": {"host"},
    "boost/": {"tune"},
    "sqlite3.h": {"store"},
    "prometheus/": {"serve"},
    "httplib.h": {"serve"},
    "openssl/": {"serve"},
    "mpi.h": {"cli"},
}

INCLUDE = re.compile(r'^\s*#\s*include\s*(["<])([^">]+)[">]')
LAYER_LINE = re.compile(r"^\s*weir_layer\(\s*(\w+)([^)]*)\)", re.MULTILINE)


def may_include(folder, other):
    return folder == other or RANK[other] < RANK[folder]


def is_generated(root, header):
    """Whether a file of cmake/ writes it, as <build folder>/generated/<header>."""
    return any(f"generated/{header}" in path.read_text(encoding="utf-8")
               for path in (root / "cmake").glob("*.cmake"))


def check_quoted(root, folder, header):
    """What is wrong with `#include "header"` in src/folder, or None."""
    other = header.split("/")[0]
    if "/" not in header or other in (".", ".."):
        return f'include by path from src/, not "{header}"'
    if other not in RANK:
        return f'"{header}": no layer {other}/ (tools/check_layers.py has the list)'
    if not may_include(folder, other):
        relation = "is a sibling of" if RANK[other] == RANK[folder] else "is right of"
        return f'{folder}/ may not include "{header}": {other}/ {relation} {folder}/'
    if not (root / "src" / header).is_file() and not is_generated(root, header):
        return f'"{header}" does not exist'
    return None


def check_system(folder, header):
    for prefix, homes in LIBRARY_HOMES.items():
        if header.startswith(prefix) and folder not in homes:
            return f"<{header}> belongs behind {', '.join(sorted(homes))}/ only"
    return None


def includes_of(path):
    """(line number, quote or angle, header) of every include."""
    for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1):
        match = INCLUDE.match(line)
        if match:
            yield number, match.group(1), match.group(2)


def source_files(root):
    return sorted(p for p in (root / "src").rglob("*") if p.suffix in (".h", ".cc"))


def check_sources(root):
    problems, used = [], {}
    for path in source_files(root):
        relative = path.relative_to(root)
        folder = relative.parts[1]
        if len(relative.parts) < 3 or folder not in RANK:
            problems.append(f"{relative}: not in a layer of tools/check_layers.py")
            continue
        used.setdefault(folder, set())
        for number, quote, header in includes_of(path):
            if quote == '"':
                problem = check_quoted(root, folder, header)
                if problem is None:
                    used[folder].add(header.split("/")[0])
            else:
                problem = check_system(folder, header)
            if problem:
                problems.append(f"{relative}:{number}: {problem}")
    return problems, used


def cmake_layers(root):
    """[(folder, folders it USES)] in the order of CMakeLists.txt."""
    layers = []
    for match in LAYER_LINE.finditer((root / "CMakeLists.txt").read_text(encoding="utf-8")):
        uses = re.search(r"\bUSES\b(.*?)(?:\bLIBRARIES\b|$)", match.group(2), re.DOTALL)
        layers.append((match.group(1), uses.group(1).split() if uses else []))
    return layers


def reachable(folder, uses):
    found, todo = set(), [folder]
    while todo:
        for other in uses.get(todo.pop(), []):
            if other not in found:
                found.add(other)
                todo.append(other)
    return found


def check_cmake(root, used):
    problems, last_rank = [], 0
    layers = cmake_layers(root)
    uses = dict(layers)
    for folder, others in layers:
        if folder not in RANK:
            problems.append(f"CMakeLists.txt: weir_layer({folder}) is no layer")
            continue
        if RANK[folder] < last_rank:
            problems.append(f"CMakeLists.txt: weir_layer({folder}) is too far down")
        last_rank = max(last_rank, RANK[folder])
        for other in others:
            if other not in RANK or other == folder or not may_include(folder, other):
                problems.append(f"CMakeLists.txt: weir_layer({folder}) may not use {other}")
    for folder, others in sorted(used.items()):
        if folder not in uses:
            problems.append(f"CMakeLists.txt: src/{folder} has no weir_layer() line")
            continue
        for other in sorted(others - {folder} - reachable(folder, uses)):
            problems.append(f"CMakeLists.txt: src/{folder} includes {other}/, "
                            f"which weir_layer({folder}) does not use")
    return problems


def check(root):
    problems, used = check_sources(root)
    return problems + check_cmake(root, used)


if __name__ == "__main__":
    sys.exit(checker.run(__doc__, check, "layers: every include points left"))

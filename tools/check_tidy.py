#!/usr/bin/env python3
"""The house rules that a program can check (CONTRIBUTING.md has the others).

Prints one line a violation, each with what to do instead; exit 1 when there is any. Looks at the
files below the root that are ours: captured and generated material (DATA) only has to be free of
paths of one machine.
"""
import pathlib
import re
import sys

import checker
import cpp_text

LINE_MAX = 100
FUNCTION_MAX = 70

FOLDERS = ["src", "tests", "bench", "designs", "tools", "cmake", "docs", "packaging", ".ci"]
TOP_LEVEL = ["CMakeLists.txt", "CMakePresets.json", "Makefile", "README.md", "CONTRIBUTING.md",
             "CHANGELOG.md", ".clang-format", ".clang-tidy", ".gitignore"]
DATA = ("tests/data/", "tests/golden/", "tests/fuzz/corpus/")
CODE_SUFFIXES = {".h", ".cc", ".py", ".sh", ".cmake"}
CODE_NAMES = {"CMakeLists.txt", "Makefile", "run"}
CPP_SUFFIXES = {".h", ".cc"}

# Written apart so that this file obeys itself.
MARKERS = re.compile(r"\b(TO" r"DO|FIX" r"ME|XX" r"X)\b")
MACHINE_PATH = re.compile(r"(?<![\w.>}*])/(?:wo" r"rk|r" r"oot|ho" r"me)/\w")
DECISION = re.compile(r"\bdecisions?[ /](\d{4})\b")
MARKDOWN_LINK = re.compile(r"\]\(([^)#\s]+)[^)]*\)")
# A file of ours named in prose: by its path from the root, as a page, or as `layer/room/file`.
CITED_PATH = re.compile(r"(?<![\w/.$}>-])((?:docs|src|tools|tests|designs|bench|cmake|packaging)/"
                        r"[\w./*-]*\w\.(?:md|h|cc|py|sh|yaml|tsv|txt|cmake|jsonl?|html|css|js))\b")
CITED_PAGE = re.compile(r"(?<![\w/.<>*-])([A-Za-z][\w-]*\.md)\b")
CITED_SOURCE = re.compile(r"`((?:[a-z_0-9]+/)+[a-z_0-9]+)(?:\.(?:h|cc|\{h,cc\}))?\*?`")
CITED_HEADER = re.compile(r"(?<![\w/.<\"-])((?:[a-z_0-9]+/)+[a-z_0-9]+\.(?:h|cc))\b")
INCLUDE = re.compile(r'^\s*#\s*include\s*"([^"]+)"', re.MULTILINE)


def in_library(path):
    """Code that returns what it has to say; only the commands print."""
    return path.startswith("src/") and not path.startswith(("src/cli/", "src/serve/")) \
        and not is_test(path)


def is_test(path):
    return path.endswith("_test.cc") or path.startswith("tests/")


def is_cpp(_):
    return True


# (what, where it is banned, what to write instead). Strings and comments are not looked at.
BANNED = [
    (r"\bs?rand\s*\(", is_cpp, "use RandomStream (base/rng.h): a seed must replay"),
    (r"\bstd::(random_device|mt19937\w*|default_random_engine)\b", is_cpp,
     "use RandomStream (base/rng.h): a seed must replay"),
    (r"\bsystem_clock\b", lambda p: not p.startswith(("src/host/", "src/cli/", "src/serve/")),
     "the time of day enters through host/ or the command, as a value"),
    (r"(?<!\w)assert\s*\(", is_cpp, "use WEIR_CHECK (base/check.h): on in every build"),
    (r"\b[fv]*printf\s*\(|\bputs\s*\(|\bstd::(cout|cerr|clog)\b|\bfmt::print\s*\(",
     lambda p: in_library(p) and p != "src/base/check.cc",
     "a library returns text; the command prints it"),
    (r"\bthrow\b", lambda p: p.startswith("src/"), "our code throws nothing: return an Error"),
    (r"\busing\s+namespace\s+std\b", is_cpp, "name what you use"),
    (r"\b(sleep|usleep|nanosleep)\s*\(|\bsleep_(for|until)\b", is_test,
     "a test that sleeps is a bug: pass the time in"),
]
# State that feeds back into event times is integer, so that a run has one digest everywhere.
FLOATING = re.compile(r"\b(double|float)\b")
# "as the peer computes": the model `hpcc` repeats another simulator's arithmetic, doubles and all.
FLOATING_ALLOWED = ("// report only", "// as the peer computes")


class Tree:
    """The files we look at, read once: {path from the root: text}."""

    def __init__(self, root):
        self.root = root
        self.text = {}
        candidates = [root / name for name in TOP_LEVEL]
        for folder in FOLDERS:
            candidates += sorted((root / folder).rglob("*"))
        for path in candidates:
            if path.is_symlink() or not path.is_file() or "__pycache__" in path.parts:
                continue
            try:
                self.text[path.relative_to(root).as_posix()] = path.read_text(encoding="utf-8")
            except UnicodeDecodeError:
                continue

    def code(self):
        for path, text in self.text.items():
            name = path.rsplit("/", 1)[-1]
            if path.startswith(DATA):
                continue
            if pathlib.PurePath(path).suffix in CODE_SUFFIXES or name in CODE_NAMES:
                yield path, text

    def cpp(self):
        for path, text in self.code():
            if pathlib.PurePath(path).suffix in CPP_SUFFIXES:
                yield path, text


def check_lines(tree):
    for path, text in tree.code():
        for number, line in enumerate(text.splitlines(), 1):
            at = f"{path}:{number}:"
            marker = MARKERS.search(line)
            if marker:
                yield f"{at} {marker.group(1)}: do it now, or open an issue and say it there"
            if line != line.rstrip():
                yield f"{at} blanks at the end of the line"
            if "\t" in line and path != "Makefile":
                yield f"{at} a tab: write blanks"
            measured = line.split("  // NOLINT")[0]
            if len(measured) > LINE_MAX:
                yield f"{at} {len(measured)} columns, the limit is {LINE_MAX}"
        if text and not text.endswith("\n"):
            yield f"{path}: no newline at the end of the file"


def check_machine_paths(tree):
    for path, text in tree.text.items():
        for number, line in enumerate(text.splitlines(), 1):
            found = MACHINE_PATH.search(line)
            if found:
                yield f"{path}:{number}: a path of one machine ({found.group(0)}…)"


# Templates over the JSON type, included by the few files that read or write JSON.
JSON_TEMPLATES = {"src/vocab/codec.h", "src/readers/switches/read_show.h"}


def check_headers(tree):
    for path, text in tree.cpp():
        if path.endswith(".h") and not text.startswith("#pragma once\n"):
            yield f"{path}:1: a header starts with #pragma once"
        if path.endswith(".h") and path not in JSON_TEMPLATES and '#include "base/json.h"' in text:
            yield f"{path}: include base/json_fwd.h in headers; base/json.h is large"


def check_commented_out(tree):
    for path, text in tree.cpp():
        for number, line in enumerate(text.splitlines(), 1):
            if cpp_text.is_commented_out_code(line):
                yield f"{path}:{number}: commented-out code: delete it, git remembers"


def check_banned(tree):
    for path, text in tree.cpp():
        lines = text.splitlines()
        bare = cpp_text.without_comments_and_strings(text).splitlines()
        for number, (line, code) in enumerate(zip(lines, bare), 1):
            for pattern, applies, instead in BANNED:
                found = re.search(pattern, code) if applies(path) else None
                if found:
                    yield f"{path}:{number}: {found.group(0).strip(' (')}: {instead}"
            if path.startswith("src/sim/") and path.endswith(".h") and FLOATING.search(code) \
                    and not any(marker in line for marker in FLOATING_ALLOWED):
                yield (f"{path}:{number}: floating point in simulator state: use integers, or say "
                       f"'{FLOATING_ALLOWED[0]}'")


def check_functions(tree):
    for path, text in tree.cpp():
        for first, last, name in cpp_text.functions(text):
            if last - first > FUNCTION_MAX:
                yield f"{path}:{first}: {name}: {last - first} lines, the limit is {FUNCTION_MAX}"


def check_dead_files(tree):
    cmake = tree.text.get("CMakeLists.txt", "")
    layers = set(re.findall(r"^weir_layer\((\w+)", cmake, re.MULTILINE))
    included = {header for _, text in tree.cpp() for header in INCLUDE.findall(text)}
    for path, _ in tree.cpp():
        parts = path.split("/")
        if parts[0] != "src":
            continue
        if parts[1] not in layers:
            yield f"{path}: belongs to no weir_layer() of CMakeLists.txt"
        if path.endswith(".h") and path[len("src/"):] not in included:
            yield f"{path}: nobody includes this header: delete it"
    for path in tree.text:
        name = path.rsplit("/", 1)[-1]
        if not path.startswith("tools/") or name.startswith("test_"):
            continue
        stem = name[:-3] if name.endswith(".py") else name
        users = (text for other, text in tree.code() if other != path)
        if not any(re.search(rf"\b{re.escape(stem)}\b", text) for text in users):
            yield f"{path}: nothing runs this tool: delete it"


def check_decisions(tree):
    there = {match.group(1): path for path in tree.text
             if (match := re.match(r"docs/decisions/(\d{4})-", path))}
    for path, text in tree.text.items():
        if path.startswith(DATA):
            continue
        for number, line in enumerate(text.splitlines(), 1):
            for cited in DECISION.findall(line):
                if cited not in there:
                    yield f"{path}:{number}: decision {cited} does not exist in docs/decisions/"
    index = tree.text.get("docs/decisions/README.md", "")
    for number, path in sorted(there.items()):
        if path.rsplit("/", 1)[-1] not in index:
            yield f"docs/decisions/README.md: does not list {path}"


def check_links(tree):
    for path, text in tree.text.items():
        if not path.endswith(".md") or path.startswith(DATA):
            continue
        for number, line in enumerate(text.splitlines(), 1):
            for target in MARKDOWN_LINK.findall(line):
                if "://" in target or target.startswith("mailto:"):
                    continue
                if not (tree.root / path).parent.joinpath(target).exists():
                    yield f"{path}:{number}: the link to {target} leads nowhere"


def check_cited_files(tree):
    """Files that documents, comments and help name must be there."""
    layers = {path.split("/")[1] for path in tree.text if path.startswith("src/")}
    pages = {path.rsplit("/", 1)[-1] for path in tree.text if path.endswith(".md")}
    for path, text in tree.text.items():
        # A changelog names what was; the tests of our tools make files up.
        if path.startswith(DATA + ("tools/tests/",)) or path == "CHANGELOG.md":
            continue
        for number, line in enumerate(text.splitlines(), 1):
            cited = [name for name in CITED_PATH.findall(line)
                     if not any(tree.root.glob(name))]
            prose = MARKDOWN_LINK.sub("", line)  # links have a check of their own
            cited += [name for name in CITED_PAGE.findall(prose) if name not in pages]
            sources = CITED_HEADER.findall(line) if path.startswith("src/") else \
                CITED_SOURCE.findall(line) if path.endswith(".md") else []
            cited += [f"src/{name}" for name in sources if name.split("/")[0] in layers
                      and not any(tree.root.glob(f"src/{name}*"))]
            for name in cited:
                yield f"{path}:{number}: names {name}, which does not exist"


CHECKS = [check_lines, check_machine_paths, check_headers, check_commented_out, check_banned,
          check_functions, check_dead_files, check_decisions, check_links, check_cited_files]


def check(root):
    tree = Tree(root)
    return [problem for one in CHECKS for problem in one(tree)]


if __name__ == "__main__":
    sys.exit(checker.run(__doc__, check, "tidy: every file keeps the house rules"))

#!/usr/bin/env python3
"""Plain technical English, as far as a program can check it: three rules, one table each.

1. "NOUN a NOUN" where "per" is meant: "one row a rail" is written "one row per rail".
2. Words that are not the field's own (WORDS), each with what to write instead.
3. Variables named `one` or `of`: a name says what the thing is.

Prints one line per violation; exit 1 when there is any. Reads comments, strings, documents and
scripts; recordings and expected outputs (DATA) are not ours to reword.
"""
import argparse
import bisect
import pathlib
import re
import sys

import cpp_text

# Folders and files that are checked.
CHECKED = ["src", "docs", "designs", "tools", "cmake", "bench", "tests", "README.md",
           "CONTRIBUTING.md"]
# This file and its test name the words; recordings and expected outputs are DATA.
EXEMPT = ("tools/check_english.py", "tools/tests/test_check_english.py", "tools/spelling.txt")
DATA = ("tests/data/", "tests/golden/", "tests/fuzz/corpus/")
SUFFIXES = {".h", ".cc", ".md", ".yaml", ".py", ".sh", ".cmake", ".txt", ""}

# A measure or a countable thing, and what it may be counted by.
COUNTED = (
    "acks?|bytes|bits|cables?|cells|cnps?|columns?|connections|copies|cost|counters?|designs|"
    "dictionary|domains?|entries|entry|errors?|evidence|events?|fields?|figures?|files?|findings?|"
    "flows?|frames|functions?|gaps?|gigabits|headroom|hosts|instructions|kb|kib|leaf|lines?|links|"
    "megabits|megatransfers|milliseconds|nanoseconds|nics?|ns|nodes?|numbers?|objects?|"
    "packets|picoseconds?|pools?|ports|priorit(?:y|ies)|processes|process|ps|"
    "queues?|rails|rates?|records?|rows?|rules?|seconds|seeds?|series|sockets?|statements?|"
    "subnets?|switches|tables?|threads?|times|units?|uplinks|us|values?|words?")
COUNTED_BY = (
    "batch|byte|cable|case|cell|class|command|connection|core|counter|cpu|day|device|direction|"
    "driver|event|family|fault|file|finding|flow|folder|frame|gpu|group|hop|host|hour|interface|"
    "job|kind|lane|layer|leaf|line|link|load|message|metre|minute|nic|node|packet|page|pair|path|"
    "peer|place|platform|pod|port|priority|qp|queue|rack|rail|rank|receiver|room|round|row|rule|"
    "run|sample|second|seed|sender|server|setting|side|spine|step|switch|system|test|thread|"
    "tier|type|verb|vlan|window|workload")
# A relative clause ("the frames a port received") and an ordinal ("a second time") are no rates.
CLAUSE = (
    "(?!['’-])(?! (?:can|cannot|could|may|might|must|will|would|has|had|have|is|was|does|did|ran|"
    "runs|takes|took|needs|uses|used|sends|sent|receives|received|gets|got|gives|goes|lets|makes|"
    "made|holds|held|keeps|kept|loses|lost|wants|carries|carried|asks|sees|saw|shows|names|reads|"
    "writes|finds|found|cites|stands|decides|leaves|left|passes|time|one|look|that|which|of|"
    "gains?|as|\\w+(?:ed|s))\\b)")
# Between a number and "a": "one socket a host", but not "one of a pair".
MIDDLE = ("(?:(?!(?:of|is|as|at|to|in|that|or|for|with|on|by|from|was|towards|and|than|into|after|"
          "before|below|within|has|sends|leaves|makes|per)\\b)[\\w-]+ )?")
PER = [
    re.compile(rf"\b(?:{COUNTED})(?-i: an? )(?:{COUNTED_BY})\b{CLAUSE}", re.IGNORECASE),
    re.compile(rf"(?:\b(?:marks|pauses|samples|changes|tests|runs)|\}}) a second\b{CLAUSE}"),
    # "one host a leaf", "8 of them a port"
    re.compile(rf"\b(?:one|two|three|four|six|eight|\d+) {MIDDLE}(?-i:an? )(?:{COUNTED_BY})\b"
               rf"{CLAUSE}", re.IGNORECASE),
]

WORDS = [
    (r"mend(?:s|ed|ing)?", "fix"),
    (r"somebody|anybody", "say who: a user, an operator, another program"),
    (r"luck\w*", "chance, random, or replica"),
    (r"rehears\w*", "replay, or expectation"),
    (r"meanwhile", "during …"),
    (r"itself again", "recovered"),
    (r"(?:is|are|was|were|be|been) told", "given, said, known"),
    (r"strangers?", "unknown hosts"),
    (r"innocent", "not the cause"),
    (r"accus\w+", "reported"),
    (r"(?:gives?|gave|given) back", "returns"),
    (r"in vain", "without effect"),
    (r"(?:is|are|was|were|be|been) asked for", "requested, expected"),
    (r"stands(?! (?:for|out))", "is"),
    (r"likeness", "similarity"),
]
BANNED = [(re.compile(rf"\b(?:{pattern})\b", re.IGNORECASE), instead) for pattern, instead in WORDS]
# A function may be called `of`: Dscp::of(26) reads well.
NAMES = re.compile(r"\b(one|of)\b(?!\s*\()")

# A comment or a string that goes on in the next line is read as one sentence.
BREAK = re.compile(r'"?\s*\n\s*(?:///?|#|"|\*(?= ))?\s*')


def joined(text):
    """The text with its line breaks as single blanks, and where each piece began."""
    pieces, starts, lines = [], [], []
    length, last, line = 0, 0, 1
    for match in list(BREAK.finditer(text)) + [None]:
        end = match.start() if match else len(text)
        piece = text[last:end].rstrip() + " "
        starts.append(length)
        lines.append(line)
        pieces.append(piece)
        length += len(piece)
        if match:
            line += match.group(0).count("\n")
            last = match.end()
    return "".join(pieces), starts, lines


def problems_of(path, text):
    flat, starts, lines = joined(text)

    def line_at(offset):
        return lines[bisect.bisect_right(starts, offset) - 1]

    rates = {match.end(): match for pattern in PER for match in pattern.finditer(flat)}
    for match in rates.values():
        yield line_at(match.end()), f'"{match.group(0)}": write "per"'
    for pattern, instead in BANNED:
        for match in pattern.finditer(flat):
            yield line_at(match.start()), f'"{match.group(0)}": write "{instead}"'
    if path.endswith((".h", ".cc")):
        bare = cpp_text.without_comments_and_strings(text)
        for number, line in enumerate(bare.splitlines(), 1):
            for name in NAMES.findall(line):
                yield number, f"a variable named `{name}`: name what it is"


def files(root, checked):
    for name in checked:
        top = root / name
        for path in [top] if top.is_file() else sorted(top.rglob("*")):
            relative = path.relative_to(root).as_posix()
            if relative.startswith(EXEMPT + DATA) or "__pycache__" in path.parts:
                continue
            if path.is_file() and path.suffix in SUFFIXES:
                yield relative, path.read_text(encoding="utf-8")


def check(root, checked=None):
    found = []
    for path, text in files(root, checked or CHECKED):
        problems = sorted(set(problems_of(path, text)))
        found += [f"{path}:{line}: {problem}" for line, problem in problems]
    return found


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--root", type=pathlib.Path,
                        default=pathlib.Path(__file__).resolve().parent.parent)
    parser.add_argument("checked", nargs="*", help="folders and files instead of all")
    options = parser.parse_args()
    found = check(options.root, options.checked)
    for problem in found:
        print(problem)
    if not found:
        print("English: nothing found")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())

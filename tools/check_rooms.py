#!/usr/bin/env python3
"""Checks the rooms: a folder of sources is compiled as one translation unit (cmake/Weir.cmake),
alone or with other rooms of its layer (cmake/units.txt).

A function in an anonymous namespace is therefore seen by every later file of its unit. Two with the
same name and number of parameters overload each other, and an implicit conversion could choose the
wrong one without a warning. So name and number are unique in the unit, and differ from those of
every function that a header of the layer declares. A folder holds at most 40 files, so that its
listing can be read.
Prints one line per problem; exit 1 when there is any.
"""
import collections
import pathlib
import re
import sys

import checker
from cpp_text import without_comments_and_strings

MOST_FILES = 40
# Overloads on purpose: a template of common/statement.h calls the one for the type of the place.
OVERLOADED = {"assign"}
TYPE = r"(?:\[\[nodiscard\]\] )?(?:constexpr |inline |static |const )*[A-Za-z_][\w:<>,&* ]*?[ &*]"
DEFINITION = re.compile(r"^" + TYPE + r"(\w+)\(([^;{]*?)\)(?: noexcept)?(?: ->[^;{]*)? \{",
                        re.MULTILINE)
DECLARATION = re.compile(r"^" + TYPE + r"(\w+)\(([^;{]*?)\)(?: noexcept)?(?: \{|;)", re.MULTILINE)
ANONYMOUS = re.compile(r"^namespace \{$", re.MULTILINE)


def is_library_source(path):
    return path.suffix == ".cc" and not path.stem.endswith("_test") and path.name != "main.cc"


def anonymous_parts(code):
    """The bodies of the anonymous namespaces; `code` is without comments and strings."""
    for match in ANONYMOUS.finditer(code):
        depth, end = 1, match.end()
        while depth > 0 and end < len(code):
            depth += {"{": 1, "}": -1}.get(code[end], 0)
            end += 1
        yield code[match.end():end - 1]


def signature(match):
    """(name, number of parameters) of a match of DEFINITION or DECLARATION."""
    name, parameters = match
    while "<" in parameters:  # the commas of template arguments separate no parameters
        shorter = re.sub(r"<[^<>]*>", "", parameters)
        if shorter == parameters:
            break
        parameters = shorter
    return name, parameters.count(",") + 1 if parameters.strip() else 0


def private_functions(path):
    """Signatures of the functions that the file defines in anonymous namespaces."""
    code = without_comments_and_strings(path.read_text(encoding="utf-8"))
    return {signature(match) for part in anonymous_parts(code)
            for match in DEFINITION.findall(part)}


def public_functions(root, layer):
    """Signature -> header, for every free function that a header of the layer declares."""
    found = {}
    for header in sorted((root / "src" / layer).rglob("*.h")):
        code = without_comments_and_strings(header.read_text(encoding="utf-8"))
        for match in DECLARATION.findall(code):
            found.setdefault(signature(match), header)
    return found


def check_room(root, room, sources, public):
    problems, defined = [], collections.defaultdict(list)
    for source in sources:
        for name, count in sorted(private_functions(source)):
            defined[name, count].append(source)
            if (name, count) in public and name not in OVERLOADED:
                header = public[name, count].relative_to(root)
                problems.append(f"{source.relative_to(root)}: {name}() is declared by {header} "
                                "too: choose another name")
    for (name, _), files in sorted(defined.items()):
        if len(files) > 1:
            names = ", ".join(file.name for file in files)
            problems.append(f"{room.relative_to(root)}: {name}() is defined in {names}: "
                            "a name is unique in its unit, or becomes one shared function")
    return problems


def units_of(root, rooms):
    """First room of a unit -> its rooms, and the problems of cmake/units.txt."""
    units, problems = {room: [room] for room in rooms}, []
    table = root / "cmake" / "units.txt"
    lines = table.read_text(encoding="utf-8").splitlines() if table.is_file() else []
    for number, line in enumerate(lines, 1):
        if not line.strip() or line.startswith("#"):
            continue
        joined = [root / "src" / word for word in line.split()]
        for room in joined:
            if room not in units:
                problems.append(f"cmake/units.txt:{number}: {room.relative_to(root)}: no such room "
                                "with sources, or in a unit already")
        if len({room.relative_to(root / "src").parts[0] for room in joined}) > 1:
            problems.append(f"cmake/units.txt:{number}: rooms of two layers: a unit is of one")
        for room in joined[1:]:
            units.pop(room, None)
        units[joined[0]] = joined
    return units, problems


def check(root):
    rooms = collections.defaultdict(list)
    counts = collections.Counter()
    for path in sorted((root / "src").rglob("*")):
        if path.is_file():
            counts[path.parent] += 1
        if is_library_source(path):
            rooms[path.parent].append(path)
    problems = [f"{room.relative_to(root)}: {count} files, the limit is {MOST_FILES}: "
                "make rooms of it" for room, count in sorted(counts.items()) if count > MOST_FILES]
    units, wrong = units_of(root, rooms)
    problems += wrong
    public = {}
    for room, joined in sorted(units.items()):
        sources = [source for part in joined for source in rooms.get(part, [])]
        layer = room.relative_to(root / "src").parts[0]
        if layer not in public:
            public[layer] = public_functions(root, layer)
        if len(sources) > 1:
            problems += check_room(root, room, sources, public[layer])
    return problems


if __name__ == "__main__":
    sys.exit(checker.run(__doc__, check, "rooms: every private name is unique in its unit"))

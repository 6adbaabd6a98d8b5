#!/usr/bin/env python3
"""The thresholds table is complete: every row is read, and no rule has a limit of its own.

Usage: thresholds_test.py SOURCE_DIR
"""
import pathlib
import re
import sys

MEMBER = re.compile(r"^  (?:double|std::uint64_t) (\w+) = ", re.MULTILINE)
COMMENT = re.compile(r"//[^\n]*")
STRING = re.compile(r'"(?:\\.|[^"\\\n])*"')
# A fraction, or a named number: both are limits that belong in the table ...
LIMIT = re.compile(r"\b\d+\.\d+\b|"
                   r"\bconstexpr\s+(?:double|int|unsigned|std::\w+)\s+(k\w+)\s*=\s*[-\d]")
# ... unless it says how much of the evidence is shown, or is a unit or a field of a standard.
# Words and digits of a text that is read, and the usual values of a standard or a convention, are
# no limits either.
NO_LIMITS = {"kLines", "kWideLines", "kNamed", "kApart", "kBits", "kSmallestFrame", "kWords",
             "kLongest", "kMostLines", "kHeaders", "kSlowest", "kFastest", "kTimeoutUnit", "kUsual",
             "kWanted", "kLargeRdma", "kSmallEthernet", "kNear", "kDigits", "kRdmaDscp", "kLeast",
             "kEnough", "kTwice", "kPicosecondsPerMicrosecond", "kFromHere", "kBootSeconds",
             "kClock", "kJumbo", "kSmall", "kShortest", "kLooked", "kCnpDscp"}
# A walk that goes round is ended after so many steps; parts of an address and lines of a log that
# show how they are built or printed.
NO_LIMITS |= {"kDeepest", "kFewest"}
# A completion's status as verbs number it.
NO_LIMITS |= {"kTimeoutStatus"}
# Units of the calendar, and seconds within which links that went down did so together.
NO_LIMITS |= {"kHours", "kHalfYear", "kTogether"}
# Folders whose code judges, and what is no limit there: units, ranks of a distribution, the level
# of a statistical test with what follows from it, lists that are shortened.
JUDGES = {
    "diagnose": set(),
    "preflight": {"kGiga", "kMega", "kPicosecondsPerSecond", "kPicosecondsInSecond",
                  "kBytesPerGigabyte", "kNormal", "kShown", "0.5", "0.95", "0.99", "0.999"},
    "lab/expectation": set(),
    "tune/judge": {"kPicosecondsPerSecond", "kShown", "kChance", "kMany", "2.8"},
}
NO_FRACTIONS = {"0.0", "1.0", "1000.0", "65'535.0"}


def code_of(text):
    return COMMENT.sub("", STRING.sub('""', text))


def unread(members, sources):
    """The members that no source reads."""
    text = "\n".join(code_of(source) for source in sources)
    return [name for name in members if not re.search(rf"(?:\.|Thresholds::){name}\b", text)]


def limits_in(text, allowed=frozenset()):
    """Numbers of a rule that should be rows of the table."""
    found = []
    for match in LIMIT.finditer(re.sub(r"(?<=\d)'(?=\d)", "", code_of(text))):
        known = NO_LIMITS | NO_FRACTIONS | {"65535.0"} | allowed
        if (match.group(1) or match.group(0)) not in known:
            found.append(match.group(0))
    return found


def check_the_checks():
    assert unread(["a", "b"], ["limits.a; // limits.b"]) == ["b"]
    assert limits_in("if (share > 0.3) return;") == ["0.3"]
    assert limits_in("constexpr std::uint64_t kSome = 16;") == ["constexpr std::uint64_t kSome = 1"]
    assert limits_in('fmt::format("{:.0f} 0.3"); // 0.3\nconstexpr std::size_t kLines = 4;') == []


def main():
    check_the_checks()
    source = pathlib.Path(sys.argv[1]) / "src"
    table = source / "finding" / "thresholds.h"
    members = MEMBER.findall(table.read_text(encoding="utf-8"))
    assert len(members) > 50, "the members of Thresholds were not found"
    sources = [path.read_text(encoding="utf-8") for path in source.rglob("*.cc")
               if path.stem != "thresholds" and not path.stem.endswith("_test")]
    problems = [f"{name}: no rule reads this threshold" for name in unread(members, sources)]
    for folder, allowed in JUDGES.items():
        for path in sorted((source / folder).rglob("*.cc")):
            if path.stem.endswith("_test"):
                continue
            problems += [f"{path.name}: `{limit}` belongs in finding/thresholds.h"
                         for limit in limits_in(path.read_text(encoding="utf-8"), allowed)]
    print("\n".join(problems) or f"{len(members)} thresholds, all of them read")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())

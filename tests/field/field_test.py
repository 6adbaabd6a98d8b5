#!/usr/bin/env python3
"""The field cases as a user would paste them: `weir diagnose - --json`, one process per case.

Nothing may be asserted wrongly, unresolved cases stay open, and the right finding is asserted first
or offered to read in most cases. Shares are checked, never a single case.
"""
import pathlib
import sys

from score import is_unresolved, read_cases, score, summary

DATA = pathlib.Path(__file__).resolve().parent.parent / "data" / "field" / "cases.jsonl"
RIGHT = 0.85      # asserted first or related, of the resolved cases
ASSERTED = 0.30  # of the right ones: words of a sentence are no evidence, so 7 of 26 became related


def main():
    """Exits 1 where a share is not met."""
    marked = score(str(pathlib.Path(sys.argv[1]).resolve()), read_cases(DATA))
    print(summary(marked))
    wrong = [(case, answer) for case, answer, got in marked if got == "wrong"]
    for case, answer in wrong:
        print(f"  {case['id']}: {case['expected_verdict']}, asserted {answer['findings'][:1]}")
    resolved = [got for case, _, got in marked if not is_unresolved(case)]
    asserted = resolved.count("asserted")
    right = asserted + resolved.count("related")
    statuses = {answer["status"] for _, answer, got in marked if got in ("related", "missed")}
    is_open = statuses <= {5}
    if not is_open:
        print(f"  exit status of inconclusive cases: {statuses}, expected 5")
    return 0 if not wrong and is_open and right >= RIGHT * len(resolved) \
        and asserted >= ASSERTED * right else 1


if __name__ == "__main__":
    sys.exit(main())

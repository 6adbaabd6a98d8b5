#!/usr/bin/env python3
"""The field cases as a user would paste them: `weir diagnose - --json`, a process a case.

What the words alone give, with every mutation, is src/diagnose/paste/account_test.cc; this is the
whole way through the readers of pasted text. Shares are asserted, never a case.
"""
import concurrent.futures
import json
import pathlib
import subprocess
import sys

DATA = pathlib.Path(__file__).resolve().parent.parent / "data" / "field" / "cases.jsonl"
SETTLED = {"fix-confirmed", "maintainer", "source-file", "lab-measured"}
SHARE = 0.85


def ask(weir, case):
    """The answer to a case: conclusion, and the first finding's id."""
    text = "\n".join([case["symptom"], *case["evidence"]]) + "\n"
    ran = subprocess.run([weir, "diagnose", "-", "--json"], input=text, capture_output=True,
                         text=True, cwd="/", check=False)
    answer = json.loads(ran.stdout)
    first = answer["findings"][0]["id"] if answer["findings"] else None
    return answer["conclusion"], first


def aliases(weir, finding):
    """The finding's id and every name it goes by."""
    ran = subprocess.run([weir, "explain", finding, "--json"], capture_output=True, text=True,
                         check=True)
    return {finding, *json.loads(ran.stdout)["finding"]["aliases"]}


def main():
    weir = str(pathlib.Path(sys.argv[1]).resolve())
    cases = [json.loads(line) for line in DATA.read_text(encoding="utf-8").splitlines()]
    cases = [case for case in cases if case["layer"] not in ("simulator", "tool")]
    with concurrent.futures.ThreadPoolExecutor(2) as pool:
        answers = list(pool.map(lambda case: ask(weir, case), cases))
    names = {first: aliases(weir, first) for _, first in answers if first is not None}
    settled, right, wrong = 0, 0, []
    for case, (conclusion, first) in zip(cases, answers):
        is_open = conclusion == "inconclusive"
        if case["root_cause_basis"] == "unresolved":
            if not is_open:
                wrong.append(f"{case['id']}: unresolved, answered {first}")
            continue
        wanted = {case["expected_verdict"], case["check_id"]}
        is_hit = not is_open and wanted & names.get(first, set())
        settled += case["root_cause_basis"] in SETTLED
        right += bool(is_hit) and case["root_cause_basis"] in SETTLED
        if not is_open and not is_hit:
            wrong.append(f"{case['id']}: {case['expected_verdict']}, answered {first}")
    print(f"{right} of {settled} settled cases right; {len(wrong)} confidently wrong")
    for one in wrong:
        print("  " + one)
    return 0 if right >= SHARE * settled and not wrong else 1


if __name__ == "__main__":
    sys.exit(main())

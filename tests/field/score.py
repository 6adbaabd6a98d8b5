#!/usr/bin/env python3
"""How `weir diagnose -` answers the cases of a file.

    score.py WEIR FILE...            totals per file
    score.py --misses WEIR FILE...   also the cases without the right answer, with what was said

A case is `asserted` right or wrong by its first finding when the conclusion is not inconclusive,
`related` when the right finding is among the three offered to read, `missed` otherwise. A case
whose cause is unresolved is right when nothing is asserted. Cases about simulators and tools are
not scored.
"""
import argparse
import collections
import concurrent.futures
import json
import pathlib
import subprocess


def read_cases(path):
    """The cases of a file that are about a fabric."""
    lines = pathlib.Path(path).read_text(encoding="utf-8").splitlines()
    cases = [json.loads(line) for line in lines if line.strip()]
    return [case for case in cases if case["layer"] not in ("simulator", "tool")]


def ask(weir, case):
    """The answer to a case, as a dictionary."""
    text = "\n".join([case["symptom"], *case["evidence"]]) + "\n"
    ran = subprocess.run([weir, "diagnose", "-", "--json"], input=text, capture_output=True,
                         text=True, cwd="/", check=False)
    answer = json.loads(ran.stdout)
    answer["status"] = ran.returncode
    return answer


def names(item):
    """The id and aliases of a finding or of a related one."""
    return {item["id"], *item["aliases"]}


def is_unresolved(case):
    """Whether nobody knows the cause, so that none may be asserted."""
    return case["root_cause_basis"] == "unresolved" or case["expected_verdict"] == "INCONCLUSIVE"


def mark(case, answer):
    """One of: asserted, wrong, related, missed; open for an unresolved case that stays open."""
    is_asserted = answer["conclusion"] != "inconclusive" or any(
        finding["severity"] != "info" for finding in answer["findings"])
    if is_unresolved(case):
        return "wrong" if is_asserted else "open"
    wanted = {case["expected_verdict"], case["check_id"]}
    if is_asserted:
        return "asserted" if answer["findings"] and wanted & names(answer["findings"][0]) \
            else "wrong"
    if any(wanted & names(offered) for offered in answer["related"]):
        return "related"
    return "missed"


def score(weir, cases):
    """(case, answer, mark) of every case."""
    with concurrent.futures.ThreadPoolExecutor(2) as pool:
        answers = list(pool.map(lambda case: ask(weir, case), cases))
    return [(case, answer, mark(case, answer)) for case, answer in zip(cases, answers)]


def summary(marked):
    """One line of totals."""
    totals = collections.Counter(got for _, _, got in marked)
    resolved = sum(not is_unresolved(case) for case, _, _ in marked)
    right = totals["asserted"] + totals["related"]
    part = 100.0 * right / max(resolved, 1)
    share = 100.0 * totals["asserted"] / max(right, 1)
    return (f"{resolved} resolved: {right} right ({part:.0f} %), of these {totals['asserted']} "
            f"asserted ({share:.0f} %) and {totals['related']} related; {totals['missed']} missed; "
            f"{totals['wrong']} asserted wrongly; {totals['open']} of "
            f"{len(marked) - resolved} unresolved stay open")


def main():
    """Asks, marks, prints."""
    options = argparse.ArgumentParser(description=__doc__,
                                      formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--misses", action="store_true")
    options.add_argument("weir")
    options.add_argument("files", nargs="+")
    asked = options.parse_args()
    weir = str(pathlib.Path(asked.weir).resolve())
    for file in asked.files:
        marked = score(weir, read_cases(file))
        for case, answer, got in marked:
            if asked.misses and got in ("wrong", "missed"):
                said = [finding["id"] for finding in answer["findings"]]
                offered = [related["id"] for related in answer["related"]]
                print(f"{case['id']} {case['expected_verdict']} {case['check_id']}: {got}; "
                      f"asserted {said}, related {offered}")
                print("    " + "\n    ".join([case["symptom"], *case["evidence"]]))
        print(f"{file}: {summary(marked)}")


if __name__ == "__main__":
    main()

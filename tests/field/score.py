#!/usr/bin/env python3
"""What `weir diagnose -` answers to every case of a file: right, open or wrong, and how sure.

    score.py WEIR FILE...            totals of each file
    score.py --misses WEIR FILE...   and the cases that were missed, with what was said of them

A case is right when the first finding is the expected one, by id or alias, with a conclusion; open
when the conclusion is inconclusive (then "led by the right suspect" is counted too); wrong
otherwise, of which those with a confidence above low are counted apart.
"""
import argparse
import collections
import concurrent.futures
import json
import pathlib
import subprocess


def ask(weir, case):
    """The answer to a case, as a dictionary."""
    text = "\n".join([case["symptom"], *case["evidence"]]) + "\n"
    ran = subprocess.run([weir, "diagnose", "-", "--json"], input=text, capture_output=True,
                         text=True, cwd="/", check=False)
    return json.loads(ran.stdout)


class Names:
    """The names that a finding goes by."""

    def __init__(self, weir):
        self.weir = weir
        self.known = {}

    def of(self, finding):
        """The finding's id and its aliases."""
        if finding not in self.known:
            ran = subprocess.run([self.weir, "explain", finding, "--json"], capture_output=True,
                                 text=True, check=True)
            self.known[finding] = {finding, *json.loads(ran.stdout)["finding"]["aliases"]}
        return self.known[finding]


def mark(case, answer, names):
    """right, open or wrong; and a note: the confidence of what is wrong, "led" of what is open."""
    is_open = answer["conclusion"] == "inconclusive"
    if case["root_cause_basis"] == "unresolved" or case["expected_verdict"] == "INCONCLUSIVE":
        return ("right", "") if is_open else ("wrong", answer["findings"][0]["confidence"])
    first = answer["findings"][0] if answer["findings"] else None
    is_hit = first and {case["expected_verdict"], case["check_id"]} & names.of(first["id"])
    if is_open:
        return "open", "led" if is_hit else ""
    return ("right", first["confidence"]) if is_hit else ("wrong", first["confidence"])


def main():
    """Asks, marks, prints."""
    options = argparse.ArgumentParser(description=__doc__,
                                      formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--misses", action="store_true")
    options.add_argument("weir")
    options.add_argument("files", nargs="+")
    asked = options.parse_args()
    weir = str(pathlib.Path(asked.weir).resolve())
    names = Names(weir)
    for file in asked.files:
        cases = [json.loads(line) for line in pathlib.Path(file).read_text(encoding="utf-8")
                 .splitlines() if line.strip()]
        cases = [case for case in cases if case["layer"] not in ("simulator", "tool")]
        with concurrent.futures.ThreadPoolExecutor(2) as pool:
            answers = list(pool.map(lambda case: ask(weir, case), cases))
        totals = collections.Counter()
        for case, answer in zip(cases, answers):
            got, note = mark(case, answer, names)
            totals[got] += 1
            totals[f"{got} {note}"] += 1
            if asked.misses and got != "right":
                print(f"{case['id']} {case['expected_verdict']} {case['check_id']}: {got} {note} "
                      + ", ".join(one["id"] for one in answer["findings"]))
                print("    " + "\n    ".join([case["symptom"], *case["evidence"]]))
        sure = sum(totals[f"wrong {how}"] for how in ("medium", "high", "certain"))
        part = 100.0 * totals["right"] / max(len(cases), 1)
        print(f"{file}: {len(cases)} cases, {totals['right']} right ({part:.0f} %; "
              f"{totals['right low']} of low confidence), {totals['open']} open "
              f"({totals['open led']} led by the right suspect), {totals['wrong']} wrong "
              f"({sure} above low)")


if __name__ == "__main__":
    main()

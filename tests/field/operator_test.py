#!/usr/bin/env python3
"""Pastes with their truth, as an operator would make them: `weir diagnose - --json`.

    operator_test.py WEIR                     checks the shares, exits 1 where one is not met
    operator_test.py WEIR FILE [PART] --show  also every case without the right answer

Healthy, foreign and noise cases are right where nothing of severity error or warning is said, and
healthy ones where no other culprit is named either;
a fault where the first finding is one of those that name the cause; an open case where the answer
is inconclusive. Shares are checked, never a single case. Of every case the exit status is checked:
0 is said of nothing but what is not the fabric's, and 1 needs an error.
"""
import concurrent.futures
import json
import pathlib
import re
import subprocess
import sys
import tempfile

DATA = pathlib.Path(__file__).resolve().parent.parent / "data" / "field"
FILES = ("operator.jsonl", "operator_written.jsonl", "operator_fresh.jsonl",
         "operator_trial.jsonl", "operator_cold.jsonl", "operator_cold_b.jsonl",
         "operator_cold_c.jsonl", "operator_cold_d.jsonl", "operator_cold_e.jsonl",
         "operator_cold_f.jsonl", "operator_cold_g.jsonl", "operator_cold_h.jsonl",
         "operator_cold_i.jsonl", "operator_cold_j.jsonl", "operator_cold_k.jsonl",
         "operator_cold_l.jsonl", "operator_cold_m.jsonl", "operator_cold_m_links.jsonl",
         "operator_cold_n.jsonl", "operator_cold_p.jsonl", "operator_shapes.jsonl",
         "operator_prose.jsonl")
QUIET = 32 / 33   # of the healthy, foreign and noise cases
RIGHT = 19 / 22   # of the faults
OPEN = 4 / 5      # of the open cases
GROUP = {"healthy": "quiet", "not-network": "quiet", "noise": "quiet", "fault": "right",
         "ambiguous": "open"}


def ask(weir, case):
    """The answer, and whether it is right."""
    ran = subprocess.run([weir, "diagnose", "-", "--json"], input=case["text"],
                         capture_output=True, text=True, cwd="/", check=False)
    answer = json.loads(ran.stdout)
    has_error = any(f["severity"] == "error" for f in answer["findings"])
    wanted = 1 if has_error else 0 if answer["conclusion"] == "not_fabric" else 5
    if ran.returncode != wanted or answer["conclusion"] == "healthy":
        sys.exit(f"{case['id']}: exit status {ran.returncode} with {answer['conclusion']}, "
                 f"expected {wanted}")
    loud = [f for f in answer["findings"] if f["severity"] in ("error", "warning")]
    group = GROUP[case["kind"]]
    if group == "quiet":
        # What is not the fabric's may be called so, as loudly as it deserves.
        is_foreign = answer["conclusion"] == "not_fabric"
        is_right = is_foreign or not loud if case["kind"] == "not-network" else \
            not loud and not (is_foreign and case["kind"] == "healthy")
    elif group == "open":
        is_right = answer["conclusion"] == "inconclusive"
    else:
        is_right = bool(loud) and bool({loud[0]["id"], *loud[0]["aliases"]} & set(case["first"]))
    return answer, loud, is_right


def score(weir, cases, is_shown):
    """Right and all, by group."""
    totals = {}
    with concurrent.futures.ThreadPoolExecutor(2) as pool:
        for case, (answer, loud, is_right) in zip(cases, pool.map(lambda c: ask(weir, c), cases)):
            total = totals.setdefault(GROUP[case["kind"]], [0, 0])
            total[0] += is_right
            total[1] += 1
            if is_shown and not is_right:
                said = f"{loud[0]['id']}: {loud[0]['verdict']}" if loud else "-"
                print(f"  {case['id']} {case['kind']}: {case['truth']}\n"
                      f"    said {answer['conclusion']}, {said}")
    return totals


def with_design(weir):
    """The healthy cases beside a design that has their hosts: what is said of things not seen."""
    loud = []
    with tempfile.TemporaryDirectory() as folder:
        subprocess.run([weir, "init", "--system", "sonic", "--hosts", "128", "--rails", "2",
                        "--speed", "400G"], cwd=folder, capture_output=True, check=True)
        for line in (DATA / "operator.jsonl").read_text("utf-8").splitlines():
            case = json.loads(line)
            if case["kind"] != "healthy":
                continue
            text = case["text"]
            names = re.findall(r"@([A-Za-z0-9-]+)[:~ ]|^([A-Za-z0-9-]+):\d+:\d+ \[", text, re.M)
            hosts = dict.fromkeys(name for pair in names for name in pair if name)
            for number, host in enumerate(hosts, 1):
                text = re.sub(rf"\b{re.escape(host)}\b", f"gpu{number:03}", text)
            ran = subprocess.run([weir, "diagnose", "-", "--json"], input=text, cwd=folder,
                                 capture_output=True, text=True, check=False)
            loud += [f"{case['id']}: {f['id']}: {f['verdict']}"
                     for f in json.loads(ran.stdout)["findings"]
                     if f["severity"] in ("error", "warning")]
    return loud


def main():
    """Exits 1 where a share is not met."""
    words = [word for word in sys.argv[1:] if not word.startswith("--")]
    weir = str(pathlib.Path(words[0]).resolve())
    is_good = True
    if len(words) < 2:
        loud = with_design(weir)
        print("operator.jsonl beside a design:", *(loud or ["quiet"]), sep="\n  ")
        is_good = not loud
    for name in words[1:2] or FILES:
        cases = [json.loads(line) for line in (DATA / name).read_text("utf-8").splitlines()]
        if len(words) > 2:
            cases = [case for case in cases if case["part"] == words[2]]
        totals = score(weir, cases, "--show" in sys.argv)
        print(name, ", ".join(f"{group} {got} of {all_}" for group, (got, all_) in totals.items()))
        for group, share in (("quiet", QUIET), ("right", RIGHT), ("open", OPEN)):
            got, all_ = totals.get(group, (0, 0))
            # One case more than the share allows is the first that is too many.
            is_good = is_good and got >= int(share * all_)
    return 0 if is_good else 1


if __name__ == "__main__":
    sys.exit(main())

"""The command line that the checks of the source tree share."""
import argparse
import pathlib


def run(description, check, sound):
    """Prints what `check(root)` finds, or `sound`; the exit status."""
    parser = argparse.ArgumentParser(description=description.splitlines()[0])
    parser.add_argument("--root", type=pathlib.Path,
                        default=pathlib.Path(__file__).resolve().parent.parent)
    problems = check(parser.parse_args().root)
    for problem in problems:
        print(problem)
    if not problems:
        print(sound)
    return 1 if problems else 0

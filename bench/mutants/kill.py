#!/usr/bin/python3
"""Plants the changes of mutants.toml one at a time and demands that a suite notices them.

  bench/mutants/kill.py                 all mutants against the tier smoke of the suite core
  bench/mutants/kill.py --only '^fgd-'  some of them
  bench/mutants/kill.py --check         only whether mutants.toml fits the sources

Works on a copy of the tree in build/mutants, so the sources stay as they are. A mutant is killed if
a cell of the suite crashes, runs too long, or differs from the baseline. Exit codes: 0 enough are
killed, 1 too few, 2 the list or the build is wrong.
"""
import argparse
import json
import pathlib
import re
import shutil
import subprocess
import sys
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
from planting import ROOT, ListError, Tree, planted, read_list  # noqa: E402

LIST = pathlib.Path(__file__).with_name("mutants.toml")
LEAST_MUTANTS = 60
LEAST_KILLED = 0.95  # of those that are not equivalent
RUN_SECONDS = 300
# A mutant may leave something unused.
UNUSED = ["-DCMAKE_COMPILE_WARNING_AS_ERROR=OFF"]


def planted_mutant(mutant):
    return planted(mutant["name"], mutant["file"], mutant["old"], mutant["new"])


def check(mutants):
    if len(mutants) < LEAST_MUTANTS:
        raise ListError(f"{LIST.name}: {len(mutants)} mutants, expected {LEAST_MUTANTS} or more")
    for mutant in mutants:
        if mutant["old"] == mutant["new"]:
            raise ListError(f"{LIST.name}: {mutant['name']}: the change changes nothing")
        planted_mutant(mutant)


def verdict(tree):
    """None if every cell is as in the baseline, else how it differs, in a few words."""
    shutil.rmtree(tree.results, ignore_errors=True)
    drasim = tree.program
    suite = tree.source / "bench" / "suite" / "core.yaml"
    baseline = tree.source / "bench" / "baseline" / "core.csv"
    # A mutant may hang: each cell has its own limit.
    ran = subprocess.run(
        [drasim, "bench", "run", suite, "--tier", "smoke", "--out", tree.results]
        + ["--jobs", tree.jobs, "--quiet", "--timeout", "60"],
        capture_output=True,
        text=True,
        cwd=tree.source,
        timeout=RUN_SECONDS,
    )
    if ran.returncode != 0:
        return "a cell failed"
    compared = subprocess.run(
        [drasim, "bench", "compare", baseline, tree.results, "--format", "json"],
        capture_output=True,
        text=True,
        cwd=tree.source,
    )
    if compared.returncode == 0:
        return None
    cells = json.loads(compared.stdout)["cells"]
    return f"{sum(cell['verdict'] != 'same' for cell in cells)} cells differ"


def kill(mutants, tree):
    """Prints a line for each mutant; returns the names of the survivors that are not equivalent."""
    tree.make()
    found = verdict(tree)
    if found is not None:
        raise ListError(f"the unchanged tree differs from its baseline: {found}")
    survivors = []
    for mutant in mutants:
        begin = time.monotonic()
        try:
            with tree.changed(mutant["file"], planted_mutant(mutant)):
                tree.make()
                found = verdict(tree)
        except subprocess.TimeoutExpired:
            found = "the suite ran too long"
        equivalent = mutant.get("equivalent")
        if found is None and equivalent is None:
            survivors.append(mutant["name"])
        what = f"killed    {found}" if found else f"equivalent {equivalent}"
        if found is None and equivalent is None:
            what = "SURVIVED"
        print(f"{mutant['name']:32} {what}  ({time.monotonic() - begin:.0f} s)", flush=True)
    return survivors


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--only", default="", help="names to plant, as a regular expression")
    parser.add_argument("--work", type=pathlib.Path, default=ROOT / "build" / "mutants")
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--check", action="store_true", help="plant nothing")
    args = parser.parse_args()
    try:
        mutants = read_list(LIST, "mutant")
        check(mutants)
        if args.check:
            print(f"{len(mutants)} mutants fit the sources")
            return 0
        chosen = [mutant for mutant in mutants if re.search(args.only, mutant["name"])]
        survivors = kill(chosen, Tree(args.work, args.jobs, UNUSED))
    except ListError as error:
        print(error, file=sys.stderr)
        return 2
    count = sum("equivalent" not in mutant for mutant in chosen)
    killed = count - len(survivors)
    print(f"{killed} of {count} killed, {len(chosen) - count} equivalent")
    return 0 if killed >= LEAST_KILLED * count else 1


if __name__ == "__main__":
    sys.exit(main())

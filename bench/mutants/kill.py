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
import tomllib

ROOT = pathlib.Path(__file__).resolve().parents[2]
LIST = pathlib.Path(__file__).with_name("mutants.toml")
LEAST_MUTANTS = 60
LEAST_KILLED = 0.95  # of those that are not equivalent
RUN_SECONDS = 300


class ListError(Exception):
    """A mutant that cannot be planted."""


def read_mutants():
    with LIST.open("rb") as file:
        return tomllib.load(file)["mutant"]


def planted(mutant):
    """The text of the mutant's file with its change."""
    text = (ROOT / mutant["file"]).read_text()
    if text.count(mutant["old"]) != 1:
        raise ListError(
            f"{LIST.name}: {mutant['name']}: found its text {text.count(mutant['old'])} times"
            f" in {mutant['file']}, expected once"
        )
    return text.replace(mutant["old"], mutant["new"])


def check(mutants):
    names = [mutant["name"] for mutant in mutants]
    if len(set(names)) != len(names):
        raise ListError(f"{LIST.name}: a name occurs twice")
    if len(mutants) < LEAST_MUTANTS:
        raise ListError(f"{LIST.name}: {len(mutants)} mutants, expected {LEAST_MUTANTS} or more")
    for mutant in mutants:
        if mutant["old"] == mutant["new"]:
            raise ListError(f"{LIST.name}: {mutant['name']}: the change changes nothing")
        planted(mutant)


class Tree:
    """A copy of the sources, with a build of its own."""

    def __init__(self, folder, jobs):
        self.source = folder / "tree"
        self.build = folder / "build"
        self.results = folder / "results"
        self.jobs = str(jobs)
        listed = subprocess.run(
            ["git", "ls-files", "-z"], cwd=ROOT, check=True, capture_output=True, text=True
        )
        for name in filter(None, listed.stdout.split("\0")):
            target = self.source / name
            # Equal files keep their time of change, and so their objects.
            if (ROOT / name).is_file() and not same_bytes(ROOT / name, target):
                target.parent.mkdir(parents=True, exist_ok=True)
                shutil.copyfile(ROOT / name, target)
        quietly(
            ["cmake", "--preset", "release", "-B", self.build, "-DDRASIM_BUILD_GUI=OFF"]
            + ["-DDRASIM_BUILD_TESTS=OFF", "-DDRASIM_BUILD_BENCH=OFF"]
            # A mutant may leave something unused.
            + ["-DCMAKE_COMPILE_WARNING_AS_ERROR=OFF"],
            cwd=self.source,
        )

    def make(self):
        quietly(["cmake", "--build", self.build, "-j", self.jobs, "--target", "drasim"])

    def verdict(self):
        """None if every cell is as in the baseline, else how it differs, in a few words."""
        shutil.rmtree(self.results, ignore_errors=True)
        drasim = self.build / "bin" / "drasim"
        suite = self.source / "bench" / "suite" / "core.yaml"
        baseline = self.source / "bench" / "baseline" / "core.csv"
        # A mutant may hang: each cell has its own limit.
        ran = subprocess.run(
            [drasim, "bench", "run", suite, "--tier", "smoke", "--out", self.results]
            + ["--jobs", self.jobs, "--quiet", "--timeout", "60"],
            capture_output=True,
            text=True,
            cwd=self.source,
            timeout=RUN_SECONDS,
        )
        if ran.returncode != 0:
            return "a cell failed"
        compared = subprocess.run(
            [drasim, "bench", "compare", baseline, self.results, "--format", "json"],
            capture_output=True,
            text=True,
            cwd=self.source,
        )
        if compared.returncode == 0:
            return None
        cells = json.loads(compared.stdout)["cells"]
        return f"{sum(cell['verdict'] != 'same' for cell in cells)} cells differ"


def same_bytes(a, b):
    return b.is_file() and a.read_bytes() == b.read_bytes()


def quietly(command, cwd=None):
    ran = subprocess.run(command, capture_output=True, text=True, cwd=cwd)
    if ran.returncode != 0:
        raise ListError("\n".join((ran.stdout + ran.stderr).splitlines()[-20:]))


def kill(mutants, tree):
    """Prints a line for each mutant; returns the names of the survivors that are not equivalent."""
    tree.make()
    found = tree.verdict()
    if found is not None:
        raise ListError(f"the unchanged tree differs from its baseline: {found}")
    survivors = []
    for mutant in mutants:
        begin = time.monotonic()
        file = tree.source / mutant["file"]
        original = file.read_text()
        file.write_text(planted(mutant))
        try:
            tree.make()
            found = tree.verdict()
        except subprocess.TimeoutExpired:
            found = "the suite ran too long"
        finally:
            file.write_text(original)
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
        mutants = read_mutants()
        check(mutants)
        if args.check:
            print(f"{len(mutants)} mutants fit the sources")
            return 0
        chosen = [mutant for mutant in mutants if re.search(args.only, mutant["name"])]
        survivors = kill(chosen, Tree(args.work, args.jobs))
    except ListError as error:
        print(error, file=sys.stderr)
        return 2
    count = sum("equivalent" not in mutant for mutant in chosen)
    killed = count - len(survivors)
    print(f"{killed} of {count} killed, {len(chosen) - count} equivalent")
    return 0 if killed >= LEAST_KILLED * count else 1


if __name__ == "__main__":
    sys.exit(main())

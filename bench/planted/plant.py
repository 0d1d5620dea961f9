#!/usr/bin/python3
"""Plants work in hot functions, one at a time, and demands that the gate on costs notices it.

  bench/planted/plant.py                     +1 % of the instructions of one entry, for each plant
  bench/planted/plant.py --only '^event-'    some of them
  bench/planted/plant.py --cpu 30 --only '^preemption$'
                                             +30 % of an entry's CPU time, two programs side by side
  bench/planted/plant.py --check             only whether plants.toml fits the sources

Works on a copy of the tree in build/planted, so the sources stay as they are. Decisions must stay
the same. Exit codes: 0 all are noticed, 1 one is not, 2 the list or a build is wrong.
"""
import argparse
import csv
import json
import pathlib
import re
import shutil
import statistics
import subprocess
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
from planting import ROOT, ListError, Tree, planted, read_list  # noqa: E402
from resample_blocks import comparisons_of, read_ratios  # noqa: E402

LIST = pathlib.Path(__file__).with_name("plants.toml")
LEAST_PLANTS = 10
WORSE = 1
# As in sim/bench/cost_verdicts.h: the limit of an entry by itself, which alone counts among many.
MOST_ENTRY_PERCENT = 0.5
# The work is corrected until it costs what was asked for, within a tenth.
TOLERANCE = 0.1
TRIES = 3
# Load changes ratios, small ones most: CPU time is measured with much work, which is then scaled.
CALIBRATION_PERCENT = 100
CALIBRATION_BLOCKS = 15
SHARE_CAUGHT = 0.99
WORK = "for (volatile unsigned planted = {}; planted != 0; planted = planted - 1) {{\n}}\n"


def planted_work(plant, times):
    return planted(plant["name"], plant["file"], plant["after"], plant["after"] + WORK.format(times))


def check(plants):
    if len(plants) < LEAST_PLANTS:
        raise ListError(f"{LIST.name}: {len(plants)} plants, expected {LEAST_PLANTS} or more")
    for plant in plants:
        planted_work(plant, plant["times"])


def instructions(folder):
    """Those of each entry: its cells together."""
    sums = {}
    with (folder / "costs.csv").open(newline="") as file:
        for row in csv.DictReader(file):
            if row["instructions"]:
                sums[row["entry"]] = sums.get(row["entry"], 0) + int(row["instructions"])
    return sums


class Planter:
    """The tree, its unchanged program, and the suite."""

    def __init__(self, tree):
        self.tree = tree
        self.suite = tree.source / "bench" / "suite" / "core.yaml"
        tree.make()
        shutil.rmtree(tree.results, ignore_errors=True)
        tree.results.mkdir(parents=True)
        self.base = tree.results / "base_program"
        shutil.copy(tree.program, self.base)

    def run(self, arguments):
        ran = subprocess.run(arguments, capture_output=True, text=True)
        if ran.returncode not in (0, WORSE):
            raise ListError(f"{ran.stdout}{ran.stderr}exit code {ran.returncode}")
        return ran

    def count(self, program, entries, name):
        """Counts the instructions of entries into a folder."""
        folder = self.tree.results / name
        shutil.rmtree(folder, ignore_errors=True)
        self.run(
            [program, "bench", "run", self.suite, "--tier", "pr", "--instructions", "--out", folder]
            + ["--filter", f"^({'|'.join(entries)})/", "--jobs", self.tree.jobs, "--quiet"]
        )
        return folder

    def side_by_side(self, entry, blocks):
        """The ratios of CPU time, by block."""
        folder = self.tree.results / "side_by_side"
        shutil.rmtree(folder, ignore_errors=True)
        self.run(
            [self.base, "bench", "compare", self.base, self.tree.program, "--suite", self.suite]
            + ["--tier", "pr", "--filter", f"^{entry}/", "--blocks", str(blocks), "--out", folder]
            + ["--jobs", self.tree.jobs, "--quiet"]
        )
        (ratios,) = read_ratios(folder / "blocks.csv").values()
        return ratios

    def build(self, plant, times):
        with self.tree.changed(plant["file"], planted_work(plant, times)):
            self.tree.make()

    def calibrate(self, plant, times, percent, measure):
        """Builds with work that `measure` finds to cost that percentage; returns what it finds."""
        for _ in range(TRIES):
            self.build(plant, times)
            found = measure()
            if abs(found - percent) <= TOLERANCE * percent:
                return times, found
            times = max(1, round(times * percent / max(found, percent / 100)))
        raise ListError(f"{plant['name']}: found {found:+.2f} %, expected {percent:+.2f} %")


def plant_instructions(plants, planter, percent):
    """Prints a line for each plant; returns the names of those that the gate did not notice."""
    entries = sorted({plant["entry"] for plant in plants})
    base_folder = planter.count(planter.base, entries, "base")
    base = instructions(base_folder)
    unnoticed = []
    for plant in plants:
        entry = plant["entry"]
        head_folder = planter.tree.results / "head"

        def measure():
            planter.count(planter.tree.program, [entry], "head")
            return 100 * (instructions(head_folder)[entry] / base[entry] - 1)

        times, found = planter.calibrate(plant, plant["times"], percent, measure)
        compared = planter.run(
            [planter.base, "bench", "compare", base_folder, head_folder, "--instructions"]
            + ["--format", "json"]
        )
        cells = json.loads(compared.stdout)["cells"]
        noticed = compared.returncode == WORSE and found > MOST_ENTRY_PERCENT
        noticed &= all("instructions" in cell["why"] for cell in cells)
        if not noticed:
            unnoticed.append(plant["name"])
        verdict = "worse" if noticed else "NOT NOTICED"
        print(
            f"{plant['name']:24} {entry:34} times {times:5} {found:+.2f} %"
            f"  exit code {compared.returncode}  {verdict}",
            flush=True,
        )
    return unnoticed


def plant_cpu_time(plants, planter, percent, blocks):
    """The same for CPU time, with the shares of comparisons that find it."""
    unnoticed = []
    for plant in plants:
        entry = plant["entry"]

        def measure():
            ratios = planter.side_by_side(entry, CALIBRATION_BLOCKS)
            return 100 * (statistics.median(ratios) - 1)

        times, found = planter.calibrate(
            plant, CALIBRATION_PERCENT * plant["times"], CALIBRATION_PERCENT, measure
        )
        times = round(times * percent / found)
        planter.build(plant, times)
        ratios = planter.side_by_side(entry, blocks)
        consecutive, resampled = comparisons_of(ratios)
        if resampled["worse"] < SHARE_CAUGHT * resampled["all"]:
            unnoticed.append(plant["name"])
        print(
            f"{plant['name']:24} {entry:34} times {times:5}"
            f" {100 * (statistics.median(ratios) - 1):+.2f} % CPU time in {blocks} blocks; worse:"
            f" {consecutive['worse']} of {consecutive['all']} comparisons one after the other,"
            f" {resampled['worse']} of {resampled['all']} resampled",
            flush=True,
        )
    return unnoticed


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--only", default="", help="names to plant, as a regular expression")
    parser.add_argument("--percent", type=float, default=1, help="of an entry's instructions")
    parser.add_argument("--cpu", type=float, metavar="PERCENT", help="of CPU time instead")
    parser.add_argument("--blocks", type=int, default=300, help="with --cpu")
    parser.add_argument("--work", type=pathlib.Path, default=ROOT / "build" / "planted")
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--check", action="store_true", help="plant nothing")
    args = parser.parse_args()
    try:
        plants = read_list(LIST, "plant")
        check(plants)
        if args.check:
            print(f"{len(plants)} plants fit the sources")
            return 0
        chosen = [plant for plant in plants if re.search(args.only, plant["name"])]
        planter = Planter(Tree(args.work, args.jobs))
        if args.cpu is not None:
            unnoticed = plant_cpu_time(chosen, planter, args.cpu, args.blocks)
        else:
            unnoticed = plant_instructions(chosen, planter, args.percent)
    except ListError as error:
        print(error, file=sys.stderr)
        return 2
    print(f"{len(chosen) - len(unnoticed)} of {len(chosen)} noticed")
    return 1 if unnoticed else 0


if __name__ == "__main__":
    sys.exit(main())

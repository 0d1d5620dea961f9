#!/usr/bin/python3
"""Prints the instructions of one decision for each entry with cases that is marked `cost`.

  bench/suite/instructions_per_decision.py build/release/bin/drasim
  bench/suite/instructions_per_decision.py PROGRAM --only '^structured-mig'

Runs each entry twice under valgrind's cachegrind, with few and with more rounds; what the further
rounds take is divided by their decisions. So reading or generating the cases, and the first round,
whose selectors are compiled, do not count. A decision is a node, a step of the scheduler plugin, or
an expression.
"""
import argparse
import json
import pathlib
import re
import subprocess
import sys
import tempfile

SUITE = pathlib.Path(__file__).with_name("core.yaml")
FEW = 2


def costly_entries(suite):
    """The names of entries with `cases` and `cost`, each with its rounds."""
    for block in re.split(r"(?m)^- name: ", suite.read_text())[1:]:
        rounds = re.search(r"(?m)^  cases: \{.*\brounds: (\d+)", block)
        if rounds and re.search(r"(?m)^  cost: true", block):
            yield block.split()[0], int(rounds[1])


def measure(program, suite, entry, rounds):
    """Instructions and decisions of a run."""
    with tempfile.NamedTemporaryFile() as out:
        command = ["valgrind", "-q", "--tool=cachegrind", "--cache-sim=no", "--branch-sim=no"]
        command += [f"--cachegrind-out-file={out.name}", program, "bench", "cases", suite, entry]
        command += ["--rounds", str(rounds), "--format", "json"]
        ran = subprocess.run(command, check=True, capture_output=True, text=True)
        summary = pathlib.Path(out.name).read_text().rsplit("summary:", 1)[1]
    return int(summary), json.loads(ran.stdout)["figures"]["decisions"]


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("program")
    parser.add_argument("--suite", type=pathlib.Path, default=SUITE)
    parser.add_argument("--only", default="", help="entries, as a regular expression")
    args = parser.parse_args()
    print(f"{'entry':32} {'instructions per decision':>26}")
    for entry, rounds in costly_entries(args.suite):
        if not re.search(args.only, entry):
            continue
        few = measure(args.program, args.suite, entry, FEW)
        more = measure(args.program, args.suite, entry, FEW + max(2, rounds // 4))
        each = (more[0] - few[0]) / (more[1] - few[1])
        print(f"{entry:32} {each:26,.0f}", flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())

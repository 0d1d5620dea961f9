#!/usr/bin/python3
"""Prints the instructions of one call of a function, for each benchmark of a program.

  bench/micro/instructions_per_call.py build/release/bin/allocator_bench StructuredAllocator::Decide
  bench/micro/instructions_per_call.py PROGRAM FUNCTION --only 'MigNode/0'

Runs each benchmark twice under valgrind's callgrind, for a short and for a longer time. The further
calls count, callees included, so the first calls do not. All functions whose names begin like
FUNCTION count; a benchmark that does not call any of them often enough has a dash.
"""
import argparse
import pathlib
import re
import subprocess
import sys
import tempfile

FEW_SECONDS = 0.001


def calls_of(profile, function):
    """Calls and inclusive instructions of a function, from callgrind's file."""
    names = {}
    calls = instructions = 0
    callee = ""
    is_called = False
    for line in profile.splitlines():
        named = re.match(r"c?fn=\((\d+)\)(?: (.*))?", line)
        if named:
            if named[2]:
                names[named[1]] = named[2]
            callee = names[named[1]]
        elif line.startswith("calls="):
            is_called = f"::{function}" in callee
            calls += int(line[6:].split()[0]) if is_called else 0
        elif is_called:
            instructions += int(line.split()[1])
            is_called = False
    return calls, instructions


def measure(program, function, benchmark, seconds):
    with tempfile.NamedTemporaryFile() as out:
        command = ["valgrind", "-q", "--tool=callgrind", f"--callgrind-out-file={out.name}"]
        command += [program, f"--benchmark_filter=^{benchmark}$"]
        command += [f"--benchmark_min_time={seconds}"]
        subprocess.run(command, check=True, capture_output=True)
        return calls_of(pathlib.Path(out.name).read_text(), function)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("program")
    parser.add_argument("function")
    parser.add_argument("--only", default="", help="benchmarks, as a regular expression")
    parser.add_argument("--seconds", type=float, default=0.05, help="the longer time")
    args = parser.parse_args()
    listed = subprocess.run(
        [args.program, "--benchmark_list_tests"], check=True, capture_output=True, text=True
    ).stdout.split()
    print(f"{'benchmark':40} {'instructions per call':>22}")
    for benchmark in listed:
        if not re.search(args.only, benchmark):
            continue
        few, more = (
            measure(args.program, args.function, benchmark, seconds)
            for seconds in (FEW_SECONDS, args.seconds)
        )
        calls = more[0] - few[0]
        each = f"{(more[1] - few[1]) / calls:,.0f}" if calls > 0 else "-"
        print(f"{benchmark:40} {each:>22}", flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())

#!/usr/bin/python3
"""Ranks allocator cases by the instructions of one decision, and prints the worst.

  bench/suite/worst_cases.py build/release/bin/drasim
  bench/suite/worst_cases.py PROGRAM --cases FILE.jsonl.gz --cases FILE.jsonl.gz --top 20
  bench/suite/worst_cases.py PROGRAM --grow

The cases are those of data/structured.jsonl, worlds that drasim generates, the constructions
below, which are made to be hard for the pruned search, and those of the files named. Instructions
are those of AllocationSearch::Run under valgrind's callgrind, verdicts of selectors included,
divided by the nodes of the case. The time is that of the whole answer, but for the program's
start. Steps are those of the original's search (`drasim cases sdra --count-steps`); more than can
be counted in LIMIT seconds of processor time are shown as a dash. --grow makes each construction
larger until a decision takes more than a second, or it has 128 devices.
"""
import argparse
import gzip
import json
import pathlib
import re
import resource
import subprocess
import sys
import tempfile

import make_cases
from make_cases import DRIVER, NODE, attribute, cel, claim, exactly, first_of, pool

SUITE = pathlib.Path(__file__).with_name("core.yaml")
LIMIT = 10
DEVICE_LIMIT = 32  # of a claim


def case(name, slices, claims, *features):
    given = make_cases.allocator(name, slices, claims)["case"]
    given["Features"] = given["Features"] + list(features)
    return given


def device(number, capacity=None, **values):
    made = {"name": f"gpu-{number:03}"}
    made["attributes"] = {
        name: {"int": value} if isinstance(value, int) else {"string": value}
        for name, value in values.items()
    }
    if capacity:
        made["capacity"] = {"memory": {"value": str(capacity)}}
        made["allowMultipleAllocations"] = True
    return made


def all_of(name, requests, kind="matchAttribute"):
    return {"requests": requests, kind: f"{DRIVER}/{name}"}


# --- Constructions. Each takes a size, and has no solution. ---


def capacity_packing(size):
    """`size` unequal shared devices; shares just over a half of each, then one of a half."""
    devices = [device(i, 100 + i) for i in range(size)]
    shares = [60 + i % 3 for i in range(size - 1)] + [50, 50, 50]
    requests = [
        exactly(f"r{i}", capacity={"requests": {"memory": str(share)}})
        for i, share in enumerate(shares)
    ]
    return case(f"capacity-packing-{size}", [pool(devices)], [claim(*requests)])


def counter_packing(size):
    """`size` GPUs with unequal totals, whose partitions of 5 and 4 of 9 are wanted."""
    sets = [{"name": f"g{i}", "counters": {"slices": {"value": str(9 + i % 2)}}}
            for i in range(size)]
    devices = []
    for i in range(size):
        for number, slices in enumerate([6, 6, 5, 5]):
            one = device(4 * i + number, kind=slices)
            counters = {"slices": {"value": str(slices)}}
            one["consumesCounters"] = [{"counterSet": f"g{i}", "counters": counters}]
            devices.append(one)
    wanted = [
        exactly("big", size - 2, selectors=[cel(f"{attribute('kind')} == 6")]),
        exactly("small", 5, selectors=[cel(f"{attribute('kind')} == 5")]),
    ]
    slices = [pool([], count=2, sharedCounters=sets, nodeName="node-0"),
              pool(devices, count=2, index=1)]
    return case(f"counter-packing-{size}", slices, [claim(*wanted)])


def derived_attribute(size):
    """One device more than there is of a derived value: nothing is pruned."""
    devices = [device(i, numa=i % 2) for i in range(2 * size)]
    derived = [{"name": "derived/numa", "expression": attribute("numa")}]
    constraint = {"requests": ["r"], "matchAttribute": "derived/numa"}
    wanted = exactly("r", size + 1, derivedAttributes=derived)
    return case(f"derived-attribute-{size}", [pool(devices)],
                [claim(wanted, constraints=[constraint])], "DerivedAttributes")


def errors_beyond_limit(size):
    """A claim that may exceed the limit of devices, and a device whose sight is an error."""
    devices = [device(i, index=i) for i in range(2 * size)]
    first = f"{attribute('index')} == 0"
    broken = f"{attribute('index')} == 0 ? {attribute('nothing')} == 1 : false"
    wanted = [
        exactly("first", 1, selectors=[cel(first)]),
        exactly("some", size),
        first_of("many", exactly("a", DEVICE_LIMIT, selectors=[cel(broken)]),
                 exactly("b", 1, selectors=[cel(broken)])),
    ]
    return case(f"errors-beyond-limit-{size}", [pool(devices)], [claim(*wanted)])


def alternatives(size):
    """`size` requests of eight alternatives each; all values of distinctAttribute but one."""
    devices = [device(i, kind=i % 8, serial=i % (size - 1)) for i in range(4 * size)]
    groups = [
        first_of(f"r{i}", *(exactly(f"a{kind}", selectors=[cel(f"{attribute('kind')} == {kind}")])
                            for kind in range(8)))
        for i in range(size)
    ]
    constraint = all_of("serial", [f"r{i}" for i in range(size)], "distinctAttribute")
    return case(f"eight-alternatives-{size}", [pool(devices)],
                [claim(*groups, constraints=[constraint])])


def distinct_values(size):
    """One value more is wanted than there is; each of them has two devices."""
    devices = [device(i, serial=i // 2) for i in range(2 * size)]
    constraint = all_of("serial", ["r"], "distinctAttribute")
    return case(f"distinct-values-{size}", [pool(devices)],
                [claim(exactly("r", size + 1), constraints=[constraint])])


def match_eight(size):
    """Eight requests of one value each, of `size` values that all lack one of the eight kinds."""
    devices = [device(8 * value + kind, kind=kind, value=value)
               for value in range(size) for kind in range(8) if kind != 7 - value % 4]
    wanted = [exactly(f"r{kind}", selectors=[cel(f"{attribute('kind')} == {kind}")])
              for kind in range(8)]
    constraint = all_of("value", [f"r{kind}" for kind in range(8)])
    return case(f"match-eight-requests-{size}", [pool(devices)],
                [claim(*wanted, constraints=[constraint])])


def chain(size):
    """A path through a grid of `size` rows and columns, by turns; its end lies elsewhere."""
    devices = [device(size * row + column, row=row, column=column, end=0)
               for row in range(size) for column in range(size)]
    devices += [device(size * size + i, row=size, column=size, end=1) for i in range(2)]
    length = 2 * size
    wanted = [exactly(f"r{i}", selectors=[cel(f"{attribute('end')} == {int(i == length - 1)}")])
              for i in range(length)]
    constraints = [all_of("column" if i % 2 else "row", [f"r{i}", f"r{i + 1}"])
                   for i in range(length - 1)]
    return case(f"chain-of-constraints-{size}", [pool(devices)],
                [claim(*wanted, constraints=constraints)])


def two_constraints(size):
    """A whole row of a grid, with columns that differ, and one device of yet another column."""
    devices = [device(size * row + column, row=row, column=column)
               for row in range(size) for column in range(size)]
    constraints = [all_of("row", ["r"]), all_of("column", ["r"], "distinctAttribute"),
                   all_of("column", ["q", "r"], "distinctAttribute")]
    return case(f"match-and-distinct-{size}", [pool(devices)],
                [claim(exactly("r", size), exactly("q"), constraints=constraints)])


CONSTRUCTIONS = {  # and their size in the table
    capacity_packing: 7,
    counter_packing: 8,
    derived_attribute: 14,
    errors_beyond_limit: 8,
    alternatives: 5,
    distinct_values: 16,
    match_eight: 16,
    chain: 3,
    two_constraints: 6,
}

WORLDS = [  # entries of core.yaml, whose cases drasim generates
    "structured-last-of-10000",
    "structured-mig-last-free",
    "structured-mig-none-fits",
    "structured-next-impossible",
    "structured-one-too-many",
]

# --- Measurement ---


def nodes_of(given):
    return given.get("Nodes") or [given.get("Node") or NODE]


def devices_of(given):
    return sum(len(one["spec"].get("devices") or []) for one in given["Slices"])


def variant_of(given):
    later = {"DerivedAttributes", "ListTypeAttributes", "CompatibilityGroups",
             "OptionalNodeOperations"}
    return "experimental" if later & set(given["Features"] or []) else "incubating"


def answer(program, given, *flags, before=(), limit=600):
    """Seconds of processor time and what is printed; None if it takes longer than the limit."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime
    with tempfile.NamedTemporaryFile("w", suffix=".jsonl") as file:
        file.writelines(json.dumps({"case": one}) + "\n" for one in given)
        file.flush()
        command = [*before, program, "cases", "sdra", file.name, "--variant", variant_of(given[0])]
        command = ["prlimit", f"--cpu={limit}", *command, *flags]
        ran = subprocess.run(command, capture_output=True, text=True, check=False)
    if ran.returncode < 0:
        return None, ""
    ran.check_returncode()
    return resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime - used, ran.stdout


def instructions(program, given):
    """Of the searches of all nodes, for each case. The cases are of one variant."""
    with tempfile.TemporaryDirectory() as folder:
        valgrind = ["valgrind", "-q", "--tool=callgrind", f"--callgrind-out-file={folder}/out"]
        valgrind += ["--toggle-collect=drasim::AllocationSearch::Run*"]
        valgrind += ["--dump-before=drasim::AnswerAllocatorCase*"]
        answer(program, given, before=valgrind)
        # A part for what comes before each case, and one for the last case.
        parts = [pathlib.Path(f"{folder}/out.{i + 2}") for i in range(len(given) - 1)]
        parts.append(pathlib.Path(f"{folder}/out"))
        found = [re.search(r"(?m)^(?:totals|summary): (\d+)", part.read_text()) for part in parts]
        return [int(one[1]) if one else 0 for one in found]


def steps(program, given):
    _, text = answer(program, [given], "--count-steps", limit=LIMIT)
    if not text:
        return "-"
    return f"{max((int(n) for n in re.findall(r'NumAllocateOne.: ?([0-9]+)', text)), default=0):,}"


def seconds(program, given):
    """The fastest of three runs."""
    return min(answer(program, [given])[0] for _ in range(3))


def cases_of(files):
    for file in files:
        read = gzip.open(file, "rt") if str(file).endswith(".gz") else open(file)
        with read:
            for line in read:
                given = json.loads(line)["case"]
                if "steps" not in given and given.get("Slices"):
                    yield given


def worlds(program):
    for entry in WORLDS:
        command = [program, "bench", "cases", str(SUITE), entry, "--cases"]
        lines = subprocess.run(command, capture_output=True, text=True, check=True).stdout
        for line in lines.splitlines():
            yield {**json.loads(line)["case"], "Name": entry}


def grow(program):
    """The size at which each construction takes more than a second."""
    print(f"{'construction':28} {'size':>5} {'devices':>8} {'seconds':>8}")
    for construct, size in CONSTRUCTIONS.items():
        took = 0
        while took is not None and took < 1 and devices_of(construct(size + 1)) <= 128:
            size += 1
            last = construct(size)
            took, _ = answer(program, [last], limit=LIMIT)
        shown = f">{LIMIT}" if took is None else f"{took:.2f}"
        print(f"{construct.__name__:28} {size:5} {devices_of(last):8} {shown:>8}", flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("program")
    parser.add_argument("--cases", action="append", default=[], help="a file of more cases")
    parser.add_argument("--top", type=int, default=10)
    parser.add_argument("--grow", action="store_true")
    args = parser.parse_args()
    if args.grow:
        grow(args.program)
        return 0
    given = [construct(size) for construct, size in CONSTRUCTIONS.items()]
    given += worlds(args.program)
    given += cases_of([make_cases.FILE, *args.cases])
    ranked = []
    for variant in ("incubating", "experimental"):
        cases = [one for one in given if variant_of(one) == variant]
        counted = instructions(args.program, cases)
        ranked += [(n // len(nodes_of(one)), one) for n, one in zip(counted, cases)]
    ranked.sort(key=lambda each: (-each[0], each[1]["Name"]))
    nothing = make_cases.allocator("nothing", [pool([])], [claim(exactly("r"))])["case"]
    start = seconds(args.program, nothing)
    print(f"{'case':44} {'devices':>8} {'steps':>12} {'instructions':>14} {'ms':>8}")
    for each, one in ranked[: args.top]:
        took = seconds(args.program, one) - start
        shown = f"{1000 * took:.0f}" if took > 0.01 else "<10"  # the clock is no finer
        print(f"{one['Name']:44} {devices_of(one):8} {steps(args.program, one):>12} {each:14,} "
              f"{shown:>8}", flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())

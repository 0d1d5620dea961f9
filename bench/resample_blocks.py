#!/usr/bin/env python3
"""How often CPU time raises an alarm: makes comparisons from real blocks.

Usage: resample_blocks.py BLOCKS.csv [COMPARISONS]

BLOCKS.csv is what `drasim bench compare OLD NEW --suite FILE --blocks 300` leaves in its folder; with
NEW a copy of OLD, each alarm is a false one. A comparison judges 15 blocks as docs/benchmarks.md says:
blocks one after the other, and each of the 1,000 others draws a cell's blocks with replacement.
"""

import csv
import random
import sys

BLOCKS = 15
LIMIT = 1.05
COMPARISONS = 1000


def read_ratios(path):
    """By cell, the ratios of the least times of each block."""
    ratios = {}
    with open(path, newline="") as file:
        for row in csv.DictReader(file):
            least = {
                side: min(float(row[f"{side}_seconds_{i}"]) for i in (1, 2, 3))
                for side in ("base", "head")
            }
            cell = "/".join(row[key] for key in ("entry", "queue", "policy", "seed"))
            ratios.setdefault(cell, []).append(least["head"] / least["base"])
    return ratios


def count(samples):
    """How many comparisons there are, and how many find the head worse or better."""
    counts = {"all": 0, "worse": 0, "better": 0}
    for sample in map(sorted, samples):
        counts["all"] += 1
        counts["worse"] += sample[1] > LIMIT
        counts["better"] += sample[-2] * LIMIT < 1
    return counts


def comparisons_of(ratios, comparisons=COMPARISONS):
    """The counts of comparisons of consecutive blocks, and of resampled ones."""
    draw = random.Random(1)
    whole = len(ratios) // BLOCKS * BLOCKS
    consecutive = count(ratios[i : i + BLOCKS] for i in range(0, whole, BLOCKS))
    return consecutive, count(draw.choices(ratios, k=BLOCKS) for _ in range(comparisons))


def main():
    comparisons = int(sys.argv[2]) if len(sys.argv) > 2 else COMPARISONS
    for cell, blocks in read_ratios(sys.argv[1]).items():
        consecutive, resampled = comparisons_of(blocks, comparisons)
        beyond = sum(ratio > LIMIT for ratio in blocks)
        print(f"{cell}: {len(blocks)} blocks, {beyond} beyond +5 %")
        for name, counts in (("consecutive", consecutive), ("resampled", resampled)):
            print(
                f"  of {counts['all']} {name} comparisons {counts['worse']} worse,"
                f" {counts['better']} better"
            )


if __name__ == "__main__":
    main()

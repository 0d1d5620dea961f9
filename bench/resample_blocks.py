#!/usr/bin/env python3
"""How often CPU time raises a false alarm: resamples comparisons from real blocks.

Usage: resample_blocks.py BLOCKS.csv [COMPARISONS]

BLOCKS.csv is what `drasim bench compare OLD NEW --suite FILE --blocks 300` leaves in its folder, with
NEW a copy of OLD. Each of the 1,000 comparisons draws 15 of a cell's blocks, with replacement, and
judges them as docs/benchmarks.md says.
"""

import csv
import random
import sys

BLOCKS = 15
LIMIT = 1.05


def main():
    comparisons = int(sys.argv[2]) if len(sys.argv) > 2 else 1000
    ratios = {}
    with open(sys.argv[1], newline="") as file:
        for row in csv.DictReader(file):
            least = {
                side: min(float(row[f"{side}_seconds_{i}"]) for i in (1, 2, 3))
                for side in ("base", "head")
            }
            cell = "/".join(row[key] for key in ("entry", "queue", "policy", "seed"))
            ratios.setdefault(cell, []).append(least["head"] / least["base"])
    draw = random.Random(1)
    for cell, blocks in ratios.items():
        worse = better = 0
        for _ in range(comparisons):
            sample = sorted(draw.choices(blocks, k=BLOCKS))
            worse += sample[1] > LIMIT
            better += sample[-2] * LIMIT < 1
        beyond = sum(ratio > LIMIT for ratio in blocks)
        print(
            f"{cell}: {len(blocks)} blocks, {beyond} beyond +5 %; of {comparisons} comparisons"
            f" {worse} worse, {better} better"
        )


if __name__ == "__main__":
    main()

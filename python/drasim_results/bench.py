"""Tables of `drasim bench run` and baselines."""

import os

from drasim_results.errors import ResultsError
from drasim_results.table import read_csv

_CELL = ("entry", "queue", "policy", "seed")
_TEXTS = frozenset(
    "suite entry queue policy tier primary better margin random inputs reason fingerprint".split()
)
# Counts by plugin, "PLUGIN=COUNT ...", and digests of cases. Tables of earlier versions lack them.
_CALLS = frozenset(("filter_calls", "score_calls", "answers"))
_COSTS = ("cpu_seconds", "peak_rss_kib", "instructions")
_HEX = frozenset("0123456789abcdef")


class Bench:
    """The results of a suite.

        cells      a row for each cell: suite, version, entry, queue, policy, seed, tier, primary,
                   better, margin, random, inputs, the metrics, the counters of work, reason and
                   fingerprint. Metrics that a run has not are None.
        costs      CPU seconds, peak memory and, where counted, instructions by cell; None for a
                   baseline
        missing    cells that could not run, and why; None for a baseline
    """

    def __init__(self, cells, costs=None, missing=None):
        self.cells = cells
        self.costs = costs
        self.missing = missing


def _cells(path):
    table = read_csv(path, _TEXTS | _CALLS)
    for name in [*sorted(_TEXTS), "version", "seed"]:
        if name not in table:
            raise ResultsError(f"{path}:1: found no column '{name}'")
    for name in table.columns:
        if name not in _TEXTS | _CALLS and any(isinstance(value, str) for value in table[name]):
            raise ResultsError(f"{path}: column {name} has a field that is no number")
    for row, fingerprint in enumerate(table["fingerprint"]):
        if len(fingerprint) != 16 or not _HEX.issuperset(fingerprint):
            raise ResultsError(
                f"{path}: row {row + 1}: fingerprint: expected 16 hexadecimal digits"
                " (the line may be cut off)"
            )
    _check_cells(path, table)
    if len(set(zip(table["suite"], table["version"]))) > 1:
        raise ResultsError(f"{path}: rows of several suites or versions")
    return table


def _check_cells(path, table):
    seen = set()
    for row, cell in enumerate(zip(*(table[name] for name in _CELL))):
        if not isinstance(cell[3], int) or cell[3] < 0:
            raise ResultsError(f"{path}: row {row + 1}: seed: expected a number from 0 on")
        if cell in seen:
            raise ResultsError(f"{path}: row {row + 1}: the cell is there twice")
        seen.add(cell)


def _beside(folder, name, columns, texts, maybe=()):
    path = os.path.join(folder, name)
    table = read_csv(path, ("entry", "queue", "policy", *texts))
    if "instructions" in columns and "instructions" not in table:
        columns = columns[:-1]  # of an earlier version
    # There may be more.
    if table.columns[: len(_CELL) + len(columns)] != [*_CELL, *columns]:
        raise ResultsError(f"{path}:1: expected the columns {', '.join([*_CELL, *columns])}")
    for column in columns:
        if column in texts:
            continue
        allows_none = column in maybe
        if any(isinstance(v, str) or (v is None and not allows_none) for v in table[column]):
            raise ResultsError(f"{path}: column {column} has a field that is no number")
    _check_cells(path, table)
    return table


def read_bench(path):
    """The folder of a `drasim bench run`, or a file of its cells, such as a baseline.

    Raises ResultsError for anything that is neither, and for torn or repeated lines.
    """
    path = os.fspath(path)
    if not os.path.isdir(path):
        return Bench(_cells(path))
    return Bench(
        _cells(os.path.join(path, "cells.csv")),
        _beside(path, "costs.csv", _COSTS, (), ("instructions",)),
        _beside(path, "missing.csv", ("what",), ("what",)),
    )

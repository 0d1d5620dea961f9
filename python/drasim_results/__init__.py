"""Reads the results of drasim: the folder of a run, its ledger, and tables of benchmarks.

    run = drasim_results.read_run("results/fgd")
    ledger = drasim_results.read_ledger("results/fgd")
    bench = drasim_results.read_bench("results/bench")

Tables are columns by name, with to_pandas(), to_polars() and to_arrow() where those libraries are
installed. Files that cannot be read raise ResultsError, and nothing else.
"""

from drasim_results.bench import Bench, read_bench
from drasim_results.errors import ResultsError
from drasim_results.ledger import (
    ATTEMPT_FAILED,
    DEVICES_CHANGED,
    KIND_NAMES,
    NODE_CHANGED,
    POD_ADMITTED,
    POD_ARRIVED,
    POD_BOUND,
    POD_DELETED,
    POD_DROPPED,
    POD_EVICTED,
    POD_FAILED,
    POD_FINISHED,
    POD_REJECTED,
    POD_RESERVED,
    POD_STARTED,
    POD_UNRESERVED,
    RUN_ENDED,
    Ledger,
    read_ledger,
)
from drasim_results.run import Run, read_run
from drasim_results.table import Table

__all__ = [
    "ATTEMPT_FAILED",
    "Bench",
    "DEVICES_CHANGED",
    "KIND_NAMES",
    "Ledger",
    "NODE_CHANGED",
    "POD_ADMITTED",
    "POD_ARRIVED",
    "POD_BOUND",
    "POD_DELETED",
    "POD_DROPPED",
    "POD_EVICTED",
    "POD_FAILED",
    "POD_FINISHED",
    "POD_REJECTED",
    "POD_RESERVED",
    "POD_STARTED",
    "POD_UNRESERVED",
    "RUN_ENDED",
    "ResultsError",
    "Run",
    "Table",
    "read_bench",
    "read_ledger",
    "read_run",
]

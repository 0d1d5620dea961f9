"""The folder that `drasim run --out DIR` writes."""

import json
import os

from drasim_results.errors import ResultsError
from drasim_results.ledger import read_ledger
from drasim_results.table import read_bytes, read_csv

# Names and lists of numbers, which may look like numbers in one run and not in another.
_TEXTS = frozenset(
    "pod job tenant node devices grants reason message event gpu_spec phase state".split()
)


class Run:
    """A finished run: each file is read when it is first asked for.

        summary       summary.json, as a dict
        info          run.json, as a dict
        scenario      scenario.yaml, as text
        pods, jobs, timeseries, by_load, device_events    the CSV files, as Tables
        ledger()      the ledger

    Times of the CSV files are seconds, as in their headers. A file that the run has not written
    raises ResultsError.
    """

    def __init__(self, path):
        self.path = path
        self._read = {}

    def _once(self, name, read):
        if name not in self._read:
            self._read[name] = read(os.path.join(self.path, name))
        return self._read[name]

    def table(self, name):
        """The file NAME.csv of the folder as a Table."""
        return self._once(name + ".csv", lambda path: read_csv(path, _TEXTS))

    @property
    def summary(self):
        return self._once("summary.json", _read_json)

    @property
    def info(self):
        return self._once("run.json", _read_json)

    @property
    def scenario(self):
        return self._once("scenario.yaml", _read_text)

    @property
    def pods(self):
        return self.table("pods")

    @property
    def jobs(self):
        return self.table("jobs")

    @property
    def timeseries(self):
        return self.table("timeseries")

    @property
    def by_load(self):
        return self.table("by_load")

    @property
    def device_events(self):
        return self.table("device_events")

    def ledger(self, use_numpy=None):
        return read_ledger(self.path, use_numpy)


def _read_text(path):
    try:
        return read_bytes(path).decode("utf-8")
    except UnicodeDecodeError as error:
        raise ResultsError(f"{path}: not UTF-8 at byte {error.start}") from error


def _read_json(path):
    try:
        value = json.loads(_read_text(path))
    except (ValueError, RecursionError) as error:
        raise ResultsError(f"{path}: not JSON: {error}") from error
    if not isinstance(value, dict):
        raise ResultsError(f"{path}: expected a JSON object")
    return value


def read_run(path):
    """The folder of a finished run.

    Raises ResultsError if it has no readable summary.json; those of runs that have not ended have
    none, but `read_ledger` reads their partial ledgers.
    """
    run = Run(os.fspath(path))
    run.summary  # noqa: B018 - reads it
    return run

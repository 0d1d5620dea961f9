"""Columns by name, and CSV files as such."""

import array
import csv
import io
import math
import os

from drasim_results.errors import ResultsError


class Table:
    """Columns of equal length, in a fixed order.

        table["pod"]      the column: a list, an array.array or a numpy array
        table.columns     the names
        len(table)        the number of rows
        table.row(3)      one row as a dict
    """

    def __init__(self, columns):
        self._columns = dict(columns)
        lengths = {len(column) for column in self._columns.values()}
        if len(lengths) > 1:
            raise ValueError("columns of different lengths")
        self._rows = lengths.pop() if lengths else 0

    @property
    def columns(self):
        return list(self._columns)

    def __len__(self):
        return self._rows

    def __contains__(self, name):
        return name in self._columns

    def __getitem__(self, name):
        return self._columns[name]

    def row(self, index):
        return {name: column[index] for name, column in self._columns.items()}

    def __repr__(self):
        return f"Table({self._rows} rows: {', '.join(self._columns)})"

    def _plain(self, pairs):
        """The columns as numpy arrays or lists, which every library takes.

        `pairs`: dicts become lists of their keys and values, for libraries whose columns have one
        type, which would otherwise be a struct of all keys.
        """
        plain = {}
        for name, column in self._columns.items():
            if isinstance(column, array.array):
                column = column.tolist()
            elif pairs and len(column) > 0 and isinstance(column[0], dict):
                column = [[{"key": k, "value": v} for k, v in d.items()] for d in column]
            plain[name] = column
        return plain

    def to_pandas(self):
        """A pandas.DataFrame. Raises ImportError where pandas is not installed."""
        import pandas

        return pandas.DataFrame(self._plain(pairs=False))

    def to_polars(self):
        """A polars.DataFrame, with dicts as lists of key and value.

        Raises ImportError where polars is not installed.
        """
        import polars

        return polars.DataFrame(self._plain(pairs=True))

    def to_arrow(self):
        """A pyarrow.Table, with dicts as lists of key and value.

        Raises ImportError where pyarrow is not installed.
        """
        import pyarrow

        return pyarrow.table(
            {
                # Left to itself, pyarrow takes all whole numbers for signed ones.
                name: pyarrow.array(column, pyarrow.uint64()) if _is_unsigned(column) else column
                for name, column in self._plain(pairs=True).items()
            }
        )


def _number(text):
    """The finite number that `text` is, an int where it has only digits. Or ValueError."""
    # Python's own conversions also take "1_0", " 1" and digits of other scripts.
    if not text.isascii() or "_" in text or text != text.strip():
        raise ValueError(text)
    # Longer ones are beyond 64 bits.
    if text.lstrip("-").isdigit() and len(text) <= 20:
        return int(text)
    value = float(text)
    if not math.isfinite(value):
        raise ValueError(text)
    return value


def _is_unsigned(column):
    """Whether the column is a list with numbers that signed 64 bits do not hold, such as seeds."""
    return isinstance(column, list) and any(
        isinstance(value, int) and value >= 1 << 63 for value in column
    )


def _fits_64_bits(values):
    numbers = [value for value in values if value is not None]
    lowest, highest = min(numbers, default=0), max(numbers, default=0)
    return highest < 1 << 63 and lowest >= -(1 << 63) or highest < 1 << 64 and lowest >= 0


def _typed(texts):
    """All as ints, else all as floats, else as they are. An empty field is None among numbers.

    Whole numbers that no type of 64 bits holds are floats, too.
    """
    try:
        values = [_number(text) if text else None for text in texts]
    except ValueError:
        return texts
    if any(isinstance(value, float) for value in values) or not _fits_64_bits(values):
        return [None if value is None else float(value) for value in values]
    return values


def read_bytes(path):
    try:
        with open(path, "rb") as file:
            return file.read()
    except OSError as error:
        raise ResultsError(f"{path}: {error.strerror or error}") from error


def read_csv(path, text_columns=()):
    """The file as a Table.

    Columns of `text_columns` are texts. Others are numbers if every field is one or empty (None),
    else texts.
    """
    path = os.fspath(path)
    try:
        text = read_bytes(path).decode("utf-8")
    except UnicodeDecodeError as error:
        raise ResultsError(f"{path}: not UTF-8 at byte {error.start}") from error
    reader = csv.reader(io.StringIO(text, newline=""), strict=True)
    try:
        header = next(reader, None)
        if not header:
            raise ResultsError(f"{path}:1: found no header, expected one")
        if len(set(header)) != len(header):
            raise ResultsError(f"{path}:1: found a column twice")
        columns = [[] for _ in header]
        for fields in reader:
            if len(fields) != len(header):
                raise ResultsError(
                    f"{path}:{reader.line_num}: found {len(fields)} fields, expected {len(header)}"
                )
            for column, field in zip(columns, fields):
                column.append(field)
    except csv.Error as error:
        raise ResultsError(f"{path}:{reader.line_num}: {error}") from error
    if not text.endswith("\n"):
        raise ResultsError(f"{path}:{reader.line_num}: the last line is cut off")
    return Table(
        {
            name: texts if name in text_columns else _typed(texts)
            for name, texts in zip(header, columns)
        }
    )

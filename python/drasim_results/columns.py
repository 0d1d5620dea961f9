"""Columns of numbers: in array.array, or in numpy arrays where numpy is installed.

Both classes have the same functions with the same results.
"""

import array
import itertools

from drasim_results import wire


class Overflow(Exception):
    """A number leaves 64 bits. Internal: callers turn it into a ResultsError."""


class PlainColumns:
    """Without numpy."""

    varints = staticmethod(wire.varints)

    @staticmethod
    def varints_32(data):
        """The varints of a column of 32 bits."""
        return [v & 0xFFFFFFFF for v in wire.varints(data)]

    @staticmethod
    def unzigzag(numbers):
        return [wire.unzigzag(v) for v in numbers]

    @staticmethod
    def running_sums(first, deltas):
        sums = itertools.accumulate(deltas, initial=first)
        next(sums)
        try:
            return array.array("q", sums)
        except OverflowError as error:
            raise Overflow("a sum beyond 64 bits") from error

    @staticmethod
    def filled(count, value, code):
        return array.array(code, [value]) * count

    @staticmethod
    def bytes(data):
        return array.array("B", data)

    def spread(self, kinds, table, values, rest, code):
        """A column with the values, in order, where `table` marks the kind, and `rest` elsewhere.

        None if there are too few values. Superfluous ones are left out.
        """
        result = self.filled(len(kinds), rest, code)
        marks = kinds.translate(table)
        if marks.count(1) > len(values):
            return None
        for i, value in zip((i for i, mark in enumerate(marks) if mark), values):
            result[i] = value
        return result

    @staticmethod
    def blank(column, kinds, table, value):
        """Sets the column to `value` where `table` marks the kind."""
        marks = kinds.translate(table)
        i = marks.find(1)
        while i >= 0:
            column[i] = value
            i = marks.find(1, i + 1)

    @staticmethod
    def places(kinds, table, column, value):
        """Where `table` marks the kind and the column has `value`."""
        marks = kinds.translate(table)
        return [i for i, v in enumerate(column) if v == value and marks[i]]

    @staticmethod
    def largest(column):
        return max(column)

    @staticmethod
    def add(column, amount):
        for i, value in enumerate(column):
            column[i] = value + amount

    @staticmethod
    def chunks(code):
        return array.array(code)

    @staticmethod
    def append(chunks, column):
        chunks.extend(column)

    @staticmethod
    def joined(chunks):
        return chunks


class NumpyColumns:
    """With numpy."""

    _SAFE = 1 << 62

    def __init__(self, numpy):
        self._np = numpy

    def varints(self, data):
        np = self._np
        octets = np.frombuffer(data, np.uint8)
        if octets.size == 0:
            return np.zeros(0, np.uint64)
        if octets[-1] >= 0x80:
            raise wire.WireError("a number is cut off")
        ends = np.flatnonzero(octets < 0x80)
        if ends.size == octets.size:
            return octets.astype(np.uint64)
        starts = np.empty_like(ends)
        starts[0] = 0
        starts[1:] = ends[:-1] + 1
        lengths = ends - starts + 1
        longest = int(lengths.max())
        if longest > 10:
            raise wire.WireError("a number is too long")
        low = octets & 0x7F
        result = low[starts].astype(np.uint64)
        for k in range(1, longest):
            longer = np.flatnonzero(lengths > k)
            part = low[starts[longer] + k].astype(np.uint64)
            result[longer] |= part << np.uint64(7 * k)
        return result

    def varints_32(self, data):
        return self.varints(data) & self._np.uint64(0xFFFFFFFF)

    def unzigzag(self, numbers):
        np = self._np
        half = (numbers >> np.uint64(1)).view(np.int64)
        return half ^ -(numbers & np.uint64(1)).view(np.int64)

    def running_sums(self, first, deltas):
        np = self._np
        # Sums of 64 bits wrap silently; doubles tell whether they come near to that.
        rough = np.cumsum(np.abs(deltas.astype(np.float64)))
        if abs(first) + (rough[-1] if rough.size else 0) > self._SAFE:
            exact = PlainColumns.running_sums(first, deltas.tolist())
            return np.array(exact, np.int64)
        return np.cumsum(deltas) + np.int64(first)

    def filled(self, count, value, code):
        return self._np.full(count, value, code)

    def bytes(self, data):
        return self._np.frombuffer(data, self._np.uint8)

    def _marked(self, kinds, table):
        return self._np.flatnonzero(self.bytes(kinds.translate(table)))

    def spread(self, kinds, table, values, rest, code):
        result = self.filled(len(kinds), rest, code)
        marked = self._marked(kinds, table)
        if marked.size > len(values):
            return None
        result[marked] = values[: marked.size].astype(code)
        return result

    def blank(self, column, kinds, table, value):
        column[self._marked(kinds, table)] = value

    def places(self, kinds, table, column, value):
        marked = self._marked(kinds, table)
        return marked[column[marked] == value].tolist()

    @staticmethod
    def largest(column):
        return int(column.max())

    @staticmethod
    def add(column, amount):
        column += amount

    def chunks(self, code):
        return [self.filled(0, 0, code)]

    @staticmethod
    def append(chunks, column):
        chunks.append(column)

    def joined(self, chunks):
        return self._np.concatenate(chunks)


def columns_of(use_numpy):
    """NumpyColumns or PlainColumns; None: whichever is installed. ImportError as numpy's own."""
    if use_numpy is False:
        return PlainColumns()
    try:
        import numpy
    except ImportError:
        if use_numpy:
            raise
        return PlainColumns()
    return NumpyColumns(numpy)

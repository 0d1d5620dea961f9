#!/usr/bin/env python3
"""Checks of drasim_results beside the comparison of records.

    results_checks.py RUN      RUN: the folder of tests/golden/scenarios/replay_srtf_gangs.yaml
"""

import importlib.util
import os
import shutil
import subprocess
import sys
import tempfile
import unittest
import zlib

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../python"))

import drasim_results as dr  # noqa: E402
from drasim_results import wire  # noqa: E402
from drasim_results.columns import NumpyColumns, Overflow, PlainColumns  # noqa: E402

RUN = ""

BENCH_HEADER = (
    "suite,version,entry,queue,policy,seed,tier,primary,better,margin,random,inputs,"
    "gpu_allocation_percent_end,jct_mean_seconds,records,reason,fingerprint"
)
BENCH_ROW = (
    "core,1,fill,,fgd,{seed},smoke,gpu_allocation_percent_end,higher,0.1,no,{hash},"
    '95.25,,1200,"a, b",{hash}'
)
HASH = "0123456789abcdef"


def installed(name):
    return importlib.util.find_spec(name) is not None


class FolderTest(unittest.TestCase):
    def setUp(self):
        self._folder = tempfile.TemporaryDirectory()
        self.addCleanup(self._folder.cleanup)

    def path(self, name):
        return os.path.join(self._folder.name, name)

    def write(self, name, text):
        with open(self.path(name), "wb") as file:
            file.write(text if isinstance(text, bytes) else text.encode())
        return self.path(name)

    def assert_refused(self, what, function, *args):
        with self.assertRaises(dr.ResultsError) as caught:
            function(*args)
        self.assertIn(what, str(caught.exception))


class RunTest(FolderTest):
    def test_tables(self):
        run = dr.read_run(RUN)
        self.assertEqual(run.summary["fingerprint"], run.ledger().fingerprint)
        self.assertEqual(run.info["records"], len(run.ledger().records))
        self.assertIn("srtf", run.scenario)
        self.assertEqual(
            run.pods.row(0),
            {
                "pod": "job-0000000",
                "priority": 0,
                "cpu_milli": 12000,
                "memory_bytes": 51539607552,
                "gpu_count": 1,
                "gpu_milli": 1000,
                "gpu_spec": "",
                "phase": "Succeeded",
                "node": "node-000000",
                "devices": "0",
                "arrival_seconds": 5.782719431,
                "start_seconds": 5.782719431,
                "end_seconds": 116.382800483,
                "attempts_failed": 0,
                "reason": "",
            },
        )
        self.assertEqual(run.pods["pod"], run.ledger().pods["name"])
        self.assertEqual(set(run.jobs["deadline_seconds"]), {None})
        self.assertEqual(len(run.timeseries["time_seconds"]), len(run.timeseries))
        self.assertEqual(run.by_load["arrived_percent"][0], 0)
        self.assert_refused("device_events.csv", lambda: run.device_events)

    def test_refused(self):
        self.assert_refused("summary.json", dr.read_run, self.path("nowhere"))
        self.write("summary.json", "{")
        self.assert_refused("not JSON", dr.read_run, self.path("."))
        self.write("summary.json", "[" * 100000)
        self.assert_refused("not JSON", dr.read_run, self.path("."))
        self.write("summary.json", "[]")
        self.assert_refused("expected a JSON object", dr.read_run, self.path("."))
        self.write("summary.json", b'{"a": "\xff"}')
        self.assert_refused("not UTF-8 at byte 7", dr.read_run, self.path("."))
        self.write("summary.json", "{}")
        run = dr.read_run(self.path("."))
        for text, what in (
            ("", "found no header"),
            ("a,a\n", "a column twice"),
            ("a,b\n1\n", ":2: found 1 fields, expected 2"),
            ("a,b\n1,2\n3,", "cut off"),
            ('a,b\n1,"2\n', ":2: unexpected end of data"),
            (b"a\n\xff\n", "not UTF-8 at byte 2"),
        ):
            self.write("pods.csv", text)
            self.assert_refused(what, lambda: run.pods)

    def test_types_of_columns(self):
        self.write("summary.json", "{}")
        self.write(
            "jobs.csv",
            "job,count,share,text,none,digits,huge,wide,wider,mixed\n"
            f"7,1,0.5,x,,1_0,1e999,{2**64 - 1},{2**64},{2**63}\n"
            '8,,-2e3,"\u2028,\x0b",,2,1,,1,-1\n'
            f"9,,,,,,{'9' * 400},,,\n",
        )
        jobs = dr.read_run(self.path(".")).jobs
        self.assertEqual(jobs["job"], ["7", "8", "9"])
        self.assertEqual(jobs["count"], [1, None, None])
        self.assertEqual(jobs["share"], [0.5, -2000.0, None])
        self.assertEqual(jobs["text"], ["x", "\u2028,\x0b", ""])
        self.assertEqual(jobs["none"], [None] * 3)
        self.assertEqual(jobs["digits"], ["1_0", "2", ""])
        self.assertEqual(jobs["huge"], ["1e999", "1", "9" * 400])
        self.assertEqual(jobs["wide"], [2**64 - 1, None, None])
        self.assertIsInstance(jobs["wide"][0], int)
        self.assertEqual(list(map(str, jobs["wider"])), ["1.8446744073709552e+19", "1.0", "None"])
        self.assertEqual(list(map(str, jobs["mixed"])), ["9.223372036854776e+18", "-1.0", "None"])


class LedgerTest(FolderTest):
    def test_partial(self):
        with open(os.path.join(RUN, "ledger"), "rb") as file:
            whole = file.read()
        partial = self.write("ledger.partial", whole[:-30])
        ledger = dr.read_ledger(self.path("."))
        self.assertEqual(ledger.path, os.path.join(self.path("."), "ledger.partial"))
        self.assertFalse(ledger.complete)
        self.assertIsNone(ledger.fingerprint)
        all_records = dr.read_ledger(RUN).records
        self.assertEqual(len(ledger.records), len(all_records))
        # A ledger beside a partial one is the one that counts.
        shutil.copy(os.path.join(RUN, "ledger"), self.path("ledger"))
        self.assertTrue(dr.read_ledger(self.path(".")).complete)
        self.assertFalse(dr.read_ledger(partial).complete)

    def test_every_length_of_a_torn_file(self):
        with open(os.path.join(RUN, "ledger"), "rb") as file:
            whole = file.read()
        header_end = 8 + 9 + int.from_bytes(whole[8:12], "little")
        lengths = [*range(0, header_end, 97), *range(header_end - 3, header_end + 40)]
        lengths += range(header_end + 40, len(whole), 9973)
        records = []
        for length in lengths:
            path = self.write("torn", whole[:length])
            if length < header_end:
                self.assert_refused("torn", dr.read_ledger, path, False)
            else:
                records.append(len(dr.read_ledger(path, False).records["kind"]))
        self.assertEqual(records[0], 0)
        self.assertLess(0, records[-1])
        self.assertEqual(sorted(records), records)

    def test_refused(self):
        self.assert_refused("cannot open the ledger", dr.read_ledger, self.path("none"))
        self.assert_refused("not a drasim ledger", dr.read_ledger, self.write("l", b""))
        self.assert_refused("not a drasim ledger", dr.read_ledger, self.write("l", b"DRASIMXX"))
        header = bytes((8, 5))  # version: 5
        frame = wire_frame(1, header)
        self.assert_refused(
            "ledger format 5; this reader knows format 4",
            dr.read_ledger,
            self.write("l", b"DRASIMLG" + frame),
        )

    def test_frames_that_sum_up_records(self):
        with open(os.path.join(RUN, "ledger"), "rb") as file:
            whole = file.read()
        records = dr.read_ledger(RUN, False).records
        header_end = 8 + 9 + int.from_bytes(whole[8:12], "little")
        for kind in (3, 5, 6, 7, 8, 9, 10, 11):
            frame = wire_frame(kind, b"\xff" * 100)
            path = self.write("l", whole[:header_end] + frame + whole[header_end:])
            ledger = dr.read_ledger(path, False)
            self.assertTrue(ledger.complete)
            for name in records.columns:
                self.assertEqual(ledger.records[name], records[name])
        for kind in (0, 12, 255):
            frame = wire_frame(kind, b"")
            path = self.write("l", whole[:header_end] + frame + whole[header_end:])
            self.assert_refused("an unknown frame", dr.read_ledger, path)

    def test_numbers_of_64_bits(self):
        libraries = [PlainColumns()]
        if installed("numpy"):
            import numpy

            libraries.append(NumpyColumns(numpy))
        for columns in libraries:
            self.assertEqual(list(columns.varints(b"")), [])
            self.assertEqual(list(columns.varints(b"\x05\x7f\x00")), [5, 127, 0])
            self.assertEqual(list(columns.varints(b"\xac\x02\x01\x80\x80\x01")), [300, 1, 16384])
            largest = b"\xff" * 9 + b"\x01"
            self.assertEqual(list(columns.varints(b"\x07" + largest)), [7, 2**64 - 1])
            self.assertEqual(list(columns.varints_32(largest)), [2**32 - 1])
            self.assertRaises(wire.WireError, columns.varints, b"\x05\x80")
            self.assertRaises(wire.WireError, columns.varints, b"\xff" * 10 + b"\x01")
            signed = columns.unzigzag(columns.varints(b"\x00\x01\x02\x03" + largest))
            self.assertEqual(list(signed), [0, -1, 1, -2, -(2**63)])
            sums = columns.running_sums(5, columns.unzigzag(columns.varints(b"\x02\x03")))
            self.assertEqual(list(sums), [6, 4])
            most = columns.unzigzag(columns.varints(b"\xfe" + b"\xff" * 8 + b"\x01"))
            self.assertEqual(list(columns.running_sums(0, most)), [2**63 - 1])
            self.assertRaises(Overflow, columns.running_sums, 1, most)


class WireTest(unittest.TestCase):
    """As protobuf's parser reads what no writer writes."""

    schema = wire.Schema(n=(1, "uint32"), text=(2, "bytes"), many=(3, ["uint32"]), f=(4, "fixed32"))

    def decode(self, *data):
        return self.schema.decode(bytes(data))

    def test_fields_of_another_type_are_unknown(self):
        self.assertEqual(self.decode(0x08, 7, 0x0A, 1, 9)["n"], 7)  # bytes
        self.assertEqual(self.decode(0x08, 7, 0x0D, 1, 0, 0, 0)["n"], 7)  # four bytes
        self.assertEqual(self.decode(0x12, 1, 65, 0x10, 5)["text"], b"A")
        self.assertEqual(self.decode(0x25, 1, 0, 0, 0, 0x20, 9)["f"], 1)
        self.assertEqual(self.decode(0x18, 4, 0x1A, 2, 5, 6, 0x1D, 1, 0, 0, 0)["many"], [4, 5, 6])

    def test_groups_are_passed_over(self):
        self.assertEqual(self.decode(0x08, 7, 0x2B, 0x08, 8, 0x33, 0x34, 0x2C)["n"], 7)
        for data in ((0x2B,), (0x2C,), (0x2B, 0x34), (0x2B,) * 101 + (0x2C,) * 101):
            self.assertRaises(wire.WireError, self.decode, *data)

    def test_long_tags(self):
        self.assertEqual(self.decode(0x88, 0x80, 0x80, 0x80, 0x00, 7)["n"], 7)
        self.assertEqual(self.decode(0x88, 0x80, 0x80, 0x80, 0x10, 7)["n"], 7)  # modulo 2^32
        for data in ((0x88,) + (0x80,) * 4 + (0, 7), (0x12,) + (0x81,) + (0x80,) * 4 + (0, 65)):
            self.assertRaises(wire.WireError, self.decode, *data)


def wire_frame(kind, payload):
    checksum = zlib.crc32(payload, zlib.crc32(bytes((kind,))))
    head = len(payload).to_bytes(4, "little") + checksum.to_bytes(4, "little")
    return head + bytes((kind,)) + payload


class BenchTest(FolderTest):
    def bench(self, *rows, header=BENCH_HEADER):
        return self.write("core.csv", "\n".join((header, *rows)) + "\n")

    def test_baseline(self):
        bench = dr.read_bench(
            self.bench(BENCH_ROW.format(seed=1, hash=HASH), BENCH_ROW.format(seed=2, hash=HASH))
        )
        self.assertEqual(bench.cells["seed"], [1, 2])
        self.assertEqual(bench.cells["margin"], ["0.1", "0.1"])
        self.assertEqual(bench.cells["gpu_allocation_percent_end"], [95.25, 95.25])
        self.assertEqual(bench.cells["jct_mean_seconds"], [None, None])
        self.assertEqual(bench.cells["records"], [1200, 1200])
        self.assertEqual(bench.cells["reason"], ["a, b", "a, b"])
        self.assertIsNone(bench.costs)
        self.assertEqual(len(dr.read_bench(self.bench()).cells), 0)

    def test_committed_baselines(self):
        folder = os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../bench/baseline")
        names = os.listdir(folder)
        self.assertIn("core.csv", names)
        for name in names:
            cells = dr.read_bench(os.path.join(folder, name)).cells
            self.assertLess(0, len(cells))
            # Cases have no ledger.
            answers = cells["answers"] if "answers" in cells else [""] * len(cells["records"])
            runs = [n for n, answer in zip(cells["records"], answers) if not answer]
            self.assertLess(0, min(runs))

    def test_folder(self):
        row = BENCH_ROW.format(seed=1, hash=HASH)
        self.write("cells.csv", f"{BENCH_HEADER}\n{row}\n")
        self.write(
            "costs.csv", "entry,queue,policy,seed,cpu_seconds,peak_rss_kib\nfill,,fgd,1,0.25,9000\n"
        )
        self.write("missing.csv", "entry,queue,policy,seed,what\n")
        bench = dr.read_bench(self.path("."))
        self.assertEqual(bench.costs["cpu_seconds"], [0.25])
        self.assertEqual(len(bench.missing), 0)
        self.write(
            "costs.csv",
            "entry,queue,policy,seed,cpu_seconds,peak_rss_kib,more\nfill,,fgd,1,0.25,9000,\n",
        )
        self.assertEqual(dr.read_bench(self.path(".")).costs["more"], [None])
        self.write(
            "costs.csv", "entry,queue,policy,seed,cpu_seconds,peak_rss_kib\nfill,,fgd,1,x,1\n"
        )
        self.assert_refused("cpu_seconds has a field", dr.read_bench, self.path("."))
        self.write("costs.csv", "entry,policy\n")
        self.assert_refused("expected the columns", dr.read_bench, self.path("."))

    def test_refused(self):
        row = BENCH_ROW.format(seed=1, hash=HASH)
        torn = row[:-3]
        for rows, what in (
            ((row, row), "row 2: the cell is there twice"),
            ((torn,), "expected 16 hexadecimal digits"),
            ((row[:-17],), "found 16 fields, expected 17"),
            ((row.replace("95.25", "95.2x"),), "gpu_allocation_percent_end has a field"),
            ((row.replace(",1,smoke", ",-1,smoke"),), "expected a number from 0 on"),
            ((row, row.replace("core,1", "core,2").replace("fill", "g")), "several suites"),
        ):
            self.assert_refused(what, dr.read_bench, self.bench(*rows))
        self.assert_refused(
            "found no column 'tier'",
            dr.read_bench,
            self.bench(header=BENCH_HEADER.replace("tier", "t")),
        )
        self.assert_refused("cells.csv", dr.read_bench, self.path("."))


class LibrariesTest(unittest.TestCase):
    def tables(self):
        ledger = dr.read_ledger(RUN)
        run = dr.read_run(RUN)
        baseline = os.path.join(
            os.path.dirname(os.path.abspath(__file__)), "../../bench/baseline/core.csv"
        )
        return [
            *(run.pods, run.jobs, run.timeseries, run.by_load, dr.read_bench(baseline).cells),
            *(ledger.records, ledger.grants, ledger.pods),
            *(ledger.nodes, ledger.shapes, ledger.summaries),
        ]

    @unittest.skipUnless(installed("pandas"), "pandas is not installed")
    def test_pandas(self):
        for table in self.tables():
            frame = table.to_pandas()
            self.assertEqual(list(frame.columns), table.columns)
            self.assertEqual(len(frame), len(table))
            first = table.columns[0]
            self.assertEqual(list(frame[first]), list(table[first]))

    @unittest.skipUnless(installed("polars"), "polars is not installed")
    def test_polars(self):
        for table in self.tables():
            frame = table.to_polars()
            self.assertEqual(frame.columns, table.columns)
            self.assertEqual(frame.height, len(table))
            first = table.columns[0]
            self.assertEqual(frame[first].to_list(), list(table[first]))

    @unittest.skipUnless(installed("pyarrow"), "pyarrow is not installed")
    def test_arrow(self):
        for table in self.tables():
            converted = table.to_arrow()
            self.assertEqual(converted.column_names, table.columns)
            self.assertEqual(converted.num_rows, len(table))
            first = table.columns[0]
            self.assertEqual(converted[first].to_pylist(), list(table[first]))


class PackageTest(FolderTest):
    @unittest.skipUnless(
        installed("pip") and installed("setuptools") and installed("wheel"), "pip is not installed"
    )
    def test_installs_without_network(self):
        here = os.path.dirname(os.path.abspath(__file__))
        # A copy, since setuptools builds beside its sources.
        source = self.path("source")
        shutil.copytree(os.path.join(here, "../../python"), source)
        pip = [sys.executable, "-m", "pip", "--disable-pip-version-check", "--quiet", "install"]
        flags = ["--no-index", "--no-build-isolation", "--no-deps", "--target", self.path("there")]
        subprocess.run([*pip, *flags, source], check=True, stderr=subprocess.DEVNULL)
        program = (
            "import drasim_results, sys;"
            "print(len(drasim_results.read_ledger(sys.argv[1]).records))"
        )
        done = subprocess.run(
            [sys.executable, "-c", program, RUN],
            env={"PYTHONPATH": self.path("there")},
            cwd=self.path("."),
            capture_output=True,
            text=True,
            check=True,
        )
        self.assertEqual(int(done.stdout), dr.read_run(RUN).info["records"])


if __name__ == "__main__":
    RUN = sys.argv.pop(1)
    unittest.main()

"""The ledger of a run: docs/ledger_format.md describes the file."""

import os
import zlib

from drasim_results.columns import Overflow, columns_of
from drasim_results.errors import ResultsError
from drasim_results.table import Table
from drasim_results.wire import Schema, WireError

_MAGIC = b"DRASIMLG"
_VERSION = 4
_HEADER, _BLOCK, _END = 1, 2, 4
_BESIDE_RECORDS = frozenset((3, 5, 6, 7, 8, 9, 10, 11))
_FRAME_HEAD_BYTES = 9

KIND_NAMES = (
    "Invalid",
    "PodArrived",
    "PodReserved",
    "PodBound",
    "PodUnreserved",
    "AttemptFailed",
    "PodDropped",
    "PodFinished",
    "RunEnded",
    "PodEvicted",
    "PodFailed",
    "PodDeleted",
    "NodeChanged",
    "PodAdmitted",
    "PodRejected",
    "DevicesChanged",
    "PodStarted",
)
(
    POD_ARRIVED,
    POD_RESERVED,
    POD_BOUND,
    POD_UNRESERVED,
    ATTEMPT_FAILED,
    POD_DROPPED,
    POD_FINISHED,
    RUN_ENDED,
    POD_EVICTED,
    POD_FAILED,
    POD_DELETED,
    NODE_CHANGED,
    POD_ADMITTED,
    POD_REJECTED,
    DEVICES_CHANGED,
    POD_STARTED,
) = range(1, len(KIND_NAMES))

_GIVES_DEVICES = frozenset((POD_RESERVED, POD_BOUND, POD_ADMITTED))
_WITHOUT_POD = frozenset((RUN_ENDED, NODE_CHANGED, DEVICES_CHANGED))
_WITHOUT_NODE = frozenset((POD_ARRIVED, ATTEMPT_FAILED, POD_DROPPED, RUN_ENDED))
_WITH_DETAIL = frozenset(
    (
        POD_ARRIVED,
        ATTEMPT_FAILED,
        POD_EVICTED,
        POD_FAILED,
        NODE_CHANGED,
        POD_REJECTED,
        DEVICES_CHANGED,
    )
)
_PREEMPTED = 1
_GIVEN_UP = 256
# Largest details of kinds whose details are numbers of their own, from 1 on.
_LARGEST_DETAIL = {NODE_CHANGED: 4, DEVICES_CHANGED: 7, POD_REJECTED: 5}


def _kinds(members):
    """A table for bytes.translate: 1 for the members, 0 for other kinds."""
    return bytes(int(kind in members) for kind in range(256))


_NAMES_NODE = _kinds(frozenset(range(1, len(KIND_NAMES))) - _WITHOUT_NODE)
_HAS_DETAIL = _kinds(_WITH_DETAIL)
_HAS_GRANTS = _kinds(_GIVES_DEVICES)
_NO_POD = _kinds(_WITHOUT_POD)

_AMOUNT = Schema(name=(1, "bytes"), amount=(2, "int64"))
_LABEL = Schema(key=(1, "bytes"), value=(2, "bytes"))
_NODE = Schema(
    name=(1, "bytes"),
    cpu_milli=(2, "int64"),
    memory_bytes=(3, "int64"),
    pods=(4, "int64"),
    gpu_count=(5, "int32"),
    gpu_model=(6, "bytes"),
    extended=(7, [_AMOUNT]),
    absent=(8, "bool"),
    unschedulable=(9, "bool"),
    gpu_models=(10, ["bytes"]),
    labels=(11, [_LABEL]),
)
_FILE_HEADER = Schema(
    version=(1, "uint32"),
    drasim_version=(2, "bytes"),
    scenario_yaml=(3, "bytes"),
    nodes=(4, [_NODE]),
    reasons=(5, ["bytes"]),
)
_SHAPE = Schema(
    cpu_milli=(1, "int64"),
    memory_bytes=(2, "int64"),
    gpu_count=(3, "int32"),
    gpu_milli=(4, "int32"),
    gpu_spec=(5, "bytes"),
    extended=(8, [_AMOUNT]),
    group=(9, "bytes"),
    mig=(12, [_AMOUNT]),
)
_SUMMARY = Schema(nodes=(1, "uint32"), reason=(2, ["uint32"]), rejected=(3, ["uint32"]))
_RECORDS = Schema(
    raw=("time_delta_ns", "pod_delta", "node", "devices", "detail"),
    first_record=(1, "uint64"),
    kind=(15, "bytes"),
    time_delta_ns=(3, ["sint64"]),
    pod_delta=(4, ["sint64"]),
    node=(5, ["uint32"]),
    devices=(6, ["uint64"]),
    detail=(7, ["uint32"]),
    pod_name=(8, ["bytes"]),
    pod_priority=(9, ["sint32"]),
    shapes=(10, [_SHAPE]),
    summaries=(11, [_SUMMARY]),
    grants=(12, ["uint32"]),
    grant=(13, ["fixed32"]),
    job=(16, ["sint64"]),
    tenant=(17, ["uint32"]),
    tenants=(18, ["bytes"]),
    preemptor=(19, ["uint64"]),
)
_FILE_END = Schema(records=(1, "uint64"), fingerprint=(2, "fixed64"), time_ns=(3, "sint64"))


def _text(data):
    """Names come from users' files, and may be no UTF-8."""
    return data.decode("utf-8", "backslashreplace")


class Ledger:
    """The contents of a ledger. Numbers of pods, nodes, shapes and summaries are rows of their tables.

        version, drasim_version, scenario    of the run; the scenario is resolved YAML
        complete       whether the run has ended; else the ledger is partial
        fingerprint    16 hexadecimal digits; None if the ledger is partial
        records        a row for each record: time_ns, kind (KIND_NAMES), pod, node, devices (a bit
                       for each of the node's), detail, preemptor; -1: no pod, no node
        grants         parts of devices that a record gives: record, device, placement, milli
        pods           by arrival: name, shape, priority, arrival_ns, job, tenant; job -1: unknown
        nodes          name, cpu_milli, memory_bytes, pods, gpu_count, gpu_model, gpu_models,
                       extended, labels, absent, unschedulable
        shapes         requests of pods: cpu_milli, memory_bytes, gpu_count, gpu_milli, gpu_spec,
                       extended, mig, group
        summaries      of failed attempts: nodes, and the number of nodes by reason
        reasons        all texts of reasons
    """

    def __init__(self, path):
        self.path = path
        self.version = _VERSION
        self.drasim_version = ""
        self.scenario = ""
        self.complete = False
        self.fingerprint = None
        self.reasons = []
        self.nodes = self.shapes = self.summaries = Table({})
        self.pods = self.records = self.grants = Table({})

    def __repr__(self):
        state = "complete" if self.complete else "partial"
        return f"Ledger({self.path}: {len(self.records)} records, {state})"


class _Damaged(Exception):
    """Damage in the present frame."""


class _Reader:
    def __init__(self, path, file, columns):
        self._file = file
        self._size = os.fstat(file.fileno()).st_size
        self._columns = columns
        self.offset = 0  # of the present frame
        self._ledger = Ledger(path)
        self._shapes = []
        self._summaries = []
        self._records = 0
        self._time_ns = 0
        self._pod = 0  # number of the last record's pod
        self._chunks = {
            name: columns.chunks(code)
            for name, code in (
                ("time_ns", "q"),
                ("kind", "B"),
                ("pod", "q"),
                ("node", "q"),
                ("devices", "Q"),
                ("detail", "q"),
                ("preemptor", "q"),
            )
        }
        self._pods = {
            name: [] for name in ("name", "shape", "priority", "arrival_ns", "job", "tenant")
        }
        self._grants = {name: [] for name in ("record", "device", "placement", "milli")}

    def read(self):
        if self._file.read(len(_MAGIC)) != _MAGIC:
            raise ResultsError(f"{self._ledger.path}: not a drasim ledger")
        self._read_header()
        while True:
            frame = self._frame()
            if frame is None:
                break
            kind, payload = frame
            if kind == _END:
                self._read_end(payload)
                break
            if kind == _BLOCK:
                self._read_block(_RECORDS.decode(payload))
            elif kind not in _BESIDE_RECORDS:
                raise _Damaged("an unknown frame")
        self._finish()
        return self._ledger

    def _frame(self):
        """Type and payload of the next frame; None at the end, and if it is cut off."""
        self.offset = self._file.tell()
        head = self._file.read(_FRAME_HEAD_BYTES)
        if len(head) < _FRAME_HEAD_BYTES:
            return None
        length = int.from_bytes(head[:4], "little")
        if length > self._size - self.offset - _FRAME_HEAD_BYTES:
            return None
        payload = self._file.read(length)
        if len(payload) < length:
            return None
        if zlib.crc32(payload, zlib.crc32(head[8:])) != int.from_bytes(head[4:8], "little"):
            # At the very end a wrong sum is a torn write; elsewhere it is damage.
            if self._file.tell() == self._size:
                return None
            raise _Damaged("a frame's checksum does not match")
        return head[8], payload

    def _read_header(self):
        frame = self._frame()
        if frame is None or frame[0] != _HEADER:
            raise _Damaged("no readable header")
        header = _FILE_HEADER.decode(frame[1])
        if header["version"] != _VERSION:
            raise ResultsError(
                f"{self._ledger.path}: ledger format {header['version']};"
                f" this reader knows format {_VERSION}"
            )
        ledger = self._ledger
        ledger.drasim_version = _text(header["drasim_version"])
        ledger.scenario = _text(header["scenario_yaml"])
        ledger.reasons = [_text(reason) for reason in header["reasons"]]
        nodes = header["nodes"]
        ledger.nodes = Table(
            {
                "name": [_text(n["name"]) for n in nodes],
                **{
                    name: [n[name] for n in nodes]
                    for name in ("cpu_milli", "memory_bytes", "pods", "gpu_count")
                },
                "gpu_model": [_text(n["gpu_model"]) for n in nodes],
                "gpu_models": [[_text(model) for model in n["gpu_models"]] for n in nodes],
                "extended": [_amounts(n["extended"]) for n in nodes],
                "labels": [
                    {_text(label["key"]): _text(label["value"]) for label in n["labels"]}
                    for n in nodes
                ],
                "absent": [n["absent"] for n in nodes],
                "unschedulable": [n["unschedulable"] for n in nodes],
            }
        )

    def _read_end(self, payload):
        end = _FILE_END.decode(payload)
        if end["records"] != self._records:
            raise _Damaged("the end frame counts other records than were read")
        self._ledger.complete = True
        self._ledger.fingerprint = f"{end['fingerprint']:016x}"

    def _read_block(self, block):
        if block["first_record"] != self._records:
            raise _Damaged("a block does not follow the one before")
        self._add_definitions(block)
        kinds = block["kind"]
        if not kinds:
            return
        if min(kinds) == 0 or max(kinds) >= len(KIND_NAMES):
            raise _Damaged("an unknown kind of record")
        columns = self._columns
        times = self._running_sums(block["time_delta_ns"], len(kinds), self._time_ns, True)
        pods = self._running_sums(block["pod_delta"], len(kinds), self._pod, False)
        nodes, devices = self._nodes(block, kinds)
        details = columns.spread(kinds, _HAS_DETAIL, columns.varints_32(block["detail"]), 0, "q")
        if details is None:
            raise _Damaged("a detail is missing")
        preemptors = columns.filled(len(kinds), -1, "q")

        arrived_before = len(self._pods["name"])
        self._check_pods(kinds, pods, arrived_before)
        self._time_ns = int(times[-1])
        self._pod = int(pods[-1])
        columns.blank(pods, kinds, _NO_POD, -1)
        self._add_arrivals(block, kinds, times, details)
        self._check_details(kinds, details)
        self._set_preemptors(block, kinds, details, arrived_before, preemptors)
        self._add_grants(block, kinds)
        for name, values in (
            ("time_ns", times),
            ("kind", columns.bytes(kinds)),
            ("pod", pods),
            ("node", nodes),
            ("devices", devices),
            ("detail", details),
            ("preemptor", preemptors),
        ):
            columns.append(self._chunks[name], values)
        self._records += len(kinds)

    def _add_definitions(self, block):
        self._shapes.extend(block["shapes"])
        reasons = self._ledger.reasons
        for summary in block["summaries"]:
            if len(summary["reason"]) != len(summary["rejected"]):
                raise _Damaged("a summary's columns differ in length")
            if any(not 1 <= reason <= len(reasons) for reason in summary["reason"]):
                raise _Damaged("an unknown reason")
            self._summaries.append(summary)

    def _running_sums(self, raw, count, first, may_be_absent):
        if not raw and may_be_absent:
            return self._columns.filled(count, first, "q")
        deltas = self._columns.unzigzag(self._columns.varints(raw))
        if len(deltas) != count:
            raise _Damaged("a block's columns differ in length")
        return self._columns.running_sums(first, deltas)

    def _nodes(self, block, kinds):
        columns = self._columns
        numbers = columns.varints_32(block["node"])
        devices = columns.varints(block["devices"])
        if len(numbers) != len(devices):
            raise _Damaged("a block's columns differ in length")
        nodes = columns.spread(kinds, _NAMES_NODE, numbers, 0, "q")
        if nodes is None:
            raise _Damaged("a node is missing")
        if columns.largest(nodes) > len(self._ledger.nodes):
            raise _Damaged("a node that does not exist")
        # 0 stands for no node, which is legal only for deleted pods.
        for i in columns.places(kinds, _NAMES_NODE, nodes, 0):
            if kinds[i] != POD_DELETED:
                raise _Damaged("a node that does not exist")
        columns.add(nodes, -1)
        return nodes, columns.spread(kinds, _NAMES_NODE, devices, 0, "Q")

    @staticmethod
    def _check_pods(kinds, pods, arrived):
        for kind, pod in zip(kinds, pods.tolist()):
            if kind == POD_ARRIVED:
                if pod != arrived:
                    raise _Damaged("a pod that does not exist")
                arrived += 1
            elif not 0 <= pod < arrived and kind not in _WITHOUT_POD:
                raise _Damaged("a pod that does not exist")

    def _add_arrivals(self, block, kinds, times, details):
        count = kinds.count(POD_ARRIVED)
        names, priorities = block["pod_name"], block["pod_priority"]
        jobs, tenant_numbers, tenants = block["job"], block["tenant"], block["tenants"]
        if len(names) < count:
            raise _Damaged("a pod without a name")
        if (
            (priorities and len(priorities) != len(names))
            or (jobs and len(jobs) != len(names))
            or (tenant_numbers and len(tenant_numbers) != len(jobs))
        ):
            raise _Damaged("a block's columns differ in length")
        pods = self._pods
        pods["name"].extend(_text(name) for name in names[:count])
        pods["priority"].extend(priorities[:count] if priorities else [0] * count)
        at = [i for i, kind in enumerate(kinds) if kind == POD_ARRIVED] if count else []
        pods["shape"].extend(int(details[i]) for i in at)
        pods["arrival_ns"].extend(int(times[i]) for i in at)
        if not jobs:
            pods["job"].extend([-1] * count)
            pods["tenant"].extend([""] * count)
            return
        job = 0
        texts = [_text(tenant) for tenant in tenants]
        for arrival in range(count):
            job += jobs[arrival]
            tenant = tenant_numbers[arrival] if tenant_numbers else 0
            if not 0 <= job < 2**32 - 1 or tenant >= len(texts):
                raise _Damaged("a pod of an unknown owner")
            pods["job"].append(job)
            pods["tenant"].append(texts[tenant])

    def _check_details(self, kinds, details):
        shapes, summaries = len(self._shapes), len(self._summaries)
        for kind, detail in zip(kinds, details.tolist()):
            if kind == ATTEMPT_FAILED:
                if detail >= summaries:
                    raise _Damaged("an unknown summary")
            elif kind == POD_ARRIVED:
                if detail >= shapes:
                    raise _Damaged("a pod of an unknown shape")
            elif kind in _LARGEST_DETAIL:
                number = detail & ~_GIVEN_UP if kind == POD_REJECTED else detail
                if not 1 <= number <= _LARGEST_DETAIL[kind]:
                    raise _Damaged("an unknown change or failure")

    @staticmethod
    def _set_preemptors(block, kinds, details, arrived, preemptors):
        column = block["preemptor"]
        if not column:
            return
        rest = iter(column)
        for i, kind in enumerate(kinds):
            if kind == POD_ARRIVED:
                arrived += 1
            elif kind == POD_EVICTED and details[i] == _PREEMPTED:
                preemptor = next(rest, None)
                if preemptor is None:
                    raise _Damaged("a preemptor is missing")
                if preemptor > arrived:
                    raise _Damaged("a preemptor that does not exist")
                preemptors[i] = preemptor - 1

    def _add_grants(self, block, kinds):
        if not block["grants"]:
            return
        words = iter(block["grant"])
        counts = iter(block["grants"])
        left = len(block["grant"])
        grants = self._grants
        for i, gives in enumerate(kinds.translate(_HAS_GRANTS)):
            if not gives:
                continue
            count = next(counts, None)
            if count is None:
                raise _Damaged("a number of grants is missing")
            if count > left:
                raise _Damaged("a grant is missing")
            left -= count
            for _ in range(count):
                word = next(words)
                grants["record"].append(self._records + i)
                grants["device"].append(word >> 24)
                grants["placement"].append(word >> 16 & 0xFF)
                grants["milli"].append((word & 0xFFFF ^ 0x8000) - 0x8000)

    def _finish(self):
        ledger = self._ledger
        ledger.records = Table(
            {name: self._columns.joined(chunks) for name, chunks in self._chunks.items()}
        )
        ledger.pods = Table(self._pods)
        ledger.grants = Table(self._grants)
        ledger.shapes = Table(
            {
                **{
                    name: [shape[name] for shape in self._shapes]
                    for name in ("cpu_milli", "memory_bytes", "gpu_count", "gpu_milli")
                },
                "gpu_spec": [_text(shape["gpu_spec"]) for shape in self._shapes],
                "extended": [_amounts(shape["extended"]) for shape in self._shapes],
                "mig": [_amounts(shape["mig"]) for shape in self._shapes],
                "group": [_text(shape["group"]) for shape in self._shapes],
            }
        )
        reasons = ledger.reasons
        ledger.summaries = Table(
            {
                "nodes": [summary["nodes"] for summary in self._summaries],
                "rejected": [
                    {reasons[r - 1]: count for r, count in zip(s["reason"], s["rejected"])}
                    for s in self._summaries
                ],
            }
        )


def _amounts(amounts):
    return {_text(amount["name"]): amount["amount"] for amount in amounts}


def read_ledger(path, use_numpy=None):
    """The ledger `path`, or the one in the folder `path`: `ledger`, else `ledger.partial`.

    A torn last frame is no error: the ledger is partial and ends before it. Raises ResultsError for
    anything else that is not a ledger of this format, with the place of the damage. The state of
    the cluster is not rebuilt, so records that contradict each other go unnoticed; `drasim diff`
    finds those.

    `use_numpy`: whether columns of numbers are numpy arrays; None: if numpy is installed.
    """
    path = os.fspath(path)
    if os.path.isdir(path):
        whole = os.path.join(path, "ledger")
        partial = whole + ".partial"
        path = partial if not os.path.exists(whole) and os.path.exists(partial) else whole
    try:
        file = open(path, "rb")
    except OSError as error:
        raise ResultsError(f"{path}: cannot open the ledger: {error.strerror or error}") from error
    with file:
        reader = _Reader(path, file, columns_of(use_numpy))
        try:
            return reader.read()
        except (_Damaged, WireError, Overflow) as error:
            raise ResultsError(f"{path}: damaged at byte {reader.offset}: {error}") from error
        except OSError as error:
            raise ResultsError(f"{path}: {error.strerror or error}") from error

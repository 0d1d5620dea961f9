#!/usr/bin/env python3
"""Ledgers as drasim_results reads them, as text for drasim_results_test.cc.

    ledger_lines.py lines plain|numpy LEDGER      every record, node, pod and grant
    ledger_lines.py outcomes plain|numpy FOLDER   for each file: "NAME records complete|error"
    ledger_lines.py sums plain|numpy LEDGER       records, a sum of each column; CPU seconds
"""

import os
import sys
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../python"))

import drasim_results as dr  # noqa: E402


def amounts(amounts_by_name):
    return " ".join(f"{name}={amounts_by_name[name]}" for name in sorted(amounts_by_name))


def summary_text(ledger, summary):
    rejected = ledger.summaries["rejected"][summary]
    phrases = sorted(f"{nodes} {reason}" for reason, nodes in rejected.items())
    text = f"0/{ledger.summaries['nodes'][summary]} nodes are available"
    return text + (": " if phrases else "") + ", ".join(phrases) + "."


def print_lines(path, use_numpy):
    ledger = dr.read_ledger(path, use_numpy)
    nodes, pods, shapes = ledger.nodes, ledger.pods, ledger.shapes
    for n in range(len(nodes)):
        node = nodes.row(n)
        print(
            "node", node["name"], node["cpu_milli"], node["memory_bytes"], node["pods"],
            node["gpu_count"], node["gpu_model"], amounts(node["extended"]), sep="\t",
        )  # fmt: skip
    grants = {}
    for grant in range(len(ledger.grants)):
        row = ledger.grants.row(grant)
        grants.setdefault(row["record"], []).append(
            f"{row['device']}/{row['placement']}/{row['milli']}"
        )
    columns = [ledger.records[name].tolist() for name in ledger.records.columns]
    for number, record in enumerate(zip(*columns)):
        time_ns, kind, pod, node, devices, detail, preemptor = record
        print(time_ns, dr.KIND_NAMES[kind], pod, node, devices, detail, preemptor, sep="\t")
        if number in grants:
            print("grants", *grants[number], sep="\t")
        if kind == dr.POD_ARRIVED:
            shape = pods["shape"][pod]
            print(
                "pod", pods["name"][pod], shape, pods["priority"][pod], pods["arrival_ns"][pod],
                pods["job"][pod], pods["tenant"][pod], shapes["cpu_milli"][shape],
                shapes["memory_bytes"][shape], shapes["gpu_count"][shape],
                shapes["gpu_milli"][shape], shapes["gpu_spec"][shape],
                amounts(shapes["extended"][shape]), amounts(shapes["mig"][shape]),
                shapes["group"][shape], sep="\t",
            )  # fmt: skip
        if kind == dr.ATTEMPT_FAILED:
            print("summary", summary_text(ledger, detail), sep="\t")
    print("end", int(ledger.complete), ledger.fingerprint or "", len(columns[0]), sep="\t")


def print_outcomes(folder, use_numpy):
    for name in sorted(os.listdir(folder)):
        try:
            ledger = dr.read_ledger(os.path.join(folder, name), use_numpy)
        except dr.ResultsError:
            print(name, "error")
        else:
            print(name, len(ledger.records["kind"]), int(ledger.complete))


def print_sums(path, use_numpy):
    begin = time.process_time()
    records = dr.read_ledger(path, use_numpy).records
    seconds = time.process_time() - begin
    sums = [
        sum(value * (1 + row % 1009) for row, value in enumerate(records[name].tolist())) % 2**64
        for name in records.columns
    ]
    print(len(records), *sums)
    print(seconds)


def main():
    _, mode, library, path = sys.argv
    modes = {"lines": print_lines, "outcomes": print_outcomes, "sums": print_sums}
    modes[mode](path, library == "numpy")


if __name__ == "__main__":
    main()

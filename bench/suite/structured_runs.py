#!/usr/bin/python3
"""Prints what a pod with a claim of structured DRA costs in a run, from arrival to its deletion.

  bench/suite/structured_runs.py build/release/bin/drasim
  bench/suite/structured_runs.py PROGRAM --nodes 500 --instructions

Runs a cluster with all latencies zero, in which pods with a claim from a template come one
millisecond after the other and stay for a second, with few and with more pods. The difference
counts, so publishing the slices does not. The time is user time of the whole program, the least of
some runs: reading and writing the pods' part of the scenario is in it. Instructions are counted by
valgrind, of the program and of the engine alone, from a pod's arrival to its end.
"""
import argparse
import os
import pathlib
import resource
import subprocess
import sys
import tempfile

TEMPLATE = """\
apiVersion: resource.k8s.io/v1
kind: ResourceClaimTemplate
metadata: {{name: one, namespace: default}}
spec:
  spec:
    devices:
      requests:
      - name: gpu
        exactly:
          deviceClassName: {device_class}
          selectors:
          - cel: {{expression: '{selector}'}}
"""

KINDS = {
    "plain": {
        "device_class": "gpu.example.com",
        "selector": 'device.driver == "gpu.example.com"',
        "node": 'cpu: "64", memory: 256Gi',
        "driver": "kind: gpu.example.com, devices: 10",
    },
    "partitions": {
        "device_class": "mig.nvidia.com",
        "selector": 'device.attributes["gpu.nvidia.com"].profile == "1g.5gb"',
        "node": 'cpu: "64", memory: 256Gi, gpus: 8, gpu_model: A100-SXM4-40GB',
        "driver": "kind: gpu.nvidia.com, mig: dynamic",
    },
}

WARM = 1500  # more than stay at one time


def write_scenario(folder, kind, nodes, pods):
    """Writes the scenario, and gives its path."""
    (folder / "one.manifest.yaml").write_text(TEMPLATE.format(**KINDS[kind]))
    jobs = "".join(
        f'    - {{name: p{i}, cpu: "1", memory: 1Gi, run_time: 1s, arrival: {i}ms,'
        " claims: [{name: gpu, template: one}]}\n"
        for i in range(pods))
    path = folder / f"{kind}-{nodes}-{pods}.yaml"
    path.write_text(f"""\
name: structured-run
mode: replay
order: trace
cluster:
  nodes: {nodes}
  node: {{{KINDS[kind]["node"]}}}
workload:
  jobs:
{jobs}front_end:
  kind: dra-structured
  structured:
    zero_latency: true
    slices: [one.manifest.yaml]
    drivers: [{{{KINDS[kind]["driver"]}}}]
""")
    return path


def user_seconds(command):
    """User time of a run."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
    return resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime - before


def instructions(command):
    """Instructions of a run, and those of its engine."""
    counts = []
    for only in [], ["--toggle-collect=drasim::Engine::Run()"]:
        with tempfile.NamedTemporaryFile() as out:
            valgrind = ["valgrind", "-q", "--tool=callgrind", *only]
            valgrind += [f"--callgrind-out-file={out.name}"]
            subprocess.run(valgrind + command, check=True, stdout=subprocess.DEVNULL)
            counts.append(int(pathlib.Path(out.name).read_text().rsplit("totals:", 1)[1].split()[0]))
    return counts


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("program", type=os.path.abspath)
    parser.add_argument("--nodes", type=int, nargs="+", default=[500, 5000, 50000])
    parser.add_argument("--kinds", nargs="+", choices=KINDS, default=list(KINDS))
    parser.add_argument("--pods", type=int, default=10000, help="of which the time is taken")
    parser.add_argument("--runs", type=int, default=3)
    parser.add_argument("--instructions", action="store_true")
    args = parser.parse_args()
    print("| Devices | Nodes | µs per pod | Instructions per pod | Of the engine |")
    print("|---|---|---|---|---|")
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        for kind in args.kinds:
            for nodes in args.nodes:
                def command(pods, kind=kind, nodes=nodes):
                    return [args.program, "run", str(write_scenario(folder, kind, nodes, pods))]
                few, many = (min(user_seconds(command(pods)) for _ in range(args.runs))
                             for pods in (WARM, WARM + args.pods))
                counted = " | "
                if args.instructions:
                    more = 1000
                    begin, end = (instructions(command(pods)) for pods in (WARM, WARM + more))
                    counted = " | ".join(f"{(b - a) // more:,}" for a, b in zip(begin, end))
                print(f"| {kind} | {nodes:,} | {(many - few) / args.pods * 1e6:.1f} | {counted} |",
                      flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())

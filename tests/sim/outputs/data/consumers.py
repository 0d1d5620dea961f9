# Reads results back as their consumers do. Usage: consumers.py FORMAT FILE; prints what it found,
# one fact a line. Exit code 77: the consumer is not installed.
import json
import sys

FORMAT, PATH = sys.argv[1:3]


def junit():
    import xml.etree.ElementTree as tree
    root = tree.parse(PATH).getroot()
    assert root.tag == "testsuites", root.tag
    for suite in root:
        cases = list(suite)
        for kind, tag in (("failures", "failure"), ("errors", "error")):
            found = sum(case.find(tag) is not None for case in cases)
            assert int(suite.get(kind)) == found, (kind, found)
        assert int(suite.get("tests")) == len(cases)
        for case in cases:
            outcome = [f"{e.tag} {e.get('type')} {e.get('message')!r}" for e in case]
            print(suite.get("name"), case.get("name"), case.get("time"), *outcome)


def google_benchmark():
    import os
    import subprocess
    tool = os.environ.get("BENCHMARK_COMPARE", "/usr/share/benchmark/compare.py")
    command = [sys.executable, tool, "--no-color", "--no-utest", "benchmarks", PATH, PATH]
    if not os.path.exists(tool) or subprocess.run([sys.executable, "-c", "import scipy"]).returncode:
        sys.exit(77)
    for line in subprocess.run(command, check=True, capture_output=True, text=True).stdout.split("\n"):
        if line.startswith("fill"):
            print(" ".join(line.split()))


def plain_json():
    document = json.load(open(PATH))
    if FORMAT == "perf-dash":
        assert document["version"] == "v1"
        for item in document["dataItems"]:
            # perftype.DataItem: numbers by name, a unit, and labels that are texts.
            assert set(item) == {"data", "unit", "labels"}
            assert all(isinstance(v, (int, float)) for v in item["data"].values())
            assert all(isinstance(v, str) for v in item["labels"].values())
            print(item["labels"]["Name"], item["labels"].get("seed"), repr(item["unit"]),
                  item["data"])
    else:
        for name, measures in document.items():
            for measure, result in measures.items():
                assert set(result) <= {"value", "lower_value", "upper_value"} and "value" in result
                print(name, measure, result)


def openmetrics():
    try:
        from prometheus_client.openmetrics.parser import text_string_to_metric_families
    except ImportError:
        sys.exit(77)
    for family in text_string_to_metric_families(open(PATH).read()):
        assert family.type == "gauge"
        for sample in family.samples:
            print(sample.name, sorted(sample.labels.items()), sample.value)


{"junit": junit, "google-benchmark": google_benchmark, "perf-dash": plain_json,
 "bencher": plain_json, "openmetrics": openmetrics}[FORMAT]()

#!/usr/bin/env python3
"""Executes notebooks.

    execute.py --check [NOTEBOOK...]    compares the texts that cells print with the stored ones
    execute.py --write [NOTEBOOK...]    stores new outputs

Without names, all of this folder. Exit code 1 if a text differs or a cell fails. Pictures are made
anew but not compared, since their bytes differ between versions of matplotlib.
"""

import argparse
import difflib
import os
import pathlib
import sys
import time

import nbclient
import nbformat

HERE = pathlib.Path(__file__).resolve().parent
SECONDS = 300  # of a cell
# Kernels would warn about modules that debuggers cannot step into.
os.environ["PYDEVD_DISABLE_FILE_VALIDATION"] = "1"


def join_streams(notebook):
    """Makes one output of what a cell prints in a row: a kernel sends it in pieces of any length."""
    for cell in notebook.cells:
        joined = []
        for output in cell.get("outputs", []):
            last = joined[-1] if joined else None
            if (
                last is not None
                and output.output_type == last.output_type == "stream"
                and output.name == last.name
            ):
                last.text += output.text
            else:
                joined.append(output)
        if cell.cell_type == "code":
            cell.outputs = joined


def texts(notebook):
    """The output of code cells, as lines with the cell's id."""
    lines = []
    for cell in notebook.cells:
        if cell.cell_type != "code":
            continue
        lines.append(f"[{cell.id}]")
        for output in cell.outputs:
            if output.output_type == "stream":
                lines += [f"{output.name}: {line}" for line in output.text.splitlines()]
            else:
                lines += sorted(output.get("data", {}))  # the kinds, such as image/png
                lines += output.get("data", {}).get("text/plain", "").splitlines()
    return lines


def tidy(notebook):
    """Leaves out what would differ from run to run and from machine to machine."""
    notebook.metadata = {
        "kernelspec": {"display_name": "Python 3", "language": "python", "name": "python3"},
        "language_info": {"name": "python"},
    }
    for cell in notebook.cells:
        cell.metadata = {}


def execute(path, write):
    """Whether the notebook runs and prints what is stored."""
    begin = time.monotonic()
    notebook = nbformat.read(path, as_version=4)
    join_streams(notebook)
    stored = texts(notebook)
    client = nbclient.NotebookClient(
        notebook, timeout=SECONDS, kernel_name="python3", resources={"metadata": {"path": HERE}}
    )
    try:
        client.execute()
    except nbclient.exceptions.CellExecutionError as error:
        print(f"{path.name}: {error}")
        return False
    join_streams(notebook)
    found = texts(notebook)
    print(f"{path.name}: {time.monotonic() - begin:.1f} s", flush=True)
    if write:
        tidy(notebook)
        nbformat.write(notebook, path)
        return True
    for line in difflib.unified_diff(stored, found, "stored", "executed", lineterm="", n=1):
        print(line)
    return stored == found


def main():
    parser = argparse.ArgumentParser(description="Executes notebooks.")
    mode = parser.add_mutually_exclusive_group(required=True)
    mode.add_argument("--check", action="store_true")
    mode.add_argument("--write", action="store_true")
    parser.add_argument("notebooks", nargs="*", type=pathlib.Path)
    arguments = parser.parse_args()
    paths = arguments.notebooks or sorted(HERE.glob("*.ipynb"))
    # All are executed, also behind one that differs.
    return 0 if all([execute(path, arguments.write) for path in paths]) else 1


if __name__ == "__main__":
    sys.exit(main())

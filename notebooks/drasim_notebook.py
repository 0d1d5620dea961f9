"""What the notebooks share: drasim itself, folders for results, and figures in two formats."""

import concurrent.futures
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile

import matplotlib.pyplot as plt

ROOT = pathlib.Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "python"))

COLOURS = ["#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9", "#555555"]
plt.rcParams.update(
    {
        "axes.grid": True,
        "axes.prop_cycle": plt.cycler(color=COLOURS),
        "axes.spines.right": False,
        "axes.spines.top": False,
        "figure.dpi": 80,
        "figure.figsize": (9, 3.8),
        "figure.constrained_layout.use": True,
        "grid.alpha": 0.3,
        "legend.frameon": False,
    }
)

_FOLDER = tempfile.TemporaryDirectory(prefix="drasim-")


def _binary():
    """$DRASIM, the tree's own build, or the one in PATH."""
    built = ROOT / "build" / "release" / "bin" / "drasim"
    found = os.environ.get("DRASIM") or (str(built) if built.exists() else shutil.which("drasim"))
    if not found:
        raise FileNotFoundError("no drasim: run `make build`, or name the program in $DRASIM")
    return found


def folder(name):
    """The path of a folder or file for results, which goes with the notebook's process."""
    return os.path.join(_FOLDER.name, name)


def drasim(*words, exit_codes=(0,)):
    """Runs drasim from the repository's root and returns what it prints."""
    done = subprocess.run(
        [_binary(), *map(str, words)], cwd=ROOT, capture_output=True, text=True, check=False
    )
    if done.returncode not in exit_codes:
        raise RuntimeError(done.stderr)
    return done.stdout


def drasim_all(commands):
    """Runs several, on all cores. The results are in the order of the commands."""
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        return list(pool.map(lambda words: drasim(*words), commands))


def save(figure, name):
    """Writes NAME.pdf and NAME.png into $DRASIM_FIGURES, by default results/figures."""
    into = pathlib.Path(os.environ.get("DRASIM_FIGURES") or ROOT / "results" / "figures")
    into.mkdir(parents=True, exist_ok=True)
    figure.savefig(into / f"{name}.pdf")
    figure.savefig(into / f"{name}.png", dpi=150)
    print(f"{name}.pdf, {name}.png")

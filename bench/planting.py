"""Plants changes in a copy of the sources, and builds it; for mutants/kill.py and planted/plant.py."""
import contextlib
import pathlib
import shutil
import subprocess
import tomllib

ROOT = pathlib.Path(__file__).resolve().parents[1]


class ListError(Exception):
    """A change that cannot be planted, or a build that fails."""


def read_list(path, table):
    """The entries of a list, whose names differ."""
    with path.open("rb") as file:
        entries = tomllib.load(file)[table]
    if len({entry["name"] for entry in entries}) != len(entries):
        raise ListError(f"{path.name}: a name occurs twice")
    return entries


def planted(name, file, old, new):
    """The text of a file with one change."""
    text = (ROOT / file).read_text()
    if text.count(old) != 1:
        raise ListError(
            f"{name}: found its text {text.count(old)} times in {file}, expected once"
        )
    return text.replace(old, new)


class Tree:
    """A copy of the sources, with a build of its own. Errors: ListError."""

    def __init__(self, folder, jobs, options=()):
        self.source = folder
        self.build = folder / "build" / "release"
        self.results = folder / "build" / "results"
        self.program = self.build / "bin" / "drasim"
        self.jobs = str(jobs)
        listed = subprocess.run(
            ["git", "ls-files", "-z"], cwd=ROOT, check=True, capture_output=True, text=True
        )
        for name in filter(None, listed.stdout.split("\0")):
            target = self.source / name
            # Equal files keep their time of change, and so their objects.
            if (ROOT / name).is_file() and not same_bytes(ROOT / name, target):
                target.parent.mkdir(parents=True, exist_ok=True)
                shutil.copyfile(ROOT / name, target)
        quietly(
            ["cmake", "--preset", "release", "-B", self.build, "-DDRASIM_BUILD_GUI=OFF"]
            + ["-DDRASIM_BUILD_TESTS=OFF", "-DDRASIM_BUILD_BENCH=OFF", *options],
            cwd=self.source,
        )

    def make(self):
        quietly(["cmake", "--build", self.build, "-j", self.jobs, "--target", "drasim"])

    @contextlib.contextmanager
    def changed(self, file, text):
        """The tree with another text of one file."""
        path = self.source / file
        original = path.read_text()
        path.write_text(text)
        try:
            yield
        finally:
            path.write_text(original)


def same_bytes(a, b):
    return b.is_file() and a.read_bytes() == b.read_bytes()


def quietly(command, cwd=None):
    ran = subprocess.run(command, capture_output=True, text=True, cwd=cwd)
    if ran.returncode != 0:
        raise ListError("\n".join((ran.stdout + ran.stderr).splitlines()[-20:]))

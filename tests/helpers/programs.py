"""A user's programs for tests of `run` and `check`: their texts, and the commands in new processes."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from collections.abc import Iterable
from pathlib import Path

from patience import PATIENCE, until
from tilescope.tracer.storage.trace_file import load

HEAD = "import sys\nimport numpy as np\nfrom numba import cuda\n"

# Of int32: whether arithmetic is float64, which takes a process more to say, is asked of float32 alone.
COPY = (
    HEAD
    + """
@cuda.jit
def copy(a, out):
    i = cuda.grid(1)
    if i < out.size:
        out[i] = a[i]

a, out = np.arange(40, dtype=np.int32), np.zeros(40, np.int32)
copy[2, 32](a, out)
"""
)


RACE = (
    HEAD
    + """
@cuda.jit
def shift(out):
    tile = cuda.shared.array(64, np.int32)
    t = cuda.threadIdx.x
    tile[t] = t
    out[t] = tile[63 - t]

shift[1, 64](np.zeros(64, np.int32))
"""
)


# What is printed of a launch that takes long, as any does on a busy machine.
NOTICE = re.compile(r"^tilescope: \w+ has run for .*\n", re.MULTILINE)


def run_tilescope(*words: str, folder: Path, **options):
    """Run a command and return the finished process, without notices of long launches."""
    command = [sys.executable, "-m", "tilescope", *words]
    environment = {k: v for k, v in os.environ.items() if k != "NUMBA_ENABLE_CUDASIM"}
    done = subprocess.run(
        command,
        cwd=folder,
        capture_output=True,
        text=True,
        timeout=PATIENCE,
        env=environment,
        check=False,
        **options,
    )
    done.stderr = NOTICE.sub("", done.stderr)
    return done


RUN_TOGETHER = """
import runpy, sys
for path in sys.argv[1:]:
    print("=== " + path, flush=True)
    try:
        runpy.run_path(path, run_name="__main__")
    except Exception as error:  # of a kernel that Numba refuses, for one
        print(type(error).__name__, error, flush=True)
"""


def run_together(command: str, paths: Iterable[Path | str], *words: str, folder: Path, **options):
    """Run programs one after the other in one process, which takes less time than a process for each."""
    path = folder / "together.py"
    path.write_text(RUN_TOGETHER)
    return run_tilescope(command, *words, str(path), "--", *map(str, paths), folder=folder, **options)


def printed_by_each(output: str) -> dict[str, str]:
    """Split the output of `run_together` by the names of the files."""
    _, *parts = re.split(r"^=== (.+)\n", output, flags=re.MULTILINE)
    return {Path(path).name: text.strip() for path, text in zip(parts[::2], parts[1::2], strict=True)}


def messages_of(done) -> str:
    """Return the standard error of a command without its lines about engines and traced launches."""
    lines = done.stderr.splitlines(keepends=True)
    usual = r"tilescope: ([\d,]+ launch(es)? of \w+ ran |[\d,]+ launch(es)? of [\d,]+ kernels? traced: |not traced: )"
    return "".join(line for line in lines if not re.match(usual, line))


def printed_by_program(done) -> str:
    """Return the output of a program under `check`: standard error without our messages."""
    lines = done.stderr.splitlines(keepends=True)
    return "".join(line for line in lines if not line.startswith(("tilescope: ", "note: "))).strip()


def check_program(folder, path, *words):
    done = run_tilescope("check", "--format", "json", *words, str(path), folder=folder)
    assert done.returncode in (0, 1), done.stderr
    return json.loads(done.stdout)


def run_program(folder, words, path):
    """Return (what the program printed, what the tracer says of each launch, the traces) of a run."""
    lines, out = folder / "lines.json", folder / "-".join(["traces", *words])
    done = run_tilescope("run", *words, "--json", str(lines), "--out", str(out), str(path), folder=folder)
    assert done.returncode == 0, done.stderr
    launches = [json.loads(line) for line in lines.read_text().splitlines()]
    for launch in launches:
        del launch["seconds"], launch["engine"], launch["made_by"]
    return done.stdout, launches, [load(p) for p in sorted(out.iterdir())]


def wait_for_exit(process: int) -> bool:
    """Wait for the end of a process; return True."""
    until(lambda: has_ended(process))
    return True


def has_ended(process: int) -> bool:
    """Check whether a process has ended, even if nothing has waited for it."""
    try:
        os.kill(process, 0)
        about = Path(f"/proc/{process}")
        if not about.parent.joinpath("self").exists():  # no Linux
            return False
        # Killed, it cannot be waited for before the last of its threads is gone.
        is_zombie = about.joinpath("stat").read_text().rpartition(")")[2].split()[0] == "Z"
        return is_zombie and len(list(about.joinpath("task").iterdir())) <= 1
    except (ProcessLookupError, FileNotFoundError):  # it may end between two of these lines
        return True

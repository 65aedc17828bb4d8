"""The keeper of a program ends its children with it, with a report, and when the keeper's parent ends."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from patience import PATIENCE, until
from programs import wait_for_exit
from tilescope.tracer.processes.json_process import module_command
from tilescope.tracer.processes.keeper import ERROR_LINES, LAST_LINES, STOP

pytestmark = pytest.mark.skipif(os.name != "posix", reason="process groups")
FAMILY = """
import os, subprocess, sys, time
child = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(100)"])
with open(sys.argv[1], "w") as file:
    file.write(f"{os.getpid()} {child.pid}")
os.rename(sys.argv[1], sys.argv[1] + ".done")
time.sleep(float(sys.argv[2]))
"""


def kept(folder: Path, *words: str) -> subprocess.Popen[bytes]:
    command = [
        *module_command("tilescope.tracer.processes.keeper"),
        str(folder),
        sys.executable,
        "-c",
        *words,
    ]
    pipe = subprocess.PIPE
    return subprocess.Popen(command, stdin=pipe, stdout=pipe, stderr=pipe)


@pytest.mark.parametrize("end", ["by itself", "told", "input closed", "keeper killed"])
def test_no_child_process_outlives_the_program(tmp_path, end):
    folder, note = tmp_path / "traces", tmp_path / "pids"
    folder.mkdir()
    with kept(folder, FAMILY, str(note), "0.2" if end == "by itself" else "100") as process:
        until(lambda: Path(f"{note}.done").exists() or process.poll() is not None)
        program, child = map(int, Path(f"{note}.done").read_text().split())
        assert process.stdin is not None
        if end == "told":
            process.stdin.write(STOP)
            process.stdin.flush()
        elif end == "input closed":
            process.stdin.close()
        elif end == "keeper killed":
            process.kill()
        process.wait(PATIENCE)
    assert wait_for_exit(program)
    if end != "keeper killed":  # which is nobody's way to end it
        assert wait_for_exit(child)
        assert folder.exists() == (end != "input closed")
    else:
        os.kill(child, signal.SIGKILL)


PRINTS = """
import sys
for n in range(100_000):
    print(n, "x" * (n if n < 3000 else 0), file=sys.stderr)
"""


def test_long_output_is_shortened(tmp_path):
    with kept(tmp_path, PRINTS) as process:
        assert process.stderr is not None and process.stdout is not None
        lines = process.stderr.read().decode().splitlines()  # its input stays open: somebody listens
        assert process.stdout.read() == b""
    assert (len(lines), lines[0], lines[-1]) == (ERROR_LINES + 1 + LAST_LINES, "0 ", "99999 ")
    assert lines[ERROR_LINES] == f"... {100_000 - ERROR_LINES - LAST_LINES:,} lines left out ..."


@pytest.mark.parametrize("stream", ["stdout", "stderr"])
def test_output_is_forwarded_while_the_program_runs(tmp_path, stream):
    code = f"import sys, time\nprint('begun', file=sys.{stream}, flush=True)\ntime.sleep(100)"
    with kept(tmp_path, code) as process:
        pipe = getattr(process, stream)
        assert pipe.readline() == b"begun\n"
        assert process.poll() is None
        process.kill()


@pytest.mark.parametrize(("code", "status"), [("raise SystemExit(3)", 3), ("import os; os.abort()", -6)])
def test_it_ends_as_the_program_did(tmp_path, code, status):
    with kept(tmp_path, code) as process:
        assert process.wait(PATIENCE) == status

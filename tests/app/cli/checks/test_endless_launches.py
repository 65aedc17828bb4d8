"""Launches that never end, and such as are too large to be kept, which go on to their end."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys

import pytest

from programs import HEAD, run_tilescope
from tilescope.tracer.storage.trace_file import load

FLAG = (
    HEAD
    + """
@cuda.jit
def wait(flag, out):
    if cuda.threadIdx.x == 0:
        while flag[0] == 0:
            pass
    out[cuda.threadIdx.x] = 1

flag, out = np.zeros(1, np.int32), np.zeros(32, np.int32)
wait[1, 32](flag, out)
print("went on")
"""
)
LOCK = (
    HEAD
    + """
@cuda.jit
def count(lock, n):
    if cuda.threadIdx.x == 0:
        while cuda.atomic.cas(lock, 0, 0, 1) != 0:
            pass
        n[0] += 1

count[2, 32](np.zeros(1, np.int32), np.zeros(1, np.int32))
print("went on")
"""
)
WAITING = (
    HEAD
    + """
@cuda.jit
def hand(flag, out, rounds):
    b, t = cuda.blockIdx.x, cuda.threadIdx.x
    if t == 0:
        while cuda.atomic.add(flag, 0, 0) < b:
            pass
        for k in range(rounds):
            out[b] += k
        cuda.threadfence()
        cuda.atomic.add(flag, 0, 1)

flag, out = np.zeros(1, np.int32), np.zeros(6, np.int64)
hand[6, 8](flag, out, 400)
print(out.min(), out.max(), flag)
"""
)


@pytest.mark.parametrize("schedule", ["lockstep", "sequential", "random"])
@pytest.mark.parametrize(
    ("text", "line"), [(FLAG, "        while flag[0] == 0:"), (LOCK, LOCK.splitlines()[7])]
)
def test_a_launch_that_never_ends_raises_and_names_the_line(script, tmp_path, text, line, schedule):
    path, number = script(text), 1 + text.splitlines().index(line)
    done = run_tilescope("check", "--schedule", schedule, str(path), folder=tmp_path)
    assert done.returncode == 1
    assert f"{path}:{number}: error: launch: 1 launch does not end: on line {number} " in done.stdout
    assert (
        f"\nLivelockError: tid=[0, 0, 0] ctaid=[{'1' if text == LOCK and schedule != 'random' else '0'}"
        in done.stderr
    )
    assert f'File "{path}", line {number}, in' in done.stderr
    assert "tracer" not in done.stderr  # no frame of ours
    assert "went on" not in done.stdout + done.stderr


def test_a_kernel_that_spins_compiled_ends_too(script, tmp_path):
    done = run_tilescope("run", "--engine", "compiled", str(script(FLAG)), folder=tmp_path)
    assert done.returncode == 1
    kept = load(tmp_path / "tilescope-traces" / "000-wait.npz")
    assert kept.error is not None and kept.error.type == "LivelockError"
    assert "not compiled: its threads wait for a value that no thread changes any more" in kept.made_by


@pytest.mark.parametrize(
    "words", [(), ("--schedule", "random"), ("--resident", "6"), ("--engine", "compiled")]
)
def test_threads_that_wait_for_what_comes_are_left_to_wait(script, tmp_path, words):
    done = run_tilescope("run", "--quiet", *words, str(script(WAITING)), folder=tmp_path)
    assert (done.returncode, done.stdout) == (0, "79800 79800 [6]\n"), done.stderr


def test_blocks_that_wait_for_later_ones_get_them_unless_so_many_were_chosen(script, tmp_path):
    """A GPU has more blocks at once than are run here."""
    path = script(WAITING.replace("< b:", "< 5 - b:").replace("hand[6, 8]", "hand[6, 1024]"))
    few = run_tilescope("run", "--quiet", "--resident", "2", str(path), folder=tmp_path)
    assert few.returncode == 1 and "4 blocks can't begin before others end" in few.stderr
    assert run_tilescope("run", "--quiet", str(path), folder=tmp_path).returncode == 0


LARGE = (
    HEAD
    + """
@cuda.jit
def add(a, out):
    t = cuda.threadIdx.x
    total = np.float32(0)
    for k in range(a.size):
        total += a[k]
    out[t] = total

out = np.zeros(1024, np.float32)
add[1, 1024](np.ones(16_000, np.float32), out)
print(out.min(), out.max())
"""
)


def test_a_block_too_large_to_be_kept_is_counted_to_its_end(script, tmp_path):
    done = run_tilescope("run", "--quiet", "--json", "lines.json", str(script(LARGE)), folder=tmp_path)
    assert (done.returncode, done.stdout) == (0, "16000.0 16000.0\n"), done.stderr
    (line,) = map(json.loads, (tmp_path / "lines.json").read_text().splitlines())
    assert line["accesses"] == 1024 * 16_001
    assert line["counters"]["global_load_requests"] == 32 * 16_000
    assert line["counters"]["global_load_sectors"] == 32 * 16_000
    assert line["counters"]["global_store_sectors"] == 1024 * 4 // 32
    assert [f["severity"] for f in line["findings"] if f["kind"] == "part"] == ["warning"]


RECORDS = (
    HEAD
    + """
@cuda.jit
def grow(r, n):
    for j in range(n):
        r[cuda.grid(1)].x += 1

r = np.zeros(1024, np.dtype([("x", np.int32), ("y", np.float32)]))
grow[8, 128](r, 200)
print(r["x"].min(), r["x"].max())
"""
)


def test_records_are_as_they_were_where_another_engine_takes_over(script, tmp_path):
    done = run_tilescope("run", "--quiet", str(script(RECORDS)), folder=tmp_path)
    assert done.stdout == "200 200\n"


# --- launches that are ended since a block takes too long

BUSY = (
    HEAD
    + """
@cuda.jit
def spin(out):
    x = 0
    while x >= 0:
        x = (x + 1) % 1000
    out[cuda.grid(1)] = x

spin[1, 32](np.zeros(32, np.int32))
print("went on")
"""
)
ADDING = (
    HEAD
    + """
@cuda.jit
def count(out):
    while True:
        out[0] += 1

count[1, 32](np.zeros(4, np.int32))
print("went on")
"""
)
MOST_SECONDS, MOST_MEMORY = 30, 1_000_000_000  # the patience is 6 s; a busy machine is slower


def ended(script, tmp_path, text, *words):
    """Check a program; return what was printed, and what its processes took: CPU seconds and bytes."""
    code = (
        "import resource, subprocess, sys\n"
        "done = subprocess.run([sys.executable, '-m', 'tilescope', *sys.argv[1:]], capture_output=True, text=True)\n"
        "used = resource.getrusage(resource.RUSAGE_CHILDREN)\n"
        "import json; print(json.dumps([done.returncode, done.stdout, done.stderr, "
        "used.ru_utime + used.ru_stime, used.ru_maxrss * 1024]))"
    )
    done = subprocess.run(
        [sys.executable, "-c", code, *words, str(script(text))],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=True,
    )
    return json.loads(done.stdout)


@pytest.mark.parametrize(("text", "line"), [(BUSY, "    while x >= 0:"), (ADDING, "    while True:")])
def test_a_loop_without_an_end_is_an_error_at_its_line(script, tmp_path, text, line):
    number = 1 + text.splitlines().index(line)
    status, out, err, seconds, memory = ended(script, tmp_path, text, "check")
    assert status == 1
    finding = next(
        row for row in out.splitlines() if "error: launch: 1 launch does not end: the launch " in row
    )
    assert re.search(rf"in the loop of line {number}; .*--patience", finding)
    assert re.match(rf".*:({number}|{number + 1}): error", finding)
    assert "LaunchTimeoutError: " in err and "went on" not in err
    assert all(path.endswith("program.py") for path in re.findall(r'File "([^"]+)"', err))
    assert (seconds < MOST_SECONDS, memory < MOST_MEMORY) == (True, True), (seconds, memory)


def test_a_program_may_catch_that_and_go_on_and_run_keeps_the_first_accesses(script, tmp_path):
    text = ADDING.replace("count[1, 32]", "try:\n    count[1, 32]").replace(
        'print("went on")', 'except RuntimeError as why:\n    print("went on:", why)'
    )
    done = run_tilescope("run", "--patience", "3", str(script(text)), folder=tmp_path)
    assert done.returncode == 0 and "went on: The launch " in done.stdout, done.stderr
    kept = load(tmp_path / "tilescope-traces" / "000-count.npz")
    assert kept.error is not None and kept.error.type == "LaunchTimeoutError"
    assert len(kept) > 0


LARGE_ARRAYS = (
    HEAD
    + """
@cuda.jit
def scale(a, out):
    i = cuda.grid(1)
    if i < out.size:
        out[i] = 2 * a[i]

a, out = np.ones(1 << 26, np.float32), np.zeros(1 << 26, np.float32)
scale[a.size // 256, 256](a, out)
print(out.min(), out.max())
"""
)


def test_copies_of_large_arrays_are_no_memory_of_an_endless_block(script, tmp_path):
    """The arrays take 537 MB and so do their copies; a block may take 600 MB."""
    done = run_tilescope("check", str(script(LARGE_ARRAYS)), folder=tmp_path)
    assert (done.returncode, "2.0 2.0" in done.stderr) == (0, True), done.stderr
    assert "does not end" not in done.stdout and "Traceback" not in done.stderr


@pytest.mark.parametrize("patience", ["0", "x", "-1"])
def test_patience_is_a_number_of_seconds(script, tmp_path, patience):
    done = run_tilescope("check", "--patience", patience, str(script(BUSY)), folder=tmp_path)
    assert done.returncode == 2 and "--patience: must be a number" in done.stderr


@pytest.mark.parametrize(("command", "kill"), [(("check",), os.killpg), (("run", "--quiet"), os.kill)])
def test_ctrl_c_in_a_kernel_is_one_sentence_with_the_line(script, tmp_path, command, kill):
    with subprocess.Popen(
        [sys.executable, "-m", "tilescope", *command, "--patience", "1000", str(script(BUSY))],
        cwd=tmp_path, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, start_new_session=True,
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.default_int_handler),
    ) as process:  # fmt: skip
        assert process.stderr is not None
        notice = r"tilescope: spin has run for \d+ seconds; Ctrl\+C ends it\.\n"
        assert re.fullmatch(notice, process.stderr.readline())
        kill(process.pid, signal.SIGINT)
        out, err = process.communicate()
    assert process.returncode == 130
    assert re.fullmatch(
        r"tilescope: Ctrl\+C ended the launch; it was (at line|in the loop of line) \d+.*\.\n", err
    )
    assert "went on" not in out

"""`tilescope run` with each engine: a program behaves the same, and its traces say which engine made them."""

from __future__ import annotations

import re
import signal
import subprocess
import sys

import pytest

from patience import PATIENCE
from programs import COPY, HEAD, RACE, run_program, run_tilescope
from tilescope.tracer.run.program_launch import COMPILE_AFTER_ACCESSES
from tilescope.tracer.storage.trace_file import load

LARGE = (
    HEAD
    + f"""
@cuda.jit
def large(a, out):
    i = cuda.grid(1)
    total = np.float32(0)
    for k in range(a.size):
        total += a[k]
    out[i] += total + i

a, out = np.ones({COMPILE_AFTER_ACCESSES // 512}, np.float32), np.ones(1024, np.float32)
large[32, 32](a, out)
print(out.sum())
"""
)
ATOMIC = (
    HEAD
    + """
@cuda.jit
def count(seen, at):
    at[cuda.grid(1)] = cuda.atomic.add(seen, 0, 1)

seen, at = np.zeros(1, np.int64), np.zeros(64, np.int64)
count[2, 32](seen, at)
print(seen, at)
"""
)
RACING = (
    HEAD
    + """
@cuda.jit
def count(seen):
    for k in range(4):
        seen[0] += 1

seen = np.full(1, 5)
count[4, 32](seen)
print(seen)
"""
)
MEMORY = (
    HEAD
    + """
@cuda.jit
def both(a, b, pair, n):
    s = cuda.shared.array(0, np.int32)
    i = cuda.threadIdx.x
    s[i] = a[i] + n
    cuda.syncthreads()
    b[i] += s[31 - i]
    pair[1][i] = pair[0][i] + 1

stream, begin, end = cuda.stream(), cuda.event(), cuda.event()
host, pair = np.arange(32, dtype=np.int32), (np.arange(32), np.zeros(32, np.int64))
device = cuda.to_device(np.ones(32, np.int32), stream=stream)
kept, filled = np.arange(32, dtype=np.int32), np.zeros(32, np.int32)
begin.record(stream)
both[1, 32, stream, 128](host, device, pair, 3)
both[1, 32, stream, 128](cuda.In(kept), cuda.Out(filled), pair, np.int32(4))
end.record(stream)
stream.synchronize()
print(host, device.copy_to_host(), pair[1], kept, sep="\\n")
"""
)
RAISING = (
    HEAD
    + """
@cuda.jit(device=True)
def checked(x):
    if x == 3:
        raise ValueError("three")
    return x

@cuda.jit
def bad(out):
    out[cuda.grid(1)] = checked(cuda.grid(1))

out = np.zeros(4)
try:
    bad[2, 2](out)
except ValueError as error:
    print(error)
print(out)
"""
)
OUTSIDE = COPY + "copy[1, 32](a[:8], out)\nprint(out)\n"
LATE = (
    HEAD
    + """
@cuda.jit
def late(a, n):
    i = cuda.grid(1)
    a[i, 0] += 1
    a[n + i][1] += 1

a = np.zeros((8, 2))
late[1, 4](a, 6)
print(a)
"""
)
# Each program, and by what its launches are made where compiled code is asked for.
PROGRAMS = (
    (LARGE, ["compiled"]),
    (COPY, ["compiled"]),
    (MEMORY, ["compiled"] * 2),
    (RACE, ["run again in turns: its threads may interact"]),
    (RACING, ["run again in turns: its threads may interact"]),
    (ATOMIC, ["compiled"]),
    (RAISING, ["run again in turns: thread by thread it raised"]),
    (OUTSIDE, ["compiled"] * 2),
    (LATE, ["compiled"]),
)


def test_programs_do_the_same_by_both_engines(script, tmp_path):
    """One after the other in one program: to start one takes longer than its launches."""
    path = script("".join(text for text, _ in PROGRAMS))
    theirs, ours = (run_program(tmp_path, ("--engine", engine), path) for engine in ("simulator", "compiled"))
    assert ours[0] == theirs[0]
    assert ours[1] == theirs[1]
    expected = [end for _, ends in PROGRAMS for end in ends]
    for trace, end in zip(ours[2], expected, strict=True):
        assert trace.made_by.endswith(end), (trace.kernel, trace.made_by)
    assert all("compiled" not in trace.made_by for trace in theirs[2])
    assert [(t.launch, t.grid, t.kernel) for t in ours[2]] == [
        (t.launch.replace('"simulator"', '"compiled"'), t.grid, t.kernel) for t in theirs[2]
    ]


def test_without_a_choice_the_simulator_takes_small_launches_and_compiled_code_the_others(script, tmp_path):
    path = script(LARGE + COPY.removeprefix(HEAD))
    printed, launches, traces = run_program(tmp_path, (), path)
    assert (printed, launches) == run_program(tmp_path, ("--engine", "simulator"), path)[:2]
    assert traces[0].made_by.endswith(", compiled")
    assert traces[1].made_by.endswith(f"; not compiled: fewer than {COMPILE_AFTER_ACCESSES:,} accesses")


def test_small_launches_of_one_kernel_add_up(script, tmp_path):
    launches = COMPILE_AFTER_ACCESSES // 1600 + 2
    launches_text = f"for k in range({launches}):\n    copy[25, 32](a, out)"
    path = script(COPY.replace("(40", "(800").replace("copy[2, 32](a, out)", launches_text))
    done = run_tilescope("run", "--out", "out", str(path), folder=tmp_path)
    assert done.returncode == 0, done.stderr
    made_by = [load(tmp_path / "out" / f"{n:03}-copy.npz").made_by for n in (0, launches - 1)]
    assert ["not compiled" in text for text in made_by] == [True, False]


@pytest.mark.parametrize(
    ("line", "why"),
    [
        ("print(a[0])", "it has begun to print"),
        ("out[0] = first(a)", "line 1: the source of first was not found"),
    ],
)
def test_what_can_not_be_compiled_is_not_run_twice(script, tmp_path, line, why):
    text = LARGE.replace("    out[i] +=", f"    if i == 0:\n        {line}\n    out[i] +=")
    first = "exec('def first(x):\\n    return x[0]')\nfirst = cuda.jit(device=True)(first)\n"
    path = script(text.replace("@cuda.jit", f"{first}@cuda.jit", 1))
    printed, launches, traces = run_program(tmp_path, (), path)
    assert (printed, launches) == run_program(tmp_path, ("--engine", "simulator"), path)[:2]
    assert f"; not compiled: {why}" in traces[0].made_by


FALLBACKS = (
    ("exec('def f(a):\\n    a[0] = 1')\nkernel = cuda.jit(f)", "the source of f was not found"),
    ("@cuda.jit\ndef kernel(a):\n    pass\na = np.zeros(())", "a is an array of 0 dimensions of float64"),
)


def test_kernels_that_can_not_be_compiled_run_in_the_simulator(script, tmp_path):
    texts = "".join(f"{text}\nkernel[1, 1](a)\nprint(a)\n" for text, _ in FALLBACKS)
    path = script(HEAD + "a = np.zeros(2)\n" + texts)
    printed, launches, traces = run_program(tmp_path, ("--engine", "compiled"), path)
    assert (printed, launches) == run_program(tmp_path, ("--engine", "simulator"), path)[:2]
    for trace, (_, why) in zip(traces, FALLBACKS, strict=True):
        assert "; not compiled: " in trace.made_by
        assert why in trace.made_by


OUTSIDE_A_TUPLE = """
@cuda.jit
def kernel(a):
    a[0] = a.shape[cuda.threadIdx.x]
try:
    kernel[1, 2](np.zeros(2))
except IndexError as why:
    print(why)
"""


def test_an_error_whose_line_only_the_simulator_knows_is_reported_by_it(script, tmp_path):
    path = script(HEAD + OUTSIDE_A_TUPLE)
    printed, launches, traces = run_program(tmp_path, ("--engine", "compiled"), path)
    assert (printed, launches) == run_program(tmp_path, ("--engine", "simulator"), path)[:2]
    assert "Numba raised IndexError without a line; the simulator finds it" in traces[0].made_by
    assert traces[0].error.file == str(path)


FACTORY = """
def made(width, operation):
    @cuda.jit(device=True)
    def inner(x):
        return operation(x, width)
    @cuda.jit
    def kernel(a):
        a[cuda.grid(1)] = inner(a[cuda.grid(1)])
    return kernel

@cuda.jit(device=True)
def times(x, y):
    return x * y

a = np.arange(4.0)
made(3, times)[1, 4](a)
made(5, times)[1, 4](a)
print(a, times(3, 4))
"""


def test_kernels_of_a_factory_and_device_functions_called_from_the_host(script, tmp_path):
    path = script(HEAD + FACTORY)
    printed, _, traces = run_program(tmp_path, ("--engine", "compiled"), path)
    assert printed == "[ 0. 15. 30. 45.] 12\n"
    assert all(trace.made_by.endswith(", compiled") for trace in traces)


def test_a_schedule_of_random_order_is_compiled_and_the_simulators(script, tmp_path):
    path = script(ATOMIC)
    words = ("--schedule", "random", "--seed", "3")
    ours, theirs = (
        run_program(tmp_path, (*words, "--engine", engine), path) for engine in ("compiled", "simulator")
    )
    assert ours[0] == theirs[0]
    assert ours[2][0].made_by.endswith(", compiled")
    assert ours[2][0].step.tolist() == theirs[2][0].step.tolist()
    assert ours[2][0].thread.tolist() == theirs[2][0].thread.tolist()


ENDLESS = (
    COPY
    + """
@cuda.jit
def spin(a, out):
    x = a[0]
    while x >= 0 and cuda.blockIdx.x == 1:
        x += 1
        if x > 100:
            x = 1
    out[0] = x

copy[1, 4](a, out)
print("ready", flush=True)
try:
    spin[2, 32](a, out)
except KeyboardInterrupt:
    print("interrupted")
    raise
"""
)


# What shows that the loop runs: the simulator compiles nothing, and counts both blocks at once.
@pytest.mark.parametrize(
    ("engine", "notice"),
    [("compiled", "spin has run for .*: 1 of 2 blocks"), ("simulator", "spin has run for ")],
)
def test_ctrl_c_ends_an_endless_loop_and_keeps_what_was_recorded(script, tmp_path, engine, notice):
    words = ("--engine", engine, "--patience", "1000", str(script(ENDLESS)))
    command = [sys.executable, "-m", "tilescope", "run", *words]
    with subprocess.Popen(
        command, cwd=tmp_path, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    ) as process:
        assert process.stdout is not None and process.stderr is not None
        assert process.stdout.readline() == "ready\n"
        while not re.search(notice, line := process.stderr.readline()):
            assert line
        process.send_signal(signal.SIGINT)
        out, error = process.communicate(timeout=PATIENCE)
    assert process.returncode == 130
    assert out == "interrupted\n"
    first, second, *_ = error.splitlines()
    assert re.match(
        r"tilescope: Ctrl\+C ended the launch; it was (at|in the loop of) line (17|18|19|20)", first
    )
    assert second == "tilescope: 2 launches traced in tilescope-traces"
    assert len(list((tmp_path / "tilescope-traces").iterdir())) == 2


NAMED = (
    HEAD
    + """
@cuda.jit(device=True)
def clamped(x, low=0.2, high=1.0):
    return min(max(x, low), high)

@cuda.jit
def clamp(a):
    i = cuda.grid(1)
    a[i] = clamped(a[i], high=0.7)

a = np.linspace(0, 1, 64)
clamp[np.int64(2), np.int32(32)](a)
print(a.min(), a.max())
"""
)


@pytest.mark.parametrize("engine", ["simulator", "compiled"])
def test_device_functions_take_arguments_by_name_and_launches_the_numbers_of_numpy(script, tmp_path, engine):
    printed, launches, traces = run_program(tmp_path, ("--engine", engine), script(NAMED))
    assert printed == "0.2 0.7\n"
    assert launches[0]["grid"] == [2, 1, 1]
    assert ("compiled" in traces[0].made_by) == (engine == "compiled")

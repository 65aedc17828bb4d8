"""Integer constants that are passed at launch: code is shared if they only affect values."""

from __future__ import annotations

import textwrap

import pytest

from engines import assert_engines_agree
from launching import Array, launch
from tilescope.kernels.scenarios.catalogue import find
from tilescope.tracer.compiled.driver import compile as compiling
from tilescope.tracer.compiled.driver import engine
from tilescope.tracer.model.plan import launch_of

IN_OUT = (Array((64,), "float32", "arange"), Array((64,), "float64"))
ONE_CODE = {
    "shapes, bounds and steps": """
        @cuda.jit
        def kernel(a, out):
            tile = cuda.shared.array((2, N), float32)
            own = cuda.local.array(N, int32)
            i = cuda.grid(1)
            for j in range(0, N * 2, N):
                own[i % N] = tile.shape[1] + j
            tile[i % 2, i % N] = a[i]
            cuda.syncthreads()
            out[i] = tile[(i + 1) % 2, N - 1 - i % N] + own[i % N] - (i // N if i >= N else -N)
    """,
    "a loop until a number": """
        @cuda.jit
        def kernel(a, out):
            i, step = cuda.grid(1), 1
            while step < N:
                cuda.atomic.add(out, i % N, a[i] * step)
                step *= 2
            n = N // 2
            while n > 0:
                out[i] += n
                n //= 2
    """,
    "functions": """
        @cuda.jit(device=True)
        def shifted(values, i, by):
            row = cuda.local.array(N, float64)
            row[i % N] = values[(i + by) % 64]
            return row[i % N] * N

        @cuda.jit
        def kernel(a, out):
            i = cuda.grid(1)
            out[i] = shifted(a, i, N) + min(N, 6) + float32(N) / 3 + a[-N] + abs(-N) + divmod(i, N)[1]
    """,
}  # fmt: skip
OTHER_CODE = {
    "types by a branch": "x = 1.5\n    if N > 6:\n        x = 3\n    out[i] = x // 2 + 7 * x / 2",
    "types by a flag": "flag = N & 1\n    x = 2 if flag else 0.5\n    out[i] = x / 4",
    "a loop that never runs": "x = 7\n    while N < 6:\n        x = 0.5\n        break\n    out[i] = x // 2",
    "powers": "out[i] = (a[i] * float32(0.3)) ** N",
    "powers in a function": "out[i] = power(a[i], N)",
    "a part of a tuple": "out[i] = (a, out, i, 0.5, i, 2 * i, i, 3, 0.25)[N]",
    "many digits": "out[i] = (N << 59) / 3.0 * a[i]",
    "types by an argument that is assigned to": "out[i] = chosen(a[i], 0)",
    "types by None": "out[i] = shared(i, N)",
    "a function in the kernel": "f = lambda x: x // N\n    out[i] = f(i)",
    "an error": "if a[i] > 70:\n        raise ValueError(N)\n    out[i] = N",
}  # fmt: skip
FUNCTIONS = {
    "powers in a function": """
        @cuda.jit(device=True)
        def power(x, n):
            return x ** n
    """,
    "types by an argument that is assigned to": """
        @cuda.jit(device=True)
        def chosen(x, n):
            n = N
            y = 2.5
            if n > 6:
                y = 3
            return x + y // 2 + y / 2
    """,
    "types by None": """
        @cuda.jit(device=True)
        def shared(i, n=None):
            if n is None:
                y = 1.5
            else:
                y = 7
            return (i + y) // 2
    """,
}  # fmt: skip


@pytest.fixture
def compiled(monkeypatch, tmp_path):
    """The names of the kernels that were compiled since, in a folder where none is kept."""
    results: list[str] = []
    compile_anew = compiling._compile

    def noted(program, arguments, entry, path):
        results.append(path.stem)
        return compile_anew(program, arguments, entry, path)

    monkeypatch.setenv("TILESCOPE_HOME", str(tmp_path))
    monkeypatch.setattr(compiling, "compiled_kernels", {})
    monkeypatch.setattr(compiling, "_compile", noted)
    return results


def numbered_launch(folder, source, number):
    return launch(
        folder, f"N = 5\n{source}", IN_OUT, grid=(2, 1, 1), block=(32, 1, 1), constants={"N": number}
    )


@pytest.mark.parametrize("name", ONE_CODE)
def test_numbers_that_only_affect_values_share_code(tmp_path, compiled, name):
    for number in (4, 7, 8):
        assert_engines_agree(numbered_launch(tmp_path, textwrap.dedent(ONE_CODE[name]), number))
    assert len(compiled) == 1


@pytest.mark.parametrize("name", OTHER_CODE)
def test_numbers_that_affect_more_have_separate_code(tmp_path, compiled, name):
    functions = textwrap.dedent(FUNCTIONS.get(name, ""))
    source = f"{functions}\n@cuda.jit\ndef kernel(a, out):\n    i = cuda.grid(1)\n    {OTHER_CODE[name]}\n"
    for number in (4, 7, 8):
        assert_engines_agree(numbered_launch(tmp_path, source, number))
    assert len(set(compiled)) >= 3


@pytest.mark.parametrize(
    ("name", "values"),
    [
        ("matmul-tiled", [{"tile": tile, "padding": padding} for tile in (4, 16) for padding in (0, 1)]),
        ("matmul-wide", [{"m": 32, "n": 32, "side": 2}, {"m": 64, "n": 64}]),
        ("transpose-tile", [{"padding": 0}, {"padding": 3}]),
        ("sum-interleaved", [{"threads": 64}, {"threads": 32}]),
        ("sum-sequential", [{"threads": 64}, {"threads": 32}]),
        ("histogram-private", [{"bins": 20}, {"bins": 150}]),
    ],
)
def test_a_scenario_shares_code_whatever_its_numbers(compiled, name, values):
    small = {p.name: 16 for p in find(name).parameters if p.name in ("m", "k", "n", "rows", "cols")}
    for chosen in values:
        assert_engines_agree(launch_of(find(name), small | chosen, engine="compiled"), tolerance=1e-3)
    assert len(compiled) == 1


def test_flags_types_and_fractions_are_part_of_the_code(tmp_path, compiled):
    source = "N = 0\n@cuda.jit\ndef kernel(out):\n    out[0] = N\n"
    for number in (False, True, 2, 3, 0.5, 1 << 40):
        assert_engines_agree(launch(tmp_path, source, (Array((1,), "float64"),), constants={"N": number}))
    assert len(compiled) == 5


def test_large_launches_have_code_for_their_numbers(tmp_path, compiled, monkeypatch):
    monkeypatch.setattr(engine, "LARGE", 128)
    source = "@cuda.jit\ndef kernel(a, out):\n    i = cuda.grid(1)\n    out[i] = a[i] % N\n"
    for number in (4, 7):
        assert_engines_agree(numbered_launch(tmp_path, source, number))
    assert len(compiled) == 2

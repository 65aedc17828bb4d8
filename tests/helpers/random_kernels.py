"""Kernels made at random, for hypothesis: what they may read and write, and when their threads wait."""

from __future__ import annotations

from hypothesis import strategies as st

SIZE = 12


INDEX = st.sampled_from(["t", "t + 1", "2 * t", "t // 3", "x", "x * 5", "7", "-1 - t", "i"])


ARRAY = st.sampled_from(["a", "b", "shared"])


@st.composite
def statements(draw: st.DrawFn, depth: int = 2) -> list[str]:
    """Return the lines of a random block of code over a, b, shared and mine."""
    lines: list[str] = []
    for _ in range(draw(st.integers(1, 4))):
        kind = draw(st.sampled_from(["move", "add", "atomic", "local"] + ["if", "for"] * (depth > 0)))
        target, source = draw(ARRAY), draw(ARRAY)
        to, position = f"({draw(INDEX)}) % {SIZE}", f"({draw(INDEX)}) % {SIZE}"
        if kind == "move":
            lines.append(f"{target}[{to}] = {source}[{position}]")
        elif kind == "add":
            lines.append(f"{target}[{to}] += {source}[{position}] + {draw(st.integers(0, 9))}")
        elif kind == "atomic":
            lines.append(f"cuda.atomic.add({target}, {to}, {draw(st.integers(1, 9))})")
        elif kind == "local":
            lines += [f"mine[i % 3] = {source}[{position}]", f"{target}[{to}] = mine[i % 3]"]
        else:
            head = (
                f"if t % {draw(st.integers(1, 4))} == 0:"
                if kind == "if"
                else f"for i in range(t % 3, {draw(st.integers(1, 4))}):"
            )
            lines += [head] + ["    " + line for line in draw(statements(depth - 1))]
    return lines


@st.composite
def kernels(draw: st.DrawFn) -> str:
    """Return a random kernel; barriers stand where every thread comes by."""
    lines = ["t, x, i = cuda.threadIdx.x, cuda.grid(1), 0", f"shared = cuda.shared.array({SIZE}, int32)"]
    lines.append("mine = cuda.local.array(3, int32)")
    for _ in range(draw(st.integers(1, 3))):
        lines += [*draw(statements()), "cuda.syncthreads()"]
    return "@cuda.jit\ndef kernel(a, b):\n" + "".join(f"    {line}\n" for line in lines)

"""Launches that no GPU takes, though Numba's simulator does, and such as never end.

The limits are those of "Compute Capabilities" in the CUDA C++ Programming Guide, the same for all devices since 2012.
Numba compiles arrays of a block or thread for shapes that its type inference knows: numbers, and names of numbers.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

import numpy as np

from ..model.finding import Finding
from ..model.launch import decode
from ..model.syntax_tree import syntax_tree
from ..model.trace import Trace

THREADS = 1024  # of a block
BLOCK = (1024, 1024, 64)  # threads along x, y, z
GRID = (2**31 - 1, 65_535, 65_535)  # blocks along x, y, z
# Bytes of shared memory that a block has unless a program asks the driver for more, which Numba's launches don't.
SHARED = 48 * 1024
KIND = "launch"
NEVER_ENDS = "NeverEnds"  # what `livelock` raises, which the window's process can't import for its greenlets


def launch_limit_findings(trace: Trace) -> list[Finding]:
    """Return an error for each reason why a GPU would not run this launch, or not to its end."""
    found = [_error(*limit) for limit in (*_sizes(trace), *_shared(trace))]
    return [*found, *_shapes(trace), *_endless(trace)]


def _error(number: int, message: str, remedy: str, place: tuple[str, int] | None = None) -> Finding:
    nobody = np.empty(0, np.int64)
    return Finding(KIND, "error", f"{message}; {remedy}.", remedy, number, (), nobody, (), (), 0, place)


def _sizes(trace: Trace) -> Iterator[tuple[int, str, str]]:
    if trace.threads > THREADS:
        text = f"{trace.threads:,} threads in a block, of which a GPU takes {THREADS:,} at most: the launch fails"
        yield trace.threads, text, "launch more blocks with fewer threads"
    for name, dim, limits in (("block", trace.block_dim, BLOCK), ("grid", trace.grid, GRID)):
        for axis, size, limit in zip("xyz", dim, limits, strict=True):
            if limit < size and (name == "grid" or size <= THREADS):
                text = f"{size:,} along {axis} of the {name}, where a GPU takes {limit:,} at most: the launch fails"
                yield size, text, "use x, which may be longest"


def _shared(trace: Trace) -> Iterator[tuple[int, str, str]]:
    dynamic = decode(trace.launch).shared_bytes if trace.launch else 0
    ends = [b.address + b.size * b.unit for b in trace.buffers if b.space == "shared"]
    total = max([*ends, dynamic])
    if total <= SHARED:
        return
    why = "the launch fails" if dynamic else "the kernel does not compile"
    text = f"{total:,} bytes of shared memory in a block, where Numba gets {SHARED:,} at most: {why}"
    yield total, text, "use smaller tiles, or a smaller type"


def _shapes(trace: Trace) -> Iterator[Finding]:
    """Yield a finding for each array in the kernel whose shape Numba can't know when it compiles."""
    for file, text in trace.sources.items():
        for call in _arrays(text, trace.kernel):
            message = (
                f"1 array, {ast.unparse(call.func)} on line {call.lineno}, has a shape that is computed, "
                f"{ast.unparse(_shape(call))}: the kernel does not compile, since Numba must know it as a number"
            )
            yield _error(
                1, message, "give a number, or the name of one from outside the kernel", (file, call.lineno)
            )


def _arrays(text: str, kernel: str) -> list[ast.Call]:
    """Return the calls in a kernel that make arrays of computed shapes; none where its name is not its own."""
    nodes = ast.walk(syntax_tree(text))
    named = [node for node in nodes if isinstance(node, ast.FunctionDef) and node.name == kernel]
    if len(named) != 1:
        return []
    computed = _computed_names(named[0])
    calls = [node for node in ast.walk(named[0]) if isinstance(node, ast.Call) and _makes_array(node)]
    return [call for call in calls if _is_computed(_shape(call), computed)]


def _makes_array(call: ast.Call) -> bool:
    made = ast.unparse(call.func).removeprefix("numba.") in ("cuda.shared.array", "cuda.local.array")
    return made and bool(call.args or any(k.arg == "shape" for k in call.keywords))


def _shape(call: ast.Call) -> ast.expr:
    return call.args[0] if call.args else next(k.value for k in call.keywords if k.arg == "shape")


def _computed_names(kernel: ast.FunctionDef) -> set[str]:
    """Return the names of a kernel's parameters, and of its variables that are given anything but numbers."""
    names = {
        argument.arg for argument in (*kernel.args.posonlyargs, *kernel.args.args, *kernel.args.kwonlyargs)
    }
    for node in ast.walk(kernel):
        if isinstance(node, ast.For):
            names |= {n.id for n in ast.walk(node.target) if isinstance(n, ast.Name)}
        elif isinstance(node, ast.AugAssign) and isinstance(node.target, ast.Name):
            names.add(node.target.id)
        elif isinstance(node, ast.Assign) and _is_computed(node.value, names):
            names |= {n.id for t in node.targets for n in ast.walk(t) if isinstance(n, ast.Name)}
    return names


def _is_computed(shape: ast.expr, names: set[str]) -> bool:
    """Return whether Numba does not know this when it compiles; Python itself computes with numbers alone."""
    if isinstance(shape, ast.Tuple):
        return any(_is_computed(part, names) for part in shape.elts)
    if isinstance(shape, ast.Name):
        return shape.id in names
    if isinstance(shape, ast.Attribute):
        roots = {n.id for n in ast.walk(shape) if isinstance(n, ast.Name)}
        return bool(roots & {*names, "cuda"})
    return any(isinstance(node, ast.Name | ast.Call) for node in ast.walk(shape))


def _endless(trace: Trace) -> Iterator[Finding]:
    error = trace.error
    if error is None or error.type != NEVER_ENDS:
        return
    message = f"1 launch does not end: {error.message}"
    yield _error(
        1, message, "let another thread, which runs at the same time, write it", (error.file, error.line)
    )

"""What a traced launch was given, as files: with them it can be run again, though its program is not."""

from __future__ import annotations

import ast
import hashlib
import io
from collections.abc import Iterator
from pathlib import Path

import msgspec
import numpy as np

from ..model.launch import Array, Launch, Scalar
from ..model.syntax_tree import syntax_tree
from ..model.trace import ALIAS_SEPARATOR, Trace
from .atomic_write import write_atomically


def with_inputs(launch: Launch, trace: Trace, folder: Path) -> Launch:
    """Return a launch of a user's program whose arrays hold what they held when it was traced.

    One of the catalogue says by itself what it is given, and stays as it is. folder: where the files go, named by
    their content. An array that the trace doesn't know stays as its launch describes it. Raises OSError.
    """
    if launch.scenario:
        return launch
    found = zip(launch.arguments, _parameters(launch), strict=False)
    given = [_given(argument, name, trace, folder) for argument, name in found]
    return msgspec.structs.replace(launch, arguments=(*given, *launch.arguments[len(given) :]))


def _parameters(launch: Launch) -> list[str]:
    """Return the names of a kernel's parameters, none where its text has no such function."""
    name = launch.kernel.rpartition(":")[2]
    for node in ast.walk(syntax_tree(launch.source)):
        if isinstance(node, ast.FunctionDef) and node.name == name:
            return [argument.arg for argument in (*node.args.posonlyargs, *node.args.args)]
    return []


def _given(argument: Array | Scalar, name: str, trace: Trace, folder: Path) -> Array | Scalar:
    if not isinstance(argument, Array) or argument.fill != "zeros":
        return argument
    for number in _buffers_named(trace, name):
        buffer = trace.buffers[number]
        content = trace.initial.get(number)
        if content is None or buffer.shape != argument.shape or np.dtype(buffer.dtype).kind not in "biufc":
            continue
        text = io.BytesIO()
        np.save(text, content[buffer.elements()], allow_pickle=False)
        digest = hashlib.sha256(text.getbuffer()).hexdigest()
        path = folder / f"{digest[:32]}.npy"
        if not path.exists():
            write_atomically(path, text.getvalue(), durable=False)
        return msgspec.structs.replace(argument, fill="file", path=str(path), digest=digest)
    return argument


def _buffers_named(trace: Trace, name: str) -> Iterator[int]:
    for number, buffer in enumerate(trace.buffers):
        if buffer.space == "global" and name in buffer.name.split(ALIAS_SEPARATOR):
            yield number

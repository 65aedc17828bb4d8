"""Arguments of a traced launch as files: with them it can run again without its program."""

from __future__ import annotations

import ast
import hashlib
import io
from collections.abc import Iterator
from pathlib import Path

import msgspec
import numpy as np

from ..model import cpp_text
from ..model.launch import Array, Launch, Scalar, is_cuda_cpp_launch
from ..model.syntax_tree import syntax_tree
from ..model.trace import ALIAS_SEPARATOR, Trace
from .atomic_write import write_atomically


def with_inputs(launch: Launch, trace: Trace, folder: Path) -> Launch:
    """Return a launch of a user's program whose arrays have their contents at the time of the trace.

    A launch of the catalogue describes its inputs completely, and stays as it is. folder: of the files, named by their
    content. An array that is not in the trace stays as its launch describes it. Raises OSError.
    """
    if launch.scenario:
        return launch
    named_arguments = zip(launch.arguments, _parameters(launch), strict=False)
    restored = [_with_content(argument, name, trace, folder) for argument, name in named_arguments]
    return msgspec.structs.replace(launch, arguments=(*restored, *launch.arguments[len(restored) :]))


def _parameters(launch: Launch) -> list[str]:
    """List a kernel's parameters, none if its text has no such function."""
    name = launch.kernel.rpartition(":")[2]
    if is_cuda_cpp_launch(launch):
        return list(cpp_text.parameters(launch.source, name) or ())
    for node in ast.walk(syntax_tree(launch.source)):
        if isinstance(node, ast.FunctionDef) and node.name == name:
            return [argument.arg for argument in (*node.args.posonlyargs, *node.args.args)]
    return []


def _with_content(argument: Array | Scalar, name: str, trace: Trace, folder: Path) -> Array | Scalar:
    if not isinstance(argument, Array) or argument.fill != "zeros":
        return argument
    for number in _buffers_named(trace, name):
        buffer = trace.buffers[number]
        content = trace.initial.get(number)
        if content is None or buffer.shape != argument.shape or np.dtype(buffer.dtype).kind not in "biufc":
            continue
        data = io.BytesIO()
        np.save(data, content[buffer.elements()], allow_pickle=False)
        digest = hashlib.sha256(data.getbuffer()).hexdigest()
        path = folder / f"{digest[:32]}.npy"
        if not path.exists():
            write_atomically(path, data.getvalue(), durable=False)
        return msgspec.structs.replace(argument, fill="file", path=str(path), digest=digest)
    return argument


def _buffers_named(trace: Trace, name: str) -> Iterator[int]:
    for number, buffer in enumerate(trace.buffers):
        if buffer.space == "global" and name in buffer.name.split(ALIAS_SEPARATOR):
            yield number

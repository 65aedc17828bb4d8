"""Launches of a kernel from a text by both engines."""

from __future__ import annotations

from launching import Array

LONGS = (Array((64,), "int64", "arange"), Array((64,), "int64"))


def kernel(body: str, arguments: str = "a, out") -> str:
    """Return the source of a kernel of this body."""
    return f"@cuda.jit\ndef kernel({arguments}):\n" + "".join(f"    {line}\n" for line in body.splitlines())

"""What findings of kernels from a text say."""

from __future__ import annotations


def text(body, count):
    names = "".join(f"arg{i}, " for i in range(count))
    return f"@cuda.jit\ndef kernel({names}):\n    t, i = cuda.threadIdx.x, cuda.grid(1)\n" + "".join(
        f"    {line}\n" for line in body.splitlines()
    )

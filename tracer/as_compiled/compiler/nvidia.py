"""What NVIDIA's own compilers make of a kernel: libNVVM, ptxas and nvdisasm, of the extra `nvidia`.

Their code has other loops unrolled than LLVM's, so its instructions are compared with those of libNVVM's PTX, place by
place in the source: that says which accesses to shared memory ptxas joins.
"""

from __future__ import annotations

import hashlib
from collections import OrderedDict
from typing import Any

import msgspec

from ...recording import nvidia_files
from .generated import NamedAccess, accesses_of_ptx, of_sass
from .numba_ir import KernelIR

ARCHITECTURE = "compute_90"
KEPT = 64  # kernels whose code is remembered
JOINED = (("shared", "load"), ("shared", "store"))
Place = tuple[str, str, int]  # space, "load" or "store", and the index of a `CodeSite`


class JoinedAccesses(msgspec.Struct, frozen=True):
    """How the accesses of one place in the source are joined."""

    accesses: int  # instructions of PTX
    sizes: dict[int, int]  # of a GPU's code: instructions by the bytes that they access

    @property
    def each(self) -> dict[int, float]:
        """Instructions of each size for one access."""
        return {size: count / self.accesses for size, count in self.sizes.items()}


class NvidiaCode(msgspec.Struct, frozen=True):
    """A kernel as NVIDIA's compilers leave it."""

    joined: dict[Place, JoinedAccesses]
    registers: int | None
    spills: int | None
    compiler: str


_known: OrderedDict[str, NvidiaCode | None] = OrderedDict()


def nvidia_code(kernel: KernelIR) -> NvidiaCode | None:
    """Compile a kernel with NVIDIA's compilers; None where they are missing or refuse it."""
    missing = nvidia_files.ptxas() is None or nvidia_files.nvdisasm() is None
    if missing or nvidia_files.libnvvm() is None or nvidia_files.libdevice() is None or kernel.linked:
        return None
    key = hashlib.sha256("".join(kernel.texts).encode()).hexdigest()
    if key not in _known:
        _known[key] = _compiled(kernel)
        while len(_known) > KEPT:
            _known.popitem(last=False)
    _known.move_to_end(key)
    return _known[key]


def _compiled(kernel: KernelIR) -> NvidiaCode | None:
    try:
        ptx = libnvvm_ptx(kernel)
    except Exception:  # noqa: BLE001  # libNVVM raises errors of its binding
        return None
    code = of_sass(ptx)
    if code is None:
        return None
    asked, made = _by_place(accesses_of_ptx(ptx)), _by_place(code.accesses)
    joined = {}
    for place, accesses in asked.items():
        sizes: dict[int, int] = {}
        for one in made.get(place, ()):
            sizes[one.size] = sizes.get(one.size, 0) + 1
        joined[place] = JoinedAccesses(len(accesses), sizes)
    balanced = all(
        sum(one.size for one in asked.get(place, ())) <= sum(one.size for one in made.get(place, ()))
        or any(other[:2] == place[:2] and _gains(asked.get(other, ()), made.get(other, ())) for other in asked)
        for place in asked
    )
    return NvidiaCode(joined if balanced else {}, code.registers, code.spills, code.compiler)


def _gains(asked: Any, made: Any) -> bool:
    """Return whether a place accesses more bytes than it was asked to: those of a neighbour, too."""
    return sum(one.size for one in made) > sum(one.size for one in asked)


def _by_place(accesses: list[NamedAccess]) -> dict[Place, list[NamedAccess]]:
    found: dict[Place, list[NamedAccess]] = {}
    for one in accesses:
        if (one.space, one.kind) in JOINED:
            found.setdefault((one.space, one.kind, one.line), []).append(one)
    return found


def libnvvm_ptx(kernel: KernelIR) -> str:
    """Compile a kernel to PTX with libNVVM, as where Numba has a GPU; raises what its binding raises."""
    from numba.cuda.cudadrv import nvvm

    libdevice = nvidia_files.libdevice()
    assert libdevice is not None
    nvvm.LibDevice._cache_ = libdevice.read_bytes()  # which Numba would look for with libraries that are not needed
    options: dict[str, Any] = {"arch": ARCHITECTURE, "opt": 3, "fastmath": kernel.fastmath}
    made: bytes = nvvm.compile_ir(list(kernel.texts), **options)
    return made.decode().strip("\x00").strip()

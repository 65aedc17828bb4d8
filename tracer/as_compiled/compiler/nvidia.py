"""What NVIDIA's own compilers make of a kernel: libNVVM, ptxas and nvdisasm, of the extra `nvidia`.

Their code has other loops unrolled than LLVM's, so its instructions are compared with those of libNVVM's PTX, place by
place in the source: that says which accesses to shared memory ptxas joins.
"""

from __future__ import annotations

import hashlib
import re
from collections import OrderedDict
from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path
from typing import Any

import msgspec

from .... import __version__
from ...recording import nvidia_files
from ...storage.atomic_write import write_atomically
from ...storage.folders import cache_folder
from .generated import NamedAccess, accesses_of_ptx, of_sass
from .numba_ir import KernelIR

ARCHITECTURE = "compute_90"
KEPT = 64  # kernels whose code is remembered
ENDING, MOST = ".sass", 500  # of files with what was found out, and how many are kept
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


class _KeptPlace(msgspec.Struct, frozen=True):
    space: str
    kind: str
    site: int
    joined: JoinedAccesses


class _KeptCode(msgspec.Struct, frozen=True):
    places: list[_KeptPlace]
    registers: int | None
    spills: int | None
    compiler: str


_CODE = msgspec.json.Decoder(_KeptCode)


class NvidiaCode(msgspec.Struct, frozen=True):
    """A kernel as NVIDIA's compilers leave it."""

    joined: dict[Place, JoinedAccesses]
    registers: int | None
    spills: int | None
    compiler: str


_known: OrderedDict[str, NvidiaCode | None] = OrderedDict()
_VERSION = re.compile(r"B\d+v\d+B")  # in names, how many functions Numba had compiled before


def has_compilers() -> bool:
    """Return whether NVIDIA's compilers are installed."""
    programs = nvidia_files.ptxas() is not None and nvidia_files.nvdisasm() is not None
    return programs and nvidia_files.libnvvm() is not None and nvidia_files.libdevice() is not None


def nvidia_code(kernel: KernelIR) -> NvidiaCode | None:
    """Compile a kernel with NVIDIA's compilers; None where they are missing or refuse it."""
    if not has_compilers() or kernel.linked:
        return None
    key = _key(kernel)
    if key not in _known:
        _known[key] = _kept(key) or _compiled(kernel)
        _keep(key, _known[key])
        while len(_known) > KEPT:
            _known.popitem(last=False)
    _known.move_to_end(key)
    return _known[key]


def _key(kernel: KernelIR) -> str:
    text = _VERSION.sub("B", "".join(kernel.texts))
    facts = f"{__version__} {nvidia_files.ptxas_version()} {nvidia_files.libnvvm()} {kernel.fastmath} {text}"
    return hashlib.sha256(facts.encode()).hexdigest()


def _path(key: str) -> Path:
    return cache_folder() / "as-compiled" / f"{key}{ENDING}"


def _kept(key: str) -> NvidiaCode | None:
    """Return the code that another process has found out."""
    with suppress(OSError, msgspec.MsgspecError, ValueError):
        found = _CODE.decode(_path(key).read_bytes())
        joined = {(one.space, one.kind, one.site): one.joined for one in found.places}
        return NvidiaCode(joined, found.registers, found.spills, found.compiler)
    return None


def _keep(key: str, code: NvidiaCode | None) -> None:
    if code is None:
        return
    places = [_KeptPlace(*place, joined) for place, joined in code.joined.items()]
    with suppress(OSError):
        path = _path(key)
        path.parent.mkdir(parents=True, exist_ok=True)
        write_atomically(
            path, msgspec.json.encode(_KeptCode(places, code.registers, code.spills, code.compiler))
        )
        files = list(path.parent.glob(f"*{ENDING}"))
        if len(files) > MOST:
            for old in sorted(files, key=lambda file: file.stat().st_mtime_ns)[: len(files) - MOST // 2]:
                old.unlink(missing_ok=True)


def _compiled(kernel: KernelIR) -> NvidiaCode | None:
    try:
        ptx = libnvvm_ptx(kernel)
    except Exception:  # noqa: BLE001  # libNVVM raises errors of its binding
        return None
    asked = _by_place(accesses_of_ptx(ptx))
    code = of_sass(ptx, listed=bool(asked))
    if code is None:
        return None
    made = _by_place(code.accesses)
    joined = {}
    for place, accesses in asked.items():
        sizes: dict[int, int] = {}
        for one in made.get(place, ()):
            sizes[one.size] = sizes.get(one.size, 0) + 1
        joined[place] = JoinedAccesses(len(accesses), sizes)
    balanced = all(
        sum(one.size for one in asked.get(place, ())) <= sum(one.size for one in made.get(place, ()))
        or any(
            other[:2] == place[:2] and _gains(asked.get(other, ()), made.get(other, ())) for other in asked
        )
        for place in asked
    )
    return NvidiaCode(joined if balanced else {}, code.registers, code.spills, code.compiler)


def _gains(asked: Iterable[NamedAccess], made: Iterable[NamedAccess]) -> bool:
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
    nvvm.LibDevice._cache_ = (
        libdevice.read_bytes()
    )  # which Numba would look for with libraries that are not needed
    options: dict[str, Any] = {"arch": ARCHITECTURE, "opt": 3, "fastmath": kernel.fastmath}
    made: bytes = nvvm.compile_ir(list(kernel.texts), **options)
    return made.decode().strip("\x00").strip()

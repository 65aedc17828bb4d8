"""A kernel compiled by NVIDIA's programs: libNVVM, ptxas and nvdisasm, of the extra `nvidia`.

They unroll other loops than LLVM does, so their code is compared with libNVVM's PTX, place by place in the source.
That shows which accesses to shared memory ptxas joins.
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
from .generated import NamedAccess, accesses_of_ptx, compile_sass
from .numba_ir import KernelIR

ARCHITECTURE = "compute_90"
KEPT = 64  # kernels whose code is cached in memory
ENDING, MOST = ".sass", 500  # suffix and number of files in the cache
JOINED = (("shared", "load"), ("shared", "store"))
Place = tuple[str, str, int]  # space, "load" or "store", and the index of a `CodeSite`


class JoinedAccesses(msgspec.Struct, frozen=True):
    """The joined accesses of one place in the source."""

    accesses: int  # instructions of PTX
    sizes: dict[int, int]  # of a GPU's code: number of instructions by the bytes that they access

    @property
    def each(self) -> dict[int, float]:
        """Instructions of each size per access."""
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
    """A kernel's code by NVIDIA's compilers."""

    joined: dict[Place, JoinedAccesses]
    registers: int | None
    spills: int | None
    compiler: str


_cache: OrderedDict[str, NvidiaCode | None] = OrderedDict()
_VERSION = re.compile(r"B\d+v\d+B")  # in names, Numba's count of compiled functions


def has_compilers() -> bool:
    """Return True if NVIDIA's compilers are installed."""
    programs = nvidia_files.ptxas() is not None and nvidia_files.nvdisasm() is not None
    return programs and nvidia_files.libnvvm() is not None and nvidia_files.libdevice() is not None


def nvidia_code(kernel: KernelIR) -> NvidiaCode | None:
    """Compile a kernel with NVIDIA's compilers; None if they are missing or refuse it."""
    if not has_compilers() or kernel.linked:
        return None
    key = _key(kernel)
    if key not in _cache:
        _cache[key] = _load_cached(key) or _compiled(kernel)
        _store_cached(key, _cache[key])
        while len(_cache) > KEPT:
            _cache.popitem(last=False)
    _cache.move_to_end(key)
    return _cache[key]


def _key(kernel: KernelIR) -> str:
    text = _VERSION.sub("B", "".join(kernel.texts))
    facts = f"{__version__} {nvidia_files.ptxas_version()} {nvidia_files.libnvvm()} {kernel.fastmath} {text}"
    return hashlib.sha256(facts.encode()).hexdigest()


def _path(key: str) -> Path:
    return cache_folder() / "as-compiled" / f"{key}{ENDING}"


def _load_cached(key: str) -> NvidiaCode | None:
    """Return the code in the cache on disk."""
    with suppress(OSError, msgspec.MsgspecError, ValueError):
        code = _CODE.decode(_path(key).read_bytes())
        joined = {(entry.space, entry.kind, entry.site): entry.joined for entry in code.places}
        return NvidiaCode(joined, code.registers, code.spills, code.compiler)
    return None


def _store_cached(key: str, code: NvidiaCode | None) -> None:
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
    ptx_accesses = _by_place(accesses_of_ptx(ptx))
    code = compile_sass(ptx, listed=bool(ptx_accesses))
    if code is None:
        return None
    compiled_accesses = _by_place(code.accesses)
    joined = {}
    for place, accesses in ptx_accesses.items():
        sizes: dict[int, int] = {}
        for access in compiled_accesses.get(place, ()):
            sizes[access.size] = sizes.get(access.size, 0) + 1
        joined[place] = JoinedAccesses(len(accesses), sizes)
    balanced = all(
        sum(access.size for access in ptx_accesses.get(place, ()))
        <= sum(access.size for access in compiled_accesses.get(place, ()))
        or any(
            other[:2] == place[:2] and _gains(ptx_accesses.get(other, ()), compiled_accesses.get(other, ()))
            for other in ptx_accesses
        )
        for place in ptx_accesses
    )
    return NvidiaCode(joined if balanced else {}, code.registers, code.spills, code.compiler)


def _gains(ptx_accesses: Iterable[NamedAccess], compiled_accesses: Iterable[NamedAccess]) -> bool:
    """Return True if the code of a place accesses more bytes than its PTX: those of a neighbour, too."""
    return sum(access.size for access in compiled_accesses) > sum(access.size for access in ptx_accesses)


def _by_place(accesses: list[NamedAccess]) -> dict[Place, list[NamedAccess]]:
    groups: dict[Place, list[NamedAccess]] = {}
    for access in accesses:
        if (access.space, access.kind) in JOINED:
            groups.setdefault((access.space, access.kind, access.line), []).append(access)
    return groups


def libnvvm_ptx(kernel: KernelIR) -> str:
    """Compile a kernel to PTX with libNVVM, as Numba does with a GPU; raises its binding's errors."""
    from numba.cuda.cudadrv import nvvm

    libdevice = nvidia_files.libdevice()
    assert libdevice is not None
    nvvm.LibDevice._cache_ = (
        libdevice.read_bytes()
    )  # Numba would search for it along with libraries that are not needed
    options: dict[str, Any] = {"arch": ARCHITECTURE, "opt": 3, "fastmath": kernel.fastmath}
    ptx: bytes = nvvm.compile_ir(list(kernel.texts), **options)
    return ptx.decode().strip("\x00").strip()

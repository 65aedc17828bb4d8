"""A GPU's notes, made on the CPU: a marked kernel in plain Python, with clocks that count steps.

The kernel's source is the one that a GPU gets; what it calls on a GPU is replaced here. Addresses are those of NumPy's
arrays. Each block has a separate multiprocessor, whose clock begins elsewhere and counts one cycle a nanosecond.
"""

from __future__ import annotations

import ast
import math
import random
from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

import greenlet
import numpy as np

from tilescope.tracer.compiled.runtime.atomics import ATOMIC_UPDATES
from tilescope.tracer.hardware.accesses.marked_kernel import ENTRY, MarkedKernel, noting_kernel
from tilescope.tracer.hardware.accesses.notes import (
    AFTER,
    BASE,
    BEFORE,
    COUNT,
    DECLARED_FROM,
    FIRST,
    INSTANCES,
    MULTIPROCESSOR,
    OLD,
    PLACE,
    SITE,
    TIMER,
    VALUE,
    WORDS,
    NotedArray,
    NotedSite,
    Notes,
    NotesHead,
    head_words,
)
from tilescope.tracer.hardware.times.measurement import Device
from tilescope.tracer.model.launch import Launch
from tilescope.tracer.model.trace import poison, poisoned, unravel
from tilescope.tracer.recording.kernel_loader import create_arguments, load_kernel, set_constants

DEVICE = Device("Made-up GPU", (9, 0), 4, 1 << 30, 1 << 20, "1", (13, 0), None)
STARTS = (5_000_000, 70_000, 900_000, 12_345)  # what the clock of each multiprocessor shows at time 0
PAIRS = 8  # of clock and timer, before the launch and after it


class _Nothing:
    """What a marked kernel is given for its notes, which are made elsewhere."""

    def __getitem__(self, number: int) -> None: ...


NOTHING = _Nothing()


class _Thread:
    """A thread of the grid."""

    def __init__(self, number: int, launch: Launch) -> None:
        threads = math.prod(launch.block)
        self.block, self.thread = divmod(number, threads)
        self.number = number
        self.place = unravel(self.thread, launch.block)
        self.block_place = unravel(self.block, launch.grid)
        self.rows: list[list[int]] = []
        self.own: dict[int, list[np.ndarray]] = {}  # local arrays, by the number of their declaration


class HostRun:
    """Runs a marked kernel thread by thread, or in turns drawn by a seed: each of them ends after an access."""

    def __init__(self, launch: Launch, seed: int | None = None) -> None:
        self.launch, self.chance = launch, None if seed is None else random.Random(seed)
        self.module, self.plain = load_kernel(launch)
        set_constants(self.module, launch)
        self.given, self.names = create_arguments(launch, self.plain)
        dtypes = {
            n: v.dtype for n, v in zip(self.names, self.given, strict=True) if isinstance(v, np.ndarray)
        }
        self.kernel: MarkedKernel = noting_kernel(self.plain.py_func, dtypes)
        self.threads = [_Thread(n, launch) for n in range(math.prod(launch.grid) * math.prod(launch.block))]
        self.heads = np.zeros((len(self.threads), head_words(len(self.kernel.program.declared))), np.uint64)
        self.time, self.me = 100, self.threads[0]
        self.shared: dict[tuple[int, int], np.ndarray] = {}
        self.kept: list[np.ndarray] = []

    def notes(self) -> Notes:
        """Run it and return its notes."""
        names = self._names()
        for function in self.kernel.functions:
            code = compile(ast.Module([function], []), str(self.module.__file__), "exec")
            exec(code, names)
        self._run_blocks(names[ENTRY])
        for thread in self.threads:
            self.heads[thread.number, COUNT] = len(thread.rows)
        rows = [row for thread in self.threads for row in thread.rows]
        program = self.kernel.program
        arrays = {n: v for n, v in zip(self.names, self.given, strict=True) if isinstance(v, np.ndarray)}
        return Notes(
            head=NotesHead(
                launch=self.launch, names=self.names, file=str(self.module.__file__),
                sites=tuple(
                    NotedSite(s.function, s.file, s.line, s.column, int(k))
                    for s, k in zip(program.sites, program.site_kinds, strict=True)
                ),
                arguments=tuple(
                    NotedArray(n, "global", a.dtype.str, a.shape, address(a)) for n, a in arrays.items()
                ),
                declared=tuple(NotedArray(a.name, a.space, a.dtype.str, a.shape) for a in program.declared),
                device=DEVICE, date="2026-11-23T10:00:00+00:00", revision="abc", versions={"numba-cuda": "0"},
                registers=(8, 20),
            ),
            rows=np.array(rows, np.uint64).reshape(-1, WORDS), heads=self.heads,
            results={n: a.copy() for n, a in arrays.items()}, plain={n: a.copy() for n, a in arrays.items()},
            contents={n: np.array(a.content) for n, a in enumerate(program.declared) if a.content is not None},
            before=pairs(0), after=pairs(self.time + 100),
        )  # fmt: skip

    def _run_blocks(self, entry: Callable[..., None]) -> None:
        size = math.prod(self.launch.block)
        for first in range(0, len(self.threads), size):
            self.shared.clear()
            block = self.threads[first : first + size]
            alive = {t: greenlet.greenlet(lambda: entry(NOTHING, NOTHING, *self.given)) for t in block}
            while alive:
                waiting = {}
                while alive:
                    chosen = self.chance.choice(list(alive)) if self.chance else next(iter(alive))
                    self.me = chosen
                    stop = alive[chosen].switch()
                    if alive[chosen].dead:
                        del alive[chosen]
                    elif stop == "barrier":
                        waiting[chosen] = alive.pop(chosen)
                alive = waiting

    def _turn(self) -> None:
        """End the thread's turn, where threads take turns."""
        if self.chance:
            me = self.me
            greenlet.getcurrent().parent.switch("turn")
            self.me = me

    def _clock(self) -> int:
        self.time += 1
        return self.time + STARTS[self.me.block % len(STARTS)]

    # What a marked kernel calls

    def load(self, state: Any, array: Any, index: Any, site: int) -> Any:
        if not isinstance(array, np.ndarray) or not is_element(array, index):
            return array[index]
        self._turn()
        where, before = self._where(array, index), self._clock()
        value = at_address(array, where)[0]
        self._note(site, where, before, value)
        return value

    def store(self, state: Any, value: Any, array: Any, index: Any, site: int) -> None:
        if not is_element(array, index):
            part = array[index]
            for place in range(len(part)):
                self.store(state, value, part, place, site)
            return
        self._turn()
        where, before = self._where(array, index), self._clock()
        with np.errstate(all="ignore"):
            cell = at_address(array, where)
            cell[0] = np.asarray(value).astype(array.dtype)
        self._note(site, where, before, cell[0])

    def update(self, name: str) -> Callable[..., Any]:
        def atomic(state: Any, array: Any, index: Any, value: Any, site: int) -> Any:
            self._turn()
            where, before = self._where(array, index), self._clock()
            old = array[index]
            array[index] = ATOMIC_UPDATES[name](old, array.dtype.type(value))
            self._note(site, where, before, array[index], old)
            return old

        return atomic

    def cas(self, state: Any, array: Any, index: Any, expected: Any, value: Any, site: int) -> Any:
        self._turn()
        where, before = self._where(array, index), self._clock()
        old = array[index]
        if old == expected:
            array[index] = value
        self._note(site, where, before, array[index], old)
        return old

    def here(self, state: Any, number: int, arguments: Any) -> np.ndarray:
        space, shape, dtype = arguments
        if space == "constant":
            array = self.shared.setdefault((-1, number), np.array(shape))
        elif space == "local":
            array = self._own(number, shape, dtype)
        else:
            lengths = shape if shape != 0 else self.launch.shared_bytes // np.dtype(dtype).itemsize
            array = self.shared.setdefault((0, number), poisoned(lengths, dtype))
        self.kept.append(array)  # so that no other array gets its address
        slots = self.heads[self.me.number, DECLARED_FROM + INSTANCES * number :][:INSTANCES]
        if address(array) not in slots:
            slots[min(int(np.count_nonzero(slots)), INSTANCES - 1)] = address(array)
        return array

    def _own(self, number: int, shape: Any, dtype: Any) -> np.ndarray:
        """Return a thread's own array, by turns in one of three places, as calls that are written out have it."""
        own_arrays = self.me.own.setdefault(number, [])
        if len(own_arrays) < 3:
            own_arrays.append(poisoned(shape, dtype))
            return own_arrays[-1]
        own_arrays.append(own_arrays.pop(0))
        own_arrays[-1][...] = poisoned(shape, dtype)
        return own_arrays[-1]

    def barrier(self, state: Any, site: int) -> None:
        me = self.me
        self._note(site, (0, 0), self._clock(), np.uint64(0))
        greenlet.getcurrent().parent.switch("barrier")
        self.me = me
        me.rows[-1][AFTER] = self._clock()

    def fence(self, reach: int) -> Callable[[Any, int], None]:
        return lambda state, site: self._note(site, (0, 0), self._clock(), np.uint64(reach))

    def begin(self, head: Any) -> None:
        self.heads[self.me.number, MULTIPROCESSOR] = self.me.block % len(STARTS)
        self.heads[self.me.number, FIRST] = self._clock()

    def _where(self, array: np.ndarray, index: Any) -> tuple[int, int]:
        parts = index if isinstance(index, tuple) else (index,)
        wrapped = [int(i) + n * (i < 0) for i, n in zip(parts, array.shape, strict=True)]
        return address(array), address(array) + sum(
            i * s for i, s in zip(wrapped, array.strides, strict=True)
        )

    def _note(self, site: int, where: tuple[int, int], before: int, value: Any, old: Any = 0) -> None:
        row = [0] * WORDS
        row[SITE], row[BASE], row[PLACE], row[BEFORE] = site, *where, before
        row[VALUE], row[OLD], row[AFTER], row[TIMER] = bits(value), bits(old), self._clock(), self.time
        self.me.rows.append(row)

    def _names(self) -> dict[str, Any]:
        me = self
        cuda = SimpleNamespace(
            shared=SimpleNamespace(array=lambda shape, dtype: ("shared", shape, dtype)),
            local=SimpleNamespace(array=lambda shape, dtype: ("local", shape, dtype)),
            const=SimpleNamespace(array_like=lambda content: ("constant", content, None)),
            threadIdx=_Axes(lambda: me.me.place), blockIdx=_Axes(lambda: me.me.block_place),
            blockDim=_Axes(lambda: me.launch.block), gridDim=_Axes(lambda: me.launch.grid),
        )  # fmt: skip
        cuda.local.array = lambda shape, dtype: (
            np.zeros(1, np.int64) if dtype == "at" else ("local", shape, dtype)
        )
        names = {
            **self.kernel.values, "_ts_cuda": cuda, "_ts_int64": "at", "_ts_number": lambda: self.me.number,
            "_ts_thread": lambda: self.me.thread, "_ts_begin": self.begin,
            "_ts_end": lambda head, end: None, "_ts_here": self.here, "_ts_load": self.load, "_ts_store": self.store,
            "_ts_cas": self.cas, "_ts_wait_barrier": self.barrier, "_ts_wait_fence": self.fence(1 << 33),
        }  # fmt: skip
        names |= {f"_ts_{name}": self.update(name) for name in ATOMIC_UPDATES}
        types = map(np.dtype, ("i1", "i2", "i4", "i8", "u1", "u2", "u4", "u8", "f2"))
        names |= {f"_ts_type_{dtype.name}": dtype.type for dtype in types}
        for number, array in enumerate(self.kernel.program.declared):
            names[f"_ts_dtype_{number}"] = array.dtype
            names[f"_ts_content_{number}"] = array.content
        return names


class _Axes:
    """What `cuda.threadIdx` and its kin are for the thread whose turn it is."""

    def __init__(self, place: Callable[[], tuple[int, int, int]]) -> None:
        self._place = place

    x = property(lambda self: self._place()[0])
    y = property(lambda self: self._place()[1])
    z = property(lambda self: self._place()[2])


def at_address(array: np.ndarray, where: tuple[int, int]) -> np.ndarray:
    """Return the memory of one element as a GPU finds it, which looks at no lengths: beyond the array, some poison."""
    base = array
    while isinstance(base.base, np.ndarray) and base.base.dtype == array.dtype:
        base = base.base
    flat = base.reshape(-1)
    place = (where[1] - address(flat)) // array.itemsize
    inside = base.flags.c_contiguous and 0 <= place < flat.size
    return flat[place : place + 1] if inside else np.full(1, poison(array.dtype), array.dtype)


def address(array: np.ndarray) -> int:
    """Return the address of an array's first element."""
    return int(array.__array_interface__["data"][0])


def bits(value: Any) -> int:
    """Return the bits of a value of up to 8 bytes."""
    raw = np.asarray(value).tobytes()
    return int.from_bytes(raw, "little")


def is_element(array: np.ndarray, index: Any) -> bool:
    """Check for an index that names one element."""
    parts = index if isinstance(index, tuple) else (index,)
    return len(parts) == array.ndim and not any(isinstance(p, slice) for p in parts)


def pairs(time: int) -> np.ndarray:
    """Read clocks and timer of all multiprocessors from a time on."""
    times = time + np.arange(PAIRS)
    return np.stack([np.stack([start + times, 1_000 + times], 1) for start in STARTS]).astype(np.uint64)


def notes_on_host(launch: Launch, seed: int | None = None) -> Notes:
    """Return the notes of a launch, thread by thread, or in turns that a seed draws."""
    return HostRun(launch, seed).notes()

"""The recorder: collects accesses as they happen, and keeps them as chunks of NumPy columns, up to a cap."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..model.array_types import Columns, narrow
from ..model.trace import (
    BARRIER,
    BLOCK_SCOPE,
    NEVER_REDUCED,
    Barriers,
    Buffer,
    Op,
    OutOfBounds,
    Site,
    no_barriers,
    nothing_outside,
)
from ..model.user_code import Code, LibraryCode, running_code
from .bytecode_positions import called_name, is_result_unused, position
from .warp_operations import ConvergingLanes, MaskFaults, Participants, lanes, lanes_outside

CHUNK = 1 << 14
FIELDS = 6  # of a log entry: context, buffer * 4 + op, code, instruction, index, value
MAX_PENDING = 1 << 24  # accesses of running blocks that may wait to be counted, if none is kept
COLUMNS = ("block", "thread", "phase", "op", "buffer", "site", "index", "value")
_DATES = (np.datetime64, np.timedelta64)


class TooManyAccessesError(Exception):
    """A single block makes more accesses than fit the cap, so that they can't even be counted."""


class Recorder:
    """Collects a launch's accesses in the order in which they happen.

    The hot path extends `log`, a flat list, by the FIELDS of an access; a list of tuples takes twice the time. It calls
    `flush` after CHUNK accesses. Contexts identify (block, thread, phase).

    Beyond `limit` rows, the rows of the finished blocks are kept. `count` is called with the rows of each further set
    of finished blocks, which are then dropped. If too many rows of running blocks wait to be counted,
    TooManyAccessesError is raised. With `count_past_limit` they are counted phase by phase instead. A phase that is too
    large is counted in pieces (`in_pieces`), each with separate requests.
    """

    def __init__(self, limit: int, count: Callable[[Columns], None]) -> None:
        self.log: list[Any] = []
        self.limit = limit
        self.count = count
        self.buffers: list[Buffer] = []
        self.sites: list[Site] = []
        self.arrivals: list[Any] = []
        self.warp_arrivals: list[Any] = []
        self.out_of_bounds: list[Any] = []
        self.mask_faults = MaskFaults()
        self.accesses = 0
        self.finished: list[int] = []
        self.kept: list[Columns] = []
        self.pending: list[Columns] = []
        self.capped = False
        self.count_past_limit = self.in_pieces = False
        self._part_numbers: dict[tuple[int, str], int] = {}
        self._contexts: list[tuple[int, int, int]] = []
        self._context_rows: NDArray[np.int64] = np.empty((0, 3), np.int64)
        self._context_base = 0
        self._site_numbers: dict[tuple[Code, int, int, int], int] = {}
        self._site_ops: list[int] = []
        self._tables: dict[tuple[int, int], tuple[Code, NDArray[np.int64]]] = {}

    def access_count(self) -> int:
        """Return the number of accesses so far, including those in the log."""
        return self.accesses + len(self.log) // FIELDS

    def current_loop(self) -> tuple[str, int] | None:
        """Return the file and line of the loop that compiled code is running; None if unknown."""
        return None

    def context(self, block: int, thread: int, phase: int) -> int:
        """Return a new context number for this thread in this phase."""
        self._contexts.append((block, thread, phase))
        return self._context_base + len(self._contexts) - 1

    def add_buffer(self, buffer: Buffer) -> int:
        """Add a buffer and return its number."""
        self.buffers.append(buffer)
        return len(self.buffers) - 1

    def add_part(self, buffer_number: int, name: str, buffer: Buffer) -> int:
        """Return the number of a field or view of a buffer; all blocks and threads share it."""
        if (buffer_number, name) not in self._part_numbers:
            self._part_numbers[buffer_number, name] = self.add_buffer(buffer)
        return self._part_numbers[buffer_number, name]

    def arrive(
        self, context: int, code: Code, instruction: int, reach: int = BLOCK_SCOPE, part: int = 0, *,
        warp: bool = False,
    ) -> None:  # fmt: skip
        """Record that a thread arrived at a barrier, or with `warp` at a warp operation or a fence; see `Barriers`."""
        arrivals = self.warp_arrivals if warp else self.arrivals
        arrivals.extend((context, code, instruction, self.accesses + len(self.log) // FIELDS, reach, part))

    def record_out_of_bounds(
        self, context: int, coded: int, code: Code, instruction: int, cell: int, text: str
    ) -> None:
        """Record a skipped access to the index `cell` outside its array."""
        step = self.accesses + len(self.log) // FIELDS
        self.out_of_bounds.extend((context, coded, code, instruction, step, cell, text))

    def lanes_converged(
        self, block: int, warp: int, converging: ConvergingLanes, there: int, running: int
    ) -> None:
        """Record the mask faults of a warp operation that completes; see `Participants`."""
        instructions = set(converging.instructions.values())
        are_all = converging.mask == lanes(converging.instructions)
        if are_all and len(instructions) == 1 and not lanes_outside(converging.mask, converging.sources):
            return
        sites = {
            (code, offset): int(self._look_up(code, BARRIER, np.array([offset]))[0])
            for code, offset in instructions
        }
        sites_by_lane = {lane: sites[instruction] for lane, instruction in converging.instructions.items()}
        step = self.accesses + len(self.log) // FIELDS
        self.mask_faults.check(
            Participants(
                block, warp, converging.mask, sites_by_lane, converging.sources, there, running, step
            )
        )

    def flush(self) -> None:
        """Convert the log to columns."""
        if not self.log:
            return
        context, coded, codes, instructions, index, value = (self.log[i::FIELDS] for i in range(FIELDS))
        self.log.clear()
        coded_column = np.array(coded, np.uint32)
        op = (coded_column & 3).astype(np.uint8)
        contexts = self._context_columns(np.array(context, np.int64))
        site = self._site_column(codes, np.array(instructions, np.int64), op)
        is_atomic = op >= Op.ATOMIC
        if is_atomic.any():
            op[is_atomic] = np.array(self._site_ops, np.uint8)[site[is_atomic]]
        columns: Columns = {
            "block": contexts[:, 0].astype(np.uint32), "thread": contexts[:, 1].astype(np.uint16),
            "phase": narrow(contexts[:, 2]), "op": op, "buffer": narrow(coded_column >> 2), "site": narrow(site),
            "index": narrow(np.array(index, np.uint64)),
            "value": self._value_column(coded_column >> 2, value),
        }  # fmt: skip
        self.accesses += len(op)
        (self.pending if self.capped else self.kept).append(columns)
        self._apply_limit()

    def finish_block(self, block: int) -> None:
        """Note that a block has made all its accesses."""
        self.finished.append(block)
        if self.capped:
            self.flush()
            if sum(len(columns["op"]) for columns in self.pending) > CHUNK:
                self._count_finished()

    def close(self) -> None:
        """Flush the log, and count the remaining rows if capped; rows of unfinished blocks are dropped."""
        with suppress(TooManyAccessesError):
            self.flush()
        if self.capped:
            self._count_finished()

    def barriers(self, *, warp: bool = False) -> Barriers:
        """Return the arrivals at barriers, or at warp operations, as columns."""
        arrivals = self.warp_arrivals if warp else self.arrivals
        if not arrivals:
            return no_barriers()
        contexts, codes, instructions, steps, reach, part = (arrivals[i::6] for i in range(6))
        positions = self._context_columns(np.array(contexts, np.int64))
        kind = np.full(len(codes), BARRIER, np.uint8)
        site = self._site_column(codes, np.array(instructions, np.int64), kind)
        columns = [
            positions[:, 0],
            positions[:, 1],
            positions[:, 2],
            site,
            *np.array([steps, reach, part], np.int64),
        ]
        return Barriers(*(narrow(column) for column in columns))

    def outside(self) -> OutOfBounds:
        """Return the skipped accesses outside arrays as columns."""
        if not self.out_of_bounds:
            return nothing_outside()
        contexts, coded, codes, instructions, steps, cells, texts = (
            self.out_of_bounds[i::7] for i in range(7)
        )
        positions = self._context_columns(np.array(contexts, np.int64))
        coded_column = np.array(coded, np.uint32)
        op = (coded_column & 3).astype(np.uint8)
        site = self._site_column(codes, np.array(instructions, np.int64), op)
        columns = [
            positions[:, 0],
            positions[:, 1],
            positions[:, 2],
            op,
            coded_column >> 2,
            site,
            np.array(steps, np.int64),
        ]
        return OutOfBounds(*(narrow(column) for column in columns), np.array(cells, np.int64), tuple(texts))  # type: ignore[call-arg, arg-type]

    def columns(self) -> Columns:
        """Return the columns of all rows kept, in order."""
        if not self.kept:
            empty: NDArray[Any] = np.empty(0, np.uint8)
            return dict.fromkeys(COLUMNS, empty)
        return _concatenate(self.kept)

    def _apply_limit(self) -> None:
        rows = sum(len(columns["op"]) for columns in self.kept)
        if not self.capped and rows > self.limit:
            self.capped = True
            self.kept, self.pending = self._split(self.kept)
            for columns in self.kept:
                self.count(columns)
            if not self.limit:
                self.kept = []
        limit = self.limit or MAX_PENDING
        if self.capped and sum(len(c["op"]) for c in self.pending) > limit:
            self._count_finished()
            if sum(len(c["op"]) for c in self.pending) > limit:
                if not self.count_past_limit:
                    raise TooManyAccessesError
                self._count_running(limit)

    def _count_running(self, limit: int) -> None:
        """Count the rows of running blocks whose requests are complete; all rows if too many would be left."""
        rows = _concatenate(self.pending)
        is_complete = self._is_phase_over(rows)
        if np.count_nonzero(~is_complete) > limit // 2:
            is_complete[:], self.in_pieces = True, True
        parts = [{k: v[mask] for k, v in rows.items()} for mask in (is_complete, ~is_complete)]
        self.pending = parts[1:] if len(parts[1]["op"]) else []
        self.count(parts[0])

    def _is_phase_over(self, rows: Columns) -> NDArray[np.bool_]:
        """Find the rows of finished phases: their blocks have rows of later phases."""
        blocks, index = np.unique(rows["block"], return_inverse=True)
        last_phase = np.zeros(len(blocks), np.int64)
        np.maximum.at(last_phase, index, rows["phase"])
        return np.asarray(rows["phase"] < last_phase[index])

    def _split(self, chunks: list[Columns]) -> tuple[list[Columns], list[Columns]]:
        """Split rows into those of finished blocks and the others, at most one chunk each."""
        rows = _concatenate(chunks)
        is_finished = np.isin(rows["block"], np.array(self.finished, np.int64))
        parts = [{k: v[mask] for k, v in rows.items()} for mask in (is_finished, ~is_finished)]
        return tuple([part] if len(part["op"]) else [] for part in parts)  # type: ignore[return-value]  # two parts

    def _count_finished(self) -> None:
        if self.pending:
            done, self.pending = self._split(self.pending)
            for columns in done:
                self.count(columns)

    def _context_columns(self, context: NDArray[np.int64]) -> NDArray[np.int64]:
        if self._contexts:
            rows = np.array(self._contexts, np.int64)
            self._context_rows = np.concatenate([self._context_rows, rows])
            self._context_base += len(rows)
            self._contexts.clear()
        return self._context_rows[context]

    def _site_column(
        self, codes: list[Code], instructions: NDArray[np.int64], op: NDArray[np.uint8]
    ) -> NDArray[np.int64]:
        """Look up each access's site; a chunk rarely has more than two or three code objects."""
        site = np.empty(len(codes), np.int64)
        if not codes:
            return site
        first = codes[0]
        names = (
            None if codes.count(first) == len(codes) else np.fromiter(map(id, codes), np.uint64, len(codes))
        )
        for code in {id(c): c for c in (codes if names is not None else (first,))}.values():
            for kind in np.flatnonzero(np.bincount(op)):
                mask = op == kind if names is None else (op == kind) & (names == id(code))
                site[mask] = self._look_up(code, int(kind), instructions[mask])
        return site

    def _look_up(self, code: Code, op: int, instructions: NDArray[np.int64]) -> NDArray[np.int64]:
        key = (id(code), min(op, Op.ATOMIC) if op != BARRIER else BARRIER)
        if key not in self._tables:
            self._tables[key] = (code, np.full(len(running_code(code).co_code) + 2, -1, np.int64))
        table = self._tables[key][1]
        sites = table[instructions]
        if (sites < 0).any():
            for instruction in sorted(set(instructions[sites < 0].tolist())):
                table[instruction] = self._site_number(code, instruction, key[1])
            sites = table[instructions]
        return sites

    def _site_number(self, code: Code, instruction: int, kind: int) -> int:
        """Return the site of an instruction; an expression that loads and stores (`a[i] += 1`) has two."""
        user_code = running_code(code)
        line, column = position(user_code, instruction)
        key = (code, line, column, kind)
        if key not in self._site_numbers:
            self._site_numbers[key] = len(self.sites)
            self.sites.append(_site(code, line, column))
            unused = kind == Op.ATOMIC and is_result_unused(user_code, instruction)
            unused = unused and called_name(user_code, instruction) not in NEVER_REDUCED
            self._site_ops.append(Op.REDUCTION if unused else Op.ATOMIC)
        return self._site_numbers[key]

    def _value_column(self, buffers: NDArray[Any], value: list[Any]) -> NDArray[Any]:
        dtypes = [np.dtype(self.buffers[buffer].dtype) for buffer in np.flatnonzero(np.bincount(buffers))]
        try:
            return np.array(value, widest(dtypes))
        except TypeError:  # dates and durations are stored as their integers
            plain = [item.view(np.int64) if isinstance(item, _DATES) else item for item in value]
            return np.array(plain, widest(dtypes))


def _site(code: Code, line: int, column: int) -> Site:
    """Build the site of an expression; an expression of a library gets the site of the user's call."""
    if isinstance(code, LibraryCode):
        return _site(code.caller, *position(code.caller, code.instruction))
    return Site(code.co_name, code.co_filename, line, column)


def _concatenate(chunks: list[Columns]) -> Columns:
    wide = widest([chunk["value"].dtype for chunk in chunks])
    columns = {k: np.concatenate([c[k] for c in chunks]) for k in COLUMNS if k != "value"}
    columns["value"] = np.concatenate([c["value"].astype(wide, copy=False) for c in chunks])
    return columns


def widest(dtypes: list[np.dtype[Any]]) -> np.dtype[Any]:
    """Return the dtype that can hold all values of these dtypes (64-bit integers with floats as float64)."""
    return np.result_type(*dtypes) if dtypes else np.dtype(np.float32)

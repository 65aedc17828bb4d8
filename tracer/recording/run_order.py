"""The explicit order of a launch while it runs, for both engines: its current segment, and why it can't go on."""

from __future__ import annotations

from typing import NoReturn

import numpy as np

from ..model.launch import Launch, is_python_program
from ..model.order import OrderTextError, Segment, check_order, parse_order
from ..model.trace import Trace
from .kernel_loader import LoadError


class OrderError(LoadError):
    """An order that a launch can't run in; one sentence."""


class OrderRun:
    """The segments of an order, and how far a launch has come in them.

    A segment ends after its number of turns. Without a number it ends when none of its threads can go on, or when
    they have passed its barrier. A turn counts if the thread makes an access in it.
    """

    def __init__(self, segments: tuple[Segment, ...]) -> None:
        self.segments = segments
        self.ends: list[int] = []  # per ended segment: accesses of the launch at its end
        self._rounds = self._turns = self._accesses = (
            0  # of the current segment; turns and accesses of this round
        )

    @staticmethod
    def of_launch(launch: Launch) -> OrderRun:
        """Return the order of a launch; raises OrderError if it is not of this launch."""
        if is_python_program(launch):
            raise OrderError("A plain Python program runs in its own order; choose a kernel.")
        try:
            order = parse_order(launch.schedule.order_text)
            kernel = launch.kernel.rpartition(":")[2]
            check_order(order, launch.grid, launch.block, launch.source, kernel)
        except OrderTextError as error:
            raise OrderError(str(error)) from error
        return OrderRun(order.segments)

    @property
    def segment(self) -> Segment | None:
        """The current segment; None after the last."""
        return self.segments[len(self.ends)] if len(self.ends) < len(self.segments) else None

    def count_turn(self, accesses: int) -> None:
        """Count a turn of one of the segment's threads, which made this number of accesses."""
        self._turns += 1
        self._accesses += accesses

    def end_round(self, accesses: int) -> None:
        """End a round, after which the launch has made a number of accesses; raises OrderError."""
        segment, turns, access_count = self.segment, self._turns, self._accesses
        self._turns = self._accesses = 0
        if segment is None:
            return
        self._rounds += access_count > 0
        if segment.turns and self._rounds >= segment.turns:
            self._end_segment(accesses)
        elif not turns:
            if segment.turns or (not self._rounds and segment.barrier < 0):
                self.refuse(len(self.ends), self._rounds)
            self._end_segment(accesses)

    def _end_segment(self, accesses: int) -> None:
        self.ends.append(accesses)
        self._rounds = 0

    def take_ends(self, ends: list[int]) -> None:
        """Take the ends of segments that compiled code has run."""
        self.ends = ends

    def refuse(self, number: int, rounds: int) -> NoReturn:
        """Raise OrderError for a segment whose threads can't go on after a number of rounds."""
        segment = self.segments[number]
        where = f"Part {number + 1} of the order, {segment},"
        if not rounds:
            raise OrderError(f"{where} can't run: {segment.threads_name} waits, has ended or has not begun.")
        count = "1 turn" if rounds == 1 else f"{rounds:,} turns"
        raise OrderError(
            f"{where} is too long: {segment.threads_name} can make only {count} before it waits or ends."
        )

    def check_lines(self, trace: Trace) -> None:
        """Raise OrderError if a segment's last access is in another line than it states."""
        for segment, end in zip(self.segments, self.ends, strict=False):
            row = int(np.searchsorted(trace.step, end - 1)) if segment.line else len(trace)
            if row >= len(trace) or int(trace.step[row]) != end - 1:
                continue  # the trace does not keep this access
            line = trace.sites[int(trace.site[row])].line
            if line != segment.line:
                raise OrderError(
                    f"The order states line {segment.line} for {segment}, but the access is in line {line}: the "
                    "order is of another version of the kernel."
                )

"""Streams and events for synchronous execution: a stream is only a handle, an event a time and what it orders."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from itertools import count
from typing import TYPE_CHECKING, Any

from ...recording.stream_order import Clock, stream_order
from .unsupported import print_once

if TYPE_CHECKING:
    import asyncio

TIMING_NOTE = "times between events are those of this simulation, not of a GPU."
_KINDS = {0: "Default CUDA", 1: "Legacy default CUDA", 2: "Per-thread default CUDA"}
_numbers = count(1001)


class Stream:
    """A queue of work; each item finishes before the next is added, so it is always empty."""

    def __init__(self, handle: int = 0, *, external: bool = False) -> None:
        self.handle, self.external = handle, external

    def __int__(self) -> int:
        return self.handle

    def __repr__(self) -> str:
        if self.handle in _KINDS:
            return f"<{_KINDS[self.handle]} stream>"
        return f"<{'External ' if self.external else ''}CUDA stream {self.handle}>"

    def __cuda_stream__(self) -> tuple[int, int]:
        """Return (version of this protocol, handle)."""
        return 0, self.handle

    def synchronize(self) -> None:
        """Wait for the stream, whose work is finished already."""
        stream_order.synchronize(self)

    @contextmanager
    def auto_synchronize(self) -> Iterator[Stream]:
        """Yield the stream, and wait for it."""
        yield self
        self.synchronize()

    def add_callback(self, callback: Callable[[Stream, int, Any], object], arg: Any = None) -> None:
        """Call `callback(stream, status, arg)` immediately, with the status 0 for success."""
        callback(self, 0, arg)

    def async_done(self) -> asyncio.Future[Stream]:
        """Return a finished future."""
        import asyncio

        self.synchronize()
        future = asyncio.get_running_loop().create_future()
        future.set_result(self)
        return future


def stream() -> Stream:
    """Return a new stream."""
    return Stream(next(_numbers))


def default_stream() -> Stream:
    """Return the default stream."""
    return Stream(0)


def legacy_default_stream() -> Stream:
    """Return the legacy default stream."""
    return Stream(1)


def per_thread_default_stream() -> Stream:
    """Return the default stream of this thread."""
    return Stream(2)


def external_stream(ptr: int) -> Stream:
    """Return a stream of another library by its handle."""
    return Stream(ptr, external=True)


def is_stream(value: Any) -> bool:
    """Check whether a launch accepts a value as a stream: ours, another library's, or 0 for the default."""
    is_default = value is None or (isinstance(value, int) and value == 0)
    return is_default or isinstance(value, Stream) or hasattr(value, "__cuda_stream__")


class Event:
    """A moment in a stream, timed with this computer's clock."""

    def __init__(self, timing: bool = True) -> None:
        self.timing = timing
        self.seconds: float | None = None  # of the clock, None before it is recorded
        self._clock: Clock = {}

    def record(self, stream: Any = 0) -> None:
        """Note the time, and the stream's work so far, which is finished."""
        self.seconds = time.perf_counter()
        self._clock = stream_order.clock_of(stream)

    def query(self) -> bool:
        """Return True: the event has happened."""
        self.synchronize()
        return True

    def wait(self, stream: Any = 0) -> None:
        """Let a stream wait for the event, which has happened."""
        stream_order.wait(stream, self._clock)

    def synchronize(self) -> None:
        """Wait for the event, which has happened."""
        stream_order.synchronize_event(self._clock)

    def elapsed_time(self, evtend: Event) -> float:
        """Return the milliseconds from this event to another."""
        return event_elapsed_time(self, evtend)


def event(timing: bool = True) -> Event:
    """Return a new event."""
    return Event(timing)


def event_elapsed_time(evtstart: Event, evtend: Event) -> float:
    """Return the milliseconds between two events of this simulation; raises RuntimeError as the driver does."""
    start, end = (_seconds(event) for event in (evtstart, evtend))
    evtend.query()
    print_once(TIMING_NOTE)
    return (end - start) * 1000


def _seconds(event: Event) -> float:
    if event.seconds is None or not event.timing:
        problem = "made with timing=False" if event.seconds is not None else "never recorded"
        raise RuntimeError(f"an event was {problem}; on a GPU this raises CUDA_ERROR_INVALID_HANDLE.")
    return event.seconds

"""Streams, events and devices, which all packages have under similar names: work is done when a call returns."""

from __future__ import annotations

import time
from types import TracebackType
from typing import Any

DEVICE_NAME = "Tilescope (no GPU)"
MEMORY_BYTES = 1 << 36
CAPABILITY = (9, 0)


class WorkQueue:
    """A stream."""

    handle = ptr = 0

    def __init__(self, *_: Any, **__: Any) -> None: ...

    def __enter__(self) -> WorkQueue:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None: ...

    def synchronize(self) -> None:
        """Wait for nothing: work is done when its call returns."""

    sync = close = use = synchronize

    def wait_event(self, event: object) -> None:
        """Wait for nothing."""

    wait_for_event = wait = wait_event

    def is_done(self) -> bool:
        """Return True."""
        return True

    done = property(is_done)

    def record(self, event: Moment | None = None, **_: Any) -> Moment:
        """Record an event in this stream."""
        return (event or Moment()).record()


class Moment:
    """An event; times are those of this processor."""

    def __init__(self, *_: Any, **__: Any) -> None:
        self.seconds = 0.0

    def record(self, stream: object = None) -> Moment:
        """Note the time."""
        self.seconds = time.perf_counter()
        return self

    def synchronize(self) -> Moment:
        """Wait for nothing."""
        return self

    sync = synchronize

    def query(self) -> bool:
        """Return True: the event has happened."""
        return True

    def milliseconds_to(self, later: Moment) -> float:
        """Return the time to a later event."""
        return 1000 * (later.seconds - self.seconds)

    time_till = milliseconds_to

    def time_since(self, earlier: Moment) -> float:
        """Return the time since an earlier event in milliseconds."""
        return earlier.milliseconds_to(self)

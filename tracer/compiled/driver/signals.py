"""Ctrl+C and other signals during compilation and in compiled code."""

from __future__ import annotations

import signal
import threading
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from types import FrameType
from typing import Any, Final

COMPILERS: Final = ("numba.core.", "llvmlite.")  # modules


@contextmanager
def redirect_signals(note: Callable[[BaseException], None]) -> Iterator[None]:
    """Call `note` with exceptions of signal handlers, instead of raising them at an arbitrary place.

    There they could be lost: ctypes can't raise errors from a function that compiled code calls, and NumPy clears those
    of attributes that it looks up.
    """
    with ExitStack() as stack:
        if threading.current_thread() is threading.main_thread():
            for number in signal.valid_signals():
                handler = signal.getsignal(number)
                if callable(handler):
                    stack.callback(signal.signal, number, handler)
                    signal.signal(number, _defer(handler, note))
        yield


@contextmanager
def delay_signals() -> Iterator[None]:
    """Raise the first exception of a signal handler at the end, and a second one at once.

    While Numba compiles, an exception could be lost: LLVM calls Python functions that must not raise, and neither can
    finalisers.
    """
    errors: list[BaseException] = []

    def keep(error: BaseException) -> None:
        if errors:
            raise error
        errors.append(error)

    try:
        with redirect_signals(keep):
            yield
    finally:
        if errors:
            raise errors[0] from None


def is_compiling(frame: FrameType | None) -> bool:
    """Check if a frame, or one of its callers, belongs to a compiler."""
    while frame is not None:
        if frame.f_globals.get("__name__", "").startswith(COMPILERS):
            return True
        frame = frame.f_back
    return False


def _defer(handler: Callable[[int, FrameType | None], Any], note: Callable[[BaseException], None]) -> Any:
    def handle(number: int, frame: FrameType | None) -> None:
        try:
            handler(number, frame)
        except BaseException as error:  # noqa: BLE001  # raised again once compiled code has stopped
            note(error)

    return handle

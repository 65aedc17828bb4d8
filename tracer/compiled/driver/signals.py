"""Ctrl+C, and other signals, while kernels are compiled and compiled code runs."""

from __future__ import annotations

import signal
import threading
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from types import FrameType
from typing import Any, Final

COMPILERS: Final = ("numba.core.", "llvmlite.")  # modules


@contextmanager
def signals_deferred(note: Callable[[BaseException], None]) -> Iterator[None]:
    """Call `note` with what a handler of signals raises meanwhile, instead of raising it wherever Python is then.

    There it could be lost: ctypes has nowhere to raise errors of a function that compiled code calls, and NumPy
    clears those of attributes that it looks up.
    """
    with ExitStack() as stack:
        if threading.current_thread() is threading.main_thread():
            for number in signal.valid_signals():
                handler = signal.getsignal(number)
                if callable(handler):
                    stack.callback(signal.signal, number, handler)
                    signal.signal(number, _deferring(handler, note))
        yield


@contextmanager
def signals_afterwards() -> Iterator[None]:
    """Raise what a handler of signals raises meanwhile at the end, and what a second one does at once.

    While Numba compiles it could be lost: LLVM calls functions of Python's out of which nothing can be raised, and
    nothing can be out of those that are called as an object ends.
    """
    kept: list[BaseException] = []

    def keep(error: BaseException) -> None:
        if kept:
            raise error
        kept.append(error)

    try:
        with signals_deferred(keep):
            yield
    finally:
        if kept:
            raise kept[0] from None


def is_compiling(frame: FrameType | None) -> bool:
    """Return whether a frame, or one that it was called from, is of what compiles."""
    while frame is not None:
        if frame.f_globals.get("__name__", "").startswith(COMPILERS):
            return True
        frame = frame.f_back
    return False


def _deferring(handler: Callable[[int, FrameType | None], Any], note: Callable[[BaseException], None]) -> Any:
    def handle(number: int, frame: FrameType | None) -> None:
        try:
            handler(number, frame)
        except BaseException as error:  # noqa: BLE001  # raised again once compiled code has stopped
            note(error)

    return handle

"""The functions that compiled kernels call, by the names that they have there."""

from __future__ import annotations

from typing import Any

from . import threads
from .access import load, store
from .state import Word
from .views import reshape, turned, view

SUPPORT: dict[str, Any] = {
    "_ts_load": load, "_ts_store": store, "_ts_arrive": threads.arrive, "_ts_turn": threads.turn,
    "_ts_size": threads.size, "_ts_keep": threads.keep, "_ts_resume": threads.resume,
    "_ts_turned": turned, "_ts_reshape": reshape, "_ts_view": view,
    "_ts_thread": threads.reader(Word.THREAD), "_ts_count": threads.reader(Word.COUNT),
}  # fmt: skip
SUPPORT |= {
    f"_ts_{letter}{axis}": threads.reader(Word[f"{letter}{axis}".upper()]) for letter in "tbdg" for axis in "xyz"
}

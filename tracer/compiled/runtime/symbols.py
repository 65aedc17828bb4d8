"""The functions that compiled kernels call, by their names in the rewritten source."""

from __future__ import annotations

from typing import Any

from ..next_row import keep_row_in_register
from ..state import Word
from . import threads
from .arithmetic import ARITHMETIC
from .atomics import UPDATES
from .float16 import HALVES
from .gpu_functions import MATH_FUNCTIONS
from .gpu_numbers import NUMBERS
from .load_store import load, store
from .loop_rounds import keep_rounds, set_round
from .loop_ticks import go_deeper, tick, without_literal_type
from .printing import print_line
from .records import attribute, set_attribute
from .views import reshape, transposed_view, view
from .waits import WAITS

SUPPORT: dict[str, Any] = {
    "_ts_load": load, "_ts_store": store,
    "_ts_turned": transposed_view, "_ts_reshape": reshape, "_ts_view": view,
    "_ts_thread": threads.state_reader(Word.THREAD),
    "_ts_keep_row": keep_row_in_register, "_ts_tick": tick, "_ts_go_deeper": go_deeper,
    "_ts_keep_rounds": keep_rounds, "_ts_round": threads.state_reader(Word.ROUND), "_ts_set_round": set_round,
    "_ts_plain": without_literal_type, "_ts_print": print_line,
}  # fmt: skip
SUPPORT |= {"_ts_len": len, "_ts_range": range, "_ts_field": attribute, "_ts_set_field": set_attribute}
SUPPORT |= UPDATES | ARITHMETIC | HALVES | NUMBERS | MATH_FUNCTIONS
SUPPORT |= WAITS
SUPPORT |= {
    f"_ts_{letter}{axis}": threads.state_reader(Word[f"{letter}{axis}".upper()])
    for letter in "tbdg"
    for axis in "xyz"
}

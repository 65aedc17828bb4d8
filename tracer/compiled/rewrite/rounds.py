"""The round of each loop in which a thread is, as one number that rows record: equal in equal rounds.

A number is a path of fields, the outermost first: of a function or of a loop's body, which of its statements with loops
or calls have ended; then which round of a loop, or which call, is running. So numbers ascend as a thread goes on. The
table of state holds that of the current thread.
"""

from __future__ import annotations

import ast
from typing import NamedTuple

from .ast_positions import parse_expression, parse_statement, set_position

BITS = 63  # of a number
FRAME, SHIFT, ENTRY, CALL = "_ts_frame", "_ts_shift", "_ts_outer", "_ts_call"


class RoundBits(NamedTuple):
    """The widths of the fields in bits."""

    statements: int  # and calls
    rounds: int


class Frame:
    """A function, or the body of a loop, while it is rewritten.

    name: of the variable with the number of its beginning. shift: from which bit on it counts statements, as source.
    """

    def __init__(self, name: str = FRAME, shift: str = "") -> None:
        self.name, self.shift = name, shift
        self.statements = self.calls = 0


class LoopNames(NamedTuple):
    """The variables of a loop that counts its rounds."""

    outer: str  # the number before the loop
    rounds: str  # rounds that have begun
    frame: str  # the number at the beginning of the round


def kernel_frame(bits: RoundBits) -> Frame:
    """Return the frame of a kernel."""
    return Frame(FRAME, str(BITS - bits.statements))


def device_frame(bits: RoundBits) -> Frame:
    """Return the frame of a device function, whose callers pass the first bit of the field for the call."""
    return Frame(FRAME, f"{SHIFT} - {bits.statements}")


def begin_kernel(where: ast.AST) -> list[ast.stmt]:
    """Return the statements that begin a kernel."""
    return _statements(where, "_ts_keep_rounds(_ts_state)", f"{FRAME} = _ts_set_round(_ts_state, 0, 0, 0, 1)")


def begin_device(bits: RoundBits, where: ast.AST) -> list[ast.stmt]:
    """Return the statements that begin a device function."""
    entry = f"{ENTRY} = _ts_round(_ts_state)"
    frame = f"{FRAME} = _ts_set_round(_ts_state, {ENTRY}, {CALL}, {SHIFT}, {bits.statements})"
    return _statements(where, "_ts_keep_rounds(_ts_state)", entry, frame)


def end_device(where: ast.AST) -> list[ast.stmt]:
    """Return the statements before a device function returns."""
    return _statements(where, f"_ts_set_round(_ts_state, {ENTRY}, 0, 0, 1)")


def call_arguments(frame: Frame, bits: RoundBits, where: ast.AST) -> list[ast.expr]:
    """Return the first arguments of a call of a device function, after the state."""
    frame.calls += 1
    shift = parse_expression(f"{frame.shift} - {bits.statements}", where)
    return [set_position(ast.Constant(frame.calls), where), shift]


def loop_frame(names: LoopNames, outer: Frame, bits: RoundBits) -> Frame:
    """Return the frame of a loop's body."""
    return Frame(names.frame, f"{outer.shift} - {bits.rounds + bits.statements}")


def begin_loop(names: LoopNames, where: ast.AST) -> list[ast.stmt]:
    """Return the statements before a loop."""
    return _statements(where, f"{names.outer} = _ts_round(_ts_state)", f"{names.rounds} = 0")


def begin_round(names: LoopNames, outer: Frame, bits: RoundBits, where: ast.AST) -> list[ast.stmt]:
    """Return the statements at the beginning of a loop's body."""
    number = f"{names.outer}, {names.rounds}, {outer.shift} - {bits.rounds}, {bits.rounds}"
    return _statements(
        where,
        f"{names.rounds} = {names.rounds} + 1",
        f"{names.frame} = _ts_set_round(_ts_state, {number})",
    )


def end_statement(frame: Frame, bits: RoundBits, where: ast.AST) -> list[ast.stmt]:
    """Return the statements after one that contains loops or calls."""
    frame.statements += 1
    number = f"{frame.name}, {frame.statements}, {frame.shift}, {bits.statements}"
    return _statements(where, f"_ts_set_round(_ts_state, {number})")


def _statements(where: ast.AST, *texts: str) -> list[ast.stmt]:
    return [parse_statement(text, where) for text in texts]

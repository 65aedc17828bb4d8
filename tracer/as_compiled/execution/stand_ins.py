"""Definitions in LLVM's IR of functions that a CPU lacks: registers, barriers, warp operations, math.

A thread that waits stores the reason in its words, and switches to the scheduler's stack (`lockstep.py`).
"""

from __future__ import annotations

import re
from enum import IntEnum

from ...compiled.scheduler import stacks
from ...compiled.state import StopReason, ThreadSlot, Word
from ..compiler.host_math import math_definition, shim_definition

ACCESS_CODE, ADDRESS = ThreadSlot.SITE, ThreadSlot.WARP_ARRIVAL  # of the access that a thread comes to
VALUE, RESULT, MASK, EXTRA, CLAMP = (
    ThreadSlot.OUT, ThreadSlot.IN, ThreadSlot.MASK, ThreadSlot.EXTRA, ThreadSlot.BLOCK_SLOT,
)  # fmt: skip
PREDICATE = ThreadSlot.WARP  # the second result of a shuffle or match
CLOCK = Word.ROW  # the value of clocks
AXES = "xyz"
PREFIX = "ts."


class Reason(IntEnum):
    """Reasons for a thread's stop, in addition to those of `StopReason`."""

    TRAP = 20  # the thread ended the launch
    SHUFFLE = 21  # of any kind; the kind is in `CLAMP`, above the bits of the clamp
    VOTE = 22


MODE_SHIFT = 16  # of a shuffle's kind in `CLAMP`
SHUFFLE_MODES = ("idx", "up", "down", "bfly")


class Table:
    """The addresses used by definitions: the state's table, and the code that switches stacks."""

    def __init__(self, state: int) -> None:
        self.state, self.switch = state, stacks.code()[0]

    def word(self, word: int) -> str:
        """Name the pointer to a word of the state."""
        return f"inttoptr (i64 {self.state + 8 * word} to ptr)"


def core(table: Table) -> str:
    """Define the functions that other definitions use: `ts.stop`, and `ts.access` for each address space."""
    lines = [
        "define internal void @ts.stop(i64 %reason) alwaysinline {",
        *_load_place(table),
        *_store("reason", "%reason", ThreadSlot.REASON),
        f"  %save = getelementptr i64, ptr %place, i64 {int(ThreadSlot.STACK_POINTER)}",
        "  %from = ptrtoint ptr %save to i64",
        f"  %to = load i64, ptr {table.word(Word.SCHEDULER)}",
        f"  call void inttoptr (i64 {table.switch} to ptr)(i64 %from, i64 %to)",
        "  ret void", "}",
    ]  # fmt: skip
    for space in range(7):
        kind = f"ptr addrspace({space})" if space else "ptr"
        lines += [
            f"define internal void @ts.access{space}(i64 %code, {kind} %pointer) alwaysinline {{",
            *_load_place(table),
            f"  %address = ptrtoint {kind} %pointer to i64",
            *_store("code", "%code", ACCESS_CODE),
            *_store("address", "%address", ADDRESS),
            f"  call void @ts.stop(i64 {int(StopReason.ACCESS)})",
            "  ret void", "}",
        ]  # fmt: skip
    return "\n".join(lines)


def entry(kernel: str, parameters: list[str], table: Table) -> str:
    """Define the entry function of each thread's stack."""
    lines = [
        "define i32 @ts.main(ptr %ret, ptr %exc, i64 %argument) {",
        f"  %table = load ptr, ptr {table.word(Word.ARGUMENTS)}",
    ]
    for i, kind in enumerate(parameters):
        lines += [
            f"  %at{i} = getelementptr i8, ptr %table, i64 {16 * i}",
            f"  %value{i} = load {kind}, ptr %at{i}",
        ]
    arguments = ", ".join(f"{kind} %value{i}" for i, kind in enumerate(parameters))
    lines += [
        f'  call void @"{kernel}"({arguments})',
        f"  call void @ts.stop(i64 {int(StopReason.DONE)})",
        "  unreachable", "}",
    ]  # fmt: skip
    return "\n".join(lines)


def definition(name: str, result: str, parameters: list[str], table: Table) -> str | None:
    """Define a function that the kernel declares; None if there is no stand-in."""
    plain_name = name.removeprefix(PREFIX)
    body = _register(plain_name, result, table) or _operation(plain_name, result, parameters, table)
    if body is None:
        body = math_definition(plain_name, result, parameters) or shim_definition(plain_name, parameters)
    return None if body is None else define(name, result, parameters, body)


def define(name: str, result: str, parameters: list[str], body: list[str]) -> str:
    """Define a function whose parameters are called %a0, %a1 and so on."""
    parameter_list = ", ".join(f"{kind} %a{i}" for i, kind in enumerate(parameters))
    return "\n".join([f'define internal {result} @"{name}"({parameter_list}) alwaysinline {{', *body, "}"])


def _load_place(table: Table) -> list[str]:
    return [f"  %place = load ptr, ptr {table.word(Word.THREAD_SLOT)}"]


def _store(name: str, value: str, word: int) -> list[str]:
    return [
        f"  %at.{name} = getelementptr i64, ptr %place, i64 {int(word)}",
        f"  store i64 {value}, ptr %at.{name}",
    ]


def _load(name: str, word: int) -> list[str]:
    return [
        f"  %at.{name} = getelementptr i64, ptr %place, i64 {int(word)}",
        f"  %{name} = load i64, ptr %at.{name}",
    ]


def _returned(result: str, value: str) -> list[str]:
    """Return a value of 64 bits as an integer of another type."""
    if result == "void":
        return ["  ret void"]
    if result == "i64":
        return [f"  ret i64 {value}"]
    return [f"  %narrow = trunc i64 {value} to {result}", f"  ret {result} %narrow"]


# Registers

_LANE_MASKS = {
    "lt": "  %mask = sub i64 %bit, 1",
    "le": "  %double = shl i64 %bit, 1\n  %mask = sub i64 %double, 1",
    "eq": "  %mask = or i64 %bit, 0",
    "gt": "  %double = shl i64 %bit, 1\n  %mask = sub i64 0, %double",
    "ge": "  %mask = sub i64 0, %bit",
}
_FIRST = {"ntid": Word.DX, "ctaid": Word.BX, "nctaid": Word.GX}


def _register(name: str, result: str, table: Table) -> list[str] | None:
    """Return the body of a function that reads a special register; None for other functions."""
    match = re.fullmatch(r"nvvm\.read\.ptx\.sreg\.([\w.]+)", name)
    if not match:
        return None
    register, _, axis = match[1].partition(".")
    if register == "tid":
        word = ThreadSlot.TX + AXES.index(axis)
        return [*_load_place(table), *_load("value", word), *_returned(result, "%value")]
    if register in _FIRST:
        word = _FIRST[register] + AXES.index(axis)
        return [f"  %value = load i64, ptr {table.word(word)}", *_returned(result, "%value")]
    if register == "warpsize":
        return _returned(result, "32")
    if register == "laneid":
        return [*_lane(table), *_returned(result, "%lane")]
    if register == "lanemask":
        return [*_lane(table), "  %bit = shl i64 1, %lane", _LANE_MASKS[axis], *_returned(result, "%mask")]
    if register == "warpid":
        return [*_load_place(table), *_load("thread", ThreadSlot.THREAD), "  %value = lshr i64 %thread, 5",
                *_returned(result, "%value")]  # fmt: skip
    if register.startswith(("clock", "globaltimer")):
        return [f"  %before = load i64, ptr {table.word(CLOCK)}", "  %value = add i64 %before, 16",
                f"  store i64 %value, ptr {table.word(CLOCK)}", *_returned(result, "%value")]  # fmt: skip
    if register in ("dynamic_smem_size", "total_smem_size"):
        return [f"  %value = load i64, ptr {table.word(Word.DYNAMIC)}", *_returned(result, "%value")]
    return _returned(result, "0")  # of the multiprocessor, of the grid


def _lane(table: Table) -> list[str]:
    return [*_load_place(table), *_load("thread", ThreadSlot.THREAD), "  %lane = and i64 %thread, 31"]


# Barriers, warp operations, and other operations that are not arithmetic

_COUNTING = {"popc": StopReason.COUNT, "and": StopReason.AND, "or": StopReason.OR}
_NOTHING = (
    r"nvvm\.(membar|fence|cp\.async|discard|applypriority|prefetch|pm\.event).*"
    r"|nanosleep|brkpt|prefetch|__assertfail|__assert_fail"
)
_NO_RESULT = r"vprintf|nvvm\.reflect|__nvvm_reflect|cudaDeviceSynchronize|cudaGetLastError"


def _operation(name: str, result: str, parameters: list[str], table: Table) -> list[str] | None:
    if name.startswith(("nvvm.barrier", "nvvm.bar.")):
        return _barrier(name, result, parameters, table)
    if name == "cudaCGSynchronize" or name == "cudaCGSynchronizeGrid":
        return [f"  call void @ts.stop(i64 {int(StopReason.GRID)})", *_returned(result, "0")]
    if name == "cudaCGGetIntrinsicHandle":
        return _returned(result, "1") if result != "ptr" else ["  ret ptr inttoptr (i64 1 to ptr)"]
    if name.startswith("nvvm.shfl.sync"):
        return _shuffle(name, result, parameters, table)
    if name.startswith("nvvm.vote"):
        return _vote(name, result, parameters, table)
    if name.startswith("nvvm.match"):
        return _match(name, result, parameters, table)
    if name == "activemask":
        return _stopped_with({}, StopReason.ACTIVE, result, table)
    if name in ("trap", "nvvm.exit", "exit"):
        return [f"  call void @ts.stop(i64 {int(Reason.TRAP)})", *_returned(result, "0")]
    if re.fullmatch(_NOTHING, name):
        return _returned(result, "0")
    if re.fullmatch(_NO_RESULT, name):
        return _returned(result, "0")
    return None


def _stopped_with(values: dict[int, str], reason: int, result: str, table: Table) -> list[str]:
    """Stop for a reason with these words set, and return the scheduler's `RESULT`."""
    lines = _load_place(table)
    for number, (word, value) in enumerate(values.items()):
        lines += _store(f"given{number}", value, word)
    lines.append(f"  call void @ts.stop(i64 {int(reason)})")
    if result != "void":
        lines += _load("result", RESULT)
    return [*lines, *_returned(result, "%result")]


def _wide(parameter: str, number: int) -> tuple[list[str], str]:
    """Return (instructions that widen a parameter to 64 bits, the widened name)."""
    if parameter == "i64":
        return [], f"%a{number}"
    return [f"  %wide{number} = zext {parameter} %a{number} to i64"], f"%wide{number}"


def _barrier(name: str, result: str, parameters: list[str], table: Table) -> list[str]:
    if name.startswith("nvvm.bar.warp.sync"):
        lines, mask = _wide(parameters[0], 0)
        return [*lines, *_stopped_with({MASK: mask}, StopReason.SYNCWARP, result, table)]
    kind = next((operation for operation in _COUNTING if f".{operation}" in name), "")
    if not kind:
        return _stopped_with({}, StopReason.BARRIER, result, table)
    lines, value = _wide(parameters[-1], len(parameters) - 1)
    lines.append(f"  %any = icmp ne i64 {value}, 0\n  %vote = zext i1 %any to i64")
    body = _stopped_with({VALUE: "%vote"}, _COUNTING[kind], "i64" if result == "i1" else result, table)
    if result == "i1":
        body = [*body[:-1], "  %bool = icmp ne i64 %result, 0", "  ret i1 %bool"]
    return [*lines, *body]


def _shuffle(name: str, result: str, parameters: list[str], table: Table) -> list[str]:
    """Shuffle 32 bits: in the old form (mask, mode, value, lane, clamp), or in one per mode without it."""
    mode = next(
        (SHUFFLE_MODES.index(candidate) for candidate in SHUFFLE_MODES if f".{candidate}." in name), None
    )
    value, lane, clamp = (2, 3, 4) if mode is None else (1, 2, 3)
    lines, mask = _wide(parameters[0], 0)
    kind = parameters[value]
    if kind == "float":
        lines += [f"  %bits = bitcast float %a{value} to i32", "  %wide.value = zext i32 %bits to i64"]
    else:
        lines.append(f"  %wide.value = zext {kind} %a{value} to i64")
    lines += [f"  %wide.lane = zext i32 %a{lane} to i64", f"  %wide.clamp = zext i32 %a{clamp} to i64"]
    if mode is None:
        lines.append(f"  %wide.mode = zext i32 %a1 to i64\n  %high = shl i64 %wide.mode, {MODE_SHIFT}")
    else:
        lines.append(f"  %high = or i64 {mode << MODE_SHIFT}, 0")
    lines.append("  %both = or i64 %high, %wide.clamp")
    words: dict[int, str] = {MASK: mask, VALUE: "%wide.value", EXTRA: "%wide.lane", CLAMP: "%both"}
    return [*lines, *_result_and_predicate(words, Reason.SHUFFLE, result, table, kind)]


def _result_and_predicate(
    words: dict[int, str], reason: int, result: str, table: Table, kind: str
) -> list[str]:
    lines = _stopped_with(words, reason, "i64", table)[:-1]
    lines.append("  %low = trunc i64 %result to i32")
    value = "%low"
    if kind == "float":
        lines.append("  %float = bitcast i32 %low to float")
        value = "%float"
    if not result.startswith("{"):
        return [*lines, f"  ret {kind} {value}"]
    lines += _load("predicate", PREDICATE)
    return [
        *lines, "  %true = trunc i64 %predicate to i1",
        f"  %one = insertvalue {result} poison, {kind} {value}, 0",
        f"  %two = insertvalue {result} %one, i1 %true, 1", f"  ret {result} %two",
    ]  # fmt: skip


def _vote(name: str, result: str, parameters: list[str], table: Table) -> list[str]:
    """Vote in the old form (mask, mode, value) -> {i32, i1}, or in one per kind."""
    last = len(parameters) - 1
    lines, mask = _wide(parameters[0], 0)
    lines.append(f"  %vote = zext i1 %a{last} to i64")
    body = _stopped_with({MASK: mask, VALUE: "%vote"}, Reason.VOTE, "i64", table)[:-1]
    lines += [
        *body, *_load("predicate", PREDICATE), "  %ballot = trunc i64 %result to i32",
        "  %named = trunc i64 %predicate to i32",  # the lanes that vote
        "  %all = icmp eq i32 %ballot, %named", "  %any = icmp ne i32 %ballot, 0",
        "  %none = icmp eq i32 %ballot, 0", "  %uni = or i1 %all, %none",
    ]  # fmt: skip
    if result.startswith("{"):
        return [
            *lines, "  %is.all = icmp eq i32 %a1, 0", "  %is.any = icmp eq i32 %a1, 1",
            "  %other = select i1 %is.any, i1 %any, i1 %uni", "  %said = select i1 %is.all, i1 %all, i1 %other",
            f"  %one = insertvalue {result} poison, i32 %ballot, 0",
            f"  %two = insertvalue {result} %one, i1 %said, 1", f"  ret {result} %two",
        ]  # fmt: skip
    kind = name.split(".")[2] if not name.startswith("nvvm.vote.sync") else "sync"
    return [*lines, f"  ret {result} %{kind}"]


def _match(name: str, result: str, parameters: list[str], table: Table) -> list[str]:
    lines, mask = _wide(parameters[0], 0)
    value_lines, value = _wide(parameters[1], 1)
    reason = StopReason.MATCH_ANY if ".any." in name else StopReason.MATCH_ALL
    return [
        *lines,
        *value_lines,
        *_result_and_predicate({MASK: mask, VALUE: value}, reason, result, table, "i32"),
    ]

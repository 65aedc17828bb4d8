"""The instructions of generated code that access memory: of PTX, and of a GPU's own code.

LLVM's code generator joins two loads of neighbours if it knows that the address is a multiple of their size.
An access whose number is missing from the PTX is part of another one.
"""

from __future__ import annotations

import re
import subprocess
import tempfile
from pathlib import Path

import msgspec

from ...recording import nvidia_files
from .numbered import FIRST

ARCHITECTURE = "sm_90"
SECONDS = 60.0  # time limit of NVIDIA's programs
_LOC = re.compile(r"\s*\.loc\s+\d+\s+(\d+)")
_PTX = re.compile(
    r"^\s*(?:@!?%p\d+\s+)?(ld|st|atom|red)((?:\.[a-z_]\w*(?:::\w+)?)*?)(?:\.v([248]))?\.[bfus](\d+)\s"
)
_LINE = re.compile(r"//## File \"[^\"]*\", line (\d+)")
_SASS = re.compile(r"\b(LDS|STS|LDG|STG|LD|ST)((?:\.\w+)*) ")
_KINDS = {"ld": "load", "st": "store", "LDS": "load", "LDG": "load", "LD": "load"}
_SPACES = {"LDS": "shared", "STS": "shared", "LDG": "global", "STG": "global"}


class Emitted(msgspec.Struct, frozen=True):
    """An instruction that accesses memory."""

    size: int  # bytes
    space: str  # "shared" or "global"; "" if the address may be either


class NamedAccess(msgspec.Struct, frozen=True):
    """An instruction that loads or stores, and its line in the debug data."""

    line: int
    kind: str  # "load", "store", "" for atomics
    space: str  # as of `Emitted`
    size: int  # bytes


class SassCode(msgspec.Struct, frozen=True):
    """A GPU's code."""

    accesses: list[NamedAccess]
    registers: int | None  # of a thread
    spills: int | None  # bytes of a thread that did not fit in registers
    compiler: str  # "ptxas 13.0"


def numbered_accesses(ptx: str) -> dict[int, Emitted]:
    """Find the numbered accesses of a kernel's PTX (see `numbered`)."""
    emitted: dict[int, Emitted] = {}
    for access in accesses_of_ptx(ptx):
        if access.line >= FIRST:
            previous = emitted.get(access.line)
            emitted[access.line] = Emitted(max(access.size, previous.size if previous else 0), access.space)
    return emitted


def accesses_of_ptx(ptx: str) -> list[NamedAccess]:
    """Find all accesses of PTX except those to parameters and local memory."""
    accesses = []
    line = 0
    for text in ptx.split("\n"):
        if match := _LOC.match(text):
            line = int(match[1])
        elif (match := _PTX.match(text)) and ".param" not in match[2] and ".local" not in match[2]:
            space = next((name for name in ("shared", "global") if f".{name}" in match[2]), "")
            size = int(match[4]) // 8 * int(match[3] or 1)
            accesses.append(NamedAccess(line, _KINDS.get(match[1], ""), space, size))
    return accesses


def compile_sass(ptx: str, *, listed: bool = True) -> SassCode | None:
    """Compile PTX for a GPU and find the accesses of its code; None without NVIDIA's programs, or if they fail.

    listed: whether to list the accesses, for which nvdisasm takes ten times as long as ptxas.
    """
    ptxas, nvdisasm = nvidia_files.ptxas(), nvidia_files.nvdisasm()
    if ptxas is None or nvdisasm is None:
        return None
    with tempfile.TemporaryDirectory(prefix="tilescope-ptxas-") as folder:
        source, code = Path(folder, "kernel.ptx"), Path(folder, "kernel.cubin")
        source.write_text(ptx)
        try:
            # A complete program: with -c, ptxas does not know the addresses in shared memory, and joins nothing there.
            report = _run(
                [str(ptxas), f"-arch={ARCHITECTURE}", "-lineinfo", "-v", str(source), "-o", str(code)]
            )
            text = _run([str(nvdisasm), "-g", "-c", str(code)]) if listed else ""
        except (OSError, subprocess.SubprocessError):
            return None
    registers = re.search(r"Used (\d+) registers", report)
    spills = [int(number) for number in re.findall(r"(\d+) bytes spill (?:stores|loads)", report)]
    return SassCode(
        _accesses_of_sass(text), int(registers[1]) if registers else None, sum(spills) if spills else None,
        f"ptxas {nvidia_files.ptxas_version()}",
    )  # fmt: skip


def _run(command: list[str]) -> str:
    result = subprocess.run(command, capture_output=True, text=True, timeout=SECONDS, check=True)
    return result.stdout + result.stderr


def _accesses_of_sass(listed: str) -> list[NamedAccess]:
    accesses = []
    line = 0
    for text in listed.split("\n"):
        if match := _LINE.search(text):
            line = int(match[1])
        elif match := _SASS.search(text):
            kind = _KINDS.get(match[1], "store")
            accesses.append(NamedAccess(line, kind, _SPACES.get(match[1], ""), _size(match[2])))
    return accesses


def _size(modifiers: str) -> int:
    """Return the number of bytes that an instruction accesses, by its modifiers."""
    for part in modifiers.split("."):
        if part in ("64", "128"):
            return int(part) // 8
        if part in ("U8", "S8"):
            return 1
        if part in ("U16", "S16"):
            return 2
    return 4

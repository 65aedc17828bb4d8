"""The instructions of generated code that access memory: of PTX, and of a GPU's own code.

LLVM's code generator makes two loads of neighbours one where it knows that the address is a multiple of their size.
An access whose number is missing from the PTX has become part of another one.
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
SECONDS = 60.0  # that NVIDIA's programs may take
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
    space: str  # "shared", "global"; "" for an address that may be either


class NamedAccess(msgspec.Struct, frozen=True):
    """An instruction that loads or stores, and the line that it is said to be of."""

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


def of_ptx(ptx: str) -> dict[int, Emitted]:
    """Find the numbered accesses of a kernel's PTX (see `numbered`)."""
    found: dict[int, Emitted] = {}
    for one in accesses_of_ptx(ptx):
        if one.line >= FIRST:
            before = found.get(one.line)
            found[one.line] = Emitted(max(one.size, before.size if before else 0), one.space)
    return found


def accesses_of_ptx(ptx: str) -> list[NamedAccess]:
    """Find all accesses of PTX but those to parameters and local memory."""
    found = []
    line = 0
    for text in ptx.split("\n"):
        if match := _LOC.match(text):
            line = int(match[1])
        elif (match := _PTX.match(text)) and ".param" not in match[2] and ".local" not in match[2]:
            space = next((one for one in ("shared", "global") if f".{one}" in match[2]), "")
            size = int(match[4]) // 8 * int(match[3] or 1)
            found.append(NamedAccess(line, _KINDS.get(match[1], ""), space, size))
    return found


def of_sass(ptx: str, *, listed: bool = True) -> SassCode | None:
    """Compile PTX for a GPU and find the accesses of its code; None without NVIDIA's programs, or if they fail.

    listed: whether accesses are looked for, which takes nvdisasm ten times as long as ptxas.
    """
    ptxas, nvdisasm = nvidia_files.ptxas(), nvidia_files.nvdisasm()
    if ptxas is None or nvdisasm is None:
        return None
    with tempfile.TemporaryDirectory(prefix="tilescope-ptxas-") as folder:
        source, code = Path(folder, "kernel.ptx"), Path(folder, "kernel.cubin")
        source.write_text(ptx)
        try:
            # The whole program: with -c, ptxas does not know where shared memory lies, and joins nothing there.
            said = _run(
                [str(ptxas), f"-arch={ARCHITECTURE}", "-lineinfo", "-v", str(source), "-o", str(code)]
            )
            text = _run([str(nvdisasm), "-g", "-c", str(code)]) if listed else ""
        except (OSError, subprocess.SubprocessError):
            return None
    registers = re.search(r"Used (\d+) registers", said)
    spills = [int(n) for n in re.findall(r"(\d+) bytes spill (?:stores|loads)", said)]
    return SassCode(
        _accesses_of_sass(text), int(registers[1]) if registers else None, sum(spills) if spills else None,
        f"ptxas {nvidia_files.ptxas_version()}",
    )  # fmt: skip


def _run(command: list[str]) -> str:
    done = subprocess.run(command, capture_output=True, text=True, timeout=SECONDS, check=True)
    return done.stdout + done.stderr


def _accesses_of_sass(listed: str) -> list[NamedAccess]:
    found = []
    line = 0
    for text in listed.split("\n"):
        if match := _LINE.search(text):
            line = int(match[1])
        elif match := _SASS.search(text):
            kind = _KINDS.get(match[1], "store")
            found.append(NamedAccess(line, kind, _SPACES.get(match[1], ""), _size(match[2])))
    return found


def _size(modifiers: str) -> int:
    """Return the bytes that an instruction accesses, by its modifiers."""
    for part in modifiers.split("."):
        if part in ("64", "128"):
            return int(part) // 8
        if part in ("U8", "S8"):
            return 1
        if part in ("U16", "S16"):
            return 2
    return 4

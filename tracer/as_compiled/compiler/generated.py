"""The instructions of generated code that access memory: of PTX, as LLVM writes it, and of a GPU's own code.

Code generators join accesses: LLVM makes two loads of neighbours one where it knows that the address is a multiple of
their size, and ptxas, which places shared memory, does so there. An access that is missing has become part of another
one. ptxas also lets all warps execute the few instructions of a short branch, and switches lanes off.
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
    r"(?:@!?%p\d+\s+)?(?:ld|st|atom|red)((?:\.[a-z_]\w*(?:::\w+)?)*?)(?:\.v([248]))?\.[bfus](\d+)\s"
)
_LINE = re.compile(r"//## File \"[^\"]*\", line (\d+)")
_SASS = re.compile(r"(@!?U?P\d+ +)?(LDS|STS|LDG|STG|LD|ST|ATOMS|ATOMG|ATOM|RED|REDG)((?:\.\w+)*) ")
_SPACES = {
    "LDS": "shared", "STS": "shared", "ATOMS": "shared", "LDG": "global", "STG": "global", "ATOMG": "global",
    "REDG": "global", "RED": "global",
}  # fmt: skip


class Emitted(msgspec.Struct, frozen=True):
    """An instruction that accesses memory."""

    size: int  # bytes
    space: str = ""  # "shared", "global"; "" for an address that may be either
    is_predicated: bool = False  # whether lanes, or all of a warp, may be switched off for it


class GeneratedCode(msgspec.Struct, frozen=True):
    """What a kernel was compiled to."""

    accesses: dict[int, Emitted]  # by the number of the access
    registers: int | None = None  # of a thread
    spills: int | None = None  # bytes of a thread that did not fit in registers
    compiler: str = ""  # "ptxas 13.0"; "" for PTX


def of_ptx(ptx: str) -> GeneratedCode:
    """Find the accesses of a kernel's PTX."""
    found: dict[int, Emitted] = {}
    line = 0
    for text in ptx.split("\n"):
        if match := _LOC.match(text):
            line = int(match[1])
        elif line >= FIRST and (match := _PTX.search(text)):
            size = int(match[3]) // 8 * int(match[2] or 1)
            space = next((one for one in ("shared", "global") if f".{one}" in match[1]), "")
            found[line] = Emitted(max(size, found[line].size if line in found else 0), space)
    return GeneratedCode(found)


def of_sass(ptx: str) -> GeneratedCode | None:
    """Compile PTX for a GPU and find the accesses of its code; None without NVIDIA's programs, or if they fail."""
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
            listed = _run([str(nvdisasm), "-g", "-c", str(code)])
        except (OSError, subprocess.SubprocessError):
            return None
    return _parsed(listed, said)


def _run(command: list[str]) -> str:
    done = subprocess.run(command, capture_output=True, text=True, timeout=SECONDS, check=True)
    return done.stdout + done.stderr


def _parsed(listed: str, said: str) -> GeneratedCode:
    found: dict[int, Emitted] = {}
    line = 0
    for text in listed.split("\n"):
        if match := _LINE.search(text):
            line = int(match[1])
        elif line >= FIRST and (match := _SASS.search(text)):
            emitted = Emitted(_size(match[3]), _SPACES.get(match[2], ""), match[1] is not None)
            before = found.get(line)
            if before is not None:
                predicated = before.is_predicated and emitted.is_predicated
                emitted = Emitted(max(before.size, emitted.size), emitted.space, predicated)
            found[line] = emitted
    registers = re.search(r"Used (\d+) registers", said)
    spills = [int(n) for n in re.findall(r"(\d+) bytes spill (?:stores|loads)", said)]
    return GeneratedCode(
        found, int(registers[1]) if registers else None, sum(spills) if spills else None,
        f"ptxas {nvidia_files.ptxas_version()}",
    )  # fmt: skip


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

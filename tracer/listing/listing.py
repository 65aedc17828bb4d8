"""The compiled code of a kernel as plain data, and the job that requests it."""

from __future__ import annotations

import hashlib

import msgspec

from ..model.launch import Launch

INSTALL = "Install tilescope[nvidia] for SASS, registers and spills: pip install 'tilescope[nvidia]'."


class CodeLine(msgspec.Struct, frozen=True):
    """A line of PTX or SASS."""

    text: str
    file: str = ""  # of the source line, "" for none
    line: int = 0  # of that file, from 1; 0 if unknown
    registers: int = 0  # live ones here, in SASS
    is_spill: bool = False  # whether it stores a register in local memory, or loads it from there


class Listing(msgspec.Struct, frozen=True):
    """The compiled code of a kernel."""

    ptx: tuple[CodeLine, ...] = ()
    sass: tuple[CodeLine, ...] = ()  # none without NVIDIA's programs
    ptx_by: str = ""  # its compiler
    sass_by: str = ""
    registers: int | None = None  # of a thread
    spills: int | None = None  # bytes of a thread that did not fit in registers
    reason: str = ""  # a sentence if there is no code
    missing: str = ""  # a sentence if there is no SASS


class ListingJob(msgspec.Struct, frozen=True):
    """A launch whose kernel is to be compiled; its argument types and constants count."""

    launch: Launch

    def key(self) -> str:
        """Return a digest: launches of one compiled kernel have equal keys (64 hexadecimal digits)."""
        launch = self.launch
        plain = Launch(launch.kernel, launch.source, launch.arguments, (1, 1, 1), (1, 1, 1), launch.constants)
        return hashlib.sha256(msgspec.json.encode(plain, order="sorted")).hexdigest()


ANSWER = msgspec.json.Decoder(Listing)
JOB = msgspec.json.Decoder(ListingJob)

"""The code that a kernel is compiled to, as plain data, and the question for it."""

from __future__ import annotations

import hashlib

import msgspec

from ..model.launch import Launch

INSTALL = "Install tilescope[nvidia] for SASS, registers and spills: pip install 'tilescope[nvidia]'."


class CodeLine(msgspec.Struct, frozen=True):
    """A line of PTX or SASS."""

    text: str
    file: str = ""  # of the source that it comes from, "" for none
    line: int = 0  # of that file, from 1; 0 where it is unknown
    registers: int = 0  # that hold a value here, of SASS
    is_spill: bool = False  # whether it stores a register in local memory, or loads it from there


class Listing(msgspec.Struct, frozen=True):
    """What a kernel is compiled to."""

    ptx: tuple[CodeLine, ...] = ()
    sass: tuple[CodeLine, ...] = ()  # none without NVIDIA's programs
    ptx_by: str = ""  # what made it
    sass_by: str = ""
    registers: int | None = None  # of a thread
    spills: int | None = None  # bytes of a thread that did not fit in registers
    reason: str = ""  # a sentence: why there is no code
    missing: str = ""  # a sentence: why there is no SASS


class ListingJob(msgspec.Struct, frozen=True):
    """A launch whose kernel is to be compiled; its types count, and what its names stand for."""

    launch: Launch

    def key(self) -> str:
        """Return a name: launches of one compiled kernel have equal keys (64 hexadecimal digits)."""
        one = self.launch
        plain = Launch(one.kernel, one.source, one.arguments, (1, 1, 1), (1, 1, 1), one.constants)
        return hashlib.sha256(msgspec.json.encode(plain, order="sorted")).hexdigest()


ANSWER = msgspec.json.Decoder(Listing)
JOB = msgspec.json.Decoder(ListingJob)

"""What is known of a CUDA C++ program before it runs."""

from __future__ import annotations

import re
from pathlib import Path

from msgspec import Struct

from .debug_info import DebugInfo, debug_info_of
from .rewrite import without_comments

_QUALIFIED = re.compile(r"__(constant|device|managed)__([^;(){}=]*?)\b(\w+)\s*(?:\[[^\]]*\]\s*)*(?:=|;|\{|,)")
_DYNAMIC = re.compile(
    r"extern\s+__shared__\s+(?:(?:__align__|alignas)\s*\([^)]*\)\s*)?(?:volatile\s+)?([\w:\s]+?)\s+(\w+)\s*\[\s*\]"
)
_SCALARS = {
    "float": "<f4", "double": "<f8", "int": "<i4", "unsigned": "<u4", "unsigned int": "<u4", "char": "|i1",
    "unsigned char": "|u1", "short": "<i2", "unsigned short": "<u2", "long long": "<i8", "unsigned long long": "<u8",
    "long": "<i8", "size_t": "<u8", "int32_t": "<i4", "uint32_t": "<u4", "uint8_t": "|u1", "int64_t": "<i8",
    "bool": "|b1",
}  # fmt: skip


class ProgramFacts(Struct, frozen=True):
    """What is known of a program before it runs."""

    debug: DebugInfo
    texts: dict[str, str]  # of its files, by path
    spaces: dict[str, str]  # the space of each variable with a qualifier, by name
    dynamic: list[tuple[str, str]]  # name and dtype of each declaration of dynamic shared memory
    compiler: str


def variable_spaces(text: str) -> dict[str, str]:
    """Return the space of each variable with a qualifier in a text without comments, by name."""
    return {
        match[3]: "constant" if match[1] == "constant" or "__constant__" in match[2] else "global"
        for match in _QUALIFIED.finditer(text)
    }


def facts_of(program: Path, texts: dict[Path, str] | None, compiler: str) -> ProgramFacts:
    """Collect the facts of a program; raises OSError or ELFError for a file that is no program.

    texts: of its files, None to read those that its debug information names.
    """
    debug = debug_info_of(program)
    if texts is None:
        texts = {
            Path(file): Path(file).read_text("utf-8", "replace")
            for file in debug.files
            if Path(file).is_file()
        }
    plain = [without_comments(text) for text in texts.values()]
    spaces = {name: space for text in plain for name, space in variable_spaces(text).items()}
    dynamic = [
        (match[2], _SCALARS.get(" ".join(match[1].split()), "|u1"))
        for text in plain
        for match in _DYNAMIC.finditer(text)
    ]
    return ProgramFacts(debug, {str(path): text for path, text in texts.items()}, spaces, dynamic, compiler)

"""Finds a C++ compiler for CUDA C++ programs, and the options that make it report every access.

Programs are compiled with `-fsanitize=thread`, which calls a function before each load and store, but are linked to our
runtime and not to ThreadSanitizer's. Without optimisation (-O0) each access of the source is one access of the program.
"""

from __future__ import annotations

import importlib.util
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Literal

from msgspec import Struct

Kind = Literal["clang", "gcc", "zig"]
OLDEST = {"clang": 14, "gcc": 11, "zig": 14}  # major versions of clang, or of zig's clang
VARIABLE = "TILESCOPE_CXX"  # names a compiler
TIMEOUT = 60  # seconds for a compiler to print its version
FOLDER = Path(__file__).parent


class CompilerError(Exception):
    """There is no suitable C++ compiler: one sentence."""


class Compiler(Struct, frozen=True):
    """A C++ compiler."""

    command: tuple[str, ...]
    kind: Kind
    version: str  # its first line of output

    @property
    def name(self) -> str:
        """Its name as users know it."""
        return "zig" if self.kind == "zig" else Path(self.command[0]).name

    def program_options(self) -> list[str]:
        """Return the options for the user's code, without include folders."""
        common = [
            "-std=c++17", "-O0", "-g", "-gdwarf-4", "-fsanitize=thread", "-fno-omit-frame-pointer", "-w",
            "-pthread",
        ]  # fmt: skip
        if self.kind == "gcc":
            return [
                *common,
                "--param",
                "tsan-instrument-func-entry-exit=0",
                "--param",
                "tsan-distinguish-volatile=1",
                "-fpermissive",
                "-fsanitize=bounds",
                *_fused_multiply_add(),
            ]
        own = ["-fno-sanitize=undefined"] if self.kind == "zig" else []
        return [
            *common, *own, "-fsanitize=array-bounds", "-mllvm", "-tsan-instrument-func-entry-exit=0", "-mllvm",
            "-tsan-instrument-read-before-write=1", "-mllvm", "-tsan-distinguish-volatile=1",
            "-ferror-limit=20", "-ffp-contract=on", *_fused_multiply_add(),
        ]  # fmt: skip

    def runtime_options(self) -> list[str]:
        """Return the options for our runtime."""
        own = ["-fno-sanitize=undefined"] if self.kind == "zig" else []
        return ["-std=c++17", "-O2", "-fno-omit-frame-pointer", "-w", "-pthread", *own]


def find_compiler() -> Compiler:
    """Find a compiler: of TILESCOPE_CXX, else clang, g++ or zig; raises CompilerError if there is none."""
    if named := os.environ.get(VARIABLE):
        compiler = _described(tuple(named.split()))
        if compiler is None:
            raise CompilerError(
                f"{VARIABLE} names {named}, which is no clang, g++ or zig of a known version."
            )
        return compiler
    for command in _candidates():
        if compiler := _described(command):
            return compiler
    raise CompilerError(
        "CUDA C++ needs a C++ compiler: install clang 14 or later, or g++ 11 or later, or pip install tilescope[cpp]."
    )


def _candidates() -> Iterator[tuple[str, ...]]:
    for name in (
        "clang++",
        *(f"clang++-{n}" for n in range(24, 13, -1)),
        "g++",
        *(f"g++-{n}" for n in range(17, 10, -1)),
    ):
        if path := shutil.which(name):
            yield (path,)
    if importlib.util.find_spec("ziglang"):
        yield (sys.executable, "-m", "ziglang", "c++")


@cache
def _described(command: tuple[str, ...]) -> Compiler | None:
    """Ask a compiler for its version; None if it does not run, or is too old."""
    try:
        done = subprocess.run(
            [*command, "--version"],
            capture_output=True,
            text=True,
            timeout=TIMEOUT,
            check=False,
            stdin=subprocess.DEVNULL,
        )
    except (OSError, subprocess.TimeoutExpired):
        return None
    first = done.stdout.partition("\n")[0].strip()
    number = re.search(r"(\d+)\.\d+", first)
    if done.returncode or number is None:
        return None
    is_zig = "zig" in " ".join(command)
    kind: Kind = "zig" if is_zig else "clang" if "clang" in first else "gcc"
    if "Free Software Foundation" not in done.stdout and kind == "gcc":
        return None
    return Compiler(command, kind, first) if int(number[1]) >= OLDEST[kind] else None


@cache
def _fused_multiply_add() -> list[str]:
    """Return the option that lets `a * b + c` round once, as a GPU does, where this processor can."""
    try:
        flags = Path("/proc/cpuinfo").read_text("utf-8", "replace")
    except OSError:
        return []
    return ["-mfma"] if re.search(r"^flags\s*:.*\bfma\b", flags, re.MULTILINE) else []

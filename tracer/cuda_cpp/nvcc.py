"""A stand-in for NVIDIA's compiler: takes nvcc's command line, so that Makefiles and CMake build programs for tracing.

Run as `python -m tilescope.tracer.cuda_cpp.nvcc`; `tilescope run -- make` puts a script of the name nvcc on the PATH.
"""

from __future__ import annotations

import shutil
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

from msgspec import Struct

from .build import BuildError, BuildOptions, compile_object, link
from .compilers import CompilerError, find_compiler
from .rewrite import read_sources

VERSION = "nvcc: stand-in of Tilescope\nCuda compilation tools, release 13.0, V13.0.0"
SOURCES = (".cu", ".cpp", ".cc", ".cxx", ".c", ".C")
# Options of nvcc with a separate value, which have no meaning here.
_WITH_VALUE = frozenset(
    (
        "-arch", "--gpu-architecture", "-code", "--gpu-code", "-gencode", "--generate-code", "-Xcompiler",
        "--compiler-options", "-Xptxas", "--ptxas-options", "-Xlinker", "--linker-options", "-Xcudafe", "-ccbin",
        "--compiler-bindir", "-maxrregcount", "--maxrregcount", "-std", "--std", "-m", "--machine", "-x", "--x",
        "-t", "--threads", "-diag-suppress", "--diag-suppress", "-cudart", "--cudart", "-MF", "-MT", "-MQ",
        "-isystem-after", "-default-stream", "--default-stream", "-idirafter", "-rdc", "--relocatable-device-code",
    )
)  # fmt: skip
# Libraries that are not linked: our headers define their functions, or only a GPU has them.
_LIBRARIES = (
    "cuda",
    "cudart",
    "cudart_static",
    "cudadevrt",
    "cublas",
    "curand",
    "nvToolsExt",
    "cublasLt",
    "culibos",
)


class CommandLine(Struct):
    """What a command line of nvcc asks for."""

    sources: list[Path] = []
    objects: list[Path] = []
    output: Path | None = None
    compiles_only: bool = False
    include_folders: list[Path] = []
    definitions: list[str] = []
    linked: list[str] = []  # for the linker


class NvccError(Exception):
    """A command line that can't be followed: one sentence."""


def parse(words: Sequence[str]) -> CommandLine:
    """Read a command line of nvcc; raises NvccError."""
    result = CommandLine()
    waiting = list(words)
    while waiting:
        word = waiting.pop(0)
        name, has_value, value = word.partition("=")
        if word in ("-o", "--output-file"):
            result.output = Path(_next(waiting, word))
        elif word in ("-c", "--compile", "-dc", "--device-c"):
            result.compiles_only = True
        elif word in (
            "-dlink",
            "--device-link",
            "-ptx",
            "--ptx",
            "-cubin",
            "--cubin",
            "-fatbin",
            "-E",
            "--preprocess",
        ):
            raise NvccError(f"{word} makes code for a GPU, which Tilescope cannot trace; build a program.")
        elif word in ("-I", "--include-path", "-isystem", "--system-include"):
            result.include_folders.append(Path(_next(waiting, word)))
        elif word.startswith("-I"):
            result.include_folders.append(Path(word[2:]))
        elif word in ("-D", "--define-macro"):
            result.definitions.append(_next(waiting, word))
        elif word.startswith("-D"):
            result.definitions.append(word[2:])
        elif word in ("-l", "--library", "-L", "--library-path"):
            _add_library(result, word[:2] if not word.startswith("--") else "-l", _next(waiting, word))
        elif word.startswith(("-l", "-L")) and not word.startswith("-lineinfo"):
            _add_library(result, word[:2], word[2:])
        elif name in _WITH_VALUE:
            if not has_value and not value:
                _next(waiting, word)
        elif word.startswith("-"):
            pass  # -O3, -g, -lineinfo, --use_fast_math: without meaning here
        elif word.endswith(SOURCES):
            result.sources.append(Path(word))
        else:
            result.objects.append(Path(word))
    return result


def main(words: Sequence[str]) -> int:
    """Compile and link as the command line asks; return the exit status, 1 after an error, which is printed."""
    if {"--version", "-V"} & set(words):
        print(VERSION)
        return 0
    try:
        _build(parse(words))
    except BuildError as error:
        place = f"{error.file}:{error.line}: " if error.line else ""
        print(f"{place}error: {error}", file=sys.stderr)
        return 1
    except (NvccError, CompilerError) as error:
        print(f"nvcc of Tilescope: {error}", file=sys.stderr)
        return 1
    except OSError as error:
        print(f"nvcc of Tilescope: can't read or write {error.filename}: {error.strerror}.", file=sys.stderr)
        return 1
    return 0


def write_script(folder: Path) -> Path:
    """Write a script of the name nvcc into a folder, for the PATH; return its path."""
    script = folder / "nvcc"
    code = f"import sys; from {__name__} import main; sys.exit(main(sys.argv[1:]))"
    script.write_text(f'#!/bin/sh\nexec "{sys.executable}" -P -c "{code}" "$@"\n')
    script.chmod(0o755)
    return script


def _next(waiting: list[str], option: str) -> str:
    if not waiting:
        raise NvccError(f"{option} needs a value.")
    return waiting.pop(0)


def _add_library(line: CommandLine, option: str, name: str) -> None:
    if option == "-L" or name not in _LIBRARIES:
        line.linked.append(f"{option}{name}")


def _build(line: CommandLine) -> None:
    if not line.sources and not line.objects:
        raise NvccError("no file is named.")
    compiler = find_compiler()
    options = BuildOptions(tuple(path.absolute() for path in line.include_folders), tuple(line.definitions))
    objects = []
    with tempfile.TemporaryDirectory(prefix="tilescope-nvcc-") as temporary:
        for number, source in enumerate(line.sources):
            folder = Path(temporary, str(number))
            folder.mkdir()
            compiled = compile_object(
                read_sources(source, options.include_folders), compiler, options, folder
            )
            if line.compiles_only:
                target = line.output if line.output and len(line.sources) == 1 else Path(f"{source.stem}.o")
                shutil.move(compiled, target)
            else:
                objects.append(compiled)
        if not line.compiles_only:
            link([*objects, *line.objects], line.output or Path("a.out"), compiler, line.linked)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

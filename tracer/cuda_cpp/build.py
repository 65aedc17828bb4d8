"""Compiles CUDA C++ programs, and keeps the results in the cache by their content."""

from __future__ import annotations

import hashlib
import os
import re
import shutil
import subprocess
import tempfile
from collections.abc import Iterable, Sequence, Set
from contextlib import suppress
from functools import cache
from pathlib import Path

from msgspec import Struct

from ..storage.folders import cache_folder
from .compilers import FOLDER, Compiler, find_compiler
from .rewrite import Sources, mirrored, read_sources, without_comments, write_mirror

TIMEOUT = 600  # seconds: zig builds its C++ library first
LIMIT = 500 << 20  # bytes of compiled programs that the cache keeps
LONGEST_MESSAGE = 160  # characters of a compiler's message
_ERROR = re.compile(r"^(.+?):(\d+):(?:(\d+):)? (?:fatal )?error: (.*)$", re.MULTILINE)
_UNKNOWN = re.compile(
    r"use of undeclared identifier '([^']+)'|unknown type name '([^']+)'|'([^']+)' was not declared in this scope"
    r"|'([^']+)' does not name a type|no template named '([^']+)'$|there are no arguments to '([^']+)' that depend"
    r"|'([^']+)' has not been declared|no type named '([^']+)'$"
)
_UNKNOWN_MEMBER = re.compile(
    r"no (?:member|type|template) named '(?P<name>[^']+)' in (?:namespace )?'(?P<owner>[^']+)'"
    r"|'(?P<name_>[^']+)' is not a member of '(?P<owner_>[^']+)'"
    r"|'(?:(?:struct|class|const) )*(?P<owner__>[^']+?)'(?: \{aka '[^']*'\})? has no member named '(?P<name__>[^']+)'"
    r"|'(?P<name___>[^']+)' in namespace '(?P<owner___>[^']+)' does not name a"
)
_REFUSED = re.compile(r"Tilescope does not know [^\"\n]*?\.(?=\"|$)", re.MULTILINE)  # of our static_assert
_MISSING_FILE = re.compile(r"'?([\w./+-]+)'? ?(?:file not found|: No such file or directory)")
_CUDA_NAME = re.compile(
    r"cu[A-Z]\w*|CU_\w+|CUDA\w+|(?:cuda|cub|cublas|cufft|curand|cusparse|cusolver|cudnn|nvtx|nvrtc|nvml|nccl|thrust|half|nv_bfloat|wmma|nvcuda)\w*"
    r"|__\w+|atomic[A-Z]\w*|(?:tex|surf)[123]D\w*|texture|surface|cooperative_groups|[a-z]+[fl]?_approx"
)
_CUDA_NAMESPACE = re.compile(
    r"(?:::)?(?:cooperative_groups|cg|thrust|cub|cuda|nvcuda|wmma|torch|at|c10|nvtx3|pybind11|py)(?:::\w+)*"
)
_CUDA_HEADER = re.compile(
    r"(?:cu[a-z]*|nv\w*|nccl|thrust|cub|cuda|cooperative_groups|cutlass|cute|torch|ATen|c10|helper_|mma|surface_|texture_|sm_).*"
)
_INSTANTIATED = re.compile(
    r"^(/[^:\n]+):(\d+):\d+: +(?:note: in instantiation of|  ?required from|recursively required from|required from)",
    re.MULTILINE,
)
_INCLUDED = re.compile(r"(?:from |^)(/[^:\n]+):(\d+)", re.MULTILINE)
_HEADER = ["-include", "tilescope/cuda.h"]
_STALE_HEADER = re.compile(r"PCH|precompiled|\.pch\b")  # in an error about a compiled header
_ASSERTED = re.compile(r'static_assert failed [^"]*"(.+)"')  # clang's words, with the program's
_QUOTES = str.maketrans("‘’", "''")
_CPP20 = re.compile(
    r"^\s*#\s*include\s*<(?:concepts|span|ranges|bit|numbers|format|source_location|compare|barrier|latch|semaphore)>"
    r"|<=>|\b(?:consteval|constinit)\b|\bconcept\s+\w+\s*=|\]\s*<\s*(?:typename|class|auto|int)\b|\bstd::(?:span|ranges)\b",
    re.MULTILINE,
)
_HOST_CALL = re.compile(r"__cuda|cu(?:da|blas|rand|fft)?[A-Z]")
_UNDEFINED = re.compile(r"undefined (?:reference to|symbol:?) [`'‘]?([^'’\n]+)")


class BuildError(Exception):
    """A program can't be compiled: one sentence, and the user's file and line."""

    def __init__(self, text: str, file: str = "", line: int = 0, details: str = "") -> None:
        super().__init__(text)
        self.file, self.line = file, line
        self.details = details  # what the compiler printed


class BuildOptions(Struct, frozen=True):
    """What the user's command line adds to a compilation."""

    include_folders: tuple[Path, ...] = ()
    definitions: tuple[str, ...] = ()  # NAME or NAME=VALUE
    arguments: tuple[str, ...] = ()  # for the linker, such as -lm
    before: str = ""  # C++ text in front of the program's main file
    after: str = ""  # and after it


class BuiltProgram(Struct, frozen=True):
    """A compiled program."""

    path: Path  # of the executable
    sources: Sources
    compiler: Compiler


def build(main: Path, options: BuildOptions | None = None, text: str | None = None) -> BuiltProgram:
    """Compile a program of one file; raises CompilerError, BuildError, or OSError if a file can't be read or written.

    text: replaces the content of `main`.
    """
    options = options or BuildOptions()
    sources, compiler = read_sources(main, options.include_folders, text), find_compiler()
    key = _digest(
        compiler.version, *compiler.command, *compiler.program_options(), _own_digest(), *options.definitions,
        *map(str, options.include_folders), *options.arguments, options.before, options.after,
        *(f"{path}\0{content}" for path, content in sorted(sources.texts.items())),
    )  # fmt: skip
    program = _folder() / key / "program"
    if not program.is_file():
        _forget_oldest()
        with _new_folder(key) as temporary:
            compiled = compile_object(sources, compiler, options, temporary)
            link([compiled], temporary / "program", compiler, options.arguments, sources)
            compiled.unlink()
            shutil.rmtree(temporary / "source", ignore_errors=True)
    else:
        os.utime(program.parent)
    return BuiltProgram(program, sources, compiler)


def prepare() -> None:
    """Compile our runtime and header before the first program; raises CompilerError and BuildError."""
    compiler = find_compiler()
    runtime_object(compiler)
    _precompiled_header(compiler)


def compile_object(sources: Sources, compiler: Compiler, options: BuildOptions, folder: Path) -> Path:
    """Compile a file to an object in `folder`; raises BuildError."""
    mirror = folder / "source"
    file, target = write_mirror(sources, mirror, options.before, options.after), folder / "program.o"
    includes = [
        word
        for path in options.include_folders
        for word in ("-I", str(mirrored(path, mirror)), "-I", str(path))
    ]
    command = [
        *compiler.command, *compiler.program_options(), *includes, "-iquote", str(sources.main.parent),
        "-isystem", str(FOLDER / "include"), *(f"-D{name}" for name in options.definitions),
    ]  # fmt: skip
    end = ["-x", "c++", "-c", str(file), "-o", str(target)]
    header = _precompiled_header(compiler)
    if _CPP20.search("\n".join(map(without_comments, sources.texts.values()))):
        command, header = [*command, "-std=c++20"], _HEADER  # the compiled header is for C++17
    output = _run([*command, *header, *end], sources.main)
    if output is not None and header != _HEADER and _STALE_HEADER.search(output):
        output = _run([*command, *_HEADER, *end], sources.main)
    if output is not None:
        raise _build_error(output, sources, mirror)
    return target


def link(
    objects: Sequence[Path],
    target: Path,
    compiler: Compiler,
    arguments: Iterable[str] = (),
    sources: Sources | None = None,
) -> None:
    """Link objects and our runtime to a program; raises BuildError."""
    main = sources.main if sources else target
    command = [
        *compiler.command, "-pthread", *map(str, objects), str(runtime_object(compiler)), "-o", str(target), *arguments,
        "-ldl", "-lm",
    ]  # fmt: skip
    output = _run(command, main)
    if output is None:
        return
    if match := _UNDEFINED.search(output):
        name = match[1].strip()
        if name == "main":
            raise BuildError("the program has no function main, so nothing can run.", str(main), 0, output)
        if _HOST_CALL.match(name):
            raise BuildError(
                f"nothing defines {name}: compile the file that calls it with nvcc, not with another compiler.",
                str(main), 0, output,
            )  # fmt: skip
        raise BuildError(f"nothing defines {name}, which the program uses.", str(main), 0, output)
    raise BuildError("the program can't be linked.", str(main), 0, output)


def _precompiled_header(compiler: Compiler) -> list[str]:
    """Return the options that include our header, compiled once for each compiler; the plain header if that fails."""
    if compiler.kind == "zig":
        return _HEADER
    key = "header-" + _digest(compiler.version, *compiler.command, *compiler.program_options(), _own_digest())
    folder = _folder() / key
    name = "cuda.h.gch" if compiler.kind == "gcc" else "cuda.h.pch"
    if not (folder / name).is_file():
        stamp = [] if compiler.kind == "gcc" else ["-Xclang", "-fno-pch-timestamp"]
        with _new_folder(key) as temporary:
            (temporary / "cuda.h").write_text('#include "tilescope/cuda.h"\n', "utf-8")
            command = [
                *compiler.command, *compiler.program_options(), *stamp, "-isystem", str(FOLDER / "include"), "-x",
                "c++-header", str(FOLDER / "include" / "tilescope" / "cuda.h"), "-o", str(temporary / name),
            ]  # fmt: skip
            if _run(command, FOLDER) is not None:
                return _HEADER
    else:
        with suppress(OSError):
            os.utime(folder)
    if compiler.kind == "gcc":
        return ["-include", str(folder / "cuda.h")]
    return ["-include-pch", str(folder / name)]


@cache
def runtime_object(compiler: Compiler) -> Path:
    """Compile our runtime, once for each compiler; raises BuildError."""
    source = FOLDER / "runtime" / "runtime.cpp"
    key = "runtime-" + _digest(
        compiler.version, *compiler.command, *compiler.runtime_options(), _own_digest()
    )
    target = _folder() / key / "runtime.o"
    if not target.is_file():
        with _new_folder(key) as temporary:
            output = _run(
                [
                    *compiler.command,
                    *compiler.runtime_options(),
                    "-c",
                    str(source),
                    "-o",
                    str(temporary / "runtime.o"),
                ],
                source,
            )
            if output is not None:
                raise BuildError(
                    f"{compiler.name} can't compile Tilescope's runtime for CUDA C++.", "", 0, output
                )
    return target


class _new_folder:
    """Context manager for a new folder of the cache, which gets its name once it is complete."""

    def __init__(self, key: str) -> None:
        self._target = _folder() / key
        self._path = Path()

    def __enter__(self) -> Path:
        _folder().mkdir(parents=True, exist_ok=True)
        self._path = Path(tempfile.mkdtemp(prefix="new-", dir=_folder()))
        return self._path

    def __exit__(self, kind: object, *_: object) -> None:
        if kind is None:
            try:
                self._path.rename(self._target)
                return
            except OSError:  # another process has built the same
                pass
        shutil.rmtree(self._path, ignore_errors=True)


def _folder() -> Path:
    return cache_folder() / "cuda-cpp"


def _forget_oldest() -> None:
    """Remove the programs that were not used for longest, until the rest is within the limit."""
    try:
        programs = sorted(
            (
                path.stat().st_mtime,
                sum(file.stat().st_size for file in path.iterdir() if file.is_file()),
                path,
            )
            for path in _folder().iterdir()
            if path.is_dir() and not path.name.startswith("new-")
        )
    except OSError:
        return
    total = sum(size for _, size, _ in programs)
    for _, size, path in programs:
        if total <= LIMIT:
            break
        shutil.rmtree(path, ignore_errors=True)
        total -= size


@cache
def _own_digest() -> str:
    files = sorted(
        path for part in ("include", "runtime") for path in (FOLDER / part).rglob("*") if path.is_file()
    )
    return _digest(
        *(path.read_text("utf-8") for path in (*files, FOLDER / "rewrite.py", FOLDER / "inline_ptx.py"))
    )


def _digest(*texts: str) -> str:
    return hashlib.sha256("\0".join(texts).encode("utf-8", "surrogatepass")).hexdigest()[:40]


def _run(command: Sequence[str], file: Path) -> str | None:
    """Run a compiler; return None if it succeeds, otherwise its output. Raises BuildError if it does not end."""
    try:
        done = subprocess.run(
            command, capture_output=True, text=True, errors="replace", timeout=TIMEOUT, check=False,
            stdin=subprocess.DEVNULL, env=os.environ | {"LC_ALL": "C.UTF-8"},
        )  # fmt: skip
    except subprocess.TimeoutExpired:
        raise BuildError(f"the compiler did not end within {TIMEOUT} s.", str(file)) from None
    except OSError as error:
        raise BuildError(f"the compiler can't be started: {error.strerror}.", str(file)) from None
    return None if done.returncode == 0 else done.stdout + done.stderr


def _build_error(output: str, sources: Sources, mirror: Path) -> BuildError:
    """Turn the compiler's output into one sentence at the user's line."""
    output = output.replace(f"{mirror}/", "/")
    errors = list(_ERROR.finditer(output.translate(_QUOTES)))
    if not errors:
        return BuildError("the compiler failed without naming a line.", str(sources.main), 0, output)
    own = {str(path) for path in sources.texts}
    first = errors[0]
    file, line, message = first[1], int(first[2]), first[4].strip()
    if file not in own:  # an error in a header: the user's line is where it was instantiated or included
        file, line = _user_line(output, own, str(sources.main))
    if refused := _REFUSED.search(message):
        return BuildError(refused[0], file, line, output)
    if missing := _MISSING_FILE.search(message):
        if _CUDA_HEADER.fullmatch(missing[1]):
            return BuildError(f"Tilescope does not know the header {missing[1]}.", file, line, output)
        return BuildError(f"there is no {missing[1]}, which the program includes.", file, line, output)
    if name := _unknown_name(message):
        return BuildError(f"Tilescope does not know {name}.", file, line, output)
    return BuildError(f"{_shortened(message).rstrip('.')}.", file, line, output)


def _shortened(message: str) -> str:
    """Drop the innermost template arguments of a long message, and then its end."""
    if asserted := _ASSERTED.fullmatch(message):
        message = f"static assertion failed: {asserted[1]}"
    while len(message) > LONGEST_MESSAGE and (shorter := re.sub(r"<[^<>]*>", "", message)) != message:
        message = shorter
    return message if len(message) <= LONGEST_MESSAGE else f"{message[: LONGEST_MESSAGE - 1]}…"


def _user_line(output: str, own: Set[str], main: str) -> tuple[str, int]:
    """Return the user's file and line that led to an error in a header."""
    for pattern in (_INSTANTIATED, _INCLUDED):
        for match in pattern.finditer(output):
            if match[1] in own:
                return match[1], int(match[2])
    return main, 0


def _unknown_name(message: str) -> str | None:
    """Return the name of CUDA's that a compiler's message calls unknown; None if it is about another fault."""
    if member := _UNKNOWN_MEMBER.search(message):
        groups = {key.rstrip("_"): value for key, value in member.groupdict().items() if value}
        owner = groups["owner"]
        if _CUDA_NAMESPACE.fullmatch(owner) or _CUDA_NAME.fullmatch(owner):
            return f"{owner}::{groups['name']}"
    if unknown := _UNKNOWN.search(message):
        name = next(group for group in unknown.groups() if group)
        if _CUDA_NAME.fullmatch(name):
            return name
    return None

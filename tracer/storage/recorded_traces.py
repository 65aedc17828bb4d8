"""Traces that a GPU recorded, by launch: those of the package, and those of this computer."""

from __future__ import annotations

import ast
import hashlib
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Final

import msgspec
from msgspec.structs import replace

from ... import ROOT
from ..model.launch import Launch, Limits, Schedule, decode
from ..model.trace import Trace
from .folders import data_folder
from .trace_file import TraceFileError, load

FOLDER = "accesses"  # in the package's resources, and in the data folder
SUFFIX = ".npz"
PACKAGE = "tilescope/"  # prefix of the package's files in recordings, wherever it is installed
MEASURED: Final = "measured"  # the kind of their schedule
_DIGITS = 12  # of a launch's digest, hexadecimal


class NotRecordedError(Exception):
    """Raised for a launch that no GPU has recorded; the text is one sentence."""


def file_name(launch: Launch) -> str:
    """Return the file name of a launch's recording; it does not depend on the text of the kernel."""
    plain = replace(
        launch, source="", imports_digest="", schedule=Schedule(seed=launch.schedule.seed), resident=None,
        engine="compiled", limits=Limits(),
    )  # fmt: skip
    digest = hashlib.sha256(msgspec.json.encode(plain, order="sorted")).hexdigest()
    return f"{launch.scenario or launch.kernel.rpartition(':')[2]}-{digest[:_DIGITS]}{SUFFIX}"


def own_folder() -> Path:
    """Return the folder of recordings of this computer. It may not exist yet."""
    return data_folder() / FOLDER


def shipped_folder() -> Path:
    """Return the folder of the recordings in the package."""
    return ROOT / "resources" / FOLDER


def recordings(folders: Iterable[Path] | None = None) -> Iterator[Path]:
    """Yield all recordings, the package's first."""
    for folder in folders or (shipped_folder(), own_folder()):
        yield from sorted(folder.glob(f"*{SUFFIX}"))


def path_of(launch: Launch, folders: Iterable[Path] | None = None) -> Path | None:
    """Find the file of a launch's recording, on this computer before the package's; None if there is none."""
    name = file_name(launch)
    paths = (folder / name for folder in folders or (own_folder(), shipped_folder()))
    return next((path for path in paths if path.is_file()), None)


def recorded(launch: Launch, folders: Iterable[Path] | None = None) -> Trace:
    """Load the trace of a launch that a GPU recorded; raises NotRecordedError and TraceFileError."""
    path = path_of(launch, folders)
    if path is None:
        raise NotRecordedError(
            "No GPU has recorded the accesses of this launch, and only a GPU can; choose another schedule or other "
            "sizes, or record it on a computer with a GPU: tilescope measure --accesses."
        )
    trace = load(path)
    if not _same_kernel(decode(trace.launch), launch):
        raise NotRecordedError(
            "The kernel has changed since a GPU recorded its accesses; choose another schedule, or record it again: "
            "tilescope measure --accesses."
        )
    return _local(trace)


def portable(trace: Trace) -> Trace:
    """Name the package's files in a trace independently of the computer: tilescope/kernels/matmul.py."""
    return _with_files(trace, _portable_name)


def _local(trace: Trace) -> Trace:
    """Name the package's files in a trace by their paths on this computer."""
    return _with_files(trace, _local_name)


def _portable_name(file: str) -> str:
    path = Path(file)
    return f"{PACKAGE}{path.relative_to(ROOT).as_posix()}" if path.is_relative_to(ROOT) else file


def _local_name(file: str) -> str:
    inside = file.startswith(PACKAGE) and ".." not in Path(file).parts
    return str(ROOT / file.removeprefix(PACKAGE)) if inside else file


def _with_files(trace: Trace, name: Callable[[str], str]) -> Trace:
    sites = tuple(replace(site, file=name(site.file)) for site in trace.sites)
    return replace(trace, sites=sites, sources={name(file): text for file, text in trace.sources.items()})


def device_of(trace: Trace) -> str:
    """Return the GPU that made a measured trace; "" for any other trace."""
    return trace.made_by.partition(",")[0] if trace.schedule == MEASURED else ""


def device_of_recording(path: Path) -> str:
    """Return the GPU that made a recording; "" for a file that can't be read."""
    try:
        return device_of(load(path))
    except TraceFileError:
        return ""


def _same_kernel(launch: Launch, other: Launch) -> bool:
    name = launch.kernel.rpartition(":")[2]
    return launch.source == other.source or _functions(launch.source, name) == _functions(other.source, name)


def _functions(source: str, name: str) -> dict[str, str]:
    """Return the functions that one of a file calls, directly or not, and itself, as trees without line numbers."""
    try:
        defined = {node.name: node for node in ast.parse(source).body if isinstance(node, ast.FunctionDef)}
    except (SyntaxError, ValueError, RecursionError):
        return {}
    dumps: dict[str, str] = {}
    pending = [name]
    while pending:
        tree = defined.get(pending.pop())
        if tree is not None and tree.name not in dumps:
            dumps[tree.name] = ast.dump(tree)
            pending += [node.id for node in ast.walk(tree) if isinstance(node, ast.Name)]
    return dumps

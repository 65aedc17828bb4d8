"""Traces that a GPU made, by launch: those that come with the package, and those recorded on this computer."""

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
PACKAGE = "tilescope/"  # how names of the package's files begin in recordings, wherever it is installed
MEASURED: Final = "measured"  # the kind of their schedule
_DIGITS = 12  # of a launch's name, hexadecimal


class NotRecorded(Exception):
    """A launch whose order on a GPU nobody has recorded; the text is one sentence."""


def file_name(launch: Launch) -> str:
    """Return the name of the file of a launch's recording; the text of its kernel has no part in it."""
    plain = replace(
        launch, source="", beside="", schedule=Schedule(seed=launch.schedule.seed), resident=None, engine="compiled",
        limits=Limits(),
    )  # fmt: skip
    digest = hashlib.sha256(msgspec.json.encode(plain, order="sorted")).hexdigest()
    return f"{launch.scenario or launch.kernel.rpartition(':')[2]}-{digest[:_DIGITS]}{SUFFIX}"


def own_folder() -> Path:
    """Return where recordings of this computer lie. It may not exist yet."""
    return data_folder() / FOLDER


def shipped_folder() -> Path:
    """Return where the recordings lie that come with the package."""
    return ROOT / "resources" / FOLDER


def recordings(folders: Iterable[Path] | None = None) -> Iterator[Path]:
    """Yield all recordings, the package's first."""
    for folder in folders or (shipped_folder(), own_folder()):
        yield from sorted(folder.glob(f"*{SUFFIX}"))


def path_of(launch: Launch, folders: Iterable[Path] | None = None) -> Path | None:
    """Return the file of a launch's recording, that of this computer before the package's; None where there is none."""
    name = file_name(launch)
    paths = (folder / name for folder in folders or (own_folder(), shipped_folder()))
    return next((path for path in paths if path.is_file()), None)


def recorded(launch: Launch, folders: Iterable[Path] | None = None) -> Trace:
    """Return the trace of a launch as a GPU made it; raises NotRecorded and TraceFileError."""
    path = path_of(launch, folders)
    if path is None:
        raise NotRecorded(
            "No GPU has recorded the accesses of this launch, and only a GPU can; choose another schedule or other "
            "sizes, or record it where there is one by tilescope measure --accesses."
        )
    trace = load(path)
    if not _same_kernel(decode(trace.launch), launch):
        raise NotRecorded(
            "The kernel is another one than the GPU ran when its accesses were recorded; choose another schedule, or "
            "record it anew by tilescope measure --accesses."
        )
    return _local(trace)


def portable(trace: Trace) -> Trace:
    """Return a trace that calls the package's files alike on all computers: tilescope/kernels/matmul.py."""
    return _with_files(trace, _portable_name)


def _local(trace: Trace) -> Trace:
    """Return a trace that calls the package's files as they are called here."""
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


def _same_kernel(one: Launch, other: Launch) -> bool:
    name = one.kernel.rpartition(":")[2]
    return one.source == other.source or _functions(one.source, name) == _functions(other.source, name)


def _functions(source: str, name: str) -> dict[str, str]:
    """Return the functions of a file that one of them leads to, itself among them, as trees without their lines."""
    try:
        defined = {n.name: n for n in ast.parse(source).body if isinstance(n, ast.FunctionDef)}
    except (SyntaxError, ValueError, RecursionError):
        return {}
    found: dict[str, str] = {}
    wanted = [name]
    while wanted:
        tree = defined.get(wanted.pop())
        if tree is not None and tree.name not in found:
            found[tree.name] = ast.dump(tree)
            wanted += [n.id for n in ast.walk(tree) if isinstance(n, ast.Name)]
    return found

"""Tilescope shows what a CUDA kernel does to memory."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from .api.checking import FindingsError, check
    from .api.errors import PartialLaunchWarning, TilescopeError
    from .api.exercises import Exercise, ExerciseVerdict, exercise
    from .api.findings import Edit, Finding
    from .api.launches import Accesses, KernelRaised, LaunchTimeoutError, TracedLaunch
    from .api.replays import Replay
    from .api.scenarios import scenario
    from .api.tracing import trace, trace_launches

__version__ = "0.1.0"
__all__ = [
    "Accesses",
    "Edit",
    "Exercise",
    "ExerciseVerdict",
    "Finding",
    "FindingsError",
    "KernelRaised",
    "LaunchTimeoutError",
    "PartialLaunchWarning",
    "Replay",
    "TilescopeError",
    "TracedLaunch",
    "__version__",
    "check",
    "exercise",
    "scenario",
    "trace",
    "trace_launches",
]
ROOT = Path(__file__).resolve().parent  # the folder of the package
_PUBLIC = {
    "api.checking": ("FindingsError", "check"),
    "api.errors": ("PartialLaunchWarning", "TilescopeError"),
    "api.exercises": ("Exercise", "ExerciseVerdict", "exercise"),
    "api.findings": ("Edit", "Finding"),
    "api.launches": ("Accesses", "KernelRaised", "LaunchTimeoutError", "TracedLaunch"),
    "api.replays": ("Replay",),
    "api.scenarios": ("scenario",),
    "api.tracing": ("trace", "trace_launches"),
}  # by module, which is imported when one of its names is first asked for
_DEPRECATED = {"api.tracing": ("record",)}  # dropped by the next release
_EXTENSION = {"api.notebook_magic": ("load_ipython_extension",)}  # called by `%load_ext tilescope`


if not TYPE_CHECKING:  # for type checkers, what is not public is not there

    def __getattr__(name: str) -> Any:
        from importlib import import_module

        for module, names in (*_PUBLIC.items(), *_DEPRECATED.items(), *_EXTENSION.items()):
            if name in names:
                found = globals()[name] = getattr(import_module(f".{module}", __name__), name)
                return found
        raise AttributeError(
            f"Tilescope {__version__} has no {name}; a notebook for a newer version needs "
            "pip install --upgrade tilescope."
        )


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})

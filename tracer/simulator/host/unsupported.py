"""Messages to the user about unsupported parts of numba.cuda, and notes that are printed once."""

from __future__ import annotations

import sys
from collections.abc import Callable
from contextlib import suppress
from typing import Any, NoReturn

_printed_notes: set[str] = set()
_NO_COMPILER = "it runs kernels on the CPU and compiles nothing for a GPU"
_NO_DRIVER = "there is no GPU driver here, and only one process"
UNSUPPORTED = dict.fromkeys(
    (
        "compile", "compile_all", "compile_for_current_device", "compile_ptx", "compile_ptx_for_current_device",
        "declare_device",
    ),
    _NO_COMPILER,
) | dict.fromkeys(("open_ipc_array", "set_memory_manager"), _NO_DRIVER)  # fmt: skip
UNSUPPORTED_CLASSES = dict.fromkeys(
    (
        "BaseCUDAMemoryManager", "GetIpcHandleMixin", "HostOnlyCUDAMemoryManager", "IpcHandle", "MemoryPointer",
        "MappedMemory", "PinnedMemory",
    ),
    _NO_DRIVER,
)  # fmt: skip
UNSUPPORTED_OF_KERNELS = dict.fromkeys(
    (
        "inspect_asm", "inspect_llvm", "inspect_lto_ptx", "inspect_sass", "inspect_sass_cfg", "inspect_types",
        "inspect_cfg", "inspect_disasm_cfg", "get_compile_result", "get_metadata",
    ),
    _NO_COMPILER,
) | dict.fromkeys(
    (
        "get_regs_per_thread", "get_const_mem_size", "get_local_mem_per_thread", "get_shared_mem_per_block",
        "get_max_threads_per_block", "regs_per_thread", "const_mem_size", "local_mem_per_thread",
        "shared_mem_per_block", "max_threads_per_block",
    ),
    f"{_NO_COMPILER}, so the number is unknown",
)  # fmt: skip


def unsupported_message(name: str, reason: str) -> str:
    """Format the message for an unsupported name."""
    return f"Tilescope has no {name}: {reason}."


def make_refusal(name: str) -> Callable[..., NoReturn]:
    """Return a replacement for an unsupported function of numba.cuda that raises NotImplementedError."""

    def refuse(*_: Any, **__: Any) -> NoReturn:
        raise NotImplementedError(unsupported_message(f"cuda.{name}", UNSUPPORTED[name]))

    refuse.__name__ = refuse.__qualname__ = name
    return refuse


def print_once(text: str) -> None:
    """Print a note to standard error, only once in this process."""
    if text not in _printed_notes:
        _printed_notes.add(text)
        print_note(f"tilescope: {text}")


def print_note(line: str) -> None:
    """Print a line to standard error, unless the program has closed or replaced it."""
    with suppress(AttributeError, OSError, ValueError):
        sys.stderr.write(f"{line}\n")

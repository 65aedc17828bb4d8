"""libdevice's bitcode as a module for this computer: what only a GPU has is defined here.

NVIDIA's functions are LLVM's IR with intrinsics of NVVM and some PTX in assembler. All of it has an exact meaning, the
approximations (`ex2.approx` and its like) that of `special_functions.py`.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Callable
from contextlib import suppress
from functools import cache
from pathlib import Path
from typing import Any

from llvmlite import binding

from ..recording.nvidia_files import libdevice
from ..storage.atomic_write import write_atomically
from ..storage.folders import cache_folder
from .intrinsics import DEFINITIONS
from .special_functions import TABLES

PREFIX = "__nv_"
# What NVVM puts in place of `__nvvm_reflect`, as Numba asks it to: subnormal numbers are kept, and roots are exact.
_REFLECTED = {"__CUDA_FTZ": 0, "__CUDA_PREC_SQRT": 1, "__CUDA_ARCH": 900}
_LAYOUT = re.compile(r"(?m)^target (?:datalayout|triple) = .*\n")
_STRING = re.compile(r'(?m)^(@[\w.]+) = private unnamed_addr constant \[\d+ x i8\] c"(\w+)\\00".*\n')
_REFLECT = re.compile(r"call i32 @__nvvm_reflect\(ptr (?:nonnull )?(@[\w.]+)\)")
_ASSEMBLER = re.compile(r'call ((?:\{[^}]*\}|\w+)) asm (?:sideeffect )?"([^"]*)", "[^"]*"\(')
_INTRINSIC = re.compile(r"@llvm\.nvvm\.([\w.]+)\(")
_DECLARED = re.compile(r"(?m)^declare .*@(tilescope\.[\w.]+)\(.*\n")
_DECLARED_NAME = re.compile(r"(?m)^declare .*@(tilescope\.[\w.]+)\(")
_DEFINED = re.compile(r"(?m)^define .*@(tilescope\.[\w.]+)\(")
_CALL = re.compile(r"call (\{[^}]*\}|\w+) @(tilescope\.[\w.]+)\(([^)]*)\)")


@cache
def digest() -> str:
    """Compute a digest of libdevice and of its translation; "" without libdevice."""
    path = libdevice()
    if path is None:
        return ""
    here = sorted(Path(__file__).parent.glob("*.py"))
    return hashlib.sha256(b"".join(file.read_bytes() for file in (path, TABLES, *here))).hexdigest()[:24]


def module_of(name: str) -> Any:
    """Return a module that defines a function of libdevice, and what it calls."""
    return binding.parse_bitcode(_kept(f"{name}.bc", lambda: _extracted(name)))


def link_libdevice(module: Any) -> None:
    """Link the functions of libdevice that a module calls into it."""
    names = {
        function.name
        for function in module.functions
        if function.is_declaration and function.name.startswith(PREFIX)
    }
    for name in names & available():
        library = module_of(name)
        library.triple, library.data_layout = module.triple, module.data_layout
        module.link_in(library)
        module.get_function(name).linkage = "internal"


@cache
def available() -> frozenset[str]:
    """Return the names of the functions that can be had; none where libdevice is not installed."""
    return frozenset(_kept("names", _names).decode().split()) if digest() else frozenset()


def _kept(name: str, make: Callable[[], bytes]) -> bytes:
    """Translate libdevice, or read the translation from disk."""
    path = cache_folder() / "libdevice" / f"{digest()}-{binding.llvm_version_info[0]}" / name
    with suppress(OSError):
        return path.read_bytes()
    data = make()
    with suppress(OSError):
        path.parent.mkdir(parents=True, exist_ok=True)
        write_atomically(path, data, durable=False)
    return data


def _names() -> bytes:
    functions = _parse_libdevice().functions
    names = (function.name for function in functions if not function.is_declaration)
    return "\n".join(name for name in names if name.startswith(PREFIX)).encode()


def _extracted(name: str) -> bytes:
    """Return the bitcode of one function, and of what it calls."""
    module = _parse_libdevice()
    for function in module.functions:
        if not function.is_declaration and function.name != name:
            function.linkage = "internal"
    _run(module, lambda passes: passes.add_global_dead_code_eliminate_pass())
    return bytes(module.as_bitcode())


def _parse_libdevice() -> Any:
    """Return libdevice for this computer."""
    path = libdevice()
    assert path is not None
    return binding.parse_bitcode(
        _kept(
            "all.bc", lambda: bytes(_translated(str(binding.parse_bitcode(path.read_bytes()))).as_bitcode())
        )
    )


def _translated(text: str) -> Any:
    """Return libdevice's text as a module without anything of NVVM's; functions that need more are left out."""
    strings = dict(_STRING.findall(text))
    text = _LAYOUT.sub("", _STRING.sub("", text))
    text = _REFLECT.sub(lambda match: f"add i32 0, {_REFLECTED[strings[match[1]]]} ;", text)
    text = _ASSEMBLER.sub(lambda match: f"call {match[1]} @{_assembler_name(match[2])}(", text)
    text = _INTRINSIC.sub(lambda match: f"@tilescope.{match[1]}(", text).replace("ptr addrspace(1)", "ptr")
    text = text.replace("internal addrspace(1)", "internal")
    module = binding.parse_assembly(_declared(text) + DEFINITIONS)
    for function in module.functions:
        if not function.is_declaration and not function.name.startswith(PREFIX):
            function.linkage = "internal"
    module.verify()
    _run(module, _optimise)
    lacking = {
        function.name
        for function in module.functions
        if function.is_declaration and function.name.startswith("tilescope.")
    }
    module = binding.parse_assembly(_without(str(module), lacking))
    module.verify()
    return module


def _declared(text: str) -> str:
    """Return a module in which all is declared that it calls and that is not defined here."""
    defined = set(_DEFINED.findall(DEFINITIONS))
    text = _DECLARED.sub(lambda match: "" if match[1] in defined else match[0], text)
    calls = {match[2]: match for match in _CALL.finditer(text)}
    for name in calls.keys() - defined - set(_DECLARED_NAME.findall(text)):
        kinds = re.findall(r"(i\d+|float|double) [^,)]+", calls[name][3])
        text += f"declare {calls[name][1]} @{name}({', '.join(kinds)})\n"
    return text


def _assembler_name(text: str) -> str:
    """Return the name of the function that computes what some PTX does: its instructions, in their order."""
    return "tilescope." + ".".join(
        re.findall(r"(?:^|09|\{|;)\s*((?:\w+\.)+\w+)\s", text.replace("\\0A", ";"))
    )


def _without(text: str, lacking: set[str]) -> str:
    """Return a module without the functions that call what is lacking, one over the other."""
    functions = {
        match[1]: match[0]
        for match in re.finditer(r"(?ms)^define [^\n]*?@([\w.]+)\([^\n]*\{\n.*?^\}\n", text)
    }
    calls = {
        name: set(re.findall(r"@([\w.]+)\(", body.partition("\n")[2])) for name, body in functions.items()
    }
    dropped: set[str] = set()
    while True:
        more = {
            name for name, called in calls.items() if name not in dropped and called & (lacking | dropped)
        }
        if not more:
            break
        dropped |= more
    for name in dropped:
        text = text.replace(functions[name], "")
    return text


def _optimise(passes: Any) -> None:
    passes.add_always_inliner_pass()
    passes.add_sroa_pass()
    passes.add_simplify_cfg_pass()
    passes.add_instruction_combine_pass()
    passes.add_sccp_pass()
    passes.add_simplify_cfg_pass()
    passes.add_global_dead_code_eliminate_pass()


def _run(module: Any, add: Any) -> None:
    binding.initialize_native_target()
    machine = binding.Target.from_default_triple().create_target_machine()
    options = binding.create_pipeline_tuning_options(speed_level=1)
    builder = binding.create_pass_builder(machine, options)
    passes = binding.create_new_module_pass_manager()
    add(passes)
    passes.run(module, builder)

"""libdevice's functions as functions of Python, each compiled when it is first needed."""

from __future__ import annotations

import ctypes
from collections.abc import Callable
from functools import cache
from typing import Any

from llvmlite import binding

from .bitcode import module_of
from .contraction import as_nvidia_computes
from .libdevice_functions import Signature, libdevice_function, signature_of

_C_TYPES: dict[str, Any] = {
    "float32": ctypes.c_float, "float64": ctypes.c_double, "int16": ctypes.c_int16, "int32": ctypes.c_int32,
    "int64": ctypes.c_int64, "none": None,
}  # fmt: skip
_engines: list[Any] = []  # which own the machine code


@cache
def native_function(function: Callable[..., Any], *kinds: str) -> Callable[..., Any] | None:
    """Find the native function that computes a function of `math` for these kinds; None if libdevice has none.

    It takes and gives ints and floats: a float32 as the float that it is.
    """
    signature = libdevice_function(function, *kinds)
    return None if signature is None else _compiled(signature)


@cache
def native_function_named(name: str) -> Callable[..., Any] | None:
    """Return a function of `cuda.libdevice`; None where it is not installed."""
    signature = signature_of(name)
    return None if signature is None else _compiled(signature)


def _compiled(signature: Signature) -> Callable[..., Any]:
    parameters = [
        ctypes.POINTER(_C_TYPES[kind]) if is_pointer else _C_TYPES[kind]
        for kind, is_pointer in signature.parameters
    ]
    called = ctypes.CFUNCTYPE(_C_TYPES[signature.returned], *parameters)(_address(signature.name))
    if not any(is_pointer for _, is_pointer in signature.parameters):
        return called

    def with_results(*given: Any) -> Any:
        waiting = iter(given)
        arguments = [
            _C_TYPES[kind]() if is_pointer else next(waiting) for kind, is_pointer in signature.parameters
        ]
        returned = called(*arguments)
        pairs = zip(arguments, signature.parameters, strict=True)
        written = [argument.value for argument, (_, is_pointer) in pairs if is_pointer]
        results = written if signature.returned == "none" else [returned, *written]
        return results[0] if len(results) == 1 else tuple(results)

    return with_results


def _address(name: str) -> int:
    """Return the address of the machine code of a function."""
    binding.initialize_native_target()
    binding.initialize_native_asmprinter()
    module = module_of(name)
    changed = as_nvidia_computes(str(module))
    if changed is not None:
        module = binding.parse_assembly(changed)
    module.triple = binding.get_process_triple()
    machine = binding.Target.from_default_triple().create_target_machine(
        cpu=binding.get_host_cpu_name(), features=binding.get_host_cpu_features().flatten(), jit=True
    )
    engine = binding.create_mcjit_compiler(module, machine)
    engine.finalize_object()
    _engines.append(engine)
    return int(engine.get_function_address(name))

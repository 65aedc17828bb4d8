"""Link a kernel's IR and run LLVM's optimiser over it, with the cost model of NVIDIA's target.

libNVVM unrolls loops but vectorises neither them nor straight code: so is LLVM asked here.
"""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import Any

from llvmlite import binding

from .numba_ir import KernelIR

TRIPLE, PROCESSOR, LEVEL = "nvptx64-nvidia-cuda", "sm_90", 3
LIBDEVICE_PREFIXES = ("__nv_", "__internal", "__cuda", "__nvvm")


def optimised(kernel: KernelIR, libdevice: Path | None) -> binding.ModuleRef:
    """Return a kernel and what it calls as one optimised module; without `libdevice`, math functions stay calls."""
    module = _linked(kernel)
    if libdevice is not None and any(f.is_declaration and f.name.startswith("__nv_") for f in module.functions):
        _link_libdevice(module, libdevice)
    for function in module.functions:
        if not function.is_declaration and function.name != kernel.kernel:
            function.linkage = "internal"
    tuning = binding.create_pipeline_tuning_options(speed_level=LEVEL)
    tuning.loop_vectorization = tuning.slp_vectorization = False
    tuning.loop_unrolling = True
    builder = binding.create_pass_builder(target_machine(), tuning)
    builder.getModulePassManager().run(module, builder)
    return _cleaned(module, builder)


def _cleaned(module: binding.ModuleRef, builder: Any) -> binding.ModuleRef:
    """Remove what nothing calls any more, and give every value a name."""
    passes = binding.create_new_module_pass_manager()
    passes.add_global_dead_code_eliminate_pass()
    passes.add_strip_dead_prototype_pass()
    passes.run(module, builder)
    names = binding.create_new_function_pass_manager()
    names.add_instruction_namer_pass()
    for function in module.functions:
        if not function.is_declaration:
            names.run(function, builder)
    return module


def _linked(kernel: KernelIR) -> binding.ModuleRef:
    """Link the modules as Numba does before it hands them to libNVVM."""
    from numba.cuda.cudadrv.nvvm import llvm_replace

    module, *others = [binding.parse_assembly(llvm_replace(text)) for text in kernel.texts]
    for other in others:
        module.link_in(other)
    return module


def _link_libdevice(module: binding.ModuleRef, path: Path) -> None:
    library = binding.parse_bitcode(_content(path))
    library.triple, library.data_layout = module.triple, module.data_layout
    module.link_in(library)


@cache
def _content(path: Path) -> bytes:
    return path.read_bytes()


@cache
def target_machine() -> Any:
    """Return NVIDIA's target as LLVM knows it."""
    binding.initialize_all_targets()
    binding.initialize_all_asmprinters()
    return binding.Target.from_triple(TRIPLE).create_target_machine(cpu=PROCESSOR, opt=LEVEL)


def compiler_name() -> str:
    """Return the name and version of the compiler."""
    import llvmlite

    version = ".".join(map(str, binding.llvm_version_info[:2]))
    return f"LLVM {version} of llvmlite {llvmlite.__version__}"

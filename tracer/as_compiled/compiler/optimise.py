"""Link a kernel's IR and run LLVM's optimiser over it, with the cost model of NVIDIA's target.

The passes follow libNVVM's behaviour on an H100 (tests/data/h100_more.json): loops are unrolled, but neither loops
nor straight code are vectorised, and equal stores in both arms of a branch stay where they are.
"""

from __future__ import annotations

import re
from functools import cache
from pathlib import Path
from typing import Any

from llvmlite import binding

from .host_math import shim_definition
from .numba_ir import KernelIR

TRIPLE, PROCESSOR, LEVEL = "nvptx64-nvidia-cuda", "sm_90", 3
OPTIONS = ("-sink-common-insts=false",)
# Warp operations as older versions of LLVM name them; newer ones take them for unknown functions.
_OLD = re.compile(r'@"llvm\.nvvm\.((?:shfl\.sync\.i32|vote\.sync|match\.\w+\.sync\.\w+))"')
_NO_MEMORY = "memory(none) nounwind willreturn"
_OF_WARP = "convergent nounwind memory(inaccessiblemem: readwrite)"


def optimise(kernel: KernelIR, libdevice: Path | None) -> binding.ModuleRef:
    """Link a kernel and its functions into one optimised module; without `libdevice`, math functions stay calls."""
    machine = target_machine()
    module = _linked(kernel)
    if libdevice is not None and any(
        function.is_declaration and function.name.startswith("__nv_") for function in module.functions
    ):
        _link_libdevice(module, libdevice)
    for function in module.functions:
        if not function.is_declaration and function.name != kernel.kernel:
            function.linkage = "internal"
    tuning = binding.create_pipeline_tuning_options(speed_level=LEVEL)
    tuning.loop_vectorization = tuning.slp_vectorization = False
    tuning.loop_unrolling = True
    builder = binding.create_pass_builder(machine, tuning)
    builder.getModulePassManager().run(module, builder)
    return _cleaned(module, builder)


def _cleaned(module: binding.ModuleRef, builder: Any) -> binding.ModuleRef:
    """Remove unused functions, and give every value a name."""
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
    """Link the modules as Numba does before libNVVM, and those that it links later."""
    from numba.cuda.cudadrv.nvvm import llvm_replace

    module, *others = [binding.parse_assembly(_described(llvm_replace(text))) for text in kernel.texts]
    for other in others:
        module.link_in(other)
    shims = [text for function in module.functions if function.is_declaration for text in _shim(function)]
    if shims:
        header = f'target datalayout = "{module.data_layout}"\ntarget triple = "{module.triple}"\n'
        module.link_in(binding.parse_assembly(header + "\n".join(shims)))
    return module


def _described(text: str) -> str:
    """Add to functions that LLVM does not know the memory that they touch."""
    lines = [_line(line) if line.startswith("declare ") else line for line in text.split("\n")]
    return _OLD.sub(r'@"ts.nvvm.\1"', "\n".join(lines))


def _line(line: str) -> str:
    if _OLD.search(line):
        return f"{line.rstrip()} {_OF_WARP}"
    is_math = re.search(r'@"__nv_\w+"\(', line) and "*" not in line and "ptr" not in line
    return f"{line.rstrip()} {_NO_MEMORY}" if is_math else line


def _shim(function: binding.ValueRef) -> list[str]:
    """Return the definition of a function that Numba links as CUDA C++ compiled for link-time optimisation."""
    parameters = [str(argument.type) for argument in function.arguments]
    body = shim_definition(function.name, parameters)
    if body is None:
        return []
    arguments = ", ".join(f"{kind} %a{i}" for i, kind in enumerate(parameters))
    return ["\n".join([f'define i32 @"{function.name}"({arguments}) alwaysinline {{', *body, "}"])]


def _link_libdevice(module: binding.ModuleRef, path: Path) -> None:
    library = binding.parse_bitcode(_content(path))
    library.triple, library.data_layout = module.triple, module.data_layout
    module.link_in(library)


@cache
def _content(path: Path) -> bytes:
    return path.read_bytes()


@cache
def target_machine() -> Any:
    """Return LLVM's machine for NVIDIA's target."""
    for option in OPTIONS:
        binding.set_option("tilescope", option)
    binding.initialize_all_targets()
    binding.initialize_all_asmprinters()
    return binding.Target.from_triple(TRIPLE).create_target_machine(cpu=PROCESSOR, opt=LEVEL)


def compiler_name() -> str:
    """Return the name and version of the compiler."""
    import llvmlite

    version = ".".join(map(str, binding.llvm_version_info[:2]))
    return f"LLVM {version} of llvmlite {llvmlite.__version__}"

"""A Numba compiler that optimises all functions of a kernel together, and generates machine code once.

By default, Numba optimises every function, generates machine code for it, with wrappers for Python, and repeats both
for each function that calls it.
"""

from __future__ import annotations

from typing import Any

from llvmlite import binding
from numba.core import types
from numba.core.codegen import JITCodeLibrary
from numba.core.compiler import CompilerBase, DefaultPassBuilder
from numba.core.compiler_machinery import PassManager, register_pass
from numba.core.typed_passes import NativeLowering, NopythonRewrites

from ..nvidia_math.bitcode import link_libdevice
from ..nvidia_math.contraction import as_nvidia_computes


class _Library(JITCodeLibrary):  # type: ignore[misc]  # Numba is untyped to mypy
    """A library that optimises its functions once, after everything they call is linked."""

    _final_module: Any

    def _optimize_functions(self, ll_module: Any) -> None:
        ll_module.data_layout = self._codegen._data_layout


class _Part(_Library):
    """A library that is only linked into others."""

    def _optimize_final_module(self) -> None:
        """Do nothing: the library that this one is linked into optimises it."""

    def _finalize_final_module(self) -> None:
        self._finalized = True


class _Entry(_Library):
    """The library of an entry point, with everything that it calls."""

    def _optimize_final_module(self) -> None:
        link_libdevice(self._final_module)
        # Each access writes a row, so vectorised loops are of no use, and more passes don't make the code faster.
        managers = self._codegen._module_pass_manager(opt=1, loop_vectorize=False, slp_vectorize=False)
        # Older versions of Numba return no builder.
        passes, *builder = managers if isinstance(managers, tuple) else (managers,)
        passes.run(self._final_module, *builder)
        changed = as_nvidia_computes(str(self._final_module))
        if changed is not None:
            module = binding.parse_assembly(changed)
            module.name = self._final_module.name
            self._final_module = module


@register_pass(mutates_CFG=True, analysis_only=False)
class PartLowering(NativeLowering):  # type: ignore[misc]
    """Lowers a function that only compiled code calls."""

    _name = "tilescope_part_lowering"

    def run_pass(self, state: Any) -> bool:
        """Lower the function, and let other functions link with it."""
        super().run_pass(state)
        name: Any = [].append  # Numba identifies functions by an object of this kind
        state.targetctx.insert_user_function(name, state.cr.fndesc, [state.library])
        state.cr = state.cr._replace(cfunc=name)
        return True


class EntryCompiler(CompilerBase):  # type: ignore[misc]
    """Compiles an entry point, which is called only by its address."""

    library: type[_Library] = _Entry

    def __init__(
        self, typingctx: types.Type, targetctx: types.Type, library: types.Type, *rest: types.Type
    ) -> None:
        super().__init__(typingctx, targetctx, library, *rest)
        flags = self.state.flags
        flags.no_cpython_wrapper = flags.no_cfunc_wrapper = True

    def define_pipelines(self) -> list[Any]:
        """Return Numba's own passes."""
        library = self.library(self.state.targetctx.codegen(), self.state.func_id.func_qualname)
        library.enable_object_caching()
        self.state.library = library
        return [DefaultPassBuilder.define_nopython_pipeline(self.state)]


class PartCompiler(EntryCompiler):
    """Compiles a function that an entry point calls."""

    library = _Part

    def define_pipelines(self) -> list[Any]:
        """Return Numba's own passes, with a last one that makes no code for callers outside."""
        self.state.flags.no_compile = True
        (passes,) = super().define_pipelines()
        manager = PassManager("tilescope")
        for pass_class, description in passes.passes:
            if (
                pass_class is not NopythonRewrites
            ):  # this pass rewrites array expressions, which no kernel has
                manager.add_pass(PartLowering if pass_class is NativeLowering else pass_class, description)
        manager.finalize()
        return [manager]


def entry_address(result: Any) -> int:
    """Return the address of a compiled function, after setting the environments that its functions look up."""
    codegen = result.library.codegen
    for environment in result._find_referenced_environments():
        codegen.set_env(environment.env_name, environment)
    return int(result.library.get_pointer_to_function(result.fndesc.llvm_func_name))

"""How Numba compiles kernels: all functions of one are optimised once, together, and become machine code once.

Numba by itself optimises every function, makes machine code of it, with wrappers for Python, and does both again for
each function that calls it.
"""

from __future__ import annotations

from typing import Any

from llvmlite import binding
from numba.core.codegen import JITCodeLibrary
from numba.core.compiler import CompilerBase, DefaultPassBuilder
from numba.core.compiler_machinery import PassManager, register_pass
from numba.core.typed_passes import NativeLowering, NopythonRewrites

from ..nvidia_math.bitcode import link_libdevice
from ..nvidia_math.contraction import as_nvidia_computes


class _Library(JITCodeLibrary):  # type: ignore[misc]  # Numba is untyped to mypy
    """A library whose functions are optimised once, when all that they call is linked."""

    _final_module: Any

    def _optimize_functions(self, ll_module: Any) -> None:
        ll_module.data_layout = self._codegen._data_layout


class _Part(_Library):
    """A library that is only linked into others."""

    def _optimize_final_module(self) -> None:
        """Leave that to the library it is linked into."""

    def _finalize_final_module(self) -> None:
        self._finalized = True


class _Entry(_Library):
    """The library of an entry, with all that it calls."""

    def _optimize_final_module(self) -> None:
        link_libdevice(self._final_module)
        # Each access writes a row: vectorised loops are of no use here, and more passes than these make it no faster.
        made = self._codegen._module_pass_manager(opt=1, loop_vectorize=False, slp_vectorize=False)
        passes, *builder = (
            made if isinstance(made, tuple) else (made,)
        )  # older versions of Numba give no builder
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
        """Lower the function, and let others be linked with it."""
        super().run_pass(state)
        name: Any = [].append  # Numba tells functions by an object of this kind
        state.targetctx.insert_user_function(name, state.cr.fndesc, [state.library])
        state.cr = state.cr._replace(cfunc=name)
        return True


class EntryCompiler(CompilerBase):  # type: ignore[misc]
    """Compiles an entry, which is called by its address alone."""

    library: type[_Library] = _Entry

    def __init__(self, typingctx: Any, targetctx: Any, library: Any, *rest: Any) -> None:
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
    """Compiles a function that an entry calls."""

    library = _Part

    def define_pipelines(self) -> list[Any]:
        """Return Numba's own passes, of which the last makes no code to be called by others."""
        self.state.flags.no_compile = True
        (passes,) = super().define_pipelines()
        made = PassManager("tilescope")
        for kind, text in passes.passes:
            if kind is not NopythonRewrites:  # of expressions of whole arrays, which no kernel has
                made.add_pass(PartLowering if kind is NativeLowering else kind, text)
        made.finalize()
        return [made]


def entry_address(result: Any) -> int:
    """Return the address of a compiled function, after giving its functions what they look up."""
    codegen = result.library.codegen
    for environment in result._find_referenced_environments():
        codegen.set_env(environment.env_name, environment)
    return int(result.library.get_pointer_to_function(result.fndesc.llvm_func_name))

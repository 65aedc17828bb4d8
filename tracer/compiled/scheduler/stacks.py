"""Stacks: each CUDA thread runs on a separate one, so that it can stop anywhere and resume later.

A switch saves the callee-saved registers on the stack, exchanges the stack pointers, and restores the registers from
the other stack. The calling conventions list these registers: System V AMD64 ABI, section 3.2.1; Procedure Call
Standard for the Arm 64-bit Architecture, section 6; Microsoft's "x64 calling convention". On Windows, a switch also
exchanges the bounds of the stack, which are in the thread information block.
"""

from __future__ import annotations

import platform
import sys
from functools import cache

from llvmlite import binding, ir
from msgspec import Struct

from ..codegen_types import Builder
from ..not_compilable import NotCompilableError

# An odd number of pages, since TLBs have few sets for every eighth page.
STACK_BYTES = 9 << 12
# For kernels that recurse. A GPU has 1024 bytes for each thread by default.
RECURSIVE_BYTES = 1 << 18
STACK_STAGGERS, STACK_STAGGER = 61, 64  # number of cache lines at which stacks end, and bytes between them


class Machine(Struct, frozen=True):
    """Assembly that switches stacks on one kind of processor and system.

    switch: (address to store the stack pointer at, stack pointer to resume with). start: the first code on a new
    stack. The other fields are indices of words above the stack pointer of a new stack.
    """

    switch: tuple[str, ...]
    start: tuple[str, ...]
    words: int  # words that a switch pops from a stack
    begin: int  # where it resumes: the address of `start`
    function: int  # address of the function that `start` calls with Numba's arguments
    argument: int  # the last of these
    bounds: tuple[int, ...] = ()  # the end and the beginning of the stack, if the system must know them


_SAVED_REGISTERS = ("%rbp", "%rbx", "%r12", "%r13", "%r14", "%r15")
AMD64 = Machine(
    (
        *(f"pushq {r}" for r in _SAVED_REGISTERS),
        "movq %rsp, (%rdi)",
        "movq %rsi, %rsp",
        *(f"popq {r}" for r in reversed(_SAVED_REGISTERS)),
        "popq %rcx",
        "jmpq *%rcx",
    ),
    ("movq %rsp, %rdi", "leaq 8(%rsp), %rsi", "movq %r13, %rdx", "callq *%r12", "ud2"),
    words=7, begin=6, function=3, argument=2,
)  # fmt: skip

_REGISTER_PAIRS = [
    ("x19", "x20"),
    ("x21", "x22"),
    ("x23", "x24"),
    ("x25", "x26"),
    ("x27", "x28"),
    ("x29", "x30"),
]
_REGISTER_PAIRS += [("d8", "d9"), ("d10", "d11"), ("d12", "d13"), ("d14", "d15")]
ARM64 = Machine(
    (
        "sub sp, sp, #160",
        *(f"stp {a}, {b}, [sp, #{16 * i}]" for i, (a, b) in enumerate(_REGISTER_PAIRS)),
        "mov x9, sp",
        "str x9, [x0]",
        "mov sp, x1",
        *(f"ldp {a}, {b}, [sp, #{16 * i}]" for i, (a, b) in enumerate(_REGISTER_PAIRS)),
        "add sp, sp, #160",
        "br x30",
    ),
    ("mov x0, sp", "add x1, sp, #8", "mov x2, x20", "blr x19", "brk #1"),
    words=20, begin=11, function=0, argument=1,
)  # fmt: skip

_SAVED_ON_WINDOWS = ("%rbp", "%rbx", "%rdi", "%rsi", "%r12", "%r13", "%r14", "%r15")
_VECTOR_REGISTERS = range(6, 16)
WINDOWS = Machine(
    (
        *(f"pushq {r}" for r in _SAVED_ON_WINDOWS),
        "pushq %gs:8",
        "pushq %gs:16",
        "subq $$160, %rsp",
        *(f"movups %xmm{n}, {16 * i}(%rsp)" for i, n in enumerate(_VECTOR_REGISTERS)),
        "movq %rsp, (%rcx)",
        "movq %rdx, %rsp",
        *(f"movups {16 * i}(%rsp), %xmm{n}" for i, n in enumerate(_VECTOR_REGISTERS)),
        "addq $$160, %rsp",
        "popq %gs:16",
        "popq %gs:8",
        *(f"popq {r}" for r in reversed(_SAVED_ON_WINDOWS)),
        "popq %rcx",
        "jmpq *%rcx",
    ),
    ("leaq 32(%rsp), %rcx", "leaq 40(%rsp), %rdx", "movq %r13, %r8", "callq *%r12", "ud2"),
    words=31, begin=30, function=25, argument=24, bounds=(21, 20),
)  # fmt: skip
_MACHINES = {"x86_64": AMD64, "amd64": AMD64, "aarch64": ARM64, "arm64": ARM64}


@cache
def machine() -> Machine:
    """Choose the assembly for this machine; raises NotCompilableError if there is none."""
    kind = platform.machine().lower()
    switch_code = _MACHINES.get(kind)
    if sys.platform == "win32":
        switch_code = WINDOWS if switch_code is AMD64 else None
    if switch_code is None:
        raise NotCompilableError(f"Threads can't be switched on {sys.platform}, {kind}.")
    return switch_code


@cache
def code() -> tuple[int, int]:
    """Return the addresses of the machine's `switch` and `start`."""
    binding.initialize_native_target()
    binding.initialize_native_asmprinter()
    binding.initialize_native_asmparser()
    engine = _compile_switch(machine())
    return engine.get_function_address("switch"), engine.get_function_address("start")


def _compile_switch(target_machine: Machine) -> binding.ExecutionEngine:
    module = ir.Module()
    module.triple = binding.get_process_triple()
    for name, lines in (("switch", target_machine.switch), ("start", target_machine.start)):
        function = ir.Function(module, ir.FunctionType(ir.VoidType(), []), name)
        for attribute in ("naked", "noinline", "nounwind"):
            function.attributes.add(attribute)
        builder = Builder(function.append_basic_block())
        builder.asm(ir.FunctionType(ir.VoidType(), []), "\n\t".join(lines), "~{memory}", [], True)
        builder.unreachable()
    target = binding.Target.from_default_triple().create_target_machine()
    engine = binding.create_mcjit_compiler(binding.parse_assembly(str(module)), target)
    engine.finalize_object()
    _engines.append(engine)
    return engine


_engines: list[binding.ExecutionEngine] = []  # keeps the code alive

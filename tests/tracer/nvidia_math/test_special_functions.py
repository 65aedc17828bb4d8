"""The special functions are a GPU's bit for bit: sums over all results of a sign and exponent equal an H100's.

`special_functions.npy` has them for every sign and exponent, so for all 2**32 arguments of each instruction; some of
them are compared here, other ones each time. `python test_special_functions.py` compares all, which takes minutes.
"""

from __future__ import annotations

import ctypes
import random
from functools import cache

import numpy as np
import pytest
from llvmlite import binding

from folders import DATA
from tilescope.tracer.nvidia_math.intrinsics import DEFINITIONS

INSTRUCTIONS = (
    "rcp.approx.ftz.f32", "rsqrt.approx.ftz.f", "sqrt.approx.ftz.f", "lg2.approx.ftz.f", "ex2.approx.ftz.f32",
    "sin.approx.ftz.f", "cos.approx.ftz.f", "rsqrt.approx.f", "sqrt.approx.f", "lg2.approx.f", "ex2.approx.f32",
    "sin.approx.f", "cos.approx.f", "rcp.approx.ftz.d", "rsqrt.approx.ftz.f64",
)  # fmt: skip
SUMS = np.load(DATA / "special_functions.npy")
# Zeros, infinities and their neighbours, of both signs; numbers near 1.
SPECIAL = (0, 1, 126, 127, 254, 255, 256, 257, 383, 511)
FROM_BITS = {
    "float": "%value = bitcast i32 %argument to float\n",
    "double": "%wide = zext i32 %argument to i64\n%high = shl i64 %wide, 32\n%value = bitcast i64 %high to double\n",
}
TO_BITS = {
    "float": "%word = bitcast float %result to i32\n",
    "double": "%whole = bitcast double %result to i64\n%upper = lshr i64 %whole, 32\n%mixed = xor i64 %upper, %whole\n"
    "%word = trunc i64 %mixed to i32\n",
}
# A number's bits are its place in its sign and exponent (%i) and these (%first).
SUM = """
define i64 @sum.{number}(i32 %first) {{
entry:
  br label %loop
loop:
  %i = phi i32 [0, %entry], [%next, %loop]
  %sum = phi i64 [0, %entry], [%more, %loop]
  %argument = or i32 %i, %first
  {from_bits}
  %result = call {kind} @tilescope.{name}({kind} %value)
  {to_bits}
  %long = zext i32 %word to i64
  %factor = add i64 %long, 1
  %place = zext i32 %i to i64
  %twice = shl i64 %place, 1
  %weight = or i64 %twice, 1
  %product = mul i64 %factor, %weight
  %more = add i64 %sum, %product
  %next = add i32 %i, 1
  %done = icmp eq i32 %next, 8388608
  br i1 %done, label %end, label %loop
end:
  ret i64 %more
}}
"""


@cache
def engine():
    text = DEFINITIONS
    for number, name in enumerate(INSTRUCTIONS):
        kind = "double" if name.endswith(("d", "f64")) else "float"
        text += SUM.format(
            number=number, name=name, kind=kind, from_bits=FROM_BITS[kind], to_bits=TO_BITS[kind]
        )
    binding.initialize_native_target()
    binding.initialize_native_asmprinter()
    module = binding.parse_assembly(text)
    machine = binding.Target.from_default_triple().create_target_machine(opt=2, jit=True)
    builder = binding.create_pass_builder(machine, binding.create_pipeline_tuning_options(speed_level=2))
    builder.getModulePassManager().run(module, builder)
    built = binding.create_mcjit_compiler(module, machine)
    built.finalize_object()
    return built


def sum_of(number, chunk):
    """Return the sum over the results of an instruction for a sign and exponent."""
    address = engine().get_function_address(f"sum.{number}")
    return ctypes.CFUNCTYPE(ctypes.c_uint64, ctypes.c_uint32)(address)(chunk << 23)


@pytest.mark.parametrize("number", range(len(INSTRUCTIONS)), ids=INSTRUCTIONS)
def test_all_results_of_a_sign_and_exponent_are_an_h100s(number):
    chunks = [random.choice(SPECIAL), *random.sample(range(512), 2), random.randrange(120, 135)]
    different = [chunk for chunk in chunks if sum_of(number, chunk) != int(SUMS[number, chunk])]
    assert different == []


if __name__ == "__main__":
    for each, instruction in enumerate(INSTRUCTIONS):
        differing = [chunk for chunk in range(512) if sum_of(each, chunk) != int(SUMS[each, chunk])]
        print(instruction, differing or "all equal", flush=True)

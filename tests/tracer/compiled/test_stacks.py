"""How stacks are switched on each kind of processor: what this machine can't run is assembled, or done step by step."""

from __future__ import annotations

import platform
import re

import pytest
from llvmlite import binding, ir

from tilescope.tracer.compiled.scheduler import stacks

END, WORD = 1 << 16, 8
X86 = {
    "amd64": (stacks.AMD64, "x86_64-unknown-linux-gnu"),
    "windows": (stacks.WINDOWS, "x86_64-pc-windows-msvc"),
}
KEPT_BY_ARM = [*(f"x{n}" for n in range(19, 31)), *(f"d{n}" for n in range(8, 16))]


@pytest.mark.parametrize("name", X86)
def test_it_is_assembled_for_each_system(name):
    """Where another processor runs the tests, its LLVM assembles what it runs itself."""
    here, triple = X86[name]
    if platform.machine().lower() not in ("x86_64", "amd64"):
        here, triple = stacks.machine(), binding.get_process_triple()
    binding.initialize_native_target()
    binding.initialize_native_asmprinter()
    binding.initialize_native_asmparser()
    module = ir.Module()
    module.triple = triple
    function = ir.Function(module, ir.FunctionType(ir.VoidType(), []), "both")
    builder = ir.IRBuilder(function.append_basic_block())
    for lines in (here.switch, here.start):
        builder.asm(ir.FunctionType(ir.VoidType(), []), "\n\t".join(lines), "~{memory}", [], True)
    builder.unreachable()
    target = binding.Target.from_triple(triple).create_target_machine()
    assert len(target.emit_object(binding.parse_assembly(str(module)))) > 100


class Arm:
    """As much of an AArch64 processor as a switch needs; an instruction that it does not know is an error."""

    def __init__(self) -> None:
        self.registers: dict[str, object] = {"sp": END}
        self.memory: dict[int, object] = {}
        self.called = ""

    def run(self, lines: tuple[str, ...]) -> None:
        """Do one instruction after the other, up to the first branch."""
        for line in lines:
            name, _, rest = line.partition(" ")
            getattr(self, f"_{name}")(*re.split(r", (?![^\[]*\])", rest))

    def _number(self, text: str) -> int:
        return int(text[1:]) if text.startswith("#") else int(str(self.registers[text]))

    def _address(self, text: str) -> int:
        parts = text.strip("[]").split(", ")
        return sum(map(self._number, parts))

    def _add(self, to: str, first: str, other: str) -> None:
        self.registers[to] = self._number(first) + self._number(other)

    def _sub(self, to: str, first: str, other: str) -> None:
        self.registers[to] = self._number(first) - self._number(other)

    def _mov(self, to: str, first: str) -> None:
        self.registers[to] = self.registers[first]

    def _str(self, first: str, place: str) -> None:
        self.memory[self._address(place)] = self.registers[first]

    def _stp(self, first: str, other: str, place: str) -> None:
        self.memory[self._address(place)], self.memory[self._address(place) + WORD] = (
            self.registers[first],
            self.registers[other],
        )

    def _ldp(self, first: str, other: str, place: str) -> None:
        self.registers[first], self.registers[other] = (
            self.memory[self._address(place)],
            self.memory[self._address(place) + WORD],
        )

    def _br(self, to: str) -> None:
        self.called = to

    _blr = _br

    def _brk(self, number: str) -> None:
        assert self.called


def test_on_arm_a_stack_begins_and_another_continues_with_its_registers():
    arm, here, new = Arm(), stacks.ARM64, 3 * END
    own = {register: f"mine {register}" for register in KEPT_BY_ARM}
    arm.registers |= {**own, "x0": 64, "x1": new - WORD * here.words}
    arm.memory |= {new - WORD * (here.words - k): f"new {k}" for k in range(here.words)}
    arm.run(here.switch)
    held = arm.memory[64]
    assert arm.registers["sp"] == new
    assert arm.registers["sp"] % 16 == 0
    assert (arm.registers["x30"], arm.called) == (f"new {here.begin}", "x30")
    assert arm.registers["x19"] == f"new {here.function}"
    assert arm.registers["x20"] == f"new {here.argument}"
    arm.run(here.start)
    assert [arm.registers[f"x{n}"] for n in range(3)] == [new, new + WORD, f"new {here.argument}"]
    assert arm.called == "x19"
    arm.registers |= {**dict.fromkeys(KEPT_BY_ARM, "theirs"), "x0": 72, "x1": held}
    arm.run(here.switch)
    assert {register: arm.registers[register] for register in KEPT_BY_ARM} == own
    assert arm.registers["sp"] == END

"""Texts of programs without the statements that launch their kernels."""

from __future__ import annotations

from tilescope.tracer.model.definitions_only import without_launches

KERNEL = "from numba import cuda\n@cuda.jit\ndef kernel(a):\n    a[0] = N\n"


def test_a_program_that_launches_keeps_only_its_definitions():
    text = f"{KERNEL}N = 3\ntable = load()\nfor k in range(2):\n    kernel[1, 1](table)\nprint(table)\n"
    shortened = without_launches(text, ())
    assert "kernel[1, 1]" not in shortened and "load" not in shortened
    assert "N = 3" in shortened
    assert shortened.splitlines()[: len(KERNEL.splitlines())] == KERNEL.splitlines()


def test_a_module_that_launches_nothing_is_unchanged():
    text = f"{KERNEL}table = load()\nif __name__ == '__main__':\n    kernel[1, 1](table)\n"
    assert without_launches(text, ()) == text
    assert without_launches(f"{KERNEL}def main():\n    kernel[1, 1](x)\n", ()).endswith("(x)\n")

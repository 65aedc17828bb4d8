"""Cells as files: their names, and what a kernel's source takes from other cells."""

from __future__ import annotations

import linecache

import pytest

from tilescope.tracer.model.notebook_cells import (
    OTHER_CELLS,
    cell_file,
    cell_of,
    note_cell,
    tree_of,
    with_definitions,
)

KERNEL = "@cuda.jit\ndef kernel(a, out):\n    n = 1\n    out[n] = helper(a) + FAR\n\nkernel[1, 1](a, out)\nprint('ran')"
CELLS = (
    "import numpy as np, os\nfrom numba import cuda\nfrom math import *",
    "NEAR = 1; print('near')\nFAR = NEAR + 1\nn = a = out = input('how many? ')",
    "TABLE = [0]\nTABLE[0] = FAR\nos.system('true')",
    "@cuda.jit(device=True)\ndef helper(a):\n    return TABLE[0] + a[0]",
    "@cuda.jit\ndef kernel(a, out):\n    pass\nimport nothing_of_this",
    KERNEL,
)


@pytest.fixture
def notebook(tmp_path):
    path = str(tmp_path / "lesson.ipynb")
    for number, text in enumerate(CELLS, 1):
        note_cell(cell_file(path, number), text)
    yield path
    for number in range(1, len(CELLS) + 1):
        del linecache.cache[cell_file(path, number)]


def test_a_cell_is_named_by_notebook_and_number():
    assert cell_of(cell_file("/a b/x.IPYNB", 12)) == ("/a b/x.IPYNB", 12)
    for other in ("x.ipynb", "x.ipynb [0]", "x.ipynb [1] ", "x.py [1]", "x.ipynb [a]", " [1]"):
        assert cell_of(other) is None


def test_a_kernel_gets_only_the_used_definitions_of_other_cells(notebook):
    text = with_definitions(cell_file(notebook, 6), KERNEL, "kernel")
    own, _, others = text.partition(f"\n\n{OTHER_CELLS}\n\n")
    assert own == KERNEL
    assert others == (
        "# lesson.ipynb [1]\nfrom numba import cuda\nfrom math import *\n\n"
        "# lesson.ipynb [2]\nNEAR = 1; print('near')\nFAR = NEAR + 1\n\n"
        "# lesson.ipynb [3]\nTABLE = [0]\nTABLE[0] = FAR\n\n"
        "# lesson.ipynb [4]\n@cuda.jit(device=True)\ndef helper(a):\n    return TABLE[0] + a[0]\n"
    )


def test_only_definitions_of_such_a_text_run_those_of_other_cells_first(notebook, capsys):
    text = with_definitions(cell_file(notebook, 6), KERNEL, "kernel")
    names: dict[str, object] = {}
    tree = tree_of(
        text.replace("from numba import cuda", "class cuda:\n    jit = lambda *a, **k: a[0] if a else id"),
        "kernel",
    )
    exec(compile(tree, "x", "exec"), names)
    assert names["kernel"].__code__.co_firstlineno == 1
    assert names["TABLE"] == [2] and "n" not in names
    assert capsys.readouterr().out == ""
    assert [type(node).__name__ for node in tree_of(KERNEL, "kernel").body] == ["FunctionDef"]


def test_a_kernel_of_a_cell_that_uses_no_other_is_that_cell(tmp_path):
    file = cell_file(str(tmp_path / "one.ipynb"), 1)
    note_cell(file, "x = 1\n")
    assert with_definitions(file, "def f():\n    pass", "f") == "def f():\n    pass"
    del linecache.cache[file]

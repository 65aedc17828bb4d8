"""Which line a sentence is of, which constants differ, and which edits are compiled before they are asked for."""

import pytest

from tilescope.app.editing.model.kernel_text import (
    changed_constants,
    differ_only_in_functions,
    line_of,
    runs_the_same,
    without_location,
)

TEXT = "import numpy\n\nN = 3\n\ndef f(a):\n    return a\n\nclass C:\n    x = 1\n"


@pytest.mark.parametrize(
    ("old", "new", "is_compiled"),
    [("return a", "return a + 1", True), ("return a", "import os\n    os.abort()", True), ("N = 3", "N = 4", False),
     ("def f(a):", "def f(a=g()):", False), ("def f", "@g\ndef f", False), ("x = 1", "x = g()", False),
     ("import numpy", "import numpy, os", False)],
)  # fmt: skip
def test_what_runs_when_a_file_is_loaded_is_not_compiled_unasked(old, new, is_compiled):
    assert differ_only_in_functions(TEXT, TEXT.replace(old, new)) == is_compiled


def test_sentences_name_lines():
    assert line_of("/a/k.py:12: no.", "/a/k.py") == 12
    assert line_of("The program k.py ended (line 7).", "/a/k.py") == 7
    assert line_of("/b/k.py:12: no.", "/a/k.py") == 0


def test_a_file_named_elsewhere_is_left_out_of_its_sentences():
    message = "/a/k.py:7: the file can't be run: ZeroDivisionError: division by zero."
    assert without_location(message, "/a/k.py") == "ZeroDivisionError: division by zero."
    assert without_location(message, "/b/k.py") == message


def test_constants_that_have_another_value():
    assert changed_constants(TEXT, TEXT.replace("N = 3", "N = 4").replace("x = 1", "x = 2")) == {"N"}
    assert not changed_constants(TEXT, TEXT + "M = 4\n") and not changed_constants(TEXT, "(")


@pytest.mark.parametrize(
    ("text", "other", "is_same"),
    [
        ("while a:\n    pass\n    g()\n    f()\n", "while a:\n    g()\n    f()\n    pass\n", True),
        ("while a:\n    g()\n    f()\n", "while a:\n    f()\n    g()\n", False),
        ("if a:\n    pass\n", "if a:\n    pass\nelse:\n    pass\n", True),
        ("f();\n__syncthreads();\n", "f(;\n", False),
    ],
)
def test_two_texts_run_the_same_if_they_differ_only_in_pass(text, other, is_same):
    assert runs_the_same(text, other) == is_same

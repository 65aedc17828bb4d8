"""The syntax tree of hostile source texts: none ends the process, whatever the stack of the thread that asks."""

from __future__ import annotations

import ast
import subprocess
import sys
import threading

import pytest

from tilescope.tracer.model.syntax_tree import DEEPEST, syntax_tree

DEEP = {
    "parentheses": "x = " + "(" * 190 + "1" + ")" * 190,
    "open parentheses": "(" * 5000,
    "a sum": "x = " + "1 + " * 50_000 + "1",
    "signs": "x = " + "-" * 50_000 + "1",
    "powers": "x = " + "2 ** " * 5_000 + "1",
    "attributes": "x = a" + ".a" * 50_000,
    "functions": "x = " + "lambda: " * 3_000 + "0",
    "conditions": "x = " + "1 if a else " * 5_000 + "0",
    "branches": "if a:\n    pass\n" + "elif a:\n    pass\n" * 5_000,
    "a number": "x = " + "9" * 100_000,
    "a text that never ends": "'''" + "a" * 100_000,
    "nothing that Python has": "\0",
    "half a character": "x = '\ud800'",
    "too much": "x = 1\n" * 1_000_000,
}


@pytest.mark.parametrize("name", DEEP)
def test_a_hostile_text_has_an_empty_tree(name: str):
    tree = syntax_tree(DEEP[name])
    assert name == "parentheses" or not tree.body  # brackets leave no nodes
    ast.unparse(tree)  # whoever calls itself for each node can follow it


def test_real_code_keeps_its_tree():
    text = "x = " + " + ".join(f"a[{i}] * b[{i}]" for i in range(DEEPEST - 10))
    assert ast.unparse(syntax_tree(text)) == text


def test_a_thread_with_a_small_stack_survives():
    program = """
import threading
from tilescope.tracer.model.syntax_tree import syntax_tree
threading.stack_size(128 * 1024)
for text in ("x = " + "-" * 50_000 + "1", "x = " + "(" * 190 + "1" + ")" * 190, "x = " + "lambda: " * 3_000 + "0"):
    thread = threading.Thread(target=syntax_tree, args=(text,))
    thread.start()
    thread.join()
print("alive", threading.stack_size())
"""
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
    assert done.stdout == f"alive {128 * 1024}\n", done.stderr
    assert threading.stack_size() == 0

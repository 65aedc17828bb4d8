"""Cells as Python: what is no Python becomes a comment, every line keeps its number, and Python stays as it is."""

from __future__ import annotations

import ast

import pytest

from tilescope import ROOT
from tilescope.app.cli.programs.cell_text import python_of


@pytest.mark.parametrize(
    "text",
    [
        "x = (a\n  % b)\ny = a \\\n% b",
        's = """\n%matplotlib inline\n!ls\nwhat?\n"""',
        "# %magic\nx != 3\n",
        "t = f'{x}' % (\n!1 if 0 else 2)".replace("!", "~"),
    ],
)
def test_python_stays_as_it_is(text):
    assert python_of(text) == (text, ())


HELP = "line that asks for help"


@pytest.mark.parametrize(
    ("text", "python", "kinds"),
    [
        ("%matplotlib inline\nx = 1", "pass  # %matplotlib inline\nx = 1", ["%matplotlib"]),
        ("if x:\n    !pip install \\\n      b\ny", "if x:\n    pass  # !pip install \\\n#       b\ny", ["shell line"]),
        ("a, b[0] = !ls\nc = %who", "pass  # a, b[0] = !ls\npass  # c = %who", ["shell line", "%who"]),
        ("np.add?\n?np\n%who?", "pass  # np.add?\npass  # ?np\npass  # %who?", [HELP, HELP, "%who"]),
        ("%%time\nx = 1", "# %%time\nx = 1", []),
        ("\n%%timeit -n 3 x = 0\nx += 1", "\nx = 0\nx += 1", []),
        ("%%capture out\n%%time\n!ls", "# %%capture out\n# %%time\npass  # !ls", ["shell line"]),
        ("%time f(1,\n  2)\n%timeit -r1 -n 10 g()\n%time", "f(1,\n  2)\ng()\npass", []),
        ("%%bash\nls\n\nls", "# %%bash\n# ls\n\n# ls", ["%%bash"]),
        ("%%html\n<b>", "# %%html\n# <b>", ["%%html"]),
        ("s = '''\n%no\n''' + \\\n'x'\n!yes", "s = '''\n%no\n''' + \\\n'x'\npass  # !yes", ["shell line"]),
        ("d = {  # (\n  'a': '}'\n}\n!yes", "d = {  # (\n  'a': '}'\n}\npass  # !yes", ["shell line"]),
        ("f('a \\\n  b')\n!yes", "f('a \\\n  b')\npass  # !yes", ["shell line"]),
        ("x = '#' + \\\n%y\n", "x = '#' + \\\n%y\n", []),
    ],
)  # fmt: skip
def test_what_is_no_python_becomes_a_comment(text, python, kinds):
    python_text, skipped = python_of(text)
    assert python_text == python and [cell.kind for cell in skipped] == kinds
    assert python_text.count("\n") == text.count("\n")
    if "%y" not in text:
        ast.parse(python_text)


@pytest.mark.parametrize(
    "text", ["'" + "\\'" * 50_000, " " * 100_000 + "!", "a[," * 30_000 + "!", '"""' * 30_001 + "!"]
)
def test_a_line_of_a_hundred_thousand_characters_is_soon_read(text):
    assert python_of(text).text.count("\n") == 0


@pytest.mark.parametrize(
    "path", sorted((ROOT / "tracer" / "simulator").glob("*.py")), ids=lambda path: path.name
)
def test_a_magic_before_each_statement_of_a_file_is_skipped_and_all_else_stays(path):
    lines = path.read_text(encoding="utf-8").split("\n")
    begins = beginnings(ast.parse("\n".join(lines)))
    marked: list[str] = []
    for number, line in enumerate(lines, 1):
        if not line.lstrip().startswith("elif "):
            marked += [f"{indent}!echo 'it" for indent in begins.get(number, ())]
        marked.append(line)
    text, skipped = python_of("\n".join(marked))
    ast.parse(text)
    assert [line for line in text.split("\n") if "!echo" not in line] == lines
    assert len(skipped) == len(marked) - len(lines)


def beginnings(tree: ast.Module) -> dict[int, list[str]]:
    """Return the indentation of the statement that begins on each line, by the line's number."""
    cells = {}
    for node in ast.walk(tree):
        if isinstance(node, ast.stmt):
            first = min([node.lineno, *(d.lineno for d in getattr(node, "decorator_list", ()))])
            cells.setdefault(first, [" " * node.col_offset])
    return cells
